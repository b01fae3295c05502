#!/usr/bin/env bash
# A checkpoint is refused if the content of a file of the run has changed, and an incomplete file
# of a killed run is removed by the next.
. "$(dirname "$0")/common.sh"

cc=$(command -v "${CC:-cc}") || exit 77
short=(--chains 2 --threads 2 --draws 20 --ess 50 --progress off)

printf 'a,b\n1,0.5\n0.5,2\n' >covariance.csv
sample=("$sbps" sample --model gaussian --covariance covariance.csv "${short[@]}")
try 'covariance'           0 '' '.*' "${sample[@]}" --checkpoint state -o run.nc
cp state again
try 'unchanged'            0 '' '.*' "${sample[@]}" --resume again -o run.nc
printf 'a,b\n1,0.5\n0.5,3\n' >covariance.csv
cp state again
try 'changed'              1 '' 'again: the file given by --covariance has changed' "${sample[@]}" --resume again -o run.nc
printf 'a,b\n1,0.5\n0.5,2\n' >covariance.csv
try 'changed back'         0 '' '.*' "${sample[@]}" --resume again -o run.nc

# ---- a user's model ----
compile() { "$cc" -shared -fPIC "$@" -I"$root/include" "$root/examples/model.c" -o mine.so -lm; }
compile -O1 || fault 'own model' 'does not compile'
"$sbps" simulate logistic --rows 500 --dim 2 -o data.csv
sample=("$sbps" sample data.csv --model ./mine.so --target y "${short[@]}")
try 'own model'            0 '' '.*' "${sample[@]}" --checkpoint own -o run.nc
compile -O2 -DMADE_ANEW -g
try 'own model, made anew' 1 '' 'own: the file given by --model has changed' "${sample[@]}" --resume own -o run.nc

# ---- files of a killed run ----
sleep 0 &
dead=$!
wait $dead
tail=.sbps-0123abcd
echo half >run.nc.tmp.$dead$tail
echo half >other.nc.tmp.$dead$tail
echo half >run.nc.tmp.$$$tail
echo mine >run.nc.tmp.$dead
try 'after a kill'         0 '' '.*' "$sbps" sample --model gaussian "${short[@]}" -o run.nc
[ -e run.nc.tmp.$dead$tail ] && fault 'after a kill' 'what the killed run left is still there'
[ -e other.nc.tmp.$dead$tail ] || fault 'after a kill' "another run's file is gone"
[ -e run.nc.tmp.$$$tail ] || fault 'after a kill' 'the file of a living process is gone'
[ -e run.nc.tmp.$dead ] || fault 'after a kill' "a file of the user's is gone"
finish
