//! The lobby: the seats, and the ticket to give to friends.

use fairdeal_games::game_info;
use fairdeal_protocol::seat::Seat;
use fairdeal_ui::canvas::{Canvas, Target, wrapped};
use fairdeal_ui::view::{LobbySeat, option_in_words};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::{TableScreen, button, rail};
use crate::tui::screen::Context;
use crate::tui::screens::column;
use crate::tui::screens::table::choosing::sentence;

/// For how many more seconds the program tries to reach the host, and why it has failed so far.
fn reaching(table_screen: &TableScreen, canvas: &mut Canvas<'_>, at: &mut Rect) {
    let theme = canvas.theme();
    let Some((seconds, why)) = &table_screen.reaching else {
        return;
    };
    let left = format!("Trying for {seconds} s more. Esc gives up.");
    let why = why.iter().map(|why| sentence(why));
    for words in std::iter::once(left).chain(why) {
        for row in wrapped(&words, usize::from(at.width).saturating_sub(4), 0) {
            canvas.put(*at, Line::styled(format!("  {row}"), theme.faint()));
            at.y += 1;
        }
    }
    at.y += 1;
}

pub(super) fn draw(table_screen: &TableScreen, _context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let page = column(area, 100);
    let [body, foot] = Layout::vertical([Constraint::Min(3), Constraint::Length(2)]).areas(page);
    let lobby = &table_screen.lobby;
    let width = usize::from(page.width).saturating_sub(2);
    let mut at = Rect { y: body.y + 1, ..body };
    if lobby.seats.is_empty() {
        if table_screen.ending.failed.is_none() {
            canvas.put(at, Line::styled(" Reaching the host...", theme.title()));
            at.y += 1;
            reaching(table_screen, canvas, &mut at);
        }
    } else {
        let game = game_info(&lobby.game).map_or(lobby.game.as_str(), |info| info.name);
        at = canvas.section(at, &format!("{game}: seats"));
        for (taken, number) in lobby.seats.iter().zip(0_u16..) {
            let seat = Seat::new(usize::from(number));
            let you = seat.is_some() && lobby.me == seat;
            let ready = lobby.ready.get(usize::from(number)).copied();
            let ready = ready.unwrap_or(false);
            let state = match (ready, you) {
                (true, _) => theme.glyph("✓ ready", "+ ready"),
                (false, true) => "you: not ready yet",
                (false, false) => "not ready yet",
            };
            let note = seat.and_then(|seat| lobby.note(seat));
            let note = note.map_or_else(String::new, |note| format!("  {note}"));
            let line = match taken {
                Some(LobbySeat { name, .. }) => {
                    let style = if you { theme.accent() } else { theme.text() };
                    let state_style = if ready { theme.good() } else { theme.faint() };
                    Line::from(vec![
                        Span::styled(format!("  {} {name}  ", number + 1), style),
                        Span::styled(state, state_style),
                        Span::styled(note, theme.faint()),
                    ])
                }
                None => Line::styled(format!("  {} free", number + 1), theme.faint()),
            };
            let x = at.x + u16::try_from(line.width()).unwrap_or(0) + 2;
            canvas.put(at, line);
            if seat.is_some_and(|seat| table_screen.may_dismiss(seat)) {
                let target = Target::Button(button::DISMISS + number);
                canvas.button((x, at.y), "", "send away", target);
            }
            at.y += 1;
        }
        let options: Vec<String> = lobby
            .options
            .iter()
            .map(|(key, value)| option_in_words(key, value))
            .collect();
        at.y += 1;
        canvas.put(at, Line::styled(format!("  {}", options.join(", ")), theme.faint()));
        at.y += 1;
        if table_screen.reaching.is_some() {
            canvas.put(at, Line::styled("  The connection to the host is lost.", theme.bad()));
            at.y += 1;
            reaching(table_screen, canvas, &mut at);
        }
        if lobby.me.is_some() && !table_screen.local {
            let label = if table_screen.is_ready() { "not ready" } else { "ready" };
            let x = canvas.button((at.x + 2, at.y), "r", label, button::READY);
            canvas.button((x, at.y), "c", "say something", button::CHAT);
        }
        at.y += 2;
    }
    if let Some(ticket) = lobby.ticket.as_ref().filter(|_| lobby.seats.len() > 1) {
        at.height = body.bottom().saturating_sub(at.y);
        at = canvas.section(at, "Ticket for your friends");
        let rows = broken(ticket, width.saturating_sub(2));
        for row in rows {
            canvas.put(at, Line::styled(format!("  {row}"), theme.key()));
            at.y += 1;
        }
        at.y += 1;
        let x = canvas.button((at.x + 2, at.y), "", "copy the ticket", button::COPY);
        if lobby.seats.iter().any(Option::is_none) {
            canvas.button((x, at.y), "", "seat a bot", button::BOT);
        }
        at.y += 2;
        let how = "Friends choose \"join with a ticket\" or type: fairdeal join TICKET. On your network \
                   they see the table in their list.";
        for row in wrapped(how, width.saturating_sub(2), 0) {
            canvas.put(at, Line::styled(format!("  {row}"), theme.faint()));
            at.y += 1;
        }
        for address in &lobby.addresses {
            if at.y + 1 >= body.bottom() {
                break;
            }
            canvas.put(at, Line::styled(format!("  {address}"), theme.faint()));
            at.y += 1;
        }
    }
    let room = usize::from(body.bottom().saturating_sub(at.y + 1));
    let log = &table_screen.log;
    at.y += 1;
    canvas.rows(at, rail::lines(log.visible(room.min(6)), log, at.width, theme));
    if let Some(field) = &table_screen.chat {
        let prompt = theme.glyph("❯ ", "> ");
        let row = canvas.lead(foot, Line::styled(format!(" {prompt}"), theme.accent()));
        return field.draw(canvas, row);
    }
    let (text, style) = match &table_screen.ending.failed {
        Some(why) => (why.as_str(), theme.bad()),
        None => (
            "The game begins when all seats are taken and everybody is ready.",
            theme.title(),
        ),
    };
    let rows = wrapped(text, width, 0);
    canvas.rows(foot, rows.into_iter().map(|row| Line::styled(format!(" {row}"), style)));
}

/// Breaks a long word into rows.
fn broken(word: &str, width: usize) -> Vec<String> {
    debug_assert_eq!(word.width(), word.len(), "a ticket is ASCII");
    wrapped(word, width, 0)
}
