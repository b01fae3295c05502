#!/usr/bin/env bash
# What style asks for and a machine can check. One line a finding, FILE:LINE: sentence.
#   lint.sh [ROOT [BUILD]]    without BUILD only the sources are checked
#   SBPS_TIDY=1               clang-tidy, too, by the compile commands of BUILD: five CPU minutes
set -uo pipefail

scripts=$(cd "$(dirname "$0")" && pwd)
cd "${1:-.}" || exit 2
build=${2:-}
MAX_FUNCTION=80 # lines between its braces, braces included
MAX_FILE=800
MAX_HEADER=800 # of sbps.h, which is the whole public interface by design

findings=$(mktemp)
trap 'rm -f "$findings"' EXIT

sources() { find include src cli bench tests -name '*.[ch]' 2>/dev/null | sort; }
texts() {
    find . -path './.git' -prune -o -path './build*' -prune -o -type f \
        \( -name '*.[ch]' -o -name '*.sh' -o -name '*.md' -o -name '*.txt' -o -name '*.cmake' \
        -o -name '*.in' -o -name '*.json' -o -name '*.py' -o -name '*.R' -o -name '*.1' \
        -o -name Makefile \) -print | sed 's|^\./||' | sort
}

check_format() {
    command -v clang-format >/dev/null || echo "lint:0: clang-format is missing"
    sources | xargs -r clang-format --dry-run -Werror 2>&1 |
        awk -F: "/error:/ && !seen[\$1]++ { print \$1 \":\" \$2 \": not formatted, run clang-format -i\" }"
}

# Dependencies between modules point one way, by the names that their files use; and the drawing is theirs.
check_modules() {
    /usr/bin/python3 "$scripts/modules.py" .
    [ ! -f docs/architecture.md ] || /usr/bin/python3 "$scripts/modules.py" --check . 2>&1
}

# What include/sbps.h declares is defined in src/api and nowhere else.
check_public_functions() {
    find src -name '*.[ch]' 2>/dev/null | grep -v '^src/api/' | sort | xargs -r awk '
        !/^static/ && match($0, /^[A-Za-z_][A-Za-z_0-9 *]*[ *]sbps_[a-z_]+\(/) {
            print FILENAME ":" FNR ": a function of sbps.h, which belongs to src/api"
        }'
}

# With Linux braces a function is what stands between a { and a } in the first column.
check_lengths() {
    sources | xargs -r awk -v longest="$MAX_FUNCTION" -v usual="$MAX_FILE" -v header="$MAX_HEADER" '
        function close_file() {
            file_limit = name == "include/sbps.h" ? header : usual
            if (lines > file_limit)
                print name ":" lines ": file has " lines " lines, the limit is " file_limit
        }
        FNR == 1 { close_file(); name = FILENAME; start = 0 }
        { lines = FNR }
        /^\{/ { start = FNR }
        /^\}/ && start {
            if (FNR - start + 1 > longest)
                print FILENAME ":" start ": function has " FNR - start + 1 \
                      " lines, the limit is " longest
            start = 0
        }
        END { close_file() }'
}

check_texts() {
    /usr/bin/python3 "$scripts/words.py" . 2>&1
    local word='TO''DO|FIX''ME|XX''X'
    texts | xargs -r grep -nHE "(^|[^A-Za-z_])($word)([^A-Za-z_]|$)" | grep -vE '#[0-9]+' |
        awk -F: '{ print $1 ":" $2 ": a note to come back carries an issue number, as in (#12)" }'
    texts | xargs -r grep -nHE '(^|[^A-Za-z0-9_.])/(home|work|root|Users)/' |
        awk -F: '{ print $1 ":" $2 ": path of one machine" }'
}

check_exports() {
    nm -D --defined-only "$build/libsbps.so" | awk -v so="$build/libsbps.so" '
        { seen++ }
        $NF !~ /^sbps_/ { print so ":0: exports " $NF ", expected names that start with sbps_" }
        END { if (!seen) print so ":0: exports nothing" }'
    nm -g --defined-only "$build/libsbps.a" | awk -v archive="$build/libsbps.a" '
        NF == 3 { seen++ }
        NF == 3 && $NF !~ /^sbps_/ { print archive ":0: defines " $NF ", expected names that start with sbps_" }
        END { if (!seen) print archive ":0: defines nothing" }'
}

# A relative or empty entry of a run-time search path loads libraries from the current folder.
check_search_paths() {
    local file
    for file in "$build/sbps" "$build/libsbps.so"; do
        readelf -d "$file" 2>/dev/null | awk -v file="$file" '
            /\((RPATH|RUNPATH)\)/ && match($0, /\[.*\]/) {
                count = split(substr($0, RSTART + 1, RLENGTH - 2), entry, ":")
                if (!count) count = 1 # split of an empty text
                for (i = 1; i <= count; i++)
                    if (entry[i] !~ /^(\/|\$ORIGIN|\$\{ORIGIN\})/)
                        print file ":0: run-time search path has the entry \"" entry[i] "\", expected absolute folders"
            }'
    done
}

# Const tables of pointers land in .data.rel.ro, which is read-only once loaded. The one exception is the mutex around
# NetCDF-C and HDF5: their state is global and not thread-safe, so that only a global lock can protect it.
check_mutable_data() {
    local globals
    globals=$(nm "$build/libsbps-internal.a" 2>/dev/null | awk '/:$/ { member = $1 }
        member == "netcdf_lock.c.o:" && $2 ~ /^[bBdDC]$/ { print $3 }' | tr '\n' ' ')
    case $globals in
        '' | 'netcdf_mutex ') ;;
        *) echo "src/store/netcdf_lock.c:0: has the globals ${globals}where netcdf_mutex alone may be" ;;
    esac
    size -A "$build/libsbps-internal.a" | awk -v archive="$build/libsbps-internal.a" '
        / \(ex |:$/ && NF > 1 || /:$/ { member = $1; sub(/:$/, "", member) }
        ($1 ~ /^\.(data|bss|tdata|tbss)(\.|$)/ && $1 !~ /^\.data\.rel\.ro/ || $1 == "COMMON") && $2 > 0 &&
            !(member == "netcdf_lock.c.o" && $1 == ".bss") {
            print archive ":0: " member " has " $2 " bytes of mutable data in " $1
        }'
}

check_docs() {
    local family name
    [ ! -f docs/api.md ] || /usr/bin/python3 "$scripts/api-reference.py" --check . 2>&1
    for family in models samplers; do
        "$build/sbps" list "$family" 2>/dev/null | awk 'NF { print $1 }' | sed 's/:$//' >"$findings.kinds"
        [ -s "$findings.kinds" ] || echo "$build/sbps:0: \`sbps list $family\` lists nothing"
        while read -r name; do
            [ -f "docs/$family/$name.md" ] ||
                echo "docs/$family/$name.md:0: missing, but \`sbps list $family\` has $name"
        done <"$findings.kinds"
        rm -f "$findings.kinds"
    done
}

# Tests of `make check` are cheap, by tests/costs.txt.
check_costs() {
    [ ! -f "$build/CTestTestfile.cmake" ] || /usr/bin/python3 "$scripts/test-costs.py" --check --build "$build" --costs tests/costs.txt 2>&1
}

# Checks of .clang-tidy over src and cli, one file per process: in a process of several, clang-tidy 14
# reports every va_list but the first as uninitialised.
tidy_file() { # PROGRAM BUILD FILE: its findings, written at once
    local found status
    found=$("$1" -p "$2" --quiet --extra-arg=-Wno-unknown-warning-option "$3" 2>/dev/null)
    status=$?
    found=$(sed -nE "s|^$PWD/||; s/^([^:]+:[0-9]+):[0-9]+: (warning|error): /\1: /p" <<<"$found")
    [ "$status" -eq 0 ] || [ -n "$found" ] || found="$3:0: clang-tidy ends with status $status"
    [ -z "$found" ] || printf '%s\n' "$found"
}
export -f tidy_file

check_tidy() {
    local tidy file
    tidy=$(command -v clang-tidy-14 || command -v clang-tidy) || { echo "lint:0: clang-tidy is missing"; return; }
    [ -f "$build/compile_commands.json" ] || { echo "$build/compile_commands.json:0: missing"; return; }
    # Kernels of other processors have no compile command.
    find src cli -name '*.c' | sort | while read -r file; do
        grep -qF "$PWD/$file\"" "$build/compile_commands.json" && echo "$file"
    done | xargs -r -P "$(nproc)" -n 1 bash -c 'tidy_file "$@"' tidy_file "$tidy" "$build" | sort -u
}

checks=(check_format check_modules check_public_functions check_lengths check_texts)
if [ -n "$build" ]; then checks+=(check_exports check_search_paths check_mutable_data check_docs check_costs); fi
if [ -n "$build" ] && [ -n "${SBPS_TIDY:-}" ]; then checks+=(check_tidy); fi
for check in "${checks[@]}"; do "$check" >>"$findings"; done

if [ -s "$findings" ]; then
    cat "$findings"
    echo "lint: $(wc -l <"$findings") findings in ${#checks[@]} checks"
    exit 1
fi
echo "lint: clean, ${#checks[@]} checks over $(sources | wc -l) C files"
