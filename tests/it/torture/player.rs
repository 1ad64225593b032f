//! One player of a game: its data directory, its current program, and the events received from it.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use serde_json::Value;

use super::disk::Disk;
use super::link::Link;
use crate::clocks::WallClock;
use crate::process::{Program, fairdeal};

/// Events of a step that all have consented to: its action and the effects.
const IN_FLIGHT: usize = 40;

/// A player whose program comes and goes.
pub(super) struct Player {
    pub(super) name: String,
    /// Parent folder of the data directory.
    home: PathBuf,
    /// Standard error of all its programs, in order.
    stderr: PathBuf,
    /// Declared before `disk`: the program ends before its disk is removed.
    pub(super) program: Option<Program>,
    pub(super) disk: Option<Disk>,
    /// The link between a guest and the host.
    pub(super) link: Option<Link>,
    /// The wall clock of its programs, where it can be set.
    pub(super) clock: Option<WallClock>,
    /// When its program is restarted.
    pub(super) back_at: Option<Instant>,
    /// When its stopped program continues.
    pub(super) stopped_until: Option<Instant>,
    /// When its disk gets space again.
    pub(super) full_until: Option<Instant>,
    /// Whether the disk was full at some time while its program ran: an error may be reported after there is space
    /// again.
    pub(super) met_full_disk: bool,
    /// Whether the program has received a termination signal.
    pub(super) asked: bool,
    /// Whether the program reports that it waits for disk space.
    pub(super) waits_for_room: bool,
    /// Number of game events that it may report while it waits: none with a single journal. With local bots another
    /// bot's journal may be the one that waits; steps that bot already consented to are still reported.
    may_tell: usize,
    since_full: usize,
    /// The host's ticket and one of its addresses.
    pub(super) ticket: Option<(String, String)>,
    pub(super) table: Option<String>,
    /// Steps of the actions reported so far.
    pub(super) actions: BTreeSet<u64>,
    /// The last reported error.
    pub(super) error: Option<String>,
    pub(super) over: Option<Value>,
    /// Time of the last event.
    pub(super) heard: Instant,
}

impl Player {
    pub(super) fn new(root: &Path, name: &str, seats: usize, disk: Option<Disk>, link: Option<Link>) -> Self {
        let home = disk.as_ref().map_or(root, Disk::path).to_path_buf();
        Self {
            name: name.to_owned(),
            home,
            stderr: root.join(format!("{name}.stderr")),
            program: None,
            disk,
            link,
            clock: WallClock::new(root, name),
            back_at: Some(Instant::now()),
            stopped_until: None,
            full_until: None,
            met_full_disk: false,
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

    pub(super) fn data(&self) -> PathBuf {
        self.home.join(&self.name)
    }

    /// Standard error of its programs.
    pub(super) fn said(&self) -> String {
        fs::read(&self.stderr).map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn files(&self, folder: &str, extension: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.data().join(folder));
        let paths = entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
        paths.filter(|path| path.extension().is_some_and(|end| end == extension)).collect()
    }

    /// The transcript of its game, once it is saved.
    pub(super) fn transcript(&self) -> Option<PathBuf> {
        self.files("transcripts", "fairdeal").pop()
    }

    /// Journals of tables that have begun: those without a promise.
    pub(super) fn journals(&self) -> Vec<PathBuf> {
        let mut journals = self.files("journals", "journal");
        journals.retain(|path| !path.with_extension("promise").exists());
        journals
    }

    pub(super) fn start(&mut self, args: &[&str]) {
        let mut stderr = OpenOptions::new().append(true).create(true).open(&self.stderr).unwrap();
        writeln!(stderr, "# fairdeal {}", args.join(" ")).unwrap();
        let mut command = fairdeal();
        if let Some(clock) = &self.clock {
            clock.show(&mut command);
        }
        let program = Program::start_to(command, Stdio::from(stderr), &self.home, &self.name, args);
        self.program = Some(program);
        self.back_at = None;
        self.asked = false;
        self.met_full_disk = self.full_until.is_some();
        self.waits_for_room = false;
        self.error = None;
        self.heard = Instant::now();
    }

    /// Kills its program.
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
        // The last line may be incomplete.
        if lines.last().is_some_and(|line| !line.ends_with('}')) {
            lines.pop();
        }
        let heard = lines.iter().try_for_each(|line| self.hear(line));
        self.waits_for_room = false;
        heard
    }

    /// Reads the last events of a program that has ended by itself.
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

    /// Reads the program's new events.
    ///
    /// # Errors
    /// An event breaks a rule.
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
