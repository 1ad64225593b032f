//! The names of a seat's files beside its journal: `TABLE-SEAT` and an extension.

use std::fs;
use std::path::Path;

use fairdeal_protocol::seat::Seat;

use crate::store::files::hexadecimal;

/// The journal itself.
pub(super) const EXTENSION: &str = "journal";
/// The lock of its writer.
pub(super) const LOCK: &str = "lock";
/// The mark of a clean journal.
pub(super) const CLEAN: &str = "clean";
/// A promise to sit at the table.
pub(super) const PROMISE: &str = "promise";

/// The table and seat in the name of a file with that extension.
pub(super) fn seat_of(path: &Path, end: &str) -> Option<(String, Seat)> {
    path.extension().filter(|extension| *extension == end)?;
    let (table, seat) = path.file_stem()?.to_str()?.split_once('-')?;
    let seat = seat.parse().ok().and_then(Seat::new)?;
    Some((hexadecimal(table).ok()?, seat))
}

/// Removes journals that a crash left before they began: each has the space of a whole deal reserved. Best effort;
/// nobody else may be in the directory.
pub(in crate::store) fn remove_unfinished(folder: &Path) {
    let ending = format!(".{EXTENSION}.tmp");
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.ends_with(&ending)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
