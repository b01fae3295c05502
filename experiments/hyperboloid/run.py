"""Figure 7: a highly non-Gaussian posterior, the hyperboloid of Supplement D.

y_i ~ N(w0 w1, 1), prior N(0, 1/c) on both: N = 1000, n = 100, k = 3, c = 1e-4, w* = 0. The paper draws traces of SBPS, SGLD at
two steps and mSGNHT over the contours and gives neither steps, lengths nor starts. We chose 1000 epochs from (1, mean y), on
the ridge; the two steps of SGLD after a scan: the larger goes into regions of low density, the smaller less and is slower; mSGNHT at
the step that comes nearest to the posterior. The truth is a quadrature: w1 integrates out,

    p(w0) ~ (N w0^2 + c)^(-1/2) exp(-c w0^2/2 - (N m^2/2) c/(N w0^2 + c)),   m = mean y.

Section 4 proposes, without trying it, that observations count less with their distance where a posterior is far from Gaussian: "decay".

Low density: log density below its own 1% quantile under the posterior. Explored: the Kolmogorov-Smirnov distance of log|w0| and log|w1|,
the larger of the two, since the two have the same law."""
import os

import numpy

from lab import Failure, mean_error

TITLE = "Figure 7: a highly non-Gaussian posterior"
N, C = 1000, 1e-4
LOW = 0.01
AWAY = 1000  # ten prior sds
LOST = None  # a run that diverged, went that far or flew without end
ENDLESS = 6  # seconds of processor time with decaying weights: chords shrink with the band there, and a long flight never ends; those that end take one
COLD = ["--batch-size", "100", "--warmup", "0"]
SGLD, MSGNHT = ["--sampler", "sgld", *COLD], ["--sampler", "msgnht", *COLD]
STEPS = [0.001, 0.01, 0.1, 0.5, 1, 2]
CHOSEN = 0.01, 1, 0.1  # SGLD smaller and larger, mSGNHT


class Truth:
    def __init__(self, mean):
        self.m = mean
        self.u = numpy.linspace(numpy.log(1e-7), numpy.log(2e3), 40001)  # log|w0|; both signs are alike up to exp(-N m^2/2 ..)
        w = numpy.exp(self.u)
        precision = N * w * w + C
        density = numpy.exp(-0.5 * C * w * w - 0.5 * N * mean**2 * C / precision) / numpy.sqrt(precision) * w
        self.cdf = numpy.cumsum(density) / density.sum()
        self.low = numpy.quantile(self.log_density(self.draws(400000)), LOW)

    def draws(self, count):
        """Of the posterior: w0 at equal steps of its law, w1 given w0."""
        random = numpy.random.default_rng(1)
        level = (numpy.arange(count) + 0.5) / count
        w0 = numpy.exp(numpy.interp(level, self.cdf, self.u)) * random.choice([-1, 1], count)
        precision = N * w0 * w0 + C
        return numpy.column_stack([w0, N * w0 * self.m / precision + random.standard_normal(count) / numpy.sqrt(precision)])

    def log_density(self, w):
        return -0.5 * N * (self.m - w[..., 0] * w[..., 1])**2 - 0.5 * C * (w**2).sum(axis=-1)

    def quantile(self, q):
        return float(numpy.exp(numpy.interp(q, self.cdf, self.u)))

    def distance(self, w):
        """Kolmogorov-Smirnov distance of log|w|."""
        x = numpy.sort(numpy.log(numpy.maximum(numpy.abs(w), 1e-12)))
        exact = numpy.interp(x, self.u, self.cdf)
        i = numpy.arange(len(x))
        return float(max((exact - i / len(x)).max(), ((i + 1) / len(x) - exact).max()))

    def measure(self, w):
        """{distance, low, reach}: the last is the largest |w0| or |w1|."""
        return {"distance": max(self.distance(w[:, 0]), self.distance(w[:, 1])),
                "low": float((self.log_density(w) < self.low).mean()), "reach": float(numpy.abs(w).max())}


class Target:
    def __init__(self, lab):
        self.lab = lab
        self.data = os.path.join(lab.shared_data, "hyperboloid_1000_1.csv")
        if not os.path.exists(self.data):
            new = f"{self.data}.{os.getpid()}"
            lab.call("simulate", "hyperboloid", "--rows", N, "--seed", 1, "-o", new)
            os.replace(new, self.data)
        self.truth = Truth(numpy.loadtxt(self.data, skiprows=1).mean())
        self.start = lab.file("start.csv")
        with open(self.start, "w") as file:
            file.write(f"name,value\nw0,1\nw1,{self.truth.m:.17g}\n")

    def sample(self, options, epochs, seed, own=False):
        """One chain from the start, or with `own` the program's four chains from starts of its own."""
        start = [] if own else ["--chains", 1, "--start", self.start, "--spread", 0]
        return self.lab.sample(self.data, "--model", "hyperboloid", "--target", "y", *start, "--seed", seed, "--epochs", epochs,
                               "--draws", 4000, *options, limit=ENDLESS if "--weight-decay" in options else None)

    def measures(self, options, epochs, seeds, own=False):
        """A list over seeds."""
        def one(seed):
            try:
                run = self.sample(options, epochs, seed, own)
            except Failure as failure:
                if "diverged" in str(failure) or "no end after" in str(failure):
                    return LOST
                raise
            if numpy.abs(run.w).max() > AWAY:
                return LOST
            return {**self.truth.measure(run.w.reshape(-1, 2)), "warned": float(run.info["unsettled"] > 0), "stated": float(run.info["bias_estimate"]),
                    "w0": run.w[..., 0].ravel()}
        return self.lab.map(one, seeds)


def column(measures, key):
    """Of the runs that lasted; nan where none did."""
    values = [m[key] for m in measures if m is not LOST]
    return numpy.array(values or [numpy.nan])


def lost(measures):
    return sum(m is LOST for m in measures) / len(measures)


def scan(lab, target, epochs, seeds):
    """Every step of SGLD and mSGNHT."""
    found = {}
    for name, options in (("sgld", SGLD), ("msgnht", MSGNHT)):
        for step in STEPS:
            found[name, step] = target.measures([*options, "--step-size", step], epochs, seeds)
    lab.table("scan", ["sampler", "step", "distance", "distance_error", "low", "low_error"],
              [[name, step, *mean_error(column(m, "distance")), *mean_error(column(m, "low"))] for (name, step), m in found.items()])


def series(lab, small, large, thermostat):
    """name: (options, own starts). The names are those of the plot."""
    short = lab.pick(["--warmup", 5], [], [])
    return {"sbps": (["--paper", *COLD], False), "sgld-small": ([*SGLD, "--step-size", small], False),
            "sgld-large": ([*SGLD, "--step-size", large], False), "msgnht": ([*MSGNHT, "--step-size", thermostat], False),
            "auxiliary": (["--paper", "--auxiliary", 1, *COLD], False), "decay": (["--paper", "--weight-decay", "on", "--dt", "auto", *COLD], False),
            "ours": (["--sampler", "sbps", "--metric", "none", *short], False), "default": (short, True)}


def traces(lab, target, kinds, epochs):
    rows = []
    for name, (options, own) in list(kinds.items())[:4]:
        w = target.sample(options, epochs, 1, own).w[0]
        w = w[:: max(1, len(w) // 700)]
        low = target.truth.log_density(w) < target.truth.low
        rows += [[name, i, *point, int(flag)] for i, (point, flag) in enumerate(zip(w, low))]
    lab.table("traces", ["sampler", "draw", "w0", "w1", "low"], rows)


def lengths(lab, target, kinds, seeds):
    """Distance and low density against the length of the run, all seeds; {(sampler, epochs): measures}."""
    found = {}
    for epochs in lab.pick([100], [100, 1000, 10000], [100, 1000, 10000, 100000]):
        few = seeds[:6] if epochs > 10000 else seeds
        for name, (options, own) in kinds.items():  # hmc, the default, warms up for long
            found[name, epochs] = target.measures(options, epochs, few[:3] if own else few, own)
    lab.table("lengths", ["sampler", "epochs", "distance", "distance_error", "low", "low_error", "reach", "lost"],
              [[name, epochs, *mean_error(column(m, "distance")), *mean_error(column(m, "low")), numpy.median(column(m, "reach")), lost(m)]
               for (name, epochs), m in sorted(found.items())])
    return found


def law(lab, target, found, epochs):
    """Quantiles of log10|w0| over all seeds, beside the exact ones."""
    levels = numpy.linspace(0.01, 0.99, 50)
    rows = [["exact", level, numpy.log10(target.truth.quantile(level))] for level in levels]
    for name in {name: None for name, _ in found}:
        kept = [m["w0"] for m in found[name, epochs] if m is not LOST]
        if not kept:
            continue
        w = numpy.concatenate(kept)
        rows += [[name, level, value] for level, value in zip(levels, numpy.quantile(numpy.log10(numpy.abs(w)), levels))]
    lab.table("law", ["sampler", "level", "log10"], rows)


NAMES = ("sbps", "sgld-small", "sgld-large", "msgnht", "auxiliary", "decay", "ours", "default")


def state(lab, found, epochs, longest, steps, bounded):
    """Facts and conditions; {(sampler, key): (mean, error)} after `epochs`."""
    error = {}
    for name in NAMES:
        for key in ("distance", "low"):
            error[name, key] = mean_error(column(found[name, epochs], key))
            lab.fact(f"{key}-{name}", *error[name, key])
        lab.fact(f"reach-{name}", float(numpy.median(column(found[name, epochs], "reach"))))
        lab.fact(f"longest-{name}", *mean_error(column(found[name, longest], "distance")))
        lab.fact(f"lost-{name}", 100 * lost(found[name, epochs]), None, "%")
        lab.fact(f"lost-longest-{name}", 100 * lost(found[name, longest]), None, "%")
    for key, value in zip(("step-small", "step-large", "step-msgnht"), steps):
        lab.fact(key, value)
    lab.fact("epochs", epochs)
    lab.fact("longest-epochs", longest)
    lab.fact("low-true", LOW)
    lab.fact("warned", 100 * float(column(found["default", longest], "warned").mean()), None, "%")
    lab.fact("stated-ours", float(numpy.median(column(found["ours", longest], "stated"))), None, "sd")
    away = {name: lost(found[name, longest]) for name in NAMES}
    ours = mean_error(column(found["ours", longest], "distance"))
    lab.condition("large-step-no-worse", not apart(error["sgld-large", "distance"], error["sbps", "distance"]))
    lab.condition("flies-off", lost(found["sbps", epochs]) > 0)
    lab.condition("lost-in-the-end", away["sbps"] > 0.5)
    lab.condition("horizon-keeps", bounded == 0 < away["sbps"])
    lab.condition("auxiliary-keeps", away["auxiliary"] < 0.5 * away["sbps"])
    lab.condition("auxiliary-loses", away["auxiliary"] >= 0.5 * away["sbps"] > 0)
    lab.condition("ours-off", ours[0] > 0.1)
    return error


def claim_explores(lab, found, error, epochs, steps):
    others = ("sgld-small", "sgld-large", "msgnht")
    nearer = all(apart(error[name, "distance"], error["sbps", "distance"]) for name in others)
    reach = {name: float(numpy.median(column(found[name, epochs], "reach"))) for name in ("sbps", *others)}
    farther = all(reach["sbps"] > 1.5 * reach[name] for name in others)
    lab.claim("explores-more-fully", "SBPS explores the hyperboloid more fully than SGLD and mSGNHT in equal epochs.", nearer and farther,
              f"Largest |w| reached in {epochs} epochs (median): SBPS {reach['sbps']:.1f}, SGLD {reach['sgld-small']:.1f} (step {steps[0]:g}) and "
              f"{reach['sgld-large']:.1f} (step {steps[1]:g}), mSGNHT {reach['msgnht']:.1f}. KS distance of log|w|: "
              f"{show(error['sbps', 'distance'])}, {show(error['sgld-small', 'distance'])}, {show(error['sgld-large', 'distance'])}, "
              f"{show(error['msgnht', 'distance'])}.",
              "Flights carry it down the arms; but in equal epochs it is no nearer to the exact law than a large step that stays at the "
              "centre, since it returns from the arms slowly." if farther and not nearer else "", farther)


def claim_avoids(lab, found, error, epochs, steps):
    away = lost(found["sbps", epochs])
    kept, left = error["sbps", "low"], error["sgld-large", "low"]
    avoids = kept[0] <= LOW + 3 * finite(kept[1])
    lab.claim("avoids-low-density", "SBPS keeps out of low density where SGLD with the large step and mSGNHT go there.",
              away == 0 and avoids and apart(left, kept) and apart(error["msgnht", "low"], kept),
              f"Share of time below the 1% quantile of the log density: SBPS {show(kept)}, SGLD {show(left)} (step {steps[1]:g}), "
              f"{show(error['sgld-small', 'low'])} (step {steps[0]:g}), mSGNHT {show(error['msgnht', 'low'])}.",
              f"But {100 * away:.0f}% of the runs of SBPS flew off, without end or beyond ten prior sds, and are not in these numbers."
              if away else "", avoids and apart(left, kept))


def claim_decay(lab, found, error, epochs, longest):
    """The text only says that a decaying weight "can be used" here."""
    plain, decay = (lost(found[name, longest]) for name in ("sbps", "decay"))
    nearer = apart(error["sbps", "distance"], error["decay", "distance"])
    keeps = decay <= 0.1
    lab.claim("decaying-weights", "Where the posterior is highly non-Gaussian a weight that decays with distance can be used (section 4).", keeps,
              f"Runs lost with it and without: {100 * lost(found['decay', epochs]):.0f}% and {100 * lost(found['sbps', epochs]):.0f}% after {epochs} epochs, {100 * decay:.0f}% and {100 * plain:.0f}% "
              f"after {longest}; KS distance after {epochs} epochs {show(error['decay', 'distance'])} and {show(error['sbps', 'distance'])}.",
              "" if keeps else "It does not keep the particle from flying off: what fails is a long flight without a look, not the weight of old ones." if decay > 0.5 * plain else "",
              partly=decay < 0.5 * plain or nearer)


def finite(error):
    return 0.0 if numpy.isnan(error) else error


def apart(larger, smaller):
    """By three standard errors."""
    return larger[0] - smaller[0] > 3 * numpy.hypot(finite(larger[1]), finite(smaller[1]))


def show(pair):
    return f"{pair[0]:.3f} +- {finite(pair[1]):.3f}"


def run(lab):
    target = Target(lab)
    seeds = lab.seeds(2, 6, 20)
    epochs = lab.pick(100, 1000, 1000)
    scan(lab, target, epochs, seeds)
    kinds = series(lab, *CHOSEN)
    found = lengths(lab, target, kinds, seeds)
    traces(lab, target, kinds, epochs)
    law(lab, target, found, epochs)
    for name, value in (("q5", 0.05), ("q50", 0.5), ("q95", 0.95)):
        lab.fact(f"exact-{name}", target.truth.quantile(value))
    lab.fact("scale", 1 / numpy.sqrt(N))
    lab.table("ridge", ["mean", "low_drop"], [[target.truth.m, -target.truth.low]])
    bounded = lost(target.measures(["--paper", "--horizon", 1, *COLD], lab.pick(100, 10000, 10000), seeds))
    lab.fact("lost-bounded", 100 * bounded, None, "%")
    longest = lab.pick(100, 10000, 100000)
    error = state(lab, found, epochs, longest, CHOSEN, bounded)
    claim_explores(lab, found, error, epochs, CHOSEN)
    claim_avoids(lab, found, error, epochs, CHOSEN)
    claim_decay(lab, found, error, epochs, longest)


def check(lab):
    lengths = {(row["sampler"], row["epochs"]): row for row in lab.read("lengths")}
    shortest = min(epochs for _, epochs in lengths)
    for row in lengths.values():
        assert row["lost"] == 1 or (0 <= row["low"] <= 1 and 0 < row["distance"] < 1), row
    assert lengths["sbps", shortest]["distance"] < lengths["sgld-small", shortest]["distance"], "SBPS explores more than small steps"
    assert lengths["sbps", shortest]["reach"] > lengths["sgld-small", shortest]["reach"], "SBPS reaches farther"
    scan = {(row["sampler"], row["step"]): row["low"] for row in lab.read("scan")}
    assert scan["sgld", CHOSEN[1]] > max(2 * LOW, 2 * scan["sgld", CHOSEN[0]]), "the larger step goes into low density, the smaller less"
    exact = [row["log10"] for row in lab.read("law") if row["sampler"] == "exact"]
    assert exact == sorted(exact) and exact[-1] - exact[0] > 5, "the exact law spans decades"
