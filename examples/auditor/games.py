"""The five games (docs/transcript.md, part 7, and docs/rules/).

A method that asks for what is random or hidden is a generator: it yields requests and is sent their results. `encode`
gives the bytes of the state for the digest."""
import datetime
import hashlib
import itertools

import tower
from records import Malformed, Reader
from streams import Stream

LETTERS = "winds flames stones waves leaves".split()


# Encodings for the digest.

def varint(n):
    if n < 251:
        return bytes([n])
    size = 2 if n < 2**16 else 4 if n < 2**32 else 8
    return bytes([{2: 251, 4: 252, 8: 253}[size]]) + n.to_bytes(size, "little")


def signed(n):
    return varint(2 * n if n >= 0 else -2 * n - 1)


def u8(n):
    return bytes([n])


def vector(items, item):
    return varint(len(items)) + b"".join(map(item, items))


def option(value, item):
    return b"\0" if value is None else b"\1" + item(value)


def handle(card):
    return varint(card[0]) + u8(card[1])


def slot(s):
    return b"\0" + handle(s[1]) if s[0] == "sealed" else b"\1" + u8(s[1])


def faces(f):
    return vector(f, u8)


def bits(seats):
    return u8(sum(1 << s for s in seats))


def text(t):
    return varint(len(t.encode())) + t.encode()


def vectors(item):
    return lambda items: vector(items, item)


#= T8.2
def request(r):
    kind, *args = r
    if kind == "next":
        return b"\0"
    if kind == "shuffle":
        return b"\1" + faces(args[0])
    if kind == "deal":
        return b"\2" + handle(args[0]) + u8(args[1])
    if kind == "open":
        return b"\3" + vector(args[0], handle)
    if kind == "part":
        return b"\5" + u8(args[0])
    flip, *args = args[0]
    if flip == "die":
        return b"\4\0" + varint(args[0])
    return b"\4\1" + faces(args[0]) if flip == "order" else b"\4\2" + bytes(args)


class Illegal(Exception):
    pass


def must(condition):
    if not condition:
        raise Illegal


#= T7.2
class Game:
    version = 1
    seals_cards = True
    first_deck = next_deck = None

    def __init__(self, seats, options):
        self.seats = seats
        self.left = set()
        self.over = False

    def playing(self):
        return [s for s in range(self.seats) if s not in self.left]

    def next(self, seat):
        return next(s % self.seats for s in range(seat + 1, seat + 1 + self.seats) if s % self.seats not in self.left)

    def clockwise(self, seat):
        return [s % self.seats for s in range(seat, seat + self.seats) if s % self.seats not in self.left]

    def rolled(self):
        return (yield "flip", ("die", self.seats))[0] - 1

    #= T7.3
    def legal(self, seat, action):
        try:
            must(not self.over and seat not in self.left)
            self.check(seat, action)
        except Illegal:
            return False
        return True

    def shown(self, seat, action):
        return []

    def out_of_turn(self, action):
        return False

    def to_act(self):
        return set() if self.over else {self.turn}

    def winners(self):
        best = max((self.scores()[s] for s in self.playing()), default=None)
        return [s for s in self.playing() if self.scores()[s] == best] if self.over else []

    @classmethod
    def action(cls, data):
        """Decodes an action; None if it is none."""
        reader = Reader(data)
        try:
            if reader.varint() != cls.number:
                return None
            action = cls.read(reader)
            reader.end()
            return action
        except Malformed:
            return None


def new_pile(deck, size):
    return [(deck, i) for i in reversed(range(size))]


class Loot(Game):
    number, deck_name, least, most = 0, "viashi", 2, 4
    first_deck = next_deck = tuple(range(54))
    options = {"target": lambda v: is_number(v, 1, 1000)}
    ranks = "queen king prince princess warrior merchant worker magician fool".split()
    gods = "lady dark-lord builder thief protectress seductress minion friend changeling".split()

    def __init__(self, seats, options):
        super().__init__(seats, options)
        self.target, self.hand_number, self.starter, self.turn, self.phase = int(options["target"]), 0, 0, 0, 0
        self.draw, self.discards, self.hands, self.aside = [], [], [[] for _ in range(seats)], []
        self.turns, self.fire, self.totals, self.last_hand = [0] * seats, None, [0] * seats, None

    @classmethod
    def card_name(cls, face):
        return cls.gods[face - 45] if face >= 45 else f"{cls.ranks[face % 9]}-{LETTERS[face // 9]}"

    @staticmethod
    def read(r):
        kind = r.varint(3)
        if kind == 0:
            return "take", r.varint(2)
        return ("discard", r.u8(), r.option(r.handle)) if kind == 1 else ("fire",)

    def encode(self):
        hands, scores = vectors(faces), vectors(signed)
        return (signed(self.target) + varint(self.hand_number) + bytes([self.starter, self.turn, self.phase])
                + vector(self.draw, handle) + faces(self.discards) + vector(self.hands, vectors(slot))
                + vector(self.aside, slot) + vector(self.turns, varint) + option(self.fire, u8)
                + scores(self.totals) + bits(self.left)
                + option(self.last_hand, lambda l: u8(l[0]) + hands(l[1]) + scores(l[2])) + u8(self.over))

    def out_of_turn(self, action):
        return action[0] == "fire"

    def shown(self, seat, action):
        return [(action[2], action[1])] if action[0] == "discard" and action[2] else []

    def check(self, seat, action):
        if action[0] == "take":
            must(seat == self.turn and self.phase == 0 and (self.discards if action[1] else self.draw))
        elif action[0] == "discard":
            must(seat == self.turn and self.phase == 1 and action[1] < 54)
            must((("sealed", action[2]) if action[2] else ("open", action[1])) in self.hands[seat])
        else:
            must(self.fire is None and all(self.turns[s] for s in self.playing()))

    def begin(self):
        self.starter = yield from self.rolled()
        yield from self.deal_hand()

    def deal_hand(self):
        if self.hand_number:
            yield ("next",)
        self.hand_number += 1
        self.turn, self.phase, self.fire = self.starter, 0, None
        self.discards, self.aside, self.hands = [], [], [[] for _ in self.hands]
        self.turns = [0] * self.seats
        self.draw = new_pile((yield "shuffle", self.first_deck), 54)
        for seat in self.clockwise(self.starter) * 9:
            yield from self.deal_to(seat)
        top = self.draw.pop()
        self.discards += yield "open", (top,)

    def deal_to(self, seat):
        card = self.draw.pop()
        yield "deal", card, seat
        self.hands[seat].append(("sealed", card))

    def apply(self, seat, action):
        if action[0] == "take":
            if action[1]:
                self.hands[seat].append(("open", self.discards.pop()))
            else:
                yield from self.deal_to(seat)
            self.phase = 1
        elif action[0] == "discard":
            self.hands[seat].remove(("sealed", action[2]) if action[2] else ("open", action[1]))
            self.discards.append(action[1])
            self.turns[seat] += 1
            self.turn, self.phase = self.next(self.turn), 0
            if self.fire is not None:
                yield from self.burn(self.fire)
            elif not self.draw and len(self.discards) > 1:
                buried, self.discards = self.discards[:-1], self.discards[-1:]
                self.draw = new_pile((yield "shuffle", tuple(buried)), len(buried))
        elif self.phase:
            self.fire = seat
        else:
            yield from self.burn(seat)

    #= T7.34
    def burn(self, by):
        sealed = [s[1] for hand in self.hands for s in hand if s[0] == "sealed"]
        opened = iter((yield "open", tuple(sealed)))
        self.hands = [[("open", next(opened)) if s[0] == "sealed" else s for s in hand] for hand in self.hands]
        hands = [[s[1] for s in hand] for hand in self.hands]
        gods = {face % 9 + 1 for hand in hands for face in hand if face >= 45}
        scores = [best_score(hand, gods) for hand in hands]
        self.totals = [t + s for t, s in zip(self.totals, scores)]
        self.fire, self.last_hand = None, (by, hands, scores)
        if any(abs(t) >= self.target for t in self.totals):
            self.over = True
        else:
            self.starter = self.next(self.starter)
            yield from self.deal_hand()

    def forfeit(self, seat):
        if self.over or seat in self.left:
            return
        self.left.add(seat)
        self.aside += self.hands[seat]
        self.hands[seat] = []
        if len(self.playing()) < 2:
            self.over, self.fire = True, None
        elif seat == self.turn:
            self.turn, self.phase = self.next(self.turn), 0
            if self.fire is not None:
                yield from self.burn(self.fire)

    def scores(self):
        return self.totals


def best_score(hand, gods):
    """The rules of Loot, "What a hand scores": the best arrangement, over all subsets of the hand."""
    hand = sorted(hand)
    rank = [face % 9 + 1 for face in hand]
    suit = [face // 9 for face in hand]
    weight = [2 if r == 9 and 9 in gods else 1 for r in rank]

    def rate(double, half):
        return 2 * (2 if double in gods else 1) // (2 if half in gods else 1)
    run, group_, colour = rate(1, 2), rate(8, 7), rate(5, 6)
    worth = {}

    def combination(places, value):
        mask = sum(1 << p for p in places)
        worth[mask] = max(worth.get(mask, 0), value)

    def value(places, each):
        return each * sum(weight[p] for p in places)

    def subsets(places):
        return [[p for i, p in enumerate(places) if m >> i & 1] for m in range(1, 1 << len(places))]

    def runs_within(places):
        runs, now = [], []
        for p in sorted(places, key=lambda p: rank[p]):
            if now and rank[p] == rank[now[-1]] + 1:
                now.append(p)
            else:
                runs.append(now)
                now = [p]
        return [r for r in runs + [now] if len(r) >= 4]

    for r in range(1, 10):
        for places in subsets([p for p in range(len(hand)) if rank[p] == r]):
            if len(places) >= 3:
                combination(places, value(places, group_))
    for s in range(6):
        for places in subsets([p for p in range(len(hand)) if suit[p] == s]):
            if len(places) >= (3 if 3 in gods else 4):
                inside = sum(value(r, run) for r in runs_within(places))
                combination(places, value(places, colour) + inside)

    def grow(places):
        if len(places) >= 4:
            six = any(len({suit[p] for p in places[i:i + 6]}) == 6 for i in range(len(places) - 5))
            combination(places, value(places, run) + (5 if six else 0))
        for p in range(len(hand)):
            if rank[p] == rank[places[-1]] + 1:
                grow(places + [p])
    for p in range(len(hand)):
        grow([p])

    loose = [0 if 4 in gods else -r * w for r, w in zip(rank, weight)]
    best = [0]
    for subset in range(1, 1 << len(hand)):
        top = subset.bit_length() - 1
        best.append(best[subset & ~(1 << top)] + loose[top])
        for mask, points in worth.items():
            if mask & ~subset == 0 and mask >> top:
                best[subset] = max(best[subset], best[subset & ~mask] + points)
    return best[-1]


def daily_deal(date, k):
    cards = list(range(36))
    Stream(hashlib.sha256(f"fairdeal/daily/2/ivory-tower/{date}/{k}".encode()).digest()).shuffle(cards)
    return cards


class Ivory(Game):
    number, version, deck_name, least, most = 1, 2, "decktet", 1, 1
    options = {"daily": lambda v: v == "none" or is_day(v)}
    suits = "moons suns waves leaves wyrms knots".split()
    cards = """author 0 5 desert 1 4 origin 2 3 painter 1 5 savage 3 4 journey 0 2 mountain 0 1 sailor 2 3
        battle 4 5 forest 0 3 soldier 4 5 discovery 1 2 market 3 5 lunatic 0 2 penitent 1 4 castle 1 5 cave 2 4
        meeting 0 3 mill 2 3 diplomat 0 1 betrayal 4 5 darkness 2 4 merchant 3 5 pact 0 1""".split()

    def __init__(self, seats, options):
        super().__init__(seats, options)
        self.daily = None if options["daily"] == "none" else options["daily"]
        self.deck, self.draw, self.piles, self.tower, self.recycles, self.seen = [], [], [], [], 0, []
        self.turn = 0

    @classmethod
    def card_name(cls, f):
        if f < 6 or f >= 30:
            return ("ace-" if f < 6 else "crown-") + cls.suits[f % 6]
        return cls.cards[3 * (f - 6)]

    @classmethod
    def suits_of(cls, f):
        return {f % 6} if f < 6 or f >= 30 else {int(s) for s in cls.cards[3 * (f - 6) + 1:][:2]}

    @staticmethod
    def rank(f):
        return 1 if f < 6 else 10 if f >= 30 else (f - 6) // 3 + 2

    @staticmethod
    def read(r):
        kind = r.varint(3)
        if kind != 1:
            return ("turn",) if kind == 0 else ("resign",)
        source = ("pile", r.u8()) if r.varint(2) else ("draw",)
        to = r.varint(3)
        return "play", source, ("pile", r.u8()) if to == 1 else (["tower", "", "new"][to],)

    def encode(self):
        return (option(self.daily, text) + vector(self.deck, slot) + vector(self.draw, slot)
                + vector(self.piles, faces) + faces(self.tower) + varint(self.recycles) + faces(self.seen)
                + u8(self.over))

    def available(self, source):
        if source[0] == "draw":
            return self.draw[-1][1] if self.draw else None
        return self.piles[source[1]][-1] if source[1] < len(self.piles) else None

    def check(self, seat, action):
        if action[0] == "turn":
            must(self.deck or self.draw)
        elif action[0] == "play":
            card, to = self.available(action[1]), action[2]
            must(card is not None)
            if to[0] == "tower":
                if self.tower:
                    must(self.suits_of(self.tower[0]) & self.suits_of(card))
                must(self.rank(card) == len(self.tower) + 1)
            elif to[0] == "new":
                must(action[1][0] == "draw" and self.rank(card) == 10 and len(self.piles) < 3)
            else:
                last = self.available(to)
                must(last is not None and self.rank(card) + 1 == self.rank(last))
                must(not self.suits_of(last) & self.suits_of(card))

    def begin(self):
        if self.daily:
            deals = (daily_deal(self.daily, k) for k in itertools.count())
            self.deck = [("open", card) for card in reversed(next(filter(tower.can_be_won, deals)))]
        else:
            deck = yield "shuffle", tuple(range(36))
            self.deck = [("sealed", card) for card in new_pile(deck, 36)]
        yield from self.turn_three()

    def turn_three(self):
        for _ in range(min(3, len(self.deck))):
            self.draw.append(self.deck.pop())
        yield from self.look()

    def look(self):
        if self.draw:
            if self.draw[-1][0] == "sealed":
                self.draw[-1] = ("open", (yield "open", (self.draw[-1][1],))[0])
            if self.draw[-1][1] not in self.seen:
                self.seen.append(self.draw[-1][1])

    def apply(self, seat, action):
        if action[0] == "turn":
            if not self.deck:
                self.deck, self.draw = self.draw[::-1], []
                self.recycles += 1
            yield from self.turn_three()
        elif action[0] == "play":
            _, source, to = action
            card = self.available(source)
            if to[0] == "tower":
                self.tower.append(card)
            elif to[0] == "new":
                self.piles.append([card])
            else:
                self.piles[to[1]].append(card)
            if source[0] == "draw":
                self.draw.pop()
                yield from self.look()
            else:
                self.piles[source[1]].pop()
                self.piles = [pile for pile in self.piles if pile]
            self.over = len(self.tower) == 10
        else:
            self.over = True

    def forfeit(self, seat):
        self.over = True
        yield from ()

    def scores(self):
        return [len(self.tower)]

    def winners(self):
        return [0] if len(self.tower) == 10 else []


class Plutonian(Game):
    number, deck_name, least, most, seals_cards = 2, "treehouse", 2, 6, False
    options = {"order": lambda v: v in ("cycle", "snake"), "wilds": lambda v: v in ("none", "bottoms", "center")}
    # Pyramids are (colour or None, size from 0).
    hands = [("tree", 3, 20), ("nest", 3, 20), ("same", 5, 12), ("same", 4, 10), ("all", 5, 8), ("all", 4, 6),
             ("turns", 5, 5), ("same", 3, 4), ("turns", 4, 3), ("same", 2, 2)]

    def __init__(self, seats, options):
        super().__init__(seats, options)
        self.wilds, self.snake = ["none", "bottoms", "center"].index(options["wilds"]), options["order"] == "snake"
        self.trees, self.stacks = [], [[] for _ in range(seats)]
        self.first = self.place = self.turns = 0
        self.votes = set()

    @staticmethod
    def read(r):
        return ("vote", r.bool()) if r.varint(2) else ("take", r.u8(), r.option(r.u8))

    def encode(self):
        trees = vectors(vectors(lambda p: option(p[0], u8) + u8(p[1])))
        return (bytes([self.wilds, self.snake]) + trees(self.trees) + vector(self.stacks, trees) + u8(self.first)
                + varint(self.place) + varint(self.turns) + bits(self.votes) + bits(self.left) + u8(self.over))

    def at(self, place):
        rounds, along = divmod(place, self.seats)
        return (self.first + (self.seats - 1 - along if self.snake and rounds % 2 else along)) % self.seats

    def to_act(self):
        return set() if self.over else {self.at(self.place)}

    def step(self):
        self.place += 1
        while self.at(self.place) in self.left:
            self.place += 1

    def out_of_turn(self, action):
        return action[0] == "vote"

    def check(self, seat, action):
        if action[0] == "vote":
            must((seat in self.votes) != action[1])
            return
        _, tree, stack = action
        must(seat == self.at(self.place) and tree < len(self.trees) and self.trees[tree])
        must(self.wilds < 2 or tree + 1 < len(self.trees) or not all(self.trees[:-1]))
        must(stack is None or stack < len(self.stacks[seat]))

    def begin(self):
        columns = yield "flip", ("columns", 5, self.seats + 1, 3)
        self.trees = [[(c // 25 % 5, 2), (c // 5 % 5, 1), (c % 5, 0)] for c in columns]
        if self.wilds == 1:
            order = yield "flip", ("order", tuple(range(len(self.trees))))
            for tree, size in zip(order, (2, 1, 0)):
                self.trees[tree].insert(0, (None, size))
        elif self.wilds == 2:
            self.trees.append([(None, 2), (None, 1), (None, 0)])
        self.first = yield from self.rolled()

    def apply(self, seat, action):
        yield from ()
        if action[0] == "take":
            _, tree, stack = action
            if stack is None:
                stack = len(self.stacks[seat])
                self.stacks[seat].append([])
            self.stacks[seat][stack].append(self.trees[tree].pop())
            self.turns += 1
            if any(self.trees):
                self.step()
            else:
                self.over = True
        else:
            (self.votes.add if action[1] else self.votes.discard)(seat)
            self.count()

    def count(self):
        self.over = self.over or 2 * len(self.votes) > len(self.playing())

    def forfeit(self, seat):
        yield from ()
        if self.over or seat in self.left:
            return
        had_turn = seat in self.to_act()
        self.left.add(seat)
        self.votes.discard(seat)
        if len(self.playing()) < 2:
            self.over = True
            return
        if had_turn:
            self.step()
        self.count()

    @classmethod
    def worth(cls, stack):
        sizes, colours = [p[1] for p in stack], [p[0] for p in stack]
        seen = [c for c in colours if c is not None]
        one_size, one_colour = len(set(sizes)) == 1, len(set(seen)) <= 1
        odd, even = set(colours[1::2]) - {None}, set(colours[::2]) - {None}
        fits = {"tree": sizes == [2, 1, 0] and one_colour, "nest": sizes == [0, 1, 2] and one_colour,
                "same": one_size and one_colour, "all": one_size and len(set(seen)) == len(seen),
                "turns": one_size and len(odd) < 2 and len(even) < 2 and (not odd or odd != even)}
        for kind, size, points in cls.hands:
            if len(stack) == size and fits[kind]:
                return points if kind in ("tree", "nest") else points * (sizes[0] + 1)
        return 0

    def scores(self):
        return [sum(map(self.worth, stacks)) for stacks in self.stacks]


class Sphinx(Game):
    number, deck_name, least, most = 3, "playing-cards", 2, 4
    first_deck = tuple(face for face in range(52) if face % 13 + 1 in (1, 2, 3, 13))
    options = {"magician": lambda v: v in ("king", "diagonal")}
    pylons = [(59, 60), (31, 39), (3, 4), (24, 32)]  # north, east, south, west
    central = (27, 28, 35, 36)

    def __init__(self, seats, options):
        super().__init__(seats, options)
        self.diagonal = options["magician"] == "diagonal"
        self.jacks, self.cuts, self.packs, self.turned = [], [], [[]] * 4, [[], [], [], []]
        self.status, self.votes, self.magicians, self.monsters = [0] * seats, set(), [None] * seats, {}
        self.supply, self.turn, self.phase, self.roll = [seats, 2 * seats, 2 * seats], 0, 0, None
        self.points, self.moved = 0, False

    @staticmethod
    def card_name(face):
        return "A 2 3 4 5 6 7 8 9 10 J Q K".split()[face % 13] + "SHDC"[face // 13]

    @staticmethod
    def read(r):
        kind, square = r.varint(7), lambda: r.u8(64)
        if kind < 2:
            return ("place", "magician")[kind], square()
        if kind == 3:
            return "introduce", r.varint(3), square()
        if kind == 4:
            return "monster", r.varint(3), square(), square()
        return ("vote", r.bool()) if kind == 6 else (("stay",) if kind == 2 else ("end",))

    def encode(self):
        monsters = sorted(self.monsters.items())
        return (u8(self.diagonal) + faces(self.jacks) + faces(self.cuts)
                + b"".join(vector(pack, slot) for pack in self.packs) + b"".join(map(faces, self.turned))
                + vector(self.status, varint) + bits(self.votes) + vector(self.magicians, lambda m: option(m, u8))
                + vector(monsters, lambda m: u8(m[0]) + bytes(m[1])) + bytes(self.supply)
                + bytes([self.turn, self.phase]) + option(self.roll, u8) + bytes([self.points, self.moved])
                + bits(self.left) + u8(self.over))

    def out_of_turn(self, action):
        return action[0] == "vote"

    @staticmethod
    def near(square, straight=True, diagonal=True):
        f, r = square % 8, square // 8
        return [x + 8 * y for x in range(f - 1, f + 2) for y in range(r - 1, r + 2)
                if 0 <= x < 8 and 0 <= y < 8 and (x, y) != (f, r) and (diagonal if x != f and y != r else straight)]

    def pylon(self, square):
        return next((i for i, pair in enumerate(self.pylons) if square in pair), None)

    def places(self):
        return [square for square in self.central if square not in self.monsters]

    def check(self, seat, action):
        kind, *args = action
        if kind == "vote":
            must(self.status[seat] == 0 and (seat in self.votes) != args[0])
            return
        own = self.magicians[seat]
        must(seat == self.turn and self.phase == (kind in ("introduce", "monster", "end")))
        if kind == "place":
            must(own is None and args[0] in self.places())
        elif kind == "magician":
            must(own is not None and args[0] in self.near(own, not self.diagonal) and args[0] not in self.monsters)
        elif kind == "stay":
            must(own is not None)
        elif kind == "introduce":
            size, at = args
            spade = self.pylon(at) is not None and any(face < 13 for face in self.turned[self.pylon(at)])
            must(not self.moved and self.supply[size] and size < self.points)
            must((at in self.central or spade) and at not in self.magicians)
        elif kind == "monster":
            size, start, to = args
            must(self.points and self.monsters.get(start, [0] * 3)[size])
            closed = {m for m in self.magicians if m is not None} | {s for pair in self.pylons for s in pair}
            reached = {start}
            for _ in range(size + 1):
                reached |= {n for s in reached for n in self.near(s, True, False) if n not in closed}
            must(to != start and to in reached)

    def begin(self):
        def of(*ranks):
            return tuple(face for face in range(52) if face % 13 + 1 in ranks)
        self.jacks = (yield "flip", ("order", of(11)))[:self.seats]
        deck = yield "shuffle", self.first_deck
        self.packs = [[("sealed", (deck, 4 * pylon + i)) for i in (3, 2, 1, 0)] for pylon in range(4)]
        self.cuts = (yield "flip", ("order", of(4, 5, 6, 7, 8, 9, 10, 12)))[:self.seats]
        yield from self.begin_turn(max(range(self.seats), key=lambda s: (self.cuts[s] % 13, -self.cuts[s])))

    def begin_turn(self, seat):
        self.turn, self.phase, self.roll, self.points, self.moved = seat, 0, None, 0, False
        if self.status[seat] or (self.magicians[seat] is None and not self.places()):
            yield from self.die()

    def die(self):
        roll = (yield "flip", ("die", 6))[0]
        self.points = roll - 3 if roll > 3 and not any(self.supply) else roll
        self.roll, self.phase = roll, 1

    def enter(self, size, at):
        self.supply[size] -= 1
        self.monsters.setdefault(at, [0, 0, 0])[size] += 1

    def apply(self, seat, action):
        kind, *args = action
        if kind in ("place", "magician", "stay"):
            if args:
                self.magicians[seat] = args[0]
            at = self.magicians[seat]
            pylon = self.pylon(at)
            if pylon is not None and self.packs[pylon]:
                top = self.packs[pylon].pop()
                face = top[1] if top[0] == "open" else (yield "open", (top[1],))[0]
                own, king, size = face // 13 == self.jacks[seat] // 13, face % 13 == 12, face % 13
                if king and not own:
                    self.packs[pylon].insert(0, ("open", face))
                else:
                    self.turned[pylon].append(face)
                other = sum(self.pylons[pylon]) - at
                if king and own:
                    self.settle(seat, 1)
                    self.look_for_the_end()
                elif not king and self.supply[size] and other not in self.magicians:
                    self.enter(size, other)
                    self.look_for_losers()
            if not self.over:
                yield from self.die()
        elif kind == "introduce":
            self.points -= args[0] + 1
            self.enter(*args)
            self.look_for_losers()
        elif kind == "monster":
            size, start, to = args
            self.points, self.moved = self.points - 1, True
            self.monsters[start][size] -= 1
            if not any(self.monsters[start]):
                del self.monsters[start]
            self.monsters.setdefault(to, [0, 0, 0])[size] += 1
            self.look_for_losers()
        elif kind == "end":
            yield from self.end_turn()
        else:
            (self.votes.add if args[0] else self.votes.discard)(seat)
            self.look_for_the_end()

    def end_turn(self):
        lower = [s for s in self.playing() if s < self.turn]
        yield from self.begin_turn(max(lower or self.playing(), default=self.turn))

    def look_for_losers(self):
        for seat, at in enumerate(list(self.magicians)):
            if at is not None and self.pylon(at) is None and all(n in self.monsters for n in self.near(at)):
                self.settle(seat, 2)
        self.look_for_the_end()

    def settle(self, seat, status):
        self.status[seat], self.magicians[seat] = status, None
        self.votes.discard(seat)

    def look_for_the_end(self):
        self.over = self.over or all(s in self.votes for s in range(self.seats) if self.status[s] == 0)

    def forfeit(self, seat):
        if self.over or seat in self.left:
            return
        self.left.add(seat)
        if self.status[seat] == 0:
            self.settle(seat, 2)
        self.look_for_the_end()
        if not self.over and seat == self.turn:
            yield from self.end_turn()

    def scores(self):
        return [int(status == 1) for status in self.status]

    def winners(self):
        return [s for s in range(self.seats) if self.over and self.status[s] == 1]


class Thoth(Game):
    number, version, deck_name, least, most = 4, 2, "tarot", 2, 5
    first_deck = next_deck = tuple(range(78))
    options = {"happenstance": lambda v: v in ("false", "true"),
               "opening": lambda v: v in ("dealer-left", "auction"), "target": lambda v: is_number(v, 1, 1000)}
    trumps = """fool magician priestess empress emperor hierophant lovers chariot strength hermit wheel justice
        hanged-man death temperance devil tower star moon sun judgment world""".split()
    elemental = {0: 3, 12: 2, 20: 1, 21: 4}
    planetary = (1, 2, 3, 10, 16, 19, 21)
    zodiacal = {4: 1, 8: 1, 14: 1, 6: 3, 11: 3, 17: 3, 7: 2, 13: 2, 18: 2, 5: 4, 9: 4, 15: 4}
    courts = {11: 4, 12: 3, 13: 2, 14: 1}  # princess earth, prince air, queen water, king fire

    def __init__(self, seats, options):
        super().__init__(seats, options)
        self.target, self.auction = int(options["target"]), options["opening"] == "auction"
        self.happenstance = options["happenstance"] == "true"
        self.hand_number, self.dealer, self.starter, self.turn, self.phase, self.extra = 0, 0, 0, 0, 2, 0
        self.deck, self.discards, self.hands, self.aside = [], [], [[] for _ in range(seats)], []
        self.bids, self.pool, self.pickers, self.face_down = [None] * seats, [], [], None
        self.reshuffles = 0
        self.totals, self.last_hand = [0] * seats, None
        self.clear_table()

    def clear_table(self):
        self.bank = [[5] * 3 for _ in range(5)]
        # A house: levels [card, pyramids], roof, Trouble.
        self.houses = [[[], None, []] for _ in range(self.seats)]

    @classmethod
    def suited(cls, card):
        """The element of the suit, and the rank from 1; (None, 0) for a trump."""
        return (None, 0) if card < 22 else ((card - 22) // 14 + 1, (card - 22) % 14 + 1)

    @classmethod
    def card_name(cls, card):
        if card < 22:
            return cls.trumps[card]
        suit, rank = cls.suited(card)
        names = {1: "ace", 11: "princess", 12: "prince", 13: "queen", 14: "king"}
        return f"{names.get(rank, rank)}-{'wands cups swords disks'.split()[suit - 1]}"

    @staticmethod
    def read(r):
        kind = r.varint(6)
        if kind == 2:
            card, where, use = r.u8(), r.option(r.handle), r.varint(7)
            if use == 1:
                return "play", card, where, ("raise", r.varint(3), r.u8())
            if use == 4:
                return "play", card, where, ("trouble", r.seat(), r.option(r.u8))
            return "play", card, where, (["foundation", "", "story", "roof", "", "relieve", "discard"][use],)
        return [lambda: ("bid", r.handle()), lambda: ("pick", r.u8()), None, lambda: ("end", r.slot()),
                lambda: ("demolish",), lambda: ("topple", r.seat())][kind]()

    def encode(self):
        def house(h):
            levels = vector(h[0], lambda l: u8(l[0]) + vector(l[1], bytes))
            return levels + option(h[1], u8) + faces(h[2])
        hands, houses, scores = vectors(faces), vectors(house), vectors(signed)
        return (signed(self.target) + bytes([self.auction, self.happenstance]) + varint(self.hand_number)
                + bytes([self.dealer, self.starter, self.turn, self.phase]) + varint(self.extra)
                + vector(self.deck, handle) + faces(self.discards) + b"".join(map(bytes, self.bank))
                + vector(self.hands, vectors(slot)) + vector(self.aside, slot)
                + vector(self.bids, lambda b: option(b, handle)) + faces(self.pool) + faces(self.pickers)
                + houses(self.houses) + option(self.face_down, lambda f: u8(f[0]) + slot(f[1]))
                + u8(self.reshuffles) + scores(self.totals) + bits(self.left)
                + option(self.last_hand, lambda l: option(l[0], u8) + hands(l[1]) + houses(l[2]) + scores(l[3]))
                + u8(self.over))

    # What cards are.

    def redeemed(self, card):
        suit, rank = self.suited(card)
        if suit:
            return (suit, rank) if rank < 11 else None
        return 0, 12 if card in self.zodiacal else 7 if card in self.planetary else 4

    def relieves(self, card):
        return self.suited(card)[0] or self.elemental.get(card)

    def takes(self, level, element, size):
        card, pyramids = level
        suit, rank = self.suited(card)
        allowed = element == self.elemental[card] if card in self.elemental else (
            element in (suit, self.courts.get(rank)) if suit else card in self.planetary)
        return len(pyramids) < 4 and allowed and all(p[1] == size for p in pyramids)

    def roof_element(self, card):
        suit, rank = self.suited(card)
        return suit if rank == 10 else 0 if card == 20 else self.zodiacal.get(card)

    def can_relieve(self, seat, card):
        element = self.relieves(card)
        return element is not None and any(self.zodiacal[t] == element for t in self.houses[seat][2])

    def blocked(self, seat):
        levels = self.houses[seat][0]
        if not levels:
            return False
        if len(levels[-1][1]) == 4:
            built = {card for house in self.houses for card, _ in house[0]}
            return all(p[0] == 0 for p in levels[-1][1]) and built.issuperset(self.planetary + (20,))
        return not any(self.bank[e][s] and self.takes(levels[-1], e, s) for e in range(5) for s in range(3))

    def to_act(self):
        if self.over:
            return set()
        if self.phase == 0:
            return {s for s in self.playing() if self.bids[s] is None}
        return set(self.pickers[:1]) if self.phase == 1 else {self.turn}

    def shown(self, seat, action):
        return [(action[2], action[1])] if action[0] == "play" and action[2] else []

    def check(self, seat, action):
        kind, *args = action
        must(seat in self.to_act() and self.phase == {"bid": 0, "pick": 1}.get(kind, 2))
        hand = self.hands[seat]
        if kind == "bid":
            must(("sealed", args[0]) in hand)
        elif kind == "pick":
            must(args[0] in self.pool)
        elif kind == "end":
            must(args[0] in hand and not self.houses[seat][2] and all(map(self.blocked, self.playing())))
        elif kind == "demolish":
            levels = self.houses[seat][0]
            must(self.happenstance and (len(levels) > 1 or any(level[1] for level in levels)))
        elif kind == "topple":
            must(self.happenstance and args[0] != seat and args[0] < self.seats and self.houses[args[0]][0])
        else:
            must(args[0] < 78 and (("sealed", args[1]) if args[1] else ("open", args[0])) in hand)
            self.check_use(seat, args[0], args[2])

    def check_use(self, seat, card, use):
        levels, _, trouble = self.houses[seat]
        suit, rank = self.suited(card)
        kind, *args = use
        must(not trouble or kind in ("relieve", "discard"))
        if kind == "foundation":
            must(not levels and (rank == 1 or card in self.planetary or card in self.elemental))
        elif kind == "raise":
            size, count = args
            must(levels and self.redeemed(card))
            element, value = self.redeemed(card)
            must(self.takes(levels[-1], element, size) and 0 < count <= 4 - len(levels[-1][1]))
            must(count * (size + 1) <= value and count <= self.bank[element][size])
        elif kind in ("story", "roof"):
            must(levels and len(levels[-1][1]) == 4)
            below = {p[0] for p in levels[-1][1]}
            if kind == "story":
                must(card in self.planetary or (rank > 10 and suit in below))
            else:
                must(self.roof_element(card) in below)
        elif kind == "trouble":
            target, replace = args
            must(card in self.zodiacal and target != seat and target < self.seats and self.houses[target][0])
            (*_, top), _, lying = self.houses[target]
            immune = {p[0] for p in top[1]} or {self.suited(top[0])[0]}
            must(len(self.houses[target][0]) == 1 or self.zodiacal[card] not in immune)
            must(replace in (0, 1) if len(lying) == 2 else replace is None)
        else:
            must(self.can_relieve(seat, card) == (kind == "relieve"))

    # What is done.

    def begin(self):
        self.dealer = yield from self.rolled()
        yield from self.deal_hand()

    def deal_hand(self):
        self.hand_number += 1
        self.starter, self.extra = self.next(self.dealer), 0
        self.clear_table()
        self.hands, self.discards, self.aside, self.face_down = [[] for _ in self.hands], [], [], None
        self.reshuffles = 0
        self.deck = new_pile((yield "shuffle", self.first_deck), 78)
        for seat in self.clockwise(self.starter) * 5:
            yield from self.deal_to(seat)
        if self.auction and self.hand_number == 1:
            self.phase = 0
        else:
            self.phase = 2
            yield from self.begin_turn(self.starter)

    def deal_to(self, seat):
        if self.deck:
            card = self.deck.pop()
            self.hands[seat].append(("sealed", card))
            yield "deal", card, seat

    def begin_turn(self, seat):
        self.turn = seat
        if not self.deck and self.discards:
            if self.reshuffles == 4:
                yield from self.end_hand(None)
                return
            self.reshuffles += 1
            deck = yield "shuffle", tuple(self.discards)
            self.deck, self.discards = new_pile(deck, len(self.discards)), []
        yield from self.deal_to(seat)

    def finish_turn(self, seat):
        if self.extra:
            self.extra -= 1
            yield from self.begin_turn(seat)
        else:
            yield from self.begin_turn(self.next(seat))

    def apply(self, seat, action):
        kind, *args = action
        if kind == "bid":
            self.hands[seat].remove(("sealed", args[0]))
            self.bids[seat] = args[0]
            yield from self.settle_bids()
        elif kind == "pick":
            self.pool.remove(args[0])
            self.hands[seat].append(("open", args[0]))
            yield from self.go_on_picking()
        elif kind == "end":
            self.hands[seat].remove(args[0])
            self.face_down = (seat, args[0])
            yield from self.end_hand(seat)
        elif kind == "demolish":
            self.demolish(seat)
        elif kind == "topple":
            self.totals[seat] -= 156
            self.knock_over(seat, args[0])
        else:
            card, where, use = args
            self.hands[seat].remove(("sealed", where) if where else ("open", card))
            yield from self.play(seat, card, *use)

    def play(self, seat, card, use, *args):
        house = self.houses[seat]
        if use == "roof":
            house[1] = card
            yield from self.end_hand(seat)
            return
        if use in ("foundation", "story"):
            house[0].append([card, []])
            self.extra += use == "foundation" and card in self.elemental
        elif use == "raise":
            self.discards.append(card)
            element = self.redeemed(card)[0]
            house[0][-1][1] += [(element, args[0])] * args[1]
            self.bank[element][args[0]] -= args[1]
            self.extra += card in self.elemental and card != 21
        elif use == "trouble":
            target, replace = args
            lying = self.houses[target][2]
            if replace is None:
                lying.append(card)
            else:
                self.discards.append(lying[replace])
                lying[replace] = card
        elif use == "relieve":
            element = self.relieves(card)
            self.discards += [t for t in house[2] if self.zodiacal[t] == element] + [card]
            house[2] = [t for t in house[2] if self.zodiacal[t] != element]
            self.extra += 2 if card < 22 else self.suited(card)[1] > 10
        else:
            self.discards.append(card)
        stories = len(house[0]) - 1
        if use in ("raise", "story") and self.happenstance and stories > 0:
            roll = (yield "flip", ("die", 20))[0]
            if roll <= stories:
                self.demolish(seat)
            elif roll == 20:
                others = [s for s in self.clockwise(seat)[1:] if self.houses[s][0]]
                if others:
                    self.knock_over(seat, others[0])
        yield from self.finish_turn(seat)

    def take_back(self, levels):
        for _, pyramids in levels:
            for element, size in pyramids:
                self.bank[element][size] += 1

    def demolish(self, seat):
        levels = self.houses[seat][0]
        self.take_back(levels)
        self.discards += [card for card, _ in levels[1:]]
        self.houses[seat][0] = [[card, []] for card, _ in levels[:1]]

    def clear_house(self, seat):
        levels, roof, trouble = self.houses[seat]
        self.take_back(levels)
        self.discards += [card for card, _ in levels] + ([] if roof is None else [roof]) + trouble
        self.houses[seat] = [[], None, []]

    def knock_over(self, by, victim):
        self.clear_house(victim)
        self.houses[victim], self.houses[by] = self.houses[by], [[], None, []]

    def end_hand(self, by):
        sealed = tuple(s[1] for hand in self.hands for s in hand if s[0] == "sealed")
        opened = iter((yield "open", sealed))
        hands = [[next(opened) if s[0] == "sealed" else s[1] for s in hand] for hand in self.hands]
        scores = [self.house_score(h) + self.hand_score(hand) for h, hand in zip(self.houses, hands)]
        self.totals = [t + s for t, s in zip(self.totals, scores)]
        self.last_hand = (by, hands, [[[list(l) for l in h[0]], h[1], h[2][:]] for h in self.houses], scores)
        self.extra = 0
        if any(t >= self.target or t <= -2 * self.target for t in self.totals):
            self.over = True
            return
        order = self.clockwise(self.starter)
        self.dealer = max(order, key=lambda s: scores[s])
        yield ("next",)
        yield from self.deal_hand()

    def house_score(self, house):
        levels, roof, _ = house
        pyramids = [p for _, on in levels for p in on]
        score = sum(size + 1 for _, size in pyramids) + max(0, len(levels) - 1)
        if roof is not None:
            score += 5 + sum(e == self.roof_element(roof) for e, _ in pyramids)
        return score

    def hand_score(self, hand):
        ranks = [self.suited(card)[1] for card in hand]
        courts = sum(r > 10 for r in ranks)
        return -sum(r for r in ranks if r < 11) - [0, 1, 5, 25, 50][min(courts, 4)]

    def settle_bids(self):
        playing = self.playing()
        if any(self.bids[s] is None for s in playing):
            return
        shown = yield "open", tuple(self.bids[s] for s in playing)
        self.bids = [None] * self.seats
        self.pool += shown
        worth = {s: (1, card) if card < 22 else (0, self.suited(card)[1]) for s, card in zip(playing, shown)}
        tied = [s for s in self.clockwise(self.next(self.dealer)) if worth[s] == max(worth.values())]
        if len(tied) > 1 and any(self.hands[s] for s in playing):
            return
        self.starter, self.phase = tied[0], 1
        self.pickers = self.clockwise(tied[0])[::-1]
        yield from self.go_on_picking()

    def go_on_picking(self):
        while self.pickers:
            hand = self.hands[self.pickers[0]]
            lacks = max(0, 5 - len(hand))
            if lacks and len(self.pool) > lacks:
                return
            if lacks:
                hand += [("open", card) for card in self.pool]
                self.pool = []
            self.pickers.pop(0)
        self.discards += self.pool
        self.pool, self.phase = [], 2
        first = self.starter if self.starter not in self.left else self.next(self.starter)
        yield from self.begin_turn(first)

    def forfeit(self, seat):
        if self.over or seat in self.left:
            return
        self.left.add(seat)
        self.aside += self.hands[seat]
        self.hands[seat] = []
        if self.bids[seat] is not None:
            self.aside.append(("sealed", self.bids[seat]))
            self.bids[seat] = None
        self.clear_house(seat)
        if len(self.playing()) < 2:
            self.over, self.extra = True, 0
        elif self.phase == 0:
            yield from self.settle_bids()
        elif self.phase == 1:
            self.pickers = [s for s in self.pickers if s != seat]
            yield from self.go_on_picking()
        elif seat == self.turn:
            self.extra = 0
            yield from self.begin_turn(self.next(seat))

    def scores(self):
        return self.totals


def is_number(value, least, most):
    return value.isascii() and value.isdigit() and str(int(value)) == value and least <= int(value) <= most


def is_day(value):
    try:
        # Python knows no year 0.
        day = ("0004" if value[:4] == "0000" else value[:4]) + value[4:]
        return len(value) == 10 and value[:4].isdigit() and str(datetime.date.fromisoformat(day)) == day
    except ValueError:
        return False


GAMES = {"loot": Loot, "ivory-tower": Ivory, "plutonian-poker": Plutonian,
         "sphinxs-paw": Sphinx, "houses-of-thoth": Thoth}


#= T3.12, T7.1, T7.33
def create(charter):
    """The game of a charter (None if it cannot be played), whether the table is strict, and its protocol."""
    options = dict(charter.options)
    strict = options.get("strict") == "true"
    if strict:
        del options["strict"]
    protocol = 2 if options.get("protocol") == "2" else 1
    if protocol == 2:
        del options["protocol"]
    if len(charter.players) > 1:
        del options["absence"], options["turn-time"]
        options.pop("bank", None), options.pop("holidays", None)
    game = GAMES.get(charter.game)
    if (game is None or charter.version != game.version or not game.least <= len(charter.players) <= game.most
            or options.keys() != game.options.keys()
            or not all(fits(options[key]) for key, fits in game.options.items())):
        return None, strict, protocol
    return game(len(charter.players), options), strict, protocol
