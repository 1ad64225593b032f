#!/usr/bin/env bash
# Tries the packages that packaging/dist.sh has built: on Linux as a player who has nothing else, for Windows under Wine.
#
#     packaging/check.sh [FOLDER]     by default target/packages
#
# The commands on Linux are those of docs/install.md. A part whose tools are missing says so. FAIRDEAL_DEBIAN names the
# folder of a Debian system (debootstrap); there the .deb is installed and removed, as root.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD
packages=$(cd "${1:-target/packages}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() { printf '\n== %s\n' "$*"; }
fail() { echo "check: $*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1 || { echo "skipped: no $1 here"; return 1; }; }

# The commands below a heading of docs/install.md. The interface runs in a terminal of its own until it is drawn.
commands() {
    awk -v heading="## $1" '/^## /{on = $0 == heading} on && /^```/{code = /sh$/; next} on && code' docs/install.md
}

step "sizes and checksums"
(cd "$packages" && sha256sum --check --quiet SHA256SUMS)
for file in "$packages"/*.tar.gz "$packages"/*.zip "$packages"/*.deb; do
    [ -e "$file" ] || continue
    size=$(stat -c %s "$file")
    echo "$size ${file##*/}"
    [ "$size" -lt 20000000 ] || fail "${file##*/} has 20 MB or more"
done

step "Linux: unpack, run, play, verify, remove"
mkdir "$work/home"
cp "$packages"/*-linux-musl.tar.gz "$packages/SHA256SUMS" "$work"
# Nothing of this machine's settings, and no Rust in the path.
clean() { env -i HOME="$work/home" TERM=xterm-256color LANG=C.UTF-8 PATH=/usr/bin:/bin "$@"; }
commands Linux | sed 's#^\./fairdeal$#timeout 5 script -qec "stty rows 30 cols 100; ./fairdeal" screen.txt >/dev/null || true#' >"$work/steps.sh"
(cd "$work" && clean bash -euxo pipefail steps.sh </dev/null)
folder=$(echo "$work"/fairdeal-*-linux-musl)
grep -q 'check the shuffle' "$folder/screen.txt" || fail "the interface did not appear"
size=$(stat -c %s "$folder/fairdeal")
echo "the program has $size bytes"
[ "$size" -lt 20000000 ] || fail "the program has 20 MB or more"
if have ldd; then
    ldd "$folder/fairdeal" 2>&1 | grep -Eq 'not a dynamic|statically' || fail "the program is not static"
fi
! strings -n 6 "$folder/fairdeal" 2>/dev/null | grep -F -e "$source" -e "$HOME/.cargo" || fail "paths of this machine are in it"
cp "$folder/game.fairdeal" "$work/game.fairdeal"
rm -r "$folder"
[ -d "$work/home/.local/share/fairdeal" ] || fail "games are not where docs/install.md says"

step "macOS"
if have plutil; then
    plutil -lint "$source/packaging/fairdeal-keep.plist"
fi

step "Debian"
deb=$(echo "$packages"/*.deb)
if [ -e "$deb" ] && have dpkg-deb; then
    dpkg-deb --extract "$deb" "$work/deb"
    for path in usr/bin/fairdeal usr/share/man/man1/fairdeal.1.gz usr/share/applications/fairdeal.desktop \
        usr/share/icons/hicolor/scalable/apps/fairdeal.svg usr/share/bash-completion/completions/fairdeal \
        usr/lib/systemd/system/fairdeal-relay.service usr/lib/systemd/user/fairdeal-keep.service usr/share/doc/fairdeal/copyright; do
        [ -e "$work/deb/$path" ] || fail "the .deb has no $path"
    done
    have desktop-file-validate && desktop-file-validate "$work/deb/usr/share/applications/fairdeal.desktop"
    have lintian && lintian --fail-on error "$deb"
    if [ -n "${FAIRDEAL_DEBIAN:-}" ]; then
        cp "$deb" "$work/game.fairdeal" "$FAIRDEAL_DEBIAN/root/"
        chroot "$FAIRDEAL_DEBIAN" sh -euxc "cd /root; ! command -v cargo; apt-get install -y ./${deb##*/}
            fairdeal --version; fairdeal verify game.fairdeal; fairdeal play loot --bots 1 --headless
            apt-get remove -y fairdeal; ! command -v fairdeal"
    else
        echo "skipped: FAIRDEAL_DEBIAN names no system to install it in"
    fi
fi

step "Windows, under Wine"
zip=$(echo "$packages"/*-windows-gnu.zip)
if [ -e "$zip" ] && have wine && have unzip; then
    unzip -q "$zip" -d "$work"
    cd "$work"/fairdeal-*-windows-gnu
    export WINEPREFIX=$work/wine WINEDEBUG=-all HOME=$work/home
    wine fairdeal.exe --version
    wine fairdeal.exe verify "$work/game.fairdeal"
    wine fairdeal.exe play loot --bots 1 --headless
    table=$(wine fairdeal.exe history | grep -o '[0-9a-f]\{8\}' | head -n 1)
    wine fairdeal.exe export "$table" -o windows.fairdeal
    wine fairdeal.exe verify windows.fairdeal
    # Wine lacks QUIC and the list of network interfaces, so both name an address.
    timeout 240 wine fairdeal.exe --data-dir host bot host loot --seats 2 --no-lan --listen /ip4/127.0.0.1/tcp/0 \
        >host.txt 2>&1 &
    for _ in {1..60}; do
        ticket=$(grep -o 'fd1[a-z0-9]*' host.txt) && break
        sleep 1
    done
    timeout 120 wine fairdeal.exe --data-dir guest bot join "$ticket" --headless --listen /ip4/127.0.0.1/tcp/0 \
        >guest.txt 2>&1 ||
        fail "two programs do not meet: $(tail -n 3 guest.txt)"
    wait
    tail -n 2 host.txt
    for side in host guest; do
        grep -q 'every shuffle checks out' $side.txt || fail "the $side did not finish the game"
    done
    cd "$source"
fi

step "everything that could be tried works"
