//! Facts of Ivory Tower: how many deals can be won, as `fairdeal solve ivory-tower` counts them.

use fairdeal_games::ivory::solver::{MOST_STATES, Verdict, laid, solve};
use fairdeal_games::ivory::{INFO, cards};
use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::game::shuffle;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::{assert_says, written};

#[test]
fn every_deal_is_decided_and_five_in_six_are_won() {
    let deals = 2000;
    let mut rng = ChaCha20Rng::seed_from_u64(0);
    let mut deck: Vec<Face> = cards::all().collect();
    let mut won = 0;
    for deal in 0..deals {
        shuffle(&mut rng, &mut deck);
        match solve(&laid(&deck).unwrap(), &Faces::new(), MOST_STATES).unwrap() {
            Verdict::Winnable(_) => won += 1,
            Verdict::Lost => {}
            Verdict::GaveUp => panic!("deal {deal} is undecided"),
        }
    }
    assert_eq!((6 * won + deals / 2) / deals, 5);
    let (won, deals) = (written(won), written(deals));
    assert_says(&INFO, &format!("{won} of {deals} random deals can be won, about five in six"));
}
