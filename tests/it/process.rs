//! Running the program: children that never outlive their test, and their JSON lines.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::Value;

/// The program under test.
pub(crate) fn fairdeal() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fairdeal"));
    command.env_remove("FAIRDEAL_DATA_DIR").stdin(Stdio::null());
    command
}

/// A running program whose standard output is JSON lines; killed when dropped.
pub(crate) struct Program {
    child: Child,
    lines: BufReader<ChildStdout>,
    pub(crate) events: Vec<Value>,
    pub(crate) data: PathBuf,
}

impl Program {
    /// Starts it with a data directory of its own under `root`.
    pub(crate) fn start(root: &Path, name: &str, args: &[&str]) -> Self {
        let data = root.join(name);
        let mut child = fairdeal()
            .arg("--data-dir")
            .arg(&data)
            .args(["--name", name])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            lines,
            events: Vec::new(),
            data,
        }
    }

    /// Reads until an event of that kind; `None` if the program ends without one.
    pub(crate) fn wait_for(&mut self, kind: &str) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let event: Value = serde_json::from_str(&line).unwrap();
            self.events.push(event.clone());
            if event["event"] == kind {
                return Some(event);
            }
        }
    }

    /// The ticket that a host prints.
    pub(crate) fn ticket(&mut self) -> String {
        self.wait_for("ticket").unwrap()["ticket"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Reads to the end.
    pub(crate) fn finish(&mut self) -> ExitStatus {
        assert!(self.wait_for("no such event").is_none());
        self.child.wait().unwrap()
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
