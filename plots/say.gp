# The last line of every script: where it has a column x of times, and a GPU counted nothing, these; then title, provenance
# and description for tools/draw.
if (exists("x_column") && !counted) { load 'plots/times.gp' }
unset output
if (exists("out")) {
	set print out.".words"
	print headline_text
	print provenance_text
	print description_text
	unset print
}
