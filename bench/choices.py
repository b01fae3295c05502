#!/usr/bin/env python3
"""Did auto choose well? The default command beside every single choice of sampler.

    bench/choices.py [--program build/sbps] [--shared ../shared] [--seconds 30] [--ess 2000] [--only NAMES] [--write bench/RESULTS.md]

For each table of ../shared: the default command, then `sbps`, `boomerang` and `hmc` by name (the
others are slower on all of them, docs/samplers.md), all else left to the program. Effective samples
per second of sampling (smallest of all parameters and squares, from the path), one run each, two
threads, at most so many seconds; runs that fail or end with R-hat above 1.05 are named as such. The last
column is the best single choice over the default: above 1.5 auto chose badly.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

TABLES = [
    ("logistic_1000", "reference/logistic_1000.csv", ["--model", "logistic", "--target", "y"]),
    ("logistic_10000", "reference/logistic_10000.csv.gz", ["--model", "logistic", "--target", "y"]),
    ("german credit", "data/german_credit_scaled.csv", ["--model", "logistic", "--target", "y"]),
    ("HTRU2", "data/htru2_pulsar.csv", ["--model", "logistic", "--target", "y"]),
    ("concrete", "data/concrete_regression.csv", ["--model", "linear", "--target", "y"]),
    ("a9a", "data/a9a.libsvm", ["--model", "logistic"]),
    ("MNIST softmax", "data/mnist7x7_0123_train.csv",
     # normal(0,31.622777) for weights of value/4080, which lies between 0 and 1
     ["--model", "softmax", "--target", "label", "--prior", "normal(0,0.00775068064)",
      "--prior-intercept", "normal(0,31.622777)"]),
]
SAMPLERS = ["auto", "sbps", "boomerang", "hmc"]
BEGIN, END = "<!-- choices -->", "<!-- end of choices -->"


def run(program, path, options, sampler, seconds, ess, folder):
    out = os.path.join(folder, "run.nc")
    if os.path.exists(out):
        os.remove(out)
    command = [program, "sample", path, *options, "--ess", str(ess), "--seconds", str(seconds),
               "--threads", "2", "--progress", "off", "-o", out]
    if sampler != "auto":
        command += ["--sampler", sampler]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=8 * seconds + 60)
    except subprocess.TimeoutExpired:
        return None, "did not end"
    if done.returncode != 0:
        return None, "failed"
    text = subprocess.run([program, "summary", out, "--json"], capture_output=True, text=True,
                          check=True).stdout
    result = json.loads(text)
    info = result["run"]
    rhat = max(p["rhat"] if p["rhat"] is not None else 9.0 for p in result["parameters"])
    info["rate"] = (info["min_ess"] or 0.0) / max(info["seconds_sampling"], 1e-9)
    word = f"{info['rate']:.3g}"
    if rhat > 1.05:
        info["rate"] = 0.0
        word += f" (R-hat {rhat:.2f})"
    elif info["bias_estimate"] is not None and info["bias_estimate"] > 0.05:
        word += f" (bias {info['bias_estimate']:.2g})"
    return info, word


def table(arguments):
    lines = ["| table | auto took | " + " | ".join(f"{s}, ESS/s" for s in SAMPLERS) +
             " | best single / auto |", "|---" * (len(SAMPLERS) + 3) + "|"]
    with tempfile.TemporaryDirectory() as folder:
        for name, file, options in TABLES:
            path = os.path.join(arguments.shared, file)
            if arguments.only and name not in arguments.only.split(","):
                continue
            if not os.path.exists(path):
                print(f"{path} is not there: passed over", file=sys.stderr)
                continue
            words, rates, took = [], [], "?"
            for sampler in SAMPLERS:
                info, word = run(arguments.program, path, options, sampler, arguments.seconds,
                                 arguments.ess, folder)
                words.append(word)
                rates.append(info["rate"] if info else 0.0)
                if sampler == "auto" and info:
                    took = f"`{info['sampler']}`"
                    if info["sampler"] != "hmc":
                        took += f", {info['control_variate']}, n = {info['batch_size']:.0f}"
                print(f"{name} {sampler}: {word}", file=sys.stderr)
            ratio = f"{max(rates[1:]) / rates[0]:.2f}" if rates[0] > 0.0 and max(rates[1:]) > 0.0 else "-"
            lines.append(f"| {name} | {took} | " + " | ".join(words) + f" | {ratio} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="build/sbps")
    parser.add_argument("--shared", default="../shared")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--ess", type=float, default=2000.0)
    parser.add_argument("--only", default="", help="names of tables, separated by commas")
    parser.add_argument("--write", help="a file with the markers " + BEGIN)
    arguments = parser.parse_args()
    text = table(arguments)
    print(text)
    if arguments.write:
        with open(arguments.write, encoding="utf-8") as file:
            before, rest = file.read().split(BEGIN, 1)
        after = rest.split(END, 1)[1]
        with open(arguments.write, "w", encoding="utf-8") as file:
            file.write(f"{before}{BEGIN}\n{text}\n{END}{after}")


main()
