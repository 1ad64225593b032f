//! The end of a table, and what has to be on disk by then: room for deals, evidence, transcripts.

use std::path::PathBuf;

use fairdeal_games::AnyGame;
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::abandonment::Abandonment;
use fairdeal_protocol::table::fault::Fault;
use fairdeal_protocol::table::live::Stop;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_session::solved::could_have_sealed;
use tokio::task::spawn_blocking;

use crate::session::SessionEvent;
use crate::session::driver::{Attended, Driver, SessionState};
use crate::store::StoreError;
use crate::summary;

/// The files saved of an ended table.
struct Kept {
    transcript: Option<PathBuf>,
    /// The file that could not be saved, and why.
    missing: Option<String>,
}

impl Driver {
    /// A seat has a proven fault: saves the evidence; the others play on.
    pub(super) async fn guilty(&mut self, fault: &Fault, evidence: &Transcript) {
        let SessionState::Table(seated) = &mut self.stage else {
            return;
        };
        seated.guilty.insert(fault.seat);
        self.keep_evidence(evidence.clone());
        self.tell(SessionEvent::Fault {
            stopped: false,
            seat: Some(fault.seat),
            what: fault.to_string(),
            evidence: self.disk.evidence.last.clone(),
        })
        .await;
    }

    /// Saves evidence, now or at the end of the table.
    pub(super) fn keep_evidence(&mut self, evidence: Transcript) {
        self.disk.evidence.last = None;
        self.disk.evidence.unsaved.push(evidence);
        if let Err(why) = self.save_all_evidence() {
            tracing::warn!(%why, "the evidence is not saved yet");
        }
    }

    pub(super) fn save_all_evidence(&mut self) -> Result<(), StoreError> {
        while let Some(evidence) = self.disk.evidence.unsaved.last() {
            self.disk.evidence.last = self.save_evidence(evidence)?;
            self.disk.evidence.unsaved.pop();
        }
        Ok(())
    }

    /// Writes evidence that anybody can check, within the limit for one table. A local bot leaves that to its host.
    pub(super) fn save_evidence(&self, evidence: &Transcript) -> Result<Option<PathBuf>, StoreError> {
        let id = evidence.charter().table().to_string();
        let bytes = evidence.to_bytes().ok();
        let Some(bytes) = bytes.filter(|_| self.disk.local_bot.is_none()) else {
            return Ok(None);
        };
        match self.disk.data.save_evidence(&id, &bytes) {
            Ok(path) => Ok(Some(path)),
            Err(error @ StoreError::TooMuchEvidence { .. }) => {
                tracing::warn!(%error, "the evidence is not saved");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The game is over. Scripts hear nothing after that: the last position and what could not be saved come before.
    pub(super) async fn over(&mut self) {
        self.closes();
        if self.player.attended == Attended::Nobody {
            self.show().await;
        }
        let SessionState::Table(seated) = &self.stage else {
            return;
        };
        let table = &seated.table;
        let game = table.game();
        let (scores, winners) = (game.scores(), game.winners().iter().collect());
        let log = table.log_hash();
        let solitaire = (game.scores().len() == 1).then(|| table.transcript());
        let Kept { transcript, missing } = self.keep_all(None);
        self.tell_missing(missing).await;
        let over = SessionEvent::Over { scores, winners, log, transcript };
        self.tell(over).await;
        self.note_people(false).await;
        if let Some(transcript) = solitaire
            && let Ok(Some(line)) = spawn_blocking(move || could_have_sealed(transcript)).await
        {
            self.tell(SessionEvent::Line(line.to_owned())).await;
        }
    }

    /// Reserves disk space for a deal before any of the deal could be lost. If there is none, the table waits.
    pub(super) async fn reserve(&mut self) -> bool {
        let reserved = match self.disk.journal.clone() {
            // The next append also notices a panicked task.
            Some(journal) => spawn_blocking(move || journal.reserve()).await.ok(),
            None => None,
        };
        match reserved {
            Some(Err(error)) if error.is_full_disk() => {
                self.disk_is_full(&error.to_string()).await;
                return false;
            }
            // The next append reports any other failure.
            Some(Err(error)) => tracing::warn!(%error, "no room is reserved"),
            Some(Ok(())) | None => {}
        }
        self.disk.needs_room = false;
        true
    }

    /// Saves evidence and transcript, and only then ends the journal: until both are on disk, the journal is the only
    /// copy of the game.
    fn keep_all(&mut self, forfeited: Option<Seat>) -> Kept {
        // No deal follows, and the transcript may need that space.
        self.disk.needs_room = false;
        if let Some(journal) = &self.disk.journal
            && let Err(error) = journal.give_back()
        {
            tracing::warn!(%error, "the journal keeps its room");
        }
        let evidence = self.save_all_evidence().map_err(|error| format!("The evidence is not saved: {error}"));
        let transcript = self.save_transcript(forfeited).transpose();
        let (transcript, missing) = match transcript {
            Ok(path) => (path, evidence.err()),
            Err(why) => (None, Some(format!("The transcript is not saved: {why}"))),
        };
        self.disk.unsaved = missing.is_some();
        if !self.disk.unsaved {
            self.end_journal();
        }
        Kept { transcript, missing }
    }

    pub(super) async fn tell_missing(&self, missing: Option<String>) {
        if let Some(missing) = missing {
            let why = format!("{missing}. The game is not lost: `fairdeal resume` saves it.");
            self.tell(SessionEvent::Error(why)).await;
        }
    }

    /// Writes the table's transcript, with the seat that forfeited the game, if any. A local bot leaves that to its
    /// host.
    pub(super) fn save_transcript(&self, forfeited: Option<Seat>) -> Option<Result<PathBuf, String>> {
        let SessionState::Table(seated) = &self.stage else {
            return None;
        };
        self.disk.local_bot.is_none().then(|| {
            let table = &seated.table;
            let (transcript, me) = (table.transcript(), Some(table.me()));
            let kept = summary::keep(&self.disk.data, &transcript, table.replica(), me, forfeited);
            kept.map_err(|error| error.to_string())
        })
    }

    /// Replays the transcript to find which seat computed a wrong digest; `None` if it was this program.
    pub(super) fn astray(&self, seat: Seat, transcript: &Transcript) -> Option<Seat> {
        let finding = audit::<AnyGame>(transcript).finding;
        finding.and_then(|finding| finding.seat()).filter(|found| *found == seat)
    }

    pub(super) async fn stopped(&mut self, stop: Stop) {
        if matches!(stop, Stop::Deserted) {
            // Nothing is over: the journal stays, and the game can be resumed.
            return self.fail(format!("{stop}: fairdeal resume")).await;
        }
        self.closes();
        let SessionState::Table(seated) = &self.stage else {
            return;
        };
        if let Stop::Claimed(Abandonment { by, absent, ground }) = stop {
            let Kept { transcript, missing } = self.keep_all(None);
            self.disk.settled = true;
            let (by, absent) = (by.iter().collect(), absent.iter().collect());
            self.tell_missing(missing).await;
            let claimed = SessionEvent::Claimed { by, absent, ground, transcript };
            return self.tell(claimed).await;
        }
        if let Stop::Unopened(seats) = &stop {
            let names: Vec<&str> =
                seats.iter().filter_map(|seat| seated.names.get(seat.index())).map(String::as_str).collect();
            if !names.is_empty() {
                let text =
                    format!("{} did not reveal the seeds: proofs alone vouch for those shuffles.", names.join(", "));
                self.tell(SessionEvent::Line(text)).await;
            }
            self.disk.settled = true;
            return self.over().await;
        }
        let seat = match &stop {
            // Already reported and saved.
            Stop::Fault(fault) => Some(fault.seat),
            Stop::Desync(seat, _) => {
                let transcript = seated.table.transcript();
                let seat = self.astray(*seat, &transcript);
                self.keep_evidence(transcript);
                seat
            }
            // No seat is at fault.
            Stop::Removed(_) | Stop::Claimed(_) | Stop::Unopened(_) | Stop::Deserted | Stop::Broken(_) => None,
        };
        // Save the log as far as it goes, like that of any other game.
        let forfeited = seat.filter(|_| matches!(stop, Stop::Desync(..)));
        let missing = self.keep_all(forfeited).missing;
        self.tell_missing(missing).await;
        let is_evident = matches!(stop, Stop::Fault(_) | Stop::Desync(..));
        let evidence = self.disk.evidence.last.clone().filter(|_| is_evident);
        self.disk.settled = true;
        self.tell(SessionEvent::Fault { stopped: true, seat, what: stop.to_string(), evidence }).await;
    }
}
