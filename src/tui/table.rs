//! The Loot table: seats, piles, the log, the own hand arranged, what is legal, and the seal.

use fairdeal_protocol::card::{Faces, Slot};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::Progress;
use fairdeal_protocol::table::replica::StepKind;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Wrap};
use unicode_width::UnicodeWidthStr as _;

use super::app::{App, Hit, groups, loose};
use super::cards;
use super::rows::{short_names, some};
use crate::games::loot::cards::{God, suit};
use crate::games::loot::{Loot, LootAction as Action, Phase, Pile};
use crate::session::Snapshot;

/// From how many columns on there is room for gaps between cards and for more words.
const WIDE: usize = 100;
/// How many columns of a seat's row stand before the cards that were seen.
const BEFORE_SEEN: usize = 37;

/// Draws the table. The area is at least 80 by 24.
pub(super) fn draw(app: &mut App, frame: &mut Frame<'_>) {
    let [title, top, log, hand, hint, seal] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(8),
        Constraint::Min(3),
        Constraint::Length(cards::HEIGHT + 2),
        Constraint::Length(1),
        Constraint::Length(2),
    ])
    .areas(frame.area());
    let [seats, piles] =
        Layout::horizontal([Constraint::Min(50), Constraint::Length(30)]).areas(top);
    draw_title(app, frame, title);
    draw_seats(app, frame, seats);
    draw_piles(app, frame, piles);
    draw_log(app, frame, log);
    draw_hand(app, frame, hand);
    draw_hint(app, frame, hint);
    draw_seal(app, frame, seal);
}

pub(super) fn block<'a>(app: &App, title: &'a str) -> Block<'a> {
    Block::bordered()
        .border_set(app.theme.border())
        .border_style(app.theme.faint())
        .title(Span::styled(format!(" {title} "), app.theme.title()))
}

/// Draws a button and remembers where it is; gives the column after it.
pub(super) fn button(
    app: &mut App,
    frame: &mut Frame<'_>,
    (x, y): (u16, u16),
    (key, label): (&str, &str),
    hit: Hit,
) -> u16 {
    let text = format!("[{key} {label}]");
    let width = u16::try_from(text.width()).unwrap_or(0);
    let area = Rect::new(x, y, width, 1).intersection(frame.area());
    let spans = vec![
        Span::raw("["),
        Span::styled(key.to_owned(), app.theme.key()),
        Span::raw(format!(" {label}]")),
    ];
    frame.render_widget(Line::from(spans), area);
    app.hits.push((area, hit));
    x + width + 1
}

fn draw_title(app: &mut App, frame: &mut Frame<'_>, area: Rect) {
    let Some(loot) = app.loot() else { return };
    let deal = app
        .snapshot
        .as_ref()
        .map_or(0, |snapshot| snapshot.progress.deal + 1);
    let left = format!(
        " fairdeal {} Loot {} hand {} {} deal {deal} {} to {}",
        app.theme.glyph("›", ">"),
        app.theme.glyph("·", "-"),
        loot.hand_no(),
        app.theme.glyph("·", "-"),
        app.theme.glyph("·", "-"),
        loot.target(),
    );
    frame.render_widget(Line::styled(left, app.theme.title()), area);
    let x = area.right().saturating_sub(18);
    let x = button(app, frame, (x, area.y), ("?", "help"), Hit::Help);
    button(app, frame, (x, area.y), ("q", "quit"), Hit::Leave);
}

/// Cuts a text to a width and pads it.
pub(super) fn fit(text: &str, width: usize) -> String {
    let mut out = String::new();
    for c in text.chars() {
        let mut longer = out.clone();
        longer.push(c);
        if longer.width() > width {
            break;
        }
        out = longer;
    }
    let pad = width.saturating_sub(out.width());
    out + &" ".repeat(pad)
}

fn draw_seats(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let (Some(snapshot), Some(loot)) = (&app.snapshot, app.loot()) else {
        return;
    };
    let inner = block(app, "Seats").inner(area);
    frame.render_widget(block(app, "Seats"), area);
    let heading = format!("  {} total  cards turns  seen", fit("name", 14));
    let mut lines = vec![Line::styled(heading, app.theme.faint())];
    let names = short_names(&snapshot.names, &app.theme);
    let room = usize::from(inner.width).saturating_sub(BEFORE_SEEN);
    for named in Seat::first(names.len()).zip(&names) {
        lines.push(seat_line(app, snapshot, loot, named, room));
    }
    frame.render_widget(Paragraph::new(lines), inner);
}

fn seat_line(
    app: &App,
    snapshot: &Snapshot,
    loot: &Loot,
    (seat, name): (Seat, &String),
    room: usize,
) -> Line<'static> {
    let turn = loot.turn() == Some(seat);
    let marker = if turn {
        app.theme.glyph("▶", ">")
    } else {
        " "
    };
    let total = loot.totals().get(seat.index()).copied().unwrap_or(0);
    let whose = if Some(seat) == snapshot.me {
        format!("{name} (you)")
    } else {
        name.clone()
    };
    let hand = loot.hand_of(seat);
    let style = if turn {
        app.theme.title()
    } else {
        Style::new()
    };
    let mut spans = vec![
        Span::styled(format!("{marker} {}", fit(&whose, 14)), style),
        Span::raw(format!(
            "{total:>6}{:>7}{:>6}  ",
            hand.len(),
            loot.turns().get(seat.index()).copied().unwrap_or(0)
        )),
    ];
    if loot.forfeited().contains(seat) {
        spans.push(Span::styled("has left", app.theme.bad()));
    } else if !snapshot.connected.contains(seat) {
        spans.push(Span::styled("offline", app.theme.bad()));
    } else if loot.fire() == Some(seat) {
        spans.push(Span::styled("fires!", app.theme.bad()));
    } else if Some(seat) != snapshot.me {
        // Cards that everybody saw this seat take.
        let seen = hand.iter().filter(|slot| matches!(slot, Slot::Open(_)));
        let seen = seen.filter_map(|slot| slot.face(&Faces::new()));
        let seen = seen.map(|face| Line::styled(cards::short(face), app.theme.suit(suit(face))));
        for word in some(seen.collect(), room, &app.theme) {
            spans.extend(word);
            spans.push(Span::raw(" "));
        }
    }
    Line::from(spans)
}

fn card_block(app: &App, frame: &mut Frame<'_>, area: Rect, lines: [String; 3], style: Style) {
    let area = area.intersection(frame.area());
    let block = Block::bordered()
        .border_set(app.theme.border())
        .style(style);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    frame.render_widget(
        Paragraph::new(lines.map(Line::from).to_vec()).style(style),
        inner,
    );
}

fn draw_piles(app: &mut App, frame: &mut Frame<'_>, area: Rect) {
    let Some(loot) = app.loot() else { return };
    let (count, top, depth) = (
        loot.draw_pile().len(),
        loot.discard_pile().last().copied(),
        loot.discard_pile().len(),
    );
    let inner = block(app, "Piles").inner(area);
    frame.render_widget(block(app, "Piles"), area);
    let card = |x: u16| Rect::new(inner.x + x, inner.y, cards::WIDTH, cards::HEIGHT);
    let (draw, discard) = (card(2), card(15));
    let back = app.theme.glyph("░░░░░░", "######");
    let sealed = [back.to_owned(), "sealed".to_owned(), back.to_owned()];
    if count > 0 {
        card_block(app, frame, draw, sealed, Style::new());
        app.hits.push((draw, Hit::Draw));
    }
    if let Some(face) = top {
        card_block(
            app,
            frame,
            discard,
            cards::lines(face),
            app.theme.suit(suit(face)),
        );
        app.hits.push((discard, Hit::Discard));
    }
    let y = inner.y + cards::HEIGHT;
    let draw_label = format!("draw {count}");
    let labels = Line::from(vec![
        Span::styled(" d ", app.theme.key()),
        Span::raw(fit(&draw_label, 10)),
        Span::styled(" t ", app.theme.key()),
        Span::raw(format!("discard {depth}")),
    ]);
    frame.render_widget(
        labels,
        Rect::new(inner.x, y, inner.width, 1).intersection(inner),
    );
}

/// Breaks a line at blanks into rows of a width; rows after the first are indented by one.
fn wrapped(line: &str, width: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    for word in line.split(' ') {
        if let Some(row) = rows.last_mut() {
            if row.trim().is_empty() || row.width() + 1 + word.width() <= width {
                if !row.is_empty() && !row.ends_with(' ') {
                    row.push(' ');
                }
                row.push_str(word);
                continue;
            }
            rows.push(format!(" {word}"));
        }
    }
    rows
}

pub(super) fn draw_log(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let inner = block(app, "Log").inner(area);
    let rows = usize::from(inner.height);
    let width = usize::from(inner.width);
    let back = app.back.min(app.lines.len().saturating_sub(1));
    let until = app.lines.len() - back;
    // A line fills at least a row.
    let recent = app.lines.get(until.saturating_sub(rows)..until);
    let wrapped: Vec<String> = recent
        .unwrap_or_default()
        .iter()
        .flat_map(|line| wrapped(line, width))
        .collect();
    let shown = wrapped.get(wrapped.len().saturating_sub(rows)..);
    let lines: Vec<Line<'_>> = shown
        .unwrap_or_default()
        .iter()
        .map(|line| Line::raw(fit(line, width)))
        .collect();
    let title = if back > 0 {
        "Log (scrolled back)"
    } else {
        "Log"
    };
    frame.render_widget(block(app, title), area);
    frame.render_widget(Paragraph::new(lines), inner);
}

fn draw_hand(app: &mut App, frame: &mut Frame<'_>, area: Rect) {
    let hand = app.hand();
    let arrangement = app.arrangement();
    let wide = usize::from(area.width) >= WIDE;
    // Ten cards of eight columns fill eighty; with more room, combinations stand apart.
    let mut x = area.x + if wide { 2 } else { 0 };
    let points_row = area.y + cards::HEIGHT;
    let mut index = 0;
    let groups: Vec<(usize, String, bool)> = if app.by_suit {
        vec![(
            hand.len(),
            format!("worth {:+} as arranged best", arrangement.total),
            true,
        )]
    } else {
        let combined = groups(&arrangement).into_iter().map(|group| {
            let run = if group.with_run { "+run" } else { "" };
            let label = format!("{}{run} {:+}", group.label, group.points);
            (group.cards.len(), label, true)
        });
        let loose = loose(&arrangement)
            .into_iter()
            .map(|(_, points)| (1, format!("{points:+}"), false));
        combined.chain(loose).collect()
    };
    for (count, label, good) in groups {
        let start = x;
        for _ in 0..count {
            let Some(card) = hand.get(index) else { break };
            let rect = Rect::new(x, area.y, cards::WIDTH, cards::HEIGHT).intersection(area);
            let chosen = index == app.cursor;
            let style = app.theme.suit(suit(card.face));
            let style = if chosen {
                style.patch(app.theme.selected())
            } else {
                style
            };
            card_block(app, frame, rect, cards::lines(card.face), style);
            app.hits.push((rect, Hit::Card(index)));
            x += cards::WIDTH;
            index += 1;
        }
        let width = usize::from(x - start);
        let style = if good {
            app.theme.good()
        } else {
            app.theme.bad()
        };
        let text = format!("{label:^width$}");
        let rect = Rect::new(start, points_row, x - start, 1).intersection(area);
        frame.render_widget(Line::styled(text, style), rect);
        if wide {
            x += 1;
        }
    }
    let row = Rect::new(area.x, area.bottom().saturating_sub(1), area.width, 1);
    let text = hand_text(app, usize::from(row.width), arrangement.total);
    frame.render_widget(
        Line::styled(fit(&text, usize::from(row.width)), app.theme.title()),
        row,
    );
}

/// What the hand is worth, and the gods that act on it: what they do on a wide screen, else their
/// names, or those as they stand on the cards, whatever there is room for.
fn hand_text(app: &App, width: usize, worth: i32) -> String {
    if app.looks_on() {
        return " You look on: hands are sealed until their deal is opened.".to_owned();
    }
    let gods: Vec<God> = app.gods().iter().collect();
    if gods.is_empty() {
        return format!(" Your hand is worth {worth:+} now.");
    }
    let told = |name: fn(God) -> &'static str, between: &str| {
        let gods: Vec<&str> = gods.iter().map(|god| name(*god)).collect();
        gods.join(between)
    };
    let long = |gods: &str| format!(" Your hand is worth {worth:+} now. Gods in sight: {gods}.");
    let effects = (width >= WIDE).then(|| long(&told(God::effect, "; ")));
    let names = long(&told(God::name, "; "));
    let mut forms = effects.into_iter().chain([names]);
    forms
        .find(|text| text.width() <= width)
        .unwrap_or_else(|| format!(" Worth {worth:+}. Gods: {}", told(cards::god, " ")))
}

fn draw_hint(app: &mut App, frame: &mut Frame<'_>, area: Rect) {
    if let Some(toast) = &app.toast {
        let text = format!(" {} {toast}", app.theme.glyph("✗", "!"));
        return frame.render_widget(Line::styled(text, app.theme.bad()), area);
    }
    let (Some(snapshot), Some(loot)) = (&app.snapshot, app.loot()) else {
        return;
    };
    let me = snapshot.me;
    let may = |action| me.is_some_and(|me| loot.check(me, &action).is_ok());
    let fire = may(Action::Fire);
    let mine = me.is_some() && loot.turn() == me;
    let draw = may(Action::Take(Pile::Draw));
    let discard = may(Action::Take(Pile::Discard));
    let (over, phase) = (loot.is_over(), loot.phase());
    let waiting = loot.turn().and_then(|seat| {
        let names = short_names(&snapshot.names, &app.theme);
        names.get(seat.index()).cloned()
    });
    let text = match (over, mine, phase) {
        (true, ..) => " The game is over.".to_owned(),
        (_, true, Phase::Take) => " Your turn: take a card.".to_owned(),
        (_, true, Phase::Discard) => " Your turn: choose a card and discard it.".to_owned(),
        (_, false, _) => format!(" Waiting for {}.", waiting.unwrap_or_default()),
    };
    let mut x = area.x + u16::try_from(text.width()).unwrap_or(0) + 1;
    frame.render_widget(Line::styled(text, app.theme.title()), area);
    let y = area.y;
    if mine && draw {
        x = button(app, frame, (x, y), ("d", "draw"), Hit::Draw);
    }
    if mine && discard {
        x = button(app, frame, (x, y), ("t", "take discard"), Hit::Discard);
    }
    if mine && phase == Phase::Discard && !over {
        x = button(app, frame, (x, y), ("Enter", "discard"), Hit::DropSelected);
    }
    if fire {
        button(app, frame, (x, y), ("f", "fire"), Hit::Fire);
    }
}

fn names(snapshot: &Snapshot, seats: SeatSet) -> String {
    let list: Vec<&str> = seats
        .iter()
        .filter_map(|seat| snapshot.names.get(seat.index()).map(String::as_str))
        .collect();
    list.join(", ")
}

/// What protects this moment, in a sentence.
pub(super) fn seal_text(snapshot: &Snapshot) -> String {
    let Progress {
        kind,
        done,
        awaited,
        ..
    } = snapshot.progress;
    let (count, all) = (done.len(), snapshot.names.len());
    let missing = names(snapshot, awaited);
    match kind {
        None => "The log is closed: every seat has signed the end.".to_owned(),
        Some(StepKind::Commit) => {
            format!(
                "{count} of {all} have committed to their seeds; nothing is drawn before all have."
            )
        }
        Some(StepKind::Key) => format!("{count} of {all} have proved the key of this deal."),
        Some(StepKind::Escrow) => {
            format!("{count} of {all} have left their key in parts with the others.")
        }
        Some(StepKind::Accept) => {
            format!("{count} of {all} hold the others' keys in parts: the game can lose a seat.")
        }
        Some(StepKind::Rebuild { .. }) => {
            format!("{count} of {all} have given their parts of the shares of who is gone.")
        }
        Some(StepKind::Shuffle { .. }) => {
            format!("{count} of {all} have shuffled, with proof; {missing} shuffles now.")
        }
        Some(StepKind::Action { .. }) if count == 0 => {
            format!("All proofs good. {missing} is to act; every seat signs what it sees.")
        }
        Some(StepKind::Action { .. }) => {
            format!("{count} of {all} have signed this action and given their shares.")
        }
        Some(StepKind::Effects) => {
            format!("Opening cards: shares of {count} of {all} are in, each with proof.")
        }
        Some(StepKind::Tip) => format!("{count} of {all} have published their next coins."),
        Some(StepKind::Confirm) => {
            format!("{count} of {all} have confirmed that they hold the same log.")
        }
        Some(StepKind::Opening) => {
            format!("{count} of {all} have opened their seeds; every shuffle is computed again.")
        }
        Some(StepKind::Closing) => format!("{count} of {all} have closed this deal."),
    }
}

/// Who of the others is furthest away, and how far; nothing where that is less than a millisecond.
fn furthest(snapshot: &Snapshot) -> Option<String> {
    let away = snapshot.round_trips.iter();
    let here = away.filter(|(seat, millis)| snapshot.connected.contains(**seat) && **millis > 0);
    let (seat, millis) = here.max_by_key(|(_, millis)| **millis)?;
    let name = snapshot.names.get(seat.index())?;
    Some(format!(", {name} at {millis} ms"))
}

pub(super) fn draw_seal(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let Some(snapshot) = &app.snapshot else {
        return;
    };
    let head = Span::styled(
        format!(" {} ", app.theme.glyph("◈ seal", "# seal")),
        app.theme.good().add_modifier(Modifier::BOLD),
    );
    let text = match &app.failed {
        Some(why) => why.clone(),
        None => seal_text(snapshot),
    };
    let step = format!(
        "  step {}, log {}{}",
        snapshot.progress.step,
        snapshot.progress.log.short(),
        furthest(snapshot).unwrap_or_default()
    );
    let style = if app.failed.is_some() {
        app.theme.bad()
    } else {
        Style::new()
    };
    let line = Line::from(vec![
        head,
        Span::styled(text, style),
        Span::styled(step, app.theme.faint()),
    ]);
    frame.render_widget(Paragraph::new(line).wrap(Wrap { trim: false }), area);
}
