#!/usr/bin/python3
"""The modules, what each may use, and whether the sources keep to it.

    scripts/modules.py [ROOT]            findings, one line each: FILE:LINE: sentence
    scripts/modules.py --matrix [ROOT]   how many names of each sub-module every sub-module uses
    scripts/modules.py --draw [ROOT]     docs/architecture.svg from the sources
    scripts/modules.py --check [ROOT]    is docs/architecture.svg that of the sources?

The rule is checked by the names that a file uses, not by its include lines alone: a header that includes another
module's header does not make its names available. Names are what the headers of a sub-module declare: functions,
types, macros, enumerators, variables. A file of src/MODULE/SUB belongs to MODULE/SUB, one of src/MODULE to MODULE."""
import collections
import os
import re
import sys

# SUB-MODULE: what it may use, each listed before it. MODULE/SUB/HEADER.h allows that header alone.
INGEST = "ingest/formula ingest/schema ingest/text ingest/design"
MODEL = "model/prior model/likelihood"
POSTERIOR = "posterior/full posterior/minibatch posterior/mode"
OUTPUT = "output/summary output/predict output/check output/contrast output/page output/server"
MAY = {
    "core": "",
    "core/ranks": "core",
    "linalg": "core",
    "linalg/metric": "core linalg",
    "table": "core core/ranks linalg",
    "ingest/formula": "core linalg",
    "ingest/schema": "core core/ranks linalg table ingest/formula",
    "ingest/text": "core core/ranks linalg table ingest/formula ingest/schema",
    "ingest/design": "core core/ranks linalg table ingest/formula ingest/schema ingest/text",
    "ingest/distributed": f"core core/ranks linalg table {INGEST}",
    "ingest": f"core core/ranks linalg table {INGEST} ingest/distributed",
    "ingest/memory": f"core core/ranks linalg table {INGEST} ingest",
    "path": "core",
    "model/prior": "core linalg",
    "model/likelihood": "core linalg table",
    "model/mixed": "core linalg table model/likelihood",
    "model/shrinkage": f"core linalg table {MODEL}",
    "posterior/full": f"core core/ranks linalg table {MODEL}",
    "posterior/minibatch": f"core linalg path table {MODEL} posterior/full",
    "posterior/mode": f"core linalg linalg/metric table {MODEL} posterior/full",
    "posterior/sweep": f"core linalg table {MODEL} model/mixed posterior/full",
    "sampler/band": "core linalg path",
    "sampler/core": "core linalg linalg/metric path sampler/band posterior/minibatch/potential.h posterior/minibatch/bounds.h",
    "sampler/sbps": "core linalg linalg/metric path sampler/band sampler/core posterior/minibatch/potential.h posterior/minibatch/bounds.h",
    "sampler/hmc": "core linalg linalg/metric path sampler/core posterior/minibatch/potential.h posterior/minibatch/bounds.h",
    "sampler/exact": "core linalg linalg/metric path sampler/core posterior/minibatch/potential.h posterior/minibatch/bounds.h posterior/sweep/sweep.h",
    "sampler/comparison": "core linalg linalg/metric path sampler/core posterior/minibatch/potential.h posterior/minibatch/bounds.h",
    "estimate": "core linalg path",
    "store": "core path",
    "inference/options": f"core linalg linalg/metric path table {INGEST} ingest {MODEL} model/mixed model/shrinkage {POSTERIOR} sampler/band sampler/core",
    "inference/autotune": f"core linalg linalg/metric path table {INGEST} ingest {MODEL} model/mixed model/shrinkage {POSTERIOR} sampler/band sampler/core inference/options",
    "inference/run": f"core core/ranks linalg linalg/metric path table {INGEST} ingest {MODEL} model/mixed model/shrinkage {POSTERIOR} posterior/sweep/sweep.h sampler/band sampler/core estimate store inference/options inference/autotune",
    "output/summary": "core linalg estimate store",
    "output/contrast": "core linalg estimate store output/summary",
    "output/predict": f"core linalg table {INGEST} ingest model/likelihood estimate/normal_scores.h store",
    "output/check": f"core linalg table {INGEST} ingest model/likelihood estimate/normal_scores.h store output/summary/report_text.h output/predict",
    "output/page": "core linalg model/prior estimate store output/summary output/predict output/check",
    "output/server": "core linalg store output/page",
    "api": f"core core/ranks linalg linalg/metric path table {INGEST} ingest ingest/memory {MODEL} model/mixed model/shrinkage {POSTERIOR} "
           f"sampler/band sampler/core estimate store inference/options inference/autotune inference/run {OUTPUT}",
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
    """(sub-module, path) of every C file."""
    for top in ("src", "cli", "include"):
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    path = os.path.relpath(os.path.join(folder, name), root)
                    parts = path.split(os.sep)
                    yield "/".join(parts[1:-1]) if top == "src" else top, path


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
    """{name: (module, header, is a type)}; a name of two modules belongs to none."""
    found, twice = {}, set()
    for module, path in sources(root):
        if not path.startswith("src") or not path.endswith(".h"):
            continue
        plain, types = declared(bare(read(os.path.join(root, path))))
        for name in plain | types:
            if name in found and found[name][0] != module:
                twice.add(name)
            found.setdefault(name, (module, f"{module}/{os.path.basename(path)}", name in types))
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


def allowed(module, owner, header):
    return owner == module or owner in MAY[module].split() or header in MAY[module].split()


def violations(root):
    known = owners(root)
    for module, path in sources(root):
        if module not in MAY:
            yield f"{path}:1: src/{module} is not a module of scripts/modules.py"
            continue
        text = read(os.path.join(root, path))
        for number, line in enumerate(text.split("\n"), 1):
            quoted = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
            header = quoted.group(1) if quoted else "sbps.h"
            if header != "sbps.h" and "/" in header and not allowed(module, os.path.dirname(header), header):
                yield f"{path}:{number}: {module} may not include {header}"
        for number, name in uses(root, text, known):
            owner, header, _ = known[name]
            if not allowed(module, owner, header):
                yield f"{path}:{number}: {module} may not use {name} of {header}"


def matrix(root):
    """{module: {module: distinct names used}}"""
    known, table = owners(root), collections.defaultdict(lambda: collections.defaultdict(set))
    for module, path in sources(root):
        if module in MAY and module not in OUTSIDE:
            for _, name in uses(root, read(os.path.join(root, path)), known):
                if known[name][0] != module:
                    table[module][known[name][0]].add(name)
    return {module: {other: len(names) for other, names in table[module].items()} for module in MAY if module not in OUTSIDE}


def show_matrix(root):
    table = matrix(root)
    modules = list(table)
    print(" " * 20 + "".join(f"{other[-9:]:>10}" for other in modules))
    for module in modules:
        print(f"{module:20}" + "".join(f"{table[module].get(other) or '.':>10}" for other in modules))


# ---- the picture ----

CELL, LEFT, TOP = 26, 170, 140
SHADES = ((8, "#c9dcef"), (24, "#8db3d9"), (float("inf"), "#4a7fb5"))  # fewer names than this; coarse, so that the picture lasts


def square(x, y, fill):
    return f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}" stroke="#c8c8c8"/>'


def draw(root):
    """One square for each pair: the sub-module at the left uses few, some or many names of the one above. Each stands after those it may
    use, so that a mark above the diagonal would be a dependency on a later one."""
    table = matrix(root)
    modules = list(table)
    width, tall = LEFT + CELL * len(modules) + 60, TOP + CELL * len(modules) + 14
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {tall}" font-family="sans-serif" font-size="14">',
             f'<rect width="{width}" height="{tall}" fill="white"/>']
    for i, module in enumerate(modules):
        middle = CELL * i + CELL / 2
        lines.append(f'<text x="{LEFT - 8}" y="{TOP + middle + 5:g}" text-anchor="end">{module}</text>')
        lines.append(f'<text transform="translate({LEFT + middle + 5:g} {TOP - 8}) rotate(-60)">{module}</text>')
        for j, other in enumerate(modules):
            count = table[module].get(other, 0)
            fill = "#e4e4e4" if i == j else "#ffffff" if not count else next(colour for most, colour in SHADES if count < most)
            lines.append(square(LEFT + CELL * j, TOP + CELL * i, fill))
    return "\n".join([*lines, "</svg>", ""])


def main():
    words = [word for word in sys.argv[1:] if word.startswith("--")]
    root = next((word for word in sys.argv[1:] if not word.startswith("--")), ".")
    picture = os.path.join(root, "docs", "architecture.svg")
    if words == ["--matrix"]:
        show_matrix(root)
    elif words == ["--draw"]:
        with open(picture, "w", encoding="utf-8") as file:
            file.write(draw(root))
    elif words == ["--check"]:
        if not os.path.exists(picture) or read(picture) != draw(root):
            sys.exit("docs/architecture.svg:0: not of these sources, run scripts/modules.py --draw")
    elif words:
        sys.exit(__doc__)
    else:
        for finding in violations(root):
            print(finding)


if __name__ == "__main__":
    main()
