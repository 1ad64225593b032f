//! Counts the bytes of all streams of a node: of every transport, without what encryption and multiplexing add.

use std::io::{self, IoSlice, IoSliceMut};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use futures::{AsyncRead, AsyncWrite};
use libp2p::core::muxing::{StreamMuxer, StreamMuxerBox, StreamMuxerEvent, StreamMuxerExt as _, SubstreamBox};

/// Bytes of the streams of one node; clones share the counters. Connections run in tasks of their own.
#[derive(Clone, Debug, Default)]
pub(super) struct Traffic(Arc<Bytes>);

#[derive(Debug, Default)]
struct Bytes {
    received: AtomicU64,
    sent: AtomicU64,
}

impl Traffic {
    /// Bytes received and sent so far.
    pub(super) fn total(&self) -> (u64, u64) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (read(&self.0.received), read(&self.0.sent))
    }

    /// Counts the streams of a connection.
    pub(super) fn count(&self, connection: StreamMuxerBox) -> StreamMuxerBox {
        let traffic = self.clone();
        StreamMuxerBox::new(Counted { connection, traffic })
    }

    fn received(&self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.0.received.fetch_add(bytes, Ordering::Relaxed);
    }

    fn sent(&self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.0.sent.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A connection whose streams are counted.
struct Counted {
    connection: StreamMuxerBox,
    traffic: Traffic,
}

impl Counted {
    fn stream(&self, stream: SubstreamBox) -> CountedStream {
        let traffic = self.traffic.clone();
        CountedStream { stream, traffic }
    }
}

impl StreamMuxer for Counted {
    type Substream = CountedStream;
    type Error = io::Error;

    fn poll_inbound(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<CountedStream>> {
        let stream = ready!(self.connection.poll_inbound_unpin(cx))?;
        Poll::Ready(Ok(self.stream(stream)))
    }

    fn poll_outbound(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<CountedStream>> {
        let stream = ready!(self.connection.poll_outbound_unpin(cx))?;
        Poll::Ready(Ok(self.stream(stream)))
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.connection.poll_close_unpin(cx)
    }

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<StreamMuxerEvent>> {
        self.connection.poll_unpin(cx)
    }
}

/// A stream whose bytes are counted.
struct CountedStream {
    stream: SubstreamBox,
    traffic: Traffic,
}

impl AsyncRead for CountedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let bytes = ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        self.traffic.received(bytes);
        Poll::Ready(Ok(bytes))
    }

    fn poll_read_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        let bytes = ready!(Pin::new(&mut self.stream).poll_read_vectored(cx, buffers))?;
        self.traffic.received(bytes);
        Poll::Ready(Ok(bytes))
    }
}

impl AsyncWrite for CountedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let bytes = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.traffic.sent(bytes);
        Poll::Ready(Ok(bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let bytes = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, slices))?;
        self.traffic.sent(bytes);
        Poll::Ready(Ok(bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_close(cx)
    }
}
