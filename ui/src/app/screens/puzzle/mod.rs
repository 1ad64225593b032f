//! Puzzles: a table at one position, a question, and one action that answers it.
//!
//! The table is the real one, and every legal action is on offer. No action changes the position: the right one opens
//! a window that says why, and leads to the next puzzle; after another the player tries again. The key for hints gives a
//! hint, then the answer.

#[cfg(test)]
mod tests;

use std::time::Duration;

use fairdeal_games::{AnyAction, GameInfo, TableEvent as _, TableGame as _, counted};
use ratatui::layout::{Margin, Rect};
use ratatui::text::Line;

use super::coach::{self, Speech};
use super::setup::Setup;
use super::table::TableScreen;
use crate::app::screen::{Context, Effect, Request, Requests, Screen, Tone};
use crate::canvas::{Canvas, Layer, Marks, Target, wrapped};
use crate::field::Field;
use crate::keys::Intent;
use crate::lesson::staged;
use crate::puzzle::{LoadError, Puzzle, puzzles};
use crate::settings::Settings;
use crate::tables::layout::{Areas, areas};
use crate::theme::Theme;
use fairdeal_session::events::Command;
use fairdeal_session::view::Standing;

/// Asks for a hint, then for the answer.
const HELP: Target = Target::Button(201);
/// Opens the next puzzle, or a new table after the last one.
const NEXT: Target = Target::Button(202);
/// The other player.
const OTHER: &str = "Ada";
/// The newest lines of the game that the log holds.
const LINES: usize = 12;

/// How far the player is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Asked,
    Hinted,
    /// The answer is the only action on offer.
    Told,
    /// The answer was given, by the player alone or not.
    Done {
        alone: bool,
    },
}

#[derive(Debug)]
pub struct PuzzleScreen {
    info: &'static GameInfo,
    puzzles: &'static [Puzzle],
    /// The index of the present one.
    at: usize,
    answer: AnyAction,
    table: TableScreen,
    progress: Progress,
}

impl PuzzleScreen {
    /// The puzzle with this number, counted from 1; without a number, the first that is not solved.
    pub fn open(info: &'static GameInfo, number: Option<usize>, context: &Context) -> Result<Self, LoadError> {
        let puzzles = puzzles(info)?;
        let unsolved = || (1..=puzzles.len()).find(|number| !context.settings.has_solved(info.id, *number));
        let at = number.or_else(unsolved).unwrap_or(1).saturating_sub(1);
        Self::at(info, puzzles, at, context)
    }

    fn at(
        info: &'static GameInfo,
        puzzles: &'static [Puzzle],
        at: usize,
        context: &Context,
    ) -> Result<Self, LoadError> {
        let at = at.min(puzzles.len().saturating_sub(1));
        let puzzle = puzzles.get(at).ok_or(LoadError::None(info.name))?;
        let (position, events, answer) = puzzle.open(info)?;
        let me = position.seat;
        let mut names = vec![OTHER.to_owned(); position.game.seats()];
        if let Some(own) = names.get_mut(me.index()) {
            // A player with the name of the other one is told apart by a number.
            *own = match context.name() {
                OTHER => format!("{OTHER} 1"),
                name => name.to_owned(),
            };
        }
        let lines: Vec<String> =
            events.iter().map(|event| event.text(&names)).filter(|line| !line.is_empty()).collect();
        let newest = lines.len().saturating_sub(LINES);
        let lines = lines.into_iter().skip(newest).collect();
        let now = staged(&position.game, &position.chance, me, &names, Standing::Puzzle);
        Ok(Self { info, table: TableScreen::at(context, &now, lines), puzzles, at, answer, progress: Progress::Asked })
    }

    fn puzzle(&self) -> Option<&'static Puzzle> {
        self.puzzles.get(self.at)
    }

    fn is_done(&self) -> bool {
        matches!(self.progress, Progress::Done { .. })
    }

    fn is_last(&self) -> bool {
        self.at + 1 >= self.puzzles.len()
    }

    /// Opens another puzzle of the game.
    fn turn_to(&mut self, at: usize, context: &Context, requests: &mut Requests) {
        match Self::at(self.info, self.puzzles, at, context) {
            Ok(next) => {
                *self = next;
                requests.push(Request::Unfocus);
            }
            Err(why) => requests.push(Request::Toast(Tone::Bad, why.to_string())),
        }
    }

    fn next(&mut self, context: &Context, requests: &mut Requests) {
        if self.is_last() {
            return requests.push(Request::Replace(Box::new(Setup::new(self.info, context))));
        }
        self.turn_to(self.at + 1, context, requests);
    }

    /// Gives a hint, then shows the answer, then carries it out.
    fn help(&mut self, context: &Context, requests: &mut Requests) {
        match self.progress {
            Progress::Asked => self.progress = Progress::Hinted,
            Progress::Hinted => {
                self.progress = Progress::Told;
                self.table.offer_only(Some(&self.answer));
                requests.push(Request::Unfocus);
            }
            Progress::Told => {
                let answer = self.answer.clone();
                self.act(&answer, context, requests);
            }
            Progress::Done { .. } => {}
        }
    }

    /// The player has acted.
    fn act(&mut self, action: &AnyAction, context: &Context, requests: &mut Requests) {
        if *action != self.answer {
            let help = match self.progress {
                Progress::Asked => "a hint",
                _ => "the answer",
            };
            let key = context.keymap.key(Intent::Hint);
            let text = format!("There is a better action. Try again, or press {key} for {help}.");
            return requests.push(Request::Toast(Tone::Plain, text));
        }
        let alone = self.progress != Progress::Told;
        self.progress = Progress::Done { alone };
        requests.push(Request::Unfocus);
        if let (true, Ok(number)) = (alone, u16::try_from(self.at + 1)) {
            let mut settings = context.settings.clone();
            if settings.solved.entry(self.info.id.to_owned()).or_default().insert(number) {
                requests.push(Request::Settings(Box::new(settings)));
            }
        }
    }

    /// Passes on what the table asks for, except actions: those answer the question.
    fn relay(&mut self, context: &Context, asked: Requests, requests: &mut Requests) {
        for request in asked {
            match request {
                Request::Effect(Effect::Session(Command::Act(action))) => self.act(&action, context, requests),
                Request::Effect(_) => {}
                other => requests.push(other),
            }
        }
    }

    /// The question, the hint after it, and in the end the reason.
    fn text<'a>(&self, puzzle: &'a Puzzle) -> &'a str {
        match self.progress {
            Progress::Asked | Progress::Told => &puzzle.question,
            Progress::Hinted => &puzzle.hint,
            Progress::Done { .. } => &puzzle.why,
        }
    }

    fn draw_question(&self, puzzle: &Puzzle, context: &Context, canvas: &mut Canvas<'_>, areas: &Areas) {
        let hint = context.keymap.key(Intent::Hint);
        let key = match self.progress {
            Progress::Hinted => format!("{hint}: show the answer"),
            Progress::Told if self.table.asks_first() => "Enter: do it, then y: yes".to_owned(),
            Progress::Told => "Enter: do it".to_owned(),
            _ => format!("{hint}: hint"),
        };
        // The place may be under the panel, and Enter needs it.
        let answer = self.table.next_choice().filter(|_| self.progress == Progress::Told);
        let speech = Speech {
            title: format!("Puzzle {} of {}", self.at + 1, self.puzzles.len()),
            text: self.text(puzzle),
            key: &key,
            click: answer.unwrap_or(HELP),
            keeps_keys: true,
        };
        coach::draw(&speech, canvas, areas);
    }

    /// The reason, over the lower part of the table: the board above stays in sight.
    fn draw_reason(&self, puzzle: &Puzzle, context: &Context, canvas: &mut Canvas<'_>) {
        let theme = canvas.theme();
        let screen = canvas.area();
        let width = screen.width.min(92);
        let rows = wrapped(self.text(puzzle), usize::from(width.saturating_sub(4)), 0);
        let height =
            u16::try_from(rows.len()).unwrap_or(u16::MAX).saturating_add(4).min(screen.height.saturating_sub(1));
        let area = Rect { x: screen.x + (screen.width - width) / 2, y: screen.bottom() - height, width, height };
        canvas.cover();
        // Whole rows, so that no word is cut beside it.
        canvas.clear(Rect { x: screen.x, width: screen.width, ..area });
        let title = match self.progress {
            Progress::Done { alone: false } => "The answer".to_owned(),
            _ => format!("{}Solved!", theme.glyph("✓ ", "")),
        };
        let inner = canvas.frame(area, &title).inner(Margin::new(1, 0));
        canvas.rows(inner, rows.into_iter().map(Line::raw));
        let y = inner.bottom().saturating_sub(1);
        let label = if self.is_last() { "play a real game" } else { "next puzzle" };
        let x = canvas.button((inner.x, y), &context.keymap.key(Intent::Choose), label, NEXT);
        let leave = Target::Key(Intent::Quit);
        canvas.button((x, y), &context.keymap.key(Intent::Quit), "leave", leave);
    }
}

impl Screen for PuzzleScreen {
    fn name(&self) -> String {
        format!("{}: puzzle", self.info.name)
    }

    fn heading(&self) -> String {
        // The header knows no theme, and this one has to be ASCII where the screen is.
        self.table.heading().replace(" · ", ", ")
    }

    fn game(&self) -> Option<&'static GameInfo> {
        Some(self.info)
    }

    fn rule(&self) -> &'static str {
        self.table.rule()
    }

    fn corner(&self, theme: &Theme) -> Option<(Line<'static>, Option<Target>)> {
        let mark = match self.progress {
            Progress::Done { alone: true } => theme.glyph("✓ ", "+ "),
            _ => "",
        };
        let words = format!("{mark}puzzle {} of {}", self.at + 1, self.puzzles.len());
        Some((Line::styled(words, theme.accent()), None))
    }

    fn way_out(&self) -> Intent {
        Intent::Quit
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        self.table.draw(context, canvas, area);
        if self.table.is_covered() {
            return;
        }
        let Some(puzzle) = self.puzzle() else { return };
        if self.is_done() {
            return self.draw_reason(puzzle, context, canvas);
        }
        let screen = canvas.area();
        if let Some(areas) = self.table.game_now().map(|game| areas(game, screen)) {
            self.draw_question(puzzle, context, canvas, &areas);
        }
    }

    fn spoken(&self, _context: &Context) -> String {
        let puzzle = self.puzzle();
        puzzle.map_or_else(String::new, |puzzle| self.text(puzzle).to_owned())
    }

    fn marks(&self) -> Marks {
        if self.is_done() { Marks::default() } else { self.table.marks() }
    }

    fn choose(&mut self, context: &Context, target: Target, requests: &mut Requests) {
        match target {
            NEXT => self.next(context, requests),
            HELP => self.help(context, requests),
            _ if self.is_done() => {}
            _ => {
                let mut asked = Requests::new();
                self.table.choose(context, target, &mut asked);
                self.relay(context, asked, requests);
            }
        }
    }

    fn intent(&mut self, context: &Context, intent: Intent, requests: &mut Requests) {
        match intent {
            Intent::Quit => requests.push(Request::Leave),
            Intent::Hint => self.help(context, requests),
            Intent::Seal => {
                let text = "A puzzle is no real deal: nothing is sealed here.".to_owned();
                requests.push(Request::Toast(Tone::Plain, text));
            }
            Intent::Choose | Intent::Uses if self.is_done() => self.next(context, requests),
            _ if self.is_done() => {}
            _ => {
                let mut asked = Requests::new();
                self.table.intent(context, intent, &mut asked);
                self.relay(context, asked, requests);
            }
        }
    }

    fn steers(&self, intent: Intent) -> bool {
        if self.is_done() { matches!(intent, Intent::Choose | Intent::Uses) } else { self.table.steers(intent) }
    }

    fn letter(&mut self, context: &Context, letter: char, requests: &mut Requests) -> bool {
        match letter {
            ']' if !self.is_last() => self.turn_to(self.at + 1, context, requests),
            '[' if self.at > 0 => self.turn_to(self.at - 1, context, requests),
            _ if self.is_done() => return false,
            _ => {
                let mut asked = Requests::new();
                let used = self.table.letter(context, letter, &mut asked);
                self.relay(context, asked, requests);
                return used;
            }
        }
        true
    }

    fn field(&mut self) -> Option<&mut Field> {
        None
    }

    fn missed(&mut self, context: &Context, requests: &mut Requests) {
        self.table.missed(context, requests);
    }

    fn back(&mut self, context: &Context, requests: &mut Requests) {
        if self.is_done() {
            // The position again, to look at it or to try another action.
            return self.turn_to(self.at, context, requests);
        }
        let mut asked = Requests::new();
        self.table.back(context, &mut asked);
        self.relay(context, asked, requests);
    }

    fn answer(&mut self, context: &Context, answer: usize, requests: &mut Requests) {
        let mut asked = Requests::new();
        self.table.answer(context, answer, &mut asked);
        self.relay(context, asked, requests);
    }

    fn focused(&mut self, target: Option<Target>) {
        self.table.focused(target);
    }

    fn first_focus(&self, layer: &Layer) -> Option<Target> {
        if self.is_done() { layer.area(NEXT).map(|_| NEXT) } else { self.table.first_focus(layer) }
    }

    fn is_stop(&self, target: Target) -> bool {
        self.table.is_stop(target)
    }

    fn tick(&mut self, context: &Context, passed: Duration, requests: &mut Requests) {
        let mut asked = Requests::new();
        self.table.tick(context, passed, &mut asked);
        self.relay(context, asked, requests);
    }

    fn pace(&self) -> Option<Duration> {
        self.table.pace()
    }

    fn drawn(&mut self, context: &Context, layer: &Layer) {
        self.table.drawn(context, layer);
    }

    fn keys(&self, context: &Context) -> Vec<(String, String)> {
        let keys = &context.keymap;
        let mut all = vec![
            (keys.keys(Intent::Hint), "a hint, then the answer".to_owned()),
            ("] [".to_owned(), "the next puzzle, the one before".to_owned()),
        ];
        all.extend(self.table.keys(context).into_iter().filter(|(key, _)| {
            let own = [Intent::Hint, Intent::Quit];
            !own.iter().any(|intent| *key == keys.keys(*intent))
        }));
        all.push((keys.keys(Intent::Quit), "leave the puzzles".to_owned()));
        all
    }

    fn commands(&self, _context: &Context) -> Vec<(String, Target)> {
        if self.is_done() {
            return vec![("the next puzzle".to_owned(), NEXT)];
        }
        vec![("a hint, then the answer".to_owned(), HELP), ("the next puzzle".to_owned(), NEXT)]
    }
}

/// The puzzles of a game in a few words, for its entry on the home screen: "2 of 6", with a mark when all are solved.
pub fn in_words(info: &GameInfo, settings: &Settings, theme: &Theme) -> String {
    let all = puzzles(info).map_or(0, <[Puzzle]>::len);
    let solved = (1..=all).filter(|number| settings.has_solved(info.id, *number)).count();
    match solved {
        0 => counted(all, "puzzle"),
        _ if solved == all => format!("{}{solved} of {all}", theme.glyph("✓ ", "+ ")),
        _ => format!("{solved} of {all}"),
    }
}
