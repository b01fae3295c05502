# Above: running means of one path. Below: error after 1000 epochs against r/b, and the gain against b/r.
eval begin(1500, 1060)
set multiplot layout 2, 2 margins 0.06, 0.985, 0.07, 0.955 spacing 0.08, 0.16
set title offset 0, -0.4
set xlabel offset 0, 0.4
set ylabel offset 1, 0
set xlabel 'epochs'; set ylabel 'running mean of f'
set logscale x
set key top right
set offsets 0, 0, graph 0.28, graph 0.03
of(ratio) = column('ratio') == ratio ? column('epochs') : NaN
do for [ratio in '1 0.01'] {
    set title sprintf('Running means of one path, r/b = %s', ratio)
    plot dir.'/running.csv' using (of(real(ratio))):'truth' with lines lc rgb black lw 1 dt 2 title 'expectation', \
        '' using (of(real(ratio))):'discrete' with lines lc rgb red lw 2 title 'discrete, one sample per bounce', \
        '' using (of(real(ratio))):'continuous' with lines lc rgb blue lw 2 title 'along the path'
}
set offsets 0, 0, 0, 0

set xlabel 'r/b'; set ylabel 'mean absolute error'
set logscale xy
set format '10^{%T}'
stats dir.'/lengths.csv' using 1 name 'B' nooutput
stats dir.'/lengths.csv' using 2 name 'STEP' nooutput
set xrange [0.0007:4.5]
set key bottom right
# The second axis measures r by the distance from proposal to proposal.
set x2range [0.0007 * B_mean / STEP_mean:4.5 * B_mean / STEP_mean]; set logscale x2; set format x2 '10^{%T}'; set x2tics nomirror out scale 0.6; set xtics nomirror
set title 'Error after 1000 epochs (n = 100, as published)' offset 0, 0.2
set x2label sprintf('r/b, b = %.3f from proposal to proposal', STEP_mean) offset 0, 0
set xlabel sprintf('r/b, b = %.3f from bounce to bounce', B_mean)
plot dir.'/error.csv' using 'ratio':'points_abs':'points_abs_error' with yerrorlines lc rgb pink lw 1.5 pt 2 ps 0.8 title 'at the bounces', \
    '' using 'ratio':'bounces_abs':'bounces_abs_error' with yerrorlines lc rgb red lw 2 pt 7 ps 0.9 title 'one sample per bounce, at equal times', \
    '' using 'ratio':'batches_abs':'batches_abs_error' with yerrorlines lc rgb orange lw 2 pt 5 ps 0.8 title 'one sample per mini-batch', \
    '' using 'ratio':'continuous_abs':'continuous_abs_error' with yerrorlines lc rgb blue lw 2 pt 7 ps 0.9 title 'along the path'
unset x2tics; unset x2label; unset logscale x2
set title offset 0, -0.4

set title 'Gain over one sample per bounce'
set xlabel 'b/r'; set ylabel 'ratio of root mean square errors' offset 0, 0
set xrange [8:6000]; set yrange [0.8:30]
set format y '%g'; set ytics (1, 2, 5, 10, 20)
set key top left reverse Left
stats dir.'/theory.csv' using 'density' name 'D' nooutput
line(x) = sqrt(x / (2 * pi * D_mean))
with(way) = only(column('b') / column('r'), strcol('series'), way)
plot [10:6000] line(x) with lines lc rgb '#888888' lw 1.5 title 'theory, r << b', \
    dir.'/gain.csv' using (with('n=50')):'bounces':'bounces_error' with yerrorbars lc rgb sky lw 1.8 pt 9 ps 1.1 title 'n = 50', \
    '' using (with('n=100')):'bounces':'bounces_error' with yerrorbars lc rgb blue lw 1.8 pt 7 ps 1.0 title 'n = 100', \
    '' using (with('n=500')):'bounces':'bounces_error' with yerrorbars lc rgb orange lw 1.8 pt 5 ps 0.9 title 'n = 500', \
    '' using (with('full')):'bounces':'bounces_error' with yerrorbars lc rgb black lw 1.8 pt 13 ps 1.2 title 'all rows (bps)', \
    '' using (with('default')):'bounces':'bounces_error' with yerrorbars lc rgb green lw 1.8 pt 6 ps 1.1 title 'default'
unset multiplot
