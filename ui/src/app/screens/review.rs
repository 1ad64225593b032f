//! "What the sharp bot would have done": the three decisions that cost the player most, each with its step in the replay.

use fairdeal_games::counted;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::{Margin, Rect};
use ratatui::text::{Line, Span};

use super::list::ListState;
use super::replay::ReplayScreen;
use super::table::short_names;
use super::{arrows, column, keys_below, row};
use crate::app::event::UiEvent;
use crate::app::screen::{Context, Cx, Effect, FocusPolicy, Handled, Screen, ScreenInput};
use crate::canvas::{Canvas, Layer, Target, wrapped};
use crate::keys::Intent;
use crate::review::{Mistake, Reviewed};
use crate::tables::{ViewContext, words};
use fairdeal_session::replay::Eyes;

/// Opens the replay at the chosen decision.
const OPEN: Target = Target::Button(0);
const TITLE: &str = "What the sharp bot would have done";
/// Columns before the words of an action.
const INDENT: usize = 13;

/// The worst decisions of a past game.
#[derive(Debug)]
pub struct Review {
    me: Seat,
    /// The progress as a sentence, until the result is there.
    progress: String,
    reviewed: Option<Box<Reviewed>>,
    failed: Option<String>,
    list: ListState,
}

impl Review {
    /// A review of the decisions at this seat, which begins when the screen opens.
    pub fn of(me: Seat) -> Self {
        Self { me, progress: "Reading the game.".to_owned(), reviewed: None, failed: None, list: ListState::default() }
    }

    fn mistakes(&self) -> &[Mistake] {
        self.reviewed.as_ref().map_or(&[], |reviewed| &reviewed.mistakes)
    }

    fn headline(&self) -> String {
        let Some(reviewed) = &self.reviewed else {
            return self.failed.clone().unwrap_or_else(|| {
                format!("{} The sharp bot looks at each of your decisions and sees only what you saw.", self.progress)
            });
        };
        match (reviewed.decisions, reviewed.mistakes.len()) {
            (0, _) => "There is no decision of yours that the sharp bot can judge.".to_owned(),
            (decisions, 0) => format!(
                "Well played: in {} the sharp bot found nothing clearly better. It would have played as you did.",
                counted(decisions, "decision")
            ),
            (decisions, found) => format!(
                "Of your {}, {} cost you most. The sharp bot saw only what you saw. It played both choices out many times, \
                 so the figures are estimates.",
                counted(decisions, "decision"),
                match found {
                    1 => "this one",
                    2 => "these two",
                    _ => "these three",
                },
            ),
        }
    }

    /// The player's action and the bot's, in words.
    fn told(&self, mistake: &Mistake, canvas: &Canvas<'_>) -> [String; 2] {
        let Some(reviewed) = &self.reviewed else {
            return Default::default();
        };
        let (replay, before) = (&reviewed.replay, mistake.step.saturating_sub(1));
        let step = replay.step(before);
        let view = ViewContext {
            me: Some(self.me),
            names: &short_names(replay.names(), canvas.theme()),
            known: &replay.known(before, Eyes::Seat(self.me)),
            seats: &[],
            picked: &[],
            acts: false,
            is_closed: false,
            advises: false,
            theme: canvas.theme(),
        };
        let made = replay.step(mistake.step).acts.first().map(|act| &act.action);
        let in_words = |action| words(step.game, action, &view);
        let better = mistake.better.action.as_ref().map(in_words);
        [made.map(in_words).unwrap_or_default(), better.unwrap_or_else(|| "wait".to_owned())]
    }

    fn open(&self, cx: &mut Cx<'_>) {
        if let (Some(reviewed), Some(mistake)) = (&self.reviewed, self.mistakes().get(self.list.chosen())) {
            let before = mistake.step.saturating_sub(1);
            let replay = ReplayScreen::at(cx.context, &reviewed.replay, before, Eyes::Seat(self.me));
            cx.push(replay);
        }
    }

    /// The progress of the review, or its result.
    fn on_event(&mut self, cx: &mut Cx<'_>, event: &UiEvent) {
        match event {
            UiEvent::Checking(progress) => {
                self.progress = format!("Checking the game: {} of {} messages.", progress.done, progress.total);
            }
            UiEvent::Reviewing(done, total) => self.progress = format!("{done} of {total} decisions."),
            UiEvent::Reviewed(reviewed) => {
                self.reviewed = Some(reviewed.clone());
                cx.unfocus();
            }
            UiEvent::Failed(why) if self.reviewed.is_none() => self.failed = Some(why.clone()),
            _ => {}
        }
    }
}

impl Screen for Review {
    fn name(&self) -> String {
        "review".to_owned()
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let choice = (!self.mistakes().is_empty()).then(|| arrows(theme, "choose"));
        keys_below(canvas, area, context, choice.into_iter().collect());
        let page = column(area.inner(Margin::new(2, 1)), 100);
        let width = usize::from(page.width).saturating_sub(4);
        let text = wrapped(&self.headline(), width, 0);
        let tall = u16::try_from(text.len()).unwrap_or(u16::MAX).saturating_add(2);
        let top = Rect { height: tall.min(page.height), ..page };
        let inner = canvas.panel(top, TITLE);
        let style = if self.failed.is_some() { theme.bad() } else { theme.ink() };
        canvas.rows(inner, text.into_iter().map(|row| Line::styled(row, style)));
        let mut y = top.bottom().saturating_add(1);
        let last = page.bottom().saturating_sub(1);
        for (number, mistake) in self.mistakes().iter().enumerate() {
            let Some(reviewed) = &self.reviewed else { break };
            let deal = u64::from(reviewed.replay.step(mistake.step).deal) + 1;
            let words = format!("Deal {deal}, step {}", mistake.step);
            let cost = format!("cost about {} % of the win", mistake.better.percent);
            let mut lines = Vec::new();
            for (who, told) in ["you", "sharp"].into_iter().zip(self.told(mistake, canvas)) {
                let told = wrapped(&told, width.saturating_sub(INDENT), 0);
                for (place, told) in told.into_iter().enumerate() {
                    let who = if place == 0 { who } else { "" };
                    let who = Span::styled(format!("     {who:<8}"), theme.faint());
                    lines.push(Line::from(vec![who, Span::raw(told)]));
                }
            }
            let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(1);
            if y.saturating_add(rows) > last {
                break;
            }
            let at = Rect { y, height: 1, ..page };
            row(canvas, at, Target::Row(number), (&words, theme.title()), &cost);
            let below = Rect { y: y + 1, height: rows - 1, ..page };
            canvas.rows(below, lines);
            y = y.saturating_add(rows).saturating_add(1);
        }
        if !self.mistakes().is_empty() && last > top.bottom() {
            canvas.button((page.x + 2, last), "Enter", "see it on the table", OPEN);
        }
    }

    fn focus(&self, layer: &Layer) -> FocusPolicy {
        let policy = self.list.focus(layer);
        FocusPolicy { first: policy.first.filter(|_| !self.mistakes().is_empty()), ..policy }
    }

    fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled {
        match input {
            ScreenInput::Choose(target) => {
                if let Target::Row(number) = target {
                    self.list = ListState::at(number);
                }
                self.open(cx);
            }
            ScreenInput::Event(event) => self.on_event(cx, event),
            ScreenInput::Back | ScreenInput::Intent(Intent::Quit) => {
                cx.effect(Effect::StopReading);
                cx.leave();
            }
            _ => return self.list.input(cx, input, self.mistakes().len()),
        }
        Handled::Yes
    }

    fn keys(&self, context: &Context) -> Vec<(String, String)> {
        let keys = &context.keymap;
        vec![(keys.keys(Intent::Choose), "see the decision on the table".to_owned())]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fairdeal_games::AnyAction;
    use fairdeal_games::loot::LootAction;
    use fairdeal_games::review::Better;

    use super::*;
    use crate::app::event::Input;
    use crate::app::shell::Shell;
    use crate::app::testing::{TestApp, context, transcript};
    use crate::input::KeyCode;
    use fairdeal_session::replay::Replay;

    fn stage(ascii: bool) -> TestApp {
        TestApp::with(Shell::new(context(ascii), Box::new(Review::of(Seat::FIRST))))
    }

    /// A stored game, of which so many decisions are called mistakes.
    fn reviewed(mistakes: usize) -> Reviewed {
        let replay = Arc::new(Replay::open(transcript("tests/it/transcripts/loot.fairdeal")).unwrap());
        let decisions = replay.decisions(Seat::FIRST);
        let mistake = |(step, percent): (&usize, u8)| Mistake {
            step: *step,
            better: Better { action: (percent != 8).then_some(AnyAction::Loot(LootAction::Fire)), percent },
        };
        Reviewed {
            decisions: decisions.len(),
            mistakes: decisions.iter().zip([32, 12, 8]).take(mistakes).map(mistake).collect(),
            replay,
        }
    }

    fn told(stage: &mut TestApp, mistakes: usize) {
        stage.input(Input::UiEvent(UiEvent::Reviewed(Box::new(reviewed(mistakes)))));
    }

    #[test]
    fn mistakes_are_told_at_every_size() {
        let mut stage = stage(false);
        assert!(stage.draw().contains("Reading the game"));
        stage.input(Input::UiEvent(UiEvent::Reviewing(3, 9)));
        assert!(stage.draw().contains("3 of 9 decisions"));
        told(&mut stage, 3);
        insta::assert_snapshot!("review-80x24", stage.draw());
        for size in [(60, 20), (140, 45)] {
            stage.size = size;
            stage.draw();
            assert!(stage.draw().contains("32 % of the win"), "{}", stage.draw());
        }
        for size in [(1, 1), (20, 5)] {
            stage.size = size;
            stage.draw();
        }
        let mut plain = self::stage(true);
        told(&mut plain, 3);
        let text = plain.draw();
        assert!(text.is_ascii(), "{text}");
        insta::assert_snapshot!("review-ascii", text);
    }

    #[test]
    fn good_play_is_praised() {
        let mut stage = stage(false);
        told(&mut stage, 0);
        assert!(stage.draw().contains("It would have played as you did."), "{}", stage.draw());
        stage.key(KeyCode::Enter);
        assert_eq!(stage.shell.trail().last().unwrap(), "review");
    }

    #[test]
    fn chosen_decision_is_seen_on_the_table() {
        let mut stage = stage(false);
        told(&mut stage, 3);
        stage.key(KeyCode::Down);
        stage.key(KeyCode::Enter);
        assert_eq!(stage.shell.trail().last().unwrap(), "replay");
        let at = |step: usize| format!("Step {step} of");
        stage.size = (120, 40);
        let steps: Vec<usize> = reviewed(3).mistakes.iter().map(|mistake| mistake.step).collect();
        assert!(stage.draw().contains(&at(steps[1])), "{}", stage.draw());
        stage.key(KeyCode::Esc);
        stage.click(Target::Row(2));
        assert!(stage.draw().contains(&at(steps[2])), "{}", stage.draw());
        stage.key(KeyCode::Esc);
        stage.click(OPEN);
        assert!(stage.draw().contains(&at(steps[2])), "{}", stage.draw());
    }

    #[test]
    fn leaving_stops_the_review() {
        let mut stage = stage(false);
        stage.key(KeyCode::Esc);
        assert!(stage.effects.iter().any(|effect| matches!(effect, Effect::StopReading)));
    }
}
