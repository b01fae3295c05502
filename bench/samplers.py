#!/usr/bin/env python3
"""Every sampler on one logistic table against its trusted posterior, for the same time.

    bench/samplers.py DATA POSTERIOR [--seconds 20] [--program build/sbps]

DATA has target `y`; POSTERIOR a CSV with columns name, mean, sd, mcse_mean (model without intercept,
prior normal(0,10)). Prints a Markdown table, one line a sampler of `sbps list samplers`, all by
their defaults.
"""
import argparse
import csv
import json
import math
import subprocess
import tempfile

EXTRA = {"noisy-bps": ["--gradient-noise", "5"]}


def sample(program, data, sampler, seconds, folder):
    path = f"{folder}/{sampler}.nc"
    command = [program, "sample", data, "--model", "logistic", "--target", "y", "--no-intercept",
               "--prior", "normal(0,10)", "--sampler", sampler, "--seconds", str(seconds),
               "--progress", "off", "-o", path, *EXTRA.get(sampler, [])]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip()
    text = subprocess.run([program, "summary", path, "--json"], check=True, capture_output=True,
                          text=True).stdout
    return json.loads(text), ""


def line(name, result, truth):
    run = result["run"]
    errors, zs, sds, rhats = [], [], [], []
    for p in result["parameters"]:
        t = truth[p["name"]]
        error = p["mean"] - t["mean"]
        errors.append(abs(error) / t["sd"])
        zs.append(abs(error) / math.hypot(p["mcse"], t["mcse_mean"]) if p["mcse"] else math.nan)
        sds.append(abs(p["sd"] / t["sd"] - 1))
        rhats.append(p["rhat"] or math.nan)
    ess, seconds = run["min_ess"] or 0.0, run["seconds_sampling"] or math.nan
    bias = run["bias_estimate"]
    violations = f"{run['violations']:.0f} of {run['proposals']:.3g}" if run["proposals"] else "-"
    rows = f"{run['rows_touched'] / ess:.3g}" if ess else "-"
    stated = "unknown" if bias is None else f"{bias:.4f}"
    return (f"| `{name}` | {max(errors):.3f} | {max(zs):.1f} | {100 * max(sds):.1f} % | {rows} | "
            f"{ess:.0f} | {ess / seconds:.3g} | {max(rhats):.3f} | {violations} | {stated} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("posterior")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--program", default="build/sbps")
    args = parser.parse_args()
    with open(args.posterior, newline="") as file:
        truth = {row["name"]: {k: float(v) for k, v in row.items() if k != "name"}
                 for row in csv.DictReader(file)}
    listed = subprocess.run([args.program, "list", "samplers"], check=True, capture_output=True,
                            text=True).stdout
    print("| sampler | worst mean error, sd | its z | worst sd error | rows per ESS | min ESS | ESS/s |"
          " R-hat | violations | stated bias |\n|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in (text.split()[0] for text in listed.splitlines() if text.strip()):
            result, why = sample(args.program, args.data, name, args.seconds, folder)
            print(line(name, result, truth) if result else f"| `{name}` | failed: {why} |",
                  flush=True)


if __name__ == "__main__":
    main()
