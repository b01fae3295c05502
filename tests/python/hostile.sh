#!/usr/bin/env bash
# Callers who hand over what they should not, and rows in memory, with the address sanitizer looking on; leaks are Python's own business.
set -euo pipefail
runtime=$(${CC:-cc} -print-file-name=libasan.so)
[ -e "$runtime" ] || { echo "libasan.so is not there"; exit 77; }
cd "$SBPS_SOURCE_DIR/tests/python"
export LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=0
/usr/bin/python3 callers.py Sentences
/usr/bin/python3 fit.py RowsInMemory.test_of_texts_and_truths RowsInMemory.test_of_many_rows_in_batches
