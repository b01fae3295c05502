#!/usr/bin/env bash
# Tables of R's packages, written by write.csv, with text, text targets and missing cells: read without further
# options, and the mode under flat priors is that of glm and lm.
. "$(dirname "$0")/common.sh"
if ! command -v Rscript >/dev/null; then
    echo 'skipped: there is no Rscript'
    exit 77
fi
Rscript --vanilla "$root/tests/cli/tables_by_glm.R" "$sbps"
