//! Sessions inside the test process: a data directory, a person's setup, and a host's ticket.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fairdeal::drive::Handle;
use fairdeal::drive::start::{Me, Place, Setup, draw_program};
use fairdeal::store::DataDir;
use fairdeal_games::bots::Level;
use fairdeal_net::Transport;
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_protocol::game::RuleSet;
use fairdeal_session::events::SessionEvent;
use fairdeal_session::setup::ListenConfig;
use fairdeal_session::setup::{Attended, Hands, Patience, Pilot, Role};

/// A data directory under `root`.
pub(crate) fn data(root: &Path, name: &str) -> Arc<DataDir> {
    Arc::new(DataDir::open(Some(&root.join(name))).unwrap())
}

/// A bot without delay.
pub(crate) fn pilot() -> Pilot {
    Pilot { level: Level::Normal, delay: Duration::from_millis(1) }
}

/// The host of a table: a person who is not ready yet.
pub(crate) fn as_host(rules: RuleSet) -> Role {
    Role::Host { rules, hands: Hands::Person { ready: false }, program: draw_program().unwrap(), password: None }
}

/// A guest: a person who is not ready yet.
pub(crate) fn as_guest(target: JoinTarget) -> Role {
    Role::Guest {
        target,
        hands: Hands::Person { ready: false },
        program: draw_program().unwrap(),
        password: None,
        patience: Patience::AMinute,
    }
}

/// A spectator without a password.
pub(crate) fn as_watcher(target: JoinTarget) -> Role {
    Role::Watcher { target, password: None }
}

/// The same role, played by a bot or by a person who is ready.
pub(crate) fn played(mut role: Role, pilot: Option<Pilot>) -> Role {
    if let Role::Host { hands, .. } | Role::Guest { hands, .. } = &mut role {
        *hands = pilot.map_or(Hands::Person { ready: true }, Hands::Bot);
    }
    role
}

/// A person whom other programs of this machine reach.
pub(crate) fn person(data: &Arc<DataDir>, name: &str, role: Role) -> Setup {
    Setup {
        me: Me {
            identity: data.identity().unwrap(),
            name: name.to_owned(),
            attended: Attended::Person,
            data: Arc::clone(data),
            program: None,
        },
        role,
        place: Place::quiet(ListenConfig::of_local_bot(Transport::Sockets)),
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
