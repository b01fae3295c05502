#!/usr/bin/env bash
# Distributed reading of text: the bits of set-up are those of one process for any text, and each rank reads its part of the
# bytes; an error is printed once, as by a single process.
. "$(dirname "$0")/common.sh"

needs_ranks
export SBPS_SHARE_TEXT=1 # bytes from which reading of text is distributed

# same NAME RANKS ARGUMENT...: laplace has the bytes of one process.
same() {
    local name=$1 ranks=$2 count
    shift 2
    "$sbps" laplace "$@" --json >one.json 2>one.err || fault "$name" "$(cat one.err)"
    for count in $ranks; do
        try "$name on $count" 0 '"potential"' '.*' mpirun -n "$count" "$sbps" laplace "$@" --json
        cmp -s one.json .out || fault "$name on $count" "$(diff one.json .out | head -n 3)"
        cmp -s one.err .err || fault "$name on $count" "other words: $(diff one.err .err | head -n 3)"
    done
}

# ---- texts of numbers ----
"$sbps" simulate logistic --rows 20000 --dim 3 --seed 2 -o logistic.csv || exit 1
same 'one file' '2 4 7' logistic.csv --model logistic --target y
(head -n 1 logistic.csv; tail -n +2 logistic.csv | LC_ALL=C sort -g) >sorted.csv # by the target
same 'sorted by the target' 4 sorted.csv --model logistic --target y
same 'as the file has them' 4 sorted.csv --model logistic --target y --no-shuffle
sed 's/$/\r/' logistic.csv | head -c -2 >returns.csv
same 'returns, and no end of the last line' 4 returns.csv --model logistic --target y
"$sbps" simulate linear --rows 100000 --dim 12 --seed 3 -o linear.csv || exit 1 # more rows than are permuted at once
same 'buckets, standardized floats' '2 7' linear.csv --model linear --target y --standardize --storage float

# ---- several files: lengths that differ, more than ranks and fewer ----
head -n 1 logistic.csv >names
cut_off() { # NAME FIRST LAST: rows
    (cat names; tail -n +2 logistic.csv | sed -n "$2,$3p") >"$1"
}
cut_off part-1.csv 1 300; cut_off part-2.csv 301 15000; cut_off part-3.csv 15001 15001; cut_off part-4.csv 1 0; cut_off part-5.csv 15002 20000
same 'several files' '2 7' 'part-*.csv' --model logistic --target y

# ---- levels that occur on some ranks only, missing cells, a column of numbers until its last lines ----
awk 'BEGIN { srand(4); print "y,kind,colour,late,a"; for (i = 0; i < 16000; i++) {
    late = i == 15990 ? "many" : i % 4
    printf "%s,k%d,%s,%s,%.4f\n", rand() < 0.3 + 0.02 * (i % 4) ? "yes" : "no", 40 - int(i / 800), i % 89 == 5 ? "NA" : i % 3 ? "red" : "\"dark, blue\"", late, rand() } }' >levels.csv
same 'levels' '2 4 7' levels.csv --model logistic --target y --missing drop
same 'a formula' 4 levels.csv 'y ~ colour * late + a' --model logistic --missing drop
try 'notes' 0 'logistic' "dropped [0-9]+ of 16000 rows with missing values: 'colour' .[0-9]+." \
    mpirun -n 4 "$sbps" map levels.csv --model logistic --target y --missing drop
[ "$(grep -c 'rows with missing values' .err)" -eq 1 ] || fault 'notes' 'more than one rank prints'

# ---- a run, and its checkpoint, which identifies the table by its hash ----
sample=(sample 'part-*.csv' --model logistic --target y --seed 4 --progress off --draws 50 --sampler sbps)
try 'in shares' 0 '' 'ranks     2' mpirun -n 2 "$sbps" "${sample[@]}" --ess 60 --checkpoint state -o run.nc
SBPS_SHARE_TEXT=1000000000 try 'goes on from all of it' 0 '' 'ranks     2' mpirun -n 2 "$sbps" "${sample[@]}" --ess 120 --resume state -o run.nc

# ---- errors are printed once, as by one process ----
wrong() { # NAME RANKS FILES: the message of one process, once
    "$sbps" map "$3" --model logistic --target y 2>&1 >/dev/null | grep '^sbps:' >want
    [ -s want ] || fault "$1" 'one process finds nothing wrong'
    try "$1" 1 '' "$(sed 's/[][().*+?$^|\\]/./g; s/^sbps: //' want)" mpirun -n "$2" "$sbps" map "$3" --model logistic --target y
    [ "$(grep -cF "$(sed 's/^sbps: //' want)" .err)" -eq 1 ] || fault "$1" "not once: $(grep '^sbps' .err)"
}
cp part-5.csv kept
sed -i '4321s/,[^,]*$/,1e999/' part-5.csv
wrong 'a cell of the last file' 4 'part-*.csv'
grep -q 'part-5.csv:4321: column' want || fault 'a cell of the last file' "$(cat want)"
sed -i '9000s/,[^,]*$//; 12000s/,.*/,/' part-2.csv
wrong 'the first of several' 7 'part-*.csv'
grep -q 'part-2.csv:9000: expected' want || fault 'the first of several' "$(cat want)"
cp kept part-5.csv

# ---- ranks that see different files under one name ----
mkdir other
"$sbps" simulate logistic --rows 20000 --dim 3 --seed 9 -o other/logistic.csv || exit 1
differ() { # NAME MESSAGE FILE [LEAST]: rank 1 works in other; the message is printed once. LEAST: see SBPS_SHARE_TEXT
    local job=("$sbps" map "$3" --model logistic)
    [[ $3 == *.tbl ]] || job+=(--target y)
    SBPS_SHARE_TEXT=${4:-1} try "$1" 1 '' "$2" mpirun -n 1 "${job[@]}" : -n 1 --wdir other "${job[@]}"
    [ "$(grep -cE "$2" .err)" -eq 1 ] || fault "$1" "not once: $(grep '^sbps' .err)"
}
differ 'other size' 'logistic.csv: the file has [0-9]+ bytes on rank 1 and [0-9]+ on rank 0' logistic.csv
differ 'other size, read whole' 'logistic.csv: the file has [0-9]+ bytes on rank 1' logistic.csv 1000000000
sed 's/^0,/2,/; s/^1,/0,/; s/^2,/1,/' logistic.csv >other/logistic.csv # of the same size
differ 'other values' 'logistic.csv: the file of rank 1 differs from that of rank 0 in the block at byte 0' logistic.csv
cp logistic.csv other/logistic.csv
tail -c 1000 logistic.csv | tr 1 2 | dd of=other/logistic.csv bs=1 seek=$(($(stat -c %s logistic.csv) - 1000)) conv=notrunc status=none
differ 'another end' 'logistic.csv: the file of rank 1 differs from that of rank 0 in the block at byte [1-9]' logistic.csv
awk -F, -v OFS=, 'NR == 9876 { $2 = "7" substr($2, 2) } 1' logistic.csv >other/logistic.csv
differ 'one cell, read whole' 'logistic.csv: the (file|values) of rank 1' logistic.csv 1000000000
gzip -kf logistic.csv other/logistic.csv
differ 'one cell, packed' 'logistic.csv.gz: the values of rank 1 are not those of rank 0' logistic.csv.gz
for folder in . other; do "$sbps" convert $folder/logistic.csv $folder/logistic.tbl --target y 2>/dev/null; done
differ 'one cell, converted' 'logistic.tbl: the file of rank 1 differs' logistic.tbl
cp part-[12].csv other
differ 'a file less' 'part-1.csv: rank 1 finds 2 files and rank 0 5' 'part-*.csv'
cp logistic.csv other && gzip -1f other/logistic.csv # the same text in other bytes
try 'packed in another way' 0 'potential' '' mpirun -n 1 "$sbps" map logistic.csv.gz --model logistic --target y --json : \
    -n 1 --wdir other "$sbps" map logistic.csv.gz --model logistic --target y --json

# ---- each rank reads its part, twice: less than half of what one would read ----
cat >counted.sh <<'EOF'
"$@" >/dev/null || exit
while read -r key value; do [ "$key" = rchar: ] && echo "$value"; done </proc/$$/io
exit 0
EOF
size=$(stat -c %s linear.csv)
try 'bytes read' 0 '^[0-9 ]+$' '' mpirun -n 7 bash counted.sh "$sbps" map linear.csv --model linear --target y --threads 1
[ "$(wc -l <.out)" -eq 7 ] || fault 'bytes read' "$(cat .out)"
awk -v size="$size" '$1 > 2 * size / 7 + 3000000 || $1 < size / 7 { exit 1 }' .out || fault 'bytes read' "of $size: $(tr '\n' ' ' <.out)"

finish
