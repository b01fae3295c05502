#!/usr/bin/env bash
# The tests of the Python package with current packages from pip, which Debian does not have: ArviZ, scikit-learn, pandas,
# polars, pyarrow, DuckDB, and mypy --strict.
#   peers.sh [BUILD]   makes BUILD/peers (Python's own venv) where it is not there, then runs the tests in it
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "${1:-$root/build}")
python=$build/peers/bin/python
[ -f "$build/libsbps.so" ] || { echo "peers.sh: $build/libsbps.so is missing: run make first" >&2; exit 2; }
if [ ! -f "$build/peers/complete" ]; then
    "${PYTHON:-python3}" -m venv "$build/peers"
    "$python" -m pip install --quiet arviz scikit-learn pandas polars pyarrow duckdb matplotlib netCDF4 scipy mypy
    touch "$build/peers/complete"
fi
"$python" -m pip list 2>/dev/null | grep -iE '^(arviz|scikit-learn|pandas|polars|pyarrow|duckdb|mypy|xarray) ' || true

export SBPS_BUILD_DIR=$build
cd "$root/bindings/python"
"$python" -m mypy --cache-dir "$build/peers/mypy" sbps
for test in arviz_fits conventions sklearn_estimators tables_in_place docs fit; do
    echo "python/$test"
    "$python" -W ignore "$root/tests/python/$test.py"
done
