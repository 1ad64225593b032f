//! The transcript file (`.fairdeal`): charter, entries, trailer.
//!
//! One [`crate::wire::codec`] encoding of magic, version, charter with signatures, all entries by step and seat, a trailer,
//! and the extensions of time if there are any. `docs/transcript.md` specifies it byte for byte.

mod outcome;
pub mod page;

use serde::{Deserialize, Serialize};

pub use self::outcome::{End, Halted, MAX_CERTIFICATES, MAX_CLAIMS, Proven};
use crate::charter::{Charter, CharterError, SignatureBytes, SignedCharter};
use crate::game::Protocol;
use crate::hash::Hash32;
use crate::log::claim::SignedClaim;
use crate::log::entry::SignedEntry;
use crate::log::equivocation::Equivocation;
use crate::log::extensions::SignedExtensions;
use crate::membership::Certificate;
use crate::seat::MAX_SEATS;
use crate::wire::bounded::Bounded;
use crate::wire::codec::{CodecError, MAX_BYTES, decode, encode};
use page::Page;

/// The first eight bytes of a transcript file.
pub const MAGIC: [u8; 8] = *b"fairdeal";
/// Version of the file format, of tables of [`Protocol::Two`].
pub const VERSION: u16 = 4;
/// Version of the file format of tables of [`Protocol::One`]; the layout is the same.
pub const FIRST_VERSION: u16 = 3;
/// Version of the file format of tables at which somebody has extended times: those extensions follow the rest.
pub const EXTENDED_VERSION: u16 = 5;
/// Length of the magic and version prefix, in bytes.
pub const START: usize = MAGIC.len() + 1;
/// Maximum number of entries in a transcript.
pub const MAX_LOG: usize = 1 << 20;

/// The part after the entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trailer {
    pub(crate) end: End,
    /// The hash of the last complete step.
    pub(crate) log: Hash32,
    pub(crate) equivocation: Option<Box<Equivocation>>,
    /// The certificates that removed absent parties, by step.
    pub(crate) removals: Bounded<Certificate, MAX_CERTIFICATES>,
    /// The proofs that removed seats, by step and in order of removal.
    pub(crate) faults: Bounded<Proven, MAX_SEATS>,
    /// Removals of equivocating seats, in order.
    pub(crate) halted: Bounded<Halted, MAX_SEATS>,
    /// The claims that closed the table, ordered by seat and then by the seats they name.
    pub(crate) claims: Bounded<SignedClaim, MAX_CLAIMS>,
    /// The last extensions of time of each seat, by seat. A part of its own behind the rest, and only in files that have any.
    #[serde(skip)]
    pub(crate) extensions: Bounded<SignedExtensions, MAX_SEATS>,
}

fn join<T: Clone, const MAX: usize>(all: &mut Bounded<T, MAX>, more: Bounded<T, MAX>) -> bool {
    let joined = [std::mem::take(all).into_inner(), more.into_inner()].concat();
    let fits = joined.len() <= MAX;
    *all = Bounded::first(joined);
    fits
}

/// A file; `More` is the extensions of time in one of [`EXTENDED_VERSION`], else nothing.
//= T1.1
#[derive(Serialize, Deserialize)]
struct File<More> {
    magic: [u8; 8],
    version: u16,
    charter: Charter,
    signatures: Bounded<SignatureBytes, MAX_SEATS>,
    entries: Bounded<SignedEntry, MAX_LOG>,
    trailer: Trailer,
    more: More,
}

impl File<()> {
    fn with<More>(self, more: More) -> File<More> {
        let Self { magic, version, charter, signatures, entries, trailer, more: () } = self;
        File { magic, version, charter, signatures, entries, trailer, more }
    }
}

/// The extensions of time in a file.
type InFile = Bounded<SignedExtensions, MAX_SEATS>;

/// The version of the file of a table.
//= T1.1
fn version(charter: &Charter, extensions: &InFile) -> u16 {
    if !extensions.is_empty() {
        return EXTENDED_VERSION;
    }
    match charter.rules().protocol {
        Protocol::One => FIRST_VERSION,
        Protocol::Two => VERSION,
    }
}

/// A transcript with a checked charter and unchecked entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    charter: SignedCharter,
    entries: Vec<SignedEntry>,
    trailer: Trailer,
}

/// Why a file is not a valid transcript.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TranscriptError {
    /// The file does not begin with the magic bytes.
    #[error("this is not a fairdeal transcript (it does not begin with \"fairdeal\")")]
    NotATranscript,
    /// The file has another format version.
    #[error(
        "the transcript has format version {0}; this program reads versions {FIRST_VERSION}, {VERSION} and \
         {EXTENDED_VERSION}"
    )]
    Version(u16),
    /// The file has the format version of tables of another protocol.
    #[error("the transcript has format version {0}, which is not that of its table")]
    OtherVersion(u16),
    /// The bytes do not decode.
    #[error("the transcript is {0}")]
    Codec(#[from] CodecError),
    /// The charter or one of its signatures is invalid.
    #[error(transparent)]
    Charter(#[from] CharterError),
}

impl Transcript {
    pub(crate) fn new(charter: SignedCharter, entries: Vec<SignedEntry>, trailer: Trailer) -> Self {
        Self { charter, entries, trailer }
    }

    /// A log with no entries yet.
    pub(crate) fn empty(charter: SignedCharter) -> Self {
        let trailer = Trailer {
            end: End::Unfinished,
            log: Hash32::default(),
            equivocation: None,
            removals: Bounded::default(),
            faults: Bounded::default(),
            halted: Bounded::default(),
            claims: Bounded::default(),
            extensions: Bounded::default(),
        };
        Self::new(charter, Vec::new(), trailer)
    }

    /// Appends a page. Returns false if the transcript would exceed a maximum; only part of the page may then have been
    /// added.
    pub(crate) fn extend(&mut self, page: Page) -> bool {
        let trailer = &mut self.trailer;
        if self.entries.len() + page.entries.len() > MAX_LOG {
            return false;
        }
        self.entries.extend(page.entries.into_inner());
        if let Some(last) = page.last {
            trailer.end = last.end;
            trailer.log = last.log;
            trailer.equivocation = last.equivocation;
            trailer.claims = last.claims;
            trailer.extensions = last.extensions;
        }
        join(&mut trailer.removals, page.removals)
            && join(&mut trailer.faults, page.faults)
            && join(&mut trailer.halted, page.halted)
    }

    /// Sets the hash of the last complete step, for a log that still grows.
    pub(crate) fn set_log(&mut self, log: Hash32) {
        self.trailer.log = log;
    }

    /// Encodes the file.
    ///
    /// # Errors
    /// [`CodecError::TooLong`] if the log has more entries than a transcript can hold.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CodecError> {
        let too_long = |size| CodecError::TooLong { size, limit: MAX_LOG };
        let signatures = self.charter.signatures().to_vec();
        let seats = signatures.len();
        let extensions = self.trailer.extensions.clone();
        let file = File {
            magic: MAGIC,
            version: version(self.charter.charter(), &extensions),
            charter: self.charter.charter().clone(),
            signatures: signatures.try_into().map_err(|_| too_long(seats))?,
            entries: self.entries.clone().try_into().map_err(|_| too_long(self.entries.len()))?,
            trailer: self.trailer.clone(),
            more: (),
        };
        Ok(if extensions.is_empty() { encode(&file) } else { encode(&file.with(extensions)) })
    }

    /// Checks the first [`START`] bytes of a file, or all of a shorter one, to see if the rest is worth reading.
    ///
    /// # Errors
    /// [`TranscriptError::NotATranscript`], [`TranscriptError::Version`].
    pub fn check_start(bytes: &[u8]) -> Result<(), TranscriptError> {
        let rest = bytes.strip_prefix(&MAGIC).ok_or(TranscriptError::NotATranscript)?;
        // The codec encodes small numbers in one byte; a later version may take more.
        match rest.first().copied().map(u16::from) {
            Some(FIRST_VERSION | VERSION | EXTENDED_VERSION) => Ok(()),
            other => Err(TranscriptError::Version(other.unwrap_or(0))),
        }
    }

    /// Reads a file and checks the charter's signatures.
    ///
    /// # Errors
    /// [`TranscriptError`].
    //= T9.1
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TranscriptError> {
        Self::check_start(bytes)?;
        let is_extended = bytes.get(MAGIC.len()).copied().map(u16::from) == Some(EXTENDED_VERSION);
        let file: File<InFile> = if is_extended {
            decode(bytes, MAX_BYTES)?
        } else {
            decode::<File<()>>(bytes, MAX_BYTES)?.with(Bounded::default())
        };
        if file.version != version(&file.charter, &file.more) {
            return Err(TranscriptError::OtherVersion(file.version));
        }
        let charter = SignedCharter::assemble(file.charter, file.signatures.into_inner())?;
        let trailer = Trailer { extensions: file.more, ..file.trailer };
        Ok(Self { charter, entries: file.entries.into_inner(), trailer })
    }

    /// The charter.
    pub fn charter(&self) -> &SignedCharter {
        &self.charter
    }

    /// The entries, by step and seat.
    pub fn entries(&self) -> &[SignedEntry] {
        &self.entries
    }

    /// How the log ends, according to the file.
    pub fn end(&self) -> End {
        self.trailer.end
    }

    /// The hash of the last complete step, according to the file.
    pub fn log_hash(&self) -> Hash32 {
        self.trailer.log
    }

    /// Removals of absent parties, by step.
    pub fn removals(&self) -> &[Certificate] {
        &self.trailer.removals
    }

    /// The entries that prove faults, by step and in order of removal.
    pub fn faults(&self) -> &[Proven] {
        &self.trailer.faults
    }

    /// Removals of equivocating seats, in order.
    pub fn halted(&self) -> &[Halted] {
        &self.trailer.halted
    }

    /// The claims that closed the table, ordered by seat and then by the seats they name.
    pub fn claims(&self) -> &[SignedClaim] {
        &self.trailer.claims
    }

    /// The last extensions of time of each seat, by seat.
    pub fn extensions(&self) -> &[SignedExtensions] {
        &self.trailer.extensions
    }

    /// The two conflicting entries that stopped the table, if it ended that way.
    pub fn equivocation(&self) -> Option<&Equivocation> {
        self.trailer.equivocation.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_format_version_is_refused_by_number() {
        let old = Transcript::from_bytes(b"fairdeal\x01").unwrap_err();
        assert_eq!(old, TranscriptError::Version(1));
        assert_eq!(old.to_string(), "the transcript has format version 1; this program reads versions 3, 4 and 5");
    }
}
