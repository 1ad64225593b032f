//! The driver at a table: actions go in, records go to the disk, messages to the others, news to the player.

use std::path::PathBuf;
use std::time::Duration;

use fairdeal_games::{AnyAction, AnyGame, listed};
use fairdeal_net::{Multiaddr, PeerId, dialable};
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::log::entry::SignedEntry;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::abandonment::Abandonment;
use fairdeal_protocol::table::clocks::Wait;
use fairdeal_protocol::table::fault::Fault;
use fairdeal_protocol::table::live::{Event, Output, Stop, To};
use fairdeal_protocol::table::message::{Head, Message};
use fairdeal_protocol::table::replica::News;
use fairdeal_protocol::transcript::Transcript;
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::{Attended, Driver, LINGER, Seated, Stage, TICK};
use crate::session::SessionEvent;
use crate::session::frame::Frame;
use crate::session::gallery::Gallery;
use crate::session::journal::Place;
use crate::store::StoreError;
use crate::summary;
use fairdeal_ui::narrate::narrate;
use fairdeal_ui::view::{PeerState, Seating, Snapshot, Standing, Waiting, Waits, coarse};

/// Ticks in which a head that has not changed is not told, at most.
const QUIET: u32 = 2;
/// For how long a seat must be silent before its player is told, in milliseconds.
const SILENT: u64 = 15_000;

/// Outputs of a table: its records go to disk before its frames go out.
#[derive(Default)]
pub(super) struct Batch {
    records: Vec<Zeroizing<Vec<u8>>>,
    frames: Vec<Addressed>,
    news: Vec<Event<AnyGame>>,
}

/// Why something is not on disk.
pub(super) enum Unkept {
    /// There is no room, and there may be some later.
    Full(String),
    /// The disk fails in another way.
    Failed(String),
}

impl From<StoreError> for Unkept {
    fn from(error: StoreError) -> Self {
        match error.is_full_disk() {
            true => Self::Full(error.to_string()),
            false => Self::Failed(error.to_string()),
        }
    }
}

impl Driver {
    pub(super) async fn act(&mut self, action: AnyAction) {
        let Stage::Table(seated) = &mut self.stage else {
            return;
        };
        if let Err(error) = seated.table.act(action, &mut self.rng) {
            self.tell(SessionEvent::Refused(error.to_string())).await;
        }
        self.flush().await;
    }

    pub(super) async fn leave(&mut self) {
        let Stage::Table(seated) = &mut self.stage else {
            self.stage = Stage::Ended;
            return;
        };
        if seated.table.is_finished() || seated.table.stopped().is_some() {
            // Nothing is left that one could leave the others with.
            self.stage = Stage::Ended;
            return;
        }
        self.bot = None;
        if let Err(error) = seated.table.leave(&mut self.rng) {
            self.tell(SessionEvent::Refused(error.to_string())).await;
        }
        self.flush().await;
    }

    pub(super) async fn claim(&mut self) {
        let Stage::Table(seated) = &mut self.stage else {
            return;
        };
        if let Err(error) = seated.table.claim() {
            self.tell(SessionEvent::Refused(error.to_string())).await;
        }
        self.flush().await;
    }

    pub(super) async fn propose_removal(&mut self, seat: Seat) {
        let Stage::Table(seated) = &mut self.stage else {
            return;
        };
        let answer = match seated.table.propose_removal(seat) {
            Ok(()) => {
                let name = seated.names.get(seat.index()).cloned().unwrap_or_default();
                let text =
                    format!("You propose to play on without {name}; all others have to agree.");
                SessionEvent::Line(text)
            }
            Err(error) => SessionEvent::Refused(error.to_string()),
        };
        self.tell(answer).await;
        self.flush().await;
    }

    pub(super) async fn pilot_acts(&mut self) {
        self.think = None;
        let (Stage::Table(seated), Some(bot)) = (&mut self.stage, &mut self.bot) else {
            return;
        };
        let table = &seated.table;
        let choice = bot.choose(table.game(), table.me(), table.known(), &mut self.rng);
        if let Some(action) = choice {
            self.act(action).await;
        }
        // Refused (a second vote between two turns), or nothing done: the turn is still this bot's.
        if let Stage::Table(seated) = &self.stage
            && seated.table.is_my_turn()
        {
            self.plan();
        }
    }

    /// Keeps, sends and tells whatever the table has to say. While the disk is full nothing of it is said: what waits
    /// is tried again at the next tick.
    pub(super) async fn flush(&mut self) {
        loop {
            if self.needs_room && !self.reserve().await {
                return;
            }
            let waited = self.stalled.take();
            let goes_on = waited.is_some() || self.disk_full;
            let Some(batch) = waited.or_else(|| self.collect()) else {
                return;
            };
            match self.keep(&batch).await {
                Ok(()) => {}
                Err(Unkept::Full(why)) => {
                    self.stalled = Some(batch);
                    return self.disk_is_full(&why).await;
                }
                Err(Unkept::Failed(why)) => return self.fail(why).await,
            }
            self.disk_has_room().await;
            self.say_batch(batch).await;
            if !goes_on {
                return;
            }
        }
    }

    /// Tells the player, once, that nothing can be kept and so nothing is signed.
    pub(super) async fn disk_is_full(&mut self, why: &str) {
        if !std::mem::replace(&mut self.disk_full, true) {
            let text = format!("The disk is full: {why}. The table waits until there is room.");
            self.tell(SessionEvent::Disk { full: true, text }).await;
        }
    }

    /// Tells the player that the table goes on, if it has waited.
    pub(super) async fn disk_has_room(&mut self) {
        if std::mem::replace(&mut self.disk_full, false) {
            let text = "There is room on the disk again; the table goes on.".to_owned();
            self.tell(SessionEvent::Disk { full: false, text }).await;
        }
    }

    /// Shows the others that this player is there while its disk is full, with what they know already.
    pub(super) fn repeat_head(&self) {
        let (Stage::Table(seated), true, Some(head)) =
            (&self.stage, self.disk_full, &self.last_head)
        else {
            return;
        };
        let mut frames = Vec::new();
        seated.address(To::All, Message::Head(head.clone()), &mut frames);
        for Addressed { peer, frame, .. } in frames {
            if let Err(error) = self.node.send_spare(peer, frame.to_bytes()) {
                tracing::debug!(%peer, %error, "not sent");
            }
        }
    }

    /// The table's present outputs.
    fn collect(&mut self) -> Option<Batch> {
        let Stage::Table(seated) = &mut self.stage else {
            return None;
        };
        let mut batch = Batch::default();
        while let Some(output) = seated.table.poll() {
            match output {
                Output::Keep(record) => batch.records.push(record.to_bytes()),
                Output::Send(To::All, Message::Head(head)) if !seated.is_due(&head) => {}
                Output::Send(to, message) => seated.address(to, message, &mut batch.frames),
                Output::Pass(author, entry) => {
                    seated.pass_on(author, entry, &self.connected, &mut batch.frames);
                }
                Output::Event(event) => batch.news.push(event),
            }
        }
        Some(batch)
    }

    /// Puts the records of a batch on disk.
    async fn keep(&self, batch: &Batch) -> Result<(), Unkept> {
        if batch.records.is_empty() {
            return Ok(());
        }
        let Some(journal) = self.journal.clone() else {
            return Err(Unkept::Failed("this table has no journal".to_owned()));
        };
        let records = batch.records.clone();
        let kept = spawn_blocking(move || journal.append(&records)).await;
        match kept {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(Unkept::from(error)),
            Err(error) => Err(Unkept::Failed(error.to_string())),
        }
    }

    /// Sends and tells what is on disk.
    async fn say_batch(&mut self, batch: Batch) {
        let Batch { frames, news, .. } = batch;
        let changed = !news.is_empty();
        for addressed in frames {
            let Addressed { peer, frame, spare } = addressed;
            if let Frame::Table {
                message: Message::Head(head),
                ..
            } = &frame
            {
                self.last_head = Some(head.clone());
            }
            if !spare {
                self.send(peer, &frame);
            } else if let Err(error) = self.node.send_spare(peer, frame.to_bytes()) {
                tracing::debug!(%peer, %error, "not sent");
            }
        }
        self.serve();
        for event in news {
            self.news(event).await;
        }
        if changed {
            self.show().await;
            self.plan();
        }
        if let Stage::Table(seated) = &self.stage
            && (seated.table.all_finished() || seated.table.has_left())
            && seated.gallery.as_ref().is_none_or(Gallery::is_served)
        {
            self.settled = true;
            if self.attended == Attended::Nobody || seated.table.has_left() {
                // The others may still wait for our last head to be acknowledged.
                let soon = Instant::now() + Duration::from_millis(100);
                self.done = Some(self.done.map_or(soon, |end| end.min(soon)));
            }
        }
    }

    /// The table has come to an end. Its players may stay and chat, or be invited to another one.
    fn closes(&mut self) {
        self.think = None;
        if self.attended == Attended::Nobody {
            self.done = Some(Instant::now() + LINGER);
        }
    }

    /// Lets the bot think if there is something to think about.
    pub(super) fn plan(&mut self) {
        let (Stage::Table(seated), Some(pilot)) = (&self.stage, &self.pilot) else {
            return;
        };
        let table = &seated.table;
        let may_act = table.is_my_turn()
            || table
                .game()
                .legal(table.me(), table.known())
                .iter()
                .any(|action| table.game().out_of_turn(action));
        self.think = may_act.then(|| Instant::now() + pilot.delay);
    }

    /// Tells the player with which seats there has been no direct link for a while, if that is new.
    pub(super) async fn tell_indirect(&mut self) {
        let Stage::Table(seated) = &mut self.stage else {
            return;
        };
        let (before, seats) = (
            seated.indirect.told(),
            seated.reached_by_others(&self.connected),
        );
        let new = seated.indirect.update(seats, Instant::now());
        if seated.indirect.told() == before {
            return;
        }
        let names = new.iter();
        let names = names.filter_map(|seat| seated.names.get(seat.index()));
        let lines: Vec<String> = names
            .map(|name| format!("No direct link to {name}: the others relay its moves."))
            .collect();
        for line in lines {
            self.tell(SessionEvent::Line(line)).await;
        }
        self.show().await;
    }

    pub(super) async fn show(&self) {
        let Stage::Table(seated) = &self.stage else {
            return;
        };
        let table = &seated.table;
        let mut connected = seated.connected(&self.connected);
        connected.insert(table.me());
        let known = table.known().iter();
        let shares = known.map(|(card, _)| (card, table.replica().shares(card)));
        let snapshot = Snapshot {
            shares: shares.collect(),
            table: seated.id,
            me: Some(table.me()),
            names: seated.names.clone(),
            seating: Seating::of(seated.charter.charter()),
            game: table.game().clone(),
            known: table.known().clone(),
            standing: Standing::Sealed(table.progress()),
            my_turn: table.is_my_turn(),
            connected,
            indirect: seated.indirect.told(),
            round_trips: seated.round_trips.clone(),
            waits: seated.waits(),
            timing: seated.charter.charter().timing(),
        };
        self.tell(SessionEvent::Snapshot(Box::new(snapshot))).await;
    }

    pub(super) async fn news(&mut self, event: Event<AnyGame>) {
        let Stage::Table(seated) = &self.stage else {
            return;
        };
        let name = |seat: Seat| {
            seated
                .names
                .get(seat.index())
                .cloned()
                .unwrap_or_else(|| seat.to_string())
        };
        match event {
            Event::News(News::Left(seat)) => {
                if seat == seated.table.me() {
                    self.end_journal();
                    self.done = Some(Instant::now() + LINGER);
                }
                self.let_go(seat);
                let state = PeerState::Left;
                self.tell(SessionEvent::Peer { seat, state }).await;
            }
            Event::News(News::Removed(seat)) => {
                self.let_go(seat);
                let state = if seated.guilty.contains(seat) {
                    PeerState::Removed
                } else {
                    PeerState::Absent
                };
                self.tell(SessionEvent::Peer { seat, state }).await;
            }
            Event::RemovalProposed { by, out } => {
                let (table, me) = (&seated.table, seated.table.me());
                let by = name(by);
                let line = if out.contains(me) {
                    format!("{by} proposes to play on without you. If you act now, you stay.")
                } else {
                    let names: Vec<String> = out.iter().map(name).collect();
                    let agree = if out.iter().any(|seat| table.may_propose_removal(seat)) {
                        " Press x to agree."
                    } else {
                        ""
                    };
                    format!(
                        "{by} proposes to play on without {}.{agree}",
                        listed(&names)
                    )
                };
                self.tell(SessionEvent::Line(line)).await;
            }
            Event::RemovalDecided(seat) => {
                let line = format!("The others have decided to play on without {}.", name(seat));
                self.tell(SessionEvent::Line(line)).await;
            }
            Event::News(News::Finished) => self.over().await,
            Event::News(News::Deal(deal)) => {
                // It is reserved once all that has happened is told, and before anything of the deal is kept.
                self.needs_room = true;
                self.tell(SessionEvent::Deal(deal)).await;
            }
            Event::News(news) => {
                for event in narrate(news, seated.table.game(), &seated.names) {
                    self.tell(event.into()).await;
                }
            }
            Event::Step(..) | Event::YourTurn => {}
            Event::HasClosed(seat) => {
                let name = name(seat);
                let mut line =
                    format!("{name} has ended its game with a claim that you were away.");
                if seated.table.may_claim() {
                    line.push_str(" You may close yours with a claim.");
                }
                self.tell(SessionEvent::Line(line)).await;
            }
            Event::Dropped(why) => self.tell(SessionEvent::Refused(why.to_string())).await,
            Event::Fault(fault, evidence) => self.guilty(&fault, &evidence).await,
            Event::Stopped(stop) => self.stopped(stop).await,
        }
    }

    /// A seat is proven guilty: the evidence is kept, and the others play on.
    pub(super) async fn guilty(&mut self, fault: &Fault, evidence: &Transcript) {
        let Stage::Table(seated) = &mut self.stage else {
            return;
        };
        seated.guilty.insert(fault.seat);
        self.keep_evidence(evidence.clone());
        self.tell(SessionEvent::Fault {
            stopped: false,
            seat: Some(fault.seat),
            what: fault.to_string(),
            evidence: self.evidence.last.clone(),
        })
        .await;
    }

    /// Saves evidence, now or at the end of the table.
    fn keep_evidence(&mut self, evidence: Transcript) {
        self.evidence.last = None;
        self.evidence.unsaved.push(evidence);
        if let Err(why) = self.save_all_evidence() {
            tracing::warn!(%why, "the evidence is not saved yet");
        }
    }

    fn save_all_evidence(&mut self) -> Result<(), StoreError> {
        while let Some(evidence) = self.evidence.unsaved.last() {
            self.evidence.last = self.save_evidence(evidence)?;
            self.evidence.unsaved.pop();
        }
        Ok(())
    }

    /// Writes evidence for strangers, of one table as much as there is place for; a bot of the house leaves that to its
    /// host.
    pub(super) fn save_evidence(
        &self,
        evidence: &Transcript,
    ) -> Result<Option<PathBuf>, StoreError> {
        let id = evidence.charter().table().to_string();
        let bytes = evidence.to_bytes().ok();
        let Some(bytes) = bytes.filter(|_| self.keeper.house.is_none()) else {
            return Ok(None);
        };
        match self.keeper.data.save_evidence(&id, &bytes) {
            Ok(path) => Ok(Some(path)),
            Err(error @ StoreError::TooMuchEvidence { .. }) => {
                tracing::warn!(%error, "the evidence is not saved");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn over(&mut self) {
        self.closes();
        let Stage::Table(seated) = &self.stage else {
            return;
        };
        let table = &seated.table;
        let game = table.game();
        let (scores, winners) = (game.scores(), game.winners().iter().collect());
        let log = table.log_hash();
        let Kept {
            transcript,
            missing,
        } = self.keep_all(None);
        let over = SessionEvent::Over {
            scores,
            winners,
            log,
            transcript,
        };
        self.tell(over).await;
        self.tell_missing(missing).await;
    }

    /// Makes sure of room on the disk for a deal, while there is none of it to lose yet. Where there is none the table
    /// waits for it.
    async fn reserve(&mut self) -> bool {
        let reserved = match self.journal.clone() {
            // A task that has panicked is noticed when something is to be kept.
            Some(journal) => spawn_blocking(move || journal.reserve()).await.ok(),
            None => None,
        };
        match reserved {
            Some(Err(error)) if error.is_full_disk() => {
                self.disk_is_full(&error.to_string()).await;
                return false;
            }
            // Any other failure is told where something cannot be kept.
            Some(Err(error)) => tracing::warn!(%error, "no room is reserved"),
            Some(Ok(())) | None => {}
        }
        self.needs_room = false;
        true
    }

    /// Saves evidence and transcript, and only then ends the journal: with neither on disk the game would be lost.
    fn keep_all(&mut self, forfeited: Option<Seat>) -> Kept {
        // No deal comes any more, and the transcript may need that room.
        self.needs_room = false;
        if let Some(journal) = &self.journal
            && let Err(error) = journal.give_back()
        {
            tracing::warn!(%error, "the journal keeps its room");
        }
        let evidence = self.save_all_evidence();
        let evidence = evidence.map_err(|error| format!("The evidence is not saved: {error}"));
        let transcript = self.save_transcript(forfeited).transpose();
        let (transcript, missing) = match transcript {
            Ok(path) => (path, evidence.err()),
            Err(why) => (None, Some(format!("The transcript is not saved: {why}"))),
        };
        self.unsaved = missing.is_some();
        if !self.unsaved {
            self.end_journal();
        }
        Kept {
            transcript,
            missing,
        }
    }

    async fn tell_missing(&self, missing: Option<String>) {
        if let Some(missing) = missing {
            let why =
                format!("{missing}. The game is kept all the same: `fairdeal resume` saves it.");
            self.tell(SessionEvent::Error(why)).await;
        }
    }

    /// Writes the transcript of the table, whose game that seat may have forfeited; a bot of the house leaves that to
    /// its host.
    fn save_transcript(&self, forfeited: Option<Seat>) -> Option<Result<PathBuf, String>> {
        let Stage::Table(seated) = &self.stage else {
            return None;
        };
        self.keeper.house.is_none().then(|| {
            let table = &seated.table;
            let (transcript, me) = (table.transcript(), Some(table.me()));
            let kept = summary::keep(&self.keeper.data, &transcript, table.game(), me, forfeited);
            kept.map_err(|error| error.to_string())
        })
    }

    /// Seat with a wrong digest, by a replay; `None` if this program computed the wrong one.
    fn astray(&self, seat: Seat, transcript: &Transcript) -> Option<Seat> {
        let finding = audit::<AnyGame>(transcript).finding;
        finding
            .and_then(|finding| finding.seat())
            .filter(|found| *found == seat)
    }

    async fn stopped(&mut self, stop: Stop) {
        self.closes();
        let Stage::Table(seated) = &self.stage else {
            return;
        };
        if let Stop::Claimed(Abandonment { by, absent, ground }) = stop {
            let Kept {
                transcript,
                missing,
            } = self.keep_all(None);
            self.settled = true;
            let (by, absent) = (by.iter().collect(), absent.iter().collect());
            let claimed = SessionEvent::Claimed {
                by,
                absent,
                ground,
                transcript,
            };
            self.tell(claimed).await;
            return self.tell_missing(missing).await;
        }
        if let Stop::Unopened(seats) = &stop {
            let names = seats
                .iter()
                .filter_map(|seat| seated.names.get(seat.index()));
            let names: Vec<&str> = names.map(String::as_str).collect();
            if !names.is_empty() {
                let text = format!(
                    "{}: seeds not opened. Those shuffles are checked by their proofs alone.",
                    names.join(", ")
                );
                self.tell(SessionEvent::Line(text)).await;
            }
            self.settled = true;
            return self.over().await;
        }
        let seat = match &stop {
            // Told and kept already.
            Stop::Fault(fault) => Some(fault.seat),
            Stop::Desync(seat, _) => {
                let transcript = seated.table.transcript();
                let seat = self.astray(*seat, &transcript);
                self.keep_evidence(transcript);
                seat
            }
            // Nobody is to blame.
            Stop::Removed(_) | Stop::Claimed(_) | Stop::Unopened(_) | Stop::Broken(_) => None,
        };
        // The log is kept as far as it goes, as that of any other game.
        let forfeited = seat.filter(|_| matches!(stop, Stop::Desync(..)));
        let missing = self.keep_all(forfeited).missing;
        self.tell_missing(missing).await;
        let is_evident = matches!(stop, Stop::Fault(_) | Stop::Desync(..));
        let evidence = self.evidence.last.clone().filter(|_| is_evident);
        self.settled = true;
        self.tell(SessionEvent::Fault {
            stopped: true,
            seat,
            what: stop.to_string(),
            evidence,
        })
        .await;
    }
}

/// Files saved of a table that has ended.
struct Kept {
    transcript: Option<PathBuf>,
    /// The file that could not be saved, and why.
    missing: Option<String>,
}

/// In how many ticks an unchanged head is not told, given the absence timeout in milliseconds. A player who thinks is
/// heard by its heads alone: several of them must come within the timeout, or a short one would remove it.
fn quiet(absence: u64) -> u32 {
    let tick = u64::try_from(TICK.as_millis()).unwrap_or(u64::MAX);
    let spare = (absence / 4 / tick).saturating_sub(1);
    u32::try_from(spare).map_or(QUIET, |spare| spare.min(QUIET))
}

impl Seated {
    /// For whom the table waits, as its player is told.
    pub(super) fn waits(&self) -> Waits {
        let (table, clocks) = (&self.table, self.table.clocks());
        let now = super::wall_clock();
        let turn_left = |due: u64| {
            let time = clocks.limits().turn_time?;
            Some(coarse(due.saturating_add(time).saturating_sub(now)))
        };
        let waiting = |wait: Wait| {
            let silent = now.saturating_sub(wait.heard);
            Waiting {
                seat: wait.seat,
                silent: (silent >= SILENT).then(|| coarse(silent)),
                turn_left: turn_left(wait.due),
            }
        };
        // The next tick notes since when the action is due.
        let own_turn_left = table.is_my_turn().then(|| clocks.due(table.me()));
        let own_turn_left = own_turn_left.and_then(|due| turn_left(due.unwrap_or(now)));
        let others = table.waits().map(waiting);
        let told = |waiting: &Waiting| waiting.silent.is_some() || waiting.turn_left.is_some();
        let may_propose = table.replica().live().iter();
        Waits {
            seats: others.filter(told).collect(),
            may_claim: table.claim_ground(),
            may_propose: may_propose
                .filter(|seat| table.may_propose_removal(*seat))
                .collect(),
            own_turn_left,
        }
    }

    pub(super) fn seat_of(&self, peer: PeerId) -> Option<Seat> {
        self.peers
            .iter()
            .find(|(_, known)| **known == peer)
            .map(|(seat, _)| *seat)
    }

    /// Where a seat may be found: where it says that it listens, and where it did when the table was opened.
    pub(super) fn addresses_of(&self, seat: Seat, place: &Place) -> Vec<Multiaddr> {
        let heard = self.heard.get(&seat).into_iter().flatten().cloned();
        let record = self.records.get(seat.index()).zip(self.peers.get(&seat));
        let listed = record.and_then(|(record, peer)| record.of(*peer).ok());
        let listed = listed.into_iter().flatten();
        let mut known: Vec<Multiaddr> = Vec::new();
        for address in listed.chain(heard) {
            if !known.contains(&address) {
                known.push(address);
            }
        }
        dialable(known, &place.relays, place.is_local())
    }

    /// Whether a seat is still at the table.
    pub(super) fn takes_part(&self, seat: Seat) -> bool {
        self.table.replica().live().contains(seat)
    }

    /// The other seats that are connected, given the peers that are.
    pub(super) fn connected(&self, peers: &[PeerId]) -> SeatSet {
        let others = self.peers.iter();
        let here = others.filter(|(_, peer)| peers.contains(peer));
        here.map(|(seat, _)| *seat).collect()
    }

    /// The seats with which this one has no connection, and others that are connected say that they have one.
    fn reached_by_others(&self, peers: &[PeerId]) -> SeatSet {
        let connected = self.connected(peers);
        let links = self.links.iter();
        let linked = links.filter(|(seat, _)| connected.contains(**seat));
        let reached: SeatSet = linked.flat_map(|(_, seats)| seats.iter()).collect();
        let others: SeatSet = self.peers.keys().copied().collect();
        SeatSet::from_iter(reached.iter().filter(|seat| others.contains(*seat))).minus(connected)
    }

    /// Whether a head is to be told to all: at once if it is new, else now and then. Who has lost something lacks
    /// it until then; who connects is told apart.
    fn is_due(&mut self, head: &Head) -> bool {
        let most = quiet(self.table.clocks().limits().absence);
        match &mut self.told_head {
            Some((last, quiet)) if last == head && *quiet < most => {
                *quiet += 1;
                false
            }
            told => {
                *told = Some((head.clone(), 0));
                true
            }
        }
    }

    fn address(&self, to: To, message: Message, frames: &mut Vec<Addressed>) {
        let spare = match (&message, to) {
            // Said at every tick, or in answer to what is.
            (Message::Head(_) | Message::Evidence(_), _) => true,
            (Message::Entries(_) | Message::Statements(_), To::One(_)) => true,
            _ => false,
        };
        let frame = Frame::Table {
            table: self.id,
            message,
        };
        let peers = match to {
            To::One(seat) => self.peers.get(&seat).into_iter().collect::<Vec<_>>(),
            To::All => self.peers.values().collect(),
        };
        frames.extend(peers.into_iter().map(|peer| Addressed {
            peer: *peer,
            frame: frame.clone(),
            spare,
        }));
    }

    /// Hands a new entry to the seats that have no connection with its author.
    fn pass_on(
        &self,
        author: Seat,
        entry: SignedEntry,
        connected: &[PeerId],
        frames: &mut Vec<Addressed>,
    ) {
        let frame = Frame::Table {
            table: self.id,
            message: Message::Entries(vec![entry].try_into().unwrap_or_default()),
        };
        let peers = self.cut_off_from(author, connected).into_iter();
        frames.extend(peers.map(|peer| Addressed {
            peer,
            frame: frame.clone(),
            spare: false,
        }));
    }

    /// The connected seats that have no connection with that one.
    pub(super) fn cut_off_from(&self, seat: Seat, connected: &[PeerId]) -> Vec<PeerId> {
        let others = self.connected(connected).without(seat);
        let cut_off = others.iter().filter(|other| {
            let links = self.links.get(other);
            links.is_some_and(|links| !links.contains(seat))
        });
        cut_off
            .filter_map(|other| self.peers.get(&other).copied())
            .collect()
    }
}

/// A frame on its way to a peer.
struct Addressed {
    peer: PeerId,
    frame: Frame,
    /// Whether it is said again anyway, so that a busy link need not carry it.
    spare: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_absence_makes_heads_frequent() {
        let cases = [(1000, 0), (2000, 0), (4000, 1), (6000, 2), (u64::MAX, 2)];
        for (absence, ticks) in cases {
            assert_eq!(quiet(absence), ticks, "{absence} ms");
        }
    }
}
