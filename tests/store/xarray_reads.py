"""Opens a run file as ArviZ would and compares it with the CSV of the same draws.

Usage: xarray_reads.py RUN.nc DRAWS.csv CHAINS DRAWS DIM; fails by an assertion."""
import csv
import sys

import numpy as np
import xarray as xr

path, table = sys.argv[1:3]
chains, draws, dim = map(int, sys.argv[3:])

with open(table, newline="", encoding="utf-8") as stream:
    rows = list(csv.reader(stream))
names = rows[0][2:]
w = np.array([[float(x) for x in row[2:]] for row in rows[1:]]).reshape(chains, draws, dim)

posterior = xr.open_dataset(path, group="posterior")
assert posterior["w"].dims == ("chain", "draw", "coef"), posterior
assert posterior["w"].dtype == np.float64
assert list(posterior.coords) == ["chain", "draw", "coef"], posterior
assert list(posterior["coef"].values) == names, posterior["coef"]
assert posterior["chain"].dtype == np.int64 and list(posterior["chain"].values) == list(range(chains))
assert list(posterior["draw"].values) == list(range(draws))
assert np.array_equal(posterior["w"].values, w, equal_nan=True)

root = xr.open_dataset(path)
for attrs in (root.attrs, posterior.attrs):
    assert attrs["inference_library"] == "sbps"
    assert attrs["inference_library_version"].count(".") == 2
    assert attrs["created_at"] == "created_at"
    assert attrs["seed"] == 7
    assert attrs["option_batch_size"] == "auto"
    assert attrs["option_features"] == ""
    assert attrs["paper"] == 1 and attrs["interrupted"] == 0
    assert "metric" not in attrs and np.isnan(attrs["bias_estimate"])

stats = xr.open_dataset(path, group="sample_stats")
for name in ("proposals", "bounces", "missing", "k", "potential", "potential_sd"):
    assert stats[name].dims == ("chain", "draw") and stats[name].shape == (chains, draws)
    assert stats[name].attrs["long_name"]

moments = xr.open_dataset(path, group="path")
for name in ("mean", "sd", "mcse", "bias", "ess_mean", "ess_square"):
    assert moments[name].dims == ("coef",) and moments[name].shape == (dim,)
    assert moments[name].attrs["units"]
assert list(moments["coef"].values) == names
