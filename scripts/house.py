#!/usr/bin/python3
"""The rooms of the house, what each may touch, and whether the walls hold.

    scripts/house.py [ROOT]            findings, one line each: FILE:LINE: sentence
    scripts/house.py --matrix [ROOT]   how many names of each room every room uses
    scripts/house.py --draw [ROOT]     docs/house.svg from the tree
    scripts/house.py --check [ROOT]    is docs/house.svg that of the tree?

A wall is held by the names that a file uses, not by its include lines alone: a header that hands on another room's
opens no door. Names are what the headers of src/ROOM declare: functions, types, macros, enumerators, variables."""
import collections
import os
import re
import sys

# ROOM: what it may use. ROOM/HEADER.h opens that header alone. From the ground floor up.
MAY = {
    "base": "",
    "ranks": "base",
    "path": "base",
    "prior": "base",
    "metric": "base",
    "data": "base ranks",
    "formula": "base",
    "read": "base ranks data formula",
    "model": "base data",
    "mixed": "base data model",
    "shrink": "base data prior model",
    "posterior": "base ranks data prior model",
    "band": "base path",
    "potential": "base path data prior model posterior",
    "mode": "base metric data prior model posterior",
    "sampler": "base path metric band posterior/minibatch/potential.h potential/bounds.h",
    "estimate": "base path",
    "store": "base path",
    "report": "base estimate store",
    "contrast": "base estimate store report",
    "predict": "base data read model store",
    "check": "base data read model estimate/normal_scores.h store output/summary/report_text.h predict",
    "page": "base prior estimate store report predict check",
    "watch": "base store page",
    "choose": "base path prior metric data read model mixed shrink posterior band potential mode sampler",
    "run": "base ranks path prior metric data read model mixed shrink posterior band potential mode sampler estimate store report choose",
    "api": "base ranks path prior metric data read model mixed shrink posterior band potential mode sampler estimate store report contrast predict check page watch choose run",
    "cli": "",
    "include": "",
}
OUTSIDE = ("cli", "include")  # they see sbps.h alone


def bare(text):
    """C without comments and the insides of strings, line by line as before."""
    def blank(match):
        word = match.group(0)
        return '""' if word[0] == '"' else "''" if word[0] == "'" else re.sub(r"[^\n]", " ", word)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def sources(root):
    """(room, path) of every C file that belongs to a room."""
    for top in ("src", "cli", "include"):
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    path = os.path.relpath(os.path.join(folder, name), root)
                    parts = path.split(os.sep)
                    yield parts[1] if top == "src" else top, path


def declared(text):
    """Names that a header declares: ordinary ones, and types, which may also be names of variables elsewhere."""
    plain, types = set(), set(re.findall(r"^\}\s*(\w+);", text, flags=re.M))
    types |= set(re.findall(r"^typedef (?:struct|enum|union)? ?\w+ (\w+);", text, flags=re.M))
    plain |= set(re.findall(r"^#define (\w+)", text, flags=re.M))
    plain |= set(re.findall(r"^(?:extern |static inline |SBPS_API )?(?:const |struct |unsigned )*\w+[ *]+(\w+)\(", text, flags=re.M))
    for listed in re.findall(r"^extern ([^;(]*);", text, flags=re.M):
        plain |= {re.sub(r"\[.*", "", part).split()[-1].lstrip("*") for part in listed.split(",") if part.strip()}
    for body in re.findall(r"enum\s*\w*\s*\{([^}]*)\}", text):
        plain |= set(re.findall(r"(?:^|,)\s*(\w+)", body))
    return {name for name in plain if len(name) > 3}, {name for name in types if len(name) > 3}


def owners(root):
    """{name: (room, header, is a type)}; a name of two rooms belongs to nobody."""
    found, twice = {}, set()
    for room, path in sources(root):
        if not path.startswith("src") or not path.endswith(".h"):
            continue
        plain, types = declared(bare(read(os.path.join(root, path))))
        for name in plain | types:
            if name in found and found[name][0] != room:
                twice.add(name)
            found.setdefault(name, (room, f"{room}/{os.path.basename(path)}", name in types))
    return {name: owner for name, owner in found.items() if name not in twice and not name.endswith("_H")}


def included(text):
    return set(re.findall(r'^\s*#\s*include\s*"([^"]+/[^"]+)"', text, flags=re.M))


def visible(root, text, seen):
    """Headers that a file sees, those that others hand on among them; `seen` grows to them."""
    for header in included(text) - seen:
        seen.add(header)
        path = os.path.join(root, "src", header)
        if os.path.exists(path):
            visible(root, read(path), seen)
    return seen


# A type stands before a name or a star that clings to one, or alone in parentheses.
AS_TYPE = re.compile(r"(?: \*+(?:const )?\w|\s+(?!\*)\w+\s*[;,=)\[({]|\s*\**\)|\{)")


def uses(root, text, known):
    """(line, name) of every name of `known` that a file sees and uses; other names are its own."""
    seen = visible(root, text, set())
    for number, line in enumerate(bare(text).split("\n"), 1):
        if line.lstrip().startswith("#include"):
            continue
        for match in re.finditer(r"(?<![\w.>])[A-Za-z_]\w+", line):
            name = match.group(0)
            if name not in known or known[name][1] not in seen or line[:match.start()].endswith("->"):
                continue
            if known[name][2] and not AS_TYPE.match(line[match.end():]):
                continue
            yield number, name


def allowed(room, owner, header):
    return owner == room or owner in MAY[room].split() or header in MAY[room].split()


def walls(root):
    known = owners(root)
    for room, path in sources(root):
        if room not in MAY:
            yield f"{path}:1: src/{room} is not a room of scripts/house.py"
            continue
        text = read(os.path.join(root, path))
        for number, line in enumerate(text.split("\n"), 1):
            quoted = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
            header = quoted.group(1) if quoted else "sbps.h"
            if header != "sbps.h" and "/" in header and not allowed(room, header.split("/")[0], header):
                yield f"{path}:{number}: {room} may not include {header}"
        for number, name in uses(root, text, known):
            owner, header, _ = known[name]
            if not allowed(room, owner, header):
                yield f"{path}:{number}: {room} may not use {name} of {header}"


def matrix(root):
    """{room: {room: distinct names used}}"""
    known, table = owners(root), collections.defaultdict(lambda: collections.defaultdict(set))
    for room, path in sources(root):
        if room in MAY and room not in OUTSIDE:
            for _, name in uses(root, read(os.path.join(root, path)), known):
                if known[name][0] != room:
                    table[room][known[name][0]].add(name)
    return {room: {other: len(names) for other, names in table[room].items()} for room in MAY if room not in OUTSIDE}


def show_matrix(root):
    table = matrix(root)
    rooms = list(table)
    print(" " * 10 + "".join(f"{other[:9]:>10}" for other in rooms))
    for room in rooms:
        print(f"{room:10}" + "".join(f"{table[room].get(other) or '.':>10}" for other in rooms))


# ---- the picture ----

CELL, LEFT, TOP = 40, 96, 86
SHADES = ((8, "#c9dcef"), (24, "#8db3d9"), (float("inf"), "#4a7fb5"))  # fewer names than this; coarse, so that the picture lasts


def square(x, y, fill):
    return f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}" stroke="#c8c8c8"/>'


def draw(root):
    """A square a pair of rooms: the room at the left uses names of the room above, few, some or many. Rooms stand from the ground up, so
    that a mark above the diagonal would be a door that opens upwards."""
    table = matrix(root)
    rooms = list(table)
    width, tall = LEFT + CELL * len(rooms) + 14, TOP + CELL * len(rooms) + 14
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {tall}" font-family="sans-serif" font-size="14">',
             f'<rect width="{width}" height="{tall}" fill="white"/>']
    for i, room in enumerate(rooms):
        middle = CELL * i + CELL / 2
        lines.append(f'<text x="{LEFT - 8}" y="{TOP + middle + 5:g}" text-anchor="end">{room}</text>')
        lines.append(f'<text transform="translate({LEFT + middle + 5:g} {TOP - 8}) rotate(-60)">{room}</text>')
        for j, other in enumerate(rooms):
            count = table[room].get(other, 0)
            fill = "#e4e4e4" if i == j else "#ffffff" if not count else next(colour for most, colour in SHADES if count < most)
            lines.append(square(LEFT + CELL * j, TOP + CELL * i, fill))
    return "\n".join([*lines, "</svg>", ""])


def main():
    words = [word for word in sys.argv[1:] if word.startswith("--")]
    root = next((word for word in sys.argv[1:] if not word.startswith("--")), ".")
    picture = os.path.join(root, "docs", "house.svg")
    if words == ["--matrix"]:
        show_matrix(root)
    elif words == ["--draw"]:
        with open(picture, "w", encoding="utf-8") as file:
            file.write(draw(root))
    elif words == ["--check"]:
        if not os.path.exists(picture) or read(picture) != draw(root):
            sys.exit("docs/house.svg:0: not the house as it is, run scripts/house.py --draw")
    elif words:
        sys.exit(__doc__)
    else:
        for finding in walls(root):
            print(finding)


if __name__ == "__main__":
    main()
