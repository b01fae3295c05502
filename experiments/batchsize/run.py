"""Figure 10: the mini-batch size n, on the logistic regression of 7.1 (d = 20, N = 1000, k = 3).

The paper: n = 50, 100, 200, 500, 900. NLL per row over five runs from random starts; mean time
between bounces against n; trajectories and autocorrelations along the directions of largest and
smallest variance, at the same data cost. Left open and chosen: random starts are draws of a normal
at the mode with 100 times Laplace's covariance, as in the authors' public notebook, and with 10;
time between bounces is taken at equilibrium; autocorrelations are means over all chains of long
runs, which also give the bias of the means against a long run of HMC. A mini-batch at n = 900 is
nine tenths of the table: its noise is that of a sample without replacement. n = 500 with k = 5 and
our default are shown beside it."""
import math

import numpy

from lab import mean_error, median_error, near_limit
from lab.logistic import Logistic
from lab.scan import (FACTORS, LEFT, approach, fact_of_arrival, linger, power_law, remove_lost,
                      tabulate_acf)

TITLE = "Figure 10: the size of the mini-batch"
SIZES = [50, 100, 200, 500, 900]
# up to here n is small against N, and the finite-population factor 1 - n/N is near 1
SMALL = 200
# largest over smallest effective sample size per epoch that counts as alike
ALIKE = 1.5
SENSITIVE = 3.0           # the same, from which on results count as sensitive to n
LINE = 16.3               # chi^2 on 3 degrees of freedom that chance exceeds once in 1000
LINEAR = 0.1              # largest relative deviation from a line that counts as linear
TOLERANCE = 0.1           # posterior sd: a bias up to this counts as small
REACH = {"largest": 1500, "smallest": 100}


def settings():
    return {f"n={n}": ["--paper", "--batch-size", n] for n in SIZES}


def converge(lab, model):
    epochs = lab.pick(60, 1500, 1500)
    arrivals = approach(lab, model, settings(), epochs)
    table = ["| n | median epochs, starts of 100 times Laplace's covariance | did not arrive | of "
             "10 times | did not arrive | the smaller of n and the size above arrived first, near "
             "starts |",
             "|---|---|---|---|---|---|"]
    ordered, ends = {}, {}
    for n in SIZES:
        fact_of_arrival(lab, f"arrive{n}", {start: arrivals[start][f"n={n}"] for start in FACTORS},
                        epochs)
        for start in FACTORS:
            lab.fact(f"{start}_lost{n}", int(numpy.isinf(arrivals[start][f"n={n}"]).sum()))
    first = {}
    for start in FACTORS:
        times = {n: arrivals[start][f"n={n}"] for n in SIZES}
        middle = {n: float(numpy.median(times[n])) for n in SIZES}
        # Starts are shared: of each pair of neighbouring sizes, how often the smaller one arrived
        # first.
        first[start] = [numpy.mean(numpy.where(times[a] == times[b], 0.5, times[a] < times[b]))
                        for a, b in zip(SIZES, SIZES[1:])]
        ends[start] = numpy.mean(times[SIZES[0]] < times[SIZES[-1]]) >= 0.9
        ordered[start] = all(middle[a] <= middle[b] for a, b in zip(SIZES, SIZES[1:]))
    cells = {n: [part for start in FACTORS for times in [arrivals[start][f"n={n}"]]
                 for part in (words(times, epochs), f"{numpy.isinf(times).sum()} of {len(times)}")]
             for n in SIZES}
    before = [""] + [f"{100 * share:.0f} %" for share in first["near"]]
    table += [f"| {n} | {' | '.join(cells[n])} | {before[i]} |" for i, n in enumerate(SIZES)]
    lost = sum(int(numpy.isinf(arrivals["notebook"][f"n={n}"]).sum()) for n in SIZES[:3])
    lab.condition("far_lost", lost > 0)
    near = [arrivals["near"][f"n={n}"] for n in (SIZES[0], SIZES[-1])]
    far = [arrivals["notebook"][f"n={n}"] for n in (SIZES[0], SIZES[-1])]
    lab.claim("low-n-converges-faster", "Lower values of n converge faster to a region of low NLL",
              ordered["near"] and ends["near"] and (ordered["notebook"] or ends["notebook"]),
              f"Median epochs until arrival from near starts: {words(near[0], epochs)} at n = "
              f"{SIZES[0]}, {words(near[1], epochs)} at n = {SIZES[-1]}; from far starts "
              f"{words(far[0], epochs)} and {words(far[1], epochs)}",
              f"Some runs from far starts do not arrive, with small mini-batches too ({lost} of "
              f"{3 * len(near[0])} with n up to 200)." if lost else "", partly=any(ends.values()),
              numbers="Arrival is the first time when the NLL is within 2 sd of Laplace's mean. "
                      "Medians count runs that do not arrive within "
              f"{epochs} epochs as the slowest.\n\n" + "\n".join(table))


def words(times, epochs):
    middle = float(numpy.median(times))
    return f"{middle:.0f}" if math.isfinite(middle) else f"more than {epochs}"


def travel(lab, model):
    """Mean time between bounces at equilibrium, of the runs that stayed there."""
    epochs = lab.pick(200, 2000, 10000)
    jobs = [(n, seed) for n in SIZES for seed in lab.seeds(2, 5, 6)]
    runs = lab.map(lambda job: model.sample("--paper", "--batch-size", job[0], "--chains", 1,
                                            "--seed", job[1], *model.laplace_start(job[1], 1.0),
                                            "--epochs", epochs, skeleton=True), jobs)
    sd = numpy.sqrt(numpy.diag(model.covariance))
    rows = []
    for n in SIZES:
        mine = [run for job, run in zip(jobs, runs) if job[0] == n]
        # a short run's own mean is off, too
        stayed = [run for run in mine if numpy.abs((run.mean - model.mode) / sd).max()
                  < 2 * LEFT] or mine
        rows.append((n, *mean_error([run.paths[0].time[-1] / run.info["bounces"]
                                     for run in stayed]),
                     *mean_error([run.info["bounces"] / run.info["proposals"] for run in stayed]),
                     len(mine) - len(stayed)))
    lab.table("travel", ["n", "time", "error", "accepted", "accepted_error", "lost"], rows)
    n, time, error = (numpy.array([row[i] for row in rows]) for i in range(3))
    for size, t, e in zip(SIZES, time, error):
        lab.fact(f"travel{size}", t, e)
    whole, small = power_law(n, time, error), power_law(n[n <= SMALL], time[n <= SMALL],
                                                        error[n <= SMALL])
    lab.fact("exponent", *whole)
    lab.fact("exponent_small", *small)
    # t = a + b n, weighted: how far from the line, in parts of the time
    design = numpy.column_stack([numpy.ones_like(n), n]) / error[:, None]
    (a, b), *_ = numpy.linalg.lstsq(design, time / error, rcond=None)
    each = numpy.abs(a + b * n - time) / time
    worst = int(each.argmax())
    off = float(each[worst]), float(error[worst] / time[worst])
    chi2 = float(numpy.sum(((a + b * n - time) / error)**2))
    lab.table("line", ["n", "time"], [(x, a + b * x) for x in numpy.linspace(50, 900, 35)])
    lab.fact("line_off", 100 * off[0], 100 * off[1], "%")
    lab.fact("line_begin", float(a))
    lab.fact("line_chi2", chi2)
    fits, proportional = chi2 < LINE, abs(whole[0] - 1) < 2 * whole[1]
    lab.condition("fits", fits)
    lab.condition("proportional", proportional)
    table = ["| n | mean time between bounces | lost runs |",
             "|---|---|---|"] + [f"| {row[0]} | {row[1]:.4f} +- {row[2]:.4f} | {row[5]} |"
                                 for row in rows]
    lab.claim("travel-time-linear", "The average travel time between bounces is linear in n",
              off[0] < LINEAR,
              f"No size is off the best line {a:.3f} + {b:.2g} n by more than {100 * off[0]:.0f} "
              f"+- {100 * off[1]:.0f} %",
              f"We call up to {100 * LINEAR:.0f} % linear."
              + ("" if fits or off[0] >= LINEAR
                 else " The errors are smaller and resolve a slight bend."),
              unsure=near_limit(off, LINEAR),
              numbers="\n".join(table) + f"\n\nThe line has chi^2 = {chi2:.0f} on {len(SIZES) - 2} "
              f"degrees of freedom. As a power of n the time grows with {whole[0]:.2f} +- "
              f"{whole[1]:.2f} over all sizes and {small[0]:.2f} +- {small[1]:.2f} up to n = "
              f"{SMALL}.")


def measure(lab, model):
    """scan.csv: biases and mixing of the runs that stayed, with the count of the others; all else
    is a median over runs."""
    length = lab.pick(4000, 30000, 150000)
    ways = {**settings(), "n=500 k=5": ["--paper", "--batch-size", 500, "--band", 5], "default": []}
    goals = {name: length for name in ways}
    goals["default"] = lab.pick(100, 5000, 40000)
    longs = linger(lab, model, ways, lab.seeds(2, 5, 6), goals, lab.pick(500, 4000, 20000))
    rows = []
    for name, long in longs.items():
        runs = len(long.runs)
        broken = median_error([run.info["violations"] / run.info["proposals"] for run in long.runs])
        prices = [run.info["rows_touched"] / run.info["rows"] / run.info["min_ess"]
                  for run in long.runs]
        prices = [price if numpy.abs(off).max() < LEFT else numpy.inf
                  for price, off in zip(prices, long.offsets)]
        lost = remove_lost(long)
        pairs = [pair if lost < runs else (math.nan, math.nan)
                 for pair in (long.rms(), long.worst(), median_error(prices),
                              long.mixing("largest"), long.mixing("smallest"))]
        rows.append((name, long.info("batch_size")[0], *broken,
                     *[number for pair in pairs for number in pair], lost, runs))
        tag = name.replace("n=", "n").replace(" k=", "_k")
        for key, at, unit in (("rms", 4, ""), ("worst", 6, ""), ("price", 8,
                                                                 "epochs"), ("ess_largest", 10,
                                                                             ""), ("ess_smallest",
                                                                                   12, "")):
            lab.fact(f"{key}_{tag}", rows[-1][at], rows[-1][at + 1], unit)
        lab.fact(f"violations_{tag}", 100 * rows[-1][2], 100 * rows[-1][3], "%")
        lab.fact(f"lost_{tag}", lost)
    lab.table("scan", ["setting", "n", "violations", "violations_error", "rms", "rms_error",
                       "worst", "worst_error", "price", "price_error",
                       "ess_largest", "ess_largest_error", "ess_smallest", "ess_smallest_error",
                       "lost", "runs"], rows)
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
    alike = {side: ratio < ALIKE for side, (ratio, _) in spread.items()}
    table = ["| n | effective samples per 1000 epochs, largest direction | smallest direction |",
             "|---|---|---|"]
    table += [f"| {row['n']:.0f} | {row['ess_largest']:.3g} +- {row['ess_largest_error']:.1g} | "
              f"{row['ess_smallest']:.3g} +- {row['ess_smallest_error']:.1g} |" for row in sized]
    lab.claim("acf-alike", "At equal data cost the autocorrelations are quite similar for all n",
              all(alike.values()),
              "Between sizes effective samples per epoch differ by a factor "
              + " and ".join(f"{ratio:.2f} +- {error:.2f} along the direction of {side} variance"
                             for side, (ratio, error) in spread.items()),
              f"We call up to {ALIKE:g} similar and from {SENSITIVE:g} on different.",
              partly=max(ratio for ratio, _ in spread.values()) < SENSITIVE,
              unsure=near_limit(max(spread.values()), SENSITIVE)
              or (any(alike.values()) and any(near_limit(pair, ALIKE) for pair in spread.values())),
              numbers="\n".join(table) + "\n\nEffective samples of the position and of its square, "
              "whichever are fewer.")
    claim_tuning(lab, scan, sized, max(ratio for ratio, _ in spread.values()))


def price_text(row):
    digits = 0 if row["price"] > 20 else 2
    return f"{row['price']:.{digits}f} +- {row['price_error']:.{digits}f}"


def claim_tuning(lab, scan, sized, spread):
    small = [row["worst"] < TOLERANCE and not row["lost"] for row in sized]
    hundred = scan["n=100"]
    depends = (max(row["worst"] - 2 * row["worst_error"]
                   for row in sized) > 2 * min(row["worst"] + 2 * row["worst_error"]
                                               for row in sized))
    lab.condition("depends", depends)
    lab.condition("fewer_violate_more", all(a["violations"] > b["violations"]
                                            for a, b in zip(sized[:4], sized[1:4])))
    table = (["| | worst mean off by, sd | violations, % | epochs per effective sample | lost runs "
              "|", "|---|---|---|---|---|"])
    table += [f"| {name if name != 'default' else 'default, n = %.0f' % row['n']} | "
              f"{row['worst']:.3f} +- {row['worst_error']:.3f} | {100 * row['violations']:.3f} | "
              f"{price_text(row)} | {row['lost']:.0f} of {row['runs']:.0f} |"
              for name, row in scan.items()]
    lab.claim("n-100-no-tuning", "n = 100 works well, and the results do not depend sensitively on "
              "n", all(small) and not depends,
              f"n = 100: {hundred['lost']:.0f} of {hundred['runs']:.0f} runs lost, worst mean "
              f"{hundred['worst']:.2f} +- {hundred['worst_error']:.2f} sd off; n = 50: "
              f"{scan['n=50']['worst']:.2f} sd, n = 900: {scan['n=900']['worst']:.2f} sd, "
              f"{scan['n=900']['lost']:.0f} lost",
              (f"Mixing changes by less than a factor {SENSITIVE:g}, the bias by more: the "
               "variance of a mini-batch of few rows is more often too small." if spread < SENSITIVE
               else
               "Mixing and bias depend on n.") if depends else "",
              partly=not hundred["lost"] and (spread < SENSITIVE or small[1]),
              numbers="\n".join(table) + f"\n\nA run is lost if a mean is more than {LEFT:g} "
              "posterior sd off; biases are those of the other runs, all else is a median over "
              "runs.")


def run(lab):
    model = Logistic(lab)
    converge(lab, model)
    travel(lab, model)
    measure(lab, model)
    claims(lab)


def check(lab):
    travel = lab.read("travel")
    assert [row["n"] for row in travel] == SIZES
    assert all(a["time"] < b["time"] for a, b in zip(travel, travel[1:])), "segments grow with n"
    assert all(row["error"] < 0.2 * row["time"] for row in travel)
    scan = {row["setting"]: row for row in lab.read("scan")}
    broken = [scan[f"n={n}"]["violations"] for n in SIZES[:4]]
    assert all(a > b for a, b in zip(broken, broken[1:])), "smaller batches violate more"
    assert scan["default"]["price"] < scan["n=100"]["price"] / 10, "the default is cheaper"
    nll = lab.read("nll")
    last = {name: [row["nll"] for row in nll if (row["start"], row["setting"]) == ("near", name)]
            for name in settings()}
    assert all(values[-1] < values[0] for values in last.values()), "the NLL comes down"
    assert last["n=50"][len(last["n=50"]) // 4] < last["n=900"][len(last["n=900"]) // 4], (
        "sooner with small batches")
    acf = lab.read("acf")
    assert all(row["acf"] <= 1 for row in acf) and {row["setting"]
                                                    for row in acf} == set(settings())
