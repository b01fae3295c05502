#!/usr/bin/env bash
# Scripts of users of rstanarm, with the name of the package changed.
. "$(dirname "$0")/common.sh"
install_package
Rscript --vanilla "$root/tests/r/scripts_by_hand.R" "$root/tests/r"
