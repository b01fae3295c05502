"""Sections 3 and 7.1, Supplement G: is velocity refreshment needed? There is no figure in the
paper.

The paper: refreshments are needed in general to prove ergodicity, but in its examples "the
mini-batch noise was enough", so the rate was set to a very low value. It shows no numbers.

Ours: the logistic example of Figure 4 (N = 1000, d = 20) as published (n = 100, k = 3) at rates
from 0 to 100 per unit of time; a proposal comes every 0.02, a bounce every 0.15, and the
posterior's sd is 0.08 to 1.8, depending on the direction. ESS per 1000 epochs of the mean and of
the squared deviation along the extreme eigenvectors of Laplace's covariance, and the error of the
worst mean. Beside it our default, whose control variate leaves little noise, and `bps` on the full
data in the same metric, with none. Last the isotropic normal, where bps without refreshment never
leaves a plane: how much noise is enough there? Noise is measured against the curvature, s = sqrt(E
c^2 / mean v'Hv), so that the examples share one axis.

A point is four chains and a seed; error bars are over seeds."""
import numpy

from lab import mean_error, median_error, near_limit
from lab.logistic import Logistic
from lab.series import chains_ess

TITLE = "Supplement G: refreshment"

RATES = [0, 0.01, 0.1, 0.3, 1, 3, 10, 30, 100]
METRIC_RATES = [0, 0.01, 0.03, 0.1, "auto", 0.5, 1, 3, 10]  # per posterior sd
WAYS = {
    "sbps": ["--paper"],
    "default": [],
    "bps": ["--sampler", "bps"],
}
WHAT = ["largest mean", "largest square", "smallest mean", "smallest square"]
DIM = 20          # of the normal
# refreshment is not needed where the ESS without it is more than this fraction of that at the best
# rate
ENOUGH = 0.5
# posterior sd: a run with a mean farther off has left the posterior: it is lost, and has no
# effective samples
LEFT = 5.0
NOISES = [0, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3]


def extremes(posterior, run, mean):
    """ESS of means and squared deviations along the directions, in the order of WHAT."""
    found = []
    for name in ("largest", "smallest"):
        x = (run.w - mean) @ posterior.directions[name]
        found += [chains_ess(x), chains_ess(x * x)]
    return numpy.array(found)


def scan(lab, posterior, way, rates, epochs, truth):
    """{rate: [seed, what]} ESS per 1000 epochs, {rate: [seed, parameter]} errors of the means in
    posterior sd, and {rate: refreshments per posterior sd of path}."""
    jobs = [(rate, seed) for rate in rates for seed in lab.seeds(2, 5, 10)]

    warmup = {"sbps": 5000, "default": lab.pick(2000, "auto", "auto"), "bps": 200}[way]

    def one(job):
        run = posterior.sample(*WAYS[way], "--refresh-rate", job[0], "--seed", job[1], "--chains",
                               4, "--spread", 1,
                               "--warmup", warmup, "--epochs", epochs, "--draws", 2000)
        rate = run.info["refresh_rate"], run.info["refreshments_per_sd"]
        per = 1000 * posterior.n / run.info["rows_touched"]
        off = (run.mean - truth[0]) / truth[1]
        lost = bool(numpy.abs(off).max() > LEFT)
        return rate, extremes(posterior, run, truth[0]) * (0.0 if lost else per), off
    found = lab.map(one, jobs)
    speed, error, per_sd = {}, {}, {}
    for rate in rates:
        mine = [result for job, result in zip(jobs, found) if job[0] == rate]
        used = round(float(numpy.mean([result[0][0] for result in mine])), 10)
        per_sd[used] = float(numpy.mean([result[0][1] for result in mine]))
        speed[used] = numpy.array([result[1] for result in mine])
        error[used] = numpy.array([result[2] for result in mine])
    return speed, error, per_sd


def lost_runs(errors):
    """Which of [seed, parameter] are lost."""
    return numpy.abs(errors).max(axis=1) > LEFT


def summary(values):
    """Mean over the runs with its error; the median if runs were lost, which have 0 effective
    samples."""
    return median_error(values) if numpy.any(numpy.asarray(values) == 0) else mean_error(values)


def noise_of(lab, posterior, way):
    """s = sqrt(E c^2 / mean v'Hv) by the observations of a short run; the default's metric makes
    v'Hv 1."""
    run = posterior.sample(*WAYS[way], "--refresh-rate", 0.2, "--chains", 1, "--seed", 1,
                           "--epochs", 200, trace=True)
    c2 = numpy.array([observation["c2"] for observation in run.trace])
    curvature = (1.0 if run.info["metric"] == "dense"
                 else numpy.trace(numpy.linalg.inv(posterior.covariance)) / posterior.d)
    return float(numpy.sqrt(numpy.nanmean(c2) / curvature))


def worst(errors):
    """Worst mean of [seed, parameter]: root mean square over the seeds that were not lost, and its
    error."""
    stayed = errors[~lost_runs(errors)]
    if len(stayed) == 0:
        return numpy.nan, numpy.nan
    square = stayed ** 2
    j = square.mean(axis=0).argmax()
    mean, error = mean_error(square[:, j])
    return float(numpy.sqrt(mean)), float(error / (2 * numpy.sqrt(mean)))


def normal(lab):
    """Isotropic normal: root mean square error of E w_j^2 (truth 1) of a chain of a given length,
    by noise and rate."""
    rows, found = [], {}
    noises, observations = (lab.pick([0, 0.01, 0.1, 1], NOISES, NOISES),
                            lab.pick(20000, 100000, 400000))
    for rate in (0, "auto"):
        def one(noise):
            return lab.sample(None, "--model", "gaussian", "--dim", DIM, "--metric", "none",
                              "--refresh-rate", rate,
                              *(["--sampler", "bps"] if noise == 0
                                else ["--sampler", "noisy-bps", "--gradient-noise", noise]),
                              "--chains", lab.pick(8, 16, 32), "--spread", 1, "--warmup", 100,
                              "--seed", 5, "--epochs",
                              observations, "--draws", 4000)
        for noise, run in zip(noises, lab.map(one, noises)):
            # per chain, over coordinates
            each = numpy.sqrt((((run.w ** 2).mean(axis=1) - 1) ** 2).mean(axis=1))
            found[rate, noise] = mean_error(each)
            rows.append(["off" if rate == 0 else "auto", noise, *found[rate, noise]])
    lab.table("normal", ["refreshment", "noise", "error", "error_error"], rows)
    return found


def orbits(lab):
    """In the plane: paths of bps on an isotropic normal without refreshment, and with a little
    noise."""
    rows = []
    for name, way in (("exact", ["--sampler", "bps"]), ("noisy", ["--sampler", "noisy-bps",
                                                                  "--gradient-noise", 0.1])):
        path = lab.sample(None, "--model", "gaussian", "--dim", 2, "--metric", "none",
                          "--refresh-rate", 0, *way, "--chains", 1,
                          "--spread", 1, "--warmup", 0, "--seed", 3, "--epochs", 2000,
                          skeleton=True).paths[0]
        end = numpy.flatnonzero(path.bounce)[199] + 1
        rows += [[name, round(a, 3), round(b, 3)] for a, b in path.w[:end]]
    lab.table("orbit", ["series", "w1", "w2"], rows)


def against_zero(speed):
    """Per quantity: ESS without refreshment over the best with it, and the ratio's error."""
    zero = speed[0.0]
    best = (max((rate for rate in speed if rate > 0),
                key=lambda rate: min(summary(speed[rate][:, i])[0] for i in range(len(WHAT)))))
    result = []
    for i in range(len(WHAT)):
        rate = (max((rate for rate in speed if rate > 0),
                    key=lambda rate: summary(speed[rate][:, i])[0]))
        a, b = summary(zero[:, i]), summary(speed[rate][:, i])
        result.append((a[0] / b[0], a[0] / b[0] * numpy.hypot(a[1] / a[0], b[1] / b[0])))
    return result, best


def run(lab):
    posterior = Logistic(lab)
    truth = posterior.truth()
    epochs = {"sbps": lab.pick(1000, 20000, 100000), "default": lab.pick(100, 1000, 4000),
              "bps": lab.pick(500, 5000, 20000)}
    rates = {"sbps": lab.pick([0, 0.1, 10], RATES, RATES),
             "default": lab.pick([0, "auto"], METRIC_RATES, METRIC_RATES),
             "bps": lab.pick([0, "auto"], METRIC_RATES[:-1], METRIC_RATES[:-1])}
    rows, errors, ratios, biases = [], [], {}, {}
    for way in WAYS:
        speed, error, per_sd = scan(lab, posterior, way, rates[way], epochs[way], truth)
        rows += [[way, rate, what, *summary(speed[rate][:, i])] for i, what in enumerate(WHAT)
                 for rate in speed]
        errors += [[way, rate, per_sd[rate], *worst(error[rate]), int(lost_runs(error[rate]).sum()),
                    len(error[rate])] for rate in speed]
        ratios[way], best = against_zero(speed)
        biases[way] = {rate: worst(error[rate]) for rate in speed}
        facts(lab, way, speed, ratios[way], biases[way], best)
    lab.table("ess", ["series", "rate", "what", "ess", "error"], rows)
    lab.table("mean", ["series", "rate", "per_sd", "off", "error", "lost", "runs"], errors)
    noise = {way: noise_of(lab, posterior, way) for way in ("sbps", "default")}
    lab.table("level", ["series", "noise"], noise.items())
    for way in noise:
        lab.fact(f"{way}_noise", noise[way])
    orbits(lab)
    claims(lab, ratios, biases, normal(lab), noise)


def facts(lab, way, speed, ratio, bias, best):
    low = min(range(len(WHAT)), key=lambda i: ratio[i][0])
    lab.fact(f"{way}_ratio", *ratio[low])
    lab.fact(f"{way}_ratio_of", WHAT[low])
    lab.fact(f"{way}_best", best)
    for i, key in enumerate(("largest", "largest_square", "smallest", "smallest_square")):
        lab.fact(f"{way}_{key}", *summary(speed[0.0][:, i]))
        lab.fact(f"{way}_{key}_most", *summary(speed[max(speed)][:, i]))
    lab.fact(f"{way}_bias", *bias[0.0], "sd")
    auto = [rate for rate in speed if 0.2 < rate < 0.3]
    if auto:
        lab.fact(f"{way}_auto_rate", auto[0])
        lab.fact(f"{way}_auto_bias", *bias[auto[0]], "sd")
        low = [summary(speed[rate].min(axis=1)) for rate in (0.0, auto[0])]
        lab.fact(f"{way}_low", *low[0])
        lab.fact(f"{way}_auto_low", *low[1])


def cell(row):
    return f"{row['ess']:.3g} +- {row['error']:.1g}"


def claims(lab, ratios, biases, found, noise):
    low = min(ratios["sbps"])
    zero, low_rate = biases["sbps"][0.0], biases["sbps"][0.1]
    rows = {row["rate"]: row for row in lab.read("mean") if row["series"] == "sbps"}
    ess = {(row["rate"], row["what"]): row for row in lab.read("ess") if row["series"] == "sbps"}
    table = ["| rate | " + " | ".join(f"{what.split()[1]}, "
                                      f"{'widest' if 'largest' in what else 'narrowest'}"
                                      for what in WHAT) + " | worst mean off by, sd | lost runs |",
             "|---" * (len(WHAT) + 3) + "|"]
    table += [f"| {rate:g} | {' | '.join(cell(ess[rate, what]) for what in WHAT)} | "
              f"{row['off']:.2f} +- {row['error']:.2f} | "
              f"{row['lost']:.0f} of {row['runs']:.0f} |" for rate, row in rows.items()]
    lab.condition("sbps_lost", any(row["lost"] for row in rows.values()))
    lab.claim("refreshment-unnecessary", "With mini-batch noise no additional refreshment is "
              "necessary, and its rate may be very low",
              low[0] > ENOUGH,
              f"As published without refreshment, the worst of four ESS is {low[0]:.2f} +- "
              f"{low[1]:.2f} times that at the best rate above 0; {rows[0]['lost']:.0f} runs lost",
              f"We call more than {ENOUGH:g} unnecessary.", unsure=near_limit(low, ENOUGH),
              numbers="Effective samples per 1000 epochs of the mean and of the square along the "
                      "widest and the narrowest direction, as published; means over runs, medians "
                      f"where runs were lost.\n\n" + "\n".join(table) +
                      (f"\n\nThe worst mean is {zero[0]:.2f} +- {zero[1]:.2f} sd off without "
                       f"refreshment and {low_rate[0]:.2f} +- {low_rate[1]:.2f} at rate 0.1: "
                       "that is the band's bias, not a lack of mixing." if zero[0] > 0.1 else ""))
    off, on = found[0, 0], found["auto", 0]
    lab.fact("normal_off", *off)
    lab.fact("normal_on", *on)
    enough = [noise for rate, noise in found if rate == 0 < noise
              and found[0, noise][0] < 1.5 * found["auto", 0][0]]
    lab.fact("normal_enough", min(enough, default=numpy.inf))
    lab.condition("published_enough", noise["sbps"] >= min(enough, default=numpy.inf))
    lab.condition("default_enough", noise["default"] >= min(enough, default=numpy.inf))
    values = {key: value for key, value, _, _ in lab.facts}
    lab.condition("squares_gain", values["default_auto_low"] > values["default_low"])
    lab.condition("ruinous", values["sbps_largest_most"] < 0.1 * values["sbps_largest"])
    lab.condition("band_bias", biases["sbps"][0.0][0] > 3 * biases["default"][0.0][0])
    for noise in (0.01, 0.1):
        lab.fact(f"normal_{str(noise).replace('.', '')}", *found[0, noise])
    table = ["| noise s | error of E w^2 without refreshment | with the automatic rate |",
             "|---|---|---|"]
    noises = sorted({at for _, at in found})
    table += [f"| {at:g} | {found[0, at][0]:.3f} +- {found[0, at][1]:.3f} | "
              f"{found['auto', at][0]:.3f} +- {found['auto', at][1]:.3f} |" for at in noises]
    excess = off[0] - 2 * on[0], float(numpy.hypot(off[1], 2 * on[1]))
    lab.claim("needed-without-noise", "Refreshment is necessary in general for ergodicity",
              excess[0] > 0,
              f"Isotropic normal without noise: E w^2 is off by {off[0]:.2f} +- {off[1]:.2f} of "
              "its value without refreshment, "
              f"{on[0]:.3f} +- {on[1]:.3f} with it", unsure=near_limit(excess, 0),
              numbers="\n".join(table))


def check(lab):
    few = lab.level == "smoke"
    ess = {(row["series"], row["rate"], row["what"]): row for row in lab.read("ess")}
    # mini-batch noise: 0 is no worse than 0.1, and much better than 10 along the wide direction
    for what in WHAT:
        zero, low = ess["sbps", 0, what], ess["sbps", 0.1, what]
        assert zero["ess"] > 0.5 * low["ess"] - 3 * numpy.hypot(zero["error"], low["error"]), (
            (zero, low))
    assert few or ess["sbps", 0, "largest mean"]["ess"] > 4 * ess["sbps", 10, "largest mean"]["ess"]
    normal_rows = {(row["refreshment"], row["noise"]): row["error"] for row in lab.read("normal")}
    assert normal_rows["off", 0] > 2 * normal_rows["auto", 0], normal_rows
    assert normal_rows["off", 1] < 0.5 * normal_rows["off", 0], normal_rows
    for row in lab.read("mean"):
        if row["series"] == "default" and row["rate"] < 0.3:
            assert row["off"] < (0.5 if few else 0.15), row
    radius = {"exact": [], "noisy": []}
    for row in lab.read("orbit"):
        radius[row["series"]].append(numpy.hypot(row["w1"], row["w2"]))
    assert min(radius["exact"]) > 1.5 * min(radius["noisy"]), (
        (min(radius["exact"]), min(radius["noisy"])))
    level = {row["series"]: row["noise"] for row in lab.read("level")}
    assert 0.3 < level["sbps"] < 30 and level["default"] < level["sbps"], level
