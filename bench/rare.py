#!/usr/bin/python3
"""Rare events: one positive in a thousand, N = 1e6, d = 20 and an intercept.

    bench/rare.py [--program build/sbps] [--seeds 10] [--ess 10000] [--draws 400] [--folder DIR]

`sbps` over seeds against importance sampling from the normal at the mode (antithetic pairs), prior
normal(0,10): rows per effective sample, worst pooled error of the means and sds, stated bias. Then plain
mini-batches of 104 for 20 s, and what `diagnose` says of them.
"""
import argparse
import csv
import json
import os
import subprocess
import tempfile

import numpy

ROWS, DIM, SHARE = 1000000, 20, 0.001
PRIOR = ["--prior", "normal(0,10)", "--prior-intercept", "normal(0,10)"]


def make_table(path):
    rng = numpy.random.default_rng(5)
    x = rng.standard_normal((ROWS, DIM)).round(5)
    eta = x @ rng.uniform(-0.5, 0.5, DIM)
    low, high = -20.0, 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if (1.0 / (1.0 + numpy.exp(-eta - middle))).mean() > SHARE:
            high = middle
        else:
            low = middle
    y = rng.random(ROWS) < 1.0 / (1.0 + numpy.exp(-eta - low))
    with open(path, "w") as file:
        file.write("y," + ",".join(f"x{j + 1}" for j in range(DIM)) + "\n")
        numpy.savetxt(file, numpy.column_stack([y, x]), fmt=["%d"] + ["%.5f"] * DIM, delimiter=",")
    return numpy.column_stack([numpy.ones(ROWS), x]), y.astype(float)


def log_posterior(w, x, y):
    total = -0.5 * (w ** 2).sum(axis=0) / 100.0
    for first in range(0, ROWS, 50000):
        eta = x[first:first + 50000] @ w
        total += (y[first:first + 50000, None] * eta - numpy.logaddexp(0.0, eta)).sum(axis=0)
    return total


def importance(program, path, x, y, draws, folder):
    """Mean, sd and the error of both, in sd, from draws of the normal at the mode."""
    out = os.path.join(folder, "normal.csv")
    subprocess.run([program, "laplace", path, "--model", "logistic", "--target", "y", *PRIOR, "-o", out],
                   check=True, stderr=subprocess.DEVNULL)
    with open(out, newline="") as file:
        rows = list(csv.reader(file))[1:]
    mode = numpy.array([float(row[1]) for row in rows])
    factor = numpy.linalg.cholesky(numpy.array([[float(c) for c in row[3:]] for row in rows]))
    z = numpy.random.default_rng(1).standard_normal((DIM + 1, draws // 2))
    z = numpy.concatenate([z, -z], axis=1)
    logs = [log_posterior(mode[:, None] + factor @ z[:, i:i + 20], x, y) for i in range(0, draws, 20)]
    logs = numpy.concatenate(logs) + 0.5 * (z ** 2).sum(axis=0)
    weight = numpy.exp(logs - logs.max())
    weight /= weight.sum()
    w = mode[:, None] + factor @ z
    x0 = factor @ z
    shift = x0 @ weight
    mean = mode + shift
    # what is known of the normal is not drawn again
    sd = numpy.sqrt((factor ** 2).sum(axis=1) + x0 ** 2 @ (weight - 1.0 / draws) - shift ** 2)
    # antithetic pairs are the independent pieces
    half = draws // 2
    pieces = weight * (w - mean[:, None])
    error = numpy.sqrt(((pieces[:, :half] + pieces[:, half:]) ** 2).sum(axis=1)) / sd
    return mean, sd, error, 1.0 / (weight ** 2).sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="build/sbps")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--ess", type=float, default=10000)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--folder", default=None)
    a = parser.parse_args()
    folder = a.folder or tempfile.mkdtemp()
    path, run = os.path.join(folder, "rare.csv"), os.path.join(folder, "run.nc")
    x, y = make_table(path)
    mean, sd, error, ess = importance(a.program, path, x, y, a.draws, folder)
    print(f"{int(y.sum())} positives of {ROWS}; importance sampling: ESS {ess:.0f} of {a.draws}, "
          f"worst error {error.max():.4f} sd")
    means, sds, rows, stated = [], [], [], []
    sample = [a.program, "sample", path, "--model", "logistic", "--target", "y", *PRIOR, "--progress", "off"]
    for seed in range(1, a.seeds + 1):
        subprocess.run([*sample, "--ess", str(a.ess), "--seed", str(seed), "-o", run], check=True,
                       stderr=subprocess.DEVNULL)
        out = json.loads(subprocess.run([a.program, "summary", run, "--json"], check=True, capture_output=True,
                                        text=True).stdout)
        means.append([p["mean"] for p in out["parameters"]])
        sds.append([p["sd"] for p in out["parameters"]])
        rows.append(out["run"]["rows_touched"] / out["run"]["min_ess"])
        stated.append(out["run"]["bias_estimate"])
    off = (numpy.mean(means, axis=0) - mean) / sd
    mcse = numpy.std(means, axis=0, ddof=1) / numpy.sqrt(a.seeds) / sd if a.seeds > 1 else 0.0 * sd
    worst = int(numpy.argmax(abs(off)))
    print(f"sampler {out['run']['sampler']}, {out['run']['control_variate']}, n = {out['run']['batch_size']:.0f}")
    print(f"rows per effective sample, median of {a.seeds} seeds: {numpy.median(rows):.0f}")
    print(f"worst pooled mean error {abs(off[worst]):.4f} +- {numpy.hypot(mcse, error)[worst]:.4f} sd, "
          f"sds within {100 * abs(numpy.mean(sds, axis=0) / sd - 1).max():.1f} %, "
          f"stated bias {numpy.mean(stated):.4f}")
    subprocess.run([*sample, "--sampler", "sbps", "--control-variate", "none", "--batch-size", "104", "--seconds",
                    "20", "-o", run], stderr=subprocess.DEVNULL)
    print("plain, diagnose:")
    text = subprocess.run([a.program, "diagnose", run], capture_output=True, text=True).stdout
    print("\n".join(line for line in text.splitlines() if line[:1].isdigit()))


main()
