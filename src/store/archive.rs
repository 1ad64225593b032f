//! Transcripts of finished tables, and evidence of misbehaviour, as files named by table id.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use fairdeal_protocol::hash::Hasher;

use super::{DataDir, StoreError, files};

/// Evidence files kept for one table, so that a peer cannot fill the disk by misbehaving.
pub const MAX_EVIDENCE_FILES: usize = 64;

/// The extension of a transcript, as `docs/transcript.md` has it.
const TRANSCRIPT: &str = "fairdeal";
const EVIDENCE: &str = "evidence";
/// Table ids named in an error.
const NAMED: usize = 10;
/// Names the content of an evidence file in its file name.
const EVIDENCE_LABEL: &str = fairdeal_protocol::domain::EVIDENCE_FILE;

/// A transcript in the data directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptFile {
    /// The table id in lower-case hexadecimal.
    pub table: String,
    /// The file.
    pub path: PathBuf,
    /// Its length in bytes.
    pub length: u64,
    /// When it was written last.
    pub modified: SystemTime,
}

impl DataDir {
    /// Saves a transcript under its table id, in place of an earlier one of the same table.
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

    /// All transcripts, newest first.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the folder cannot be read.
    pub fn transcripts(&self) -> Result<Vec<TranscriptFile>, StoreError> {
        let mut found = Vec::new();
        for (path, metadata) in list(&self.path().join("transcripts"))? {
            let is_transcript = path.extension().is_some_and(|end| end == TRANSCRIPT);
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            // Files that are not ours may lie there too.
            let Some(Ok(table)) = stem.filter(|_| is_transcript).map(hexadecimal) else {
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

    /// The one transcript whose table id starts with `prefix`, in either case of letters.
    ///
    /// # Errors
    /// [`StoreError::NoSuchTranscript`] and [`StoreError::Ambiguous`] say which there are,
    /// [`StoreError::BadTable`] if `prefix` is not hexadecimal, [`StoreError::Io`].
    pub fn find_transcript(&self, prefix: &str) -> Result<PathBuf, StoreError> {
        let prefix = hexadecimal(prefix)?;
        let all = self.transcripts()?;
        if let Some(exact) = all.iter().find(|file| file.table == prefix) {
            return Ok(exact.path.clone());
        }
        let matching: Vec<&TranscriptFile> = all
            .iter()
            .filter(|file| file.table.starts_with(&prefix))
            .collect();
        match matching.as_slice() {
            [one] => Ok(one.path.clone()),
            [] => Err(StoreError::NoSuchTranscript {
                prefix,
                known: names(all.iter()),
            }),
            several => Err(StoreError::Ambiguous {
                prefix,
                matches: names(several.iter().copied()),
            }),
        }
    }

    /// Saves evidence against a seat of a table; the same evidence twice is one file.
    ///
    /// # Errors
    /// [`StoreError::TooMuchEvidence`] past [`MAX_EVIDENCE_FILES`] of one table,
    /// [`StoreError::BadTable`], [`StoreError::Io`].
    pub fn save_evidence(&self, table: &str, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let table = hexadecimal(table)?;
        let folder = self.folder("evidence")?;
        let digest = Hasher::new(EVIDENCE_LABEL).bytes(bytes).finish().short();
        let name = format!("{table}-{digest}.{EVIDENCE}");
        let path = folder.join(&name);
        let start = format!("{table}-");
        let kept = list(&folder)?
            .into_iter()
            .filter_map(|(path, _)| path.file_name()?.to_str().map(str::to_owned))
            .filter(|other| other.starts_with(&start) && *other != name)
            .count();
        if kept >= MAX_EVIDENCE_FILES {
            return Err(StoreError::TooMuchEvidence {
                table,
                limit: MAX_EVIDENCE_FILES,
            });
        }
        files::write_whole(&path, bytes)?;
        Ok(path)
    }

    fn folder(&self, name: &str) -> Result<PathBuf, StoreError> {
        let path = self.path().join(name);
        files::create_private_dir(&path)?;
        Ok(path)
    }
}

/// Checks and lowers a table id or the start of one, so that it can be a file name.
pub(super) fn hexadecimal(text: &str) -> Result<String, StoreError> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.bytes().all(|byte| byte.is_ascii_hexdigit());
    if digits && (1..=64).contains(&lower.len()) {
        Ok(lower)
    } else {
        Err(StoreError::BadTable {
            given: text.chars().take(80).collect(),
        })
    }
}

fn names<'a>(files: impl Iterator<Item = &'a TranscriptFile>) -> Vec<String> {
    files.take(NAMED).map(|file| file.table.clone()).collect()
}

/// The plain files of a folder; none if it does not exist.
pub(super) fn list(folder: &Path) -> Result<Vec<(PathBuf, fs::Metadata)>, StoreError> {
    let failed = |source| StoreError::io("list", folder, source);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        match entry.metadata() {
            Ok(metadata) if metadata.is_file() => files.push((entry.path(), metadata)),
            Ok(_) => {}
            // Deleted by the user since it was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(files)
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
            data.save_evidence("ab", number.to_string().as_bytes())
                .unwrap();
        }
        let error = data.save_evidence("ab", b"one too many").unwrap_err();
        assert!(matches!(error, StoreError::TooMuchEvidence { .. }));
        assert_eq!(data.save_evidence("ab", b"0").unwrap(), first);
        data.save_evidence("cd", b"another table").unwrap();
    }
}
