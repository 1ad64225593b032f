//! The letters that a meeting point keeps. Pure: time is an argument.
//!
//! A player has one box, and names those whose letters it takes. Of one writer it holds one letter for each place: a later
//! one replaces it. A full box makes room at the expense of the writer who has most in it, the oldest letters first (longest
//! queue drop), and a full point at the expense of the network that has most. A key costs nothing and an address does, so
//! boxes and requests are limited by network: whoever comes from many addresses gets the share of as many networks.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use fairdeal_peers::PeerId;
use fairdeal_peers::address::Network;
use fairdeal_peers::mail::{
    BOX_BYTES, KEPT, MAX_LETTERS, MAX_POSTED, MailPage, MailRefusal, MailRequest, MailResponse, Posted, Subject,
    Waiting,
};
use fairdeal_protocol::wire::bounded::Bounded;

use crate::RelayLimits;
use crate::allowance::Allowance;
use crate::rates::Rates;
use crate::relay_limits::count;

/// Requests of one network at once. A visit of a player makes three, and two for each reader.
const AT_ONCE: u32 = 128;
/// Answers are longer than requests: so much is fetched by one network at once, in units of so many bytes.
const FETCHED_AT_ONCE: u32 = 1024;
const UNIT: usize = 16 << 10;
/// Time to regain a request or a unit, divided by the number of boxes that one network may have.
const REGAINED: Duration = Duration::from_millis(3200);
/// The bytes that a letter takes beside its own, and a box.
const OVERHEAD: usize = 256;
/// How often what nobody has fetched in time is dropped.
const SWEEP: Duration = Duration::from_secs(60);

/// The boxes of one point.
#[derive(Debug)]
pub(crate) struct Boxes {
    most: usize,
    per_network: usize,
    /// Maximum size of everything, in bytes.
    most_bytes: u64,
    boxes: BTreeMap<PeerId, MailBox>,
    /// The number of the last letter.
    last: u64,
    requests: Rates,
    /// The letters that are fetched, in units.
    fetched: Rates,
    sweep: Option<Instant>,
}

#[derive(Debug)]
struct MailBox {
    network: Option<Network>,
    writers: BTreeSet<PeerId>,
    /// By number.
    letters: BTreeMap<u64, Kept>,
    /// The size of all, in bytes.
    size: u64,
    until: Instant,
}

#[derive(Debug)]
struct Kept {
    from: PeerId,
    subject: Subject,
    letter: Bounded<u8, MAX_POSTED>,
    /// When its place was empty before.
    since: Instant,
    until: Instant,
}

impl Kept {
    fn is_at(&self, writer: PeerId, place: [u8; 8]) -> bool {
        self.from == writer && self.subject.place == place
    }
}

/// The size of something with so many bytes, as it counts.
fn size_of(bytes: usize) -> u64 {
    u64::try_from(bytes.saturating_add(OVERHEAD)).unwrap_or(u64::MAX)
}

impl MailBox {
    fn new(network: Option<Network>, until: Instant) -> Self {
        Self { network, writers: BTreeSet::new(), letters: BTreeMap::new(), size: size_of(0), until }
    }

    fn insert(&mut self, number: u64, letter: Kept) {
        self.size = self.size.saturating_add(size_of(letter.letter.len()));
        self.letters.insert(number, letter);
    }

    fn remove(&mut self, number: u64) {
        if let Some(letter) = self.letters.remove(&number) {
            self.size = self.size.saturating_sub(size_of(letter.letter.len()));
        }
    }
}

impl Boxes {
    pub(crate) fn new(limits: &RelayLimits) -> Self {
        let regained = REGAINED / limits.boxes_per_network.get();
        Self {
            most: count(limits.boxes),
            per_network: count(limits.boxes_per_network.get()),
            most_bytes: limits.mail_bytes.get(),
            boxes: BTreeMap::new(),
            last: 0,
            requests: Rates::new(Allowance::new(AT_ONCE, regained)),
            fetched: Rates::new(Allowance::new(FETCHED_AT_ONCE, regained)),
            sweep: None,
        }
    }

    /// The number of boxes.
    pub(crate) fn boxes(&self) -> usize {
        self.boxes.len()
    }

    /// The number of letters.
    pub(crate) fn letters(&self) -> usize {
        self.boxes.values().map(|kept| kept.letters.len()).sum()
    }

    /// The size of everything, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.boxes.values().map(|kept| kept.size).fold(0, u64::saturating_add)
    }

    /// Serves a request of a peer.
    pub(crate) fn serve(
        &mut self,
        peer: PeerId,
        network: Option<Network>,
        request: MailRequest,
        now: Instant,
    ) -> MailResponse {
        if !self.requests.admit(network, now) {
            return MailResponse::Refused(MailRefusal::TooFast);
        }
        self.sweep(now);
        let served = match request {
            MailRequest::Open { writers } => {
                let writers = writers.iter().map(|writer| PeerId::from(*writer)).filter(|writer| *writer != peer);
                self.open(peer, network, writers.collect(), now)
            }
            MailRequest::Fetch { after } => self.fetch(peer, network, after, now),
            MailRequest::Read { numbers } => self.read(peer, &numbers),
            MailRequest::Look { owner } => self.look(peer, owner.into(), now),
            MailRequest::Put(posted) => self.put(peer, *posted, now),
        };
        served.unwrap_or_else(MailResponse::Refused)
    }

    fn open(
        &mut self,
        owner: PeerId,
        network: Option<Network>,
        writers: BTreeSet<PeerId>,
        now: Instant,
    ) -> Result<MailResponse, MailRefusal> {
        if writers.is_empty() {
            self.boxes.remove(&owner);
            return Ok(MailResponse::Done);
        }
        if !self.boxes.contains_key(&owner) {
            self.make_box(network)?;
        }
        let moves = self.boxes.get(&owner).is_none_or(|kept| kept.network != network);
        if moves && network.is_some() {
            let others = self.boxes.iter().filter(|(other, kept)| **other != owner && kept.network == network);
            if others.count() >= self.per_network {
                return Err(MailRefusal::NetworkFull);
            }
        }
        let until = now + KEPT;
        let kept = self.boxes.entry(owner).or_insert_with(|| MailBox::new(network, until));
        (kept.network, kept.writers, kept.until) = (network, writers, until);
        Ok(MailResponse::Done)
    }

    fn fetch(
        &mut self,
        owner: PeerId,
        network: Option<Network>,
        after: Option<u64>,
        now: Instant,
    ) -> Result<MailResponse, MailRefusal> {
        let kept = self.boxes.get(&owner).ok_or(MailRefusal::NoBox)?;
        let from = after.map_or(0, |after| after.saturating_add(1));
        let page = MailPage::of(kept.letters.range(from..).map(|(number, kept)| (*number, &kept.letter)));
        let units: usize = page.letters.iter().map(|kept| kept.letter.len().div_ceil(UNIT)).sum();
        if !self.fetched.admit_many(network, u32::try_from(units).unwrap_or(u32::MAX), now) {
            return Err(MailRefusal::TooFast);
        }
        Ok(MailResponse::Letters(page))
    }

    fn read(&mut self, owner: PeerId, numbers: &[u64]) -> Result<MailResponse, MailRefusal> {
        let kept = self.boxes.get_mut(&owner).ok_or(MailRefusal::NoBox)?;
        numbers.iter().for_each(|number| kept.remove(*number));
        Ok(MailResponse::Done)
    }

    fn look(&self, writer: PeerId, owner: PeerId, now: Instant) -> Result<MailResponse, MailRefusal> {
        let kept = self.boxes.get(&owner).filter(|kept| kept.writers.contains(&writer)).ok_or(MailRefusal::NoBox)?;
        let own = kept.letters.values().filter(|letter| letter.from == writer);
        let waiting = own.map(|letter| Waiting {
            subject: letter.subject,
            since: seconds(now.saturating_duration_since(letter.since)),
            left: seconds(letter.until.saturating_duration_since(now)),
        });
        Ok(MailResponse::Waiting(Bounded::first(waiting)))
    }

    fn put(&mut self, writer: PeerId, posted: Posted, now: Instant) -> Result<MailResponse, MailRefusal> {
        let Posted { owner, subject, letter } = posted;
        let owner = PeerId::from(owner);
        let kept = self.boxes.get(&owner).filter(|kept| kept.writers.contains(&writer)).ok_or(MailRefusal::NoBox)?;
        let replaced = kept.letters.iter().find(|(_, letter)| letter.is_at(writer, subject.place));
        let (before, since) = (replaced.map(|(number, _)| *number), replaced.map_or(now, |(_, letter)| letter.since));
        let mut others: Vec<(u64, PeerId, usize)> = kept
            .letters
            .iter()
            .filter(|(number, _)| Some(**number) != before)
            .map(|(number, kept)| (*number, kept.from, kept.letter.len()))
            .collect();
        let own = others.iter().filter(|(_, from, _)| *from == writer);
        let (count, own) =
            (own.clone().count(), own.fold(letter.len(), |sum, (.., length)| sum.saturating_add(*length)));
        let mut dropped = Vec::new();
        // The writer with the most makes room, its oldest letters first.
        while others.len() >= MAX_LETTERS
            || others.iter().fold(letter.len(), |sum, (.., length)| sum.saturating_add(*length)) > BOX_BYTES
        {
            let load = |(count, bytes): (usize, usize)| bytes.saturating_add(count.saturating_mul(OVERHEAD));
            let mut loads: BTreeMap<PeerId, (usize, usize)> = BTreeMap::new();
            for (_, from, length) in &others {
                let (count, bytes) = loads.entry(*from).or_default();
                (*count, *bytes) = (*count + 1, bytes.saturating_add(*length));
            }
            let most =
                loads.into_iter().max_by_key(|(_, of)| load(*of)).filter(|(_, of)| load(*of) > load((count + 1, own)));
            let (most, _) = most.ok_or(MailRefusal::BoxFull)?;
            let place = others.iter().position(|(_, from, _)| *from == most).ok_or(MailRefusal::BoxFull)?;
            dropped.push(others.remove(place).0);
        }
        let freed = replaced.map_or(0, |(_, letter)| size_of(letter.letter.len()));
        let (network, more) = (kept.network, size_of(letter.len()).saturating_sub(freed));
        self.make_room(network, more)?;
        self.last = self.last.saturating_add(1);
        let number = self.last;
        if let Some(kept) = self.boxes.get_mut(&owner) {
            before.iter().chain(&dropped).for_each(|number| kept.remove(*number));
            kept.insert(number, Kept { from: writer, subject, letter, since, until: now + KEPT });
        }
        Ok(MailResponse::Done)
    }

    /// Makes room for one more box of a network: the network with the most boxes loses the one that was not visited for
    /// longest.
    fn make_box(&mut self, network: Option<Network>) -> Result<(), MailRefusal> {
        if self.boxes.len() < self.most {
            return Ok(());
        }
        let mut counts: BTreeMap<Option<Network>, usize> = BTreeMap::new();
        self.boxes.values().for_each(|kept| *counts.entry(kept.network).or_default() += 1);
        let own = counts.get(&network).copied().unwrap_or_default();
        let (most, _) = counts
            .into_iter()
            .max_by_key(|(_, count)| *count)
            .filter(|(_, most)| *most > own + 1)
            .ok_or(MailRefusal::Full)?;
        let oldest = self.boxes.iter().filter(|(_, kept)| kept.network == most).min_by_key(|(_, kept)| kept.until);
        if let Some(owner) = oldest.map(|(owner, _)| *owner) {
            self.boxes.remove(&owner);
        }
        Ok(())
    }

    /// Makes room for so many more bytes in a box of a network: the network whose boxes are largest loses letters, of its
    /// largest box, of the writer who has most there, the oldest first. Nothing is dropped if that is not enough.
    fn make_room(&mut self, network: Option<Network>, more: u64) -> Result<(), MailRefusal> {
        let needed = self.bytes().saturating_add(more).saturating_sub(self.most_bytes);
        if needed == 0 {
            return Ok(());
        }
        let mut networks: BTreeMap<Option<Network>, u64> = BTreeMap::new();
        let mut boxes: BTreeMap<PeerId, (Option<Network>, u64)> = BTreeMap::new();
        let mut writers: BTreeMap<(PeerId, PeerId), (u64, VecDeque<u64>)> = BTreeMap::new();
        for (owner, kept) in &self.boxes {
            *networks.entry(kept.network).or_default() += kept.size;
            boxes.insert(*owner, (kept.network, kept.size));
            for (number, letter) in &kept.letters {
                let (size, numbers) = writers.entry((*owner, letter.from)).or_default();
                *size = size.saturating_add(size_of(letter.letter.len()));
                numbers.push_back(*number);
            }
        }
        let own = networks.get(&network).copied().unwrap_or_default().saturating_add(more);
        let (mut freed, mut dropped) = (0_u64, Vec::new());
        while freed < needed {
            let largest = networks.iter().max_by_key(|(_, size)| **size).filter(|(_, size)| **size > own);
            let largest = *largest.ok_or(MailRefusal::Full)?.0;
            // A box without letters has nothing to lose.
            let full = writers.iter().filter(|(_, (_, numbers))| !numbers.is_empty());
            let there = full.filter_map(|((owner, writer), (size, _))| {
                let (network, all) = boxes.get(owner)?;
                (*network == largest).then_some((*all, *size, *owner, *writer))
            });
            let (_, _, owner, writer) = there.max().ok_or(MailRefusal::Full)?;
            let Some((size, numbers)) = writers.get_mut(&(owner, writer)) else { return Err(MailRefusal::Full) };
            let number = numbers.pop_front().ok_or(MailRefusal::Full)?;
            let letter = self.boxes.get(&owner).and_then(|kept| kept.letters.get(&number)).ok_or(MailRefusal::Full)?;
            let less = size_of(letter.letter.len());
            *size = size.saturating_sub(less);
            freed = freed.saturating_add(less);
            boxes.entry(owner).and_modify(|(_, size)| *size = size.saturating_sub(less));
            networks.entry(largest).and_modify(|size| *size = size.saturating_sub(less));
            dropped.push((owner, number));
        }
        for (owner, number) in dropped {
            if let Some(kept) = self.boxes.get_mut(&owner) {
                kept.remove(number);
            }
        }
        Ok(())
    }

    /// Drops what is kept for too long.
    fn sweep(&mut self, now: Instant) {
        if self.sweep.is_some_and(|at| now < at) {
            return;
        }
        self.sweep = Some(now + SWEEP);
        self.boxes.retain(|_, kept| kept.until > now);
        for kept in self.boxes.values_mut() {
            let late: Vec<u64> =
                kept.letters.iter().filter(|(_, kept)| kept.until <= now).map(|(number, _)| *number).collect();
            late.iter().for_each(|number| kept.remove(*number));
        }
    }
}

fn seconds(time: Duration) -> u32 {
    u32::try_from(time.as_secs()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::sync::LazyLock;

    use ed25519_dalek::SigningKey;
    use fairdeal_protocol::charter::SeatKey;
    use proptest::prelude::*;

    use super::*;
    use crate::relay_limits::nonzero;

    /// The keys of players; to make one takes a while.
    static KEYS: LazyLock<Vec<SeatKey>> =
        LazyLock::new(|| (0..100).map(|number| SeatKey::from(&SigningKey::from_bytes(&[number; 32]))).collect());

    fn key(number: u16) -> SeatKey {
        KEYS[usize::from(number)]
    }

    fn network(number: u8) -> Option<Network> {
        Some(Network::V4(Ipv4Addr::new(192, 0, 2, number)))
    }

    /// A letter of as many bytes.
    fn posted(owner: u16, place: u8, length: usize) -> MailRequest {
        let subject = Subject { place: [place; 8], content: [9; 8] };
        let letter = vec![place; length].try_into().unwrap();
        MailRequest::Put(Box::new(Posted { owner: key(owner), subject, letter }))
    }

    /// A point, and its clock.
    struct Point {
        boxes: Boxes,
        now: Instant,
    }

    impl Point {
        fn new() -> Self {
            Self::of(RelayLimits::DEFAULT)
        }

        fn of(limits: RelayLimits) -> Self {
            Self { boxes: Boxes::new(&limits), now: Instant::now() }
        }

        fn ask(&mut self, who: u16, request: MailRequest) -> MailResponse {
            self.boxes.serve(key(who).into(), None, request, self.now)
        }

        /// The same from a network.
        fn ask_from(&mut self, from: u8, who: u16, request: MailRequest) -> MailResponse {
            self.boxes.serve(key(who).into(), network(from), request, self.now)
        }

        fn open(&mut self, owner: u16, writers: impl IntoIterator<Item = u16>) -> MailResponse {
            let writers = Bounded::first(writers.into_iter().map(key));
            self.ask(owner, MailRequest::Open { writers })
        }

        fn put(&mut self, writer: u16, owner: u16, place: u8, length: usize) -> MailResponse {
            self.ask(writer, posted(owner, place, length))
        }

        /// Numbers and lengths of all letters, page after page.
        fn fetched(&mut self, owner: u16) -> Vec<(u64, usize)> {
            let (mut all, mut after) = (Vec::new(), None);
            loop {
                let MailResponse::Letters(page) = self.ask(owner, MailRequest::Fetch { after }) else { panic!() };
                all.extend(page.letters.iter().map(|letter| (letter.number, letter.letter.len())));
                after = page.next;
                if after.is_none() {
                    return all;
                }
            }
        }

        fn looks(&mut self, writer: u16, owner: u16) -> Vec<Waiting> {
            match self.ask(writer, MailRequest::Look { owner: key(owner) }) {
                MailResponse::Waiting(all) => all.into_inner(),
                other => panic!("{other:?}"),
            }
        }

        /// Checks all limits.
        fn check(&self) {
            assert!(self.boxes.bytes() <= self.boxes.most_bytes && self.boxes.boxes() <= self.boxes.most);
            for kept in self.boxes.boxes.values() {
                let letters = kept.letters.values().map(|letter| size_of(letter.letter.len()));
                assert_eq!(kept.size, letters.sum::<u64>() + size_of(0));
                let bytes: usize = kept.letters.values().map(|letter| letter.letter.len()).sum();
                assert!(bytes <= BOX_BYTES && kept.letters.len() <= MAX_LETTERS);
            }
        }
    }

    const NO_BOX: MailResponse = MailResponse::Refused(MailRefusal::NoBox);
    const BOX_FULL: MailResponse = MailResponse::Refused(MailRefusal::BoxFull);

    #[test]
    fn letters_wait_until_their_owner_has_read_them() {
        let mut point = Point::new();
        assert_eq!(point.put(2, 1, 1, 1024), NO_BOX);
        assert_eq!(point.open(1, [2, 3]), MailResponse::Done);
        assert_eq!(point.put(2, 1, 1, 1024), MailResponse::Done);
        assert_eq!(point.put(3, 1, 1, 4096), MailResponse::Done);
        // Fetched as often as one likes, and kept until they are read.
        assert_eq!(point.fetched(1), [(1, 1024), (2, 4096)]);
        assert_eq!(point.fetched(1).len(), 2);
        point.ask(1, MailRequest::Read { numbers: vec![1].try_into().unwrap() });
        assert_eq!(point.fetched(1), [(2, 4096)]);
        assert_eq!((point.looks(2, 1), point.looks(3, 1).len()), (vec![], 1));
    }

    #[test]
    fn later_letter_takes_the_place_of_an_earlier_one() {
        let mut point = Point::new();
        point.open(1, [2]);
        point.put(2, 1, 1, 1024);
        point.put(2, 1, 2, 1024);
        point.now += Duration::from_secs(100);
        point.put(2, 1, 1, 4096);
        assert_eq!(point.fetched(1), [(2, 1024), (3, 4096)]);
        // Whoever has fetched the first has not read the second.
        point.ask(1, MailRequest::Read { numbers: vec![1].try_into().unwrap() });
        let waiting = point.looks(2, 1);
        let kept = seconds(KEPT);
        let told: Vec<_> = waiting.iter().map(|letter| (letter.subject.place[0], letter.since, letter.left)).collect();
        assert_eq!(told, [(2, 100, kept - 100), (1, 100, kept)]);
    }

    #[test]
    fn strangers_learn_and_break_nothing() {
        let mut point = Point::new();
        point.open(1, [2]);
        point.put(2, 1, 1, 1024);
        // The same answer as for a box that does not exist.
        for owner in [1, 7] {
            assert_eq!(point.ask(9, MailRequest::Look { owner: key(owner) }), NO_BOX);
            assert_eq!(point.put(9, owner, 1, 1024), NO_BOX);
        }
        assert_eq!(point.ask(9, MailRequest::Fetch { after: None }), NO_BOX);
        assert_eq!(point.ask(9, MailRequest::Read { numbers: vec![1].try_into().unwrap() }), NO_BOX);
        // A stranger's box is its own.
        point.open(9, [1, 2]);
        assert_eq!(point.fetched(9), []);
        assert_eq!(point.fetched(1).len(), 1);
        // A writer cannot read.
        assert_eq!(point.ask(2, MailRequest::Fetch { after: None }), NO_BOX);
    }

    #[test]
    fn writers_come_and_go() {
        let mut point = Point::new();
        point.open(1, [2, 3]);
        point.put(2, 1, 1, 1024);
        point.put(3, 1, 1, 1024);
        point.open(1, [3, 4]);
        assert_eq!(point.fetched(1).len(), 2, "what has come stays");
        assert_eq!(point.put(2, 1, 1, 1024), NO_BOX);
        assert_eq!(point.put(4, 1, 1, 1024), MailResponse::Done);
        point.open(1, []);
        assert_eq!(point.boxes.boxes(), 0);
        assert_eq!(point.ask(1, MailRequest::Fetch { after: None }), NO_BOX);
        // Nobody writes to itself.
        assert_eq!(point.open(1, [1]), MailResponse::Done);
        assert_eq!(point.boxes.boxes(), 0);
    }

    #[test]
    fn whoever_fills_a_box_makes_room_for_others() {
        let mut point = Point::new();
        point.open(1, 2..12);
        for place in 0..4 {
            assert_eq!(point.put(2, 1, place, MAX_POSTED), MailResponse::Done);
        }
        assert_eq!(point.put(2, 1, 9, 1), BOX_FULL, "of its own letters it drops none");
        assert_eq!(point.put(2, 1, 1, MAX_POSTED), MailResponse::Done, "in its own place");
        // Whoever has filled it makes room for others, until all have as much.
        for writer in 3..6 {
            assert_eq!(point.put(writer, 1, 1, MAX_POSTED), MailResponse::Done);
            point.check();
        }
        for writer in 2..6 {
            assert_eq!(point.looks(writer, 1).len(), 1);
        }
        assert_eq!(point.put(6, 1, 1, MAX_POSTED), BOX_FULL);
        assert_eq!(point.put(6, 1, 1, 60_000), MailResponse::Done);
        assert_eq!(point.put(7, 1, 1, 60_000), MailResponse::Done);
        assert_eq!(point.fetched(1).len(), 5);
        assert_eq!((point.looks(6, 1).len(), point.looks(7, 1).len()), (1, 1));
        point.check();
        // By count.
        let mut point = Point::new();
        point.open(1, 2..12);
        for place in 0..MAX_LETTERS {
            assert_eq!(point.put(2, 1, u8::try_from(place).unwrap(), 1), MailResponse::Done);
        }
        assert_eq!(point.put(2, 1, 99, 1), BOX_FULL);
        assert_eq!(point.put(6, 1, 1, 1), MailResponse::Done);
        assert_eq!(point.fetched(1).len(), MAX_LETTERS);
        assert_eq!(point.looks(6, 1).len(), 1);
        point.check();
    }

    #[test]
    fn what_nobody_fetches_is_dropped() {
        let mut point = Point::new();
        point.open(1, [2]);
        point.put(2, 1, 1, 1024);
        point.now += KEPT / 2;
        point.put(2, 1, 2, 1024);
        point.open(1, [2]);
        point.now += KEPT / 2 + SWEEP;
        assert_eq!(point.fetched(1), [(2, 1024)]);
        point.now += KEPT;
        assert_eq!(point.ask(1, MailRequest::Fetch { after: None }), NO_BOX);
        assert_eq!((point.boxes.boxes(), point.boxes.bytes()), (0, 0));
    }

    #[test]
    fn a_full_point_keeps_what_it_has() {
        let mail_bytes = std::num::NonZeroU64::new(300_000).unwrap();
        let mut point = Point::of(RelayLimits { boxes: 3, mail_bytes, ..RelayLimits::DEFAULT });
        for owner in 1..4 {
            assert_eq!(point.open(owner, [7, 8]), MailResponse::Done);
        }
        assert_eq!(point.open(4, [7]), MailResponse::Refused(MailRefusal::Full));
        assert_eq!(point.put(7, 1, 1, MAX_POSTED), MailResponse::Done);
        assert_eq!(point.put(7, 2, 1, MAX_POSTED), MailResponse::Done);
        assert_eq!(point.put(7, 3, 1, MAX_POSTED), MailResponse::Refused(MailRefusal::Full));
        assert_eq!(point.put(7, 2, 1, MAX_POSTED), MailResponse::Done, "it replaces one");
        point.check();
        point.open(1, []);
        assert_eq!(point.put(7, 3, 1, MAX_POSTED), MailResponse::Done);
        let mut none = Point::of(RelayLimits { boxes: 0, ..RelayLimits::DEFAULT });
        assert_eq!(none.open(1, [2]), MailResponse::Refused(MailRefusal::Full));
    }

    /// Whoever cannot be given room costs nobody anything.
    #[test]
    fn nothing_is_dropped_in_vain() {
        let mail_bytes = std::num::NonZeroU64::new(1_000_000).unwrap();
        let mut point = Point::of(RelayLimits { boxes: 20, mail_bytes, ..RelayLimits::DEFAULT });
        let open = |writer: u16| MailRequest::Open { writers: Bounded::one(key(writer)) };
        for owner in 1..8 {
            let from = u8::try_from(owner).unwrap();
            point.ask_from(from, owner, open(99));
            assert_eq!(point.ask_from(0, 99, posted(owner, 1, 60_000)), MailResponse::Done);
            assert_eq!(point.ask_from(0, 99, posted(owner, 2, 60_000)), MailResponse::Done);
        }
        let both = Bounded::first([99, 97].map(key));
        point.ask_from(8, 8, MailRequest::Open { writers: both });
        assert_eq!(point.ask_from(0, 99, posted(8, 1, 70_000)), MailResponse::Done);
        assert_eq!(point.ask_from(0, 97, posted(8, 2, 70_000)), MailResponse::Done);
        point.ask_from(9, 9, open(98));
        let before = point.boxes.letters();
        assert_eq!(point.ask_from(0, 98, posted(9, 1, MAX_POSTED)), MailResponse::Refused(MailRefusal::Full));
        assert_eq!(point.boxes.letters(), before);
    }

    /// Somebody with a few addresses fills the point with rubbish: the others get their share all the same.
    #[test]
    fn whoever_fills_a_point_makes_room_for_others() {
        let mail_bytes = std::num::NonZeroU64::new(1_000_000).unwrap();
        let mut point = Point::of(RelayLimits { boxes: 20, mail_bytes, ..RelayLimits::DEFAULT });
        let open = |writer: u16| MailRequest::Open { writers: Bounded::one(key(writer)) };
        for owner in 1..21 {
            let from = u8::try_from(owner % 2).unwrap();
            assert_eq!(point.ask_from(from, owner, open(99)), MailResponse::Done);
        }
        for (owner, place) in (1..21).flat_map(|owner| [(owner, 1), (owner, 2)]) {
            point.ask_from(0, 99, posted(owner, place, 60_000));
        }
        let full = point.boxes.bytes();
        assert!(full > 900_000, "{full}");
        // Honest players of ten other networks.
        for player in 30..40 {
            let from = u8::try_from(player).unwrap();
            assert_eq!(point.ask_from(from, player, open(98)), MailResponse::Done, "{player}");
            assert_eq!(point.ask_from(200, 98, posted(player, 1, 64_000)), MailResponse::Done, "{player}");
            point.check();
        }
        for player in 30..40 {
            assert_eq!(point.fetched(player).len(), 1, "{player}");
        }
        // Nobody takes from whoever has less.
        let refused = (2..12).filter(|place| point.ask_from(30, 98, posted(30, *place, 64_000)) != MailResponse::Done);
        assert!(refused.count() > 5);
        for player in 31..40 {
            assert_eq!(point.fetched(player).len(), 1, "{player}");
        }
    }

    #[test]
    fn one_network_has_its_share_and_its_rate() {
        let mut point = Point::of(RelayLimits { boxes_per_network: nonzero(2), ..RelayLimits::DEFAULT });
        let mut open = |owner: u16, from: u8, now: Instant| {
            let network = Some(Network::V4(Ipv4Addr::new(192, 0, 2, from)));
            let request = MailRequest::Open { writers: Bounded::one(key(99)) };
            point.boxes.serve(key(owner).into(), network, request, now)
        };
        let now = Instant::now();
        assert_eq!([open(1, 1, now), open(2, 1, now)], [MailResponse::Done, MailResponse::Done]);
        assert_eq!(open(3, 1, now), MailResponse::Refused(MailRefusal::NetworkFull));
        assert_eq!(open(3, 2, now), MailResponse::Done);
        assert_eq!(open(1, 1, now), MailResponse::Done);
        let served = (0..200).filter(|_| open(1, 1, now) == MailResponse::Done).count();
        assert!((120..128).contains(&served), "{served}");
        assert_eq!(open(3, 2, now), MailResponse::Done, "another network");
    }

    /// A box answers with more bytes than it is asked with: not without end.
    #[test]
    fn what_a_network_fetches_is_limited() {
        let mut point = Point::new();
        point.open(1, [2]);
        point.put(2, 1, 1, MAX_POSTED);
        let network = Some(Network::V4(Ipv4Addr::new(192, 0, 2, 1)));
        let fetches = |point: &mut Point| {
            let request = || MailRequest::Fetch { after: None };
            let mut fetch = || point.boxes.serve(key(1).into(), network, request(), point.now);
            (0..200).filter(|_| matches!(fetch(), MailResponse::Letters(_))).count()
        };
        // Eight units each.
        assert_eq!(fetches(&mut point), 128);
        point.now += Duration::from_secs(4);
        assert_eq!(fetches(&mut point), 5);
    }

    proptest! {
        /// Whatever is asked, the limits hold.
        #[test]
        fn limits_hold(
            steps in proptest::collection::vec((0..5_u16, 0..5_u16, 0..4_u8, 0..MAX_POSTED, 0..8_u8), 1..200),
        ) {
            let mail_bytes = std::num::NonZeroU64::new(900_000).unwrap();
            let boxes_per_network = nonzero(2);
            let mut point = Point::of(RelayLimits { boxes: 3, mail_bytes, boxes_per_network, ..RelayLimits::DEFAULT });
            for (who, other, place, length, kind) in steps {
                let request = match kind {
                    0 | 1 => MailRequest::Open { writers: Bounded::first((0..other).map(|n| key(n + 1))) },
                    2 => MailRequest::Fetch { after: Some(length as u64) },
                    3 => MailRequest::Read { numbers: Bounded::one(length as u64 % 50) },
                    _ => posted(other, place, length),
                };
                point.now += Duration::from_secs(if kind == 7 { length as u64 } else { 1 });
                point.ask_from(u8::try_from(who % 3).unwrap(), who, request);
                point.check();
                let mut of_networks: BTreeMap<Option<Network>, usize> = BTreeMap::new();
                point.boxes.boxes.values().for_each(|kept| *of_networks.entry(kept.network).or_default() += 1);
                prop_assert!(of_networks.values().all(|count| *count <= 2));
            }
        }
    }
}
