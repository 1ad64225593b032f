//! Whole games on a full disk, at several points of the game.
//!
//! The disk is a small tmpfs in a mount namespace of its own, which disappears with the last program in it. Without
//! privileges or `unshare`, `nsenter` and `mount`, the tests say so and pass.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::process::{Program, fairdeal};
use super::require::skip;

const RESUME: [&str; 3] = ["resume", "--headless", "--json"];
const LOOT: [&str; 6] = ["play", "loot", "--headless", "--json", "--bots", "1"];

pub(super) struct SmallDisk {
    /// Keeps the namespace alive until its standard input closes.
    holder: Child,
    mount: TempDir,
}

impl SmallDisk {
    /// An empty disk. Prints the reason to standard error and returns `None` if none can be made.
    pub(super) fn new(size: &str) -> Option<Self> {
        let mount = TempDir::new().unwrap();
        let script = "mount -t tmpfs -o size=$1,mode=700 fairdeal \"$0\" && echo ready && read -r _";
        let holder = Command::new("unshare")
            .args(["-Urm", "sh", "-c", script])
            .arg(mount.path())
            .arg(size)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut holder = match holder {
            Ok(holder) => holder,
            Err(error) => {
                skip("disks", format!("unshare: {error}"));
                return None;
            }
        };
        let mut line = String::new();
        let mut lines = BufReader::new(holder.stdout.take().unwrap());
        lines.read_line(&mut line).unwrap();
        let disk = Self { holder, mount };
        let works = disk.enter("true").status();
        if line != "ready\n" || !works.is_ok_and(|status| status.success()) {
            skip("disks", "no file system can be mounted");
            return None;
        }
        Some(disk)
    }

    /// A command that runs with the disk mounted.
    pub(super) fn enter(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command
            .args(["-U", "-m", "--preserve-credentials", "-t"])
            .arg(self.holder.id().to_string())
            .arg(program)
            .env_remove("FAIRDEAL_DATA_DIR")
            .stdin(Stdio::null());
        command
    }

    fn start(&self, name: &str, args: &[&str]) -> Program {
        let command = self.enter(env!("CARGO_BIN_EXE_fairdeal"));
        Program::start_by(command, self.mount.path(), name, args)
    }

    /// Path of a file on the disk, as seen by programs that run with it.
    pub(super) fn inside(&self, path: impl AsRef<Path>) -> PathBuf {
        self.mount.path().join(path)
    }

    /// Path of a file on the disk, as seen by the test process.
    pub(super) fn outside(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = self.mount.path().join(path);
        let inside = path.strip_prefix("/").unwrap();
        PathBuf::from(format!("/proc/{}/root", self.holder.id())).join(inside)
    }

    /// Fills the disk until `left` KiB are free.
    pub(super) fn fill(&self, left: u64) {
        let mut filler = File::create(self.outside("filler")).unwrap();
        while filler.write_all(&[1; 4096]).is_ok() {}
        let length = filler.metadata().unwrap().len();
        filler.set_len(length.saturating_sub(left << 10)).unwrap();
    }

    pub(super) fn free(&self) {
        fs::remove_file(self.outside("filler")).unwrap();
    }

    /// Mounts a one-page disk over a program's transcripts: no transcript fits.
    fn no_room_for_transcripts(&self, name: &str) {
        let folder = Path::new(name).join("transcripts");
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(self.outside(&folder)).unwrap();
        let mut mount = self.enter("mount");
        mount.args(["-t", "tmpfs", "-o", "size=4k", "fairdeal"]);
        let mounted = mount.arg(self.mount.path().join(&folder)).status();
        assert!(mounted.unwrap().success());
    }

    fn room_for_transcripts(&self, name: &str) {
        let folder = self.mount.path().join(name).join("transcripts");
        let gone = self.enter("umount").arg(folder).status().unwrap();
        assert!(gone.success());
    }

    /// Checks that the event's transcript is saved and fair.
    fn is_fair(&self, event: &Value) {
        let path = event["transcript"].as_str().expect("it is saved");
        let report = fairdeal().arg("verify").arg(self.outside(path)).output().unwrap();
        assert_eq!(report.status.code(), Some(0), "{report:?}");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

fn waits_for_room(program: &mut Program) -> String {
    let told = program.wait_for("disk").expect("it waits for room");
    assert_eq!(told["full"], true, "{told}");
    told["message"].as_str().unwrap().to_owned()
}

/// Number of reports that the disk is full, and that there is room again.
fn said(program: &Program) -> [usize; 2] {
    [true, false]
        .map(|full| program.events.iter().filter(|event| event["event"] == "disk" && event["full"] == full).count())
}

#[test]
fn table_waits_for_room_before_it_begins() {
    let Some(disk) = SmallDisk::new("64m") else {
        return;
    };
    disk.fill(2048);
    let args = [&LOOT[..], &["--option", "target=10", "--bot-delay", "5"]].concat();
    let mut program = disk.start("solo", &args);
    let message = waits_for_room(&mut program);
    let place = disk.mount.path().to_str().unwrap();
    for words in [place, "make room", "waits until there is room"] {
        assert!(message.contains(words), "{message}");
    }
    disk.free();
    let over = program.wait_for("over").expect("it goes on");
    assert!(program.finish().success());
    assert_eq!(said(&program), [1, 1]);
    let events = &program.events;
    let place = |kind: &str| events.iter().position(|event| event["event"] == kind);
    let again = events.iter().position(|event| event["event"] == "disk" && event["full"] == false);
    assert!(place("action") > again, "nothing is signed meanwhile");
    disk.is_fair(&over);
}

#[test]
fn host_that_gives_up_waiting_for_room_tells_its_guests() {
    let Some(disk) = SmallDisk::new("64m") else {
        return;
    };
    disk.fill(2048);
    let listen = ["--json", "--listen", "/ip4/127.0.0.1/tcp/0"];
    let host = [&["bot", "host", "loot", "--seats", "2"], &listen[..]].concat();
    let mut host = disk.start("host", &host);
    let root = TempDir::new().unwrap();
    let ticket = host.ticket();
    let join = [&["bot", "join", &ticket], &listen[..]].concat();
    let mut guest = Program::start(root.path(), "guest", &join);
    waits_for_room(&mut host);
    host.signal("TERM");
    let error = guest.wait_for("error").expect("the guest is told");
    let message = error["message"].as_str().unwrap();
    assert_eq!(message, "you no longer have a seat: the host has closed the table; the game had not begun");
}

/// The player's journal has reserved its room, and the disk is full when a bot reserves its own.
#[test]
fn local_bots_wait_for_room_too() {
    let Some(disk) = SmallDisk::new("128m") else {
        return;
    };
    disk.fill(20 << 10);
    let args = [&LOOT[..], &["--option", "target=10", "--bot-delay", "5"]].concat();
    let mut program = disk.start("solo", &args);
    let message = waits_for_room(&mut program);
    assert!(message.contains("make room"), "{message}");
    disk.free();
    let over = program.wait_for("over").expect("it goes on");
    assert!(program.finish().success());
    assert_eq!(said(&program), [1, 1]);
    disk.is_fair(&over);
}

/// The disk fills up in the middle of a deal. That deal has its room; the next one waits.
#[test]
fn full_disk_stops_the_next_deal() {
    let Some(disk) = SmallDisk::new("128m") else {
        return;
    };
    let args = [&LOOT[..], &["--option", "target=150", "--bot-delay", "5"]].concat();
    let mut program = disk.start("solo", &args);
    program.wait_for("action").expect("it plays");
    disk.fill(0);
    waits_for_room(&mut program);
    disk.free();
    program.wait_for("action").expect("it goes on");
    // Once more, but killed while it waits.
    disk.fill(0);
    waits_for_room(&mut program);
    program.kill();
    disk.free();
    let mut program = disk.start("solo", &RESUME);
    let over = program.wait_for("over").expect("it goes on");
    assert!(program.finish().success());
    disk.is_fair(&over);
}

/// A game that ends on a full disk stores its transcript in the room that its journal frees.
#[test]
fn full_disk_has_room_for_the_last_transcript() {
    let Some(disk) = SmallDisk::new("128m") else {
        return;
    };
    let args = [&LOOT[..], &["--option", "target=1", "--bot-delay", "5"]].concat();
    let mut program = disk.start("solo", &args);
    program.wait_for("action").expect("it plays");
    disk.fill(0);
    let over = program.wait_for("over").expect("one deal, whose room is reserved");
    assert!(program.finish().success());
    disk.is_fair(&over);
}

#[test]
fn unsaved_game_is_told_and_finished_by_resume() {
    let Some(disk) = SmallDisk::new("128m") else {
        return;
    };
    disk.no_room_for_transcripts("solo");
    let args = [&LOOT[..], &["--option", "target=1", "--bot-delay", "5"]].concat();
    let mut program = disk.start("solo", &args);
    let error = program.wait_for("error").expect("what to do");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("fairdeal resume"), "{message}");
    let over = program.wait_for("over").expect("its scores are told");
    assert_eq!(over["transcript"], Value::Null);
    assert_eq!(program.finish().code(), Some(1));
    disk.room_for_transcripts("solo");
    let mut program = disk.start("solo", &RESUME);
    let again = program.wait_for("over").expect("it is over at once");
    assert!(program.finish().success());
    for what in ["scores", "winners", "log"] {
        assert_eq!(again[what], over[what]);
    }
    disk.is_fair(&again);
    assert_eq!(disk.start("solo", &RESUME).finish().code(), Some(1));
}

/// Read-only commands work on a disk that cannot be written.
#[test]
fn past_games_are_read_from_a_disk_that_cannot_be_written() {
    let Some(disk) = SmallDisk::new("128m") else {
        return;
    };
    let args = [&LOOT[..], &["--option", "target=10", "--bot-delay", "5"]].concat();
    let mut program = disk.start("solo", &args);
    let over = program.wait_for("over").expect("the game ends");
    assert!(program.finish().success());
    let mut mount = disk.enter("mount");
    mount.args(["-o", "remount,ro"]).arg(disk.mount.path());
    assert!(mount.status().unwrap().success());

    let data = disk.mount.path().join("solo");
    let run = |args: &[&str]| {
        let mut command = disk.enter(env!("CARGO_BIN_EXE_fairdeal"));
        let output = command.arg("--data-dir").arg(&data).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
        output.stdout
    };
    let listed: Value = serde_json::from_slice(&run(&["history", "--json"])).unwrap();
    assert_eq!(listed["ended"], "finished");
    let file = over["transcript"].as_str().unwrap();
    run(&["verify", file]);
    run(&["replay", "--plain", file]);
    let table = listed["table"].as_str().unwrap();
    let root = TempDir::new().unwrap();
    let copy = root.path().join("copy.fairdeal");
    run(&["export", table, "-o", copy.to_str().unwrap()]);
    assert_eq!(fs::read(copy).unwrap(), fs::read(disk.outside(file)).unwrap());
}

#[test]
fn spectator_without_room_hears_the_scores() {
    let Some(disk) = SmallDisk::new("128m") else {
        return;
    };
    let root = TempDir::new().unwrap();
    disk.no_room_for_transcripts("spectator");
    let quick = ["--json", "--bot-delay", "5", "--listen", "/ip4/127.0.0.1/tcp/0"];
    let table = ["bot", "host", "loot", "--seats", "2", "--option", "target=1"];
    let mut host = Program::start(root.path(), "host", &[&table[..], &quick].concat());
    let ticket = host.ticket();
    let mut spectator = disk.start("spectator", &["watch", &ticket, "--json"]);
    let guest = [&["bot", "join", &ticket], &quick[..]].concat();
    let _guest = Program::start(root.path(), "guest", &guest);
    let played = host.wait_for("over").expect("the game ends");
    let error = spectator.wait_for("error").expect("why nothing is saved");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("not saved"), "{message}");
    let seen = spectator.wait_for("over").expect("it hears the scores");
    assert_eq!(seen["transcript"], Value::Null);
    for what in ["scores", "winners", "log"] {
        assert_eq!(seen[what], played[what]);
    }
    assert_eq!(spectator.finish().code(), Some(1));
}

#[test]
fn unsaved_claim_is_finished_by_resume() {
    let Some(disk) = SmallDisk::new("128m") else {
        return;
    };
    let root = TempDir::new().unwrap();
    disk.no_room_for_transcripts("host");
    let quick = ["--json", "--bot-delay", "20", "--listen", "/ip4/127.0.0.1/tcp/0"];
    let host = ["bot", "host", "loot", "--seats", "2", "--option", "absence=2"];
    let mut host = disk.start("host", &[&host[..], &quick].concat());
    let ticket = host.ticket();
    let guest = [&["bot", "join", &ticket], &quick[..]].concat();
    let mut guest = Program::start(root.path(), "guest", &guest);
    guest.wait_for("action").expect("it plays");
    guest.kill();
    assert!(host.wait_for("error").is_some());
    let claimed = host.wait_for("claimed").expect("it closes the table");
    assert_eq!(claimed["transcript"], Value::Null);
    assert_eq!(host.finish().code(), Some(1));
    disk.room_for_transcripts("host");
    let mut host = disk.start("host", &RESUME);
    let again = host.wait_for("claimed").expect("it is closed at once");
    disk.is_fair(&again);
}
