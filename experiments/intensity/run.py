"""Figure 2: the proposal intensity along a segment, on a logistic regression with two weights.

The paper: N=1000, n=100, one segment with its proposals, the band over them and the true G(t), the
particle's path over contours of Laplace's approximation, and a remark on constant bounds, which
"were in the range [1e4, 2e4] for this data". Data as in its section 7.1 with d=2, k=3 as elsewhere.
It does not state which segment; ours is the longest of the first 200 of seed 1.

Beside it we measure what section 4 states about the method: how far constant bounds lie above
lambda (Supplement H's own, and the tighter N max|x_i| of `lipsbps`), how straight G is along
segments, what slopes cost against gradients (bench/slopes.c), and whether a Gaussian process does
better than a line (on d=20)."""
import csv
import os
import subprocess

import numpy

from lab import mean_error, median_error, near_limit
from lab.logistic import PRIOR_SD, Logistic

TITLE = "Figure 2: the proposal intensity"
SEGMENTS = 200    # the longest of these is shown
# rms deviation of G from a line, in noise sd, that we call accurate: it adds 9 % to the variance
STRAIGHT = 0.3
MUCH = 10.0       # factor that we call "much higher"
POINTS = 9        # along a segment, where its straightness is measured
REGRESSIONS = ["linear", "gp"]
LOST = 5.0        # posterior sd: a run with a mean farther off has left the posterior
# posterior sd: the bias that the default allows; a smaller one is no reason to change the
# regression
SMALL = 0.02


def text(pair):
    """A number and its standard error, to two digits of the error."""
    value, error = pair
    if not numpy.isfinite(error) or error <= 0:
        return f"{value:.3g}"
    places = 1 - int(numpy.floor(numpy.log10(error)))
    return f"{round(value, places):.{max(places, 0)}f} +- {round(error, places):.{max(places, 0)}f}"


def slope(model, w, u):
    """The true G = u.grad U at w, of arrays [..., parameter]."""
    residual = 1 / (1 + numpy.exp(-w @ model.x.T)) - model.y
    return (residual * (u @ model.x.T)).sum(axis=-1) + (w * u).sum(axis=-1) / PRIOR_SD**2


class Segment:
    """From one bounce to the next: observations of the trace, and where it began."""

    def __init__(self, observations, w, u):
        self.observations, self.w, self.u = observations, w, u
        self.time = observations[-1]["t"]

    def truth(self, model, times):
        return slope(model, self.w + times[:, None] * self.u,
                     numpy.broadcast_to(self.u, (len(times), len(self.u))))


def segments(run):
    """Complete segments of the traced chain, in order."""
    path, groups = run.paths[0], []
    for observation in run.trace:
        if observation["event"] == "start":
            groups.append([])
        groups[-1].append(observation)
    return [Segment(group, path.w[i], path.u[i]) for i, group in enumerate(groups)
            if group[-1]["accepted"] == 1]


# ---- the segment that is shown

def down_and_up(model, segment):
    first, last = segment.truth(model, numpy.array([0.0, segment.time]))
    return first < 0 < last


def show(lab, model, found):
    """The longest of those that begin downhill and end uphill."""
    segment = max((one for one in found[:SEGMENTS] if down_and_up(model, one)),
                  key=lambda one: one.time)
    rows = [(at["t"], at["event"], at["G"], numpy.sqrt(at["c2"]), at["mean"], at["rho"], at["from"],
             at["lambda_from"],
             at["lambda"], at["accepted"]) for at in segment.observations]
    lab.table("segment", ["t", "event", "G", "c", "mean", "rho", "from", "lambda_from", "lambda",
                          "accepted"], rows)
    times = numpy.linspace(0, segment.time, 101)
    lab.table("truth", ["t", "G"], zip(times, segment.truth(model, times)))
    where = next(i for i, other in enumerate(found) if other is segment)
    around = found[max(0, where - 3):where + 4]
    lab.table("path", ["segment", "shown", "x", "y", "dx", "dy"],
              [(i, int(one is segment), *one.w, *(one.u * one.time))
               for i, one in enumerate(around)])
    positions = [segment.w + segment.u * at["t"] for at in segment.observations[1:]]
    lab.table("observed", ["x", "y", "accepted"],
              [(*w, at["accepted"]) for w, at in zip(positions, segment.observations[1:])])
    angle = numpy.linspace(0, 2 * numpy.pi, 91)
    root = numpy.linalg.cholesky(model.covariance)
    circle = root @ numpy.array([numpy.cos(angle), numpy.sin(angle)])
    lab.table("contours", ["sd", "x", "y"], [(r, *(model.mode + r * c))
                                             for r in (0.5, 1, 1.5, 2, 2.5, 3) for c in circle.T])
    lab.fact("proposals", len(segment.observations) - 1)
    lab.fact("rejected", len(segment.observations) - 2)


# ---- constant bounds

def bounds(lab, model, run):
    """lambda's mean over time is proposals per unit time; so is a constant bound, for the sampler
    that proposes by it."""
    length = lab.pick(40, 400, 4000)
    seeds = lab.seeds(2, 3, 5)
    ours = lab.map(lambda s: model.sample("--paper", "--chains", 1, "--seed", s, "--epochs",
                                          10 * length, skeleton=True), seeds)
    exact = lab.map(lambda s: model.sample("--sampler", "lipsbps", "--metric", "none",
                                           "--refresh-rate", 0, "--batch-size", 100, "--chains", 1,
                                           "--seed", s, "--epochs", 10 * length, skeleton=True),
                    seeds)
    rate = [r.info["proposals"] / r.paths[0].time[-1] for r in ours]
    tight = [r.info["proposals"] / r.paths[0].time[-1] for r in exact]
    per_bounce = [numpy.array([r.info["proposals"] / max(r.info["bounces"], 1) for r in runs])
                  for runs in (ours, exact)]
    printed = numpy.sqrt(model.d) * model.n * numpy.abs(model.x).max()
    norm = model.n * numpy.linalg.norm(model.x, axis=1).max()
    seen = numpy.array([at["lambda"] for at in run.trace if at["event"] == "proposal"])
    edges = numpy.logspace(1, 4.5, 36)
    share, _ = numpy.histogram(seen, edges)
    lab.table("rates", ["lambda", "share"], zip(numpy.sqrt(edges[:-1] * edges[1:]),
                                                share / len(seen)))
    lab.table("bounds", ["name", "bound"], [("sqrt(d) N max|x_ij|", printed), ("N max|x_i|", norm),
                                            ("mean", numpy.mean(rate))])
    mean, error = mean_error(rate)
    low, high, difference = quarters(model, run)
    factor = [norm / r for r in rate]
    facts = {"lambda_mean": (mean, error), "bound_printed": (printed, None),
             "bound_tight": (norm, None), "bound_measured": mean_error(tight),
             "factor_printed": mean_error([printed / r for r in rate]),
             "factor": mean_error(factor), "per_bounce": mean_error(per_bounce[0]),
             "per_bounce_exact": mean_error(per_bounce[1]), "rate_low": low, "rate_high": high,
             "rate_difference": difference}
    for key, (value, error) in facts.items():
        lab.fact(key, value, error)
    factor, spread = facts["factor"]
    much, fewer = factor - 2 * spread > MUCH, difference[0] > 2 * difference[1]
    lab.condition("in_range", 1e4 <= printed <= 2e4)
    lab.condition("fewer_observations", fewer)
    lab.claim("bound-much-higher", "Constant bounds, about 10^4 here, lie far above the adaptive "
              "intensity, which also makes fewer observations where G is low",
              much and fewer,
              f"N max|x_i| = {norm:.0f} is {text((factor, spread))} times the mean intensity; "
              f"{text(difference)} fewer observations per unit time in the lowest quarter of G "
              f"than in the highest",
              "" if much and fewer else "That there are fewer observations where G is low is not "
              "established." if much else "", partly=much or fewer,
              unsure=near_limit((factor, spread), MUCH) or near_limit(difference, 0),
              numbers="\n".join([
                  "| | |", "|---|---|",
                  f"| mean intensity, proposals per unit time | {text((mean, error))} |",
                  f"| bound of Supplement H, sqrt(d) N max\\|x_ij\\| | {printed:.0f}, "
                  f"{text(facts['factor_printed'])} times the mean intensity |",
                  f"| tighter bound, N max\\|x_i\\| | {norm:.0f}, {text((factor, spread))} times |",
                  f"| proposals per bounce, SBPS | {text(facts['per_bounce'])} |",
                  "| proposals per bounce, `lipsbps` at the same n | "
                  f"{text(facts['per_bounce_exact'])} |",
                  f"| observations per unit time, lowest quarter of G | {text(low)} |",
                  f"| observations per unit time, highest quarter of G | {text(high)} |"]))


def quarters(model, run, blocks=20):
    """Observations per unit time while the true G is in its lowest and its highest quarter, and how
    many fewer: each with its error over pieces of the path."""
    path = run.paths[0]
    times = numpy.linspace(0, path.time[-1], 16001)[:-1]
    at = numpy.searchsorted(path.time, times, side="right") - 1
    along = slope(model, path.at(times), path.u[at])
    bottom, top = numpy.quantile(along, [0.25, 0.75])
    observed = numpy.array([one["time"] for one in run.trace if one["event"] == "proposal"])
    before = numpy.maximum(numpy.searchsorted(path.time, observed, side="left") - 1, 0)
    G = slope(model, path.at(observed - 1e-12), path.u[before])
    edges = numpy.linspace(0, path.time[-1], blocks + 1)

    def rate(seen, spent):
        time = numpy.histogram(times[spent], edges)[0] * (times[1] - times[0])
        return numpy.histogram(observed[seen], edges)[0] / numpy.maximum(time, 1e-9)
    low, high = rate(G < bottom, along < bottom), rate(G > top, along > top)
    return mean_error(low), mean_error(high), mean_error(high - low)


# ---- is G a straight line?

def straightness(lab, model, found):
    chosen = found[:lab.pick(100, 1000, 3000)]
    off, noise, excess = [], [], []
    for segment in chosen:
        times = numpy.linspace(0, segment.time, POINTS)
        truth = segment.truth(model, times)
        off.append(numpy.mean((truth - numpy.polyval(numpy.polyfit(times, truth, 1), times))**2))
        noise.append(numpy.mean([at["c2"] for at in segment.observations]))
        # the first observation is the last bounce's
        t, G = numpy.array([(at["t"], at["G"]) for at in segment.observations[1:]]).T
        if len(t) > 4:
            rest = G - numpy.polyval(numpy.polyfit(t, G, 1), t)
            excess.append(rest @ rest / (len(t) - 2) / noise[-1])
    share = float(numpy.sqrt(numpy.mean(off) / numpy.mean(noise)))
    worst = float(numpy.sqrt(numpy.quantile(numpy.array(off) / numpy.array(noise), 0.99)))
    residual, error = mean_error(excess)
    lab.fact("straight", share)
    lab.fact("straight_worst", worst)
    lab.fact("residual", residual, error)
    lab.claim("linear-is-accurate", "Along a segment the linear approximation of G(t) is quite "
              "accurate", share < STRAIGHT,
              f"Over {len(chosen)} segments the rms deviation of G from its best line is "
              f"{share:.3f} standard deviations of the mini-batch noise",
              numbers=f"One segment in 100 deviates by more than {worst:.2f} standard deviations. "
                      "The observations scatter around their own line with "
                      f"{residual:.2f} +- {error:.2f} times the variance of the noise alone.")


# ---- what a slope costs

def measured_costs(lab):
    """Lines of bench-slopes, which is built beside the program if it is missing; none if that
    fails."""
    folder = os.path.dirname(lab.program)
    if os.path.exists(os.path.join(folder, "CMakeCache.txt")):
        subprocess.run(["cmake", "--build", folder, "--target", "bench-slopes"],
                       capture_output=True)
    try:
        words = [os.path.join(folder, "bench-slopes"), str(lab.pick(3, 9, 25))]
        done = subprocess.run(words, capture_output=True, text=True)
    except OSError:
        return []
    return [{key: cell if key == "place" else float(cell) for key, cell in row.items()}
            for row in csv.DictReader(done.stdout.splitlines())] if not done.returncode else []


COSTS = {"gradient": lambda row: row["gradient"] / row["slope"],
         "after": lambda row: row["both"] / row["slope"] - 1,
         "kept": lambda row: row["gradient"] / row["kept"]}


def costs(lab):
    """cost.csv: medians over repeats of nanoseconds per row and of ratios within a repeat."""
    lines = measured_costs(lab)
    methods = ["slope", "gradient", "both", "kept"]
    rows = []
    for place, d in sorted({(line["place"], line["d"]) for line in lines}):
        mine = [line for line in lines if (line["place"], line["d"]) == (place, d)]
        times = [float(numpy.median([line[method] for line in mine])) for method in methods]
        rows.append((place, int(d), *times, *(number for ratio in COSTS.values()
                                              for number in median_error([ratio(line)
                                                                          for line in mine]))))
    lab.table("cost", ["place", "d", *methods, "ratio", "ratio_error", "after", "after_error",
                       "ratio_kept", "ratio_kept_error"], rows)
    lab.condition("slopes_measured", bool(rows))
    if not rows:
        lab.fact("slopes_missing", "bench-slopes could not be built")
        return
    ratios, kept, after = ([row[i] for row in rows] for i in (6, 10, 8))
    last = max(row[1] for row in rows)
    kept_last = [row[10] for row in rows if row[1] == last]
    for key, values in (("cost_least", min(ratios)), ("cost_most", max(ratios)),
                        ("kept_least", min(kept_last)), ("kept_most", max(kept_last)),
                        ("after_least", 100 * min(after)), ("after_most", 100 * max(after)),
                        ("cost_dim", last)):
        lab.fact(key, values)
    fresh = all(row[6] > row[1] / 2 for row in rows)
    often = min(kept_last) > MUCH
    table = ["| table | d | slope | gradient | slope and gradient | slope, products kept | "
             "gradient / slope | gradient / slope, products kept |",
             "|---|---|---|---|---|---|---|---|"]
    table += [f"| {place} | {d} | {' | '.join(f'{x:.3g}' for x in times)} | {ratio[0]:.2f} +- "
              f"{ratio[1]:.2f} | {ratio[4]:.3g} |"
              for place, d, times, ratio in ((row[0], row[1], row[2:6], row[6:]) for row in rows)]
    lab.claim("slopes-cheaper", "In many cases a directional derivative is cheaper than the full "
              "gradient, by a factor of d", fresh,
              f"A regression's gradient costs {min(ratios):.1f} to {max(ratios):.1f} times a slope "
              "on fresh mini-batches, at any d; "
              f"{min(kept_last):.0f} to {max(kept_last):.0f} times (d = {last}) where the rows' "
              "products are kept",
              "" if fresh else "On a fresh mini-batch both are O(nd): a slope takes two products "
              "per row, a gradient one and a weighted sum of the rows. The factor d is that of a "
              "line whose rows stay the same, as with all the data.", partly=often,
              numbers="Nanoseconds of processor time per row of a mini-batch of 100, medians "
                      "(`bench-slopes`). The rows are in the cache or in memory; the four kinds "
                      "take turns on the same rows. \"Slope and gradient\" is the gradient of a "
                      "mini-batch right after its slope, as at a bounce.\n\n"
                      + "\n".join(table))


# ---- a Gaussian process instead of a line

def processes(lab):
    model = Logistic(lab)
    truth, sd, _ = model.truth()
    goals = {"paper": ["--paper", "--epochs", lab.pick(1000, 20000, 100000)],
             "default": ["--ess", lab.pick(100, 1000, 5000)]}
    jobs = [(way, kind, seed) for way in goals for kind in REGRESSIONS
            for seed in lab.seeds(2, 5, 5)]
    runs = lab.map(lambda job: model.sample(*goals[job[0]], "--regression", job[1], "--seed",
                                            job[2]), jobs)
    row = {(way, kind): process_row(model, (truth, sd), [r for job, r in zip(jobs, runs)
                                                         if job[:2] == (way, kind)])
           for way in goals for kind in REGRESSIONS}
    names = ["price", "price_error", "broken", "broken_error", "off", "off_error", "microseconds",
             "microseconds_error", "lost", "runs"]
    lab.table("processes", ["way", "kind", *names],
              [(*key, *values.values()) for key, values in row.items()])
    for (way, kind), values in row.items():
        for name, key, scale in (("price", "price", 1e-3), ("broken", "broken", 1), ("time",
                                                                                     "microseconds",
                                                                                     1), ("off",
                                                                                          "off",
                                                                                          1)):
            lab.fact(f"{name}_{way}_{kind}", values[key] * scale, values[f"{key}_error"] * scale)
        lab.fact(f"lost_{way}_{kind}", values["lost"])
    state_processes(lab, row)


def process_row(model, truth, runs):
    """Medians over the runs; a lost run has an infinite price and offset."""
    mean, sd = truth
    offsets = [(r.mean - mean) / sd for r in runs]
    lost = [bool(numpy.abs(off).max() > LOST) for off in offsets]
    outward = [numpy.inf if gone else float(numpy.mean(off * numpy.sign(model.mode)))
               for off, gone in zip(offsets, lost)]
    price = [numpy.inf if gone else r.info["rows_touched"] / r.info["min_ess"]
             for r, gone in zip(runs, lost)]
    pairs = {"price": median_error(price),
             "broken": median_error([100 * r.info["violations"] / r.info["proposals"]
                                     for r in runs]),
             "off": (abs(median_error(outward)[0]), median_error(outward)[1]),
             "microseconds": median_error([1e6 * r.cpu / r.info["proposals"] for r in runs])}
    return {key: value for name, pair in pairs.items()
            for key, value in ((name, pair[0]), (f"{name}_error", pair[1]))} | {
        "lost": sum(lost), "runs": len(runs)}


def state_processes(lab, row):
    better, gains = {}, {}
    for way in ("paper", "default"):
        line, gp = row[way, "linear"], row[way, "gp"]
        saved = (line["price"] - gp["price"],
                 float(numpy.hypot(line["price_error"], gp["price_error"])))
        gains[way] = (line["off"] / 2 - gp["off"],
                      float(numpy.hypot(line["off_error"] / 2, gp["off_error"])))
        better[way] = saved[0] > 2 * saved[1] or line["off"] > SMALL and gains[way][0] > 0
    table = (["| | rows per effective sample | violations, % | mean offset, sd | microseconds per "
              "proposal | lost runs |", "|---|---|---|---|---|---|"])
    table += [f"| {'line' if kind == 'linear' else 'process'}, "
              f"{'as published' if way == 'paper' else 'default'} | "
              f"{text((v['price'], v['price_error']))} | "
              f"{v['broken']:.2f} | {text((v['off'], v['off_error']))} | {v['microseconds']:.1f} | "
              f"{v['lost']} of {v['runs']} |"
              for (way, kind), v in row.items()]
    line, gp = row["paper", "linear"], row["paper", "gp"]
    lab.condition("process_truer", gp["broken"] < line["broken"] and gp["off"] < line["off"])
    lab.condition("alike_by_default", not better["default"])
    lab.claim("gp-no-better", "A Gaussian process in place of the linear regression does not "
              "improve the method", not any(better.values()),
              f"Mean offset as published {text((line['off'], line['off_error']))} sd with a line, "
              f"{text((gp['off'], gp['off_error']))} with a process, at "
              f"{gp['microseconds'] / line['microseconds']:.0f} times the time per proposal; in "
              f"the default {row['default', 'linear']['off']:.3f} and "
              f"{row['default', 'gp']['off']:.3f}",
              "The process learns its own noise variance, so that it is not misled by a mini-batch "
              "whose rows happen to agree. The default pools that variance over mini-batches, and "
              "there the line does as well." if better["paper"]
              and not better["default"] else "", partly=not all(better.values()),
              unsure=line["off"] > SMALL and near_limit(gains["paper"], 0),
              numbers="Medians over runs. The offset of a run is the mean over the parameters, "
                      "away from 0, in posterior sd.\n\n" + "\n".join(table))


def run(lab):
    model = Logistic(lab, dim=2)
    seen = model.sample("--paper", "--chains", 1, "--seed", 1, "--epochs",
                        lab.pick(400, 2000, 4000), skeleton=True, trace=True)
    found = segments(seen)
    show(lab, model, found)
    bounds(lab, model, seen)
    straightness(lab, model, found)
    costs(lab)
    processes(lab)


def check(lab):
    segment = lab.read("segment")
    proposals = [at for at in segment if at["event"] == "proposal"]
    assert len(proposals) >= 5, "the segment shown has several proposals"
    assert [at["accepted"] for at in proposals] == [0] * (len(proposals) - 1) + [1], (
        "only the last proposal is accepted")
    truth = lab.read("truth")
    assert truth[0]["G"] < 0 < truth[-1]["G"], "it goes downhill first and bounces uphill"
    noise = numpy.mean([at["c"] for at in segment])
    seen = numpy.array([at["G"] for at in proposals])
    known = numpy.interp([at["t"] for at in proposals], [row["t"] for row in truth],
                         [row["G"] for row in truth])
    z = (seen - known).mean() / noise * numpy.sqrt(len(seen))
    assert abs(z) < 4, f"observations are unbiased for the true G: z = {z:.1f}"
    bound = {row["name"]: row["bound"] for row in lab.read("bounds")}
    assert bound["sqrt(d) N max|x_ij|"] >= bound["N max|x_i|"] > 20 * bound["mean"], bound
    assert 1e4 < bound["sqrt(d) N max|x_ij|"] < 2e4, "the printed bound is in the paper's range"
    for row in lab.read("cost"):
        assert row["ratio"] < max(3, row["d"] / 4), (
            f"on fresh rows a gradient costs about what a slope costs: {row}")
        assert row["ratio_kept"] > row["ratio"], row
    assert len(lab.read("processes")) == 4
