#!/bin/sh
# Draws all pictures from plots/data. Run from the repository's root, or by `make plots`.
#   plots/pictures.sh [DEVICE]      sim, or a GPU's folder of plots/data (cuda: all of these); default: sim, then the others
# Environment: GPU (whose roofs the roofline has), TERM_PLOTS=1 (draw in the terminal), PICTURES, PNG (folders; default
# plots/pictures, which is tracked, and build/plots/pictures, which is not), DATA (default plots/data).
# Exit status: 3 when gnuplot or a data file is missing; 2 for a GPU nobody knows and a file that is torn.
set -eu
export LC_ALL=C.UTF-8
data=${DATA:-plots/data} pictures=${PICTURES:-plots/pictures} png=${PNG:-build/plots/pictures}

fail() {
	echo "plots: $1" >&2
	exit "$2"
}

command -v gnuplot >/dev/null 2>&1 || fail "gnuplot is not installed: ./setup.sh installs it" 3

chapters='01_naive 02_online_softmax 03_tiled_matmul 04_fa1 05_fa2 06_backward'

# needs DEVICE: stops when one of its files is not there or not whole.
needs() {
	for name in $chapters $([ "$1" != sim ] || echo blocks); do
		file=$data/$1/$name.tsv command="make bench DEVICE=cuda CHAPTERS=$name on that GPU"
		[ "$1" != sim ] || command="make bench DEVICE=sim CHAPTERS=$name"
		[ -s "$file" ] || fail "$file is missing: $command writes it" 3
		torn=$(awk -F'\t' '
			/^#/ { columns = NF; next }
			NF != columns { print ":" NR ": expected " columns " columns, found " NF; wrong = 1; exit }
			{ rows++ }
			END { if (!wrong && !rows) print " has no rows" }' "$file")
		[ -z "$torn" ] || fail "$file$torn; $command writes it anew" 2
	done
}

gpus=$(ls "$data" 2>/dev/null | while read -r name; do
	[ ! -d "$data/$name" ] || [ "$name" = sim ] || echo "$name"
done)
case ${1:-} in
'') devices="sim $gpus" ;;
cuda)
	[ -n "$gpus" ] || fail "$data has no GPU's folder: make bench DEVICE=cuda on a machine with a GPU makes one" 3
	devices=$gpus
	;;
*) devices=$1 ;;
esac
for device in $devices; do needs "$device"; done
for name in roofs attention_map; do
	[ -s "$data/$name.tsv" ] || fail "$data/$name.tsv is missing: make plots in the repository writes it" 3
done

if [ -n "${TERM_PLOTS:-}" ]; then
	for device in $devices; do gnuplot -e "data='$data/$device'" plots/terminal.gp; done
	exit 0
fi

# One line a picture: the arguments of plots/draw.sh, between tabs.
picture() {
	printf 'plots/%s\t%s\t%s\t%s\t--\t%s\n' "$@"
}

list() {
	from=$data/$1 to=$pictures/$1 bits=$png/$1
	if [ -n "${GPU:-}" ]; then
		# Somebody's own question: beside this machine's other pictures, not among the tracked ones.
		picture roofline.gp "$from" "$bits/roofline-$GPU" "$bits/roofline-$GPU" \
			"gpu='$GPU'; roofs='$data/roofs.tsv'"
		return
	fi
	roof=h100
	[ "$1" = sim ] || ! grep -q "^$1	" "$data/roofs.tsv" || roof=$1
	picture roofline.gp "$from" "$to/roofline" "$bits/roofline" "gpu='$roof'; roofs='$data/roofs.tsv'"
	for name in time_vs_n error_vs_n memory_vs_n; do picture $name.gp "$from" "$to/$name" "$bits/$name" ''; done
	for name in $chapters; do
		picture "${name#*_}.gp" "$from/$name.tsv" "$to/$name" "$bits/$name" "where='dim=64 causal=0'"
	done
	[ "$1" = sim ] || return 0
	for name in hbm_vs_n hbm_vs_block; do picture $name.gp "$from" "$to/$name" "$bits/$name" ''; done
	picture attention_map.gp "$data" "$to/attention_map" "$bits/attention_map" ''
}

if [ -n "${GPU:-}" ] && ! grep -q "^$GPU	" "$data/roofs.tsv"; then
	fail "GPU=$GPU: expected one of$(awk -F'\t' '!/^#/ {printf " %s", $1}' "$data/roofs.tsv")" 2
fi

for device in $devices; do list "$device"; done | xargs -d '\n' -n 1 -P "$(nproc)" sh -c '
	set -f
	IFS=$(printf "\t")
	set -- $1
	plots/draw.sh "$@" >/dev/null' draw || exit 1
for device in $devices; do
	if [ -n "${GPU:-}" ]; then
		echo "plots: $png/$device/roofline-$GPU.{light,dark}.{svg,png}"
	else
		echo "plots: $device: $(list "$device" | wc -l) pictures in $pictures/$device (SVG, light and dark) and $png/$device (PNG)"
	fi
done
