//! The catalogue of forged entries: each trick's change to an honest one.

use fairdeal_games::AnyGame;
use fairdeal_protocol::crypto::elgamal::Ciphertext;
use fairdeal_protocol::crypto::escrow::Complaint;
use fairdeal_protocol::crypto::group::Point;
use fairdeal_protocol::crypto::key::SecretKey;
use fairdeal_protocol::crypto::seed::OpenedSeed;
use fairdeal_protocol::crypto::shuffle::ShuffleProof;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::body::{Answers, Body, Part};
use fairdeal_protocol::log::entry::Content;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::replica::Replica;
use fairdeal_protocol::wire::codec::{decode, encode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::cheat::{Scene, Trick};
use super::plan::Dice;

/// A trick's version of an entry, if there is an opportunity for it.
pub(crate) fn change(trick: Trick, content: &Content, scene: &Scene<'_>, dice: &mut Dice) -> Option<Content> {
    let mut content = content.clone();
    let body = &mut content.body;
    match trick {
        Trick::WrongParent => content.parent = Hash32([8; 32]),
        Trick::WrongDigest => content.digest = Hash32([9; 32]),
        Trick::WrongKind => *body = wrong_kind(dice),
        Trick::TwoFaces => two_faces(body, scene, dice)?,
        Trick::IllegalAction => illegal_action(body, scene, dice)?,
        Trick::OutOfTurn => out_of_turn(body, scene, dice)?,
        Trick::BadShare | Trick::ShareCount | Trick::BadShareProof => {
            bad_shares(trick, body, scene, dice)?;
        }
        Trick::BadCoin => {
            let answers = body.answers_mut()?;
            answers.coin = match answers.coin {
                None => Some(Hash32([1; 32])),
                Some(_) if dice.chance(300) => None,
                Some(coin) => Some(flipped(coin)),
            };
        }
        Trick::BadCommit => match body {
            Body::Commit { seed, .. } => *seed = flipped(*seed),
            _ => match part(body)? {
                Part::Commit { seed, .. } => *seed = flipped(*seed),
                _ => return None,
            },
        },
        Trick::BadTip => match body {
            Body::Commit { tip, .. } | Body::Tip { tip } => *tip = flipped(*tip),
            _ => match part(body)? {
                Part::Commit { tip, .. } => *tip = flipped(*tip),
                _ => return None,
            },
        },
        Trick::BadOpening => match body {
            Body::Open { seed } | Body::Turn { seed, .. } => *seed = OpenedSeed([9; 32]),
            _ => return None,
        },
        Trick::SwappedCards | Trick::ForeignCard | Trick::ShortDeck | Trick::ShuffleProof | Trick::IdentityPoint => {
            bad_shuffle(trick, body, scene, dice)?;
        }
        Trick::CopiedKey => {
            let own = matches!(body, Body::Key { .. });
            let other = scene.heard.iter().rev().find(|entry| matches!(entry.body(), Body::Key { .. }));
            *body = own.then_some(other)??.body().clone();
        }
        Trick::IdentityKey => match body {
            Body::Key { key, .. } => *key = Point::identity(),
            _ => match part(body)? {
                Part::Key { key, .. } => *key = Point::identity(),
                _ => return None,
            },
        },
        Trick::EscrowSum | Trick::EscrowPart | Trick::EscrowSeats => {
            bad_escrow(trick, body, dice)?;
        }
        Trick::FalseComplaint => false_complaint(body, scene, dice)?,
        Trick::BadRebuild => match body {
            Body::Rebuild { parts } => {
                let mut points = parts.shares.to_vec();
                if dice.chance(400) {
                    points.pop();
                } else {
                    points[0] = doubled(points[0]);
                }
                parts.shares = points.try_into().ok()?;
            }
            _ => return None,
        },
        Trick::WrongPart => {
            let (own, heard) = (scene.own.iter(), scene.heard.iter());
            let old: Vec<&Part> = own.chain(heard).filter_map(|entry| entry.body().part()).collect();
            let part = if old.is_empty() { Part::Accept { shuffled: None } } else { (*dice.pick(&old)).clone() };
            body.answers_mut()?.part = Some(Box::new(part));
        }
        Trick::OldBody => {
            let (own, heard) = (scene.own.iter(), scene.heard.iter());
            let kind = body.kind();
            let old: Vec<&Body> =
                own.chain(heard).filter(|old| old.body().kind() == kind).map(|entry| entry.body()).collect();
            if old.is_empty() {
                return None;
            }
            *body = (*dice.pick(&old)).clone();
        }
        // Tricks that do not change a single entry.
        Trick::OldEntries
        | Trick::OtherTable
        | Trick::Junk
        | Trick::Silence
        | Trick::Flood
        | Trick::ForgedEvidence
        | Trick::LyingHead
        | Trick::LyingStateReply
        | Trick::TwoHalts
        | Trick::NoHalt
        | Trick::Claims
        | Trick::Requests
        | Trick::RubbishReply
        | Trick::EmptyMessages
        | Trick::Withhold
        | Trick::Accuse
        | Trick::TwoConsents
        | Trick::TwoVetoes
        | Trick::VetoAndConsent
        | Trick::TwoPromises
        | Trick::TwoProposals
        | Trick::TwoAccepts
        | Trick::LoneProposal
        | Trick::Hurry
        | Trick::ForgedStatement
        | Trick::NoConsent
        | Trick::NoRelease => return None,
        Trick::GoesOn => drop(content.release.take()?),
    }
    Some(content)
}

pub(crate) fn flipped(hash: Hash32) -> Hash32 {
    let mut bytes = hash.0;
    bytes[7] ^= 1;
    Hash32(bytes)
}

fn doubled(point: Point) -> Point {
    Point::from(point.as_point() + point.as_point())
}

/// The value with one changed byte in its encoding, if that still decodes.
fn garbled<T: Serialize + DeserializeOwned>(value: &T, place: usize) -> Option<T> {
    let mut bytes = encode(value);
    *bytes.get_mut(place)? ^= 1;
    decode(&bytes, bytes.len()).ok()
}

/// The part of the setup of the next deal in an entry.
fn part(body: &mut Body) -> Option<&mut Part> {
    body.answers_mut()?.part.as_deref_mut()
}

fn wrong_kind(dice: &mut Dice) -> Body {
    let seed = OpenedSeed([3; 32]);
    let (tip, to) = (Hash32([2; 32]), Hash32([4; 32]));
    let kinds = [
        Body::Close,
        Body::Confirm,
        Body::Leave,
        Body::Tip { tip },
        Body::Yield { to },
        Body::Open { seed },
        Body::Effects { answers: Answers::default() },
        Body::Accept { complaints: Default::default(), shuffled: None },
        Body::Act { action: Default::default(), answers: Answers::default() },
    ];
    dice.pick(&kinds).clone()
}

/// The other face of an entry, as legal as possible.
fn two_faces(body: &mut Body, scene: &Scene<'_>, dice: &mut Dice) -> Option<()> {
    let table = scene.table;
    let legal = |out_of_turn: bool| {
        let mut legal = table.game().legal(table.me(), table.known());
        legal.retain(|action| table.game().out_of_turn(action) == out_of_turn);
        legal
    };
    if let Some(shuffled) = body.shuffled_mut() {
        shuffled.onto = flipped(shuffled.onto);
        return Some(());
    }
    match body {
        Body::Commit { tip, .. } | Body::Tip { tip } => *tip = flipped(*tip),
        Body::Act { action, .. } => {
            let others = legal(false);
            if others.is_empty() || dice.chance(200) {
                *body = Body::Leave;
            } else {
                *action = encode(dice.pick(&others)).try_into().ok()?;
            }
        }
        Body::Ack { .. } => {
            let wishes = legal(true);
            *body = if wishes.is_empty() || dice.chance(300) {
                Body::Leave
            } else {
                let action = encode(dice.pick(&wishes)).try_into().ok()?;
                Body::Interject { action }
            };
        }
        Body::Interject { .. } => *body = Body::Leave,
        Body::Open { seed } | Body::Turn { seed, .. } => *seed = OpenedSeed([7; 32]),
        Body::Key { .. } | Body::Accept { .. } | Body::Confirm | Body::Close => {
            *body = wrong_kind(dice);
        }
        Body::Effects { answers } => match answers.coin.as_mut() {
            Some(coin) => *coin = flipped(*coin),
            None => answers.coin = Some(Hash32([1; 32])),
        },
        Body::Leave | Body::Yield { .. } | Body::Escrow { .. } | Body::Rebuild { .. } | Body::Shuffle(_) => {
            return None;
        }
    }
    Some(())
}

fn illegal_action(body: &mut Body, scene: &Scene<'_>, dice: &mut Dice) -> Option<()> {
    let Body::Act { action, .. } = body else {
        return None;
    };
    let game = scene.table.game();
    let bytes = match dice.below(4) {
        0 => vec![255; 3],
        1 => [action.to_vec(), vec![0]].concat(),
        2 => action[..action.len() - 1].to_vec(),
        _ => {
            // Another seat's action, with that seat's cards.
            let seats = Seat::first(6).filter(|seat| *seat != scene.table.me());
            let foreign = seats
                .flat_map(|seat| game.legal(seat, scene.table.known()))
                .find(|action| game.check(scene.table.me(), action).is_err())?;
            encode(&foreign)
        }
    };
    *action = bytes.try_into().ok()?;
    Some(())
}

fn out_of_turn(body: &mut Body, scene: &Scene<'_>, dice: &mut Dice) -> Option<()> {
    if !matches!(body, Body::Ack { .. }) {
        return None;
    }
    let acted = |entry: &&fairdeal_protocol::log::entry::Entry| match entry.body() {
        Body::Act { action, .. } | Body::Interject { action } => Some(action.clone()),
        _ => None,
    };
    let heard = scene.heard.iter().rev().find_map(|entry| acted(&entry));
    let own = scene.own.iter().rev().find_map(|entry| acted(&entry));
    let action = if dice.chance(500) { own.or(heard)? } else { heard.or(own)? };
    *body =
        if dice.chance(700) { Body::Interject { action } } else { Body::Act { action, answers: Answers::default() } };
    Some(())
}

fn bad_shares(trick: Trick, body: &mut Body, scene: &Scene<'_>, dice: &mut Dice) -> Option<()> {
    let answers = body.answers_mut()?;
    if answers.shares.is_none() && trick == Trick::ShareCount {
        // Reveal tokens that nobody requested, from an earlier entry.
        answers.shares = scene.own.iter().rev().find_map(|entry| {
            let mut old = entry.body().clone();
            old.answers_mut()?.shares.clone()
        });
        return answers.shares.is_some().then_some(());
    }
    let shares = answers.shares.as_mut()?;
    let mut points = shares.shares.to_vec();
    match trick {
        Trick::BadShare if points.len() > 1 && dice.chance(400) => points.reverse(),
        Trick::BadShare if dice.chance(200) => points[0] = Point::identity(),
        Trick::BadShare => points[0] = doubled(points[0]),
        Trick::ShareCount if dice.chance(300) => {
            answers.shares = None;
            return Some(());
        }
        Trick::ShareCount if dice.chance(500) => {
            points.pop();
        }
        Trick::ShareCount => points.push(points[0]),
        _ => {
            let place = *dice.pick(&[0, 32, 64]);
            shares.proof = garbled(&shares.proof, place)?;
        }
    }
    shares.shares = points.try_into().ok()?;
    Some(())
}

fn bad_shuffle(trick: Trick, body: &mut Body, scene: &Scene<'_>, dice: &mut Dice) -> Option<()> {
    let shuffled = body.shuffled_mut()?;
    let mut deck = shuffled.deck.to_vec();
    let last = deck.len().checked_sub(1)?;
    match trick {
        Trick::SwappedCards => deck.swap(0, last),
        Trick::ForeignCard if dice.chance(300) => deck[0] = deck[last],
        Trick::ForeignCard if dice.chance(500) => {
            // The previous deck, passed off as shuffled.
            let shuffled = |body: &Body| body.shuffled().or_else(|| body.part()?.shuffled()).cloned();
            let mut before = scene.heard.iter().rev().filter_map(|entry| shuffled(entry.body()));
            deck = before.next()?.deck.to_vec();
        }
        Trick::ForeignCard => {
            deck[0] = Ciphertext { a: deck[0].a, b: doubled(deck[0].b) };
        }
        Trick::ShortDeck if dice.chance(500) => {
            deck.pop();
        }
        Trick::ShortDeck => deck.push(deck[0]),
        Trick::IdentityPoint => {
            deck[0] = Ciphertext { a: Point::identity(), b: deck[0].b };
        }
        _ => {
            let ShuffleProof::Staged(proof) = &mut shuffled.proof else {
                return None;
            };
            // Permutation proof: columns, chain, three announcements, announcements of the chain, three responses,
            // responses of the chain, permuted responses. Consistency proof: three announcements, two responses,
            // permuted responses.
            let points = 1 + 32 * deck.len();
            let (responses, consistency) = (3 * points + 96, 5 * points + 192);
            let places = [1, 1 + points, 2 * points, responses, consistency, consistency + 96, consistency + 160 + 1];
            let place = *dice.pick(&places);
            **proof = garbled(&**proof, place).or_else(|| garbled(&**proof, responses))?;
        }
    }
    shuffled.deck = deck.try_into().ok()?;
    Some(())
}

fn bad_escrow(trick: Trick, body: &mut Body, dice: &mut Dice) -> Option<()> {
    let parts = match body {
        Body::Escrow { parts, .. } => parts,
        _ => match part(body)? {
            Part::Escrow { parts, .. } => parts,
            _ => return None,
        },
    };
    let mut list = parts.to_vec();
    let last = list.len().checked_sub(1)?;
    let some = dice.below(u32::try_from(list.len()).unwrap()) as usize;
    match trick {
        Trick::EscrowSum if dice.chance(300) => list[some].point = Point::identity(),
        Trick::EscrowSum => list[some].point = doubled(list[some].point),
        Trick::EscrowPart => list[some].masked = list[(some + 1) % list.len()].masked,
        _ if dice.chance(500) => list.swap(0, last),
        _ => {
            list.pop();
        }
    }
    *parts = list.try_into().ok()?;
    Some(())
}

/// A complaint about an escrow part that does open, with a proof of its key.
fn false_complaint(body: &mut Body, scene: &Scene<'_>, dice: &mut Dice) -> Option<()> {
    let Body::Accept { complaints, .. } = body else {
        return None;
    };
    let replica: &Replica<AnyGame> = scene.table.replica();
    let me = scene.table.me();
    let secret = SecretKey::derive(scene.seed?, &replica.context(me));
    let owner = dice.seat(replica.live());
    let place = replica.holder_place(owner, me);
    let complaint = Complaint::make(scene.seed?, &place, &secret, replica.key(owner)?);
    *complaints = vec![(owner, complaint)].try_into().ok()?;
    Some(())
}
