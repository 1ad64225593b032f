//! A program that deals another tower than the day's: the audit deals the day again, and names the first wrong digest.

use fairdeal_games::ivory::IvoryAction;
use fairdeal_games::{AnyAction, AnyEvent, AnyGame, rule_set};
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::game::{ApplyError, Chance, Game, Illegal, Pause, RuleSet, RuleSetError};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_testkit::{Room, seats};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde::Serialize;

/// Plays the tower of 2026-01-03, whatever day the charter names.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
struct OtherTower(AnyGame);

impl Game for OtherTower {
    type Action = AnyAction;
    type Event = AnyEvent;

    fn create(rules: &RuleSet) -> Result<Self, RuleSetError> {
        let mut rules = rules.clone();
        rules.options.insert("daily".to_owned(), "2026-01-03".to_owned());
        AnyGame::create(&rules).map(Self)
    }

    fn deck_name(&self) -> &'static str {
        self.0.deck_name()
    }

    fn card_name(&self, face: Face) -> String {
        self.0.card_name(face)
    }

    fn begin(&mut self, chance: &mut dyn Chance, events: &mut Vec<AnyEvent>) -> Result<(), Pause> {
        self.0.begin(chance, events)
    }

    fn to_act(&self) -> SeatSet {
        self.0.to_act()
    }

    fn legal(&self, seat: Seat, known: &Faces) -> Vec<AnyAction> {
        self.0.legal(seat, known)
    }

    fn check(&self, seat: Seat, action: &AnyAction) -> Result<(), Illegal> {
        self.0.check(seat, action)
    }

    fn out_of_turn(&self, action: &AnyAction) -> bool {
        self.0.out_of_turn(action)
    }

    fn apply(
        &mut self,
        seat: Seat,
        action: &AnyAction,
        chance: &mut dyn Chance,
        events: &mut Vec<AnyEvent>,
    ) -> Result<(), ApplyError> {
        self.0.apply(seat, action, chance, events)
    }

    fn forfeit(&mut self, seat: Seat, chance: &mut dyn Chance, events: &mut Vec<AnyEvent>) -> Result<(), Pause> {
        self.0.forfeit(seat, chance, events)
    }

    fn is_over(&self) -> bool {
        self.0.is_over()
    }

    fn scores(&self) -> Vec<i64> {
        self.0.scores()
    }

    fn winners(&self) -> SeatSet {
        self.0.winners()
    }
}

/// Plays a game of a daily tower, resigned at once. Returns whether the audit finds it fair, and its words if not.
fn audited(day: &str) -> Result<(), String> {
    let options = [("daily".to_owned(), day.to_owned())].into();
    let rules = rule_set("ivory-tower", 1, &options).unwrap();
    let mut room = Room::<OtherTower>::new(seats::charter(&rules, [1; 8]), |_| ChaCha20Rng::from_seed([1; 32]));
    room.begin();
    room.exchange();
    room.places[0].act(AnyAction::Ivory(IvoryAction::Resign)).unwrap();
    room.exchange();
    let finding = audit::<AnyGame>(&room[0].table.transcript()).finding;
    finding.map_or(Ok(()), |finding| Err(finding.to_string()))
}

#[test]
fn another_tower_than_the_days_is_not_fair() {
    audited("2026-01-03").unwrap();
    let why = audited("2026-01-04").unwrap_err();
    assert!(why.contains(&FaultKind::Digest.to_string()), "{why}");
}
