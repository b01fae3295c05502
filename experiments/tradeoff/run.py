"""Bias against variance, the paper's central argument: the mean squared error of posterior means
and variances against the data read, for SBPS with several widths k, for exact samplers and for
stochastic-gradient samplers. Logistic regression of 7.1, d = 20, with more and more rows.

Chosen, since the paper has no such figure:
- Every run begins at a draw of Laplace's approximation. From the mode, a sampler that does not move
  at all would have a small error of the means.
- The error at a budget is that of all draws up to there: of the means in posterior variances, of
  the variances relative to the true ones. It is averaged over the parameters; curves are medians
  over seeds, and a lost run counts as infinite.
- Samplers that tune themselves (the default, boomerang, hmc) begin with the rows of set-up and
  warm-up already read. The program does not report the rows of warm-up: they are estimated by the
  time of warm-up over that of sampling.
- Processor seconds are the rows read times the processor time of a row: that of a run less that of
  one with a twentieth of its length, so that reading the table and set-up are taken off.
- SGLD's step is 0.1 at 1000 rows, the paper's choice, and falls as 1/N: the noise of a mini-batch
  then adds the same part to that of the step. mSGNHT's thermostats compensate for this noise: 0.01
  and 0.1 throughout.
- The truth: long runs of hmc; above 10,000 rows of `surrogate`, exact too and much faster, compared
  with hmc."""
import copy
import os

import numpy

from lab import median_error, near_limit
from lab.logistic import Logistic
from lab.text import markdown

TITLE = "Section 7.1: bias against variance"
PAPER = ["--paper"]
BATCH = ["--batch-size", 100, "--minibatch", "random"]
WIDTHS = 1, 2, 3, 4, 5
SAMPLERS = {  # name: (kind, options); the kind decides start and length
    **{f"sbps-{k}": ("batch", [*PAPER, "--band", k]) for k in WIDTHS},
    "default": ("tuned", ["--sampler", "sbps"]),
    "boomerang": ("tuned", ["--sampler", "boomerang"]),
    "lipsbps": ("row", ["--sampler", "lipsbps", "--batch-size", 1, "--metric", "none",
                        "--refresh-rate", 0]),
    "zigzag-ss": ("row", ["--sampler", "zigzag-ss", "--metric", "none"]),
    "local-bps": ("row", ["--sampler", "local-bps", "--metric", "none"]),
    "zigzag-cv": ("mode", ["--sampler", "zigzag-cv", "--metric", "none"]),
    "hmc": ("full", ["--sampler", "hmc"]),
    "sgld": ("batch", ["--sampler", "sgld", *BATCH]),
    "msgnht": ("batch", ["--sampler", "msgnht", "--step-size", 0.01, *BATCH]),
    "msgnht-01": ("batch", ["--sampler", "msgnht", "--step-size", 0.1, *BATCH]),
}
# the path of lipSBPS under its printed bound is the same and reads more rows
PRINTED = "lipsbps-printed"
NAMES = {**{f"sbps-{k}": f"SBPS as published, k = {k}" for k in WIDTHS},
         "default": "SBPS, our default", "boomerang": "Boomerang", "lipsbps": "lipSBPS, our bound",
         PRINTED: "lipSBPS, printed bound", "zigzag-ss": "ZZ-SS", "local-bps": "Local BPS",
         "zigzag-cv": "ZZ-CV", "hmc": "HMC", "sgld": "SGLD",
         "msgnht": "mSGNHT, h = 0.01", "msgnht-01": "mSGNHT, h = 0.1"}
QUICK = [*(f"sbps-{k}" for k in WIDTHS), "default", "lipsbps", "zigzag-ss", "zigzag-cv", "hmc",
         "sgld", "msgnht", "msgnht-01"]
SMOKE = ["sbps-1", "sbps-3", "sbps-5", "lipsbps", "zigzag-ss", "hmc"]
EXACT = [PRINTED, "zigzag-ss"]  # the exact subsampling samplers of the paper's comparison
PUBLISHED = "sbps-3"
KINDS = "mean", "variance"
# epochs at which we compare; 1000 is the paper's at N = 1000
BUDGET = {1000: 1000, 10000: 200, 100000: 50, 1000000: 15}
LOST = 25  # times d: mean squared Mahalanobis distance from the mode in the last tenth of a run


def length(lab, kind, rows):
    """Epochs of a run."""
    read = {"batch": {1000: 3e7, 10000: 5e7, 100000: 8e7, 1000000: 1e8},
            "row": {1000: 5e6, 10000: 5e6, 100000: 6e6, 1000000: 1e7},
            "tuned": {1000: 3e6, 10000: 3e6, 100000: 3e6, 1000000: 5e6},
            "full": {1000: 1e7, 10000: 3e7, 100000: 1e8, 1000000: 3e8}}
    return lab.pick(0.03, 1, 3) * read["row" if kind == "mode" else kind][rows] / rows


def options(problem, name, seed):
    kind, words = SAMPLERS[name]
    if name == "sgld":
        words = [*words, "--step-size", f"{100 / problem.n:.6g}"]
    start = {"tuned": ["--spread", 1], "full": ["--spread", 1],
             "mode": ["--spread", 1, "--warmup", 0]}
    return [*words, *(start[kind] if kind in start else problem.laplace_start(seed, 1))]


def truth_of(lab, problem):
    """(means, sds, standard errors of the means)."""
    if problem.n <= 10000:
        return problem.truth(lab.pick(500, 20000, 100000))
    path = f"{problem.data[:-4]}_surrogate_{lab.level}.csv"
    if not os.path.exists(path):
        run = problem.sample("--sampler", "surrogate", "--seed", 99, "--ess",
                             lab.pick(2000, 100000, 400000), "--draws", 20000)
        numpy.savetxt(path, numpy.column_stack([run.mean, run.sd, run.mcse]), delimiter=",",
                      fmt="%.17g")
    mean, sd, error = numpy.loadtxt(path, delimiter=",").T
    check = problem.sample("--sampler", "hmc", "--seed", 98, "--ess", lab.pick(50, 200, 2000))
    lab.fact(f"truth-z-{problem.n}",
             float(numpy.abs((check.mean - mean) / numpy.hypot(check.mcse, error)).max()))
    return mean, sd, error


class Run:
    """Errors of one run at budgets.

    epochs   budgets
    error    {"mean", "variance"}: squared error at each budget, averaged over the parameters
    offset   {"mean", "variance"}: signed errors of the whole run by parameter, in posterior sd and
        relative
    price    epochs per effective sample of the slowest parameter or square
    effort   proposals per bounce"""

    def __init__(self, lab, problem, truth, name, seed):
        kind = SAMPLERS[name][0]
        total = length(lab, kind, problem.n)
        run = problem.sample(*options(problem, name, seed), "--chains", 1, "--seed", seed,
                             "--epochs", f"{total:.6g}", "--draws", 4000)
        w, read = run.w[0], run.rows[0] / problem.n
        before = (run.info["passes_setup"]
                  + total * run.info["seconds_warmup"] / max(run.info["seconds_sampling"], 1e-9)
                  if kind in ("tuned", "full") else 0.0)
        mean, sd, _ = truth
        count = numpy.arange(1, len(w) + 1)[:, None]
        centred = (w - mean) / sd  # against cancellation
        first, second = (numpy.cumsum(centred, axis=0) / count,
                         numpy.cumsum(centred**2, axis=0) / count)
        self.epochs = numpy.geomspace(total / 300, total, 31)
        last = numpy.clip(numpy.searchsorted(read, self.epochs * (1 + 1e-9), side="right") - 1, 0,
                          None)
        of = {"mean": first[last], "variance": second[last] - first[last] ** 2 - 1}
        self.error = {what: (of[what] ** 2).mean(axis=1) for what in KINDS}
        self.offset = {what: of[what][-1] for what in KINDS}
        away = w[-len(w) // 10:] - problem.mode
        self.lost = bool((away @ numpy.linalg.inv(problem.covariance) * away).sum(axis=1).mean()
                         > LOST * problem.d)
        self.epochs = self.epochs + before
        self.price = run.info["rows_touched"] / problem.n / max(run.info["min_ess"], 1e-9)
        self.effort = run.info["proposals"] / max(run.info["bounces"], 1)
        self.cpu, self.total = run.cpu, total
        self.violations = run.info["violations"] / run.info["proposals"]


def stretched(run, factor):
    """The same path where its rows count `factor` times."""
    new = copy.copy(run)
    new.epochs, new.price, new.total = run.epochs * factor, run.price * factor, run.total * factor
    return new


def seconds_per_epoch(problem, name, runs):
    short = problem.sample(*options(problem, name, 1), "--chains", 1, "--seed", 1, "--epochs",
                           f"{runs[0].total / 20:.6g}", "--draws", 4000)
    return max(float(numpy.median([run.cpu - short.cpu for run in runs])),
               1e-3) / (0.95 * runs[0].total)


def plateau(runs, what, truth):
    """Mean over the parameters of the squared bias, what chance adds taken off, and its error by
    leaving out a seed at a time; of found runs."""
    offsets = numpy.array([run.offset[what] for run in runs if not run.lost])
    chance_of_truth = numpy.mean((truth[2] / truth[1]) ** 2) if what == "mean" else 0.0

    def once(part):
        return float(numpy.mean(part.mean(axis=0) ** 2 - part.var(axis=0, ddof=1) / len(part))
                     - chance_of_truth)
    n = len(offsets)
    if 2 * n <= len(runs) or n < 3:
        return numpy.inf, numpy.nan
    out = [once(numpy.delete(offsets, i, axis=0)) for i in range(n)]
    return once(offsets), float(numpy.sqrt((n - 1) * numpy.var(out)))


def at_budget(runs, what, epochs):
    """Error of each run at a budget, beyond its end as 1/budget: only for samplers without bias.
    Lost runs are infinite."""
    values = []
    for run in runs:
        inside = min(epochs, run.epochs[-1])
        value = numpy.exp(numpy.interp(numpy.log(inside), numpy.log(run.epochs),
                                       numpy.log(run.error[what])))
        values.append(numpy.inf if run.lost else float(value * inside / epochs))
    return numpy.array(values)


def ratio_of(others, ours):
    """Median of `others` over that of `ours`, and its error."""
    a, b = median_error(others), median_error(ours)
    return a[0] / b[0], a[0] / b[0] * float(numpy.hypot(a[1] / a[0], b[1] / b[0]))


def sign_of(ratio):
    """1 or -1 if the ratio is above or below 1 by two errors of its logarithm, else 0."""
    log, error = numpy.log(ratio[0]), numpy.nan_to_num(ratio[1] / ratio[0])
    return int(numpy.sign(log)) if abs(log) >= 2 * error else 0


def crossing(exact, ours, flat, what):
    """Epochs from which an exact sampler has the smaller median error for good. Beyond the runs its
    error falls as 1/budget, and what that of SBPS has above its squared bias `flat` falls likewise.
    Infinite if there is none, as where the bias is not resolved."""
    grid = numpy.geomspace(exact[0].epochs[0], 1e9, 2000)
    level = numpy.median([numpy.inf if run.lost else run.error[what] for run in ours], axis=0)
    floor, end = (flat[0] if flat[0] > 2 * flat[1] else 0.0), ours[0].epochs[-1]
    mine = numpy.interp(numpy.log(grid), numpy.log(ours[0].epochs), level)
    mine = numpy.where(grid > end, floor + max(level[-1] - floor, 0.0) * end / grid, mine)
    ahead = numpy.array([numpy.median(at_budget(exact, what, epochs)) for epochs in grid]) < mine
    if not ahead[-1]:
        return numpy.inf
    return (float(grid[0]) if ahead.all()
            else float(grid[len(grid) - int(numpy.argmin(ahead[::-1]))]))


# ---- the experiment


def tabulate(tables, n, name, mine, seconds, truth):
    curves, levels, found, prices = tables
    found[n, name] = mine
    kept = [one for one in mine if not one.lost]
    for what in KINDS:
        for i, epochs in enumerate(numpy.median([one.epochs for one in mine], axis=0)):
            curves.append((n, name, what, epochs, epochs * seconds,
                           *median_error([numpy.inf if one.lost else one.error[what][i]
                                          for one in mine])))
    prices[n, name] = median_error([numpy.inf if one.lost else one.price for one in mine])
    flat = {what: plateau(mine, what, truth) for what in KINDS}
    levels += [(n, name, what, *flat[what], len(mine) - len(kept), len(mine), *prices[n, name],
                seconds,
                100 * numpy.median([one.violations for one in mine])) for what in KINDS]


def run(lab):
    sizes = lab.pick([1000], [1000, 100000], [1000, 10000, 100000, 1000000])
    names = lab.pick(SMOKE, QUICK, list(SAMPLERS))
    tables = [], [], {}, {}
    curves, levels, found, prices = tables
    for n in sizes:
        problem = Logistic(lab, n)
        truth = truth_of(lab, problem)
        seeds = lab.seeds(3, 16, 24) if n < 100000 else lab.seeds(3, 8, 12)
        jobs = [(name, seed) for name in names for seed in seeds]
        runs = lab.map(lambda job: Run(lab, problem, truth, *job), jobs)
        looser = float(numpy.sqrt(problem.d) * numpy.abs(problem.x).max()
                       / numpy.linalg.norm(problem.x, axis=1).max())
        lab.fact(f"looser-{n}", looser)
        for name in names:
            mine = [one for job, one in zip(jobs, runs) if job[0] == name]
            seconds = seconds_per_epoch(problem, name, mine)
            tabulate(tables, n, name, mine, seconds, truth)
            if name == "lipsbps":
                tabulate(tables, n, PRINTED, [stretched(one, looser) for one in mine], seconds,
                         truth)
    names = [*names, PRINTED]
    lost = {name: all(not numpy.isfinite(prices[n, name][0]) for n in sizes) for name in names}
    lab.table("present", NAMES, [[(2 if lost[name] else 1) if name in names else 0
                                  for name in NAMES]])
    lab.table("curves", ["rows", "sampler", "what", "epochs", "seconds", "mse", "error"], curves)
    lab.table("levels", ["rows", "sampler", "what", "bias2", "error", "lost", "runs", "price",
                         "price_error", "seconds_per_epoch", "violations"], levels)
    lab.table("sizes", ["rows"], [(n,) for n in sizes])
    lab.fact("sizes", len(sizes))
    flat = {row[:3]: row[3:5] for row in levels}
    claim_worth(lab, sizes, found, flat, "mean", "worth-means", "the means")
    claim_worth(lab, sizes, found, flat, "variance", "worth-variances", "the variances")
    claim_width(lab, sizes, levels, prices, found)
    compare_rest(lab, sizes, names, found)


def show(value, error=numpy.nan):
    """Two digits of the error, or three of the value."""
    if not numpy.isfinite(value):
        return "lost"
    if not error > 0:
        return f"{value:.3g}" if value < 1000 else f"{float(f'{value:.3g}'):,.0f}"
    places = max(0, 1 - int(f"{error:e}".split("e")[1]))
    return f"{value:.{places}f} +- {error:.{places}f}"


def claim_worth(lab, sizes, found, flat, what, key, words):
    """SBPS with k = 3 against the exact samplers at the budgets of BUDGET, the budgets where the
    curves cross, and the same for k = 5."""
    ratios, rows, ends = {}, [], {}
    for k in (3, 5):
        for n in sizes:
            ours, budget = found[n, f"sbps-{k}"], budget_of(found, n)
            lost = sum(one.lost for one in ours)
            for name in EXACT:
                pair = n, name, k
                ratios[pair] = ratio_of(at_budget(found[n, name], what, budget),
                                        at_budget(ours, what, budget))
                ends[pair] = crossing(found[n, name], ours, flat[n, f"sbps-{k}", what], what)
                inside = ends[pair] <= min(found[n, name][0].epochs[-1], ours[0].epochs[-1])
                begin = ends[pair] <= found[n, name][0].epochs[0]
                until = ("the start" if begin else f"{show(ends[pair])} epochs"
                         + ("" if inside else " (extrapolated)"))
                until = until if numpy.isfinite(ends[pair]) else "no budget"
                rows.append((k, f"{n:,}", NAMES[name], show(budget),
                             show(*median_error(at_budget(ours, what, budget))),
                             show(*median_error(at_budget(found[n, name], what, budget))),
                             show(*ratios[pair]), until, f"{lost} of {len(ours)}"))
                short = f"{key}-{name}-{n}-{k}"
                lab.fact(short, *ratios[pair])
                lab.fact(f"{short}-from", until)
    signs = {pair: sign_of(ratio) for pair, ratio in ratios.items()}
    at = {n: [signs[n, name, 3] for name in EXACT] for n in sizes}
    wins = [n for n in sizes if min(at[n]) > 0]
    rest = [n for n in sizes if n not in wins]
    wider = [n for n in rest if all(signs[n, name, 5] > 0 for name in EXACT)]
    resolved = {n: flat[n, PUBLISHED, what][0] > 2 * flat[n, PUBLISHED, what][1] for n in sizes}
    lab.condition(f"{key}-crosses", any(numpy.isfinite(ends[n, name, 3]) for n in sizes
                                        for name in EXACT))
    why = []
    for n in rest[-1:]:
        bias = {k: show(*flat[n, f"sbps-{k}", what]) for k in (3, 5)}
        why.append(f"With N = {n:,} and n = 100 the squared bias of k = 3 is {bias[3]}, that of k "
                   f"= 5 {bias[5]}"
                   + (", and with k = 5 SBPS is ahead." if n in wider else ".")
                   if resolved[n] else f"For N = {n:,} the difference is within two standard "
                   "errors.")
    first = min(sizes)
    early = [ends[first, name, 3] for name in EXACT if numpy.isfinite(ends[first, name, 3])]
    if early:
        why.append(f"For N = {first:,} an exact sampler has the smaller error from "
                   f"{show(min(early))} epochs on.")
    shown = list(dict.fromkeys((sizes[0], sizes[-1])))
    lab.claim(key, f"At equal data SBPS (k = 3) has a smaller error of {words} than exact "
              "subsampling samplers: its small bias is worth the reduction in variance",
              len(wins) == len(sizes), "Error of lipSBPS and ZZ-SS over that of SBPS: " + "; ".join(
                  f"{ratios[n, PRINTED, 3][0]:.2g} and {ratios[n, 'zigzag-ss', 3][0]:.2g} (N = "
                  f"{n}, {budget_of(found, n):g} epochs)" for n in shown) + ".",
              " ".join(why), partly=bool(wins), unsure=all(min(at[n]) == 0 and not resolved[n]
                                                           for n in rest) and bool(rest),
              numbers="Medians over seeds of the mean squared error "
              + ("in posterior variances" if what == "mean" else "relative to the true variances")
              + ". The last budget is the one from which the exact sampler has the smaller error. "
              "Beyond the runs its error is taken to fall as 1/budget, which favours samplers "
              "that have not mixed yet, and that of SBPS to fall to its squared bias; \"no "
              "budget\": this bias is not resolved by our runs.\n\n"
              + markdown(["k", "N", "exact sampler", "budget, epochs", "error of SBPS",
                          "error of the exact sampler", "ratio", "exact one ahead from",
                          "lost runs of SBPS"], rows))


def budget_of(found, n):
    """Epochs at which samplers are compared: that of BUDGET, or the end of a shorter run of
    SBPS."""
    return float(min(BUDGET[n], found[n, PUBLISHED][0].epochs[-1]))


def claim_width(lab, sizes, levels, prices, found):
    level = {(row[0], row[1], row[2]): (row[3], row[4]) for row in levels}
    rows, drops, rises, ends = [], [], [], {}
    effort = {key: median_error([numpy.inf if one.lost else one.effort for one in found[key]])
              for key in found if key[1].startswith("sbps")}
    for n in sizes:
        widths = [k for k in WIDTHS if (n, f"sbps-{k}") in prices]
        for k in widths:
            bias, price = {what: level[n, f"sbps-{k}", what]
                           for what in KINDS}, prices[n, f"sbps-{k}"]
            row = next(row for row in levels if row[:3] == (n, f"sbps-{k}", "mean"))
            rows.append((f"{n:,}", k, show(*bias["mean"]), show(*bias["variance"]),
                         show(*effort[n, f"sbps-{k}"]), show(*price), f"{row[10]:.3g} %",
                         f"{row[5]} of {row[6]}"))
            for what in KINDS:
                lab.fact(f"bias2-{what}-{k}-{n}", *bias[what])
        kept = [k for k in widths if numpy.isfinite(prices[n, f"sbps-{k}"][0])]
        ends[n] = kept[0], kept[-1]
        first, last = ((n, f"sbps-{k}") for k in ends[n])
        drops.append(difference(level[(*first, "mean")], level[(*last, "mean")]))
        rises.append(difference(effort[last], effort[first]))
    n, top = sizes[0], sizes[-1]
    lab.fact("least", n)
    lab.fact("most", top)
    for label, size, k in (("bias-least", n, 3), ("bias-most", top, 3), ("bias-most-wide", top, 5)):
        lab.fact(label, *level[size, f"sbps-{k}", "mean"])
    growth = difference(level[top, PUBLISHED, "mean"], level[n, PUBLISHED, "mean"])
    lab.condition("bias-grows", top > n and growth[0] > 2 * growth[1])
    first, last = ((n, f"sbps-{k}") for k in ends[n])
    less, more = all(pair[0] > 0 for pair in drops), all(pair[0] > 0 for pair in rises)
    lost = {k: sum(one.lost for one in found[n, f"sbps-{k}"]) for k in WIDTHS
            if (n, f"sbps-{k}") in found}
    small = [k for k in lost if 2 * lost[k] > len(found[n, f"sbps-{k}"])]
    lab.condition("small-k-lost", bool(small))
    lab.claim("k-controls", "k controls the trade-off between bias and cost: a higher k is less "
              "biased and more data-inefficient (4.1)", less and more,
              f"N = {n}, k = {ends[n][0]} and {ends[n][1]}: squared bias of the means "
              f"{show(*level[(*first, 'mean')])} and {show(*level[(*last, 'mean')])}, proposals "
              f"per bounce {show(*effort[first])} and {show(*effort[last])}.",
              f"With k = {' and '.join(map(str, small))} most runs were lost." if small else "",
              partly=less or more,
              unsure=less and more and any(near_limit(pair, 0) for pair in (*drops, *rises)),
              numbers="Squared bias, averaged over the parameters, by the means over seeds of the "
                      "longest runs, what chance adds taken off. Proposals per bounce and epochs "
              "per effective sample (of the slowest parameter or square) are medians over "
              "seeds.\n\n"
              + markdown(["N", "k", "squared bias of the means, sd^2", "of the variances, relative",
                          "proposals per bounce", "epochs per effective sample",
                          "violations", "lost runs"], rows))


def difference(a, b):
    return a[0] - b[0], float(numpy.hypot(a[1], b[1]))


def compare_rest(lab, sizes, names, found):
    """Errors of all samplers at the budgets of BUDGET, or where their first draws come later or
    their runs end earlier, there."""
    rows = []
    for n in sizes:
        for name in sorted(names, key=list(NAMES).index):
            mine = found[n, name]
            begin, end = (float(numpy.median([one.epochs[i] for one in mine])) for i in (10, -1))
            budget = min(max(BUDGET[n], begin), end)
            errors = [median_error(at_budget(mine, what, budget)) for what in KINDS]
            rows.append((n, name, budget, *errors[0], *errors[1], sum(one.lost for one in mine)))
    lab.table("budgets", ["rows", "sampler", "epochs", "mean", "mean_error", "variance",
                          "variance_error", "lost"], rows)
    lab.fact("all", markdown(["N", "sampler", "epochs", "error of the means",
                              "error of the variances"],
                             [(f"{n:,}", NAMES[name], show(epochs), show(mean, e),
                               show(variance, f))
                              for n, name, epochs, mean, e, variance, f, _ in rows]))
    error = {row[:2]: row[3:5] for row in rows}
    ours, published = error.get((sizes[-1], "default")), error[sizes[-1], PUBLISHED]
    lab.condition("default-ahead", ours is not None and published[0] > ours[0]
                  and not near_limit(difference(published, ours), 0))


def check(lab):
    rows = lab.read("levels")
    assert all(row["lost"] <= row["runs"] for row in rows)
    at = {(row["rows"], row["sampler"], row["what"]): row for row in rows}
    if lab.level == "smoke":
        return
    # the last of each
    end = {(row["rows"], row["sampler"], row["what"]): row for row in lab.read("curves")}
    for key, row in at.items():
        exact = key[1] in ("hmc", "lipsbps", "zigzag-ss", "zigzag-cv")
        if exact and end[key]["epochs"] > 50 * row["price"]:
            assert row["lost"] == 0 and row["bias2"] < 0.02 + 4 * row["error"], (
                ("exact samplers have no bias", row))
        if key[1] in ("hmc", "default"):
            assert end[key]["mse"] < 0.03, ("hmc and the default reach the truth", end[key])
