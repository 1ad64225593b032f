"""The group: Ristretto255 (RFC 9496) and strict Ed25519 (docs/transcript.md, parts 2 and 6), in plain integers."""
import hashlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
D2 = 2 * D % P
I = pow(2, (P - 1) // 4, P)  # the square root of -1


def sqrt_ratio(u, v):
    """SQRT_RATIO_M1 of RFC 9496: whether u/v is a square, and the non-negative root."""
    v3 = v * v % P * v % P
    r = u * v3 % P * pow(u * v3 % P * v3 % P * v % P, (P - 5) // 8, P) % P
    check = v * r % P * r % P
    u %= P
    correct, flipped, flipped_i = check == u, check == -u % P, check == -u * I % P
    if flipped or flipped_i:
        r = r * I % P
    return correct or flipped, abs_(r)


def neg(x):
    return x % P & 1


def abs_(x):
    return -x % P if neg(x) else x % P


A_MINUS_D = sqrt_ratio(1, -1 - D)[1]
ONE_MINUS_D_SQ = (1 - D * D) % P
D_MINUS_ONE_SQ = (D - 1) ** 2 % P
# Of the two roots RFC 9496 has the odd one.
SQRT_AD_MINUS_ONE = -sqrt_ratio(-D - 1, 1)[1] % P

ZERO = (0, 1, 1, 0)


def add(p, q):
    x1, y1, z1, t1 = p
    x2, y2, z2, t2 = q
    a, b = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    c, d = t1 * D2 % P * t2 % P, 2 * z1 * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def double(p):
    x1, y1, z1, _ = p
    a, b, c = x1 * x1 % P, y1 * y1 % P, 2 * z1 * z1 % P
    h = a + b
    e, g = h - (x1 + y1) ** 2 % P, a - b
    f = c + g
    return e * f % P, g * h % P, f * g % P, e * h % P


def minus(p):
    return -p[0] % P, p[1], p[2], -p[3] % P


def mul(s, p):
    r = ZERO
    table = [ZERO, p]
    for _ in range(14):
        table.append(add(table[-1], p))
    for digit in "%x" % (s % L):
        r = add(double(double(double(double(r)))), table[int(digit, 16)])
    return r


class Table:
    """Multiples of one point, for many multiplications."""

    def __init__(self, p):
        self.rows = []
        for _ in range(64):
            row = [ZERO]
            for _ in range(15):
                row.append(add(row[-1], p))
            self.rows.append(row)
            p = add(row[-1], p)

    def mul(self, s):
        s, r = s % L, ZERO
        for row in self.rows:
            if s & 15:
                r = add(r, row[s & 15])
            s >>= 4
        return r


def msm(scalars, points):
    """The sum of multiples (Pippenger, windows of six bits)."""
    scalars = [s % L for s in scalars]
    total = ZERO
    for shift in range(252, -1, -6):
        for _ in range(6):
            total = double(total)
        buckets = [None] * 64
        for s, p in zip(scalars, points):
            digit = s >> shift & 63
            if digit:
                buckets[digit] = add(buckets[digit], p) if buckets[digit] else p
        running = window = ZERO
        for bucket in buckets[:0:-1]:
            running = add(running, bucket) if bucket else running
            window = add(window, running)
        total = add(total, window)
    return total


def same(p, q):
    """Equality of ristretto points."""
    return (p[0] * q[1] - p[1] * q[0]) % P == 0 or (p[1] * q[1] - p[0] * q[0]) % P == 0


def decode(b):
    s = int.from_bytes(b, "little")
    if s >= P or s & 1:
        return None
    ss = s * s % P
    u1, u2 = (1 - ss) % P, (1 + ss) % P
    u2s = u2 * u2 % P
    v = (-(D * u1 % P * u1) - u2s) % P
    ok, inv = sqrt_ratio(1, v * u2s % P)
    den_x = inv * u2 % P
    den_y = inv * den_x % P * v % P
    x, y = abs_(2 * s * den_x), u1 * den_y % P
    t = x * y % P
    return (x, y, 1, t) if ok and not neg(t) and y else None


def encode(p):
    x, y, z, t = p
    u1, u2 = (z + y) * (z - y) % P, x * y % P
    _, inv = sqrt_ratio(1, u1 * u2 % P * u2 % P)
    den1, den2 = inv * u1 % P, inv * u2 % P
    z_inv = den1 * den2 % P * t % P
    if neg(t * z_inv):
        x, y, den = y * I % P, x * I % P, den1 * A_MINUS_D % P
    else:
        den = den2
    if neg(x * z_inv):
        y = -y
    return abs_(den * (z - y)).to_bytes(32, "little")


def _elligator(b):
    r = int.from_bytes(b, "little") % 2**255 % P
    r = I * r % P * r % P
    u, c = (r + 1) * ONE_MINUS_D_SQ % P, -1
    v = (c - r * D) * (r + D) % P
    square, s = sqrt_ratio(u, v)
    if not square:
        s, c = -abs_(s * (int.from_bytes(b, "little") % 2**255)) % P, r
    n = (c * (r - 1) % P * D_MINUS_ONE_SQ - v) % P
    w0, w1 = 2 * s * v % P, n * SQRT_AD_MINUS_ONE % P
    w2, w3 = (1 - s * s) % P, (1 + s * s) % P
    return w0 * w3 % P, w2 * w1 % P, w1 * w3 % P, w0 * w2 % P


def from_uniform(b):
    return add(_elligator(b[:32]), _elligator(b[32:]))


def edwards_decode(b):
    y = int.from_bytes(b, "little")
    sign, y = y >> 255, y % 2**255 % P
    ok, x = sqrt_ratio(y * y - 1, D * y * y + 1)
    if not ok:
        return None
    x = -x % P if sign else x
    return x, y, 1, x * y % P


def edwards_encode(p):
    z = pow(p[2], P - 2, P)
    x, y = p[0] * z % P, p[1] * z % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def small_order(p):
    p = double(double(double(p)))
    return p[0] == 0 and (p[1] - p[2]) % P == 0


G = edwards_decode((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
G_TABLE = Table(G)


def base(s):
    return G_TABLE.mul(s)


_tables = {}


#= T2.5
def verify_strict(key, message, signature):
    """Part 2, strict signatures."""
    r, s = edwards_decode(signature[:32]), int.from_bytes(signature[32:], "little")
    a = edwards_decode(key)
    if s >= L or r is None or a is None or small_order(r) or small_order(a):
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    if key not in _tables:
        _tables[key] = Table(minus(a))
    return edwards_encode(add(base(s), _tables[key].mul(k))) == signature[:32]
