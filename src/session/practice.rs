//! A practice solitaire: dealt by this program alone, without encryption, which makes undo possible.
//!
//! A signed entry cannot be withdrawn, and an opened card cannot be hidden again. In practice nobody else is at the
//! table to be cheated. A practice game has no log and no transcript, and appears in no history and no statistics.

use std::collections::BTreeMap;

use fairdeal_games::chance::{RefereeChance, Refusal};
use fairdeal_games::ivory::solver::Verdict;
use fairdeal_games::{AnyAction, AnyEvent, AnyGame, TableEvent as _};
use fairdeal_protocol::game::{Game as _, RuleSet};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_ui::text::clean;
use fairdeal_ui::view::{Advice, LobbySeat, LobbyView, Seating, Snapshot, Standing, Waits};
use tokio::sync::mpsc;

use super::solved::{could_have, solve_here};
use super::{Command, Handle, SessionEvent};

/// The game, and its state before each action.
#[derive(Clone, Debug)]
pub(crate) struct Practice {
    me: Seat,
    names: Vec<String>,
    now: State,
    before: Vec<State>,
}

#[derive(Clone, Debug)]
struct State {
    game: AnyGame,
    chance: RefereeChance,
    /// Whether it can be won from here, and how.
    verdict: Verdict,
}

impl Practice {
    /// Deals the game from a seed and returns it with the events of the deal; `None` if the rules are unknown.
    pub(crate) fn deal(rules: &RuleSet, name: String, seed: [u8; 32]) -> Option<(Self, Vec<AnyEvent>)> {
        let mut game = AnyGame::create(rules).ok()?;
        let mut chance = RefereeChance::from_seed(seed);
        let mut events = Vec::new();
        game.begin(&mut chance, &mut events).ok()?;
        let verdict = solve_here(&game, chance.faces());
        let practice = Self {
            me: Seat::new(0)?,
            names: vec![name],
            now: State { game, chance, verdict },
            before: Vec::new(),
        };
        Some((practice, events))
    }

    /// The view shown in place of a lobby.
    pub(crate) fn lobby(&self, rules: &RuleSet) -> LobbyView {
        LobbyView {
            game: rules.game.clone(),
            options: rules.written_options().into_iter().collect(),
            seats: self
                .names
                .iter()
                .map(|name| {
                    Some(LobbySeat {
                        name: name.clone(),
                        party: Party::of(self.me),
                        played_by: PlayedBy::Person,
                    })
                })
                .collect(),
            me: Some(self.me),
            ..LobbyView::default()
        }
    }

    /// Applies an action; the reason in words if it is illegal.
    fn act(&mut self, action: &AnyAction) -> Result<Vec<AnyEvent>, String> {
        let before = self.now.clone();
        let State { game, chance, verdict } = &mut self.now;
        let mut events = Vec::new();
        let done = chance.attempt(game, |game, chance| game.apply(self.me, action, chance, &mut events));
        match done {
            Ok(()) => {
                *verdict = match (&before.verdict, action) {
                    (Verdict::Lost, _) => Verdict::Lost,
                    (Verdict::Winnable(way), AnyAction::Ivory(action)) if way.first() == Some(action) => {
                        Verdict::Winnable(way.iter().skip(1).copied().collect())
                    }
                    _ => solve_here(game, chance.faces()),
                };
                self.before.push(before);
                Ok(events)
            }
            Err(Refusal::Illegal(why)) => Err(why.to_string()),
            // Unreachable in practice: the generator can draw whatever the game requests.
            Err(Refusal::Stopped(_)) => Err("there is no card for that".to_owned()),
        }
    }

    /// Whether the deal can be won, in words: at the beginning, and again at the end of a game that was not won.
    fn verdict(&self) -> Option<SessionEvent> {
        let State { game, chance, .. } = &self.now;
        let line = match (game.is_over(), self.advice()) {
            (true, Some(Advice::Undo(count))) => {
                format!("{} {}", could_have(game, chance.faces())?, Advice::undo_first(count))
            }
            (true, _) => could_have(game, chance.faces())?.to_owned(),
            (false, _) => match &self.now.verdict {
                Verdict::Winnable(_) => "This deal can be won.".to_owned(),
                Verdict::Lost => "This deal cannot be won, however it is played.".to_owned(),
                Verdict::GaveUp => return None,
            },
        };
        Some(SessionEvent::Line(line))
    }

    /// The next action of a way to win, or how many actions have to be undone first.
    fn advice(&self) -> Option<Advice> {
        let game = &self.now.game;
        if let (Verdict::Winnable(way), false) = (&self.now.verdict, game.is_over()) {
            return way.first().map(|action| Advice::Next {
                action: AnyAction::Ivory(*action),
                left: way.len(),
            });
        }
        let is_won = matches!(&self.now.verdict, Verdict::Winnable(way) if way.is_empty());
        let back = self.before.iter().rev().position(|state| state.verdict.is_winnable());
        back.filter(|_| !is_won).map(|states| Advice::Undo(states + 1))
    }

    /// Undoes the last action.
    fn undo(&mut self) -> Result<(), &'static str> {
        let before = self.before.pop().ok_or("there is nothing to undo")?;
        self.now = before;
        Ok(())
    }

    fn snapshot(&self) -> Snapshot {
        let game = &self.now.game;
        Snapshot {
            shares: BTreeMap::new(),
            table: Hash32::default(),
            me: Some(self.me),
            names: self.names.clone(),
            seating: Seating::alone(),
            game: game.clone(),
            known: self.now.chance.dealt_to(self.me).clone(),
            standing: Standing::Practice {
                undo: self.before.len(),
                advice: self.advice(),
            },
            my_turn: game.to_act().contains(self.me),
            connected: SeatSet::one(self.me),
            indirect: SeatSet::EMPTY,
            round_trips: BTreeMap::new(),
            waits: Waits::default(),
            timing: None,
        }
    }

    /// The session events for these game events, and the state after them.
    pub(crate) fn tell(&self, events: Vec<AnyEvent>) -> Vec<SessionEvent> {
        let mut told = Vec::new();
        let ends = self.now.game.is_over() && !events.is_empty();
        for event in events {
            let line = event.text(&self.names);
            told.push(SessionEvent::Game(event));
            if !line.is_empty() {
                told.push(SessionEvent::Line(line));
            }
        }
        told.extend(ends.then(|| self.verdict()).flatten());
        told.push(SessionEvent::Snapshot(Box::new(self.snapshot())));
        told
    }

    /// Handles a player's command; `None` once the player leaves.
    pub(crate) fn answer(&mut self, command: Command) -> Option<Vec<SessionEvent>> {
        Some(match command {
            Command::Act(action) => match self.act(&action) {
                Ok(events) => self.tell(events),
                Err(why) => vec![SessionEvent::Refused(why)],
            },
            Command::Undo => match self.undo() {
                Ok(()) => {
                    let line = "The last action is undone.".to_owned();
                    let mut told = vec![SessionEvent::Line(line)];
                    told.extend(self.tell(Vec::new()));
                    told
                }
                Err(why) => vec![SessionEvent::Refused(why.to_owned())],
            },
            Command::Quit | Command::Leave => return None,
            // These need other players.
            Command::Claim
            | Command::ProposeRemoval(_)
            | Command::Ready(_)
            | Command::Dismiss(_)
            | Command::Say(_)
            | Command::Invite(_) => Vec::new(),
        })
    }
}

/// Deals a game for one in a task of the current tokio runtime.
///
/// # Errors
/// [`PracticeError`].
pub fn open(rules: &RuleSet, name: &str) -> Result<Handle, PracticeError> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(PracticeError::Random)?;
    let solitaire = (rules.seats == 1).then_some(rules);
    let dealt = solitaire.and_then(|rules| Practice::deal(rules, clean(name), seed));
    let (mut practice, events) = dealt.ok_or_else(|| PracticeError::Rules(rules.game.clone()))?;
    let lobby = practice.lobby(rules);
    let (commands, mut inbox) = mpsc::channel(16);
    let (outbox, told) = mpsc::channel(64);
    tokio::spawn(async move {
        let mut say = vec![SessionEvent::Lobby(lobby)];
        say.extend(practice.tell(events));
        say.extend(practice.verdict());
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
    Ok(Handle { commands, events: told })
}

/// Why a practice game cannot start.
#[derive(Debug, thiserror::Error)]
pub enum PracticeError {
    /// The system has no randomness.
    #[error("the system provides no random bytes: {0}")]
    Random(getrandom::Error),
    /// The game is not a solitaire, or its rules are unknown.
    #[error("{0} has no practice mode")]
    Rules(String),
}

#[cfg(test)]
mod tests {
    use fairdeal_games::ivory::IvoryAction;
    use fairdeal_games::{Hints as _, match_game, rule_set};
    use fairdeal_protocol::card::Faces;

    use super::*;

    fn dealt() -> Practice {
        let rules = rule_set("ivory-tower", 1, &BTreeMap::new()).unwrap();
        Practice::deal(&rules, "Anna".to_owned(), [4; 32]).unwrap().0
    }

    fn turn() -> AnyAction {
        AnyAction::Ivory(IvoryAction::Turn)
    }

    /// Every action can be undone, one by one, back to the start, and play then goes on as before.
    #[test]
    fn all_can_be_taken_back() {
        let mut practice = dealt();
        let mut states = vec![practice.snapshot()];
        for _ in 0..30 {
            practice.act(&turn()).unwrap();
            states.push(practice.snapshot());
        }
        for state in states.iter().rev().skip(1) {
            practice.undo().unwrap();
            assert_eq!(practice.snapshot(), *state);
        }
        practice.undo().unwrap_err();
        practice.act(&turn()).unwrap();
        assert_eq!(practice.snapshot(), states[1]);
    }

    /// The last action of a finished game can be undone too.
    #[test]
    fn giving_up_can_be_taken_back() {
        let mut practice = dealt();
        practice.act(&AnyAction::Ivory(IvoryAction::Resign)).unwrap();
        assert!(practice.now.game.is_over());
        let refused = practice.answer(Command::Act(turn())).unwrap();
        assert!(matches!(refused[..], [SessionEvent::Refused(_)]));
        let told = practice.answer(Command::Undo).unwrap();
        assert!(matches!(told.last(), Some(SessionEvent::Snapshot(now)) if now.my_turn));
        assert!(practice.answer(Command::Quit).is_none());
    }

    /// The line about the deal comes before the state, and not after a win.
    #[test]
    fn end_says_whether_the_deal_could_be_won() {
        let mut practice = dealt();
        assert!(matches!(practice.verdict(), Some(SessionEvent::Line(line)) if line == "This deal can be won."));
        let told = practice
            .answer(Command::Act(AnyAction::Ivory(IvoryAction::Resign)))
            .unwrap();
        let words = "This deal could have been won. Undo 1 action, and hints show how.";
        let said = |event: &SessionEvent| matches!(event, SessionEvent::Line(line) if line == words);
        assert!(told.iter().any(said));
    }

    /// The advice, followed step by step from a deal that can be won, completes the tower.
    #[test]
    fn advice_wins_where_the_deal_can_be_won() {
        let mut practice = dealt();
        let mut before = usize::MAX;
        while let Some(advice) = practice.advice() {
            let Advice::Next { action, left } = advice else {
                panic!("{advice:?} after {} actions", practice.before.len());
            };
            assert!(left < before);
            before = left;
            practice.act(&action).unwrap();
        }
        assert_eq!(before, 1);
        assert_eq!(practice.now.game.scores(), [10]);
        assert_eq!(practice.verdict(), None);
    }

    /// A bot that sees too little plays on until the deal is lost. The advice leads back to where it was not.
    #[test]
    fn advice_leads_back_to_where_the_game_could_be_won() {
        let mut practice = dealt();
        while !practice.now.game.is_over() {
            let hint = match_game!(&practice.now.game, game, AnyAction as wrap => {
                wrap(game.hint(practice.me, &Faces::new()).unwrap().action)
            });
            practice.act(&hint).unwrap();
        }
        let Some(Advice::Undo(count)) = practice.advice() else {
            panic!("{:?}", practice.advice());
        };
        assert!(count > 1);
        for left in (1..=count).rev() {
            assert_eq!(practice.advice(), Some(Advice::Undo(left)));
            practice.undo().unwrap();
        }
        assert!(matches!(practice.advice(), Some(Advice::Next { .. })));
    }

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
