#!/usr/bin/env python3
"""A searching bot for every game of fairdeal, by the lines of docs/bots.md.

    fairdeal bot duel loot "exec:python3 examples/bots/search.py" gentle --games 20

`fairdeal engine` (docs/referee.md) is its simulator: it guesses the hidden cards, plays each action on from the same
guesses, and takes the one that does best on average (flat Monte Carlo). Without the engine it plays the first action.
"""

import json
import math
import os
import queue
import subprocess
import sys
import threading
import time

DEPTH = 8  # Actions of a play-out after the one that it tries.
THINK = float(os.environ.get("SEARCH_MS", 400)) / 1000  # Seconds for a decision, or half of its time if that is less.
PATIENCE = 300  # Decisions of a game after which the bot votes for its end.
FIRE = {"type": "fire"}


class Engine:
    """The referee as a child process."""

    def __init__(self):
        command = [os.environ.get("FAIRDEAL", "fairdeal"), "engine"]  # fairdeal sets FAIRDEAL to its own path.
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *requests):
        """Sends requests together, and returns the last reply."""
        self.child.stdin.write("".join(json.dumps(request) + "\n" for request in requests))
        self.child.stdin.flush()
        for reply in [json.loads(self.child.stdout.readline()) for _ in requests]:
            if not reply["ok"]:
                raise ValueError(reply["error"]["message"])
        return reply

    def advice(self, seat, number):
        """The action that our normal bot would make."""
        bot = {"op": "bot", "seat": seat, "level": "normal", "seed": f"{number:064x}", "iterations": 1}
        return self.ask(bot)["action"]

    def act(self, seat, action):
        return self.ask({"op": "act", "seat": seat, "action": action}, {"op": "status"})


def of_house(house):
    """About what a house of Thoth scores: pips, levels, the Roof; Trouble costs."""
    pyramids = [name for level in house["levels"] for name in level["pyramids"]]
    pips = sum(1 + name.endswith("-medium") + 2 * name.endswith("-large") for name in pyramids)
    return pips + len(house["levels"]) + (5 if house["roof"] else 0) - 3 * len(house["trouble"])


def play_out(engine, game, me, action, before):
    """Plays an action on the saved guess, then some by our normal bots. Returns this seat's lead then, in points."""
    status = engine.ask({"op": "load", "slot": "guess"}, {"op": "status"})
    if action:
        status = engine.act(me, action)
    for number in range(DEPTH + 3):
        scored = status["scores"] != before and game != "plutonian-poker"
        if scored or status["over"] or number >= DEPTH and game != "loot":
            break  # In Loot a fire shows what the hands are worth, when the turn ends.
        seat, action = status["to_act"][0], FIRE
        if number == DEPTH and FIRE in engine.ask({"op": "legal", "seat": me})["actions"]:
            seat = me
        else:
            action = engine.advice(seat, number)
        status = engine.act(seat, action)
    points = status["scores"]
    if status["over"]:  # A win is worth more than its points.
        points = [score + 50 * (seat in status["winners"]) for seat, score in enumerate(points)]
    elif game == "houses-of-thoth" and points == before:
        houses = engine.ask({"op": "view", "seat": None})["view"]["houses"]
        points = [score + of_house(house) for score, house in zip(points, houses)]
    return points[me] - max(score for seat, score in enumerate(points) if seat != me)


def lead(values, usual):
    """The least by which an action is likely to do better than the usual one, over the same guesses."""
    more = [one - other for one, other in zip(values, usual)]
    if len(more) < 4:
        return 0
    mean = sum(more) / len(more)
    return mean - math.sqrt(sum((value - mean) ** 2 for value in more) / (len(more) - 1) / len(more))


def search(engine, game, me, question, is_over):
    """The best action; None stays silent."""
    guess = {"op": "guess", "position": question["position"], "seed": f"{0:064x}"}
    before = engine.ask(guess, {"op": "status"})["scores"]
    usual = engine.advice(me, 0)
    # Votes are for the normal bot. It is also where the search begins: only what is clearly better takes its place.
    tried = [usual] + [action for action in question["legal"] if action["type"] != "vote" and action != usual]
    if usual and not question["must"]:
        tried.append(None)
    values = [[] for _ in tried]
    alive, world = list(range(len(tried))), 0
    while len(alive) > 1 and not is_over():
        world += 1
        engine.ask({**guess, "seed": f"{world:064x}"}, {"op": "save", "slot": "guess"})
        for place in alive:
            if not is_over():
                values[place].append(play_out(engine, game, me, tried[place], before))
        if world % 4 == 0:  # The worse half is out.
            alive.sort(key=lambda place: -sum(values[place]))
            alive = [place for rank, place in enumerate(alive) if rank < (len(alive) + 1) // 2 or place == 0]
    return tried[max(range(len(tried)), key=lambda place: (lead(values[place], values[0]), -place))]


def choose(engine, hello, question, decisions, is_over):
    """The answer to a question, whatever happens."""
    vote = {"type": "vote", "end": True}
    if vote in question["legal"] and decisions > PATIENCE:  # Else Sphinx's Paw might go on for ever.
        return vote
    try:
        if engine and question["position"]:
            return search(engine, hello["game"], hello["seat"], question, is_over)
    except (OSError, ValueError) as error:
        print("the search ended:", error, file=sys.stderr)
    return question["legal"][0] if question["must"] else None


def main():
    lines, stopped = queue.Queue(), set()

    def read():  # While the bot thinks, too.
        for line in sys.stdin:
            message = json.loads(line)
            if message["event"] == "stop":
                stopped.add(message["id"])
            lines.put(message)
        os._exit(0)  # The table has ended; the engine ends with its input.

    threading.Thread(target=read, daemon=True).start()
    hello = engine = None
    decisions = 0
    while True:
        message = lines.get()
        if message["event"] == "hello":
            hello, answer = message, {"event": "ready", "name": "search"}
            try:
                engine = Engine()
            except OSError as error:
                print("there is no engine:", error, file=sys.stderr)
        elif message["event"] == "choose":
            number, late = message["id"], time.monotonic() + min(THINK, hello["move_ms"] / 2000)
            decisions += message["must"]
            action = choose(engine, hello, message, decisions,
                            lambda: number in stopped or time.monotonic() > late)
            answer = {"event": "choice", "id": number, "action": action}
        else:  # stop, over, the events of the table, and what later versions add
            continue
        print(json.dumps(answer), flush=True)


main()
