#!/usr/bin/python3
"""CPU seconds of mixed models with crossed and nested factors, one thread, reading included.

    bench/crossed.py [--only inst,linear,...] [--methods sweep,default,lme4] [--program build/sbps] [--data FOLDER]

Runs end at ESS 400 of fixed effects, standard deviations and correlations (`--ess 400`). Tables are simulated, or
lme4's own (InstEval, grouseticks: skipped without R and lme4). Columns: user and system CPU seconds of the command,
sweeps or trajectories after warm-up, and the smallest bulk ESS of these parameters."""
import argparse
import csv
import io
import json
import math
import os
import random
import resource
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SDS = [0.7, 0.5, 0.4]

# name: rows, levels of each factor, family, whether few levels have most rows; or R's table
CASES = {
    "inst": ("InstEval", "gaussian", "y ~ 1 + (1 | s) + (1 | d)"),
    "linear": (100000, [5000, 1000], "gaussian", False),
    "logistic": (100000, [5000, 1000], "bernoulli", False),
    "three": (50000, [2000, 200, 50], "bernoulli", False),
    "sparse": (100000, [30000, 8000], "bernoulli", True),
    "grouseticks": ("grouseticks", "poisson",
                    "TICKS ~ factor(YEAR) + cHEIGHT + (1 | INDEX) + (1 | BROOD) + (1 | LOCATION)"),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(CASES))
    parser.add_argument("--methods", default="sweep")
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "sbps"))
    parser.add_argument("--data", default=os.path.join(ROOT, "build", "bench-data"))
    return parser.parse_args()


def simulate(path, rows, levels, family, skewed):
    """y ~ x + (1 | a) + (1 | b) + ...: intercept 0.3, slope 0.5, residual sd 1."""
    chance = random.Random(rows + len(levels) + levels[0])
    effects = [[chance.gauss(0.0, SDS[k]) for _ in range(count)] for k, count in enumerate(levels)]
    with open(path, "w") as file:
        file.write("y,x," + ",".join("abc"[: len(levels)]) + "\n")
        for _ in range(rows):
            at = [int(count * chance.random() ** (2 if skewed else 1)) for count in levels]
            x = chance.gauss(0.0, 1.0)
            eta = 0.3 + 0.5 * x + sum(own[l] for own, l in zip(effects, at))
            y = "%.6g" % (eta + chance.gauss(0.0, 1.0))
            if family == "bernoulli":
                y = "%d" % (chance.random() < 1.0 / (1.0 + math.exp(-eta)))
            file.write("%s,%.6g,%s\n" % (y, x, ",".join("abc"[k] + str(l) for k, l in enumerate(at))))


def prepare(name, folder):
    """Path, formula and family of a case; None: its table is not available."""
    case, path = CASES[name], os.path.join(folder, "crossed-%s.csv" % name)
    if isinstance(case[0], str):
        table, family, formula = case
        script = 'suppressMessages(library(lme4)); write.csv(%s, "%s", row.names = FALSE)' % (table, path)
        if not os.path.exists(path) and subprocess.run(["Rscript", "-e", script], capture_output=True).returncode != 0:
            return None
        return path, formula, family
    rows, levels, family, skewed = case
    if not os.path.exists(path):
        simulate(path, rows, levels, family, skewed)
    return path, "y ~ x + " + " + ".join("(1 | %s)" % f for f in "abc"[: len(levels)]), family


def timed(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, OPENBLAS_NUM_THREADS="1"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime


def run_program(args, method, path, formula, family):
    out = os.path.join(args.data, "crossed-run-%d.nc" % os.getpid())
    if os.path.exists(out):
        os.remove(out)
    command = [args.program, "sample", path, formula, "--family", family, "--ess", "400", "--threads", "1",
               "--progress", "off", "-o", out]
    done, user, system = timed(command + (["--sampler", "sweep"] if method == "sweep" else []))
    if done.returncode != 0:
        return "%.1f + %.1f" % (user, system), "-", done.stderr.strip().split("\n")[-1]
    table = subprocess.run([args.program, "summary", out, "--csv"], capture_output=True, text=True, check=True).stdout
    run = json.loads(subprocess.run([args.program, "summary", out, "--json"], capture_output=True, text=True,
                                    check=True).stdout)["run"]
    os.remove(out)
    ess = min(float(row["ess_bulk"]) for row in csv.DictReader(io.StringIO(table)))
    return "%.1f + %.1f" % (user, system), "%.0f" % run["proposals"], "%.0f (%s)" % (ess, run["sampler"])


def run_lme4(path, formula, family):
    fit = "lmer(f, d)" if family == "gaussian" else "glmer(f, d, %s, nAGQ = 0)" % {"bernoulli": "binomial"}.get(
        family, family)
    script = 'suppressMessages(library(lme4)); d <- read.csv("%s"); f <- %s; invisible(%s)' % (path, formula, fit)
    done, user, system = timed(["Rscript", "-e", script])
    return "%.1f + %.1f" % (user, system), "-", "point estimate" if done.returncode == 0 else done.stderr.strip()[-60:]


def main():
    args = arguments()
    args.program = os.path.abspath(args.program)
    os.makedirs(args.data, exist_ok=True)
    print("| case | method | CPU s, user + system | steps | smallest ESS |\n|---|---|---|---|---|")
    for name in args.only.split(","):
        if name not in CASES:
            sys.exit("there is no case '%s'; there are %s" % (name, ", ".join(CASES)))
        prepared = prepare(name, args.data)
        for method in args.methods.split(",") if prepared else []:
            run = run_lme4(*prepared) if method == "lme4" else run_program(args, method, *prepared)
            print("| %s | %s | %s |" % (name, method, " | ".join(run)), flush=True)


main()
