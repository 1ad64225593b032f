//! Every screen by name, reached as a player would, for tests of all of them.

// A panic is a failed test.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

use std::time::{Duration, SystemTime};

use fairdeal_peers::announcement::{Announcement, OpenTable};
use fairdeal_peers::testing::{announcement, peer, text};
use fairdeal_peers::ticket::reply::Reply;
use fairdeal_protocol::audit::progress::AuditProgress;
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::seat::Seat;

use crate::app::event::{Input, UiEvent};
use crate::app::screen::{Kept, Library, Mailed};
use crate::app::screens::taken::Taken;
use crate::app::testing::TestApp;
use crate::input::KeyCode;
use fairdeal_session::events::SessionEvent;
use fairdeal_session::past::{Past, What};
use fairdeal_session::people::{Book, Change, Mark, SeatPerson};
use fairdeal_session::view::{ListedTable, Listing, LobbySeat, LobbyView};

/// A text of the length of a ticket.
pub const TICKET: &str = "fd1abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrstuvwxyz234567abcdefghij";

fn taken(name: &str, number: usize) -> Option<LobbySeat> {
    Some(LobbySeat {
        name: name.to_owned(),
        party: Party::of(Seat::new(0).unwrap()),
        played_by: match number {
            0 => PlayedBy::Person,
            _ => PlayedBy::bot("normal").unwrap(),
        },
        in_browser: false,
        person: None,
    })
}

fn a_reply() -> String {
    let address = "/ip4/192.168.1.9/tcp/4001".parse().unwrap();
    Reply::new([7; 8], peer(3), [address]).unwrap().to_string()
}

pub fn lobby() -> LobbyView {
    LobbyView {
        game: "loot".to_owned(),
        options: vec![("target".to_owned(), "100".to_owned())],
        seats: vec![taken("Anna", 0), None, taken("Cleo", 2)],
        ready: vec![false, false, true],
        me: Seat::new(0),
        ticket: Some(TICKET.to_owned()),
        addresses: vec!["/ip4/192.168.1.7/tcp/4001/p2p/12D3KooW".to_owned()],
    }
}

/// A lobby in which Ada is a favourite by the name Lady A, Ben has another key than the Ben of the book, and Cleo is new.
pub fn met_lobby() -> LobbyView {
    let key = |seed: u8| fairdeal_peers::testing::peer(seed);
    let mut book = Book::default();
    for (seed, name) in [(1, "Ada"), (2, "Ada"), (9, "Ben")] {
        book.met(key(seed), name, false, "2026-11-20", true);
    }
    book.change(key(1), None, &Change::Name("Lady A".to_owned())).unwrap();
    book.change(key(1), None, &Change::Favourite(true)).unwrap();
    let guest = |number: u8, name: &str| {
        Some(LobbySeat {
            name: name.to_owned(),
            party: Party::of(Seat::new(usize::from(number)).unwrap()),
            played_by: PlayedBy::Person,
            in_browser: name == "Cleo",
            person: Some(SeatPerson {
                key: key(number),
                announced: name.to_owned(),
                mark: book.mark(&key(number), name),
            }),
        })
    };
    LobbyView {
        seats: vec![taken("Anna", 0), guest(1, "Ada"), guest(3, "Ben"), guest(4, "Cleo")],
        ready: vec![false, true, false, false],
        ..lobby()
    }
}

/// Each screen by name, reached as a player would.
pub fn screens(ascii: bool) -> Vec<(&'static str, TestApp)> {
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
            ..Library::default()
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
        reply: None,
    })));
    let mut reply = at("256f4fc1");
    reply.input(Input::UiEvent(UiEvent::Session(SessionEvent::Reaching {
        seconds: 583,
        why: Some("no answer at /ip4/192.0.2.7/tcp/4001: Connection refused".to_owned()),
        reply: Some(a_reply()),
    })));
    let mut taken = home();
    taken.shell.push(Box::new(Taken::default()));
    taken.input(Input::UiEvent(UiEvent::SeatTaken("loot-256f4fc1.seat".into())));
    let mut call = at("256f4fc1");
    call.input(Input::UiEvent(UiEvent::Session(SessionEvent::Lobby(lobby()))));
    call.keys("d");
    let mut audit = at("history");
    audit.keys("a");
    audit.input(Input::UiEvent(UiEvent::Checking(AuditProgress { done: 30, total: 90, ..AuditProgress::default() })));
    let mut rules = home();
    rules.keys("R");
    let mut palette = home();
    palette.keys(":jo");
    let mut help = home();
    help.keys("?");
    let mut puzzle = home();
    puzzle.keys("p");
    let mut solved = home();
    solved.keys("pfy");
    vec![
        ("welcome", TestApp::at_first_start(ascii)),
        ("home", home()),
        ("setup", at("Plutonian")),
        ("join", at("join with")),
        ("watch", at("watch a table")),
        ("history", at("history")),
        ("settings", at("settings")),
        ("lobby", lobby_stage),
        ("reaching", reaching),
        ("reply", reply),
        ("call", call),
        ("taken", taken),
        ("audit", audit),
        ("rules", rules),
        ("palette", palette),
        ("help", help),
        ("puzzle", puzzle),
        ("solved", solved),
    ]
}

/// How Hanna opens a table and Ada joins it, for pictures: the host's lobby, the guest's first screen and where she
/// gives a ticket, and the lobby of both.
pub fn friends() -> [(&'static str, TestApp); 4] {
    let home = |waiting: Vec<(String, String)>| {
        let mut stage = TestApp::at_first_start(false);
        stage.keys("Ada");
        stage.key(KeyCode::Enter);
        stage.size = (96, 28);
        stage.input(Input::Library(Library { waiting, ..Library::default() }));
        stage
    };
    let lobby_of = |me: usize, guest: Option<LobbySeat>, ticket: Option<String>| {
        let mut stage = home(vec![("256f".to_owned(), "256f4fc1 (Loot: Hanna, Ada)".to_owned())]);
        stage.click_on("256f4fc1");
        let ready = vec![guest.is_some(), false];
        let options = [("absence", "120"), ("target", "100"), ("turn-time", "600")];
        stage.input(Input::UiEvent(UiEvent::Session(SessionEvent::Lobby(LobbyView {
            options: options.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec(),
            seats: vec![alone("Hanna", 0), guest],
            ready,
            me: Seat::new(me),
            ticket,
            ..lobby()
        }))));
        stage
    };
    let mut host = lobby_of(0, None, Some(TICKET.to_owned()));
    host.input(Input::UiEvent(UiEvent::Session(SessionEvent::Reach(
        "Your router lets friends through from the internet, at /ip4/203.0.113.7/tcp/40123.".to_owned(),
    ))));
    let mut list = home(Vec::new());
    let announcement = Announcement { host: text("Hanna"), game: text("loot"), seats: 2, free: 1, ..announcement(1) };
    let table = OpenTable::new(peer(1), announcement, []).unwrap();
    let tables = vec![ListedTable { table, at_point: false, mark: Mark::default() }];
    list.input(Input::Lan(Some(Listing { tables, ..Listing::default() })));
    let mut ticket = home(Vec::new());
    ticket.click_on("join with");
    ticket.keys(TICKET);
    let both = lobby_of(1, alone("Ada", 1), None);
    [("friends-open", host), ("friends-list", list), ("friends-ticket", ticket), ("friends-lobby", both)]
}

/// Ada's first screen while a keeper holds her seats, for pictures.
pub fn kept() -> TestApp {
    let mut stage = TestApp::at_first_start(false);
    stage.keys("Ada");
    stage.key(KeyCode::Enter);
    stage.size = (96, 28);
    stage.shell.context_mut().is_kept = true;
    let tables = [
        ("25", "Loot with Ben", "your turn", "since 40 min"),
        ("9c", "Sphinx's Paw with Ben and Cleo", "waits for Ben", "since 2 h"),
        ("1", "Plutonian Poker", "in the lobby", ""),
    ];
    let waiting = tables.iter().map(|(id, words, ..)| ((*id).to_owned(), (*words).to_owned())).collect();
    let kept = tables.iter().map(|(id, _, state, since)| {
        ((*id).to_owned(), Kept { state: (*state).to_owned(), since: (*since).to_owned() })
    });
    stage.input(Input::Library(Library { waiting, kept: kept.collect(), ..Library::default() }));
    stage
}

/// Ada's first screen with games by mail, for pictures.
pub fn mailed() -> TestApp {
    let mut stage = TestApp::at_first_start(false);
    stage.keys("Ada");
    stage.key(KeyCode::Enter);
    stage.size = (96, 28);
    let tables = [
        ("25", "Loot with Ben", "waits for Ben", "since Monday"),
        ("9c", "Sphinx's Paw with Ben and Cleo", "your turn", ""),
    ];
    let letter = "A letter for Ben waits since Monday at 2 of 2 points, until 12 December.";
    let waiting = tables.iter().map(|(id, words, ..)| ((*id).to_owned(), (*words).to_owned())).collect();
    let mailed = tables.iter().map(|(id, _, state, since)| {
        let letters = if since.is_empty() { Vec::new() } else { vec![letter.to_owned()] };
        ((*id).to_owned(), Mailed { state: (*state).to_owned(), since: (*since).to_owned(), letters })
    });
    stage.input(Input::Library(Library { waiting, mailed: mailed.collect(), ..Library::default() }));
    for key in [KeyCode::Right, KeyCode::Down, KeyCode::Down] {
        stage.key(key);
    }
    stage
}

/// A person with a program of their own.
fn alone(name: &str, seat: usize) -> Option<LobbySeat> {
    let party = Party::of(Seat::new(seat)?);
    Some(LobbySeat { name: name.to_owned(), party, played_by: PlayedBy::Person, in_browser: false, person: None })
}
