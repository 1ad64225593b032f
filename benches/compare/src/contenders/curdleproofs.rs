//! curdleproofs: a shuffle argument over BLS12-381, made for elections of leaders and not for cards.
//!
//! It proves that pairs of points were permuted and multiplied by one secret. Its sizes are powers of two less four. Its
//! proofs have no bytes in this release, so the checker gets them as they are.

use std::cell::RefCell;
use std::rc::Rc;

use ark_bls12_381::{Fr, G1Affine, G1Projective};
use ark_ec_03::ProjectiveCurve;
use ark_serialize_03::{CanonicalDeserialize, CanonicalSerialize};
use ark_std_03::UniformRand;
use ark_std_03::rand::SeedableRng;
use ark_std_03::rand::rngs::StdRng;
use ark_std_03::rand::seq::SliceRandom;
use curdleproofs::curdleproofs::{CurdleproofsProof, generate_crs};
use curdleproofs::util::shuffle_permute_and_commit_input;

use super::Contender;

pub fn contender(cards: usize) -> Contender {
    let mut rng = StdRng::from_seed(rand::random());
    let crs = generate_crs(cards);
    let checked_crs = generate_crs(cards);
    let mut points = || -> Vec<G1Affine> {
        let points = (0..cards).map(|_| G1Projective::rand(&mut rng).into_affine());
        points.collect()
    };
    let (r, s) = (points(), points());
    let (checked_r, checked_s) = (r.clone(), s.clone());
    let made = Rc::new(RefCell::new(None));
    let received = Rc::clone(&made);
    let mut checker = StdRng::from_seed(rand::random());
    Contender {
        name: "curdleproofs",
        cards,
        make: Box::new(move || {
            let mut permutation: Vec<u32> = (0..).take(cards).collect();
            permutation.shuffle(&mut rng);
            let k = Fr::rand(&mut rng);
            let (t, u, m, blinders) = shuffle_permute_and_commit_input(&crs, &r, &s, &permutation, &k, &mut rng);
            let mut deck = Vec::new();
            (t.clone(), u.clone(), m).serialize(&mut deck).unwrap();
            let (r, s) = (r.clone(), s.clone());
            let proof = CurdleproofsProof::new(&crs, r, s, t, u, m, permutation, k, blinders, &mut rng);
            *made.borrow_mut() = Some(proof);
            (deck, Vec::new())
        }),
        check: Box::new(move |(deck, _)| {
            type Deck = (Vec<G1Affine>, Vec<G1Affine>, G1Projective);
            let (t, u, m) = Deck::deserialize(deck.as_slice()).unwrap();
            let proof = received.borrow();
            let proof = proof.as_ref().unwrap();
            let verified = proof.verify(&checked_crs, &checked_r, &checked_s, &t, &u, &m, &mut checker);
            assert!(verified.is_ok());
        }),
    }
}
