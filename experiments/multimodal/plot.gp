eval begin(1700, 1000)
set multiplot
kinds = 'sbps auxiliary default'
name(s) = s eq 'sbps' ? 'as published' : s eq 'auxiliary' ? 'with the auxiliary observation' : 'default (4 chains, one a peak)'
colour(s) = s eq 'sbps' ? 0x0072b2 : s eq 'auxiliary' ? 0xd55e00 : 0x009e73
# Time far out of the run that is drawn: the median run.
array far[3]
array runs[3]
array lost[3]
do for [i = 1:3] {
    stats dir.'/scales.csv' using (column('scale') == 1 ? only(column('far'), strcol('sampler'), word(kinds, i)) : NaN) nooutput
    far[i] = STATS_median
    runs[i] = STATS_records
    stats dir.'/scales.csv' using (column('scale') == 1 ? only(column('far') > 0.5, strcol('sampler'), word(kinds, i)) : NaN) nooutput
    lost[i] = STATS_sum
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
    set size square 0.25, 0.5
    set origin 0.25 * (i - 1), 0.49
    set title name(s)
    set label 1 sprintf('%s of time farther out', far[i] > 0 ? sprintf('%.2g%%', 100 * far[i]) : 'none').(lost[i] > 0 ? sprintf(', %d of %d runs lost', lost[i], runs[i]) : '') at graph 0.53, 0.98 center font ',10'
    plot dir.'/draws.csv' using (only(column('w1'), strcol('sampler'), s)):(column('w2')) with points pt 7 ps 0.35 lc rgb colour(s) + 0x60000000, \
         for [a = -1:1:2] for [b = -1:1:2] for [r = 1:2] a + 0.25 * r * cos(t), b + 0.25 * r * sin(t) with lines lc rgb '#555555' lw 1
}
unset parametric
unset label 1
set size nosquare 0.25, 0.485
set origin 0.75, 0.5
set title 'Marginal of w_1, runs that were not lost'
set xrange [-2.4:2.4]; set yrange [0:1.6]; set ytics autofreq
set ylabel 'density'
set key top center maxrows 3
set style fill solid 1 noborder
plot dir.'/histogram.csv' using (only(column('w1'), strcol('sampler'), 'exact')):(column('density')) with boxes lc rgb '#d8d8d8' title 'exact', \
     '' using (only(column('w1'), strcol('sampler'), 'sbps')):(column('density')):(column('error')) with yerrorlines ls 1 pt 7 ps 0.5 lw 1.5 title 'published', \
     '' using (only(column('w1'), strcol('sampler'), 'always')):(column('density')):(column('error')) with yerrorlines ls 4 pt 7 ps 0.5 lw 1.5 title 'always', \
     '' using (only(column('w1'), strcol('sampler'), 'auxiliary')):(column('density')):(column('error')) with yerrorlines ls 2 pt 7 ps 0.5 lw 1.5 title 'auxiliary', \
     '' using (only(column('w1'), strcol('sampler'), 'default')):(column('density')):(column('error')) with yerrorlines ls 3 pt 7 ps 0.5 lw 1.5 title 'default'
# Dots are runs, zeros at the floor.
floor = 2e-5
place(prior) = prior eq 'hessian' ? 0 : prior eq 'learned' ? 1 : 2
at(side) = place(strcol('prior')) + 0.22 * side + 0.008 * (int(column('seed')) % 16 - 8)
high(allowed, cap) = column('allowed') == allowed && column('cap') == cap ? (column('far') > floor ? column('far') : floor) : NaN
set size 0.36, 0.48
set origin 0, 0.01
set title 'Time far out (|w_k| > 2.45) by slope prior, one dot a run'
set logscale y; set xrange [-0.5:2.5]; set yrange [1.2e-5:40]
set xtics ('Hessian (ours)' 0, 'learned (the paper)' 1, "wide (authors' code)" 2) scale 0
set ytics ('0' floor, '10^{-4}' 1e-4, '10^{-3}' 1e-3, '0.01' 0.01, '0.1' 0.1, '1' 1)
unset xlabel; set ylabel 'share of the time' offset 0.5, 0
set key top center maxrows 2
plot dir.'/priors.csv' using (at(-1.5)):(high(0, 1000)) with points pt 7 ps 0.9 lc rgb blue title 'none, segments up to 1000', \
     '' using (at(-0.5)):(high(0, 50)) with points pt 6 ps 0.9 lw 1.5 lc rgb sky title 'none, segments up to 50', \
     '' using (at(0.5)):(high(1, 1000)) with points pt 7 ps 0.9 lc rgb red title 'one auxiliary observation', \
     '' using (at(1.5)):(high(4, 1000)) with points pt 5 ps 0.9 lc rgb pink title 'up to four'
set size 0.31, 0.48
set origin 0.37, 0.01
set title 'Against the height of the barriers, 1000 epochs'
unset logscale y
set logscale x; set xrange [0.15:3000]; set yrange [0:1.3]
set xtics ('as printed' 1000, 'mean' 1, '0.25' 0.25, '10' 10, '100' 100) scale 0.6
set ytics 0, 0.25, 1
set xlabel 'scale of the sum (1: mean over rows, 1000: as printed)'
set ylabel 'total variation of a marginal'
set key top left Left reverse maxrows 2
plot dir.'/scales.csv' using (only(column('scale') * 0.92, strcol('sampler'), 'sbps')):(column('tv')) with points pt 7 ps 0.8 lc rgb blue title 'published', \
     '' using (only(column('scale') * 1.08, strcol('sampler'), 'auxiliary')):(column('tv')) with points pt 7 ps 0.8 lc rgb red title 'auxiliary', \
     '' using (only(column('scale') * 1.25, strcol('sampler'), 'hessian')):(column('tv')) with points pt 7 ps 0.8 lc rgb black title 'auxiliary, Hessian prior', \
     '' using (only(column('scale') / 1.25, strcol('sampler'), 'default')):(column('tv')) with points pt 7 ps 0.8 lc rgb green title 'default'
set size 0.31, 0.48
set origin 0.69, 0.01
set title 'Against the length, mean over rows (medians)'
set logscale xy; set xrange [*:*]; set yrange [0.003:3]
set xtics autofreq; set format x '10^{%T}'; set ytics (0.003, 0.01, 0.03, 0.1, 0.3, 1)
set xlabel 'epochs'; set ylabel 'total variation'
set key top right maxrows 3 width 2 samplen 3
plot dir.'/convergence.csv' using (only(column('epochs'), strcol('sampler'), 'auxiliary')):(column('tv')):(column('tv_error')) with yerrorlines ls 2 pt 7 title 'auxiliary', \
     '' using (only(column('epochs'), strcol('sampler'), 'auxiliary')):(column('shape')):(column('shape_error')) with yerrorlines ls 2 dt 2 pt 6 title 'its shape', \
     '' using (only(column('epochs') * 0.93, strcol('sampler'), 'always')):(column('tv')):(column('tv_error')) with yerrorlines ls 4 pt 7 title 'always', \
     '' using (only(column('epochs') * 1.07, strcol('sampler'), 'default')):(column('tv')):(column('tv_error')) with yerrorlines ls 3 pt 7 title 'default', \
     '' using (only(column('epochs') * 1.07, strcol('sampler'), 'default')):(column('shape')):(column('shape_error')) with yerrorlines ls 3 dt 2 pt 6 title 'its shape'
unset multiplot
