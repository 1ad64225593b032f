//! Mail of the player's games: fetched and left at the points every ten minutes, and after each table.

use std::sync::Arc;
use std::time::Duration;

use fairdeal_games::listed;
use fairdeal_peers::Multiaddr;
use fairdeal_session::notify::Notification;
use fairdeal_ui::app::screen::Mailed;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::drive::PostBox;
use crate::drive::letters::WhoseTurn;
use crate::drive::mail::{Remembered, TableMail, Visit, VisitedTable, has_mail, visit};
use crate::store::{DataDir, DataView, JournalFile};

/// How long after a visit the next one is made.
const AGAIN: Duration = Duration::from_secs(600);
/// How long a table may take to begin.
const SOON: Duration = Duration::from_secs(10);
/// The most time that the end of the program waits for the last visit.
const LAST: Duration = Duration::from_secs(20);

/// The visits of an interface.
pub(super) struct Mail {
    /// Returns the signs that nobody has taken.
    running: Option<JoinHandle<Vec<Notification>>>,
    /// When the next one is due.
    due: Instant,
    /// Whether a table was played since the last one began.
    has_played: bool,
    /// Takes the signs that a visit has brought, once it has ended.
    back: mpsc::Sender<Vec<Notification>>,
}

impl Mail {
    pub(super) fn new() -> (Self, mpsc::Receiver<Vec<Notification>>) {
        let (back, visits) = mpsc::channel(1);
        (Self { running: None, due: Instant::now(), has_played: false, back }, visits)
    }

    /// A table is closed: what was signed there goes to the points at once.
    pub(super) fn played(&mut self) {
        (self.has_played, self.due) = (true, Instant::now());
    }

    /// A table is opened: letters for it may wait.
    pub(super) fn sat_down(&mut self) {
        self.due = self.due.min(Instant::now() + SOON);
    }

    /// When to begin the next visit; `None` while one is under way.
    pub(super) fn due(&self) -> Option<Instant> {
        self.running.is_none().then_some(self.due)
    }

    /// Begins a visit. `live` is the way to the table that is played now.
    pub(super) fn begin(&mut self, data: &Arc<DataDir>, points: &[Multiaddr], live: Option<PostBox>) {
        (self.has_played, self.due) = (false, Instant::now() + AGAIN);
        let (visit, back) = (visit_points(Arc::clone(data), points.to_vec(), live), self.back.clone());
        self.running = Some(tokio::spawn(async move {
            let signs = signs_of(&visit.await);
            // The interface may have ended.
            back.send(signs).await.map_or_else(|unsent| unsent.0, |()| Vec::new())
        }));
    }

    /// The visit has ended.
    pub(super) fn ended(&mut self) {
        self.running = None;
    }

    /// The visits that are to be made, or ended, when the interface has ended.
    pub(super) fn last(self, data: &Arc<DataDir>, points: &[Multiaddr]) -> Option<LastMail> {
        let running = self.running.filter(|running| !running.is_finished());
        let (again, data, points) = (self.has_played, Arc::clone(data), points.to_vec());
        let is_needed = (again || running.is_some()) && has_mail(&data, &points, &[]);
        is_needed.then_some(LastMail { data, points, running, again })
    }
}

async fn visit_points(data: Arc<DataDir>, points: Vec<Multiaddr>, live: Option<PostBox>) -> Option<Visit> {
    let live: Vec<PostBox> = live.into_iter().collect();
    if !has_mail(&data, &points, &live) {
        return None;
    }
    let visit = visit(&data, &points, &live).await;
    visit.inspect_err(|why| tracing::warn!(%why, "no mail")).ok()
}

fn signs_of(visit: &Option<Visit>) -> Vec<Notification> {
    visit.iter().flat_map(|visit| &visit.tables).flat_map(VisitedTable::signs).collect()
}

/// The last visits, for after the interface.
#[derive(Debug)]
pub struct LastMail {
    data: Arc<DataDir>,
    points: Vec<Multiaddr>,
    running: Option<JoinHandle<Vec<Notification>>>,
    again: bool,
}

impl LastMail {
    /// Leaves the letters at the points, for twenty seconds at most. Returns where they wait, a sentence for each, and the
    /// signs of letters that have come.
    pub async fn leave(self) -> (Vec<String>, Vec<Notification>) {
        let mut signs = Vec::new();
        let visits = async {
            if let Some(running) = self.running {
                signs.extend(running.await.unwrap_or_default());
            }
            if self.again {
                signs.extend(signs_of(&visit_points(Arc::clone(&self.data), self.points, None).await));
            }
        };
        let is_done = timeout(LAST, visits).await.is_ok();
        let told = Remembered::of(&self.data).tables.into_values().flat_map(|table| table.in_words());
        let late = (!is_done).then(|| "A meeting point is slow: some letters wait for your next visit.".to_owned());
        (told.chain(late).collect(), signs)
    }
}

/// The saved games as the mail knows them, each by its table: those that play by mail, unless they were played otherwise since.
pub(super) fn mailed(view: &DataView) -> impl Iterator<Item = (String, Mailed)> {
    let journals = view.journals().unwrap_or_default();
    let mark = |file: &JournalFile| (file.table.clone(), view.clean_journal(file));
    let marks: Vec<(String, Option<String>)> = journals.iter().map(mark).collect();
    Remembered::of(view).tables.into_iter().filter_map(move |(id, mail)| {
        let same = mail.journal.is_some() && marks.iter().any(|(table, mark)| *table == id && *mark == mail.journal);
        (same && mail.by_mail).then(|| in_words(&mail)).flatten().map(|words| (id, words))
    })
}

fn in_words(mail: &TableMail) -> Option<Mailed> {
    let letters = mail.in_words();
    // Whose turn it is matters more.
    let since = mail.since_in_words().filter(|_| mail.turn != Some(WhoseTurn::Yours));
    let since = since.map_or_else(String::new, |since| format!("since {since}"));
    let state = match mail.turn.as_ref()? {
        WhoseTurn::Yours => "your turn".to_owned(),
        WhoseTurn::Asks => "asks the others".to_owned(),
        WhoseTurn::Over => "over".to_owned(),
        WhoseTurn::Others(names) if names.is_empty() => "waits for answers".to_owned(),
        WhoseTurn::Others(names) => format!("waits for {}", listed(names)),
    };
    Some(Mailed { state, since, letters })
}
