#!/usr/bin/env bash
# Whole runs: output files, messages, and that no draw is lost.
. "$(dirname "$0")/common.sh"

quick=(--draws 100 --ess 100 --chains 2 --threads 2)
promised='name,mean,mcse,sd,q5,q50,q95,ess_bulk,ess_tail,rhat,bias'
try 'simulate'             0 '' '' "$sbps" simulate logistic --rows 2000 --dim 3 --seed 4 -o data.csv --truth truth.csv
[ "$(wc -l <data.csv)" -eq 2001 ] || fault 'simulate' "data.csv has $(wc -l <data.csv) lines"
[ "$(head -n 1 truth.csv)" = name,value ] || fault 'simulate' 'truth.csv has another header'
cp data.csv before.csv
try 'simulate again'       0 '' '' "$sbps" simulate logistic --rows 2e3 --dim 3 --seed 4 -o data.csv
cmp -s data.csv before.csv || fault 'simulate again' 'the same seed gave another file'
sample=("$sbps" sample data.csv --model logistic --target y)

try 'dry run'              0 'normal'  '' "${sample[@]}" --dry-run
[ -e run.nc ] && fault 'dry run' 'run.nc was written'

try 'plain run'            0 '' 'the draws are in run.nc.*smallest ESS [0-9]+, largest R-hat [0-9.]+, stated bias [0-9.]+( \+- [0-9.]+)? posterior sd' \
    "${sample[@]}" "${quick[@]}"
try 'summary'              0 'name +mean.*rhat +bias' '' "$sbps" summary run.nc
try 'summary --csv'        0 "^$promised[, ].*(x|w)1," '' "$sbps" summary run.nc --csv
try 'summary --json'       0 '"run": *\{.*"sampler".*"parameters": *\[' '' "$sbps" summary run.nc --json
try 'diagnose'             0 '[a-z]' '' "$sbps" diagnose run.nc
"$sbps" summary run.nc --csv >first.csv

# The same seed gives the same numbers on any number of threads; another seed does not.
"${sample[@]}" "${quick[@]}" --threads 1 --progress off -o again.nc 2>.err
"$sbps" summary again.nc --csv | cmp -s - first.csv || fault 'same seed' 'one thread gave other numbers'
"${sample[@]}" "${quick[@]}" --seed 2 --progress off -o other.nc 2>.err
"$sbps" summary other.nc --csv | cmp -s - first.csv && fault 'other seed' 'gave the same numbers'

# Without progress: only settings and warnings on stderr, nothing on stdout.
"${sample[@]}" "${quick[@]}" --progress off -o quiet.nc >.out 2>.err
[ -s .out ] && fault 'progress off' 'something on stdout'
grep -q '^  sampler ' .err && grep -q '^  prior ' .err || fault 'progress off' 'hides what was chosen'
grep -v '^sbps: warning: \|^  [a-z]\|^logistic regression of' .err >.left && fault 'progress off' "printed: $(head -n 1 .left)"
try 'progress on'          0 '' 'sbps: +100%.*ESS' "${sample[@]}" "${quick[@]}" --progress on -o loud.nc

# A config file sets options that the command line does not set.
cat >run.conf <<'CONF'
# a run
model  = logistic
target = "y"
chains = 3
draws  = 20     # few
ess    = 50
output = 'conf.csv'
CONF
try 'config'               0 '' 'the draws are in conf.csv' "$sbps" sample data.csv --config run.conf
[ "$(cut -d, -f1 conf.csv | tail -n +2 | sort -u | wc -l)" -eq 3 ] || fault 'config' 'conf.csv has not 3 chains'
try 'config loses'         0 '' 'the draws are in cli.csv' "$sbps" sample data.csv --config run.conf --chains=2 -o cli.csv
[ "$(cut -d, -f1 cli.csv | tail -n +2 | sort -u | wc -l)" -eq 2 ] || fault 'config loses' 'cli.csv has not 2 chains'

# Formats.
try 'csv'                  0 '' 'the draws are in draws.csv' "${sample[@]}" "${quick[@]}" -odraws.csv
[ "$(wc -l <draws.csv)" -ge 201 ] || fault 'csv' "draws.csv has $(wc -l <draws.csv) lines"
try 'stan'                 0 '' 'the draws are in run.stan_1.csv, one file per chain' "${sample[@]}" "${quick[@]}" --output=run.stan.csv
for chain in 1 2; do
    grep -q '^lp__,' run.stan_$chain.csv || fault 'stan' "run.stan_$chain.csv has no header lp__"
done

# Stopping rules: --epochs alone switches the goal of --ess off.
try 'epochs'               0 '' 'the draws are in few.nc' "${sample[@]}" --chains 1 --draws 10 --epochs 20 -o few.nc
try 'seconds'              0 '' 'the draws are in short.nc' "${sample[@]}" --seconds 0.5 -o short.nc
try 'options after data, --' 0 '' 'the draws are in dashes.nc' "$sbps" sample --model=logistic --target=y "${quick[@]}" -o dashes.nc -- data.csv

# An earlier run is replaced, without a copy.
try 'replace'              0 '' 'the draws are in run.nc' "${sample[@]}" "${quick[@]}"
[ "$(find . -name '*.nc*' -newer first.csv -name 'run.nc*' | wc -l)" -eq 1 ] || fault 'replace' 'left another file with run.nc'

# The folder of the output vanishes during the run: the draws go to $TMPDIR. A skeleton that is not read
# holds the run until it has.
mkdir gone spare
mkfifo hold
TMPDIR=$work/spare "${sample[@]}" --skeleton hold -o gone/run.nc 2>.err &
pid=$!
exec 3<hold
read -r _ <&3
read -r _ <&3
rm -rf gone
cat <&3 >/dev/null
exec 3<&-
wait $pid
code=$?
[ $code -eq 1 ] || fault 'folder vanishes' "exit $code, expected 1"
saved=$(sed -n 's/.*the draws were saved to \(.*\)$/\1/p' .err)
[ -n "$saved" ] || fault 'folder vanishes' "printed: $(tail -n 3 .err)"
[ "$(stat -c %a "$(dirname "${saved:-none}")")" = 700 ] || fault 'folder vanishes' 'others can read it'
try 'saved draws'          0 "^$promised" '' "$sbps" summary "${saved:-none}" --csv

# Checkpoint and resume.
try 'checkpoint'           0 '' '^logistic regression of [^%]*$' "${sample[@]}" "${quick[@]}" --progress off --checkpoint state -o half.nc
[ -s state ] || fault 'checkpoint' 'no file'
try 'resume'               0 '' 'the draws are in whole.nc' "${sample[@]}" "${quick[@]}" --ess 200 --resume state -o whole.nc
try 'resume: other run'    1 '' '^sbps: ' "${sample[@]}" "${quick[@]}" --seed 9 --resume state -o no.nc --progress off
try 'resume: no file'      1 '' '^sbps: .*nostate' "${sample[@]}" "${quick[@]}" --resume nostate -o no.nc --progress off
printf 'rubbish' >rubbish
try 'resume: rubbish'      1 '' '^sbps: .*rubbish' "${sample[@]}" "${quick[@]}" --resume rubbish -o no.nc --progress off

# A file that is not a run file is not overwritten; an earlier run is.
for ending in nc csv; do
    echo 'notes of mine' >notes.$ending
    try "another file, .$ending" 1 '' "--output: notes.$ending exists and is not a run of sbps" \
        "${sample[@]}" "${quick[@]}" -o notes.$ending
    [ "$(cat notes.$ending)" = 'notes of mine' ] || fault "another file, .$ending" 'is written over'
done
echo 'notes of mine' >chain.stan_2.csv
try 'another file, a chain' 1 '' 'chain.stan_2.csv exists and is not a run' "${sample[@]}" "${quick[@]}" -o chain.stan.csv
for file in twice.nc twice.csv twice.stan.csv; do
    try "$file"             0 '' "the draws are in" "${sample[@]}" "${quick[@]}" -o $file
    try "$file, again"      0 '' "the draws are in" "${sample[@]}" "${quick[@]}" -o $file
done
: >empty.nc
try 'an empty file'        0 '' 'the draws are in empty.nc' "${sample[@]}" "${quick[@]}" -o empty.nc

# Draws that cannot be written to the output go to a folder that only the user can read.
cases=$((cases + 1))
mkdir refuge
(trap '' XFSZ; ulimit -f 1; TMPDIR=$work/refuge exec "${sample[@]}" "${quick[@]}" -o small.nc) >.out 2>.err
grep -q 'the draws could not be saved to .*/refuge/sbps-....../run.csv either' .err ||
    fault 'refuge' "printed: $(tail -n 2 .err)"
[ -z "$(ls refuge)" ] || fault 'refuge' "left $(ls refuge)"
finish
