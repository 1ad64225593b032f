#!/bin/bash
# tmux drops the clipboard request (OSC 52) of a program in it, without a word, unless the user has set set-clipboard to
# "on": neither its buffer nor its terminal gets the text. Every program that copies by OSC 52 meets this; only
# `tmux load-buffer -w -` fills both.
#
# Debian 12, with apt-get and python3. Output seen: "OSC 52: buffer no, terminal no | load-buffer -w: buffer yes, terminal yes".
set -eu
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -q -o APT::Sandbox::User=root tmux=3.3a-3 libutempter0=1.2.1-3 libevent-core-2.1-7=2.1.12-stable-8 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
export LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu LC_ALL=C.UTF-8 TMUX_TMPDIR=$work
PATH=$work/root/usr/bin:$PATH
cat >inside.sh <<'S'
sleep 1
case $1 in
osc) printf '\033]52;c;aGVsbG8=\007' ;;
load) printf hello | tmux load-buffer -w - ;;
esac
sleep 1
tmux show-buffer >buffer 2>&1 || :
echo finished; sleep 1
S
python3 - <<'P'
import os, pathlib, pty, select, subprocess, sys, time
version = subprocess.run(["tmux", "-V"], capture_output=True, text=True).stdout.strip()
seen = {}
for way in ("osc", "load"):
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.pop("TMUX", None)
        os.environ.update(TERM="xterm-256color")
        os.execvp("tmux", ["tmux", "-L", way, "-f", "/dev/null", "new-session", "sh", "inside.sh", way])
    out, end = b"", time.time() + 15
    while time.time() < end and b"finished" not in out:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                out += os.read(fd, 65536)
            except OSError:
                break
    seen[way] = (pathlib.Path("buffer").read_text().strip() == "hello", b"aGVsbG8=" in out)
said = [f"buffer {'yes' if b else 'no'}, terminal {'yes' if t else 'no'}" for b, t in seen.values()]
print(f"{version} | OSC 52: {said[0]} | load-buffer -w: {said[1]}")
sys.exit(0 if seen == {"osc": (False, False), "load": (True, True)} else 1)
P
