//! Replies to tickets: the way back to a guest that cannot reach the host. Whichever of the two can be reached suffices.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::way::{self, Way};
use super::{Ticket, TicketError};
use crate::{Multiaddr, PeerId};

/// The way to a guest that has a ticket and cannot reach its host.
///
/// A reply proves nothing: whoever answers there has to hold the guest's key, and asks for a seat like every guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Reply(Way);

impl From<Reply> for String {
    fn from(reply: Reply) -> Self {
        reply.to_string()
    }
}

impl TryFrom<String> for Reply {
    type Error = ReplyError;

    fn try_from(text: String) -> Result<Self, ReplyError> {
        text.parse()
    }
}

/// The reason why a text is not a reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// The text does not look like a reply.
    #[error("this is not a reply to a ticket; one starts with fdr1")]
    NotAReply,
    /// The text is a ticket, which leads to a host.
    #[error("this is a ticket to a table; a friend who can't reach you sends you a reply, which starts with fdr1")]
    IsTicket,
    /// The reply has an unknown version.
    #[error("this reply is of version {0}, which this fairdeal does not know; update it")]
    Version(char),
    /// The reply was cut short, mistyped or changed.
    #[error("this reply has a typo or a missing part; copy it again")]
    Broken,
}

impl Reply {
    /// The reply of `guest` to a ticket of the table `lobby`: the guest's listening addresses, as in [`Ticket::new`].
    ///
    /// # Errors
    /// [`TicketError::TooManyAddresses`], [`TicketError::BadAddress`].
    pub fn new(
        lobby: [u8; 8],
        guest: PeerId,
        addresses: impl IntoIterator<Item = Multiaddr>,
    ) -> Result<Self, TicketError> {
        Way::new(lobby, guest, addresses).map(Self)
    }

    /// The table's id among the host's tables.
    pub fn lobby(&self) -> [u8; 8] {
        self.0.lobby
    }

    /// The guest.
    pub fn guest(&self) -> PeerId {
        self.0.peer
    }

    /// The guest's listening addresses, without its id; at most [`MAX_ADDRESSES`](super::MAX_ADDRESSES).
    pub fn addresses(&self) -> &[Multiaddr] {
        &self.0.addresses
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_text(&way::REPLY))
    }
}

impl FromStr for Reply {
    type Err = ReplyError;

    fn from_str(text: &str) -> Result<Self, ReplyError> {
        Way::find(text, &way::REPLY).map(Self).map_err(|error| match error {
            TicketError::NotATicket if text.parse::<Ticket>().is_ok() => ReplyError::IsTicket,
            TicketError::NotATicket => ReplyError::NotAReply,
            TicketError::Version(version) => ReplyError::Version(version),
            _ => ReplyError::Broken,
        })
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::SigningKey;
    use proptest::prelude::*;

    use super::*;

    fn peer(seed: u8) -> PeerId {
        PeerId::of(&SigningKey::from_bytes(&[seed; 32]))
    }

    fn sample() -> Reply {
        let addresses = ["/ip4/192.168.1.7/tcp/4001", "/dns/table.example/tcp/9"];
        Reply::new(*b"lobby #1", peer(1), addresses.map(|text| text.parse().unwrap())).unwrap()
    }

    #[test]
    fn golden() {
        // Computed independently in Python from the documentation of the encoding and RFC 8032.
        let text = "fdr1nrxweytzeartdcui4poxicprsx6vfwznhs5f24wkm4e36hmucin7g5eiag2a\
                    6324bacmbkaba4da7iisgugxiylcnrss4zlymfwxa3dfayaastgtvzvq";
        assert_eq!(sample().to_string(), text);
        assert_eq!(text.parse(), Ok(sample()));
    }

    #[test]
    fn neither_is_taken_for_the_other() {
        let reply = sample();
        let ticket = Ticket::new(reply.lobby(), reply.guest(), reply.addresses().iter().cloned()).unwrap();
        assert_eq!(ticket.to_string().parse::<Reply>(), Err(ReplyError::IsTicket));
        assert_eq!(reply.to_string().parse::<Ticket>(), Err(TicketError::IsReply));
        // The digits of one are nothing as the other's.
        let digits = |text: String, letters: &str| text.strip_prefix(letters).unwrap().to_owned();
        let as_reply = format!("fdr{}", digits(ticket.to_string(), "fd"));
        assert_eq!(as_reply.parse::<Reply>(), Err(ReplyError::Broken));
        let as_ticket = format!("fd{}", digits(reply.to_string(), "fdr"));
        assert_eq!(as_ticket.parse::<Ticket>(), Err(TicketError::Typo));
    }

    #[test]
    fn reply_is_found_in_pasted_text() {
        let text = sample().to_string();
        let (start, end) = text.split_at(40);
        for pasted in [
            format!("  {text}\n"),
            format!("call me: \u{201c}{start}\u{200b}{end}\u{201d}!"),
            format!("> {start}\r\n> {end}\n> thanks"),
            text.to_uppercase(),
        ] {
            assert_eq!(pasted.parse(), Ok(sample()), "{pasted}");
        }
        assert_eq!(text[..text.len() - 1].parse::<Reply>(), Err(ReplyError::Broken));
        assert_eq!(text.replacen("fdr1", "fdr2", 1).parse::<Reply>(), Err(ReplyError::Version('2')));
        for other in ["", "hello", "fd", "fdr", "fdrx", "fdr2"] {
            assert_eq!(other.parse::<Reply>(), Err(ReplyError::NotAReply), "{other}");
        }
        assert_eq!("fdr1a".repeat(10_000).parse::<Reply>(), Err(ReplyError::Broken));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn garbage_is_refused(text in "\\PC{0,200}") {
            prop_assert!(text.parse::<Reply>().is_err());
            let prefixed = ["fdr1", &text].concat();
            prop_assert!(prefixed.parse::<Reply>().is_err());
        }
    }
}
