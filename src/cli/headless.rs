//! A seat without a screen: events as JSON lines or plain words on standard output.

use std::time::Duration;

use fairdeal_peers::Multiaddr;
use fairdeal_peers::ticket::Ticket;
use fairdeal_peers::ticket::reply::Reply;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_session::people::{MarkKind, SeatPerson, words_of};
use fairdeal_session::view::{LobbyView, ground_in_words};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::exit::Exit;
use super::output::{Lines, complain};
use super::replies;
use crate::drive::{Handle, now};
use crate::events::convert::Converter;
use crate::events::{SessionLine, Version};
use crate::herald::Herald;
use crate::signals::Signals;
use crate::table_page::table_page;
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::notify::Notifier;

/// How long the program may take to stop once asked: it prints the last events and informs the other seats.
const LEAVING: Duration = Duration::from_secs(3);

/// How often the progress of reaching a host is printed, in seconds.
const PROGRESS: u64 = 10;

/// Prints a session until it ends, and runs the player's command for its signs. A host takes the replies of guests that it shall call back from standard input.
pub(super) async fn run(mut handle: Handle, json: bool, is_host: bool, herald: Herald) -> anyhow::Result<Exit> {
    let mut notifier = Notifier::for_bot();
    let mut replies = is_host.then(replies::read);
    let mut printer = Printer {
        json,
        events: Converter::default(),
        ticket: None,
        why: None,
        reply: None,
        names: Vec::new(),
        exit: Exit::Failed,
        has_failed: false,
        is_over: false,
        lines: Lines::start(),
    };
    let mut signals = Signals::new()?;
    // The deadline for the end, once the program was asked to stop.
    let mut latest = None;
    loop {
        tokio::select! {
            event = handle.events.recv() => match event {
                Some(event) => {
                    printer.event(&event);
                    // Nothing of a bot's waits for a time.
                    notifier.hear(&event, now().up);
                    std::iter::from_fn(|| notifier.poll()).for_each(|sign| herald.tell(&sign));
                }
                None => {
                    let asked = latest.is_some();
                    tokio::select! {
                        written = printer.lines.end() => written?,
                        // Nobody reads, and somebody wants the program to end.
                        () = signals.recv() => return Ok(Exit::Interrupted),
                        () = sleep_until(latest.unwrap_or_else(Instant::now)), if asked => {}
                    }
                    return Ok(if asked { Exit::Interrupted } else { printer.exit });
                }
            },
            gone = printer.lines.failed() => {
                let _ = handle.commands.send(Command::Quit).await;
                // Wait until the journals are closed.
                while handle.events.recv().await.is_some() {}
                return gone.map(|()| Exit::Done);
            }
            reply = next(&mut replies) => match reply {
                Some(reply) => {
                    if handle.commands.try_send(Command::CallBack(reply)).is_err() {
                        complain("the table is busy; paste the reply again");
                    }
                }
                None => replies = None,
            },
            () = signals.recv(), if latest.is_none() => {
                latest = Some(Instant::now() + LEAVING);
                // If the session accepts no commands, it has ended, or it is stopped at `latest`.
                let _ = handle.commands.try_send(Command::Quit);
            }
            () = sleep_until(latest.unwrap_or_else(Instant::now)), if latest.is_some() => {
                return Ok(Exit::Interrupted);
            }
        }
    }
}

/// The next reply; forever none if none is read.
async fn next(replies: &mut Option<mpsc::Receiver<Reply>>) -> Option<Reply> {
    match replies {
        Some(replies) => replies.recv().await,
        None => std::future::pending().await,
    }
}

/// The address book's word on a player who sits down; a warning has the words to compare.
fn in_words(person: &SeatPerson) -> String {
    let words = person.mark.words();
    match person.mark.kind() {
        MarkKind::OtherKey => {
            format!(": WARNING, {words}. Compare the eight words before you trust it: {}", words_of(person.key))
        }
        _ => format!(" ({words})"),
    }
}

/// The link for friends with a browser, if this program or a relay serves the page.
fn link(ticket: &str) -> Option<String> {
    Some(ticket.parse::<Ticket>().ok()?.link(table_page().is_some())?.url)
}

/// Whether a ticket leads nowhere but to the bots of this program.
fn is_local(ticket: &str) -> bool {
    let ticket = ticket.parse::<Ticket>().ok();
    let is_memory = |address: &Multiaddr| address.to_string().starts_with("/memory/");
    ticket.is_some_and(|ticket| ticket.addresses().iter().all(is_memory))
}

struct Printer {
    json: bool,
    events: Converter,
    /// The last printed ticket: a ticket changes with the addresses.
    ticket: Option<String>,
    /// The last printed reason why the host could not be reached.
    why: Option<String>,
    /// The last printed reply.
    reply: Option<String>,
    /// The players' names in seat order, once the table is open.
    names: Vec<String>,
    exit: Exit,
    /// Whether an error was reported.
    has_failed: bool,
    /// Whether the table has ended. No event follows that one, though the session stays for the others for a while.
    is_over: bool,
    lines: Lines,
}

impl Printer {
    fn event(&mut self, event: &SessionEvent) {
        let line = match self.json {
            true if self.is_over => {
                if let SessionEvent::Fault { .. } = event {
                    self.words(event).into_iter().for_each(complain);
                }
                None
            }
            true => self.json_line(event),
            false => self.words(event),
        };
        match event {
            SessionEvent::Lobby(view) => self.ticket.clone_from(&view.ticket),
            SessionEvent::Reaching { why, reply, .. } => {
                self.why.clone_from(why);
                self.reply.clone_from(reply);
            }
            SessionEvent::Started { names, .. } => self.names.clone_from(names),
            SessionEvent::Over { .. } => {
                self.is_over = true;
                self.exit = if self.has_failed { Exit::Failed } else { Exit::Done };
            }
            SessionEvent::Claimed { .. } | SessionEvent::Fault { stopped: true, .. } => self.is_over = true,
            // A game that is over may still lack its transcript.
            SessionEvent::Error(_) => {
                self.has_failed = true;
                self.exit = Exit::Failed;
            }
            _ => {}
        }
        if let Some(line) = line {
            self.lines.say(&line);
        }
        if let (SessionEvent::Error(why), true) = (event, self.json) {
            complain(why);
        }
    }

    fn json_line(&mut self, event: &SessionEvent) -> Option<String> {
        let is_told = match event {
            SessionEvent::Lobby(view) => self.new_ticket(view).is_some(),
            SessionEvent::Reaching { seconds, why, reply } => self.is_progress(*seconds, why) || self.reply != *reply,
            _ => true,
        };
        let event = self.events.event(event).filter(|_| is_told)?;
        let line = SessionLine { v: Version, event };
        let written = serde_json::to_string(&line);
        written.inspect_err(|error| complain(format!("an event cannot be written: {error}"))).ok()
    }

    /// Whether to print the progress of reaching the host: every [`PROGRESS`] seconds, and for each new reason.
    fn is_progress(&self, seconds: u64, why: &Option<String>) -> bool {
        seconds.is_multiple_of(PROGRESS) || self.why != *why
    }

    fn new_ticket<'a>(&self, view: &'a LobbyView) -> Option<&'a String> {
        view.ticket.as_ref().filter(|ticket| self.ticket.as_ref() != Some(ticket))
    }

    /// The player's name, or the seat's number if the name is not known yet.
    fn name(&self, seat: Seat) -> String {
        self.names.get(seat.index()).cloned().unwrap_or_else(|| seat.to_string())
    }

    /// The final scores by name: "Scores: Anna 12, Ben 7."
    fn scores(&self, scores: &[i64]) -> String {
        let scores: Vec<String> =
            Seat::first(scores.len()).zip(scores).map(|(seat, score)| format!("{} {score}", self.name(seat))).collect();
        format!("Scores: {}.", scores.join(", "))
    }

    fn words(&self, event: &SessionEvent) -> Option<String> {
        Some(match event {
            SessionEvent::Lobby(view) => {
                let ticket = self.new_ticket(view).filter(|ticket| !is_local(ticket))?;
                match link(ticket) {
                    Some(link) => format!("ticket: {ticket}\nin a browser: {link}"),
                    None => format!("ticket: {ticket}"),
                }
            }
            SessionEvent::Ticket { ticket, .. } => {
                format!("ticket: {ticket}\nPlayers who can't find you: fairdeal resume {ticket}")
            }
            SessionEvent::Reaching { seconds, why, reply } => {
                let new = reply.as_ref().filter(|reply| self.reply.as_ref() != Some(reply));
                if new.is_none() && !self.is_progress(*seconds, why) {
                    return None;
                }
                let why = why.as_ref().map(|why| format!(" ({why})"));
                let progress = format!("Reaching the host: {seconds} s left{}.", why.unwrap_or_default());
                match new {
                    Some(reply) => format!(
                        "{progress}\nreply: {reply}\nSend this reply to the host. Pasted into the host's lobby, it makes the \
                         host call you back."
                    ),
                    None => progress,
                }
            }
            SessionEvent::Seated { seat, name, person } => {
                let told = person.as_ref().map_or_else(String::new, in_words);
                format!("{name} joins as {seat}{told}.")
            }
            // Once: a line for each would be chat again.
            SessionEvent::Hidden { name, lines, .. } if *lines == 1 => {
                format!("{name} is blocked: chat is not shown.")
            }
            SessionEvent::Hidden { .. } => return None,
            SessionEvent::Started { table, names, .. } => {
                format!("Table {} is open: {}.", table.short(), names.join(", "))
            }
            SessionEvent::Line(line)
            | SessionEvent::RemovalProposed { line, .. }
            | SessionEvent::Extended { line, .. }
            | SessionEvent::Seal { line, .. }
            | SessionEvent::Reach(line) => line.clone(),
            SessionEvent::Disk { text, .. } => text.clone(),
            SessionEvent::Peer { seat, state } => state.in_words(&self.name(*seat)),
            SessionEvent::Fault { what, evidence, .. } => match evidence {
                Some(path) => format!("FAULT: {what}. Evidence: {}.", path.display()),
                None => format!("FAULT: {what}."),
            },
            SessionEvent::Claimed { by, absent, ground, .. } => {
                let seats = |all: &[Seat]| all.iter().copied().collect::<SeatSet>();
                let (by, absent) = (seats(by), seats(absent));
                let why = ground_in_words(*ground);
                format!("{by} closed the table by claim: {absent} {why}.")
            }
            SessionEvent::Over { scores, transcript, .. } => {
                let scores = self.scores(scores);
                match transcript {
                    Some(path) => format!("{scores} Transcript: {}", path.display()),
                    None => scores,
                }
            }
            SessionEvent::Chat { name, text, .. } => format!("{name}: {text}"),
            SessionEvent::Invited { name, ticket, .. } => {
                format!("{name} opened another table: fairdeal join {ticket}")
            }
            SessionEvent::Error(why) => format!("error: {why}"),
            SessionEvent::Refused(why) => format!("refused: {why}"),
            SessionEvent::RoundTrip { .. }
            | SessionEvent::Snapshot(_)
            | SessionEvent::Deal(_)
            | SessionEvent::Action { .. }
            | SessionEvent::Game(_)
            | SessionEvent::Letter(_)
            | SessionEvent::Calls(_) => {
                return None;
            }
        })
    }
}
