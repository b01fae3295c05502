"""The Stochastic Bouncy Particle Sampler (Pakman et al., ICML 2017) for logistic regression, in plain
numpy. docs/from-scratch.md explains it; equation numbers are the paper's."""
import math

import numpy as np

K = 3.0           # width of the band, in predictive standard deviations
BATCH = 100       # rows of a mini-batch
STEP = 0.01       # grid of the piecewise-linear proposal rate
RATE = 0.01       # step size of the learned slope prior
PRIOR_SD = 10.0   # of every weight


def observe(x, y, w, v, rng):
    """Slope G~ along v at w, its variance c^2 (10), and the gradient (7), on a fresh mini-batch."""
    total, n = len(x), BATCH
    rows = rng.choice(total, n, replace=False)
    residual = y[rows] - 1 / (1 + np.exp(-x[rows] @ w))
    gradient = w / PRIOR_SD**2 - total / n * (residual @ x[rows])
    slopes = residual * (x[rows] @ v)
    variance = total**2 / n * (1 - n / total) * slopes.var(ddof=1)
    return v @ gradient, variance, gradient


def fit_band(seen, mu, s2):
    """Upper edge b0 + b1 t + k rho(t) of the band (13) over the observations (t, G~, c^2)."""
    t, g, c2 = np.array(seen).T
    x = np.stack([np.ones_like(t), t])
    (v00, v01), (_, v11) = cov = np.linalg.inv(x / c2 @ x.T + np.diag([0, 1 / s2]))
    b0, b1 = cov @ (x @ (g / c2) + [0, mu / s2])
    return lambda t: b0 + b1 * t + K * math.sqrt(v00 + 2 * v01 * t + v11 * t * t + c2[-1])


def draw_proposal(band, t, target):
    """Time at which the rate, the positive part of the chords over the band from t on, has the
    integral `target`, and the rate there."""
    low = band(t)
    while t < 1e3:
        high = band(t + STEP)
        rise, a, b = (high - low) / STEP, max(low, 0), max(high, 0)
        start = -low / rise if low < 0 < high else 0  # where the chord is positive
        end = -low / rise if high < 0 < low else STEP
        area = (a + b) / 2 * (end - start)
        if area > target:
            s = start + 2 * target / (a + math.sqrt(max(a * a + 2 * rise * target, 0)))
            return t + s, low + rise * s
        t, low, target = t + STEP, high, target - area
    raise OverflowError("no proposal: the particle runs away")


def learn_prior(seen, mu, s2):
    """One gradient step of N(mu, s2), the prior of b1, on log p({G~_i} | mu, s2)."""
    t, g, c2 = np.array(seen).T
    centred = t - np.average(t, weights=1 / c2)
    precision = np.sum(centred**2 / c2)
    b = np.sum(centred * g / c2) / precision  # least squares: b ~ N(mu, s2 + 1 / precision)
    v = s2 + 1 / precision
    d_mu, d_log_s2 = s2 * (b - mu) / v, s2 * ((b - mu)**2 / v - 1) / (2 * v)
    return (mu + RATE * np.clip(d_mu, -4 * math.sqrt(s2), 4 * math.sqrt(s2)),
            s2 * math.exp(RATE * min(d_log_s2, 4)))


def sample(x, y, w, proposals, rng):
    """The path from w as (time of the segment, its end), and the number of violations."""
    v = rng.normal(size=len(w))
    v /= np.linalg.norm(v)
    mu, s2, t, violations, path = 0.0, 1e5, 0.0, 0, [(0.0, w)]
    seen = [(0.0, *observe(x, y, w, v, rng)[:2])]
    for _ in range(proposals):
        arrival, rate = draw_proposal(fit_band(seen, mu, s2), t, rng.exponential())
        w, t = w + (arrival - t) * v, arrival
        slope, c2, gradient = observe(x, y, w, v, rng)
        seen.append((t, slope, c2))
        violations += slope > rate
        if rng.random() < slope / rate:  # a bounce
            mu, s2 = learn_prior(seen, mu, s2)
            v = v - 2 * (v @ gradient) / (gradient @ gradient) * gradient
            path.append((t, w))
            seen, t = [(0.0, -slope, c2)], 0.0
    return path, violations
