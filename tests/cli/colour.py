#!/usr/bin/python3
"""Output to a terminal has colours, to a pipe none; NO_COLOR and TERM=dumb turn them off; words stay the same.
   colour.py PROGRAM: in an empty folder."""
import os
import pty
import re
import subprocess
import sys

program = sys.argv[1]
try:
    for end in pty.openpty():
        os.close(end)
except OSError:
    print("skipped: no pseudo-terminals here")
    sys.exit(0)


def output_of(words, **more):
    """What a command writes to a terminal of its own."""
    environment = {**os.environ, "TERM": "xterm", **more}
    if "NO_COLOR" not in more:
        environment.pop("NO_COLOR", None)
    here, there = pty.openpty()
    child = subprocess.Popen([program, *words], stdout=there, stderr=subprocess.DEVNULL, env=environment)
    os.close(there)
    out = b""
    while True:
        try:
            piece = os.read(here, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
    child.wait()
    os.close(here)
    return out.decode().replace("\r\n", "\n")


def hold(what, fine):
    if not fine:
        print("FAILED", what)
        sys.exit(1)


subprocess.run([program, "simulate", "logistic", "--rows", "500", "--dim", "2", "-o", "t.csv"], check=True)
subprocess.run([program, "sample", "t.csv", "--model", "logistic", "--target", "y", "--seed", "1", "--ess", "400", "--progress", "off",
                "-o", "t.nc"], check=True, stderr=subprocess.DEVNULL)
for words, sign in ((["diagnose", "t.nc"], r"\033\[3[23]m(No problems found|1\. )"), (["summary", "t.nc"], r"\033\[1mname .*\033\[0m\n")):
    coloured = output_of(words)
    hold(f"{words}: colours at a terminal: {coloured!r}", re.search(sign, coloured))
    plain = output_of(words, NO_COLOR="1")
    hold(f"{words}: NO_COLOR", "\033" not in plain)
    hold(f"{words}: TERM=dumb", "\033" not in output_of(words, TERM="dumb"))
    piped = subprocess.run([program, *words], capture_output=True, text=True, check=False).stdout
    hold(f"{words}: a pipe", "\033" not in piped)
    hold(f"{words}: the same words", re.sub(r"\033\[[0-9;]*m", "", coloured) == plain)
    hold(f"{words}: JSON has none", "\033" not in output_of([*words, "--json"]))
print("colour: fine")
