//! The way of letters to a session that a task drives: commands about letters that are not its player's, and their answers.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use fairdeal_protocol::hash::Hash32;
use fairdeal_session::events::{Command, SessionEvent};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::letters::{Answer, PostError};

/// How long a session may take to answer: its disk may be slow, and it may verify a long letter.
const PATIENCE: Duration = Duration::from_secs(20);
/// How many commands may wait.
const ORDERS: usize = 16;

/// A command about a letter, and the way of its answer.
#[derive(Debug)]
pub(super) struct Order {
    command: Command,
    answer: oneshot::Sender<Answer>,
}

impl Order {
    pub(super) fn open(self) -> (Command, Asked) {
        (self.command, Asked { told: Vec::new(), answer: Some(self.answer) })
    }
}

/// A command about a letter that the session has not answered yet.
#[derive(Debug)]
pub(super) struct Asked {
    told: Answer,
    /// `None` for the player's own.
    answer: Option<oneshot::Sender<Answer>>,
}

impl Asked {
    /// The player's own command: it hears everything anyway.
    pub(super) fn by_player() -> Self {
        Self { told: Vec::new(), answer: None }
    }

    /// Hears what the session tells meanwhile.
    pub(super) fn hear(&mut self, event: &SessionEvent) {
        if self.answer.as_ref().is_some_and(|answer| !answer.is_closed()) {
            self.told.push(event.clone());
        }
    }

    /// Hears the answer. Returns whether it is for somebody else than the player.
    pub(super) fn end(mut self, event: &SessionEvent) -> bool {
        self.hear(event);
        self.answer.map(|answer| answer.send(self.told)).is_some()
    }
}

/// Passes commands about letters to a session.
#[derive(Clone, Debug)]
pub struct PostBox {
    orders: mpsc::Sender<Order>,
    table: Arc<OnceLock<Hash32>>,
}

/// The session's end.
#[derive(Debug)]
pub(super) struct Orders {
    pub(super) inbox: mpsc::Receiver<Order>,
    table: Arc<OnceLock<Hash32>>,
}

impl Orders {
    /// The table has begun.
    pub(super) fn begun(&self, table: Hash32) {
        let _ = self.table.set(table);
    }
}

/// A way to a session, and its end.
pub(super) fn post() -> (PostBox, Orders) {
    let (orders, inbox) = mpsc::channel(ORDERS);
    let table = Arc::new(OnceLock::new());
    (PostBox { orders, table: Arc::clone(&table) }, Orders { inbox, table })
}

impl PostBox {
    /// The table at which the player has a seat, from its beginning to the end of the session.
    pub fn table(&self) -> Option<Hash32> {
        self.table.get().copied().filter(|_| !self.orders.is_closed())
    }

    /// Passes a command about a letter to the session, and waits for the answer.
    ///
    /// # Errors
    /// [`PostError::Ended`] if there is none.
    pub async fn ask(&self, command: Command) -> Result<Answer, PostError> {
        let (answer, answered) = oneshot::channel();
        let asked = async {
            self.orders.send(Order { command, answer }).await.ok()?;
            answered.await.ok()
        };
        match timeout(PATIENCE, asked).await {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => Err(PostError::Ended("the table has just closed; try again".to_owned())),
            Err(_) => Err(PostError::Ended("the table does not answer; its disk may be full".to_owned())),
        }
    }
}
