//! A practice game in a task of its own: [`Practice`] with a session's channels.

use fairdeal_protocol::game::RuleSet;
use fairdeal_session::practice::{Opponents, Practice};
use tokio::sync::mpsc;

use super::Handle;

/// Deals a game for one in a task of the current tokio runtime.
///
/// # Errors
/// [`OpenError`].
pub fn open(rules: &RuleSet, name: &str) -> Result<Handle, OpenError> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(OpenError::Random)?;
    let dealt = Practice::deal(rules, name, Opponents::none(), seed);
    let (mut practice, mut say) = dealt.map_err(|_| OpenError::Rules(rules.game.clone()))?;
    let (commands, mut inbox) = mpsc::channel(16);
    let (outbox, told) = mpsc::channel(64);
    tokio::spawn(async move {
        loop {
            for event in say {
                if outbox.send(event).await.is_err() {
                    return;
                }
            }
            let answer = inbox.recv().await;
            let Some(answer) = answer.and_then(|command| practice.answer(command)) else {
                return;
            };
            say = answer;
        }
    });
    Ok(Handle { commands, events: told, post: None })
}

/// Why a practice game cannot start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The system has no randomness.
    #[error("the system provides no random bytes: {0}")]
    Random(getrandom::Error),
    /// The game is no solitaire: a program's bots sit at sealed tables. Or its rules are unknown.
    #[error("{0} has no practice mode")]
    Rules(String),
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use fairdeal_games::rule_set;

    use super::*;
    use fairdeal_session::events::{Command, SessionEvent};

    #[tokio::test]
    async fn only_solitaire_games_have_practice() {
        let rules = rule_set("loot", 2, &BTreeMap::new()).unwrap();
        open(&rules, "Anna").unwrap_err();
        let rules = rule_set("ivory-tower", 1, &BTreeMap::new()).unwrap();
        let mut handle = open(&rules, "Anna").unwrap();
        assert!(matches!(handle.events.recv().await, Some(SessionEvent::Lobby(_))));
        handle.commands.send(Command::Quit).await.unwrap();
        while handle.events.recv().await.is_some() {}
    }
}
