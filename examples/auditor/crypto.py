"""Keys, cards, shares, escrow, shuffles and coins (docs/transcript.md, part 6): checked as they are played, and
computed again from the opened seeds."""
import collections
import secrets
import struct

import group
from group import L, ZERO, add, base, encode, minus, msm, mul, same
from records import Staged, Whole, point
from streams import H, H512, Merlin, Stream, mapped

# Where a shuffle stands: table, deal and seat, the deck, and the run.
Place = collections.namedtuple("Place", "ctx deck live forks")

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

    #= T6.11, T6.12
    def shuffle_whole(self, place, X, cards, deck_name):
        """A shuffle of protocol 1: everything derives from the deck."""
        n = len(cards)
        fields = [half for card in cards for half in card]
        stream = self.stream("shuffle", H("shuffle-context", deck_name, place.deck, X, n, *fields))
        pi = list(range(n))
        stream.shuffle(pi)
        r = stream.scalars(n)
        key = group.Table(point(X))
        out = re_encrypted(cards, pi, r, key)
        transcript = whole_transcript(place, X, cards, out)
        nonces = self.nonces("shuffle-proof", transcript)
        argument = Argument(pi, transcript, nonces)
        w, w_hat, wp = nonces.scalars(4), nonces.scalars(n), nonces.scalars(n)
        t = argument.announced(w, wp) + deck_announcements(out, wp, w[3], key)
        t_hat = argument.chain_announced(w_hat, wp)
        c = sigma_challenge(transcript, argument.chain, t, t_hat)
        s, s_hat, sp = argument.responses(w, w_hat, wp, c)
        s.append((w[3] + c * inner(r, argument.up)) % L)
        return out, Whole(argument.C, argument.chain, t, t_hat, s, s_hat, sp)

    #= T6.16, T6.17, T6.18
    def shuffle(self, place, X, cards):
        """A shuffle of protocol 2: permutation and commitment derive from the place."""
        n = len(cards)
        stream = self.stream("preparation", H("preparation-context", place.deck, place.live, place.forks, n))
        pi = list(range(n))
        stream.shuffle(pi)
        r = stream.scalars(n)
        transcript = place_transcript("permutation-proof", place, n)
        nonces = self.nonces("permutation-proof", transcript)
        argument = Argument(pi, transcript, nonces)
        w, w_hat, wp = nonces.scalars(3), nonces.scalars(n), nonces.scalars(n)
        t, t_hat = argument.announced(w, wp), argument.chain_announced(w_hat, wp)
        c = sigma_challenge(transcript, argument.chain, t, t_hat)
        permutation = argument.C, argument.chain, t, t_hat, *argument.responses(w, w_hat, wp, c)

        key = group.Table(point(X))
        out = re_encrypted(cards, pi, r, key)
        masks = self.nonces("consistency-masks", place_transcript("consistency-proof", place, n))
        alpha, beta = masks.scalars(n), masks.scalars(n)
        transcript = consistency_transcript(place, X, cards, out)
        w1, w2, delta = self.nonces("consistency-proof", transcript).scalars(3)
        wp = [(one + delta * other) % L for one, other in zip(alpha, beta)]
        v = column_challenges(transcript, argument.C)
        vp = [v[i] for i in pi]
        a = [encode(add(base(w1), column_sum(wp)))] + deck_announcements(out, wp, w2, key)
        transcript.append("announce", b"".join(a))
        d = transcript.c()
        z = [(w1 + d * inner(argument.rho, v)) % L, (w2 + d * inner(r, vp)) % L]
        return out, Staged(permutation, (a, z, [(x + d * y) % L for x, y in zip(wp, vp)]))


class Argument:
    """A commitment to a permutation with its chain, and what the prover knows of them."""

    #= T6.17
    def __init__(self, pi, transcript, nonces):
        n = len(pi)
        self.rho, inverse = nonces.scalars(n), [pi.index(j) for j in range(n)]
        self.C = [encode(add(base(self.rho[j]), generator(inverse[j]))) for j in range(n)]
        self.u = column_challenges(transcript, self.C)
        self.up = [self.u[i] for i in pi]
        self.rho_hat = nonces.scalars(n)
        # Every link of the chain is aG + bH.
        self.logs = [(0, 1)]
        for i in range(n):
            a, b = self.logs[-1]
            self.logs.append(((self.rho_hat[i] + self.up[i] * a) % L, self.up[i] * b % L))
        self.chain = [encode(add(base(a), _h_table().mul(b))) for a, b in self.logs[1:]]

    def announced(self, w, wp):
        return [encode(base(w[0])), encode(base(w[1])), encode(add(base(w[2]), column_sum(wp)))]

    def chain_announced(self, w_hat, wp):
        return [encode(add(base(hat + mask * a), _h_table().mul(mask * b)))
                for hat, mask, (a, b) in zip(w_hat, wp, self.logs)]

    def responses(self, w, w_hat, wp, c):
        secret = sum(self.rho), self.logs[-1][0], inner(self.rho, self.u)
        return ([(mask + c * x) % L for mask, x in zip(w, secret)],
                [(mask + c * x) % L for mask, x in zip(w_hat, self.rho_hat)],
                [(mask + c * x) % L for mask, x in zip(wp, self.up)])


def inner(one, other):
    return sum(x * y for x, y in zip(one, other))


def column_sum(scalars):
    return msm(scalars, [generator(i) for i in range(len(scalars))])


def re_encrypted(cards, pi, r, key):
    return [(encode(add(point(cards[j][0]), base(ri))), encode(add(point(cards[j][1]), key.mul(ri))))
            for j, ri in zip(pi, r)]


def deck_announcements(out, wp, w, key):
    return [encode(add(msm(wp, [point(a) for a, _ in out]), base(-w))),
            encode(add(msm(wp, [point(b) for _, b in out]), key.mul(-w)))]


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

def add_decks(transcript, cards, out):
    transcript.append("input", b"".join(a + b for a, b in cards))
    transcript.append("output", b"".join(a + b for a, b in out))


def whole_transcript(place, X, cards, out):
    transcript = Merlin("shuffle-proof", *place.ctx)
    transcript.append("deck", place.deck)
    transcript.append("public-key", X)
    transcript.append("count", len(cards))
    add_decks(transcript, cards, out)
    return transcript


#= T6.16
def place_transcript(label, place, n):
    transcript = Merlin(label, *place.ctx)
    transcript.append("deck", place.deck)
    transcript.append("live", place.live)
    transcript.append("forks", place.forks)
    transcript.append("count", n)
    return transcript


#= T6.18
def consistency_transcript(place, X, cards, out):
    transcript = place_transcript("consistency-proof", place, len(cards))
    transcript.append("public-key", X)
    add_decks(transcript, cards, out)
    return transcript


def column_challenges(transcript, C):
    transcript.append("column", b"".join(C))
    return Stream(transcript.challenge("weights", 32)).scalars(len(C))


def sigma_challenge(transcript, chain, t, t_hat):
    transcript.append("chain", b"".join(chain))
    transcript.append("announce", b"".join(t))
    transcript.append("announce", b"".join(t_hat))
    return transcript.c()


#= T6.13, T6.19
def shuffle_holds(place, X, cards, out, proof):
    n = len(cards)
    if isinstance(proof, Whole):
        C, chain, t, t_hat, (*s, z2), s_hat, sp = proof
        lists, a, zp = (out, C, chain, t_hat, s_hat, sp), t[3:], sp
        t = t[:3]
    else:
        (C, chain, t, t_hat, s, s_hat, sp), (a, (z1, z2), zp) = proof
        lists = out, C, chain, t_hat, s_hat, sp, zp
    if any(len(part) != n for part in lists):
        return False
    if any(A == bytes(32) for A, _ in out):
        return False
    if isinstance(proof, Whole):
        transcript = whole_transcript(place, X, cards, out)
        u = v = column_challenges(transcript, C)
        c = d = sigma_challenge(transcript, chain, t + a, t_hat)
    else:
        transcript = place_transcript("permutation-proof", place, n)
        u, c = column_challenges(transcript, C), sigma_challenge(transcript, chain, t, t_hat)
        transcript = consistency_transcript(place, X, cards, out)
        v = column_challenges(transcript, C)
        transcript.append("announce", b"".join(a))
        d = transcript.c()
    product = 1
    for one in u:
        product = product * one % L
    # All equations (right side less left side) in one sum, each with a random weight.
    w = [secrets.randbits(128) for _ in range(6 + n)]
    chained = w[6:]
    terms = []

    def term(scalar, p):
        terms.append((scalar, p if isinstance(p, tuple) else point(p)))
    # The commitment.
    for weight, announced in zip(w, t):
        term(weight, announced)
    for weight, announced in zip(chained, t_hat):
        term(weight, announced)
    term(-inner(w, s) - inner(chained, s_hat), group.G)
    term(-w[1] * c * product - chained[0] * sp[0], generator(None))
    for i in range(n):
        term(w[0] * c + w[2] * c * u[i], C[i])
        term(-w[0] * c - w[2] * sp[i], generator(i))
        term(chained[i] * c - (chained[i + 1] * sp[i + 1] if i + 1 < n else -w[1] * c), chain[i])
    # The decks.
    for weight, announced in zip(w[3:], a[-2:]):
        term(weight, announced)
    term(w[3] * z2, group.G)
    term(w[4] * z2, X)
    for i in range(n):
        term(w[3] * d * v[i], cards[i][0])
        term(w[4] * d * v[i], cards[i][1])
        term(-w[3] * zp[i], out[i][0])
        term(-w[4] * zp[i], out[i][1])
    # That the decks were permuted as committed.
    if isinstance(proof, Staged):
        term(w[5], a[0])
        term(-w[5] * z1, group.G)
        for i in range(n):
            term(w[5] * d * v[i], C[i])
            term(-w[5] * zp[i], generator(i))
    return same(msm(*zip(*terms)), ZERO)


def face(card, shares, points):
    """The card of a deck {encoding: face} that a sealed card opens to."""
    opened = total([point(card[1])] + [minus(point(D)) for D in shares])
    return points.get(encode(opened))
