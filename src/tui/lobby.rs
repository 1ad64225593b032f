//! The lobby: seats filling, and the ticket to give to friends.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Wrap};

use super::app::{App, Hit};
use super::table::button;

pub(super) fn draw(app: &mut App, frame: &mut Frame<'_>) {
    let [title, body, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(3),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(
        Line::styled(
            format!(" fairdeal {} lobby", app.theme.glyph("›", ">")),
            app.theme.title(),
        ),
        title,
    );
    let x = title.right().saturating_sub(18);
    let x = button(app, frame, (x, title.y), ("?", "help"), Hit::Help);
    button(app, frame, (x, title.y), ("q", "quit"), Hit::Leave);

    let block = Block::bordered().border_set(app.theme.border());
    let inner = block.inner(body);
    frame.render_widget(block, body);
    let lobby = &app.lobby;
    let mut lines = Vec::new();
    if lobby.seats.is_empty() {
        lines.push(Line::raw("Reaching the host..."));
    } else {
        let options: Vec<String> = lobby
            .options
            .iter()
            .map(|(key, value)| format!("{key} {value}"))
            .collect();
        lines.push(Line::styled(
            format!("{} ({})", lobby.game, options.join(", ")),
            app.theme.title(),
        ));
        lines.push(Line::raw(""));
        for (seat, name) in lobby.seats.iter().enumerate() {
            let you = lobby.me.is_some_and(|me| me.index() == seat);
            lines.push(match name {
                Some(name) if you => {
                    Line::styled(format!("  {seat}  {name} (you)"), app.theme.good())
                }
                Some(name) => Line::raw(format!("  {seat}  {name}")),
                None => Line::styled(format!("  {seat}  free"), app.theme.faint()),
            });
        }
    }
    if let Some(ticket) = &lobby.ticket {
        lines.push(Line::raw(""));
        lines.push(Line::raw(
            "Send this ticket to your friends; they type: fairdeal join TICKET",
        ));
        lines.push(Line::raw(""));
        lines.push(Line::styled(ticket.clone(), app.theme.key()));
        lines.push(Line::raw(""));
        lines.push(Line::styled(
            "or one of these addresses:",
            app.theme.faint(),
        ));
        for address in lobby.addresses.iter().take(4) {
            lines.push(Line::styled(address.clone(), app.theme.faint()));
        }
    }
    for line in app.lines.iter().rev().take(4).rev() {
        lines.push(Line::from(Span::styled(line.clone(), app.theme.faint())));
    }
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), inner);
    let text = match &app.failed {
        Some(why) => Line::styled(format!(" {why} (q to leave)"), app.theme.bad()),
        None => Line::raw(" The game begins when all seats are taken and everybody has signed."),
    };
    frame.render_widget(text, foot);
}
