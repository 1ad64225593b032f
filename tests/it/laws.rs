//! Laws of every game, checked in seeded random play-outs at every table size.

use std::collections::BTreeMap;

use fairdeal_games::chance::RefereeChance;
use fairdeal_games::loot::{Loot, cards};
use fairdeal_games::{AnyGame, GAMES, OptionKind, TableEvent as _, TableGame, rule_set};
use fairdeal_protocol::card::{DeckId, Face, Faces, Handle, Slot};
use fairdeal_protocol::game::{ApplyError, Chance, Flip, Game, Pause, RuleSet, uniform};
use fairdeal_protocol::seat::Seat;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

/// Random play-outs stop after this many actions.
const MOST: usize = 2_000;

/// Rule sets of every game: each table size with the defaults, and each value of each word option.
fn tables() -> Vec<RuleSet> {
    let mut tables = Vec::new();
    for info in GAMES {
        for seats in info.least_seats..=info.most_seats {
            tables.push(rule_set(info.id, seats, &BTreeMap::new()).unwrap());
        }
        for option in info.options {
            let values = match option.kind {
                OptionKind::Choice(words) => words,
                OptionKind::Flag => &["true"],
                OptionKind::Number(..) | OptionKind::Date => &[],
            };
            for value in values.iter().filter(|value| **value != option.default) {
                let given = BTreeMap::from([(option.key.to_owned(), (*value).to_owned())]);
                tables.push(rule_set(info.id, info.most_seats, &given).unwrap());
            }
        }
    }
    tables
}

fn seed(number: u8, purpose: u8) -> [u8; 32] {
    let mut seed = [purpose; 32];
    seed[0] = number;
    seed
}

/// A game in play, its chance, and the random source that picks actions.
#[derive(Clone)]
struct PlayOut<G: Game> {
    game: G,
    chance: RefereeChance,
    rng: ChaCha20Rng,
}

impl<G: TableGame> PlayOut<G> {
    fn new(rules: &RuleSet, number: u8) -> Self {
        let mut game = G::create(rules).unwrap();
        let mut chance = RefereeChance::from_seed(seed(number, 1));
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        let rng = ChaCha20Rng::from_seed(seed(number, 2));
        Self { game, chance, rng }
    }

    fn seats(&self) -> impl Iterator<Item = Seat> + use<G> {
        Seat::first(self.game.seats())
    }

    fn below(&mut self, bound: usize) -> usize {
        uniform(&mut self.rng, u32::try_from(bound).unwrap()) as usize
    }

    /// Picks a random legal action of any seat: mostly in turn, sometimes out of turn.
    fn pick(&mut self) -> (Seat, G::Action) {
        let out = self.below(24) == 0;
        let all = self.seats().flat_map(|seat| {
            let legal = self.game.legal(seat, self.chance.faces());
            legal.into_iter().map(move |action| (seat, action))
        });
        let (out_of_turn, in_turn): (Vec<_>, Vec<_>) = all.partition(|(_, action)| self.game.out_of_turn(action));
        let mut from = if out || in_turn.is_empty() { out_of_turn } else { in_turn.clone() };
        if from.is_empty() {
            from = in_turn;
        }
        assert!(!from.is_empty(), "somebody can act until the game is over");
        let chosen = self.below(from.len());
        from.swap_remove(chosen)
    }

    fn step(&mut self) -> (Seat, G::Action, Vec<G::Event>) {
        let (seat, action) = self.pick();
        let mut events = Vec::new();
        self.game.apply(seat, &action, &mut self.chance, &mut events).unwrap();
        (seat, action, events)
    }

    /// Plays until the game is over. After `MOST` actions, all seats but one leave.
    fn finish(&mut self) -> bool {
        for _ in 0..MOST {
            if self.game.is_over() {
                return true;
            }
            self.step();
        }
        for seat in self.seats().skip(1) {
            self.game.forfeit(seat, &mut self.chance, &mut Vec::new()).unwrap();
        }
        false
    }
}

fn text(game: &impl Game) -> String {
    serde_json::to_string(game).unwrap()
}

/// Runs `look` at up to `positions` positions in each of a few play-outs of every game.
fn at_every_position(play_outs: u8, positions: usize, mut look: impl FnMut(&PlayOut<AnyGame>, &mut PlayOut<AnyGame>)) {
    for rules in tables() {
        for number in 0..play_outs {
            let mut play = PlayOut::<AnyGame>::new(&rules, number);
            for _ in 0..positions {
                if play.game.is_over() {
                    break;
                }
                let before = play.clone();
                play.step();
                look(&before, &mut play);
            }
        }
    }
}

#[test]
fn random_games_end_and_the_best_score_wins() {
    for rules in tables() {
        for number in 0..10 {
            let mut play = PlayOut::<AnyGame>::new(&rules, number);
            let ended = play.finish();
            // Random play loses more points than it wins in Thoth, so no total reaches the target.
            assert!(ended || rules.game == "houses-of-thoth", "{rules:?}");
            assert!(play.game.is_over());
            assert!(play.game.to_act().is_empty());
            for seat in play.seats() {
                assert_eq!(play.game.legal(seat, play.chance.faces()), []);
            }
            // A departed seat may have had a higher score.
            let best = play.game.scores().into_iter().max().filter(|_| ended);
            for winner in play.game.winners().iter() {
                let score = play.game.scores().get(winner.index()).copied();
                assert!(best.is_none() || score == best);
            }
        }
    }
}

#[test]
fn the_game_waits_for_somebody_until_it_is_over() {
    at_every_position(3, 300, |_, after| {
        assert_eq!(after.game.to_act().is_empty(), after.game.is_over());
        if !after.game.is_over() {
            assert!(after.game.winners().is_empty());
            for seat in after.game.to_act().iter() {
                assert!(!after.game.legal(seat, after.chance.faces()).is_empty());
            }
        }
    });
}

#[test]
fn check_legal_and_apply_agree() {
    let mut met: Vec<(Seat, fairdeal_games::AnyAction)> = Vec::new();
    at_every_position(2, 150, |_, after| {
        let faces = after.chance.faces().clone();
        let game = &after.game;
        let mut legal = Vec::new();
        for seat in Seat::first(game.seats()) {
            legal.extend(game.legal(seat, &faces).into_iter().map(|action| (seat, action)));
        }
        // Every seat now tries actions that were legal earlier.
        met.extend(legal.iter().cloned());
        let surplus = met.len().saturating_sub(60);
        met.drain(..surplus);
        for (_, action) in &met {
            for seat in Seat::first(game.seats()) {
                let honest = |shown: &fairdeal_protocol::game::Shown| faces.get(shown.card) == Some(shown.face);
                if !game.shown(seat, action).iter().all(honest) {
                    continue;
                }
                let checked = game.check(seat, action);
                let listed = legal.contains(&(seat, action.clone()));
                assert_eq!(checked.is_ok(), listed, "{seat} {action:?} {checked:?}");
                let (mut copy, mut chance) = (game.clone(), after.chance.clone());
                let applied = copy.apply(seat, action, &mut chance, &mut Vec::new());
                match checked {
                    Ok(()) => assert_eq!(applied, Ok(())),
                    Err(why) => {
                        assert_eq!(applied, Err(ApplyError::Illegal(why)));
                        assert!(copy == *game, "{seat} {action:?} has changed something");
                    }
                }
            }
        }
    });
}

#[test]
fn only_out_of_turn_actions_are_open_to_a_seat_that_is_not_to_act() {
    at_every_position(3, 200, |_, after| {
        for seat in Seat::first(after.game.seats()) {
            if !after.game.to_act().contains(seat) {
                let legal = after.game.legal(seat, after.chance.faces());
                assert!(legal.iter().all(|action| after.game.out_of_turn(action)));
            }
        }
    });
}

/// One answer to a request, recorded for the replay.
#[derive(Clone)]
enum Answer {
    NextDeal,
    Deck(DeckId),
    Faces(Vec<Face>),
    Values(Vec<u32>),
}

/// A chance that pauses once at every request, and repeats the recorded answer afterwards.
struct Pausing<'a> {
    source: &'a mut RefereeChance,
    answers: &'a mut Vec<Answer>,
    at: usize,
}

impl Pausing<'_> {
    fn answer(&mut self, ask: impl FnOnce(&mut RefereeChance) -> Result<Answer, Pause>) -> Result<Answer, Pause> {
        if let Some(answer) = self.answers.get(self.at) {
            self.at += 1;
            return Ok(answer.clone());
        }
        let answer = ask(self.source)?;
        self.answers.push(answer);
        Err(Pause)
    }
}

impl Chance for Pausing<'_> {
    fn next_deal(&mut self) -> Result<(), Pause> {
        self.answer(|chance| chance.next_deal().map(|()| Answer::NextDeal)).map(drop)
    }

    fn shuffle(&mut self, cards: &[Face]) -> Result<DeckId, Pause> {
        match self.answer(|chance| chance.shuffle(cards).map(Answer::Deck))? {
            Answer::Deck(deck) => Ok(deck),
            _ => panic!("another request than before"),
        }
    }

    fn deal(&mut self, card: Handle, to: Seat) {
        // Cards dealt before a pause are already dealt.
        if self.at == self.answers.len() {
            self.source.deal(card, to);
        }
    }

    fn open(&mut self, cards: &[Handle]) -> Result<Vec<Face>, Pause> {
        match self.answer(|chance| chance.open(cards).map(Answer::Faces))? {
            Answer::Faces(faces) => Ok(faces),
            _ => panic!("another request than before"),
        }
    }

    fn flip(&mut self, flip: &Flip) -> Result<Vec<u32>, Pause> {
        match self.answer(|chance| chance.flip(flip).map(Answer::Values))? {
            Answer::Values(values) => Ok(values),
            _ => panic!("another request than before"),
        }
    }
}

/// Repeats a request from the unchanged game until nothing pauses.
fn replayed<G: Game>(
    game: &G,
    source: &mut RefereeChance,
    request: impl Fn(&mut G, &mut dyn Chance, &mut Vec<G::Event>) -> Result<(), ApplyError>,
) -> (G, Vec<G::Event>) {
    let mut answers = Vec::new();
    loop {
        let (mut copy, mut events) = (game.clone(), Vec::new());
        let mut chance = Pausing { source, answers: &mut answers, at: 0 };
        match request(&mut copy, &mut chance, &mut events) {
            Ok(()) => return (copy, events),
            Err(ApplyError::Pause) => {}
            Err(ApplyError::Illegal(why)) => panic!("{why}"),
        }
    }
}

#[test]
fn pausing_and_replaying_changes_nothing() {
    for rules in tables() {
        for number in 0..4 {
            let mut play = PlayOut::<AnyGame>::new(&rules, number);
            let mut source = RefereeChance::from_seed(seed(number, 1));
            let fresh = AnyGame::create(&rules).unwrap();
            let (mut game, _) = replayed(&fresh, &mut source, |game, chance, events| Ok(game.begin(chance, events)?));
            assert_eq!(text(&game), text(&play.game));
            for _ in 0..300 {
                if play.game.is_over() {
                    break;
                }
                let (seat, action, events) = play.step();
                let (next, told) =
                    replayed(&game, &mut source, |game, chance, events| game.apply(seat, &action, chance, events));
                assert_eq!(text(&next), text(&play.game));
                assert_eq!(told, events);
                for seat in play.seats() {
                    assert_eq!(source.dealt_to(seat), play.chance.dealt_to(seat));
                }
                game = next;
            }
        }
    }
}

#[test]
fn a_forfeit_at_any_point_leaves_a_game_that_can_be_played_on() {
    at_every_position(2, 60, |_, after| {
        if after.game.is_over() {
            return;
        }
        for first in Seat::first(after.game.seats()) {
            let mut play = after.clone();
            // Seats leave one after another, with a few actions between, until the game is over.
            let order = (0..play.game.seats()).filter_map(|on| Seat::new((first.index() + on) % after.game.seats()));
            for seat in order {
                if play.game.is_over() {
                    break;
                }
                let mut source = play.chance.clone();
                let (replayed, _) =
                    replayed(&play.game, &mut source, |game, chance, events| Ok(game.forfeit(seat, chance, events)?));
                play.game.forfeit(seat, &mut play.chance, &mut Vec::new()).unwrap();
                assert_eq!(text(&replayed), text(&play.game));
                assert!(!play.game.to_act().contains(seat));
                assert!(!play.game.winners().contains(seat));
                assert_eq!(play.game.legal(seat, play.chance.faces()), []);
                let once = text(&play.game);
                play.game.forfeit(seat, &mut play.chance, &mut Vec::new()).unwrap();
                assert_eq!(text(&play.game), once, "nobody leaves twice");
                for _ in 0..12 {
                    if !play.game.is_over() {
                        play.step();
                    }
                }
            }
            assert!(play.game.is_over(), "nobody is left");
            assert!(play.game.to_act().is_empty());
        }
    });
}

#[test]
fn hidden_cards_do_not_affect_view_or_choices() {
    at_every_position(3, 150, |_, after| {
        let (game, all) = (&after.game, after.chance.faces());
        for seat in Seat::first(game.seats()) {
            let own = after.chance.dealt_to(seat);
            let hidden = all.iter().filter(|(card, _)| own.get(*card).is_none());
            let (cards, mut faces): (Vec<_>, Vec<_>) = hidden.unzip();
            let shift = faces.len() / 2;
            faces.rotate_left(shift);
            let mut permuted = all.clone();
            for (card, face) in cards.into_iter().zip(faces) {
                permuted.set(card, face);
            }
            let view = game.view(Some(seat), own).to_string();
            assert_eq!(game.view(Some(seat), all).to_string(), view);
            assert_eq!(game.view(Some(seat), &permuted).to_string(), view);
            assert_eq!(game.legal(seat, own), game.legal(seat, all));
        }
    });
}

#[test]
fn every_action_survives_its_json_and_every_event_can_be_told() {
    let names = ["Ann".to_owned()];
    at_every_position(3, 150, |before, after| {
        let known = after.chance.faces();
        for seat in Seat::first(after.game.seats()) {
            for action in after.game.legal(seat, known) {
                let json = after.game.action_to_json(seat, &action, known);
                assert_eq!(after.game.action_from_json(seat, &json, known), Ok(action));
            }
        }
        let (_, _, events) = before.clone().step();
        assert!(!events.is_empty());
        for event in events {
            assert!(event.to_json()["type"].is_string());
            assert!(!event.text(&names).is_empty());
        }
    });
}

#[test]
fn shown_cards_were_sealed_in_the_hand() {
    at_every_position(2, 100, |_, after| {
        let known = after.chance.faces();
        for seat in Seat::first(after.game.seats()) {
            for action in after.game.legal(seat, known) {
                for shown in after.game.shown(seat, &action) {
                    assert!(after.game.hand(seat).contains(&Slot::Sealed(shown.card)));
                }
            }
        }
    });
}

#[test]
fn loot_has_all_54_cards_somewhere_at_any_time() {
    let rules = rule_set("loot", 4, &BTreeMap::new()).unwrap();
    for number in 0..10 {
        let mut play = PlayOut::<Loot>::new(&rules, number);
        let mut steps = 0;
        while !play.game.is_over() && steps < MOST {
            play.step();
            steps += 1;
            // A seat leaves from time to time.
            if steps % 150 == 0 {
                let seat = Seat::new(play.below(4)).unwrap();
                play.game.forfeit(seat, &mut play.chance, &mut Vec::new()).unwrap();
            }
            assert_eq!(all_cards(&play.game, play.chance.faces()), cards::all().collect::<Vec<_>>());
        }
    }
}

fn all_cards(game: &Loot, known: &Faces) -> Vec<Face> {
    let hands = Seat::first(4).flat_map(|seat| game.hand_of(seat));
    let slots = hands.chain(game.set_aside()).copied();
    let draw = game.draw_pile().iter().copied().map(Slot::Sealed);
    let faces = slots.chain(draw).filter_map(|slot| slot.face(known));
    let mut all: Vec<_> = faces.chain(game.discard_pile().iter().copied()).collect();
    all.sort_unstable();
    all
}
