//! A line to a meeting point under one key: it connects, asks, and ends.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use ed25519_dalek::SigningKey;
use fairdeal_net::{Node, NodeConfig, NodeError, NodeEvent, NodeHandle, Transport};
use fairdeal_peers::mail::{KEPT, MAX_LETTERS, MailRefusal, MailRequest, MailResponse, Posted, Subject, Waiting};
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::charter::SeatKey;
use fairdeal_protocol::wire::bounded::Bounded;
use fairdeal_session::letter::Written;
use tokio::time::{sleep, timeout};

/// How long a point may take to answer a dial or a request.
const ANSWER: Duration = Duration::from_secs(10);
/// The same where a letter or a page of letters travels.
const LETTER: Duration = Duration::from_secs(25);
/// The most pages of letters that a visit fetches: a box has four.
const MAX_PAGES: usize = 8;
/// So many requests a point takes at once; then it takes one in that time, and ends the connection if more come.
const AT_ONCE: u32 = 48;
const PACE: Duration = Duration::from_millis(250);

/// Why a point does not do what it is asked.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum LineError {
    #[error("{0}")]
    Refused(MailRefusal),
    #[error("no answer")]
    Silent,
    #[error("{0}")]
    Failed(String),
    #[error("it answers something else")]
    Other,
    /// Not a fault of the point.
    #[error("the letter has {0} KiB, more than points keep; send it as a file (`fairdeal letter out`)")]
    TooLong(usize),
}

impl From<NodeError> for LineError {
    fn from(why: NodeError) -> Self {
        Self::Failed(why.to_string())
    }
}

/// A connection to a point. Its node listens nowhere.
pub(super) struct Line {
    point: PeerId,
    node: NodeHandle,
    asked: AtomicU32,
    /// A point that has not answered once is asked nothing more: the others shall not wait for it.
    is_silent: AtomicBool,
}

impl Line {
    pub(super) async fn open(key: &SigningKey, point: PeerId, addresses: Vec<Multiaddr>) -> Result<Self, LineError> {
        let (node, mut events) = Node::spawn(key, NodeConfig::new(Transport::Sockets))?;
        node.dial(Some(point), addresses)?;
        let connected = async {
            while let Some(event) = events.recv().await {
                match event {
                    NodeEvent::Connected { peer, .. } if peer == point => return Ok(()),
                    NodeEvent::DialFailed { reason, .. } => return Err(LineError::Failed(reason.to_string())),
                    _ => {}
                }
            }
            Err(LineError::Silent)
        };
        if let Err(why) = timeout(ANSWER, connected).await.unwrap_or(Err(LineError::Silent)) {
            node.shutdown().await;
            return Err(why);
        }
        // Nobody else has anything to say to this node.
        tokio::spawn(async move { while events.recv().await.is_some() {} });
        Ok(Self { point, node, asked: AtomicU32::new(0), is_silent: AtomicBool::new(false) })
    }

    async fn ask(&self, request: MailRequest) -> Result<MailResponse, LineError> {
        if self.is_silent.load(Ordering::Relaxed) {
            return Err(LineError::Silent);
        }
        if self.asked.fetch_add(1, Ordering::Relaxed) >= AT_ONCE {
            sleep(PACE).await;
        }
        let patience = match request {
            MailRequest::Fetch { .. } | MailRequest::Put(_) => LETTER,
            MailRequest::Open { .. } | MailRequest::Read { .. } | MailRequest::Look { .. } => ANSWER,
        };
        let Ok(answer) = timeout(patience, self.node.mail(self.point, request)).await else {
            self.is_silent.store(true, Ordering::Relaxed);
            return Err(LineError::Silent);
        };
        match answer? {
            Ok(MailResponse::Refused(why)) => Err(LineError::Refused(why)),
            Ok(response) => Ok(response),
            Err(why) => Err(LineError::Failed(why)),
        }
    }

    async fn do_it(&self, request: MailRequest) -> Result<(), LineError> {
        match self.ask(request).await? {
            MailResponse::Done => Ok(()),
            _ => Err(LineError::Other),
        }
    }

    /// Opens the own box for letters of these players; for nobody, the box goes.
    pub(super) async fn open_box(&self, writers: Vec<PeerId>) -> Result<(), LineError> {
        let writers = Bounded::first(writers.into_iter().filter_map(|writer| SeatKey::try_from(writer).ok()));
        self.do_it(MailRequest::Open { writers }).await
    }

    /// Fetches all letters, each with its number.
    pub(super) async fn fetch(&self) -> Result<Vec<(u64, Vec<u8>)>, LineError> {
        let (mut letters, mut after) = (Vec::new(), None);
        for _ in 0..MAX_PAGES {
            let MailResponse::Letters(page) = self.ask(MailRequest::Fetch { after }).await? else {
                return Err(LineError::Other);
            };
            letters.extend(page.letters.into_inner().into_iter().map(|came| (came.number, came.letter.into_inner())));
            // A point that goes in circles gives no more.
            let further = page.next.filter(|next| after.is_none_or(|after| *next > after));
            if further.is_none() || letters.len() >= MAX_LETTERS {
                break;
            }
            after = further;
        }
        Ok(letters)
    }

    /// Says that these letters are read.
    pub(super) async fn read(&self, numbers: &[u64]) -> Result<(), LineError> {
        for numbers in numbers.chunks(MAX_LETTERS) {
            self.do_it(MailRequest::Read { numbers: Bounded::first(numbers.iter().copied()) }).await?;
        }
        Ok(())
    }

    /// The own letters that wait in a reader's box.
    async fn waiting(&self, owner: SeatKey) -> Result<Vec<Waiting>, LineError> {
        match self.ask(MailRequest::Look { owner }).await? {
            MailResponse::Waiting(all) => Ok(all.into_inner()),
            _ => Err(LineError::Other),
        }
    }

    /// Whether a letter that says this waits in a reader's box.
    pub(super) async fn look(&self, reader: PeerId, subject: Subject) -> Result<Option<Waiting>, LineError> {
        let all = self.waiting(key(reader)?).await?;
        Ok(all.into_iter().find(|waiting| waiting.subject == subject))
    }

    /// Puts a letter into its reader's box, unless one that says the same waits there.
    pub(super) async fn put(&self, reader: PeerId, letter: &Written) -> Result<Waiting, LineError> {
        let Written { subject, sealed, .. } = letter;
        let owner = key(reader)?;
        let all = self.waiting(owner).await?;
        if let Some(waiting) = all.iter().find(|waiting| waiting.subject == *subject) {
            return Ok(*waiting);
        }
        let letter = sealed.clone().try_into().map_err(|_| LineError::TooLong(sealed.len() / 1024))?;
        self.do_it(MailRequest::Put(Box::new(Posted { owner, subject: *subject, letter }))).await?;
        let since = all.iter().find(|waiting| waiting.subject.place == subject.place).map_or(0, |before| before.since);
        let left = u32::try_from(KEPT.as_secs()).unwrap_or(u32::MAX);
        Ok(Waiting { subject: *subject, since, left })
    }

    pub(super) async fn close(&self) {
        self.node.shutdown().await;
    }
}

fn key(peer: PeerId) -> Result<SeatKey, LineError> {
    SeatKey::try_from(peer).map_err(|why| LineError::Failed(why.to_string()))
}
