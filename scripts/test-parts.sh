#!/usr/bin/env bash
# Runs the given make targets one after another, all of them even if one fails, and ends with a line per
# target: passed, failed or not reached, and its seconds. Exit status 1 if one failed.
#   SBPS_TEST_DEADLINE=EPOCH_SECONDS test-parts.sh TARGET...
# At the deadline the target that runs is ended, and it and those behind it are reported as not reached;
# that alone is no failure.
set -uo pipefail

deadline=${SBPS_TEST_DEADLINE:-}
summary=() failed=0

run_part() { # TARGET: 124 if the deadline ended it
    if [ -z "$deadline" ]; then
        make --no-print-directory "$1"
        return
    fi
    local left=$((deadline - $(date +%s)))
    [ "$left" -gt 0 ] || return 124
    timeout -k 20 "$left" make --no-print-directory "$1"
}

for part in "$@"; do
    printf '\n== %s\n' "$part"
    begun=$SECONDS
    run_part "$part"
    status=$?
    case $status in
    0) verdict=passed ;;
    124 | 137) verdict='not reached: no time left' ;;
    *) verdict=FAILED failed=1 ;;
    esac
    summary+=("$(printf '%-12s %5d s  %s' "$part" $((SECONDS - begun)) "$verdict")")
done

printf '\n== summary\n'
printf '%s\n' "${summary[@]}"
exit "$failed"
