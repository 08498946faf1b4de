#!/bin/sh
# Runs the two builds of bench.cu on one core and prints what they measured, with the ratios that matter.
#   table.sh DIRECTORY-OF-THE-PROGRAMS
set -eu
out=$1
export SIM_THREADS=1
echo "The simulated device on $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), ${CXX:-g++}, $(date -u +%Y-%m-%d)"
echo "M/s: million thread-level accesses per second, one core, best of five"
echo
SIM_CHECK=memcheck,synccheck "$out/bench" >"$out/counted.tsv"
"$out/bench.fast" >"$out/plain.tsv"
awk -F'\t' '
	FNR == NR { counted[$1] = $2; next }
	FNR == 1 {
		printf "%-18s %12s %12s %14s\n", "loop", "counted", "plain", "plain/counted"
	}
	$3 == "M/s" { printf "%-18s %8.0f M/s %8.0f M/s %13.1fx\n", $1, counted[$1], $2, $2 / counted[$1] }
	$1 == "barrier" { printf "%-18s %9.1f ns %9.1f ns   a thread\n", $1, counted[$1], $2; barrier = $2 }
	$1 == "rows / C" { against_c = $2 }
	END {
		printf "\n%-58s %8s %8s\n", "what it must reach", "measured", "target"
		printf "%-58s %6.0f M/s %4d M/s\n", "rows with all counters, memcheck, synccheck: at least", counted["rows"], 100
		printf "%-58s %7.2f x  %5.1f x\n", "rows, plain build, in times of the same loops in C: at most", against_c, 1.5
		printf "%-58s %6.1f ns  %5d ns\n", "a barrier, plain build, a thread: at most", barrier, 15
	}' "$out/counted.tsv" "$out/plain.tsv"
