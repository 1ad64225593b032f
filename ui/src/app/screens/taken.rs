//! A seat that leaves this page in a file: what the file is, and how it is used.

use std::path::PathBuf;

use ratatui::layout::{Margin, Rect};
use ratatui::text::Line;

use super::table::choosing::sentence;
use super::{column, keys_below, paragraph};
use crate::app::event::UiEvent;
use crate::app::screen::{Context, Cx, Effect, FocusPolicy, Handled, Question, Screen, ScreenInput};
use crate::canvas::{Canvas, Layer, Target};
use crate::keys::Intent;

const AGAIN: Target = Target::Button(0);

/// A seat on its way into a file.
#[derive(Debug, Default)]
pub struct Taken(Stage);

#[derive(Debug, Default)]
enum Stage {
    /// The browser is giving it up.
    #[default]
    Leaving,
    /// The file has been handed to the browser.
    InFile(PathBuf),
    /// The seat is still here.
    Failed(String),
}

impl Screen for Taken {
    fn name(&self) -> String {
        "your seat in a file".to_owned()
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let page = column(area.inner(Margin::new(2, 1)), 90);
        let mut help = Vec::new();
        let lines = match &self.0 {
            Stage::Leaving => vec![Line::styled("This browser gives your seat up...", theme.title())],
            Stage::Failed(why) => {
                vec![Line::styled(sentence(why), theme.bad()), Line::default(), Line::raw("Nothing was given up.")]
            }
            Stage::InFile(path) => {
                help.push(("y".to_owned(), "save it again", Some(AGAIN)));
                let name = path.display();
                vec![
                    Line::styled(format!("Your seat is in {name}."), theme.title()),
                    Line::default(),
                    Line::raw(
                        "This browser has forgotten it. Check that the file is among your downloads; while this screen is \
                         open, y saves it again.",
                    ),
                    Line::default(),
                    Line::raw("In another browser: open the link to the table, then open the file there."),
                    Line::raw(format!("In a terminal: fairdeal resume --seat {name}")),
                    Line::default(),
                    Line::styled(
                        "Whoever has the file plays in your place and sees your cards. Use it once, then delete it: a seat \
                         that plays on in two places contradicts itself, which the others take for cheating.",
                        theme.ink(),
                    ),
                ]
            }
        };
        paragraph(canvas, page, lines);
        keys_below(canvas, area, context, help);
    }

    fn focus(&self, layer: &Layer) -> FocusPolicy {
        FocusPolicy { first: None, ..FocusPolicy::of(layer) }
    }

    fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled {
        match input {
            ScreenInput::Choose(AGAIN) | ScreenInput::Letter('y') if matches!(self.0, Stage::InFile(_)) => {
                cx.effect(Effect::SaveSeat);
            }
            ScreenInput::Event(UiEvent::SeatTaken(path)) => self.0 = Stage::InFile(path.clone()),
            ScreenInput::Event(UiEvent::Failed(why)) => self.0 = Stage::Failed(why.clone()),
            ScreenInput::Back | ScreenInput::Intent(Intent::Quit) if matches!(self.0, Stage::InFile(_)) => {
                cx.ask(Question::sure("Is the file there? After this screen the page cannot save it again."));
            }
            ScreenInput::Answer(0) if matches!(self.0, Stage::InFile(_)) => {
                cx.effect(Effect::DropSeat);
                cx.leave();
            }
            // The file may not be there yet.
            ScreenInput::Back | ScreenInput::Intent(Intent::Quit) if matches!(self.0, Stage::Leaving) => {}
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn keys(&self, _: &Context) -> Vec<(String, String)> {
        match self.0 {
            Stage::InFile(_) => vec![("y".to_owned(), "save the file again".to_owned())],
            Stage::Leaving | Stage::Failed(_) => Vec::new(),
        }
    }
}
