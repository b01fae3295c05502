#!/usr/bin/env bash
# A table of twice the memory: simulated, converted, sampled, each within a limit that the kernel
# enforces, and beside it the random reads per second the disk gives.
#   outofcore.sh [ROWS [DIM [FOLDER]]]      default 1e7 rows of 20 features in a folder under $TMPDIR
# Needs root for the limit: a memory cgroup, version 2 or 1; without it the run goes on unlimited and
# says so. SBPS_PROGRAM, SBPS_BUILD_DIR: the program and where bench-random_reads is.
set -euo pipefail

rows=${1:-10000000}
dim=${2:-20}
root=$(cd "$(dirname "$0")/.." && pwd)
build=${SBPS_BUILD_DIR:-$root/build}
sbps=${SBPS_PROGRAM:-$build/sbps}
made=${3:-}
folder=${made:-$(mktemp -d "${TMPDIR:-/tmp}/sbps-outofcore.XXXXXX")}
group=
seconds=${SECONDS_SAMPLING:-30}
depth=256 # windows asked for ahead

finish() {
    if [ -n "$group" ]; then rmdir "$group" 2>/dev/null || true; fi
    if [ -z "$made" ]; then rm -rf "$folder"; fi
}
trap finish EXIT

need=$((rows * (dim + 4) * 8 * 3 / 1024)) # text, temporary file and table
have=$(df --output=avail -k "$folder" | tail -n 1)
if [ "$have" -lt "$need" ]; then
    echo "outofcore: $folder has $((have / 1024)) MB free, expected $((need / 1024))" >&2
    exit 1
fi

# limited BYTES COMMAND...: runs it within a memory cgroup; peak and kind into $folder/peak.
limited() {
    local bytes=$1 base limit peak kind
    shift
    if [ -w /sys/fs/cgroup/cgroup.procs ] && grep -qw memory /sys/fs/cgroup/cgroup.controllers; then
        base=/sys/fs/cgroup limit=memory.max peak=memory.peak kind='cgroup v2'
        echo +memory >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null || true
    elif [ -w /sys/fs/cgroup/memory/cgroup.procs ]; then
        base=/sys/fs/cgroup/memory limit=memory.limit_in_bytes peak=memory.max_usage_in_bytes
        kind='cgroup v1'
    else
        echo '0 unlimited: no memory cgroup may be made here' >"$folder/peak"
        "$@"
        return
    fi
    group=$base/sbps-outofcore.$$
    mkdir "$group"
    echo "$bytes" >"$group/$limit"
    local code=0
    (
        echo "$BASHPID" >"$group/cgroup.procs"
        exec "$@"
    ) || code=$?
    echo "$(cat "$group/$peak") $kind" >"$folder/peak"
    echo 0 >"$group/memory.force_empty" 2>/dev/null || true
    rmdir "$group"
    group=
    return $code
}

forget() { dd if="$1" iflag=nocache count=0 status=none; } # out of the page cache

[ -x "$build/bench-random_reads" ] || cmake --build "$build" --target bench-random_reads >/dev/null
csv=$folder/table.csv table=$folder/table.tbl
if [ ! -e "$table" ]; then
    echo "simulating $rows rows of $dim features"
    "$sbps" simulate logistic --rows "$rows" --dim "$dim" --seed 1 -o "$csv" --truth "$folder/truth.csv"
    bytes=$((rows * dim * 8))
    begin=$(date +%s.%N)
    limited $((bytes / 2)) "$sbps" convert "$csv" "$table" --target y --no-intercept --memory $((bytes / 8))
    read -r peak kind <"$folder/peak"
    echo "convert: $(echo "$(date +%s.%N) - $begin" | bc) s within $((bytes / 2000000)) MB ($kind), peak $((peak / 1000000)) MB"
    rm -f "$csv"
fi
size=$(stat -c %s "$table")
half=$((size / 2))

sync
forget "$table"
limited "$half" "$sbps" sample "$table" --model logistic --seconds "$seconds" --progress off -o "$folder/run.nc"
read -r peak kind <"$folder/peak"
"$sbps" summary --json "$folder/run.nc" >"$folder/run.json"
figure() { grep -o "\"$1\": [^,]*" "$folder/run.json" | head -n 1 | cut -d' ' -f2; }
batch=$(figure batch_size)
window=$(((batch * (size / rows)) / 4096 * 4096 + 4096))
forget "$table"
reads=$(limited "$half" "$build/bench-random_reads" "$table" "$window" "$depth" 5)
echo "table $((size / 1000000)) MB, limit $((half / 1000000)) MB ($kind), peak $((peak / 1000000)) MB"
echo "disk: $reads"
awk -v rows="$(figure rows_touched)" -v p="$(figure proposals)" -v s="$(figure seconds_sampling)" -v setup="$(figure seconds_setup)" \
    -v warm="$(figure seconds_warmup)" -v ess="$(figure min_ess)" -v n="$batch" -v reads="$reads" '
    BEGIN {
        split(reads, r, " ")
        printf "sample: set-up %.1f s, warm-up %.1f s, sampling %.1f s, ESS %.0f\n", setup, warm, s, ess
        w = rows / n # every look at fresh rows reads a window: proposals, starts and ends of horizons
        printf "windows of %d rows: %.0f a second, %.0f%% of the disk'"'"'s random reads", n, w / s, 100 * w / s / r[2]
        printf " (%.0f of them proposals)\n", p / s
    }'
