//! The sessions of one program at one table: a player's own seat and its local bots. What they send each other is handed
//! over in memory; all else that they want is for the driver, as with a single session.

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_peers::PeerId;
use fairdeal_protocol::table::clocks::Now;
use rand_core::CryptoRng;

use crate::io::{Input, Output, PeerInput, Transport};
use crate::session::Session;

/// The number of a session in its group, in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemberId(usize);

/// Sessions that are driven together.
///
/// A link between two members comes about when one of them keeps the other, and lasts until one of them ends. Nothing is
/// lost on it, and nobody else can be at its other end.
#[derive(Default)]
pub struct Group {
    members: BTreeMap<MemberId, Session>,
    links: BTreeSet<(MemberId, MemberId)>,
    added: usize,
    /// The member that was polled last: each has its turn.
    last: Option<MemberId>,
}

impl Group {
    /// Adds a session.
    pub fn add(&mut self, session: Session) -> MemberId {
        let id = MemberId(self.added);
        self.added += 1;
        self.members.insert(id, session);
        id
    }

    /// Handles an input of one session from the world around the group; nothing if it has ended. See
    /// [`Session::handle`]. Whoever speaks as a member from out there is not heard.
    pub fn handle(&mut self, id: MemberId, input: Input, now: Now, rng: &mut dyn CryptoRng) {
        let is_member = matches!(&input, Input::Peer(peer, _) if self.member(*peer).is_some());
        if let Some(session) = self.members.get_mut(&id).filter(|_| !is_member) {
            session.handle(input, now, rng);
        }
    }

    /// Tells all sessions that are due that time has passed.
    pub fn time(&mut self, now: Now, rng: &mut dyn CryptoRng) {
        for session in self.members.values_mut() {
            if session.wake().is_some_and(|wake| wake <= now.up) {
                session.handle(Input::Time, now, rng);
            }
        }
    }

    /// When to call [`Self::time`] at the latest, by the monotonic clock; `None` if never.
    pub fn wake(&self) -> Option<u64> {
        self.members.values().filter_map(Session::wake).min()
    }

    /// Whether [`Self::prepare`] has something to do.
    pub fn can_prepare(&self) -> bool {
        self.members.values().any(Session::can_prepare)
    }

    /// Lets one session compute ahead ([`Session::prepare`]).
    pub fn prepare(&mut self) {
        if let Some(session) = self.members.values_mut().find(|session| session.can_prepare()) {
            session.prepare();
        }
    }

    /// The next thing that a session wants of the world around the group. After [`Output::Ended`] of a session nothing
    /// more comes from it.
    pub fn poll(&mut self, now: Now, rng: &mut dyn CryptoRng) -> Option<(MemberId, Output)> {
        loop {
            let (id, output) = self.next()?;
            if let Some(output) = self.hand_over(id, output, now, rng) {
                return Some((id, output));
            }
        }
    }

    /// The next output of any session: those behind the last one come first.
    fn next(&mut self) -> Option<(MemberId, Output)> {
        let mut turns: Vec<MemberId> = self.members.keys().copied().collect();
        turns.sort_by_key(|id| self.last.is_some_and(|last| *id <= last));
        let (id, output) = turns.into_iter().find_map(|id| Some((id, self.members.get_mut(&id)?.poll()?)))?;
        self.last = Some(id);
        Some((id, output))
    }

    /// Hands over what is for another member. Returns what is left for the driver.
    fn hand_over(&mut self, id: MemberId, output: Output, now: Now, rng: &mut dyn CryptoRng) -> Option<Output> {
        match output {
            Output::Send { to, bytes, best_effort } => {
                let near: Vec<MemberId> = to.iter().filter_map(|peer| self.member(*peer)).collect();
                let far: Vec<PeerId> = to.into_iter().filter(|peer| self.member(*peer).is_none()).collect();
                for other in near {
                    if self.links.contains(&pair(id, other)) {
                        self.tell(other, id, PeerInput::Frame(bytes.clone()), now, rng);
                    }
                }
                (!far.is_empty()).then_some(Output::Send { to: far, bytes, best_effort })
            }
            Output::Transport(order) => self.transport(id, order, now, rng).map(Output::Transport),
            Output::Ended => {
                let others: Vec<MemberId> = self.members.keys().copied().filter(|other| *other != id).collect();
                for other in others {
                    if self.links.remove(&pair(id, other)) {
                        self.tell(other, id, PeerInput::Gone, now, rng);
                    }
                }
                self.members.remove(&id);
                Some(Output::Ended)
            }
            other => Some(other),
        }
    }

    fn transport(&mut self, id: MemberId, order: Transport, now: Now, rng: &mut dyn CryptoRng) -> Option<Transport> {
        let peer = match &order {
            Transport::Keep { peer, .. } | Transport::Dial { peer, .. } | Transport::Close { peer, .. } => *peer,
            Transport::Forget(peer) | Transport::Seat(peer) | Transport::Admit(peer) | Transport::Dismiss(peer) => {
                *peer
            }
            Transport::Announce { .. } | Transport::Locate => return Some(order),
        };
        let Some(other) = self.member(peer).filter(|other| *other != id) else {
            return Some(order);
        };
        // No limit for strangers refuses a member, and no member is sent away: it ends once it is refused.
        if matches!(order, Transport::Keep { .. } | Transport::Dial { .. }) && self.links.insert(pair(id, other)) {
            self.tell(id, other, PeerInput::Connected(None), now, rng);
            self.tell(other, id, PeerInput::Connected(None), now, rng);
        }
        None
    }

    /// An input of one member for another.
    fn tell(&mut self, to: MemberId, from: MemberId, input: PeerInput, now: Now, rng: &mut dyn CryptoRng) {
        let peer = self.members.get(&from).map(Session::peer);
        if let (Some(peer), Some(session)) = (peer, self.members.get_mut(&to)) {
            session.handle(Input::Peer(peer, input), now, rng);
        }
    }

    fn member(&self, peer: PeerId) -> Option<MemberId> {
        self.members.iter().find(|(_, session)| session.peer() == peer).map(|(id, _)| *id)
    }
}

fn pair(one: MemberId, other: MemberId) -> (MemberId, MemberId) {
    (one.min(other), one.max(other))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::time::Duration;

    use ed25519_dalek::SigningKey;
    use fairdeal_games::bots::Level;
    use fairdeal_games::rule_set;
    use fairdeal_peers::ticket::Ticket;
    use fairdeal_protocol::audit::auditor::audit;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;
    use crate::events::{Command, SessionEvent};
    use crate::people::Book;
    use crate::setup::{Attended, Hands, ListenConfig, Pilot, Player, Role, Setup};
    use crate::testing::house::{Disk, Open};
    use crate::view::PeerState;

    const PILOT: Pilot = Pilot { level: Level::Normal, delay: Duration::from_millis(1) };

    /// A group, the disks of its members, and the time.
    struct World {
        group: Group,
        disks: BTreeMap<MemberId, (Disk, Open)>,
        now: Now,
        rng: ChaCha20Rng,
        told: VecDeque<(MemberId, SessionEvent)>,
        ended: BTreeSet<MemberId>,
        /// Peers of members that have ended.
        gone: Vec<PeerId>,
    }

    impl World {
        fn sits(&mut self, number: u8, role: Role) -> MemberId {
            let me = Player {
                key: SigningKey::from_bytes(&[number; 32]),
                name: format!("Player {number}"),
                attended: Attended::Nobody,
                book: Book::default(),
            };
            let place = ListenConfig::of_local_bot(fairdeal_peers::address::Transport::Memory);
            let session = Session::start(Setup { me, role, place }, self.now, &mut self.rng).unwrap();
            let id = self.group.add(session);
            self.disks.insert(id, (Disk::default(), Open::default()));
            id
        }

        /// Carries out all that the sessions want now, then lets time pass until the next thing is due.
        fn goes_on(&mut self) {
            let peers: BTreeMap<MemberId, PeerId> =
                self.group.members.iter().map(|(id, session)| (*id, session.peer())).collect();
            while let Some((id, output)) = self.group.poll(self.now, &mut self.rng) {
                let input = match output {
                    Output::Store(number, order) => {
                        let (disk, open) = self.disks.get_mut(&id).unwrap();
                        Input::Stored(number, disk.carry_out(order, open))
                    }
                    Output::Transport(Transport::Locate) => Input::Addresses(vec!["/memory/1".parse().unwrap()]),
                    Output::Transport(Transport::Announce { .. }) => continue,
                    // A member that has ended is looked for elsewhere.
                    Output::Transport(Transport::Keep { peer, .. }) if self.gone.contains(&peer) => continue,
                    Output::Send { to, .. } if to.iter().all(|peer| self.gone.contains(peer)) => continue,
                    Output::Tell(event) => {
                        self.told.push_back((id, event));
                        continue;
                    }
                    Output::Ended => {
                        assert!(self.ended.insert(id), "it ends once");
                        self.gone.push(peers[&id]);
                        continue;
                    }
                    other => panic!("{other:?} leaves the group"),
                };
                self.group.handle(id, input, self.now, &mut self.rng);
            }
            if let Some(wake) = self.group.wake() {
                self.now.up = self.now.up.max(wake);
                self.group.time(self.now, &mut self.rng);
            }
        }

        fn until<T>(&mut self, mut wanted: impl FnMut(MemberId, &SessionEvent) -> Option<T>) -> T {
            for _ in 0..100_000 {
                while let Some((id, event)) = self.told.pop_front() {
                    if let Some(found) = wanted(id, &event) {
                        return found;
                    }
                }
                self.goes_on();
            }
            panic!("nothing comes of it");
        }
    }

    /// A host with two local bots, and the host's number and theirs.
    fn opens() -> (World, [MemberId; 3]) {
        let rng = ChaCha20Rng::from_seed([5; 32]);
        let (group, now) = (Group::default(), Now { up: 5, wall: 5 });
        let mut world = World {
            group,
            disks: BTreeMap::new(),
            now,
            rng,
            told: VecDeque::new(),
            ended: BTreeSet::new(),
            gone: Vec::new(),
        };
        let options = [("target".to_owned(), "20".to_owned())].into_iter().collect();
        let rules = rule_set("loot", 3, &options).unwrap();
        let (program, password) = ([1; 16].into(), None);
        let host = world.sits(1, Role::Host { rules, hands: Hands::Bot(PILOT), program, password });
        let ticket: Ticket = world.until(|_, event| match event {
            SessionEvent::Lobby(view) => view.ticket.as_ref().map(|ticket| ticket.parse().unwrap()),
            _ => None,
        });
        let bots = [2, 3].map(|number| {
            let (ticket, program, password) = (ticket.clone(), [1; 16].into(), None);
            world.sits(number, Role::LocalBot { ticket, pilot: PILOT, program, password })
        });
        (world, [host, bots[0], bots[1]])
    }

    #[test]
    fn members_play_a_sealed_game_and_nothing_leaves_the_group() {
        let (mut world, all) = opens();
        let mut logs = BTreeMap::new();
        while logs.len() < all.len() {
            let (id, log) = world.until(|id, event| match event {
                SessionEvent::Over { log, .. } => Some((id, *log)),
                _ => None,
            });
            logs.insert(id, log);
        }
        let log = logs[&all[0]];
        assert!(logs.values().all(|other| *other == log));
        while world.ended.len() < all.len() {
            world.goes_on();
        }
        assert_eq!((world.group.wake(), world.group.links.len()), (None, 0));
        let (transcript, _) = world.disks[&all[0]].0.transcripts.values().next().unwrap();
        assert!(audit::<fairdeal_games::AnyGame>(transcript).is_fair());
        assert_eq!(transcript.log_hash(), log);
    }

    /// A connection that proves a member's key, which somebody has copied, changes nothing.
    #[test]
    fn nobody_outside_speaks_for_a_member() {
        let (mut world, [host, one, _]) = opens();
        let peer = world.group.members[&one].peer();
        world.until(|id, event| (id == host && matches!(event, SessionEvent::Started { .. })).then_some(()));
        for input in [PeerInput::Gone, PeerInput::Frame(vec![0; 9]), PeerInput::OtherProtocol] {
            world.group.handle(host, Input::Peer(peer, input), world.now, &mut world.rng);
        }
        world.until(|id, event| {
            assert!(!matches!(event, SessionEvent::Peer { state: PeerState::Lost, .. }), "{event:?}");
            (id == host && matches!(event, SessionEvent::Over { .. })).then_some(())
        });
    }

    /// The others hear that a member has ended, and go on.
    #[test]
    fn member_that_ends_is_gone() {
        let (mut world, [host, one, other]) = opens();
        let started = |id| {
            move |told: MemberId, event: &SessionEvent| {
                (told == id && matches!(event, SessionEvent::Started { .. })).then_some(())
            }
        };
        world.until(started(one));
        world.group.handle(one, Input::Command(Command::Quit), world.now, &mut world.rng);
        while world.ended.is_empty() {
            world.goes_on();
        }
        assert!(world.ended.contains(&one) && world.group.member(world.group.members[&host].peer()).is_some());
        assert_eq!(world.group.links, [pair(host, other)].into());
        // What still comes for it is lost.
        world.group.handle(one, Input::Time, world.now, &mut world.rng);
        world.goes_on();
    }
}
