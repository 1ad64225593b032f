//! How the two ends of a stream agree on its protocol: multistream-select 1.0.
//!
//! A line is its length as an unsigned varint, then that many bytes, the last of them a line feed. Both ends begin with
//! the line `/multistream/1.0.0`. Who opened the stream proposes a protocol; the other end repeats it, or answers `na`.

use crate::LinkError;
use crate::received::Received;

const HEADER: &str = "/multistream/1.0.0";
const NOT_AVAILABLE: &str = "na";
/// The longest line that is read, in bytes.
const MAX_LINE: usize = 256;
/// How many protocols the other end may propose for one stream.
const MAX_PROPOSALS: usize = 8;

/// The first bytes of a stream's opener, the protocol included: it has one proposal, so it gains nothing by waiting.
pub(crate) fn proposal(protocol: &str) -> Vec<u8> {
    [line(HEADER), line(protocol)].concat()
}

fn line(text: &str) -> Vec<u8> {
    let length = text.len() + 1;
    let mut line = Vec::new();
    // No line of ours has more than 127 bytes: its length is one byte.
    line.push(u8::try_from(length).unwrap_or(u8::MAX));
    line.extend_from_slice(text.as_bytes());
    line.push(b'\n');
    line
}

/// The next line, without its line feed, if all of it has arrived.
fn next_line(received: &mut Received) -> Result<Option<Vec<u8>>, LinkError> {
    let Some(whole) = received.message(MAX_LINE, "a line of the negotiation is too long")? else { return Ok(None) };
    let Some((b'\n', text)) = whole.split_last() else {
        return Err(LinkError::Protocol("a line of the negotiation has no end"));
    };
    Ok(Some(text.to_vec()))
}

/// The opener's side of a negotiation.
#[derive(Debug)]
pub(crate) struct Proposed {
    protocol: &'static str,
    greeted: bool,
}

impl Proposed {
    pub(crate) fn new(protocol: &'static str) -> Self {
        Self { protocol, greeted: false }
    }

    /// Whether the other end has agreed; `None` while its answer has not arrived.
    pub(crate) fn answer(&mut self, received: &mut Received) -> Result<Option<bool>, LinkError> {
        while let Some(line) = next_line(received)? {
            if !self.greeted {
                if line != HEADER.as_bytes() {
                    return Err(LinkError::Protocol("the other end does not negotiate protocols"));
                }
                self.greeted = true;
            } else if line == self.protocol.as_bytes() {
                return Ok(Some(true));
            } else if line == NOT_AVAILABLE.as_bytes() {
                return Ok(Some(false));
            } else {
                return Err(LinkError::Protocol("the other end agrees to another protocol"));
            }
        }
        Ok(None)
    }
}

/// The side of whom a stream was opened to.
#[derive(Debug, Default)]
pub(crate) struct Offered {
    greeted: bool,
    proposals: usize,
}

impl Offered {
    /// Answers the lines that have arrived. Returns the answer, and which of our protocols is agreed on.
    pub(crate) fn answer(
        &mut self,
        received: &mut Received,
        ours: &[&'static str],
    ) -> Result<(Vec<u8>, Option<&'static str>), LinkError> {
        let mut answer = Vec::new();
        while let Some(said) = next_line(received)? {
            if !self.greeted {
                if said != HEADER.as_bytes() {
                    return Err(LinkError::Protocol("the other end does not negotiate protocols"));
                }
                self.greeted = true;
                answer.extend(line(HEADER));
                continue;
            }
            if let Some(agreed) = ours.iter().find(|ours| said == ours.as_bytes()) {
                answer.extend(line(agreed));
                return Ok((answer, Some(agreed)));
            }
            self.proposals += 1;
            if self.proposals > MAX_PROPOSALS {
                return Err(LinkError::Protocol("the other end proposes protocols without end"));
            }
            answer.extend(line(NOT_AVAILABLE));
        }
        Ok((answer, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(bytes: &[u8]) -> Received {
        let mut received = Received::default();
        received.push(bytes);
        received
    }

    #[test]
    fn the_lines_are_those_of_the_specification() {
        assert_eq!(proposal("/noise"), b"\x13/multistream/1.0.0\n\x07/noise\n");
    }

    #[test]
    fn both_ends_agree_whatever_the_pieces() {
        let said = proposal("/noise");
        for cut in 0..said.len() {
            let (mut offered, mut inbox, mut answer) = (Offered::default(), Received::default(), Vec::new());
            let mut agreed = None;
            for piece in [&said[..cut], &said[cut..]] {
                inbox.push(piece);
                let (more, yes) = offered.answer(&mut inbox, &["/other", "/noise"]).unwrap();
                answer.extend(more);
                agreed = agreed.or(yes);
            }
            assert_eq!(agreed, Some("/noise"));
            let mut proposed = Proposed::new("/noise");
            assert_eq!(proposed.answer(&mut received(&answer)), Ok(Some(true)), "cut at {cut}");
        }
    }

    #[test]
    fn another_protocol_is_not_available() {
        let mut offered = Offered::default();
        let (answer, agreed) = offered.answer(&mut received(&proposal("/ipfs/id/1.0.0")), &["/noise"]).unwrap();
        assert_eq!((answer.as_slice(), agreed), (&b"\x13/multistream/1.0.0\n\x03na\n"[..], None));
        // It may propose another one.
        let (_, agreed) = offered.answer(&mut received(&line("/noise")), &["/noise"]).unwrap();
        assert_eq!(agreed, Some("/noise"));
        assert_eq!(Proposed::new("/noise").answer(&mut received(&answer)), Ok(Some(false)));
    }

    #[test]
    fn nonsense_is_refused() {
        for bytes in [&b"\x09GET / HTT"[..], b"\x05abcd\n", b"\xff\xff\xff\x01", b"\x02ab\n"] {
            assert!(Proposed::new("/noise").answer(&mut received(bytes)).is_err(), "{bytes:?}");
            assert!(Offered::default().answer(&mut received(bytes), &["/noise"]).is_err(), "{bytes:?}");
        }
        let mut many = line(HEADER);
        (0..20).for_each(|_| many.extend(line("/x")));
        assert!(Offered::default().answer(&mut received(&many), &["/noise"]).is_err());
        let other = [line(HEADER), line("/x")].concat();
        assert!(Proposed::new("/noise").answer(&mut received(&other)).is_err());
    }
}
