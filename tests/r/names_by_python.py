"""names_by_python.py FORMULA FAMILY: fits the table in memory; writes the run and the summary."""
import os
import sys

root, build = os.environ["SBPS_SOURCE_DIR"], os.environ["SBPS_BUILD_DIR"]
os.environ["SBPS_LIBRARY"] = os.path.join(build, "libsbps.so")
sys.path.insert(0, os.path.join(root, "bindings", "python"))
import pandas  # noqa: E402
import sbps  # noqa: E402

table = pandas.read_csv("pandas.csv")
assert table["flag"].dtype == bool
fit = sbps.fit(sys.argv[1], table, family=sys.argv[2], seed=5, ess=100, ranef="all")
fit.to_netcdf("python.nc")
fit.summary(ranef=True).rename_axis("name").to_csv("python.csv")
