#!/usr/bin/env bash
# The skeleton is the path: integrating it gives the reported means and sds, its events are those
# that are counted, and each begins where the one before it ended.
. "$(dirname "$0")/common.sh"
python=/usr/bin/python3
[ -x $python ] || { echo "skipped: no $python"; exit 77; }

# Reads SKELETON, the JSON of its run and LONGER, the skeleton of the same run continued; prints a
# line per fault. A record is where a segment begins, so LONGER gives the end of each chain's last one.
cat >check.py <<'PY'
import csv, json, math, sys

skeleton, summary, longer, logs = sys.argv[1], json.load(open(sys.argv[2])), sys.argv[3], sys.argv[4:]
run, parameters = summary["run"], summary["parameters"]
names = [p["name"] for p in parameters]
d = len(names)

touched = {}

def read(path):
    with open(path) as f:
        reader = csv.reader(f)
        header, chains = next(reader), {}
        for chain, time, event, count, *x in reader:
            x = [float(v) for v in x]
            chains.setdefault(int(chain), []).append((float(time), event, x[:d], x[d:]))
            touched.setdefault(path, {}).setdefault(int(chain), []).append(int(count))
    return header, chains

header, chains = read(skeleton)
_, further = read(longer)
rows = [row for path in chains.values() for row in path]
if header != ["chain", "time", "event", "rows"] + names + ["u:" + n for n in names]:
    print("header", header)
if sorted(chains) != list(range(int(run["chains"]))):
    print("chains", sorted(chains))

total, one, two, worst = 0.0, [0.0] * d, [0.0] * d, 0.0
for chain, path in chains.items():
    if further[chain][:len(path)] != path or len(further[chain]) == len(path):
        print("chain", chain, "differs in the longer run")
    path = further[chain][:len(path) + 1]
    if path[0][0] != 0.0:
        print("a path begins at", path[0][0])
    for (t, _, w, u), (t_next, _, w_next, _) in zip(path, path[1:]):
        dt = t_next - t
        if not dt >= 0:
            print("time runs back at", t)
        total += dt
        for j in range(d):
            one[j] += dt * (w[j] + 0.5 * dt * u[j])
            two[j] += dt * (w[j] ** 2 + dt * w[j] * u[j] + dt * dt * u[j] ** 2 / 3)
            worst = max(worst, abs(w[j] + dt * u[j] - w_next[j]) / (1 + abs(w[j])))
if worst > 1e-9:
    print("the path jumps by", worst)

for j, p in enumerate(parameters):
    if p["name"] in logs:
        continue
    mean = one[j] / total
    sd = math.sqrt(two[j] / total - mean ** 2)
    if abs(mean - p["mean"]) > 1e-6 * max(abs(p["mean"]), p["sd"]):
        print(p["name"], "mean", mean, "reported", p["mean"])
    if abs(sd - p["sd"]) > 1e-6 * p["sd"]:
        print(p["name"], "sd", sd, "reported", p["sd"])

# rows: none before the first segment, never fewer, and at the event that ended the last one all that are counted
for counts in touched[skeleton].values():
    if counts[0] != 0 or counts != sorted(counts):
        print("rows run back")
all_rows = sum(counts[len(chains[chain])] for chain, counts in touched[longer].items())
if all_rows != run["rows_touched"]:
    print("rows", all_rows, "counted", run["rows_touched"])

# counted are the events that end segments: all but each chain's first, and the next one
events = [event for chain, path in chains.items() for _, event, _, _ in further[chain][1:len(path) + 1]]
bounces, refreshments = events.count("bounce"), events.count("refresh")
if len(rows) != run["bounces"] + run["refreshments"]:
    print("segments", len(rows), "events", run["bounces"] + run["refreshments"])
if bounces != run["bounces"]:
    print("bounces", bounces, "counted", run["bounces"])
if refreshments != run["refreshments"]:
    print("refreshments", refreshments, "counted", run["refreshments"])
PY

# The second run is longer; LOGS are columns that the skeleton holds the logarithm of.
check() { # NAME LOGS COMMAND...
    local name=$1 logs=$2
    shift 2
    cases=$((cases + 1))
    rm -f path.csv path.state
    "$@" --ess 100 -o run.nc --skeleton path.csv --checkpoint path.state 2>.err || fault "$name" "$(tail -n 1 .err)"
    "$sbps" summary run.nc --json >run.json || fault "$name" 'no summary'
    cp path.csv first.csv
    "$@" --ess 600 -o run.nc --skeleton path.csv --resume path.state 2>.err || fault "$name" "$(tail -n 1 .err)"
    # shellcheck disable=SC2086 # a list
    $python check.py first.csv run.json path.csv $logs >.faults 2>&1 || fault "$name" "$(tail -n 1 .faults)"
    [ -s .faults ] && fault "$name" "$(head -n 3 .faults)"
}

"$sbps" simulate logistic --rows 2000 --dim 4 --seed 5 -o data.csv || exit 1
"$sbps" simulate linear --rows 500 --dim 3 --seed 5 -o line.csv || exit 1
quick=(--draws 100 --progress off)
sample=("$sbps" sample data.csv --model logistic --target y "${quick[@]}")
check 'logistic'   '' "${sample[@]}" --chains 3
check 'no metric'  '' "${sample[@]}" --chains 2 --metric none --minibatch window
check 'paper'      '' "${sample[@]}" --chains 1 --paper
check 'linear'     sigma "$sbps" sample line.csv --model linear --target y "${quick[@]}" --metric diagonal

# Without warm-up and spread the path begins at the point given, and --epochs ends it at the first event past its goal.
cases=$((cases + 1))
printf 'name,value\nintercept,0.5\nx1,1\nx2,-2\nx3,3\nx4,-4\n' >point.csv
"${sample[@]}" --paper --chains 2 --warmup 0 --spread 0 --start point.csv --epochs 20 -o short.nc --skeleton short.csv 2>.err ||
    fault 'start' "$(tail -n 1 .err)"
[ "$(grep -c ',start,0,0.5,1,-2,3,-4,' short.csv)" = 2 ] || fault 'start' "$(sed -n 2p short.csv)"
"$sbps" summary short.nc --json >short.json
$python - >.faults 2>&1 <<'PY' || fault 'epochs' "$(tail -n 1 .faults)"
import csv, json
rows = json.load(open("short.json"))["run"]["rows_touched"]
last = {row["chain"]: int(row["rows"]) for row in csv.DictReader(open("short.csv"))}
assert len(last) == 2 and all(count < 20000 for count in last.values()), last
assert rows >= 40000 and rows - sum(last.values()) < 20000, rows
PY

# The same file on any number of threads.
cases=$((cases + 1))
"${sample[@]}" --ess 100 --chains 2 -o one.nc --skeleton one.csv --threads 1 2>.err
"${sample[@]}" --ess 100 --chains 2 -o two.nc --skeleton two.csv --threads 2 2>.err
cmp -s one.csv two.csv || fault 'threads' 'two threads write another skeleton'
finish
