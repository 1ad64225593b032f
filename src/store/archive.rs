//! Transcripts of finished tables, and evidence of faults, in files named by table id.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use fairdeal_protocol::domain::Label;
use fairdeal_protocol::hash::Hasher;
use fairdeal_protocol::transcript::{START, Transcript};
use fairdeal_protocol::wire::codec::MAX_BYTES;

use super::files::{hexadecimal, list};
use super::{DataDir, DataView, StoreError, UnreadableTranscript, files};

/// Maximum number of evidence files per table: a misbehaving peer must not fill the disk.
pub const MAX_EVIDENCE_FILES: usize = 64;

/// The file extension of transcripts, as in `docs/transcript.md`.
const TRANSCRIPT: &str = "fairdeal";
/// The evidence folder, and the extension of its files.
const EVIDENCE: &str = "evidence";
const SUMMARIES: &str = "summaries";
/// Maximum size of a summary with its checksum, in bytes.
const MAX_SUMMARY: u64 = 16 << 10;
/// Maximum size of a transcript, in bytes. The longest games are some megabytes.
const LARGEST: u64 = MAX_BYTES as u64;
/// Maximum number of table ids named in an error.
const NAMED: usize = 10;
/// Domain label of the digest in an evidence file's name.
//= T1.5
const EVIDENCE_LABEL: Label = fairdeal_protocol::domain::EVIDENCE_FILE;

/// A transcript in the data directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptFile {
    /// The table id in lower-case hexadecimal.
    pub table: String,
    pub path: PathBuf,
    /// File size in bytes.
    pub length: u64,
    /// When the file was last written.
    pub modified: SystemTime,
}

/// Reads a transcript from any file. Checks only its charter.
///
/// # Errors
/// [`UnreadableTranscript`].
pub fn read_transcript(path: &Path) -> Result<Transcript, UnreadableTranscript> {
    take_transcript(open_transcript(path)?)
}

/// The bytes of a file as large as a transcript may be.
///
/// # Errors
/// [`UnreadableTranscript`].
pub fn transcript_bytes(path: &Path) -> Result<Vec<u8>, UnreadableTranscript> {
    read_all(open_transcript(path)?)
}

/// Opens a file that may be a transcript: by its kind and size, before anything of it is read.
fn open_transcript(path: &Path) -> Result<File, UnreadableTranscript> {
    // Opening a pipe would wait for its writer.
    refuse_by_size(&fs::metadata(path)?)?;
    let file = File::open(path)?;
    refuse_by_size(&file.metadata()?)?;
    Ok(file)
}

fn refuse_by_size(about: &fs::Metadata) -> Result<(), UnreadableTranscript> {
    let (length, limit) = (about.len(), LARGEST);
    if about.is_dir() {
        Err(UnreadableTranscript::Folder)
    } else if !about.is_file() {
        Err(UnreadableTranscript::NotAFile)
    } else if length > limit {
        Err(UnreadableTranscript::TooLarge { length, limit })
    } else {
        Ok(())
    }
}

/// Reads a transcript from standard input. A file behind it is refused by its size, as any other.
///
/// # Errors
/// [`UnreadableTranscript`].
pub fn piped_transcript() -> Result<Transcript, UnreadableTranscript> {
    let input = io::stdin().lock();
    if let Some(about) = behind(&input).filter(fs::Metadata::is_file) {
        refuse_by_size(&about)?;
    }
    take_transcript(input)
}

/// The file or pipe behind standard input.
#[cfg(unix)]
fn behind(input: &io::StdinLock<'_>) -> Option<fs::Metadata> {
    use std::os::fd::AsFd as _;
    File::from(input.as_fd().try_clone_to_owned().ok()?).metadata().ok()
}

#[cfg(windows)]
fn behind(input: &io::StdinLock<'_>) -> Option<fs::Metadata> {
    use std::os::windows::io::AsHandle as _;
    File::from(input.as_handle().try_clone_to_owned().ok()?).metadata().ok()
}

#[cfg(not(any(unix, windows)))]
fn behind(_: &io::StdinLock<'_>) -> Option<fs::Metadata> {
    None
}

/// Reads a transcript as [`read_transcript`] does. Reads only the first bytes of a source that is not a transcript.
fn take_transcript(mut source: impl Read) -> Result<Transcript, UnreadableTranscript> {
    let mut start = Vec::new();
    source.by_ref().take(START as u64).read_to_end(&mut start)?;
    Transcript::check_start(&start)?;
    Ok(Transcript::from_bytes(&read_all(start.as_slice().chain(source))?)?)
}

fn read_all(source: impl Read) -> Result<Vec<u8>, UnreadableTranscript> {
    let bytes = files::read_limited(source, LARGEST)?;
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= LARGEST => Ok(bytes),
        _ => Err(UnreadableTranscript::Endless { limit: LARGEST }),
    }
}

/// The transcripts directly in any folder, by their extension, in the order of their names.
///
/// # Errors
/// [`StoreError::Io`] if the folder cannot be read.
pub fn transcripts_in(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let files = list(folder)?.into_iter().map(|(path, _)| path);
    let mut found: Vec<PathBuf> = files.filter(|path| is_transcript(path)).collect();
    found.sort();
    Ok(found)
}

fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == TRANSCRIPT)
}

/// The hash of a summary, in hexadecimal.
fn check(summary: &[u8]) -> String {
    let hash = Hasher::new(fairdeal_protocol::domain::SUMMARY_FILE);
    hash.bytes(summary).finish().to_string()
}

/// A summary without its checksum line; `None` if the checksum does not match.
fn checked(bytes: &[u8]) -> Option<&[u8]> {
    let line = bytes.strip_suffix(b"\n")?;
    let end = line.iter().rposition(|byte| *byte == b'\n')?;
    let (content, last) = line.split_at_checked(end)?;
    (last.strip_prefix(b"\n")? == check(content).as_bytes()).then_some(content)
}

impl DataView {
    /// The saved summary of a transcript, unless it is damaged or older than the transcript.
    pub fn summary(&self, of: &TranscriptFile) -> Option<Vec<u8>> {
        let path = self.path().join(SUMMARIES);
        let file = files::open_plain(&path.join(format!("{}.summary", of.table))).ok()?;
        let written = file.metadata().and_then(|about| about.modified()).ok()?;
        let bytes = files::read_limited(file, MAX_SUMMARY).ok()?;
        let whole = u64::try_from(bytes.len()).is_ok_and(|length| length <= MAX_SUMMARY);
        let content = checked(&bytes)?;
        (whole && written >= of.modified).then(|| content.to_vec())
    }

    /// All transcripts, newest first.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the folder cannot be read.
    pub fn transcripts(&self) -> Result<Vec<TranscriptFile>, StoreError> {
        let mut found = Vec::new();
        for (path, metadata) in list(&self.path().join("transcripts"))? {
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            // The folder may hold other files too.
            let Some(Ok(table)) = stem.filter(|_| is_transcript(&path)).map(hexadecimal) else {
                continue;
            };
            found.push(TranscriptFile {
                table,
                length: metadata.len(),
                modified: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                path,
            });
        }
        found.sort_by(|a, b| {
            let newest_first = b.modified.cmp(&a.modified);
            newest_first.then_with(|| a.table.cmp(&b.table))
        });
        Ok(found)
    }

    /// Finds the one transcript whose table id starts with `prefix`, ignoring case.
    ///
    /// # Errors
    /// [`StoreError::NoSuchTranscript`] and [`StoreError::Ambiguous`] list the candidates, [`StoreError::BadTable`] if
    /// `prefix` is not hexadecimal, [`StoreError::Io`].
    pub fn find_transcript(&self, prefix: &str) -> Result<PathBuf, StoreError> {
        let prefix = hexadecimal(prefix)?;
        let all = self.transcripts()?;
        if let Some(exact) = all.iter().find(|file| file.table == prefix) {
            return Ok(exact.path.clone());
        }
        let matching: Vec<&TranscriptFile> = all.iter().filter(|file| file.table.starts_with(&prefix)).collect();
        match matching.as_slice() {
            [one] => Ok(one.path.clone()),
            [] => Err(StoreError::NoSuchTranscript { prefix, known: names(all.iter()) }),
            several => Err(StoreError::Ambiguous { prefix, matches: names(several.iter().copied()) }),
        }
    }
}

impl DataDir {
    /// Saves a transcript under its table id, replacing an earlier one of the same table.
    ///
    /// # Errors
    /// [`StoreError::BadTable`] if `table` is not hexadecimal, [`StoreError::Io`].
    pub fn save_transcript(&self, table: &str, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let table = hexadecimal(table)?;
        let folder = self.folder("transcripts")?;
        let path = folder.join(format!("{table}.{TRANSCRIPT}"));
        files::write_whole(&path, bytes)?;
        Ok(path)
    }

    /// Saves the summary of a transcript, followed by a line with its hash: a damaged digit must not pass as another
    /// score.
    ///
    /// # Errors
    /// [`StoreError::BadTable`] if `table` is not hexadecimal, [`StoreError::Io`].
    pub fn save_summary(&self, table: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let table = hexadecimal(table)?;
        let folder = self.folder(SUMMARIES)?;
        let check = check(bytes);
        let line = [bytes, b"\n", check.as_bytes(), b"\n"].concat();
        files::write_whole(&folder.join(format!("{table}.summary")), &line)
    }

    /// Saves evidence against a seat of a table. The same evidence twice gives one file.
    ///
    /// # Errors
    /// [`StoreError::TooMuchEvidence`] beyond [`MAX_EVIDENCE_FILES`] per table, [`StoreError::BadTable`],
    /// [`StoreError::Io`].
    pub fn save_evidence(&self, table: &str, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let table = hexadecimal(table)?;
        let folder = self.folder(EVIDENCE)?;
        let digest = Hasher::new(EVIDENCE_LABEL).bytes(bytes).finish().short();
        let name = format!("{table}-{digest}.{EVIDENCE}");
        let path = folder.join(&name);
        let mut kept = self.evidence_of(&table)?;
        kept.retain(|other| *other != path);
        if kept.len() >= MAX_EVIDENCE_FILES {
            return Err(StoreError::TooMuchEvidence { table, limit: MAX_EVIDENCE_FILES });
        }
        files::write_whole(&path, bytes)?;
        Ok(path)
    }

    /// The evidence files of a table.
    ///
    /// # Errors
    /// [`StoreError::BadTable`], [`StoreError::Io`].
    pub fn evidence_of(&self, table: &str) -> Result<Vec<PathBuf>, StoreError> {
        let start = format!("{}-", hexadecimal(table)?);
        let files = list(&self.path().join(EVIDENCE))?.into_iter().map(|(path, _)| path);
        let its = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(&start))
        };
        Ok(files.filter(its).collect())
    }

    fn folder(&self, name: &str) -> Result<PathBuf, StoreError> {
        let path = self.path().join(name);
        files::create_private_dir(&path)?;
        Ok(path)
    }
}

fn names<'a>(files: impl Iterator<Item = &'a TranscriptFile>) -> Vec<String> {
    files.take(NAMED).map(|file| file.table.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> (tempfile::TempDir, DataDir) {
        let home = tempfile::tempdir().unwrap();
        let data = DataDir::open(Some(home.path())).unwrap();
        (home, data)
    }

    #[test]
    fn a_transcript_is_found_by_the_start_of_its_table() {
        let (_home, data) = open();
        let first = data.save_transcript("abc1", b"one").unwrap();
        let second = data.save_transcript("ABD2", b"two").unwrap();
        assert_eq!(data.find_transcript("abc").unwrap(), first);
        assert_eq!(data.find_transcript("ABD").unwrap(), second);
        assert_eq!(fs::read(second).unwrap(), b"two");
        assert_eq!(data.transcripts().unwrap().len(), 2);

        let error = data.find_transcript("ab").unwrap_err();
        assert!(matches!(&error, StoreError::Ambiguous { matches, .. } if matches.len() == 2));
        let error = data.find_transcript("ff").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("abc1") && text.contains("abd2"), "{text}");
    }

    #[test]
    fn a_whole_id_wins_over_a_longer_one() {
        let (_home, data) = open();
        let short = data.save_transcript("ab", b"").unwrap();
        data.save_transcript("abcd", b"").unwrap();
        assert_eq!(data.find_transcript("ab").unwrap(), short);
    }

    #[test]
    fn an_empty_history_says_so() {
        let (_home, data) = open();
        assert_eq!(data.transcripts().unwrap(), []);
        let error = data.find_transcript("a").unwrap_err();
        assert!(error.to_string().contains("none yet"), "{error}");
    }

    #[test]
    fn saving_again_replaces() {
        let (_home, data) = open();
        data.save_transcript("ab", b"one").unwrap();
        let path = data.save_transcript("ab", b"two").unwrap();
        assert_eq!(fs::read(path).unwrap(), b"two");
        assert_eq!(data.transcripts().unwrap().len(), 1);
    }

    #[test]
    fn a_summary_is_of_the_transcript_as_it_is() {
        let (_home, data) = open();
        let path = data.save_transcript("ab", b"one").unwrap();
        let file = || data.transcripts().unwrap().remove(0);
        assert_eq!(data.summary(&file()), None);
        data.save_summary("AB", b"in short").unwrap();
        assert_eq!(data.summary(&file()).as_deref(), Some(&b"in short"[..]));
        assert_eq!(data.transcripts().unwrap().len(), 1);
        let saved = data.path().join(SUMMARIES).join("ab.summary");
        let bytes = fs::read(&saved).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            fs::write(&saved, damaged).unwrap();
            assert_eq!(data.summary(&file()), None, "byte {at}");
            fs::write(&saved, &bytes[..at]).unwrap();
            assert_eq!(data.summary(&file()), None, "cut at {at}");
        }
        fs::write(&saved, &bytes).unwrap();
        // The transcript is newer than its summary.
        let later = SystemTime::now() + std::time::Duration::from_secs(60);
        let transcript = fs::File::options().write(true).open(&path).unwrap();
        transcript.set_modified(later).unwrap();
        assert_eq!(data.summary(&file()), None);
        transcript.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let long = vec![b' '; usize::try_from(MAX_SUMMARY).unwrap() + 1];
        data.save_summary("ab", &long).unwrap();
        assert_eq!(data.summary(&file()), None, "nobody writes so much");
    }

    #[test]
    fn only_a_transcript_is_read_as_one() {
        let (_home, data) = open();
        let path = data.save_transcript("ab", b"no transcript").unwrap();
        let read = read_transcript(&path);
        assert!(matches!(read, Err(UnreadableTranscript::Transcript(_))));
        let read = read_transcript(&path.with_extension("gone"));
        assert!(matches!(read, Err(UnreadableTranscript::Io(_))));
    }

    /// A sparse file takes no room on the disk, and a pipe without a writer would wait for ever.
    #[cfg(unix)]
    #[test]
    fn what_cannot_be_a_transcript_is_not_read() {
        let (home, data) = open();
        let path = data.save_transcript("ab", b"").unwrap();
        let refused = |path: &Path| {
            let (read, whole) = (read_transcript(path).unwrap_err(), transcript_bytes(path).unwrap_err());
            assert_eq!(read.to_string(), whole.to_string());
            read
        };
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(LARGEST + 1).unwrap();
        assert!(matches!(refused(&path), UnreadableTranscript::TooLarge { length, .. } if length > LARGEST));
        file.set_len(LARGEST).unwrap();
        let error = read_transcript(&path).unwrap_err();
        assert!(matches!(error, UnreadableTranscript::Transcript(_)), "its first bytes show it");
        let pipe = home.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        assert!(matches!(refused(home.path()), UnreadableTranscript::Folder));
        for path in [Path::new("/dev/zero"), &pipe] {
            assert!(matches!(refused(path), UnreadableTranscript::NotAFile), "{path:?}");
        }
        std::os::unix::fs::symlink(&pipe, home.path().join("link")).unwrap();
        assert!(matches!(refused(&home.path().join("link")), UnreadableTranscript::NotAFile));
    }

    #[test]
    fn foreign_files_are_passed_over() {
        let (_home, data) = open();
        let path = data.save_transcript("ab", b"one").unwrap();
        let folder = path.parent().unwrap();
        fs::write(folder.join("notes.txt"), b"").unwrap();
        fs::write(folder.join("holiday.fairdeal"), b"").unwrap();
        fs::create_dir(folder.join("cd.fairdeal")).unwrap();
        assert_eq!(data.transcripts().unwrap().len(), 1);
    }

    #[test]
    fn only_hexadecimal_becomes_a_file_name() {
        let (_home, data) = open();
        let long = "a".repeat(65);
        for bad in ["", "../x", "a/b", "g", "ä", long.as_str()] {
            let saved = data.save_transcript(bad, b"");
            assert!(matches!(saved, Err(StoreError::BadTable { .. })), "{bad}");
            assert!(data.save_evidence(bad, b"").is_err());
            assert!(data.find_transcript(bad).is_err());
        }
    }

    #[test]
    fn evidence_is_kept_once_each_and_bounded() {
        let (_home, data) = open();
        let first = data.save_evidence("ab", b"0").unwrap();
        assert_eq!(data.save_evidence("ab", b"0").unwrap(), first);
        for number in 1..MAX_EVIDENCE_FILES {
            data.save_evidence("ab", number.to_string().as_bytes()).unwrap();
        }
        let error = data.save_evidence("ab", b"one too many").unwrap_err();
        assert!(matches!(error, StoreError::TooMuchEvidence { .. }));
        assert_eq!(data.save_evidence("ab", b"0").unwrap(), first);
        data.save_evidence("cd", b"another table").unwrap();
    }
}
