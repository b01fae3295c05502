eval begin(1800, 1080)
set multiplot
# The ridge: |w0 w1 - m| < d, where the log density has fallen by N d^2 / 2.
stats dir.'/ridge.csv' using 1 nooutput name 'M'
stats dir.'/ridge.csv' using 2 nooutput name 'D'
stats dir.'/arms.csv' using 2 nooutput name 'F'
stats dir.'/traces.csv' using (column('epochs')) nooutput name 'E'
stats dir.'/lengths.csv' using (column('epochs')) nooutput name 'L'
# Where no auxiliary observation was needed, its lines are those of SBPS as published.
mark(s) = only(column('lost') + (column('distance') < 10 ? column('distance') + column('low') : 0), strcol('sampler'), s)
stats dir.'/lengths.csv' using (mark('sbps')) nooutput name 'U'
stats dir.'/lengths.csv' using (mark('auxiliary')) nooutput name 'V'
m = M_mean; d = sqrt(2 * D_mean / 1000)
names = 'sbps auxiliary decay sgld-small sgld-large msgnht ours default'
name(s) = s eq 'sbps' ? 'SBPS as published' : s eq 'sgld-small' ? 'SGLD, smaller step' : s eq 'sgld-large' ? 'SGLD, larger step' : s eq 'msgnht' ? 'mSGNHT' : \
          s eq 'auxiliary' ? 'SBPS, auxiliary observation'.(U_sum == V_sum ? ' (same lines)' : '') : s eq 'decay' ? 'SBPS, decaying weights' : s eq 'ours' ? 'our sbps' : 'default command'
styles = '1 6 7 4 2 5 3 8'
colour(s) = s eq 'sbps' ? 0x0072b2 : s eq 'sgld-small' ? 0xe69f00 : s eq 'sgld-large' ? 0xd55e00 : 0xcc79a7
# Lines that lie on each other: a wide one below, a broken one above.
wide(k) = k == 1 ? 5 : 2
dash(k) = k == 2 ? 3 : k == 3 ? 2 : k == 8 ? 4 : 1
# One key for the picture, on top.
set size 1, 0.06; set origin 0, 0.94
set border 0; unset tics; unset grid
set xrange [0:1]; set yrange [0:1]
set key at screen 0.5, 0.985 center top horizontal maxrows 2 maxcols 5 width 2 samplen 3
plot for [k = 1:8] NaN with lines ls word(styles, k) + 0 lw wide(k) dt dash(k) title name(word(names, k)), \
     NaN with lines lc rgb black lw 3 title 'exact', NaN with points pt 7 ps 0.8 lc rgb black title 'low density'
unset key
set border 3; set tics out scale 0.6; set xtics nomirror; set ytics nomirror
set style fill solid 1 noborder
# The centre, on linear axes. Edges of the ridge, cut at the window: one area without a seam at w0 = 0.
end = 3.0
low(x) = x == 0 ? -end : (y = x > 0 ? (m - d) / x : (m + d) / x, y < -end ? -end : y)
high(x) = x == 0 ? end : (y = x > 0 ? (m + d) / x : (m - d) / x, y > end ? end : y)
edge(x, up) = x == 0 ? NaN : (y = up ? (x > 0 ? m + d : m - d) / x : (x > 0 ? m - d : m + d) / x, abs(y) > end ? NaN : y)
set xrange [-end:end]; set yrange [-end:end]
set samples 4001
set xlabel 'w_0' offset 0, 0.4; set ylabel 'w_1' offset 0.5, 0
set xtics -3, 1, 3; set ytics -3, 1, 3
do for [i = 1:4] {
    s = word('sbps sgld-small sgld-large msgnht', i)
    set size square 0.25, 0.46
    set origin 0.25 * (i - 1), 0.48
    set title name(s)
    plot '+' using 1:(low($1)):(high($1)) with filledcurves lc rgb '#e3e3e3', \
         '+' using 1:(edge($1, 1)) with lines lc rgb '#a0a0a0' lw 0.8, '+' using 1:(edge($1, 0)) with lines lc rgb '#a0a0a0' lw 0.8, \
         dir.'/traces.csv' using (only(column('w0'), strcol('sampler'), s)):(column('w1')) with lines lc rgb colour(s) + 0xb0000000 lw 0.7, \
         dir.'/traces.csv' using (only(column('w0'), strcol('sampler'), s)):(column('low') == 0 ? column('w1') : NaN) \
             with points pt 7 ps 0.32 lc rgb colour(s), \
         dir.'/traces.csv' using (only(column('w0'), strcol('sampler'), s)):(column('low') == 1 ? column('w1') : NaN) \
             with points pt 7 ps 0.6 lc rgb 'black'
}
set grid lw 0.5 lc rgb '#e4e4e4'
w = 0.197; h = 0.46
set size nosquare w, h
# The arms: how far out the same runs are.
set origin 0, 0.01
set title 'Arms: distance from the centre'
set xrange [0:*]; set xtics 0, 10**floor(log10(1.02 * E_max)) / 2
set logscale y; set yrange [0.05:300]; set ytics (0.1, 1, 10, 100)
set xlabel 'epochs (grey: 90% of the posterior)' offset 0, 0.2; set ylabel 'larger of |w_0|, |w_1|' offset 1, 0
set object 1 rectangle from graph 0, first F_min to graph 1, first F_max fc rgb '#ececec' fs solid noborder behind
far(x, y) = abs(x) > abs(y) ? abs(x) : abs(y)
plot for [s in 'msgnht sgld-large sgld-small sbps'] dir.'/traces.csv' using (only(column('epochs'), strcol('sampler'), s)):(far(column('w0'), column('w1'))) \
    with lines lc rgb colour(s) lw (s eq 'sbps' ? 2 : 0.8)
unset object 1
unset logscale y
set title 'Distribution of log_{10}|w_0|'
set origin 0.2, 0.01
set xrange [-5:3]; set yrange [0:1]; set xtics -4, 2, 2; set ytics 0, 0.2, 1
set xlabel 'log_{10}|w_0| (runs that were not lost)' offset 0, 0.2; set ylabel 'fraction below' offset 1, 0
plot dir.'/distribution.csv' using (only(column('log10'), strcol('sampler'), 'exact')):(column('level')) with lines lc rgb black lw 3, \
     for [k = 1:8] '' using (only(column('log10'), strcol('sampler'), word(names, k))):(column('level')) with lines ls word(styles, k) + 0 lw wide(k) dt dash(k)
set logscale x; set xrange [70:1.5 * L_max]
set xtics autofreq; set format x '10^{%T}'
set xlabel 'epochs' offset 0, 0.2
# Medians over all runs; no point where half of the runs were lost.
set origin 0.4, 0.01
set title 'KS distance of log|w|, median'
set logscale y; set yrange [0.15:0.8]; set ytics (0.15, 0.2, 0.3, 0.4, 0.6, 0.8)
set ylabel 'Kolmogorov-Smirnov distance'
beside(k) = 0.88 + 0.03 * k
plot for [k = 1:8] dir.'/lengths.csv' using (only(beside(k) * column('epochs'), strcol('sampler'), word(names, k))) \
         :(column('distance')):(column('distance_error')) with yerrorlines ls word(styles, k) + 0 lw wide(k) dt dash(k) pt 7 ps 0.7
set origin 0.6, 0.01
set title 'Time in low density, median'
set ylabel 'fraction of time (line: exact)' offset 1, 0; set yrange [0.0005:0.2]; set ytics (0.001, 0.01, 0.1)
set arrow 1 from graph 0, first 0.01 to graph 1, first 0.01 nohead lc rgb black lw 2 back
least(x) = x < 0.0005 ? 0.0005 : x
plot for [k = 1:8] dir.'/lengths.csv' using (only(beside(k) * column('epochs'), strcol('sampler'), word(names, k))) \
         :(least(column('low'))):(least(column('low') - column('low_error'))):(least(column('low') + column('low_error'))) \
         with yerrorlines ls word(styles, k) + 0 lw wide(k) dt dash(k) pt 7 ps 0.7
unset arrow 1
set origin 0.8, 0.01
set title 'Runs lost (equal lines set apart)'
unset logscale y
set ylabel 'fraction of runs'; set yrange [-0.03:1.12]; set ytics 0, 0.2, 1
plot for [k = 1:8] dir.'/lengths.csv' using (only(beside(k) * column('epochs'), strcol('sampler'), word(names, k))):(column('lost') / column('runs') + 0.012 * (k - 1)) \
         with linespoints ls word(styles, k) + 0 lw wide(k) dt dash(k) pt 7 ps 0.7
unset multiplot
