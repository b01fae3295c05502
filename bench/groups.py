#!/usr/bin/python3
"""CPU seconds on one thread for models with one factor, or nested ones: the program to an ESS of 400 of the slowest of
fixed effects, standard deviations and correlations, reading of the CSV included, beside lme4's point estimates, with
reading by data.table where that is installed.

    bench/groups.py                  # all cases with both programs
    bench/groups.py --case nested --peer none --program build/sbps --program OTHER/sbps"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROWS, GROUPS = 1000000, 20000


def write(path, columns):
    texts = [numpy.char.mod("%.6g", v) if v.dtype.kind == "f" else v.astype(str) for v in columns.values()]
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(columns) + "\n")
        file.writelines(",".join(row) + "\n" for row in zip(*texts))


def bernoulli(rng, eta):
    return (rng.random(len(eta)) < 1 / (1 + numpy.exp(-eta))).astype(int)


def labels(name, codes):
    return numpy.char.add(name, codes.astype(str))


def slopes(rng, sds, intercept, linear):
    """(1 + x | g): effects with these sds and correlation 0.3."""
    g, x = rng.integers(0, GROUPS, ROWS), rng.normal(size=ROWS)
    cross = 0.3 * sds[0] * sds[1]
    u = rng.multivariate_normal([0, 0], [[sds[0]**2, cross], [cross, sds[1]**2]], GROUPS)
    eta = intercept + 0.3 * x + u[g, 0] + u[g, 1] * x
    y = eta + rng.normal(size=ROWS) if linear else bernoulli(rng, eta)
    return {"y": y, "x": x, "g": labels("g", g)}


def nested(rng):
    s = rng.integers(0, 200, 20000)
    c, x = 5 * s + rng.integers(0, 5, len(s)), rng.normal(size=len(s))
    eta = -0.5 + 0.5 * x + 0.7 * rng.normal(size=200)[s] + 0.5 * rng.normal(size=1000)[c]
    return {"y": bernoulli(rng, eta), "x": x, "s": labels("s", s), "c": labels("c", c)}


SLOPES, NESTED = "y ~ x + (1 + x | g)", "y ~ x + (1 | s/c)"
CASES = {  # table, formula, family, lme4's call
    "slopes": (lambda rng: slopes(rng, (0.8, 0.5), -0.5, False), SLOPES, "bernoulli", "glmer(%s, d, binomial, nAGQ = 0)"),
    "wide": (lambda rng: slopes(rng, (1.5, 1.0), -1.0, False), SLOPES, "bernoulli", "glmer(%s, d, binomial, nAGQ = 0)"),
    "linear": (lambda rng: slopes(rng, (0.8, 0.5), -0.5, True), SLOPES, "gaussian", "lmer(%s, d)"),
    "nested": (nested, NESTED, "bernoulli", "glmer(%s, d, binomial)"),
}


def cpu(words):
    """User and system seconds of a command, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode:
        sys.exit(f"{' '.join(words)}\n{run.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, run.stdout + run.stderr


def ours(program, path, case, folder):
    _, formula, family, _ = CASES[case]
    took, text = cpu([program, "sample", path, formula, "--family", family, "--threads", "1", "--progress", "off",
                      "-o", os.path.join(folder, f"{case}-{abs(hash(program))}.nc")])
    sampler = next(line.split()[1].rstrip(",") for line in text.splitlines() if line.strip().startswith("sampler"))
    return f"{took:.2f} ({sampler})"


def peer(path, case):
    _, formula, _, call = CASES[case]
    read = f'if (requireNamespace("data.table", quietly = TRUE)) data.table::fread("{path}", nThread = 1) else read.csv("{path}")'
    took, _ = cpu(["Rscript", "-e", f"suppressMessages(library(lme4)); d <- {read}; m <- {call % formula}"])
    return f"{took:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", action="append", choices=CASES, help="default: all")
    parser.add_argument("--peer", choices=["lme4", "none"], default="lme4")
    parser.add_argument("--program", action="append", help="default: build/sbps; several are compared")
    args = parser.parse_args()
    programs = [os.path.abspath(p) for p in args.program or [os.path.join(ROOT, "build", "sbps")]]
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    print("| case | " + " | ".join(os.path.relpath(p, ROOT) for p in programs) + " | lme4 (point) |")
    print("|---" * (len(programs) + 2) + "|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for case in args.case or CASES:
            path = os.path.join(folder, case + ".csv")
            write(path, CASES[case][0](numpy.random.default_rng(30)))
            cells = [ours(p, path, case, folder) for p in programs]
            cells.append(peer(path, case) if args.peer == "lme4" else "-")
            print(f"| {case}: {CASES[case][1].replace('|', chr(92) + '|')} | " + " | ".join(cells) + " |", flush=True)
            os.remove(path)


if __name__ == "__main__":
    main()
