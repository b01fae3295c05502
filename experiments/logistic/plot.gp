eval begin(1760, 1060)
set multiplot
file(name) = dir.'/'.name.'.csv'
names = "sbps sgld-0.1 sgld-0.01 msgnht-0.01 msgnht-0.1 lipsbps-printed lipsbps zigzag-ss"
titles = "'SBPS as published' 'SGLD, h = 0.1' 'SGLD, h = 0.01' 'mSGNHT, h = 0.01 (time step 0.1)' 'mSGNHT, h = 0.1' 'lipSBPS, printed bound' 'lipSBPS, our bound' 'ZZ-SS'"
array colour[8] = [blue, red, orange, pink, '#8a3a6b', sky, sky, black]
array dash[8] = [1, 1, 1, 1, 2, 1, 2, 1]
array wide[8] = [2.6, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8, 1.8]
at(i, x) = only(x, strcol('sampler'), word(names, i))
near(i, x) = strcol('start') eq 'near' ? at(i, x) : NaN
far(i, x) = strcol('start') eq 'far' ? at(i, x) : NaN
along(side, i, x) = strcol('direction') eq side ? at(i, x) : NaN
own(side, name, x) = strcol('direction') eq side ? only(x, strcol('sampler'), name) : NaN
stats file('lines') using (column('laplace')) nooutput; laplace = STATS_mean
stats file('lines') using (column('laplace_sd')) nooutput; sd = STATS_mean
stats file('lines') using (column('map')) nooutput; map = STATS_mean
stats file('lines') using (column('first')) nooutput; first = STATS_mean
stats file('lines') using (column('lost')) nooutput; lost = STATS_mean
stats file('lines') using (column('starts')) nooutput; starts = STATS_mean
stats file('nll') using (column('epoch')) nooutput; last = STATS_max
stats file('trajectories') using (column('epoch')) nooutput; reach = STATS_max
stats file('acf') using (column('lag')) nooutput; lags = STATS_max
line = "sbps sgld-0.1 msgnht-0.01 lipsbps zigzag-ss"
array paint[5] = [blue, red, pink, sky, black]
set print $cpu
print "sampler,mean,spread"
do for [i=1:5] {
    stats file('time') using (only(column('ms'), strcol('sampler'), word(line, i))) nooutput
    print sprintf("%d,%g,%g", i, STATS_mean, STATS_stddev)
}
unset print
left1 = 0.045; right1 = 0.335; left2 = 0.385; right2 = 0.665; left3 = 0.715; right3 = 0.982
top1 = 0.965; bottom1 = 0.60; top2 = 0.505; bottom2 = 0.14
set title font ',12' offset 0,-0.6

# The legend of all panels, below them: five columns, two rows.
column_of(i) = 0.05 + 0.19 * int((i - 1) / 2)
row_of(i) = 0.058 - 0.028 * ((i - 1) % 2)
legend(i, colour, width, dash) = sprintf("set arrow %d from screen %g, %g to screen %g, %g nohead lc rgb '%s' lw %g dt %d", 100 + i, column_of(i), row_of(i), column_of(i) + 0.025, row_of(i), colour, width + 0.6, dash)
entry(i, text) = sprintf("set label %d '%s' at screen %g, %g left", 100 + i, text, column_of(i) + 0.03, row_of(i))
do for [i=1:8] { eval legend(i + 2, colour[i], wide[i], dash[i]); eval entry(i + 2, word(titles, i)) }
eval legend(1, green, 2.6, 1); eval entry(1, 'our default command')
eval legend(2, blue, 2, 4); eval entry(2, 'SBPS, refreshed at 0.05')

# A: near starts
set lmargin at screen left1; set rmargin at screen right1; set tmargin at screen top1; set bmargin at screen bottom1
set title 'NLL per row, starts near the posterior'
set logscale xy
set xrange [1:last]; set yrange [0.072:0.4]
set ytics (0.08, 0.1, 0.15, 0.2, 0.3, 0.4); set mytics 1
set ylabel 'NLL per row' offset 1.5,0; set xlabel 'epochs (rows touched / N)' offset 0,0.5
set key off
set object 1 rectangle from graph 0, first laplace - sd to graph 1, first laplace + sd fc rgb '#d0d0d0' fs solid 0.8 noborder behind
set arrow 1 from graph 0, first map to graph 1, first map nohead lc rgb '#444444' lw 1 dt 3 back
set label 1 "Laplace: mean ± sd" at graph 0.02, first laplace + 0.0005 font ',9' tc rgb '#444444'
set label 2 "NLL of the MAP" at graph 0.02, first map - 0.0022 font ',9' tc rgb '#444444'
set arrow 2 from first first, graph 0.035 to first first, laplace - sd lc rgb green lw 1.6 head size screen 0.006,20
set label 3 "first draw of our default" at first first * 1.2, graph 0.02 right font ',9' tc rgb green
plot for [i=1:8] file('nll') using (near(i, column('epoch'))):(column('least')):(column('largest')) with filledcurves fc rgb colour[i] fs transparent solid (i == 1 || i == 2 || i == 8 ? 0.13 : 0.0) noborder notitle, \
     for [i=1:8] file('nll') using (near(i, column('epoch'))):(column('mean')) with lines lc rgb colour[i] lw wide[i] dt dash[i] notitle
unset object 1; unset arrow; unset label

# inset: CPU time
set lmargin at screen 0.213; set rmargin at screen right1 - 0.004; set tmargin at screen 0.925; set bmargin at screen 0.825
set title 'CPU time of 100 epochs, ms' font ',9' offset 0,-0.9
unset logscale; set yrange [5.6:0.4]; set xrange [0:*]; unset xlabel; unset ylabel
set ytics ("SBPS" 1, "SGLD" 2, "mSGNHT" 3, "lipSBPS" 4, "ZZ-SS" 5) font ',8' scale 0; set xtics font ',8' offset 0,0.4; unset grid
set style fill solid 0.75 noborder
plot for [i=1:5] $cpu every ::(i-1)::(i-1) using (column(2) / 2):1:(column(2) / 2):(0.32) with boxxyerror fc rgb paint[i] notitle, \
     $cpu using 2:1:3 with xerrorbars lc rgb '#333333' pt 0 lw 1 notitle
set grid lw 0.5 lc rgb '#e4e4e4'; set ytics scale 0.6 font ',11'; set xtics font ',11' offset 0,0; set title font ',12' offset 0,-0.6

# D: far starts
set lmargin at screen left1; set rmargin at screen right1; set tmargin at screen top2; set bmargin at screen bottom2
set title 'NLL per row, starts uniform on [-5, 5]'
set logscale xy; set xrange [1:last]; set yrange [0.07:*]; set ytics (0.1, 1, 10, 100); set mytics 10
set ylabel 'NLL per row' offset 1.5,0; set xlabel 'epochs (rows touched / N)' offset 0,0.5
set object 1 rectangle from graph 0, first laplace - sd to graph 1, first laplace + sd fc rgb '#d0d0d0' fs solid 0.8 noborder behind
set key off
set label 4 sprintf("SBPS as published: %d of %d starts have\nnot arrived at the end", lost, starts) at graph 0.03, graph 0.93 font ',10' tc rgb blue
plot file('nll') using (far(1, column('epoch'))):(column('least')):(column('largest')) with filledcurves fc rgb blue fs transparent solid 0.13 noborder notitle, \
     for [i=1:8] file('nll') using (far(i, column('epoch'))):(column('mean')) with lines lc rgb colour[i] lw wide[i] dt dash[i] notitle, \
     file('nll') using (strcol('start') eq 'far' ? only(column('epoch'), strcol('sampler'), 'sbps-refreshed') : NaN):(column('mean')) with lines lc rgb blue lw 2 dt 4 notitle
unset object 1; unset label 4

# B, E: trajectories
unset logscale; set ytics auto; set mytics 1; set ytics auto
set lmargin at screen left2; set rmargin at screen right2
set xrange [0:reach]; set xlabel 'epochs' offset 0,0.5; set ylabel 'posterior sd from the mean' offset 1,0
set object 3 rectangle from graph 0, first -1 to graph 1, first 1 fc rgb '#d0d0d0' fs solid 0.8 noborder behind
do for [k=1:2] {
    side = word("largest smallest", k)
    set tmargin at screen (k == 1 ? top1 : top2); set bmargin at screen (k == 1 ? bottom1 : bottom2)
    set title 'Trajectories along the direction of '.side.' variance'
    set yrange [(k == 1 ? -4 : -6):(k == 1 ? 5 : 6)]
    set xrange [0:(k == 1 ? reach : reach / 3)]
    plot for [j=0:7] i = 8 - j file('trajectories') using (along(side, i, column('epoch'))):(column('z')) with lines lc rgb colour[i] lw (i == 1 ? 1.8 : 1.2) dt dash[i] notitle
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
    plot for [i=1:8] file('acf') using (along(side, i, column('lag'))):(column('acf')-column('error')):(column('acf')+column('error')) with filledcurves fc rgb colour[i] fs transparent solid 0.15 noborder notitle, \
         for [i=1:8] file('acf') using (along(side, i, column('lag'))):(column('acf')) with lines lc rgb colour[i] lw wide[i] dt dash[i] notitle, \
         file('acf') using (own(side, 'default', column('lag'))):(column('acf')) with lines lc rgb green lw 2.6 notitle
}
unset multiplot
