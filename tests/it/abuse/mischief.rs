//! The kinds of attack, and the attackers that carry them out.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fairdeal::store::IdentityKey;
use fairdeal_peers::record::AddressRecord;
use fairdeal_protocol::crypto::pake::{Door, Guest, Login, Password, Proof};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::transcript::page::Mark;
use fairdeal_protocol::wire::bounded::Text;
use fairdeal_protocol::wire::codec::decode;
use fairdeal_session::frame::{Frame, Join, MAX_FRAME, Watch};
use futures::{AsyncReadExt as _, AsyncWriteExt as _};
use libp2p::core::muxing::SubstreamBox;
use libp2p::identity::Keypair;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::rude::{ANNOUNCE, MEET, MULTISTREAM, Rude, dial, selection};

/// Attacking networks: 127.0.0.2 and the addresses after it. Honest players connect from 127.0.0.1.
const NETWORKS: usize = 8;
/// Networks that guess passwords: the password gate serves at most four networks without delaying honest guests.
const GUESSING_NETWORKS: usize = 2;
/// How long an attacker uses one connection before it opens another.
const ROUND: Duration = Duration::from_secs(2);

/// A kind of attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// TCP connections that stay silent.
    SilentSockets,
    /// TCP connections that send one byte.
    OneByte,
    /// TCP connections that send a byte from time to time.
    SlowLoris,
    /// As many message streams as the connection allows, all kept open.
    ManyStreams,
    /// Streams of unknown protocols, and garbage on libp2p's own.
    OtherProtocols,
    /// Frames with a length above the limit.
    Oversized,
    /// Streams that end in the middle of a name, a length or a frame.
    CutShort,
    /// Empty frames and frames that do not decode.
    Garbage,
    /// A new stream for each message, oversized or valid. The attacker reads no answer.
    StreamPerMessage,
    /// A new program name on each stream, as if the peer restarted for each message.
    ProgramNames,
    /// Endless requests for the announcement.
    Announcements,
    /// Requests on a connection that the attacker never reads.
    NeverReads,
    /// Endless valid frames.
    ValidFrames,
    /// Connections that end after the handshake, each under a new identity.
    ChurnOfMany,
    /// The same with one identity.
    ChurnOfOne,
    /// Garbage, oversized and endless requests to the meeting point of a relay.
    Meetings,
    /// Wrong passwords from one peer.
    LoginsOfOne,
    /// Wrong passwords from many peers.
    LoginsOfMany,
}

impl Kind {
    /// Name in the output.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::SilentSockets => "silent sockets",
            Self::OneByte => "one byte a socket",
            Self::SlowLoris => "slow bytes",
            Self::ManyStreams => "many streams",
            Self::OtherProtocols => "other protocols",
            Self::Oversized => "oversized frames",
            Self::CutShort => "frames cut short",
            Self::Garbage => "garbage frames",
            Self::StreamPerMessage => "a stream per message",
            Self::ProgramNames => "new program names",
            Self::Announcements => "announcements",
            Self::NeverReads => "never reads",
            Self::ValidFrames => "valid frames",
            Self::ChurnOfMany => "churn, new identities",
            Self::ChurnOfOne => "churn, one identity",
            Self::Meetings => "meeting point",
            Self::LoginsOfOne => "logins of one peer",
            Self::LoginsOfMany => "logins of many peers",
        }
    }

    /// Whether the attack stays below the handshake. Each of these attackers has one socket, so there are more of them.
    fn is_half_open(self) -> bool {
        matches!(self, Self::SilentSockets | Self::OneByte | Self::SlowLoris)
    }

    fn guesses_passwords(self) -> bool {
        matches!(self, Self::LoginsOfOne | Self::LoginsOfMany)
    }

    /// Whether each connection uses a new identity; otherwise each attacker keeps one.
    fn changes_identity(self) -> bool {
        !matches!(self, Self::ChurnOfOne | Self::LoginsOfOne)
    }
}

/// How hard attackers try.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strength {
    /// Attackers that complete the handshake, for each kind and victim.
    pub(super) clients: usize,
    /// Attackers that only open a socket.
    pub(super) sockets: usize,
    /// The pause after each action of an attacker.
    pub(super) pause: Duration,
}

/// A program under attack. Clones share the table id that they learn.
#[derive(Clone, Debug)]
pub(super) struct Victim {
    pub(super) address: SocketAddr,
    /// Lobby id from its ticket.
    pub(super) lobby: Option<[u8; 8]>,
    /// Table id, once the game has begun.
    pub(super) table: Arc<Mutex<Option<Hash32>>>,
}

/// Running attackers; dropping this stops them.
#[derive(Debug)]
pub(super) struct Attack {
    tasks: JoinSet<()>,
    runtime: tokio::runtime::Handle,
    strength: Strength,
    strikes: Arc<AtomicUsize>,
}

impl Attack {
    pub(super) fn new(runtime: &tokio::runtime::Handle, strength: Strength) -> Self {
        Self { tasks: JoinSet::new(), runtime: runtime.clone(), strength, strikes: Arc::new(AtomicUsize::new(0)) }
    }

    /// Starts attackers of each kind against a victim.
    pub(super) fn begin(&mut self, kinds: &[Kind], victim: &Victim) {
        for kind in kinds {
            let count = match kind {
                kind if kind.is_half_open() => self.strength.sockets,
                Kind::LoginsOfOne => 1,
                _ => self.strength.clients,
            };
            let networks = if kind.guesses_passwords() { GUESSING_NETWORKS } else { NETWORKS };
            for number in 0..count {
                let last = u8::try_from(2 + number % networks).expect("few networks");
                let attacker = Attacker {
                    kind: *kind,
                    number,
                    from: Ipv4Addr::new(127, 0, 0, last),
                    victim: victim.clone(),
                    pause: self.strength.pause,
                    strikes: Arc::clone(&self.strikes),
                };
                self.tasks.spawn_on(attacker.run(), &self.runtime);
            }
        }
    }

    /// Stops all attackers. Returns the number of strikes.
    ///
    /// # Panics
    /// If an attacker has panicked.
    pub(super) fn end(mut self) -> usize {
        while let Some(ended) = self.tasks.try_join_next() {
            ended.expect("an attacker goes on until it is stopped");
        }
        self.strikes()
    }

    /// Number of sockets, connections, streams and frames that the attackers have sent.
    pub(super) fn strikes(&self) -> usize {
        self.strikes.load(Ordering::Relaxed)
    }
}

struct Attacker {
    kind: Kind,
    number: usize,
    from: Ipv4Addr,
    victim: Victim,
    pause: Duration,
    strikes: Arc<AtomicUsize>,
}

fn identity() -> Keypair {
    let identity = IdentityKey::generate().expect("the system has randomness");
    Keypair::ed25519_from_bytes(*identity.seed()).expect("a seed is a key")
}

impl Attacker {
    async fn run(self) {
        let mut key = identity();
        loop {
            // Returns an error whenever the victim defends itself.
            let _ = timeout(ROUND, self.round(&key)).await;
            if self.kind.changes_identity() {
                key = identity();
            }
            sleep(self.pause.max(Duration::from_millis(1))).await;
        }
    }

    /// Counts one action and pauses after it.
    async fn strike(&self) {
        self.strikes.fetch_add(1, Ordering::Relaxed);
        if self.pause.is_zero() {
            tokio::task::yield_now().await;
        } else {
            sleep(self.pause).await;
        }
    }

    async fn round(&self, key: &Keypair) -> io::Result<()> {
        if self.kind.is_half_open() {
            return self.half_open().await;
        }
        let rude = Rude::connect(self.victim.address, self.from, key).await?;
        match self.kind {
            Kind::SilentSockets | Kind::OneByte | Kind::SlowLoris => Ok(()),
            Kind::ChurnOfMany | Kind::ChurnOfOne => {
                self.strike().await;
                Ok(())
            }
            Kind::ManyStreams => self.many_streams(&rude).await,
            Kind::OtherProtocols => self.other_protocols(&rude).await,
            Kind::Oversized => self.oversized(&rude).await,
            Kind::CutShort => self.cut_short(&rude).await,
            Kind::Garbage => self.garbage(&rude).await,
            Kind::StreamPerMessage => self.stream_per_message(&rude).await,
            Kind::ProgramNames => self.program_names(&rude).await,
            Kind::Announcements => self.announcements(&rude).await,
            Kind::NeverReads => self.never_reads(&rude).await,
            Kind::ValidFrames => self.valid_frames(&rude).await,
            Kind::Meetings => self.meetings(&rude).await,
            Kind::LoginsOfOne | Kind::LoginsOfMany => self.logins(&rude).await,
        }
    }

    /// Holds a socket until the victim closes it.
    async fn half_open(&self) -> io::Result<()> {
        let mut stream = dial(self.victim.address, self.from).await?;
        // A reset frees the port at once; a normal close would block it for a minute.
        stream.set_zero_linger()?;
        self.strike().await;
        if self.kind == Kind::OneByte {
            stream.write_all(&[0x13]).await?;
        }
        let mut bytes = selection(MULTISTREAM).into_iter();
        let mut answer = [0; 64];
        loop {
            let slice = Duration::from_millis(100);
            match timeout(slice, stream.read(&mut answer)).await {
                Ok(Ok(0) | Err(_)) => return Ok(()),
                Ok(Ok(_)) => {}
                Err(_) if self.kind == Kind::SlowLoris => {
                    let byte = bytes.next().unwrap_or(b'\n');
                    stream.write_all(&[byte]).await?;
                    self.strike().await;
                }
                Err(_) => {}
            }
        }
    }

    async fn many_streams(&self, rude: &Rude) -> io::Result<()> {
        let mut open = Vec::new();
        for number in 0.. {
            let mut stream = match number % 3 {
                // A stream that stays silent.
                0 => rude.open().await?,
                1 => rude.open_as(super::rude::TABLE).await?,
                _ => rude.open_table([7; 8], number).await?,
            };
            stream.flush().await?;
            open.push(stream);
            self.strike().await;
        }
        Ok(())
    }

    async fn other_protocols(&self, rude: &Rude) -> io::Result<()> {
        let known = [
            "/nonsense/1",
            "/fairdeal/table/4",
            "/ipfs/ping/1.0.0",
            "/ipfs/id/1.0.0",
            "/ipfs/id/push/1.0.0",
            "/libp2p/dcutr",
            "/libp2p/circuit/relay/0.2.0/hop",
            "/libp2p/circuit/relay/0.2.0/stop",
            "ls",
        ];
        for number in (0..=u8::MAX).cycle() {
            let name = known[usize::from(number) % known.len()];
            let mut stream = rude.open_as(name).await?;
            // Valid as the length of a small message, invalid as protobuf.
            stream.write_all(&[number; 40]).await?;
            stream.flush().await?;
            self.strike().await;
            // A protocol name without an end.
            let mut stream = rude.open().await?;
            stream.write_all(&[0xff; 300]).await?;
            stream.flush().await?;
            self.strike().await;
        }
        Ok(())
    }

    async fn oversized(&self, rude: &Rude) -> io::Result<()> {
        let most = u32::try_from(MAX_FRAME).expect("a frame is short");
        for number in 0.. {
            for length in [u32::MAX, most + 1, u32::MAX / 2] {
                let mut stream = rude.open_table([7; 8], number).await?;
                stream.write_all(&length.to_le_bytes()).await?;
                stream.write_all(&[1; 20_000]).await?;
                stream.flush().await?;
                self.strike().await;
                let mut question = rude.open_as(ANNOUNCE).await?;
                question.write_all(&length.to_le_bytes()).await?;
                question.flush().await?;
                self.strike().await;
            }
        }
        Ok(())
    }

    async fn cut_short(&self, rude: &Rude) -> io::Result<()> {
        let mut whole = selection(super::rude::TABLE);
        whole.extend([7; 16]);
        whole.extend(1000_u32.to_le_bytes());
        whole.extend([1; 10]);
        for end in (0..=whole.len()).cycle() {
            let mut stream = rude.open().await?;
            stream.write_all(&whole[..end]).await?;
            stream.flush().await?;
            // Close every other stream normally; reset the rest.
            if end % 2 == 0 {
                stream.close().await?;
            }
            self.strike().await;
        }
        Ok(())
    }

    async fn garbage(&self, rude: &Rude) -> io::Result<()> {
        let mut stream = rude.open_table([7; 8], 1).await?;
        let good = self.join(None).to_bytes();
        for number in self.number.. {
            let frame = match number % 4 {
                0 => Vec::new(),
                1 => vec![0xff; 1000],
                2 => vec![7; 100_000],
                _ => {
                    let mut flipped = good.clone();
                    let at = number % flipped.len();
                    flipped[at] ^= 0x40;
                    flipped
                }
            };
            self.say(&mut stream, &frame).await?;
        }
        Ok(())
    }

    /// The victim reads the first message of each stream, even while earlier messages wait.
    async fn stream_per_message(&self, rude: &Rude) -> io::Result<()> {
        let mut open = Vec::new();
        let watch = self.watch().to_bytes();
        for number in 1.. {
            let mut stream = rude.open_table([7; 8], number).await?;
            // Long messages cost memory but end the connection once decoded; valid ones do not.
            if self.number.is_multiple_of(2) {
                self.say(&mut stream, &vec![9; MAX_FRAME]).await?;
            } else {
                self.say(&mut stream, &watch).await?;
            }
            open.push(stream);
            if open.len() > 32 {
                open.remove(0);
            }
        }
        Ok(())
    }

    async fn program_names(&self, rude: &Rude) -> io::Result<()> {
        let watch = self.watch().to_bytes();
        for number in 0_u64.. {
            let program = (number % 3).to_le_bytes();
            let mut stream = rude.open_table(program, number).await?;
            self.say(&mut stream, &watch).await?;
        }
        Ok(())
    }

    async fn announcements(&self, rude: &Rude) -> io::Result<()> {
        let mut unread = Vec::new();
        loop {
            let mut stream = rude.open_as(ANNOUNCE).await?;
            self.say(&mut stream, &[]).await?;
            if self.number.is_multiple_of(2) {
                // Read until the answer is complete, if any comes.
                let mut answer = Vec::new();
                let _ = stream.read_to_end(&mut answer).await;
            } else {
                unread.push(stream);
                if unread.len() > 16 {
                    unread.clear();
                }
            }
        }
    }

    /// Every kind of bad request, and lists without end.
    async fn meetings(&self, rude: &Rude) -> io::Result<()> {
        let mut unread = Vec::new();
        for number in self.number.. {
            let mut stream = rude.open_as(MEET).await?;
            match number % 4 {
                // A list of all games, from the start.
                0 => self.say(&mut stream, &[2, 0, 0]).await?,
                1 => self.say(&mut stream, &[0; 4096]).await?,
                2 => self.say(&mut stream, &[0xff; 100]).await?,
                _ => {
                    stream.write_all(&u32::MAX.to_le_bytes()).await?;
                    stream.flush().await?;
                    self.strike().await;
                }
            }
            unread.push(stream);
            if unread.len() > 16 {
                unread.clear();
            }
        }
        Ok(())
    }

    async fn never_reads(&self, rude: &Rude) -> io::Result<()> {
        let mut open = Vec::new();
        for _ in 0..16 {
            let mut question = rude.open_as(ANNOUNCE).await?;
            self.say(&mut question, &[]).await?;
            open.push(question);
        }
        let mut stream = rude.open_table([7; 8], 1).await?;
        self.say(&mut stream, &self.watch().to_bytes()).await?;
        for _ in 0..8 {
            if let Some(more) = self.more() {
                self.say(&mut stream, &more.to_bytes()).await?;
            }
        }
        rude.freeze().await;
        rude.closed().await;
        Ok(())
    }

    async fn valid_frames(&self, rude: &Rude) -> io::Result<()> {
        let mut stream = rude.open_table([7; 8], 1).await?;
        self.say(&mut stream, &self.watch().to_bytes()).await?;
        loop {
            let Some(more) = self.more() else {
                // In a lobby, any other frame would take seats from honest guests.
                self.say(&mut stream, &self.watch().to_bytes()).await?;
                continue;
            };
            let frames = match self.number % 3 {
                0 => vec![self.join(None)],
                1 => vec![more],
                _ => vec![self.watch(), more, self.join(None), Frame::Ready(true), Frame::Say(text("hello"))],
            };
            for frame in frames {
                self.say(&mut stream, &frame.to_bytes()).await?;
            }
        }
    }

    /// Guesses passwords, one after another.
    async fn logins(&self, rude: &Rude) -> io::Result<()> {
        let mut stream = rude.open_table([7; 8], 1).await?;
        let lobby = self.victim.lobby;
        let wrong: Proof = decode(&[9; 64], 64).expect("any 64 bytes are a proof");
        loop {
            let login = self.guess();
            let login = Frame::Login { lobby, login };
            self.say(&mut stream, &login.to_bytes()).await?;
            let join = self.join(Some(wrong));
            self.say(&mut stream, &join.to_bytes()).await?;
        }
    }

    /// The first message of a login with a guessed password.
    fn guess(&self) -> Login {
        let count = self.strikes.load(Ordering::Relaxed);
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&count.to_le_bytes());
        let mut rng = ChaCha20Rng::from_seed(seed);
        let password = Password::new(format!("guess {count}")).expect("a password");
        let gate = Door { lobby: self.victim.lobby.unwrap_or_default(), guest: [1; 32], host: [2; 32] };
        Guest::start(&password, &gate, &mut rng).1
    }

    fn join(&self, proof: Option<Proof>) -> Frame {
        Frame::Join(Join {
            lobby: self.victim.lobby,
            name: text("stranger"),
            nonce: [9; 32],
            record: AddressRecord::default(),
            proof,
            program: [7; 16].into(),
            played_by: PlayedBy::Person,
        })
    }

    fn watch(&self) -> Frame {
        let lobby = self.victim.lobby;
        Frame::Watch(Watch { lobby, proof: None })
    }

    /// A spectator's request for the log from its beginning, once the game has begun.
    fn more(&self) -> Option<Frame> {
        let table = *self.victim.table.lock().unwrap();
        table.map(|table| Frame::More { table, mark: Mark::default() })
    }

    /// Sends one frame.
    async fn say(&self, stream: &mut SubstreamBox, frame: &[u8]) -> io::Result<()> {
        let length = u32::try_from(frame.len()).expect("a frame is short");
        stream.write_all(&length.to_le_bytes()).await?;
        stream.write_all(frame).await?;
        stream.flush().await?;
        self.strike().await;
        Ok(())
    }
}

fn text<const MAX: usize>(text: &str) -> Text<MAX> {
    text.to_owned().try_into().expect("a short text")
}
