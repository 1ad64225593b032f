//! A custom card game on the protocol crate: the rules of High Card, a whole table of it in one process, and the audit
//! of the game.
//!
//! `cargo run -p fairdeal-protocol --example own_game` plays it. Each seat is dealt one masked (sealed) card of
//! thirteen. Each seat in turn keeps its card, or shows it and takes the top card of the deck instead. Then all cards
//! are opened, and the highest wins.
//!
//! The rules know nothing of cryptography, and the table nothing of High Card. A game has two duties. It writes a
//! hidden card as a *handle* (its deck and its place in it), never as a face. It asks its [`Chance`] for everything
//! random or hidden. The example uses only `fairdeal_protocol`, `serde` for the encoding, and a random generator and
//! signing keys.

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::fmt;
use std::io::Write;

use ed25519_dalek::SigningKey;
use fairdeal_protocol::audit::auditor::{Report, audit};
use fairdeal_protocol::card::{Face, Faces, Handle, Slot};
use fairdeal_protocol::charter::{Charter, Player, SignedCharter};
use fairdeal_protocol::game::{ApplyError, Chance, Flip, Game, Illegal, Pause, Protocol, RuleSet, RuleSetError, Shown};
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::clocks::Now;
use fairdeal_protocol::table::live::{Event as TableEvent, Output, Table, To};
use fairdeal_protocol::table::replica::News;
use fairdeal_protocol::timing::Timing;
use fairdeal_protocol::transcript::Transcript;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;
use serde::{Deserialize, Serialize};

const NAMES: [&str; 4] = ["Ann", "Ben", "Cleo", "Dora"];
const CARDS: [&str; 13] = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "jack", "queen", "king", "ace"];

// ---- The rules ----

/// A seat's possible actions. Their encoding goes into the seat's signed entry, so the order of the variants is part of
/// the rules: changing it needs a new rules version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Action {
    Keep,
    /// Shows the seat's own card and replaces it with the top card. An action that shows a masked card names its handle
    /// and the face that its owner claims.
    Swap {
        card: Handle,
        face: Face,
    },
}

/// An event for the log: public knowledge only.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    Begins(Seat),
    Keeps(Seat),
    Swaps(Seat, Face),
    Opens(Seat, Face),
}

/// The public state: what a spectator knows. All seats compare a hash of its encoding at every step, so it must be
/// identical on every machine. That means integers and ordered collections, and neither clocks nor randomness. It
/// excludes the private knowledge of a seat.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct HighCard {
    /// Number of seats at the start.
    size: u8,
    /// Seats that have not departed.
    playing: SeatSet,
    /// Seats that have yet to keep or swap. The game is over when none is left.
    undecided: SeatSet,
    turn: Option<Seat>,
    /// Undealt cards, the top one last.
    deck: Vec<Handle>,
    hands: BTreeMap<Seat, Slot>,
}

impl HighCard {
    /// Requests the top card for a seat. `deal` returns nothing to wait for: the others publish their reveal tokens for
    /// the card. The seat keeps its own token, so it alone learns the face. The rules continue with the handle.
    fn deal_to(&mut self, seat: Seat, chance: &mut dyn Chance) {
        if let Some(card) = self.deck.pop() {
            self.hands.insert(seat, Slot::Sealed(card));
            chance.deal(card, seat);
        }
    }

    /// Passes the turn on; after the last seat, opens all cards.
    fn pass(&mut self, chance: &mut dyn Chance, events: &mut Vec<Event>) -> Result<(), Pause> {
        self.turn = self.turn.and_then(|seat| self.undecided.after(seat));
        if self.turn.is_some() {
            return Ok(());
        }
        let cards: Vec<Handle> = self.hands.values().filter_map(|s| s.handle()).collect();
        // At the first call the faces are not known yet: `open` returns `Pause`, and `?` passes it up. The table
        // discards this half-done state, collects all reveal tokens and calls the same method on the previous state.
        // Earlier requests get the same answers, and this line succeeds.
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

    /// Creates the game from the signed charter. Rules refused here cannot be played, and an auditor with other rules
    /// finds out at once.
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
        Ok(Self { size: got, playing, undecided: playing, turn: None, deck: Vec::new(), hands: BTreeMap::new() })
    }

    /// The two names below map each card to a group element: another deck has other elements.
    fn deck_name(&self) -> &'static str {
        "high-card"
    }

    fn card_name(&self, face: Face) -> String {
        CARDS.get(face.index()).copied().unwrap_or("").to_owned()
    }

    /// Everything random before the first decision. Requests are part of the rules, and so is their order.
    fn begin(&mut self, chance: &mut dyn Chance, events: &mut Vec<Event>) -> Result<(), Pause> {
        // Public randomness: each seat contributes a coin. A die returns a number from 1.
        let rolled = chance.flip(&Flip::Die(u32::from(self.size)))?;
        let place = rolled.first().map_or(0, |n| n.saturating_sub(1) as usize);
        self.turn = Seat::new(place).filter(|seat| self.playing.contains(*seat));
        // Every seat in turn shuffles the deck unseen, and proves it. The result is the deck's id.
        let faces: Vec<Face> = (0..13).map(Face).collect();
        let deck = chance.shuffle(&faces)?;
        self.deck = Handle::all(deck, faces.len()).rev().collect();
        self.playing.iter().for_each(|s| self.deal_to(s, chance));
        events.extend(self.turn.map(Event::Begins));
        Ok(())
    }

    /// Seats that the table waits for. There may be several, if they decide at the same time.
    fn to_act(&self) -> SeatSet {
        let turn = self.turn.filter(|_| !self.is_over());
        turn.map_or(SeatSet::EMPTY, SeatSet::one)
    }

    /// The options of a player or bot, given what its seat knows; `check` is authoritative.
    fn legal(&self, seat: Seat, known: &Faces) -> Vec<Action> {
        let own = self.hands.get(&seat).and_then(|slot| slot.handle());
        let swap = own.and_then(|card| {
            let face = known.get(card)?;
            Some(Action::Swap { card, face })
        });
        [Some(Action::Keep), swap].into_iter().flatten().filter(|action| self.check(seat, action).is_ok()).collect()
    }

    /// Whether an action is allowed. It comes from a peer, so take nothing about it for granted except a card's face:
    /// the table verifies that with reveal tokens (see `shown`).
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

    /// Masked cards of its hand that the action shows, and their claimed faces. The seat publishes its own reveal token
    /// of each card with the action. A face that differs from the claim is a fault of the seat.
    fn shown(&self, _: Seat, action: &Action) -> Vec<Shown> {
        match *action {
            Action::Swap { card, face } => vec![Shown { card, face }],
            Action::Keep => Vec::new(),
        }
    }

    /// High Card has no out-of-turn actions.
    fn out_of_turn(&self, _: &Action) -> bool {
        false
    }

    /// The rules of an action, as straight-line code. After an error of `check` the state must be unchanged.
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

    /// Seats leave, are voted out, or are removed for a fault, and the game has to continue. The departed seat's card
    /// stays masked, so the rules must not open it.
    fn forfeit(&mut self, seat: Seat, chance: &mut dyn Chance, events: &mut Vec<Event>) -> Result<(), Pause> {
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

    /// One number for each seat, including departed ones.
    fn scores(&self) -> Vec<i64> {
        let open = |seat| self.hands.get(&seat)?.face(&Faces::new());
        Seat::first(usize::from(self.size)).map(|seat| open(seat).map_or(0, |face| i64::from(face.0) + 2)).collect()
    }

    fn winners(&self) -> SeatSet {
        // No two cards are equal. The only remaining seat wins with a masked card.
        let open = |slot: &Slot| slot.face(&Faces::new());
        let best = self.hands.iter().max_by_key(|(_, slot)| open(slot)).filter(|_| self.is_over());
        best.map_or(SeatSet::EMPTY, |(seat, _)| SeatSet::one(*seat))
    }
}

// ---- A table ----

/// A seat's view: the public state with the cards that only this seat knows.
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

/// Plays one game and audits it. Fixed seeds make every run the same; a real program takes keys, nonces and generators
/// from the system's randomness and guards them.
pub(crate) fn play(seats: u8, out: &mut dyn Write) -> Result<Report, Box<dyn Error>> {
    // A table begins with a charter: the rules and the seats, signed by all. Its hash is the table's id.
    let rules = RuleSet {
        game: "high-card".to_owned(),
        version: 1,
        seats,
        options: BTreeMap::new(),
        strict: false,
        timing: Timing::default(),
        protocol: Protocol::default(),
    };
    let mut keys = Vec::new();
    let mut players = Vec::new();
    for ((number, name), seat) in (1..=seats).zip(NAMES).zip(Seat::first(NAMES.len())) {
        let key = SigningKey::from_bytes(&[number; 32]);
        players.push(Player {
            name: name.to_owned().try_into()?,
            key: (&key).into(),
            nonce: [number; 32],
            // Each seat is its own party, played by a person.
            party: Party::of(seat),
            played_by: PlayedBy::Person,
        });
        keys.push(key);
    }
    let charter = Charter::new([0; 8], &rules, players)?;
    let signatures = keys.iter().map(|key| charter.sign(key)).collect();
    let charter = SignedCharter::assemble(charter, signatures)?;

    // One `Table` for each seat, with its own key and generator. They share nothing below except the queue.
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
                // A simple player: it swaps any card below an eight.
                let mut legal = table.game().legal(me, table.known());
                legal.retain(|a| !matches!(a, Action::Swap { face, .. } if face.0 >= 6));
                table.act(legal.pop().ok_or("nothing is legal")?, rng)?;
            }
            while let Some(output) = table.poll() {
                match output {
                    // The records that a seat needs after a crash. A real program writes them to disk before it sends
                    // later messages. This one does not survive a crash.
                    Output::Keep(_) => {}
                    // Here all seats hear each other.
                    Output::Pass(..) => {}
                    Output::Send(to, message) => {
                        for other in Seat::first(usize::from(seats)) {
                            if to == To::One(other) || to == To::All && other != me {
                                queue.push_back((me, other, message.to_bytes()));
                            }
                        }
                    }
                    // All seats report the same news; print it once.
                    Output::Event(TableEvent::News(News::Game(event))) if me.index() == 0 => {
                        writeln!(out, "  {event}")?;
                    }
                    Output::Event(TableEvent::Stopped(why)) => return Err(why.into()),
                    Output::Event(_) => {}
                }
            }
        }
        if let Some((from, to, bytes)) = queue.pop_front() {
            // An error means that the sender should be disconnected.
            if let Some((table, rng)) = tables.get_mut(to.index()) {
                table.receive(from, &bytes, rng)?;
            }
            continue;
        }
        // Nothing is left to send. A tick every second or so repairs lost messages, announces that a seat has reached
        // the end, and lets seats vote on absent ones.
        now += 1000;
        if now > 60_000 {
            return Err("the table rests".into());
        }
        for (table, rng) in &mut tables {
            table.tick(Now::both(now), rng);
        }
    }

    // Any seat's transcript will do. A stranger needs only the file and the rules.
    let Some((table, _)) = tables.first() else {
        return Err("nobody has played".into());
    };
    let file = table.transcript().to_bytes()?;
    let report = audit::<HighCard>(&Transcript::from_bytes(&file)?);
    writeln!(out, "\nAudit of table {}, {} bytes:", report.table, file.len())?;
    for (check, times) in report.tally.checks() {
        writeln!(out, "{times:6} {check}")?;
    }
    writeln!(out, "scores {:?}, won by {:?}", report.scores, report.winners)?;
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
