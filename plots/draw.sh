#!/bin/sh
# Draws one picture: light and dark, SVG and PNG. Run from the repository's root.
#   plots/draw.sh SCRIPT.gp DATA STEM [PNG_STEM] [-- gnuplot assignments]
# writes STEM.light.svg, STEM.dark.svg and PNG_STEM.light.png, PNG_STEM.dark.png (default: beside the SVG).
# DATA is a data file, or a directory of them, whatever the script reads.
# Environment: FORMATS=svg leaves the PNG out.
set -eu
script=$1 data=$2 stem=$3
export LC_ALL=C.UTF-8
shift 3
png=$stem
[ $# -eq 0 ] || [ "$1" = -- ] || { png=$1; shift; }
[ $# -eq 0 ] || shift
more=${1:-}
if ! command -v gnuplot >/dev/null 2>&1; then
	echo "plots: gnuplot is not installed (./setup.sh installs it); the data is in $data" >&2
	exit 3
fi
if [ ! -s "$data" ]; then
	echo "plots: $data is missing: make plot in the chapter's directory writes it" >&2
	exit 3
fi
mkdir -p "$(dirname "$stem")" "$(dirname "$png")"
# Nothing half-drawn is left behind.
trap 'rm -f "$stem".*.new.$$* "$png".*.new.$$*' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 131' QUIT
trap 'exit 143' TERM
for theme in light dark; do
	for format in ${FORMATS:-svg png}; do
		picture=$stem.$theme.$format
		[ $format = svg ] || picture=$png.$theme.png
		new=$picture.new.$$
		if ! gnuplot -e "theme='$theme'; fmt='$format'; data='$data'; out='$new'; $more" "$script" >"$new.log" 2>&1; then
			echo "plots: $script could not draw $data:" >&2
			cat "$new.log" >&2
			exit 1
		fi
		# Where there is no such locale gnuplot says that it cannot write a degree sign; nobody asked for one.
		grep -v -e 'degree sign' -e '^[[:space:]]*$' "$new.log" >&2 || true
		if head -n 1 "$new.words" | grep -qw nan; then
			echo "plots: $script has no number for its headline, \"$(head -n 1 "$new.words")\": is a column missing in $data?" >&2
			exit 1
		fi
		[ $format = png ] || perl plots/finish_svg.pl "$new"
		mv "$new" "$picture"
	done
done
echo "plots: $stem.{light,dark}.svg"
