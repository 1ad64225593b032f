//! Whether the terminal is light or dark: what it answers when asked, or else what the environment says.
//!
//! The question is the control sequence OSC 11. The answer arrives among the keys, and [`Answer`] takes it out of them,
//! however late it comes.

use std::io::{IsTerminal as _, Write as _, stdin, stdout};
use std::time::Duration;

use fairdeal_ui::app::event::Input;
use fairdeal_ui::input::{Key, KeyCode, UserInput};
use fairdeal_ui::theme::{Rgb, luminance};

use super::environment::few_glyphs;

/// "Which colour is the background?"
const QUESTION: &[u8] = b"\x1b]11;?\x07";
/// The start of every answer, without its escape.
const STARTS: [&str; 2] = ["11;rgb:", "11;rgba:"];
/// The longest answer, without its escape.
const MAX_ANSWER: usize = 32;
/// The wait for the next key after one that may begin an answer, and after several that do.
const UNFINISHED: Duration = Duration::from_millis(50);
const SLOW: Duration = Duration::from_secs(1);

/// Asks the terminal, which must be in raw mode. Returns whether it was asked.
///
/// # Errors
/// The terminal's.
pub(super) fn ask(variable: impl Fn(&str) -> Option<String>) -> std::io::Result<bool> {
    // Windows passes no answer on as keys. Consoles know no colours to answer with.
    let is_silent = cfg!(windows) || few_glyphs(variable).is_some();
    if is_silent || !stdin().is_terminal() || !stdout().is_terminal() {
        return Ok(false);
    }
    let mut out = stdout().lock();
    out.write_all(QUESTION)?;
    out.flush()?;
    Ok(true)
}

/// Whether the environment says that the terminal is light. `COLORFGBG` ends with the number of the background among
/// the 16 colours.
pub(super) fn from_environment(variable: impl Fn(&str) -> Option<String>) -> bool {
    let colours = variable("COLORFGBG").unwrap_or_default();
    matches!(colours.rsplit(';').next(), Some("7" | "9" | "10" | "11" | "12" | "13" | "14" | "15"))
}

/// Takes the answer out of the keys. The escape sequence arrives as Alt and a bracket, followed by letters.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// Keys that may be the start of an answer.
    held: Vec<UserInput>,
    text: String,
}

impl Answer {
    /// Whether keys are held back.
    pub(super) fn is_open(&self) -> bool {
        !self.held.is_empty()
    }

    /// How long to wait for the next key before those held back are let go: nobody types the start of an answer by hand.
    pub(super) fn patience(&self) -> Duration {
        match self.text.len() {
            ..3 => UNFINISHED,
            _ => SLOW,
        }
    }

    /// Takes an input, and returns the inputs to handle now.
    pub(super) fn take(&mut self, input: UserInput) -> Vec<Input> {
        // A click or a new size may come between the keys of an answer.
        if !matches!(input, UserInput::Key(_)) {
            return vec![Input::User(input)];
        }
        let opens = self.held.is_empty() && is_key(&input, ']', false, true);
        let ends = is_key(&input, '\\', false, true) || is_key(&input, 'g', true, false);
        let plain = match &input {
            UserInput::Key(Key { code: KeyCode::Char(c), ctrl: false, alt: false }) if self.is_open() => Some(*c),
            _ => None,
        };
        self.held.push(input);
        if let Some(c) = plain {
            self.text.push(c);
        }
        if (opens || plain.is_some()) && is_start(&self.text) {
            return Vec::new();
        }
        match colour(&self.text) {
            Some(colour) if ends => {
                self.held.clear();
                self.text.clear();
                vec![Input::Background(luminance(colour) > 0.5)]
            }
            _ => self.release(),
        }
    }

    /// The keys held back: they were no answer.
    pub(super) fn release(&mut self) -> Vec<Input> {
        self.text.clear();
        self.held.drain(..).map(Input::User).collect()
    }
}

fn is_key(input: &UserInput, c: char, ctrl: bool, alt: bool) -> bool {
    let code = KeyCode::Char(c);
    *input == UserInput::Key(Key { code, ctrl, alt })
}

/// Whether an answer can start like this.
fn is_start(text: &str) -> bool {
    let digits = |rest: &str| rest.chars().all(|c| c.is_ascii_hexdigit() || c == '/');
    let fits = |start: &str| start.starts_with(text) || text.strip_prefix(start).is_some_and(digits);
    text.len() <= MAX_ANSWER && STARTS.iter().any(|start| fits(start))
}

/// The colour in an answer such as `11;rgb:ffff/ffff/ffff`, with one to four digits for each part.
fn colour(text: &str) -> Option<Rgb> {
    let rest = STARTS.iter().find_map(|start| text.strip_prefix(start))?;
    let mut parts = rest.split('/').map(|digits| {
        let most = 16_u32.checked_pow(u32::try_from(digits.len()).ok()?)?.checked_sub(1)?;
        let value = u32::from_str_radix(digits, 16).ok()?;
        u8::try_from(value.checked_mul(255)?.checked_div(most)?).ok()
    });
    Some((parts.next()??, parts.next()??, parts.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(c: char, ctrl: bool, alt: bool) -> UserInput {
        let code = KeyCode::Char(c);
        UserInput::Key(Key { code, ctrl, alt })
    }

    /// An answer as the terminal's keys.
    fn answer(text: &str, end: UserInput) -> Vec<UserInput> {
        let letters = text.chars().map(|c| key(c, false, false));
        std::iter::once(key(']', false, true)).chain(letters).chain([end]).collect()
    }

    fn taken(inputs: Vec<UserInput>) -> (Vec<Input>, bool) {
        let mut answer = Answer::default();
        let out = inputs.into_iter().flat_map(|input| answer.take(input)).collect();
        (out, answer.is_open())
    }

    #[test]
    fn answers_tell_light_from_dark() {
        let (bell, string_end) = (key('g', true, false), key('\\', false, true));
        for (text, is_light) in [
            ("11;rgb:ffff/ffff/ffff", true),
            ("11;rgb:fdfd/F6F6/e3e3", true),
            ("11;rgba:ff/ff/ff/ff", true),
            ("11;rgb:0000/2b2b/3636", false),
            ("11;rgb:0/0/0", false),
            ("11;rgb:8080/8080/8080", false),
        ] {
            for end in [&bell, &string_end] {
                let (out, is_open) = taken(answer(text, end.clone()));
                let is_right = matches!(out.as_slice(), [Input::Background(light)] if *light == is_light);
                assert!(is_right && !is_open, "{text}: {out:?}");
            }
        }
    }

    #[test]
    fn keys_that_are_no_answer_are_kept() {
        let bell = key('g', true, false);
        for text in ["", "x", "11;rgb:", "11;rgb:zz", "11;rgb:ff/ff", "11;rgb://", "10;rgb:ffff"] {
            let inputs = answer(text, bell.clone());
            let (out, is_open) = taken(inputs.clone());
            let out: Vec<UserInput> = out
                .into_iter()
                .map(|input| match input {
                    Input::User(input) => input,
                    other => panic!("{text}: {other:?}"),
                })
                .collect();
            assert!(out == inputs && !is_open, "{text}: {out:?}");
        }
        let long = format!("11;rgb:{}", "f".repeat(100));
        assert_eq!(taken(answer(&long, bell)).0.len(), 109);
    }

    #[test]
    fn an_answer_is_not_broken_by_a_new_size() {
        let mut inputs = answer("11;rgb:ffff/ffff/ffff", key('g', true, false));
        inputs.insert(9, UserInput::Redraw);
        let (out, is_open) = taken(inputs);
        assert!(matches!(out.as_slice(), [Input::User(UserInput::Redraw), Input::Background(true)]) && !is_open);
        let mut begun = Answer::default();
        for input in answer("11;", key('x', false, false)).into_iter().take(4) {
            assert!(begun.take(input).is_empty());
        }
        assert_eq!(begun.patience(), SLOW);
    }

    #[test]
    fn environment_names_the_background() {
        let is_light = |value: &str| from_environment(|_| Some(value.to_owned()));
        assert!(is_light("0;15") && is_light("0;default;15") && is_light("0;7"));
        assert!(!is_light("15;0") && !is_light("15;8") && !is_light("12;default") && !is_light(""));
        assert!(!from_environment(|_| None));
    }
}
