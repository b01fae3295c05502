"""What an experiment works with: settings of its level, runs of the program side by side, tables,
facts and claims as CSV files."""
import concurrent.futures
import csv
import os
import queue
import subprocess
import threading

import numpy

from lab.runs import Run

HERE = os.path.dirname(os.path.abspath(__file__))
LEVELS = ("smoke", "quick", "full")


class Failure(Exception):
    """A sentence for the user."""


class Lab:
    def __init__(self, name, level, out, work, program, jobs, data):
        self.name, self.level, self.out, self.work = name, level, out, work
        self.program, self.jobs = program, jobs
        self.shared_data = data  # folder of prepared data sets, kept between runs
        self.facts, self.claims = [], []
        # calls that the threads of `map` leave to the main thread
        self.requests = queue.SimpleQueue()
        os.makedirs(out, exist_ok=True)
        os.makedirs(work, exist_ok=True)

    # ---- settings

    def pick(self, smoke, quick, full):
        """The value for the level of this run."""
        return dict(zip(LEVELS, (smoke, quick, full)))[self.level]

    def seeds(self, smoke=1, quick=3, full=5):
        """Seeds 1, 2, ...; verdicts need at least five."""
        return list(range(1, self.pick(smoke, quick, full) + 1))

    # ---- work

    def map(self, function, *items):
        """As the builtin, `jobs` at a time: what takes time is the program, not Python."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            futures = [pool.submit(function, *item) for item in zip(*items)]
            for future in futures:
                future.add_done_callback(lambda _: self.requests.put(None))
            left = len(futures)
            while left:
                job = self.requests.get()
                left -= job is None
                if job:
                    job()
            return [future.result() for future in futures]

    def on_main(self, function, *arguments):
        """Calls it on the main thread, whichever this is: netCDF and HDF5 are not safe with
        several."""
        if threading.current_thread() is threading.main_thread():
            return function(*arguments)
        answer = concurrent.futures.Future()

        def job():
            try:
                answer.set_result(function(*arguments))
            except Exception as problem:
                answer.set_exception(problem)
        self.requests.put(job)
        return answer.result()

    def call(self, *words):
        """Runs the program; its standard output. A Failure when it fails."""
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True)
        if done.returncode:
            raise Failure(f"sbps {' '.join(map(str, words))}: {done.stderr.strip()}")
        return done.stdout

    def sample(self, data, *options, skeleton=False, trace=False, limit=None):
        """One run on one thread; `data` is a file, or None for a density without a table. See Run.
        With a `limit` a run that takes more seconds of processor time is a Failure: some segments
        have no end."""
        return Run(self, data, [str(word) for word in options], skeleton, trace, limit)

    def file(self, name):
        return os.path.join(self.work, name)

    # ---- results

    def path(self, table):
        return os.path.join(self.out, f"{table}.csv")

    def table(self, name, head, rows):
        """Writes a tidy CSV: `head` names the columns, a row is an observation."""
        with open(self.path(name), "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(head)
            for row in rows:
                writer.writerow([f"{cell:.7g}" if isinstance(cell, (float, numpy.floating))
                                 else cell for cell in row])

    def read(self, name):
        """The rows of a table as dictionaries; numbers as floats."""
        with open(self.path(name), newline="") as file:
            return [{key: number(cell) for key, cell in row.items()}
                    for row in csv.DictReader(file)]

    def fact(self, key, value, error=None, unit=""):
        """A number that page.md may name as {key}: shown with its standard error, {key.value}
        without."""
        known = error is not None and numpy.isfinite(error)  # one seed has no standard error
        self.facts.append((key, value, error if known else "", unit))

    def condition(self, key, true):
        """What page.md may ask by {if:key} ... {else} ... {end}: a sentence that states a result
        stands or falls with it."""
        self.facts.append((key, "yes" if true else "no", "", "condition"))

    def claim(self, key, text, holds, found, why="", partly=False, unsure=False, numbers=""):
        """A claim of the paper and its verdict, which `holds`, `partly` and `unsure` decide from
        the results.

        text      the claim in at most 30 words
        found     the result that decides, in at most 30 words
        why       the reason for a verdict that is not obvious: a sentence or two
        unsure    the result is within two standard errors of the limit: the verdict is
            "inconclusive"
        numbers   all other results: paragraphs or a table in Markdown, folded on the page"""
        verdict = ("inconclusive" if unsure else "holds" if holds else "holds in part" if partly
                   else "does not hold")
        self.claims.append((key, text, verdict, found, why, numbers))

    def finish(self, minutes):
        """Writes facts and claims; `minutes` of processor time were used."""
        self.fact("level", self.level)
        self.fact("minutes", minutes)
        for key, words in (("commit", ["git", "-C", HERE, "rev-parse", "--short",
                                       "HEAD"]), ("date", ["date", "+%F"])):
            self.fact(key, subprocess.run(words, capture_output=True, text=True).stdout.strip()
                      or "unknown")
        self.table("facts", ["key", "value", "error", "unit"], self.facts)
        self.table("claims", ["key", "claim", "verdict", "found", "why", "numbers"], self.claims)


def number(cell):
    try:
        return float(cell)
    except ValueError:
        return cell
