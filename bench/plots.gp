# The plots of docs/performance.md, from the last ./dev bench:
#   gnuplot bench/plots.gp
set terminal svg size 640,360 font "sans-serif,12" background "white"
set key left top
set grid
set xlabel "percent of the jobs"
set ylabel "ms from enqueue to handler"
set xrange [0:100]
set yrange [0:*]

set output "docs/latency.svg"
plot "bench/results/latency.inproc.dat" using 1:2 with linespoints title "alkstore, one process", \
     "" using 1:3 with linespoints title "raw, one process", \
     "bench/results/latency.crossproc.dat" using 1:2 with linespoints title "alkstore, two processes", \
     "" using 1:3 with linespoints title "raw, two processes"
