#!/usr/bin/env bash
# Advice names only options and commands that exist, and advice of `check` names the command that has the option. Read from the
# sources, so that rare messages are covered.
. "$(dirname "$0")/common.sh"

sources=${ADVICE_SOURCES:-$root/src}
for command in $("$sbps" --help | awk '/^  [a-z]+  / { print $1 }'); do
    "$sbps" "$command" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sed "s/^/$command /"
done | sort -u >.known
cut -d' ' -f2 .known | sort -u >.options

strings() { # FILE: its strings, a line each, pieces of one sentence joined
    grep -vE '^(#include| \*|/\*)' "$1" | tr '\n' ' ' | sed -E 's/"[[:space:]]*"//g' | grep -oE '"([^"\\]|\\.)*"'
}
cases=$((cases + 1))
for file in "$sources"/output/check/*.c "$sources"/output/summary/*.c "$sources"/output/predict/*.c "$sources"/posterior/mode/*.c; do strings "$file"; done >.advice
grep -oE -- '--[a-z][a-z-]*' .advice | sort -u >.named
[ "$(wc -l <.named)" -gt 20 ] || fault 'advice' 'no options are seen in it'
comm -23 .named .options >.none
[ -s .none ] && fault 'advice' "names options that no command has: $(tr '\n' ' ' <.none)"

cases=$((cases + 1))
grep -oE '`sbps [a-z]+' .advice | cut -d' ' -f2 | sort -u >.commands
[ -s .commands ] || fault 'advice' 'no commands are seen in it'
while read -r command; do
    "$sbps" "$command" --help >/dev/null 2>&1 || fault 'advice' "names a command that is none: $command"
done <.commands

cases=$((cases + 1))
grep '^check ' .known | cut -d' ' -f2 | sort -u >.of_check
for file in "$sources"/output/check/*.c; do strings "$file"; done | grep -E -- '--[a-z]' >.of_rows
while read -r sentence; do
    for option in $(grep -oE -- '--[a-z][a-z-]*' <<<"$sentence"); do
        grep -qx -- "$option" .of_check || grep -qF '`sbps ' <<<"$sentence" ||
            fault 'advice of check' "names $option, which is another command's, without it: $sentence"
    done
done <.of_rows
finish
