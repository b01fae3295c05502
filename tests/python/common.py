"""Shared by the tests of the Python package: paths of the package and the library, and a table."""
import csv
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ.get("SBPS_SOURCE_DIR") or os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("SBPS_BUILD_DIR") or os.path.join(ROOT, "build")
PROGRAM = os.environ.get("SBPS_PROGRAM") or os.path.join(BUILD, "sbps")
PACKAGE = os.path.join(ROOT, "bindings", "python")
LIBRARY = os.path.join(BUILD, "libsbps.so")
os.environ["SBPS_LIBRARY"] = LIBRARY
sys.path.insert(0, PACKAGE)

try:
    import numpy
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

import sbps  # noqa: E402

FORMULA = "y ~ x + z + g"
OPTIONS = {"family": "bernoulli", "seed": 3, "ess": 200}
FLAGS = ["--family", "bernoulli", "--seed", "3", "--ess", "200", "--progress", "off"]


def example(rows=600):
    """A column of each kind: doubles, whole numbers, strings."""
    random = numpy.random.default_rng(1)
    x = random.normal(size=rows)
    z = random.integers(-3, 4, rows)
    g = numpy.array(["north", "south", "west"], dtype=object)[random.integers(0, 3, rows)]
    y = (random.random(rows) < 1 / (1 + numpy.exp(-x + 0.3 * z))).astype("int64")
    return {"y": y, "x": x, "z": z, "g": g}


def write_csv(path, columns):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*[values.tolist() for values in columns.values()]))


def program(*arguments, fails=False):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=600)
    if (done.returncode != 0) != fails:
        raise AssertionError(f"{arguments}: {done.stderr}")
    return done.stderr if fails else done.stdout


class Case(unittest.TestCase):
    """Tests in a folder of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def assert_same_draws(self, one, other):
        self.assertEqual(one.names, other.names)
        self.assertEqual(one.draws.tobytes(), other.draws.tobytes())


def main(**more):
    unittest.main(verbosity=1, **more)
