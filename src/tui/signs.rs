//! Signs in the terminal for a player who looks elsewhere: the title of its window, its bell, and a notification where it
//! has one.
//!
//! | sequence | terminals |
//! | --- | --- |
//! | OSC 9 (`OSC 9 ; text`) | iTerm2 |
//! | OSC 99 (`OSC 99 ; ; text`) | kitty |
//! | OSC 777 (`OSC 777 ; notify ; title ; text`) | foot, Ghostty, Konsole, rxvt-unicode, WezTerm, and others with VTE |
//!
//! `docs/settings.md` has the sources. tmux and GNU screen pass a sequence on to their terminal only if it is marked so.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use fairdeal_ui::canvas::cut;
use fairdeal_ui::theme::Theme;

use super::environment::{Holder, few_glyphs};

/// The name of the program in titles and notifications.
const NAME: &str = "fairdeal";
/// The longest title, in columns, and the longest text of a notification, in characters.
const MAX_TITLE: usize = 60;
const MAX_TEXT: usize = 200;
/// The question to tmux: which terminal it is in, whether programs may speak to that, and whether it tells them the focus.
const ASK_TMUX: [&str; 3] =
    ["display-message", "-p", "#{client_termname} #{client_termtype}\n#{allow-passthrough}\n#{focus-events}"];

/// The control sequence by which a terminal shows a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Osc9,
    Osc99,
    Osc777,
}

impl Protocol {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Osc9 => "OSC 9",
            Self::Osc99 => "OSC 99",
            Self::Osc777 => "OSC 777",
        }
    }

    /// The protocol of a terminal, by its own name or that of its kind.
    fn of_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let is = |known: &[&str]| known.iter().any(|known| name.contains(known));
        if is(&["kitty"]) {
            Some(Self::Osc99)
        } else if is(&["iterm"]) {
            Some(Self::Osc9)
        } else {
            is(&["foot", "ghostty", "konsole", "rxvt", "wezterm", "vte("]).then_some(Self::Osc777)
        }
    }

    /// The protocol of the terminal that this program was started in.
    fn of_environment(variable: &impl Fn(&str) -> Option<String>) -> Option<Self> {
        let named = ["TERM", "TERM_PROGRAM", "LC_TERMINAL"].into_iter().filter_map(variable);
        let vte = ["VTE_VERSION", "KONSOLE_VERSION"].into_iter().any(|name| variable(name).is_some());
        named.filter_map(|name| Self::of_name(&name)).next().or_else(|| vte.then_some(Self::Osc777))
    }

    /// The sequence for a text, which has no control characters.
    fn sequence(self, text: &str) -> String {
        match self {
            Self::Osc9 => format!("\x1b]9;{NAME}: {text}\x07"),
            Self::Osc99 => format!("\x1b]99;;{NAME}: {text}\x07"),
            // A semicolon would begin a further field.
            Self::Osc777 => format!("\x1b]777;notify;{NAME};{}\x07", text.replace(';', ",")),
        }
    }
}

/// A terminal's abilities for a player who looks elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abilities {
    pub holder: Holder,
    /// Whether its window has a title that programs may set.
    pub has_title: bool,
    /// How it shows a notification, if programs may ask for one.
    pub notification: Option<Protocol>,
    /// Whether it says when its window gets or loses the focus.
    pub tells_focus: bool,
    /// The title that the window had, where nobody else keeps it; else empty.
    pub title_before: String,
}

impl Abilities {
    /// The abilities of the terminal that this program was started in. May take as long as tmux takes to answer.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let holder = Holder::of(&variable);
        let by_itself = Protocol::of_environment(&variable);
        let is_plain = few_glyphs(&variable).is_some();
        let silent =
            Self { holder, has_title: false, notification: None, tells_focus: false, title_before: String::new() };
        match holder {
            // Old consoles print what they do not know.
            Holder::Console => silent,
            Holder::Terminal => {
                Self { has_title: !is_plain, notification: by_itself, tells_focus: !is_plain, ..silent }
            }
            // It passes everything on, and knows nothing of the focus. An empty title is none to it.
            Holder::Screen => {
                let title_before = screen_title(&variable).unwrap_or_else(|| shell_name(&variable));
                Self { has_title: true, notification: by_itself, title_before, ..silent }
            }
            Holder::Tmux => Self::in_tmux(&answer(Command::new("tmux").args(ASK_TMUX)).unwrap_or_default()),
        }
    }

    fn in_tmux(answer: &str) -> Self {
        let mut lines = answer.lines();
        let mut next = || lines.next().unwrap_or_default().trim();
        let (terminal, passes, focus) = (next(), next(), next());
        Self {
            holder: Holder::Tmux,
            has_title: true,
            notification: Protocol::of_name(terminal).filter(|_| matches!(passes, "on" | "all" | "1" | "2")),
            tells_focus: matches!(focus, "on" | "1"),
            title_before: String::new(),
        }
    }
}

/// The title of this window of GNU screen, from 4.1 on.
fn screen_title(variable: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let (session, window) = (variable("STY")?, variable("WINDOW")?);
    let title = answer(Command::new("screen").args(["-U", "-S", &session, "-p", &window, "-Q", "title"]))?;
    Some(plain(&title)).filter(|title| !title.is_empty())
}

/// The name of the player's shell, which is the usual title of a window of GNU screen.
fn shell_name(variable: &impl Fn(&str) -> Option<String>) -> String {
    let shell = variable("SHELL").unwrap_or_default();
    shell.rsplit('/').next().unwrap_or_default().to_owned()
}

/// The output of a program that succeeds.
fn answer(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether this program has set the title of its window, for a panic.
static IS_TITLED: AtomicBool = AtomicBool::new(false);

/// Gives the window its title back after a panic.
pub(super) fn give_back_after_panic(out: &mut impl Write) {
    if IS_TITLED.load(Ordering::Relaxed) {
        // The terminal may be gone.
        let _ = out.write_all(b"\x1b]0;\x07\x1b[23;0t").and_then(|()| out.flush());
    }
}

/// The signs of this program in its terminal.
#[derive(Debug)]
pub struct Signs {
    abilities: Abilities,
    /// The title that the window has, while this program has the terminal.
    title: Option<String>,
}

impl Signs {
    /// The signs of a terminal that this program has.
    pub fn new(abilities: Abilities) -> Self {
        Self { abilities, title: None }
    }

    /// The terminal's abilities.
    pub fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    /// Whether the terminal says when its window gets or loses the focus.
    pub fn tells_focus(&self) -> bool {
        self.abilities.tells_focus
    }

    /// Sets the window's title: what waits for the player, or the name of the program.
    ///
    /// # Errors
    /// The terminal's.
    pub fn entitle(&mut self, sign: Option<&str>, theme: &Theme, out: &mut impl Write) -> std::io::Result<()> {
        let title = match sign {
            Some(sign) => cut(&format!("{} {}", theme.glyph("●", "*"), plain(sign)), MAX_TITLE, theme),
            None => NAME.to_owned(),
        };
        if !self.abilities.has_title || self.title.as_ref() == Some(&title) {
            return Ok(());
        }
        if self.title.is_none() {
            // Keeps the one that was there.
            out.write_all(b"\x1b[22;0t")?;
        }
        write_title(self.abilities.holder, &title, out)?;
        IS_TITLED.store(true, Ordering::Relaxed);
        self.title = Some(title);
        Ok(())
    }

    /// Gives the window the title that it had; terminals that keep none get an empty one.
    ///
    /// # Errors
    /// The terminal's.
    pub fn give_back(&mut self, out: &mut impl Write) -> std::io::Result<()> {
        if self.title.take().is_some() {
            IS_TITLED.store(false, Ordering::Relaxed);
            write_title(self.abilities.holder, &self.abilities.title_before, out)?;
            out.write_all(b"\x1b[23;0t")?;
        }
        out.flush()
    }

    /// Rings the bell, and shows a text in a notification where the terminal has one.
    ///
    /// # Errors
    /// The terminal's.
    pub fn ring(&self, text: &str, out: &mut impl Write) -> std::io::Result<()> {
        out.write_all(b"\x07")?;
        if let Some(protocol) = self.abilities.notification {
            let text: String = plain(text).chars().take(MAX_TEXT).collect();
            let sequence = protocol.sequence(&text);
            let marked = match self.abilities.holder {
                Holder::Tmux => format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b")),
                Holder::Screen => format!("\x1bP{sequence}\x1b\\"),
                Holder::Terminal | Holder::Console => sequence,
            };
            out.write_all(marked.as_bytes())?;
        }
        out.flush()
    }
}

fn write_title(holder: Holder, title: &str, out: &mut impl Write) -> std::io::Result<()> {
    // GNU screen has titles for its own windows, and knows no other.
    let sequence = match holder {
        Holder::Screen => format!("\x1bk{title}\x1b\\"),
        _ => format!("\x1b]0;{title}\x07"),
    };
    out.write_all(sequence.as_bytes())?;
    out.flush()
}

/// A text without control characters: names in it are other players'.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn abilities(set: &[(&str, &str)]) -> Abilities {
        Abilities::of(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    fn rung(abilities: &Abilities, text: &str) -> String {
        let mut out = Vec::new();
        Signs::new(abilities.clone()).ring(text, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn terminals_are_known_by_their_names() {
        let protocol = |name, value| abilities(&[("TERM", "xterm-256color"), (name, value)]).notification;
        assert_eq!(protocol("TERM_PROGRAM", "iTerm.app"), Some(Protocol::Osc9));
        assert_eq!(protocol("LC_TERMINAL", "iTerm2"), Some(Protocol::Osc9));
        assert_eq!(protocol("TERM_PROGRAM", "WezTerm"), Some(Protocol::Osc777));
        assert_eq!(protocol("VTE_VERSION", "7603"), Some(Protocol::Osc777));
        assert_eq!(abilities(&[("TERM", "xterm-kitty")]).notification, Some(Protocol::Osc99));
        for unknown in ["xterm-256color", "alacritty", "vt220", "linux"] {
            assert_eq!(abilities(&[("TERM", unknown)]).notification, None, "{unknown}");
        }
        let console = abilities(&[("TERM", "linux"), ("VTE_VERSION", "1")]);
        assert!(!console.has_title && console.notification.is_none());
        assert_eq!(rung(&console, "Your turn"), "\x07");
    }

    #[test]
    fn tmux_says_where_it_is_and_what_it_allows() {
        let inside = Abilities::in_tmux("xterm-kitty kitty(0.36.4)\non\n1\n");
        assert_eq!((inside.notification, inside.tells_focus), (Some(Protocol::Osc99), true));
        let text = rung(&inside, "Your turn: Loot");
        assert_eq!(text, "\x07\x1bPtmux;\x1b\x1b]99;;fairdeal: Your turn: Loot\x07\x1b\\");
        let shut = Abilities::in_tmux("foot foot(1.16.2)\noff\noff\n");
        assert_eq!((shut.notification, shut.tells_focus), (None, false));
        assert_eq!(Abilities::in_tmux("").notification, None);
    }

    #[test]
    fn screen_passes_a_sequence_on_that_is_marked() {
        let inside = abilities(&[("STY", "1.pts"), ("TERM", "screen.rxvt-unicode")]);
        let text = rung(&inside, "Your turn; Loot");
        assert_eq!(text, "\x07\x1bP\x1b]777;notify;fairdeal;Your turn, Loot\x07\x1b\\");
    }

    #[test]
    fn names_of_others_bring_no_control_sequences() {
        let kitty = abilities(&[("TERM", "xterm-kitty")]);
        let text = rung(&kitty, "Loot: A\x1b]0;x\x07\u{9c}da is back");
        assert_eq!(text, "\x07\x1b]99;;fairdeal: Loot: A]0;xda is back\x07");
    }

    #[test]
    fn title_is_kept_set_and_given_back() {
        let mut signs = Signs::new(abilities(&[("TERM", "xterm")]));
        let (mut out, theme) = (Vec::new(), Theme::default());
        signs.entitle(None, &theme, &mut out).unwrap();
        signs.entitle(None, &theme, &mut out).unwrap();
        signs.entitle(Some("Your turn: Loot"), &theme, &mut out).unwrap();
        signs.give_back(&mut out).unwrap();
        signs.give_back(&mut out).unwrap();
        let told = String::from_utf8(out).unwrap();
        assert_eq!(told, "\x1b[22;0t\x1b]0;fairdeal\x07\x1b]0;● Your turn: Loot\x07\x1b]0;\x07\x1b[23;0t");
    }
}
