#!/usr/bin/env bash
# Completion: every subcommand and every option of its help is offered, values of options with a list; the scripts are valid
# in their shells.
. "$(dirname "$0")/common.sh"

try 'no shell'     2 '' 'name a shell' "$sbps" completion
try 'other shell'  2 '' "unknown shell 'csh': use bash, zsh or fish" "$sbps" completion csh

eval "$("$sbps" completion bash)"
offers() { # NAME WANTED WORD...: WANTED is offered for the last word
    local name=$1 expected=$2
    shift 2
    cases=$((cases + 1))
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _sbps
    printf "%s\n" "${COMPREPLY[@]}" >offered
    grep -qxF -- "$expected" offered || fault "$name" "'$expected' is not among '${COMPREPLY[*]}'"
}
touch rows.csv
for shell in bash zsh fish; do "$sbps" completion $shell >script.$shell || fault $shell 'exit code'; done
commands=$("$sbps" help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
for command in $commands; do
    offers "$command" "$command" sbps "${command:0:2}"
    for flag in $("$sbps" help "$command" | grep -oE '^  (-o, )?--[a-z-]+' | sed 's/.*--/--/'); do
        offers "$command $flag" "$flag" sbps "$command" --
        grep -qF -- "'$flag:" script.zsh || fault zsh "$flag is missing"
        grep -qE -- "_from $command' -l ${flag#--} " script.fish || fault fish "$flag of $command is missing"
    done
done
[ "$cases" -gt 60 ] || fault help "only $cases subcommands and options were found"
offers 'models'     logistic  sbps sample rows.csv --model lo
offers 'families'   poisson   sbps sample rows.csv --family po
offers 'samplers'   hmc       sbps sample rows.csv --sampler ''
offers 'words'      strata    sbps sample --minibatch s
offers 'files'      rows.csv  sbps summary ro
offers 'both'       --version sbps --

for shell in bash zsh fish; do
    command -v $shell >/dev/null || { echo "$shell is missing: its script was not read"; continue; }
    cases=$((cases + 1))
    $shell -n script.$shell 2>.err || fault "$shell -n" "$(head -n 2 .err)"
done
if command -v fish >/dev/null; then
    cases=$((cases + 1))
    HOME=$work fish -c 'source script.fish; complete -C "sbps sample --model log"' >offered 2>.err
    grep -q '^logistic' offered ||
        fault fish "does not offer logistic: $(head -n 2 .err)"
fi
finish
