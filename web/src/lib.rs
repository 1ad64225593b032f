//! The page: the screens of [`fairdeal_ui`] in a browser, with the same auditor as `fairdeal verify`.
//!
//! ```text
//! page/page.html, page.js     draws frames as SVG, and reports keys, clicks and files
//!            │  messages
//! page/worker.js              a worker around the module: timers, slices of work
//!            │  JSON in, JSON out
//! abi ─► page ─► fairdeal_ui::app, replay, practice
//! ```
//!
//! The module imports nothing: no clock, no randomness, no network, no document. It can only do what the two scripts let it
//! do, and the page's content security policy blocks every request. `examples/assemble.rs` puts all of it
//! into one HTML file (`just page`).

#[cfg(target_arch = "wasm32")]
mod abi;
pub mod message;
pub mod page;
mod seat;
