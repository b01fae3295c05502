#!/usr/bin/python3
"""docs/from-scratch.png: one segment with its band, and the path, of examples/sbps_from_scratch.py on a table of two columns.

    scripts/from-scratch-picture.py [PROGRAM]      needs gnuplot and numpy"""
import os
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, os.path.join(ROOT, "examples"))
import sbps_from_scratch as program  # noqa: E402

FROM, DRAWN = 2000, 40       # segments on the right: the last is the first after these with
OBSERVATIONS = range(8, 12)  # this number of observations

PLOT = """
set terminal pngcairo size 1200, 480 font 'sans,11' background rgb 'white'
set output out
set multiplot layout 1, 2
set border 3; set tics nomirror; set key top left reverse Left samplen 2
set xlabel 'time t since the bounce'; set ylabel 'slope of U along the segment'
set xzeroaxis lw 1 lc rgb '#999999'; set offsets graph 0.02, graph 0.04, graph 0.4, graph 0.03
plot 'rate' with lines lw 2 lc rgb '#0072b2' title 'proposal rate: upper edge of the band', \\
     'true' with lines lw 1.5 lc rgb '#999999' title 'G on all rows', \\
     'seen' using 1:2:3 every ::0::0 with yerrorbars pt 5 lc rgb '#555555' title 'first: -G~ of the last bounce' noenhanced, \\
     'seen' using 1:2:3 every ::1 with yerrorbars pt 7 lc rgb '#009e73' title 'rejected proposals, G~ +- c' noenhanced, \\
     'bounce' using 1:2:3 with yerrorbars pt 7 ps 1.4 lc rgb '#d55e00' title 'accepted: the next bounce' noenhanced
unset offsets; unset xzeroaxis; set key bottom right noreverse Right
set xlabel 'w_1'; set ylabel 'w_2'
plot 'ellipses' with lines lw 1 lc rgb '#bbbbbb' title 'Laplace, 1 2 3 sd', \\
     'path' with linespoints pt 7 ps 0.5 lw 1.2 lc rgb '#0072b2' title 'path of 40 segments', \\
     'shown' with lines lw 3 lc rgb '#d55e00' title 'the segment on the left'
"""


class Recorder:
    """Wraps the functions of the program, and keeps what the last segment observed."""

    def __init__(self):
        self.seen, self.lines, self.kept, self.chords = [], [], [], []
        self.fit, self.draw, self.learn = program.fit_band, program.draw_proposal, program.learn_prior
        program.fit_band, program.draw_proposal, program.learn_prior = self.fit_band, self.draw_proposal, self.learn_prior

    def fit_band(self, seen, mu, s2):
        self.seen = seen
        return self.fit(seen, mu, s2)

    def draw_proposal(self, band, t, target):
        arrival, rate = self.draw(band, t, target)
        self.lines.append([(s, max(band(s), 0)) for s in np.linspace(t, arrival, 12)])
        return arrival, rate

    def learn_prior(self, seen, mu, s2):
        self.kept.append(list(seen))
        self.chords.append(self.lines)
        self.lines = []
        return self.learn(seen, mu, s2)


def mode(x, y):
    w = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ w))
        hessian = (x.T * (p * (1 - p))) @ x + np.eye(len(w)) / program.PRIOR_SD**2
        w = w - np.linalg.solve(hessian, x.T @ (p - y) + w / program.PRIOR_SD**2)
    return w, hessian


def write(name, rows):
    with open(name, "w", encoding="utf-8") as file:
        for row in rows:
            file.write(" ".join(f"{value:.6g}" for value in row) + "\n")


def main():
    sbps = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build", "sbps"))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([sbps, "simulate", "logistic", "--rows", "1000", "--dim", "2", "--seed", "1", "-o", "table.csv"],
                       check=True, capture_output=True)
        table = np.loadtxt("table.csv", delimiter=",", skiprows=1)
        x, y = table[:, 1:], table[:, 0]
        w, hessian = mode(x, y)
        recorder = Recorder()
        path, _ = program.sample(x, y, w, 25000, np.random.default_rng(1))
        corners = np.array([corner for _, corner in path])
        last = next(i for i in range(FROM, len(path) - 1) if len(recorder.kept[i]) in OBSERVATIONS)
        first = last - DRAWN + 1
        a, b, seen = corners[last], corners[last + 1], recorder.kept[last]
        v = (b - a) / np.linalg.norm(b - a)
        observed = [(t, g, np.sqrt(c2)) for t, g, c2 in seen]
        write("seen", observed[:-1])
        write("bounce", observed[-1:])
        write("rate", [point for line in recorder.chords[last] for point in line])
        times = np.linspace(0, seen[-1][0], 50)
        write("true", [(t, v @ ((1 / (1 + np.exp(-x @ (a + t * v))) - y) @ x + (a + t * v) / program.PRIOR_SD**2)) for t in times])
        write("path", corners[first:last + 2])
        write("shown", [a, b])
        scale, turn = np.linalg.inv(np.linalg.cholesky(hessian)).T, np.linspace(0, 2 * np.pi, 100)
        with open("ellipses", "w", encoding="utf-8") as file:
            for sd in 1, 2, 3:
                for point in w + sd * np.stack([np.cos(turn), np.sin(turn)], 1) @ scale.T:
                    file.write(f"{point[0]:.5g} {point[1]:.5g}\n")
                file.write("\n")
        out = os.path.join(ROOT, "docs", "from-scratch.png")
        subprocess.run(["gnuplot"], input=f"out = '{out}'" + PLOT, text=True, check=True)


if __name__ == "__main__":
    main()
