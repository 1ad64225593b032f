//! Changed bytes: how commands treat a data directory or a transcript with disk damage.
//!
//! The damage is done to copies of data directories, since a seat without its last records could sign twice. A copy is
//! resumed without a network, because two programs with one key equivocate.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::plan::Dice;
use super::tally::Tally;
use crate::process::fairdeal;

/// Time limit for a command on a damaged file.
const LONG: Duration = Duration::from_secs(120);
/// How long a resumed copy runs before it gets a termination signal.
const RESUMED: Duration = Duration::from_millis(700);
/// The termination signal.
const SIGTERM: i32 = 15;
/// A finished game, placed beside the one in play.
const OTHER: &str = "docs/vectors/poker.fairdeal";

/// Exit code and output of a command.
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs a command to its end; sends a termination signal after `asked`.
///
/// # Errors
/// The command hung, panicked, or was killed by a signal.
fn run(mut command: Command, scratch: &Path, asked: Option<Duration>) -> Result<Ended, String> {
    let (out, err) = (scratch.join("stdout"), scratch.join("stderr"));
    let mut child = command
        .stdin(Stdio::null())
        .stdout(File::create(&out).unwrap())
        .stderr(File::create(&err).unwrap())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let (mut asked, mut was_asked) = (asked, false);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if asked.is_some_and(|after| begun.elapsed() > after) {
            (asked, was_asked) = (None, true);
            let id = child.id().to_string();
            let _ = Command::new("kill").args(["-s", "TERM", &id]).status();
        }
        if begun.elapsed() > LONG {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("{command:?} hangs"));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let ended = Ended { code: status.code(), stdout: text(&out), stderr: text(&err) };
    let known = match ended.code {
        Some(code) => [0, 1, 2, 130].contains(&code),
        // Terminated before it installed its signal handlers.
        None => was_asked && status.signal() == Some(SIGTERM),
    };
    if ended.stderr.contains("panicked") || !known {
        return Err(format!("{command:?} ends with {status}: {}", ended.stderr));
    }
    Ok(ended)
}

/// Runs the program on a data directory.
///
/// # Errors
/// As [`run`].
pub(super) fn command(data: &Path, scratch: &Path, args: &[&str]) -> Result<Ended, String> {
    let mut command = fairdeal();
    command.arg("--data-dir").arg(data).args(args);
    run(command, scratch, None)
}

/// Option of `unshare` that starts a program in an isolated network; `None` if none can be made.
fn alone() -> Option<&'static str> {
    static HOW: OnceLock<Option<&'static str>> = OnceLock::new();
    *HOW.get_or_init(|| {
        let works = |how: &&str| {
            let probe = Command::new("unshare").args([*how, "true"]).stderr(Stdio::null()).status();
            probe.is_ok_and(|status| status.success())
        };
        ["-n", "-rn"].into_iter().find(works)
    })
}

/// A way to damage a file.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Flip,
    Cut,
    Zero,
}

/// Damages bytes at a random offset before any trailing zeros.
fn spoil(bytes: &mut Vec<u8>, dice: &mut Dice) -> (Damage, usize) {
    let used = bytes.iter().rposition(|byte| *byte != 0).unwrap_or(0) + 1;
    let place = dice.below(used.min(bytes.len()).max(1));
    let damage = [Damage::Flip, Damage::Flip, Damage::Cut, Damage::Zero][dice.below(4)];
    match damage {
        Damage::Flip => bytes[place] ^= 1 << dice.below(8),
        Damage::Cut => bytes.truncate(place),
        Damage::Zero => bytes[place..].fill(0),
    }
    (damage, place)
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Copies a data directory and adds a finished game. Returns the path of that game's transcript.
fn copy(data: &Path, to: &Path, scratch: &Path) -> Result<PathBuf, String> {
    for file in files(data) {
        let inside = file.strip_prefix(data).unwrap();
        let copied = to.join(inside);
        fs::create_dir_all(copied.parent().unwrap()).unwrap();
        fs::copy(&file, &copied).unwrap();
    }
    let mut verify = fairdeal();
    verify.args(["verify", OTHER, "--json"]);
    let said = run(verify, scratch, None)?.stdout;
    let said: Value = serde_json::from_str(&said).map_err(|error| error.to_string())?;
    let table = said["table"].as_str().unwrap();
    let other = to.join("transcripts").join(format!("{table}.fairdeal"));
    fs::create_dir_all(other.parent().unwrap()).unwrap();
    fs::copy(OTHER, &other).unwrap();
    // Creates its summary, as for a game played here.
    command(to, scratch, &["history"])?;
    Ok(other)
}

/// Damages a file in a copy of an idle data directory, and tries every command on it. `local` means that the table
/// needs no network.
///
/// # Errors
/// A command broke a rule.
pub(super) fn try_copy(
    data: &Path,
    root: &Path,
    local: bool,
    dice: &mut Dice,
    tally: &mut Tally,
) -> Result<(), String> {
    let scratch = tempfile::tempdir_in(root).unwrap();
    let (scratch, to) = (scratch.path(), scratch.path().join("copy"));
    let other = copy(data, &to, scratch)?;
    let mut all = files(&to);
    all.retain(|path| fs::metadata(path).is_ok_and(|about| about.len() > 0));
    let journals: Vec<&PathBuf> =
        all.iter().filter(|path| path.extension().is_some_and(|end| end == "journal")).collect();
    let chosen = if journals.is_empty() || dice.percent(30) {
        all[dice.below(all.len())].clone()
    } else {
        journals[dice.below(journals.len())].clone()
    };
    let mut bytes = fs::read(&chosen).unwrap();
    let damage = spoil(&mut bytes, dice);
    fs::write(&chosen, &bytes).unwrap();
    let about = format!("{damage:?} in {}", chosen.display());
    tally.one("flips");
    let failed = |why: String| format!("{about}: {why}");

    let said = command(&to, scratch, &["history"]).map_err(failed)?;
    if said.code != Some(0) {
        return Err(failed(format!("history: {:?} {}", said.code, said.stderr)));
    }
    let said = command(&to, scratch, &["history", "--json"]).map_err(failed)?;
    let name = other.file_stem().unwrap().to_str().unwrap();
    let rows = said.stdout.lines().map(serde_json::from_str::<Value>);
    let rows: Vec<Value> =
        rows.collect::<Result<_, _>>().map_err(|error| failed(format!("history --json: {error}")))?;
    let row = rows.iter().find(|row| row["table"] == name);
    let row = row.ok_or_else(|| failed(format!("history does not list {name}: {rows:?}")))?;
    if chosen != other && row["ended"] != "finished" {
        return Err(failed(format!("the other game is listed as {row}")));
    }

    let out = scratch.join("out");
    let export = ["export", name, "-o", out.to_str().unwrap(), "--force"];
    let said = command(&to, scratch, &export).map_err(failed)?;
    if said.code != Some(0) || fs::read(&out).unwrap() != fs::read(&other).unwrap() {
        return Err(failed(format!("export: {:?} {}", said.code, said.stderr)));
    }
    for row in &rows {
        let table = row["table"].as_str().unwrap_or_default();
        let export = ["export", table, "-o", out.to_str().unwrap(), "--force"];
        command(&to, scratch, &export).map_err(failed)?;
    }

    let program = fairdeal();
    let mut resume = match (local, alone()) {
        (true, _) => program,
        (false, Some(how)) => {
            let mut inside = Command::new("unshare");
            inside.arg(how).arg(program.get_program());
            inside.env_remove("FAIRDEAL_DATA_DIR");
            inside
        }
        (false, None) => return Ok(()),
    };
    resume.arg("--data-dir").arg(&to);
    resume.args(["resume", "--headless", "--json"]);
    let said = run(resume, scratch, Some(RESUMED)).map_err(failed)?;
    if said.stdout.contains(r#""event":"fault""#) {
        return Err(failed(format!("resume: {}", said.stdout)));
    }
    tally.one(match said.code {
        Some(0 | 130) | None => "spoilt copies resumed",
        _ => "spoilt copies refused",
    });
    Ok(())
}

/// Damages a transcript and audits it, `times` times: it must not be found fair.
///
/// # Errors
/// The audit found it fair, or panicked.
pub(super) fn try_transcript(
    transcript: &Path,
    root: &Path,
    times: usize,
    dice: &mut Dice,
    tally: &mut Tally,
) -> Result<(), String> {
    let scratch = tempfile::tempdir_in(root).unwrap();
    let whole = fs::read(transcript).unwrap();
    for _ in 0..times {
        let mut bytes = whole.clone();
        let damage = spoil(&mut bytes, dice);
        if bytes == whole {
            continue;
        }
        let file = scratch.path().join("spoilt.fairdeal");
        fs::write(&file, &bytes).unwrap();
        let mut verify = fairdeal();
        verify.arg("verify").arg(&file);
        let said = run(verify, scratch.path(), None)?;
        tally.one("transcript flips");
        if !matches!(said.code, Some(1 | 2)) {
            return Err(format!("verify finds a spoilt transcript fair: {damage:?}"));
        }
    }
    Ok(())
}
