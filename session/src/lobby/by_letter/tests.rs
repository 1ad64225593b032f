//! Lobbies by letter: letters are lost, late, repeated or forged, and each side is read from its bytes each time.

use std::collections::BTreeMap;

use fairdeal_games::rule_set;
use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::hash::Hasher;
use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::invitation::{MAGIC, MAX_INVITATION};
use super::*;

fn key(number: u8) -> SigningKey {
    SigningKey::from_bytes(&[number; 32])
}

fn dice(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

fn rules(seats: u8) -> RuleSet {
    rule_set("loot", seats, &BTreeMap::from([("turn-time".to_owned(), "604800".to_owned())])).unwrap()
}

fn hosting(seats: u8) -> ByLetter {
    ByLetter::host(key(0), rules(seats), "Ada", [0; 16].into(), 7, &mut dice(1)).unwrap()
}

fn invited(number: u8, invitation: &Invitation) -> ByLetter {
    let name = format!("player {number}");
    ByLetter::invited(key(number), invitation.clone(), &name, [number; 16].into(), 7, &mut dice(number.into())).unwrap()
}

/// The same side in a program that has been started again.
fn again(side: &ByLetter) -> ByLetter {
    ByLetter::from_bytes(side.key.clone(), &side.to_bytes()).unwrap()
}

fn write(side: &ByLetter, to: u8) -> Vec<u8> {
    side.write(Seat::new(to.into()).unwrap(), None, &mut dice(9)).unwrap()
}

#[test]
fn two_begin_with_a_letter_each() {
    let mut ada = hosting(2);
    let invitation = Invitation::from_bytes(&ada.invitation().unwrap().to_bytes()).unwrap();
    assert_eq!(ada.stands().unwrap(), Stands::Gathering(1));
    assert_eq!(ada.readers().unwrap(), []);
    let mut ben = invited(1, &invitation);
    assert_eq!(ben.stands().unwrap(), Stands::Invited);
    assert_eq!(ben.readers().unwrap(), [(HOST, "Ada".to_owned())]);
    let read = ada.read(&write(&ben, 0)).unwrap();
    assert_eq!((read.from.number(), read.name.as_str()), (1, "player 1"));
    // The host agrees with its letter.
    assert!(read.begins.is_none() && ada.table().is_none());
    assert_eq!(ada.stands().unwrap(), Stands::Signed);
    let begins = ada.begin().unwrap().unwrap();
    assert_eq!((begins.me, begins.first.len(), ada.stands().unwrap()), (HOST, 2, Stands::Begun));
    let sealed = ada.write(Seat::new(1).unwrap(), Some(vec![5; 100]), &mut dice(3)).unwrap();
    let read = ben.read(&sealed).unwrap();
    let there = read.begins.unwrap();
    assert_eq!((there.charter.table(), there.me.number()), (begins.charter.table(), 1));
    assert_eq!((read.enclosed, ben.table()), (Some(vec![5; 100]), Some(begins.charter.table())));
    // The same letter again begins nothing, and still has what it encloses.
    let read = again(&ben).read(&sealed).unwrap();
    assert!(read.begins.is_none() && read.enclosed.is_some());
    // The host encloses its letter until the guest has written at the table.
    let seat = Seat::new(1).unwrap();
    assert!(ada.is_awaited(seat) && ada.arrived(seat) && !ada.arrived(seat));
    assert!(!again(&ada).is_awaited(seat));
}

#[test]
fn three_begin_with_two_letters_each() {
    let mut ada = hosting(3);
    let invitation = ada.invitation().unwrap();
    let (mut ben, mut cleo) = (invited(1, &invitation), invited(2, &invitation));
    ada.read(&write(&ben, 0)).unwrap();
    assert_eq!(ada.stands().unwrap(), Stands::Gathering(1));
    ben.read(&write(&ada, 1)).unwrap();
    assert_eq!(ben.stands().unwrap(), Stands::Gathering(1));
    ada.read(&write(&cleo, 0)).unwrap();
    let names = |all: [&str; 2]| Stands::Signing(all.map(str::to_owned).to_vec());
    assert_eq!(ada.stands().unwrap(), names(["player 1", "player 2"]));
    for (guest, seat) in [(&mut ben, 1), (&mut cleo, 2)] {
        assert!(ada.begin().unwrap().is_none());
        guest.read(&write(&ada, seat)).unwrap();
        ada.read(&write(guest, 0)).unwrap();
    }
    ada.begin().unwrap().unwrap();
    assert_eq!(ben.stands().unwrap(), names(["Ada", "player 2"]));
    assert!(ben.read(&write(&ada, 1)).unwrap().begins.is_some());
    assert_eq!(ben.stands().unwrap(), Stands::Begun);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Letters are lost, repeated and out of order: once some arrive, all are at one table.
    #[test]
    fn every_order_ends_at_one_table(seed: u64, seats in 2_u8..=4) {
        let mut dice = dice(seed);
        let mut host = hosting(seats);
        let invitation = host.invitation().unwrap();
        let mut guests: Vec<ByLetter> = (1..seats).map(|number| invited(number, &invitation)).collect();
        let mut begun: BTreeMap<u8, SignedCharter> = BTreeMap::new();
        let mut under_way: Vec<(u8, Vec<u8>)> = Vec::new();
        for _ in 0..4000 {
            let who = u8::try_from(dice.next_u32() % u32::from(seats)).unwrap();
            let side = if who == 0 { &host } else { &guests[usize::from(who) - 1] };
            if dice.next_u32().is_multiple_of(2) {
                for (seat, name) in side.readers().unwrap() {
                    // Guests sit in the order of their first letters.
                    let reader = if who == 0 { name.rsplit(' ').next().unwrap().parse().unwrap() } else { 0 };
                    if !dice.next_u32().is_multiple_of(3) {
                        under_way.push((reader, side.write(seat, None, &mut dice).unwrap()));
                    }
                }
            } else if !under_way.is_empty() {
                let chosen = usize::try_from(dice.next_u64() % u64::try_from(under_way.len()).unwrap()).unwrap();
                let (reader, sealed) = under_way[chosen].clone();
                if dice.next_u32().is_multiple_of(2) {
                    under_way.swap_remove(chosen);
                }
                let side = if reader == 0 { &mut host } else { &mut guests[usize::from(reader) - 1] };
                let mut read = side.read(&sealed).unwrap();
                if side.table().is_none() && side.stands().unwrap() == Stands::Signed {
                    read.begins = side.begin().unwrap().map(Box::new);
                }
                if let Some(agreed) = read.begins {
                    prop_assert!(begun.insert(reader, agreed.charter).is_none(), "it begins once");
                }
                *side = again(side);
            }
            if begun.len() == usize::from(seats) {
                break;
            }
        }
        prop_assert_eq!(begun.len(), usize::from(seats));
        prop_assert!(begun.values().all(|charter| charter.table() == begun[&0].table()));
    }

    /// Whatever comes in place of a letter, an invitation or a kept lobby is refused, and changes nothing.
    #[test]
    fn changed_bytes_are_refused(at: prop::sample::Index, bit in 0_u8..8) {
        let change = |bytes: &[u8]| {
            let mut changed = bytes.to_vec();
            changed[at.index(bytes.len())] ^= 1 << bit;
            changed
        };
        let mut host = hosting(3);
        let invitation = host.invitation().unwrap().to_bytes();
        prop_assert!(Invitation::from_bytes(&change(&invitation)).is_err());
        let guest = invited(1, &host.invitation().unwrap());
        let before = host.to_bytes();
        prop_assert!(host.read(&change(&write(&guest, 0))).is_err());
        prop_assert_eq!(&host.to_bytes(), &before);
        // Kept lobbies are the player's own; a damaged one may still be read.
        let _ = ByLetter::from_bytes(key(0), &change(&before)).map(|lobby| lobby.stands());
    }
}

#[test]
fn strangers_and_late_comers_get_no_seat() {
    let mut ada = hosting(3);
    let invitation = ada.invitation().unwrap();
    let (ben, eve) = (invited(1, &invitation), invited(2, &invitation));
    ada.read(&write(&ben, 0)).unwrap();
    ada.read(&write(&invited(3, &invitation), 0)).unwrap();
    let why = ada.read(&write(&eve, 0)).unwrap_err();
    assert_eq!(why.to_string(), "player 2 gets no seat: all seats are taken");
    // Eve writes as Ben.
    let reply = |guest: &ByLetter| match &guest.kept {
        Kept::Guest(kept) => Box::new(kept.lobby(&guest.key).unwrap().1),
        Kept::Host(_) => panic!("a host"),
    };
    let forged = Content::Reply((&key(1)).into(), reply(&eve));
    let sealed = letter::seal(&key(2), ada.host_key().into(), &ada.context(), &encode(&forged), &mut dice(4)).unwrap();
    assert_eq!(ada.read(&sealed).unwrap_err(), LetterError::Stranger.into());
    // With Ben's wish, but under another key.
    let stolen = Content::Reply((&key(2)).into(), reply(&ben));
    let sealed = letter::seal(&key(2), ada.host_key().into(), &ada.context(), &encode(&stolen), &mut dice(4)).unwrap();
    assert!(matches!(ada.read(&sealed).unwrap_err(), ByLetterError::Refused { .. }));
    // A letter from another lobby of the same host.
    let other = ByLetter::host(key(0), rules(2), "Ada", [0; 16].into(), 7, &mut dice(2)).unwrap();
    let lost = invited(1, &other.invitation().unwrap());
    assert_eq!(ada.read(&write(&lost, 0)).unwrap_err(), LetterError::Sealed.into());
    // Eve answers in the host's place.
    let mut ben = ben;
    let before = ben.to_bytes();
    let Kept::Host(host) = &ada.kept else { panic!("a host") };
    let (_, answer) = ada.answer(host, Seat::new(1).unwrap(), None).unwrap();
    let sealed = letter::seal(&key(2), PeerId::of(&key(1)), &ben.context(), &encode(&answer), &mut dice(4)).unwrap();
    assert_eq!(ben.read(&sealed).unwrap_err(), LetterError::Stranger.into());
    assert_eq!(ben.to_bytes(), before);
    assert_eq!(
        invited(1, &invitation).write(Seat::new(1).unwrap(), None, &mut dice(1)).unwrap_err(),
        ByLetterError::NoReader
    );
}

/// The guest has agreed to the rules of its invitation, and to no others.
#[test]
fn hosts_cannot_change_the_terms() {
    let mut ada = hosting(2);
    let invitation = ada.invitation().unwrap();
    let mut ben = invited(1, &invitation);
    ada.read(&write(&ben, 0)).unwrap();
    let Kept::Host(host) = &mut ada.kept else { panic!("a host") };
    let harsh = rule_set("loot", 2, &BTreeMap::from([("turn-time".to_owned(), "60".to_owned())])).unwrap();
    let other = ByLetter::host(key(0), harsh, "Ada", [0; 16].into(), 7, &mut dice(1)).unwrap();
    let Kept::Host(changed) = other.kept else { panic!("a host") };
    assert_eq!(changed.empty.lobby, host.empty.lobby, "the same number");
    host.empty = changed.empty;
    assert_eq!(ben.read(&write(&ada, 1)).unwrap_err(), ByLetterError::OtherTerms);
    assert_eq!(ben.stands().unwrap(), Stands::Invited);
}

#[test]
fn invitations_need_two_seats_and_a_known_game() {
    let alone = rule_set("ivory-tower", 1, &BTreeMap::new()).unwrap();
    let host = ByLetter::host(key(0), alone, "Ada", [0; 16].into(), 7, &mut dice(1));
    assert_eq!(host.unwrap_err(), ByLetterError::Alone);
    let mut invitation = hosting(2).invitation().unwrap();
    let own = ByLetter::invited(key(0), invitation.clone(), "Ada", [0; 16].into(), 7, &mut dice(1));
    assert_eq!(own.unwrap_err(), ByLetterError::OwnInvitation);
    invitation.roster.game = Text::try_from("chess".to_owned()).unwrap();
    assert!(matches!(Invitation::from_bytes(&invitation.to_bytes()), Err(ByLetterError::Rules(_))));
    for short in [&b""[..], b"fdinvitation1\n", &[0; 64]] {
        assert_eq!(Invitation::from_bytes(short).unwrap_err(), ByLetterError::Invitation);
    }
    let long = [&MAGIC[..], &vec![0; MAX_INVITATION]].concat();
    assert_eq!(Invitation::from_bytes(&long).unwrap_err(), ByLetterError::Invitation);
}

/// The bytes of the wire and the disk: length, and the first bytes of the hash.
#[test]
fn encodings_stay() {
    let told = |bytes: &[u8]| {
        let hash = Hasher::new(domain::INVITATION).bytes(bytes).finish().to_string();
        format!("{} {}", bytes.len(), &hash[..16])
    };
    let mut ada = hosting(3);
    let invitation = ada.invitation().unwrap();
    let (mut ben, cleo) = (invited(1, &invitation), invited(2, &invitation));
    let reply = ben.content(HOST, None).unwrap().1;
    for guest in [&ben, &cleo] {
        ada.read(&write(guest, 0)).unwrap();
    }
    let answer = ada.content(Seat::new(1).unwrap(), None).unwrap().1;
    ben.read(&write(&ada, 1)).unwrap();
    let signed = ben.content(HOST, None).unwrap().1;
    let all = [invitation.to_bytes(), reply, answer, signed, ada.to_bytes(), ben.to_bytes()];
    insta::assert_debug_snapshot!(all.map(|bytes| told(&bytes)));
}

/// Whoever has lost the lobby, or given it up, takes the invitation again and gets to the table that it has signed.
#[test]
fn a_guest_that_takes_the_invitation_again_finds_its_table() {
    let mut ada = hosting(2);
    let invitation = ada.invitation().unwrap();
    let ben = invited(1, &invitation);
    ada.read(&write(&ben, 0)).unwrap();
    let begun = ada.begin().unwrap().unwrap();
    let mut ben = ByLetter::invited(key(1), invitation, "Ben", [8; 16].into(), 9, &mut dice(77)).unwrap();
    ada.read(&write(&ben, 0)).unwrap();
    let back = ben.read(&write(&ada, 1)).unwrap().begins.unwrap();
    assert_eq!((back.charter.table(), back.again), (begun.charter.table(), true));
}

/// A guest who starts again before the table has begun signs the new charter, and a late letter changes nothing.
#[test]
fn a_guest_may_change_its_mind_before_the_table_has_begun() {
    let mut ada = hosting(3);
    let invitation = ada.invitation().unwrap();
    let (ben, mut cleo) = (invited(1, &invitation), invited(2, &invitation));
    let late = write(&ben, 0);
    ada.read(&late).unwrap();
    ada.read(&write(&cleo, 0)).unwrap();
    let mut ben = ByLetter::invited(key(1), invitation, "Ben", [8; 16].into(), 9, &mut dice(77)).unwrap();
    ada.read(&write(&ben, 0)).unwrap();
    for _ in 0..2 {
        ben.read(&write(&ada, 1)).unwrap();
        cleo.read(&write(&ada, 2)).unwrap();
        ada.read(&write(&ben, 0)).unwrap();
        ada.read(&write(&cleo, 0)).unwrap();
    }
    assert_eq!(ada.stands().unwrap(), Stands::Signed);
    // Unsigned, of the same request: it came late.
    let first = ben.content(HOST, None).unwrap();
    let unsigned = match decode(&first.1, MAX_LETTER).unwrap() {
        Content::Reply(key, reply) => Content::Reply(key, Box::new(Reply { signature: None, ..*reply })),
        Content::Lobby(_) | Content::Begun(_) => panic!("a reply"),
    };
    ada.take(&encode(&unsigned), |_| true).unwrap();
    assert_eq!(ada.stands().unwrap(), Stands::Signed);
}

#[test]
fn dismissed_guests_get_no_seat() {
    let mut ada = hosting(2);
    let invitation = ada.invitation().unwrap();
    let (eve, mut ben) = (invited(2, &invitation), invited(1, &invitation));
    ada.read(&write(&eve, 0)).unwrap();
    assert!(ada.read(&write(&ben, 0)).is_err());
    assert!(ada.dismiss(|peer| peer == PeerId::of(&key(2))).unwrap());
    assert!(!ada.dismiss(|peer| peer == PeerId::of(&key(2))).unwrap(), "it is gone");
    let mut ada = again(&ada);
    let why = ada.read(&write(&eve, 0)).unwrap_err().to_string();
    assert!(why.contains("you have dismissed this player"), "{why}");
    ada.read(&write(&ben, 0)).unwrap();
    ada.begin().unwrap().unwrap();
    assert_eq!(ada.dismiss(|_| true).unwrap_err(), ByLetterError::Begun);
    assert!(ben.read(&write(&ada, 1)).unwrap().begins.is_some());
}

/// A host sends rubbish among the first entries: it is left out, and the table begins all the same.
#[test]
fn false_first_entries_are_left_out() {
    let mut ada = hosting(2);
    let mut ben = invited(1, &ada.invitation().unwrap());
    ada.read(&write(&ben, 0)).unwrap();
    let agreed = ada.begin().unwrap().unwrap();
    let (_, content) = ada.content(Seat::new(1).unwrap(), None).unwrap();
    let Content::Begun(mut begun) = decode(&content, MAX_LETTER).unwrap() else { panic!("a table") };
    let own = agreed.first[1].clone();
    begun.first = Firsts::first([own.clone(), own.clone(), own]);
    let read = ben.take(&encode(&Content::Begun(begun)), |_| true).unwrap();
    assert_eq!(read.begins.unwrap().first.len(), 1);
}
