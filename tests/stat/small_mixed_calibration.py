#!/usr/bin/python3
"""Small mixed models, sampled by the default method, calibrated by simulation.

Tables of 12 to 60 rows with few groups, where posteriors of standard deviations have long tails or reach 0. Ranks and their
statistics are those of mixed_calibration.py. The log likelihood is ranked, too: it changes with everything that the data determine.
Modrák, Moon, Kim, Bürkner, Huurre, Faltejsková, Gelman, Vehtari (2023), arXiv:2211.02383.

    SBPS_PROGRAM=build/sbps tests/stat/small_mixed_calibration.py [--replications N] [--first SEED] [--sampler NAME] [--jobs N] [--keep FOLDER] [MODEL ...]"""
import math
import sys

sys.dont_write_bytecode = True
from mixed_calibration import SOAK, half_normal, main, poisson  # noqa: E402


def logistic(r, eta):
    return int(r.random() < 1 / (1 + math.exp(-eta)))


def one_factor(r, truth, sizes, draw_y):
    """Draws the effect of each level of g and a row for each of its rows, y by the predictor."""
    rows = []
    for level, size in enumerate(sizes):
        u = truth[f"r_g[a{level},Intercept]"] = r.gauss(0, truth["sd_g__Intercept"])
        for _ in range(size):
            x = r.gauss(0.3, 1)
            rows.append({"y": draw_y(truth["(Intercept)"] + truth["x"] * x + u), "x": x, "g": f"a{level}"})
    return truth, rows


def both_classes(draw):
    """A table of one class is drawn again with its truth. Ranks stay uniform: the condition depends on the data only."""
    def draw_until(r):
        while True:
            truth, rows = draw(r)
            if len({row["y"] for row in rows}) == 2:
                return truth, rows
    return draw_until


def two_counts(r):
    """Two groups."""
    truth = {"(Intercept)": r.gauss(1, 0.7), "x": r.gauss(0, 0.5), "sd_g__Intercept": half_normal(r, 1)}
    return one_factor(r, truth, [r.randint(6, 12), r.randint(6, 12)], lambda eta: poisson(r, math.exp(eta)))


@both_classes
def two_binary(r):
    """Two groups."""
    truth = {"(Intercept)": r.gauss(0, 1), "x": r.gauss(0, 1), "sd_g__Intercept": half_normal(r, 1)}
    return one_factor(r, truth, [r.randint(10, 20), r.randint(10, 20)], lambda eta: logistic(r, eta))


@both_classes
def nested(r):
    """Four to eight levels of g, each with three to five levels of c, each with one or two rows."""
    truth = {"(Intercept)": r.gauss(0, 1), "x": r.gauss(0, 1), "sd_g__Intercept": half_normal(r, 1), "sd_g:c__Intercept": half_normal(r, 1)}
    rows = []
    for outer in range(r.randint(4, 8)):
        u = truth[f"r_g[a{outer},Intercept]"] = r.gauss(0, truth["sd_g__Intercept"])
        for inner in range(r.randint(3, 5)):
            v = truth[f"r_g:c[a{outer}:c{inner},Intercept]"] = r.gauss(0, truth["sd_g:c__Intercept"])
            for _ in range(r.randint(1, 2)):
                x = r.gauss(0.3, 1)
                eta = truth["(Intercept)"] + truth["x"] * x + u + v
                rows.append({"y": logistic(r, eta), "x": x, "g": f"a{outer}", "c": f"c{inner}"})
    return truth, rows


def small_sd_counts(r):
    truth = {"(Intercept)": r.gauss(1, 0.7), "x": r.gauss(0, 0.5), "sd_g__Intercept": half_normal(r, 0.1)}
    return one_factor(r, truth, [r.randint(2, 6) for _ in range(8)], lambda eta: poisson(r, math.exp(eta)))


def small_sd_linear(r):
    truth = {"(Intercept)": r.gauss(0, 1), "x": r.gauss(0, 1), "sd_g__Intercept": r.expovariate(10), "sigma": half_normal(r, 1)}
    return one_factor(r, truth, [r.randint(2, 6) for _ in range(8)], lambda eta: r.gauss(eta, truth["sigma"]))


def negative_binomial(r):
    """Six to ten groups. Counts are Poisson with means drawn from gamma distributions of shape phi."""
    truth = {"(Intercept)": r.gauss(1, 0.7), "x": r.gauss(0, 0.5), "sd_g__Intercept": r.gammavariate(4, 0.25), "phi": r.gammavariate(3, 1)}
    return one_factor(r, truth, [r.randint(2, 6) for _ in range(r.randint(6, 10))],
                      lambda eta: poisson(r, math.exp(eta) * r.gammavariate(truth["phi"], 1 / truth["phi"])))


# ---- log likelihoods, given effects, up to a constant of the data ----

def poisson_loglik(at, y, eta):
    return y * eta - math.exp(eta)


def logistic_loglik(at, y, eta):
    return y * eta - math.log1p(math.exp(eta))


def linear_loglik(at, y, eta):
    return -math.log(at["sigma"]) - 0.5 * ((y - eta) / at["sigma"]) ** 2


def negative_binomial_loglik(at, y, eta):
    phi = at["phi"]
    return math.lgamma(y + phi) - math.lgamma(phi) + phi * math.log(phi) + y * eta - (y + phi) * math.log(phi + math.exp(eta))


def of_rows(loglik):
    def total(at, rows):
        out = 0.0
        for row in rows:
            eta = at["(Intercept)"] + at["x"] * row["x"] + at[f"r_g[{row['g']},Intercept]"]
            if "c" in row:
                eta += at[f"r_g:c[{row['g']}:{row['c']},Intercept]"]
            out += loglik(at, row["y"], eta)
        return out
    return total


COUNTS = ["--prior", "normal(0,0.5)", "--prior-intercept", "normal(1,0.7)"]
OTHERS = ["--prior", "normal(0,1)", "--prior-intercept", "normal(0,1)"]
ONE_FACTOR = ["(Intercept)", "x", "sd_g__Intercept", "r_g[a0,Intercept]", "loglik"]

MODELS = {
    "two_counts": {
        "draw": two_counts,
        "loglik": of_rows(poisson_loglik),
        "formula": "y ~ x + (1 | g)",
        "options": ["--family", "poisson", *COUNTS, "--prior-sd", "normal(0,1)"],
        "quantities": ONE_FACTOR,
    },
    "two_binary": {
        "draw": two_binary,
        "loglik": of_rows(logistic_loglik),
        "formula": "y ~ x + (1 | g)",
        "options": ["--family", "bernoulli", *OTHERS, "--prior-sd", "normal(0,1)"],
        "quantities": ONE_FACTOR,
    },
    "nested": {
        "draw": nested,
        "loglik": of_rows(logistic_loglik),
        "formula": "y ~ x + (1 | g/c)",
        "options": ["--family", "bernoulli", *OTHERS, "--prior-sd", "normal(0,1)"],
        "quantities": ["(Intercept)", "x", "sd_g__Intercept", "sd_g:c__Intercept", "r_g[a0,Intercept]", "r_g:c[a0:c0,Intercept]", "loglik"],
    },
    "small_sd_counts": {
        "draw": small_sd_counts,
        "loglik": of_rows(poisson_loglik),
        "formula": "y ~ x + (1 | g)",
        "options": ["--family", "poisson", *COUNTS, "--prior-sd", "normal(0,0.1)"],
        "quantities": ONE_FACTOR,
    },
    "small_sd_linear": {
        "draw": small_sd_linear,
        "loglik": of_rows(linear_loglik),
        "formula": "y ~ x + (1 | g)",
        "options": ["--family", "gaussian", *OTHERS, "--prior-sd", "exponential(10)", "--prior-sigma", "normal(0,1)"],
        "quantities": [*ONE_FACTOR, "sigma"],
    },
    "negative_binomial": {
        "draw": negative_binomial,
        "loglik": of_rows(negative_binomial_loglik),
        "formula": "y ~ x + (1 | g)",
        "options": ["--family", "negbinomial", *COUNTS, "--prior-sd", "gamma(4,4)", "--prior-phi", "gamma(3,1)"],
        "quantities": [*ONE_FACTOR, "phi"],
    },
}

if __name__ == "__main__":
    sys.exit(main(MODELS, __doc__.splitlines()[0], ["two_counts", "nested", "small_sd_linear"], "auto", jobs=2, full=SOAK))
