//! The log of a table: what happened, what the table says, and chat.
//!
//! The actions of a seat in one turn are one entry: "Ada draws a card, discards the lady."

use fairdeal_protocol::seat::Seat;
use ratatui::text::{Line, Span};

/// The number of entries that are kept.
pub(super) const LINES: usize = 500;

/// An entry of so many bytes is followed by a new one.
const LONG: usize = 400;

/// The source of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// Events of the game.
    Game,
    /// Events of the table: connections, departures.
    Table,
    Warning,
    /// A chat message.
    Chat,
}

/// A line of the game's log: an event in words, and as a picture if it has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) text: String,
    /// `None` if words say it best.
    pub(super) sketch: Option<Line<'static>>,
}

/// One entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) voice: Voice,
    pub(super) text: String,
    /// The same as pictures, and words for what has none.
    pub(super) sketch: Line<'static>,
    /// Whether there is a picture among them.
    pub(super) is_drawn: bool,
    /// The seat that the entry is about, if it is about one.
    pub(super) actor: Option<Seat>,
    /// Its number among all entries.
    number: u64,
}

/// Entries in order, of which the last is shown at the bottom.
#[derive(Debug, Default)]
pub(super) struct Log {
    entries: Vec<Entry>,
    /// The players' names, in seat order, to know whom an entry is about.
    names: Vec<String>,
    /// The player's own seat.
    own: Option<Seat>,
    /// The number of the next entry.
    next: u64,
    /// How many entries it is scrolled back.
    back: usize,
}

impl Log {
    /// Says who sits at the table.
    pub(super) fn seat(&mut self, names: &[String], own: Option<Seat>) {
        if self.names != names {
            self.names = names.to_vec();
        }
        self.own = own;
    }

    /// Drops what was said before the game. Chat stays.
    pub(super) fn begin(&mut self) {
        self.entries.retain(|entry| entry.voice == Voice::Chat);
    }

    /// The seat that a line begins with.
    fn actor(&self, line: &str) -> Option<Seat> {
        let named = Seat::first(self.names.len())
            .zip(&self.names)
            .filter(|(_, name)| line.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(' ')));
        named.max_by_key(|(_, name)| name.len()).map(|(seat, _)| seat)
    }

    /// Adds a line. A log that is scrolled back stays where it is.
    pub(super) fn say(&mut self, voice: Voice, text: String) {
        self.add(voice, Told { text, ..Told::default() });
    }

    /// Adds an event of the game.
    pub(super) fn tell(&mut self, told: Told) {
        self.add(Voice::Game, told);
    }

    /// Adds a line, to the entry of the same seat's turn if there is one.
    fn add(&mut self, voice: Voice, Told { text: line, sketch }: Told) {
        let actor = (voice == Voice::Game).then(|| self.actor(&line)).flatten();
        // Alone, every line would belong to one endless turn.
        if let (Some(seat), Some(last)) = (actor.filter(|_| self.names.len() > 1), self.entries.last_mut())
            && last.actor == Some(seat)
            && last.text.len() < LONG
        {
            let name = self.names.get(seat.index()).map_or(0, String::len);
            let rest = line.get(name..).unwrap_or_default().trim_start();
            last.is_drawn |= sketch.is_some();
            let sketch = sketch.unwrap_or_else(|| Line::raw(rest.trim_end_matches('.').to_owned()));
            if last.sketch.width() > 0 && sketch.width() > 0 {
                last.sketch.push_span(Span::raw(" "));
            }
            last.sketch.extend(sketch);
            last.text = format!("{}, {rest}", last.text.trim_end_matches('.'));
            return;
        }
        let is_drawn = sketch.is_some();
        let name = actor.and_then(|seat| self.names.get(seat.index())).map_or(0, String::len);
        let words = || line.get(name..).unwrap_or_default().trim().trim_end_matches('.').to_owned();
        let sketch = sketch.unwrap_or_else(|| Line::raw(words()));
        self.entries.push(Entry { voice, text: line, sketch, is_drawn, actor, number: self.next });
        self.next += 1;
        if self.entries.len() > LINES {
            self.entries.remove(0);
        }
        if self.back > 0 {
            self.back += 1;
        }
    }

    /// Replaces the rest of the entry that begins so, or adds one: a count that grows takes one line.
    pub(super) fn replace(&mut self, voice: Voice, begin: &str, rest: &str) {
        let text = format!("{begin}{rest}");
        match self.entries.iter_mut().rev().find(|entry| entry.voice == voice && entry.text.starts_with(begin)) {
            Some(entry) => entry.text = text,
            None => self.say(voice, text),
        }
    }

    /// Scrolls back by so many entries; a negative number scrolls ahead.
    pub(super) fn scroll(&mut self, by: isize) {
        let most = self.entries.len().saturating_sub(1);
        self.back = self.back.saturating_add_signed(by).min(most);
    }

    pub(super) fn is_scrolled_back(&self) -> bool {
        self.back > 0
    }

    /// The player's own seat.
    pub(super) fn own(&self) -> Option<Seat> {
        self.own
    }

    /// All entries.
    pub(super) fn all(&self) -> &[Entry] {
        &self.entries
    }

    /// The entries that fit into so many rows, at one row each.
    pub(super) fn visible(&self, rows: usize) -> &[Entry] {
        let until = self.entries.len() - self.back.min(self.entries.len());
        self.entries.get(until.saturating_sub(rows)..until).unwrap_or(&[])
    }

    /// Whether an entry is the first after the player's own last turn.
    pub(super) fn is_first_since(&self, entry: &Entry) -> bool {
        let own = self.entries.iter().rev().find(|last| last.actor.is_some() && last.actor == self.own);
        own.is_some_and(|own| entry.number == own.number + 1)
    }

    /// The name of the seat that an entry is about, and what is told of it.
    pub(super) fn parts<'a>(&'a self, entry: &'a Entry) -> Option<(&'a str, &'a str)> {
        let name = self.names.get(entry.actor?.index())?;
        Some((name, entry.text.strip_prefix(name.as_str())?.trim_start()))
    }

    /// The last turn of a seat, without its name.
    pub(super) fn last_of(&self, seat: Seat) -> Option<String> {
        let last = self.entries.iter().rev().find(|entry| entry.actor == Some(seat))?;
        let (_, told) = self.parts(last)?;
        Some(told.trim_end_matches('.').to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_game(names: &[String], lines: &[&str]) -> Log {
        let mut log = Log::default();
        log.seat(names, None);
        for line in lines {
            log.say(Voice::Game, (*line).to_owned());
        }
        log
    }

    #[test]
    fn a_turn_is_one_sentence() {
        let names = ["Ada".to_owned(), "Ada Two".to_owned()];
        let lines = ["Ada draws a card.", "Ada drops the lady.", "Ada Two draws a card.", "Rain."];
        let mut log = of_game(&names, &lines);
        let texts: Vec<&str> = log.all().iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!(texts, ["Ada draws a card, drops the lady.", "Ada Two draws a card.", "Rain."]);
        log.seat(&names, Seat::new(0));
        let since: Vec<bool> = log.all().iter().map(|entry| log.is_first_since(entry)).collect();
        assert_eq!(since, [false, true, false]);
        assert_eq!(log.last_of(Seat::FIRST).as_deref(), Some("draws a card, drops the lady"));
    }

    #[test]
    fn pictures_of_a_turn_stand_side_by_side() {
        let names = ["Ada".to_owned(), "Ben".to_owned()];
        let mut log = of_game(&names, &[]);
        for (text, sketch) in [("Ada draws a card.", "+##"), ("Ada waits.", ""), ("Ada drops 5.", "-5"), ("Rain.", "")]
        {
            let sketch = (!sketch.is_empty()).then(|| Line::raw(sketch));
            log.tell(Told { text: text.to_owned(), sketch });
        }
        let [turn, rain] = log.all() else { panic!("{:?}", log.all()) };
        assert_eq!((turn.sketch.to_string().as_str(), turn.is_drawn, rain.is_drawn), ("+## waits -5", true, false));
        assert_eq!(log.parts(turn), Some(("Ada", "draws a card, waits, drops 5.")));
        assert_eq!(log.parts(rain), None);
    }

    #[test]
    fn growing_count_takes_one_line() {
        let mut log = Log::default();
        for count in ["1 line", "2 lines"] {
            log.replace(Voice::Table, "Ben is blocked: ", count);
            log.say(Voice::Chat, "Ada: Ben is blocked: ".to_owned());
        }
        let texts: Vec<&str> = log.all().iter().map(|entry| entry.text.as_str()).collect();
        let said = "Ada: Ben is blocked: ";
        assert_eq!(texts, ["Ben is blocked: 2 lines", said, said]);
    }

    #[test]
    fn alone_every_line_stands_by_itself() {
        let names = ["Ada".to_owned()];
        assert_eq!(of_game(&names, &["Ada turns.", "Ada plays."]).all().len(), 2);
    }
}
