#!/usr/bin/env bash
# A user's model: the example of the documentation against the built-in logistic, and refusals.
. "$(dirname "$0")/common.sh"

cc=$(command -v "${CC:-cc}") || exit 77
compile() { "$cc" -O2 -shared -fPIC -I"$root/include" "$1" -o "$2" -lm; }

compile "$root/examples/model.c" mine.so || exit 1
"$sbps" simulate logistic --rows 500 --dim 3 --seed 2 -o data.csv
same=(--target y --prior 'normal(0,2.5)' --prior-intercept 'normal(0,2.5)' --ess 1000 --progress off)
try 'own'      0 '' '.*' "$sbps" sample data.csv --model ./mine.so "${same[@]}" -o own.nc
try 'built-in' 0 '' '.*' "$sbps" sample data.csv --model logistic "${same[@]}" -o built.nc
"$sbps" summary own.nc --csv >own.csv
"$sbps" summary built.nc --csv >built.csv
cases=$((cases + 1))
paste -d, own.csv built.csv | awk -F, '
    # name,mean,mcse,sd,... twice
    NR > 1 {
        o = NF / 2
        z = ($2 - $(o + 2)) / sqrt($3 * $3 + $(o + 3) * $(o + 3))
        if ($1 != $(o + 1)) { print "name " $1 " against " $(o + 1); bad = 1 }
        if (z < -5 || z > 5) { print $1 ": means differ by " z " standard errors"; bad = 1 }
        if ($4 / $(o + 4) < 0.85 || $4 / $(o + 4) > 1.15) { print $1 ": sd " $4 " against " $(o + 4); bad = 1 }
    }
    END { if (NR != 5) { print NR - 1 " parameters, expected 4"; bad = 1 }; exit bad }' ||
    fault 'same posterior' 'own and built-in logistic disagree'

run() { try "$1" "$2" '' "$3" "$sbps" sample data.csv --target y --progress off --ess 50 -o x.nc "${@:4}"; }
run 'whole path'     0 '.*' --model "$PWD/mine.so"
try 'the file is recorded' 0 "formula +y ~ .*model +$PWD/mine.so rows" '' "$sbps" summary x.nc
run 'no such file'   '[12]' '--model: cannot load ./nothere.so' --model ./nothere.so
run 'not a library'  '[12]' '--model: cannot load ./data.csv' --model ./data.csv
try 'bad target' '[12]' '' './mine.so: a row whose target is .*: expected 0 or 1' "$sbps" sample data.csv --model ./mine.so --target x1
try 'offset'     '[12]' '' '--offset: model ./mine.so has no linear predictor' "$sbps" sample data.csv --model ./mine.so --target y --offset x1
printf 'model = ./mine.so\n' >config
try 'config'     '[12]' '' 'config:1: a config file cannot load code: use --model ./mine.so on the command line' "$sbps" sample data.csv --target y --config config
try 'simulate'   '[12]' '' "cannot simulate './mine.so'" "$sbps" simulate ./mine.so -o y.csv

refuse() { # NAME MESSAGE SED: the example with an error
    sed "$3" "$root/examples/model.c" >spoilt.c
    cmp -s spoilt.c "$root/examples/model.c" && fault "$1" 'nothing was spoilt'
    compile spoilt.c spoilt.so || fault "$1" 'does not compile'
    run "$1" '[12]' "$2" --model ./spoilt.so
}
refuse 'abi'       'has abi 7, this program needs abi 1' 's/\.abi = .*/.abi = 7,/'
refuse 'size'      'has struct_size 8: set it to sizeof' 's/\.struct_size = .*/.struct_size = 8,/'
refuse 'later'     'compiled for a later version' 's/\.struct_size = .*/.struct_size = 4096,/'
refuse 'flags'     'has flags 0x4' 's/\.dim = dim,/.flags = 4, .dim = dim,/'
refuse 'gradient'  'has no function .gradient.' 's/\.gradient = gradient,//; s/^static void gradient/void gradient/'
refuse 'no table'  'exports no .sbps_model.' 's/sbps_model_table sbps_model =/sbps_model_table other =/'
refuse 'sign'      "its gradient is not the derivative of its loglik: for parameter 0, .intercept.," 's/residual = y - 1.0/residual = 1.0 - y - 1.0/'
refuse 'nan'       'its loglik is -?nan near' 's/return y \* eta/return sqrt(-1.0) * eta/'
refuse 'dim'       'it has no parameters for rows of 4 columns' 's/return columns;/return columns - columns;/'

refuse 'one part'  "for parameter 2, .x2., the gradient is" 's/out\[j\] = residual \* x\[j\];/out[j] = (j == 2 ? 1.5 : 1.0) * residual * x[j];/'

# A gradient that is wrong only where it is not checked beforehand: paths diverge.
sed 's/out\[j\] = residual \* x\[j\];/out[j] = j == 2 \&\& w[2] > 2.9 ? 3.0 : residual * x[j];/' "$root/examples/model.c" >lost.c
compile lost.c lost.so || fault 'lost' 'does not compile'
run 'leaves for ever' '[12]' 'chain [1-4] of sbps has left the posterior: .* the gradient of the model does not seem to match' --model ./lost.so --sampler sbps

# Names made of those of the columns.
sed 's/\.check = check,/.check = check, .name_by_columns = name_it,/; s/^const sbps_model_table/#include <stdio.h>\nstatic void name_it(size_t columns, const char *const *names, size_t j, size_t size, char *text)\n{ (void)columns; snprintf(text, size, "slope of %s", names[j]); }\n&/' \
    "$root/examples/model.c" >named.c
compile named.c named.so || fault 'named' 'does not compile'
try 'names'        0 'slope of intercept .*slope of x3 ' '' "$sbps" map data.csv --model ./named.so --target y --prior 'normal(0,2.5)'

# Random effects with their scale: no mode, and a sentence instead of minutes.
cat >effects.c <<'CODE'
#include "sbps_model.h"
#include <math.h>
#define EACH 20.0 /* rows of a group, which share its prior */
static size_t dim(size_t columns) { return columns ? 32 : 0; }
static double loglik(size_t d, const double *w, size_t columns, const double *x, double y)
{
    double u = w[2 + (size_t)x[1]], eta = w[0] + u;
    (void)d, (void)columns;
    return y * eta - log1p(exp(eta)) - (0.5 * u * u * exp(-2.0 * w[1]) + w[1]) / EACH;
}
static void gradient(size_t d, const double *w, size_t columns, const double *x, double y, double *out)
{
    double u = w[2 + (size_t)x[1]], r = y - 1.0 / (1.0 + exp(-w[0] - u)), v = exp(-2.0 * w[1]);
    (void)columns;
    for (size_t j = 0; j < d; j++) out[j] = 0.0;
    out[0] = r;
    out[1] = (u * u * v - 1.0) / EACH;
    out[2 + (size_t)x[1]] = r - u * v / EACH;
}
static double prior_sd(size_t columns, size_t j) { return columns && j == 1 ? 1.0 : 5.0; }
const sbps_model_table sbps_model = {.abi = SBPS_MODEL_ABI, .struct_size = sizeof(sbps_model_table),
    .dim = dim, .loglik = loglik, .gradient = gradient, .prior_sd = prior_sd};
CODE
compile effects.c effects.so || fault 'effects' 'does not compile'
awk 'BEGIN { srand(4); print "y,g"; for (i = 0; i < 600; i++) print (rand() < 0.3 + 0.4 * (i % 30 > 14)) "," i % 30 }' >groups.csv
try 'runs away'  1 '' "no mode within reach: after 20 Newton steps .*'w2' has run to -.*standard normal" "$sbps" map groups.csv --model ./effects.so --target y

finish
