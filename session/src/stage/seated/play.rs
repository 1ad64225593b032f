//! Acting at a table, and passing on what it says: records to the store, messages to the others, events to the player.

use fairdeal_games::{AnyAction, AnyGame, TableEvent as _, TableGame as _, listed};
use fairdeal_peers::PeerId;
use fairdeal_protocol::game::{Game as _, uniform};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::clocks::Waited;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::live::{Event, Output, Table, To};
use fairdeal_protocol::table::message::{Head, Message};
use fairdeal_protocol::table::replica::{News, StepKind};
use fairdeal_protocol::wire::bounded::Bounded;

use super::Seated;
use super::premove::Verdict;
use crate::autopilot::Mind;
use crate::cx::{Cx, End};
use crate::events::{Premove, SessionEvent};
use crate::frame::Frame;
use crate::io::{ProgramNews, Question, Store, StoreFault, StoreId, Stored, ThoughtId};
use crate::narrate::narrate;
use crate::outbox::{Addressed, Batch, Passage};
use crate::setup::Attended;
use crate::spectators::Spectators;
use crate::view::{PeerState, Remedy, Seating, Snapshot, Standing, Waiting, Waits, coarse};

/// How often a session resends what may have been lost, in milliseconds.
pub(crate) const TICK: u64 = 500;
/// How long a bot among people thinks about a call out of turn, from and to, in milliseconds.
const HESITATION: (u32, u32) = (3000, 6000);
/// Maximum number of ticks without sending an unchanged head.
const QUIET: u32 = 2;
/// How long a seat must be silent before the player hears of it, in milliseconds.
const SILENT: u64 = 15_000;
/// How long a seat must be silent before its program counts as one that does not answer, in milliseconds: several heads
/// are lost by then.
const UNANSWERED: u64 = 5_000;
/// From which tick on the player hears that an own action waits. Most actions are done before: a prompt that changed with
/// each of them would flicker, and the focus would move.
const PENDING: u32 = 2;
/// How long an unattended session stays after its game, to send the last entries to others, in milliseconds.
const LINGER: u64 = 10_000;
/// How long it stays once nobody needs it: the others may still wait for our last head as an acknowledgement.
const LAST_HEAD: u64 = 100;

/// How many ticks an unchanged head may go unsent, given the absence timeout in milliseconds. A player who is thinking
/// sends only heads. Several must arrive within the timeout, or a short timeout would remove that player.
fn quiet(absence: u64) -> u32 {
    let spare = (absence / 4 / TICK).saturating_sub(1);
    u32::try_from(spare).map_or(QUIET, |spare| spare.min(QUIET))
}

/// Whether this seat may act out of turn now. While cards are shuffled or opened, the game stands in the middle of an
/// action, and the cards of its last deal may be gone already. While the game waits for this seat already, but its table
/// does not yet, nothing that it does is a call.
fn may_call(table: &Table<AnyGame>) -> bool {
    matches!(table.replica().kind(), Some(StepKind::Action { .. })) && !table.game().to_act().contains(table.me())
}

/// The word on an action that is chosen while this seat asks the others what it has signed.
const KEPT_WHILE_ASKING: &str = "Your program first asks the others what it has signed. Your move is kept, and played as soon as they have answered.";

impl Seated {
    pub(super) fn act(&mut self, action: AnyAction, cx: &mut Cx<'_>) {
        self.acts(action, cx);
    }

    /// The player has chosen an action. While this seat asks the others what it has signed, that may take days by letter: an
    /// action in turn is kept ready, as the journal keeps it, and the program may be closed.
    pub(super) fn chosen(&mut self, action: AnyAction, cx: &mut Cx<'_>) {
        let (game, me) = (self.table.game(), self.table.me());
        if !self.is_asking() || game.out_of_turn(&action) {
            return self.act(action, cx);
        }
        let (object, deal) = (game.object(me, &action), self.table.replica().deal());
        let is_open = matches!(self.table.replica().kind(), Some(StepKind::Action { .. }));
        if let Some(why) = game.check(me, &action).err().filter(|_| is_open) {
            return cx.refuse(why.to_string());
        }
        let premove = Premove { action, object, deal };
        if let Verdict::Gone(why) = premove.judge(&self.table) {
            return cx.refuse(why);
        }
        self.notes.set_premove(Some(premove));
        self.shows = true;
        cx.tell(SessionEvent::Line(KEPT_WHILE_ASKING.to_owned()));
    }

    /// Acts, as soon as that is possible. Returns whether the action is accepted.
    fn acts(&mut self, action: AnyAction, cx: &mut Cx<'_>) -> bool {
        let acted = self.table.act(action, cx.rng);
        if let Err(error) = &acted {
            cx.program(ProgramNews::Refused);
            cx.refuse(error.to_string());
        }
        acted.is_ok()
    }

    /// Keeps an action ready for the player's turn instead of the one before, or none. If its moment has come it is taken at
    /// once.
    pub(super) fn premove(&mut self, premove: Option<Premove>, cx: &mut Cx<'_>) {
        let gone = premove.as_ref().map(|premove| premove.judge(&self.table));
        if let Some(Verdict::Gone(why)) = gone {
            return cx.refuse(why);
        }
        self.notes.set_premove(premove);
        self.shows = true;
    }

    /// Takes the premove if its moment has come, or drops it if that will not come. Returns whether it did.
    fn settle_premove(&mut self, cx: &mut Cx<'_>) -> bool {
        if self.is_asking() {
            return false;
        }
        let Some(premove) = self.notes.premove().cloned() else { return false };
        let has_ended = self.table.is_finished() || self.table.stopped().is_some() || self.table.is_leaving();
        let verdict = if has_ended { None } else { Some(premove.judge(&self.table)) };
        match verdict {
            Some(Verdict::Waits) => return false,
            Some(Verdict::Due) if self.acts(premove.action, cx) => {
                cx.tell(SessionEvent::Line("Your prepared move was played.".to_owned()));
            }
            Some(Verdict::Gone(why)) => {
                let text = format!("Your prepared move was dropped: {why}.");
                cx.tell(SessionEvent::Line(text.clone()));
                cx.refuse(text);
            }
            Some(Verdict::Due) | None => {}
        }
        self.notes.set_premove(None);
        self.shows = true;
        true
    }

    /// Counts the ticks for which the player's own action has been waiting in the open step.
    pub(super) fn count_pending(&mut self) {
        let step = self.table.replica().step();
        self.pending = self.table.pending().map(|_| match self.pending {
            Some((at, ticks)) if at == step => (step, ticks.saturating_add(1)),
            _ => (step, 1),
        });
    }

    pub(super) fn leave(&mut self, cx: &mut Cx<'_>) {
        if self.table.is_finished() || self.table.stopped().is_some() {
            // The game is over, so the others need no departure.
            self.quits = true;
            return;
        }
        cx.program(ProgramNews::Retire);
        cx.pilot.retire();
        match self.table.leave(cx.rng) {
            Ok(()) => self.shows = true,
            Err(error) => cx.refuse(error.to_string()),
        }
    }

    pub(super) fn claim(&mut self, cx: &mut Cx<'_>) {
        if let Err(error) = self.table.claim() {
            cx.refuse(error.to_string());
        }
    }

    pub(super) fn propose_removal(&mut self, seat: Seat, cx: &mut Cx<'_>) {
        match self.table.propose_removal(seat) {
            Ok(()) => {
                let name = self.names.get(seat.index()).cloned().unwrap_or_default();
                let text = format!("You propose to play on without {name}. All others have to agree.");
                cx.tell(SessionEvent::Line(text));
            }
            Err(error) => cx.refuse(error.to_string()),
        }
    }

    /// Persists, sends and reports all outputs of the table, as far as the barrier lets them through; then shows the
    /// table and asks the bot, if that is due.
    ///
    /// # Errors
    /// [`End`] if nobody else is left at the table, or once the player has quit and all that is signed is out.
    pub(super) fn go_on(&mut self, cx: &mut Cx<'_>) -> Result<(), End> {
        while !cx.out.is_shut() {
            if std::mem::take(&mut self.needs_room) {
                cx.out.reserve();
                return Ok(());
            }
            let batch = self.collect(&cx.links.connected, cx.now.up);
            if batch.is_empty() {
                if !self.quits && self.settle_premove(cx) {
                    continue;
                }
                if !self.due.is_empty() && cx.out.holds_records() {
                    // A letter rests on them.
                    cx.out.keep(Batch { is_urgent: true, ..Batch::default() });
                    return Ok(());
                }
                break;
            }
            self.telling = self.table.mark();
            let Some(news) = cx.out.keep(batch) else {
                return Ok(());
            };
            self.told = self.telling;
            if !cx.out.holds_records() {
                self.kept = self.told;
            }
            self.report(news, cx)?;
        }
        if cx.out.is_shut() {
            return Ok(());
        }
        if self.quits {
            return Err(self.pause(cx));
        }
        self.serve(cx);
        // Whether this seat may sign can change with whom it meets.
        let turns = self.table.is_my_turn() != self.shown_turn;
        self.plans |= turns;
        if std::mem::take(&mut self.shows) || turns {
            self.show(cx);
        }
        self.answer_letters(cx);
        if std::mem::take(&mut self.plans) {
            self.plan(cx);
        }
        self.settle(cx);
        Ok(())
    }

    /// Handles the store's answer to what the table waits for.
    pub(super) fn stored(
        &mut self,
        id: StoreId,
        answer: &Result<Stored, StoreFault>,
        cx: &mut Cx<'_>,
    ) -> Result<(), End> {
        match cx.out.passes(id, answer) {
            None => Ok(()),
            Some(Passage::Open(news)) => {
                self.told = self.telling;
                // A reservation stores no records.
                if !cx.out.holds_records() {
                    self.kept = self.told;
                }
                cx.disk_has_room();
                self.report(news, cx)
            }
            Some(Passage::Full(why)) => {
                cx.disk_is_full(&why);
                Ok(())
            }
            Some(Passage::Failed(why)) => Err(cx.fail(why)),
        }
    }

    /// Collects the pending outputs of the table.
    fn collect(&mut self, connected: &[PeerId], now: u64) -> Batch {
        // The player relies on notes from now on.
        let mut batch = Batch { is_urgent: self.notes.has_new(), ..Batch::default() };
        batch.records.extend(self.notes.records().iter().map(Record::to_bytes));
        let mut has_spoken = false;
        while let Some(output) = self.table.poll() {
            match output {
                Output::Keep(record) => batch.records.push(record.to_bytes()),
                Output::Send(To::All, Message::Head(head)) if !self.is_due(&head) => {}
                Output::Send(to, message) => {
                    let is_entry = to == To::All && matches!(message, Message::Entries(_));
                    let mut frame = self.addressed(to, message);
                    if is_entry {
                        has_spoken = true;
                        self.drafts.says(now);
                        batch.frames.extend(self.splice(&mut frame, now));
                    } else if frame.to.first().is_some_and(|peer| self.drafts.has_just_left(&frame.bytes, *peer, now)) {
                        // The head that this answers was sent before the short entry came.
                        continue;
                    }
                    batch.frames.push(frame);
                }
                Output::Pass(author, entry) => {
                    // Forwarded to the seats without a connection to its author.
                    let to = self.without_link_to(author, connected);
                    if !to.is_empty() {
                        let message = Message::Entries(Bounded::one(entry));
                        let bytes = Frame::Table { table: self.id, message }.to_bytes();
                        batch.frames.push(Addressed { to, bytes, best_effort: false, is_head: false });
                    }
                }
                Output::Event(event) => batch.news.push(event),
            }
        }
        let is_quiet = std::mem::take(&mut self.sends_draft) && self.drafts.is_quiet(now);
        if let Some(deal) = self.table.draft_due() {
            if self.drafts.deal() == Some(deal) {
                if has_spoken || is_quiet {
                    self.send_draft(deal, connected, is_quiet, &mut batch);
                }
            } else if batch.is_empty() {
                // Nothing waits for the shuffle. Without one the table has nothing to keep back.
                self.drafts.begin(deal, self.table.draft().unwrap_or_default());
            }
        }
        batch
    }

    /// Takes those seats off a frame that have been sent something of the draft in it, and returns shorter ones for them.
    fn splice(&mut self, frame: &mut Addressed, now: u64) -> Vec<Addressed> {
        let short = self.drafts.splice(&frame.bytes, &frame.to, now);
        frame.to.retain(|peer| short.iter().all(|(to, _)| to != peer));
        let short = short.into_iter();
        short
            .map(|(to, frame)| Addressed { to: vec![to], bytes: frame.to_bytes(), best_effort: false, is_head: false })
            .collect()
    }

    /// Sends the next fragments of this seat's shuffle for the next deal. They leave behind the records of all that the table
    /// has completed: one preparation serves one deck, whatever crashes.
    fn send_draft(&mut self, deal: u32, connected: &[PeerId], is_quiet: bool, batch: &mut Batch) {
        let here = self.peers.iter().filter(|(seat, peer)| self.takes_part(**seat) && connected.contains(peer));
        let here: Vec<PeerId> = here.map(|(_, peer)| *peer).collect();
        for (peer, frame) in self.drafts.fragments(&here, is_quiet) {
            let bytes = frame.to_bytes();
            batch.frames.push(Addressed { to: vec![peer], bytes, best_effort: false, is_head: false });
        }
        if self.drafts.is_out(&here) {
            self.table.has_sent_draft(deal);
        }
    }

    fn addressed(&self, to: To, message: Message) -> Addressed {
        // What repeats, and every answer to something that repeats.
        let repeats = matches!(message, Message::Head(_) | Message::StateRequest(_));
        let is_head = matches!(message, Message::Head(_));
        let best_effort = repeats || to != To::All;
        let to = match to {
            To::One(seat) => self.peers.get(&seat).copied().into_iter().collect(),
            To::All => self.peers.values().copied().collect(),
        };
        let bytes = Frame::Table { table: self.id, message }.to_bytes();
        Addressed { to, bytes, best_effort, is_head }
    }

    /// Whether to send a head to all: now and then while it stays the same. A new one waits for the next tick, because in a
    /// game that goes on it is old by then, and all that it would say is in this seat's entries. The last one of all waits
    /// for nothing. A peer that has lost a message waits until then; a newly connected one gets a head of its own.
    fn is_due(&mut self, head: &Head) -> bool {
        let most = quiet(self.table.clocks().limits().absence);
        let is_last = self.table.is_finished() || self.table.has_left();
        let (due, quiet) = match &self.told_head {
            Some((last, quiet)) if last == head => (*quiet >= most, quiet.saturating_add(1)),
            _ => (is_last, most),
        };
        self.told_head = Some((head.clone(), if due { 0 } else { quiet }));
        due
    }

    /// Reports the news of a batch. What an end rests on is on disk; other records may still wait for a message.
    fn report(&mut self, news: Vec<Event<AnyGame>>, cx: &mut Cx<'_>) -> Result<(), End> {
        // The table may have gone on meanwhile: it is shown once its steps are told, and the bot asked once all is out.
        self.shows |= !news.is_empty();
        self.plans |= !news.is_empty();
        for event in news {
            self.news(event, cx)?;
        }
        self.show_told(cx);
        Ok(())
    }

    /// Shows the table while its output waits, unless it has completed a step that is not told yet.
    pub(super) fn show_told(&mut self, cx: &mut Cx<'_>) {
        // Whether it is the player's turn is known once the premove is settled.
        let is_due = || self.notes.premove().is_some_and(|premove| premove.judge(&self.table) == Verdict::Due);
        if self.shows && self.table.mark() == self.told && !is_due() {
            self.shows = false;
            self.show(cx);
        }
    }

    /// Once all have all, nobody needs this table's journal, and an unattended session may end.
    fn settle(&mut self, cx: &mut Cx<'_>) {
        let all_have_all = self.table.all_finished() || self.table.has_left();
        if all_have_all && self.spectators.as_ref().is_none_or(Spectators::is_served) {
            cx.files.settled = true;
            if cx.own.attended == Attended::Nobody || self.table.has_left() {
                let soon = cx.now.up.saturating_add(LAST_HEAD);
                cx.done = Some(cx.done.map_or(soon, |end| end.min(soon)));
            }
        }
    }

    /// A person has begun or ceased to follow the events. After the end of the table an unattended session may end, and a
    /// person may stay.
    pub(super) fn attended(&mut self, cx: &mut Cx<'_>) {
        let has_ended = self.table.is_finished() || self.table.stopped().is_some();
        if !has_ended || self.table.has_left() {
            return;
        }
        match cx.own.attended {
            Attended::Person => cx.done = None,
            Attended::Nobody => {
                cx.done = Some(cx.now.up.saturating_add(LINGER));
                self.settle(cx);
            }
        }
    }

    /// The table has ended. Its players may stay to chat, or get an invitation to another one.
    pub(super) fn closes(&mut self, cx: &mut Cx<'_>) {
        cx.pilot.acts_at = None;
        if cx.pilot.is_program() {
            cx.program(ProgramNews::Stop);
            cx.program(ProgramNews::Over(Box::new(self.table.game().clone())));
        }
        if cx.own.attended == Attended::Nobody {
            cx.done = Some(cx.now.up.saturating_add(LINGER));
        }
    }

    /// Schedules the bot's next action, if it has one. A bot among people takes its time with a call out of turn: they
    /// may call first. Only this program knows about it.
    fn plan(&mut self, cx: &mut Cx<'_>) {
        let step = self.table.replica().step();
        cx.pilot.acts_at = None;
        cx.pilot.call = None;
        if cx.pilot.asked.is_some_and(|(_, asked)| asked != step) {
            cx.program(ProgramNews::Stop);
        }
        let table = &self.table;
        if table.is_finished() || table.stopped().is_some() {
            return;
        }
        let (game, me, known) = (table.game(), table.me(), table.known());
        let delay = cx.pilot.delay();
        let soon = cx.now.up.saturating_add(delay);
        let Cx { shared, rng, .. } = cx;
        let calls = may_call(table) && game.legal(me, known).iter().any(|action| game.out_of_turn(action));
        match &mut shared.pilot.mind {
            Mind::Nobody => {}
            _ if table.is_my_turn() => {
                shared.pilot.is_announced = false;
                shared.pilot.acts_at = Some(soon);
            }
            Mind::Here(bot) if delay > 0 && calls => {
                let call = bot.choose(game, me, known, rng).filter(|call| game.out_of_turn(call));
                self.hesitate(call, cx);
            }
            _ if calls => shared.pilot.acts_at = Some(soon),
            _ => {}
        }
    }

    /// Takes a call out of turn after a while, or none.
    fn hesitate(&mut self, call: Option<AnyAction>, cx: &mut Cx<'_>) {
        let Some(call) = call else {
            cx.pilot.is_announced = false;
            return;
        };
        let table = &self.table;
        let kind = table.game().action_to_json(table.me(), &call, table.known());
        let kind = kind.get("type").and_then(|kind| kind.as_str()).map(str::to_owned);
        let hesitates = HESITATION.0 + uniform(&mut *cx.rng, HESITATION.1 - HESITATION.0);
        cx.pilot.acts_at = Some(cx.now.up.saturating_add(cx.pilot.delay()).saturating_add(hesitates.into()));
        cx.pilot.call = Some(call);
        let was_announced = std::mem::replace(&mut cx.pilot.is_announced, true);
        if let Some(kind) = kind.filter(|_| !was_announced) {
            cx.tell(SessionEvent::Calls(kind));
        }
    }

    /// The bot acts, or is asked.
    pub(super) fn pilot_acts(&mut self, cx: &mut Cx<'_>) {
        let table = &self.table;
        let (game, me, known) = (table.game(), table.me(), table.known());
        let call = cx.pilot.call.take();
        let Cx { shared, rng, .. } = cx;
        let choice = match (call, &mut shared.pilot.mind) {
            (Some(call), _) => Some(call),
            (None, Mind::Nobody) => return,
            (None, Mind::Elsewhere) => return self.ask(cx),
            (None, Mind::Here(bot)) => bot.choose(game, me, known, rng),
        };
        if let Some(action) = choice {
            self.act(action, cx);
        }
        // The action was refused (a second vote between two turns), or there was none: it is still this bot's turn.
        self.plans |= self.table.is_my_turn();
    }

    /// Asks the bot for its action, unless it still thinks.
    fn ask(&self, cx: &mut Cx<'_>) {
        if cx.pilot.asked.is_some() {
            return;
        }
        let table = &self.table;
        let mut seed = [0; 32];
        cx.rng.fill_bytes(&mut seed);
        let question = Question { game: table.game().clone(), seat: table.me(), known: table.known().clone(), seed };
        cx.pilot.asked = Some((cx.out.think(question), table.replica().step()));
    }

    /// The bot has thought: it acts, unless the table has gone on meanwhile.
    pub(super) fn has_thought(&mut self, id: ThoughtId, choice: Option<AnyAction>, cx: &mut Cx<'_>) {
        let Some((_, step)) = cx.pilot.asked.take_if(|(asked, _)| *asked == id) else {
            return;
        };
        let table = &self.table;
        let is_stale = table.replica().step() != step;
        let choice = choice.filter(|_| !is_stale);
        let is_call = |action: &AnyAction| table.game().out_of_turn(action) && may_call(table);
        let is_slow = cx.pilot.delay() > 0;
        match choice {
            Some(action) if table.is_my_turn() => self.act(action, cx),
            Some(action) if is_call(&action) && !is_slow => self.act(action, cx),
            choice if !is_stale => {
                let call = choice.filter(is_call);
                self.hesitate(call, cx);
            }
            _ => {}
        }
        self.plans |= is_stale || self.table.is_my_turn();
    }

    /// Shows the player the table.
    pub(super) fn show(&mut self, cx: &mut Cx<'_>) {
        self.shown_turn = self.table.is_my_turn();
        let table = &self.table;
        let mut connected = self.connected(&cx.links.connected);
        connected.insert(table.me());
        let shares = table.known().iter().map(|(card, _)| (card, table.replica().shares(card)));
        let snapshot = Snapshot {
            shares: shares.collect(),
            table: self.id,
            me: Some(table.me()),
            names: self.names.clone(),
            seating: Seating::of(self.charter.charter()),
            game: table.game().clone(),
            known: table.known().clone(),
            standing: Standing::Sealed(table.progress()),
            my_turn: table.is_my_turn(),
            connected,
            indirect: self.indirect.told(),
            waits: self.waits(),
            timing: self.charter.charter().timing(),
            holidays: self.holidays(),
            holidays_left: self.holidays_left(),
        };
        cx.tell(SessionEvent::Snapshot(Box::new(snapshot)));
    }

    fn news(&mut self, event: Event<AnyGame>, cx: &mut Cx<'_>) -> Result<(), End> {
        match event {
            Event::News(News::Left(seat)) => {
                if seat == self.table.me() {
                    cx.files.is_dispensable = true;
                    cx.out.store(Store::End);
                    cx.done = Some(cx.now.up.saturating_add(LINGER));
                }
                self.let_go(seat, cx);
                self.tell(SessionEvent::Peer { seat, state: PeerState::Left }, cx);
            }
            Event::News(News::Removed(seat)) => {
                self.let_go(seat, cx);
                let state = if self.guilty.contains(seat) { PeerState::Removed } else { PeerState::Absent };
                self.tell(SessionEvent::Peer { seat, state }, cx);
            }
            Event::RemovalProposed { by, out } => {
                let (table, me) = (&self.table, self.table.me());
                let by = self.name(by);
                let (line, asks) = if out.contains(me) {
                    (format!("{by} proposes to play on without you. If you act now, you stay."), true)
                } else {
                    let names: Vec<String> = out.iter().map(|seat| self.name(seat)).collect();
                    let asks = out.iter().any(|seat| table.may_propose_removal(seat));
                    let agree = if asks { " Press x to agree." } else { "" };
                    (format!("{by} proposes to play on without {}.{agree}", listed(&names)), asks)
                };
                cx.tell(SessionEvent::RemovalProposed { line, out: out.iter().collect(), asks });
            }
            Event::RemovalDecided(seat) => {
                let line = format!("The others have decided to play on without {}.", self.name(seat));
                cx.tell(SessionEvent::Line(line));
            }
            Event::News(News::Finished) => self.over(cx),
            Event::News(News::Deal(deal)) => {
                // Room for the rest of the deal, and for the setup of the next one.
                self.needs_room = true;
                self.tell(SessionEvent::Deal(deal), cx);
            }
            Event::News(news) => {
                if let News::Action { seat, action, .. } = &news
                    && *seat == self.table.me()
                    && !self.table.game().out_of_turn(action)
                {
                    // The turn that it was kept for has been played: by another program, if this one was behind.
                    self.notes.set_premove(None);
                }
                for event in narrate(news, &self.names) {
                    self.tell(event.into(), cx);
                }
            }
            Event::Step(..) | Event::YourTurn => {}
            Event::HasClosed(seat) => {
                let name = self.name(seat);
                let line = if self.closed_by().is_empty() {
                    format!("{name} closed the table without you. The others play on without {name}.")
                } else {
                    format!("{name} closed the table because you were away. The game stays unfinished.")
                };
                cx.tell(SessionEvent::Line(line));
            }
            Event::Extended(before, said) => {
                for event in self.extended(before.as_deref(), &said) {
                    cx.tell(event);
                }
            }
            Event::Dropped(why) => cx.refuse(why.to_string()),
            Event::Fault(fault, evidence) => self.guilty(&fault, &evidence, cx),
            Event::Stopped(stop) => return self.stopped(&stop, cx),
        }
        Ok(())
    }

    /// After a return, reports earlier events as log lines only, and the ending if there was one. `kept` is the number of
    /// evidence files that are saved already.
    pub(super) fn history(&mut self, kept: usize, cx: &mut Cx<'_>) -> Result<(), End> {
        let mut events = Vec::new();
        while let Some(output) = self.table.poll() {
            if let Output::Event(event) = output {
                events.push(event);
            }
        }
        for event in events {
            match event {
                Event::News(News::Game(event)) => {
                    let line = event.text(&self.names);
                    cx.tell(SessionEvent::Line(line));
                }
                Event::Extended(before, said) => {
                    for event in self.extended(before.as_deref(), &said) {
                        if let SessionEvent::Extended { line, .. } = event {
                            cx.tell(SessionEvent::Line(line));
                        }
                    }
                }
                Event::Fault(fault, evidence) => {
                    self.guilty.insert(fault.seat);
                    if kept < self.guilty.len() {
                        self.guilty(&fault, &evidence, cx);
                    }
                }
                event @ (Event::News(News::Finished) | Event::Stopped(_)) => self.news(event, cx)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The seats that the table waits for, as the player sees them.
    pub(super) fn waits(&self) -> Waits {
        let (table, clocks) = (&self.table, self.table.clocks());
        let turn_left = |seat: Seat| clocks.turn_left(seat).map(coarse);
        let far = self.indirect.seats();
        let waiting = |waited: Waited| Waiting {
            seat: waited.seat,
            // Somebody else hears a seat that is reached through others.
            silent: (waited.silent >= SILENT && !far.contains(waited.seat)).then(|| coarse(waited.silent)),
            // Only a player's decision has a turn time.
            turn_left: turn_left(waited.seat).filter(|_| table.is_decided_by(waited.seat)),
            holiday: self.on_holiday(waited.seat),
        };
        let own_turn_left = table.is_my_turn().then(|| turn_left(table.me())).flatten();
        let others = table.waits().map(waiting);
        let told =
            |waiting: &Waiting| waiting.silent.is_some() || waiting.turn_left.is_some() || waiting.holiday.is_some();
        let unanswering = self.unanswering();
        let step = table.replica().step();
        Waits {
            pending: table.pending().filter(|_| self.pending.is_some_and(|(at, ticks)| at == step && ticks >= PENDING)),
            premove: self.notes.premove().map(|premove| premove.action.clone()),
            is_leaving: table.is_leaving(),
            has_called: table.has_called(),
            unanswering,
            remedy: self.remedy(unanswering),
            closed_by: self.closed_by(),
            seats: others.filter(told).collect(),
            may_claim: table.closing(),
            may_propose: table.replica().live().iter().filter(|seat| table.may_propose_removal(*seat)).collect(),
            own_turn_left,
            reserves: self.reserves(),
        }
    }

    /// The live seats of other parties that have been silent for a while, and that nobody else reaches.
    fn unanswering(&self) -> SeatSet {
        let (table, clocks) = (&self.table, self.table.clocks());
        if table.is_finished() || table.stopped().is_some() {
            return SeatSet::EMPTY;
        }
        let parties = table.replica().parties();
        let own = parties.party_of(table.me());
        let near = table.replica().live().minus(self.indirect.seats());
        let others = near.iter().filter(|seat| parties.party_of(*seat) != own);
        others.filter(|seat| clocks.silent_for(*seat).is_some_and(|silent| silent >= UNANSWERED)).collect()
    }

    /// The remedy if seats still do not answer, and in how many seconds. None, while the table does not wait for any of
    /// them.
    fn remedy(&self, unanswering: SeatSet) -> Option<(Remedy, u64)> {
        let (table, clocks) = (&self.table, self.table.clocks());
        let (live, parties) = (table.replica().live(), table.replica().parties());
        let absence = clocks.limits().absence;
        let awaited = table.waits().map(|waited| waited.seat).filter(|seat| unanswering.contains(*seat));
        let overdue = awaited.filter_map(|seat| clocks.until_overdue(seat)).max()?;
        // On a holiday nothing comes nearer.
        if unanswering.iter().any(|seat| clocks.holiday_until(seat).is_some()) {
            return None;
        }
        let left = unanswering.iter().filter_map(|seat| clocks.until_absent(seat)).max()?.max(overdue);
        let remedy = if parties.is_majority(live, live.minus(unanswering)) { Remedy::PlayOn } else { Remedy::Close };
        // A program that has just begun waits for as long again.
        let awake = if remedy == Remedy::Close { clocks.awake() } else { u64::MAX };
        (table.closing().is_none()).then(|| (remedy, coarse(left.max(absence.saturating_sub(awake)))))
    }

    /// The seats that have closed the table for themselves, if those left are too few to play on.
    pub(super) fn closed_by(&self) -> SeatSet {
        let (table, quit) = (&self.table, self.table.quit());
        let (live, parties) = (table.replica().live(), table.replica().parties());
        let goes_on = table.game().is_over() || parties.is_majority(live, live.minus(quit));
        if goes_on { SeatSet::EMPTY } else { quit }
    }
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
