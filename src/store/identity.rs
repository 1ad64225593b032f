//! The identity of this player: an Ed25519 key pair, kept as its secret seed.
//!
//! The file is one line of ASCII: `fairdeal-identity-1`, a space, the 32-byte seed as 64 lower-case
//! hexadecimal digits, and a line feed. A file that is anything else is an error and is left alone:
//! to replace a key silently would be to change who the player is.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

use data_encoding::HEXLOWER;
use zeroize::{Zeroize as _, ZeroizeOnDrop, Zeroizing};

use super::StoreError;
use super::files;

const HEADER: &str = "fairdeal-identity-1 ";
/// Bytes of the header, the digits and the line feed.
const FILE_LENGTH: usize = HEADER.len() + 64 + 1;

/// An Ed25519 secret seed, 32 bytes; wiped when dropped and never shown.
#[derive(Clone, ZeroizeOnDrop)]
pub struct IdentityKey {
    seed: [u8; 32],
}

impl IdentityKey {
    /// A new one from the system's randomness.
    ///
    /// # Errors
    /// [`StoreError::Random`] if the system has none.
    pub fn generate() -> Result<Self, StoreError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(StoreError::Random)?;
        Ok(Self { seed })
    }

    /// The key pair of a known seed; every 32 bytes are one.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self { seed }
    }

    /// The secret seed.
    ///
    /// # Security
    /// Whoever has it is this player. Copies are the caller's to wipe.
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }
}

impl fmt::Debug for IdentityKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdentityKey(secret)")
    }
}

/// Reads the key at `path`, or makes one there if there is no file.
pub(super) fn load_or_create(path: &Path) -> Result<IdentityKey, StoreError> {
    if let Some(known) = load_known(path)? {
        return Ok(known);
    }
    let key = IdentityKey::generate()?;
    files::write_whole(path, &encode(&key))?;
    Ok(key)
}

/// Reads the key at `path`, if there is a file.
pub(super) fn load_known(path: &Path) -> Result<Option<IdentityKey>, StoreError> {
    match File::open(path) {
        Ok(file) => load(path, file).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::io("read", path, source)),
    }
}

fn load(path: &Path, file: File) -> Result<IdentityKey, StoreError> {
    refuse_exposed(path, &file)?;
    let limit = u64::try_from(FILE_LENGTH).unwrap_or(u64::MAX);
    let bytes = files::read_limited(file, limit)
        .map(Zeroizing::new)
        .map_err(|source| StoreError::io("read", path, source))?;
    decode(&bytes).map_err(|why| StoreError::DamagedIdentity {
        path: path.to_path_buf(),
        why,
    })
}

/// The open file is asked, not its name, so that it cannot be exchanged in between.
#[cfg(unix)]
fn refuse_exposed(path: &Path, file: &File) -> Result<(), StoreError> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = file
        .metadata()
        .map_err(|source| StoreError::io("read", path, source))?;
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & 0o077 == 0 {
        Ok(())
    } else {
        Err(StoreError::Exposed {
            path: path.to_path_buf(),
            mode,
        })
    }
}

#[cfg(not(unix))]
fn refuse_exposed(_: &Path, _: &File) -> Result<(), StoreError> {
    Ok(())
}

fn encode(key: &IdentityKey) -> Zeroizing<Vec<u8>> {
    // Room for all of it from the start: a vector that grows leaves copies behind.
    let mut line = Zeroizing::new(Vec::with_capacity(FILE_LENGTH));
    let digits = Zeroizing::new(HEXLOWER.encode(&key.seed));
    line.extend_from_slice(HEADER.as_bytes());
    line.extend_from_slice(digits.as_bytes());
    line.push(b'\n');
    line
}

fn decode(bytes: &[u8]) -> Result<IdentityKey, &'static str> {
    let rest = bytes
        .strip_prefix(HEADER.as_bytes())
        .ok_or("its first words are not ours")?;
    // An editor may have taken the line feed or added a carriage return.
    let digits = rest.trim_ascii_end();
    if digits.len() != 64 {
        return Err("it has not 64 digits");
    }
    let mut seed = [0; 32];
    if HEXLOWER.decode_mut(digits, &mut seed).is_err() {
        seed.zeroize();
        return Err("its digits are not lower-case hexadecimal");
    }
    Ok(IdentityKey { seed })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_found_again() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("identity.key");
        let made = load_or_create(&path).unwrap();
        let found = load_or_create(&path).unwrap();
        assert_eq!(made.seed(), found.seed());
        assert_eq!(fs::read(&path).unwrap().len(), FILE_LENGTH);
    }

    #[test]
    fn the_file_is_one_documented_line() {
        let key = IdentityKey::from_seed([0xab; 32]);
        let line = encode(&key);
        let expected = format!("fairdeal-identity-1 {}\n", "ab".repeat(32));
        assert_eq!(line.as_slice(), expected.as_bytes());
        assert_eq!(decode(&line).unwrap().seed(), key.seed());
    }

    #[test]
    fn debug_shows_no_secret() {
        let key = IdentityKey::from_seed([0xab; 32]);
        assert_eq!(format!("{key:?}"), "IdentityKey(secret)");
    }

    #[test]
    fn damaged_files_are_refused_and_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("identity.key");
        load_or_create(&path).unwrap();
        let seed = "ab".repeat(32);
        for text in [
            String::new(),
            "fairdeal-identity-1 ".to_owned(),
            format!("fairdeal-identity-2 {seed}\n"),
            format!("fairdeal-identity-1 {}\n", &seed[1..]),
            format!("fairdeal-identity-1 {seed}00\n"),
            format!("fairdeal-identity-1 {}\n", "zz".repeat(32)),
        ] {
            // Written in place, so that the file keeps its mode.
            fs::write(&path, &text).unwrap();
            let error = load_or_create(&path).unwrap_err();
            assert!(
                matches!(error, StoreError::DamagedIdentity { .. }),
                "{text:?}: {error}"
            );
            assert!(!error.to_string().contains(&seed));
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("identity.key");
        load_or_create(&path).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        for exposed in [0o640, 0o604, 0o660, 0o644] {
            fs::set_permissions(&path, fs::Permissions::from_mode(exposed)).unwrap();
            let error = load_or_create(&path).unwrap_err();
            assert!(matches!(error, StoreError::Exposed { mode, .. } if mode == exposed));
            assert!(error.to_string().contains("chmod 600"), "{error}");
        }
    }
}
