//! A thought of a sharp bot, or of a program: it runs on a blocking thread, so no network tick is late. The answer counts
//! only at the step for which it was asked.

use std::time::Duration;

use fairdeal_games::bots::{Bot, Level, Seen};
use fairdeal_games::search::Budget;
use fairdeal_games::{AnyAction, AnyGame, sharp_bot};
use fairdeal_protocol::game::Game as _;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use tokio::task::{JoinHandle, spawn_blocking};

use super::table::may_call;
use super::{Driver, SessionState};
use crate::clock::Clock;
use crate::session::SessionEvent;

/// How long a sharp bot thinks about an action.
const THINKS: Duration = Duration::from_millis(100);

/// The bot of a level.
pub fn bot(level: Level) -> Box<dyn Bot<AnyGame>> {
    match level {
        Level::Sharp => sharp_bot(Budget::time(Clock::new(THINKS))),
        level => fairdeal_games::bot(level),
    }
}

/// A decision that is made on a blocking thread.
pub(super) struct Thought {
    task: JoinHandle<(Box<dyn Bot<AnyGame>>, Option<AnyAction>)>,
    step: u64,
}

impl Thought {
    /// Whether it is asked for this step.
    pub(super) fn is_at(&self, step: u64) -> bool {
        self.step == step
    }
}

/// The result of a thought.
pub(super) struct Answer {
    /// `None` if the bot has panicked.
    bot: Option<Box<dyn Bot<AnyGame>>>,
    choice: Option<AnyAction>,
    step: u64,
}

/// Waits for the end of a thought; for ever if there is none.
pub(super) async fn answer(thought: &mut Option<Thought>) -> Answer {
    let Some(running) = thought else {
        return std::future::pending().await;
    };
    let (done, step) = ((&mut running.task).await, running.step);
    *thought = None;
    let (bot, choice) = match done {
        Ok((bot, choice)) => (Some(bot), choice),
        Err(error) => {
            tracing::error!(%error, "a bot's thought failed");
            (None, None)
        }
    };
    Answer { bot, choice, step }
}

impl Driver {
    /// Tells a program the events of its table, in order and before the questions that follow from them. Never waits.
    pub(super) fn tell_program(&self, event: &SessionEvent) {
        let (SessionState::Table(seated), Some(leash)) = (&self.stage, &self.autopilot.leash) else {
            return;
        };
        let seen = match event {
            SessionEvent::Deal(deal) => Seen::Deal(*deal),
            SessionEvent::Action { step, seat, action } => Seen::Action { step: *step, seat: *seat, action },
            SessionEvent::Game(event) => Seen::Event(event),
            SessionEvent::Peer { seat, state } => return leash.peer(*seat, *state),
            _ => return,
        };
        let table = &seated.table;
        leash.saw(table.game(), table.me(), table.known(), &seen);
    }

    /// Lets the bot think about its action, if it takes time for it. Returns whether it does.
    pub(super) fn think(&mut self) -> bool {
        let (SessionState::Table(seated), true) = (&self.stage, self.autopilot.thinks) else {
            return false;
        };
        let Some(mut bot) = self.autopilot.bot.take() else {
            return false;
        };
        let table = &seated.table;
        let (game, me, known) = (table.game().clone(), table.me(), table.known().clone());
        let step = table.replica().step();
        if let Some(leash) = &self.autopilot.leash {
            leash.resume();
        }
        let mut rng = ChaCha20Rng::from_rng(&mut self.rng);
        let task = spawn_blocking(move || {
            let choice = bot.choose(&game, me, &known, &mut rng);
            (bot, choice)
        });
        self.autopilot.thought = Some(Thought { task, step });
        true
    }

    /// The bot has thought: it acts, unless the table has gone on meanwhile.
    pub(super) async fn has_thought(&mut self, answer: Answer) {
        let level = self.autopilot.pilot.map(|pilot| pilot.level).unwrap_or_default();
        self.autopilot.bot = Some(answer.bot.unwrap_or_else(|| bot(level)));
        let SessionState::Table(seated) = &self.stage else {
            return;
        };
        let table = &seated.table;
        let is_stale = table.replica().step() != answer.step;
        let choice = answer.choice.filter(|_| !is_stale);
        let is_call = |action: &AnyAction| table.game().out_of_turn(action) && may_call(table.game(), table.me());
        let is_slow = self.autopilot.pilot.is_some_and(|pilot| !pilot.delay.is_zero());
        match choice {
            Some(action) if table.is_my_turn() => self.act(action).await,
            Some(action) if is_call(&action) && !is_slow => self.act(action).await,
            choice if !is_stale => self.hesitate(choice.filter(is_call)).await,
            _ => {}
        }
        if let SessionState::Table(seated) = &self.stage
            && (is_stale || seated.table.is_my_turn())
        {
            self.plan().await;
        }
    }
}
