#!/usr/bin/env python3
"""Branches taken at least once by whatever ran since the build, room by room.

    scripts/coverage.py [BUILD]          BUILD: build-coverage, made and run by `make coverage`
    scripts/coverage.py [BUILD] --missed src/store/atomic_file.c     lines with a branch never taken

Counted by gcov over src and cli, headers with the room they lie in. Left out are the branches of
assert, which only a mistake of ours takes. A branch within an inline function counts once, whoever
includes it.
"""
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def reports(build):
    """gcov's answer for each object that has notes."""
    for notes in sorted(build.glob("CMakeFiles/sbps*.dir/**/*.gcno")):
        answer = subprocess.run(
            ["gcov", "--json-format", "--stdout", "--branch-probabilities", str(notes)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=build, check=True)
        yield json.loads(answer.stdout)


def asserting(path, cache={}):
    """Numbers of the lines that hold an assert."""
    if path not in cache:
        lines = (ROOT / path).read_text().splitlines()
        cache[path] = {i for i, line in enumerate(lines, 1) if "assert(" in line}
    return cache[path]


def count(build):
    """(path, line, index) -> times taken."""
    taken = collections.Counter()
    for report in reports(build):
        for file in report["files"]:
            path = file["file"].removeprefix(str(ROOT) + "/")
            if not path.startswith(("src/", "cli/")) or not (ROOT / path).exists():
                continue  # others' headers, and objects of files that are no more
            for line in file["lines"]:
                if line["line_number"] in asserting(path):
                    continue
                for index, branch in enumerate(line["branches"]):
                    taken[path, line["line_number"], index] += branch["count"]
    return taken


def room_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "src" else parts[0]


def show_rooms(taken):
    rooms = collections.defaultdict(lambda: [0, 0])
    for (path, _, _), times in taken.items():
        for name in (room_of(path), "all"):
            rooms[name][0] += times > 0
            rooms[name][1] += 1
    total = rooms.pop("all", [0, 0])
    print("room          branches     taken")
    for name, (some, every) in sorted(rooms.items()) + [("all", total)]:
        print(f"{name:12} {every:9} {100 * some / max(every, 1):8.1f} %")


def show_missed(taken, path):
    lines = (ROOT / path).read_text().splitlines()
    missed = collections.Counter(n for (p, n, _), times in taken.items() if p == path and not times)
    for number in sorted(missed):
        print(f"{path}:{number}: {missed[number]} never: {lines[number - 1].strip()}")


def main(words):
    missed = words[words.index("--missed") + 1:] if "--missed" in words else []
    build = ROOT / next((w for w in words if w != "--missed" and w not in missed), "build-coverage")
    if not any(build.glob("CMakeFiles/sbps*.dir/**/*.gcda")):
        sys.exit(f"{build.name}: nothing was counted there: run `make coverage`")
    taken = count(build)
    if missed:
        for path in missed:
            show_missed(taken, path)
    else:
        show_rooms(taken)


if __name__ == "__main__":
    main(sys.argv[1:])
