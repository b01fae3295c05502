# Read by predict.sh and score.sh: a table, and runs on it.
awk 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
    function n() { return sqrt(-2 * log(u())) * cos(6.283185307 * u()) }
    BEGIN { s = 4711; print "x,z,a,g,y,b,c,k,o,t,s"; split("u,v,w", level, ","); split("cat,dog,eel", kind, ",")
        for (i = 0; i < 150; i++) {
            x = n(); z = 1 + 4 * u(); a = 1 + int(3 * u()); g = 1 + int(7 * u()); t = 1 + int(9 * u())
            eta = 0.3 + 0.8 * x - 0.5 * (a == 2) + 0.2 * z; p = 1 / (1 + exp(1 - eta)); count = 0; wins = 0
            for (m = exp(0.3 * x + 0.1 * z) * u(); m > 0.4; m -= 0.5) count++
            for (m = 0; m < t; m++) wins += u() < p
            printf "%.6f,%.6f,%s,g%d,%.6f,%d,%d,%s,%d,%d,%d\n", x, z, level[a], g, eta + 0.7 * n() + g / 5,
                u() < p, count, kind[1 + int(3 * u())], 1 + int(3 * u()), t, wins
        } }' >table.csv

run() { # NAME OPTION...: a run, and its draws as CSV
    local name=$1
    shift
    for ending in nc csv; do
        "$sbps" sample table.csv "$@" --seed 5 --ess 60 --draws 100 --progress off -o "$name.$ending" >/dev/null 2>.err ||
            fault "$name" "$(head -n 3 .err)"
    done
}
