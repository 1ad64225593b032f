//! The environment's word on the terminal: whether it shows a screen at all, and which characters its font has.
//! [`fairdeal_ui::theme::Depth`] says how many colours it has.

use std::io::IsTerminal as _;

/// Kinds of terminals that move no cursor, as TERM names them.
const DUMB: [&str; 5] = ["dumb", "unknown", "network", "dialup", "emacs"];

/// Why no screen can be shown here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoScreen {
    #[error("standard output is not a terminal")]
    Output,
    #[error("standard input is not a terminal")]
    Input,
    #[error("the environment variable TERM is not set; set it to your terminal's kind, such as xterm-256color")]
    Unset,
    #[error("this terminal can only print lines (TERM is {0})")]
    Dumb(String),
}

/// Why a terminal shows few characters besides ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FewGlyphs {
    /// The Linux console.
    Console,
    /// A terminal of the VT series, or a program that imitates one.
    Vt,
}

impl FewGlyphs {
    /// The terminal, in words.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Console => "the Linux console's fonts have no half blocks, suits or check marks",
            Self::Vt => "a VT terminal has no half blocks, suits or check marks",
        }
    }
}

/// The holder of the terminal: who reads what this program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// tmux keeps to itself what programs write for its terminal, unless it is set otherwise.
    Tmux,
    /// GNU screen passes on to its terminal only what is marked so.
    Screen,
    Terminal,
    /// The Linux console has neither clipboard nor title, and old ones print the request.
    Console,
}

impl Holder {
    /// The holder by the environment.
    pub fn of(variable: &impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        if set("TMUX").is_some() {
            Self::Tmux
        } else if set("STY").is_some() {
            Self::Screen
        } else if set("TERM").is_some_and(|term| term == "linux" || term.starts_with("linux-")) {
            Self::Console
        } else {
            Self::Terminal
        }
    }
}

/// The value of a variable of this program's environment.
pub fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// Whether a screen can be shown on standard output, with keys from standard input.
///
/// # Errors
/// [`NoScreen`].
pub fn check_screen() -> Result<(), NoScreen> {
    let (input, output) = (std::io::stdin().is_terminal(), std::io::stdout().is_terminal());
    screen(input, output, variable)
}

fn screen(input: bool, output: bool, variable: impl Fn(&str) -> Option<String>) -> Result<(), NoScreen> {
    if !output {
        return Err(NoScreen::Output);
    }
    if !input {
        return Err(NoScreen::Input);
    }
    match variable("TERM").filter(|term| !term.is_empty()) {
        // Windows' own terminals do not set it.
        None if cfg!(windows) => Ok(()),
        None => Err(NoScreen::Unset),
        Some(term) if DUMB.contains(&term.as_str()) || term.starts_with("dumb-") => Err(NoScreen::Dumb(term)),
        Some(_) => Ok(()),
    }
}

/// Why this terminal shows few characters besides ASCII; `None` if it shows them.
pub fn few_glyphs(variable: impl Fn(&str) -> Option<String>) -> Option<FewGlyphs> {
    let term = variable("TERM")?;
    // GNU screen on the console may call itself "screen.linux".
    if term.split(['.', '-']).any(|part| part == "linux") {
        return Some(FewGlyphs::Console);
    }
    let model = term.strip_prefix("vt")?;
    model.starts_with(|c: char| c.is_ascii_digit()).then_some(FewGlyphs::Vt)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(name: &str) -> impl Fn(&str) -> Option<String> {
        move |variable| (variable == "TERM").then(|| name.to_owned())
    }

    #[test]
    fn screens_need_a_terminal_on_both_sides_that_moves_a_cursor() {
        let on = |name| screen(true, true, term(name));
        assert_eq!(on("xterm-256color"), Ok(()));
        assert_eq!(on("linux"), Ok(()));
        for dumb in ["dumb", "dumb-emacs-ansi", "unknown", "emacs"] {
            assert_eq!(on(dumb), Err(NoScreen::Dumb(dumb.to_owned())));
        }
        assert_eq!(screen(false, true, term("xterm")), Err(NoScreen::Input));
        assert_eq!(screen(true, false, term("xterm")), Err(NoScreen::Output));
        if !cfg!(windows) {
            assert_eq!(on(""), Err(NoScreen::Unset));
            assert_eq!(screen(true, true, |_| None), Err(NoScreen::Unset));
        }
    }

    #[test]
    fn consoles_have_few_glyphs() {
        let few = |name| few_glyphs(term(name));
        for console in ["linux", "linux-16color", "screen.linux", "screen.linux-bce"] {
            assert_eq!(few(console), Some(FewGlyphs::Console), "{console}");
        }
        assert_eq!((few("vt220"), few("vt100-am")), (Some(FewGlyphs::Vt), Some(FewGlyphs::Vt)));
        for usual in ["xterm-256color", "tmux-256color", "screen-256color", "vte-256color", ""] {
            assert_eq!(few(usual), None, "{usual}");
        }
    }

    #[test]
    fn what_holds_the_terminal_is_known_from_the_environment() {
        let way = |set: &[(&str, &str)]| {
            Holder::of(&|name: &str| {
                let found = set.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(matches!(way(&[("TMUX", "/tmp/tmux,1,0"), ("STY", "1.pts")]), Holder::Tmux));
        assert!(matches!(way(&[("TMUX", ""), ("STY", "1.pts")]), Holder::Screen));
        assert!(matches!(way(&[("TERM", "linux")]), Holder::Console));
        assert!(matches!(way(&[("TERM", "xterm-256color")]), Holder::Terminal));
    }
}
