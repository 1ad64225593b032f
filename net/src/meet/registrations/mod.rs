//! The tables that a meeting point lists. Pure: time is an argument.
//!
//! A host has one registration. A key costs nothing and an address does, so the number of registrations and the rate
//! of requests are limited by network. Tables are listed in the order in which they were first registered. A renewal
//! keeps a table's place, so pages neither repeat a table nor skip one.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fairdeal_peers::PeerId;
use fairdeal_peers::listing::LIFETIME;
use fairdeal_peers::listing::{Listed, MeetPage, MeetRequest, Refusal, Registration};
use fairdeal_protocol::charter::MAX_WORD;
use fairdeal_protocol::wire::bounded::Text;

use crate::RelayLimits;
use crate::allowance::Allowance;
use crate::rates::Rates;
use crate::relay_limits::count;
use fairdeal_peers::address::Network;

/// Number of requests of one network at once. A host sends one each 40 s and one for each guest that comes or goes; a
/// client that views the list sends one for each page every 5 s.
const AT_ONCE: u32 = 128;
/// Time to regain a request, divided by the number of registrations that one network may have: a network with more
/// hosts has more viewers too.
const REGAINED: Duration = Duration::from_millis(3200);
/// The registrations of one point.
#[derive(Debug)]
pub(crate) struct Registrations {
    /// Maximum number of registrations.
    most: usize,
    /// Maximum number of registrations from one network.
    per_network: usize,
    /// By id, which tells their order and is never used again.
    tables: BTreeMap<u64, Registered>,
    last: u64,
    /// Pages of the list: viewers do not keep hosts from renewing.
    pages: Rates,
    /// Registrations and withdrawals.
    changes: Rates,
}

#[derive(Debug)]
struct Registered {
    host: PeerId,
    network: Option<Network>,
    lobby: [u8; 8],
    game: Text<MAX_WORD>,
    number: u64,
    registration: Registration,
    until: Instant,
}

impl Registrations {
    pub(crate) fn new(limits: &RelayLimits) -> Self {
        let each = Allowance::new(AT_ONCE, REGAINED / limits.registrations_per_network.get());
        Self {
            most: count(limits.registrations),
            per_network: count(limits.registrations_per_network.get()),
            tables: BTreeMap::new(),
            last: 0,
            pages: Rates::new(each),
            changes: Rates::new(each),
        }
    }

    /// The number of listed tables.
    pub(crate) fn tables(&self, now: Instant) -> usize {
        self.tables.values().filter(|known| known.until > now).count()
    }

    /// Whether the request from that network may be served now. One without an IP address has no limit.
    pub(crate) fn admit(&mut self, network: Option<Network>, request: &MeetRequest, now: Instant) -> bool {
        match request {
            MeetRequest::List { .. } => self.pages.admit(network, now),
            MeetRequest::Register(_) | MeetRequest::Withdraw { .. } => self.changes.admit(network, now),
        }
    }

    /// Registers a verified table of the host, or renews it. It replaces another table of the same host.
    pub(crate) fn register(
        &mut self,
        registration: Registration,
        listed: Listed,
        network: Option<Network>,
        now: Instant,
    ) -> Result<(), Refusal> {
        self.expire(now);
        let Listed { number, table } = listed;
        let (announcement, host) = (table.announcement(), table.ticket().host());
        let own = self
            .tables
            .iter()
            .find(|(_, known)| known.host == host)
            .map(|(id, known)| (*id, known.lobby, known.number));
        let same = own.filter(|(_, lobby, _)| *lobby == announcement.lobby);
        if same.is_some_and(|(_, _, known)| number <= known) {
            return Err(Refusal::Outdated);
        }
        let others = self.tables.values().filter(|known| known.host != host);
        if network.is_some() && others.clone().filter(|known| known.network == network).count() >= self.per_network {
            return Err(Refusal::NetworkFull);
        }
        if others.count() >= self.most {
            return Err(Refusal::Full);
        }
        if let Some((id, _, _)) = own {
            self.tables.remove(&id);
        }
        let id = match same {
            Some((id, _, _)) => id,
            None => {
                self.last = self.last.saturating_add(1);
                self.last
            }
        };
        let registered = Registered {
            host,
            network,
            lobby: announcement.lobby,
            game: announcement.game.clone(),
            number,
            registration,
            until: now + LIFETIME,
        };
        self.tables.insert(id, registered);
        Ok(())
    }

    /// Withdraws the host's table, if it is this one.
    pub(crate) fn withdraw(&mut self, host: PeerId, lobby: [u8; 8]) {
        let is_it = |known: &Registered| known.host == host && known.lobby == lobby;
        self.tables.retain(|_, known| !is_it(known));
    }

    /// A page of the tables of a game, or of all: those after an id.
    pub(crate) fn page(&mut self, game: Option<&Text<MAX_WORD>>, after: Option<u64>, now: Instant) -> MeetPage {
        self.expire(now);
        let from = after.map_or(0, |after| after.saturating_add(1));
        let of_game = self.tables.range(from..).filter(|(_, known)| game.is_none_or(|game| *game == known.game));
        MeetPage::of(of_game.map(|(id, known)| (*id, &known.registration)))
    }

    fn expire(&mut self, now: Instant) {
        self.tables.retain(|_, known| known.until > now);
    }
}

#[cfg(test)]
mod tests;
