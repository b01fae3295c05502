#!/usr/bin/env python3
"""Does the default command end, and at what price, whatever the seed?

    bench/seeds.py FOLDER [--program build/sbps] [--shared ../shared] [--seeds 20] [--single 3] [--limit 120] [--only NAMES]

Tables: those that bench/tables.R put in FOLDER, those of ../shared, and three made here (a year as a column, one
row 600 sds out, a log-normal column). For each the default command over `--seeds` seeds, then `sbps` and `hmc` by name over
`--single` seeds. Work is the processor time of the whole process, file to ESS 400, one thread. Prints a line a table: the default's
smallest, median and largest time, the largest over the smallest number of rows per effective sample, runs that did not end
within the limit or did not converge, and the default's median over that of the best single choice.
"""
import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile

LOGISTIC = ["--model", "logistic", "--target"]
LINEAR = ["--model", "linear", "--target"]
TABLES = [
    ("diamonds_expensive", LOGISTIC + ["expensive", "--categorical", "cut,color,clarity"]),
    ("diamonds", LINEAR + ["price", "--categorical", "cut,color,clarity"]),
    ("year", LOGISTIC + ["y"]),
    ("leverage", LOGISTIC + ["y"]),
    ("lognormal", LOGISTIC + ["y"]),
    ("txhousing", LINEAR + ["sales"]),
    ("ames", LINEAR + ["Sale_Price", "--categorical", "Neighborhood,Bldg_Type"]),
    ("spam", LOGISTIC + ["y"]),
    ("pima", LOGISTIC + ["y"]),
    ("letter", LOGISTIC + ["y"]),
    ("boston", LINEAR + ["medv"]),
    ("nmes", ["--model", "poisson", "--target", "visits", "--categorical", "health,gender,insurance"]),
    ("reference/logistic_1000", LOGISTIC + ["y"]),
    ("reference/logistic_10000", LOGISTIC + ["y"]),
    ("data/german_credit_scaled", LOGISTIC + ["y"]),
    ("data/htru2_pulsar", LOGISTIC + ["y"]),
    ("data/concrete_regression", LINEAR + ["y"]),
]


def write_made(folder):
    """Independent standard normals but for one column; the target knows only x2 (and the year)."""
    import math
    r = random.Random(1)
    makers = {
        "year": (5000, lambda i: 2000 + r.randrange(21), 0.1),
        "leverage": (100000, lambda i: 600.0 if i == 54321 else r.gauss(0, 1), 0.0),
        "lognormal": (50000, lambda i: math.exp(2.5 * r.gauss(0, 1)), 0.0),
    }
    for name, (n, draw, slope) in makers.items():
        path = os.path.join(folder, name + ".csv")
        if os.path.exists(path):
            continue
        with open(path, "w") as f:
            f.write("x1,x2,x3,y\n")
            for i in range(n):
                x = [draw(i), r.gauss(0, 1), r.gauss(0, 1)]
                eta = -0.2 + 0.5 * x[1] + (slope * (x[0] - 2010) if slope else 0.0)
                f.write("%.9g,%.6f,%.6f,%d\n" % (*x, r.random() < 1 / (1 + math.exp(-eta))))


def run(program, path, options, sampler, seed, limit, folder):
    out = os.path.join(folder, "run.nc")
    command = [program, "sample", path, *options, "--seed", str(seed), "--threads", "1", "--progress", "off", "-o", out]
    if sampler:
        command += ["--sampler", sampler]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = subprocess.Popen(["prlimit", f"--cpu={limit}", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    code = child.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    work = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if code != 0:
        return {"work": work, "ended": False}
    text = subprocess.run([program, "summary", out, "--json"], capture_output=True, text=True, check=True).stdout
    result = json.loads(text)
    info = result["run"]
    rhat = max(p["rhat"] if p["rhat"] is not None else 9.0 for p in result["parameters"])
    return {"work": work, "ended": True, "rhat": rhat, "sampler": info["sampler"], "k": info["band"], "n": info["batch_size"],
            "rows": info["rows_touched"] / info["min_ess"], "bias": info["bias_estimate"], "told": info.get("replanned")}


def find(name, folder, shared):
    for path in (os.path.join(folder, name + ".csv"), os.path.join(shared, name + ".csv"), os.path.join(shared, name + ".csv.gz")):
        if os.path.exists(path):
            return path
    return None


def line(name, runs, single):
    ended = [r for r in runs if r["ended"]]
    work = sorted(r["work"] for r in runs)
    rows = sorted(r["rows"] for r in ended) or [float("nan")]
    best = min(single, key=lambda s: single[s])
    samplers = ",".join(sorted({r["sampler"] for r in ended}))
    print(f"| {name} | {samplers} | {work[0]:.2f} / {statistics.median(work):.2f} / {work[-1]:.2f} | {rows[0]:.3g} to {rows[-1]:.3g} "
          f"| {len(runs) - len(ended)} | {sum(r['rhat'] > 1.05 for r in ended)} | {best} {single[best]:.2f} "
          f"| {statistics.median(work) / single[best]:.2f} |", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder")
    p.add_argument("--program", default="build/sbps")
    p.add_argument("--shared", default="../shared")
    p.add_argument("--seeds", type=int, default=20)
    p.add_argument("--single", type=int, default=3)
    p.add_argument("--limit", type=int, default=120)
    p.add_argument("--only")
    a = p.parse_args()
    write_made(a.folder)
    print("| table | chosen | CPU s, least / median / most | rows per ESS over seeds | not ended | R-hat > 1.05 | best single choice | default over it |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, options in TABLES:
            path = find(name, a.folder, a.shared)
            if not path or (a.only and name not in a.only.split(",")):
                if not path:
                    print(f"left out: {name}", file=sys.stderr)
                continue
            runs = [run(a.program, path, options, None, s, a.limit, folder) for s in range(1, a.seeds + 1)]
            single = {}
            for sampler in ("sbps", "hmc"):
                of = [run(a.program, path, options, sampler, s, a.limit, folder) for s in range(1, a.single + 1)]
                converged = all(r["ended"] and r["rhat"] < 1.05 for r in of)
                single[sampler] = statistics.median(r["work"] for r in of) if converged else float("inf")
            line(name, runs, single)


main()
