#!/usr/bin/env bash
# Prints the text of a version's tag and release: its name and its section of the changelog.
#
#     packaging/notes.sh VERSION
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?usage: packaging/notes.sh VERSION}
section=$(awk -v start="## $version " 'index($0, start) == 1 {on = 1; next} /^## /{on = 0} on' CHANGELOG.md)
[ -n "$section" ] || { echo "notes: CHANGELOG.md has no section $version" >&2; exit 1; }
printf 'fairdeal %s\n\n%s\n\nBuilt with %s.\n' "$version" "$(sed '/./,$!d' <<<"$section")" "$(rustc --version)"
