//! A session's orders to the store: carried out one after another on a blocking thread, each with its answer. Only a note in
//! the address book waits for nothing, and nothing waits for it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use fairdeal_session::io::{self, Closed, Evidence, Met, SavedGame, Store, StoreFault, StoreId, Stored};
use fairdeal_session::solved::could_have_sealed;
use tokio::task::{JoinHandle, JoinSet, spawn_blocking};

use super::saved::{Interrupted, ResumeError, of_returner};
use crate::store::{DataDir, Journal, StoreError};
use crate::summary;

/// A data directory, and the journal of the session's table.
pub(super) struct Disk {
    data: Arc<DataDir>,
    /// The journal, once there is one.
    journal: Option<Arc<Journal>>,
}

type Running = JoinHandle<(Option<Arc<Journal>>, Result<Stored, StoreFault>)>;

/// A session's store.
pub(super) struct Files {
    data: Arc<DataDir>,
    /// The journal, once there is one.
    journal: Option<Arc<Journal>>,
    waiting: VecDeque<(StoreId, Store)>,
    running: Option<(StoreId, Running)>,
    /// Notes in the address book, under way.
    notes: JoinSet<StoreId>,
}

impl Files {
    /// The store of a session, with the journal of a resumed table.
    pub(super) fn new(data: Arc<DataDir>, journal: Option<Arc<Journal>>) -> Self {
        Self { data, journal, waiting: VecDeque::new(), running: None, notes: JoinSet::new() }
    }

    /// Takes an order.
    pub(super) fn order(&mut self, id: StoreId, order: Store) {
        if let Store::Met { people, is_new } = order {
            let data = Arc::clone(&self.data);
            self.notes.spawn_blocking(move || {
                met(&data, &people, is_new);
                id
            });
            return;
        }
        self.waiting.push_back((id, order));
        self.start_next();
    }

    fn start_next(&mut self) {
        if self.running.is_some() {
            return;
        }
        if let Some((id, order)) = self.waiting.pop_front() {
            // Only a journal that nobody else holds can be deleted.
            let journal = match order {
                Store::Remove => self.journal.take(),
                _ => self.journal.clone(),
            };
            let mut disk = Disk { data: Arc::clone(&self.data), journal };
            let task = spawn_blocking(move || {
                let answer = disk.carry_out(order);
                (disk.journal, answer)
            });
            self.running = Some((id, task));
        }
    }

    /// Waits for the answer to the first order or to a note; for ever if there is none.
    pub(super) async fn answer(&mut self) -> (StoreId, Result<Stored, StoreFault>) {
        let Self { running, notes, .. } = self;
        let in_turn = async {
            match running {
                Some((id, task)) => (*id, task.await),
                None => std::future::pending().await,
            }
        };
        let (id, done) = tokio::select! {
            // A note that panics has no answer; nobody waits for one.
            Some(Ok(id)) = notes.join_next() => return (id, Ok(Stored::Done)),
            answer = in_turn => answer,
        };
        self.running = None;
        let answer = match done {
            Ok((journal, answer)) => {
                self.journal = journal;
                answer
            }
            Err(error) => Err(StoreFault::Failed(error.to_string())),
        };
        self.start_next();
        (id, answer)
    }

    /// Carries out the orders that are left.
    pub(super) async fn finish(&mut self) {
        while self.running.is_some() {
            let _ = self.answer().await;
        }
        while self.notes.join_next().await.is_some() {}
    }
}

fn fault(error: &StoreError) -> StoreFault {
    let why = error.to_string();
    if error.is_full_disk() { StoreFault::Full(why) } else { StoreFault::Failed(why) }
}

impl Disk {
    pub(super) fn new(data: Arc<DataDir>, journal: Arc<Journal>) -> Self {
        Self { data, journal: Some(journal) }
    }

    pub(super) fn carry_out(&mut self, order: Store) -> Result<Stored, StoreFault> {
        match order {
            Store::Begin(journal) => self.begin(&journal),
            Store::Return(journal) => self.come_back(&journal),
            Store::Append(records) => self.journal()?.append(&records).map(|()| Stored::Done).map_err(|e| fault(&e)),
            Store::Reserve => self.journal()?.reserve().map(|()| Stored::Done).map_err(|e| fault(&e)),
            Store::MarkClean => {
                if let Err(error) = self.journal()?.mark_clean() {
                    // The seat asks the others when it returns.
                    tracing::warn!(%error, "cannot mark a journal as clean");
                }
                Ok(Stored::Done)
            }
            Store::End => {
                self.end();
                Ok(Stored::Done)
            }
            Store::Remove => {
                self.remove();
                Ok(Stored::Done)
            }
            Store::Promise { table, seat, content, instead_of } => {
                let table = table.to_string();
                // A promise that is there may not be on disk: its sync may have failed.
                self.data.promise(&table, seat, &content).map_err(|e| fault(&e))?;
                if let Some((table, seat)) = instead_of {
                    self.data.take_back_promise(&table.to_string(), seat).map_err(|e| fault(&e))?;
                }
                Ok(Stored::Done)
            }
            Store::Evidence(evidence) => self.evidence(&evidence).map(Stored::File).map_err(|e| fault(&e)),
            Store::Close { evidence, transcript } => Ok(Stored::Closed(self.close(&evidence, transcript))),
            Store::Watched(saved) => {
                let SavedGame { transcript, summary, .. } = *saved;
                let kept = summary::keep(&self.data, &transcript, summary);
                kept.map(|path| Stored::File(Some(path))).map_err(|error| StoreFault::Failed(error.to_string()))
            }
            Store::Solve(transcript) => Ok(Stored::Solved(could_have_sealed(*transcript))),
            Store::Met { people, is_new } => {
                met(&self.data, &people, is_new);
                Ok(Stored::Done)
            }
        }
    }

    fn journal(&self) -> Result<&Journal, StoreFault> {
        self.journal.as_deref().ok_or_else(|| StoreFault::Failed("this table has no journal".to_owned()))
    }

    fn begin(&mut self, journal: &io::Journal) -> Result<Stored, StoreFault> {
        let io::Journal { table, seat, header } = journal;
        let begun = self.data.begin_journal(&table.to_string(), *seat, header).map_err(|e| fault(&e))?;
        self.journal = Some(Arc::new(begun));
        Ok(Stored::Journal { records: Vec::new(), is_clean: false, evidence: 0 })
    }

    fn come_back(&mut self, journal: &io::Journal) -> Result<Stored, StoreFault> {
        let table = journal.table.to_string();
        match of_returner(&self.data, &table, journal.seat) {
            Ok(None) => self.begin(journal),
            Ok(Some(Interrupted { records, journal, .. })) => {
                let is_clean = journal.was_clean();
                self.journal = Some(journal);
                let evidence = self.data.evidence_of(&table).map_or(0, |kept| kept.len());
                Ok(Stored::Journal { records, is_clean, evidence })
            }
            Err(ResumeError::Store(error)) => Err(fault(&error)),
            Err(error) => Err(StoreFault::Failed(error.to_string())),
        }
    }

    fn end(&self) {
        if let Some(journal) = &self.journal
            && let Err(error) = journal.end()
        {
            // The table will be offered for resuming, and end at once.
            tracing::warn!(%error, "cannot note the end of the table");
        }
    }

    fn remove(&mut self) {
        if let Some(journal) = self.journal.take().and_then(Arc::into_inner)
            && let Err(error) = journal.remove()
        {
            tracing::warn!(%error, "cannot delete the journal of a finished table");
        }
    }

    /// Writes evidence that anybody can check, within the limit for one table.
    fn evidence(&self, evidence: &Evidence) -> Result<Option<PathBuf>, StoreError> {
        match self.data.save_evidence(&evidence.table.to_string(), &evidence.bytes) {
            Ok(path) => Ok(Some(path)),
            Err(error @ StoreError::TooMuchEvidence { .. }) => {
                tracing::warn!(%error, "the evidence is not saved");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn close(&self, evidence: &[Evidence], transcript: Option<Box<SavedGame>>) -> Closed {
        // No deal follows, and the transcript may need that space.
        if let Some(journal) = &self.journal
            && let Err(error) = journal.give_back()
        {
            tracing::warn!(%error, "the journal keeps its room");
        }
        let mut closed = Closed::default();
        for evidence in evidence {
            match self.evidence(evidence) {
                Ok(path) => closed.evidence = path,
                Err(error) => {
                    closed.missing = Some(format!("The evidence is not saved: {error}"));
                    break;
                }
            }
        }
        if let Some(saved) = transcript {
            let SavedGame { transcript, summary, .. } = *saved;
            match summary::keep(&self.data, &transcript, summary) {
                Ok(path) => closed.transcript = Some(path),
                Err(error) => closed.missing = Some(format!("The transcript is not saved: {error}")),
            }
        }
        if closed.missing.is_none() {
            self.end();
        }
        closed
    }
}

/// Notes in the address book that a game with these people begins, or ends. A failure costs the note, never the game.
fn met(data: &DataDir, people: &[Met], is_new: bool) {
    let day = crate::clock::today();
    let noted = data.change_people(|book| {
        for Met { key, name, is_bot } in people {
            book.met(*key, name, *is_bot, &day, is_new);
        }
        Ok(())
    });
    if let Err(error) = noted {
        tracing::warn!(%error, "the address book is not written");
    }
}
