//! An input as a stage hears it: frames are decoded, and what every stage does alike is done.

use fairdeal_games::AnyAction;
use fairdeal_peers::address::Network;
use fairdeal_peers::{Multiaddr, PeerId};

use crate::events::Command;
use crate::frame::Frame;
use crate::io::{StoreFault, StoreId, Stored, ThoughtId};

/// An input of a stage. A stage ignores what does not concern it.
#[expect(clippy::large_enum_variant, reason = "it lives for one call")]
pub(crate) enum Heard {
    /// From the player; an undo is refused before.
    Command(Command),
    /// A peer is connected.
    Arrived(PeerId, Option<Network>),
    Gone(PeerId),
    Frame(PeerId, Frame),
    RoundTrip(PeerId, u32),
    ListensAt(PeerId, Vec<Multiaddr>),
    Found(PeerId, Multiaddr),
    /// No connection came about, for a reason in a player's words.
    Unreachable(PeerId, String),
    /// The listen addresses are complete, the most useful first.
    Addresses(Vec<Multiaddr>),
    Stored(StoreId, Result<Stored, StoreFault>),
    Thought(ThoughtId, Option<AnyAction>),
    /// The address book has changed.
    Book,
    /// Half a second has passed.
    Tick,
    /// Time has passed.
    Time,
}
