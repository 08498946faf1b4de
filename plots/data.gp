# The numbers of a picture. `load tables(files)` starts tools/rows once; then the functions below know, for each kernel of
# these files of the folder `data` (of the file `data`, if files is ''), the rows that fulfill `where`. tools/rows says what
# columns and conditions there are; it is found from the repository's root.
if (!exists("where")) where = 'dim=first causal=first'
tables(files) = sprintf("< python3 tools/rows --where '%s' '%s' %s", where, data, files)
# The rows of one file that fulfill a condition, under a name, whatever their kernel; and the same to plot.
table_of(file, name, condition) = sprintf("< python3 tools/rows --where '%s' --name %s '%s'", condition, name, file)
printed(file, columns, condition) = sprintf("< python3 tools/rows --where '%s' --columns '%s' '%s'", condition, columns, file)

# The numbers of a column, a word a row; of these the first and the last that are known, and that of the row where the
# column `key` is x. NaN where there is none: a GPU counts nothing.
cells(kernel, column) = exists(kernel.'__'.column) ? value(kernel.'__'.column) : ''
known(x) = x == x
number(list, n) = n < 1 || n > words(list) ? NaN : real(word(list, n))
first_known(list, n) = n > words(list) || known(number(list, n)) ? number(list, n) : first_known(list, n + 1)
last_known(list, n) = n < 1 || known(number(list, n)) ? number(list, n) : last_known(list, n - 1)
first_of(kernel, column) = first_known(cells(kernel, column), 1)
last_of(kernel, column) = last_known(cells(kernel, column), words(cells(kernel, column)))
place(list, x, n) = n < 1 || number(list, n) == x ? n : place(list, x, n - 1)
number_at(kernel, column, key, x) = number(cells(kernel, column), place(cells(kernel, key), x, words(cells(kernel, key))))
# Of one head, at the script's N.
here(kernel, column) = number_at(kernel, 'per_head', 'seq', N) * number_at(kernel, column, 'seq', N)
at_least(a, b) = !known(a) ? b : !known(b) ? a : a > b ? a : b
at_most(a, b) = !known(a) ? b : !known(b) ? a : a < b ? a : b

# Columns of a kernel, to plot: of the rows that have a number in each. Names may be multiplied: 'seq per_head*requested'.
# gnuplot reads what a command prints, so the command prints what is known here. A reader sees by `file` whose kernel it is.
before(text, sign) = strstrt(text, sign) ? text[1:strstrt(text, sign) - 1] : text
after(text, sign) = text[strstrt(text, sign) + 1:]
product(kernel, names, n) = strstrt(names, '*') ? product(kernel, before(names, '*'), n) * product(kernel, after(names, '*'), n) \
	: number(cells(kernel, names), n)
numbers_of(kernel, columns, n, i) = i > words(columns) ? '' \
	: sprintf("%.12g ", product(kernel, word(columns, i), n)).numbers_of(kernel, columns, n, i + 1)
whole(line) = strstrt(line, 'n') || strstrt(line, 'N') ? '' : line.'\n'
lines_of(kernel, columns, n) = n < 1 ? '' : lines_of(kernel, columns, n - 1).whole(numbers_of(kernel, columns, n, 1))
rows(file, kernel, columns) = sprintf("< printf '%s'", lines_of(kernel, columns, words(cells(kernel, 'per_head'))))
# A curve only where there is data.
inside(x, low, high, y) = x < 0.999 * low || x > 1.001 * high ? NaN : y

# What made the file of a kernel; and without the chapter's name, for pictures of several files: "The simulated device
# (...), machine, date".
made_by(kernel) = value(kernel.'__made_by')
simulated = " on the simulated"
source(kernel) = strstrt(made_by(kernel), simulated) ? "The".made_by(kernel)[strstrt(made_by(kernel), simulated) + 7:] \
	: made_by(kernel)[strstrt(made_by(kernel), " on ") + 4:]
# Where a text is cut: at the last blank that leaves a line of this width, and not before a sign of percent.
cut(text, at) = at < 2 ? 0 : substr(text, at, at) eq ' ' && substr(text, at + 1, at + 1) ne '%' ? at : cut(text, at - 1)
break_at(text, width) = strlen(text) <= width ? strlen(text) : cut(text, width) ? cut(text, width) : width
