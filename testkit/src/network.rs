//! A bad network in virtual time: it loses, repeats, delays, reorders and cuts, until it heals.
//!
//! It only says what it does to each message ([`Fate`]); counting is up to the simulator. All times are in
//! milliseconds.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use fairdeal_protocol::game::uniform;
use fairdeal_protocol::party::Parties;
use fairdeal_protocol::seat::{Seat, SeatSet};
use rand_chacha::ChaCha20Rng;

use crate::random::happens;

/// How long a message takes at most in fair weather.
const FAIR: u32 = 20;
/// How long a link is closed after a message that was refused.
const DROPPED: u64 = 2_000;

/// A link, from a sender to a receiver.
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

/// The weather on the network, in thousandths of messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weather {
    /// How many are lost.
    pub lost: u32,
    /// How many arrive twice.
    pub repeated: u32,
    /// How many are delayed.
    pub delayed: u32,
    /// How late a delayed message is at most.
    pub late: u32,
    /// How long every message takes; drawn if unset.
    pub latency: Option<u64>,
}

/// Links that carry nothing for a while.
#[derive(Clone, Debug)]
pub struct Cut {
    /// When.
    pub during: Range<u64>,
    /// Which.
    pub links: BTreeSet<Link>,
}

impl Cut {
    /// Cuts every link between two groups, in both directions.
    pub fn between(one: SeatSet, other: SeatSet, during: Range<u64>) -> Self {
        let pairs = one
            .iter()
            .flat_map(|one| other.iter().map(move |other| (one, other)));
        let links = pairs
            .flat_map(|(one, other)| [(one, other), (other, one)])
            .collect();
        Self { during, links }
    }
}

/// A mishap of a message. One that is repeated and delayed has two fates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Not sent: the two seats have no direct link.
    NoLink,
    /// Lost on a link that was dropped after a refused message.
    Dropped,
    /// Lost on a link that is cut in both directions.
    Cut,
    /// Lost on a link that is cut in this direction only.
    CutOneWay,
    /// Sent twice.
    Repeated,
    /// Lost.
    Lost,
    /// Delayed.
    Delayed,
    /// Before another message that was sent earlier.
    Reordered,
}

/// The links between all seats, and what is on its way on them.
#[derive(Debug)]
pub struct Network {
    /// The weather until it heals.
    pub weather: Weather,
    /// When the weather becomes fair. Cuts end at times of their own.
    pub heals_at: u64,
    /// Which links it cuts, and when.
    pub cuts: Vec<Cut>,
    /// The links that never exist.
    pub apart: BTreeSet<Link>,
    /// The seats of one party run in one program: nothing happens to messages between them.
    parties: Parties,
    /// Until when links are dropped.
    dropped: BTreeMap<Link, u64>,
    rng: ChaCha20Rng,
    /// How many letters were put on their way: the order of those that arrive at one time.
    counter: u64,
    queue: BTreeMap<(u64, u64), Letter>,
}

impl Network {
    /// A network between these parties, in that weather and with all links.
    pub fn new(rng: ChaCha20Rng, parties: Parties, weather: Weather) -> Self {
        Self {
            weather,
            heals_at: u64::MAX,
            cuts: Vec::new(),
            apart: BTreeSet::new(),
            parties,
            dropped: BTreeMap::new(),
            rng,
            counter: 0,
            queue: BTreeMap::new(),
        }
    }

    /// When the next letter arrives.
    pub fn next_arrival(&self) -> Option<u64> {
        self.queue.first_key_value().map(|((at, _), _)| *at)
    }

    /// Takes the letter that arrives next.
    pub fn take(&mut self) -> Option<Letter> {
        self.queue.pop_first().map(|(_, letter)| letter)
    }

    /// Drops the link between two seats for a moment: one has refused what the other sent.
    pub fn drop_link(&mut self, one: Seat, other: Seat, now: u64) {
        self.dropped.insert((one, other), now + DROPPED);
        self.dropped.insert((other, one), now + DROPPED);
    }

    /// Sends a letter. Returns everything that goes wrong.
    pub fn post(&mut self, now: u64, letter: &Letter) -> Vec<Fate> {
        let (from, to) = (letter.from, letter.to);
        let outside = self.parties.party_of(from) != self.parties.party_of(to);
        if let Some(fate) = self.closed(now, (from, to)).filter(|_| outside) {
            return vec![fate];
        }
        let weather = if outside && now < self.heals_at {
            self.weather
        } else {
            Weather::default()
        };
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
            let arrival = now + weather.latency.unwrap_or(drawn);
            if self.queue.range((arrival, 0)..).next().is_some() {
                fates.push(Fate::Reordered);
            }
            self.counter += 1;
            self.queue.insert((arrival, self.counter), letter.clone());
        }
        fates
    }

    /// Why a link carries nothing now, if so.
    fn closed(&self, now: u64, link: Link) -> Option<Fate> {
        if self.apart.contains(&link) {
            return Some(Fate::NoLink);
        }
        if self.dropped.get(&link).is_some_and(|until| now < *until) {
            return Some(Fate::Dropped);
        }
        let mut cuts = self.cuts.iter();
        let cut = cuts.find(|cut| cut.during.contains(&now) && cut.links.contains(&link))?;
        let both = cut.links.contains(&(link.1, link.0));
        Some(if both { Fate::Cut } else { Fate::CutOneWay })
    }
}
