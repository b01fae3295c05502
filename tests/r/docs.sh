#!/usr/bin/env bash
# Every example of docs/r.md runs, in its order.
. "$(dirname "$0")/common.sh"
install_package
awk '/^```r$/ { on = 1; next } /^```$/ { on = 0 } on' "$root/docs/r.md" >examples.R
[ "$(wc -l <examples.R)" -gt 10 ] || { echo 'docs/r.md has no examples'; exit 1; }
Rscript --vanilla examples.R >out.txt 2>&1 || { tail -n 20 out.txt; exit 1; }
