#!/usr/bin/env bash
# Groups on the command line: their parameters, their effects as parameters and in a file, and refusals.
. "$(dirname "$0")/common.sh"

awk 'BEGIN {
    print "y,x,w,g,h"
    for (i = 1; i <= 400; i++) {
        g = 1 + i % 20
        eta = -0.3 + 0.8 * sin(7 * i) + 1.2 * sin(11 * g) + 3 * sin(19 * i)
        printf "%d,%.6f,%.3f,level %d,%s\n", (eta > 0), sin(7 * i), 0.5 + (i % 5) / 4, g, substr("uv", 1 + i % 2, 1)
    }
}' >t.csv
model=(t.csv 'y ~ x + (1 + x | g)' --family bernoulli --ess 200 --seed 3 --progress off --crossed integrate)

# ---- what is supported ----
try 'its mode'       0 '^name,value \(Intercept\),.* x,.* centred_sd_g__Intercept,.* sd_g__x,.* centred_cor_g__Intercept__x,' '' "$sbps" map "${model[@]:0:4}" --csv
cp .out mode.csv
try 'as parameters'  0 '' "400 rows, 5 parameters.*groups +20 levels of 'g', .* [0-9]+ quadrature points" "$sbps" sample "${model[@]}" --ranef all -o all.nc
try 'few rows'       0 'groups +40 effects of all factors, sampled jointly.*chosen +nuts on all group effects: .*small table' '' \
    "$sbps" sample "${model[@]:0:4}" --dry-run
try 'in the summary' 0 '"r_g\[level 1,Intercept\]",.*"r_g\[level 20,x\]",' '' "$sbps" summary all.nc --effects --csv
cp .out effects-all.csv
"$sbps" summary all.nc --csv | grep -v '"r_g\[' >all.csv
try 'to a file'      0 '' 'groups  ' "$sbps" sample "${model[@]}" --ranef effects.csv -o none.nc --threads 1
try 'not among them' 0 '^name,mean' '' "$sbps" summary none.nc --csv
cp .out none.csv
try 'none to list'   1 '' 'the run keeps no effects of groups: .*--ranef auto or all' "$sbps" summary none.nc --effects
[ "$(head -1 effects.csv)" = name,mean,mcse,sd,q5,q50,q95,ess_bulk,ess_tail,rhat ] || fault 'its header' "$(head -1 effects.csv)"
[ "$(wc -l <effects.csv)" = 41 ] || fault 'a line an effect' "$(wc -l <effects.csv)"
# the same draws with any options for effects and any number of threads
cmp -s all.csv none.csv || fault 'other parameters' 'are not the same'
cmp -s <(grep '^"r_' effects-all.csv | sed 's/\(\([^,]*,\)\{11\}\).*/\1/; s/,$//') <(tail -n +2 effects.csv | cut -d, -f1-11) ||
    fault 'effects' "$(grep '^"r_' effects-all.csv | head -1) $(sed -n 2p effects.csv)"
try 'with weights'   0 '' 'sd_g__Intercept' "$sbps" sample t.csv 'y ~ x + (x || g)' --family bernoulli --weights w --ess 100 --progress off -o w.nc

try 'from a summary' 0 'cor_g__Intercept__x,' '' "$sbps" map "${model[@]:0:4}" --prior-cor 'lkj(2)' --start none.csv --csv
try 'sds at the means' 1 '' "'sd_g__Intercept' is a function of several coordinates" "$sbps" map "${model[@]:0:4}" --start none.csv
try 'from a mode'    0 'centred_cor_g__Intercept__x,' '' "$sbps" map "${model[@]:0:4}" --start mode.csv --csv

# no fixed effect: as one that is fixed at 0; a constant column; a dominant group
try 'no fixed effect' 0 '^name,value sd_g__Intercept,' '' "$sbps" map t.csv 'y ~ 0 + (1 | g)' --family bernoulli --csv --storage float
cp .out nothing.csv
try 'one held at 0'   0 '^name,value x,' '' "$sbps" map t.csv 'y ~ 0 + x + (1 | g)' --family bernoulli --prior 'normal(0,1e-7)' --csv
paste -d, <(tail -1 nothing.csv) <(tail -1 .out) | awk -F, '{ d = $2 - $4; exit !(d * d < 1e-6) }' || fault 'no fixed effect' "$(tail -1 nothing.csv) $(tail -1 .out)"
awk 'NR == 1 { print $0 ",row" } NR > 1 { print $0 ",r" NR }' t.csv >rows.csv
for command in sample map; do
    try 'one row a level' 1 '' "\\(... \\| row\\): each of its 400 levels has one row.*leave the term out" \
        "$sbps" $command rows.csv 'w ~ x + (1 | row)' --family gaussian
done
try 'two levels'      0 '' 'sampler +nuts' "$sbps" sample t.csv 'y ~ x + (1 | h)' --family bernoulli --ess 50 --chains 2 --progress off -o two.nc
try 'nothing at all'  1 '' 'nothing to estimate' "$sbps" map t.csv 'y ~ 0' --family bernoulli
try 'a constant'      0 'cor_g__Intercept__one,' '' "$sbps" map <(sed '1s/$/,one/; 2,$s/$/,1/' t.csv) 'y ~ x + (1 + one | g)' --family bernoulli --csv
awk 'BEGIN {
    print "y,x,g"
    for (i = 1; i <= 600; i++) {
        g = i <= 300 ? "most" : "g" i % 30; x = sin(7 * i)
        printf "%d,%.6f,%s\n", ((g == "most" ? -1 : 2) * x + sin(11 * (i % 30)) + 2 * sin(19 * i) > 0), x, g
    }
}' >most.csv
try 'half of all rows' 0 '' 'sampler' "$sbps" sample most.csv 'y ~ x + (1 | g)' --family bernoulli --ess 100 --seed 3 --progress off -o most.nc
try 'is named'         0 '"influential_rows": "group .most. of .g. moves .x. by (about )?-' '' "$sbps" summary most.nc --json
try 'and explained'    0 "[12]\. Single groups dominate the result: group 'most' of 'g' moves 'x'" '' "$sbps" diagnose most.nc

# of three effects correlations are functions of several coordinates: everywhere in the coordinate's place
awk 'BEGIN {
    print "y,a,b,g"
    for (i = 1; i <= 96; i++) {
        g = i % 8; a = sin(7 * i); b = cos(5 * i)
        printf "%.6f,%.6f,%.6f,%d\n", sin(11 * g) + a * sin(3 * g) + b * cos(5 * g) + 0.5 * sin(19 * i), a, b, g
    }
}' >three.csv
three=(three.csv 'y ~ a + b + (1 + a + b | g)' --family gaussian --sampler hmc --ess 40 --draws 20 --chains 2 --seed 3 --progress off)
names='(Intercept),a,b,sd_g__Intercept,sd_g__a,sd_g__b,cor_g__Intercept__a,cor_g__Intercept__b,cor_g__a__b,sigma'
for_stan=_Intercept_${names#*)}
try 'three effects' 0 '' 'cor_g__Intercept__a .. cor_g__a__b \(3\) at the means of the columns ~ lkj\(2\)' "$sbps" sample "${three[@]}" --checkpoint three.chk -o three.nc
try 'their summary' 0 "^name,.*cor_g__Intercept__b,.* cor_g__a__b,.* sigma," '' "$sbps" summary three.nc --csv
cp .out three.sum
three+=(--resume three.chk)
try 'their draws'   0 '' 'linear model' "$sbps" sample "${three[@]}" -o three.draws.csv
head -1 three.draws.csv | grep -q "$names" || fault 'their draws' "$(head -1 three.draws.csv)"
try 'for Stan'      0 '' 'linear model' "$sbps" sample "${three[@]}" -o three.stan.csv
grep -q "$for_stan" three.stan_1.csv || fault 'for Stan' "$(grep -m1 Intercept three.stan_1.csv)"
try 'resumed'       0 '' 'linear model' "$sbps" sample "${three[@]}" -o again.nc
try 'resumed'       0 '^name' '' "$sbps" summary again.nc --csv
cmp -s .out three.sum || fault 'resumed' "$(diff .out three.sum | head -2)"
try 'coordinates'   0 '(^| )partial_cor_g__a__b,' '' "$sbps" map "${three[@]:0:4}" --csv
try 'no start'      1 '' "'sd_g__Intercept' is a function of several coordinates" "$sbps" map "${three[@]:0:4}" --start three.sum

# of crossed factors whose rows hardly vary levels are recentred against each other, and not against the intercept
awk 'BEGIN {
    print "y,g,h"
    for (g = 1; g <= 15; g++)
        for (h = 1; h <= 6; h++) printf "%.7f,g%d,h%d\n", 0.35 * sin(11 * g) + 0.7 * cos(5 * h) + 0.0004 * sin(19 * g + 7 * h * h), g, h
}' >fast.csv
fast=(fast.csv 'y ~ 1 + (1 | g) + (1 | h)' --family gaussian)
try 'held fast'     0 '' 'linear model' "$sbps" sample "${fast[@]}" --ess 200 --chains 2 --seed 3 --progress off --ranef all -o fast.nc
try 'and sampled'   0 '^name' '' "$sbps" summary fast.nc --effects --csv
awk -F, '
    FILENAME == "fast.csv" { total[$3] += $1; rows[$3]++ }
    FILENAME == ".out" && /^"r_h\[h/ { gsub(/^"r_h\[/, "", $1); mean[$1] = $3 }
    END {
        for (h = 2; h <= 6; h++) {
            truth = total["h" h] / rows["h" h] - total["h1"] / rows["h1"]
            off = mean["h" h] - mean["h1"] - truth
            if (off > 0.001 || off < -0.001) { print "h" h, mean["h" h] - mean["h1"], truth; exit 1 }
        }
    }' fast.csv .out >.off || fault 'levels held fast' "$(cat .off)"

# ---- refusals ----
try 'no groups'      2 '' '\-\-prior-sd needs groups, .*has none' "$sbps" sample t.csv 'y ~ x' --family bernoulli --prior-sd 'normal(0,1)' -o no.nc
try 'no effects'     1 '' '\-\-ranef: the table has no groups' "$sbps" sample t.csv 'y ~ x' --family bernoulli --ranef no.csv --ess 50 --progress off -o no.nc
try 'not lkj'        2 '' 'lkj is for correlations' "$sbps" sample "${model[@]}" --prior-cor 'normal(0,1)' -o no.nc
try 'no predictor'   2 '' 'has no linear predictor for group effects' "$sbps" map t.csv 'h ~ x + (1 | g)' --model softmax
finish
