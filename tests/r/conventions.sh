#!/usr/bin/env bash
# Methods for generics of other packages, and the calls of other packages that docs/conventions.md lists.
. "$(dirname "$0")/common.sh"
install_package
Rscript --vanilla "$root/tests/r/ecosystem_by_hand.R" "$root/tests/r"
Rscript --vanilla "$root/tests/r/conventions_by_hand.R" "$root/tests/r" "$root/docs/conventions.md"
