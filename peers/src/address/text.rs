//! Multiaddrs as people and other programs write them.
//!
//! A peer id has two texts (libp2p's specification of peer ids): the multihash in base58, `12D3KooW…` or `Qm…`, and a
//! CID with the codec `libp2p-key`, `bafz…` or `k51…`, in any base of multibase. rust-multiaddr reads the first alone.
//! It also refuses a slash at the end and two slashes in a row, which js-multiaddr and py-multiaddr drop.

use multiaddr::{Multiaddr, PeerId as AnyPeerId};

/// Maximum length of a multiaddr as text, in bytes.
pub const MAX_ADDRESS_TEXT: usize = 1024;

/// The version of a CID, and the codec of keys.
const KEY_CID: [u8; 2] = [1, 0x72];

/// The reason why a text is not a multiaddr.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("it is longer than {MAX_ADDRESS_TEXT} bytes")]
    TooLong,
    #[error("it is empty")]
    Empty,
    /// It leads to no place.
    #[error("only a peer id")]
    OnlyPeer,
    /// No multihash in base58, and no CID of a key.
    #[error("{0} is not a peer id")]
    NotAPeer(String),
    #[error("{0}; an address is like /ip4/192.0.2.7/tcp/4001")]
    Syntax(String),
}

/// Reads a multiaddr. It may have slashes at its end or several between parts, and peer ids may be CIDs.
///
/// # Errors
/// [`AddressError`].
pub fn parse_address(text: &str) -> Result<Multiaddr, AddressError> {
    let text = text.trim();
    if text.len() > MAX_ADDRESS_TEXT {
        return Err(AddressError::TooLong);
    }
    let text = text.trim_end_matches('/');
    if text.is_empty() {
        return Err(AddressError::Empty);
    }
    let error = match text.parse() {
        Ok(address) => return Ok(address),
        Err(error) => error,
    };
    // Only a text that cannot be read is changed: a host may be called `p2p`.
    let mut unread = None;
    let mut is_peer = false;
    let mut parts = Vec::new();
    for (place, part) in text.split('/').enumerate() {
        if part.is_empty() && place > 0 {
            continue;
        }
        let peer = if is_peer { in_base58(part) } else { None };
        if is_peer && peer.is_none() && part.parse::<AnyPeerId>().is_err() {
            unread = Some(part);
        }
        parts.push(peer.unwrap_or_else(|| part.to_owned()));
        is_peer = !is_peer && matches!(part, "p2p" | "ipfs");
    }
    let read = parts.join("/").parse();
    read.map_err(|_: multiaddr::Error| match unread {
        Some(part) => AddressError::NotAPeer(part.to_owned()),
        None => AddressError::Syntax(error.to_string()),
    })
}

/// The peer id of a CID, as the multihash in base58.
fn in_base58(cid: &str) -> Option<String> {
    let (_, bytes) = multibase::decode(cid).ok()?;
    let peer = AnyPeerId::from_bytes(bytes.strip_prefix(&KEY_CID)?).ok()?;
    Some(peer.to_base58())
}

#[cfg(test)]
mod tests {
    use multibase::Base;

    use super::*;

    const PEER: &str = "12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA";

    fn cid(base: Base) -> String {
        let peer: AnyPeerId = PEER.parse().unwrap();
        multibase::encode(base, [&KEY_CID[..], &peer.to_bytes()].concat())
    }

    #[test]
    fn texts_of_other_libraries_are_read() {
        let plain = format!("/ip4/192.0.2.7/tcp/4001/p2p/{PEER}");
        let expected: Multiaddr = plain.parse().unwrap();
        let mut texts = vec![
            format!("{plain}/"),
            format!("{plain}//"),
            format!("  {plain}\n"),
            format!("/ip4/192.0.2.7//tcp/4001/p2p//{PEER}"),
            format!("/ip4/192.0.2.7/tcp/4001/ipfs/{PEER}/"),
        ];
        for (base, beginning) in [
            (Base::Base32Lower, "bafz"),
            (Base::Base32Upper, "BAFZ"),
            (Base::Base36Lower, "k51"),
            (Base::Base36Upper, "K51"),
            (Base::Base58Btc, "z5"),
            (Base::Base16Lower, "f0172"),
            (Base::Base64Url, "uAXI"),
        ] {
            let cid = cid(base);
            assert!(cid.starts_with(beginning), "{cid}");
            texts.push(format!("/ip4/192.0.2.7/tcp/4001/p2p/{cid}"));
            texts.push(format!("/ip4/192.0.2.7/tcp/4001/ipfs/{cid}/"));
        }
        for text in texts {
            assert_eq!(parse_address(&text), Ok(expected.clone()), "{text}");
        }
    }

    #[test]
    fn every_peer_on_the_way_is_read() {
        let (cid, circuit) = (cid(Base::Base36Lower), format!("/p2p/{PEER}/p2p-circuit/p2p/{PEER}"));
        let read = parse_address(&format!("/dns4/p2p/tcp/4001/p2p/{cid}/p2p-circuit/p2p/{cid}/"));
        assert_eq!(read, Ok(format!("/dns4/p2p/tcp/4001{circuit}").parse().unwrap()));
    }

    #[test]
    fn what_is_wrong_is_told() {
        let raw = multibase::encode(Base::Base32Lower, [1, 0x55, 0, 1, 7]);
        for (text, expected) in [
            (String::new(), AddressError::Empty),
            ("///".to_owned(), AddressError::Empty),
            ("/".repeat(2000), AddressError::TooLong),
            (format!("/ip4/192.0.2.7/tcp/1/p2p/{raw}"), AddressError::NotAPeer(raw)),
            ("/p2p/bafz".to_owned(), AddressError::NotAPeer("bafz".to_owned())),
        ] {
            assert_eq!(parse_address(&text), Err(expected), "{text}");
        }
        for text in ["ip4/192.0.2.7", "/ip4/192.0.2.7/p2p", "/tcp/4001/xyz", "é"] {
            assert!(matches!(parse_address(text), Err(AddressError::Syntax(_))), "{text}");
        }
    }
}
