//! Keys and clicks: what each does on the top screen, or in the window over it.

use ratatui::layout::Position;

use super::{MAX_SEARCH, Overlay, Shell, StackedScreen};
use crate::app::screen::{Effect, Tone};
use crate::app::screens::rules::Rules;
use crate::canvas::Target;
use crate::field::Field;
use crate::focus;
use crate::input::{Key, KeyCode, UserInput};
use crate::keys::Intent;

impl Shell {
    pub(super) fn user_input(&mut self, input: UserInput, effects: &mut Vec<Effect>) {
        match input {
            UserInput::Key(key) => self.key(key, effects),
            UserInput::Paste(text) => self.paste(&text, effects),
            UserInput::Click(at) => self.click(at, effects),
            UserInput::SecondaryClick(_) => self.back(effects),
            UserInput::MouseMoved(at) if self.overlay.is_none() => {
                if let Some(target) = self.layer.at(at) {
                    self.focus_on_top(target);
                }
            }
            UserInput::ScrollUp => self.scroll(Intent::Up, Intent::PageUp, effects),
            UserInput::ScrollDown => self.scroll(Intent::Down, Intent::PageDown, effects),
            UserInput::MouseMoved(_) | UserInput::Redraw => {}
        }
    }

    /// The wheel: three lines where a screen scrolls by lines, else what its page keys do.
    fn scroll(&mut self, line: Intent, page: Intent, effects: &mut Vec<Effect>) {
        if self.stack.last().is_some_and(|place| place.screen.steers(line)) {
            (0..3).for_each(|_| self.intent(line, effects));
        } else {
            self.intent(page, effects);
        }
    }

    pub(super) fn key(&mut self, key: Key, effects: &mut Vec<Effect>) {
        let key = self.context.keymap.typed(key);
        if key.ctrl && key.code == KeyCode::Char('c') {
            return self.interrupt(effects);
        }
        let is_ctrl_z = key.ctrl && key.code == KeyCode::Char('z');
        if self.context.stops && is_ctrl_z && self.context.keymap.intent(key).is_none() {
            return effects.push(Effect::Suspend);
        }
        match &mut self.overlay {
            Some(Overlay::Question(question, _)) => {
                let KeyCode::Char(c) = key.code else {
                    // Enter pressed once too often must not confirm anything.
                    if self.context.keymap.intent(key) == Some(Intent::Back) {
                        self.overlay = None;
                    }
                    return;
                };
                let found = question.answers.iter().position(|(key, ..)| *key == c);
                match found {
                    Some(answer) => self.answer(answer, effects),
                    None if c == 'n' => self.overlay = None,
                    None => {}
                }
                return;
            }
            Some(Overlay::Palette { field, chosen }) => {
                let code = key.code;
                match code {
                    KeyCode::Esc => self.overlay = None,
                    KeyCode::Up | KeyCode::BackTab => *chosen = chosen.saturating_sub(1),
                    KeyCode::Down | KeyCode::Tab => *chosen += 1,
                    KeyCode::Enter => {
                        let chosen = *chosen;
                        let found = self.found();
                        self.overlay = None;
                        if let Some((_, target)) = found.get(chosen) {
                            self.choose(*target, effects);
                        }
                    }
                    _ => {
                        field.key(key);
                        *chosen = 0;
                    }
                }
                return;
            }
            Some(Overlay::Help { .. }) | None => {}
        }
        if self.is_small {
            return;
        }
        if self.overlay.is_none() && self.writes(key, effects) {
            return;
        }
        match (self.context.keymap.intent(key), key.code) {
            (Some(intent), _) => self.intent(intent, effects),
            (None, KeyCode::Char(letter)) if self.overlay.is_none() => {
                self.on_top(effects, |screen, context, requests| {
                    screen.letter(context, letter, requests);
                });
            }
            (None, _) => self.overlay = None,
        }
    }

    /// Passes the key to the text field with the cursor. Returns whether there is one.
    pub(super) fn writes(&mut self, key: Key, effects: &mut Vec<Effect>) -> bool {
        let Some(field) = self.stack.last_mut().and_then(|place| place.screen.field()) else {
            return false;
        };
        match key.code {
            KeyCode::Enter => self.on_top(effects, |screen, context, requests| {
                screen.submit(context, requests);
            }),
            KeyCode::Esc => self.back(effects),
            KeyCode::Tab => self.intent(Intent::Next, effects),
            KeyCode::BackTab => self.intent(Intent::Previous, effects),
            KeyCode::Up => self.intent(Intent::Up, effects),
            KeyCode::Down => self.intent(Intent::Down, effects),
            KeyCode::PageUp => self.intent(Intent::PageUp, effects),
            KeyCode::PageDown => self.intent(Intent::PageDown, effects),
            _ => {
                if field.key(key) {
                    self.on_top(effects, |screen, context, requests| {
                        screen.written(context, requests);
                    });
                }
            }
        }
        true
    }

    pub(super) fn paste(&mut self, text: &str, effects: &mut Vec<Effect>) {
        if let Some(Overlay::Palette { field, .. }) = &mut self.overlay {
            return field.insert(text);
        }
        let field = self.stack.last_mut().and_then(|place| place.screen.field());
        if let Some(field) = field.filter(|_| self.overlay.is_none()) {
            field.insert(text);
            self.on_top(effects, |screen, context, requests| {
                screen.written(context, requests);
            });
        }
    }

    /// Ctrl-C goes back; if nothing is left to close, it quits.
    pub(super) fn interrupt(&mut self, effects: &mut Vec<Effect>) {
        if matches!(self.overlay, Some(Overlay::Question(..))) {
            // A second Ctrl-C at a question quits.
            effects.push(Effect::Quit);
            return;
        }
        self.overlay = None;
        let before = self.stack.len();
        self.on_top(effects, |screen, context, requests| {
            screen.intent(context, Intent::Quit, requests);
        });
        if self.overlay.is_none() && before == self.stack.len() && effects.is_empty() {
            effects.push(Effect::Quit);
        }
    }

    pub(super) fn answer(&mut self, answer: usize, effects: &mut Vec<Effect>) {
        if let Some(Overlay::Question(_, place)) = self.overlay.take() {
            self.on(place, effects, |screen, context, requests| {
                screen.answer(context, answer, requests);
            });
        }
    }

    pub(super) fn back(&mut self, effects: &mut Vec<Effect>) {
        if self.overlay.take().is_none() {
            self.on_top(effects, |screen, context, requests| {
                screen.back(context, requests);
            });
        }
    }

    pub(super) fn click(&mut self, at: Position, effects: &mut Vec<Effect>) {
        match (self.layer.at(at), &self.overlay) {
            (Some(target), Some(Overlay::Question(..))) => match target {
                Target::Row(answer) => self.answer(answer, effects),
                Target::Key(_) => self.overlay = None,
                Target::Spot(_) | Target::Button(_) => {}
            },
            (Some(Target::Row(row)), Some(Overlay::Palette { .. })) => {
                let found = self.found();
                self.overlay = None;
                if let Some((_, target)) = found.get(row) {
                    self.choose(*target, effects);
                }
            }
            (_, Some(_)) => self.overlay = None,
            (Some(target), None) => {
                self.focus_on_top(target);
                self.choose(target, effects);
            }
            (None, None) => self.on_top(effects, |screen, context, requests| screen.missed(context, requests)),
        }
    }

    pub(super) fn choose(&mut self, target: Target, effects: &mut Vec<Effect>) {
        match target {
            Target::Key(intent) => self.intent(intent, effects),
            target => self.on_top(effects, |screen, context, requests| {
                screen.choose(context, target, requests);
            }),
        }
    }

    pub(super) fn intent(&mut self, intent: Intent, effects: &mut Vec<Effect>) {
        let moves = [Intent::Up, Intent::Down, Intent::Left, Intent::Right, Intent::Next, Intent::Previous];
        // A remark has been read once the player does something else than look around.
        if !moves.contains(&intent) {
            self.toasts.retain(|toast| toast.tone == Tone::Bad);
        }
        let steers = |intent| self.stack.last().is_some_and(|place| place.screen.steers(intent));
        let intent = match intent {
            Intent::Uses if !steers(intent) => Intent::Choose,
            intent => intent,
        };
        if let Some(Overlay::Help { back }) = &mut self.overlay {
            match intent {
                Intent::Up => *back = back.saturating_sub(1),
                Intent::Down => *back += 1,
                Intent::PageUp => *back = back.saturating_sub(10),
                Intent::PageDown => *back += 10,
                Intent::Rules => {
                    self.overlay = None;
                    self.open_rules();
                }
                _ => self.overlay = None,
            }
            return;
        }
        let focus = self.stack.last().and_then(|place| place.focus);
        match intent {
            Intent::Help => self.overlay = Some(Overlay::Help { back: 0 }),
            Intent::Palette => {
                self.overlay = Some(Overlay::Palette { field: Field::new(MAX_SEARCH), chosen: 0 });
            }
            Intent::Back => self.back(effects),
            Intent::Rules => self.open_rules(),
            Intent::Up | Intent::Down | Intent::Left | Intent::Right => {
                let steers = self.stack.last().is_some_and(|place| place.screen.steers(intent));
                let from = focus.filter(|_| !steers);
                let to = from.and_then(|from| focus::towards(&self.layer, from, intent));
                match to {
                    // Arrows skip the buttons in the title row: their keys are shown on them.
                    Some(target) if !matches!(target, Target::Key(_)) => self.focus_on_top(target),
                    _ => self.on_top(effects, |screen, context, requests| {
                        screen.intent(context, intent, requests);
                    }),
                }
            }
            Intent::Next | Intent::Previous | Intent::First | Intent::Last => {
                let by = match intent {
                    Intent::Next | Intent::First => 1,
                    _ => -1,
                };
                // Starting from no focus, the next target is the first one.
                let ends = matches!(intent, Intent::First | Intent::Last);
                let focus = focus.filter(|_| !ends);
                let Some(place) = self.stack.last() else {
                    return;
                };
                if place.screen.steers(intent) {
                    return self.on_top(effects, |screen, context, requests| {
                        screen.intent(context, intent, requests);
                    });
                }
                let stop = |target: Target| !matches!(target, Target::Key(_)) && place.screen.is_stop(target);
                if let Some(target) = focus::after(&self.layer, focus, by, stop) {
                    self.focus_on_top(target);
                }
            }
            Intent::Choose if self.stack.last().is_some_and(|place| place.screen.steers(intent)) => {
                self.on_top(effects, |screen, context, requests| {
                    screen.intent(context, intent, requests);
                });
            }
            Intent::Choose => {
                if let Some(target) = focus {
                    self.choose(target, effects);
                }
            }
            intent => self.on_top(effects, |screen, context, requests| {
                screen.intent(context, intent, requests);
            }),
        }
    }

    pub(super) fn open_rules(&mut self) {
        let Some(place) = self.stack.last() else {
            return;
        };
        if let Some(game) = place.screen.game() {
            let rules = Rules::at(game, place.screen.rule());
            self.overlay = None;
            self.stack.push(StackedScreen { screen: Box::new(rules), focus: None });
        }
    }
}
