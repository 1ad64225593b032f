//! Keys: what each does, and how a player changes that in the settings.

use std::collections::BTreeMap;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Commands of keys that work on every screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Intent {
    Up,
    Down,
    Left,
    Right,
    /// The next thing that can be done.
    Next,
    Previous,
    First,
    Last,
    PageUp,
    PageDown,
    /// Do what the focus is on.
    Choose,
    /// One step back: a choice, an overlay, a screen.
    Back,
    Help,
    Palette,
    Search,
    Chat,
    Seal,
    Rules,
    Hint,
    /// Take the last action back, in a practice game.
    Undo,
    /// Skip what moves, or leave.
    Quit,
}

/// Every intent with its name in the settings, its usual keys, and what it does in words.
const INTENTS: [(Intent, &str, &[&str], &str); 21] = [
    (Intent::Up, "up", &["up", "k"], "up"),
    (Intent::Down, "down", &["down", "j"], "down"),
    (Intent::Left, "left", &["left", "h"], "left"),
    (Intent::Right, "right", &["right", "l"], "right"),
    (
        Intent::Next,
        "next",
        &["tab"],
        "the next thing that can be done",
    ),
    (Intent::Previous, "previous", &["backtab"], "the one before"),
    (Intent::First, "first", &["home", "g"], "the first"),
    (Intent::Last, "last", &["end", "G"], "the last"),
    (
        Intent::PageUp,
        "page-up",
        &["pageup", "ctrl-u"],
        "read back",
    ),
    (
        Intent::PageDown,
        "page-down",
        &["pagedown", "ctrl-d"],
        "read on",
    ),
    (
        Intent::Choose,
        "choose",
        &["enter", "space"],
        "choose, do it",
    ),
    (Intent::Back, "back", &["esc", "backspace"], "one step back"),
    (Intent::Help, "help", &["?", "f1"], "the keys of this place"),
    (
        Intent::Palette,
        "palette",
        &[":", "ctrl-p"],
        "find anything by its name",
    ),
    (Intent::Search, "search", &["/"], "search"),
    (Intent::Chat, "chat", &["c"], "say something"),
    (Intent::Seal, "seal", &["S"], "what protects this moment"),
    (Intent::Rules, "rules", &["R"], "the rulebook"),
    (
        Intent::Hint,
        "hint",
        &["H"],
        "a hint, where a game gives any",
    ),
    (
        Intent::Undo,
        "undo",
        &["u"],
        "take an action back, in practice",
    ),
    (Intent::Quit, "quit", &["q"], "leave"),
];

impl Intent {
    /// Its effect, in words.
    pub(super) fn words(self) -> &'static str {
        let found = INTENTS.iter().find(|(intent, ..)| *intent == self);
        found.map_or("", |(.., words)| words)
    }
}

/// A key with what is held down besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Chord {
    code: Code,
    ctrl: bool,
    alt: bool,
}

/// The keys that can be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Code {
    Char(char),
    Function(u8),
    Named(&'static str),
}

const NAMED: [(&str, KeyCode); 14] = [
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("tab", KeyCode::Tab),
    ("backtab", KeyCode::BackTab),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
];

impl Chord {
    fn of(key: KeyEvent) -> Option<Self> {
        let code = match key.code {
            KeyCode::Char(c) => Code::Char(c),
            KeyCode::F(number) => Code::Function(number),
            code => Code::Named(NAMED.iter().find(|(_, named)| *named == code)?.0),
        };
        Some(Self {
            code,
            ctrl: key.modifiers.contains(KeyModifiers::CONTROL),
            alt: key.modifiers.contains(KeyModifiers::ALT),
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let (mut rest, mut ctrl, mut alt) = (text, false, false);
        // A lone "-" is a key and not the end of a prefix.
        while let Some((prefix, after)) =
            rest.split_once('-').filter(|(_, after)| !after.is_empty())
        {
            match prefix {
                "ctrl" => ctrl = true,
                "alt" => alt = true,
                _ => return None,
            }
            rest = after;
        }
        let mut chars = rest.chars();
        let code = match (chars.next(), chars.next()) {
            (Some(c), None) => Code::Char(c),
            _ if rest == "space" => Code::Char(' '),
            (Some('f'), Some(_)) if rest.get(1..).is_some_and(|n| n.parse::<u8>().is_ok()) => {
                Code::Function(rest.get(1..)?.parse().ok()?)
            }
            _ => Code::Named(NAMED.iter().find(|(name, _)| *name == rest)?.0),
        };
        Some(Self { code, ctrl, alt })
    }

    fn text(self) -> String {
        let code = match self.code {
            Code::Char(' ') => "Space".to_owned(),
            Code::Char(c) => c.to_string(),
            Code::Function(number) => format!("F{number}"),
            Code::Named(name) => {
                let mut letters = name.chars();
                let first = letters.next().map(|c| c.to_ascii_uppercase());
                first.into_iter().chain(letters).collect()
            }
        };
        let ctrl = if self.ctrl { "Ctrl-" } else { "" };
        let alt = if self.alt { "Alt-" } else { "" };
        format!("{ctrl}{alt}{code}")
    }
}

/// Why keys in the settings are not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum KeysError {
    /// There is nothing of that name to do.
    #[error("keys.{name}: unknown command; the known ones are {known}")]
    Intent { name: String, known: String },
    /// There is no key of that name.
    #[error(
        "keys.{name}: there is no key '{key}'; a key is a character, f1 to f12, space, {known}, with ctrl- or alt- \
         before it if need be"
    )]
    Key {
        name: String,
        key: String,
        known: String,
    },
    /// One key for two things.
    #[error("the key '{key}' stands for both {one} and {other}; give one of them another key")]
    Twice {
        key: String,
        one: &'static str,
        other: &'static str,
    },
    /// Without these one could not get out again.
    #[error("keys.{0}: it needs a key")]
    None(&'static str),
}

/// Command of each key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Keymap(BTreeMap<Chord, Intent>);

impl Default for Keymap {
    fn default() -> Self {
        let usual = INTENTS.iter().flat_map(|(intent, _, keys, _)| {
            let chords = keys.iter().filter_map(|key| Chord::parse(key));
            chords.map(move |chord| (chord, *intent))
        });
        Self(usual.collect())
    }
}

impl Keymap {
    /// The usual keys with those of the settings in place of some. An intent that is given keys has no others;
    /// a usual key that is given to another intent is that one's.
    pub(super) fn new(own: &BTreeMap<String, Vec<String>>) -> Result<Self, KeysError> {
        let mut given: BTreeMap<Chord, (Intent, &'static str)> = BTreeMap::new();
        let mut changed = Vec::new();
        for (name, keys) in own {
            let found = INTENTS.iter().find(|(_, known, ..)| known == name);
            let Some((intent, known, ..)) = found else {
                let names: Vec<&str> = INTENTS.iter().map(|(_, name, ..)| *name).collect();
                return Err(KeysError::Intent {
                    name: name.clone(),
                    known: names.join(", "),
                });
            };
            if keys.is_empty() {
                return Err(KeysError::None(known));
            }
            changed.push(*intent);
            for key in keys {
                let chord = Chord::parse(key).ok_or_else(|| KeysError::Key {
                    name: name.clone(),
                    key: key.clone(),
                    known: NAMED.map(|(name, _)| name).join(", "),
                })?;
                if let Some((_, other)) = given.insert(chord, (*intent, known)) {
                    return Err(KeysError::Twice {
                        key: key.clone(),
                        one: other,
                        other: known,
                    });
                }
            }
        }
        let mut map = Self::default().0;
        map.retain(|chord, intent| !changed.contains(intent) && !given.contains_key(chord));
        map.extend(
            given
                .into_iter()
                .map(|(chord, (intent, _))| (chord, intent)),
        );
        for (intent, name, ..) in INTENTS {
            if !map.values().any(|bound| *bound == intent) {
                return Err(KeysError::None(name));
            }
        }
        Ok(Self(map))
    }

    /// Command of a key.
    pub(super) fn intent(&self, key: KeyEvent) -> Option<Intent> {
        self.0.get(&Chord::of(key)?).copied()
    }

    /// The keys of an intent, for people to read.
    pub(super) fn keys(&self, intent: Intent) -> String {
        let keys = self.0.iter().filter(|(_, bound)| **bound == intent);
        let mut texts: Vec<String> = keys.map(|(chord, _)| chord.text()).collect();
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        texts.join(" ")
    }

    /// The shortest key of an intent, for a button.
    pub(super) fn key(&self, intent: Intent) -> String {
        let keys = self.0.iter().filter(|(_, bound)| **bound == intent);
        let texts = keys.map(|(chord, _)| chord.text());
        texts.min_by_key(String::len).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(name: &str, keys: &[&str]) -> BTreeMap<String, Vec<String>> {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        BTreeMap::from([(name.to_owned(), keys)])
    }

    #[test]
    fn every_intent_has_a_key_and_no_key_two() {
        let keys: usize = INTENTS.iter().map(|(_, _, keys, _)| keys.len()).sum();
        let map = Keymap::default();
        assert_eq!(map.0.len(), keys);
        for (intent, ..) in INTENTS {
            assert!(!map.keys(intent).is_empty() && !intent.words().is_empty());
        }
        let chord = |text: &str| Chord::parse(text).unwrap().text();
        let texts = ["-", "ctrl-p", "alt-x", "f1", "space", "pageup", "f"].map(chord);
        assert_eq!(
            texts,
            ["-", "Ctrl-p", "Alt-x", "F1", "Space", "Pageup", "f"]
        );
    }

    #[test]
    fn own_keys_replace_the_usual_ones() {
        let map = Keymap::new(&own("up", &["w", "j"])).unwrap();
        let intent = |c: char| map.intent(KeyCode::Char(c).into());
        assert_eq!(
            (intent('w'), intent('j')),
            (Some(Intent::Up), Some(Intent::Up))
        );
        assert_eq!(intent('k'), None);
        assert_eq!(map.keys(Intent::Down), "Down");
        assert_eq!(map.intent(KeyCode::Down.into()), Some(Intent::Down));
    }

    #[test]
    fn what_is_wrong_is_told() {
        let told =
            |name: &str, keys: &[&str]| Keymap::new(&own(name, keys)).unwrap_err().to_string();
        assert!(told("upp", &["w"]).contains("the known ones are up, down"));
        assert!(told("up", &["super-w"]).contains("no key 'super-w'"));
        assert!(told("up", &[]).contains("needs a key"));
        assert!(
            told("up", &["tab"]).contains("keys.next"),
            "nothing is left for it"
        );
        let mut both = own("up", &["w"]);
        both.extend(own("down", &["w"]));
        assert!(
            Keymap::new(&both)
                .unwrap_err()
                .to_string()
                .contains("both down and up")
        );
    }
}
