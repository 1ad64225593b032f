//! The open tables that the first screen lists: on the local network, and at the meeting points of the settings.

use fairdeal_peers::Multiaddr;
use fairdeal_session::view::Listing;

use crate::drive::finder::Finder;

/// Waits until the list changes; for ever once the network has ended.
pub(super) async fn next(finder: &mut Finder, points: &[Multiaddr]) -> Listing {
    if finder.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
    listing(finder, points)
}

/// The list as it is; the finder looks at these points, too.
pub(super) fn listing(finder: &Finder, points: &[Multiaddr]) -> Listing {
    let view = finder.view();
    Listing {
        tables: finder.tables().to_vec(),
        blind: view.blind,
        has_points: !points.is_empty(),
        silent_points: view.failed.len(),
        others: view.others.clone(),
    }
}
