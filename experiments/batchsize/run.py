"""Figure 10: the mini-batch size n, on the logistic regression of 7.1 (d = 20, N = 1000, k = 3).

The paper: n = 50, 100, 200, 500, 900. NLL per row over five runs from random starts; mean time between bounces against n; trajectories and
autocorrelations along the directions of largest and smallest variance, at the same data cost. Left open and chosen: random starts are draws of a
normal at the mode with 100 times Laplace's covariance, as in the authors' public notebook, and with 10; time between bounces is taken at equilibrium;
autocorrelations are means over all chains of long runs, which also give the bias of the means against a long run of HMC. A mini-batch at
n = 900 is nine tenths of the table: its noise is that of a sample without replacement. n = 500 with k = 5 and our default stand beside it."""
import numpy

from lab import mean_error
from lab.logistic import Logistic
from lab.scan import FACTORS, approach, fact_of_arrival, linger, power_law, tabulate_acf

TITLE = "Figure 10: the size of the mini-batch"
SIZES = [50, 100, 200, 500, 900]
SMALL = 200               # up to here n is small against N, and the finite-population factor 1 - n/N is near 1
ALIKE = 1.5               # largest over smallest effective sample size per epoch that counts as alike
LINE = 16.3               # chi^2 on 3 degrees of freedom that chance exceeds once in 1000
TOLERANCE = 0.1           # posterior sd: a bias up to this counts as small
REACH = {"largest": 1500, "smallest": 100}


def settings():
    return {f"n={n}": ["--paper", "--batch-size", n] for n in SIZES}


def converge(lab, model):
    epochs = lab.pick(60, 1500, 1500)
    arrivals = approach(lab, model, settings(), epochs)
    found, ordered, ends = [], {}, {}
    for n in SIZES:
        fact_of_arrival(lab, f"arrive{n}", {law: arrivals[law][f"n={n}"] for law in FACTORS}, epochs)
    for law, factor in FACTORS.items():
        times = {n: arrivals[law][f"n={n}"] for n in SIZES}
        middle = {n: float(numpy.median(times[n])) for n in SIZES}
        # Starts are shared: of each pair of neighbouring sizes, how often the smaller one arrived first.
        pairs = [numpy.mean(numpy.where(times[a] == times[b], 0.5, times[a] < times[b])) for a, b in zip(SIZES, SIZES[1:])]
        ends[law] = numpy.mean(times[SIZES[0]] < times[SIZES[-1]]) >= 0.9
        ordered[law] = all(middle[a] <= middle[b] for a, b in zip(SIZES, SIZES[1:]))
        found.append(f"from {factor} times Laplace's covariance " +
                     ", ".join(f"{middle[n]:.0f} (n={n})" if numpy.isfinite(middle[n]) else f"more than {epochs} (n={n})" for n in SIZES) +
                     "".join(f", {numpy.isinf(times[n]).sum()} of {len(times[n])} runs with n={n} did not arrive" for n in SIZES if numpy.isinf(times[n]).any()) +
                     "; the smaller of two neighbours was first in " + ", ".join(f"{100 * share:.0f} %" for share in pairs) + " of the starts")
    holds = all(ordered.values()) and all(ends.values())
    lab.claim("low-n-converges-faster", "Smaller mini-batches converge in fewer epochs", holds,
              "median epochs until the NLL is within 2 sd of Laplace's mean: " + "; ".join(found) + ".",
              "" if holds else "The order is not strict over all sizes." if all(ends.values()) else "From the farther starts runs are lost, with small batches too." if ends["near"] else "",
              partly=any(ends.values()))


def travel(lab, model):
    """Mean time between bounces at equilibrium."""
    epochs = lab.pick(200, 2000, 10000)
    jobs = [(n, seed) for n in SIZES for seed in lab.seeds(2, 4, 6)]
    runs = lab.map(lambda job: model.sample("--paper", "--batch-size", job[0], "--chains", 1, "--seed", job[1], *model.laplace_start(job[1], 1.0),
                                            "--epochs", epochs, skeleton=True), jobs)
    rows = []
    for n in SIZES:
        mine = [run for job, run in zip(jobs, runs) if job[0] == n]
        rows.append((n, *mean_error([run.paths[0].time[-1] / run.info["bounces"] for run in mine]),
                     *mean_error([run.info["bounces"] / run.info["proposals"] for run in mine])))
    lab.table("travel", ["n", "time", "error", "accepted", "accepted_error"], rows)
    n, time, error = (numpy.array([row[i] for row in rows]) for i in range(3))
    for size, t, e in zip(SIZES, time, error):
        lab.fact(f"travel{size}", t, e)
    whole, small = power_law(n, time, error), power_law(n[n <= SMALL], time[n <= SMALL], error[n <= SMALL])
    lab.fact("exponent", *whole)
    lab.fact("exponent_small", *small)
    # t = a + b n, weighted: how far from the line, in parts of the time
    design = numpy.column_stack([numpy.ones_like(n), n]) / error[:, None]
    (a, b), *_ = numpy.linalg.lstsq(design, time / error, rcond=None)
    off = numpy.abs(a + b * n - time) / time
    chi2 = float(numpy.sum(((a + b * n - time) / error)**2))
    lab.table("line", ["n", "time"], [(x, a + b * x) for x in numpy.linspace(50, 900, 35)])
    lab.fact("line_off", 100 * float(off.max()), None, "%")
    lab.fact("line_begin", float(a))
    lab.fact("line_chi2", chi2)
    lab.fact("line_freedom", len(SIZES) - 2)
    fits, roughly = chi2 < LINE, bool(off.max() < 0.1)
    proportional = abs(whole[0] - 1) < 2 * whole[1]
    lab.condition("fits", fits)
    lab.condition("roughly", roughly)
    lab.condition("proportional", proportional)
    lab.claim("travel-time-linear", "The mean time between bounces is linear in n", fits,
              f"a straight line a + b n has chi^2 = {chi2:.0f} on {len(SIZES) - 2} degrees of freedom and is off by up to {100 * off.max():.0f} %; t ~ n to the power "
              f"{whole[0]:.2f} +- {whole[1]:.2f} over all sizes and {small[0]:.2f} +- {small[1]:.2f} up to n = {SMALL}.",
              "" if fits else f"Nearly a line to the eye, with an intercept of {a:.2f}: not proportional to n, and bent beyond all error." if roughly and not proportional else
              "Not a line beyond all error.", partly=roughly)


def measure(lab, model):
    length = lab.pick(4000, 30000, 150000)
    ways = {**settings(), "n=500 k=5": ["--paper", "--batch-size", 500, "--band", 5], "default": []}
    goals = {name: length for name in ways}
    goals["default"] = lab.pick(100, 5000, 40000)
    longs = linger(lab, model, ways, lab.seeds(2, 3, 6), goals, lab.pick(500, 4000, 20000))
    rows = []
    for name, long in longs.items():
        rows.append((name, long.info("batch_size")[0], *long.rate("violations"), *long.rms(), *long.worst(), *long.price(),
                     *long.mixing("largest"), *long.mixing("smallest")))
        tag = name.replace("n=", "n").replace(" k=", "_k")
        for key, at, unit in (("rms", 4, ""), ("worst", 6, ""), ("price", 8, "epochs"), ("ess_largest", 10, ""), ("ess_smallest", 12, "")):
            lab.fact(f"{key}_{tag}", rows[-1][at], rows[-1][at + 1], unit)
        lab.fact(f"violations_{tag}", 100 * rows[-1][2], 100 * rows[-1][3], "%")
    lab.table("scan", ["setting", "n", "violations", "violations_error", "rms", "rms_error", "worst", "worst_error", "price", "price_error",
                       "ess_largest", "ess_largest_error", "ess_smallest", "ess_smallest_error"], rows)
    tabulate_acf(lab, {name: long for name, long in longs.items() if name in settings()}, REACH)


def claims(lab):
    scan = {row["setting"]: row for row in lab.read("scan")}
    sized = [scan[f"n={n}"] for n in SIZES]
    spread = {}
    for side in REACH:
        values = [(row[f"ess_{side}"], row[f"ess_{side}_error"]) for row in sized]
        high, low = max(values), min(values)
        ratio = high[0] / low[0]
        spread[side] = ratio, ratio * float(numpy.hypot(high[1] / high[0], low[1] / low[0]))
        lab.fact(f"spread_{side}", *spread[side])
    alike = {side: ratio - 2 * error < ALIKE for side, (ratio, error) in spread.items()}
    lab.claim("acf-alike", "At equal data cost autocorrelations are much alike for all n", all(alike.values()),
              "; ".join(f"effective samples (of position and square, the smaller) per 1000 epochs, {side} direction: " +
                        ", ".join(f"{row[f'ess_{side}']:.3g} +- {row[f'ess_{side}_error']:.1g} (n={row['n']:.0f})" for row in sized) for side in REACH) + ".",
              "" if all(alike.values()) else "Largest over smallest: " + " and ".join(f"{ratio:.1f} +- {error:.1f} ({side})" for side, (ratio, error) in spread.items()) +
              f"; we call up to {ALIKE:g} alike.", partly=any(alike.values()) or max(ratio for ratio, _ in spread.values()) < 3)
    small = [row["worst"] + 2 * row["worst_error"] < TOLERANCE for row in sized]
    hundred = scan["n=100"]
    depends = max(row["worst"] - 2 * row["worst_error"] for row in sized) > 2 * min(row["worst"] + 2 * row["worst_error"] for row in sized)
    lab.condition("depends", depends)
    lab.condition("fewer_violate_more", all(a["violations"] > b["violations"] for a, b in zip(sized[:4], sized[1:4])))
    lab.claim("n-100-no-tuning", "n = 100 works well and results do not depend much on n", all(small),
              "worst mean off by " + ", ".join(f"{row['worst']:.3f} +- {row['worst_error']:.3f} sd (n={row['n']:.0f})" for row in sized) +
              f"; n=500 with k=5: {scan['n=500 k=5']['worst']:.3f} +- {scan['n=500 k=5']['worst_error']:.3f}; default (n = {scan['default']['n']:.0f}): "
              f"{scan['default']['worst']:.3f} +- {scan['default']['worst_error']:.3f}.",
              "" if not depends else "The bias does depend on n: a variance taken from fewer rows is more often too small, and slopes of small batches have heavier tails.",
              partly=hundred["worst"] + 2 * hundred["worst_error"] < TOLERANCE)


def run(lab):
    model = Logistic(lab)
    converge(lab, model)
    travel(lab, model)
    measure(lab, model)
    claims(lab)


def check(lab):
    travel = lab.read("travel")
    assert [row["n"] for row in travel] == SIZES
    assert all(a["time"] < b["time"] for a, b in zip(travel, travel[1:])), "flights grow with n"
    assert all(row["error"] < 0.2 * row["time"] for row in travel)
    scan = {row["setting"]: row for row in lab.read("scan")}
    broken = [scan[f"n={n}"]["violations"] for n in SIZES[:4]]
    assert all(a > b for a, b in zip(broken, broken[1:])), "smaller batches violate more"
    assert scan["default"]["price"] < scan["n=100"]["price"] / 10, "the default is cheaper"
    nll = lab.read("nll")
    last = {name: [row["nll"] for row in nll if (row["start"], row["setting"]) == ("near", name)] for name in settings()}
    assert all(values[-1] < values[0] for values in last.values()), "the NLL comes down"
    assert last["n=50"][len(last["n=50"]) // 4] < last["n=900"][len(last["n=900"]) // 4], "sooner with small batches"
    acf = lab.read("acf")
    assert all(row["acf"] <= 1 for row in acf) and {row["setting"] for row in acf} == set(settings())
