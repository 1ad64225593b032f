//! Edits of TOML files that a person writes too. An edit changes what the program has changed, and nothing else: comments,
//! order, unknown keys, and what an editor has written meanwhile stay.

use toml_edit::{Array, DocumentMut, InlineTable, Item, TableLike, Value};

/// A place in the file that holds another kind of value than the change needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' holds another kind of value")]
pub(super) struct Unfit(String);

/// Makes the changes that lead from `before` to `after` in a table of the file. Both are as the program writes them.
///
/// # Errors
/// [`Unfit`]; the table is then partly changed, and not to be written.
pub(super) fn apply(file: &mut dyn TableLike, before: &dyn TableLike, after: &dyn TableLike) -> Result<(), Unfit> {
    for (key, _) in before.iter().filter(|(key, _)| !after.contains_key(key)) {
        file.remove(key);
    }
    for (key, new) in after.iter() {
        let old = before.get(key);
        if old.is_some_and(|old| is_same_item(old, new)) {
            continue;
        }
        let Some(there) = file.get_mut(key) else {
            file.insert(key, fresh(new));
            continue;
        };
        if let Some(new) = new.as_table_like() {
            let there = there.as_table_like_mut().ok_or_else(|| Unfit(key.to_owned()))?;
            let none = InlineTable::new();
            apply(there, old.and_then(Item::as_table_like).unwrap_or(&none), new)?;
        } else if let (Some(there), Some(new)) = (there.as_array_mut(), new.as_array()) {
            let none = Array::new();
            apply_array(there, old.and_then(Item::as_array).unwrap_or(&none), new);
        } else if let (Some(there), Some(new)) = (there.as_value_mut(), new.as_value()) {
            // A comment behind the value stays.
            let decor = there.decor().clone();
            *there = new.clone();
            *there.decor_mut() = decor;
        } else {
            return Err(Unfit(key.to_owned()));
        }
    }
    Ok(())
}

/// Takes out and adds single elements. If nobody else has edited the array, it also gets the order of `after`.
fn apply_array(file: &mut Array, before: &Array, after: &Array) {
    let has = |array: &Array, value: &Value| array.iter().any(|other| is_same(other, value));
    let is_untouched = is_same_array(file, before);
    file.retain(|value| has(after, value) || !has(before, value));
    for new in after.iter().filter(|new| !has(before, new)) {
        if !has(file, new) {
            file.push(new.clone());
        }
    }
    if is_untouched && !is_same_array(file, after) {
        file.clear();
        file.extend(after.iter().cloned());
    }
}

/// A new entry as a person would write it: a table has a line for each of its keys.
fn fresh(item: &Item) -> Item {
    match item.clone().into_table() {
        Ok(table) => Item::Table(table),
        Err(item) => item,
    }
}

fn is_same_item(one: &Item, other: &Item) -> bool {
    match (one.as_table_like(), other.as_table_like()) {
        (Some(one), Some(other)) => is_same_table(one, other),
        _ => one
            .as_value()
            .zip(other.as_value())
            .is_some_and(|(one, other)| is_same(one, other)),
    }
}

/// Whether two values mean the same, however they are written.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => one.value() == other.value(),
        (Value::Integer(one), Value::Integer(other)) => one.value() == other.value(),
        (Value::Boolean(one), Value::Boolean(other)) => one.value() == other.value(),
        (Value::Array(one), Value::Array(other)) => is_same_array(one, other),
        (Value::InlineTable(one), Value::InlineTable(other)) => is_same_table(one, other),
        // The program writes neither fractions nor dates.
        _ => false,
    }
}

fn is_same_array(one: &Array, other: &Array) -> bool {
    one.len() == other.len() && one.iter().zip(other.iter()).all(|(one, other)| is_same(one, other))
}

fn is_same_table(one: &dyn TableLike, other: &dyn TableLike) -> bool {
    let in_other = |(key, item): (&str, &Item)| other.get(key).is_some_and(|there| is_same_item(item, there));
    one.len() == other.len() && one.iter().all(in_other)
}

/// The number of the line at this byte, from 1.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or("").matches('\n').count() + 1
}

/// The document in a file's text.
///
/// # Errors
/// The line and the mistake.
pub(super) fn document(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>().map_err(|error| {
        let line = line_at(text, error.span().map_or(0, |span| span.start));
        format!("line {line}: {}", error.message())
    })
}

/// The text of a document that replaces `old`, with its ends of lines and its byte order mark: Windows editors write both.
pub(super) fn text_of(document: &DocumentMut, old: &str) -> String {
    let mut text = document.to_string();
    if old.contains("\r\n") {
        text = text.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    if old.starts_with(MARK) && !text.starts_with(MARK) {
        text.insert(0, MARK);
    }
    text
}

/// The byte order mark.
const MARK: char = '\u{feff}';

#[cfg(test)]
mod tests {
    use super::*;

    /// The file after the change from `before` to `after`.
    fn edited(file: &str, before: &str, after: &str) -> Result<String, Unfit> {
        let mut document = file.parse::<DocumentMut>().unwrap();
        let [before, after] = [before, after].map(|text| text.parse::<DocumentMut>().unwrap());
        apply(document.as_table_mut(), before.as_table(), after.as_table())?;
        Ok(text_of(&document, file))
    }

    #[test]
    fn only_the_change_is_written() {
        let file = "# mine\nname = 'Ann' # me\nsound = true\n\n[keys] # wasd\nup = [\"w\"]\n";
        let before = "name = \"Ann\"\nmotion = true\nkeys.up = [\"w\"]\n";
        let after = before.replace("motion = true", "motion = false");
        let new = file.replace("sound = true\n", "sound = true\nmotion = false\n");
        assert_eq!(edited(file, before, &after).unwrap(), new);
        assert_eq!(edited(file, before, before).unwrap(), file);
        let renamed = edited(file, before, &before.replace("Ann", "Bea")).unwrap();
        assert_eq!(renamed, file.replace("'Ann'", "\"Bea\""));
        let nameless = edited(file, before, &before.replace("name = \"Ann\"\n", "")).unwrap();
        assert!(
            !nameless.contains("Ann") && nameless.contains("sound = true"),
            "{nameless}"
        );
    }

    #[test]
    fn edits_of_others_stay() {
        // An editor has changed the name and solved a puzzle meanwhile.
        let file = "name = \"Bea\"\n[solved]\nloot = [\n  1, # easy\n  9,\n]\n";
        let (before, after) = (
            "name = \"Ann\"\nsolved.loot = [1]",
            "name = \"Ann\"\nsolved.loot = [1, 2]\nsolved.nile = [1]",
        );
        let new = edited(file, before, after).unwrap();
        for part in ["name = \"Bea\"", "1, # easy", "9", "2", "nile = [1]"] {
            assert!(new.contains(part), "{part}: {new}");
        }
        let undone = edited(&new, after, before).unwrap();
        assert!(
            undone.contains('9') && !undone.contains('2') && !undone.contains("nile"),
            "{undone}"
        );
    }

    #[test]
    fn ends_of_lines_and_mark_stay() {
        let file = "\u{feff}# mine\r\nname = \"Ann\"\r\n\r\n[keys]\r\nup = [\"w\"]\r\n";
        let new = edited(file, "a = 1", "a = 2").unwrap();
        assert_eq!(new, file.replace("Ann\"\r\n", "Ann\"\r\na = 2\r\n"));
    }

    #[test]
    fn arrays_keep_the_order_of_the_program() {
        let (before, after) = ("a = [\"x\", \"y\"]\n", "a = [\"z\", \"x\"]\n");
        assert_eq!(edited(before, before, after).unwrap(), after);
    }

    #[test]
    fn every_way_to_write_a_table_is_edited() {
        let (before, after) = ("[keys]\n", "[keys]\nup = [\"w\"]\n");
        for (file, new) in [
            ("", "[keys]\nup = [\"w\"]\n"),
            ("keys.down = [\"s\"]\n", "keys.down = [\"s\"]\nkeys.up = [\"w\"]\n"),
            (
                "keys = { down = [\"s\"] }\n",
                "keys = { down = [\"s\"] , up = [\"w\"] }\n",
            ),
            ("[keys]\nup = [\"k\"] # vi\n", "[keys]\nup = [\"k\", \"w\"] # vi\n"),
        ] {
            let written = edited(file, before, after).unwrap();
            let blank = |text: &str| text.replace([' ', '\n'], "");
            assert_eq!(blank(&written), blank(new));
            written.parse::<DocumentMut>().unwrap();
        }
        for file in ["keys = 3\n", "keys = [1]\n", "[[keys]]\n"] {
            assert_eq!(edited(file, before, after), Err(Unfit("keys".to_owned())), "{file}");
        }
    }
}
