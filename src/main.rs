//! The `fairdeal` program: parses its arguments, runs, and says how it ended by its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    fairdeal::cli::main()
}
