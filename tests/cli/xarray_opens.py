#!/usr/bin/python3
"""run.nc as xarray sees it: the groups, dimensions, coordinates and attributes that ArviZ reads,
and the draws of the CSV of the same run to the last bit. Skips without xarray or netCDF4."""
import csv
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy
    import xarray
    import netCDF4  # noqa: F401  the engine that reads groups
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

SBPS = os.path.realpath(os.environ.get("SBPS_PROGRAM", "build/sbps"))
OPTIONS = ["--sampler", "sbps", "--chains", "3", "--draws", "150", "--ess", "120", "--seed", "7", "--progress", "off"]
STATS = ["proposals", "bounces", "missing", "k", "potential", "potential_sd"]
failures = 0


def check(condition, words):
    global failures
    if not condition:
        print("FAILED", words)
        failures += 1


def sbps(*arguments):
    done = subprocess.run([SBPS, *arguments], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        print("FAILED", " ".join(arguments), done.stderr)
        sys.exit(1)
    return done.stdout


def read_csv(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def check_groups(path):
    with netCDF4.Dataset(path) as file:
        check({"posterior", "sample_stats"} <= set(file.groups), "groups: %s" % list(file.groups))


def check_posterior(path, names):
    posterior = xarray.open_dataset(path, group="posterior")
    check("w" in posterior, "posterior has no w: %s" % list(posterior))
    w = posterior["w"]
    check(w.dims == ("chain", "draw", "coef"), "dims of w: %s" % (w.dims,))
    check(w.dtype == numpy.float64, "w is of %s" % w.dtype)
    check(list(w.coords["coef"].values) == names, "coef: %s" % list(w.coords["coef"].values))
    check(list(w.coords["chain"].values) == [0, 1, 2], "chain: %s" % w.coords["chain"].values)
    check(list(w.coords["draw"].values) == list(range(w.sizes["draw"])), "draw counts up")
    check(w.sizes["draw"] >= 150, "only %d draws" % w.sizes["draw"])
    check(bool(numpy.isfinite(w.values).all()), "w holds what is not finite")
    return w


def check_stats(path, w, run):
    stats = xarray.open_dataset(path, group="sample_stats")
    for name in STATS:
        check(name in stats, "sample_stats has no %s: %s" % (name, list(stats)))
        if name in stats:
            check(stats[name].dims == ("chain", "draw"), "dims of %s" % name)
            check(stats[name].shape == w.shape[:2], "shape of %s" % name)
    for name in ("chain", "draw"):
        check((stats.coords[name].values == w.coords[name].values).all(), "coordinate %s" % name)
    if all(name in stats for name in STATS):
        check((stats["k"].values == run["band"]).all(), "k is another")
        check(0 < stats["bounces"].values.sum() <= run["bounces"], "bounces")
        check(0 < stats["proposals"].values.sum() <= run["proposals"], "proposals")
        check((stats["potential"].values > 0).all(), "potential of a logistic table is above 0")


def check_attributes(path, run):
    attributes = xarray.open_dataset(path, group="posterior").attrs
    if "inference_library" not in attributes:
        attributes = xarray.open_dataset(path).attrs
    check(attributes.get("inference_library") == "sbps", "inference_library")
    check(attributes.get("inference_library_version") == run["version"], "version")
    check(attributes.get("created_at") == run["created_at"], "created_at")
    text = {str(k).replace("_", "-"): str(v) for k, v in attributes.items()}
    found = {k.split("-", 1)[-1] if k.startswith("option-") else k: v for k, v in text.items()}
    for name, value in (("seed", 7), ("chains", 3), ("draws", 150), ("ess", 120)):
        check(name in found and float(found[name]) == value, "option %s: %s" % (name, found.get(name)))
    check(found.get("model") == "logistic" and found.get("target") == "y", "model and target")


def check_csv(path, w):
    header, rows = read_csv(path)
    coef = list(w.coords["coef"].values)
    check(header[:2] == ["chain", "draw"], "header %s" % header)
    columns = [header.index(name) for name in coef]
    values = numpy.array([[float(row[c]) for c in columns] for row in rows])
    check(len(rows) == w.sizes["chain"] * w.sizes["draw"], "%d rows" % len(rows))
    check(values.tobytes() == w.values.reshape(values.shape).tobytes(), "draws differ from the CSV")


def check_summary(path, w):
    """q50 of the summary is the median of the draws."""
    for parameter in json.loads(sbps("summary", path, "--json"))["parameters"]:
        median = float(numpy.median(w.sel(coef=parameter["name"]).values))
        check(abs(median - parameter["q50"]) <= 1e-12 * abs(median), "q50 of " + parameter["name"])


def main():
    sbps("simulate", "logistic", "--rows", "1500", "--dim", "3", "--seed", "2", "-o", "data.csv")
    sample = ["sample", "data.csv", "--model", "logistic", "--target", "y", *OPTIONS]
    sbps(*sample, "-o", "run.nc")
    sbps(*sample, "-o", "run.csv")
    run = json.loads(sbps("summary", "run.nc", "--json"))["run"]
    check_groups("run.nc")
    w = check_posterior("run.nc", ["intercept", "x1", "x2", "x3"])
    check_stats("run.nc", w, run)
    check_attributes("run.nc", run)
    check_csv("run.csv", w)
    check_summary("run.nc", w)
    print("xarray_opens: %d failures" % failures)
    return 1 if failures else 0


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    code = main()
    os.chdir("/")
sys.exit(code)
