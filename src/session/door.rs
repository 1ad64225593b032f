//! The door of a table with a password: who has it comes in, and nobody learns it by knocking.
//!
//! Two pure state machines around the protocol's password proof ([`fairdeal_protocol::crypto::pake`]). Every knock
//! that is answered is one guess at the password, so a host answers few of them: a handful at once, and one more
//! every two seconds; of one peer or one network fewer, so that nobody uses up the others' part. A guest that has
//! proved that it knows the password gives its guess back.

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_net::{Network, PeerId};
use fairdeal_protocol::crypto::pake::{self, Challenge, Door, Knock, PakeError, Password, Proof};
use rand_core::CryptoRng;

/// Guesses that are answered at once.
const MAX_GUESSES: u32 = 8;
/// Guesses of one peer that are answered at once.
const MAX_OF_A_PEER: u32 = 2;
/// The same of one network: the guests of a household have one address.
const MAX_OF_A_NETWORK: u32 = 4;
/// Ticks of half a second until one more is.
const TICKS_A_GUESS: u32 = 4;
/// Ticks until one more is of each peer and network.
const TICKS_OF_ONE: u32 = 4 * TICKS_A_GUESS;
/// Peers that have knocked and not come in yet.
const MAX_KNOCKING: usize = 64;

fn door(lobby: Option<[u8; 8]>, guest: PeerId, host: PeerId) -> Door {
    Door {
        // A guest that comes by a bare address knows of no lobby.
        lobby: lobby.unwrap_or_default(),
        guest: guest.to_bytes(),
        host: host.to_bytes(),
    }
}

/// A peer or a network that guesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Peer(PeerId),
    Network(Network),
}

impl Source {
    /// Its guesses that are answered at once.
    fn most(self) -> u32 {
        match self {
            Self::Peer(_) => MAX_OF_A_PEER,
            Self::Network(_) => MAX_OF_A_NETWORK,
        }
    }
}

/// The host's side.
#[derive(Debug)]
pub struct HostDoor {
    password: Password,
    host: PeerId,
    lobby: [u8; 8],
    knocking: BTreeMap<PeerId, (Knock, pake::Host, Challenge)>,
    /// Peers that have proved that they know the password: they may reconnect.
    admitted: BTreeSet<PeerId>,
    /// Where the connected peers dial from.
    networks: BTreeMap<PeerId, Network>,
    guesses: u32,
    /// The guesses of each source that still count; of as many as there were guesses lately.
    spent: BTreeMap<Source, u32>,
    ticks: u32,
}

impl HostDoor {
    /// The door of this host's table.
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

    /// The table password.
    pub fn password(&self) -> &Password {
        &self.password
    }

    /// A peer has connected from there.
    pub fn arrived(&mut self, guest: PeerId, network: Network) {
        self.networks.insert(guest, network);
    }

    fn sources(&self, guest: PeerId) -> impl Iterator<Item = Source> + use<> {
        let network = self.networks.get(&guest).copied();
        std::iter::once(Source::Peer(guest)).chain(network.map(Source::Network))
    }

    /// Answers a knock; nothing if too many guess, or if it is at another table's door.
    pub fn knock(
        &mut self,
        guest: PeerId,
        lobby: Option<[u8; 8]>,
        knock: Knock,
        rng: &mut dyn CryptoRng,
    ) -> Option<Challenge> {
        if let Some((known, _, challenge)) = self.knocking.get(&guest)
            && *known == knock
        {
            return Some(*challenge);
        }
        let full = self.knocking.len() >= MAX_KNOCKING && !self.knocking.contains_key(&guest);
        if full || lobby.is_some_and(|lobby| lobby != self.lobby) {
            return None;
        }
        // Who knows the password need not guess.
        if !self.admitted.contains(&guest) {
            self.spend_guess(guest)?;
        }
        let door = door(lobby, guest, self.host);
        let (host, challenge) = pake::Host::answer(&self.password, &door, &knock, rng).ok()?;
        self.knocking.insert(guest, (knock, host, challenge));
        Some(challenge)
    }

    /// Counts a guess of a guest; nothing if there is none left.
    fn spend_guess(&mut self, guest: PeerId) -> Option<()> {
        let spent = |source: Source| self.spent.get(&source).copied().unwrap_or(0);
        if self
            .sources(guest)
            .any(|source| spent(source) >= source.most())
        {
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
            // It shall not try other proofs on the same knock.
            self.knocking.remove(&guest);
        }
        good
    }

    pub fn gone(&mut self, guest: PeerId) {
        self.knocking.remove(&guest);
        self.networks.remove(&guest);
    }

    /// Gives a guess back to these sources.
    fn forgive(&mut self, to: impl Fn(&Source) -> bool) {
        self.spent.retain(|source, spent| {
            if to(source) {
                *spent = spent.saturating_sub(1);
            }
            *spent > 0
        });
    }

    /// Half a second has passed.
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

/// The guest's side.
#[derive(Debug)]
pub struct GuestDoor {
    password: Password,
    lobby: Option<[u8; 8]>,
    guest: PeerId,
    host: PeerId,
    knock: Knock,
    waiting: Option<pake::Guest>,
}

impl GuestDoor {
    /// Knocks at a host's door, as the guest with that key.
    pub fn new(
        password: &Password,
        lobby: Option<[u8; 8]>,
        guest: PeerId,
        host: PeerId,
        rng: &mut dyn CryptoRng,
    ) -> Self {
        let (waiting, knock) = pake::Guest::start(password, &door(lobby, guest, host), rng);
        Self {
            password: password.clone(),
            lobby,
            guest,
            host,
            knock,
            waiting: Some(waiting),
        }
    }

    /// Starts a new attempt: with a lost connection the host forgets a knock that has not led in yet.
    pub fn again(&mut self, rng: &mut dyn CryptoRng) {
        *self = Self::new(&self.password, self.lobby, self.guest, self.host, rng);
    }

    /// The message to repeat until there is an answer.
    pub fn knock(&self) -> Option<Knock> {
        self.waiting.as_ref().map(|_| self.knock)
    }

    /// Takes the host's answer; nothing after the first.
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
    use crate::store::IdentityKey;

    const LOBBY: [u8; 8] = [5; 8];

    fn peer(n: u8) -> PeerId {
        PeerId::of(&IdentityKey::from_seed([n; 32]).signing_key()).unwrap()
    }

    fn password(text: &str) -> Password {
        Password::new(text.to_owned()).unwrap()
    }

    fn rng() -> ChaCha20Rng {
        ChaCha20Rng::from_seed([7; 32])
    }

    fn host() -> HostDoor {
        HostDoor::new(password("open sesame"), peer(0), LOBBY)
    }

    fn guest(n: u8, text: &str, rng: &mut ChaCha20Rng) -> GuestDoor {
        GuestDoor::new(&password(text), Some(LOBBY), peer(n), peer(0), rng)
    }

    #[test]
    fn who_knows_the_password_comes_in_and_nobody_else() {
        let (mut rng, mut host) = (rng(), host());
        let mut good = guest(1, "open sesame", &mut rng);
        let knock = good.knock().unwrap();
        let challenge = host.knock(peer(1), Some(LOBBY), knock, &mut rng).unwrap();
        // Said again, because an answer was lost.
        assert_eq!(
            host.knock(peer(1), Some(LOBBY), knock, &mut rng),
            Some(challenge)
        );
        let proof = good.answer(&challenge).unwrap();
        assert!(proof.is_some() && good.knock().is_none());
        assert!(!host.admits(peer(2), proof.as_ref()), "as somebody else");
        assert!(!host.admits(peer(1), None));
        assert!(host.admits(peer(1), proof.as_ref()));
        host.gone(peer(1));
        assert!(host.admits(peer(1), proof.as_ref()), "once more");
        let mut bad = guest(2, "open barley", &mut rng);
        let knock = bad.knock().unwrap();
        let challenge = host.knock(peer(2), Some(LOBBY), knock, &mut rng).unwrap();
        assert!(bad.answer(&challenge).is_err());
        assert!(!host.admits(peer(2), proof.as_ref()));
        let elsewhere = host.knock(peer(3), Some([6; 8]), knock, &mut rng);
        assert_eq!(elsewhere, None);
    }

    /// The proof was on its way when the connection broke.
    #[test]
    fn who_has_lost_the_connection_knocks_anew() {
        let (mut rng, mut host) = (rng(), host());
        let mut door = guest(1, "open sesame", &mut rng);
        for lost in [true, false] {
            let knock = door.knock().expect("it knocks");
            let challenge = host.knock(peer(1), Some(LOBBY), knock, &mut rng).unwrap();
            let proof = door.answer(&challenge).unwrap();
            if lost {
                host.gone(peer(1));
                assert!(!host.admits(peer(1), proof.as_ref()));
                door.again(&mut rng);
            } else {
                assert!(host.admits(peer(1), proof.as_ref()));
            }
        }
    }

    /// Whether a wrong guess of that peer is answered.
    fn guesses(host: &mut HostDoor, n: u8) -> bool {
        let mut rng = rng();
        let knock = guest(n, "guess", &mut rng).knock().unwrap();
        let challenge = host.knock(peer(n), Some(LOBBY), knock, &mut rng);
        // Or the next would be the same knock again.
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
    fn who_was_inside_knocks_anew_whatever_others_guess() {
        let (mut rng, mut host) = (rng(), host());
        let mut good = guest(40, "open sesame", &mut rng);
        let knock = good.knock().unwrap();
        let challenge = host.knock(peer(40), Some(LOBBY), knock, &mut rng).unwrap();
        let proof = good.answer(&challenge).unwrap();
        assert!(host.admits(peer(40), proof.as_ref()));
        host.gone(peer(40));
        for n in 1..20 {
            guesses(&mut host, n);
        }
        assert!(!guesses(&mut host, 20), "all guesses are used up");
        good.again(&mut rng);
        let knock = good.knock().unwrap();
        assert!(host.knock(peer(40), Some(LOBBY), knock, &mut rng).is_some());
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
        // Ever new keys, from one line.
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
