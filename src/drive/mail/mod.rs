//! Mail: letters that wait at meeting points while their readers are away. A visit fetches the letters that have come,
//! answers them, and writes to everybody who lacks something.
//!
//! A letter is written from the journal at each visit, until a letter of its reader shows that it lacks nothing. So the
//! points may lose what they keep. Where letters wait is remembered for the player alone (`remembered`).

mod line;
mod remembered;
mod words;

use std::sync::Arc;
use std::time::Duration;

use ed25519_dalek::SigningKey;
use fairdeal_link::letter::LetterError;
use fairdeal_peers::address::named_peer;
use fairdeal_peers::listing::MAX_POINTS;
use fairdeal_peers::mail::{KEPT, MAX_WRITERS, MailRefusal, Subject, Waiting};
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::seat::Seat;
use fairdeal_session::events::SessionEvent;
use fairdeal_session::letter::{OpenError, Written, readers};
use fairdeal_session::notify::{Notification, Notifier};
use fairdeal_session::text::player_names;
use futures::future::join_all;
use tokio::runtime::Handle;

use self::line::{Line, LineError};
pub use self::remembered::{ReaderMail, Remembered, TableMail};
pub use self::words::Words;
use super::PostBox;
use super::letters::{Desk, PostError, open_letter, own_key, whose_turn};
use super::lobbies::note;
use super::now;
use super::saved::{self, ResumeError, SavedTable, open_seats};
use crate::store::{DataDir, DataView, IdentityKey, JournalFile};

/// Why there is no visit.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    #[error(transparent)]
    Post(#[from] PostError),
    #[error("no meeting point is known; name one with --meet, or in the settings (meet)")]
    NoPoint,
    /// Programs that always have to ask the others what they have signed cannot play by letter.
    #[error("on this system nothing tells a journal from a restored copy, so its programs cannot play by mail")]
    System,
}

impl<E: Into<ResumeError>> From<E> for MailError {
    fn from(why: E) -> Self {
        Self::Post(PostError::Resume(why.into()))
    }
}

/// The outcome of a visit.
#[derive(Debug)]
pub struct Visit {
    /// The tables that were looked at.
    pub tables: Vec<VisitedTable>,
    /// The points that were asked, with the reason if one did not do all that it was asked.
    pub points: Vec<(Multiaddr, Option<String>)>,
    /// Whether any point was reached.
    pub has_reached: bool,
}

/// A table, as a visit has left it.
#[derive(Clone, Debug)]
pub struct VisitedTable {
    pub id: String,
    /// Its short id, its game and its players.
    pub words: String,
    pub names: Vec<String>,
    /// The past, up to the first letter.
    pub before: Vec<SessionEvent>,
    /// The letters that have come, by their authors, and what each has told.
    pub came: Vec<(Seat, Vec<SessionEvent>)>,
    /// Parts of letters that were not taken: the author's program is another version, or lies.
    pub refused: Vec<String>,
    /// Why its letters could not be read or written, if so.
    pub failed: Option<String>,
    /// Whether a session plays there now: it tells its player by itself.
    pub is_live: bool,
    pub mail: TableMail,
}

impl VisitedTable {
    fn new(table: &Table, known: TableMail) -> Self {
        Self {
            id: table.id.clone(),
            words: table.words.clone(),
            names: table.names.clone(),
            before: Vec::new(),
            came: Vec::new(),
            refused: Vec::new(),
            failed: None,
            is_live: table.live.is_some(),
            mail: TableMail { names: table.names.clone(), ..known },
        }
    }

    /// Whether letters have brought anything that was not known.
    pub fn has_news(&self) -> bool {
        let is_news = |event: &SessionEvent| !matches!(event, SessionEvent::Snapshot(_));
        self.came.iter().flat_map(|(_, told)| told).any(is_news)
    }

    /// All that was told, in order.
    fn told(&self) -> impl Iterator<Item = &SessionEvent> {
        self.before.iter().chain(self.came.iter().flat_map(|(_, told)| told))
    }

    /// The signs that the letters ask for; what the past asked for was told then.
    pub fn signs(&self) -> Vec<Notification> {
        if self.is_live {
            return Vec::new();
        }
        let up = now().up;
        let mut notifier = Notifier::new(Duration::ZERO);
        self.before.iter().for_each(|event| notifier.hear(event, up));
        notifier.look(false, up);
        while notifier.poll().is_some() {}
        self.came.iter().flat_map(|(_, told)| told).for_each(|event| notifier.hear(event, up));
        std::iter::from_fn(|| notifier.poll()).collect()
    }
}

/// A saved table whose player has letters there.
struct Table {
    id: String,
    words: String,
    names: Vec<String>,
    /// The number of its key, as its lines have it.
    key: usize,
    readers: Vec<(Seat, PeerId)>,
    /// The numbers of its points.
    points: Vec<usize>,
    journal: JournalFile,
    /// Taken when the table is opened.
    saved: Option<SavedTable>,
    /// Whether only a session in play can read and write there: it has the journal open, or bots are to answer.
    is_open: bool,
    /// The way to that session, if it plays in this program.
    live: Option<PostBox>,
}

/// A point, at all addresses that are known of it.
struct Point {
    peer: PeerId,
    addresses: Vec<Multiaddr>,
}

/// A letter that has come, and all places where it lies: the number of the line, and its own.
struct Came {
    sealed: Vec<u8>,
    key: usize,
    at: Vec<(usize, u64)>,
}

/// A letter on its way.
struct Going {
    seat: Seat,
    reader: PeerId,
    /// None, if nobody lacks anything any more.
    letter: Option<Written>,
    /// Whether the reader is connected: then it gets everything, and no letter has to wait now.
    is_here: bool,
    /// Whether the reader has shown that it lacks nothing: then no letter has to wait.
    covered: bool,
    /// Whether it goes all the same, to show what this seat has.
    answers: bool,
}

/// The tables, keys and points of a visit.
struct Tables {
    tables: Vec<Table>,
    keys: Vec<SigningKey>,
    points: Vec<Point>,
    /// Whether every journal was read.
    knows_all: bool,
}

impl Tables {
    /// All tables at which the player may write letters, in play or over here while others may still need something.
    fn of(
        data: &DataView,
        identity: &IdentityKey,
        named: &[Multiaddr],
        mail: &Remembered,
        live: &[PostBox],
    ) -> Result<Self, MailError> {
        let (tables, keys, points) = (Vec::new(), Vec::new(), Vec::new());
        let mut all = Self { tables, keys, points, knows_all: true };
        for point in named {
            all.number_of(point);
        }
        let files = data.journals()?;
        for file in &files {
            let live = live.iter().find(|post| post.table().is_some_and(|table| table.to_string() == file.table));
            if data.has_promised(&file.table, file.seat)? {
                continue;
            }
            match saved::read(data, file) {
                Ok(own) if own.is_local_bot() || !own.has_others() => {}
                Ok(own) if own.is_ended() && is_settled(file, mail.tables.get(&file.table)) => {}
                Ok(own) => {
                    let signing = own_key(&own, identity);
                    let key = all.keys.iter().position(|known| *known == signing).unwrap_or_else(|| {
                        all.keys.push(signing);
                        all.keys.len() - 1
                    });
                    let mut points: Vec<usize> = Vec::new();
                    // The relays of others would learn who comes, and when.
                    for point in named.iter().chain(&own.place().relays) {
                        let number = all.number_of(point);
                        points.extend(number.filter(|number| points.len() < MAX_POINTS && !points.contains(number)));
                    }
                    let (readers, names) = (readers(own.charter(), own.seat()), player_names(own.charter().charter()));
                    let (id, words) = (file.table.clone(), own.in_words());
                    // Local bots answer only while their player is at the table; then its letters wait.
                    let is_shared = files.iter().filter(|other| other.table == file.table).count() > 1;
                    let is_open = data.is_journal_open(file) || is_shared && !own.is_ended();
                    let saved = Some((id.clone(), vec![(file.clone(), own)]));
                    let (journal, live) = (file.clone(), live.cloned());
                    all.tables.push(Table { id, words, names, key, readers, points, journal, saved, is_open, live });
                }
                Err(why) => {
                    tracing::warn!(table = %file.table, %why, "no mail for a table");
                    all.knows_all = false;
                }
            }
        }
        // A box takes letters of so many players at most.
        all.tables.sort_by_key(|table| !mail.tables.get(&table.id).is_some_and(|mail| mail.by_mail));
        Ok(all)
    }

    /// The number of a point; `None` if its address does not say which peer it is.
    fn number_of(&mut self, address: &Multiaddr) -> Option<usize> {
        let peer = named_peer(address)?;
        let known = self.points.iter().position(|point| point.peer == peer);
        let number = known.unwrap_or_else(|| {
            self.points.push(Point { peer, addresses: Vec::new() });
            self.points.len() - 1
        });
        let point = self.points.get_mut(number)?;
        if !point.addresses.contains(address) {
            point.addresses.push(address.clone());
        }
        Some(number)
    }

    /// The players whose letters are awaited under a key at a point.
    fn writers(&self, key: usize, point: usize) -> Vec<PeerId> {
        let mut writers: Vec<PeerId> = Vec::new();
        let there = self.tables.iter().filter(|table| table.key == key && table.points.contains(&point));
        for (_, writer) in there.flat_map(|table| &table.readers) {
            if !writers.contains(writer) && writers.len() < MAX_WRITERS {
                writers.push(*writer);
            }
        }
        writers
    }
}

/// Whether nobody needs letters of a game that is over here: all have shown that they lack nothing, or time has passed.
fn is_settled(journal: &JournalFile, mail: Option<&TableMail>) -> bool {
    let is_old = journal.modified.elapsed().is_ok_and(|passed| passed > KEPT);
    is_old || mail.is_some_and(TableMail::is_covered)
}

/// Whether there is anything to do at points: a game at which the player writes letters, and a point for it.
pub fn has_mail(data: &DataDir, named: &[Multiaddr], live: &[PostBox]) -> bool {
    // A new player has none.
    let Ok(Some(identity)) = data.known_identity() else { return false };
    let all = Tables::of(data, &identity, named, &Remembered::of(data), live);
    cfg!(unix) && all.is_ok_and(|all| all.tables.iter().any(|table| !table.points.is_empty()))
}

/// Visits the points: those named here, and for each table the relays that its seat has used. `live` are the tables that
/// this program plays at now; another program's have to wait.
///
/// # Errors
/// [`MailError`]. A point or a table that fails is told in the [`Visit`].
pub async fn visit(data: &Arc<DataDir>, named: &[Multiaddr], live: &[PostBox]) -> Result<Visit, MailError> {
    if !cfg!(unix) {
        return Err(MailError::System);
    }
    let identity = data.identity()?;
    let mut remembered = Remembered::of(data);
    let mut all = Tables::of(data, &identity, named, &remembered, live)?;
    if all.points.is_empty() {
        return Err(MailError::NoPoint);
    }
    if all.keys.is_empty() {
        // A box from before is not needed any more.
        all.keys.push(identity.signing_key());
    }
    let mut lines = Lines::open(&all).await;
    let mut came = lines.fetch(&all).await;
    let mut visited = Vec::new();
    let knows_all = all.knows_all;
    for table in &mut all.tables {
        let known = remembered.tables.get(&table.id).cloned().unwrap_or_default();
        let mut news = VisitedTable::new(table, known);
        let (letters, places) = letters_for(table, &identity, &mut came, &mut news.refused);
        if table.is_open && table.live.is_none() || places.is_empty() && !lines.reach(table) {
            // Another program plays there, and its letters wait at the points; or there is no way.
            continue;
        }
        let mark = data.clean_journal(&table.journal);
        let is_same = letters.is_empty() && mark.is_some() && mark == news.mail.journal;
        match if is_same { lines.still(table, &news.mail).await } else { None } {
            Some(readers) => news.mail.readers = readers,
            None => {
                let going = sit_down(data, table, &identity, letters, &mut news).await;
                if news.failed.is_none() {
                    news.mail.journal = data.clean_journal(&table.journal);
                    news.mail.readers = lines.post(table, going).await;
                }
            }
        }
        if news.failed.is_none() {
            lines.read(&places).await;
        }
        let is_by_mail = !news.came.is_empty() || news.mail.readers.iter().any(|reader| reader.at > 0);
        news.mail.by_mail |= is_by_mail;
        remembered.tables.insert(table.id.clone(), news.mail.clone());
        visited.push(news);
    }
    // Letters that no table can read are of no use, unless they are for one that is not known.
    for useless in came.iter().filter(|_| knows_all) {
        lines.read(&useless.at).await;
    }
    let journals = data.journals()?;
    remembered.tables.retain(|id, _| journals.iter().any(|file| file.table == *id));
    if let Err(why) = remembered.save(data) {
        tracing::warn!(%why, "where letters wait is not remembered");
    }
    let has_reached = !lines.lines.is_empty();
    Ok(Visit { tables: visited, points: lines.close().await, has_reached })
}

/// Takes the letters for a table out of those that have come, and the places where they lie. One that makes no sense is
/// refused, and goes.
fn letters_for(
    table: &Table,
    identity: &IdentityKey,
    came: &mut Vec<Came>,
    refused: &mut Vec<String>,
) -> (Vec<Vec<u8>>, Vec<(usize, u64)>) {
    let (mut letters, mut places) = (Vec::new(), Vec::new());
    let Some((_, own)) = table.saved.iter().flat_map(|(_, seats)| seats).next() else { return (letters, places) };
    came.retain(|came| {
        if came.key != table.key {
            return true;
        }
        match open_letter(own, identity, &came.sealed) {
            Err(OpenError::Letter(LetterError::Sealed | LetterError::Stranger)) => return true,
            Ok(_) => letters.push(came.sealed.clone()),
            // It fits nobody.
            Err(OpenError::Letter(_)) => {}
            Err(why) => refused.push(why.to_string()),
        }
        places.extend(came.at.iter().copied());
        false
    });
    (letters, places)
}

/// Reads letters at the desk of a table, and writes to the others.
async fn sit_down(
    data: &Arc<DataDir>,
    table: &mut Table,
    identity: &IdentityKey,
    letters: Vec<Vec<u8>>,
    news: &mut VisitedTable,
) -> Vec<Going> {
    let Some(saved) = table.saved.take() else { return Vec::new() };
    let (data, identity, live) = (Arc::clone(data), identity.clone(), table.live.clone());
    let (mut at_work, runtime, id) = (news.clone(), Handle::current(), saved.0.clone());
    let sat = tokio::task::spawn_blocking(move || {
        // The interface may want to resume a table meanwhile.
        let _turn = live.is_none().then(|| data.at_desk());
        let desk = match (live, saved.1.first()) {
            (Some(post), Some((_, own))) => {
                Ok(Desk::elsewhere(own, move |command| runtime.block_on(post.ask(command))))
            }
            _ => open(&data, saved, &identity, &letters),
        };
        let going = desk.and_then(|desk| at_desk(desk, &letters, &mut at_work));
        for (author, _) in &at_work.came {
            if let Err(why) = note(&data, &id, *author) {
                tracing::warn!(%why, "a lobby by letter is not noted");
            }
        }
        (going.map_err(|why| why.to_string()), at_work)
    });
    let (going, why) = match sat.await {
        Ok((going, at_work)) => {
            *news = at_work;
            going.map_or_else(|why| (Vec::new(), Some(why)), |going| (going, None))
        }
        Err(why) => (Vec::new(), Some(why.to_string())),
    };
    news.failed = why;
    going
}

fn open(
    data: &Arc<DataDir>,
    saved: SavedTable,
    identity: &IdentityKey,
    letters: &[Vec<u8>],
) -> Result<Desk, PostError> {
    let interrupted = open_seats(data, saved)?.into_iter().next().ok_or(PostError::Over)?;
    Desk::open(data, interrupted, identity, letters)
}

fn at_desk(mut desk: Desk, letters: &[Vec<u8>], news: &mut VisitedTable) -> Result<Vec<Going>, PostError> {
    news.before = desk.told();
    let mut write = || -> Result<Vec<Going>, PostError> {
        let mut asks = false;
        for sealed in letters {
            match desk.read(sealed) {
                Ok(read) => {
                    asks = read.asks;
                    news.refused.extend(read.refused);
                    news.came.push((read.from, read.told));
                }
                Err(PostError::Refused(why)) => news.refused.push(why),
                Err(why) => return Err(why),
            }
        }
        let mut going = Vec::new();
        for (seat, reader) in desk.readers().to_vec() {
            let letter = match desk.write(seat) {
                Ok(letter) => letter,
                Err(PostError::Over) => {
                    going.push(Going { seat, reader, letter: None, is_here: false, covered: true, answers: false });
                    continue;
                }
                // It has left the table.
                Err(PostError::Refused(_)) => continue,
                Err(why) => return Err(why),
            };
            asks = letter.asks;
            let known = news.mail.readers.iter().find(|known| known.seat == seat);
            let has_come = news.came.iter().any(|(author, _)| *author == seat);
            let was_covered = known.is_some_and(|known| known.covered && known.subject == letter.subject);
            let covered = letter.covered || was_covered && !has_come;
            // A reader who lacks nothing may not know yet what this seat has. Once is enough: else it writes once more.
            let is_news = known.is_none_or(|known| known.subject != letter.subject || known.at == 0);
            let answers = covered && has_come && is_news;
            let is_here = letter.is_here;
            going.push(Going { seat, reader, letter: Some(letter), is_here, covered, answers });
        }
        let told: Vec<&SessionEvent> = news.told().collect();
        news.mail.turn = whose_turn(&news.names, &told, asks);
        Ok(going)
    };
    let going = write();
    desk.close();
    going
}

/// The lines of a visit, with the numbers of their keys and points.
struct Lines {
    points: Vec<(Multiaddr, Option<String>)>,
    lines: Vec<(usize, usize, Line)>,
}

impl Lines {
    /// Opens a line to every point for each key that needs it.
    async fn open(all: &Tables) -> Self {
        let is_used = |key: usize, point: usize| {
            all.tables.is_empty() || all.tables.iter().any(|table| table.key == key && table.points.contains(&point))
        };
        let keys = all.keys.iter().enumerate();
        let pairs = keys.flat_map(|key| all.points.iter().enumerate().map(move |point| (key, point)));
        let opened =
            pairs.filter(|((key, _), (point, _))| is_used(*key, *point)).map(|((key, signing), (point, to))| {
                let line = Line::open(signing, to.peer, to.addresses.clone());
                async move { (key, point, line.await) }
            });
        let address = |point: &Point| point.addresses.first().cloned();
        let points = all.points.iter().filter_map(address).map(|address| (address, None)).collect();
        let mut lines = Self { points, lines: Vec::new() };
        for (key, point, line) in join_all(opened).await {
            match line {
                Ok(line) => lines.lines.push((key, point, line)),
                Err(why) => lines.tell(point, &why),
            }
        }
        lines
    }

    fn tell(&mut self, point: usize, why: &LineError) {
        if let Some((_, told)) = self.points.get_mut(point) {
            told.get_or_insert_with(|| why.to_string());
        }
    }

    /// Opens the boxes, and fetches all that lies in them.
    async fn fetch(&mut self, all: &Tables) -> Vec<Came> {
        let asked = self.lines.iter().enumerate().map(|(number, (key, point, line))| {
            let writers = all.writers(*key, *point);
            // For nobody the box goes, but a table that is not known may need it.
            let (needs_none, opens) = (writers.is_empty(), !writers.is_empty() || all.knows_all);
            async move {
                let opened = if opens { line.open_box(writers).await } else { Ok(()) };
                let letters = if needs_none { Ok(Vec::new()) } else { line.fetch().await };
                (number, *key, *point, opened, letters)
            }
        });
        let mut came: Vec<Came> = Vec::new();
        for (number, key, point, opened, letters) in join_all(asked).await {
            for why in [opened.err(), letters.as_ref().err().cloned()].into_iter().flatten() {
                self.tell(point, &why);
            }
            for (place, sealed) in letters.unwrap_or_default() {
                match came.iter_mut().find(|known| known.key == key && known.sealed == sealed) {
                    Some(known) => known.at.push((number, place)),
                    None => came.push(Came { sealed, key, at: vec![(number, place)] }),
                }
            }
        }
        came
    }

    /// Whether a point of the table answers.
    fn reach(&self, table: &Table) -> bool {
        self.of(table).next().is_some()
    }

    /// The lines to the points of a table.
    fn of(&self, table: &Table) -> impl Iterator<Item = &Line> {
        let there = self.lines.iter().filter(|(key, point, _)| *key == table.key && table.points.contains(point));
        there.map(|(_, _, line)| line)
    }

    /// Tells the points which letters are read, each by the number of its line.
    async fn read(&self, places: &[(usize, u64)]) {
        let done = self.lines.iter().enumerate().map(|(number, (_, _, line))| {
            let numbers: Vec<u64> = places.iter().filter(|(at, _)| *at == number).map(|(_, number)| *number).collect();
            async move { line.read(&numbers).await }
        });
        // A letter that stays is read once more.
        join_all(done).await;
    }

    /// Puts the letters of a table into the boxes of their readers, and says where they wait.
    async fn post(&self, table: &Table, going: Vec<Going>) -> Vec<ReaderMail> {
        let mut readers = Vec::new();
        for Going { seat, reader, letter, is_here, covered, answers } in going {
            let subject = letter.as_ref().map(|letter| letter.subject).unwrap_or_default();
            let mut mail = ReaderMail::new(seat, subject, covered, table.points.len());
            if let Some(letter) = letter.filter(|_| !is_here && (!covered || answers)) {
                let put = join_all(self.of(table).map(|line| line.put(reader, &letter))).await;
                mail.waits_at(put);
            }
            readers.push(mail);
        }
        readers
    }

    /// Where the letters of a table wait that a visit before has left there: nothing has been signed since. `None` if one has
    /// to be put there again.
    async fn still(&self, table: &Table, mail: &TableMail) -> Option<Vec<ReaderMail>> {
        let mut readers = Vec::new();
        for before in &mail.readers {
            let (_, peer) = table.readers.iter().find(|(seat, _)| *seat == before.seat)?;
            let mut reader = ReaderMail::new(before.seat, before.subject, before.covered, table.points.len());
            if !before.covered {
                let looked = join_all(self.of(table).map(|line| line.look(*peer, before.subject))).await;
                if looked.iter().any(|looked| matches!(looked, Ok(None))) {
                    return None;
                }
                reader.waits_at(looked.into_iter().filter_map(Result::transpose));
            }
            readers.push(reader);
        }
        (!readers.is_empty()).then_some(readers)
    }

    /// Ends all connections. Returns which points did not do what they were asked.
    async fn close(self) -> Vec<(Multiaddr, Option<String>)> {
        join_all(self.lines.iter().map(|(_, _, line)| line.close())).await;
        self.points
    }
}

impl ReaderMail {
    fn new(seat: Seat, subject: Subject, covered: bool, of: usize) -> Self {
        let now = remembered::now();
        Self { seat, subject, covered, since: now, until: now, at: 0, of, why: None }
    }

    /// Notes where the letter waits, and why it does not wait elsewhere.
    fn waits_at(&mut self, points: impl IntoIterator<Item = Result<Waiting, LineError>>) {
        let (mut since, mut left) = (0, 0);
        for point in points {
            match point {
                Ok(waiting) => {
                    self.at += 1;
                    (since, left) = (waiting.since.max(since), waiting.left.max(left));
                }
                Err(why @ LineError::Refused(MailRefusal::NoBox)) => {
                    self.why.get_or_insert_with(|| why.to_string());
                }
                // It tells more than that there is no box.
                Err(why) => self.why = Some(why.to_string()),
            }
        }
        self.since = self.since.saturating_sub(since.into());
        self.until = self.until.saturating_add(left.into());
    }
}
