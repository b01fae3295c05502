"""Random small mixed models for bench/random_mixed.py: a formula, its options, a table and the true fixed effects.

`make(seed, index)` makes the same model wherever it runs. Most effects on the linear predictor are of order 1; the columns
are in awkward units, and the groups are few, many, short, long, crossed, nested or alike."""
import dataclasses

import numpy

FAMILIES = ["gaussian", "bernoulli", "binomial", "binomial(probit)", "poisson", "negbinomial", "Gamma", "Beta", "student",
            "zero_inflated_poisson"]
LOG_LINKS = {"poisson", "negbinomial", "Gamma", "zero_inflated_poisson"}
COUNTS = {"poisson", "negbinomial", "zero_inflated_poisson"}
SHARES = {"bernoulli", "binomial", "binomial(probit)"}
REALS = {"gaussian", "student"}
COLUMNS = ["normal", "normal", "uniform", "year", "income", "tiny", "collinear", "constant", "rare", "text"]
ROWS_MAX = 5000
SDS = [0.0, 0.1, 0.5, 0.5, 1.0, 3.0]


@dataclasses.dataclass
class Model:
    index: int
    family: str
    formula: str = ""
    options: list = dataclasses.field(default_factory=list)
    columns: dict = dataclasses.field(default_factory=dict)  # of the table, by name
    truth: dict = dataclasses.field(default_factory=dict)  # fixed effects, by name
    traits: list = dataclasses.field(default_factory=list)  # what is unusual about it
    factors: int = 1
    drawn_from_model: bool = True  # False: z-scores of the truth have no known law

    @property
    def rows(self):
        return len(self.columns["y"])

    def kind(self):
        return f"{self.family}, {self.formula}, {self.rows} rows" + (f" [{', '.join(self.traits)}]" if self.traits else "")

    def write(self, path):
        texts = [numpy.char.mod("%.17g", v) if v.dtype.kind == "f" else v.astype(str) for v in self.columns.values()]
        with open(path, "w", encoding="utf-8") as file:
            file.write(",".join(self.columns) + "\n")
            file.writelines(",".join(row) + "\n" for row in zip(*texts))


# ---------------------------------------------------------------- groups

def log_uniform(rng, low, high):
    return int(round(numpy.exp(rng.uniform(numpy.log(low), numpy.log(high)))))


def first_factor(rng):
    """The level of each row: 2 to 300 levels with 1 to 20 rows each, all alike or not."""
    levels, size = log_uniform(rng, 2, 300), log_uniform(rng, 1, 20)
    shape = rng.choice(["equal", "poisson", "one large"])
    sizes = numpy.full(levels, size)
    if shape == "poisson":
        sizes = 1 + rng.poisson(max(size - 1, 0.5), levels)
    elif shape == "one large":
        sizes[0] = max(size, levels * size // 3)
    while sizes.sum() < 12:
        sizes = sizes + 1
    return numpy.repeat(numpy.arange(levels), sizes)[:ROWS_MAX]


def inner_factor(rng, outer):
    """Levels within levels of `outer`, numbered through."""
    within = rng.integers(0, log_uniform(rng, 2, 8), len(outer))
    return numpy.unique(outer * 1000 + within, return_inverse=True)[1]


def partly_crossed(rng, other, levels):
    """Each level of `other` meets at most two of these levels."""
    home = rng.integers(0, levels, (other.max() + 1, 2))
    return home[other, rng.integers(0, 2, len(other))]


def make_groups(model, rng):
    """Levels by the name of their factor, and how a formula writes the factors that stand behind one bar."""
    model.factors = int(rng.choice([1, 2, 3], p=[0.5, 0.3, 0.2]))
    g = {"g": first_factor(rng)}
    if model.factors == 1:
        return g, [["g"]]
    layout = rng.choice(["nested", "crossed", "partly crossed"])
    model.traits.append(str(layout))
    if layout == "nested":
        g["h"] = inner_factor(rng, g["g"])
    elif layout == "crossed":
        g["h"] = rng.integers(0, log_uniform(rng, 2, 100), len(g["g"]))
    else:
        g["h"] = partly_crossed(rng, g["g"], log_uniform(rng, 2, 60))
    terms = [["g", "h"]] if layout == "nested" else [["g"], ["h"]]
    if model.factors == 3:
        deeper = layout == "nested" and rng.random() < 0.5
        g["k"] = inner_factor(rng, g["h"]) if deeper else rng.integers(0, log_uniform(rng, 2, 40), len(g["g"]))
        terms = [["g", "h", "k"]] if deeper else terms + [["k"]]
    return g, terms


# ---------------------------------------------------------------- fixed effects

def make_column(kind, rng, rows, before):
    if kind == "year":
        return 1990.0 + rng.integers(0, 31, rows)
    if kind == "income":
        return numpy.round(numpy.exp(rng.normal(11.0, 0.7, rows)), 2)
    if kind == "tiny":
        return 1e-6 * rng.normal(size=rows)
    if kind == "uniform":
        return rng.uniform(0, 10, rows)
    if kind == "rare":
        return (rng.random(rows) < 0.02).astype(float)
    if kind == "constant":
        return 0.1 * (1.0 + rng.integers(0, 2, rows) * 2.0**-52)
    if kind == "collinear" and before:
        base = before[-1]
        return base + 10.0**rng.uniform(-6, -1) * (numpy.std(base) or 1.0) * rng.normal(size=rows)
    return rng.normal(size=rows)


def make_fixed(model, rng, rows):
    """The linear predictor of the fixed effects, and the numeric columns that may have random slopes."""
    eta, numeric, names = numpy.zeros(rows), [], []
    intercept = rng.normal(0, 0.5)
    for j in range(1 + rng.integers(0, 4)):
        kind, name = str(rng.choice(COLUMNS)), f"x{j + 1}"
        if kind == "constant" and rng.random() < 0.8:  # always refused: a few are enough
            kind = "normal"
        names.append(name)
        if kind not in ("normal", "uniform"):
            model.traits.append(kind)
        if kind == "text":
            level = rng.choice(4, rows, p=[0.5, 0.3, 0.19, 0.01])
            model.columns[name] = numpy.array(["a", "b", "c", "rare"])[level]
            effect = numpy.concatenate([[0.0], rng.normal(0, 0.7, 3)])
            for k in sorted(set(level) - {0}):
                model.truth[f"{name}{['a', 'b', 'c', 'rare'][k]}"] = effect[k]
            model.drawn_from_model &= bool((level == 0).any())
            eta += effect[level]
            continue
        x = make_column(kind, rng, rows, [v for _, v in numeric])
        sd = numpy.std(x)
        b = rng.normal(0, 0.7) / sd if sd > 1e-9 * abs(x.mean()) and kind not in ("constant", "collinear") else 0.0
        if kind == "rare" and sd > 0:
            b = rng.normal(0, 0.7)
        model.columns[name], model.truth[name] = x, b
        eta += b * (x - x.mean())
        intercept -= b * x.mean()
        numeric.append((name, x))
    eta += intercept + sum(b * model.columns[n].mean() for n, b in model.truth.items() if n in model.columns)
    model.truth["(Intercept)"] = intercept
    return eta, names, numeric


def make_random(model, rng, groups, terms, numeric, names):
    """What the groups add to the linear predictor; the formula gets their terms."""
    rows, eta, texts = len(groups["g"]), 0.0, []
    slopes = [n for n in numeric if numpy.std(n[1]) > 1e-9 * abs(n[1].mean())]
    with_slope = int(rng.integers(0, len(terms))) if slopes and rng.random() < 0.35 else -1
    for t, factors in enumerate(terms):
        before = "1"
        if t == with_slope:
            name, x = slopes[rng.integers(0, len(slopes))]
            before = f"1 + {name}"
            bar = str(rng.choice(["|", "||"]))
            model.traits.append("slope " + bar)
        for f in factors:
            level, sd = groups[f], float(rng.choice(SDS))
            u = rng.normal(size=level.max() + 1) * sd
            eta = eta + u[level]
            if sd in (0.0, 3.0):
                model.traits.append(f"sd {sd:g}")
            if t == with_slope:
                z = (x - x.mean()) / x.std()
                v = rng.uniform(-0.8, 0.8) * u + 0.5 * rng.choice(SDS) * rng.normal(size=len(u))
                eta = eta + v[level] * z
                model.drawn_from_model &= bar == "|"
        texts.append(f"({before} {bar if t == with_slope else '|'} {'/'.join(factors)})")
    for f, level in groups.items():
        model.columns[f] = numpy.char.add(f, level.astype(str))
    model.formula = " + ".join(["y ~ " + " + ".join(names), *texts])
    return eta * numpy.ones(rows)


# ---------------------------------------------------------------- outcomes

def beta_outcome(model, rng, eta):
    mean = 1 / (1 + numpy.exp(-eta))
    y = rng.beta(numpy.maximum(mean * 8, 1e-12), numpy.maximum((1 - mean) * 8, 1e-12))
    model.drawn_from_model &= bool(((y > 1e-12) & (y < 1 - 1e-12)).all())
    return numpy.clip(y, 1e-12, 1 - 1e-12)


def count_outcome(model, rng, eta):
    if eta.max() > 15:
        model.drawn_from_model = False
        model.traits.append("large counts")
    rate = numpy.exp(numpy.minimum(eta, 15))
    if model.family == "negbinomial":
        rate = rate * rng.gamma(1.5, 1 / 1.5, len(eta))
    if model.family == "poisson" and rng.random() < 0.25:
        rate = rate * rng.gamma(1.0, 1.0, len(eta))
        model.traits.append("overdispersed")
        model.drawn_from_model = False
    y = rng.poisson(rate)
    return numpy.where(rng.random(len(eta)) < 0.3, 0, y) if model.family == "zero_inflated_poisson" else y


def share_outcome(model, rng, eta):
    rows = len(eta)
    p = 1 / (1 + numpy.exp(-eta))
    if model.family == "binomial(probit)":  # probit of the same model: a normal error
        return (rng.normal(size=rows) < eta).astype(int)
    if model.family == "bernoulli":
        return (rng.random(rows) < p).astype(int)
    trials = rng.integers(1, 12, rows)
    y = rng.binomial(trials, p)
    model.columns["trials"] = trials
    model.formula = model.formula.replace("y ~", "y | trials(trials) ~")
    return y


def real_outcome(model, rng, eta):
    error = rng.standard_t(4, len(eta)) if model.family == "student" else rng.normal(size=len(eta))
    if rng.random() < 0.2:
        model.traits.append("heavy tails")
        model.drawn_from_model = False
        error = rng.standard_t(1.2, len(eta))
    sigma = 10.0**rng.uniform(-2, 3)
    for name in model.truth:
        model.truth[name] *= sigma
    return sigma * (eta + error)


def separate(model, rng, y):
    """All rows of one level of a factor, or all where a rare column is 1, have the same outcome."""
    groups = model.columns["g"]
    chosen = groups == rng.choice(groups)
    rare = [v for n, v in model.columns.items() if n.startswith("x") and v.dtype.kind == "f" and set(v) == {0.0, 1.0}]
    text = [v for n, v in model.columns.items() if n.startswith("x") and v.dtype.kind == "U"]
    if rare:
        chosen = rare[0] == 1.0
    elif text:
        chosen = text[0] == "c"
    value = 0 if model.family in COUNTS or rng.random() < 0.5 else model.columns.get("trials", numpy.ones(len(y), int))
    model.traits.append("separated")
    model.drawn_from_model = False
    return numpy.where(chosen, value, y)


def make_outcome(model, rng, eta):
    if model.family in SHARES:
        y = share_outcome(model, rng, eta)
    elif model.family in COUNTS:
        y = count_outcome(model, rng, eta)
    elif model.family == "Gamma":
        y = numpy.maximum(numpy.exp(numpy.minimum(eta, 30)) * rng.gamma(2.0, 0.5, len(eta)), 1e-300)
    else:
        y = real_outcome(model, rng, eta) if model.family in REALS else beta_outcome(model, rng, eta)
    return separate(model, rng, y) if model.family in SHARES | COUNTS and rng.random() < 0.2 else y


def make(seed, index):
    rng = numpy.random.default_rng([seed, index])
    model = Model(index, FAMILIES[rng.integers(0, len(FAMILIES))])
    groups, terms = make_groups(model, rng)
    rows = len(groups["g"])
    model.columns["y"] = None
    eta, names, numeric = make_fixed(model, rng, rows)
    eta = eta + make_random(model, rng, groups, terms, numeric, names)
    if rng.random() < 0.2:
        exposure = numpy.exp(rng.normal(0, 0.7, rows))
        if model.family in REALS:  # in the units of y, which sigma scales
            model.drawn_from_model = False
        eta = eta + numpy.log(exposure)
        model.columns["n"] = exposure
        model.formula += " + offset(log(n))"
        model.traits.append("offset")
    model.columns["y"] = make_outcome(model, rng, eta)
    if rng.random() < 0.15:
        model.columns["w"] = numpy.round(rng.uniform(0.3, 2.0, rows), 3)
        model.options += ["--weights", "w"]
        model.traits.append("weights")
        model.drawn_from_model = False
    return model
