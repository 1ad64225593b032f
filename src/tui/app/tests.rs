//! Frames, and scripts of keys and clicks.

use std::collections::BTreeMap;

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::Progress;
use fairdeal_protocol::table::replica::StepKind;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::MouseEvent;

use super::*;
use crate::games::chance::RefereeChance;
use crate::games::rule_set;

/// A game of three in which seat 0 starts, and the referee who knows all cards.
struct Scene {
    game: AnyGame,
    chance: RefereeChance,
}

fn seat(number: usize) -> Seat {
    Seat::new(number).unwrap()
}

impl Scene {
    fn new() -> Self {
        let rules = rule_set("loot", 3, &BTreeMap::new()).unwrap();
        let mut game = AnyGame::create(&rules).unwrap();
        let mut chance = RefereeChance::from_seed([5; 32]);
        chance.add(Vec::new(), [1]);
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        Self { game, chance }
    }

    fn act(&mut self, number: usize, action: Action) -> Vec<AnyEvent> {
        let mut events = Vec::new();
        let action = AnyAction::Loot(action);
        self.game
            .apply(seat(number), &action, &mut self.chance, &mut events)
            .unwrap();
        events
    }

    /// A whole turn of a seat: takes the top discard and puts it back.
    fn pass(&mut self, number: usize) {
        let AnyGame::Loot(loot) = &self.game else {
            panic!("these are tests of Loot's table")
        };
        let face = *loot.discard_pile().last().unwrap();
        self.act(number, Action::Take(Pile::Discard));
        self.act(
            number,
            Action::Discard {
                card: face,
                handle: None,
            },
        );
    }

    fn snapshot(&self) -> Snapshot {
        let me = seat(0);
        let mut known = Faces::new();
        for handle in self.game.hand(me).into_iter().filter_map(Slot::handle) {
            known.set(handle, self.chance.faces().get(handle).unwrap());
        }
        let leader = self.game.to_act().iter().next().unwrap_or(me);
        Snapshot {
            may_claim: false,
            table: Hash32([7; 32]),
            me: Some(me),
            names: ["Anna", "Béla", "Cleo"].map(str::to_owned).to_vec(),
            game: self.game.clone(),
            known,
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
            connected: SeatSet::all(3),
        }
    }

    fn app(&self, options: TuiOptions) -> App {
        let mut app = App::new(options);
        app.update(Input::Session(SessionEvent::Snapshot(Box::new(
            self.snapshot(),
        ))));
        for line in ["Hand 1 is dealt; Anna starts.", "Anna draws a card."] {
            app.update(Input::Session(SessionEvent::Line(line.to_owned())));
        }
        app
    }
}

fn frame(app: &mut App, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| app.draw(frame)).unwrap();
    terminal.backend().to_string()
}

fn press(app: &mut App, keys: &[KeyCode]) -> Vec<Effect> {
    keys.iter()
        .flat_map(|key| app.update(Input::Terminal(Event::Key((*key).into()))))
        .collect()
}

/// Clicks on a place of the last frame.
fn click(app: &mut App, wanted: Hit) -> Vec<Effect> {
    frame(app, 80, 24);
    let (area, _) = *app
        .hits
        .iter()
        .rev()
        .find(|(_, hit)| *hit == wanted)
        .expect("it is drawn");
    let mouse = MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column: area.x,
        row: area.y,
        modifiers: KeyModifiers::NONE,
    };
    app.update(Input::Terminal(Event::Mouse(mouse)))
}

const PLAIN: TuiOptions = TuiOptions {
    ascii: false,
    mono: false,
};
const ASCII: TuiOptions = TuiOptions {
    ascii: true,
    mono: true,
};

#[test]
fn the_lobby_shows_seats_and_ticket() {
    let mut app = App::new(PLAIN);
    insta::assert_snapshot!("lobby-reaching", frame(&mut app, 80, 24));
    app.update(Input::Session(SessionEvent::Lobby(LobbyView {
        game: "loot".to_owned(),
        options: vec![("target".to_owned(), "100".to_owned())],
        seats: vec![Some("Anna".to_owned()), None, Some("Cleo".to_owned())],
        ready: vec![true, false, true],
        me: Some(seat(0)),
        ticket: Some("fd1abcdefghijklmnop".to_owned()),
        addresses: vec!["/ip4/192.168.1.7/tcp/4001/p2p/12D3KooW".to_owned()],
    })));
    insta::assert_snapshot!("lobby", frame(&mut app, 80, 24));
}

#[test]
fn the_table_at_both_sizes_and_in_ascii() {
    let mut scene = Scene::new();
    insta::assert_snapshot!("take-80x24", frame(&mut scene.app(PLAIN), 80, 24));
    insta::assert_snapshot!("take-120x40", frame(&mut scene.app(PLAIN), 120, 40));
    insta::assert_snapshot!("take-ascii", frame(&mut scene.app(ASCII), 80, 24));
    scene.act(0, Action::Take(Pile::Draw));
    insta::assert_snapshot!("discard-80x24", frame(&mut scene.app(PLAIN), 80, 24));
    let mut other = Scene::new();
    other.pass(0);
    other.act(1, Action::Take(Pile::Discard));
    insta::assert_snapshot!("other-turn", frame(&mut other.app(PLAIN), 80, 24));
}

#[test]
fn ascii_means_ascii() {
    let text = frame(&mut Scene::new().app(ASCII), 80, 24).replace('é', "e");
    assert!(text.is_ascii(), "{text}");
}

#[test]
fn no_size_panics() {
    let mut scene = Scene::new();
    (0..3).for_each(|number| scene.pass(number));
    let burned = scene.act(0, Action::Fire);
    for (width, height) in [(1, 1), (20, 5), (79, 24), (80, 24), (120, 40), (200, 60)] {
        for overlay in 0..5 {
            let mut app = scene.app(PLAIN);
            match overlay {
                1 => app.overlay = Overlay::Help,
                2 => app.overlay = Overlay::ConfirmFire,
                3 => {
                    for event in &burned {
                        app.update(Input::Session(SessionEvent::Game(event.clone())));
                    }
                    press(&mut app, &[KeyCode::Enter]);
                }
                4 => {
                    app.update(Input::Session(over()));
                }
                _ => {}
            }
            frame(&mut app, width, height);
        }
        frame(&mut App::new(PLAIN), width, height);
    }
    insta::assert_snapshot!("too-small", frame(&mut scene.app(PLAIN), 60, 10));
}

fn over() -> SessionEvent {
    SessionEvent::Over {
        scores: vec![104, 85, 55],
        winners: vec![seat(0)],
        log: Hash32([0xcd; 32]),
        transcript: "/home/anna/transcripts/07.fairdeal".into(),
    }
}

#[test]
fn the_village_burns_card_by_card() {
    let mut scene = Scene::new();
    (0..3).for_each(|number| scene.pass(number));
    let mut app = scene.app(PLAIN);
    for event in scene.act(0, Action::Fire) {
        app.update(Input::Session(SessionEvent::Game(event)));
    }
    assert!(app.is_moving());
    let first = frame(&mut app, 80, 24);
    app.update(Input::Tick);
    assert_ne!(frame(&mut app, 80, 24), first);
    press(&mut app, &[KeyCode::Char('x')]);
    assert!(!app.is_moving());
    insta::assert_snapshot!("burned", frame(&mut app, 80, 24));
    press(&mut app, &[KeyCode::Enter]);
    assert!(matches!(app.overlay, Overlay::None));
}

#[test]
fn help_and_the_end() {
    let mut app = Scene::new().app(PLAIN);
    press(&mut app, &[KeyCode::Char('?')]);
    insta::assert_snapshot!("help", frame(&mut app, 80, 24));
    press(&mut app, &[KeyCode::Esc]);
    app.update(Input::Session(over()));
    insta::assert_snapshot!("over", frame(&mut app, 80, 24));
    assert_eq!(press(&mut app, &[KeyCode::Char('q')]), [Effect::Leave]);
    assert!(matches!(app.ending(), Ending::Over { .. }));
}

#[test]
fn a_turn_by_keys() {
    let mut scene = Scene::new();
    let mut app = scene.app(PLAIN);
    let take = press(&mut app, &[KeyCode::Char('d')]);
    assert_eq!(
        take,
        [Effect::Act(AnyAction::Loot(Action::Take(Pile::Draw)))]
    );
    let take = press(&mut app, &[KeyCode::Char('t')]);
    assert_eq!(
        take,
        [Effect::Act(AnyAction::Loot(Action::Take(Pile::Discard)))]
    );
    assert_eq!(press(&mut app, &[KeyCode::Enter]), []);
    assert!(
        app.toast
            .as_ref()
            .is_some_and(|toast| toast.contains("has to be taken"))
    );
    scene.act(0, Action::Take(Pile::Draw));
    let mut app = scene.app(PLAIN);
    press(
        &mut app,
        &[KeyCode::Right, KeyCode::Char('l'), KeyCode::Left],
    );
    let card = app.hand()[1];
    let effects = press(&mut app, &[KeyCode::Char(' ')]);
    let discard = Action::Discard {
        card: card.face,
        handle: card.slot.handle(),
    };
    assert_eq!(effects, [Effect::Act(AnyAction::Loot(discard))]);
}

#[test]
fn a_turn_by_mouse() {
    let mut scene = Scene::new();
    let mut app = scene.app(PLAIN);
    let take = click(&mut app, Hit::Draw);
    assert_eq!(
        take,
        [Effect::Act(AnyAction::Loot(Action::Take(Pile::Draw)))]
    );
    let take = click(&mut app, Hit::Discard);
    assert_eq!(
        take,
        [Effect::Act(AnyAction::Loot(Action::Take(Pile::Discard)))]
    );
    scene.act(0, Action::Take(Pile::Draw));
    let mut app = scene.app(PLAIN);
    assert_eq!(click(&mut app, Hit::Card(3)), []);
    let card = app.hand()[3];
    let discard = Action::Discard {
        card: card.face,
        handle: card.slot.handle(),
    };
    let expected = [Effect::Act(AnyAction::Loot(discard))];
    assert_eq!(click(&mut app, Hit::Card(3)), expected);
    assert_eq!(click(&mut app, Hit::DropSelected), expected);
}

#[test]
fn fire_asks_first_and_says_why_not() {
    let mut scene = Scene::new();
    let mut app = scene.app(PLAIN);
    assert_eq!(press(&mut app, &[KeyCode::Char('f')]), []);
    assert!(
        app.toast
            .as_ref()
            .is_some_and(|toast| toast.contains("every seat"))
    );
    (0..3).for_each(|number| scene.pass(number));
    let mut app = scene.app(PLAIN);
    let fire = Effect::Act(AnyAction::Loot(Action::Fire));
    assert_eq!(
        press(&mut app, &[KeyCode::Char('f'), KeyCode::Char('n')]),
        []
    );
    assert_eq!(
        press(&mut app, &[KeyCode::Char('f'), KeyCode::Char('y')]),
        std::slice::from_ref(&fire)
    );
    assert_eq!(click(&mut app, Hit::Fire), []);
    assert_eq!(click(&mut app, Hit::Yes), [fire]);
}

#[test]
fn leaving_a_game_is_asked_about() {
    let mut app = Scene::new().app(PLAIN);
    assert_eq!(
        press(&mut app, &[KeyCode::Char('q'), KeyCode::Char('n')]),
        []
    );
    assert_eq!(
        press(&mut app, &[KeyCode::Char('q'), KeyCode::Char('y')]),
        [Effect::Leave]
    );
    assert_eq!(
        press(&mut App::new(PLAIN), &[KeyCode::Char('q')]),
        [Effect::Leave]
    );
}

/// Offered only when the other of two stays away.
#[test]
fn who_waits_in_vain_can_close_the_table() {
    let mut app = Scene::new().app(PLAIN);
    press(&mut app, &[KeyCode::Char('q')]);
    assert_eq!(press(&mut app, &[KeyCode::Char('c')]), []);
    if let Some(snapshot) = &mut app.snapshot {
        snapshot.may_claim = true;
    }
    press(&mut app, &[KeyCode::Char('q')]);
    insta::assert_snapshot!("claiming", frame(&mut app, 80, 24));
    assert_eq!(press(&mut app, &[KeyCode::Char('c')]), [Effect::Claim]);
    press(&mut app, &[KeyCode::Char('q')]);
    frame(&mut app, 80, 24);
    assert_eq!(click(&mut app, Hit::Claim), [Effect::Claim]);
}

#[test]
fn one_can_pause_or_leave_for_good() {
    let mut app = Scene::new().app(PLAIN);
    press(&mut app, &[KeyCode::Char('q')]);
    insta::assert_snapshot!("leaving", frame(&mut app, 80, 24));
    assert_eq!(press(&mut app, &[KeyCode::Char('f')]), [Effect::Forfeit]);
    press(&mut app, &[KeyCode::Char('q')]);
    frame(&mut app, 80, 24);
    assert_eq!(click(&mut app, Hit::Forfeit), [Effect::Forfeit]);
    // Once the others know, nothing is asked any more, and the end of the session is the end.
    app.update(Input::Session(SessionEvent::Peer {
        seat: seat(0),
        state: PeerState::Left,
    }));
    assert_eq!(app.update(Input::SessionEnded), [Effect::Leave]);
    assert_eq!(press(&mut app, &[KeyCode::Char('q')]), [Effect::Leave]);
}

#[test]
fn what_is_selected_shows_without_colour() {
    let mut app = Scene::new().app(ASCII);
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    terminal.draw(|frame| app.draw(frame)).unwrap();
    let (area, _) = *app
        .hits
        .iter()
        .find(|(_, hit)| *hit == Hit::Card(0))
        .unwrap();
    let cell = &terminal.backend().buffer()[(area.x + 1, area.y + 1)];
    assert!(cell.modifier.contains(ratatui::style::Modifier::REVERSED));
}

#[test]
fn who_looks_on_sees_the_table_and_no_hand() {
    let snapshot = Snapshot {
        me: None,
        known: Faces::new(),
        my_turn: false,
        round_trips: [(seat(1), 18), (seat(2), 140)].into(),
        ..Scene::new().snapshot()
    };
    let mut app = App::new(PLAIN);
    app.update(Input::Session(SessionEvent::Snapshot(Box::new(snapshot))));
    insta::assert_snapshot!("looking-on", frame(&mut app, 80, 24));
    // Nothing can be done but go, and that asks for nothing.
    for key in ['d', 't', 'f'] {
        assert_eq!(press(&mut app, &[KeyCode::Char(key)]), []);
    }
    assert_eq!(press(&mut app, &[KeyCode::Enter]), []);
    app.update(Input::Terminal(Event::Key(KeyCode::Esc.into())));
    assert_eq!(press(&mut app, &[KeyCode::Char('q')]), [Effect::Leave]);
}
