//! All that a session says, and the one place that decides when it leaves.
//!
//! **An append is a barrier.** Nothing that a table says leaves before the records that it rests on are on disk: after a
//! crash, a seat that had said more than it remembers would sign the same place twice. So a table's messages and news
//! go through [`Outbox::keep`], with the records that come first, and wait for the store. Everything else ([`send`]:
//! chat, the lobby, pages of complete steps; [`transport`]) rests on no record, and passes. While the disk is full the
//! barrier stays shut, and only the last head is repeated: it shows the others that this player is present.
//!
//! **Records without a message are no reason to sync.** Nobody has seen anything of this seat that rests on them: the
//! entries that complete a step are the others' own, who keep them. So they wait for the next message, mostly a head within a
//! second, or for an end, which is told once it is on disk. Each sync lies between somebody's action and what everybody
//! sees of it.
//!
//! **Events are told in order.** An event that waits for the store (the file of a transcript) holds back those behind
//! it.
//!
//! [`send`]: Outbox::send
//! [`transport`]: Outbox::transport

use std::collections::VecDeque;
use std::sync::Arc;

use fairdeal_games::AnyGame;
use fairdeal_peers::PeerId;
use fairdeal_protocol::table::live::Event;
use fairdeal_protocol::table::replica::News;
use zeroize::Zeroizing;

use crate::events::SessionEvent;
use crate::frame::Frame;
use crate::io::{Output, ProgramNews, Question, Store, StoreFault, StoreId, Stored, ThoughtId, Transport};

/// Messages and news of a table, and the records that they rest on.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) records: Vec<Zeroizing<Vec<u8>>>,
    pub(crate) frames: Vec<Addressed>,
    pub(crate) news: Vec<Event<AnyGame>>,
    /// Whether the records are to be on disk before anything else is done, although no message rests on them.
    pub(crate) is_urgent: bool,
}

impl Batch {
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.frames.is_empty() && self.news.is_empty()
    }
}

/// An encoded frame of a table, and the peers that it goes to.
pub(crate) struct Addressed {
    pub(crate) to: Vec<PeerId>,
    pub(crate) bytes: Vec<u8>,
    /// Best-effort: it is sent again anyway, so a busy link may leave it out.
    pub(crate) best_effort: bool,
    /// Whether it is a head, which may be repeated.
    pub(crate) is_head: bool,
}

/// An order that the table's output waits for.
#[derive(Clone)]
enum Wanted {
    Append(Arc<[Zeroizing<Vec<u8>>]>),
    Reserve,
}

impl Wanted {
    fn order(&self) -> Store {
        match self {
            Self::Append(records) => Store::Append(Arc::clone(records)),
            Self::Reserve => Store::Reserve,
        }
    }
}

/// The shut barrier: an order without an answer, and what waits behind it.
struct Barrier {
    wanted: Wanted,
    /// `None` after a full disk, until it is asked again.
    asked: Option<StoreId>,
    frames: Vec<Addressed>,
    news: Vec<Event<AnyGame>>,
}

/// The store's answer to the order at the barrier.
#[derive(Debug)]
pub(crate) enum Passage {
    /// The records are on disk and the frames are out; here is the news.
    Open(Vec<Event<AnyGame>>),
    /// The disk is full: the barrier stays shut.
    Full(String),
    Failed(String),
}

/// An event in line for the player.
#[derive(Debug)]
enum Line<R> {
    Ready(SessionEvent),
    /// Waits for an answer of the store.
    Waits(StoreId, R),
}

/// All that a session says. `R` is what makes events of an answer of the store.
pub(crate) struct Outbox<R> {
    queue: VecDeque<Output>,
    line: VecDeque<Line<R>>,
    barrier: Option<Barrier>,
    /// Records that no message rests on yet.
    held: Vec<Zeroizing<Vec<u8>>>,
    /// The bytes of the last head that went out; everything it names is on disk.
    head: Option<Vec<u8>>,
    next: u64,
}

impl<R> Default for Outbox<R> {
    fn default() -> Self {
        Self { queue: VecDeque::new(), line: VecDeque::new(), barrier: None, held: Vec::new(), head: None, next: 0 }
    }
}

impl<R> Outbox<R> {
    /// The next output.
    pub(crate) fn poll(&mut self) -> Option<Output> {
        self.queue.pop_front()
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Sends a frame that rests on no record. A table's messages go through [`Self::keep`].
    pub(crate) fn send(&mut self, to: Vec<PeerId>, frame: &Frame) {
        let is_tables = matches!(frame, Frame::Table { .. } | Frame::Draft { .. } | Frame::Spliced { .. });
        debug_assert!(!is_tables, "a message of the table would pass the barrier");
        if !to.is_empty() {
            self.queue.push_back(Output::Send { to, bytes: frame.to_bytes(), best_effort: false });
        }
    }

    pub(crate) fn transport(&mut self, order: Transport) {
        self.queue.push_back(Output::Transport(order));
    }

    /// Orders something of the store; the answer has the same number.
    pub(crate) fn store(&mut self, order: Store) -> StoreId {
        match order {
            Store::MarkClean | Store::End | Store::Close { .. } => self.append_held(),
            Store::Remove => self.held.clear(),
            _ => {}
        }
        let id = StoreId(self.number());
        self.queue.push_back(Output::Store(id, order));
        id
    }

    /// Appends what no message has waited for, before the end.
    fn append_held(&mut self) {
        if !self.held.is_empty() {
            let records = std::mem::take(&mut self.held);
            self.store(Store::Append(records.into()));
        }
    }

    pub(crate) fn think(&mut self, question: Question) -> ThoughtId {
        let id = ThoughtId(self.number());
        self.queue.push_back(Output::Think(id, Box::new(question)));
        id
    }

    pub(crate) fn program(&mut self, news: ProgramNews) {
        self.queue.push_back(Output::Program(news));
    }

    /// Tells the player an event, after those that still wait.
    pub(crate) fn tell(&mut self, event: SessionEvent) {
        if self.line.is_empty() {
            self.queue.push_back(Output::Tell(event));
        } else {
            self.line.push_back(Line::Ready(event));
        }
    }

    /// Orders something of the store, and tells the player what `report` makes of the answer.
    pub(crate) fn tell_stored(&mut self, order: Store, report: R) {
        let id = self.store(order);
        self.line.push_back(Line::Waits(id, report));
    }

    /// Whether an event waits for the store.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.line.is_empty()
    }

    /// The report that waits for this answer. Answers come in the order of their orders, so it is the first in line.
    pub(crate) fn take_report(&mut self, id: StoreId) -> Option<R> {
        match self.line.pop_front()? {
            Line::Waits(waited, report) if waited == id => Some(report),
            other => {
                self.line.push_front(other);
                None
            }
        }
    }

    /// Tells what a report has made of its answer, and what was held back behind it.
    pub(crate) fn report(&mut self, events: Vec<SessionEvent>) {
        self.queue.extend(events.into_iter().map(Output::Tell));
        while let Some(first) = self.line.pop_front() {
            match first {
                Line::Ready(event) => self.queue.push_back(Output::Tell(event)),
                waits @ Line::Waits(..) => return self.line.push_front(waits),
            }
        }
    }

    /// The session ends: nothing follows.
    pub(crate) fn end(&mut self) {
        self.append_held();
        self.queue.push_back(Output::Ended);
    }

    /// Whether records wait for the next message.
    pub(crate) fn holds_records(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whether the table's output waits for the store. Nothing more is taken from the table meanwhile.
    pub(crate) fn is_shut(&self) -> bool {
        self.barrier.is_some()
    }

    /// Whether the store is at work on what the table's output waits for; false with a full disk, between two attempts.
    pub(crate) fn is_writing(&self) -> bool {
        self.barrier.as_ref().is_some_and(|barrier| barrier.asked.is_some())
    }

    /// Sends the frames of a batch once its records, and all before them, are on disk. Returns its news if it has neither
    /// frames nor an end to tell, or if there are no records to wait for.
    pub(crate) fn keep(&mut self, batch: Batch) -> Option<Vec<Event<AnyGame>>> {
        let Batch { records, frames, news, is_urgent } = batch;
        self.held.extend(records);
        let ends = |event: &Event<AnyGame>| {
            matches!(event, Event::Stopped(_) | Event::News(News::Finished | News::Left(_) | News::Removed(_)))
        };
        let rests = is_urgent || !frames.is_empty() || news.iter().any(ends);
        if !rests || self.held.is_empty() {
            self.post(frames);
            return Some(news);
        }
        let records = std::mem::take(&mut self.held);
        self.shut(Wanted::Append(records.into()), frames, news);
        None
    }

    /// Reserves room for as much as a deal writes.
    pub(crate) fn reserve(&mut self) {
        self.shut(Wanted::Reserve, Vec::new(), Vec::new());
    }

    fn shut(&mut self, wanted: Wanted, frames: Vec<Addressed>, news: Vec<Event<AnyGame>>) {
        let asked = Some(self.store(wanted.order()));
        self.barrier = Some(Barrier { wanted, asked, frames, news });
    }

    fn post(&mut self, frames: Vec<Addressed>) {
        for Addressed { to, bytes, best_effort, is_head } in frames {
            if is_head {
                self.head = Some(bytes.clone());
            }
            if !to.is_empty() {
                self.queue.push_back(Output::Send { to, bytes, best_effort });
            }
        }
    }

    /// Handles the answer to the order at the barrier; `None` if it answers another order.
    pub(crate) fn passes(&mut self, id: StoreId, answer: &Result<Stored, StoreFault>) -> Option<Passage> {
        let barrier = self.barrier.take_if(|barrier| barrier.asked == Some(id))?;
        match (answer, &barrier.wanted) {
            (Err(StoreFault::Full(why)), _) => {
                self.barrier = Some(Barrier { asked: None, ..barrier });
                Some(Passage::Full(why.clone()))
            }
            (Err(StoreFault::Failed(why)), Wanted::Append(_)) => Some(Passage::Failed(why.clone())),
            // The next append reports any other failure.
            (Ok(_), _) | (Err(StoreFault::Failed(_)), Wanted::Reserve) => {
                self.post(barrier.frames);
                Some(Passage::Open(barrier.news))
            }
        }
    }

    /// Asks a full disk again, and repeats the last head to these peers.
    pub(crate) fn try_again(&mut self, peers: Vec<PeerId>) {
        let Some(wanted) = self.barrier.as_ref().filter(|barrier| barrier.asked.is_none()).map(|b| b.wanted.clone())
        else {
            return;
        };
        let asked = self.store(wanted.order());
        if let Some(barrier) = &mut self.barrier {
            barrier.asked = Some(asked);
        }
        if let Some(bytes) = self.head.clone().filter(|_| !peers.is_empty()) {
            self.queue.push_back(Output::Send { to: peers, bytes, best_effort: true });
        }
    }
}

#[cfg(test)]
mod tests {
    use fairdeal_protocol::hash::Hash32;

    use super::*;

    fn peer() -> PeerId {
        PeerId::of(&ed25519_dalek::SigningKey::from_bytes(&[1; 32]))
    }

    fn batch(records: usize, word: u8) -> Batch {
        let frame = Addressed { to: vec![peer()], bytes: vec![word], best_effort: false, is_head: word == b'h' };
        Batch {
            records: vec![Zeroizing::new(vec![word]); records],
            frames: vec![frame],
            news: Vec::new(),
            is_urgent: false,
        }
    }

    /// All outputs in short: bytes, orders, lines.
    fn said(out: &mut Outbox<&'static str>) -> Vec<String> {
        std::iter::from_fn(|| out.poll())
            .map(|output| match output {
                Output::Send { bytes, best_effort, .. } if bytes.len() == 1 => {
                    let repeated = if best_effort { "again " } else { "" };
                    format!("{repeated}{}", String::from_utf8(bytes).unwrap())
                }
                Output::Send { .. } => "frame".to_owned(),
                Output::Store(StoreId(id), order) => match order {
                    Store::Append(records) => format!("append {} as {id}", records.len()),
                    Store::Reserve => format!("reserve as {id}"),
                    _ => format!("order {id}"),
                },
                Output::Tell(SessionEvent::Line(line)) => line,
                other => format!("{other:?}"),
            })
            .collect()
    }

    fn full() -> Result<Stored, StoreFault> {
        Err(StoreFault::Full("no space".to_owned()))
    }

    fn line(text: &str) -> SessionEvent {
        SessionEvent::Line(text.to_owned())
    }

    #[test]
    fn frames_wait_for_their_records_and_nothing_else_does() {
        let mut out = Outbox::default();
        assert!(out.keep(batch(0, b'a')).is_some(), "no record to wait for");
        assert!(out.keep(batch(2, b'b')).is_none());
        assert!(out.is_shut());
        out.send(vec![peer()], &Frame::Links { table: Hash32::default(), seats: Default::default() });
        out.tell(line("chat"));
        assert_eq!(said(&mut out), ["a", "append 2 as 1", "frame", "chat"]);
        assert!(out.passes(StoreId(7), &Ok(Stored::Done)).is_none(), "the answer to another order");
        assert!(out.is_shut());
        assert!(matches!(out.passes(StoreId(1), &Ok(Stored::Done)), Some(Passage::Open(_))));
        assert_eq!(said(&mut out), ["b"]);
        assert!(!out.is_shut());
    }

    #[test]
    fn full_disk_keeps_the_barrier_shut_and_repeats_the_last_head() {
        let mut out = Outbox::default();
        assert!(out.keep(batch(0, b'h')).is_some());
        assert!(out.keep(batch(1, b'b')).is_none());
        said(&mut out);
        out.try_again(vec![peer()]);
        assert_eq!(said(&mut out), [""; 0], "it is asked already");
        assert!(matches!(out.passes(StoreId(1), &full()), Some(Passage::Full(_))));
        for id in 2..5 {
            out.try_again(vec![peer()]);
            assert_eq!(said(&mut out), [format!("append 1 as {id}"), "again h".to_owned()]);
            assert!(matches!(out.passes(StoreId(id), &full()), Some(Passage::Full(_))));
        }
        out.try_again(Vec::new());
        assert_eq!(said(&mut out), ["append 1 as 5"]);
        assert!(matches!(out.passes(StoreId(5), &Ok(Stored::Done)), Some(Passage::Open(_))));
        assert_eq!(said(&mut out), ["b"]);
    }

    /// They ride in the next append, or in one of their own before the end.
    #[test]
    fn records_without_frames_wait_for_the_next_ones() {
        let silent = |records| Batch { frames: Vec::new(), ..batch(records, b's') };
        let mut out = Outbox::default();
        assert!(out.keep(silent(2)).is_some() && out.keep(silent(1)).is_some());
        assert!(!out.is_shut());
        assert_eq!(said(&mut out), [""; 0]);
        assert!(out.keep(batch(0, b'h')).is_none(), "a head names what they hold");
        assert_eq!(said(&mut out), ["append 3 as 1"]);
        assert!(matches!(out.passes(StoreId(1), &Ok(Stored::Done)), Some(Passage::Open(_))));
        assert_eq!(said(&mut out), ["h"]);
        assert!(out.keep(silent(1)).is_some());
        out.tell_stored(Store::End, "end");
        assert_eq!(said(&mut out), ["append 1 as 2", "order 3"]);
        assert_eq!(out.take_report(StoreId(2)), None);
        assert_eq!(out.take_report(StoreId(3)), Some("end"));
        // An end is told once all of it is on disk.
        assert!(out.keep(silent(1)).is_some());
        let end = Batch { news: vec![Event::News(News::Finished)], ..Batch::default() };
        assert!(out.keep(end).is_none() && out.is_shut());
        assert_eq!(said(&mut out), ["append 1 as 4"]);
        assert!(matches!(out.passes(StoreId(4), &full()), Some(Passage::Full(_))), "it is asked again");
        out.try_again(Vec::new());
        let told = out.passes(StoreId(5), &Ok(Stored::Done));
        assert!(matches!(told, Some(Passage::Open(news)) if news.len() == 1));
        said(&mut out);
        // A session that is put aside in the middle of a game closes no journal.
        assert!(out.keep(silent(1)).is_some());
        out.end();
        assert_eq!(said(&mut out), ["append 1 as 6", "Ended"]);
    }

    /// A reservation that fails for another reason than space is left to the next append, which never passes unwritten.
    #[test]
    fn failed_append_is_told_and_failed_reservation_is_not() {
        let failed = Err(StoreFault::Failed("gone".to_owned()));
        let mut out = Outbox::default();
        out.reserve();
        assert_eq!(said(&mut out), ["reserve as 1"]);
        assert!(matches!(out.passes(StoreId(1), &failed), Some(Passage::Open(_))));
        assert!(out.keep(batch(1, b'b')).is_none());
        assert!(matches!(out.passes(StoreId(2), &failed), Some(Passage::Failed(_))));
        assert_eq!(said(&mut out), ["append 1 as 2"], "its frame does not leave");
    }

    #[test]
    fn events_are_told_in_order_although_one_waits() {
        let mut out = Outbox::default();
        out.tell(line("one"));
        out.tell_stored(Store::End, "two");
        out.tell(line("three"));
        out.tell_stored(Store::End, "four");
        out.tell(line("five"));
        assert_eq!(said(&mut out), ["one", "order 1", "order 2"]);
        assert!(out.is_waiting());
        assert_eq!(out.take_report(StoreId(2)), None, "answers come in order");
        for (id, report, then) in [(1, "two", vec!["two", "three"]), (2, "four", vec!["four", "five"])] {
            assert_eq!(out.take_report(StoreId(id)), Some(report));
            out.report(vec![line(report)]);
            assert_eq!(said(&mut out), then);
        }
        assert!(!out.is_waiting());
    }
}
