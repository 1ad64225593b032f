//! Games by mail: players who look in at random hours and are never online together, and letters that are lost, late,
//! repeated, changed on their way, or for another table. Programs crash, and their journals are replaced by copies.
//!
//! No seat may sign two entries for one place (invariant 1), nobody is blamed (3), every game ends (11), and all have one
//! log, which is fair (2, 3).

use std::collections::BTreeMap;

use ed25519_dalek::SigningKey;
use fairdeal_games::bots::{Bot, Level};
use fairdeal_games::{AnyGame, bot, rule_set};
use fairdeal_link::letter;
use fairdeal_peers::PeerId;
use fairdeal_peers::ticket::{JoinTarget, Ticket};
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::extensions::Extension;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::clocks::Now;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::header::SavedSeat;
use fairdeal_session::io::{Input, Output, Transport};
use fairdeal_session::letter::{Letter, LetterNews, Written};
use fairdeal_session::people::Book;
use fairdeal_session::session::{Resumed, Session};
use fairdeal_session::setup::{Attended, Hands, Patience, Player, Role};
use fairdeal_session::testing::house::{Disk, House, Open, Place};
use fairdeal_session::view::Snapshot;
use fairdeal_testkit::random::{happens, stream};
use rand_chacha::ChaCha20Rng;
use rand_core::Rng as _;
use sha2::{Digest as _, Sha256};

use super::Outcome;
use super::tally::Tally;

/// Visits after which a game has to be over.
const MOST_VISITS: u64 = 4_000;
/// A day, in milliseconds.
const DAY: u64 = 24 * 3_600_000;

/// A player at home.
struct Home {
    key: SigningKey,
    disk: Disk,
    place: Place,
    bot: Box<dyn Bot<AnyGame>>,
    /// The letters that wait, as a point keeps them: one of each author; and those that are late.
    waiting: BTreeMap<Seat, Vec<u8>>,
    late: Vec<Vec<u8>>,
    is_over: bool,
    /// Whether the last visit has not ended in order, or there was none.
    has_news: bool,
    /// The session, if the last visit has left it running, as a keeper does.
    running: Option<(Session, Open)>,
}

/// A letter that has come.
struct Came {
    author: Seat,
    letter: Letter,
    sealed: Vec<u8>,
}

/// The games of one seed.
struct Post {
    rng: ChaCha20Rng,
    homes: Vec<Home>,
    charter: SignedCharter,
    wall: u64,
    /// The entry that each seat has shown for a step.
    signed: BTreeMap<(Seat, u64), Hash32>,
    tally: Tally,
    failures: Vec<String>,
    trace: Sha256,
    /// How often in a thousand a letter is lost, and a program crashes.
    lost: u32,
    crashes: u32,
}

/// Plays a game by mail.
pub(crate) fn play(seed: u64) -> Outcome {
    let mut post = Post::begin(seed);
    let mut visits = 0;
    while post.homes.iter().any(|home| !home.is_over) && post.failures.is_empty() {
        let who = (post.rng.next_u32() as usize) % post.homes.len();
        post.visit(who);
        visits += 1;
        if visits == MOST_VISITS {
            post.failures.push("the game does not end".to_owned());
        }
    }
    post.check();
    post.tally.add("visits", visits);
    let Post { tally, failures, trace, .. } = post;
    Outcome { trace: Hash32(trace.finalize().into()), tally, failures }
}

impl Post {
    /// A table begins with all of them online, and they close their programs at some moment.
    fn begin(seed: u64) -> Self {
        let mut rng = stream(seed, 77);
        let (game, most) = [("loot", 4), ("plutonian-poker", 4)][rng.next_u32() as usize % 2];
        let seats = 2 + (rng.next_u32() as u8) % (most - 1);
        let times = [("turn-time", "1w"), ("absence", "1w"), ("bank", "1w"), ("holidays", "30")];
        let times = times.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let target = (game == "loot").then(|| ("target".to_owned(), "1".to_owned()));
        let rules = rule_set(game, seats, &times.into_iter().chain(target).collect()).unwrap();
        let mut house = House::new(seed);
        let hands = Hands::Person { ready: true };
        let programs: Vec<usize> = (0..seats).map(|seat| house.add(&format!("player {}", seat + 1))).collect();
        let role = Role::Host { rules, hands, program: [1; 16].into(), password: None };
        house.start(programs[0], role, Attended::Person, Book::default()).unwrap();
        house.run(house.up() + 2_000);
        let told = std::iter::from_fn(|| house.read(programs[0]));
        let ticket = told.filter_map(|event| match event {
            SessionEvent::Lobby(view) => view.ticket,
            _ => None,
        });
        let ticket: Ticket = ticket.last().unwrap().parse().unwrap();
        for program in &programs[1..] {
            let (target, patience) = (JoinTarget::Ticket(ticket.clone()), Patience::AMinute);
            let id = [*program as u8 + 1; 16].into();
            let role = Role::Guest { target, hands, program: id, password: None, patience };
            house.start(*program, role, Attended::Person, Book::default()).unwrap();
        }
        while programs.iter().any(|program| house.saved(*program).is_none()) {
            house.run(house.up() + 100);
        }
        house.run(house.up() + u64::from(rng.next_u32() % 4_000));
        programs.iter().for_each(|program| house.command(*program, Command::Quit));
        house.run(house.up() + 3_000);
        let charter = house.saved(programs[0]).unwrap().1.charter().clone();
        let homes = programs.iter().map(|program| Home {
            key: house.key(*program).unwrap().clone(),
            place: house.saved(*program).unwrap().0,
            disk: house.programs[*program].disk.clone(),
            bot: bot(Level::Normal),
            waiting: BTreeMap::new(),
            late: Vec::new(),
            is_over: false,
            has_news: true,
            running: None,
        });
        let (lost, crashes) =
            ([0, 100, 200, 400][rng.next_u32() as usize % 4], [0, 5, 10, 20][rng.next_u32() as usize % 4]);
        let mut tally = Tally::default();
        tally.add(&format!("{game}, {seats} seats"), 1);
        let (mut homes, signed, failures) = (homes.collect::<Vec<Home>>(), BTreeMap::new(), house.faults.clone());
        // Guests sit in the order in which they have come.
        homes.sort_by_key(|home| home.place.1);
        let trace = Sha256::new();
        Self { rng, homes, charter, wall: 1_800_000_000_000, signed, tally, failures, trace, lost, crashes }
    }

    /// The letters that have come: one may be late and come after the next one of its author, some come twice, and some are
    /// not what their author wrote, or for another table.
    fn fetched(&mut self, who: usize) -> Vec<Came> {
        let (charter, me) = (&self.charter, Seat::new(who).unwrap());
        let (home, rng) = (&mut self.homes[who], &mut self.rng);
        let mut sealed: Vec<Vec<u8>> = std::mem::take(&mut home.waiting).into_values().collect();
        if happens(rng, 300) {
            sealed.append(&mut home.late);
        }
        for place in (0..sealed.len()).rev() {
            if happens(rng, 150) {
                home.late.push(sealed[place].clone());
                self.tally.add("letters repeated", 1);
            } else if happens(rng, 100) {
                home.late.push(sealed.swap_remove(place));
                self.tally.add("letters late", 1);
            }
        }
        let mut letters = Vec::new();
        for sealed in sealed {
            if happens(rng, 50) {
                let mut changed = sealed.clone();
                let place = rng.next_u32() as usize % changed.len();
                changed[place] ^= 1 << (rng.next_u32() % 8);
                assert!(Letter::open(charter, me, &home.key, &changed).is_err(), "a changed letter opens");
                let peers: Vec<PeerId> = charter.charter().seated().map(|(_, player)| player.key.into()).collect();
                assert!(letter::open(&home.key, &peers, &[9; 32], &sealed).is_err(), "a letter opens at another table");
            }
            let (author, letter) = Letter::open(charter, me, &home.key, &sealed).unwrap();
            letters.push(Came { author, letter, sealed });
        }
        for Came { author, letter, .. } in &letters {
            watch(letter, *author, &self.charter, &mut self.signed, &mut self.failures);
        }
        letters
    }

    /// A player looks in: reads, acts, writes to all others, and closes the program in order or not, or leaves it running.
    fn visit(&mut self, who: usize) {
        self.wall += u64::from(self.rng.next_u32()) % DAY;
        let letters = self.fetched(who);
        let home = &mut self.homes[who];
        let has_news = std::mem::replace(&mut home.has_news, false);
        // Nothing has come, and nothing was left to do: most of these visits end here.
        if letters.is_empty() && !has_news && happens(&mut self.rng, 800) {
            return;
        }
        let seats = self.homes.len();
        let place = self.homes[who].place;
        if !self.homes[who].disk.journals.contains_key(&place) {
            // All others have shown that it is over for them too.
            return;
        }
        let mut desk = Desk::open(&mut self.homes[who], &letters, self.wall, &mut self.rng);
        for came in &letters {
            desk.hear(Input::Command(Command::ReadLetter(came.sealed.clone())), &mut self.rng);
        }
        if desk.crashes(&mut self.rng, self.crashes) {
            self.tally.add("crashes", 1);
            return self.crashed(who);
        }
        let mut acted = 0;
        while let Some(now) = desk.shown.take_if(|now| now.my_turn && !now.game.is_over()) {
            let me = now.me.unwrap();
            let more = match self.rng.next_u32() % 60 {
                0 => Some(Extension::Give { to: Seat::first(seats).find(|seat| *seat != me).unwrap(), seconds: 60 }),
                1 if now.holidays_left > 0 => {
                    let tomorrow = u32::try_from(self.wall / DAY).unwrap() + 1;
                    let first = now.holidays.iter().map(|(_, end)| *end).fold(tomorrow, u32::max);
                    Some(Extension::Holiday { first, days: 1 })
                }
                _ => None,
            };
            if let Some(more) = more {
                desk.hear(Input::Command(Command::Extend(more)), &mut self.rng);
            }
            let action = desk.home.bot.choose(&now.game, me, &now.known, &mut self.rng).unwrap();
            desk.hear(Input::Command(Command::Act(action)), &mut self.rng);
            acted += 1;
        }
        self.tally.add("actions", acted);
        self.tally.add("extensions heard of", desk.extended);
        let mut written = Vec::new();
        for seat in Seat::first(seats).filter(|seat| seat.index() != who) {
            desk.written = None;
            desk.hear(Input::Command(Command::WriteLetter(seat)), &mut self.rng);
            match desk.written.take() {
                Some(letter) if !letter.covered => written.push(letter),
                _ => self.tally.add("letters spared", 1),
            }
        }
        let crashes = desk.crashes(&mut self.rng, self.crashes);
        let stays = !crashes && happens(&mut self.rng, 200);
        if !crashes && !stays {
            desk.hear(Input::Command(Command::Quit), &mut self.rng);
        }
        if !desk.blamed.is_empty() {
            self.failures.append(&mut desk.blamed);
        }
        if stays {
            self.tally.add("programs left running", 1);
            let (session, open) = (desk.session, desk.open);
            self.homes[who].running = open.is_some().then_some((session, open));
        }
        for Written { to, sealed, .. } in written {
            // What was signed is out, whatever becomes of the letter.
            let (_, letter) = Letter::open(&self.charter, to, &self.homes[to.index()].key, &sealed).unwrap();
            watch(&letter, place.1, &self.charter, &mut self.signed, &mut self.failures);
            self.trace.update(&sealed);
            self.tally.most("bytes of a letter", sealed.len() as u64);
            if happens(&mut self.rng, self.lost) {
                self.tally.add("letters lost", 1);
            } else {
                self.tally.add("letters", 1);
                self.homes[to.index()].waiting.insert(place.1, sealed);
            }
        }
        if crashes {
            self.tally.add("crashes", 1);
            self.crashed(who);
        }
    }

    /// The journal is not clean any more: a crash, or a copy in its place.
    fn crashed(&mut self, who: usize) {
        let home = &mut self.homes[who];
        home.has_news = true;
        if let Some(kept) = home.disk.journals.get_mut(&home.place) {
            kept.is_clean = false;
        }
    }

    /// All have the same log, and it is fair.
    fn check(&mut self) {
        if !self.failures.is_empty() {
            return;
        }
        let mut logs = Vec::new();
        for home in &self.homes {
            if !home.disk.evidence.is_empty() {
                self.failures.push("somebody is blamed".to_owned());
            }
            match home.disk.transcripts.get(&home.place.0) {
                Some((transcript, _)) => logs.push(transcript.clone()),
                None => self.failures.push("a game that is over has no transcript".to_owned()),
            }
        }
        let Some(first) = logs.first() else { return };
        let mut said = BTreeMap::new();
        for signed in logs.iter().flat_map(Transcript::extensions) {
            let (seat, version) = (signed.extensions().seat, signed.extensions().version);
            if said.entry((seat, version)).or_insert(signed) != &signed {
                self.failures.push(format!("{seat} has stated two extensions of version {version}"));
            }
        }
        let known = logs.iter().map(Transcript::extensions);
        self.tally.add(
            "extensions that all know",
            u64::from(known.clone().all(|all| !all.is_empty() && all == first.extensions())),
        );
        let report = audit::<AnyGame>(first);
        if !report.is_fair() || logs.iter().any(|log| log.entries() != first.entries()) {
            self.failures.push(format!("the logs differ, or are not fair: {:?}", report.finding));
        }
    }
}

/// Notes the entries that a seat shows of itself. Two for one place are a fault.
fn watch(
    letter: &Letter,
    author: Seat,
    charter: &SignedCharter,
    signed: &mut BTreeMap<(Seat, u64), Hash32>,
    failures: &mut Vec<String>,
) {
    for message in letter.messages() {
        let Message::Entries(entries) = message else { continue };
        for entry in entries.iter().filter_map(|entry| entry.verify(charter).ok()) {
            let first = *signed.entry((entry.seat(), entry.step())).or_insert(entry.hash());
            if first != entry.hash() {
                failures.push(format!("{} has two entries for step {}, {author} shows", entry.seat(), entry.step()));
            }
        }
    }
}

/// A seat at its desk: a session without a network.
struct Desk<'a> {
    home: &'a mut Home,
    session: Session,
    open: Open,
    wall: u64,
    written: Option<Written>,
    shown: Option<Box<Snapshot>>,
    blamed: Vec<String>,
    /// How many extensions of time it has heard of.
    extended: u64,
}

impl<'a> Desk<'a> {
    fn open(home: &'a mut Home, letters: &[Came], wall: u64, rng: &mut ChaCha20Rng) -> Self {
        if let Some((session, open)) = home.running.take() {
            return Self { home, session, open, wall, written: None, shown: None, blamed: Vec::new(), extended: 0 };
        }
        let kept = home.disk.journals.get_mut(&home.place).unwrap();
        let records: Vec<Record> = kept.records.iter().map(|bytes| Record::from_bytes(bytes).unwrap()).collect();
        let seat = SavedSeat::new(&kept.header, kept.ended).unwrap();
        let more = letters.iter().any(|came| came.letter.shows_more_of(seat.seat(), seat.charter(), &records));
        let is_clean = std::mem::take(&mut kept.is_clean) && !more;
        let resumed = Resumed { seat, records, is_clean, evidence: 0, friend: None, by_letter: true };
        let (key, name) = (home.key.clone(), String::new());
        let player = Player { key, name, attended: Attended::Person, book: Book::default() };
        let now = Now { up: 1_000, wall };
        let session = Session::resume(resumed, player, Hands::Person { ready: true }, now, rng).unwrap();
        let open = Some(home.place);
        let mut desk = Self { home, session, open, wall, written: None, shown: None, blamed: Vec::new(), extended: 0 };
        desk.settle(rng);
        desk
    }

    fn crashes(&self, rng: &mut ChaCha20Rng, often: u32) -> bool {
        happens(rng, often)
    }

    fn hear(&mut self, input: Input, rng: &mut ChaCha20Rng) {
        self.session.handle(input, Now { up: 1_000, wall: self.wall }, rng);
        self.settle(rng);
    }

    fn settle(&mut self, rng: &mut ChaCha20Rng) {
        while let Some(output) = self.session.poll() {
            let answer = match output {
                Output::Store(id, order) => Input::Stored(id, self.home.disk.carry_out(order, &mut self.open)),
                Output::Transport(Transport::Locate) => Input::Addresses(Vec::new()),
                Output::Tell(event) => {
                    self.told(event);
                    continue;
                }
                Output::Send { .. } | Output::Transport(_) | Output::Think(..) | Output::Program(_) | Output::Ended => {
                    continue;
                }
            };
            self.session.handle(answer, Now { up: 1_000, wall: self.wall }, rng);
        }
    }

    fn told(&mut self, event: SessionEvent) {
        match event {
            SessionEvent::Snapshot(now) => self.shown = Some(now),
            SessionEvent::Over { .. } => self.home.is_over = true,
            SessionEvent::Extended { .. } => self.extended += 1,
            SessionEvent::Fault { what, .. } => self.blamed.push(what),
            SessionEvent::Error(why) => self.blamed.push(why),
            SessionEvent::Refused(why) => self.blamed.push(format!("an action is refused: {why}")),
            SessionEvent::Letter(post) => match *post {
                LetterNews::Written(written) => self.written = Some(written),
                LetterNews::Read { refused, .. } => self.blamed.extend(refused),
                LetterNews::Refused(why) => self.blamed.push(format!("a letter is refused: {why}")),
            },
            _ => {}
        }
    }
}
