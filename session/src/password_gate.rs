//! The password gate of a table: only peers with the password pass, and login attempts do not reveal it.
//!
//! Two pure state machines around the protocol's password handshake ([`fairdeal_protocol::crypto::pake`]). Each
//! answered attempt allows one guess, so the host limits the answers: a burst, then one more every two seconds. The
//! limits per peer and per network are lower, so no peer uses up the others' share. A guest that proves the password
//! gets its guess back.

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_peers::PeerId;
use fairdeal_peers::address::Network;
use fairdeal_protocol::crypto::pake::{self, Challenge, Door, Login, PakeError, Password, Proof};
use rand_core::CryptoRng;

/// Guesses answered in a burst.
const MAX_GUESSES: u32 = 8;
/// Guesses answered in a burst from one peer.
const MAX_OF_A_PEER: u32 = 2;
/// Guesses answered in a burst from one network: the guests of a household share an address.
const MAX_OF_A_NETWORK: u32 = 4;
/// Ticks of half a second until one more guess is answered.
const TICKS_A_GUESS: u32 = 4;
/// Ticks until one more guess is answered from each peer and network.
const TICKS_OF_ONE: u32 = 4 * TICKS_A_GUESS;
/// Maximum number of peers with a pending attempt.
const MAX_KNOCKING: usize = 64;

fn gate(lobby: Option<[u8; 8]>, guest: PeerId, host: PeerId) -> Door {
    Door {
        // A guest that joins by a bare address knows no lobby number.
        lobby: lobby.unwrap_or_default(),
        guest: guest.to_bytes(),
        host: host.to_bytes(),
    }
}

/// The source of a guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Peer(PeerId),
    Network(Network),
}

impl Source {
    /// Guesses answered in a burst from this source.
    fn most(self) -> u32 {
        match self {
            Self::Peer(_) => MAX_OF_A_PEER,
            Self::Network(_) => MAX_OF_A_NETWORK,
        }
    }
}

/// The host's side of the gate.
#[derive(Debug)]
pub struct HostGate {
    password: Password,
    host: PeerId,
    lobby: [u8; 8],
    knocking: BTreeMap<PeerId, (Login, pake::Host, Challenge)>,
    /// Peers that have proved the password and may reconnect.
    admitted: BTreeSet<PeerId>,
    /// The networks of the connected peers.
    networks: BTreeMap<PeerId, Network>,
    guesses: u32,
    /// Recent guesses per source; sources without any are dropped.
    spent: BTreeMap<Source, u32>,
    ticks: u32,
}

impl HostGate {
    /// The password gate of this host's table.
    pub fn new(password: Password, host: PeerId, lobby: [u8; 8]) -> Self {
        Self {
            password,
            host,
            lobby,
            knocking: BTreeMap::new(),
            admitted: BTreeSet::new(),
            networks: BTreeMap::new(),
            guesses: MAX_GUESSES,
            spent: BTreeMap::new(),
            ticks: 0,
        }
    }

    pub fn password(&self) -> &Password {
        &self.password
    }

    /// Records the network from which a peer has connected.
    pub fn arrived(&mut self, guest: PeerId, network: Network) {
        self.networks.insert(guest, network);
    }

    fn sources(&self, guest: PeerId) -> impl Iterator<Item = Source> + use<> {
        let network = self.networks.get(&guest).copied();
        std::iter::once(Source::Peer(guest)).chain(network.map(Source::Network))
    }

    /// Answers a login attempt; `None` if there are too many guesses, or if the attempt is for another table.
    pub fn login(
        &mut self,
        guest: PeerId,
        lobby: Option<[u8; 8]>,
        login: Login,
        rng: &mut dyn CryptoRng,
    ) -> Option<Challenge> {
        if let Some((known, _, challenge)) = self.knocking.get(&guest)
            && *known == login
        {
            return Some(*challenge);
        }
        let full = self.knocking.len() >= MAX_KNOCKING && !self.knocking.contains_key(&guest);
        if full || lobby.is_some_and(|lobby| lobby != self.lobby) {
            return None;
        }
        // An admitted guest knows the password, so this is no guess.
        if !self.admitted.contains(&guest) {
            self.spend_guess(guest)?;
        }
        let gate = gate(lobby, guest, self.host);
        let (host, challenge) = pake::Host::answer(&self.password, &gate, &login, rng).ok()?;
        self.knocking.insert(guest, (login, host, challenge));
        Some(challenge)
    }

    /// Counts a guess; `None` if no guess is left.
    fn spend_guess(&mut self, guest: PeerId) -> Option<()> {
        let spent = |source: Source| self.spent.get(&source).copied().unwrap_or(0);
        if self.sources(guest).any(|source| spent(source) >= source.most()) {
            return None;
        }
        self.guesses = self.guesses.checked_sub(1)?;
        for source in self.sources(guest) {
            *self.spent.entry(source).or_insert(0) += 1;
        }
        Some(())
    }

    /// Whether a guest has proved that it knows the password.
    pub fn admits(&mut self, guest: PeerId, proof: Option<&Proof>) -> bool {
        if self.admitted.contains(&guest) {
            return true;
        }
        let Some(((_, host, _), proof)) = self.knocking.get(&guest).zip(proof) else {
            return false;
        };
        let good = host.check(proof).is_ok();
        if good {
            self.guesses = self.guesses.saturating_add(1).min(MAX_GUESSES);
            for source in self.sources(guest) {
                self.forgive(|spent| *spent == source);
            }
            if self.admitted.len() < MAX_KNOCKING {
                self.admitted.insert(guest);
            }
        } else {
            // Forget the attempt: the guest must not try other proofs on it.
            self.knocking.remove(&guest);
        }
        good
    }

    pub fn gone(&mut self, guest: PeerId) {
        self.knocking.remove(&guest);
        self.networks.remove(&guest);
    }

    /// Gives one guess back to the matching sources.
    fn forgive(&mut self, to: impl Fn(&Source) -> bool) {
        self.spent.retain(|source, spent| {
            if to(source) {
                *spent = spent.saturating_sub(1);
            }
            *spent > 0
        });
    }

    /// Advances by half a second.
    pub fn tick(&mut self) {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(TICKS_A_GUESS) {
            self.guesses = self.guesses.saturating_add(1).min(MAX_GUESSES);
        }
        if self.ticks.is_multiple_of(TICKS_OF_ONE) {
            self.forgive(|_| true);
        }
    }
}

/// The guest's side of the gate.
#[derive(Debug)]
pub struct GuestGate {
    password: Password,
    lobby: Option<[u8; 8]>,
    guest: PeerId,
    host: PeerId,
    login: Login,
    waiting: Option<pake::Guest>,
}

impl GuestGate {
    /// Starts a login attempt at a host, as the guest with this peer id.
    pub fn new(
        password: &Password,
        lobby: Option<[u8; 8]>,
        guest: PeerId,
        host: PeerId,
        rng: &mut dyn CryptoRng,
    ) -> Self {
        let (waiting, login) = pake::Guest::start(password, &gate(lobby, guest, host), rng);
        Self { password: password.clone(), lobby, guest, host, login, waiting: Some(waiting) }
    }

    /// Starts a new attempt: when a connection is lost, the host forgets the pending one.
    pub fn again(&mut self, rng: &mut dyn CryptoRng) {
        *self = Self::new(&self.password, self.lobby, self.guest, self.host, rng);
    }

    /// The message to repeat until there is an answer.
    pub fn login(&self) -> Option<Login> {
        self.waiting.as_ref().map(|_| self.login)
    }

    /// Handles the host's challenge; ignores all after the first.
    ///
    /// # Errors
    /// [`PakeError`] if the host has another password, or none.
    pub fn answer(&mut self, challenge: &Challenge) -> Result<Option<Proof>, PakeError> {
        let waiting = self.waiting.take();
        waiting.map(|waiting| waiting.finish(challenge)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;
    use ed25519_dalek::SigningKey;

    const LOBBY: [u8; 8] = [5; 8];

    fn peer(n: u8) -> PeerId {
        PeerId::of(&SigningKey::from_bytes(&[n; 32]))
    }

    fn password(text: &str) -> Password {
        Password::new(text.to_owned()).unwrap()
    }

    fn rng() -> ChaCha20Rng {
        ChaCha20Rng::from_seed([7; 32])
    }

    fn host() -> HostGate {
        HostGate::new(password("open sesame"), peer(0), LOBBY)
    }

    fn guest(n: u8, text: &str, rng: &mut ChaCha20Rng) -> GuestGate {
        GuestGate::new(&password(text), Some(LOBBY), peer(n), peer(0), rng)
    }

    #[test]
    fn only_the_password_admits() {
        let (mut rng, mut host) = (rng(), host());
        let mut good = guest(1, "open sesame", &mut rng);
        let login = good.login().unwrap();
        let challenge = host.login(peer(1), Some(LOBBY), login, &mut rng).unwrap();
        // The guest repeats its message because an answer was lost.
        assert_eq!(host.login(peer(1), Some(LOBBY), login, &mut rng), Some(challenge));
        let proof = good.answer(&challenge).unwrap();
        assert!(proof.is_some() && good.login().is_none());
        assert!(!host.admits(peer(2), proof.as_ref()), "as somebody else");
        assert!(!host.admits(peer(1), None));
        assert!(host.admits(peer(1), proof.as_ref()));
        host.gone(peer(1));
        assert!(host.admits(peer(1), proof.as_ref()), "once more");
        let mut bad = guest(2, "open barley", &mut rng);
        let login = bad.login().unwrap();
        let challenge = host.login(peer(2), Some(LOBBY), login, &mut rng).unwrap();
        assert!(bad.answer(&challenge).is_err());
        assert!(!host.admits(peer(2), proof.as_ref()));
        let elsewhere = host.login(peer(3), Some([6; 8]), login, &mut rng);
        assert_eq!(elsewhere, None);
    }

    /// The connection broke while the proof was in transit.
    #[test]
    fn reconnecting_guest_logs_in_again() {
        let (mut rng, mut host) = (rng(), host());
        let mut gate = guest(1, "open sesame", &mut rng);
        for lost in [true, false] {
            let login = gate.login().expect("it knocks");
            let challenge = host.login(peer(1), Some(LOBBY), login, &mut rng).unwrap();
            let proof = gate.answer(&challenge).unwrap();
            if lost {
                host.gone(peer(1));
                assert!(!host.admits(peer(1), proof.as_ref()));
                gate.again(&mut rng);
            } else {
                assert!(host.admits(peer(1), proof.as_ref()));
            }
        }
    }

    /// Whether a wrong guess from that peer is answered.
    fn guesses(host: &mut HostGate, n: u8) -> bool {
        let mut rng = rng();
        let login = guest(n, "guess", &mut rng).login().unwrap();
        let challenge = host.login(peer(n), Some(LOBBY), login, &mut rng);
        // Otherwise the next guess would count as a repeat of this one.
        host.knocking.remove(&peer(n));
        challenge.is_some()
    }

    #[test]
    fn few_guesses_are_answered() {
        let mut host = host();
        let answered = (1..=20).filter(|n| guesses(&mut host, *n)).count();
        assert_eq!(answered, MAX_GUESSES as usize);
        for _ in 0..TICKS_A_GUESS {
            host.tick();
        }
        assert!(guesses(&mut host, 30));
        assert!(!guesses(&mut host, 31));
    }

    #[test]
    fn returning_guest_logs_in_despite_other_guesses() {
        let (mut rng, mut host) = (rng(), host());
        let mut good = guest(40, "open sesame", &mut rng);
        let login = good.login().unwrap();
        let challenge = host.login(peer(40), Some(LOBBY), login, &mut rng).unwrap();
        let proof = good.answer(&challenge).unwrap();
        assert!(host.admits(peer(40), proof.as_ref()));
        host.gone(peer(40));
        for n in 1..20 {
            guesses(&mut host, n);
        }
        assert!(!guesses(&mut host, 20), "all guesses are used up");
        good.again(&mut rng);
        let login = good.login().unwrap();
        assert!(host.login(peer(40), Some(LOBBY), login, &mut rng).is_some());
    }

    #[test]
    fn nobody_uses_up_the_guesses_of_the_others() {
        let network = |address: &str| Network::of(&address.parse().unwrap()).unwrap();
        let mut host = host();
        let mut of_a_peer = 0;
        while guesses(&mut host, 1) {
            of_a_peer += 1;
        }
        assert_eq!(of_a_peer, MAX_OF_A_PEER);
        // Always new keys, from one network.
        let mut of_a_network = 0;
        for n in 50..90 {
            let address = format!("/ip6/2001:db8::{n}/tcp/1");
            host.arrived(peer(n), network(&address));
            of_a_network += u32::from(guesses(&mut host, n));
            host.gone(peer(n));
        }
        assert_eq!(of_a_network, MAX_OF_A_NETWORK);
        host.arrived(peer(2), network("/ip6/2001:db8:1::1/tcp/1"));
        assert!(guesses(&mut host, 2), "an honest guest");
        for _ in 0..TICKS_OF_ONE {
            host.tick();
        }
        assert!(guesses(&mut host, 1), "one that tries again later");
        assert!(!guesses(&mut host, 1));
        for _ in 0..10 * TICKS_OF_ONE {
            host.tick();
        }
        assert!(host.spent.is_empty());
    }
}
