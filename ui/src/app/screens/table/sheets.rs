//! The sheets over a table: those that open by themselves, and those that the player asks for.

use std::time::Duration;

use fairdeal_games::match_game;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::text::{Line, Span};

use super::extended::reserves;
use super::moving::Telling;
use super::{GUARD, Over, TableScreen, draw, rail, view_of};
use crate::app::screen::Cx;
use crate::canvas::{Target, wrapped};
use crate::tables::{Animation, Board as _, sections};

impl TableScreen {
    /// Closes the overlay, or shows what comes after it. One that has just opened by itself stays: the key was meant for
    /// the table.
    pub(super) fn close_over(&mut self, cx: &mut Cx<'_>) {
        if self.is_fresh() {
            return;
        }
        match std::mem::take(&mut self.over) {
            Over::Telling(mut telling) if telling.is_moving() => {
                telling.skip();
                self.over = Over::Telling(telling);
            }
            Over::Telling(_) if self.ending.outcome.is_some() && !self.ending.is_shown => {
                self.open_sheet(Over::Outcome);
            }
            Over::Uses => {
                // A choice that led here is taken back; a sheet opened for a look changes nothing.
                if self.choice.picked == self.choice.aimed {
                    self.choice.picked.pop();
                }
                if let Some(spot) = self.choice.aimed.last() {
                    cx.focus(Target::Spot(*spot));
                }
            }
            _ => self.go_on(cx),
        }
    }

    /// Opens a sheet by itself.
    pub(super) fn open_sheet(&mut self, over: Over) {
        self.ending.is_shown |= matches!(over, Over::Outcome);
        self.over = over;
        self.opened = Duration::ZERO;
    }

    /// Whether a sheet has just opened by itself.
    pub(super) fn is_fresh(&self) -> bool {
        matches!(self.over, Over::Telling(_) | Over::Outcome) && (self.is_awaited() || self.opened < GUARD)
    }

    /// Whether the table is still seen before its sheet comes up.
    pub(super) fn is_awaited(&self) -> bool {
        matches!(&self.over, Over::Telling(telling) if telling.is_awaited())
    }

    /// Opens a sheet that the player asked for.
    pub(super) fn open_text(&mut self, title: &str, lines: Vec<Line<'static>>) {
        let title = title.to_owned();
        self.over = Over::Telling(Telling::sheet(Animation { title, lines }));
        self.opened = GUARD;
    }

    /// Everything about the thing in focus: what it is, and its uses or why it has none.
    pub(super) fn inspect(&mut self) {
        let Some(spot) = self.choice.aimed.last().copied() else {
            return;
        };
        let told = self.view(
            &self.choice.picked,
            |view, snapshot| match_game!(&snapshot.game, game => (game.title(spot, view), game.about(spot, view))),
        );
        let (title, about) = told.unwrap_or_default();
        let mut lines: Vec<Line<'static>> = Vec::new();
        for text in about {
            lines.extend(wrapped(&text, 70, 0).into_iter().map(Line::raw));
        }
        lines.push(Line::default());
        for offer in self.listed() {
            let (sign, text) = match &offer.refused {
                Some(why) => (self.theme.glyph("✗", "x"), format!("{}: {why}", offer.words)),
                None => (self.theme.glyph("✓", "+"), format!("you can {}", offer.words)),
            };
            lines.extend(wrapped(&format!("{sign} {text}"), 70, 2).into_iter().map(Line::raw));
        }
        lines.push(Line::styled("R opens the rulebook at this point.", self.theme.faint()));
        self.open_text(&title, lines);
    }

    /// Everybody's points and state, and the game's own sections.
    pub(super) fn score_sheet(&mut self) {
        let Some(snapshot) = &self.snapshot else {
            return;
        };
        let seats = draw::seat_states(snapshot, self);
        let lines = view_of(snapshot, &seats, &[], true, &self.theme, |view| {
            let game = &snapshot.game;
            let scores = game.scores();
            let mut lines: Vec<Line<'static>> = Vec::new();
            let mut ranked: Vec<(Seat, i64)> = Seat::first(scores.len()).zip(scores).collect();
            ranked.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
            for (seat, score) in ranked {
                let mut line = Line::from(Span::raw(format!("{score:>6}  ")));
                line.extend(view.seat_line(seat, game.to_act().contains(seat)));
                let bot = if view.seats.get(seat.index()).is_some_and(|seat| seat.is_bot) { "bot, " } else { "" };
                let note = match_game!(game, game => game.seat_note(seat));
                line.push_span(Span::styled(format!("  {bot}{note}"), self.theme.faint()));
                lines.push(line);
            }
            let reserves = reserves(snapshot);
            if !reserves.is_empty() {
                lines.push(Line::default());
                lines.push(Line::styled("Time bank", self.theme.title()));
                lines.extend(reserves);
            }
            for (title, rows) in sections(game, view) {
                lines.push(Line::default());
                lines.push(Line::styled(title, self.theme.title()));
                lines.extend(rows);
            }
            lines.push(Line::default());
            lines.extend(wrapped(game.info().fact, 70, 0).into_iter().map(|row| Line::styled(row, self.theme.faint())));
            lines
        });
        self.open_text("Scores", lines);
    }

    /// The whole log.
    pub(super) fn log_sheet(&mut self) {
        let lines = rail::lines(self.log.all(), &self.log, 70, (false, true), &self.theme);
        let title = "What happened".to_owned();
        self.over = Over::Telling(Telling::sheet(Animation { title, lines }).at_end());
        self.opened = GUARD;
    }

    /// The ticket that leads other players of this table back to it.
    pub(super) fn ticket_sheet(&mut self) {
        let Some(ticket) = self.lobby.ticket.as_ref().filter(|_| self.may_be_sought()) else {
            return;
        };
        let returns = "A player of this table who can't find it resumes with this ticket: fairdeal resume TICKET, or \
                       \"join with a ticket\". Nobody else can take a seat with it.";
        let watches = "Spectators watch with it: fairdeal watch TICKET.";
        // The host shows the table to spectators.
        let how = if self.me() == Some(Seat::FIRST) { format!("{watches} {returns}") } else { returns.to_owned() };
        // Without blanks, so that a terminal selects it as one word.
        let rows = ticket
            .as_bytes()
            .chunks(70)
            .map(|row| Line::styled(String::from_utf8_lossy(row).into_owned(), self.theme.accent()));
        let mut lines: Vec<Line<'static>> = rows.collect();
        lines.push(Line::default());
        lines.extend(wrapped(&how, 70, 0).into_iter().map(Line::raw));
        self.open_text("The ticket", lines);
    }

    /// Scrolls back by so many lines or uses; a negative number scrolls ahead.
    pub(super) fn scroll(&mut self, cx: &mut Cx<'_>, by: isize) {
        match &mut self.over {
            Over::Telling(telling) => telling.scroll(by),
            Over::Uses => {
                let Some(Target::Row(number)) = self.choice.focus else {
                    return;
                };
                let last = self.listed().len().saturating_sub(1);
                let number = number.saturating_add_signed(-by).min(last);
                cx.focus(Target::Row(number));
            }
            _ => self.log.scroll(by),
        }
    }
}
