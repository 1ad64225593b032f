//! A table's spectators, and the log pages that each is sent.
//!
//! A pure state machine at the host. Anybody with the ticket, and the password if there is one, can watch while there
//! is room. A spectator requests the log page by page, each once it has the previous one. All spectators together get a
//! few pages per tick, so neither their number nor their requests slow the table down.

use std::collections::BTreeMap;

use fairdeal_peers::PeerId;
use fairdeal_peers::address::Network;
use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::crypto::pake::{Login, Password, Proof};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::table::live::pages::Next;
use fairdeal_protocol::transcript::page::Mark;
use rand_core::CryptoRng;

use super::frame::{Frame, Showing, Watch};
use super::password_gate::HostGate;
use crate::frame::Outgoing;

/// Maximum number of spectators.
pub const MAX_WATCHERS: usize = 8;
/// Pages sent per tick, to all spectators together.
const PAGES_A_TICK: u32 = 4;
/// Messages that a spectator may send per tick.
const SAID_A_TICK: u32 = 32;

/// Spectators of a table.
#[derive(Debug)]
pub struct Spectators {
    lobby: [u8; 8],
    /// The password gate, if there is a password.
    gate: Option<HostGate>,
    watchers: BTreeMap<PeerId, Watcher>,
    /// Pages left until the next tick.
    pages: u32,
    /// The spectator served last; the next in order comes first.
    last: Option<PeerId>,
}

#[derive(Debug, Default)]
struct Watcher {
    /// The mark from which it has requested a page.
    waits: Option<Mark>,
    /// Number of its messages since the last tick.
    said: u32,
    /// Whether it has been sent the end of the log.
    served: bool,
}

impl Spectators {
    /// An empty set of spectators for a lobby.
    pub fn new(lobby: [u8; 8]) -> Self {
        Self { lobby, gate: None, watchers: BTreeMap::new(), pages: PAGES_A_TICK, last: None }
    }

    /// Requires a password from now on.
    pub fn lock(&mut self, gate: HostGate) {
        self.gate = Some(gate);
    }

    /// Whether the table has a password.
    pub fn is_locked(&self) -> bool {
        self.gate.is_some()
    }

    /// The password, if there is one.
    pub fn password(&self) -> Option<&Password> {
        self.gate.as_ref().map(HostGate::password)
    }

    /// Records the network from which a peer has connected.
    pub fn arrived(&mut self, peer: PeerId, network: Network) {
        if let Some(gate) = &mut self.gate {
            gate.arrived(peer, network);
        }
    }

    /// Answers a login attempt.
    pub fn login(
        &mut self,
        peer: PeerId,
        lobby: Option<[u8; 8]>,
        login: Login,
        rng: &mut dyn CryptoRng,
    ) -> Option<Frame> {
        match &mut self.gate {
            None => Some(Frame::refusal("the table has no password; leave --password out")),
            Some(gate) => gate.login(peer, lobby, login, rng).map(Frame::Challenge),
        }
    }

    /// Whether a peer has proved that it knows the password, if there is one.
    pub fn admits(&mut self, peer: PeerId, proof: Option<&Proof>) -> bool {
        self.gate.as_mut().is_none_or(|gate| gate.admits(peer, proof))
    }

    /// Admits a spectator.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn enter(&mut self, peer: PeerId, watch: &Watch) -> Result<(), &'static str> {
        if watch.lobby.is_some_and(|lobby| lobby != self.lobby) {
            return Err("this ticket is for another table; ask for a new one");
        }
        if !self.admits(peer, watch.proof.as_ref()) {
            return Err(match watch.proof {
                Some(_) => "the password is wrong",
                None => "the table has a password; ask the host, and watch with --password",
            });
        }
        if self.watchers.len() >= MAX_WATCHERS && !self.watchers.contains_key(&peer) {
            return Err("there is no room for more spectators");
        }
        self.watchers.entry(peer).or_default();
        Ok(())
    }

    pub fn has(&self, peer: PeerId) -> bool {
        self.watchers.contains_key(&peer)
    }

    pub fn peers(&self) -> impl Iterator<Item = PeerId> + '_ {
        self.watchers.keys().copied()
    }

    /// Removes a spectator that has taken a seat.
    pub fn seat(&mut self, peer: PeerId) {
        self.watchers.remove(&peer);
    }

    pub fn gone(&mut self, peer: PeerId) {
        self.watchers.remove(&peer);
        if let Some(gate) = &mut self.gate {
            gate.gone(peer);
        }
    }

    /// Advances by half a second.
    pub fn tick(&mut self) {
        self.pages = PAGES_A_TICK;
        self.watchers.values_mut().for_each(|one| one.said = 0);
        if let Some(gate) = &mut self.gate {
            gate.tick();
        }
    }

    /// Counts a spectator's message; false if it sends too many.
    pub fn may_speak(&mut self, peer: PeerId) -> bool {
        self.watchers.get_mut(&peer).is_none_or(|one| {
            one.said = one.said.saturating_add(1);
            one.said <= SAID_A_TICK
        })
    }

    /// Records a spectator's request for the next page.
    pub fn ask(&mut self, peer: PeerId, mark: Mark) {
        if let Some(watcher) = self.watchers.get_mut(&peer) {
            watcher.waits = Some(mark);
        }
    }

    /// The frame that shows the table, to one spectator or to all.
    pub fn show(&self, charter: &SignedCharter, to: Option<PeerId>) -> Outgoing {
        let frame = Frame::Show(Box::new(Showing {
            charter: charter.charter().clone(),
            signatures: charter.signatures().clone(),
        }));
        let peers = self.peers().filter(|peer| to.is_none_or(|to| to == *peer));
        peers.map(|peer| (peer, frame.clone())).collect()
    }

    /// Whether all spectators have been sent the log to its end.
    pub fn is_served(&self) -> bool {
        self.watchers.values().all(|one| one.served)
    }

    /// Sends pages to the spectators that have requested one, in turn.
    pub fn serve(&mut self, table: Hash32, page: impl Fn(Mark) -> Next) -> Outgoing {
        let mut outbox = Vec::new();
        let last = self.last;
        let (after, before): (Vec<PeerId>, Vec<PeerId>) = self.peers().partition(|p| Some(*p) > last);
        for peer in after.into_iter().chain(before) {
            if self.pages == 0 {
                break;
            }
            let Some(watcher) = self.watchers.get_mut(&peer) else {
                continue;
            };
            let Some(mark) = watcher.waits else { continue };
            let frame = match page(mark) {
                Next::Nothing => continue,
                Next::Page(page) => {
                    watcher.served = page.last.is_some();
                    Frame::Page { table, page }
                }
                Next::Reset => Frame::Reset { table },
            };
            watcher.waits = None;
            self.pages -= 1;
            self.last = Some(peer);
            outbox.push((peer, frame));
        }
        outbox
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_dalek::SigningKey;

    const LOBBY: [u8; 8] = [3; 8];
    const TABLE: Hash32 = Hash32([5; 32]);

    fn peer(seed: u8) -> PeerId {
        PeerId::of(&SigningKey::from_bytes(&[seed; 32]))
    }

    fn watch(lobby: [u8; 8]) -> Watch {
        let lobby = Some(lobby);
        Watch { lobby, proof: None }
    }

    fn some(_: Mark) -> Next {
        Next::Page(Box::default())
    }

    #[test]
    fn the_ticket_lets_in_as_many_as_there_is_room_for() {
        let mut spectators = Spectators::new(LOBBY);
        assert!(spectators.enter(peer(1), &watch([4; 8])).is_err());
        let inside = (0..20).filter(|seed| spectators.enter(peer(*seed), &watch(LOBBY)).is_ok());
        assert_eq!(inside.count(), MAX_WATCHERS);
        // A spectator may send its request again, and one that leaves makes room.
        assert!(spectators.enter(peer(0), &watch(LOBBY)).is_ok());
        spectators.gone(peer(0));
        assert!(spectators.enter(peer(19), &watch(LOBBY)).is_ok());
    }

    #[test]
    fn a_locked_gallery_wants_the_password() {
        use fairdeal_protocol::crypto::pake::Password;
        use rand_chacha::ChaCha20Rng;
        use rand_core::SeedableRng as _;

        use crate::password_gate::GuestGate;

        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        let password = Password::new("open sesame".to_owned()).unwrap();
        let (host, guest) = (peer(1), peer(2));
        let mut spectators = Spectators::new(LOBBY);
        spectators.lock(HostGate::new(password.clone(), host, LOBBY));
        assert!(spectators.enter(guest, &watch(LOBBY)).is_err());
        let mut gate = GuestGate::new(&password, Some(LOBBY), guest, host, &mut rng);
        let login = gate.login().unwrap();
        let answer = spectators.login(guest, Some(LOBBY), login, &mut rng);
        let Some(Frame::Challenge(challenge)) = answer else { panic!("no challenge: {answer:?}") };
        let proof = gate.answer(&challenge).unwrap();
        let lobby = Some(LOBBY);
        assert!(spectators.enter(guest, &Watch { lobby, proof }).is_ok());
    }

    #[test]
    fn pages_are_few_and_go_round() {
        let mut spectators = Spectators::new(LOBBY);
        for seed in 0..6 {
            spectators.enter(peer(seed), &watch(LOBBY)).unwrap();
            spectators.ask(peer(seed), Mark::default());
        }
        let mut served: Vec<PeerId> = Vec::new();
        for _ in 0..2 {
            let outbox = spectators.serve(TABLE, some);
            assert!(outbox.len() <= PAGES_A_TICK as usize);
            served.extend(outbox.into_iter().map(|(peer, _)| peer));
            // The pages are used up, however often spectators ask.
            assert!(spectators.serve(TABLE, some).is_empty());
            spectators.tick();
        }
        served.sort();
        served.dedup();
        assert_eq!(served.len(), 6, "everybody had one");
        // A spectator gets no page without a request.
        assert!(spectators.serve(TABLE, some).is_empty());
    }

    #[test]
    fn rejected_guest_learns_nothing() {
        let mut spectators = Spectators::new(LOBBY);
        spectators.ask(peer(1), Mark::default());
        assert!(spectators.serve(TABLE, some).is_empty());
        assert!(spectators.is_served());
    }

    #[test]
    fn a_page_waits_until_there_is_one() {
        let mut spectators = Spectators::new(LOBBY);
        spectators.enter(peer(1), &watch(LOBBY)).unwrap();
        spectators.ask(peer(1), Mark::default());
        assert!(spectators.serve(TABLE, |_| Next::Nothing).is_empty());
        assert_eq!(spectators.serve(TABLE, some).len(), 1);
        assert!(!spectators.is_served());
        assert_eq!(spectators.serve(TABLE, |_| Next::Reset).len(), 0);
    }

    #[test]
    fn excessive_chat_is_refused() {
        let mut spectators = Spectators::new(LOBBY);
        spectators.enter(peer(1), &watch(LOBBY)).unwrap();
        let heard = (0..1000).filter(|_| spectators.may_speak(peer(1))).count();
        assert_eq!(heard, SAID_A_TICK as usize);
        spectators.tick();
        assert!(spectators.may_speak(peer(1)));
    }
}
