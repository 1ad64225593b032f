//! Escrow: every part opens, every share can be rebuilt, every fault is caught, and no honest seat is blamed.
//!
//! Over 600 lines: a test for each check.

use std::fmt::Write as _;

use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::*;
use crate::card::{DeckId, Face, Handle};
use crate::crypto::elgamal::{self, CardPoints};
use crate::crypto::seed::OpenedSeed;
use crate::crypto::share::{ShareError, SharePlace, ShareProof, share};
use crate::wire::codec::{decode, encode};

const STEP: u64 = 9;

fn seat(number: usize) -> Seat {
    Seat::new(number).unwrap()
}

/// A table of seats with their seeds and keys.
struct Table {
    seeds: BTreeMap<Seat, Seed>,
    secrets: BTreeMap<Seat, SecretKey>,
    keys: BTreeMap<Seat, Point>,
}

impl Table {
    fn new(seats: usize) -> Self {
        let mut rng = ChaCha20Rng::from_seed([8; 32]);
        let mut table = Self { seeds: BTreeMap::new(), secrets: BTreeMap::new(), keys: BTreeMap::new() };
        for seat in Seat::first(seats) {
            let seed = Seed::draw(&mut rng);
            let secret = SecretKey::derive(&seed, &escrow(seat));
            table.keys.insert(seat, secret.public());
            table.seeds.insert(seat, seed);
            table.secrets.insert(seat, secret);
        }
        table
    }

    fn others(&self, owner: Seat) -> BTreeMap<Seat, Point> {
        let mut others = self.keys.clone();
        others.remove(&owner);
        others
    }

    fn other_seats(&self, owner: Seat) -> SeatSet {
        self.others(owner).into_keys().collect()
    }

    fn split(&self, place: &Context) -> Parts {
        let owner = place.seat;
        split(&self.seeds[&owner], place, &self.secrets[&owner], &self.others(owner)).unwrap()
    }

    fn check(&self, owner: Seat, parts: &[Part]) -> Result<(), EscrowError> {
        check_public(parts, self.other_seats(owner), &self.keys[&owner])
    }

    fn open(&self, place: &Context, holder: Seat, parts: &[Part]) -> Result<SecretPart, PartError> {
        let key = &self.keys[&place.seat];
        open_part(place, holder, &self.secrets[&holder], key, parts)
    }

    fn complain(&self, place: &HolderPlace) -> Complaint {
        let owner_key = &self.keys[&place.owner.seat];
        let seed = &self.seeds[&place.holder];
        Complaint::make(seed, place, &self.secrets[&place.holder], owner_key)
    }

    fn judge(&self, complaint: &Complaint, place: &HolderPlace, parts: &[Part]) -> ComplaintRuling {
        let owner_key = &self.keys[&place.owner.seat];
        let holder_key = &self.keys[&place.holder];
        judge(complaint, place, owner_key, holder_key, parts)
    }
}

fn escrow(owner: Seat) -> Context {
    Context { table: Hash32([1; 32]), deal: 2, seat: owner }
}

fn held(owner: Context, holder: Seat) -> HolderPlace {
    HolderPlace { owner, holder, step: STEP }
}

/// Variants of the escrow context, each with one field changed.
fn other_escrows(place: Context) -> [Context; 3] {
    [Context { deal: 3, ..place }, Context { table: Hash32([2; 32]), ..place }, Context { seat: seat(4), ..place }]
}

/// Variants of the place, each with one field changed.
fn other_places(place: HolderPlace) -> Vec<HolderPlace> {
    other_escrows(place.owner)
        .into_iter()
        .map(|owner| HolderPlace { owner, ..place })
        .chain([HolderPlace { step: 10, ..place }, HolderPlace { holder: seat(5), ..place }])
        .collect()
}

/// Some cards sealed under the joint key of a table.
fn sealed(table: &Table, count: u8) -> (CardPoints, Vec<(Handle, Ciphertext)>) {
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    let joint: RistrettoPoint = table.keys.values().map(Point::as_point).sum();
    let points = CardPoints::new("test", (0..count).map(|n| (Face(n), n.to_string())));
    let cards = points
        .fresh()
        .iter()
        .zip(Handle::all(DeckId(0), usize::from(count)))
        .map(|(fresh, handle)| {
            let r = random_scalar(&mut rng);
            let card =
                Ciphertext { a: RistrettoPoint::mul_base(&r).into(), b: (fresh.b.as_point() + joint * r).into() };
            (handle, card)
        })
        .collect();
    (points, cards)
}

fn part_shares(part: &SecretPart, cards: &[(Handle, Ciphertext)]) -> Vec<ShareOf> {
    cards.iter().map(|(handle, card)| ShareOf { handle: *handle, card: *card, share: part.share(card) }).collect()
}

/// Variants of a proof, each with one of its three parts changed in the encoding.
fn tampered<T: Serialize + serde::de::DeserializeOwned>(value: &T, at: usize) -> Vec<T> {
    let bytes = encode(value);
    let other = *Point::from(RistrettoPoint::mul_base(&Scalar::from(5_u8))).as_bytes();
    let changed = |offset: usize, with: [u8; 32]| {
        let mut bytes = bytes.clone();
        bytes[at + offset..at + offset + 32].copy_from_slice(&with);
        decode(&bytes, 1000).unwrap()
    };
    vec![changed(0, other), changed(32, other), changed(64, Scalar::from(5_u8).to_bytes())]
}

//= P3.2
#[test]
fn parts_add_up_to_the_key_and_each_opens_for_its_holder() {
    let table = Table::new(6);
    for owner in table.keys.keys() {
        let place = escrow(*owner);
        let parts = table.split(&place);
        assert_eq!(table.check(*owner, &parts), Ok(()));
        let mut sum = Scalar::ZERO;
        for (holder, part) in table.other_seats(*owner).iter().zip(parts.iter()) {
            let opened = table.open(&place, holder, &parts).unwrap();
            assert_eq!(*opened.point(), part.point);
            sum += opened.scalar;
        }
        assert_eq!(sum, *table.secrets[owner].scalar());
    }
}

#[test]
fn the_opened_seed_gives_the_same_bytes() {
    let table = Table::new(4);
    let place = escrow(seat(1));
    let parts = table.split(&place);
    let opened = Seed::from_opened(table.seeds[&seat(1)].open());
    let again = split(&opened, &place, &SecretKey::derive(&opened, &place), &table.others(seat(1))).unwrap();
    assert_eq!(encode(&again), encode(&parts));
    // One byte for the length, 65 for each part.
    assert_eq!(encode(&parts).len(), 1 + 3 * 65);
}

/// No part and no mask is shared between two escrows.
//= P3.1
#[test]
fn other_holders_or_keys_give_other_parts_and_masks() {
    let table = Table::new(5);
    let owner = seat(2);
    let place = escrow(owner);
    let (seed, secret) = (&table.seeds[&owner], &table.secrets[&owner]);
    let others = table.others(owner);
    let mut fewer = others.clone();
    fewer.remove(&seat(0));
    let mut another = others;
    another.insert(seat(4), table.keys[&seat(0)]);
    let first = table.split(&place);
    for others in [&fewer, &another] {
        let parts = split(seed, &place, secret, others).unwrap();
        for part in parts.iter() {
            let before = part_for(&first, part.to).unwrap();
            assert_ne!(part.point, before.point);
            assert_ne!(part.masked, before.masked);
        }
    }
    let shared = shared_key(secret, &table.keys[&seat(3)]);
    let holders = table.other_seats(owner);
    let masked = mask(&place, holders, seat(3), &shared);
    for other in other_escrows(place) {
        assert_ne!(mask(&other, holders, seat(3), &shared), masked);
    }
    assert_ne!(mask(&place, holders, seat(4), &shared), masked);
    let fewer = holders.without(seat(0));
    assert_ne!(mask(&place, fewer, seat(3), &shared), masked);
    // The two directions between two seats share a key but not a mask.
    assert_ne!(mask(&escrow(seat(3)), holders, owner, &shared), masked);
}

#[test]
fn no_escrow_that_would_show_the_key() {
    let table = Table::new(2);
    let place = escrow(seat(0));
    let (seed, secret) = (&table.seeds[&seat(0)], &table.secrets[&seat(0)]);
    let none = BTreeMap::new();
    for (others, count) in [(&none, 0), (&table.others(seat(0)), 1)] {
        assert_eq!(split(seed, &place, secret, others), Err(EscrowError::TooFew { holders: count }));
    }
    let table = Table::new(3);
    assert_eq!(split(seed, &place, secret, &table.keys), Err(EscrowError::Seats));
    let parts = table.split(&place);
    let one = SeatSet::one(seat(1));
    assert_eq!(check_public(&parts[..1], one, &table.keys[&seat(0)]), Err(EscrowError::TooFew { holders: 1 }));
}

#[test]
fn lists_for_other_seats_are_refused() {
    let table = Table::new(4);
    let owner = seat(1);
    let parts = table.split(&escrow(owner)).into_inner();
    let refused = |parts: &[Part]| assert_eq!(table.check(owner, parts), Err(EscrowError::Seats));
    refused(&[]);
    refused(&parts[1..]);
    refused(&[parts[0], parts[2], parts[1]]);
    refused(&[parts[0], parts[0], parts[2]]);
    let mut own = parts.clone();
    own[0].to = owner;
    refused(&own);
    let mut gone = parts.clone();
    gone[2].to = seat(4);
    refused(&gone);
    let mut more = parts;
    more.push(more[0]);
    refused(&more);
}

#[test]
fn parts_that_are_nothing_or_do_not_add_up_are_refused() {
    let table = Table::new(4);
    let owner = seat(0);
    let parts = table.split(&escrow(owner)).into_inner();
    let mut nothing = parts.clone();
    nothing[2].point = (nothing[1].point.as_point() + nothing[2].point.as_point()).into();
    nothing[1].point = Point::identity();
    assert_eq!(table.check(owner, &nothing), Err(EscrowError::Identity { to: seat(2) }));
    let mut wrong = parts.clone();
    wrong[0].point = wrong[1].point;
    assert_eq!(table.check(owner, &wrong), Err(EscrowError::Sum));
    assert_eq!(check_public(&parts, table.other_seats(owner), &table.keys[&seat(1)]), Err(EscrowError::Sum));
}

/// All of these pass the public checks; only the holders can detect them.
#[test]
fn bad_parts_are_seen_by_their_holders() {
    let table = Table::new(5);
    let owner = seat(0);
    let place = escrow(owner);
    let honest = table.split(&place).into_inner();
    let wrong = |parts: &[Part], holders: &[usize]| {
        assert_eq!(table.check(owner, parts), Ok(()));
        for part in parts {
            let holder = part.to;
            let is_wrong = holders.contains(&holder.index());
            match table.open(&place, holder, parts) {
                Ok(_) => assert!(!is_wrong, "{holder}"),
                Err(error) => {
                    assert_eq!(error, PartError::Wrong { holder });
                    assert!(is_wrong, "{holder}");
                }
            }
        }
    };
    wrong(&honest, &[]);
    let mut swapped = honest.clone();
    (swapped[0].masked, swapped[1].masked) = (swapped[1].masked, swapped[0].masked);
    wrong(&swapped, &[1, 2]);
    let mut swapped = honest.clone();
    (swapped[0].to, swapped[1].to) = (swapped[1].to, swapped[0].to);
    swapped.swap(0, 1);
    wrong(&swapped, &[1, 2]);
    let mut shifted = honest.clone();
    let q = RistrettoPoint::mul_base(&Scalar::from(3_u8));
    shifted[0].point = (shifted[0].point.as_point() + q).into();
    shifted[3].point = (shifted[3].point.as_point() - q).into();
    wrong(&shifted, &[1, 4]);
    let mut changed = honest.clone();
    changed[2].masked.0 += Scalar::ONE;
    wrong(&changed, &[3]);
    // Masked for another seat, and for another list of holders.
    let key = |holder| shared_key(&table.secrets[&owner], &table.keys[&holder]);
    let holders = table.other_seats(owner);
    let part = honest[2].masked.0 - mask(&place, holders, seat(3), &key(seat(3)));
    let mut misled = honest.clone();
    misled[2].masked.0 = part + mask(&place, holders, seat(4), &key(seat(4)));
    wrong(&misled, &[3]);
    let mut fewer = honest.clone();
    let left = holders.without(seat(1));
    fewer[2].masked.0 = part + mask(&place, left, seat(3), &key(seat(3)));
    wrong(&fewer, &[3]);
    // A point whose logarithm the owner does not know: the holder's own key.
    let mut copied = honest;
    let (own, both) = (*table.keys[&seat(1)].as_point(), copied[0].point.as_point() + copied[1].point.as_point());
    copied[0].point = own.into();
    copied[1].point = (both - own).into();
    wrong(&copied, &[1, 2]);
}

#[test]
fn a_part_opens_in_its_own_escrow_alone() {
    let table = Table::new(6);
    let place = escrow(seat(0));
    let parts = table.split(&place);
    let holder = seat(2);
    let secret = &table.secrets[&holder];
    let open = |place: &Context, holder, secret: &SecretKey, key: &Point| {
        open_part(place, holder, secret, key, &parts).is_ok()
    };
    assert!(open(&place, holder, secret, &table.keys[&seat(0)]));
    for other in other_escrows(place) {
        assert!(!open(&other, holder, secret, &table.keys[&seat(0)]));
    }
    assert!(!open(&place, holder, secret, &table.keys[&seat(1)]));
    let another = &table.secrets[&seat(3)];
    assert!(!open(&place, holder, another, &table.keys[&seat(0)]));
    assert_eq!(table.open(&place, seat(0), &parts).map(|_| ()), Err(PartError::Missing { holder: seat(0) }));
}

#[test]
fn complaint_names_the_seat_at_fault() {
    let table = Table::new(4);
    let (owner, holder) = (seat(1), seat(3));
    let place = held(escrow(owner), holder);
    let parts = table.split(&place.owner).into_inner();
    let complaint = table.complain(&place);
    assert_eq!(complaint, table.complain(&place));
    assert_eq!(encode(&complaint).len(), 128);

    let verdict = table.judge(&complaint, &place, &parts);
    assert_eq!(verdict, ComplaintRuling::Unfounded);
    assert_eq!(verdict.guilty(&place), holder);

    let mut bad = parts.clone();
    bad[2].masked.0 += Scalar::ONE;
    let verdict = table.judge(&complaint, &place, &bad);
    assert_eq!(verdict, ComplaintRuling::BadPart);
    assert_eq!(verdict.guilty(&place), owner);

    // A seat that is not in the list has nothing to complain about.
    assert_eq!(table.judge(&complaint, &place, &parts[..2]), ComplaintRuling::Unfounded);
    // Another seat's bad part does not justify this complaint.
    let mut elsewhere = parts;
    elsewhere[0].masked.0 += Scalar::ONE;
    assert_eq!(table.judge(&complaint, &place, &elsewhere), ComplaintRuling::Unfounded);
}

#[test]
fn a_complaint_without_its_proof_counts_against_its_maker() {
    let table = Table::new(6);
    let (owner, holder) = (seat(1), seat(3));
    let place = held(escrow(owner), holder);
    let mut parts = table.split(&place.owner).into_inner();
    // The owner is at fault as well, but nobody can know without a proof.
    parts[2].masked.0 += Scalar::ONE;
    let complaint = table.complain(&place);
    let (owner_key, holder_key) = (&table.keys[&owner], &table.keys[&holder]);
    let refused = |complaint: &Complaint, place: &HolderPlace, owner_key, holder_key| {
        let verdict = judge(complaint, place, owner_key, holder_key, &parts);
        assert_eq!(verdict, ComplaintRuling::BadProof);
        assert_eq!(verdict.guilty(place), place.holder);
    };
    for other in other_places(place) {
        refused(&complaint, &other, owner_key, holder_key);
    }
    refused(&complaint, &place, &table.keys[&seat(0)], holder_key);
    refused(&complaint, &place, owner_key, &table.keys[&seat(0)]);
    for tampered in tampered(&complaint, 32) {
        refused(&tampered, &place, owner_key, holder_key);
    }
    let shared_with = |other: usize| table.complain(&held(escrow(seat(other)), holder)).shared;
    for shared in [
        Point::identity(),
        shared_with(0),
        *owner_key,
        (complaint.shared.as_point() + complaint.shared.as_point()).into(),
    ] {
        let wrong = Complaint { shared, ..complaint.clone() };
        refused(&wrong, &place, owner_key, holder_key);
        // A proof for the wrong key, built as well as possible.
        let proof = EqualityProof::prove(
            &table.seeds[&holder],
            &place.context(),
            domain::purpose::COMPLAINT_PROOF,
            complaint_transcript(&place, owner_key, holder_key, &shared),
            table.secrets[&holder].scalar(),
            owner_key.as_point(),
        );
        refused(&Complaint { shared, proof }, &place, owner_key, holder_key);
    }
}

/// If the challenge did not depend on the claimed key, a cheater could fit the key to the proof:
/// \\(K' = (sX_i - T_2)/c\\) for any \\(T_2\\).
#[test]
fn no_shared_key_can_be_fitted_to_its_proof() {
    let table = Table::new(3);
    let (owner, holder) = (seat(0), seat(1));
    let place = held(escrow(owner), holder);
    let parts = table.split(&place.owner);
    let (owner_key, holder_key) = (&table.keys[&owner], &table.keys[&holder]);
    let nonce = Scalar::from(11_u8);
    let announcements =
        [Point::from(RistrettoPoint::mul_base(&nonce)), Point::from(RistrettoPoint::mul_base(&Scalar::from(13_u8)))];
    let claimed = table.complain(&place).shared;
    let mut transcript = complaint_transcript(&place, owner_key, holder_key, &claimed);
    for point in &announcements {
        transcript.append_message(domain::proof::ANNOUNCE, point.as_bytes());
    }
    let mut wide = [0; 64];
    transcript.challenge_bytes(domain::proof::CHALLENGE, &mut wide);
    let c = Scalar::from_bytes_mod_order_wide(&wide);
    let s = nonce + c * table.secrets[&holder].scalar();
    let fitted = (owner_key.as_point() * s - announcements[1].as_point()) * c.invert();
    let bytes = encode(&(Point::from(fitted), announcements, Response(s)));
    let complaint: Complaint = decode(&bytes, 128).unwrap();
    assert_eq!(table.judge(&complaint, &place, &parts), ComplaintRuling::BadProof);
}

/// One complaint opens the parts in both directions, as the module docs warn.
//= P3.3
#[test]
fn a_complaint_shows_both_parts() {
    let table = Table::new(4);
    let (one, two) = (seat(0), seat(2));
    let shared = table.complain(&held(escrow(one), two)).shared;
    for (owner, holder) in [(one, two), (two, one)] {
        let place = escrow(owner);
        let parts = table.split(&place);
        let part = part_for(&parts, holder).unwrap();
        let shown = unmask(&place, &parts, part, shared.as_bytes()).unwrap();
        assert_eq!(shown.scalar, table.open(&place, holder, &parts).unwrap().scalar);
    }
    let place = escrow(one);
    let parts = table.split(&place);
    let other = part_for(&parts, seat(1)).unwrap();
    assert!(unmask(&place, &parts, other, shared.as_bytes()).is_none());
}

#[test]
fn rebuilt_shares_open_the_cards() {
    let table = Table::new(4);
    let owner = seat(2);
    let place = escrow(owner);
    let parts = table.split(&place);
    let (points, cards) = sealed(&table, 5);
    let mut shares: Vec<BTreeMap<Seat, Point>> = vec![BTreeMap::new(); cards.len()];
    for holder in table.other_seats(owner).iter() {
        assert!(shares.iter().all(|card| combine(&parts, card).is_none()));
        let place = held(place, holder);
        let part = table.open(&place.owner, holder, &parts).unwrap();
        let list = part_shares(&part, &cards);
        let proof = PartProof::prove(&table.seeds[&holder], &place, &part, &list);
        assert_eq!(proof.verify(&place, &parts, &list), Ok(()));
        assert_eq!(encode(&proof).len(), 96);
        for (card, of) in shares.iter_mut().zip(&list) {
            card.insert(holder, of.share);
        }
    }
    for ((n, (_, card)), parts_of) in (0_u8..).zip(&cards).zip(&shares) {
        let rebuilt = combine(&parts, parts_of).unwrap();
        assert_eq!(rebuilt, share(&table.secrets[&owner], card));
        let own: Vec<Point> = table.other_seats(owner).iter().map(|seat| share(&table.secrets[&seat], card)).collect();
        let opened = elgamal::open(card, own.iter().chain([&rebuilt]));
        assert_eq!(points.face(&opened), Some(Face(n)));
    }
}

/// A holder's part of one escrow, with its proof for five cards.
struct Holding {
    table: Table,
    place: HolderPlace,
    parts: Vec<Part>,
    part: SecretPart,
    shares: Vec<ShareOf>,
    proof: PartProof,
}

impl Holding {
    fn new() -> Self {
        let table = Table::new(6);
        let place = held(escrow(seat(1)), seat(3));
        let parts = table.split(&place.owner).into_inner();
        let part = table.open(&place.owner, place.holder, &parts).unwrap();
        let shares = part_shares(&part, &sealed(&table, 5).1);
        let proof = PartProof::prove(&table.seeds[&place.holder], &place, &part, &shares);
        Self { table, place, parts, part, shares, proof }
    }

    fn seed(&self) -> &Seed {
        &self.table.seeds[&self.place.holder]
    }
}

#[test]
fn a_part_proof_holds_for_its_shares_and_place_alone() {
    let Holding { place, parts, shares, proof, .. } = Holding::new();
    assert_eq!(proof.verify(&place, &parts, &shares), Ok(()));
    let refused = |proof: &PartProof, place: &HolderPlace, parts: &[Part], shares: &[ShareOf]| {
        assert_eq!(proof.verify(place, parts, shares), Err(PartProofError));
    };
    for other in other_places(place) {
        // Refused even if that escrow had the same part for that seat.
        let mut same = parts.clone();
        for part in &mut same {
            part.point = part_for(&parts, place.holder).unwrap().point;
        }
        same[0].to = other.holder;
        refused(&proof, &other, &same, &shares);
    }
    refused(&proof, &place, &parts[..1], &shares);
    refused(&proof, &place, &parts, &shares[1..]);
    refused(&proof, &place, &parts, &[]);
    let mut moved = shares.clone();
    moved[0].handle.position = 7;
    refused(&proof, &place, &parts, &moved);
    let mut swapped = shares.clone();
    swapped.swap(0, 1);
    refused(&proof, &place, &parts, &swapped);
    for tampered in tampered(&proof, 0) {
        refused(&tampered, &place, &parts, &shares);
    }
}

/// With weights of one, errors +Q and −Q in two shares would cancel.
#[test]
fn wrong_part_shares_do_not_cancel() {
    let holding = Holding::new();
    let mut shares = holding.shares.clone();
    let q = *holding.part.point().as_point();
    shares[0].share = (shares[0].share.as_point() + q).into();
    shares[1].share = (shares[1].share.as_point() - q).into();
    let proof = PartProof::prove(holding.seed(), &holding.place, &holding.part, &shares);
    assert_eq!(proof.verify(&holding.place, &holding.parts, &shares), Err(PartProofError));
}

#[test]
fn part_shares_made_with_anything_else_are_refused() {
    let holding = Holding::new();
    let Holding { table, place, parts, .. } = &holding;
    let cards = sealed(table, 5).1;
    let refused = |part: &SecretPart, shares: &[ShareOf]| {
        let proof = PartProof::prove(holding.seed(), place, part, shares);
        assert_eq!(proof.verify(place, parts, shares), Err(PartProofError), "{part:?}");
    };
    // Another seat's part, and a part from another deal's escrow.
    let another = table.open(&place.owner, seat(4), parts).unwrap();
    refused(&another, &part_shares(&another, &cards));
    let next = Context { deal: 3, ..escrow(seat(1)) };
    let next_part = table.open(&next, place.holder, &table.split(&next)).unwrap();
    refused(&next_part, &part_shares(&next_part, &cards));
    // One share of five.
    let mut one = holding.shares.clone();
    one[2].share = another.share(&one[2].card);
    refused(&holding.part, &one);
}

/// Both kinds of proof over the same group elements: only the label tells them apart.
#[test]
fn share_proofs_and_part_proofs_do_not_stand_for_each_other() {
    let holding = Holding::new();
    let Holding { table, place, parts, shares, proof, .. } = &holding;
    let share_place = SharePlace { context: place.context(), step: place.step };
    let as_share: ShareProof = decode(&encode(proof), 96).unwrap();
    assert_eq!(as_share.verify(&share_place, holding.part.point(), shares), Err(ShareError));

    // An owner that publishes the holder's own key as a part.
    let holder_key = table.keys[&place.holder];
    let mut named = parts.clone();
    named[2].point = holder_key;
    let secret = &table.secrets[&place.holder];
    let own: Vec<ShareOf> = shares.iter().map(|of| ShareOf { share: share(secret, &of.card), ..*of }).collect();
    let own_proof = ShareProof::prove(holding.seed(), &share_place, secret, &holder_key, &own);
    assert_eq!(own_proof.verify(&share_place, &holder_key, &own), Ok(()));
    let as_part: PartProof = decode(&encode(&own_proof), 96).unwrap();
    assert_eq!(as_part.verify(place, &named, &own), Err(PartProofError));
    // The proof in a complaint is no part proof either.
    let in_complaint: PartProof = decode(&encode(&table.complain(place).proof), 96).unwrap();
    assert_eq!(in_complaint.verify(place, &named, &own), Err(PartProofError));
}

#[test]
fn a_secret_part_is_not_printed() {
    assert_eq!(format!("{:?}", Holding::new().part), "SecretPart(secret)");
}

#[test]
fn six_parts_are_more_than_any_key_has() {
    let parts = Table::new(6).split(&escrow(seat(0))).into_inner();
    let six = [parts.clone(), vec![parts[0]]].concat();
    assert!(decode::<Parts>(&encode(&parts), 1000).is_ok());
    assert!(decode::<Parts>(&encode(&six), 1000).is_err());
}

/// Ways an owner can cheat with its parts.
#[derive(Clone, Copy, Debug)]
enum Spoil {
    Nothing,
    Mask(usize),
    SwapMasks(usize, usize),
    Shift(usize, usize),
    OtherDeal(usize),
}

/// Ways a holder can cheat with a complaint.
#[derive(Clone, Copy, Debug)]
enum Grumble {
    /// A valid proof, whatever the part is.
    True,
    /// A proof made for another place.
    Moved,
    /// A proof for a different key than the one claimed.
    OtherKey,
    Tampered(usize),
}

fn spoils() -> impl Strategy<Value = Spoil> {
    let index = 0..5_usize;
    prop_oneof![
        Just(Spoil::Nothing),
        index.clone().prop_map(Spoil::Mask),
        (index.clone(), index.clone()).prop_map(|(a, b)| Spoil::SwapMasks(a, b)),
        (index.clone(), index.clone()).prop_map(|(a, b)| Spoil::Shift(a, b)),
        index.prop_map(Spoil::OtherDeal),
    ]
}

fn grumbles() -> impl Strategy<Value = Grumble> {
    prop_oneof![
        Just(Grumble::True),
        Just(Grumble::Moved),
        Just(Grumble::OtherKey),
        (0..3_usize).prop_map(Grumble::Tampered),
    ]
}

fn spoil(table: &Table, place: &Context, spoil: Spoil) -> Vec<Part> {
    let mut parts = table.split(place).into_inner();
    let count = parts.len();
    match spoil {
        Spoil::Nothing => {}
        Spoil::Mask(at) => parts[at % count].masked.0 += Scalar::from(2_u8),
        Spoil::SwapMasks(a, b) => {
            let (a, b) = (a % count, b % count);
            (parts[a].masked, parts[b].masked) = (parts[b].masked, parts[a].masked);
        }
        Spoil::Shift(a, b) => {
            let q = RistrettoPoint::mul_base(&Scalar::from(3_u8));
            parts[a % count].point = (parts[a % count].point.as_point() + q).into();
            parts[b % count].point = (parts[b % count].point.as_point() - q).into();
        }
        Spoil::OtherDeal(at) => {
            let next = Context { deal: 3, ..*place };
            parts[at % count].masked = table.split(&next)[at % count].masked;
        }
    }
    parts
}

fn grumble(table: &Table, place: &HolderPlace, grumble: Grumble) -> Complaint {
    let honest = table.complain(place);
    match grumble {
        Grumble::True => honest,
        Grumble::Moved => table.complain(&HolderPlace { step: place.step + 1, ..*place }),
        Grumble::OtherKey => {
            Complaint { shared: (honest.shared.as_point() + table.keys[&place.holder].as_point()).into(), ..honest }
        }
        Grumble::Tampered(which) => tampered(&honest, 32).swap_remove(which),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_others_rebuild_every_share(
        others in 2..=5_usize,
        owner in 0..6_usize,
        r in any::<[u8; 32]>(),
    ) {
        let table = Table::new(others + 1);
        let owner = seat(owner % (others + 1));
        let place = escrow(owner);
        let parts = table.split(&place);
        prop_assert_eq!(table.check(owner, &parts), Ok(()));
        let a = Point::from(RistrettoPoint::mul_base(&Scalar::from_bytes_mod_order(r)));
        let card = Ciphertext { a, b: a };
        let handle = Handle { deck: DeckId(4), position: 5 };
        let mut shares = BTreeMap::new();
        for holder in table.other_seats(owner).iter() {
            prop_assert!(combine(&parts, &shares).is_none());
            let place = held(place, holder);
            let part = table.open(&place.owner, holder, &parts).unwrap();
            let list = part_shares(&part, &[(handle, card)]);
            let proof = PartProof::prove(&table.seeds[&holder], &place, &part, &list);
            prop_assert_eq!(proof.verify(&place, &parts, &list), Ok(()));
            shares.insert(holder, list[0].share);
        }
        let rebuilt = combine(&parts, &shares);
        prop_assert_eq!(rebuilt, Some(share(&table.secrets[&owner], &card)));
    }

    #[test]
    fn no_honest_seat_is_found_guilty(
        others in 2..=5_usize,
        owner in 0..6_usize,
        spoiled in spoils(),
        grumbled in grumbles(),
    ) {
        let table = Table::new(others + 1);
        let owner = seat(owner % (others + 1));
        let place = escrow(owner);
        let honest = table.split(&place);
        let parts = spoil(&table, &place, spoiled);
        // Peers refuse what fails the public checks before anyone complains.
        prop_assume!(table.check(owner, &parts).is_ok());
        for holder in table.other_seats(owner).iter() {
            let place = held(place, holder);
            // An honest holder complains exactly if its part does not open.
            if table.open(&place.owner, holder, &parts).is_err() {
                let complaint = table.complain(&place);
                let guilty = table.judge(&complaint, &place, &parts).guilty(&place);
                prop_assert_eq!(guilty, owner);
            }
            // Any complaint against an honest owner counts against the holder.
            let complaint = grumble(&table, &place, grumbled);
            let guilty = table.judge(&complaint, &place, &honest).guilty(&place);
            prop_assert_eq!(guilty, holder);
        }
    }
}

/// Changing any line changes the wire format and requires a new version of the label.
#[test]
fn vectors() {
    let seed = |number: u8| Seed::from_opened(OpenedSeed([number; 32]));
    let place = escrow(seat(1));
    let secret = |number: u8| {
        let context = Context { seat: seat(usize::from(number)), ..place };
        SecretKey::derive(&seed(number), &context)
    };
    let others: BTreeMap<Seat, Point> =
        [0_u8, 2, 4].into_iter().map(|number| (seat(usize::from(number)), secret(number).public())).collect();
    let mut text = String::new();
    let mut line = |name: &str, bytes: &[u8]| {
        let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        let _ = writeln!(text, "{name}: {hex}");
    };
    let owner_key = secret(1).public();
    line("owner's key", owner_key.as_bytes());
    for (seat, key) in &others {
        line(&format!("key of {seat}"), key.as_bytes());
    }
    line("derivation", derivation(&others).as_bytes());
    let parts = split(&seed(1), &place, &secret(1), &others).unwrap();
    for part in parts.iter() {
        line(&format!("X for {}", part.to), part.point.as_bytes());
        line(&format!("y for {}", part.to), part.masked.0.as_bytes());
    }
    line("parts", &encode(&parts));
    let place = held(place, seat(4));
    let complaint = Complaint::make(&seed(4), &place, &secret(4), &owner_key);
    line("complaint of seat 4", &encode(&complaint));
    let part = open_part(&place.owner, seat(4), &secret(4), &owner_key, &parts).unwrap();
    line("x for seat 4", part.scalar.as_bytes());
    let points = CardPoints::new("drill", (0..2).map(|n| (Face(n), format!("card-{n}"))));
    let cards: Vec<(Handle, Ciphertext)> = points
        .fresh()
        .iter()
        .zip(Handle::all(DeckId(3), 2))
        .map(|(fresh, handle)| {
            let card = Ciphertext { a: fresh.b, b: fresh.b };
            (handle, card)
        })
        .collect();
    let shares = part_shares(&part, &cards);
    for of in &shares {
        line("part share", of.share.as_bytes());
    }
    let proof = PartProof::prove(&seed(4), &place, &part, &shares);
    line("part proof", &encode(&proof));
    insta::assert_snapshot!(text);
}
