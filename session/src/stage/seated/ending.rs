//! The end of a table, and what has to be on disk by then: evidence, the transcript, the end of the journal.

use fairdeal_games::AnyGame;
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::abandonment::Abandonment;
use fairdeal_protocol::table::fault::Fault;
use fairdeal_protocol::table::live::Stop;
use fairdeal_protocol::transcript::Transcript;

use super::Seated;
use crate::cx::{Cx, End};
use crate::events::SessionEvent;
use crate::io::{Evidence, SavedGame, Store};
use crate::past::summary::Summary;
use crate::report::{Ending, Report};
use crate::setup::Attended;

impl Seated {
    /// A seat has a proven fault: saves the evidence; the others play on. A local bot leaves the evidence to its host.
    pub(super) fn guilty(&mut self, fault: &Fault, evidence: &Transcript, cx: &mut Cx<'_>) {
        self.guilty.insert(fault.seat);
        let (seat, what) = (fault.seat, fault.to_string());
        match self.evidence(evidence, cx) {
            Some(evidence) => {
                cx.files.unsaved.push(evidence.clone());
                let order = Store::Evidence(evidence.clone());
                cx.out.tell_stored(order, Report::Fault { seat, what, evidence });
            }
            None => cx.tell(SessionEvent::Fault { stopped: false, seat: Some(seat), what, evidence: None }),
        }
    }

    fn evidence(&self, evidence: &Transcript, cx: &Cx<'_>) -> Option<Evidence> {
        let bytes = evidence.to_bytes().ok().filter(|_| cx.own.local_bot.is_none())?;
        Some(Evidence { table: self.id, bytes })
    }

    /// The game is over. Scripts hear nothing after that: the last position and what could not be saved come before.
    pub(super) fn over(&mut self, cx: &mut Cx<'_>) {
        self.closes(cx);
        if cx.own.attended == Attended::Nobody {
            self.show(cx);
        }
        let game = self.table.game();
        let (scores, winners) = (game.scores(), game.winners().iter().collect());
        let log = self.table.log_hash();
        let is_solitaire = scores.len() == 1;
        self.close(None, Ending::Over { scores, winners, log }, cx);
        self.note_people(false, cx);
        if is_solitaire {
            cx.out.tell_stored(Store::Solve(Box::new(self.table.transcript())), Report::Solved);
        }
    }

    /// Saves evidence and transcript, and only then ends the journal: until both are on disk, the journal is the only
    /// copy of the game. Then tells the player the ending. A local bot leaves the files to its host.
    fn close(&mut self, forfeited: Option<Seat>, ending: Ending, cx: &mut Cx<'_>) {
        // No deal follows, and the transcript may need that space.
        self.needs_room = false;
        let evidence = std::mem::take(&mut cx.files.unsaved);
        let transcript = cx.own.local_bot.is_none().then(|| self.saved_game(forfeited));
        cx.out.tell_stored(Store::Close { evidence, transcript }, Report::Closed(ending));
    }

    /// The table's transcript, with the seat that forfeited the game, if any.
    fn saved_game(&self, forfeited: Option<Seat>) -> Box<SavedGame> {
        let (transcript, me) = (self.table.transcript(), Some(self.table.me()));
        let summary = Summary::of_table(&transcript, self.table.replica(), me, forfeited);
        Box::new(SavedGame { table: self.id, transcript, summary })
    }

    /// The table has stopped.
    ///
    /// # Errors
    /// [`End`] if nobody else is there.
    pub(super) fn stopped(&mut self, stop: &Stop, cx: &mut Cx<'_>) -> Result<(), End> {
        if matches!(stop, Stop::Deserted) {
            // Nothing is over: the journal stays, and the game can be resumed.
            return Err(cx.fail(format!("{stop}: fairdeal resume")));
        }
        self.closes(cx);
        if let Stop::Claimed(Abandonment { by, absent, ground }) = stop {
            let ground = *ground;
            let (by, absent) = (by.iter().collect(), absent.iter().collect());
            self.close(None, Ending::Claimed { by, absent, ground }, cx);
            cx.files.settled = true;
            return Ok(());
        }
        if let Stop::Unopened(seats) = stop {
            let names: Vec<&str> =
                seats.iter().filter_map(|seat| self.names.get(seat.index())).map(String::as_str).collect();
            if !names.is_empty() {
                let text =
                    format!("{} did not reveal the seeds: proofs alone vouch for those shuffles.", names.join(", "));
                cx.tell(SessionEvent::Line(text));
            }
            cx.files.settled = true;
            self.over(cx);
            return Ok(());
        }
        let seat = match stop {
            // Already reported and saved.
            Stop::Fault(fault) => Some(fault.seat),
            Stop::Desync(seat, _) => {
                let transcript = self.table.transcript();
                let evidence = self.evidence(&transcript, cx);
                cx.files.evidence = None;
                cx.files.unsaved.extend(evidence);
                astray(*seat, &transcript)
            }
            // No seat is at fault.
            Stop::Removed(_) | Stop::Claimed(_) | Stop::Unopened(_) | Stop::Deserted | Stop::Broken(_) => None,
        };
        // Save the log as far as it goes, like that of any other game.
        let forfeited = seat.filter(|_| matches!(stop, Stop::Desync(..)));
        let is_evident = matches!(stop, Stop::Fault(_) | Stop::Desync(..));
        self.close(forfeited, Ending::Stopped { seat, what: stop.to_string(), is_evident }, cx);
        cx.files.settled = true;
        Ok(())
    }
}

/// Replays the transcript to find which seat computed a wrong digest; `None` if it was this program.
fn astray(seat: Seat, transcript: &Transcript) -> Option<Seat> {
    let finding = audit::<AnyGame>(transcript).finding;
    finding.and_then(|finding| finding.seat()).filter(|found| *found == seat)
}
