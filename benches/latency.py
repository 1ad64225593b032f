"""How long real programs take from one moment to another: two builds in turn, on Linux.

    python3 benches/latency.py OLD NEW

starts tables of bots on loopback with each of the two programs in turn, and prints medians and their quotients. Some scenes
make every disk sync or every link slow on purpose (a library in front of libc, which `cc` builds, and a proxy in this
program): then the time says how many syncs and trips lie in series, whatever else the machine does.
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

# Delays each sync by SYNC_US, and leads each TCP connection within this machine through the proxy behind LINK_PORT: it is
# told the port, and answers with one of its own.
SLOW = r"""
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
static int slowly(const char *name, int file) {
    const char *delay = getenv("SYNC_US");
    if (delay) usleep(atol(delay));
    return ((int (*)(int))dlsym(RTLD_NEXT, name))(file);
}
int fsync(int file) { return slowly("fsync", file); }
int fdatasync(int file) { return slowly("fdatasync", file); }
int connect(int file, const struct sockaddr *to, socklen_t length) {
    int (*plain)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "connect");
    const char *proxy = getenv("LINK_PORT");
    int type = 0;
    socklen_t size = sizeof type;
    getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &size);
    if (!proxy || to->sa_family != AF_INET || type != SOCK_STREAM) return plain(file, to, length);
    struct sockaddr_in at = *(const struct sockaddr_in *)to, asked = at;
    if (at.sin_addr.s_addr != htonl(INADDR_LOOPBACK)) return plain(file, to, length);
    int question = socket(AF_INET, SOCK_STREAM, 0);
    char text[16] = {0};
    asked.sin_port = htons(atoi(proxy));
    if (plain(question, (const struct sockaddr *)&asked, sizeof asked) == 0) {
        dprintf(question, "%d\n", ntohs(at.sin_port));
        if (read(question, text, sizeof text - 1) > 0) at.sin_port = htons(atoi(text));
    }
    close(question);
    return plain(file, (const struct sockaddr *)&at, sizeof at);
}
"""

# Name, game, seats, actions, milliseconds a sync (0 for the disk's own), milliseconds one way and kbit a second (0 for the
# machine's own), and what is told.
SCENES = [
    ("a move of Plutonian Poker, 2 seats", "plutonian-poker", 2, 25, 0, 0, 0, "move"),
    ("a move of Plutonian Poker, 4 seats", "plutonian-poker", 4, 25, 0, 0, 0, "move"),
    ("a move of Loot, 4 seats", "loot", 4, 25, 0, 0, 0, "move"),
    ("a move of Plutonian Poker, 3 seats, 150 ms a sync", "plutonian-poker", 3, 12, 150, 0, 0, "move"),
    ("first turn of Houses of Thoth, 5 seats, 10 ms a sync", "houses-of-thoth", 5, 1, 10, 0, 0, "first"),
    (
        "from the last ready to the first turn of Houses of Thoth, 5 seats, 100 ms one way, 10 ms a sync",
        "houses-of-thoth",
        5,
        1,
        10,
        100,
        0,
        "begin",
    ),
    ("from the last action of a hand to the next turn, Loot, 3 seats, 150 ms one way", "loot", 3, 0, 0, 150, 0, "next"),
    ("moves of a hand of Loot, 3 seats, 150 ms one way, 256 kbit/s, on average", "loot", 3, 0, 0, 150, 256, "moves"),
    (
        "moves of a hand of Houses of Thoth, 5 seats, 50 ms one way, 256 kbit/s, on average",
        "houses-of-thoth",
        5,
        0,
        0,
        50,
        256,
        "moves",
    ),
    ("processor time of a seat and action, Houses of Thoth, 5 seats", "houses-of-thoth", 5, 300, 0, 0, 0, "cpu"),
]


# What a slow link carries at once, in bytes: about an entry, which leaves in a packet of its own.
PACKET = 512


class Links:
    """A proxy in front of every port of this machine, in a thread of its own: each direction of a connection has its own
    rate, and what has passed arrives later."""

    def __init__(self, one_way_ms, kbit):
        self.delay, self.ports = one_way_ms / 1000, {}
        self.byte = 8 / kbit / 1000 if kbit else 0
        ready = threading.Event()

        async def serve():
            server = await asyncio.start_server(self._asked, "127.0.0.1", 0)
            self.port = server.sockets[0].getsockname()[1]
            ready.set()
            await server.serve_forever()

        threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
        ready.wait()

    async def _asked(self, reader, writer):
        target = int(await reader.readline())
        if target not in self.ports:
            server = await asyncio.start_server(lambda r, w: self._dialled(target, r, w), "127.0.0.1", 0)
            self.ports[target] = server.sockets[0].getsockname()[1]
        writer.write(f"{self.ports[target]}\n".encode())
        await writer.drain()
        writer.close()

    async def _dialled(self, target, reader, writer):
        # TCP's own handshake takes the dialling end two trips before it may send.
        begun = asyncio.get_running_loop().time() + 2 * self.delay
        try:
            onward = await asyncio.open_connection("127.0.0.1", target)
        except OSError:
            return writer.close()
        for end in (writer, onward[1]):
            end.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.gather(self._carry(begun, reader, onward[1]), self._carry(begun, onward[0], writer))

    async def _carry(self, begun, reader, writer):
        loop, late = asyncio.get_running_loop(), asyncio.Queue()

        async def arrive():
            while True:
                due, some = await late.get()
                await asyncio.sleep(max(0, due - loop.time()))
                if not some or writer.is_closing():
                    return writer.close()
                writer.write(some)

        arrives = asyncio.create_task(arrive())
        some, free = b"-", begun
        while some:
            try:
                some = await reader.read(1 << 16)
            except OSError:
                some = b""
            free = max(free, loop.time())
            for at in range(0, len(some) or 1, PACKET if self.byte else len(some) or 1):
                packet = some[at : at + PACKET] if self.byte else some
                free += len(packet) * self.byte
                late.put_nowait((free + self.delay, packet))
        await arrives


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
                if event["event"] in ("ticket", "seated", "started", "turn", "action", "over"):
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

    def between_hands(self, seats):
        """From the last action of each hand to the first turn of the next, in seconds, as all programs have told it; only of
        hands that no interjection has ended, which takes two steps more."""
        firsts = {}
        for now, number, event in self.told("turn"):
            firsts.setdefault(event["deal"], {}).setdefault(number, (now, event["step"]))
        gaps, deals = [], sorted(firsts)
        for deal in deals[1:]:
            if len(firsts[deal]) == seats:
                step = min(step for _, step in firsts[deal].values())
                last = [event for event in self.told("action") if event[2]["step"] < step]
                last = [event for event in last if event[2]["step"] == max(e["step"] for _, _, e in last)]
                if all(event["action"]["type"] != "fire" for _, _, event in last):
                    gaps.append(max(now for now, _ in firsts[deal].values()) - max(now for now, _, _ in last))
        return gaps

    def moves(self, seats):
        """The times from an action to the next one in hands that are over, in seconds, as all programs have told them."""
        ends, deals, firsts = {}, {}, {}
        for now, _, event in self.told("action"):
            ends.setdefault(event["step"], []).append(now)
        for _, _, event in self.told("turn"):
            firsts[event["deal"]] = min(event["step"], firsts.get(event["deal"], event["step"]))
        begins = sorted(firsts.values())
        for step, times in sorted(ends.items()):
            hand = sum(begin <= step for begin in begins)
            if len(times) == seats and 0 < hand < len(begins):
                deals.setdefault(hand, []).append((step, max(times)))
        # Whoever plays on behind a shuffle has waited for that.
        pairs = [pair for moves in deals.values() for pair in zip(moves, moves[1:])]
        return [b - a for (one, a), (next_one, b) in pairs if next_one == one + 1]

    def until(self, holds):
        until = time.monotonic() + 300
        while not holds():
            if time.monotonic() > until:
                raise SystemExit("nothing more for five minutes")
            time.sleep(0.005)

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
    _, game, seats, actions, sync_ms, one_way_ms, kbit, what = scene
    environment = dict(os.environ)
    if sync_ms or one_way_ms:
        environment |= {"LD_PRELOAD": str(library), "SYNC_US": str(sync_ms * 1000)}
    if one_way_ms:
        environment |= {"LINK_PORT": str(Links(one_way_ms, kbit).port)}
    with tempfile.TemporaryDirectory() as folder:
        table = Table(program, game, seats, Path(folder), environment)
        try:
            if what in ("first", "begin"):
                # A bot says that it is ready once it has heard of its seat.
                since, who = ("started", range(seats)) if what == "first" else ("seated", range(1, seats))
                begins = max(table.wait(since, 1, number)[0][0] for number in who)
                return (max(table.wait("turn", 1, number)[0][0] for number in range(seats)) - begins) * 1000
            if what == "next":
                table.until(lambda: table.between_hands(seats))
                return table.between_hands(seats)[0] * 1000
            if what == "moves":
                table.until(lambda: len(table.moves(seats)) > 60 or table.told("over", 0))
                return statistics.mean(table.moves(seats)) * 1000
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
    parser.add_argument("--scene", default="", help="only the scenes whose names contain this")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "slow.so"
        compiler = ["cc", "-shared", "-fPIC", "-O1", "-x", "c", "-", "-o", str(library), "-ldl"]
        subprocess.run(compiler, input=SLOW, text=True, check=True)
        for scene in (scene for scene in SCENES if given.scene in scene[0]):
            figures = [(given.old, []), (given.new, [])]
            for _ in range(given.rounds):
                for program, found in figures:
                    found.append(measured(program, scene, library))
            old, new = (statistics.median(found) for _, found in figures)
            print(f"{scene[0]}: {old:.1f} ms, {new:.1f} ms, quotient {new / old:.2f}", flush=True)


main()
