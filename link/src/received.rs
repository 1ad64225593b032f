//! Bytes that have arrived and are not read yet.

use crate::LinkError;

/// A queue of bytes, read from the front.
#[derive(Debug, Default)]
pub(crate) struct Received {
    bytes: Vec<u8>,
    /// How many of them are read.
    read: usize,
}

impl Received {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.read > 0 && self.read >= self.bytes.len() / 2 {
            self.bytes.drain(..self.read);
            self.read = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn rest(&self) -> &[u8] {
        self.bytes.get(self.read..).unwrap_or_default()
    }

    /// Takes so many bytes, if they have arrived.
    pub(crate) fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        let taken = self.rest().get(..count)?.to_vec();
        self.read += count;
        Some(taken)
    }

    /// Takes a message that its length precedes, an unsigned varint of at most two bytes, if all of it has arrived. The
    /// error is `too_long` if it has more than `most` bytes.
    pub(crate) fn message(&mut self, most: usize, too_long: &'static str) -> Result<Option<Vec<u8>>, LinkError> {
        let (length, prefix) = match *self.rest() {
            [length, ..] if length < 0x80 => (usize::from(length), 1),
            [low, high, ..] if high < 0x80 => (usize::from(low & 0x7f) | usize::from(high) << 7, 2),
            [] | [_] => return Ok(None),
            _ => return Err(LinkError::Protocol(too_long)),
        };
        if length > most {
            return Err(LinkError::Protocol(too_long));
        }
        let Some(message) = self.rest().get(prefix..prefix + length).map(<[u8]>::to_vec) else { return Ok(None) };
        self.read += prefix + length;
        Ok(Some(message))
    }

    /// Takes a number of fixed length, if it has arrived.
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let taken = *self.rest().first_chunk::<N>()?;
        self.read += N;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_as_they_went_in() {
        let mut received = Received::default();
        let mut out = Vec::new();
        for piece in (0..=255_u8).collect::<Vec<u8>>().chunks(7) {
            received.push(piece);
            while let Some(taken) = received.take(5) {
                out.extend(taken);
            }
        }
        assert_eq!(received.array::<5>(), None);
        out.extend(received.array::<1>().unwrap());
        assert_eq!(out, (0..=255).collect::<Vec<u8>>());
        assert_eq!(received.rest(), []);
    }
}
