#!/usr/bin/env bash
# Columns that R computes: on new rows as by lm; lengths; names that columns share with parameters; the option output.
. "$(dirname "$0")/common.sh"
install_package
Rscript --vanilla "$root/tests/r/columns_by_hand.R" "$root/tests/r" "$SBPS_PROGRAM"
