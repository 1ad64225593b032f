//! Entering a ticket or an address, and a password if needed, to join a table or to watch it.

use fairdeal_peers::ticket::MAX_PASTED;
use fairdeal_protocol::crypto::pake::MAX_PASSWORD;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::text::Line;

use super::table::TableScreen;
use super::table::choosing::sentence;
use super::{column, field_panel, keys_below, paragraph};
use crate::app::screen::{Context, Cx, Effect, FocusPolicy, Handled, Screen, ScreenInput};
use crate::canvas::{Canvas, Layer, Target};
use crate::field::Field;
use crate::keys::Intent;

const TARGET: Target = Target::Button(0);
const PASSWORD: Target = Target::Button(1);
const GO: Target = Target::Button(2);

/// The purpose of the ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Join,
    Watch,
}

/// Entering a ticket or an address.
#[derive(Debug)]
pub struct Join {
    purpose: Purpose,
    target: Field,
    password: Field,
    focus: Target,
    /// The field that is wrong, and the reason.
    error: Option<(Target, String)>,
}

impl Join {
    /// With empty fields.
    pub fn new(purpose: Purpose) -> Self {
        Self {
            purpose,
            target: Field::new(MAX_PASTED),
            password: Field::secret(MAX_PASSWORD),
            focus: TARGET,
            error: None,
        }
    }

    /// Opens with the ticket of a table that needs a password.
    pub fn with(purpose: Purpose, ticket: &str) -> Self {
        let mut join = Self::new(purpose);
        join.target.insert(ticket);
        join.focus = PASSWORD;
        join
    }

    /// Opens with a ticket that was pasted.
    pub fn pasted(ticket: &str) -> Self {
        let mut join = Self::new(Purpose::Join);
        join.target.insert(ticket);
        join
    }

    /// The target in the field, or what is wrong with it.
    fn checked(&self, context: &Context) -> Result<String, String> {
        let text = self.target.text();
        if text.trim().is_empty() {
            return Err("Paste the ticket here first. Your friend sees it in the lobby.".to_owned());
        }
        (context.check_target)(&text).map_err(|why| sentence(&why))?;
        Ok(text)
    }

    fn go(&mut self, cx: &mut Cx<'_>) {
        let found = self.checked(cx.context).map_err(|why| (TARGET, why)).and_then(|target| {
            let password = self.password.password().map_err(|why| (PASSWORD, sentence(&why.to_string())))?;
            Ok((target, password))
        });
        let (target, password) = match found {
            Ok(found) => found,
            Err(error) => {
                cx.focus(error.0);
                self.error = Some(error);
                return;
            }
        };
        let (effect, name) = match self.purpose {
            Purpose::Join => (Effect::Join { target, password }, "joining"),
            Purpose::Watch => (Effect::Watch { target, password }, "watching"),
        };
        cx.effect(effect);
        cx.replace(TableScreen::new(name, false));
    }

    /// Draws a field, and below it what is wrong with it or what belongs in it.
    fn draw_field(
        &self,
        context: &Context,
        canvas: &mut Canvas<'_>,
        area: Rect,
        target: Target,
        (title, hint): (&str, &str),
    ) {
        let theme = canvas.theme();
        let field = if target == PASSWORD { &self.password } else { &self.target };
        let inner = field_panel(canvas, area, target, (title, field));
        let (words, style) = match &self.error {
            Some((at, why)) if *at == target => (why.as_str(), theme.bad()),
            _ if target == TARGET && self.checked(context).is_ok() => {
                ("This is a ticket or an address. Press Enter.", theme.good())
            }
            _ => (hint, theme.ink()),
        };
        let below = Rect { y: inner.y + 1, ..inner }.intersection(inner);
        paragraph(canvas, below, Line::styled(words, style));
    }
}

impl Screen for Join {
    fn name(&self) -> String {
        match self.purpose {
            Purpose::Join => "join".to_owned(),
            Purpose::Watch => "watch".to_owned(),
        }
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let page = column(area.inner(Margin::new(2, 1)), 90);
        let next = (context.keymap.key(Intent::Next), "next field", Some(Target::Key(Intent::Next)));
        keys_below(canvas, area, context, vec![next]);
        let rows = [Constraint::Length(6), Constraint::Length(4), Constraint::Length(1), Constraint::Min(0)];
        let [target, password, button, words] = Layout::vertical(rows).spacing(1).areas(page);
        let (label, text) = match self.purpose {
            Purpose::Join => {
                ("join", "The ticket names the table and its host, so nobody can impersonate your friend.")
            }
            Purpose::Watch => (
                "watch",
                "You see what everybody at the table sees, never a hidden card, and your program checks every step.",
            ),
        };
        let hint = "Paste what your friend sent you; a ticket begins with fd1.";
        self.draw_field(context, canvas, target, TARGET, ("Ticket or address", hint));
        let title = "Password, if the table has one";
        self.draw_field(context, canvas, password, PASSWORD, (title, ""));
        canvas.button((button.x, button.y), "Enter", label, GO);
        paragraph(canvas, words, text);
    }

    fn focus(&self, layer: &Layer) -> FocusPolicy {
        let writes = matches!(self.focus, TARGET | PASSWORD);
        FocusPolicy { first: Some(self.focus), writes, ..FocusPolicy::of(layer) }
    }

    fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled {
        match input {
            ScreenInput::Choose(GO) | ScreenInput::Submit => self.go(cx),
            ScreenInput::Typed(typed) => {
                let field = if self.focus == PASSWORD { &mut self.password } else { &mut self.target };
                if field.typed(typed) {
                    self.error = None;
                }
            }
            ScreenInput::Focused(target) => self.focus = target.unwrap_or(TARGET),
            _ => return Handled::No,
        }
        Handled::Yes
    }
}
