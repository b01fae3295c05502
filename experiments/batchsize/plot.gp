eval begin(2000, 960)
set multiplot
array hue[5] = [pink, red, blue, green, black]
size = '50 100 200 500 900'; k(i) = 'n='.word(size, i)
stats dir.'/laplace.csv' using 1 nooutput name 'MODE'
stats dir.'/laplace.csv' using 2 nooutput name 'MEAN'
stats dir.'/laplace.csv' using 3 nooutput name 'SD'
# NLL
do for [j=1:2] {
    start = word('notebook near', j)
    set origin 0, 0.5 * (2 - j); set size 0.26, 0.5
    set title "Median NLL, starts of ".(j == 1 ? 100 : 10)." times Laplace's covariance"
    set xlabel 'epochs'; set ylabel 'NLL per row'
    set logscale y; set yrange [MODE_max*0.9:(j == 1 ? 5 : 0.3)]
    if (j == 1) { unset key } else { set key top right }
    if (j == 1) { set ytics (0.1, 0.2, 0.5, 1, 2, 5) } else { set ytics (0.08, 0.1, 0.15, 0.2, 0.3) }
    set object 1 rectangle from graph 0, first MEAN_max-SD_max to graph 1, first MEAN_max+SD_max behind fc rgb '#dddddd' fs solid noborder
    plot NaN with boxes lc rgb '#dddddd' fs solid title 'Laplace, mean +- sd', \
         for [i=1:5] dir.'/nll.csv' using 'epoch':(strcol('start') eq start ? only(column('nll'), strcol('setting'), k(i)) : NaN) with lines lw 2 lc rgb hue[i] title k(i)
    unset object 1; unset logscale; set autoscale; set ytics auto
}
# time between bounces, and bias
set origin 0.26, 0.5; set size 0.24, 0.5
set title 'Mean time between bounces'
set xlabel 'mini-batch size n'; set ylabel 'time'; set xrange [0:950]; set yrange [0:*]; set key top left
plot dir.'/line.csv' using 'n':'time' with lines lw 1.5 dt 2 lc rgb grey title 'best a + b n', \
     dir.'/travel.csv' using 'n':'time':'error' with yerrorbars ls 1 pt 7 ps 1.2 title 'measured'
set origin 0.26, 0; set size 0.24, 0.5
set title 'Bias: worst mean'
set ylabel 'posterior sd'; set logscale y; set yrange [0.002:1]; set key top right; set format y '%g'
least(v) = v > 0.0022 ? v : 0.0022
worst(wanted) = strcol('setting') eq wanted || (wanted eq 'n' && strcol('setting') ne 'default' && strcol('setting') ne 'n=500 k=5') ? column('n') : NaN
plot dir.'/scan.csv' using (worst('n')):'worst':(least(column('worst') - column('worst_error'))):(column('worst') + column('worst_error')) with yerrorlines ls 1 pt 7 ps 1.2 title 'as published, k = 3', \
     '' using (worst('n=500 k=5')):'worst':(least(column('worst') - column('worst_error'))):(column('worst') + column('worst_error')) with yerrorbars pt 4 ps 1.5 lw 2 lc rgb sky title 'k = 5', \
     '' using (worst('default')):'worst':(least(column('worst') - column('worst_error'))):(column('worst') + column('worst_error')) with yerrorbars pt 7 ps 1.5 lw 2 lc rgb green title 'default'
unset logscale; set autoscale; set format y
# autocorrelations and traces
do for [j=1:2] {
    side = word('smallest largest', j)
    set origin 0.5 + 0.25*(j-1), 0.5; set size 0.25, 0.5
    set title 'Autocorrelation, direction of '.side.' variance'
    set xlabel 'lag, epochs'; set ylabel ''; set yrange [-1:1]; if (j == 1) { set key top right } else { unset key }
    set xrange [0:j == 1 ? 100 : 1500]
    set xzeroaxis lt 1 lw 1 lc rgb '#888888'
    pick(v, s) = strcol('side') eq side && strcol('setting') eq s ? v : NaN
    plot for [i=1:5] dir.'/acf.csv' using 'epochs':(pick(column('acf')-2*column('error'), k(i))):(pick(column('acf')+2*column('error'), k(i))) \
             with filledcurves lc rgb hue[i] fs transparent solid 0.12 noborder notitle, \
         for [i=1:5] dir.'/acf.csv' using 'epochs':(pick(column('acf'), k(i))) with lines lw 2 lc rgb hue[i] title k(i)
    set autoscale
    set origin 0.5 + 0.25*(j-1), 0; set size 0.25, 0.5
    set title 'First near start, direction of '.side.' variance'
    set xlabel 'epochs'; set ylabel 'Laplace sd from the mode'; set yrange [*:*]
    plot for [i=1:5] dir.'/traces.csv' using (pick(column('epoch'), k(i))):'sd' with lines lw 1.3 lc rgb hue[i] notitle
    set autoscale
}
unset multiplot
