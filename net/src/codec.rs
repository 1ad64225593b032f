//! Frames, announcements, and the requests and responses of other protocols, each one frame. A frame is a four-byte little-endian length and that many bytes. The request of
//! `/fairdeal/announce/1` is an empty frame. The response is a table's description for strangers.
//!
//! A claimed length alone allocates nothing: a buffer grows with the bytes that arrive. A length
//! above the limit ends the stream before any of the bytes is read.

use std::io;
use std::marker::PhantomData;

use fairdeal_peers::announcement::MAX_ANNOUNCEMENT;
use fairdeal_protocol::wire::codec::CodecError;
use futures::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use libp2p::StreamProtocol;
use libp2p::request_response;

/// The protocol for asking which table a peer has open.
pub(super) const ANNOUNCE: StreamProtocol = StreamProtocol::new("/fairdeal/announce/1");

/// Reads and writes empty requests, and announcements.
#[derive(Clone, Debug)]
pub(super) struct Announcements;

impl request_response::Codec for Announcements {
    type Protocol = StreamProtocol;
    type Request = Vec<u8>;
    type Response = Vec<u8>;

    async fn read_request<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<Vec<u8>>
    where
        T: AsyncRead + Unpin + Send,
    {
        read_frame(io, 0).await
    }

    async fn read_response<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<Vec<u8>>
    where
        T: AsyncRead + Unpin + Send,
    {
        read_frame(io, MAX_ANNOUNCEMENT).await
    }

    async fn write_request<T>(&mut self, _: &StreamProtocol, io: &mut T, request: Vec<u8>) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        write_frame(io, &request, 0).await
    }

    async fn write_response<T>(&mut self, _: &StreamProtocol, io: &mut T, response: Vec<u8>) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        write_frame(io, &response, MAX_ANNOUNCEMENT).await
    }
}

/// A request or response that is one frame.
pub(super) trait Framed: Sized + Send + 'static {
    /// Its maximum length, in bytes.
    const MAX: usize;

    /// Encodes it.
    fn to_frame(&self) -> Vec<u8>;

    /// Decodes it from an untrusted program.
    ///
    /// # Errors
    /// [`CodecError`].
    fn from_frame(bytes: &[u8]) -> Result<Self, CodecError>;
}

/// Reads and writes requests and responses of these types.
#[derive(Debug)]
pub(super) struct Frames<Q, R>(PhantomData<fn() -> (Q, R)>);

impl<Q, R> Frames<Q, R> {
    pub(super) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<Q, R> Clone for Frames<Q, R> {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl<Q: Framed, R: Framed> request_response::Codec for Frames<Q, R> {
    type Protocol = StreamProtocol;
    type Request = Q;
    type Response = R;

    async fn read_request<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<Q>
    where
        T: AsyncRead + Unpin + Send,
    {
        read(io).await
    }

    async fn read_response<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<R>
    where
        T: AsyncRead + Unpin + Send,
    {
        read(io).await
    }

    async fn write_request<T>(&mut self, _: &StreamProtocol, io: &mut T, request: Q) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        write_frame(io, &request.to_frame(), Q::MAX).await
    }

    async fn write_response<T>(&mut self, _: &StreamProtocol, io: &mut T, response: R) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        write_frame(io, &response.to_frame(), R::MAX).await
    }
}

async fn read<M: Framed, T: AsyncRead + Unpin + Send>(io: &mut T) -> io::Result<M> {
    let bytes = read_frame(io, M::MAX).await?;
    M::from_frame(&bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads one frame of at most `limit` bytes.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] if the frame announces more than that, [`io::ErrorKind::UnexpectedEof`] if it is
/// cut short, and any error of the stream itself.
pub async fn read_frame<T>(io: &mut T, limit: usize) -> io::Result<Vec<u8>>
where
    T: AsyncRead + Unpin + Send,
{
    let mut header = [0; 4];
    io.read_exact(&mut header).await?;
    let announced = u32::from_le_bytes(header);
    let length = usize::try_from(announced).unwrap_or(usize::MAX);
    if length > limit {
        return Err(too_long(length, limit));
    }
    let mut bytes = Vec::new();
    io.take(u64::from(announced)).read_to_end(&mut bytes).await?;
    if bytes.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

/// Writes one frame of at most `limit` bytes. The caller has to flush or close the stream.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] if there are more bytes, and any error of the stream itself.
pub async fn write_frame<T>(io: &mut T, bytes: &[u8], limit: usize) -> io::Result<()>
where
    T: AsyncWrite + Unpin + Send,
{
    let length = u32::try_from(bytes.len()).ok().filter(|_| bytes.len() <= limit);
    let length = length.ok_or_else(|| too_long(bytes.len(), limit))?;
    io.write_all(&length.to_le_bytes()).await?;
    io.write_all(bytes).await
}

fn too_long(length: usize, limit: usize) -> io::Error {
    let text = format!("a frame of {length} bytes; at most {limit} are read");
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use futures::io::Cursor;
    use proptest::prelude::*;

    use super::*;

    fn write(bytes: &[u8], limit: usize) -> io::Result<Vec<u8>> {
        let mut out = Cursor::new(Vec::new());
        block_on(write_frame(&mut out, bytes, limit))?;
        Ok(out.into_inner())
    }

    fn read(bytes: &[u8], limit: usize) -> io::Result<Vec<u8>> {
        block_on(read_frame(&mut Cursor::new(bytes), limit))
    }

    #[test]
    fn frames_there_and_back_up_to_the_limit() {
        for length in [0, 1, 9, 10] {
            let message = vec![7; length];
            assert_eq!(read(&write(&message, 10).unwrap(), 10).unwrap(), message);
        }
        assert_eq!(write(b"ab", 10).unwrap(), b"\x02\0\0\0ab");
    }

    #[test]
    fn too_long_frames_are_neither_written_nor_read() {
        let kind = |result: io::Result<_>| result.unwrap_err().kind();
        assert_eq!(kind(write(&[0; 11], 10)), io::ErrorKind::InvalidData);
        let frame = write(&[0; 11], 11).unwrap();
        assert_eq!(kind(read(&frame, 10)), io::ErrorKind::InvalidData);
        // Four gigabytes announced and none sent: refused from the length alone.
        assert_eq!(kind(read(&[0xff; 4], 10)), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_frame_cut_short_is_no_shorter_frame() {
        let frame = write(b"hello", 10).unwrap();
        for end in 0..frame.len() {
            let error = read(&frame[..end], 10).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{end}");
        }
    }

    #[test]
    fn frames_follow_one_another() {
        let mut two = Cursor::new(write(b"one", 10).unwrap());
        two.get_mut().extend(write(b"and two", 10).unwrap());
        assert_eq!(block_on(read_frame(&mut two, 10)).unwrap(), b"one");
        assert_eq!(block_on(read_frame(&mut two, 10)).unwrap(), b"and two");
        assert!(block_on(read_frame(&mut two, 10)).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_bounded_frame_or_an_error(
            bytes in proptest::collection::vec(any::<u8>(), 0..64),
            limit in 0_usize..64,
        ) {
            if let Ok(frame) = read(&bytes, limit) {
                prop_assert!(frame.len() <= limit);
                prop_assert!(bytes.starts_with(&write(&frame, limit).unwrap()));
            }
        }
    }
}
