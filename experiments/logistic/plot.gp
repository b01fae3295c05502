# NLL from three kinds of starts, CPU time, trajectories and autocorrelations; one legend below for all panels.
eval begin(2200, 1100)
set multiplot
file(name) = dir.'/'.name.'.csv'
# Later samplers, with control variates, are green.
curves = 10
names = "sbps sgld-0.1 sgld-0.01 msgnht-0.01 msgnht-0.1 lipsbps-printed lipsbps zigzag-ss boomerang zigzag-cv"
titles = "'SBPS as published' 'SGLD, h = 0.1' 'SGLD, h = 0.01' 'mSGNHT, h = 0.01 (time step 0.1)' 'mSGNHT, h = 0.1' 'lipSBPS, printed bound' 'lipSBPS, our bound' 'ZZ-SS' 'later: Boomerang' 'later: Zig-Zag, control variates'"
array colour[curves] = [blue, red, orange, pink, '#8a3a6b', sky, sky, black, green, green]
array dash[curves] = [1, 1, 1, 1, 2, 1, 2, 1, 2, 3]
array wide[curves] = [2.6, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 2.2, 2.2]
at(i, x) = only(x, strcol('sampler'), word(names, i))
from(start, i, x) = strcol('start') eq start ? at(i, x) : NaN
along(side, i, x) = strcol('direction') eq side ? at(i, x) : NaN
own(side, name, x) = strcol('direction') eq side ? only(x, strcol('sampler'), name) : NaN
stats file('lines') using (column('laplace')) nooutput; laplace = STATS_mean
stats file('lines') using (column('laplace_sd')) nooutput; sd = STATS_mean
stats file('lines') using (column('map')) nooutput; map = STATS_mean
stats file('lines') using (column('first')) nooutput; first = STATS_mean
array missing[3]; array lost[3]; array starts[3]
do for [k=1:3] {
    mine(x) = strcol('sampler') eq 'sbps' && strcol('start') eq word("notebook near far", k) ? column(x) : NaN
    stats file('lost') using (mine('missing')) nooutput; missing[k] = STATS_mean
    stats file('lost') using (mine('lost')) nooutput; lost[k] = STATS_mean
    stats file('lost') using (mine('starts')) nooutput; starts[k] = STATS_mean
}
stats file('nll') using (column('epoch')) nooutput; last = STATS_max
stats file('trajectories') using (column('epoch')) nooutput; reach = STATS_max
stats file('acf') using (column('lag')) nooutput; lags = STATS_max
line = "sbps sgld-0.1 msgnht-0.01 lipsbps zigzag-ss boomerang zigzag-cv"
array paint[7] = [blue, red, pink, sky, black, green, green]
set print $cpu
print "sampler,median,low,high"
do for [i=1:7] {
    stats file('time') using (only(column('ms'), strcol('sampler'), word(line, i))) nooutput
    print sprintf("%d,%g,%g,%g", i, STATS_median, STATS_lo_quartile, STATS_up_quartile)
}
unset print
left1 = 0.035; right1 = 0.24; left0 = 0.285; right0 = 0.49; left2 = 0.535; right2 = 0.74; left3 = 0.785; right3 = 0.988
top1 = 0.965; bottom1 = 0.61; top2 = 0.515; bottom2 = 0.165
set title font ',12' offset 0,-0.6

# The legend of all panels, below them: four columns, three rows.
column_of(i) = 0.06 + 0.24 * int((i - 1) / 3)
row_of(i) = 0.085 - 0.028 * ((i - 1) % 3)
legend(i, colour, width, dash) = sprintf("set arrow %d from screen %g, %g to screen %g, %g nohead lc rgb '%s' lw %g dt %d", 100 + i, column_of(i), row_of(i), column_of(i) + 0.025, row_of(i), colour, width + 0.6, dash)
entry(i, text) = sprintf("set label %d '%s' at screen %g, %g left", 100 + i, text, column_of(i) + 0.03, row_of(i))

# NLL: the notebook's starts, near ones, far ones
set tmargin at screen top1; set bmargin at screen bottom1
set logscale xy
set key off
set ylabel 'NLL per row' offset 1.5,0; set xlabel 'epochs (rows touched / N)' offset 0,0.5
do for [k=1:3] {
    start = word("notebook near far", k)
    set lmargin at screen (k == 2 ? left0 : left1); set rmargin at screen (k == 2 ? right0 : right1)
    set tmargin at screen (k == 3 ? top2 : top1); set bmargin at screen (k == 3 ? bottom2 : bottom1)
    set title k == 1 ? "NLL, the notebook's starts: 100 times Laplace's covariance" : k == 2 ? "NLL, starts from 10 times Laplace's covariance" : 'NLL, starts uniform on [-5, 5]'
    set xrange [1:last]; set yrange [0.07:(k == 2 ? 0.4 : 100)]
    if (k == 2) { set ytics (0.08, 0.1, 0.15, 0.2, 0.3, 0.4); set mytics 1 } else { set ytics (0.1, 1, 10, 100); set mytics 10 }
    set object 1 rectangle from graph 0, first laplace - sd to graph 1, first laplace + sd fc rgb '#d0d0d0' fs solid 0.8 noborder behind
    if (k == 2) {
        set arrow 1 from graph 0, first map to graph 1, first map nohead lc rgb '#444444' lw 1 dt 3 back
        set label 1 "Laplace: mean ± sd" at graph 0.02, first laplace + 0.0005 font ',9' tc rgb '#444444'
        set label 2 "NLL of the MAP" at graph 0.02, first map - 0.0022 font ',9' tc rgb '#444444'
        set arrow 2 from first first, graph 0.035 to first first, laplace - sd lc rgb green lw 1.6 head size screen 0.006,20
        set label 3 "first draw of our default" at first first * 1.2, graph 0.02 right font ',9' tc rgb green
    }
    set label 4 sprintf("medians over %d starts; SBPS as published:\n%d did not arrive, of these %d lost (shade: range)", starts[k], missing[k], lost[k]) at graph 0.97, graph 0.95 right font ',10' tc rgb blue
    plot file('nll') using (from(start, 1, column('epoch'))):(column('least')):(column('largest')) with filledcurves fc rgb blue fs transparent solid 0.12 noborder notitle, \
         for [i=1:curves] file('nll') using (from(start, i, column('epoch'))):(column('median')) with lines lc rgb colour[i] lw wide[i] dt dash[i] notitle, \
         file('nll') using (strcol('start') eq start ? only(column('epoch'), strcol('sampler'), 'sbps-refreshed') : NaN):(column('median')) with lines lc rgb blue lw 2 dt 4 notitle
    unset object 1; unset arrow; do for [l=1:4] { unset label l }
}

# CPU time
set lmargin at screen left0 + 0.03; set rmargin at screen right0; set tmargin at screen top2; set bmargin at screen bottom2
set title 'CPU time of 100 epochs, ms'
unset logscale; set yrange [7.6:0.4]; set xrange [0:*]; unset xlabel; unset ylabel
set ytics ("SBPS" 1, "SGLD" 2, "mSGNHT" 3, "lipSBPS" 4, "ZZ-SS" 5, "Boomerang" 6, "ZZ-CV" 7) scale 0; unset grid
set style fill solid 0.75 noborder
plot for [i=1:7] $cpu every ::(i-1)::(i-1) using (column(2) / 2):1:(column(2) / 2):(0.32) with boxxyerror fc rgb paint[i] notitle, \
     $cpu using 2:1:3:4 with xerrorbars lc rgb '#333333' pt 0 lw 1 notitle
set grid lw 0.5 lc rgb '#e4e4e4'; set ytics scale 0.6

# B, E: trajectories
unset logscale; set ytics auto; set mytics 1; set ytics auto
set lmargin at screen left2; set rmargin at screen right2
set xrange [0:reach]; set xlabel 'epochs' offset 0,0.5; set ylabel 'posterior sd from the mean' offset 1,0
set object 3 rectangle from graph 0, first -1 to graph 1, first 1 fc rgb '#d0d0d0' fs solid 0.8 noborder behind
do for [k=1:2] {
    side = word("largest smallest", k)
    set tmargin at screen (k == 1 ? top1 : top2); set bmargin at screen (k == 1 ? bottom1 : bottom2)
    set title 'A near start, direction of '.side.' variance'
    set yrange [(k == 1 ? -4 : -6):(k == 1 ? 5 : 6)]
    set xrange [0:(k == 1 ? reach : reach / 3)]
    plot for [j=0:curves-1] i = curves - j file('trajectories') using (along(side, i, column('epoch'))):(column('z')) with lines lc rgb colour[i] lw (i == 1 ? 1.8 : 1.2) dt dash[i] notitle
}
unset object 3

# C, F: autocorrelations
set lmargin at screen left3; set rmargin at screen right3
set logscale x; set xrange [*:lags]; set xlabel 'lag in epochs' offset 0,0.5; set ylabel 'autocorrelation' offset 1,0
do for [k=1:2] {
    side = word("largest smallest", k)
    set tmargin at screen (k == 1 ? top1 : top2); set bmargin at screen (k == 1 ? bottom1 : bottom2)
    set title 'Autocorrelation, direction of '.side.' variance'
    set yrange [(k == 1 ? -1 : -0.3):1.02]
    if (k == 2) { # the legend of all panels, once
        do for [i=1:curves] { eval legend(i + 2, colour[i], wide[i], dash[i]); eval entry(i + 2, word(titles, i)) }
        eval legend(1, green, 2.6, 1); eval entry(1, 'default of this program (control variates)')
        eval legend(2, blue, 2, 4); eval entry(2, 'SBPS, refreshed at 0.05')
    }
    plot for [i=1:curves] file('acf') using (along(side, i, column('lag'))):(column('acf')) with lines lc rgb colour[i] lw wide[i] dt dash[i] notitle, \
         file('acf') using (own(side, 'default', column('lag'))):(column('acf')) with lines lc rgb green lw 2.6 notitle
}
unset multiplot
