//! [`TableGame`]: the JSON and log texts that a game has besides its rules.

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::game::Game;
use fairdeal_protocol::seat::Seat;
use serde_json::Value;

/// The reason why a JSON value is not an action of the game.
///
/// The referee treats such an action like an illegal one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// Not a JSON object.
    #[error("an action is a JSON object")]
    NotAnObject,
    /// A field is missing.
    #[error("the action has no field '{0}'")]
    Missing(&'static str),
    /// The action has no such field.
    #[error("the action has no use for a field '{0}'")]
    Extra(String),
    /// A field has an invalid value.
    #[error("'{field}' must be {must}, not {got}")]
    Field {
        field: &'static str,
        /// A description of the valid values.
        must: String,
        /// The value given.
        got: String,
    },
    /// The card is not in the seat's hand, as far as this program knows.
    #[error("{card} is not in the hand of {seat}")]
    NotInHand {
        /// The card's name as given.
        card: String,
        /// The seat whose hand was searched.
        seat: Seat,
    },
}

/// An event of a game, for logs.
pub trait TableEvent {
    /// The event as an object with a `type`, for machine-readable logs.
    fn to_json(&self) -> Value;

    /// The event in plain words. A seat without a name in `names` appears by its number.
    fn text(&self, names: &[String]) -> String;
}

/// The parts of a game besides its rules: its JSON, as `fairdeal engine` speaks it, and its log texts.
pub trait TableGame: Game<Event: TableEvent> {
    /// The view of a seat, as defined by the game's rules page. Without a seat it shows everything
    /// in `known`. A card that the seat may not know is `null`, even if `known` has it.
    fn view(&self, seat: Option<Seat>, known: &Faces) -> Value;

    /// An action of a seat as the referee writes it. A card is `null` if the holder of `known` may
    /// not know it.
    fn action_to_json(&self, seat: Seat, action: &Self::Action, known: &Faces) -> Value;

    /// Reads an action of a seat. It finds the named cards by `known`. The action need not be
    /// legal.
    ///
    /// # Errors
    /// [`ActionError`] if the value is not shaped like an action, or names a card that the seat
    /// does not hold.
    fn action_from_json(&self, seat: Seat, value: &Value, known: &Faces) -> Result<Self::Action, ActionError>;

    /// Whether the seat has left the game for good.
    fn has_left(&self, seat: Seat) -> bool;

    /// The position as if the seat's next turn began now, to choose an action ahead; `None` if it is the seat's turn, or
    /// if no next turn can be foreseen. What others certainly change before it is left out, and so are actions on it.
    fn ahead(&self, seat: Seat) -> Option<Self> {
        let _ = seat;
        None
    }

    /// A number for the thing that an action of the seat names by its place alone, such as the top of a tree: where the
    /// number has changed, another thing stands there now. 0 if the action says all that it does.
    fn object(&self, seat: Seat, action: &Self::Action) -> u32 {
        let _ = (seat, action);
        0
    }

    /// Number of seats at the table, including those that have left.
    fn seats(&self) -> usize {
        self.scores().len()
    }

    /// Every card in play, for guesses of the sealed ones. A seat stands beside a sealed card that only it knows.
    fn cards(&self) -> Vec<(Slot, Option<Seat>)> {
        Vec::new()
    }

    /// One entry of an explicit shuffle, as a number for [`crate::chance::RefereeChance::add`]; `None` if it is not a
    /// card of this game.
    fn shuffled_from_json(&self, entry: &Value) -> Option<u32> {
        let name = entry.as_str()?;
        let mut faces = (0..=u8::MAX).map(Face).take_while(|face| !self.card_name(*face).is_empty());
        faces.find(|face| self.card_name(*face) == name).map(|face| u32::from(face.0))
    }

    /// One entry of a shuffle, as the referee's `needs` names it.
    fn shuffled_to_json(&self, number: u32) -> Value {
        u8::try_from(number).map_or(Value::Null, |face| self.card_name(Face(face)).into())
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::{Rng as _, SeedableRng as _};

    use super::*;
    use crate::any::{AnyAction, AnyGame, GAMES, bot};
    use crate::bots::Level;
    use crate::chance::RefereeChance;
    use crate::loot::{LootAction, Pile};
    use crate::registry::rule_set;

    /// In whole games everybody chooses ahead whenever that is possible: the choice is one of that seat's turn, nobody
    /// chooses what others certainly change before, and some of what was chosen is still possible when the turn comes.
    #[test]
    fn actions_are_foreseen_where_they_can_be() {
        for (seed, info) in (1..).zip(GAMES).filter(|(_, info)| info.most_seats > 1) {
            let options = info.options.iter().filter(|option| option.key == "happenstance");
            let options = options.map(|option| (option.key.to_owned(), "true".to_owned())).collect();
            let rules = rule_set(info.id, 3, &options).unwrap();
            let mut game = AnyGame::create(&rules).unwrap();
            let (mut chance, mut rng) = (RefereeChance::from_seed([seed; 32]), ChaCha20Rng::from_seed([seed; 32]));
            let mut bot = bot(Level::Normal);
            game.begin(&mut chance, &mut Vec::new()).unwrap();
            let mut ready: Vec<Option<(AnyAction, u32)>> = vec![None; 3];
            let (mut kept, mut lost) = (0, 0);
            for _ in 0..400 {
                let Some(acts) = game.to_act().iter().next() else { break };
                for seat in Seat::first(3) {
                    let Some(ahead) = game.ahead(seat) else { continue };
                    assert!(!game.to_act().contains(seat) && ahead.to_act().contains(seat), "{}", info.id);
                    let legal = ahead.legal(seat, chance.dealt_to(seat));
                    assert!(!legal.contains(&AnyAction::Loot(LootAction::Take(Pile::Discard))));
                    if let Some(place) = usize::try_from(rng.next_u32()).unwrap().checked_rem(legal.len()) {
                        ready[seat.index()] = Some((legal[place].clone(), game.object(seat, &legal[place])));
                    }
                }
                assert!(game.ahead(acts).is_none());
                if let Some((action, object)) = ready[acts.index()].take() {
                    let is_kept = game.check(acts, &action).is_ok() && game.object(acts, &action) == object;
                    *(if is_kept { &mut kept } else { &mut lost }) += 1;
                }
                let action = bot.choose(&game, acts, chance.dealt_to(acts), &mut rng).unwrap();
                game.apply(acts, &action, &mut chance, &mut Vec::new()).unwrap();
            }
            assert!(kept > 5, "{}: {kept} kept, {lost} lost", info.id);
        }
    }
}
