//! The driver at a table: takes actions, persists records, then sends messages and reports events to the player.

use std::time::Duration;

use fairdeal_games::{AnyAction, AnyGame, TableGame as _, listed};
use fairdeal_peers::PeerId;
use fairdeal_protocol::game::{Game as _, uniform};
use fairdeal_protocol::log::entry::SignedEntry;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::clocks::Waited;
use fairdeal_protocol::table::live::{Event, Output, To};
use fairdeal_protocol::table::message::{Head, Message};
use fairdeal_protocol::table::replica::News;
use fairdeal_protocol::wire::bounded::Bounded;
use fairdeal_session::narrate::narrate;
use fairdeal_session::view::{PeerState, Seating, Snapshot, Standing, Waiting, Waits, coarse};
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::{Attended, Driver, LINGER, Seated, SessionState, TICK};
use crate::session::SessionEvent;
use crate::store::StoreError;
use fairdeal_session::frame::Frame;
use fairdeal_session::spectators::Spectators;

/// How long a bot among people thinks about a call out of turn, from and to, in milliseconds.
const HESITATION: (u32, u32) = (3000, 6000);
/// Maximum number of ticks without sending an unchanged head.
const QUIET: u32 = 2;
/// How long a seat must be silent before the player hears of it, in milliseconds.
const SILENT: u64 = 15_000;

/// Outputs of a table. Its records go to disk before its frames go out.
#[derive(Default)]
pub(super) struct Batch {
    records: Vec<Zeroizing<Vec<u8>>>,
    frames: Vec<Addressed>,
    news: Vec<Event<AnyGame>>,
}

/// Why something is not on disk.
pub(super) enum Unkept {
    /// The disk is full; there may be space later.
    Full(String),
    /// The disk failed in another way.
    Failed(String),
}

impl From<StoreError> for Unkept {
    fn from(error: StoreError) -> Self {
        if error.is_full_disk() { Self::Full(error.to_string()) } else { Self::Failed(error.to_string()) }
    }
}

/// Whether a seat may act out of turn. While the game waits for it already, but its table does not yet, nothing that it
/// does is a call.
pub(super) fn may_call(game: &AnyGame, seat: Seat) -> bool {
    !game.to_act().contains(seat)
}

impl Driver {
    pub(super) async fn act(&mut self, action: AnyAction) {
        let SessionState::Table(seated) = &mut self.stage else {
            return;
        };
        if let Err(error) = seated.table.act(action, &mut self.rng) {
            if let Some(leash) = &self.autopilot.leash {
                leash.refuse();
            }
            self.tell(SessionEvent::Refused(error.to_string())).await;
        }
        self.flush().await;
    }

    pub(super) async fn leave(&mut self) {
        let SessionState::Table(seated) = &mut self.stage else {
            self.stage = SessionState::Ended;
            return;
        };
        if seated.table.is_finished() || seated.table.stopped().is_some() {
            // The game is over, so the others need no departure.
            self.stage = SessionState::Ended;
            return;
        }
        self.autopilot.retire();
        if let Err(error) = seated.table.leave(&mut self.rng) {
            self.tell(SessionEvent::Refused(error.to_string())).await;
        }
        self.flush().await;
    }

    pub(super) async fn claim(&mut self) {
        let SessionState::Table(seated) = &mut self.stage else {
            return;
        };
        if let Err(error) = seated.table.claim() {
            self.tell(SessionEvent::Refused(error.to_string())).await;
        }
        self.flush().await;
    }

    pub(super) async fn propose_removal(&mut self, seat: Seat) {
        let SessionState::Table(seated) = &mut self.stage else {
            return;
        };
        let answer = match seated.table.propose_removal(seat) {
            Ok(()) => {
                let name = seated.names.get(seat.index()).cloned().unwrap_or_default();
                let text = format!("You propose to play on without {name}. All others have to agree.");
                SessionEvent::Line(text)
            }
            Err(error) => SessionEvent::Refused(error.to_string()),
        };
        self.tell(answer).await;
        self.flush().await;
    }

    pub(super) async fn pilot_acts(&mut self) {
        self.autopilot.acts_at = None;
        let call = self.autopilot.call.take();
        if call.is_none() && self.think() {
            return;
        }
        let (SessionState::Table(seated), Some(bot)) = (&mut self.stage, &mut self.autopilot.bot) else {
            return;
        };
        let table = &seated.table;
        let choice = call.or_else(|| bot.choose(table.game(), table.me(), table.known(), &mut self.rng));
        if let Some(action) = choice {
            self.act(action).await;
        }
        // The action was refused (a second vote between two turns), or there was none: it is still this bot's turn.
        if let SessionState::Table(seated) = &self.stage
            && seated.table.is_my_turn()
        {
            self.plan().await;
        }
    }

    /// Persists, sends and reports all outputs of the table. While the disk is full nothing goes out; the next tick
    /// tries again.
    pub(super) async fn flush(&mut self) {
        loop {
            if self.disk.needs_room && !self.reserve().await {
                return;
            }
            let waited = self.disk.stalled.take();
            let goes_on = waited.is_some() || self.disk.is_full;
            let Some(batch) = waited.or_else(|| self.collect()) else {
                return;
            };
            match self.keep(&batch).await {
                Ok(()) => {}
                Err(Unkept::Full(why)) => {
                    self.disk.stalled = Some(batch);
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

    /// Tells the player, once, that the disk is full and therefore nothing is signed.
    pub(super) async fn disk_is_full(&mut self, why: &str) {
        if !std::mem::replace(&mut self.disk.is_full, true) {
            let text = format!("The disk is full: {why}. The table waits until there is room.");
            self.tell(SessionEvent::Disk { full: true, text }).await;
        }
    }

    /// Tells the player that a waiting table goes on.
    pub(super) async fn disk_has_room(&mut self) {
        if std::mem::replace(&mut self.disk.is_full, false) {
            let text = "There is room on the disk again; the game continues.".to_owned();
            self.tell(SessionEvent::Disk { full: false, text }).await;
        }
    }

    /// While this player's disk is full, shows the others that it is present by repeating its last head.
    pub(super) fn repeat_head(&self) {
        let (SessionState::Table(seated), true, Some(head)) = (&self.stage, self.disk.is_full, &self.disk.last_head)
        else {
            return;
        };
        let mut frames = Vec::new();
        seated.address(To::All, Message::Head(head.clone()), &mut frames);
        for Addressed { peer, frame, .. } in frames {
            if let Err(error) = self.node.send_best_effort(peer, frame.to_bytes()) {
                tracing::debug!(%peer, %error, "not sent");
            }
        }
    }

    /// Collects the pending outputs of the table.
    fn collect(&mut self) -> Option<Batch> {
        let SessionState::Table(seated) = &mut self.stage else {
            return None;
        };
        let mut batch = Batch::default();
        while let Some(output) = seated.table.poll() {
            match output {
                Output::Keep(record) => batch.records.push(record.to_bytes()),
                Output::Send(To::All, Message::Head(head)) if !seated.is_due(&head) => {}
                Output::Send(to, message) => seated.address(to, message, &mut batch.frames),
                Output::Pass(author, entry) => {
                    seated.pass_on(author, entry, &self.links.connected, &mut batch.frames);
                }
                Output::Event(event) => batch.news.push(event),
            }
        }
        Some(batch)
    }

    /// Appends the records of a batch to the journal.
    async fn keep(&self, batch: &Batch) -> Result<(), Unkept> {
        if batch.records.is_empty() {
            return Ok(());
        }
        let Some(journal) = self.disk.journal.clone() else {
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

    /// Sends and reports a batch whose records are on disk.
    async fn say_batch(&mut self, batch: Batch) {
        let Batch { frames, news, .. } = batch;
        let changed = !news.is_empty();
        for addressed in frames {
            let Addressed { peer, frame, spare } = addressed;
            if let Frame::Table { message: Message::Head(head), .. } = &frame {
                self.disk.last_head = Some(head.clone());
            }
            if !spare {
                self.send(peer, &frame);
            } else if let Err(error) = self.node.send_best_effort(peer, frame.to_bytes()) {
                tracing::debug!(%peer, %error, "not sent");
            }
        }
        self.serve();
        for event in news {
            self.news(event).await;
        }
        if changed {
            self.show().await;
            self.plan().await;
        }
        if let SessionState::Table(seated) = &self.stage
            && (seated.table.all_finished() || seated.table.has_left())
            && seated.spectators.as_ref().is_none_or(Spectators::is_served)
        {
            self.disk.settled = true;
            if self.player.attended == Attended::Nobody || seated.table.has_left() {
                // The others may still wait for our last head as an acknowledgement.
                let soon = Instant::now() + Duration::from_millis(100);
                self.done = Some(self.done.map_or(soon, |end| end.min(soon)));
            }
        }
    }

    /// The table has ended. Its players may stay to chat, or get an invitation to another one.
    pub(super) fn closes(&mut self) {
        self.autopilot.acts_at = None;
        if let (SessionState::Table(seated), Some(leash)) = (&self.stage, &self.autopilot.leash) {
            leash.stop();
            leash.over(seated.table.game());
        }
        if self.player.attended == Attended::Nobody {
            self.done = Some(Instant::now() + LINGER);
        }
    }

    /// Schedules the bot's next action, if it has one. A bot among people takes its time with a call out of turn: they
    /// may call first. Only this program knows about it.
    pub(super) async fn plan(&mut self) {
        let autopilot = &mut self.autopilot;
        autopilot.acts_at = None;
        autopilot.call = None;
        if let (SessionState::Table(seated), Some(thought), Some(leash)) =
            (&self.stage, &autopilot.thought, &autopilot.leash)
            && !thought.is_at(seated.table.replica().step())
        {
            leash.stop();
        }
        let (SessionState::Table(seated), Some(pilot), Some(bot)) = (&self.stage, autopilot.pilot, &mut autopilot.bot)
        else {
            return;
        };
        let table = &seated.table;
        if table.is_finished() || table.stopped().is_some() {
            return;
        }
        let (game, me, known) = (table.game(), table.me(), table.known());
        let soon = Instant::now() + pilot.delay;
        if table.is_my_turn() {
            autopilot.is_announced = false;
            autopilot.acts_at = Some(soon);
        } else if may_call(game, me) && game.legal(me, known).iter().any(|action| game.out_of_turn(action)) {
            if pilot.delay.is_zero() || autopilot.thinks {
                autopilot.acts_at = Some(soon);
                return;
            }
            let call = bot.choose(game, me, known, &mut self.rng).filter(|call| game.out_of_turn(call));
            self.hesitate(call).await;
        }
    }

    /// Takes a call out of turn after a while, or none.
    pub(super) async fn hesitate(&mut self, call: Option<AnyAction>) {
        let autopilot = &mut self.autopilot;
        let (SessionState::Table(seated), Some(pilot), Some(call)) = (&self.stage, autopilot.pilot, call) else {
            autopilot.is_announced = false;
            return;
        };
        let table = &seated.table;
        let kind = table.game().action_to_json(table.me(), &call, table.known());
        let kind = kind.get("type").and_then(|kind| kind.as_str()).map(str::to_owned);
        let hesitates = HESITATION.0 + uniform(&mut self.rng, HESITATION.1 - HESITATION.0);
        autopilot.acts_at = Some(Instant::now() + pilot.delay + Duration::from_millis(hesitates.into()));
        autopilot.call = Some(call);
        let was_announced = std::mem::replace(&mut autopilot.is_announced, true);
        if let Some(kind) = kind.filter(|_| !was_announced) {
            self.tell(SessionEvent::Calls(kind)).await;
        }
    }

    /// Tells the player about seats that have had no direct link for a while, if that has changed.
    pub(super) async fn tell_indirect(&mut self) {
        let SessionState::Table(seated) = &mut self.stage else {
            return;
        };
        let (before, seats) = (seated.indirect.told(), seated.reached_by_others(&self.links.connected));
        let new = seated.indirect.update(seats, Instant::now());
        if seated.indirect.told() == before {
            return;
        }
        let names = new.iter().filter_map(|seat| seated.names.get(seat.index()));
        let lines: Vec<String> =
            names.map(|name| format!("No direct link to {name}: the others relay its moves.")).collect();
        for line in lines {
            self.tell(SessionEvent::Line(line)).await;
        }
        self.show().await;
    }

    pub(super) async fn show(&self) {
        let SessionState::Table(seated) = &self.stage else {
            return;
        };
        let table = &seated.table;
        let mut connected = seated.connected(&self.links.connected);
        connected.insert(table.me());
        let shares = table.known().iter().map(|(card, _)| (card, table.replica().shares(card)));
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
        let SessionState::Table(seated) = &self.stage else {
            return;
        };
        let name = |seat: Seat| seated.names.get(seat.index()).cloned().unwrap_or_else(|| seat.to_string());
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
                let state = if seated.guilty.contains(seat) { PeerState::Removed } else { PeerState::Absent };
                self.tell(SessionEvent::Peer { seat, state }).await;
            }
            Event::RemovalProposed { by, out } => {
                let (table, me) = (&seated.table, seated.table.me());
                let by = name(by);
                let line = if out.contains(me) {
                    format!("{by} proposes to play on without you. If you act now, you stay.")
                } else {
                    let names: Vec<String> = out.iter().map(name).collect();
                    let agree =
                        if out.iter().any(|seat| table.may_propose_removal(seat)) { " Press x to agree." } else { "" };
                    format!("{by} proposes to play on without {}.{agree}", listed(&names))
                };
                self.tell(SessionEvent::Line(line)).await;
            }
            Event::RemovalDecided(seat) => {
                let line = format!("The others have decided to play on without {}.", name(seat));
                self.tell(SessionEvent::Line(line)).await;
            }
            Event::News(News::Finished) => self.over().await,
            Event::News(News::Deal(deal)) => {
                // `flush` reserves space after it has reported all events so far, and before it persists anything of
                // the deal.
                self.disk.needs_room = true;
                self.tell(SessionEvent::Deal(deal)).await;
            }
            Event::News(news) => {
                for event in narrate(news, &seated.names) {
                    self.tell(event.into()).await;
                }
            }
            Event::Step(..) | Event::YourTurn => {}
            Event::HasClosed(seat) => {
                let name = name(seat);
                let mut line = format!("{name} closed its game with a claim that you were away.");
                if seated.table.may_claim() {
                    line.push_str(" You can close yours with a claim.");
                }
                self.tell(SessionEvent::Line(line)).await;
            }
            Event::Dropped(why) => self.tell(SessionEvent::Refused(why.to_string())).await,
            Event::Fault(fault, evidence) => self.guilty(&fault, &evidence).await,
            Event::Stopped(stop) => self.stopped(stop).await,
        }
    }
}

/// How many ticks an unchanged head may go unsent, given the absence timeout in milliseconds. A player who is thinking
/// sends only heads. Several must arrive within the timeout, or a short timeout would remove that player.
fn quiet(absence: u64) -> u32 {
    let tick = u64::try_from(TICK.as_millis()).unwrap_or(u64::MAX);
    let spare = (absence / 4 / tick).saturating_sub(1);
    u32::try_from(spare).map_or(QUIET, |spare| spare.min(QUIET))
}

impl Seated {
    /// The seats that the table waits for, as the player sees them.
    pub(super) fn waits(&self) -> Waits {
        let (table, clocks) = (&self.table, self.table.clocks());
        let turn_left = |due: u64| {
            let time = clocks.limits().turn_time?;
            Some(coarse(time.saturating_sub(due)))
        };
        let waiting = |waited: Waited| Waiting {
            seat: waited.seat,
            silent: (waited.silent >= SILENT).then(|| coarse(waited.silent)),
            // Only a player's decision has a turn time.
            turn_left: turn_left(waited.due).filter(|_| table.is_decided_by(waited.seat)),
        };
        // The next tick records since when the action is due.
        let own_turn_left =
            table.is_my_turn().then(|| clocks.due_for(table.me())).and_then(|due| turn_left(due.unwrap_or(0)));
        let others = table.waits().map(waiting);
        let told = |waiting: &Waiting| waiting.silent.is_some() || waiting.turn_left.is_some();
        Waits {
            seats: others.filter(told).collect(),
            may_claim: table.closing(),
            may_propose: table.replica().live().iter().filter(|seat| table.may_propose_removal(*seat)).collect(),
            own_turn_left,
        }
    }

    pub(super) fn seat_of(&self, peer: PeerId) -> Option<Seat> {
        self.peers.iter().find(|(_, known)| **known == peer).map(|(seat, _)| *seat)
    }

    /// Whether a seat is still at the table.
    pub(super) fn takes_part(&self, seat: Seat) -> bool {
        self.table.replica().live().contains(seat)
    }

    /// The other seats that are connected, given the connected peers.
    pub(super) fn connected(&self, peers: &[PeerId]) -> SeatSet {
        let here = self.peers.iter().filter(|(_, peer)| peers.contains(peer));
        here.map(|(seat, _)| *seat).collect()
    }

    /// The seats without a connection to this one that connected seats report to be connected with.
    fn reached_by_others(&self, peers: &[PeerId]) -> SeatSet {
        let connected = self.connected(peers);
        let linked = self.links.iter().filter(|(seat, _)| connected.contains(**seat));
        let reached: SeatSet = linked.flat_map(|(_, seats)| seats.iter()).collect();
        let others: SeatSet = self.peers.keys().copied().collect();
        SeatSet::from_iter(reached.iter().filter(|seat| others.contains(*seat))).minus(connected)
    }

    /// Whether to send a head to all: at once if it is new, otherwise now and then. A peer that has lost a message
    /// waits until then; a newly connected one gets a head of its own.
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
        // What repeats, and every answer to something that repeats.
        let repeats = matches!(message, Message::Head(_) | Message::StateRequest(_));
        let spare = repeats || to != To::All;
        let frame = Frame::Table { table: self.id, message };
        let peers = match to {
            To::One(seat) => self.peers.get(&seat).into_iter().collect::<Vec<_>>(),
            To::All => self.peers.values().collect(),
        };
        frames.extend(peers.into_iter().map(|peer| Addressed { peer: *peer, frame: frame.clone(), spare }));
    }

    /// Forwards a new entry to the seats without a connection to its author.
    fn pass_on(&self, author: Seat, entry: SignedEntry, connected: &[PeerId], frames: &mut Vec<Addressed>) {
        let frame = Frame::Table { table: self.id, message: Message::Entries(Bounded::one(entry)) };
        let peers = self.cut_off_from(author, connected).into_iter();
        frames.extend(peers.map(|peer| Addressed { peer, frame: frame.clone(), spare: false }));
    }

    /// The connected seats that report no connection to that seat.
    pub(super) fn cut_off_from(&self, seat: Seat, connected: &[PeerId]) -> Vec<PeerId> {
        let others = self.connected(connected).without(seat);
        let cut_off = others.iter().filter(|other| {
            let links = self.links.get(other);
            links.is_some_and(|links| !links.contains(seat))
        });
        cut_off.filter_map(|other| self.peers.get(&other).copied()).collect()
    }
}

/// A frame and the peer it goes to.
struct Addressed {
    peer: PeerId,
    frame: Frame,
    /// Best-effort: it is sent again anyway, so a busy link may leave it out.
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
