#!/usr/bin/env bash
# A pipe gives the table of a file: of any length, compressed, with a formula, and with columns whose type the first rows do
# not show.
. "$(dirname "$0")/common.sh"

# Text after the first 64 KB: `late` has numbers in its first 9000 rows.
awk 'BEGIN { srand(1); print "y,x,g,late"
    for (i = 0; i < 12000; i++) printf "%d,%.6f,%s,%s\n", rand() < .5, rand(), substr("abc", 1 + i % 3, 1), i < 9000 ? i % 4 : "many"
}' >data.csv
gzip -k data.csv
"$sbps" convert data.csv file.tbl --target y 2>file.err
"$sbps" convert data.csv formula.tbl --formula 'y ~ x * g + late' 2>formula.err
mkdir spool full
export TMPDIR=$work/spool

through() { # NAME TABLE SOURCE OPTIONS...: the pipe gives the bytes of the file
    local name=$1 table=$2 source=$3
    shift 3
    try "$name" 0 '' "'late'" bash -c "cat $source | \"$sbps\" convert - p.tbl $*"
    cmp -s p.tbl "$table" || fault "$name" 'the table is another than that of the file'
    [ -z "$(ls -A spool)" ] || fault "$name" 'something was left in TMPDIR'
}
through 'text found late'  file.tbl data.csv --target y
through 'gzip'             file.tbl data.csv.gz --target y
through 'formula'          formula.tbl data.csv --formula "'y ~ x * g + late'"
through 'formula, gzip'    formula.tbl data.csv.gz --formula "'y ~ x * g + late'"
grep -q 'standard input\|^sbps: -' .err || fault 'notes' "$(cat .err)"
try 'a device'             0 '' 'x' bash -c "\"$sbps\" convert <(cat data.csv) p.tbl --target y"
cmp -s p.tbl file.tbl || fault 'a device' 'the table is another than that of the file'

# libsvm is read twice.
awk 'BEGIN { srand(2); for (i = 0; i < 6000; i++) { printf "%d", rand() < .5; for (j = 1; j < 9; j++) printf " %d:%.3f", j, rand(); print "" } }' >rows.svm
"$sbps" convert rows.svm file.tbl
try 'libsvm'               0 '' '' bash -c "cat rows.svm | \"$sbps\" convert - p.tbl"
cmp -s p.tbl file.tbl || fault 'libsvm' 'the table is another than that of the file'

# Together with files, and sampled.
head -n 6001 data.csv >first.csv
{ head -n 1 data.csv; tail -n 6000 data.csv; } >second.csv
"$sbps" convert data.csv file.tbl --target y 2>.err
try 'with a file'        0 '' 'late' bash -c "cat second.csv | \"$sbps\" convert first.csv - p.tbl --target y"
cmp -s p.tbl file.tbl || fault 'with a file' 'two files are another table than one'
run=(--model logistic --formula 'y ~ x + g' --epochs 5 --progress off --chains 2)
"$sbps" sample data.csv "${run[@]}" -o file.csv >.out 2>.err
cat data.csv.gz | "$sbps" sample - "${run[@]}" -o pipe.csv >.out 2>.err
cmp -s file.csv pipe.csv || fault 'sample' 'the draws are others'
try 'groups'               0 'b' '' bash -c "cat data.csv.gz | \"$sbps\" map - 'y ~ x + (1 | late)' --model logistic 2>/dev/null | sed s/.Intercept./b/"

# If TMPDIR cannot be written, rows are kept in memory; an empty pipe is an empty file.
TMPDIR=$work/none try 'no folder' 0 '' 'late' bash -c "cat data.csv | \"$sbps\" convert - p.tbl --target y"
cmp -s p.tbl file.tbl || fault 'no folder' 'the table is another than that of the file'
try 'nothing'              1 '' 'standard input:1: the file is empty' "$sbps" convert - p.tbl --target y
try 'what is wrong'        1 '' "standard input:3: column 'y': '7a' is not a number" \
    bash -c "printf 'y,x\n1,2\n7a,3\n2,4\n' | \"$sbps\" sample - --model linear --target y"
finish
