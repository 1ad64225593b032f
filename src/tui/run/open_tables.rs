//! The open tables that the first screen lists: on the local network, and at the meeting points of the settings.

use std::collections::BTreeSet;

use fairdeal_net::MAX_POINTS;
use fairdeal_peers::address::{named_peer, parse_address};
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_session::view::Listing;
use tokio::sync::watch;

use crate::drive::lan::Browser;
use crate::drive::meet::PointBrowser;
use crate::drive::people::Acquaintances;

/// Browses until it is dropped.
pub(super) struct OpenTables {
    lan: Option<Browser>,
    points: Option<PointBrowser>,
    /// This player's own peer id: a table of one's own that has just closed is still announced for a while.
    own: Option<PeerId>,
    people: Acquaintances,
}

impl OpenTables {
    /// Starts browsing; `None` where there is no network.
    pub(super) fn start(points: &[Multiaddr], own: Option<PeerId>, people: Acquaintances) -> Option<Self> {
        let lan = Browser::start().ok();
        let points = (!points.is_empty()).then(|| PointBrowser::start(points, None).ok()).flatten();
        (lan.is_some() || points.is_some()).then_some(Self { lan, points, own, people })
    }

    /// Waits until the list changes.
    pub(super) async fn next(&mut self) -> Listing {
        tokio::select! {
            () = changed(self.lan.as_mut().map(Browser::view)) => {}
            () = changed(self.points.as_mut().map(PointBrowser::view)) => {}
        }
        self.listing()
    }

    /// All tables: those of favourites first, then those nearby. A table that is both nearby and at a point is listed once.
    pub(super) fn listing(&mut self) -> Listing {
        let lan = self.lan.as_mut().map(|lan| lan.view().borrow_and_update().clone());
        let points = self.points.as_mut().map(|points| points.view().borrow_and_update().clone());
        let (near, is_blind) = lan.map_or_else(Default::default, |view| (view.tables, view.blind));
        let (far, failed) = points.map_or_else(Default::default, |view| (view.tables, view.failed.len()));
        let tables = self.people.arranged(&near, &far, self.own);
        Listing { tables, blind: is_blind, has_points: self.points.is_some(), silent_points: failed }
    }
}

/// Waits for the next change of a view; for ever if there is none, or its task has ended.
async fn changed<T>(view: Option<&mut watch::Receiver<T>>) {
    if let Some(view) = view
        && view.changed().await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
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

    #[tokio::test]
    async fn a_view_that_has_ended_is_no_change() {
        let (sender, mut view) = watch::channel(0);
        sender.send(1).unwrap();
        changed(Some(&mut view)).await;
        drop(sender);
        let waits = tokio::time::timeout(std::time::Duration::from_millis(10), changed(Some(&mut view)));
        waits.await.unwrap_err();
    }
}
