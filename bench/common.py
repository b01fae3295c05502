"""What bench/scale.py and bench/peers.py share: tables, runs of the program, the reference that errors
are measured against, and the page that results go to.

Data of the paper's 7.1: d = 20, no intercept, prior normal(0,10). Everything runs on one core, which
`pin` chooses; children inherit it."""
import csv
import datetime
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time

import netCDF4
import numpy

from ess import smallest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.path.join(ROOT, "..", "shared", "reference")
MODEL = ["--model", "logistic", "--prior", "normal(0,10)"]
PRIOR_SD = 10.0
PATIENCE = 1800  # seconds until a run is given up
DIM = 20


def arguments(parser):
    parser.add_argument("--sizes", default="1e3,1e4,1e5,1e6", help="rows, separated by commas [%(default)s]")
    parser.add_argument("--seeds", type=int, default=3, help="runs of sbps a size; medians are shown [%(default)s]")
    parser.add_argument("--ess", type=float, default=10000, help="ESS that the program is asked for [%(default)s]")
    parser.add_argument("--reference-ess", type=float, default=100000, help="of the reference at 1e3 [%(default)s]")
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "sbps"))
    parser.add_argument("--data", default=os.path.join(ROOT, "build", "bench-data"),
                        help="folder of tables, references and compiled models, kept between runs")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)), help="the core [%(default)s]")
    parser.add_argument("--note", default="", help="what the reader should know, such as how busy the machine was")
    parser.add_argument("--write", action="store_true", help="put the table into bench/RESULTS.md")


def prepare(args):
    """One core for us and our children; sizes as integers."""
    os.sched_setaffinity(0, {args.cpu})
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    os.makedirs(args.data, exist_ok=True)
    args.sizes = [int(float(size)) for size in args.sizes.split(",")]
    args.program = os.path.abspath(args.program)


def say(text):
    print(text, flush=True)


# ---------------------------------------------------------------- tables

class Table:
    """A binary table that `sbps convert` wrote, mapped (docs/files.md has its bytes)."""

    def __init__(self, path):
        self.path = path
        head = numpy.fromfile(path, dtype="<u8", count=26)
        self.rows, self.dim, stride = (int(v) for v in head[3:6])
        begin, target = int(head[11]), int(head[13])
        self.x = numpy.memmap(path, "<f8", "r", begin, (self.rows, stride))[:, :self.dim]
        self.y = numpy.memmap(path, "<f8", "r", target, (self.rows,))


def table(args, rows):
    """The trusted data of that size where they are at hand, else simulated; made once."""
    path = os.path.join(args.data, f"logistic_{rows}.tbl")
    if os.path.exists(path):
        return Table(path)
    text = next((p for end in (".csv", ".csv.gz")
                 if os.path.exists(p := os.path.join(SHARED, f"logistic_{rows}{end}"))), None)
    made = None if text else os.path.join(args.data, f"logistic_{rows}.csv")
    if made:
        say(f"simulating {rows} rows")
        subprocess.run([args.program, "simulate", "logistic", "--rows", str(rows), "--dim", str(DIM), "--seed", "1",
                        "-o", made], check=True, stderr=subprocess.DEVNULL)
    subprocess.run([args.program, "convert", text or made, path, "--target", "y", "--no-intercept"], check=True,
                   stderr=subprocess.DEVNULL)
    if made:
        os.remove(made)
    return Table(path)


# ---------------------------------------------------------------- runs

class Run:
    """One `sbps sample`: what it says of itself, its draws, its time from start to end."""

    def __init__(self, args, data, sampler, seed, ess, *options):
        draws = max(1000, int(ess))  # at least, a chain: with four of them four to eight an effective sample
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.nc")
            command = [args.program, "sample", data.path, *MODEL, "--sampler", sampler, "--seed", str(seed), "--threads",
                       "1", "--ess", str(ess), "--draws", str(draws), "--progress", "off", "-o", path, *options]
            start = time.perf_counter()
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
            except subprocess.TimeoutExpired as late:
                raise RuntimeError(f"`{sampler}` given up after {PATIENCE} s") from late
            self.wall = time.perf_counter() - start
            if done.returncode:
                raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.strip()}")
            with netCDF4.Dataset(path) as file:
                self.info = {name: file.getncattr(name) for name in file.ncattrs()}
                self.draws = numpy.array(file["posterior/w"][:])
                names = list(file["path/coef"][:])
                self.mean, self.sd, self.mcse, self.bias = (
                    numpy.array(file["path"][name][:]) for name in ("mean", "sd", "mcse", "bias"))
        order = numpy.argsort([int(name[1:]) for name in names])  # x1, x2, ...
        self.draws, self.mean, self.sd, self.mcse, self.bias = (
            v[..., order] for v in (self.draws, self.mean, self.sd, self.mcse, self.bias))
        self.ess = smallest(self.draws)
        self.path_ess = self.info["min_ess"]
        self.sampling = self.info["seconds_sampling"]
        self.before = self.wall - self.sampling  # opening, mode, tuning, collecting, writing
        self.tuning = self.info["seconds_setup"] + self.info["seconds_warmup"]
        self.rows = self.info["rows_touched"]


def time_to(goal, before, sampling, ess):
    """Seconds to an ESS of `goal` by a run that had `ess` of it after `sampling`."""
    return before + sampling * goal / ess


# ---------------------------------------------------------------- Laplace and importance sampling

def laplace(args, data):
    """Mode and covariance there, and the seconds it took to find them."""
    start = time.perf_counter()
    text = subprocess.run([args.program, "laplace", data.path, *MODEL, "--csv"], check=True, capture_output=True,
                          text=True).stdout
    took = time.perf_counter() - start
    lines = list(csv.reader(text.splitlines()))
    body = sorted(((row[0], row[1:]) for row in lines[1:]), key=lambda row: int(row[0][1:]))
    names = [f"cov:{name}" for name, _ in body]
    columns = [lines[0].index(name) - 1 for name in names]
    mean = numpy.array([float(values[0]) for _, values in body])
    cov = numpy.array([[float(values[c]) for c in columns] for _, values in body])
    return mean, cov, took


class Posterior:
    """log posterior of many w at once, up to a constant. sum log(1 + e^-|t|) is taken as the log of
    products of up to 512 factors, each between 1 and 2, so that a row costs one exp and no log."""
    ROWS, BLOCK = 512, 128  # numbers at a time: they stay in the cache

    def __init__(self, data):
        self.x = data.x
        self.xy = numpy.zeros(data.dim)
        for i in range(0, data.rows, 1 << 16):
            self.xy += data.x[i:i + (1 << 16)].T @ data.y[i:i + (1 << 16)]

    def __call__(self, w):
        """Of w[draw, coordinate]."""
        return numpy.concatenate([self.block(w[i:i + self.BLOCK]) for i in range(0, len(w), self.BLOCK)])

    def block(self, w):
        value = w @ self.xy - (w**2).sum(axis=1) / (2 * PRIOR_SD**2)
        ones = numpy.ones(self.ROWS)
        room, spare = numpy.empty((2, self.ROWS, len(w)))
        columns = numpy.ascontiguousarray(w.T)
        for i in range(0, len(self.x), self.ROWS):
            x = self.x[i:i + self.ROWS]
            t, u = room[:len(x)], spare[:len(x)]
            numpy.matmul(x, columns, out=t)
            numpy.maximum(t, 0, out=u)
            value -= ones[:len(x)] @ u
            numpy.abs(t, out=t)
            numpy.negative(t, out=t)
            numpy.exp(t, out=t)
            t += 1
            value -= numpy.log(t.prod(axis=0))
        return value


def weights(log_posterior, z):
    """Normalised importance weights of standard normal z; sum to 1."""
    log_w = log_posterior + (z**2).sum(axis=1) / 2
    w = numpy.exp(log_w - log_w.max())
    return w / w.sum()


# ---------------------------------------------------------------- what errors are measured against

def by_importance(args, data):
    """Posterior by importance sampling from the Laplace approximation with antithetic pairs: what is odd
    in w - mode cancels but for the weights, so the means are far better known than 1/sqrt(ESS)."""
    pairs = int(min(100000, max(2000, 2e9 / data.rows)))
    mode, cov, _ = laplace(args, data)
    root = numpy.linalg.cholesky(cov)
    z = numpy.random.default_rng(7).standard_normal((pairs, data.dim))
    value = Posterior(data)
    w = numpy.concatenate([value(mode + s * z @ root.T) for s in (1, -1)])
    w = weights(w, numpy.concatenate([z, -z]))
    x = numpy.concatenate([z @ root.T, -z @ root.T])
    mean = w @ x
    sd = numpy.sqrt(numpy.diag(cov) + (w - 1 / len(w)) @ x**2 - mean**2)  # the even part cancels likewise
    parts = (w[:, None] * (x - mean)).reshape(2, pairs, -1).sum(axis=0)  # independent from pair to pair
    se = numpy.sqrt((parts**2).sum(axis=0))
    return {"mean": mode + mean, "sd": sd, "se": se,
            "how": f"Laplace with importance sampling, {pairs} antithetic pairs, ESS {1 / (w**2).sum():.0f}"}


def by_hmc(args, data):
    run = Run(args, data, "hmc", 99, args.reference_ess)
    flat = run.draws.reshape(-1, data.dim)
    return {"mean": run.mean, "sd": flat.std(axis=0), "se": run.mcse,
            "how": f"own hmc, ESS {run.ess:.0f}"}


def against_trusted(reference, rows):
    """The reference against the trusted posterior of that size: worst z, or None where there is none."""
    path = os.path.join(SHARED, f"logistic_{rows}_posterior.csv")
    if not os.path.exists(path):
        return None
    with open(path, newline="") as file:
        trusted = sorted(csv.DictReader(file), key=lambda row: int(row["name"][1:]))
    mean, se = (numpy.array([float(row[name]) for row in trusted]) for name in ("mean", "mcse_mean"))
    return float(numpy.max(numpy.abs(reference["mean"] - mean) / numpy.hypot(se, reference["se"])))


def reference(args, data):
    """Posterior mean and sd with their errors; kept beside the tables. Importance sampling has too uneven
    weights at a thousand rows, so `hmc` is taken below ten thousand."""
    how = by_hmc if data.rows < 10000 else by_importance
    goal = f"_{args.reference_ess:g}" if how is by_hmc else ""
    path = os.path.join(args.data, f"reference_{data.rows}{goal}.json")
    if not os.path.exists(path):
        say(f"reference posterior of {data.rows} rows")
        found = how(args, data)
        with open(path, "w") as file:
            json.dump({k: v if isinstance(v, str) else list(v) for k, v in found.items()}, file)
    with open(path) as file:
        found = json.load(file)
    result = {k: v if isinstance(v, str) else numpy.array(v) for k, v in found.items()}
    z = against_trusted(result, data.rows)
    say(f"reference of {data.rows} rows: {result['how']}, error of a mean {max(result['se'] / result['sd']):.4f} sd"
        + (f", worst z against the trusted posterior {z:.1f}" if z is not None else ""))
    return result


# ---------------------------------------------------------------- the page

def number(value, digits=3):
    if value is None or not numpy.isfinite(value):
        return "-"
    size = abs(value)
    if size >= 10**digits:
        return f"{float(f'{value:.{digits}g}'):,.0f}"
    return f"{value:.{digits}g}"


def markdown(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def wrapped(text, columns=100):
    """Markdown whose lines are paragraphs, list items or rows of tables, wrapped except for the rows."""
    return "\n".join(line if line.startswith("|") else
                     textwrap.fill(line, columns, subsequent_indent="  " * line.startswith("- "),
                                   break_long_words=False, break_on_hyphens=False)
                     for line in text.split("\n"))


def command(*words):
    try:
        return subprocess.run(words, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        return ""


def circumstances(args, load):
    """Machine, date and commit, in a sentence; `load` is that of the machine before we began."""
    with open("/proc/cpuinfo") as file:
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) / 2**20
    changed = " with changes" if command("git", "status", "--porcelain", "--", "src", "cli", "include") else ""
    commit = command("git", "rev-parse", "--short", "HEAD")
    date = datetime.date.today().isoformat()
    return (f"{date}, commit {commit}{changed}; {names[0] if names else 'unknown processor'}, {len(names)} cores, "
            f"{memory:.0f} GB; one core used, load {load:.1f} before{'; ' + args.note if args.note else ''}.")


def publish(args, name, text):
    """Prints it, and with --write puts it between the page's markers of that name."""
    say("\n" + text)
    if not args.write:
        return
    page = os.path.join(ROOT, "bench", "RESULTS.md")
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    with open(page) as file:
        old = file.read()
    if begin not in old or end not in old:
        sys.exit(f"{page} has no markers {begin} and {end}")
    head, tail = old[:old.index(begin) + len(begin)], old[old.index(end):]
    with open(page + ".new", "w") as file:
        file.write(f"{head}\n{text}\n{tail}")
    os.replace(page + ".new", page)
