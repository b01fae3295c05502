"""Runs of the program: their attributes, draws and paths."""
import os
import signal
import subprocess
import tempfile

import netCDF4
import numpy


class Run:
    """One `sbps sample` on one thread.

    info     attributes of the run file: counts, times, options
    names    of the parameters
    w        draws [chain, draw, parameter], at equal times
    rows     rows touched up to each draw [chain, draw]
    mean, sd, mcse, bias   per parameter, from the path
    cpu      seconds of processor time of the whole process, set-up included; other work on the
        machine hardly changes it
    paths    one Path a chain, if a skeleton was requested
    trace    the observations (see docs/files.md) as a list of dictionaries, if requested"""

    def __init__(self, lab, data, options, skeleton, trace, limit):
        with tempfile.TemporaryDirectory(dir=lab.work) as folder:
            file = os.path.join(folder, "run.nc")
            words = [lab.program, "sample", *([data] if data else []), *options, "--threads", "1",
                     "--progress", "off", "-o", file]
            words += ["--skeleton", os.path.join(folder, "path.csv")] if skeleton else []
            words += ["--trace", os.path.join(folder, "trace.csv")] if trace else []
            bound = ["prlimit", f"--cpu={limit}"] if limit else []
            code, self.cpu, complaint = follow([*bound, *words], os.path.join(folder, "stderr"))
            if code == -signal.SIGXCPU or code == -signal.SIGKILL and limit:
                complaint = f"no end after {limit} seconds of processor time"
            if code:
                from lab.bench import Failure
                raise Failure(f"sbps {' '.join(words[1:])}: {complaint}")
            lab.on_main(self.read, file)
            self.paths = read_skeleton(os.path.join(folder, "path.csv"),
                                       len(self.names)) if skeleton else None
            self.trace = read_trace(os.path.join(folder, "trace.csv")) if trace else None

    def read(self, path):
        with netCDF4.Dataset(path) as file:
            self.info = {name: file.getncattr(name) for name in file.ncattrs()}
            self.w = numpy.array(file["posterior/w"][:])
            self.names = [str(name) for name in file["path/coef"][:]]
            self.mean, self.sd, self.mcse, self.bias = (
                numpy.array(file["path"][name][:]) for name in ("mean", "sd", "mcse", "bias"))
            proposals = numpy.array(file["sample_stats/proposals"][:], float)
        per_proposal = self.info["rows_touched"] / max(self.info["proposals"], 1)
        self.rows = numpy.cumsum(proposals, axis=1) * per_proposal


def follow(words, log):
    """Runs a command: its exit status, seconds of processor time and standard error."""
    with open(log, "w") as file:
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=file)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    with open(log) as file:
        return process.returncode, usage.ru_utime + usage.ru_stime, file.read().strip()


class Path:
    """The path of one chain: at `time` it is at `w` with velocity `u` after touching `rows`."""

    def __init__(self, time, rows, bounce, w, u):
        self.time, self.rows, self.bounce, self.w, self.u = time, rows, bounce, w, u

    def at(self, times):
        """Positions [time, parameter]."""
        i = numpy.clip(numpy.searchsorted(self.time, times, side="right") - 1, 0,
                       len(self.time) - 1)
        return self.w[i] + (times - self.time[i])[:, None] * self.u[i]

    def at_rows(self, rows):
        """Positions at these numbers of evaluated rows."""
        return self.at(numpy.interp(rows, self.rows, self.time))

    def uniform(self, count, after=0.0):
        """`count` positions at equal times, from the time when `after` rows had been touched to the
        end."""
        begin = numpy.interp(after, self.rows, self.time)
        return self.at(numpy.linspace(begin, self.time[-1], count, endpoint=False))

    def until(self, rows):
        """The part of the path that the first `rows` rows gave."""
        keep = max(2, int(numpy.searchsorted(self.rows, rows, side="right")))
        return Path(*(part[:keep] for part in (self.time, self.rows, self.bounce, self.w, self.u)))


def read_skeleton(path, dim):
    with open(path) as file:
        events = numpy.array([line.split(",", 3)[2] for line in file][1:])
    numbers = numpy.loadtxt(path, delimiter=",", skiprows=1, ndmin=2,
                            usecols=[0, 1, *range(3, 4 + 2 * dim)])
    paths = []
    for chain in range(int(numbers[-1, 0]) + 1 if len(numbers) else 0):
        mine = numbers[:, 0] == chain
        n = numbers[mine]
        paths.append(Path(n[:, 1], n[:, 2], events[mine] == "bounce", n[:, 3:3 + dim],
                          n[:, 3 + dim:]))
    return paths


def read_trace(path):
    with open(path) as file:
        head = file.readline().strip().split(",")
        rows = [dict(zip(head, line.strip().split(","))) for line in file]
    return [{key: cell if key == "event" else float(cell) if cell else numpy.nan
             for key, cell in row.items()} for row in rows]
