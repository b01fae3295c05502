#!/usr/bin/env python3
"""Measures the CPU seconds (user and system) of every test and writes them to tests/costs.txt.

    test-costs.py [--build build] [--jobs 2] [-R REGEX]
    test-costs.py --check [--build build]

With -R only the matching tests run, and the other lines stay. Tests that were skipped or that failed keep
their old line. Time waiting for a processor does not count, so that a busy machine changes little.
With --check no test runs: prints the tests of `make check` that have no line or cost more than 5 seconds.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
CHECK_LIMIT = 5.0  # CPU seconds of a test of `make check`
EXEMPT = {"run/digests"}  # 66 runs of three processes each; starting them takes most of its time
HEADER = "# CPU seconds of each test in the release build; written by scripts/test-costs.py\n"


def read(path):
    costs = {}
    if path.exists():
        for line in path.read_text().splitlines():
            if line and not line.startswith("#"):
                name, seconds = line.split()
                costs[name] = float(seconds)
    return costs


def properties(test):
    return {p["name"]: p["value"] for p in test.get("properties", [])}


def measure(test):
    """Returns the exit status, the CPU seconds, and the output of one test."""
    known = properties(test)
    environment = dict(os.environ)
    environment.update(entry.split("=", 1) for entry in known.get("ENVIRONMENT", []))
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(test["command"], env=environment, cwd=known.get("WORKING_DIRECTORY"),
                                   stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        return process.returncode, usage.ru_utime + usage.ru_stime, output.read().decode(errors="replace")


def check(tests, costs):
    for test in tests:
        name = test["name"]
        if "check" not in properties(test).get("LABELS", []):
            continue
        if name not in costs:
            print(f"tests/costs.txt:0: has no line for {name}: run scripts/test-costs.py -R '^{name}$'")
        elif costs[name] > CHECK_LIMIT and name not in EXEMPT:
            print(f"tests/costs.txt:0: {name} takes {costs[name]:g} CPU seconds, the limit of `make check` is {CHECK_LIMIT:g}: "
                  "give it a later TIER in tests/CMakeLists.txt")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-R", dest="regex", default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--costs", type=Path, default=Path(__file__).resolve().parent.parent / "tests" / "costs.txt")
    asked = parser.parse_args()

    shown = subprocess.run(["ctest", "--test-dir", asked.build, "--show-only=json-v1"], check=True, capture_output=True)
    tests = json.loads(shown.stdout)["tests"]
    names = {test["name"] for test in tests}
    costs = {name: cost for name, cost in read(asked.costs).items() if name in names}
    if asked.check:
        check(tests, costs)
        return 0
    wanted = [test for test in tests if re.search(asked.regex, test["name"])]
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for test, (status, seconds, output) in zip(wanted, pool.map(measure, wanted)):
            print(f"{test['name']:45s} {seconds:8.2f} {'' if status == 0 else f'exit {status}'}", flush=True)
            if status == 0:
                costs[test["name"]] = round(seconds, 2)
            elif status != SKIPPED:
                failures += 1
                print(output, flush=True)
    asked.costs.write_text(HEADER + "".join(f"{name} {costs[name]:.2f}\n" for name in sorted(costs)))
    print(f"{len(wanted)} tests, {failures} failures, {sum(costs[t['name']] for t in wanted if t['name'] in costs):.0f} CPU s")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
