#!/bin/sh
# Stands in for a chapter's program where `make bench` itself is tested: takes its options, writes the same kind of TSV.
#   STAND_IN_DEVICE   what it says after "# device: "      STAND_IN_SLEEP   seconds a run takes
#   STAND_IN_FAILS    "SEQ STATUS MESSAGE": at that seq it prints the message and ends so
seq=1 dim=1 heads=1 causal=0 rows=1 cols=1 tsv=- columns='seq\tdim\tbatch\theads\tcausal'
while [ $# -gt 0 ]; do
	case $1 in
	--causal) causal=1 ;;
	--quiet) ;;
	--seq | --dim | --heads | --tsv | --rows | --cols | --m | --n | --k | --kernel | --repeat | --warmup | --gpu | --tile-q | --tile-k)
		name=${1#--}
		case $name in seq | dim | heads | tsv | rows | cols) eval "$name=\$2" ;; esac
		shift
		;;
	*)
		echo "stand_in: unknown option $1" >&2
		exit 2
		;;
	esac
	shift
done
if [ -n "${STAND_IN_FAILS:-}" ] && [ "$seq" = "${STAND_IN_FAILS%% *}" ]; then
	rest=${STAND_IN_FAILS#* }
	echo "${rest#* }" >&2
	exit "${rest%% *}"
fi
[ "$seq" = 1 ] || sleep "${STAND_IN_SLEEP:-0}"
{
	echo "# 05_fa2 on a stand-in, 2000-01-01"
	echo "# machine: none, 1 core, Linux none"
	echo "# device: ${STAND_IN_DEVICE:-sim, limits of h100, NVIDIA H100 SXM}"
	echo "# compiler: none 1.0"
	echo "# units: none"
	printf "# $columns\tkernel\tverified\tmax_abs\tcounted_elements\tmodel_requested_elements\tskipped\n"
	for kernel in one two; do
		printf '%s\t%s\t1\t%s\t%s\t%s\tyes\t1e-7\t%s\t%s\t-\n' "$seq" "$dim" "$heads" "$causal" "$kernel" \
			"$((seq * dim))" "$((seq * dim))"
	done
} >"$tsv"
