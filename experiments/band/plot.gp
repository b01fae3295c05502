eval begin(2500, 1000)
set multiplot
array hue[5] = [pink, red, blue, green, black]
k(i) = sprintf('k=%d', i)
scan = dir.'/scan.csv'
stats dir.'/laplace.csv' using 1 nooutput name 'MODE'
stats dir.'/laplace.csv' using 2 nooutput name 'MEAN'
stats dir.'/laplace.csv' using 3 nooutput name 'SD'
stats dir.'/dt.csv' using (abs(column('dt') - 0.01) < 1e-9 ? column('violations') : NaN) nooutput name 'DV'
stats dir.'/dt.csv' using (abs(column('dt') - 0.01) < 1e-9 ? column('outward') : NaN) nooutput name 'DW'
stats dir.'/dt.csv' using (abs(column('dt') - 0.01) < 1e-9 ? column('price') : NaN) nooutput name 'DP'
stats dir.'/steps.csv' using 2 nooutput name 'V'
# widths with autocorrelations, and the others
shown = ''; missing = ''
do for [i=1:5] {
    found = int(system(sprintf("grep -c 'k=%d,' '%s/acf.csv' || true", i, dir)))
    if (found > 0) { shown = shown.' '.i } else { missing = missing.(missing eq '' ? '' : ', ').i }
}
# NLL
do for [j=1:2] {
    start = word('notebook near', j)
    set origin 0, 0.5 * (2 - j); set size 0.2, 0.5
    set title "Median NLL, starts of ".(j == 1 ? 100 : 10)." times Laplace's covariance"
    set xlabel 'epochs'; set ylabel 'NLL per row'
    set logscale y; set yrange [MODE_max*0.9:(j == 1 ? 2 : 0.3)]; set key top right
    if (j == 1) { set ytics (0.1, 0.2, 0.5, 1, 2) } else { set ytics (0.08, 0.1, 0.15, 0.2, 0.3); unset key }
    set object 1 rectangle from graph 0, first MEAN_max-SD_max to graph 1, first MEAN_max+SD_max behind fc rgb '#dddddd' fs solid noborder
    plot NaN with boxes lc rgb '#dddddd' fs solid title 'Laplace, mean +- sd', \
         for [i=1:5] dir.'/nll.csv' using 'epoch':(strcol('start') eq start ? only(column('nll'), strcol('setting'), k(i)) : NaN) with lines lw 2 lc rgb hue[i] title k(i)
    unset object 1; unset logscale; set autoscale; set ytics auto
}
# violations, and bias: an axis each
only_k(v) = strcol('setting') eq 'default' ? NaN : v
set origin 0.2, 0.5; set size 0.2, 0.5
set title 'Violations'
set key; set xlabel 'k'; set ylabel 'share of proposals'
set logscale y; set format y '10^{%T}'; set xrange [0.8:5.2]; set yrange [1e-7:1]; set xtics 1
set key bottom left reverse Left
plot dir.'/gauss.csv' using 'k':'tail' with lines lw 1.5 dt 2 lc rgb grey title 'expected under Gaussian noise', \
     scan using (only_k(column('k'))):'expected' with points pt 4 ps 1.2 lc rgb blue title 'expected by the regression', \
     scan using (only_k(column('k'))):'violations':'violations_error' with yerrorlines ls 1 pt 7 title 'observed', \
     scan using (only(column('k'), strcol('setting'), 'default')):'violations' with points pt 7 ps 1.5 lc rgb green title 'default, its own k'
set origin 0.2, 0; set size 0.2, 0.5
set title 'Bias: worst mean'
set xrange [0.5:5.3]; set ylabel 'posterior sd'; set yrange [0.003:5]; set format y '%g'; set ytics (0.003, 0.01, 0.03, 0.1, 0.3, 1, 3)
least(v) = v > 0.0033 ? v : 0.0033
stays(v) = column('lost') < column('runs') / 2 ? v : NaN
plot scan using (only_k(column('k'))):(stays(column('worst'))):(least(column('worst') - column('worst_error'))):(column('worst') + column('worst_error')) with yerrorlines ls 2 pt 7 title 'as published', \
     scan using (column('lost') > 0 ? only_k(column('k')) : NaN):(3.8):(sprintf("%d of %d\nruns lost", column('lost'), column('runs'))) with labels font ',9' textcolor rgb red notitle, \
     scan using (only(column('k'), strcol('setting'), 'default')):'worst':(least(column('worst') - column('worst_error'))):(column('worst') + column('worst_error')) with yerrorbars pt 5 ps 1.5 lc rgb green title 'default, its own k'
unset logscale; set autoscale; set format; set tics auto; set key noreverse Right
# autocorrelations and traces
do for [j=1:2] {
    side = word('smallest largest', j)
    set origin 0.4 + 0.2*(j-1), 0.5; set size 0.2, 0.5
    set title 'Autocorrelation, direction of '.side.' variance'
    set xlabel 'lag, epochs'; set ylabel ''; set yrange [-1:1]; set xrange [0:j == 1 ? 80 : 1000]
    if (j == 1) { set key top right } else { unset key }
    set xzeroaxis lt 1 lw 1 lc rgb '#888888'
    pick(v, s) = strcol('side') eq side && strcol('setting') eq s ? v : NaN
    set label 9 (missing eq '' ? '' : 'k = '.missing.': no stationary'."\n".'distribution, see text') at graph 0.97, graph 0.1 right font ',9' textcolor rgb '#555555'
    plot for [i in shown] dir.'/acf.csv' using 'epochs':(pick(column('acf')-2*column('error'), k(int(i)))):(pick(column('acf')+2*column('error'), k(int(i)))) \
             with filledcurves lc rgb hue[int(i)] fs transparent solid 0.12 noborder notitle, \
         for [i in shown] dir.'/acf.csv' using 'epochs':(pick(column('acf'), k(int(i)))) with lines lw 2 lc rgb hue[int(i)] title k(int(i))
    set autoscale; unset label 9
    set origin 0.4 + 0.2*(j-1), 0; set size 0.2, 0.5
    set title 'First near start, direction of '.side.' variance'
    set xlabel 'epochs'; set ylabel 'Laplace sd from the mode'; set yrange [-8:6] # small k leave
    plot for [i=1:5] dir.'/traces.csv' using (pick(column('epoch'), k(i))):'sd' with lines lw 1.3 lc rgb hue[i] notitle
    set autoscale
}
unset xzeroaxis
# where violations come from
set origin 0.8, 0.5; set size 0.2, 0.5
set title 'Where violations come from (k = 3)'
set xlabel '% of proposals'; unset ylabel; unset ytics; unset key
set xrange [0:112 * V_max]; set yrange [5.6:-0.6]; set style fill solid 0.6 noborder
plot dir.'/steps.csv' using (50 * column('violations')):0:(50 * column('violations')):(0.22) with boxxyerror lc rgb blue, \
     '' using (0):(column(0) - 0.36):(sprintf('%s: %.2f', strcol('step'), 100 * column('violations'))) with labels left offset 0.4, 0 font ',9'
set ytics nomirror out scale 0.6; set autoscale; set key bottom left reverse Left
# resolution
set origin 0.8, 0; set size 0.2, 0.5
set title 'Resolution of the band (k = 3)'
set xlabel 'dt'; set ylabel 'over that at dt = 0.01'
set logscale x; set format x '10^{%T}'; set xrange [0.0007:1.5]; set yrange [0.5:1.5]
plot 1 with lines lc rgb '#999999' notitle, \
     dir.'/dt.csv' using 'dt':(column('violations') / DV_mean):(column('violations_error') / DV_mean) with yerrorlines ls 1 pt 7 title 'violations', \
     '' using (column('dt') * 1.05):(column('outward') / DW_mean):(column('outward_error') / DW_mean) with yerrorlines ls 2 pt 5 title 'mean bias', \
     '' using (column('dt') / 1.05):(column('price') / DP_mean):(column('price_error') / DP_mean) with yerrorlines ls 3 pt 9 title 'epochs per effective sample'
unset multiplot
