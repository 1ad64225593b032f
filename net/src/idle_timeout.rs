//! A stream that fails after too long without a byte read, or written.
//!
//! A peer that vanishes (a closed laptop, a pulled cable) closes no connection. Its end stays open
//! until the system gives up after a quarter of an hour. Even closing our end waits for that if
//! data is left to send. Failed pings alone do not help, since libp2p only reports them. Both ends
//! ping every few seconds, so a healthy connection is never silent. A silent one breaks here, at
//! the lowest layer, and everything above sees an ordinary error.
//!
//! Any byte counts as a sign of life, so a slow link under load does not count as dead. Time counts
//! only while the system has no data for us: waiting bytes are read first.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, Sleep};

/// The stream; `S` carries the bytes.
#[derive(Debug)]
pub(super) struct IdleTimeout<S> {
    stream: S,
    reading: Patience,
    writing: Patience,
}

/// The timeout of one direction.
#[derive(Debug)]
struct Patience {
    limit: Duration,
    /// Whether `end` is running.
    waiting: bool,
    end: Pin<Box<Sleep>>,
}

impl<S> IdleTimeout<S> {
    /// Watches `stream`; its first byte must arrive within `first`. Call it within a tokio runtime.
    pub(super) fn new(stream: S, first: Duration, limit: Duration) -> Self {
        let mut reading = Patience::new(limit);
        reading.begin(first);
        Self { stream, reading, writing: Patience::new(limit) }
    }
}

impl Patience {
    fn new(limit: Duration) -> Self {
        Self { limit, waiting: false, end: Box::pin(tokio::time::sleep(limit)) }
    }

    fn begin(&mut self, limit: Duration) {
        self.waiting = true;
        self.end.as_mut().reset(Instant::now() + limit);
    }

    /// Passes on a result, or an error if the wait has exceeded the limit.
    fn check<T>(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.waiting = false;
            return result;
        }
        if !self.waiting {
            self.begin(self.limit);
        }
        ready!(self.end.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer has fallen silent")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for IdleTimeout<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_read(cx, buffer);
        self.reading.check(cx, result)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for IdleTimeout<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.writing.check(cx, result)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_flush(cx);
        self.writing.check(cx, result)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_close(cx);
        self.writing.check(cx, result)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use futures::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// Yields one byte after each of its pauses and then nothing; accepts no bytes at all.
    struct Stubborn {
        pauses: VecDeque<Duration>,
        pause: Pin<Box<Sleep>>,
    }

    impl Stubborn {
        fn new(pauses: &[Duration]) -> Self {
            Self { pauses: pauses.iter().copied().collect(), pause: Box::pin(tokio::time::sleep(pauses[0])) }
        }
    }

    impl AsyncRead for Stubborn {
        fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
            if self.pauses.is_empty() {
                return Poll::Pending;
            }
            ready!(self.pause.as_mut().poll(cx));
            self.pauses.pop_front();
            let next = self.pauses.front().copied().unwrap_or_default();
            self.pause.as_mut().reset(Instant::now() + next);
            buffer[0] = 7;
            Poll::Ready(Ok(1))
        }
    }

    impl AsyncWrite for Stubborn {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Pending
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }

        fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    #[tokio::test]
    async fn silence_ends_reading_and_only_silence() {
        let (limit, pause) = (Duration::from_millis(400), Duration::from_millis(150));
        let mut stream = IdleTimeout::new(Stubborn::new(&[pause; 4]), limit, limit);
        let mut byte = [0];
        for _ in 0..4 {
            // Longer than the limit in total, but never at once.
            assert_eq!(stream.read(&mut byte).await.unwrap(), 1);
        }
        let start = Instant::now();
        let error = stream.read(&mut byte).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(start.elapsed() >= limit);
    }

    #[tokio::test]
    async fn the_first_byte_has_its_own_limit() {
        let (first, limit) = (Duration::from_millis(20), Duration::from_secs(3600));
        let mut stream = IdleTimeout::new(Stubborn::new(&[limit]), first, limit);
        let error = stream.read(&mut [0]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_stuck_write_and_a_stuck_close_end() {
        let limit = Duration::from_millis(20);
        let stubborn = || Stubborn::new(&[Duration::ZERO]);
        let error = IdleTimeout::new(stubborn(), limit, limit).write(b"x").await;
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::TimedOut);
        let error = IdleTimeout::new(stubborn(), limit, limit).close().await;
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
