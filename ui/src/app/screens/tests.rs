//! Every screen as text, at every size, and under random keys and clicks.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use fairdeal_games::GAMES;
use fairdeal_games::bots::Level;
use fairdeal_peers::PeerId;
use fairdeal_peers::announcement::Announcement;
use fairdeal_peers::announcement::OpenTable;
use fairdeal_peers::testing::{announcement, peer, text};
use fairdeal_peers::ticket::Ticket;
use fairdeal_peers::ticket::reply::Reply;
use fairdeal_protocol::seat::Seat;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use ratatui::layout::Position;

use crate::app::event::{Input, UiEvent};
use crate::app::screen::{Effect, LetterRead, Library, Mailed, Opening};
use crate::app::screens::home::Home;
use crate::app::screens::samples::{lobby, met_lobby, screens};
use crate::app::screens::welcome::Welcome;
use crate::app::shell::Shell;
use crate::app::testing::{TestApp, context};
use crate::canvas::Target;
use crate::input::{Key, KeyCode, UserInput};
use crate::keys::{Intent, Keymap};
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::past::summary::{Ending, Summary};
use fairdeal_session::past::{Past, What};
use fairdeal_session::people::Mark;
use fairdeal_session::testing::summary;
use fairdeal_session::view::{ListedTable, Listing, LobbySeat, LobbyView, Presence};

/// The sizes to draw every screen at.
const SIZES: [(u16, u16); 9] =
    [(1, 1), (20, 5), (60, 20), (60, 36), (60, 48), (79, 24), (80, 24), (140, 45), (200, 60)];

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
            let is_small = size.0 < 60 || size.1 < 20;
            if is_small && size.0 >= 20 {
                assert!(text.contains("fairdeal needs"), "{text}");
            }
        }
    }
}

#[test]
fn lobby_shows_its_ticket_on_pages_of_their_own() {
    let mut stage = TestApp::at_home(false);
    stage.input(Input::Library(Library {
        waiting: vec![("256f".to_owned(), "256f4fc1 (Loot: Anna, Ben)".to_owned())],
        past: Vec::new(),
        ..Library::default()
    }));
    stage.click_on("256f4fc1");
    let long = lobby().ticket.map(|ticket| ticket.repeat(2));
    let view = LobbyView { ticket: long, ..lobby() };
    stage.input(Input::UiEvent(UiEvent::Session(SessionEvent::Lobby(view))));
    stage.keys("a");
    let shown = stage.draw();
    assert!(shown.contains("The ticket in full"), "{shown}");
    assert!(shown.contains("/ip4/192.168.1.7/tcp/4001"), "{shown}");
    stage.key(KeyCode::Esc);
    stage.keys("Q");
    assert!(stage.draw().contains('▀'), "{}", stage.draw());
    stage.size = (60, 20);
    let shown = stage.draw();
    assert!(shown.contains("has 60 and 19"), "{shown}");
    stage.keys("y");
    let copies = |effect: &Effect| matches!(effect, Effect::Copy(_));
    assert!(stage.effects.iter().any(copies));
    stage.keys("Q");
    // Letters are keys until the chat is opened.
    stage.keys("chi r");
    assert!(stage.draw().contains("hi r"), "{}", stage.draw());
    stage.key(KeyCode::Enter);
    let says = |effect: &Effect| matches!(effect, Effect::Session(Command::Say(text)) if text == "hi r");
    assert!(stage.effects.iter().any(says), "{:?}", stage.effects);
    let milliseconds = 37;
    let seat = Seat::new(2).unwrap();
    stage.input(Input::UiEvent(UiEvent::Session(SessionEvent::RoundTrip { seat, milliseconds })));
    assert!(!stage.draw().contains("37 ms"), "a local bot has no distance");
}

/// Whatever a real button beside the frame offers, a press on it does something and harms nothing; one that is gone does
/// nothing.
#[test]
fn buttons_for_fingers_can_be_pressed() {
    for number in 0..screens(false).len() {
        let opened = || {
            let (_, mut stage) = screens(false).swap_remove(number);
            stage.size = (60, 48);
            stage.draw();
            stage
        };
        for (words, target) in opened().shell.layer().buttons.clone() {
            assert!(!words.is_empty() && target != Target::Key(Intent::Help));
            let mut stage = opened();
            let (before, trail, told) = (stage.draw(), stage.shell.trail(), stage.effects.len());
            stage.input(Input::User(UserInput::Press(words.clone())));
            let is_asked = stage.draw().contains("Sure?");
            let has_done = stage.draw() != before || stage.shell.trail() != trail || stage.effects.len() > told;
            assert!(has_done, "'{words}' does nothing at {trail:?}:\n{before}");
            let is_final = |effect: &Effect| {
                matches!(effect, Effect::GiveUp(_) | Effect::Session(Command::Leave | Command::Claim))
            };
            assert!(!stage.effects.iter().any(is_final), "'{words}' asks nothing");
            // Enter too often answers no question.
            if is_asked {
                stage.key(KeyCode::Enter);
                assert!(!stage.effects.iter().any(is_final), "Enter says yes to '{words}'");
            }
        }
        let mut stage = opened();
        let trail = stage.shell.trail();
        stage.input(Input::User(UserInput::Press("no such button".to_owned())));
        assert_eq!(stage.shell.trail(), trail);
    }
    let mut stage = TestApp::at_home(false);
    stage.draw();
    stage.input(Input::User(UserInput::Press("play".to_owned())));
    stage.draw();
    assert_eq!(stage.shell.trail(), ["home", "Loot"]);
    stage.input(Input::User(UserInput::Press("rules".to_owned())));
    stage.draw();
    assert_eq!(stage.shell.trail(), ["home", "Loot", "Rules of Loot"]);
    stage.input(Input::User(UserInput::Press("back".to_owned())));
    assert_eq!(stage.shell.trail(), ["home", "Loot"]);
}

/// A click on a key of the bar does what the key does, to what is in focus; so does the key under the mouse.
#[test]
fn keys_of_the_bar_act_on_the_thing_in_focus() {
    let mut stage = TestApp::at_home(false);
    stage.click_on("Enter play");
    assert_eq!(stage.shell.trail(), ["home", "Loot"]);
    let mut stage = TestApp::at_home(false);
    let shown = stage.draw();
    let bar = shown.lines().last().unwrap();
    let before = bar.split("Enter play").next().unwrap().chars().count();
    stage.input(Input::User(UserInput::MouseMoved(Position::new(u16::try_from(before).unwrap(), 23))));
    stage.key(KeyCode::Enter);
    assert_eq!(stage.shell.trail(), ["home", "Loot"]);
    for number in 0..screens(false).len() {
        let targets = || {
            let (_, mut stage) = screens(false).swap_remove(number);
            stage.draw();
            stage
        };
        let keys = targets().shell.layer().targets.clone();
        for (area, target) in keys.into_iter().filter(|(_, target)| matches!(target, Target::Key(_))) {
            let mut stage = targets();
            stage.input(Input::User(UserInput::MouseMoved(area.as_position())));
            stage.key(KeyCode::Enter);
            stage.draw();
            if stage.shell.layer().targets.iter().any(|(_, other)| *other == target) {
                stage.click(target);
            }
        }
    }
}

/// One Enter too many neither takes readiness back, nor seats a bot, nor sends one away.
#[test]
fn enter_in_the_lobby_makes_ready_and_nothing_else() {
    for seats in [vec![LobbySeat::clone(lobby().seats[0].as_ref().unwrap())], Vec::new()] {
        let mut stage = TestApp::at_home(false);
        stage.input(Input::Library(Library {
            waiting: vec![("256f".to_owned(), "256f4fc1 (Loot: Anna, Ben)".to_owned())],
            past: Vec::new(),
            ..Library::default()
        }));
        stage.click_on("256f4fc1");
        let alone = || seats.iter().cloned().map(Some).chain([None, None]).collect::<Vec<_>>();
        let seated = if seats.is_empty() { lobby().seats } else { alone() };
        for ready in [false, true] {
            let ready = vec![ready; seated.len()];
            let view = LobbyView { seats: seated.clone(), ready, me: Seat::new(0), ..lobby() };
            stage.input(Input::UiEvent(UiEvent::Session(SessionEvent::Lobby(view))));
            stage.draw();
            stage.key(KeyCode::Enter);
            stage.draw();
            stage.key(KeyCode::Enter);
        }
        let commands = |effect: &&Effect| !matches!(effect, Effect::Resume(_) | Effect::LoadLibrary);
        let all: Vec<&Effect> = stage.effects.iter().filter(commands).collect();
        assert!(all.iter().all(|effect| matches!(effect, Effect::Session(Command::Ready(true)))), "{all:?}");
        assert!(!all.is_empty());
    }
}

#[test]
fn lobby_says_from_where_its_ticket_works() {
    for (address, words) in [
        ("/ip4/192.168.1.7/tcp/4001", "Ticket for friends on your network"),
        ("/ip4/93.184.215.14/tcp/4001", "Ticket for friends anywhere"),
        ("/ip6/2606:2800::7/tcp/4001", "Ticket for friends on your network, or by IPv6"),
        ("/ip4/127.0.0.1/tcp/4001", "Ticket for programs on this machine"),
    ] {
        let mut stage = TestApp::at_home(false);
        stage.input(Input::Library(Library {
            waiting: vec![("256f".to_owned(), "256f4fc1 (Loot: Anna, Ben)".to_owned())],
            past: Vec::new(),
            ..Library::default()
        }));
        stage.click_on("256f4fc1");
        let table = OpenTable::new(peer(1), announcement(1), [address.parse().unwrap()]).unwrap();
        let view = LobbyView { ticket: Some(table.ticket().to_string()), ..lobby() };
        stage.input(Input::UiEvent(UiEvent::Session(SessionEvent::Lobby(view))));
        for size in [(60, 20), (80, 24), (140, 45)] {
            stage.size = size;
            let shown = stage.draw();
            assert!(shown.contains(words), "{words}: {shown}");
        }
        stage.keys("a");
        assert_eq!(stage.draw().contains("For friends elsewhere"), !words.ends_with("friends anywhere"), "{words}");
    }
}

/// A link to the host's own door works on its network, one to a relay's anywhere, also if this program has no page.
#[test]
fn lobby_says_from_where_its_link_works() {
    let relay = format!("/ip4/93.184.215.14/tcp/443/tls/ws/p2p/{}/p2p-circuit", peer(2));
    for (address, serves_page, link, place) in [
        ("/ip4/192.168.1.7/tcp/4002/ws", true, "http://192.168.1.7:4002/#", true),
        (relay.as_str(), true, "https://93.184.215.14/#", false),
        (relay.as_str(), false, "https://93.184.215.14/#", false),
    ] {
        let mut context = context(false);
        context.serves_page = serves_page;
        let mut stage = TestApp::with(Shell::new(context, Box::new(Home::default())));
        stage.size = (140, 45);
        stage.input(Input::Library(Library {
            waiting: vec![("256f".to_owned(), "256f4fc1 (Loot: Anna, Ben)".to_owned())],
            past: Vec::new(),
            ..Library::default()
        }));
        stage.draw();
        stage.click_on("256f4fc1");
        let table = OpenTable::new(peer(1), announcement(1), [address.parse().unwrap()]).unwrap();
        let view = LobbyView { ticket: Some(table.ticket().to_string()), ..lobby() };
        stage.input(Input::UiEvent(UiEvent::Session(SessionEvent::Lobby(view))));
        stage.keys("a");
        let shown = stage.draw();
        assert!(shown.contains(link), "{shown}");
        assert_eq!(shown.contains("this link on your network:"), place, "{shown}");
        stage.keys("aQ");
        assert_eq!(stage.draw().contains("on your network"), place, "{}", stage.draw());
    }
}

#[test]
fn lobby_says_whom_the_address_book_knows() {
    for ascii in [false, true] {
        let mut stage = TestApp::at_home(ascii);
        stage.input(Input::Library(Library {
            waiting: vec![("256f".to_owned(), "256f4fc1 (Loot: Anna, Ben)".to_owned())],
            past: Vec::new(),
            ..Library::default()
        }));
        stage.click_on("256f4fc1");
        let milliseconds = 37;
        let lobby = SessionEvent::Lobby(met_lobby());
        stage.input(Input::UiEvent(UiEvent::Session(lobby)));
        for number in 1..4 {
            let seat = Seat::new(number).unwrap();
            stage.input(Input::UiEvent(UiEvent::Session(SessionEvent::RoundTrip { seat, milliseconds })));
        }
        if ascii {
            assert!(stage.draw().is_ascii(), "{}", stage.draw());
            continue;
        }
        for size in [(60, 20), (80, 24), (140, 45)] {
            stage.size = size;
            stage.draw();
            insta::assert_snapshot!(format!("met-lobby-{}x{}", size.0, size.1), stage.draw());
        }
        let person = met_lobby().seats[2].clone().unwrap();
        stage.input(Input::UiEvent(UiEvent::Session(SessionEvent::Seated {
            seat: Seat::new(2).unwrap(),
            name: person.name,
            person: person.person,
        })));
        assert!(stage.draw().contains("compare the eight words"), "{}", stage.draw());
        // The warning comes first; a click on a mark chooses that player.
        stage.keys("p");
        assert!(stage.draw().contains("at this table"), "{}", stage.draw());
        assert!(stage.shell.focus() == Some(Target::Row(1)), "{}", stage.draw());
        stage.key(KeyCode::Esc);
        stage.click_on("new to you");
        stage.draw();
        assert_eq!(stage.shell.focus(), Some(Target::Row(2)));
        stage.keys("b");
        let blocks = |effect: &Effect| matches!(effect, Effect::People { announced: Some(name), .. } if name == "Cleo");
        assert!(stage.effects.iter().any(blocks), "{:?}", stage.effects);
    }
}

#[test]
fn tables_of_the_list_show_marks_that_no_host_can_announce() {
    let mut stage = TestApp::at_home(false);
    let seats = met_lobby().seats;
    let tables: Vec<ListedTable> = seats
        .into_iter()
        .flatten()
        .filter_map(|taken| taken.person)
        .map(|person| ListedTable {
            mark: person.mark,
            ..listed_of(person.key, &person.announced, "★ favourite: Loot")
        })
        .collect();
    stage.input(Input::Lan(Some(Listing { tables, ..Listing::default() })));
    insta::assert_snapshot!("met-tables-80x24", stage.draw());
}

/// A key meant for something else does not choose an entry that has just appeared. Home and End go to the first and the
/// last entry.
#[test]
fn there_is_a_first_and_a_last() {
    let mut stage = TestApp::at_home(false);
    stage.key(KeyCode::End);
    stage.key(KeyCode::Enter);
    assert_eq!(stage.shell.trail(), ["home", "watch"]);
    let mut stage = TestApp::at_home(false);
    let first = stage.shell.focus();
    stage.key(KeyCode::Tab);
    assert_ne!(stage.shell.focus(), first);
    stage.key(KeyCode::Home);
    assert_eq!(stage.shell.focus(), first);
}

#[test]
fn a_table_of_the_network_takes_no_other_lines_place() {
    let mut stage = TestApp::at_home(false);
    let shown = stage.draw();
    let row = shown.lines().last().unwrap();
    let (before, _) = row.split_once("settings").unwrap();
    let at = Position::new(u16::try_from(before.chars().count()).unwrap(), 23);
    stage.input(Input::User(UserInput::MouseMoved(at)));
    stage.input(Input::Lan(Some(Listing { tables: vec![listed(1, "Cleo")], ..Listing::default() })));
    assert!(stage.draw().contains("Loot with Cleo"));
    stage.key(KeyCode::Enter);
    assert_eq!(stage.shell.trail(), ["home", "settings"]);
}

fn listed_of(host: PeerId, name: &str, game: &str) -> ListedTable {
    let announcement = Announcement { host: text(name), game: text(game), seats: 2, free: 1, ..announcement(1) };
    let table = OpenTable::new(host, announcement, []).unwrap();
    ListedTable { table, at_point: false, mark: Mark::default() }
}

fn listed(host: u8, name: &str) -> ListedTable {
    listed_of(peer(host), name, "loot")
}

fn list(stage: &mut TestApp, tables: &[ListedTable]) {
    stage.input(Input::Lan(Some(Listing { tables: tables.to_vec(), ..Listing::default() })));
}

/// The host of the table that the interface has asked to join.
fn joined(stage: &TestApp) -> Option<PeerId> {
    stage.effects.iter().find_map(|effect| match effect {
        Effect::Join { target, .. } => Some(target.parse::<Ticket>().unwrap().host()),
        _ => None,
    })
}

#[test]
fn focus_stays_with_its_table() {
    let [ada, ben, cleo] = [listed(1, "Ada"), listed(2, "Ben"), listed(3, "Cleo")];
    let mut stage = TestApp::at_home(false);
    list(&mut stage, &[ada.clone(), ben.clone()]);
    let shown = stage.draw();
    let row = shown.lines().position(|line| line.contains("Loot with Ben")).unwrap();
    let row_text = shown.lines().nth(row).unwrap();
    let column = row_text.split("Loot with Ben").next().unwrap().chars().count();
    let at = Position::new(u16::try_from(column).unwrap(), u16::try_from(row).unwrap());
    stage.input(Input::User(UserInput::MouseMoved(at)));
    list(&mut stage, &[cleo.clone(), ada.clone(), ben.clone()]);
    list(&mut stage, &[ben, cleo.clone()]);
    stage.draw();
    stage.key(KeyCode::Enter);
    assert_eq!(joined(&stage), Some(peer(2)));

    // Another table takes no focus from one that is gone.
    let mut stage = TestApp::at_home(false);
    list(&mut stage, std::slice::from_ref(&ada));
    stage.draw();
    stage.input(Input::User(UserInput::MouseMoved(Position::new(at.x, at.y - 1))));
    list(&mut stage, &[cleo]);
    stage.draw();
    stage.key(KeyCode::Enter);
    assert_eq!(joined(&stage), None);
    assert_eq!(stage.shell.trail(), ["home", "join"]);
}

/// A game that was interrupted today gets the focus once the games are read; it keeps it when another is listed before.
#[test]
fn interrupted_game_has_the_focus() {
    let read = |stage: &mut TestApp, tables: &[&str], day: &str| {
        let when = SystemTime::UNIX_EPOCH + Duration::from_secs(if day == "today" { 20_000 } else { 19_000 } * 86_400);
        let past = |table: &&str| Past { table: (*table).to_owned(), path: None, when, bytes: 0, what: What::Unread };
        let waiting = tables.iter().map(|table| ((*table).to_owned(), format!("{table} (Loot: Anna, Ben)"))).collect();
        stage.input(Input::Library(Library { waiting, past: tables.iter().map(past).collect(), ..Library::default() }));
        stage.draw();
    };
    let resumes = |stage: &TestApp| {
        stage.effects.iter().find_map(|effect| match effect {
            Effect::Resume(table) => Some(table.clone()),
            _ => None,
        })
    };
    for (day, resumed) in [("today", Some("256f".to_owned())), ("long ago", None)] {
        let mut stage = TestApp::at_home(false);
        stage.shell.set_day("2024-10-04".to_owned());
        read(&mut stage, &["256f"], day);
        read(&mut stage, &["0123", "256f"], day);
        stage.key(KeyCode::Enter);
        assert_eq!(resumes(&stage), resumed, "{day}");
    }
}

/// From "let's play" to the first card on one network, by the keys that the screens name: at most five at the host and
/// four at the guest.
#[test]
fn friends_on_one_network_meet_in_few_keys() {
    let is_ready =
        |stage: &TestApp| stage.effects.iter().any(|effect| matches!(effect, Effect::Session(Command::Ready(true))));
    let lobby_of = |me: usize| LobbyView { me: Seat::new(me), ready: vec![false; 3], ..lobby() };
    let mut host = TestApp::at_home(false);
    assert!(host.draw().contains("o host"));
    host.keys("o");
    assert!(host.draw().contains("Enter open the table"));
    host.key(KeyCode::Enter);
    assert!(matches!(host.opened, Some(Opening { lan: true, .. })));
    // Here a table opens without a lobby; a real one is ready after a third key, as at the guest.
    let mut guest = TestApp::at_home(false);
    list(&mut guest, &[listed(1, "Ada"), listed(2, "Hanna")]);
    assert!(guest.draw().contains("2  Loot with Hanna"), "{}", guest.draw());
    guest.keys("2");
    assert!(guest.draw().contains("Enter join"));
    guest.key(KeyCode::Enter);
    assert_eq!(joined(&guest), Some(peer(2)));
    guest.input(Input::UiEvent(UiEvent::Session(SessionEvent::Lobby(lobby_of(1)))));
    assert!(guest.draw().contains("[r ready]"));
    guest.keys("r");
    assert!(is_ready(&guest), "after three keys");
}

/// A saved game says which of its other players can be reached, at every size.
#[test]
fn saved_game_says_who_is_online() {
    let seats =
        |states: &[Presence]| -> Vec<(Seat, Presence)> { Seat::first(3).skip(1).zip(states.iter().copied()).collect() };
    let (here, silent, sought) = (Presence::Here, Presence::Silent, Presence::Sought);
    let states = [[sought, sought], [here, sought], [here, silent], [silent, silent], [here, here]];
    let mut all = String::new();
    for size in [(80, 24), (140, 45)] {
        let mut stage = TestApp::at_home(false);
        stage.size = size;
        let summary = Summary {
            players: ["Anna", "Hanna", "Ada"].map(str::to_owned).to_vec(),
            me: Seat::new(0),
            scores: Vec::new(),
            winners: Vec::new(),
            ending: Ending::Unfinished,
            ..summary()
        };
        let when = SystemTime::UNIX_EPOCH + Duration::from_secs(20_000 * 86_400);
        let past = Past { table: "256f".to_owned(), path: None, when, bytes: 0, what: What::Waits(summary) };
        stage.shell.set_day("2024-10-04".to_owned());
        stage.input(Input::Library(Library {
            waiting: vec![("256f".to_owned(), String::new())],
            past: vec![past],
            ..Library::default()
        }));
        for states in states {
            let others = [("256f".to_owned(), seats(&states))].into();
            stage.input(Input::Lan(Some(Listing { others, ..Listing::default() })));
            let shown = stage.draw();
            let keys = shown.lines().rev().position(|line| line.contains("[Enter")).unwrap_or_default();
            let about = shown.lines().rev().skip(keys + 1).take(2).collect::<Vec<_>>();
            let about = about.into_iter().rev().map(str::trim).collect::<Vec<_>>().join(" ");
            let row = shown.lines().find(|line| line.contains("Loot with") && line.contains("Ada")).unwrap_or_default();
            let row: String = row.chars().skip(usize::from(size.0) / 2).collect();
            all.push_str(&format!("{}: {states:?}\n  {}\n  {about}\n", size.0, row.trim()));
        }
    }
    insta::assert_snapshot!("saved-game-says-who-is-online", all);
}

/// A saved game that nobody comes back to can be given up, after a question; a finished one cannot.
#[test]
fn saved_games_can_be_given_up() {
    let past =
        |table: &str, what| Past { table: table.to_owned(), path: None, when: SystemTime::UNIX_EPOCH, bytes: 0, what };
    let seen = |what: What| {
        let mut stage = TestApp::at_home(false);
        stage.size = (100, 30);
        stage.input(Input::Library(Library {
            waiting: Vec::new(),
            past: vec![past("256f", what)],
            ..Library::default()
        }));
        stage.keys("H");
        stage.draw();
        stage.keys("x");
        stage
    };
    let given_up =
        |stage: &TestApp| stage.effects.iter().any(|effect| matches!(effect, Effect::GiveUp(table) if table == "256f"));
    let mut stage = seen(What::Waits(summary()));
    insta::assert_snapshot!("give-up-100x30", stage.draw());
    stage.keys("n");
    assert!(!given_up(&stage));
    stage.keys("xy");
    assert!(given_up(&stage));
    let mut stage = seen(What::Over(summary()));
    stage.keys("y");
    assert!(!given_up(&stage));
}

#[test]
fn palette_has_the_tables_beyond_the_panel() {
    let names = ["Ada", "Ben", "Cleo", "Dora", "Emil", "Fay"];
    let tables: Vec<ListedTable> = (1..).zip(names).map(|(host, name)| listed(host, name)).collect();
    let mut stage = TestApp::at_home(false);
    list(&mut stage, &tables);
    let shown = stage.draw();
    assert!(shown.contains("Loot with Cleo") && !shown.contains("Loot with Dora"), "{shown}");
    assert!(shown.contains("3 more: press : and type join"), "{shown}");
    for letter in ":join fay".chars() {
        stage.key(KeyCode::Char(letter));
    }
    assert!(stage.draw().contains("join Fay's table: Loot"));
    // A table that comes or goes meanwhile does not change which one is chosen.
    list(&mut stage, &tables[1..]);
    stage.key(KeyCode::Enter);
    assert_eq!(joined(&stage), Some(peer(6)));
}

/// The settings that the interface has asked to save, and the screen that it shows.
fn after_welcome(answer: impl Fn(&mut TestApp)) -> (Option<String>, Vec<String>) {
    let mut stage = TestApp::at_first_start(false);
    assert!(stage.draw().contains("Your name at the table?"));
    answer(&mut stage);
    let saved = stage.effects.iter().find_map(|effect| match effect {
        Effect::Save(settings) => settings.name.clone(),
        _ => None,
    });
    (saved, stage.shell.trail())
}

#[test]
fn first_start_asks_for_a_name_and_saves_it() {
    let home = vec!["home".to_owned()];
    let told = |name: &str| (Some(name.to_owned()), home.clone());
    assert_eq!(after_welcome(|stage| stage.key(KeyCode::Enter)), told("Anna"));
    assert_eq!(after_welcome(|stage| stage.key(KeyCode::Esc)), told("Anna"));
    let typed = |stage: &mut TestApp| {
        stage.keys("bel q");
        stage.key(KeyCode::Enter);
    };
    assert_eq!(after_welcome(typed), told("bel q"));
    let cleared = |stage: &mut TestApp| {
        (0..10).for_each(|_| stage.key(KeyCode::Backspace));
        stage.key(KeyCode::Enter);
    };
    assert_eq!(after_welcome(cleared), told("Anna"));

    let mut known = context(false);
    assert!(Welcome::is_due(&known));
    known.settings.name = Some("Anna".to_owned());
    assert!(!Welcome::is_due(&known));
    known.settings.name = None;
    known.given = Some("Anna".to_owned());
    assert!(!Welcome::is_due(&known));
}

#[test]
fn letters_open_screens_from_home() {
    let names =
        [('j', "join"), ('w', "watch"), ('H', "history"), (',', "settings"), ('R', "Rules of Loot"), ('o', "Loot")];
    for (letter, name) in names {
        let mut stage = TestApp::at_home(false);
        stage.key(KeyCode::Char(letter));
        assert_eq!(stage.shell.trail(), ["home", name]);
    }
}

/// One press of Down too many is not at "quit": arrows stay in the page, whose keys stand below it.
#[test]
fn arrows_stay_in_the_home_page() {
    for size in [(60, 20), (80, 24), (140, 45)] {
        for way in [KeyCode::Up, KeyCode::Down, KeyCode::Left, KeyCode::Right] {
            let mut stage = TestApp::at_home(false);
            stage.size = size;
            stage.draw();
            for _ in 0..12 {
                stage.key(way);
                stage.draw();
                let focus = stage.shell.focus();
                assert!(focus.is_some_and(|focus| !focus.is_key()), "{way:?} at {size:?}: {focus:?}");
            }
        }
    }
    for (keys, name) in [("H history", "history"), (", settings", "settings"), ("o host", "Loot")] {
        let mut stage = TestApp::at_home(false);
        stage.click_on(keys);
        assert_eq!(stage.shell.trail(), ["home", name]);
    }
}

/// A table for friends with phones waits ten minutes for whoever is absent.
#[test]
fn tables_wait_for_phones() {
    let absence = |rows: &[&str]| {
        let mut stage = TestApp::at_home(false);
        stage.size = (140, 45);
        stage.keys("o");
        rows.iter().for_each(|row| stage.click_on(row));
        stage.click_on("open the table");
        let options = stage.opened.take().map(|opening| opening.options).unwrap_or_default();
        options.into_iter().find(|(key, _)| key == "absence").map(|(_, absence)| absence)
    };
    assert_eq!(absence(&[]), None);
    assert_eq!(absence(&["friends with phones"]), Some("600".to_owned()));
    assert_eq!(absence(&["friends with phones", "friends with phones"]), None);
}

/// The table that the set-up asks for.
fn opening(keys: &str) -> Opening {
    opening_at(TestApp::at_home(false), keys)
}

fn opening_at(mut stage: TestApp, keys: &str) -> Opening {
    stage.key(KeyCode::Char('o'));
    for key in keys.chars() {
        stage.key(match key {
            'v' => KeyCode::Down,
            '^' => KeyCode::Up,
            '<' => KeyCode::Left,
            '>' => KeyCode::Right,
            _ => KeyCode::Enter,
        });
    }
    let opened = stage.opened.take();
    opened.unwrap_or_else(|| panic!("no table was opened:\n{}", stage.draw()))
}

#[test]
fn set_up_opens_the_table_that_it_shows() {
    // A friend nearby can join.
    let table = opening("-");
    assert_eq!((table.seats, table.bots, table.networked, table.lan), (2, 0, true, true));
    assert_eq!(table.level, Level::Normal);
    // Only bots: four seats, gentle ones, 150 points.
    let table = opening("<v>>v<vv>-");
    assert_eq!((table.seats, table.bots, table.level, table.networked), (4, 3, Level::Gentle, false));
    assert!(table.options.contains(&("target".to_owned(), "150".to_owned())));
    assert!(!table.options.iter().any(|(key, _)| key == "turn-time"));
    // Three seats and one bot, a time for turns among the further options, which Enter unfolds and does not begin.
    let table = opening("v>v>vvvvvv-vv>-");
    assert_eq!((table.seats, table.bots, table.networked, table.lan), (3, 1, true, true));
    assert!(table.options.contains(&("turn-time".to_owned(), "60".to_owned())), "{:?}", table.options);
    let table = opening(">-");
    assert!(table.networked && !table.lan, "only with the ticket");
    // "Anybody" is offered only with meeting points; without them the last step leads back to the first choice. On Unix "by
    // letter" is before it.
    let last = if cfg!(unix) { ">>>-" } else { ">>-" };
    assert!(!opening(last).networked);
    let mut stage = TestApp::at_home(false);
    stage.shell.context_mut().settings.meet = vec!["/ip4/192.0.2.7/tcp/4001/p2p/12D3KooW".to_owned()];
    let table = opening_at(stage, last);
    assert!(table.networked && table.meet && table.lan);
}

/// A table by letter has no bots, no password and a week for each turn. Its invitation is shown, and from then on the first
/// screen lists it.
#[cfg(unix)]
#[test]
fn tables_begin_by_letter() {
    let mut stage = TestApp::at_home(false);
    stage.size = (100, 34);
    stage.keys("o");
    stage.key(KeyCode::Right);
    stage.key(KeyCode::Right);
    let shown = stage.draw();
    assert!(shown.contains("friends by letter") && shown.contains("You get an invitation, a file to send."), "{shown}");
    assert!(!shown.contains("password") && !shown.contains("phones") && !shown.contains("bots "), "{shown}");
    stage.key(KeyCode::Enter);
    let invited = stage.effects.iter().find_map(|effect| match effect {
        Effect::Invite { game, seats, options } => Some((game.clone(), *seats, options.clone())),
        _ => None,
    });
    let (game, seats, options) = invited.expect("an invitation");
    assert_eq!((game.as_str(), seats), ("loot", 2));
    assert_eq!((options["turn-time"].as_str(), options["absence"].as_str()), ("604800", "604800"));
    let ada = |lines: &[&str], readers: &[&str]| LetterRead {
        table: "5d2b1e827d733cb2".to_owned(),
        readers: readers.iter().map(|name| (Seat::new(1).unwrap(), (*name).to_owned())).collect(),
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
    };
    let lines =
        ["An invitation: /home/ada/letters/loot.invitation", "Loot: Ada, a free seat.", "Wait for one more player."];
    stage.input(Input::UiEvent(UiEvent::ReadLetter(Ok(ada(&lines, &[])))));
    let shown = stage.draw();
    assert!(shown.contains(lines[0]) && !shown.contains("write to"), "{shown}");
    stage.key(KeyCode::Esc);
    let lobby = ada(&["Loot: Ada, Ben (new).", "Ben has signed. To begin the game, write to Ben."], &["Ben"]);
    let id = lobby.table.clone();
    let mailed = Mailed { state: "waits for your letter".to_owned(), ..Mailed::default() };
    stage.input(Input::Library(Library {
        waiting: vec![(id.clone(), "Loot: Ada, Ben (new)".to_owned())],
        lobbies: [(id.clone(), lobby)].into(),
        mailed: [(id, mailed)].into(),
        ..Library::default()
    }));
    insta::assert_snapshot!("home-by-letter", stage.draw());
    stage.click_on("Loot: Ada, Ben (new)");
    stage.click_on("write to Ben");
    let writes = |effect: &Effect| matches!(effect, Effect::WriteLetter { table, reader, .. } if table == "5d2b1e827d733cb2" && reader == "Ben");
    assert!(stage.effects.iter().any(writes), "{:?}", stage.effects);
}

/// Letters and invitations are read from wherever their files are dropped.
#[test]
fn dropped_letters_are_read() {
    for file in ["'/tmp/for ada.letter'", "file:///tmp/loot.invitation"] {
        let mut stage = TestApp::at_home(false);
        stage.input(Input::User(UserInput::Paste(file.to_owned())));
        assert_eq!(stage.shell.trail(), ["home", "a letter"]);
        assert!(stage.effects.iter().any(|effect| matches!(effect, Effect::ReadLetter(_))), "{file}");
    }
}

fn saved_points(stage: &TestApp) -> Vec<&[String]> {
    let saved = stage.effects.iter().filter_map(|effect| match effect {
        Effect::Save(settings) => Some(settings.meet.as_slice()),
        _ => None,
    });
    saved.collect()
}

#[test]
fn meeting_points_are_written_in_the_settings() {
    let address = |seed: u8| format!("/ip4/192.0.2.7/tcp/4001/p2p/{}", peer(seed));
    let mut stage = TestApp::at_home(false);
    stage.click_on("settings");
    stage.click_on("meeting points");
    stage.keys("/ip4/192.0.2.7/tcp/4001");
    stage.key(KeyCode::Enter);
    let shown = stage.draw();
    assert!(shown.contains("no address of a meeting point"), "{shown}");
    assert_eq!(saved_points(&stage), [] as [&[String]; 0]);
    // Leaving says it once, and keeps what was written.
    stage.keys("/");
    stage.key(KeyCode::Backspace);
    stage.key(KeyCode::Up);
    stage.keys("q");
    let shown = stage.draw();
    assert!(shown.contains("/ip4/192.0.2.7/tcp/4001") && shown.contains("no address of a meeting point"), "{shown}");
    assert_eq!(stage.shell.trail(), ["home", "settings"]);
    stage.input(Input::User(UserInput::Paste(format!("/p2p/{}, {}\n", peer(1), address(2)))));
    stage.key(KeyCode::Enter);
    assert_eq!(saved_points(&stage), [[address(1), address(2)]]);
    stage.keys("q");
    assert_eq!(stage.shell.trail(), ["home"]);
    // A page opens no tables for others.
    let mut stage = TestApp::at_home(false);
    stage.shell.context_mut().is_page = true;
    stage.click_on("settings");
    assert!(!stage.draw().contains("meeting points"));
}

/// A ticket on the first screen, and a reply in the lobby, need no key before they are pasted.
#[test]
fn pasted_tickets_and_replies_are_understood() {
    let mut stage = TestApp::at_home(false);
    let paste = |stage: &mut TestApp, text: &str| stage.input(Input::User(UserInput::Paste(text.to_owned())));
    paste(&mut stage, "good evening");
    assert_eq!(stage.shell.trail(), ["home"]);
    let ticket = Ticket::new([7; 8], peer(1), ["/ip4/192.0.2.7/tcp/4001".parse().unwrap()]).unwrap();
    paste(&mut stage, &ticket.to_string());
    assert_eq!(stage.shell.trail(), ["home", "join"]);
    assert!(stage.draw().contains("Press Enter"));

    let called = |stage: &TestApp| {
        let calls = stage.effects.iter().filter_map(|effect| match effect {
            Effect::Session(Command::CallBack(reply)) => Some(reply.clone()),
            _ => None,
        });
        calls.collect::<Vec<_>>()
    };
    let reply = Reply::new([7; 8], peer(2), ["/ip4/192.0.2.9/tcp/4001".parse().unwrap()]).unwrap();
    for is_pasted in [true, false] {
        let mut stage = screens(false).into_iter().find(|(name, _)| *name == "lobby").unwrap().1;
        if is_pasted {
            paste(&mut stage, "no reply at all");
            paste(&mut stage, &format!("> {reply}\n"));
        } else {
            stage.keys("d");
            paste(&mut stage, "nothing");
            stage.key(KeyCode::Enter);
            let shown = stage.draw();
            assert!(shown.contains("This is not a reply"), "{shown}");
            paste(&mut stage, &format!(" {reply}"));
            stage.key(KeyCode::Enter);
        }
        assert_eq!(called(&stage), std::slice::from_ref(&reply));
        assert!(stage.draw().contains("free seat"));
    }
}

/// At the smallest screen the list of settings scrolls with the focus.
#[test]
fn every_setting_can_be_reached_on_a_small_screen() {
    let mut stage = TestApp::at_home(false);
    stage.size = (60, 20);
    for _ in 0..4 {
        stage.key(KeyCode::Down);
    }
    assert!(stage.draw().contains("By") || stage.draw().contains("Tarot"));
    stage.keys("o");
    let mut seen = String::new();
    for _ in 0..16 {
        let shown = stage.draw();
        let row = shown.lines().find(|row| row.contains('▌') && !row.contains("fairdeal"));
        seen.push_str(row.unwrap_or_else(|| panic!("{shown}")));
        if seen.contains("more options") && !seen.contains("who begins") && !shown.contains("▾") {
            stage.key(KeyCode::Enter);
        }
        stage.key(KeyCode::Down);
    }
    for name in ["who can join", "bots", "password", "who begins", "houses can fall", "strict", "away", "Enter"] {
        assert!(seen.contains(name), "{name}: {seen}");
    }
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
        ..Library::default()
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

/// Windows reports AltGr as Ctrl and Alt. Some keyboards need it even for `?`, `:` or `/`.
#[test]
fn characters_typed_with_altgr_do_what_they_do_without() {
    // Help, the palette with its text, the rulebook, and a puzzle with its question.
    for text in ["?", ":jo", "R/e", "pfy"] {
        let (mut plain, mut other) = (TestApp::at_home(false), TestApp::at_home(false));
        for c in text.chars() {
            plain.key(KeyCode::Char(c));
            other.input(Input::User(UserInput::Key(Key { code: KeyCode::Char(c), ctrl: true, alt: true })));
            assert_eq!(plain.draw(), other.draw(), "{c} of {text}");
        }
        assert_ne!(plain.draw(), TestApp::at_home(false).draw(), "{text}");
    }
}

/// Ctrl-Z belongs to the shell, also in a text field, unless the player gives it another meaning.
#[test]
fn ctrl_z_stops_the_program_unless_it_is_bound() {
    let ctrl_z = Key { ctrl: true, ..KeyCode::Char('z').into() };
    let press = |stage: &mut TestApp| {
        stage.shell.context_mut().stops = true;
        let effects = stage.shell.update(Input::User(UserInput::Key(ctrl_z)));
        effects.iter().any(|effect| matches!(effect, Effect::Suspend))
    };
    for (_, mut stage) in screens(false) {
        assert!(press(&mut stage), "{}", stage.draw());
    }
    let mut stage = TestApp::at_home(false);
    let own = BTreeMap::from([("undo".to_owned(), vec!["ctrl-z".to_owned()])]);
    stage.shell.context_mut().keymap = Keymap::new(&own).unwrap();
    assert!(!press(&mut stage));
    // Without a shell it means nothing.
    let effects = TestApp::at_home(false).shell.update(Input::User(UserInput::Key(ctrl_z)));
    assert!(effects.is_empty());
}

/// The program's name is never cut, and nothing else: at any size there is room, or it is left out.
#[test]
fn home_has_room_at_every_size() {
    let mut stage = TestApp::at_home(false);
    list(&mut stage, &[listed(1, "Ada")]);
    for (width, height) in (60..=220).step_by(4).flat_map(|width| (20..=64).step_by(4).map(move |row| (width, row))) {
        stage.size = (width, height);
        let shown = stage.draw();
        assert!(stage.shell.layer().cut.is_empty(), "{width}x{height}: {:?}\n{shown}", stage.shell.layer().cut);
    }
}
