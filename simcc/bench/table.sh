#!/bin/sh
# Runs the two builds of bench.cu on one core and prints what they measured, with the ratios that matter.
#   table.sh DIRECTORY-OF-THE-PROGRAMS
set -eu
out=$1
export SIM_THREADS=1
echo "The simulated device on $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), ${CXX:-g++}, $(date -u +%Y-%m-%d)"
echo "Million thread-level accesses per second, one core, best of five. All counters are on"
echo "in every column but the last, which is the plain build."
echo
for checks in memcheck,synccheck memcheck,synccheck,initcheck memcheck,synccheck,racecheck all; do
	SIM_CHECK=$checks "$out/bench" >"$out/$checks.tsv"
done
"$out/bench.fast" >"$out/plain.tsv"
cd "$out"
awk -F'\t' '
	FNR == 1 { file++ }
	{ value[file, $1] = $2; unit[$1] = $3; if (file == 1) name[++names] = $1 }
	END {
		printf "%-16s %10s %10s %10s %10s %8s\n", "loop", "memcheck", "+initcheck", "+racecheck", "all checks", "plain"
		printf "%-16s %10s\n", "", "synccheck"
		for (i = 1; i <= names; i++)
			if (unit[name[i]] == "M/s")
				printf "%-16s %10.0f %10.0f %10.0f %10.0f %8.0f\n", name[i], value[1, name[i]],
					value[2, name[i]], value[3, name[i]], value[4, name[i]], value[5, name[i]]
		printf "%-16s %7.1f ns %7.1f ns %7.1f ns %7.1f ns %5.1f ns  a thread\n", "barrier", value[1, "barrier"],
			value[2, "barrier"], value[3, "barrier"], value[4, "barrier"], value[5, "barrier"]
		printf "%-16s %10s %9.2fx %9.2fx %9.2fx\n", "price, on rows", "", value[1, "rows"] / value[2, "rows"],
			value[1, "rows"] / value[3, "rows"], value[1, "rows"] / value[4, "rows"]
		printf "\n%-58s %8s %8s\n", "what it must reach", "measured", "target"
		printf "%-58s %6.0f M/s %4d M/s\n", "rows with all counters, memcheck, synccheck: at least", value[1, "rows"], 100
		printf "%-58s %6.0f M/s %4d M/s\n", "rows with all counters and all four checks: at least", value[4, "rows"], 60
		printf "%-58s %7.2f x  %5.1f x\n", "rows, plain build, in times of the same loops in C: at most", value[5, "rows / C"], 1.5
		printf "%-58s %6.1f ns  %5d ns\n", "a barrier, plain build, a thread: at most", value[5, "barrier"], 15
	}' memcheck,synccheck.tsv memcheck,synccheck,initcheck.tsv memcheck,synccheck,racecheck.tsv all.tsv plain.tsv
