//! The reasons why an invitation, a kept lobby or a letter of it is refused.

use fairdeal_link::letter::LetterError;
use fairdeal_protocol::game::RuleSetError;
use fairdeal_protocol::wire::codec::CodecError;

use crate::lobby::LobbyError;

/// Why an invitation, a kept lobby or a letter of it is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ByLetterError {
    /// Not the form of an invitation.
    #[error("this is not a whole invitation to a table; ask for it again")]
    Invitation,
    #[error(transparent)]
    Letter(#[from] LetterError),
    #[error("the letter cannot be read: {0}")]
    Codec(#[from] CodecError),
    #[error(transparent)]
    Lobby(#[from] LobbyError),
    #[error(transparent)]
    Rules(#[from] RuleSetError),
    /// Another version of the protocol, the rules or the options.
    #[error("this table is of another version of fairdeal; all of you need the same one")]
    Version,
    /// The name is too long for a charter.
    #[error("the name is longer than 64 bytes; choose a shorter one with --name")]
    Name,
    #[error("this game has one seat; there is nobody to invite")]
    Alone,
    #[error("this is your own invitation: send it to the others")]
    OwnInvitation,
    /// The host does not take this guest.
    #[error("{name} gets no seat: {why}")]
    Refused { name: String, why: String },
    #[error("the host's letter has other rules or seats than the invitation; do not play with this host")]
    OtherTerms,
    #[error("nobody with that seat is here to write to")]
    NoReader,
    /// All have signed, and the table has begun.
    #[error("this table has begun; give it up at the table")]
    Begun,
}
