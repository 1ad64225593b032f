//! The binary messages of a WebSocket as a stream of bytes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::{Sink, Stream};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use rw_stream_sink::RwStreamSink;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

/// The longest message of a WebSocket, in bytes. Browsers send what they are given, and a page gives it less.
const MAX_MESSAGE: usize = 128 * 1024;
/// How much may wait to be written, in bytes.
const MAX_WAITING: usize = 1024 * 1024;

/// An open WebSocket as a stream of bytes.
pub(crate) type Socket = RwStreamSink<Messages>;

/// The binary messages of a WebSocket.
pub(crate) struct Messages(WebSocketStream<TokioIo<Upgraded>>);

pub(super) async fn socket(upgraded: Upgraded) -> Socket {
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE))
        .max_write_buffer_size(MAX_WAITING);
    let stream = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await;
    RwStreamSink::new(Messages(stream))
}

fn failed(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        Error::ConnectionClosed | Error::AlreadyClosed => io::ErrorKind::UnexpectedEof.into(),
        other => io::Error::new(io::ErrorKind::InvalidData, other),
    }
}

impl Stream for Messages {
    type Item = io::Result<Vec<u8>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            return Poll::Ready(match ready!(Pin::new(&mut self.0).poll_next(cx)) {
                Some(Ok(Message::Binary(bytes))) => Some(Ok(bytes.into())),
                // Answered already.
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                Some(Ok(Message::Close(_))) | None => None,
                Some(Ok(_)) => Some(Err(io::ErrorKind::InvalidData.into())),
                Some(Err(error)) => Some(Err(failed(error))),
            });
        }
    }
}

impl Sink<Vec<u8>> for Messages {
    type Error = io::Error;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_ready(cx).map_err(failed)
    }

    fn start_send(mut self: Pin<&mut Self>, bytes: Vec<u8>) -> io::Result<()> {
        Pin::new(&mut self.0).start_send(Message::Binary(bytes.into())).map_err(failed)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx).map_err(failed)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_close(cx).map_err(failed)
    }
}
