"""Figure 1: trajectories of 50 bounces with exact and with noisy gradients, travel times until a
bounce, a QQ plot of one coordinate, its ACF per bounce.

The paper: a 2-D density it does not name, noise N(0, 5^2) on each component of the gradient. Ours
is `banana`,

    w1 ~ N(0, s^2),  w2 = w1^2 - s^2 + e,  e ~ N(0, 1),  s = 1.5,

whose marginals are known, so that the distribution is tested against the truth and not against
another run. The paper does not name a refreshment rate: 0.1 here, so that few segments end that
way, with and without noise. Exact means `bps`; noisy `noisy-bps`, which draws from the mean rate
E(G + y)+ and so needs no bound on the noise. The paper's own way to do without one, a band of k = 3
over a regression, is run beside it, and so is our default.

The test of a distribution takes the spread of every statistic from the known marginals and only the
number of effective samples from the run: a sampler that strays cannot hide behind the scatter of
its own chains. Error bars in the other panels are over independent chains.

Two simulations of our own complete the text: independence.py breaks the condition of Theorem 1,
reversible.py compares with reversible samplers."""
import os
import statistics
import sys

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import independence  # noqa: E402
import reversible  # noqa: E402
from lab import acf, mean_error, median_error, near_limit  # noqa: E402
from lab.series import chains_ess  # noqa: E402
from lab.text import markdown, show  # noqa: E402

TITLE = "Figure 1: noisy and noiseless gradients"

S, NOISE, REFRESH, CHAINS = 1.5, 5.0, 0.1, 4
WAYS = {
    "exact": ["--sampler", "bps"],
    "noisy": ["--sampler", "noisy-bps", "--gradient-noise", NOISE],
    "sbps": ["--sampler", "sbps", "--paper", "--gradient-noise", NOISE],
    "default": ["--sampler", "sbps", "--gradient-noise", NOISE],
}
# which part of the published band fails: without noise, and with an observation at least once a
# posterior sd of path
BANDS = {
    "noiseless": ["--sampler", "sbps", "--paper"],
    "horizon": ["--sampler", "sbps", "--paper", "--horizon", 1],
}
NAMES = {"exact": "exact gradients, `bps`", "noisy": "noise, `noisy-bps` (exact arrivals)",
         "sbps": "noise, band as published",
         "default": "noise, our default band", "noiseless": "no noise, band as published",
         "horizon": "no noise, published band with an observation once a posterior sd"}
# path length for which a noise vector is kept
HOLDS = {0: "0", 0.1: "0.1", 1: "1", numpy.inf: "bounce"}
SIGMAS = 1, 5
LIMIT = 5.0    # |z| beyond which a distribution is called wrong
# sds of w1 whose tails are among the statistics; beyond the last chance does not come: 2e-9
TAILS = 2, 3, 6
FAR = TAILS[-1]
DECILES = numpy.arange(1, 10) / 10
NORMAL = statistics.NormalDist()
phi, Phi = NORMAL.pdf, numpy.vectorize(NORMAL.cdf)


# ---- what is known

def grid(size=801, width=7.5):
    """Nodes and weights for a standard normal: the trapezoidal rule, which converges at once on
    it."""
    x = numpy.linspace(-width, width, size)
    p = numpy.exp(-x * x / 2)
    return x, p / p.sum()


def quantiles(p):
    """Of w1 and of w2, by their distribution functions."""
    x, weight = grid()
    y = numpy.linspace(-12, 60, 1441)
    centre = (S * x) ** 2 - S * S
    below = numpy.array([weight @ Phi(v - centre) for v in y])
    keep = numpy.concatenate([[True], numpy.diff(below) > 0])
    return numpy.array([NORMAL.inv_cdf(q) * S for q in p]), numpy.interp(p, below[keep], y[keep])


def bounce_rate(noise):
    """E (v.grad U + y)+ over density, sphere and noise. The noise is isotropic, so y ~ N(0,
    noise^2) for every v: the rate is the mean over angles of G Phi(G/noise) + noise phi(G/noise), G
    = |grad U| cos(angle)."""
    x, weight = grid(241)
    w1, e = numpy.meshgrid(S * x, x)
    length = numpy.hypot(w1 / S**2 - 2 * w1 * e, e).ravel()
    mass = numpy.outer(weight, weight).ravel()
    if noise == 0:
        return float(mass @ length) / numpy.pi
    sizes = numpy.linspace(0, length.max(), 2001)
    angle = (numpy.arange(64) + 0.5) * numpy.pi / 64
    g = numpy.cos(angle) * sizes[:, None] / noise
    rate = noise * (g * Phi(g) + numpy.exp(-g * g / 2) / numpy.sqrt(2 * numpy.pi)).mean(axis=1)
    return float(mass @ numpy.interp(length, sizes, rate))


# ---- runs

def sample(lab, way, observations, **what):
    """Chains of all seeds, with this number of observations of the slope in all."""
    seeds = lab.seeds(2, 4, 8)

    def one(seed):
        return lab.sample(None, "--model", "banana", "--metric", "none", "--refresh-rate", REFRESH,
                          *{**WAYS, **BANDS}[way],
                          "--chains", CHAINS, "--spread", 1, "--warmup", lab.pick(500, 2000, 5000),
                          "--seed", seed,
                          "--epochs", observations // len(seeds), "--draws",
                          lab.pick(1000, 4000, 8000), **what)
    return lab.map(one, seeds)


def statistics_of(w):
    """Of draws [chain, draw, 2]: (name, series [chain, draw], known expectation and sd of one
    draw), one a statistic."""
    x, y = w[:, :, 0], w[:, :, 1]
    q1, q2 = quantiles(DECILES)
    share = lambda p: (p, numpy.sqrt(p * (1 - p)))
    tail = lambda sds: 2 * NORMAL.cdf(-sds)
    yield "E w1", x, 0, S
    yield "E w2", y, 0, numpy.sqrt(1 + 2 * S**4)
    yield "E w1^2", x * x, S * S, numpy.sqrt(2) * S * S
    for sds in TAILS:
        yield f"P(|w1| > {sds:g} sd)", 1.0 * (numpy.abs(x) > sds * S), *share(tail(sds))
    for name, series, cuts in (("w1", x, q1), ("w2", y, q2)):
        for p, cut in zip(DECILES, cuts):
            yield f"P({name} < q{p:.1f})", 1.0 * (series <= cut), *share(p)


def against_the_truth(w):
    """Rows (name, value, expected, error, z). The error is the known spread over the root of the
    effective samples. Those of a tail, which is visited rarely, are taken to be as few as the
    slowest of the others has."""
    found = [(name, series.mean(), expected, sd, numpy.inf if "sd)" in name else chains_ess(series))
             for name, series, expected, sd in statistics_of(w)]
    least = min(count for *_, count in found)
    rows = []
    for name, value, expected, sd, count in found:
        error = sd / numpy.sqrt(least if numpy.isinf(count) else count)
        rows.append((name, value, expected, error, (value - expected) / error))
    return rows


# ---- tables

def marginals(lab):
    """Every way against the known marginals; largest |z| of each."""
    p = numpy.array([0.002, 0.005, 0.01, 0.02, 0.05, *numpy.arange(0.1, 0.91, 0.05), 0.95, 0.98,
                     0.99, 0.995, 0.998])
    theory = quantiles(p)[0]
    length = ({"exact": lab.pick(60000, 1000000, 10000000),
               "sbps": lab.pick(200000, 4000000, 20000000)})
    tests, qq, worst = [], [], {}
    for way in WAYS:
        runs = sample(lab, way, length.get(way, lab.pick(200000, 4000000, 80000000)))
        w = together(runs)
        rows = against_the_truth(w)
        tests += [[way, i, *row] for i, row in enumerate(rows)]
        worst[way] = max(abs(row[-1]) for row in rows)
        each = numpy.quantile(w[:, :, 0], p, axis=1)
        qq += [[way, p[i], theory[i], numpy.quantile(w[:, :, 0], p[i]),
                each[i].std(ddof=1) / numpy.sqrt(len(w)), numpy.median(each[i]),
                each[i].min(), each[i].max()] for i in range(len(p))]
        lab.fact(f"{way}_z", worst[way])
        lab.fact(f"{way}_z_square", next(row[-1] for row in rows if row[0] == "E w1^2"))
        lab.fact(f"{way}_z_tail", next(row[-1] for row in rows if row[0] == "P(|w1| > 3 sd)"))
        facts_of_chains(lab, way, runs, w)
    lab.fact("statistics", len(rows))
    lab.table("marginals", ["series", "index", "statistic", "value", "expected", "error", "z"],
              tests)
    lab.table("qq", ["series", "p", "theory", "quantile", "error", "median", "least", "largest"],
              qq)
    return worst


def bands(lab):
    for way in BANDS:
        runs = sample(lab, way, lab.pick(50000, 1000000, 10000000))
        facts_of_chains(lab, way, runs, together(runs))


def together(runs):
    """Draws of all chains."""
    return numpy.concatenate([run.w[:, :min(other.w.shape[1] for other in runs)] for run in runs])


def facts_of_chains(lab, way, runs, w):
    """Medians over chains. A chain is lost if it has been beyond FAR sd of w1."""
    lab.fact(f"{way}_mean", *median_error(w[:, :, 0].mean(axis=1) / S), "sd")
    lab.fact(f"{way}_sd", *median_error(numpy.sqrt((w[:, :, 0] ** 2).mean(axis=1))))
    beyond = 100 * (numpy.abs(w[:, :, 0]) > FAR * S).mean(axis=1)
    lab.fact(f"{way}_lost", int((beyond > 0).sum()))
    lab.fact(f"{way}_farthest", float(numpy.abs(w[:, :, 0]).max() / S))
    lab.fact(f"{way}_beyond", float(beyond.max()), None, "%")
    lab.fact("chains", len(w))
    per_seed = [run.info["rows_touched"] / chains_ess(run.w[:, :, 0]) for run in runs]
    lab.fact(f"{way}_observations", *median_error(per_seed))
    lab.fact(f"{way}_violations",
             *median_error([100 * run.info["violations"] / run.info["proposals"] for run in runs]),
             "%")


def segments(lab):
    """Paths of both ways: the first 50 bounces of the one that begins nearest to the mode, travel
    times, ACFs; bounces per unit of time and times of decay."""
    times = numpy.linspace(0, 4, 161)
    travel, curves, trajectory, rate, slow = [], [], [], {}, {}
    for way, observations in (("exact", lab.pick(30000, 300000, 1500000)), ("noisy",
                                                                            lab.pick(60000, 800000,
                                                                                     6000000))):
        runs = sample(lab, way, observations, skeleton=True)
        paths = [path for run in runs for path in run.paths]
        trajectory += first_bounces(way,
                                    min(paths,
                                        key=lambda path: numpy.hypot(path.w[0, 0], path.w[0, 1]
                                                                     + S * S)), 50)
        rate[way] = [path.bounce.sum() / path.time[-1] for path in paths]
        densities = [density(numpy.diff(path.time[path.bounce]), times) for path in paths]
        travel += [[way, t, *mean_error([d[i] for d in densities])] for i, t in enumerate(times)]
        at_bounces = [path.w[path.bounce, 0] for path in paths]
        at_times = [path.at(numpy.arange(0, path.time[-1], 0.5))[:, 0] for path in paths]
        step = lab.pick(20, 10, 5)
        curves += curve(way, "bounce", [acf(x, 501) for x in at_bounces], step)
        curves += curve(way, "time", [acf(x, 501) for x in at_times], step, 0.5)
        slow[way] = [mean_error([decay(at[i:i + CHAINS]) * unit for i in range(0, len(at), CHAINS)])
                     for at, unit in ((at_bounces, 1.0), (at_times, 0.5))]
    lab.table("trajectory", ["series", "w1", "w2"], trajectory)
    lab.table("travel", ["series", "time", "density", "error"], travel)
    lab.table("acf", ["series", "unit", "lag", "acf", "error"], curves)
    return rate, slow


def broken_condition(lab):
    """independence.csv: E w^2 and tails of a standard normal with noise that is kept for a while;
    {(sigma, hold): {statistic: (value, error, z)}}."""
    truth = {"E w^2": 1.0, **{f"P(|w| > {c} sd)": 2 * NORMAL.cdf(-c) for c in independence.TAILS}}
    chains, events = lab.pick(200, 1000, 2000), lab.pick(800, 4000, 20000)
    cases = [(sigma, hold) for sigma in SIGMAS for hold in HOLDS]
    found = {}
    for sigma, hold in cases:
        rates = independence.simulate(hold, sigma, chains, events, 1)
        found[sigma, hold] = ({name: (*mean_error(values),
                                      (values.mean() - truth[name]) / mean_error(values)[1])
                               for name, values in rates.items()})
    lab.table("independence", ["sigma", "hold", "statistic", "value", "error", "expected", "z"],
              [(sigma, HOLDS[hold], name, value, error, truth[name], z)
               for (sigma, hold), of in found.items() for name, (value, error, z) in of.items()])
    return found


def against_reversible(lab):
    """reversible.csv, and {sampler: {statistic: (effective samples per 1000 evaluations, error,
    setting)}} of the best settings."""
    rows = reversible.compare(lab)
    lab.table("reversible", ["sampler", "setting", "statistic", "ess", "error"], rows)
    best = {}
    for sampler, setting, name, value, error in rows:
        if value > best.setdefault(sampler, {}).get(name, (0.0,))[0]:
            best[sampler][name] = value, error, setting
    lab.table("best", ["sampler", "statistic", "ess", "error", "setting"],
              [(sampler, name, *of) for sampler, names in best.items()
               for name, of in names.items()])
    return best


def decay(series):
    """Integrated autocorrelation time, in steps, by the chains of one seed together."""
    size = min(map(len, series))
    x = numpy.array([one[:size] for one in series])
    return x.size / chains_ess(x)


def first_bounces(way, path, count):
    end = numpy.flatnonzero(path.bounce)[count - 1] + 1
    return [[way, round(a, 4), round(b, 4)] for a, b in path.w[:end]]


def density(sample_times, at, width=0.06):
    """Gaussian kernels, reflected at 0."""
    total = numpy.zeros(len(at))
    for sign in (-1, 1):
        edges = numpy.linspace(-0.005, 30.005, 3002)  # bins of 0.01: fine against the kernel
        count = numpy.histogram(sample_times, edges)[0]
        centre = sign * (edges[:-1] + edges[1:]) / 2
        used = count > 0
        total += numpy.exp(-((at[:, None] - centre[used]) / width) ** 2 / 2) @ count[used]
    return total / (len(sample_times) * width * numpy.sqrt(2 * numpy.pi))


def curve(way, unit, each, step, scale=1.0):
    lags = sorted({*range(0, 20, 1), *range(20, 501, step)})
    return [[way, unit, lag * scale, *mean_error([values[lag] for values in each])] for lag in lags]


# ---- the experiment

def run(lab):
    worst = marginals(lab)
    bands(lab)
    rate, slow = segments(lab)
    found = {way: mean_error(values) for way, values in rate.items()}
    theory = {"exact": bounce_rate(0), "noisy": bounce_rate(NOISE)}
    z = {way: (found[way][0] - theory[way]) / found[way][1] for way in theory}
    ratio = quotient(found["noisy"], found["exact"])
    for way in theory:
        lab.fact(f"{way}_rate", *found[way])
        lab.fact(f"{way}_rate_theory", theory[way])
        lab.fact(f"{way}_iat_bounce", *slow[way][0], "bounces")
        lab.fact(f"{way}_iat_time", *slow[way][1])
    lab.fact("ratio", *ratio)
    lab.fact("ratio_theory", theory["noisy"] / theory["exact"])
    slower = [quotient(slow["noisy"][i], slow["exact"][i]) for i in (0, 1)]
    lab.fact("slower_bounce", *slower[0])
    lab.fact("slower_time", *slower[1])
    claim_theorem(lab, worst)
    claim_condition(lab, broken_condition(lab))
    claim_bounces(lab, z, ratio, theory, found)
    claim_mixing(lab, slow, slower)
    claim_reversible(lab, against_reversible(lab))


def quotient(a, b):
    """Of two means with errors, with its error."""
    return a[0] / b[0], a[0] / b[0] * numpy.hypot(a[1] / a[0], b[1] / b[0])


def claim_theorem(lab, worst):
    right = max(worst["noisy"], worst["exact"]) < LIMIT
    fact = {key: value for key, value, _, _ in lab.facts}
    error = {key: error for key, _, error, _ in lab.facts}
    error = {key: float(value) if value != "" else numpy.nan for key, value in error.items()}
    rows = [(NAMES[way], show(fact[f"{way}_sd"], error[f"{way}_sd"]),
             f"{fact[f'{way}_lost']} of {fact['chains']}", show(fact[f"{way}_violations"]) + " %",
             show(worst[way]) if way in worst else "", show(fact[f"{way}_observations"]))
            for way in NAMES]
    lab.claim("theorem-1", "Zero-mean noise on the gradient leaves the invariant distribution "
              "unchanged (Theorem 1)", right,
              f"Largest z of {fact['statistics']} statistics with known values: "
              f"{worst['noisy']:.1f} with noise, {worst['exact']:.1f} without (limit {LIMIT:g}).",
              numbers="The statistics are the means, E w1^2, tails of w1 beyond 2, 3 and 6 sd, and "
                      "deciles of both coordinates. The true sd of w1 is 1.5. A chain is lost if "
              f"it has been beyond {FAR} sd of w1, where the true probability is 2e-9. Medians are "
              "over chains, those of violations and of observations per effective sample of w1 "
              "over seeds.\n\n"
              + markdown(["run", "sd of w1, median", "lost chains", "violations", "largest z",
                          "observations per effective sample"], rows))
    lab.condition("strays", fact["sbps_lost"] > 0)
    lab.condition("noiseless_worse", fact["noiseless_lost"] > fact["sbps_lost"])
    lab.condition("horizon_cures", fact["horizon_lost"] == 0 < fact["noiseless_lost"])
    lab.condition("default_right", worst["default"] < LIMIT)


def claim_condition(lab, found):
    for (sigma, hold), of in found.items():
        value, error, z = of["E w^2"]
        lab.fact(f"held-{HOLDS[hold].replace('.', '')}-{sigma}", value, error)
        lab.fact(f"held-z-{HOLDS[hold].replace('.', '')}-{sigma}", z)
    free, kept = found[NOISE, 0], found[NOISE, numpy.inf]
    unbiased = all(abs(z) < LIMIT for sigma in SIGMAS for _, _, z in found[sigma, 0].values())
    biased = all(abs(found[sigma, numpy.inf]["E w^2"][2]) > LIMIT for sigma in SIGMAS)
    lab.condition("kept_biased", biased)
    rows = [(sigma,
             {"0": "independent", "bounce": "from bounce to bounce"}.get(HOLDS[hold],
                                                                         "for a path of "
                                                                         f"{HOLDS[hold]} sd"),
             *(f"{show(*pair[:2])} ({pair[2]:.1f})" for pair in of.values()))
            for (sigma, hold), of in found.items()]
    lab.claim("independence", "Theorem 1 needs noise that is independent at different points of a "
              "segment", unbiased and biased,
              f"Noise kept from bounce to bounce: E w^2 is {show(*kept['E w^2'][:2])} in place of "
              f"1 (z = {kept['E w^2'][2]:.0f}). Independent noise: "
              f"{show(*free['E w^2'][:2])} (z = {free['E w^2'][2]:.1f}).",
              partly=biased,
              numbers="A standard normal in two dimensions, exact arrival times, noise N(0, "
                      "sigma^2) on each component of the gradient, drawn anew after a path of the "
              "given length and at each bounce and refreshment. In brackets: z. True values: 1, "
              f"{2 * NORMAL.cdf(-2):.4f} and {2 * NORMAL.cdf(-3):.5f}.\n\n"
              + markdown(["sigma", "noise", *(name.replace("|", "\\|") for name in free)], rows))


def claim_bounces(lab, z, ratio, theory, found):
    agree = max(abs(value) for value in z.values()) < LIMIT
    lab.claim("more-bounces", "Noise makes bounces more frequent, by Jensen's inequality",
              ratio[0] - 2 * ratio[1] > 1 and agree,
              f"{show(*ratio)} times as many bounces per unit of path; quadrature of E(G + y)+ "
              f"gives {theory['noisy'] / theory['exact']:.2f}.",
              partly=ratio[0] - 2 * ratio[1] > 1, unsure=near_limit(ratio, 1),
              numbers=f"Without noise {show(*found['exact'])} bounces per unit of path (quadrature "
                      f"{theory['exact']:.4f}), with noise {show(*found['noisy'])} "
              f"({theory['noisy']:.4f}).")


def claim_mixing(lab, slow, slower):
    lab.condition("path_slower", slower[1][0] - 2 * slower[1][1] > 1)
    lab.claim("slower-mixing", "With noise the chain mixes more slowly per iteration",
              slower[0][0] > 1,
              f"w1 decorrelates in {show(*slower[0])} times as many bounces, and in "
              f"{show(*slower[1])} times the path length.", unsure=near_limit(slower[0], 1),
              numbers=f"Integrated autocorrelation times of w1: {show(*slow['noisy'][0])} bounces "
                      f"with noise, {show(*slow['exact'][0])} without; "
              f"{show(*slow['noisy'][1])} and {show(*slow['exact'][1])} units of path.")


def claim_reversible(lab, best):
    names = list(best["bps"])
    gain = {rival: {name: quotient(best["bps"][name][:2], best[rival][name][:2]) for name in names}
            for rival in ("mala", "rwm")}
    for rival in gain:
        for name, key in zip(names, ("mean", "square", "potential")):
            lab.fact(f"gain-{rival}-{key}", *gain[rival][name])
    ahead = {rival: [name for name in names if gain[rival][name][0] - 2 * gain[rival][name][1] > 1]
             for rival in gain}
    behind = any(pair[0] + 2 * pair[1] < 1 for of in gain.values() for pair in of.values())
    lab.condition("potential_slow", gain["mala"]["U"][0] + 2 * gain["mala"]["U"][1] < 1)
    rows = [(sampler, name, show(*of[:2]), f"{of[2]:g}") for sampler in best
            for name, of in best[sampler].items()]
    lab.claim("non-reversible", "Non-reversibility has been shown in many cases to yield faster "
              "mixing (Introduction)",
              all(len(ahead[rival]) == len(names) for rival in gain),
              f"Effective samples of BPS over MALA's: {show(*gain['mala']['w'])} (slowest "
              f"coordinate), {show(*gain['mala']['U'])} (potential); over random-walk Metropolis': "
              f"{show(*gain['rwm']['w'])} and {show(*gain['rwm']['U'])}.",
              "The coordinates mix faster; the potential, which a bounce leaves unchanged, mixes "
              "more slowly than in MALA." if ahead["mala"] and behind else "",
              partly="w" in ahead["mala"] and "w" in ahead["rwm"],
              numbers=f"A normal with d = {reversible.DIM} and sds 1 to 3. Effective samples per "
                      "1000 evaluations of the potential or its gradient; each sampler at its "
              "best setting for the statistic (bps: refreshments per unit of path; others: step, "
              "in units of the usual scaling with d). An arrival time of bps has a closed form "
              "here; where it must be searched for, it costs further evaluations. Squares and "
              "coordinates: the slowest of 20.\n\n"
              + markdown(["sampler", "statistic", "effective samples", "setting"], rows))


def check(lab):
    limit = LIMIT * (1 + 8 / (CHAINS * len(lab.seeds(2, 4, 8))))  # few chains have heavy tails
    largest = {way: max(abs(row["z"]) for row in lab.read("marginals") if row["series"] == way)
               for way in WAYS}
    for way in ("exact", "noisy", "default"):
        assert largest[way] < limit, (way, largest[way])
    for row in lab.read("qq"):
        if row["series"] in ("exact", "noisy") and 0.05 <= row["p"] <= 0.95:
            assert abs(row["quantile"] - row["theory"]) < limit * row["error"] + 0.02, row
    mean_time = {}
    for way in ("exact", "noisy"):
        rows = [row for row in lab.read("travel") if row["series"] == way]
        time, height = (numpy.array([row[key] for row in rows]) for key in ("time", "density"))
        mass = numpy.trapz(height, time)
        mean_time[way] = numpy.trapz(height * time, time) / mass
        assert 0.7 < mass < 1.02, (way, mass)
        assert len([row for row in lab.read("trajectory") if row["series"] == way]) >= 51
    assert mean_time["noisy"] < 0.6 * mean_time["exact"], mean_time
    facts = {row["key"]: row for row in lab.read("facts")}
    ratio, theory = facts["ratio"], facts["ratio_theory"]
    assert abs(ratio["value"] - theory["value"]) < limit * ratio["error"] + 0.02, ratio
    at = {(row["series"], row["lag"]): row["acf"] for row in lab.read("acf")
          if row["unit"] == "bounce"}
    assert at["noisy", 19] > at["exact", 19] + 0.2, (at["noisy", 19], at["exact", 19])
    for row in lab.read("independence"):
        if row["hold"] == 0:
            assert abs(row["z"]) < LIMIT, row
        elif row["hold"] == "bounce":
            assert row["z"] > 2 * LIMIT, row
