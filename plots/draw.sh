#!/bin/sh
# Draws one picture four times: light and dark, SVG and PNG. Run from the repository's root.
#   plots/draw.sh SCRIPT.gp DATA.tsv STEM "title for screen readers"      -> STEM.light.svg, STEM.dark.svg, ...
set -eu
script=$1 data=$2 stem=$3 title=$4
if ! command -v gnuplot >/dev/null 2>&1; then
	echo "plots: gnuplot is not installed (./setup.sh); the data is in $data"
	exit 0
fi
if [ ! -s "$data" ]; then
	echo "plots: $data is missing: make plot in the chapter's directory writes it" >&2
	exit 3
fi
for theme in light dark; do
	for format in svg png; do
		picture=$stem.$theme.$format
		gnuplot -e "theme='$theme'; fmt='$format'; data='$data'; out='$picture.new'" "$script"
		[ $format = png ] || sed -i "s|<title>Gnuplot</title>|<title>$title</title>|" "$picture.new"
		mv "$picture.new" "$picture"
	done
done
echo "plots: $stem.{light,dark}.{svg,png}"
