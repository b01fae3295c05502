#!/usr/bin/env bash
# Rows of data frames, and methods, against R's own results.
. "$(dirname "$0")/common.sh"
install_package
Rscript --vanilla "$root/tests/r/rows_by_hand.R" "$root/tests/r"
Rscript --vanilla "$root/tests/r/methods_by_hand.R" "$root/tests/r"
