"""Figure 1: trajectories of 50 bounces with exact and with noisy gradients, travel times until a bounce, a QQ plot of
one coordinate, its ACF per bounce.

The paper: a 2-D density it does not name, noise N(0, 5^2) on each component of the gradient. Ours is `banana`,

    w1 ~ N(0, s^2),  w2 = w1^2 - s^2 + e,  e ~ N(0, 1),  s = 1.5,

whose marginals are known, so that the law is tested against the truth and not against another run. The paper does not
name a refreshment rate: 0.1 here, so that few flights end that way, with and without noise. Exact means `bps`; noisy
`noisy-bps`, which draws from the mean rate E(G + y)+ and so needs no bound on the noise. The paper's own way to do
without one, a band of k = 3 over a regression, is run beside it, and so is our default.

The test of a law takes the spread of every statistic from the known law and only the number of effective samples from the run: a
sampler that strays cannot hide behind the scatter of its own chains. Error bars in the other panels are over independent chains."""
import statistics

import numpy

from lab import acf, mean_error
from lab.series import chains_ess

TITLE = "Figure 1: noisy and noiseless gradients"

S, NOISE, REFRESH, CHAINS = 1.5, 5.0, 0.1, 4
WAYS = {
    "exact": ["--sampler", "bps"],
    "noisy": ["--sampler", "noisy-bps", "--gradient-noise", NOISE],
    "sbps": ["--sampler", "sbps", "--paper", "--gradient-noise", NOISE],
    "default": ["--sampler", "sbps", "--gradient-noise", NOISE],
}
BANDS = {  # what of the published band is to blame: the same without noise, and with a look once a posterior sd of flight
    "noiseless": ["--sampler", "sbps", "--paper"],
    "horizon": ["--sampler", "sbps", "--paper", "--horizon", 1, "--gradient-noise", NOISE],
}
LIMIT = 5.0    # |z| beyond which a law is called wrong
TAILS = 2, 3, 6  # sds of w1 whose tails are among the statistics; beyond the last chance does not come: 2e-9
FAR = TAILS[-1]
DECILES = numpy.arange(1, 10) / 10
NORMAL = statistics.NormalDist()
phi, Phi = NORMAL.pdf, numpy.vectorize(NORMAL.cdf)


# ---- what is known

def grid(size=801, width=7.5):
    """Nodes and weights for a standard normal: the trapezoidal rule, which converges at once on it."""
    x = numpy.linspace(-width, width, size)
    p = numpy.exp(-x * x / 2)
    return x, p / p.sum()


def quantiles(p):
    """Of w1 and of w2, by their distribution functions."""
    x, weight = grid()
    y = numpy.linspace(-12, 60, 1441)
    centre = (S * x) ** 2 - S * S
    law = numpy.array([weight @ Phi(v - centre) for v in y])
    keep = numpy.concatenate([[True], numpy.diff(law) > 0])
    return numpy.array([NORMAL.inv_cdf(q) * S for q in p]), numpy.interp(p, law[keep], y[keep])


def bounce_rate(noise):
    """E (v.grad U + y)+ over density, sphere and noise. The noise is isotropic, so y ~ N(0, noise^2) for every v:
    the rate is the mean over angles of G Phi(G/noise) + noise phi(G/noise), G = |grad U| cos(angle)."""
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

def sample(lab, way, looks, **what):
    """Chains of all seeds; `looks` at the slope in all."""
    seeds = lab.seeds(2, 4, 8)

    def one(seed):
        return lab.sample(None, "--model", "banana", "--metric", "none", "--refresh-rate", REFRESH, *{**WAYS, **BANDS}[way],
                          "--chains", CHAINS, "--spread", 1, "--warmup", lab.pick(500, 2000, 5000), "--seed", seed,
                          "--epochs", looks // len(seeds), "--draws", lab.pick(1000, 4000, 8000), **what)
    return lab.map(one, seeds)


def statistics_of(w):
    """Of draws [chain, draw, 2]: (name, series [chain, draw], expectation and sd of one draw under the known law), one a statistic."""
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


def against_the_law(w):
    """Rows (name, value, expected, error, z). The error is the known law's spread over the root of the effective samples. Those of a
    tail, which few visits tell, are taken to be as few as the slowest of the others has."""
    found = [(name, series.mean(), expected, sd, numpy.inf if "sd)" in name else chains_ess(series))
             for name, series, expected, sd in statistics_of(w)]
    least = min(count for *_, count in found)
    rows = []
    for name, value, expected, sd, count in found:
        error = sd / numpy.sqrt(least if numpy.isinf(count) else count)
        rows.append((name, value, expected, error, (value - expected) / error))
    return rows


# ---- tables

def law(lab):
    """Is the law the right one? Every way against the known one; largest |z| of each."""
    p = numpy.array([0.002, 0.005, 0.01, 0.02, 0.05, *numpy.arange(0.1, 0.91, 0.05), 0.95, 0.98, 0.99, 0.995, 0.998])
    theory = quantiles(p)[0]
    looks = {"exact": lab.pick(60000, 1000000, 10000000), "sbps": lab.pick(200000, 4000000, 20000000)}
    tests, qq, worst = [], [], {}
    for way in WAYS:
        runs = sample(lab, way, looks.get(way, lab.pick(200000, 4000000, 80000000)))
        w = together(runs)
        rows = against_the_law(w)
        tests += [[way, i, *row] for i, row in enumerate(rows)]
        worst[way] = max(abs(row[-1]) for row in rows)
        each = numpy.quantile(w[:, :, 0], p, axis=1)
        qq += [[way, p[i], theory[i], numpy.quantile(w[:, :, 0], p[i]), each[i].std(ddof=1) / numpy.sqrt(len(w))]
               for i in range(len(p))]
        lab.fact(f"{way}_z", worst[way])
        lab.fact(f"{way}_z_square", next(row[-1] for row in rows if row[0] == "E w1^2"))
        lab.fact(f"{way}_z_tail", next(row[-1] for row in rows if row[0] == "P(|w1| > 3 sd)"))
        facts_of_law(lab, way, runs, w)
    lab.fact("statistics", len(rows))
    lab.table("law", ["series", "index", "statistic", "value", "expected", "error", "z"], tests)
    lab.table("qq", ["series", "p", "theory", "quantile", "error"], qq)
    return worst


def bands(lab):
    for way in BANDS:
        runs = sample(lab, way, lab.pick(50000, 1000000, 10000000))
        facts_of_law(lab, way, runs, together(runs))


def together(runs):
    """Draws of all chains."""
    return numpy.concatenate([run.w[:, :min(other.w.shape[1] for other in runs)] for run in runs])


def facts_of_law(lab, way, runs, w):
    mean, error = mean_error(w[:, :, 0].mean(axis=1) / S)
    lab.fact(f"{way}_mean", mean, error, "sd")
    square, error = mean_error((w[:, :, 0] ** 2).mean(axis=1))
    lab.fact(f"{way}_sd", numpy.sqrt(square), error / (2 * numpy.sqrt(square)))
    escaped = [100 * share for share in (numpy.abs(w[:, :, 0]) > FAR * S).mean(axis=1)]
    lab.fact(f"{way}_escaped", *mean_error(escaped), "%")
    lab.fact(f"{way}_looks", sum(run.info["rows_touched"] for run in runs) / chains_ess(w[:, :, 0]))
    lab.fact(f"{way}_violations", 100 * sum(run.info["violations"] for run in runs) / sum(run.info["proposals"] for run in runs),
             None, "%")


def flights(lab):
    """Paths of both ways: the first 50 bounces of the one that begins nearest to the mode, travel times, ACFs; bounces per unit of time and times of decay."""
    times = numpy.linspace(0, 4, 161)
    travel, curves, trajectory, rate, slow = [], [], [], {}, {}
    for way, looks in (("exact", lab.pick(30000, 300000, 1500000)), ("noisy", lab.pick(60000, 800000, 6000000))):
        runs = sample(lab, way, looks, skeleton=True)
        paths = [path for run in runs for path in run.paths]
        trajectory += first_bounces(way, min(paths, key=lambda path: numpy.hypot(path.w[0, 0], path.w[0, 1] + S * S)), 50)
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
    worst = law(lab)
    bands(lab)
    rate, slow = flights(lab)
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
    claims(lab, worst, z, ratio, theory, slower)


def quotient(a, b):
    """Of two means with errors, with its error."""
    return a[0] / b[0], a[0] / b[0] * numpy.hypot(a[1] / a[0], b[1] / b[0])


def claims(lab, worst, z, ratio, theory, slower):
    right, able = max(worst["noisy"], worst["exact"]) < LIMIT, worst["sbps"] > LIMIT
    fact = {key: value for key, value, _, _ in lab.facts}
    strays = fact["sbps_escaped"] > 1e-3
    lab.claim("theorem-1", "Zero-mean noise on the gradient leaves the invariant law unchanged.", right and able,
              f"Against the known law the largest z of {fact['statistics']} statistics, sd and tails among them, is {worst['noisy']:.1f} with noise and "
              f"{worst['exact']:.1f} without (limit {LIMIT:g}). The test can fail: "
              + (f"the same noise thinned by the published band gives {worst['sbps']:.2g}." if able else
                 f"but it passes the published band, too ({worst['sbps']:.1f})."),
              f"With exact arrivals, that is; the published band spends {fact['sbps_escaped']:.2g} % of the time beyond "
              f"{FAR:g} sd of w1, which is the band's fault." if strays else "", partly=right)
    lab.condition("able", able)
    lab.condition("strays", strays)
    lab.condition("noiseless_worse", fact["noiseless_sd"] > fact["sbps_sd"])
    lab.condition("horizon_cures", abs(fact["horizon_sd"] / S - 1) < 0.1 and fact["horizon_escaped"] < 1e-3)
    lab.condition("default_right", worst["default"] < LIMIT)
    lab.condition("path_slower", slower[1][0] - 2 * slower[1][1] > 1)
    agree = max(abs(value) for value in z.values()) < LIMIT
    lab.claim("more-bounces", "Noise makes bounces more frequent, by Jensen's inequality.",
              ratio[0] - 3 * ratio[1] > 1 and agree,
              f"{ratio[0]:.2f} +- {ratio[1]:.2f} times as many bounces per unit of time; the mean of (G + y)+ says "
              f"{theory['noisy'] / theory['exact']:.2f}.", partly=ratio[0] > 1)
    lab.claim("slower-mixing", "With noise the chain mixes more slowly per iteration.",
              slower[0][0] - 3 * slower[0][1] > 1,
              f"w1 decorrelates in {slower[0][0]:.1f} +- {slower[0][1]:.1f} times as many bounces, and in "
              f"{slower[1][0]:.1f} +- {slower[1][1]:.1f} times the path length.", partly=slower[0][0] > 1)


def check(lab):
    limit = LIMIT * (1 + 8 / (CHAINS * len(lab.seeds(2, 4, 8))))  # few chains have heavy tails
    largest = {way: max(abs(row["z"]) for row in lab.read("law") if row["series"] == way) for way in WAYS}
    for way in ("exact", "noisy", "default"):
        assert largest[way] < limit, (way, largest[way])
    assert largest["sbps"] > 2 * limit, ("the test can fail: the published band strays", largest["sbps"])
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
    assert abs(facts["ratio"]["value"] - facts["ratio_theory"]["value"]) < limit * facts["ratio"]["error"] + 0.02, facts["ratio"]
    at = {(row["series"], row["lag"]): row["acf"] for row in lab.read("acf") if row["unit"] == "bounce"}
    assert at["noisy", 19] > at["exact", 19] + 0.2, (at["noisy", 19], at["exact", 19])
