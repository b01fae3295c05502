#!/usr/bin/env python3
"""The program against trusted posteriors, over seeds.

    bench/reference.py DATA POSTERIOR [--seeds 10] [--program build/sbps] [--jobs 2] [-- SAMPLE OPTIONS]

DATA is a table with target `y`; POSTERIOR a CSV with columns name, mean, sd, mcse_mean. Every seed
is one run of `sbps sample DATA --model logistic --target y ...` with the options given. Printed, as
Markdown: the worst mean error of a single run in reference sd and how far inside its allowance
0.03 + 3 combined MCSE it is, the worst sd error, the largest R-hat, and over all seeds pooled the
true bias with its error beside the stated one.
"""
import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor


def run(program, data, seed, options, folder, threads):
    path = os.path.join(folder, f"{seed}.nc")
    subprocess.run([program, "sample", data, "--model", "logistic", "--target", "y", "--seed",
                    str(seed), "--threads", str(threads), "--progress", "off", "-o", path, *options],
                   check=True, stderr=subprocess.DEVNULL)
    text = subprocess.run([program, "summary", path, "--json"], check=True, capture_output=True,
                          text=True).stdout
    os.remove(path)
    return json.loads(text)


def read_posterior(path):
    with open(path, newline="") as file:
        return {row["name"]: {k: float(v) for k, v in row.items() if k != "name"}
                for row in csv.DictReader(file)}


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def spread(values):
    values = list(values)
    centre = mean(values)
    return math.sqrt(sum((v - centre) ** 2 for v in values) / max(1, len(values) - 1))


def single(result, truth):
    """Worst figures of one run: mean error, its share of the allowance, sd error, R-hat."""
    worst = [0.0, 0.0, 0.0, 0.0]
    for p in result["parameters"]:
        t = truth[p["name"]]
        error = abs(p["mean"] - t["mean"]) / t["sd"]
        allowed = 0.03 + 3 * math.hypot(p["mcse"], t["mcse_mean"]) / t["sd"]
        found = [error, error / allowed, abs(p["sd"] / t["sd"] - 1), p["rhat"]]
        worst = [max(a, b) for a, b in zip(worst, found)]
    return worst


def pooled(results, truth):
    """Per parameter over all runs: true bias, its standard error, stated bias, sd error."""
    rows = []
    for j, p in enumerate(results[0]["parameters"]):
        t = truth[p["name"]]
        errors = [(r["parameters"][j]["mean"] - t["mean"]) / t["sd"] for r in results]
        noise = math.sqrt(sum((r["parameters"][j]["mcse"] / t["sd"]) ** 2 for r in results))
        se = math.hypot(noise / len(results), t["mcse_mean"] / t["sd"])
        rows.append((p["name"], mean(errors), se, mean(r["parameters"][j]["bias"] for r in results),
                     mean(r["parameters"][j]["sd"] / t["sd"] - 1 for r in results)))
    return rows


def report(results, truth, verbose):
    ones = [single(r, truth) for r in results]
    rows = pooled(results, truth)
    runs = [r["run"] for r in results]
    rate = [100 * r["violations"] / r["proposals"] for r in runs]
    worst = max(rows, key=lambda r: abs(r[1]))
    slope = sum(r[1] * r[3] for r in rows) / (sum(r[3] ** 2 for r in rows) or math.nan)
    lines = [
        ("runs", f"{len(results)}"),
        ("worst mean error of one run", f"{max(o[0] for o in ones):.4f} sd"),
        ("its largest share of 0.03 sd + 3 MCSE", f"{max(o[1] for o in ones):.2f}"),
        ("worst sd error of one run", f"{100 * max(o[2] for o in ones):.2f} %"),
        ("largest R-hat", f"{max(o[3] for o in ones):.4f}"),
        ("true bias, pooled, worst parameter", f"{abs(worst[1]):.4f} +- {worst[2]:.4f} sd ({worst[0]})"),
        ("true bias, pooled, root mean square", f"{math.sqrt(mean(r[1] ** 2 for r in rows)):.4f} sd"
         f" (noise alone {math.sqrt(mean(r[2] ** 2 for r in rows)):.4f})"),
        ("stated bias, worst parameter, mean of runs",
         f"{mean(r['bias_estimate'] for r in runs):.4f} +- {spread(r['bias_estimate'] for r in runs):.4f} sd"),
        ("stated bias, pooled, root mean square", f"{math.sqrt(mean(r[3] ** 2 for r in rows)):.4f} sd"),
        ("true on stated, regression through 0", f"{slope:.2f}"),
        ("sd error, pooled, mean", f"{100 * mean(r[4] for r in rows):+.2f} %"),
        ("k", f"{mean(r['band'] for r in runs):.2f} ({min(r['band'] for r in runs):.2f} to"
         f" {max(r['band'] for r in runs):.2f})"),
        ("violations", f"{mean(rate):.3f} +- {spread(rate) / math.sqrt(len(rate)):.3f} % of proposals"),
        ("eta", f"{mean(r['eta'] for r in runs):.5f}"),
        ("rows per effective sample", f"{mean(r['rows_touched'] / r['min_ess'] for r in runs):.3g}"),
    ]
    print("| figure | value |\n|---|---|")
    for name, value in lines:
        print(f"| {name} | {value} |")
    if verbose:
        print("\n| parameter | true bias | +- | stated | sd error |\n|---|---|---|---|---|")
        for name, bias, se, stated, sd in rows:
            print(f"| {name} | {bias:+.4f} | {se:.4f} | {stated:+.4f} | {100 * sd:+.2f} % |")


def main():
    argv = sys.argv[1:]
    options = argv[argv.index("--") + 1:] if "--" in argv else []
    argv = argv[:argv.index("--")] if "--" in argv else argv
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("posterior")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--program", default="build/sbps")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time, a thread each")
    parser.add_argument("--verbose", action="store_true", help="every parameter")
    args = parser.parse_args(argv)
    truth = read_posterior(args.posterior)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(args.jobs) as pool:
        jobs = [pool.submit(run, args.program, args.data, seed, options, folder, 1)
                for seed in range(1, args.seeds + 1)]
        results = [job.result() for job in jobs]
    report(results, truth, args.verbose)


if __name__ == "__main__":
    main()
