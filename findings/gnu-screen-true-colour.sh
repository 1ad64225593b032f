#!/bin/bash
# GNU screen 4.9 reads a 24-bit colour ("38;2;1;4;7") as attributes: it turns dim, bold, underline and reverse on. Whoever
# runs a program in it that trusts COLORTERM, which screen passes on from its terminal unchanged, sees unreadable text.
#
# Debian 12, with apt-get and python3. Output seen: "COLORTERM=truecolor; X is shown with \x1b[2m \x1b[4m \x1b[1m \x1b[7m".
set -eu
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -q -o APT::Sandbox::User=root screen=4.9.0-4 libutempter0=1.2.1-3 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
export LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu SCREENDIR=$work/sockets LC_ALL=C.UTF-8
mkdir -m 700 "$SCREENDIR"
echo 'startup_message off' >rc
cat >inside.sh <<'S'
printf '\033[38;2;1;4;7mX\033[0m %s\n' "$COLORTERM"; sleep 1
S
python3 - "$work/root/usr/bin/screen" <<'P'
import os, pty, re, select, subprocess, sys, time
version = subprocess.run([sys.argv[1], "-v"], capture_output=True, text=True).stdout
assert "4.09.00" in version, version
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
    os.execv(sys.argv[1], ["screen", "-U", "-c", "rc", "sh", "inside.sh"])
out, end = b"", time.time() + 10
while time.time() < end and b"truecolor" not in out:
    if select.select([fd], [], [], 0.1)[0]:
        try:
            out += os.read(fd, 65536)
        except OSError:
            break
shown = re.search(rb"((?:\x1b\[[0-9;]*m)+)X.*truecolor", out)
codes = set(re.findall(rb"\x1b\[([0-9;]*)m", shown.group(1))) if shown else set()
print(version.strip(), "| COLORTERM=truecolor; X is shown with", sorted(codes))
sys.exit(0 if codes == {b"1", b"2", b"4", b"7"} else 1)
P
