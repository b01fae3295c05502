#!/usr/bin/python3
"""The same model, table and seed by C, by the command line and by Python: the same bytes of draws, and the same summary."""
import subprocess
import sys

import numpy
from common import Case, example, main, program, sbps, write_csv

BY_C = sys.argv.pop()  # the program tests/python/by_c.c

MODELS = (("y ~ x + z + g", "bernoulli"), ("x ~ z * g", "gaussian"),
          ("n ~ poly(x, 2) + g", "poisson"))


class SameBytes(Case):
    def test_of_all_three(self):
        columns = example(600)
        columns["n"] = (columns["z"] + 3) % 4
        table, seed, ess = self.path("table.csv"), "7", "100"
        write_csv(table, columns)
        for formula, family in MODELS:
            with self.subTest(formula=formula):
                done = subprocess.run([BY_C, table, formula, family, seed, ess, self.path("draws")], check=True,
                                      capture_output=True, text=True)
                program("sample", table, formula, "--family", family, "--seed", seed, "--ess", ess, "--progress", "off",
                        "-o", self.path("run.nc"))
                by_file = sbps.read(self.path("run.nc"))
                fit = sbps.fit(formula, columns, family=family, seed=int(seed), ess=float(ess))
                with open(self.path("draws"), "rb") as file:
                    by_c = file.read()
                self.assertGreater(len(by_c), 1000)
                self.assertEqual(by_c, by_file.draws.tobytes())
                self.assertEqual(by_c, fit.draws.tobytes())
                self.assertEqual(done.stdout, program("summary", self.path("run.nc"), "--csv"))
                fit.to_netcdf(self.path("python.nc"))
                self.assertEqual(done.stdout, program("summary", self.path("python.nc"), "--csv"))
                self.assertEqual(repr(fit).splitlines()[-1], repr(by_file).splitlines()[-1])
                self.assertTrue(numpy.isfinite(fit.draws).all())


if __name__ == "__main__":
    main()
