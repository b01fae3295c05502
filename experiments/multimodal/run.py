"""Figure 8: a multimodal target, and the auxiliary observation of Supplement E.

log p(w) = s sum_i sum_k log[exp(-(w_k - 1 - mu_ik)^2/(2 sigma^2)) + exp(-(w_k + 1 - mu_i,D+k)^2/(2 sigma^2))] with D = 2, N = 1000, sigma = .25,
mu ~ N(0, .01^2), n = 10, 1000 epochs, an auxiliary observation at p = 1. The paper prints s = 1. Then the barriers between the peaks are some
7300 nats high, and no sampler that moves along paths crosses one. Its figure shows all peaks, so its s must have been smaller. We give every
row the weight s = scale/N and look at barriers and runs as a function of `scale`; 1 is a mean over rows in place of the sum, 1000 is as printed.

The supplement makes the observation where the linear term of the band is negative (`--auxiliary-when needed`, ours too); "after every look" is the same
without this condition. Four observations in place of one say whether one suffices.

The exact density is a product of one-dimensional ones: quadrature. Chains start at (1, 1). SBPS is `--paper` without and with `--auxiliary 1`; the
default command starts its four chains at the four peaks, so that it is right about the peaks' shares where it cannot cross and has not learned them."""
import os

import numpy

from lab import mean_error
from lab.logistic import Logistic

TITLE = "Figure 8: a multimodal target"
N = 1000
EDGES = numpy.linspace(-2.45, 2.45, 50)  # the peaks lie in the middle of a bin
HALF = numpy.append(0, EDGES[EDGES > 0])
FAR = 2.45  # the exact probability of |w_k| beyond it is below 1e-7 at scale 1
KINDS = {"sbps": ["--paper"], "auxiliary": ["--paper", "--auxiliary", 1], "default": []}
BESIDE = {"always": ["--paper", "--auxiliary", 1, "--auxiliary-when", "always"], "four": ["--paper", "--auxiliary", 4]}  # at scale 1
RIGHT = 0.05  # total variation up to which a marginal counts as right
MANY = 0.05   # share of looks above the bound from which on a bound counts as failed


class Target:
    def __init__(self, lab, scale):
        self.lab, self.scale = lab, scale
        self.data = lab.file(f"rows_{scale:g}.csv")
        plain = os.path.join(lab.shared_data, "multimodal_1000_1.csv")
        if not os.path.exists(plain):
            new = f"{plain}.{os.getpid()}"
            lab.call("simulate", "multimodal", "--rows", N, "--dim", 2, "--seed", 1, "-o", new)
            os.replace(new, plain)
        self.mu = numpy.loadtxt(plain, delimiter=",", skiprows=1)
        numpy.savetxt(self.data, numpy.column_stack([self.mu, numpy.full(N, scale / N)]), fmt="%.9g", delimiter=",", comments="",
                      header="x1,x2,x3,x4,weight")
        self.start = lab.file("start.csv")
        with open(self.start, "w") as file:
            file.write("name,value\nw1,1\nw2,1\n")
        self.grid = numpy.linspace(-4, 4, 4001)
        self.u = numpy.array([self.potential(k) for k in (0, 1)])
        density = numpy.exp(self.u.min(axis=1)[:, None] - self.u)
        self.density = density / density.sum(axis=1)[:, None] / (self.grid[1] - self.grid[0])

    def potential(self, k):
        mean = numpy.zeros(len(self.grid))
        for chunk in numpy.array_split(self.mu, 10):
            high = -(self.grid[:, None] - 1 - chunk[:, k])**2 / (2 * 0.25**2)
            low = -(self.grid[:, None] + 1 - chunk[:, 2 + k])**2 / (2 * 0.25**2)
            mean -= numpy.logaddexp(high, low).sum(axis=1) / N
        return mean * self.scale

    def barrier(self):
        """Nats from the lower of the peaks of w1 up to the saddle."""
        inside = numpy.abs(self.grid) < 0.5
        return float(self.u[0][inside].max() - max(self.u[0][self.grid < 0].min(), self.u[0][self.grid > 0].min()))

    def crossings(self):
        """log10 of the crossings of w1 = 0 per unit length of path that the exact process makes: p(0) times the mean of |v_1| = 2/pi.
        By logarithms, since p(0) is no number at scale 1000."""
        middle = len(self.grid) // 2
        norm = numpy.log(numpy.exp(self.u[0].min() - self.u[0]).sum() * (self.grid[1] - self.grid[0]))
        return float((self.u[0].min() - self.u[0][middle] - norm + numpy.log(2 / numpy.pi)) / numpy.log(10))

    def exact(self, k):
        return numpy.histogram(self.grid, EDGES, weights=self.density[k] * (self.grid[1] - self.grid[0]))[0]

    def folded(self, k):
        """The same of |w_k|."""
        return numpy.histogram(numpy.abs(self.grid), HALF, weights=self.density[k] * (self.grid[1] - self.grid[0]))[0]

    def sample(self, kind, epochs, seed):
        start = [] if kind == "default" else ["--chains", 1, "--start", self.start, "--spread", 0, "--warmup", 0, "--batch-size", 10]
        return self.lab.sample(self.data, "--model", "multimodal", "--weights", "weight", *start, "--seed", seed, "--epochs", epochs,
                               "--draws", 5000, *{**KINDS, **BESIDE}[kind])

    def measure(self, run):
        """tv: total variation of the marginals, the mean of both; shape: the same of |w_k|, which forgets the peaks' shares."""
        w = run.w.reshape(-1, 2)
        tv, shape = [], []
        for k in (0, 1):
            tv.append(variation(self.exact(k), numpy.histogram(w[:, k], EDGES)[0] / len(w)))
            shape.append(variation(self.folded(k), numpy.histogram(numpy.abs(w[:, k]), HALF)[0] / len(w)))
        peaks = [float(((w[:, 0] > 0) == a).astype(float) @ ((w[:, 1] > 0) == b) / len(w)) for a in (True, False) for b in (True, False)]
        return {"tv": float(numpy.mean(tv)), "shape": float(numpy.mean(shape)), "far": float((numpy.abs(w) > FAR).any(axis=1).mean()),
                "crossings": float(sum((numpy.diff(numpy.sign(chain), axis=0) != 0).sum() for chain in run.w)),
                "violated": float(run.info["violations"] / run.info["proposals"]), "peaks": peaks, "w": w}


def variation(exact, found):
    """Total variation of two histograms; what is missing lies outside."""
    return 0.5 * (numpy.abs(exact - found).sum() + abs(exact.sum() - found.sum()))


def column(measures, key):
    return [m[key] for m in measures]


def scales(lab, seeds):
    """Barriers and runs as a function of the scale; {(kind, scale): measures}."""
    barriers, found = [], {}
    for scale in lab.pick([1, 1000], [0.5, 1, 2, 1000], [0.25, 0.5, 1, 2, 4, 10, 1000]):
        target = Target(lab, scale)
        barriers.append([scale, target.barrier(), target.crossings()])
        for kind in {**KINDS, **BESIDE} if scale == 1 else KINDS:
            if kind == "sbps" and scale < 1:
                continue  # it spends its time a thousand units away, and ours with chords of 0.01
            found[kind, scale] = lab.map(lambda seed: target.measure(target.sample(kind, lab.pick(100, 1000, 1000), seed)), seeds)
    lab.table("barriers", ["scale", "barrier", "log10_crossings"], barriers)
    lab.table("scales", ["sampler", "scale", "seed", "tv", "shape", "far", "crossings", "violated", "pp", "pm", "mp", "mm"],
              [[kind, scale, seed, m["tv"], m["shape"], m["far"], m["crossings"], m["violated"], *m["peaks"]]
               for (kind, scale), measures in sorted(found.items()) for seed, m in zip(seeds, measures)])
    return {scale: barrier for scale, barrier, _ in barriers}, {scale: rate for scale, _, rate in barriers}, found


def histograms(lab, found):
    """At scale 1, of w1, over seeds; and some draws of one run."""
    target = Target(lab, 1)
    middle, width = (EDGES[1:] + EDGES[:-1]) / 2, EDGES[1] - EDGES[0]
    rows = [["exact", x, p / width, 0] for x, p in zip(middle, target.exact(0))]
    for kind in (*KINDS, "always"):
        counts = numpy.array([numpy.histogram(m["w"][:, 0], EDGES)[0] / len(m["w"]) / width for m in found[kind, 1]])
        error = counts.std(axis=0, ddof=1) / numpy.sqrt(len(counts)) if len(counts) > 1 else numpy.zeros(len(middle))
        rows += [[kind, x, p, e] for x, p, e in zip(middle, counts.mean(axis=0), error)]
    lab.table("histogram", ["sampler", "w1", "density", "error"], rows)
    draws = []
    for kind in KINDS:
        w = found[kind, 1][-1]["w"]
        draws += [[kind, *numpy.round(point, 3)] for point in w[:: max(1, len(w) // 1200)]]
    lab.table("draws", ["sampler", "w1", "w2"], draws)


def convergence(lab, seeds):
    """Total variation at scale 1 against the length; {(kind, epochs): tv}."""
    target, found = Target(lab, 1), {}
    for epochs in lab.pick([30, 100], [100, 1000, 10000], [100, 1000, 10000, 30000]):
        for kind in ("auxiliary", "always", "four", "default"):
            if kind in BESIDE and epochs > 10000:
                continue
            found[kind, epochs] = lab.map(lambda seed: target.measure(target.sample(kind, epochs, seed)), seeds)
    lab.table("convergence", ["sampler", "epochs", "tv", "tv_error", "shape", "shape_error"],
              [[kind, epochs, *mean_error(column(m, "tv")), *mean_error(column(m, "shape"))]
               for (kind, epochs), m in sorted(found.items())])
    return found


def elsewhere(lab, seeds):
    """The logistic example with and without the auxiliary observation: worst mean error in posterior sd, errors of sds, rows per effective
    sample; {kind: [(error, spread, rows)]}."""
    problem = Logistic(lab)
    mean, sd, _ = problem.truth()
    epochs = lab.pick(300, 5000, 20000)

    def one(kind, seed):
        run = problem.sample("--chains", 1, *problem.mode_start(), "--seed", seed, "--epochs", epochs, *{**KINDS, **BESIDE}[kind])
        return numpy.abs((run.mean - mean) / sd).max(), (run.sd / sd).mean(), run.info["rows_touched"] / max(run.info["min_ess"], 1e-9)

    found = {kind: lab.map(lambda seed: one(kind, seed), seeds) for kind in ("sbps", "auxiliary", "always")}
    lab.table("elsewhere", ["sampler", "seed", "mean_error", "sd_ratio", "rows_per_ess"],
              [[kind, seed, *values] for kind, results in found.items() for seed, values in zip(seeds, results)])
    return found


def state(lab, barriers, rates, found, longer):
    """Facts and conditions; {(kind, key): (mean, error)} at scale 1, of 1000 epochs and of the longest runs."""
    one = {(kind, key): mean_error(column(found[kind, 1], key)) for kind in (*KINDS, *BESIDE) for key in ("tv", "shape", "far", "crossings", "violated")}
    for (kind, key), value in one.items():
        lab.fact(f"{key}-{kind}", *value)
    for scale in (1, 1000):
        lab.fact(f"barrier-{scale}", barriers[scale], None, "nats")
    printed = sum(sum(column(found[kind, 1000], "crossings")) for kind in KINDS)
    lab.fact("printed-crossings", printed)
    lab.fact("printed-rate", round(-rates[1000]))
    lab.fact("printed-tv", *mean_error(column(found["auxiliary", 1000], "tv")))
    epochs = max(epochs for _, epochs in longer)
    last = {kind: mean_error(column(longer[kind, epochs], "tv")) for kind in ("auxiliary", "default")}
    middle = max(epochs for kind, epochs in longer if kind == "four")
    lab.fact("longest", epochs)
    lab.fact("middle", middle)
    for kind, value in last.items():
        lab.fact(f"long-{kind}", *value)
        lab.fact(f"long-shape-{kind}", *mean_error(column(longer[kind, epochs], "shape")))
    pair = {(kind, key): mean_error(column(longer[kind, middle], key)) for kind in ("auxiliary", "always", "four") for key in ("tv", "shape", "violated")}
    for (kind, key), value in pair.items():
        lab.fact(f"middle-{key}-{kind}", *value)
    peaks = numpy.array(column(found["auxiliary", 1], "peaks"))
    lab.fact("peak-worst", *max((mean_error(values) for values in peaks.T), key=lambda pair: abs(pair[0] - 0.25)))
    twice = {kind: sum(column(found[kind, 2], "crossings")) for kind in KINDS if (kind, 2) in found}
    lab.condition("printed-never", printed == 0)
    lab.condition("only-auxiliary-crosses", bool(twice) and twice["auxiliary"] > 0 and twice["sbps"] + twice["default"] == 0)
    lab.condition("all-peaks", bool((peaks > 0.02).all(axis=1).mean() > 0.5))
    lab.condition("right", last["auxiliary"][0] < RIGHT)
    lab.condition("bound-fails", one["auxiliary", "violated"][0] > MANY)
    lab.condition("always-worse", apart(pair["always", "shape"], pair["auxiliary", "shape"]))
    return one, last, pair, peaks, printed, epochs


def claim_correct(lab, barriers, one, last, peaks, printed, epochs):
    all_peaks = bool((peaks > 0.02).all(axis=1).mean() > 0.5)
    right = last["auxiliary"][0] < RIGHT
    why = [f"Not as printed: no path crosses barriers of {barriers[1000]:.0f} nats." if printed == 0 else "",
           "" if right else f"The shape of the peaks is off by {show(one['auxiliary', 'shape'])}.",
           f"{100 * one['auxiliary', 'violated'][0]:.0f}% of its looks lie above its bound." if one["auxiliary", "violated"][0] > MANY else ""]
    lab.claim("multimodal-sampled-correctly", "With the auxiliary observation SBPS samples the multimodal target correctly.", right and all_peaks and printed > 0,
              f"As printed (barriers of {barriers[1000]:.0f} nats): {printed:.0f} crossings in all runs. With a mean over rows "
              f"({barriers[1]:.1f} nats): total variation of a marginal {show(one['auxiliary', 'tv'])} after 1000 epochs and {show(last['auxiliary'])} "
              f"after {epochs}, {100 * one['auxiliary', 'violated'][0]:.1f}% violations; observing after every look {show(one['always', 'tv'])} and "
              f"{100 * one['always', 'violated'][0]:.0f}%; default {show(last['default'])}.", " ".join(filter(None, why)), all_peaks)


def claim_helps(lab, one):
    without, aided = one["sbps", "far"], one["auxiliary", "far"]
    helps = apart(without, aided)
    lab.claim("auxiliary-helps", "An auxiliary observation keeps the particle out of regions of low density.", helps and aided[0] < 0.001,
              f"Share of time beyond |w| = {FAR:g}, mean over rows: {show(without)} without, {show(aided)} with; total variation "
              f"{show(one['sbps', 'tv'])} and {show(one['auxiliary', 'tv'])}.",
              "One look ahead makes long flights rarer and does not exclude them." if helps and aided[0] >= 0.001 else "", helps)


def claim_one_suffices(lab, pair, middle):
    better = apart(pair["auxiliary", "tv"], pair["four", "tv"], 2) and pair["four", "tv"][0] < pair["auxiliary", "tv"][0] / 1.5
    lab.claim("one-suffices", "One auxiliary observation (p = 1) suffices.", not better,
              f"Mean over rows, {middle} epochs: total variation {show(pair['auxiliary', 'tv'])} with one and {show(pair['four', 'tv'])} with four; shape "
              f"{show(pair['auxiliary', 'shape'])} and {show(pair['four', 'shape'])}; violations {100 * pair['auxiliary', 'violated'][0]:.2f}% and "
              f"{100 * pair['four', 'violated'][0]:.2f}%.")


def claim_harmless(lab, logistic):
    error = {kind: mean_error([values[0] for values in results]) for kind, results in logistic.items()}
    rows = {kind: mean_error([values[2] for values in results]) for kind, results in logistic.items()}
    for kind in logistic:
        lab.fact(f"logistic-error-{kind}", *error[kind])
        lab.fact(f"logistic-rows-{kind}", *rows[kind])
        lab.fact(f"logistic-sd-{kind}", *mean_error([values[1] for values in logistic[kind]]))
        lab.fact(f"dearer-{kind}", rows[kind][0] / rows["sbps"][0], rows[kind][0] / rows["sbps"][0] * numpy.hypot(*(finite(pair[1]) / pair[0] for pair in (rows[kind], rows["sbps"]))))
    harm = {kind: apart(error[kind], error["sbps"], 2) for kind in ("auxiliary", "always")}
    dearer = rows["auxiliary"][0] - 2 * finite(rows["auxiliary"][1]) > 1.2 * rows["sbps"][0]
    lab.condition("always-harms", harm["always"])
    lab.claim("auxiliary-no-harm-elsewhere", "The auxiliary observation does not affect the other examples.", not harm["auxiliary"] and not dearer,
              f"Logistic example: worst error of a mean {show(error['sbps'])} posterior sd without, {show(error['auxiliary'])} with; "
              f"{rows['auxiliary'][0] / rows['sbps'][0]:.2f} times the rows per effective sample. Observing after every look: {show(error['always'])}, "
              f"{rows['always'][0] / rows['sbps'][0]:.2f} times.",
              "It is made only where the band would fall for ever." if not harm["auxiliary"] and harm["always"] else
              "A look ahead enters the regression like any other." if harm["auxiliary"] or dearer else "", not harm["auxiliary"])


def finite(error):
    return 0.0 if numpy.isnan(error) else error


def apart(larger, smaller, limit=3):
    """By so many standard errors."""
    return larger[0] - smaller[0] > limit * numpy.hypot(finite(larger[1]), finite(smaller[1]))


def show(pair):
    return f"{pair[0]:.3f} +- {finite(pair[1]):.3f}"


def run(lab):
    seeds = lab.seeds(2, 5, 10)
    barriers, rates, found = scales(lab, seeds)
    histograms(lab, found)
    longer = convergence(lab, seeds[:5])
    one, last, pair, peaks, printed, epochs = state(lab, barriers, rates, found, longer)
    claim_correct(lab, barriers, one, last, peaks, printed, epochs)
    claim_helps(lab, one)
    claim_one_suffices(lab, pair, max(epochs for kind, epochs in longer if kind == "four"))
    claim_harmless(lab, elsewhere(lab, seeds))


def check(lab):
    barriers = {row["scale"]: row for row in lab.read("barriers")}
    assert 7000 < barriers[1000]["barrier"] < 7600 and abs(barriers[1000]["barrier"] / barriers[1]["barrier"] / 1000 - 1) < 1e-6
    rows = lab.read("scales")
    assert all(row["crossings"] == 0 for row in rows if row["scale"] == 1000), "as printed nothing crosses"
    assert any(row["crossings"] > 0 for row in rows if row["scale"] == 1 and row["sampler"] == "auxiliary"), "a mean over rows can be crossed"
    exact = [row for row in lab.read("histogram") if row["sampler"] == "exact"]
    assert abs(sum(row["density"] for row in exact) * (EDGES[1] - EDGES[0]) - 1) < 1e-4, "the exact density is one"
    shape = [row["shape"] for row in rows if row["scale"] == 1000 and row["sampler"] == "default"]
    assert max(shape) < 0.15, "within a peak the default is right"
