//! Whole programs in virtual time: sessions with their disks, joined by links that are slow, break and come back.
//!
//! Everything is drawn from one seed, so that a run can be repeated, and compared with one in a browser: [`House::digest`]
//! covers every message, journal and transcript. The house plays no game by itself; a test starts programs, gives
//! commands and breaks things, and lets time pass ([`House::run`]).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::path::PathBuf;

use ed25519_dalek::SigningKey;
use fairdeal_games::bots::{Bot, Level};
use fairdeal_games::chance::RefereeChance;
use fairdeal_games::{AnyAction, AnyGame};
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::crypto::shuffle::ShuffleProof;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::body::{Body, Shuffled};
use fairdeal_protocol::log::entry::Entry;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::clocks::Now;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_protocol::wire::codec::encode;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::events::{Command, SessionEvent};
use crate::frame::Frame;
use crate::group::{Group, MemberId};
use crate::header::SavedSeat;
use crate::io::{
    Closed, Input, Journal, Output, PeerInput, Question, SavedGame, Store, StoreFault, StoreId, Stored, ThoughtId,
    Transport,
};
use crate::people::Book;
use crate::session::{Resumed, Session};
use crate::setup::{Attended, Hands, ListenConfig, Player, Role, Setup, StartError};
use crate::solved::could_have_sealed;

/// How long after a failed dial or a broken link the next one comes, in milliseconds.
const REDIAL: u64 = 1_000;
/// How long a bot thinks, in milliseconds.
const THINKS: u64 = 20;
/// The wall clock at the beginning.
const WALL: u64 = 1_790_000_000_000;

/// The journal of a seat on a disk.
#[derive(Clone, Debug)]
pub struct Kept {
    pub header: Zeroizing<Vec<u8>>,
    pub records: Vec<Zeroizing<Vec<u8>>>,
    pub ended: bool,
    /// Whether its program was closed in order. Not so for a copy.
    pub is_clean: bool,
}

/// A seat at a table.
pub type Place = (Hash32, Seat);

/// The journal that a session writes, if it has one.
pub type Open = Option<Place>;

/// A program's disk.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    pub journals: BTreeMap<Place, Kept>,
    pub promises: BTreeSet<Place>,
    /// The transcripts by table, each with whether a player saved it.
    pub transcripts: BTreeMap<Hash32, (Transcript, bool)>,
    pub evidence: Vec<Vec<u8>>,
    /// Whether nothing more fits on it.
    pub is_full: bool,
}

impl Disk {
    /// Carries out an order for the session that writes to `open`.
    pub fn carry_out(&mut self, order: Store, open: &mut Open) -> Result<Stored, StoreFault> {
        let grows =
            !matches!(order, Store::End | Store::Remove | Store::Met { .. } | Store::Close { .. } | Store::Solve(_));
        if self.is_full && grows {
            return Err(StoreFault::Full("no space".to_owned()));
        }
        let missing = || StoreFault::Failed("this table has no journal".to_owned());
        match order {
            Store::Begin(journal) => Ok(self.begin(journal, open)),
            Store::Return(journal) => {
                let place = (journal.table, journal.seat);
                if self.promises.contains(&place) {
                    return Ok(self.begin(journal, open));
                }
                let kept = self.journals.get_mut(&place).ok_or_else(missing)?;
                *open = Some(place);
                let is_clean = std::mem::take(&mut kept.is_clean);
                Ok(Stored::Journal { records: records(kept), is_clean, evidence: 0 })
            }
            Store::Append(records) => {
                let kept = open.and_then(|place| self.journals.get_mut(&place)).ok_or_else(missing)?;
                kept.records.extend(records.iter().cloned());
                Ok(Stored::Done)
            }
            Store::Reserve | Store::Met { .. } => Ok(Stored::Done),
            Store::MarkClean => {
                if let Some(kept) = open.and_then(|place| self.journals.get_mut(&place)) {
                    kept.is_clean = true;
                }
                Ok(Stored::Done)
            }
            Store::Solve(transcript) => Ok(Stored::Solved(could_have_sealed(*transcript))),
            Store::End => {
                if let Some(kept) = open.and_then(|place| self.journals.get_mut(&place)) {
                    kept.ended = true;
                }
                Ok(Stored::Done)
            }
            Store::Remove => {
                if let Some(place) = open.take() {
                    self.journals.remove(&place);
                }
                Ok(Stored::Done)
            }
            Store::Promise { table, seat, instead_of, .. } => {
                self.promises.insert((table, seat));
                if let Some(before) = instead_of {
                    self.promises.remove(&before);
                }
                Ok(Stored::Done)
            }
            Store::Evidence(evidence) => {
                self.evidence.push(evidence.bytes);
                Ok(Stored::File(Some(PathBuf::from("evidence"))))
            }
            Store::Close { evidence, transcript } => Ok(Stored::Closed(self.close(evidence.len(), transcript, *open))),
            Store::Watched(saved) => {
                self.transcripts.entry(saved.table).or_insert((saved.transcript, false));
                Ok(Stored::File(Some(PathBuf::from("transcript"))))
            }
        }
    }

    fn begin(&mut self, journal: Journal, open: &mut Open) -> Stored {
        let place = (journal.table, journal.seat);
        self.journals
            .insert(place, Kept { header: journal.header, records: Vec::new(), ended: false, is_clean: false });
        self.promises.remove(&place);
        *open = Some(place);
        Stored::Journal { records: Vec::new(), is_clean: false, evidence: 0 }
    }

    fn close(&mut self, evidence: usize, transcript: Option<Box<SavedGame>>, open: Option<Place>) -> Closed {
        if self.is_full && (evidence > 0 || transcript.is_some()) {
            return Closed { missing: Some("The transcript is not saved: no space".to_owned()), ..Closed::default() };
        }
        let path = transcript.map(|saved| {
            self.transcripts.insert(saved.table, (saved.transcript, true));
            PathBuf::from("transcript")
        });
        if let Some(kept) = open.and_then(|place| self.journals.get_mut(&place)) {
            kept.ended = true;
        }
        Closed { transcript: path, ..Closed::default() }
    }
}

fn records(kept: &Kept) -> Vec<Record> {
    kept.records.iter().filter_map(|bytes| Record::from_bytes(bytes).ok()).collect()
}

/// A player's key and disk, and the session that runs now. A local bot runs in its player's program: both crash together,
/// and the bot pauses when the player does.
pub struct Program {
    pub name: String,
    key: SigningKey,
    pub disk: Disk,
    /// The player in whose program it runs: itself, unless it is a local bot.
    owner: usize,
    session: Option<MemberId>,
    bot: Option<Box<dyn Bot<AnyGame>>>,
    /// Whether its local bots play on once its own session ends.
    plays_on: bool,
    /// Counts the starts; what an earlier one waits for does not arrive any more.
    boot: u64,
    open: Open,
    orders: VecDeque<(StoreId, Store)>,
    /// The peers that it dials.
    keeps: BTreeSet<PeerId>,
    /// The peers that it dials once.
    once: BTreeSet<PeerId>,
    /// How often it has dialled.
    pub dials: u32,
    /// Nobody can dial it: a router is before it.
    pub is_walled: bool,
    /// It is a page in a browser, which listens nowhere.
    pub is_page: bool,
    /// All that its player has been told, over all starts, each with its time.
    pub told: Vec<(u64, SessionEvent)>,
    /// Events that the player has not looked at yet.
    unread: VecDeque<SessionEvent>,
    /// The address book, which its disk keeps.
    book: Book,
    /// After so many more outputs the program crashes.
    pub fuse: Option<u32>,
    /// The arrivals at a program without a session, which somebody drives by hand; `None` otherwise.
    by_hand: Option<VecDeque<ByHand>>,
}

/// An event of a program that is driven by hand.
#[derive(Debug, PartialEq, Eq)]
pub enum ByHand {
    Connected(PeerId),
    Gone(PeerId),
    Frame(PeerId, Box<Frame>),
}

/// Something that happens later.
#[derive(Debug)]
enum Later {
    /// A dial arrives, or is repeated.
    Dials {
        from: usize,
        to: usize,
        boot: u64,
    },
    /// Bytes arrive over a link; `None` closes it after all before.
    Arrives {
        link: u64,
        to: usize,
        bytes: Option<Vec<u8>>,
    },
    /// The store gets to the next order.
    Stores {
        program: usize,
        boot: u64,
    },
    Thinks {
        program: usize,
        boot: u64,
        id: ThoughtId,
        action: Option<AnyAction>,
    },
    /// The sessions of a program may be due.
    Wakes {
        owner: usize,
    },
}

/// A connection of two programs.
#[derive(Debug)]
struct Link {
    /// The program that dialed, and the other.
    ends: (usize, usize),
    /// When the last bytes to each end arrive: order is kept.
    last: BTreeMap<usize, u64>,
}

impl Link {
    fn has(&self, end: usize) -> bool {
        self.ends.0 == end || self.ends.1 == end
    }

    fn other(&self, end: usize) -> usize {
        if self.ends.0 == end { self.ends.1 } else { self.ends.0 }
    }
}

/// Programs, their links, and the time.
pub struct House {
    up: u64,
    rng: ChaCha20Rng,
    pub programs: Vec<Program>,
    /// The sessions that run, by the player in whose program they do.
    groups: BTreeMap<usize, Group>,
    later: BinaryHeap<Reverse<(u64, u64)>>,
    events: BTreeMap<u64, Later>,
    next: u64,
    links: BTreeMap<u64, Link>,
    /// Pairs that cannot reach each other now.
    cut: BTreeSet<[usize; 2]>,
    /// The relays of all programs.
    pub relays: Vec<Multiaddr>,
    /// One trip between two programs, and one order to a store, in milliseconds.
    pub trip: u64,
    pub sync: u64,
    trace: Sha256,
    /// The number of bytes sent.
    pub traffic: u64,
    /// The entries that seats have sent, by table, seat and step.
    signed: BTreeMap<(Hash32, Seat, u64), Hash32>,
    /// The drafts that programs send, as far as they have left, by sender and receiver.
    drafts: BTreeMap<(usize, PeerId), Vec<u8>>,
    /// The decks that preparations in drafts have served.
    prepared: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Number of whole drafts that have left.
    pub(crate) drafted: usize,
    /// The size of the longest frame with an action or an answer to one, in bytes.
    pub(crate) longest_move: usize,
    /// Faults that no program may have: an entry that was not stored, or two entries for one place.
    pub faults: Vec<String>,
}

impl House {
    /// An empty house.
    pub fn new(seed: u64) -> Self {
        Self {
            up: 1_000,
            rng: ChaCha20Rng::seed_from_u64(seed),
            programs: Vec::new(),
            relays: Vec::new(),
            groups: BTreeMap::new(),
            later: BinaryHeap::new(),
            events: BTreeMap::new(),
            next: 0,
            links: BTreeMap::new(),
            cut: BTreeSet::new(),
            trip: 40,
            sync: 5,
            trace: Sha256::new(),
            traffic: 0,
            signed: BTreeMap::new(),
            drafts: BTreeMap::new(),
            prepared: BTreeMap::new(),
            drafted: 0,
            longest_move: 0,
            faults: Vec::new(),
        }
    }

    /// The time, in milliseconds since some moment.
    pub fn up(&self) -> u64 {
        self.up
    }

    /// The wall clock, in milliseconds since 1970.
    pub fn wall(&self) -> u64 {
        WALL + self.up
    }

    fn now(&self) -> Now {
        Now { up: self.up, wall: self.wall() }
    }

    /// The hash of every message so far, and of all journals and transcripts now.
    pub fn digest(&self) -> [u8; 32] {
        let mut trace = self.trace.clone();
        for program in &self.programs {
            for ((table, seat), kept) in &program.disk.journals {
                trace.update(table.as_bytes());
                trace.update([u8::try_from(seat.index()).unwrap_or(u8::MAX)]);
                trace.update(&*kept.header);
                kept.records.iter().for_each(|record| trace.update(&**record));
            }
            for (transcript, _) in program.disk.transcripts.values() {
                trace.update(transcript.to_bytes().unwrap_or_default());
            }
        }
        trace.finalize().into()
    }

    /// Adds a program that does not run yet.
    pub fn add(&mut self, name: &str) -> usize {
        let mut seed = [0; 32];
        self.rng.fill_bytes(&mut seed);
        let owner = self.programs.len();
        self.push(name, SigningKey::from_bytes(&seed), owner)
    }

    /// Adds a local bot of a program, which does not run yet.
    pub fn add_bot(&mut self, owner: usize, name: &str) -> usize {
        let bot = self.add(name);
        if let Some(program) = self.programs.get_mut(bot) {
            program.owner = owner;
        }
        bot
    }

    /// Adds a program of the same player: the player's next table, beside the one that runs. While both run, the earlier
    /// one holds the address.
    pub fn add_again(&mut self, program: usize) -> Option<usize> {
        let before = self.programs.get(program)?;
        let (name, key) = (before.name.clone(), before.key.clone());
        Some(self.push(&name, key, self.programs.len()))
    }

    fn push(&mut self, name: &str, key: SigningKey, owner: usize) -> usize {
        self.programs.push(Program {
            name: name.to_owned(),
            key,
            disk: Disk::default(),
            owner,
            session: None,
            bot: None,
            plays_on: false,
            boot: 0,
            open: None,
            orders: VecDeque::new(),
            keeps: BTreeSet::new(),
            once: BTreeSet::new(),
            dials: 0,
            is_walled: false,
            is_page: false,
            told: Vec::new(),
            unread: VecDeque::new(),
            book: Book::default(),
            fuse: None,
            by_hand: None,
        });
        self.programs.len() - 1
    }

    pub fn peer(&self, program: usize) -> Option<PeerId> {
        self.programs.get(program).map(|program| PeerId::of(&program.key))
    }

    /// Whether a program keeps a connection to a peer, and dials it whenever there is none.
    pub fn calls(&self, program: usize, peer: PeerId) -> bool {
        self.programs.get(program).is_some_and(|program| program.keeps.contains(&peer))
    }

    /// Where a program listens.
    fn address(program: usize) -> Multiaddr {
        let text = format!("/ip4/10.0.{}.{}/tcp/4001", program / 250, program % 250 + 1);
        text.parse().unwrap_or_else(|_| Multiaddr::empty())
    }

    fn place(&self, program: usize) -> ListenConfig {
        ListenConfig { listen: vec![Self::address(program)], relays: self.relays.clone(), ..ListenConfig::nowhere() }
    }

    fn player(&self, program: usize, attended: Attended) -> Option<Player> {
        let program = self.programs.get(program)?;
        Some(Player { key: program.key.clone(), name: program.name.clone(), attended, book: program.book.clone() })
    }

    /// Starts a program in a role.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn start(&mut self, program: usize, role: Role, attended: Attended, book: Book) -> Result<(), StartError> {
        if let Some(program) = self.programs.get_mut(program) {
            program.book = book;
        }
        let Some(me) = self.player(program, attended) else {
            return Ok(());
        };
        let setup = Setup { me, role, place: self.place(program) };
        let session = Session::start(setup, self.now(), &mut self.rng)?;
        self.runs(program, session, None);
        Ok(())
    }

    /// The first journal of a program that has not ended.
    pub fn saved(&self, program: usize) -> Option<(Place, SavedSeat)> {
        let disk = &self.programs.get(program)?.disk;
        let saved = disk.journals.iter().filter(|(place, kept)| !kept.ended && !disk.promises.contains(place));
        let mut seats = saved.filter_map(|(place, kept)| Some((*place, SavedSeat::new(&kept.header, false).ok()?)));
        seats.next()
    }

    /// Starts a program again from its journal. Returns whether there is one.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn resume(&mut self, program: usize, hands: Hands, attended: Attended) -> Result<bool, StartError> {
        let Some((place, seat)) = self.saved(program) else {
            return Ok(false);
        };
        let Some(me) = self.player(program, attended) else {
            return Ok(false);
        };
        let mut kept = self.programs.get_mut(program).and_then(|program| program.disk.journals.get_mut(&place));
        let is_clean = kept.as_mut().is_some_and(|kept| std::mem::take(&mut kept.is_clean));
        let records = kept.map(|kept| records(kept)).unwrap_or_default();
        let me = Player { key: seat.own_key().unwrap_or(me.key), ..me };
        if let Some(program) = self.programs.get_mut(program) {
            // Others find it by the key that it plays with.
            program.key = me.key.clone();
        }
        let resumed = Resumed { seat, records, is_clean, evidence: 0, friend: None, by_letter: false };
        let session = Session::resume(resumed, me, hands, self.now(), &mut self.rng)?;
        self.runs(program, session, Some(place));
        Ok(true)
    }

    fn runs(&mut self, number: usize, session: Session, open: Option<Place>) {
        self.stop(number);
        if let Some(program) = self.programs.get_mut(number) {
            let owner = program.owner;
            program.session = Some(self.groups.entry(owner).or_default().add(session));
            program.plays_on = false;
            program.open = open;
            self.carry_out(owner);
        }
    }

    /// The local bots of a player.
    pub fn bots_of(&self, owner: usize) -> Vec<usize> {
        let all = self.programs.iter().enumerate();
        all.filter(|(number, program)| program.owner == owner && *number != owner).map(|(number, _)| number).collect()
    }

    /// Lets a program without a session dial somebody; its frames are written by hand.
    pub fn dials_by_hand(&mut self, number: usize, to: PeerId) {
        if let Some(program) = self.programs.get_mut(number) {
            program.by_hand = Some(VecDeque::new());
        }
        self.transport(number, &Transport::Keep { peer: to, at: Vec::new() });
    }

    /// Sends a frame from a program that is driven by hand.
    pub fn send_by_hand(&mut self, number: usize, to: PeerId, frame: &Frame) {
        self.send(number, to, &frame.to_bytes());
    }

    /// The next arrival at a program that is driven by hand.
    pub fn read_by_hand(&mut self, number: usize) -> Option<ByHand> {
        self.programs.get_mut(number)?.by_hand.as_mut()?.pop_front()
    }

    /// A program's key.
    pub fn key(&self, number: usize) -> Option<&SigningKey> {
        self.programs.get(number).map(|program| &program.key)
    }

    /// Ends a program at once, as a crash does, with its local bots: what it had not stored is gone, and what was on the
    /// way.
    pub fn stop(&mut self, number: usize) {
        for bot in self.bots_of(number) {
            self.stop(bot);
        }
        let Some(program) = self.programs.get_mut(number) else {
            return;
        };
        if program.owner == number {
            self.groups.remove(&number);
        }
        program.session = None;
        program.bot = None;
        program.boot += 1;
        program.open = None;
        program.orders.clear();
        program.keeps.clear();
        let links: Vec<u64> = self.links.iter().filter(|(_, link)| link.has(number)).map(|(id, _)| *id).collect();
        for link in links {
            self.break_link(link);
        }
    }

    /// Whether a program runs.
    pub fn is_running(&self, program: usize) -> bool {
        self.programs.get(program).is_some_and(|program| program.session.is_some() || program.by_hand.is_some())
    }

    /// Gives a command to a program that runs.
    pub fn command(&mut self, program: usize, command: Command) {
        self.handle(program, Input::Command(command));
    }

    /// Changes a program's address book.
    pub fn tell_book(&mut self, number: usize, book: Book) {
        if let Some(program) = self.programs.get_mut(number) {
            program.book = book.clone();
        }
        self.handle(number, Input::Book(book));
    }

    /// Cuts two programs off from each other, or lets them reach each other again.
    pub fn set_cut(&mut self, mut pair: [usize; 2], is_cut: bool) {
        pair.sort_unstable();
        if !is_cut {
            self.cut.remove(&pair);
            return;
        }
        self.cut.insert(pair);
        let is_between = |link: &Link| self.machines(link.ends.0, link.ends.1) == pair;
        let links: Vec<u64> = self.links.iter().filter(|(_, link)| is_between(link)).map(|(id, _)| *id).collect();
        for link in links {
            self.break_link(link);
        }
    }

    /// The programs in which two players run, in order.
    fn machines(&self, one: usize, other: usize) -> [usize; 2] {
        let mut pair = [one, other].map(|number| self.programs.get(number).map_or(number, |program| program.owner));
        pair.sort_unstable();
        pair
    }

    /// Closes a link at once: what was on the way is lost. Whoever keeps the other dials again later.
    fn break_link(&mut self, id: u64) {
        let Some(link) = self.links.remove(&id) else {
            return;
        };
        for (from, to) in [link.ends, (link.ends.1, link.ends.0)] {
            if let (Some(peer), true) = (self.peer(from), self.is_running(to)) {
                self.handle(to, Input::Peer(peer, PeerInput::Gone));
            }
            self.dial_later(to, from, REDIAL);
        }
    }

    fn dial_later(&mut self, from: usize, to: usize, after: u64) {
        let (Some(peer), Some(program)) = (self.peer(to), self.programs.get(from)) else {
            return;
        };
        if program.keeps.contains(&peer) {
            let boot = program.boot;
            self.at(self.up + after, Later::Dials { from, to, boot });
        }
    }

    fn at(&mut self, up: u64, what: Later) {
        self.next += 1;
        self.later.push(Reverse((up.max(self.up), self.next)));
        self.events.insert(self.next, what);
    }

    /// The program that answers at a player's address: the first one of the player that runs.
    fn number_of(&self, peer: PeerId) -> Option<usize> {
        let all = || self.programs.iter().enumerate().filter(|(_, program)| PeerId::of(&program.key) == peer);
        let mut running = all().filter(|(number, _)| self.is_running(*number));
        running.next().or_else(|| all().next()).map(|(number, _)| number)
    }

    /// A program's link to a peer, and the program at its other end.
    fn link_to(&self, from: usize, peer: PeerId) -> Option<(u64, usize)> {
        let ends = self.links.iter().filter(|(_, link)| link.has(from)).map(|(id, link)| (*id, link.other(from)));
        let mut all = ends.filter(|(_, to)| self.peer(*to) == Some(peer));
        all.next()
    }

    fn handle(&mut self, number: usize, input: Input) {
        let now = self.now();
        if let Some(by_hand) = self.programs.get_mut(number).and_then(|program| program.by_hand.as_mut()) {
            by_hand.extend(match input {
                Input::Peer(peer, PeerInput::Connected(_)) => Some(ByHand::Connected(peer)),
                Input::Peer(peer, PeerInput::Gone) => Some(ByHand::Gone(peer)),
                Input::Peer(peer, PeerInput::Frame(bytes)) => {
                    Frame::from_bytes(&bytes).ok().map(|frame| ByHand::Frame(peer, Box::new(frame)))
                }
                _ => None,
            });
            return;
        }
        let Some((owner, member)) =
            self.programs.get(number).and_then(|program| Some((program.owner, program.session?)))
        else {
            return;
        };
        if let Some(group) = self.groups.get_mut(&owner) {
            group.handle(member, input, now, &mut self.rng);
            self.carry_out(owner);
        }
    }

    /// Carries out all that the sessions of a program want.
    fn carry_out(&mut self, owner: usize) {
        loop {
            let now = self.now();
            let Some(group) = self.groups.get_mut(&owner) else { return };
            let Some((member, output)) = group.poll(now, &mut self.rng) else {
                if let Some(wake) = group.wake() {
                    self.at(wake, Later::Wakes { owner });
                }
                // Some drivers let their sessions prepare, others do not: nobody must be able to tell.
                while owner % 2 == 1 && self.groups.get(&owner).is_some_and(Group::can_prepare) {
                    self.groups.entry(owner).or_default().prepare();
                }
                return;
            };
            if let Some(fuse) = self.programs.get_mut(owner).and_then(|program| program.fuse.as_mut()) {
                if *fuse == 0 {
                    if let Some(program) = self.programs.get_mut(owner) {
                        program.fuse = None;
                    }
                    return self.stop(owner);
                }
                *fuse -= 1;
            }
            let runs = |program: &Program| program.owner == owner && program.session == Some(member);
            let Some(number) = self.programs.iter().position(runs) else { continue };
            self.carry_out_one(number, output);
        }
    }

    fn carry_out_one(&mut self, number: usize, output: Output) {
        let Some(program) = self.programs.get_mut(number) else { return };
        let boot = program.boot;
        match output {
            Output::Send { to, bytes, .. } => {
                for peer in to {
                    self.send(number, peer, &bytes);
                }
            }
            Output::Transport(order) => self.transport(number, &order),
            Output::Store(id, Store::Met { .. }) => self.handle(number, Input::Stored(id, Ok(Stored::Done))),
            Output::Store(id, order) => {
                let is_idle = program.orders.is_empty();
                program.orders.push_back((id, order));
                if is_idle {
                    self.at(self.up + self.sync, Later::Stores { program: number, boot });
                }
            }
            Output::Think(id, question) => {
                if RefereeChance::guessed(&question.game, question.seat, &question.known, question.seed).is_none() {
                    self.faults.push(format!("{} asks its bot about a position that no deal fits", program.name));
                }
                let bot = program.bot.get_or_insert_with(|| fairdeal_games::bot(Level::Normal));
                let Question { game, seat, known, seed } = *question;
                let action = bot.choose(&game, seat, &known, &mut ChaCha20Rng::from_seed(seed));
                self.at(self.up + THINKS, Later::Thinks { program: number, boot, id, action });
            }
            Output::Program(_) => {}
            Output::Tell(event) => {
                program.told.push((self.up, event.clone()));
                program.unread.push_back(event);
            }
            Output::Ended => {
                // The orders that are left are carried out before the program ends.
                while let Some((_, order)) = program.orders.pop_front() {
                    let _ = program.disk.carry_out(order, &mut program.open);
                }
                let plays_on = program.plays_on;
                self.close_after_all(number);
                if !plays_on {
                    self.bots_of(number).into_iter().for_each(|bot| self.command(bot, Command::Quit));
                }
            }
        }
    }

    /// Lets the local bots of a program play on once its own session ends.
    pub fn play_on(&mut self, number: usize) {
        if let Some(program) = self.programs.get_mut(number) {
            program.plays_on = true;
        }
    }

    /// Ends a program whose session has ended: what it has sent still arrives.
    fn close_after_all(&mut self, number: usize) {
        if let Some(program) = self.programs.get_mut(number) {
            program.session = None;
            program.bot = None;
            program.boot += 1;
            program.open = None;
            program.keeps.clear();
        }
        let links: Vec<(u64, usize)> = self
            .links
            .iter()
            .filter(|(_, link)| link.has(number))
            .map(|(id, link)| (*id, link.other(number)))
            .collect();
        for (link, to) in links {
            self.post(link, to, None);
        }
    }

    fn send(&mut self, from: usize, peer: PeerId, bytes: &[u8]) {
        self.witness(from, peer, bytes);
        let Some((link, to)) = self.link_to(from, peer) else { return };
        self.trace.update(self.up.to_le_bytes());
        self.trace.update(bytes);
        self.traffic += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.post(link, to, Some(bytes.to_vec()));
    }

    /// Looks at what leaves a program: its own entries must be in its journal, but for the first one, which it can write
    /// again; and there is one for each place.
    fn witness(&mut self, from: usize, to: PeerId, bytes: &[u8]) {
        let frame = match Frame::from_bytes(bytes) {
            Ok(Frame::Draft { at, bytes }) => return self.witness_draft(from, to, at, &bytes),
            Ok(Frame::Spliced { before, after, .. }) => {
                let draft = self.drafts.get(&(from, to)).map_or(&[][..], Vec::as_slice);
                Frame::from_bytes(&[&before, draft, &after].concat())
            }
            frame => frame,
        };
        if let (Ok(Frame::Sign { table, first, .. }), Some(program)) = (&frame, self.programs.get(from))
            && let Some(seat) = first.claimed_seat()
            && self.signed.insert((*table, seat, 0), first.hash()).is_some_and(|before| before != first.hash())
        {
            self.faults.push(format!("{} signs its first step twice", program.name));
        }
        let Some((program, place)) = self.programs.get(from).and_then(|program| Some((program, program.open?))) else {
            return;
        };
        let Ok(Frame::Table { message: Message::Entries(entries), .. }) = frame else {
            return;
        };
        let Some(kept) = program.disk.journals.get(&place) else {
            return;
        };
        let mut shuffles = Vec::new();
        let own = entries.iter().filter(|entry| entry.claimed_seat() == Some(place.1));
        for entry in own {
            let hash = entry.hash();
            let is_stored = kept.records.iter().rev().any(|bytes| match Record::from_bytes(bytes) {
                Ok(Record::Entry(stored)) => stored.hash() == hash,
                _ => false,
            });
            if !is_stored {
                self.faults.push(format!("{} sends an entry that is not on its disk", program.name));
            }
            let charter = SavedSeat::new(&kept.header, false).ok();
            let entry = charter.and_then(|saved| entry.verify(saved.charter()).ok());
            let body = entry.as_ref().map(Entry::body);
            if body.is_some_and(|body| matches!(body, Body::Act { .. } | Body::Ack { .. })) {
                self.longest_move = self.longest_move.max(bytes.len());
            }
            shuffles.extend(body.and_then(|body| body.shuffled().or_else(|| body.part()?.shuffled())).cloned());
            if let Some(step) = entry.map(|entry| entry.step())
                && self.signed.insert((place.0, place.1, step), hash).is_some_and(|before| before != hash)
            {
                self.faults.push(format!("{} signs step {step} twice", program.name));
            }
        }
        shuffles.iter().for_each(|shuffled| self.witness_shuffle(from, shuffled));
    }

    /// Looks at a draft: a preparation serves one deck.
    fn witness_draft(&mut self, from: usize, to: PeerId, at: u16, fragment: &[u8]) {
        let draft = self.drafts.entry((from, to)).or_default();
        draft.truncate(usize::from(at));
        draft.extend_from_slice(fragment);
        if let Ok(whole) = Shuffled::from_draft(Hash32::default(), draft) {
            self.drafted = self.drafted.saturating_add(1);
            self.witness_shuffle(from, &whole);
        }
    }

    fn witness_shuffle(&mut self, from: usize, shuffled: &Shuffled) {
        let ShuffleProof::Staged(proof) = &shuffled.proof else { return };
        // The first commitment to a permutation, behind their number, is like no other preparation's.
        let preparation = encode(&**proof).into_iter().skip(1).take(32).collect();
        let deck = encode(&shuffled.deck);
        if self.prepared.insert(preparation, deck.clone()).is_some_and(|before| before != deck) {
            let name = self.programs.get(from).map_or("", |program| &program.name);
            self.faults.push(format!("{name} shuffles two decks with one preparation"));
        }
    }

    fn post(&mut self, id: u64, to: usize, bytes: Option<Vec<u8>>) {
        let jitter = u64::from(self.rng.next_u32()) % (self.trip / 4 + 1);
        let Some(link) = self.links.get_mut(&id) else { return };
        let last = link.last.entry(to).or_default();
        let at = (self.up + self.trip + jitter).max(*last);
        *last = at;
        self.at(at, Later::Arrives { link: id, to, bytes });
    }

    fn transport(&mut self, number: usize, order: &Transport) {
        match order {
            Transport::Keep { peer, .. } => {
                let Some(to) = self.number_of(*peer) else { return };
                let Some(program) = self.programs.get_mut(number) else { return };
                let is_new = program.keeps.insert(*peer);
                let boot = program.boot;
                if is_new && self.link_to(number, *peer).is_none() {
                    self.at(self.up + 2 * self.trip, Later::Dials { from: number, to, boot });
                }
            }
            Transport::Dial { peer, .. } => {
                let Some(to) = self.number_of(*peer) else { return };
                let Some(program) = self.programs.get_mut(number) else { return };
                let boot = program.boot;
                program.once.insert(*peer);
                self.at(self.up + 2 * self.trip, Later::Dials { from: number, to, boot });
            }
            Transport::Forget(peer) => {
                if let Some(program) = self.programs.get_mut(number) {
                    program.keeps.remove(peer);
                }
            }
            Transport::Close { peer, .. } => {
                if let Some(program) = self.programs.get_mut(number) {
                    program.keeps.remove(peer);
                }
                if let Some((link, to)) = self.link_to(number, *peer) {
                    self.post(link, to, None);
                }
            }
            Transport::Locate => {
                let is_page = self.programs.get(number).is_some_and(|program| program.is_page);
                let addresses = if is_page { Vec::new() } else { vec![Self::address(number)] };
                self.handle(number, Input::Addresses(addresses));
            }
            Transport::Seat(_) | Transport::Admit(_) | Transport::Dismiss(_) | Transport::Announce { .. } => {}
        }
    }

    /// Lets time pass until then.
    pub fn run(&mut self, until: u64) {
        while let Some(Reverse((at, number))) = self.later.peek().copied() {
            if at > until {
                break;
            }
            self.later.pop();
            self.up = self.up.max(at);
            if let Some(what) = self.events.remove(&number) {
                self.happens(what);
            }
        }
        self.up = self.up.max(until);
    }

    /// An event that a program's player has not looked at yet.
    pub fn read(&mut self, program: usize) -> Option<SessionEvent> {
        self.programs.get_mut(program)?.unread.pop_front()
    }

    fn runs_since(&self, program: usize, boot: u64) -> bool {
        self.programs.get(program).is_some_and(|program| program.boot == boot) && self.is_running(program)
    }

    fn happens(&mut self, what: Later) {
        match what {
            Later::Dials { from, to, boot } => self.dials(from, to, boot),
            Later::Arrives { link, to, bytes } => {
                let Some(from) = self.links.get(&link).map(|link| link.other(to)) else { return };
                match (bytes, self.peer(from)) {
                    (Some(bytes), Some(peer)) => self.handle(to, Input::Peer(peer, PeerInput::Frame(bytes))),
                    _ => self.break_link(link),
                }
            }
            Later::Stores { program: number, boot } => {
                if !self.runs_since(number, boot) {
                    return;
                }
                let Some(program) = self.programs.get_mut(number) else { return };
                let Some((id, order)) = program.orders.pop_front() else { return };
                let answer = program.disk.carry_out(order, &mut program.open);
                if !program.orders.is_empty() {
                    self.at(self.up + self.sync, Later::Stores { program: number, boot });
                }
                self.handle(number, Input::Stored(id, answer));
            }
            Later::Thinks { program, boot, id, action } => {
                if self.runs_since(program, boot) {
                    self.handle(program, Input::Thought(id, action));
                }
            }
            Later::Wakes { owner } => {
                let now = self.now();
                if let Some(group) =
                    self.groups.get_mut(&owner).filter(|group| group.wake().is_some_and(|due| due <= now.up))
                {
                    group.time(now, &mut self.rng);
                    self.carry_out(owner);
                }
            }
        }
    }

    fn dials(&mut self, from: usize, to: usize, boot: u64) {
        let (Some(one), Some(other)) = (self.peer(from), self.peer(to)) else {
            return;
        };
        let to = self.number_of(other).unwrap_or(to);
        let (is_new, is_linked) = (self.runs_since(from, boot), self.link_to(from, other).is_some());
        let Some(program) = self.programs.get_mut(from) else { return };
        let keeps = program.once.remove(&other) || program.keeps.contains(&other);
        if !is_new || !keeps || is_linked {
            return;
        }
        program.dials += 1;
        let pair = self.machines(from, to);
        let is_walled = self.programs.get(to).is_some_and(|program| program.is_walled || program.is_page);
        if !self.is_running(to) || is_walled || self.cut.contains(&pair) {
            let why = "no answer: connection refused".to_owned();
            self.handle(from, Input::Peer(other, PeerInput::Unreachable(why)));
            return self.dial_later(from, to, REDIAL);
        }
        self.next += 1;
        self.links.insert(self.next, Link { ends: (from, to), last: BTreeMap::new() });
        self.handle(to, Input::Peer(one, PeerInput::Connected(None)));
        self.handle(from, Input::Peer(other, PeerInput::Connected(None)));
    }
}
