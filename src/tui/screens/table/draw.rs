//! The table: board, hand, seats, log, available actions, and the seal.

use fairdeal_games::listed;
use fairdeal_games::match_game;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use fairdeal_ui::canvas::{Canvas, Target, cut, fit, wrapped};
use fairdeal_ui::keys::Intent;
use fairdeal_ui::tables::{Board as _, Button, Spot, ViewContext, layout};
use fairdeal_ui::theme::Theme;
use fairdeal_ui::view::{Snapshot, Standing, Waiting, time_in_words};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::choosing::sentence;
use super::{Over, TableScreen, Voice, button, seal};
use crate::history::solitaire::Solitaire;
use crate::tui::screen::Context;
use crate::tui::screens::first_shown;
use crate::tui::shell::window;

/// Width of a name beside the board.
const NAME: usize = 8;
/// Prefix of a bot's note, if there is room.
const BOT: &str = "bot, ";
/// Shown instead of the path of a file that could not be written.
const UNSAVED: &str = "Not saved yet: fairdeal resume saves it once there is room.";

pub(super) fn draw(table_screen: &mut TableScreen, context: &Context, canvas: &mut Canvas<'_>) {
    let Some(snapshot) = table_screen.snapshot.take() else {
        return;
    };
    let areas = layout::areas(&snapshot.game, canvas.area());
    let names = super::short_names(&snapshot.names, canvas.theme());
    let view = ViewContext {
        me: snapshot.me,
        names: &names,
        known: &snapshot.known,
        picked: &table_screen.choice.picked,
        acts: table_screen.status.is_none() && !table_screen.rest.is_resting(),
        theme: canvas.theme(),
    };
    match_game!(&snapshot.game, game => {
        game.draw(&view, canvas, areas.board);
        game.draw_hand(&view, canvas, areas.hand);
    });
    let seat_rows = u16::try_from(snapshot.names.len())
        .unwrap_or(u16::MAX)
        .saturating_add(1);
    let [seats, log] = Layout::vertical([Constraint::Length(seat_rows), Constraint::Min(3)]).areas(areas.side);
    draw_seats(&snapshot, &names, canvas, seats);
    draw_log(table_screen, canvas, log);
    let about = table_screen
        .choice
        .aimed
        .last()
        .map(|spot| match_game!(&snapshot.game, game => game.about(*spot, &view)));
    table_screen.snapshot = Some(snapshot);
    draw_panel(table_screen, canvas, areas.panel, &about.unwrap_or_default());
    let Some(snapshot) = &table_screen.snapshot else {
        return;
    };
    draw_status(table_screen, context, snapshot, &names, canvas, areas.status);
    seal::draw_row(table_screen, snapshot, canvas, areas.seal);
    table_screen.stage.draw(canvas);
    if !matches!(table_screen.over, Over::Nothing) {
        canvas.cover();
    }
    match &mut table_screen.over {
        Over::Nothing => {}
        Over::Seal => seal::draw_panel(table_screen, snapshot, canvas),
        Over::Telling(telling) => telling.draw(canvas, button::CLOSE, &table_screen.rest.in_words()),
        Over::Outcome => draw_outcome(table_screen, context, canvas),
    }
}

/// Note on a seat with no direct connection, while other seats have one.
const FAR: &str = "no direct link";

fn draw_seats(snapshot: &Snapshot, names: &[String], canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let inner = canvas.section(area, "Seats");
    let (game, scores) = (&snapshot.game, snapshot.game.scores());
    let lines = Seat::first(names.len()).zip(names).map(|(seat, name)| {
        let turn = game.to_act().contains(seat);
        let marker = if turn { theme.glyph("▶", ">") } else { " " };
        let own = if Some(seat) == snapshot.me { "*" } else { " " };
        let score = scores.get(seat.index()).copied().unwrap_or(0);
        let style = if turn { theme.accent() } else { theme.text() };
        // After the end nobody is missed.
        let waiting = snapshot.waits.seats.iter().find(|waiting| waiting.seat == seat);
        let (note, note_style) = match waiting {
            _ if game.is_over() => (match_game!(game, game => game.seat_note(seat)), theme.faint()),
            Some(Waiting {
                silent: Some(silent), ..
            }) => (format!("silent for {}", time_in_words(*silent)), theme.bad()),
            _ if !snapshot.connected.contains(seat) && !snapshot.indirect.contains(seat) => {
                ("offline".to_owned(), theme.bad())
            }
            Some(Waiting { turn_left: Some(0), .. }) => ("time is up".to_owned(), theme.bad()),
            Some(Waiting {
                turn_left: Some(left), ..
            }) => (format!("{} left", time_in_words(*left)), theme.accent()),
            _ => (match_game!(game, game => game.seat_note(seat)), theme.faint()),
        };
        // This seat's moves arrive through other seats.
        let far = snapshot.indirect.contains(seat) && !game.is_over();
        let note = match (far, note.is_empty()) {
            (false, _) => note,
            (true, true) => FAR.to_owned(),
            (true, false) => format!("{note}, {FAR}"),
        };
        let bot = !snapshot.seating.parties.is_person(seat);
        let room = usize::from(inner.width).saturating_sub(NAME + 8 + note.width());
        let bot = if bot && room >= BOT.len() { BOT } else { "" };
        Line::from(vec![
            Span::styled(format!("{marker}{own}{}", fit(name, NAME)), style),
            Span::raw(format!("{score:>5} ")),
            Span::styled(bot, theme.faint()),
            Span::styled(note, note_style),
        ])
    });
    canvas.rows(inner, lines);
}

fn draw_log(table_screen: &TableScreen, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let title = if table_screen.log.is_scrolled_back() {
        "Log, scrolled back"
    } else {
        "Log"
    };
    let mut inner = canvas.section(area, title);
    if let Some(field) = &table_screen.chat {
        inner.height = inner.height.saturating_sub(1);
        let row = Rect {
            y: inner.bottom(),
            height: 1,
            ..inner
        };
        let prompt = theme.glyph("❯ ", "> ");
        let row = canvas.lead(row, Line::styled(prompt, theme.accent()));
        field.draw(canvas, row);
    }
    let rows = usize::from(inner.height);
    // Each line fills at least one row.
    let recent = table_screen.log.visible(rows).iter();
    let lines: Vec<Line<'_>> = recent
        .flat_map(|(voice, line)| {
            let style = match voice {
                Voice::Game => theme.text(),
                Voice::Table => theme.faint(),
                Voice::Warning => theme.bad(),
                Voice::Chat => theme.lit(),
            };
            let rows = wrapped(line, usize::from(inner.width), 1);
            rows.into_iter().map(move |row| Line::styled(row, style))
        })
        .collect();
    let hidden = lines.len().saturating_sub(rows);
    canvas.rows(inner, lines.into_iter().skip(hidden));
}

/// The actions for the focused spot, and what the spot is.
fn draw_panel(table_screen: &TableScreen, canvas: &mut Canvas<'_>, area: Rect, about: &[String]) {
    let theme = canvas.theme();
    let is_over = table_screen.is_over();
    // A replay asks for nothing.
    let is_replay = table_screen.status.is_some() && !is_over;
    if is_replay && about.is_empty() {
        return;
    }
    let share = if is_replay { 0 } else { 52 };
    let [list, words] = Layout::horizontal([Constraint::Percentage(share), Constraint::Min(0)]).areas(area);
    // After the end the reasons for refusals do not matter.
    let offers = if is_over { Vec::new() } else { table_screen.listed() };
    let title = match offers.first() {
        None if is_over => "How it ended",
        None if table_screen.choice.offers.is_empty() => "Nothing to do",
        Some(offer) if offer.refused.is_some() => "Not now",
        _ => "What you can do",
    };
    let inner = canvas.section(list, title);
    let rows = usize::from(inner.height);
    let pages = offers.len().div_ceil(rows.max(1)).max(1);
    let first = match table_screen.choice.focus {
        Some(Target::Row(number)) => first_shown(number, rows, offers.len()),
        _ => table_screen.choice.page % pages * rows,
    };
    let width = usize::from(inner.width).saturating_sub(2);
    let mut y = inner.y;
    for (offer, number) in offers.iter().skip(first).zip(first..) {
        if y >= inner.bottom() {
            break;
        }
        let area = Rect {
            y,
            height: 1,
            width: inner.width.saturating_sub(1),
            ..inner
        };
        if let Some(why) = &offer.refused {
            let text = format!("{} {}: {why}", theme.glyph("✗", "x"), offer.words);
            for (y, row) in (y..inner.bottom()).zip(wrapped(&text, width, 2)) {
                canvas.put(Rect { y, ..area }, Line::styled(format!(" {row}"), theme.faint()));
            }
            y += u16::try_from(wrapped(&text, width, 2).len()).unwrap_or(1);
            continue;
        }
        let mark = canvas.target(area, Target::Row(number));
        let key = if number < 9 {
            (number + 1).to_string()
        } else {
            " ".to_owned()
        };
        let text = cut(&offer.words, width.saturating_sub(2), theme);
        let style = mark.over(theme.text(), theme);
        let spans = vec![Span::styled(format!(" {key} "), theme.key()), Span::styled(text, style)];
        canvas.put(area, Line::from(spans));
        y += 1;
    }
    if is_over {
        canvas.rows(inner, result(table_screen, theme));
    }
    if offers.len() > rows {
        let text = format!("{} more", offers.len() - rows);
        let width = u16::try_from(text.width()).unwrap_or(0) + 2;
        let x = list.right().saturating_sub(width + 1);
        canvas.button((x, list.y), "", &text, button::MORE);
    }
    let inner = canvas.section(words, "About");
    let width = usize::from(inner.width).saturating_sub(1);
    let lines = about.iter().flat_map(|line| wrapped(line, width, 0));
    canvas.rows(inner, lines.map(|row| Line::styled(row, theme.faint())));
}

fn draw_status(
    table_screen: &TableScreen,
    context: &Context,
    snapshot: &Snapshot,
    names: &[String],
    canvas: &mut Canvas<'_>,
    area: Rect,
) {
    let theme = canvas.theme();
    let game = &snapshot.game;
    let to_act = game.to_act();
    let text = if let Some(status) = &table_screen.status {
        status.clone()
    } else if table_screen.rest.is_resting() {
        "This hand is over.".to_owned()
    } else if game.is_over() {
        "The game is over.".to_owned()
    } else if table_screen.ending.failed.is_some() {
        "You can't play on here; see the line below.".to_owned()
    } else if let Some((seconds, _)) = &table_screen.reaching {
        format!("Lost the connection to the host. Trying for {seconds} s more.")
    } else if !table_screen.choice.picked.is_empty() {
        let back = context.keymap.key(Intent::Back);
        format!("Choose the next, or press {back} to undo.")
    } else if let Some(me) = snapshot.me.filter(|me| to_act.contains(*me)) {
        let prompt = match_game!(game, game => game.prompt(me));
        format!("Your turn: {prompt}")
    } else {
        let waited: Vec<&str> = to_act
            .iter()
            .filter_map(|seat| names.get(seat.index()).map(String::as_str))
            .collect();
        let role = if table_screen.is_spectator() {
            " You are watching."
        } else {
            ""
        };
        let waits = &snapshot.waits;
        let way = if waits.may_claim.is_some() {
            let quit = context.keymap.key(Intent::Quit);
            format!(" Press {quit}, then c, to close the table.")
        } else if let Some(name) = waits.may_propose.iter().next().and_then(|seat| names.get(seat.index())) {
            format!(" Press x to propose playing on without {name}.")
        } else {
            String::new()
        };
        format!("Waiting for {}.{role}{way}", waited.join(", "))
    };
    let deeds: Vec<(Spot, Button)> = table_screen
        .choice
        .offers
        .next(&table_screen.choice.picked)
        .into_iter()
        .filter_map(|spot| match spot {
            Spot::Button(number) => Some((spot, match_game!(game, game => game.button(number)))),
            _ => None,
        })
        .collect();
    let deeds = deeds.into_iter().map(|(spot, button)| {
        let key = button.key.map(String::from).unwrap_or_default();
        (key, button.label.to_owned(), Target::Spot(spot))
    });
    let mut buttons: Vec<(String, String, Target)> = deeds.collect();
    if matches!(snapshot.standing, Standing::Practice { undo } if undo > 0) {
        let key = context.keymap.key(Intent::Undo);
        buttons.push((key, "take back".to_owned(), Target::Key(Intent::Undo)));
    }
    if (table_screen.is_over() || table_screen.ending.failed.is_some()) && table_screen.status.is_none() {
        buttons.extend(what_next(table_screen, context, theme));
    }
    // The buttons must fit; the text may be cut.
    let wide = |(key, label, _): &(String, String, Target)| {
        label.width() + 3 + if key.is_empty() { 0 } else { key.width() + 1 }
    };
    let all: usize = buttons.iter().map(wide).sum();
    let room = usize::from(area.width).saturating_sub(all + 2);
    let text = cut(&sentence(&text), room, theme);
    canvas.put(area, Line::styled(format!(" {text}"), theme.accent()));
    let mut x = area.x + u16::try_from(text.width()).unwrap_or(0) + 2;
    for (key, label, target) in buttons {
        x = canvas.button((x, area.y), &key, &label, target);
    }
}

/// Choices after the end: key, label and target.
fn what_next(table_screen: &TableScreen, context: &Context, theme: &Theme) -> Vec<(String, String, Target)> {
    let mut next = Vec::new();
    let outcome = table_screen.ending.outcome.as_ref();
    if outcome.is_some_and(|outcome| outcome.transcript.is_some()) {
        next.push(("a".to_owned(), "audit".to_owned(), button::AUDIT));
    }
    if let Some((name, _)) = table_screen
        .ending
        .invitation
        .as_ref()
        .filter(|_| table_screen.may_follow())
    {
        let label = format!("follow {}", cut(name, 12, theme));
        next.push(("f".to_owned(), label, button::FOLLOW));
    }
    if table_screen.may_rematch() {
        next.push(("r".to_owned(), "another game".to_owned(), button::REMATCH));
    }
    let key = context.keymap.key(Intent::Quit);
    next.push((key, "leave".to_owned(), Target::Key(Intent::Quit)));
    next
}

/// The winners and everybody's points.
fn result(table_screen: &TableScreen, theme: &Theme) -> Vec<Line<'static>> {
    let Some(snapshot) = &table_screen.snapshot else {
        return Vec::new();
    };
    let winners = snapshot.game.winners();
    let name = |seat: Seat| snapshot.names.get(seat.index()).cloned();
    let names: Vec<String> = winners.iter().filter_map(name).collect();
    let mut lines = vec![Line::styled(format!(" {}", who_wins(&names)), theme.good())];
    for (name, score) in snapshot.names.iter().zip(snapshot.game.scores()) {
        lines.push(Line::raw(format!(" {score:>6}  {name}")));
    }
    lines
}

fn who_wins(names: &[String]) -> String {
    match names {
        [] => "Nobody wins.".to_owned(),
        [one] => format!("{one} wins."),
        several => format!("{} win together.", listed(several)),
    }
}

fn draw_outcome(table_screen: &TableScreen, context: &Context, canvas: &mut Canvas<'_>) {
    let theme = canvas.theme();
    let Some(outcome) = &table_screen.ending.outcome else {
        return;
    };
    let so_far = match (&table_screen.snapshot, table_screen.names.len()) {
        (Some(snapshot), 1) => {
            let id = snapshot.game.info().id;
            Solitaire::of(&context.library.past, id, &context.today).in_words()
        }
        _ => Vec::new(),
    };
    let so_far: Vec<String> = so_far.iter().flat_map(|words| wrapped(words, 72, 0)).collect();
    let rows = outcome.scores.len() + so_far.len();
    let rows = u16::try_from(rows).unwrap_or(0) + 12;
    let inner = window(canvas, "The game is over", 76, rows);
    let who = who_wins(&outcome.winners);
    let mut lines = vec![Line::styled(format!(" {who}"), theme.good()), Line::raw("")];
    for (name, score) in table_screen.names.iter().zip(&outcome.scores) {
        lines.push(Line::raw(format!(" {score:>6}  {name}")));
    }
    lines.extend(so_far.into_iter().map(|row| Line::raw(format!(" {row}"))));
    lines.extend([
        Line::raw(""),
        Line::raw(" The log is closed. Compare its hash with a friend:"),
        Line::styled(format!(" {}", outcome.log), theme.accent()),
        Line::raw(" Audit every shuffle here, or later with: fairdeal verify"),
    ]);
    let path = outcome.transcript.as_ref();
    let path = path.map_or_else(|| UNSAVED.to_owned(), |path| path.display().to_string());
    lines.extend(
        wrapped(&path, 72, 0)
            .into_iter()
            .map(|row| Line::styled(format!(" {row}"), theme.faint())),
    );
    canvas.rows(inner, lines);
    let y = inner.bottom().saturating_sub(1);
    let mut x = canvas.button((inner.x + 1, y), "Enter", "the table", button::CLOSE);
    for (key, label, target) in what_next(table_screen, context, theme) {
        x = canvas.button((x, y), &key, &label, target);
    }
}
