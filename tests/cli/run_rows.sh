#!/usr/bin/env bash
# RUN... [DATA] (docs/files.md): all commands that take a stored run and rows, by the same rules.
. "$(dirname "$0")/common.sh"

awk 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
    function n() { return sqrt(-2 * log(u())) * cos(6.283185307 * u()) }
    BEGIN { s = 9; print "y,x,g,w"
        for (i = 0; i < 60; i++) { a = n(); printf "%.5f,%.5f,g%d,%d\n", 1 + a + n(), a, i % 5, 1 + i % 3 } }' >table.csv
sample=("$sbps" sample table.csv --progress off --ess 100 --draws 100)
"${sample[@]}" 'y ~ x' -o plain.nc 2>/dev/null
"${sample[@]}" 'y ~ x + (1 | g)' --weights w --ranef all -o groups.nc 2>/dev/null
"$sbps" sample - 'y ~ x' --progress off --ess 100 -o pipe.nc <table.csv 2>/dev/null

# the arguments of a command on these runs
runs() { # COMMAND RUN
    if [ "$1" = compare ]; then echo "$2 $2"; else echo "$2"; fi
}
for command in predict score loo check compare; do
    for run in plain.nc groups.nc; do
        cases=$((cases + 1))
        # shellcheck disable=SC2046
        "$sbps" $command $(runs $command $run) table.csv >named.txt 2>/dev/null || fault "$command $run" "exit $?"
        # shellcheck disable=SC2046
        "$sbps" $command $(runs $command $run) >recorded.txt 2>/dev/null || fault "$command $run, recorded" "exit $?"
        cmp -s named.txt recorded.txt || fault "$command $run" 'other output for the recorded table'
        [ -s named.txt ] || fault "$command $run" 'no output'
    done
    # shellcheck disable=SC2046
    try "$command: encoding"    0 '.' '' bash -c '"$@" --encoding latin1 2>&1' - "$sbps" $command $(runs $command plain.nc) table.csv
    # shellcheck disable=SC2046
    try "$command: not recorded" 2 '' "$command: pipe.nc does not record the file of its data: name it, as in sbps $command pipe.nc" "$sbps" $command $(runs $command pipe.nc)
    # shellcheck disable=SC2046
    try "$command: the order"   2 '' "$command: runs come before the data, as in sbps $command plain.nc table.csv" "$sbps" $command table.csv $(runs $command plain.nc)
    try "$command: no operands" 2 '' "usage: sbps $command " "$sbps" $command
done
try 'report: named'      0 '' '' "$sbps" report plain.nc table.csv --encoding latin1 -o page.html
try 'report: the order'  2 '' 'report: runs come before the data' "$sbps" report table.csv plain.nc
try 'compare: one run'   2 '' 'compare: name at least two runs' "$sbps" compare plain.nc table.csv
try 'compare: --data'    0 'elpd_diff' '' "$sbps" compare plain.nc plain.nc --data table.csv
try 'compare: twice'     2 '' "the data are named twice, as 'table.csv' and by --data" "$sbps" compare plain.nc plain.nc table.csv --data table.csv
try 'standard input'     0 'elpd' '' bash -c '"$0" score plain.nc - <table.csv' "$sbps"
try 'not overwritten'    2 '' 'table.csv is the data file' "$sbps" predict plain.nc -o table.csv

# weights are needed where the response is
cut -d, -f1-3 table.csv >unweighted.csv
try 'predict: no weights' 0 'row,mean' 'rows/s' "$sbps" predict groups.nc unweighted.csv
for command in score loo check; do
    try "$command: no weights" 1 '' "column 'w'" "$sbps" $command groups.nc unweighted.csv
done

# leave-one-group-out
try 'loo of groups'       0 'elpd_logo .*left out +one of 5 groups of g at a time, its effects integrated out; 60 rows.*Pareto k +[0-9] of 5 groups' '' "$sbps" loo groups.nc --group g
try 'as JSON'             0 '"group": "g", "groups": 5, "rows": 60.*"by_group": \[ *\{"level": "g0", "rows": 12' '' "$sbps" loo groups.nc --group g --json
try 'compare by groups'   0 'elpd_diff' '' "$sbps" compare groups.nc groups.nc --group g
try 'an unknown factor'   2 '' "'h' is no grouping factor of groups.nc, which has g" "$sbps" loo groups.nc --group h
try 'no groups'           2 '' 'the model of plain.nc has no group effects' "$sbps" loo plain.nc --group g
sed 's/^\(.\)/\1/; 2d' table.csv >shorter.csv
try 'another table'       1 '' 'not the table of groups.nc' "$sbps" loo groups.nc shorter.csv --group g
cases=$((cases + 1))
"$sbps" loo groups.nc --group g --threads 1 >one.txt
"$sbps" loo groups.nc --group g --threads 3 | cmp -s - one.txt || fault 'threads' 'another result'

mv table.csv moved.csv
for command in predict score loo check compare; do
    # shellcheck disable=SC2046
    try "$command: moved" '[123]' '' "$command: plain.nc records the data file 'table.csv', which cannot be read" "$sbps" $command $(runs $command plain.nc)
done
finish
