#!/usr/bin/env bash
# Names and numbers of parameters: of R's model.matrix, and the same by the command line, R and Python.
. "$(dirname "$0")/common.sh"
install_package
/usr/bin/python3 -c 'import numpy, pandas' 2>/dev/null || { echo 'numpy or pandas is not there'; exit 77; }
Rscript --vanilla "$root/tests/r/names_by_hand.R" "$root/tests/r" "$SBPS_PROGRAM"
