"""The logistic regression of the paper's 7.1, which seven of its figures are about: d weights from
U[-5,5], rows from a normal with variances (first, 1, ..., 1), no intercept. The paper names no
prior; ours is normal(0, 10)."""
import csv
import os
import threading

import numpy

PRIOR_SD = 10.0
MODEL = ["--model", "logistic", "--target", "y", "--no-intercept", "--prior",
         f"normal(0,{PRIOR_SD:g})"]


class Logistic:
    """A table with what is known of its posterior.

    data               the CSV file
    x, y, n, d         its numbers
    mode, covariance   Laplace's approximation, by `sbps laplace`
    directions         {"largest": v, "smallest": v}: eigenvectors of the covariance"""

    def __init__(self, lab, rows=1000, dim=20, seed=1, first_variance=6.0):
        self.lab, self.n, self.d = lab, rows, dim
        self.data = (os.path.join(lab.shared_data,
                                  f"logistic_{rows}_{dim}_{seed}_{first_variance:g}.csv"))
        if not os.path.exists(self.data):
            self.simulate(seed, first_variance)
        table = numpy.loadtxt(self.data, delimiter=",", skiprows=1)
        self.y, self.x = table[:, 0], table[:, 1:]
        self.mode, self.covariance = laplace(lab, self.data, MODEL)
        _, vectors = numpy.linalg.eigh(self.covariance)
        vectors *= numpy.sign(vectors[numpy.abs(vectors).argmax(axis=0), numpy.arange(dim)])
        self.directions = {"largest": vectors[:, -1], "smallest": vectors[:, 0]}

    def simulate(self, seed, first_variance):
        new = f"{self.data}.{os.getpid()}"
        if first_variance == 6.0:
            self.lab.call("simulate", "logistic", "--rows", self.n, "--dim", self.d, "--seed", seed,
                          "-o", new)
        else:
            random = numpy.random.default_rng(seed)
            w = random.uniform(-5, 5, self.d)
            x = random.standard_normal((self.n, self.d))
            x[:, 0] *= numpy.sqrt(first_variance)
            y = random.random(self.n) < 1 / (1 + numpy.exp(-x @ w))
            numpy.savetxt(new, numpy.column_stack([y, x]), fmt=["%d"] + ["%.9g"] * self.d,
                          delimiter=",", comments="",
                          header="y," + ",".join(f"x{j + 1}" for j in range(self.d)))
        os.replace(new, self.data)

    def sample(self, *options, **what):
        return self.lab.sample(self.data, *MODEL, *options, **what)

    def random_start(self, seed):
        """Options that put every chain exactly at a random point, a draw of the distribution of the
        true weights, without warm-up; the same seed is the same point."""
        w = numpy.random.default_rng(1000 + seed).uniform(-5, 5, self.d)
        return ["--start", self.point(f"start_{seed}.csv", w), "--spread", "0", "--warmup", "0"]

    def laplace_start(self, seed, factor):
        """The same at a draw of the normal at the mode with `factor` times Laplace's covariance.
        The authors' public notebook starts from this distribution with 100 (the paper has "random
        positions")."""
        z = numpy.random.default_rng(2000 + seed).standard_normal(self.d)
        w = self.mode + numpy.sqrt(factor) * numpy.linalg.cholesky(self.covariance) @ z
        return ["--start", self.point(f"laplace_start_{seed}_{factor:g}.csv", w), "--spread", "0",
                "--warmup", "0"]

    def mode_start(self):
        """The same at the mode."""
        return ["--start", self.point("mode.csv", self.mode), "--spread", "0", "--warmup", "0"]

    def point(self, name, w):
        path = self.lab.file(name)
        new = f"{path}.{threading.get_ident()}"  # runs side by side write the same points
        with open(new, "w") as file:
            file.write("name,value\n" + "".join(f"x{j + 1},{v:.17g}\n" for j, v in enumerate(w)))
        os.replace(new, path)
        return path

    def nll(self, w):
        """Minus the log-likelihood per row, of w[..., parameter]."""
        flat = numpy.reshape(w, (-1, self.d))
        eta = flat @ self.x.T
        value = numpy.logaddexp(0, eta).sum(axis=1) - eta @ self.y
        return value.reshape(numpy.shape(w)[:-1]) / self.n

    def laplace_nll(self):
        """Mean and sd of the NLL per row under Laplace's approximation: NLL(mode)/N +
        chi^2(d)/2N."""
        return (float(self.nll(self.mode)) + self.d / (2 * self.n),
                numpy.sqrt(2 * self.d) / (2 * self.n))

    def truth(self, ess=None):
        """(mean, sd, standard errors of the mean) of the posterior by a long run of `hmc`, made
        once."""
        goal = ess or self.lab.pick(500, 5000, 40000)
        path = f"{self.data[:-4]}_truth_{goal}.csv"
        if not os.path.exists(path):
            run = self.sample("--sampler", "hmc", "--seed", 99, "--ess", goal)
            new = f"{path}.{os.getpid()}"
            numpy.savetxt(new, numpy.column_stack([run.mean, run.sd, run.mcse]), delimiter=",",
                          fmt="%.17g")
            os.replace(new, path)
        return numpy.loadtxt(path, delimiter=",").T

    def truth_draws(self, ess=None):
        """Draws [draw, parameter] of the same kind of run, for what moments do not say."""
        goal = ess or self.lab.pick(500, 5000, 40000)
        path = f"{self.data[:-4]}_draws_{goal}.npy"
        if not os.path.exists(path):
            run = self.sample("--sampler", "hmc", "--seed", 98, "--ess", goal, "--draws",
                              max(1000, goal // 8))
            new = f"{path}.{os.getpid()}.npy"
            numpy.save(new, run.w.reshape(-1, self.d))
            os.replace(new, path)
        return numpy.load(path)


def laplace(lab, data, model):
    """Mode and covariance there, in the order of the table's columns."""
    lines = list(csv.DictReader(lab.call("laplace", data, *model, "--csv").splitlines()))
    names = [line["name"] for line in lines]
    mean = numpy.array([float(line["mean"]) for line in lines])
    return mean, numpy.array([[float(line[f"cov:{name}"]) for name in names] for line in lines])
