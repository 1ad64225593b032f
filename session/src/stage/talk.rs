//! Chat: sends, receives and forwards messages.
//!
//! In the lobby each guest is connected only to the host, which forwards chat. There the host could forge a guest's
//! message, but nobody else could. At the table each seat sends to the others directly. The host forwards a message
//! only to seats without a connection to its author, so only those seats have to trust the host. Spectators get all
//! chat from the host. Chat is not stored: it is in no log and no transcript.

use fairdeal_peers::PeerId;
use fairdeal_protocol::seat::Seat;

use crate::chat::ChatError;
use crate::cx::Cx;
use crate::events::SessionEvent;
use crate::frame::{ChatMessage, Frame};

/// A place where people write.
pub(crate) trait Room {
    /// The seat that this player writes as.
    fn voice(&self) -> Result<Seat, ChatError>;
    /// The peers that get this player's messages.
    fn listeners(&self, connected: &[PeerId]) -> Vec<PeerId>;
    /// The author of a message: the peer itself, or the seat it names if the peer may forward for that seat.
    fn speaker(&self, peer: PeerId, of: Option<Seat>, connected: &[PeerId]) -> Option<Seat>;
    /// The peers that this program forwards a seat's messages to.
    fn cut_off_from(&self, seat: Seat, connected: &[PeerId]) -> Vec<PeerId>;
    /// A seat's name at the table; in a lobby the last view has it.
    fn name(&self, seat: Seat) -> Option<String>;
    /// A seat's key at the table; in a lobby the last view has it.
    fn key(&self, seat: Seat) -> Option<PeerId>;
}

/// A seat's display name.
pub(crate) fn name_of(room: &impl Room, seat: Seat, cx: &Cx<'_>) -> String {
    let lobby = || cx.told.lobby.as_ref()?.seats.get(seat.index())?.as_ref().map(|taken| taken.name.clone());
    let name = room.name(seat).or_else(lobby);
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| seat.to_string())
}

/// Whether a seat's chat is not shown, because its key is blocked.
pub(crate) fn is_muted(room: &impl Room, seat: Seat, cx: &Cx<'_>) -> bool {
    let key = room.key(seat).or_else(|| cx.told.person_at(seat).map(|person| person.key));
    key.is_some_and(|key| cx.told.book.is_blocked(&key))
}

/// Sends the player's chat message.
pub(crate) fn say(room: &impl Room, text: &str, cx: &mut Cx<'_>) {
    match room.voice().and_then(|me| Ok((me, cx.told.chat.say(text)?))) {
        Err(why) => cx.refuse(why.to_string()),
        Ok((me, said)) => {
            let peers = room.listeners(&cx.links.connected);
            cx.out.send(peers, &Frame::Say(said.clone()));
            tell(room, me, &said, cx);
        }
    }
}

/// Handles a chat message from a peer, or one that the host forwards for a seat.
pub(crate) fn heard(room: &impl Room, peer: PeerId, of: Option<Seat>, text: &ChatMessage, cx: &mut Cx<'_>) {
    let Some(seat) = room.speaker(peer, of, &cx.links.connected) else {
        return;
    };
    let Some(said) = cx.told.chat.hear(seat, text) else {
        return;
    };
    let peers = room.cut_off_from(seat, &cx.links.connected);
    cx.out.send(peers, &Frame::Said { seat, text: said.clone() });
    if is_muted(room, seat, cx) {
        return hide(room, seat, cx);
    }
    tell(room, seat, &said, cx);
}

/// Counts a blocked seat's message, which is not shown. Others get it all the same.
fn hide(room: &impl Room, seat: Seat, cx: &mut Cx<'_>) {
    let lines = cx.told.hidden.entry(seat).or_default();
    *lines = lines.saturating_add(1);
    let lines = *lines;
    let name = name_of(room, seat, cx);
    cx.tell(SessionEvent::Hidden { seat, name, lines });
}

fn tell(room: &impl Room, seat: Seat, said: &ChatMessage, cx: &mut Cx<'_>) {
    let name = name_of(room, seat, cx);
    cx.tell(SessionEvent::Chat { seat: Some(seat), name, text: said.as_str().to_owned() });
}
