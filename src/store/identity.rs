//! The player's identity: an Ed25519 key pair, stored as its secret seed.
//!
//! The file is one line of ASCII:
//!
//! ```text
//! fairdeal-identity-2 SEED CHECK
//! ```
//!
//! SEED is the 32-byte seed and CHECK the first 16 bytes of its `identity-file` hash, both in lower-case hexadecimal. A
//! line feed ends the line. Any other file is an error and is left unchanged: a seed with even one wrong digit would be
//! another player.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

use data_encoding::HEXLOWER;
use ed25519_dalek::SigningKey;
use fairdeal_protocol::domain;
use fairdeal_protocol::hash::Hasher;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::StoreError;
use super::files;

const HEADER: &str = "fairdeal-identity-2 ";
/// The first word, up to the version.
const ANY_VERSION: &str = "fairdeal-identity-";
/// Number of hexadecimal digits of the checksum.
const CHECK_DIGITS: usize = 32;
/// File size in bytes: header, seed and checksum digits, the space between them, and the line feed.
const FILE_LENGTH: usize = HEADER.len() + 64 + 1 + CHECK_DIGITS + 1;

/// An Ed25519 secret seed, 32 bytes; wiped when dropped and never shown.
#[derive(Clone, ZeroizeOnDrop)]
pub struct IdentityKey {
    seed: [u8; 32],
}

impl IdentityKey {
    /// Draws a new seed from the system's randomness.
    ///
    /// # Errors
    /// [`StoreError::Random`] if the system has none.
    pub fn generate() -> Result<Self, StoreError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(StoreError::Random)?;
        Ok(Self { seed })
    }

    /// The key pair of a known seed; any 32 bytes are valid.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self { seed }
    }

    /// The key that signs for this player.
    pub fn signing_key(&self) -> SigningKey {
        SigningKey::from_bytes(&self.seed)
    }

    /// The secret seed.
    ///
    /// # Security
    /// Anybody who has it can act as this player. The caller must wipe its copies.
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }
}

impl fmt::Debug for IdentityKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdentityKey(secret)")
    }
}

/// Reads the key at `path`, or creates one if there is no file.
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
    match files::open_plain(path) {
        Ok(file) => load(path, file).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::io("read", path, source)),
    }
}

fn load(path: &Path, file: File) -> Result<IdentityKey, StoreError> {
    refuse_exposed(path, &file)?;
    let limit = u64::try_from(FILE_LENGTH).unwrap_or(u64::MAX);
    let bytes =
        files::read_limited(file, limit).map(Zeroizing::new).map_err(|source| StoreError::io("read", path, source))?;
    decode(&bytes).map_err(|why| StoreError::DamagedIdentity { path: path.to_path_buf(), why })
}

/// Checks the open file, not its name: the name could lead to another file by now.
#[cfg(unix)]
fn refuse_exposed(path: &Path, file: &File) -> Result<(), StoreError> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = file.metadata().map_err(|source| StoreError::io("read", path, source))?;
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & 0o077 == 0 { Ok(()) } else { Err(StoreError::Exposed { path: path.to_path_buf(), mode }) }
}

#[cfg(not(unix))]
fn refuse_exposed(_: &Path, _: &File) -> Result<(), StoreError> {
    Ok(())
}

/// The first half of the hash of a seed, in hexadecimal.
fn check(seed: &[u8; 32]) -> Zeroizing<String> {
    let hash = Hasher::new(domain::IDENTITY_FILE).bytes(seed).finish();
    let mut digits = Zeroizing::new(HEXLOWER.encode(&hash.0));
    digits.truncate(CHECK_DIGITS);
    digits
}

fn encode(key: &IdentityKey) -> Zeroizing<Vec<u8>> {
    // Full capacity from the start: a growing vector would leave copies of the secret behind.
    let mut line = Zeroizing::new(Vec::with_capacity(FILE_LENGTH));
    let digits = Zeroizing::new(HEXLOWER.encode(&key.seed));
    line.extend_from_slice(HEADER.as_bytes());
    line.extend_from_slice(digits.as_bytes());
    line.push(b' ');
    line.extend_from_slice(check(&key.seed).as_bytes());
    line.push(b'\n');
    line
}

fn decode(bytes: &[u8]) -> Result<IdentityKey, &'static str> {
    let rest = bytes.strip_prefix(HEADER.as_bytes()).ok_or_else(|| {
        if bytes.starts_with(ANY_VERSION.as_bytes()) {
            "another version of fairdeal wrote it"
        } else {
            "it is not an identity file"
        }
    })?;
    // An editor may have removed the line feed or added a carriage return.
    let (digits, rest) = rest.trim_ascii_end().split_at_checked(64).ok_or("it does not have 64 digits")?;
    let mut key = IdentityKey { seed: [0; 32] };
    if HEXLOWER.decode_mut(digits, &mut key.seed).is_err() {
        return Err("its digits are not lower-case hexadecimal");
    }
    if rest.strip_prefix(b" ") != Some(check(&key.seed).as_bytes()) {
        return Err("its checksum does not match");
    }
    Ok(key)
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

    /// The fixed bytes of a file: a change needs a new version, which must not read these as its own.
    #[test]
    fn the_file_is_one_documented_line() {
        let key = IdentityKey::from_seed([0xab; 32]);
        let line = encode(&key);
        assert_eq!(line.len(), FILE_LENGTH);
        insta::assert_snapshot!(str::from_utf8(&line).unwrap());
        assert_eq!(decode(&line).unwrap().seed(), key.seed());
        assert_eq!(decode(line.trim_ascii_end()).unwrap().seed(), key.seed());
    }

    /// However the file is damaged, it is refused or gives the same player.
    #[test]
    fn no_damage_gives_another_identity() {
        let line = encode(&IdentityKey::from_seed([0xab; 32]));
        let is_same = |bytes: &[u8]| decode(bytes).is_ok_and(|key| *key.seed() == [0xab; 32]);
        for at in 0..line.len() {
            for byte in 0..=255 {
                let mut changed = line.to_vec();
                changed[at] = byte;
                assert!(decode(&changed).is_err() || is_same(&changed), "{at} {byte}");
            }
            assert!(decode(&line[..at]).is_err() || is_same(&line[..at]), "{at}");
            let mut zeros = line.to_vec();
            zeros[at..].fill(0);
            assert!(decode(&zeros).is_err(), "{at}");
        }
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
            "fairdeal-identity-2 ".to_owned(),
            format!("fairdeal-identity-1 {seed}\n"),
            format!("fairdeal-identity-2 {seed}\n"),
            format!("fairdeal-identity-2 {seed} {}\n", "00".repeat(16)),
            format!("fairdeal-identity-2 {}\n", &seed[1..]),
            format!("fairdeal-identity-2 {seed}00\n"),
            format!("fairdeal-identity-2 {}\n", "zz".repeat(32)),
        ] {
            // Write in place, which keeps the file's mode.
            fs::write(&path, &text).unwrap();
            let error = load_or_create(&path).unwrap_err();
            assert!(matches!(error, StoreError::DamagedIdentity { .. }), "{text:?}: {error}");
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
