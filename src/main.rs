//! The `fairdeal` program: parses its arguments, runs, and reports the outcome by its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    fairdeal::cli::main()
}
