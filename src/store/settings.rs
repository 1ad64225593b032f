//! The player's settings: a file in the data directory that can be edited by hand.

use std::ops::Range;
use std::path::{Path, PathBuf};

use fairdeal_games::joined;
pub use fairdeal_ui::settings::Settings;
use toml_edit::{Document, DocumentMut, Table};

use super::{DataView, StoreError, edit, files};

/// The file's name in the data directory.
const FILE: &str = "settings.toml";
/// Maximum file size in bytes.
const MAX_FILE: u64 = 64 << 10;
/// Maximum number of mistakes to report; more are no help.
const MAX_MISTAKES: usize = 8;

/// Why settings cannot be read or saved.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file's content is invalid.
    #[error("{path}, {why}\nCorrect or delete the file. Using defaults until then.", path = path.display())]
    Wrong {
        path: PathBuf,
        /// The line and the mistake.
        why: String,
    },
    /// One setting is invalid; the others count.
    #[error(
        "{path}, {why}\nCorrect or delete the line. Leaving it out until then.",
        path = path.display()
    )]
    Setting {
        path: PathBuf,
        /// The line and the mistake.
        why: String,
    },
    /// A change cannot be written into the file, which stays as it is.
    #[error("the change is not saved: {path}, {why}\nCorrect or delete the file.", path = path.display())]
    Unsaved {
        path: PathBuf,
        /// The line or the key, and the mistake.
        why: String,
    },
    /// The chosen theme has no file.
    #[error(
        "there is no theme '{name}': write {path}, or use auto, dark, light, high-contrast or mono. Using dark until then.",
        path = path.display()
    )]
    NoTheme { name: String, path: PathBuf },
}

impl DataView {
    /// The path of the settings file.
    pub fn settings_file(&self) -> PathBuf {
        self.path().join(FILE)
    }

    /// Reads the settings, and the mistakes in them, each with its line and the allowed values. A setting with a mistake,
    /// and a setting without a line, has its default.
    pub fn settings(&self) -> (Settings, Vec<SettingsError>) {
        let path = self.settings_file();
        let text = match read_text(&path) {
            Ok(Some(text)) => text,
            Ok(None) => return (Settings::default(), Vec::new()),
            Err(why) => return (Settings::default(), vec![why]),
        };
        match parsed(&text) {
            Ok((settings, mistakes)) => {
                let setting = |why| SettingsError::Setting { path: path.clone(), why };
                (settings, mistakes.into_iter().map(setting).collect())
            }
            Err(why) => (Settings::default(), vec![SettingsError::Wrong { path, why }]),
        }
    }
}

/// The settings in a text, and the mistakes in single ones.
///
/// # Errors
/// The text is no TOML: the line and the mistake.
fn parsed(text: &str) -> Result<(Settings, Vec<String>), String> {
    let document = Document::parse(text);
    let table = document.map_err(|error| mistake(text, error.span(), error.message()))?;
    let (mut good, mut mistakes) = (Table::new(), Vec::new());
    for (key, item) in table.iter() {
        let mut one = Table::new();
        one.insert(key, item.clone());
        match toml_edit::de::from_document::<Settings>(DocumentMut::from(one.clone())) {
            Ok(_) => good.extend(one),
            Err(error) if mistakes.len() < MAX_MISTAKES => {
                let at = table.key(key).and_then(toml_edit::Key::span);
                mistakes.push(mistake(text, error.span().or(at), error.message()));
            }
            Err(_) => {}
        }
    }
    let settings = toml_edit::de::from_document(DocumentMut::from(good));
    Ok((settings.map_err(|error| error.message().to_owned())?, mistakes))
}

/// Reads a small text file; `None` if there is no file.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, SettingsError> {
    let io = |source| StoreError::io("read", path, source);
    let wrong = |why: String| SettingsError::Wrong { path: path.to_owned(), why };
    let file = match files::open_plain(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error).into()),
    };
    let bytes = files::read_limited(file, MAX_FILE).map_err(io)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_FILE) {
        return Err(wrong(format!("the file is larger than {MAX_FILE} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
    Ok(Some(text))
}

/// A mistake in the settings for the person who made it: the line, what is there, and what can be there.
fn mistake(text: &str, span: Option<Range<usize>>, message: &str) -> String {
    let number = edit::line_at(text, span.map_or(0, |span| span.start));
    let line = text.lines().nth(number - 1).unwrap_or("").trim();
    let line: String = line.chars().filter(|c| !c.is_control()).take(60).collect();
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let what = match quoted.as_slice() {
        [given, choices @ ..] if message.starts_with("unknown variant") => {
            format!("'{given}' is not a valid value; use {}", joined(choices, "or"))
        }
        [given, all @ ..] if message.starts_with("unknown field") => {
            format!("there is no setting '{given}'; the settings are {}", joined(all, "and"))
        }
        _ if message.ends_with("expected a boolean") => "the value must be true or false".to_owned(),
        _ if message.contains("expected u64") => "the value must be a whole number".to_owned(),
        _ if message.contains("expected a string") => "the value must be text in quotation marks".to_owned(),
        _ => format!("this line is not a valid setting: {message}"),
    };
    format!("line {number} ({line}): {what}.")
}

impl DataView {
    /// Saves the changes that lead from `before` to `after`. All else in the file stays as it is.
    ///
    /// # Errors
    /// [`SettingsError`]; the file is then as before.
    pub fn change_settings(&self, before: &Settings, after: &Settings) -> Result<(), SettingsError> {
        let path = self.settings_file();
        let unsaved = |why: String| SettingsError::Unsaved { path: path.clone(), why };
        let text = read_text(&path)?.unwrap_or_default();
        let mut document = edit::document(&text).map_err(unsaved)?;
        let written = |settings| toml_edit::ser::to_document(settings).map_err(|error| unsaved(error.to_string()));
        let (before, after) = (written(before)?, written(after)?);
        let changed = edit::apply(&mut document, before.as_table(), after.as_table());
        changed.map_err(|why| unsaved(why.to_string()))?;
        let new = edit::text_of(&document, &text);
        if new != text {
            files::rewrite(&path, new.as_bytes())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use fairdeal_ui::appearance::{Letters, ThemeChoice};

    use super::super::DataDir;
    use super::*;

    fn open() -> (tempfile::TempDir, DataDir) {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(Some(folder.path())).unwrap();
        (folder, data)
    }

    /// The settings without a mistake.
    fn read(data: &DataDir) -> Settings {
        let (settings, mistakes) = data.settings();
        assert_eq!(mistakes.len(), 0, "{mistakes:?}");
        settings
    }

    #[test]
    fn settings_come_back_as_they_were_written() {
        let (_folder, data) = open();
        let before = Settings::default();
        assert_eq!(read(&data), before);
        let settings = Settings {
            name: Some("Béla".to_owned()),
            theme: ThemeChoice::Own("dusk".to_owned()),
            letters: Letters::Always,
            motion: false,
            keys: BTreeMap::from([("up".to_owned(), vec!["w".to_owned()])]),
            meet: vec!["/ip4/192.0.2.7/tcp/4001/p2p/12D3KooW".to_owned()],
            solved: BTreeMap::from([("loot".to_owned(), BTreeSet::from([1, 3]))]),
            ..Settings::default()
        };
        data.change_settings(&before, &settings).unwrap();
        assert_eq!(read(&data), settings);
        data.change_settings(&settings, &before).unwrap();
        assert_eq!(read(&data), before);
    }

    #[test]
    fn mistake_is_reported_with_line_and_choices() {
        let (_folder, data) = open();
        let told = |text: &str| {
            std::fs::write(data.settings_file(), text).unwrap();
            let (_, mistakes) = data.settings();
            assert_eq!(mistakes.len(), 1, "{mistakes:?}");
            mistakes[0].to_string()
        };
        let letters = told("ascii = true\nletters = \"never\"\n");
        for part in ["line 2", "never", "always", "Correct or delete the line"] {
            assert!(letters.contains(part), "{letters}");
        }
        let field = told("\ntehme = \"dark\"");
        assert!(
            field.contains("line 2") && field.contains("there is no setting 'tehme'") && field.contains("pyramids"),
            "{field}"
        );
        let flag = told("motion = 3");
        assert!(flag.contains("line 1 (motion = 3): the value must be true or false"), "{flag}");
        let number = told("bot-delay = \"fast\"");
        assert!(number.contains("the value must be a whole number"), "{number}");
        assert!(told(&"#".repeat(100_000)).contains("larger than"));
        assert!(told(&"\0".repeat(100)).contains("line 1"));
        std::fs::write(data.settings_file(), [0xff; 100]).unwrap();
        let bytes = data.settings().1[0].to_string();
        assert!(bytes.contains("utf-8"), "{bytes}");
        std::fs::remove_file(data.settings_file()).unwrap();
        std::fs::create_dir(data.settings_file()).unwrap();
        let folder = data.settings().1[0].to_string();
        assert!(folder.contains("not a regular file"), "{folder}");
    }

    #[test]
    fn one_mistake_leaves_the_other_settings() {
        let (_folder, data) = open();
        let text = "name = \"Ann\"\nletters = \"allways\"\nsound = true\n[keys]\nup = [\"w\"]\n";
        std::fs::write(data.settings_file(), text).unwrap();
        let (settings, mistakes) = data.settings();
        assert_eq!(mistakes.len(), 2);
        assert_eq!(settings.name.as_deref(), Some("Ann"));
        assert_eq!(settings.keys.len(), 1);
        let many: String = (0..3000).map(|number| format!("k{number} = 1\n")).collect();
        std::fs::write(data.settings_file(), many + "name = \"Ann\"\n").unwrap();
        let (settings, mistakes) = data.settings();
        assert_eq!(mistakes.len(), MAX_MISTAKES);
        assert_eq!(settings.name.as_deref(), Some("Ann"));
    }

    #[test]
    fn change_leaves_all_else() {
        let (_folder, data) = open();
        let text = "# mine\nname = \"Ann\" # me\nletters = \"allways\"\nsound = true\n\n[keys]\nup = [\"w\"]\n";
        std::fs::write(data.settings_file(), text).unwrap();
        let (before, _) = data.settings();
        let after = Settings { ascii: Some(true), ..before.clone() };
        // An editor saves meanwhile.
        let text = text.replace("Ann", "Bea");
        std::fs::write(data.settings_file(), &text).unwrap();
        data.change_settings(&before, &after).unwrap();
        let new = std::fs::read_to_string(data.settings_file()).unwrap();
        assert_eq!(new, text.replace("sound = true\n", "sound = true\nascii = true\n"));
        data.change_settings(&after, &before).unwrap();
        assert_eq!(std::fs::read_to_string(data.settings_file()).unwrap(), text);
    }

    #[test]
    fn file_that_cannot_be_edited_is_left() {
        let (_folder, data) = open();
        let before = Settings::default();
        let after =
            Settings { solved: BTreeMap::from([("loot".to_owned(), BTreeSet::from([1]))]), ..Settings::default() };
        let long = "#".repeat(100_000);
        for text in ["name = \"Ann\nmotion", "solved = 3\n", "\0\0", long.as_str()] {
            std::fs::write(data.settings_file(), text).unwrap();
            let why = data.change_settings(&before, &after).unwrap_err().to_string();
            assert!(why.contains("settings.toml"), "{why}");
            assert_eq!(std::fs::read_to_string(data.settings_file()).unwrap(), text);
        }
    }

    #[cfg(unix)]
    #[test]
    fn link_and_mode_survive_a_change() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let (folder, data) = open();
        let (dotfiles, before) = (folder.path().join("dotfiles"), Settings::default());
        let after = Settings { ascii: Some(true), ..Settings::default() };
        std::fs::create_dir(&dotfiles).unwrap();
        let real = dotfiles.join("fairdeal.toml");
        // Through two links, the second one relative, to a file that is not there yet.
        symlink(dotfiles.join("link"), data.settings_file()).unwrap();
        symlink("fairdeal.toml", dotfiles.join("link")).unwrap();
        data.change_settings(&before, &after).unwrap();
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o644)).unwrap();
        data.change_settings(&after, &before).unwrap();
        assert!(!std::fs::read_to_string(&real).unwrap().contains("ascii"));
        assert!(data.settings_file().is_symlink());
        assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(std::fs::read_dir(&dotfiles).unwrap().count(), 2);
    }
}
