//! Lobbies by letter: one file each, `lobbies/NUMBER.lobby`, with a mark as journals have ([`super::journal`]).
//!
//! A table that begins from a copy of its lobby may have begun before: without the mark that fits, its seat has to ask the
//! others what it has signed.

use std::fs::{self, File};
use std::path::PathBuf;

use super::journal::clean;
use super::{DataDir, DataView, StoreError, files};

const FOLDER: &str = "lobbies";
const EXTENSION: &str = "lobby";
/// The first line of a file.
const FORM: &[u8] = b"fairdeal lobby 1\n";
/// Maximum size of a file, in bytes.
const MAX_FILE: u64 = 512 << 10;
/// Maximum number of lobbies that are kept.
const MAX_LOBBIES: usize = 64;

impl DataView {
    fn lobby_path(&self, number: [u8; 8]) -> PathBuf {
        let name = format!("{:016x}.{EXTENSION}", u64::from_be_bytes(number));
        self.path().join(FOLDER).join(name)
    }

    /// The contents of all lobbies, newest first; what is no lobby of this version is left out.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the folder cannot be read.
    pub fn lobbies(&self) -> Result<Vec<Vec<u8>>, StoreError> {
        let mut found = files::list(&self.path().join(FOLDER))?;
        found.retain(|(path, _)| path.extension().is_some_and(|end| end == EXTENSION));
        found.sort_by_key(|(_, metadata)| std::cmp::Reverse(metadata.modified().ok()));
        let read = |path: PathBuf| {
            let bytes = files::read_limited(files::open_plain(&path).ok()?, MAX_FILE).ok()?;
            bytes.strip_prefix(FORM).map(<[u8]>::to_vec)
        };
        Ok(found.into_iter().filter_map(|(path, _)| read(path)).take(MAX_LOBBIES).collect())
    }
}

impl DataDir {
    /// Saves a lobby; on disk when this returns.
    ///
    /// # Errors
    /// [`StoreError::Io`]; [`StoreError::ManyLobbies`].
    pub fn save_lobby(&self, number: [u8; 8], content: &[u8]) -> Result<(), StoreError> {
        let path = self.lobby_path(number);
        if !path.exists() && self.lobbies()?.len() >= MAX_LOBBIES {
            return Err(StoreError::ManyLobbies { folder: self.path().join(FOLDER) });
        }
        // One that was not put there by this program stays so.
        let was_copied = path.exists() && clean::fits(&path).is_none();
        files::create_private_dir(&self.path().join(FOLDER))?;
        files::write_whole(&path, &[FORM, content].concat())?;
        if was_copied {
            return Ok(());
        }
        let file = File::open(&path).map_err(|source| StoreError::io("read", &path, source))?;
        clean::mark(&path, &file)
    }

    /// Uses up the mark of a lobby whose table begins. Returns whether there was one that fits.
    pub fn takes_lobby(&self, number: [u8; 8]) -> bool {
        clean::take(&self.lobby_path(number))
    }

    /// Removes a lobby.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn remove_lobby(&self, number: [u8; 8]) -> Result<(), StoreError> {
        let path = self.lobby_path(number);
        clean::forget(&path);
        files::remove_if_there(&path).map_err(|source| StoreError::io("remove", &path, source))?;
        // An empty folder stays nowhere.
        let _ = fs::remove_dir(self.path().join(FOLDER));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(name: &str) -> (tempfile::TempDir, DataDir) {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(Some(&folder.path().join(name))).unwrap();
        (folder, data)
    }

    #[test]
    fn lobbies_are_kept_and_marked_once() {
        let (_folder, data) = data("a");
        assert_eq!(data.lobbies().unwrap(), Vec::<Vec<u8>>::new());
        data.save_lobby([1; 8], b"one").unwrap();
        data.save_lobby([1; 8], b"more").unwrap();
        data.save_lobby([2; 8], b"two").unwrap();
        assert_eq!(data.lobbies().unwrap().len(), 2);
        assert_eq!(data.takes_lobby([1; 8]), cfg!(unix));
        assert!(!data.takes_lobby([1; 8]), "a mark counts once");
        // It has been used up, also once the lobby is saved again.
        data.save_lobby([1; 8], b"again").unwrap();
        assert!(!data.takes_lobby([1; 8]));
        data.remove_lobby([1; 8]).unwrap();
        data.remove_lobby([2; 8]).unwrap();
        assert!(!data.path().join(FOLDER).exists());
    }

    #[test]
    fn a_copy_has_no_mark() {
        let (_folder, data) = data("a");
        data.save_lobby([1; 8], b"one").unwrap();
        let path = data.lobby_path([1; 8]);
        let copy = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, copy).unwrap();
        data.save_lobby([1; 8], b"two").unwrap();
        assert!(!data.takes_lobby([1; 8]));
    }

    #[test]
    fn other_files_are_no_lobbies_and_there_are_not_too_many() {
        let (_folder, data) = data("a");
        let folder = data.path().join(FOLDER);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("0000000000000007.lobby"), b"fairdeal lobby 9\n").unwrap();
        fs::write(folder.join("notes.txt"), FORM).unwrap();
        assert_eq!(data.lobbies().unwrap(), Vec::<Vec<u8>>::new());
        for number in 0..MAX_LOBBIES {
            data.save_lobby(u64::try_from(number).unwrap().to_be_bytes(), b"x").unwrap();
        }
        assert!(matches!(data.save_lobby([9; 8], b"x"), Err(StoreError::ManyLobbies { .. })));
        data.save_lobby([0; 8], b"y").unwrap();
    }
}
