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
# No network: the package index is an empty one in this folder, also where a suggested package is not
# installed, and the check requests no time from a server.
mkdir -p index/src/contrib index/web/packages
: >index/src/contrib/PACKAGES
Rscript --vanilla -e 'saveRDS(t(c(Package = "none", Version = "0", Maintainer = "none", Depends = NA, Imports = NA, LinkingTo = NA, Suggests = NA, Enhances = NA, License = "none")), "index/web/packages/packages.rds")'
export _R_CHECK_XREFS_REPOSITORIES_=file://$PWD/index R_CRAN_WEB=file://$PWD/index R_CRAN_SRC=file://$PWD/index
export _R_CHECK_FORCE_SUGGESTS_=false _R_CHECK_CRAN_INCOMING_=false _R_CHECK_SYSTEM_CLOCK_=false _R_CHECK_FUTURE_FILE_TIMESTAMPS_=false
R CMD check --as-cran --no-manual "${check[@]}" sbps_*.tar.gz >check.log 2>&1 || { cat check.log sbps.Rcheck/00install.out; exit 1; }
# Warnings, except those about missing programs of the check.
awk '/(^| )(WARNING|ERROR)$/ { warning = $0; next } warning { if (!/(checkbashisms.* script|qpdf.*is needed)/) print warning, $0; warning = "" }' check.log >warnings.txt
if [ -s warnings.txt ]; then cat check.log warnings.txt; exit 1; fi
tail -n 5 check.log
