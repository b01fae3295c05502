"""Theorem 1's condition, kept and broken: the bouncy particle sampler of a standard normal in two
dimensions with noise N(0, sigma^2) on each component of the gradient.

The theorem needs noise that is independent at different points of a segment. Here a noise vector is
held for a path length of `hold` and then drawn anew; it is drawn anew at each bounce and
refreshment, too. hold = 0 is the theorem's case, infinity is one mini-batch from bounce to bounce.
Arrival times are exact:

- hold = 0: proposals with rate G+ + E y+ and noise y of density proportional to (G+ + y+) phi(y),
  accepted with probability (G + y)+ / (G+ + y+). That is the thinning of the mean rate E (G + y)+
  together with the noise of the bounce.
- hold > 0: between draws of the noise n the slope is linear in time, (w + n).v + t, and its
  integral has a closed form."""
import numpy

TAILS = 2, 3  # sds
REFRESH = 0.5


def first_arrival(slope, clock):
    """Time at which the integral of (slope + t)+ crosses an exponential clock."""
    return numpy.sqrt(numpy.maximum(slope, 0) ** 2 + 2 * clock) - slope


def unit_vectors(random, count):
    angle = random.uniform(0, 2 * numpy.pi, count)
    return numpy.column_stack([numpy.cos(angle), numpy.sin(angle)])


def reflect(v, gradient):
    return (v
            - 2 * (numpy.sum(v * gradient, axis=1) / numpy.sum(gradient * gradient,
                                                               axis=1))[:, None] * gradient)


def independent(random, w, v, sigma):
    """Time of the next proposal and, for the point it leads to, the noise and whether the velocity
    bounces."""
    count, slope = len(w), numpy.sum(w * v, axis=1)
    by_slope = first_arrival(slope, random.exponential(size=count))
    by_noise = random.exponential(numpy.sqrt(2 * numpy.pi) / sigma, count)
    time = numpy.minimum(by_slope, by_noise)
    slope = slope + time
    along = numpy.where(by_slope < by_noise, random.normal(0, sigma, count),
                        random.rayleigh(sigma, count))
    bound = numpy.maximum(slope, 0) + numpy.maximum(along, 0)
    accepted = random.random(count) * bound < slope + along
    across = random.normal(0, sigma, count)
    noise = along[:, None] * v + across[:, None] * numpy.column_stack([-v[:, 1], v[:, 0]])
    return time, noise, accepted


class Statistics:
    """Time integrals of w_j^2 and of |w_j| > c along segments, both coordinates together."""

    def __init__(self, chains):
        self.time, self.square, self.beyond = (numpy.zeros(chains), numpy.zeros(chains),
                                               {c: numpy.zeros(chains) for c in TAILS})

    def add(self, w, v, time):
        t = time[:, None]
        self.time += time
        self.square += numpy.mean(w * w * t + w * v * t**2 + v * v * t**3 / 3, axis=1)
        for c in TAILS:
            ends = numpy.sort([(-c - w) / v, (c - w) / v], axis=0)
            inside = numpy.maximum(numpy.minimum(ends[1], t) - numpy.maximum(ends[0], 0), 0)
            self.beyond[c] += numpy.mean(t - inside, axis=1)

    def rates(self):
        return {"E w^2": self.square / self.time, **{f"P(|w| > {c} sd)": self.beyond[c] / self.time
                                                     for c in TAILS}}


def simulate(hold, sigma, chains, events, seed):
    """Statistics of each chain after a fifth of the events. All chains begin at draws of the
    target."""
    random = numpy.random.default_rng(seed)
    w, v, noise = (random.standard_normal((chains, 2)), unit_vectors(random, chains),
                   sigma * random.standard_normal((chains, 2)))
    left, found = numpy.full(chains, hold, float), Statistics(chains)
    for event in range(events):
        if hold == 0:
            time, fresh, bounce = independent(random, w, v, sigma)
        else:
            time, fresh, bounce = first_arrival(numpy.sum((w + noise) * v, axis=1),
                                                random.exponential(size=chains)), noise, True
        refresh = random.exponential(1 / REFRESH, chains)
        renew = left if hold > 0 else numpy.full(chains, numpy.inf)
        step = numpy.minimum(numpy.minimum(time, refresh), renew)
        if event >= events // 5:
            found.add(w, v, step)
        w = w + v * step[:, None]
        bounced, refreshed = bounce & (time == step), refresh == step
        v = numpy.where(bounced[:, None], reflect(v, w + fresh),
                        numpy.where(refreshed[:, None], unit_vectors(random, chains), v))
        if hold > 0:
            renewed = bounced | refreshed | (renew == step)
            noise = numpy.where(renewed[:, None], sigma * random.standard_normal((chains, 2)),
                                noise)
            left = numpy.where(renewed, hold, left - step)
    return found.rates()
