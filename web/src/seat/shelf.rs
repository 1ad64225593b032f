//! The browser's memory of one table: the key that sits there, the journal and the promises. It is in the browser's
//! database before anything that is signed leaves.
//!
//! Keys of the database begin with the number of the lobby:
//!
//! ```text
//! LOBBY/key                          the secret key of this seat
//! LOBBY/promise/TABLE/SEAT           a promise to sit there
//! LOBBY/journal/TABLE/SEAT/0header   the header of the journal
//! LOBBY/journal/TABLE/SEAT/NUMBER    a record; numbers have eight digits
//! LOBBY/journal/TABLE/SEAT/ended     the mark of its end
//! ```
//!
//! Values are base64. All of a table is read when the page begins, and held here: the database is only written.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use data_encoding::{BASE64, HEXLOWER};
use ed25519_dalek::SigningKey;
use fairdeal_peers::ticket::Ticket;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_session::header::SavedSeat;
use fairdeal_session::io::{Closed, Journal, SavedGame, Store, StoreFault, StoreId, Stored};
use fairdeal_session::seat_file::SeatFile;
use fairdeal_session::solved::could_have_sealed;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use zeroize::Zeroizing;

use crate::message::StoreOrder;

/// A seat at a table, as the database names it: `TABLE/SEAT`.
type Place = String;

/// A table on the shelf.
pub(super) struct Shelf {
    /// The beginning of all keys; `None` for a watcher, of whom nothing is kept.
    prefix: Option<String>,
    key: SigningKey,
    /// Whether the key is to be written along with the next order.
    key_is_new: bool,
    journals: BTreeMap<Place, Book>,
    promises: BTreeSet<Place>,
    /// The journal that the session writes to.
    open: Option<Place>,
    /// The game that has ended, under its file name.
    transcript: Option<(PathBuf, Arc<Transcript>)>,
    /// The number of the newest order.
    newest: u64,
    /// The orders that the session has no answer to, in their order: it takes the answers in that order alone.
    waiting: VecDeque<Waiting>,
    orders: Vec<StoreOrder>,
}

/// An order that the session has no answer to.
struct Waiting {
    order: StoreId,
    state: State,
}

enum State {
    /// The database is writing, under this number.
    Writing {
        number: u64,
        /// The answer once it is done.
        answer: Stored,
        /// Whether the key is written along.
        has_key: bool,
        undo: Undo,
    },
    Answered(Result<Stored, StoreFault>),
}

/// The way back, if the database has not carried out an order: the session orders it again.
enum Undo {
    Nothing,
    /// The promise was not there before.
    Promise(Place),
    /// The journal was not there before; whether there was a promise.
    Begin(Place, bool),
    /// The open journal had so many records.
    Append(usize),
}

/// A journal.
#[derive(Default)]
struct Book {
    header: Zeroizing<Vec<u8>>,
    records: Vec<Zeroizing<Vec<u8>>>,
    ended: bool,
}

fn place(table: Hash32, seat: Seat) -> Place {
    format!("{table}/{}", seat.index())
}

fn encoded(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

fn decoded(text: &str) -> Zeroizing<Vec<u8>> {
    BASE64.decode(text.as_bytes()).unwrap_or_default().into()
}

impl Shelf {
    /// All that is kept of a lobby's table; a new key if nothing is.
    pub(super) fn of(lobby: [u8; 8], kept: &BTreeMap<String, String>, first: u64, rng: &mut ChaCha20Rng) -> Self {
        let prefix = HEXLOWER.encode(&lobby);
        let mut secret = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut *secret);
        let mut shelf = Self::empty(Some(prefix.clone()), SigningKey::from_bytes(&secret), first);
        // Sorted, so that a header and the records come in their order.
        for (key, value) in kept {
            let Some(key) = key.strip_prefix(&prefix).and_then(|key| key.strip_prefix('/')) else { continue };
            let parts: Vec<&str> = key.split('/').collect();
            match parts.as_slice() {
                ["key"] => {
                    if let Ok(secret) = decoded(value).as_slice().try_into() {
                        (shelf.key, shelf.key_is_new) = (SigningKey::from_bytes(secret), false);
                    }
                }
                ["promise", table, seat] => {
                    shelf.promises.insert(format!("{table}/{seat}"));
                }
                ["journal", table, seat, what] => {
                    let book = shelf.journals.entry(format!("{table}/{seat}")).or_default();
                    match *what {
                        "0header" => book.header = decoded(value),
                        "ended" => book.ended = true,
                        _ => book.records.push(decoded(value)),
                    }
                }
                _ => {}
            }
        }
        shelf
    }

    /// Whether a journal or a promise of a lobby's table is kept whose game has not ended.
    pub(super) fn has_seat(lobby: [u8; 8], kept: &BTreeMap<String, String>) -> bool {
        let prefix = HEXLOWER.encode(&lobby);
        let of = |what: &str| format!("{prefix}/{what}/");
        let begins = |start: &str| kept.range(start.to_owned()..).next().is_some_and(|(key, _)| key.starts_with(start));
        let has_ended = kept.keys().any(|key| key.starts_with(&of("journal")) && key.ends_with("/ended"));
        begins(&of("promise")) || (begins(&of("journal")) && !has_ended)
    }

    /// Of a watcher nothing is kept.
    pub(super) fn of_watcher(first: u64, rng: &mut ChaCha20Rng) -> Self {
        let mut secret = [0; 32];
        rng.fill_bytes(&mut secret);
        Self::empty(None, SigningKey::from_bytes(&secret), first)
    }

    fn empty(prefix: Option<String>, key: SigningKey, first: u64) -> Self {
        Self {
            prefix,
            key,
            key_is_new: true,
            journals: BTreeMap::new(),
            promises: BTreeSet::new(),
            open: None,
            transcript: None,
            newest: first,
            waiting: VecDeque::new(),
            orders: Vec::new(),
        }
    }

    pub(super) fn key(&self) -> SigningKey {
        self.key.clone()
    }

    /// The seat to resume, if one is kept, with its records. Its journal is open from then on.
    ///
    /// # Errors
    /// In words, if it is damaged.
    pub(super) fn saved(&mut self) -> Result<Option<(SavedSeat, Vec<Record>)>, String> {
        // While its promise stands, a journal has not begun.
        let begun = self.journals.iter().filter(|(place, _)| !self.promises.contains(*place));
        let Some((place, book)) = begun.max_by_key(|(_, book)| !book.ended) else { return Ok(None) };
        let seat = SavedSeat::new(&book.header, book.ended).map_err(|why| why.to_string())?;
        let records = records(book)?;
        self.open = Some(place.clone());
        Ok(Some((seat, records)))
    }

    /// The seat at a lobby's table that is kept, for another browser or a terminal; `None` if its game has not begun, or has
    /// ended.
    ///
    /// # Errors
    /// In words, if it is damaged.
    pub(super) fn packed(ticket: &Ticket, kept: &BTreeMap<String, String>) -> Result<Option<SeatFile>, String> {
        let mut unused = ChaCha20Rng::from_seed([0; 32]);
        let shelf = Self::of(ticket.lobby(), kept, 0, &mut unused);
        let mut begun = shelf.journals.iter().filter(|(place, book)| !shelf.promises.contains(*place) && !book.ended);
        let Some((_, book)) = begun.next_back() else { return Ok(None) };
        let file = SeatFile::new(ticket.clone(), shelf.key(), book.header.clone(), book.records.clone());
        file.map(Some).map_err(|why| why.to_string())
    }

    /// The entries of the database for a seat that comes in a file.
    ///
    /// # Errors
    /// In words, if it cannot be read.
    fn unpacked(file: &SeatFile) -> Result<Vec<(String, String)>, String> {
        let seat = file.seat().map_err(|why| why.to_string())?;
        let prefix = HEXLOWER.encode(&file.ticket().lobby());
        let journal = format!("{prefix}/journal/{}", place(seat.charter().table(), seat.seat()));
        let records = file.records().iter().enumerate();
        let mut put = vec![
            (format!("{prefix}/key"), encoded(file.key().as_bytes())),
            (format!("{journal}/0header"), encoded(file.header())),
        ];
        put.extend(records.map(|(number, record)| (format!("{journal}/{number:08}"), encoded(record))));
        Ok(put)
    }

    /// The order by which the browser forgets a seat, but for the mark of how much of it has been given away.
    pub(super) fn forgotten(file: &SeatFile, id: u64) -> StoreOrder {
        let prefix = HEXLOWER.encode(&file.ticket().lobby());
        let put = vec![(format!("{prefix}/gone"), file.records().len().to_string())];
        // Whoever comes next may write.
        StoreOrder { id, put, delete: vec![format!("{prefix}/"), format!("lease/{prefix}")], takes: false }
    }

    /// The order by which a seat comes to this browser.
    ///
    /// # Errors
    /// In words, if it cannot be read, or would undo what the browser has, or has given away.
    pub(super) fn brought(file: &SeatFile, kept: &BTreeMap<String, String>, id: u64) -> Result<StoreOrder, String> {
        let start = format!("{}/", HEXLOWER.encode(&file.ticket().lobby()));
        let gone = format!("{start}gone");
        for (key, value) in kept.range(start.clone()..).take_while(|(key, _)| key.starts_with(&start)) {
            if *key != gone {
                return Err("this browser has a seat at that table already, or has played there to the end".to_owned());
            }
            if value.parse().is_ok_and(|records: usize| file.records().len() < records) {
                return Err("this file is older than the one with which the seat has left this browser".to_owned());
            }
        }
        Ok(StoreOrder { id, put: Self::unpacked(file)?, delete: vec![start], takes: true })
    }

    /// Carries out an order of the session; [`Self::poll`] has the answer.
    pub(super) fn order(&mut self, id: StoreId, order: Store) {
        let done = match order {
            Store::Begin(journal) => return self.begin(id, &journal),
            Store::Return(journal) => return self.come_back(id, &journal),
            Store::Append(records) => return self.append(id, &records),
            Store::End => return self.end(id, Stored::Done),
            Store::Close { transcript, .. } => {
                let path = transcript.map(|game| self.keep_game(*game));
                return self.end(id, Stored::Closed(Closed { transcript: path, ..Closed::default() }));
            }
            Store::Promise { table, seat, instead_of, .. } => return self.promise(id, (table, seat), instead_of),
            Store::Remove => match self.open.take() {
                Some(open) => {
                    self.journals.remove(&open);
                    return self.write(id, Vec::new(), vec![format!("journal/{open}/")], Stored::Done, Undo::Nothing);
                }
                None => Stored::Done,
            },
            // A tab is closed in no order: its seat asks the others. The session ends here, and waits for no answer.
            Store::MarkClean => return,
            Store::Reserve | Store::Met { .. } => Stored::Done,
            Store::Evidence(_) => Stored::File(None),
            Store::Watched(game) => Stored::File(Some(self.keep_game(*game))),
            Store::Solve(transcript) => Stored::Solved(could_have_sealed(*transcript)),
        };
        self.answer(id, Ok(done));
    }

    /// The next answer to the session.
    pub(super) fn poll(&mut self) -> Option<(StoreId, Result<Stored, StoreFault>)> {
        let Waiting { order, state } = self.waiting.pop_front()?;
        match state {
            State::Answered(answer) => Some((order, answer)),
            state @ State::Writing { .. } => {
                self.waiting.push_front(Waiting { order, state });
                None
            }
        }
    }

    fn answer(&mut self, order: StoreId, answer: Result<Stored, StoreFault>) {
        self.waiting.push_back(Waiting { order, state: State::Answered(answer) });
    }

    fn promise(&mut self, id: StoreId, (table, seat): (Hash32, Seat), instead_of: Option<(Hash32, Seat)>) {
        let place = place(table, seat);
        if self.promises.contains(&place) {
            return self.answer(id, Ok(Stored::Done));
        }
        let before = instead_of.map(|(table, seat)| self::place(table, seat));
        if let Some(before) = &before {
            self.promises.remove(before);
        }
        self.promises.insert(place.clone());
        let put = vec![(format!("promise/{place}"), String::new())];
        let delete = before.into_iter().map(|place| format!("promise/{place}")).collect();
        self.write(id, put, delete, Stored::Done, Undo::Promise(place));
    }

    fn begin(&mut self, id: StoreId, journal: &Journal) {
        let place = place(journal.table, journal.seat);
        self.journals.insert(place.clone(), Book { header: journal.header.clone(), ..Book::default() });
        let promised = self.promises.remove(&place);
        self.open = Some(place.clone());
        let put = vec![(format!("journal/{place}/0header"), encoded(&journal.header))];
        let delete = vec![format!("promise/{place}")];
        let answer = Stored::Journal { records: Vec::new(), is_clean: false, evidence: 0 };
        self.write(id, put, delete, answer, Undo::Begin(place, promised));
    }

    fn come_back(&mut self, id: StoreId, journal: &Journal) {
        let place = place(journal.table, journal.seat);
        if self.promises.contains(&place) {
            return self.begin(id, journal);
        }
        let answer = match self.journals.get(&place) {
            Some(book) => records(book).map(|records| Stored::Journal { records, is_clean: false, evidence: 0 }),
            None => Err("this browser has no journal of that seat, and without it the seat cannot return".to_owned()),
        };
        self.open = Some(place);
        self.answer(id, answer.map_err(StoreFault::Failed));
    }

    fn append(&mut self, id: StoreId, records: &[Zeroizing<Vec<u8>>]) {
        let Some((place, book)) = self.open.as_ref().and_then(|open| Some((open, self.journals.get_mut(open)?))) else {
            return self.answer(id, Err(StoreFault::Failed("this table has no journal".to_owned())));
        };
        let before = book.records.len();
        let mut put = Vec::new();
        for record in records {
            put.push((format!("journal/{place}/{:08}", book.records.len()), encoded(record)));
            book.records.push(record.clone());
        }
        self.write(id, put, Vec::new(), Stored::Done, Undo::Append(before));
    }

    fn end(&mut self, id: StoreId, answer: Stored) {
        let Some(open) = &self.open else { return self.answer(id, Ok(answer)) };
        if let Some(book) = self.journals.get_mut(open) {
            book.ended = true;
        }
        let put = vec![(format!("journal/{open}/ended"), String::new())];
        self.write(id, put, Vec::new(), answer, Undo::Nothing);
    }

    /// Keeps a finished game while the page is open.
    fn keep_game(&mut self, game: SavedGame) -> PathBuf {
        let id: String = game.table.to_string().chars().take(8).collect();
        let path =
            PathBuf::from(format!("{}-{id}.fairdeal", game.transcript.charter().charter().rules().game.as_str()));
        self.transcript = Some((path.clone(), Arc::new(game.transcript)));
        path
    }

    pub(super) fn transcript(&self, path: &Path) -> Option<Arc<Transcript>> {
        self.transcript.as_ref().filter(|(kept, _)| kept == path).map(|(_, transcript)| Arc::clone(transcript))
    }

    /// Orders the database to write. The session is answered once that is done; for a watcher at once.
    fn write(&mut self, order: StoreId, put: Vec<(String, String)>, delete: Vec<String>, answer: Stored, undo: Undo) {
        let Some(prefix) = &self.prefix else { return self.answer(order, Ok(answer)) };
        let under = |key: String| format!("{prefix}/{key}");
        let mut put: Vec<(String, String)> = put.into_iter().map(|(key, value)| (under(key), value)).collect();
        let has_key = std::mem::take(&mut self.key_is_new);
        if has_key {
            put.push((under("key".to_owned()), encoded(self.key.as_bytes())));
        }
        self.newest += 1;
        let number = self.newest;
        self.orders.push(StoreOrder { id: number, put, delete: delete.into_iter().map(under).collect(), takes: false });
        self.waiting.push_back(Waiting { order, state: State::Writing { number, answer, has_key, undo } });
    }

    /// The database has answered.
    pub(super) fn stored(&mut self, id: u64, fault: Option<StoreFault>) {
        let is_it = |waiting: &Waiting| matches!(waiting.state, State::Writing { number, .. } if number == id);
        let Some(place) = self.waiting.iter().position(is_it) else { return };
        let Some(Waiting { order, state: State::Writing { answer, has_key, undo, .. } }) = self.waiting.remove(place)
        else {
            return;
        };
        let answer = match (fault, answer) {
            (None, answer) => Ok(answer),
            // The game is there, only the mark is not: the seat is offered again, and ends at once.
            (Some(fault), Stored::Closed(closed)) => {
                let missing = Some(format!("This browser could not note the end of the game: {fault}"));
                Ok(Stored::Closed(Closed { missing, ..closed }))
            }
            (Some(fault), _) => {
                self.key_is_new |= has_key;
                self.undo(undo);
                Err(fault)
            }
        };
        self.waiting.insert(place, Waiting { order, state: State::Answered(answer) });
    }

    fn undo(&mut self, undo: Undo) {
        match undo {
            Undo::Nothing => {}
            Undo::Promise(place) => {
                self.promises.remove(&place);
            }
            Undo::Begin(place, promised) => {
                self.journals.remove(&place);
                self.open = None;
                if promised {
                    self.promises.insert(place);
                }
            }
            Undo::Append(before) => {
                let book = self.open.as_ref().and_then(|open| self.journals.get_mut(open));
                if let Some(book) = book {
                    book.records.truncate(before);
                }
            }
        }
    }

    /// Whether the session has all its answers.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn take_orders(&mut self) -> Vec<StoreOrder> {
        std::mem::take(&mut self.orders)
    }
}

fn records(book: &Book) -> Result<Vec<Record>, String> {
    let each: Result<Vec<Record>, _> = book.records.iter().map(|bytes| Record::from_bytes(bytes)).collect();
    each.map_err(|why| why.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdeal_session::testing::store_id;

    const LOBBY: [u8; 8] = [7; 8];

    /// The database of a browser, and a page that has just read it.
    #[derive(Default)]
    struct Browser(BTreeMap<String, String>);

    impl Browser {
        fn opens(&self, seed: u8) -> Shelf {
            Shelf::of(LOBBY, &self.0, 0, &mut ChaCha20Rng::from_seed([seed; 32]))
        }

        /// Carries out the orders, and answers them.
        fn carries_out(&mut self, shelf: &mut Shelf) {
            for order in shelf.take_orders() {
                self.0.retain(|key, _| !order.delete.iter().any(|gone| key.starts_with(gone.as_str())));
                self.0.extend(order.put);
                shelf.stored(order.id, None);
                assert!(matches!(shelf.poll(), Some((_, Ok(_)))));
            }
        }
    }

    fn seat() -> Seat {
        Seat::new(1).unwrap()
    }

    fn journal() -> Journal {
        Journal { table: Hash32([3; 32]), seat: seat(), header: vec![1, 2, 3].into() }
    }

    fn append(bytes: &[u8]) -> Store {
        Store::Append(vec![Zeroizing::new(bytes.to_vec())].into())
    }

    fn kept(shelf: &Shelf) -> Vec<Vec<u8>> {
        let book = shelf.journals.values().next().unwrap();
        book.records.iter().map(|record| record.to_vec()).collect()
    }

    #[test]
    fn nothing_is_answered_before_it_is_stored() {
        let mut browser = Browser::default();
        let mut shelf = browser.opens(1);
        let promise =
            Store::Promise { table: Hash32([3; 32]), seat: seat(), content: Vec::new().into(), instead_of: None };
        for (number, order) in
            [promise, Store::Begin(journal()), append(b"one"), append(b"two")].into_iter().enumerate()
        {
            shelf.order(store_id(number as u64), order);
            assert!(shelf.poll().is_none() && !shelf.is_idle());
            browser.carries_out(&mut shelf);
            assert!(shelf.is_idle());
        }
        assert!(Shelf::has_seat(LOBBY, &browser.0) && !Shelf::has_seat([8; 8], &browser.0));
        // The key is there with the first order, and the promise is kept.
        assert!(!browser.0.keys().any(|key| key.contains("promise")));
        let again = browser.opens(2);
        assert_eq!(again.key().to_bytes(), shelf.key().to_bytes());
        assert_eq!(kept(&again), [b"one".to_vec(), b"two".to_vec()]);
    }

    /// Records that were not stored are appended again, under the same number.
    #[test]
    fn full_disk_leaves_no_gap() {
        let mut browser = Browser::default();
        let mut shelf = browser.opens(1);
        shelf.order(store_id(1), Store::Begin(journal()));
        browser.carries_out(&mut shelf);
        shelf.order(store_id(2), append(b"one"));
        let refused = shelf.take_orders().remove(0);
        shelf.stored(refused.id, Some(StoreFault::Full("no room".to_owned())));
        assert!(matches!(shelf.poll(), Some((_, Err(StoreFault::Full(_))))));
        shelf.order(store_id(3), append(b"one"));
        assert_eq!(shelf.orders[0].put[0].0, refused.put[0].0);
        browser.carries_out(&mut shelf);
        assert_eq!(kept(&browser.opens(2)), [b"one".to_vec()]);
    }

    /// A promise, its key and a journal that were not stored are ordered again, and are there then.
    #[test]
    fn full_disk_forgets_no_promise_and_no_key() {
        let mut browser = Browser::default();
        let mut shelf = browser.opens(1);
        let promise =
            || Store::Promise { table: Hash32([3; 32]), seat: seat(), content: Vec::new().into(), instead_of: None };
        for (number, order) in [promise as fn() -> Store, || Store::Begin(journal())].into_iter().enumerate() {
            let number = 2 * number as u64;
            shelf.order(store_id(number), order());
            let refused = shelf.take_orders().remove(0);
            shelf.stored(refused.id, Some(StoreFault::Full("no room".to_owned())));
            assert!(matches!(shelf.poll(), Some((_, Err(_)))));
            shelf.order(store_id(number + 1), order());
            assert!(shelf.poll().is_none(), "it is written again");
            browser.carries_out(&mut shelf);
            assert_eq!(browser.opens(2).key().to_bytes(), shelf.key().to_bytes());
        }
        assert!(browser.opens(2).promises.is_empty());
        assert_eq!(kept(&browser.opens(2)), [[0_u8; 0]; 0]);
    }

    /// The session takes answers in the order of its orders, also that to one which needs no database.
    #[test]
    fn answers_come_in_order() {
        let mut browser = Browser::default();
        let mut shelf = browser.opens(1);
        shelf.order(store_id(1), Store::Begin(journal()));
        shelf.order(store_id(2), Store::Reserve);
        assert!(shelf.poll().is_none());
        for order in shelf.take_orders() {
            shelf.stored(order.id, None);
            browser.0.extend(order.put);
        }
        assert!(matches!(shelf.poll(), Some((id, Ok(Stored::Journal { .. }))) if id == store_id(1)));
        assert!(matches!(shelf.poll(), Some((id, Ok(Stored::Done))) if id == store_id(2)));
        assert!(shelf.poll().is_none() && shelf.is_idle());
    }

    /// Another table's entries, and what is no entry at all, are passed over.
    #[test]
    fn foreign_entries_are_left_alone() {
        let mut browser = Browser::default();
        for key in ["", "lease/0707", "0909090909090909/key", "0707070707070707", "0707070707070707/journal/x"] {
            browser.0.insert(key.to_owned(), "!".to_owned());
        }
        let mut shelf = browser.opens(1);
        assert!(shelf.saved().unwrap().is_none());
        browser.0.insert("0707070707070707/journal/03/1/0header".to_owned(), "!".to_owned());
        assert!(browser.opens(1).saved().is_err(), "a damaged header is told");
    }
}
