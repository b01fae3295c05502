#!/usr/bin/env bash
# R CMD check has no errors and no warnings.
. "$(dirname "$0")/common.sh"
Rscript --vanilla -e 'library(codetools)' >/dev/null 2>&1 || { echo "R's codetools are not there: R CMD check is not run"; exit 77; }
R CMD build sbps >build.log 2>&1 || { cat build.log; exit 1; }
_R_CHECK_FORCE_SUGGESTS_=false R CMD check --no-manual sbps_*.tar.gz >check.log 2>&1 || { cat check.log; exit 1; }
if grep -E '^Status:.*(ERROR|WARNING)' check.log; then cat check.log; exit 1; fi
tail -n 2 check.log
