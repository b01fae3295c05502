#!/usr/bin/python3
"""MASS::quine, `Days ~ Sex + (1 | Lrn)`, Poisson, by quadrature: who is right where sbps and rstanarm differ.

    bench/everyday_exact.py build/bench-everyday/quine.csv

With levels' log means c1 = a + u1 and c2 = a + u2, Poisson rows hold (c1, c2, b) within a narrow box. Given the
standard deviation s of u, (c1 + c2)/2 ~ N(-mean(x) b, 10^2 + s^2/2) and c1 - c2 ~ N(0, 2 s^2) independently, since
the default prior is that of the intercept at the means, a + mean(x) b ~ N(0, 10^2). The posterior of s is a sum over
a grid of the three, for each s of a logarithmic grid. Prints mean and sd of s."""
import csv
import sys

import numpy


def main():
    with open(sys.argv[1], newline="") as file:
        rows = list(csv.DictReader(file))
    y = numpy.array([float(r["Days"]) for r in rows])
    x = numpy.array([float(r["Sex"] == "M") for r in rows])
    level = numpy.array([r["Lrn"] for r in rows])
    b = numpy.linspace(-0.15, 0.5, 81)  # posterior 0.18 +- 0.04

    def of_level(name):
        """Grid of c for a level, and the log likelihood of its rows at (c, b)."""
        mine = level == name
        c = numpy.log(y[mine].mean()) + numpy.linspace(-0.45, 0.45, 121)
        ones = x[mine].sum()
        rate = numpy.exp(c)[:, None] * (mine.sum() - ones + ones * numpy.exp(b))
        return c, y[mine].sum() * c[:, None] + (y * x)[mine].sum() * b - rate

    (c1, first), (c2, second) = (of_level(name) for name in sorted(set(level)))
    log_rows = first[:, None, :] + second[None, :, :] - (b * x.std() / 2.5) ** 2 / 2
    weight = numpy.exp(log_rows - log_rows.max())
    middle = (c1[:, None, None] + c2[None, :, None]) / 2 + x.mean() * b
    apart = (c1[:, None] - c2[None, :])[:, :, None]
    s = numpy.geomspace(1e-3, 100, 1200)
    density = []
    for v in s**2:
        prior = numpy.exp(-middle**2 / (2 * (100 + v / 2)) - apart**2 / (4 * v))
        density.append((weight * prior).sum() / numpy.sqrt((100 + v / 2) * v))
    for name, prior in (("exponential(1)", numpy.exp(-s)), ("student_t(3,0,2.5)", (1 + (s / 2.5) ** 2 / 3) ** -2)):
        p = density * prior * s
        p /= p.sum()
        mean = p @ s
        print(f"sd_Lrn__Intercept ~ {name}: mean {mean:.4f}, sd {numpy.sqrt(p @ (s - mean) ** 2):.4f}")


if __name__ == "__main__":
    main()
