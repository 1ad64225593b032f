//! Facts that a guided hand can claim: statements in fixed words, each decided by the engine at the learner's step.
//!
//! Each game has its own list below. "My" is the learner's, and a number stands where the pattern has a variable. No
//! rule is written here a second time: scores, fits and costs are the engine's own, and what an action does is seen
//! by doing it on a copy.

use std::str::FromStr;

use fairdeal_games::ivory::{self, Ivory, IvoryAction, Target};
use fairdeal_games::loot::cards::{self as viashi, God, GodSet};
use fairdeal_games::loot::score::{Arrangement, Kind, Rates, best};
use fairdeal_games::loot::{Loot, LootAction};
use fairdeal_games::plutonian::pieces::{Colour, Hand, Pyramid, score, tree_name};
use fairdeal_games::plutonian::{Plutonian, PlutonianAction};
use fairdeal_games::pyramid::Size;
use fairdeal_games::sphinx::board::{Pylon, Square, central};
use fairdeal_games::sphinx::cards as playing_cards;
use fairdeal_games::sphinx::{Sphinx, SphinxAction, Status};
use fairdeal_games::thoth::cards::{self as tarot, Element};
use fairdeal_games::thoth::house::{House, Pyramid as Stone};
use fairdeal_games::thoth::{Thoth, ThothAction, Use};
use fairdeal_games::{AnyAction, AnyGame, match_game};
use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::{Seat, SeatSet};
use serde_json::Value;

use crate::lesson::Lesson;
use crate::tables::{self, Board as _, Spot, ViewContext};
use crate::theme::Theme;

const ME: Seat = Lesson::ME;

/// Whether a statement holds at the current step; `None` if there is no such statement. `told` is the log since the
/// step before.
pub(super) fn holds(lesson: &Lesson, told: &[String], statement: &str) -> Option<bool> {
    let words: Vec<&str> = statement.split_whitespace().collect();
    match (words.as_slice(), &lesson.game) {
        (["act", fields @ ..], _) => acts(lesson, fields),
        (["key", key], _) => Some(key_of_action(lesson).is_some_and(|letter| letter.to_string() == *key)),
        (["log", line @ ..], _) => Some(!line.is_empty() && told.iter().any(|told| told.contains(&line.join(" ")))),
        (words, AnyGame::Loot(game)) => loot(lesson, game, words),
        (words, AnyGame::Ivory(game)) => ivory(lesson, game, words),
        (words, AnyGame::Plutonian(game)) => plutonian(lesson, game, words),
        (words, AnyGame::Sphinx(game)) => sphinx(lesson, game, words),
        (words, AnyGame::Thoth(game)) => thoth(lesson, game, words),
    }
}

fn number<N: FromStr>(word: &str) -> Option<N> {
    word.parse().ok()
}

/// Whether a value is the number of that word.
fn equals<N: FromStr + PartialEq + Copy>(value: N, word: &str) -> Option<bool> {
    Some(value == number(word)?)
}

fn numbers<N: FromStr>(words: &[&str]) -> Option<Vec<N>> {
    words.iter().map(|word| number(word)).collect()
}

/// The others at the table.
fn others(lesson: &Lesson) -> SeatSet {
    SeatSet::all(lesson.names().len()).without(ME)
}

/// Whether the learner has that score, and everybody else less.
fn leads(scores: &[i64], points: i64) -> bool {
    let best = |(seat, score): (usize, &i64)| if seat == ME.index() { *score == points } else { *score < points };
    scores.iter().enumerate().all(best)
}

/// The lesson after the learner's action, before anybody else acts.
fn after(lesson: &Lesson) -> Option<Lesson> {
    let action = lesson.expects()?;
    let mut after = lesson.clone();
    after.apply(ME, &action).ok()?;
    Some(after)
}

/// `act FIELD VALUE …`: the learner's action has these values in its JSON.
fn acts(lesson: &Lesson, fields: &[&str]) -> Option<bool> {
    let act = lesson.script.step.get(lesson.at)?.act.as_ref()?;
    let act: Value = serde_json::from_str(act).ok()?;
    let (pairs, rest) = fields.as_chunks::<2>();
    let has = |[field, wanted]: &[&str; 2]| match act.get(field) {
        Some(Value::String(text)) => text == wanted,
        Some(Value::Number(count)) => count.as_i64() == number(wanted),
        _ => false,
    };
    (rest.is_empty() && !pairs.is_empty()).then(|| pairs.iter().all(has))
}

/// The letter that takes the learner's action at the table.
fn key_of_action(lesson: &Lesson) -> Option<char> {
    let theme = Theme::default();
    let view = ViewContext {
        me: Some(ME),
        names: lesson.names(),
        known: lesson.chance.dealt_to(ME),
        seats: &[],
        picked: &[],
        acts: true,
        is_closed: false,
        advises: true,
        theme: &theme,
    };
    match tables::path(&lesson.game, &lesson.expects()?, &view).as_slice() {
        [Spot::Button(button)] => match_game!(&lesson.game, game => game.button(*button)).key,
        _ => None,
    }
}

fn loot(lesson: &Lesson, game: &Loot, words: &[&str]) -> Option<bool> {
    let truth = lesson.chance.faces();
    let hand =
        |seat, known: &Faces| -> Vec<Face> { game.hand_of(seat).iter().filter_map(|slot| slot.face(known)).collect() };
    let mine = hand(ME, truth);
    let of_rank = |rank: u8| mine.iter().filter(|card| viashi::rank(**card) == rank).count();
    let gods = |known: &Faces| game.playing().iter().fold(GodSet::NONE, |gods, seat| gods.and_of(&hand(seat, known)));
    // The table marks a hand by the gods that its owner sees; the fire scores it by those in every hand.
    let both = [gods(lesson.chance.dealt_to(ME)), gods(truth)];
    let arranged = |fact: &dyn Fn(&Arrangement) -> bool| both.iter().all(|gods| fact(&best(&mine, *gods)));
    Some(match words {
        ["hand", "has", count, "cards"] => equals(mine.len(), count)?,
        ["hand", "has", count, "of", "rank", rank] => equals(of_rank(number(rank)?), count)?,
        ["only", rank, "in", "hand", "is", card] => {
            let rank = number(rank)?;
            let card = viashi::by_name(card)?;
            of_rank(rank) == 1 && viashi::rank(card) == rank && mine.contains(&card)
        }
        ["discard", "pile", "brings", count, "of", "rank", rank] => {
            let rank = number(rank)?;
            let is_there = game.discard_pile().last().is_some_and(|top| viashi::rank(*top) == rank);
            is_there && equals(of_rank(rank) + 1, count)?
        }
        ["each", "loose", "card", "costs", "its", "rank"] => arranged(&|hand| {
            let costs = |(card, points): &(Face, i32)| *points == -i32::from(viashi::rank(*card));
            !hand.loose.is_empty() && hand.loose.iter().all(costs)
        }),
        [count, "of", "rank", rank, "is" | "are", "loose", "and", "cost" | "costs", "most"] => {
            let (count, rank): (usize, u8) = (number(count)?, number(rank)?);
            arranged(&|hand| {
                let (these, rest): (Vec<_>, Vec<_>) =
                    hand.loose.iter().partition(|(card, _)| viashi::rank(*card) == rank);
                let dearest = rest.iter().map(|(_, points)| -points).max().unwrap_or(0);
                these.len() == count && these.iter().all(|(_, points)| -points > dearest)
            })
        }
        ["run", "of", ranks @ .., "scores", each, "each"] => {
            let (ranks, each): (Vec<u8>, i32) = (numbers(ranks)?, number(each)?);
            arranged(&|hand| {
                hand.combos.iter().any(|combo| {
                    let own: Vec<u8> = combo.cards.iter().map(|card| viashi::rank(*card)).collect();
                    let points: i32 = own.iter().map(|_| each).sum();
                    combo.kind == Kind::Run && own == ranks && combo.points == points
                })
            })
        }
        ["set", "of", count, "of", "rank", rank, "with", "the", god] => {
            let (count, rank): (usize, u8) = (number(count)?, number(rank)?);
            let god = God::ALL.into_iter().find(|other| other.name() == *god)?;
            let is_god = |card: &Face| GodSet::NONE.and_of(&[*card]).has(god);
            arranged(&|hand| {
                let is_it = |card: &Face| viashi::rank(*card) == rank;
                let mut sets = hand.combos.iter().filter(|combo| combo.kind == Kind::Set);
                sets.any(|set| set.cards.len() == count && set.cards.iter().all(is_it) && set.cards.iter().any(is_god))
            })
        }
        ["the", god, "in", "any", "hand", "makes", "sets", "score", "double"] => {
            let god = God::ALL.into_iter().find(|other| other.name() == *god)?;
            let with: GodSet = std::iter::once(god).collect();
            Rates::new(with).set == 2 * Rates::new(GodSet::NONE).set && both.iter().all(|gods| gods.has(god))
        }
        ["anybody", "may", "fire"] => {
            let fires = |seat| game.legal(seat, lesson.chance.dealt_to(seat)).contains(&LootAction::Fire);
            game.playing().iter().all(fires)
        }
        ["all", "cards", "score", total, "in", "all"] => {
            let total: i32 = number(total)?;
            arranged(&|hand| hand.loose.is_empty() && hand.total == total)
        }
        ["won", "alone", "with", points] => leads(&game.last_hand()?.scores, number(points)?),
        ["target", "is", points] => equals(game.target(), points)?,
        _ => return None,
    })
}

fn ivory(lesson: &Lesson, game: &Ivory, words: &[&str]) -> Option<bool> {
    let suit_of = |name: &str| ivory::cards::Suit::ALL.into_iter().find(|suit| suit.name() == name);
    let rank_of = |word: &str| match word {
        "ace" => Some(1),
        "crown" => Some(ivory::cards::CROWN),
        _ => number(word),
    };
    let is = |card: Face, rank: &str, suit: &str| {
        Some(ivory::cards::rank(card) == rank_of(rank)? && ivory::cards::has(card, suit_of(suit)?))
    };
    let top = game.top()?;
    Some(match words {
        ["top", "is", rank, "of", suit] => is(top, rank, suit)?,
        ["top", "is", rank, "of", suit, "named", name] => is(top, rank, suit)? && ivory::cards::name(top) == *name,
        ["top", "is", rank, "named", name, "with", "no", suit] => {
            let is_it = ivory::cards::rank(top) == rank_of(rank)? && ivory::cards::name(top) == *name;
            is_it && !ivory::cards::has(top, suit_of(suit)?)
        }
        ["top", "is", step, "rank", "below", "the", "pile", "and", "shares", "no", "suit"] => {
            let pile = game.piles().first()?.last().copied()?;
            let step: u8 = number(step)?;
            !ivory::cards::share_a_suit(pile, top) && ivory::cards::rank(top) + step == ivory::cards::rank(pile)
        }
        [rank, "of", suit, "must", "wait", "for", first, "and", second] => {
            let missing: Vec<u8> = (game.score() + 1..ivory::cards::rank(top)).collect();
            let grows_so = game.tower().first().is_some_and(|ace| ivory::cards::share_a_suit(*ace, top));
            is(top, rank, suit)? && grows_so && missing == numbers::<u8>(&[first, second])?
        }
        ["nothing", "fits"] => game.plays().is_empty(),
        ["no", "place", "for", rank, "of", suit, "named", name] => {
            let goes = game.plays().iter().any(|(from, _)| *from == ivory::Source::Draw);
            is(top, rank, suit)? && ivory::cards::name(top) == *name && !goes
        }
        ["turning", "brings", count, "more"] => {
            let AnyGame::Ivory(after) = after(lesson)?.game else { return None };
            let turned = after.draw_pile().len() - game.draw_pile().len();
            lesson.expects() == Some(AnyAction::Ivory(IvoryAction::Turn)) && equals(turned, count)?
        }
        ["first", "ace", "decides", "the", "suit"] => {
            let begins = game.tower().is_empty();
            let AnyGame::Ivory(after) = after(lesson)?.game else { return None };
            let (before, next) = (game.next(), after.next()?);
            let played = lesson.expects()
                == Some(AnyAction::Ivory(IvoryAction::Play { from: ivory::Source::Draw, to: Target::Tower }));
            begins && played && before.is_none() && ivory::cards::share_a_suit(top, next)
        }
        ["next", "storey", rank, "is", "at", "the", "bottom"] => {
            let bottom = game.draw_pile().first()?.face(lesson.chance.faces())?;
            game.next() == Some(bottom) && equals(ivory::cards::rank(bottom), rank)?
        }
        _ => return None,
    })
}

fn plutonian(lesson: &Lesson, game: &Plutonian, words: &[&str]) -> Option<bool> {
    let pyramid =
        |size: &str, colour: &str| Some(Pyramid { colour: Some(Colour::by_name(colour)?), size: Size::by_name(size)? });
    let of = |size| Colour::ALL.map(|colour| Pyramid { colour: Some(colour), size });
    let all: Vec<Pyramid> = Size::ALL.into_iter().flat_map(of).collect();
    let hand_of = |name: &str| Hand::ALL.into_iter().find(|hand| hand.name() == name);
    let is_dead = |stack: &[Pyramid]| score(stack) == 0 && !Hand::ALL.iter().any(|hand| hand.may_become(stack));
    let my_stack = game.stacks(ME).first();
    // The tree that the action takes from, with its top pyramid.
    let taken = || match lesson.expects()? {
        AnyAction::Plutonian(PlutonianAction::Take { tree, .. }) => {
            Some((tree, *game.trees().get(usize::from(tree))?.last()?))
        }
        _ => None,
    };
    let takes =
        |named: &str, wanted: Pyramid| taken().map(|(tree, top)| tree_name(tree).to_string() == named && top == wanted);
    Some(match words {
        ["takes", size, colour, "from", "tree", tree] => takes(tree, pyramid(size, colour)?)?,
        ["takes", "the", "last", size, colour, "from", "tree", tree] => {
            let wanted = pyramid(size, colour)?;
            let left = game.trees().iter().flatten().filter(|other| **other == wanted).count();
            takes(tree, wanted)? && left == 1
        }
        [count, "of", "1", "size", "and", "1", "colour", "are", "a", hand] => {
            let (count, hand): (usize, _) = (number(count)?, hand_of(hand)?);
            all.iter().all(|pyramid| Hand::of(&vec![*pyramid; count]) == Some(hand))
        }
        ["stack", "is", "a", hand, "worth", points] => {
            Hand::of(my_stack?) == Some(hand_of(hand)?) && equals(score(my_stack?), points)?
        }
        ["makes", count, size, colour, "a", hand, "worth", points] => {
            let AnyGame::Plutonian(after) = after(lesson)?.game else { return None };
            let stack = after.stacks(ME).first()?;
            let (wanted, count): (_, usize) = (pyramid(size, colour)?, number(count)?);
            *stack == vec![wanted; count] && Hand::of(stack) == Some(hand_of(hand)?) && equals(score(stack), points)?
        }
        ["anything", "but", size, colour, "ruins", "the", hand] => {
            let (fits, stack) = (pyramid(size, colour)?, my_stack?);
            let lives = |next: &Pyramid| !is_dead(&[stack.as_slice(), &[*next]].concat());
            Hand::of(stack) == Some(hand_of(hand)?) && all.iter().all(|next| lives(next) == (*next == fits))
        }
        ["a", "ruined", "stack", "is", "worth", "nothing", "for", "ever"] => {
            let pairs = all.iter().flat_map(|below| all.iter().map(|above| [*below, *above]));
            let ruined: Vec<_> = pairs.filter(|pair| is_dead(pair)).collect();
            let stays = |[below, above]: &[Pyramid; 2]| all.iter().all(|next| is_dead(&[*below, *above, *next]));
            !ruined.is_empty() && ruined.iter().all(stays)
        }
        ["same", "hands", "are", "worth", "more", "in", "larger"] => {
            let one_size = Hand::ALL.into_iter().filter(|hand| !matches!(hand, Hand::Tree | Hand::Nest));
            let mut points = one_size.map(|hand| Size::ALL.map(|size| hand.points_of(size)));
            points.all(|points| points.is_sorted_by(|less, more| less < more))
        }
        ["large", "medium", "small", "of", "1", "colour", "are", "a", hand, "worth", points] => {
            let (hand, points): (_, i64) = (hand_of(hand)?, number(points)?);
            let stack = |colour| [Size::Large, Size::Medium, Size::Small].map(|size| Pyramid { colour, size });
            let mut stacks = Colour::ALL.into_iter().map(|colour| stack(Some(colour)));
            stacks.all(|stack| Hand::of(&stack) == Some(hand) && score(&stack) == points)
        }
        ["ahead", "with", points] => leads(&game.scores(), number(points)?),
        ["more", "than", "half", "end", "the", "game"] => {
            let (needed, all) = (game.votes_needed(), game.playing().len());
            2 * needed > all && 2 * (needed - 1) <= all
        }
        ["others", "may", "vote"] => {
            let votes = |seat| game.legal(seat, &Faces::new()).contains(&PlutonianAction::Vote { end: true });
            !game.is_over() && others(lesson).iter().all(votes)
        }
        _ => return None,
    })
}

fn sphinx(lesson: &Lesson, game: &Sphinx, words: &[&str]) -> Option<bool> {
    let square = |name: &str| Square::by_name(name);
    let jack = playing_cards::suit(game.jack(ME)?);
    let mut kings = playing_cards::of_ranks(&[playing_cards::KING]).into_iter();
    let king = kings.find(|king| playing_cards::suit(*king) == jack)?;
    let spent = || {
        let AnyGame::Sphinx(after) = after(lesson)?.game else { return None };
        game.points().checked_sub(after.points())
    };
    let action = match lesson.expects() {
        Some(AnyAction::Sphinx(action)) => Some(action),
        _ => None,
    };
    let beside = |at: Square| at.around().filter(|near| game.monsters().contains_key(near)).count();
    Some(match words {
        ["king", "is", card] => playing_cards::name(king) == *card,
        ["king", "is", "in", "1", "of", count, "pylons"] => {
            let known = lesson.chance.faces();
            let packs = Pylon::ALL.iter().map(|pylon| game.pack(*pylon));
            let with = packs.filter(|pack| pack.iter().any(|slot| slot.face(known) == Some(king)));
            with.count() == 1 && equals(Pylon::ALL.len(), count)?
        }
        ["centre", "has", at] => central().any(|other| Some(other) == square(at)),
        [points, "points", "are", "left"] => equals(game.points(), points)?,
        ["more", "than", "1", "point", "is", "left"] => game.points() > 1,
        ["1", size, "costs", points] => {
            let is_size = matches!(action?, SphinxAction::Introduce { size: own, .. } if own.name() == *size);
            is_size && equals(spent()?, points)?
        }
        ["move", "costs", points, "point"] => {
            matches!(action?, SphinxAction::Monster { .. }) && equals(spent()?, points)?
        }
        [count, "monster", "beside", "me", "on", at] => {
            let on_it: u8 = game.monsters_on(square(at)?).iter().sum();
            equals(on_it, count)? && game.magician(ME)?.distance(square(at)?) == 1
        }
        ["no", "monster", "is", "beside", "me"] => beside(game.magician(ME)?) == 0,
        [at, "is", "beside", name] => {
            let seat = lesson.names().iter().position(|own| own.to_lowercase() == *name)?;
            game.magician(Seat::new(seat)?)?.distance(square(at)?) == 1
        }
        [pylon, "pylon", "is", one, "and", other] => {
            let pylon = Pylon::ALL.into_iter().find(|own| own.name() == *pylon)?;
            pylon.squares().map(Square::name).eq([*one, *other])
        }
        ["won", "with", card] => {
            let mut turned = Pylon::ALL.iter().flat_map(|pylon| game.turned(*pylon));
            let found = turned.any(|own| *own == king) && playing_cards::name(king) == *card;
            game.status(ME) == Status::Won && found
        }
        _ => return None,
    })
}

fn thoth(lesson: &Lesson, game: &Thoth, words: &[&str]) -> Option<bool> {
    let element = |name: &str| Element::ALL.into_iter().find(|element| element.name() == name);
    let house = game.house(ME)?;
    let later = || match after(lesson)?.game {
        AnyGame::Thoth(after) => Some(after),
        _ => None,
    };
    let played = || match lesson.expects()? {
        AnyAction::Thoth(ThothAction::Play { card, as_, .. }) => Some((card, as_)),
        _ => None,
    };
    Some(match words {
        ["level", "takes", wanted, "after", "this"] => {
            let (wanted, after) = (element(wanted)?, later()?);
            let top = after.house(ME)?.top()?;
            let takes = |element| Size::ALL.into_iter().any(|size| top.takes(Stone { element, size }));
            Element::ALL.into_iter().all(|element| takes(element) == (element == wanted))
        }
        ["1", "small", "costs", small, "medium", medium, "large", large] => {
            numbers::<u8>(&[small, medium, large])? == Size::ALL.map(Size::pips)
        }
        [card, "is", "worth", value, "of", wanted] => {
            tarot::redeemed(tarot::by_name(card)?) == Some((element(wanted)?, number(value)?))
        }
        ["adds", count, size, "and", "fills", "the", "level"] => {
            let (count, size): (usize, _) = (number(count)?, Size::by_name(size)?);
            let after = later()?;
            let (before, top) = (house.top()?, after.house(ME)?.top()?);
            let new = top.pyramids.get(before.pyramids.len()..)?;
            new.len() == count && new.iter().all(|stone| stone.size == size) && top.is_full()
        }
        ["trouble", "of", wanted] => {
            let wanted = element(wanted)?;
            house.in_trouble() && house.trouble.iter().all(|card| tarot::zodiacal(*card) == Some(wanted))
        }
        ["cannot", "build"] => {
            let builds = |action: &ThothAction| {
                let ThothAction::Play { as_, .. } = action else { return false };
                matches!(as_, Use::Foundation | Use::Raise { .. } | Use::Story | Use::Roof)
            };
            house.in_trouble() && !game.legal(ME, lesson.chance.dealt_to(ME)).iter().any(builds)
        }
        ["relief", "by", "a", "court", "card", "gives", "an", "extra", "turn"] => {
            let (after, (card, as_)) = (later()?, played()?);
            let is_court = matches!(tarot::suited(card), Some((_, tarot::Suited::Court(_))));
            let relieved = house.in_trouble() && !after.house(ME)?.in_trouble();
            as_ == Use::Relieve && is_court && relieved && after.to_act() == SeatSet::one(ME)
        }
        ["roofs", "are", rank, "s", "and", "some", "trumps"] => {
            let rank: u8 = number(rank)?;
            let is_ten = |card| matches!(tarot::suited(card), Some((_, tarot::Suited::Small(own))) if own == rank);
            let roofs: Vec<Face> = tarot::all().filter(|card| tarot::roof_element(*card).is_some()).collect();
            let trumps = roofs.iter().filter(|card| tarot::is_trump(**card)).count();
            let all_trumps = tarot::all().filter(|card| tarot::is_trump(*card)).count();
            let tens: Vec<Face> = tarot::all().filter(|card| is_ten(*card)).collect();
            (1..all_trumps).contains(&trumps)
                && !tens.is_empty()
                && tens.iter().all(|card| roofs.contains(card))
                && roofs.iter().all(|card| tarot::is_trump(*card) || is_ten(*card))
        }
        [roof, "scores", points, "and", each, "for", "each", "of", count, "pyramids"] => {
            let (points, each, count): (i64, i64, i64) = (number(points)?, number(each)?, number(count)?);
            let after = later()?;
            let roofed = after.last_hand()?.houses.get(ME.index())?;
            let new = roofed.score() - house.score();
            let stones = i64::try_from(house.pyramids().count()).ok()?;
            roofed.roof == tarot::by_name(roof) && stones == count && each == 1 && new == points + each * count
        }
        ["pyramids", "scored", points, "roof", more] => {
            let house = game.last_hand()?.houses.get(ME.index())?;
            let bare = House { roof: None, ..house.clone() }.score();
            house.stories() == 0 && numbers::<i64>(&[points, more])? == [bare, house.score() - bare]
        }
        ["hand", "cost", points] => {
            let hand = game.last_hand()?.hands.get(ME.index())?;
            equals(-tarot::hand_score(hand.iter().copied()), points)?
        }
        ["won", "alone", "with", points] => leads(&game.last_hand()?.scores, number(points)?),
        _ => return None,
    })
}
