//! The first start: the player's name.

use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::Line;

use super::home::{Home, picture};
use super::settings::MAX_NAME;
use super::table::TableScreen;
use super::{body_and_foot, foot};
use crate::app::screen::{Context, Cx, Effect, FocusPolicy, Handled, Screen, ScreenInput};
use crate::canvas::{Canvas, Layer, Target, wrapped};
use crate::field::Field;
use crate::keys::Intent;
use crate::settings::Settings;

const NAME: Target = Target::Button(0);
const GO: Target = Target::Button(1);

/// Asks for the name, saves it in the settings, and goes on to the home screen.
#[derive(Debug)]
pub struct Welcome {
    /// Empty at first: the name so far, or else the operating system's user name, stands behind it as the proposal.
    name: Field,
}

impl Default for Welcome {
    fn default() -> Self {
        Self { name: Field::new(MAX_NAME) }
    }
}

impl Welcome {
    /// Whether nobody has said a name yet, on the command line or in the settings.
    pub fn is_due(context: &Context) -> bool {
        context.given.is_none() && context.settings.name.is_none()
    }
}

/// Saves the name, or the proposal for none, and goes on: to the table that a page was opened for, or to the home screen.
fn go(name: &str, cx: &mut Cx<'_>) {
    let name = match name.trim() {
        "" => cx.context.name(),
        name => name,
    };
    cx.save(Settings { name: Some(name.to_owned()), ..cx.context.settings.clone() });
    match &cx.context.invited {
        Some(ticket) => {
            cx.effect(Effect::Join { target: ticket.clone(), password: None });
            cx.replace(TableScreen::new("joining", false));
        }
        None => cx.replace(Home::default()),
    }
}

impl Screen for Welcome {
    fn name(&self) -> String {
        "welcome".to_owned()
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let keys = &context.keymap;
        let sentence = "The others at a table see this name. There is no account; you can change it in the settings.";
        let proposal = format!("keep {}", context.name());
        let help = vec![
            (keys.key(Intent::Choose), "continue", Some(GO)),
            (keys.key(Intent::Back), proposal.as_str(), Some(Target::Key(Intent::Back))),
        ];
        let [body, below] = body_and_foot(area);
        foot(canvas, below, &[sentence.to_owned()], help);
        let [page] = Layout::horizontal([Constraint::Max(54)]).flex(Flex::Center).areas(body);
        let [banner, words, panel] =
            Layout::vertical([Constraint::Length(3), Constraint::Length(2), Constraint::Length(5)])
                .spacing(1)
                .flex(Flex::Center)
                .areas(page);
        let art = picture("banner", 1, theme).into_iter().map(Line::centered);
        canvas.rows(banner, art);
        let text = "Five card and pyramid games. Nobody deals; everybody can check the shuffle.";
        let rows = wrapped(text, usize::from(words.width), 0);
        canvas.rows(words, rows.into_iter().map(|row| Line::raw(row).centered()));
        let inner = canvas.panel(panel, "Your name at the table?");
        canvas.target(panel, NAME);
        let [_, field] = Layout::vertical([Constraint::Length(1), Constraint::Length(1)]).areas(inner);
        let field = canvas.lead(field, Line::styled(format!("{} ", theme.glyph("▌", ">")), theme.accent()));
        canvas.tint(field, theme.focused());
        self.name.draw(canvas, field);
        if self.name.is_empty() {
            let behind = Rect { x: field.x.saturating_add(2), width: field.width.saturating_sub(2), ..field };
            canvas.put(behind, Line::styled(context.name().to_owned(), theme.faint()));
        }
    }

    fn focus(&self, layer: &Layer) -> FocusPolicy {
        FocusPolicy { first: Some(NAME), writes: true, ..FocusPolicy::of(layer) }
    }

    fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled {
        match input {
            ScreenInput::Choose(GO) | ScreenInput::Submit => go(&self.name.text(), cx),
            ScreenInput::Typed(typed) => {
                self.name.typed(typed);
            }
            ScreenInput::Back => go("", cx),
            _ => return Handled::No,
        }
        Handled::Yes
    }
}
