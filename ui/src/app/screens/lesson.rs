//! A guided hand: a table with fixed cards, and a coach who says one thing at a time.
//!
//! The table is the real one, drawn and played as ever; only the action that the lesson expects is on offer. The lesson
//! ends with a picture of the seal.

use fairdeal_games::{AnyAction, AnyGame, GameInfo, listed};
use fairdeal_protocol::game::Game as _;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::coach::Speech;
use super::guided::{Guide, Guided};
use super::locks::{Below, Lock, Shown, of_chance, picture};
use super::setup::Setup;
use super::table::TableScreen;
use crate::app::event::UiEvent;
use crate::app::screen::{Chrome, Context, Corner, Cx, FocusPolicy, Handled, Screen as _, ScreenInput, Tone};
use crate::app::shell::window;
use crate::canvas::{Canvas, Layer, Target};
use crate::keys::Intent;
use crate::lesson::Lesson;
use crate::theme::Theme;
use fairdeal_session::events::SessionEvent;

/// The title of the picture at the end.
const SEAL: &str = "The seal of a real game";
/// Reads on, or plays a real game at the end.
const ON: Target = Target::Button(200);

/// A lesson as the guide at its table.
#[derive(Debug)]
pub struct LessonGuide {
    info: &'static GameInfo,
    lesson: Lesson,
}

/// The screen of a game's guided hand, if it has one.
pub fn guided_hand(info: &'static GameInfo, context: &Context) -> Option<Guided<LessonGuide>> {
    let (lesson, told) = Lesson::of(info, context.name())?.ok()?;
    let (mut guide, mut table) = (LessonGuide { info, lesson }, TableScreen::new(info.name, true));
    guide.show(&mut Cx::new(context), &mut table, told);
    Some(Guided::new(guide, table))
}

/// Whether a game has a guided hand.
pub fn has_guided_hand(info: &GameInfo) -> bool {
    Lesson::exists(info)
}

impl LessonGuide {
    /// Shows what has happened, and offers the next action alone.
    fn show(&mut self, cx: &mut Cx<'_>, table: &mut TableScreen, told: Vec<SessionEvent>) {
        for event in told {
            table.input(cx, ScreenInput::Event(&UiEvent::Session(event)));
        }
        // The coach speaks about the table as it is after this.
        table.skip_ahead(cx);
        if self.lesson.says().is_none() {
            table.end_with("The guided hand is over.".to_owned());
        }
        self.offer(table);
        if self.lesson.expects().is_some() {
            cx.unfocus();
        }
    }

    /// Whether Enter reads on.
    fn reads(&self, table: &TableScreen) -> bool {
        self.lesson.expects().is_none() && !table.is_covered()
    }

    fn read_on(&mut self, cx: &mut Cx<'_>, table: &mut TableScreen) {
        if self.lesson.says().is_none() {
            return cx.replace(Setup::new(self.info, cx.context));
        }
        let told = self.lesson.read_on();
        self.go_on(cx, table, told);
    }

    fn go_on(
        &mut self,
        cx: &mut Cx<'_>,
        table: &mut TableScreen,
        told: Result<Vec<SessionEvent>, impl std::fmt::Display>,
    ) {
        match told {
            Ok(told) => self.show(cx, table, told),
            Err(why) => cx.toast(Tone::Bad, why.to_string()),
        }
    }

    /// The seal in one picture.
    fn draw_seal(&self, table: &TableScreen, canvas: &mut Canvas<'_>) {
        let theme = canvas.theme();
        let names = self.lesson.names();
        let rows = u16::try_from(names.len()).unwrap_or(6) + 13;
        let inner = window(canvas, SEAL, 66, rows);
        if !table.game_now().is_some_and(AnyGame::seals_cards) {
            let lines = of_chance(names, theme);
            canvas.rows(inner, std::iter::once(Line::default()).chain(lines));
            return self.draw_ways_on(canvas, inner);
        }
        let locks: Vec<(&str, Lock)> = names.iter().map(|name| (name.as_str(), Lock::Told)).collect();
        let keys = format!("Its locks open with the keys of {}.", listed(names));
        // Beside the card, in the frame.
        let has_room = keys.width() + 13 <= usize::from(inner.width);
        let keys = if has_room { keys } else { "Its locks open with the keys of all.".to_owned() };
        let card = match names {
            [_] => Shown::alone(),
            _ => Shown { is_open: false, words: "Nobody knows this card.".to_owned(), below: Below::Words(keys) },
        };
        let mut lines = vec![Line::default()];
        lines.extend(picture(&locks, &card, theme));
        lines.push(Line::default());
        if names.len() > 1 {
            lines.push(Line::raw(" After a real game every shuffle is computed again. If any one"));
            lines.push(Line::raw(" of you was honest, nobody can have stacked the deck."));
        }
        canvas.rows(inner, lines);
        self.draw_ways_on(canvas, inner);
    }

    fn draw_ways_on(&self, canvas: &mut Canvas<'_>, inner: Rect) {
        let y = inner.bottom().saturating_sub(1);
        let x = canvas.button((inner.x + 1, y), "Enter", "play a real game", ON);
        canvas.button((x, y), "q", "leave", Target::Key(Intent::Quit));
    }
}

impl Guide for LessonGuide {
    fn name(&self) -> String {
        format!("Learn {}", self.info.name)
    }

    fn chrome(&self, theme: &Theme, table: Chrome) -> Chrome {
        let (step, all) = self.lesson.progress();
        let place = Span::styled(format!("{} of {all}", step.min(all)), theme.accent());
        // The panel may be drawn over the keys: without a keyboard this is the only way out.
        let line = Line::from(vec![place, Span::raw("  [leave]")]);
        Chrome { heading: String::new(), corner: Corner::Text(line, Some(Target::Key(Intent::Quit))), ..table }
    }

    fn text(&self) -> &str {
        self.lesson.says().unwrap_or(SEAL)
    }

    fn speech(&self, _context: &Context, table: &TableScreen) -> Option<Speech<'_>> {
        let text = self.lesson.says()?;
        let (step, all) = self.lesson.progress();
        let key = match self.lesson.expects() {
            Some(_) if table.asks_first() => "Enter: do it, then y: yes",
            Some(_) => "Enter: do it",
            None => "Enter: go on",
        };
        Some(Speech {
            title: format!("Guided hand, {step} of {all}"),
            text,
            key: key.to_owned(),
            // The place may be under the panel. Then the panel alone stands for it, also for Enter.
            click: table.next_choice().unwrap_or(ON),
            keeps_keys: false,
        })
    }

    fn draw_end(&self, _context: &Context, table: &TableScreen, canvas: &mut Canvas<'_>) {
        canvas.cover();
        self.draw_seal(table, canvas);
    }

    fn focus(&self, table: &TableScreen, layer: &Layer) -> FocusPolicy {
        let policy = table.focus(layer);
        let steers = if self.reads(table) { &[Intent::Choose, Intent::Uses] } else { policy.steers };
        FocusPolicy { steers, ..policy }
    }

    fn input(&mut self, cx: &mut Cx<'_>, table: &mut TableScreen, input: ScreenInput<'_>) -> Handled {
        match input {
            ScreenInput::Choose(ON) | ScreenInput::Intent(Intent::Choose | Intent::Uses) if self.reads(table) => {
                self.read_on(cx, table);
            }
            ScreenInput::Choose(ON) => cx.unfocus(),
            ScreenInput::Intent(Intent::Hint) => {
                cx.toast(Tone::Plain, "The coach says what to do; Enter does it.");
            }
            // A sheet stays open until it is closed by a key or its button.
            ScreenInput::Missed => {}
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn act(&mut self, cx: &mut Cx<'_>, table: &mut TableScreen, action: &AnyAction) {
        let told = self.lesson.act(action);
        self.go_on(cx, table, told);
    }

    fn offer(&self, table: &mut TableScreen) {
        table.offer_only(self.lesson.expects().as_ref());
    }

    fn keys(&self, _context: &Context, _table: &TableScreen) -> Vec<(String, String)> {
        vec![
            ("Enter".to_owned(), "do what the coach says, or read on".to_owned()),
            ("q Esc".to_owned(), "leave the lesson".to_owned()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use fairdeal_games::GAMES;

    use super::*;
    use crate::app::shell::Shell;
    use crate::app::testing::{TestApp, context};
    use crate::input::KeyCode;

    /// Esc closes what is open, then it leaves.
    #[test]
    fn esc_leaves() {
        let context = context(false);
        let screen = guided_hand(&fairdeal_games::loot::INFO, &context).expect("the script is valid");
        let mut stage = TestApp::at_home(false);
        stage.shell.push(Box::new(screen));
        stage.draw();
        stage.keys("l");
        stage.draw();
        stage.key(KeyCode::Esc);
        assert_eq!(stage.shell.trail(), ["home", "Learn Loot"]);
        stage.key(KeyCode::Esc);
        assert_eq!(stage.shell.trail(), ["home"]);
    }

    /// Every guided hand is played through by keys, at the smallest screen and at a common one.
    #[test]
    fn every_guided_hand_is_played_through_by_keys() {
        for size in [(60, 20), (80, 24), (120, 40)] {
            for info in GAMES.iter().copied().filter(|info| has_guided_hand(info)) {
                let context = context(false);
                let screen = guided_hand(info, &context).expect("the script is valid");
                let mut stage = TestApp::with(Shell::new(context, Box::new(screen)));
                stage.size = size;
                let mut seen = 0;
                for _ in 0..200 {
                    stage.rest();
                    let shown = stage.draw();
                    if shown.contains(SEAL) {
                        break;
                    }
                    seen += usize::from(shown.contains("Enter: "));
                    if shown.contains("[y yes]") {
                        stage.keys("y");
                    } else {
                        stage.key(KeyCode::Enter);
                    }
                }
                let shown = stage.draw();
                assert!(shown.contains(SEAL), "{}: {shown}", info.id);
                assert!(seen > 5, "{}: the coach said {seen} things", info.id);
                stage.key(KeyCode::Enter);
                assert_eq!(stage.shell.trail().len(), 1);
            }
        }
    }

    /// On small screens the coach lies over the keys: it can be tapped there, and nothing under it.
    #[test]
    fn every_guided_hand_is_played_through_by_touch() {
        for size in [(60, 20), (80, 24)] {
            for info in GAMES.iter().copied().filter(|info| has_guided_hand(info)) {
                let context = context(false);
                let screen = guided_hand(info, &context).expect("the script is valid");
                let mut stage = TestApp::with(Shell::new(context, Box::new(screen)));
                stage.size = size;
                for _ in 0..200 {
                    stage.rest();
                    let shown = stage.draw();
                    if shown.contains(SEAL) {
                        break;
                    }
                    if shown.contains("[y yes]") {
                        stage.click_on("[y yes]");
                        continue;
                    }
                    let below: BTreeSet<_> =
                        (0..size.0).map(|x| stage.shell.layer().at((x, size.1 - 1).into())).collect();
                    assert!(below.len() == 1 && !below.contains(&None), "{}: {below:?}\n{shown}", info.id);
                    stage.click_on("Enter: ");
                }
                let shown = stage.draw();
                assert!(shown.contains(SEAL), "{}: {shown}", info.id);
            }
        }
    }

    #[test]
    fn corner_leaves_the_lesson() {
        let context = context(false);
        let screen = guided_hand(&fairdeal_games::loot::INFO, &context).expect("the script is valid");
        let mut stage = TestApp::with(Shell::new(context, Box::new(screen)));
        let said = stage.shell.spoken();
        assert!(!said.is_empty() && stage.draw().contains(&said[..20]), "{said}");
        assert!(stage.draw().contains("[leave]"));
        stage.click(Target::Key(Intent::Quit));
        assert!(stage.shell.trail().is_empty());
    }
}
