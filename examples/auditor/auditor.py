"""An auditor of fairdeal transcripts, written from docs/transcript.md alone: the state machine of part 5 and the checks
of part 9, in their order.

Usage: python3 auditor.py FILE.fairdeal

It exits 0 if the game was fair, 1 if not, 2 if the file cannot be read, 3 if the auditor itself fails."""
import collections
import copy
import datetime
import sys
import traceback

import crypto
import games
from records import Malformed, Staged, Unfair, need, point, read_file, seat_set
from streams import H, mapped

Prover = crypto.Prover


class Deal:
    """The public state of one deal, and all that its openings have to reproduce."""

    def __init__(self, table, number):
        self.table, self.number = table, number
        self.commitments, self.keys, self.parts, self.tips = {}, {}, {}, {}
        self.flips = 0
        self.gone, self.decks, self.owners = set(), [], {}
        self.made = collections.defaultdict(list)

    def ctx(self, seat):
        return self.table, self.number, seat

    def holders(self):
        return [s for s in sorted(self.keys) if s not in self.gone]

    def joint(self):
        return crypto.encode(crypto.total(point(self.keys[s][0]) for s in self.holders()))

    def tip(self, seat, tip):
        chain = self.tips[seat][0] + 1 if seat in self.tips else 0
        self.tips[seat] = (chain, 0, tip)
        self.made[seat].append(("tip", chain, tip))

    def used_up(self, seats):
        return any(self.tips[s][1] == 1024 for s in seats)

    def card(self, handle):
        deck, position = handle
        return self.decks[deck]["cards"][position]

    def shares(self, handle):
        return self.decks[handle[0]]["shares"][handle[1]]

    def lacks(self, handle, seat):
        return seat in self.decks[handle[0]]["holders"] and seat not in self.shares(handle)

    def parting(self, seat):
        return [(d, p) for d, deck in enumerate(self.decks) for p in range(len(deck["cards"]))
                if self.lacks((d, p), seat) and self.owners.get((d, p)) != seat]

    def face(self, handle, extra=()):
        shares = {**self.shares(handle), **dict(extra)}
        deck = self.decks[handle[0]]
        if any(s not in shares for s in deck["holders"]):
            return None
        return crypto.face(self.card(handle), [shares[s] for s in deck["holders"]], deck["points"])


class Ahead:
    """The setup of the next deal."""

    def __init__(self, deal, live, faces):
        self.deal, self.live, self.faces = deal, set(live), faces
        self.stage, self.given, self.run = "commit", {}, None

    def turn(self):
        """The seat that shuffles next."""
        return min(self.live - self.run["done"], default=None) if self.run else None

    def due(self):
        if self.stage == "ready":
            return set()
        return {self.turn()} if self.stage == "shuffle" else self.live

    def digest(self):
        stages = "commit key escrow accept shuffle ready".split()
        done = self.run["done"] if self.run else ()
        return self.deal.number, stages.index(self.stage), bits(self.given), bits(done)


def bits(seats):
    return sum(1 << seat for seat in seats)


class Running:
    def __init__(self, item, batch=(), paused=True):
        self.item, self.batch, self.paused = item, list(batch), paused
        self.script, self.coins, self.run = [], {}, None


def drive(steps, script):
    """Runs a game with what was answered; gives the open batch, and whether it waits for its last."""
    batch, answers, result = [], iter(script), None
    while True:
        try:
            request = steps.send(result)
        except StopIteration:
            return batch, False
        asked = next(answers, None)
        if asked:
            assert asked[0] == request, "the game asked other things"
            result = asked[1]
        else:
            batch.append(request)
            if request[0] != "deal":
                return batch, True
            result = None


class Replica:
    """Part 5: the state that follows from the log."""

    def __init__(self, transcript, signers):
        self.signers, self.table = signers, signers.table
        self.game, self.strict, self.protocol = games.create(transcript.charter)
        self.forks = 0
        if self.game is None:
            raise Malformed("the charter cannot be played")
        self.settled = copy.deepcopy(self.game)
        self.live = set(range(signers.count))
        self.step, self.parent = 0, H("genesis", self.table)
        self.out, self.interjected, self.got_parts = set(), set(), {}
        self.departing, self.faulty = {}, set()
        self.stage, self.confirming = "commit", False
        self.agenda, self.running, self.leader_before = [], None, signers.count - 1
        self.deal = Deal(self.table, 0)
        self.next, self.ahead, self.turned = 1, None, None
        self.tally = collections.Counter()
        self.left = []
        self.remember()
        self.compute_digest()

    def remember(self):
        self.checkpoint = copy.deepcopy((
            self.game, self.settled, self.running, self.agenda, self.interjected, self.live, self.leader_before))

    # Which step is open, and who owes what.

    def escrows_due(self):
        return not self.strict and self.settled.seals_cards and self.signers.count_parties(self.live) > 2

    def outlasts(self, out):
        """Whether the deal goes on without these seats."""
        if self.stage in ("opening", "closing") or not self.settled.seals_cards:
            return True
        accepted = self.stage == "play" and self.deal.parts
        return accepted and self.signers.count_parties(self.deal.gone | out) == 1

    def holders(self, seat, deal=None):
        """The seats outside its party, with their keys."""
        party = self.signers.seats_of(seat)
        return {s: key[0] for s, key in (deal or self.deal).keys.items() if s not in party}

    def rebuilding(self):
        for seat in sorted(self.deal.gone):
            batch = self.running.batch if self.running else ()
            own = [request[1] for request in batch if request[0] == "deal" and request[2] == seat]
            cards = [card for card in self.deal.parting(seat) if card not in own]
            for request in batch:
                if request[0] == "deal" and request[2] in self.live:
                    cards.append(request[1])
                elif request[0] == "open":
                    cards += request[1]
            cards = sorted({card for card in cards if self.deal.lacks(card, seat)})
            if cards:
                return seat, cards
        return None

    def flips(self):
        return self.running and any(r[0] == "flip" for r in self.running.batch)

    def ended(self):
        return self.stage == "finished" or not self.live and self.stage not in ("opening", "closing")

    def kind(self):
        if self.confirming:
            return "confirm"
        if self.turned:
            return "opening"
        if self.stage != "play":
            return self.stage
        if self.rebuilding():
            return "rebuild"
        if not self.running:
            return "action"
        if self.flips() and self.deal.used_up(self.live):
            return "tip"
        return "shuffle" if self.running.run and self.answered() else "effects"

    def is_over(self):
        """Whether the rules have ended the game: what is left are the seeds to be opened."""
        return self.stage == "finished" or (self.kind() in ("confirm", "opening", "closing") and self.game.over)

    def due(self, live, counted):
        """The seats for which the open step waits when these entries are held, with all that they must name."""
        missing, kind = live - counted, self.kind()
        if kind == "action" and self.leader() in missing:
            return {self.leader()}
        return {min(missing)} if kind == "shuffle" and missing else missing

    def leader(self):
        waits = self.game.to_act() & self.live
        round_ = [(self.leader_before + i) % 6 for i in range(1, 7)]
        return next(seat for seat in round_ if seat in (waits or self.live))

    def owed(self, seat, batch, first=(), coin_given=False):
        """The cards whose shares a seat owes to a batch, and whether it owes a coin."""
        cards = list(first)
        for request in batch:
            if request[0] == "deal":
                _, card, to = request
                if to != seat and to in self.live and self.deal.owners.get(card, to) == to:
                    cards.append(card)
            elif request[0] == "open":
                cards += request[1]
            elif request == ("part", seat):
                cards += self.deal.parting(seat)
        cards = [card for card in dict.fromkeys(cards) if seat not in self.deal.shares(card)]
        flips = any(request[0] == "flip" for request in batch)
        return cards, flips and not coin_given and not self.deal.used_up(self.live)

    def owed_now(self, seat):
        return self.owed(seat, self.running.batch, coin_given=seat in self.running.coins)

    def answered(self):
        if self.flips() and self.deal.used_up(self.live):
            return False
        return all(self.owed_now(seat) == ([], False) for seat in self.live)

    def first_batch(self, seat, data, check=True):
        """The cards that an action shows with their faces, and its first batch."""
        action = self.game.action(data)
        need(action is not None, "it is no action of this game", seat)
        need(not (self.settled.out_of_turn(action) and seat in self.interjected), "a second interjection", seat)
        need(self.settled.legal(seat, action), "an illegal action", seat)
        batch, _ = drive(copy.deepcopy(self.settled).apply(seat, action), [])
        return action, self.settled.shown(seat, action), batch

    # What counts.

    def stands(self, entry):
        """Whether a decision has not named another entry of a seat that goes."""
        return self.departing.get(entry.seat, entry.hash) == entry.hash

    def counts(self, entry, counted):
        """True or False (it names what is not there); a fault is an Unfair that names the seat."""
        seat, kind, body = entry.seat, self.kind(), entry.body
        ctx = self.deal.ctx(seat)
        opening = "turn" if self.turned else "open"
        due = dict(action=entry.kind, opening=opening, closing="close").get(kind, kind)
        if kind == "shuffle" and seat in self.running.run["done"]:
            due = "confirm"
        if entry.kind != due:
            raise Unfair(f"the entry is of kind {entry.kind}, where {due} was due", seat)
        if kind == "key":
            need(body[0] != bytes(32), "the key is the identity", seat)
            need(crypto.key_holds(ctx, *body), "the key's proof does not hold", seat)
            self.tally["key proofs"] += 1
        elif kind == "escrow":
            need(crypto.escrow_holds(body[0], self.holders(seat), self.deal.keys[seat][0]), "a bad escrow", seat)
            self.tally["escrows"] += 1
            return self.early_counts(seat, body[1])
        elif kind == "accept":
            for owner, K, proof in body[0]:
                need(self.complaint_is_true(seat, owner, K, proof), f"a false complaint about {owner}", seat)
            return self.early_counts(seat, body[1])
        elif kind == "rebuild":
            gone, cards = self.rebuilding()
            mine = [part[1] for part in self.deal.parts[gone] if part[0] == seat]
            shares, proof = body
            need(mine and len(shares) == len(cards), "not one part share a card", seat)
            transcript = crypto.part_transcript(ctx, self.step, gone, mine[0])
            listed = [(card, self.deal.card(card)[0]) for card in cards]
            need(crypto.shares_hold(transcript, mine[0], listed, shares, proof), "bad part shares", seat)
            self.tally["part proofs"] += 1
        elif kind == "action":
            return self.counts_in_action(entry, counted)
        elif kind == "effects":
            self.judge_answers(seat, body, self.owed_now(seat))
        elif kind == "shuffle":
            if seat in self.running.run["done"]:
                return True
            before = [s for s in sorted(self.live - self.out - self.running.run["done"]) if s < seat]
            if any(s not in counted for s in before):
                return False
            last = before and counted[before[-1]]
            base = (last.hash, last.body[1]) if last else self.deck_before(self.deal, self.running.run)
            return self.shuffle_counts(self.deal, self.running.run, seat, body, base)
        elif kind == "opening" and self.turned:
            self.judge_answers(seat, body[1], self.owed_now(seat) if self.running else ([], False))
            self.check_opening(self.turned, seat, body[0])
        elif kind == "opening":
            self.check_opening(self.deal, seat, body)
        return True

    def early_counts(self, seat, shuffled):
        """The shuffle that goes along with an escrow or an acceptance."""
        run = self.running and self.running.run
        turn = min(self.live - run["done"]) if run else None
        return self.shuffle_in_turn(self.deal, run, seat, shuffled, turn)

    def shuffle_in_turn(self, deal, run, seat, shuffled, turn):
        due = seat == turn
        need(due == (shuffled is not None), "a shuffle out of turn, or none in turn", seat)
        if due:
            base = self.deck_before(deal, run)
            need(self.shuffle_counts(deal, run, seat, shuffled, base), "a shuffle of another deck", seat)
        return True

    def shuffle_counts(self, deal, run, seat, shuffled, base):
        if shuffled[0] != base[0]:
            return False
        need(isinstance(shuffled[2], Staged) == (self.protocol == 2), "a shuffle proof of another protocol", seat)
        place = self.shuffle_place(deal, run, seat)
        need(crypto.shuffle_holds(place, deal.joint(), base[1], shuffled[1], shuffled[2]),
             "the shuffle proof does not hold", seat)
        self.tally["shuffle proofs"] += 1
        return True

    @staticmethod
    def shuffle_place(deal, run, seat):
        return crypto.Place(deal.ctx(seat), len(deal.decks), *run["attempt"])

    def deck_before(self, deal, run):
        """The deck as it is before this step, and its name: the entry that holds it, or that of a fresh one."""
        return run["last"] or H("fresh-deck", self.parent, len(deal.decks), len(run["cards"])), run["cards"]

    #= T5.52
    def judge_part(self, seat, part):
        """A seat's part of the setup of the next deal."""
        (kind, body), ahead = part, self.ahead
        need(ahead and seat in ahead.due() and seat not in ahead.given and kind == ahead.stage,
             f"a part of kind {kind} that nobody waits for", seat)
        if kind == "key":
            need(body[0] != bytes(32), "the key is the identity", seat)
            need(crypto.key_holds(ahead.deal.ctx(seat), *body), "the key's proof does not hold", seat)
            self.tally["key proofs"] += 1
        if kind == "escrow":
            holders = self.holders(seat, ahead.deal)
            need(crypto.escrow_holds(body[0], holders, ahead.deal.keys[seat][0]), "a bad escrow", seat)
            self.tally["escrows"] += 1
        if kind in ("escrow", "accept", "shuffle"):
            self.shuffle_in_turn(ahead.deal, ahead.run, seat, body[1], ahead.turn())

    def counts_in_action(self, entry, counted):
        seat, leader, body = entry.seat, self.leader(), entry.body
        if entry.kind == "act" and seat == leader:
            _, shown, batch = self.first_batch(seat, body[0])
            owed = self.owed(seat, batch, [card for card, _ in shown])
            self.judge_answers(seat, body[1], owed)
            sent = dict(zip(owed[0], body[1][0][0])) if body[1][0] else {}
            for card, face in shown:
                extra = [(seat, sent[card])] if card in sent else []
                need(self.deal.face(card, extra) == face, "it showed another card than it claimed", seat)
            self.tally["actions"] += 1
            return True
        if entry.kind == "yield" and seat == leader:
            named = [e for e in counted.values() if e.hash == body]
            need(not named or named[0].kind in ("interject", "leave"), "a yield to nothing", seat)
            return bool(named)
        if entry.kind == "ack" and seat != leader:
            owed = [], False
            if leader in self.out:
                if body[0] != H("voted-out", self.table, self.step, self.parent, leader):
                    return False
            else:
                led = counted.get(leader)
                if led is None or led.hash != body[0]:
                    return False
                if led.kind == "act":
                    owed = self.owed(seat, self.first_batch(leader, led.body[0])[2])
            self.judge_answers(seat, body[1], owed)
            return True
        if entry.kind == "interject" and seat != leader:
            action = self.game.action(body)
            need(action is not None, "it is no action of this game", seat)
            need(self.settled.out_of_turn(action) and not self.settled.shown(seat, action),
                 "an interjection that belongs to a turn", seat)
            need(seat not in self.interjected, "a second interjection", seat)
            return True
        need(entry.kind == "leave" and len(self.live) > 1, f"an entry of kind {entry.kind} in an action step", seat)
        return True

    def judge_answers(self, seat, answers, owed):
        shares, coin, part = answers
        cards, owes_coin = owed
        need((shares is None) == (not cards), "not the shares that were due", seat)
        need((coin is None) == (not owes_coin), "not the coin that was due", seat)
        ctx = self.deal.ctx(seat)
        if coin is not None:
            chain, used, last = self.deal.tips[seat]
            need(used < 1024 and crypto.link(ctx, chain, 1024 - used, coin) == last, "a coin of another chain", seat)
            self.tally["coins"] += 1
        if shares is not None:
            need(len(shares[0]) == len(cards), "not the shares that were due", seat)
            X = self.deal.keys[seat][0]
            listed = [(card, self.deal.card(card)[0]) for card in cards]
            transcript = crypto.share_transcript(ctx, self.step, X)
            need(crypto.shares_hold(transcript, X, listed, *shares), "the proof of its shares does not hold", seat)
            self.tally["share proofs"] += 1
            self.tally["shares"] += len(cards)
        if part is not None:
            self.judge_part(seat, part)

    def complaint_is_true(self, seat, owner, K, proof):
        if owner not in self.live or owner not in self.holders(seat):
            return False
        parts = self.deal.parts[owner]
        Xj, Xi = self.deal.keys[seat][0], self.deal.keys[owner][0]
        return crypto.complaint_is_true(self.deal.ctx(seat), self.step, owner, Xj, Xi, K, proof, parts)

    # Steps that are complete.

    def finish(self, entries):
        kind, out = self.kind(), self.out | set(self.departing)
        accused = {c[0] for e in entries.values() if e.kind == "accept" for c in e.body[0]}
        fields = [f for seat in sorted(entries) for f in (seat, entries[seat].hash)]
        name = H("step", self.table, self.step, self.parent, len(entries), *fields, len(out), *sorted(out))
        guilty = {mate for seat in self.faulty | accused for mate in self.signers.seats_of(seat)} & self.live
        self.out, self.departing, self.faulty = set(), {}, set()
        out = {mate for seat in out | accused for mate in self.signers.seats_of(seat)} & self.live
        outlasts = not out or (self.outlasts(out) and not (self.turned and guilty))
        self.take_parts(entries)
        was_turned, self.turned = self.turned, None
        if kind == "action":
            self.finish_action(entries)
        else:
            gone = self.rebuilding()
            for seat in sorted(entries):
                self.take(entries[seat])
            if outlasts and not was_turned and not (out and kind == "shuffle"):
                self.turn_stage(kind, gone)
        self.remove(out)
        if not outlasts:
            self.void()
        if self.protocol == 2 and kind == "opening" and self.stage == "closing" and self.running:
            self.next_deal()
        was_opening = self.stage == "opening" and not was_turned
        self.go_on()
        self.confirming = kind != "confirm" and (
            (self.stage == "opening" and not was_opening) or
            (kind == "action" and self.running is not None
             and any(e.kind in ("interject", "leave") for e in entries.values())))
        if kind == "confirm" and self.stage == "opening":
            self.turn_over()
        self.look_ahead()
        self.parent = name
        self.step += 1
        self.compute_digest()

    def finish_action(self, entries):
        leader = self.leader()
        self.leader_before = leader
        led = entries.get(leader)
        act = led if led and led.kind == "act" else None
        if act:
            action, shown, batch = self.first_batch(leader, act.body[0])
            if self.settled.out_of_turn(action):
                self.interjected.add(leader)
            else:
                self.interjected = set()
        round_ = [(leader + i) % 6 for i in range(6)]
        for seat in round_[1:]:
            if seat in entries and entries[seat].kind == "interject":
                self.interjected.add(seat)
                self.agenda.append(("interject", seat, self.game.action(entries[seat].body)))
        self.agenda += [("leave", s) for s in round_ if s in entries and entries[s].kind == "leave"]
        if not act:
            return
        self.running = Running(("act", leader, action), batch)
        owed = {s: self.owed(s, batch, [card for card, _ in shown] if s == leader else []) for s in entries}
        for seat in sorted(entries):
            if entries[seat].kind in ("act", "ack"):
                self.take_answers(seat, entries[seat].body[1], owed[seat])
        self.rerun()

    # The setup of the next deal.

    def fresh_deal(self):
        self.next += 1
        return Deal(self.table, self.next - 1)

    def suits(self):
        return self.ahead and self.ahead.live == self.live and self.settled.next_deck == self.ahead.faces

    #= T5.51
    def look_ahead(self):
        if not self.suits():
            self.ahead = None
        plays = self.protocol == 2 and self.stage == "play" and len(self.live) > 1
        if not self.ahead and plays and self.settled.next_deck:
            self.ahead = Ahead(self.fresh_deal(), self.live, self.settled.next_deck)

    #= T5.53
    def take_parts(self, entries):
        ahead = self.ahead
        if not ahead:
            return
        for seat, entry in entries.items():
            if entry.kind in ("act", "ack", "turn", "effects"):
                part = (entry.body if entry.kind == "effects" else entry.body[1])[2]
                if part:
                    ahead.given[seat] = entry.hash, part
        if not ahead.given or not ahead.due() <= set(ahead.given):
            return
        given, ahead.given = ahead.given, {}
        for seat, (name, (kind, body)) in sorted(given.items()):
            if kind == "commit":
                ahead.deal.commitments[seat] = body[0]
                ahead.deal.tip(seat, body[1])
            elif kind == "key":
                ahead.deal.keys[seat] = body
            else:
                if kind == "escrow":
                    ahead.deal.parts[seat] = body[0]
                    ahead.deal.made[seat].append(("escrow", self.holders(seat, ahead.deal), body[0]))
                self.take_shuffle(ahead.deal, ahead.run, seat, name, body[1])
        if ahead.stage == "commit":
            ahead.stage = "key"
        elif ahead.stage == "key":
            ahead.run = self.new_run(ahead.deal, ahead.faces)
            ahead.stage = "escrow" if self.escrows_due() else "shuffle"
        elif ahead.stage == "escrow":
            ahead.stage = "accept"
        else:
            ahead.stage = "ready" if ahead.turn() is None else "shuffle"

    #= T5.54
    def next_deal(self):
        ahead, self.ahead = self.ahead if self.suits() else None, None
        self.remember()
        self.stage = "commit"
        self.deal = ahead.deal if ahead else self.fresh_deal()
        if ahead and ahead.run:
            self.begin_deal()
            self.running.run = ahead.run
        if ahead:
            self.stage = "play" if ahead.stage in ("shuffle", "ready") else ahead.stage

    #= T5.56
    def turn_over(self):
        if self.running and self.suits() and self.ahead.stage == "ready":
            deal = self.deal
            self.next_deal()
            self.carry_on()
            self.turned = deal

    def restore(self):
        """Returns to the beginning of the deal; gives the seats that were live there."""
        (self.game, self.settled, self.running, self.agenda, self.interjected, live,
         self.leader_before) = copy.deepcopy(self.checkpoint)
        return live

    def take_answers(self, seat, answers, owed):
        shares, coin, _ = answers
        if shares:
            for card, share in zip(owed[0], shares[0]):
                self.deal.shares(card)[seat] = share
            self.deal.made[seat].append(("shares", self.step, owed[0], shares))
        if coin:
            self.running.coins[seat] = coin

    def take(self, entry):
        seat, body, deal = entry.seat, entry.body, self.deal
        if entry.kind == "commit":
            deal.commitments[seat] = body[0]
            deal.tip(seat, body[1])
        elif entry.kind == "key":
            deal.keys[seat] = body
        elif entry.kind == "escrow":
            deal.parts[seat] = body[0]
            deal.made[seat].append(("escrow", self.holders(seat), body[0]))
            self.take_own_shuffle(entry, body[1])
        elif entry.kind == "accept":
            self.take_own_shuffle(entry, body[1])
        elif entry.kind == "effects":
            self.take_answers(seat, body, self.owed_now(seat))
        elif entry.kind == "turn" and self.running:
            self.take_answers(seat, body[1], self.owed_now(seat))
        elif entry.kind == "shuffle":
            self.take_own_shuffle(entry, body)
        elif entry.kind == "tip":
            deal.tip(seat, body)
        elif entry.kind == "rebuild":
            gone, cards = self.rebuilding()
            deal.made[seat].append(("parts", self.step, gone, deal.parts[gone], cards, body))
            self.got_parts[seat] = body[0]

    def take_own_shuffle(self, entry, shuffled):
        run = self.running and self.running.run
        self.take_shuffle(self.deal, run, entry.seat, entry.hash, shuffled)

    def take_shuffle(self, deal, run, seat, name, shuffled):
        if shuffled:
            place = self.shuffle_place(deal, run, seat)
            deal.made[seat].append(("shuffle", place, deal.joint(), run["cards"], shuffled[1], shuffled[2]))
            run.update(cards=shuffled[1], last=name)
            run["done"].add(seat)

    def turn_stage(self, kind, gone):
        if kind == "commit":
            self.stage = "key"
        elif kind == "key":
            self.begin_deal()
            self.stage = "play"
            if self.escrows_due():
                self.stage = "escrow"
                batch = self.running.batch
                if len(batch) == 1 and batch[0][0] == "shuffle":
                    self.running.run = self.new_run(self.deal, batch[0][1])
                elif len(batch) == 1 and batch[0][0] == "flip" and self.settled.first_deck:
                    self.running.run = self.new_run(self.deal, self.settled.first_deck)
        elif kind == "escrow":
            self.stage = "accept"
        elif kind == "accept":
            self.stage = "play"
        elif kind == "rebuild":
            seat, cards = gone
            for i, card in enumerate(cards):
                parts = [point(shares[i]) for shares in self.got_parts.values()]
                self.deal.shares(card)[seat] = crypto.encode(crypto.total(parts))
            self.got_parts = {}
        elif kind == "shuffle":
            self.seal()
        elif kind == "opening":
            self.stage = "closing"
        elif kind == "closing":
            if self.running:
                self.next_deal()
            else:
                self.stage = "finished"

    def seal(self):
        """The run of the open batch becomes a deck."""
        run, self.running.run = self.running.run, None
        run["shares"] = [{} for _ in run["cards"]]
        self.deal.decks.append(run)
        self.answer(len(self.deal.decks) - 1)

    def begin_deal(self):
        if self.running:
            self.answer(None)
        else:
            self.running = Running(("begin",))
            self.rerun()

    def new_run(self, deal, faces):
        names = [(face, self.game.card_name(face)) for face in faces]
        points = {crypto.encode(mapped("card", self.game.deck_name, name)): face for face, name in names}
        fresh = [(bytes(32), p) for p in points]
        return dict(faces=faces, cards=fresh, last=None, done=set(), holders=deal.holders(), points=points,
                    attempt=(bits(self.live), self.forks))

    def remove(self, out):
        if not out:
            return
        if self.running and self.running.item[0] == "leave" and self.running.item[1] in out:
            self.running = None
        if self.running:
            self.running.run = None
        self.agenda = [item for item in self.agenda if item[0] != "leave" or item[1] not in out]
        for seat in sorted(out):
            self.live.discard(seat)
            self.depart(seat)
            if not self.settled.over:
                self.agenda.append(("forfeit", seat))

    def depart(self, seat):
        if seat in self.deal.keys:
            self.deal.gone.add(seat)

    def void(self):
        at_first = self.restore()
        self.got_parts = {}
        self.agenda = [item for item in self.agenda if item[0] not in ("leave", "interject") or item[1] in self.live]
        self.agenda += [("forfeit", seat) for seat in sorted(at_first - self.live)]
        self.deal = self.fresh_deal()
        self.stage = "commit"
        self.tally["void deals"] += 1

    def go_on(self):
        while self.stage == "play":
            gone = self.rebuilding()
            if gone:
                if {part[0] for part in self.deal.parts.get(gone[0], ())} != self.live:
                    self.void()
                return
            if self.running:
                if not self.answered() or self.settle():
                    return
            elif self.agenda:
                self.start(self.agenda.pop(0))
            elif self.settled.over:
                self.stage = "opening"
            else:
                return

    def start(self, item):
        kind = item[0]
        if kind == "leave":
            if not self.settled.over:
                self.running = Running(item, [("part", item[1])])
        elif kind != "interject" or self.settled.legal(item[1], item[2]):
            self.running = Running(item)
            self.rerun()

    def carry_on(self):
        """Settles the running item until a seat owes something or the item ends."""
        while self.running and self.answered():
            if self.settle():
                return

    def settle(self):
        """Settles an answered batch; True if it waits for a step of another kind."""
        running = self.running
        deals = [r for r in running.batch if r[0] == "deal"]
        for _, card, to in deals:
            assert self.deal.owners.setdefault(card, to) == to, "a card is dealt twice"
        if not running.paused:
            self.settled = copy.deepcopy(self.game)
            self.running = None
            return False
        kind, *args = running.batch[-1]
        if kind == "open":
            faces = [self.deal.face(card) for card in args[0]]
            need(None not in faces, "a card opens to none of its deck")
            self.answer(faces)
        elif kind == "flip":
            coins = {s: c for s, c in running.coins.items() if s in self.live}
            for seat, coin in coins.items():
                chain, used, _ = self.deal.tips[seat]
                self.deal.tips[seat] = (chain, used + 1, coin)
            stream = crypto.flip_stream(self.table, self.deal.number, self.deal.flips, coins)
            self.deal.flips += 1
            self.answer(stream.flip(args[0]))
        elif kind == "part":
            seat = args[0]
            self.live.discard(seat)
            self.depart(seat)
            self.agenda.insert(0, ("forfeit", seat))
            self.running = None
        else:
            running.script += [(deal, None) for deal in deals]
            running.batch = running.batch[-1:]
            if kind == "next":
                self.stage = "opening"
            else:
                if not running.run:
                    running.run = self.new_run(self.deal, args[0])
                assert running.run["faces"] == args[0], "another deck was begun"
                if self.live <= running.run["done"]:
                    self.seal()
                    return False
            return True
        return False

    def answer(self, result):
        running = self.running
        running.script += [(r, None) for r in running.batch[:-1]] + [(running.batch[-1], result)]
        running.coins = {}
        self.rerun()

    def rerun(self):
        running = self.running
        self.game = copy.deepcopy(self.settled)
        kind, *args = running.item
        steps = getattr(self.game, dict(act="apply", interject="apply").get(kind, kind))(*args)
        running.batch, running.paused = drive(steps, running.script)

    def go_on_after_halt(self, culprit, step, parent):
        self.out, self.departing, self.faulty = set(), {}, set()
        self.forks += 1
        if self.running and self.running.run:
            self.running.run["attempt"] = self.running.run["attempt"][0], self.forks
        if self.protocol == 2:
            self.ahead = None
            self.next += 3
        out = self.signers.seats_of(culprit) & self.live
        if out:
            over = self.kind() in ("opening", "closing")
            if self.turned:
                self.restore()
                self.deal, self.turned, self.stage = self.turned, None, "opening"
            self.remove(out)
            if not over:
                self.void()
                self.confirming = False
            self.go_on()
        self.look_ahead()
        self.step, self.parent = step, parent
        self.compute_digest()

    # Openings and the digest.

    def check_opening(self, deal, seat, seed):
        prover = Prover(seed, deal.ctx(seat))
        need(deal.commitments[seat] == prover.commitment(), "not the seed that it committed to", seat)
        need(deal.keys[seat] == prover.key(), "the seed does not give its key", seat)
        self.tally["seeds"] += 1
        self.tally["recomputed"] += 2
        for what, *made in deal.made[seat]:
            if what == "tip":
                same = prover.tip(made[0]) == made[1]
            elif what == "escrow":
                same = prover.escrow(made[0]) == made[1]
            elif what == "shuffle":
                place, X, cards, *sent = made
                if self.protocol == 1:
                    same = prover.shuffle_whole(place, X, cards, self.game.deck_name) == tuple(sent)
                else:
                    same = prover.shuffle(place, X, cards) == tuple(sent)
            elif what == "shares":
                step, cards, sent = made
                transcript = crypto.share_transcript(prover.ctx, step, prover.X)
                listed = [(card, deal.card(card)[0]) for card in cards]
                same = prover.shares(transcript, "share-proof", listed, prover.x) == sent
            else:
                step, gone, parts, cards, sent = made
                K = crypto.encode(crypto.mul(prover.x, point(deal.keys[gone][0])))
                Xij, x = crypto.unmask(deal.ctx(gone), seat, K, parts)
                transcript = crypto.part_transcript(prover.ctx, step, gone, Xij)
                listed = [(card, deal.card(card)[0]) for card in cards]
                same = prover.shares(transcript, "part-proof", listed, x) == sent
            need(same, f"the seed does not give its {what}", seat)
            self.tally["recomputed"] += 1

    def compute_digest(self):
        stages = "commit key play opening closing finished escrow accept".split()
        batch = games.vector(self.running.batch, games.request) if self.running else b""
        game = games.u8(self.game.number) + self.game.encode()
        fields = []
        if self.protocol == 2:
            fields = [*(self.ahead.digest() if self.ahead else (0, 0, 0, 0)), int(self.turned is not None)]
        self.digest = H("state", self.table, self.step, bits(self.live), stages.index(self.stage),
                        int(self.confirming), self.deal.number, self.deal.flips,
                        len(self.deal.decks), len(self.agenda), batch, game, *fields)


class Auditor:
    """Part 9: the checks in order."""

    def __init__(self, data):
        self.file, self.signers = read_file(data)
        self.replica = Replica(self.file, self.signers)
        self.entries = self.removals = self.faults = self.halted = 0

    #= T9.2
    def audit(self):
        while True:
            while self.read_halted():
                pass
            proven = self.read_faults()
            kept = self.read_removals()
            entries = self.read_step()
            replica = self.replica
            if replica.ended() or len(entries) < len(replica.live - replica.out):
                return self.check_end(entries, proven)
            try:
                counted = self.judge(entries)
            except Unfair as finding:
                evidence = self.file.equivocation
                culprit = finding.seat is None and evidence and self.signers.culprit(evidence)
                if culprit:
                    raise Unfair("it signed two things that exclude each other", culprit[0]) from None
                raise
            for seat, entry in kept.items():
                need(seat not in entries or entries[seat].hash == entry, "an entry that was kept does not stand")
            self.judge_proven(proven, counted)
            live, deal = set(replica.live), replica.deal.number
            replica.finish(entries)
            replica.tally["steps"] += 1
            for seat in sorted(live - replica.live):
                replica.left.append((seat, deal))

    def read_halted(self):
        replica = self.replica
        if self.halted == len(self.file.halted) or replica.ended():
            return False
        evidence, halts = self.file.halted[self.halted]
        place = resolve(halts)
        if place is None or place[0] != replica.step:
            return False
        culprit = self.signers.culprit(evidence)
        need(culprit, "the evidence of a halt proves nothing")
        party = self.signers.seats_of(culprit[0])
        culprit = min(party)
        held = {halt.seat: halt for halt in halts}
        need(all(self.signers.word("halt", halt) and halt.culprit == culprit for halt in halts), "a bad halt")
        #= T5.46
        waiting, circle = replica.live - party, set()
        while waiting:
            seat = waiting.pop()
            if seat not in circle:
                need(seat in held, "a halt is lacking")
                circle.add(seat)
                waiting |= {s for s in range(6) if held[seat].seats >> s & 1} - party
        need([halt.seat for halt in halts] == sorted(circle), "halts of others")
        point_, parent = place
        need(parent == replica.parent, "the halts name another log")
        self.halted += 1
        step = point_ + 3
        name = H("halted", replica.table, culprit, point_, parent, step)
        replica.tally["halts"] += len(halts)
        replica.left += [(seat, replica.deal.number) for seat in sorted(party & replica.live)]
        replica.go_on_after_halt(culprit, step, name)
        return True

    def read_faults(self):
        proven = []
        replica = self.replica
        while self.faults < len(self.file.faults):
            seat, signed = self.file.faults[self.faults]
            entry = self.signers.entry(signed)
            need(entry, "the proof of a fault is not signed")
            if entry.step != replica.step or replica.ended():
                break
            need(seat in replica.live - replica.out, "a fault of a seat that is not there")
            self.faults += 1
            replica.out.add(seat)
            replica.faulty.add(seat)
            proven.append((seat, entry))
        return proven

    def read_removals(self):
        """What removed absent parties from the open step; gives the entries that its decisions have kept."""
        replica, kept = self.replica, {}
        if self.removals == len(self.file.removals) or replica.ended():
            return kept
        certificate = self.file.removals[self.removals]
        if certificate.step != replica.step:
            return kept
        values, live = [], set(replica.live)
        for instance, proof in enumerate(certificate.decisions):
            value, removed = self.read_decision(proof, instance, live)
            values.append((value, removed))
            live -= removed
        need(live != replica.live, "a certificate that removes nobody")
        self.removals += 1
        for (kind, seats, entries), removed in values:
            if kind == "keep":
                kept[seats] = entries
                continue
            counted = dict(entries)
            replica.departing.update((seat, counted[seat]) for seat in removed if seat in counted)
            replica.out |= removed - set(counted)
        return kept

    #= T5.37
    def read_decision(self, proof, instance, live):
        """What one instance has decided, and the seats that it removes."""
        replica, bad = self.replica, f"step {self.replica.step}: the statements on a removal do not prove it"

        def read(word, says):
            here = (word.step, word.parent, word.instance) == (replica.step, replica.parent, instance)
            need(here and word.seat in live and word.says == says and self.signers.word("removal", word), bad)
            replica.tally["removal statements"] += 1
            return word.fields
        value = read(proof.proposal, "propose")[1]
        name = H("removal-hash", proof.proposal.raw)
        need(all(read(word, "accept")[1] == name for word in proof.accepts), bad)
        #= T5.41
        accepting = {word.seat for word in proof.accepts}
        need(len(accepting) == len(proof.accepts) and self.signers.is_majority(live, accepting), bad)
        removed = seat_set(value[1]) if value[0] == "out" else set()
        stay = live - removed
        need(not removed or (self.signers.closed(live, removed) and self.signers.is_majority(live, stay)), bad)
        #= T5.39
        union = {}
        #= T5.47
        for word in proof.consents:
            out, counted = read(word, "consent")
            need(seat_set(out) == removed, bad)
            for seat, entry in counted:
                need(union.setdefault(seat, entry) == entry, bad)
        #= T5.48
        consenting = {word.seat for word in proof.consents}
        need(len(consenting) == len(proof.consents), bad)
        if value[0] == "out":
            need(consenting == stay and value[2] == sorted(union.items()), bad)
        else:
            need(not consenting, bad)
        return value, removed

    def read_step(self):
        replica, entries = self.replica, {}
        there = replica.live - replica.out
        while len(entries) < len(there) and not replica.ended() and self.entries < len(self.file.entries):
            entry = self.signers.entry(self.file.entries[self.entries])
            need(entry, f"entry {self.entries} is not signed by a seat of this table, or no entry")
            in_order = all(seat < entry.seat for seat in entries)
            placed = entry.step == replica.step and in_order and entry.seat in there
            need(placed, f"entry {self.entries} stands at the wrong place")
            self.entries += 1
            replica.tally["entries"] += 1
            entries[entry.seat] = entry
        return entries

    #= T8.3
    def examine(self, entry, counted):
        replica = self.replica
        need(entry.parent == replica.parent, f"step {replica.step}: an entry of another log")
        if not replica.stands(entry):
            return False
        need(entry.digest == replica.digest, f"step {replica.step}: its digest is another", entry.seat)
        return replica.counts(entry, counted)

    def judge(self, entries, all_count=True):
        counted = {}
        while True:
            before = len(counted)
            for seat, entry in entries.items():
                if seat not in counted and self.examine(entry, counted):
                    counted[seat] = entry
                    self.replica.tally["digests"] += 1
            if len(counted) == before:
                break
        need(not all_count or len(counted) == len(entries), "an entry names what is not there")
        return counted

    def judge_proven(self, proven, counted):
        for seat, entry in proven:
            guilty = None
            here = entry.parent == self.replica.parent and self.replica.stands(entry)
            if entry.seat == seat and here and entry.digest == self.replica.digest:
                try:
                    self.replica.counts(entry, counted)
                except Unfair as finding:
                    guilty = finding.seat
            need(guilty == seat, f"seat {seat} is removed without proof")
            self.replica.tally["faults"] += 1

    def judge_accused(self, counted):
        accused = {complaint[0] for entry in counted.values() if entry.kind == "accept" for complaint in entry.body[0]}
        if accused:
            raise Unfair("a part of its escrow does not open", min(accused))

    #= T1.2
    def check_end(self, entries, proven):
        file, replica = self.file, self.replica
        need(self.entries == len(file.entries), "entries follow the end of the log")
        need(self.removals == len(file.removals), "removals of no step")
        need(self.faults == len(file.faults), "faults of no step")
        need(self.halted == len(file.halted), "halts that lead nowhere")
        need(file.log == replica.parent, "the log's hash is another")
        self.check_extensions()
        there = replica.live - replica.out
        finished = replica.stage == "finished"
        need(finished <= (file.end == "finished"), "the log does not end as it says")
        need(not file.claims or (file.end != "stopped" and not finished), "a claim that closes nothing")
        if file.end == "stopped":
            if file.equivocation:
                culprit = self.signers.culprit(file.equivocation)
                need(culprit, "the evidence proves nothing")
                raise Unfair("it signed two things that exclude each other", culprit[0])
            entries = {s: e for s, e in entries.items() if e.parent == replica.parent}
            counted = self.judge(entries, all_count=False)
            self.judge_proven(proven, counted)
            self.judge_accused(counted)
            raise Unfair("it claims a fault and shows none")
        need(not file.equivocation, "evidence in a file that is not stopped")
        if not finished:
            need(file.claims or not entries, "entries of a step that is not complete")
            self.judge_proven(proven, self.judge(entries))
            over = replica.is_over()
            closed = self.claims_close(over)
            need(closed == (file.end == "finished") if over else file.end == "unfinished", "the log does not end as it says")
        return replica

    #= T9.10
    def check_extensions(self):
        """Whether each extension of time is a person's, and within what the charter allows."""
        signers, last = self.signers, -1
        players = self.file.charter.players
        days = int(dict(self.file.charter.options).get("holidays", 0)) if len(players) > 1 else 0
        if signers.count_parties(range(len(players))) < 2:
            days = 0
        for said in self.file.extensions:
            need(last < said.seat and signers.word("extensions", said), "an extension of time that nobody may state")
            last = said.seat
            to = [seat for seat, _ in said.given]
            given = all(
                seat < len(players) and players[seat][4] is None and signers.parties[seat] != signers.parties[said.seat]
                and 1 <= seconds <= 2419200 for seat, seconds in said.given)
            taken, until, free = 0, 0, True
            for declared, first, length in said.holidays:
                free &= declared < first and until <= first and length > 0
                taken, until = taken + length, min(first + length, 2**32 - 1)
            need(players[said.seat][4] is None and given and to == sorted(set(to)) and (said.given or said.holidays)
                 and 1 <= said.version <= 64 and free and taken <= days, "an extension of time that nobody may state")

    #= T5.42
    def claims_close(self, over):
        """Whether claims close the table; each has to stand in a group that does."""
        replica, groups, order = self.replica, {}, []
        live = replica.live - replica.out
        for claim in self.file.claims:
            entry = claim.entry and self.signers.entry(claim.entry)
            own = entry is None or (entry.hash, entry.step, entry.seat) == (claim.name, claim.step, claim.seat)
            named = (claim.entry is None) == (claim.name is None) == (entry is None)
            here = (claim.step, claim.parent) == (replica.step, replica.parent) and claim.seat in live
            need(own and named and here and self.signers.word("claim", claim), "a bad claim")
            groups.setdefault((claim.absent, claim.ground), {})[claim.seat] = entry
            order.append((claim.seat, claim.absent))
        need(order == sorted(set(order)) and len(groups) <= 2, "a bad claim")
        for (absent, ground), signed in groups.items():
            away = seat_set(absent)
            try:
                counted = set(self.judge({seat: entry for seat, entry in sorted(signed.items()) if entry}))
            except Unfair:
                counted = None
            #= T5.44
            two = self.signers.count_parties(live) == 2
            timed = dict(self.file.charter.options).get("turn-time", "none") != "none"
            #= T5.50
            due = replica.due(live, (counted or set()) - away)
            need(
                counted is not None and set(signed) == live - away and away and due and (over or due <= away)
                and (ground == 0 or (two and timed)) and self.signers.closed(live, away)
                and not self.signers.is_majority(live, live - away),
                "a claim that closes nothing")
        return bool(groups)


def resolve(halts):
    """The last state (step, parent) that all halts name, or None."""
    step_of = {h.seat: h.step for h in halts}
    # Whom a halt names is one step behind it at most.
    if any(step_of.get(seat, h.step) + 1 < h.step for h in halts for seat in seat_set(h.seats)):
        return None
    named = [{(h.step - back, parent) for back, parent in enumerate((h.parent, *h.earlier))} for h in halts]
    return max(set.intersection(*named), default=None) if named else None


def times(file, names):
    """What was agreed on time beyond turn time and absence. How much was used is in no file."""
    options = dict(file.charter.options)
    if "bank" in options:
        yield f"bank of {options['bank']} seconds each"
    if "holidays" in options:
        yield f"{options['holidays']} days of holiday each"
    for said in file.extensions:
        for seat, seconds in said.given:
            yield f"{ascii(names[said.seat])} gave {ascii(names[seat])} {seconds} seconds"
        for declared, first, length in said.holidays:
            yield f"{ascii(names[said.seat])}: {length} days from {day(first)}, declared on {day(declared)}"


def day(number):
    """The date of a day counted from 1970-01-01; its number if it is too far for a date."""
    try:
        return (datetime.date(1970, 1, 1) + datetime.timedelta(number)).isoformat()
    except OverflowError:
        return f"day {number}"


def report(auditor, replica):
    """What was found in a fair file."""
    yield f"fair: {auditor.file.end} after {replica.step} steps, log {replica.parent.hex()}"
    names = [player[0] for player in auditor.file.charter.players]
    winners = ", ".join(ascii(names[seat]) for seat in replica.game.winners()) or "nobody yet"
    yield f"scores {replica.game.scores()}, won by {winners}"
    for seat, deal in replica.left:
        yield f"seat {seat}, {ascii(names[seat])}, left in deal {deal}"
    yield from times(auditor.file, names)
    yield "checked: " + ", ".join(f"{count} {name}" for name, count in sorted(replica.tally.items()))


def main(arguments):
    if len(arguments) != 1:
        print(__doc__)
        return 2
    try:
        with open(arguments[0], "rb") as file:
            auditor = Auditor(file.read())
        lines, code = list(report(auditor, auditor.audit())), 0
    except (OSError, Malformed) as why:
        lines, code = [f"unreadable: {why}"], 2
    except Unfair as why:
        lines, code = [f"NOT FAIR: {why}"], 1
    except Exception:
        traceback.print_exc()
        lines, code = ["the auditor has failed; this says nothing about the game"], 3
    print("\n".join(lines))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
