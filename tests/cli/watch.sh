#!/usr/bin/env bash
# `sample --watch`: the page of a running job over loopback, who may read it, and its end; the draws do not depend on it.
. "$(dirname "$0")/common.sh"

"$sbps" simulate logistic --rows 2000 --dim 3 --seed 1 -o data.csv || exit 1
run=("$sbps" sample data.csv --model logistic --target y --seed 3)

try 'no table' 1 '' 'to watch: http.*nowhere.csv' "$sbps" sample nowhere.csv --model logistic --target y --watch -o none.nc
try 'dry run'  0 'sampler' '' "${run[@]}" --watch --dry-run

cases=$((cases + 1))
/usr/bin/python3 "$root/tests/cli/watch_page.py" "${run[@]}" || fault page 'not as it should be'
finish
