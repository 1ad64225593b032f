//! A seat at a table in play: what is known of its peers, and what each input does.
//!
//! [`play`] acts and passes on what the table says, `premove` keeps an action ready, `extended` gives time, `letters` writes
//! letters, `drafts` sends shuffles ahead, `ending` closes it, `whereabouts` finds seats that have moved, `indirect` knows
//! those that others relay, and `visitors` serves those who watch.

mod drafts;
mod ending;
mod extended;
mod indirect;
mod letters;
mod notes;
mod play;
mod premove;
mod visitors;
mod whereabouts;

use std::collections::{BTreeMap, VecDeque};

use fairdeal_games::AnyGame;
use fairdeal_peers::address::Network;
use fairdeal_peers::ticket::{JoinTarget, Ticket};
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::Table;
use fairdeal_protocol::table::message::{Head, Message};
use fairdeal_protocol::transcript::page::Mark;
use fairdeal_protocol::wire::bounded::{Bounded, Text};

use self::drafts::Drafts;
use self::indirect::Indirect;
pub(crate) use self::notes::Notes;
pub(crate) use self::play::TICK;
use self::whereabouts::Whereabouts;
use super::heard::Heard;
use super::talk::{self, Room, is_muted, name_of};
use crate::calling::ONLY_HOST;
use crate::chat::ChatError;
use crate::cx::{Cx, End};
use crate::events::{Command, SessionEvent};
use crate::frame::{Firsts, Frame, Records};
use crate::io::{Met, ProgramNews, Store, Transport};
use crate::lobby::{Agreed, HOST, HostLobby, NOT_ADMITTED};
use crate::spectators::Spectators;
use crate::text::player_names;
use crate::view::{PeerState, Waits};

/// A gap between two ticks of more than this many milliseconds means that the program was stopped or asleep.
pub(crate) const LATE: u64 = 2_000;
/// How long a seat waits for later seats to dial it before it dials them, in milliseconds. They may be unable to, for
/// example if it listens on loopback only.
const ALL_DIAL: u64 = 3_000;

/// How a seat comes to its table.
pub(crate) struct Arrival {
    /// Whether the game begins now.
    pub(crate) is_new: bool,
    /// A ticket or address of another player.
    pub(crate) friend: Option<JoinTarget>,
    /// The host's spectators.
    pub(crate) spectators: Option<Spectators>,
    /// The number of evidence files of this table that are saved already.
    pub(crate) evidence: usize,
    pub(crate) notes: Notes,
    /// Whether nobody will connect: all that it says goes into letters.
    pub(crate) by_letter: bool,
}

/// A command about a letter that is not answered yet.
enum Due {
    Write(Seat),
    /// There will be none, for this reason. It waits its turn.
    Refused(String),
    /// A letter has been read. Whatever it leads to is told before.
    HasRead {
        from: Seat,
        /// Why parts of it were not taken.
        refused: Vec<String>,
        /// How many entries this seat had signed before.
        signed: u64,
    },
}

/// A table in play, and what is known of its peers.
pub(crate) struct Seated {
    table: Table<AnyGame>,
    id: Hash32,
    charter: SignedCharter,
    /// The address records signed by the seats, in seat order.
    records: Records,
    /// Where seats have moved to.
    whereabouts: Whereabouts,
    /// Where connected seats report that they listen now.
    heard: BTreeMap<Seat, Vec<Multiaddr>>,
    names: Vec<String>,
    peers: BTreeMap<Seat, PeerId>,
    /// The seats with a proven fault.
    guilty: SeatSet,
    /// The last report to the player of overdue seats and possible remedies.
    told_waits: Waits,
    /// The newest head, and for how many ticks it has been left out; as many as ever if it was not sent yet.
    told_head: Option<(Head, u32)>,
    /// The connections that this seat last reported to the others.
    linked: SeatSet,
    /// The connections that connected seats report.
    links: BTreeMap<Seat, SeatSet>,
    /// The seats that have said that they close, until they are heard again.
    pausing: SeatSet,
    /// Whether nobody looks at this program: it may be stopped at any moment.
    is_hidden: bool,
    /// The seats without a direct link.
    indirect: Indirect,
    /// Shuffles that leave, or come, before their entries.
    drafts: Drafts,
    /// The monotonic clock at the last tick.
    ticked: Option<u64>,
    /// The step in which an action of this seat has been waiting, and for how many ticks.
    pending: Option<(u64, u32)>,
    /// Notes in the journal, beside the table's records.
    notes: Notes,
    /// The commands about letters that are not answered yet.
    due: VecDeque<Due>,
    /// The spectators, at the host.
    spectators: Option<Spectators>,
    /// The end of the log as it is on disk, up to which spectators may see it; as the player has been told it; and as it is
    /// behind the barrier.
    kept: Mark,
    told: Mark,
    telling: Mark,
    /// Whether a deal has begun and its disk space is not reserved yet.
    needs_room: bool,
    /// Whether the player has been shown that it is its turn.
    shown_turn: bool,
    /// Whether the player is to see the table, once each step that it has completed is told.
    shows: bool,
    /// Whether the bot is to be asked, once all output of the table is out.
    plans: bool,
    /// Whether a tick has passed since the last fragment of a draft.
    sends_draft: bool,
    /// Whether the player has closed the session: it ends once all that is signed is out.
    quits: bool,
}

impl Seated {
    /// Opens the table: all seats have signed the charter. A table that this seat has left and comes back to is not new.
    ///
    /// # Errors
    /// [`End`] if nobody else is left at the table.
    pub(crate) fn open(table: Table<AnyGame>, agreed: Agreed, arrival: Arrival, cx: &mut Cx<'_>) -> Result<Self, End> {
        let Agreed { charter, me, records, first, again } = agreed;
        let Arrival { is_new, friend, spectators, evidence, notes, by_letter } = arrival;
        let names = player_names(charter.charter());
        let others = charter.charter().seated().filter(|(seat, _)| *seat != me);
        let peers: BTreeMap<Seat, PeerId> = others.map(|(seat, player)| (seat, PeerId::from(player.key))).collect();
        for peer in peers.values() {
            cx.transport(Transport::Seat(*peer));
        }
        let id = charter.table();
        let game = charter.charter().rules().game;
        cx.tell(SessionEvent::Started { table: id, game, names: names.clone(), me: Some(me) });
        let told = table.mark();
        let mut seated = Self {
            table,
            id,
            charter,
            records,
            whereabouts: Whereabouts::of(friend),
            heard: BTreeMap::new(),
            names,
            peers,
            guilty: SeatSet::EMPTY,
            told_waits: Waits::default(),
            told_head: None,
            linked: SeatSet::EMPTY,
            links: BTreeMap::new(),
            pausing: SeatSet::EMPTY,
            is_hidden: false,
            indirect: Indirect::default(),
            drafts: Drafts::default(),
            ticked: None,
            pending: None,
            notes,
            due: VecDeque::new(),
            spectators: None,
            kept: told,
            told,
            telling: told,
            needs_room: false,
            shown_turn: false,
            shows: true,
            plans: true,
            sends_draft: false,
            quits: false,
        };
        seated.note_people(is_new, cx);
        if is_new {
            seated.tell_of_browsers(cx);
        }
        cx.program(ProgramNews::Sits { rules: seated.charter.charter().rules(), seat: me });
        // The later seat dials the earlier one, so two seats never dial each other; the host is connected to all. A
        // seat that has returned dials everybody, because addresses may have changed.
        seated.dial(|seat| again || (seat < me && seat.index() > 0), cx);
        cx.links.dial_all_at = Some(cx.now.up.saturating_add(ALL_DIAL));
        cx.transport(Transport::Announce { lan: None, points: None });
        for seat in seated.connected(&cx.links.connected).iter() {
            seated.tell(SessionEvent::Peer { seat, state: PeerState::Connected }, cx);
        }
        seated.tell_links(cx);
        seated.history(evidence, cx)?;
        for seat in seated.connected(&cx.links.connected).iter() {
            // They have been connected since the lobby. A program whose disk is full from now on can repeat this head.
            seated.table.greet(seat);
        }
        if !by_letter {
            seated.table.send_drafts();
        }
        seated.table.begin(cx.rng);
        for entry in &*first {
            // They came with the signatures. What is wrong with one its author has to answer for, to those who get it from it.
            if let Some(author) = entry.claimed_seat().filter(|author| *author != me) {
                let _ = seated.table.accept(author, Message::Entries(Bounded::one(entry.clone())), cx.rng);
            }
        }
        seated.go_on(cx)?;
        let shown = spectators.as_ref().map(|spectators| spectators.show(&seated.charter, None));
        seated.spectators = spectators;
        cx.send_all(&shown.unwrap_or_default());
        Ok(seated)
    }

    /// Handles an input.
    ///
    /// # Errors
    /// [`End`].
    pub(crate) fn hear(&mut self, heard: Heard, cx: &mut Cx<'_>) -> Result<(), End> {
        match heard {
            Heard::Command(Command::Act(action)) => self.chosen(action, cx),
            Heard::Command(Command::Premove(action)) => self.premove(action, cx),
            Heard::Command(Command::Leave) => self.leave(cx),
            Heard::Command(Command::Claim) => self.claim(cx),
            Heard::Command(Command::ProposeRemoval(seat)) => self.propose_removal(seat, cx),
            Heard::Command(Command::Extend(more)) => self.extend(more, cx),
            Heard::Command(Command::Say(text)) => talk::say(self, &text, cx),
            Heard::Command(Command::Invite(ticket)) => self.invite(&ticket, cx),
            Heard::Command(Command::CallBack(_)) => cx.refuse(ONLY_HOST),
            Heard::Command(Command::Hidden(hidden)) => {
                self.is_hidden = hidden;
                self.announce_links(cx);
            }
            Heard::Command(Command::WriteLetter(seat)) => self.write_letter(seat),
            Heard::Command(Command::ReadLetter(sealed)) => self.read_letter(&sealed, cx),
            Heard::Command(Command::Attend(_)) => self.attended(cx),
            Heard::Command(Command::Quit) => self.quits = true,
            Heard::Arrived(peer, network) => self.arrived(peer, network, cx),
            Heard::Gone(peer) => self.gone(peer, cx),
            Heard::Frame(peer, frame) => self.frame(peer, frame, cx),
            Heard::ListensAt(peer, listening) => {
                if let Some(seat) = self.seat_of(peer) {
                    self.heard.insert(seat, listening);
                }
            }
            Heard::Found(peer, address) => self.found(peer, address, cx),
            Heard::Addresses(addresses) => self.moved(&addresses, cx),
            Heard::Stored(id, answer) => self.stored(id, &answer, cx)?,
            Heard::Thought(id, choice) => self.has_thought(id, choice, cx),
            Heard::Book => self.send_blocked_away(cx),
            Heard::Tick => self.tick(cx),
            Heard::Time => self.time(cx),
            Heard::RoundTrip(..)
            | Heard::Unreachable(..)
            | Heard::Command(Command::Ready(_) | Command::Dismiss(_) | Command::Undo) => {}
        }
        if cx.told.knows_of_full_disk() {
            if self.quits {
                return Err(self.pause(cx));
            }
            // It may take long; the player sees the connections meanwhile.
            self.show_told(cx);
        }
        self.go_on(cx)
    }

    /// Whether this seat still asks the others what it has signed.
    fn is_asking(&self) -> bool {
        self.table.is_returning()
    }

    /// Whether the last head of a seat shows that it lacks nothing, and neither of the two asks the other.
    fn covers(&self, seat: Seat) -> bool {
        let asks = self.notes.request_of(seat, (self.table.me(), self.table.replica().step())).is_some();
        !asks && !self.is_asking() && self.table.covers(seat)
    }

    /// Whether the table can compute ahead.
    pub(crate) fn can_prepare(&self) -> bool {
        self.table.can_prepare()
    }

    pub(crate) fn prepare(&mut self) {
        self.table.prepare();
    }

    /// Whether a peer has a seat or watches.
    pub(crate) fn knows(&self, peer: PeerId) -> bool {
        self.seat_of(peer).is_some() || self.spectators.as_ref().is_some_and(|spectators| spectators.has(peer))
    }

    fn seat_of(&self, peer: PeerId) -> Option<Seat> {
        self.peers.iter().find(|(_, known)| **known == peer).map(|(seat, _)| *seat)
    }

    /// Whether a seat is still at the table.
    fn takes_part(&self, seat: Seat) -> bool {
        self.table.replica().live().contains(seat)
    }

    fn name(&self, seat: Seat) -> String {
        self.names.get(seat.index()).cloned().unwrap_or_else(|| seat.to_string())
    }

    /// Tells the player an event, and the program that plays here too: in order, and before the questions that follow.
    fn tell(&self, event: SessionEvent, cx: &mut Cx<'_>) {
        let is_for_programs = matches!(
            event,
            SessionEvent::Deal(_) | SessionEvent::Action { .. } | SessionEvent::Game(_) | SessionEvent::Peer { .. }
        );
        if is_for_programs && cx.pilot.is_program() {
            let (game, seat, known) =
                (Box::new(self.table.game().clone()), self.table.me(), self.table.known().clone());
            cx.program(ProgramNews::Saw { game, seat, known, event: event.clone() });
        }
        cx.tell(event);
    }

    /// Notes in the address book that a game with these people begins, or ends. Bots of somebody's program have one-time
    /// keys, and so the first seat of each party stands for it.
    fn note_people(&self, is_new: bool, cx: &mut Cx<'_>) {
        if cx.own.local_bot.is_some() {
            return;
        }
        let charter = self.charter.charter();
        let me = self.table.me();
        let own = charter.player(me).map(|player| player.party);
        let others = charter.seated().filter(|(seat, player)| {
            let stands = player.party.lowest() == *seat;
            stands && *seat != me && Some(player.party) != own
        });
        let people: Vec<Met> = others
            .map(|(_, player)| Met {
                key: PeerId::from(player.key),
                name: player.name.to_string(),
                is_bot: player.played_by != PlayedBy::Person,
            })
            .collect();
        if !people.is_empty() {
            cx.out.store(Store::Met { people, is_new });
        }
    }

    /// The other seats that are connected, given the connected peers.
    fn connected(&self, peers: &[PeerId]) -> SeatSet {
        let here = self.peers.iter().filter(|(_, peer)| peers.contains(peer));
        here.map(|(seat, _)| *seat).collect()
    }

    /// The keys of the other seats that are connected.
    fn here(&self, peers: &[PeerId]) -> Vec<PeerId> {
        self.peers.values().copied().filter(|peer| peers.contains(peer)).collect()
    }

    /// The seats without a connection to this one that connected seats report to be connected with.
    fn reached_by_others(&self, peers: &[PeerId]) -> SeatSet {
        let connected = self.connected(peers);
        let linked = self.links.iter().filter(|(seat, _)| connected.contains(**seat));
        let reached: SeatSet = linked.flat_map(|(_, seats)| seats.iter()).collect();
        let others: SeatSet = self.peers.keys().copied().collect();
        SeatSet::from_iter(reached.iter().filter(|seat| others.contains(*seat))).minus(connected)
    }

    /// The connected seats to which that seat may not have sent what it sends to all: one of the two reports no connection to
    /// the other. Two ends hear of a connection at different times, and what is sent meanwhile goes by way of this seat.
    fn without_link_to(&self, seat: Seat, connected: &[PeerId]) -> Vec<PeerId> {
        let others = self.connected(connected).without(seat);
        let lacks = |one: Seat, other: Seat| self.links.get(&one).is_some_and(|links| !links.contains(other));
        let cut_off = others.iter().filter(|other| lacks(*other, seat) || lacks(seat, *other));
        cut_off.filter_map(|other| self.peers.get(&other).copied()).collect()
    }

    /// Dials the selected seats that take part and are not connected. Both sides dial again after a lost connection:
    /// whichever of the two has moved finds the other. A seat without known addresses dials us.
    fn dial(&self, which: impl Fn(Seat) -> bool, cx: &mut Cx<'_>) {
        for (seat, peer) in &self.peers {
            if which(*seat) && self.takes_part(*seat) && !cx.links.connected.contains(peer) {
                let at = self.addresses_of(*seat, &cx.links.place);
                if !at.is_empty() {
                    cx.transport(Transport::Keep { peer: *peer, at });
                }
            }
        }
    }

    /// Stops dialing a seat that has left the table.
    fn let_go(&self, seat: Seat, cx: &mut Cx<'_>) {
        if let Some(peer) = self.peers.get(&seat) {
            cx.transport(Transport::Forget(*peer));
        }
    }

    /// Tells which others play in a browser, once: their pages come from doors, and are worth what those are worth.
    fn tell_of_browsers(&self, cx: &mut Cx<'_>) {
        let players = self.charter.charter().seated().zip(self.records.iter());
        for ((seat, player), record) in players {
            let listens_nowhere = record.of(player.key.into()).is_ok_and(|at| at.is_empty());
            if listens_nowhere && self.peers.contains_key(&seat) && player.played_by == PlayedBy::Person {
                let name = self.names.get(seat.index()).map_or("", String::as_str);
                let line = format!(
                    "{name} plays in a browser. Unless the page is {name}'s own file, whoever serves it could see {name}'s cards."
                );
                cx.tell(SessionEvent::Line(line));
            }
        }
    }

    /// Reports this seat's connections to the others if they have changed.
    fn tell_links(&mut self, cx: &mut Cx<'_>) {
        let linked = self.connected(&cx.links.connected);
        if std::mem::replace(&mut self.linked, linked) != linked {
            self.announce_links(cx);
        }
    }

    /// Tells the other seats whom this one is connected to, and so that it goes on, unless it is hidden.
    fn announce_links(&self, cx: &mut Cx<'_>) {
        let peers = self.here(&cx.links.connected);
        cx.out.send(peers, &Frame::Links { table: self.id, seats: self.linked });
        if self.is_hidden {
            self.announce_pause(cx);
        }
    }

    fn arrived(&mut self, peer: PeerId, network: Option<Network>, cx: &mut Cx<'_>) {
        if let (Some(spectators), Some(network)) = (&mut self.spectators, network) {
            spectators.arrived(peer, network);
        }
        if let Some(seat) = self.seat_of(peer) {
            self.table.greet(seat);
            self.tell_links(cx);
            self.tell_moves(peer, cx);
            self.send_invitation(peer, cx);
            self.tell(SessionEvent::Peer { seat, state: PeerState::Connected }, cx);
        }
    }

    fn gone(&mut self, peer: PeerId, cx: &mut Cx<'_>) {
        self.drafts.gone(peer);
        if let Some(seat) = self.seat_of(peer) {
            self.links.remove(&seat);
            // A program that closes may still accept a connection, and break it without another word.
            let state = if self.pausing.contains(seat) { PeerState::Paused } else { PeerState::Lost };
            // Whichever of the two has moved finds the other.
            self.dial(|other| other == seat, cx);
            self.tell_links(cx);
            self.tell(SessionEvent::Peer { seat, state }, cx);
            self.shows = true;
        } else if let Some(spectators) = &mut self.spectators {
            spectators.gone(peer);
            cx.transport(Transport::Dismiss(peer));
        }
    }

    fn frame(&mut self, peer: PeerId, frame: Frame, cx: &mut Cx<'_>) {
        // The lobby may open at the same address once this session has closed.
        if frame.lobby().is_some_and(|lobby| self.has_invited_to(lobby, cx)) {
            return cx.drop_peer(peer, "the table it asks for is not here yet");
        }
        let Some(seat) = self.seat_of(peer) else {
            let asks = matches!(frame, Frame::Join(_) | Frame::Watch(_) | Frame::Login { .. });
            if asks && cx.is_blocked(peer) {
                return cx.turn_away(peer, NOT_ADMITTED);
            }
            return self.visit(peer, &frame, cx);
        };
        match frame {
            Frame::Say(text) => talk::heard(self, peer, None, &text, cx),
            Frame::Said { seat, text } => talk::heard(self, peer, Some(seat), &text, cx),
            Frame::Invite { ticket } => self.invited(seat, peer, ticket.as_str(), cx),
            Frame::Table { table, message } if table == self.id => self.message(seat, peer, message, cx),
            Frame::Draft { at, bytes } => {
                self.table.hear(seat);
                self.drafts.hear(peer, at, &bytes);
            }
            Frame::Spliced { before, draft, after } => {
                let Some(bytes) = self.drafts.join(peer, &before, draft, &after) else { return };
                match Frame::from_bytes(&bytes) {
                    Ok(Frame::Table { table, message }) if table == self.id => self.message(seat, peer, message, cx),
                    Ok(_) => {}
                    Err(error) => cx.drop_peer(peer, error.to_string()),
                }
            }
            Frame::Links { table, seats } if table == self.id => self.are_linked(seat, peer, seats, cx),
            Frame::Moved { table, seat, record } if table == self.id => self.has_moved(peer, seat, &record, cx),
            Frame::Pausing { table } if table == self.id => {
                self.pausing.insert(seat);
            }
            // The guest has missed the frame that opened the table.
            Frame::Sign { table, .. } if table == self.id => {
                cx.send(peer, &HostLobby::signed(&self.charter, &self.records, &Firsts::default()));
            }
            // The guest has missed it too, and has changed its readiness too late.
            Frame::Ready(_) => cx.send(peer, &HostLobby::signed(&self.charter, &self.records, &Firsts::default())),
            // A seat of this table that has lost its charter.
            Frame::Join(_) | Frame::Login { .. } => {
                let frame = HostLobby::back(&self.charter, &self.records);
                cx.send(peer, &frame);
            }
            // The sender repeats what is ignored here.
            _ => {}
        }
    }

    /// Hands a message of a seat to the table.
    fn message(&mut self, seat: Seat, peer: PeerId, message: Message, cx: &mut Cx<'_>) {
        let Some(message) = self.taken(seat, message, cx) else { return };
        if let Err(error) = self.table.accept(seat, message, cx.rng) {
            cx.drop_peer(peer, error.to_string());
        }
    }

    /// The part of a message from another that this seat takes. A local bot takes the claims of other parties from its own
    /// program alone: its player hands them on behind the entries that go with them. If a claim came first, it could close
    /// the bot's table in a step that the player has completed, and the player would wait for its own bot for ever.
    fn taken(&self, from: Seat, message: Message, cx: &Cx<'_>) -> Option<Message> {
        match message {
            Message::Claim(claim) if self.leaves_claims_to_player(from, cx) => {
                claim.entry().map(|entry| Message::Entries(Bounded::one(entry.clone())))
            }
            message => Some(message),
        }
    }

    /// Whether this is a local bot whose player is here, and that seat is of another party.
    fn leaves_claims_to_player(&self, from: Seat, cx: &Cx<'_>) -> bool {
        let replica = self.table.replica();
        self.player(cx).is_some_and(|player| self.is_here(player, cx) && !replica.party(player).contains(from))
    }

    /// The seat of a local bot's player, unless it has left the table for good.
    fn player(&self, cx: &Cx<'_>) -> Option<Seat> {
        cx.own.local_bot.as_ref()?;
        let own = self.charter.charter().player(self.table.me())?;
        Some(own.party.lowest()).filter(|player| self.takes_part(*player))
    }

    fn is_here(&self, seat: Seat, cx: &Cx<'_>) -> bool {
        self.peers.get(&seat).is_some_and(|peer| cx.links.connected.contains(peer))
    }

    /// A seat reports its connections.
    fn are_linked(&mut self, seat: Seat, peer: PeerId, seats: SeatSet, cx: &mut Cx<'_>) {
        self.pausing.remove(seat);
        if self.links.insert(seat, seats).is_none() {
            // An earlier report may have arrived while that seat was still in the lobby.
            cx.send(peer, &Frame::Links { table: self.id, seats: self.linked });
        }
    }

    fn time(&mut self, cx: &mut Cx<'_>) {
        let up = cx.now.up;
        if cx.links.dial_all_at.take_if(|at| *at <= up).is_some() {
            self.dial(|_| true, cx);
        }
        if cx.pilot.acts_at.take_if(|at| *at <= up).is_some() {
            if cx.out.is_shut() {
                // What the bot decides on is not told yet.
                self.plans = true;
            } else {
                self.pilot_acts(cx);
            }
        }
    }

    fn tick(&mut self, cx: &mut Cx<'_>) {
        self.hand_on_moves(cx);
        if let Some(spectators) = &mut self.spectators {
            spectators.tick();
        }
        let now = cx.now;
        // After a sleep, read what has arrived meanwhile before treating any seat as silent.
        let before = self.ticked.replace(now.up);
        if before.is_some_and(|before| now.up.saturating_sub(before) > LATE) {
            return;
        }
        self.table.tick(now, cx.rng);
        self.sends_draft = true;
        self.count_pending();
        cx.out.try_again(self.peers.values().copied().collect());
        let waits = self.waits();
        let may_claim = waits.may_claim;
        let news = self.told_waits != waits;
        self.told_waits = waits;
        self.tell_indirect(cx);
        // A bot leaves that to its player. One that has finished the game by the others' claims may be gone, and never
        // answers this bot again. Without a player at the table it waits for the others, until they have closed it.
        let waits_on = match self.player(cx) {
            Some(player) => self.is_here(player, cx),
            None => self.closed_by().is_empty(),
        };
        let has_player = cx.own.local_bot.is_some() && waits_on;
        if may_claim.is_some() && cx.pilot.pilot().is_some() && !has_player {
            // No person is there to ask.
            self.claim(cx);
        } else {
            self.shows |= news;
        }
    }

    /// Tells the player about seats that have had no direct link for a while, if that has changed.
    fn tell_indirect(&mut self, cx: &mut Cx<'_>) {
        let (before, seats) = (self.indirect.told(), self.reached_by_others(&cx.links.connected));
        let new = self.indirect.update(seats, cx.now.up);
        if self.indirect.told() == before {
            return;
        }
        for name in new.iter().filter_map(|seat| self.names.get(seat.index())) {
            cx.tell(SessionEvent::Line(format!("No direct link to {name}: the others relay its moves.")));
        }
        self.shows = true;
    }

    /// The session ends, and its player means to come back. All that it has signed is in the journal, also whether it still
    /// asks the others; unless the disk is full, or others have just shown it an entry of its own.
    fn pause(&self, cx: &mut Cx<'_>) -> End {
        self.announce_pause(cx);
        if self.table.knows_its_own() && !cx.out.is_shut() {
            cx.out.store(Store::MarkClean);
        }
        End
    }

    /// Tells the other seats that this program closes or may be stopped, and its player means to come back.
    fn announce_pause(&self, cx: &mut Cx<'_>) {
        if !self.table.game().is_over() && self.table.stopped().is_none() {
            let peers = self.here(&cx.links.connected);
            cx.out.send(peers, &Frame::Pausing { table: self.id });
        }
    }

    /// Invites everybody at this table to another table that the player has opened.
    fn invite(&self, ticket: &str, cx: &mut Cx<'_>) {
        let own = cx.own.peer;
        if let Err(why) = cx.told.chat.invite(self.table.me(), own, ticket) {
            return cx.refuse(why.to_string());
        }
        for peer in self.listeners(&cx.links.connected) {
            self.send_invitation(peer, cx);
        }
    }

    /// Whether this player has invited its table to that lobby.
    fn has_invited_to(&self, lobby: [u8; 8], cx: &Cx<'_>) -> bool {
        cx.told.chat.invitation(self.table.me()).map(Ticket::lobby) == Some(lobby)
    }

    /// Sends the latest invitation to a peer that has just come or may have missed it.
    fn send_invitation(&self, peer: PeerId, cx: &mut Cx<'_>) {
        let ticket = cx.told.chat.invitation(self.table.me());
        if let Some(ticket) = ticket.and_then(|ticket| Text::try_from(ticket.to_string()).ok()) {
            cx.send(peer, &Frame::Invite { ticket });
        }
    }

    /// Handles a seat's invitation to another table that it has opened.
    fn invited(&self, seat: Seat, peer: PeerId, ticket: &str, cx: &mut Cx<'_>) {
        if is_muted(self, seat, cx) {
            return;
        }
        if let Some(ticket) = cx.told.chat.invited(seat, peer, ticket) {
            let name = name_of(self, seat, cx);
            cx.tell(SessionEvent::Invited { seat, name, ticket: ticket.to_string() });
        }
    }
}

impl Room for Seated {
    fn voice(&self) -> Result<Seat, ChatError> {
        Ok(self.table.me())
    }

    fn listeners(&self, connected: &[PeerId]) -> Vec<PeerId> {
        let spectators = self.spectators.iter().flat_map(|spectators| spectators.peers());
        self.here(connected).into_iter().chain(spectators).collect()
    }

    fn speaker(&self, peer: PeerId, of: Option<Seat>, connected: &[PeerId]) -> Option<Seat> {
        let by = self.seat_of(peer)?;
        let Some(seat) = of else { return Some(by) };
        let is_far = self.peers.contains_key(&seat) && !self.connected(connected).contains(seat);
        (by == HOST && is_far).then_some(seat)
    }

    fn cut_off_from(&self, seat: Seat, connected: &[PeerId]) -> Vec<PeerId> {
        if self.table.me() != HOST {
            return Vec::new();
        }
        let spectators = self.spectators.iter().flat_map(|spectators| spectators.peers());
        self.without_link_to(seat, connected).into_iter().chain(spectators).collect()
    }

    fn name(&self, seat: Seat) -> Option<String> {
        self.names.get(seat.index()).cloned()
    }

    fn key(&self, seat: Seat) -> Option<PeerId> {
        self.peers.get(&seat).copied()
    }
}
