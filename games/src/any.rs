//! [`AnyGame`]: one type for every game, shared by tables, the referee and screens.
//!
//! Actions are sent and stored in these enums. A variant's number is part of the encoding, so new
//! variants go at the end.

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::game::{Chance, Game, Halt, Illegal, Pause, RuleSet, RuleSetError, Shown};
use fairdeal_protocol::seat::{Seat, SeatSet};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ActionError, GameInfo, TableGame, ivory, loot, plutonian, sphinx, thoth};

/// Writes the enums and forwards every method to the game inside.
macro_rules! any_game {
    ($($(#[$doc:meta])* $variant:ident($game:ty, $info:path)),+ $(,)?) => {
        /// Every game that can be played here.
        pub static GAMES: &[&GameInfo] = &[$(&$info),+];

        /// Any of the games.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        pub enum AnyGame {
            $($(#[$doc])* $variant($game)),+
        }

        /// An action of any of the games.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum AnyAction {
            $($(#[$doc])* $variant(<$game as Game>::Action)),+
        }

        /// An event of any of the games.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        pub enum AnyEvent {
            $($(#[$doc])* $variant(<$game as Game>::Event)),+
        }

        impl AnyGame {
            /// The static description of this game.
            pub fn info(&self) -> &'static GameInfo {
                match self {
                    $(Self::$variant(_) => &$info),+
                }
            }
        }

        // With a single game, no action can belong to another game.
        #[allow(unreachable_patterns)]
        impl Game for AnyGame {
            type Action = AnyAction;
            type Event = AnyEvent;

            fn create(rules: &RuleSet) -> Result<Self, RuleSetError> {
                $(if rules.game == $info.id {
                    return <$game>::create(rules).map(Self::$variant);
                })+
                Err(RuleSetError::UnknownGame(rules.game.clone()))
            }

            fn deck_name(&self) -> &'static str {
                match self {
                    $(Self::$variant(game) => game.deck_name()),+
                }
            }

            fn first_deck(&self) -> Option<Vec<Face>> {
                match self {
                    $(Self::$variant(game) => game.first_deck()),+
                }
            }

            fn seals_cards(&self) -> bool {
                match self {
                    $(Self::$variant(game) => game.seals_cards()),+
                }
            }

            fn card_name(&self, face: Face) -> String {
                match self {
                    $(Self::$variant(game) => game.card_name(face)),+
                }
            }

            fn begin(
                &mut self,
                chance: &mut dyn Chance,
                events: &mut Vec<AnyEvent>,
            ) -> Result<(), Pause> {
                match self {
                    $(Self::$variant(game) => {
                        wrapped(events, AnyEvent::$variant, |own| game.begin(chance, own))
                    }),+
                }
            }

            fn to_act(&self) -> SeatSet {
                match self {
                    $(Self::$variant(game) => game.to_act()),+
                }
            }

            fn legal(&self, seat: Seat, known: &Faces) -> Vec<AnyAction> {
                match self {
                    $(Self::$variant(game) => {
                        let legal = game.legal(seat, known);
                        legal.into_iter().map(AnyAction::$variant).collect()
                    }),+
                }
            }

            fn check(&self, seat: Seat, action: &AnyAction) -> Result<(), Illegal> {
                match (self, action) {
                    $((Self::$variant(game), AnyAction::$variant(action)) => {
                        game.check(seat, action)
                    })+
                    _ => Err(foreign()),
                }
            }

            fn shown(&self, seat: Seat, action: &AnyAction) -> Vec<Shown> {
                match (self, action) {
                    $((Self::$variant(game), AnyAction::$variant(action)) => {
                        game.shown(seat, action)
                    })+
                    _ => Vec::new(),
                }
            }

            fn out_of_turn(&self, action: &AnyAction) -> bool {
                match (self, action) {
                    $((Self::$variant(game), AnyAction::$variant(action)) => {
                        game.out_of_turn(action)
                    })+
                    _ => false,
                }
            }

            fn apply(
                &mut self,
                seat: Seat,
                action: &AnyAction,
                chance: &mut dyn Chance,
                events: &mut Vec<AnyEvent>,
            ) -> Result<(), Halt> {
                match (self, action) {
                    $((Self::$variant(game), AnyAction::$variant(action)) => {
                        wrapped(events, AnyEvent::$variant, |own| {
                            game.apply(seat, action, chance, own)
                        })
                    })+
                    _ => Err(foreign().into()),
                }
            }

            fn forfeit(
                &mut self,
                seat: Seat,
                chance: &mut dyn Chance,
                events: &mut Vec<AnyEvent>,
            ) -> Result<(), Pause> {
                match self {
                    $(Self::$variant(game) => {
                        wrapped(events, AnyEvent::$variant, |own| game.forfeit(seat, chance, own))
                    }),+
                }
            }

            fn hand(&self, seat: Seat) -> Vec<Slot> {
                match self {
                    $(Self::$variant(game) => game.hand(seat)),+
                }
            }

            fn is_over(&self) -> bool {
                match self {
                    $(Self::$variant(game) => game.is_over()),+
                }
            }

            fn scores(&self) -> Vec<i64> {
                match self {
                    $(Self::$variant(game) => game.scores()),+
                }
            }

            fn winners(&self) -> SeatSet {
                match self {
                    $(Self::$variant(game) => game.winners()),+
                }
            }
        }

        // As above: with a single game, some patterns are unreachable.
        #[allow(unreachable_patterns)]
        impl TableGame for AnyGame {
            fn view(&self, seat: Option<Seat>, known: &Faces) -> Value {
                match self {
                    $(Self::$variant(game) => game.view(seat, known)),+
                }
            }

            fn action_to_json(&self, seat: Seat, action: &AnyAction, known: &Faces) -> Value {
                match (self, action) {
                    $((Self::$variant(game), AnyAction::$variant(action)) => {
                        game.action_to_json(seat, action, known)
                    })+
                    _ => Value::Null,
                }
            }

            fn action_from_json(
                &self,
                seat: Seat,
                value: &Value,
                known: &Faces,
            ) -> Result<AnyAction, ActionError> {
                match self {
                    $(Self::$variant(game) => game
                        .action_from_json(seat, value, known)
                        .map(AnyAction::$variant)),+
                }
            }

            fn event_to_json(&self, event: &AnyEvent) -> Value {
                match (self, event) {
                    $((Self::$variant(game), AnyEvent::$variant(event)) => {
                        game.event_to_json(event)
                    })+
                    _ => Value::Null,
                }
            }

            fn event_text(&self, event: &AnyEvent, names: &[String]) -> String {
                match (self, event) {
                    $((Self::$variant(game), AnyEvent::$variant(event)) => {
                        game.event_text(event, names)
                    })+
                    _ => String::new(),
                }
            }

            fn has_left(&self, seat: Seat) -> bool {
                match self {
                    $(Self::$variant(game) => game.has_left(seat)),+
                }
            }

            fn seats(&self) -> usize {
                match self {
                    $(Self::$variant(game) => game.seats()),+
                }
            }

            fn shuffled_from_json(&self, entry: &Value) -> u32 {
                match self {
                    $(Self::$variant(game) => game.shuffled_from_json(entry)),+
                }
            }

            fn shuffled_to_json(&self, number: u32) -> Value {
                match self {
                    $(Self::$variant(game) => game.shuffled_to_json(number)),+
                }
            }
        }
    };
}

any_game! {
    /// Loot.
    Loot(loot::Loot, loot::INFO),
    /// Ivory Tower.
    Ivory(ivory::Ivory, ivory::INFO),
    /// Plutonian Poker.
    Plutonian(plutonian::Plutonian, plutonian::INFO),
    /// Sphinx's Paw.
    Sphinx(sphinx::Sphinx, sphinx::INFO),
    /// Houses of Thoth.
    Thoth(thoth::Thoth, thoth::INFO),
}

/// Runs a step that emits the game's own events and forwards them wrapped. It forwards those
/// emitted before a pause too.
fn wrapped<Own, Out>(
    events: &mut Vec<AnyEvent>,
    wrap: fn(Own) -> AnyEvent,
    step: impl FnOnce(&mut Vec<Own>) -> Out,
) -> Out {
    let mut own = Vec::new();
    let out = step(&mut own);
    events.extend(own.into_iter().map(wrap));
    out
}

fn foreign() -> Illegal {
    Illegal::rule("that is an action of another game")
}
