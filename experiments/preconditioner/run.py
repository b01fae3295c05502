"""Figure 3: diagonal preconditioning, on the logistic regression of 7.1 (d = 20, N = 1000, k = 3, n
= 100; beta = .99, eps = 1e-4).

The paper: contours of Laplace's log posterior before and after, autocorrelation and trajectories of
SBPS and pSBPS in the direction of greatest covariance. Left open and chosen: the plane of the
contours is that of the stretched weight and the one most correlated with it; random starts are
draws of a normal at the mode with 100 times Laplace's covariance, as in the authors' public
notebook, and with 10. Two data sets: the text's, where the first feature has variance 6, and that
notebook's, where one has 1/500, which makes a posterior that is long along one axis. pSBPS adapts
for ever, as published; the preconditioner drawn is the one its formula gives over draws of the
posterior. Our default, with a dense metric, is shown beside.

A run has not arrived if its NLL never comes within 2 sd of Laplace's mean; it is lost if, besides,
it ends farther out than it began. Factors are medians over starts, in which a run that did not
arrive counts with its whole length.

A preconditioner that depends on the position needs a further term, which the paper leaves out as
negligible for beta near 1. What is left out is measured by the sds of the posterior: adapting for
ever against one that was frozen after warm-up, as published and with our control variates, which
remove the noise that hides it."""
import numpy

from lab import mean_error, median_error, near_limit
from lab.logistic import PRIOR_SD, Logistic
from lab.scan import FACTORS, Long, arrival, descend, linger
from lab.text import markdown, show

TITLE = "Figure 3: preconditioning"
DATA = {"text": 6.0, "notebook": 1 / 500}
SBPS, PSBPS = "sbps", "psbps"
WAYS = {SBPS: ["--paper"], PSBPS: ["--paper", "--sampler", "psbps", "--adapt-forever",
                                   "--metric-beta", 0.99, "--metric-eps", 1e-4]}
BATCH, EPS = 100, 1e-4
REACH = 1500
BETAS = [0.9, 0.99, 0.999]
FROZEN = 0.99     # beta of the one that is frozen
NEGLIGIBLE = 0.02  # of an sd
WIDE = 3           # a long run is lost if an sd is larger than this multiple of the true one
STARTS = {start: f"{factor} times Laplace's covariance" for start, factor in FACTORS.items()}
MEASURES = ({"level": "NLL within 2 sd of Laplace's mean",
             "along": "mode passed along the longest direction"})
WORDS = {"text": "the text's data", "notebook": "the notebook's data"}


def preconditioner(lab, model):
    """The diagonal to which the rule converges: a_i is the mean squared mini-batch gradient over
    the posterior."""
    random = numpy.random.default_rng(7)
    root = numpy.linalg.cholesky(model.covariance)
    squares = numpy.zeros(model.d)
    draws = lab.pick(200, 2000, 2000)
    for _ in range(draws):
        w = model.mode + root @ random.standard_normal(model.d)
        rows = random.choice(model.n, BATCH, replace=False)
        x, y = model.x[rows], model.y[rows]
        g = model.n / BATCH * x.T @ (1 / (1 + numpy.exp(-x @ w)) - y) + w / PRIOR_SD**2
        squares += g**2 / draws
    r = 1 / (numpy.sqrt(squares) + EPS)
    return r / r.mean()


def ellipse(covariance, radius):
    angle = numpy.linspace(0, 2 * numpy.pi, 73)
    return (radius * numpy.linalg.cholesky(covariance) @ numpy.array([numpy.cos(angle),
                                                                      numpy.sin(angle)])).T


def condition(covariance):
    values = numpy.linalg.eigvalsh(covariance)
    return float(numpy.sqrt(values[-1] / values[0]))


def contours(lab, name, model):
    """Rows of contours.csv, and facts: the ratio of the longest to the shortest sd."""
    A = preconditioner(lab, model)
    after = model.covariance / numpy.outer(A, A)
    sd = numpy.sqrt(numpy.diag(model.covariance))
    correlation = numpy.abs(model.covariance[0] / sd / sd[0])
    j = int(numpy.argsort(correlation)[-2])  # the last is the first weight itself
    pair = numpy.ix_([0, j], [0, j])
    lab.fact(f"{name}_before", condition(model.covariance))
    lab.fact(f"{name}_after", condition(after))
    lab.fact(f"{name}_aligned", float(numpy.abs(model.directions["largest"]).max()))
    return [(name, when, radius, *point)
            for when, matrix in (("before", model.covariance), ("after", after))
            for radius in (1, 2, 3)
            for point in ellipse(matrix[pair], radius)]


def crossing(path, model, epochs):
    """Epochs until the path first passes the mode along the direction of greatest variance;
    infinite if it never does."""
    grid = numpy.linspace(0, epochs, int(10 * epochs) + 1)
    side = numpy.sign((path.at_rows(grid * model.n) - model.mode) @ model.directions["largest"])
    passed = side != side[0]
    return float(grid[passed.argmax()]) if passed.any() else numpy.inf


def times_as_many(a, b, epochs):
    """Median over common starts of the ratio of two settings' times, and its error; a time that is
    infinite counts as `epochs`."""
    logs = numpy.log(numpy.clip(a, 0.1, epochs)) - numpy.log(numpy.clip(b, 0.1, epochs))
    middle, error = median_error(logs)
    return float(numpy.exp(middle)), float(numpy.exp(middle) * error)


def is_lost(model, path, epochs, time):
    """Whether a run that did not arrive is farther out in its last tenth than at its start."""
    grid = numpy.linspace(0.9 * epochs, epochs, 50)
    nll = model.nll(path.at_rows(numpy.concatenate([[0.0], grid]) * model.n))
    return bool(numpy.isinf(time) and numpy.median(nll[1:]) > nll[0])


def converge(lab, name, model, start):
    """Tables of one kind of starts: traces (three of the starts), medians and arrivals; {measure:
    (times as many epochs of SBPS, error)}. A trace is turned so that it begins above zero: medians
    would otherwise cancel."""
    epochs = lab.pick(60, 600, 600) * (2 if start == "notebook" else 1)
    seeds = lab.seeds(2, 6, 16)
    paths = descend(lab, model, WAYS, seeds, epochs, FACTORS[start])
    times = {way: numpy.array([arrival(model, path, epochs) for path in members])
             for way, members in paths.items()}
    passed = {way: numpy.array([crossing(path, model, epochs) for path in members])
              for way, members in paths.items()}
    lost = {way: [is_lost(model, path, epochs, time) for path, time in zip(members, times[way])]
            for way, members in paths.items()}
    ratios = {"level": times_as_many(times[SBPS], times[PSBPS], epochs),
              "along": times_as_many(passed[SBPS], passed[PSBPS], epochs)}
    direction = model.directions["largest"]
    sd = numpy.sqrt(direction @ model.covariance @ direction)
    grid = numpy.linspace(0, epochs, 151)
    tables = {"traces": [], "medians": [], "arrivals": []}
    for way, members in paths.items():
        z = numpy.array([(path.at_rows(grid * model.n) - model.mode) @ direction / sd
                         for path in members])
        z *= numpy.where(z[:, :1] < 0, -1, 1)
        tables["traces"] += [(name, start, way, seed, int(gone), *row)
                             for seed, gone, curve in zip(seeds[:3], lost[way], z)
                             for row in zip(grid, curve)]
        tables["medians"] += [(name, start, way, *row)
                              for row in zip(grid, numpy.median(z, axis=0))]
        tables["arrivals"] += [(name, start, way, *row)
                               for row in zip(seeds, times[way], passed[way], map(int, lost[way]))]
        middle, _ = median_error(times[way])
        lab.fact(f"{name}_{start}_arrive_{way}", middle if numpy.isfinite(middle)
                 else f"more than {epochs}", None, "epochs")
        lab.fact(f"{name}_{start}_missing_{way}", int(numpy.isinf(times[way]).sum()))
        lab.fact(f"{name}_{start}_lost_{way}", int(sum(lost[way])))
    for key, measure in (("faster", "level"), ("along", "along")):
        lab.fact(f"{name}_{start}_{key}", *ratios[measure])
    return tables, ratios


def mix(lab, name, model):
    length = lab.pick(2000, 20000, 100000)
    goals = {SBPS: length, PSBPS: length, "default": lab.pick(100, 5000, 40000)}
    truth = model.truth()
    longs = linger(lab, model, {**WAYS, "default": []}, lab.seeds(2, 3, 6), goals,
                   lab.pick(500, 4000, 20000))
    for way, long in longs.items():
        kept = [run for run in long.runs if numpy.max(run.sd / truth[1]) < WIDE]
        lab.fact(f"{name}_lost_long_{way}", len(long.runs) - len(kept))
        longs[way] = Long(model, truth, kept or long.runs)
    acf = [(name, way, *row) for way in WAYS for row in longs[way].acf("largest", REACH)]
    rows = []
    for way, long in longs.items():
        rows.append((name, way, *long.mixing("largest"), *long.price(), *long.worst(), *long.rms(),
                     *long.rate("violations")))
        for key, at, unit in (("ess", 2, ""), ("price", 4, "epochs"), ("worst", 6, "")):
            lab.fact(f"{name}_{key}_{way}", rows[-1][at], rows[-1][at + 1], unit)
    (a, a_error), (b, b_error) = longs[SBPS].mixing("largest"), longs[PSBPS].mixing("largest")
    gain = b / a, b / a * float(numpy.hypot(a_error / a, b_error / b))
    lab.fact(f"{name}_gain", *gain)
    return acf, rows, gain


# ---- the term that is left out

def spread(model, runs):
    """Median over the runs of the mean over the parameters of sd over the true sd, its error, and
    the number of lost runs."""
    ratios = [run.sd / model.truth()[1] for run in runs]
    lost = [numpy.max(ratio) > WIDE for ratio in ratios]
    return *median_error([numpy.inf if gone else numpy.mean(ratio)
                          for gone, ratio in zip(lost, ratios)]), int(sum(lost))


def moving(lab, model):
    """beta.csv: sds of the posterior over the true ones while the preconditioner changes; {noise:
    {beta: (ratio, error, lost runs)}}. A run has one chain: of several, a lost one would hide the
    others."""
    noises = {"published": ["--paper"], "reduced": []}
    epochs = {"published": lab.pick(250, 5000, 30000), "reduced": lab.pick(125, 2500, 15000)}
    ways = {**{beta: ["--adapt-forever", "--metric-beta", beta] for beta in BETAS},
            "frozen": ["--metric-beta", FROZEN]}
    runs = lab.pick(4, 16, 24)
    lab.fact("moving_runs", runs)
    jobs = [(noise, way, seed) for noise in noises for way in ways for seed in range(1, runs + 1)]

    def one(job):
        noise, way, seed = job
        learn = ["--warmup", 1250] if (noise, way) == ("published", "frozen") else []
        return model.sample(*noises[noise], "--sampler", "psbps", *ways[way], *learn,
                            "--metric-eps", EPS, "--chains", 1, "--seed", seed,
                            "--epochs", epochs[noise])
    every = lab.map(one, jobs)
    found = {noise: {way: spread(model, [run for job, run in zip(jobs, every)
                                         if job[:2] == (noise, way)]) for way in ways}
             for noise in noises}
    lab.table("beta", ["noise", "beta", "ratio", "error", "lost"],
              [(noise, way, *value) for noise, each in found.items()
               for way, value in each.items()])
    for noise, each in found.items():
        for way, value in each.items():
            lab.fact(f"wide_{noise}_{str(way).replace('.', '')}", *value[:2])
    return found


def percent(pair):
    return (f"{show(100 * pair[0], 100 * pair[1])} %" if numpy.isfinite(pair[0])
            else "unknown (lost runs)")


def beyond(pair):
    """Whether a ratio is above 1 (1) or below (-1) by more than two standard errors of its
    logarithm, or neither (0)."""
    value, error = numpy.log(pair[0]), 2 * numpy.nan_to_num(pair[1]) / pair[0]
    return int(value > error) - int(value < -error)


def claim_moving(lab, found):
    def excess(noise, beta):
        (a, a_error, _), (b, b_error, _) = found[noise][beta], found[noise]["frozen"]
        return a - b, float(numpy.hypot(a_error, b_error))
    known = {(noise, beta): excess(noise, beta) for noise in found for beta in BETAS}
    size = {pair: (abs(value), error) for pair, (value, error) in known.items()}
    small = {pair: value[0] < NEGLIGIBLE and not near_limit(value, NEGLIGIBLE)
             for pair, value in size.items()}
    large = {pair: value[0] > NEGLIGIBLE and not near_limit(value, NEGLIGIBLE)
             for pair, value in size.items()}
    words = {"published": "as published", "reduced": "with control variates"}
    holds = all(small[noise, 0.99] for noise in found)
    partly = small["published", 0.99] or small["published", 0.999] or small["reduced", 0.999]
    lab.condition("moving_large_reduced", large["reduced", 0.99])
    runs = {key: value for key, value, _, _ in lab.facts}["moving_runs"]
    table = markdown(["sds over the true ones", *(f"beta = {beta}" for beta in BETAS),
                      f"frozen, beta = {FROZEN}"],
                     [[words[noise], *(show(*value[:2]) + (f", {value[2]} of {runs} lost"
                                                           if value[2] else "")
                                       for value in each.values())]
                      for noise, each in found.items()])
    lab.claim("moving-negligible", "The term of a preconditioner that changes may be left out for "
              "beta near 1", holds,
              f"Sds change by {percent(known['published', 0.99])} (beta = 0.99) and "
              f"{percent(known['published', 0.999])} (0.999) as published, "
              f"{percent(known['reduced', 0.99])} and {percent(known['reduced', 0.999])} with "
              "control variates.",
              "That is the change against a frozen preconditioner; negligible means less than "
              f"{100 * NEGLIGIBLE:.0f} %." + (
                  " As published, a squared gradient is mostly the noise of mini-batches, which "
                  "hides the dependence on the position."
                  if large["reduced", 0.99] and not large["published", 0.99] else ""),
              partly=partly, unsure=not holds and not partly and not large["published", 0.99],
              numbers=f"{table}\n\nMedians over {runs} runs; one with an sd above {WIDE} times the "
                      "true one is lost.")


# ---- the experiment

def decide(results):
    """(holds, partly, unsure) of several ratios with errors that must be above 1."""
    signs = [beyond(pair) for pair in results]
    return all(sign > 0 for sign in signs), any(sign > 0 for sign in signs), not any(signs)


def claim_convergence(lab, ratios):
    """`ratios` {(data, start, measure): (times as many epochs of SBPS, error)}."""
    values = {key: value for key, value, _, _ in lab.facts}
    holds, partly, unsure = decide(ratios.values())
    signs = [beyond(pair) for pair in ratios.values()]

    def cells(name, start):
        medians = [values[f"{name}_{start}_arrive_{way}"] for way in WAYS]
        return [WORDS[name], STARTS[start], *(show(*ratios[name, start, measure])
                                              for measure in MEASURES),
                *(median if isinstance(median, str) else f"{median:.3g}" for median in medians),
                *(f"{values[f'{name}_{start}_missing_{way}']} "
                  f"({values[f'{name}_{start}_lost_{way}']}) of {values['starts']}"
                  for way in WAYS)]
    along = {name: [show(*ratios[name, start, "along"]) for start in FACTORS] for name in DATA}
    lab.claim("psbps-converges", "pSBPS converges to the posterior mode faster than SBPS", holds,
              "SBPS's epochs over pSBPS's, along the longest direction: text's data "
              + " and ".join(along["text"]) + "; notebook's data " +
              " and ".join(along["notebook"]) + ".",
              "The two numbers are for starts of 100 and 10 times Laplace's covariance. In the NLL "
              "and along that direction pSBPS is faster by two standard errors in "
              f"{signs.count(1)} of {len(signs)} comparisons, slower in {signs.count(-1)}.",
              partly=partly, unsure=unsure and not holds,
              numbers=markdown(["data", "starts", *(f"epochs of SBPS over pSBPS: {words}"
                                                    for words in MEASURES.values()),
                                "median epochs to Laplace's NLL, SBPS", "pSBPS",
                                "SBPS did not arrive (of these lost)", "pSBPS"],
                               [cells(name, start) for name in DATA for start in FACTORS]))


def claim_mixing(lab, gains, scan):
    holds, partly, unsure = decide(gains.values())
    values = {key: value for key, value, _, _ in lab.facts}
    rows = [[WORDS[row[0]], row[1], show(*row[2:4]), show(*row[4:6]), show(*row[6:8]),
             show(100 * row[10], 100 * row[11]),
             values[f"{row[0]}_lost_long_{row[1]}"]] for row in scan]
    lab.claim("psbps-mixes", "pSBPS mixes faster in the direction of greatest covariance", holds,
              "Effective samples of pSBPS per epoch over those of SBPS: " +
              ", ".join(f"{show(*gain)} ({WORDS[name]})" for name, gain in gains.items()) + ".",
              "" if holds else "A diagonal helps if the posterior is long along an axis. The "
              "text's data make one that is long along the weights.",
              partly=partly, unsure=unsure and not holds,
              numbers=markdown(["data", "sampler",
                                "effective samples per 1000 epochs, longest direction",
                                "epochs per effective sample of the slowest parameter or square",
                                "worst mean off by, posterior sd",
                                "violations, %", "lost runs"], rows))


def claim_aligned(lab, ratios, gain):
    """The paper's own condition, in its section 5: the data whose posterior is long along an
    axis."""
    results = [*(ratios["notebook", start, "along"] for start in FACTORS), gain]
    holds, partly, unsure = decide(results)
    lab.claim("psbps-aligned", "pSBPS performs favourably compared to SBPS when the posterior is "
              "anisotropic and axis-aligned", holds,
              f"The notebook's data: {show(*results[0])} and {show(*results[1])} times as fast to "
              "the mode along the longest direction, mixing "
              f"{show(*gain)} times as fast.", partly=partly, unsure=unsure and not holds)


def run(lab):
    tables = {"contours": [], "traces": [], "medians": [], "arrivals": [], "acf": [], "scan": []}
    ratios, gains = {}, {}
    lab.fact("starts", len(lab.seeds(2, 6, 16)))
    for name, variance in DATA.items():
        model = Logistic(lab, first_variance=variance)
        tables["contours"] += contours(lab, name, model)
        for start in FACTORS:
            new, found = converge(lab, name, model, start)
            for key, rows in new.items():
                tables[key] += rows
            ratios |= {(name, start, measure): pair for measure, pair in found.items()}
        acf, rows, gains[name] = mix(lab, name, model)
        tables["acf"] += acf
        tables["scan"] += rows
        if name == "text":
            widths = moving(lab, model)
    heads = {"contours": ["data", "when", "sd", "x", "y"],
             "traces": ["data", "start", "way", "seed", "lost", "epoch", "sd"],
             "medians": ["data", "start", "way", "epoch", "sd"],
             "arrivals": ["data", "start", "way", "seed", "epochs", "crossing", "lost"],
             "acf": ["data", "way", "epochs", "acf", "error"],
             "scan": ["data", "way", "ess", "ess_error", "price", "price_error", "worst",
                      "worst_error", "rms", "rms_error", "violations",
                      "violations_error"]}
    for key, head in heads.items():
        lab.table(key, head, tables[key])
    lab.condition("text_gains", beyond(gains["text"]) > 0)
    claim_convergence(lab, ratios)
    claim_mixing(lab, gains, tables["scan"])
    claim_aligned(lab, ratios, gains["notebook"])
    claim_moving(lab, widths)


def check(lab):
    rows = lab.read("contours")

    def length(name, when):
        """Extent of the 1 sd contour: longer over shorter side."""
        points = numpy.array([(row["x"], row["y"]) for row in rows
                              if (row["data"], row["when"], row["sd"]) == (name, when, 1)])
        values = numpy.linalg.eigvalsh(points.T @ points)
        return numpy.sqrt(values[1] / values[0])
    assert length("notebook", "before") > 5, "the notebook's posterior is long along one weight"
    assert length("notebook", "after") < length("notebook", "before") / 2, (
        "and rounder when preconditioned")
    scan = {(row["data"], row["way"]): row for row in lab.read("scan")}
    assert scan["notebook", PSBPS]["ess"] > 1.5 * scan["notebook", SBPS]["ess"], (
        "there pSBPS mixes faster")
    for name in DATA:
        assert scan[name, "default"]["price"] < scan[name, PSBPS]["price"] / 5, (
            "the dense metric and control variates do better still")
        for way in WAYS:
            first = [row for row in lab.read("acf") if (row["data"], row["way"]) == (name, way)]
            assert abs(first[0]["acf"] - 1) < 1e-6 and first[0]["epochs"] == 0
    assert {(row["data"], row["way"]) for row in lab.read("traces")} == {(name, way)
                                                                         for name in DATA
                                                                         for way in WAYS}
