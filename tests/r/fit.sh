#!/usr/bin/env bash
# Fits from R: the draws and words of the command line, data frames as R has them, methods, errors.
. "$(dirname "$0")/common.sh"
install_package
Rscript --vanilla "$root/tests/r/fit_by_hand.R" "$SBPS_PROGRAM"
