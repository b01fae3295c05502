#!/usr/bin/env python3
"""Every sampler on one logistic table against its trusted posterior, for the same time.

    bench/samplers.py DATA POSTERIOR [--seconds 60] [--only sbps,hmc] [--write docs/samplers.md] [--program build/sbps]

DATA has target `y`; POSTERIOR a CSV with columns name, mean, sd, mcse_mean (model without intercept,
prior normal(0,10)). Makes a Markdown table, one line a sampler of `sbps list samplers`, all by their
defaults, and the published method; prints it, or with --write puts it between the markers of that page.

The directions of largest and smallest variance are the first and last eigenvector of the posterior
covariance, from a run of `hmc` of the same length. ESS along them is that of the stored draws by R's
posterior package, the smaller of x's and (x - mean)^2's; it can hardly exceed the number of draws.
"""
import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

import netCDF4
import numpy

BEGIN, END = "<!-- bench/samplers.py: begin -->", "<!-- bench/samplers.py: end -->"
EXTRA = {"noisy-bps": ["--gradient-noise", "5"], "sbps --paper": ["--sampler", "sbps", "--paper"]}
DRAWS = 4000  # a chain, at least: doubled before every second is dropped
HEAD = ("| sampler | max mean error, sd | its z | max sd error | rows per ESS | ESS/s, all | ESS/s, largest variance |"
        " ESS/s, smallest variance | R-hat | violations | expected | stated bias |\n" + "|---" * 12 + "|")
ESS = """
x <- as.matrix(read.csv(file("stdin"), header = FALSE))
chains <- as.integer(commandArgs(TRUE)[1])
for (j in seq_len(ncol(x))) {
    m <- matrix(x[, j], ncol = chains)
    cat(min(posterior::ess_mean(m), posterior::ess_mean((m - mean(m))^2)), "\\n")
}
"""


def sample(args, name, folder):
    """The summary of a run and its draws [chain, draw, parameter]; or None and why."""
    path = f"{folder}/{name.replace(' ', '')}.nc"
    kind = [] if "--paper" in name else ["--sampler", name]
    command = [args.program, "sample", args.data, "--model", "logistic", "--target", "y", "--no-intercept",
               "--prior", "normal(0,10)", *kind, "--seconds", str(args.seconds), "--draws", str(DRAWS),
               "--progress", "off", "-o", path, *EXTRA.get(name, [])]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip()
    text = subprocess.run([args.program, "summary", path, "--json"], check=True, capture_output=True, text=True)
    with netCDF4.Dataset(path) as file:
        return json.loads(text.stdout), numpy.array(file["posterior/w"][:])


def directions(draws):
    """Unit vectors of largest and smallest variance, as columns."""
    flat = draws.reshape(-1, draws.shape[2])
    vectors = numpy.linalg.eigh(numpy.cov(flat.T))[1]  # variances rise
    return vectors[:, [-1, 0]]


def ess(draws, vectors):
    """ESS along each column of `vectors`; NaN where R or its package is missing."""
    along = (draws @ vectors).reshape(-1, vectors.shape[1])
    text = "\n".join(",".join(f"{x:.17g}" for x in row) for row in along)
    try:
        done = subprocess.run(["Rscript", "-e", ESS, str(draws.shape[0])], input=text, capture_output=True, text=True)
    except FileNotFoundError:
        return [math.nan] * vectors.shape[1]
    if done.returncode:
        print(done.stderr.strip(), file=sys.stderr)
        return [math.nan] * vectors.shape[1]
    return [math.nan if x == "NA" else float(x) for x in done.stdout.split()]


def number(value, digits=3):
    return "-" if value is None or math.isnan(value) else f"{value:.{digits}g}"


def line(name, result, draws, vectors, truth):
    run = result["run"]
    errors, zs, sds, rhats = [], [], [], []
    for p in result["parameters"]:
        t = truth[p["name"]]
        error = p["mean"] - t["mean"]
        errors.append(abs(error) / t["sd"])
        zs.append(abs(error) / math.hypot(p["mcse"], t["mcse_mean"]) if p["mcse"] else math.nan)
        sds.append(abs(p["sd"] / t["sd"] - 1))
        rhats.append(p["rhat"] or math.nan)
    least, seconds = run["min_ess"] or 0.0, run["seconds_sampling"] or math.nan
    largest, smallest = ess(draws, vectors)
    share = 100 / run["proposals"] if run["proposals"] else math.nan
    flies, banded = run["refresh_rate"] is not None, run["band"] is not None
    cells = [f"`{name}`", f"{max(errors):.3f}", f"{max(zs):.1f}", f"{100 * max(sds):.1f} %",
             number(run["rows_touched"] / least if least else None), number(least / seconds),
             number(largest / seconds), number(smallest / seconds), f"{max(rhats):.3f}",
             f"{share * run['violations']:.3g} %" if flies else "-",
             f"{share * run['expected_violations']:.3g} %" if banded else "-",
             "unknown" if run["bias_estimate"] is None else f"{run['bias_estimate']:.4f}"]
    return "| " + " | ".join(cells) + " |"


def write(page, table):
    with open(page) as file:
        text = file.read()
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    with open(page + ".new", "w") as file:
        file.write(f"{text[:start]}\n{table}\n{text[end:]}")
    os.replace(page + ".new", page)


def caption(args):
    return (f"`{os.path.basename(args.data)}`, {args.seconds:g} seconds each, warm-up included, 4 chains on "
            f"{os.cpu_count()} processors{'; ' + args.note if args.note else ''}.\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("posterior")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--write", default="", metavar="PAGE")
    parser.add_argument("--note", default="", help="what else the reader should know, such as how busy the machine was")
    parser.add_argument("--program", default="build/sbps")
    args = parser.parse_args()
    with open(args.posterior, newline="") as file:
        truth = {row["name"]: {k: float(v) for k, v in row.items() if k != "name"} for row in csv.DictReader(file)}
    listed = subprocess.run([args.program, "list", "samplers"], check=True, capture_output=True, text=True).stdout
    names = [text.split()[0] for text in listed.splitlines() if text.strip()]
    names.insert(1, "sbps --paper")
    if args.only:
        names = args.only.split(",")
    lines = [caption(args), HEAD]
    with tempfile.TemporaryDirectory() as folder:
        referee, draws = sample(args, "hmc", folder)
        if not referee:
            sys.exit(f"hmc: {draws}")
        vectors = directions(draws)
        for name in names:
            result, draws = sample(args, name, folder)
            lines.append(line(name, result, draws, vectors, truth) if result else f"| `{name}` | failed: {draws} |")
            print(lines[-1], flush=True)
    if args.write:
        write(args.write, "\n".join(lines))


if __name__ == "__main__":
    main()
