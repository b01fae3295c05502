"""Scans: the same runs for each of several settings, {name: options}, as Figures 3, 10 and 11 have
them."""
import numpy

from lab.series import acf, ess, mean_error

# starts: times Laplace's covariance; the first is that of the authors' public notebook
FACTORS = {"notebook": 100, "near": 10}
LEFT = 5.0  # posterior sd: a run with a mean that is farther off has left the posterior: it is lost


def descend(lab, model, settings, seeds, epochs, factor):
    """{name: [Path a seed]}, one chain each from starts that all settings share, of `factor` times
    Laplace's covariance."""
    jobs = [(name, seed) for name in settings for seed in seeds]
    runs = lab.map(lambda job: model.sample(*settings[job[0]], "--chains", 1, "--seed", job[1],
                                            *model.laplace_start(job[1], factor),
                                            "--epochs", epochs, skeleton=True), jobs)
    return {name: [run.paths[0] for job, run in zip(jobs, runs) if job[0] == name]
            for name in settings}


def tabulate_nll(lab, model, paths, epochs, points=80):
    """nll.csv: median, least and largest NLL per row over the seeds, of {starts: {name: paths}}; a
    start that was lost does not drown the others."""
    grid = numpy.linspace(0, epochs, points + 1)
    rows = []
    for starts, settings in paths.items():
        for name, members in settings.items():
            nll = model.nll(numpy.array([path.at_rows(grid * model.n) for path in members]))
            rows += [(starts, name, *row) for row in zip(grid, numpy.median(nll, axis=0),
                                                         nll.min(axis=0), nll.max(axis=0))]
    lab.table("nll", ["start", "setting", "epoch", "nll", "least", "largest"], rows)
    mean, sd = model.laplace_nll()
    lab.table("laplace", ["mode", "mean", "sd"], [(float(model.nll(model.mode)), mean, sd)])


def arrival(model, path, epochs):
    """Epochs until the NLL is first within 2 sd of Laplace's mean; inf when it never is."""
    mean, sd = model.laplace_nll()
    grid = numpy.linspace(0, epochs, int(10 * epochs) + 1)
    there = model.nll(path.at_rows(grid * model.n)) < mean + 2 * sd
    return float(grid[there.argmax()]) if there.any() else numpy.inf


def tabulate_traces(lab, model, paths, epochs, points=100):
    """traces.csv: the first seed's path along the directions, in Laplace's sd from the mode; a
    fifth of it where variance is smallest."""
    rows = []
    for side, direction in model.directions.items():
        grid = numpy.linspace(0, epochs if side == "largest" else epochs / 5, points + 1)
        sd = numpy.sqrt(direction @ model.covariance @ direction)
        for name, members in paths.items():
            rows += [(side, name, *row) for row in zip(grid, (members[0].at_rows(grid * model.n)
                                                              - model.mode) @ direction / sd)]
    lab.table("traces", ["side", "setting", "epoch", "sd"], rows)


def approach(lab, model, settings, epochs):
    """nll.csv, traces.csv and arrivals.csv of runs from shared starts; {starts: {name: arrival of
    each seed}}."""
    paths = {starts: descend(lab, model, settings, lab.seeds(2, 5, 10), epochs, factor)
             for starts, factor in FACTORS.items()}
    tabulate_nll(lab, model, paths, epochs)
    tabulate_traces(lab, model, paths["near"], epochs)
    times = {starts: {name: numpy.array([arrival(model, path, epochs) for path in members])
                      for name, members in found.items()} for starts, found in paths.items()}
    rows = [(starts, name, seed + 1, time) for starts in times for name in times[starts]
            for seed, time in enumerate(times[starts][name])]
    lab.table("arrivals", ["start", "setting", "seed", "epochs"], rows)
    return times


def fact_of_arrival(lab, key, times, epochs):
    """The median of the seeds, where most have arrived; of each kind of start."""
    for starts in FACTORS:
        middle = float(numpy.median(times[starts]))
        lab.fact(f"{starts}_{key}", middle if numpy.isfinite(middle) else f"more than {epochs}",
                 None, "epochs")


class Long:
    """Long runs of one setting, one a seed, from around the mode.

    offsets   (mean - truth)/sd [seed, parameter]
    runs      the runs; in place of w they have along[side] [chain, draw], positions along the
        model's directions"""

    def __init__(self, model, truth, runs):
        mean, sd, self.truth_error = truth[0], truth[1], truth[2] / truth[1]
        self.model, self.runs, self.sd = model, runs, sd
        self.offsets = numpy.array([(run.mean - mean) / sd for run in runs])

    def rate(self, count, per="proposals"):
        return mean_error([run.info[count] / run.info[per] for run in self.runs])

    def info(self, name):
        return mean_error([run.info[name] for run in self.runs])

    def price(self):
        """Epochs per effective sample of the slowest parameter or square."""
        return mean_error([run.info["rows_touched"] / run.info["rows"] / run.info["min_ess"]
                           for run in self.runs])

    def outward(self):
        """Mean offset away from 0 over the parameters: where the bias of a logistic regression
        goes, without chance's sign."""
        return mean_error((self.offsets * numpy.sign(self.model.mode)).mean(axis=1))

    def rms(self):
        """Root mean square offset of the parameters, what chance adds taken off; its error by
        leaving out a seed at a time."""
        def once(offsets):
            chance = offsets.var(axis=0, ddof=1) / len(offsets) if len(offsets) > 1 else 0.0
            square = numpy.mean(offsets.mean(axis=0)**2 - chance - self.truth_error**2)
            return numpy.sqrt(max(square, 0.0))
        n = len(self.offsets)
        if n < 3:
            return float(once(self.offsets)), numpy.nan
        out = [once(numpy.delete(self.offsets, i, axis=0)) for i in range(n)]
        return float(once(self.offsets)), float(numpy.sqrt((n - 1) * numpy.var(out)))

    def shift(self):
        """Length of the vector by which the means are off, in units of the parameters; its error
        over the seeds along that direction."""
        off = self.offsets * self.sd
        mean = off.mean(axis=0)
        length = float(numpy.linalg.norm(mean))
        return length, mean_error(off @ mean / length)[1]

    def reach(self):
        """2 d |S e| for the direction e of that vector, S Laplace's covariance: Supplement B's
        constant for it, to first order in the velocity."""
        mean = (self.offsets * self.sd).mean(axis=0)
        wide = float(numpy.linalg.norm(self.model.covariance @ mean) / numpy.linalg.norm(mean))
        return 2 * self.model.d * wide, numpy.nan

    def worst(self):
        """Largest offset of a parameter and its standard error."""
        mean = numpy.abs(self.offsets.mean(axis=0))
        j = int(mean.argmax())
        error = (self.offsets[:, j].std(ddof=1) / numpy.sqrt(len(self.offsets))
                 if len(self.offsets) > 1 else numpy.nan)
        return float(mean[j]), float(numpy.hypot(error, self.truth_error[j]))

    def series(self, side):
        """Of each run the list of its chains: epochs from draw to draw, and equally spaced
        positions along a direction, the first tenth left out. Chains of one run may differ in
        spacing by a factor of two: each drops every second draw when it has twice as many as asked
        for."""
        for run in self.runs:
            draws = run.along[side].shape[1]
            spacing = run.rows[:, -1] / run.info["rows"] / draws
            yield [(step, chain[draws // 10:]) for step, chain in zip(spacing, run.along[side])]

    def mixing(self, side):
        """Effective samples per 1000 epochs along a direction, with its error over the seeds: the
        smaller of the position's and its square's, since a path that swings to and fro flatters the
        first."""
        def smaller(chain):
            return min(ess(chain), ess((chain - chain.mean())**2))
        return mean_error([numpy.mean([1000 * smaller(chain) / (len(chain) * step)
                                       for step, chain in chains]) for chains in self.series(side)])

    def acf(self, side, reach, points=60):
        """(lag in epochs, autocorrelation, its error) up to `reach` epochs or a third of the
        chains' length, the mean over runs and chains."""
        every = [pair for chains in self.series(side) for pair in chains]
        grid = numpy.linspace(0, min(reach, *(step * len(chain) / 3 for step, chain in every)),
                              points + 1)
        each = []
        for step, chain in every:
            lags = min(int(grid[-1] / step) + 2, len(chain))
            each.append(numpy.interp(grid, step * numpy.arange(lags), acf(chain, lags)))
        return (list(zip(grid, numpy.mean(each, axis=0),
                         numpy.std(each, axis=0, ddof=1) / numpy.sqrt(len(each)))))


def remove_lost(long):
    """Removes the lost runs; how many there were. If none stayed, all are kept."""
    kept = [i for i, offsets in enumerate(long.offsets) if numpy.abs(offsets).max() < LEFT]
    lost = len(long.runs) - len(kept)
    if kept:
        long.runs, long.offsets = [long.runs[i] for i in kept], long.offsets[kept]
    return lost


def linger(lab, model, settings, seeds, epochs, draws=4000):
    """{name: Long}; `epochs` may be a dictionary by name. A setting may be given with its own
    stopping rule, epochs None."""
    truth = model.truth()
    goal = epochs if isinstance(epochs, dict) else dict.fromkeys(settings, epochs)
    jobs = [(name, seed) for name in settings for seed in seeds]

    def one(job):
        name, seed = job
        stop = ["--epochs", goal[name]] if goal[name] else []
        run = model.sample(*settings[name], "--seed", seed, "--draws", draws, *stop)
        run.along = {side: run.w @ direction for side, direction in model.directions.items()}
        run.w = None  # the draws of all runs would not fit into memory
        return run
    runs = lab.map(one, jobs)
    return {name: Long(model, truth, [run for job, run in zip(jobs, runs) if job[0] == name])
            for name in settings}


def tabulate_acf(lab, longs, reach):
    """acf.csv, for `reach` epochs by side."""
    rows = [(side, name, *row) for side in reach for name, long in longs.items()
            for row in long.acf(side, reach[side])]
    lab.table("acf", ["side", "setting", "epochs", "acf", "error"], rows)


def power_law(x, y, y_error):
    """Exponent of y = a x^b and its error, by weighted least squares of the logarithms. The error
    is scaled up where a power law does not fit."""
    x, y, s = numpy.log(x), numpy.log(y), numpy.asarray(y_error) / numpy.asarray(y)
    design = numpy.column_stack([numpy.ones_like(x), x]) / s[:, None]
    inverse = numpy.linalg.inv(design.T @ design)
    best = inverse @ design.T @ (y / s)
    misfit = numpy.sum((y / s - design @ best)**2) / max(len(x) - 2, 1)
    return float(best[1]), float(numpy.sqrt(inverse[1, 1] * max(misfit, 1.0)))
