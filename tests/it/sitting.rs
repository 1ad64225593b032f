//! Sessions inside the test process: a data directory, a person's setup, and a host's ticket.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fairdeal::session::driver::{Attended, Pilot, Role, Setup};
use fairdeal::session::journal::ListenConfig;
use fairdeal::session::{Handle, SessionEvent};
use fairdeal::store::DataDir;
use fairdeal_games::bots::Level;
use fairdeal_net::Transport;

/// A data directory under `root`.
pub(crate) fn data(root: &Path, name: &str) -> Arc<DataDir> {
    Arc::new(DataDir::open(Some(&root.join(name))).unwrap())
}

/// A bot without delay.
pub(crate) fn pilot() -> Pilot {
    Pilot { level: Level::Normal, delay: Duration::from_millis(1) }
}

/// A person who is not ready yet, on the in-process transport.
pub(crate) fn person(data: &Arc<DataDir>, name: &str, role: Role) -> Setup {
    Setup {
        identity: data.identity().unwrap(),
        name: name.to_owned(),
        role,
        place: ListenConfig {
            transport: Transport::Memory,
            listen: vec!["/memory/0".parse().unwrap()],
            relays: Vec::new(),
        },
        bind_when_free: false,
        lan: false,
        meet: Vec::new(),
        password: None,
        pilot: None,
        exec: None,
        data: Arc::clone(data),
        program: fairdeal::session::draw_program().unwrap(),
        local_bot: false,
        ready: false,
        attended: Attended::Person,
    }
}

/// The host's first ticket that matches.
pub(crate) async fn ticket_of(host: &mut Handle, fits: impl Fn(&str) -> bool) -> String {
    loop {
        if let SessionEvent::Lobby(view) = host.events.recv().await.unwrap()
            && let Some(ticket) = view.ticket.filter(|ticket| fits(ticket))
        {
            return ticket;
        }
    }
}
