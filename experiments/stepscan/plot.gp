eval begin(1500, 1000)
file(name) = dir.'/'.name.'.csv'
stats file('lines') using (column('posterior')) nooutput; posterior = STATS_mean
stats file('scan') using (column('epochs')) nooutput; longest = STATS_max; shortest = STATS_min
stats file('scan') using (column('variance')) nooutput; top = STATS_max
shown(x) = column('step') > 0.09 ? x : NaN
stats file('bias') using (shown(column('bias') - column('error'))) nooutput; low = STATS_min
stats file('bias') using (shown(strcol('direction') eq 'smallest' ? column('sd_ratio') - 1 + column('sd_error') : column('bias') + column('error'))) nooutput; high = STATS_max
if (low > 0) low = 0
array shade[4] = ['#f4b183', '#e69f00', '#d55e00', '#7a2f00']
array shade2[4] = ['#e8c3d8', '#cc79a7', '#9c3f73', '#4d1436']
array mark[4] = [5, 7, 9, 13]
decades = int(log10(longest / shortest) + 1.5)
epochs(i) = shortest * 10 ** (i - 1)
pick(sampler, i, x) = strcol('sampler') eq sampler && abs(column('epochs') / epochs(i) - 1) < 0.01 ? x : NaN
set multiplot layout 2, 2 margins 0.06, 0.985, 0.075, 0.96 spacing 0.075, 0.115
set title font ',12' offset 0,-0.5
set logscale xy; set xrange [2e-5:2]; set yrange [2e-3:top * 2]
set format x '10^{%T}'; set format y '10^{%T}'; set mxtics 10; set mytics 10
set xlabel 'step size h' offset 0,0.3; set ylabel 'variance of the NLL / Laplace''s, N^2 var / (d/2)' offset 0.5,0
set arrow 1 from 0.1, graph 0 to 0.1, graph 1 nohead lc rgb '#777777' dt 3 lw 1.2 back
set arrow 2 from graph 0, first 1 to graph 1, first 1 nohead lc rgb black lw 1.3 back
set arrow 3 from graph 0, first posterior to graph 1, first posterior nohead lc rgb green lw 1.3 dt 2 back
set label 1 "lines: Laplace (solid) and posterior by hmc (dashed)" at graph 0.02, graph 0.95 font ',9' tc rgb '#333333'
set label 2 "0.1" at 0.092, graph 0.03 right font ',9' tc rgb '#555555'
set key bottom right font ',10' title 'epochs per run' width -1
set title 'SGLD started at the mode'
plot for [i=1:decades] file('scan') using (pick('sgld', i, column('step'))):(column('variance')):(column('error')) with yerrorbars lc rgb shade[i] pt mark[i] ps 1.1 lw 1.4 title sprintf('%g', epochs(i)), \
     for [i=1:decades] file('scan') using (pick('sgld', i, column('step'))):(column('variance')) with lines lc rgb shade[i] lw 1 notitle
set title 'mSGNHT started at the mode'
plot for [i=1:(decades > 3 ? 3 : decades)] file('scan') using (pick('msgnht', i, column('step'))):(column('variance')):(column('error')) with yerrorbars lc rgb shade2[i] pt mark[i] ps 1.1 lw 1.4 title sprintf('%g', epochs(i)), \
     for [i=1:(decades > 3 ? 3 : decades)] file('scan') using (pick('msgnht', i, column('step'))):(column('variance')) with lines lc rgb shade2[i] lw 1 notitle, \
     for [i=1:decades] file('scan') using (column('diverged') > 0 ? pick('msgnht', i, column('step')) : NaN):(top * 1.4) with points pt 2 lc rgb shade2[i] notitle
unset logscale y; set format y '%g'; set mytics 5
set title 'The same for SGLD around the line'
set xrange [0.008:1.4]; set yrange [0:2]; set key bottom right
set label 1 "lines: Laplace (solid) and posterior by hmc (dashed)" at graph 0.02, graph 0.95 font ',9' tc rgb '#333333'
plot for [i=1:decades] file('scan') using (pick('sgld', i, column('step'))):(column('variance')):(column('error')) with yerrorbars lc rgb shade[i] pt mark[i] ps 1.1 lw 1.4 title sprintf('%g', epochs(i)), \
     for [i=1:decades] file('scan') using (pick('sgld', i, column('step'))):(column('variance')) with lines lc rgb shade[i] lw 1 notitle
unset arrow 2; unset arrow 3; unset label 1; set key title ''
set title 'What the large steps cost (started in the posterior)'
set xrange [0.06:1.7]; set xtics (0.1, 0.316, 1); set format x '%g'; set mxtics 1
set ylabel 'error' offset 1,0
set key top left reverse Left
set yrange [low - 0.08 * (high - low):high + 0.08 * (high - low)]
at(sampler, side, x) = strcol('sampler') eq sampler && strcol('direction') eq side ? shown(x) : NaN
set arrow 4 from graph 0, first 0 to graph 1, first 0 nohead lc rgb black lw 1 back
set label 2 ""
plot file('bias') using (at('sgld', 'largest', column('step')) * 0.94):(column('bias')):(column('error')) with yerrorbars lc rgb red pt 7 ps 1.3 lw 1.6 title 'SGLD: mean, largest direction (posterior sd)', \
     file('bias') using (at('sgld', 'smallest', column('step')) * 0.94):(column('sd_ratio') - 1):(column('sd_error')) with yerrorbars lc rgb red pt 6 ps 1.3 lw 1.6 title 'SGLD: sd, smallest direction (ratio to the true one - 1)', \
     file('bias') using (at('msgnht', 'largest', column('step')) * 1.06):(column('bias')):(column('error')) with yerrorbars lc rgb pink pt 5 ps 1.3 lw 1.6 title 'mSGNHT: mean, largest direction', \
     file('bias') using (at('msgnht', 'smallest', column('step')) * 1.06):(column('sd_ratio') - 1):(column('sd_error')) with yerrorbars lc rgb pink pt 4 ps 1.3 lw 1.6 title 'mSGNHT: sd, smallest direction'
unset multiplot
