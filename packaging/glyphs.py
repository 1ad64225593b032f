#!/usr/bin/env python3
"""Which of the characters that fairdeal draws a font has: writes the table of docs/settings.md.

    packaging/glyphs.py            downloads Debian's packages of the fonts (apt-get), and writes the table
    packaging/glyphs.py --listed   only checks that the page's table lists every character that the interface draws

Fonts are read here, with the standard library alone: the character map of TrueType and OpenType, the Unicode table of
console fonts (PSF).
"""
import gzip, pathlib, re, struct, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/settings.md"
BEGIN, END = "<!-- glyphs: written by packaging/glyphs.py -->\n", "<!-- end of glyphs -->\n"

# Groups of characters, in the order of the table.
GROUPS = {
    "frames": "─│┌┐└┘┬┴╭╮╯╰━┃┏┓┗┛═║╔╗╚╝╞╡┆",
    "half blocks": "█▀▄▌▐",
    "parts of blocks": "▁▂▆▇▉▊▋▍▎▏▔▖▗▘▙▟",
    "shades": "░▒▓",
    "suits": "♠♥♦♣☾☼≈≋~§†◉✦✶■▲",
    "check marks": "✓✗",
    "marks": "●○◐◇◈★▶▸▾▴△◦▮•",
    "arrows, signs": "←↑→↓‹›·×±−–…❯❝⋆ϟ",
}

# A font's name in the table, its Debian package, and its file there.
FONTS = [
    ("DejaVu Sans Mono", "fonts-dejavu-core", "DejaVuSansMono.ttf"),
    ("Hack", "fonts-hack", "Hack-Regular.ttf"),
    ("Noto Sans Mono", "fonts-noto-mono", "NotoSansMono-Regular.ttf"),
    ("Liberation Mono", "fonts-liberation", "LiberationMono-Regular.ttf"),
    ("JetBrains Mono", "fonts-jetbrains-mono", "JetBrainsMono-Regular.ttf"),
    ("Fira Code", "fonts-firacode", "FiraCode-Regular.ttf"),
    ("Mononoki", "fonts-mononoki", "mononoki-Regular.ttf"),
    ("Inconsolata", "fonts-inconsolata", "Inconsolata.otf"),
    ("FreeMono", "fonts-freefont-ttf", "FreeMono.ttf"),
    ("Terminus", "fonts-terminus-otb", "terminus-normal.otb"),
    ("console: Fixed, Lat15", "console-setup-linux", "Lat15-Fixed16.psf.gz"),
    ("console: Fixed, Uni2", "console-setup-linux", "Uni2-Fixed16.psf.gz"),
    ("console: Terminus, Uni2", "console-setup-linux", "Uni2-Terminus16.psf.gz"),
    ("console: VGA, Uni2", "console-setup-linux", "Uni2-VGA16.psf.gz"),
]


def drawn():
    """The characters besides ASCII in the interface's code, without comments, tests and letters of names."""
    found = set()
    for path in (ROOT / "ui/src").rglob("*.rs"):
        if "test" in path.name or "tests" in path.parts or path.name == "samples.rs":
            continue
        code = path.read_text(encoding="utf-8").split("#[cfg(test)]\nmod tests")[0]
        for line in code.splitlines():
            text = re.sub(r"(^|\s)//.*", "", line)
            found |= {c for c in text if ord(c) > 127 and not c.isalpha() or c == "ϟ"}
    # The borders of ratatui.
    return found | set("╭╮╯╰━┃┏┓┗┛═║╔╗╚╝")


def sfnt(data):
    """The characters of a TrueType or OpenType font."""
    tables = struct.unpack_from(">H", data, 4)[0]
    entries = [struct.unpack_from(">4sLLL", data, 12 + 16 * n) for n in range(tables)]
    at = next(offset for tag, _, offset, _ in entries if tag == b"cmap")
    found = set()
    for n in range(struct.unpack_from(">H", data, at + 2)[0]):
        start = at + struct.unpack_from(">HHL", data, at + 4 + 8 * n)[2]
        kind = struct.unpack_from(">H", data, start)[0]
        if kind == 4:
            count = struct.unpack_from(">H", data, start + 6)[0] // 2
            column = lambda k: struct.unpack_from(f">{count}H", data, start + 14 + 2 * k * count + (2 if k else 0))
            ends, starts, deltas, offsets = (column(k) for k in range(4))
            for i in range(count):
                for code in range(starts[i], ends[i] + 1):
                    glyph = code
                    if offsets[i]:
                        place = start + 16 + 6 * count + 2 * i + offsets[i] + 2 * (code - starts[i])
                        glyph = struct.unpack_from(">H", data, place)[0]
                        if not glyph:
                            continue
                    if (glyph + deltas[i]) % 65536:
                        found.add(chr(code))
        elif kind == 12:
            for k in range(struct.unpack_from(">L", data, start + 12)[0]):
                first, last, glyph = struct.unpack_from(">LLL", data, start + 16 + 12 * k)
                found |= {chr(code) for code in range(first, last + 1) if glyph + code - first}
    return found


def psf(data):
    """The characters of a console font: lists of characters after the glyphs, one list for each glyph."""
    if data[:4] == b"\x72\xb5\x4a\x86":
        _, size, flags, count, length = struct.unpack_from("<LLLLL", data, 4)
        if not flags & 1:
            return set()
        lists = data[size + count * length :].split(b"\xff")[:count]
        # After 0xfe come sequences, which are no characters of their own.
        return {c for one in lists for c in one.split(b"\xfe")[0].decode("utf-8")}
    if data[:2] != b"\x36\x04":
        raise ValueError("no PSF font")
    mode, height = data[2], data[3]
    count = 512 if mode & 1 else 256
    words = [word for (word,) in struct.iter_unpack("<H", data[4 + count * height :])]
    found, in_sequence = set(), False
    for word in words if mode & 2 else []:
        if word == 0xFFFF:
            in_sequence = False
        elif word == 0xFFFE:
            in_sequence = True
        elif not in_sequence:
            found.add(chr(word))
    return found


def characters(path):
    data = path.read_bytes()
    return psf(gzip.decompress(data)) if path.suffix == ".gz" else sfnt(data)


def table():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        rows = []
        for name, package, file in FONTS:
            place = folder / package
            if not place.exists():
                place.mkdir()
                apt = ["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", package]
                subprocess.run(apt, cwd=place, check=True, stdout=subprocess.DEVNULL)
                subprocess.run(["dpkg-deb", "-x", next(place.glob("*.deb")), place], check=True)
            version = next(place.glob("*.deb")).name.split("_")[1].replace("%3a", ":")
            found = next(place.rglob(file), None)
            if found is None:
                sys.exit(f"{package} {version} has no {file}, but {sorted(p.name for p in place.rglob('*') if p.is_file())}")
            has = characters(found)
            cells = []
            for group in GROUPS.values():
                lacks = [c for c in group if ord(c) > 127 and c not in has]
                every = sum(ord(c) > 127 for c in group)
                cells.append("all" if not lacks else "none" if len(lacks) == every else f"not {''.join(lacks)}")
            rows.append(f"| {name} | {' | '.join(cells)} |\n")
    head = "".join(f" {name} |" for name in GROUPS)
    shown = "".join(f" {''.join(c for c in group if ord(c) > 127)} |" for group in GROUPS.values())
    return f"| font |{head}\n|{' --- |' * (len(GROUPS) + 1)}\n| |{shown}\n" + "".join(rows)


def main():
    lacking = drawn() - set("".join(GROUPS.values()))
    if lacking:
        sys.exit(f"{', '.join(sorted(lacking))}: drawn, but in no group of packaging/glyphs.py")
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    old, after = rest.split(END)
    if sys.argv[1:] == ["--listed"]:
        shown = old.splitlines()[3].split(" | ")[1:] if old.strip() else []
        wanted = ["".join(c for c in group if ord(c) > 127) for group in GROUPS.values()]
        if [cell.strip(" |") for cell in shown] != wanted:
            sys.exit("the table of docs/settings.md is out of date: `just glyphs` writes it again")
        return
    PAGE.write_text(before + BEGIN + "\n" + table() + "\n" + END + after, encoding="utf-8")


main()
