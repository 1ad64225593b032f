//! distributed-cards: commutative exponents modulo the product of the players' primes, without a proof.
//!
//! Making is both of its phases: all cards under one key and shuffled, then each under its own key. Checking is what the
//! others can do after the game, with all keys. Two players bring a prime of 512 bits each, as in its documentation.

use std::cell::RefCell;
use std::rc::Rc;

use distributed_cards::{BigUint, Deck, EncryptedDeck, Prime, RsaParameter};
use rand_08::rngs::OsRng;
use uuid::Uuid;

use super::Contender;

fn bytes(deck: &EncryptedDeck, size: usize) -> Vec<u8> {
    let card = |card: &BigUint| {
        let bytes = card.to_bytes_be();
        [vec![0; size - bytes.len()], bytes].concat()
    };
    deck.get_cards().iter().flat_map(card).collect()
}

pub fn contender(cards: u32) -> Contender {
    let mut rng = OsRng;
    let parameter = RsaParameter::from_primes(&[Prime::random(512, &mut rng), Prime::random(512, &mut rng)]);
    let size = parameter.n().to_bytes_be().len();
    let (input, _) = Deck::new(cards, Uuid::from_u128(rand::random())).shuffle_encrypt(&parameter, &mut rng);
    let keys = Rc::new(RefCell::new(None));
    let (revealed, checked) = (Rc::clone(&keys), input.clone());
    Contender {
        name: "distributed-cards",
        cards: usize::try_from(cards).unwrap(),
        make: Box::new(move || {
            let (shuffled, key) = input.shuffle_encrypt(&parameter, &mut rng);
            let (locked, card_keys) = shuffled.encrypt_card_specific(&key, &parameter);
            *keys.borrow_mut() = Some((key, card_keys));
            ([bytes(&shuffled, size), bytes(&locked, size)].concat(), Vec::new())
        }),
        check: Box::new(move |(deck, _)| {
            let decks: Vec<BigUint> = deck.chunks(size).map(BigUint::from_bytes_be).collect();
            let (shuffled, locked) = decks.split_at(decks.len() / 2);
            let shuffled = EncryptedDeck::from_biguints(shuffled.to_vec());
            let locked = EncryptedDeck::from_biguints(locked.to_vec());
            let revealed = revealed.borrow();
            let (key, card_keys) = revealed.as_ref().unwrap();
            assert!(checked.is_shuffle_encrypt_valid(key, &shuffled));
            assert!(shuffled.is_encrypt_card_specific_valid(key, &locked, card_keys));
        }),
    }
}
