eval begin(2100, 1000)
set multiplot
array title[2] = ['the text''s data (variance 6)', 'the notebook''s data (variance 1/500)']
do for [j=1:2] {
    data = word('text notebook', j)
    y = 0.5 * (2 - j)
    mine(v, other, wanted) = strcol('data') eq data && other eq wanted ? v : NaN
    set origin 0, y; set size 0.25, 0.5
    set title 'Laplace log posterior, '.title[j]
    set xlabel 'stretched weight, from the mode'; set ylabel 'another weight'; set key bottom right
    stats dir.'/contours.csv' using (strcol('data') eq data ? column('x') : NaN) nooutput name 'X'
    stats dir.'/contours.csv' using (strcol('data') eq data ? column('y') : NaN) nooutput name 'Y'
    m = 1.15 * (X_max > Y_max ? X_max : Y_max)
    set size ratio -1; set xrange [-m:m]; set yrange [-m:m]
    plot for [s=1:3] dir.'/contours.csv' using (column('sd') == s ? mine(column('x'), strcol('when'), 'before') : NaN):'y' with lines lw 2 lc rgb blue title s == 1 ? 'w: before' : '', \
         for [s=1:3] dir.'/contours.csv' using (column('sd') == s ? mine(column('x'), strcol('when'), 'after') : NaN):'y' with lines lw 2 lc rgb orange title s == 1 ? 'A^{-1} w: preconditioned' : ''
    set size noratio; set autoscale; set key top right
    set origin 0.25, y; set size 0.25, 0.5
    set title 'Autocorrelation, direction of greatest variance'
    set xlabel 'lag, epochs'; set ylabel ''; set yrange [-1:1]; set xzeroaxis lt 1 lw 1 lc rgb '#888888'
    plot dir.'/acf.csv' using 'epochs':(mine(column('acf')-2*column('error'), strcol('way'), 'sbps')):(column('acf')+2*column('error')) with filledcurves lc rgb blue fs transparent solid 0.15 noborder notitle, \
         dir.'/acf.csv' using 'epochs':(mine(column('acf')-2*column('error'), strcol('way'), 'psbps')):(column('acf')+2*column('error')) with filledcurves lc rgb orange fs transparent solid 0.15 noborder notitle, \
         dir.'/acf.csv' using 'epochs':(mine(column('acf'), strcol('way'), 'sbps')) with lines ls 1 title 'SBPS', \
         dir.'/acf.csv' using 'epochs':(mine(column('acf'), strcol('way'), 'psbps')) with lines ls 4 title 'pSBPS'
    set autoscale
    do for [l=1:2] {
        law = word('notebook near', l)
        set origin 0.25 + 0.25 * l, y; set size 0.25, 0.5
        set title sprintf("Three starts of %d times Laplace's covariance", l == 1 ? 100 : 10)
        set xlabel 'epochs'; set ylabel 'longest direction, Laplace sd from the mode'
        set offsets 0, 0, graph 0.15, 0
        own(s, way) = column('seed') == s && strcol('start') eq law ? mine(column('epoch'), strcol('way'), way) : NaN
        plot for [s=1:3] dir.'/traces.csv' using (own(s, 'sbps')):'sd' with lines ls 1 lw 1.3 title s == 1 ? 'SBPS' : '', \
             for [s=1:3] dir.'/traces.csv' using (own(s, 'psbps')):'sd' with lines ls 4 lw 1.3 title s == 1 ? 'pSBPS' : ''
        set offsets 0, 0, 0, 0
    }
    unset xzeroaxis
}
unset multiplot
