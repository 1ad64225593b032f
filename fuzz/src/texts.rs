//! Text that people type: join targets, game options, referee requests.

use std::collections::BTreeMap;

use data_encoding::BASE32_NOPAD;
use fairdeal_games::referee::Referee;
use fairdeal_games::{AnyGame, OptionKind, game_info, options_from_json, rule_set};
use fairdeal_peers::PeerId;
use fairdeal_peers::ticket::reply::Reply;
use fairdeal_peers::ticket::{JoinTarget, MAX_ADDRESS_BYTES, MAX_ADDRESSES, Ticket};
use fairdeal_protocol::domain;
use fairdeal_protocol::game::{Game as _, Protocol, RuleSet};
use fairdeal_protocol::hash::Hasher;
use fairdeal_protocol::timing::Timing;
use serde_json::Value;

/// Maximum number of lines for one referee.
const MAX_LINES: usize = 64;

fn look_at(ticket: &Ticket) {
    assert!(ticket.addresses().len() <= MAX_ADDRESSES);
    for address in ticket.addresses() {
        assert!((1..=MAX_ADDRESS_BYTES).contains(&address.len()));
    }
    assert_eq!(ticket.to_string().parse().as_ref(), Ok(ticket));
}

/// The argument of `join`: a ticket, an address, or a peer id; and what a host gets in answer, a reply. The same bytes are also read as a ticket's payload with
/// a valid checksum, which fuzzing would never find by chance.
pub fn join(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let reply = text.parse::<Reply>();
    if let Ok(reply) = &reply {
        assert!(reply.addresses().len() <= MAX_ADDRESSES);
        assert_eq!(reply.to_string().parse().as_ref(), Ok(reply));
    }
    let target = text.parse::<JoinTarget>();
    match &target {
        Ok(JoinTarget::Ticket(ticket)) => look_at(ticket),
        Ok(JoinTarget::Address { peer, address }) => {
            assert!(!address.is_empty());
            assert_eq!(peer.to_string().parse::<PeerId>().as_ref(), Ok(peer));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let checksum = Hasher::new(domain::TICKET).bytes(data).finish().0;
    let inside = BASE32_NOPAD.encode(&[data, &checksum[..4]].concat());
    let inner = format!("fd1{inside}").parse::<Ticket>();
    if let Ok(ticket) = &inner {
        look_at(ticket);
    }
    target.is_ok() || inner.is_ok() || reply.is_ok()
}

/// Game options: the game's id, a line with the number of seats, then lines `key=value`.
pub fn options(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.split('\n');
    let game = lines.next().unwrap_or_default();
    let seats = lines.next().and_then(|n| n.parse().ok()).unwrap_or(2);
    let given: BTreeMap<String, String> =
        lines.filter_map(|line| line.split_once('=')).map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let Ok(info) = game_info(game) else {
        assert!(rule_set(game, seats, &given).is_err());
        return false;
    };
    // As a charter might contain them.
    let raw = RuleSet {
        game: game.to_owned(),
        version: info.version,
        seats,
        strict: false,
        timing: Timing::default(),
        protocol: Protocol::default(),
        options: given.clone(),
    };
    assert_eq!(info.check(&raw).is_ok(), AnyGame::create(&raw).is_ok());
    // As a referee receives them.
    let values = given.iter().map(|(key, value)| {
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value.as_str()));
        (key.clone(), value)
    });
    if let Ok(told) = options_from_json(info, &values.collect())
        && let Ok(rules) = rule_set(game, seats, &told)
    {
        assert!(AnyGame::create(&rules).is_ok());
    }
    // As a person types them.
    let Ok(rules) = rule_set(game, seats, &given) else {
        return false;
    };
    assert_eq!(info.check(&rules), Ok(()));
    assert!(AnyGame::create(&rules).is_ok());
    assert_eq!(rule_set(game, seats, &rules.options).as_ref(), Ok(&rules));
    for option in info.options {
        let value = &rules.options[option.key];
        assert!(value.len() <= fairdeal_protocol::charter::MAX_WORD);
        if let OptionKind::Number(least, most) = option.kind {
            assert!((least..=most).contains(&value.parse().unwrap()));
        }
    }
    true
}

/// The publicly visible state of a referee's game.
fn seen(referee: &mut Referee) -> [String; 2] {
    [&br#"{"op":"status"}"#[..], br#"{"op":"view","seat":null}"#].map(|line| referee.answer(line))
}

/// Lines for one referee: each gets one line of JSON as reply, and an error changes nothing.
pub fn referee(data: &[u8]) -> bool {
    let mut referee = Referee::new();
    let mut done = false;
    let mut before = seen(&mut referee);
    for line in data.split(|byte| *byte == b'\n').take(MAX_LINES) {
        let reply = referee.answer(line);
        assert!(!reply.contains('\n'));
        let reply: Value = serde_json::from_str(&reply).unwrap();
        let ok = reply["ok"].as_bool().unwrap();
        let after = seen(&mut referee);
        if ok {
            done = true;
        } else {
            assert!(!reply["error"]["code"].as_str().unwrap().is_empty());
            assert!(!reply["error"]["message"].as_str().unwrap().is_empty());
            assert_eq!(before, after, "a refused line changes nothing");
        }
        before = after;
    }
    done
}
