eval begin(1600, 1000)
set multiplot
set style line 11 lc rgb blue lw 2 dt 2
set style line 12 lc rgb sky lw 2 dt 4
set style line 13 lc rgb green lw 2 dt 2
# The ridge: |w0 w1 - m| < d, where the log density has fallen by N d^2 / 2.
stats dir.'/ridge.csv' using 1 nooutput name 'M'
stats dir.'/ridge.csv' using 2 nooutput name 'D'
m = M_mean; d = sqrt(2 * D_mean / 1000)
title(s) = s eq 'sbps' ? 'SBPS as published' : s eq 'sgld-small' ? 'SGLD, smaller step' : s eq 'sgld-large' ? 'SGLD, larger step' : 'mSGNHT'
colour(s) = s eq 'sbps' ? 0x0072b2 : s eq 'sgld-small' ? 0xe69f00 : s eq 'sgld-large' ? 0xd55e00 : 0xcc79a7
set style fill solid 1 noborder
# Both arms from 0.01 to 100 on one axis: asinh.
c = 0.03
to(w) = asinh(w / c)
back(t) = c * sinh(t)
end = to(200)
set xrange [-end:end]; set yrange [-end:end]
set samples 2001
set xlabel 'w_0' offset 0, 0.3; set ylabel 'w_1' offset 0.5, 0
set xtics ('-100' to(-100), '-10' to(-10), '-1' to(-1), '-0.1' to(-0.1), '0' 0, '0.1' to(0.1), '1' to(1), '10' to(10), '100' to(100)) font ',9'
set ytics ('-100' to(-100), '-10' to(-10), '-1' to(-1), '-0.1' to(-0.1), '0' 0, '0.1' to(0.1), '1' to(1), '10' to(10), '100' to(100)) font ',9'
unset key
unset grid
# Within this distance of w0 = 0 the ridge fills the window: a rectangle in place of a division by 0.
seam = to((d - abs(m)) / 200)
set object 1 rectangle from -seam, graph 0 to seam, graph 1 fc rgb '#e3e3e3' fs solid noborder behind
do for [i = 1:4] {
    s = word('sbps sgld-small sgld-large msgnht', i)
    set size square 0.25, 0.52
    set origin 0.25 * (i - 1), 0.48
    set title title(s)
    plot '+' using ($1 > 0.7 * seam ? $1 : NaN):(to((m - d) / back($1))):(to((m + d) / back($1))) with filledcurves lc rgb '#e3e3e3', \
         '+' using ($1 < -0.7 * seam ? $1 : NaN):(to((m + d) / back($1))):(to((m - d) / back($1))) with filledcurves lc rgb '#e3e3e3', \
         dir.'/traces.csv' using (to(only(column('w0'), strcol('sampler'), s))):(to(column('w1'))) with lines lc rgb colour(s) + 0xa0000000 lw 0.7, \
         dir.'/traces.csv' using (to(only(column('w0'), strcol('sampler'), s))):(column('low') == 0 ? to(column('w1')) : NaN) \
             with points pt 7 ps 0.28 lc rgb colour(s), \
         dir.'/traces.csv' using (to(only(column('w0'), strcol('sampler'), s))):(column('low') == 1 ? to(column('w1')) : NaN) \
             with points pt 7 ps 0.55 lc rgb 'black'
}
unset object 1
set xtics font ',11'; set ytics font ',11'
set grid lw 0.5 lc rgb '#e4e4e4'
set size nosquare 0.33, 0.47
set title 'Law of log_{10}|w_0|, all seeds'
set origin 0, 0.01
set xrange [-6:3]; set yrange [0:1]; set xtics -6, 1, 3; set ytics 0, 0.2, 1
set xlabel 'log_{10}|w_0|' offset 0, 0.2; set ylabel 'share below' offset 1, 0
set key top left Left reverse font ',9' samplen 1.5
plot dir.'/law.csv' using (only(column('log10'), strcol('sampler'), 'exact')):(column('level')) with lines lc rgb black lw 3 title 'exact', \
     '' using (only(column('log10'), strcol('sampler'), 'sbps')):(column('level')) with lines ls 1 title 'SBPS', \
     '' using (only(column('log10'), strcol('sampler'), 'sgld-small')):(column('level')) with lines ls 4 title 'SGLD, smaller', \
     '' using (only(column('log10'), strcol('sampler'), 'sgld-large')):(column('level')) with lines ls 2 title 'SGLD, larger', \
     '' using (only(column('log10'), strcol('sampler'), 'msgnht')):(column('level')) with lines ls 5 title 'mSGNHT', \
     '' using (only(column('log10'), strcol('sampler'), 'default')):(column('level')) with lines ls 13 title 'default', \
     '' using (only(column('log10'), strcol('sampler'), 'auxiliary')):(column('level')) with lines ls 11 title 'SBPS, auxiliary', \
     '' using (only(column('log10'), strcol('sampler'), 'decay')):(column('level')) with lines ls 12 title 'SBPS, decaying weights', \
     '' using (only(column('log10'), strcol('sampler'), 'ours')):(column('level')) with lines ls 3 title 'our sbps'
set origin 0.335, 0.01
set title 'Distance from the exact law (crosses: all runs lost)'
set logscale xy; set xrange [70:1.5e5]; set yrange [0.1:1.2]
set xtics autofreq; set ytics (0.1, 0.2, 0.3, 0.5, 1)
set format x '10^{%T}'
set xlabel 'epochs' offset 0, 0.2; set ylabel 'Kolmogorov-Smirnov distance of log|w|'
unset key
plot for [i = 1:8] dir.'/lengths.csv' using (only(column('epochs'), strcol('sampler'), word('sbps sgld-small sgld-large msgnht auxiliary default ours decay', i))) \
         :(column('distance')):(column('distance_error')) with yerrorlines ls word('1 4 2 5 11 13 3 12', i) + 0 pt 7 ps 0.8, \
     for [i = 1:8] dir.'/lengths.csv' using (column('lost') == 1 ? only(column('epochs') * (0.9 + 0.05 * i), strcol('sampler'), word('sbps sgld-small sgld-large msgnht auxiliary default ours decay', i)) : NaN) \
         :(1.02) with points ls word('1 4 2 5 11 13 3 12', i) + 0 pt 2 ps 1.4
set origin 0.67, 0.01
set title 'Time in low density (exact: 0.01)'
set ylabel 'share of time' offset 1, 0; set yrange [0.0005:0.2]; set ytics (0.001, 0.01, 0.1)
set arrow from graph 0, first 0.01 to graph 1, first 0.01 nohead lc rgb black lw 2
least(x) = x < 0.0005 ? 0.0005 : x
plot for [i = 1:8] dir.'/lengths.csv' using (only(column('epochs'), strcol('sampler'), word('sbps sgld-small sgld-large msgnht auxiliary default ours decay', i))) \
         :(least(column('low'))):(least(column('low') - column('low_error'))):(least(column('low') + column('low_error'))) \
         with yerrorlines ls word('1 4 2 5 11 13 3 12', i) + 0 pt 7 ps 0.8
unset multiplot
