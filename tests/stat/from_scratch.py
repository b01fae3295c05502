#!/usr/bin/python3
"""`--paper` against examples/sbps_from_scratch.py, an independent program in plain numpy.

Both programs sample the same logistic posterior. Every run starts at the mode with the uninformed slope prior and makes the
same number of proposals. If both programs are right, their runs have the same distribution, start-up included. Means over
runs with independent seeds are compared:

  - violations per proposal, proposals per bounce, and the mean time of a segment;
  - for each weight the posterior mean, in sd of Laplace's approximation, and the mean square about the mode, in units of
    its variance there.

Each difference is divided by its standard error, from the scatter of the runs; the limit is MAX_Z.

The comparison must reject a wrong program. `sbps` with another setting must be beyond the limit, and so must the numpy
program with one line broken (SBPS_LENGTH=full). Every block of Python in docs/from-scratch.md must be in the numpy program
word for word, and the first example of the page must print what the page shows.

    SBPS_PROGRAM=build/sbps tests/stat/from_scratch.py"""
import json
import os
import re
import subprocess
import sys
import tempfile
import types

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # matrices are tiny
try:
    import numpy as np
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

ROOT = os.environ.get("SBPS_SOURCE_DIR") or os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
PROGRAM = os.path.abspath(os.environ.get("SBPS_PROGRAM") or os.path.join(ROOT, "build", "sbps"))
SOURCE = os.path.join(ROOT, "examples", "sbps_from_scratch.py")
PAGE = os.path.join(ROOT, "docs", "from-scratch.md")
MAX_Z = 5.0
LINES_MAX = 80
FULL = os.environ.get("SBPS_LENGTH", "") != ""
PROPOSALS = 20000  # of a run
BATCH = 100
RUNS_NUMPY, RUNS_PROGRAM = (16, 60) if FULL else (8, 24)
RUNS_BROKEN = 8
OTHER_SETTINGS = [["--band", "2.5"], ["--pool-variance", "on"], ["--lack-of-fit", "on"]]
MORE_SETTINGS = [["--batch-size", "80"], ["--bounce-batch", "fresh"], ["--slope-prior", "hessian"], ["--slope-evidence", "rejected"]]
# a text of the numpy program, and what replaces it
BROKEN = {
    "reflection with the wrong sign": ("v = v - 2 * (v", "v = -v + 2 * (v"),
    "reflection halved": ("v = v - 2 * (v", "v = v - 1 * (v"),
    "no N/n in the gradient": ("total / n * (residual", "(residual"),
    "no N^2/n in the variance": ("total**2 / n * (1", "(1"),
    "no finite population correction": ("total**2 / n * (1 - n / total)", "total**2 / n"),
    "k = 2.5": ("K = 3.0", "K = 2.5"),
    "k = 2.9": ("K = 3.0", "K = 2.9"),
    "rows with replacement": ("replace=False", "replace=True"),
    "G~ after a bounce, not -G~": ("(0.0, -slope, c2)", "(0.0, slope, c2)"),
    "first observation without weight": ("(0.0, -slope, c2)", "(0.0, -slope, 1e6 * c2)"),
    "slope prior not learned": ("mu, s2 = learn_prior(seen, mu, s2)", "pass"),
    "slope prior learned without the bounce": ("learn_prior(seen, mu, s2)\n", "learn_prior(seen[:-1], mu, s2) if len(seen) > 2 else (mu, s2)\n"),
    "accepted above the ratio": ("rng.random() < slope", "rng.random() > slope"),
    "no uncertainty of the fit": ("v00 + 2 * v01 * t + v11 * t * t + c2[-1]", "c2[-1]"),
    "no noise of the next observation": ("v11 * t * t + c2[-1]", "v11 * t * t"),
}


def load(broken=None):
    """The numpy program as a module; `broken` is a pair of texts."""
    with open(SOURCE, encoding="utf-8") as file:
        text = file.read()
    if broken:
        assert text.count(broken[0]) == 1, broken
        text = text.replace(*broken)
    module = types.ModuleType("sbps_from_scratch")
    exec(compile(text, SOURCE, "exec"), module.__dict__)
    return module


def laplace(x, y, prior_sd):
    """Mode, and the variances of the normal approximation there, by Newton's method."""
    w = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ w))
        hessian = (x.T * (p * (1 - p))) @ x + np.eye(len(w)) / prior_sd**2
        w = w - np.linalg.solve(hessian, x.T @ (p - y) + w / prior_sd**2)
    return w, np.diag(np.linalg.inv(hessian))


class Case:
    """A table, its mode, and runs of both programs on it."""

    def __init__(self, folder, dim, rows):
        self.table = os.path.join(folder, f"{dim}.csv")
        subprocess.run([PROGRAM, "simulate", "logistic", "--rows", str(rows), "--dim", str(dim), "--seed", "1", "-o", self.table],
                       check=True, capture_output=True)
        values = np.loadtxt(self.table, delimiter=",", skiprows=1)
        self.y, self.x = values[:, 0], values[:, 1:]
        self.mode, self.variances = laplace(self.x, self.y, 10.0)
        self.names = ["violations per proposal", "proposals per bounce", "length of a segment"]
        self.names += [f"mean of x{j + 1}, sd" for j in range(dim)] + [f"square of x{j + 1}" for j in range(dim)]

    def quantities(self, violations, proposals, bounces, time, mean, square):
        """`square`: about the mode."""
        return np.concatenate([[violations / proposals, proposals / bounces, time / bounces],
                               (mean - self.mode) / np.sqrt(self.variances), square / self.variances])

    def by_numpy(self, module, seed):
        with np.errstate(over="ignore"):
            path, violations = module.sample(self.x, self.y, self.mode, PROPOSALS, np.random.default_rng(seed))
        corners, times = np.array([w for _, w in path]), np.array([t for t, _ in path[1:]])
        time, a, b = times.sum(), corners[:-1] - self.mode, corners[1:] - self.mode
        mean = self.mode + times @ (a + b) / 2 / time
        return self.quantities(violations, PROPOSALS, len(times), time, mean, times @ (a * a + a * b + b * b) / 3 / time)

    def by_program(self, seed, settings=()):
        with tempfile.TemporaryDirectory() as folder:
            run, path = (os.path.join(folder, name) for name in ("run.nc", "path.csv"))
            batch = int(settings[1]) if settings and settings[0] == "--batch-size" else BATCH
            epochs = PROPOSALS * batch // len(self.x)
            subprocess.run([PROGRAM, "sample", self.table, "--model", "logistic", "--target", "y", "--no-intercept",
                            "--prior", "normal(0,10)", "--paper", "--chains", "1", "--warmup", "0", "--spread", "0",
                            "--epochs", str(epochs), "--threads", "1", "--draws", "4", "--seed", str(seed), "--progress", "off",
                            "--skeleton", path, *settings, "-o", run], check=True, capture_output=True)
            summary = json.loads(subprocess.run([PROGRAM, "summary", "--json", run], check=True, capture_output=True).stdout)
            with open(path, encoding="utf-8") as file:
                time = float(file.readlines()[-1].split(",")[1])
        of_run, parameters = summary["run"], summary["parameters"]
        mean, sd = (np.array([p[what] for p in parameters]) for what in ("mean", "sd"))
        return self.quantities(of_run["violations"], of_run["proposals"], of_run["bounces"], time, mean,
                               sd**2 + (mean - self.mode)**2)


def compare(one, two):
    """z of the difference of every quantity."""
    one, two = np.array(one), np.array(two)
    error = np.sqrt(one.var(axis=0, ddof=1) / len(one) + two.var(axis=0, ddof=1) / len(two))
    return (one.mean(axis=0) - two.mean(axis=0)) / error


def rejected(what, names, one, two):
    """True when a wrong program differs by more than the limit, as it must; prints its z."""
    z = compare(one, two)
    largest = int(np.nanargmax(np.abs(z)))
    print(f"  wrong: {what:40s} z = {z[largest]:+7.1f} ({names[largest]})", flush=True)
    if abs(z[largest]) > MAX_Z:
        return True
    print("FAILED: the comparison does not reject it")
    return False


def check_agreement(case, ours, theirs):
    z = compare(ours, theirs)
    for name, a, b, score in zip(case.names, np.mean(ours, axis=0), np.mean(theirs, axis=0), z):
        print(f"  {name:24s} --paper {a:9.5f}  numpy {b:9.5f}  z = {score:+.2f}", flush=True)
    if np.all(np.abs(z) <= MAX_Z):
        return 0
    print("FAILED: the two programs differ")
    return 1


def check_case(folder, dim, rows, settings, broken):
    case, failures = Case(folder, dim, rows), 0
    theirs = [case.by_numpy(load(), 100 + i) for i in range(RUNS_NUMPY)]
    ours = [case.by_program(200 + i) for i in range(RUNS_PROGRAM)]
    print(f"d = {dim}, N = {rows}: {RUNS_PROGRAM} runs of --paper, {RUNS_NUMPY} of numpy, {PROPOSALS} proposals each")
    failures += check_agreement(case, ours, theirs)
    for option in settings:
        wrong = [case.by_program(300 + i, option) for i in range(RUNS_PROGRAM // 2)]
        failures += not rejected(" ".join(option), case.names, wrong, theirs)
    for what, texts in broken.items():
        try:
            wrong = [case.by_numpy(load(texts), 400 + i) for i in range(RUNS_BROKEN)]
        except OverflowError as error:
            print(f"  wrong: {what:40s} {error}", flush=True)
            continue
        failures += not rejected(what, case.names, ours, wrong)
    return failures


def check_page():
    """The page quotes the program as it is, and the program is short."""
    with open(SOURCE, encoding="utf-8") as file:
        program = file.read()
    with open(PAGE, encoding="utf-8") as file:
        blocks = re.findall(r"^```python\n(.*?)^```", file.read(), flags=re.S | re.M)
    failures = 0
    if not blocks or program.count("\n") > LINES_MAX:
        print(f"FAILED: {len(blocks)} blocks of Python in {PAGE}, {program.count(chr(10))} lines in {SOURCE}")
        failures += 1
    for block in blocks:
        if block not in program:
            print(f"FAILED: {PAGE} has a block that is not in {SOURCE}:\n{block}")
            failures += 1
    return failures


def numbers(text):
    return np.array([float(word) for word in re.findall(r"-?[0-9.]*[0-9]", text)])


def check_example():
    """The page's first example runs and prints the page's numbers; other versions of numpy draw other random numbers."""
    with open(PAGE, encoding="utf-8") as file:
        code, shown = re.findall(r"(?:^    .*\n|^\n(?=    ))+", file.read().split("\n## ")[0], flags=re.M)[0].rsplit("\n\n", 1)
    done = subprocess.run([sys.executable, "-B", "-c", re.sub(r"^    ", "", code.strip("\n"), flags=re.M)], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.path.dirname(SOURCE)})
    printed, page = numbers(done.stdout), numbers(shown)
    near = printed.shape == page.shape == (7,) and np.all(np.abs(printed[:5] - page[:5]) < 0.1) and np.all(np.abs(printed[5:] / page[5:] - 1) < 0.5)
    if near:
        return 0
    print(f"FAILED: the example prints\n{done.stdout}{done.stderr}and the page shows\n{shown}")
    return 1


def main():
    failures = check_page() + check_example()
    with tempfile.TemporaryDirectory() as folder:
        failures += check_case(folder, 5, 1000, OTHER_SETTINGS + MORE_SETTINGS * FULL, BROKEN if FULL else {})
        if FULL:
            failures += check_case(folder, 20, 1000, [], {})
    print(f"{failures} failures")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
