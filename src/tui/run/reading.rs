//! Reading in threads of their own: the library of past games, and transcripts that are audited.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fairdeal_protocol::audit::progress::AuditProgress;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_ui::replay::{Replay, ReplayError};
use tokio::sync::mpsc::{self};

use super::{App, TELLING};
use crate::history::{What, history};
use crate::session::journal::saved_tables;
use crate::store::read_transcript;
use crate::tui::Data;
use crate::tui::event::{Input, UiEvent};
use crate::tui::screen::Library;

/// Reads what lies in the data directory.
pub(super) struct Shelves {
    data: Data,
    readings: Arc<AtomicU64>,
    back: mpsc::Sender<Input>,
}

impl Shelves {
    /// Tells what lies there, and then reads, one by one, the games of which nothing is known; broken off by the
    /// next reading, and by the end of the interface.
    pub(super) fn read(self) {
        let own = self.readings.fetch_add(1, Ordering::Relaxed) + 1;
        let is_last = || self.readings.load(Ordering::Relaxed) == own && !self.back.is_closed();
        let waiting = saved_tables(self.data.view(), None).unwrap_or_default();
        let waiting = waiting.into_iter();
        let mut library = Library {
            waiting: waiting
                .filter_map(|(table, seats)| Some((table, seats.first()?.1.in_words())))
                .collect(),
            past: history(self.data.view()),
        };
        self.tell(&library);
        for number in 0..library.past.len() {
            let unread = library
                .past
                .get_mut(number)
                .filter(|past| past.what == What::Unread);
            let Some(past) = unread else { continue };
            past.read(
                self.data.view(),
                self.data.open().ok().map(Arc::as_ref),
                &mut |_| {
                    if is_last() {
                        ControlFlow::Continue(())
                    } else {
                        ControlFlow::Break(())
                    }
                },
            );
            if !is_last() {
                return;
            }
            self.tell(&library);
        }
    }

    fn tell(&self, library: &Library) {
        // An interface that has ended wants to know nothing.
        let _ = self.back.blocking_send(Input::Library(library.clone()));
    }
}

/// A transcript that is being read in a thread.
pub(super) struct Reading {
    stopped: Arc<AtomicBool>,
    back: mpsc::Sender<Input>,
    told: Option<std::time::Instant>,
}

impl Reading {
    /// Tells the screen now and then how far it is; breaks off if nobody waits any more.
    pub(super) fn tell(&mut self, progress: AuditProgress) -> ControlFlow<()> {
        if self.stopped.load(Ordering::Relaxed) || self.back.is_closed() {
            return ControlFlow::Break(());
        }
        if self.told.is_none_or(|told| told.elapsed() >= TELLING) {
            self.told = Some(std::time::Instant::now());
            // If the screen is behind, it has the next one.
            let _ = self
                .back
                .try_send(Input::UiEvent(UiEvent::Checking(progress)));
        }
        ControlFlow::Continue(())
    }
}

impl App {
    /// Reads the data directory in a thread of its own, and then, one by one, the games of which nothing is known.
    pub(super) fn load_shelf(&self) {
        let shelves = self.shelves();
        tokio::task::spawn_blocking(move || shelves.read());
    }

    pub(super) fn shelves(&self) -> Shelves {
        Shelves {
            data: self.interface.data.clone(),
            readings: Arc::clone(&self.readings),
            back: self.back.clone(),
        }
    }

    pub(super) fn read_replay(&mut self, path: PathBuf) {
        self.read(path, |transcript, reading| {
            match Replay::open_with(transcript, &mut |progress| reading.tell(progress)) {
                Ok(replay) => Some(UiEvent::Replay(Arc::new(replay))),
                Err(ReplayError::BrokenOff) => None,
                Err(why) => Some(UiEvent::Failed(why.to_string())),
            }
        });
    }

    /// Reads a transcript in a thread of its own, and tells what comes of it.
    pub(super) fn read(
        &mut self,
        path: PathBuf,
        run: impl FnOnce(Arc<Transcript>, &mut Reading) -> Option<UiEvent> + Send + 'static,
    ) {
        self.reading.store(true, Ordering::Relaxed);
        self.reading = Arc::default();
        let mut reading = Reading {
            stopped: Arc::clone(&self.reading),
            back: self.back.clone(),
            told: None,
        };
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
