#!/usr/bin/env python3
"""Reference model of the removal of absent parties: the rule of docs/protocol.md ("Removal"), executable and searched.

It says in Python what protocol/src/membership says in Rust, so that the rule can be changed and searched before the code
is. It shares no code with the product. `membership/explore/` searches the Rust machine itself.

    python3 removal.py                        the default suite: a minute or two
    python3 removal.py --planted              breaks the rule in every way that PLANTED lists; each has to be found
    python3 removal.py --short                the quick ones of both: some seconds
    python3 removal.py steps n=4 bad=3 cheats=2 live=0 cap=200000
    python3 removal.py walks n=5 groups=1 runs=500 seed=7
    python3 removal.py paxos n=4 rounds=2 bad=3
    python3 removal.py runs runs=2000 seed=1 bad=1

Each line of output names a search, its states (or runs) by outcome, and "no violation". A broken rule prints the
violation and the records that lead to it, and the exit code is 1. So it is if a search of the suite that is meant to be
whole is not, or removes nobody.

The rule, for one step of the log. L_j is the set of live seats less those removed by decisions 0..j-1 of the step.
A set of seats is a majority of L_j if more than half of the parties of L_j have all their live seats in it.
  consent(j,S,E)  "I have not completed the step; of the entries of S I count exactly E." S is whole parties without the
                  signer's, L_j less S is a majority, and E lacks a seat of S. Until it is released, the signer counts no
                  other entry of S and does not complete the step.
  veto(i,T,e)     "From instance i on I count T's entry e." Its signer signs no consent to T without e from i on.
  release         of consent(j,S,E): one seat of L_j less S has signed vetoes (i <= j) for every seat of S; or instance
                  j is decided otherwise than by the removal of S. Any proposal of the decided value names the decision.
  out(S,E)        a value: all seats of L_j less S have signed consent(j,S,.); E is the union of what they count.
  keep(T,e)       a value: somebody has consented without T's entry e; at most once a seat and step.
  decision        one value an instance, by single-decree Paxos; accepts by a majority of L_j decide.
  records         of a step name the signer's last release; one that its own consent forbids does not count without.

What is searched, and what each model leaves out:
  steps    every reachable set of signed records, breadth first. The network is that set: any seat acts on any part of
           it, so loss, delay, repetition and re-ordering are included. What is unsigned may be forgotten, so crashes and
           returns from an intact journal are included. A decision is one atomic record; a release is implied by the
           completion that needs it. In every state the model also asks whether the seats that are present could finish,
           for each party that may be gone, with its last records lost or not.
  walks    random paths of `steps` where the whole search is too large: groups, five and six parties, several steps.
  paxos    every reachable set of records of one instance; honest, or one acceptor and proposer signs anything.
  runs     random runs of a port of the machine, statement by statement: clocks, rounds, named releases, earlier steps
           first, parties of several seats, a leader, messages lost and re-ordered one by one, crashes that lose what the
           journal lacks, returned and vanished parties, a cheat.
Not modelled: proposals by persons, wrong digests, leavers, claims, halts after evidence, and the bounds on how many
statements are kept. With a cheat, `runs` asks for safety only: a cheat may keep a table at rest.

Violations: a *fork* (two honest seats complete a step differently, neither is removed in the other's log and at most
that step ahead, and nobody has signed what excludes each other or goes against an own consent); an *honest party
blamed*; a *removal without consent* of an honest seat that stays; an *ack names a removed entry*; a *deadlock* or
*stuck* run with at most one party gone (two of five or more with groups); *two decisions*; a removed seat *without
news*."""
import collections
import itertools
import random
import sys
import time
from collections import Counter, deque


BITS = [tuple(i for i in range(6) if mask >> i & 1) for mask in range(64)]


def bits(mask):
    """The seats of a set."""
    return BITS[mask]


def size(mask):
    return bin(mask).count('1')


class Config:
    """What is searched, and the switches that break the rule (all at their right value by default)."""
    n, parties, steps, instances, bad, cheats = 3, None, 1, 1, None, 99
    lead, groups, targets, live, cap, variants = 0, 0, 255, 1, 10 ** 7, 2
    # The rule. Each is explained at its place in PLANTED.
    binds, veto_binds, unanimous, ack_bound, keep = 1, 1, 1, 1, 1
    per_instance, name_release, union, fixed_acks, member_veto, one_veto = 1, 1, 1, 1, 0, 0

    def __init__(self, **options):
        for key, value in options.items():
            if not hasattr(type(self), key):
                sys.exit(f'no such option: {key}')
            setattr(self, key, value)
        declared = str(self.parties) if self.parties is not None else ''.join(map(str, range(self.n)))
        assert len(declared) == self.n, 'parties: one digit a seat'
        self.party = [sum(1 << y for y in range(self.n) if declared[y] == declared[x]) for x in range(self.n)]
        self.all = (1 << self.n) - 1
        self.parties_of = [sorted({self.party[x] & live for x in bits(live)}, key=lambda p: p & -p)
                           for live in range(self.all + 1)]

    def honest(self):
        return [x for x in range(self.n) if x != self.bad]

    def among(self, live):
        """The parties of a set of live seats, by their lowest live seat."""
        return self.parties_of[live]

    def majority(self, live, some):
        parties = self.parties_of[live]
        return 2 * sum(p & ~some == 0 for p in parties) > len(parties)

    def whole(self, live, S):
        return S & ~live == 0 and all(self.party[x] & live & ~S == 0 for x in bits(S))


# ---- steps: the rule as sets of signed records ----------------------------------------------------------------------
# A chain is the list of outcomes of completed steps; an outcome is (removed seats, counted entries). Its number stands
# for the step hash.
CHAINS, CHAIN_OF = [((), None)], {}


def extend(chain, removed, entries):
    key = (chain, removed, entries)
    if key not in CHAIN_OF:
        CHAIN_OF[key] = len(CHAINS)
        CHAINS.append((CHAINS[chain][0] + ((removed, entries),), chain))
    return CHAIN_OF[key]


def depth(chain):
    return len(CHAINS[chain][0])


def outcome(chain):
    return CHAINS[chain][0][-1]


class View:
    """A set of records, indexed.

    ('entry',chain,x,variant,names)  ('enter',chain,x,j): x completed the step before in instance j
    ('consent',chain,j,x,S,E)  ('veto',chain,i,x,T,variant)  ('decided',chain,j,value)
    A value is ('out',S,E) or ('keep',T,variant)."""

    def __init__(self, cfg, state):
        self.cfg = cfg
        self.consents, self.vetoes, self.decided, self.entries, self.entered = {}, {}, {}, {}, {}
        for r in state:
            kind = r[0]
            if kind == 'consent':
                self.consents.setdefault((r[1], r[3]), []).append((r[2], r[4], dict(r[5])))
            elif kind == 'veto':
                self.vetoes.setdefault((r[1], r[3]), {})[r[4]] = (r[2], r[5])
            elif kind == 'decided':
                self.decided.setdefault(r[1], {})[r[2]] = r[3]
            elif kind == 'entry':
                self.entries.setdefault((r[1], r[2]), {})[r[3]] = r[4]
            else:
                self.entered.setdefault(r[2], []).append((r[1], r[3]))

    def chain(self, x):
        return max((c for c, _ in self.entered[x]), key=depth)

    def count(self, c):
        return len(self.decided.get(c, {}))

    def live(self, c, j):
        live = self.cfg.all
        for removed, _ in CHAINS[c][0]:
            live &= ~removed
        for i in range(j):
            if self.decided[c][i][0] == 'out':
                live &= ~self.decided[c][i][1]
        return live

    def fixed(self, c, j):
        """The entries that decisions have put into the step."""
        fixed = {}
        for i in range(j):
            value = self.decided[c][i]
            if value[0] == 'out':
                for T, e in value[2]:
                    fixed.setdefault(T, e)
            else:
                fixed.setdefault(value[1], value[2])
        return fixed

    def released(self, c, j, x, S):
        """By vetoes."""
        cfg = self.cfg

        def vetoed(q, T):
            veto = self.vetoes.get((c, q), {}).get(T)
            return veto is not None and (veto[0] <= j or not cfg.per_instance)
        if cfg.member_veto and size(S) > 1:
            return all(any(q != T and vetoed(q, T) for q in range(cfg.n)) for T in bits(S))
        staying = self.live(c, j) if cfg.per_instance else cfg.all
        enough = any if cfg.one_veto else all
        return any(q != x and enough(vetoed(q, T) for T in bits(S)) for q in bits(staying & ~S))

    def settled(self, c, j, x, S):
        """Released by vetoes, or by a decision other than the removal of S."""
        value = self.decided.get(c, {}).get(j)
        other = value is not None and not (value[0] == 'out' and value[1] & S == S)
        return other or self.released(c, j, x, S)

    def bound(self, c, j, x):
        """The consents of x that bind it in instance j."""
        cfg, out = self.cfg, []
        if not cfg.binds:
            return out
        for i, S, E in self.consents.get((c, x), []):
            if i != j and (cfg.per_instance or i > j):
                continue
            kept = (self.decided[c][k] for k in range(j))
            if not cfg.per_instance and (S & ~self.live(c, j) or any(v[0] == 'keep' and S >> v[1] & 1 for v in kept)):
                continue
            if not self.released(c, j, x, S):
                out.append((S, E))
        return out

    def leader(self, c):
        lead = depth(c) % self.cfg.n
        return lead if self.cfg.lead and self.live(c, 0) >> lead & 1 else None

    def fits(self, c, j, T, e):
        """Whether an entry names what it may: the leader's, or that the leader is out."""
        lead, names = self.leader(c), self.entries[(c, T)][e]
        if lead in (None, T) or names is None:
            return True
        gone = not self.live(c, j) >> lead & 1 and lead not in self.fixed(c, j)
        return gone if names == 'out' else not gone and names in self.entries.get((c, lead), {})

    def first_instance(self, c, x):
        """The least instance in which x may still be, by what it has signed."""
        consents = [i for i, _, _ in self.consents.get((c, x), [])]
        return max(consents + [i for i, _ in self.vetoes.get((c, x), {}).values()] + [0])


def sets(cfg, live, x):
    """The sets whose removal x may consent to: one party or, with groups, several."""
    others = [p for p in cfg.among(live) if not p >> x & 1]
    for number in range(1, len(others) + 1 if cfg.groups else 2):
        for some in itertools.combinations(others, number):
            S = sum(some)
            if cfg.majority(live, live & ~S) and S & ~cfg.targets == 0:
                yield S


def outcomes(v, c, j, x, honest=True, held=None):
    """The outcomes with which x may complete the step in instance j."""
    live, start = v.live(c, j), v.live(c, 0)
    if not live >> x & 1:
        return
    fixed = v.fixed(c, j)
    if honest:
        if v.bound(c, j, x):
            return
        for T, (_, e) in v.vetoes.get((c, x), {}).items():
            if fixed.setdefault(T, e) != e:
                return
    choice = []
    for T in bits(start):
        if not live >> T & 1 and T not in fixed:
            continue
        here = v.entries.get((c, T), {})
        known = [e for e in here if fixed.get(T, e) == e and (held is None or T == x or e in held(c, T))]
        if not known:
            return
        choice.append([(T, e) for e in known])
    lead = v.leader(c)
    for entries in itertools.product(*choice):
        if lead is not None:
            place = dict(entries).get(lead, 'out')
            if any(T != lead and v.entries[(c, T)][e] not in (None, place) for T, e in entries):
                continue
        yield start & ~live, tuple(entries)


def values(cfg, v, c, j):
    """The valid values of instance j."""
    live, by_set = v.live(c, j), {}
    for x in bits(live):
        for i, S, E in v.consents.get((c, x), []):
            if i == j or not cfg.per_instance and i <= j:
                by_set.setdefault(S, {})[x] = E
    kept = {d[1] for d in v.decided.get(c, {}).values() if d[0] == 'keep'}
    for S, signed in by_set.items():
        if S & ~live or not cfg.per_instance and any(S >> T & 1 for T in kept):
            continue
        signers = sum(1 << x for x in signed)
        enough = live & ~S & ~signers == 0 if cfg.unanimous else cfg.majority(live, signers)
        if enough:
            union = {}
            agree = all(union.setdefault(T, e) == e for E in signed.values() for T, e in E.items())
            if agree:
                yield 'out', S, tuple(sorted(union.items())) if cfg.union else ()
    if cfg.keep:
        lacking = {T for S, signed in by_set.items() for E in signed.values() for T in bits(S & live) if T not in E}
        for T in lacking - kept:
            for e in v.entries.get((c, T), {}):
                if v.fits(c, j, T, e):
                    yield 'keep', T, e


def own_entry(v, c, j, x, held=None):
    """The entries that x may sign: the leader's names nothing, an ack names the leader's entry or its removal."""
    lead = v.leader(c)
    if lead in (None, x):
        yield 'entry', c, x, 0, None
        return
    fixed = v.fixed(c, j)
    if not v.live(c, j) >> lead & 1 and lead not in fixed:
        yield 'entry', c, x, 0, 'out'
        return
    if v.cfg.ack_bound and any(S >> lead & 1 and lead not in E for S, E in v.bound(c, j, x)):
        return
    for e in (v.entries.get((c, lead), {}) if held is None else held(c, lead)):
        if fixed.get(lead, e) == e:
            yield 'entry', c, x, 0, e


def vetoes_due(v, c, j, x, counts):
    """Vetoes of x against the consents of others in instance j; counts: what x may count."""
    mine = [(S, E) for i, S, E in v.consents.get((c, x), []) if i >= j or not v.cfg.per_instance]
    for q in range(v.cfg.n):
        for i, S, E in v.consents.get((c, q), []) if q != x else []:
            for T in bits(S) if i == j else []:
                if T == x or T in v.vetoes.get((c, x), {}):
                    continue
                for e in counts(T):
                    if not any(S2 >> T & 1 and E2.get(T) != e for S2, E2 in mine):
                        yield 'veto', c, j, x, T, e


def late_vetoes(v, x):
    """x has completed the step, and answers the consents of those who have not."""
    for c2, j in v.entered[x]:
        c = CHAINS[c2][1]
        if c is None:
            continue
        entries = dict(outcome(c2)[1])
        for i in {i for q in range(v.cfg.n) for i, _, _ in v.consents.get((c, q), [])}:
            if i >= j:
                yield from vetoes_due(v, c, i, x, lambda T: [entries[T]] if T in entries else [])


def counted_by(v, c, j, x):
    """What x has signed that it counts."""
    counted = {T: e for T, (_, e) in v.vetoes.get((c, x), {}).items()}
    counted.update(v.fixed(c, j))
    lead = v.leader(c)
    for names in v.entries.get((c, x), {}).values():
        if lead is not None and names not in (None, 'out'):
            counted.setdefault(lead, names)
    return counted


def actions(cfg, v):
    """All that may be signed next: a record, or ('enter',chain,removed,entries,x,j)."""
    chains = {c for entered in v.entered.values() for c, _ in entered}
    for x in cfg.honest():
        yield from late_vetoes(v, x)
        c = v.chain(x)
        if depth(c) >= cfg.steps:
            continue
        entry = v.entries.get((c, x), {})
        for j in range(v.first_instance(c, x), v.count(c) + 1):
            live = v.live(c, j)
            if not live >> x & 1:
                break
            if not entry:
                yield from own_entry(v, c, j, x)
            counted = counted_by(v, c, j, x)
            barred = {T for S, E in v.bound(c, j, x) for T in bits(S) if T not in E}
            if j < cfg.instances:
                signed = [S for i, S, _ in v.consents.get((c, x), []) if i == j]
                for S in sets(cfg, live, x):
                    if S in signed:
                        continue
                    options = []
                    for T in bits(S):
                        free = [None] + [(T, e) for e in v.entries.get((c, T), {})
                                         if size(S) > 1 and T not in barred and v.fits(c, j, T, e)]
                        if T in counted:
                            free = [(T, counted[T])] + [None] * (not cfg.veto_binds)
                        options.append(free)
                    for E in itertools.product(*options):
                        E = tuple(one for one in E if one)
                        if len(E) < size(S):
                            yield 'consent', c, j, x, S, E
            may = lambda T: [e for e in v.entries.get((c, T), {}) if counted.get(T, e) == e and v.fits(c, j, T, e)]
            for r in vetoes_due(v, c, j, x, may):
                if live >> r[4] & 1:
                    yield r
            if entry:
                for removed, entries in outcomes(v, c, j, x):
                    yield 'enter', c, removed, entries, x, j
    if cfg.bad is not None:
        yield from bad_actions(cfg, v, cfg.bad, chains)
    for c in chains:
        if depth(c) < cfg.steps and v.count(c) < cfg.instances:
            for value in values(cfg, v, c, v.count(c)):
                yield 'decided', c, v.count(c), value


def bad_actions(cfg, v, b, chains):
    """The bad party signs anything, up to `cheats` statements."""
    signed = sum(len(of) for (_, x), of in v.consents.items() if x == b)
    signed += sum(len(of) for (_, x), of in v.vetoes.items() if x == b)
    for c in chains:
        if depth(c) >= cfg.steps:
            continue
        lead = v.leader(c)
        if any(c == d for d, _ in v.entered[b]):
            for e in range(cfg.variants):
                if e not in v.entries.get((c, b), {}):
                    led = ['out'] + list(v.entries.get((c, lead), {})) if lead not in (None, b) else []
                    for names in [None] + led:
                        yield 'entry', c, b, e, names
        asked = {T for q in range(cfg.n) for _, S, _ in v.consents.get((c, q), []) for T in bits(S)}
        for j in range(v.count(c) + 1):
            live = v.live(c, j)
            if not live >> b & 1:
                break
            if j < cfg.instances and signed < cfg.cheats:
                for S in sets(cfg, live, b):
                    yield 'consent', c, j, b, S, ()
                    for T in bits(S) if size(S) > 1 else []:
                        for e in v.entries.get((c, T), {}):
                            yield 'consent', c, j, b, S, ((T, e),)
            for T in asked if signed < cfg.cheats else []:
                if T != b and live >> T & 1 and T not in v.vetoes.get((c, b), {}):
                    for e in v.entries.get((c, T), {}):
                        yield 'veto', c, j, b, T, e
            for removed, entries in outcomes(v, c, j, b, False):
                yield 'enter', c, removed, entries, b, j


def exclusive(cfg, v, x):
    """Two statements of x that exclude each other, or a record against its own consent without a release.

    The machine does not count such a record; that its signer is at fault, both logs together show."""
    at = {}
    for (c, q), signed in v.entries.items():
        if q == x and (len(signed) > 1 or at.setdefault(depth(c), c) != c):
            return 'two entries'
    for c, q in v.consents:
        if q == x and at.setdefault(depth(c), c) != c:
            return 'two previous hashes'
    depths = [depth(c) for c, _ in v.entered[x]]
    if len(depths) != len(set(depths)):
        return 'two previous hashes'
    for (c, q), signed in v.consents.items():
        if q != x:
            continue
        places = [(i, S) for i, S, _ in signed]
        if len(places) != len(set(places)):
            return 'two consents'
        for i, S, E in signed:
            for T, (j, e) in v.vetoes.get((c, x), {}).items():
                if S >> T & 1 and E.get(T) != e and i >= j:
                    return 'consent and veto'
            for d, _ in v.entered[x]:
                on = CHAINS[d][1] == c and S & ~outcome(d)[0]
                if on and cfg.name_release and not v.settled(c, i, x, S):
                    return 'consent and next step'
            lead = v.leader(c)
            if lead is not None and S >> lead & 1:
                for names in v.entries.get((c, x), {}).values():
                    d = v.decided.get(c, {}).get(i)
                    # An ack of an entry that the decision itself counts takes nothing back.
                    counts = d is not None and d[0] == 'out' and (lead, names) in d[2] and cfg.fixed_acks
                    if names not in (None, 'out') and E.get(lead) != names and not counts and not v.settled(c, i, x, S):
                        return 'consent and ack'
    return None


def violation(cfg, v):
    for x in cfg.honest():
        found = exclusive(cfg, v, x)
        if found:
            return 'honest party blamed: ' + found
    if cfg.bad is not None and exclusive(cfg, v, cfg.bad):
        return 'evidence'
    for c, decided in v.decided.items():
        for j, d in decided.items():
            if d[0] != 'out':
                continue
            for x in cfg.honest():
                if not (v.live(c, j) & ~d[1]) >> x & 1:
                    continue
                if not any(S == d[1] for _, S, _ in v.consents.get((c, x), [])):
                    return 'removal without consent'
                lead = v.leader(c)
                if lead is not None and d[1] >> lead & 1 and x != lead:
                    right = (None, 'out', dict(d[2]).get(lead))
                    if any(names not in right for names in v.entries.get((c, x), {}).values()):
                        return 'ack names a removed entry'
    for x, y in itertools.combinations(cfg.honest(), 2):
        if parted(x, CHAINS[v.chain(x)][0], y, CHAINS[v.chain(y)][0]):
            return 'fork'
    return None


def parted(x, a, y, b):
    """Whether two honest seats have gone apart: a and b are their outcomes, (removed, entries) by step."""
    for k in range(min(len(a), len(b))):
        if a[k] != b[k]:
            x_out, y_out = b[k][0] >> x & 1, a[k][0] >> y & 1
            one_ahead = x_out and not y_out and len(a) == k + 1 or y_out and not x_out and len(b) == k + 1
            return not one_ahead
    return False


def apply(cfg, state, action):
    if action[0] != 'enter':
        return state | {action}
    _, c, removed, entries, x, j = action
    d = extend(c, removed, entries)
    new = {('enter', d, x, j)}
    if not cfg.lead and x != cfg.bad and depth(d) < cfg.steps:
        new.add(('entry', d, x, 0, None))
    return state | new


def begin(cfg):
    state = {('enter', 0, x, 0) for x in range(cfg.n)}
    if not cfg.lead:
        state |= {('entry', 0, x, 0, None) for x in cfg.honest()}
    return frozenset(state)


# ---- steps: can those who are present finish? -----------------------------------------------------------------------
def without(cfg, state, gone):
    """The state without the records of the gone seats on which nobody relies; `heal` judges their entries one by one."""
    def theirs(r):
        return r[0] in ('consent', 'veto') and gone >> r[3] & 1 or r[0] == 'enter' and r[1] and gone >> r[2] & 1
    less = frozenset(r for r in state if not theirs(r))
    v = View(cfg, less)
    for x in cfg.honest():
        for d, _ in v.entered[x] if not gone >> x & 1 else []:
            c = CHAINS[d][1]
            signed = v.consents.get((c, x), []) if c is not None else []
            if any(S & ~outcome(d)[0] and not v.settled(c, i, x, S) for i, S, _ in signed):
                return state
    return less


def heal(cfg, state, gone, lost):
    """From here on all but `gone` are present, prompt and honest: do they finish?"""
    cfg = eternal(cfg)
    if lost:
        state = without(cfg, state, gone)
    present = [x for x in cfg.honest() if not gone >> x & 1]
    mask = sum(1 << x for x in present)
    for _ in range(300):
        v = View(cfg, state)
        if cfg.bad is not None and exclusive(cfg, v, cfg.bad):
            return 'evidence'

        def held(c, T):
            known = [e for e in v.entries.get((c, T), {}) if v.fits(c, v.count(c), T, e)]
            if not gone >> T & 1 or not lost:
                return sorted(known)
            some = {v.vetoes[(c, q)][T][1] for q in present if T in v.vetoes.get((c, q), {})}
            some |= {E[T] for q in present for _, _, E in v.consents.get((c, q), []) if T in E}
            some |= {dict(outcome(d)[1])[T] for q in present for d, _ in v.entered[q]
                     if CHAINS[d][1] == c and T in dict(outcome(d)[1])}
            if v.leader(c) == T:
                some |= {e for q in present for e in v.entries.get((c, q), {}).values() if e not in (None, 'out')}
            fixed = v.fixed(c, v.count(c))
            return sorted(some | ({fixed[T]} if T in fixed else set()))

        def removed(x):
            c = v.chain(x)
            while c is not None:
                if not v.live(c, v.count(c)) >> x & 1:
                    return True
                c = CHAINS[c][1]
            return False
        todo = [x for x in present if not removed(x) and depth(v.chain(x)) < cfg.steps]
        if not todo:
            return 'finished'
        vetoes = (r for x in present for r in late_vetoes(v, x))
        step = next(itertools.chain(vetoes, (a for x in todo for a in prompt(cfg, v, x, held, gone))), None)
        if step is None:
            for x in todo:
                c = v.chain(x)
                j, live = v.count(c), v.live(c, v.count(c))
                if not cfg.majority(live, live & mask):
                    continue
                found = [u for u in values(cfg, v, c, j) if u[0] == 'out' or u[2] in held(c, u[1])]
                if found:
                    step = 'decided', c, j, min(found, key=lambda u: (u[0] == 'out', size(u[1]), u))
                    break
        if step is None:
            ends = [v.live(v.chain(x), v.count(v.chain(x))) for x in todo]
            return 'claim' if any(len(cfg.among(live)) <= 2 for live in ends) else 'deadlock'
        state = apply(cfg, state, step)
    return 'endless'


def eternal(cfg):
    """The same with instances without end."""
    key = id(cfg)
    if key not in ETERNAL:
        other = Config.__new__(Config)
        other.__dict__ = {**cfg.__dict__, 'instances': 99}
        ETERNAL[key] = (cfg, other)
    return ETERNAL[key][1]


ETERNAL = {}


def prompt(cfg, v, x, held, gone):
    """What x does at once: entry, completion, vetoes, consents to single overdue parties, then to groups."""
    c = v.chain(x)
    j, live = v.count(c), v.live(c, v.count(c))
    if not v.entries.get((c, x)):
        yield from own_entry(v, c, j, x, held)
    else:
        for removed, entries in outcomes(v, c, j, x, True, held):
            yield 'enter', c, removed, entries, x, j
    yield from (r for r in vetoes_due(v, c, j, x, lambda T: held(c, T)) if live >> r[4] & 1)
    barred = {T for S, E in v.bound(c, j, x) for T in bits(S) if T not in E}
    counted = counted_by(v, c, j, x)
    for T in bits(live):
        if T not in counted and T not in barred and held(c, T) and T != x:
            counted[T] = held(c, T)[0]
    missing = [T for T in bits(live) if T != x and T not in counted and not held(c, T)]
    if v.leader(c) in missing:
        missing = [v.leader(c)]
    signed = [S for i, S, _ in v.consents.get((c, x), []) if i == j]
    agreed = {(q, S) for q in bits(live) for i, S, _ in v.consents.get((c, q), []) if i == j}
    singles = sorted({cfg.party[T] & live for T in missing})
    groups = []
    for S in singles if cfg.groups else []:
        silent = [q for q in bits(live & ~S) if gone >> q & 1 and (q, S) not in agreed]
        groups.append(S | sum(1 << q for q in silent if cfg.party[q] & live & ~sum(1 << y for y in silent) == 0))
    for S in singles + groups:
        if S in signed or S >> x & 1 or not cfg.majority(live, live & ~S):
            continue
        E = tuple((T, counted[T]) for T in bits(S) if T in counted)
        vetoed = v.vetoes.get((c, x), {})
        if len(E) < size(S) and all(T in counted for T in bits(S) if T in vetoed):
            yield 'consent', c, j, x, S, E


def absences(cfg):
    """Who may be gone while the others have to finish: one party, with groups two of five or more; a cheat is one."""
    parties = cfg.among(cfg.all)
    if cfg.bad is not None:
        return [1 << cfg.bad]
    pairs = [a | b for a, b in itertools.combinations(parties, 2)] if cfg.groups and len(parties) > 4 else []
    return [0] + parties + pairs


def healing(cfg, state, count, first, some=None):
    for gone in absences(cfg) if some is None else some:
        for lost in (False, True) if gone else (False,):
            end = heal(cfg, state, gone, lost)
            count['then ' + end] += 1
            if end in ('deadlock', 'endless'):
                first.setdefault('then ' + end, state)


def removes(v):
    """Whether a complete step has removed a seat."""
    return any(removed for of in v.entered.values() for c, _ in of for removed, _ in CHAINS[c][0])


def search_steps(cfg):
    """Every reachable state, breadth first, up to `cap`."""
    state = begin(cfg)
    seen, queue, count, first = {hash(state)}, deque([state]), Counter(), {}
    while queue:
        state = queue.popleft()
        count['states'] += 1
        v = View(cfg, state)
        found = violation(cfg, v)
        if found:
            count[found] += 1
            if found != 'evidence':
                first.setdefault(found, state)
            continue
        count['with a removal'] += removes(v)
        if cfg.live:
            healing(cfg, state, count, first)
        for a in actions(cfg, v):
            new = apply(cfg, state, a)
            h = hash(new)
            if len(new) > len(state) and h not in seen:
                seen.add(h)
                queue.append(new)
        if count['states'] >= cfg.cap:
            count['not explored'] = len(queue)
            break
    return count, first


def actor(action):
    if action[0] == 'decided':
        return None
    return action[{'entry': 2, 'enter': 4}.get(action[0], 3)]


def walks(cfg, runs, seed=0):
    """Random paths to their ends; in one state of each, and at its end, those present have to be able to finish."""
    count, first = Counter(), {}
    for number in range(seed, seed + runs):
        rng = random.Random(number)
        state = begin(cfg)
        stop = rng.randrange(5, 60)
        for length in range(200):
            count['states'] += 1
            v = View(cfg, state)
            count['with a removal'] += removes(v)
            found = violation(cfg, v)
            if found:
                count[found] += 1
                if found != 'evidence':
                    first.setdefault(found, state)
                break
            choice = {}
            for a in actions(cfg, v):
                if len(apply(cfg, state, a)) > len(state):
                    choice.setdefault((a[0], cfg.bad is not None and actor(a) == cfg.bad), []).append(a)
            if cfg.live and (length == stop or not choice):
                healing(cfg, state, count, first, [rng.choice(absences(cfg))])
            if not choice or length > stop + 20:
                break
            # By kind first: there are many consents and few vetoes. The cheat acts seldom, else each walk ends at once.
            kinds = [k for k in sorted(choice) if not k[1]]
            if not kinds or len(kinds) < len(choice) and rng.random() < .15:
                kinds = [k for k in sorted(choice) if k[1]]
            state = apply(cfg, state, rng.choice(choice[rng.choice(kinds)]))
        count['walks'] += 1
    return count, first


def play(cfg, script):
    """Plays wanted actions (None: any value) in order; the first violation, or which action the rule does not allow."""
    entries = {('entry', 0, x, 0, None) for x in cfg.honest()}
    state = frozenset({('enter', 0, x, 0) for x in range(cfg.n)} | entries)
    for number, want in enumerate(script):
        want = tuple(w() if callable(w) else w for w in want)
        fits = lambda a: len(a) == len(want) and all(w is None or w == u for w, u in zip(want, a))
        found = [a for a in actions(cfg, View(cfg, state)) if fits(a)]
        if not found:
            return f'action {number + 1} of {len(script)} not allowed: {want[0]}'
        state = apply(cfg, state, found[0])
        bad = violation(cfg, View(cfg, state))
        if bad:
            return bad
    return 'no violation'


# Scripts for what the searches reach late. Each is one path: a fork where the named switch breaks the rule, while the
# rule does not allow it (or has evidence in the end).
def full():
    return CHAIN_OF[(0, 0, ((0, 0), (1, 0), (2, 0)))]


SCRIPTS = {
    # 1 vetoes for 0 and vanishes; 2 counts 0's entry; 1 is removed; the old consents of 2 and 3 remove 0.
    'per_instance': (dict(n=4, instances=2), [
        *[('consent', 0, 0, x, 2, ()) for x in (0, 2, 3)], *[('consent', 0, 0, x, 1, ()) for x in (2, 3)],
        ('veto', 0, 0, 1, 0, 0), ('decided', 0, 0, ('out', 2, ())), ('enter', 0, 2, None, 2, 1),
        ('decided', 0, 1, ('out', 1, ())), ('enter', 0, 3, None, 3, 2)]),
    # 0 and 1 veto for each other while all others consent to remove both.
    'member_veto': (dict(n=5, groups=1), [
        *[('consent', 0, 0, x, 3, ()) for x in (2, 3)], ('veto', 0, 0, 0, 1, 0), ('veto', 0, 0, 1, 0, 0),
        ('consent', 0, 0, 4, 3, ()), ('decided', 0, 0, ('out', 3, ())), ('enter', 0, 0, None, 2, 0),
        ('enter', 0, 3, None, 3, 1)]),
    # 2 vetoes for 0 alone and still consents to remove 0 and 1, counting 0's entry; 3 goes on by that one veto.
    'one_veto': (dict(n=5, groups=1), [
        ('consent', 0, 0, 3, 3, ()), ('veto', 0, 0, 2, 0, 0), ('consent', 0, 0, 2, 3, ((0, 0),)),
        ('consent', 0, 0, 4, 3, ()), ('decided', 0, 0, None), ('enter', 0, 0, None, 3, 0),
        ('enter', 0, None, None, 2, 1)]),
    # 3 vetoes for 0 and consents to remove 0 and 1 with 0's entry; the decision forgets that entry.
    'union': (dict(n=5, groups=1), [
        ('consent', 0, 0, 4, 3, ()), ('veto', 0, 0, 3, 0, 0), ('consent', 0, 0, 3, 3, ((0, 0),)),
        ('consent', 0, 0, 2, 3, ()), ('decided', 0, 0, ('out', 3, ())), ('enter', 0, 3, None, 3, 1),
        ('enter', 0, 3, None, 2, 1)]),
    # 2 cheats: it removes 1 with 0's help, having removed 0 with 1's.
    'name_release': (dict(n=3, steps=2, bad=2), [
        ('consent', 0, 0, 0, 2, ()), ('consent', 0, 0, 2, 2, ()), ('decided', 0, 0, ('out', 2, ())),
        ('entry', 0, 2, 0, None), ('enter', 0, 0, None, 1, 0), ('enter', 0, 2, None, 0, 1), ('enter', 0, 0, None, 2, 0),
        ('entry', full, 2, 0, None), ('consent', full, 0, 1, 1, ()), ('consent', full, 0, 2, 1, ()),
        ('decided', full, 0, ('out', 1, ())), ('enter', full, 1, None, 1, 1)]),
}


# ---- paxos: one instance ---------------------------------------------------------------------------------------------
# Records: ('promise',r,x,accepted) ('propose',r,value) ('accept',r,x,value); accepted: None or (round, value).
class Paxos:
    n, rounds, bad, cap = 3, 2, None, 10 ** 7
    reports, refuses_lower, bound_to_reports, more_than_half = 1, 1, 1, 1

    def __init__(self, **options):
        for key, value in options.items():
            if not hasattr(Paxos, key):
                sys.exit(f'no such option: {key}')
            setattr(self, key, value)
        self.most = self.n // 2 + 1 if self.more_than_half else (self.n + 1) // 2

    def at_fault(self, state, x):
        """Whether x has signed two of these records that exclude each other."""
        promises = [(r[1], r[3]) for r in state if r[0] == 'promise' and r[2] == x]
        accepts = [(r[1], r[3]) for r in state if r[0] == 'accept' and r[2] == x]
        proposals = [r[1] for r in state if r[0] == 'propose' and r[1] % self.n == x]
        if any(len({r for r, _ in of}) < len(of) for of in (promises, accepts)) or len(set(proposals)) < len(proposals):
            return True
        return any(r1 < r2 and (a is None or a[0] < r1 or a[0] == r1 and a[1] != u)
                   for r1, u in accepts for r2, a in promises)

    def next(self, state):
        proposed = {(r[1], r[2]) for r in state if r[0] == 'propose'}
        for x in range(self.n):
            mine = [r for r in state if r[0] != 'propose' and r[2] == x]
            accepts = [(r[1], r[3]) for r in mine if r[0] == 'accept']
            top = max([r[1] for r in mine] + [-1])
            if x == self.bad:
                for r in range(self.rounds):
                    for a in [None] + [p for p in proposed if p[0] < r]:
                        yield 'promise', r, x, a
                for r, u in proposed:
                    yield 'accept', r, x, u
                continue
            for r in range(top + 1, self.rounds):
                yield 'promise', r, x, max(accepts, default=None) if self.reports else None
            for r, u in proposed:
                if (r >= top or not self.refuses_lower) and all(at != r for at, _ in accepts):
                    yield 'accept', r, x, u
        for r in range(self.rounds):
            if r % self.n != self.bad and any(p[0] == r for p in proposed):
                continue
            promises = [p for p in state if p[0] == 'promise' and p[1] == r]
            for quorum in itertools.combinations(promises, self.most):
                if len({p[2] for p in quorum}) == self.most:
                    high = max((p[3] for p in quorum if p[3] is not None), default=None)
                    for u in (0, 1) if high is None or not self.bound_to_reports else (high[1],):
                        yield 'propose', r, u

    def search(self):
        start, count, first = frozenset(), Counter(), {}
        seen, queue = {start}, deque([start])
        while queue:
            state = queue.popleft()
            count['states'] += 1
            votes = Counter((r[1], r[3]) for r in state if r[0] == 'accept')
            decided = {u for (_, u), votes in votes.items() if votes >= self.most}
            found = None
            if self.bad is not None and self.at_fault(state, self.bad):
                found = 'evidence'
            elif len(decided) > 1:
                found = 'two decisions'
            elif any(self.at_fault(state, x) for x in range(self.n) if x != self.bad):
                found = 'honest party blamed'
            if found:
                count[found] += 1
                if found != 'evidence':
                    first.setdefault(found, state)
                continue
            count['decided'] += bool(decided)
            for record in self.next(state):
                new = state | {record}
                if new not in seen:
                    seen.add(new)
                    queue.append(new)
            if count['states'] >= self.cap:
                count['not explored'] = len(queue)
                break
        return count, first


# ---- runs: the machine, statement by statement -----------------------------------------------------------------------
# `Step` is protocol/src/membership/step.rs with sign.rs and evidence.rs, `Membership` is mod.rs, `Seat` is what the
# table around them does. Statements and entries are named by numbers that stand for their hashes.
Statement = collections.namedtuple('Statement', 'step parent instance seat release says')
Entry = collections.namedtuple('Entry', 'step parent seat variant names release')
ROUND, LONGEST, CALLED, BREAK = 3, 11, 2, 10
NAMES = {}


def name(record):
    return NAMES.setdefault(record, len(NAMES) + 1)


def out_name(step, parent):
    """What acks name where the leader is removed without an entry."""
    return name(('out', step, parent))


def exclude(one, other):
    """Whether an honest seat signs at most one of the two."""
    if one == other or (one.step, one.seat) != (other.step, other.seat):
        return False
    return one.parent != other.parent or _exclude(one, other) or _exclude(other, one)


def _exclude(one, other):
    a, b, same = one.says, other.says, one.instance == other.instance
    kinds = a[0], b[0]
    if kinds == ('consent', 'consent'):
        return same and a[1] == b[1] and a[2] != b[2]
    if kinds == ('veto', 'veto'):
        return a[1] == b[1] and a[2] != b[2]
    if kinds == ('veto', 'consent'):
        return other.instance >= one.instance and b[1] >> a[1] & 1 and (a[1], a[2]) not in b[2]
    if kinds in (('promise', 'promise'), ('propose', 'propose'), ('accept', 'accept')):
        return same and a[1] == b[1] and a != b
    if kinds == ('accept', 'promise'):
        forgets = b[2] is None or b[2][0] < a[1] or b[2][0] == a[1] and b[2][1] != a[2]
        return same and b[1] > a[1] and forgets
    return False


class Step:
    """The removal statements of one step, as one seat holds them, and what follows from them."""

    def __init__(self, cfg, step, parent, me, seats):
        self.cfg, self.step, self.parent, self.me, self.seats = cfg, step, parent, me, seats
        self.decided, self.outcome, self.entered, self.consented_at = [], None, None, {}
        self.named, self.consents_, self.vetoes, self.releases = {}, [], {}, {}
        self.promises_, self.proposals_, self.accepts = {}, {}, {}
        self.memo = {}

    def remember(self, what, known, compute):
        """The same statements and entries give the same answer: computed once."""
        key = what, len(self.named), len(self.decided), tuple(known.items())
        if self.memo.get(what, (None,))[0] != key:
            self.memo[what] = key, compute(known)
        return self.memo[what][1]

    def instance(self):
        return len(self.decided)

    def live(self, j):
        live = self.seats
        for value, _ in self.decided[:j]:
            if value[0] == 'out':
                live &= ~value[1]
        return live

    def fixed(self):
        fixed = {}
        for value, _ in self.decided:
            for T, e in value[2] if value[0] == 'out' else [value[1:]]:
                fixed.setdefault(T, e)
        return fixed

    def insert(self, s):
        """Takes a statement if there is a place for it; whether it is new."""
        says, j, x, n = s.says, s.instance, s.seat, name(s)
        kind = says[0]
        if n in self.named or not self.seats >> x & 1 or j > self.instance() + 1:
            return False
        if kind in ('promise', 'propose', 'accept'):
            own = self.own_round(j)
            of = {'promise': self.promises_, 'propose': self.proposals_, 'accept': self.accepts}[kind]
            near = says[1] <= (0 if own is None else own + 1)
            # A release may name another proposal of what is decided here, of whatever round.
            decided = kind == 'propose' and j < self.instance() and says[2] == self.decided[j][0] and self.cfg.far_rounds
            if not near and not decided or (j, says[1], x) in of:
                return False
            of[j, says[1], x] = (n,) + says[2:]
        elif kind == 'consent':
            S, E = says[1], says[2]
            if S >> x & 1 or not all(S >> T & 1 for T, _ in E) or len(E) >= size(S):
                return False
            if any((i, q, R) == (j, x, S) for _, q, i, R, _ in self.consents_):
                return False
            self.consents_.append((n, x, j, S, E))
        elif kind == 'veto':
            if says[1] == x or (x, says[1]) in self.vetoes:
                return False
            self.vetoes[x, says[1]] = (n, j, says[2])
        else:
            self.releases.setdefault(x, []).append((n, s))
        self.named[n] = s
        return True

    # Consents and vetoes.

    def consents(self, j, known):
        """The consents of an instance that name whom they may and stand on entries at hand."""
        for consent in self.consents_:
            if consent[2] == j and self.can_remove(consent) and all(known.get(T) == e for T, e in consent[4]):
                yield consent

    def can_remove(self, consent):
        """Whether a consent names whom it may, so that a removal can come of it."""
        _, x, j, S, _ = consent
        live = self.live(j)
        return live >> x & 1 and self.cfg.whole(live, S) and self.cfg.majority(live, live & ~S)

    def own_consents(self):
        return [c for c in self.consents_ if c[1] == self.me]

    def releasing(self, consent, known):
        """The vetoes by which one seat that stays releases a consent."""
        _, x, j, S, _ = consent
        for q in bits(self.live(j) & ~S & ~(1 << x)):
            vetoes = [self.vetoes.get((q, T)) for T in bits(S)]
            fits = all(v and v[1] <= j and known.get(T) == v[2] for v, T in zip(vetoes, bits(S)))
            if fits:
                return tuple(v[0] for v in vetoes)
        return None

    def reason(self, consent, known):
        """Why a consent binds its signer no more, if it does not."""
        _, _, j, S, _ = consent
        if j < len(self.decided):
            value, proposal = self.decided[j]
            if not (value[0] == 'out' and S & ~value[1] == 0):
                return 'decision', proposal
        vetoes = self.releasing(consent, known)
        return ('vetoes', vetoes) if vetoes else None

    def binding(self, known):
        return self.remember('binding', known, self.compute_binding)

    def compute_binding(self, known):
        return [c for c in self.own_consents() if c[2] == self.instance() and self.releasing(c, known) is None]

    def holds_back(self, T, e, known):
        return any(c[3] >> T & 1 and (T, e) not in c[4] for c in self.binding(known))

    # Values and their decision.

    def values(self, known):
        return self.remember('values', known, self.compute_values)

    def compute_values(self, known):
        j, by_set, lacking = self.instance(), {}, 0
        live = self.live(j)
        for _, x, _, S, E in self.consents(j, known):
            signers, union = by_set.setdefault(S, [0, {}])
            by_set[S][0] = signers | 1 << x
            union.update(E)
            lacking |= sum(1 << T for T in bits(S) if T not in dict(E))
        kept = {value[1] for value, _ in self.decided if value[0] == 'keep'}
        keep = [('keep', T, known[T]) for T in bits(lacking) if T not in kept and T in known]
        out = [('out', S, tuple(sorted(union.items()))) for S, (signers, union) in by_set.items()
               if live & ~S & ~signers == 0]
        return (keep if self.cfg.keep else []) + sorted(out, key=lambda v: (size(v[1]), v[1]))

    def proposer(self, j, r):
        parties = self.cfg.among(self.live(j))
        return bits(parties[r % len(parties)])[0] if parties else None

    def promised(self, j, x):
        return max((r for i, r, q in self.promises_ if (i, q) == (j, x)), default=None)

    def accepted(self, j, x):
        return max(((r, a[1]) for (i, r, q), a in self.accepts.items() if (i, q) == (j, x)), default=None)

    def own_round(self, j):
        both = [self.promised(j, self.me), (self.accepted(j, self.me) or (None,))[0]]
        return max((r for r in both if r is not None), default=None)

    def proposals(self, known):
        """The proposals of the open instance that follow from what they name: name to (round, value)."""
        return self.remember('proposals', known, self.compute_proposals)

    def compute_proposals(self, known):
        j, sound = self.instance(), {}
        valid, live = None, self.live(j)
        for (i, r, x), (n, value, promises) in sorted(self.proposals_.items()):
            if i != j or self.proposer(j, r) != x:
                continue
            reports = [self.promise(j, r, p, sound) for p in promises]
            if None in reports or not self.cfg.majority(live, sum({1 << q for q, _ in reports})):
                continue
            high = max((at for _, at in reports if at), default=None)
            if high is None and valid is None:
                valid = self.values(known)
            if high[1] == value if high else value in valid:
                sound[n] = (r, value)
        return sound

    def promise(self, j, r, n, sound):
        """Who signed a promise, and the (round, value) that it reports; None if it is none that a proposal can use."""
        s = self.named.get(n)
        if s is None or s.says[0] != 'promise' or (s.instance, s.says[1]) != (j, r):
            return None
        if s.says[2] is None:
            return s.seat, None
        at, proposal = s.says[2]
        if sound.get(proposal, (None,))[0] != at or at >= r:
            return None
        return s.seat, sound[proposal]

    def settle(self, known):
        """Takes note of the decisions that the statements make; how many are new."""
        before = len(self.decided)
        while self.accepts:
            j = self.instance()
            for n, (r, value) in self.proposals(known).items():
                voters = sum(1 << x for (i, at, x), a in self.accepts.items() if (i, at) == (j, r) and a[1] == n)
                if self.cfg.majority(self.live(j), voters & self.live(j)):
                    self.decided.append((value, n))
                    break
            else:
                break
        return self.decided[before:]

    def last_release(self, x):
        return max(self.releases.get(x, []), key=lambda r: (len(r[1].says[1]), r[0]), default=(None, None))[0]

    # What this seat signs next.

    def next(self, view):
        j = self.instance()
        if not self.live(j) >> self.me & 1:
            return None
        known = view.acceptable if self.outcome is None else self.outcome[1]
        release = self.next_release(known)
        if release:
            return j, release
        veto = self.next_veto(view, known)
        if veto:
            return veto
        says = (self.next_accept(known) or self.next_proposal(known) or self.next_promise(view, known)
                or self.next_consent(view))
        return (j, says) if says else None

    def next_release(self, known):
        last = self.last_release(self.me)
        given = dict(self.named[last].says[1]) if last else {}
        reasons = [(c[0], given.get(c[0]) or self.reason(c, known)) for c in self.own_consents()]
        reasons = tuple(r for r in reasons if r[1])
        return ('release', reasons) if len(reasons) > len(given) else None

    def next_veto(self, view, known):
        counted, since = (view.counted, self.instance()) if self.outcome is None else (self.outcome[1], self.outcome[0])
        for j in range(since, self.instance() + 1):
            for _, x, _, S, _ in self.consents(j, known):
                for T in bits(S) if x != self.me else []:
                    if T == self.me or T not in counted or (self.me, T) in self.vetoes:
                        continue
                    own = [c for c in self.own_consents() if c[2] >= j and c[3] >> T & 1]
                    if all((T, counted[T]) in c[4] for c in own):
                        return j, ('veto', T, counted[T])
        return None

    def next_accept(self, known):
        j = self.instance()
        least = self.own_round(j) or 0
        for n, (r, _) in sorted(self.proposals(known).items(), key=lambda p: p[1][0]):
            if r >= least and (j, r, self.me) not in self.accepts:
                return 'accept', r, n
        return None

    def next_proposal(self, known):
        j = self.instance()
        r, live = self.promised(j, self.me), self.live(j)
        if r is None or self.proposer(j, r) != self.me or (j, r, self.me) in self.proposals_:
            return None
        sound = self.proposals(known)
        names, signers, high = [], 0, None
        for x in bits(live):
            n = self.promises_.get((j, r, x), (None,))[0]
            report = self.promise(j, r, n, sound) if n else None
            if report:
                names.append(n)
                signers |= 1 << x
                high = max(filter(None, (high, report[1])), default=None)
        own = self.values(known)
        if not self.cfg.majority(live, signers) or not (high or own):
            return None
        return 'propose', r, high[1] if high else own[0], tuple(names)

    def next_promise(self, view, known):
        j = self.instance()
        own, live = self.own_round(j), self.live(j)
        needs = self.outcome is None and bool(self.binding(known))
        if self.outcome is not None and not view.cfg.stays_acceptor:
            return None
        r = 0 if own is None else own + 1
        others = live & ~self.cfg.party[self.me]
        callers = len({self.cfg.party[x] for i, at, x in self.promises_ if (i, at) == (j, r) and others >> x & 1})
        if own is None:
            due = callers > 0 or (needs and self.values(known))
        else:
            # One party alone may be dishonest, and call away from every round.
            due = callers > 1 or (callers > 0 and self.has_lasted(own, CALLED, view.now)) \
                or (needs and self.has_lasted(own, LONGEST, view.now))
        if not due:
            return None
        return 'promise', r, self.accepted(j, self.me)

    def has_lasted(self, r, longest, now):
        entered = self.entered
        return bool(entered) and entered[:2] == (self.instance(), r) and now - entered[2] > ROUND << min(r, longest)

    def next_consent(self, view):
        if self.outcome is not None:
            return None
        j, cfg = self.instance(), self.cfg
        live = self.live(j)
        missing = [T for T in bits(view.removable & live & ~cfg.party[self.me]) if T not in view.counted]
        singles = [cfg.party[T] & live for T in missing]
        groups = [self.group(view, live, S) for S in singles] if view.cfg.group_consents else []
        for S in singles + [S for S in groups if S]:
            if not cfg.majority(live, live & ~S) or any(c[1:4] == (self.me, j, S) for c in self.consents_):
                continue
            E = tuple((T, view.counted[T]) for T in bits(S) if T in view.counted)
            # Nobody honest takes a veto or an ack back.
            bound = [T for T in bits(S) if (self.me, T) in self.vetoes] + view.acknowledged()
            if all(T in dict(E) for T in bound if S >> T & 1) and len(E) < size(S):
                return 'consent', S, E
        return None

    def group(self, view, live, single):
        """A party with those that are silent and have not consented to its removal for a whole timeout."""
        j = self.instance()
        since = self.consented_at.get((j, single))
        if since is None or view.now - since < view.absence:
            return None
        agreed = {c[1] for c in self.consents_ if c[2:4] == (j, single)}
        silent = sum(1 << x for x in bits(view.silent & live & ~single & ~(1 << self.me)) if x not in agreed)
        S = single
        for x in bits(silent):
            party = self.cfg.party[x] & live
            if party & ~silent == 0:
                S |= party
        return S if S != single else None

    # What a record is worth beside the consents of its signer: 'free', 'waits' or 'forbidden'.

    def next_record(self, later, x, release):
        """A record of the step after this one, which is complete here."""
        if self.outcome is None:
            return 'free'
        removed = self.outcome[2]
        forbidden = [c for c in self.consents_ if c[1] == x and c[3] & ~removed]
        return self.standing(forbidden, later, release, self.outcome[1])

    def entry(self, x, names, release, known):
        """An entry of this step that names other seats' entries."""
        # What a decision counts, its consents do not forbid.
        fixed = self.fixed() if self.cfg.fixed_acks else {}
        bars = lambda c: any(c[3] >> T & 1 and (T, e) not in c[4] and fixed.get(T) != e for T, e in names)
        return self.standing([c for c in self.consents_ if c[1] == x and bars(c)], self, release, known)

    def standing(self, consents, later, release, known):
        worst = 'free'
        for consent in filter(self.can_remove, consents):
            reason = self.account(consent, later, release)
            if reason in ('waits', 'forbidden'):
                return reason
            if not self.holds(consent, reason, known):
                worst = 'waits'
        return worst

    def account(self, consent, later, release):
        # A release names the one before it, in its own step or the step before.
        for _ in range(self.cfg.chain):
            if release is None:
                return 'forbidden'
            s = later.named.get(release) or self.named.get(release)
            if s is None:
                return 'waits'
            if s.says[0] != 'release' or s.seat != consent[1]:
                return 'forbidden'
            if consent[0] in dict(s.says[1]):
                return dict(s.says[1])[consent[0]]
            release = s.release
        return 'forbidden'

    def holds(self, consent, reason, known):
        _, x, j, S, _ = consent
        if reason[0] == 'vetoes':
            for q in bits(self.live(j) & ~S & ~(1 << x)):
                vetoes = [(T, self.vetoes.get((q, T))) for T in bits(S)]
                if all(v and v[1] <= j and known.get(T) == v[2] and v[0] in reason[1] for T, v in vetoes):
                    return True
            return False
        named = self.named.get(reason[1])
        if j >= len(self.decided) or named is None or named.says[0] != 'propose' or named.instance != j:
            return False
        value, proposal = self.decided[j]
        # Majorities for one value may have accepted it in different rounds.
        same = named.says[2] == value if self.cfg.any_proposal else reason[1] == proposal
        return same and not (value[0] == 'out' and S & ~value[1] == 0)


class Membership:
    """The removals of a table, as one seat sees them."""

    def __init__(self, cfg, step, parent, me, seats):
        self.cfg, self.open, self.past = cfg, Step(cfg, step, parent, me, seats), {}

    def handle(self, s, view):
        """Takes a statement, or none, and says what to do.

        ('keep',s) ('sign',s) ('decided',value) ('removed',) ('conflict',a,b) ('forbidden',s)"""
        effects = []
        if s is not None:
            self.take(s, view, effects)
        effects += [('decided', value) for value, _ in self.open.settle(view.acceptable)]
        for step in self.past.values():
            if step.named:
                new = step.settle(step.outcome[1])
                effects += [('removed',) for value, _ in new if value[0] == 'out' and value[1] >> step.me & 1]
        past = [step for _, step in sorted(self.past.items()) if step.named]
        # Earlier steps first: what is signed in a step names the release of what bound its signer before.
        for step in past + [self.open]:
            says = step.next(view)
            release = self.release(step.step)
            if says and self.record(step.step, step.me, release) == 'free':
                effects.append(('sign', Statement(step.step, step.parent, says[0], step.me, release, says[1])))
                break
        return effects

    def take(self, s, view, effects):
        step = self.at(s.step)
        if step is None:
            return
        if s.step < self.open.step - 1 and s.says[0] != 'consent' and s.seat != self.open.me:
            return
        for held in step.named.values():
            if exclude(held, s):
                effects.append(('conflict', held, s))
                return
        if s.parent != step.parent:
            return
        standing = self.record(s.step, s.seat, s.release)
        if standing != 'free':
            if standing == 'forbidden':
                effects.append(('forbidden', s))
            return
        if not step.insert(s):
            return
        if s.seat == step.me:
            kind, place = s.says[0], (s.instance, s.says[1])
            if kind in ('promise', 'accept') and (step.entered is None or step.entered[:2] < place):
                step.entered = place + (view.now,)
            if kind == 'consent':
                step.consented_at[s.instance, s.says[1]] = view.now
        effects.append(('keep', s))

    def at(self, step):
        return self.open if step == self.open.step else self.past.get(step)

    def record(self, step, x, release):
        before, at = self.past.get(step - 1), self.at(step)
        return before.next_record(at, x, release) if before and at else 'free'

    def entry(self, x, names, release, known):
        standing = self.record(self.open.step, x, release)
        return self.open.entry(x, names, release, known) if standing == 'free' else standing

    def release(self, step):
        here = self.at(step).last_release(self.open.me)
        before = self.past.get(step - 1)
        return here or (before.last_release(self.open.me) if before else None)

    def complete(self, entries, removed, parent, seats):
        done = self.open
        done.outcome = (done.instance(), entries, removed)
        self.past[done.step] = done
        self.open = Step(self.cfg, done.step + 1, parent, done.me, seats)

    def statements(self):
        return [s for step in [*self.past.values(), self.open] for s in step.named.values()]


class Seat:
    """A seat that signs, counts, crashes and comes back."""

    def __init__(self, run, me):
        self.run, self.cfg, self.me = run, run.cfg, me
        self.membership = Membership(run.cfg, 0, 0, me, run.cfg.all)
        self.entries, self.journal, self.log, self.done = {}, set(), [], []
        self.removed, self.up, self.stale = False, True, True
        self.due, self.heard = {}, [0] * run.cfg.n
        self.contact, self.last, self.since, self.counted, self.acceptable = 0, 0, 0, {}, {}
        self.removable, self.silent, self.now, self.absence = 0, 0, 0, run.absence

    def leader(self):
        lead = self.membership.open.step % self.cfg.n
        return lead if self.run.lead and self.membership.open.seats >> lead & 1 else None

    def leader_gone(self):
        step, lead = self.membership.open, self.leader()
        return not step.live(step.instance()) >> lead & 1 and lead not in step.fixed()

    def look(self):
        """Which entries would count if no own consent held them back, and which count. What counts stays counted."""
        step, lead = self.membership.open, self.leader()
        fixed, live, out = step.fixed(), step.live(step.instance()), out_name(step.step, step.parent)
        for x in sorted(self.entries, key=lambda x: x != lead):
            entry = self.entries[x]
            n, names = name(entry), []
            if fixed.get(x, n) != n or not live >> x & 1 and x not in fixed:
                continue
            if lead is not None and x != lead and entry.names != out:
                names = [(lead, entry.names)]
            if x not in self.acceptable:
                stands = self.acceptable if self.cfg.by_content else self.counted
                if lead is not None and x != lead and (entry.names == out) != self.leader_gone():
                    continue
                if any(stands.get(T) != e for T, e in names):
                    continue
                standing = self.membership.entry(x, names, entry.release, self.acceptable)
                if x != self.me and standing != 'free':
                    if standing == 'forbidden':
                        self.run.forbidden(self, entry)
                    continue
                self.acceptable[x] = n
            named = all(self.counted.get(T) == e for T, e in names)
            if named and (x == self.me or not step.holds_back(x, n, self.acceptable)):
                self.counted[x] = n

    def forget(self):
        """Judges all entries of the open step again."""
        self.acceptable, self.counted = {}, {}

    def missing(self):
        step, lead = self.membership.open, self.leader()
        missing = [x for x in bits(step.live(step.instance())) if x != self.me and x not in self.counted]
        return [lead] if lead in missing else missing

    def acknowledged(self):
        """The leader, if this seat's entry names its entry."""
        mine, step, lead = self.entries.get(self.me), self.membership.open, self.leader()
        named = mine is not None and mine.names not in (None, out_name(step.step, step.parent))
        return [lead] if named and self.cfg.ack_binds else []

    def finished(self):
        return len(self.done) >= self.run.steps

    def clocks(self):
        missing = [] if self.finished() else self.missing()
        self.due = {x: self.due.get(x, self.now) for x in missing}
        calm = self.now - self.last <= BREAK and self.now - self.contact >= min(self.absence, 120)
        late = [x for x, since in self.due.items() if self.now - max(since, self.heard[x]) > self.absence]
        self.removable = sum(1 << x for x in late) if calm else 0
        self.silent = sum(1 << x for x in range(self.cfg.n) if self.now - self.heard[x] > self.absence)

    def react(self, inputs=()):
        """Signs, counts and completes until nothing moves."""
        inputs, moved = list(inputs), True
        while True:
            if moved:
                self.look()
                self.clocks()
            s = inputs.pop() if inputs else None
            effects = [] if self.removed else self.membership.handle(s, self)
            moved = bool(effects)
            for effect in effects:
                if effect[0] == 'keep':
                    self.stale = True
                elif effect[0] == 'sign':
                    self.keep_entries()
                    self.run.signed.append(effect[1])
                    inputs.append(effect[1])
                elif effect[0] == 'decided':
                    self.run.check_consent(self, effect[1])
                    if effect[1][0] == 'out':
                        # Acks of a leader's lost entry count no more.
                        self.forget()
                    self.removed |= effect[1][0] == 'out' and bool(effect[1][1] >> self.me & 1)
                elif effect[0] == 'removed':
                    self.removed = True
                elif effect[0] == 'conflict':
                    self.run.convict(effect[1].seat)
                else:
                    self.run.forbidden(self, effect[1])
            if not effects and s is None and not inputs:
                # An entry names the release of what bound its signer before: it is signed last.
                if self.removed or self.finished() or not (self.sign_entry() or self.complete()):
                    return
                moved = True

    def keep_entries(self):
        """Journal, then send: all entries on which a statement may stand."""
        self.journal |= {x for x in self.acceptable if name(self.entries[x]) == self.acceptable[x]}

    def sign_entry(self):
        step, lead = self.membership.open, self.leader()
        if self.me in self.entries or not step.live(step.instance()) >> self.me & 1 or self.now < self.run.ready(self):
            return False
        names = None
        if lead not in (None, self.me):
            names = out_name(step.step, step.parent) if self.leader_gone() else self.counted.get(lead)
            if names is None:
                return False
        entry = Entry(step.step, step.parent, self.me, 0, names, self.membership.release(step.step))
        self.entries[self.me] = entry
        self.run.entered.append(entry)
        self.keep_entries()
        self.journal.add(self.me)
        self.stale = True
        return True

    def complete(self):
        step = self.membership.open
        live, fixed = step.live(step.instance()), step.fixed()
        whole = all(x in self.counted for x in [*bits(live), *fixed])
        if not whole or step.binding(self.acceptable) and self.cfg.binds:
            return False
        removed = step.live(0) & ~live
        entries = {x: n for x, n in self.counted.items() if live >> x & 1 or x in fixed}
        parent = name(('step', step.parent, tuple(sorted(entries.items())), removed))
        self.log += [self.entries[x] for x in entries]
        self.done.append((removed, tuple(sorted(entries.items()))))
        self.membership.complete(entries, removed, parent, live)
        self.entries, self.journal, self.due, self.since, self.stale = {}, set(), {}, self.now, True
        self.forget()
        return True

    def receive(self, sender, items):
        self.now = self.run.now
        if self.now - self.last > BREAK:
            self.contact = self.now
        self.last = self.heard[sender] = self.now
        inputs, entries = [], 0
        for item in items:
            step = self.membership.at(item.step)
            if isinstance(item, Statement):
                if step is not None and name(item) not in step.named:
                    inputs.append(item)
            elif step is self.membership.open and item.parent == step.parent:
                held = self.entries.get(item.seat)
                if held is not None and held != item:
                    self.run.convict(item.seat)
                elif held is None:
                    self.entries[item.seat] = item
                    self.heard[item.seat] = self.now
                    entries += 1
        if inputs or entries:
            self.react(inputs)
        for item in inputs:
            step = self.membership.at(item.step)
            if step is not None and name(item) in step.named:
                self.heard[item.seat] = self.now

    def crash(self):
        self.up = False

    def comes_back(self):
        """Replays the journal: its statements and those of others, and the entries that were kept."""
        self.up, self.now = True, self.run.now
        step = self.membership.open
        self.entries = {x: e for x, e in self.entries.items() if x in self.journal}
        self.acceptable = {x: n for x, n in self.acceptable.items() if x in self.journal}
        self.counted = {x: n for x, n in self.counted.items() if x in self.journal}
        step.consented_at = {place: self.now for place in step.consented_at}
        step.entered = step.entered and step.entered[:2] + (self.now,)
        self.contact = self.last = self.now
        if not self.cfg.journals:
            fresh = Step(self.cfg, step.step, step.parent, self.me, step.seats)
            for s in step.named.values():
                if s.seat != self.me:
                    fresh.insert(s)
            self.membership.open = fresh
            self.entries.pop(self.me, None)
            self.forget()
        self.react()

    def holds(self):
        return self.log + list(self.entries.values()) + self.membership.statements()


class RunConfig(Config):
    n, steps, groups, bad = 0, 2, 1, 0
    keep = group_consents = any_proposal = stays_acceptor = journals = 1
    chain, far_rounds, by_content, ack_binds = 2 * 24 + 1, 1, 1, 1


class Violation(Exception):
    pass


class Run:
    """One table in virtual time, drawn from one number."""

    def __init__(self, options, seed):
        NAMES.clear()
        NAMES['genesis'] = 1
        g = self.rng = random.Random(seed)
        bad = options.get('bad', 0)
        n = options.get('n') or g.randint(3, 6)
        parties = ''.join(map(str, range(n)))
        if n > 3 and not bad and g.random() < .3:
            joined = g.randrange(1, n)
            parties = parties[:joined] + str(joined - 1) + parties[joined + 1:]
        cheat = g.randrange(n) if bad else None
        self.cfg = RunConfig(**{**options, 'n': n, 'parties': parties, 'bad': cheat})
        self.now, self.steps, self.lead = 0, self.cfg.steps, g.random() < .4
        self.absence = g.choice([5, 20, 60])
        self.late = [[g.choice([0, 0, 0, 3, 10, 40]) for _ in range(self.steps)] for _ in range(n)]
        self.loss, self.heals = g.choice([0, .3, .7, .9]), g.choice([50, 150, 300])
        live = self.cfg.among(self.cfg.all)
        number = g.choice([0, 1, 1, 2]) if len(live) > 4 else g.choice([0, 1])
        self.gone = {p: g.uniform(0, 150) for p in g.sample(live, 0 if bad else number)}
        some = [g.uniform(0, 100) for _ in range(g.randint(0, 2))]
        self.cuts = [(g.choice(live), a, a + g.uniform(5, 150)) for a in some]
        some = [g.uniform(0, self.heals) for _ in range(g.choice([0, 0, 1, 2, 3]))]
        self.crashes = [(g.randrange(n), a, a + g.uniform(1, 60)) for a in some]
        self.cheats = sorted(g.uniform(0, 200) for _ in range(g.randint(1, 5))) if bad else []
        self.seats = [Seat(self, x) for x in range(n)]
        self.signed, self.entered, self.guilty = [], [], None

    def ready(self, seat):
        return seat.since + self.late[seat.me][len(seat.done)]

    def offline(self, x):
        return any(p >> x & 1 and a <= self.now < b for p, a, b in self.cuts)

    def convict(self, x):
        if x != self.cfg.bad:
            raise Violation('honest party blamed')
        self.guilty = x

    def forbidden(self, seat, record):
        if record.seat != self.cfg.bad:
            raise Violation('honest record forbidden')

    def check_consent(self, seat, value):
        """Every honest seat that stays has consented."""
        step = seat.membership.open
        live = step.live(step.instance() - 1)
        for x in bits(live & ~value[1]) if value[0] == 'out' else []:
            place = (step.step, step.instance() - 1, x, value[1])
            if x != self.cfg.bad and not any(
                    s.says[0] == 'consent' and (s.step, s.instance, s.seat, s.says[1]) == place for s in self.signed):
                raise Violation('removal without consent')

    def go(self, limit=2500):
        g, queue, cheats = self.rng, [], list(self.cheats)
        n, before = self.cfg.n, 0
        while self.now < limit and self.guilty is None:
            self.now += 1
            for seat in self.seats:
                seat.now = self.now
                if any(p >> seat.me & 1 and self.now >= at for p, at in self.gone.items()):
                    seat.up = False
                    continue
                down = any(x == seat.me and a <= self.now < b for x, a, b in self.crashes)
                if down:
                    seat.crash()
                    continue
                if not seat.up:
                    seat.comes_back()
                if seat.stale or self.now % 3 == 0:
                    seat.stale = False
                    seat.react()
                q = g.randrange(n)
                loss = self.loss if self.now < self.heals else .05
                if q == seat.me or g.random() < .4 or self.offline(seat.me) or self.offline(q):
                    continue
                slow = 15 if self.now < self.heals else 4
                items = [item for item in seat.holds() if g.random() >= loss]
                if g.random() >= loss:
                    queue.append((self.now + g.randint(1, slow), q, seat.me, []))
                g.shuffle(items)
                for part in (items[::2], items[1::2]):
                    if part:
                        queue.append((self.now + g.randint(1, slow), q, seat.me, part))
            while cheats and cheats[0] <= self.now:
                cheats.pop(0)
                self.cheat()
            for _, q, sender, items in [m for m in queue if m[0] <= self.now]:
                if self.seats[q].up and not self.offline(q) and self.guilty is None:
                    self.seats[q].receive(sender, items)
            queue = [m for m in queue if m[0] > self.now]
            if self.now % 5 == 0 and self.now > before and all(map(self.settled, self.seats)):
                break
        return self.judge()

    def present(self):
        gone = sum(self.gone) if self.gone else 0
        return self.cfg.all & ~gone

    def settled(self, seat):
        if not self.present() >> seat.me & 1 or seat.me == self.cfg.bad:
            return True
        if not seat.up:
            return False
        out = any(value[0] == 'out' and value[1] >> seat.me & 1 for other in self.seats if other.me != self.cfg.bad
                  for step in [*other.membership.past.values(), other.membership.open] for value, _ in step.decided)
        if seat.removed or out:
            return seat.removed
        step = seat.membership.open
        return seat.finished() or len(self.cfg.among(step.live(step.instance()))) <= 2

    def judge(self):
        """How the run has ended, or a Violation."""
        honest = [seat for seat in self.seats if seat.me != self.cfg.bad]
        mine = {}
        for s in self.signed:
            mine.setdefault((s.seat, s.step), []).append(s)
        for (x, _), of in mine.items():
            if x != self.cfg.bad and any(exclude(a, b) for a, b in itertools.combinations(of, 2)):
                raise Violation('honest party blamed')
        entries = Counter((e.step, e.seat) for e in set(self.entered))
        if any(number > 1 and x != self.cfg.bad for (_, x), number in entries.items()):
            raise Violation('honest party blamed')
        apart = any(parted(a.me, a.done, b.me, b.done) for a, b in itertools.combinations(honest, 2))
        if apart and not self.proven():
            raise Violation('fork')
        if apart or self.guilty is not None:
            return 'evidence'
        if all(map(self.settled, self.seats)):
            return 'finished'
        if self.cfg.bad is not None:
            return 'rests beside a cheat'
        waiting = [seat for seat in self.seats if not self.settled(seat)]
        removed = sum(1 << x for seat in self.seats for x in range(self.cfg.n)
                      for removed, _ in seat.done if removed >> x & 1)
        if all(removed >> seat.me & 1 for seat in waiting):
            raise Violation('removed without news')
        raise Violation('stuck')

    def proven(self):
        """Whether all that was signed, together, shows the cheat's fault."""
        bad = self.cfg.bad
        statements = [s for s in self.signed if s.seat == bad]
        entries = [e for e in set(self.entered) if e.seat == bad]
        if any(exclude(a, b) for a, b in itertools.combinations(statements, 2)):
            return True
        records = statements + entries
        if any(a.step == b.step and (a.parent != b.parent or a != b and not isinstance(b, Statement))
               for a in records for b in entries):
            return True
        removed_by = {}
        for seat in self.seats:
            parent = 0
            for removed, counted in seat.done:
                parent = name(('step', parent, counted, removed))
                removed_by[parent] = removed
        releases = {name(s): s for s in statements if s.says[0] == 'release'}
        for s in statements:
            for r in records if s.says[0] == 'consent' else []:
                on = r.step == s.step + 1 and s.says[1] & ~removed_by.get(r.parent, s.says[1])
                release, given = r.release, False
                while on and release in releases and not given:
                    given = name(s) in dict(releases[release].says[1])
                    release = releases[release].release
                if on and not given:
                    return True
        return False

    def cheat(self):
        """The cheat signs something and sends it to some."""
        g, seat = self.rng, self.seats[self.cfg.bad]
        step = g.choice([seat.membership.open, *seat.membership.past.values()])
        j, live = step.instance(), step.live(step.instance())
        others = [x for x in range(self.cfg.n) if x != seat.me]
        held = [e for e in seat.holds() if isinstance(e, Entry) and (e.step, e.parent) == (step.step, step.parent)]
        r, T = g.randrange(3), g.choice(others)
        entries = [name(e) for e in held if e.seat == T]
        lead = step.step % self.cfg.n
        led = [name(e) for e in held if e.seat == lead] if self.lead and lead != seat.me else [None]
        says = [('consent', 1 << T, ()), ('promise', r, None)]
        says += [('veto', T, e) for e in entries]
        says += [('accept', at, n[0]) for (i, at, _), n in step.proposals_.items() if i == j]
        if step.proposer(j, r) == seat.me:
            promises = tuple(n[0] for (i, at, x), n in sorted(step.promises_.items()) if (i, at) == (j, r))
            wanted = [('out', 1 << T, ())] + [('keep', T, e) for e in entries]
            says += [('propose', r, value, promises) for value in wanted]
        release = g.choice([None, seat.membership.release(step.step)])
        if g.random() < .3 and led:
            record = Entry(step.step, step.parent, seat.me, 1, led[0], release)
            self.entered.append(record)
        elif not live >> seat.me & 1:
            return
        else:
            record = Statement(step.step, step.parent, j, seat.me, release, g.choice(says))
            self.signed.append(record)
        for x in g.sample(others, g.randint(1, len(others))):
            if self.seats[x].up and not self.offline(x):
                self.seats[x].receive(seat.me, [record])


def search_runs(runs=300, seed=0, until_found=0, **options):
    count, first = Counter(), {}
    for number in range(seed, seed + runs):
        run = Run(options, number)
        try:
            end = run.go()
        except Violation as found:
            end = str(found)
            first.setdefault(end, [f'run {number}: python3 removal.py runs runs=1 seed={number}'])
        count[end] += 1
        steps = [step for seat in run.seats for step in [*seat.membership.past.values(), seat.membership.open]]
        decided = {(step.step, j, value) for step in steps for j, (value, _) in enumerate(step.decided)}
        count['kept'] += sum(value[0] == 'keep' for _, _, value in decided)
        count['removed'] += sum(size(value[1]) for _, _, value in decided if value[0] == 'out')
        count['groups'] += sum(value[0] == 'out' and len(run.cfg.among(value[1])) > 1 for _, _, value in decided)
        count['vetoes'] += len({s for s in run.signed if s.says[0] == 'veto'})
        if first and until_found:
            break
    return count, first


# ---- the suite -------------------------------------------------------------------------------------------------------
WRONG = ('fork', 'honest party blamed', 'honest record forbidden', 'removal without consent',
         'ack names a removed entry', 'then deadlock', 'then endless', 'two decisions', 'stuck', 'removed without news')


def violations(count):
    return sorted(k for k in count if k.split(':')[0] in WRONG)


def report(text, found, quiet=False):
    """Prints one search; whether it found no violation."""
    count, first = found
    bad = violations(count)
    tail = ', '.join(f'{n} {k}' for k, n in sorted(count.items(), key=lambda c: (c[0] != 'states', c[0])))
    print(f'{text:66} {tail}: {"VIOLATION" if bad else "no violation"}', flush=True)
    for kind in bad if not quiet else []:
        print('  ', kind)
        for r in sorted(first.get(kind, []), key=str):
            if r[0] == 'enter':
                print(f'      seat {r[2]} has completed {CHAINS[r[1]][0]}' if r[1] else f'      seat {r[2]} begins')
            else:
                print('     ', r)
    return not bad


def empty(text, count):
    """What makes a search of the suite worthless."""
    if count['not explored'] and 'first states' not in text:
        return 'NOT WHOLE'
    seen = count['with a removal'] or count['removed'] or count['decided']
    return '' if seen or 'first states' in text else 'NO REMOVAL'


# The searches of the suite: kind, text, options. The first ones are quick.
SUITE = [
    ('steps', '3 parties, one cheats', dict(n=3, bad=2, live=0, variants=1, targets=3)),
    ('steps', '4 seats of 3 parties, the two-seat party may consent', dict(n=4, parties='0012', targets=4)),
    ('steps', '4 parties, one may be absent, two instances', dict(n=4, targets=1, instances=2)),
    ('paxos', '3 acceptors, 2 rounds', {}),
    ('paxos', '3 acceptors, 2 rounds, one cheats', dict(bad=2)),
    ('steps', '3 parties', dict(n=3)),
    ('steps', '3 parties, leader and acks', dict(n=3, lead=1)),
    ('steps', '3 parties, two steps, one may be absent', dict(n=3, steps=2, instances=2, targets=1)),
    ('steps', '4 seats of 3 parties, the two-seat party may be absent', dict(n=4, parties='0012', targets=3)),
    ('steps', '4 parties, one may be absent, one cheats',
     dict(n=4, bad=3, cheats=3, targets=1, variants=1, live=0, cap=12000)),
    ('steps', '5 parties, a group (first states)', dict(n=5, groups=1, targets=3, live=0, cap=6000)),
    ('walks', '4 parties, one cheats, two steps, leader', dict(n=4, bad=3, cheats=3, steps=2, instances=3, lead=1)),
    ('walks', '5 parties, groups, two steps, leader', dict(n=5, groups=1, instances=3, steps=2, lead=1)),
    ('walks', '6 seats of 5 parties, groups, one cheats',
     dict(n=6, parties='001234', groups=1, bad=5, cheats=3, instances=2)),
    ('runs', '3 to 6 seats, loss, crashes, returns, absences', dict(runs=150)),
    ('runs', 'the same with a cheat', dict(runs=150, bad=1)),
]
QUICK = 5


def suite(searches):
    ok = True
    for kind, text, options in searches:
        if kind == 'steps':
            found = search_steps(Config(**options))
        elif kind == 'walks':
            found = walks(Config(**options), 60)
        elif kind == 'paxos':
            found = Paxos(**options).search()
        else:
            found = search_runs(**options)
        ok = report(f'{kind}: {text}', found) and ok
        worthless = empty(text, found[0])
        if worthless:
            print('  ', worthless)
            ok = False
    return ok


# Each breaks the rule in one way. The search named beside it has to find a violation.
PLANTED = {
    'a consent does not bind its signer': ('steps', dict(n=3, binds=0)),
    'a seat consents after its own veto': ('steps', dict(n=3, veto_binds=0)),
    'consents by a majority are enough': ('steps', dict(n=5, targets=1, unanimous=0, live=0)),
    'an ack may name an entry that the own consent bars': ('steps', dict(n=3, lead=1, ack_bound=0)),
    'there is no keep': ('steps', dict(n=3, keep=0)),
    'an ack of an entry that the decision counts needs a release': (
        'walks', dict(n=5, groups=1, instances=3, steps=2, lead=1, fixed_acks=0)),
    'a consent outlives its instance': ('script', 'per_instance'),
    'a veto by a member of the group releases': ('script', 'member_veto'),
    'a veto for one seat of a group releases': ('script', 'one_veto'),
    'a decision drops entries that consents count': ('script', 'union'),
    'a record need not name its release': ('script', 'name_release'),
    'a promise reports nothing': ('paxos', dict(reports=0)),
    'a seat accepts below its promise': ('paxos', dict(refuses_lower=0)),
    'a proposer ignores what promises report': ('paxos', dict(bound_to_reports=0)),
    'half of the parties decide': ('paxos', dict(n=4, more_than_half=0)),
    'statements are sent before they are in the journal': ('runs', dict(journals=0)),
    'there is no keep (runs)': ('runs', dict(keep=0)),
    'only one party is removed at a time': ('runs', dict(n=5, group_consents=0)),
    'a release names the one proposal that the reader holds as decided': ('runs', dict(any_proposal=0)),
    'who has completed the step joins no decision': ('runs', dict(stays_acceptor=0)),
    'an entry is known only if what it names counts': ('runs', dict(by_content=0)),
    'a proposal of a decided instance is refused for its round': ('runs', dict(far_rounds=0, seed=500)),
    'only four releases before the named one are looked up': ('runs', dict(chain=4)),
}


def planted(kinds=('steps', 'walks', 'script', 'paxos', 'runs')):
    ok = True
    for text, (kind, options) in PLANTED.items():
        if kind not in kinds:
            continue
        if kind == 'steps':
            count, _ = search_steps(Config(**{'cap': 4000, **options}))
        elif kind == 'walks':
            count, _ = walks(Config(**options), 150)
        elif kind == 'paxos':
            count, _ = Paxos(**{'cap': 60000, **options}).search()
        elif kind == 'runs':
            count, _ = search_runs(**{'runs': 400, 'until_found': 1, **options})
        else:
            given, script = SCRIPTS[options]
            broken = play(Config(**given, **{options: 1 - getattr(Config, options)}), script)
            right = play(Config(**given), script)
            count = Counter([broken])
            if right != 'evidence' and 'not allowed' not in right:
                count = Counter()
        found = violations(count)
        ok = ok and bool(found)
        print(f'{text:66} {kind}: {"found, " + ", ".join(found) if found else "NOT FOUND"}', flush=True)
    return ok


def main(args):
    start = time.time()
    kind = args[0] if args else ''
    options = {key: value if key == 'parties' else int(value) for key, value in (a.split('=') for a in args[1:])}
    if kind == 'steps':
        ok = report('steps', search_steps(Config(**options)))
    elif kind == 'walks':
        runs, seed = options.pop('runs', 100), options.pop('seed', 0)
        ok = report('walks', walks(Config(**options), runs, seed))
    elif kind == 'paxos':
        ok = report('paxos', Paxos(**options).search())
    elif kind == 'runs':
        ok = report('runs', search_runs(**options))
    elif kind == '--planted':
        ok = planted()
    elif kind == '--short':
        ok = suite(SUITE[:QUICK])
        ok = planted(('steps', 'script')) and ok
    elif kind:
        sys.exit(__doc__)
    else:
        ok = suite(SUITE)
    print(f'{"all as expected" if ok else "NOT AS EXPECTED"} ({time.time() - start:.0f} s)')
    return 0 if ok else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
