#!/usr/bin/python3
"""Retired words: identifiers in C, and phrases in prose and comments, that this project no longer uses.

    scripts/words.py [ROOT]      findings, one line each: FILE:LINE: sentence

Identifiers are compared whole and outside comments and strings; phrases without regard to case and line breaks. How we
write: CONTRIBUTING.md."""
import os
import re
import subprocess
import sys

# retired identifier: the word in use
IDENTIFIERS = {
    "house": "architecture", "flight": "segment", "flights": "segments", "take_off": "begin_segment", "land": "end_segment",
    "fly": "advance", "flown": "advanced", "look": "observation", "looks": "observations", "tell": "report", "told": "reported",
    "say": "print", "said": "reported", "speak": "report", "speaker": "rank", "ask": "evaluate", "asked": "requested",
    "asks": "requests", "lean": "recompute_rows", "share_out": "distribute", "deal": "scatter", "pile": "bucket",
    "piles": "buckets", "ticket": "key", "tickets": "keys", "crew": "workers", "company": "visitor", "laid": "gathered",
    "lay_out": "name what is placed where", "blueprint": "saved_schema", "formed": "design", "passage": "shuffle_stream",
    "claim": "assign_role", "law": "conditional, distribution", "laws": "conditionals", "sketch": "polynomial",
    "sketches": "polynomials", "nest": "nested", "meet": "incidence", "met": "incident", "anchor": "centre",
    "settle": "choose", "lead": "transform", "journey": "scan", "objection": "opposing_slope",
    "mend": "correct", "bend": "warp", "bends": "warps", "bent": "warped", "wall": "boundary", "gathering": "cache",
    "aim": "set_line", "shake": "add_noise", "judge": "classify", "judges": "classifies", "hold_together": "fall_back_to_hmc",
    "room": "scratch, buffer, capacity", "dear": "costly", "nobody": "none", "whoever": "caller",
}
PHRASES = (
    "what there is", "whoever", "nobody can say", "rows speak", "may have its rows speak", "is asked about", "rows are asked",
    "rows were asked", "the row is asked", "asked anew", "said so", "says so itself", "nats seem", "rows' work", "hmc it is",
    "opens no door", "doors open", "this room", "rooms below", "flies along", "flown through",
    "takes off", "a look at", "looks a row", "nodes an effect", "made up (column", "as the law says", "its law", "laws of effects",
    "tickets", "dealt out", "crew of", "company of", "mended", "bent coordinates", "goes its way", "without a look",
)
SELF = ("scripts/words.py", "CHANGELOG.md", "tests/lint/catches.sh", "docs/paper.md", "docs/report.md", "README.md", "bench/RESULTS.md",
        "docs/paper/", "experiments/")


def listed(root):
    try:
        text = subprocess.run(["git", "-C", root, "ls-files"], check=True, capture_output=True, text=True).stdout
        return text.split("\n")
    except (OSError, subprocess.CalledProcessError):
        return [os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names]


def code(text):
    def blank(match):
        word = match.group(0)
        return '""' if word[0] == '"' else "''" if word[0] == "'" else re.sub(r"[^\n]", " ", word)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def findings(root):
    names = re.compile(r"(?<![\w])(" + "|".join(map(re.escape, IDENTIFIERS)) + r")(?!\w)")
    phrases = re.compile(r"\b(?:" + "|".join(re.escape(phrase).replace(r"\ ", r"[\s*]+") for phrase in PHRASES) + r")\b", flags=re.I)
    for path in sorted(listed(root)):
        full = os.path.join(root, path)
        if path.startswith(SELF) or not os.path.isfile(full):
            continue
        if path.endswith((".c", ".h")):
            with open(full, encoding="utf-8") as file:
                text = file.read()
            for number, line in enumerate(code(text).split("\n"), 1):
                for match in names.finditer(line):
                    yield f"{path}:{number}: the retired name {match[1]}: use {IDENTIFIERS[match[1]]}, or another name that fits"
        elif not path.endswith(".md"):
            continue
        else:
            with open(full, encoding="utf-8") as file:
                text = file.read()
        for match in phrases.finditer(text):
            words = re.sub(r"[\s*]+", " ", match[0])
            yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: the retired phrase \"{words}\""


def main():
    for finding in findings(sys.argv[1] if len(sys.argv) > 1 else "."):
        print(finding)


if __name__ == "__main__":
    main()
