eval begin(1800, 1300)
stats dir.'/status.csv' using 1 nooutput name 'S'
if (S_mean == 0) {
    set border 0; unset tics; unset key
    set xrange [0:1]; set yrange [0:1]
    set label 1 'MNIST is not available on this machine: this experiment was left out.' at 0.5, 0.5 center font ',16'
    plot NaN
    exit
}
stats dir.'/acceptance.csv' using 5 nooutput name 'A'
stats dir.'/traces.csv' using (strcol('start') eq 'zero' ? column('epochs') : NaN) nooutput name 'T1'
stats dir.'/traces.csv' using (strcol('start') eq 'posterior' ? column('epochs') : NaN) nooutput name 'T2'
# Lost runs, before any range is set: `stats` leaves out what is off the axes.
array counts[2]
do for [i = 1:2] {
    model = word('softmax hidden', i); counts[i] = ''
    do for [j = 1:5] {
        k = word('sbps auxiliary hessian wide sgld', j)
        stats dir.'/lost.csv' using (strcol('model') eq model ? only(column('lost'), strcol('sampler'), k) : NaN) nooutput name 'L'
        stats dir.'/lost.csv' using (strcol('model') eq model ? only(column('runs'), strcol('sampler'), k) : NaN) nooutput name 'R'
        counts[i] = counts[i].sprintf("%s %d of %d%s", k eq 'sbps' ? 'lost: as published' : k eq 'sgld' ? 'SGLD (step 0.3)' : k, L_max, R_max, \
                                      j == 2 ? "}\n{/*0.82 " : j < 5 ? ', ' : '')
    }
}
stats dir.'/errors.csv' using (strcol('start') ne 'zero' && strcol('direction') eq 'smallest' ? column('sd') : NaN) nooutput name 'W'
stats dir.'/errors.csv' using (strcol('start') ne 'zero' && strcol('direction') eq 'smallest' ? column('ess_per_1000_epochs') : NaN) nooutput name 'X'
set multiplot
tic(t) = (u = 10**floor(log10(1.02 * t)), 1.02 * t > 4 * u ? u : u / 2)
kinds = 'sgld-small sgld sgld-large auxiliary sbps'
name(s) = s eq 'sbps' ? 'SBPS as published' : s eq 'auxiliary' ? 'SBPS, auxiliary observation' : s eq 'sgld-small' ? 'SGLD, step 0.03' : \
          s eq 'sgld' ? 'SGLD, step 0.3' : s eq 'sgld-large' ? 'SGLD, step 3' : s eq 'hessian' ? 'SBPS, slope prior hessian' : \
          s eq 'wide' ? 'SBPS, slope prior wide' : s
style = '4 2 5 6 1'
directions = 'smallest median largest'
# One key for the picture, on top.
set size 1, 0.06; set origin 0, 0.945
set border 0; unset tics; unset grid
set xrange [0:1]; set yrange [0:1]
set key at screen 0.5, 0.985 center top horizontal maxrows 2 maxcols 6 width 1 samplen 2.5
plot for [k = 1:5] NaN with lines ls word(style, k) + 0 lw 2.5 title name(word(kinds, k)), \
     NaN with lines ls 3 dt 2 title name('hessian'), NaN with lines ls 7 dt 4 title name('wide'), \
     NaN with boxes lc rgb '#cfcfcf' fs solid 1 noborder title 'hmc', NaN with steps lc rgb black lw 2 title 'Metropolis', \
     NaN with points pt 5 ps 1.3 lc rgb green title 'our sbps', NaN with points pt 8 ps 2 lw 2 lc rgb black title 'default command'
unset key
set border 3; set tics out scale 0.6; set xtics nomirror; set ytics nomirror; set grid lw 0.5 lc rgb '#e4e4e4'
w = 0.247; h = 0.305
# Far away and near on one axis: asinh.
a(z) = asinh(z)
set xlabel 'epochs' offset 0, 0.5
set format x '%g'; set format y '%g'
do for [row = 1:2] {
    start = word('zero posterior', row)
    do for [i = 1:3] {
        d = word(directions, i)
        set size w, h
        set origin 0.25 * (i - 1), 0.945 - row * 0.315
        set title sprintf('%s, %s variance', row == 1 ? 'From 0' : 'From a draw of the posterior', d)
        if (i == 1) { set ylabel 'posterior sd from the mean' offset 1, 0 } else { unset ylabel }
        set xrange [0:*]; set xtics 0, tic(row == 1 ? T1_max : T2_max)
        if (row == 1) {
            set ytics ('-1000' -a(1000), '-100' -a(100), '-10' -a(10), '-3' -a(3), '-1' -a(1), '0' 0, '1' a(1), '3' a(3), '10' a(10), '100' a(100), '1000' a(1000))
            set yrange [*:*]
        } else { set ytics -6, 2, 6; set yrange [-5:5] }
        if (row == 2 && i == 3) { set ytics -6, 1, 6; set yrange [-2.5:2.5] }
        set object 1 rectangle from graph 0, first (row == 1 ? -a(2) : -2) to graph 1, first (row == 1 ? a(2) : 2) fc rgb '#ececec' fs solid noborder behind clip
        plot for [k = 1:5] dir.'/traces.csv' using (strcol('start') eq start ? only(column('epochs'), strcol('sampler'), word(kinds, k)) : NaN) \
            :(row == 1 ? a(column(d)) : column(d)) with lines ls word(style, k) + 0 lw (k == 4 ? 3.5 : 1.3) notitle
    }
}
unset object 1
# NLL from 0: median over seeds, shaded from least to largest; lost runs are counted in the title.
set logscale y; set yrange [300:*]; set format y '10^{%T}'; set ytics autofreq; set xtics autofreq
set style fill transparent solid 0.13 noborder
all = kinds.' hessian wide'
styles = style.' 3 7'
dash(k) = k == 6 ? 2 : k == 7 ? 4 : 1
do for [i = 1:2] {
    file = dir.(i == 1 ? '/nll.csv' : '/hidden.csv')
    set size w, h
    set origin 0.75, 0.945 - i * 0.315
    set title (i == 1 ? 'NLL from 0: median, least, largest' : 'The same with a hidden layer of 4 units')."\n{/*0.82 ".counts[i].'}'
    unset ylabel
    set yrange [300:*]
    plot for [k in 'sgld sbps'] file using (only(column('epochs'), strcol('sampler'), k)):(column('least')):(column('largest')) \
             with filledcurves lc rgb (k eq 'sbps' ? blue : red) notitle, \
         for [k = 1:7] file using (only(column('epochs'), strcol('sampler'), word(all, k))):(column('nll')) \
             with lines ls word(styles, k) + 0 dt dash(k) lw (k == 4 ? 4 : 2) notitle
}
unset logscale y; set format y '%g'
w = 0.197
set style fill solid 1 noborder
do for [i = 1:3] {
    d = word(directions, i)
    set size w, h
    set origin 0.2 * (i - 1), 0.003
    set title sprintf('Metropolis, %s variance', d)
    set xlabel 'posterior sd from the mean'; set xrange [-5:5]; set yrange [0:*]; set xtics -4, 2, 4; set ytics autofreq
    if (i == 1) { set ylabel 'density' } else { unset ylabel }
    plot dir.'/histogram.csv' using (strcol('direction') eq d ? only(column('z'), strcol('sampler'), 'hmc') : NaN):(column('density')) \
             with boxes lc rgb '#cfcfcf' notitle, \
         '' using (strcol('direction') eq d ? only(column('z'), strcol('sampler'), 'mh') : NaN):(column('density')) with steps lc rgb black lw 2 notitle
}
unset key
set size w, h
set origin 0.6, 0.003
set title 'Width of the narrowest direction'
set ylabel 'sd over the exact one' offset 1, 0
set xlabel 'effective samples per 1000 epochs'
set logscale xy; set yrange [0.85 * W_min:1.2 * W_max]; set xrange [0.7 * X_min:1.4 * X_max]
set xtics (1, 3, 10, 30, 100, 300, 1000); set ytics (0.2, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10)
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead lc rgb black lw 1 back
# Open rings of two sizes: those that lie together stay visible.
plot for [k = 1:3] dir.'/errors.csv' using (strcol('start') eq 'posterior' && strcol('direction') eq 'smallest' ? \
        only(column('ess_per_1000_epochs'), strcol('sampler'), word(kinds, k)) : NaN):(column('sd')) with points ls word(style, k) + 0 pt 7 ps 1 notitle, \
     dir.'/errors.csv' using (strcol('direction') eq 'smallest' ? only(column('ess_per_1000_epochs'), strcol('sampler'), 'ours') : NaN):(column('sd')) \
        with points pt 5 ps 1 lc rgb green notitle, \
     '' using (strcol('direction') eq 'smallest' ? only(column('ess_per_1000_epochs'), strcol('sampler'), 'default') : NaN):(column('sd')) \
        with points pt 8 ps 2.6 lw 2.5 lc rgb black notitle, \
     for [k = 4:5] dir.'/errors.csv' using (strcol('start') eq 'posterior' && strcol('direction') eq 'smallest' ? \
        only(column('ess_per_1000_epochs'), strcol('sampler'), word(kinds, k)) : NaN):(column('sd')) with points ls word(style, k) + 0 pt 6 ps (k == 4 ? 2.6 : 1.5) lw 2 notitle
unset arrow 1
unset logscale
set origin 0.8, 0.003
set title 'Variance for acceptance 0.43'
set logscale x; set xrange [1e-7:100]; set xtics (1e-6, 1e-4, 1e-2, 1, 100); set format x '10^{%T}'
set xlabel 'variance a coordinate (line: 0.2)'
unset ylabel
set yrange [-0.5:A_records - 0.5]; set ytics ()
set ytics font ',9'
set lmargin 14
set arrow 1 from 0.2, graph 0 to 0.2, graph 1 nohead lc rgb red lw 2
plot dir.'/acceptance.csv' using 5:0:ytic(sprintf('%s, %s', strcol(1), strcol(2))) with points pt 7 ps 1.2 lc rgb black
unset multiplot
