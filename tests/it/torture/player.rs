//! One player of a game: its data directory, the program that runs on it now, and what it has said.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use serde_json::Value;

use super::disk::Disk;
use super::link::Link;
use crate::process::{Program, fairdeal};

/// Events of a step that all have consented to: its action and the effects.
const IN_FLIGHT: usize = 40;

/// A player, whose program comes and goes.
pub(super) struct Player {
    pub(super) name: String,
    /// Where its data directory lies.
    home: PathBuf,
    /// The standard error of its programs, one after the other.
    stderr: PathBuf,
    /// First, so that it ends before its disk goes.
    pub(super) program: Option<Program>,
    pub(super) disk: Option<Disk>,
    /// Between a guest and the host.
    pub(super) link: Option<Link>,
    /// When its program is started again.
    pub(super) back_at: Option<Instant>,
    /// When its stopped program goes on.
    pub(super) stopped_until: Option<Instant>,
    /// When its disk gets room again.
    pub(super) full_until: Option<Instant>,
    /// Whether the program has been asked to go.
    pub(super) asked: bool,
    /// Whether the program says that it waits for room on its disk.
    pub(super) waits_for_room: bool,
    /// How much it may tell of the game while it waits: nothing where it has one journal alone. With local bots another
    /// one's journal may be what waits, and what that bot has consented to before is still told.
    may_tell: usize,
    since_full: usize,
    /// The ticket of a host, and an address of it.
    pub(super) ticket: Option<(String, String)>,
    pub(super) table: Option<String>,
    /// The steps of the actions that it has told.
    pub(super) actions: BTreeSet<u64>,
    /// The last of the errors that it has told.
    pub(super) error: Option<String>,
    pub(super) over: Option<Value>,
    /// When it last said something.
    pub(super) heard: Instant,
}

impl Player {
    pub(super) fn new(
        root: &Path,
        name: &str,
        seats: usize,
        disk: Option<Disk>,
        link: Option<Link>,
    ) -> Self {
        let home = disk.as_ref().map_or(root, Disk::path).to_path_buf();
        Self {
            name: name.to_owned(),
            home,
            stderr: root.join(format!("{name}.stderr")),
            program: None,
            disk,
            link,
            back_at: Some(Instant::now()),
            stopped_until: None,
            full_until: None,
            asked: false,
            waits_for_room: false,
            may_tell: if seats == 1 { 0 } else { IN_FLIGHT },
            since_full: 0,
            ticket: None,
            table: None,
            actions: BTreeSet::new(),
            error: None,
            over: None,
            heard: Instant::now(),
        }
    }

    /// Its data directory.
    pub(super) fn data(&self) -> PathBuf {
        self.home.join(&self.name)
    }

    /// The standard error of its programs.
    pub(super) fn said(&self) -> String {
        fs::read(&self.stderr).map_or_else(
            |_| String::new(),
            |bytes| String::from_utf8_lossy(&bytes).into_owned(),
        )
    }

    fn files(&self, folder: &str, extension: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.data().join(folder));
        let paths = entries
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()));
        paths
            .filter(|path| path.extension().is_some_and(|end| end == extension))
            .collect()
    }

    /// The transcript of its game, once it is saved.
    pub(super) fn transcript(&self) -> Option<PathBuf> {
        self.files("transcripts", "fairdeal").pop()
    }

    /// Its journals of tables that have begun for it: those without a promise.
    pub(super) fn journals(&self) -> Vec<PathBuf> {
        let mut journals = self.files("journals", "journal");
        journals.retain(|path| !path.with_extension("promise").exists());
        journals
    }

    /// Starts its program.
    pub(super) fn start(&mut self, args: &[&str]) {
        let mut stderr = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&self.stderr)
            .unwrap();
        writeln!(stderr, "# fairdeal {}", args.join(" ")).unwrap();
        let program = Program::start_to(
            fairdeal(),
            Stdio::from(stderr),
            &self.home,
            &self.name,
            args,
        );
        self.program = Some(program);
        self.back_at = None;
        self.asked = false;
        self.waits_for_room = false;
        self.error = None;
        self.heard = Instant::now();
    }

    /// Ends its program without warning.
    ///
    /// # Errors
    /// As for [`Self::listen`].
    pub(super) fn kill(&mut self) -> Result<(), String> {
        self.stopped_until = None;
        let Some(mut program) = self.program.take() else {
            return Ok(());
        };
        program.kill();
        let mut lines = program.rest();
        // It may be half a line.
        if lines.last().is_some_and(|line| !line.ends_with('}')) {
            lines.pop();
        }
        let heard = lines.iter().try_for_each(|line| self.hear(line));
        self.waits_for_room = false;
        heard
    }

    /// Takes note that its program has ended by itself; the last that it said is heard.
    ///
    /// # Errors
    /// As for [`Self::listen`].
    pub(super) fn has_ended(&mut self) -> Result<(), String> {
        self.stopped_until = None;
        let Some(mut program) = self.program.take() else {
            return Ok(());
        };
        let heard = program.rest().iter().try_for_each(|line| self.hear(line));
        self.waits_for_room = false;
        heard
    }

    /// Sends its program a signal, by name.
    pub(super) fn signal(&self, name: &str) {
        if let Some(program) = &self.program {
            program.signal(name);
        }
    }

    /// Hears what its program has said since.
    ///
    /// # Errors
    /// It says something that it must not say.
    pub(super) fn listen(&mut self) -> Result<(), String> {
        let Some(program) = &mut self.program else {
            return Ok(());
        };
        for line in program.new_lines() {
            self.hear(&line)?;
        }
        Ok(())
    }

    fn hear(&mut self, line: &str) -> Result<(), String> {
        let name = &self.name;
        let Ok(event) = serde_json::from_str::<Value>(line) else {
            return Err(format!("{name} says what is no JSON: {line}"));
        };
        self.heard = Instant::now();
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        match text("event").as_str() {
            "ticket" => {
                let address = event["addresses"][0].as_str().unwrap_or_default();
                self.ticket = Some((text("ticket"), address.to_owned()));
            }
            "started" => self.table = Some(text("table")),
            "over" => self.over = Some(event),
            "fault" | "claimed" => return Err(format!("{name} says {line}")),
            "peer" if ["removed", "left"].contains(&text("state").as_str()) => {
                return Err(format!("{name} says {line}"));
            }
            "error" => self.error = Some(text("message")),
            "disk" if event["full"] == true => {
                if self.waits_for_room {
                    return Err(format!("{name} says twice that its disk is full"));
                }
                self.waits_for_room = true;
                self.since_full = 0;
            }
            "disk" => self.waits_for_room = false,
            kind @ ("action" | "deal" | "game") => {
                if self.waits_for_room {
                    self.since_full += 1;
                }
                if self.since_full > self.may_tell {
                    return Err(format!("{name} goes on while its disk is full: {line}"));
                }
                if kind == "action" {
                    self.actions.extend(event["step"].as_u64());
                }
            }
            _ => {}
        }
        Ok(())
    }
}
