//! The page without a browser: files of every game, changed and broken ones, practice games, and random input.

// Tests fail by panicking.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

use std::path::Path;

use data_encoding::BASE64;
use fairdeal_games::GAMES;
use fairdeal_peers::testing::peer;
use fairdeal_peers::ticket::Ticket;
use fairdeal_protocol::table::clocks::Now;
use fairdeal_session::seat_file::SeatFile;
use fairdeal_web::message::{Answer, Ask, Frame, NotStored, Pressed, Start, TableStart};
use fairdeal_web::page::Page;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};

/// A page, and the rows that a browser would show.
struct Shown {
    page: Page,
    rows: Vec<String>,
    last: Answer,
    /// The last frame.
    frame: Frame,
}

fn start() -> Start {
    Start {
        columns: 100,
        rows: 36,
        seed: "07".repeat(32),
        today: "2026-11-26".to_owned(),
        light: false,
        still: false,
        cores: 1,
        settings: None,
        table: None,
    }
}

impl Shown {
    fn new() -> Self {
        Self::with(start())
    }

    fn with(start: Start) -> Self {
        let page = Page::new(&start).unwrap();
        let (rows, last, frame) = (Vec::new(), Answer::default(), Frame::default());
        let mut shown = Self { page, rows, last, frame };
        shown.ask(Ask::Start(start));
        shown
    }

    fn ask(&mut self, ask: Ask) {
        self.ask_with(ask, &[]);
    }

    fn ask_with(&mut self, ask: Ask, file: &[u8]) {
        let answer = self.page.handle(ask, file);
        if let Some(frame) = &answer.frame {
            self.rows.resize(usize::from(frame.rows), String::new());
            for (number, row) in &frame.changed {
                self.rows[usize::from(*number)].clone_from(row);
            }
            self.frame = frame.clone();
        }
        self.last = answer;
    }

    fn key(&mut self, key: &str) {
        self.ask(Ask::Key(Pressed { key: key.to_owned(), shift: false }));
    }

    /// Opens a file and checks it to its end.
    fn check(&mut self, file: &[u8]) {
        self.ask_with(Ask::File("a.fairdeal".to_owned()), file);
        while self.last.busy {
            self.ask(Ask::Work(64));
        }
        self.rest();
    }

    /// Lets time pass until nothing moves.
    fn rest(&mut self) {
        for _ in 0..1000 {
            if self.last.pace.is_none() {
                return;
            }
            self.ask(Ask::Tick(1000));
        }
        panic!("it moves for ever");
    }

    /// The text on the page, without markup.
    fn text(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let mut in_tag = false;
            for letter in row.chars() {
                match letter {
                    '<' => in_tag = true,
                    '>' => in_tag = false,
                    letter if !in_tag => text.push(letter),
                    _ => {}
                }
            }
        }
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn says(&self, words: &str) {
        assert!(self.frame.said.contains(words), "'{words}' is not in: {}", self.frame.said);
    }

    fn shows(&self, words: &str) {
        let text = self.text();
        assert!(text.contains(words), "'{words}' is not in: {text}");
    }
}

/// The verdict on a fair game.
fn verdict(game: &str) -> &'static str {
    match game {
        "ivory-tower" => "✓ rules followed; nobody else vouches for the shuffle",
        _ => "✓ fair",
    }
}

fn transcript(game: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    std::fs::read(root.join(format!("tests/it/transcripts/{game}.fairdeal"))).unwrap()
}

#[test]
fn every_game_is_checked_and_replayed() {
    for info in GAMES {
        let mut shown = Shown::new();
        shown.check(&transcript(info.id));
        assert_eq!(shown.frame.screen, "audit");
        shown.shows(verdict(info.id));
        shown.shows("Press Enter to replay the game");
        shown.says(verdict(info.id));
        shown.key("Enter");
        assert_eq!(shown.frame.screen, "replay");
        shown.shows("Step 1 of");
        shown.says("Step 1 of");
        for key in ["End", "e", "ArrowLeft", "e", "e", "Home", "PageDown"] {
            shown.key(key);
        }
        shown.shows("Step ");
        shown.key("Escape");
        shown.key("Escape");
        assert_eq!(shown.frame.screen, "home");
    }
}

/// A changed file is refused in the words of `fairdeal verify`; a broken one is no transcript.
#[test]
fn changed_files_are_refused() {
    let whole = transcript("loot");
    let mut refused = 0;
    for place in (300..whole.len()).step_by(whole.len() / 40) {
        let mut changed = whole.clone();
        changed[place] ^= 1;
        let mut shown = Shown::new();
        shown.check(&changed);
        let text = shown.text();
        assert!(!text.contains("✓ fair"), "byte {place}");
        if text.contains("NOT FAIR") {
            refused += 1;
            assert!(text.contains("why:") || text.contains("what:") || text.contains("who:"), "{text}");
            for words in ["✗ NOT FAIR", "Who: ", "Where: ", "Why: "] {
                shown.says(words);
            }
            shown.key("Enter");
            assert_eq!(shown.frame.screen, "replay");
        } else {
            assert!(text.contains("This file cannot be checked"), "{text}");
        }
    }
    assert!(refused > 20, "{refused}");
    for broken in [&b""[..], b"no game", &whole[..whole.len() / 2]] {
        let mut shown = Shown::new();
        shown.check(broken);
        shown.shows("This file cannot be checked");
        shown.key("Escape");
        assert_eq!(shown.frame.screen, "home");
    }
}

/// A verdict that stays would seem to be about the second file.
#[test]
fn refused_file_replaces_the_verdict() {
    let mut shown = Shown::new();
    shown.check(&transcript("loot"));
    shown.shows("✓ fair");
    let refused = || Ask::NoFile { name: "b.fairdeal".to_owned(), why: "it is larger than 64 MiB".to_owned() };
    shown.ask(refused());
    assert_eq!(shown.frame.screen, "audit");
    shown.shows("This file cannot be checked");
    shown.shows("b.fairdeal");
    shown.says("It is larger than 64 MiB");
    assert!(!shown.text().contains("✓ fair"));
    shown.key("Escape");
    assert_eq!(shown.frame.screen, "home");
    // A practice game stays.
    shown.key("Enter");
    shown.key("Enter");
    shown.ask(refused());
    shown.shows("b.fairdeal cannot be checked: it is larger than 64 MiB.");
    assert_ne!(shown.frame.screen, "audit");
}

#[test]
fn a_check_can_be_left() {
    let mut shown = Shown::new();
    shown.ask_with(Ask::File("a.fairdeal".to_owned()), &transcript("houses-of-thoth"));
    shown.ask(Ask::Work(3));
    assert!(shown.last.busy);
    shown.shows("Checking:");
    shown.key("Escape");
    assert!(!shown.last.busy);
    assert_eq!(shown.frame.screen, "home");
}

/// Where the machine has more cores, other workers audit slices of a check. The verdict waits for all of them. If one does
/// not say that its slice holds, or says nothing, everything is audited here.
#[test]
fn a_check_is_split_among_workers() {
    for answers in [[Some(true), Some(true)], [Some(true), Some(false)], [Some(true), None]] {
        for is_damaged in [false, true] {
            let mut file = transcript("houses-of-thoth");
            if is_damaged {
                // A signature or a proof.
                file[100_000] ^= 1;
            }
            let mut shown = Shown::with(Start { cores: 3, ..start() });
            shown.ask_with(Ask::File("a.fairdeal".to_owned()), &file);
            let split = shown.last.split.clone().unwrap();
            assert_eq!((split.check, split.of), (1, 3));
            assert_eq!(split.file, file);
            while shown.last.works {
                shown.ask(Ask::Work(64));
            }
            // This slice may have found the damage itself.
            let waits = shown.last.busy;
            assert!(waits || is_damaged);
            // Of an earlier check.
            shown.ask(Ask::Slice { check: 0, slice: 1, holds: false });
            assert!(!shown.last.works);
            for (slice, holds) in (1..).zip(answers) {
                assert_eq!(shown.last.busy, waits);
                if let Some(holds) = holds {
                    shown.ask(Ask::Slice { check: 1, slice, holds });
                }
            }
            if waits && answers[1].is_none() {
                assert!(!shown.last.works && shown.last.pace.is_some());
                shown.page.set_time(Now { up: 1001, wall: 0 });
                shown.ask(Ask::Tick(1001));
            }
            assert_eq!(shown.last.works, waits);
            while shown.last.works {
                shown.ask(Ask::Work(64));
            }
            assert!(!shown.last.busy);
            shown.rest();
            shown.shows(if is_damaged && (!waits || answers[1] != Some(true)) { "✗ NOT FAIR" } else { "✓ fair" });
        }
    }
}

/// Every game begins by two keys against bots, and ends in a result when the player follows the hints.
#[test]
fn every_game_can_be_played() {
    for number in 0..GAMES.len() {
        let mut shown = Shown::new();
        (0..number).for_each(|_| shown.key("ArrowDown"));
        shown.key("Enter");
        shown.key("Enter");
        shown.rest();
        shown.shows("practice");
        shown.says("YOUR TURN");
        assert_ne!(shown.frame.screen, "home");
        // A file does not end the game.
        shown.ask_with(Ask::File("a.fairdeal".to_owned()), &transcript("loot"));
        shown.shows("Leave this game first");
        // The first hint leads the focus to an action.
        shown.rest();
        let before = shown.text();
        for key in ["h", "Enter", "Enter"] {
            shown.key(key);
            shown.rest();
        }
        assert_ne!(shown.text(), before);
        shown.key("q");
        shown.says("y: yes, n: no");
        shown.key("y");
        assert_eq!(shown.frame.screen, "home");
    }
}

#[test]
fn network_entries_are_hidden() {
    let mut shown = Shown::new();
    let text = shown.text();
    for words in ["join", "watch", "history", "quit"] {
        assert!(!text.contains(words), "{words} in {text}");
    }
    shown.shows("verify a game file");
    for key in ["j", "w", "H", "q", "Escape"] {
        shown.key(key);
        assert_eq!(shown.frame.screen, "home", "{key}");
    }
    shown.key("v");
    assert!(shown.last.pick);
    shown.key("?");
    shown.shows("verify a game file");
}

/// The browser keeps keys with Ctrl, and F6 is the page's own.
#[test]
fn help_lists_the_keys_of_a_page() {
    let mut shown = Shown::new();
    shown.key("?");
    let mut text = shown.text();
    for _ in 0..20 {
        shown.key("ArrowDown");
        text += &shown.text();
    }
    assert!(!text.contains("Ctrl-"), "{text}");
    assert!(text.contains("F6 to the button above and back"), "{text}");
    assert!(text.contains("PgDn next page"), "{text}");
}

#[test]
fn lesson_and_puzzle_are_spoken() {
    let mut shown = Shown::new();
    shown.key("T");
    shown.says("Learn Loot. ");
    let first = shown.frame.said.clone();
    shown.key("Enter");
    assert_ne!(shown.frame.said, first);
    shown.key("q");
    shown.key("p");
    shown.says("Find the action that wins");
}

#[test]
fn nothing_moves_where_the_browser_asks_for_that() {
    let page = |settings: Option<String>| {
        let start = Start { still: true, settings, ..start() };
        let page = Page::new(&start).unwrap();
        let (rows, last, frame) = (Vec::new(), Answer::default(), Frame::default());
        Shown { page, rows, last, frame }
    };
    // The lines of an audit turn green at once.
    let paces = |mut shown: Shown| {
        shown.ask_with(Ask::File("a.fairdeal".to_owned()), &transcript("loot"));
        while shown.last.busy {
            shown.ask(Ask::Work(64));
        }
        shown.last.pace.is_some()
    };
    assert!(!paces(page(None)));
    // The player's own setting counts for more.
    assert!(paces(page(Some("motion = true".to_owned()))));
}

#[test]
fn page_follows_the_browser_into_the_light() {
    let mut shown = Shown::new();
    let dark = shown.frame.ground.clone();
    shown.ask(Ask::Refresh { today: "2026-11-27".to_owned(), light: true, hidden: false });
    assert_ne!(shown.frame.ground, dark);
    assert!(!shown.frame.changed.is_empty());
}

/// Solved puzzles and other settings are the page's to save, and come back.
#[test]
fn settings_are_saved_and_come_back() {
    let mut shown = Shown::new();
    shown.key(",");
    shown.key("ArrowDown");
    shown.key("ArrowRight");
    let saved = shown.last.save.clone().expect("a setting has changed");
    let page = Page::new(&Start { settings: Some(saved), ..start() });
    page.unwrap();
    let wrong = Page::new(&Start { settings: Some("no = [".to_owned()), ..start() });
    wrong.unwrap();
    let refused = Page::new(&Start { seed: "short".to_owned(), ..start() });
    assert!(refused.is_err());
}

/// A link to a table may be anybody's, so the page asks before it goes there; at a seat that it keeps, it sits down.
#[test]
fn page_sits_down_unasked_only_at_its_own_seat() {
    let ticket = Ticket::new([7; 8], peer(2), ["/ip4/192.168.1.7/tcp/4002/ws".parse().unwrap()]).unwrap().to_string();
    let invited = |kept: Vec<(String, String)>| {
        let origin = Some("http://192.168.1.7:4002".to_owned());
        let table = TableStart { origin, ticket: ticket.clone(), kept };
        Shown::with(Start { settings: Some("name = \"Ben\"".to_owned()), table: Some(table), ..start() })
    };

    let mut shown = invited(Vec::new());
    shown.shows("keep Ben");
    assert!(!shown.text().contains("Reaching"), "{}", shown.text());
    shown.key("Escape");
    shown.shows("Reaching the host");

    let kept_at = |lobby: &str, end: &str| vec![(format!("{lobby}/{end}"), String::new())];
    shown = invited(kept_at("0808080808080808", "promise/ab/0"));
    shown.shows("keep Ben");
    shown = invited(kept_at("0707070707070707", "promise/ab/0"));
    shown.shows("Reaching the host");
}

/// A seat comes in a file, and is on the shelf before the page sits down. It leaves in a file, once the shelf is empty; a
/// browser that cannot forget it keeps it.
#[test]
fn seat_comes_and_goes_in_a_file() {
    let file = fairdeal_session::testing::seat_file();
    let bytes = file.to_bytes();
    let at = |shown: &mut Shown, bytes: &[u8]| shown.ask_with(Ask::File("x.seat".to_owned()), bytes);
    // The page that opens no connection has no use for it, and no page for a damaged one.
    let mut shown = Shown::new();
    at(&mut shown, &bytes);
    shown.shows("opens no connection");
    let table = || TableStart { origin: None, ticket: file.ticket().to_string(), kept: Vec::new() };
    let settings = Some("name = \"Ada\"".to_owned());
    let mut shown = Shown::with(Start { settings: settings.clone(), table: Some(TableStart::default()), ..start() });
    at(&mut shown, &bytes[..bytes.len() - 1]);
    shown.shows("damaged or not whole");
    assert!(shown.last.store.is_empty());

    // Nothing is said at the table before the seat is stored.
    at(&mut shown, &bytes);
    let order = shown.last.store.remove(0);
    assert!(order.put.len() > 10 && shown.last.sockets.is_empty() && shown.last.go.is_none());
    let no_room = NotStored { full: true, why: "no room".to_owned() };
    shown.ask(Ask::Stored(order.id, Some(no_room.clone())));
    // The frame comes with the tick that is due at once.
    assert!(shown.last.frame.is_none() && shown.last.pace.is_some_and(|pace| pace <= 16));
    shown.ask(Ask::Tick(16));
    shown.shows("could not be taken in");
    at(&mut shown, &bytes);
    let order = shown.last.store.remove(0);
    shown.ask(Ask::Stored(order.id, None));
    assert_eq!(shown.last.go, Some(file.ticket().to_string()));
    at(&mut shown, &bytes);
    shown.shows("has a seat at that table already");

    // The page begins again with the ticket, finds the seat, and gives it away.
    let kept_before = order.put;
    let kept = TableStart { kept: kept_before.clone(), ..table() };
    let mut shown = Shown::with(Start { settings: settings.clone(), table: Some(kept), ..start() });
    let sits = |shown: &mut Shown| {
        for tick in 1..30 {
            // It notes that it asks the others what it has signed.
            for order in std::mem::take(&mut shown.last.store) {
                shown.ask(Ask::Stored(order.id, None));
            }
            shown.page.set_time(Now { up: 100 * tick, wall: 0 });
            shown.ask(Ask::Tick(100));
        }
    };
    sits(&mut shown);
    let takes = |shown: &mut Shown| {
        for key in ["q", "t", "y"] {
            shown.key(key);
        }
        shown.last.store.remove(0)
    };
    let order = takes(&mut shown);
    assert!(order.put.iter().all(|(key, _)| key.ends_with("/gone")));
    assert_eq!((order.delete.len(), &shown.last.file), (2, &None));
    shown.ask(Ask::Stored(order.id, Some(no_room)));
    assert_eq!(shown.last.file, None);
    shown.ask(Ask::Tick(16));
    shown.shows("Nothing was given up");

    // Again, and this time the browser forgets it. Another file does not come between.
    let kept = TableStart { kept: kept_before, ..table() };
    let mut shown = Shown::with(Start { settings, table: Some(kept), ..start() });
    sits(&mut shown);
    let order = takes(&mut shown);
    at(&mut shown, &bytes);
    shown.shows("One moment");
    shown.ask(Ask::Stored(order.id, None));
    let (name, given) = shown.last.file.clone().expect("the seat in a file");
    assert!(name.starts_with("loot-") && name.ends_with(".seat"), "{name}");
    let given = BASE64.decode(given.as_bytes()).unwrap();
    let given = SeatFile::from_bytes(&given).unwrap();
    assert_eq!(given.key().to_bytes(), file.key().to_bytes());
    assert!(given.records().len() >= file.records().len());
    shown.key("y");
    assert!(shown.last.file.is_some());
    // Leaving asks first, and then nothing is held any more.
    shown.key("Escape");
    shown.shows("Is the file there?");
    shown.key("y");
    // What was given away comes back as it is, and nothing older.
    if given.records().len() > file.records().len() {
        at(&mut shown, &bytes);
        shown.shows("older than the one");
    }
    at(&mut shown, &given.to_bytes());
    assert!(shown.last.store.remove(0).takes);
}

#[test]
fn random_input_never_stops_the_page() {
    const KEYS: [&str; 24] = [
        "Enter",
        "Escape",
        "Tab",
        "ArrowUp",
        "ArrowDown",
        "ArrowLeft",
        "ArrowRight",
        "PageUp",
        "PageDown",
        "Home",
        "End",
        " ",
        "?",
        ":",
        "h",
        "i",
        "q",
        "y",
        "e",
        "p",
        "T",
        "R",
        ",",
        "S",
    ];
    for seed in 0..8 {
        let mut rng = ChaCha20Rng::from_seed([seed; 32]);
        let mut below = |most: u32| rng.next_u32() % most;
        let mut shown = Shown::new();
        for _ in 0..600 {
            let (x, y) = (u16::try_from(below(210)).unwrap(), u16::try_from(below(70)).unwrap());
            match below(12) {
                0 => shown.ask(Ask::Click(x, y)),
                1 => shown.ask(Ask::SecondaryClick(x, y)),
                2 => shown.ask(Ask::Move(x, y)),
                3 => shown.ask(Ask::Scroll(i32::from(x) - 100)),
                4 => shown.ask(Ask::Size(x, y)),
                5 => shown.ask(Ask::Tick(u64::from(below(3000)))),
                6 if below(10) == 0 => shown.ask_with(Ask::File("x".to_owned()), &transcript("ivory-tower")),
                6 => shown.ask(Ask::Work(below(50))),
                7 => shown.ask(Ask::Paste("fd1\u{1b}[31m\n".to_owned())),
                _ => shown.key(KEYS[usize::try_from(below(24)).unwrap()]),
            }
            assert!(shown.rows.iter().all(|row| !row.contains('\u{1b}')));
        }
    }
}

#[test]
fn messages_are_read_as_the_scripts_write_them() {
    let read = |text: &str| serde_json::from_str::<Ask>(text);
    assert_eq!(read("{\"click\":[3,4]}").unwrap(), Ask::Click(3, 4));
    assert_eq!(read("{\"secondary-click\":[3,4]}").unwrap(), Ask::SecondaryClick(3, 4));
    let no_file = Ask::NoFile { name: "a".to_owned(), why: "b".to_owned() };
    assert_eq!(read("{\"no-file\":{\"name\":\"a\",\"why\":\"b\"}}").unwrap(), no_file);
    let refresh = Ask::Refresh { today: "2026-11-27".to_owned(), light: true, hidden: false };
    assert_eq!(read("{\"refresh\":{\"today\":\"2026-11-27\",\"light\":true,\"hidden\":false}}").unwrap(), refresh);
    let pressed = Pressed { key: "Tab".to_owned(), shift: true };
    assert_eq!(read("{\"key\":{\"key\":\"Tab\",\"shift\":true}}").unwrap(), Ask::Key(pressed));
    for wrong in ["", "{}", "{\"click\":[3]}", "{\"click\":[-1,70000]}", "{\"fly\":1}", "{\"no-file\":\"b\"}"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}
