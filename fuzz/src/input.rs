//! Reads a fuzzer's bytes as numbers and slices; past the end, everything is zero or empty.

/// The unread bytes.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// Starts at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether all bytes have been read.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    /// The next two bytes, little-endian.
    pub fn short(&mut self) -> usize {
        usize::from(self.byte()) | usize::from(self.byte()) << 8
    }

    /// The next byte, as an index into a list of this length; `None` if the list is empty.
    pub fn place(&mut self, length: usize) -> Option<usize> {
        let byte = usize::from(self.byte());
        (length > 0).then(|| byte % length)
    }

    /// The next `length` bytes, or fewer at the end.
    pub fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// All remaining bytes.
    pub fn rest(&mut self) -> &'a [u8] {
        self.take(usize::MAX)
    }
}
