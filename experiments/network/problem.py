"""The softmax layer of Figure 6: its table, its potential, its trusted posterior; and the same data
under a hidden layer."""
import csv
import os

import numpy

import mnist
from lab.logistic import laplace

PRIOR = "normal(0,31.6228)"  # c = 0.001
CLASSES = 4


class Problem:
    """data, x (with the intercept's 1), y, test_x, test_y; batch, and names of the softmax model's
    parameters."""

    def __init__(self, lab):
        self.lab = lab
        if lab.level == "smoke":
            self.columns, train, test, self.batch = *small(), 50
        else:
            paths = mnist.find(lab.shared_data)
            with open(paths[0]) as file:
                self.columns = file.readline().strip().split(",")[1:]
            train, test = (numpy.loadtxt(path, delimiter=",", skiprows=1) for path in paths)
            train[:, 1:], test[:, 1:], self.batch = train[:, 1:] / 4080, test[:, 1:] / 4080, 500
        self.x, self.y = with_intercept(train)
        self.test_x, self.test_y = with_intercept(test)
        self.n, self.d = len(self.y), CLASSES * self.x.shape[1]
        self.names = [f"{k}:{c}" for k in range(CLASSES) for c in ["intercept", *self.columns]]
        self.data = self.write("train.csv", self.x[:, 1:])
        self.model = ["--model", "softmax", "--target", "label", "--prior", PRIOR,
                      "--prior-intercept", PRIOR]
        self.zero = self.point("zero.csv", self.names, numpy.zeros(self.d))

    def write(self, name, features, weight=None, labels=None):
        """A table of these features; with a column of weights where one is given, with other labels
        where given."""
        path, columns, head = self.lab.file(name), [self.y if labels is None else labels,
                                                    features], ["label", *self.columns]
        if weight is not None:
            columns, head = [*columns, numpy.full(self.n, weight)], [*head, "weight"]
        numpy.savetxt(path, numpy.column_stack(columns), fmt="%.9g", delimiter=",", comments="",
                      header=",".join(head))
        return path

    def point(self, name, names, w, variance=None):
        """A file for --start; with a variance it brings a covariance along, so that no Hessian is
        needed there."""
        path = self.lab.file(name)
        with open(path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["name", "mean"] + ([f"cov:{n}" for n in names] if variance else []))
            for j, (n, value) in enumerate(zip(names, w)):
                writer.writerow([n, f"{value:.17g}"] + ([variance if i == j else 0
                                                         for i in range(len(names))] if variance
                                                        else []))
        return path

    def sample(self, *options, data=None):
        return self.lab.sample(data or self.data, *self.model, *options)

    def truth(self):
        """Draws [draw, parameter] of `hmc` with its dense metric, one chain after the other, each
        without its first tenth; made once."""
        goal = self.lab.pick(200, 3000, 16000)
        path = os.path.join(self.lab.shared_data, f"network_{self.lab.level}_truth_{goal}.npy")
        if not os.path.exists(path):
            run = self.sample("--sampler", "hmc", "--seed", 99, "--ess", goal, "--chains", 2,
                              "--draws", goal // 2)
            kept = run.w[:, run.w.shape[1] // 10:]
            numpy.save(f"{path}.{os.getpid()}.npy", kept.reshape(-1, self.d).astype(numpy.float32))
            os.replace(f"{path}.{os.getpid()}.npy", path)
        return numpy.load(path).astype(float)

    def laplace(self):
        return laplace(self.lab, self.data, self.model)

    def nll(self, w, x=None, y=None):
        """Minus the log-likelihood summed over rows, of w[draw, parameter]."""
        x, y = (self.x, self.y) if x is None else (x, y)
        return numpy.array([cross_entropy(x @ one.reshape(CLASSES, -1).T, y) for one in w])

    def hidden_nll(self, w):
        """The same of the network with four hidden units."""
        p = self.x.shape[1]

        def scores(one):
            hidden = numpy.tanh(self.x @ one[: 4 * p].reshape(4, p).T)
            return hidden @ one[4 * p:].reshape(CLASSES, 5)[:, 1:].T + one[4 * p::5]
        return numpy.array([cross_entropy(scores(one), self.y) for one in w])

    def hidden_names(self):
        first = [f"l1:{u}:{c}" for u in range(1, 5) for c in ["intercept", *self.columns]]
        return first + [f"l2:{k}:{c}" for k in range(CLASSES)
                        for c in ["intercept", "u1", "u2", "u3", "u4"]]

    def test_loss(self, w):
        """Minus the log posterior predictive probability per row of the test set."""
        total = 0
        for one in w:
            score = self.test_x @ one.reshape(CLASSES, -1).T
            total = total + numpy.exp(score[numpy.arange(len(self.test_y)), self.test_y]
                                      - numpy.logaddexp.reduce(score, axis=1))
        return float(-numpy.log(numpy.maximum(total / len(w), 1e-300)).mean())


def cross_entropy(score, y):
    return float((numpy.logaddexp.reduce(score, axis=1) - score[numpy.arange(len(y)), y]).sum())


def with_intercept(table):
    return numpy.column_stack([numpy.ones(len(table)), table[:, 1:]]), table[:, 0].astype(int)


def small():
    """Five columns, four classes, 400 rows: to see that everything runs."""
    random = numpy.random.default_rng(1)
    w, x = random.normal(0, 3, (CLASSES, 5)), random.random((600, 5))
    y = (x @ w.T + random.gumbel(size=(600, CLASSES))).argmax(axis=1)
    rows = numpy.column_stack([y, x])
    return [f"x{j}" for j in range(1, 6)], rows[:400], rows[400:]
