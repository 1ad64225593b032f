//! The open tables that the first screen lists: on the local network, and at the meeting points of the settings.

use std::collections::BTreeSet;

use fairdeal_net::MAX_POINTS;
use fairdeal_peers::Multiaddr;
use fairdeal_peers::address::{named_peer, parse_address};
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

/// The meeting points of the settings, and what is wrong with those left out, in words.
pub(super) fn points(settings: &[String]) -> (Vec<Multiaddr>, Vec<String>) {
    let (mut points, mut complaints) = (Vec::new(), Vec::new());
    let mut peers = BTreeSet::new();
    for text in settings {
        let point = parse_address(text).ok();
        match point.and_then(|point| Some((named_peer(&point)?, point))) {
            Some((peer, _)) if !peers.insert(peer) => {}
            Some(_) if points.len() >= MAX_POINTS => {
                complaints.push(format!("meet holds at most {MAX_POINTS} meeting points; {text} is left out."));
            }
            Some((_, point)) => points.push(point),
            None => complaints.push(format!(
                "meet: {text} is no address of a meeting point. fairdeal relay prints such addresses; they end in /p2p/ and \
                 a peer id."
            )),
        }
    }
    (points, complaints)
}

#[cfg(test)]
mod tests {
    use fairdeal_peers::PeerId;

    use super::*;
    use crate::store::IdentityKey;

    fn address(seed: u8) -> String {
        let peer = PeerId::of(&IdentityKey::from_seed([seed; 32]).signing_key());
        format!("/ip4/192.0.2.7/tcp/4001/p2p/{peer}")
    }

    #[test]
    fn points_are_read_once_each_and_four_at_most() {
        let all: Vec<String> = [1, 1, 2, 3, 4, 5].map(address).into();
        let (found, complaints) = points(&all);
        assert_eq!(found.len(), MAX_POINTS);
        assert_eq!(complaints.len(), 1);
        let (found, complaints) = points(&["/ip4/192.0.2.7/tcp/4001".to_owned(), "home".to_owned(), address(1)]);
        assert_eq!((found.len(), complaints.len()), (1, 2));
        assert!(complaints.iter().all(|text| text.contains("/p2p/")), "{complaints:?}");
    }
}
