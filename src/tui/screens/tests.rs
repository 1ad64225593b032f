//! Every screen as text, at every size, and under random keys and clicks.

use std::time::{Duration, SystemTime};

use fairdeal_games::GAMES;
use fairdeal_net::{PeerId, Ticket};
use fairdeal_protocol::audit::progress::AuditProgress;
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::seat::Seat;
use fairdeal_ui::canvas::Target;
use fairdeal_ui::input::{KeyCode, UserInput};
use fairdeal_ui::view::{LobbySeat, LobbyView};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use ratatui::layout::Position;

use crate::history::{Past, What};
use crate::session::SessionEvent;
use crate::session::lan::{LanTable, LanView};
use crate::store::IdentityKey;
use crate::tui::event::{Input, UiEvent};
use crate::tui::screen::{Effect, Library};
use crate::tui::testing::TestApp;

/// The sizes to draw every screen at.
const SIZES: [(u16, u16); 7] = [(1, 1), (20, 5), (79, 24), (80, 23), (80, 24), (140, 45), (200, 60)];

fn taken(name: &str, number: usize) -> Option<LobbySeat> {
    Some(LobbySeat {
        name: name.to_owned(),
        party: Party::of(Seat::new(0).unwrap()),
        played_by: match number {
            0 => PlayedBy::Person,
            _ => PlayedBy::bot("normal").unwrap(),
        },
    })
}

fn lobby() -> LobbyView {
    LobbyView {
        game: "loot".to_owned(),
        options: vec![("target".to_owned(), "100".to_owned())],
        seats: vec![taken("Anna", 0), None, taken("Cleo", 2)],
        ready: vec![false, false, true],
        me: Seat::new(0),
        ticket: Some("fd1abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrstuvwxyz234567abcdefghij".to_owned()),
        addresses: vec!["/ip4/192.168.1.7/tcp/4001/p2p/12D3KooW".to_owned()],
    }
}

/// Each screen by name, reached as a player would.
pub(super) fn screens(ascii: bool) -> Vec<(&'static str, TestApp)> {
    let home = || {
        let mut stage = TestApp::at_home(ascii);
        stage.input(Input::Library(Library {
            waiting: vec![("256f".to_owned(), "256f4fc1 (Loot: Anna, Ben)".to_owned())],
            past: vec![Past {
                table: "0707".repeat(16),
                path: Some("/games/transcripts/0707.fairdeal".into()),
                when: SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000),
                bytes: 4000,
                what: What::Unreadable("the file ends too early".to_owned()),
            }],
        }));
        stage
    };
    let at = |words: &str| {
        let mut stage = home();
        stage.click_on(words);
        stage
    };
    let mut lobby_stage = at("join with");
    lobby_stage.keys("fd1");
    lobby_stage = at("256f4fc1");
    lobby_stage.input(Input::UiEvent(UiEvent::Session(SessionEvent::Lobby(lobby()))));
    lobby_stage.input(Input::UiEvent(UiEvent::Session(SessionEvent::Chat {
        seat: Seat::new(2),
        name: "Cleo".to_owned(),
        text: "hello".to_owned(),
    })));
    let mut reaching = at("256f4fc1");
    reaching.input(Input::UiEvent(UiEvent::Session(SessionEvent::Reaching {
        seconds: 43,
        why: Some("no answer at /ip4/192.0.2.7/tcp/4001: Connection refused".to_owned()),
    })));
    let mut audit = at("history");
    audit.keys("a");
    audit.input(Input::UiEvent(UiEvent::Checking(AuditProgress {
        done: 30,
        total: 90,
        ..AuditProgress::default()
    })));
    let mut rules = at("Loot  ");
    rules.keys("R");
    let mut palette = home();
    palette.keys(":jo");
    let mut help = home();
    help.keys("?");
    vec![
        ("home", home()),
        ("setup", at("Plutonian")),
        ("join", at("join with")),
        ("watch", at("watch a table")),
        ("history", at("history")),
        ("settings", at("settings")),
        ("lobby", lobby_stage),
        ("reaching", reaching),
        ("audit", audit),
        ("rules", rules),
        ("palette", palette),
        ("help", help),
    ]
}

#[test]
fn every_screen_at_both_sizes_and_in_ascii() {
    for (name, mut stage) in screens(false) {
        for size in [(80, 24), (140, 45)] {
            stage.size = size;
            stage.draw();
            insta::assert_snapshot!(format!("{name}-{}x{}", size.0, size.1), stage.draw());
        }
    }
    for (name, mut stage) in screens(false) {
        insta::assert_snapshot!(format!("{name}-colours"), stage.draw_colours());
    }
    for (name, mut stage) in screens(true) {
        let text = stage.draw().replace('ó', "o");
        assert!(text.is_ascii(), "{name}:\n{text}");
        insta::assert_snapshot!(format!("{name}-ascii"), text);
    }
}

#[test]
fn no_size_is_too_much_for_any_screen() {
    for (_, mut stage) in screens(false) {
        for size in SIZES {
            stage.size = size;
            let text = stage.draw();
            let is_small = size.0 < 80 || size.1 < 24;
            if is_small && size.0 >= 20 {
                assert!(text.contains("fairdeal needs"), "{text}");
            }
        }
    }
}

fn ticket() -> Ticket {
    let host = PeerId::of(&IdentityKey::from_seed([3; 32]).signing_key()).unwrap();
    let address = "/ip4/192.0.2.1/tcp/4000".parse().unwrap();
    Ticket::new([1; 8], host, [address]).unwrap()
}

/// A key meant for something else does not choose an entry that has just appeared. Home and End go to the first and the
/// last entry.
#[test]
fn there_is_a_first_and_a_last() {
    let mut stage = TestApp::at_home(false);
    let chosen = |stage: &mut TestApp| {
        let shown = stage.draw();
        let row = shown.lines().find(|row| row.contains('▌')).map(str::to_owned);
        row.unwrap_or_default()
    };
    stage.key(KeyCode::End);
    assert!(chosen(&mut stage).contains("quit"));
    stage.key(KeyCode::Home);
    assert!(chosen(&mut stage).contains("Loot"));
}

#[test]
fn a_table_of_the_network_takes_no_other_lines_place() {
    let mut stage = TestApp::at_home(false);
    while !stage.draw().contains("▌  settings") {
        stage.key(KeyCode::Tab);
    }
    stage.input(Input::Lan(Some(LanView {
        tables: vec![LanTable {
            ticket: ticket(),
            host: "Cleo".to_owned(),
            game: "loot".to_owned(),
            options: Vec::new(),
            seats: 2,
            free: 1,
            locked: false,
        }],
        blind: false,
    })));
    assert!(stage.draw().contains("Cleo: Loot"));
    stage.key(KeyCode::Enter);
    assert_eq!(stage.shell.trail(), ["home", "settings"]);
}

/// The arrows reach every entry of a list that is longer than the screen.
#[test]
fn all_of_the_history_can_be_reached() {
    let mut stage = TestApp::at_home(false);
    let past = |number: u64| Past {
        table: format!("{number:064}"),
        path: Some("/games/transcripts/0707.fairdeal".into()),
        when: SystemTime::UNIX_EPOCH,
        bytes: 4000,
        what: What::Unreadable(format!("number {number}")),
    };
    stage.input(Input::Library(Library {
        waiting: Vec::new(),
        past: (0..40).map(past).collect(),
    }));
    stage.click_on("history");
    for _ in 0..39 {
        stage.key(KeyCode::Down);
    }
    assert!(stage.draw().contains("number 39"));
}

/// A random key or click.
fn anything(rng: &mut ChaCha20Rng, (width, height): (u16, u16)) -> UserInput {
    let letters = b"abcdefghijklmnopqrstuvwxyzGRSH0123456789?:/ ";
    let mut number = |below: u32| rng.next_u32() % below;
    let codes = [
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Tab,
        KeyCode::BackTab,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Enter,
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Backspace,
        KeyCode::Delete,
        KeyCode::F(1),
        KeyCode::F(12),
    ];
    let mut small = |below: u16| u16::try_from(number(u32::from(below.max(1)))).unwrap();
    match small(10) {
        0..=3 => UserInput::Key(codes[usize::from(small(17))].into()),
        4..=6 => {
            let at = usize::from(small(u16::try_from(letters.len()).unwrap()));
            UserInput::Key(KeyCode::Char(char::from(letters[at])).into())
        }
        7 => UserInput::Paste("pasted\u{7}\u{202e} text\nof two lines".to_owned()),
        _ => {
            let at = Position::new(small(width + 5), small(height + 5));
            match small(6) {
                0 | 1 => UserInput::Click(at),
                2 => UserInput::SecondaryClick(at),
                3 => UserInput::MouseMoved(at),
                4 => UserInput::ScrollUp,
                _ => UserInput::ScrollDown,
            }
        }
    }
}

#[test]
fn no_keys_and_clicks_break_anything() {
    for seed in 0..12_u8 {
        let mut rng = ChaCha20Rng::from_seed([seed; 32]);
        let mut stage = TestApp::at_home(seed % 2 == 1);
        if usize::from(seed) < GAMES.len() {
            // Start at a table, where there is most to do.
            stage.click(Target::Row(usize::from(seed)));
            stage.key(KeyCode::Enter);
        }
        for turn in 0..250 {
            if turn % 50 == 0 {
                stage.size = SIZES[usize::try_from(rng.next_u32()).unwrap() % SIZES.len()];
            }
            let event = anything(&mut rng, stage.size);
            stage.input(Input::User(event));
            if turn % 7 == 0 {
                stage.input(Input::Tick(Duration::from_millis(200)));
            }
        }
        if stage.shell.trail().is_empty() {
            // The random keys left the program.
            let quits = |effect: &Effect| matches!(effect, Effect::Quit);
            assert!(stage.effects.iter().any(quits));
        }
    }
}
