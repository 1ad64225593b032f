//! The streams of one connection: at most one outbound and one inbound stream.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use futures::io::{ReadHalf, WriteHalf};
use futures::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, FutureExt as _};
use libp2p::StreamProtocol;
use libp2p::core::upgrade::ReadyUpgrade;
use libp2p::swarm::handler::{ConnectionEvent, DialUpgradeError, FullyNegotiatedInbound, FullyNegotiatedOutbound};
use libp2p::swarm::{ConnectionHandler, ConnectionHandlerEvent, Stream, StreamUpgradeError, SubstreamProtocol};

use crate::allowance::Allowance;
use crate::codec::{read_frame, write_frame};
use crate::failure::is_refusal;

/// The protocol's name; its number changes with the frame format or the message format.
pub(crate) const PROTOCOL: StreamProtocol = StreamProtocol::new("/fairdeal/table/7");

/// Maximum time for opening a stream.
const OPENING: Duration = Duration::from_secs(10);
/// Limit on the streams that a peer may open on one connection. A new stream replaces a broken one, so an honest peer
/// needs few.
const STREAMS: Allowance = Allowance::new(64, Duration::from_secs(1));
/// The acknowledgement of an accepted message.
const TAKEN: [u8; 1] = [1];
/// Number of acknowledgements read at once.
const ANSWERS: usize = 64;

/// The name of a stream: the program that opened it, and its number within that program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(super) program: [u8; 8],
    pub(super) number: u64,
}

/// Commands to the handler.
#[derive(Debug)]
pub(crate) enum Tell {
    /// Writes the message on the stream of that name; a new stream replaces the current one.
    Write(Name, Arc<[u8]>),
    /// Give up the stream with that number.
    Stop(u64),
    /// The owner has accepted the message read on that stream.
    Taken(Name),
    /// Stop reading that stream.
    Leave(Name),
}

/// Reports from the handler.
#[derive(Debug)]
pub(crate) enum Said {
    /// A message was read. The next one is read once the owner has accepted it.
    Read { name: Name, bytes: Vec<u8> },
    /// The peer has acknowledged this many messages of the stream with that number.
    Taken { number: u64, count: usize },
    /// The stream with that number broke or did not open.
    Broken { number: u64 },
    /// The peer does not speak the protocol.
    OtherProtocol { number: u64 },
    /// The peer opens streams too fast.
    TooManyStreams,
}

/// The handler of one connection.
pub(crate) struct Handler {
    max_message: usize,
    streams: Allowance,
    inbound: Option<Inbound>,
    /// A newer stream of the peer, read once the owner has accepted the last message of the current one.
    next: Option<Stream>,
    outbound: Option<Outbound>,
    said: VecDeque<Said>,
}

impl std::fmt::Debug for Handler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handler").finish_non_exhaustive()
    }
}

/// The state of the inbound stream.
enum Inbound {
    /// Waiting for a message.
    Reading(BoxFuture<'static, io::Result<(Name, Vec<u8>, Stream)>>),
    /// The owner has not accepted the last message yet.
    Read(Name, Stream),
}

/// The outbound stream.
struct Outbound {
    name: Name,
    /// The messages not written yet.
    queue: VecDeque<Arc<[u8]>>,
    open: Opening,
}

enum Opening {
    DialScheduler,
    Asked,
    Open { writer: Writer, answers: BoxFuture<'static, io::Result<(usize, ReadHalf<Stream>)>> },
}

enum Writer {
    Idle(WriteHalf<Stream>),
    Writing(BoxFuture<'static, io::Result<WriteHalf<Stream>>>),
}

impl Handler {
    pub(super) fn new(max_message: usize) -> Self {
        Self { max_message, streams: STREAMS, inbound: None, next: None, outbound: None, said: VecDeque::new() }
    }

    /// Accepts a new stream: the peer has finished with the previous one. A message not yet accepted by the
    /// owner delays it.
    fn accept(&mut self, stream: Stream) {
        if !self.streams.take(Instant::now()) {
            self.said.push_back(Said::TooManyStreams);
            return;
        }
        match self.inbound {
            Some(Inbound::Read(..)) => self.next = Some(stream),
            Some(Inbound::Reading(_)) | None => self.read_from(stream),
        }
    }

    fn read_from(&mut self, stream: Stream) {
        let first = read_first(stream, self.max_message);
        self.inbound = Some(Inbound::Reading(first.boxed()));
    }

    /// Ends the wait for the message on the stream with that name. Returns the stream unless a newer
    /// one replaces it.
    fn let_go(&mut self, name: Name) -> Option<Stream> {
        let is_it = |inbound: &mut Inbound| matches!(inbound, Inbound::Read(of, _) if *of == name);
        let Some(Inbound::Read(_, stream)) = self.inbound.take_if(is_it) else {
            return None;
        };
        let Some(next) = self.next.take() else {
            return Some(stream);
        };
        self.read_from(next);
        None
    }

    fn poll_inbound(&mut self, cx: &mut Context<'_>) {
        let Some(Inbound::Reading(reading)) = &mut self.inbound else {
            return;
        };
        match reading.poll_unpin(cx) {
            Poll::Pending => {}
            Poll::Ready(Ok((name, bytes, stream))) => {
                self.inbound = Some(Inbound::Read(name, stream));
                self.said.push_back(Said::Read { name, bytes });
            }
            Poll::Ready(Err(error)) => {
                tracing::debug!(%error, "the stream of a peer has ended");
                self.inbound = None;
            }
        }
    }

    fn poll_outbound(&mut self, cx: &mut Context<'_>) {
        let max_message = self.max_message;
        let Some(outbound) = &mut self.outbound else {
            return;
        };
        let number = outbound.name.number;
        let Opening::Open { writer, answers } = &mut outbound.open else {
            return;
        };
        let broken = loop {
            if let Poll::Ready(answered) = answers.poll_unpin(cx) {
                match answered {
                    Ok((count, half)) => {
                        *answers = read_answers(half).boxed();
                        self.said.push_back(Said::Taken { number, count });
                        continue;
                    }
                    Err(error) => break error,
                }
            }
            match writer {
                Writer::Writing(writing) => match writing.poll_unpin(cx) {
                    Poll::Pending => return,
                    Poll::Ready(Ok(half)) => *writer = Writer::Idle(half),
                    Poll::Ready(Err(error)) => break error,
                },
                Writer::Idle(_) if outbound.queue.is_empty() => return,
                Writer::Idle(_) => {
                    let frames = std::mem::take(&mut outbound.queue);
                    let nothing = Writer::Writing(std::future::pending().boxed());
                    if let Writer::Idle(half) = std::mem::replace(writer, nothing) {
                        *writer = Writer::Writing(write_all(half, frames, max_message).boxed());
                    }
                }
            }
        };
        tracing::debug!(error = %broken, "a stream to a peer is broken");
        self.broke(number, is_refusal(&broken));
    }

    fn opened(&mut self, stream: Stream, number: u64) {
        let Some(outbound) = &mut self.outbound else {
            return;
        };
        if outbound.name.number != number {
            return;
        }
        let (reader, writer) = stream.split();
        let name = outbound.name;
        outbound.open = Opening::Open {
            writer: Writer::Writing(write_name(writer, name).boxed()),
            answers: read_answers(reader).boxed(),
        };
    }

    fn broke(&mut self, number: u64, is_other_protocol: bool) {
        let is_it = |outbound: &mut Outbound| outbound.name.number == number;
        if self.outbound.take_if(is_it).is_some() {
            self.said.push_back(if is_other_protocol {
                Said::OtherProtocol { number }
            } else {
                Said::Broken { number }
            });
        }
    }
}

impl ConnectionHandler for Handler {
    type FromBehaviour = Tell;
    type ToBehaviour = Said;
    type InboundProtocol = ReadyUpgrade<StreamProtocol>;
    type OutboundProtocol = ReadyUpgrade<StreamProtocol>;
    type InboundOpenInfo = ();
    type OutboundOpenInfo = u64;

    fn listen_protocol(&self) -> SubstreamProtocol<Self::InboundProtocol> {
        SubstreamProtocol::new(ReadyUpgrade::new(PROTOCOL), ())
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<ConnectionHandlerEvent<Self::OutboundProtocol, u64, Said>> {
        self.poll_inbound(cx);
        self.poll_outbound(cx);
        if let Some(said) = self.said.pop_front() {
            return Poll::Ready(ConnectionHandlerEvent::NotifyBehaviour(said));
        }
        if let Some(outbound) = &mut self.outbound
            && matches!(outbound.open, Opening::DialScheduler)
        {
            outbound.open = Opening::Asked;
            let number = outbound.name.number;
            let protocol = SubstreamProtocol::new(ReadyUpgrade::new(PROTOCOL), number);
            return Poll::Ready(ConnectionHandlerEvent::OutboundSubstreamRequest {
                protocol: protocol.with_timeout(OPENING),
            });
        }
        Poll::Pending
    }

    fn on_behaviour_event(&mut self, event: Tell) {
        match event {
            Tell::Write(name, bytes) => match &mut self.outbound {
                Some(outbound) if outbound.name == name => outbound.queue.push_back(bytes),
                _ => {
                    self.outbound =
                        Some(Outbound { name, queue: VecDeque::from([bytes]), open: Opening::DialScheduler });
                }
            },
            Tell::Stop(number) => {
                self.outbound.take_if(|outbound| outbound.name.number == number);
            }
            Tell::Taken(name) => {
                if let Some(stream) = self.let_go(name) {
                    let next = answer_and_read(name, stream, self.max_message);
                    self.inbound = Some(Inbound::Reading(next.boxed()));
                }
            }
            Tell::Leave(name) => drop(self.let_go(name)),
        }
    }

    fn on_connection_event(
        &mut self,
        event: ConnectionEvent<'_, Self::InboundProtocol, Self::OutboundProtocol, (), u64>,
    ) {
        match event {
            ConnectionEvent::FullyNegotiatedInbound(FullyNegotiatedInbound { protocol: stream, .. }) => {
                self.accept(stream);
            }
            ConnectionEvent::FullyNegotiatedOutbound(FullyNegotiatedOutbound { protocol: stream, info: number }) => {
                self.opened(stream, number);
            }
            ConnectionEvent::DialUpgradeError(DialUpgradeError { info: number, error }) => {
                let other = matches!(error, StreamUpgradeError::NegotiationFailed);
                self.broke(number, other);
            }
            _ => {}
        }
    }
}

async fn read_first(mut stream: Stream, limit: usize) -> io::Result<(Name, Vec<u8>, Stream)> {
    let name = read_name(&mut stream).await?;
    let bytes = read_frame(&mut stream, limit).await?;
    Ok((name, bytes, stream))
}

async fn answer_and_read(name: Name, mut stream: Stream, limit: usize) -> io::Result<(Name, Vec<u8>, Stream)> {
    stream.write_all(&TAKEN).await?;
    stream.flush().await?;
    let bytes = read_frame(&mut stream, limit).await?;
    Ok((name, bytes, stream))
}

async fn read_name<T: AsyncRead + Unpin>(stream: &mut T) -> io::Result<Name> {
    let mut program = [0; 8];
    stream.read_exact(&mut program).await?;
    let mut number = [0; 8];
    stream.read_exact(&mut number).await?;
    let number = u64::from_le_bytes(number);
    Ok(Name { program, number })
}

async fn write_name<T: AsyncWrite + Unpin>(mut half: T, name: Name) -> io::Result<T> {
    half.write_all(&name.program).await?;
    half.write_all(&name.number.to_le_bytes()).await?;
    Ok(half)
}

async fn write_all<T: AsyncWrite + Unpin + Send>(
    mut half: T,
    frames: VecDeque<Arc<[u8]>>,
    limit: usize,
) -> io::Result<T> {
    for frame in frames {
        write_frame(&mut half, &frame, limit).await?;
    }
    half.flush().await?;
    Ok(half)
}

/// Reads acknowledgements and returns their number.
async fn read_answers<T: AsyncRead + Unpin>(mut half: T) -> io::Result<(usize, T)> {
    let mut answers = [0; ANSWERS];
    match half.read(&mut answers).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        count => Ok((count, half)),
    }
}
