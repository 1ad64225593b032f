#!/usr/bin/env python3
"""Reference model of the shuffle proof in two stages: its equations, and what goes wrong without them.

It says in Python what protocol/src/crypto/shuffle says in Rust, equation by equation and without any batching, in two
groups of prime order: the subgroup of edwards25519, which Ristretto255 is isomorphic to, and a Schnorr group. It shares
no code with the product.

    python3 shuffle_proof.py            some seconds
    python3 shuffle_proof.py --planted  leaves out one equation after the other: each lets a cheat through

A cheat may commit to any matrix M and give out any deck e' with sum (Mv)_i e'_i = sum v_j e_j for all v; an honest
shuffle is that of a permutation matrix.

Protocol: Wikstroem, "A Commitment-Consistent Proof of a Shuffle" (ACISP 2009), with the proof of a committed permutation
of Terelius and Wikstroem (AFRICACRYPT 2010). Each line of output names what was tried. The exit code is 1 if anything is
not as it says."""
import hashlib
import random
import sys

DICE = random.Random(2009)
FAILED = []


def check(what, holds):
    print(f"  {'ok  ' if holds else 'FAIL'} {what}")
    if not holds:
        FAILED.append(what)


class Schnorr:
    """The subgroup of order q of the integers modulo p = kq + 1, q = 2^127 - 1."""
    name, size, q = "Schnorr group", 8, 2**127 - 1

    def __init__(self):
        k = 2
        while pow(3, k * self.q, k * self.q + 1) != 1 or not self.is_prime(k * self.q + 1):
            k += 2
        self.k, self.p, self.zero = k, k * self.q + 1, 1
        self.G = self.hashed("G")

    @staticmethod
    def is_prime(n):
        odd, twos = n - 1, 0
        while odd % 2 == 0:
            odd, twos = odd // 2, twos + 1
        for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
            x = pow(base, odd, n)
            if x in (1, n - 1):
                continue
            for _ in range(twos - 1):
                x = x * x % n
                if x == n - 1:
                    break
            else:
                return False
        return True

    def hashed(self, text):
        return pow(int.from_bytes(hashlib.sha512(text.encode()).digest(), "big") % self.p, self.k, self.p)

    def add(self, a, b):
        return a * b % self.p

    def times(self, n, a):
        return pow(a, n % self.q, self.p)

    def bytes(self, a):
        return a.to_bytes(32, "big")

    def same(self, a, b):
        return a == b


class Edwards:
    """The subgroup of prime order of edwards25519, in extended coordinates."""
    name, size = "edwards25519", 4
    P, q = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493

    def __init__(self):
        self.d, self.zero = -121665 * pow(121666, -1, self.P) % self.P, (0, 1, 1, 0)
        self.G = self.of_y(4 * pow(5, -1, self.P) % self.P)

    def of_y(self, y):
        P = self.P
        square = (y * y - 1) * pow(self.d * y * y + 1, -1, P) % P
        x = pow(square, (P + 3) // 8, P)
        if (x * x - square) % P:
            x = x * pow(2, (P - 1) // 4, P) % P
        if (x * x - square) % P:
            return None
        x = P - x if x % 2 else x
        return x, y, 1, x * y % P

    def hashed(self, text):
        for count in range(256):
            y = int.from_bytes(hashlib.sha512(f"{text}/{count}".encode()).digest()[:32], "little") % self.P
            point = self.of_y(y)
            if point:
                return self.times(8, point)

    def add(self, a, b):
        P = self.P
        one, two = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
        three, four = 2 * self.d * a[3] * b[3] % P, 2 * a[2] * b[2] % P
        e, f, g, h = two - one, four - three, four + three, two + one
        return e * f % P, g * h % P, f * g % P, e * h % P

    def times(self, n, a):
        out = self.zero
        for bit in bin(n % self.q)[2:]:
            out = self.add(out, out)
            if bit == "1":
                out = self.add(out, a)
        return out

    def bytes(self, a):
        inverse = pow(a[2], -1, self.P)
        x, y = a[0] * inverse % self.P, a[1] * inverse % self.P
        return (y | (x & 1) << 255).to_bytes(32, "little")

    def same(self, a, b):
        return (a[0] * b[2] - b[0] * a[2]) % self.P == 0 and (a[1] * b[2] - b[1] * a[2]) % self.P == 0


class Model:
    """A joint key, the generators, and a fresh deck."""

    def __init__(self, group):
        self.g, self.q, self.N = group, group.q, group.size
        self.H, self.columns = group.hashed("H"), [group.hashed(f"H{i}") for i in range(self.N)]
        self.X = group.times(self.draw(), group.G)
        self.fresh = [(group.zero, group.hashed(f"card {i}")) for i in range(self.N)]

    def draw(self):
        return DICE.randrange(1, self.q)

    def drawn(self, count):
        return [self.draw() for _ in range(count)]

    def sum(self, *terms):
        out = self.g.zero
        for factor, point in terms:
            out = self.g.add(out, self.g.times(factor, point))
        return out

    def challenge(self, *said):
        hashed = hashlib.sha512()
        for one in said:
            hashed.update(one.encode() if isinstance(one, str) else self.g.bytes(one))
        return int.from_bytes(hashed.digest(), "big") % self.q

    def permutation(self):
        pi = list(range(self.N))
        while pi == sorted(pi) or all(pi[pi[i]] == i for i in pi):
            DICE.shuffle(pi)
        return pi

    def matrix(self, pi):
        return [[int(pi[i] == j) for j in range(self.N)] for i in range(self.N)]

    def apply(self, matrix, vector):
        return [sum(x * y for x, y in zip(row, vector)) % self.q for row in matrix]

    def shuffle(self, deck, weights, r):
        """Sums of cards, re-encrypted. For a permutation the weights are its matrix."""
        def half(number, row, x, key):
            return self.sum((x, key), *[(w, card[number]) for w, card in zip(row, deck) if w])
        return [(half(0, row, x, self.g.G), half(1, row, x, self.X)) for row, x in zip(weights, r)]

    # The prover.

    def commit(self, matrix, used=None, forced=False):
        """The permutation proof. A cheat commits to one matrix and uses another, or forces the end of the chain."""
        N, q, G = self.N, self.q, self.g.G
        used = used or matrix
        rho = self.drawn(N)
        C = [self.sum((rho[j], G), *[(matrix[i][j], self.columns[i]) for i in range(N)]) for j in range(N)]
        u = [self.challenge("u", str(j), *C) for j in range(N)]
        up = self.apply(used, u)
        rho_hat, chain, log, product = self.drawn(N), [self.H], 0, 1
        for i in range(N):
            chain.append(self.sum((rho_hat[i], G), (up[i], chain[-1])))
            log, product = (rho_hat[i] + up[i] * log) % q, product * u[i] % q
        if forced:
            chain[-1] = self.sum((log, G), (product, self.H))
        w, w_hat, wp = self.drawn(3), self.drawn(N), self.drawn(N)
        t = [self.sum((w[0], G)), self.sum((w[1], G)), self.sum((w[2], G), *zip(wp, self.columns))]
        t_hat = [self.sum((w_hat[i], G), (wp[i], chain[i])) for i in range(N)]
        c = self.challenge("c", *C, *chain[1:], *t, *t_hat)
        s = [w[0] + c * sum(rho), w[1] + c * log, w[2] + c * sum(x * y for x, y in zip(rho, u))]
        proof = dict(C=C, chain=chain[1:], t=t, t_hat=t_hat, s=[x % q for x in s],
                     s_hat=[(x + c * y) % q for x, y in zip(w_hat, rho_hat)],
                     sp=[(x + c * y) % q for x, y in zip(wp, up)])
        return proof, rho

    def consist(self, proof, rho, deck, out, matrix, r, masks=None):
        """The consistency proof."""
        q, G = self.q, self.g.G
        v = self.deck_challenges(proof, deck, out)
        vp = self.apply(matrix, v)
        w1, w2, wp = masks or (self.draw(), self.draw(), self.drawn(self.N))
        a = [self.sum((w1, G), *zip(wp, self.columns)),
             self.sum((-w2, G), *zip(wp, [A for A, _ in out])), self.sum((-w2, self.X), *zip(wp, [B for _, B in out]))]
        d = self.challenge("d", *proof["C"], *a, *[half for card in deck + out for half in card], self.X)
        z = [(w1 + d * sum(x * y for x, y in zip(rho, v))) % q, (w2 + d * sum(x * y for x, y in zip(r, vp))) % q]
        return dict(a=a, z=z, zp=[(x + d * y) % q for x, y in zip(wp, vp)])

    def deck_challenges(self, proof, deck, out):
        halves = [half for card in deck + out for half in card]
        return [self.challenge("v", str(j), self.X, *halves, *proof["C"]) for j in range(self.N)]

    # The verifier: one truth value for each equation.

    def committed(self, proof):
        N, q, G = self.N, self.q, self.g.G
        C, chain, t, t_hat = (proof[name] for name in ("C", "chain", "t", "t_hat"))
        s, s_hat, sp = proof["s"], proof["s_hat"], proof["sp"]
        u = [self.challenge("u", str(j), *C) for j in range(N)]
        c = self.challenge("c", *C, *chain, *t, *t_hat)
        product = 1
        for one in u:
            product = product * one % q
        before = [self.H] + chain
        links = all(self.g.same(self.sum((s_hat[i], G), (sp[i], before[i])), self.sum((1, t_hat[i]), (c, chain[i])))
                    for i in range(N))
        return {
            "sum": self.g.same(self.sum((s[0], G)), self.sum(
                (1, t[0]), *[(c, one) for one in C], *[(-c, one) for one in self.columns])),
            "product": self.g.same(self.sum((s[1], G)), self.sum((1, t[1]), (c, chain[-1]), (-c * product, self.H))),
            "columns": self.g.same(self.sum((s[2], G), *zip(sp, self.columns)), self.sum(
                (1, t[2]), *[(c * x, one) for x, one in zip(u, C)])),
            "chain": links,
        }

    def consistent(self, proof, other, deck, out):
        v = self.deck_challenges(proof, deck, out)
        a, (z1, z2), zp = other["a"], other["z"], other["zp"]
        d = self.challenge("d", *proof["C"], *a, *[half for card in deck + out for half in card], self.X)

        def half(number, announced, key):
            return self.g.same(
                self.sum((-z2, key), *zip(zp, [card[number] for card in out])),
                self.sum((1, announced), *[(d * x, card[number]) for x, card in zip(v, deck)]))
        return {
            "tie": self.g.same(self.sum((z1, self.g.G), *zip(zp, self.columns)), self.sum(
                (1, a[0]), *[(d * x, one) for x, one in zip(v, proof["C"])])),
            "A": half(0, a[1], self.g.G), "B": half(1, a[2], self.X),
        }

    def fails(self, proof, other, deck, out):
        """The names of the equations that do not hold."""
        all_ = {**self.committed(proof), **self.consistent(proof, other, deck, out)}
        return {name for name, holds in all_.items() if not holds}


def cheats(model):
    """What is tried: a name, the equations that refuse it, and those that have to."""
    m, N = model, model.N
    pi, r = m.matrix(m.permutation()), m.drawn(N)
    deck = m.shuffle(m.fresh, m.matrix(m.permutation()), m.drawn(N))
    out = m.shuffle(deck, pi, r)
    proof, rho = m.commit(pi)

    def tried(out, matrix=pi, proof=proof, rho=rho, deck=deck):
        return m.fails(proof, m.consist(proof, rho, deck, out, matrix, r), deck, out)
    yield "an honest shuffle", tried(out), set()
    yield "the same of a fresh deck", tried(m.shuffle(m.fresh, pi, r), deck=m.fresh), set()
    yield "a doubled card", tried([out[1]] + out[1:]), {"A", "B"}
    yield "a foreign card", tried([(out[0][0], m.sum((1, out[0][1]), (1, m.fresh[0][1])))] + out[1:]), {"B"}
    yield "a card that does not open", tried([(m.sum((1, out[0][0]), (1, m.H)), out[0][1])] + out[1:]), {"A"}
    other = m.matrix(m.permutation())
    while other == pi:
        other = m.matrix(m.permutation())
    yield "another permutation than committed to", tried(m.shuffle(deck, other, r), other), {"tie"}

    # Matrices M that are none of a permutation, with the weights (M^-1)^T of the cards.
    half, one = pow(2, -1, m.q), m.matrix(range(N))
    mixed = [[2, -1] + [0] * (N - 2)] + one[1:]
    mixed_weights = [[half] + [0] * (N - 1), [half, 1] + [0] * (N - 2)] + one[2:]
    scaled = [[2] + [0] * (N - 1), [0, half] + [0] * (N - 2)] + one[2:]
    scaled_weights = [[half] + [0] * (N - 1), [0, 2] + [0] * (N - 2)] + one[2:]
    for what, matrix, weights, cheat, wanted in (
            ("cards added up, rows that sum to one", mixed, mixed_weights, {}, "product"),
            ("the same, with the end of the chain forced", mixed, mixed_weights, {"forced": True}, "chain"),
            ("the same, with the chain of a permutation", mixed, mixed_weights, {"used": one}, "columns"),
            ("cards multiplied, with the right product", scaled, scaled_weights, {}, "sum")):
        cheat, cheat_rho = m.commit(matrix, **cheat)
        yield what, tried(m.shuffle(deck, weights, r), matrix, cheat, cheat_rho), {wanted}


def attacks(model):
    """What two decks for one preparation give away."""
    m, N = model, model.N
    pi, r = m.permutation(), m.drawn(N)
    matrix = m.matrix(pi)
    one, two = (m.shuffle(m.fresh, m.matrix(m.permutation()), m.drawn(N)) for _ in range(2))
    proof, rho = m.commit(matrix)
    outs = [m.shuffle(deck, matrix, r) for deck in (one, two)]

    def difference(a, b):
        return m.sum((1, a), (-1, b))
    found = [[j for j in range(N) if m.g.same(difference(x[0], y[0]), difference(one[j][0], two[j][0]))]
             for x, y in zip(*outs)]
    check("two outputs of one preparation show its permutation", found == [[j] for j in pi])

    # The same masks for two decks: the responses show it too. Masks alpha + delta beta with two deltas do not.
    same = m.draw(), m.draw(), m.drawn(N)
    alpha, beta = m.drawn(N), m.drawn(N)

    def shown(masks):
        proofs = [m.consist(proof, rho, deck, out, matrix, r, mask) for deck, out, mask in zip((one, two), outs, masks)]
        vs = [m.deck_challenges(proof, deck, out) for deck, out in zip((one, two), outs)]
        ds = [m.challenge("d", *proof["C"], *p["a"], *[half for card in deck + out for half in card], m.X)
              for p, deck, out in zip(proofs, (one, two), outs)]
        return [[j for j in range(N) if (ds[0] * vs[0][j] - ds[1] * vs[1][j] - x + y) % m.q == 0]
                for x, y in zip(proofs[0]["zp"], proofs[1]["zp"])]
    check("so do two proofs with the same masks", shown((same, same)) == [[j] for j in pi])

    def bound():
        delta = m.draw()
        return m.draw(), m.draw(), [(x + delta * y) % m.q for x, y in zip(alpha, beta)]
    check("masks that depend on the deck show nothing", shown((bound(), bound())) == [[]] * N)


def main():
    planted = "--planted" in sys.argv[1:]
    for group in (Schnorr(), Edwards()):
        print(f"{group.name}, {group.size} cards")
        model, needed = Model(group), set()
        for what, refused, wanted in cheats(model):
            if not planted:
                check(f"{what}: {', '.join(sorted(refused)) or 'accepted'}", refused == wanted)
            elif len(refused) == 1:
                needed |= refused
                print(f"  without '{refused.pop()}': {what}")
        if planted:
            check("every equation is needed", needed == {"sum", "product", "columns", "chain", "tie", "A", "B"})
        else:
            attacks(model)
    print("all as expected" if not FAILED else f"{len(FAILED)} not as expected")
    sys.exit(bool(FAILED))


main()
