//! A game as one file for a browser: the page of `web` with the transcript inside, which the page checks and replays.
//!
//! The feature `page` embeds the page. Without it the page is a file: the one that `FAIRDEAL_PAGE` names, or
//! `fairdeal.html` in the folder of the program.

use std::env;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::PathBuf;

use fairdeal_session::replay::page::page_with;

/// The page that was embedded when the program was built, from the file that [`VARIABLE`] named then.
#[cfg(feature = "page")]
const EMBEDDED: Option<&str> = Some(include_str!(env!("FAIRDEAL_PAGE", "name the file that `just page` has made")));
#[cfg(not(feature = "page"))]
const EMBEDDED: Option<&str> = None;

/// The environment variable with the path of the page.
const VARIABLE: &str = "FAIRDEAL_PAGE";
/// The page's name in packages.
const FILE: &str = "fairdeal.html";
/// The largest page that is read, in bytes.
const LARGEST: u64 = 32 << 20;

/// Why there is no page with the game.
#[derive(Debug, thiserror::Error)]
pub enum NoPage {
    #[error(
        "this program has no page for browsers inside. Take {FILE} from the release, or make it with 'just page'; then \
         put it beside the program, or name it in {VARIABLE}"
    )]
    Missing,
    #[error("cannot read the page {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} is no page of this version of fairdeal: it has no place for a game. Take {FILE} from its release", path.display())]
    Foreign { path: PathBuf },
}

/// The page with this transcript inside, under this file name.
///
/// # Errors
/// [`NoPage`].
pub fn with_game(transcript: &[u8], name: &str) -> Result<String, NoPage> {
    let (page, path) = page()?;
    page_with(&page, transcript, name).ok_or(NoPage::Foreign { path })
}

/// The page and where it comes from.
///
/// # Errors
/// [`NoPage`].
pub(crate) fn page() -> Result<(String, PathBuf), NoPage> {
    let named = env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    if named.is_none()
        && let Some(page) = EMBEDDED
    {
        return Ok((page.to_owned(), PathBuf::new()));
    }
    let is_named = named.is_some();
    let beside = || Some(env::current_exe().ok()?.parent()?.join(FILE));
    let path = named.or_else(beside).ok_or(NoPage::Missing)?;
    let read = File::open(&path).and_then(|file| {
        let mut page = String::new();
        file.take(LARGEST).read_to_string(&mut page)?;
        Ok(page)
    });
    match read {
        Ok(page) => Ok((page, path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_named => Err(NoPage::Missing),
        Err(source) => Err(NoPage::Unreadable { path, source }),
    }
}
