eval begin(1600, 1050)
set multiplot
kinds = 'sbps auxiliary default'
name(s) = s eq 'sbps' ? 'SBPS as published' : s eq 'auxiliary' ? 'SBPS, auxiliary observation' : 'default (4 chains, one a peak)'
colour(s) = s eq 'sbps' ? 0x0072b2 : s eq 'auxiliary' ? 0x56b4e9 : 0x009e73
array far[3]
do for [i = 1:3] {
    stats dir.'/scales.csv' using (column('scale') == 1 ? only(column('far'), strcol('sampler'), word(kinds, i)) : NaN) nooutput
    far[i] = STATS_mean
}
# Rings of one and two standard deviations about the peaks.
set parametric
set trange [0:2 * pi]
unset key
set xrange [-2.6:2.6]; set yrange [-2.6:2.6]
set xtics -2, 1, 2; set ytics -2, 1, 2
set xlabel 'w_1' offset 0, 0.5; set ylabel 'w_2' offset 1.5, 0
do for [i = 1:3] {
    s = word(kinds, i)
    set size square 0.33, 0.54
    set origin 0.333 * (i - 1), 0.46
    set title name(s).(i == 1 ? ' (circles: 1 and 2 sd of a peak)' : '')
    set label 1 sprintf('%.0f%% of the time farther out', 100 * far[i]) at graph 0.5, 0.98 center
    plot dir.'/draws.csv' using (only(column('w1'), strcol('sampler'), s)):(column('w2')) with points pt 7 ps 0.35 lc rgb colour(s) + 0x60000000, \
         for [a = -1:1:2] for [b = -1:1:2] for [r = 1:2] a + 0.25 * r * cos(t), b + 0.25 * r * sin(t) with lines lc rgb '#555555' lw 1
}
unset parametric
unset label 1
set size nosquare 0.33, 0.45
set origin 0, 0.01
set title 'Marginal of w_1, mean over rows, 1000 epochs'
set xrange [-2.4:2.4]; set yrange [0:1.35]; set ytics autofreq
set ylabel 'density'
set key top center maxrows 3
set style fill solid 1 noborder
plot dir.'/histogram.csv' using (only(column('w1'), strcol('sampler'), 'exact')):(column('density')) with boxes lc rgb '#d8d8d8' title 'exact', \
     '' using (only(column('w1'), strcol('sampler'), 'sbps')):(column('density')):(column('error')) with yerrorlines ls 1 pt 7 ps 0.5 lw 1.5 title 'SBPS', \
     '' using (only(column('w1'), strcol('sampler'), 'auxiliary')):(column('density')):(column('error')) with yerrorlines ls 6 pt 7 ps 0.5 lw 1.5 title 'auxiliary', \
     '' using (only(column('w1'), strcol('sampler'), 'always')):(column('density')):(column('error')) with yerrorlines ls 4 pt 7 ps 0.5 lw 1.5 title 'after every look', \
     '' using (only(column('w1'), strcol('sampler'), 'default')):(column('density')):(column('error')) with yerrorlines ls 3 pt 7 ps 0.5 lw 1.5 title 'default'
set origin 0.335, 0.01
set title 'Against the height of the barriers, 1000 epochs'
set logscale x; set xrange [0.15:3000]; set yrange [0:1.05]
set xtics ('as printed' 1000, 'mean' 1, '0.25' 0.25, '10' 10, '100' 100)
set xlabel 'scale of the sum (1: mean over rows, 1000: as printed)'
set ylabel 'total variation of a marginal'
set key top right maxrows auto
plot dir.'/scales.csv' using (only(column('scale'), strcol('sampler'), 'sbps')):(column('tv')) with points pt 7 ps 0.8 lc rgb blue title 'SBPS', \
     '' using (only(column('scale') * 1.08, strcol('sampler'), 'auxiliary')):(column('tv')) with points pt 7 ps 0.8 lc rgb sky title 'auxiliary', \
     '' using (only(column('scale') / 1.08, strcol('sampler'), 'default')):(column('tv')) with points pt 7 ps 0.8 lc rgb green title 'default'
set origin 0.67, 0.01
set title 'Against the length, mean over rows'
set logscale xy; set xrange [*:*]; set yrange [0.001:1]
set xtics autofreq; set format x '10^{%T}'; set ytics (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1)
set xlabel 'epochs'; set ylabel 'total variation'
set key bottom left Left reverse maxrows auto
plot dir.'/convergence.csv' using (only(column('epochs'), strcol('sampler'), 'auxiliary')):(column('tv')):(column('tv_error')) with yerrorlines ls 6 pt 7 title 'auxiliary', \
     '' using (only(column('epochs'), strcol('sampler'), 'always')):(column('tv')):(column('tv_error')) with yerrorlines ls 4 pt 7 title 'after every look', \
     '' using (only(column('epochs') * 1.08, strcol('sampler'), 'four')):(column('tv')):(column('tv_error')) with yerrorbars ls 5 pt 6 ps 1.3 title 'four observations (beside)', \
     '' using (only(column('epochs'), strcol('sampler'), 'default')):(column('tv')):(column('tv_error')) with yerrorlines ls 3 pt 7 title 'default', \
     '' using (only(column('epochs'), strcol('sampler'), 'auxiliary')):(column('shape')):(column('shape_error')) with yerrorlines ls 6 dt 2 pt 6 title 'auxiliary, shape of the peaks', \
     '' using (only(column('epochs'), strcol('sampler'), 'default')):(column('shape')):(column('shape_error')) with yerrorlines ls 3 dt 2 pt 6 title 'default, shape of the peaks'
unset multiplot
