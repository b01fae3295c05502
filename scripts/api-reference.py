#!/usr/bin/python3
"""docs/api.md: the reference of the C interface, from the comments of include/*.h.

    scripts/api-reference.py [ROOT]            writes docs/api.md
    scripts/api-reference.py --check [ROOT]    is docs/api.md that of the headers?"""
import os
import re
import sys

HEADERS = ("sbps.h", "sbps_ranks.h", "sbps_model.h")


def prose(comment):
    """The text of a C comment: its lines without stars. A line that is indented by more stays a line of its own."""
    lines = [re.sub(r"^ ?\*? ?", "", line) for line in comment.strip().removeprefix("/*").removesuffix("*/").split("\n")]
    paragraphs, current = [], []
    for line in (line.rstrip() for line in lines):
        starts = line.startswith("  - ") or (current[:1] and current[0].startswith("- ") and not line.startswith("  "))
        if not line or starts:
            paragraphs.append(" ".join(current))
            current = []
        if line:
            current.append(line.strip())
    paragraphs.append(" ".join(current))
    return "\n\n".join(text for text in paragraphs if text).replace("\n\n- ", "\n- ")


def wrapped(text, width=100):
    out = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            if line and len(line) + 1 + len(word) > width:
                out.append(line)
                line = ("  " if paragraph.startswith("- ") else "") + word
            else:
                line = f"{line} {word}" if line else word
        out.append(line)
    return "\n".join(out)


def blocks(text):
    """("heading" | "comment" | "code", text) in order. A declaration ends at a ; or } in the first column's nesting."""
    place = 0
    while place < len(text):
        rest = text[place:]
        blank = re.match(r"\s+", rest)
        heading = re.match(r"/\* ---- (.*?) ---- \*/", rest)
        comment = re.match(r"/\*.*?\*/", rest, flags=re.S)
        directive = re.match(r"#(?:[^\n]*\\\n)*[^\n]*", rest)
        if blank:
            place += blank.end()
        elif heading:
            yield "heading", heading.group(1)
            place += heading.end()
        elif comment:
            yield "comment", comment.group(0)
            place += comment.end()
        elif directive:
            if re.match(r"#define SBPS_(VERSION|STATUSES)", rest):
                yield "code", directive.group(0)
            place += directive.end()
        elif rest.startswith('extern "C" {') or rest.startswith("}\n"):
            place += rest.index("{") + 1 if rest.startswith("extern") else 1
        else:
            depth, end = 0, 0
            for end, sign in enumerate(rest):
                depth += {"{": 1, "}": -1}.get(sign, 0)
                if sign == ";" and depth == 0:
                    break
            tail = re.match(r"[ \t]*/\*[^\n]*?\*/", rest[end + 1:])
            stop = end + 1 + (tail.end() if tail else 0)
            yield "code", rest[:stop]
            place += stop


def page(root):
    out = ["# The C interface", "",
           "Made from the comments of the headers by `scripts/api-reference.py`. An example is in the",
           "[README](../README.md#from-c); options are in [options.md](options.md)."]
    for name in HEADERS:
        with open(os.path.join(root, "include", name), encoding="utf-8") as file:
            text = file.read()
        first = re.match(r"(/\*.*?\*/)\s*#ifndef \w+\n#define \w+\n", text, flags=re.S)
        out += ["", f"## {name}", "", wrapped(prose(first.group(1)))]
        pending = []

        def flush():
            if pending:
                out.extend(["", "```c", *pending, "```"])
                pending.clear()
        for kind, block in blocks(text[first.end():]):
            if kind == "heading":
                flush()
                out += ["", "### " + block[0].upper() + block[1:]]
            elif kind == "comment":
                flush()
                out += ["", wrapped(prose(block))]
            elif not re.match(r"struct Arrow", block):
                pending.append(block.replace("SBPS_API ", ""))
        flush()
    return "\n".join(out) + "\n"


def main():
    words = [word for word in sys.argv[1:] if word.startswith("--")]
    root = next((word for word in sys.argv[1:] if not word.startswith("--")), ".")
    path = os.path.join(root, "docs", "api.md")
    if words == ["--check"]:
        with open(path, encoding="utf-8") as file:
            if file.read() != page(root):
                sys.exit("docs/api.md:0: not of these headers, run scripts/api-reference.py")
    elif words:
        sys.exit(__doc__)
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(page(root))


if __name__ == "__main__":
    main()
