# Contours of Laplace's log posterior, autocorrelations, and traces from two kinds of starts; a row of panels per data set.
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
        start = word('notebook near', l)
        set origin 0.25 + 0.25 * l, y; set size 0.25, 0.5
        set title sprintf("Starts of %d times Laplace's covariance", l == 1 ? 100 : 10)
        set xlabel 'epochs'; set ylabel 'longest direction, Laplace sd from the mode'
        own(s, way) = column('seed') == s && strcol('start') eq start ? mine(column('epoch'), strcol('way'), way) : NaN
        middle(way) = strcol('start') eq start ? mine(column('epoch'), strcol('way'), way) : NaN
        set autoscale
        # The axis is that of the medians; a trace may leave the panel.
        stats dir.'/medians.csv' using (strcol('data') eq data && strcol('start') eq start ? abs(column('sd')) : NaN) nooutput name 'M'
        array gone[2]; array all[2]
        do for [w=1:2] {
            picked(x) = strcol('data') eq data && strcol('start') eq start && strcol('way') eq word('sbps psbps', w) ? x : NaN
            stats dir.'/arrivals.csv' using (picked(column('lost'))) nooutput name 'L'
            gone[w] = L_sum; all[w] = L_records
        }
        set yrange [-1.8 * M_max:2.4 * M_max]
        set title sprintf("Starts of %d times Laplace's covariance\nlost: SBPS %d, pSBPS %d of %d", l == 1 ? 100 : 10, gone[1], gone[2], all[1])
        set key top right at graph 0.99, graph 0.985 maxrows 2 opaque
        plot for [s=1:3] dir.'/traces.csv' using (own(s, 'sbps')):'sd' with lines lc rgb '#8fbfdc' lw 1 title s == 1 ? 'SBPS, three starts' : '', \
             for [s=1:3] dir.'/traces.csv' using (own(s, 'psbps')):'sd' with lines lc rgb '#f2cf85' lw 1 title s == 1 ? 'pSBPS, three starts' : '', \
             dir.'/medians.csv' using (middle('sbps')):'sd' with lines lc rgb blue lw 3 title 'SBPS, median', \
             dir.'/medians.csv' using (middle('psbps')):'sd' with lines lc rgb orange lw 3 title 'pSBPS, median'
        set key default; set key samplen 2 spacing 1.1 textcolor rgb '#222222'; set autoscale y
    }
    unset xzeroaxis
}
unset multiplot
