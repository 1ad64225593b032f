//! The player's settings: what `settings.toml` holds.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fairdeal_games::bots::Level;
use fairdeal_peers::address::{named_peer, parse_address};
use fairdeal_peers::listing::MAX_POINTS;
use fairdeal_peers::{Multiaddr, PeerId};
use serde::{Deserialize, Serialize};

use crate::appearance::{Letters, Pyramids, ThemeChoice};

/// A player's settings for all tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// The player's name at tables; by default the system's user name.
    pub name: Option<String>,
    pub theme: ThemeChoice,
    /// The colors of pyramids.
    pub pyramids: Pyramids,
    /// When pyramids show the letters of their colours.
    pub letters: Letters,
    /// Whether to draw ASCII characters only; if not said, where the terminal shows few others.
    pub ascii: Option<bool>,
    /// Whether cards move across the screen and scores appear step by step.
    pub motion: bool,
    pub bot_level: Level,
    /// Bot delay before each action, in milliseconds.
    pub bot_delay: u64,
    /// Whether the terminal rings, and shows a notification if it can, when a table waits for a player who looks elsewhere.
    pub bell: bool,
    /// The command that is run for each such sign, by the system's shell.
    pub notify: Option<String>,
    /// How long after a sign to remind, in minutes; 0: never.
    pub remind: u64,
    /// Whether a keeper agrees to play on without a seat, once another person has proposed it.
    pub consent: bool,
    /// Meeting points through which friends reach this player, and whose tables the first screen lists: addresses as
    /// `fairdeal relay` prints them, four at most.
    pub meet: Vec<String>,
    /// Key bindings that differ from the defaults: an action, and its keys.
    pub keys: BTreeMap<String, Vec<String>>,
    /// The puzzles that the player has solved: the game's id, and their numbers from 1.
    pub solved: BTreeMap<String, BTreeSet<u16>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: None,
            theme: ThemeChoice::default(),
            pyramids: Pyramids::default(),
            letters: Letters::default(),
            ascii: None,
            motion: true,
            bot_level: Level::default(),
            bot_delay: 700,
            bell: true,
            notify: None,
            remind: 10,
            consent: true,
            meet: Vec::new(),
            keys: BTreeMap::new(),
            solved: BTreeMap::new(),
        }
    }
}

/// Why a text of the settings is not one of their meeting points.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PointError {
    #[error(
        "{0} is no address of a meeting point. fairdeal relay prints such addresses; they end in /p2p/ and a peer id."
    )]
    Address(String),
    #[error("There can be {MAX_POINTS} meeting points at most; {0} is left out.")]
    TooMany(String),
}

/// The meeting points that texts name, each once, and what is wrong with the others.
pub fn points<'t>(texts: impl IntoIterator<Item = &'t str>) -> (Vec<Multiaddr>, Vec<PointError>) {
    let (mut points, mut wrong) = (Vec::new(), Vec::new());
    let mut peers: BTreeSet<PeerId> = BTreeSet::new();
    for text in texts {
        let point = parse_address(text).ok();
        match point.and_then(|point| Some((named_peer(&point)?, point))) {
            Some((peer, _)) if peers.contains(&peer) => {}
            Some(_) if points.len() >= MAX_POINTS => wrong.push(PointError::TooMany(text.to_owned())),
            Some((peer, point)) => {
                peers.insert(peer);
                points.push(point);
            }
            None => wrong.push(PointError::Address(text.to_owned())),
        }
    }
    (points, wrong)
}

impl Settings {
    /// The meeting points, and what is wrong with the others.
    pub fn points(&self) -> (Vec<Multiaddr>, Vec<PointError>) {
        points(self.meet.iter().map(String::as_str))
    }

    /// How long after a sign to remind; zero: never.
    pub fn remind(&self) -> Duration {
        Duration::from_secs(self.remind.saturating_mul(60))
    }

    /// Whether to draw ASCII characters only, on a terminal that shows few others or not.
    pub fn draws_ascii(&self, few_glyphs: bool) -> bool {
        self.ascii.unwrap_or(few_glyphs)
    }

    /// Whether the player has solved a game's puzzle, counted from 1.
    pub fn has_solved(&self, game: &str, number: usize) -> bool {
        let solved = self.solved.get(game);
        solved.is_some_and(|solved| u16::try_from(number).is_ok_and(|number| solved.contains(&number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(seed: u8) -> String {
        format!("/ip4/192.0.2.7/tcp/4001/p2p/{}", fairdeal_peers::testing::peer(seed))
    }

    #[test]
    fn points_are_read_once_each_and_four_at_most() {
        let all = [1, 1, 2, 3, 4, 5].map(address);
        let (found, wrong) = points(all.iter().map(String::as_str));
        assert_eq!(found.len(), MAX_POINTS);
        assert_eq!(wrong, [PointError::TooMany(address(5))]);
        let (found, wrong) = points(["/ip4/192.0.2.7/tcp/4001", "home", &address(1)]);
        assert_eq!((found.len(), wrong.len()), (1, 2));
        assert!(wrong.iter().all(|why| why.to_string().contains("/p2p/")), "{wrong:?}");
    }
}
