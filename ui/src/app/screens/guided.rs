//! A table with a guide, who says what to do, decides what is on offer, and hears what the player does: the coach of a
//! guided hand, or a puzzle.
//!
//! The table is the real one, drawn and played as ever. What it asks of a session goes to the guide instead.

use std::time::Duration;

use fairdeal_games::AnyAction;
use ratatui::layout::Rect;

use super::coach::{self, Speech};
use super::table::TableScreen;
use crate::app::screen::{Chrome, Context, Cx, Effect, FocusPolicy, Handled, Request, Screen, ScreenInput};
use crate::canvas::{Canvas, Layer, Target};
use crate::keys::Intent;
use crate::tables::layout::areas;
use crate::theme::Theme;
use fairdeal_session::events::Command;

/// A guide at a table: what it says, what it offers, and what an action means to it.
pub trait Guide: std::fmt::Debug {
    /// The screen's name in the trail at the top.
    fn name(&self) -> String;

    /// The frame around the table, as the guide changes it.
    fn chrome(&self, theme: &Theme, table: Chrome) -> Chrome;

    /// The words of the guide now.
    fn text(&self) -> &str;

    /// The panel with the text, beside the table; `None` at the end.
    fn speech(&self, context: &Context, table: &TableScreen) -> Option<Speech<'_>>;

    /// Draws the end over the table.
    fn draw_end(&self, context: &Context, table: &TableScreen, canvas: &mut Canvas<'_>);

    /// How the focus moves.
    fn focus(&self, table: &TableScreen, layer: &Layer) -> FocusPolicy;

    /// Handles an input in the table's place, or leaves it to the table.
    fn input(&mut self, cx: &mut Cx<'_>, table: &mut TableScreen, input: ScreenInput<'_>) -> Handled;

    /// The player has acted.
    fn act(&mut self, cx: &mut Cx<'_>, table: &mut TableScreen, action: &AnyAction);

    /// Takes off the table what is not on offer, after every input: a table that has gone on offers everything again.
    fn offer(&self, table: &mut TableScreen) {
        let _ = table;
    }

    /// The keys that work here, and what they do.
    fn keys(&self, context: &Context, table: &TableScreen) -> Vec<(String, String)>;

    /// Entries of the palette.
    fn commands(&self) -> Vec<(String, Target)> {
        Vec::new()
    }
}

/// A table and its guide.
#[derive(Debug)]
pub struct Guided<G> {
    pub(super) guide: G,
    table: TableScreen,
}

impl<G: Guide> Guided<G> {
    pub(super) fn new(guide: G, table: TableScreen) -> Self {
        Self { guide, table }
    }
}

impl<G: Guide> Screen for Guided<G> {
    fn name(&self) -> String {
        self.guide.name()
    }

    fn chrome(&self, context: &Context) -> Chrome {
        self.guide.chrome(&context.theme, self.table.chrome(context))
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        self.table.draw(context, canvas, area);
        if self.table.is_covered() {
            return;
        }
        let Some(speech) = self.guide.speech(context, &self.table) else {
            return self.guide.draw_end(context, &self.table, canvas);
        };
        let screen = canvas.area();
        if let Some(game) = self.table.game_now() {
            coach::draw(&speech, canvas, &areas(game, screen));
        }
    }

    fn focus(&self, layer: &Layer) -> FocusPolicy {
        self.guide.focus(&self.table, layer)
    }

    fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled {
        match input {
            ScreenInput::Focused(_) | ScreenInput::Drawn(_) => return self.table.input(cx, input),
            // There is no session to leave, and nobody to talk to.
            ScreenInput::Intent(Intent::Quit)
            | ScreenInput::Typed(_)
            | ScreenInput::Pasted(_)
            | ScreenInput::Submit
            | ScreenInput::Event(_)
            | ScreenInput::Relisted => return Handled::No,
            _ => {}
        }
        if self.guide.input(cx, &mut self.table, input) == Handled::Yes {
            return Handled::Yes;
        }
        // Nobody waits, and no game is lost: Esc leaves, once nothing is open.
        if matches!(input, ScreenInput::Back) && !self.table.has_open() {
            return Handled::No;
        }
        let mut asked = Cx::new(cx.context);
        let handled = self.table.input(&mut asked, input);
        for request in asked.into_requests() {
            match request {
                Request::Effect(Effect::Session(Command::Act(action))) => self.guide.act(cx, &mut self.table, &action),
                Request::Effect(_) => {}
                other => cx.request(other),
            }
        }
        self.guide.offer(&mut self.table);
        handled
    }

    fn pace(&self) -> Option<Duration> {
        self.table.pace()
    }

    fn spoken(&self, _context: &Context) -> String {
        self.guide.text().to_owned()
    }

    fn keys(&self, context: &Context) -> Vec<(String, String)> {
        self.guide.keys(context, &self.table)
    }

    fn commands(&self, _context: &Context) -> Vec<(String, Target)> {
        self.guide.commands()
    }
}
