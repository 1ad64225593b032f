"""Hashes, ChaCha20 streams and Merlin transcripts (docs/transcript.md, part 4)."""
import hashlib
import struct

from group import L, from_uniform


#= T4.1
def layout(label, fields):
    out = b""
    for f in (label, *fields):
        f = f.to_bytes(8, "little") if isinstance(f, int) else f.encode() if isinstance(f, str) else f
        out += struct.pack("<I", len(f)) + f
    return out


#= T4.2
def full(label):
    return f"fairdeal/{label}/v2\0"


def H(label, *fields):
    return hashlib.sha256(layout(full(label), fields)).digest()


def H512(label, *fields):
    return hashlib.sha512(layout(full(label), fields)).digest()


def mapped(label, *fields):
    return from_uniform(H512(label, *fields))


def _block(key, counter):
    first = list(struct.unpack("<4I", b"expand 32-byte k")) + list(struct.unpack("<8I", key))
    first += [counter & 0xFFFFFFFF, counter >> 32, 0, 0]
    x, m = first[:], 0xFFFFFFFF
    quarters = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
                (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)] * 10
    for i, j, k, l in quarters:
        a, b, c, d = x[i], x[j], x[k], x[l]
        a = a + b & m; d ^= a; d = d << 16 & m | d >> 16
        c = c + d & m; b ^= c; b = b << 12 & m | b >> 20
        a = a + b & m; d ^= a; d = d << 8 & m | d >> 24
        c = c + d & m; b ^= c; b = b << 7 & m | b >> 25
        x[i], x[j], x[k], x[l] = a, b, c, d
    return struct.pack("<16I", *((p + q) & m for p, q in zip(x, first)))


#= T4.6
class Stream:
    def __init__(self, key):
        self.key, self.counter, self.rest = key, 0, b""

    def take(self, n):
        while len(self.rest) < n:
            self.rest += _block(self.key, self.counter)
            self.counter += 1
        out, self.rest = self.rest[:n], self.rest[n:]
        return out

    def number(self, take=8):
        return int.from_bytes(self.take(take), "little")

    def below(self, n):
        while True:
            product = self.number() * n
            if product % 2**64 >= 2**64 % n:
                return product >> 64

    def scalar(self):
        return self.number(64) % L

    def scalars(self, n):
        return [self.scalar() for _ in range(n)]

    def weights(self, n):
        return [self.number(16) for _ in range(n)]

    def shuffle(self, items, fits=lambda place, item: True):
        """Shuffles in place; stops where an item does not fit, and says so."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]
            if not fits(last, items[last]):
                return False
        return not items or fits(0, items[0])

    def flip(self, flip):
        kind, *args = flip
        if kind == "die":
            return [self.below(args[0]) + 1]
        if kind == "order":
            faces = list(args[0])
            self.shuffle(faces)
            return faces
        kinds, each, levels = args
        columns = [1] * (kinds * each)
        for height in range(levels):
            for _ in range(10**6):
                level = [kind for kind in range(kinds) for _ in range(each)]
                if self.shuffle(level, lambda i, kind: not height or columns[i] % kinds != kind):
                    break
            columns = [column * kinds + kind for column, kind in zip(columns, level)]
        return columns


_RC, _r = [], 1
for _ in range(24):
    _c = 0
    for _j in range(7):
        if _r & 1:
            _c |= 1 << (1 << _j) - 1
        _r = _r << 1 ^ (0x171 if _r >> 7 else 0)
    _RC.append(_c)
_M = 2**64 - 1


def _keccak(state):
    lanes = list(struct.unpack("<25Q", state))
    for rc in _RC:
        c = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
        d = [c[x - 1] ^ (c[x - 4] << 1 & _M | c[x - 4] >> 63) for x in range(5)]
        lanes = [lane ^ d[i % 5] for i, lane in enumerate(lanes)]
        x, y, current = 1, 0, lanes[1]
        for t in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            r = (t + 1) * (t + 2) // 2 % 64
            i = x + 5 * y
            lanes[i], current = current << r & _M | current >> 64 - r, lanes[i]
        lanes = [lanes[i] ^ ~lanes[i - i % 5 + (i + 1) % 5] & lanes[i - i % 5 + (i + 2) % 5]
                 for i in range(25)]
        lanes[0] ^= rc
    return bytearray(struct.pack("<25Q", *(lane & _M for lane in lanes)))


#= T4.10
class Merlin:
    def __init__(self, label, table=None, deal=None, seat=None):
        if label is None:
            return
        self.state = _keccak(b"\x01\xa8\x01\x00\x01\x60STROBEv1.0.2".ljust(200, b"\0"))
        self.pos = self.begin = 0
        self.op(0x12)
        self.absorb(b"Merlin v1.0")
        self.append("dom-sep", full(label).encode(), end="")
        self.append("table", table)
        self.append("deal", deal)
        self.append("seat", seat)

    def copy(self):
        other = Merlin(None)
        other.state, other.pos, other.begin = self.state[:], self.pos, self.begin
        return other

    def run(self):
        self.state[self.pos] ^= self.begin
        self.state[self.pos + 1] ^= 4
        self.state[167] ^= 0x80
        self.state = _keccak(bytes(self.state))
        self.pos = self.begin = 0

    def absorb(self, data):
        for byte in data:
            self.state[self.pos] ^= byte
            self.pos += 1
            if self.pos == 166:
                self.run()

    def op(self, flags):
        before, self.begin = self.begin, self.pos + 1
        self.absorb(bytes([before, flags]))
        if flags == 7 and self.pos:
            self.run()

    #= T4.11
    def append(self, label, message, end="\0"):
        if isinstance(message, int):
            message = message.to_bytes(8, "little")
        self.op(0x12)
        self.absorb((label + end).encode() + struct.pack("<I", len(message)))
        self.op(0x02)
        self.absorb(message)

    def challenge(self, label, n):
        self.op(0x12)
        self.absorb((label + "\0").encode() + struct.pack("<I", n))
        self.op(0x07)
        out = bytearray()
        for _ in range(n):
            out.append(self.state[self.pos])
            self.state[self.pos] = 0
            self.pos += 1
            if self.pos == 166:
                self.run()
        return bytes(out)

    def c(self):
        return int.from_bytes(self.challenge("challenge", 64), "little") % L
