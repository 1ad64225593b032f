//! Animations of the table, and the scoring of a hand step by step.

use fairdeal_games::TableGame as _;
use fairdeal_games::thoth::cards;
use fairdeal_games::thoth::house::{CORNERS, House};
use fairdeal_games::thoth::{Thoth, ThothEvent, Use};
use fairdeal_protocol::card::{Face, Slot};
use fairdeal_protocol::seat::Seat;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::{names, parts};
use crate::canvas::{fit, wrapped};
use crate::tables::{Animation, Motion, Spot, ViewContext};
use crate::theme::Theme;

/// Columns of the cards in hand on the sheet, which fit on the smallest screen.
const HELD: usize = 47;

/// A face-up card in flight.
fn open(card: Face, theme: &Theme) -> Line<'static> {
    let style = names::card_style(theme, card).add_modifier(Modifier::BOLD);
    Line::styled(format!("{:^3}", names::brief(card, theme)), style)
}

/// A face-down card in flight.
fn sealed(theme: &Theme) -> Line<'static> {
    Line::styled(theme.glyph("▒▒▒", "###"), theme.back())
}

fn pyramids(count: usize) -> impl Fn(&Theme) -> Line<'static> {
    move |theme| Line::styled(theme.glyph("▲", "A").repeat(count.min(4)), theme.title())
}

/// Where a played card lay: at its place in the player's own hand, or at another seat's hand on the board.
fn held(seat: Seat, card: Face, view: &ViewContext<'_>) -> Spot {
    if view.me != Some(seat) {
        return parts::hand(seat);
    }
    // The newest, because a reshuffled card was known by other handles before.
    let known = view.known.iter().filter(|(_, face)| *face == card).last();
    Spot::Card(known.map_or(Slot::Open(card), |(handle, _)| Slot::Sealed(handle)))
}

/// An event as a picture for the log: the card, and what it is used for.
pub(super) fn sketch(event: &ThothEvent, view: &ViewContext<'_>) -> Option<Line<'static>> {
    let theme = view.theme;
    let face = |card: Face| {
        let style = names::card_style(theme, card).add_modifier(Modifier::BOLD);
        Span::styled(names::brief(card, theme), style)
    };
    let back = || Span::styled(theme.glyph("▒▒", "##"), theme.back());
    Some(match *event {
        ThothEvent::Drew { .. } => vec![Span::raw("+"), back()].into(),
        ThothEvent::Picked { card, .. } => vec![Span::raw("+"), face(card)].into(),
        ThothEvent::Played { card, as_: Use::Discard, .. } => vec![Span::raw(theme.glyph("−", "-")), face(card)].into(),
        ThothEvent::Played { card, as_, .. } => {
            let arrow = Span::raw(theme.glyph("→", ">"));
            let word = |word: &'static str| Span::raw(word);
            let what = match as_ {
                Use::Raise { size, count } => {
                    let style =
                        cards::redeemed(card).map_or(theme.title(), |(element, _)| names::style(theme, element));
                    Span::styled(names::sign(theme, size).repeat(usize::from(count).min(CORNERS)), style)
                }
                Use::Trouble { target, .. } => {
                    let bolt = theme.glyph("ϟ", "!");
                    Span::styled(format!("{bolt}{}", view.name(target)), theme.bad())
                }
                Use::Foundation => word("Foundation"),
                Use::Story => word("Story"),
                Use::Roof => word("Roof"),
                Use::Relieve => word("relief"),
                Use::Discard => word(""),
            };
            vec![face(card), arrow, what].into()
        }
        ThothEvent::Rolled { roll, .. } => Span::styled(format!("[{roll}/20]"), theme.accent()).into(),
        ThothEvent::KnockedOver { victim, .. } => {
            let fall = theme.glyph("ϟ", "!");
            Span::styled(format!("{fall}{}", view.name(victim)), theme.bad()).into()
        }
        _ => return None,
    })
}

/// The motions that animate an event.
pub(super) fn motions(game: &Thoth, event: &ThothEvent, view: &ViewContext<'_>) -> Vec<Motion> {
    let theme = view.theme;
    let fly = |what, from, to| Motion::Fly { what, from, to };
    match event {
        ThothEvent::Dealt { .. } => {
            game.playing().iter().map(|seat| fly(sealed(theme), parts::DECK, parts::hand(seat))).collect()
        }
        ThothEvent::Drew { seat } => {
            let last = game.hand_of(*seat).last().filter(|_| view.me == Some(*seat));
            let to = last.map_or(parts::hand(*seat), |slot| Spot::Card(*slot));
            vec![fly(sealed(theme), parts::DECK, to)]
        }
        ThothEvent::Reshuffled { .. } => vec![fly(sealed(theme), parts::DISCARDS, parts::DECK)],
        ThothEvent::Bid { seat } => vec![fly(sealed(theme), parts::hand(*seat), parts::POOL)],
        ThothEvent::Bids { .. } => vec![Motion::Flash(parts::POOL)],
        ThothEvent::Picked { seat, card } => {
            let spot = Spot::Card(Slot::Open(*card));
            let to = if view.me == Some(*seat) { spot } else { parts::hand(*seat) };
            vec![fly(open(*card, theme), spot, to)]
        }
        ThothEvent::Played { seat, card, as_ } => played(game, (*seat, *card, *as_), view),
        ThothEvent::Demolished { seat, fell } => {
            let mut all = vec![fly(pyramids(4)(theme), Spot::Seat(*seat), parts::BANK)];
            all.extend(fell.then_some(Motion::Flash(Spot::Seat(*seat))));
            all
        }
        ThothEvent::Rolled { seat, roll } => {
            // The die comes down on the house that it threatens.
            let die = Line::styled(format!("[{roll}/20]"), theme.accent());
            vec![fly(die, parts::hand(*seat), Spot::Seat(*seat))]
        }
        ThothEvent::KnockedOver { by, victim, .. } => {
            let house = Line::styled(theme.glyph("▟█▙", "/_\\"), theme.accent());
            vec![Motion::Flash(Spot::Seat(*victim)), fly(house, Spot::Seat(*by), Spot::Seat(*victim))]
        }
        ThothEvent::Left { seat } => vec![Motion::Flash(Spot::Seat(*seat))],
        ThothEvent::Over { winners } => winners.iter().map(|seat| Motion::Flash(Spot::Seat(seat))).collect(),
        ThothEvent::Scored { .. } => Vec::new(),
    }
}

fn played(game: &Thoth, (seat, card, as_): (Seat, Face, Use), view: &ViewContext<'_>) -> Vec<Motion> {
    let theme = view.theme;
    let from = held(seat, card, view);
    let fly = |to| Motion::Fly { what: open(card, theme), from, to };
    let house = Spot::Seat(seat);
    let stands = game.house(seat).filter(|house| house.stands());
    match as_ {
        Use::Foundation | Use::Story => {
            let top = stands.map(|house| house.stories());
            vec![fly(top.map_or(house, |top| parts::level(seat, top)))]
        }
        // Unless it was the last one: then the hand is over, and the house is gone.
        Use::Roof => {
            let roof = stands.and_then(|house| house.roof);
            vec![fly(roof.map_or(house, |_| parts::roof(seat)))]
        }
        Use::Raise { size, count } => {
            let element = cards::redeemed(card).map(|(element, _)| element);
            let what = names::sign(theme, size).repeat(usize::from(count).min(CORNERS));
            let style = element.map_or(theme.title(), |element| names::style(theme, element));
            vec![
                fly(parts::DISCARDS),
                Motion::Fly {
                    what: Line::styled(what, style.add_modifier(Modifier::BOLD)),
                    from: parts::BANK,
                    to: house,
                },
            ]
        }
        Use::Trouble { target, replace } => {
            let trouble = game.house(target).map_or(0, |house| house.trouble.len());
            let place = replace.map_or(trouble.saturating_sub(1), usize::from);
            let to = if trouble > place { parts::trouble(target, place) } else { Spot::Seat(target) };
            vec![fly(to), Motion::Flash(Spot::Seat(target))]
        }
        Use::Relieve => vec![fly(house), Motion::Flash(house)],
        Use::Discard => vec![fly(parts::DISCARDS)],
    }
}

/// The points of a house: pips, Stories, Roof.
fn points(house: &House) -> (i64, i64, i64) {
    let pips: i64 = house.pyramids().map(|pyramid| i64::from(pyramid.size.pips())).sum();
    let stories = i64::try_from(house.stories()).unwrap_or(0);
    (pips, stories, house.score() - pips - stories)
}

/// A line with one styled span, because animations show lines span by span.
fn told(text: String, style: Style) -> Line<'static> {
    Line::from(Span::styled(text, style))
}

/// An event that a sheet tells: the bids, or the scoring of the hand just ended.
pub(super) fn show(game: &Thoth, event: &ThothEvent, view: &ViewContext<'_>) -> Option<Animation> {
    match event {
        ThothEvent::Bids { bids, winner } => Some(bids_shown(bids, *winner, view)),
        ThothEvent::Demolished { seat, fell: true } => Some(fallen(*seat, view)),
        ThothEvent::KnockedOver { by, victim, toppled } => Some(knocked_over(*by, *victim, *toppled, view)),
        ThothEvent::Scored { ended_by, scores, totals } => scored(game, (*ended_by, scores, totals), view),
        _ => None,
    }
}

/// A house that the die has brought down.
fn fallen(seat: Seat, view: &ViewContext<'_>) -> Animation {
    let theme = view.theme;
    let is_mine = view.me == Some(seat);
    let whose = if is_mine { "Your".to_owned() } else { format!("{}'s", view.name(seat)) };
    let lines = [
        ("The die of twenty showed no more than the Stories of the house.", theme.ink()),
        ("It is a Foundation again, and its pyramids are back in the bank.", theme.accent()),
    ];
    Animation {
        title: format!("{whose} house falls"),
        lines: lines.map(|(words, style)| told(words.to_owned(), style)).into(),
    }
}

/// A house that another player has knocked over, by a twenty or on purpose.
fn knocked_over(by: Seat, victim: Seat, toppled: bool, view: &ViewContext<'_>) -> Animation {
    let theme = view.theme;
    let (by, victim) = (view.name(by), view.name(victim));
    let how = if toppled { "topples it for 156 points" } else { "rolls a twenty: it is an accident" };
    let lines = [
        (format!("{by} {how}."), theme.ink()),
        (format!("{victim} takes over the house of {by}, who begins again."), theme.accent()),
    ];
    Animation {
        title: format!("The house of {victim} is knocked over"),
        lines: lines.map(|(words, style)| told(words, style)).into(),
    }
}

/// All bids, side by side, and what comes of them. The picking may be over by then.
fn bids_shown(bids: &[Option<Face>], winner: Option<Seat>, view: &ViewContext<'_>) -> Animation {
    let theme = view.theme;
    let shown = Seat::first(bids.len()).zip(bids).filter_map(|(seat, bid)| Some((seat, (*bid)?)));
    let row = |(seat, card): (Seat, Face)| {
        let name = if winner == Some(seat) { theme.accent() } else { theme.title() };
        let style = names::card_style(theme, card).add_modifier(Modifier::BOLD);
        let number = if cards::is_trump(card) { format!("  trump {}", names::rank(card)) } else { String::new() };
        Line::from(vec![
            Span::styled(fit(view.name(seat), 12), name),
            Span::styled(cards::full_name(card), style),
            Span::styled(number, theme.ink()),
        ])
    };
    let mut lines: Vec<Line<'static>> = shown.map(row).collect();
    lines.push(Line::default());
    let texts = match winner {
        Some(winner) if view.me == Some(winner) => {
            ["You have the first turn.", "The bids are picked up again: you pick last."].map(str::to_owned)
        }
        Some(winner) => {
            let name = view.name(winner);
            [format!("{name} has the first turn."), format!("The bids are picked up again: {name} picks last.")]
        }
        None => ["The best bids are alike: all bid again.", "These bids stay in the pool."].map(str::to_owned),
    };
    let [result, rest] = texts;
    lines.push(told(result, theme.accent()));
    lines.push(told(rest, theme.ink()));
    Animation { title: "The bids are shown".to_owned(), lines }
}

/// The scoring of the hand just ended, house by house.
fn scored(
    game: &Thoth,
    (ended_by, scores, totals): (Option<Seat>, &[i64], &[i64]),
    view: &ViewContext<'_>,
) -> Option<Animation> {
    let theme = view.theme;
    let last = game.last_hand()?;
    let roofed = last.houses.iter().any(|house| house.roof.is_some());
    let how = if roofed { "puts on the Roof" } else { "calls the end" };
    let title = ended_by
        .map_or_else(|| "The deck is empty for the fifth time".to_owned(), |seat| format!("{} {how}", view.name(seat)));
    let mut lines = vec![told(
        format!("{:<8}{:>6}{:>9}{:>7}{:>7}{:>9}{:>9}", "", "pips", "Stories", "Roof", "hand", "score", "total"),
        theme.faint(),
    )];
    let best = scores.iter().max();
    for seat in Seat::first(game.seats()) {
        let at = seat.index();
        let (Some(house), Some(hand), Some(score), Some(total)) =
            (last.houses.get(at), last.hands.get(at), scores.get(at), totals.get(at))
        else {
            continue;
        };
        let (pips, stories, roof) = points(house);
        let cost = cards::hand_score(hand.iter().copied());
        let bad = if cost < 0 { theme.bad() } else { theme.text() };
        let sum = if Some(score) == best { theme.accent() } else { theme.title() };
        let number = |value: i64, width: usize, style| {
            let text = if value == 0 { theme.glyph("·", "-").to_owned() } else { format!("{value:+}") };
            Span::styled(format!("{text:>width$}"), style)
        };
        lines.push(Line::from(vec![
            Span::styled(fit(view.name(seat), 8), theme.title()),
            number(pips, 6, theme.good()),
            number(stories, 9, theme.good()),
            number(roof, 7, theme.good()),
            number(cost, 7, bad),
            Span::styled(format!("{score:>+9}"), sum),
            Span::styled(format!("{total:>9}"), theme.title()),
        ]));
        let held: Vec<String> = hand.iter().map(|card| cards::full_name(*card)).collect();
        let text = format!("holds {}", held.join(", "));
        let rows = wrapped(&text, HELD, 6).into_iter().filter(|_| !held.is_empty());
        lines.extend(rows.map(|row| told(format!("{:<8}{row}", ""), theme.ink())));
    }
    let winners: Vec<&str> =
        Seat::first(scores.len()).filter(|seat| scores.get(seat.index()) == best).map(|seat| view.name(seat)).collect();
    let verb = if winners.len() == 1 { "has" } else { "have" };
    lines
        .push(told(format!("{} {verb} the best score of the hand.", fairdeal_games::listed(&winners)), theme.accent()));
    let target = game.target();
    if totals.iter().any(|total| *total >= target) {
        let words = match target {
            1 => "Somebody has scored: the game is over.".to_owned(),
            _ => format!("A total has reached {target}: the game is over."),
        };
        lines.push(told(words, theme.title()));
    }
    Some(Animation { title: format!("{title}: the hand is over"), lines })
}
