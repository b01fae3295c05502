# Above: exact and noisy trajectories on contours of 50, 90 and 99 % probability; the test of the distribution, and its quantiles
# when the noise is thinned by a band; noise that is not independent along a segment. Below: travel times, QQ plot, ACF per bounce
# and per path length; reversible samplers.
eval begin(2200, 920)
s = 1.5
cx(t, p) = s * sqrt(-2 * log(1 - p)) * cos(t)
cy(t, p) = sqrt(-2 * log(1 - p)) * sin(t) + cx(t, p)**2 - s**2
set samples 400
set multiplot layout 2, 5 margins 0.038, 0.99, 0.085, 0.945 spacing 0.045, 0.145
set title offset 0, -0.4
set xlabel offset 0, 0.4
set ylabel offset 1.2, 0

set key off
set xrange [-4.9:4.9]; set yrange [-6:20]
set xlabel 'w_1'; set ylabel 'w_2'
do for [way in 'exact noisy'] {
    set title sprintf('%s gradients: 50 bounces', way eq 'exact' ? 'Exact' : 'Noisy')
    plot sample [t=-pi:pi] '+' using (cx(t, 0.5)):(cy(t, 0.5)) with lines ls 8, \
        [t=-pi:pi] '+' using (cx(t, 0.9)):(cy(t, 0.9)) with lines ls 8, \
        [t=-pi:pi] '+' using (cx(t, 0.99)):(cy(t, 0.99)) with lines ls 8, \
        dir.'/trajectory.csv' using (only(column('w1'), strcol('series'), way)):(column('w2')) \
            with linespoints pt 7 ps 0.35 lc rgb (way eq 'exact' ? black : blue) lw 1.3
}

set title 'Test against the known marginals'
set xrange [*:*]; set yrange [*:*] # stats leaves out what is outside
stats dir.'/marginals.csv' using 'index' nooutput name 'I'
stats dir.'/marginals.csv' using (abs(column('z'))) nooutput name 'Z'
stats dir.'/marginals.csv' using (only(abs(column('z')), strcol('series'), 'sbps')) nooutput name 'P'
set xrange [-0.7:I_max + 0.7]; set logscale y; set yrange [0.03:3 * (Z_max > 10 ? Z_max : 10)]
set xlabel 'moments and tails | deciles of w_1 | deciles of w_2' offset 0, -0.7; set ylabel '|z| of a statistic'
set format x ''; unset xtics; set format y '10^{%T}'
set key top left reverse Left maxrows 2 font ',9' samplen 1 width -2
set arrow 1 from -0.7, 5 to I_max + 0.7, 5 nohead dt 2 lc rgb '#555555' front
set label 1 'limit' at I_max + 0.6, 8 right textcolor rgb '#555555' front
set arrow 2 from I_max - 17.5, graph 0 to I_max - 17.5, graph 0.85 nohead lc rgb '#cccccc'
set arrow 3 from I_max - 8.5, graph 0 to I_max - 8.5, graph 0.85 nohead lc rgb '#cccccc'
z(way) = only(abs(column('z')) > 0.03 ? abs(column('z')) : 0.03, strcol('series'), way)
plot dir.'/marginals.csv' using 'index':(z('sbps')) with points pt 2 ps 1.0 lw 1.5 lc rgb red title 'thinned as published'.(P_max > 5 ? ': rejected' : ''), \
    '' using 'index':(z('exact')) with points pt 6 ps 1.1 lw 1.5 lc rgb black title 'exact', \
    '' using 'index':(z('noisy')) with points pt 7 ps 0.9 lc rgb blue title 'noisy, exact arrivals', \
    '' using 'index':(z('default')) with points pt 4 ps 1.0 lw 1.5 lc rgb green title 'thinned by default'
set xtics nomirror out scale 0.6; set xlabel offset 0, 0.4
set key default; set key samplen 2 spacing 1.1 textcolor rgb '#222222'
unset arrow; unset label; set format x; set format y; unset logscale y

# Near and far on one axis: asinh. Medians over chains; bars from the least to the largest chain.
far(v) = asinh(v)
set title 'Noise thinned by a band: quantiles of w_1'
set xlabel 'known quantile'; set ylabel 'quantile of a chain'
set xrange [*:*]; set yrange [*:*]
stats dir.'/qq.csv' using (column('largest')) nooutput name 'H'
stats dir.'/qq.csv' using (-column('least')) nooutput name 'L'
top = far(2.5 * (H_max > L_max ? (H_max > 5 ? H_max : 5) : (L_max > 5 ? L_max : 5)))
set xrange [-4.8:4.8]; set yrange [-top:top]
set ytics ('-100' -far(100), '-30' -far(30), '-10' -far(10), '-3' -far(3), '-1' -far(1), '0' 0, '1' far(1), '3' far(3), '10' far(10), '30' far(30), '100' far(100))
set key bottom right
plot far(x) with lines lc rgb '#999999' lw 1 notitle, \
    dir.'/qq.csv' using (only(column('theory'), strcol('series'), 'sbps')):(far(column('median'))):(far(column('least'))):(far(column('largest'))) with yerrorbars pt 2 ps 0.9 lc rgb red lw 1.5 title 'as published, k = 3', \
    '' using (only(column('theory') + 0.1, strcol('series'), 'default')):(far(column('median'))):(far(column('least'))):(far(column('largest'))) with yerrorbars pt 4 ps 0.9 lc rgb green lw 1.5 title 'default'
set ytics autofreq

set title 'Standard normal, noise kept along a segment'
set xlabel 'noise drawn anew'; set ylabel 'E w^2, truth 1'
set logscale y; set xrange [-0.4:3.4]; set yrange [0.8:12]; set ytics (1, 2, 3, 5, 10)
set xtics ("at each\npoint" 0, "each 0.1 sd\nof path" 1, "each 1 sd\nof path" 2, "at the\nbounce" 3)
set xlabel offset 0, -0.6
set key top left reverse Left
place(h) = h eq '0' ? 0 : h eq '0.1' ? 1 : h eq '1' ? 2 : 3
kept(sigma) = strcol('statistic') eq 'E w^2' && column('sigma') == sigma ? place(strcol('hold')) : NaN
set arrow 1 from -0.4, 1 to 3.4, 1 nohead lc rgb '#999999' lw 1 back
plot dir.'/independence.csv' using (kept(5)):'value':(2 * column('error')) with yerrorbars pt 7 ps 1.2 lc rgb blue lw 1.5 title 'noise N(0, 5^2)', \
    '' using (kept(1)):'value':(2 * column('error')) with yerrorbars pt 5 ps 1.2 lc rgb orange lw 1.5 title 'noise N(0, 1)'
unset arrow 1; unset logscale y; set xtics autofreq; set ytics autofreq; set xlabel offset 0, 0.4

set title 'Travel time until a bounce'
set xlabel 'path length'; set ylabel 'density'
set xrange [0:3]; set yrange [0:*]
set key top right
band(way, sign) = only(column('density') + sign * column('error'), strcol('series'), way)
plot dir.'/travel.csv' using 'time':(band('exact', -2)):(band('exact', 2)) with filledcurves fs solid 0.2 noborder lc rgb black notitle, \
    '' using 'time':(band('noisy', -2)):(band('noisy', 2)) with filledcurves fs solid 0.2 noborder lc rgb blue notitle, \
    '' using 'time':(band('exact', 0)) with lines ls 7 title 'exact', \
    '' using 'time':(band('noisy', 0)) with lines ls 1 title 'noisy'

set title 'QQ plot of w_1'
set xlabel 'known quantile'; set ylabel 'quantile of the draws'
set xrange [-4.8:4.8]; set yrange [-4.8:4.8]
set key bottom right
plot x with lines lc rgb '#999999' lw 1 notitle, \
    dir.'/qq.csv' using (only(column('theory'), strcol('series'), 'exact')):'quantile':'error' with yerrorbars pt 6 ps 1.1 lc rgb black lw 1.2 title 'exact', \
    '' using (only(column('theory'), strcol('series'), 'noisy')):'quantile':'error' with yerrorbars pt 7 ps 0.8 lc rgb blue lw 1.2 title 'noisy'

set yrange [-0.1:1]; set ylabel 'autocorrelation of w_1'
set key top right
lag(way, of) = strcol('series') eq way && strcol('unit') eq of ? column('lag') : NaN
do for [of in 'bounce time'] {
    set title sprintf('ACF per %s', of eq 'bounce' ? 'bounce' : 'path length')
    set xlabel (of eq 'bounce' ? 'bounces' : 'path length')
    set xrange [0:(of eq 'bounce' ? 300 : 150)]
    plot dir.'/acf.csv' using (lag('exact', of)):(column('acf') - 2 * column('error')):(column('acf') + 2 * column('error')) with filledcurves fs solid 0.2 noborder lc rgb black notitle, \
        '' using (lag('noisy', of)):(column('acf') - 2 * column('error')):(column('acf') + 2 * column('error')) with filledcurves fs solid 0.2 noborder lc rgb blue notitle, \
        '' using (lag('exact', of)):'acf' with lines ls 7 title 'exact', \
        '' using (lag('noisy', of)):'acf' with lines ls 1 title 'noisy'
}
set title 'Normal, d = 20: reversible or not'
set logscale y; set xrange [-0.5:2.5]; set yrange [1:500]; set xlabel 'statistic'
set ylabel 'effective samples per 1000 evaluations'
set xtics ("slowest\ncoordinate" 0, "slowest\nsquare" 1, 'potential' 2) scale 0
set xlabel ''
set key top left reverse Left
at(name, shift) = strcol('sampler') eq name ? (strcol('statistic') eq 'w' ? 0 : strcol('statistic') eq 'w^2' ? 1 : 2) + shift : NaN
plot dir.'/best.csv' using (at('bps', -0.15)):'ess':(2 * column('error')) with yerrorbars pt 7 ps 1.3 lc rgb blue lw 1.5 title 'BPS', \
    '' using (at('mala', 0)):'ess':(2 * column('error')) with yerrorbars pt 5 ps 1.2 lc rgb orange lw 1.5 title 'MALA', \
    '' using (at('rwm', 0.15)):'ess':(2 * column('error')) with yerrorbars pt 9 ps 1.3 lc rgb pink lw 1.5 title 'random-walk Metropolis'
unset multiplot
