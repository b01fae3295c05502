#!/usr/bin/env bash
# The page of a run: complete, well-formed, with the numbers of the summary, for names with markup, many parameters and few
# draws; its script works if a browser is available.
helper=$(realpath "$1")
. "$(dirname "$0")/common.sh"

"$sbps" simulate logistic --rows 2000 --dim 4 --seed 1 -o table.csv || exit 1
sample() { # OUT ARGUMENTS...
    local out=$1
    shift
    "$sbps" sample "$@" --progress off -o "$out" >/dev/null 2>.err || fault "sample $out" "$(head -n 3 .err)"
}
sample run.nc table.csv --model logistic --target y --sampler sbps --seed 2
sample short.nc table.csv --model logistic --target y --sampler sbps --epochs 1 --warmup 10 --seed 2
sample unknown.nc table.csv --model logistic --target y --sampler sgld --epochs 300 --seed 2
sample alone.nc --model gaussian --dim 1
"$helper" many.nc 1200 || fault many "the helper failed"
/usr/bin/python3 - <<'P'
import random
random.seed(1)
names = ["<script>alert(1)</script>", "a\"b'c&d", "日本語 係数", "</title><b>", "tab\there", "]]><!--"]
with open("hostile.csv", "w", encoding="utf-8") as file:
    print(",".join('"' + name.replace('"', '""') + '"' for name in names) + ",y", file=file)
    for _ in range(500):
        x = [random.gauss(0, 1) for _ in names]
        print(",".join(f"{v:.4f}" for v in x) + f",{int(x[0] + random.gauss(0, 1) > 0)}", file=file)
P
sample hostile.nc hostile.csv --model logistic --target y --seed 2

# with their tables
"$sbps" simulate poisson --rows 800 --dim 2 --seed 1 -o counts.csv
"$sbps" simulate linear --rows 800 --dim 2 --seed 1 -o numbers.csv
sample counts.nc counts.csv --model poisson --target y --seed 2
sample numbers.nc numbers.csv --model linear --target y --seed 2
awk -F, -v OFS=, 'NR > 1 { $1 = $1 * (NR % 3) } 1' counts.csv >off.csv # counts that spread too much
sample off.nc off.csv --model poisson --target y --seed 2
sample narrow.nc numbers.csv --model linear --target y --seed 2 --prior "normal(0,0.05)"
for run in run:table counts:counts off:off narrow:numbers numbers:numbers hostile:hostile; do
    name=${run%:*}_rows
    try "report $name" 0 '' '' "$sbps" report ${run%:*}.nc ${run#*:}.csv -o $name.html
    "$sbps" summary ${run%:*}.nc --csv >$name.csv
done

for run in run short unknown alone many hostile; do
    try "report $run" 0 '' '' "$sbps" report $run.nc -o $run.html
    "$sbps" summary $run.nc --csv >$run.csv
done
"$sbps" report run.nc >stdout.html || fault stdout 'exit code'
cmp -s stdout.html run.html || fault stdout 'another page than -o'
"$sbps" report run.nc - <table.csv >pipe.html || fault pipe 'exit code' # a table that can be read only once
diff -q <(grep -v 'seconds for leave-one-out' pipe.html) <(grep -v 'seconds for leave-one-out' run_rows.html) >/dev/null || fault pipe 'another page than of the file'

cases=$((cases + 1))
/usr/bin/python3 "$root/tests/cli/report_page.py" run short unknown alone many hostile run_rows counts_rows off_rows numbers_rows hostile_rows || fault page 'not as it should be'

# ---- verdicts ----
contains() { # NAME PATTERN
    cases=$((cases + 1))
    grep -qE "$2" "$1.html" || fault "$1" "has no text '$2'"
}
contains run     'You can trust these numbers'
contains run     'The chains agree \(largest R-hat 1\.0'
contains short   'Do not trust these numbers yet'
contains short   'What to do:'
contains unknown 'the stated bias of the means is not estimated by this sampler'
contains many    'Of 1200 parameters, 200 are shown: those farthest from 0'

contains run     'command</dt><dd><code>sbps sample table.csv --model logistic .*--progress off -o run.nc</code>'
contains run     'Effective sample size against seconds of sampling'
contains many    'Effective sample size against the number of draws'

contains run_rows     'Calibration: observed against predicted fractions'
contains counts_rows  '>Rootogram: |<title>Rootogram'
contains counts_rows  'Histogram of the predictive probability below each row'
contains numbers_rows '<title>Density'
contains run_rows     'Pareto k of 2000 rows, 0 of them above 0.7'
contains run_rows     "elpd_loo</th><td>$("$sbps" loo run.nc table.csv --json | grep -oE '"elpd_loo": -?[0-9]+' | grep -oE '[-0-9]+$')"
contains off_rows     'The model does not describe the rows in [1-9]'
contains off_rows     'You can trust these numbers, but read the remarks'
contains narrow_rows  'Other priors would change the results'
grep -q 'Other priors would' run_rows.html && fault run_rows 'a remark on priors without influence'
contains run          'No posterior is sensitive to its prior'
grep -q 'id="checks"' run.html && fault run 'checks of no table'

# ---- mistakes ----
printf 'nothing' >broken.nc
head -c 4000 run.nc >cut.nc
try 'no run'       2 '' "the run file is missing; usage: sbps report RUN.nc" "$sbps" report
try 'not there'    1 '' 'nowhere.nc: ' "$sbps" report nowhere.nc -o page.html
try 'not a run'    1 '' 'broken.nc: not a run file' "$sbps" report broken.nc -o page.html
try 'cut short'    1 '' 'cut.nc: ' "$sbps" report cut.nc -o page.html
try 'a table'      1 '' 'table.csv: not a run file' "$sbps" report table.csv -o page.html
try 'over the run' 2 '' 'run.nc' "$sbps" report run.nc -o run.nc
try 'no folder'    '[12]' '' 'none/page.html' "$sbps" report run.nc -o none/page.html
try 'no column'    1 '' "counts.csv: .*column 'x3' is missing" "$sbps" report run.nc counts.csv -o page.html
try 'no table'     1 '' 'nowhere.csv: ' "$sbps" report run.nc nowhere.csv -o page.html
try 'over data'    2 '' 'table.csv' "$sbps" report run.nc table.csv -o table.csv
[ -e page.html ] && fault mistakes 'a page was left behind'

# ---- in a browser ----
browser=$(command -v chromium || true)
if [ -n "$browser" ]; then
    for run in run many hostile; do
        cases=$((cases + 1))
        /usr/bin/python3 "$root/tests/cli/report_page.py" --drive $run.html driven.html
        timeout 300 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" \
            --virtual-time-budget=5000 --dump-dom "file://$work/driven.html" >dom.html 2>.err ||
            fault "browser $run" "exit $?: $(tail -n 1 .err)"
        grep -q 'data-tried="fine"' dom.html ||
            fault "browser $run" "$(grep -oE 'data-tried="[^"]*"' dom.html || echo 'the script did not run')"
    done
else
    echo "chromium is missing: the page's script was not tried"
fi
finish
