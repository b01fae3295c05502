"""Figure 4: the logistic regression of 7.1 with d = 20, N = 1000, k = 3, n = 100. NLL per row
against epochs for SBPS, SGLD, mSGNHT, lipSBPS and ZZ-SS from common random starts; trajectories and
autocorrelations along the eigenvectors of Laplace's covariance with the largest and the smallest
variance; CPU time of 100 epochs. Beside them two later samplers with control variates, Boomerang
and Zig-Zag.

Left open by the paper, and chosen:
- The distribution of the random starts. `notebook`: normal(mode, 100 times Laplace's covariance),
  as in the authors' public notebook. `near`: the same with 10 times. `far`: uniform on [-5, 5], the
  distribution of the true weights.
- What a step of 0.1 means for mSGNHT. In the authors' public code it is the time step, whose square
  is our h: h = 0.01. Since SGLD's 0.1 is h itself, h = 0.1 is shown, too.
- lipSBPS with its printed bound sqrt(d) N max|x_ij| is the same process as with ours, N max|x_i|,
  and evaluates more rows in the ratio of the two: its epochs are those of our run times that ratio.
- Lengths. Convergence: 1000 epochs. Autocorrelations: 60,000, begun at draws of the posterior, so
  that no burn-in is guessed.

A run has not arrived if its NLL never comes within 2 sd of Laplace's mean; it is lost if, besides,
it ends farther out than it began. Curves and factors are medians, in which such runs count as
infinite or as the whole length."""
import resource

import numpy

from lab import acf, ess, mean_error, median_error, near_limit
from lab.logistic import MODEL, Logistic
from lab.text import markdown, show

TITLE = "Figure 4: logistic regression, d = 20, N = 1000"
DISCRETE = ["--batch-size", 100, "--minibatch", "random"]
EXACT = ["--metric", "none", "--refresh-rate", 0]
SAMPLERS = {
    "sbps": ["--paper"],
    "sgld-0.1": ["--sampler", "sgld", "--step-size", 0.1, *DISCRETE],
    "sgld-0.01": ["--sampler", "sgld", "--step-size", 0.01, *DISCRETE],
    "msgnht-0.01": ["--sampler", "msgnht", "--step-size", 0.01, *DISCRETE],
    "msgnht-0.1": ["--sampler", "msgnht", "--step-size", 0.1, *DISCRETE],
    "lipsbps": ["--sampler", "lipsbps", "--batch-size", 1, *EXACT],
    "zigzag-ss": ["--sampler", "zigzag-ss", "--metric", "none"],
}
# control variates, dense metric
LATER = {"boomerang": ["--sampler", "boomerang"], "zigzag-cv": ["--sampler", "zigzag-cv"]}
REFRESHED = "sbps-refreshed"  # the authors' public code refreshes at this rate
REFRESH_RATE = 0.05
PRINTED = "lipsbps-printed"
DEFAULT, WARMUP = "default", 2000
SIDES = ["largest", "smallest"]
STARTS = {"notebook": 100, "near": 10}  # times Laplace's covariance; "far" is uniform
RIVALS = ["sgld-0.1", "sgld-0.01", "msgnht-0.01", PRINTED, "zigzag-ss"]  # the authors' own settings
NAMES = {"sbps": "SBPS as published", REFRESHED: "SBPS, refreshed at 0.05",
         "sgld-0.1": "SGLD, h = 0.1", "sgld-0.01": "SGLD, h = 0.01",
         "msgnht-0.01": "mSGNHT, h = 0.01 (time step 0.1)", "msgnht-0.1": "mSGNHT, h = 0.1",
         PRINTED: "lipSBPS, printed bound",
         "lipsbps": "lipSBPS, our bound", "zigzag-ss": "ZZ-SS", "boomerang": "Boomerang (later)",
         "zigzag-cv": "Zig-Zag with control variates (later)",
         DEFAULT: "default of this program"}
LONGER = {"zigzag-ss": 5}  # times the epochs of the others, so that its arrivals are measured
ORDER, ORDERS = 10, 100  # "orders of magnitude" begin at the second
TWICE = 2
FEW = 10  # effective samples of a long run


def join(words):
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def beyond(pair):
    """Whether a ratio is above 1 (1) or below (-1) by more than two standard errors of its
    logarithm, or neither (0)."""
    value, error = numpy.log(pair[0]), 2 * numpy.nan_to_num(pair[1]) / pair[0]
    return int(value > error) - int(value < -error)


def fact(lab, key, *rest):
    """Keys of facts have no dots: sgld-0.1 becomes sgld-01."""
    lab.fact(key.replace(".", ""), *rest)


# ---- convergence


def converge(lab, problem, starts, name, options):
    """(epochs, NLL, w) of each draw, the start first; one run per start."""
    times = LONGER.get(name, 1)
    length, draws = times * lab.pick(60, 1000, 1000), times * lab.pick(300, 2000, 4000)

    def one(item):
        seed, start = item
        run = problem.sample(*start, "--chains", 1, "--seed", seed, "--epochs", length, "--draws",
                             draws, *options)
        begin = numpy.loadtxt(start[1], delimiter=",", skiprows=1, usecols=1)
        w = numpy.vstack([begin, run.w[0]])
        epochs = numpy.concatenate([[0.0], run.rows[0] / problem.n])
        return epochs, problem.nll(w), w
    return lab.map(one, starts)


def latest(epochs, grid):
    """The last draw at each epoch of the grid; at 0 the start, since a path moves on before its
    first proposal."""
    return numpy.where(grid > 0, numpy.searchsorted(epochs, grid, side="right") - 1, 0)


def hit(epochs, nll, limit):
    """First epoch at which the NLL is within the limit; infinite where the run ends before."""
    inside = nll <= limit
    return epochs[inside.argmax()] if inside.any() else numpy.inf


def ratio_error(others, ours, longest, length):
    """Median over starts of how many times longer the others took, and its error; a run that did
    not arrive counts as its length, `longest` or `length`, so that the ratio is at least this."""
    logs = (numpy.log(numpy.minimum(others, longest))
            - numpy.log(numpy.maximum(numpy.minimum(ours, length), 0.1)))
    middle, error = median_error(logs)
    return float(numpy.exp(middle)), float(numpy.exp(middle) * error)


def grid_rows(start, name, runs, grid):
    """Median, least and largest NLL over the runs at each epoch of the grid."""
    values = numpy.array([nll[latest(epochs, grid)] for epochs, nll, _ in runs])
    reach = max(epochs[-1] for epochs, _, _ in runs)
    for epoch, column in zip(grid, values.T):
        if epoch <= reach:
            yield start, name, epoch, numpy.median(column), column.min(), column.max()


def convergence(lab, problem, factor):
    mean, sd = problem.laplace_nll()
    length = lab.pick(60, 1000, 1000)
    grid = numpy.concatenate([[0.0], numpy.geomspace(0.3, length, lab.pick(20, 90, 90))])
    rows, hits, paths = [], [], {}
    starts = {"notebook": (lambda seed: problem.laplace_start(seed, STARTS["notebook"]),
                           lab.seeds(2, 8, 24)),
              "near": (lambda seed: problem.laplace_start(seed, STARTS["near"]),
                       lab.seeds(2, 5, 12)),
              "far": (problem.random_start, lab.seeds(1, 5, 12))}
    settings = {**SAMPLERS, REFRESHED: ["--paper", "--refresh-rate", REFRESH_RATE], **LATER}
    for kind, (start, seeds) in starts.items():
        points = [(seed, start(seed)) for seed in seeds]
        for name, options in settings.items():
            runs = converge(lab, problem, points, name, options)
            family = {name: runs}
            if name == "lipsbps":
                family[PRINTED] = [(epochs * factor, nll, w) for epochs, nll, w in runs]
            for key, members in family.items():
                rows += grid_rows(kind, key, members, grid)
                for seed, (epochs, nll, w) in zip(seeds, members):
                    arrival = hit(epochs, nll, mean + 2 * sd)
                    lost = int(numpy.isinf(arrival) and numpy.median(nll[-len(nll) // 10:])
                               > nll[0])
                    hits.append((kind, key, seed, arrival, lost,
                                 numpy.linalg.norm(w, axis=1).max()))
                if kind == "near" and key != REFRESHED:
                    paths[key] = members[0]
    lab.table("nll", ["start", "sampler", "epoch", "median", "least", "largest"], rows)
    lab.table("hits", ["start", "sampler", "seed", "epochs", "lost", "farthest"], hits)
    return paths


def hits_of(lab, start, name):
    return numpy.array([row["epochs"] for row in lab.read("hits")
                        if (row["start"], row["sampler"]) == (start, name)])


def write_trajectories(lab, problem, truth, paths):
    reach = lab.pick(60, 300, 300)
    grid = numpy.linspace(0, reach, 251)
    rows = []
    for name, (epochs, _, w) in paths.items():
        known = grid <= epochs[-1]
        for side in SIDES:
            z = (numpy.interp(grid, epochs, (w @ problem.directions[side]
                                             - truth[side]["mean"]) / truth[side]["sd"]))
            rows += [(name, side, round(epoch, 3), round(value, 4))
                     for epoch, value in zip(grid[known], z[known])]
    lab.table("trajectories", ["sampler", "direction", "epoch", "z"], rows)


# ---- long runs


def posterior(problem):
    """The posterior by hmc: mean and sd along both directions and of the NLL."""
    draws = problem.truth_draws()
    what = {side: draws @ problem.directions[side] for side in SIDES}
    what["nll"] = numpy.concatenate([problem.nll(part) for part in numpy.array_split(draws, 20)])
    return {key: {"mean": x.mean(), "sd": x.std(), "n": len(x)} for key, x in what.items()}, draws


def smaller_ess(x):
    """Of the mean and of the spread: a path that swings to and fro knows its mean long before its
    spread."""
    return min(ess(x), ess((x - x.mean()) ** 2))


def long_run(lab, problem, truth, moments, start, name, seed):
    length, count = lab.pick(300, 20000, 60000), lab.pick(600, 20000, 60000)
    options = ([*start, *SAMPLERS[name]] if name in SAMPLERS
               else ["--warmup", WARMUP, *LATER.get(name, [])])
    run = problem.sample("--chains", 1, "--seed", seed, "--epochs", length, "--draws", count,
                         *options)
    w = run.w[0][numpy.linspace(0, run.w.shape[1] - 1, count).astype(int)]
    lags = numpy.unique(numpy.geomspace(1, min(count // 4, 1000 * count // length),
                                        130).astype(int))
    result = {"batch": run.info["batch_size"], "z": (w.mean(axis=0) - moments[0]) / moments[1],
              "nll": numpy.median(problem.nll(w[::max(1, count // 2000)])),
              "lags": lags * length / count}
    for side in SIDES:
        x = w @ problem.directions[side]
        result[side] = {"acf": acf(x, lags[-1] + 1)[lags], "ess": smaller_ess(x) / length,
                        "bias": (x.mean() - truth[side]["mean"]) / truth[side]["sd"],
                        "sd": x.std() / truth[side]["sd"]}
    return result


def stretched(lags, curves, factor):
    """The same curves on a path that takes `factor` times the epochs; at lag 0 they are 1."""
    return numpy.array([numpy.interp(lags / factor, [0, *lags], [1, *curve]) for curve in curves])


def long_runs(lab, problem, truth, draws, factor):
    moments, seeds = problem.truth(), lab.seeds(2, 3, 5)
    picks = numpy.random.default_rng(5).integers(len(draws), size=len(seeds))
    starts = [["--start", problem.point(f"draw_{seed}.csv", draws[i]), "--spread", 0, "--warmup", 0]
              for seed, i in zip(seeds, picks)]
    centre, width = problem.laplace_nll()
    found, rows, lags, lost = {}, [], [], []
    for name in [*SAMPLERS, *LATER, DEFAULT]:
        runs = lab.map(lambda item: long_run(lab, problem, truth, moments, item[1], name, item[0]),
                       zip(seeds, starts))
        left = [run for run in runs if run["nll"] > centre + 10 * width]
        lost.append((name, len(left), len(runs)))
        found[name] = runs = [run for run in runs if run["nll"] <= centre + 10 * width] or runs
        worst = numpy.array([run["z"] for run in runs])
        j = numpy.abs(worst.mean(axis=0)).argmax()
        for side in SIDES:
            ends = [mean_error([run[side][key] for run in runs]) for key in ("ess", "bias", "sd")]
            rows.append((name, side, *ends[0], *ends[1], *ends[2], *mean_error(worst[:, j])))
            curves = numpy.array([run[side]["acf"] for run in runs])
            lags += [(name, side, lag, *numpy.round(mean_error(column), 4))
                     for lag, column in zip(runs[0]["lags"], curves.T)]
            if name == "lipsbps":  # the same path, stretched
                rows.append((PRINTED, side, *(numpy.array(ends[0]) / factor), *rows[-1][4:]))
                lags += [(PRINTED, side, lag, *numpy.round(mean_error(column), 4))
                         for lag, column in
                         zip(runs[0]["lags"], stretched(runs[0]["lags"], curves, factor).T)]
    lab.table("mixing", ["sampler", "direction", "ess_per_epoch", "ess_error", "bias", "bias_error",
                         "sd_ratio", "sd_error", "worst",
                         "worst_error"], rows)
    lab.table("acf", ["sampler", "direction", "lag", "acf", "error"], lags)
    lab.table("lost_long", ["sampler", "lost", "runs"], lost)
    return found, starts


# ---- time


def cpu_of(lab, *words):
    """CPU seconds of one call of the program: children of this process, nothing else running."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    lab.call(*words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def times(lab, problem):
    """CPU milliseconds of 100 epochs: what a long run takes beyond a short one, repetition by
    repetition. Set-up of the default command: milliseconds by the clock."""
    length, start = lab.pick(200, 2000, 4000), problem.mode_start()
    rows = []
    for repetition in range(lab.pick(1, 5, 9)):
        for name, options in {**SAMPLERS, **LATER}.items():
            words = ["sample", problem.data, *MODEL, *start, "--chains", 1, "--threads", 1,
                     "--progress", "off", "-o", lab.file("t.nc"),
                     *options]
            spent = cpu_of(lab, *words, "--epochs", length) - cpu_of(lab, *words, "--epochs", 1)
            rows.append((name, repetition, 1000 * max(spent, 0.0) * 100 / (length - 1)))
        setup = problem.sample("--chains", 1, "--epochs", 1, "--seed",
                               repetition + 1).info["seconds_setup"]
        rows.append(("set-up", repetition, 1000 * setup))
    lab.table("time", ["sampler", "repetition", "ms"], rows)


def times_of(lab, name):
    return numpy.array([row["ms"] for row in lab.read("time") if row["sampler"] == name])


# ---- the bound of lipSBPS


def bounds(lab, problem):
    """Bounds of Supplement H's chain of inequalities over those of Bouchard-Cote et al. (2018) for
    logistic rows, at random velocities on the sphere. Theirs: row r cannot contribute more than
    sum_k |x_rk v_k| over the k in which its loss rises along v; `signs` counts only these, `all`
    every k. Local BPS sums the rows (`sum`); a bound that does not know the row is N times the
    worst row (`worst`). Supplement H: the third line is the sum of |x_i| or N max |x_i| (`norms`),
    the last sqrt(d) N max |x_ij| (`printed`)."""
    velocities = numpy.random.default_rng(7).standard_normal((lab.pick(20, 200, 1000), problem.d))
    velocities /= numpy.linalg.norm(velocities, axis=1, keepdims=True)
    tables = {"as it is": problem.x, "absolute": numpy.abs(problem.x),
              "shifted": problem.x - problem.x.min(axis=0)}
    rows = []
    for label, x in tables.items():
        norms = numpy.linalg.norm(x, axis=1)
        printed = numpy.sqrt(problem.d) * problem.n * numpy.abs(x).max()
        signed = numpy.where(problem.y[:, None] > 0, -1.0, 1.0) * x
        theirs = {"signs": numpy.array([numpy.maximum(signed * v, 0).sum(axis=1)
                                        for v in velocities]),
                  "all": numpy.abs(velocities) @ numpy.abs(x).T}
        ratios = {"printed-norms": numpy.full(len(velocities), printed / (problem.n * norms.max())),
                  "worst-mean": numpy.full(len(velocities), norms.max() / norms.mean())}
        for terms, each in theirs.items():
            total, worst = each.sum(axis=1), problem.n * each.max(axis=1)
            ratios |= {f"printed-sum-{terms}": printed / total,
                       f"printed-worst-{terms}": printed / worst,
                       f"norms-sum-{terms}": norms.sum() / total,
                       f"norms-worst-{terms}": problem.n * norms.max() / worst}
        rows += [(label, reading, ratio.mean(), ratio.std(), ratio.min(), ratio.max())
                 for reading, ratio in ratios.items()]
    lab.table("bounds", ["covariates", "reading", "ratio", "sd", "least", "largest"], rows)
    return {(row[0], row[1]): row for row in rows}


def count_proposals(lab, problem, starts):
    """proposals.csv: proposals per bounce of lipSBPS with row norms and of Local BPS, the same
    process."""
    length, seeds = lab.pick(300, 5000, 20000), lab.seeds(2, 3, 5)
    rows = []
    for name in ("lipsbps", "local-bps"):
        options = ["--sampler", name, "--batch-size", 1, *EXACT]
        runs = lab.map(lambda item: problem.sample("--chains", 1, "--seed", item[0], "--epochs",
                                                   length, *item[1], *options), zip(seeds, starts))
        rows += [(name, seed, int(run.info["proposals"]), int(run.info["bounces"]))
                 for seed, run in zip(seeds, runs)]
    lab.table("proposals", ["sampler", "seed", "proposals", "bounces"], rows)


# ---- facts and claims


def state_convergence(lab, factor):
    """{start: {sampler: (times as many epochs as SBPS, error)}} of two kinds of starts; facts of
    all."""
    length = lab.pick(60, 1000, 1000)
    names = [*SAMPLERS, REFRESHED, PRINTED, *LATER]
    rows = lab.read("hits")
    for start in (*STARTS, "far"):
        for name in names:
            hits = hits_of(lab, start, name)
            middle, error = median_error(hits)
            fact(lab, f"{start}-{name}", middle if numpy.isfinite(middle)
                 else f"more than {length * LONGER.get(name, 1)}",
                 error if numpy.isfinite(middle) and numpy.isfinite(error) else None, "epochs")
            fact(lab, f"missing-{start}-{name}", int((hits > length).sum()))
            fact(lab, f"lost-{start}-{name}", int(sum(row["lost"] for row in rows
                                                      if (row["start"], row["sampler"])
                                                      == (start, name))))
        fact(lab, f"starts-{start}", len(hits_of(lab, start, "sbps")))
    longest = {name: length * (factor if name == PRINTED else LONGER.get(name, 1))
               for name in names}
    slower = {start: {name: ratio_error(hits_of(lab, start, name), hits_of(lab, start, "sbps"),
                                        longest[name], length)
                      for name in names if name != "sbps"} for start in STARTS}
    for start in STARTS:
        for name, (ratio, error) in slower[start].items():
            fact(lab, f"slower-{start}-{name}", ratio, error)
    farthest = max(row["farthest"] for row in rows if (row["start"], row["sampler"])
                   == ("far", "sbps"))
    fact(lab, "farthest", farthest)
    fact(lab, "length", length)
    fact(lab, "printed-over-ours", factor)
    return slower


def arrivals(lab):
    """A table of median epochs and of the runs that did not arrive, for `numbers`."""
    values = {key: (value, error) for key, value, error, _ in lab.facts}
    rows = []
    for name in ["sbps", REFRESHED, "sgld-0.1", "sgld-0.01", "msgnht-0.01", "msgnht-0.1", PRINTED,
                 "lipsbps", "zigzag-ss", *LATER]:
        cells = []
        for start in (*STARTS, "far"):
            key = f"{start}-{name}".replace(".", "")
            middle, error = values[key]
            words = middle if isinstance(middle, str) else show(middle, error or 0.0)
            cells += [words, f"{values['missing-' + key][0]} ({values['lost-' + key][0]})"]
        rows.append([NAMES[name], *cells])
    head = ([f"median epochs to arrive; runs not arrived after {values['length'][0]} epochs (of "
             "these lost)"])
    for start, words in (("notebook", "100 times"), ("near", "10 times"), ("far", "uniform")):
        head += [words, f"of {values[f'starts-{start}'][0]}"]
    return markdown(head, rows)


def claim_fastest(lab, slower):
    values = {key: value for key, value, _, _ in lab.facts}
    missing = {start: values[f"missing-{start}-sbps"] for start in (*STARTS, "far")}
    pairs = [(start, name) for start in STARTS for name in RIVALS]
    signs = {(start, name): beyond(slower[start][name]) for start, name in pairs}
    ahead = {pair: sign > 0 for pair, sign in signs.items()}
    holds = all(ahead.values())
    wins = [start for start in STARTS if all(ahead[start, name] for name in RIVALS)]
    beaten = all(beyond(slower[start]["msgnht-0.1"]) < 0 for start in STARTS)
    fast = {start: min(RIVALS, key=lambda name: slower[start][name][0]) for start in STARTS}
    found = "Epochs over those of SBPS, fastest rival: " + ", ".join(
        f"{show(*slower[start][fast[start]])} ({NAMES[fast[start]].split(',')[0]}) from "
        f"{STARTS[start]} times Laplace's covariance"
        for start in STARTS) + "."
    why = ["The rivals are those of the paper, with its step sizes."]
    if not holds:
        short = {start: [NAMES[name].split(" (")[0] for name in RIVALS if not ahead[start, name]]
                 for start in STARTS}
        why.append("Not slower by two standard errors: " + "; ".join(
            f"from {STARTS[start]} times Laplace's covariance {join(words)}"
            for start, words in short.items() if words) + ".")
    if beaten:
        why.append("With its step of 0.1 read as h instead of a time, mSGNHT is faster than SBPS.")
    numbers = [markdown(["epochs over those of SBPS, median over starts",
                         "100 times Laplace's covariance", "10 times"],
                        [[NAMES[name], *(show(*slower[start][name]) for start in STARTS)]
                         for name in slower["near"]]),
               f"A run that did not arrive counts with its whole length: {values['length']} "
               f"epochs, ZZ-SS {LONGER['zigzag-ss']} times as many. Boomerang and Zig-Zag with "
               "control variates at the mode begin here at the same starts; without `--start` the "
               "program begins them near the mode, which it finds first.", arrivals(lab)]
    lab.claim("fastest", "SBPS is the fastest to converge", holds, found, " ".join(why),
              partly=bool(wins),
              unsure=not holds and not wins and min(signs.values()) >= 0,
              numbers="\n\n".join(numbers))
    lab.condition("lost-far", values["lost-far-sbps"] > 0)
    lab.condition("missing-notebook", missing["notebook"] > 0)
    lab.condition("missing-far", missing["far"] > 0)
    lab.condition("refreshed-better", values[f"missing-far-{REFRESHED}"] < missing["far"])


def claim_orders(lab, slower):
    """Of arrival, in epochs and in CPU time, and of mixing along the widest direction, against the
    exact samplers."""
    mixing = mixing_of(lab)
    cost = {name: median_error(times_of(lab, name) / numpy.maximum(times_of(lab, "sbps"), 1e-3))[0]
            for name in ("lipsbps", "zigzag-ss")}
    cost[PRINTED] = cost["lipsbps"]
    exact, shown = (PRINTED, "zigzag-ss"), (PRINTED, "lipsbps", "zigzag-ss")
    arrival = {(start, name): slower[start][name] for start in STARTS for name in exact}
    clock = {(start, name): cost[name] * slower[start][name][0] for start in STARTS
             for name in shown}
    worth = [clock[pair] for pair in arrival]
    mixes = {name: gain_of(mixing, name, "largest") for name in shown}
    for name, (ratio, error) in mixes.items():
        fact(lab, f"gain-largest-{name}", ratio, error)
    ratios = [ratio for ratio, _ in arrival.values()]
    faster = all(beyond(pair) > 0 for pair in arrival.values())
    numbers = markdown(["exact sampler over SBPS", "epochs, 100 times Laplace's covariance",
                        "epochs, 10 times", "CPU time, 100 times",
                        "CPU time, 10 times", "SBPS's gain in effective samples per epoch, widest "
                        "direction"],
                       [[NAMES[name], *(show(*slower[start][name]) for start in STARTS),
                         *(show(clock[start, name]) for start in STARTS),
                         show(*mixes[name])] for name in shown])
    why = [f"Orders of magnitude are taken to begin at a factor of {ORDERS} in epochs."
           if min(ratios) < ORDERS else "",
           "SBPS is faster, by less." if faster and min(ratios) < ORDERS else "",
           "lipSBPS is meant with its printed bound; bounded by row norms, it takes " +
           " and ".join(show(*slower[start]["lipsbps"]) for start in STARTS) + " times the epochs "
           "of SBPS from the two kinds of starts."]
    lab.claim("orders", "SBPS converges orders of magnitude faster than lipSBPS and ZZ-SS",
              min(ratios) >= ORDERS,
              f"{min(ratios):.1f} to {max(ratios):.1f} times the epochs of SBPS to arrive, "
              f"{min(worth):.0f} to {max(worth):.0f} times its CPU "
              "time.", " ".join(filter(None, why)),
              partly=faster and max(*ratios, *worth) >= ORDER, numbers=numbers)


def gain_of(mixing, name, side):
    """Effective samples per epoch of SBPS over those of another, and the error."""
    top, bottom = mixing["sbps", side], mixing[name, side]
    ratio = top["ess_per_epoch"] / bottom["ess_per_epoch"]
    return ratio, ratio * numpy.hypot(top["ess_error"] / top["ess_per_epoch"],
                                      bottom["ess_error"] / bottom["ess_per_epoch"])


def mixing_of(lab):
    return {(row["sampler"], row["direction"]): row for row in lab.read("mixing")}


def state_mixing(lab, found):
    mixing = mixing_of(lab)
    for (name, side), row in mixing.items():
        fact(lab, f"ess-{side}-{name}", 1000 * row["ess_per_epoch"], 1000 * row["ess_error"])
        fact(lab, f"bias-{side}-{name}", row["bias"], row["bias_error"], "posterior sd")
        if side == "largest":
            fact(lab, f"worst-{name}", abs(row["worst"]), row["worst_error"], "posterior sd")
    fact(lab, "batch", found[DEFAULT][0]["batch"])
    gains = ({(name, side): gain_of(mixing, name, side)
              for name in ("sgld-0.1", "msgnht-0.01", "msgnht-0.1", "lipsbps") for side in SIDES})
    for (name, side), (ratio, error) in gains.items():
        fact(lab, f"gain-{side}-{name}", ratio, error)
    ahead = {pair: beyond(gain) > 0 for pair, gain in gains.items()}
    theirs = all(ahead[name, side] for name in ("sgld-0.1", "msgnht-0.01") for side in SIDES)
    own, other = mixing["sbps", "largest"], mixing["sgld-0.1", "largest"]
    excess = (abs(own["bias"]) - abs(other["bias"]),
              float(numpy.hypot(own["bias_error"], other["bias_error"])))
    worse = excess[0] > 0 and not near_limit(excess, 0)
    larger = ahead["msgnht-0.1", "largest"] and ahead["msgnht-0.1", "smallest"]
    quick = 1 / gains["msgnht-0.1", "smallest"][0]
    lost = "; ".join(f"{NAMES[row['sampler']]} {int(row['lost'])} of {int(row['runs'])}"
                     for row in lab.read("lost_long") if row["lost"])
    behind = [beyond(gains[name, side]) < 0 for name in ("sgld-0.1", "msgnht-0.01")
              for side in SIDES]
    why = ["Steps are those of the paper." if theirs else "Steps are those of the paper; SBPS is "
           "not ahead in all four by two standard errors.",
           "" if larger else "With its step of 0.1 read as h instead of a time, mSGNHT mixes "
           f"{quick:.1f} times as fast as SBPS along the smallest variance.",
           "The mean of SBPS along the largest variance is off by "
           f"{show(own['bias'], own['bias_error'])} posterior sd, that of SGLD by "
           f"{show(other['bias'], other['bias_error'])}."]
    length = lab.pick(300, 20000, 60000)
    few = [NAMES[name] for name in NAMES if (name, "largest") in mixing
           and mixing[name, "largest"]["ess_per_epoch"] * length < FEW]
    notes = ([f"Fewer than {FEW} effective samples per run along the largest variance, so that "
              f"factors are rough: {', '.join(few)}."] if few else [])
    notes += [f"Lost long runs, left out: {lost}."] if lost else []
    fast = {name: " and ".join(show(*gains[name, side]) for side in SIDES)
            for name in ("sgld-0.1", "msgnht-0.01")}
    lab.claim("outperforms", "SBPS outperforms the optimally tuned SGLD and mSGNHT",
              theirs and larger and not worse,
              f"SBPS mixes {fast['sgld-0.1']} times as fast as SGLD (largest, smallest variance), "
              f"{fast['msgnht-0.01']} times as fast as mSGNHT.",
              " ".join(filter(None, why)),
              partly=theirs or any(ahead["sgld-0.1", side] and ahead["msgnht-0.01", side]
                                   for side in SIDES),
              unsure=not any(ahead.values()) and not any(behind),
              numbers="\n\n".join([*mixing_tables(mixing, gains), *notes]))


def mixing_tables(mixing, gains):
    """Effective samples over those of others, and of each sampler with its biases."""
    ratios = markdown(["effective samples of SBPS per epoch over those of", "largest variance",
                       "smallest variance"],
                      [[NAMES[name], *(show(*gains[name, side]) for side in SIDES)]
                       for name in ("sgld-0.1", "msgnht-0.01", "msgnht-0.1", "lipsbps")])
    rows = []
    for name in (name for name in NAMES if (name, "largest") in mixing):
        wide = mixing[name, "largest"]
        rows.append([NAMES[name], *(show(1000 * mixing[name, side]["ess_per_epoch"],
                                         1000 * mixing[name, side]["ess_error"]) for side in SIDES),
                     show(wide["bias"], wide["bias_error"]),
                     show(abs(wide["worst"]), wide["worst_error"]),
                     show(wide["sd_ratio"], wide["sd_error"])])
    return ratios, markdown(["", "effective samples per 1000 epochs, largest variance",
                             "smallest variance", "mean along the largest, off by",
                             "worst mean of a weight, off by",
                             "sd along the largest over the true one"], rows)


def state_time(lab):
    sbps = times_of(lab, "sbps")
    ratios = {}
    for name in (*SAMPLERS, *LATER):
        fact(lab, f"ms-{name}", *median_error(times_of(lab, name)), "ms")
        # other work disturbs a few
        ratios[name] = median_error(times_of(lab, name) / numpy.maximum(sbps, 1e-3))
        fact(lab, f"times-{name}", *ratios[name])
    quickest = times_of(lab, "set-up").min()  # the one that other work disturbed least
    setup = quickest / numpy.median(times_of(lab, "sgld-0.1")) * 100
    fact(lab, "setup-ms", quickest, None, "ms")
    fact(lab, "setup-epochs", setup)
    both = [ratios["lipsbps"], ratios["zigzag-ss"]]
    least = min(both)
    numbers = markdown(["100 epochs", "CPU time, ms", "over SBPS"],
                       [[NAMES[name], show(*median_error(times_of(lab, name))), show(*ratios[name])]
                        for name in NAMES if name in ratios])
    lab.claim("cpu-35", "100 epochs of n = 100 SBPS take 35 times less CPU time than of n = 1 "
              "ZZ-SS and lipSBPS", least[0] > 25,
              f"{show(*ratios['zigzag-ss'])} times less than ZZ-SS and {show(*ratios['lipsbps'])} "
              "times less than lipSBPS.",
              "The direction holds. The factor depends on the overhead of a proposal beside its "
              "rows, which is small in C."
              if 25 >= least[0] > 1 else "",
              partly=least[0] > 2 and not near_limit(least, 2), numbers=numbers)
    return setup


def state_laplace(lab, problem, truth):
    mean, sd, mcse = problem.truth()
    shift = (mean - problem.mode) / sd
    ratio = sd / numpy.sqrt(numpy.diag(problem.covariance))
    worst = numpy.abs(shift).argmax()
    centre, width = problem.laplace_nll()
    nll = truth["nll"]
    fact(lab, "laplace-shift", abs(shift[worst]), mcse[worst] / sd[worst], "posterior sd")
    fact(lab, "laplace-sd", ratio.max())
    fact(lab, "laplace-nll", (nll["mean"] - centre) / width)
    fact(lab, "laplace-nll-sd", nll["sd"] / width)
    fact(lab, "laplace-shift-largest", abs(problem.directions["largest"] @ problem.mode
                                           - truth["largest"]["mean"]) / truth["largest"]["sd"])
    near_nll = abs(nll["mean"] - centre) < 0.25 * width and abs(nll["sd"] / width - 1) < 0.1
    lab.claim("laplace", "For d << N the Laplace approximation holds fairly well",
              near_nll and abs(shift[worst]) < 0.25,
              f"The mean NLL is off by {(nll['mean'] - centre) / width:.2f} of Laplace's sd; "
              f"posterior means lie up to {show(abs(shift[worst]))} posterior sd from the mode.",
              "Good for the NLL, which depends on the Mahalanobis distance alone; not for the "
              "means, as the posterior is skewed along w."
              if near_nll and abs(shift[worst]) >= 0.25 else "",
              partly=near_nll, numbers=f"The sd of the NLL is {nll['sd'] / width:.2f} times "
                                       "Laplace's, sds of the weights are up to "
              f"{ratio.max():.2f} times Laplace's.")


READINGS = {"norms-sum-all": "sum of row norms over sum_r sum_k abs(v_k) x_rk",
            "norms-worst-all": "N times the largest row norm over N max_r sum_k abs(v_k) x_rk",
            "norms-sum-signs": "the first, with their signs",
            "norms-worst-signs": "the second, with their signs",
            "printed-sum-all": "printed bound over sum_r sum_k abs(v_k) x_rk",
            "printed-worst-all": "printed bound over N max_r sum_k abs(v_k) x_rk",
            "printed-sum-signs": "printed bound over theirs with signs, as Local BPS uses it",
            "printed-worst-signs": "printed bound over N times the worst row of theirs, with signs"}


def state_bounds(lab, table):
    """Of Supplement H, and of 7.1."""
    for (label, kind), row in table.items():
        fact(lab, f"bound-{kind}-{label.replace(' ', '-')}", row[2], row[3])
    positive = ("absolute", "shifted")
    best, printed = ([table[label, kind] for label in positive]
                     for kind in ("norms-sum-all", "printed-sum-signs"))
    readings = ([kind for kind in READINGS if all(table[label, kind][2] < TWICE
                                                  for label in positive)])
    numbers = markdown(["ratio of the bounds, mean (sd) over velocities", "absolute values",
                        "shifted columns"],
                       [[words, *(f"{table[label, kind][2]:.2f} ({table[label, kind][3]:.2f})"
                                  for label in positive)]
                        for kind, words in READINGS.items()])
    lab.claim("bound-2", "On non-negative covariates the bound of lipSBPS is less than twice that "
              "of Bouchard-Cote et al.",
              max(row[2] for row in printed) < TWICE,
              f"Row norms over theirs without signs: {best[0][2]:.2f} (absolute values), "
              f"{best[1][2]:.2f} (shifted columns); printed bound over theirs: "
              f"{printed[0][2]:.1f}, {printed[1][2]:.1f}.",
              "It holds if Supplement H's third line, the sum of row norms, is compared with the "
              "sum over rows r and coordinates k of abs(v_k) x_rk. The last line, sqrt(d) N max "
              "abs(x_ij), is looser; and theirs counts only coordinates in which a row's loss "
              "rises, which halves it." if readings
              else "No reading that we know of gives a factor below 2.",
              partly=bool(readings), numbers=numbers)


def state_proposals(lab, table):
    each = {name: mean_error([row["proposals"] / row["bounces"] for row in lab.read("proposals")
                              if row["sampler"] == name])
            for name in ("lipsbps", "local-bps")}
    ratio = each["lipsbps"][0] / each["local-bps"][0]
    norms = ratio, ratio * float(numpy.hypot(*(error / value for value, error in each.values())))
    factor, exact = table["as it is", "printed-norms"][2], table["as it is", "worst-mean"][2]
    printed = norms[0] * factor, norms[1] * factor
    for name, pair in (*each.items(), ("norms", norms), ("printed", printed)):
        fact(lab, f"proposals-{name}", *pair)
    numbers = markdown(["sampler", "proposals per bounce"], [
        ["lipSBPS, N max of the row norms", show(*each["lipsbps"])],
        ["lipSBPS, printed bound", show(each["lipsbps"][0] * factor, each["lipsbps"][1] * factor)],
        ["Local BPS, a bound for each row by its norm", show(*each["local-bps"])]])
    numbers += (f"\n\nBy the bounds alone the factor is {exact:.2f} with row norms and "
                f"{exact * factor:.2f} as printed. Against the bound of Bouchard-Cote et al., "
                "summed over rows, the printed one makes "
                f"{table['absolute', 'printed-sum-signs'][2]:.1f} (absolute values) or "
                f"{table['shifted', 'printed-sum-signs'][2]:.1f} (shifted columns) times the "
                "proposals.")
    why = "Both run the same process, so that only proposals differ."
    if exact <= TWICE < printed[0]:
        why += (" The claim holds for N max of the row norms, Supplement H's third line, not for "
                "its last line.")
    lab.claim("proposals-2", "The bound of lipSBPS results in up to twice as many bounce proposals "
              "as that of Local BPS",
              printed[0] < TWICE and not near_limit(printed, TWICE),
              f"Proposals per bounce over those of Local BPS with row norms: {show(*norms)} with "
              f"lipSBPS's row norms, {show(*printed)} with its printed "
              "bound.", why, partly=exact <= TWICE, numbers=numbers)


def run(lab):
    problem = Logistic(lab)
    factor = (numpy.sqrt(problem.d) * numpy.abs(problem.x).max() / numpy.linalg.norm(problem.x,
                                                                                     axis=1).max())
    times(lab, problem)
    truth, draws = posterior(problem)
    paths = convergence(lab, problem, factor)
    write_trajectories(lab, problem, truth, paths)
    found, starts = long_runs(lab, problem, truth, draws, factor)
    count_proposals(lab, problem, starts)
    slower = state_convergence(lab, factor)
    claim_fastest(lab, slower)
    claim_orders(lab, slower)
    state_mixing(lab, found)
    setup = state_time(lab)
    state_laplace(lab, problem, truth)
    table = bounds(lab, problem)
    state_bounds(lab, table)
    state_proposals(lab, table)
    mean, sd = problem.laplace_nll()
    first = setup + WARMUP * found[DEFAULT][0]["batch"] / problem.n
    fact(lab, "default-first", first, None, "epochs")
    lab.table("lines", ["map", "laplace", "laplace_sd", "posterior", "first", "default"],
              [(float(problem.nll(problem.mode)), mean, sd, truth["nll"]["mean"], first,
                numpy.mean([run["nll"] for run in found[DEFAULT]]))])
    hits = lab.read("hits")
    lab.table("lost", ["start", "sampler", "missing", "lost", "starts"], [
        (start, name, sum(row["epochs"] > lab.pick(60, 1000, 1000) for row in rows),
         int(sum(row["lost"] for row in rows)), len(rows))
        for start in (*STARTS, "far") for name in dict.fromkeys(row["sampler"] for row in hits)
        for rows in [[row for row in hits if (row["start"], row["sampler"]) == (start, name)]]])


def check(lab):
    line = lab.read("lines")[0]
    assert line["map"] < line["laplace"], "the mode has the least NLL"
    assert abs(line["posterior"] - line["laplace"]) < 0.5 * line["laplace_sd"], (
        "Laplace's NLL is the posterior's")
    nll = lab.read("nll")
    for name in ("sbps", "msgnht-0.1", "sgld-0.1"):
        curve = [row for row in nll if (row["start"], row["sampler"]) == ("near", name)]
        assert curve[0]["median"] > line["laplace"] + 5 * line["laplace_sd"], (
            f"{name} starts far out")
        assert curve[-1]["median"] < 0.75 * curve[0]["median"], f"{name} comes down"
    starts = {start: [row["median"] for row in nll if row["start"] == start and row["epoch"] == 0]
              for start in STARTS}
    assert all(numpy.ptp(each) < 1e-6 for each in starts.values()), (
        "all samplers begin at the same points")
    assert starts["notebook"][0] > 3 * starts["near"][0], "the notebook's starts lie farther out"
    assert abs(line["default"] - line["laplace"]) < 1.5 * line["laplace_sd"], (
        "our default samples the posterior")
    mixing = mixing_of(lab)
    # the ESS of a chain that has hardly moved means nothing; its sd along the widest direction does
    slow = mixing["sgld-0.01", "largest"]["sd_ratio"]
    assert mixing["sbps", "largest"]["sd_ratio"] > 1.5 * slow, "SBPS mixes faster than slow SGLD"
    speed = {name: mixing[name, "largest"]["ess_per_epoch"] for name in (DEFAULT, "sbps")}
    assert speed[DEFAULT] > speed["sbps"], "our default mixes faster still"
    assert all(row["ratio"] > 1 for row in lab.read("bounds") if "printed" in row["reading"]), (
        "the printed bound is the loosest")
    slow = {name: median_error(hits_of(lab, "near", name))[0]
            for name in ("sbps", "sgld-0.01", PRINTED)}
    assert slow["sbps"] <= min(slow["sgld-0.01"], slow[PRINTED]), (
        "SBPS arrives before slow SGLD and lipSBPS")
