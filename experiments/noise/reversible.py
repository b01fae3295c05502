"""Does a non-reversible sampler mix faster? A normal target with d = 20 and standard deviations 1
to 3, evenly spaced in the logarithm, sampled by

- bps: the bouncy particle sampler, not reversible, with refreshment at rate r per unit of path;
- mala: one Langevin (leapfrog) step with Metropolis' test, reversible;
- rwm: random-walk Metropolis, reversible.

One evaluation of the potential or its gradient is counted for each event of bps (a bounce or a
refreshment; arrival times have a closed form here) and for each step of the others. Steps and
refreshment rates are scanned, the best one of each counts."""
import numpy

from lab.series import chains_ess

DIM, CHAINS = 20, 8
SD = numpy.geomspace(1, 3, DIM)
SETTINGS = {"bps": (0.03, 0.1, 0.3, 1.0, 3.0, 10.0), "mala": (0.8, 1.0, 1.2, 1.4, 1.6, 1.8),
            "rwm": (0.4, 0.5, 0.65, 0.8, 1.0, 1.25)}


def directions(random, count):
    v = random.standard_normal((count, DIM))
    return v / numpy.linalg.norm(v, axis=1, keepdims=True)


def bps(rate, events, random):
    """Positions [chain, draw, parameter] at equal times of path, as many as events."""
    w, v = SD * random.standard_normal((CHAINS, DIM)), directions(random, CHAINS)
    times, at = numpy.zeros((events + 1, CHAINS)), numpy.empty((events + 1, CHAINS, DIM))
    at[0] = w
    for i in range(events):
        slope, curvature = numpy.sum(w * v / SD**2, axis=1), numpy.sum(v * v / SD**2, axis=1)
        clock = random.exponential(size=CHAINS)
        time = (numpy.sqrt(numpy.maximum(slope, 0) ** 2 + 2 * curvature * clock)
                - slope) / curvature
        refresh = random.exponential(1 / rate, CHAINS)
        step = numpy.minimum(time, refresh)
        w = w + step[:, None] * v
        gradient = w / SD**2
        mirrored = (v
                    - 2 * (numpy.sum(v * gradient, axis=1) / numpy.sum(gradient**2,
                                                                       axis=1))[:, None] * gradient)
        v = numpy.where((time < refresh)[:, None], mirrored, directions(random, CHAINS))
        times[i + 1], at[i + 1] = times[i] + step, w
    draws = numpy.empty((CHAINS, events, DIM))
    for chain in range(CHAINS):
        grid = numpy.linspace(0, times[-1, chain], events, endpoint=False)
        for j in range(DIM):
            draws[chain, :, j] = numpy.interp(grid, times[:, chain], at[:, chain, j])
    return draws


def metropolis(step, events, random, langevin):
    """Positions of Metropolis' sampler; steps are in units of d^(-1/6) with the gradient, and of
    2.38 d^(-1/2) without."""
    h = step * DIM ** (-1 / 6) * 1.65 if langevin else step * 2.38 * 2 / numpy.sqrt(DIM)
    w = SD * random.standard_normal((CHAINS, DIM))
    draws = numpy.empty((CHAINS, events, DIM))

    def drift(at):
        return at - h * h / 2 * at / SD**2 if langevin else at
    for i in range(events):
        new = drift(w) + h * random.standard_normal((CHAINS, DIM))
        log = numpy.sum((w**2 - new**2) / (2 * SD**2), axis=1)
        log += numpy.sum((new - drift(w)) ** 2 - (w - drift(new)) ** 2, axis=1) / (2 * h * h)
        w = numpy.where((numpy.log(random.random(CHAINS)) < log)[:, None], new, w)
        draws[:, i] = w
    return draws


def efficiency(draws):
    """Effective samples per 1000 evaluations: of the slowest coordinate, of the slowest square, of
    the potential."""
    scale = 1000 / (draws.shape[0] * draws.shape[1])
    potential = numpy.sum(draws**2 / (2 * SD**2), axis=2)
    slowest = {"w": min(chains_ess(draws[:, :, j]) for j in range(DIM)),
               "w^2": min(chains_ess(draws[:, :, j] ** 2) for j in range(DIM)),
               "U": chains_ess(potential)}
    return {name: value * scale for name, value in slowest.items()}


def compare(lab):
    """Rows (sampler, setting, statistic, effective samples per 1000 evaluations, error) of all
    settings."""
    events, repeats = lab.pick(2000, 10000, 40000), lab.pick(2, 4, 8)
    rows = []
    for sampler, settings in SETTINGS.items():
        for setting in settings:
            each = []
            for seed in range(repeats):
                random = numpy.random.default_rng([seed, 7])
                draws = (bps(setting, events, random) if sampler == "bps"
                         else metropolis(setting, events, random, sampler == "mala"))
                each.append(efficiency(draws))
            for name in each[0]:
                values = numpy.array([one[name] for one in each])
                rows.append([sampler, setting, name, values.mean(),
                             values.std(ddof=1) / numpy.sqrt(repeats)])
    return rows
