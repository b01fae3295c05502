#!/usr/bin/python3
"""Mixed models against trusted posteriors of full-data HMC on the joint posterior: fixed effects, standard deviations of
groups, and every group's effect. Limits: means within 0.03 sd and 3 Monte Carlo errors of both (4 for effects of
groups, of which there are hundreds), sds within 3 % and 3 of their errors. Tables are made by the references' own recipe.

    SBPS_PROGRAM=build/sbps tests/stat/mixed.py"""
import csv
import math
import os
import subprocess
import sys
import tempfile

PRIORS = ["--prior", "normal(0,2.5)", "--prior-intercept", "normal(0,2.5)"]
RUNS = {"nullsd": ["--prior-sd", "normal(0,1)"], "separated": ["--prior-sd", "student_t(3,0,2.5)"]}
ESS, SEED = 2000, 5


def posterior(program, table, options, folder):
    out = os.path.join(folder, "run.nc")
    subprocess.run([program, "sample", table, "y ~ x1 + x2 + (1 | g)", "--family", "bernoulli", *PRIORS, *options,
                    "--ess", str(ESS), "--seed", str(SEED), "--ranef", "all", "--progress", "off", "-o", out],
                   check=True, stderr=subprocess.DEVNULL)
    output = subprocess.run([program, "summary", out, "--csv"], check=True, capture_output=True, text=True).stdout
    # The references call the intercept "Intercept".
    return {row["name"].lower().strip("()"): row for row in csv.DictReader(output.splitlines())}


def compare(name, found, trusted):
    """Messages about estimates that differ too much."""
    if set(found) != set(trusted):
        yield f"{name}: other parameters: {sorted(set(found) ^ set(trusted))[:5]}"
        return
    for parameter, row in trusted.items():
        ours, sd = found[parameter], float(row["sd"])
        away = (float(ours["mean"]) - float(row["mean"])) / sd
        error = math.hypot(float(ours["mcse"]), float(row["mcse"])) / sd
        times = 4 if parameter.startswith("r_") else 3
        if not abs(away) <= 0.03 + times * error:
            yield f"{name}: {parameter}: mean {away:+.3f} sd off, error {error:.3f}"
        wide = float(ours["sd"]) / sd
        spread = math.hypot(1 / math.sqrt(2 * float(ours["ess_bulk"])), float(row["mcse_sd"]) / sd)
        if not abs(wide - 1) <= 0.03 + times * spread:
            yield f"{name}: {parameter}: sd {wide:.3f} of the trusted one, error {spread:.3f}"


def main():
    here = os.path.dirname(os.path.realpath(__file__))
    program = os.path.realpath(os.environ.get("SBPS_PROGRAM", os.path.join(here, "../../build/sbps")))
    references = os.path.join(here, "../../../shared/reference/mixed")
    recipe = os.path.join(references, "small.py")
    if not os.path.exists(recipe):
        print("skipped: the trusted posteriors of ../shared are not there")
        return 77
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["/usr/bin/python3", recipe, folder], check=True)
        for name, options in RUNS.items():
            with open(os.path.join(references, name + ".csv"), encoding="utf-8") as file:
                trusted = {row["name"].lower(): row for row in csv.DictReader(file)}
            found = posterior(program, os.path.join(folder, name + ".csv"), options, folder)
            wrong += compare(name, found, trusted)
            print(f"{name}: {len(found)} parameters")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
