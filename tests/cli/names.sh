#!/usr/bin/env bash
# Names of any length: of columns, targets, levels and groups; ASCII, wide characters, pictures and combining marks.
# Every command runs under a memory limit, keeps each name whole, and keeps tables aligned.
. "$(dirname "$0")/common.sh"

memory=1500000 # kB
sanitized=$(nm -D "$sbps" 2>/dev/null | grep -c __asan_init)
limited() { # COMMAND...: under a limit of memory, unless the address sanitizer has the addresses
    if [ "$sanitized" -gt 0 ]; then "$@"; else (ulimit -v $memory && exec "$@"); fi
}
repeat() { # TEXT COUNT
    printf "%*s" "$2" '' | sed "s/ /$1/g"
}
# Characters of two columns become two letters, a letter and its combining mark one: bytes then count columns.
flat() {
    sed -e 's/名/xx/g' -e 's/😀/xx/g' -e "s/e$(printf '\314\201')/e/g" "$1"
}
aligned() { # NAME FILE FIRST LINES: so many lines from the first that begins with FIRST are equally wide
    local widths
    widths=$(flat "$2" | grep -m 1 -A "$(($4 - 1))" "^$3" | awk '{ print length($0) }' | sort -u | wc -l)
    [ "$widths" = 1 ] || fault "$1" "lines from '$3' on have $widths widths"
}
table() { # CHARACTER LENGTH: sets x, y, kind, group, level and unit, and writes names.csv
    local rest
    rest=$(repeat "$1" $(($2 - 1)))
    x=x$rest y=y$rest kind=k$rest group=g$rest
    awk -v rest="$rest" 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
        BEGIN { s = 99; print "x" rest ",y" rest ",k" rest ",g" rest
            split("p,q", level, ","); split("a,b,c,d", unit, ",")
            for (i = 0; i < 60; i++) {
                x = u() - 0.5
                printf "%.4f,%.4f,%s%s,%s%s\n", x, x + u(), level[1 + i % 2], rest, unit[1 + int(4 * u())], rest
            } }' >names.csv
}
good() { # NAME COMMAND...: exit 0, no line wider than a few names
    local name=$1 widest
    shift
    cases=$((cases + 1))
    limited "$@" >out 2>err </dev/null || fault "$name" "exit $?: $(head -c 300 err)"
    cat out err | iconv -f utf-8 -t utf-8 >/dev/null 2>&1 || fault "$name" 'a character is cut'
    widest=$(flat <(cat out err) | awk '{ if (length($0) > w) w = length($0) } END { print w + 0 }')
    [ "$widest" -le "$most" ] || fault "$name" "a line is $widest columns wide"
}
run() { # NAME FORMULA OPTION...
    local name=$1 formula=$2
    shift 2
    good "sample $name" "$sbps" sample names.csv "$formula" "$@" --ess 50 --seed 1 --progress off -o "$name.nc"
}
scored() { # NAME: all commands that use a stored run and its rows
    good "summary $1" "$sbps" summary "$1.nc"
    aligned "summary $1" out name 3
    good "diagnose $1" "$sbps" diagnose "$1.nc"
    good "check $1" "$sbps" check "$1.nc" names.csv
    grep -q '^power scaling of' out || fault "check $1" 'no table of the sensitivity'
    good "score $1" "$sbps" score "$1.nc" names.csv
    good "loo $1" "$sbps" loo "$1.nc" names.csv
    good "predict $1" "$sbps" predict "$1.nc" names.csv -o predicted.csv
}
all() { # CHARACTER LENGTH
    local at="$1 $2"
    table "$1" "$2"
    most=$((16 * $2 + 400))
    run lin "\`$y\` ~ \`$x\` + \`$kind\`" --family gaussian
    scored lin
    good "check $at" "$sbps" check lin.nc names.csv
    aligned "check $at" out 'statistic' 3
    flat out | grep -A 2 '^residuals along' | awk '{ at = NR == 1 ? index($0, "  worst cell") : match($0, /  z -?[0-9.]+ at /)
        if (NR > 1 && at != before) bad = 1; before = at } END { exit bad || NR < 2 }' ||
        fault "check $at" 'residuals are not aligned'
    "$sbps" summary lin.nc --csv | cut -d, -f1 | grep -qxF "$kind"q"${kind#k}" || fault "summary $at" 'the name is not whole'
    good "summary --json $at" "$sbps" summary lin.nc --json
    good "compare $at" "$sbps" compare lin.nc lin.nc --data names.csv
    good "contrast $at" "$sbps" contrast lin.nc "2 * \`$x\`"
    aligned "contrast $at" out expression 2
    good "map $at" "$sbps" map names.csv "\`$y\` ~ \`$x\`" --family gaussian
    good "laplace $at" "$sbps" laplace names.csv "\`$y\` ~ \`$x\`" --family gaussian
    good "report $at" "$sbps" report lin.nc names.csv -o page.html
    iconv -f utf-8 -t utf-8 page.html >/dev/null 2>&1 || fault "report $at" 'a character is cut in the page'
    grep -q "$(printf '\357\277\275')" page.html && fault "report $at" 'a character is cut in the page'
    good "convert $at" "$sbps" convert names.csv names.tbl --target "$y"
    try "no such column, $at" 2 '' 'no column is named' "$sbps" map names.csv "\`$y\` ~ \`${x}q\`" --family gaussian
}

# 24 bytes was where `check` ran out of memory, 1024 where names were cut.
for length in 1 24 25 300; do all a "$length"; done
all 名 24
all 😀 24
all "e$(printf '\314\201')" 24

table 😀 300
most=8000
run soft "\`$group\` ~ \`$x\`" --model softmax
scored soft
rest=${x#x}
run ord "\`$group\` ~ \`$x\`" --model ordinal --levels "a$rest,b$rest,c$rest,d$rest"
scored ord
run grp "\`$y\` ~ \`$x\` + (1 + \`$x\` | \`$group\`)" --family gaussian --ranef all
scored grp
"$sbps" summary grp.nc --csv | cut -d, -f1 >listed
for name in "sd_${group}__$x" "cor_${group}__Intercept__$x" "r_$group[a${group#g},$x]"; do
    sed 's/^"//' listed | grep -qF "${name%%,*}" || fault 'groups' "the name of ${#name} bytes is not whole"
done
[ "$("$sbps" summary grp.nc --csv | awk -F, 'NF > 3 { print $1 $2 }' | sort | uniq -d | wc -l)" = 0 ] || fault groups 'two parameters have one name'

finish
