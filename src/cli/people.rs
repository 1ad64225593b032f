//! `fairdeal people`: the address book, as text or JSON lines, and its changes.

use fairdeal_session::people::{Book, Change, MarkKind, Person, games_in_words, readable, words_of};

use super::args::{Common, People, PeopleCommand};
use super::exit::{Exit, usage};
use super::output::{print, say};
use crate::events::{PersonLine, Version};
use crate::store::{DataView, PeopleError};

pub(super) fn people(common: &Common, people: People) -> anyhow::Result<Exit> {
    let data = DataView::of(common.data_dir.as_deref())?;
    let Some(command) = people.command else {
        return list(&data, people.json, common.draws_ascii(&data));
    };
    let (text, change) = match command {
        PeopleCommand::Name { key, name } => (key, Change::Name(name.unwrap_or_default())),
        PeopleCommand::Favourite { key, remove } => (key, Change::Favourite(!remove)),
        PeopleCommand::Block { key } => (key, Change::Blocked(true)),
        PeopleCommand::Unblock { key } => (key, Change::Blocked(false)),
        PeopleCommand::Forget { key } => (key, Change::Forget),
    };
    let before = data.people()?;
    let key = before.find(&text).map_err(usage)?;
    let short = key.short();
    let name = match before.get(&key).map(Person::readable).filter(|name| *name != short) {
        Some(name) => format!("{name} (key {short})"),
        None => format!("Key {short}"),
    };
    let book = data.change_people(|book| book.change(key, None, &change));
    let book = book.map_err(|error| match error {
        PeopleError::Change(error) => usage(error),
        error => error.into(),
    })?;
    let now = book.get(&key).and_then(|person| person.name.as_deref());
    say(done(&name, &change, now))?;
    Ok(Exit::Done)
}

/// The change in words; `now` is the player's name for the key.
fn done(key: &str, change: &Change, now: Option<&str>) -> String {
    match change {
        Change::Name(_) => match now {
            Some(name) => format!("Your name for {key} is {name}."),
            None => format!("You have no name for {key}."),
        },
        Change::Favourite(true) => format!("{key} is a favourite."),
        Change::Favourite(false) => format!("{key} is not a favourite."),
        Change::Blocked(true) => format!("{key} is blocked."),
        Change::Blocked(false) => format!("{key} is not blocked."),
        Change::Forget => format!("{key} is forgotten."),
    }
}

fn list(data: &DataView, json: bool, ascii: bool) -> anyhow::Result<Exit> {
    let book = data.people()?;
    let text = if json {
        let lines = book.listed().into_iter().map(|person| {
            let line = serde_json::to_string(&line(person))?;
            Ok(format!("{line}\n"))
        });
        lines.collect::<serde_json::Result<String>>()?
    } else if book.people().is_empty() {
        "Nobody yet: the keys of people you play with appear here.\n".to_owned()
    } else {
        book.listed().into_iter().map(|person| in_words(&book, person, ascii)).collect()
    };
    print(text.as_bytes())?;
    Ok(Exit::Done)
}

/// Three lines: the name and marks, the key and its words, and the games.
fn in_words(book: &Book, person: &Person, ascii: bool) -> String {
    let announced = person.announced.first().map(String::as_str).unwrap_or_default();
    let mark = book.mark(&person.key, announced);
    let (sign, in_ascii) = mark.sign();
    let sign = if ascii { in_ascii } else { sign };
    let marked = match mark.kind() {
        MarkKind::Blocked | MarkKind::Favourite => format!("{sign} {}: ", mark.short()),
        MarkKind::OtherKey | MarkKind::Known | MarkKind::New => String::new(),
    };
    let games = match person.games {
        0 => "no game yet".to_owned(),
        games => games_in_words(games),
    };
    let last = person.last.as_ref().map_or_else(String::new, |day| format!(", the last on {day}"));
    let bot = if person.bot { "; a bot played last time" } else { "" };
    let also = match (&person.name, announced) {
        (Some(_), announced) if !announced.is_empty() => format!("; announced \"{announced}\""),
        _ => String::new(),
    };
    // The key stands below.
    let name = readable(person.name.as_deref(), Some(announced)).unwrap_or_else(|| "no name".to_owned());
    format!("{marked}{name}\n    {}  {}\n    {games}{last}{bot}{also}\n", person.key.short(), words_of(person.key))
}

fn line(person: &Person) -> PersonLine {
    PersonLine {
        v: Version,
        key: person.key.to_string(),
        words: words_of(person.key),
        name: person.name.clone(),
        announced: person.announced.clone(),
        games: person.games,
        first: person.first.clone(),
        last: person.last.clone(),
        bot: person.bot,
        favourite: person.favourite,
        blocked: person.blocked,
    }
}
