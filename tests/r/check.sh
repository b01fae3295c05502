#!/usr/bin/env bash
# R CMD check --as-cran has no errors and no warnings: it runs every example of the Rd pages, and the vignette.
. "$(dirname "$0")/common.sh"
Rscript --vanilla -e 'library(codetools)' >/dev/null 2>&1 || { echo "R's codetools are not there: R CMD check is not run"; exit 77; }
build=() check=()
if ! Rscript --vanilla -e 'library(knitr)' >/dev/null 2>&1; then
    echo "knitr is not there: the vignette is left out"
    build=(--no-build-vignettes) check=(--ignore-vignettes)
fi
R CMD build "${build[@]}" sbps >build.log 2>&1 || { cat build.log; exit 1; }
# What would ask the network, a clock elsewhere, or programs that may not be there (qpdf: there are no PDFs; checkbashisms) is left aside.
export _R_CHECK_FORCE_SUGGESTS_=false _R_CHECK_CRAN_INCOMING_=false _R_CHECK_SYSTEM_CLOCK_=false _R_CHECK_FUTURE_FILE_TIMESTAMPS_=false
command -v qpdf >/dev/null || export _R_CHECK_DOC_SIZES_=false
command -v checkbashisms >/dev/null || export _R_CHECK_BASHISMS_=false
R CMD check --as-cran --no-manual "${check[@]}" sbps_*.tar.gz >check.log 2>&1 || { cat check.log sbps.Rcheck/00install.out; exit 1; }
if grep -E '^Status:.*(ERROR|WARNING)' check.log; then cat check.log; exit 1; fi
tail -n 2 check.log
