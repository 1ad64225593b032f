//! Puzzles: a table at one position, a question, and one action that answers it.
//!
//! The table is the real one, and every legal action is on offer. No action changes the position: the right one opens
//! a window that says why, and leads to the next puzzle; after another the player tries again. The key for hints gives a
//! hint, then the answer.

#[cfg(test)]
mod tests;

use fairdeal_games::{AnyAction, GameInfo, TableEvent as _, TableGame as _, counted};
use ratatui::layout::{Margin, Rect};
use ratatui::text::Line;

use super::coach::Speech;
use super::guided::{Guide, Guided};
use super::setup::Setup;
use super::table::TableScreen;
use crate::app::screen::{Chrome, Context, Corner, Cx, FocusPolicy, Handled, Screen as _, ScreenInput, Tone};
use crate::canvas::{Canvas, Layer, Marks, Target, wrapped};
use crate::keys::Intent;
use crate::lesson::staged;
use crate::puzzle::{LoadError, Puzzle, puzzles};
use crate::settings::Settings;
use crate::theme::Theme;
use fairdeal_session::narrate::LogLine;
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

/// A puzzle on its table.
pub type PuzzleScreen = Guided<PuzzleGuide>;

/// A puzzle as the guide at its table.
#[derive(Debug)]
pub struct PuzzleGuide {
    info: &'static GameInfo,
    puzzles: &'static [Puzzle],
    /// The index of the present one.
    at: usize,
    answer: AnyAction,
    progress: Progress,
}

impl PuzzleScreen {
    /// The puzzle with this number, counted from 1; without a number, the first that is not solved.
    pub fn open(info: &'static GameInfo, number: Option<usize>, context: &Context) -> Result<Self, LoadError> {
        let puzzles = puzzles(info)?;
        let unsolved = || (1..=puzzles.len()).find(|number| !context.settings.has_solved(info.id, *number));
        let at = number.or_else(unsolved).unwrap_or(1).saturating_sub(1);
        let (guide, table) = PuzzleGuide::at(info, puzzles, at, context)?;
        Ok(Self::new(guide, table))
    }
}

impl PuzzleGuide {
    fn at(
        info: &'static GameInfo,
        puzzles: &'static [Puzzle],
        at: usize,
        context: &Context,
    ) -> Result<(Self, TableScreen), LoadError> {
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
        let told = events.into_iter().map(|event| LogLine { text: event.text(&names), event: Some(event) });
        let lines: Vec<LogLine> = told.filter(|line| !line.text.is_empty()).collect();
        let newest = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default();
        let now = staged(&position.game, &position.chance, me, &names, Standing::Puzzle);
        let guide = Self { info, puzzles, at, answer, progress: Progress::Asked };
        Ok((guide, TableScreen::at(context, &now, newest)))
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
    fn turn_to(&mut self, cx: &mut Cx<'_>, table: &mut TableScreen, at: usize) {
        match Self::at(self.info, self.puzzles, at, cx.context) {
            Ok(next) => {
                (*self, *table) = next;
                cx.unfocus();
            }
            Err(why) => cx.toast(Tone::Bad, why.to_string()),
        }
    }

    fn next(&mut self, cx: &mut Cx<'_>, table: &mut TableScreen) {
        if self.is_last() {
            return cx.replace(Setup::new(self.info, cx.context));
        }
        self.turn_to(cx, table, self.at + 1);
    }

    /// Gives a hint, then shows the answer, then carries it out.
    fn help(&mut self, cx: &mut Cx<'_>, table: &mut TableScreen) {
        match self.progress {
            Progress::Asked => self.progress = Progress::Hinted,
            Progress::Hinted => {
                self.progress = Progress::Told;
                table.offer_only(Some(&self.answer));
                cx.unfocus();
            }
            Progress::Told => {
                let answer = self.answer.clone();
                self.act(cx, table, &answer);
            }
            Progress::Done { .. } => {}
        }
    }
}

impl Guide for PuzzleGuide {
    fn name(&self) -> String {
        format!("{}: puzzle", self.info.name)
    }

    fn chrome(&self, theme: &Theme, table: Chrome) -> Chrome {
        let mark = match self.progress {
            Progress::Done { alone: true } => theme.glyph("✓ ", "+ "),
            _ => "",
        };
        let words = format!("{mark}puzzle {} of {}", self.at + 1, self.puzzles.len());
        Chrome {
            // The header knows no theme, and this one has to be ASCII where the screen is.
            heading: table.heading.replace(" · ", ", "),
            corner: Corner::Text(Line::styled(words, theme.accent()), None),
            marks: if self.is_done() { Marks::default() } else { table.marks },
            ..table
        }
    }

    /// The question, the hint after it, and in the end the reason.
    fn text(&self) -> &str {
        self.puzzle().map_or("", |puzzle| match self.progress {
            Progress::Asked | Progress::Told => &puzzle.question,
            Progress::Hinted => &puzzle.hint,
            Progress::Done { .. } => &puzzle.why,
        })
    }

    fn speech(&self, context: &Context, table: &TableScreen) -> Option<Speech<'_>> {
        let hint = context.keymap.key(Intent::Hint);
        let key = match self.progress {
            Progress::Asked => format!("{hint}: hint"),
            Progress::Hinted => format!("{hint}: show the answer"),
            Progress::Told if table.asks_first() => "Enter: do it, then y: yes".to_owned(),
            Progress::Told => "Enter: do it".to_owned(),
            Progress::Done { .. } => return None,
        };
        // The place may be under the panel, and Enter needs it.
        let answer = table.next_choice().filter(|_| self.progress == Progress::Told);
        Some(Speech {
            title: self
                .puzzle()
                .map_or_else(String::new, |puzzle| format!("{} ({})", puzzle.name, puzzle.difficulty.name())),
            text: self.text(),
            key,
            click: answer.unwrap_or(HELP),
            keeps_keys: true,
        })
    }

    /// The reason, over the lower part of the table: the board above stays in sight.
    fn draw_end(&self, context: &Context, _table: &TableScreen, canvas: &mut Canvas<'_>) {
        let theme = canvas.theme();
        let screen = canvas.area();
        let width = screen.width.min(92);
        let rows = wrapped(self.text(), usize::from(width.saturating_sub(4)), 0);
        let height =
            u16::try_from(rows.len()).unwrap_or(u16::MAX).saturating_add(4).min(screen.height.saturating_sub(1));
        let area = Rect { x: screen.x + (screen.width - width) / 2, y: screen.bottom() - height, width, height };
        canvas.cover();
        // Whole rows, so that no word is cut beside it.
        canvas.clear(Rect { x: screen.x, width: screen.width, ..area });
        let name = self.puzzle().map_or("", |puzzle| puzzle.name.as_str());
        let title = match self.progress {
            Progress::Done { alone: false } => format!("The answer: {name}"),
            _ => format!("{}Solved! {name}", theme.glyph("✓ ", "")),
        };
        let inner = canvas.frame(area, &title).inner(Margin::new(1, 0));
        canvas.rows(inner, rows.into_iter().map(Line::raw));
        let y = inner.bottom().saturating_sub(1);
        let label = if self.is_last() { "play a real game" } else { "next puzzle" };
        let x = canvas.button((inner.x, y), &context.keymap.key(Intent::Choose), label, NEXT);
        let leave = Target::Key(Intent::Quit);
        canvas.button((x, y), &context.keymap.key(Intent::Quit), "leave", leave);
    }

    fn focus(&self, table: &TableScreen, layer: &Layer) -> FocusPolicy {
        let policy = table.focus(layer);
        if !self.is_done() {
            return policy;
        }
        let first = layer.area(NEXT).map(|_| NEXT);
        FocusPolicy { first, steers: &[Intent::Choose, Intent::Uses], ..policy }
    }

    fn input(&mut self, cx: &mut Cx<'_>, table: &mut TableScreen, input: ScreenInput<'_>) -> Handled {
        match input {
            ScreenInput::Choose(NEXT) => self.next(cx, table),
            ScreenInput::Choose(HELP) | ScreenInput::Intent(Intent::Hint) => self.help(cx, table),
            ScreenInput::Intent(Intent::Seal) => {
                cx.toast(Tone::Plain, "A puzzle is no real deal: nothing is sealed here.");
            }
            ScreenInput::Letter(']') if !self.is_last() => self.turn_to(cx, table, self.at + 1),
            ScreenInput::Letter('[') if self.at > 0 => self.turn_to(cx, table, self.at - 1),
            _ if !self.is_done() => return Handled::No,
            ScreenInput::Intent(Intent::Choose | Intent::Uses) => self.next(cx, table),
            // The position again, to look at it or to try another action.
            ScreenInput::Back => self.turn_to(cx, table, self.at),
            ScreenInput::Choose(_) | ScreenInput::Intent(_) | ScreenInput::Letter(_) => {}
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn act(&mut self, cx: &mut Cx<'_>, _table: &mut TableScreen, action: &AnyAction) {
        if *action != self.answer {
            let help = match self.progress {
                Progress::Asked => "a hint",
                _ => "the answer",
            };
            let key = cx.context.keymap.key(Intent::Hint);
            let text = format!("There is a better action. Try again, or press {key} for {help}.");
            return cx.toast(Tone::Plain, text);
        }
        let alone = self.progress != Progress::Told;
        self.progress = Progress::Done { alone };
        cx.unfocus();
        if let (true, Ok(number)) = (alone, u16::try_from(self.at + 1)) {
            let mut settings = cx.context.settings.clone();
            if settings.solved.entry(self.info.id.to_owned()).or_default().insert(number) {
                cx.save(settings);
            }
        }
    }

    fn keys(&self, context: &Context, table: &TableScreen) -> Vec<(String, String)> {
        let keys = &context.keymap;
        let mut all = vec![
            (keys.keys(Intent::Hint), "a hint, then the answer".to_owned()),
            ("] [".to_owned(), "the next puzzle, the one before".to_owned()),
        ];
        all.extend(table.keys(context).into_iter().filter(|(key, _)| {
            let own = [Intent::Hint, Intent::Quit];
            !own.iter().any(|intent| *key == keys.keys(*intent))
        }));
        all.push((format!("{} Esc", keys.keys(Intent::Quit)), "leave the puzzles".to_owned()));
        all
    }

    fn commands(&self) -> Vec<(String, Target)> {
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
