#!/usr/bin/env bash
# Help, versions, unknown words and impossible values: errors found before data are read.
. "$(dirname "$0")/common.sh"

printf 'x,y\n1,0\n2,1\n3,0\n4,1\n' >data.csv
sample=("$sbps" sample data.csv --model logistic --target y)

# name                     code stdout                 stderr
try 'no subcommand'        2 ''                        'Usage: sbps.*sample.*summary' "$sbps"
try 'help'                 0 'Usage: sbps.*diagnose'   '' "$sbps" help
try '--help'               0 'Usage: sbps.*diagnose'   '' "$sbps" --help
try '-h'                   0 'Usage: sbps'             '' "$sbps" -h
try '--version'            0 '^sbps [0-9]+\.[0-9]+\.[0-9]+ $' '' "$sbps" --version
try 'help of sample'       0 'Usage: sbps sample.*Data and model:.*--model NAME.*Sampler:.*--band K.*\[default: auto\].*Chains and stopping:.*Files and output:.*-o, --output FILE' \
    '' "$sbps" help sample
for name in sample summary diagnose map laplace convert simulate list help; do
    try "$name --help"     0 "Usage: sbps $name"       '' "$sbps" $name --help
    try "$name -h"         0 "Usage: sbps $name"       '' "$sbps" $name -h
done
try 'help after options'   0 'Usage: sbps sample'      '' "$sbps" sample data.csv --band 3 --help
try 'help of nothing'      2 ''                        "unknown subcommand 'sampel', did you mean 'sample'" "$sbps" help sampel
try 'misspelt subcommand'  2 ''                        "^sbps: unknown subcommand 'sumary', did you mean 'summary'" "$sbps" sumary
try 'subcommand to come'   2 ''                        "unknown subcommand 'publish'; .sbps help. lists them" "$sbps" publish
try 'option first'         2 ''                        "put a subcommand before '--band'" "$sbps" --band 3

try 'no data'              2 ''                        'the data file is missing' "$sbps" sample --model logistic
try 'two tables'           2 ''                        "'more.csv' is neither a file nor a formula" "${sample[@]}" more.csv
try 'a density'            2 ''                        'did you mean --family gaussian' "$sbps" sample data.csv --target y --model gaussian
try 'unknown model'        2 ''                        "unknown model 'logstic', did you mean 'logistic'" "$sbps" sample data.csv --model logstic --target y
try 'unknown model, far'   2 ''                        "unknown model 'xyzzy'; .sbps list models" "$sbps" sample data.csv --model xyzzy --target y
try 'unknown sampler'      2 ''                        "unknown sampler 'sbsp', did you mean 'sbps'" "${sample[@]}" --sampler sbsp
try 'unknown option'       2 ''                        "unknown option '--bnad', did you mean '--band'" "${sample[@]}" --bnad 3
try 'unknown with ='       2 ''                        "unknown option '--bnad', did you mean '--band'" "${sample[@]}" --bnad=3
try 'abbreviation'         2 ''                        "unknown option '--batch', did you mean '--batch-size'" "${sample[@]}" --batch 3
try 'negated switch'       2 ''                        "unknown option '--no-paper'" "${sample[@]}" --no-paper
try 'unknown short'        2 ''                        "unknown option '-x'" "${sample[@]}" -x
try 'value missing'        2 ''                        '--band needs a value: K' "${sample[@]}" --band
try '-o without a value'   2 ''                        '--output needs a value: FILE' "${sample[@]}" -o
try 'switch with a value'  2 ''                        "--paper is a switch.*'maybe'" "${sample[@]}" --paper=maybe
try 'empty value'          2 ''                        '--target: the value is empty' "$sbps" sample data.csv --model logistic --target=

# Every choice: a near word gets a suggestion and the list.
while read -r option word near list; do
    try "--$option $word" 2 '' "--$option: unknown choice '$word', did you mean '$near'\? Expected $list" \
        "${sample[@]}" "--$option" "$word"
done <<'TABLE'
missing         dorp     drop     error\|drop
control-variate hesian   hessian  auto\|none\|gradient\|hessian
metric          dens     dense    auto\|none\|diagonal\|adaptive\|dense
minibatch       windw    window   auto\|window\|random
lack-of-fit     onn      on       auto\|on\|off
pool-variance   aut      auto     auto\|on\|off
progress        offf     off      auto\|on\|off
TABLE

# Every number: the error and the expected range.
while IFS=$'\t' read -r option value words; do
    try "--$option $value" 2 '' "^sbps: --$option: .*$words" "${sample[@]}" "--$option=$value"
done <<'TABLE'
band	abc	'abc' is not a number: expected 0 < K <= 100 or auto
band	0	0 is out of range: expected 0 < K <= 100 or auto
band	101	out of range
band	nan	not a number
batch-size	1	needs at least 2 rows
batch-size	10.5	'10.5' is not a whole number
batch-size	-3	out of range
refresh-rate	-1	expected RATE >= 0 or auto
refresh-rate	fast	'fast' is not a number
bias-budget	0	expected 0 < SD <= 1
bias-budget	2	expected 0 < SD <= 1
horizon	0	expected LENGTH > 0 or auto
horizon	far	not a number
dt	-0.01	expected TIME > 0 or auto
dt	x	not a number
chains	0	expected a whole number 1 <= N <= 1024
chains	2000	expected a whole number 1 <= N <= 1024
chains	four	'four' is not a whole number
threads	0	out of range
threads	two	not a whole number
seed	-1	out of range
seed	18446744073709551616	out of range
seed	0x1p-1	not a whole number
warmup	long	not a whole number
ess	0	expected N > 0
ess	lots	not a number
epochs	0	expected E > 0 or none
epochs	all	not a number
seconds	-5	expected S > 0 or none
seconds	1min	'1min' is not a number
draws	3	expected a whole number N >= 4
draws	some	not a whole number
TABLE

# Config files.
printf 'band = 3\nchains four\n' >bad-line.conf
printf '# fine\n\nband = wide\n' >bad-value.conf
printf 'bnad = 3\n' >bad-name.conf
printf 'model = "logistic\n' >bad-quote.conf
printf 'band = 3\nband = 4\n' >twice.conf
try 'config: bad line'     2 '' 'bad-line.conf:2: expected .name = value' "${sample[@]}" --config bad-line.conf
try 'config: bad value'    2 '' "bad-value.conf:3: band: 'wide' is not a number" "${sample[@]}" --config bad-value.conf
try 'config: bad name'     2 '' "bad-name.conf:1: unknown option 'bnad', did you mean 'band'" "${sample[@]}" --config bad-name.conf
try 'config: open quote'   2 '' 'bad-quote.conf:1: model: a quote' "${sample[@]}" --config bad-quote.conf
try 'config: twice'        2 '' "twice.conf:2: 'band' was already set on line 1" "${sample[@]}" --config twice.conf
try 'config: none there'   1 '' 'none.conf: No such file' "${sample[@]}" --config none.conf
try 'config: a folder'     1 '' '\.: Is a directory' "${sample[@]}" --config .

# Files that cannot be written are reported before sampling.
mkdir folder.nc
try 'output: no folder'    1 '' '--output: cannot write none/run.nc: there is no directory none' "${sample[@]}" -o none/run.nc
try 'output: unwritable'   1 '' '--output: cannot write /proc/run.nc: ' "${sample[@]}" -o /proc/run.nc
try 'output: a folder'     1 '' '--output: folder.nc is a directory' "${sample[@]}" -o folder.nc
try 'output: odd ending'   2 '' "--output: 'run.txt' has an unknown ending: use .nc, .csv or .stan.csv" "${sample[@]}" -o run.txt
try 'output: the data'     2 '' '--output: data.csv is the data file' "${sample[@]}" -o data.csv
try 'checkpoint: no folder' 1 '' '--checkpoint: cannot write none/c: there is no directory' "${sample[@]}" --checkpoint none/c
try 'skeleton: no folder'  1 '' '--skeleton: cannot write none/s.csv' "${sample[@]}" --skeleton none/s.csv

# The other subcommands.
try 'list: nothing'        2 '' 'name a list: models' "$sbps" list
try 'list: misspelt'       2 '' "unknown list 'modles', did you mean 'models'" "$sbps" list modles
try 'help names list options' 0 'sbps list options'    '' "$sbps" --help
try 'list help'            0 'models.families.samplers.priors.columns.options' '' "$sbps" list --help
try 'list options'         0 '.--batch-size.'          '' "$sbps" list options
try 'list models'          0 'logistic +[A-Z].*linear +[A-Z]' '' "$sbps" list models
try 'list samplers'        0 'sbps +[^ ]'              '' "$sbps" list samplers
try 'list priors'          0 'normal +[^ ]'            '' "$sbps" list priors
try 'full standard output' 1 ''                        'standard output: No space left' bash -c '"$0" list models >/dev/full' "$sbps"
try 'sample: JSON'         0 '"parameters": '            '.' "$sbps" sample --model gaussian --dim 2 --json --progress off -o own.nc
cp .out sampled.json
try 'summary: the same'    0 '"parameters": '            '' "$sbps" summary own.nc --json
cmp -s .out sampled.json || fault 'sample: JSON' 'not what summary says'
try 'summary: no file'     2 ''                        "the run file is missing" "$sbps" summary
try 'summary: two formats' 2 ''                        'use --csv or --json, not both' "$sbps" summary run.nc --csv --json
try 'summary: option'      2 ''                        "summary: unknown option '--jsn', did you mean '--json'" "$sbps" summary run.nc --jsn
try 'diagnose: no file'    2 ''                        "the run file is missing" "$sbps" diagnose
try 'diagnose: option'     2 ''                        "diagnose: unknown option '--csv'" "$sbps" diagnose run.nc --csv
try 'simulate: no name'    2 ''                        "the name of a model is missing" "$sbps" simulate -o x.csv
try 'simulate: no output'  2 ''                        'name the output file: -o FILE' "$sbps" simulate logistic
try 'simulate: rows'       2 ''                        "--rows: '0' is not a whole number >= 1" "$sbps" simulate logistic --rows 0 -o x.csv
try 'simulate: dim'        2 ''                        "--dim: 'x' is not a whole number" "$sbps" simulate logistic --dim x -o x.csv
try 'simulate: seed'       2 ''                        "--seed: '-1' is not a whole number" "$sbps" simulate logistic --seed -1 -o x.csv
try 'simulate: name'       2 ''                        "'logistik'" "$sbps" simulate logistik -o x.csv
try 'simulate: no folder'  1 ''                        'there is no directory none' "$sbps" simulate logistic -o none/x.csv
[ -e run.nc ] && fault 'nothing is sampled' 'run.nc was written'
# ---- JSON, and colours at a terminal ----
if command -v python3 >/dev/null; then
    for family in models families samplers priors columns options; do
        cases=$((cases + 1))
        "$sbps" list $family --json | python3 -c 'import json, sys; a = json.load(sys.stdin); sys.exit(not (len(a) > 3 and all(x["name"] for x in a)))' ||
            fault "list $family --json" 'no JSON'
    done
    cases=$((cases + 1))
    python3 "$root/tests/cli/colour.py" "$sbps" >.out 2>&1 || fault 'colour' "$(tail -n 3 .out)"
fi
finish
