//! A client that completes TCP, Noise and Yamux like any libp2p client, and breaks every rule above them.
//!
//! It negotiates stream protocols by hand, because libp2p's own negotiation would follow the rules.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use libp2p::core::muxing::{StreamMuxerBox, StreamMuxerExt as _, SubstreamBox};
use libp2p::core::upgrade::OutboundConnectionUpgrade as _;
use libp2p::identity::Keypair;
use libp2p::{noise, tcp, yamux};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::{mpsc, oneshot};

/// Message protocol.
pub(crate) const TABLE: &str = "/fairdeal/table/7";
/// Announcement protocol.
pub(crate) const ANNOUNCE: &str = "/fairdeal/announce/1";
/// Protocol of meeting points.
pub(crate) const MEET: &str = "/fairdeal/meet/1";
/// First line of every negotiation, of connections and of streams.
pub(crate) const MULTISTREAM: &str = "/multistream/1.0.0";
/// Time limit for a dial and its handshakes: an overloaded peer may never answer.
const HANDSHAKE: Duration = Duration::from_secs(3);
/// Maximum number of streams opened by the peer that stay open here, unanswered.
const UNANSWERED: usize = 64;

/// Opens a TCP connection from an address of the loopback network.
pub(crate) async fn dial(to: SocketAddr, from: Ipv4Addr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((from, 0)))?;
    socket.connect(to).await
}

/// An established connection.
pub(crate) struct Rude {
    orders: mpsc::Sender<Order>,
}

/// An order to the task behind a connection.
enum Order {
    Open(oneshot::Sender<SubstreamBox>),
    /// Stop reading and writing, but keep the connection.
    Freeze,
}

impl Rude {
    /// Dials and completes the handshakes.
    pub(crate) async fn connect(to: SocketAddr, from: Ipv4Addr, key: &Keypair) -> io::Result<Self> {
        let shake = async {
            let stream = dial(to, from).await?;
            stream.set_nodelay(true)?;
            let mut stream = tcp::tokio::TcpStream(stream);
            agree(&mut stream, "/noise").await?;
            let noise = noise::Config::new(key).map_err(io::Error::other)?;
            let secured = noise.upgrade_outbound(stream, "/noise").await;
            let (_, mut secured) = secured.map_err(io::Error::other)?;
            agree(&mut secured, "/yamux/1.0.0").await?;
            let mut yamux = yamux::Config::default();
            // As many as its windows allow.
            yamux.set_max_num_streams(4096);
            yamux.upgrade_outbound(secured, "/yamux/1.0.0").await
        };
        let muxer = tokio::time::timeout(HANDSHAKE, shake).await??;
        let (orders, queue) = mpsc::channel(8);
        let connection = Connection {
            muxer: StreamMuxerBox::new(muxer),
            orders: queue,
            opening: None,
            unanswered: VecDeque::new(),
            frozen: false,
        };
        tokio::spawn(connection.run());
        Ok(Self { orders })
    }

    /// Opens a stream without negotiating a protocol.
    pub(crate) async fn open(&self) -> io::Result<SubstreamBox> {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        let (sender, stream) = oneshot::channel();
        let order = Order::Open(sender);
        self.orders.send(order).await.map_err(|_| gone())?;
        stream.await.map_err(|_| gone())
    }

    /// Opens a stream and proposes a protocol, without waiting for the answer.
    pub(crate) async fn open_as(&self, protocol: &str) -> io::Result<SubstreamBox> {
        let mut stream = self.open().await?;
        stream.write_all(&selection(protocol)).await?;
        Ok(stream)
    }

    /// Opens a message stream under a program name.
    pub(crate) async fn open_table(&self, program: [u8; 8], number: u64) -> io::Result<SubstreamBox> {
        let mut stream = self.open_as(TABLE).await?;
        stream.write_all(&program).await?;
        stream.write_all(&number.to_le_bytes()).await?;
        Ok(stream)
    }

    /// Stops reading from the connection.
    pub(crate) async fn freeze(&self) {
        let _ = self.orders.send(Order::Freeze).await;
    }

    /// Waits until the peer closes the connection; never returns after [`Rude::freeze`].
    pub(crate) async fn closed(&self) {
        self.orders.closed().await;
    }
}

/// The task that drives a connection. It ends with the connection or with its [`Rude`].
struct Connection {
    muxer: StreamMuxerBox,
    orders: mpsc::Receiver<Order>,
    opening: Option<oneshot::Sender<SubstreamBox>>,
    unanswered: VecDeque<SubstreamBox>,
    frozen: bool,
}

impl Connection {
    async fn run(mut self) {
        let _ = poll_fn(|cx| self.poll(cx)).await;
    }

    /// Ready when the connection has ended.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        loop {
            while self.opening.is_none() {
                match self.orders.poll_recv(cx) {
                    Poll::Ready(None) => return Poll::Ready(None),
                    Poll::Ready(Some(Order::Freeze)) => self.frozen = true,
                    Poll::Ready(Some(Order::Open(sender))) => self.opening = Some(sender),
                    Poll::Pending => break,
                }
            }
            if self.frozen {
                self.opening = None;
                return Poll::Pending;
            }
            if let Poll::Ready(event) = self.muxer.poll_unpin(cx) {
                match event {
                    Ok(_) => continue,
                    Err(_) => return Poll::Ready(None),
                }
            }
            match self.muxer.poll_inbound_unpin(cx) {
                Poll::Ready(Ok(stream)) => {
                    self.unanswered.push_back(stream);
                    if self.unanswered.len() > UNANSWERED {
                        self.unanswered.pop_front();
                    }
                    continue;
                }
                Poll::Ready(Err(_)) => return Poll::Ready(None),
                Poll::Pending => {}
            }
            if self.opening.is_none() {
                return Poll::Pending;
            }
            match self.muxer.poll_outbound_unpin(cx) {
                Poll::Ready(Ok(stream)) => {
                    let asker = self.opening.take();
                    asker.map(|asker| asker.send(stream));
                }
                Poll::Ready(Err(_)) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

/// The lines that select a protocol, each with a length prefix.
pub(crate) fn selection(protocol: &str) -> Vec<u8> {
    let line = |text: &str| {
        let length = u8::try_from(text.len() + 1).expect("a short name");
        [&[length], text.as_bytes(), b"\n"].concat()
    };
    [line(MULTISTREAM), line(protocol)].concat()
}

/// Negotiates the protocol of a connection; the peer answers with the same lines.
async fn agree<T: AsyncRead + AsyncWrite + Unpin>(io: &mut T, protocol: &str) -> io::Result<()> {
    let lines = selection(protocol);
    io.write_all(&lines).await?;
    io.flush().await?;
    let mut answer = vec![0; lines.len()];
    io.read_exact(&mut answer).await?;
    if answer == lines { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
}
