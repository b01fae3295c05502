eval begin(1700, 1000)
set multiplot
array hue[5] = [pink, red, blue, green, black]
k(i) = sprintf('k=%d', i)
scan = dir.'/scan.csv'
stats dir.'/laplace.csv' using 1 nooutput name 'MODE'
stats dir.'/laplace.csv' using 2 nooutput name 'MEAN'
stats dir.'/laplace.csv' using 3 nooutput name 'SD'
# NLL
set origin 0, 0.5; set size 0.34, 0.5
set title 'NLL per row, mean over the starts'
set xlabel 'epochs'; set ylabel 'NLL per row'
set logscale y; set yrange [MODE_max*0.95:0.3]; set key top right
set ytics (0.08, 0.1, 0.15, 0.2, 0.3)
set object 1 rectangle from graph 0, first MEAN_max-SD_max to graph 1, first MEAN_max+SD_max behind fc rgb '#dddddd' fs solid noborder
plot NaN with boxes lc rgb '#dddddd' fs solid title 'Laplace, mean +- sd', \
     for [i=1:5] dir.'/nll.csv' using 'epoch':(only(column('nll'), strcol('setting'), k(i))) with lines lw 2 lc rgb hue[i] title k(i)
unset object 1; unset logscale; set autoscale; set ytics auto
# violations
set origin 0, 0; set size 0.34, 0.5
set title 'Violations and bias'
set xlabel 'k'; set ylabel 'share of proposals; posterior sd'
set logscale y; set format y '10^{%T}'; set xrange [0.8:*]; set offsets 0, 0.2, 0, 0; set yrange [1e-12:10]; set ytics 1e-12, 100; set xtics 1
set key bottom left
only_k(v) = strcol('setting') eq 'default' ? NaN : v
plot dir.'/gauss.csv' using 'k':'tail' with lines lw 1.5 dt 2 lc rgb grey title 'expected of a Gaussian', \
     scan using (only_k(column('k'))):'violations':'violations_error' with yerrorlines ls 1 pt 7 title 'violations', \
     scan using (only_k(column('k'))):'expected' with points pt 4 ps 1.2 lc rgb blue title 'expected by the run', \
     scan using (column('k') > 1.5 ? only_k(column('k')) : NaN):'worst':'worst_error' with yerrorlines ls 2 pt 7 title 'worst mean off by (sd)', \
     scan using (only(column('k'), strcol('setting'), 'default')):'violations' with points pt 7 ps 1.5 lc rgb green title 'default (its own k): violations', \
     scan using (only(column('k'), strcol('setting'), 'default')):'worst':'worst_error' with yerrorbars pt 5 ps 1.5 lc rgb green title 'default: worst mean off by'
unset logscale; set autoscale; set offsets 0, 0, 0, 0; set format; set tics auto
# autocorrelations and traces
do for [j=1:2] {
    side = word('smallest largest', j)
    set origin 0.34 + 0.33*(j-1), 0.5; set size 0.33, 0.5
    set title 'Autocorrelation, direction of '.side.' variance'
    set xlabel 'lag, epochs'; set ylabel ''; set yrange [-0.8:1]; set key top right; set xrange [0:j == 1 ? 80 : 1000]
    set xzeroaxis lt 1 lw 1 lc rgb '#888888'
    pick(v, s) = strcol('side') eq side && strcol('setting') eq s ? v : NaN
    plot for [i=2:5] dir.'/acf.csv' using 'epochs':(pick(column('acf')-2*column('error'), k(i))):(pick(column('acf')+2*column('error'), k(i))) \
             with filledcurves lc rgb hue[i] fs transparent solid 0.12 noborder notitle, \
         for [i=2:5] dir.'/acf.csv' using 'epochs':(pick(column('acf'), k(i))) with lines lw 2 lc rgb hue[i] title k(i)
    set autoscale
    set origin 0.34 + 0.33*(j-1), 0; set size 0.33, 0.5
    set title 'First start, direction of '.side.' variance'
    set xlabel 'epochs'; set ylabel 'Laplace sd from the mode'; set yrange [-10:6] # k = 1 leaves
    plot for [i=1:5] dir.'/traces.csv' using (pick(column('epoch'), k(i))):'sd' with lines lw 1.3 lc rgb hue[i] notitle
    set autoscale
}
unset multiplot
