#!/usr/bin/env bash
# Comparison with rstanarm: models of its vignettes and help pages, against stored results of long runs.
. "$(dirname "$0")/common.sh"
install_package
Rscript --vanilla "$root/tests/r/side/compare.R" "$root/tests/r"
