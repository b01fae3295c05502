#!/usr/bin/python3
"""The exact sampler `surrogate` as a referee at sizes where full-data hmc cannot run.

    bench/referee.py [--program build/sbps] [--sizes 1e3,1e4,1e5,1e6] [--seeds 3] [--ess 20000]
                     [--duel 1e5,1e6] [--duel-ess 100000] [--write]

Rows per effective sample of `surrogate` (the smallest of all means and squares, median over seeds) beside their
goals; its means and sds against trusted posteriors, where they are there; then `sbps` against it at an ESS of 1e5 each: the largest difference of means in posterior sds, with its
standard error, beside the bias that `sbps` states. Data of the paper's 7.1, d = 20, prior normal(0,10)."""
import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.path.join(ROOT, "..", "shared", "reference")
PAGE = os.path.join(ROOT, "bench", "RESULTS.md")
GOALS = {10000: 600, 100000: 120, 1000000: 40}
BEGIN, END = "<!-- bench/referee.py: begin -->", "<!-- bench/referee.py: end -->"


def table(program, rows, folder):
    """Trusted tables where there are some, else a made-up one of the same law."""
    for name in (f"logistic_{rows}.csv", f"logistic_{rows}.csv.gz"):
        if os.path.exists(os.path.join(SHARED, name)):
            return os.path.join(SHARED, name)
    path = os.path.join(folder, f"{rows}.csv")
    if not os.path.exists(path):
        subprocess.run([program, "simulate", "logistic", "--rows", str(rows), "--dim", "20", "--seed", "1", "-o", path],
                       check=True)
    return path


def sample(program, path, sampler, ess, seed, folder):
    out = os.path.join(folder, "run.nc")
    subprocess.run([program, "sample", path, "--model", "logistic", "--target", "y", "--no-intercept",
                    "--prior", "normal(0,10)", "--sampler", sampler, "--ess", str(ess), "--seed", str(seed),
                    "--progress", "off", "-o", out], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    said = subprocess.run([program, "summary", out, "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(said)


def price(program, rows, asked, folder):
    """A line of the first table."""
    path, prices, steps = table(program, rows, folder), [], []
    for seed in range(1, asked.seeds + 1):
        run = sample(program, path, "surrogate", asked.ess, seed, folder)["run"]
        prices.append(run["rows_touched"] / run["min_ess"])
        steps.append(run["min_ess"] / run["proposals"])
        assert run["violations"] == 0
    goal = GOALS.get(rows, "-")
    return (f"| {rows:g} | {goal} | **{statistics.median(prices):.3g}** | {min(prices):.3g} to {max(prices):.3g} "
            f"| {statistics.median(steps):.2f} |")


def trusted(rows):
    """The trusted posterior of a table: a list of {name, mean, sd, mcse_mean, ...}; empty where there is none."""
    path = os.path.join(SHARED, f"logistic_{rows}_posterior.csv")
    if not os.path.exists(path):
        return []
    with open(path, newline="") as file:
        return [{key: value if key in ("name", "variable", "parameter") else float(value) for key, value in row.items()}
                for row in csv.DictReader(file)]


def agreement(program, rows, asked, folder):
    """A line of the second table: largest errors of means and sds over their standard errors."""
    run = sample(program, table(program, rows, folder), "surrogate", asked.trust_ess, 1, folder)
    means, sds = [], []
    for ours, known in zip(run["parameters"], trusted(rows)):
        error = (ours["mcse"] ** 2 + known["sd"] ** 2 / known["ess_bulk"]) ** 0.5
        means.append(abs(ours["mean"] - known["mean"]) / error)
        # sd of an sd: as of a normal, over the smaller of both effective sizes
        spread = known["sd"] * (0.5 / known["ess_tail"] + 0.5 / run["run"]["min_ess"]) ** 0.5
        sds.append(abs(ours["sd"] - known["sd"]) / spread)
    return f"| {rows:g} | {run['run']['min_ess']:.0f} | {max(means):.2f} | {max(sds):.2f} |"


def duel(program, rows, asked, folder):
    """A line of the second table."""
    path = table(program, rows, folder)
    exact = sample(program, path, "surrogate", asked.duel_ess, 1, folder)
    flights = sample(program, path, "sbps", asked.duel_ess, 1, folder)
    worst, largest, spread = (0.0, 0.0), 0.0, 0.0
    for a, b in zip(exact["parameters"], flights["parameters"]):
        off = (b["mean"] - a["mean"]) / a["sd"]
        error = (a["mcse"] ** 2 + b["mcse"] ** 2) ** 0.5 / a["sd"]
        largest = max(largest, abs(off) / error)
        worst = max(worst, (abs(off), error))
        spread = max(spread, abs(b["sd"] / a["sd"] - 1.0))
    stated = max(abs(p["bias"]) for p in flights["parameters"])
    touched = [r["run"]["rows_touched"] / r["run"]["min_ess"] for r in (exact, flights)]
    return (f"| {rows:g} | {worst[0]:.4f} +- {worst[1]:.4f} | {largest:.1f} "
            f"| {100 * spread:.2f} % | {stated:.4f} | {flights['run']['bias_budget']:g} | {touched[0]:.3g}, {touched[1]:.3g} |")


def page(asked, folder):
    lines = ["`bench/referee.py`: rows per effective sample of `surrogate`, exact, logistic with d = 20, prior normal(0,10); the smallest "
             f"ESS of all means and squares, {asked.seeds} seeds at ESS {asked.ess:g}.", "",
             "| N | goal | rows per ESS, median | from, to | ESS a step |", "|---|---|---|---|---|"]
    lines += [price(asked.program, int(float(n)), asked, folder) for n in asked.sizes.split(",")]
    known = [rows for rows in (1000, 10000) if trusted(rows)]
    lines += ["", "Against the trusted posteriors, the largest of 20 errors in standard errors of both together:", "",
              "| N | ESS | means | sds |", "|---|---|---|---|"]
    lines += [agreement(asked.program, rows, asked, folder) for rows in known]
    lines += ["", f"`sbps` at its defaults against it, ESS {asked.duel_ess:g} each:", "",
              "| N | largest difference of means, sd | largest over its error | largest of sds | stated bias, largest | budget | rows per ESS, surrogate and sbps |",
              "|---|---|---|---|---|---|---|"]
    lines += [duel(asked.program, int(float(n)), asked, folder) for n in asked.duel.split(",") if n]
    return "\n".join(lines)


def write(text):
    with open(PAGE, encoding="utf-8") as file:
        before = file.read()
    block = f"{BEGIN}\n{text}\n{END}"
    pattern = re.escape(BEGIN) + ".*" + re.escape(END)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(re.sub(pattern, lambda _: block, before, flags=re.S))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "sbps"))
    parser.add_argument("--sizes", default="1e3,1e4,1e5,1e6")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--ess", type=float, default=20000)
    parser.add_argument("--trust-ess", type=float, default=50000)
    parser.add_argument("--duel", default="1e5,1e6")
    parser.add_argument("--duel-ess", type=float, default=100000)
    parser.add_argument("--write", action="store_true", help="put it into bench/RESULTS.md")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = page(asked, folder)
    print(text)
    if asked.write:
        write(text)


if __name__ == "__main__":
    main()
