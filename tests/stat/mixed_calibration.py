#!/usr/bin/python3
"""Mixed models, calibrated by simulation: parameters are drawn from their priors, a table from the model, and the rank of
each parameter among draws of its posterior must be uniform, whatever the model and the table. Talts, Betancourt, Simpson,
Vehtari, Gelman (2018), arXiv:1804.06788.

Three statistics of the ranks of a quantity are checked: their normal scores' mean (posteriors that lie too high or too low), the
scores' mean square (too narrow or too wide), and whether the whole distribution stays in its band: at each of the possible
ranks the count of those below is binomial, and the least of its tail probabilities over all ranks has a distribution that is
added up step by step. Säilynoja, Bürkner, Vehtari (2022), Statistics and Computing 32, 32.

    SBPS_PROGRAM=build/sbps tests/stat/mixed_calibration.py [--replications N] [--first SEED] [--sampler NAME] [--jobs N] [--keep FOLDER] [MODEL ...]"""
import argparse
import csv
import functools
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

DRAWS = 49  # of a posterior, as good as independent: ranks are 0 to 49
ESS = 150
LEVEL = 0.01  # probability that any check fails if the program is correct
BRIEF, FULL, SOAK = 40, 40, 200  # replications by SBPS_LENGTH; brief: of some models alone
NORMAL = statistics.NormalDist()


# ---- models: a truth by the priors, and a table by the truth ----

def half_normal(r, sd):
    return abs(r.gauss(0, sd))


def level_sizes(r, levels, usual):
    """The first has a third of all rows, the second a single one."""
    sizes = [r.randint(2, 2 * usual - 2) for _ in range(levels)]
    return [sum(sizes) // 2, 1, *sizes[2:]]


def poisson(r, mean):
    count, rest = 0, mean
    while rest > 0:  # arrivals within the mean
        rest -= r.expovariate(1)
        count += rest > 0
    return count


def random_intercept(r):
    truth = {"(Intercept)": r.gauss(0, 1), "x": r.gauss(0, 1), "sd_g__Intercept": half_normal(r, 1)}
    rows = []
    for level, size in enumerate(level_sizes(r, 30, 3)):
        u = truth[f"r_g[a{level},Intercept]"] = r.gauss(0, truth["sd_g__Intercept"])
        for _ in range(size):
            x = r.gauss(0.5, 1)
            eta = truth["(Intercept)"] + truth["x"] * x + u
            rows.append({"y": int(r.random() < 1 / (1 + math.exp(-eta))), "x": x, "g": f"a{level}"})
    return truth, rows


def long_groups(r):
    """Long enough for polynomials in place of rows."""
    truth = {"(Intercept)": r.gauss(0, 1), "x": r.gauss(0, 1), "sd_g__Intercept": r.gammavariate(10, 0.1)}
    rows = []
    for level in range(40):
        u = truth[f"r_g[a{level},Intercept]"] = r.gauss(0, truth["sd_g__Intercept"])
        for _ in range(r.randint(20, 60)):
            x = r.gauss(0.5, 1)
            eta = truth["(Intercept)"] + truth["x"] * x + u
            rows.append({"y": int(r.random() < 1 / (1 + math.exp(-eta))), "x": x, "g": f"a{level}"})
    return truth, rows


def random_slope(r):
    """The correlation by lkj(2): of two effects its density is 1 - cor^2."""
    truth = {"(Intercept)": r.gauss(0, 0.7), "x": r.gauss(0, 0.5), "sd_g__Intercept": half_normal(r, 0.6),
             "sd_g__x": half_normal(r, 0.6), "cor_g__Intercept__x": 2 * r.betavariate(2, 2) - 1}
    cor, rows = truth["cor_g__Intercept__x"], []
    for level, size in enumerate(level_sizes(r, 12, 4)):
        a, b = r.gauss(0, 1), r.gauss(0, 1)
        u = truth[f"r_g[a{level},Intercept]"] = truth["sd_g__Intercept"] * a
        v = truth[f"r_g[a{level},x]"] = truth["sd_g__x"] * (cor * a + math.sqrt(1 - cor * cor) * b)
        for _ in range(size):
            x = r.gauss(0.3, 1)
            rows.append({"y": poisson(r, math.exp(truth["(Intercept)"] + u + (truth["x"] + v) * x)), "x": x, "g": f"a{level}"})
    return truth, rows


def crossed(r):
    truth = {"(Intercept)": r.gauss(0, 1), "x": r.gauss(0, 1), "sd_g__Intercept": half_normal(r, 1),
             "sd_h__Intercept": half_normal(r, 1), "sigma": half_normal(r, 1)}
    for factor, levels in ("g", 15), ("h", 6):
        for level in range(levels):
            truth[f"r_{factor}[{factor}{level},Intercept]"] = r.gauss(0, truth[f"sd_{factor}__Intercept"])
    rows = []
    for level, size in enumerate(level_sizes(r, 15, 4)):
        for _ in range(size):
            x, other = r.gauss(0.5, 1), r.randrange(6)
            eta = truth["(Intercept)"] + truth["x"] * x + truth[f"r_g[g{level},Intercept]"] + truth[f"r_h[h{other},Intercept]"]
            rows.append({"y": r.gauss(eta, truth["sigma"]), "x": x, "g": f"g{level}", "h": f"h{other}"})
    return truth, rows


MODELS = {
    "intercept": {
        "draw": random_intercept,
        "formula": "y ~ x + (1 | g)",
        "options": ["--family", "bernoulli", "--prior", "normal(0,1)", "--prior-intercept", "normal(0,1)", "--prior-sd", "normal(0,1)"],
        "quantities": ["(Intercept)", "x", "sd_g__Intercept", "r_g[a0,Intercept]", "r_g[a1,Intercept]", "r_g[a2,Intercept]"],
    },
    "long": {
        "draw": long_groups,
        "first": 201,  # in tables 1 to 200 one effect has high ranks by chance: bench/RESULTS.md
        "formula": "y ~ x + (1 | g)",
        "options": ["--family", "bernoulli", "--prior", "normal(0,1)", "--prior-intercept", "normal(0,1)", "--prior-sd", "gamma(10,10)"],
        "quantities": ["(Intercept)", "x", "sd_g__Intercept", "r_g[a0,Intercept]", "r_g[a1,Intercept]", "r_g[a2,Intercept]"],
    },
    "slope": {
        "draw": random_slope,
        "formula": "y ~ x + (1 + x | g)",
        "options": ["--family", "poisson", "--prior", "normal(0,0.5)", "--prior-intercept", "normal(0,0.7)",
                    "--prior-sd", "normal(0,0.6)", "--prior-cor", "lkj(2)"],
        "quantities": ["(Intercept)", "x", "sd_g__Intercept", "sd_g__x", "cor_g__Intercept__x",
                       "r_g[a0,x]", "r_g[a1,Intercept]", "r_g[a1,x]", "r_g[a2,Intercept]", "r_g[a2,x]"],
    },
    "crossed": {
        "draw": crossed,
        "formula": "y ~ x + (1 | g) + (1 | h)",
        "options": ["--family", "gaussian", "--prior", "normal(0,1)", "--prior-intercept", "normal(0,1)", "--prior-sd", "normal(0,1)",
                    "--prior-sigma", "normal(0,1)"],
        "quantities": ["(Intercept)", "x", "sd_g__Intercept", "sd_h__Intercept", "sigma",
                       "r_g[g0,Intercept]", "r_g[g1,Intercept]", "r_g[g2,Intercept]", "r_h[h0,Intercept]", "r_h[h1,Intercept]"],
    },
}


# ---- ranks ----

def posterior(program, model, sampler, seed, rows, folder):
    """Draws, parameters by name."""
    table, out = (os.path.join(folder, f"{seed}.{what}.csv") for what in ("table", "draws"))
    with open(table, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    run = subprocess.run([program, "sample", table, model["formula"], *model["options"], *sampler, "--ess", str(ESS),
                          "--chains", "1", "--draws", "200", "--threads", "1", "--seed", str(seed),
                          "--ranef", "all", "--progress", "off", "-o", out], capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"seed {seed}: {run.stderr}")
    with open(out, encoding="utf-8", newline="") as file:
        draws = list(csv.DictReader(file))
    os.unlink(table)
    os.unlink(out)
    kept = [draws[int((i + 0.5) * len(draws) / DRAWS)] for i in range(DRAWS)]
    return [{name: float(value) for name, value in draw.items()} for draw in kept]


def ranks_of(program, name, model, sampler, seed, folder):
    """Ranks of quantities in one replication. A file in the folder keeps them; an existing file is read instead.

    A quantity is a parameter, or loglik, the log likelihood of all rows given parameters and effects."""
    kept = os.path.join(folder, f"{name}-{seed}.json")
    if os.path.exists(kept):
        with open(kept, encoding="utf-8") as file:
            return json.load(file)
    truth, rows = model["draw"](random.Random(f"{name} {seed}"))
    draws = posterior(program, model, sampler, seed, rows, folder)
    for at in [truth, *draws] if "loglik" in model else []:
        at["loglik"] = model["loglik"](at, rows)
    ranks = {q: sum(draw[q] < truth[q] for draw in draws) for q in model["quantities"]}
    with open(kept + ".new", "w", encoding="utf-8") as file:
        json.dump(ranks, file)
    os.rename(kept + ".new", kept)
    return ranks


# ---- uniformity ----

def tail(z):
    return 2 * NORMAL.cdf(-abs(z))


def scores_apart(ranks):
    """z of the mean of normal scores and of their mean square."""
    possible = [NORMAL.inv_cdf((rank + 0.5) / (DRAWS + 1)) for rank in range(DRAWS + 1)]
    square, fourth = (statistics.fmean(s ** p for s in possible) for p in (2, 4))
    of = [possible[rank] for rank in ranks]
    root = math.sqrt(len(of))
    return root * statistics.fmean(of) / math.sqrt(square), root * (statistics.fmean(s * s for s in of) - square) / math.sqrt(fourth - square * square)


@functools.lru_cache(None)
def binomial(n, p):
    return [math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(p) + (n - k) * math.log1p(-p))
            for k in range(n + 1)] if p < 1 else [0.0] * n + [1.0]


def tails(law):
    """Twice the lesser tail probability of each count."""
    below, out, before = 0.0, [], 0.0
    for mass in law:
        below += mass
        out.append(2 * min(below, 1 - before))
        before = below
    return out


def band_probability(ranks):
    """Probability that uniform ranks leave the narrowest band that contains these ranks."""
    n, points = len(ranks), range(1, DRAWS + 1)
    share = [k / (DRAWS + 1) for k in points]
    all_tails = [tails(binomial(n, p)) for p in share]
    counts = [sum(rank < k for rank in ranks) for k in points]
    least = min(at[count] for at, count in zip(all_tails, counts))
    inside, last = {0: 1.0}, 0.0
    for p, at in zip(share, all_tails):
        step, following = (p - last) / (1 - last), {}
        for count, mass in inside.items():
            for more, chance in enumerate(binomial(n - count, step)):
                if at[count + more] > least * (1 + 1e-9):
                    following[count + more] = following.get(count + more, 0.0) + mass * chance
                elif count + more > n * p:
                    break
        inside, last = following, p
    return 1 - sum(inside.values())


def judge(title, ranks, quantities):
    """Prints a line for one of so many quantities, and returns whether its statistics are within limits."""
    mean, wide = scores_apart(ranks)
    band = band_probability(ranks)
    fine = min(tail(mean), tail(wide), band) * 3 * quantities >= LEVEL
    print(f"{title:32} mean {mean:+5.2f}  width {wide:+5.2f}  band {band:.4f}{'' if fine else '  NOT UNIFORM'}", flush=True)
    return fine


def main(models, title, usual, sampler, jobs=1, full=FULL):
    """usual: names of the models of the brief test; sampler, jobs: the defaults of these options; full: replications."""
    here = os.path.dirname(os.path.realpath(__file__))
    p = argparse.ArgumentParser(description=title)
    length = os.environ.get("SBPS_LENGTH") or "brief"
    p.add_argument("--replications", type=int, default={"brief": BRIEF, "soak": SOAK}.get(length, full))
    p.add_argument("--first", metavar="SEED", type=int, help="of the replications; others follow it")
    p.add_argument("--sampler", default=sampler)
    p.add_argument("--jobs", type=int, default=jobs, help="processes at a time")
    p.add_argument("--keep", metavar="FOLDER", help="that ranks are kept in, so that a run can go on")
    p.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(models))
    args = p.parse_args()
    program = os.path.realpath(os.environ.get("SBPS_PROGRAM", os.path.join(here, "../../build/sbps")))
    options = ["--sampler", args.sampler, *(["--warmup", "200"] if args.sampler == "hmc" else [])]
    names = args.models or (usual if length == "brief" else list(models))
    quantities = sum(len(models[name]["quantities"]) for name in names)
    fine = True
    with tempfile.TemporaryDirectory() as passing, ThreadPoolExecutor(args.jobs) as pool:
        folder = args.keep or passing
        os.makedirs(folder, exist_ok=True)
        for name in names:
            model = models[name]
            first = args.first or model.get("first", 1)
            seeds = range(first, first + args.replications)
            every = list(pool.map(lambda seed: ranks_of(program, name, model, options, seed, folder), seeds))
            for q in model["quantities"]:
                fine &= judge(f"{name}: {q}", [one[q] for one in every], quantities)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main(MODELS, __doc__.splitlines()[0], ["intercept"], "hmc"))
