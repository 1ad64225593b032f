//! Common to host and guests before the table: reports of the lobby, and connections to a host.

use fairdeal_peers::PeerId;
use fairdeal_protocol::seat::Seat;

use crate::cx::{Cx, End};
use crate::events::SessionEvent;
use crate::people::SeatPerson;
use crate::view::{LobbySeat, LobbyView};

/// How often the addresses are looked at again while the ticket can still change, in milliseconds. The default route may
/// change without a change of addresses, and others may then be the most useful.
const LOOK: u64 = 3_000;

/// Reports lobby changes to the player. Returns whether there are any.
pub(super) fn tell_lobby(mut view: LobbyView, cx: &mut Cx<'_>) -> bool {
    if let Some(before) = &cx.told.lobby {
        view.ticket.clone_from(&before.ticket);
        view.addresses.clone_from(&before.addresses);
    }
    let Some((view, before)) = cx.note_lobby(view) else {
        return false;
    };
    for (seat, taken) in Seat::first(view.seats.len()).zip(&view.seats) {
        if let Some(LobbySeat { name, person, .. }) = taken {
            let known = before.seats.get(seat.index()).and_then(Option::as_ref);
            let key = |person: &Option<SeatPerson>| person.as_ref().map(|person| person.key);
            if known.is_none_or(|known| known.name != *name || key(&known.person) != key(person)) {
                cx.tell(SessionEvent::Seated { seat, name: name.clone(), person: person.clone() });
            }
        }
    }
    cx.tell(SessionEvent::Lobby(view));
    true
}

/// Shows the lobby's new marks, if the address book has changed.
pub(super) fn mark_again(cx: &mut Cx<'_>) {
    let Some(mut view) = cx.told.lobby.clone() else {
        return;
    };
    cx.mark(&mut view);
    if cx.told.lobby.as_ref() != Some(&view) {
        cx.told.lobby = Some(view.clone());
        cx.tell(SessionEvent::Lobby(view));
    }
}

/// Looks at the addresses again now and then.
pub(super) fn look_at_addresses(cx: &mut Cx<'_>) {
    if cx.links.are_told() && cx.now.up >= cx.links.look_at {
        cx.links.look_at = cx.now.up.saturating_add(LOOK);
        cx.transport(crate::io::Transport::Locate);
    }
}

/// Stops looking for a host that has answered. Returns whether it was looked for: after a lost connection the lobby or
/// the table may be unchanged, so it is shown again.
pub(super) fn has_reached(host: PeerId, peer: PeerId, cx: &mut Cx<'_>) -> bool {
    peer == host && cx.links.reaching.take().is_some()
}

/// Shows the lobby as it was last reported.
pub(super) fn show_again(cx: &mut Cx<'_>) {
    if let Some(view) = cx.told.lobby.clone() {
        cx.tell(SessionEvent::Lobby(view));
    }
}

/// Whether the host is connected. If not, reports to the player how long dialing goes on.
///
/// # Errors
/// [`End`] once the time is over.
pub(crate) fn reaches(cx: &mut Cx<'_>) -> Result<bool, End> {
    let now = cx.now;
    let links = &mut cx.links;
    let Some(reaching) = &mut links.reaching else {
        return Ok(true);
    };
    match reaching.news(links.waiting.reply.as_ref(), now) {
        Ok(news) => {
            if let Some(news) = news {
                cx.tell(news);
            }
            Ok(false)
        }
        Err(why) => Err(cx.fail(why)),
    }
}
