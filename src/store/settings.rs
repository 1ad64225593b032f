//! The player's settings: a file in the data directory that can be edited by hand.

use std::path::{Path, PathBuf};

use fairdeal_games::joined;
pub use fairdeal_ui::settings::Settings;

use super::{DataDir, DataView, StoreError, files};

/// The file's name in the data directory.
const FILE: &str = "settings.toml";
/// Maximum file size in bytes.
const MAX_FILE: u64 = 64 << 10;

/// Why settings cannot be read or saved.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file cannot be read or written.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The file's content is invalid.
    #[error("{path}, {why}\nCorrect or delete the file. Using defaults until then.", path = path.display())]
    Wrong {
        path: PathBuf,
        /// The line and the mistake.
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

    /// Reads the settings; the defaults if there is no file.
    ///
    /// # Errors
    /// [`SettingsError`], which names the line and the allowed values.
    pub fn settings(&self) -> Result<Settings, SettingsError> {
        let path = self.settings_file();
        let Some(text) = read_text(&path)? else {
            return Ok(Settings::default());
        };
        toml::from_str(&text).map_err(|error| {
            let why = mistake(&text, &error);
            SettingsError::Wrong { path, why }
        })
    }
}

/// Reads a small text file; `None` if there is no file.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, SettingsError> {
    let io = |source| StoreError::io("read", path, source);
    let wrong = |why: String| SettingsError::Wrong {
        path: path.to_owned(),
        why,
    };
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
fn mistake(text: &str, error: &toml::de::Error) -> String {
    let at = error.span().map_or(0, |span| span.start);
    let before = text.get(..at).unwrap_or("");
    let number = before.matches('\n').count() + 1;
    let line = text.lines().nth(number - 1).unwrap_or("").trim();
    let line: String = line.chars().filter(|c| !c.is_control()).take(60).collect();
    let message = error.message();
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

impl DataDir {
    /// Saves the settings, replacing the file.
    ///
    /// # Errors
    /// [`SettingsError`].
    pub fn save_settings(&self, settings: &Settings) -> Result<(), SettingsError> {
        let path = self.settings_file();
        let text = toml::to_string_pretty(settings).map_err(|error| SettingsError::Wrong {
            path: path.clone(),
            why: error.to_string(),
        })?;
        files::write_whole(&path, text.as_bytes())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use fairdeal_ui::appearance::{Letters, ThemeChoice};

    use super::*;

    #[test]
    fn settings_come_back_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(Some(folder.path())).unwrap();
        assert_eq!(data.settings().unwrap(), Settings::default());
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
        data.save_settings(&settings).unwrap();
        assert_eq!(data.settings().unwrap(), settings);
    }

    #[test]
    fn mistake_is_reported_with_line_and_choices() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(Some(folder.path())).unwrap();
        let told = |text: &str| {
            std::fs::write(data.settings_file(), text).unwrap();
            data.settings().unwrap_err().to_string()
        };
        let letters = told("ascii = true\nletters = \"never\"\n");
        for part in ["line 2", "never", "always", "Correct or delete the file"] {
            assert!(letters.contains(part), "{letters}");
        }
        let field = told("tehme = \"dark\"");
        assert!(
            field.contains("there is no setting 'tehme'") && field.contains("pyramids"),
            "{field}"
        );
        let flag = told("motion = 3");
        assert!(
            flag.contains("line 1 (motion = 3): the value must be true or false"),
            "{flag}"
        );
        let number = told("bot-delay = \"fast\"");
        assert!(number.contains("the value must be a whole number"), "{number}");
        assert!(told(&"#".repeat(100_000)).contains("larger than"));
        assert!(told(&"\0".repeat(100)).contains("line 1"));
        std::fs::write(data.settings_file(), [0xff; 100]).unwrap();
        let bytes = data.settings().unwrap_err().to_string();
        assert!(bytes.contains("utf-8"), "{bytes}");
        std::fs::remove_file(data.settings_file()).unwrap();
        std::fs::create_dir(data.settings_file()).unwrap();
        let folder = data.settings().unwrap_err().to_string();
        assert!(folder.contains("not a regular file"), "{folder}");
    }
}
