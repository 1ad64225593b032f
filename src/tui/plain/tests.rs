//! The plain tables of four games: frames at telling moments, and games played with keys alone.

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::table::live::Progress;
use fairdeal_protocol::table::replica::StepKind;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{
    Event, KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use super::*;
use crate::bots::{Level, bot};
use crate::games::chance::RefereeChance;
use crate::games::{AnyGame, GAMES, rule_set};
use crate::session::SessionEvent;
use crate::tui::TuiOptions;
use crate::tui::app::{Effect, Input};

mod room;

/// A game and the referee who knows all cards.
struct Scene {
    game: AnyGame,
    chance: RefereeChance,
    rng: ChaCha20Rng,
}

impl Scene {
    fn new(id: &str, seats: u8, options: &[(&str, &str)], number: u8) -> Self {
        let given: BTreeMap<String, String> = options
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        let mut game = AnyGame::create(&rule_set(id, seats, &given).unwrap()).unwrap();
        let mut chance = RefereeChance::from_seed([number; 32]);
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        let rng = ChaCha20Rng::from_seed([number; 32]);
        Self { game, chance, rng }
    }

    fn apply(&mut self, seat: Seat, action: &AnyAction) {
        self.game
            .apply(seat, action, &mut self.chance, &mut Vec::new())
            .unwrap();
    }

    /// Bots play so many actions, then on until it is seat 0's turn.
    fn play(&mut self, actions: usize) {
        let mut bot = bot(Level::Normal);
        for made in 0.. {
            let Some(seat) = self.game.to_act().iter().next() else {
                return;
            };
            if made >= actions && seat.index() == 0 {
                return;
            }
            let known = self.chance.dealt_to(seat);
            let action = bot.choose(&self.game, seat, known, &mut self.rng).unwrap();
            self.apply(seat, &action);
        }
    }

    fn snapshot(&self) -> Snapshot {
        let me = Seat::new(0).unwrap();
        let seats = self.game.scores().len();
        let leader = self.game.to_act().iter().next().unwrap_or(me);
        let names = ["Anna", "Béla", "Cleo", "Dora", "Emil", "Fay"];
        Snapshot {
            may_claim: false,
            table: Hash32([7; 32]),
            me: Some(me),
            names: names[..seats]
                .iter()
                .map(|name| (*name).to_owned())
                .collect(),
            game: self.game.clone(),
            known: self.chance.dealt_to(me).clone(),
            progress: Progress {
                step: 12,
                kind: Some(StepKind::Action { leader }),
                deal: 0,
                done: SeatSet::EMPTY,
                awaited: SeatSet::one(leader),
                log: Hash32([0xab; 32]),
            },
            my_turn: leader == me,
            round_trips: BTreeMap::new(),
            connected: SeatSet::all(seats),
        }
    }

    fn show(&self, app: &mut App) {
        let snapshot = Box::new(self.snapshot());
        app.update(Input::Session(SessionEvent::Snapshot(snapshot)));
    }

    fn app(&self, ascii: bool) -> App {
        let mut app = App::new(TuiOptions { ascii, mono: false });
        self.show(&mut app);
        let line =
            "The table is open, and a line as long as this one is broken at blanks.".to_owned();
        app.update(Input::Session(SessionEvent::Line(line)));
        app
    }
}

fn frame(app: &mut App, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| app.draw(frame)).unwrap();
    terminal.backend().to_string()
}

fn press(app: &mut App, keys: &[KeyCode]) -> Vec<Effect> {
    let mut effects = Vec::new();
    for key in keys {
        effects.extend(app.update(Input::Terminal(Event::Key((*key).into()))));
    }
    effects
}

/// The largest table of each game in the middle, with a telling option.
fn middles() -> Vec<(&'static str, Scene)> {
    let scene = |id, seats, options: &[(&str, &str)], actions| {
        let mut scene = Scene::new(id, seats, options, 3);
        scene.play(actions);
        (id, scene)
    };
    vec![
        scene("ivory-tower", 1, &[], 12),
        scene("plutonian-poker", 6, &[("wilds", "center")], 40),
        scene("sphinxs-paw", 4, &[], 60),
        scene("houses-of-thoth", 5, &[("happenstance", "true")], 45),
    ]
}

#[test]
fn tables() {
    for (id, scene) in middles() {
        let mut app = scene.app(false);
        insta::assert_snapshot!(format!("{id}-80x24"), frame(&mut app, 80, 24));
        insta::assert_snapshot!(format!("{id}-140x45"), frame(&mut app, 140, 45));
        let ascii = frame(&mut scene.app(true), 80, 24).replace('é', "e");
        assert!(ascii.is_ascii(), "{ascii}");
    }
}

#[test]
fn an_auction_is_offered() {
    let scene = Scene::new("houses-of-thoth", 2, &[("opening", "auction")], 4);
    insta::assert_snapshot!("auction", frame(&mut scene.app(false), 80, 24));
}

#[test]
fn the_help_page_is_the_rulebook_and_scrolls() {
    let (_, scene) = middles().remove(2);
    let mut app = scene.app(false);
    press(&mut app, &[KeyCode::Char('?')]);
    let first = frame(&mut app, 80, 24);
    assert!(first.contains("Sphinx's Paw") && first.contains("By Matthew Rogers"));
    press(&mut app, &[KeyCode::PageDown; 30]);
    let last = frame(&mut app, 80, 24);
    assert!(last.contains("## Rulings"), "{last}");
    press(&mut app, &[KeyCode::Esc]);
    assert!(frame(&mut app, 80, 24).contains("What you can do"));
}

/// Every legal action is a choice of its own, whatever the position.
#[test]
fn every_legal_action_is_offered_once() {
    for info in GAMES.iter().filter(|info| info.id != "loot") {
        for number in 0..3 {
            let options: &[(&str, &str)] = match (info.id, number) {
                ("houses-of-thoth", 0) => &[("opening", "auction")],
                ("houses-of-thoth", _) => &[("happenstance", "true")],
                ("plutonian-poker", 1) => &[("wilds", "bottoms")],
                _ => &[],
            };
            let mut scene = Scene::new(info.id, info.most_seats, options, number);
            for _ in 0..40 {
                if scene.game.is_over() {
                    break;
                }
                let snapshot = scene.snapshot();
                let legal = scene
                    .game
                    .legal(snapshot.me.unwrap(), &snapshot.known)
                    .len();
                let groups = groups(&snapshot);
                let choices: Vec<(&str, &str)> = groups
                    .iter()
                    .flat_map(|group| {
                        let choices = group.choices.iter();
                        choices.map(|(words, _)| (group.name.as_str(), words.as_str()))
                    })
                    .collect();
                let different: BTreeSet<_> = choices.iter().collect();
                assert_eq!(
                    (choices.len(), different.len()),
                    (legal, legal),
                    "{choices:?}"
                );
                scene.play(1);
                if let Some(seat) = scene.game.to_act().iter().next() {
                    let known = scene.chance.faces();
                    let mut legal = scene.game.legal(seat, known);
                    let chosen = scene.rng.next_u32() as usize % legal.len();
                    let action = legal.swap_remove(chosen);
                    scene.apply(seat, &action);
                }
            }
        }
    }
}

/// Seat 0 is played by arrow keys alone, the others by bots, to the end or for many turns.
#[test]
fn games_can_be_played_with_arrow_keys_alone() {
    for info in GAMES.iter().filter(|info| info.id != "loot") {
        let mut scene = Scene::new(
            info.id,
            info.least_seats.max(2).min(info.most_seats),
            &[],
            9,
        );
        let mut app = scene.app(false);
        let keys = [KeyCode::Right, KeyCode::Down, KeyCode::Down, KeyCode::Left];
        let mut acted = 0;
        for _ in 0..60 {
            scene.play(0);
            if scene.game.is_over() {
                break;
            }
            scene.show(&mut app);
            let moves = scene.rng.next_u32() as usize % 5;
            press(&mut app, &keys[..moves.min(4)]);
            frame(&mut app, 80, 24);
            let effects = press(&mut app, &[KeyCode::Enter]);
            let [Effect::Act(action)] = effects.as_slice() else {
                panic!("{} {effects:?}", info.id);
            };
            scene.apply(Seat::new(0).unwrap(), action);
            acted += 1;
        }
        assert!(acted > 0, "{}", info.id);
    }
}

/// A click chooses, a second one acts; nothing is done where nothing can be.
#[test]
fn clicks_choose_and_act() {
    let (_, scene) = middles().remove(0);
    let mut app = scene.app(false);
    frame(&mut app, 80, 24);
    let click = |app: &mut App, wanted: Hit| {
        let (area, _) = *app.hits.iter().find(|(_, hit)| *hit == wanted).unwrap();
        app.update(Input::Terminal(Event::Mouse(MouseEvent {
            kind: MouseEventKind::Down(MouseButton::Left),
            column: area.x,
            row: area.y,
            modifiers: KeyModifiers::NONE,
        })))
    };
    let last = groups(&scene.snapshot()).len() - 1;
    assert_eq!(click(&mut app, Hit::Group(last)), []);
    frame(&mut app, 80, 24);
    assert!(matches!(
        click(&mut app, Hit::Item(0))[..],
        [Effect::Act(_)]
    ));
    assert!(matches!(click(&mut app, Hit::Choose)[..], [Effect::Act(_)]));
    let mut scene = Scene::new("plutonian-poker", 2, &[], 5);
    for seat in [0, 1] {
        let vote = scene
            .game
            .legal(Seat::new(seat).unwrap(), &Faces::new())
            .pop()
            .unwrap();
        scene.apply(Seat::new(seat).unwrap(), &vote);
    }
    scene.show(&mut app);
    assert_eq!(press(&mut app, &[KeyCode::Enter]), []);
    assert!(frame(&mut app, 80, 24).contains("nothing that you can do"));
}

#[test]
fn who_looks_on_is_told_so() {
    let scene = Scene::new("sphinxs-paw", 3, &[], 4);
    let snapshot = Snapshot {
        me: None,
        known: Faces::new(),
        my_turn: false,
        ..scene.snapshot()
    };
    let mut app = App::new(TuiOptions {
        ascii: false,
        mono: false,
    });
    app.update(Input::Session(SessionEvent::Snapshot(Box::new(snapshot))));
    insta::assert_snapshot!("looking-on", frame(&mut app, 80, 24));
}
