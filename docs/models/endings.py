#!/usr/bin/env python3
"""Reference model of two ways to end a table: claims of seats that came back, and tables that a fork has frozen.

It says in Python what docs/protocol.md says under "Abandonment", "After a proven fault" and "Coming back", and visits
every state of small tables. It shares no code with the product. removal.py is the model of removals.

    python3 endings.py               every search, whole: a minute or two
    python3 endings.py --short       the small ones: a second
    python3 endings.py --planted     breaks the rule in each way of PLANTED; each has to be found
    python3 endings.py n=2 steps=2 crashes=2

The rule. Each step takes an entry of every seat. A seat holds an entry, journals it, then sends it.
  claim    A seat present names the others absent if those present are no majority of the table, nobody present owes an
           entry, and it has signed its own entry of the open step, which the claim carries. It closes the table for its
           signers when all present have signed, and for those it names unless they are a majority.
  return   A seat that has come back signs no entry, fork report or ordinary claim before the others have told it what
           it had signed: all of them, or after `absence` a majority with itself. After `absence` it may sign a claim
           with an entry that it holds, never a new one. If it owes the entry, it closes the table for itself: unsigned,
           as unfinished, and keeps its journal.
  fork     A seat with a proof that another equivocates signs nothing but one fork report. All who hold the reports of
           all others go on from the last state that they share. After `absence` a seat that lacks reports may close the
           table for itself, with the proof in its file; it needs no other, because a fork may have parted those
           present, and keeps its journal.

What is searched: every state. Any record reaches any seat at any time, or never. A seat does nothing, or returns, at any
time: with its whole journal, or with that of before its last signature (an old disk) if the others hold what it lacks.
Timeouts fire at any time: a claim needs nobody's absence. A cheat signs entries, with any content at any place. In every
state each set of honest seats may be all that is left; they are prompt then, and `absence` passes.

Left out: what a majority does about absent seats (removal.py), turn times, and a finished game's result.

Violations: an honest seat has signed *two records for one place*; a *stuck* table: seats that are left, no majority or
frozen by a fork, and never end; *two places to go on* after one fork; a closed fork *without its culprit*."""
import itertools
import sys
import time
from collections import Counter, deque, namedtuple

# One seat's journal: its log (entries of each complete step), the entries of its open step, whether it holds a proof,
# its fork report, the reports and claims that it holds. An entry is (seat, content).
Disk = namedtuple('Disk', 'log held proof report reports claims')
# status: up, or how it has ended. Who is down is who does nothing.
# back: None, or the seats that have answered since its return. old: its journal before its last signature.
Seat = namedtuple('Seat', 'disk status back old')
ENDED = ('claimed', 'alone', 'frozen', 'on', 'finished')
EARLIER = 2


class Config:
    n, steps, crashes, bad, cheats = 2, 1, 1, None, 2
    # The rule. Each is explained at its place in PLANTED.
    held_only, returned_claims, alone, keeps_journal, owes = 1, 1, 1, 1, 1
    fork_closes, fork_alone, names, waits, all_report = 1, 1, 1, 1, 1

    def __init__(self, **options):
        for key, value in options.items():
            if not hasattr(type(self), key):
                sys.exit(f'no such option: {key}')
            setattr(self, key, value)

    def honest(self):
        return [x for x in range(self.n) if x != self.bad]

    def majority(self, number):
        return 2 * number > self.n


def begin(cfg):
    disk = Disk((), frozenset(), False, None, frozenset(), frozenset())
    return tuple(Seat(disk, 'up', None, disk) for _ in range(cfg.n)), frozenset(), 0


def edit(seat, **changes):
    return seat._replace(disk=seat.disk._replace(**changes))


def signs(seat, **changes):
    """Journal, then send."""
    return edit(seat, **changes)._replace(old=seat.disk)


def own(seat, x):
    return next((content for y, content in seat.disk.held if y == x), None)


def may_sign(cfg, seat):
    return seat.back is None


def sign_entry(cfg, net, seats, x):
    """An honest seat that has forgotten its entry signs another one: the worst that can happen."""
    seat = seats[x]
    log = seat.disk.log
    content = len([r for r in net if r[0] == 'entry' and r[1] == x and len(r[2]) == len(log)])
    return signs(seat, held=seat.disk.held | {(x, content)}), ('entry', x, log, content)


def settle(cfg, seat, x):
    """What a seat does at once: completes steps, notes a proof, goes on after a fork, accepts claims."""
    while seat.status == 'up':
        disk = seat.disk
        frozen = disk.report is not None and len(disk.report) < len(disk.log)
        if len(disk.held) == cfg.n and len(disk.log) < cfg.steps and not frozen:
            log = disk.log + (disk.held,)
            seat = edit(seat, log=log, held=frozenset(), claims=frozenset())
            if len(log) == cfg.steps and not disk.proof:
                return seat._replace(status='finished')
            continue
        if disk.report is not None:
            reports = dict(disk.reports) | {x: disk.report}
            needed = len(cfg.honest()) if cfg.all_report else 1
            if len(reports) >= needed:
                point = shared([reports[y] for y in sorted(reports)])
                if point is not None:
                    return edit(seat, log=point + ('on',))._replace(status='on')
        for absent in {claim[2] for claim in disk.claims}:
            present = set(range(cfg.n)) - absent
            signed = {claim[1] for claim in disk.claims if claim[2] == absent}
            if signed == present and not disk.proof and (x in present or not cfg.majority(len(absent))):
                return seat._replace(status='claimed')
        return seat
    return seat


def shared(logs):
    """The last state that all of these logs have passed, if none is too far beyond."""
    point = max(k for k in range(min(map(len, logs)) + 1) if len({log[:k] for log in logs}) == 1)
    return logs[0][:point] if all(len(log) - point <= EARLIER for log in logs) else None


def receive(cfg, seat, x, record):
    """A seat receives a record: its next state, the same if that changes nothing."""
    disk, kind = seat.disk, record[0]
    if seat.status != 'up':
        return seat
    if kind == 'entry':
        _, y, log, content = record
        if y == x and may_sign(cfg, seat):
            return seat
        k = len(log)
        mine = {c for z, c in (disk.log[k] if k < len(disk.log) else disk.held if k == len(disk.log) else ()) if z == y}
        same = k <= len(disk.log) and disk.log[:k] == log
        if y == cfg.bad and k <= len(disk.log) and (mine and mine != {content} or not same):
            # Two entries, or one over another log: with the one that counted here that is the proof.
            return settle(cfg, edit(seat, proof=True), x) if mine or not same else seat
        if k == len(disk.log) and same and not mine:
            return settle(cfg, edit(seat, held=disk.held | {(y, content)}), x)
    elif kind == 'proof' and not disk.proof:
        return settle(cfg, edit(seat, proof=True), x)
    elif kind == 'report' and disk.proof:
        _, y, log = record
        if y == x:
            return settle(cfg, edit(seat, report=log), x) if seat.back is not None and disk.report is None else seat
        return settle(cfg, edit(seat, reports=disk.reports | {(y, log)}), x)
    elif kind == 'claim':
        _, y, absent, log, content = record
        if log == disk.log and y != x:
            seat = edit(seat, claims=disk.claims | {record})
            return settle(cfg, edit(seat, held=seat.disk.held | {(y, content)}), x)
    return seat


def claims(cfg, seat, x):
    """The sets that a seat may call absent now."""
    disk = seat.disk
    if disk.proof or not (may_sign(cfg, seat) or cfg.returned_claims) or len(disk.log) == cfg.steps:
        return
    others = [y for y in range(cfg.n) if y != x]
    holds = {y for y, _ in disk.held} | (set() if cfg.held_only else {x})
    for number in range(1, cfg.n):
        for absent in itertools.combinations(others, number):
            present = set(range(cfg.n)) - set(absent)
            complete = present <= holds or not cfg.owes
            signed = any(claim[1:3] == (x, frozenset(absent)) for claim in disk.claims)
            if not cfg.majority(len(present)) and complete and not signed:
                yield frozenset(absent)


def timeouts(cfg, seats, net, x):
    """What `absence` lets a seat do: (kind, next state of the seat, record)."""
    seat = seats[x]
    disk = seat.disk
    for absent in claims(cfg, seat, x):
        content = own(seat, x)
        if content is None and cfg.held_only:
            continue
        if content is None:
            seat, record = sign_entry(cfg, net, seats, x)
            yield 'claims with a new entry', seat, record
            continue
        claim = 'claim', x, absent, disk.log, content
        yield 'claims', settle(cfg, signs(seat, claims=disk.claims | {claim}), x), claim
    if disk.proof and cfg.fork_closes and seat.status == 'up':
        frozen = disk.report is not None or seat.back is not None
        # A group of claims needs one place: every present seat's report has to name this one.
        alike = all(log == disk.log for _, log in disk.reports) and disk.reports
        if frozen and (cfg.fork_alone or alike):
            yield 'closes a fork', seat._replace(status='frozen' if cfg.names else 'alone'), None
    if seat.back is not None and own(seat, x) is None and cfg.alone and not disk.proof:
        yield 'closes alone', seat._replace(status='alone'), None


def actions(cfg, state):
    """(what, next state)."""
    seats, net, crashes = state

    def put(x, seat, record=None, crash=0):
        some = seats[:x] + (seat,) + seats[x + 1:]
        return some, net | {record} if record else net, crashes + crash
    for x in cfg.honest():
        seat = seats[x]
        disk = seat.disk
        if seat.status == 'up':
            if may_sign(cfg, seat):
                if not disk.proof and own(seat, x) is None and len(disk.log) < cfg.steps:
                    signed, record = sign_entry(cfg, net, seats, x)
                    yield ('signs', x), put(x, settle(cfg, signed, x), record)
                if disk.proof and disk.report is None:
                    signed = signs(seat, report=disk.log)
                    yield ('reports', x), put(x, settle(cfg, signed, x), ('report', x, disk.log))
            if disk.proof:
                yield ('shows the proof', x), put(x, seat, ('proof',))
            for kind, after, record in timeouts(cfg, seats, net, x):
                yield (kind, x), put(x, after, record)
            for record in net:
                after = receive(cfg, seat, x, record)
                if after != seat:
                    yield ('receives', x, record), put(x, after)
            if seat.back is not None:
                for y in cfg.honest():
                    if y != x and y not in seat.back:
                        yield ('is answered', x, y), put(x, answered(cfg, net, seats, x, y))
        if crashes < cfg.crashes and seat.status in ('up', 'alone', 'frozen'):
            disks = {disk, seat.old} if is_known(cfg, seats, x) else {disk}
            if seat.status != 'up' and not cfg.keeps_journal:
                disks = {begin(cfg)[0][x].disk}
            for kept in disks:
                back = None if seat.status != 'up' and not cfg.keeps_journal else frozenset()
                if not cfg.waits:
                    back = None
                yield ('returns', x), put(x, settle(cfg, Seat(kept, 'up', back, kept), x), crash=1)
    if cfg.bad is not None:
        signed = sum(r[0] == 'entry' and r[1] == cfg.bad for r in net)
        logs = {seats[x].disk.log for x in cfg.honest() if seats[x].status == 'up'}
        for log in logs if signed < cfg.cheats else ():
            for content in (0, 1):
                record = ('entry', cfg.bad, log, content)
                if len(log) < cfg.steps and record not in net:
                    yield ('cheats', cfg.bad), (seats, net | {record}, crashes)


def is_known(cfg, seats, x):
    """Whether all others hold what an old disk of x lacks of its own, and none of them has to ask. Otherwise none can
    tell it in time: a limit that docs/protocol.md names under "Coming back"."""
    disk, old = seats[x].disk, seats[x].old

    def mine(of, y):
        steps = list(enumerate([s for s in of.log if s != 'on'] + [of.held]))
        signed = {(k, content) for k, entries in steps for z, content in entries if z == x}
        report = of.report if x == y else dict(of.reports).get(x)
        return signed | ({report} if report is not None else set())
    lost = mine(disk, x) - mine(old, x)
    others = [seats[y] for y in cfg.honest() if y != x]
    return all(other.back is None for other in others) and all(
        lost <= mine(seats[y].disk, y) for y in cfg.honest() if y != x)


def answered(cfg, net, seats, x, y):
    """Seat y tells x what it holds of x's own records, and x adopts it."""
    seat, other = seats[x], seats[y].disk
    for k, entries in enumerate(other.log + (other.held,)):
        for z, content in entries if entries != 'on' else ():
            if z == x:
                seat = receive(cfg, seat, x, ('entry', x, other.log[:k], content))
    if other.proof:
        seat = receive(cfg, seat, x, ('proof',))
        for z, log in other.reports:
            if z == x:
                seat = receive(cfg, seat, x, ('report', x, log))
    if seat.back is None or seat.status != 'up':
        return seat
    # An answer counts once x holds all that y holds of it.
    ahead = [k for k, entries in enumerate(other.log + (other.held,)) if entries != 'on' for z, _ in entries if z == x]
    known = max(ahead, default=-1) < len(seat.disk.log) + (own(seat, x) is not None)
    back = seat.back | {y} if known else seat.back
    done = len(back) == cfg.n - 1 or cfg.majority(len(back) + 1)
    return seat._replace(back=None if done else back)


def wrong(cfg, state):
    """What is wrong in a state."""
    seats, net, _ = state
    for x in cfg.honest():
        entries = Counter(len(r[2]) for r in net if r[0] == 'entry' and r[1] == x)
        reports = [r for r in net if r[0] == 'report' and r[1] == x]
        places = Counter((r[2], len(r[3])) for r in net if r[0] == 'claim' and r[1] == x)
        if max(entries.values(), default=0) > 1 or len(reports) > 1 or max(places.values(), default=0) > 1:
            return 'two records for one place'
        if seats[x].disk.proof and seats[x].status == 'alone' and not cfg.names:
            return 'without its culprit'
    if len({seats[x].disk.log for x in cfg.honest() if seats[x].status == 'on'}) > 1:
        return 'two places to go on'
    return None


def rests(cfg, state, left):
    """Whether these seats alone, prompt and after `absence`, do not all end."""
    seats, net, _ = state
    proofs = any(seats[x].disk.proof for x in left)
    if cfg.majority(len(left)) and not proofs:
        return False  # A majority removes who is gone.
    for _ in range(60):
        before = seats, net
        for x in left:
            for y in left:
                if x != y:
                    other = seats[y].disk
                    sent = [('proof',)] if other.proof else []
                    steps = [s for s in other.log if s != 'on'] + [other.held]
                    sent += [('entry', z, other.log[:k], c) for k, s in enumerate(steps) for z, c in sorted(s)]
                    sent += [('report', z, log) for z, log in sorted(other.reports, key=str)]
                    sent += [('report', y, other.report)] if other.report is not None else []
                    sent += sorted(other.claims, key=str)
                    for record in sent:
                        seats = replace(seats, x, receive(cfg, seats[x], x, record))
                    if seats[x].status == 'up' and seats[x].back is not None:
                        seats = replace(seats, x, answered(cfg, net, seats, x, y))
            seat = seats[x]
            if seat.status != 'up' or not may_sign(cfg, seat):
                continue
            if not seat.disk.proof and own(seat, x) is None and len(seat.disk.log) < cfg.steps:
                seat, record = sign_entry(cfg, net, seats, x)
                seats, net = replace(seats, x, settle(cfg, seat, x)), net | {record}
            elif seat.disk.proof and seat.disk.report is None:
                net |= {('report', x, seat.disk.log)}
                seats = replace(seats, x, settle(cfg, signs(seat, report=seat.disk.log), x))
        if before != (seats, net):
            continue
        if all(seats[x].status in ENDED for x in left):
            return False
        for x in left:
            if seats[x].status == 'up':
                some = [t for t in timeouts(cfg, seats, net, x)
                        if t[0] != 'claims' or not set(t[2][2]) & set(left)]
                for _, seat, record in some[:1]:
                    seats, net = replace(seats, x, seat), net | {record} if record else net
        if before == (seats, net):
            return True
    return True


def replace(seats, x, seat):
    return seats[:x] + (seat,) + seats[x + 1:]


# What each search has to reach, so that its properties do not hold because nothing happens.
def goals(cfg):
    wanted = {'claims', 'finished', 'returns'} if cfg.bad is None else {'reports', 'closes a fork', 'on', 'returns'}
    if cfg.bad is None:
        wanted |= {'a returned seat claims', 'closes alone'}
    else:
        wanted |= {'a returned seat closes a fork', 'goes on after another has closed'}
    return wanted


def search(cfg, until_found=False):
    """Every state, breadth first: (states, what was seen, violations with their paths)."""
    first = begin(cfg)
    came, queue, seen, found = {first: None}, deque([first]), set(), {}
    alone = [some for k in range(1, cfg.n + 1) for some in itertools.combinations(cfg.honest(), k)]
    while queue:
        state = queue.popleft()
        seats = state[0]
        kind = wrong(cfg, state)
        for left in alone if not kind else ():
            if all(seats[x].status == 'up' for x in left) and rests(cfg, state, left):
                kind = f'stuck: seats {left} alone'
        if kind:
            found.setdefault(kind.split(':')[0], (kind, path(came, state)))
            if until_found:
                break
            continue
        for what, after in actions(cfg, state):
            seen.add(what[0])
            if what[0] in ('claims', 'closes a fork') and seats[what[1]].back is not None:
                seen.add('a returned seat claims' if what[0] == 'claims' else 'a returned seat closes a fork')
            mine = after[0][what[1]].status if what[1] != cfg.bad else None
            if mine in ENDED and mine != seats[what[1]].status:
                seen.add(mine)
                if mine == 'on' and any(s.status == 'frozen' for s in after[0]):
                    seen.add('goes on after another has closed')
            if after not in came:
                came[after] = state, what
                queue.append(after)
    return len(came), seen, found


def path(came, state):
    steps = []
    while came[state] is not None:
        state, what = came[state]
        steps.append(what)
    return steps[::-1]


# Each breaks the rule in one way, and the search beside it has to find that.
PLANTED = {
    'a returned seat claims with a new entry': ('two records', dict(held_only=0, crashes=1)),
    'a claim waits until a majority has answered': ('stuck', dict(returned_claims=0)),
    'a returned seat that owes the entry cannot close': ('stuck', dict(alone=0)),
    'a seat that closes alone deletes its journal': ('two records', dict(keeps_journal=0, crashes=2)),
    'a returned seat does not wait for answers': ('two records', dict(waits=0)),
    'nothing closes a fork': ('stuck', dict(n=3, bad=2, fork_closes=0)),
    'those present close a fork by claims on one place': ('stuck', dict(n=3, bad=2, fork_alone=0)),
    'a closed fork does not name its culprit': ('without', dict(n=3, bad=2, names=0)),
    'a seat goes on after its own report alone': ('two places', dict(n=3, bad=2, crashes=0, all_report=0)),
}
SHORT = [dict(n=2, steps=1, crashes=2), dict(n=2, steps=2, crashes=2)]
LONG = SHORT + [
    dict(n=3, steps=1, crashes=1), dict(n=3, bad=2, steps=1, crashes=1), dict(n=3, bad=2, steps=2, crashes=1)]


def report(options):
    began = time.time()
    cfg = Config(**options)
    states, seen, found = search(cfg)
    missed = sorted(goals(cfg) - seen)
    text = ' '.join(f'{key}={value}' for key, value in options.items())
    end = ', '.join(sorted(found)) or 'no violation'
    missing = f'; NEVER SEEN: {missed}' if missed else ''
    print(f'{text:32} {states} states, whole: {end}{missing} ({time.time() - began:.0f} s)', flush=True)
    for kind, steps in found.values():
        print('  ', kind, *(f'\n      {what}' for what in steps))
    return not found and not missed


def planted():
    ok = True
    for text, (kind, options) in PLANTED.items():
        _, _, found = search(Config(**options), until_found=True)
        right = any(of.startswith(kind) for of in found)
        ok = ok and right
        print(f'{text:52} {"found: " + ", ".join(found) if right else f"NOT FOUND: {sorted(found)}"}', flush=True)
    return ok


def main(args):
    if args == ['--planted']:
        ok = planted()
    elif not args or args == ['--short']:
        ok = all([report(options) for options in (SHORT if args else LONG)])
    else:
        ok = report({key: int(value) for key, value in (arg.split('=') for arg in args)})
    print('all as expected' if ok else 'NOT AS EXPECTED')
    return 0 if ok else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
