#!/usr/bin/python3
"""Four ranks against trusted posteriors and against one process, from files sorted by the target; and the error that
a run states for looking at one rank's rows against its definition, worked out here.

Means may be 4 standard errors apart, of some twenty compared; what a run on ranks states of its error is measured on 32
points and 4 ranks, and may be off by a factor of 2; the bias, a square of it with a long tail, by 3."""
import csv
import io
import json
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
SBPS = os.path.realpath(os.environ.get("SBPS_PROGRAM", os.path.join(HERE, "../../build/sbps")))
REFERENCE = os.path.join(HERE, "../../../shared/reference")
LIMIT = 4.0
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1", "HWLOC_HIDE_ERRORS": "2"}


def call(words, ranks=1):
    if ranks > 1:
        words = ["mpirun", "-n", str(ranks)] + words
    done = subprocess.run(words, env={**os.environ, **MPI}, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.returncode}: {done.stderr[-400:]}")
    return done.stdout


def posterior(table, options, ranks):
    call([SBPS, "sample", table, "--progress", "off", "-o", "run.nc"] + options, ranks)
    rows = csv.DictReader(io.StringIO(call([SBPS, "summary", "run.nc", "--csv"])))
    report = json.loads(call([SBPS, "summary", "run.nc", "--json"]))["run"]
    return {row["name"]: row for row in rows}, report


def apart(name, found, trusted, allowed=0.0):
    """Messages about means and sds that differ too much; allowed: posterior sds."""
    for parameter, row in trusted.items():
        ours, sd = found[parameter], float(row["sd"])
        theirs = float(row.get("mcse") or row["mcse_mean"])
        error = math.hypot(float(ours["mcse"]), theirs) / sd
        away = (float(ours["mean"]) - float(row["mean"])) / sd
        if not abs(away) <= allowed + LIMIT * error:
            yield f"{name}: {parameter}: mean {away:+.3f} sd off, error {error:.3f}"
        spread = math.hypot(1 / math.sqrt(2 * float(ours["ess_bulk"])), 1 / math.sqrt(2 * float(row["ess_bulk"])))
        if not abs(float(ours["sd"]) / sd - 1) <= allowed + LIMIT * spread:
            yield f"{name}: {parameter}: sd {float(ours['sd']) / sd:.3f} of the other, error {spread:.3f}"


def trusted_posterior():
    table = os.path.join(REFERENCE, "logistic_10000.csv.gz")
    if not os.path.exists(table):
        print("the trusted posterior of ../shared is not there: left out")
        return
    with open(os.path.join(REFERENCE, "logistic_10000_posterior.csv"), encoding="utf-8") as file:
        trusted = {row["name"]: row for row in csv.DictReader(file)}
    options = ["--model", "logistic", "--target", "y", "--no-intercept", "--prior", "normal(0,10)"]
    found, report = posterior(table, options + ["--ess", "300", "--sampler", "hmc"], 4)
    yield from apart("hmc in step", found, trusted)
    found, report = posterior(table, options + ["--ess", "5000", "--draws", "5000"], 4)
    print(f"2500 rows a rank: rank_error {report['rank_error']:.2g}, rank_bias {report['rank_bias']:.2g}")
    if report["sampler"] != "sbps" or not 0.02 < report["rank_error"] < 0.4 or not 0.0005 < report["rank_bias"] < 0.02:
        yield f"{report['sampler']}, rank_error {report['rank_error']}, rank_bias {report['rank_bias']}"
    yield from apart("chains on ranks", found, trusted, report["rank_bias"])


def sort_by_target(path):
    with open(path, encoding="utf-8") as file:
        header, *lines = file.readlines()
    at = header.rstrip("\n").split(",").index("y")
    lines.sort(key=lambda line: float(line.rstrip("\n").split(",")[at]))
    with open(path, "w", encoding="utf-8") as file:
        file.writelines([header] + lines)


def one_process():
    for model, simulated in {"logistic": "logistic", "linear": "linear", "poisson": "poisson", "softmax": "ordinal"}.items():
        table = model + ".csv"
        call([SBPS, "simulate", simulated, "--rows", "60000", "--dim", "3", "--seed", "5", "-o", table])
        sort_by_target(table)
        options = ["--model", model, "--target", "y", "--ess", "2000", "--sampler", "sbps"]
        alone, _ = posterior(table, options, 1)
        found, report = posterior(table, options + ["--seed", "9"], 4)
        print(f"{model}: rank_error {report['rank_error']:.2g}")
        if not 0.0 <= report["rank_error"] < 0.02:
            yield f"{model}: rank_error {report['rank_error']}"
        yield from apart(model, found, alone, report["rank_bias"])


def stated_error():
    """(2) and (3) of inference/run/chains_on_ranks.c by their definitions."""
    import numpy
    call([SBPS, "simulate", "logistic", "--rows", "8192", "--dim", "4", "--seed", "6", "-o", "small.csv"])
    data = numpy.genfromtxt("small.csv", delimiter=",", names=True)
    y = data["y"]
    x = numpy.column_stack([data[name] for name in data.dtype.names if name != "y"])
    options = ["--model", "logistic", "--target", "y", "--no-intercept", "--prior", "normal(0,100)",
               "--sampler", "sbps", "--ess", "50", "--draws", "20"]
    runs = [posterior("small.csv", options + ["--seed", str(seed)], 4)[1] for seed in (1, 2, 3)]
    stated, moved = (math.sqrt(sum(report[name] ** 2 for report in runs) / len(runs)) for name in ("rank_error", "rank_bias"))
    w = numpy.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + numpy.exp(-x @ w))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + numpy.eye(len(w)) * 1e-4
        w = w + numpy.linalg.solve(hessian, x.T @ (y - p) - w * 1e-4)
    random = numpy.random.default_rng(1)
    draws = w + random.multivariate_normal(numpy.zeros(len(w)), numpy.linalg.inv(hessian), 300)
    eta, at = x @ draws.T, (x @ w)[:, None]
    loss = numpy.logaddexp(0, eta) - numpy.logaddexp(0, at)
    p = 1 / (1 + numpy.exp(-at))
    rest = loss - p * (eta - at) - 0.5 * p * (1 - p) * (eta - at) ** 2  # y drops out
    found, second = [], []
    for _ in range(50):
        shards = rest[random.permutation(len(y))].reshape(4, -1, rest.shape[1]).sum(1)
        error = 4 * shards - shards.sum(0)
        found.append(error.var(1).mean())
        second.append(((error - error.mean(1, keepdims=True)) ** 2 / 2).mean(0).var())  # parts are of equal size: no first order
    true, bias = math.sqrt(sum(found) / len(found)), math.sqrt(sum(second) / len(second))
    print(f"rank_error {stated:.4f}, by its definition {true:.4f}")
    if not 0.5 < stated / true < 2.0:
        yield f"rank_error {stated} is not {true}"
    print(f"rank_bias {moved:.2g}, by its definition {bias:.2g}")
    if not 1 / 3 < moved / bias < 3.0:
        yield f"rank_bias {moved} is not {bias}"


def sampled_error():
    """The same of ranks with more rows than are sampled: rank_sample.c."""
    import numpy
    rows, dim = 140000, 4
    call([SBPS, "simulate", "logistic", "--generate", "--rows", str(rows), "--dim", str(dim), "--seed", "7", "-o", "large.csv"])
    data = numpy.loadtxt("large.csv", delimiter=",", skiprows=1)
    y, x = data[:, 0], data[:, 1:]
    options = ["--generate", str(rows), "--dim", str(dim), "--data-seed", "7", "--model", "logistic", "--no-intercept",
               "--prior", "normal(0,100)", "--sampler", "sbps", "--ess", "50", "--draws", "20", "--progress", "off"]
    runs = []
    for seed in range(1, 7):
        call([SBPS, "sample", "-o", "made.nc", "--seed", str(seed)] + options, 2)
        runs.append(json.loads(call([SBPS, "summary", "made.nc", "--json"]))["run"])
    stated, moved = (math.sqrt(sum(report[name] ** 2 for report in runs) / len(runs)) for name in ("rank_error", "rank_bias"))
    w = numpy.zeros(dim)
    for _ in range(20):
        p = 1 / (1 + numpy.exp(-x @ w))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + numpy.eye(dim) * 1e-4
        w = w + numpy.linalg.solve(hessian, x.T @ (y - p) - w * 1e-4)
    random = numpy.random.default_rng(2)
    draws = w + random.multivariate_normal(numpy.zeros(dim), numpy.linalg.inv(hessian), 80)
    at = (x @ w)[:, None]
    e = x @ (draws - w).T
    p = 1 / (1 + numpy.exp(-at))
    rest = numpy.log1p(p * numpy.expm1(e)) - p * e - 0.5 * p * (1 - p) * e ** 2  # y drops out
    found, left = [], []
    cut = [-(-rows // 512) // 2 * 512, rows]  # as on ranks: in blocks of 512
    for _ in range(10):
        order = random.permutation(rows)
        shards = numpy.array([rest[order[: cut[0]]].sum(0), rest[order[cut[0]:]].sum(0)])
        error = shards * [[rows / cut[0]], [rows / (rows - cut[0])]] - shards.sum(0)
        error -= error.mean(1, keepdims=True)
        found.append(error.var(1).mean())
        left.append(error.mean(0).var() + (error ** 2 / 2).mean(0).var())
    true, bias = math.sqrt(sum(found) / len(found)), math.sqrt(sum(left) / len(left))
    print(f"from a sample: rank_error {stated:.3g}, by its definition {true:.3g}; rank_bias {moved:.2g}, {bias:.2g}")
    if not 0.5 < stated / true < 2.0:
        yield f"rank_error {stated} is not {true}"
    if not 1 / 3 < moved / bias < 3.0:
        yield f"rank_bias {moved} is not {bias}"


def main():
    try:
        version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        version = ""
    probe = subprocess.run([SBPS, "list", "models"], env={**os.environ, "OMPI_COMM_WORLD_SIZE": "2"},
                           capture_output=True, text=True, check=False) if version else None
    if "Open MPI" not in version or "without MPI" in probe.stderr:
        print("skipped: no mpirun of Open MPI, or built without MPI")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        wrong = [sentence for check in (stated_error, sampled_error, one_process, trusted_posterior) for sentence in check()]
        os.chdir(HERE)
    print("\n".join(wrong) or "nothing wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
