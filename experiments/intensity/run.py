"""Figure 2: the proposal intensity along a flight, on a logistic regression with two weights.

The paper: N=1000, n=100, one flight with its proposals, the band over them and the true G(t), the particle's path over contours
of Laplace's approximation, and a remark on constant bounds, which "were in the range [1e4, 2e4] for this data". Data as in its
section 7.1 with d=2, k=3 as elsewhere. It does not say which flight; ours is the longest of the first 200 of seed 1.

Beside it we measure what section 4 says about the method: how far constant bounds lie above lambda (Supplement H's own, and the tighter
N max|x_i| of `lipsbps`), how straight G is along flights, what slopes cost against gradients, and whether a Gaussian process does
better than a line (both on d=20)."""
import numpy

from lab import mean_error
from lab.logistic import PRIOR_SD, Logistic

TITLE = "Figure 2: the proposal intensity"
FLIGHTS = 200     # the one shown is the longest of the first so many
STRAIGHT = 0.3    # rms deviation of G from a line, in noise sd, that we call accurate: it adds 9 % to the variance
MUCH = 10.0       # factor that we call "much higher"
SAVING = 1.5      # ratio of costs from which on slopes count as cheaper at all
POINTS = 9        # along a flight, where its straightness is measured
REGRESSIONS = ["linear", "gp"]


def slope(model, w, u):
    """The true G = u.grad U at w, of arrays [..., parameter]."""
    residual = 1 / (1 + numpy.exp(-w @ model.x.T)) - model.y
    return (residual * (u @ model.x.T)).sum(axis=-1) + (w * u).sum(axis=-1) / PRIOR_SD**2


class Flight:
    """From one bounce to the next: looks of the trace, and where it began."""

    def __init__(self, looks, w, u):
        self.looks, self.w, self.u = looks, w, u
        self.time = looks[-1]["t"]

    def truth(self, model, times):
        return slope(model, self.w + times[:, None] * self.u, numpy.broadcast_to(self.u, (len(times), len(self.u))))


def flights(run):
    """Complete flights of the traced chain, in order."""
    path, groups = run.paths[0], []
    for look in run.looks:
        if look["event"] == "start":
            groups.append([])
        groups[-1].append(look)
    return [Flight(group, path.w[i], path.u[i]) for i, group in enumerate(groups) if group[-1]["accepted"] == 1]


# ---- the flight that is shown

def down_and_up(model, flight):
    first, last = flight.truth(model, numpy.array([0.0, flight.time]))
    return first < 0 < last


def show(lab, model, fly):
    """The longest of those that begin downhill and end uphill."""
    flight = max((f for f in fly[:FLIGHTS] if down_and_up(model, f)), key=lambda f: f.time)
    rows = [(look["t"], look["event"], look["G"], numpy.sqrt(look["c2"]), look["mean"], look["rho"], look["from"], look["lambda_from"],
             look["lambda"], look["accepted"]) for look in flight.looks]
    lab.table("flight", ["t", "event", "G", "c", "mean", "rho", "from", "lambda_from", "lambda", "accepted"], rows)
    times = numpy.linspace(0, flight.time, 101)
    lab.table("truth", ["t", "G"], zip(times, flight.truth(model, times)))
    where = next(i for i, other in enumerate(fly) if other is flight)
    around = fly[max(0, where - 3):where + 4]
    lab.table("path", ["flight", "shown", "x", "y", "dx", "dy"],
              [(i, int(f is flight), *f.w, *(f.u * f.time)) for i, f in enumerate(around)])
    looked = [flight.w + flight.u * look["t"] for look in flight.looks[1:]]
    lab.table("looked", ["x", "y", "accepted"], [(*w, look["accepted"]) for w, look in zip(looked, flight.looks[1:])])
    angle = numpy.linspace(0, 2 * numpy.pi, 91)
    root = numpy.linalg.cholesky(model.covariance)
    circle = root @ numpy.array([numpy.cos(angle), numpy.sin(angle)])
    lab.table("contours", ["sd", "x", "y"], [(r, *(model.mode + r * c)) for r in (0.5, 1, 1.5, 2, 2.5, 3) for c in circle.T])
    lab.fact("looks", len(flight.looks) - 1)
    lab.fact("rejected", len(flight.looks) - 2)


# ---- constant bounds

def bounds(lab, model, run):
    """lambda's mean over time is proposals per unit time; so is a constant bound, for the sampler that proposes by it."""
    length = lab.pick(40, 400, 4000)
    seeds = lab.seeds(2, 3, 5)
    ours = lab.map(lambda s: model.sample("--paper", "--chains", 1, "--seed", s, "--epochs", 10 * length, skeleton=True), seeds)
    exact = lab.map(lambda s: model.sample("--sampler", "lipsbps", "--metric", "none", "--refresh-rate", 0, "--batch-size", 100, "--chains", 1,
                                           "--seed", s, "--epochs", 10 * length, skeleton=True), seeds)
    rate = [r.info["proposals"] / r.paths[0].time[-1] for r in ours]
    tight = [r.info["proposals"] / r.paths[0].time[-1] for r in exact]
    per_bounce = [numpy.array([r.info["proposals"] / max(r.info["bounces"], 1) for r in runs]) for runs in (ours, exact)]
    printed = numpy.sqrt(model.d) * model.n * numpy.abs(model.x).max()
    norm = model.n * numpy.linalg.norm(model.x, axis=1).max()
    seen = numpy.array([look["lambda"] for look in run.looks if look["event"] == "proposal"])
    edges = numpy.logspace(1, 4.5, 36)
    share, _ = numpy.histogram(seen, edges)
    lab.table("rates", ["lambda", "share"], zip(numpy.sqrt(edges[:-1] * edges[1:]), share / len(seen)))
    lab.table("bounds", ["name", "bound"], [("sqrt(d) N max|x_ij|", printed), ("N max|x_i|", norm), ("mean", numpy.mean(rate))])
    mean, error = mean_error(rate)
    low, high, difference = quarters(model, run)
    factor = [norm / r for r in rate]
    facts = {"lambda_mean": (mean, error), "bound_printed": (printed, None), "bound_tight": (norm, None), "bound_measured": mean_error(tight),
             "factor_printed": mean_error([printed / r for r in rate]), "factor": mean_error(factor), "per_bounce": mean_error(per_bounce[0]),
             "per_bounce_exact": mean_error(per_bounce[1]), "rate_low": low, "rate_high": high, "rate_difference": difference}
    for key, (value, error) in facts.items():
        lab.fact(key, value, error)
    factor, spread = facts["factor"]
    much, fewer = factor - 2 * spread > MUCH, difference[0] > 3 * difference[1]
    lab.condition("in_range", 1e4 <= printed <= 2e4)
    lab.condition("fewer_looks", fewer)
    lab.claim("bound-much-higher", "A constant exact bound lies far above the adaptive intensity, which also looks less often where G is low",
              much and fewer,
              f"the tightest constant bound, {norm:.0f}, is {factor:.1f} +- {spread:.1f} times the mean intensity {mean:.0f}, the printed one "
              f"{facts['factor_printed'][0]:.0f} times; per bounce {facts['per_bounce'][0]:.1f} proposals against "
              f"{facts['per_bounce_exact'][0]:.0f}; {low[0]:.0f} +- {low[1]:.0f} looks a unit time in the lowest quarter of G, {high[0]:.0f} +- {high[1]:.0f} in the highest: "
              f"{difference[0]:.1f} +- {difference[1]:.1f} fewer.",
              "" if much and fewer else "That it looks less often where G is low is not established." if much else "", partly=much or fewer)


def quarters(model, run, blocks=20):
    """Looks per unit time while the true G is in its lowest and its highest quarter, and how many fewer: each with its error over pieces of the path."""
    path = run.paths[0]
    times = numpy.linspace(0, path.time[-1], 16001)[:-1]
    at = numpy.searchsorted(path.time, times, side="right") - 1
    along = slope(model, path.at(times), path.u[at])
    bottom, top = numpy.quantile(along, [0.25, 0.75])
    looks = numpy.array([look["time"] for look in run.looks if look["event"] == "proposal"])
    before = numpy.maximum(numpy.searchsorted(path.time, looks, side="left") - 1, 0)
    G = slope(model, path.at(looks - 1e-12), path.u[before])
    edges = numpy.linspace(0, path.time[-1], blocks + 1)

    def rate(seen, spent):
        flown = numpy.histogram(times[spent], edges)[0] * (times[1] - times[0])
        return numpy.histogram(looks[seen], edges)[0] / numpy.maximum(flown, 1e-9)
    low, high = rate(G < bottom, along < bottom), rate(G > top, along > top)
    return mean_error(low), mean_error(high), mean_error(high - low)


# ---- is G a straight line?

def straightness(lab, model, fly):
    chosen = fly[:lab.pick(100, 1000, 3000)]
    off, noise, excess = [], [], []
    for flight in chosen:
        times = numpy.linspace(0, flight.time, POINTS)
        truth = flight.truth(model, times)
        off.append(numpy.mean((truth - numpy.polyval(numpy.polyfit(times, truth, 1), times))**2))
        noise.append(numpy.mean([look["c2"] for look in flight.looks]))
        t, G = numpy.array([(look["t"], look["G"]) for look in flight.looks[1:]]).T  # the first look is the last bounce's
        if len(t) > 4:
            rest = G - numpy.polyval(numpy.polyfit(t, G, 1), t)
            excess.append(rest @ rest / (len(t) - 2) / noise[-1])
    share = float(numpy.sqrt(numpy.mean(off) / numpy.mean(noise)))
    worst = float(numpy.sqrt(numpy.quantile(numpy.array(off) / numpy.array(noise), 0.99)))
    residual, error = mean_error(excess)
    lab.fact("straight", share)
    lab.fact("straight_worst", worst)
    lab.fact("residual", residual, error)
    lab.claim("linear-is-accurate", "Along a flight G(t) is close to a straight line", share < STRAIGHT,
              f"over {len(chosen)} flights the true G leaves its best line by {share:.3f} noise sd (rms; {worst:.2f} on the most curved flight in 100); "
              f"what is observed leaves its own line by {residual:.2f} +- {error:.2f} times the variance of the noise alone.")


# ---- what a slope costs

def costs(lab):
    dims = lab.pick([5, 40], [5, 20, 80, 320], [5, 20, 80, 320])
    short, long = lab.pick((20, 1000), (50, 1500), (100, 3000))
    seeds = lab.seeds(2, 3, 7)
    kinds = {"slope": [], "gradient": ["--sampler", "psbps", "--adapt-forever"]}
    rows = []
    for d in dims:
        model = Logistic(lab, rows=2000, dim=d)
        for seed in seeds:   # one after another: they are timed
            for kind, words in kinds.items():
                a, b = (model.sample("--paper", *words, *model.mode_start(), "--seed", seed, "--epochs", e) for e in (short, long))
                rows.append((d, seed, kind, 1e6 * (b.cpu - a.cpu) / (b.info["proposals"] - a.info["proposals"]),
                             b.info["bounces"] / b.info["proposals"]))
    lab.table("cost_runs", ["d", "seed", "kind", "microseconds", "accepted"], rows)
    ratios, table = [], []
    for d in dims:
        time = {kind: numpy.array([row[3] for row in rows if row[0] == d and row[2] == kind]) for kind in kinds}
        pairs = time["gradient"] / time["slope"]
        ratio, error = float(numpy.median(pairs)), 1.2533 * float(pairs.std(ddof=1)) / numpy.sqrt(len(pairs))
        ratios.append((ratio, error))
        table.append((d, ratio, error, float(numpy.median(time["slope"])), float(numpy.median(time["gradient"]))))
    lab.table("cost", ["d", "ratio", "error", "slope", "gradient"], table)
    lab.fact("cost_first", *ratios[0])
    lab.fact("cost_last", *ratios[-1])
    lab.fact("cost_dim", dims[-1])
    lab.fact("cost_least", min(r for r, _ in ratios))
    lab.fact("cost_most", max(r for r, _ in ratios))
    lab.claim("slopes-cheaper", "A directional derivative costs d times less than a gradient", all(r > d / 2 for (r, _), d in zip(ratios, dims)),
              "processor time per proposal with a gradient each over that with slopes: " +
              ", ".join(f"{r:.2f} +- {e:.2f} (d={d})" for (r, e), d in zip(ratios, dims)) + ".",
              "" if all(r > d / 2 for (r, _), d in zip(ratios, dims)) else "For a regression both are O(nd): the slope needs two products with each row, the gradient one more, on rows that are in the cache by then. "
              "The paper says \"in many cases\"; this is not one of them. Times are those of the whole program.",
              partly=all(r - 2 * e > SAVING for r, e in ratios))


# ---- a Gaussian process instead of a line

def processes(lab):
    model = Logistic(lab)
    truth, sd, _ = model.truth()
    goals = {"paper": ["--paper", "--epochs", lab.pick(1000, 20000, 100000)], "default": ["--ess", lab.pick(100, 1000, 5000)]}
    jobs = [(way, kind, seed) for way in goals for kind in REGRESSIONS for seed in lab.seeds(2, 3, 5)]
    runs = lab.map(lambda job: model.sample(*goals[job[0]], "--regression", job[1], "--seed", job[2]), jobs)
    rows = []
    for way in goals:
        for kind in REGRESSIONS:
            mine = [r for job, r in zip(jobs, runs) if job[:2] == (way, kind)]
            price = mean_error([r.info["rows_touched"] / r.info["min_ess"] for r in mine])
            broken = mean_error([100 * r.info["violations"] / r.info["proposals"] for r in mine])
            off = (numpy.mean([r.mean for r in mine], axis=0) - truth) / sd
            each = numpy.array([numpy.sqrt(numpy.mean(((r.mean - truth) / sd)**2)) for r in mine])
            seconds = mean_error([1e6 * r.cpu / r.info["proposals"] for r in mine])
            rows.append((way, kind, *price, *broken, float(numpy.sqrt(numpy.mean(off**2))), mean_error(each)[1], float(numpy.abs(off).max()), seconds[0]))
            for name, pair in (("price", [p / 1000 for p in price]), ("broken", broken), ("time", seconds)):
                lab.fact(f"{name}_{way}_{kind}", *pair)
            lab.fact(f"off_{way}_{kind}", rows[-1][6], rows[-1][7])
    lab.table("processes", ["way", "kind", "price", "price_error", "broken", "broken_error", "off", "off_error", "worst", "microseconds"], rows)
    row = {(r[0], r[1]): r for r in rows}
    better = {}
    for way in goals:
        line, gp = row[way, "linear"], row[way, "gp"]
        cheaper = gp[2] < line[2] - 2 * numpy.hypot(line[3], gp[3])
        truer = gp[6] < line[6] / 2 and gp[6] < line[6] - 3 * numpy.hypot(line[7], gp[7])
        better[way] = cheaper or truer
    words = "; ".join(f"{name}: rows per effective sample {row[way, 'linear'][2]:.2g} +- {row[way, 'linear'][3]:.1g} and {row[way, 'gp'][2]:.2g} "
                      f"+- {row[way, 'gp'][3]:.1g}, violations {row[way, 'linear'][4]:.2f} % and {row[way, 'gp'][4]:.2f} %, means off by "
                      f"{row[way, 'linear'][6]:.3f} +- {row[way, 'linear'][7]:.3f} and {row[way, 'gp'][6]:.3f} +- {row[way, 'gp'][7]:.3f} sd"
                      for way, name in (("paper", "as published"), ("default", "default")))
    lab.condition("process_truer", row["paper", "gp"][4] < row["paper", "linear"][4] and row["paper", "gp"][6] < row["paper", "linear"][6])
    lab.condition("alike_by_default", not better["default"] and row["default", "linear"][2] > row["default", "gp"][2] - 2 * numpy.hypot(row["default", "linear"][3], row["default", "gp"][3]))
    lab.claim("gp-no-better", "A Gaussian process in place of the line brings nothing", not any(better.values()), f"line and process, {words}.",
              "" if not (better["paper"] and not better["default"]) else
              "As published the process has fewer violations and so less bias: its own variance is learned from how well it foresaw each look, so its band is wider "
              "where the last batch understates the noise. The published line trusts that batch; our default pools them, and there the two are alike.", partly=not all(better.values()))


def run(lab):
    model = Logistic(lab, dim=2)
    seen = model.sample("--paper", "--chains", 1, "--seed", 1, "--epochs", lab.pick(400, 2000, 4000), skeleton=True, trace=True)
    fly = flights(seen)
    show(lab, model, fly)
    bounds(lab, model, seen)
    straightness(lab, model, fly)
    costs(lab)
    processes(lab)


def check(lab):
    flight = lab.read("flight")
    proposals = [look for look in flight if look["event"] == "proposal"]
    assert len(proposals) >= 5, "the flight shown has several proposals"
    assert [look["accepted"] for look in proposals] == [0] * (len(proposals) - 1) + [1], "only the last proposal is accepted"
    truth = lab.read("truth")
    assert truth[0]["G"] < 0 < truth[-1]["G"], "it goes downhill first and bounces uphill"
    noise = numpy.mean([look["c"] for look in flight])
    seen = numpy.array([look["G"] for look in proposals])
    known = numpy.interp([look["t"] for look in proposals], [row["t"] for row in truth], [row["G"] for row in truth])
    z = (seen - known).mean() / noise * numpy.sqrt(len(seen))
    assert abs(z) < 4, f"looks are unbiased for the true G: z = {z:.1f}"
    bound = {row["name"]: row["bound"] for row in lab.read("bounds")}
    assert bound["sqrt(d) N max|x_ij|"] >= bound["N max|x_i|"] > 20 * bound["mean"], bound
    assert 1e4 < bound["sqrt(d) N max|x_ij|"] < 2e4, "the printed bound is in the paper's range"
    most = lab.read("cost")[-1]
    assert most["ratio"] < most["d"] / 4, f"a gradient costs about what a slope costs, not d times: {most}"
    assert len(lab.read("processes")) == 4
