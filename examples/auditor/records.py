"""The file and its records, with their signatures (docs/transcript.md, parts 1 to 3).

Encodings are read strictly, so that each value has one."""
import collections

import group
from streams import H, full

Charter = collections.namedtuple("Charter", "lobby game version options players raw")
Entry = collections.namedtuple("Entry", "seat step parent digest kind body hash raw signature")
Statement = collections.namedtuple("Statement", "table step parent instance seat says fields raw signature")
Proof = collections.namedtuple("Proof", "proposal accepts consents")
Certificate = collections.namedtuple("Certificate", "step decisions")
Halt = collections.namedtuple("Halt", "table culprit seat step parent earlier seats raw signature")
Claim = collections.namedtuple("Claim", "table seat step parent absent ground name raw signature entry")
Extensions = collections.namedtuple("Extensions", "table seat version given holidays raw signature")
Transcript = collections.namedtuple(
    "Transcript", "charter signatures entries end log equivocation removals faults halted claims extensions")

# The proofs of a shuffle: lists of points and of responses (part 6).
Whole = collections.namedtuple("Whole", "C chain t t_hat s s_hat sp")
Staged = collections.namedtuple("Staged", "permutation consistency")

KINDS = ("commit key act yield ack interject effects shuffle tip confirm open close leave escrow "
         "accept rebuild turn").split()


# Characters that stand in no text.
NEVER_SHOWN = [
    (0x00, 0x1f), (0x7f, 0x9f), (0xad, 0xad), (0x34f, 0x34f), (0x61c, 0x61c), (0x115f, 0x1160), (0x17b4, 0x17b5),
    (0x180b, 0x180f), (0x200b, 0x200f), (0x2028, 0x202e), (0x2060, 0x206f), (0x2800, 0x2800), (0x3164, 0x3164),
    (0xfeff, 0xfeff), (0xffa0, 0xffa0), (0xfff0, 0xfffb), (0x1bca0, 0x1bca3), (0x1d173, 0x1d17a), (0xe0000, 0xe0fff),
]


class Malformed(Exception):
    pass


class Unfair(Exception):
    """What is wrong with a transcript; `seat` is set if that is proven guilty."""

    def __init__(self, what, seat=None):
        super().__init__(what if seat is None else f"{what} [seat {seat}]")
        self.seat = seat


def need(condition, what, seat=None):
    if not condition:
        raise Unfair(what, seat)


_points = {}


def point(raw):
    """The coordinates of an encoded point."""
    if raw not in _points:
        _points[raw] = group.decode(raw)
        if _points[raw] is None:
            raise Malformed("32 bytes that encode no point")
    return _points[raw]


#= T2.1
class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        if self.at + n > len(self.data):
            raise Malformed("it ends too early")
        self.at += n
        return self.data[self.at - n:self.at]

    def u8(self, below=256):
        value = self.take(1)[0]
        if value >= below:
            raise Malformed("a number that is too large")
        return value

    def varint(self, below=2**64):
        value = self.take(1)[0]
        if value > 250:
            if value > 253:
                raise Malformed("no number")
            size = 2 << value - 251
            value = int.from_bytes(self.take(size), "little")
            if value < (251 if size == 2 else 1 << 4 * size):
                raise Malformed("a number that is not written shortly")
        if value >= below:
            raise Malformed("a number that is too large")
        return value

    def u16(self):
        return self.varint(2**16)

    def seat(self):
        return self.u8(6)

    def seats(self):
        return self.u8(64)

    def bool(self):
        return bool(self.u8(2))

    def hash(self):
        return self.take(32)

    def point(self):
        raw = self.take(32)
        point(raw)
        return raw

    def scalar(self):
        value = int.from_bytes(self.take(32), "little")
        if value >= group.L:
            raise Malformed("a scalar that is not reduced")
        return value

    def list(self, item, most=2**64):
        return [item() for _ in range(self.varint(most + 1))]

    def option(self, item):
        return item() if self.bool() else None

    def bytes(self, most):
        return self.take(self.varint(most + 1))

    def text(self, most=64):
        try:
            text = self.bytes(most).decode()
        except UnicodeDecodeError:
            raise Malformed("no UTF-8") from None
        if any(low <= ord(c) <= high for c in text for low, high in NEVER_SHOWN):
            raise Malformed("a character that is never shown")
        return text

    def handle(self):
        return self.u16(), self.u8()

    def slot(self):
        return ("open", self.u8()) if self.u8(2) else ("sealed", self.handle())

    def end(self):
        if self.at != len(self.data):
            raise Malformed("bytes follow")

    # Records.

    def charter(self):
        start = self.at
        lobby, game, version = self.take(8), self.text(), self.u16()
        options = self.list(lambda: (self.text(), self.text()), 16)
        players = self.list(self.player, 6)
        return Charter(lobby, game, version, options, players, self.data[start:self.at])

    def player(self):
        name, key, nonce, party = self.text(), self.key(), self.take(32), self.seat()
        level = self.text(16) if self.varint(2) else None
        if level is not None and not (level and all("a" <= letter <= "z" for letter in level)):
            raise Malformed("no level of a bot")
        return name, key, nonce, party, level

    def key(self):
        raw = self.take(32)
        decoded = group.edwards_decode(raw)
        if decoded is None or group.small_order(decoded) or group.edwards_encode(decoded) != raw:
            raise Malformed("no Ed25519 key")
        return raw

    def signed_entry(self):
        return self.bytes(32768), self.take(64)

    def named_entries(self):
        return self.list(lambda: (self.seat(), self.hash()), 6)

    def value(self):
        """What an instance decides: ("out", seats, entries) or ("keep", seat, entry)."""
        if self.varint(2):
            return "keep", self.seat(), self.hash()
        return "out", self.seats(), self.named_entries()

    def reason(self):
        return ("decision", self.hash()) if self.varint(2) else ("vetoes", self.list(self.hash, 6))

    #= T3.5
    def statement(self):
        start = self.at
        place = self.hash(), self.varint(), self.hash(), self.u16(), self.seat()
        self.option(self.hash)
        says = "consent veto promise propose accept release".split()[self.varint(6)]
        fields = {
            "consent": lambda: (self.seats(), self.named_entries()),
            "veto": lambda: (self.seat(), self.hash()),
            "promise": lambda: (self.u16(), self.option(lambda: (self.u16(), self.hash()))),
            "propose": lambda: (self.u16(), self.value(), self.list(self.hash, 6)),
            "accept": lambda: (self.u16(), self.hash()),
            "release": lambda: self.list(lambda: (self.hash(), self.reason()), 24),
        }[says]()
        return Statement(*place, says, fields, self.data[start:self.at], self.take(64))

    #= T3.6
    def certificate(self):
        def proof():
            return Proof(self.statement(), self.list(self.statement, 6), self.list(self.statement, 6))
        return Certificate(self.varint(), self.list(proof, 12))

    def halt(self):
        start = self.at
        fields = (self.hash(), self.seat(), self.seat(), self.varint(), self.hash(), self.list(self.hash, 2),
                  self.seats())
        return Halt(*fields, self.data[start:self.at], self.take(64))

    #= T3.8
    def claim(self):
        start = self.at
        fields = (self.hash(), self.seat(), self.varint(), self.hash(), self.seats(), self.varint(2),
                  self.option(self.hash))
        return Claim(*fields, self.data[start:self.at], self.take(64), self.option(self.signed_entry))

    #= T3.14
    def extensions(self):
        start = self.at
        fields = (self.hash(), self.seat(), self.u8(), self.list(lambda: (self.seat(), self.varint(2**32)), 6),
                  self.list(lambda: (self.varint(2**32), self.varint(2**32), self.u16()), 16))
        return Extensions(*fields, self.data[start:self.at], self.take(64))

    def evidence(self):
        read = [self.signed_entry, self.statement, self.halt][self.varint(3)]
        return read(), read()

    #= T1.1
    def transcript(self):
        extended = self.take(9)[8] == 5
        return Transcript(
            self.charter(), self.list(lambda: self.take(64), 6), self.list(self.signed_entry, 2**20),
            ["finished", "unfinished", "stopped"][self.varint(3)], self.hash(),
            self.option(self.evidence), self.list(self.certificate, 6),
            self.list(lambda: (self.seat(), self.signed_entry()), 6),
            self.list(lambda: (self.evidence(), self.list(self.halt, 6)), 6),
            self.list(self.claim, 12), self.list(self.extensions, 6) if extended else [])

    # Bodies.

    def equality(self):
        return self.point(), self.point(), self.scalar()

    def shares(self):
        return self.list(self.point, 256), self.equality()

    #= T3.13
    def answers(self):
        shares, rest = self.option(self.shares), self.varint(4)
        return shares, self.hash() if rest in (1, 3) else None, self.part() if rest in (2, 3) else None

    #= T3.13
    def part(self):
        kind = "commit key escrow accept shuffle".split()[self.varint(5)]
        read = {
            "commit": lambda: (self.hash(), self.hash()),
            "key": lambda: (self.point(), self.point(), self.scalar()),
            "escrow": lambda: (self.parts(), self.option(self.shuffle)),
            "accept": lambda: (None, self.option(self.shuffle)),
            "shuffle": lambda: (None, self.shuffle()),
        }[kind]
        return kind, read()

    def parts(self):
        return self.list(lambda: (self.seat(), self.point(), self.scalar()), 5)

    #= T3.4
    def shuffle(self):
        def points():
            return self.list(self.point, 100)

        def scalars():
            return self.list(self.scalar, 100)
        def cards():
            return self.list(lambda: (self.point(), self.point()), 100)

        def proof(announcements, responses):
            return (points(), points(), [self.point() for _ in range(announcements)], points(),
                    [self.scalar() for _ in range(responses)], scalars(), scalars())
        onto, deck = self.hash(), cards()
        if deck:
            return onto, deck, Whole(*proof(5, 4))
        deck, permutation = cards(), proof(3, 3)
        consistency = [self.point() for _ in range(3)], [self.scalar() for _ in range(2)], scalars()
        return onto, deck, Staged(permutation, consistency)

    #= T3.4
    def body(self):
        kind = KINDS[self.varint(17)]
        read = {
            "commit": lambda: (self.hash(), self.hash()),
            "key": lambda: (self.point(), self.point(), self.scalar()),
            "act": lambda: (self.bytes(1024), self.answers()),
            "yield": self.hash,
            "ack": lambda: (self.hash(), self.answers()),
            "interject": lambda: self.bytes(1024),
            "effects": self.answers,
            "shuffle": self.shuffle,
            "tip": self.hash,
            "open": self.hash,
            "escrow": lambda: (self.parts(), self.option(self.shuffle)),
            "accept": lambda: (self.list(lambda: (self.seat(), self.point(), self.equality()), 5),
                               self.option(self.shuffle)),
            "rebuild": self.shares,
            "turn": lambda: (self.hash(), self.answers()),
        }.get(kind, lambda: None)
        return kind, read()


class Signers:
    """The charter, its table id, and the seats' signatures."""

    def __init__(self, charter):
        self.charter = charter
        self.table = H("charter", charter.raw)
        self.count = len(charter.players)
        # For each seat its party, by the lowest seat of it.
        self.parties = [player[3] if len(player) > 3 else seat for seat, player in enumerate(charter.players)]

    def signed(self, seat, label, message, signature):
        return seat < self.count and group.verify_strict(
            self.charter.players[seat][1], full(label).encode() + message, signature)

    def entry(self, signed):
        """Decodes an entry and checks its signature; None if it is none of this table."""
        raw, signature = signed
        reader = Reader(raw)
        try:
            table, step, seat = reader.hash(), reader.varint(), reader.seat()
            parent, digest = reader.hash(), reader.hash()
            reader.option(reader.hash)
            kind, body = reader.body()
            reader.end()
        except Malformed:
            return None
        if table != self.table or not self.signed(seat, "entry", raw, signature):
            return None
        return Entry(seat, step, parent, digest, kind, body, H("entry-hash", raw), raw, signature)

    def word(self, label, word):
        """Whether a statement, halt, claim or extension is of this table and signed."""
        return word.table == self.table and self.signed(word.seat, label, word.raw, word.signature)

    def culprit(self, evidence):
        """The seat (and step) that evidence proves guilty of signing two things that exclude each other, or None."""
        first, label = evidence[0], None
        if isinstance(first, (Statement, Halt)):
            label = "removal" if isinstance(first, Statement) else "halt"
            both = [word if self.word(label, word) else None for word in evidence]
        else:
            both = [self.entry(signed) for signed in evidence]
        if None in both:
            return None
        if label == "removal":
            hashes = [H("removal-hash", word.raw) for word in both]
            excluded = exclude(*both)
        elif label == "halt":
            hashes = [H("halt", word.raw) for word in both]
            excluded = both[0][1:3] == both[1][1:3]
        else:
            hashes = [entry.hash for entry in both]
            excluded = both[0][:2] == both[1][:2]
        return (both[0].seat, both[0].step) if excluded and hashes[0] < hashes[1] else None

    # Parties.

    def closed(self, live, seats):
        """Whether a set of live seats splits no party."""
        return seats <= live and all(seats.issuperset(live & self.seats_of(seat)) for seat in seats)

    def is_majority(self, live, seats):
        """Whether the parties that have all their live seats in a set are more than half."""
        parties = {self.parties[seat] for seat in live}
        whole = [party for party in parties if live & self.seats_of(party) <= seats]
        return 2 * len(whole) > len(parties)

    def count_parties(self, seats):
        return len({self.parties[seat] for seat in seats})

    def seats_of(self, seat):
        return {other for other, party in enumerate(self.parties) if party == self.parties[seat]}


def seat_set(bits):
    return {seat for seat in range(6) if bits >> seat & 1}


#= T3.11
def exclude(one, other):
    """Whether an honest seat signs at most one of two removal statements."""
    same = (one.table, one.step, one.seat) == (other.table, other.step, other.seat)
    return same and (one.parent != other.parent or directed(one, other) or directed(other, one))


#= T3.10
def directed(one, other):
    same_instance = one.instance == other.instance
    said, says = one.fields, other.fields
    kinds = one.says, other.says
    if kinds == ("consent", "consent"):
        return same_instance and said[0] == says[0] and said[1] != says[1]
    if kinds == ("veto", "veto"):
        return said[0] == says[0] and said[1] != says[1]
    if kinds == ("veto", "consent"):
        return other.instance >= one.instance and said[0] in seat_set(says[0]) and said not in says[1]
    if kinds in (("promise", "promise"), ("propose", "propose"), ("accept", "accept")):
        return same_instance and said[0] == says[0] and said != says
    if kinds == ("accept", "promise"):
        forgets = says[1] is None or says[1][0] < said[0] or (says[1][0] == said[0] and says[1][1] != said[1])
        return same_instance and says[0] > said[0] and forgets
    return False


def is_time(text, least, most=604800):
    """A number as part 3 writes times: seconds, or days."""
    return (text is not None and text.isascii() and text.isdigit() and text[0] != "0"
            and len(text) < 8 and least <= int(text) <= most)


#= T9.1
def read_file(data):
    #= T1.6
    if data[:8] != b"fairdeal" or data[8:9] not in (b"\x03", b"\x04", b"\x05") or len(data) > 256 << 20:
        raise Malformed("no transcript of version 3, 4 or 5")
    reader = Reader(data)
    transcript = reader.transcript()
    reader.end()
    charter = transcript.charter
    plain = 4 if dict(charter.options).get("protocol") == "2" else 3
    if data[8] != (5 if transcript.extensions else plain):
        raise Malformed("not the version of its table's files")
    if not charter.players or len(transcript.signatures) != len(charter.players):
        raise Malformed("not one signature a seat")
    for field in (1, 2):
        if len({player[field] for player in charter.players}) < len(charter.players):
            raise Malformed("two seats with one key or nonce")
    keys = [key.encode() for key, _ in charter.options]
    if any(one >= other for one, other in zip(keys, keys[1:])):
        raise Malformed("options out of order")
    for seat, (*_, party, _) in enumerate(charter.players):
        if party > seat or charter.players[party][3] != party:
            raise Malformed("a party that is not named by its lowest seat")
    if len(charter.players) > 1:
        options = dict(charter.options)
        if not is_time(options.get("absence"), 1) or not (
                options.get("turn-time") == "none" or is_time(options.get("turn-time"), 30)):
            raise Malformed("no absence or turn time")
        bank, holidays = options.get("bank"), options.get("holidays")
        if bank is not None and (options["turn-time"] == "none" or not is_time(bank, 30, 2419200)):
            raise Malformed("a bank that no table has")
        if holidays is not None and not is_time(holidays, 1, 90):
            raise Malformed("holidays that no table has")
    signers = Signers(charter)
    for seat, signature in enumerate(transcript.signatures):
        if not signers.signed(seat, "charter-signature", signers.table, signature):
            raise Malformed(f"the charter is not signed by seat {seat}")
    return transcript, signers
