#!/usr/bin/env bash
# A rank that failed may stop waiting for the codes of the others, and wait for them again.
program=$1
. "$(dirname "$0")/../cli/common.sh"

needs_ranks
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # Open MPI leaves memory behind
try 'codes' 0 'rank [01] ok.*rank [01] ok' '' mpirun -n 2 "$program" "$work/waited"
finish
