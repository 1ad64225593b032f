//! Bots that are programs of their own: a child process is asked for each action, by JSON lines (docs/bots.md).
//!
//! `line` parses what the program says, `process` runs it, `leash` tells it the table. A program that is late, dead or
//! breaks the rules never stops a table: a bot of ours makes that decision, and the reason is told once.

mod failure;
mod leash;
mod line;
mod process;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fairdeal_games::bots::{Bot, Seen};
use fairdeal_games::position::Position;
use fairdeal_games::{AnyAction, AnyGame, TableGame as _};
use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::{Game as _, RuleSet};
use fairdeal_protocol::seat::Seat;
use rand_core::Rng;
use serde_json::{Value, json};

use self::failure::{Failure, MOST_LATE};
pub use self::leash::Leash;
use self::leash::Shared;
use self::line::{Choice, Said};
pub use self::line::{LONGEST, LineError};
use self::process::{Answers, Process};

/// How long a program may take from `hello` to `ready`, if it has not more time for an action.
const READY: Duration = Duration::from_secs(10);
/// How soon a question that is no longer open is given up.
const SLICE: Duration = Duration::from_millis(20);

/// Why a program does not start.
#[derive(Debug, thiserror::Error)]
#[error("cannot start the bot '{command}': {cause}")]
pub struct ExecError {
    command: String,
    cause: Cause,
}

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error(transparent)]
    System(std::io::Error),
    #[error("{0}; --log FILE keeps what it writes on standard error")]
    Unready(Failure),
}

/// Tells each kind of failure once, even if many bots share it.
#[derive(Clone)]
pub struct Notices {
    told: Arc<Mutex<BTreeSet<String>>>,
    tell: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Notices {
    /// `tell` gets a line in plain words.
    pub fn new(tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { told: Arc::default(), tell: Arc::new(tell) }
    }

    fn failed(&self, command: &str, fallback: &str, failure: &Failure) {
        let kind = format!("{command} {:?}", std::mem::discriminant(failure));
        self.once(kind, &format!("the bot '{command}' fails: {failure}; the {fallback} bot plays instead"));
    }

    /// A line that is no answer is skipped.
    fn unreadable(&self, command: &str, error: &LineError) {
        let kind = format!("{command} line {:?}", std::mem::discriminant(error));
        self.once(kind, &format!("ignored a line from the bot '{command}': {error}"));
    }

    fn once(&self, kind: String, line: &str) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(kind) {
            tracing::warn!("{line}");
            (self.tell)(line);
        }
    }
}

impl fmt::Debug for Notices {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Notices").finish_non_exhaustive()
    }
}

/// A program as a bot. [`Bot::choose`] blocks until it answers, for at most its time: call it on a blocking thread.
pub struct ExecBot {
    command: String,
    leash: Leash,
    answers: Mutex<Answers>,
    is_ready: bool,
    /// Late answers since the last one in time.
    late: u32,
    /// Decisions that the fallback has made.
    fallbacks: u64,
    /// The number of the last question.
    asked: u64,
    fallback: Box<dyn Bot<AnyGame>>,
    /// The name of the fallback.
    level: &'static str,
    notices: Notices,
}

impl fmt::Debug for ExecBot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ExecBot").field("command", &self.command).finish_non_exhaustive()
    }
}

impl ExecBot {
    /// Starts a command line, run by the system's shell. It may take `move_time` for each action. `fallback`, with its
    /// name, plays instead when the program fails.
    ///
    /// # Errors
    /// [`ExecError`] if there is no shell or no further process.
    pub fn start(
        command: &str,
        move_time: Duration,
        fallback: (Box<dyn Bot<AnyGame>>, &'static str),
        notices: Notices,
    ) -> Result<Self, ExecError> {
        let (process, answers) = Process::start(command)
            .map_err(|cause| ExecError { command: command.to_owned(), cause: Cause::System(cause) })?;
        let (fallback, level) = fallback;
        Ok(Self {
            command: command.to_owned(),
            leash: Leash(Arc::new(Shared::new(process, move_time))),
            answers: Mutex::new(answers),
            is_ready: false,
            late: 0,
            fallbacks: 0,
            asked: 0,
            fallback,
            level,
            notices,
        })
    }

    /// A hold for the session. Dropping it ends the program.
    pub fn leash(&self) -> Leash {
        self.leash.clone()
    }

    /// Introduces the program to a table, and waits until it is ready.
    ///
    /// # Errors
    /// [`ExecError`] if it ends, or is not ready in time.
    pub fn begin(&mut self, rules: &RuleSet, seat: Seat) -> Result<(), ExecError> {
        self.leash.introduce(rules, seat);
        self.await_ready()
            .map_err(|failure| ExecError { command: self.command.clone(), cause: Cause::Unready(failure) })
    }

    fn shared(&self) -> &Shared {
        &self.leash.0
    }

    /// The program's next line before the deadline. Unreadable ones are skipped.
    fn next(&mut self, deadline: Instant) -> Result<Option<Said>, Failure> {
        loop {
            if self.shared().stopped.load(Ordering::Acquire) {
                return Err(Failure::Stopped);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            let answers = self.answers.get_mut().unwrap_or_else(PoisonError::into_inner);
            match answers.recv_timeout(left.min(SLICE)) {
                Ok(Ok(said)) => return Ok(Some(said)),
                Ok(Err(error)) => self.notices.unreadable(&self.command, &error),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.shared().ended()),
            }
        }
    }

    /// Waits for the answer to `hello`. A question that ends early leaves the wait to the next one.
    fn await_ready(&mut self) -> Result<(), Failure> {
        let patience = self.shared().move_time.max(READY);
        let deadline = Instant::now() + patience;
        while !self.is_ready {
            match self.next(deadline)? {
                Some(Said::Ready { name }) => {
                    tracing::info!(?name, command = self.command, "a bot is ready");
                    self.is_ready = true;
                }
                Some(_) => {}
                None => {
                    self.shared().process.end(false);
                    return Err(Failure::NotReady(patience.as_millis()));
                }
            }
        }
        Ok(())
    }

    /// The program's decision; `None` if it stays silent.
    fn ask(
        &mut self,
        game: &AnyGame,
        seat: Seat,
        known: &Faces,
        legal: &[AnyAction],
    ) -> Result<Option<AnyAction>, Failure> {
        self.await_ready()?;
        if self.shared().refused.swap(false, Ordering::AcqRel) {
            return Err(Failure::Refused);
        }
        self.asked = self.asked.saturating_add(1);
        let must = game.to_act().contains(seat);
        let actions: Vec<Value> = legal.iter().map(|action| game.action_to_json(seat, action, known)).collect();
        self.shared().send(&json!({
            "event": "choose", "id": self.asked, "must": must, "legal": actions, "view": game.view(Some(seat), known),
            "position": Position::text(game, seat, known),
        }))?;
        let answer = self.answer(Instant::now() + self.shared().move_time);
        if matches!(answer, Err(Failure::Stopped | Failure::Late(_))) {
            // It need not think on. If it does not read, the next question reports that.
            let _ = self.shared().send(&json!({"event": "stop", "id": self.asked}));
        }
        match answer? {
            Choice::Silent if must => Err(Failure::Silent),
            Choice::Silent => Ok(None),
            Choice::Index(index) => {
                let chosen = legal.get(index).cloned().map(Some);
                chosen.ok_or_else(|| Failure::Illegal(format!("there is no action {index} among {}", legal.len())))
            }
            Choice::Action(value) => {
                let illegal = |why: String| Failure::Illegal(why);
                let action = game.action_from_json(seat, &value, known).map_err(|error| illegal(error.to_string()))?;
                game.check(seat, &action).map_err(|error| illegal(error.to_string()))?;
                let is_honest = |shown: &fairdeal_protocol::game::Shown| known.get(shown.card) == Some(shown.face);
                if !game.shown(seat, &action).iter().all(is_honest) {
                    return Err(illegal("the card is not the one that was named".to_owned()));
                }
                Ok(Some(action))
            }
        }
    }

    /// Tells a failure. A program that is late again and again is stopped: each decision would wait for it.
    fn has_failed(&mut self, failure: &Failure) {
        self.notices.failed(&self.command, self.level, failure);
        if matches!(failure, Failure::Late(_)) {
            self.late = self.late.saturating_add(1);
            if self.late >= MOST_LATE {
                self.shared().process.end(false);
                self.notices.failed(&self.command, self.level, &Failure::GivenUp);
            }
        }
    }

    /// Waits for the choice with the number of the last question; earlier ones are ignored.
    fn answer(&mut self, deadline: Instant) -> Result<Choice, Failure> {
        loop {
            match self.next(deadline)? {
                Some(Said::Choice { id, choice }) if id == self.asked => return Ok(choice),
                Some(_) => {}
                None => return Err(Failure::Late(self.shared().move_time.as_millis())),
            }
        }
    }
}

impl Bot<AnyGame> for ExecBot {
    fn choose(&mut self, game: &AnyGame, seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Option<AnyAction> {
        let legal = game.legal(seat, known);
        if legal.is_empty() {
            return None;
        }
        if self.late < MOST_LATE {
            match self.ask(game, seat, known, &legal) {
                Ok(choice) => {
                    self.late = 0;
                    return choice;
                }
                // Also if the session has ended the program meanwhile.
                Err(_) if self.shared().stopped.load(Ordering::Acquire) => return None,
                Err(failure) => self.has_failed(&failure),
            }
        }
        // Out of turn, a program that fails has only failed to say that it stays silent.
        if !game.to_act().contains(seat) {
            return None;
        }
        self.fallbacks = self.fallbacks.saturating_add(1);
        self.fallback.choose(game, seat, known, rng)
    }

    fn saw(&mut self, game: &AnyGame, seat: Seat, known: &Faces, seen: &Seen<'_, AnyGame>) {
        self.leash.saw(game, seat, known, seen);
    }

    /// Tells the end, and waits for that of the program.
    fn over(&mut self, game: &AnyGame) {
        self.leash.over(game);
        self.leash.finish();
    }

    fn fallbacks(&self) -> u64 {
        self.fallbacks
    }
}

#[cfg(all(test, unix))]
mod tests;
