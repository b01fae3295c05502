#!/usr/bin/python3
"""Peak memory of a fit to ROWS x 5 doubles by kind of table, beyond the table itself.

    memory_of_tables.py [ROWS]      prints a table; docs/memory.md has that of 1e7 rows

Each kind runs in a process of its own. Memory that the process maps but does not own, such as files, counts, too."""
import os
import subprocess
import sys

KINDS = ("dict", "pandas", "polars", "pyarrow", "numpy", "pandas given", "polars given", "pyarrow given", "numpy given")
NAMES = ["y", "a", "b", "c", "d"]


def status(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field)) / 1024


def table_of(kind, rows):
    import numpy

    random = numpy.random.default_rng(1)
    columns = {name: random.standard_normal(rows) for name in NAMES}
    columns["y"] += columns["a"]
    if kind == "dict":
        return columns
    if kind == "numpy":
        return numpy.column_stack([columns[name] for name in NAMES])
    if kind == "pandas":
        import pandas

        return pandas.DataFrame(columns)
    if kind == "polars":
        import polars

        return polars.DataFrame(columns)
    import pyarrow

    return pyarrow.table(columns)


def measure(kind, rows):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__))))
    from common import sbps

    kind, _, storage = kind.partition(" ")
    data = table_of(kind, rows)
    more = {"names": NAMES} if kind == "numpy" else {}
    if storage:
        more["storage"] = storage
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak begins here
    before = status("VmRSS")
    sbps.fit("y ~ a + b + c + d", data, family="gaussian", seed=1, ess=50, chains=1, draws=50, progress=False, threads=1, **more)
    print(f"{status('VmHWM') - before:.0f}")


if __name__ == "__main__":
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7
    if len(sys.argv) > 2:
        measure(sys.argv[2], rows)
        sys.exit(0)
    print(f"| table of {rows:.0e} x 5 doubles ({rows * 40 / 2**20:.0f} MiB) | more memory at the peak, MiB |\n|---|---|")
    for kind in KINDS:
        done = subprocess.run([sys.executable, __file__, str(rows), kind], capture_output=True, text=True)
        lines = (done.stderr if done.returncode else done.stdout).strip().splitlines() or ["no output"]
        print(f"| {kind.replace(' given', ', storage=given')} | {lines[-1]} |", flush=True)
