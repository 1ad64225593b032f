//! [`AnyGame`]: one type for every game, shared by tables, the referee and screens.
//!
//! Actions are sent and stored in these enums. A variant's number is part of the encoding, so new
//! variants go at the end.

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::game::{ApplyError, Chance, Game, Illegal, Pause, RuleSet, RuleSetError, Shown, uniform};
use fairdeal_protocol::seat::{Seat, SeatSet};
use rand_core::Rng;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bots::{
    Bot, GentleLootBot, IvoryBot, IvorySearchBot, Level, LootBot, PlutonianBot, Random, SphinxBot, SphinxStamina,
    ThothBot,
};
use crate::info::GameInfo;
use crate::interface::{ActionError, TableEvent, TableGame};
use crate::search::{Budget, SharpBot};
use crate::{ivory, loot, plutonian, sphinx, thoth};

/// Declares the games: one line each, with the module of its rules, its type there, and its normal bot.
///
/// `$d` is a dollar sign, which a macro cannot write by itself.
macro_rules! games {
    ($d:tt $($(#[$doc:meta])* $variant:ident($module:ident::$game:ident, $bot:ident)),+ $(,)?) => {
        /// Every game that can be played here.
        pub static GAMES: &[&GameInfo] = &[$(&$module::INFO),+];

        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum AnyGame {
            $($(#[$doc])* $variant($module::$game)),+
        }

        /// An action of any of the games.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum AnyAction {
            $($(#[$doc])* $variant(<$module::$game as Game>::Action)),+
        }

        /// An event of any of the games.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum AnyEvent {
            $($(#[$doc])* $variant(<$module::$game as Game>::Event)),+
        }

        impl TableEvent for AnyEvent {
            fn to_json(&self) -> Value {
                match self {
                    $(Self::$variant(event) => event.to_json()),+
                }
            }

            fn text(&self, names: &[String]) -> String {
                match self {
                    $(Self::$variant(event) => event.text(names)),+
                }
            }
        }

        /// A bot for every game.
        #[derive(Default)]
        struct EveryBot<$($variant),+> {
            $($module: $variant),+
        }

        /// The normal bot of every game.
        type NormalBots = EveryBot<$($bot),+>;

        impl<$($variant: Bot<$module::$game>),+> Bot<AnyGame> for EveryBot<$($variant),+> {
            fn choose(
                &mut self,
                game: &AnyGame,
                seat: Seat,
                known: &Faces,
                rng: &mut dyn Rng,
            ) -> Option<AnyAction> {
                match game {
                    $(AnyGame::$variant(game) => {
                        let action = self.$module.choose(game, seat, known, rng);
                        action.map(AnyAction::$variant)
                    })+
                }
            }
        }

        impl AnyGame {
            /// The static description of this game.
            pub fn info(&self) -> &'static GameInfo {
                match self {
                    $(Self::$variant(_) => &$module::INFO),+
                }
            }

            fn of_rules(rules: &RuleSet) -> Result<Self, RuleSetError> {
                $(if rules.game == $module::INFO.id {
                    return $module::$game::create(rules).map(Self::$variant);
                })+
                Err(RuleSetError::UnknownGame(rules.game.clone()))
            }
        }

        /// Runs code on the game inside an [`AnyGame`], whichever it is.
        ///
        /// - `match_game!(any, game => code)`
        /// - `match_game!(any, game, AnyAction as wrap => code)`: `wrap` makes an [`AnyAction`] of one of the game's own.
        /// - `match_game!(any, game, AnyAction(action) = given => code)`: with the game's own action in `given`; `None` if
        ///   that is of another game. `, AnyEvent as wrap` may follow `given`.
        ///
        /// [`AnyEvent`] can stand in place of [`AnyAction`].
        #[macro_export]
        macro_rules! match_game {
            ($d any:expr, $d game:ident => $d code:expr) => {
                match $d any {
                    $($d crate::AnyGame::$variant($d game) => $d code),+
                }
            };
            ($d any:expr, $d game:ident, $d kind:ident as $d wrap:ident => $d code:expr) => {
                match $d any {
                    $($d crate::AnyGame::$variant($d game) => {
                        let $d wrap = $d crate::$d kind::$variant;
                        $d code
                    })+
                }
            };
            ($d any:expr, $d game:ident, $d kind:ident($d own:ident) = $d given:expr => $d code:expr) => {
                match ($d any, $d given) {
                    $(($d crate::AnyGame::$variant($d game), $d crate::$d kind::$variant($d own)) => {
                        Some($d code)
                    })+
                    _ => None,
                }
            };
            (
                $d any:expr, $d game:ident, $d kind:ident($d own:ident) = $d given:expr,
                $d other:ident as $d wrap:ident => $d code:expr
            ) => {
                match ($d any, $d given) {
                    $(($d crate::AnyGame::$variant($d game), $d crate::$d kind::$variant($d own)) => {
                        let $d wrap = $d crate::$d other::$variant;
                        Some($d code)
                    })+
                    _ => None,
                }
            };
        }
    };
}

games! { $
    Loot(loot::Loot, LootBot),
    /// Ivory Tower.
    Ivory(ivory::Ivory, IvoryBot),
    /// Plutonian Poker.
    Plutonian(plutonian::Plutonian, PlutonianBot),
    /// Sphinx's Paw.
    Sphinx(sphinx::Sphinx, SphinxBot),
    /// Houses of Thoth.
    Thoth(thoth::Thoth, ThothBot),
}

impl Game for AnyGame {
    type Action = AnyAction;
    type Event = AnyEvent;

    fn create(rules: &RuleSet) -> Result<Self, RuleSetError> {
        Self::of_rules(rules)
    }

    fn deck_name(&self) -> &'static str {
        match_game!(self, game => game.deck_name())
    }

    fn first_deck(&self) -> Option<Vec<Face>> {
        match_game!(self, game => game.first_deck())
    }

    fn next_deck(&self) -> Option<Vec<Face>> {
        match_game!(self, game => game.next_deck())
    }

    fn seals_cards(&self) -> bool {
        match_game!(self, game => game.seals_cards())
    }

    fn card_name(&self, face: Face) -> String {
        match_game!(self, game => game.card_name(face))
    }

    fn begin(&mut self, chance: &mut dyn Chance, events: &mut Vec<AnyEvent>) -> Result<(), Pause> {
        match_game!(self, game, AnyEvent as wrap => wrapped(events, wrap, |own| game.begin(chance, own)))
    }

    fn to_act(&self) -> SeatSet {
        match_game!(self, game => game.to_act())
    }

    fn legal(&self, seat: Seat, known: &Faces) -> Vec<AnyAction> {
        match_game!(self, game, AnyAction as wrap => game.legal(seat, known).into_iter().map(wrap).collect())
    }

    fn check(&self, seat: Seat, action: &AnyAction) -> Result<(), Illegal> {
        match_game!(self, game, AnyAction(own) = action => game.check(seat, own)).unwrap_or_else(|| Err(foreign()))
    }

    fn shown(&self, seat: Seat, action: &AnyAction) -> Vec<Shown> {
        match_game!(self, game, AnyAction(own) = action => game.shown(seat, own)).unwrap_or_default()
    }

    fn out_of_turn(&self, action: &AnyAction) -> bool {
        match_game!(self, game, AnyAction(own) = action => game.out_of_turn(own)).unwrap_or_default()
    }

    fn apply(
        &mut self,
        seat: Seat,
        action: &AnyAction,
        chance: &mut dyn Chance,
        events: &mut Vec<AnyEvent>,
    ) -> Result<(), ApplyError> {
        let done = match_game!(self, game, AnyAction(own) = action, AnyEvent as wrap => {
            wrapped(events, wrap, |events| game.apply(seat, own, chance, events))
        });
        done.unwrap_or_else(|| Err(foreign().into()))
    }

    fn forfeit(&mut self, seat: Seat, chance: &mut dyn Chance, events: &mut Vec<AnyEvent>) -> Result<(), Pause> {
        match_game!(self, game, AnyEvent as wrap => wrapped(events, wrap, |own| game.forfeit(seat, chance, own)))
    }

    fn hand(&self, seat: Seat) -> Vec<Slot> {
        match_game!(self, game => game.hand(seat))
    }

    fn is_over(&self) -> bool {
        match_game!(self, game => game.is_over())
    }

    fn scores(&self) -> Vec<i64> {
        match_game!(self, game => game.scores())
    }

    fn winners(&self) -> SeatSet {
        match_game!(self, game => game.winners())
    }
}

impl TableGame for AnyGame {
    fn view(&self, seat: Option<Seat>, known: &Faces) -> Value {
        match_game!(self, game => game.view(seat, known))
    }

    fn action_to_json(&self, seat: Seat, action: &AnyAction, known: &Faces) -> Value {
        match_game!(self, game, AnyAction(own) = action => game.action_to_json(seat, own, known)).unwrap_or_default()
    }

    fn action_from_json(&self, seat: Seat, value: &Value, known: &Faces) -> Result<AnyAction, ActionError> {
        match_game!(self, game, AnyAction as wrap => game.action_from_json(seat, value, known).map(wrap))
    }

    fn has_left(&self, seat: Seat) -> bool {
        match_game!(self, game => game.has_left(seat))
    }

    fn ahead(&self, seat: Seat) -> Option<Self> {
        match_game!(self, game, AnyGame as wrap => game.ahead(seat).map(wrap))
    }

    fn object(&self, seat: Seat, action: &AnyAction) -> u32 {
        match_game!(self, game, AnyAction(own) = action => game.object(seat, own)).unwrap_or_default()
    }

    fn seats(&self) -> usize {
        match_game!(self, game => game.seats())
    }

    fn cards(&self) -> Vec<(Slot, Option<Seat>)> {
        match_game!(self, game => game.cards())
    }

    fn shuffled_from_json(&self, entry: &Value) -> Option<u32> {
        match_game!(self, game => game.shuffled_from_json(entry))
    }

    fn shuffled_to_json(&self, number: u32) -> Value {
        match_game!(self, game => game.shuffled_to_json(number))
    }
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

/// The gentle bot of every game: now and then it plays like the normal one, otherwise at random. Out of turn it only
/// does what the normal one would. In Loot it fires like a player.
#[derive(Default)]
struct GentleBots(NormalBots);

/// A gentle bot plays like a normal one about once in this many decisions.
const INSIGHT: u32 = 4;

impl Bot<AnyGame> for GentleBots {
    fn choose(&mut self, game: &AnyGame, seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Option<AnyAction> {
        if uniform(rng, INSIGHT) == 0 {
            return self.0.choose(game, seat, known, rng);
        }
        match game {
            AnyGame::Loot(game) => GentleLootBot.choose(game, seat, known, rng).map(AnyAction::Loot),
            AnyGame::Sphinx(game) => {
                let vote = self.0.sphinx.vote(game, seat);
                let action = vote.or_else(|| Random { seldom: None }.choose(game, seat, known, rng));
                action.map(AnyAction::Sphinx)
            }
            _ => Random { seldom: None }.choose(game, seat, known, rng),
        }
    }
}

/// The sharp bot of every game. Ivory Tower's searches in its own way, and needs no budget.
struct SharpBots {
    search: SharpBot,
    ivory: IvorySearchBot,
    sphinx: SphinxStamina,
}

impl Bot<AnyGame> for SharpBots {
    fn choose(&mut self, game: &AnyGame, seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Option<AnyAction> {
        match game {
            AnyGame::Loot(game) => self.search.choose(game, seat, known, rng).map(AnyAction::Loot),
            AnyGame::Ivory(game) => self.ivory.choose(game, seat, known, rng).map(AnyAction::Ivory),
            AnyGame::Plutonian(game) => self.search.choose(game, seat, known, rng).map(AnyAction::Plutonian),
            AnyGame::Sphinx(game) => {
                let vote = self.sphinx.vote(game, seat);
                let action = vote.or_else(|| self.search.choose(game, seat, known, rng));
                action.map(AnyAction::Sphinx)
            }
            AnyGame::Thoth(game) => self.search.choose(game, seat, known, rng).map(AnyAction::Thoth),
        }
    }
}

/// The bot of a level. A sharp one has the usual budget of play-outs; [`sharp_bot`] sets another.
pub fn bot(level: Level) -> Box<dyn Bot<AnyGame>> {
    match level {
        Level::Gentle => Box::new(GentleBots::default()),
        Level::Normal => Box::new(NormalBots::default()),
        Level::Sharp => sharp_bot(Budget::default()),
    }
}

/// A sharp bot that thinks within this budget for each decision.
pub fn sharp_bot(budget: Budget) -> Box<dyn Bot<AnyGame>> {
    Box::new(SharpBots {
        search: SharpBot::new(budget),
        ivory: IvorySearchBot::default(),
        sphinx: SphinxStamina::default(),
    })
}

/// The normal bot as it was when sharp bots were first measured. It stays as it is.
pub fn baseline_bot() -> Box<dyn Bot<AnyGame>> {
    Box::new(NormalBots {
        loot: LootBot::BASELINE,
        ivory: IvoryBot,
        plutonian: PlutonianBot::BASELINE,
        sphinx: SphinxBot::BASELINE,
        thoth: ThothBot::BASELINE,
    })
}
