"""Figure 7: a highly non-Gaussian posterior, the hyperboloid of Supplement D.

y_i ~ N(w0 w1, 1), prior N(0, 1/c) on both: N = 1000, n = 100, k = 3, c = 1e-4, w* = 0. The paper
draws traces of SBPS, SGLD at two steps and mSGNHT over the contours and gives neither steps,
lengths nor starts. We chose 1000 epochs from (1, mean y), on the ridge; the two steps of SGLD after
a scan: the larger goes into regions of low density, the smaller less and is slower; mSGNHT at the
step that comes nearest to the posterior. The truth is a quadrature: w1 integrates out,

    p(w0) ~ (N w0^2 + c)^(-1/2) exp(-c w0^2/2 - (N m^2/2) c/(N w0^2 + c)),   m = mean y.

Section 4 states that where a posterior is highly non-Gaussian a decaying weight can be used for
more-distant observations: "decay". That run and the published one differ in nothing else.

Low density: log density below its own 1% quantile under the posterior. Explored: the
Kolmogorov-Smirnov distance of log|w0| and log|w1|, the larger of the two, since both have the same
distribution.

A run is lost if it diverged, took more than SECONDS of processor time (other runs take at most
one), or came farther than AWAY from 0. All summaries are medians over all runs, with lost runs at
infinity."""
import os

import numpy

from lab import Failure, median_error

TITLE = "Figure 7: a highly non-Gaussian posterior"
N, C = 1000, 1e-4
LOW = 0.01
AWAY = 500  # |w0| or |w1|: five prior sds, beyond which the posterior has a probability below 1e-6
# with decaying weights the steps over the band shrink with it, and a long segment may never end
SECONDS = 6
LOST = {"distance": numpy.inf, "low": numpy.inf, "reach": numpy.inf}
COLD = ["--batch-size", "100", "--warmup", "0"]
SGLD, MSGNHT = ["--sampler", "sgld", *COLD], ["--sampler", "msgnht", *COLD]
STEPS = [0.001, 0.01, 0.1, 0.5, 1, 2]
CHOSEN = 0.01, 1, 0.1  # SGLD smaller and larger, mSGNHT
NAMES = ("sbps", "hessian", "wide", "decay", "auxiliary", "always", "horizon", "sgld-small",
         "sgld-large", "msgnht", "ours", "default")
LABELS = {"sbps": "SBPS as published (`--slope-prior learned`)",
          "hessian": "SBPS, `--slope-prior hessian`", "wide": "SBPS, `--slope-prior wide`",
          "decay": "SBPS, decaying weights",
          "auxiliary": "SBPS, auxiliary observation where needed",
          "always": "SBPS, auxiliary observation always",
          "horizon": "SBPS, `--horizon 1`", "ours": "our `--sampler sbps --metric none`",
          "sgld-small": "SGLD, smaller step", "sgld-large": "SGLD, larger step", "msgnht": "mSGNHT",
          "default": "default command"}


class Truth:
    def __init__(self, mean):
        self.m = mean
        # log|w0|; both signs are alike up to exp(-N m^2/2 ..)
        self.u = numpy.linspace(numpy.log(1e-7), numpy.log(2e3), 40001)
        w = numpy.exp(self.u)
        precision = N * w * w + C
        density = (numpy.exp(-0.5 * C * w * w
                             - 0.5 * N * mean**2 * C / precision) / numpy.sqrt(precision) * w)
        self.cdf = numpy.cumsum(density) / density.sum()
        self.low = numpy.quantile(self.log_density(self.draws(400000)), LOW)

    def draws(self, count):
        """Of the posterior: w0 at equal steps of its distribution function, w1 given w0."""
        random = numpy.random.default_rng(1)
        level = (numpy.arange(count) + 0.5) / count
        w0 = numpy.exp(numpy.interp(level, self.cdf, self.u)) * random.choice([-1, 1], count)
        precision = N * w0 * w0 + C
        return numpy.column_stack([w0, N * w0 * self.m / precision
                                   + random.standard_normal(count) / numpy.sqrt(precision)])

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
                "low": float((self.log_density(w) < self.low).mean()),
                "reach": float(numpy.abs(w).max())}


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
        """One chain from the start, or with `own` the program's four chains from starts of its
        own."""
        start = [] if own else ["--chains", 1, "--start", self.start, "--spread", 0]
        return self.lab.sample(self.data, "--model", "hyperboloid", "--target", "y", *start,
                               "--seed", seed, "--epochs", epochs,
                               "--draws", 4000, *options, limit=None if own else SECONDS)

    def measures(self, options, epochs, seeds, own=False):
        """A list over seeds; LOST for lost runs."""
        def one(seed):
            try:
                run = self.sample(options, epochs, seed, own)
            except Failure as failure:
                if "diverged" in str(failure) or "no end after" in str(failure):
                    return LOST
                raise
            if numpy.abs(run.w).max() > AWAY:
                return LOST
            return {**self.truth.measure(run.w.reshape(-1, 2)),
                    "warned": float(run.info["unsettled"] > 0),
                    "stated": float(run.info["bias_estimate"]),
                    "w0": run.w[..., 0].ravel()}
        return self.lab.map(one, seeds)


def middle(measures, key):
    """Median over all runs and its standard error."""
    return median_error([m[key] for m in measures])


def found_runs(measures, key):
    """Of the runs that were not lost; nan if all were."""
    values = [m[key] for m in measures if m is not LOST]
    return numpy.array(values or [numpy.nan])


def lost(measures):
    """Runs lost, of how many."""
    return sum(m is LOST for m in measures), len(measures)


def of_runs(pair):
    return f"{pair[0]} of {pair[1]}"


def scan(lab, target, epochs, seeds):
    """Every step of SGLD and mSGNHT."""
    found = {}
    for name, options in (("sgld", SGLD), ("msgnht", MSGNHT)):
        for step in STEPS:
            found[name, step] = target.measures([*options, "--step-size", step], epochs, seeds)
    lab.table("scan", ["sampler", "step", "distance", "distance_error", "low", "low_error", "lost",
                       "runs"],
              [[name, step, *middle(m, "distance"), *middle(m, "low"), *lost(m)]
               for (name, step), m in found.items()])


def series(lab, small, large, thermostat):
    """name: (options, own starts). The names are those of the plot."""
    short, published = lab.pick(["--warmup", 5], [], []), ["--paper", *COLD]
    return {"sbps": (published, False), "sgld-small": ([*SGLD, "--step-size", small], False),
            "sgld-large": ([*SGLD, "--step-size", large], False),
            "msgnht": ([*MSGNHT, "--step-size", thermostat], False),
            "auxiliary": ([*published, "--auxiliary", 1], False),
            "decay": ([*published, "--weight-decay", "on"], False),
            "hessian": ([*published, "--slope-prior", "hessian"], False),
            "wide": ([*published, "--slope-prior", "wide"], False),
            "always": ([*published, "--auxiliary", 1, "--auxiliary-when", "always"], False),
            "horizon": ([*published, "--horizon", 1], False),
            "ours": (["--sampler", "sbps", "--metric", "none", *short], False),
            "default": (short, True)}


def traces(lab, target, kinds, found, epochs):
    """Of the first seed that was not lost with the published method, for all samplers."""
    seed = 1 + next((i for i, m in enumerate(found["sbps", epochs]) if m is not LOST), 0)
    rows = []
    for name, (options, own) in list(kinds.items())[:4]:
        w = target.sample(options, epochs, seed, own).w[0]
        every = max(1, len(w) // 1000)
        low = target.truth.log_density(w) < target.truth.low
        rows += [[name, epochs * i / len(w), *w[i], int(low[i])] for i in range(0, len(w), every)]
    lab.table("traces", ["sampler", "epochs", "w0", "w1", "low"], rows)


def lengths(lab, target, kinds, seeds):
    """Distance and low density against the length of the run, all seeds; {(sampler, epochs):
    measures}."""
    found = {}
    for epochs in lab.pick([100], [100, 1000, 10000], [100, 1000, 10000, 100000]):
        few = seeds[:10] if epochs > 10000 else seeds
        for name, (options, own) in kinds.items():  # hmc, the default, has a long warm-up
            found[name, epochs] = target.measures(options, epochs, few[:3] if own else few, own)
    lab.table("lengths", ["sampler", "epochs", "distance", "distance_error", "low", "low_error",
                          "reach", "lost", "runs"],
              [[name, epochs, *known(middle(m, "distance")), *known(middle(m, "low")),
                middle(m, "reach")[0], *lost(m)]
               for (name, epochs), m in sorted(found.items())])
    return found


def distribution(lab, target, found, epochs):
    """Quantiles of log10|w0| over all seeds that were not lost, beside the exact ones."""
    levels = numpy.linspace(0.01, 0.99, 50)
    rows = [["exact", level, numpy.log10(target.truth.quantile(level))] for level in levels]
    for name in NAMES:
        kept = [m["w0"] for m in found[name, epochs] if m is not LOST]
        if not kept:
            continue
        w = numpy.concatenate(kept)
        rows += [[name, level, value]
                 for level, value in zip(levels, numpy.quantile(numpy.log10(numpy.abs(w)), levels))]
    lab.table("distribution", ["sampler", "level", "log10"], rows)


def state(lab, found, epochs, longest, steps):
    """Facts and conditions; {(sampler, key): (median, error)} after `epochs`."""
    error = {}
    for name in NAMES:
        for key in ("distance", "low", "reach"):
            error[name, key] = middle(found[name, epochs], key)
            lab.fact(f"{key}-{name}", *error[name, key])
        lab.fact(f"longest-{name}", *middle(found[name, longest], "distance"))
        lab.fact(f"lost-{name}", of_runs(lost(found[name, epochs])))
        lab.fact(f"lost-longest-{name}", of_runs(lost(found[name, longest])))
    for key, value in zip(("step-small", "step-large", "step-msgnht"), steps):
        lab.fact(key, value)
    lab.fact("epochs", epochs)
    lab.fact("longest-epochs", longest)
    lab.fact("low-true", LOW)
    lab.fact("away", AWAY)
    lab.fact("seconds", SECONDS)
    lab.fact("warned", 100 * float(found_runs(found["default", longest], "warned").mean()), None,
             "%")
    lab.fact("stated-ours", float(numpy.median(found_runs(found["ours", longest], "stated"))), None,
             "sd")
    away = {name: share(found[name, longest]) for name in NAMES}
    lab.condition("large-step-no-worse", not apart(error["sgld-large", "distance"],
                                                   error["sbps", "distance"]))
    lab.condition("lost-in-the-end", away["sbps"] > 0.5)
    lab.condition("horizon-keeps", away["horizon"] == 0 < away["sbps"])
    lab.condition("auxiliary-keeps", away["auxiliary"] < 0.5 * away["sbps"])
    lab.condition("always-keeps", away["always"] < 0.5 * away["sbps"])
    lab.condition("ours-off", middle(found["ours", longest], "distance")[0] > 0.1)
    return error


def share(measures):
    gone, runs = lost(measures)
    return gone / runs


def table_of_lost(found, names):
    lengths = sorted({epochs for _, epochs in found})
    head = ("| run | " + " | ".join(f"{epochs} epochs" for epochs in lengths) + " |\n|---|"
            + "---|" * len(lengths))
    return head + "".join(f"\n| {LABELS[name]} | " + " | ".join(of_runs(lost(found[name, epochs]))
                                                                for epochs in lengths) + " |"
                          for name in names)


def claim_explores(lab, found, error, epochs, steps):
    others = ("sgld-small", "sgld-large", "msgnht")
    nearer = all(apart(error[name, "distance"], error["sbps", "distance"]) for name in others)
    worse = any(apart(error["sbps", "distance"], error[name, "distance"]) for name in others)
    farther = all(error["sbps", "reach"][0] > 1.5 * error[name, "reach"][0] for name in others)
    reach = {name: error[name, "reach"][0] for name in NAMES}
    table = "\n".join(f"| {LABELS[name]} | {reach[name]:.1f} | {show(error[name, 'distance'])} | "
                      f"{show(error[name, 'low'])} | "
                      f"{of_runs(lost(found[name, epochs]))} |" for name in NAMES)
    lab.claim("explores-more-fully",
              "SBPS explores the hyperboloid more fully than SGLD and mSGNHT",
              farther and not worse,
              f"Largest |w| in {epochs} epochs, median: SBPS {reach['sbps']:.1f}, SGLD "
              f"{reach['sgld-small']:.1f} and {reach['sgld-large']:.1f}, mSGNHT "
              f"{reach['msgnht']:.1f}; KS distance {value(error['sbps', 'distance'])}, "
              f"{value(error['sgld-small', 'distance'])}, "
              f"{value(error['sgld-large', 'distance'])}, {value(error['msgnht', 'distance'])}",
              "Its segments carry it into the arms, from which it returns slowly: in equal epochs "
              "it is not measurably nearer to the exact distribution than a large step that stays "
              "at the centre." if farther and not nearer else "",
              farther or nearer,
              numbers=f"Medians over all runs of {epochs} epochs, with lost runs at infinity. SGLD "
                      f"has steps {steps[0]:g} and {steps[1]:g}, mSGNHT {steps[2]:g}. The claim "
                      "holds if the reach is 1.5 times that of the other three and the distance "
                      "no larger by three standard errors; with one of them it holds in "
                      "part.\n\n| sampler | largest abs(w) | KS distance of log abs(w) | time in "
                      f"low density | runs lost |\n|---|---|---|---|---|\n{table}")


def claim_avoids(lab, found, error, epochs, steps):
    gone, runs = lost(found["sbps", epochs])
    kept, left = error["sbps", "low"], error["sgld-large", "low"]
    avoids = (kept[0] <= LOW + 3 * finite(kept[1]) and apart(left, kept)
              and apart(error["msgnht", "low"], kept))
    lab.claim("avoids-low-density", "SBPS avoids regions of low density, into which SGLD with the "
              "larger step and mSGNHT go",
              avoids and not gone,
              f"Fraction of time there, median: SBPS {kept[0]:.3f} ({gone} of {runs} runs lost), "
              f"SGLD {left[0]:.3f} (larger step), mSGNHT "
              f"{error['msgnht', 'low'][0]:.3f}; exact {LOW}",
              "The other runs avoid low density as claimed; the lost ones went far into it." if gone
              and avoids else "", avoids,
              numbers=f"SGLD with step {steps[0]:g}: {show(error['sgld-small', 'low'])}; with step "
                      f"{steps[1]:g}: {show(left)}; SBPS: {show(kept)}. The claim holds if the "
                      f"median is at most {LOW} within three standard errors, below those of SGLD "
                      "and mSGNHT by three, and no run "
                      "is lost; in part if runs are lost.\n\nRuns lost (diverged, not ended after "
                      f"{SECONDS} s, or farther than {AWAY} from 0):\n\n"
                      + table_of_lost(found, [name for name in NAMES if name != "default"]))


def claim_decay(lab, found, error, epochs, longest):
    """The text claims that a decaying weight "can be used" here, and no more."""
    short, long = ({name: lost(found[name, length]) for name in ("sbps", "decay")}
                   for length in (epochs, longest))
    worse = any(counts["decay"][0] - counts["sbps"][0] > 2 * numpy.sqrt(counts["sbps"][1] / 2)
                for counts in (short, long))
    worse = worse or apart(error["decay", "distance"], error["sbps", "distance"])
    better = any(counts["sbps"][0] - counts["decay"][0] > 2 * numpy.sqrt(counts["sbps"][1] / 2)
                 for counts in (short, long))
    better = better or apart(error["sbps", "distance"], error["decay", "distance"])
    lab.condition("decay-differs", worse or better)
    lab.claim("decaying-weights", "Where the posterior is highly non-Gaussian, a decaying weight "
              "can be used for more-distant observations (section 4)",
              not worse,
              f"After {epochs} epochs with and without: {of_runs(short['decay'])} and "
              f"{of_runs(short['sbps'])} runs lost, median KS distance "
              f"{value(error['decay', 'distance'])} and {value(error['sbps', 'distance'])}",
              "It does no harm and is better here." if better and not worse else
              "It can be used, and makes no measurable difference here; the paper promises none."
              if not worse else "It is worse than the plain weights.",
              partly=worse,
              numbers="Both runs have the same settings, seeds and limit on processor time. After "
                      f"{longest} epochs {of_runs(long['decay'])} runs are lost with decaying "
                      f"weights and {of_runs(long['sbps'])} without. KS distances after "
                      f"{epochs} epochs: {show(error['decay', 'distance'])} and "
                      f"{show(error['sbps', 'distance'])}. The claim holds unless the run with "
                      "decay is worse: more runs lost by two standard errors, or a KS distance "
                      "larger by three.")


def known(pair):
    return pair[0], finite(pair[1])


def finite(error):
    return 0.0 if numpy.isnan(error) else error


def apart(larger, smaller):
    """By three standard errors; infinity, where half of the runs are lost, is larger than any
    number."""
    if not numpy.isfinite(smaller[0]):
        return False
    return larger[0] - smaller[0] > 3 * numpy.hypot(finite(larger[1]), finite(smaller[1]))


def value(pair):
    return f"{pair[0]:.2f}" if numpy.isfinite(pair[0]) else "lost"


def show(pair):
    return f"{pair[0]:.3f} +- {finite(pair[1]):.3f}" if numpy.isfinite(pair[0]) else "lost"


def arms(lab, target):
    """Quantiles of the larger of |w0|, |w1| under the posterior, for the picture."""
    far = numpy.abs(target.truth.draws(200000)).max(axis=1)
    lab.table("arms", ["level", "far"], [[level, float(numpy.quantile(far, level))]
                                         for level in (0.05, 0.5, 0.95)])


def run(lab):
    target = Target(lab)
    seeds = lab.seeds(2, 20, 40)
    epochs = lab.pick(100, 1000, 1000)
    scan(lab, target, epochs, seeds[:lab.pick(2, 6, 20)])
    kinds = series(lab, *CHOSEN)
    found = lengths(lab, target, kinds, seeds)
    traces(lab, target, kinds, found, epochs)
    distribution(lab, target, found, epochs)
    arms(lab, target)
    for name, level in (("q5", 0.05), ("q50", 0.5), ("q95", 0.95)):
        lab.fact(f"exact-{name}", target.truth.quantile(level))
    lab.table("ridge", ["mean", "low_drop"], [[target.truth.m, -target.truth.low]])
    longest = lab.pick(100, 10000, 100000)
    error = state(lab, found, epochs, longest, CHOSEN)
    claim_explores(lab, found, error, epochs, CHOSEN)
    claim_avoids(lab, found, error, epochs, CHOSEN)
    claim_decay(lab, found, error, epochs, longest)


def check(lab):
    lengths = {(row["sampler"], row["epochs"]): row for row in lab.read("lengths")}
    shortest = min(epochs for _, epochs in lengths)
    for row in lengths.values():
        assert 2 * row["lost"] >= row["runs"] or (0 <= row["low"] <= 1 and 0 < row["distance"]
                                                  < 1), row
    assert lengths["sbps", shortest]["distance"] < lengths["sgld-small", shortest]["distance"], (
        "SBPS explores more than small steps")
    assert lengths["sbps", shortest]["reach"] > lengths["sgld-small", shortest]["reach"], (
        "SBPS reaches farther")
    scan = {(row["sampler"], row["step"]): row["low"] for row in lab.read("scan")}
    assert scan["sgld", CHOSEN[1]] > max(2 * LOW, 2 * scan["sgld", CHOSEN[0]]), (
        "the larger step goes into low density, the smaller less")
    exact = [row["log10"] for row in lab.read("distribution") if row["sampler"] == "exact"]
    assert exact == sorted(exact) and exact[-1] - exact[0] > 5, (
        "the exact distribution spans decades")
