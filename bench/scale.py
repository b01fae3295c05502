#!/usr/bin/python3
"""Does the cost of an effective sample grow with the table?

    bench/scale.py [--sizes 1e3,1e4,1e5,1e6] [--seeds 3] [--ess 10000] [--build build] [--write]

For every size: `sbps sample --sampler sbps`, all else default, S seeds, one core, on a binary table.
Medians over the seeds; ESS by bench/ess.py from the stored draws beside the program's own from the path;
accuracy over all seeds pooled against a reference posterior (common.py). Then the kernels against the
speed of memory and the proposals per second, by the programs of bench/*.c in the same run. Makes the
goals' table too. --write puts all of it into bench/RESULTS.md."""
import argparse
import os
import re
import subprocess
import time

import numpy

from common import ROOT, Run, arguments, circumstances, markdown, number, prepare, publish, reference, say, table

GOALS = {1000: 7000, 10000: 1500, 100000: 600, 1000000: 400}  # rows per ESS
HEAD = ["rows", "rows per ESS", "by the path", "ESS/s after set-up", "of all time", "set-up, s", "rest, s", "ESS, draws",
        "ESS, path", "k", "batch", "control variate", "stated bias", "true bias, worst", "of it noise",
        "true, rms less noise", "stated, rms", "sd error"]


class Size:
    """All seeds of one size, summed up."""

    def __init__(self, args, rows):
        data = table(args, rows)
        self.rows, self.truth = rows, reference(args, data)
        self.runs = []
        for seed in range(1, args.seeds + 1):
            run = Run(args, data, "sbps", seed, args.ess)
            say(f"  {rows} rows, seed {seed}: ESS {run.ess:.0f} ({run.path_ess:.0f} by the path), "
                f"{run.rows / run.ess:.0f} rows each, {run.sampling:.2f} s after {run.before:.2f} s")
            run.draws = None
            self.runs.append(run)
        self.errors()

    def median(self, figure):
        return float(numpy.median([figure(run) for run in self.runs]))

    def errors(self):
        """Of the mean over all seeds, in reference sd: true, its standard error, stated."""
        sd = self.truth["sd"]
        true = (numpy.mean([run.mean for run in self.runs], axis=0) - self.truth["mean"]) / sd
        own = numpy.sqrt(numpy.sum([run.mcse**2 for run in self.runs], axis=0)) / len(self.runs)
        noise = numpy.hypot(own, self.truth["se"]) / sd
        stated = numpy.mean([run.bias for run in self.runs], axis=0)
        worst = int(numpy.argmax(numpy.abs(true)))
        self.worst, self.worst_noise = abs(true[worst]), noise[worst]
        self.rms = numpy.sqrt(max(0.0, numpy.mean(true**2 - noise**2)))
        self.stated, self.stated_rms = numpy.max(numpy.abs(stated)), numpy.sqrt(numpy.mean(stated**2))
        self.sd_error = float(numpy.mean([numpy.mean(run.sd / sd) for run in self.runs])) - 1

    def line(self):
        first, variates = self.runs[0].info, sorted({run.info["control_variate"] for run in self.runs})
        return [f"{self.rows:,}", number(self.median(lambda r: r.rows / r.ess)),
                number(self.median(lambda r: r.rows / r.path_ess)), number(self.median(lambda r: r.ess / r.sampling)),
                number(self.median(lambda r: r.ess / r.wall)), number(self.median(lambda r: r.tuning)),
                number(self.median(lambda r: r.before - r.tuning)), number(self.median(lambda r: r.ess)),
                number(self.median(lambda r: r.path_ess)),
                f"{self.median(lambda r: r.info['band']):.2f}", f"{self.median(lambda r: r.info['batch_size']):.0f}"
                if "batch_size" in first else "-", ", ".join(variates), f"{self.stated:.4f}", f"{self.worst:.4f}",
                f"{self.worst_noise:.4f}", f"{self.rms:.4f}", f"{self.stated_rms:.4f}", f"{100 * self.sd_error:+.1f} %"]

    def goals(self):
        """Lines of the goals' table."""
        if self.rows in GOALS:
            goal, found = GOALS[self.rows], self.median(lambda r: r.rows / r.ess)
            yield (f"rows per ESS, N = {self.rows:,}", f"<= {goal:,}", number(found), met(found <= goal))
        low, high = max(0.0, self.worst - 2 * self.worst_noise), self.worst + 2 * self.worst_noise
        yield (f"worst mean error, pooled, N = {self.rows:,}", "<= 0.02 sd", f"{self.worst:.4f} +- {self.worst_noise:.4f}",
               met(self.worst <= 0.02, low <= 0.02))
        yield (f"stated against true bias, N = {self.rows:,}", "1/2 to 4, or both < 0.01",
               f"{self.stated:.4f} / {self.worst:.4f} = {self.stated / self.worst:.2f}",
               met(self.is_honest(self.worst), any(map(self.is_honest, numpy.linspace(low, high, 41)))))

    def is_honest(self, true):
        """Whether what is stated would do if that were the true bias."""
        return max(self.stated, true) < 0.01 or true / 2 <= self.stated <= 4 * true


def met(is_met, could_be=False):
    return "met" if is_met else "not resolved: within two standard errors" if could_be else "missed"


def bench(args, name):
    """Output of build/bench-NAME, built first if it can be."""
    path = os.path.join(args.build, f"bench-{name}")
    subprocess.run(["cmake", "--build", args.build, "--target", f"bench-{name}"], capture_output=True)
    if not os.path.exists(path):
        return ""
    say(f"bench-{name}")
    return subprocess.run([path], capture_output=True, text=True).stdout


def roofline(text):
    """Of the widest instruction set on 1e6 rows: its name, GB/s of the slopes' kernel, and of the faster plain
    read. None where the lines are not what they were."""
    found = {}
    for line in text.splitlines():
        m = re.match(r"(\S.*?)\s{2,}(\w+)\s+(\d+)\s+\d+\s+\d+\s+[\d.]+\s+[\d.]+\s+([\d.]+)$", line)
        if m and m[3] == "1000000":
            found.setdefault(m[2], {})[m[1]] = float(m[4])
    for isa, cases in reversed(list(found.items())):
        kernel = next((name for name in ("slopes, ahead", "slopes", "row_products window") if name in cases), None)
        reads = [cases[name] for name in ("read", "read, ahead") if name in cases]
        if kernel and reads:
            return f"{kernel}, {isa}", cases[kernel], max(reads)
    return None


def speed_goals(kernels, proposals):
    best = roofline(kernels)
    if best:
        name, ours, read = best
        yield (f"kernel out of cache, N = 1,000,000, n = 104 ({name})", ">= 75 % of a plain read",
               f"{ours:.1f} of {read:.1f} GB/s = {100 * ours / read:.0f} %", met(ours >= 0.75 * read))
    lines = re.findall(r"proposals (.*?)\s+N=1000 n=100 .*?(\d+) per second", proposals)
    if lines:
        name, rate = max(lines, key=lambda line: float(line[1]))
        yield (f"proposals per second, N = 1,000, n = 100 ({name})", ">= 3,000,000", number(float(rate)),
               met(float(rate) >= 3e6))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="folder of the C benchmarks")
    parser.add_argument("--no-kernels", action="store_true", help="only whole runs")
    args = parser.parse_args()
    load, start = os.getloadavg()[0], time.time()
    prepare(args)
    kernels, proposals = ("", "") if args.no_kernels else (bench(args, "kernels"), bench(args, "proposals"))
    sizes = [Size(args, rows) for rows in args.sizes]
    goals = [goal for size in sizes for goal in size.goals()] + list(speed_goals(kernels, proposals))
    parts = [circumstances(args, load), "",
             f"Medians of {args.seeds} seeds, `--ess {args.ess:g}`; set-up is mode and warm-up, the rest opening the table, "
             "what is made of the draws, and writing. Biases in posterior sd, over all seeds pooled; the true one against "
             + "; ".join(f"{s.truth['how']} (N = {s.rows:,}, error {max(s.truth['se'] / s.truth['sd']):.4f})"
                         for s in sizes) + ".", "",
             markdown(HEAD, [size.line() for size in sizes]), "", markdown(["goal", "wanted", "found", ""], goals)]
    for text in (kernels, proposals):
        if text:
            parts += ["", "```", text.strip(), "```"]
    parts += ["", f"({time.time() - start:.0f} s in all.)"]
    publish(args, "bench/scale.py", "\n".join(parts))


if __name__ == "__main__":
    main()
