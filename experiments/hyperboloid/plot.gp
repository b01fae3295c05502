eval begin(1600, 1000)
set multiplot
set style line 11 lc rgb blue lw 2 dt 2
set style line 13 lc rgb green lw 2 dt 2
# The ridge: |w0 w1 - m| < d, where the log density has fallen by N d^2 / 2.
stats dir.'/ridge.csv' using 1 nooutput name 'M'
stats dir.'/ridge.csv' using 2 nooutput name 'D'
m = M_mean; d = sqrt(2 * D_mean / 1000)
title(s) = s eq 'sbps' ? 'SBPS as published' : s eq 'sgld-small' ? 'SGLD, smaller step' : s eq 'sgld-large' ? 'SGLD, larger step' : 'mSGNHT'
colour(s) = s eq 'sbps' ? 0x0072b2 : s eq 'sgld-small' ? 0xe69f00 : s eq 'sgld-large' ? 0xd55e00 : 0xcc79a7
set style fill solid 1 noborder
set xrange [-2:2]; set yrange [-2:2]
set samples 1201
set xlabel 'w_0' offset 0, 0.5; set ylabel 'w_1' offset 1.5, 0
set xtics -2, 1, 2; set ytics -2, 1, 2
unset key
do for [i = 1:4] {
    s = word('sbps sgld-small sgld-large msgnht', i)
    set size square 0.25, 0.52
    set origin 0.25 * (i - 1), 0.48
    set title title(s)
    plot '+' using ($1 > 0 ? $1 : NaN):((m - d) / $1):((m + d) / $1) with filledcurves lc rgb '#e3e3e3', \
         '+' using ($1 < 0 ? $1 : NaN):((m + d) / $1):((m - d) / $1) with filledcurves lc rgb '#e3e3e3', \
         dir.'/traces.csv' using (only(column('w0'), strcol('sampler'), s)):(column('w1')) with lines lc rgb colour(s) + 0xa0000000 lw 0.7, \
         dir.'/traces.csv' using (only(column('w0'), strcol('sampler'), s)):(column('low') == 0 ? column('w1') : NaN) \
             with points pt 7 ps 0.28 lc rgb colour(s), \
         dir.'/traces.csv' using (only(column('w0'), strcol('sampler'), s)):(column('low') == 1 ? column('w1') : NaN) \
             with points pt 7 ps 0.55 lc rgb 'black'
}
set size nosquare 0.33, 0.47
set title 'Law of log_{10}|w_0|, all seeds'
set origin 0, 0.01
set xrange [-6:3]; set yrange [0:1]; set xtics -6, 1, 3; set ytics 0, 0.2, 1
set xlabel 'log_{10}|w_0|'; set ylabel 'share below'
set key top left Left reverse
plot dir.'/law.csv' using (only(column('log10'), strcol('sampler'), 'exact')):(column('level')) with lines lc rgb black lw 3 title 'exact', \
     '' using (only(column('log10'), strcol('sampler'), 'sbps')):(column('level')) with lines ls 1 title 'SBPS', \
     '' using (only(column('log10'), strcol('sampler'), 'sgld-small')):(column('level')) with lines ls 4 title 'SGLD, smaller', \
     '' using (only(column('log10'), strcol('sampler'), 'sgld-large')):(column('level')) with lines ls 2 title 'SGLD, larger', \
     '' using (only(column('log10'), strcol('sampler'), 'msgnht')):(column('level')) with lines ls 5 title 'mSGNHT', \
     '' using (only(column('log10'), strcol('sampler'), 'default')):(column('level')) with lines ls 13 title 'default', \
     '' using (only(column('log10'), strcol('sampler'), 'auxiliary')):(column('level')) with lines ls 11 title 'SBPS, auxiliary', \
     '' using (only(column('log10'), strcol('sampler'), 'ours')):(column('level')) with lines ls 3 title 'our sbps'
set origin 0.335, 0.01
set title 'Distance from the exact law (runs that were not lost)'
set logscale xy; set xrange [70:1.5e5]; set yrange [0.1:1]
set xtics autofreq; set ytics (0.1, 0.2, 0.3, 0.5, 1)
set format x '10^{%T}'
set xlabel 'epochs'; set ylabel 'Kolmogorov-Smirnov distance of log|w|'
unset key
plot for [i = 1:7] dir.'/lengths.csv' using (only(column('epochs'), strcol('sampler'), word('sbps sgld-small sgld-large msgnht auxiliary default ours', i))) \
         :(column('distance')):(column('distance_error')) with yerrorlines ls word('1 4 2 5 11 13 3', i) + 0 pt 7 ps 0.8
set origin 0.67, 0.01
set title 'Time in low density (exact: 0.01)'
set ylabel 'share of time' ; set yrange [0.0005:0.2]; set ytics (0.001, 0.01, 0.1)
set arrow from graph 0, first 0.01 to graph 1, first 0.01 nohead lc rgb black lw 2
least(x) = x < 0.0005 ? 0.0005 : x
plot for [i = 1:7] dir.'/lengths.csv' using (only(column('epochs'), strcol('sampler'), word('sbps sgld-small sgld-large msgnht auxiliary default ours', i))) \
         :(least(column('low'))):(least(column('low') - column('low_error'))):(least(column('low') + column('low_error'))) \
         with yerrorlines ls word('1 4 2 5 11 13 3', i) + 0 pt 7 ps 0.8
unset multiplot
