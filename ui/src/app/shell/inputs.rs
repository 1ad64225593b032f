//! Keys and clicks: what each does on the top screen, or in the window over it.

use ratatui::layout::Position;

use super::{MAX_SEARCH, Overlay, Shell};
use crate::app::screen::{Effect, ScreenInput, Tone};
use crate::app::screens::rules::Rules;
use crate::canvas::Target;
use crate::field::{Field, Typed};
use crate::focus;
use crate::input::{Key, KeyCode, UserInput};
use crate::keys::Intent;

impl Shell {
    pub(super) fn user_input(&mut self, input: UserInput) {
        match input {
            UserInput::Key(key) => self.key(key),
            UserInput::Paste(text) => self.paste(&text),
            UserInput::Click(at) => self.click(at),
            UserInput::Press(words) => self.press(&words),
            UserInput::SecondaryClick(_) => self.back(),
            UserInput::MouseMoved(at) if self.overlay.is_none() => {
                if let Some(target) = self.layer.at(at) {
                    self.focus_on_top(target);
                }
            }
            UserInput::ScrollUp => self.scroll(Intent::Up, Intent::PageUp),
            UserInput::ScrollDown => self.scroll(Intent::Down, Intent::PageDown),
            UserInput::MouseMoved(_) | UserInput::Redraw => {}
        }
    }

    /// The wheel: three lines where a screen scrolls by lines, else what its page keys do.
    fn scroll(&mut self, line: Intent, page: Intent) {
        if self.policy().steers(line) {
            (0..3).for_each(|_| self.intent(line));
        } else {
            self.intent(page);
        }
    }

    pub(super) fn key(&mut self, key: Key) {
        let key = self.context.keymap.typed(key);
        if key.ctrl && key.code == KeyCode::Char('c') {
            return self.interrupt();
        }
        let is_ctrl_z = key.ctrl && key.code == KeyCode::Char('z');
        if self.context.stops && is_ctrl_z && self.context.keymap.intent(key).is_none() {
            return self.effects.push(Effect::Suspend);
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
                    Some(answer) => self.answer(answer),
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
                            self.choose(*target);
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
        if self.overlay.is_none() && self.writes(key) {
            return;
        }
        match (self.context.keymap.intent(key), key.code) {
            (Some(intent), _) => self.intent(intent),
            (None, KeyCode::Char(letter)) if self.overlay.is_none() => {
                self.on_top(ScreenInput::Letter(letter));
            }
            (None, _) => self.overlay = None,
        }
    }

    /// Passes the key to the text field with the cursor. Returns whether there is one.
    pub(super) fn writes(&mut self, key: Key) -> bool {
        if !self.policy().writes {
            return false;
        }
        match key.code {
            KeyCode::Enter => self.on_top(ScreenInput::Submit),
            KeyCode::Esc => self.back(),
            KeyCode::Tab => self.intent(Intent::Next),
            KeyCode::BackTab => self.intent(Intent::Previous),
            KeyCode::Up => self.intent(Intent::Up),
            KeyCode::Down => self.intent(Intent::Down),
            KeyCode::PageUp => self.intent(Intent::PageUp),
            KeyCode::PageDown => self.intent(Intent::PageDown),
            _ => self.on_top(ScreenInput::Typed(Typed::Key(key))),
        }
        true
    }

    pub(super) fn paste(&mut self, text: &str) {
        if let Some(Overlay::Palette { field, .. }) = &mut self.overlay {
            return field.insert(text);
        }
        if self.overlay.is_none() {
            let writes = self.policy().writes;
            self.on_top(if writes { ScreenInput::Typed(Typed::Paste(text)) } else { ScreenInput::Pasted(text) });
        }
    }

    /// Ctrl-C goes back; if nothing is left to close, it quits.
    pub(super) fn interrupt(&mut self) {
        if matches!(self.overlay, Some(Overlay::Question(..))) {
            // A second Ctrl-C at a question quits.
            self.effects.push(Effect::Quit);
            return;
        }
        self.overlay = None;
        let before = self.stack.len();
        self.on_top(ScreenInput::Intent(Intent::Quit));
        if self.overlay.is_none() && before == self.stack.len() && self.effects.is_empty() {
            self.effects.push(Effect::Quit);
        }
    }

    pub(super) fn answer(&mut self, answer: usize) {
        if let Some(Overlay::Question(_, place)) = self.overlay.take() {
            self.on(place, ScreenInput::Answer(answer));
        }
    }

    pub(super) fn back(&mut self) {
        if self.overlay.take().is_none() {
            self.on_top(ScreenInput::Back);
        }
    }

    /// A real button: it may be gone by now.
    fn press(&mut self, words: &str) {
        let found = self.layer.buttons.iter().find(|(other, _)| other == words);
        let Some((_, target)) = found else { return };
        let target = *target;
        match self.overlay {
            Some(_) => self.hit(Some(target)),
            None => self.choose(target),
        }
    }

    pub(super) fn click(&mut self, at: Position) {
        self.hit(self.layer.at(at));
    }

    fn hit(&mut self, target: Option<Target>) {
        match (target, &self.overlay) {
            (Some(target), Some(Overlay::Question(..))) => match target {
                Target::Row(answer) => self.answer(answer),
                Target::Key(_) => self.overlay = None,
                Target::Spot(_) | Target::Button(_) | Target::Letter(_) => {}
            },
            (Some(Target::Row(row)), Some(Overlay::Palette { .. })) => {
                let found = self.found();
                self.overlay = None;
                if let Some((_, target)) = found.get(row) {
                    self.choose(*target);
                }
            }
            (_, Some(_)) => self.overlay = None,
            (Some(target), None) => {
                self.focus_on_top(target);
                self.choose(target);
            }
            (None, None) => self.on_top(ScreenInput::Missed),
        }
    }

    pub(super) fn choose(&mut self, target: Target) {
        match target {
            Target::Key(intent) => self.intent(intent),
            Target::Letter(letter) => self.on_top(ScreenInput::Letter(letter)),
            target => self.on_top(ScreenInput::Choose(target)),
        }
    }

    pub(super) fn intent(&mut self, intent: Intent) {
        let moves = [Intent::Up, Intent::Down, Intent::Left, Intent::Right, Intent::Next, Intent::Previous];
        // A remark has been read once the player does something else than look around.
        if !moves.contains(&intent) {
            self.toasts.retain(|toast| toast.tone == Tone::Bad);
        }
        let policy = self.policy();
        let intent = match intent {
            Intent::Uses if !policy.steers(intent) => Intent::Choose,
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
        let focus = self.focus();
        match intent {
            Intent::Help => self.overlay = Some(Overlay::Help { back: 0 }),
            Intent::Palette => {
                self.overlay = Some(Overlay::Palette { field: Field::new(MAX_SEARCH), chosen: 0 });
            }
            Intent::Back => self.back(),
            Intent::Rules => self.open_rules(),
            intent if policy.steers(intent) => self.on_top(ScreenInput::Intent(intent)),
            Intent::Up | Intent::Down | Intent::Left | Intent::Right => {
                match focus.and_then(|from| focus::towards(&self.layer, from, intent)) {
                    // Arrows skip what has its key shown on it.
                    Some(target) if !target.is_key() => self.focus_on_top(target),
                    _ => self.on_top(ScreenInput::Intent(intent)),
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
                let stop = |target: Target| !target.is_key() && policy.stops.contains(&target);
                if let Some(target) = focus::after(&self.layer, focus, by, stop) {
                    self.focus_on_top(target);
                }
            }
            Intent::Choose => {
                if let Some(target) = focus {
                    self.choose(target);
                }
            }
            intent => self.on_top(ScreenInput::Intent(intent)),
        }
    }

    pub(super) fn open_rules(&mut self) {
        let chrome = self.stack.last().map(|place| place.screen.chrome(&self.context));
        if let Some((game, rule)) = chrome.and_then(|chrome| chrome.rulebook) {
            self.push(Box::new(Rules::at(game, rule)));
        }
    }
}
