//! Command lines of the player's, run by the system's shell: each in a process group of its own, so an interrupt on the
//! terminal does not reach it, and on Unix what it starts ends with it.

use std::process::{Child, Command};

/// A command line, to be started. It learns no password of a table.
#[cfg(unix)]
pub(crate) fn shell(command_line: &str) -> Command {
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new("sh");
    command.arg("-c").arg(command_line).process_group(0).env_remove("FAIRDEAL_PASSWORD");
    command
}

#[cfg(windows)]
pub(crate) fn shell(command_line: &str) -> Command {
    use std::os::windows::process::CommandExt as _;
    let mut command = Command::new("cmd");
    // `cmd` reads the rest of its command line as it stands, quotes included.
    command.arg("/C").raw_arg(command_line).env_remove("FAIRDEAL_PASSWORD");
    command
}

/// Kills a child and its process group. It must not have been waited for: until then its number names no other process.
pub(crate) fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // It fails only if the whole group has ended.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
}
