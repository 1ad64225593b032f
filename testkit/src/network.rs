//! A bad network in virtual time: it loses, repeats, delays, reorders and cuts messages, until it heals.
//!
//! It reports each message's [`Fate`]; the simulator counts them. All times are in milliseconds.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use fairdeal_protocol::game::uniform;
use fairdeal_protocol::party::Parties;
use fairdeal_protocol::seat::{Seat, SeatSet};
use rand_chacha::ChaCha20Rng;

use crate::random::happens;

/// Maximum latency of a message in fair weather.
const FAIR: u32 = 20;
/// How long a link stays closed after a refused message.
const DROPPED: u64 = 2_000;

/// A directed link from a sender to a receiver.
pub type Link = (Seat, Seat);

/// A message on its way to one seat.
#[derive(Clone, Debug)]
pub struct Letter {
    /// Its sender.
    pub from: Seat,
    /// Its receiver.
    pub to: Seat,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The weather on the network; probabilities are in thousandths of messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weather {
    /// Messages lost.
    pub lost: u32,
    /// Messages that arrive twice.
    pub repeated: u32,
    /// Messages delayed.
    pub delayed: u32,
    /// Maximum delay of a delayed message.
    pub late: u32,
    /// Fixed latency of every message; random if unset.
    pub latency: Option<u64>,
}

/// Links that carry nothing for a while.
#[derive(Clone, Debug)]
pub struct Cut {
    /// When the links are cut.
    pub during: Range<u64>,
    /// The links that are cut.
    pub links: BTreeSet<Link>,
}

impl Cut {
    /// Cuts every link between two groups, in both directions.
    pub fn between(one: SeatSet, other: SeatSet, during: Range<u64>) -> Self {
        let pairs = one.iter().flat_map(|one| other.iter().map(move |other| (one, other)));
        let links = pairs.flat_map(|(one, other)| [(one, other), (other, one)]).collect();
        Self { during, links }
    }
}

/// The fate of a message. A repeated and delayed message has two fates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Not sent, because the two seats have no direct link.
    NoLink,
    /// Lost on a link that was closed after a refused message.
    Dropped,
    /// Lost on a link that is cut in both directions.
    Cut,
    /// Lost on a link that is cut only in this direction.
    CutOneWay,
    /// Sent twice.
    Repeated,
    Lost,
    Delayed,
    /// Overtook a message that was sent earlier.
    Reordered,
}

/// The links between all seats, and the messages on their way.
#[derive(Debug)]
pub struct Network {
    /// The weather until the network heals.
    pub weather: Weather,
    /// When the weather becomes fair; cuts end at their own times.
    pub heals_at: u64,
    /// Additional latency of every message, in any weather.
    pub distance: u64,
    /// The links to cut, and when.
    pub cuts: Vec<Cut>,
    /// Links that never exist.
    pub apart: BTreeSet<Link>,
    /// Messages between seats of one party never leave its program, so nothing happens to them.
    parties: Parties,
    /// The end of each closed link's pause.
    dropped: BTreeMap<Link, u64>,
    rng: ChaCha20Rng,
    /// Number of letters sent; orders letters that arrive at the same time.
    counter: u64,
    queue: BTreeMap<(u64, u64), Letter>,
}

impl Network {
    /// A network between these parties in this weather, with all links.
    pub fn new(rng: ChaCha20Rng, parties: Parties, weather: Weather) -> Self {
        Self {
            weather,
            heals_at: u64::MAX,
            distance: 0,
            cuts: Vec::new(),
            apart: BTreeSet::new(),
            parties,
            dropped: BTreeMap::new(),
            rng,
            counter: 0,
            queue: BTreeMap::new(),
        }
    }

    /// When the next letter arrives, if any is on its way.
    pub fn next_arrival(&self) -> Option<u64> {
        self.queue.first_key_value().map(|((at, _), _)| *at)
    }

    /// Takes the next letter to arrive.
    pub fn take(&mut self) -> Option<Letter> {
        self.queue.pop_first().map(|(_, letter)| letter)
    }

    /// Puts a letter back until its receiver is awake.
    pub fn delay(&mut self, letter: Letter, until: u64) {
        self.counter += 1;
        self.queue.insert((until, self.counter), letter);
    }

    /// Closes the link between two seats for a moment, after one refused the other's message.
    pub fn drop_link(&mut self, one: Seat, other: Seat, now: u64) {
        self.dropped.insert((one, other), now + DROPPED);
        self.dropped.insert((other, one), now + DROPPED);
    }

    /// Sends a letter; returns everything that goes wrong with it.
    pub fn post(&mut self, now: u64, letter: &Letter) -> Vec<Fate> {
        let (from, to) = (letter.from, letter.to);
        let outside = self.parties.party_of(from) != self.parties.party_of(to);
        if let Some(fate) = self.closed(now, (from, to)).filter(|_| outside) {
            return vec![fate];
        }
        let weather = if outside && now < self.heals_at { self.weather } else { Weather::default() };
        let mut fates = Vec::new();
        let repeated = happens(&mut self.rng, weather.repeated);
        fates.extend(repeated.then_some(Fate::Repeated));
        for _ in 0..1 + u8::from(repeated) {
            if happens(&mut self.rng, weather.lost) {
                fates.push(Fate::Lost);
                continue;
            }
            let mut longest = FAIR;
            if happens(&mut self.rng, weather.delayed) {
                longest += weather.late;
                fates.push(Fate::Delayed);
            }
            let drawn = 1 + u64::from(uniform(&mut self.rng, longest));
            let distance = if outside { self.distance } else { 0 };
            let arrival = now + distance + weather.latency.unwrap_or(drawn);
            if self.queue.range((arrival, 0)..).next().is_some() {
                fates.push(Fate::Reordered);
            }
            self.counter += 1;
            self.queue.insert((arrival, self.counter), letter.clone());
        }
        fates
    }

    /// Why the link is closed now, if it is.
    fn closed(&self, now: u64, link: Link) -> Option<Fate> {
        if self.apart.contains(&link) {
            return Some(Fate::NoLink);
        }
        if self.dropped.get(&link).is_some_and(|until| now < *until) {
            return Some(Fate::Dropped);
        }
        let cut = self.cuts.iter().find(|cut| cut.during.contains(&now) && cut.links.contains(&link))?;
        let both = cut.links.contains(&(link.1, link.0));
        Some(if both { Fate::Cut } else { Fate::CutOneWay })
    }
}
