//! The bot that plays a seat, and when it acts.
//!
//! A bot that decides at once lives here. A sharp one takes its time, and a program lives in another process: they are
//! asked ([`Output::Think`](crate::io::Output::Think)), and the answer counts only at the step for which it was asked.

use fairdeal_games::bots::{Bot, Level};
use fairdeal_games::{AnyAction, AnyGame};

use crate::io::ThoughtId;
use crate::setup::{Hands, Pilot};

/// Where the bot's decisions come from.
pub(crate) enum Mind {
    /// Nobody: a person plays, or the seat has left.
    Nobody,
    Here(Box<dyn Bot<AnyGame>>),
    /// It is asked.
    Elsewhere,
}

/// The bot that plays the seat, if its player does not.
pub(crate) struct Autopilot {
    hands: Hands,
    pub(crate) mind: Mind,
    /// The open question, and the step at which it was asked.
    pub(crate) asked: Option<(ThoughtId, u64)>,
    /// When the bot acts next, by the monotonic clock.
    pub(crate) acts_at: Option<u64>,
    /// The action out of turn that it then takes.
    pub(crate) call: Option<AnyAction>,
    /// Whether this program has been told that the bot is about to call.
    pub(crate) is_announced: bool,
}

impl Autopilot {
    pub(crate) fn new(hands: Hands) -> Self {
        let mind = match hands {
            Hands::Person { .. } => Mind::Nobody,
            Hands::Bot(Pilot { level: Level::Sharp, .. }) | Hands::Program(_) => Mind::Elsewhere,
            Hands::Bot(pilot) => Mind::Here(fairdeal_games::bot(pilot.level)),
        };
        Self { hands, mind, asked: None, acts_at: None, call: None, is_announced: false }
    }

    pub(crate) fn pilot(&self) -> Option<Pilot> {
        self.hands.pilot()
    }

    /// Whether a program of its own plays.
    pub(crate) fn is_program(&self) -> bool {
        matches!(self.hands, Hands::Program(_)) && !matches!(self.mind, Mind::Nobody)
    }

    /// The bot's delay before an action, in milliseconds.
    pub(crate) fn delay(&self) -> u64 {
        let delay = self.pilot().map(|pilot| pilot.delay).unwrap_or_default();
        u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)
    }

    /// The seat has left: nothing more is asked.
    pub(crate) fn retire(&mut self) {
        self.mind = Mind::Nobody;
        self.asked = None;
        self.acts_at = None;
    }
}
