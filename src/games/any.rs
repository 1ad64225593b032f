//! One game out of all: an enum that passes everything on to the game it holds.
//!
//! The order of the variants is part of the wire format: an action is encoded with the number of
//! its game in front. New games are added at the end.

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::game::{Chance, Game, Halt, Illegal, Pause, RuleSet, RuleSetError, Shown};
use fairdeal_protocol::seat::{Seat, SeatSet};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::loot::{self, Loot};
use super::{ActionError, TableGame};

macro_rules! any_game {
    ($($variant:ident($game:ty) = $id:expr),+ $(,)?) => {
        /// The state of any game.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        pub enum AnyGame {
            $(#[doc = concat!("A game of ", stringify!($variant), ".")] $variant($game),)+
        }

        /// An action of any game.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum AnyAction {
            $(#[doc = concat!("An action of ", stringify!($variant), ".")]
              $variant(<$game as Game>::Action),)+
        }

        /// An event of any game.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        pub enum AnyEvent {
            $(#[doc = concat!("An event of ", stringify!($variant), ".")]
              $variant(<$game as Game>::Event),)+
        }

        impl AnyGame {
            /// Runs a call that reports events of the one game, and wraps them.
            fn wrap<E, R>(
                events: &mut Vec<AnyEvent>,
                wrap: fn(E) -> AnyEvent,
                call: impl FnOnce(&mut Vec<E>) -> R,
            ) -> R {
                let mut own = Vec::new();
                let result = call(&mut own);
                events.extend(own.into_iter().map(wrap));
                result
            }
        }

        impl Game for AnyGame {
            type Action = AnyAction;
            type Event = AnyEvent;

            fn create(rules: &RuleSet) -> Result<Self, RuleSetError> {
                $(if rules.game == $id {
                    return <$game>::create(rules).map(Self::$variant);
                })+
                Err(RuleSetError::UnknownGame(rules.game.clone()))
            }

            fn deck_name(&self) -> &'static str {
                match self { $(Self::$variant(game) => game.deck_name(),)+ }
            }

            fn card_name(&self, face: Face) -> String {
                match self { $(Self::$variant(game) => game.card_name(face),)+ }
            }

            fn begin(
                &mut self,
                chance: &mut dyn Chance,
                events: &mut Vec<AnyEvent>,
            ) -> Result<(), Pause> {
                match self {
                    $(Self::$variant(game) => {
                        Self::wrap(events, AnyEvent::$variant, |own| game.begin(chance, own))
                    })+
                }
            }

            fn to_act(&self) -> SeatSet {
                match self { $(Self::$variant(game) => game.to_act(),)+ }
            }

            fn legal(&self, seat: Seat, known: &Faces) -> Vec<AnyAction> {
                match self {
                    $(Self::$variant(game) => {
                        game.legal(seat, known).into_iter().map(AnyAction::$variant).collect()
                    })+
                }
            }

            // With one game there is no other game's action; with more there will be.
            #[allow(unreachable_patterns)]
            fn check(&self, seat: Seat, action: &AnyAction) -> Result<(), Illegal> {
                match (self, action) {
                    $((Self::$variant(game), AnyAction::$variant(action)) => {
                        game.check(seat, action)
                    })+
                    _ => Err(Illegal::rule("that is an action of another game")),
                }
            }

            #[allow(unreachable_patterns)]
            fn shown(&self, seat: Seat, action: &AnyAction) -> Vec<Shown> {
                match (self, action) {
                    $((Self::$variant(game), AnyAction::$variant(action)) => {
                        game.shown(seat, action)
                    })+
                    _ => Vec::new(),
                }
            }

            #[allow(unreachable_patterns)]
            fn out_of_turn(&self, action: &AnyAction) -> bool {
                match (self, action) {
                    $((Self::$variant(game), AnyAction::$variant(action)) => {
                        game.out_of_turn(action)
                    })+
                    _ => false,
                }
            }

            #[allow(unreachable_patterns)]
            fn apply(
                &mut self,
                seat: Seat,
                action: &AnyAction,
                chance: &mut dyn Chance,
                events: &mut Vec<AnyEvent>,
            ) -> Result<(), Halt> {
                match (self, action) {
                    $((Self::$variant(game), AnyAction::$variant(action)) => {
                        Self::wrap(events, AnyEvent::$variant, |own| {
                            game.apply(seat, action, chance, own)
                        })
                    })+
                    _ => Err(Illegal::rule("that is an action of another game").into()),
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
                        Self::wrap(events, AnyEvent::$variant, |own| {
                            game.forfeit(seat, chance, own)
                        })
                    })+
                }
            }

            fn hand(&self, seat: Seat) -> Vec<Slot> {
                match self { $(Self::$variant(game) => game.hand(seat),)+ }
            }

            fn is_over(&self) -> bool {
                match self { $(Self::$variant(game) => game.is_over(),)+ }
            }

            fn scores(&self) -> Vec<i64> {
                match self { $(Self::$variant(game) => game.scores(),)+ }
            }

            fn winners(&self) -> SeatSet {
                match self { $(Self::$variant(game) => game.winners(),)+ }
            }
        }

        impl TableGame for AnyGame {
            fn view(&self, viewer: Option<Seat>, known: &Faces) -> Value {
                match self { $(Self::$variant(game) => game.view(viewer, known),)+ }
            }

            #[allow(unreachable_patterns)]
            fn action_to_json(&self, action: &AnyAction) -> Value {
                match (self, action) {
                    $((Self::$variant(game), AnyAction::$variant(action)) => {
                        game.action_to_json(action)
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
                    $(Self::$variant(game) => {
                        game.action_from_json(seat, value, known).map(AnyAction::$variant)
                    })+
                }
            }

            #[allow(unreachable_patterns)]
            fn event_to_json(&self, event: &AnyEvent) -> Value {
                match (self, event) {
                    $((Self::$variant(game), AnyEvent::$variant(event)) => {
                        game.event_to_json(event)
                    })+
                    _ => Value::Null,
                }
            }

            #[allow(unreachable_patterns)]
            fn event_text(&self, event: &AnyEvent, names: &[String]) -> String {
                match (self, event) {
                    $((Self::$variant(game), AnyEvent::$variant(event)) => {
                        game.event_text(event, names)
                    })+
                    _ => String::new(),
                }
            }
        }
    };
}

any_game! {
    Loot(Loot) = loot::INFO.id,
}
