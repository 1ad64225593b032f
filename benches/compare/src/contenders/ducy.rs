//! ducy-shuffle: commutative locks on Ristretto255, with a cut-and-choose proof.

use ducy_shuffle::{Masked, Secret, ShuffleProof, open_deck, shuffle_round};

use super::Contender;

const CONTEXT: &[u8] = b"bench";

pub fn contender() -> Contender {
    let mut rng = rand::rng();
    let (input, _) = shuffle_round(&open_deck(), &Secret::random(), &mut rng);
    let secret = Secret::random();
    let key = secret.public();
    let checked = input.clone();
    Contender {
        name: "ducy-shuffle",
        cards: input.len(),
        make: Box::new(move || {
            let (output, permutation) = shuffle_round(&input, &secret, &mut rng);
            let proof = ShuffleProof::prove(&secret, &permutation, &input, &output, CONTEXT, &mut rng);
            (output.iter().flat_map(Masked::to_bytes).collect(), proof.to_bytes())
        }),
        check: Box::new(move |(deck, proof)| {
            let output: Vec<Masked> =
                deck.as_chunks().0.iter().map(|bytes| Masked::from_bytes(bytes).unwrap()).collect();
            let proof = ShuffleProof::from_bytes(proof).unwrap();
            assert!(proof.verify(&key, &checked, &output, CONTEXT));
        }),
    }
}
