//! The player's own themes: a TOML file each, in the folder `themes` of the data directory.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fairdeal_ui::appearance::ThemeChoice;
use fairdeal_ui::theme::Palette;

use super::settings::read_text;
use super::{DataView, SettingsError, StoreError};

/// The folder's name in the data directory.
const FOLDER: &str = "themes";
/// The most files to read.
const MOST: usize = 100;
/// The longest name, in bytes.
const MAX_NAME: usize = 24;

impl DataView {
    /// Reads the player's themes by name, and the mistakes in them. `chosen` is a mistake too if it is not there.
    pub fn own_themes(&self, chosen: &ThemeChoice) -> (BTreeMap<String, Palette>, Vec<SettingsError>) {
        let folder = self.path().join(FOLDER);
        let (mut themes, mut mistakes) = (BTreeMap::new(), Vec::new());
        let files = theme_files(&folder).unwrap_or_else(|why| {
            mistakes.push(why);
            Vec::new()
        });
        let mut is_wrong = false;
        for path in files {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            match read_theme(&path, &name) {
                Ok(palette) => {
                    themes.insert(name, palette);
                }
                Err(why) => {
                    is_wrong |= name == chosen.name();
                    mistakes.push(why);
                }
            }
        }
        if let ThemeChoice::Own(name) = chosen
            && !is_wrong
            && !themes.contains_key(name)
        {
            let (name, path) = (name.clone(), folder.join(name).with_extension("toml"));
            mistakes.push(SettingsError::NoTheme { name, path });
        }
        (themes, mistakes)
    }
}

/// The theme files of a folder, sorted; none if there is no folder.
fn theme_files(folder: &Path) -> Result<Vec<PathBuf>, SettingsError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io("read", folder, error).into()),
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_theme = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "toml");
    let mut paths: Vec<PathBuf> = paths.filter(is_theme).take(MOST).collect();
    paths.sort();
    Ok(paths)
}

fn read_theme(path: &Path, name: &str) -> Result<Palette, SettingsError> {
    let wrong = |why: String| SettingsError::Wrong { path: path.to_owned(), why };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.len() > MAX_NAME || !name.chars().all(is_plain) {
        let why = format!("the name may have up to {MAX_NAME} letters a to z, digits, '-' and '_'.");
        return Err(wrong(why));
    }
    if !matches!(ThemeChoice::from(name.to_owned()), ThemeChoice::Own(_)) {
        return Err(wrong(format!("'{name}' is a built-in theme; rename the file.")));
    }
    let text = read_text(path)?.unwrap_or_default();
    Palette::parse(&text).map_err(|why| wrong(format!("{why}.")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::DataDir;

    #[test]
    fn own_themes_are_read_and_mistakes_told() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(Some(folder.path())).unwrap();
        let own = |name: &str| ThemeChoice::Own(name.to_owned());
        assert_eq!(data.own_themes(&ThemeChoice::Auto).1.len(), 0);
        let themes = folder.path().join(FOLDER);
        std::fs::create_dir(&themes).unwrap();
        let write = |name: &str, text: &str| std::fs::write(themes.join(name), text).unwrap();
        write("dusk.toml", "base = \"light\"\nground = \"#102030\"");
        let manual = include_str!("../../docs/settings.md");
        let example = manual.split("```").find_map(|block| block.strip_prefix("toml\n"));
        write("example.toml", example.unwrap());
        write("notes.txt", "not a theme");
        let (read, mistakes) = data.own_themes(&own("dusk"));
        assert_eq!((read.contains_key("dusk"), read.len(), mistakes.len()), (true, 2, 0));

        write("wrong.toml", "ground = \"blue\"");
        write("dark.toml", "");
        write("no name.toml", "");
        let (read, mistakes) = data.own_themes(&own("wrong"));
        assert_eq!((read.len(), mistakes.len()), (2, 3));
        let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        for (told, parts) in told.iter().zip([
            ["dark.toml", "'dark' is a built-in theme; rename the file"],
            ["no name.toml", "letters a to z"],
            ["wrong.toml", "ground must be a colour such as \"#14161b\""],
        ]) {
            assert!(parts.iter().all(|part| told.contains(part)), "{told}");
        }

        let told = data.own_themes(&own("drak")).1.pop().unwrap().to_string();
        for part in ["there is no theme 'drak'", "drak.toml", "high-contrast"] {
            assert!(told.contains(part), "{told}");
        }
    }
}
