"""Keys, cards, shares, escrow, shuffles and coins (docs/transcript.md, part 6): checked as they are played, and
computed again from the opened seeds."""
import secrets
import struct

import group
from group import L, ZERO, add, base, encode, minus, msm, mul, same
from records import point
from streams import H, H512, Merlin, Stream, mapped

le4 = struct.Struct("<I").pack
_generators = {}


def generator(index):
    """H for None, else the column of that index."""
    if index not in _generators:
        _generators[index] = mapped("generator", *(["H"] if index is None else ["column", le4(index)]))
    return _generators[index]


def sc(s):
    return (s % L).to_bytes(32, "little")


def total(points):
    out = ZERO
    for p in points:
        out = add(out, p)
    return out


class Prover:
    """An opened seed: everything that its seat had to send."""

    def __init__(self, seed, ctx):
        self.seed, self.ctx = seed, ctx
        self.x = self.stream("key", le4(0)).scalar()
        self.X = encode(base(self.x))

    def stream(self, purpose, context):
        return Stream(H("derive", self.seed, *self.ctx, purpose, context))

    def nonces(self, purpose, transcript):
        return self.stream(purpose, transcript.copy().challenge("nonce-context", 32))

    #= T6.2
    def commitment(self):
        return H("seed-commitment", *self.ctx, self.seed)

    def tip(self, chain):
        last = self.stream("coin", le4(chain)).take(32)
        for i in range(1, 1025):
            last = link(self.ctx, chain, i, last)
        return last

    def key(self):
        transcript = key_transcript(self.ctx, self.X)
        k = self.nonces("key-proof", transcript).scalar()
        T = encode(base(k))
        transcript.append("announce", T)
        return self.X, T, (k + transcript.c() * self.x) % L

    def equality(self, transcript, purpose, A, x):
        k = self.nonces(purpose, transcript).scalar()
        T1, T2 = encode(base(k)), encode(mul(k, A))
        return T1, T2, (k + equality_challenge(transcript, T1, T2) * x) % L

    def shares(self, transcript, purpose, cards, x):
        """Shares of [(handle, A)], with their proof."""
        shares = [encode(mul(x, point(A))) for _, A in cards]
        weights = share_weights(transcript, cards, shares)
        A = msm(weights, [point(A) for _, A in cards])
        return shares, self.equality(transcript, purpose, A, x)

    def escrow(self, holders):
        """Its escrow for the holders {j: Xj}."""
        fields = [f for j in sorted(holders) for f in (j, holders[j])]
        stream = self.stream("escrow", H("escrow-context", len(holders), *fields))
        rest, parts = self.x, []
        for j in sorted(holders):
            part = rest % L if j == max(holders) else stream.scalar()
            rest -= part
            K = encode(mul(self.x, point(holders[j])))
            parts.append((j, encode(base(part)), (part + mask(self.ctx, j, holders, K)) % L))
        return parts

    def shuffle(self, deck, X, cards, deck_name):
        n = len(cards)
        fields = [half for card in cards for half in card]
        stream = self.stream("shuffle", H("shuffle-context", deck_name, deck, X, n, *fields))
        pi = list(range(n))
        stream.shuffle(pi)
        r = stream.scalars(n)
        key = group.Table(point(X))
        out = [(encode(add(point(cards[pi[i]][0]), base(r[i]))),
                encode(add(point(cards[pi[i]][1]), key.mul(r[i])))) for i in range(n)]
        transcript = shuffle_transcript(self.ctx, deck, X, cards, out)
        nonces = self.nonces("shuffle-proof", transcript)
        rho, inverse = nonces.scalars(n), [pi.index(j) for j in range(n)]
        C = [encode(add(base(rho[j]), generator(inverse[j]))) for j in range(n)]
        u = column_challenges(transcript, C)
        up = [u[pi[i]] for i in range(n)]
        rho_hat = nonces.scalars(n)
        # Every link of the chain is aG + bH.
        logs, h_table = [(0, 1)], _h_table()
        for i in range(n):
            a, b = logs[-1]
            logs.append(((rho_hat[i] + up[i] * a) % L, up[i] * b % L))
        chain = [encode(add(base(a), h_table.mul(b))) for a, b in logs[1:]]
        w, w_hat, wp = nonces.scalars(4), nonces.scalars(n), nonces.scalars(n)
        t = [base(w[0]), base(w[1]), add(base(w[2]), msm(wp, [generator(i) for i in range(n)])),
             add(msm(wp, [point(a) for a, _ in out]), base(-w[3])),
             add(msm(wp, [point(b) for _, b in out]), key.mul(-w[3]))]
        t = [encode(p) for p in t]
        t_hat = [encode(add(base(w_hat[i] + wp[i] * logs[i][0]), h_table.mul(wp[i] * logs[i][1])))
                 for i in range(n)]
        c = sigma_challenge(transcript, chain, t, t_hat)
        s = [w[0] + c * sum(rho), w[1] + c * logs[-1][0],
             w[2] + c * sum(p * q for p, q in zip(rho, u)), w[3] + c * sum(p * q for p, q in zip(r, up))]
        return out, (C, chain, t, t_hat, [v % L for v in s],
                     [(w_hat[i] + c * rho_hat[i]) % L for i in range(n)],
                     [(wp[i] + c * up[i]) % L for i in range(n)])


def _h_table():
    if "table" not in _generators:
        _generators["table"] = group.Table(generator(None))
    return _generators["table"]


# Coins.

def link(ctx, chain, i, previous):
    return H("coin-link", *ctx, chain, i, previous)


def flip_stream(table, deal, flip, coins):
    fields = [f for seat in sorted(coins) for f in (seat, coins[seat])]
    return Stream(H("coin-value", table, deal, flip, len(coins), *fields))


# Keys.

def key_transcript(ctx, X):
    transcript = Merlin("key-proof", *ctx)
    transcript.append("public-key", X)
    return transcript


def key_holds(ctx, X, T, s):
    transcript = key_transcript(ctx, X)
    transcript.append("announce", T)
    return same(base(s), add(point(T), mul(transcript.c(), point(X))))


# Equality proofs and lists of shares.

def equality_challenge(transcript, T1, T2):
    transcript.append("announce", T1)
    transcript.append("announce", T2)
    return transcript.c()


def equality_holds(transcript, X, A, D, proof):
    T1, T2, s = proof
    c = equality_challenge(transcript, T1, T2)
    return (same(base(s), add(point(T1), mul(c, point(X))))
            and same(mul(s, A), add(point(T2), mul(c, D))))


def share_weights(transcript, cards, shares):
    transcript.append("count", len(cards))
    for ((deck, position), A), D in zip(cards, shares):
        transcript.append("handle", deck.to_bytes(2, "big") + bytes([position]))
        transcript.append("A", A)
        transcript.append("share", D)
    return Stream(transcript.challenge("weights", 32)).weights(len(cards))


def shares_hold(transcript, X, cards, shares, proof):
    weights = share_weights(transcript, cards, shares)
    A = msm(weights, [point(A) for _, A in cards])
    D = msm(weights, [point(D) for D in shares])
    return equality_holds(transcript, X, A, D, proof)


def share_transcript(ctx, step, X):
    transcript = Merlin("share-proof", *ctx)
    transcript.append("step", step)
    transcript.append("public-key", X)
    return transcript


# Escrow.

def mask(ctx, j, holders, K):
    """Of seat ctx's part for seat j, one of those holders."""
    return int.from_bytes(H512("escrow-mask", *ctx, j, sum(1 << s for s in holders), K), "little") % L


def escrow_holds(parts, holders, X):
    return ([j for j, _, _ in parts] == sorted(holders) and len(parts) >= 2
            and all(Xij != bytes(32) for _, Xij, _ in parts)
            and same(total(point(Xij) for _, Xij, _ in parts), point(X)))


def holder_transcript(label, ctx, step, owner):
    transcript = Merlin(label, *ctx)
    transcript.append("step", step)
    transcript.append("owner", owner)
    return transcript


def unmask(owner_ctx, j, K, parts):
    """Seat j's point and part of those that `owner_ctx` has published; None if it has none."""
    mine = [part for part in parts if part[0] == j]
    holders = [part[0] for part in parts]
    return (mine[0][1], mine[0][2] - mask(owner_ctx, j, holders, K)) if mine else None


def complaint_is_true(ctx, step, owner, Xj, Xi, K, proof, parts):
    """Of the holder ctx about the parts of `owner`."""
    transcript = holder_transcript("complaint-proof", ctx, step, owner)
    transcript.append("public-key", Xj)
    transcript.append("owner-key", Xi)
    transcript.append("shared-key", K)
    if K == bytes(32) or not equality_holds(transcript, Xj, point(Xi), point(K), proof):
        return False
    mine = unmask((*ctx[:2], owner), ctx[2], K, parts)
    return mine is not None and not same(base(mine[1]), point(mine[0]))


def part_transcript(ctx, step, owner, Xij):
    transcript = holder_transcript("part-proof", ctx, step, owner)
    transcript.append("public-key", Xij)
    return transcript


# Shuffles.

def shuffle_transcript(ctx, deck, X, cards, out):
    transcript = Merlin("shuffle-proof", *ctx)
    transcript.append("deck", deck)
    transcript.append("public-key", X)
    transcript.append("count", len(cards))
    transcript.append("input", b"".join(a + b for a, b in cards))
    transcript.append("output", b"".join(a + b for a, b in out))
    return transcript


def column_challenges(transcript, C):
    transcript.append("column", b"".join(C))
    return Stream(transcript.challenge("weights", 32)).scalars(len(C))


def sigma_challenge(transcript, chain, t, t_hat):
    transcript.append("chain", b"".join(chain))
    transcript.append("announce", b"".join(t))
    transcript.append("announce", b"".join(t_hat))
    return transcript.c()


#= T6.13
def shuffle_holds(ctx, deck, X, cards, out, proof):
    C, chain, t, t_hat, (s1, s2, s3, s4), s_hat, sp = proof
    n = len(cards)
    if any(len(part) != n for part in (out, C, chain, t_hat, s_hat, sp)):
        return False
    if any(A == bytes(32) for A, _ in out):
        return False
    transcript = shuffle_transcript(ctx, deck, X, cards, out)
    u = column_challenges(transcript, C)
    c = sigma_challenge(transcript, chain, t, t_hat)
    product = 1
    for one in u:
        product = product * one % L
    # All equations (right side less left side) in one sum, each with a random weight.
    v = [secrets.randbits(128) for _ in range(5 + n)]
    terms = []

    def term(scalar, p):
        terms.append((scalar, p if isinstance(p, tuple) else point(p)))
    for weight, announced in zip(v, t + t_hat):
        term(weight, announced)
    term(v[3] * s4 - v[0] * s1 - v[1] * s2 - v[2] * s3 - sum(x * s for x, s in zip(v[5:], s_hat)), group.G)
    term(-v[1] * c * product - v[5] * sp[0], generator(None))
    term(v[4] * s4, X)
    for i in range(n):
        term(v[0] * c + v[2] * c * u[i], C[i])
        term(-v[0] * c - v[2] * sp[i], generator(i))
        term(v[3] * c * u[i], cards[i][0])
        term(v[4] * c * u[i], cards[i][1])
        term(-v[3] * sp[i], out[i][0])
        term(-v[4] * sp[i], out[i][1])
        term(v[5 + i] * c - (v[6 + i] * sp[i + 1] if i + 1 < n else -v[1] * c), chain[i])
    return same(msm(*zip(*terms)), ZERO)


def face(card, shares, points):
    """The card of a deck {encoding: face} that a sealed card opens to."""
    opened = total([point(card[1])] + [minus(point(D)) for D in shares])
    return points.get(encode(opened))
