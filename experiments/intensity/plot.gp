eval begin(1600, 1080)
set multiplot
segment = dir.'/segment.csv'
# G along one segment
set origin 0, 0.42; set size 0.6, 0.58
set title 'A segment and its proposals'
set xlabel 'time since the bounce'; set ylabel 'slope of the potential, G'
set xzeroaxis lt 1 lw 1 lc rgb '#888888'
set bmargin 6; set xlabel offset 0, 0.3
set key bmargin center horizontal maxrows 2 width -1 reverse Left
plot segment using 'from':'lambda_from':(column('t')-column('from')):(column('lambda')-column('lambda_from')) with vectors nohead ls 1 title 'proposal intensity {/Symbol l}(t)', \
     segment using 't':'mean' with lines ls 6 lw 1.5 dt 2 title 'prediction of the regression', \
     dir.'/truth.csv' using 't':'G' with lines ls 7 title 'true G(t)', \
     segment using 't':(strcol('event') eq 'start' ? column('G') : NaN):'c' with yerrorbars pt 4 ps 1.2 lw 1 lc rgb grey title 'last bounce, reflected', \
     segment using 't':(only(column('G'), strcol('accepted'), '0')):'c' with yerrorbars pt 7 ps 1.2 lw 1 lc rgb green title 'rejected (+- c)', \
     segment using 't':(only(column('G'), strcol('accepted'), '1')):'c' with yerrorbars pt 7 ps 1.5 lw 1 lc rgb red title 'accepted: bounce'
# the path
set origin 0.6, 0.42; set size 0.4, 0.58
set title 'The path, over contours of Laplace''s approximation'
set xlabel 'w_1'; set ylabel 'w_2'; unset xzeroaxis
path = dir.'/path.csv'
unset grid; set offsets graph 0.02, graph 0.02, graph 0.05, graph 0.05
plot for [r in "0.5 1 1.5 2 2.5 3"] dir.'/contours.csv' using (column('sd') == r+0 ? column('x') : NaN):'y' with lines lw 1 lc rgb '#bbbbbb' notitle, \
     path using 'x':'y':'dx':'dy' with vectors head filled size graph 0.02,18 lw 1.2 lc rgb sky title 'segments before and after', \
     path using (column('shown') == 1 ? column('x') : NaN):'y':'dx':'dy' with vectors head filled size graph 0.025,18 lw 2.5 lc rgb blue title 'this segment', \
     dir.'/observed.csv' using (column('accepted') == 0 ? column('x') : NaN):'y' with points pt 7 ps 1 lc rgb green title 'rejected', \
     dir.'/observed.csv' using (column('accepted') == 1 ? column('x') : NaN):'y' with points pt 7 ps 1.3 lc rgb red title 'bounce'
set grid; set offsets 0, 0, 0, 0
# bounds
set bmargin; set key inside noreverse Right vertical maxrows auto width 0
set origin 0, 0; set size 0.33, 0.41
set title 'Intensity at proposals, and constant bounds'
set xlabel '{/Symbol l}, proposals per unit time'; set ylabel 'share of proposals'
set logscale x; set format x '10^{%T}'; set xrange [10:30000]; set yrange [0:*]
set style fill solid 0.5 noborder
stats dir.'/bounds.csv' using 2 every ::0::0 nooutput name 'P'
stats dir.'/bounds.csv' using 2 every ::1::1 nooutput name 'Q'
set arrow 1 from P_max, graph 0 to P_max, graph 0.85 nohead lw 2 lc rgb red
set arrow 2 from Q_max, graph 0 to Q_max, graph 0.65 nohead lw 2 lc rgb sky
set label 1 '{/Symbol=\326}d N max|x_{ij}|' at P_max, graph 0.9 right textcolor rgb red
set label 2 'N max|x_i| ' at Q_max, graph 0.7 right textcolor rgb sky
plot dir.'/rates.csv' using 'lambda':'share':(column('lambda')*0.2) with boxes lc rgb blue notitle
unset arrow; unset label; unset logscale; set format x; set autoscale
# costs
set origin 0.33, 0; set size 0.33, 0.41
set title 'Time of a gradient over that of a slope'
set xlabel 'weights d'; set ylabel 'ratio'
set logscale xy; set xrange [4:400]; set xtics (5, 20, 80, 320); set yrange [0.5:400]
set key top left reverse Left
measured = int(system("wc -l < '".dir."/cost.csv'")) > 1
cost(place, what) = only(column(what), strcol('place'), place)
plot x/1.0 with lines lw 1.5 dt 2 lc rgb grey title 'd', 1 with lines lw 1 lc rgb '#444444' notitle, \
     for [i=1:measured] dir.'/cost.csv' using 'd':(cost('cache', 'ratio_kept')) with linespoints lw 2 lc rgb green pt 4 ps 1.3 title 'kept, cache', \
     for [i=1:measured] '' using 'd':(cost('memory', 'ratio_kept')) with linespoints lw 2 lc rgb orange pt 4 ps 1.3 title 'kept, memory', \
     for [i=1:measured] '' using 'd':(cost('cache', 'ratio')):(cost('cache', 'ratio_error')) with yerrorlines lw 2 lc rgb blue pt 7 ps 1.2 title 'fresh, cache', \
     for [i=1:measured] '' using 'd':(cost('memory', 'ratio')):(cost('memory', 'ratio_error')) with yerrorlines lw 2 lc rgb red pt 7 ps 1.2 title 'fresh, memory'
unset logscale; set xtics autofreq; set autoscale
# processes
set origin 0.66, 0; set size 0.34, 0.41
set title 'A line and a Gaussian process (d = 20)'
set xlabel 'violations, % of proposals'; set ylabel 'rows per effective sample'
set logscale xy; set format '10^{%T}'; set key bottom right noreverse Right
gp = dir.'/processes.csv'
set xrange [0.03:10]; set yrange [1e3:1e6]
pick(v, w, k) = strcol('way') eq w && strcol('kind') eq k ? v : NaN
plot gp using (pick(column('broken'), 'paper', 'linear')):'price':'price_error' with yerrorbars pt 7 ps 1.6 lc rgb blue lw 2 title 'line, as published', \
     gp using (pick(column('broken'), 'paper', 'gp')):'price':'price_error' with yerrorbars pt 4 ps 2 lc rgb sky lw 2 title 'process, as published', \
     gp using (pick(column('broken'), 'default', 'linear')):'price':'price_error' with yerrorbars pt 7 ps 1.6 lc rgb green lw 2 title 'line, default', \
     gp using (pick(column('broken'), 'default', 'gp')):'price':'price_error' with yerrorbars pt 4 ps 2.2 lc rgb black lw 2 title 'process, default'
unset multiplot
