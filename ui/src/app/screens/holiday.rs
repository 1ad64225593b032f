//! A holiday at a table in play: its first day and its length, before it is declared.

use fairdeal_games::calendar::day_number;
use fairdeal_protocol::log::extensions::Extension;
use fairdeal_session::events::Command;
use fairdeal_session::view::{date_in_words, days_in_words};
use ratatui::layout::{Margin, Rect};
use ratatui::text::Line;

use super::{arrows, column, keys_below, row, setting};
use crate::app::screen::{Context, Cx, FocusPolicy, Handled, Screen, ScreenInput, Tone};
use crate::canvas::{Canvas, Layer, Target, wrapped};
use crate::keys::Intent;

const FIRST: Target = Target::Row(0);
const DAYS: Target = Target::Row(1);
const DECLARE: Target = Target::Row(2);

/// Moves the first day: label, days, target.
const STEPS: [(&str, i32, Target); 4] = [
    ("-7 days", -7, Target::Button(0)),
    ("-1 day", -1, Target::Button(1)),
    ("+1 day", 1, Target::Button(2)),
    ("+7 days", 7, Target::Button(3)),
];

/// How far ahead a holiday may begin here, in days.
const AHEAD: u32 = 366;

/// Days that are declared already.
const OVERLAP: &str = "Some of these days are in a holiday that you have already declared.";

/// A holiday that is not declared yet.
#[derive(Debug)]
pub struct Holiday {
    /// Today, counted from 1970-01-01, UTC.
    today: u32,
    first: u32,
    days: u32,
    /// The days that the player can still declare at this table.
    left: u32,
    /// The holidays that are declared: the first day of each, and the day after its last one.
    declared: Vec<(u32, u32)>,
    focus: Option<Target>,
}

impl Holiday {
    /// For a player who has declared these holidays, and can still declare so many days.
    pub fn new(context: &Context, left: u32, declared: Vec<(u32, u32)>) -> Self {
        let epoch = day_number("1970-01-01").unwrap_or_default();
        let today = day_number(&context.today).map_or(0, |day| u32::try_from(day - epoch).unwrap_or(0));
        let first = declared.iter().map(|(_, end)| *end).fold(today + 1, u32::max);
        Self { today, first, days: left.clamp(1, 7), left, declared, focus: None }
    }

    /// Moves the first day, round the ends.
    fn move_first(&mut self, by: i32) {
        let ahead = i64::from(self.first) - i64::from(self.today) - 1 + i64::from(by);
        let ahead = u32::try_from(ahead.rem_euclid(i64::from(AHEAD))).unwrap_or(0);
        self.first = self.today + 1 + ahead;
    }

    fn change(&mut self, by: i32) {
        match self.focus {
            Some(FIRST) => self.move_first(by),
            Some(DAYS) if by > 0 => self.days = if self.days < self.left { self.days + 1 } else { 1 },
            Some(DAYS) => self.days = if self.days > 1 { self.days - 1 } else { self.left.max(1) },
            _ => {}
        }
    }

    /// Whether some of the days are in a holiday that is declared.
    fn overlaps(&self) -> bool {
        let end = self.first + self.days;
        self.declared.iter().any(|(first, until)| *first < end && self.first < *until)
    }

    fn declare(&self, cx: &mut Cx<'_>) {
        if self.overlaps() {
            return cx.toast(Tone::Bad, OVERLAP);
        }
        let days = u16::try_from(self.days).unwrap_or(u16::MAX);
        cx.command(Command::Extend(Extension::Holiday { first: self.first, days }));
        cx.leave();
    }

    /// The days as a sentence.
    fn in_words(&self) -> String {
        if self.overlaps() {
            return OVERLAP.to_owned();
        }
        let days = if self.days == 1 { "1 day".to_owned() } else { format!("{} days", self.days) };
        let when = days_in_words(self.first, self.days);
        format!("{when}: {days} of the {} that you have left at this table.", self.left)
    }
}

impl Screen for Holiday {
    fn name(&self) -> String {
        "a holiday".to_owned()
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let page = column(area.inner(Margin::new(2, 1)), 76);
        let at = |line: u16| Rect { y: page.y + line, height: u16::from(line < page.height), ..page };
        let ahead = match self.first - self.today {
            1 => "tomorrow".to_owned(),
            days => format!("in {days} days"),
        };
        setting(canvas, at(0), FIRST, "first day", &format!("{}, {ahead}", date_in_words(self.first)));
        setting(canvas, at(1), DAYS, "days", &self.days.to_string());
        let mut x = page.x + 3;
        for (label, _, target) in STEPS {
            if page.height > 2 {
                x = canvas.button((x, at(2).y), "", label, target);
            }
        }
        row(canvas, at(4), DECLARE, ("declare this holiday", theme.title()), "");
        let text = format!(
            "{} Your clock stops on those days, and the others can't go on without you. You can't take a holiday back, but \
             you can still play.",
            self.in_words()
        );
        let width = usize::from(page.width).saturating_sub(3);
        let notes = Rect { y: at(6).y, height: page.height.saturating_sub(6), ..page };
        canvas.rows(notes, wrapped(&text, width, 0).into_iter().map(|text| Line::raw(format!("   {text}"))));
        let turn = (theme.glyph("←→", "Left Right").to_owned(), "change", None);
        keys_below(canvas, area, context, vec![arrows(theme, "choose"), turn]);
    }

    fn focus(&self, layer: &Layer) -> FocusPolicy {
        FocusPolicy { first: Some(FIRST), steers: &[Intent::Left, Intent::Right], ..FocusPolicy::of(layer) }
    }

    fn spoken(&self, _context: &Context) -> String {
        self.in_words()
    }

    fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled {
        match input {
            ScreenInput::Choose(DECLARE) => self.declare(cx),
            ScreenInput::Choose(target @ (FIRST | DAYS)) => {
                self.focus = Some(target);
                self.change(1);
            }
            ScreenInput::Choose(Target::Button(number)) => {
                if let Some((_, by, _)) = STEPS.get(usize::from(number)) {
                    self.move_first(*by);
                }
            }
            ScreenInput::Intent(Intent::Left) => self.change(-1),
            ScreenInput::Intent(Intent::Right) => self.change(1),
            ScreenInput::Focused(target) => self.focus = target,
            ScreenInput::Back | ScreenInput::Intent(Intent::Quit) => cx.leave(),
            _ => return Handled::No,
        }
        Handled::Yes
    }
}
