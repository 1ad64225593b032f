#!/usr/bin/env bash
# Builds the packages of a release in target/packages: on Linux a static program with its .deb, the Windows program and
# the page for browsers, on macOS a program; with checksums, the licences of all libraries and a list of them (SBOM).
#
#     packaging/dist.sh [TARGET…]     the first target has to run on this machine
#
# The same commit and compiler give the same bytes in any folder: paths are mapped away, and all times are that of the
# commit. packaging/check.sh tries what this has built.
set -euo pipefail
cd "$(dirname "$0")/.."

case "$(uname -s)" in
Linux) default="$(uname -m)-unknown-linux-musl x86_64-pc-windows-gnu" ;;
Darwin) default="$(uname -m | sed s/arm64/aarch64/)-apple-darwin" ;;
*) default= ;;
esac
targets=${*:-$default}
[ -n "$targets" ] || { echo "dist: packages for this system are built on Linux" >&2; exit 2; }

need() {
    command -v "$1" >/dev/null 2>&1 || { echo "dist: $1 is missing; $2" >&2; exit 2; }
}
need just "cargo install just"
need cargo-about "cargo install --features cli cargo-about"
need cargo-cyclonedx "cargo install cargo-cyclonedx"
for target in $targets wasm32-unknown-unknown; do
    rustc --print target-libdir --target "$target" | xargs test -d ||
        { echo "dist: the target $target is missing; rustup target add $target" >&2; exit 2; }
    case $target in
    *-musl)
        need musl-gcc "apt install musl-tools"
        need cargo-deb "cargo install cargo-deb"
        ;;
    *-windows-gnu)
        need x86_64-w64-mingw32-gcc "apt install gcc-mingw-w64-x86-64"
        need zip "apt install zip"
        ;;
    esac
done

version=$(cargo metadata --format-version 1 --no-deps --locked | grep -o '"name":"fairdeal","version":"[^"]*' | cut -d'"' -f8)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C
umask 022
out=$PWD/target/packages
staging=$out/staging
rm -rf "$out"
mkdir -p "$staging/man" "$staging/completions"

# Panic messages contain paths, and so do assertions of C libraries.
cargo_home=${CARGO_HOME:-$HOME/.cargo}
flags="--remap-path-prefix=$PWD=/fairdeal --remap-path-prefix=$cargo_home=/cargo"
export CFLAGS="-ffile-prefix-map=$PWD=/fairdeal -ffile-prefix-map=$cargo_home=/cargo"
# The lists of libraries and licences are made offline, and look at those of every system.
cargo fetch --locked --quiet
build() {
    local more=
    # MinGW's linker writes the time into the program, unless it is told not to.
    case $1 in *-windows-gnu) more="-C link-arg=-Wl,--no-insert-timestamp" ;; esac
    RUSTFLAGS="$flags $more" cargo build --profile dist --features quic,tls,page --locked --target "$1"
}

# Sets all times in a folder to that of the commit.
settle() {
    find "$1" -exec touch -h -d "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ 2>/dev/null ||
        date -u -r "$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)" {} +
}

# Packs a folder of $out, its files in the order of their names and without an owner.
pack() {
    local name=$1
    settle "$out/$name"
    case $name in
    *-windows-*) (cd "$out" && find "$name" -type f | sort | zip -q -X -9 "$name.zip" -@) ;;
    *)
        local owner="--owner=0 --group=0"
        tar --version | grep -q GNU || owner="--uid 0 --gid 0"
        # shellcheck disable=SC2086 # two options
        (cd "$out" && find "$name" -type f | sort | tar --format ustar $owner --numeric-owner -cf - -T - |
            gzip -9n >"$name.tar.gz")
        ;;
    esac
    rm -r "${out:?}/$name"
}

# The programs have the page inside.
RUSTFLAGS=$flags just page
cp "${CARGO_TARGET_DIR:-target}/page/fairdeal.html" "$out/fairdeal-$version.html"
cp "${CARGO_TARGET_DIR:-target}/page/table.html" "$out/table-$version.html"
export FAIRDEAL_PAGE=$out/fairdeal-$version.html
for target in $targets; do
    build "$target"
    built=target/$target/dist/fairdeal
    name=fairdeal-$version-$target
    if [ ! -e "$staging/fairdeal" ]; then
        cp "$built" "$staging"
        "$built" man --output "$staging/man"
        "$built" completions bash >"$staging/completions/fairdeal.bash"
        "$built" completions zsh >"$staging/completions/_fairdeal"
        "$built" completions fish >"$staging/completions/fairdeal.fish"
        "$built" completions nushell >"$staging/completions/fairdeal.nu"
        "$built" completions powershell >"$staging/completions/_fairdeal.ps1"
        cp README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$staging"
        # shellcheck disable=SC2046,SC2086 # a list
        cargo about generate --frozen --fail --config packaging/about.toml --features quic,tls \
            $(printf -- '--target %s ' $targets) packaging/third-party.hbs >"$staging/THIRD-PARTY.txt"
    fi
    mkdir "$out/$name"
    case $target in
    *-windows-*)
        cp "$built.exe" "$staging"/{README.md,CHANGELOG.md,LICENSE-APACHE,LICENSE-MIT,THIRD-PARTY.txt} "$out/$name"
        cp "$staging/completions/_fairdeal.ps1" "$out/$name"
        ;;
    *)
        cp -R "$built" "$staging"/{man,completions,README.md,CHANGELOG.md,LICENSE-APACHE,LICENSE-MIT,THIRD-PARTY.txt} \
            "$out/$name"
        ;;
    esac
    pack "$name"
    # It writes a file into every crate's folder, with paths of this machine.
    cargo cyclonedx --format json --features quic,tls --target "$target" --override-filename sbom --quiet
    sed "s#file://$PWD#file:///fairdeal#g" sbom.json >"$out/$name.cdx.json"
    rm -f sbom.json ./*/sbom.json
    case $target in
    *-musl)
        printf 'fairdeal (%s-1) unstable; urgency=medium\n\n  * CHANGELOG.md has the changes.\n\n -- %s  %s\n' \
            "$version" "$(sed -n 's/^maintainer = "\(.*\)"/\1/p' Cargo.toml)" \
            "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" >"$staging/changelog"
        settle "$staging"
        cargo deb --no-build --no-strip --target "$target" --profile dist --output "$out" >/dev/null
        ;;
    esac
done

rm -r "$staging"
cd "$out"
sums=sha256sum
command -v sha256sum >/dev/null || sums="shasum -a 256"
$sums -- * >"$OLDPWD/target/SHA256SUMS"
mv "$OLDPWD/target/SHA256SUMS" .
ls -l
cat SHA256SUMS
