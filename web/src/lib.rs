//! The page: the screens of [`fairdeal_ui`] in a browser, with the same auditor as `fairdeal verify`.
//!
//! ```text
//! page/page.html, page.js     draws frames as SVG, and reports keys, clicks and files
//!            │  messages
//! page/worker.js              a worker around the module: timers, turns of work
//!            │  JSON in, JSON out
//! abi ─► page ─► fairdeal_ui::app, replay, practice
//!            ├─► check: an audit, of which other workers carry out slices
//!            └─► seat: a session, with the worker's sockets and database around it
//! ```
//!
//! The module imports nothing: no clock, no randomness, no network, no document. It can only do what the two scripts let it
//! do. `web/assemble` puts all of it into one HTML file, twice (`just page`): the content security policy of
//! `fairdeal.html` blocks every request, that of `table.html` all but WebSockets.

#[cfg(target_arch = "wasm32")]
mod abi;
pub mod check;
pub mod message;
pub mod page;
mod seat;
