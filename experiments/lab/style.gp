# Looks that all figures share. A plot.gp begins with `eval begin(width, height)`, in pixels of the PNG.
set datafile separator ','
set datafile columnheaders
set encoding utf8
begin(w, h) = sprintf("set terminal %s size %d, %d font 'DejaVu Sans,%d'; set output '%s'", \
    kind eq 'png' ? 'pngcairo enhanced background "#ffffff"' : 'svg enhanced background "#ffffff"', w, h, 11, page)
# Okabe and Ito's colours: distinguishable without colour vision.
black = '#000000'; orange = '#e69f00'; sky = '#56b4e9'; green = '#009e73'
yellow = '#f0e442'; blue = '#0072b2'; red = '#d55e00'; pink = '#cc79a7'; grey = '#999999'
set style line 1 lc rgb blue lw 2
set style line 2 lc rgb red lw 2
set style line 3 lc rgb green lw 2
set style line 4 lc rgb orange lw 2
set style line 5 lc rgb pink lw 2
set style line 6 lc rgb sky lw 2
set style line 7 lc rgb black lw 2
set style line 8 lc rgb grey lw 1.5
set border 3 lw 1 lc rgb '#444444'
set tics nomirror out scale 0.6 textcolor rgb '#222222'
set grid lw 0.5 lc rgb '#e4e4e4'
set key samplen 2 spacing 1.1 textcolor rgb '#222222'
# A column of a tidy table where another one has this value: only(column('y'), strcol('series'), 'sbps')
only(value, name, wanted) = name eq wanted ? value : NaN
