# The last line of every script: leaves title, provenance and description for tools/draw.
unset output
if (exists("out")) {
	set print out.".words"
	print headline_text
	print provenance_text
	print description_text
	unset print
}
