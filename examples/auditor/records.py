"""The file and its records, with their signatures (docs/transcript.md, parts 1 to 3).

Encodings are read strictly, so that each value has one."""
import collections

import group
from streams import H, full

Charter = collections.namedtuple("Charter", "lobby game version options players raw")
Entry = collections.namedtuple("Entry", "seat step parent digest kind body hash raw signature")
Ballot = collections.namedtuple("Ballot", "table step round seat base release target raw signature")
Halt = collections.namedtuple("Halt", "table culprit seat step parent earlier seats raw signature")
Claim = collections.namedtuple("Claim", "table seat step parent raw signature")
Transcript = collections.namedtuple(
    "Transcript", "charter signatures entries end log equivocation ballots faults halted claims")

KINDS = ("commit key act yield ack interject effects shuffle tip confirm open close leave escrow "
         "accept rebuild").split()


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
            return self.bytes(most).decode()
        except UnicodeDecodeError:
            raise Malformed("no UTF-8") from None

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
        players = self.list(lambda: (self.text(), self.key(), self.take(32)), 6)
        return Charter(lobby, game, version, options, players, self.data[start:self.at])

    def key(self):
        raw = self.take(32)
        decoded = group.edwards_decode(raw)
        if decoded is None or group.small_order(decoded) or group.edwards_encode(decoded) != raw:
            raise Malformed("no Ed25519 key")
        return raw

    def signed_entry(self):
        return self.bytes(32768), self.take(64)

    def ballot(self):
        start = self.at
        release = lambda: (self.seat(), self.seat())
        fields = (self.hash(), self.varint(), self.u16(), self.seat(), self.seats(), self.option(release),
                  self.option(self.seat))
        return Ballot(*fields, self.data[start:self.at], self.take(64))

    def halt(self):
        start = self.at
        fields = (self.hash(), self.seat(), self.seat(), self.varint(), self.hash(), self.list(self.hash, 2),
                  self.seats())
        return Halt(*fields, self.data[start:self.at], self.take(64))

    def claim(self):
        start = self.at
        fields = self.hash(), self.seat(), self.varint(), self.hash()
        return Claim(*fields, self.data[start:self.at], self.take(64))

    def evidence(self):
        read = [self.signed_entry, self.ballot, self.halt][self.varint(3)]
        return read(), read()

    def transcript(self):
        self.take(9)
        return Transcript(
            self.charter(), self.list(lambda: self.take(64), 6), self.list(self.signed_entry, 2**20),
            ["finished", "unfinished", "stopped"][self.varint(3)], self.hash(),
            self.option(self.evidence), self.list(self.ballot, 32),
            self.list(lambda: (self.seat(), self.signed_entry()), 6),
            self.list(lambda: (self.evidence(), self.list(self.halt, 6)), 6),
            self.list(self.claim, 2))

    # Bodies.

    def equality(self):
        return self.point(), self.point(), self.scalar()

    def shares(self):
        return self.list(self.point, 256), self.equality()

    def answers(self):
        return self.option(self.shares), self.option(self.hash)

    def shuffle(self):
        def points():
            return self.list(self.point, 100)

        def scalars():
            return self.list(self.scalar, 100)
        onto, deck = self.hash(), self.list(lambda: (self.point(), self.point()), 100)
        proof = (points(), points(), [self.point() for _ in range(5)], points(),
                 [self.scalar() for _ in range(4)], scalars(), scalars())
        return onto, deck, proof

    def body(self):
        kind = KINDS[self.varint(16)]
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
            "escrow": lambda: (self.list(lambda: (self.seat(), self.point(), self.scalar()), 5),
                               self.option(self.shuffle)),
            "accept": lambda: (self.list(lambda: (self.seat(), self.point(), self.equality()), 5),
                               self.option(self.shuffle)),
            "rebuild": self.shares,
        }.get(kind, lambda: None)
        return kind, read()


class Signers:
    """The charter, its table id, and the seats' signatures."""

    def __init__(self, charter):
        self.charter = charter
        self.table = H("charter", charter.raw)
        self.count = len(charter.players)

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
            kind, body = reader.body()
            reader.end()
        except Malformed:
            return None
        if table != self.table or not self.signed(seat, "entry", raw, signature):
            return None
        return Entry(seat, step, parent, digest, kind, body, H("entry-hash", raw), raw, signature)

    def word(self, label, word):
        """Whether a ballot, halt or claim is of this table and signed."""
        return word.table == self.table and self.signed(word.seat, label, word.raw, word.signature)

    def culprit(self, evidence):
        """The seat (and step) that evidence proves two-faced, or None."""
        first = evidence[0]
        if isinstance(first, tuple) and not hasattr(first, "raw"):
            both = [self.entry(signed) for signed in evidence]
            if None in both:
                return None
            places, hashes = [(e.seat, e.step) for e in both], [e.hash for e in both]
        else:
            label = "ballot" if isinstance(first, Ballot) else "halt"
            if not all(self.word(label, word) for word in evidence):
                return None
            both, hashes = evidence, [H(label, word.raw) for word in evidence]
            if label == "halt":
                places = [(word.seat, word.culprit) for word in both]
            else:
                places = [(word.seat, word.step, word.round, word.release) for word in both]
                if places[0][:3] == places[1][:3] and acted_and_gave_up(*both):
                    places[1] = places[0]
        if places[0] == places[1] and hashes[0] < hashes[1]:
            return both[0].seat, both[0].step
        return None


def acted_and_gave_up(one, other):
    """Whether one ballot gives up what the other has acted on."""
    if None in (one.release, other.release) or one.release[0] != other.release[0]:
        return False
    acted = [word.release[0] == word.release[1] for word in (one, other)]
    gave_up = [word.target is None for word in (one, other)]
    return (acted[0] and gave_up[1]) or (acted[1] and gave_up[0])


def read_file(data):
    if data[:9] != b"fairdeal\x01" or len(data) > 256 << 20:
        raise Malformed("no transcript of version 1")
    reader = Reader(data)
    transcript = reader.transcript()
    reader.end()
    charter = transcript.charter
    if not charter.players or len(transcript.signatures) != len(charter.players):
        raise Malformed("not one signature a seat")
    for field in (1, 2):
        if len({player[field] for player in charter.players}) < len(charter.players):
            raise Malformed("two seats with one key or nonce")
    keys = [key.encode() for key, _ in charter.options]
    if any(one >= other for one, other in zip(keys, keys[1:])):
        raise Malformed("options out of order")
    signers = Signers(charter)
    for seat, signature in enumerate(transcript.signatures):
        if not signers.signed(seat, "charter-signature", signers.table, signature):
            raise Malformed(f"the charter is not signed by seat {seat}")
    return transcript, signers
