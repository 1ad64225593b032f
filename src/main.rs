//! The `fairdeal` program: parses its arguments, runs, and reports the outcome by its exit code.

use std::process::ExitCode;

/// The allocator of the static program; musl's is slow.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    fairdeal::cli::main()
}
