"""How long real programs take from one moment to another: two builds in turn, on Linux.

    python3 benches/latency.py OLD NEW

starts tables of bots on loopback with each of the two programs in turn, and prints medians and their quotients. Some scenes
make every disk sync slow on purpose (a library in front of libc, which `cc` builds): then the time of a move says how many
syncs lie in series in it, whatever else the machine does.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

SLOW = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
static int slowly(const char *name, int file) {
    const char *delay = getenv("SYNC_US");
    if (delay) usleep(atol(delay));
    return ((int (*)(int))dlsym(RTLD_NEXT, name))(file);
}
int fsync(int file) { return slowly("fsync", file); }
int fdatasync(int file) { return slowly("fdatasync", file); }
"""

# Name, game, seats, actions, milliseconds a sync (0 for the disk's own), and what is told.
SCENES = [
    ("a move of Plutonian Poker, 2 seats", "plutonian-poker", 2, 25, 0, "move"),
    ("a move of Plutonian Poker, 4 seats", "plutonian-poker", 4, 25, 0, "move"),
    ("a move of Loot, 4 seats", "loot", 4, 25, 0, "move"),
    ("a move of Plutonian Poker, 3 seats, 150 ms a sync", "plutonian-poker", 3, 12, 150, "move"),
    ("first turn of Houses of Thoth, 5 seats, 10 ms a sync", "houses-of-thoth", 5, 1, 10, "first"),
    ("processor time of a seat and action, Houses of Thoth, 5 seats", "houses-of-thoth", 5, 300, 0, "cpu"),
]


class Table:
    """Programs at one table, and when each of them told what."""

    def __init__(self, program, game, seats, folder, environment):
        self.events, self.programs = [], []
        self.start = lambda args: self._start(program, args, folder, environment)
        self.start(["bot", "host", game, "--seats", str(seats), "--no-lan"])
        ticket = self.wait("ticket", 1)[0][2]["ticket"]
        for _ in range(1, seats):
            self.start(["bot", "join", ticket])

    def _start(self, program, args, folder, environment):
        number = len(self.programs)
        rest = ["--json", "--bot-delay", "0", "--level", "gentle", "--listen", "/ip4/127.0.0.1/tcp/0", "--no-web"]
        place = ["--data-dir", str(folder / str(number)), "--name", f"p{number}"]
        command = [program, *args, *rest, *place]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
        self.programs.append(child)

        def read():
            for line in child.stdout:
                now = time.perf_counter()
                event = json.loads(line)
                if event["event"] in ("ticket", "started", "turn", "action", "over"):
                    self.events.append((now, number, event))

        threading.Thread(target=read, daemon=True).start()

    def told(self, kind, number=None):
        return [event for event in list(self.events) if event[2]["event"] == kind and number in (None, event[1])]

    def wait(self, kind, count, number=0):
        """Waits until a program has told so many events of a kind, or that the game is over."""
        until = time.monotonic() + 120
        while len(self.told(kind, number)) < count and not self.told("over", number):
            if time.monotonic() > until:
                raise SystemExit(f"no {kind} within two minutes")
            time.sleep(0.005)
        return self.told(kind, number)

    def processor_ms(self):
        ticks = os.sysconf("SC_CLK_TCK")
        fields = [Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split() for child in self.programs]
        return sum((int(field[11]) + int(field[12])) * 1000 / ticks for field in fields)

    def end(self):
        for child in self.programs:
            child.kill()
            child.wait()


def measured(program, scene, library):
    """One figure of a scene, in milliseconds."""
    _, game, seats, actions, sync_ms, what = scene
    environment = dict(os.environ)
    if sync_ms:
        environment |= {"LD_PRELOAD": str(library), "SYNC_US": str(sync_ms * 1000)}
    with tempfile.TemporaryDirectory() as folder:
        table = Table(program, game, seats, Path(folder), environment)
        try:
            if what == "first":
                started = max(table.wait("started", 1, number)[0][0] for number in range(seats))
                return (max(table.wait("turn", 1, number)[0][0] for number in range(seats)) - started) * 1000
            warm = 5
            first = table.wait("action", warm)
            before, since = table.processor_ms(), len(first)
            last = table.wait("action", actions)
            if what == "cpu":
                return (table.processor_ms() - before) / (len(last) - since) / seats
            # An action has happened once all seats have told it.
            steps = {}
            for now, _, event in table.told("action"):
                steps.setdefault(event["step"], []).append(now)
            ends = [max(times) for _, times in sorted(steps.items()) if len(times) == seats]
            return statistics.median((b - a) * 1000 for a, b in zip(ends[warm:], ends[warm + 1 :]))
        finally:
            table.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "slow.so"
        compiler = ["cc", "-shared", "-fPIC", "-O1", "-x", "c", "-", "-o", str(library), "-ldl"]
        subprocess.run(compiler, input=SLOW, text=True, check=True)
        for scene in SCENES:
            figures = {given.old: [], given.new: []}
            for _ in range(given.rounds):
                for program, found in figures.items():
                    found.append(measured(program, scene, library))
            old, new = (statistics.median(found) for found in figures.values())
            print(f"{scene[0]}: {old:.1f} ms, {new:.1f} ms, quotient {new / old:.2f}", flush=True)


main()
