#!/bin/sh
# Tests run.sh itself with tiny suites: a good one must pass, each bad one must not. Usage: check.sh SCRATCH_DIR
set -eu
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1
rm -rf "$scratch"
mkdir -p "$scratch"
for suite in good failing crashing empty early skipping; do
	upper=$(echo $suite | tr a-z A-Z)
	${CC:-gcc} -w -D"$upper" "$here/suites.c" -lcriterion -o "$scratch/$suite"
	printf '%s\t2\n' $suite >>"$scratch/expected.tsv"
done
cp "$scratch/good" "$scratch/unlisted"
cp "$scratch/good" "$scratch/miscounted"
printf 'miscounted\t3\n' >>"$scratch/expected.tsv"

expect() { # status, last line, suites...
	status=$1 line=$2
	shift 2
	got=0
	SUITE_TIMEOUT=20 "$here/../../run.sh" "$scratch" "$scratch/expected.tsv" "$@" >"$scratch/output" 2>&1 || got=$?
	if [ "$got" -ne "$status" ] || [ "$(tail -n 1 "$scratch/output")" != "$line" ]; then
		echo "run.sh $*: expected status $status and '$line', got status $got and:" >&2
		cat "$scratch/output" >&2
		exit 1
	fi
}
expect 0 '2 passed, 0 failed, 0 skipped' good
expect 1 '1 passed, 1 failed, 0 skipped' failing
tail -n 5 "$scratch/output" | grep -q '^    runner::second' # which test, and what it said, just above the sums
tail -n 5 "$scratch/output" | grep -q '^ *planted'
expect 1 '1 passed, 1 failed, 0 skipped' crashing
expect 1 '0 passed, 1 failed, 0 skipped' empty
expect 1 '0 passed, 1 failed, 0 skipped' early
expect 1 '2 passed, 1 failed, 0 skipped' unlisted
expect 1 '2 passed, 1 failed, 0 skipped' miscounted
expect 1 '0 passed, 1 failed, 0 skipped' missing
expect 1 '0 passed, 1 failed, 0 skipped'
expect 1 '3 passed, 1 failed, 0 skipped' good failing
expect 0 '1 passed, 0 failed, 1 skipped' skipping
grep -q 'skipped: no such machine' "$scratch/output"
