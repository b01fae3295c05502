#!/usr/bin/python3
"""A posterior beside a point estimate: from a CSV to ESS 1000, against reading the file and fitting it, side by side.

    bench/point_estimate.py [--program build/sbps] [--rows 1e6] [--dim 20] [--repeats 5] [--folder DIR]

All on one core, in turn, medians of CPU seconds (user and system; others use the machine):
  sbps    sample FILE --model logistic --ess 1000 --threads 1: reading, set-up, sampling, the run file
  fread   data.table::fread of R on one thread
  newton  scikit-learn's LogisticRegression(solver="newton-cholesky"), the table in memory
  glm     R's glm.fit, the table in memory
The point estimates have no penalty worth the name, as sbps's default prior has none at such sizes."""
import argparse
import os
import statistics
import subprocess
import tempfile

FREAD = """
suppressMessages(library(data.table)); setDTthreads(1)
cost <- function(code) { t <- system.time(code); t[["user.self"]] + t[["sys.self"]] }
read <- cost(d <- fread("%(path)s"))
y <- d$y; x <- cbind(1, as.matrix(d[, -"y"]))
fit <- %(glm)s
cat(read, fit, "\\n")
"""
NEWTON = """
import resource, numpy
from sklearn.linear_model import LogisticRegression
def cost():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime
x, y = numpy.load("%(folder)s/x.npy"), numpy.load("%(folder)s/y.npy")
model = LogisticRegression(solver="newton-cholesky", C=1e6, tol=1e-6)
before = cost()
model.fit(x, y)
print(cost() - before)
"""
ONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def told(command, text=None):
    out = subprocess.run(command, input=text, check=True, capture_output=True, text=True, env={**os.environ, **ONE})
    return [float(word) for word in out.stdout.split()]


def cpu(command):
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={**os.environ, **ONE})
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def keep_arrays(path, folder):
    import numpy
    table = numpy.loadtxt(path, delimiter=",", skiprows=1)
    with open(path, encoding="utf-8") as file:
        at = file.readline().strip().split(",").index("y")
    numpy.save(os.path.join(folder, "y.npy"), table[:, at].astype(int))
    numpy.save(os.path.join(folder, "x.npy"), numpy.delete(table, at, axis=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="build/sbps")
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--dim", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder", default=None)
    a = parser.parse_args()
    folder = a.folder or tempfile.mkdtemp()
    path = os.path.join(folder, "table.csv")
    subprocess.run([a.program, "simulate", "logistic", "--rows", str(int(a.rows)), "--dim", str(a.dim), "--seed",
                    "1", "-o", path], check=True)
    keep_arrays(path, folder)
    at = {"path": path, "folder": folder}
    glm = {**at, "glm": "cost(glm.fit(x, y, family = binomial()))"}
    seen = {"sbps": [], "fread": [], "newton": [], "glm": []}
    for _ in range(a.repeats):
        seen["sbps"].append(cpu([a.program, "sample", path, "--model", "logistic", "--target", "y", "--ess", "1000",
                                 "--threads", "1", "--progress", "off", "-o", os.path.join(folder, "run.nc")]))
        read, fit = told(["Rscript", "-"], FREAD % glm)
        seen["fread"].append(read)
        seen["glm"].append(fit)
        seen["newton"] += told(["/usr/bin/python3", "-"], NEWTON % at)
    middle = {name: statistics.median(values) for name, values in seen.items()}
    print("CPU s, medians of %d: " % a.repeats + ", ".join(f"{name} {value:.2f}" for name, value in middle.items()))
    newton, r = middle["fread"] + middle["newton"], middle["fread"] + middle["glm"]
    print(f"fread and newton-cholesky over sbps: {newton / middle['sbps']:.2f}")
    print(f"fread and glm.fit over sbps: {r / middle['sbps']:.2f}")


main()
