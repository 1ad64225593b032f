//! Sessions in virtual time, from a ticket to the transcript.

mod absence;
mod clean;
mod extended;
mod premove;
mod slow;
mod ways;

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
        Self::opens_in(House::new(7), game, seats, options, hands, password)
    }

    fn opens_in(
        house: House,
        game: &str,
        seats: u8,
        options: &[(&str, &str)],
        hands: Hands,
        password: Option<&'static str>,
    ) -> Self {
        let options = options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let rules = rule_set(game, seats, &options.collect()).unwrap();
        let mut scene = Self { house, ticket: None, password };
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

    /// The turn of a person, while another one takes its own.
    fn turn_while(&mut self, program: usize, other: usize) -> Box<Snapshot> {
        for _ in 0..10_000 {
            while let Some(event) = self.house.read(other) {
                if let SessionEvent::Snapshot(view) = event
                    && view.my_turn
                {
                    self.acts(other, &view);
                }
            }
            while let Some(event) = self.house.read(program) {
                if let SessionEvent::Snapshot(view) = event
                    && view.my_turn
                {
                    return view;
                }
            }
            self.house.run(self.house.up() + 10);
        }
        panic!("{program} waits in vain for its turn");
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

/// Nobody waits for a shuffle of the next deck with a move: it is there before.
#[test]
fn shuffles_for_the_next_deal_leave_before_their_entries() {
    for delay in [1, 1500] {
        let mut scene = Scene::opens("loot", 3, &[("target", "60")], bot_of(delay), None);
        let all = [0, scene.joins("Béla", bot_of(delay)), scene.joins("Cleo", bot_of(delay))];
        scene.all_over(&all);
        let transcript = scene.transcript(0);
        let entries = transcript.entries().iter().filter_map(|signed| signed.verify(transcript.charter()).ok());
        let ahead = entries.filter(|entry| entry.body().part().is_some_and(|part| part.shuffled().is_some())).count();
        // Quick bots leave little time.
        let least = if delay == 1 { 0 } else { 3 };
        assert!(ahead > least && scene.house.drafted > ahead, "{delay}: {ahead} decks, {} drafts", scene.house.drafted);
        assert!(scene.house.longest_move < 4_000, "{delay}: {} bytes", scene.house.longest_move);
        assert!(scene.report(0).is_fair());
    }
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

    // While it closes it may be found once more: nothing is heard from it, so it has still paused.
    let host = scene.house.peer(0).unwrap();
    scene.house.dials_by_hand(guest, host);
    scene.peer(0, PeerState::Connected);
    scene.house.set_cut([0, guest], true);
    scene.peer(0, PeerState::Paused);
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
    rogue.lobby.set_ready(true).unwrap().iter().for_each(|(_, frame)| rogue.says(&mut scene, frame));
    rogue.answers(&mut scene);
    // It plays no card, only chats.
    floods(&mut scene, &mut rogue);
    let invited = scene.events(0).filter_map(|event| match event {
        SessionEvent::Invited { seat, ticket, .. } => Some((seat.index(), ticket.parse::<Ticket>().unwrap().host())),
        _ => None,
    });
    assert_eq!(invited.collect::<Vec<_>>(), [(2, peer); MAX_INVITATIONS]);
}
