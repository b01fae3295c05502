# Above: squared error of the means; below: of the variances. Columns: epochs at each number of rows, then processor seconds.
file(name) = dir.'/'.name.'.csv'
stats file('sizes') using 'rows' nooutput name 'S'
columns = S_records + 1
eval begin(420 * columns + 420, 900)
names = "sbps-1 sbps-2 sbps-3 sbps-4 sbps-5 default boomerang lipsbps lipsbps-printed zigzag-ss local-bps zigzag-cv hmc sgld msgnht msgnht-01"
titles = "'SBPS, k = 1' 'SBPS, k = 2' 'SBPS, k = 3' 'SBPS, k = 4' 'SBPS, k = 5' 'SBPS, our default' 'Boomerang' 'lipSBPS, our bound (exact)' 'lipSBPS, printed bound (exact)' 'ZZ-SS (exact)' 'Local BPS (exact)' 'ZZ-CV (exact)' 'HMC, all rows (exact)' 'SGLD' 'mSGNHT, h = 0.01' 'mSGNHT, h = 0.1'"
K = 16
array colour[K] = ['#9ecae1', '#6baed6', blue, '#08519c', '#08306b', green, '#66c2a5', red, red, orange, '#8c510a', pink, black, grey, grey, grey]
array dash[K] = [1, 1, 1, 1, 1, 1, 2, 2, 1, 1, 1, 1, 1, 1, 2, 4]
array wide[K] = [1.6, 1.6, 3, 1.6, 1.6, 2.4, 2, 2, 2, 2, 2, 2, 1.6, 1.6, 1.6, 1.6]
array used[K]; array gone[K]; array hue[K]; array width[K]; array dots[K]; U = 0 # those that were run
do for [i=1:K] {
    stats file('present') using (column(word(names, i))) nooutput
    if (STATS_mean > 0.5) { U = U + 1; used[U] = i; gone[U] = STATS_mean > 1.5; hue[U] = colour[i]; width[U] = wide[i]; dots[U] = dash[i] }
}
point(n, i, what, x) = column('rows') == n && strcol('what') eq what ? only(x, strcol('sampler'), word(names, i)) : NaN
array size[columns]
do for [c=1:columns - 1] { stats file('sizes') using 'rows' every ::(c - 1)::(c - 1) nooutput; size[c] = STATS_mean }
size[columns] = columns > 3 ? size[3] : size[columns - 1]
right = 1.0 - 300.0 / (420 * columns + 420)
w = (right - 0.005) / columns
set multiplot
set logscale xy
set format x '10^{%T}'; set format y '10^{%T}'
set key off
set yrange [*:*]
stats file('curves') using (column('mse') < 1e9 ? column('mse') : NaN) nooutput name 'E'
set yrange [10**floor(log10(E_min)):10]
do for [r=1:2] {
    what = r == 1 ? 'mean' : 'variance'
    set tmargin at screen (r == 1 ? 0.945 : 0.47); set bmargin at screen (r == 1 ? 0.575 : 0.10)
    do for [c=1:columns] {
        set lmargin at screen (c - 1) * w + 75.0 / (420 * columns + 420); set rmargin at screen c * w - 0.002
        unset label
        axis_of = c < columns ? 'epochs' : 'seconds'
        set title sprintf("%s, N = 10^{%d}", what eq "mean" ? "Means" : "Variances", int(log10(size[c]) + 0.5)) offset 0, -0.4
        set xlabel (c < columns ? 'epochs' : 'processor seconds')
        set ylabel (c > 1 ? '' : r == 1 ? 'squared error / posterior variance' : 'squared relative error') offset 1, 0
        plot for [j=1:U] file('curves') using (point(size[c], used[j], what, column(axis_of))):'mse' with lines lc rgb hue[j] lw width[j] dt dots[j] notitle
    }
}
# The legend, right of the panels.
unset title; unset xlabel; unset ylabel; unset border; unset tics; unset grid; unset logscale
set lmargin at screen right; set rmargin at screen 1; set tmargin at screen 0.95; set bmargin at screen 0.05
set xrange [0:1]; set yrange [0:1]
set key at screen right + 0.01, 0.94 left top Left reverse
plot for [j=1:U] 2 with lines lc rgb hue[j] lw width[j] dt dots[j] title word(titles, used[j]).(gone[j] ? ': lost' : '')
unset multiplot
