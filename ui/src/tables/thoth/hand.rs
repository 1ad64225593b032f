//! The player's own hand: every card with its worth, its possible uses now, and why the others are blocked.

use fairdeal_games::pyramid::Size;
use fairdeal_games::thoth::cards::{self, Element, Suited};
use fairdeal_games::thoth::house::{CORNERS, House, Level, Pyramid};
use fairdeal_games::thoth::{Phase, Thoth};
use fairdeal_protocol::card::{Face, Slot};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::names;
use crate::canvas::{Canvas, fit, wrapped};
use crate::tables::{Spot, ViewContext};

/// The roles in which a card can be played, without details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Foundation,
    Raise,
    Story,
    Roof,
    Trouble,
    Relieve,
    Discard,
}

impl Kind {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Foundation => "Foundation",
            Self::Raise => "raise",
            Self::Story => "Story",
            Self::Roof => "Roof",
            Self::Trouble => "Trouble",
            Self::Relieve => "relieve",
            Self::Discard => "discard",
        }
    }
}

/// A use that a card is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) kind: Kind,
    /// Why not now, in at most ten columns; `None` if it is possible.
    pub(super) blocked: Option<String>,
}

/// Every use that a card is made for, and whether its owner could make it now in its turn.
pub(super) fn ways(game: &Thoth, me: Seat, card: Face) -> Vec<Way> {
    let bare = House::default();
    let house = game.house(me).unwrap_or(&bare);
    let mut ways = Vec::new();
    let mut way = |kind, blocked: Option<String>| {
        let trouble = house.in_trouble() && !matches!(kind, Kind::Relieve | Kind::Discard);
        let blocked = blocked.or_else(|| trouble.then(|| "in Trouble".to_owned()));
        ways.push(Way { kind, blocked });
    };
    if cards::is_foundation(card) {
        way(Kind::Foundation, house.stands().then(|| "built".to_owned()));
    }
    if let Some((element, value)) = cards::redeemed(card) {
        way(Kind::Raise, no_raise(game, house, element, value));
    }
    if matches!(cards::suited(card), Some((_, Suited::Court(_)))) || cards::is_planetary(card) {
        let wants = cards::suit_element(card);
        way(
            Kind::Story,
            no_top(house, wants, |below| cards::fits_as_story(card, below)),
        );
    }
    if let Some(element) = cards::roof_element(card) {
        way(
            Kind::Roof,
            no_top(house, Some(element), |below| below.contains(&element)),
        );
    }
    if let Some(element) = cards::zodiacal(card) {
        let others = game.playing().iter().filter(|seat| *seat != me);
        let mut houses = others
            .filter_map(|seat| game.house(seat))
            .filter(|house| house.stands())
            .peekable();
        let blocked = if houses.peek().is_none() {
            Some("no target")
        } else if houses.all(|house| house.is_immune(element)) {
            Some("all immune")
        } else {
            None
        };
        way(Kind::Trouble, blocked.map(str::to_owned));
    }
    if house.in_trouble() && cards::relieves(card).is_some() {
        let blocked = (!house.is_relieved_by(card)).then(|| format!("needs {}", wanted(house)));
        way(Kind::Relieve, blocked);
    }
    way(Kind::Discard, house.is_relieved_by(card).then(|| "relieves".to_owned()));
    ways
}

/// The letters of the elements that relieve a house of Trouble.
pub(super) fn wanted(house: &House) -> String {
    let elements: Vec<Element> = house.trouble.iter().filter_map(|card| cards::zodiacal(*card)).collect();
    names::letters(&elements)
}

fn no_raise(game: &Thoth, house: &House, element: Element, value: u8) -> Option<String> {
    let Some(top) = house.top() else {
        return Some("no house".to_owned());
    };
    if top.is_full() {
        return Some("level full".to_owned());
    }
    if !cards::allows(top.card, element) {
        return Some(format!("takes no {}", names::letter(element)));
    }
    let sizes = Size::ALL
        .into_iter()
        .filter(|size| top.takes(Pyramid { element, size: *size }));
    let mut there = sizes.filter(|size| game.bank().count(element, *size) > 0).peekable();
    if there.peek().is_none() {
        return Some("bank out".to_owned());
    }
    there.all(|size| size.pips() > value).then(|| "too weak".to_owned())
}

/// Why a card cannot go on the top level, which must be full and must fit.
fn no_top(house: &House, wants: Option<Element>, fits: impl Fn(&[Element]) -> bool) -> Option<String> {
    let Some(top) = house.top() else {
        return Some("no house".to_owned());
    };
    if !top.is_full() {
        return Some(format!("top {} of {CORNERS}", top.pyramids.len()));
    }
    let wants = wants.map_or("", names::letter);
    (!fits(&top.elements())).then(|| format!("no {wants} below"))
}

/// The most pyramids that a card puts on a started level, and their size.
fn most(game: &Thoth, top: &Level, card: Face) -> Option<(usize, Size)> {
    let (element, value) = cards::redeemed(card)?;
    let size = top.pyramids.first()?.size;
    let free = CORNERS.saturating_sub(top.pyramids.len());
    let count = free
        .min(usize::from(value / size.pips()))
        .min(usize::from(game.bank().count(element, size)));
    Some((count, size))
}

/// The worth of a card, as at the foot of the card.
fn worth(card: Face) -> String {
    match cards::redeemed(card) {
        Some((element, value)) => format!("{value} {}", element.name()),
        None => "court".to_owned(),
    }
}

/// The columns of a card in the hand: six cards fit, and a word beside them.
fn card_width(area: Rect, cards: usize) -> u16 {
    let cards = u16::try_from(cards).unwrap_or(u16::MAX).max(6);
    (area.width.saturating_sub(8) / cards).min(26)
}

/// The rows inside a card: its possible uses now, then the blocked ones with their reasons.
fn lines(game: &Thoth, view: &ViewContext<'_>, me: Seat, card: Face, width: usize) -> Vec<Line<'static>> {
    let theme = view.theme;
    if game.is_over() {
        return Vec::new();
    }
    if game.phase() == Phase::Bid {
        let rank = cards::is_trump(card).then(|| format!("trump {}", card.0));
        return vec![
            Line::styled("bid", theme.title()),
            Line::styled(rank.unwrap_or_else(|| "no trump".to_owned()), theme.faint()),
        ];
    }
    let ways = ways(game, me, card);
    let (can, cannot): (Vec<Way>, Vec<Way>) = ways.into_iter().partition(|way| way.blocked.is_none());
    let point = theme.glyph("▸", ">");
    let can = can.into_iter().map(|way| {
        let word = way.kind.word();
        let top = game.house(me).and_then(House::top);
        let most = top
            .filter(|_| way.kind == Kind::Raise)
            .and_then(|top| most(game, top, card));
        let mut texts = vec![format!("{point} {word}"), word.to_owned()];
        if let Some((count, size)) = most {
            let sign = names::sign(theme, size);
            texts.insert(0, format!("{point} {word} {count}{sign}"));
            texts.insert(0, format!("{point} {word} up to {count} {sign}"));
        }
        if let Some((_, value)) = cards::redeemed(card).filter(|_| way.kind == Kind::Raise && most.is_none()) {
            texts.insert(0, format!("{point} {word} {value} pips"));
        }
        let fits = texts.into_iter().find(|text| text.width() <= width);
        let style = if way.kind == Kind::Discard {
            theme.ink()
        } else {
            theme.title()
        };
        Line::styled(fits.unwrap_or_default(), style)
    });
    // A card that can relieve has no other use then, which needs no words here.
    let cannot = cannot.into_iter().filter(|way| way.kind != Kind::Discard);
    let cannot = cannot.filter_map(|way| {
        let (word, why) = (way.kind.word(), way.blocked?);
        let long = format!("{} {word}: {why}", theme.glyph("·", "-"));
        let text = if long.width() <= width { long } else { why };
        Some(Line::styled(text, theme.faint()))
    });
    can.chain(cannot).collect()
}

/// Draws the viewer's hand.
pub(super) fn draw(game: &Thoth, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(me) = view.me else {
        canvas.put(
            area,
            Line::styled(" You are watching: hands are sealed.", view.theme.faint()),
        );
        return;
    };
    let hand = game.hand_of(me);
    let wide = card_width(area, hand.len());
    let places = (0..).map(|number: u16| Rect {
        x: area.x.saturating_add(wide.saturating_mul(number)),
        width: wide,
        ..area
    });
    for (slot, place) in hand.iter().zip(places) {
        card(game, view, canvas, (*slot, me), place.intersection(area));
    }
    let used = wide.saturating_mul(u16::try_from(hand.len().max(6)).unwrap_or(u16::MAX));
    let beside = Rect {
        x: area.x.saturating_add(used).saturating_add(1).min(area.right()),
        width: area.width.saturating_sub(used).saturating_sub(1),
        ..area
    };
    cost(game, view, canvas, beside);
}

/// Draws the cost of the hand if the game ended now.
fn cost(game: &Thoth, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(me) = view.me.filter(|_| area.width >= 6) else {
        return;
    };
    let faces = game.hand_of(me).iter().filter_map(|slot| slot.face(view.known));
    let cost = cards::hand_score(faces);
    let theme = view.theme;
    let width = usize::from(area.width);
    let style = if cost < 0 { theme.bad() } else { theme.good() };
    let mut rows = vec![
        Line::styled(fit("in hand", width), theme.title()),
        Line::styled(format!("{cost:+}"), style.add_modifier(Modifier::BOLD)),
    ];
    let rest = "at the end";
    let texts = wrapped(rest, width, 0).into_iter();
    rows.extend(texts.map(|text| Line::styled(text, theme.faint())));
    canvas.rows(area, rows);
}

fn card(game: &Thoth, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, (slot, me): (Slot, Seat), area: Rect) {
    let theme = view.theme;
    let spot = Spot::Card(slot);
    let inner = usize::from(area.width.saturating_sub(2));
    let Some(face) = slot.face(view.known) else {
        let back = theme.glyph("░", ":").repeat(inner);
        let rows = vec![Line::raw(back); usize::from(area.height)];
        canvas.card(area, &rows, theme.faint(), Some(spot));
        return;
    };
    let hidden = canvas.place(area, spot).hidden;
    let style = names::card_style(theme, face);
    // The card's own style would override those of its lines, so the lines are drawn after it.
    canvas.card(area, &[], style, Some(spot));
    if hidden || area.height < 2 || area.width < 6 {
        return;
    }
    let inside = Rect {
        x: area.x + 1,
        width: area.width - 2,
        ..area
    };
    let edge = |text: String| {
        let text = if text.width() + 2 <= inner {
            format!(" {text} ")
        } else {
            text
        };
        Span::styled(text, style.add_modifier(Modifier::BOLD))
    };
    let width = |text: &Span<'_>| u16::try_from(text.width()).unwrap_or(u16::MAX);
    let room = if cards::is_trump(face) {
        inner
    } else {
        inner.saturating_sub(2)
    };
    let name = edge(names::named(face, room));
    canvas.put(
        Rect {
            width: width(&name).min(inside.width),
            ..inside
        },
        name,
    );
    let foot = edge(worth(face));
    let foot_area = Rect {
        y: area.bottom() - 1,
        width: width(&foot).min(inside.width),
        ..inside
    };
    canvas.put(foot_area, foot);
    let middle = Rect {
        y: area.y + 1,
        height: area.height - 2,
        ..inside
    };
    canvas.rows(middle, lines(game, view, me, face, inner));
}
