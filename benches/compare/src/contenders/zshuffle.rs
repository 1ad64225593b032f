//! zshuffle: a PLONK circuit over BN254, whose parameters come with the crate for 48, 52 and 54 cards.

use ark_serialize_zypher::{CanonicalDeserialize, CanonicalSerialize};
use rand_chacha_03::ChaChaRng;
use rand_chacha_03::rand_core::SeedableRng;
use zshuffle::MaskedCard;
use zshuffle::build_cs::{ShuffleProof, TurboCS, prove_shuffle, verify_shuffle};
use zshuffle::gen_params::{gen_shuffle_prover_params, get_shuffle_verifier_params, refresh_prover_params_public_key};
use zshuffle::keygen::{Keypair, aggregate_keys};

use super::Contender;

pub fn contender(cards: usize) -> Contender {
    let mut rng = ChaChaRng::from_seed(rand::random());
    let key = aggregate_keys(&[Keypair::generate(&mut rng).public]).unwrap();
    let input: Vec<MaskedCard> = (0..cards).map(|_| MaskedCard::rand(&mut rng)).collect();
    let mut prover = gen_shuffle_prover_params(cards).unwrap();
    refresh_prover_params_public_key(&mut prover, &key).unwrap();
    let mut verifier = get_shuffle_verifier_params(cards).unwrap();
    verifier.verifier_params = prover.prover_params.verifier_params.clone();
    let checked = input.clone();
    Contender {
        name: "zshuffle",
        cards,
        make: Box::new(move || {
            let (proof, output) = prove_shuffle(&mut rng, &key, &input, &prover).unwrap();
            let mut deck = Vec::new();
            for card in &output {
                (card.e1, card.e2).serialize_compressed(&mut deck).unwrap();
            }
            (deck, proof.to_bytes_be())
        }),
        check: Box::new(move |(deck, proof)| {
            let mut deck = deck.as_slice();
            let mut output = Vec::new();
            while !deck.is_empty() {
                let (e1, e2) = CanonicalDeserialize::deserialize_compressed(&mut deck).unwrap();
                output.push(MaskedCard::new(e1, e2));
            }
            let proof = ShuffleProof::from_bytes_be::<TurboCS>(proof).unwrap();
            verify_shuffle(&verifier, &checked, &output, &proof).unwrap();
        }),
    }
}
