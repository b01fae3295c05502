#!/usr/bin/env bash
# Invalid arguments, and models as functions of R.
. "$(dirname "$0")/common.sh"
install_package
Rscript --vanilla "$root/tests/r/callers_by_hand.R" "$root/tests/r"
