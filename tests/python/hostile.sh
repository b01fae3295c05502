#!/usr/bin/env bash
# Invalid arguments and rows in memory under the address sanitizer. Leaks are not checked: Python has some of its own.
set -euo pipefail
runtime=$(${CC:-cc} -print-file-name=libasan.so)
[ -e "$runtime" ] || { echo "libasan.so is not there"; exit 77; }
cd "$SBPS_SOURCE_DIR/tests/python"
export LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=0
/usr/bin/python3 callers.py Messages
/usr/bin/python3 fit.py RowsInMemory.test_of_strings_and_booleans RowsInMemory.test_of_many_rows_in_batches
