//! Runs the program: children never outlive their test, and their JSON lines are collected.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A program silent for this long hangs: longer than its own absence timeouts.
const SILENCE: Duration = Duration::from_secs(180);

/// The program under test.
pub(crate) fn fairdeal() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fairdeal"));
    command.env_remove("FAIRDEAL_DATA_DIR").env_remove("FAIRDEAL_PAGE").stdin(Stdio::null());
    command
}

/// File with a program's standard error.
fn errors_of(data: &Path) -> PathBuf {
    data.with_extension("errors")
}

/// Whether an event is the last of a table.
pub(crate) fn ends_a_table(event: &Value) -> bool {
    match event["event"].as_str() {
        Some("over" | "claimed") => true,
        Some("fault") => event["stopped"] == true,
        _ => false,
    }
}

/// A running program that prints JSON lines to standard output. Killed when dropped.
pub(crate) struct Program {
    child: Child,
    /// Lines read by a thread as they arrive: a program with a full pipe would block, and its table with it.
    lines: Receiver<(Instant, String)>,
    pub(crate) events: Vec<Value>,
    /// When each of the events arrived.
    arrivals: Vec<Instant>,
    pub(crate) data: PathBuf,
}

impl Program {
    /// Starts a program with its own data directory under `root`.
    pub(crate) fn start(root: &Path, name: &str, args: &[&str]) -> Self {
        Self::start_by(fairdeal(), root, name, args)
    }

    /// The same with a prepared command, for example with environment variables.
    pub(crate) fn start_by(command: Command, root: &Path, name: &str, args: &[&str]) -> Self {
        Self::start_to(command, Stdio::inherit(), root, name, args)
    }

    /// The same, recording standard error for [`Program::errors`].
    pub(crate) fn start_recorded(command: Command, root: &Path, name: &str, args: &[&str]) -> Self {
        let errors = File::create(errors_of(&root.join(name))).unwrap();
        Self::start_to(command, errors.into(), root, name, args)
    }

    /// The same, with a given standard error.
    pub(crate) fn start_to(mut command: Command, stderr: Stdio, root: &Path, name: &str, args: &[&str]) -> Self {
        let data = root.join(name);
        // To analyse a failure, FAIRDEAL_TEST_LOGS names a folder with a log of each program.
        if let Some(folder) = std::env::var_os("FAIRDEAL_TEST_LOGS") {
            let unique = root.file_name().unwrap_or_default().to_string_lossy();
            let log = Path::new(&folder).join(format!("{unique}-{name}.log"));
            command.arg("--log").arg(log);
        }
        let mut child = command
            .arg("--data-dir")
            .arg(&data)
            .args(["--name", name])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send((Instant::now(), line)).is_err() {
                    return;
                }
            }
        });
        Self { child, lines, events: Vec::new(), arrivals: Vec::new(), data }
    }

    /// Writes to standard input, which the command has to pipe.
    pub(crate) fn write(&mut self, text: &str) {
        self.child.stdin.as_mut().expect("a pipe").write_all(text.as_bytes()).unwrap();
    }

    /// Reads one line of any kind; `None` if the program has ended.
    pub(crate) fn line(&mut self) -> Option<String> {
        self.arrived_line().map(|(_, line)| line)
    }

    fn arrived_line(&mut self) -> Option<(Instant, String)> {
        match self.lines.recv_timeout(SILENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                let last = self.events.last();
                panic!("not a line within {SILENCE:?} after {last:?}")
            }
        }
    }

    /// Lines that have arrived since, without waiting.
    pub(crate) fn new_lines(&mut self) -> Vec<String> {
        self.lines.try_iter().map(|(_, line)| line).collect()
    }

    /// All remaining lines of a program that has ended.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        self.lines.iter().map(|(_, line)| line).collect()
    }

    /// Reads until an event of this kind; `None` if the program ends first.
    pub(crate) fn wait_for(&mut self, kind: &str) -> Option<Value> {
        self.wait_for_matching(|event| event["event"] == kind)
    }

    /// Reads until an event matches.
    pub(crate) fn wait_for_matching(&mut self, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        loop {
            let line = self.arrived_line()?;
            let event = self.take(line);
            if wanted(&event) {
                return Some(event);
            }
        }
    }

    /// Reads the events that have arrived since, without waiting.
    pub(crate) fn catch_up(&mut self) {
        while let Ok(line) = self.lines.try_recv() {
            self.take(line);
        }
    }

    fn take(&mut self, (arrival, line): (Instant, String)) -> Value {
        super::events::check_session_line(&line);
        let ended = self.events.iter().find(|event| ends_a_table(event));
        assert!(ended.is_none(), "{line} follows {ended:?}");
        let event: Value = serde_json::from_str(&line).unwrap();
        self.events.push(event.clone());
        self.arrivals.push(arrival);
        event
    }

    /// The time from each own turn until the next step, for all steps that have been read.
    pub(crate) fn own_moves(&self) -> Vec<Duration> {
        let turns: Vec<_> =
            self.events.iter().zip(&self.arrivals).filter(|(event, _)| event["event"] == "turn").collect();
        let own = |pair: &[(&Value, &Instant)]| match pair {
            [(turn, began), (next, ended)] if turn["my_turn"] == true && turn["step"] != next["step"] => {
                Some(ended.duration_since(**began))
            }
            _ => None,
        };
        turns.windows(2).filter_map(own).collect()
    }

    /// The ticket that a host prints.
    pub(crate) fn ticket(&mut self) -> String {
        self.wait_for("ticket").unwrap()["ticket"].as_str().unwrap().to_owned()
    }

    /// Plays a whole game of Loot against local bots, and returns the program that has ended, with its event `over`.
    pub(crate) fn has_played(root: &Path, bots: u8, target: u8) -> (Self, Value) {
        let (bots, target) = (bots.to_string(), format!("target={target}"));
        let args = ["play", "loot", "--bots", &bots, "--option", &target, "--headless", "--json"];
        let mut program = Self::start(root, "solo", &args);
        let over = program.wait_for("over").expect("the game ends");
        assert!(program.finish().success());
        (program, over)
    }

    /// Reads all events until the program ends.
    pub(crate) fn finish(&mut self) -> ExitStatus {
        assert!(self.wait_for("no such event").is_none());
        self.child.wait().unwrap()
    }

    /// Reads all lines, of any kind, until the program ends.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        while self.line().is_some() {}
        self.child.wait().unwrap()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Standard error so far, if started by [`Program::start_recorded`].
    pub(crate) fn errors(&self) -> String {
        std::fs::read_to_string(errors_of(&self.data)).unwrap()
    }

    /// Resident memory in KiB, if the system reports it.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.status("VmRSS:")
    }

    /// Peak value of [`Program::memory`].
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        self.status("VmHWM:")
    }

    fn status(&self, field: &str) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with(field))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.exit().is_none()
    }

    /// Exit status; `None` while it runs.
    pub(crate) fn exit(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Sends a signal, named without SIG.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.unwrap().success());
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A relay that is killed when dropped.
pub(crate) struct Relay {
    child: Child,
    pub(crate) address: String,
    /// Where it serves its metrics, if it was told to.
    pub(crate) metrics: Option<SocketAddr>,
}

impl Relay {
    pub(crate) fn start(root: &Path) -> Self {
        Self::start_with(root, &[])
    }

    pub(crate) fn start_with(root: &Path, options: &[&str]) -> Self {
        Self::start_by(fairdeal(), root, &[&["--listen", "/ip4/127.0.0.1/tcp/0"], options].concat())
    }

    /// Kills the relay, runs `between`, and starts the relay again at the same address.
    pub(crate) fn restart(self, root: &Path, between: impl FnOnce()) -> Self {
        self.restart_by(fairdeal(), root, &[], between)
    }

    /// The same, by a prepared command with more options.
    pub(crate) fn restart_by(mut self, command: Command, root: &Path, more: &[&str], between: impl FnOnce()) -> Self {
        let _ = self.child.kill();
        let _ = self.child.wait();
        between();
        let (listen, _) = self.address.split_once("/p2p/").unwrap();
        let again = Self::start_by(command, root, &[&["--listen", listen], more].concat());
        assert_eq!(again.address, self.address);
        again
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Starts a relay by a prepared command with options.
    pub(crate) fn start_by(mut command: Command, root: &Path, options: &[&str]) -> Self {
        let mut child = command
            .arg("--data-dir")
            .arg(root.join("relay"))
            .arg("relay")
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut metrics = None;
        let address = lines
            .map_while(Result::ok)
            .find_map(|line| {
                if let Some(rest) = line.strip_prefix("Metrics: http://") {
                    let (server, _) = rest.split_once('/').unwrap();
                    metrics = Some(server.parse().unwrap());
                }
                line.split_whitespace().find(|word| word.starts_with('/')).map(str::to_owned)
            })
            .expect("it says where it listens");
        Self { child, address, metrics }
    }

    #[allow(dead_code, reason = "benches and tests measure the process")]
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
