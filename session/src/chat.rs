//! Chat limits: what a player may send and how often, and what it accepts from others.
//!
//! Pure counters; the stages carry the messages (`stage/talk.rs`). The same limits apply on both sides. A player
//! that sends too much gets an error from its own program; a program without the limit is not heard more often.
//! Counters are kept per seat, so visitors who come and go do not make them grow.

use std::collections::BTreeMap;

use crate::text::{MAX_SHOWN, clean_chat};
use fairdeal_peers::PeerId;
use fairdeal_peers::ticket::{Ticket, TicketError};
use fairdeal_protocol::seat::Seat;

use super::frame::ChatMessage;

/// A rate limit: a burst, then one more every few ticks of half a second.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// Burst size.
    pub at_once: u32,
    /// Ticks until one more is allowed.
    pub ticks: u32,
}

/// Rate at which this player may send messages.
const OWN: Rate = Rate { at_once: 5, ticks: 3 };
/// Rate accepted from each other seat: a little higher, because messages bunch up in transit.
const HEARD: Rate = Rate { at_once: 8, ticks: 2 };
/// Maximum number of tables that one seat may invite to from one table.
pub const MAX_INVITATIONS: usize = 4;

/// The rest of a rate.
#[derive(Debug)]
pub struct Bucket {
    rate: Rate,
    left: u32,
    ticks: u32,
}

impl Bucket {
    /// A full bucket.
    pub fn new(rate: Rate) -> Self {
        Self { rate, left: rate.at_once, ticks: 0 }
    }

    /// Takes one; false if the bucket is empty.
    pub fn take(&mut self) -> bool {
        let some = self.left > 0;
        self.left = self.left.saturating_sub(1);
        some
    }

    /// Advances by half a second.
    pub fn tick(&mut self) {
        self.ticks += 1;
        if self.ticks >= self.rate.ticks {
            self.ticks = 0;
            self.left = self.left.saturating_add(1).min(self.rate.at_once);
        }
    }
}

/// Why a chat message or invitation was not sent, in words for the player.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChatError {
    /// The message has no visible character.
    #[error("the message is empty, or holds only invisible characters")]
    Empty,
    #[error("a chat message has at most {MAX_SHOWN} characters, not {0}; split it")]
    TooLong(usize),
    /// The rate limit is used up for now.
    #[error("too many messages at once; try again in a second or two")]
    TooMuch,
    /// The player has no seat yet.
    #[error("you can chat once the host has given you a seat")]
    NoSeat,
    /// Spectators cannot write.
    #[error("spectators can read the chat but not write in it; join a table to chat")]
    Spectator,
    /// The table is not open yet.
    #[error("invitations work once the table is open")]
    NoTable,
    /// The invitation holds no valid ticket.
    #[error(transparent)]
    BadTicket(#[from] TicketError),
    /// The ticket is for somebody else's table.
    #[error("invite to a table of your own; give this ticket to your friends by other means")]
    NotOwn,
    /// This seat has sent its maximum of invitations.
    #[error("you have sent {MAX_INVITATIONS} invitations from this table, which is the limit")]
    Invitations,
}

/// Counts chat messages and invitations, sent and received.
#[derive(Debug)]
pub struct Chat {
    own: Bucket,
    heard: BTreeMap<Seat, Bucket>,
    /// The tables that each seat has invited to, at most [`MAX_INVITATIONS`] each.
    invitations: BTreeMap<Seat, Vec<Ticket>>,
}

impl Default for Chat {
    fn default() -> Self {
        Self { own: Bucket::new(OWN), heard: BTreeMap::new(), invitations: BTreeMap::new() }
    }
}

impl Chat {
    /// Cleans this player's message for sending.
    ///
    /// # Errors
    /// [`ChatError`].
    pub fn say(&mut self, text: &str) -> Result<ChatMessage, ChatError> {
        let length = text.trim().chars().count();
        let said = clean_chat(text);
        if said.is_empty() {
            return Err(ChatError::Empty);
        }
        let said =
            ChatMessage::try_from(said).ok().filter(|_| length <= MAX_SHOWN).ok_or(ChatError::TooLong(length))?;
        if self.own.take() { Ok(said) } else { Err(ChatError::TooMuch) }
    }

    /// Cleans a seat's message for display; `None` if the seat sends too many, or the message has no visible character.
    pub fn hear(&mut self, seat: Seat, text: &ChatMessage) -> Option<ChatMessage> {
        let bucket = self.heard.entry(seat);
        if !bucket.or_insert_with(|| Bucket::new(HEARD)).take() {
            return None;
        }
        let text = clean_chat(text.as_str());
        ChatMessage::try_from(text).ok().filter(|text| !text.as_str().is_empty())
    }

    /// Records a seat's invitation. Following a ticket dials the addresses in it, so only invitations to the seat's own
    /// table count. `None` if the ticket is malformed, another host's, one too many, or already known.
    pub fn invited(&mut self, seat: Seat, peer: PeerId, ticket: &str) -> Option<Ticket> {
        let known = self.invitations.entry(seat).or_default();
        if known.len() >= MAX_INVITATIONS {
            return None;
        }
        let ticket: Ticket = ticket.parse().ok()?;
        let is_new = ticket.host() == peer && known.iter().all(|known| known.lobby() != ticket.lobby());
        is_new.then(|| {
            known.push(ticket.clone());
            ticket
        })
    }

    /// Records this player's own invitation.
    ///
    /// # Errors
    /// [`ChatError`].
    pub fn invite(&mut self, seat: Seat, own: PeerId, ticket: &str) -> Result<Ticket, ChatError> {
        let ticket: Ticket = ticket.parse()?;
        if ticket.host() != own {
            return Err(ChatError::NotOwn);
        }
        let known = self.invitations.entry(seat).or_default();
        // A repeated invitation counts once; its addresses may have changed.
        known.retain(|known| known.lobby() != ticket.lobby());
        if known.len() >= MAX_INVITATIONS {
            return Err(ChatError::Invitations);
        }
        known.push(ticket.clone());
        Ok(ticket)
    }

    /// The latest invitation of a seat.
    pub fn invitation(&self, seat: Seat) -> Option<&Ticket> {
        self.invitations.get(&seat)?.last()
    }

    /// Advances by half a second.
    pub fn tick(&mut self) {
        self.own.tick();
        self.heard.values_mut().for_each(Bucket::tick);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_dalek::SigningKey;

    fn seat(number: usize) -> Seat {
        Seat::new(number).unwrap()
    }

    fn peer(seed: u8) -> PeerId {
        PeerId::of(&SigningKey::from_bytes(&[seed; 32]))
    }

    fn ticket(lobby: u8, host: u8) -> String {
        let address = "/ip4/192.0.2.1/tcp/4000".parse().unwrap();
        Ticket::new([lobby; 8], peer(host), [address]).unwrap().to_string()
    }

    fn said(text: &str) -> ChatMessage {
        text.to_owned().try_into().unwrap()
    }

    #[test]
    fn chat_message_is_visible_and_short() {
        let mut talk = Chat::default();
        assert_eq!(talk.say(" he\u{1b}llo\n"), Ok(said("hello")));
        assert_eq!(talk.say("\u{202e} \u{7}"), Err(ChatError::Empty));
        assert!(talk.say(&"🂡".repeat(MAX_SHOWN)).is_ok());
        let long = "x".repeat(MAX_SHOWN + 1);
        assert_eq!(talk.say(&long), Err(ChatError::TooLong(MAX_SHOWN + 1)));
    }

    #[test]
    fn nobody_says_or_is_heard_without_end() {
        let mut talk = Chat::default();
        let count = |talk: &mut Chat| {
            let said = (0..100).filter(|_| talk.say("again").is_ok()).count();
            let heard = (0..100).filter(|_| talk.hear(seat(1), &said_again()).is_some());
            (said, heard.count())
        };
        fn said_again() -> ChatMessage {
            said("again")
        }
        assert_eq!(count(&mut talk), (5, 8));
        // One seat's messages do not use up another's limit.
        assert!(talk.hear(seat(2), &said("I")).is_some());
        assert_eq!(talk.say("more"), Err(ChatError::TooMuch));
        for _ in 0..6 {
            talk.tick();
        }
        assert_eq!(count(&mut talk), (2, 3));
        for _ in 0..1000 {
            talk.tick();
        }
        assert_eq!(count(&mut talk), (5, 8), "no more than at first");
    }

    #[test]
    fn received_chat_is_cleaned() {
        let mut talk = Chat::default();
        let pile = format!("a{}b", "\u{301}".repeat(40));
        let heard = talk.hear(seat(1), &said(&pile));
        assert_eq!(heard, Some(said("a\u{301}\u{301}\u{301}b")));
        assert_eq!(talk.hear(seat(1), &said("\u{2003} ")), None);
        let long = said(&"x".repeat(1000));
        let heard = talk.hear(seat(1), &long).unwrap();
        assert_eq!(heard.as_str().len(), MAX_SHOWN);
    }

    #[test]
    fn invitations_are_few_and_to_ones_own_table() {
        let mut talk = Chat::default();
        let mut invited = |ticket: &str| talk.invited(seat(1), peer(1), ticket).is_some();
        assert!(!invited("fd1nonsense"));
        assert!(!invited(&ticket(1, 2)), "another's table");
        assert!(invited(&ticket(1, 1)));
        assert!(!invited(&ticket(1, 1)), "known");
        let more = (2..20).filter(|lobby| invited(&ticket(*lobby, 1))).count();
        assert_eq!(more, MAX_INVITATIONS - 1);
        // Each seat has a limit of its own.
        assert!(talk.invited(seat(2), peer(2), &ticket(1, 2)).is_some());
    }

    #[test]
    fn one_invites_to_few_tables_of_ones_own() {
        let mut talk = Chat::default();
        let mut invite = |ticket: &str| talk.invite(seat(0), peer(0), ticket).map(|_| ());
        assert!(matches!(invite("fd2"), Err(ChatError::BadTicket(_))));
        assert_eq!(invite(&ticket(1, 1)), Err(ChatError::NotOwn));
        for lobby in 1..=4 {
            assert_eq!(invite(&ticket(lobby, 0)), Ok(()));
            assert_eq!(invite(&ticket(lobby, 0)), Ok(()), "said again");
        }
        assert_eq!(invite(&ticket(5, 0)), Err(ChatError::Invitations));
        let last = talk.invitation(seat(0)).unwrap().to_string();
        assert_eq!(last, ticket(4, 0));
    }
}
