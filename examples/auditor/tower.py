"""Whether a deal of Ivory Tower can be won (docs/rules/ivory-tower.md, "The deal of the day"): an exhaustive search."""

# The suits of the 24 number cards, three cards a rank from rank 2.
PAIRS = "05 14 23 15 34 02 01 23 45 03 45 12 35 02 14 15 24 03 23 01 45 24 35 01".split()
RANK = [1] * 6 + [2 + n // 3 for n in range(24)] + [10] * 6
# A bit for each suit.
SUITS = [1 << n for n in range(6)] + [1 << int(a) | 1 << int(b) for a, b in PAIRS] + [1 << n for n in range(6)]
# FITS[card]: the cards that it may lie on in a pile.
FITS = [{under for under in range(36) if RANK[under] == RANK[card] + 1 and not SUITS[under] & SUITS[card]}
        for card in range(36)]


def can_be_won(deck):
    """`deck`: the whole deck as card numbers, the top card first.

    A state is the stock (draw pile from the bottom, then deck from the top), a mark, the piles, the tower's height, and
    the suits that it can still be completed in. Turns lead to these numbers of turned cards: the multiples of three, the
    whole stock, and before the draw pile is turned over also the present number plus multiples of three. The mark is
    the present number, or 0 if that adds nothing."""
    start = (tuple(deck), 0, (), 0, 63)
    seen, waiting = {start}, [start]
    while waiting:
        for state in after(*waiting.pop()):
            if state[3] == 10:
                return True
            if state not in seen:
                seen.add(state)
                waiting.append(state)
    return False


def after(stock, mark, piles, height, suits):
    """The states after one play, those with a higher tower last."""
    found, count = [], len(stock)

    def play(card, stock, mark, others, own):
        """`own`: what the card leaves of its own pile, if it comes from one."""
        if RANK[card] == height + 1 and SUITS[card] & suits:
            found.append((stock, mark, others + own, height + 1, suits if height else SUITS[card]))
        for place, pile in enumerate(others):
            under = pile[-1]
            if under in FITS[card]:
                # A card that fits nowhere else stays there until the tower takes it. If the tower needs the card
                # beneath first, the suits of that are lost.
                left = suits & ~SUITS[under] if len(FITS[card]) == 1 and RANK[under] > height else suits
                if left:
                    grown = others[:place] + (pile + (card,),) + others[place + 1:]
                    found.append((stock, mark, grown + own, height, left))

    for place, pile in enumerate(piles):
        own = (pile[:-1],) if len(pile) > 1 else ()
        play(pile[-1], stock, mark, piles[:place] + piles[place + 1:], own)
    for turned in range(1, count + 1):
        if turned % 3 == 0 or turned == count or mark and turned >= mark and (turned - mark) % 3 == 0:
            card, rest, now = stock[turned - 1], stock[:turned - 1] + stock[turned:], turned - 1
            now = 0 if now % 3 == 0 or now == count - 1 else now
            play(card, rest, now, piles, ())
            if RANK[card] == 10 and len(piles) < 3:
                found.append((rest, now, piles + ((card,),), height, suits))
    # The order of the piles does not matter.
    found = [(stock, mark, tuple(sorted(piles)), height, suits) for stock, mark, piles, height, suits in found]
    return sorted(found, key=lambda state: state[3])
