//! ziffle: Bayer–Groth over secp256k1, in one row.

use ark_serialize_05::{CanonicalDeserialize, CanonicalSerialize};
use ark_std_05::rand::SeedableRng;
use ark_std_05::rand::rngs::StdRng;
use ziffle::{AggregatePublicKey, MaskedDeck, Shuffle, ShuffleProof};

use super::Contender;

const CONTEXT: &[u8] = b"bench";

fn bytes(value: &impl CanonicalSerialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.serialize_compressed(&mut bytes).unwrap();
    bytes
}

pub fn contender<const N: usize>() -> Contender {
    let mut rng = StdRng::from_seed(rand::random());
    let shuffle = Shuffle::<N>::default();
    let (_, key, proof) = shuffle.keygen(&mut rng, CONTEXT);
    let key = AggregatePublicKey::new(&[proof.verify(key, CONTEXT).unwrap()]);
    let (deck, proof) = shuffle.shuffle_initial_deck(&mut rng, key, CONTEXT);
    let input = shuffle.verify_initial_shuffle(key, deck, proof, CONTEXT).unwrap();
    Contender {
        name: "ziffle",
        cards: N,
        // Its maker checks its own proof before it returns it.
        make: Box::new(move || {
            let (deck, proof) = shuffle.shuffle_deck(&mut rng, key, &input, CONTEXT);
            (bytes(&deck), bytes(&proof))
        }),
        check: Box::new(move |(deck, proof)| {
            let deck = MaskedDeck::<N>::deserialize_compressed(deck.as_slice()).unwrap();
            let proof = ShuffleProof::<N>::deserialize_compressed(proof.as_slice()).unwrap();
            shuffle.verify_shuffle(key, &input, deck, proof, CONTEXT).unwrap();
        }),
    }
}
