# Columns of a data file, by their names: what every picture reads its numbers through.
#
#   awk -f plots/rows.awk -v kernel=fa1_row -v where='dim=64 causal=0' -v columns='seq requested' FILE.tsv
#
# One line a row, in the file's order, only of rows that were verified and have a number in every column asked for.
#   kernel   rows of that kernel; "" any
#   where    name=value pairs; a column the file does not have is no condition; name=first: as in the first row
#   last=1   only the last such row; "NaN" for each column when there is none
# Besides the file's own columns:
#   requested, footprint    bytes read and written (atomics count as requested)
#   sectors                 bytes of the sectors read and written
#   model_requested, model_footprint    the same by the closed forms: bytes of Q K V S P O and the gradients
#   per_head                1 / (batch * heads), a factor: "per_head*requested"; any names may be multiplied with *,
#                           and divided by the last one with /: "flop/requested"
#   error_share             error / tolerance
#   gflops                  of a time measured on a GPU; NaN of any other
function value(name) {
	if (name == "requested") return sum("requested_read_bytes", "requested_write_bytes", "atomic_bytes")
	if (name == "footprint") return sum("footprint_read_bytes", "footprint_write_bytes", "")
	if (name == "sectors") return times(32, sum("read_sectors", "write_sectors", ""))
	if (name == "model_requested") return times(4, cell("model_requested_elements"))
	if (name == "model_footprint") return times(4, cell("model_footprint_elements"))
	if (name == "per_head") return "batch" in at ? 1 / ($(at["batch"]) * $(at["heads"])) : 1
	if (name == "error_share") return share(cell("max_abs"), cell("tolerance"))
	if (name == "gflops") return cell("time_kind") == "measured-gpu" ? times(1e-6, share(cell("flop"), cell("median_ms"))) : "NaN"
	if (name ~ /^[0-9.e]+$/) return name + 0
	return cell(name)
}
function times(factor, number) { return number == "NaN" ? "NaN" : factor * number }
# What "NaN" is as a number, one awk tells otherwise than another: it is never divided.
function share(over, under) { return over == "NaN" || under == "NaN" || under == 0 ? "NaN" : over / under }
function cell(name) { return name in at ? $(at[name]) : "NaN" }
function sum(a, b, c,    total) {
	if (cell(a) == "NaN" || cell(b) == "NaN") return "NaN"
	total = cell(a) + cell(b)
	return c != "" && cell(c) != "NaN" ? total + cell(c) : total
}
function product(text,    parts, count, i, result, factor) {
	count = split(text, parts, "*")
	result = value(parts[1])
	for (i = 2; i <= count; i++) {
		factor = value(parts[i])
		result = result == "NaN" || factor == "NaN" ? "NaN" : result * factor
	}
	return result
}
function expression(text,    parts) {
	if (split(text, parts, "/") < 2) return product(text)
	return share(product(parts[1]), product(parts[2]))
}
BEGIN {
	FS = "\t"
	CONVFMT = OFMT = "%.12g"
	wanted = split(columns, want, " ")
	conditions = split(where, condition, " ")
}
{ sub(/\r$/, "") }
/^#/ {
	line = $0
	sub(/^# ?/, "", line)
	fields = split(line, name, "\t")
	if (fields > 1) {
		delete at
		for (i = 1; i <= fields; i++) if (name[i] != "") at[name[i]] = i
	}
	next
}
NF > 1 {
	if (!started++)
		for (i = 1; i <= conditions; i++) {
			split(condition[i], pair, "=")
			if (pair[2] == "first") condition[i] = pair[1] "=" cell(pair[1])
		}
	if (kernel != "" && cell("kernel") != kernel) next
	if ("verified" in at && cell("verified") != "yes") next
	for (i = 1; i <= conditions; i++) {
		split(condition[i], pair, "=")
		if (pair[1] in at && cell(pair[1]) != pair[2]) next
	}
	out = ""
	for (i = 1; i <= wanted; i++) {
		number = expression(want[i])
		if (number == "NaN") next
		out = out (i > 1 ? "\t" : "") number
	}
	if (last) kept = out
	else print out
}
END {
	if (!last) exit
	if (kept == "") for (i = 1; i <= wanted; i++) kept = kept (i > 1 ? "\t" : "") "NaN"
	print kept
}
