//! Bots: computer players for the seats of a game.
//!
//! A bot sees only its seat's view: the public state and the seat's own overlay. It gets an RNG,
//! reads no clock and keeps no randomness, so a seeded game is reproducible. A searching bot needs
//! only [`Game`]. It may guess the hidden cards and try actions on copies, with
//! [`crate::chance::RefereeChance`] or a chance of its own.
//!
//! Gentle bots play mostly at random (`random`), and in Loot they fire like players. Normal ones know their game by rules
//! of thumb. Sharp ones search ([`crate::search`]).

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::{ApplyError, Game};
use fairdeal_protocol::seat::{Seat, SeatSet};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng as _};
use serde::{Deserialize, Serialize};

use crate::chance::RefereeChance;

mod ivory;
mod ivory_search;
mod loot;
mod plutonian;
mod random;
mod sphinx;
mod sphinx_stamina;
#[cfg(test)]
mod tests;
mod thoth;

pub use ivory::IvoryBot;
pub use ivory_search::IvorySearchBot;
pub(crate) use loot::expected as loot_expected;
pub use loot::{GentleLootBot, LootBot};
pub use plutonian::PlutonianBot;
pub use random::Random;
pub use sphinx::SphinxBot;
pub(crate) use sphinx::best_prospects as sphinx_best;
pub(crate) use sphinx_stamina::SphinxStamina;
pub use thoth::ThothBot;
pub(crate) use thoth::{best as thoth_best, worth as thoth_worth};

/// A player of one seat of a game.
pub trait Bot<G: Game>: Send + Sync {
    /// The seat's action, given `known`: some legal action if the seat is to act. A seat that is
    /// not to act is asked too; it answers with an out-of-turn action or, mostly, `None`.
    fn choose(&mut self, game: &G, seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Option<G::Action>;

    /// Something happened at the table, told to a seat with what it knows: for bots that tell somebody. In order, an
    /// action before it is applied.
    fn saw(&mut self, _game: &G, _seat: Seat, _known: &Faces, _seen: &Seen<'_, G>) {}

    /// The game is over: for bots that tell somebody.
    fn over(&mut self, _game: &G) {}

    /// How many of its decisions another bot made in its place.
    fn fallbacks(&self) -> u64 {
        0
    }
}

/// An event at the table, as a seat sees it.
#[derive(Clone, Copy, Debug)]
pub enum Seen<'a, G: Game> {
    /// A deal begins, counted from 0.
    Deal(u32),
    /// A seat acts. At a table `step` is that of the log, in a duel the number of the action, from 0.
    Action { step: u64, seat: Seat, action: &'a G::Action },
    /// Something happened as a result of the action or deal.
    Event(&'a G::Event),
}

/// The action of a bot that always makes the same choice in the same state: for hints.
fn fixed<G: Game>(mut bot: impl Bot<G>, game: &G, seat: Seat, known: &Faces) -> Option<G::Action> {
    bot.choose(game, seat, known, &mut ChaCha20Rng::from_seed([0; 32]))
}

/// A bot's playing strength.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Mostly any legal action, now and then a sensible one.
    Gentle,
    /// Sensible play by rules of thumb.
    #[default]
    Normal,
    /// A search: [`crate::search`].
    Sharp,
}

impl Level {
    /// Every level, weakest first, with its name on the command line.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Gentle, "gentle"), (Self::Normal, "normal"), (Self::Sharp, "sharp")];

    pub fn name(self) -> &'static str {
        let found = Self::ALL.into_iter().find(|(level, _)| *level == self);
        found.map_or("", |(_, name)| name)
    }

    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, known)| *known == name).map(|(level, _)| level)
    }
}

/// The reason why a game among bots stopped early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// A bot that had to act did nothing.
    Idle(Seat),
    /// A bot's action was refused, or chance ran out.
    Halted(Seat, ApplyError),
}

/// Plays a game that has begun among bots until it is over or `most` actions are made. Each seat
/// has its own bot. Returns the number of actions. Before each action, the seats that are not to
/// act may interject.
///
/// # Errors
/// [`Stuck`]. The game is as it was before that action or, if chance paused, half done.
pub fn play<G: Game>(
    game: &mut G,
    chance: &mut RefereeChance,
    bots: &mut [Box<dyn Bot<G>>],
    rng: &mut dyn Rng,
    most: usize,
) -> Result<usize, Stuck> {
    let all = SeatSet::all(bots.len());
    let mut events = Vec::new();
    for made in 0..most {
        let to_act = game.to_act();
        let others = all.iter().filter(|seat| !to_act.contains(*seat));
        let mut choice = None;
        for seat in others.chain(to_act.iter()) {
            let known = chance.dealt_to(seat);
            let bot = bots.get_mut(seat.index());
            choice = bot.and_then(|bot| bot.choose(game, seat, known, rng)).map(|act| (seat, act));
            if choice.is_some() {
                break;
            }
        }
        let Some((seat, action)) = choice else {
            return to_act.iter().next().map_or(Ok(made), |seat| Err(Stuck::Idle(seat)));
        };
        events.clear();
        let done = game.apply(seat, &action, chance, &mut events);
        done.map_err(|halt| Stuck::Halted(seat, halt))?;
        if game.is_over() {
            return Ok(made + 1);
        }
    }
    Ok(most)
}
