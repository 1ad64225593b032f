//! The terminal interface.

use crate::session::Handle;

/// How it is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct TuiOptions {
    /// ASCII alone.
    pub ascii: bool,
    /// No colours.
    pub mono: bool,
}

/// TEMPORARY
pub async fn run(_: Handle, _: TuiOptions) -> Result<(), String> {
    Err("x".into())
}
