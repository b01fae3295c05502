"""Figure 5: the mean of f(w) = sin((w_1 - mode_1)/r) along the path against the mean over discrete
samples of it.

The paper: posterior and settings of Figure 4 (logistic, N = 1000, d = 20, n = 100, k = 3), r/b from
1 down to 10^-2, where b is the average length of a segment, about 0.02; running means at both ends,
and the absolute error after 1000 epochs over 5 runs. It does not state the number of discrete
samples; in Figure 4 they are as many as mini-batches, at equal times, and so they are here. Beside
them the points of the bounces.

A segment from a with velocity u and duration t contributes t sin(m/r) sinc(ut/2r), m its middle;
nothing is approximated. Its length is the distance between two bounces. As published that is 0.14
here; from proposal to proposal it is 0.02, which may be the paper's b. Both axes are drawn.

The expectation is not 0 where r is as large as the posterior's sd (0.16), for the mean is an sd
away from the mode: it is taken from a long run of `hmc` there. For small r it is the characteristic
function at 1/r and vanishes.

"The advantage diminishes with noise": n = 50, 100 and 500 as published, `bps` on the full data (no
noise), and our default.

A path is lost if its median NLL is more than 10 sd above Laplace's mean. Lost paths are counted and
left out."""
import math

import numpy

from lab import mean_error, near_limit
from lab.logistic import Logistic
from lab.text import markdown, show

TITLE = "Figure 5: averages along the path"

RATIOS = [10 ** (-i / 4) for i in range(-2, 13)]    # r/b
RADII = [3e-4, 1e-3, 3e-3, 1e-2]                    # r of the gains; E f is 0 for all of them
SETTINGS = {
    "n=50": ["--paper", "--batch-size", 50],
    "n=100": ["--paper"],
    "n=500": ["--paper", "--batch-size", 500],
    "full": ["--sampler", "bps", "--metric", "none", "--refresh-rate", 0],
    "default": [],
}
ESTIMATORS = ["continuous", "bounces", "batches", "points"]
SHORT = 0.04    # "r/b << 1": from here down
BLOCKS = 10     # parts of a run for the gains: for small r these are independent
R = 1e-3        # of the gains that are quoted


def density_at_zero(dim):
    """Of one coordinate of a uniform direction: what the error along the path depends on, see
    page.md."""
    return math.gamma(dim / 2) / math.gamma((dim - 1) / 2) / math.sqrt(math.pi)


class Trajectory:
    """Segments of a path: middle and half the displacement in w_1 (from the mode), duration and
    length."""

    def __init__(self, path, proposals, mode):
        u = path.u[:-1]
        self.path, self.mode, self.proposals = path, mode, proposals
        self.time = numpy.diff(path.time)
        self.half = u[:, 0] * self.time / 2
        self.middle = path.w[:-1, 0] - mode + self.half
        self.length = numpy.linalg.norm(u, axis=1) * self.time
        self.bounces = int(path.bounce.sum())

    def along(self, r):
        """Integrals of f over the segments."""
        return self.time * numpy.sin(self.middle / r) * numpy.sinc(self.half / r / numpy.pi)

    def uniform(self, count, r):
        """f at `count` equal times, half a step from the ends."""
        end = self.path.time[-1]
        return numpy.sin((self.path.at((numpy.arange(count) + 0.5) * end / count)[:, 0]
                          - self.mode) / r)

    def means(self, r):
        """Of each of the ESTIMATORS: along the path, at equal times as many as bounces, as many as
        mini-batches, at the bounces."""
        return [self.along(r).sum() / self.time.sum(), self.uniform(self.bounces, r).mean(),
                self.uniform(int(self.proposals), r).mean(),
                numpy.sin((self.path.w[self.path.bounce, 0] - self.mode) / r).mean()]

    def blocks(self, r):
        """The first three for BLOCKS pieces of the path [block, estimator]."""
        parts = numpy.array_split(numpy.arange(len(self.time)), BLOCKS)
        along = self.along(r)
        path = [along[part].sum() / self.time[part].sum() for part in parts]
        others = [[piece.mean() for piece in numpy.array_split(self.uniform(int(count), r), BLOCKS)]
                  for count in (self.bounces, self.proposals)]
        return numpy.array([path, *others]).T


def sample_paths(lab, posterior, way, runs, epochs):
    """Independent paths of equal length in epochs, from the posterior, and the number of lost ones,
    left out: warm-up is discarded."""
    per = lab.pick(8, 4, 5)

    def one(seed):
        return posterior.sample(*SETTINGS[way], "--chains", per, "--spread", 1, "--seed", seed,
                                "--epochs", epochs * per, *(
            [] if way == "default" else ["--warmup", 500 if way == "full"
                                         else lab.pick(1000, 5000, 5000)]), skeleton=True)
    found = lab.map(one, range(1, runs // per + 1))
    mean, sd = posterior.laplace_nll()
    every = [(path, run.info["proposals"] / per) for run in found for path in run.paths]
    kept = ([(path, proposals) for path, proposals in every
             if numpy.median(posterior.nll(path.uniform(100))) < mean + 10 * sd])
    return ([Trajectory(path, proposals, posterior.mode[0]) for path, proposals in kept],
            len(every) - len(kept))


def expectation(lab, posterior):
    """r -> E f: from the draws of a long hmc run, and 0 where a normal's characteristic function is
    below 10^-3."""
    goal = lab.pick(500, 5000, 20000)
    run = posterior.sample("--sampler", "hmc", "--seed", 77, "--ess", goal, "--draws", goal)
    x = run.w[:, :, 0].ravel() - posterior.mode[0]
    lab.fact("sd", x.std())
    lab.fact("from_mode", x.mean() / x.std(), None, "sd")

    def value(r):
        return float(numpy.sin(x / r).mean()) if numpy.exp(-(x.std() / r) ** 2 / 2) > 1e-3 else 0.0
    return value


def root(values):
    """Root mean square of errors over runs, and its standard error."""
    mean, error = mean_error(numpy.square(values))
    return numpy.sqrt(mean), error / (2 * numpy.sqrt(mean))


def running(lab, path, b, truth):
    """Running means of one path at r/b = 1 and 10^-2 by epochs."""
    rows = []
    epochs = path.path.rows / 1000
    marks = numpy.geomspace(10, epochs[-1], 200)
    cut = numpy.searchsorted(epochs, marks, side="right").clip(2, len(epochs)) - 1
    for ratio in (1, 0.01):
        r = ratio * b
        along = numpy.concatenate([[0], numpy.cumsum(path.along(r))])
        f = path.uniform(path.bounces, r)
        sums = numpy.concatenate([[0], numpy.cumsum(f)])
        for mark, i in zip(marks, cut):
            count = max(1, int(path.path.time[i] / path.path.time[-1] * len(f)))
            rows.append([ratio, mark, along[i] / path.path.time[i], sums[count] / count, truth(r)])
    lab.table("running", ["ratio", "epochs", "continuous", "discrete", "truth"], rows)


def errors_by_ratio(paths, b, truth):
    """A row per ratio: root mean square and mean absolute errors of every estimator, with their
    standard errors."""
    rows = []
    for ratio in RATIOS:
        expected = truth(ratio * b)
        each = numpy.array([path.means(ratio * b) for path in paths]) - expected
        cells = ([cell for errors in each.T
                  for cell in (*root(errors), *mean_error(numpy.abs(errors)))])
        rows.append([ratio, ratio * b, expected, *cells])
    return rows


def quotient(a, b):
    """Of two numbers with errors, with its error."""
    return a[0] / b[0], a[0] / b[0] * numpy.hypot(a[1] / a[0], b[1] / b[0])


def gain_of(paths, r):
    """How many times larger the root mean square error is with one sample per bounce and with one
    per mini-batch; and the error of the mean along the path for one unit of length."""
    each = numpy.concatenate([path.blocks(r) for path in paths])
    length = sum(path.length.sum() for path in paths) / len(each)
    along, bounces, batches = (root(each[:, i]) for i in range(3))
    return {"bounces": quotient(bounces, along), "batches": quotient(batches, along),
            "unit": (along[0] * math.sqrt(length), along[1] * math.sqrt(length))}


def run(lab):
    posterior = Logistic(lab)
    truth = expectation(lab, posterior)
    runs, epochs = lab.pick(16, 40, 100), lab.pick(100, 1000, 1000)
    curve, rows, gain, b = [], [], {}, {}
    lab.fact("runs", runs)
    for way in SETTINGS:
        paths, lost = sample_paths(lab, posterior, way, runs, epochs * (5 if way == "full" else 1))
        lab.fact(f"{way.replace('=', '')}_lost", lost)
        length = sum(path.length.sum() for path in paths)
        b[way] = length / sum(path.bounces for path in paths)
        step = length / sum(path.proposals for path in paths)
        if way == "n=100":
            running(lab, paths[0], b[way], truth)
            curve = errors_by_ratio(paths, b[way], truth)
        found = {r: gain_of(paths, r) for r in RADII}
        rows += [[way, r, b[way], step, *found[r]["bounces"], *found[r]["batches"],
                  *found[r]["unit"]] for r in RADII]
        gain[way] = found[R]
        facts(lab, way, b[way], step, gain[way],
              length / sum(path.path.rows[-1] for path in paths) * 1000 * posterior.n)
    lab.table("error", ["ratio", "r", "truth", *(name + part for name in ESTIMATORS
                                                 for part in ("", "_error", "_abs", "_abs_error"))],
              curve)
    lab.table("gain", ["series", "r", "b", "step", "bounces", "bounces_error", "batches",
                       "batches_error", "unit", "unit_error"], rows)
    theory = math.sqrt(math.pi * density_at_zero(posterior.d) * R)
    lab.table("theory", ["unit", "density"], [[theory, density_at_zero(posterior.d)]])
    lab.fact("theory_unit", theory)
    step = next(row[3] for row in rows if row[0] == "n=100")
    lab.table("lengths", ["b", "step"], [[b["n=100"], step]])
    lab.condition("steps_are_theirs", abs(step - 0.02) < 0.01 < abs(b["n=100"] - 0.02))
    lab.fact("truth_one", truth(b["n=100"]))
    claims(lab, curve, gain, b, step / b["n=100"])


def facts(lab, way, b, step, gain, length):
    """`length` of the path that 1000 epochs make."""
    key = way.replace("=", "")
    lab.fact(f"{key}_b", b)
    lab.fact(f"{key}_step", step)
    lab.fact(f"{key}_length", length)
    for name in ("bounces", "batches", "unit"):
        lab.fact(f"{key}_{name}", *gain[name])
    lab.fact(f"{key}_error", *(value / math.sqrt(length) for value in gain["unit"]))


def claims(lab, curve, gain, b, share):
    """`share`: the distance from proposal to proposal over that from bounce to bounce."""
    def at(row, name):
        """Absolute error of an estimator over that along the path."""
        place = 3 + 4 * ESTIMATORS.index(name) + 2
        return quotient(row[place:place + 2], row[5:7])
    nearest = {ratio: min(curve, key=lambda row: abs(math.log(row[0] / ratio)))
               for ratio in (1, 0.01)}
    one, hundredth = at(nearest[1], "bounces"), at(nearest[0.01], "bounces")
    lab.fact("at_one", *one)
    lab.fact("at_hundredth", *hundredth)
    theirs = {ratio: at(min(curve, key=lambda row: abs(math.log(row[0] / share / ratio))),
                        "batches") for ratio in (1, 0.01)}
    lab.fact("step_one", *theirs[1])
    lab.fact("step_hundredth", *theirs[0.01])
    many, most = at(nearest[0.01], "batches"), at(curve[-1], "batches")
    lab.fact("at_hundredth_batches", *many)
    lab.fact("at_least_batches", *most)
    short = [at(row, "bounces") for row in curve if row[0] <= SHORT]
    least, most_short = min(short), max(short)
    same = abs(one[0] - 1) < 0.25
    numbers = markdown(["mean absolute error over that along the path", "r/b = 1", "r/b = 0.01",
                        f"r/b = {curve[-1][0]:.2g}"], [
        ["one sample per bounce, b from bounce to bounce", show(*one), show(*hundredth),
         show(*at(curve[-1], "bounces"))],
        ["one sample per mini-batch, b from bounce to bounce", show(*at(nearest[1], "batches")),
         show(*many), show(*most)],
        ["one sample per mini-batch, b from proposal to proposal", show(*theirs[1]),
         show(*theirs[0.01]), ""]])
    lab.claim("continuous-better",
              "For r/b << 1 the mean along the path has a smaller error than discrete samples; at "
              "r/b = 1 there is little difference",
              all(value > 1 and not near_limit((value, error), 1) for value, error in short)
              and same,
              f"Discrete samples, one per bounce: {show(*one)} times the error at r/b = 1, "
              f"{show(*least)} to {show(*most_short)} times at r/b <= {SHORT:g}.",
              "The paper does not state the number of discrete samples. With one per mini-batch, "
              "and b the distance between proposals, "
              f"{b['n=100'] * share:.3f}, the factor is {show(*theirs[0.01])} at r/b = 0.01.",
              partly=most_short[0] > 1 and not near_limit(most_short, 1), numbers=numbers)
    claim_noise(lab, gain, b)


def claim_noise(lab, gain, b):
    order = sorted(("n=50", "n=100", "n=500", "full"), key=lambda way: b[way])
    low, high = (gain[way]["bounces"] for way in ("n=50", "full"))
    unit = [gain[way]["unit"][0] for way in order]
    values = {key: value for key, value, _, _ in lab.facts}
    theory = values["theory_unit"]
    lab.condition("theory_holds", all(abs(value / theory - 1) < 0.15 for value in unit))
    lab.condition("small_batches_win", values["n50_error"] < values["n500_error"]
                  < values["full_error"])
    growth = high[0] - low[0], float(numpy.hypot(high[1], low[1]))
    names = {way: way.replace("=", " = ") for way in SETTINGS} | {"full": "all rows"}
    keys = {way: way.replace("=", "") for way in SETTINGS}
    rows = [[names[way], f"{b[way]:.3g}",
             *(show(*gain[way][name]) for name in ("bounces", "batches", "unit")),
             f"{values[keys[way] + '_error']:.2g}",
             f"{values[keys[way] + '_lost']} of {values['runs']}"] for way in SETTINGS]
    lab.claim("noise-shrinks-gain", "That advantage tends to diminish for higher noise, since "
              "segments become shorter",
              order == ["n=50", "n=100", "n=500", "full"] and growth[0] > 0
              and not near_limit(growth, 0),
              f"At r = {R:g} the gain over one sample per bounce is {show(*low)} (n = 50) and "
              f"{show(*high)} (all rows); segments have length "
              f"{b['n=50']:.2f} and {b['full']:.2f}.",
              "It is the discrete samples that become better: the error along a path of given "
              "length does not depend on noise."
              if max(unit) < 1.25 * min(unit) else "",
              partly=growth[0] > 0, unsure=near_limit(growth, 0),
              numbers=markdown(["", "segment length b", "gain over one sample per bounce",
                                "gain over one per mini-batch",
                                "error along a path of length 1", "error of 1000 epochs",
                                "lost paths"], rows))


def check(lab):
    few = lab.level == "smoke"
    rows = lab.read("error")
    small, large = (min(rows, key=lambda row: row["ratio"]),
                    min(rows, key=lambda row: abs(row["ratio"] - 1)))
    assert small["bounces"] > (1.5 if few else 3) * small["continuous"], small
    assert 0.8 < large["bounces"] / large["continuous"] < 1.25, large
    # for tiny r, one sample per mini-batch
    independent = numpy.sqrt(0.5 / (10 * lab.pick(100, 1000, 1000)))
    assert 0.4 < small["batches"] / independent < 2.0, (small["batches"], independent)
    theory = lab.read("theory")[0]
    for row in lab.read("gain"):
        if row["series"] == "default" or row["r"] > 0.001:
            continue
        unit = theory["unit"] * math.sqrt(row["r"] / R)
        gain = math.sqrt(row["b"] / 2) / unit
        assert abs(row["unit"] - unit) < 0.2 * unit + 4 * row["unit_error"], (row, unit)
        assert abs(row["bounces"] - gain) < 0.2 * gain + 4 * row["bounces_error"], (row, gain)
    for ratio in (1, 0.01):
        last = [row for row in lab.read("running") if row["ratio"] == ratio][-1]
        assert max(abs(last[name] - last["truth"]) for name in ("continuous", "discrete")) < 0.5, (
            last)
