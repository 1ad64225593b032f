//! Small disks: file systems of a few megabytes that the test can fill to the last byte.
//!
//! Each is a tmpfs in a mount namespace of its own, which a process holds open. Others reach it through that process's
//! `/proc/PID/root`. Nothing is mounted in the tests' own namespace. The holder ends when its standard input closes, so
//! the disk goes away even if the test process is killed. This needs Linux, and root or user namespaces.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Shell command that holds the file system: it prints `ready`, and lives until its input closes.
const HOLD: &str = r#"mount -t tmpfs -o "size=$1m" tmpfs "$2" && echo ready && exec cat"#;

/// A file system of its own; removed when dropped.
pub(super) struct Disk {
    holder: Child,
    at: PathBuf,
}

impl Disk {
    /// A disk of `mib` MiB, mounted in an empty folder.
    ///
    /// # Errors
    /// The reason why none can be made here.
    pub(super) fn new(folder: &Path, mib: u32) -> Result<Self, String> {
        fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        let mut reasons = Vec::new();
        for namespaces in ["-m", "-rm"] {
            match Self::held(namespaces, folder, mib) {
                Ok(disk) => return Ok(disk),
                Err(why) => reasons.push(format!("unshare {namespaces}: {why}")),
            }
        }
        Err(reasons.join("; "))
    }

    fn held(namespaces: &str, folder: &Path, mib: u32) -> Result<Self, String> {
        let mut command = Command::new("unshare");
        command.args([namespaces, "sh", "-c", HOLD, "sh", &mib.to_string()]);
        let spawned = command.arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut holder = spawned.map_err(|error| error.to_string())?;
        let mut said = String::new();
        let stdout = holder.stdout.take().unwrap();
        let _ = BufReader::new(stdout).read_line(&mut said);
        let inside = folder.strip_prefix("/").unwrap_or(folder);
        let root = PathBuf::from(format!("/proc/{}/root", holder.id()));
        let mut disk = Self { holder, at: root.join(inside) };
        if said.trim() != "ready" {
            drop(disk.holder.stdin.take());
            let mut why = String::new();
            let stderr = disk.holder.stderr.take().unwrap();
            let _ = io::Read::read_to_string(&mut BufReader::new(stderr), &mut why);
            return Err(why.trim().to_owned());
        }
        let reached = File::create(disk.ballast());
        reached.map_err(|error| error.to_string())?;
        Ok(disk)
    }

    pub(super) fn path(&self) -> &Path {
        &self.at
    }

    fn ballast(&self) -> PathBuf {
        self.at.join("ballast")
    }

    /// Takes all free space. Space that others free later has to be taken again.
    pub(super) fn fill(&self) {
        let mut file = OpenOptions::new().append(true).create(true).open(self.ballast()).unwrap();
        for length in [1 << 20, 4096, 1] {
            while let Ok(1..) = file.write(&vec![1; length]) {}
        }
    }

    /// Frees the space again.
    pub(super) fn free(&self) {
        let _ = fs::remove_file(self.ballast());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
