#!/usr/bin/env bash
# Side by side with rstanarm: models of its vignettes and help pages, against kept figures of long runs.
. "$(dirname "$0")/common.sh"
install_package
Rscript --vanilla "$root/tests/r/side/compare.R" "$root/tests/r"
