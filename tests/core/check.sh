#!/usr/bin/env bash
# What a test program tells ctest: a word that names no property fails, a program that skipped all of its
# properties was skipped.
program=$1
failures=0

leaves() { # CODE ARGUMENTS...
    local want=$1 output got
    shift
    output=$("$program" "$@")
    got=$?
    [ $got -eq "$want" ] && return
    echo "FAILED '$*': exit $got, expected $want: $said"
    failures=$((failures + 1))
}

leaves 0  holds
leaves 77 skipped
leaves 1  fails
leaves 0  it_ # one holds, one is skipped
leaves 1
leaves 1  no_such_property
[ $failures -eq 0 ]
