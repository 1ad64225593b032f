//! The kinds of connections that a session may have.

use serde::{Deserialize, Serialize};

/// The transport of connections; all are encrypted and authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Transport {
    /// TCP, circuits through relays, and QUIC if it is built in. The system's resolver looks up names.
    Sockets,
    /// Channels within this process (`/memory/PORT`); nothing listens on the network.
    Memory,
}
