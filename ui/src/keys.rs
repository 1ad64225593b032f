//! Key bindings: the command of each key, and how the settings change it.

use std::collections::BTreeMap;

use crate::input::{Key, KeyCode};

/// Commands that work on every screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Intent {
    Up,
    Down,
    Left,
    Right,
    /// The next available choice.
    Next,
    Previous,
    First,
    Last,
    PageUp,
    PageDown,
    /// Choose the focused target.
    Choose,
    /// Open the other uses of the focused target; on other screens the same as [`Self::Choose`].
    Uses,
    /// One step back: from a choice, an overlay or a screen.
    Back,
    Help,
    Palette,
    Search,
    Chat,
    Seal,
    Rules,
    Hint,
    Inspect,
    Scores,
    Log,
    /// Take back the last action, in a practice game.
    Undo,
    /// Skip an animation, or leave.
    Quit,
}

/// Every intent: its name in the settings, its default keys, and its effect in words.
const INTENTS: [(Intent, &str, &[&str], &str); 25] = [
    (Intent::Up, "up", &["up"], "up"),
    (Intent::Down, "down", &["down"], "down"),
    (Intent::Left, "left", &["left"], "left"),
    (Intent::Right, "right", &["right"], "right"),
    (Intent::Next, "next", &["tab"], "next choice"),
    (Intent::Previous, "previous", &["backtab"], "previous choice"),
    (Intent::First, "first", &["home", "g"], "the first"),
    (Intent::Last, "last", &["end", "G"], "the last"),
    (Intent::PageUp, "page-up", &["pageup", "ctrl-u"], "previous page"),
    (Intent::PageDown, "page-down", &["pagedown", "ctrl-d"], "next page"),
    (Intent::Choose, "choose", &["enter"], "choose"),
    (Intent::Uses, "uses", &["space"], "its other uses"),
    (Intent::Back, "back", &["esc", "backspace"], "back"),
    (Intent::Help, "help", &["?", "f1"], "keys of this screen"),
    (Intent::Palette, "palette", &[":", "ctrl-p"], "find a command by name"),
    (Intent::Search, "search", &["/"], "search"),
    (Intent::Chat, "chat", &["c"], "say something"),
    (Intent::Seal, "seal", &["S"], "what protects this step"),
    (Intent::Rules, "rules", &["R"], "the rulebook"),
    (Intent::Hint, "hint", &["h"], "hint"),
    (Intent::Inspect, "inspect", &["i"], "the rule of the thing in focus"),
    (Intent::Scores, "scores", &["s"], "the score sheet"),
    (Intent::Log, "log", &["l"], "the log"),
    (Intent::Undo, "undo", &["u"], "undo, in practice"),
    (Intent::Quit, "quit", &["q"], "leave"),
];

impl Intent {
    /// Describes the intent.
    pub fn words(self) -> &'static str {
        let found = INTENTS.iter().find(|(intent, ..)| *intent == self);
        found.map_or("", |(.., words)| words)
    }
}

/// Named keys: name in the settings, key code, and name on a keyboard.
const NAMED: [(&str, KeyCode, &str); 14] = [
    ("up", KeyCode::Up, "Up"),
    ("down", KeyCode::Down, "Down"),
    ("left", KeyCode::Left, "Left"),
    ("right", KeyCode::Right, "Right"),
    ("tab", KeyCode::Tab, "Tab"),
    ("backtab", KeyCode::BackTab, "Shift-Tab"),
    ("home", KeyCode::Home, "Home"),
    ("end", KeyCode::End, "End"),
    ("pageup", KeyCode::PageUp, "PgUp"),
    ("pagedown", KeyCode::PageDown, "PgDn"),
    ("enter", KeyCode::Enter, "Enter"),
    ("esc", KeyCode::Esc, "Esc"),
    ("backspace", KeyCode::Backspace, "Backspace"),
    ("delete", KeyCode::Delete, "Delete"),
];

impl Key {
    /// Parses a key as the settings name it: "k", "ctrl-u", "f1", "space", "pageup".
    fn parse(text: &str) -> Option<Self> {
        let (mut rest, mut ctrl, mut alt) = (text, false, false);
        // A lone "-" is a key, not the end of a prefix.
        while let Some((prefix, after)) = rest.split_once('-').filter(|(_, after)| !after.is_empty()) {
            match prefix {
                "ctrl" => ctrl = true,
                "alt" => alt = true,
                _ => return None,
            }
            rest = after;
        }
        let mut chars = rest.chars();
        let function = rest.strip_prefix('f').and_then(|number| number.parse().ok());
        let code = match (chars.next(), chars.next(), function) {
            (Some(c), None, _) => KeyCode::Char(c),
            (_, _, Some(number)) => KeyCode::F(number),
            _ if rest == "space" => KeyCode::Char(' '),
            _ => NAMED.iter().find(|(name, ..)| *name == rest)?.1,
        };
        Some(Self { code, ctrl, alt })
    }

    /// The key for display: "Ctrl-u".
    fn text(self) -> String {
        let code = match self.code {
            KeyCode::Char(' ') => "Space".to_owned(),
            KeyCode::Char(c) => c.to_string(),
            KeyCode::F(number) => format!("F{number}"),
            code => NAMED.iter().find(|(_, named, _)| *named == code).map_or("", |(.., shown)| shown).to_owned(),
        };
        let ctrl = if self.ctrl { "Ctrl-" } else { "" };
        let alt = if self.alt { "Alt-" } else { "" };
        format!("{ctrl}{alt}{code}")
    }
}

/// Why the keys in the settings are invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeysError {
    /// There is no command of that name.
    #[error("keys.{name}: unknown command; the known ones are {known}")]
    Intent { name: String, known: String },
    /// An unknown key.
    #[error(
        "keys.{name}: there is no key '{key}'; a key is a character, f1 to f12, space, {known}, optionally after \
         ctrl- or alt-"
    )]
    Key { name: String, key: String, known: String },
    /// One key for two commands.
    #[error("the key '{key}' stands for both {one} and {other}; give one of them another key")]
    Twice { key: String, one: &'static str, other: &'static str },
    /// A command with no keys: a player could get stuck.
    #[error("keys.{0}: give it at least one key")]
    None(&'static str),
}

/// The command of each key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keymap(BTreeMap<Key, Intent>);

impl Default for Keymap {
    fn default() -> Self {
        let usual = INTENTS.iter().flat_map(|(intent, _, keys, _)| {
            let keys = keys.iter().filter_map(|key| Key::parse(key));
            keys.map(move |key| (key, *intent))
        });
        Self(usual.collect())
    }
}

impl Keymap {
    /// The default keys, changed by the settings. An intent with keys in the settings loses its default ones. A default
    /// key given to another intent belongs to that intent alone.
    pub fn new(own: &BTreeMap<String, Vec<String>>) -> Result<Self, KeysError> {
        let mut given: BTreeMap<Key, (Intent, &'static str)> = BTreeMap::new();
        let mut changed = Vec::new();
        for (name, keys) in own {
            let found = INTENTS.iter().find(|(_, known, ..)| known == name);
            let Some((intent, known, ..)) = found else {
                let names: Vec<&str> = INTENTS.iter().map(|(_, name, ..)| *name).collect();
                return Err(KeysError::Intent { name: name.clone(), known: names.join(", ") });
            };
            if keys.is_empty() {
                return Err(KeysError::None(known));
            }
            changed.push(*intent);
            for name_of_key in keys {
                let key = Key::parse(name_of_key).ok_or_else(|| KeysError::Key {
                    name: name.clone(),
                    key: name_of_key.clone(),
                    known: NAMED.map(|(name, ..)| name).join(", "),
                })?;
                if let Some((_, other)) = given.insert(key, (*intent, known)) {
                    return Err(KeysError::Twice { key: name_of_key.clone(), one: other, other: known });
                }
            }
        }
        let mut map = Self::default().0;
        map.retain(|key, intent| !changed.contains(intent) && !given.contains_key(key));
        map.extend(given.into_iter().map(|(key, (intent, _))| (key, intent)));
        for (intent, name, ..) in INTENTS {
            if !map.values().any(|bound| *bound == intent) {
                return Err(KeysError::None(name));
            }
        }
        Ok(Self(map))
    }

    /// The key as the player meant it. Windows reports AltGr as Ctrl and Alt, so a character with both is text, unless
    /// the player has bound that key.
    pub fn typed(&self, key: Key) -> Key {
        match key.code {
            KeyCode::Char(_) if key.ctrl && key.alt && self.intent(key).is_none() => key.code.into(),
            _ => key,
        }
    }

    /// The command of a key.
    pub fn intent(&self, key: Key) -> Option<Intent> {
        self.0.get(&key).copied()
    }

    /// The keys of an intent, for display.
    pub fn keys(&self, intent: Intent) -> String {
        let keys = self.0.iter().filter(|(_, bound)| **bound == intent);
        let mut texts: Vec<String> = keys.map(|(key, _)| key.text()).collect();
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        texts.join(" ")
    }

    /// The shortest key of an intent, for a button.
    pub fn key(&self, intent: Intent) -> String {
        let keys = self.0.iter().filter(|(_, bound)| **bound == intent);
        let texts = keys.map(|(key, _)| key.text());
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
    fn every_intent_has_a_keyand_no_keytwo() {
        let keys: usize = INTENTS.iter().map(|(_, _, keys, _)| keys.len()).sum();
        let map = Keymap::default();
        assert_eq!(map.0.len(), keys);
        for (intent, ..) in INTENTS {
            assert!(!map.keys(intent).is_empty() && !intent.words().is_empty());
        }
        let key = |text: &str| Key::parse(text).unwrap().text();
        let texts = ["-", "ctrl-p", "alt-x", "f1", "space", "pageup", "f"].map(key);
        assert_eq!(texts, ["-", "Ctrl-p", "Alt-x", "F1", "Space", "PgUp", "f"]);
    }

    #[test]
    fn own_keys_replace_the_usual_ones() {
        let map = Keymap::new(&own("up", &["w", "j"])).unwrap();
        let intent = |c: char| map.intent(KeyCode::Char(c).into());
        assert_eq!((intent('w'), intent('j')), (Some(Intent::Up), Some(Intent::Up)));
        assert_eq!(intent('k'), None);
        assert_eq!(map.keys(Intent::Down), "Down");
        assert_eq!(map.intent(KeyCode::Down.into()), Some(Intent::Down));
    }

    #[test]
    fn characters_with_ctrl_and_alt_are_text_unless_they_are_bound() {
        let map = Keymap::new(&own("undo", &["ctrl-alt-z"])).unwrap();
        let pressed = |code, ctrl, alt| Key { code, ctrl, alt };
        for c in ['@', '\u{20ac}', 'q', 'c', '?', ' '] {
            let code = KeyCode::Char(c);
            assert_eq!(map.typed(pressed(code, true, true)), code.into());
            for (ctrl, alt) in [(true, false), (false, true), (false, false)] {
                assert_eq!(map.typed(pressed(code, ctrl, alt)), pressed(code, ctrl, alt));
            }
        }
        let bound = pressed(KeyCode::Char('z'), true, true);
        assert_eq!((map.typed(bound), map.intent(bound)), (bound, Some(Intent::Undo)));
        let named = pressed(KeyCode::Left, true, true);
        assert_eq!(map.typed(named), named);
    }

    #[test]
    fn invalid_keys_are_reported() {
        let told = |name: &str, keys: &[&str]| Keymap::new(&own(name, keys)).unwrap_err().to_string();
        assert!(told("upp", &["w"]).contains("the known ones are up, down"));
        assert!(told("up", &["super-w"]).contains("no key 'super-w'"));
        assert!(told("up", &[]).contains("at least one key"));
        assert!(told("up", &["tab"]).contains("keys.next"), "nothing is left for it");
        let mut both = own("up", &["w"]);
        both.extend(own("down", &["w"]));
        assert!(Keymap::new(&both).unwrap_err().to_string().contains("both down and up"));
    }
}
