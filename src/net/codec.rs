//! The frames of `/fairdeal/table/4`: one opaque message a stream, answered by an acknowledgement; and of
//! `/fairdeal/announce/1`: an empty question, answered by what a table says of itself to strangers.
//!
//! A frame is its length, four bytes little-endian, and that many bytes; then the writer closes its
//! half of the stream. The length is there although the close would mark the end too, because a
//! connection that dies in the middle looks like a close: without it half a message would pass for
//! a whole one, and its sender for one who sends malformed messages.
//!
//! Nothing is allocated on the word of a length: a buffer grows with the bytes that arrive, and a
//! length above the limit ends the stream before any of them is read.

use std::io;

use futures::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use libp2p::StreamProtocol;
use libp2p::request_response;

/// The protocol's name; its number changes with the frame or with what is in it.
pub(super) const PROTOCOL: StreamProtocol = StreamProtocol::new("/fairdeal/table/4");

/// The question what table a peer has open.
pub(super) const ANNOUNCE: StreamProtocol = StreamProtocol::new("/fairdeal/announce/1");

/// An acknowledgement is empty today; one of a later version may say up to this much, in bytes.
const MAX_ACK: usize = 256;
/// The longest answer to a stranger's question, in bytes.
pub const MAX_ANNOUNCEMENT: usize = 1024;

/// Reads and writes frames, each way of a length of its own.
#[derive(Clone, Debug)]
pub(super) struct FrameCodec {
    max_request: usize,
    max_response: usize,
}

impl FrameCodec {
    /// Messages of at most `max_message` bytes, and acknowledgements.
    pub(super) fn messages(max_message: usize) -> Self {
        Self {
            max_request: max_message,
            max_response: MAX_ACK,
        }
    }

    /// Questions without a word, and announcements.
    pub(super) fn announcements() -> Self {
        Self {
            max_request: 0,
            max_response: MAX_ANNOUNCEMENT,
        }
    }
}

impl request_response::Codec for FrameCodec {
    type Protocol = StreamProtocol;
    type Request = Vec<u8>;
    type Response = Vec<u8>;

    async fn read_request<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<Vec<u8>>
    where
        T: AsyncRead + Unpin + Send,
    {
        read_frame(io, self.max_request).await
    }

    async fn read_response<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<Vec<u8>>
    where
        T: AsyncRead + Unpin + Send,
    {
        read_frame(io, self.max_response).await
    }

    async fn write_request<T>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
        request: Vec<u8>,
    ) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        write_frame(io, &request, self.max_request).await
    }

    async fn write_response<T>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
        response: Vec<u8>,
    ) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        write_frame(io, &response, self.max_response).await
    }
}

/// Reads one frame of at most `limit` bytes, to the end of the stream.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] if it announces more than that or goes on after its end,
/// [`io::ErrorKind::UnexpectedEof`] if it is cut short, and what the stream itself fails with.
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
    // One byte more than announced, to see whether the writer keeps to its word.
    let end = u64::from(announced).saturating_add(1);
    io.take(end).read_to_end(&mut bytes).await?;
    match bytes.len().cmp(&length) {
        std::cmp::Ordering::Equal => Ok(bytes),
        std::cmp::Ordering::Less => Err(io::ErrorKind::UnexpectedEof.into()),
        std::cmp::Ordering::Greater => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a frame goes on after its end",
        )),
    }
}

/// Writes one frame of at most `limit` bytes; closing the stream is the caller's.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] if there are more, and what the stream itself fails with.
pub async fn write_frame<T>(io: &mut T, bytes: &[u8], limit: usize) -> io::Result<()>
where
    T: AsyncWrite + Unpin + Send,
{
    let length = u32::try_from(bytes.len())
        .ok()
        .filter(|_| bytes.len() <= limit);
    let length = length.ok_or_else(|| too_long(bytes.len(), limit))?;
    io.write_all(&length.to_le_bytes()).await?;
    io.write_all(bytes).await?;
    io.flush().await
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
    fn a_frame_that_goes_on_is_refused() {
        let mut frame = write(b"hello", 10).unwrap();
        frame.push(0);
        let error = read(&frame, 10).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_bounded_frame_or_an_error(
            bytes in proptest::collection::vec(any::<u8>(), 0..64),
            limit in 0_usize..64,
        ) {
            if let Ok(frame) = read(&bytes, limit) {
                prop_assert!(frame.len() <= limit);
                prop_assert_eq!(write(&frame, limit).unwrap(), bytes);
            }
        }
    }
}
