//! Drafts: shuffles for the next deal, which leave in fragments before the entries that hold them.
//!
//! A shuffle is the one large thing in an entry, and it rides with a move that everybody waits for. So this seat sends it
//! ahead: behind each entry of its own, and while nobody moves, as much as a slow link carries before the next entry is
//! likely to come. Once all connected seats have it, the entry leaves. To each of them it goes with the hash of as much as
//! that one has been sent in its place ([`Frame::Spliced`]). Whoever lacks it gets the whole entry as it gets any other that
//! is lost, so nothing depends on drafts but time.

use std::collections::BTreeMap;

use fairdeal_peers::PeerId;
use fairdeal_protocol::domain;
use fairdeal_protocol::hash::{Hash32, Hasher};
use fairdeal_protocol::log::body::MAX_DRAFT;
use fairdeal_protocol::wire::bounded::Bounded;

use crate::frame::{Frame, MAX_FRAGMENT};

/// Bytes that a link of 256 kbit/s carries in a millisecond, less a quarter for what else it has to carry.
const RATE: u64 = 24;
/// How long a seat has said nothing when nobody seems to move, in milliseconds.
const QUIET: u64 = 500;
/// The smallest fragment, in bytes.
const MIN_FRAGMENT: usize = 512;
/// The most that leaves at a tick for all peers, in bytes. A link on whose way more waits leaves heads out, and they are all
/// that tells of a player who thinks.
const QUIET_FRAGMENTS: usize = 4 << 10;
/// How long an entry may be on its way until a head can ask for it, in milliseconds.
const ON_ITS_WAY: u64 = 1_000;

/// This seat's draft, and those of its peers.
#[derive(Debug, Default)]
pub(super) struct Drafts {
    own: Option<Own>,
    /// The drafts of the peers, as far as they have come.
    others: BTreeMap<PeerId, Vec<u8>>,
    /// When this seat last sent something that others waited for, by the monotonic clock.
    said: u64,
    /// How long it was quiet before, in milliseconds.
    pause: u64,
}

/// The draft of this seat's shuffle for the next deal.
#[derive(Debug)]
struct Own {
    deal: u32,
    bytes: Vec<u8>,
    /// How much of it each connected seat has been sent.
    sent: BTreeMap<PeerId, usize>,
    /// When the entry with it left for a seat, with something left out.
    left: BTreeMap<PeerId, u64>,
}

fn name(draft: &[u8]) -> Hash32 {
    Hasher::new(domain::DRAFT).bytes(draft).finish()
}

impl Drafts {
    /// The deal that the own draft is for.
    pub(super) fn deal(&self) -> Option<u32> {
        self.own.as_ref().map(|own| own.deal)
    }

    /// Has a draft for a deal.
    pub(super) fn begin(&mut self, deal: u32, bytes: Vec<u8>) {
        self.own = Some(Own { deal, bytes, sent: BTreeMap::new(), left: BTreeMap::new() });
    }

    /// Takes note that this seat says something now that others wait for.
    pub(super) fn says(&mut self, now: u64) {
        let quiet = now.saturating_sub(self.said);
        // One long thought among quick moves says nothing about the next pause.
        self.pause = quiet.min(self.pause.saturating_mul(2)).max(1);
        self.said = now;
    }

    /// Whether this seat has said nothing for a while that others waited for.
    pub(super) fn is_quiet(&self, now: u64) -> bool {
        now.saturating_sub(self.said) >= QUIET
    }

    /// The next fragment for each of these seats that lacks one: all of them together as much as fits into the pause that an
    /// entry begins, or less if `is_quiet`. They may share one line out of the house.
    pub(super) fn fragments(&mut self, to: &[PeerId], is_quiet: bool) -> Vec<(PeerId, Frame)> {
        let Some(own) = &mut self.own else { return Vec::new() };
        let fits = usize::try_from(self.pause.saturating_mul(RATE)).unwrap_or(MAX_FRAGMENT);
        let all = if is_quiet { QUIET_FRAGMENTS } else { fits };
        let most = all.checked_div(to.len()).unwrap_or(all).clamp(MIN_FRAGMENT, MAX_FRAGMENT);
        let mut fragments = Vec::new();
        for peer in to {
            let sent = own.sent.entry(*peer).or_default();
            let fragment: Bounded<u8, MAX_FRAGMENT> = Bounded::first(own.bytes.iter().skip(*sent).take(most).copied());
            if let (Ok(at), false) = (u16::try_from(*sent), fragment.is_empty()) {
                *sent = sent.saturating_add(fragment.len());
                fragments.push((*peer, Frame::Draft { at, bytes: fragment }));
            }
        }
        fragments
    }

    /// Whether an own draft is out to all these seats.
    pub(super) fn is_out(&self, to: &[PeerId]) -> bool {
        self.own.as_ref().is_some_and(|own| to.iter().all(|peer| own.has(peer)))
    }

    /// Short forms of an encoded frame, for those of these seats that have been sent something of the draft in it: a name
    /// is in the place of that.
    pub(super) fn splice(&mut self, frame: &[u8], to: &[PeerId], now: u64) -> Vec<(PeerId, Frame)> {
        let Some(own) = &mut self.own else { return Vec::new() };
        let Some(at) = own.place_in(frame) else { return Vec::new() };
        let mut short = Vec::new();
        for peer in to {
            let sent = own.sent.get(peer).and_then(|sent| own.bytes.get(..*sent)).filter(|sent| !sent.is_empty());
            let Some(sent) = sent else { continue };
            let (before, rest) = frame.split_at(at);
            let after = rest.get(sent.len()..).unwrap_or_default();
            if let (Ok(before), Ok(after)) = (before.to_vec().try_into(), after.to_vec().try_into()) {
                own.left.insert(*peer, now);
                short.push((*peer, Frame::Spliced { before, draft: name(sent), after }));
            }
        }
        short
    }

    /// Whether an encoded frame would give a seat once more what may be on its way to it.
    pub(super) fn has_just_left(&self, frame: &[u8], to: PeerId, now: u64) -> bool {
        let own = self.own.as_ref();
        let left = own.and_then(|own| own.left.get(&to)).is_some_and(|left| now.saturating_sub(*left) < ON_ITS_WAY);
        left && own.is_some_and(|own| own.place_in(frame).is_some())
    }

    /// Takes a fragment of a peer's draft. One that does not continue what is there is of no use: its sender began again.
    pub(super) fn hear(&mut self, from: PeerId, at: u16, fragment: &[u8]) {
        let draft = self.others.entry(from).or_default();
        if at == 0 {
            draft.clear();
        }
        if usize::from(at) == draft.len() && draft.len().saturating_add(fragment.len()) <= MAX_DRAFT {
            draft.extend_from_slice(fragment);
        }
    }

    /// The frame that a peer has sent with a name in place of its draft, encoded; `None` if that draft is not here. A draft
    /// serves once, so nobody lets others hash more than it sends.
    pub(super) fn join(&mut self, from: PeerId, before: &[u8], draft: Hash32, after: &[u8]) -> Option<Vec<u8>> {
        let bytes = self.others.remove(&from)?;
        (name(&bytes) == draft).then(|| [before, &bytes, after].concat())
    }

    /// A peer is gone, and what was on its way to it may be lost. What has come from it stays: it may not have noticed.
    pub(super) fn gone(&mut self, peer: PeerId) {
        if let Some(own) = &mut self.own {
            own.sent.remove(&peer);
            own.left.remove(&peer);
        }
    }
}

impl Own {
    /// Whether a peer has all of it.
    fn has(&self, peer: &PeerId) -> bool {
        self.bytes.is_empty() || self.sent.get(peer).is_some_and(|sent| *sent == self.bytes.len())
    }

    /// Where it begins in an encoded frame.
    fn place_in(&self, frame: &[u8]) -> Option<usize> {
        let size = self.bytes.len();
        if size == 0 || frame.len() < size {
            return None;
        }
        frame.windows(size).position(|bytes| bytes == self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::SigningKey;

    use super::*;

    fn peer(number: u8) -> PeerId {
        PeerId::of(&SigningKey::from_bytes(&[number; 32]))
    }

    fn draft(size: usize) -> Vec<u8> {
        (0..size).map(|at| u8::try_from(at % 251).unwrap()).collect()
    }

    /// Hands over all fragments that are due, and says how large they were.
    fn carry(from: &mut Drafts, to: &mut Drafts, is_quiet: bool) -> Vec<usize> {
        let fragments = from.fragments(&[peer(2)], is_quiet);
        let heard = fragments.into_iter().map(|(_, frame)| match frame {
            Frame::Draft { at, bytes } => {
                to.hear(peer(1), at, &bytes);
                bytes.len()
            }
            other => panic!("{other:?}"),
        });
        heard.collect()
    }

    fn join(to: &mut Drafts, frame: &Frame) -> Option<Vec<u8>> {
        let Frame::Spliced { before, draft, after } = frame else { panic!("{frame:?}") };
        to.join(peer(1), before, *draft, after)
    }

    #[test]
    fn frame_with_a_draft_is_whole_again() {
        let (mut one, mut other) = (Drafts::default(), Drafts::default());
        let whole = [&[7; 100][..], &draft(15_000), &[8; 70]].concat();
        one.begin(1, draft(15_000));
        assert!(one.splice(&whole, &[peer(2)], 0).is_empty(), "nobody has it");
        while !one.is_out(&[peer(2)]) {
            assert_eq!(carry(&mut one, &mut other, true).len(), 1);
        }
        assert!(carry(&mut one, &mut other, true).is_empty(), "all is said");
        assert!([100, 20_000].iter().all(|size| one.splice(&vec![7; *size], &[peer(2)], 0).is_empty()));
        let short = one.splice(&whole, &[peer(3), peer(2)], 0);
        let [(to, frame)] = short.as_slice() else { panic!("{short:?}") };
        assert_eq!(*to, peer(2), "the other one gets the whole frame");
        assert!(frame.to_bytes().len() < 300);
        assert_eq!(join(&mut other, frame), Some(whole));
        assert_eq!(join(&mut other, frame), None, "a draft serves once");
    }

    #[test]
    fn entry_that_comes_early_leaves_out_what_is_there() {
        let (mut one, mut other) = (Drafts::default(), Drafts::default());
        let whole = [&[7; 100][..], &draft(15_000), &[8; 70]].concat();
        one.begin(1, draft(15_000));
        let sent: usize = (0..2).flat_map(|_| carry(&mut one, &mut other, true)).sum();
        let short = one.splice(&whole, &[peer(2)], 5_000);
        assert!(short[0].1.to_bytes().len() < 15_300 - sent);
        assert_eq!(join(&mut other, &short[0].1), Some(whole.clone()));
        // A head that it has sent before asks for nothing more, a later one does.
        let asks = [5_900, 6_000].map(|now| one.has_just_left(&whole, peer(2), now));
        assert_eq!((asks, one.has_just_left(&whole, peer(3), 5_000)), ([true, false], false));
        assert!(!one.has_just_left(&[7; 20_000], peer(2), 5_000));
    }

    #[test]
    fn lost_fragment_or_connection_costs_the_draft_alone() {
        let (mut one, mut other) = (Drafts::default(), Drafts::default());
        let whole = [&[7; 100][..], &draft(9_000)].concat();
        one.begin(1, draft(9_000));
        let _lost = one.fragments(&[peer(2)], true);
        while !one.is_out(&[peer(2)]) {
            carry(&mut one, &mut other, true);
        }
        let (_, frame) = one.splice(&whole, &[peer(2)], 0).remove(0);
        assert_eq!(join(&mut other, &frame), None);
        one.gone(peer(2));
        assert!(one.splice(&whole, &[peer(2)], 0).is_empty());
        while !one.is_out(&[peer(2)]) {
            carry(&mut one, &mut other, true);
        }
        assert_eq!(join(&mut other, &frame), Some(whole));
    }

    /// Of a change of networks one end may know alone.
    #[test]
    fn connection_that_one_end_has_lost_costs_nothing() {
        let (mut one, mut other) = (Drafts::default(), Drafts::default());
        let whole = draft(9_000);
        one.begin(1, draft(9_000));
        carry(&mut one, &mut other, true);
        other.gone(peer(1));
        while !one.is_out(&[peer(2)]) {
            carry(&mut one, &mut other, true);
        }
        let (_, frame) = one.splice(&whole, &[peer(2)], 0).remove(0);
        assert_eq!(join(&mut other, &frame), Some(whole));
    }

    #[test]
    fn peer_fills_no_more_than_a_draft() {
        let mut other = Drafts::default();
        for at in (0..=u16::MAX).step_by(MAX_FRAGMENT) {
            other.hear(peer(1), at, &[0; MAX_FRAGMENT]);
        }
        assert!(other.others[&peer(1)].len() <= MAX_DRAFT);
        other.hear(peer(1), 0, &[1]);
        assert_eq!(other.others[&peer(1)], [1]);
    }

    #[test]
    fn fragments_fit_into_the_pauses_between_moves() {
        let (mut one, mut other) = (Drafts::default(), Drafts::default());
        one.begin(1, draft(30_000));
        let size = |one: &mut Drafts, other: &mut Drafts, now| {
            one.says(now);
            carry(one, other, false)[0]
        };
        let mut now = 100_000;
        let sizes: Vec<usize> = [100, 100, 100, 100, 100, 100, 100, 60_000, 100]
            .map(|pause| {
                now += pause;
                size(&mut one, &mut other, now)
            })
            .to_vec();
        assert_eq!(sizes, [512, 512, 512, 512, 512, 768, 1536, 3072, 2400]);
    }
}
