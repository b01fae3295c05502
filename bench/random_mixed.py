#!/usr/bin/env python3
"""Random small mixed models: does each end in time, with a result or a sentence?

    bench/random_mixed.py [--count 200] [--seed 1] [--only 3,17] [--program build/sbps] [--keep FOLDER] [--log FILE]

Each model of bench/mixed_tables.py is sampled by the default command, one at a time, to ESS 400. What may come of it:

    ok         exit status 0, ESS of every parameter at least 400 and R-hat below 1.01
    refused    exit status 1 or 2 and one sentence
    short      exit status 0 with fewer or with R-hat above, and the program says so
    over       as ok, refused or short, but above the limit: 10 s of user CPU for one factor, 60 for several
    hang       ended at --patience times the limit, three by default, or at 1800 s of wall time
    crash      a signal
    wrong      exit status 0 without draws enough and without a word, another exit status, or no sentence

z-scores of the true fixed effects, (mean - truth)/sd, are of models whose outcomes were drawn from them. With default
priors, wider than what the effects were drawn from, their root mean square by family is near 1."""
import argparse
import collections
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import mixed_tables

LIMITS = {1: 10.0, 2: 60.0, 3: 60.0}  # user CPU seconds, by factors
NOTES = ("is a category", "the same in all rows")  # about the table, before the run
WALL = 1800.0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="indices of models, separated by commas")
    parser.add_argument("--program", default=os.path.join(root, "build", "sbps"))
    parser.add_argument("--patience", type=float, default=3.0, help="a run is ended at so many times its limit")
    parser.add_argument("--keep", default="", help="folder for the tables of models that fail")
    parser.add_argument("--log", default="", help="file that gets a line of JSON a model")
    return parser.parse_args()


def limit_cpu(seconds):
    def set_limit():
        os.nice(5)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 5))
    return set_limit


def run(command, patience):
    """Exit status, output, errors, user CPU seconds; status None: wall time ended it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=WALL, env=environment,
                              preexec_fn=limit_cpu(patience))
        status, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        status, out, err = None, "", (late.stderr or b"").decode()
    return status, out, err, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def sentences(err):
    """What the program prints beside what it chose."""
    return [line for line in err.splitlines() if line.startswith("sbps: ") and not any(n in line for n in NOTES)]


def judge(status, out, err, seconds, limit):
    """Category, and the figures of the run where it has any."""
    said = sentences(err)
    if status is None or status in (-signal.SIGXCPU, -signal.SIGKILL) or any("interrupted" in line for line in said):
        return "hang", None
    if status < 0:
        return "crash", None
    if status in (1, 2):
        word = "refused" if len(said) == 1 else "wrong"
        return ("over" if seconds > limit else word), None
    if status != 0:
        return "wrong", None
    result = json.loads(out)
    ess = [p[k] for p in result["parameters"] for k in ("ess_bulk", "ess_tail")]
    rhat = [p["rhat"] for p in result["parameters"]]
    good = None not in ess + rhat and result["run"]["min_ess"] is not None
    figures = {"ess": min(ess) if good else None, "rhat": max(rhat) if good else None,
               "path_ess": result["run"]["min_ess"], "sampler": result["run"]["sampler"],
               "evaluations": result["run"]["rows_touched"] / result["run"]["rows"],
               "fixed": {p["name"]: [p["mean"], p["sd"]] for p in result["parameters"]}}
    if seconds > limit:
        return "over", figures
    if good and min(ess) >= 400 and max(rhat) < 1.01:
        return "ok", figures
    return ("short" if said else "wrong"), figures


def scores(model, figures):
    fixed = figures["fixed"]
    return {n: (fixed[n][0] - b) / fixed[n][1] for n, b in model.truth.items() if n in fixed and fixed[n][1] > 0}


def sample(args, index, folder):
    model = mixed_tables.make(args.seed, index)
    path = os.path.join(folder, f"m{args.seed}_{index}.csv")
    model.write(path)
    command = [args.program, "sample", path, model.formula, "--family", model.family, *model.options, "--progress", "off",
               "--json", "-o", os.path.join(folder, "run.nc")]
    limit = LIMITS[model.factors]
    start = time.monotonic()
    status, out, err, seconds = run(command, args.patience * limit)
    category, figures = judge(status, out, err, seconds, limit)
    result = {"index": index, "kind": model.kind(), "family": model.family, "factors": model.factors, "rows": model.rows,
              "category": category, "seconds": round(seconds, 2), "wall": round(time.monotonic() - start, 1),
              "status": status, "said": sentences(err), "command": command, "z": {}}
    if figures:
        result["z"] = {k: round(v, 2) for k, v in scores(model, figures).items()} if model.drawn_from_model else {}
        result.update({k: v for k, v in figures.items() if k != "fixed"})
    if args.keep and category not in ("ok", "refused"):
        keep(args, result, path, err)
    os.remove(path)
    return result


def keep(args, result, path, err):
    os.makedirs(args.keep, exist_ok=True)
    kept = os.path.join(args.keep, os.path.basename(path))
    shutil.copy(path, kept)
    result["command"][2] = kept
    with open(kept[:-4] + ".txt", "w", encoding="utf-8") as file:
        file.write(err)


def show(r):
    ess = f"ESS {r['ess']:.0f}, R-hat {r['rhat']:.3f}, {r['sampler']}" if r.get("ess") else ""
    far = {k: v for k, v in r["z"].items() if abs(v) > 4}
    print(f"{r['index']:4d} {r['category']:8s} {r['seconds']:7.1f} s  {r['kind']}  {ess}" + (f"  z {far}" if far else ""))
    if r["category"] != "ok":
        for line in r["said"]:
            print("              " + line)
    sys.stdout.flush()


def summarize(results):
    print()
    for category, n in collections.Counter(r["category"] for r in results).most_common():
        print(f"{category:10s} {n}")
    for several in (False, True):
        part = sorted(r["seconds"] for r in results if (r["factors"] > 1) == several)
        if part:
            print(f"user CPU s, {'several factors' if several else 'one factor'}: median {part[len(part) // 2]:.1f}, "
                  f"largest {', '.join(f'{s:.1f}' for s in part[:-6:-1])}")
    by_family = collections.defaultdict(list)
    for r in results:
        if r["category"] in ("ok", "over"):
            by_family[r["family"]] += r["z"].values()
    for family, z in sorted(by_family.items()):
        if z:
            print(f"{family:22s} {len(z):3d} fixed effects, rms z {(sum(v * v for v in z) / len(z))**0.5:.2f}, "
                  f"largest {max(map(abs, z)):.1f}")


def main():
    args = arguments()
    args.program = os.path.abspath(args.program)
    indices = [int(i) for i in args.only.split(",")] if args.only else range(args.count)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for index in indices:
            r = sample(args, index, folder)
            results.append(r)
            show(r)
            if args.log:
                with open(args.log, "a", encoding="utf-8") as file:
                    file.write(json.dumps(r) + "\n")
    summarize(results)


if __name__ == "__main__":
    main()
