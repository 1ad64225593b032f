//! Frames between two programs: the lobby's messages, and the table's messages in an envelope.

use fairdeal_net::{AddressRecord, MAX_ANNOUNCEMENT, MAX_RECORDED, MAX_TICKET};
use fairdeal_protocol::charter::{Charter, MAX_NAME, MAX_OPTIONS, MAX_WORD, SignatureBytes};
use fairdeal_protocol::crypto::pake::{Challenge, Knock, Proof};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::seat::{MAX_SEATS, Seat, SeatSet};
use fairdeal_protocol::table::message::{MAX_MESSAGE, Message};
use fairdeal_protocol::transcript::page::{Mark, Page};
use fairdeal_protocol::wire::bounded::{Bounded, Text};
use fairdeal_protocol::wire::codec::{CodecError, decode, encode};
use serde::{Deserialize, Serialize};

use fairdeal_ui::text::MAX_SHOWN;

/// The largest frame, in bytes: a message of the table in its envelope.
pub const MAX_FRAME: usize = MAX_MESSAGE + 64;
/// The most addresses that a peer tells of itself.
pub const MAX_ADDRESSES: usize = MAX_RECORDED;
/// The longest address, in bytes of its binary form.
pub const MAX_ADDRESS: usize = 256;
/// The longest reason for a refusal, in bytes.
pub const MAX_REASON: usize = 200;
/// The longest saying, in bytes: its characters may take four each.
pub const MAX_SAYING: usize = 4 * MAX_SHOWN;

/// A multiaddr in its binary form.
pub type AddressBytes = Bounded<u8, MAX_ADDRESS>;
/// Where a peer says that it listens.
pub type Addresses = Bounded<AddressBytes, MAX_ADDRESSES>;
/// A chat message.
pub type Saying = Text<MAX_SAYING>;

/// Names a program to the host that it wants a seat of, and to nobody else: seats whose programs have the same name are one
/// party. Drawn again for each table.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramId([u8; 16]);

impl ProgramId {
    /// Draws one.
    ///
    /// # Errors
    /// If the system has no randomness.
    pub fn draw() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }
}

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

/// A wish to sit down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join {
    /// The lobby that the ticket names; `None` after joining by a bare address.
    pub lobby: Option<[u8; 8]>,
    /// The player's name.
    pub name: Text<MAX_NAME>,
    /// Its fresh bytes for the charter.
    pub nonce: [u8; 32],
    /// Where it listens, signed by it.
    pub record: AddressRecord,
    /// That it knows the table's password, if there is one.
    pub proof: Option<Proof>,
    /// The program it comes from.
    pub program: ProgramId,
    /// Player of the seat: person or bot.
    pub played_by: PlayedBy,
}

/// A taken seat in the lobby.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    pub name: Text<MAX_NAME>,
    /// The party, as far as seats are taken.
    pub party: Party,
    /// Player of the seat: person or bot.
    pub played_by: PlayedBy,
}

/// How the lobby stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roster {
    pub lobby: [u8; 8],
    /// The game's id.
    pub game: Text<MAX_WORD>,
    pub options: Bounded<(Text<MAX_WORD>, Text<MAX_WORD>), MAX_OPTIONS>,
    pub seats: Bounded<Option<Taken>, MAX_SEATS>,
    /// The receiver's own seat; `None` for a spectator.
    pub you: Option<Seat>,
    /// The seats that are ready to begin.
    pub ready: SeatSet,
}

/// A charter to sign, and where its seats listen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    pub charter: Charter,
    /// The addresses in seat order, each signed by its seat.
    pub records: Bounded<AddressRecord, MAX_SEATS>,
}

/// A table that is playing, to one of its seats that has lost it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Back {
    /// The charter and the addresses.
    pub proposal: Proposal,
    /// All signatures, in seat order.
    pub signatures: Bounded<SignatureBytes, MAX_SEATS>,
}

/// A request to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// The lobby that the ticket names; `None` after an address.
    pub lobby: Option<[u8; 8]>,
    /// That one knows the table's password, if there is one.
    pub proof: Option<Proof>,
}

/// A table that is playing, to a spectator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Showing {
    pub charter: Charter,
    /// All signatures, in seat order.
    pub signatures: Bounded<SignatureBytes, MAX_SEATS>,
}

/// A host's announcement of its table to strangers, as long as seats are free.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    /// The lobby, which a ticket needs.
    pub lobby: [u8; 8],
    /// The host's name.
    pub host: Text<MAX_NAME>,
    /// The game's id.
    pub game: Text<MAX_WORD>,
    pub options: Bounded<(Text<MAX_WORD>, Text<MAX_WORD>), MAX_OPTIONS>,
    pub seats: u8,
    /// How many of them are free.
    pub free: u8,
    /// Whether a password is needed.
    pub locked: bool,
}

impl Announcement {
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// Decodes what a stranger's program says of itself.
    ///
    /// # Errors
    /// [`CodecError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        decode(bytes, MAX_ANNOUNCEMENT)
    }
}

/// Everything that is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Frame {
    /// Guest to host.
    Join(Join),
    /// Host to guest.
    Roster(Roster),
    /// Host to guest: no seat, and why.
    Refused(Text<MAX_REASON>),
    /// Host to guest: sign this.
    Propose(Box<Proposal>),
    /// Guest to host.
    Sign {
        /// The table id of the charter signed.
        table: Hash32,
        signature: SignatureBytes,
    },
    /// Host to guest: everybody has signed.
    Signed {
        /// The table id.
        table: Hash32,
        /// All signatures, in seat order.
        signatures: Bounded<SignatureBytes, MAX_SEATS>,
    },
    /// Seat to seat.
    Table {
        /// The table id.
        table: Hash32,
        message: Message,
    },
    /// Seat to a seat that asks for a place: you have one.
    Back(Box<Back>),
    /// Guest to the host of a table with a password: I know it.
    Knock {
        /// The lobby that the ticket names; `None` after joining by a bare address.
        lobby: Option<[u8; 8]>,
        /// The guest's part of the proof.
        knock: Knock,
    },
    /// Host to guest: so do I.
    Challenge(Challenge),
    /// Seat to seat: with whom I have a connection; what others say I may have to be told by a third.
    Links {
        /// The table id.
        table: Hash32,
        seats: SeatSet,
    },
    /// To the host: let me watch.
    Watch(Watch),
    /// Host to spectator: the table is playing.
    Show(Box<Showing>),
    /// Spectator to host: send the pages that follow.
    More {
        /// The table id.
        table: Hash32,
        /// How far it is.
        mark: Mark,
    },
    /// Host to spectator: a page.
    Page {
        /// The table id.
        table: Hash32,
        page: Box<Page>,
    },
    /// Host to spectator: the log has gone back; begin again.
    Anew {
        /// The table id.
        table: Hash32,
    },
    /// Guest to host: whether I am ready to begin.
    Ready(bool),
    /// Guest to host, host to guests and spectators, seat to seat: a chat message.
    Say(Saying),
    /// Host to who is not connected with that seat: it says this.
    Said {
        /// Author.
        seat: Seat,
        /// Its message.
        text: Saying,
    },
    /// Seat to seat: I have opened another table; come.
    Invite {
        ticket: Text<MAX_TICKET>,
    },
}

impl Frame {
    /// The lobby that a newcomer looks for, if this is what one says and it knows.
    pub fn lobby(&self) -> Option<[u8; 8]> {
        match self {
            Self::Join(join) => join.lobby,
            Self::Knock { lobby, .. } => *lobby,
            Self::Watch(watch) => watch.lobby,
            _ => None,
        }
    }

    /// No, and why; nothing of the reason if it is too long.
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
    use fairdeal_protocol::table::message::Head;

    use super::*;

    fn text<const MAX: usize>(text: &str) -> Text<MAX> {
        text.to_owned().try_into().unwrap()
    }

    /// Golden vectors of every frame: a change is a change of the wire format.
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
        // A real one has the time of its signature in it.
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
        let table = Hash32([5; 32]);
        let showing = Showing {
            charter: charter.clone(),
            signatures: vec![signature].try_into().unwrap(),
        };
        let proposal = Proposal {
            charter,
            records: vec![record].try_into().unwrap(),
        };
        let frames = [
            Frame::Join(join),
            Frame::Roster(roster),
            Frame::Refused(text("all seats are taken")),
            Frame::Propose(Box::new(proposal)),
            Frame::Sign { table, signature },
            Frame::Signed {
                table,
                signatures: vec![signature].try_into().unwrap(),
            },
            Frame::Table {
                table,
                message: Message::Head(Head::default()),
            },
            Frame::Links {
                table,
                seats: [0, 2].into_iter().filter_map(Seat::new).collect(),
            },
            Frame::Watch(Watch {
                lobby: Some([3; 8]),
                proof: None,
            }),
            Frame::Show(Box::new(showing)),
            Frame::More {
                table,
                mark: Mark {
                    entries: 300,
                    last: Hash32([6; 32]),
                },
            },
            Frame::Page {
                table,
                page: Box::default(),
            },
            Frame::Anew { table },
            Frame::Ready(true),
            Frame::Say(text("Good luck!")),
            Frame::Said {
                seat: Seat::new(2).unwrap(),
                text: text("You too."),
            },
            Frame::Invite {
                ticket: text("fd1abc"),
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
