"""Reads two chains' Stan CSV files with ArviZ; fails when draws or names are not the test's."""
import sys

import arviz
import numpy as np

data = arviz.from_cmdstan(sys.argv[1:])
w = data.posterior["a_b"]
assert w.dims == ("chain", "draw") and w.shape == (2, 25), w
assert np.allclose(w.values[1], (225 + 9 * np.arange(25) + 1) / 7, rtol=1e-15)
assert np.array_equal(data.sample_stats["lp"].values[0], -np.arange(25.0))
