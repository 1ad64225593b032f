//! The driver before the table opens: ticket, lobby, charter, and opening the table.

use std::collections::BTreeMap;
use std::sync::Arc;

use fairdeal_games::{AnyGame, TableEvent as _};
use fairdeal_peers::address::{at_port_of, presentable};
use fairdeal_peers::record::MAX_RECORDED;
use fairdeal_peers::ticket::{Ticket, TicketError};
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::{Event, Output, Table};
use fairdeal_protocol::table::replica::News;
use fairdeal_session::people::SeatPerson;
use fairdeal_session::text::player_names;
use fairdeal_session::view::{LobbySeat, LobbyView, PeerState, Waits};
use tokio::time::Instant;

use super::indirect::Indirect;
use super::table::Unkept;
use super::whereabouts::Whereabouts;
use super::{ALL_DIAL, Driver, Opening, Seated, SessionState};
use crate::session::SessionEvent;
use crate::session::clock;
use crate::session::journal::{self, Header, ResumeError};
use crate::store::{Journal, StoreError};
use fairdeal_session::lobby::{Agreed, LobbyError, Outgoing};
use fairdeal_session::spectators::Spectators;

impl Driver {
    /// The listen addresses have had time to come up: signs them, and writes a host's ticket.
    pub(super) async fn addresses_known(&mut self) {
        self.links.addresses_at = None;
        let addresses = self.node.addresses().await.unwrap_or_default();
        for listen in &mut self.links.place.listen {
            *listen = at_port_of(listen, &addresses);
        }
        let addresses = presentable(&addresses);
        self.links.told.clone_from(&addresses);
        if matches!(self.stage, SessionState::Table(_)) {
            return self.moved(&addresses).await;
        }
        let told = addresses.get(..MAX_RECORDED).unwrap_or(&addresses);
        match &mut self.stage {
            SessionState::Host { lobby, .. } => lobby.set_addresses(told, clock::seconds()),
            SessionState::Guest(lobby) => lobby.set_addresses(told, clock::seconds()),
            _ => {}
        }
        let ticket = match &mut self.stage {
            SessionState::Host { lobby, id } => {
                if lobby.is_solitaire() {
                    let alone = lobby.sit_alone();
                    return self.lobby_result(alone).await;
                }
                Ticket::new(*id, self.node.local_peer(), told.iter().cloned())
            }
            SessionState::Guest(_) => return self.speak_as_guest().await,
            SessionState::Watch(_)
            | SessionState::Opening(_)
            | SessionState::Restored(_)
            | SessionState::Table(_)
            | SessionState::Ended => return,
        };
        match ticket {
            Ok(ticket) => self.show_ticket(&ticket, &addresses).await,
            Err(error) => self.fail(ticket_words(&error)).await,
        }
    }

    async fn show_ticket(&mut self, ticket: &Ticket, addresses: &[Multiaddr]) {
        let me = self.node.local_peer();
        let SessionState::Host { lobby, .. } = &self.stage else {
            return;
        };
        let mut view = LobbyView {
            ticket: Some(ticket.to_string()),
            addresses: addresses.iter().map(|address| format!("{address}/p2p/{me}")).collect(),
            ..lobby.view()
        };
        self.player.people.mark_lobby(&mut view, me);
        self.player.told = Some(view.clone());
        self.tell(SessionEvent::Lobby(view)).await;
        self.announce();
    }

    /// Announces the open table on the local network and, while it has a free seat, at meeting points; once it plays,
    /// announces nothing.
    fn announce(&self) {
        let offer = match &self.stage {
            SessionState::Host { lobby, .. } => lobby.offer(),
            _ => None,
        };
        let announcement = offer.as_ref().map(|offer| offer.announcement.to_bytes());
        // Until the addresses are known there is no record of them.
        let open = offer.filter(|offer| offer.announcement.free > 0 && !offer.record.as_bytes().is_empty());
        let announced = self.node.announce(announcement).and_then(|()| self.node.offer(open));
        if let Err(error) = announced {
            tracing::warn!(%error, "cannot announce the table");
        }
    }

    /// Reports lobby changes to the player.
    async fn tell_lobby(&mut self) {
        let mut view = match &self.stage {
            SessionState::Host { lobby, .. } => lobby.view(),
            SessionState::Guest(lobby) => lobby.view(),
            SessionState::Watch(_)
            | SessionState::Opening(_)
            | SessionState::Restored(_)
            | SessionState::Table(_)
            | SessionState::Ended => return,
        };
        let before = self.player.told.clone().unwrap_or_default();
        view.ticket.clone_from(&before.ticket);
        view.addresses.clone_from(&before.addresses);
        self.player.people.mark_lobby(&mut view, self.node.local_peer());
        if view == before {
            return;
        }
        for (seat, taken) in Seat::first(view.seats.len()).zip(&view.seats) {
            if let Some(LobbySeat { name, person, .. }) = taken {
                let known = before.seats.get(seat.index()).and_then(Option::as_ref);
                let key = |person: &Option<SeatPerson>| person.as_ref().map(|person| person.key);
                if known.is_none_or(|known| known.name != *name || key(&known.person) != key(person)) {
                    let (name, person) = (name.clone(), person.clone());
                    self.tell(SessionEvent::Seated { seat, name, person }).await;
                }
            }
        }
        self.player.told = Some(view.clone());
        self.tell(SessionEvent::Lobby(view)).await;
        self.announce();
    }

    pub(super) async fn lobby_result(&mut self, result: Result<(Outgoing, Option<Agreed>), LobbyError>) {
        let (outbox, agreed) = match result {
            Err(error) => return self.fail(error.to_string()).await,
            Ok(result) => result,
        };
        // Exempt peers with a seat and spectators from the node's limits for strangers.
        if let SessionState::Host { lobby, .. } = &self.stage {
            let seated = self.links.connected.iter().filter(|peer| lobby.knows(**peer));
            for peer in seated {
                let _ = if lobby.has_seated(*peer) { self.node.seat(*peer) } else { self.node.admit(*peer) };
            }
        }
        let Some(agreed) = agreed else {
            if !self.has_promised().await {
                return;
            }
            self.send_all(&outbox);
            return self.tell_lobby().await;
        };
        self.tell_lobby().await;
        let spectators = match &mut self.stage {
            SessionState::Host { lobby, .. } => Some(lobby.take_spectators()),
            _ => None,
        };
        self.stage = SessionState::Opening(Box::new(Opening { agreed, outbox, spectators }));
        self.try_to_open().await;
    }

    /// Begins the journal of a table and opens it, or waits for space on the disk. Until then nobody else can open the
    /// table, because every seat in it must be able to resume.
    pub(super) async fn try_to_open(&mut self) {
        let stage = std::mem::replace(&mut self.stage, SessionState::Ended);
        let SessionState::Opening(opening) = stage else {
            self.stage = stage;
            return;
        };
        let password = opening.spectators.as_ref().and_then(Spectators::password);
        match self.begin_journal(&opening.agreed, password) {
            Err(Unkept::Failed(why)) => self.fail(why).await,
            Err(Unkept::Full(why)) => {
                self.stage = SessionState::Opening(opening);
                self.disk_is_full(&why).await;
            }
            Ok((table, journal)) => {
                let Opening { agreed, outbox, spectators } = *opening;
                self.disk_has_room().await;
                self.send_all(&outbox);
                let is_new = !agreed.again;
                self.open_table(table, agreed, journal, (is_new, Whereabouts::default())).await;
                self.open_spectators(spectators);
            }
        }
    }

    /// Sends a guest's pending frames to its host.
    pub(super) async fn speak_as_guest(&mut self) {
        // The frames may include this guest's signature.
        if self.has_promised().await
            && let SessionState::Guest(lobby) = &self.stage
        {
            let outbox = lobby.tick();
            self.send_all(&outbox);
        }
    }

    /// Whether a guest's promise, if it needs one, is on disk. While the disk is full the guest sends nothing.
    async fn has_promised(&mut self) -> bool {
        match self.promise().map_err(Unkept::from) {
            Ok(()) => {
                self.disk_has_room().await;
                true
            }
            Err(Unkept::Full(why)) => {
                self.disk_is_full(&why).await;
                false
            }
            Err(Unkept::Failed(why)) => {
                self.fail(why).await;
                false
            }
        }
    }

    /// Sets the player's readiness to begin.
    pub(super) async fn be_ready(&mut self, ready: bool) {
        let outbox = match &mut self.stage {
            SessionState::Host { lobby, .. } => lobby.set_ready(ready),
            SessionState::Guest(lobby) => Ok(lobby.set_ready(ready)),
            SessionState::Watch(_)
            | SessionState::Opening(_)
            | SessionState::Restored(_)
            | SessionState::Table(_)
            | SessionState::Ended => return,
        };
        self.lobby_result(outbox.map(|outbox| (outbox, None))).await;
    }

    /// As host, dismisses a guest.
    pub(super) async fn dismiss(&mut self, seat: Seat) {
        if let SessionState::Host { lobby, .. } = &mut self.stage {
            let outbox = lobby.dismiss(seat);
            self.lobby_result(outbox.map(|outbox| (outbox, None))).await;
        }
    }

    /// Persists a promise before a guest's signature goes out: from then on the others can begin the table. A host that
    /// proposes several charters in turn leaves only the last promise.
    fn promise(&mut self) -> Result<(), StoreError> {
        let SessionState::Guest(lobby) = &self.stage else {
            return Ok(());
        };
        let Some((table, me)) = lobby.signed() else {
            return Ok(());
        };
        let (data, table) = (&self.disk.data, table.to_string());
        if data.has_promised(&table, me)? {
            return Ok(());
        }
        let local_bot = self.disk.local_bot.as_ref().zip(self.autopilot.pilot);
        data.promise(&table, me, &journal::promise(local_bot))?;
        if let Some((table, me)) = self.player.promised.replace((table, me)) {
            data.take_back_promise(&table, me)?;
        }
        Ok(())
    }

    /// The agreed table and its journal. If this player has sat there before, its existing journal is used.
    fn begin_journal(
        &mut self,
        agreed: &Agreed,
        password: Option<&Password>,
    ) -> Result<(Table<AnyGame>, Arc<Journal>), Unkept> {
        let (charter, me, key) = (agreed.charter.clone(), agreed.me, self.key.clone());
        let id = charter.table().to_string();
        let data = &self.disk.data;
        let mut records = Vec::new();
        let kept = agreed.again.then(|| journal::of_returner(data, &id, me));
        let kept = kept.transpose().map_err(|error| match error {
            ResumeError::Store(error) => Unkept::from(error),
            other => Unkept::Failed(other.to_string()),
        })?;
        let journal = match kept.flatten() {
            Some(kept) => {
                records = kept.records;
                kept.journal
            }
            None => {
                let local_bot = self.disk.local_bot.as_ref().zip(self.autopilot.pilot);
                let header = Header::new(agreed, &self.links.place, local_bot, password).to_bytes();
                let begun = data.begin_journal(&id, me, &header);
                Arc::new(begun?)
            }
        };
        let table = if agreed.again {
            Table::restore(charter, me, key, records, &mut self.rng).map_err(|error| error.to_string())
        } else {
            Table::new(charter, me, key).map_err(|error| error.to_string())
        };
        Ok((table.map_err(Unkept::Failed)?, journal))
    }

    /// Opens the table: all seats have signed the charter. A table that this seat has left and comes back to is not new.
    pub(super) async fn open_table(
        &mut self,
        table: Table<AnyGame>,
        agreed: Agreed,
        journal: Arc<Journal>,
        (is_new, whereabouts): (bool, Whereabouts),
    ) {
        let Agreed { charter, me, records, again } = agreed;
        let names = player_names(charter.charter());
        let mut peers = BTreeMap::new();
        for (seat, player) in charter.charter().seated() {
            if seat == me {
                continue;
            }
            let peer = PeerId::from(player.key);
            peers.insert(seat, peer);
            let _ = self.node.seat(peer);
        }
        let id = charter.table();
        let game = charter.charter().rules().game;
        let started = SessionEvent::Started { table: id, game, names: names.clone(), me: Some(me) };
        self.tell(started).await;
        let present: Vec<Seat> =
            peers.iter().filter(|(_, peer)| self.links.connected.contains(peer)).map(|(seat, _)| *seat).collect();
        self.stage = SessionState::Table(Box::new(Seated {
            table,
            id,
            charter,
            records,
            whereabouts,
            heard: BTreeMap::new(),
            round_trips: BTreeMap::new(),
            names,
            peers,
            guilty: SeatSet::EMPTY,
            told_waits: Waits::default(),
            told_head: None,
            linked: SeatSet::EMPTY,
            links: BTreeMap::new(),
            pausing: SeatSet::EMPTY,
            indirect: Indirect::default(),
            ticked: None,
            spectators: None,
        }));
        self.disk.journal = Some(journal);
        self.note_people(is_new).await;
        if let (SessionState::Table(seated), Some(leash)) = (&self.stage, &self.autopilot.leash) {
            leash.introduce(&seated.charter.charter().rules(), me);
        }
        // The later seat dials the earlier one, so two seats never dial each other; the host is connected to all. A
        // seat that has returned dials everybody, because addresses may have changed.
        self.dial_seats(|seat| again || (seat < me && seat.index() > 0));
        self.links.dial_all_at = Some(Instant::now() + ALL_DIAL);
        self.announce();
        for seat in present {
            self.tell(SessionEvent::Peer { seat, state: PeerState::Connected }).await;
        }
        self.tell_links();
        self.history().await;
        if let SessionState::Table(seated) = &mut self.stage {
            seated.table.begin(&mut self.rng);
        }
        self.flush().await;
        self.show().await;
        self.plan().await;
    }

    /// After a return, reports earlier events as log lines only, and the ending if there was one.
    async fn history(&mut self) {
        let SessionState::Table(seated) = &mut self.stage else {
            return;
        };
        let mut events = Vec::new();
        while let Some(output) = seated.table.poll() {
            if let Output::Event(event) = output {
                events.push(event);
            }
        }
        for event in events {
            match event {
                Event::News(News::Game(event)) => {
                    if let SessionState::Table(seated) = &self.stage {
                        let line = event.text(&seated.names);
                        self.tell(SessionEvent::Line(line)).await;
                    }
                }
                Event::Fault(fault, evidence) => {
                    let SessionState::Table(seated) = &mut self.stage else {
                        return;
                    };
                    seated.guilty.insert(fault.seat);
                    let kept = self.disk.data.evidence_of(&seated.id.to_string());
                    let guilty = seated.guilty.len();
                    if !kept.is_ok_and(|kept| kept.len() >= guilty) {
                        self.guilty(&fault, &evidence).await;
                    }
                }
                event @ (Event::News(News::Finished) | Event::Stopped(_)) => {
                    self.news(event).await;
                }
                _ => {}
            }
        }
    }
}

fn ticket_words(error: &TicketError) -> String {
    format!("cannot write a ticket: {error}")
}
