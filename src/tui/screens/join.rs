//! Entering a ticket or an address, and a password if needed, to join a table or to watch it.

use fairdeal_net::JoinTarget;
use fairdeal_protocol::crypto::pake::MAX_PASSWORD;
use fairdeal_ui::canvas::{Canvas, Target, wrapped};
use fairdeal_ui::field::Field;
use fairdeal_ui::keys::Intent;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::column;
use super::table::TableScreen;
use crate::tui::screen::{Context, Effect, Request, Requests, Screen, Tone};

/// The longest text that may hold a ticket or an address.
const MAX_TARGET: usize = 6000;

const TARGET: Target = Target::Button(0);
const PASSWORD: Target = Target::Button(1);
const GO: Target = Target::Button(2);

/// The purpose of the ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tui) enum Purpose {
    Join,
    Watch,
}

#[derive(Debug)]
pub(in crate::tui) struct Join {
    purpose: Purpose,
    target: Field,
    password: Field,
    focus: Target,
}

impl Join {
    pub(in crate::tui) fn new(purpose: Purpose) -> Self {
        Self {
            purpose,
            target: Field::new(MAX_TARGET),
            password: Field::secret(MAX_PASSWORD),
            focus: TARGET,
        }
    }

    /// Opens with the ticket of a table that needs a password.
    pub(in crate::tui) fn with(purpose: Purpose, ticket: &str) -> Self {
        let mut join = Self::new(purpose);
        join.target.insert(ticket);
        join.focus = PASSWORD;
        join
    }

    fn go(&mut self, requests: &mut Requests) {
        let mut refuse = |why: String, focus: Target| {
            requests.push(Request::Toast(Tone::Bad, why));
            requests.push(Request::Focus(focus));
        };
        let password = match self.password.password() {
            Ok(password) => password,
            Err(why) => return refuse(why.to_string(), PASSWORD),
        };
        let target: JoinTarget = match self.target.text().parse() {
            Ok(target) => target,
            Err(why) => return refuse(why.to_string(), TARGET),
        };
        let effect = match self.purpose {
            Purpose::Join => Effect::Join { target, password },
            Purpose::Watch => Effect::Watch { target, password },
        };
        let name = match self.purpose {
            Purpose::Join => "joining",
            Purpose::Watch => "watching",
        };
        requests.push(Request::Effect(effect));
        requests.push(Request::Replace(Box::new(TableScreen::new(name, false))));
    }
}

impl Screen for Join {
    fn name(&self) -> String {
        match self.purpose {
            Purpose::Join => "join".to_owned(),
            Purpose::Watch => "watch".to_owned(),
        }
    }

    fn draw(&mut self, _context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let page = column(area, 90);
        let mut at = Rect {
            y: page.y + 2,
            height: 6,
            ..page
        };
        let fields = [
            (TARGET, "Ticket or address", &self.target),
            (PASSWORD, "Password, if the table needs one", &self.password),
        ];
        for (target, title, field) in fields {
            let area = Rect { height: 3, ..at };
            let mark = canvas.target(area, target);
            let inner = canvas.frame(area, title);
            if mark.focused {
                field.draw(canvas, inner);
            } else if field.is_empty() {
                canvas.put(inner, Line::styled("-", theme.faint()));
            } else {
                canvas.put(
                    inner,
                    Line::raw(if target == PASSWORD {
                        "********".to_owned()
                    } else {
                        field.text()
                    }),
                );
            }
            at.y += 4;
        }
        let words = match self.purpose {
            Purpose::Join => "join",
            Purpose::Watch => "watch",
        };
        canvas.button((at.x + 1, at.y), "Enter", words, GO);
        let text = "Paste the ticket that your friend sent you. It holds the table's addresses and its host's key, so \
                    that nobody else can answer in the host's place.";
        let rows = wrapped(text, usize::from(page.width).saturating_sub(2), 0);
        let below = Rect {
            y: at.y + 2,
            height: 4,
            ..page
        };
        canvas.rows(
            below,
            rows.into_iter()
                .map(|row| Line::styled(format!(" {row}"), theme.faint())),
        );
    }

    fn choose(&mut self, _context: &Context, target: Target, requests: &mut Requests) {
        if target == GO {
            self.go(requests);
        }
    }

    fn intent(&mut self, _context: &Context, intent: Intent, requests: &mut Requests) {
        if intent == Intent::Quit {
            requests.push(Request::Leave);
        }
    }

    fn field(&mut self) -> Option<&mut Field> {
        match self.focus {
            TARGET => Some(&mut self.target),
            PASSWORD => Some(&mut self.password),
            _ => None,
        }
    }

    fn submit(&mut self, _context: &Context, requests: &mut Requests) {
        self.go(requests);
    }

    fn focused(&mut self, target: Option<Target>) {
        self.focus = target.unwrap_or(TARGET);
    }

    fn first_focus(&self, _layer: &fairdeal_ui::canvas::Layer) -> Option<Target> {
        Some(self.focus)
    }
}
