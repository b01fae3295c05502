eval begin(1800, 1250)
stats dir.'/status.csv' using 1 nooutput name 'S'
if (S_mean == 0) {
    set border 0; unset tics; unset key
    set xrange [0:1]; set yrange [0:1]
    set label 1 'MNIST is not available on this machine: this experiment was left out.' at 0.5, 0.5 center font ',16'
    plot NaN
    exit
}
stats dir.'/acceptance.csv' using 5 nooutput name 'A'
stats dir.'/traces.csv' using 3 nooutput name 'T'
set multiplot
tic = 10**floor(log10(1.02 * T_max)) / 2
kinds = 'sbps auxiliary sgld-small sgld sgld-large'
name(s) = s eq 'sbps' ? 'SBPS as published' : s eq 'auxiliary' ? 'SBPS, auxiliary observation' : s eq 'sgld-small' ? 'SGLD, step 0.03' : \
          s eq 'sgld' ? 'SGLD, step 0.3' : s eq 'sgld-large' ? 'SGLD, step 3' : s eq 'ours' ? 'our sbps' : s
style = '1 6 4 2 5'
directions = 'smallest median largest'
w = 0.253; h = 0.325
# Far away and near on one axis: asinh.
a(z) = asinh(z)
far = "set ytics ('-1000' -a(1000), '-100' -a(100), '-10' -a(10), '-1' -a(1), '0' 0, '1' a(1), '10' a(10), '100' a(100), '1000' a(1000))"
set xlabel 'epochs' offset 0, 0.5
set format x '%g'
unset key
do for [row = 1:2] {
    start = word('zero posterior', row)
    do for [i = 1:3] {
        d = word(directions, i)
        set size w, h
        set origin 0.25 * (i - 1), 1 - row * 0.333
        set title sprintf('%s, %s variance', row == 1 ? 'From 0' : 'From a draw of the posterior', d)
        if (i == 1) { set ylabel 'posterior sd from the mean' offset 1, 0 } else { unset ylabel }
        if (row == 1) { eval far; set yrange [-a(3000):a(3000)] } else { set ytics -6, 2, 6; set yrange [-6:6] }
        set xtics 0, tic
        if (row == 1 && i == 3) { set key top right } else { unset key }
        set object 1 rectangle from graph 0, first (row == 1 ? -a(2) : -2) to graph 1, first (row == 1 ? a(2) : 2) fc rgb '#ececec' fs solid noborder behind
        plot for [k = 5:1:-1] dir.'/traces.csv' using (strcol('start') eq start ? only(column('epochs'), strcol('sampler'), word(kinds, k)) : NaN) \
            :(row == 1 ? a(column(d)) : column(d)) with lines ls word(style, k) + 0 lw 1.2 title name(word(kinds, k))
    }
}
unset object 1
do for [i = 1:3] {
    d = word(directions, i)
    set size w, h
    set origin 0.25 * (i - 1), 0.003
    set title sprintf('Metropolis from 0, %s variance', d)
    set xlabel 'posterior sd from the mean'; set xrange [-5:5]; set yrange [0:*]; set xtics -4, 2, 4; set ytics autofreq
    if (i == 1) { set ylabel 'density'; set key top right maxrows auto samplen 1 } else { unset ylabel; unset key }
    set style fill solid 1 noborder
    set offsets 0, 0, graph 0.25, 0
    plot dir.'/histogram.csv' using (strcol('direction') eq d ? only(column('z'), strcol('sampler'), 'hmc') : NaN):(column('density')) \
             with boxes lc rgb '#cfcfcf' title 'hmc, dense metric', \
         '' using (strcol('direction') eq d ? only(column('z'), strcol('sampler'), 'mh') : NaN):(column('density')) with steps lc rgb black lw 2 title 'Metropolis'
}
set xrange [*:*]
set offsets 0, 0, 0, 0
unset ylabel
set size w, h
set origin 0.75, 0.667
set title 'Hidden layer of 4 units, from 0'
set xlabel 'epochs'; set ylabel 'NLL' offset 1, 0; set logscale y; set yrange [*:*]; set ytics autofreq; set format y '10^{%T}'; set xtics autofreq
unset key
plot for [k = 1:5] dir.'/hidden.csv' using (column('seed') == 1 ? only(column('epochs'), strcol('sampler'), word(kinds, k)) : NaN):(column('nll')) \
    with lines ls word(style, k) + 0 lw 1.5 title name(word(kinds, k))
set origin 0.75, 0.334
set title 'Width of the narrowest direction'
set format y '%g'
set ylabel 'sd over the exact one' offset 1, 0
set xlabel 'effective samples per 1000 epochs'
set logscale xy; set yrange [0.3:100]; set xrange [*:*]; set ytics (0.3, 1, 3, 10, 30, 100)
set key top left reverse Left maxrows 7 font ',9' spacing 0.95
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead lc rgb black lw 1
plot for [k = 1:5] dir.'/errors.csv' using (strcol('start') eq 'posterior' && strcol('direction') eq 'smallest' ? \
        only(column('ess_per_1000_epochs'), strcol('sampler'), word(kinds, k)) : NaN):(column('sd')) with points ls word(style, k) + 0 pt 7 ps 1 title name(word(kinds, k)), \
     dir.'/errors.csv' using (strcol('direction') eq 'smallest' ? only(column('ess_per_1000_epochs'), strcol('sampler'), 'ours') : NaN):(column('sd')) \
        with points pt 5 ps 1.1 lc rgb green title 'our sbps', \
     '' using (strcol('direction') eq 'smallest' ? only(column('ess_per_1000_epochs'), strcol('sampler'), 'default') : NaN):(column('sd')) \
        with points pt 8 ps 2.6 lw 2.5 lc rgb black title 'default command'
unset arrow 1
unset logscale
set origin 0.75, 0.003
set title 'Proposal variance for an acceptance of 0.43'
set key off
set logscale x; set xrange [1e-7:100]; set xtics (1e-6, 1e-4, 1e-2, 1, 100); set format x '10^{%T}'
set xlabel 'variance a coordinate (line: 0.2, as stated)'
unset ylabel
set yrange [-0.5:A_records - 0.5]; set ytics ()
set ytics font ',9'
set lmargin 15
set arrow 1 from 0.2, graph 0 to 0.2, graph 1 nohead lc rgb red lw 2
plot dir.'/acceptance.csv' using 5:0:ytic(sprintf('%s, %s', strcol(1), strcol(2))) with points pt 7 ps 1.2 lc rgb black
unset multiplot
