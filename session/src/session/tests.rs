//! Sessions in virtual time, from a ticket to the transcript.

use std::time::Duration;

use ed25519_dalek::SigningKey;
use fairdeal_games::bots::Level;
use fairdeal_games::{AnyGame, bot, rule_set};
use fairdeal_peers::PeerId;
use fairdeal_peers::record::AddressRecord;
use fairdeal_peers::ticket::reply::Reply;
use fairdeal_peers::ticket::{JoinTarget, Ticket};
use fairdeal_protocol::audit::auditor::Report;
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::transcript::page::Mark;
use fairdeal_protocol::transcript::{End, Transcript};
use fairdeal_protocol::wire::bounded::Text;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use crate::chat::MAX_INVITATIONS;
use crate::events::{Command, SessionEvent};
use crate::frame::{Frame, Join, Watch};
use crate::lobby::GuestLobby;
use crate::people::{Book, Change};
use crate::seat_file::{SeatFile, SeatFileError};
use crate::setup::{Attended, Hands, ListenConfig, Patience, Pilot, Role};
use crate::testing::house::{ByHand, House, Kept};
use crate::view::{LobbyView, PeerState, Remedy, Snapshot};

/// A bot that acts after so many milliseconds.
fn bot_of(delay: u64) -> Hands {
    Hands::Bot(Pilot { level: Level::Normal, delay: Duration::from_millis(delay) })
}

const PERSON: Hands = Hands::Person { ready: false };
const READY: Hands = Hands::Person { ready: true };

fn seat(number: usize) -> Seat {
    Seat::new(number).unwrap()
}

/// A host, its ticket, and who has come since.
struct Scene {
    house: House,
    ticket: Option<JoinTarget>,
    password: Option<&'static str>,
}

impl Scene {
    /// A host opens a table.
    fn opens(game: &str, seats: u8, options: &[(&str, &str)], hands: Hands, password: Option<&'static str>) -> Self {
        let options = options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let rules = rule_set(game, seats, &options.collect()).unwrap();
        let mut scene = Self { house: House::new(7), ticket: None, password };
        let host = scene.house.add("Anna");
        let role = Role::Host { rules, hands, program: [1; 16].into(), password: scene.word(password) };
        scene.house.start(host, role, attended(hands), Book::default()).unwrap();
        let ticket = scene.until(host, |event| match event {
            SessionEvent::Lobby(view) => view.ticket.clone(),
            _ => None,
        });
        scene.ticket = Some(ticket.parse().unwrap());
        scene
    }

    fn word(&self, word: Option<&str>) -> Option<Password> {
        word.map(|word| Password::new(word.to_owned()).unwrap())
    }

    fn comes(&mut self, name: &str, role: impl FnOnce(JoinTarget, Option<Password>) -> Role, hands: Hands) -> usize {
        let number = self.house.add(name);
        let role = role(self.ticket.clone().unwrap(), self.word(self.password));
        self.house.start(number, role, attended(hands), Book::default()).unwrap();
        number
    }

    fn joins(&mut self, name: &str, hands: Hands) -> usize {
        let program = [u8::try_from(self.house.programs.len() + 1).unwrap(); 16].into();
        self.comes(
            name,
            |target, password| Role::Guest { target, hands, program, password, patience: Patience::ForACall },
            hands,
        )
    }

    /// A bot in the host's program.
    fn local_bot(&mut self, name: &str) -> usize {
        let number = self.house.add_bot(0, name);
        let pilot = Pilot { level: Level::Normal, delay: Duration::from_millis(50) };
        let JoinTarget::Ticket(ticket) = self.ticket.clone().unwrap() else { panic!("a host has a ticket") };
        let role = Role::LocalBot { ticket, pilot, program: [1; 16].into(), password: self.word(self.password) };
        self.house.start(number, role, Attended::Nobody, Book::default()).unwrap();
        number
    }

    fn watches(&mut self, name: &str, hands: Hands) -> usize {
        self.comes(name, |target, password| Role::Watcher { target, password }, hands)
    }

    /// Lets time pass until the program is told an event that `wanted` takes something from.
    fn until<T>(&mut self, program: usize, mut wanted: impl FnMut(&SessionEvent) -> Option<T>) -> T {
        let end = self.house.up() + 700_000;
        while self.house.up() < end {
            while let Some(event) = self.house.read(program) {
                if let Some(found) = wanted(&event) {
                    return found;
                }
            }
            self.house.run(self.house.up() + 10);
        }
        let told = &self.house.programs[program].told;
        panic!("{program} waits in vain: {:?}", told.iter().rev().take(3).collect::<Vec<_>>());
    }

    fn lobby(&mut self, program: usize, wanted: impl Fn(&LobbyView) -> bool) -> LobbyView {
        self.until(program, |event| match event {
            SessionEvent::Lobby(view) if wanted(view) => Some(view.clone()),
            _ => None,
        })
    }

    fn turn(&mut self, program: usize) -> Box<Snapshot> {
        self.until(program, |event| match event {
            SessionEvent::Snapshot(view) if view.my_turn => Some(view.clone()),
            _ => None,
        })
    }

    fn peer(&mut self, program: usize, wanted: PeerState) -> Seat {
        self.until(program, |event| match event {
            SessionEvent::Peer { seat, state } if *state == wanted => Some(*seat),
            _ => None,
        })
    }

    fn refusal(&mut self, program: usize) -> String {
        self.until(program, |event| match event {
            SessionEvent::Refused(why) => Some(why.clone()),
            _ => None,
        })
    }

    fn error(&mut self, program: usize) -> String {
        self.until(program, |event| match event {
            SessionEvent::Error(why) => Some(why.clone()),
            _ => None,
        })
    }

    fn hears(&mut self, program: usize) -> (usize, String, String) {
        self.until(program, |event| match event {
            SessionEvent::Chat { seat, name, text } => Some((seat.unwrap().index(), name.clone(), text.clone())),
            _ => None,
        })
    }

    fn over(&mut self, program: usize) -> (Hash32, Vec<Seat>) {
        self.until(program, |event| match event {
            SessionEvent::Over { log, winners, .. } => Some((*log, winners.clone())),
            _ => None,
        })
    }

    fn all_over(&mut self, programs: &[usize]) -> Hash32 {
        let (log, _) = self.over(programs[0]);
        for program in &programs[1..] {
            assert_eq!(self.over(*program).0, log, "{program}");
        }
        assert_eq!(self.house.faults, [""; 0]);
        log
    }

    fn does(&mut self, program: usize, command: Command) {
        self.house.command(program, command);
    }

    fn acts(&mut self, program: usize, view: &Snapshot) {
        let mut rng = ChaCha20Rng::from_seed([3; 32]);
        if let Some(action) = bot(Level::Normal).choose(&view.game, view.me.unwrap(), &view.known, &mut rng) {
            self.does(program, Command::Act(action));
        }
    }

    /// Plays a person's turns to the end of the game.
    fn plays(&mut self, program: usize) -> Hash32 {
        loop {
            let event = self.until(program, |event| match event {
                SessionEvent::Snapshot(view) if view.my_turn => Some(Ok(view.clone())),
                SessionEvent::Over { log, .. } => Some(Err(*log)),
                _ => None,
            });
            match event {
                Ok(view) => self.acts(program, &view),
                Err(log) => return log,
            }
        }
    }

    fn later(&mut self, seconds: u64) {
        self.house.run(self.house.up() + 1000 * seconds);
    }

    fn events(&self, program: usize) -> impl Iterator<Item = &SessionEvent> {
        self.house.programs[program].told.iter().map(|(_, event)| event)
    }

    fn transcript(&self, program: usize) -> &Transcript {
        &self.house.programs[program].disk.transcripts.values().next().expect("it has a transcript").0
    }

    fn report(&self, program: usize) -> Report {
        audit::<AnyGame>(self.transcript(program))
    }
}

/// A bot's session ends by itself.
fn attended(hands: Hands) -> Attended {
    if matches!(hands, Hands::Person { .. }) { Attended::Person } else { Attended::Nobody }
}

fn taken(view: &LobbyView) -> usize {
    view.seats.iter().flatten().count()
}

const SHORT: [(&str, &str); 1] = [("target", "20")];

#[test]
fn table_goes_from_a_ticket_to_the_transcript() {
    let mut scene = Scene::opens("loot", 3, &SHORT, bot_of(1), None);
    let all = [0, scene.joins("Béla", bot_of(1)), scene.joins("Cleo", bot_of(1))];
    let log = scene.all_over(&all);
    scene.later(20);
    for program in &scene.house.programs {
        assert!(program.disk.journals.is_empty(), "{} needs no journal any more", program.name);
        let (transcript, by_player) = program.disk.transcripts.values().next().unwrap();
        assert!(*by_player && audit::<AnyGame>(transcript).is_fair());
        assert_eq!(transcript.log_hash(), log);
    }
    assert!(all.iter().all(|program| !scene.house.is_running(*program)), "sessions of bots end by themselves");
}

/// Between two hands, while the cards are shuffled, no deal fits what a seat knows.
#[test]
fn thinkers_are_asked_only_between_two_actions() {
    let sharp = Hands::Bot(Pilot { level: Level::Sharp, delay: Duration::ZERO });
    let mut scene = Scene::opens("loot", 3, &[("target", "60")], sharp, None);
    scene.house.trip = 300;
    let all = [0, scene.joins("Béla", sharp), scene.joins("Cleo", sharp)];
    scene.all_over(&all);
    let deals = scene.events(0).filter(|event| matches!(event, SessionEvent::Line(line) if line.contains("burns")));
    assert!(deals.count() > 1, "there is a second hand");
}

/// Everybody reads what the seats write, and the table begins when all are ready. The spectator cannot write.
#[test]
fn people_talk_and_begin_when_all_are_ready() {
    let mut scene = Scene::opens("loot", 3, &SHORT, PERSON, None);
    let first = scene.joins("Béla", PERSON);
    scene.lobby(first, |view| view.me == Some(seat(1)));
    let second = scene.joins("Cleo", PERSON);
    scene.lobby(second, |view| taken(view) == 3);
    let spectator = scene.watches("", PERSON);
    scene.lobby(spectator, |view| taken(view) == 3);
    let seats = [0, first, second];
    let converse = |scene: &mut Scene, place: &str| {
        for (speaker, name) in seats.into_iter().zip(["Anna", "Béla", "Cleo"]) {
            // The sender's own program already strips control and bidirectional-override characters.
            scene.does(speaker, Command::Say(format!("\u{1b}{name} {place}\u{202e}\n")));
            let line = (speaker, name.to_owned(), format!("{name} {place}"));
            for reader in [0, first, second, spectator] {
                assert_eq!(scene.hears(reader), line);
            }
        }
        scene.does(spectator, Command::Say("me too".to_owned()));
        assert!(scene.refusal(spectator).contains("read the chat but not write"));
    };
    converse(&mut scene, "in the lobby");
    // All seats are taken and two are ready: the table waits for the third.
    scene.does(0, Command::Ready(true));
    scene.does(second, Command::Ready(true));
    for program in [0, first, second, spectator] {
        scene.lobby(program, |view| view.ready == [true, false, true]);
    }
    scene.does(0, Command::Ready(false));
    scene.does(first, Command::Ready(true));
    for program in [0, first, second, spectator] {
        scene.lobby(program, |view| view.ready == [false, true, true]);
    }
    scene.does(0, Command::Ready(true));
    scene.later(10);
    for program in [0, first, second, spectator] {
        assert!(scene.events(program).any(|event| matches!(event, SessionEvent::Started { .. })), "{program}");
    }
    converse(&mut scene, "at the table");
    for _ in 0..20 {
        scene.does(second, Command::Say("again and again".to_owned()));
    }
    assert!(scene.refusal(second).contains("too many"));
    scene.does(0, Command::Say("x".repeat(281)));
    assert!(scene.refusal(0).contains("280"));
    scene.does(0, Command::Say("\u{7}".to_owned()));
    assert!(scene.refusal(0).contains("empty"));
}

/// Two seats without a direct link chat through the host, and play through it; their players are told.
#[test]
fn seats_without_a_way_to_each_other_talk_through_the_host() {
    let mut scene = Scene::opens("loot", 3, &SHORT, bot_of(1), None);
    scene.house.set_cut([1, 2], true);
    let first = scene.joins("Béla", READY);
    scene.lobby(first, |view| view.me == Some(seat(1)));
    let second = scene.joins("Cleo", bot_of(1));
    scene.turn(first);
    scene.later(6);
    scene.does(first, Command::Say("far away".to_owned()));
    assert_eq!(scene.hears(second), (1, "Béla".to_owned(), "far away".to_owned()));
    assert_eq!(scene.hears(0).2, "far away");
    scene.plays(first);
    for (program, other) in [(first, "Cleo"), (second, "Béla")] {
        let line = SessionEvent::Line(format!("No direct link to {other}: the others relay its moves."));
        assert!(scene.events(program).any(|event| *event == line), "{other}");
    }
    assert_eq!(scene.house.faults, [""; 0]);
}

/// For five absence timeouts a thinker says nothing but heads, and others hear of them only through the host.
#[test]
fn slow_thinker_without_direct_link_is_not_removed() {
    let mut scene = Scene::opens("loot", 3, &[("target", "20"), ("absence", "2")], bot_of(1), None);
    scene.house.set_cut([1, 2], true);
    let thinker = scene.joins("Béla", READY);
    scene.lobby(thinker, |view| view.me == Some(seat(1)));
    let far = scene.joins("Cleo", bot_of(1));
    let view = scene.turn(thinker);
    scene.later(10);
    scene.acts(thinker, &view);
    let log = scene.plays(thinker);
    assert_eq!(scene.all_over(&[0, far]), log);
    for program in [0, thinker, far] {
        let gone = |event: &&SessionEvent| {
            matches!(event, SessionEvent::Peer { state: PeerState::Absent | PeerState::Removed, .. })
        };
        assert_eq!(scene.events(program).find(gone), None);
        // Nor is its player told that a program does not answer.
        let alarmed = |event: &&SessionEvent| match event {
            SessionEvent::Snapshot(shown) => {
                !shown.waits.unanswering.is_empty() || shown.waits.seats.iter().any(|waiting| waiting.silent.is_some())
            }
            _ => false,
        };
        assert_eq!(scene.events(program).find(alarmed), None);
    }
    assert!(scene.report(0).left.is_empty());
}

/// A player who closes the program is shown as paused, not as a lost connection.
#[test]
fn pause_is_told_as_one() {
    let mut scene = Scene::opens("loot", 2, &SHORT, READY, None);
    let guest = scene.joins("Béla", READY);
    scene.peer(0, PeerState::Connected);
    scene.later(3);
    scene.does(guest, Command::Quit);
    scene.peer(0, PeerState::Paused);
    let lost = |event: &SessionEvent| matches!(event, SessionEvent::Peer { state: PeerState::Lost, .. });
    assert!(!scene.events(0).any(lost));
    assert!(scene.house.saved(guest).is_some(), "its game is saved");
}

/// A phone may stop a page that nobody sees: its player has paused then. One that is seen again has not.
#[test]
fn hidden_page_pauses_when_it_is_cut_off() {
    for (is_seen_again, told) in [(false, PeerState::Paused), (true, PeerState::Lost)] {
        let mut scene = Scene::opens("loot", 3, &SHORT, READY, None);
        let (guest, third) = (scene.joins("Béla", READY), scene.joins("Cleo", READY));
        scene.peer(0, PeerState::Connected);
        scene.later(3);
        scene.does(guest, Command::Hidden(true));
        if is_seen_again {
            scene.does(guest, Command::Hidden(false));
        }
        scene.later(1);
        // A hidden program that still runs tells of its other links, and stays hidden.
        scene.house.set_cut([guest, third], true);
        scene.later(5);
        scene.house.set_cut([0, guest], true);
        let state = scene.until(0, |event| match event {
            SessionEvent::Peer { seat: one, state } if *one == seat(1) && *state != PeerState::Connected => {
                Some(*state)
            }
            _ => None,
        });
        assert_eq!(state, told);
    }
}

#[test]
fn seat_that_is_left_in_the_lobby_is_free() {
    let mut scene = Scene::opens("loot", 3, &SHORT, PERSON, None);
    let bot = scene.joins("Béla", bot_of(1));
    scene.lobby(0, |view| taken(view) == 2);
    let gone = scene.joins("gone", READY);
    scene.lobby(0, |view| view.ready == [false, true, true]);
    scene.does(gone, Command::Leave);
    scene.lobby(0, |view| taken(view) == 2 && view.ready == [false, true, false]);
    scene.does(0, Command::Dismiss(seat(1)));
    assert!(scene.error(bot).contains("removed you"));
    scene.lobby(0, |view| taken(view) == 1);
    let stays = [scene.joins("one", bot_of(1)), scene.joins("two", bot_of(1))];
    scene.does(0, Command::Ready(true));
    let log = scene.plays(0);
    assert_eq!(scene.all_over(&stays), log);
}

/// A host that closes its lobby, or cannot be reached, or has no free seat: each guest reads why.
#[test]
fn guest_without_a_seat_is_told_why() {
    let mut scene = Scene::opens("loot", 2, &SHORT, PERSON, None);
    let first = scene.joins("Béla", PERSON);
    scene.lobby(first, |view| view.me.is_some());
    let late = scene.joins("late", PERSON);
    assert!(scene.error(late).contains("all seats are taken"));
    scene.does(0, Command::Quit);
    assert_eq!(scene.error(first), "you no longer have a seat: the host has closed the table; the game had not begun");
    let lost = scene.joins("lost", PERSON);
    assert!(scene.error(lost).contains("can't reach the host (no answer"));
}

#[test]
fn password_admits_guests_and_spectators() {
    let mut scene = Scene::opens("loot", 2, &SHORT, bot_of(20), Some("open sesame"));
    let knows = |scene: &mut Scene, word| scene.password = word;
    knows(&mut scene, None);
    for outside in [scene.joins("without", PERSON), scene.watches("without", PERSON)] {
        assert!(scene.error(outside).contains("the table has a password"));
    }
    knows(&mut scene, Some("open barley"));
    for outside in [scene.joins("wrong", PERSON), scene.watches("wrong", PERSON)] {
        assert!(scene.error(outside).contains("the password is wrong"));
    }
    knows(&mut scene, Some("open sesame"));
    let spectator = scene.watches("knows", bot_of(1));
    let guest = scene.joins("Béla", bot_of(20));
    scene.turn(0);
    // The password still applies while the table plays.
    knows(&mut scene, None);
    let late = scene.watches("late", PERSON);
    assert!(scene.error(late).contains("the table has a password"));
    scene.all_over(&[0, guest, spectator]);
}

/// A spectator from the beginning, a late one, and one whose link breaks see the same game and are told the same
/// actions; one that is killed disturbs nobody.
#[test]
fn spectators_see_the_whole_game() {
    let mut scene = Scene::opens("loot", 3, &[("target", "40")], bot_of(50), None);
    let early = scene.watches("early", bot_of(1));
    let cut_off = scene.watches("cut off", bot_of(1));
    let killed = scene.watches("killed", bot_of(1));
    let guests = [scene.joins("Béla", bot_of(50)), scene.joins("Cleo", bot_of(50))];
    scene.turn(0);
    scene.house.set_cut([0, cut_off], true);
    scene.house.stop(killed);
    scene.later(1);
    let late = scene.watches("late", bot_of(1));
    scene.later(1);
    scene.house.set_cut([0, cut_off], false);
    let log = scene.all_over(&[0, guests[0], guests[1], early, late, cut_off]);
    let actions = |scene: &Scene, program| -> Vec<SessionEvent> {
        scene.events(program).filter(|event| matches!(event, SessionEvent::Action { .. })).cloned().collect()
    };
    let played = actions(&scene, 0);
    for spectator in [early, late, cut_off] {
        assert_eq!(actions(&scene, spectator), played);
        assert!(scene.transcript(spectator).to_bytes().unwrap() == scene.transcript(0).to_bytes().unwrap());
    }
    assert_eq!(scene.transcript(early).log_hash(), log);
}

/// The host is killed in the middle of a watched game, and resumes it: spectators find it again, and the password holds.
#[test]
fn host_that_comes_back_shows_its_table_again() {
    for password in [None, Some("open sesame")] {
        let mut scene = Scene::opens("loot", 2, &[("target", "60")], bot_of(50), password);
        let spectator = scene.watches("spectator", bot_of(1));
        let guest = scene.joins("Béla", bot_of(50));
        scene.turn(0);
        scene.later(2);
        scene.house.stop(0);
        let reaching = |event: &SessionEvent| matches!(event, SessionEvent::Reaching { .. }).then_some(());
        scene.until(spectator, reaching);
        assert!(scene.house.resume(0, bot_of(50), Attended::Nobody).unwrap());
        scene.turn(0);
        let late = scene.watches("late", bot_of(1));
        if password.is_some() {
            scene.password = Some("open barley");
            let stranger = scene.watches("stranger", PERSON);
            assert!(scene.error(stranger).contains("password is wrong"));
        }
        scene.all_over(&[0, guest, spectator, late]);
    }
}

/// Players stay after a game: they chat, and one invites the others to another table. Spectators hear it from the host.
#[test]
fn players_are_invited_to_another_game() {
    let mut scene = Scene::opens("loot", 2, &SHORT, READY, None);
    let guest = scene.joins("Béla", bot_of(1));
    let spectator = scene.watches("", PERSON);
    let log = scene.plays(0);
    assert_eq!(scene.all_over(&[guest, spectator]), log);
    scene.does(0, Command::Invite("fd1mistyped".to_owned()));
    scene.refusal(0);
    let other = Ticket::new([9; 8], scene.house.peer(guest).unwrap(), ["/ip4/192.0.2.1/tcp/4".parse().unwrap()]);
    scene.does(0, Command::Invite(other.unwrap().to_string()));
    assert!(scene.refusal(0).contains("a table of your own"));
    let own = Ticket::new([9; 8], scene.house.peer(0).unwrap(), ["/ip4/192.0.2.1/tcp/4".parse().unwrap()]).unwrap();
    scene.does(0, Command::Invite(own.to_string()));
    let invited = scene.until(spectator, |event| match event {
        SessionEvent::Invited { name, ticket, .. } => Some((name.clone(), ticket.clone())),
        _ => None,
    });
    assert_eq!(invited, ("Anna".to_owned(), own.to_string()));
}

/// Nobody can dial the host: it dials the guest whose reply it is given, and again after a loss.
#[test]
fn host_calls_a_guest_back() {
    let mut scene = Scene::opens("loot", 2, &SHORT, READY, None);
    scene.house.programs[0].is_walled = true;
    let guest = scene.joins("Béla", PERSON);
    let reply = |scene: &mut Scene, guest| {
        scene.until(guest, |event| match event {
            SessionEvent::Reaching { reply: Some(reply), .. } => Some(reply.parse::<Reply>().unwrap()),
            _ => None,
        })
    };
    let first = reply(&mut scene, guest);
    assert_eq!(first.guest(), scene.house.peer(guest).unwrap());
    // Longer than a minute passes until a person has sent it.
    scene.later(240);
    scene.does(guest, Command::CallBack(first.clone()));
    assert!(scene.refusal(guest).contains("only a host"));
    let other = Reply::new([9; 8], first.guest(), first.addresses().iter().cloned()).unwrap();
    scene.does(0, Command::CallBack(other));
    assert!(scene.refusal(0).contains("another table"));
    let own = Reply::new(first.lobby(), scene.house.peer(0).unwrap(), first.addresses().iter().cloned()).unwrap();
    scene.does(0, Command::CallBack(own));
    assert!(scene.refusal(0).contains("your own"));
    scene.does(0, Command::CallBack(first));
    let sits = |view: &LobbyView| view.seats.iter().flatten().count() == 2;
    scene.lobby(0, sits);
    scene.lobby(guest, sits);
    // The two lose each other in the lobby. The guest waits again, and the host calls again.
    scene.house.set_cut([0, guest], true);
    reply(&mut scene, guest);
    scene.later(30);
    scene.house.set_cut([0, guest], false);
    scene.lobby(0, sits);
    scene.does(guest, Command::Ready(true));
    scene.turn(0);
    // At the table both dial.
    scene.house.set_cut([0, guest], true);
    scene.peer(0, PeerState::Lost);
    scene.house.set_cut([0, guest], false);
    scene.peer(0, PeerState::Connected);
}

/// A reply that leads to nobody costs a try each ten seconds for ten minutes, and its player hears why.
#[test]
fn host_gives_a_call_up() {
    let mut scene = Scene::opens("loot", 2, &SHORT, READY, None);
    scene.house.programs[0].is_walled = true;
    let guest = scene.joins("Béla", PERSON);
    let reply = scene.until(guest, |event| match event {
        SessionEvent::Reaching { reply: Some(reply), .. } => Some(reply.parse::<Reply>().unwrap()),
        _ => None,
    });
    scene.house.programs[guest].is_walled = true;
    let before = scene.house.programs[0].dials;
    scene.does(0, Command::CallBack(reply));
    let told = scene.until(0, |event| match event {
        SessionEvent::Reach(words) if words.contains("within ten minutes") => Some(words.clone()),
        _ => None,
    });
    assert!(told.contains("no answer"), "{told}");
    assert_eq!(scene.house.programs[0].dials - before, 60);
    assert!(scene.error(guest).contains("can't reach the host"));
}

/// The host's lobby marks a guest in a browser, everybody else at the table is told, and nobody can call it back.
#[test]
fn seat_in_a_browser_is_told() {
    let mut scene = Scene::opens("loot", 3, &SHORT, READY, None);
    let other = scene.joins("Cleo", READY);
    scene.lobby(0, |view| view.seats.iter().flatten().count() == 2);
    let page = scene.joins("Béla", READY);
    scene.house.programs[page].is_page = true;
    let view = scene.lobby(0, |view| view.seats.iter().flatten().count() == 3);
    let marks: Vec<bool> = view.seats.iter().flatten().map(|taken| taken.in_browser).collect();
    assert_eq!(marks, [false, false, true]);
    for program in [0, other] {
        let told = scene.until(program, |event| match event {
            SessionEvent::Line(line) if line.contains("plays in a browser") => Some(line.clone()),
            _ => None,
        });
        assert!(told.starts_with("Béla"), "{told}");
    }
    scene.later(5);
    let is_told = |event: &SessionEvent| matches!(event, SessionEvent::Line(line) if line.contains("in a browser"));
    assert!(!scene.events(page).any(is_told));
}

/// A guest takes its seat with it, to a program of another player with an identity of its own.
#[test]
fn seat_moves_in_a_file() {
    let mut scene = Scene::opens("loot", 2, &SHORT, bot_of(50), None);
    let guest = scene.joins("Béla", bot_of(50));
    scene.turn(guest);
    scene.later(2);
    scene.house.stop(guest);
    let Some(JoinTarget::Ticket(ticket)) = scene.ticket.clone() else { panic!("a host has a ticket") };
    let key = scene.house.key(guest).unwrap().clone();
    let (place, kept) = scene.house.programs[guest].disk.journals.first_key_value().unwrap();
    let (place, kept) = (*place, kept.clone());
    assert!(kept.records.len() > 10, "it has played");
    let whole =
        |key: &SigningKey| SeatFile::new(ticket.clone(), key.clone(), kept.header.clone(), kept.records.clone());
    let bytes = whole(&key).unwrap().to_bytes();
    assert!(matches!(whole(scene.house.key(0).unwrap()), Err(SeatFileError::Mixed)));
    assert!(matches!(SeatFile::from_bytes(b"fairdeal transcript"), Err(SeatFileError::NotASeat)));
    assert!(matches!(SeatFile::from_bytes(b"fairdeal seat 2\n"), Err(SeatFileError::Version)));
    for at in (0..bytes.len()).step_by(97).chain([16, bytes.len() - 1]) {
        let mut damaged = bytes.to_vec();
        damaged[at] ^= 4;
        assert!(SeatFile::from_bytes(&damaged).is_err(), "byte {at}");
        assert!(SeatFile::from_bytes(&bytes[..at]).is_err(), "{at} bytes");
    }

    let file = SeatFile::from_bytes(&bytes).unwrap();
    assert_eq!((file.ticket(), file.key().to_bytes()), (&ticket, key.to_bytes()));
    let elsewhere = scene.house.add("a terminal");
    let place_of = ListenConfig { listen: vec!["/ip4/10.9.9.9/tcp/1".parse().unwrap()], ..ListenConfig::nowhere() };
    let seat = file.seat().unwrap();
    assert!(seat.header_moved(scene.house.key(elsewhere).unwrap(), &place_of).is_none(), "not its key");
    let header = seat.header_moved(file.key(), &place_of).unwrap().to_bytes();
    let moved = Kept { header, records: file.records().to_vec(), ended: false };
    scene.house.programs[elsewhere].disk.journals.insert(place, moved);
    assert!(scene.house.resume(elsewhere, bot_of(50), Attended::Nobody).unwrap());
    scene.all_over(&[0, elsewhere]);
}

/// The host leaves at its first turn; the others play on to a fair end without it.
#[test]
fn others_play_on_without_a_seat_that_leaves() {
    for (game, seats) in [("loot", 2), ("loot", 3), ("sphinxs-paw", 4), ("plutonian-poker", 3), ("houses-of-thoth", 3)]
    {
        let mut scene = Scene::opens(game, seats, &[], READY, None);
        let guests: Vec<usize> = (1..seats).map(|n| scene.joins(&format!("guest {n}"), bot_of(1))).collect();
        scene.turn(0);
        scene.does(0, Command::Leave);
        assert_eq!(scene.peer(0, PeerState::Left), seat(0), "{game}");
        let log = scene.all_over(&guests);
        scene.later(20);
        assert!(scene.house.saved(0).is_none(), "{game}: nothing waits");
        assert!(!scene.house.is_running(0), "{game}");
        let report = scene.report(guests[0]);
        assert_eq!((report.finding.clone(), report.left.len()), (None, 1), "{game}");
        assert_eq!(scene.transcript(guests[0]).log_hash(), log);
        let winners = scene.events(guests[0]).find_map(|event| match event {
            SessionEvent::Over { winners, .. } => Some(winners.clone()),
            _ => None,
        });
        assert!(!winners.unwrap().contains(&seat(0)), "{game}");
    }
}

/// Whoever acts and closes the program at once has acted all the same: it ends once its action is stored and sent.
#[test]
fn action_leaves_before_the_program_ends() {
    let mut scene = Scene::opens("loot", 3, &SHORT, bot_of(5), None);
    scene.house.sync = 200;
    let goes = scene.joins("Béla", READY);
    scene.lobby(goes, |view| view.me.is_some());
    scene.joins("Cleo", bot_of(5));
    let view = scene.turn(goes);
    scene.acts(goes, &view);
    scene.does(goes, Command::Quit);
    let me = view.me.unwrap();
    scene.until(0, |event| matches!(event, SessionEvent::Action { seat, .. } if *seat == me).then_some(()));
    assert!(!scene.house.is_running(goes) && scene.house.saved(goes).is_some());
}

/// One of two seats closes its program for good. The other's bot closes the table with a claim.
#[test]
fn last_seat_present_claims() {
    let mut scene = Scene::opens("loot", 2, &[("absence", "1")], bot_of(1), None);
    let guest = scene.joins("Béla", READY);
    scene.turn(guest);
    scene.does(guest, Command::Quit);
    let (by, absent) = scene.until(0, |event| match event {
        SessionEvent::Claimed { by, absent, .. } => Some((by.clone(), absent.clone())),
        _ => None,
    });
    assert_eq!((by, absent), (vec![seat(0)], vec![seat(1)]));
    let report = scene.report(0);
    assert_eq!((report.finding, report.end, report.claims.len()), (None, End::Unfinished, 1));
}

/// The other program dies in the player's own turn: the action stays visible while it waits, and so does the time until
/// the table may be closed.
#[test]
fn own_action_is_told_while_others_do_not_answer() {
    let mut scene = Scene::opens("loot", 2, &[("absence", "60")], READY, None);
    let guest = scene.joins("Béla", bot_of(1));
    let view = scene.turn(0);
    scene.acts(0, &view);
    let view = scene.turn(0);
    assert_eq!(view.waits.unanswering, SeatSet::EMPTY);
    // An action that is done at once is never told as one that waits.
    let waits = |event: &&SessionEvent| matches!(event, SessionEvent::Snapshot(view) if view.waits.pending.is_some());
    assert_eq!(scene.events(0).filter(waits).count(), 0);
    scene.house.stop(guest);
    scene.acts(0, &view);
    let made = scene.until(0, |event| match event {
        SessionEvent::Snapshot(view) if view.waits.pending.is_some() => Some(view.clone()),
        _ => None,
    });
    assert!(!made.my_turn && made.game == view.game);
    let waits = scene.until(0, |event| match event {
        SessionEvent::Snapshot(view) if !view.waits.unanswering.is_empty() => Some(view.waits.clone()),
        _ => None,
    });
    assert!(waits.pending.is_some());
    assert_eq!(waits.unanswering, SeatSet::one(seat(1)));
    let Some((Remedy::Close, left)) = waits.remedy else { panic!("{waits:?}") };
    assert!((40..60).contains(&left), "{left} s");
    let later = scene.until(0, |event| match event {
        SessionEvent::Snapshot(view) if view.waits.may_claim.is_some() => Some(view.waits.clone()),
        _ => None,
    });
    assert_eq!(later.remedy, None);
}

/// Anna acts and then closes the table while Béla is away. Her claim carries her action, so Béla's table goes on when
/// he comes back; he is told that it is over for him.
#[test]
fn closed_out_player_is_told() {
    let mut scene = Scene::opens("loot", 2, &[("absence", "2")], READY, None);
    let guest = scene.joins("Béla", READY);
    let view = scene.turn(0);
    scene.house.stop(guest);
    scene.acts(0, &view);
    scene.until(0, |event| match event {
        SessionEvent::Snapshot(view) => view.waits.may_claim,
        _ => None,
    });
    scene.does(0, Command::Claim);
    scene.until(0, |event| matches!(event, SessionEvent::Claimed { .. }).then_some(()));
    assert!(scene.house.resume(guest, READY, Attended::Person).unwrap());
    let told = scene.until(guest, |event| match event {
        SessionEvent::Snapshot(view) if !view.waits.closed_by.is_empty() => Some(view.clone()),
        _ => None,
    });
    assert_eq!(told.waits.closed_by, SeatSet::one(seat(0)));
}

/// Two of three programs die: the person of the third is told of both, and closes the table.
#[test]
fn person_closes_a_table_that_all_others_have_left() {
    let mut scene = Scene::opens("loot", 3, &[("absence", "2")], bot_of(1), None);
    let guest = scene.joins("Béla", READY);
    let other = scene.joins("Cleo", bot_of(1));
    let view = scene.turn(guest);
    scene.house.stop(0);
    scene.house.stop(other);
    scene.acts(guest, &view);
    let alone = scene.until(guest, |event| match event {
        SessionEvent::Snapshot(view) if view.waits.may_claim.is_some() => Some(view.clone()),
        _ => None,
    });
    assert_eq!(alone.connected, SeatSet::one(view.me.unwrap()));
    let lost = scene.events(guest).filter(|e| matches!(e, SessionEvent::Peer { state: PeerState::Lost, .. }));
    assert_eq!(lost.count(), 2);
    scene.does(guest, Command::Claim);
    scene.until(guest, |event| matches!(event, SessionEvent::Claimed { .. }).then_some(()));
}

/// A host and its bot return to a table that their guest has closed. Whatever arrives first, the two go on together: once
/// the guest is due, the host closes the table with a claim, which the bot signs too.
#[test]
fn bot_goes_on_with_its_player_after_a_claim() {
    let mut scene = Scene::opens("loot", 3, &[("absence", "2")], bot_of(50), None);
    scene.house.trip = 1;
    scene.house.sync = 20;
    let guest = scene.joins("Béla", READY);
    scene.lobby(0, |view| taken(view) == 2);
    let bot = scene.local_bot("Cleo");
    let draws = scene.turn(guest);
    scene.acts(guest, &draws);
    let view = scene.turn(guest);
    // The host is the only one who does not answer the end of the guest's turn. The bot is next.
    scene.house.programs[0].disk.is_full = true;
    scene.acts(guest, &view);
    scene.later(1);
    scene.house.stop(0);
    scene.house.programs[0].disk.is_full = false;
    let claim = |scene: &mut Scene, program: usize| {
        scene.until(program, |event| match event {
            SessionEvent::Claimed { by, absent, .. } => Some((by.clone(), absent.clone())),
            _ => None,
        })
    };
    scene.until(guest, |event| match event {
        SessionEvent::Snapshot(view) if view.waits.may_claim.is_some() => Some(()),
        _ => None,
    });
    scene.does(guest, Command::Claim);
    assert_eq!(claim(&mut scene, guest), (vec![seat(1)], vec![seat(0), seat(2)]));
    assert!(scene.house.resume(0, bot_of(50), Attended::Nobody).unwrap());
    assert!(scene.house.resume(bot, READY, Attended::Nobody).unwrap());
    for program in [0, bot] {
        assert_eq!(claim(&mut scene, program), (vec![seat(0), seat(2)], vec![seat(1)]), "{program}");
    }
    let report = scene.report(0);
    assert_eq!((report.finding, report.end, report.claims.len()), (None, End::Unfinished, 1));
    assert_eq!(scene.house.faults, [""; 0]);
}

/// A host returns with its bot, and the table is closed for it by its guest's claim. The bot may have gone on meanwhile; it
/// ends with its player.
#[test]
fn bot_ends_with_its_player_after_a_claim() {
    let mut scene = Scene::opens("loot", 3, &[("absence", "2")], bot_of(50), None);
    let guest = scene.joins("Béla", READY);
    scene.lobby(0, |view| taken(view) == 2);
    let bot = scene.local_bot("Cleo");
    let view = scene.turn(guest);
    scene.house.stop(0);
    scene.acts(guest, &view);
    scene.until(guest, |event| match event {
        SessionEvent::Snapshot(view) if view.waits.may_claim.is_some() => Some(()),
        _ => None,
    });
    scene.does(guest, Command::Claim);
    assert!(scene.house.resume(0, bot_of(50), Attended::Nobody).unwrap());
    assert!(scene.house.resume(bot, READY, Attended::Nobody).unwrap());
    let by = scene.until(0, |event| match event {
        SessionEvent::Claimed { by, .. } => Some(by.clone()),
        _ => None,
    });
    assert_eq!((by, scene.report(0).finding), (vec![seat(1)], None));
    scene.later(20);
    assert!([0, bot].iter().all(|program| !scene.house.is_running(*program)));
}

/// The same once the rules have ended the game: the bot stays for the others when its player goes, and ends too.
#[test]
fn bot_ends_after_its_player_has_finished_without_the_others() {
    let mut scene = Scene::opens("loot", 3, &[("target", "20"), ("absence", "2")], bot_of(50), None);
    let guest = scene.joins("Béla", bot_of(50));
    scene.lobby(0, |view| taken(view) == 2);
    let bot = scene.local_bot("Cleo");
    scene.until(guest, |event| match event {
        SessionEvent::Snapshot(view) if view.game.is_over() => Some(()),
        _ => None,
    });
    scene.house.stop(0);
    let (_, winners) = scene.over(guest);
    assert!(scene.house.resume(0, bot_of(50), Attended::Nobody).unwrap());
    assert!(scene.house.resume(bot, READY, Attended::Nobody).unwrap());
    assert_eq!(scene.over(0).1, winners);
    scene.house.play_on(0);
    scene.later(600);
    assert_eq!(scene.report(0).end, End::Finished);
    assert!([0, guest, bot].iter().all(|program| !scene.house.is_running(*program)));
}

/// A bot whose player has left plays on for the others, and ends once they have closed the table.
#[test]
fn bot_without_a_player_ends_when_the_others_have_closed() {
    let mut scene = Scene::opens("plutonian-poker", 3, &[("absence", "2")], READY, None);
    let guest = scene.joins("Béla", READY);
    scene.lobby(0, |view| taken(view) == 2);
    let bot = scene.local_bot("Cleo");
    scene.house.play_on(0);
    let view = scene.turn(guest);
    scene.does(0, Command::Leave);
    assert_eq!(scene.peer(guest, PeerState::Left), seat(0));
    scene.later(15);
    assert!(!scene.house.is_running(0));
    scene.house.set_cut([0, guest], true);
    scene.acts(guest, &view);
    scene.later(20);
    scene.does(guest, Command::Claim);
    scene.later(2);
    assert!(scene.house.is_running(bot), "it waits for the other");
    scene.house.set_cut([0, guest], false);
    scene.later(10);
    scene.house.stop(guest);
    scene.later(600);
    assert!(!scene.house.is_running(bot));
}

/// One of three programs is killed for good. After the absence timeout the others remove it and play to the end; when it
/// comes back it is told so.
#[test]
fn program_that_stays_away_is_removed() {
    for game in ["loot", "plutonian-poker"] {
        let mut scene = Scene::opens(game, 3, &[("absence", "2")], bot_of(20), None);
        let stays = scene.joins("stays", bot_of(20));
        scene.lobby(0, |view| taken(view) == 2);
        let goes = scene.joins("goes", bot_of(20));
        scene.turn(goes);
        scene.house.stop(goes);
        assert_eq!(scene.peer(0, PeerState::Absent), seat(2), "{game}");
        assert_eq!(scene.peer(stays, PeerState::Absent), seat(2), "{game}");
        assert!(scene.house.resume(goes, bot_of(20), Attended::Nobody).unwrap());
        let told = scene.until(goes, |event| match event {
            SessionEvent::Fault { stopped: true, what, .. } => Some(what.clone()),
            _ => None,
        });
        assert!(told.contains("play on"), "{told}");
        scene.all_over(&[0, stays]);
        assert_eq!(scene.report(0).left.len(), 1, "{game}");
    }
}

/// Programs crash after every few outputs, wherever that is, and come back: nothing is signed twice, nothing is lost.
#[test]
fn programs_that_crash_after_any_output_come_back() {
    let mut scene = Scene::opens("loot", 2, &[("target", "100")], bot_of(5), None);
    let guest = scene.joins("Béla", bot_of(5));
    scene.turn(0);
    let mut crashes = 0;
    for fuse in (0..120).map(|n| n * 7 % 23) {
        let which = if fuse % 2 == 0 { 0 } else { guest };
        if scene.house.is_running(which) {
            scene.house.programs[which].fuse = Some(fuse);
        }
        scene.house.run(scene.house.up() + 400);
        for program in [0, guest] {
            if !scene.house.is_running(program) && scene.house.saved(program).is_some() {
                crashes += 1;
                scene.house.resume(program, bot_of(5), Attended::Nobody).unwrap();
            }
        }
    }
    scene.later(200);
    assert!(crashes > 20, "{crashes} crashes");
    assert_eq!(scene.house.faults, [""; 0]);
    let logs = [0, guest].map(|program| scene.transcript(program).log_hash());
    assert_eq!(logs[0], logs[1]);
    assert!(scene.report(0).is_fair());
}

/// A full disk stops signing and nothing else: the others wait, chat passes, and nobody is removed.
#[test]
fn full_disk_stops_signing_and_nothing_else() {
    let mut scene = Scene::opens("loot", 3, &[("target", "20"), ("absence", "3")], bot_of(5), None);
    let guests = [scene.joins("Béla", bot_of(5)), scene.joins("Cleo", bot_of(5))];
    scene.turn(0);
    scene.house.programs[guests[0]].disk.is_full = true;
    let disk = |full: bool| {
        move |event: &SessionEvent| matches!(event, SessionEvent::Disk { full: is, .. } if *is == full).then_some(())
    };
    scene.until(guests[0], disk(true));
    // Many absence timeouts pass.
    scene.later(30);
    scene.does(guests[0], Command::Say("no space here".to_owned()));
    assert_eq!(scene.hears(0).2, "no space here");
    scene.house.programs[guests[0]].disk.is_full = false;
    scene.until(guests[0], disk(false));
    scene.all_over(&[0, guests[0], guests[1]]);
    assert!(scene.report(0).left.is_empty());
}

/// A guest whose disk is full promises nothing and signs nothing; a host whose disk is full opens nothing. Both go on.
#[test]
fn table_opens_once_every_disk_has_room() {
    let mut scene = Scene::opens("loot", 2, &SHORT, bot_of(1), None);
    let guest = scene.house.add("Béla");
    scene.house.programs[guest].disk.is_full = true;
    let (target, program) = (scene.ticket.clone().unwrap(), [2; 16].into());
    let role = Role::Guest { target, hands: bot_of(1), program, password: None, patience: Patience::AMinute };
    scene.house.start(guest, role, Attended::Nobody, Book::default()).unwrap();
    scene.later(5);
    assert!(scene.house.programs[guest].disk.promises.is_empty());
    scene.house.programs[0].disk.is_full = true;
    scene.house.programs[guest].disk.is_full = false;
    scene.later(5);
    assert!(!scene.events(0).any(|event| matches!(event, SessionEvent::Started { .. })));
    scene.house.programs[0].disk.is_full = false;
    scene.all_over(&[0, guest]);
}

/// The guest is gone for good, and the host has been restarted since: it closes the table with a claim, or for itself,
/// and the game stays saved.
#[test]
fn returned_program_closes_a_deserted_table() {
    let mut ends = Vec::new();
    for pause in [1, 40, 400, 1200] {
        let mut scene = Scene::opens("loot", 2, &[("absence", "2")], bot_of(300), None);
        let guest = scene.joins("Béla", bot_of(300));
        scene.turn(0);
        scene.house.run(scene.house.up() + pause);
        scene.house.stop(guest);
        scene.house.stop(0);
        assert!(scene.house.resume(0, bot_of(300), Attended::Nobody).unwrap());
        let end = scene.until(0, |event| match event {
            SessionEvent::Claimed { by, .. } => Some(by.len().to_string()),
            SessionEvent::Error(why) => Some(why.clone()),
            _ => None,
        });
        if end != "1" {
            assert!(end.contains("fairdeal resume"), "{end}");
            assert!(scene.house.saved(0).is_some());
        }
        ends.push(end == "1");
    }
    assert!(ends.contains(&true), "{ends:?}");
}

/// One program dies once the rules have ended the game. It finishes for the other after the absence timeout, and
/// for the dead one when it comes back.
#[test]
fn finished_game_stays_finished_when_a_program_dies() {
    let mut scene = Scene::opens("loot", 2, &[("target", "20"), ("absence", "2")], bot_of(1), None);
    let guest = scene.joins("Béla", bot_of(1));
    scene.until(0, |event| match event {
        SessionEvent::Snapshot(view) if view.game.is_over() => Some(()),
        _ => None,
    });
    scene.house.stop(guest);
    let (_, winners) = scene.over(0);
    assert_eq!((scene.report(0).finding, scene.report(0).end), (None, End::Finished));
    assert!(scene.house.resume(guest, bot_of(1), Attended::Nobody).unwrap());
    assert_eq!(scene.over(guest).1, winners);
    assert_eq!(scene.report(guest).end, End::Finished);
}

/// A block in the lobby sends a guest away, who then sees nothing either.
#[test]
fn blocked_key_is_not_admitted() {
    let mut scene = Scene::opens("loot", 3, &SHORT, PERSON, None);
    let guest = scene.joins("Béla", PERSON);
    scene.lobby(0, |view| taken(view) == 2);
    let mut book = Book::default();
    book.change(scene.house.peer(guest).unwrap(), Some("Béla"), &Change::Blocked(true)).unwrap();
    scene.house.tell_book(0, book);
    assert!(scene.error(guest).contains("removed you"));
    scene.lobby(0, |view| taken(view) == 1);
    let target = scene.ticket.clone().unwrap();
    let role = Role::Watcher { target, password: None };
    scene.house.start(guest, role, Attended::Person, Book::default()).unwrap();
    assert!(scene.error(guest).contains("does not admit you"));
}

/// Strangers who write without end are dropped, in the lobby and at the table, and disturb nobody.
#[test]
fn endless_frames_of_strangers_are_dropped() {
    let mut scene = Scene::opens("loot", 2, &SHORT, bot_of(20), None);
    let host: PeerId = scene.house.peer(0).unwrap();
    let loud = scene.house.add("loud");
    scene.house.dials_by_hand(loud, host);
    scene.later(1);
    assert_eq!(scene.house.read_by_hand(loud), Some(ByHand::Connected(host)));
    for _ in 0..200 {
        scene.house.send_by_hand(loud, host, &Frame::Ready(true));
    }
    scene.later(1);
    assert_eq!(scene.house.read_by_hand(loud), Some(ByHand::Gone(host)));
    let lobby = scene.ticket.as_ref().unwrap().lobby();
    let greedy = scene.house.add("greedy");
    scene.house.dials_by_hand(greedy, host);
    scene.later(1);
    scene.house.send_by_hand(greedy, host, &Frame::Watch(Watch { lobby, proof: None }));
    let guest = scene.joins("Béla", bot_of(20));
    let (mut pages, mut dropped) = (0, false);
    for _ in 0..3_000 {
        scene.house.run(scene.house.up() + 20);
        while let Some(event) = scene.house.read_by_hand(greedy) {
            let frame = match event {
                ByHand::Frame(_, frame) => *frame,
                ByHand::Gone(_) => {
                    dropped = true;
                    continue;
                }
                ByHand::Connected(_) => continue,
            };
            match frame {
                Frame::Show(showing) => {
                    let more = Frame::More { table: showing.charter.table(), mark: Mark::default() };
                    scene.house.send_by_hand(greedy, host, &more);
                }
                // It always asks again, from positions it does not have.
                Frame::Page { table, .. } => {
                    pages += 1;
                    for entries in 0..64 {
                        let mark = Mark { entries, last: Hash32([7; 32]) };
                        scene.house.send_by_hand(greedy, host, &Frame::More { table, mark });
                    }
                }
                _ => {}
            }
        }
        if dropped {
            break;
        }
    }
    assert!(dropped && (1..100).contains(&pages), "{pages} pages");
    scene.all_over(&[0, guest]);
}

/// One seed gives one run, to the byte.
#[test]
fn one_seed_gives_one_run() {
    let run = || {
        let mut scene = Scene::opens("plutonian-poker", 3, &[], bot_of(1), Some("sésame"));
        let all = [0, scene.joins("Béla", bot_of(1)), scene.joins("Cleo", bot_of(1)), scene.watches("", bot_of(1))];
        scene.all_over(&all);
        scene.house.digest()
    };
    assert_eq!(run(), run());
}

/// A guest that is driven by hand, and sends whatever it likes.
struct Rogue {
    number: usize,
    host: PeerId,
    lobby: GuestLobby,
    own: Join,
}

impl Rogue {
    fn joins(scene: &mut Scene) -> Self {
        let number = scene.house.add("rogue");
        let (host, key) = (scene.house.peer(0).unwrap(), scene.house.key(number).unwrap().clone());
        let own = Join {
            lobby: scene.ticket.as_ref().unwrap().lobby(),
            name: Text::try_from("rogue".to_owned()).unwrap(),
            nonce: [7; 32],
            record: AddressRecord::sign(&key, &[], 7),
            proof: None,
            program: [7; 16].into(),
            played_by: PlayedBy::Person,
        };
        scene.house.dials_by_hand(number, host);
        scene.later(1);
        let lobby = GuestLobby::new(host, key, own.clone(), false, false);
        let mut rogue = Self { number, host, lobby, own };
        rogue.says(scene, &Frame::Join(rogue.own.clone()));
        rogue.answers(scene);
        rogue
    }

    fn says(&self, scene: &mut Scene, frame: &Frame) {
        scene.house.send_by_hand(self.number, self.host, frame);
    }

    /// For a second it answers as a guest does in the lobby.
    fn answers(&mut self, scene: &mut Scene) {
        for _ in 0..20 {
            scene.house.run(scene.house.up() + 50);
            while let Some(event) = scene.house.read_by_hand(self.number) {
                if let ByHand::Frame(_, frame) = event {
                    let (outbox, _) = self.lobby.receive(self.host, *frame).unwrap();
                    outbox.iter().for_each(|(_, frame)| self.says(scene, frame));
                }
            }
        }
    }
}

/// A flood of chat, in the lobby and at the table: escape sequences, messages in others' names, and invitations. Only a
/// few get through, cleaned, and everybody else is heard as before.
#[test]
fn flooding_chat_is_rate_limited() {
    let mut scene = Scene::opens("loot", 3, &SHORT, PERSON, None);
    let guest = scene.joins("Béla", PERSON);
    scene.lobby(guest, |view| view.me == Some(seat(1)));
    let mut rogue = Rogue::joins(&mut scene);
    scene.lobby(0, |view| taken(view) == 3);
    let text = |text: String| Text::try_from(text).unwrap();
    let peer = scene.house.peer(rogue.number).unwrap();
    let invites = |lobby: u8, host: PeerId| {
        let ticket = Ticket::new([lobby; 8], host, ["/ip4/192.0.2.1/tcp/4".parse().unwrap()]).unwrap();
        Frame::Invite { ticket: Text::try_from(ticket.to_string()).unwrap() }
    };
    let mut flood = vec![
        Frame::Say(text("spam [2J31m".to_owned())),
        Frame::Say(text(format!("spam a{}", "\u{301}".repeat(40)))),
        Frame::Say(text(format!("spam {}", "\u{1f600}".repeat(270)))),
        Frame::Said { seat: seat(0), text: text("I am Anna".to_owned()) },
        Frame::Said { seat: seat(1), text: text("I am Béla".to_owned()) },
        invites(9, rogue.host),
        Frame::Invite { ticket: Text::try_from("fd1nonsense".to_owned()).unwrap() },
    ];
    flood.extend((0..10).map(|lobby| invites(lobby, peer)));
    let floods = |scene: &mut Scene, rogue: &mut Rogue| {
        for _ in 0..5 {
            for _ in 0..20 {
                flood.iter().for_each(|frame| rogue.says(scene, frame));
            }
            rogue.answers(scene);
        }
        scene.does(guest, Command::Say("who is that?".to_owned()));
        for reader in [0, guest] {
            let mut spam = 0;
            loop {
                let (by, name, line) = scene.hears(reader);
                if by == 1 {
                    break assert_eq!(line, "who is that?");
                }
                assert_eq!((by, name.as_str()), (2, "rogue"), "nobody else has said a thing");
                assert!(line.starts_with("spam") && line.chars().count() <= 280, "{line}");
                // The receiver's program cuts piles of marks, and shows no character that hides or steers.
                assert!(!line.contains(&"\u{301}".repeat(4)), "{line:?}");
                assert!(!line.chars().any(|c| c.is_control() || c == '\u{202e}'), "{line:?}");
                spam += 1;
            }
            assert!((1..30).contains(&spam), "{spam} of 200 lines");
        }
    };
    floods(&mut scene, &mut rogue);
    scene.does(0, Command::Ready(true));
    scene.does(guest, Command::Ready(true));
    rogue.lobby.set_ready(true).iter().for_each(|(_, frame)| rogue.says(&mut scene, frame));
    rogue.answers(&mut scene);
    // It plays no card, only chats.
    floods(&mut scene, &mut rogue);
    let invited = scene.events(0).filter_map(|event| match event {
        SessionEvent::Invited { seat, ticket, .. } => Some((seat.index(), ticket.parse::<Ticket>().unwrap().host())),
        _ => None,
    });
    assert_eq!(invited.collect::<Vec<_>>(), [(2, peer); MAX_INVITATIONS]);
}
