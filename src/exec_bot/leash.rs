//! A session's hold on its bot's program: it tells the events of the table, gives questions up, and ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fairdeal_games::bots::Seen;
use fairdeal_games::{AnyGame, TableEvent as _, TableGame as _};
use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::{Game as _, RuleSet};
use fairdeal_protocol::seat::Seat;
use fairdeal_session::view::PeerState;
use serde_json::{Value, json};

use super::failure::Failure;
use super::line::VERSION;
use super::process::{Process, Unsent};

/// State shared by the bot and the session of its seat.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) process: Process,
    /// The time for an action, told in `hello`.
    pub(super) move_time: Duration,
    /// Whether the open question is no longer open.
    pub(super) stopped: AtomicBool,
    /// Whether the table has refused its last action.
    pub(super) refused: AtomicBool,
    /// Whether too many lines waited for it: it has missed one, so it was ended.
    unread: AtomicBool,
    /// Whether it has been told `hello`.
    greeted: AtomicBool,
}

impl Shared {
    pub(super) fn new(process: Process, move_time: Duration) -> Self {
        Self {
            process,
            move_time,
            stopped: AtomicBool::new(false),
            refused: AtomicBool::new(false),
            unread: AtomicBool::new(false),
            greeted: AtomicBool::new(false),
        }
    }

    /// Hands a line over, without waiting. A program that has missed a line knows less than it thinks, so it is ended.
    pub(super) fn send(&self, line: &Value) -> Result<(), Failure> {
        let sent = self.process.send(format!("{line}\n"));
        if let Err(Unsent::Full) = sent {
            self.unread.store(true, Ordering::Release);
            self.process.end(false);
        }
        sent.map_err(|_| self.ended())
    }

    /// Why there is no program any more.
    pub(super) fn ended(&self) -> Failure {
        if self.unread.load(Ordering::Acquire) { Failure::Unread } else { Failure::Ended }
    }
}

/// The session's hold on its bot's program. The program ends when this is dropped, also while it thinks. Only
/// [`Leash::finish`] waits.
#[derive(Clone, Debug)]
pub struct Leash(pub(super) Arc<Shared>);

impl Leash {
    /// Says `hello` for a seat at a table, once, before anything else.
    pub fn introduce(&self, rules: &RuleSet, seat: Seat) {
        if self.0.greeted.swap(true, Ordering::AcqRel) {
            return;
        }
        let move_ms = u64::try_from(self.0.move_time.as_millis()).unwrap_or(u64::MAX);
        self.tell(&json!({
            "event": "hello", "v": VERSION, "game": rules.game, "seats": rules.seats, "seat": seat.index(),
            "options": rules.options, "move_ms": move_ms,
        }));
    }

    /// Tells an event of the game at the seat `me`, as in `docs/events.md`.
    pub fn saw(&self, game: &AnyGame, me: Seat, known: &Faces, seen: &Seen<'_, AnyGame>) {
        self.tell(&match seen {
            Seen::Deal(deal) => json!({"event": "deal", "deal": deal}),
            Seen::Action { step, seat, action } => {
                // A card that another seat hides stays hidden, whatever this seat knows of it.
                let nothing = Faces::new();
                let known = if *seat == me { known } else { &nothing };
                let action = game.action_to_json(*seat, action, known);
                json!({"event": "action", "step": step, "seat": seat.index(), "action": action})
            }
            Seen::Event(event) => json!({"event": "game", "what": event.to_json()}),
        });
    }

    /// Tells the connection of a seat, as in `docs/events.md`.
    pub fn peer(&self, seat: Seat, state: PeerState) {
        let state = match state {
            PeerState::Connected => "connected",
            PeerState::Lost | PeerState::Paused => "lost",
            PeerState::Left => "left",
            PeerState::Absent | PeerState::Removed => "removed",
        };
        self.tell(&json!({"event": "peer", "seat": seat.index(), "state": state}));
    }

    /// Tells the program the end of its game. It then has a moment to end by itself.
    pub fn over(&self, game: &AnyGame) {
        let winners: Vec<usize> = game.winners().iter().map(Seat::index).collect();
        self.tell(&json!({"event": "over", "scores": game.scores(), "winners": winners}));
        self.0.process.end(true);
    }

    fn tell(&self, line: &Value) {
        // The next question reports a program that does not read, or has ended.
        let _ = self.0.send(line);
    }

    /// Gives up the open question, which the table has answered by going on.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Release);
    }

    /// Allows the next question.
    pub fn resume(&self) {
        self.0.stopped.store(false, Ordering::Release);
    }

    /// Reports that the table has refused the bot's action: a bot of ours makes the next decision.
    pub fn refuse(&self) {
        self.0.refused.store(true, Ordering::Release);
    }

    /// Whether the program has been ended.
    pub fn has_ended(&self) -> bool {
        self.0.process.has_ended()
    }

    /// Ends the program and waits until it is gone: a process of fairdeal that ends earlier would leave it running.
    pub fn finish(&self) {
        self.end();
        self.0.process.wait();
    }

    fn end(&self) {
        self.stop();
        self.0.process.end(false);
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        self.end();
    }
}
