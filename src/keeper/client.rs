//! An interface's end of a keeper: it lists tables, attaches to them, and sits down at new ones.

use std::io;
use std::time::Duration;

use fairdeal_peers::Multiaddr;
use fairdeal_session::events::{Command, SessionEvent};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::socket::{Connection, connect};
use super::wire::{Answer, GONE, KeptTable, Request, STOP, VERSION, read, write};
use crate::drive::Handle;
use crate::drive::lobbies::{Order, Outcome};
use crate::drive::local_bots::{BotOrder, MoreBots};
use crate::drive::mail::Words;
use crate::drive::tables::PlayedTable;
use crate::store::DataView;

/// How long a keeper may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The same where its table writes or reads a letter.
const LETTER: Duration = Duration::from_secs(30);
/// The same for a visit of meeting points, of which each may be slow.
const VISIT: Duration = Duration::from_secs(300);
/// How often the lock of a keeper that ends is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Why a keeper does not do what is asked.
#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    /// It refuses, for this reason.
    #[error("{0}")]
    Refused(String),
    /// It does not answer.
    #[error("the keeper does not answer: {0}")]
    Silent(#[from] io::Error),
}

impl KeeperError {
    fn other() -> Self {
        Self::Refused("the keeper gives another answer".to_owned())
    }
}

/// A keeper that has answered.
#[derive(Clone, Debug)]
pub struct KeeperClient {
    data: DataView,
}

/// The connection to a keeper, once it has said hello.
struct Line<C> {
    connection: C,
}

impl<C: Connection> Line<C> {
    async fn ask(&mut self, request: &Request) -> Result<Answer, KeeperError> {
        self.ask_for(request, PATIENCE).await
    }

    /// Asks for something that takes this long at most.
    async fn ask_for(&mut self, request: &Request, patience: Duration) -> Result<Answer, KeeperError> {
        write(request, &mut self.connection).await?;
        let answer = timeout(patience, read(&mut self.connection)).await.map_err(|_| io::ErrorKind::TimedOut.into());
        match answer.and_then(|answer: io::Result<Option<Answer>>| answer)? {
            Some(Answer::Refused(why)) => Err(KeeperError::Refused(why)),
            Some(answer) => Ok(answer),
            None => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
        }
    }
}

async fn call(data: &DataView) -> Result<Line<impl Connection + use<>>, KeeperError> {
    let mut line = Line { connection: connect(data).await? };
    line.ask(&Request::Hello(VERSION.to_owned())).await?;
    Ok(line)
}

/// Ends the keeper of a data directory, whatever its version: it closes all tables. Returns once it has ended, `false` if
/// none runs there.
///
/// # Errors
/// [`KeeperError`].
pub async fn stop(data: &DataView) -> Result<bool, KeeperError> {
    let mut connection = match connect(data).await {
        Err(error) if is_absent(&error) => return Ok(false),
        connection => connection?,
    };
    write(&Request::Hello(STOP.to_owned()), &mut connection).await?;
    let end = async {
        // It has read the word once it closes the connection.
        while let Ok(Some(_)) = read::<Answer>(&mut connection).await {}
        while data.is_locked() {
            sleep(LOOK).await;
        }
    };
    timeout(4 * PATIENCE, end).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?;
    Ok(true)
}

/// Whether no keeper listens there. A path that is too long for a socket has none.
fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, InvalidInput, NotFound};
    matches!(error.kind(), NotFound | ConnectionRefused | InvalidInput)
}

impl KeeperClient {
    /// The keeper of a data directory; `None` if none runs there.
    ///
    /// # Errors
    /// [`KeeperError`], for example if it is another version.
    pub async fn find(data: &DataView) -> Result<Option<Self>, KeeperError> {
        match call(data).await {
            Ok(_) => Ok(Some(Self { data: data.clone() })),
            Err(KeeperError::Silent(error)) if is_absent(&error) => Ok(None),
            Err(why) => Err(why),
        }
    }

    /// The tables that it holds.
    ///
    /// # Errors
    /// [`KeeperError`].
    pub async fn tables(&self) -> Result<Vec<KeptTable>, KeeperError> {
        match call(&self.data).await?.ask(&Request::Tables).await? {
            Answer::Tables(tables) => Ok(tables),
            _ => Err(KeeperError::other()),
        }
    }

    /// Follows the list of tables, in a task of the current tokio runtime that ends with the receiver.
    pub fn follow(&self) -> mpsc::Receiver<Vec<KeptTable>> {
        let (tell, lists) = mpsc::channel(4);
        let data = self.data.clone();
        tokio::spawn(async move {
            let Ok(mut line) = call(&data).await else { return };
            let mut answer = line.ask(&Request::Tables).await.ok();
            while let Some(Answer::Tables(tables)) = answer {
                if tell.send(tables).await.is_err() {
                    return;
                }
                answer = tokio::select! {
                    () = tell.closed() => return,
                    answer = read(&mut line.connection) => answer.ok().flatten(),
                };
            }
        });
        lists
    }

    /// Gives up a saved game.
    ///
    /// # Errors
    /// [`KeeperError`].
    pub async fn give_up(&self, table: String) -> Result<(), KeeperError> {
        call(&self.data).await?.ask(&Request::GiveUp(table)).await.map(|_| ())
    }

    /// Passes a command about a letter to the table of this id. Returns all that it has led to.
    ///
    /// # Errors
    /// [`KeeperError`].
    pub async fn letter(&self, table: &str, command: Command) -> Result<Vec<SessionEvent>, KeeperError> {
        match call(&self.data).await?.ask_for(&Request::Letter(table.to_owned(), command), LETTER).await? {
            Answer::Letter(told) => Ok(told),
            _ => Err(KeeperError::other()),
        }
    }

    /// Lets the keeper visit these meeting points, or those of the settings.
    ///
    /// # Errors
    /// [`KeeperError`].
    pub async fn mail(&self, points: &[Multiaddr]) -> Result<Words, KeeperError> {
        let points = points.iter().map(ToString::to_string).collect();
        match call(&self.data).await?.ask_for(&Request::Mail(points), VISIT).await? {
            Answer::Mail(words) => Ok(words),
            _ => Err(KeeperError::other()),
        }
    }

    /// Lets the keeper carry out an order about lobbies by letter.
    ///
    /// # Errors
    /// [`KeeperError`].
    pub async fn lobby(&self, order: Order) -> Result<Outcome, KeeperError> {
        match call(&self.data).await?.ask_for(&Request::Lobby(Box::new(order)), LETTER).await? {
            Answer::Lobby(outcome) => Ok(outcome),
            _ => Err(KeeperError::other()),
        }
    }

    /// Asks for a table in a task of the current tokio runtime, and attaches to it. What goes wrong arrives as an event. A
    /// quit command detaches.
    pub fn attach(&self, request: Request) -> PlayedTable {
        let (commands, inbox) = mpsc::channel(64);
        let (outbox, events) = mpsc::channel(1024);
        let (bots, more) = mpsc::channel(8);
        let data = self.data.clone();
        tokio::spawn(async move {
            if let Err(why) = bridge(&data, request, (inbox, more), &outbox).await {
                let _ = outbox.send(SessionEvent::Error(why.to_string())).await;
            }
        });
        let local_bots = Some(MoreBots::Kept(bots));
        PlayedTable { local_bots, ..PlayedTable::new(Handle { commands, events, post: None }, false) }
    }
}

/// Carries commands to a keeper and events back, until one of the two ends.
async fn bridge(
    data: &DataView,
    request: Request,
    (mut inbox, mut more): (mpsc::Receiver<Command>, mpsc::Receiver<BotOrder>),
    outbox: &mpsc::Sender<SessionEvent>,
) -> Result<(), KeeperError> {
    let mut line = call(data).await?;
    write(&request, &mut line.connection).await?;
    let (mut reader, mut writer) = tokio::io::split(line.connection);
    let reads = async {
        loop {
            match read::<Answer>(&mut reader).await? {
                Some(Answer::Event(event)) => {
                    if outbox.send(*event).await.is_err() {
                        return Ok(());
                    }
                }
                Some(Answer::Refused(why)) => return Err(KeeperError::Refused(why)),
                Some(Answer::Done) => return Ok(()),
                Some(Answer::Welcome | Answer::Tables(_) | Answer::Letter(_) | Answer::Mail(_) | Answer::Lobby(_)) => {}
                None => {
                    return Err(KeeperError::Refused(GONE.to_owned()));
                }
            }
        }
    };
    let writes = async {
        loop {
            let request = tokio::select! {
                command = inbox.recv() => match command {
                    Some(Command::Quit) | None => return Ok(()),
                    Some(command) => Request::Command(command),
                },
                Some(order) = more.recv() => Request::SeatBot(order),
            };
            write(&request, &mut writer).await?;
        }
    };
    tokio::select! {
        ended = reads => ended,
        ended = writes => ended,
    }
}
