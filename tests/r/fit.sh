#!/usr/bin/env bash
# Fits from R: the draws and messages of the command line, data frames, methods, errors.
. "$(dirname "$0")/common.sh"
install_package
Rscript --vanilla "$root/tests/r/fit_by_hand.R" "$SBPS_PROGRAM"
