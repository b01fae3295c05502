"""Beside Figure 11: where violations come from, the resolution dt, the slope prior and what learning it costs. All on the logistic regression of 7.1 as
published (n = 100, k = 3) but for what is named."""
import numpy

from lab import mean_error
from lab.scan import FACTORS, arrival, descend, linger

# From the published way to one whose regression is as right as it can be made, a step at a time.
STEPS = {
    "evidence without the accepted look": ["--slope-evidence", "rejected"],
    "as published": [],
    "variance pooled over batches": ["--pool-variance", "on"],
    "and a fresh batch after a bounce": ["--pool-variance", "on", "--bounce-batch", "fresh"],
    "and lack of fit in the band": ["--pool-variance", "on", "--bounce-batch", "fresh", "--lack-of-fit", "on"],
}
DTS = [0.001, 0.01, 0.03, 0.1, 0.3, 1]
USED = 0.01           # the paper's dt
PRIORS = {"hessian": "ours", "learned": "the paper's", "wide": "the authors' program's"}
CHEAP = 0.2           # share of the time of a proposal up to which learning counts as cheap
LEFT = 5.0            # posterior sd: a run whose mean is off by more has left the posterior
ALIKE = 2.0           # errors within which two results are alike


def steps(lab, model):
    """steps.csv: violations as the causes are taken away, and what the regression expects."""
    goal = lab.pick(1000, 10000, 20000)
    longs = linger(lab, model, {name: ["--paper", *words] for name, words in STEPS.items()}, lab.seeds(2, 3, 5), goal, 500)
    rows = [(name, *long.rate("violations"), long.rate("expected_violations")[0]) for name, long in longs.items()]
    rows.append(("expected of the regression", rows[-1][3], 0.0, rows[-1][3]))
    lab.table("steps", ["step", "violations", "error", "expected"], rows)
    for i, (row, following) in enumerate(zip(rows, rows[1:])):
        ratio = row[1] / following[1]
        lab.fact(f"step{i}", ratio, ratio * float(numpy.hypot(row[2] / row[1], following[2] / following[1])))
    for i, row in enumerate(rows):
        lab.fact(f"violated{i}", 100 * row[1], 100 * row[2] if row[2] else None, "%")
    lab.condition("pooling_is_most", max(range(len(rows) - 1), key=lambda i: rows[i][1] / rows[i + 1][1]) == 1)


def resolutions(lab, model):
    """dt.csv."""
    chosen = lab.pick([USED, 0.1, 1], DTS, DTS)
    goals = {f"{dt:g}": lab.pick(2000, 20000, 60000) for dt in chosen}
    longs = linger(lab, model, {name: ["--paper", "--dt", name] for name in goals}, lab.seeds(2, 3, 6), goals, lab.pick(500, 2000, 4000))
    lab.table("dt", ["dt", "violations", "violations_error", "outward", "outward_error", "worst", "worst_error", "price", "price_error", "bounce"],
              [(float(name), *long.rate("violations"), *long.outward(), *long.worst(), *long.price(), long.rate("bounces")[0]) for name, long in longs.items()])


def stayed(long):
    """Leaves the runs that left the posterior out of it; how many there are."""
    kept = [i for i, offsets in enumerate(long.offsets) if numpy.abs(offsets).max() < LEFT]
    left = len(long.runs) - len(kept)
    if kept:
        long.runs, long.offsets = [long.runs[i] for i in kept], long.offsets[kept]
    return left


def priors(lab, model):
    """priors.csv: the three slope priors, and microseconds a proposal: of a long run less a short one, one after another."""
    goals = dict.fromkeys(PRIORS, lab.pick(2000, 20000, 100000))
    longs = linger(lab, model, {name: ["--paper", "--slope-prior", name] for name in PRIORS}, lab.seeds(2, 3, 6), goals, lab.pick(500, 2000, 4000))
    left = {name: stayed(long) for name, long in longs.items()}
    for name, count in left.items():
        lab.fact(f"prior_{name}_left", count)
    lab.fact("prior_runs", len(lab.seeds(2, 3, 6)))
    lab.condition("prior_leaves", any(left.values()))
    times = {name: [] for name in PRIORS}
    for seed in lab.seeds(2, 5, 9):
        for name in PRIORS:
            short, long = (model.sample("--paper", "--slope-prior", name, *model.mode_start(), "--chains", 1, "--seed", seed, "--epochs", epochs)
                           for epochs in lab.pick((10, 500), (100, 3000), (100, 5000)))
            times[name].append(1e6 * (long.cpu - short.cpu) / (long.info["proposals"] - short.info["proposals"]))
    lab.table("priors", ["prior", "violations", "violations_error", "worst", "worst_error", "price", "price_error", "microseconds", "microseconds_error"],
              [(name, *long.rate("violations"), *long.worst(), *long.price(), *mean_error(times[name])) for name, long in longs.items()])
    ratios = numpy.array(times["learned"]) / numpy.maximum(times["wide"], 1e-9)
    return float(numpy.median(ratios)), 1.2533 * float(ratios.std(ddof=1)) / numpy.sqrt(len(ratios))


def lost(lab, model):
    """Facts: of each slope prior, runs from the notebook's starts that did not arrive."""
    epochs, seeds = lab.pick(60, 600, 600), lab.seeds(2, 6, 12)
    paths = descend(lab, model, {name: ["--paper", "--slope-prior", name] for name in PRIORS}, seeds, epochs, FACTORS["notebook"])
    for name, members in paths.items():
        lab.fact(f"prior_{name}_lost", sum(numpy.isinf(arrival(model, path, epochs)) for path in members))
    lab.fact("prior_starts", len(seeds))
    lab.fact("prior_epochs", epochs)


def claim_dt(lab):
    rows = {row["dt"]: row for row in lab.read("dt")}
    base = rows[USED]
    for dt, row in rows.items():
        tag = f"{dt:g}".replace(".", "")
        lab.fact(f"dt{tag}_violations", 100 * row["violations"], 100 * row["violations_error"], "%")
        lab.fact(f"dt{tag}_worst", row["worst"], row["worst_error"], "sd")
        lab.fact(f"dt{tag}_price", row["price"], row["price_error"], "epochs")

    def alike(row):
        same_bias = abs(row["outward"] - base["outward"]) < ALIKE * numpy.hypot(row["outward_error"], base["outward_error"]) + 0.01
        return same_bias and abs(row["violations"] / base["violations"] - 1) < 0.1
    below = [row for dt, row in rows.items() if dt <= 0.1]
    lab.condition("dt_coarse_saves", rows[1]["violations"] < 0.95 * base["violations"])
    lab.claim("dt-below-bounces", "The resolution dt need only be below the time between bounces (0.01 was used)", all(alike(row) for row in below),
              "violations and worst mean: " + "; ".join(f"dt = {dt:g} {100 * row['violations']:.2f} %, {row['worst']:.3f} +- {row['worst_error']:.3f} sd" for dt, row in rows.items()) +
              ". Bounces are 0.14 apart.",
              "" if all(alike(row) for row in below) else "Between neighbouring points the intensity is a chord, which lies above a convex band: it matters before dt reaches the time between bounces.",
              partly=sum(map(alike, below)) > 1)


def claim_learning(lab, ratio, error):
    rows = {row["prior"]: row for row in lab.read("priors")}
    for name, row in rows.items():
        lab.fact(f"prior_{name}_violations", 100 * row["violations"], 100 * row["violations_error"], "%")
        lab.fact(f"prior_{name}_worst", row["worst"], row["worst_error"], "sd")
        lab.fact(f"prior_{name}_price", row["price"], row["price_error"], "epochs")
        lab.fact(f"prior_{name}_time", row["microseconds"], row["microseconds_error"])
    lab.fact("learning_cost", 100 * (ratio - 1), 100 * error, "%")
    lab.claim("learning-cheap", "Learning mu and sigma^2 of the slope prior does not raise the cost much", ratio + 2 * error < 1 + CHEAP,
              f"processor time of a proposal with the learned prior over that with a fixed variance and a running mean: {ratio:.2f} +- {error:.2f}; violations and worst mean: " +
              "; ".join(f"{words} {100 * rows[name]['violations']:.2f} %, {rows[name]['worst']:.3f} +- {numpy.nan_to_num(rows[name]['worst_error']):.3f} sd" for name, words in PRIORS.items()) + ".",
              "" if ratio + 2 * error < 1 + CHEAP else f"We call up to {100 * CHEAP:.0f} % little; errors leave it open." if ratio - 2 * error < 1 + CHEAP else "",
              partly=ratio - 2 * error < 1 + CHEAP)


def run(lab, model):
    steps(lab, model)
    resolutions(lab, model)
    cost = priors(lab, model)
    lost(lab, model)
    claim_dt(lab)
    claim_learning(lab, *cost)


def check(lab):
    violated = [row["violations"] for row in lab.read("steps")]
    assert violated[0] > violated[-1] and violated[1] > violated[2], "pooling the variance takes violations away"
    assert {row["prior"] for row in lab.read("priors")} == set(PRIORS)
