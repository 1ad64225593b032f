//! Edits of TOML files that a person writes too. An edit changes what the program has changed, and nothing else: comments,
//! order, unknown keys, and what an editor has written meanwhile stay.

use std::collections::{HashMap, VecDeque};

use toml_edit::{Array, ArrayOfTables, Decor, DocumentMut, InlineTable, Item, RawString, Table, TableLike, Value};

/// A place in the file that holds another kind of value than the change needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' holds another kind of value")]
pub(super) struct Unfit(String);

/// Makes the changes that lead from `before` to `after` in a file. Both are as the program writes them.
///
/// # Errors
/// [`Unfit`]; the document is then partly changed, and not to be written.
pub(super) fn apply(file: &mut DocumentMut, before: &Table, after: &Table) -> Result<(), Unfit> {
    let homeless = change(file.as_table_mut(), before, after, false)?;
    if !homeless.is_empty() {
        let decor = file.decor_mut();
        decor.set_prefix(text(decor.prefix()).to_owned() + &homeless);
    }
    Ok(())
}

/// The same for a table that has a heading of its own.
///
/// # Errors
/// [`Unfit`]; the table is then partly changed, and not to be written.
pub(super) fn apply_to_table(table: &mut Table, before: &Table, after: &Table) -> Result<(), Unfit> {
    let homeless = change(table, before, after, false)?;
    if !homeless.is_empty() {
        append(table.decor_mut(), &homeless);
    }
    Ok(())
}

/// Changes a table. Returns comments of removed keys that no other key of the table can take.
fn change(
    file: &mut dyn TableLike,
    before: &dyn TableLike,
    after: &dyn TableLike,
    is_inline: bool,
) -> Result<String, Unfit> {
    let mut homeless = String::new();
    for (key, _) in before.iter().filter(|(key, _)| !after.contains_key(key)) {
        let kept = comments_of(file, key);
        if !place(file, key, &kept, is_inline) {
            homeless += &kept;
        }
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
            let is_inline = there.is_inline_table();
            let table = there.as_table_like_mut().ok_or_else(|| Unfit(key.to_owned()))?;
            let none = InlineTable::new();
            let left = change(table, old.and_then(Item::as_table_like).unwrap_or(&none), new, is_inline)?;
            match there {
                _ if left.is_empty() => {}
                Item::Table(table) if !table.is_dotted() => append(table.decor_mut(), &left),
                Item::Value(Value::InlineTable(table)) => {
                    let trailing = format!("\n{left}{}", text(Some(table.trailing())));
                    table.set_trailing(trailing);
                }
                _ => {
                    if !place(file, key, &left, false) {
                        homeless += &left;
                    }
                }
            }
        } else if let (Some(there), Some(new)) = (there.as_array_mut(), new.as_array()) {
            let none = Array::new();
            apply_array(there, old.and_then(Item::as_array).unwrap_or(&none), new);
        } else if let (Some(there), Some(new)) = (there.as_value_mut(), new.as_value()) {
            replace(there, new);
        } else {
            return Err(Unfit(key.to_owned()));
        }
    }
    Ok(homeless)
}

/// Puts another value in the place of one. A comment behind it stays.
fn replace(there: &mut Value, new: &Value) {
    let decor = there.decor().clone();
    *there = new.clone();
    *there.decor_mut() = decor;
}

/// Takes out and adds single elements. If nobody else has edited the array, it also gets the order of `after`.
fn apply_array(file: &mut Array, before: &Array, after: &Array) {
    let has = |array: &Array, value: &Value| array.iter().any(|other| is_same(other, value));
    let is_untouched = is_same_array(file, before);
    let is_removed = |value: &Value| has(before, value) && !has(after, value);
    let mut kept = String::new();
    for value in file.iter_mut() {
        if is_removed(value) {
            collect(value, &mut kept);
        } else if !kept.is_empty() {
            let prefix = format!(" {kept}{}", text(value.decor().prefix()));
            value.decor_mut().set_prefix(prefix);
            kept.clear();
        }
    }
    if !kept.is_empty() {
        let trailing = format!(" {kept}{}", text(Some(file.trailing())));
        file.set_trailing(trailing);
    }
    file.retain(|value| !is_removed(value));
    for new in after.iter().filter(|new| !has(before, new)) {
        if !has(file, new) {
            file.push(new.clone());
        }
    }
    if is_untouched && !is_same_array(file, after) {
        let mut comments = String::new();
        file.iter().for_each(|value| collect(value, &mut comments));
        add_lines(Some(file.trailing()), &mut comments);
        if comments.is_empty() {
            file.clear();
        }
        // Comments keep their place.
        for (there, new) in file.iter_mut().zip(after.iter()) {
            replace(there, new);
        }
        let missing = after.iter().skip(file.len()).cloned();
        file.extend(missing);
        while file.len() > after.len() {
            file.remove(file.len() - 1);
        }
    }
}

fn text(raw: Option<&RawString>) -> &str {
    raw.and_then(RawString::as_str).unwrap_or("")
}

/// The lines of comments above a key, in its value and behind it. Blank lines and comments further above come along.
fn comments_of(table: &dyn TableLike, key: &str) -> String {
    let mut kept = String::new();
    let Some((key, item)) = table.get_key_value(key) else {
        return kept;
    };
    let above = text(key.leaf_decor().prefix());
    if above.contains('#') {
        kept += above.trim_end_matches([' ', '\t']);
    }
    match item {
        Item::Value(value) => collect(value, &mut kept),
        Item::Table(table) => {
            add_lines(table.decor().prefix(), &mut kept);
            add_lines(table.decor().suffix(), &mut kept);
            collect_table(table, &mut kept);
        }
        Item::None | Item::ArrayOfTables(_) => {}
    }
    kept
}

/// Adds the comments in and around a value.
fn collect(value: &Value, kept: &mut String) {
    add_lines(value.decor().prefix(), kept);
    match value {
        Value::Array(array) => {
            array.iter().for_each(|value| collect(value, kept));
            add_lines(Some(array.trailing()), kept);
        }
        Value::InlineTable(table) => {
            collect_table(table, kept);
            add_lines(Some(table.trailing()), kept);
        }
        _ => {}
    }
    add_lines(value.decor().suffix(), kept);
}

fn collect_table(table: &dyn TableLike, kept: &mut String) {
    for (key, _) in table.iter() {
        *kept += &comments_of(table, key);
    }
}

fn add_lines(raw: Option<&RawString>, kept: &mut String) {
    for line in text(raw).lines().filter(|line| !line.trim().is_empty()) {
        kept.push_str(line.trim());
        kept.push('\n');
    }
}

/// Puts comments above the key that follows this one in the text, or below the one before. Returns whether there is one.
fn place(file: &mut dyn TableLike, key: &str, comments: &str, is_inline: bool) -> bool {
    let names: Vec<String> = file.iter().map(|(name, _)| name.to_owned()).collect();
    let (above, below) = match names.iter().position(|name| name == key) {
        Some(at) => (names.get(..at).unwrap_or(&[]), names.get(at + 1..).unwrap_or(&[])),
        None => (&[][..], &[][..]),
    };
    comments.is_empty()
        || below.iter().any(|name| put_above(file, name, comments))
        || above.iter().rev().any(|name| put_below(file, name, comments, is_inline))
}

/// Puts comments above a key. A table with dots has no line of its own: its first key has.
fn put_above(file: &mut dyn TableLike, name: &str, comments: &str) -> bool {
    match file.get_key_value_mut(name) {
        Some((mut key, Item::Value(_))) => {
            let decor = key.leaf_decor_mut();
            decor.set_prefix(comments.to_owned() + text(decor.prefix()));
            true
        }
        Some((_, Item::Table(table))) if table.is_dotted() => {
            let names: Vec<String> = table.iter().map(|(name, _)| name.to_owned()).collect();
            names.iter().any(|name| put_above(table, name, comments))
        }
        _ => false,
    }
}

/// Puts comments below a key.
fn put_below(file: &mut dyn TableLike, name: &str, comments: &str, is_inline: bool) -> bool {
    match file.get_mut(name) {
        Some(Item::Value(value)) => {
            append(value.decor_mut(), comments);
            if is_inline {
                let suffix = format!("{}\n", text(value.decor().suffix()));
                value.decor_mut().set_suffix(suffix);
            }
            true
        }
        Some(Item::Table(table)) if table.is_dotted() => {
            let names: Vec<String> = table.iter().map(|(name, _)| name.to_owned()).collect();
            names.iter().rev().any(|name| put_below(table, name, comments, is_inline))
        }
        _ => false,
    }
}

/// Adds lines of comments behind a line. Its end follows.
fn append(decor: &mut Decor, comments: &str) {
    let suffix = format!("{}\n{}", text(decor.suffix()).trim_end(), comments.trim_end());
    decor.set_suffix(suffix);
}

/// Hands the comments above tables that are to be removed on to the next one that stays, unless they stand directly above
/// the heading: those are about the table. Returns what none can take.
pub(super) fn keep_comments(tables: &mut ArrayOfTables, is_removed: impl Fn(&Table) -> bool) -> String {
    let mut kept = String::new();
    for table in tables.iter_mut() {
        let above = text(table.decor().prefix());
        if is_removed(table) {
            let others = above.replace("\r\n", "\n");
            if let Some((others, _)) = others.rsplit_once("\n\n").filter(|(others, _)| others.contains('#')) {
                kept.push_str(others);
                kept.push('\n');
            }
        } else if !kept.is_empty() {
            let above = kept + above;
            table.decor_mut().set_prefix(above);
            kept = String::new();
        }
    }
    kept
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
        _ => one.as_value().zip(other.as_value()).is_some_and(|(one, other)| is_same(one, other)),
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

/// The text of a document that replaces `old`, with its byte order mark and its ends of lines: Windows editors write both.
/// A line that was there keeps its end. A new one gets the end that most lines have.
pub(super) fn text_of(document: &DocumentMut, old: &str) -> String {
    let mut new = document.to_string();
    if old.contains("\r\n") {
        let mut ends: HashMap<&str, VecDeque<bool>> = HashMap::new();
        let (mut windows, mut all) = (0, 0);
        for line in old.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            let bare = line.strip_suffix('\r').unwrap_or(line);
            let is_windows = bare.len() < line.len();
            ends.entry(bare).or_default().push_back(is_windows);
            all += 1;
            windows += usize::from(is_windows);
        }
        let mut text = String::with_capacity(new.len() + all);
        for line in new.split_inclusive('\n') {
            let Some(line) = line.strip_suffix('\n') else {
                text.push_str(line);
                continue;
            };
            let line = line.strip_suffix('\r').unwrap_or(line);
            let end = ends.get_mut(line).and_then(VecDeque::pop_front);
            text.push_str(line);
            text.push_str(if end.unwrap_or(2 * windows > all) { "\r\n" } else { "\n" });
        }
        new = text;
    }
    if old.starts_with(MARK) && !new.starts_with(MARK) {
        new.insert(0, MARK);
    }
    new
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
        apply(&mut document, before.as_table(), after.as_table())?;
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
        assert!(!nameless.contains("Ann") && nameless.contains("sound = true"), "{nameless}");
    }

    #[test]
    fn edits_of_others_stay() {
        // An editor has changed the name and solved a puzzle meanwhile.
        let file = "name = \"Bea\"\n[solved]\nloot = [\n  1, # easy\n  9,\n]\n";
        let (before, after) =
            ("name = \"Ann\"\nsolved.loot = [1]", "name = \"Ann\"\nsolved.loot = [1, 2]\nsolved.nile = [1]");
        let new = edited(file, before, after).unwrap();
        for part in ["name = \"Bea\"", "1, # easy", "9", "2", "nile = [1]"] {
            assert!(new.contains(part), "{part}: {new}");
        }
        let undone = edited(&new, after, before).unwrap();
        assert!(undone.contains('9') && !undone.contains('2') && !undone.contains("nile"), "{undone}");
    }

    #[test]
    fn ends_of_lines_and_mark_stay() {
        let file = "\u{feff}# mine\r\nname = \"Ann\"\r\n\r\n[keys]\r\nup = [\"w\"]\r\n";
        let new = edited(file, "a = 1", "a = 2").unwrap();
        assert_eq!(new, file.replace("Ann\"\r\n", "Ann\"\r\na = 2\r\n"));
    }

    #[test]
    fn comments_of_removed_keys_stay() {
        for (file, before, new) in [
            (
                "# mine\nname = 'Ann' # me\n\n# loud\nsound = true\n",
                "name = \"Ann\"\n",
                "# mine\n# me\n\n# loud\nsound = true\n",
            ),
            (
                "sound = true # loud\n\n# mine\nname = 'Ann' # me\n\n[keys]\nup = []\n",
                "name = \"Ann\"\n",
                "sound = true # loud\n\n# mine\n# me\n\n[keys]\nup = []\n",
            ),
            (
                "# mine\nname = 'Ann'\n# keys\n[keys]\nup = []\n",
                "name = \"Ann\"\n",
                "# mine\n# keys\n[keys]\nup = []\n",
            ),
            (
                "[keys] # wasd\n# north\nup = [\"w\", # one\n \"k\"] # two\n# end\n",
                "[keys]\nup = []\n",
                "[keys] # wasd\n# north\n# one\n# two\n# end\n",
            ),
            ("# north\nkeys.up = []\nsound = true\n", "keys.up = []\n", "# north\nsound = true\n"),
            (
                "sound = true\n# all\n[keys]\n# north\nup = []\n",
                "keys.up = []\n",
                "sound = true\n# all\n[keys]\n# north\n",
            ),
            ("solved = [\n  1, # easy\n  2, # hard\n]\n", "solved = [1]\n", "solved = [ # easy\n  2, # hard\n]\n"),
        ] {
            let after = match before.trim_end().split_once('\n') {
                _ if before.starts_with("solved") => "solved = []\n",
                Some((heading, _)) => heading,
                None if before.starts_with("keys.") => "[keys]\n",
                None => "",
            };
            let edited = edited(file, before, after).unwrap();
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&edited), words(new), "{edited}");
            edited.parse::<DocumentMut>().unwrap();
            for comment in file.lines().filter_map(|line| line.split_once('#')) {
                assert!(edited.contains(comment.1), "{comment:?}: {edited}");
            }
        }
    }

    #[test]
    fn arrays_keep_their_comments_in_any_order() {
        let (before, after) = ("a = [\"x\", \"y\"]\n", "a = [\"z\", \"x\"]\n");
        let file = "a = [\n  \"x\", # one\n  \"y\", # two\n]\n";
        let new = edited(file, before, after).unwrap();
        assert!(new.contains("# one") && new.contains("# two"), "{new}");
        assert_eq!(edited(&new, after, after).unwrap(), new);
        let values = new.parse::<DocumentMut>().unwrap();
        let values = values["a"].as_array().unwrap().iter().map(|value| value.as_str().unwrap());
        assert_eq!(values.collect::<Vec<_>>(), ["z", "x"]);
    }

    #[test]
    fn each_line_keeps_its_end() {
        let file = "# mine\nname = \"Ann\"\r\nsound = true\n[keys]\n";
        let new = edited(file, "a = 1", "a = 2").unwrap();
        assert_eq!(new, file.replace("true\n", "true\na = 2\n"), "most lines have no CR");
        let file = "# mine\r\nname = \"Ann\"\nsound = true\r\n";
        let new = edited(file, "sound = true", "sound = false").unwrap();
        assert_eq!(new, file.replace("true", "false"));
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
            ("keys = { down = [\"s\"] }\n", "keys = { down = [\"s\"] , up = [\"w\"] }\n"),
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
