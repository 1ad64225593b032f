//! A table as one seat knows it, as text: for programs that search with the referee.
//!
//! It holds the game's public state, the faces of sealed cards that the seat knows, and which faces were shuffled into
//! each deck: what the seat has seen, and nothing else. Only this version of fairdeal reads the text. A checksum rejects
//! anything else, because the engines are not written for states that play cannot reach.

use data_encoding::BASE64URL_NOPAD;
use fairdeal_protocol::card::{DeckId, Face, Faces, Handle, Slot};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::wire::codec::{decode, encode};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::any::AnyGame;
use crate::interface::TableGame as _;

/// The beginning of the bytes that the checksum covers.
const LABEL: &str = concat!("fairdeal/position/1/", env!("CARGO_PKG_VERSION"));
/// Bytes of the checksum.
const CHECKSUM: usize = 8;
/// The largest state, in bytes; one of Houses of Thoth for five has about a tenth of it.
const LONGEST: usize = 16 << 10;

/// Why a text is no position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'position' must come from a table of this fairdeal version")]
pub struct PositionError;

/// A table as one seat knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Position {
    pub game: AnyGame,
    pub seat: Seat,
    /// The seat's overlay.
    pub known: Faces,
}

/// The parts of the text.
#[derive(Serialize, Deserialize)]
struct Stored {
    game: AnyGame,
    seat: Seat,
    known: Vec<(Handle, Face)>,
    /// By deck.
    shuffled: Vec<Vec<Face>>,
}

impl Position {
    /// A table as text. `None` if the game's state has faces that nobody has seen: those of a daily deal.
    pub fn text(game: &AnyGame, seat: Seat, known: &Faces) -> Option<String> {
        if matches!(game, AnyGame::Ivory(ivory) if ivory.daily().is_some()) {
            return None;
        }
        // Cards that have left the game are known too, but nothing depends on them.
        let known_in_play = |(slot, _)| match slot {
            Slot::Sealed(card) => Some((card, known.get(card)?)),
            Slot::Open(_) => None,
        };
        let decks = (0..u16::MAX).map(|deck| known.shuffled(DeckId(deck)).to_vec());
        let state = encode(&Stored {
            game: game.clone(),
            seat,
            known: game.cards().into_iter().filter_map(known_in_play).collect(),
            shuffled: decks.take_while(|faces| !faces.is_empty()).collect(),
        });
        let bytes = [&checksum(&state)[..], &state].concat();
        Some(BASE64URL_NOPAD.encode(&bytes))
    }

    /// Reads a text.
    ///
    /// # Errors
    /// [`PositionError`] if [`Self::text`] of this version did not write it.
    pub fn from_text(text: &str) -> Result<Self, PositionError> {
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| PositionError)?;
        let (sum, state) = bytes.split_at_checked(CHECKSUM).ok_or(PositionError)?;
        if *sum != checksum(state) {
            return Err(PositionError);
        }
        let stored: Stored = decode(state, LONGEST).map_err(|_| PositionError)?;
        if stored.seat.index() >= stored.game.seats() {
            return Err(PositionError);
        }
        let mut known = Faces::new();
        for (card, face) in stored.known {
            known.set(card, face);
        }
        for (deck, faces) in (0..u16::MAX).map(DeckId).zip(&stored.shuffled) {
            known.record_shuffle(deck, faces);
        }
        Ok(Self { game: stored.game, seat: stored.seat, known })
    }
}

fn checksum(state: &[u8]) -> [u8; CHECKSUM] {
    let digest = Sha256::new().chain_update(LABEL).chain_update(state).finalize();
    std::array::from_fn(|place| digest.get(place).copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use fairdeal_protocol::game::Game as _;
    use fairdeal_protocol::seat::SeatSet;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;
    use crate::any::GAMES;
    use crate::bots::{Bot, Random, play};
    use crate::chance::RefereeChance;
    use crate::registry::rule_set;

    fn wandered(id: &str, seats: u8, seed: u8, actions: usize) -> (AnyGame, RefereeChance) {
        let mut game = AnyGame::create(&rule_set(id, seats, &Default::default()).unwrap()).unwrap();
        let mut chance = RefereeChance::from_seed([seed; 32]);
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        let mut bots: Vec<Box<dyn Bot<AnyGame>>> = Vec::new();
        bots.resize_with(usize::from(seats), || Box::new(Random { seldom: None }));
        let mut rng = ChaCha20Rng::from_seed([seed; 32]);
        play(&mut game, &mut chance, &mut bots, &mut rng, actions).unwrap();
        (game, chance)
    }

    /// Also in a game whose cards were shuffled again, and without what the seat does not know.
    #[test]
    fn text_has_what_its_seat_knows() {
        let mut longest = 0;
        for info in GAMES {
            for (seed, actions) in [(1, 0), (2, 7), (3, 40), (4, 250)] {
                let (game, chance) = wandered(info.id, info.most_seats, seed, actions);
                for seat in SeatSet::all(info.most_seats.into()).iter() {
                    let known = chance.dealt_to(seat);
                    let text = Position::text(&game, seat, known).unwrap();
                    longest = longest.max(text.len());
                    let read = Position::from_text(&text).unwrap();
                    assert_eq!((&read.game, read.seat), (&game, seat));
                    assert_eq!(read.game.view(Some(seat), &read.known), game.view(Some(seat), known));
                    assert!(read.known.iter().all(|(card, face)| known.get(card) == Some(face)));
                    let shuffled =
                        |known: &Faces| (0..9).map(|deck| known.shuffled(DeckId(deck)).to_vec()).collect::<Vec<_>>();
                    assert_eq!(shuffled(&read.known), shuffled(known));
                    // A guess from the text is one of the game itself.
                    let guess = RefereeChance::guessed(&read.game, seat, &read.known, [9; 32]).unwrap();
                    let own = chance.guessed_by(&game, seat, [9; 32]).unwrap();
                    let whole = |chance: &RefereeChance| game.view(None, chance.faces());
                    assert!(game.is_over() || whole(&guess) == whole(&own), "{} {actions}", info.id);
                }
            }
        }
        assert!(longest < LONGEST / 4, "{longest}");
    }

    #[test]
    fn other_texts_are_refused() {
        let (game, chance) = wandered("loot", 2, 1, 10);
        let text = Position::text(&game, Seat::FIRST, chance.dealt_to(Seat::FIRST)).unwrap();
        assert!(text.is_ascii());
        for place in 0..text.len() {
            let other = if text.as_bytes()[place] == b'A' { "B" } else { "A" };
            let changed = [&text[..place], other, &text[place + 1..]].concat();
            assert_eq!(Position::from_text(&changed), Err(PositionError), "{place}");
            assert_eq!(Position::from_text(&text[..place]), Err(PositionError));
        }
        assert_eq!(Position::from_text("ü"), Err(PositionError));
    }

    #[test]
    fn daily_deal_has_no_text() {
        let day = [("daily".to_owned(), "2026-11-21".to_owned())].into();
        let mut game = AnyGame::create(&rule_set("ivory-tower", 1, &day).unwrap()).unwrap();
        game.begin(&mut RefereeChance::default(), &mut Vec::new()).unwrap();
        assert_eq!(Position::text(&game, Seat::FIRST, &Faces::new()), None);
    }
}
