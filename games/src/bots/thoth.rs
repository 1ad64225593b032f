//! The normal bot for Houses of Thoth: it founds, raises and roofs a house while that pays, and makes
//! Trouble for the leader. Near the end it discards costly cards.

use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::game::{Game as _, uniform};
use fairdeal_protocol::seat::Seat;
use rand_core::Rng;

use super::Bot;
use crate::counted;
use crate::hint::{Hint, Hints};
use crate::thoth::cards::{self, Element, Suited};
use crate::thoth::house::{CORNERS, House, Level};
use crate::thoth::{Thoth, ThothAction, Use};

/// The normal bot for Houses of Thoth. See the module documentation.
#[derive(Clone, Copy, Debug)]
pub struct ThothBot {
    /// Whether it leaves houses in Trouble alone, and ends no hand for another seat.
    careful: bool,
}

impl ThothBot {
    /// The bot that sharp ones are measured against.
    pub const BASELINE: Self = Self { careful: false };
}

impl Default for ThothBot {
    fn default() -> Self {
        Self { careful: true }
    }
}

/// About once in this many turns a bot ends the hand if it can, ahead or not, or else acts at random.
/// Otherwise cards that all bots hold back could keep a hand going forever.
const PATIENCE: u32 = 25;
/// The least gain of a Roof while the hand is young: a cheap end lowers every total.
const ENOUGH: i64 = 18;
/// The usual cost of five cards in a well-managed hand.
const USUAL_HAND: i64 = -12;
/// Another hand may cost so much less than usual.
const SURPRISE: i64 = 8;
/// A house with this many Stories is high enough.
const HIGH: usize = 3;

impl Bot<Thoth> for ThothBot {
    fn choose(&mut self, game: &Thoth, seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Option<ThothAction> {
        let mut legal = game.legal(seat, known);
        if uniform(rng, PATIENCE) == 0 {
            legal.retain(|a| !matches!(a, ThothAction::Demolish | ThothAction::Topple { .. }));
            if self.careful {
                legal.retain(|action| !piles_up(game, action) && !gives_away(game, seat, action, known));
            }
            let ends = legal.iter().position(ends_the_hand);
            let any = u32::try_from(legal.len())
                .ok()
                .filter(|count| *count > 0)
                .map(|count| usize::try_from(uniform(rng, count)).unwrap_or(0));
            return ends.or(any).map(|chosen| legal.swap_remove(chosen));
        }
        if self.careful {
            best(game, seat, legal, known)
        } else {
            let keep = |card| keep(game, seat, card, known);
            legal.into_iter().rev().max_by_key(|action| plain_worth(game, seat, action, known, keep))
        }
    }
}

/// Whether an action makes Trouble for a house that is in Trouble.
fn piles_up(game: &Thoth, action: &ThothAction) -> bool {
    match action {
        ThothAction::Play { as_: Use::Trouble { target, .. }, .. } => {
            game.house(*target).is_some_and(House::in_trouble)
        }
        _ => false,
    }
}

/// Whether an action ends the hand, and thereby probably the game in another seat's favour.
fn gives_away(game: &Thoth, seat: Seat, action: &ThothAction, known: &Faces) -> bool {
    if !ends_the_hand(action) {
        return false;
    }
    let total = |any: Seat| game.totals().get(any.index()).copied().unwrap_or(0);
    let roof = match action {
        ThothAction::Play { card, .. } => roof_gain(game, seat, *card),
        _ => 0,
    };
    let own = total(seat) + standing(game, seat) + own_hand(game, seat, known) + roof;
    game.playing().without(seat).iter().any(|other| {
        let after = total(other) + standing(game, other) + USUAL_HAND;
        after >= own && after + SURPRISE >= game.target()
    })
}

/// The points of a Roof on the seat's house.
fn roof_gain(game: &Thoth, seat: Seat, card: Face) -> i64 {
    let matching = game.house(seat).map_or(0, |house| {
        let element = cards::roof_element(card);
        house.pyramids().filter(|p| Some(p.element) == element).count()
    });
    5 + i64::try_from(matching).unwrap_or(0)
}

/// The most valuable action; ties go to the first.
pub(crate) fn best(game: &Thoth, seat: Seat, legal: Vec<ThothAction>, known: &Faces) -> Option<ThothAction> {
    // The uses of a card stand side by side, and each of them costs the card.
    let mut last: Option<(Face, i64)> = None;
    let mut keep = |card| match last {
        Some((known, cost)) if known == card => cost,
        _ => last.insert((card, keep(game, seat, card, known))).1,
    };
    legal.into_iter().rev().max_by_key(|action| rated(game, seat, action, known, &mut keep))
}

impl Hints for Thoth {
    fn hint(&self, seat: Seat, known: &Faces) -> Option<Hint<ThothAction>> {
        let action = best(self, seat, self.legal(seat, known), known)?;
        let why = why(self, seat, &action);
        Some(Hint { action, why })
    }
}

/// The reason for an action, as a sentence that teaches.
fn why(game: &Thoth, seat: Seat, action: &ThothAction) -> String {
    let house = game.house(seat);
    match action {
        ThothAction::Bid { .. } => "It is the card you miss least, and the first turn is worth little.".to_owned(),
        ThothAction::Pick { card } if cards::is_planetary(*card) => {
            "A planetary trump goes on any full level as a Story, and costs nothing in hand.".to_owned()
        }
        ThothAction::Pick { card } => format!("Of the bids it helps most: {}.", held(*card)),
        ThothAction::End { .. } => "You are ahead, and no house can grow any more.".to_owned(),
        ThothAction::Demolish | ThothAction::Topple { .. } => "Nothing else can be done.".to_owned(),
        ThothAction::Play { card, as_, .. } => match as_ {
            Use::Foundation if cards::elemental(*card).is_some() => {
                "A house needs a Foundation, and this one gives an extra turn.".to_owned()
            }
            Use::Foundation if cards::is_planetary(*card) => {
                "A house needs a Foundation, and a planetary trump takes pyramids of every element.".to_owned()
            }
            Use::Foundation => "A house needs a Foundation: without one no card earns points.".to_owned(),
            Use::Raise { size, count } => {
                let pips = counted(usize::from(size.pips()) * usize::from(*count), "point");
                let top = house.and_then(House::top).map_or(0, |top| top.pyramids.len());
                let free = CORNERS.saturating_sub(top + usize::from(*count));
                match free {
                    0 => format!("It brings {pips} and fills the level, which a Story or a Roof needs."),
                    _ => format!("It brings {pips} and leaves {} free.", counted(free, "corner")),
                }
            }
            Use::Story => "It brings a point and opens four new corners on your full level.".to_owned(),
            Use::Roof => {
                let now = house.map_or(0, House::score);
                let roofed = house.cloned().map_or(0, |mut house| {
                    house.roof = Some(*card);
                    house.score()
                });
                format!("The Roof brings {} points and ends the hand.", roofed - now)
            }
            Use::Trouble { target, .. } => {
                let element = cards::zodiacal(*card).map_or("", Element::name);
                let points = standing(game, *target);
                format!("That house has {points} points, and cannot grow until a card of {element} relieves it.")
            }
            Use::Relieve if cards::suited(*card).is_some_and(|(_, kind)| matches!(kind, Suited::Small(_))) => {
                "A house in Trouble cannot grow.".to_owned()
            }
            Use::Relieve => "A house in Trouble cannot grow, and this card gives an extra turn as well.".to_owned(),
            Use::Discard => format!("It is the card you miss least: {}.", held(*card)),
        },
    }
}

/// The cost of holding a card at the end of the hand.
fn held(card: Face) -> String {
    match cards::suited(card) {
        Some((_, Suited::Small(value))) => format!("in hand at the end it costs {value}"),
        Some(_) => "two court cards in hand cost 5, three 25".to_owned(),
        None => "it costs nothing in hand".to_owned(),
    }
}

/// Whether the raise would fill a level with spirit alone while the hand has nothing to build on it.
///
/// Only planetary trumps and judgment fit there. Once houses hold all of those, the level stays full.
/// Nobody can call the end while a level is full, so the hand may never end.
fn dead_end(game: &Thoth, seat: Seat, card: Face, count: u8, known: &Faces) -> bool {
    let Some(top) = game.house(seat).and_then(House::top) else {
        return false;
    };
    let mut elements = top.pyramids.iter().map(|pyramid| pyramid.element).chain(cards::redeemed(card).map(|it| it.0));
    let fills = top.pyramids.len() + usize::from(count) >= CORNERS;
    let mut hand = game.hand_of(seat).iter().filter_map(|slot| slot.face(known));
    let mut is_saved = || hand.any(|other| other != card && (cards::is_planetary(other) || other == cards::JUDGMENT));
    fills && elements.all(|element| element == Element::Spirit) && !is_saved()
}

fn ends_the_hand(action: &ThothAction) -> bool {
    let roof = matches!(action, ThothAction::Play { as_: Use::Roof, .. });
    roof || matches!(action, ThothAction::End { .. })
}

/// Whether houses have grown so high that the bank runs low. Such a hand could go on forever: nobody
/// finds a Roof, and a full level blocks the end.
fn is_late(game: &Thoth) -> bool {
    let houses = game.playing().iter().filter_map(|seat| game.house(seat));
    houses.map(House::stories).max().unwrap_or(0) >= HIGH
}

/// The public score of a house, without the hand behind it.
fn standing(game: &Thoth, seat: Seat) -> i64 {
    game.house(seat).map_or(0, House::score)
}

fn own_hand(game: &Thoth, seat: Seat, known: &Faces) -> i64 {
    let hand = game.hand_of(seat).iter().filter_map(|slot| slot.face(known));
    cards::hand_score(hand)
}

/// The seat's lead over the best of the others, whose hands are estimated.
fn lead(game: &Thoth, seat: Seat, known: &Faces) -> i64 {
    let others = game.playing().without(seat);
    let best = others.iter().map(|other| standing(game, other)).max().unwrap_or(0);
    standing(game, seat) + own_hand(game, seat, known) - (best + USUAL_HAND)
}

/// The value of keeping a card; playing or discarding the card loses it.
fn keep(game: &Thoth, seat: Seat, card: Face, known: &Faces) -> i64 {
    let founded = game.house(seat).is_some_and(House::stands);
    let top = game.house(seat).and_then(House::top);
    let elements = top.map(Level::elements).unwrap_or_default();
    let roofs = cards::roof_element(card).is_some_and(|e| elements.contains(e));
    let base = match cards::suited(card) {
        Some((element, Suited::Small(value))) => {
            let useful = top.is_some_and(|top| cards::allows(top.card, element));
            if useful { 6 + 3 * i64::from(value) } else { 8 - i64::from(value) }
        }
        // One court card costs little. Each further one costs more than it can bring.
        Some((_, Suited::Court(_))) => {
            let hand = game.hand_of(seat).iter().filter_map(|slot| slot.face(known));
            let courts = hand.filter(|c| matches!(cards::suited(*c), Some((_, Suited::Court(_)))));
            let fits = cards::fits_as_story(card, elements);
            let courts = i64::try_from(courts.count()).unwrap_or(0);
            if courts > 1 { -25 * (courts - 1) + i64::from(fits) * 10 } else { 9 }
        }
        None if cards::is_planetary(card) => 24,
        None if cards::zodiacal(card).is_some() => 14,
        None => 12,
    };
    let first = if !founded && cards::is_foundation(card) { 30 } else { 0 };
    base + first + if roofs { 10 } else { 0 }
}

/// The value of an action. Trouble on a house in Trouble, or an end that makes another seat win, is worth less than any
/// discard.
pub(crate) fn worth(game: &Thoth, seat: Seat, action: &ThothAction, known: &Faces) -> i64 {
    rated(game, seat, action, known, |card| keep(game, seat, card, known))
}

/// The same, with the costs of cards from elsewhere.
fn rated(game: &Thoth, seat: Seat, action: &ThothAction, known: &Faces, keep: impl FnMut(Face) -> i64) -> i64 {
    if piles_up(game, action) || gives_away(game, seat, action, known) {
        -1000
    } else {
        plain_worth(game, seat, action, known, keep)
    }
}

/// The value of an action to the bot that sharp ones are measured against. `keep` is [`keep`] for this seat.
fn plain_worth(
    game: &Thoth,
    seat: Seat,
    action: &ThothAction,
    known: &Faces,
    mut keep: impl FnMut(Face) -> i64,
) -> i64 {
    match action {
        // The weakest card: the first turn is worth little.
        ThothAction::Bid { card } => {
            let face = known.get(*card);
            face.map_or(i64::MIN, |face| -keep(face))
        }
        ThothAction::Pick { card } => keep(*card),
        ThothAction::End { card } => {
            let cost = card.face(known).map_or(0, |face| -cards::hand_score([face]));
            let ahead = lead(game, seat, known);
            if ahead >= 0 { 500 + cost } else { -500 }
        }
        ThothAction::Demolish => i64::MIN,
        ThothAction::Topple { .. } => i64::MIN,
        ThothAction::Play { card, as_, .. } => {
            let cost = keep(*card);
            match as_ {
                Use::Foundation => 150 - cost + i64::from(cards::is_planetary(*card)) * 20,
                Use::Raise { count, .. } if dead_end(game, seat, *card, *count, known) => -300,
                Use::Raise { size, count } => {
                    let pips = i64::from(size.pips()) * i64::from(*count);
                    let turn = if cards::redeemed_gives_a_turn(*card) { 15 } else { 0 };
                    60 + 12 * pips + turn - cost
                }
                Use::Story => 120 - cost,
                Use::Roof => {
                    let gain = roof_gain(game, seat, *card);
                    let own = standing(game, seat) + own_hand(game, seat, known) + gain;
                    let late = is_late(game);
                    let ahead = lead(game, seat, known) + gain + if late { 15 } else { 0 };
                    let enough = if late { 1 } else { ENOUGH };
                    if ahead >= 0 && own >= enough { 600 } else { -100 }
                }
                Use::Trouble { target, .. } => {
                    let threat = standing(game, *target) - standing(game, seat);
                    let fresh = game.house(*target).is_some_and(|house| !house.in_trouble());
                    40 + 3 * threat + if fresh { 20 } else { -30 } - cost
                }
                Use::Relieve => 140 - cost,
                Use::Discard => -cost,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;
    use crate::bots::{Random, play};
    use crate::chance::RefereeChance;
    use crate::registry::rule_set;

    #[test]
    fn it_beats_chance_with_every_option() {
        let mut won = 0;
        for number in 0..24_u8 {
            let place = usize::from(number % 2);
            let opening = ["dealer-left", "auction"][usize::from(number / 2 % 2)];
            let given = [("opening", opening), ("happenstance", ["false", "true"][usize::from(number / 4 % 2)])]
                .map(|(key, value)| (key.to_owned(), value.to_owned()));
            let rules = rule_set("houses-of-thoth", 2, &given.into()).unwrap();
            let mut bots: [Box<dyn Bot<Thoth>>; 2] = [Box::new(Random::default()), Box::new(Random::default())];
            bots[place] = Box::new(ThothBot::default());
            let mut game = Thoth::create(&rules).unwrap();
            let mut chance = RefereeChance::from_seed([number; 32]);
            game.begin(&mut chance, &mut Vec::new()).unwrap();
            let mut rng = ChaCha20Rng::from_seed([1; 32]);
            let made = play(&mut game, &mut chance, &mut bots, &mut rng, 20_000).unwrap();
            assert!(game.is_over(), "{made} actions");
            won += usize::from(game.winners().contains(Seat::new(place).unwrap()));
        }
        assert!(won >= 21, "{won} of 24");
    }

    #[test]
    fn hints_are_legal_and_teach() {
        let rules = rule_set("houses-of-thoth", 3, &[("target".to_owned(), "40".to_owned())].into()).unwrap();
        let mut reasons = std::collections::BTreeSet::new();
        for number in 0..6_u8 {
            let mut game = Thoth::create(&rules).unwrap();
            let mut chance = RefereeChance::from_seed([number; 32]);
            game.begin(&mut chance, &mut Vec::new()).unwrap();
            for _ in 0..400 {
                let Some(seat) = game.to_act().iter().next() else {
                    break;
                };
                let known = chance.dealt_to(seat).clone();
                let hint = game.hint(seat, &known).unwrap();
                assert_eq!(game.hint(seat, &known), Some(hint.clone()));
                game.check(seat, &hint.action).unwrap();
                assert!(hint.why.ends_with('.') && hint.why.len() < 100, "{}", hint.why);
                reasons.insert(hint.why);
                game.apply(seat, &hint.action, &mut chance, &mut Vec::new()).unwrap();
            }
        }
        assert!(reasons.len() > 20, "{reasons:#?}");
    }

    /// Also with the dice, and with a low target: both made games that went on for ever under rules version 1.
    #[test]
    fn its_games_end() {
        let options: [&[(&str, &str)]; 3] =
            [&[], &[("happenstance", "true"), ("target", "10")], &[("opening", "auction")]];
        for (seats, given) in (2..=5).flat_map(|seats| options.map(|given| (seats, given))) {
            let given = given.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            let rules = rule_set("houses-of-thoth", seats, &given.collect()).unwrap();
            for number in 0..20_u8 {
                let mut bots: Vec<Box<dyn Bot<Thoth>>> = Vec::new();
                bots.resize_with(usize::from(seats), || Box::new(ThothBot::default()));
                let mut game = Thoth::create(&rules).unwrap();
                let mut chance = RefereeChance::from_seed([number; 32]);
                game.begin(&mut chance, &mut Vec::new()).unwrap();
                let mut rng = ChaCha20Rng::from_seed([1; 32]);
                let made = play(&mut game, &mut chance, &mut bots, &mut rng, 20_000).unwrap();
                assert!(
                    game.is_over(),
                    "{made} actions of {seats} seats, {:?} after {}",
                    game.totals(),
                    game.hand_no()
                );
            }
        }
    }
}
