//! The cost of the whole program for its terminal: the time to the first frame, the bytes of a focus step, and the
//! processor time and bytes of a table that waits. Run with `cargo bench --bench terminal` (on Linux, with pseudo-terminals).
//!
//! The terminal answers no question, as the slowest one would.

// A bench that cannot start has nothing to measure.
#![allow(clippy::expect_used, clippy::panic)]

#[cfg(target_os = "linux")]
mod measured {
    use std::io::{Read as _, Write};
    use std::sync::mpsc::{Receiver, channel};
    use std::thread;
    use std::time::{Duration, Instant};

    use fairdeal_games::GAMES;
    use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
    use tempfile::TempDir;

    /// Columns and rows.
    const SIZES: [(u16, u16); 2] = [(120, 40), (200, 60)];
    /// Starts of the program for the median.
    const STARTS: usize = 11;
    /// The longest wait for a table.
    const PATIENCE: Duration = Duration::from_secs(60);
    /// The time over which a waiting table is watched.
    const WATCHED: Duration = Duration::from_secs(10);

    /// A program in a terminal.
    struct Program {
        child: Box<dyn Child + Send + Sync>,
        keyboard: Box<dyn Write + Send>,
        output: Receiver<Vec<u8>>,
        started: Instant,
        _terminal: Box<dyn MasterPty + Send>,
        _data: TempDir,
    }

    impl Program {
        fn start(args: &[&str], (cols, rows): (u16, u16)) -> Self {
            let data = tempfile::tempdir().expect("a temporary folder");
            let size = PtySize { rows, cols, ..PtySize::default() };
            let pair = native_pty_system().openpty(size).expect("a pseudo-terminal");
            let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
            command.args(["--name", "Jo"]);
            command.args(args);
            command.env("FAIRDEAL_DATA_DIR", data.path());
            command.env("TERM", "xterm-256color");
            command.env("COLORTERM", "truecolor");
            let started = Instant::now();
            let child = pair.slave.spawn_command(command).expect("the program starts");
            drop(pair.slave);
            let mut reader = pair.master.try_clone_reader().expect("its output");
            let keyboard = pair.master.take_writer().expect("its keyboard");
            let (sender, output) = channel();
            thread::spawn(move || {
                let mut bytes = [0; 65536];
                while let Ok(count @ 1..) = reader.read(&mut bytes) {
                    let part = bytes.get(..count).unwrap_or_default().to_vec();
                    if sender.send(part).is_err() {
                        return;
                    }
                }
            });
            Self { child, keyboard, output, started, _terminal: pair.master, _data: data }
        }

        /// Waits for a text in the output.
        fn shows(&self, text: &str) -> Duration {
            let mut all = Vec::new();
            let end = self.started + PATIENCE;
            while let Ok(part) = self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
                all.extend(part);
                if all.windows(text.len()).any(|window| window == text.as_bytes()) {
                    return self.started.elapsed();
                }
            }
            panic!("the program does not show '{text}'");
        }

        /// Counts the bytes written during a time.
        fn written(&self, time: Duration) -> usize {
            let end = Instant::now() + time;
            let mut count = 0;
            while let Ok(part) = self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
                count += part.len();
            }
            count
        }

        /// The processor time that it has used, in seconds: user and system time of `/proc/PID/stat`, at 100 ticks a
        /// second.
        fn processor(&self) -> f64 {
            let id = self.child.process_id().unwrap_or(0);
            let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            let after = stat.rsplit(") ").next().unwrap_or_default();
            let fields: Vec<f64> = after.split(' ').filter_map(|field| field.parse().ok()).collect();
            // The state, the third field of the file, is no number.
            fields.get(10..12).unwrap_or_default().iter().sum::<f64>() / 100.0
        }
    }

    impl Drop for Program {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    pub(super) fn first_frame() {
        for size in SIZES {
            let mut times: Vec<Duration> =
                (0..STARTS).map(|_| Program::start(&[], size).shows("Plutonian Poker")).collect();
            times.sort();
            let median = times.get(STARTS / 2).copied().unwrap_or_default();
            println!("first frame at {}x{}: {median:.1?} (median of {STARTS})", size.0, size.1);
        }
    }

    pub(super) fn tables() {
        for (info, size) in GAMES.iter().flat_map(|info| SIZES.map(|size| (info, size))) {
            let bots = (info.most_seats.min(3) - 1).to_string();
            let mut program = Program::start(&["play", info.id, "--bots", &bots], size);
            program.shows("YOUR TURN");
            program.written(Duration::from_secs(2));
            let steps = ["\x1b[C", "\x1b[C", "\x1b[D", "\x1b[B", "\x1b[A"].map(|key| {
                let sent = program.keyboard.write_all(key.as_bytes());
                sent.and_then(|()| program.keyboard.flush()).expect("it takes keys");
                program.written(Duration::from_millis(400))
            });
            let most = steps.into_iter().max().unwrap_or(0);
            println!("{} at {}x{}: at most {most} bytes a focus step", info.id, size.0, size.1);
            if size == SIZES[1] {
                let before = program.processor();
                let bytes = program.written(WATCHED);
                let share = (program.processor() - before) / WATCHED.as_secs_f64() * 100.0;
                println!("{} waits: {share:.2} % of a core, {bytes} bytes in {WATCHED:?}", info.id);
            }
        }
    }
}

fn main() {
    #[cfg(target_os = "linux")]
    {
        measured::first_frame();
        measured::tables();
    }
}
