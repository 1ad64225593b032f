//! A card game of one's own on the protocol crate: the rules of High Card, a whole table of it in one
//! process, and the audit of what was played.
//!
//! `cargo run --example own_game` plays it. Each seat is dealt one sealed card of thirteen. In turn, each
//! keeps its card, or once shows it and takes the top card of the deck instead. Then all cards are opened,
//! and the highest wins.
//!
//! The rules know nothing of cryptography, and the table nothing of High Card. All that a game has to do is
//! to write a hidden card as a *handle* (which deck, which place in it), never as a face, and to ask its
//! [`Chance`] for whatever is random or hidden. Only `fairdeal_protocol` is used here, with `serde` for the
//! encoding, and a generator and signing keys such as any program brings along.

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::fmt;
use std::io::Write;

use ed25519_dalek::SigningKey;
use fairdeal_protocol::audit::auditor::{Report, audit};
use fairdeal_protocol::card::{Face, Faces, Handle, Slot};
use fairdeal_protocol::charter::{Charter, Player, SignedCharter};
use fairdeal_protocol::game::{
    ApplyError, Chance, Flip, Game, Illegal, Pause, RuleSet, RuleSetError, Shown,
};
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::{Event as TableEvent, Output, Table, To};
use fairdeal_protocol::table::replica::News;
use fairdeal_protocol::timing::Timing;
use fairdeal_protocol::transcript::Transcript;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;
use serde::{Deserialize, Serialize};

const NAMES: [&str; 4] = ["Ann", "Ben", "Cleo", "Dora"];
const CARDS: [&str; 13] = [
    "2", "3", "4", "5", "6", "7", "8", "9", "10", "jack", "queen", "king", "ace",
];

// ---- The rules ----

/// A seat's possible actions. The encoding of this goes into its signed entry, so the order of the variants is
/// part of the rules: whoever changes it gives the rules another version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Action {
    Keep,
    /// Shows the own card and lays it aside for the top card. An action that shows a sealed card names its
    /// handle and the face that its owner claims.
    Swap {
        card: Handle,
        face: Face,
    },
}

/// An event for the log in words: public knowledge only.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) enum Event {
    Begins(Seat),
    Keeps(Seat),
    Swaps(Seat, Face),
    Opens(Seat, Face),
}

/// The public state: what somebody who only watches knows. All seats compare a hash of its encoding at
/// every step, so it must come out the same on every machine: integers, ordered collections, no clock, no
/// randomness of its own. What one seat knows beyond it is no part of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct HighCard {
    /// How many there were when it began.
    size: u8,
    /// Seats that have not left.
    playing: SeatSet,
    /// Seats that have yet to keep or swap. The game is over when there are none.
    undecided: SeatSet,
    turn: Option<Seat>,
    /// The cards that nobody has, the top one last.
    deck: Vec<Handle>,
    hands: BTreeMap<Seat, Slot>,
}

impl HighCard {
    /// Asks for the top card for that seat. `deal` has no answer to wait for: the others publish their
    /// shares of the card, and with its own, which it keeps, that seat alone learns the face. The rules go
    /// on with the handle.
    fn deal_to(&mut self, seat: Seat, chance: &mut dyn Chance) {
        if let Some(card) = self.deck.pop() {
            self.hands.insert(seat, Slot::Sealed(card));
            chance.deal(card, seat);
        }
    }

    /// The next seat's turn; after the last, everybody's card is opened.
    fn pass(&mut self, chance: &mut dyn Chance, events: &mut Vec<Event>) -> Result<(), Pause> {
        self.turn = self.turn.and_then(|seat| self.undecided.after(seat));
        if self.turn.is_some() {
            return Ok(());
        }
        let cards: Vec<Handle> = self.hands.values().filter_map(|s| s.handle()).collect();
        // The first time we come here the faces are not there yet: `open` says `Pause`, and `?` hands it up.
        // The table throws this half-done state away, collects everybody's shares and calls the same method
        // on the state of before. All that was asked earlier is answered alike, and this line goes through.
        let faces = chance.open(&cards)?;
        for ((seat, slot), face) in self.hands.iter_mut().zip(faces) {
            *slot = Slot::Open(face);
            events.push(Event::Opens(*seat, face));
        }
        Ok(())
    }
}

impl Game for HighCard {
    type Action = Action;
    type Event = Event;

    /// From the charter that all have signed. What is refused here cannot be played, and an auditor who
    /// knows other rules finds out at once.
    fn create(rules: &RuleSet) -> Result<Self, RuleSetError> {
        let (game, ours, least, most) = ("high-card".to_owned(), 1, 2, 4);
        if rules.game != game {
            return Err(RuleSetError::UnknownGame(rules.game.clone()));
        }
        if rules.version != ours {
            let theirs = rules.version;
            return Err(RuleSetError::Version { game, ours, theirs });
        }
        let got = rules.seats;
        if !(least..=most).contains(&got) {
            #[rustfmt::skip]
            return Err(RuleSetError::Seats { game, least, most, got });
        }
        if let Some(key) = rules.options.keys().next() {
            let (key, known) = (key.clone(), "none".to_owned());
            return Err(RuleSetError::UnknownOption { game, key, known });
        }
        let playing = SeatSet::all(usize::from(got));
        Ok(Self {
            size: got,
            playing,
            undecided: playing,
            turn: None,
            deck: Vec::new(),
            hands: BTreeMap::new(),
        })
    }

    /// The two names below make each card a point of the group: another deck has other points.
    fn deck_name(&self) -> &'static str {
        "high-card"
    }

    fn card_name(&self, face: Face) -> String {
        CARDS.get(face.index()).copied().unwrap_or("").to_owned()
    }

    /// Whatever is random before the first decision. Requests are part of the rules, their order too.
    fn begin(&mut self, chance: &mut dyn Chance, events: &mut Vec<Event>) -> Result<(), Pause> {
        // Public randomness: a coin of every seat. A die gives one number from 1.
        let rolled = chance.flip(&Flip::Die(u32::from(self.size)))?;
        let place = rolled.first().map_or(0, |n| n.saturating_sub(1) as usize);
        self.turn = Seat::new(place).filter(|seat| self.playing.contains(*seat));
        // Every seat in turn shuffles the deck unseen, and proves it. What comes back is the deck's number.
        let faces: Vec<Face> = (0..13).map(Face).collect();
        let deck = chance.shuffle(&faces)?;
        self.deck = Handle::all(deck, faces.len()).rev().collect();
        self.playing.iter().for_each(|s| self.deal_to(s, chance));
        events.extend(self.turn.map(Event::Begins));
        Ok(())
    }

    /// Seats that the table waits for. Several seats may be named where they decide at the same time.
    fn to_act(&self) -> SeatSet {
        let turn = self.turn.filter(|_| !self.is_over());
        turn.map_or(SeatSet::EMPTY, SeatSet::one)
    }

    /// The menu for a player or a bot, who brings along what its seat knows; `check` is what counts.
    fn legal(&self, seat: Seat, known: &Faces) -> Vec<Action> {
        let own = self.hands.get(&seat).and_then(|slot| slot.handle());
        let swap = own.and_then(|card| {
            let face = known.get(card)?;
            Some(Action::Swap { card, face })
        });
        let all = [Some(Action::Keep), swap].into_iter().flatten();
        all.filter(|action| self.check(seat, action).is_ok())
            .collect()
    }

    /// Whether an action is allowed. It is given by a peer, so nothing about it may be taken for granted
    /// but the face of a card: whether that is true, the table finds out by the shares (see `shown`).
    fn check(&self, seat: Seat, action: &Action) -> Result<(), Illegal> {
        if self.is_over() {
            return Err(Illegal::Over);
        }
        if !self.to_act().contains(seat) {
            return Err(Illegal::NotYourTurn(seat));
        }
        match action {
            Action::Swap { card, .. } if self.hands.get(&seat) != Some(&Slot::Sealed(*card)) => {
                Err(Illegal::rule("that card is not in your hand"))
            }
            Action::Swap { .. } | Action::Keep => Ok(()),
        }
    }

    /// Which sealed cards of its hand the action shows, and as what. The seat has to give its own share of
    /// each with the action; a face that does not come out as claimed is a fault that names the seat.
    fn shown(&self, _: Seat, action: &Action) -> Vec<Shown> {
        match *action {
            Action::Swap { card, face } => vec![Shown { card, face }],
            Action::Keep => Vec::new(),
        }
    }

    /// High Card has nothing that may be called out in another's turn.
    fn out_of_turn(&self, _: &Action) -> bool {
        false
    }

    /// The rules of an action, as straight-line code; an error of `check` must leave all as it was.
    fn apply(
        &mut self,
        seat: Seat,
        action: &Action,
        chance: &mut dyn Chance,
        events: &mut Vec<Event>,
    ) -> Result<(), ApplyError> {
        self.check(seat, action)?;
        self.undecided.remove(seat);
        match action {
            Action::Keep => events.push(Event::Keeps(seat)),
            Action::Swap { face, .. } => {
                events.push(Event::Swaps(seat, *face));
                self.deal_to(seat, chance);
            }
        }
        Ok(self.pass(chance, events)?)
    }

    /// Seats leave, or are voted out or removed for a fault: the game has to go on without them. Its card
    /// stays sealed, so the rules must not ask for it any more.
    fn forfeit(
        &mut self,
        seat: Seat,
        chance: &mut dyn Chance,
        events: &mut Vec<Event>,
    ) -> Result<(), Pause> {
        if self.is_over() || !self.playing.contains(seat) {
            return Ok(());
        }
        self.playing.remove(seat);
        self.undecided.remove(seat);
        self.hands.remove(&seat);
        if self.playing.len() < 2 {
            self.undecided = SeatSet::EMPTY;
        } else if self.turn == Some(seat) {
            self.pass(chance, events)?;
        }
        Ok(())
    }

    fn hand(&self, seat: Seat) -> Vec<Slot> {
        self.hands.get(&seat).copied().into_iter().collect()
    }

    fn is_over(&self) -> bool {
        self.undecided.is_empty()
    }

    /// One number a seat, also for those who have left.
    fn scores(&self) -> Vec<i64> {
        let open = |seat| self.hands.get(&seat)?.face(&Faces::new());
        Seat::first(usize::from(self.size))
            .map(|seat| open(seat).map_or(0, |face| i64::from(face.0) + 2))
            .collect()
    }

    fn winners(&self) -> SeatSet {
        // No two cards are alike. Who is left alone wins with a sealed one.
        let open = |slot: &Slot| slot.face(&Faces::new());
        let best = self.hands.iter().max_by_key(|(_, slot)| open(slot));
        let best = best.filter(|_| self.is_over());
        best.map_or(SeatSet::EMPTY, |(seat, _)| SeatSet::one(*seat))
    }
}

// ---- A table ----

/// A seat's view: the public state, overlaid with the cards that only this seat knows.
fn view(table: &Table<HighCard>) -> String {
    let hands = table.game().hands.iter().map(|(seat, slot)| {
        let face = slot.face(table.known());
        let card = face.map_or("sealed".to_owned(), |face| table.game().card_name(face));
        format!("{seat}: {card}")
    });
    hands.collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |face: &Face| CARDS.get(face.index()).copied().unwrap_or("?");
        match self {
            Self::Begins(seat) => write!(f, "{seat} begins"),
            Self::Keeps(seat) => write!(f, "{seat} keeps its card"),
            Self::Swaps(seat, face) => write!(f, "{seat} shows the {} and swaps it", name(face)),
            Self::Opens(seat, face) => write!(f, "{seat} has the {}", name(face)),
        }
    }
}

/// Plays one game and audits it. Everything is drawn from fixed numbers, so that every run is the same; a
/// real program takes keys, nonces and generators from the system's randomness and guards them.
pub(crate) fn play(seats: u8, out: &mut dyn Write) -> Result<Report, Box<dyn Error>> {
    // A table begins with a charter: the rules and the seats, signed by all. Its hash is the table's id.
    let rules = RuleSet {
        game: "high-card".to_owned(),
        version: 1,
        seats,
        options: BTreeMap::new(),
        strict: false,
        timing: Timing::default(),
    };
    let mut keys = Vec::new();
    let mut players = Vec::new();
    for ((number, name), seat) in (1..=seats).zip(NAMES).zip(Seat::first(NAMES.len())) {
        let key = SigningKey::from_bytes(&[number; 32]);
        players.push(Player {
            name: name.to_owned().try_into()?,
            key: (&key).into(),
            nonce: [number; 32],
            // Each seat is a party of its own, with a person at it.
            party: Party::of(seat),
            played_by: PlayedBy::Person,
        });
        keys.push(key);
    }
    let charter = Charter::new([0; 8], &rules, players)?;
    let signatures = keys.iter().map(|key| charter.sign(key)).collect();
    let charter = SignedCharter::assemble(charter, signatures)?;

    // One `Table` a seat, each with its own key and generator; nothing below is shared but the queue.
    let mut tables = Vec::new();
    for ((seat, key), number) in Seat::first(keys.len()).zip(keys).zip(101..) {
        let table: Table<HighCard> = Table::new(charter.clone(), seat, key)?;
        tables.push((table, ChaCha20Rng::from_seed([number; 32])));
    }
    for (table, rng) in &mut tables {
        table.begin(rng);
    }
    let mut queue: VecDeque<(Seat, Seat, Vec<u8>)> = VecDeque::new();
    let mut now = 0;
    while !tables.iter().all(|(table, _)| table.all_finished()) {
        for (table, rng) in &mut tables {
            let me = table.me();
            if table.is_my_turn() {
                writeln!(out, "{me} sees {}", view(table))?;
                // A player without much thought: below an eight, it swaps.
                let mut legal = table.game().legal(me, table.known());
                legal.retain(|a| !matches!(a, Action::Swap { face, .. } if face.0 >= 6));
                table.act(legal.pop().ok_or("nothing is legal")?, rng)?;
            }
            while let Some(output) = table.poll() {
                match output {
                    // What a seat needs to come back after a crash: a real program has it on disk before
                    // it sends anything that comes later. This one does not outlive a crash.
                    Output::Keep(_) => {}
                    // Here everybody hears everybody.
                    Output::Pass(..) => {}
                    Output::Send(to, message) => {
                        for other in Seat::first(usize::from(seats)) {
                            if to == To::One(other) || to == To::All && other != me {
                                queue.push_back((me, other, message.to_bytes()));
                            }
                        }
                    }
                    // All seats tell the same news; one is enough to read.
                    Output::Event(TableEvent::News(News::Game(event))) if me.index() == 0 => {
                        writeln!(out, "  {event}")?;
                    }
                    Output::Event(TableEvent::Stopped(why)) => return Err(why.into()),
                    Output::Event(_) => {}
                }
            }
        }
        if let Some((from, to, bytes)) = queue.pop_front() {
            // An error would mean that the sender is to be disconnected.
            if let Some((table, rng)) = tables.get_mut(to.index()) {
                table.receive(from, &bytes, rng)?;
            }
            continue;
        }
        // All is quiet. The tick of a second or so repairs what a network has lost, tells the others that
        // one has come to the end, and lets them vote on who is missing.
        now += 1000;
        if now > 60_000 {
            return Err("the table rests".into());
        }
        for (table, rng) in &mut tables {
            table.tick(now, rng);
        }
    }

    // Any seat's transcript does for a stranger, who needs nothing but the file and the rules.
    let Some((table, _)) = tables.first() else {
        return Err("nobody has played".into());
    };
    let file = table.transcript().to_bytes()?;
    let report = audit::<HighCard>(&Transcript::from_bytes(&file)?);
    writeln!(
        out,
        "\nAudit of table {}, {} bytes:",
        report.table,
        file.len()
    )?;
    for (check, times) in report.tally.checks() {
        writeln!(out, "{times:6} {check}")?;
    }
    writeln!(
        out,
        "scores {:?}, won by {:?}",
        report.scores, report.winners
    )?;
    match &report.finding {
        None => writeln!(out, "fair")?,
        Some(finding) => writeln!(out, "not fair: {finding}")?,
    }
    Ok(report)
}

#[cfg_attr(test, allow(dead_code, reason = "the tests call `play`"))]
fn main() -> Result<(), Box<dyn Error>> {
    play(3, &mut std::io::stdout().lock())?;
    Ok(())
}
