#!/usr/bin/env bash
# Tables as R's packages have them, written by write.csv, with text, text targets and missing cells: read without
# a word of help, and the mode under flat priors is what glm and lm find.
. "$(dirname "$0")/common.sh"
if ! command -v Rscript >/dev/null; then
    echo 'skipped: there is no Rscript'
    exit 77
fi
Rscript --vanilla "$root/tests/cli/tables_by_glm.R" "$sbps"
