//! Background threads that read the library of past games and the transcripts to audit.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fairdeal_protocol::audit::progress::AuditProgress;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_session::lobby::by_letter::ByLetter;
use fairdeal_session::replay::{Replay, ReplayError};
use fairdeal_ui::app::event::{Input, UiEvent};
use fairdeal_ui::app::screen::{LetterRead, Library, Mailed};
use fairdeal_ui::review::review;
use tokio::sync::{mpsc, watch};

use super::letters::shown;
use super::mail::mailed;
use super::{App, TELLING};
use crate::drive::finder::{Company, company_of};
use crate::drive::lobbies::{LobbyFault, id_of, open_lobbies};
use crate::drive::saved::saved_tables;
use crate::hands::hands;
use crate::history::{self, What, history};
use crate::letter_files::LobbyState;
use crate::store::{DataView, read_transcript};
use crate::tui::Data;

/// Reads the games in the data directory.
pub(super) struct LibraryReader {
    data: Data,
    readings: Arc<AtomicU64>,
    back: mpsc::Sender<Input>,
    company: watch::Sender<Company>,
}

impl LibraryReader {
    /// Sends the list of games at once, then reads those with no known summary one by one. A newer reading or the end
    /// of the interface stops it.
    pub(super) fn read(self) {
        let own = self.readings.fetch_add(1, Ordering::Relaxed) + 1;
        let is_last = || self.readings.load(Ordering::Relaxed) == own && !self.back.is_closed();
        // The history lists those that cannot be read, with the reason.
        let waiting = saved_tables(self.data.view(), None).unwrap_or_default();
        if is_last() {
            let people = self.data.view().people().unwrap_or_default();
            self.company.send_replace(company_of(&waiting, &people));
        }
        let saved = waiting.into_iter().filter_map(|(table, seats)| Some((table, seats.first()?.1.in_words())));
        let lobbies = open_lobbies(self.data.view()).unwrap_or_default();
        let lobbies: Vec<_> = lobbies.iter().filter_map(|lobby| in_library(lobby, self.data.view()).ok()).collect();
        let library = Library {
            waiting: saved.chain(lobbies.iter().map(|(id, words, ..)| (id.clone(), words.clone()))).collect(),
            past: history(self.data.view()),
            mailed: mailed(self.data.view()).collect(),
            ..Library::default()
        };
        let mut library = lobbies.into_iter().fold(library, |mut all, (id, _, state, letter)| {
            all.mailed.insert(id.clone(), state);
            all.lobbies.insert(id, letter);
            all
        });
        self.tell(&library);
        // Unreadable settings and people are told at the start.
        if let Ok(people) = self.data.view().people() {
            let _ = self.back.blocking_send(Input::People(people));
        }
        for number in 0..library.past.len() {
            let unread = library.past.get_mut(number).filter(|past| past.what == What::Unread);
            let Some(past) = unread else { continue };
            history::read(past, self.data.view(), self.data.open().ok().map(Arc::as_ref), &mut |_| {
                if is_last() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            if !is_last() {
                return;
            }
            self.tell(&library);
        }
    }

    fn tell(&self, library: &Library) {
        // Ignore the error: the interface has ended.
        let _ = self.back.blocking_send(Input::Library(library.clone()));
    }
}

/// A lobby by letter among the saved games: its id, its seats, how it stands, and what there is to write.
fn in_library(lobby: &ByLetter, data: &DataView) -> Result<(String, String, Mailed, LetterRead), LobbyFault> {
    let state = LobbyState::of(lobby, data)?;
    let letter = shown(lobby, data)?;
    let mailed = Mailed { state: state.in_short(), since: String::new(), letters: vec![state.next_in_words()] };
    Ok((id_of(lobby), state.seats_in_words(), mailed, letter))
}

/// A transcript being read in a background thread.
pub(super) struct Reading {
    stopped: Arc<AtomicBool>,
    back: mpsc::Sender<Input>,
    told: Option<std::time::Instant>,
}

impl Reading {
    /// Sends progress to the screen every [`TELLING`]. Returns `Break` if nobody waits for it.
    pub(super) fn tell(&mut self, progress: AuditProgress) -> ControlFlow<()> {
        self.tell_news(UiEvent::Checking(progress))
    }

    fn tell_news(&mut self, news: UiEvent) -> ControlFlow<()> {
        if self.stopped.load(Ordering::Relaxed) || self.back.is_closed() {
            return ControlFlow::Break(());
        }
        if self.told.is_none_or(|told| told.elapsed() >= TELLING) {
            self.told = Some(std::time::Instant::now());
            // If the channel is full, the next report replaces this one.
            let _ = self.back.try_send(Input::UiEvent(news));
        }
        ControlFlow::Continue(())
    }
}

impl App {
    /// Reads the data directory in a background thread, then the games with no known summary, one by one.
    pub(super) fn load_library(&self) {
        let library_reader = self.library_reader();
        tokio::task::spawn_blocking(move || library_reader.read());
    }

    pub(super) fn library_reader(&self) -> LibraryReader {
        LibraryReader {
            data: self.interface.data.clone(),
            readings: Arc::clone(&self.readings),
            back: self.back.clone(),
            company: self.company.clone(),
        }
    }

    pub(super) fn read_replay(&mut self, path: PathBuf) {
        self.read(path, |transcript, reading| {
            match Replay::open_with(transcript, hands(), &mut |progress| reading.tell(progress)) {
                Ok(replay) => Some(UiEvent::Replay(Arc::new(replay))),
                Err(ReplayError::BrokenOff) => None,
                Err(why) => Some(UiEvent::Failed(why.to_string())),
            }
        });
    }

    pub(super) fn read_review(&mut self, path: PathBuf, me: Seat) {
        self.read(path, move |transcript, reading| {
            let replay = match Replay::open_with(transcript, hands(), &mut |progress| reading.tell(progress)) {
                Ok(replay) => Arc::new(replay),
                Err(ReplayError::BrokenOff) => return None,
                Err(why) => return Some(UiEvent::Failed(why.to_string())),
            };
            let stop = Arc::clone(&reading.stopped);
            let tell = &mut |done, total| reading.tell_news(UiEvent::Reviewing(done, total));
            let reviewed = review(&replay, me, &stop, tell)?;
            Some(UiEvent::Reviewed(Box::new(reviewed)))
        });
    }

    /// Reads a transcript in a background thread and sends the result.
    pub(super) fn read(
        &mut self,
        path: PathBuf,
        run: impl FnOnce(Arc<Transcript>, &mut Reading) -> Option<UiEvent> + Send + 'static,
    ) {
        self.reading.store(true, Ordering::Relaxed);
        self.reading = Arc::default();
        let mut reading = Reading { stopped: Arc::clone(&self.reading), back: self.back.clone(), told: None };
        tokio::task::spawn_blocking(move || {
            let news = match read_transcript(&path) {
                Ok(transcript) => run(Arc::new(transcript), &mut reading),
                Err(why) => Some(UiEvent::Failed(format!("{}: {why}", path.display()))),
            };
            if let Some(news) = news.filter(|_| !reading.stopped.load(Ordering::Relaxed)) {
                let _ = reading.back.blocking_send(Input::UiEvent(news));
            }
        });
    }
}
