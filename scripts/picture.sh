#!/usr/bin/env bash
# docs/page.png, the picture of a page in README.md: as Debian's chromium shows it.
#   picture.sh [PROGRAM]
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
program=$(realpath "${1:-$root/build/sbps}")
command -v chromium >/dev/null || { echo "chromium is missing: apt-get install chromium" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$program" simulate logistic --rows 30000 --dim 8 --seed 1 -o table.csv
"$program" sample table.csv --model logistic --target y --sampler sbps --seed 1 --progress off -o run.nc >/dev/null 2>&1
"$program" report run.nc table.csv -o page.html
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/browser" \
    --window-size=1120,1000 --screenshot="$root/docs/page.png" "file://$work/page.html" 2>/dev/null
