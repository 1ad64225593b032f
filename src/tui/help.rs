//! What lies over a table: help, questions, the result, and a polite word when there is no room.

use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph, Wrap};

use super::app::{App, Hit};
use super::table::button;
use crate::games::{GameInfo, game_info, loot};

fn centred(frame: &Frame<'_>, width: u16, height: u16) -> Rect {
    let area = frame.area();
    let [area] = Layout::vertical([Constraint::Length(height.min(area.height))])
        .flex(Flex::Center)
        .areas(area);
    let [area] = Layout::horizontal([Constraint::Length(width.min(area.width))])
        .flex(Flex::Center)
        .areas(area);
    area
}

fn window(app: &App, frame: &mut Frame<'_>, title: &str, width: u16, height: u16) -> Rect {
    let area = centred(frame, width, height);
    let block = Block::bordered()
        .border_set(app.theme.border())
        .title(Span::styled(format!(" {title} "), app.theme.title()));
    let inner = block.inner(area);
    frame.render_widget(Clear, area);
    frame.render_widget(block, area);
    inner
}

/// Any size, down to one cell.
pub(super) fn too_small(frame: &mut Frame<'_>) {
    let area = frame.area();
    let text = format!(
        "fairdeal needs 80 by 24 characters; this window has {} by {}. Please make it larger.",
        area.width, area.height
    );
    frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
}

pub(super) fn draw(app: &mut App, frame: &mut Frame<'_>) {
    let playing = app.snapshot.as_ref().map(|snapshot| snapshot.game.info());
    let info = playing.or_else(|| game_info(&app.lobby.game).ok());
    if let Some(info) = info.filter(|info| info.id != loot::INFO.id) {
        return rulebook(app, frame, info);
    }
    let inner = window(app, frame, "Help", 76, 24);
    let key = |keys: &str, what: &str| {
        Line::from(vec![
            Span::styled(format!(" {keys:<16}"), app.theme.key()),
            Span::raw(what.to_owned()),
        ])
    };
    let text = |line: &str| Line::raw(format!(" {line}"));
    let head = |line: &str| Line::styled(format!(" {line}"), app.theme.title());
    let lines = vec![
        key(
            "d  t",
            "take from the draw pile; take the top discard (or click a pile)",
        ),
        key("left right h l", "choose a card (or click it)"),
        key(
            "Enter space x",
            "discard the chosen card (or click it again)",
        ),
        key(
            "f",
            "fire the village, once every seat has completed a turn",
        ),
        key("s", "sort the hand by suit, or by what it scores"),
        key("PgUp PgDn wheel", "read back in the log"),
        key("q  Ctrl-C", "leave        ?  this page"),
        Line::raw(""),
        head("Loot: burn the village while your hand is worth more than theirs."),
        text("run     four or more ranks in a row, any suits"),
        text("set     three or more of one rank"),
        text("colour  four or more of one suit; a run within it scores as well"),
        text("Each card scores 2 for each combination it is in; a loose card costs its"),
        text("rank. A run of six ranks in six different suits: +5. The first to reach"),
        text("the target, up or down, ends the game; the highest total wins."),
        head("Gods in any hand count for everybody when the village burns:"),
        text("1 lady runs x2      2 dark lord runs half    3 builder colours of three"),
        text("4 thief loose = 0   5 protectress colours x2 6 seductress colours half"),
        text("7 minion sets half  8 friend sets x2         9 changeling rank 9 x2, +/-"),
        head("The seal: no dealer. All seats shuffle and prove it; a card is opened only"),
        text("by everybody's shares; every step is signed by all; after each hand all"),
        text("seeds are opened and every shuffle is computed again."),
    ];
    frame.render_widget(Paragraph::new(lines), inner);
    app.hits.push((frame.area(), Hit::Close));
}

/// The rulebook of the game at the table or in the lobby, with the keys before it.
fn rulebook(app: &mut App, frame: &mut Frame<'_>, info: &GameInfo) {
    let width = frame.area().width.saturating_sub(4).min(110);
    let height = frame.area().height;
    let inner = window(app, frame, info.name, width, height);
    let key = |keys: &str, what: &str| {
        Line::from(vec![
            Span::styled(format!("{keys:<22}"), app.theme.key()),
            Span::raw(what.to_owned()),
        ])
    };
    let mut lines = vec![
        key(
            "left right h l",
            "choose a card, a piece or a kind of action",
        ),
        key("up down j k", "choose what to do with it"),
        key("Enter space x", "do it (or click it twice)"),
        key(
            "PgUp PgDn wheel",
            "read back in the log; here and with up and down: scroll",
        ),
        key("q  Ctrl-C", "leave        any other key: back to the table"),
        Line::raw(""),
    ];
    for line in info.rulebook.lines() {
        let style = if line.starts_with('#') {
            app.theme.title()
        } else {
            Style::new()
        };
        lines.push(Line::styled(line, style));
    }
    // A little more than the lines need if words were broken anywhere.
    let width = usize::from(inner.width.max(1));
    let rows: usize = lines
        .iter()
        .map(|line| line.width().div_ceil(width).max(1))
        .sum();
    let most = (rows + rows / 20).saturating_sub(usize::from(inner.height));
    app.help_row = app.help_row.min(u16::try_from(most).unwrap_or(u16::MAX));
    let text = Paragraph::new(lines).wrap(Wrap { trim: false });
    frame.render_widget(text.scroll((app.help_row, 0)), inner);
    app.hits.push((frame.area(), Hit::Close));
}

pub(super) fn confirm(app: &mut App, frame: &mut Frame<'_>, question: &str) {
    let inner = window(app, frame, "Sure?", 66, 5);
    frame.render_widget(Line::raw(format!(" {question}")), inner);
    let y = inner.y + 2;
    let x = button(app, frame, (inner.x + 1, y), ("y", "yes"), Hit::Yes);
    button(app, frame, (x, y), ("n", "no"), Hit::No);
}

/// Two ways to leave a game that is not over, and a way to stay.
pub(super) fn confirm_leave(app: &mut App, frame: &mut Frame<'_>) {
    let (may_forfeit, may_claim) = (app.may_forfeit(), app.may_claim());
    let rows = 5 + u16::from(may_forfeit) + u16::from(may_claim);
    let inner = window(app, frame, "Leave the table?", 66, rows);
    let left = inner.x + 1;
    let mut lines = vec![("y", "pause", Hit::Yes, "the table waits: fairdeal resume")];
    if may_forfeit {
        let words = "for good: the others play on without you";
        lines.push(("f", "forfeit", Hit::Forfeit, words));
    }
    if may_claim {
        let words = "close it: the other one stays away";
        lines.push(("c", "claim", Hit::Claim, words));
    }
    lines.push(("n", "stay", Hit::No, ""));
    for (y, (key, word, hit, meaning)) in (inner.y + 1..).zip(lines) {
        let x = button(app, frame, (left, y), (key, word), hit);
        let room = Rect::new(x, y, inner.right().saturating_sub(x), 1);
        frame.render_widget(Line::raw(meaning), room);
    }
}

pub(super) fn over(app: &mut App, frame: &mut Frame<'_>) {
    let Some(result) = app.result.clone() else {
        return;
    };
    let rows = u16::try_from(result.scores.len()).unwrap_or(0) + 11;
    let inner = window(app, frame, "The game is over", 76, rows);
    let who = match result.winners.as_slice() {
        [] => "Nobody wins.".to_owned(),
        [one] => format!("{one} wins."),
        several => format!("{} win together.", several.join(" and ")),
    };
    let mut lines = vec![
        Line::styled(format!(" {who}"), app.theme.good()),
        Line::raw(""),
    ];
    for (name, score) in app.names().iter().zip(&result.scores) {
        lines.push(Line::raw(format!(" {score:>6}  {name}")));
    }
    lines.extend([
        Line::raw(""),
        Line::raw(" The log is closed; read its hash to a friend to compare:"),
        Line::styled(format!(" {}", result.log), app.theme.title()),
        Line::raw(" Check every shuffle with: fairdeal verify TRANSCRIPT, which is"),
        Line::raw(format!(" {}", result.transcript.display())),
    ]);
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), inner);
    let y = inner.bottom().saturating_sub(1);
    let x = button(app, frame, (inner.x + 1, y), ("q", "leave"), Hit::Leave);
    button(
        app,
        frame,
        (x, y),
        ("any key", "back to the table"),
        Hit::Close,
    );
}
