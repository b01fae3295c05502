"""Figure 1: trajectories of 50 bounces with exact and with noisy gradients, travel times until a bounce, a QQ plot of
one coordinate, its ACF per bounce.

The paper: a 2-D density it does not name, noise N(0, 5^2) on each component of the gradient. Ours is `banana`,

    w1 ~ N(0, s^2),  w2 = w1^2 - s^2 + e,  e ~ N(0, 1),  s = 1.5,

whose marginals are known, so that the law is tested against the truth and not against another run. The paper does not
name a refreshment rate: 0.1 here, so that few flights end that way, with and without noise. Exact means `bps`; noisy
`noisy-bps`, which draws from the mean rate E(G + y)+ and so needs no bound on the noise. The paper's own way to do
without one, a band of k = 3 over a regression, is run beside it, and so is our default.

Error bars are over independent chains."""
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
LIMIT = 5.0    # |z| beyond which a law is called wrong: 21 statistics over 32 chains, 0.05 % by chance
FAR = 6.0      # sds of w1 beyond which chance does not come: 2e-9
WIDER = 1.2    # the test has to tell a law so many times as wide
DECILES = numpy.arange(1, 10) / 10
NORMAL = statistics.NormalDist()
phi, Phi = NORMAL.pdf, numpy.vectorize(NORMAL.cdf)


# ---- what is known

def grid(size=801, width=7.5):
    """Nodes and weights for a standard normal: the trapezoidal rule, which converges at once on it."""
    x = numpy.linspace(-width, width, size)
    p = numpy.exp(-x * x / 2)
    return x, p / p.sum()


def quantiles(p, scale=1.0):
    """Of w1 and of w2, by their distribution functions; of a density `scale` times as wide in w1 for the test's test."""
    x, weight = grid()
    y = numpy.linspace(-12, 60, 1441)
    centre = (scale * S * x) ** 2 - S * S
    law = numpy.array([weight @ Phi(v - centre) for v in y])
    keep = numpy.concatenate([[True], numpy.diff(law) > 0])
    return numpy.array([NORMAL.inv_cdf(q) * scale * S for q in p]), numpy.interp(p, law[keep], y[keep])


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
    """[chain, statistic] of draws [chain, draw, 2], the statistics' names and what they are expected to be."""
    q1, q2 = quantiles(DECILES)
    below = [[(w[:, :, j] <= q).mean(axis=1) for q in cuts] for j, cuts in ((0, q1), (1, q2))]
    values = [w[:, :, 0].mean(axis=1), w[:, :, 1].mean(axis=1), (w[:, :, 0] ** 2).mean(axis=1), *below[0], *below[1]]
    names = ["E w1", "E w2", "E w1^2"] + [f"P(w{j} < q{p:.1f})" for j in (1, 2) for p in DECILES]
    return numpy.array(values).T, names, numpy.array([0, 0, S * S, *DECILES, *DECILES])


def z_of(values, expected):
    return (values.mean(axis=0) - expected) / (values.std(axis=0, ddof=1) / numpy.sqrt(len(values)))


# ---- tables

def law(lab):
    """Is the law the right one? Every way against the known one; largest |z| of each."""
    p = numpy.array([0.002, 0.005, 0.01, 0.02, 0.05, *numpy.arange(0.1, 0.91, 0.05), 0.95, 0.98, 0.99, 0.995, 0.998])
    theory = quantiles(p)[0]
    looks = {"exact": lab.pick(60000, 1000000, 10000000)}
    tests, qq, worst = [], [], {}
    for way in WAYS:
        runs = sample(lab, way, looks.get(way, lab.pick(200000, 4000000, 80000000)))
        w = together(runs)
        values, names, expected = statistics_of(w)
        z = z_of(values, expected)
        worst[way] = numpy.abs(z).max()
        error = values.std(axis=0, ddof=1) / numpy.sqrt(len(values))
        tests += [[way, i, name, values[:, i].mean(), expected[i], error[i], z[i]] for i, name in enumerate(names)]
        each = numpy.quantile(w[:, :, 0], p, axis=1)
        qq += [[way, p[i], theory[i], numpy.quantile(w[:, :, 0], p[i]), each[i].std(ddof=1) / numpy.sqrt(len(w))]
               for i in range(len(p))]
        lab.fact(f"{way}_z", worst[way])
        facts_of_law(lab, way, runs, w)
        if way == "noisy":
            q1, q2 = quantiles(DECILES, WIDER)
            wider = [(w[:, :, 0] <= q).mean(axis=1) for q in q1] + [(w[:, :, 1] <= q).mean(axis=1) for q in q2]
            wider = numpy.array(wider).T
            z = z_of(wider, expected[3:])
            worst["wider"] = numpy.abs(z).max()
            lab.fact("wider_z", worst["wider"])
            tests += [["wider", i + 3, names[i + 3], wider[:, i].mean(), expected[i + 3], numpy.nan, z[i]] for i in range(len(z))]
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
    escaped = next(value for key, value, _, _ in lab.facts if key == "sbps_escaped")
    claims(lab, worst, escaped, z, ratio, theory, slower)


def quotient(a, b):
    """Of two means with errors, with its error."""
    return a[0] / b[0], a[0] / b[0] * numpy.hypot(a[1] / a[0], b[1] / b[0])


def claims(lab, worst, escaped, z, ratio, theory, slower):
    lab.claim("theorem-1", "Zero-mean noise on the gradient leaves the invariant law unchanged.",
              worst["noisy"] < LIMIT and worst["exact"] < LIMIT < worst["wider"],
              f"Against the known law the largest z of 21 statistics is {worst['noisy']:.1f} with noise and {worst['exact']:.1f} without "
              f"(limit {LIMIT:g}); a law {100 * (WIDER - 1):.0f} % wider in w1 would give {worst['wider']:.0f}.",
              f"That is with exact arrivals; thinned by the published band the path spends {escaped:.2g} % of the time beyond "
              f"{FAR:g} sd of w1, which is the band's fault." if escaped > 1e-3 else "")
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
    wider = max(abs(row["z"]) for row in lab.read("law") if row["series"] == "wider")
    assert wider > lab.pick(1, LIMIT, LIMIT), wider
    assert at["noisy", 19] > at["exact", 19] + 0.2, (at["noisy", 19], at["exact", 19])
