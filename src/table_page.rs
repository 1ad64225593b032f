//! The page that doors for browsers serve: the page of `web`, with leave to open WebSockets.

use std::sync::LazyLock;

use fairdeal_net::Bytes;
use fairdeal_session::replay::page::for_tables;

use crate::replay_page::{NoPage, page};

/// The page, read once; `None` if this program has none.
static PAGE: LazyLock<Option<Bytes>> = LazyLock::new(|| {
    let read = page().and_then(|(page, path)| for_tables(&page).ok_or(NoPage::Foreign { path }));
    read.inspect_err(|why| tracing::info!(%why, "browsers get no page")).map(Bytes::from).ok()
});

/// The page for a door.
pub(crate) fn table_page() -> Option<Bytes> {
    PAGE.clone()
}
