//! Animations of a table: cards that move, spots that flash, scores that appear step by step.

use std::collections::BTreeMap;
use std::time::Duration;

use fairdeal_games::{AnyEvent, counted};
use fairdeal_protocol::card::Handle;
use ratatui::layout::{Margin, Rect};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use crate::app::shell::window;
use crate::canvas::{Canvas, Layer, Marks, Target, wrapped, wrapped_line};
use crate::tables::{Animation, Motion, Spot};

/// Time between two frames of an animation.
const FRAME: Duration = Duration::from_millis(40);
/// Duration of a move or a flash.
const WAY: Duration = Duration::from_millis(220);
/// Duration of building, after the way.
const BUILDING: Duration = Duration::from_millis(300);
/// Time between two steps of a scoring.
const BEAT: Duration = Duration::from_millis(140);
/// How long the table is seen before a sheet comes up.
const LAST_LOOK: Duration = Duration::from_millis(600);
/// The longest time for all steps of a scoring.
const COUNTING: Duration = Duration::from_millis(2500);

/// The moving and the new things on the board.
#[derive(Debug, Default)]
pub(super) struct Stage {
    /// Events that the board has not shown yet.
    pub(super) events: Vec<AnyEvent>,
    /// The cards that this player received last.
    pub(super) came: Vec<Handle>,
    /// The spots that glow while a hand that has ended rests.
    pub(super) glowing: Vec<Spot>,
    moving: Vec<Moving>,
    /// The moves of others over the board since the player acted.
    traces: Vec<Trace>,
    /// The positions of the table's spots on the screen.
    places: BTreeMap<Spot, Rect>,
}

impl Stage {
    /// Begins motions from where their spots were last drawn.
    pub(super) fn begin(&mut self, motions: Vec<Motion>) {
        let from = &self.places;
        self.moving.extend(motions.into_iter().map(|motion| Moving::new(motion, from)));
    }

    pub(super) fn advance(&mut self, passed: Duration) {
        self.moving.retain_mut(|moving| moving.advance(passed));
    }

    /// The time between two frames; `None` if nothing moves.
    pub(super) fn pace(&self) -> Option<Duration> {
        (!self.moving.is_empty()).then_some(FRAME)
    }

    /// Marks the spots that motions affect.
    pub(super) fn mark(&self, marks: &mut Marks) {
        for moving in &self.moving {
            moving.mark(marks);
        }
    }

    /// Remembers what was moved over the board. What goes on from where it came is one way, and a place has one arrow.
    pub(super) fn trace(&mut self, motions: &[Motion], stays_marked: impl Fn(Spot) -> bool) {
        for motion in motions {
            let Motion::Fly { what, from, to } = motion else { continue };
            if !stays_marked(*to) {
                continue;
            }
            let way_on = self.traces.iter().position(|trace| trace.to == *from && trace.what == *what);
            let begin = way_on.map_or(*from, |at| self.traces.remove(at).from);
            self.traces.retain(|trace| trace.to != *to);
            if begin != *to {
                self.traces.push(Trace { what: what.clone(), from: begin, to: *to });
            }
        }
    }

    /// The player has acted: what was moved before is known.
    pub(super) fn forget(&mut self) {
        self.traces.clear();
    }

    pub(super) fn draw(&self, canvas: &mut Canvas<'_>) {
        for trace in &self.traces {
            trace.draw(canvas);
        }
        for moving in &self.moving {
            moving.draw(canvas);
        }
    }

    /// Records where the spots were drawn.
    pub(super) fn drawn(&mut self, layer: &Layer) {
        self.places.clone_from(&layer.places);
        for moving in &mut self.moving {
            moving.arrive_at(&layer.places);
        }
    }
}

/// Something that has been moved, and stays marked.
#[derive(Clone, Debug)]
struct Trace {
    what: Line<'static>,
    from: Spot,
    to: Spot,
}

impl Trace {
    /// A ghost where it was, and an arrow where it is; both on blanks alone.
    fn draw(&self, canvas: &mut Canvas<'_>) {
        let theme = canvas.theme();
        let (from, to) = (canvas.area_of(self.from), canvas.area_of(self.to));
        if let Some(from) = from {
            let width = u16::try_from(self.what.width()).unwrap_or(u16::MAX).min(from.width);
            let middle = Rect { x: from.x + (from.width - width) / 2, y: from.y + from.height / 2, width, height: 1 };
            if matches!(self.from, Spot::Square(_)) && canvas.is_blank(middle) {
                let ghost = theme.glyph("░", ".").repeat(usize::from(width));
                canvas.put(middle, Line::styled(ghost, theme.faint()));
            }
        }
        let Some(to) = to else { return };
        let middle = |area: Rect| (area.x + area.width / 2, area.y + area.height / 2);
        let (x, y) = middle(to);
        let (dx, dy) = from.map(middle).map_or((0, 1), |(from_x, from_y)| {
            let way = |from: u16, to: u16| i32::from(to) - i32::from(from);
            (way(from_x, x), way(from_y, y))
        });
        // A row is as high as two columns are wide.
        let is_across = dx.abs() > 2 * dy.abs();
        // The arrow is on the side where it came from.
        let ((glyph, ascii), (x, y)) = match (is_across, dx > 0, dy < 0) {
            (true, true, _) => (("→", ">"), (to.x, y)),
            (true, false, _) => (("←", "<"), (to.right().saturating_sub(1), y)),
            (false, _, true) => (("↑", "^"), (x, to.bottom().saturating_sub(1))),
            (false, _, false) => (("↓", "v"), (x, to.y)),
        };
        let place = Rect::new(x, y, 1, 1);
        // The blank between two words belongs to their text.
        let is_letter = |x: Option<u16>| x.is_some_and(|x| canvas.is_letter(x, y));
        let is_in_text = is_letter(x.checked_sub(1)) && is_letter(x.checked_add(1));
        if canvas.is_blank(place) && !is_in_text {
            canvas.put(place, Line::styled(theme.glyph(glyph, ascii), theme.accent()));
        }
    }
}

/// A motion and its progress.
#[derive(Clone, Debug)]
struct Moving {
    motion: Motion,
    /// Start and end on the screen; `None` until the spot has been drawn.
    from: Option<Rect>,
    to: Option<Rect>,
    passed: Duration,
}

impl Moving {
    /// Starts where the spot was last drawn.
    fn new(motion: Motion, places: &BTreeMap<Spot, Rect>) -> Self {
        let from = match &motion {
            Motion::Fly { from, .. } => places.get(from).copied(),
            Motion::Flash(_) | Motion::Build(_) => None,
        };
        Self { motion, from, to: None, passed: Duration::ZERO }
    }

    /// Records the position of the destination.
    fn arrive_at(&mut self, places: &BTreeMap<Spot, Rect>) {
        if let Motion::Fly { to, .. } = &self.motion {
            self.to = places.get(to).copied();
        }
    }

    /// Advances the time. Returns whether it is still moving.
    fn advance(&mut self, passed: Duration) -> bool {
        self.passed += passed;
        let lasts = match self.motion {
            Motion::Build(_) => WAY + BUILDING,
            _ => WAY,
        };
        self.passed < lasts
    }

    /// Marks the spots that the motion affects.
    fn mark(&self, marks: &mut Marks) {
        match &self.motion {
            Motion::Fly { to, .. } if self.from.is_some() => {
                marks.hidden.insert(*to);
            }
            Motion::Fly { to, .. } => {
                marks.flashing.insert(*to);
            }
            Motion::Flash(spot) => {
                marks.flashing.insert(*spot);
            }
            Motion::Build(spot) => {
                let built = self.passed.saturating_sub(WAY).as_millis() * 100 / BUILDING.as_millis();
                marks.growing.insert(*spot, u8::try_from(built).unwrap_or(100));
            }
        }
    }

    /// Draws the moving thing between start and end.
    fn draw(&self, canvas: &mut Canvas<'_>) {
        let (Motion::Fly { what, .. }, Some(from), Some(to)) = (&self.motion, self.from, self.to) else {
            return;
        };
        let (passed, way) = (self.passed.as_millis(), WAY.as_millis());
        let between = |from: u16, to: u16| {
            let (from, to) = (i64::from(from), i64::from(to));
            let part = i64::try_from(passed.min(way)).unwrap_or(0);
            let all = i64::try_from(way).unwrap_or(1).max(1);
            u16::try_from(from + (to - from) * part / all).unwrap_or(0)
        };
        let (width, height) = (u16::try_from(what.width()).unwrap_or(u16::MAX).max(3), 2);
        let middle = |area: Rect| (area.x + area.width / 2, area.y + area.height / 2);
        let ((from_x, from_y), (to_x, to_y)) = (middle(from), middle(to));
        let x = between(from_x, to_x).saturating_sub(width / 2);
        let y = between(from_y, to_y).saturating_sub(height / 2);
        let area = Rect::new(x, y, width, height).intersection(canvas.area());
        // A small card, over whatever is there.
        canvas.clear(area);
        canvas.tint(area, canvas.theme().paper(true));
        canvas.put(area, what.clone());
        if canvas.theme().panel().is_none() {
            canvas.tint(area, canvas.theme().focused());
        }
    }
}

/// An animation in steps, and how many are shown.
#[derive(Debug)]
pub(super) struct Telling {
    show: Animation,
    /// The time until it comes up: the table is seen first as it was left.
    wait: Duration,
    shown: usize,
    passed: Duration,
    /// How many lines the text is scrolled back from its end, if it does not all fit.
    back: usize,
    /// Whether the player has opened it, to read and close it.
    is_asked: bool,
}

impl Telling {
    pub(super) fn new(show: Animation, moves: bool) -> Self {
        let mut telling = Self {
            show,
            wait: if moves { LAST_LOOK } else { Duration::ZERO },
            shown: 1,
            passed: Duration::ZERO,
            back: 0,
            is_asked: false,
        };
        if !moves {
            telling.skip();
        }
        telling
    }

    /// A text that the player has opened, shown from its beginning.
    pub(super) fn sheet(show: Animation) -> Self {
        Self { back: usize::MAX, is_asked: true, ..Self::new(show, false) }
    }

    /// The same text from its end.
    pub(super) fn at_end(self) -> Self {
        Self { back: 0, ..self }
    }

    /// The effect of the key that closes it.
    pub(super) fn close_words(&self) -> &'static str {
        match (self.is_moving(), self.is_asked) {
            (true, _) => "show all",
            (false, true) => "close",
            (false, false) => "continue",
        }
    }

    fn parts(&self) -> usize {
        self.show.lines.iter().map(|line| line.spans.len()).sum()
    }

    /// Whether it is still to come up.
    pub(super) fn is_awaited(&self) -> bool {
        !self.wait.is_zero()
    }

    pub(super) fn is_moving(&self) -> bool {
        self.shown < self.parts()
    }

    pub(super) fn pace(&self) -> Option<Duration> {
        let next = if self.is_awaited() { self.wait } else { self.beat() };
        (self.is_awaited() || self.is_moving()).then_some(next)
    }

    /// The time between two steps: all of them take at most [`COUNTING`].
    fn beat(&self) -> Duration {
        let parts = u32::try_from(self.parts()).unwrap_or(u32::MAX).max(1);
        BEAT.min(COUNTING / parts)
    }

    pub(super) fn skip(&mut self) {
        self.shown = self.parts();
    }

    /// Lets time pass, and returns how much of it the sheet was shown.
    pub(super) fn advance(&mut self, passed: Duration) -> Duration {
        let waited = passed.min(self.wait);
        self.wait = self.wait.saturating_sub(waited);
        let passed = passed.saturating_sub(waited);
        self.passed += passed;
        let beat = self.beat();
        while self.passed >= beat && self.is_moving() {
            self.passed -= beat;
            self.shown += 1;
        }
        passed
    }

    /// Scrolls back by so many lines; a negative number scrolls ahead.
    pub(super) fn scroll(&mut self, by: isize) {
        if !self.is_moving() {
            self.back = self.back.saturating_add_signed(by);
        }
    }

    /// Draws the steps so far; if they do not all fit, the last ones.
    pub(super) fn draw(&mut self, canvas: &mut Canvas<'_>, close: Target, note: &str) {
        if self.is_awaited() {
            return;
        }
        let mut left = self.shown;
        let mut lines: Vec<Line<'static>> = Vec::new();
        for line in &self.show.lines {
            if left == 0 && !line.spans.is_empty() {
                break;
            }
            let count = left.min(line.spans.len());
            left -= count;
            lines.push(Line::from(line.spans.iter().take(count).cloned().collect::<Vec<_>>()));
        }
        let theme = canvas.theme();
        let columns = 76.min(canvas.area().width);
        let inside = usize::from(columns.saturating_sub(4));
        let rows = |lines: &[Line<'static>]| -> Vec<Line<'static>> {
            lines.iter().flat_map(|line| wrapped_line(line, inside, 2)).collect()
        };
        let wanted = u16::try_from(rows(&self.show.lines).len()).unwrap_or(u16::MAX);
        let lines = rows(&lines);
        let height = wanted.saturating_add(3).min(canvas.area().height);
        let inner = window(canvas, &self.show.title, columns, height);
        let rows = usize::from(inner.height.saturating_sub(1));
        let hidden = lines.len().saturating_sub(rows);
        self.back = self.back.min(hidden);
        let first = hidden - self.back;
        let moving = self.is_moving();
        let text = Rect { height: inner.height.saturating_sub(1), ..inner }.inner(Margin::new(1, 0));
        canvas.rows(text, lines.into_iter().skip(first));
        let foot = Rect { y: inner.bottom().saturating_sub(1), height: 1, ..inner };
        let x = canvas.button((foot.x + 1, foot.y), "Enter", self.close_words(), close);
        if !moving {
            let rest = Rect { x, width: foot.right().saturating_sub(x), ..foot };
            let more = match (first, self.back) {
                (0, 0) => String::new(),
                (0, below) => format!("Down: {} below ", counted(below, "more line")),
                (above, 0) => format!("Up: {} above ", counted(above, "more line")),
                (above, below) => format!("Up, Down: {above} lines above, {below} below "),
            };
            let room = usize::from(rest.width).saturating_sub(more.width());
            let note = wrapped(note, room, 0).into_iter().next().unwrap_or_default();
            let spans = vec![Span::raw(more), Span::styled(note, theme.accent())];
            canvas.put(rest, Line::from(spans));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However long others move, there is at most one trace for each place.
    #[test]
    fn a_place_has_one_trace_and_a_way_back_none() {
        let fly = |from, to| Motion::Fly { what: Line::raw("x"), from: Spot::Square(from), to: Spot::Square(to) };
        let mut stage = Stage::default();
        let ways = |stage: &Stage| stage.traces.iter().map(|trace| (trace.from, trace.to)).collect::<Vec<_>>();
        stage.trace(&[fly(1, 2), fly(2, 3), fly(7, 3)], |_| true);
        assert_eq!(ways(&stage), [(Spot::Square(7), Spot::Square(3))]);
        stage.trace(&[fly(4, 5), fly(5, 4), fly(8, 9)], |spot| spot != Spot::Square(9));
        assert_eq!(ways(&stage), [(Spot::Square(7), Spot::Square(3))]);
        stage.forget();
        assert!(ways(&stage).is_empty());
    }
}
