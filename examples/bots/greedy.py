#!/usr/bin/env python3
"""A greedy bot for every game of fairdeal, by the lines of docs/bots.md.

    fairdeal bot duel loot "exec:python3 examples/bots/greedy.py" gentle --games 20

It takes the best kind of action, then the best action of that kind, and the first of equal ones.
"""

import json
import sys

# Kinds of actions, best first. Kinds that are not here come last.
KINDS = ["foundation", "roof", "story", "raise", "relieve", "trouble", "place", "take", "magician", "introduce",
         "monster", "discard"]
# Decisions in Sphinx's Paw after which it votes for the end: a game can go round for ever.
PATIENCE = 60


def worth(action, view, me, made):
    """How good an action looks after so many decisions: the largest tuple wins."""
    kind = action["type"]
    rank = -KINDS.index(kind) if kind in KINDS else -len(KINDS)
    if view["game"] == "loot":
        def friends(card):
            """Cards in the hand with the suit of this card."""
            suit = card.rpartition("-")[2]
            return sum(other.rpartition("-")[2] == suit for other in view["hands"][me] if other)
        if kind == "fire":  # Once it has had some turns to sort its hand.
            return (1, 0) if view["turns"][me] >= 5 else (-len(KINDS), 0)
        if kind == "discard":
            return (rank, -friends(action["card"]))
        if kind == "take":  # The open card, if it makes three of a suit.
            return (rank, action["from"] == "discard" and friends(view["discard"][-1]) >= 2)
    if kind == "vote":
        return (1, 0) if action["end"] and made >= PATIENCE else (-len(KINDS), 0)
    if kind == "trouble" and action["target"] == me:
        return (-len(KINDS), 0)
    return (rank, action.get("count", 0))


def main():
    me, made = None, 0
    for line in sys.stdin:
        message = json.loads(line)
        if message["event"] == "hello":
            me = message["seat"]
            answer = {"event": "ready", "name": "greedy"}
        elif message["event"] == "choose":
            legal, view = message["legal"], message["view"]
            # Out of turn it stays silent.
            best = None
            if message["must"]:
                best = max(range(len(legal)), key=lambda at: worth(legal[at], view, me, made))
                made += 1
            answer = {"event": "choice", "id": message["id"], "index": best}
        else:  # stop, over, the events of the table, and what later versions add
            continue
        print(json.dumps(answer), flush=True)


main()
