//! Exhaustive search of the removal rules, with the machine itself as each honest party's code.
//!
//! A [`World`] is what every honest seat holds and all that was ever signed. Anything signed may reach anybody at any
//! time, in any order, or never; any seat may find another overdue as long as it does not count its entry; a crash
//! forgets an entry on which nothing stands. One seat may cheat: it signs what it likes.
//! In every world: honest seats agree or there is evidence, nobody honest is blamed, nobody is removed without the
//! consent of every honest seat that stays, and those who are left can finish, whoever is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::sync::Arc;

use stateright::{Checker as _, Model, Property};

use super::step::{EntryNames, Place};
use super::*;
use crate::domain::Label;
use crate::hash::Hasher;
use crate::membership::statement::{Accepted, Entries};

/// What is searched.
#[derive(Clone, Debug)]
struct Scope {
    parties: Parties,
    seats: usize,
    /// Whose entries reach nobody by themselves.
    late: SeatSet,
    /// Who can be found overdue.
    suspects: SeatSet,
    /// Whether seat 0 leads, and the others' entries are acks that name its entry.
    leads: bool,
    steps: u64,
    rounds: u16,
    instances: u16,
    bad: Option<Seat>,
    /// How many statements the cheat signs.
    cheats: usize,
    crashes: u8,
    heals: bool,
    /// Whether an honest seat hands on all that it holds at once, instead of any part of it in any order: fewer worlds,
    /// which can be searched to the end.
    gossips: bool,
}

/// An entry of the log, as far as removals are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Entry {
    step: u64,
    parent: Hash32,
    seat: Seat,
    variant: u8,
    /// The leader's entry.
    names: Option<Hash32>,
    release: Option<Hash32>,
}

impl Entry {
    fn hash(&self) -> Hash32 {
        Hasher::new(Label::new("entry\0"))
            .number(self.step)
            .hash(&self.parent)
            .number(u64::from(self.seat.number()))
            .number(u64::from(self.variant))
            .hash(&self.names.unwrap_or_default())
            .hash(&self.release.unwrap_or_default())
            .finish()
    }
}

/// One honest seat.
#[derive(Clone, Debug)]
struct Local {
    membership: Membership,
    /// Entries of the open step, its own too.
    entries: BTreeMap<Seat, Entry>,
    /// The steps that it has completed: entries and removed seats.
    done: Vec<(EntryNames, SeatSet)>,
    overdue: SeatSet,
    now: u64,
    /// What it has received.
    has: BTreeSet<Hash32>,
    removed: bool,
    blames: SeatSet,
}

impl PartialEq for Local {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Local {}
impl Hash for Local {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl Local {
    /// What it holds; clocks are no part of a world.
    fn key(
        &self,
    ) -> (
        &BTreeSet<Hash32>,
        &BTreeMap<Seat, Entry>,
        &[(EntryNames, SeatSet)],
        SeatSet,
        bool,
        SeatSet,
    ) {
        (
            &self.has,
            &self.entries,
            &self.done,
            self.overdue,
            self.removed,
            self.blames,
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    locals: Vec<Option<Arc<Local>>>,
    entries: BTreeMap<Hash32, Entry>,
    statements: BTreeMap<Hash32, Sent>,
    crashes: u8,
}

/// A statement that was signed.
#[derive(Clone, Debug)]
struct Sent(Arc<Verified>);
impl PartialEq for Sent {
    fn eq(&self, other: &Self) -> bool {
        self.0.hash() == other.0.hash()
    }
}
impl Eq for Sent {}
impl Hash for Sent {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash().hash(state);
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Action {
    Deliver(usize, Hash32),
    Gossip(usize, usize),
    Overdue(usize, Seat),
    NextRound(usize),
    Forget(usize, Seat),
    CheatEntry(Entry),
    Cheat(Sent),
}

const TABLE: Hash32 = Hash32([7; 32]);

fn place(step: u64, parent: Hash32) -> Place {
    Place {
        table: TABLE,
        step,
        parent,
    }
}

fn next_parent(parent: Hash32, entries: &EntryNames, removed: SeatSet) -> Hash32 {
    let mut hasher = Hasher::new(Label::new("step\0"))
        .hash(&parent)
        .number(u64::from(u8::from(removed)));
    for (seat, entry) in entries {
        hasher = hasher.number(u64::from(seat.number())).hash(entry);
    }
    hasher.finish()
}

impl Scope {
    fn all(&self) -> SeatSet {
        SeatSet::all(self.seats)
    }

    fn honest(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.seats).filter(|seat| self.bad.is_none_or(|bad| bad.index() != *seat))
    }

    fn leader(&self) -> Option<Seat> {
        self.leads.then(|| Seat::new(0)).flatten()
    }

    /// What an honest seat sees, and what follows: it signs, counts and completes until nothing moves.
    fn react(&self, world: &mut World, index: usize, mut inputs: Vec<Input>) {
        let Some(local) = world.locals[index].clone() else {
            return;
        };
        let mut local = Arc::unwrap_or_clone(local);
        loop {
            let (acceptable, counted) = self.look(&local);
            let view = View {
                closed: false,
                now: local.now,
                acceptable: &acceptable,
                counted: &counted,
                removable: local.overdue,
                silent: SeatSet::EMPTY,
                absence: 1,
                may_sign: true,
            };
            let input = inputs.pop().unwrap_or(Input::Look);
            let look = matches!(input, Input::Look);
            let effects = local.membership.handle(input, &view);
            let moved = !effects.is_empty();
            for effect in effects {
                match effect {
                    Effect::Keep(verified) => {
                        local.has.insert(verified.hash());
                    }
                    Effect::Sign(statement) => {
                        let verified = Verified::unsigned(*statement);
                        world
                            .statements
                            .insert(verified.hash(), Sent(Arc::new(verified.clone())));
                        local.has.insert(verified.hash());
                        inputs.push(Input::Statement(Box::new(verified)));
                    }
                    Effect::Decided(value) => {
                        local.removed |= value.removed().contains(Seat::new(index).unwrap());
                    }
                    Effect::Removed(_) => local.removed = true,
                    Effect::Conflict(one, _) => local.blames.insert(one.seat()),
                }
            }
            // An entry names the release of what bound its signer before: it is signed last.
            let more = moved || !look || !inputs.is_empty();
            if !more && !self.sign_entry(world, &mut local) && !self.complete(&mut local) {
                break;
            }
        }
        world.locals[index] = Some(Arc::new(local));
    }

    /// The entries that would count and those that do.
    fn look(&self, local: &Local) -> (EntryNames, EntryNames) {
        let open = local.membership.open();
        let mut acceptable = EntryNames::new();
        let mut counted = EntryNames::new();
        let fixed = open.fixed();
        // The leader's first: the others name it.
        for (seat, entry) in &local.entries {
            let hash = entry.hash();
            let other = fixed.get(seat).is_some_and(|fixed| *fixed != hash);
            let gone = !open.live(open.instance()).contains(*seat) && !fixed.contains_key(seat);
            let led = match (entry.names, self.leader()) {
                (Some(name), Some(leader)) if *seat != leader => {
                    let dropped = gone_leader(open, leader, &fixed);
                    if dropped {
                        name == out_name(open.place())
                    } else {
                        acceptable.get(&leader) == Some(&name)
                    }
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
            let standing = local
                .membership
                .entry(*seat, &names, entry.release, &acceptable);
            if !own && standing != Standing::Free {
                continue;
            }
            acceptable.insert(*seat, hash);
            let mut stands = names.iter();
            let stands = stands.all(|(of, name)| counted.get(of) == Some(name));
            if own || (stands && !open.holds_back(*seat, hash, &acceptable)) {
                counted.insert(*seat, hash);
            }
        }
        (acceptable, counted)
    }

    /// Signs its own entry when it may; whether it has.
    fn sign_entry(&self, world: &mut World, local: &mut Local) -> bool {
        let open = local.membership.open();
        let me = open.me;
        let live = open.live(open.instance());
        if local.entries.contains_key(&me) || local.removed || local.done.len() as u64 >= self.steps
        {
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
        world.entries.insert(entry.hash(), entry);
        true
    }

    fn complete(&self, local: &mut Local) -> bool {
        if local.removed || local.done.len() as u64 >= self.steps {
            return false;
        }
        let (acceptable, counted) = self.look(local);
        let open = local.membership.open();
        let live = open.live(open.instance());
        let fixed = open.fixed();
        let whole = live.iter().all(|seat| counted.contains_key(&seat))
            && fixed.keys().all(|seat| counted.contains_key(seat));
        if !whole || open.is_bound(&acceptable) {
            return false;
        }
        let removed = open.live(0).minus(live);
        let entries: EntryNames = counted
            .into_iter()
            .filter(|(seat, _)| live.contains(*seat) || fixed.contains_key(seat))
            .collect();
        let parent = next_parent(open.place().parent, &entries, removed);
        let step = open.place().step + 1;
        local
            .membership
            .complete(entries.clone(), removed, place(step, parent), live);
        local.done.push((entries, removed));
        local.entries.clear();
        local.overdue = SeatSet::EMPTY;
        true
    }

    fn deliver(&self, world: &mut World, index: usize, name: Hash32) {
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
            self.react(world, index, Vec::new());
        } else if let Some(sent) = world.statements.get(&name).cloned() {
            let input = Input::Statement(Box::new((*sent.0).clone()));
            self.react(world, index, vec![input]);
        }
    }

    /// Delivers all of that, over and over: one may be worth nothing before another is there.
    fn tell(&self, world: &mut World, index: usize, names: &BTreeSet<Hash32>) {
        for _ in 0..8 {
            let before = world.locals[index].clone();
            for name in names {
                let has = |local: &Arc<Local>| local.has.contains(name);
                if !world.locals[index].as_ref().is_some_and(has) {
                    self.deliver(world, index, *name);
                }
            }
            if before == world.locals[index] {
                break;
            }
        }
    }

    fn start(&self) -> World {
        let mut world = World {
            locals: vec![None; self.seats],
            entries: BTreeMap::new(),
            statements: BTreeMap::new(),
            crashes: 0,
        };
        let genesis = place(0, Hash32::default());
        for index in self.honest() {
            let me = Seat::new(index).unwrap();
            world.locals[index] = Some(Arc::new(Local {
                membership: Membership::new(genesis, me, self.all(), self.parties),
                entries: BTreeMap::new(),
                done: Vec::new(),
                overdue: SeatSet::EMPTY,
                now: 0,
                has: BTreeSet::new(),
                removed: false,
                blames: SeatSet::EMPTY,
            }));
            self.react(&mut world, index, Vec::new());
        }
        if let Some(bad) = self.bad {
            let entry = Entry {
                step: 0,
                parent: Hash32::default(),
                seat: bad,
                variant: 0,
                names: None,
                release: None,
            };
            world.entries.insert(entry.hash(), entry);
        }
        // What is prompt has come.
        let prompt: Vec<Hash32> = world
            .entries
            .values()
            .filter(|entry| !self.late.contains(entry.seat))
            .map(Entry::hash)
            .collect();
        for name in prompt {
            for index in 0..self.seats {
                self.deliver(&mut world, index, name);
            }
        }
        world
    }

    /// Everybody but `gone` is here, prompt and honest from now on: do they come to an end?
    fn heals(&self, world: &World, gone: Option<Seat>, lost: bool) -> bool {
        let mut world = world.clone();
        let present: Vec<usize> = self
            .honest()
            .filter(|index| gone.is_none_or(|gone| gone.index() != *index))
            .collect();
        if lost && let Some(gone) = gone {
            let held = |name: &Hash32| {
                present.iter().any(|index| {
                    let local = world.locals[*index].as_ref();
                    local.is_some_and(|local| local.has.contains(name))
                })
            };
            let entries = world.entries.clone();
            let statements = world.statements.clone();
            world.entries = entries
                .into_iter()
                .filter(|(name, entry)| entry.seat != gone || held(name))
                .collect();
            world.statements = statements
                .into_iter()
                .filter(|(name, sent)| sent.0.seat() != gone || held(name))
                .collect();
        }
        for _ in 0..60 {
            // All that is said arrives before a round ends.
            for _ in 0..12 {
                let before = world.clone();
                for index in &present {
                    let names = world
                        .entries
                        .keys()
                        .chain(world.statements.keys())
                        .copied()
                        .collect();
                    self.tell(&mut world, *index, &names);
                }
                if world == before {
                    break;
                }
            }
            let mut waiting = false;
            for index in &present {
                let Some(local) = world.locals[*index].as_ref() else {
                    continue;
                };
                if !local.blames.is_empty() {
                    return true;
                }
                if local.removed || local.done.len() as u64 >= self.steps {
                    continue;
                }
                let open = local.membership.open();
                let live = open.live(open.instance());
                if self.parties.count(live) <= 2 {
                    // A claim.
                    continue;
                }
                waiting = true;
            }
            if !waiting {
                return true;
            }
            for index in &present {
                if let Some(local) = &mut world.locals[*index] {
                    let local = Arc::make_mut(local);
                    local.overdue = self.all();
                    local.now += 1 << 40;
                    let missing = self.due(local);
                    local.overdue = missing;
                }
                self.react(&mut world, *index, Vec::new());
            }
        }
        false
    }

    /// The seats whose entries are missing though all that they must name is here.
    fn due(&self, local: &Local) -> SeatSet {
        let (_, counted) = self.look(local);
        let open = local.membership.open();
        let live = open.live(open.instance());
        let missing: SeatSet = live
            .iter()
            .filter(|seat| *seat != open.me && !counted.contains_key(seat))
            .collect();
        match self.leader() {
            Some(leader) if missing.contains(leader) => SeatSet::one(leader),
            _ => missing,
        }
    }

    /// What the cheat may sign in a world.
    fn cheats(&self, world: &World, bad: Seat, actions: &mut Vec<Action>) {
        let own = world
            .statements
            .values()
            .filter(|sent| sent.0.seat() == bad)
            .count();
        let entries = world
            .entries
            .values()
            .filter(|entry| entry.seat == bad)
            .count();
        if own + entries > self.cheats {
            return;
        }
        let parents: BTreeSet<(u64, Hash32)> = world
            .locals
            .iter()
            .flatten()
            .map(|local| {
                let place = local.membership.open().place();
                (place.step, place.parent)
            })
            .filter(|(step, _)| *step < self.steps)
            .chain([(0, Hash32::default())])
            .collect();
        for (step, parent) in parents {
            for variant in 0..2 {
                let led = self.leader().filter(|leader| *leader != bad);
                let mut names = vec![None];
                if let Some(leader) = led {
                    let of = world.entries.values().filter(|entry| {
                        entry.seat == leader && (entry.step, entry.parent) == (step, parent)
                    });
                    names = of.map(|entry| Some(entry.hash())).collect();
                }
                for names in names {
                    let entry = Entry {
                        step,
                        parent,
                        seat: bad,
                        variant,
                        names,
                        release: None,
                    };
                    if !world.entries.contains_key(&entry.hash()) {
                        actions.push(Action::CheatEntry(entry));
                    }
                }
            }
            let mut says = Vec::new();
            let here = |entry: &&Entry| (entry.step, entry.parent) == (step, parent);
            for seat in self.suspects.without(bad).iter() {
                says.push(Says::Consent {
                    out: SeatSet::one(seat),
                    counted: Entries::default(),
                });
                for entry in world
                    .entries
                    .values()
                    .filter(here)
                    .filter(|entry| entry.seat == seat)
                {
                    says.push(Says::Veto {
                        seat,
                        entry: entry.hash(),
                    });
                }
            }
            let statements = || {
                world
                    .statements
                    .values()
                    .map(|sent| &sent.0)
                    .filter(|sent| {
                        (sent.statement().step, sent.statement().parent) == (step, parent)
                    })
            };
            for round in 0..self.rounds {
                says.push(Says::Promise {
                    round,
                    accepted: None,
                });
                for sent in statements() {
                    if let Says::Propose { round: of, .. } = sent.statement().says {
                        if of < round {
                            let accepted = Some(Accepted {
                                round: of,
                                proposal: sent.hash(),
                            });
                            says.push(Says::Promise { round, accepted });
                        }
                        if of == round {
                            says.push(Says::Accept {
                                round,
                                proposal: sent.hash(),
                            });
                        }
                    }
                }
                let proposer = usize::from(round) % self.parties.count(self.all());
                if proposer == bad.index() {
                    let promises: Vec<Hash32> = statements().filter(|sent| matches!(sent.statement().says, Says::Promise { round: of, .. } if of == round)).map(|sent| sent.hash()).collect();
                    let mut values: Vec<Value> = Vec::new();
                    for seat in self.suspects.iter() {
                        values.push(Value::Out {
                            seats: SeatSet::one(seat),
                            counted: Entries::default(),
                        });
                        for entry in world
                            .entries
                            .values()
                            .filter(here)
                            .filter(|entry| entry.seat == seat)
                        {
                            values.push(Value::Keep {
                                seat,
                                entry: entry.hash(),
                            });
                        }
                    }
                    for bits in 0..1_u32 << promises.len() {
                        if bits.count_ones() as usize != self.seats / 2 + 1 {
                            continue;
                        }
                        let some: Vec<Hash32> = promises
                            .iter()
                            .enumerate()
                            .filter(|(i, _)| bits >> i & 1 == 1)
                            .map(|(_, p)| *p)
                            .collect();
                        for value in &values {
                            says.push(Says::Propose {
                                round,
                                value: value.clone(),
                                promises: some.clone().try_into().unwrap(),
                            });
                        }
                    }
                }
            }
            for says in says {
                let statement = Statement {
                    table: TABLE,
                    step,
                    parent,
                    instance: 0,
                    seat: bad,
                    release: None,
                    says,
                };
                let verified = Verified::unsigned(statement);
                if !world.statements.contains_key(&verified.hash()) {
                    actions.push(Action::Cheat(Sent(Arc::new(verified))));
                }
            }
        }
    }

    /// Whether the cheat has signed what excludes each other.
    fn is_proven(&self, world: &World) -> bool {
        let Some(bad) = self.bad else { return false };
        let entries: Vec<&Entry> = world
            .entries
            .values()
            .filter(|entry| entry.seat == bad)
            .collect();
        let statements: Vec<&Statement> = world
            .statements
            .values()
            .filter(|sent| sent.0.seat() == bad)
            .map(|sent| sent.0.statement())
            .collect();
        let two_entries = entries.iter().any(|one| {
            entries
                .iter()
                .any(|other| one != other && one.step == other.step)
        });
        let two_statements = statements.iter().any(|one| {
            statements
                .iter()
                .any(|other| one != other && evidence::exclude(one, other))
        });
        let parted = statements.iter().any(|one| {
            entries
                .iter()
                .any(|entry| entry.step == one.step && entry.parent != one.parent)
        });
        two_entries
            || two_statements
            || parted
            || world
                .locals
                .iter()
                .flatten()
                .any(|local| local.blames.contains(bad))
            || self.goes_on_forbidden(world, bad)
    }

    /// Whether the cheat has consented to a removal and signed in the next step over a hash without it: both logs
    /// together show that.
    fn goes_on_forbidden(&self, world: &World, bad: Seat) -> bool {
        let consents =
            world
                .statements
                .values()
                .filter_map(|sent| match &sent.0.statement().says {
                    Says::Consent { out, .. } if sent.0.seat() == bad => {
                        Some((sent.0.statement().step, *out))
                    }
                    _ => None,
                });
        let done = world.locals.iter().flatten();
        let removed_by: BTreeMap<Hash32, SeatSet> = done
            .flat_map(|local| {
                let mut parent = Hash32::default();
                local
                    .done
                    .iter()
                    .map(|(entries, removed)| {
                        parent = next_parent(parent, entries, *removed);
                        (parent, *removed)
                    })
                    .collect::<Vec<_>>()
            })
            .collect();
        let entries = world
            .entries
            .values()
            .filter(|entry| entry.seat == bad)
            .map(|entry| (entry.step, entry.parent));
        let statements = world
            .statements
            .values()
            .filter(|sent| sent.0.seat() == bad)
            .map(|sent| (sent.0.statement().step, sent.0.statement().parent));
        let records: Vec<(u64, Hash32)> = entries.chain(statements).collect();
        consents.into_iter().any(|(step, out)| {
            records.iter().any(|(at, parent)| {
                *at == step + 1
                    && removed_by
                        .get(parent)
                        .is_some_and(|removed| !out.minus(*removed).is_empty())
            })
        })
    }

    fn agrees(&self, world: &World) -> bool {
        if self.is_proven(world) {
            return true;
        }
        let locals: Vec<(usize, &Arc<Local>)> = world
            .locals
            .iter()
            .enumerate()
            .filter_map(|(index, local)| Some((index, local.as_ref()?)))
            .collect();
        locals.iter().all(|(x, one)| {
            locals.iter().all(|(y, other)| {
                let seats = [Seat::new(*x).unwrap(), Seat::new(*y).unwrap()];
                for (step, (a, b)) in one.done.iter().zip(&other.done).enumerate() {
                    if a == b {
                        continue;
                    }
                    let x_out = b.1.contains(seats[0]);
                    let y_out = a.1.contains(seats[1]);
                    // Who is removed is one step ahead at most, and stops.
                    return (x_out && !y_out && one.done.len() == step + 1)
                        || (y_out && !x_out && other.done.len() == step + 1);
                }
                true
            })
        })
    }

    fn nobody_honest_is_blamed(&self, world: &World) -> bool {
        let bad = self.bad.map_or(SeatSet::EMPTY, SeatSet::one);
        let blamed = world
            .locals
            .iter()
            .flatten()
            .flat_map(|local| local.blames.iter());
        let all: Vec<&Statement> = world
            .statements
            .values()
            .map(|sent| sent.0.statement())
            .filter(|statement| !bad.contains(statement.seat))
            .collect();
        let excluded = all.iter().any(|one| {
            all.iter()
                .any(|other| one != other && evidence::exclude(one, other))
        });
        blamed.into_iter().all(|seat| bad.contains(seat)) && !excluded
    }

    /// Nobody is removed without the consent of every honest seat that stays; and no honest ack names what is gone.
    fn is_by_consent(&self, world: &World) -> bool {
        world.locals.iter().flatten().all(|local| {
            let open = local.membership.open();
            open.decisions()
                .iter()
                .enumerate()
                .all(|(instance, decision)| {
                    let removed = decision.value.removed();
                    let live = open.live(u16::try_from(instance).unwrap());
                    let stays = live
                        .minus(removed)
                        .iter()
                        .filter(|seat| self.bad != Some(*seat));
                    removed.is_empty()
                        || stays.into_iter().all(|seat| {
                            world.statements.values().any(|sent| {
                            let of = sent.0.statement();
                            of.seat == seat
                                && usize::from(of.instance) == instance
                                && matches!(of.says, Says::Consent { out, .. } if out == removed)
                        })
                        })
                })
        })
    }
}

fn gone_leader(open: &StepRemoval, leader: Seat, fixed: &EntryNames) -> bool {
    open.live(0).contains(leader)
        && !open.live(open.instance()).contains(leader)
        && !fixed.contains_key(&leader)
}

fn out_name(place: Place) -> Hash32 {
    Hasher::new(Label::new("out\0"))
        .number(place.step)
        .hash(&place.parent)
        .finish()
}

impl Model for Scope {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![self.start()]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        for (index, local) in world.locals.iter().enumerate() {
            let Some(local) = local else { continue };
            if local.removed {
                continue;
            }
            let of_bad = |seat: Seat| self.bad == Some(seat);
            let entries = world
                .entries
                .iter()
                .filter(|(_, entry)| !self.gossips || of_bad(entry.seat));
            let statements = world
                .statements
                .iter()
                .filter(|(_, sent)| !self.gossips || of_bad(sent.0.seat()));
            let names = entries
                .map(|(name, _)| name)
                .chain(statements.map(|(name, _)| name));
            actions.extend(
                names
                    .filter(|name| !local.has.contains(*name))
                    .map(|name| Action::Deliver(index, *name)),
            );
            if self.gossips {
                let others = world
                    .locals
                    .iter()
                    .enumerate()
                    .filter_map(|(other, held)| Some((other, held.as_ref()?)));
                let news = others
                    .filter(|(other, held)| *other != index && !held.has.is_subset(&local.has));
                actions.extend(news.map(|(other, _)| Action::Gossip(other, index)));
            }
            let open = local.membership.open();
            if (local.done.len() as u64) < self.steps && open.instance() < self.instances {
                let due = self
                    .due(local)
                    .iter()
                    .filter(|seat| self.suspects.contains(*seat) && !local.overdue.contains(*seat));
                actions.extend(due.map(|seat| Action::Overdue(index, seat)));
                if open
                    .own_round(open.instance())
                    .is_some_and(|round| round + 1 < self.rounds)
                {
                    actions.push(Action::NextRound(index));
                }
            }
            if world.crashes < self.crashes {
                let own: Vec<&Statement> = world
                    .statements
                    .values()
                    .map(|sent| sent.0.statement())
                    .filter(|s| s.seat.index() == index)
                    .collect();
                for (seat, entry) in &local.entries {
                    let name = entry.hash();
                    let stands = local
                        .entries
                        .get(&open.me)
                        .is_some_and(|mine| mine.names == Some(name))
                        || open.fixed().get(seat) == Some(&name)
                        || own.iter().any(|statement| match &statement.says {
                            Says::Consent { counted, .. } => counted.contains(&(*seat, name)),
                            Says::Veto { entry, .. } => *entry == name,
                            Says::Propose {
                                value: Value::Keep { entry, .. },
                                ..
                            } => *entry == name,
                            Says::Accept { .. } => true,
                            _ => false,
                        });
                    if seat.index() != index && !stands {
                        actions.push(Action::Forget(index, *seat));
                    }
                }
            }
        }
        if let Some(bad) = self.bad {
            self.cheats(world, bad, actions);
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        match action {
            Action::Deliver(index, name) => self.deliver(&mut next, index, name),
            Action::Gossip(from, to) => {
                let has = next.locals[from].as_ref()?.has.clone();
                self.tell(&mut next, to, &has);
            }
            Action::Overdue(index, seat) => {
                Arc::make_mut(next.locals[index].as_mut()?)
                    .overdue
                    .insert(seat);
                self.react(&mut next, index, Vec::new());
            }
            Action::NextRound(index) => {
                Arc::make_mut(next.locals[index].as_mut()?).now += 1 << 40;
                self.react(&mut next, index, Vec::new());
            }
            Action::Forget(index, seat) => {
                next.crashes += 1;
                let local = Arc::make_mut(next.locals[index].as_mut()?);
                let entry = local.entries.remove(&seat)?;
                local.has.remove(&entry.hash());
            }
            Action::CheatEntry(entry) => {
                next.entries.insert(entry.hash(), entry);
            }
            Action::Cheat(sent) => {
                next.statements.insert(sent.0.hash(), sent);
            }
        }
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("honest seats agree", |scope: &Self, world: &World| {
                scope.agrees(world)
            }),
            Property::always("nobody honest is blamed", |scope: &Self, world: &World| {
                scope.nobody_honest_is_blamed(world)
            }),
            Property::always(
                "no removal without consent",
                |scope: &Self, world: &World| scope.is_by_consent(world),
            ),
            Property::always(
                "those who are left can finish",
                |scope: &Self, world: &World| {
                    let gone = match scope.bad {
                        Some(bad) => vec![Some(bad)],
                        None => std::iter::once(None)
                            .chain(
                                scope
                                    .parties
                                    .among(scope.all())
                                    .filter(|party| scope.parties.seats_of(*party).len() == 1)
                                    .map(|party| Some(party.lowest())),
                            )
                            .collect(),
                    };
                    !scope.heals
                        || gone.into_iter().all(|gone| {
                            [false, true]
                                .into_iter()
                                .filter(|lost| gone.is_some() || !lost)
                                .all(|lost| {
                                    scope.heals(world, gone, lost) || scope.is_proven(world)
                                })
                        })
                },
            ),
            Property::sometimes("somebody is removed", |_: &Self, world: &World| {
                world
                    .locals
                    .iter()
                    .flatten()
                    .any(|local| local.done.iter().any(|(_, removed)| !removed.is_empty()))
            }),
            Property::sometimes("a veto ends the matter", |_: &Self, world: &World| {
                let signed = |kind: fn(&Says) -> bool| {
                    world
                        .statements
                        .values()
                        .any(|sent| kind(&sent.0.statement().says))
                };
                signed(|says| matches!(says, Says::Release { .. }))
                    && world
                        .locals
                        .iter()
                        .flatten()
                        .all(|local| local.done.len() == 1)
            }),
        ]
    }
}

fn set(seats: &[usize]) -> SeatSet {
    seats.iter().filter_map(|seat| Seat::new(*seat)).collect()
}

fn scope(seats: usize) -> Scope {
    Scope {
        parties: Parties::singles(seats),
        seats,
        late: set(&[0]),
        suspects: set(&[0]),
        leads: false,
        steps: 1,
        rounds: 2,
        instances: 1,
        bad: None,
        cheats: 0,
        crashes: 0,
        heals: true,
        gossips: true,
    }
}

/// Searches until all is seen or so many worlds are; says how many there were.
fn search(name: &str, scope: Scope, most: usize) {
    let most = std::env::var("FAIRDEAL_WORLDS")
        .ok()
        .and_then(|most| most.parse().ok())
        .unwrap_or(most);
    let checker = scope
        .checker()
        .threads(2)
        .target_state_count(most)
        .spawn_bfs()
        .join();
    println!(
        "{name}: {} worlds, {} of them different, depth {}, whole: {}",
        checker.state_count(),
        checker.unique_state_count(),
        checker.max_depth(),
        checker.is_done() && checker.state_count() < most
    );
    for (property, path) in checker.discoveries() {
        if property != "somebody is removed" && property != "a veto ends the matter" {
            let actions: Vec<Action> = path.clone().into_actions();
            let last = path.last_state();
            panic!("{name}: not {property}: {actions:#?}\n{last:#?}");
        }
    }
}

#[test]
fn three_parties() {
    search("three parties", scope(3), 2_000);
    let any_order = Scope {
        gossips: false,
        heals: false,
        ..scope(3)
    };
    search("three parties, any part in any order", any_order, 2_000);
}

#[test]
fn three_parties_with_a_leader() {
    search(
        "three parties, a leader",
        Scope {
            leads: true,
            ..scope(3)
        },
        2_000,
    );
}

#[test]
fn three_parties_one_of_which_cheats() {
    let cheat = Scope {
        bad: Seat::new(2),
        cheats: 4,
        heals: false,
        ..scope(3)
    };
    search("three parties, one cheats", cheat.clone(), 2_000);
    let next = Scope {
        steps: 2,
        suspects: set(&[0, 1]),
        ..cheat
    };
    search("three parties, two steps, one cheats", next, 2_000);
}

#[test]
fn four_parties() {
    search(
        "four parties",
        Scope {
            instances: 2,
            ..scope(4)
        },
        2_000,
    );
}
