//! Replay of a past game, step by step, from any point of view. A bar over the whole width shows the position and the
//! ends of the hands; a click on it jumps there.

use std::sync::Arc;
use std::time::Duration;

use fairdeal_protocol::seat::Seat;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr as _;

use super::paragraph;
use super::table::TableScreen;
use super::table::choosing::sentence;
use crate::app::event::UiEvent;
use crate::app::screen::{Chrome, Context, Cx, Effect, FocusPolicy, Handled, Screen, ScreenInput};
use crate::canvas::{Canvas, Layer, Target};
use crate::keys::Intent;
use fairdeal_session::narrate::LogLine;
use fairdeal_session::replay::{Eyes, Replay};

/// Lines kept in the log.
const LINES: usize = 100;
/// How long each step stays while the replay plays.
const PACE: Duration = Duration::from_millis(700);
const BACK: Target = Target::Button(100);
const ON: Target = Target::Button(101);
const PLAY: Target = Target::Button(102);
const EYES: Target = Target::Button(103);
/// The first cell of the bar; the button number is this plus the cell's column.
const BAR: u16 = 200;

/// A past game, at one of its steps.
#[derive(Debug)]
pub struct ReplayScreen {
    replay: Option<Arc<Replay>>,
    number: usize,
    eyes: Eyes,
    /// Time since the last step, while the replay plays.
    playing: Option<Duration>,
    /// Number of the bar's cells in the last frame.
    cells: u16,
    focus: Option<Target>,
    table: TableScreen,
    done: usize,
    total: usize,
    failed: Option<String>,
}

impl Default for ReplayScreen {
    fn default() -> Self {
        Self {
            replay: None,
            number: 0,
            eyes: Eyes::Everybody,
            playing: None,
            cells: 0,
            focus: None,
            table: TableScreen::new("replay", true),
            done: 0,
            total: 0,
            failed: None,
        }
    }
}

impl ReplayScreen {
    /// A replay that is being read, seen with the eyes of a seat; without one only what is public.
    pub fn seen_by(me: Option<Seat>) -> Self {
        Self { eyes: me.map_or(Eyes::Everybody, Eyes::Seat), ..Self::default() }
    }

    /// A replay that has been read, at a step.
    pub fn at(context: &Context, replay: &Arc<Replay>, number: usize, eyes: Eyes) -> Self {
        let mut screen = Self { replay: Some(Arc::clone(replay)), number, eyes, ..Self::default() };
        screen.show(context);
        screen
    }

    /// Shows the chosen step.
    fn show(&mut self, context: &Context) {
        let Some(replay) = &self.replay else { return };
        // The log up to here.
        let from = (0..=self.number).rev().scan(0, |lines, number| {
            let enough = *lines >= LINES;
            *lines += replay.step(number).lines.len();
            (!enough).then_some(number)
        });
        let first = from.last().unwrap_or(0);
        let lines = (first..=self.number).flat_map(|number| replay.step(number).lines);
        let lines: Vec<LogLine> = lines.cloned().collect();
        let status = self.place(usize::MAX).unwrap_or_default();
        let snapshot = replay.snapshot(self.number, self.eyes);
        self.table.show(context, snapshot, &lines, status);
    }

    /// The position and the point of view in words, shorter if there is less room.
    fn place(&self, room: usize) -> Option<String> {
        let replay = self.replay.as_ref()?;
        let step = replay.step(self.number);
        let eyes = match self.eyes {
            Eyes::Everybody => "public cards".to_owned(),
            Eyes::All => "every hand".to_owned(),
            Eyes::Seat(seat) => format!("as {} saw it", replay.names().get(seat.index())?),
        };
        let sealed = if step.opened { "" } else { ", never opened" };
        let (number, all, deal) = (self.number + 1, replay.len(), u64::from(step.deal) + 1);
        let long = format!("Step {number} of {all}, deal {deal}{sealed}: {eyes}");
        Some(if long.width() <= room { long } else { format!("{number} of {all}: {eyes}") })
    }

    fn go(&mut self, context: &Context, to: usize) {
        let last = self.replay.as_ref().map_or(0, |replay| replay.last());
        self.number = to.min(last);
        self.show(context);
    }

    /// Moves by a hand, or by ten steps in a game of one hand.
    fn go_by_hand(&mut self, context: &Context, ahead: bool) {
        let Some(replay) = &self.replay else { return };
        let starts = starts(replay);
        let to = match (starts.len(), ahead) {
            (0 | 1, true) => self.number + 10,
            (0 | 1, false) => self.number.saturating_sub(10),
            (_, true) => starts.into_iter().find(|start| *start > self.number).unwrap_or(usize::MAX),
            (_, false) => starts.into_iter().rfind(|start| *start < self.number).unwrap_or(0),
        };
        self.go(context, to);
    }

    /// Starts to play, from the beginning if the replay is at its end; or pauses.
    fn toggle(&mut self, context: &Context) {
        self.playing = match self.playing {
            Some(_) => None,
            None => Some(Duration::ZERO),
        };
        let last = self.replay.as_ref().map_or(0, |replay| replay.last());
        if self.playing.is_some() && self.number == last {
            self.go(context, 0);
        }
    }

    /// Draws the bar, and below it the buttons with the position.
    fn draw_bar(&mut self, context: &Context, canvas: &mut Canvas<'_>) {
        let Some(replay) = &self.replay else { return };
        let theme = canvas.theme();
        let [_, bar, row] =
            Layout::vertical([Constraint::Min(0), Constraint::Length(1), Constraint::Length(1)]).areas(canvas.area());
        canvas.clear(bar);
        canvas.clear(row);
        let margin = Margin::new(2, 0);
        let (bar, row) = (bar.inner(margin), row.inner(margin));
        let cell = |step: usize| step * usize::from(bar.width.saturating_sub(1)) / replay.last().max(1);
        let ends: Vec<usize> = starts(replay).into_iter().skip(1).map(cell).collect();
        let here = cell(self.number);
        for (x, number) in (bar.x..bar.right()).zip(0_usize..) {
            let (glyph, style) = if number == here {
                (theme.glyph("●", "O"), theme.accent())
            } else if ends.contains(&number) {
                (theme.glyph("┃", "|"), theme.title())
            } else if number < here {
                (theme.glyph("━", "="), theme.accent())
            } else {
                (theme.glyph("─", "-"), theme.faint())
            };
            let at = Rect { x, width: 1, ..bar };
            canvas.target(at, Target::Button(BAR + (x - bar.x)));
            canvas.put(at, Line::styled(glyph, style));
        }
        self.cells = bar.width;
        let keys = &context.keymap;
        let space = keys.key(Intent::Uses);
        let label = if self.playing.is_some() { "pause" } else { "play" };
        let x = canvas.button((row.x, row.y), "", theme.glyph("←", "<"), BACK);
        let x = canvas.button((x, row.y), &space, label, PLAY);
        let x = canvas.button((x, row.y), "", theme.glyph("→", ">"), ON);
        let x = canvas.button((x, row.y), "e", "view", EYES) + 1;
        let back = format!("{} back", keys.key(Intent::Back));
        let width = u16::try_from(back.width()).unwrap_or(u16::MAX).saturating_add(2);
        let row = if row.right().saturating_sub(x) > 40 + width {
            canvas.button((row.right() - width, row.y), &keys.key(Intent::Back), "back", Target::Key(Intent::Back));
            Rect { width: row.width.saturating_sub(width + 1), ..row }
        } else {
            row
        };
        let rest = Rect { x, width: row.right().saturating_sub(x), ..row };
        let words = self.place(usize::from(rest.width)).unwrap_or_default();
        canvas.put(rest, Line::styled(words, theme.title()));
    }

    fn next_eyes(&self) -> Eyes {
        let seats = self.replay.as_ref().map_or(0, |replay| replay.names().len());
        match self.eyes {
            Eyes::Everybody => Seat::new(0).map_or(Eyes::All, Eyes::Seat),
            Eyes::Seat(seat) => match Seat::new(seat.index() + 1).filter(|next| next.index() < seats) {
                Some(next) => Eyes::Seat(next),
                None => Eyes::All,
            },
            Eyes::All => Eyes::Everybody,
        }
    }

    /// Carries out a button, or a click on the bar. Returns whether the target is one of them.
    fn press(&mut self, context: &Context, target: Target) -> bool {
        match target {
            BACK => self.go(context, self.number.saturating_sub(1)),
            ON => self.go(context, self.number + 1),
            PLAY => self.toggle(context),
            EYES => {
                self.eyes = self.next_eyes();
                self.show(context);
            }
            Target::Button(number) if number >= BAR => {
                let last = self.replay.as_ref().map_or(0, |replay| replay.last());
                let (cell, cells) = (usize::from(number - BAR), usize::from(self.cells.saturating_sub(1)).max(1));
                // The first step of the cell: the bar rounds down.
                self.go(context, (cell * last).div_ceil(cells));
            }
            _ => return false,
        }
        true
    }

    /// Moves to another step, or plays and pauses.
    fn turn(&mut self, context: &Context, intent: Intent) -> Handled {
        match (intent, self.focus) {
            (Intent::Choose, Some(target @ (BACK | ON | EYES))) => {
                self.press(context, target);
            }
            // Space plays and pauses, whatever the mouse has passed over; Tab reaches the other buttons.
            (Intent::Choose, _) => self.toggle(context),
            (Intent::PageUp, _) => self.go_by_hand(context, false),
            (Intent::PageDown, _) => self.go_by_hand(context, true),
            (Intent::First, _) => self.go(context, 0),
            (Intent::Last, _) => self.go(context, usize::MAX),
            (Intent::Left, _) => self.go(context, self.number.saturating_sub(1)),
            (Intent::Right, _) => self.go(context, self.number + 1),
            _ => return Handled::No,
        }
        Handled::Yes
    }

    /// The progress of reading the game, or the game.
    fn on_event(&mut self, context: &Context, event: &UiEvent) {
        match event {
            UiEvent::Checking(progress) => {
                (self.done, self.total) = (progress.done, progress.total);
            }
            UiEvent::Replay(replay) => {
                self.replay = Some(Arc::clone(replay));
                if matches!(self.eyes, Eyes::Seat(seat) if seat.index() >= replay.names().len()) {
                    self.eyes = Eyes::Everybody;
                }
                self.show(context);
            }
            UiEvent::Failed(why) if self.replay.is_none() => self.failed = Some(why.clone()),
            _ => {}
        }
    }

    /// Goes on to the next step in time, while the replay plays.
    fn tick(&mut self, context: &Context, passed: Duration) {
        let Some(waited) = self.playing.map(|waited| waited.saturating_add(passed)) else {
            return;
        };
        let goes_on = self.replay.as_ref().is_some_and(|replay| self.number < replay.last());
        self.playing = Some(waited).filter(|_| goes_on);
        if goes_on && waited >= PACE {
            self.playing = Some(Duration::ZERO);
            self.go(context, self.number + 1);
        }
    }
}

impl Screen for ReplayScreen {
    fn name(&self) -> String {
        "replay".to_owned()
    }

    fn chrome(&self, context: &Context) -> Chrome {
        let Chrome { heading, rulebook, .. } = self.table.chrome(context);
        Chrome { heading, rulebook: rulebook.map(|(game, _)| (game, "")), ..Chrome::default() }
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        if self.replay.is_none() {
            let (words, style) = match &self.failed {
                Some(why) => (why.clone(), theme.bad()),
                None => {
                    (format!("Checking every step before it is shown: {} of {}.", self.done, self.total), theme.title())
                }
            };
            let page = area.inner(Margin::new(2, 1));
            return paragraph(canvas, page, Line::styled(words, style));
        }
        self.table.draw(context, canvas, area);
        self.draw_bar(context, canvas);
    }

    fn spoken(&self, _context: &Context) -> String {
        let Some(replay) = &self.replay else {
            return self.failed.clone().unwrap_or_default();
        };
        let parts = self
            .place(usize::MAX)
            .into_iter()
            .chain(replay.step(self.number).lines.iter().map(|line| line.text.clone()));
        parts.map(|part| sentence(&part)).collect::<Vec<_>>().join(" ")
    }

    fn focus(&self, layer: &Layer) -> FocusPolicy {
        let mut stops = FocusPolicy::of(layer).stops;
        stops.retain(|target| !matches!(target, Target::Button(number) if *number >= BAR));
        // Left and right change the step instead of moving the focus over the board; the sheet over a table scrolls.
        let steers: &[Intent] = if self.table.focus(layer).steers(Intent::Up) {
            &[Intent::Left, Intent::Right, Intent::First, Intent::Last, Intent::Choose, Intent::Up, Intent::Down]
        } else {
            &[Intent::Left, Intent::Right, Intent::First, Intent::Last, Intent::Choose]
        };
        FocusPolicy { first: layer.area(PLAY).map(|_| PLAY), stops, steers, writes: false }
    }

    fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled {
        let context = cx.context;
        let is_covered = self.table.is_covered();
        match input {
            ScreenInput::Choose(target) if self.press(context, target) => {}
            ScreenInput::Letter('e') => {
                self.press(context, EYES);
            }
            ScreenInput::Back | ScreenInput::Intent(Intent::Quit | Intent::Choose) if is_covered => {
                return self.table.input(cx, ScreenInput::Back);
            }
            ScreenInput::Back | ScreenInput::Intent(Intent::Quit) => {
                cx.effect(Effect::StopReading);
                cx.leave();
            }
            ScreenInput::Intent(Intent::Up | Intent::Down | Intent::PageUp | Intent::PageDown) if is_covered => {
                return self.table.input(cx, input);
            }
            ScreenInput::Choose(_)
            | ScreenInput::Intent(Intent::Inspect | Intent::Scores | Intent::Log | Intent::Seal) => {
                return self.table.input(cx, input);
            }
            ScreenInput::Intent(intent) => return self.turn(context, intent),
            ScreenInput::Event(event) => self.on_event(context, event),
            ScreenInput::Tick(passed) => self.tick(context, passed),
            ScreenInput::Focused(target) => {
                self.focus = target;
                return self.table.input(cx, input);
            }
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn pace(&self) -> Option<Duration> {
        self.playing.map(|waited| PACE.saturating_sub(waited))
    }

    fn keys(&self, context: &Context) -> Vec<(String, String)> {
        let keys = &context.keymap;
        vec![
            (keys.keys(Intent::Left), "previous step".to_owned()),
            (keys.keys(Intent::Right), "next step".to_owned()),
            (keys.keys(Intent::PageUp), "the start of this hand, or of the one before".to_owned()),
            (keys.keys(Intent::PageDown), "the next hand".to_owned()),
            (keys.keys(Intent::First), "the beginning".to_owned()),
            (keys.keys(Intent::Last), "the end".to_owned()),
            (keys.keys(Intent::Choose), "play or pause".to_owned()),
            ("e".to_owned(), "next point of view".to_owned()),
        ]
    }

    fn commands(&self, _context: &Context) -> Vec<(String, Target)> {
        vec![
            ("next step".to_owned(), ON),
            ("previous step".to_owned(), BACK),
            ("play or pause".to_owned(), PLAY),
            ("next point of view".to_owned(), EYES),
        ]
    }
}

/// The first step of each hand.
fn starts(replay: &Replay) -> Vec<usize> {
    replay.deals().iter().filter_map(|deal| replay.deal_start(deal.number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::event::Input;
    use crate::app::shell::Shell;
    use crate::app::testing::{TestApp, context, transcript};
    use crate::input::KeyCode;

    /// A replay from the history is seen from one's own seat; a seat that the file does not have is nobody's.
    #[test]
    fn replay_begins_with_ones_own_eyes() {
        let replay = Arc::new(Replay::open(transcript("tests/it/transcripts/loot.fairdeal")).unwrap());
        let name = replay.names().get(1).cloned().unwrap();
        for (seat, words) in [(1, name.as_str()), (5, "public")] {
            let screen = ReplayScreen::seen_by(Seat::new(seat));
            let mut stage = TestApp::with(Shell::new(context(false), Box::new(screen)));
            stage.size = (120, 40);
            stage.input(Input::UiEvent(UiEvent::Replay(Arc::clone(&replay))));
            let shown = stage.draw();
            let bar = shown.lines().find(|line| line.contains("Step 1 of")).unwrap();
            assert!(bar.contains(words), "{bar}");
        }
    }

    #[test]
    fn bar_keys_and_play_move_through_the_game() {
        let replay = Arc::new(Replay::open(transcript("tests/it/transcripts/loot.fairdeal")).unwrap());
        let mut stage = TestApp::with(Shell::new(context(false), Box::<ReplayScreen>::default()));
        stage.size = (120, 40);
        stage.input(Input::UiEvent(UiEvent::Replay(Arc::clone(&replay))));
        let all = replay.len();
        let at = |stage: &mut TestApp, number: usize| {
            let shown = stage.draw();
            assert!(shown.contains(&format!("Step {number} of {all}")), "{number}: {shown}");
        };
        at(&mut stage, 1);
        stage.key(KeyCode::Right);
        at(&mut stage, 2);
        stage.key(KeyCode::Left);
        at(&mut stage, 1);
        stage.key(KeyCode::End);
        at(&mut stage, all);
        // At the end, Space starts again from the beginning.
        stage.key(KeyCode::Char(' '));
        stage.input(Input::Tick(PACE));
        at(&mut stage, 2);
        assert!(stage.draw().contains("[Space pause]"));
        stage.key(KeyCode::Char(' '));
        assert!(stage.shell.pace().is_none());
        // The first and the last cell of the bar are the first and the last step.
        stage.click(Target::Button(BAR + 115));
        at(&mut stage, all);
        stage.click(Target::Button(BAR));
        at(&mut stage, 1);
        let second = starts(&replay).get(1).copied();
        stage.key(KeyCode::PageDown);
        at(&mut stage, second.map_or(11.min(all), |start| start + 1));
        stage.keys("e");
        assert!(stage.draw().contains("saw it"), "{}", stage.draw());
        stage.keys("e");
        stage.rest();
    }
}
