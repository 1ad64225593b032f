//! How the seats of a world react to messages, and what they answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Scope;
use super::state::{ABSENCE, Entry, Local, Moment, Record, Sent, World, gone_leader, next_parent, out_name, place};
use crate::hash::Hash32;
use crate::membership::step::EntryNames;
use crate::membership::{Effect, Input, Membership, Standing, Verified, View};
use crate::seat::{Seat, SeatSet};

impl Scope {
    /// Lets an honest seat sign, count and complete until nothing changes.
    pub(super) fn react(&self, world: &mut World, index: usize, inputs: Vec<Input>, moment: Moment) {
        let Some(local) = world.locals[index].clone() else {
            return;
        };
        let mut local = Arc::unwrap_or_clone(local);
        self.run(&mut local, inputs, moment, Some(world));
        world.locals[index] = Some(Arc::new(local));
    }

    /// The same for one seat. Without a world it signs nothing, as in the replay of its journal.
    fn run(&self, local: &mut Local, mut inputs: Vec<Input>, moment: Moment, mut world: Option<&mut World>) {
        let me = local.membership.open().me;
        loop {
            let (acceptable, counted) = self.look(local);
            let may_sign = world.is_some() && local.blames.is_empty();
            let view = View {
                closed: false,
                now: moment.now,
                acceptable: &acceptable,
                counted: &counted,
                removable: moment.overdue,
                silent: moment.silent,
                absence: ABSENCE,
                may_sign,
            };
            let input = inputs.pop().unwrap_or(Input::Look);
            let look = matches!(input, Input::Look);
            let effects = local.membership.handle(input, &view);
            let moved = !effects.is_empty();
            for effect in effects {
                match effect {
                    Effect::Keep(verified) => {
                        local.has.insert(verified.hash());
                        local.keep(&acceptable);
                        local.journal.push(Record::Statement(Sent(Arc::new(*verified))));
                    }
                    Effect::Sign(statement) => {
                        let verified = Verified::unsigned(*statement);
                        let sent = Sent(Arc::new(verified.clone()));
                        if let Some(world) = &mut world {
                            world.statements.insert(verified.hash(), sent);
                        }
                        inputs.push(Input::Statement(Box::new(verified)));
                    }
                    Effect::Decided(value) => {
                        local.keep(&acceptable);
                        local.removed |= value.removed().contains(me);
                    }
                    Effect::Removed(_) => local.removed = true,
                    Effect::Conflict(one, _) => local.blames.insert(one.seat()),
                }
            }
            // The entry comes last, because it must name the release of what bound its signer before.
            if moved || !look || !inputs.is_empty() {
                continue;
            }
            let signed = may_sign && world.as_mut().is_some_and(|world| self.sign_entry(world, local));
            if !signed && !self.complete(local) {
                break;
            }
        }
    }

    /// Lets a seat lose what its journal lacks, and return.
    pub(super) fn crash(&self, world: &mut World, index: usize) {
        let Some(before) = world.locals[index].clone() else {
            return;
        };
        let me = before.membership.open().me;
        let mut local = self.fresh(me);
        local.blames = before.blames;
        for record in &before.journal {
            let input = match record {
                Record::Entry(entry) => {
                    local.entries.insert(entry.seat, *entry);
                    local.has.insert(entry.hash());
                    local.keep(&EntryNames::from([(entry.seat, entry.hash())]));
                    Vec::new()
                }
                Record::Statement(sent) => vec![Input::Statement(Box::new((*sent.0).clone()))],
            };
            self.run(&mut local, input, Moment::NOW, None);
        }
        local.rewind();
        let mut kept = Arc::unwrap_or_clone(before);
        let unkept: Vec<Entry> = kept.entries.values().copied().collect();
        for entry in unkept.iter().filter(|entry| !kept.kept.contains(entry.seat)) {
            kept.entries.remove(&entry.seat);
            kept.has.remove(&entry.hash());
            world.lost = true;
        }
        world.restored_otherwise |= kept != local;
        world.crashes += 1;
        world.locals[index] = Some(Arc::new(local));
        // It continues with what the journal holds.
        self.react(world, index, Vec::new(), Moment::NOW);
    }

    fn fresh(&self, me: Seat) -> Local {
        let genesis = place(0, Hash32::default());
        Local::new(me, Membership::new(genesis, me, self.all(), self.parties))
    }

    /// The acceptable entries and the counted ones.
    pub(super) fn look(&self, local: &Local) -> (EntryNames, EntryNames) {
        let open = local.membership.open();
        let mut acceptable = EntryNames::new();
        let mut counted = EntryNames::new();
        let fixed = open.fixed();
        // The leader's entry comes first, because the others name it.
        for (seat, entry) in &local.entries {
            let hash = entry.hash();
            let other = fixed.get(seat).is_some_and(|fixed| *fixed != hash);
            let gone = !open.live(open.instance()).contains(*seat) && !fixed.contains_key(seat);
            let led = match (entry.names, self.leader()) {
                (Some(name), Some(leader)) if *seat != leader => {
                    let dropped = gone_leader(open, leader, &fixed);
                    if dropped { name == out_name(open.place()) } else { acceptable.get(&leader) == Some(&name) }
                }
                _ => true,
            };
            let names: Vec<(Seat, Hash32)> = match (entry.names, self.leader()) {
                (Some(name), Some(leader)) if name != out_name(open.place()) => {
                    vec![(leader, name)]
                }
                _ => Vec::new(),
            };
            if other || gone || !led {
                continue;
            }
            let own = local.membership.open().me == *seat;
            let standing = local.membership.entry(*seat, &names, entry.release, &acceptable);
            if !own && standing != Standing::Free {
                continue;
            }
            acceptable.insert(*seat, hash);
        }
        // What an entry's vetoes release depends on all acceptable ones.
        for (seat, hash) in &acceptable {
            let own = open.me == *seat;
            let named = local.entries[seat].names.filter(|name| *name != out_name(open.place()));
            let stands = match (named, self.leader()) {
                (Some(name), Some(leader)) => counted.get(&leader) == Some(&name),
                _ => true,
            };
            if own || (stands && !open.holds_back(*seat, *hash, &acceptable)) {
                counted.insert(*seat, *hash);
            }
        }
        (acceptable, counted)
    }

    /// Signs the seat's own entry if allowed. Returns whether it did.
    pub(super) fn sign_entry(&self, world: &mut World, local: &mut Local) -> bool {
        let open = local.membership.open();
        let me = open.me;
        let live = open.live(open.instance());
        if local.entries.contains_key(&me) || local.removed || local.done.len() as u64 >= self.steps {
            return false;
        }
        let place = open.place();
        let (_, counted) = self.look(local);
        let names = match self.leader() {
            Some(leader) if leader != me && open.live(0).contains(leader) => {
                if gone_leader(open, leader, &open.fixed()) {
                    Some(out_name(place))
                } else {
                    match counted.get(&leader) {
                        None => return false,
                        led => led.copied(),
                    }
                }
            }
            _ => None,
        };
        if !live.contains(me) {
            return false;
        }
        let entry = Entry {
            step: place.step,
            parent: place.parent,
            seat: me,
            variant: 0,
            names,
            release: local.membership.release(place.step),
        };
        local.entries.insert(me, entry);
        local.has.insert(entry.hash());
        // Everything that it may name is in the journal before it.
        local.keep(&counted);
        local.keep(&EntryNames::from([(me, entry.hash())]));
        world.entries.insert(entry.hash(), entry);
        true
    }

    pub(super) fn complete(&self, local: &mut Local) -> bool {
        if local.removed || local.done.len() as u64 >= self.steps {
            return false;
        }
        let (acceptable, counted) = self.look(local);
        let open = local.membership.open();
        let live = open.live(open.instance());
        let fixed = open.fixed();
        let whole =
            live.iter().all(|seat| counted.contains_key(&seat)) && fixed.keys().all(|seat| counted.contains_key(seat));
        if !whole || open.is_bound(&acceptable) {
            return false;
        }
        let removed = open.live(0).minus(live);
        local.keep(&counted);
        let open = local.membership.open();
        let entries: EntryNames =
            counted.into_iter().filter(|(seat, _)| live.contains(*seat) || fixed.contains_key(seat)).collect();
        let parent = next_parent(open.place().parent, &entries, removed);
        let step = open.place().step + 1;
        local.membership.complete(entries.clone(), removed, place(step, parent), live);
        local.done.push((entries, removed));
        // What did not count and is not in the journal is forgotten.
        let unkept = local.entries.values().filter(|entry| !local.kept.contains(entry.seat));
        for entry in unkept {
            local.has.remove(&entry.hash());
        }
        local.entries.clear();
        local.kept = SeatSet::EMPTY;
        true
    }

    pub(super) fn deliver(&self, world: &mut World, index: usize, name: Hash32, moment: Moment) {
        let Some(local) = &mut world.locals[index] else {
            return;
        };
        if let Some(entry) = world.entries.get(&name).copied() {
            let local = Arc::make_mut(local);
            let place = local.membership.open().place();
            if (entry.step, entry.parent) == (place.step, place.parent) {
                match local.entries.get(&entry.seat) {
                    None => {
                        local.entries.insert(entry.seat, entry);
                        local.has.insert(name);
                    }
                    Some(held) if *held != entry => local.blames.insert(entry.seat),
                    Some(_) => {}
                }
            }
            self.react(world, index, Vec::new(), moment);
        } else if let Some(sent) = world.statements.get(&name).cloned() {
            let input = Input::Statement(Box::new((*sent.0).clone()));
            self.react(world, index, vec![input], moment);
        }
    }

    /// Delivers all named records repeatedly: one may be useless before another arrives.
    pub(super) fn tell(&self, world: &mut World, index: usize, names: &BTreeSet<Hash32>, moment: Moment) {
        for _ in 0..8 {
            let before = world.locals[index].clone();
            for name in names {
                let has = |local: &Arc<Local>| local.has.contains(name);
                if !world.locals[index].as_ref().is_some_and(has) {
                    self.deliver(world, index, *name, moment);
                }
            }
            if before == world.locals[index] {
                break;
            }
        }
    }

    /// Answers another seat's head with the known entries and the statements that the other lacks.
    pub(super) fn answer(&self, world: &mut World, from: usize, to: usize, moment: Moment) {
        let (Some(local), Some(other)) = (&world.locals[from], &world.locals[to]) else {
            return;
        };
        let entries = local.has.iter().filter(|name| world.entries.contains_key(*name));
        let named: Vec<Hash32> = other.membership.names().collect();
        let step = other.membership.open().place().step;
        let statements = local.membership.statements_for(step, &named);
        let names = statements.map(Verified::hash).chain(entries.copied()).collect();
        self.tell(world, to, &names, moment);
    }

    pub(super) fn start(&self) -> World {
        let mut world = World {
            locals: vec![None; self.seats],
            entries: BTreeMap::new(),
            statements: BTreeMap::new(),
            crashes: 0,
            lost: false,
            restored_otherwise: false,
        };
        for index in self.honest() {
            let me = Seat::new(index).unwrap();
            world.locals[index] = Some(Arc::new(self.fresh(me)));
            self.react(&mut world, index, Vec::new(), Moment::NOW);
        }
        if let Some(bad) = self.bad {
            let entry = Entry { step: 0, parent: Hash32::default(), seat: bad, variant: 0, names: None, release: None };
            world.entries.insert(entry.hash(), entry);
        }
        world.entries.retain(|_, entry| !self.lost.contains(entry.seat));
        // Prompt entries have arrived.
        let prompt: Vec<Hash32> =
            world.entries.values().filter(|entry| !self.late.contains(entry.seat)).map(Entry::hash).collect();
        for name in prompt {
            for index in 0..self.seats {
                self.deliver(&mut world, index, name, Moment::NOW);
            }
        }
        world
    }

    /// The seats whose entries are missing although all that they must name is known.
    pub(super) fn due(&self, local: &Local) -> SeatSet {
        let (_, counted) = self.look(local);
        let open = local.membership.open();
        let live = open.live(open.instance());
        let missing: SeatSet = live.iter().filter(|seat| *seat != open.me && !counted.contains_key(seat)).collect();
        match self.leader() {
            Some(leader) if missing.contains(leader) => SeatSet::one(leader),
            _ => missing,
        }
    }
}
