//! One connection to whoever is dialled: the handshake, then the streams under encryption.

use std::collections::VecDeque;

use ed25519_dalek::SigningKey;
use fairdeal_peers::PeerId;
use rand_core::CryptoRng;

use crate::LinkError;
use crate::messages::StreamName;
use crate::multistream::{Proposed, proposal};
use crate::noise::{Handshake, Sealed, next_frame};
use crate::received::Received;
use crate::streams::{Event, Streams};

const NOISE: &str = "/noise";
const YAMUX: &str = "/yamux/1.0.0";
/// The longest piece that [`crate::Connection::take_bytes`] gives, in bytes. Doors refuse longer messages of a WebSocket.
pub const MAX_PIECE: usize = 64 * 1024;

/// A connection. It is over with its first error: nothing of it may be used any more.
pub(crate) struct Direct {
    peer: PeerId,
    name: StreamName,
    /// The longest message that is read, in bytes.
    max_message: usize,
    received: Received,
    sending: VecDeque<u8>,
    stage: Stage,
    events: VecDeque<Event>,
}

enum Stage {
    /// Noise is proposed, and its first message sent.
    Greeting(Proposed, Handshake),
    /// Noise is agreed on; its second message is awaited.
    Shaking(Handshake),
    /// Yamux is proposed, under encryption.
    Sealing(Sealed, Proposed, Received),
    Open(Sealed, Box<Streams>),
    /// An error has ended it.
    Over,
}

impl Direct {
    /// Dials this peer under this key. The name is that of the stream of messages; of one program each connection needs a
    /// higher number.
    ///
    /// # Errors
    /// [`LinkError::Encryption`], which is a bug.
    pub(crate) fn dial(
        key: &SigningKey,
        peer: PeerId,
        name: StreamName,
        max_message: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, LinkError> {
        let (handshake, first) = Handshake::begin(key, rng)?;
        Ok(Self {
            peer,
            name,
            max_message,
            received: Received::default(),
            sending: [proposal(NOISE), first].concat().into(),
            stage: Stage::Greeting(Proposed::new(NOISE), handshake),
            events: VecDeque::new(),
        })
    }

    /// The peer at the other end.
    pub(crate) fn peer(&self) -> PeerId {
        self.peer
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Open(..))
    }

    /// Hears bytes that have arrived, in pieces of any length.
    ///
    /// # Errors
    /// [`LinkError`]: close the connection.
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        self.received.push(bytes);
        self.go_on().inspect_err(|_| self.stage = Stage::Over)
    }

    /// Sends a message behind all others; nothing before the connection is open.
    ///
    /// # Errors
    /// [`LinkError`]: close the connection.
    pub(crate) fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        self.with_streams(|streams| streams.send(message))
    }

    /// The owner has accepted the last message.
    ///
    /// # Errors
    /// [`LinkError`]: close the connection.
    pub(crate) fn taken(&mut self) -> Result<(), LinkError> {
        let Stage::Open(_, streams) = &mut self.stage else { return Ok(()) };
        streams.taken();
        self.go_on().inspect_err(|_| self.stage = Stage::Over)
    }

    /// The number of our messages that the peer has not accepted yet, and of their bytes.
    pub(crate) fn unanswered(&self) -> (usize, usize) {
        match &self.stage {
            Stage::Open(_, streams) => streams.unanswered(),
            _ => (0, 0),
        }
    }

    /// Asks the peer for a sign of life.
    ///
    /// # Errors
    /// [`LinkError`]: close the connection.
    pub(crate) fn ping(&mut self) -> Result<(), LinkError> {
        self.with_streams(Streams::ping)
    }

    /// Does something to the streams of an open connection, and seals what they want to send.
    pub(crate) fn with_streams(&mut self, change: impl FnOnce(&mut Streams)) -> Result<(), LinkError> {
        if let Stage::Open(_, streams) = &mut self.stage {
            change(streams);
        }
        self.flush()
    }

    /// The streams of an open connection.
    pub(crate) fn streams(&mut self) -> Option<&mut Streams> {
        match &mut self.stage {
            Stage::Open(_, streams) => Some(streams),
            _ => None,
        }
    }

    /// Bytes to send now, to whoever was dialled; at most [`MAX_PIECE`] of them: call it until nothing is left.
    pub(crate) fn take_bytes(&mut self) -> Option<Vec<u8>> {
        let count = self.sending.len().min(MAX_PIECE);
        (count > 0).then(|| self.sending.drain(..count).collect())
    }

    pub(crate) fn poll(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Reads on as far as bytes have arrived.
    fn go_on(&mut self) -> Result<(), LinkError> {
        self.read()?;
        self.flush()
    }

    fn read(&mut self) -> Result<(), LinkError> {
        loop {
            match std::mem::replace(&mut self.stage, Stage::Over) {
                Stage::Over => return Err(LinkError::Ended),
                Stage::Greeting(mut proposed, handshake) => match proposed.answer(&mut self.received)? {
                    None => {
                        self.stage = Stage::Greeting(proposed, handshake);
                        return Ok(());
                    }
                    Some(false) => return Err(LinkError::Protocol("it has no Noise")),
                    Some(true) => self.stage = Stage::Shaking(handshake),
                },
                Stage::Shaking(handshake) => {
                    let Some(second) = next_frame(&mut self.received) else {
                        self.stage = Stage::Shaking(handshake);
                        return Ok(());
                    };
                    let (mut sealed, third) = handshake.finish(&second, self.peer)?;
                    self.sending.extend(third);
                    self.sending.extend(sealed.seal(&proposal(YAMUX))?);
                    self.stage = Stage::Sealing(sealed, Proposed::new(YAMUX), Received::default());
                }
                Stage::Sealing(mut sealed, mut proposed, mut opened) => {
                    while let Some(frame) = next_frame(&mut self.received) {
                        opened.push(&sealed.open(&frame)?);
                    }
                    match proposed.answer(&mut opened)? {
                        None => {
                            self.stage = Stage::Sealing(sealed, proposed, opened);
                            return Ok(());
                        }
                        Some(false) => return Err(LinkError::Protocol("it has no Yamux")),
                        Some(true) => {
                            let mut streams = Box::new(Streams::new(self.name, self.max_message));
                            streams.receive(opened.rest())?;
                            self.stage = Stage::Open(sealed, streams);
                            self.events.push_back(Event::Open);
                        }
                    }
                }
                Stage::Open(mut sealed, mut streams) => {
                    while let Some(frame) = next_frame(&mut self.received) {
                        streams.receive(&sealed.open(&frame)?)?;
                    }
                    streams.read(&mut self.events)?;
                    self.stage = Stage::Open(sealed, streams);
                    return Ok(());
                }
            }
        }
    }

    /// Seals the frames that the streams want to send.
    fn flush(&mut self) -> Result<(), LinkError> {
        if let Stage::Open(sealed, streams) = &mut self.stage {
            self.sending.extend(sealed.seal(&streams.take_frames())?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use fairdeal_peers::testing::{key, peer};
    use proptest::prelude::*;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;
    use crate::messages::PROTOCOL;
    use crate::multistream::Offered;
    use crate::noise::answering::Answering;
    use crate::streams::PING;
    use crate::yamux::{Mux, StreamId};

    const NAME: StreamName = StreamName { program: [7; 8], number: 1 };
    const MOST: usize = 1 << 20;

    fn dial() -> Direct {
        Direct::dial(&key(1), peer(2), NAME, MOST, &mut ChaCha20Rng::from_seed([1; 32])).unwrap()
    }

    /// The program at the other end: what libp2p does there, as far as this needs it.
    struct Program {
        received: Received,
        sealed: Option<Sealed>,
        mux: Mux,
        sending: Vec<u8>,
        answering: Option<Answering>,
        greeted: (Offered, bool, Offered, bool),
        opened: Received,
    }

    impl Program {
        fn new() -> Self {
            Self {
                received: Received::default(),
                sealed: None,
                mux: Mux::answering(),
                sending: Vec::new(),
                answering: Some(Answering::begin(&key(2), &mut ChaCha20Rng::from_seed([2; 32]))),
                greeted: (Offered::default(), false, Offered::default(), false),
                opened: Received::default(),
            }
        }

        fn receive(&mut self, bytes: &[u8]) {
            self.received.push(bytes);
            let (noise, has_noise, yamux, has_yamux) = &mut self.greeted;
            if !*has_noise {
                let (answer, agreed) = noise.answer(&mut self.received, &[NOISE]).unwrap();
                *has_noise = agreed.is_some();
                self.sending.extend(answer);
                if agreed.is_none() {
                    return;
                }
                let Some(first) = next_frame(&mut self.received) else { panic!("the first message comes along") };
                self.sending.extend(self.answering.as_mut().unwrap().answer(&first));
            }
            while let Some(frame) = next_frame(&mut self.received) {
                if let Some(answering) = self.answering.take() {
                    let (peer, sealed) = answering.finish(&frame);
                    assert_eq!(peer, fairdeal_peers::testing::peer(1));
                    self.sealed = Some(sealed);
                    continue;
                }
                let sealed = self.sealed.as_mut().unwrap();
                let content = sealed.open(&frame).unwrap();
                if *has_yamux {
                    self.mux.receive(&content).unwrap();
                    continue;
                }
                self.opened.push(&content);
                let (answer, agreed) = yamux.answer(&mut self.opened, &[YAMUX]).unwrap();
                *has_yamux = agreed.is_some();
                self.sending.extend(sealed.seal(&answer).unwrap());
                if *has_yamux {
                    self.mux.receive(self.opened.rest()).unwrap();
                }
            }
        }

        fn take_bytes(&mut self) -> Vec<u8> {
            let frames = self.mux.take_frames();
            if let Some(sealed) = &mut self.sealed {
                self.sending.extend(sealed.seal(&frames).unwrap());
            }
            std::mem::take(&mut self.sending)
        }

        /// Opens a stream of messages.
        fn opens(&mut self, number: u64, messages: &[&[u8]]) -> StreamId {
            let name = [[9; 8], number.to_le_bytes()].concat();
            let frames = messages.iter().flat_map(|message| {
                let length = u32::try_from(message.len()).unwrap();
                [&length.to_le_bytes(), *message].concat()
            });
            let bytes: Vec<u8> = [proposal(PROTOCOL), name].concat().into_iter().chain(frames).collect();
            self.mux.open(&bytes)
        }
    }

    /// Hands over bytes in pieces of this length, until nothing is left.
    fn exchange(connection: &mut Direct, program: &mut Program, piece: usize) -> Result<(), LinkError> {
        loop {
            let there: Vec<u8> = std::iter::from_fn(|| connection.take_bytes()).flatten().collect();
            let back = program.take_bytes();
            if there.is_empty() && back.is_empty() {
                return Ok(());
            }
            program.receive(&there);
            back.chunks(piece).try_for_each(|piece| connection.receive(piece))?;
        }
    }

    fn opened(piece: usize) -> (Direct, Program) {
        let (mut connection, mut program) = (dial(), Program::new());
        exchange(&mut connection, &mut program, piece).unwrap();
        assert_eq!(connection.poll(), Some(Event::Open));
        (connection, program)
    }

    #[test]
    fn messages_come_one_by_one_in_pieces_of_any_length() {
        let long = vec![5; 700_000];
        for piece in [1, 7, 4096, usize::MAX] {
            let (mut connection, mut program) = opened(piece);
            let id = program.opens(1, &[b"one", b"", b"two"]);
            exchange(&mut connection, &mut program, piece).unwrap();
            for message in [&b"one"[..], b"", b"two"] {
                assert_eq!(connection.poll(), Some(Event::Message(message.to_vec())));
                assert_eq!(connection.poll(), None, "the next one waits");
                connection.taken().unwrap();
            }
            exchange(&mut connection, &mut program, piece).unwrap();
            let answers = program.mux.arrived(id).unwrap().rest();
            assert!(answers.ends_with(&[1, 1, 1]));
            // A message may be longer than a window.
            program.mux.send(id, &700_000_u32.to_le_bytes());
            program.mux.send(id, &long);
            exchange(&mut connection, &mut program, piece.max(1000)).unwrap();
            assert_eq!(connection.poll(), Some(Event::Message(long.clone())));
        }
    }

    #[test]
    fn own_messages_are_acknowledged() {
        let (mut connection, mut program) = opened(usize::MAX);
        connection.send(b"hello").unwrap();
        connection.send(b"again").unwrap();
        exchange(&mut connection, &mut program, 1).unwrap();
        let id = 1;
        let said = program.mux.arrived(id).unwrap().rest().to_vec();
        let name = [[7; 8], 1_u64.to_le_bytes()].concat();
        let frames: &[u8] = b"\x05\0\0\0hello\x05\0\0\0again";
        assert_eq!(said, [proposal(PROTOCOL), name, frames.to_vec()].concat());
        assert_eq!(connection.unanswered(), (2, 10));
        program.mux.send(id, &[proposal(PROTOCOL), vec![1]].concat());
        exchange(&mut connection, &mut program, 1).unwrap();
        assert_eq!(connection.unanswered(), (1, 5));
        program.mux.send(id, &[1]);
        exchange(&mut connection, &mut program, 1).unwrap();
        assert_eq!(connection.unanswered(), (0, 0));
        connection.ping().unwrap();
        exchange(&mut connection, &mut program, 1).unwrap();
        assert_eq!(connection.poll(), Some(Event::Pong));
    }

    /// A peer cannot make messages wait for ever by accepting what it has not got.
    #[test]
    fn early_acknowledgements_end_it() {
        for (message, answers) in [(vec![7; 10], 2), (vec![7; 600_000], 1)] {
            let (mut connection, mut program) = opened(usize::MAX);
            connection.send(&message).unwrap();
            exchange(&mut connection, &mut program, usize::MAX).unwrap();
            program.mux.send(1, &[proposal(PROTOCOL), vec![1; answers]].concat());
            let refused = exchange(&mut connection, &mut program, usize::MAX);
            assert!(matches!(refused, Err(LinkError::Protocol(_))), "{refused:?}");
        }
    }

    /// A newer stream counts, once the owner has accepted the last message of the older one.
    #[test]
    fn newer_stream_replaces_the_older_one() {
        let (mut connection, mut program) = opened(usize::MAX);
        program.opens(1, &[b"old", b"lost"]);
        exchange(&mut connection, &mut program, usize::MAX).unwrap();
        program.opens(2, &[b"new"]);
        exchange(&mut connection, &mut program, usize::MAX).unwrap();
        assert_eq!(connection.poll(), Some(Event::Message(b"old".to_vec())));
        connection.taken().unwrap();
        assert_eq!(connection.poll(), Some(Event::Message(b"new".to_vec())));
    }

    #[test]
    fn other_protocols_are_refused_and_disturb_nothing() {
        let (mut connection, mut program) = opened(usize::MAX);
        let other = program.mux.open(&proposal("/ipfs/id/1.0.0"));
        let ping = program.mux.open(&[proposal(PING), vec![7; 32]].concat());
        let nonsense = program.mux.open(b"\x09GET / HTT");
        program.opens(1, &[b"hello"]);
        exchange(&mut connection, &mut program, usize::MAX).unwrap();
        assert!(program.mux.arrived(other).unwrap().rest().ends_with(b"\x03na\n"));
        assert!(program.mux.arrived(ping).unwrap().rest().ends_with(&[7; 32]));
        assert!(program.mux.arrived(nonsense).is_none());
        assert_eq!(connection.poll(), Some(Event::Message(b"hello".to_vec())));
    }

    /// A peer that pings without end and takes no answers loses the stream.
    #[test]
    fn echoes_are_bounded() {
        let (mut connection, mut program) = opened(usize::MAX);
        let ping = program.mux.open(&[proposal(PING), vec![7; 200_000]].concat());
        program.mux.send(ping, &vec![7; 200_000]);
        for _ in 0..4 {
            exchange(&mut connection, &mut program, usize::MAX).unwrap();
        }
        assert!(program.mux.arrived(ping).is_none(), "it is reset");
        program.opens(1, &[b"hello"]);
        exchange(&mut connection, &mut program, usize::MAX).unwrap();
        assert_eq!(connection.poll(), Some(Event::Message(b"hello".to_vec())));
    }

    #[test]
    fn other_end_that_refuses_messages_or_is_too_long_ends_it() {
        let (mut connection, mut program) = opened(usize::MAX);
        connection.send(b"hello").unwrap();
        exchange(&mut connection, &mut program, usize::MAX).unwrap();
        program.mux.send(1, b"\x13/multistream/1.0.0\n\x03na\n");
        let refused = exchange(&mut connection, &mut program, usize::MAX);
        assert_eq!(refused, Err(LinkError::Protocol("it is of another version of fairdeal")));
        assert_eq!(connection.receive(&[]), Err(LinkError::Ended));

        let (mut connection, mut program) = opened(usize::MAX);
        let id = program.opens(1, &[]);
        program.mux.send(id, &u32::MAX.to_le_bytes());
        let refused = exchange(&mut connection, &mut program, usize::MAX);
        assert!(matches!(refused, Err(LinkError::TooLong { .. })));
    }

    #[test]
    fn somebody_else_at_the_address_is_named() {
        let mut connection = Direct::dial(&key(1), peer(9), NAME, MOST, &mut ChaCha20Rng::from_seed([1; 32])).unwrap();
        let refused = exchange(&mut connection, &mut Program::new(), usize::MAX);
        assert_eq!(refused, Err(LinkError::WrongPeer { found: peer(2) }));
    }

    proptest! {
        #[test]
        fn nonsense_never_panics(bytes: Vec<u8>, cut in 0_usize..200) {
            let mut connection = dial();
            let _ = connection.receive(&bytes);
            // After some of what a program says.
            let (mut connection, mut program) = (dial(), Program::new());
            program.receive(&connection.take_bytes().unwrap());
            let said = program.take_bytes();
            let _ = connection.receive(&said[..cut.min(said.len())]).and_then(|()| connection.receive(&bytes));
            // And under encryption.
            let (mut connection, mut program) = opened(usize::MAX);
            let sealed = program.sealed.as_mut().unwrap().seal(&bytes).unwrap();
            let _ = connection.receive(&sealed);
            let (mut connection, mut program) = opened(usize::MAX);
            program.mux.open(&[proposal(PROTOCOL), bytes].concat());
            let _ = exchange(&mut connection, &mut program, 64);
        }
    }
}
