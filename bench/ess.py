#!/usr/bin/python3
"""Effective sample size, one estimator for every sampler and every peer.

    bench/ess.py RUN.nc ...     the smallest ESS of each run file beside the program's own
    bench/ess.py --check        against R's posterior::ess_mean on autoregressive draws; 1 if they differ

Chains are split in half. With W the mean of their variances, V = W (n-1)/n + var(chain means) and s_t
the mean of their autocovariances at lag t,

    rho_t = 1 - (W - s_t) / V,    tau = -1 + 2 sum_{t < T} P_t,    P_t = rho_2t + rho_2t+1

over the longest run of positive P_t, made to fall (Geyer 1992; Vehtari et al. 2021, without ranks);
ESS = draws / max(tau, 1 / log10(draws)). `smallest` is the minimum over w_j and (w_j - mean_j)^2 of
all coordinates j: a mean can be known well while the spread is not. It is noisy downwards by being a
minimum over 2d estimates: with few hundred draws by a third or so, for whoever made them.
"""
import subprocess
import sys

import numpy

CHECK = """
x <- as.matrix(read.csv(file("stdin"), header = FALSE))
cat(sprintf("%.10g", posterior::ess_mean(x)), "\\n")
"""


def autocovariance(x):
    """Of each row, at every lag, divided by the length."""
    n = x.shape[1]
    size = 1 << (2 * n - 1).bit_length()
    f = numpy.fft.rfft(x - x.mean(axis=1, keepdims=True), size, axis=1)
    return numpy.fft.irfft(f * f.conj(), size, axis=1)[:, :n] / n


def geyer(rho):
    """tau by the initial positive, then monotone sequence of pairs."""
    even = len(rho) - len(rho) % 2
    pairs = rho[0:even:2] + rho[1:even:2]
    fall = numpy.flatnonzero(pairs <= 0)
    stop = fall[0] if len(fall) else len(pairs)
    tau = -1 + 2 * numpy.minimum.accumulate(pairs[:stop]).sum()
    if stop < len(pairs) and rho[2 * stop] > 0:
        tau += rho[2 * stop]  # the odd one out, as R's posterior counts it
    return tau


def ess(x):
    """Of draws[chain, draw]; NaN where they are too few or do not move."""
    half = x.shape[1] // 2
    if half < 3:
        return numpy.nan
    x = numpy.concatenate([x[:, :half], x[:, -half:]])
    chains, n = x.shape
    s = autocovariance(x)
    within = s[:, 0].mean() * n / (n - 1)
    total = within * (n - 1) / n + x.mean(axis=1).var(ddof=1)
    if not total > 0:
        return numpy.nan
    rho = 1 - (within - s.mean(axis=0)) / total
    rho[0] = 1
    return chains * n / max(geyer(rho[:-2]), 1 / numpy.log10(chains * n))


def smallest(draws):
    """Of draws[chain, draw, coordinate]: the minimum over means and squares of all coordinates."""
    columns = (draws[:, :, j] for j in range(draws.shape[2]))
    return float(numpy.min([[ess(x), ess((x - x.mean()) ** 2)] for x in columns]))  # NaN where one is


def autoregressive(chains, n, phi, rng):
    x = rng.standard_normal((chains, n))
    for t in range(1, n):
        x[:, t] = phi * x[:, t - 1] + (1 - phi**2) ** 0.5 * x[:, t]
    return x


def check():
    """The largest relative difference from R, over chains that are slow, independent and antithetic."""
    rng = numpy.random.default_rng(1)
    worst = 0.0
    for phi in (0.95, 0.5, 0.0, -0.5):
        for chains, n in ((1, 200), (4, 1001), (4, 4000)):
            x = autoregressive(chains, n, phi, rng)
            text = "\n".join(",".join(f"{v:.17g}" for v in row) for row in x.T)
            done = subprocess.run(["Rscript", "-e", CHECK], input=text, check=True, capture_output=True, text=True)
            theirs, mine = float(done.stdout), ess(x)
            print(f"phi {phi:5.2f}, {chains} x {n}: {mine:10.1f}, posterior {theirs:10.1f}, "
                  f"exact {chains * n * (1 - phi) / (1 + phi):10.1f}")
            worst = max(worst, abs(mine / theirs - 1))
    return worst


def main():
    if sys.argv[1:] == ["--check"]:
        sys.exit(int(check() > 1e-6))
    import netCDF4
    for path in sys.argv[1:]:
        with netCDF4.Dataset(path) as file:
            draws = numpy.array(file["posterior/w"][:])
            print(f"{path}: ESS {smallest(draws):.0f} of {draws.shape[0]} x {draws.shape[1]} draws; "
                  f"of the whole path, by the program, {file.min_ess:.0f}")


if __name__ == "__main__":
    main()
