"""Beside Figure 11: where violations come from, the resolution dt, the slope prior and what
learning it costs. All on the logistic regression of 7.1 as published (n = 100, k = 3, the learned
slope prior) but for what is named."""
import numpy

from lab import median_error, near_limit
from lab.scan import FACTORS, LEFT, arrival, descend, linger, remove_lost

# From the published way to one whose regression is as right as it can be made, a step at a time.
STEPS = {
    "evidence without the accepted observation": ["--slope-evidence", "rejected"],
    "as published": [],
    "variance pooled over batches": ["--pool-variance", "on"],
    "and a fresh batch after a bounce": ["--pool-variance", "on", "--bounce-batch", "fresh"],
    "and lack of fit in the band": ["--pool-variance", "on", "--bounce-batch", "fresh",
                                    "--lack-of-fit", "on"],
}
# length after which a segment is observed again; the authors' program ends it there
LIMIT = ["--horizon", 50]
DTS = [0.001, 0.01, 0.03, 0.1, 0.3, 1]
USED = 0.01           # the paper's dt
PRIORS = {"learned": "as published (learned, one for all directions)",
          "hessian": "of the default (learned in units of the Hessian)",
          "wide": "of the authors' program (variance 1e5)"}
CHEAP = 0.2           # share of the time of a proposal up to which learning counts as cheap
ALIKE = 2.0           # errors within which two results are alike


def prices(long, lost):
    """Median epochs per effective sample of the runs that stayed and of `lost` others."""
    stayed = [run.info["rows_touched"] / run.info["rows"] / run.info["min_ess"]
              for run in long.runs] if lost < len(long.runs) or not lost else []
    return median_error([*stayed, *[numpy.inf] * lost])


def rates(long, name):
    return median_error([run.info[name] / run.info["proposals"] for run in long.runs])


def steps(lab, model):
    """steps.csv: violations as the causes are taken away, and what the regression expects."""
    goal = lab.pick(1000, 30000, 60000)
    longs = linger(lab, model, {name: ["--paper", *words] for name, words in STEPS.items()},
                   lab.seeds(2, 5, 5), goal, 500)
    rows = [(name, *rates(long, "violations"), rates(long, "expected_violations")[0])
            for name, long in longs.items()]
    rows.append(("expected of the regression", rows[-1][3], 0.0, rows[-1][3]))
    lab.table("steps", ["step", "violations", "error", "expected"], rows)
    for i, (row, following) in enumerate(zip(rows, rows[1:])):
        ratio = row[1] / following[1]
        lab.fact(f"step{i}", ratio,
                 ratio * float(numpy.hypot(row[2] / row[1], following[2] / following[1])))
    for i, row in enumerate(rows):
        lab.fact(f"violated{i}", 100 * row[1], 100 * row[2] if row[2] else None, "%")
    lab.condition("pooling_is_most",
                  max(range(len(rows) - 1), key=lambda i: rows[i][1] / rows[i + 1][1]) == 1)


def resolutions(lab, model):
    """dt.csv."""
    chosen = lab.pick([USED, 0.1, 1], DTS, DTS)
    goals = {f"{dt:g}": lab.pick(2000, 20000, 60000) for dt in chosen}
    longs = linger(lab, model, {name: ["--paper", "--dt", name] for name in goals},
                   lab.seeds(2, 5, 6), goals, lab.pick(500, 2000, 4000))
    rows = []
    for name, long in longs.items():
        broken, bounces = rates(long, "violations"), rates(long, "bounces")[0]
        lost = remove_lost(long)
        rows.append((float(name), *broken, *long.outward(), *long.worst(), *prices(long, lost),
                     bounces, lost))
    lab.table("dt", ["dt", "violations", "violations_error", "outward", "outward_error", "worst",
                     "worst_error", "price", "price_error", "bounce", "lost"], rows)


def priors(lab, model):
    """priors.csv: the three slope priors, and microseconds per proposal: of a long run less a short
    one, one after another."""
    goals = dict.fromkeys(PRIORS, lab.pick(2000, 20000, 100000))
    longs = linger(lab, model, {name: ["--paper", "--slope-prior", name] for name in PRIORS},
                   lab.seeds(2, 5, 6), goals, lab.pick(500, 2000, 4000))
    times = {name: [] for name in PRIORS}
    for seed in lab.seeds(2, 9, 21):
        for name in PRIORS:
            short, long = (model.sample("--paper", "--slope-prior", name, *model.mode_start(),
                                        "--chains", 1, "--seed", seed, "--epochs", epochs)
                           for epochs in lab.pick((10, 500), (100, 15000), (100, 15000)))
            times[name].append(1e6 * (long.cpu - short.cpu) / (long.info["proposals"]
                                                               - short.info["proposals"]))
    rows = []
    for name, long in longs.items():
        broken, runs = rates(long, "violations"), len(long.runs)
        lost = remove_lost(long)
        rows.append((name, *broken, *(long.worst() if lost < runs else (numpy.nan, numpy.nan)),
                     *prices(long, lost), *median_error(times[name]), lost, runs))
        lab.fact(f"prior_{name}_left", lost)
    lab.fact("prior_runs", rows[0][-1])
    lab.table("priors", ["prior", "violations", "violations_error", "worst", "worst_error", "price",
                         "price_error", "microseconds", "microseconds_error",
                         "lost", "runs"], rows)
    return median_error(numpy.array(times["learned"]) / numpy.maximum(times["wide"], 1e-9))


def far_starts(lab, model):
    """{prior: runs from the notebook's starts that did not arrive}, their number and their
    epochs."""
    epochs, seeds = lab.pick(60, 600, 600), lab.seeds(2, 6, 12)
    paths = descend(lab, model, {name: ["--paper", "--slope-prior", name] for name in PRIORS},
                    seeds, epochs, FACTORS["notebook"])
    lost = {name: int(sum(numpy.isinf(arrival(model, path, epochs)) for path in members))
            for name, members in paths.items()}
    for name, count in lost.items():
        lab.fact(f"prior_{name}_lost", count)
    lab.fact("prior_starts", len(seeds))
    lab.fact("prior_epochs", epochs)
    return lost, len(seeds), epochs


def narrow(lab, model):
    """narrow.csv: long runs with a narrow band that were lost, with and without a limit on the
    length of a segment."""
    widths, seeds, epochs = [1, 2, 3], lab.seeds(2, 5, 6), lab.pick(1000, 10000, 50000)
    kinds = {f"slope prior {words}": ["--slope-prior", name] for name, words in PRIORS.items()}
    kinds["as published, segments of at most 50"] = LIMIT
    ways = {(kind, k): ["--paper", *options, "--band", k] for kind, options in kinds.items()
            for k in widths}
    longs = linger(lab, model, ways, seeds, epochs, 500)
    lab.table("narrow", ["kind", "k", "lost", "runs"], [(*way, remove_lost(long), len(seeds))
                                                        for way, long in longs.items()])
    lost = {(row["kind"], row["k"]): row["lost"] for row in lab.read("narrow")}
    table = ["| | " + " | ".join(f"k = {k}" for k in widths) + " |",
             "|---" * (len(widths) + 1) + "|"]
    table += [f"| {kind} | {' | '.join(f'{lost[kind, k]:.0f} of {len(seeds)}' for k in widths)} |"
              for kind in kinds]
    for key, kind in zip([*PRIORS, "limit"], kinds):
        lab.fact(f"narrow_{key}", f"{lost[kind, 1]:.0f} of {len(seeds)} at k = 1 and "
                 f"{lost[kind, 2]:.0f} of {len(seeds)} at k = 2")
    free, limited = (sum(lost[kind, k] for k in (1, 2))
                     for kind in (next(iter(kinds)), "as published, segments of at most 50"))
    lab.condition("limit_helps", limited < free / 2)
    return f"Runs lost, of {epochs} epochs from around the mode:\n\n" + "\n".join(table)


def claim_dt(lab):
    rows = {row["dt"]: row for row in lab.read("dt")}
    base = rows[USED]
    for dt, row in rows.items():
        tag = f"{dt:g}".replace(".", "")
        lab.fact(f"dt{tag}_violations", 100 * row["violations"], 100 * row["violations_error"], "%")
        lab.fact(f"dt{tag}_worst", row["worst"], row["worst_error"], "sd")
        lab.fact(f"dt{tag}_price", row["price"], row["price_error"], "epochs")

    def alike(row):
        same_bias = (abs(row["outward"] - base["outward"])
                     < ALIKE * numpy.hypot(row["outward_error"], base["outward_error"]) + 0.01)
        return same_bias and abs(row["violations"] / base["violations"] - 1) < 0.1
    below = [row for dt, row in rows.items() if dt <= 0.1]
    lab.condition("dt_coarse_saves", rows[1]["violations"] < 0.95 * base["violations"])
    table = (["| dt | violations, % | worst mean off by, sd | epochs per effective sample | lost "
              "runs |", "|---|---|---|---|---|"])
    table += [f"| {dt:g} | {100 * row['violations']:.2f} | {row['worst']:.3f} +- "
              f"{row['worst_error']:.3f} | {row['price']:.0f} +- {row['price_error']:.0f} | "
              f"{row['lost']:.0f} |"
              for dt, row in rows.items()]
    violated, offsets = [100 * row["violations"] for row in below], [row["worst"] for row in below]
    lab.claim("dt-below-bounces", "The resolution dt need only be smaller than the typical time "
              "between bounces (0.01 was used)", all(alike(row) for row in below),
              f"For dt up to 0.1 {min(violated):.2f} to {max(violated):.2f} % violations and a "
              f"worst mean {min(offsets):.2f} to {max(offsets):.2f} sd off; bounces are 0.14 apart",
              "" if all(alike(row) for row in below) else "Between neighbouring points the "
              "intensity is a chord, which lies above a convex band: it matters before dt reaches "
              "the time between bounces.",
              partly=sum(map(alike, below)) > 1, numbers="\n".join(table))


def claim_learning(lab, cost, lost, starts, epochs):
    rows = {row["prior"]: row for row in lab.read("priors")}
    for name, row in rows.items():
        lab.fact(f"prior_{name}_violations", 100 * row["violations"], 100 * row["violations_error"],
                 "%")
        lab.fact(f"prior_{name}_worst", row["worst"], row["worst_error"], "sd")
        lab.fact(f"prior_{name}_price", row["price"], row["price_error"], "epochs")
        lab.fact(f"prior_{name}_time", row["microseconds"], row["microseconds_error"])
    lab.fact("learning_cost", 100 * (cost[0] - 1), 100 * cost[1], "%")
    lab.condition("wide_safer", rows["wide"]["violations"] < rows["learned"]["violations"]
                  and rows["wide"]["worst"] < rows["learned"]["worst"])
    table = ["| slope prior | violations, % | worst mean off by, sd | epochs per effective sample "
             f"| microseconds per proposal | lost | lost of {starts} far starts |",
             "|---|---|---|---|---|---|---|"]
    table += [f"| {words} | {100 * r['violations']:.2f} | {r['worst']:.3f} +- "
              f"{r['worst_error']:.3f} | {r['price']:.0f} +- {r['price_error']:.0f} | "
              f"{r['microseconds']:.2f} | {r['lost']:.0f} of {r['runs']:.0f} | {lost[name]} |"
              for name, words in PRIORS.items() for r in [rows[name]]]
    lab.claim("learning-cheap", "Learning mu and sigma^2 of the slope prior does not significantly "
              "raise the cost", cost[0] < 1 + CHEAP,
              f"A proposal takes {cost[0]:.2f} +- {cost[1]:.2f} times the processor time of one "
              "with a fixed variance and a running mean",
              f"We call up to {1 + CHEAP:g} times insignificant.",
              unsure=near_limit(cost, 1 + CHEAP),
              numbers="\n".join(table) + "\n\nFar starts are those of 100 times Laplace's "
              f"covariance; a run is lost if it has not arrived after {epochs} epochs. The other "
              "runs start around the mode.")


def run(lab, model):
    steps(lab, model)
    resolutions(lab, model)
    cost = priors(lab, model)
    found = far_starts(lab, model)
    claim_dt(lab)
    claim_learning(lab, cost, *found)


def check(lab):
    violated = [row["violations"] for row in lab.read("steps")]
    assert violated[0] > violated[-1] and violated[1] > violated[2], (
        "pooling the variance takes violations away")
    assert {row["prior"] for row in lab.read("priors")} == set(PRIORS)
