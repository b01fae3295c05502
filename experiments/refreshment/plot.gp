# Above: ESS against the refreshment rate as published, by default, and on the full data without noise. Below: error of the
# means, the isotropic normal in the plane, and how much noise it needs.
eval begin(1700, 960)
set multiplot layout 2, 3 margins 0.05, 0.985, 0.075, 0.95 spacing 0.065, 0.14
set title offset 0, -0.4
set xlabel offset 0, 0.4
set ylabel offset 1, 0
none = 0.003
at(rate) = rate > 0 ? rate : none
of(way, what) = strcol('series') eq way && strcol('what') eq what ? at(column('rate')) : NaN
set logscale xy
set format y '10^{%T}'
set ylabel 'effective samples per 1000 epochs'
set key bottom left reverse Left
set xtics ('0' none, '0.01' 0.01, '0.1' 0.1, '1' 1, '10' 10, '100' 100)
set arrow 1 from 0.0055, graph 0 to 0.0055, graph 1 nohead lw 1 dt 3 lc rgb '#999999'
set label 3 'left of the dots: rate 0' at 0.0058, graph 1.015 left font ',8' textcolor rgb '#777777'
set arrow 2 from 0.2236, graph 0.3 to 0.2236, graph 1 nohead dt 2 lc rgb '#999999'
set label 2 'auto' at 0.25, graph 0.95 textcolor rgb '#555555'

set xrange [0.0022:140]
do for [way in 'sbps default bps'] {
    colour = way eq 'sbps' ? blue : way eq 'default' ? green : black
    if (way eq 'sbps') { unset arrow 2; unset label 2 } else {
        set arrow 2 from 0.2236, graph 0.3 to 0.2236, graph 1 nohead dt 2 lc rgb '#999999'
        set label 2 'auto' at 0.25, graph 0.95 textcolor rgb '#555555'
        set xrange [0.0022:14] }
    set title way eq 'sbps' ? 'As published: n = 100, k = 3' : way eq 'default' ? 'Default: control variate, metric' : 'Full data, no noise (bps), same metric'
    set xlabel way eq 'sbps' ? 'refreshments per unit of path' : 'refreshments per posterior sd of path'
    set yrange [(way eq 'sbps' ? 0.02 : way eq 'default' ? 2 : 0.3):(way eq 'sbps' ? 300 : way eq 'default' ? 3000 : 50)]
    plot for [what in "largest smallest"] for [which in "mean square"] dir.'/ess.csv' \
            using (of(way, what.' '.which)):'ess':'error' with yerrorbars lc rgb colour lw 1.5 pt 0 notitle, \
        for [what in "largest smallest"] '' using (of(way, what.' mean')):'ess' with linespoints lc rgb colour lw 2 ps 0.9 \
            pt (what eq 'largest' ? 7 : 5) title (what eq 'largest' ? 'mean, widest direction' : 'mean, narrowest direction'), \
        for [what in "largest smallest"] '' using (of(way, what.' square')):'ess' with linespoints lc rgb colour lw 1.3 ps 0.9 dt 2 \
            pt (what eq 'largest' ? 6 : 4) title (what eq 'largest' ? 'square, widest direction' : 'square, narrowest direction')
}

unset arrow 2; unset label 2
set title 'Error of the worst mean'
set xlabel 'refreshments per posterior sd of path'; set ylabel 'root mean square, posterior sd'
set xrange [0.0008:25]; set yrange [0.01:3]
set format y '%g'
none = 0.001
set xtics ('0' none, '0.01' 0.01, '0.1' 0.1, '1' 1, '10' 10)
set arrow 1 from 0.003, graph 0 to 0.003, graph 1 nohead lw 1 dt 3 lc rgb '#999999'
set label 3 'left of the dots: rate 0' at 0.0032, graph 1.015 left font ',8' textcolor rgb '#777777'
set key top left reverse Left
of(way) = only(at(column('per_sd')), strcol('series'), way)
plot dir.'/mean.csv' using (of('sbps')):'off':'error' with yerrorlines ls 1 pt 7 ps 0.9 title 'as published', \
    '' using (of('default')):'off':'error' with yerrorlines ls 3 pt 7 ps 0.9 title 'default'
unset arrow 1; unset label 3
unset logscale; set xtics auto; set format '%g'

set title 'Isotropic normal in the plane, 200 bounces'
set xlabel 'w_1'; set ylabel 'w_2'
set size ratio -1
set xrange [-4:4]; set yrange [-3:3]
set key top right
plot dir.'/orbit.csv' using (only(column('w1'), strcol('series'), 'noisy')):'w2' with lines lc rgb sky lw 0.8 title 'noise s = 0.1', \
    '' using (only(column('w1'), strcol('series'), 'exact')):'w2' with lines lc rgb black lw 0.8 title 'no noise'
set size noratio

set title 'Isotropic normal, d = 20'
set xlabel 'noise s, in units of the curvature'; set ylabel 'error of E w_j^2 (truth 1)'
set logscale xy
none = 0.001
set xrange [0.0008:10]; set yrange [0.05:2]
set xtics ('0' none, '0.01' 0.01, '0.1' 0.1, '1' 1, '10' 10)
set arrow 1 from 0.003, graph 0 to 0.003, graph 1 nohead lw 1 dt 3 lc rgb '#999999'
set label 3 'left of the dots: no noise' at 0.0032, graph 1.015 left font ',8' textcolor rgb '#777777'
set key at graph 0.02, graph 0.56 left top reverse Left
of(way) = only(at(column('noise')), strcol('refreshment'), way)
plot dir.'/normal.csv' using (of('off')):'error':'error_error' with yerrorlines lc rgb black lw 2 pt 7 ps 0.9 title 'without refreshment', \
    '' using (of('auto')):'error':'error_error' with yerrorlines lc rgb pink lw 2 pt 6 ps 0.9 title 'auto', \
    dir.'/level.csv' using (only(column('noise'), strcol('series'), 'sbps')):(1.9):(0):(-1.84) with vectors nohead dt 2 lw 1.5 lc rgb blue title 'logistic, as published', \
    '' using (only(column('noise'), strcol('series'), 'default')):(1.9):(0):(-1.84) with vectors nohead dt 2 lw 1.5 lc rgb green title 'logistic, default'
unset multiplot
