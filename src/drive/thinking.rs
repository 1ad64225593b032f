//! Bots that take their time: a sharp one, or a program. They think on a blocking thread, so no network tick is late.

use std::time::Duration;

use fairdeal_games::bots::{Bot, Level, Seen};
use fairdeal_games::search::Budget;
use fairdeal_games::{AnyAction, AnyGame, sharp_bot};
use fairdeal_session::events::SessionEvent;
use fairdeal_session::io::{ProgramNews, Question, ThoughtId};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::clock::Clock;
use crate::exec_bot::{ExecBot, Leash};

/// How long a sharp bot thinks about an action.
const THINKS: Duration = Duration::from_millis(100);

/// The bot of a level.
pub fn bot(level: Level) -> Box<dyn Bot<AnyGame>> {
    match level {
        Level::Sharp => sharp_bot(Budget::time(Clock::new(THINKS))),
        level => fairdeal_games::bot(level),
    }
}

type Thought = JoinHandle<(Box<dyn Bot<AnyGame>>, Option<AnyAction>)>;

/// The bot that a session asks.
pub(super) struct Thinker {
    /// The level of the bot that is asked if there is no program, or after one has panicked.
    level: Level,
    /// `None` while it thinks, and before the first question if no program plays.
    bot: Option<Box<dyn Bot<AnyGame>>>,
    /// The hold on the bot's program, if it is one.
    leash: Option<Leash>,
    thought: Option<(ThoughtId, Thought)>,
}

impl Thinker {
    /// A program, if given, is asked; otherwise a bot of this level.
    pub(super) fn new(level: Level, program: Option<ExecBot>) -> Self {
        let leash = program.as_ref().map(ExecBot::leash);
        Self { level, bot: program.map(|program| Box::new(program) as _), leash, thought: None }
    }

    /// Asks the bot for an action.
    pub(super) fn ask(&mut self, id: ThoughtId, question: Question) {
        let mut bot = self.bot.take().unwrap_or_else(|| bot(self.level));
        if let Some(leash) = &self.leash {
            leash.resume();
        }
        let task = spawn_blocking(move || {
            let Question { game, seat, known, seed } = question;
            let choice = bot.choose(&game, seat, &known, &mut ChaCha20Rng::from_seed(seed));
            (bot, choice)
        });
        self.thought = Some((id, task));
    }

    /// Waits for the answer; for ever if nothing is asked.
    pub(super) async fn answer(&mut self) -> (ThoughtId, Option<AnyAction>) {
        let Some((id, task)) = &mut self.thought else {
            return std::future::pending().await;
        };
        let (id, done) = (*id, task.await);
        self.thought = None;
        match done {
            Ok((bot, choice)) => {
                self.bot = Some(bot);
                (id, choice)
            }
            Err(error) => {
                tracing::error!(%error, "a bot's thought failed");
                (id, None)
            }
        }
    }

    /// Tells the program, if one plays. Never waits.
    pub(super) fn tell(&mut self, news: ProgramNews) {
        let Some(leash) = &self.leash else {
            return;
        };
        match news {
            ProgramNews::Sits { rules, seat } => leash.introduce(&rules, seat),
            ProgramNews::Saw { game, seat, known, event } => {
                let seen = match &event {
                    SessionEvent::Deal(deal) => Seen::Deal(*deal),
                    SessionEvent::Action { step, seat, action } => Seen::Action { step: *step, seat: *seat, action },
                    SessionEvent::Game(event) => Seen::Event(event),
                    SessionEvent::Peer { seat, state } => return leash.peer(*seat, *state),
                    _ => return,
                };
                leash.saw(&game, seat, &known, &seen);
            }
            ProgramNews::Refused => leash.refuse(),
            ProgramNews::Stop => leash.stop(),
            ProgramNews::Over(game) => leash.over(&game),
            ProgramNews::Retire => {
                self.bot = None;
                self.leash = None;
                self.thought = None;
            }
        }
    }
}
