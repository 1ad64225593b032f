//! Games in progress, drawn on a screen of text, for the tests of all tables.

// A panic is a failed test.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::missing_panics_doc)]

use std::collections::BTreeMap;

use fairdeal_games::chance::RefereeChance;
use fairdeal_games::{AnyAction, AnyEvent, AnyGame, match_game, rule_set};
use fairdeal_protocol::card::{Faces, Slot};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::seat::Seat;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::offers::Offers;
use super::{Board as _, Spot, ViewContext, layout};
use crate::appearance::{Pyramids, ThemeName};
use crate::canvas::{Canvas, Layer, Marks, Target};
use crate::theme::{Depth, Theme};
use fairdeal_session::view::{LobbySeat, Seating};

/// A game with a referee who knows all cards.
pub struct Scene {
    pub game: AnyGame,
    pub chance: RefereeChance,
    pub names: Vec<String>,
    pub theme: Theme,
    pub picked: Vec<Spot>,
    pub focus: Option<Spot>,
    /// The game before its first deal.
    pub unbegun: AnyGame,
    /// The number that [`Self::play`] chooses the next action by.
    next: u64,
}

pub fn seat(number: usize) -> Seat {
    Seat::new(number).unwrap()
}

fn played_by(number: usize) -> PlayedBy {
    match number {
        0 => PlayedBy::Person,
        _ => PlayedBy::bot("normal").unwrap(),
    }
}

impl Scene {
    /// A game by its id, dealt from a seed.
    pub fn new(game: &str, seats: u8, options: &[(&str, &str)], seed: u8) -> Self {
        let options: BTreeMap<String, String> =
            options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let rules = rule_set(game, seats, &options).unwrap();
        let unbegun = AnyGame::create(&rules).unwrap();
        let mut game = unbegun.clone();
        let mut chance = RefereeChance::from_seed([seed; 32]);
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        let names = ["Anna", "Béla", "Cleo", "Dragomir", "Eve", "Fay"];
        Self {
            game,
            chance,
            names: names.map(str::to_owned)[..usize::from(seats)].to_vec(),
            theme: Theme::default(),
            picked: Vec::new(),
            focus: None,
            unbegun,
            next: u64::from(seed),
        }
    }

    /// A seating in which Anna plays against bots of her own program.
    pub fn seating(&self) -> Seating {
        Seating::of_one_program((0..self.names.len()).map(played_by).collect())
    }

    /// The same seating in the lobby.
    pub fn lobby_seats(&self) -> Vec<Option<LobbySeat>> {
        let taken = self.names.iter().cloned().enumerate().map(|(number, name)| LobbySeat {
            person: None,
            in_browser: false,
            name,
            party: Party::of(seat(0)),
            played_by: played_by(number),
        });
        taken.map(Some).collect()
    }

    /// The scene in ASCII and without colours.
    pub fn ascii(mut self) -> Self {
        self.theme = Theme::new(ThemeName::Mono, Depth::Mono, Pyramids::Rainbow, true);
        self
    }

    /// The cards that a seat knows.
    pub fn known(&self, me: Seat) -> Faces {
        let mut known = Faces::new();
        // A bid has left the hand, but its owner still knows it.
        let bid = match &self.game {
            AnyGame::Thoth(thoth) => thoth.bid_of(me),
            _ => None,
        };
        for handle in self.game.hand(me).into_iter().filter_map(Slot::handle).chain(bid) {
            if let Some(face) = self.chance.faces().get(handle) {
                known.set(handle, face);
            }
        }
        known
    }

    /// Applies an action of a seat, and returns its events.
    pub fn act(&mut self, seat: Seat, action: &AnyAction) -> Vec<AnyEvent> {
        let mut events = Vec::new();
        let done = self.game.apply(seat, action, &mut self.chance, &mut events);
        done.unwrap();
        events
    }

    /// Plays legal actions, varied but the same in each run, and never one that asks a question first. Stops at the end
    /// of the game.
    pub fn play(&mut self, actions: usize) {
        for _ in 0..actions {
            let Some(seat) = self.game.to_act().iter().next() else {
                return;
            };
            self.play_for(seat);
        }
    }

    /// Plays one such action for a seat.
    pub fn play_for(&mut self, seat: Seat) -> Vec<AnyEvent> {
        let known = self.known(seat);
        let offers = self.view(Some(seat), &known, |view, game| Offers::of(game, view));
        let calm: Vec<&AnyAction> =
            offers.all().iter().filter(|offer| offer.question.is_none()).map(|offer| &offer.action).collect();
        self.next = self.next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = usize::try_from(self.next >> 33).unwrap() % calm.len().max(1);
        let action = calm.get(at).map_or(&offers.all()[0].action, |action| action);
        let action = (*action).clone();
        self.act(seat, &action)
    }

    /// Views the game from a seat.
    pub fn view<T>(&self, me: Option<Seat>, known: &Faces, run: impl FnOnce(&ViewContext<'_>, &AnyGame) -> T) -> T {
        let view = ViewContext {
            me,
            names: &self.names,
            known,
            seats: &[],
            picked: &self.picked,
            acts: true,
            is_closed: false,
            advises: true,
            theme: &self.theme,
        };
        run(&view, &self.game)
    }

    /// The board and the hand as a seat sees them on a screen of that size, at their places on the table screen. Also
    /// returns the drawn targets.
    pub fn drawn(&self, me: Option<Seat>, width: u16, height: u16) -> (String, Layer) {
        let known = me.map_or_else(Faces::new, |me| self.known(me));
        let screen = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(screen);
        let mut layer = Layer::default();
        self.view(me, &known, |view, game| {
            let marks = Marks {
                lit: Offers::of(game, view).next(&self.picked),
                picked: self.picked.clone(),
                ..Marks::default()
            };
            let focus = self.focus.map(Target::Spot);
            let mut canvas = Canvas::new(&mut buffer, &self.theme, &marks, focus, &mut layer);
            let areas = layout::areas(game, screen);
            match_game!(game, game => {
                game.draw(view, &mut canvas, areas.stage);
                game.draw_hand(view, &mut canvas, areas.hand);
            });
        });
        let rows = (0..height).map(|y| {
            let row: String = (0..width).map(|x| buffer[(x, y)].symbol()).collect();
            row.trim_end().to_owned()
        });
        (rows.collect::<Vec<_>>().join("\n"), layer)
    }

    /// Checks the board for the seats to act: each legal action has a path, and no path is a prefix of another. Every
    /// spot of a path but a button is drawn where it can be clicked, and everything has words.
    pub fn check(&mut self, width: u16, height: u16) {
        for me in self.game.to_act().iter().collect::<Vec<_>>() {
            let known = self.known(me);
            let offers = self.view(Some(me), &known, |view, game| Offers::of(game, view));
            for offer in offers.all() {
                assert!(!offer.path.is_empty(), "{offer:?} has no path");
                assert!(!offer.words.is_empty(), "{offer:?} has no words");
                let longer = offers.after(&offer.path).find(|o| o.path.len() > offer.path.len());
                assert!(longer.is_none(), "{offer:?} ends where {longer:?} goes on");
                for (at, spot) in offer.path.iter().enumerate() {
                    self.picked = offer.path[..at].to_vec();
                    if let Spot::Button(number) = spot {
                        let button = match_game!(&self.game, game => game.button(*number));
                        assert!(!button.label.is_empty());
                        continue;
                    }
                    let (text, layer) = self.drawn(Some(me), width, height);
                    let area = layer.area(Target::Spot(*spot));
                    assert!(area.is_some(), "{spot:?} of {offer:?} is not drawn:\n{text}");
                    let position = area.unwrap().as_position();
                    let top = layer.targets.iter().any(|(area, target)| {
                        *target == Target::Spot(*spot) && layer.at(area.as_position()) == Some(*target)
                    });
                    assert!(top, "{spot:?} is covered at {position}:\n{text}");
                    let about =
                        self.view(Some(me), &known, |view, game| match_game!(game, game => game.about(*spot, view)));
                    assert!(!about.is_empty(), "{spot:?} is not explained");
                }
                self.picked.clear();
            }
        }
    }
}
