# Sourced by the other scripts of this folder: finds the program, makes a temporary folder, counts failures.
#   $sbps     the program            $work   an empty folder, removed at the end
#   try NAME CODE STDOUT STDERR COMMAND...   runs it and holds exit code and both streams to
#                                            extended regular expressions ('' : must be empty)
set -uo pipefail

root=${SBPS_SOURCE_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
sbps=$(realpath "${SBPS_PROGRAM:-$root/build/sbps}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C COLUMNS=80
cases=0
failures=0

if ! [ -x "$sbps" ]; then
    echo "no program at $sbps: build it or set SBPS_PROGRAM"
    exit 1
fi

fault() { # NAME MESSAGE
    echo "FAILED $1: $2"
    failures=$((failures + 1))
}

matches() { # FILE REGEX: the whole stream, its lines joined by blanks
    if [ -z "$2" ]; then ! [ -s "$1" ]; else grep -qE -- "$2" <<<"$(tr '\n' ' ' <"$1")"; fi
}

try() {
    local name=$1 code=$2 out=$3 err=$4 got
    shift 4
    cases=$((cases + 1))
    timeout 600 "$@" >"$work/.out" 2>"$work/.err" </dev/null
    got=$?
    [[ $got =~ ^$code$ ]] || fault "$name" "exit $got, expected $code: $(head -c 300 "$work/.err")"
    matches "$work/.out" "$out" ||
        fault "$name" "stdout '$(head -c 300 "$work/.out")' does not match '$out'"
    matches "$work/.err" "$err" ||
        fault "$name" "stderr '$(head -c 300 "$work/.err")' does not match '$err'"
}

# Lets root start more ranks than cores, without warnings on stderr.
allow_ranks() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    export OMPI_MCA_btl_base_warn_component_unused=0
    export HWLOC_HIDE_ERRORS=2 # hides its warning if there is no /sys
}

# Skips a test that starts ranks where that is not possible.
needs_ranks() {
    mpirun --version 2>/dev/null | grep -q 'Open MPI' || { echo "no mpirun of Open MPI: skipped"; exit 77; }
    OMPI_COMM_WORLD_SIZE=2 "$sbps" list models >/dev/null 2>.err
    grep -q 'without MPI' .err && { echo "built without MPI: skipped"; exit 77; }
    allow_ranks
}

finish() {
    echo "$(basename "$0"): $cases cases, $failures failures"
    [ "$failures" -eq 0 ]
}
