//! Frames between two programs: the lobby's messages, and the table's messages in an envelope.

use crate::text::MAX_SHOWN;
use fairdeal_peers::PeerId;
use fairdeal_peers::record::{AddressRecord, MAX_RECORDED};
use fairdeal_peers::ticket::MAX_TICKET;
use fairdeal_protocol::charter::{Charter, MAX_NAME, MAX_OPTIONS, MAX_WORD, SeatKey, SignatureBytes};
use fairdeal_protocol::crypto::pake::{Challenge, Login, Proof};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::body::MAX_DRAFT;
use fairdeal_protocol::log::entry::SignedEntry;
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::seat::{MAX_SEATS, Seat, SeatSet};
use fairdeal_protocol::table::message::{MAX_MESSAGE, Message};
use fairdeal_protocol::transcript::page::{Mark, Page};
use fairdeal_protocol::wire::bounded::{Bounded, Text};
use fairdeal_protocol::wire::codec::{CodecError, decode, encode};
use serde::{Deserialize, Serialize};

/// Maximum frame size in bytes: a table message in its envelope.
pub const MAX_FRAME: usize = MAX_MESSAGE + 64;
/// Maximum number of addresses that a peer publishes.
pub const MAX_ADDRESSES: usize = MAX_RECORDED;
/// Maximum length of an address, in bytes of its binary form.
pub const MAX_ADDRESS: usize = 256;
/// Maximum size of a fragment of a draft, in bytes.
pub const MAX_FRAGMENT: usize = 6 << 10;
/// Maximum length of a refusal's reason, in bytes.
pub const MAX_REASON: usize = 200;
/// Maximum length of a chat message, in bytes; a character takes up to four.
pub const MAX_SAYING: usize = 4 * MAX_SHOWN;

/// A multiaddr in binary form.
pub type AddressBytes = Bounded<u8, MAX_ADDRESS>;
/// The addresses that a peer publishes.
pub type Addresses = Bounded<AddressBytes, MAX_ADDRESSES>;
/// A chat message.
pub type ChatMessage = Text<MAX_SAYING>;

/// Identifies a program to its host only: seats with the same id are one party. Drawn at random for each table.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramId([u8; 16]);

impl From<[u8; 16]> for ProgramId {
    fn from(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

impl std::fmt::Debug for ProgramId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ProgramId(..)")
    }
}

/// A join request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join {
    /// The lobby number from the ticket; `None` after joining by a bare address.
    pub lobby: Option<[u8; 8]>,
    pub name: Text<MAX_NAME>,
    /// The player's random nonce for the charter.
    pub nonce: [u8; 32],
    /// The player's addresses, with its signature.
    pub record: AddressRecord,
    /// Proof that the player knows the table's password, if there is one.
    pub proof: Option<Proof>,
    /// The program that the seat belongs to.
    pub program: ProgramId,
    /// Whether a person or a bot plays the seat.
    pub played_by: PlayedBy,
}

/// A taken seat in the lobby.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    pub name: Text<MAX_NAME>,
    /// The seat's key, by the host's word; a guest signs only a charter with the keys that it was shown.
    pub key: SeatKey,
    /// The seat's party, among the seats taken so far.
    pub party: Party,
    /// Whether a person or a bot plays the seat.
    pub played_by: PlayedBy,
}

/// The options of a table's rules: keys and values.
pub type Options = Bounded<(Text<MAX_WORD>, Text<MAX_WORD>), MAX_OPTIONS>;

/// The current state of the lobby.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roster {
    pub lobby: [u8; 8],
    pub game: Text<MAX_WORD>,
    pub options: Options,
    pub seats: Bounded<Option<Taken>, MAX_SEATS>,
    /// The receiver's own seat; `None` for a spectator.
    pub you: Option<Seat>,
    pub ready: SeatSet,
}

/// Address records in seat order, each signed by its seat.
pub type Records = Bounded<AddressRecord, MAX_SEATS>;

/// The first entries of a table's seats, which came with their signatures.
pub type Firsts = Bounded<SignedEntry, MAX_SEATS>;

/// A charter to sign, with the addresses of the seats whose players are ready: nobody else has agreed to be found by those
/// who sit here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    pub charter: Charter,
    /// Address records in seat order, each signed by its seat.
    pub records: Bounded<Option<AddressRecord>, MAX_SEATS>,
}

/// A table in play, for a seat that has lost its copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Back {
    pub charter: Charter,
    pub records: Records,
    /// All signatures, in seat order.
    pub signatures: Bounded<SignatureBytes, MAX_SEATS>,
}

/// A request to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// The lobby number from the ticket; `None` when watching by a bare address.
    pub lobby: Option<[u8; 8]>,
    /// Proof that the spectator knows the table's password, if there is one.
    pub proof: Option<Proof>,
}

/// A table in play, for a spectator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Showing {
    pub charter: Charter,
    /// All signatures, in seat order.
    pub signatures: Bounded<SignatureBytes, MAX_SEATS>,
}

/// A frame between two programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Frame {
    /// Guest to host: a join request.
    Join(Join),
    /// Host to guest or spectator: the lobby.
    Roster(Roster),
    /// Host to guest or spectator: refused, with the reason.
    Refused(Text<MAX_REASON>),
    /// Host to guest: a charter to sign.
    Propose(Box<Proposal>),
    /// Guest to host: a signature under the charter.
    Sign {
        /// The table id of the signed charter.
        table: Hash32,
        signature: SignatureBytes,
        /// The guest's first entry at the table.
        first: SignedEntry,
    },
    /// Host to guest: everybody has signed.
    Signed {
        table: Hash32,
        /// All signatures, in seat order.
        signatures: Bounded<SignatureBytes, MAX_SEATS>,
        /// The addresses of all seats.
        records: Records,
        /// The first entries of the seats; none for a guest that has missed the beginning.
        first: Firsts,
    },
    /// Seat to seat: a message of the table.
    Table {
        /// The table id.
        table: Hash32,
        message: Message,
    },
    /// Seat to a peer that sends a join request: it has a seat at this table already.
    Back(Box<Back>),
    /// Guest to the host of a table with a password: starts a login attempt.
    Login {
        /// The lobby number from the ticket; `None` after joining by a bare address.
        lobby: Option<[u8; 8]>,
        /// The guest's message of the password handshake.
        login: Login,
    },
    /// Host to guest: its message of the password handshake.
    Challenge(Challenge),
    /// Seat to seat: the seats that the sender is connected to. The receiver forwards messages from the others.
    Links {
        /// The table id.
        table: Hash32,
        seats: SeatSet,
    },
    /// To the host: a request to watch.
    Watch(Watch),
    /// Host to spectator: the table in play.
    Show(Box<Showing>),
    /// Spectator to host: a request for the next page.
    More {
        table: Hash32,
        /// Where the spectator is in the log.
        mark: Mark,
    },
    /// Host to spectator: a page of the log.
    Page {
        /// The table id.
        table: Hash32,
        page: Box<Page>,
    },
    /// Host to spectator: the log has gone back; start again.
    Reset {
        /// The table id.
        table: Hash32,
    },
    /// Guest to host: whether the guest is ready to begin.
    Ready(bool),
    /// Guest to host, host to guests and spectators, seat to seat: a chat message.
    Say(ChatMessage),
    /// Host to peers without a connection to that seat: its chat message.
    Said {
        /// The author.
        seat: Seat,
        /// The author's message.
        text: ChatMessage,
    },
    /// Seat to seat, host to spectators: an invitation to another table that the sender has opened.
    Invite { ticket: Text<MAX_TICKET> },
    /// Seat to seat: the sender's program is about to close, or is a page that nobody sees and that may be stopped at any
    /// moment, and its player means to come back. A later [`Frame::Links`] takes it back.
    Pausing {
        /// The table id.
        table: Hash32,
    },
    /// Seat to seat: where a seat listens now, signed by that seat. The sender may be another one.
    Moved {
        /// The table id.
        table: Hash32,
        /// The seat that has signed.
        seat: Seat,
        record: AddressRecord,
    },
    /// Seat to seat: a fragment of the sender's draft, the shuffle that an entry of its own will hold.
    Draft {
        /// The place of the fragment in the draft, in bytes; 0 begins a new one.
        at: u16,
        bytes: Bounded<u8, MAX_FRAGMENT>,
    },
    /// Seat to seat: an encoded [`Frame::Table`] with the sender's last draft left out. A receiver without that draft
    /// ignores it, and gets the entry in the answer to its head.
    Spliced {
        /// The bytes before the draft.
        before: Bounded<u8, MAX_DRAFT>,
        /// The draft's hash.
        draft: Hash32,
        /// The bytes behind the draft.
        after: Bounded<u8, MAX_DRAFT>,
    },
}

/// Frames to send, each with its peer.
pub type Outgoing = Vec<(PeerId, Frame)>;

impl Frame {
    /// The lobby number in a newcomer's request, if it has one.
    pub fn lobby(&self) -> Option<[u8; 8]> {
        match self {
            Self::Join(join) => join.lobby,
            Self::Login { lobby, .. } => *lobby,
            Self::Watch(watch) => watch.lobby,
            _ => None,
        }
    }

    /// The table that a frame from seat to seat belongs to.
    pub fn table(&self) -> Option<Hash32> {
        match self {
            Self::Table { table, .. }
            | Self::Links { table, .. }
            | Self::Pausing { table }
            | Self::Moved { table, .. } => Some(*table),
            _ => None,
        }
    }

    /// A refusal; the reason is left out if it is too long.
    pub fn refusal(reason: &str) -> Self {
        Self::Refused(Text::try_from(reason.to_owned()).unwrap_or_default())
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// Decodes a frame.
    ///
    /// # Errors
    /// [`CodecError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        decode(bytes, MAX_FRAME)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use fairdeal_protocol::charter::Player;
    use fairdeal_protocol::log::body::Body;
    use fairdeal_protocol::log::entry::{Content, Entry};
    use fairdeal_protocol::table::message::Head;

    use super::*;

    fn text<const MAX: usize>(text: &str) -> Text<MAX> {
        text.to_owned().try_into().unwrap()
    }

    /// Golden vectors of every frame: a change here changes the wire format.
    #[test]
    fn frames_have_fixed_bytes() {
        let key = ed25519_dalek::SigningKey::from_bytes(&[1; 32]);
        let player = Player {
            name: text("Anna"),
            key: (&key).into(),
            nonce: [2; 32],
            party: Party::of(Seat::new(0).unwrap()),
            played_by: PlayedBy::Person,
        };
        let option = (text("target"), text("100"));
        // A real record holds the time of its signature.
        let record = AddressRecord::from_bytes(vec![4, 127, 0, 0, 1]).unwrap();
        let charter = Charter {
            lobby: [3; 8],
            game: text("loot"),
            version: 1,
            options: vec![option.clone()].try_into().unwrap(),
            players: vec![player].try_into().unwrap(),
        };
        let join = Join {
            lobby: Some([3; 8]),
            name: text("Anna"),
            nonce: [2; 32],
            record: record.clone(),
            proof: None,
            program: ProgramId([7; 16]),
            played_by: PlayedBy::Person,
        };
        let roster = Roster {
            lobby: [3; 8],
            game: text("loot"),
            options: vec![option].try_into().unwrap(),
            seats: vec![
                Some(Taken {
                    name: text("Anna"),
                    key: (&key).into(),
                    party: Party::of(Seat::new(0).unwrap()),
                    played_by: PlayedBy::Person,
                }),
                None,
            ]
            .try_into()
            .unwrap(),
            you: Seat::new(1),
            ready: Seat::new(0).map(SeatSet::one).unwrap(),
        };
        let signature = charter.sign(&key);
        let content = Content {
            table: charter.table(),
            step: 0,
            seat: Seat::FIRST,
            parent: Hash32([8; 32]),
            digest: Hash32([9; 32]),
            release: None,
            body: Body::Commit { seed: Hash32([10; 32]), tip: Hash32([11; 32]) },
        };
        let first = Entry::sign(content, &key).unwrap().signed().clone();
        let table = Hash32([5; 32]);
        let showing = Showing { charter: charter.clone(), signatures: vec![signature].try_into().unwrap() };
        let proposal = Proposal { charter, records: vec![Some(record.clone()), None].try_into().unwrap() };
        let frames = [
            Frame::Join(join),
            Frame::Roster(roster),
            Frame::Refused(text("all seats are taken")),
            Frame::Propose(Box::new(proposal)),
            Frame::Sign { table, signature, first: first.clone() },
            Frame::Signed {
                table,
                signatures: vec![signature].try_into().unwrap(),
                records: vec![record.clone()].try_into().unwrap(),
                first: Bounded::one(first),
            },
            Frame::Table { table, message: Message::Head(Head::default()) },
            Frame::Links { table, seats: [0, 2].into_iter().filter_map(Seat::new).collect() },
            Frame::Pausing { table },
            Frame::Watch(Watch { lobby: Some([3; 8]), proof: None }),
            Frame::Show(Box::new(showing)),
            Frame::More { table, mark: Mark { entries: 300, last: Hash32([6; 32]) } },
            Frame::Page { table, page: Box::default() },
            Frame::Reset { table },
            Frame::Ready(true),
            Frame::Say(text("Good luck!")),
            Frame::Said { seat: Seat::new(2).unwrap(), text: text("You too.") },
            Frame::Invite { ticket: text("fd1abc") },
            Frame::Moved { table, seat: Seat::new(1).unwrap(), record },
            Frame::Draft { at: 300, bytes: vec![12; 3].try_into().unwrap() },
            Frame::Spliced {
                before: vec![13; 2].try_into().unwrap(),
                draft: Hash32([14; 32]),
                after: vec![15; 2].try_into().unwrap(),
            },
        ];
        let mut all = String::new();
        for frame in frames {
            let bytes = frame.to_bytes();
            assert_eq!(Frame::from_bytes(&bytes).unwrap(), frame);
            bytes.iter().for_each(|byte| {
                let _ = write!(all, "{byte:02x}");
            });
            all.push('\n');
        }
        insta::assert_snapshot!(all);
    }
}
