#!/usr/bin/python3
"""The program against its peers, on the same data in the same run, one core each.

    bench/peers.py [--sizes 1e3,1e4,1e5,1e6] [--seeds 3] [--ess 10000] [--seconds 60] [--peers nuts-dense,...] [--write]

Peers: RStan's NUTS with a dense and with its default diagonal metric (bernoulli_logit_glm, -O3
-march=native), our own hmc, sgld with the gradient control variate, zigzag-cv, and importance sampling from
the Laplace approximation (numpy). ESS by bench/ess.py for all, smallest over means and squares of all
coordinates; importance sampling, whose draws are independent and weighted, has 1 / sum w^2.

What counts as time: for the program everything from start to end of its process, the binary table on disk.
For RStan warm-up and sampling as it reports them: starting R, compiling and handing over the data are free.
For importance sampling `sbps laplace` and the evaluations. RStan's time to an ESS of 1000 is that of one
chain, with one warm-up, although four chains are run where that is affordable; ours has four warm-ups."""
import argparse
import os
import subprocess
import tempfile
import time

import numpy

from common import (ROOT, Posterior, Run, arguments, circumstances, laplace, markdown, number, prepare, publish,
                    reference, say, table, time_to, weights)
from ess import smallest

GOAL_ESS = 1000
# NUTS by rows and metric: chains, warm-up and draws of each, and where they start. The first line that has
# at least that many rows counts. Short runs start at the mode, which only helps them.
NUTS = {
    "dense_e": [(1000, 4, 1000, 2000, "random"), (100000, 4, 1000, 1000, "random"), (1e9, 1, 200, 400, "mode")],
    "diag_e": [(1000, 4, 1000, 2000, "random"), (10000, 4, 1000, 1000, "random"), (100000, 1, 300, 300, "mode"),
               (1e9, 1, 150, 50, "mode")],
}
FLAGS = "CXX14 = g++ -std=gnu++14 -fPIC\nCXX14FLAGS = -O3 -march=native -mtune=native -w\n"
GOALS = {1000: 1, 10000: 5, 1000000: 200}  # times faster than RStan dense to an ESS of 1000
HEAD = ["sampler", "before sampling, s", "sampling, s", "ESS", "ESS/s after set-up", "ESS/s of all time",
        f"s to ESS {GOAL_ESS}", "worst mean error, sd", "of it noise", "worst sd error", "remarks"]


class Peer:
    """One line of the table. `measured`: the run itself went to an ESS of 1000."""

    def __init__(self, name, before, sampling, ess, to_goal, mean, sd, mcse, remarks=""):
        self.name, self.before, self.sampling, self.ess = name, before, sampling, ess
        self.to_goal, self.mean, self.sd, self.mcse, self.remarks = to_goal, mean, sd, mcse, remarks
        self.is_measured = ess >= GOAL_ESS
        self.rate = ess / sampling

    def line(self, truth):
        error = numpy.abs(self.mean - truth["mean"]) / truth["sd"]
        if not numpy.isfinite(error).all() or not numpy.isfinite(self.ess):
            return [self.name, number(self.before), number(self.sampling), *["-"] * 7,
                    f"no draws to speak of; {self.remarks}"]
        worst = int(numpy.argmax(error))
        noise = numpy.hypot(self.mcse, truth["se"])[worst] / truth["sd"][worst]
        return [self.name, number(self.before), number(self.sampling), number(self.ess), number(self.rate),
                number(self.ess / (self.before + self.sampling)),
                number(self.to_goal) + ("" if self.is_measured else " (extrapolated)"), f"{error[worst]:.4f}",
                f"{noise:.4f}", f"{100 * numpy.max(numpy.abs(self.sd / truth['sd'] - 1)):.1f} %", self.remarks]


class Failure:
    """The line of a peer that could not be run."""

    def __init__(self, name, error):
        self.name, self.error = name, " ".join(str(error).split())[-200:]

    def line(self, _):
        return [self.name, *["-"] * 9, f"failed: {self.error}"]


# ---------------------------------------------------------------- the program

def ours_sbps(args, data):
    """Medians of all seeds; the time to an ESS of 1000 by runs of their own, with little to store."""
    seeds = range(1, args.seeds + 1)
    long = [Run(args, data, "sbps", seed, args.ess) for seed in seeds]
    short = [Run(args, data, "sbps", seed, GOAL_ESS) for seed in seeds]
    to_goal = numpy.median([time_to(GOAL_ESS, run.before, run.sampling, run.ess) for run in short])
    middle = sorted(long, key=lambda run: run.ess / run.sampling)[len(long) // 2]
    mcse = numpy.sqrt(numpy.sum([run.mcse**2 for run in long], axis=0)) / len(long)
    stated = numpy.max(numpy.abs(numpy.mean([run.bias for run in long], axis=0)))
    return Peer("`sbps`", middle.before, middle.sampling, middle.ess, to_goal,
                numpy.mean([run.mean for run in long], axis=0), numpy.mean([run.sd for run in long], axis=0), mcse,
                f"medians of {args.seeds} seeds, errors of all pooled; stated bias {stated:.4f}; four chains")


def ours(name, *options):
    """Another sampler of the program: one seed, at most --seconds."""
    def run(args, data):
        limit = args.seconds * (5 if name == "hmc" and data.rows >= 1000000 else 1)
        goal = max(GOAL_ESS, args.ess / 5)
        r = Run(args, data, name, 1, goal, "--seconds", str(limit), *options)
        remarks = "four chains" + (f"; wanted {limit:g} s, took {r.wall:.0f}" if r.path_ess < goal else "")
        return Peer(f"`{' '.join([name, *options])}`", r.before, r.sampling, r.ess,
                    time_to(GOAL_ESS, r.before, r.sampling, r.ess), r.mean, r.sd, r.mcse, remarks)
    return run


# ---------------------------------------------------------------- importance sampling

def tail_index(w):
    """Shape k of a generalised Pareto fitted to the largest weights (Zhang and Stephens 2009): above 0.7 the
    weights are too uneven for 1 / sum w^2 to be believed, as in Vehtari et al. 2024."""
    top = min(len(w) // 5, int(3 * len(w) ** 0.5))
    x = numpy.sort(w)[-top - 1:]
    x = x[1:] - x[0]
    m = 30 + int(top**0.5)
    b = 1 / x[-1] + (1 - numpy.sqrt(m / (numpy.arange(1, m + 1) - 0.5))) / (3 * x[int(top / 4 + 0.5) - 1])
    k = numpy.log1p(-b[:, None] * x).mean(axis=1)
    log_lik = top * (numpy.log(-b / k) - k - 1)
    weight = 1 / numpy.exp(log_lik[None, :] - log_lik[:, None]).sum(axis=1)
    return float(numpy.log1p(-(weight @ b) * x).mean())


def draw_weighted(args, data, mode, root, seed):
    """Batches of draws until 1 / sum w^2 is what was asked for, or --seconds are over: seconds, seconds to an
    ESS of 1000, draws and their weights."""
    goal = max(GOAL_ESS, args.ess / 5)
    start, passed, ess = time.perf_counter(), None, 0.0
    rng, value = numpy.random.default_rng(seed), Posterior(data)
    z, log_p = numpy.empty((0, data.dim)), numpy.empty(0)
    while ess < goal and time.perf_counter() - start < args.seconds:
        more = rng.standard_normal((max(256, len(z) // 4), data.dim))
        z, log_p = numpy.concatenate([z, more]), numpy.concatenate([log_p, value(mode + more @ root.T)])
        w = weights(log_p, z)
        ess = 1 / (w**2).sum()
        passed = passed or (time.perf_counter() - start if ess >= GOAL_ESS else None)
    took = time.perf_counter() - start
    return took, passed or took * GOAL_ESS / ess, mode + z @ root.T, w


def importance(args, data):
    """Medians of all seeds, errors of all pooled."""
    mode, cov, before = laplace(args, data)
    root = numpy.linalg.cholesky(cov)
    found = [draw_weighted(args, data, mode, root, seed) for seed in range(1, args.seeds + 1)]
    means = [w @ x for _, _, x, w in found]
    sds = [numpy.sqrt(w @ (x - m) ** 2) for m, (_, _, x, w) in zip(means, found)]
    variances = [(w**2) @ (x - m) ** 2 for m, (_, _, x, w) in zip(means, found)]
    sampling, to_goal, ess, draws, largest, tail = (numpy.median(list(f)) for f in (
        (f[0] for f in found), (f[1] for f in found), (1 / (f[3]**2).sum() for f in found),
        (len(f[3]) for f in found), (f[3].max() for f in found), (tail_index(f[3]) for f in found)))
    return Peer("Laplace, importance sampling", before, sampling, ess, before + to_goal, numpy.mean(means, axis=0),
                numpy.mean(sds, axis=0), numpy.sqrt(numpy.sum(variances, axis=0)) / len(found),
                f"medians of {args.seeds} seeds, errors of all pooled; {draws:,.0f} draws, largest weight "
                f"{100 * largest:.2g} %, tail index {tail:.2f} (above 0.7 the ESS is not to be believed)")


# ---------------------------------------------------------------- RStan

def rscript(args, *words):
    """bench/nuts.R with our compiler flags; the model lies compiled in the data folder."""
    folder = os.path.join(args.data, "stan")
    os.makedirs(folder, exist_ok=True)
    model, flags = os.path.join(folder, "logistic.stan"), os.path.join(folder, "Makevars")
    with open(os.path.join(ROOT, "bench", "logistic.stan")) as file:
        text = file.read()
    if not os.path.exists(model) or open(model).read() != text:
        with open(model, "w") as file:
            file.write(text)
    with open(flags, "w") as file:
        file.write(FLAGS)
    command = ["Rscript", os.path.join(ROOT, "bench", "nuts.R"), model, *(str(word) for word in words)]
    done = subprocess.run(command, env={**os.environ, "R_MAKEVARS_USER": flags}, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")


def nuts(metric):
    def run(args, data):
        chains, warmup, draws, init = next(plan[1:] for plan in NUTS[metric] if data.rows <= plan[0])
        rscript(args)  # compiles, the first time
        with tempfile.TemporaryDirectory(dir=args.data) as folder:
            file, start, out = (os.path.join(folder, name) for name in ("data", "start", "out"))
            with open(file, "wb") as stream:
                for j in range(data.dim):
                    numpy.ascontiguousarray(data.x[:, j]).tofile(stream)
                data.y.tofile(stream)
            laplace(args, data)[0].tofile(start)
            rscript(args, file, data.rows, data.dim, metric, chains, warmup, draws, 1,
                    start if init == "mode" else "random", out)
            x = numpy.fromfile(out + ".draws").reshape(data.dim, chains, draws).transpose(1, 2, 0)
            times = numpy.loadtxt(out + ".times", ndmin=2)
        before, sampling, ess = times[:, 0].sum(), times[:, 1].sum(), smallest(x)
        flat = x.reshape(-1, data.dim)
        name = f"RStan NUTS, {'dense' if metric == 'dense_e' else 'diagonal'}"
        from_mode = ", started at the mode" if init == "mode" else ""
        return Peer(name, before, sampling, ess, time_to(GOAL_ESS, before / chains, sampling, ess), flat.mean(axis=0),
                    flat.std(axis=0), flat.std(axis=0) / numpy.sqrt(ess),
                    f"{chains} x ({warmup} + {draws}){from_mode}; {times[:, 2].mean():.0f} steps a draw, "
                    f"{times[:, 3].sum():.0f} divergences; with {chains} warm-ups "
                    f"{number(time_to(GOAL_ESS, before, sampling, ess))} s to ESS {GOAL_ESS}")
    return run


PEERS = {
    "sbps": ours_sbps,
    "nuts-dense": nuts("dense_e"),
    "nuts-diag": nuts("diag_e"),
    "hmc": ours("hmc"),
    "importance": importance,
    "sgld": ours("sgld", "--control-variate", "gradient"),
    "zigzag-cv": ours("zigzag-cv"),
}


# ---------------------------------------------------------------- the table

def goals(rows, peers):
    """Lines of the goals' table for one size."""
    peers = {name: peer for name, peer in peers.items() if isinstance(peer, Peer)}
    if "sbps" not in peers:
        return
    own = peers["sbps"]
    for name in ("nuts-dense", "nuts-diag", "hmc", "importance"):
        if name not in peers:
            continue
        peer, wanted = peers[name], GOALS.get(rows) if name == "nuts-dense" else None
        ratio = peer.to_goal / own.to_goal
        yield (f"N = {rows:,}: file on disk to ESS {GOAL_ESS}, against {peer.name}",
               f">= {wanted}x" if wanted else "", f"{number(peer.to_goal)} / {number(own.to_goal)} s = {number(ratio)}x"
               + ("" if peer.is_measured else " (extrapolated)"), verdict(ratio, wanted))
        wanted = 20000 if rows == 1000000 and name == "nuts-dense" else None
        ratio = own.rate / peer.rate
        yield (f"N = {rows:,}: ESS/s after set-up, against {peer.name} after warm-up",
               f">= {wanted:,}x" if wanted else "", f"{number(own.rate)} / {number(peer.rate)} = {number(ratio)}x",
               verdict(ratio, wanted))


def verdict(ratio, wanted):
    return "" if wanted is None else "met" if ratio >= wanted else "missed"


def compare(args, data, truth):
    """Every peer on one table; one that fails says so in its line and the others go on."""
    found = {}
    for name in args.peers.split(","):
        start = time.time()
        try:
            peer = found[name] = PEERS[name](args, data)
            text = f"ESS {peer.ess:.0f}, {peer.rate:.4g} a second, {peer.to_goal:.3g} s to {GOAL_ESS}"
        except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
            found[name] = Failure(name, error)
            text = f"failed: {error}"
        say(f"  {data.rows} rows, {found[name].name}: {text} ({time.time() - start:.0f} s)")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser)
    parser.add_argument("--seconds", type=float, default=60,
                        help="limit of a run of our other samplers and of importance sampling; hmc has five times that "
                             "at a million rows [%(default)s]")
    parser.add_argument("--peers", default=",".join(PEERS), help="[%(default)s]")
    args = parser.parse_args()
    load, start = os.getloadavg()[0], time.time()
    prepare(args)
    head = [circumstances(args, load), "",
            f"`--seeds {args.seeds} --ess {args.ess:g} --seconds {args.seconds:g}`. Time is from file on disk (in the page "
            "cache) for the program, warm-up and sampling alone for RStan (R, compiling and data are free, and its time to "
            f"ESS {GOAL_ESS} has one warm-up, of its chains' average), `sbps laplace` and evaluations for importance "
            f"sampling. (extrapolated): the run stopped short of ESS {GOAL_ESS}."]
    parts, lines = [], []
    for rows in args.sizes:
        data = table(args, rows)
        truth = reference(args, data)
        found = compare(args, data, truth)
        parts += ["", f"N = {rows:,}; errors against {truth['how']} (error {max(truth['se'] / truth['sd']):.4f} sd):", "",
                  markdown(HEAD, [peer.line(truth) for peer in found.values()])]
        lines += goals(rows, found)
        tail = ["", markdown(["ratio", "goal", "found", ""], lines), "", f"({time.time() - start:.0f} s in all.)"]
        publish(args, "bench/peers.py", "\n".join(head + parts + tail))  # as far as we have come


if __name__ == "__main__":
    main()
