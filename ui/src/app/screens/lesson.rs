//! A guided hand: a table with fixed cards, and a coach who says one thing at a time.
//!
//! The table is the real one, drawn and played as ever; only the action that the lesson expects is on offer. The lesson
//! ends with a picture of the seal.

use std::time::Duration;

use fairdeal_games::{AnyGame, GameInfo, listed};
use fairdeal_protocol::game::Game as _;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::coach::{self, Speech};
use super::setup::Setup;
use super::table::TableScreen;
use crate::app::event::UiEvent;
use crate::app::screen::{Context, Effect, Request, Requests, Screen, Tone};
use crate::app::shell::window;
use crate::canvas::{Canvas, Layer, Marks, Target, cut};
use crate::field::Field;
use crate::keys::Intent;
use crate::lesson::Lesson;
use crate::tables::layout::{Areas, areas};
use crate::theme::Theme;
use fairdeal_session::events::{Command, SessionEvent};

/// The title of the picture at the end.
const SEAL: &str = "The seal of a real game";
/// Reads on, or plays a real game at the end.
const ON: Target = Target::Button(200);

/// A guided hand.
#[derive(Debug)]
pub struct LessonScreen {
    info: &'static GameInfo,
    lesson: Lesson,
    table: TableScreen,
}

/// The screen of a game's guided hand, if it has one.
pub fn guided_hand(info: &'static GameInfo, context: &Context) -> Option<Box<dyn Screen>> {
    let (lesson, told) = Lesson::of(info, context.name())?.ok()?;
    let mut screen = LessonScreen { info, lesson, table: TableScreen::new(info.name, true) };
    screen.hear(context, told, &mut Requests::new());
    Some(Box::new(screen))
}

/// Whether a game has a guided hand.
pub fn has_guided_hand(info: &GameInfo) -> bool {
    Lesson::exists(info)
}

impl LessonScreen {
    /// Shows what has happened, and offers the next action alone.
    fn hear(&mut self, context: &Context, told: Vec<SessionEvent>, requests: &mut Requests) {
        for event in told {
            self.table.on_event(context, &UiEvent::Session(event), requests);
        }
        // The coach speaks about the table as it is after this.
        self.table.skip_ahead(context, requests);
        self.table.offer_only(self.lesson.expects().as_ref());
        if self.lesson.expects().is_some() {
            requests.push(Request::Unfocus);
        }
    }

    /// Whether Enter reads on.
    fn reads(&self) -> bool {
        self.lesson.expects().is_none() && !self.table.is_covered()
    }

    fn read_on(&mut self, context: &Context, requests: &mut Requests) {
        if self.lesson.says().is_none() {
            return requests.push(Request::Replace(Box::new(Setup::new(self.info, context))));
        }
        let told = self.lesson.read_on();
        self.go_on(context, told, requests);
    }

    fn go_on(
        &mut self,
        context: &Context,
        told: Result<Vec<SessionEvent>, impl std::fmt::Display>,
        requests: &mut Requests,
    ) {
        match told {
            Ok(told) => self.hear(context, told, requests),
            Err(why) => requests.push(Request::Toast(Tone::Bad, why.to_string())),
        }
    }

    /// Passes on what the table asks for, except actions: those go to the lesson.
    fn relay(&mut self, context: &Context, asked: Requests, requests: &mut Requests) {
        for request in asked {
            match request {
                Request::Effect(Effect::Session(Command::Act(action))) => {
                    let told = self.lesson.act(&action);
                    self.go_on(context, told, requests);
                }
                Request::Effect(_) => {}
                other => requests.push(other),
            }
        }
        // A table that has gone on offers everything again.
        self.table.offer_only(self.lesson.expects().as_ref());
    }

    fn draw_coach(&self, canvas: &mut Canvas<'_>, areas: &Areas) {
        let Some(text) = self.lesson.says() else {
            return;
        };
        let (step, all) = self.lesson.progress();
        let key = match self.lesson.expects() {
            Some(_) if self.table.asks_first() => "Enter: do it, then y: yes",
            Some(_) => "Enter: do it",
            None => "Enter: go on",
        };
        let speech = Speech {
            title: format!("Guided hand, {step} of {all}"),
            text,
            key,
            // The place may be under the panel. Then the panel alone stands for it, also for Enter.
            click: self.table.next_choice().unwrap_or(ON),
            keeps_keys: false,
        };
        coach::draw(&speech, canvas, areas);
    }

    /// The seal in one picture.
    fn draw_seal(&self, canvas: &mut Canvas<'_>) {
        let theme = canvas.theme();
        let names = self.lesson.names();
        let rows = u16::try_from(names.len()).unwrap_or(6) + 13;
        let inner = window(canvas, SEAL, 66, rows);
        let back = |text: &'static str, ascii| Span::styled(theme.glyph(text, ascii), theme.back());
        if !self.table.game_now().is_some_and(AnyGame::seals_cards) {
            let lines = [
                Line::default(),
                Line::raw(" Here nothing is hidden: only chance could be cheated with."),
                Line::raw(format!(" {} each add a secret number to every draw,", listed(names))),
                Line::raw(" and show it only when all numbers are fixed:"),
                Line::styled(" nobody can choose what comes.", theme.accent()),
            ];
            canvas.rows(inner, lines);
            return self.draw_ways_on(canvas, inner);
        }
        let mut lines = vec![Line::default()];
        for (number, name) in names.iter().enumerate() {
            let does = if number == 0 { "shuffles, and locks every card" } else { "shuffles again, and adds a lock" };
            lines.push(Line::from(vec![
                Span::raw("   "),
                back("▒▒▒", "###"),
                Span::styled(format!("  {:<12}", cut(name, 12, theme)), theme.title()),
                Span::raw(does),
            ]));
        }
        let (nobody, keys) = match names {
            [_] => ("The order is fixed before you see a card.".to_owned(), "You cannot change it later.".to_owned()),
            _ => {
                let keys = format!("Its locks open with the keys of {}.", listed(names));
                ("Nobody knows this card.".to_owned(), keys)
            }
        };
        lines.extend([
            Line::from(Span::raw(format!("    {}", theme.glyph("↓", "v")))),
            Line::from(vec![back("  ╭─────╮", "  +-----+")]),
            Line::from(vec![back("  │▒▒▒▒▒│  ", "  |#####|  "), Span::styled(nobody, theme.accent())]),
            Line::from(vec![back("  │▒▒▒▒▒│  ", "  |#####|  "), Span::raw(keys)]),
            Line::from(vec![back("  ╰─────╯", "  +-----+")]),
            Line::default(),
        ]);
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

impl Screen for LessonScreen {
    fn name(&self) -> String {
        format!("Learn {}", self.info.name)
    }

    fn game(&self) -> Option<&'static GameInfo> {
        Some(self.info)
    }

    fn rule(&self) -> &'static str {
        self.table.rule()
    }

    fn corner(&self, theme: &Theme) -> Option<(Line<'static>, Option<Target>)> {
        let (step, all) = self.lesson.progress();
        let place = Span::styled(format!("{} of {all}", step.min(all)), theme.accent());
        // The coach may be drawn over the keys: without a keyboard this is the only way out.
        let line = Line::from(vec![place, Span::raw("  [leave]")]);
        Some((line, Some(Target::Key(Intent::Quit))))
    }

    fn way_out(&self) -> Intent {
        Intent::Quit
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        self.table.draw(context, canvas, area);
        if self.table.is_covered() {
            return;
        }
        let screen = canvas.area();
        if let Some(areas) = self.table.game_now().map(|game| areas(game, screen)) {
            self.draw_coach(canvas, &areas);
        }
        if self.lesson.says().is_none() {
            canvas.cover();
            self.draw_seal(canvas);
        }
    }

    fn spoken(&self, _context: &Context) -> String {
        self.lesson.says().unwrap_or(SEAL).to_owned()
    }

    fn marks(&self) -> Marks {
        self.table.marks()
    }

    fn choose(&mut self, context: &Context, target: Target, requests: &mut Requests) {
        if self.reads() && target == ON {
            return self.read_on(context, requests);
        }
        if target == ON {
            return requests.push(Request::Unfocus);
        }
        let mut asked = Requests::new();
        self.table.choose(context, target, &mut asked);
        self.relay(context, asked, requests);
    }

    fn intent(&mut self, context: &Context, intent: Intent, requests: &mut Requests) {
        match intent {
            Intent::Quit => requests.push(Request::Leave),
            Intent::Hint => {
                let text = "The coach says what to do; Enter does it.".to_owned();
                requests.push(Request::Toast(Tone::Plain, text));
            }
            Intent::Choose | Intent::Uses if self.reads() => self.read_on(context, requests),
            _ => {
                let mut asked = Requests::new();
                self.table.intent(context, intent, &mut asked);
                self.relay(context, asked, requests);
            }
        }
    }

    fn steers(&self, intent: Intent) -> bool {
        matches!(intent, Intent::Choose | Intent::Uses) && self.reads() || self.table.steers(intent)
    }

    fn letter(&mut self, context: &Context, letter: char, requests: &mut Requests) -> bool {
        let mut asked = Requests::new();
        let used = self.table.letter(context, letter, &mut asked);
        self.relay(context, asked, requests);
        used
    }

    fn field(&mut self) -> Option<&mut Field> {
        None
    }

    fn back(&mut self, context: &Context, requests: &mut Requests) {
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
        self.table.first_focus(layer)
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

    fn keys(&self, _context: &Context) -> Vec<(String, String)> {
        vec![
            ("Enter".to_owned(), "do what the coach says, or read on".to_owned()),
            ("q".to_owned(), "leave the lesson".to_owned()),
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

    /// Every guided hand is played through by keys, at the smallest screen and at a common one.
    #[test]
    fn every_guided_hand_is_played_through_by_keys() {
        for size in [(60, 20), (80, 24), (120, 40)] {
            for info in GAMES.iter().copied().filter(|info| has_guided_hand(info)) {
                let context = context(false);
                let screen = guided_hand(info, &context).expect("the script is valid");
                let mut stage = TestApp::with(Shell::new(context, screen));
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
                let mut stage = TestApp::with(Shell::new(context, screen));
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
        let mut stage = TestApp::with(Shell::new(context, screen));
        let said = stage.shell.spoken();
        assert!(!said.is_empty() && stage.draw().contains(&said[..20]), "{said}");
        assert!(stage.draw().contains("[leave]"));
        stage.click(Target::Key(Intent::Quit));
        assert!(stage.shell.trail().is_empty());
    }
}
