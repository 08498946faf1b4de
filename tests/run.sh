#!/bin/sh
# Runs suites, one at a time more than there are cores (some wait for a program), and prints a table.
#   run.sh BUILD_DIR EXPECTED.tsv suite...
# A suite is BUILD_DIR/NAME, of Criterion, or PART_WHAT with tests/PART/test_WHAT.py, of unittest (support/suite.py);
# simcc_NAME is one of simcc/tests, which has a runner of its own. It fails if a test fails, if its closing line is
# missing, or if it held another number of tests than EXPECTED.tsv says: a suite that lost its tests is no green one.
# Ends with the sums, alone on a line.
set -u
# The makes that the tests start are a user's, and nobody's submakes.
unset MAKEFLAGS MFLAGS MAKELEVEL WERROR
here=$(cd "$(dirname "$0")" && pwd)
python_suite() { echo "$here/${1%%_*}/test_${1#*_}.py"; }

# run.sh --one BUILD_DIR suite: leaves its output, exit status and seconds in BUILD_DIR/log
if [ "${1:-}" = --one ]; then
	build=$2 suite=$3
	log=$build/log/$suite.log
	rm -f "$build/xml/$suite.xml"
	case $suite in
	simcc_*) set -- "$here/../simcc/tests/run.py" -j1 --junit "$build/xml/$suite.xml" "${suite#simcc_}" ;;
	*) set -- "$build/$suite" -j1 --color=never --xml="$build/xml/$suite.xml" ;;
	esac
	[ -f "$(python_suite "$suite")" ] && set -- "$here/support/suite.py" "$(python_suite "$suite")" "$build/xml/$suite.xml"
	start=$(date +%s%N)
	timeout -k 5 "${SUITE_TIMEOUT:-900}" "$@" >"$log" 2>&1 </dev/null
	status=$?
	nanoseconds=$(($(date +%s%N) - start))
	echo "$status $((nanoseconds / 1000000000)).$(printf %02d $((nanoseconds / 10000000 % 100)))" >"$log.status"
	exit 0
fi

build=$1
expected=$2
shift 2
tab=$(printf '\t')
mkdir -p "$build/xml" "$build/log"
rm -rf "$build"/scratch-*

rm -f "$build"/log/*.status
printf '%s\n' "$@" | xargs -P $(($(nproc) + 1)) -I '{}' "$0" --one "$build" '{}'

passed=0 failed=0 skipped=0 wrong= reasons=
printf '%-24s %6s %7s %7s %8s %8s\n' suite tests passed failed skipped seconds
for suite in "$@"; do
	log=$build/log/$suite.log
	xml=$build/xml/$suite.xml
	status=127 seconds=0
	[ -r "$log.status" ] && read -r status seconds <"$log.status"

	kind=$suite
	[ -f "$(python_suite "$suite")" ] && kind=python
	listed() { sed -n "s/^$suite$tab\([0-9]*\)\$/\1/p" "$expected"; }
	case $kind in
	simcc_* | python) # 13 passed, 13 failed, 0 skipped; simcc's runner has looked whether these are all
		synthesis=$(grep '^[0-9]* passed, [0-9]* failed, [0-9]* skipped$' "$log" | tail -n 1)
		number() { echo "$synthesis" | sed -n "s/.*\b\([0-9][0-9]*\) $1.*/\1/p"; }
		good=$(number passed) bad=$(number failed) left_out=$(number skipped)
		good=${good:-0} bad=${bad:-0} left_out=${left_out:-0}
		all=$((good + bad + left_out)) want=$all
		[ $kind = python ] && want=$(listed)
		;;
	*) # [====] Synthesis: Tested: 26 | Passing: 13 | Failing: 13 | Crashing: 2
		synthesis=$(grep '^\[====\] Synthesis:' "$log" | tail -n 1)
		number() { echo "$synthesis" | sed -n "s/.*$1: \([0-9]*\).*/\1/p"; }
		ran=$(number Tested) good=$(number Passing) bad=$(number Failing)
		ran=${ran:-0} good=${good:-0} bad=${bad:-0}
		all=$(sed -n 's/^<testsuites .* tests="\([0-9]*\)".*/\1/p' "$xml" 2>/dev/null)
		all=${all:-$ran}
		left_out=$((all - ran))
		want=$(listed)
		;;
	esac

	why=
	[ "$bad" -gt 0 ] && why="$bad failed"
	[ -z "$why" ] && [ "$status" -eq 124 ] && why="still running after ${SUITE_TIMEOUT:-900} s"
	[ -z "$why" ] && [ -z "$synthesis" ] && why="ended with status $status before its closing line"
	[ -z "$why" ] && [ "$status" -ne 0 ] && why="exit status $status"
	[ -z "$why" ] && [ -z "$want" ] && why="has no line in $(basename "$expected")"
	[ -z "$why" ] && [ "$all" != "$want" ] && why="holds $all tests, $(basename "$expected") says $want"
	# What is wrong with a suite as a whole counts as one failed test.
	[ -n "$why" ] && [ "$bad" -eq 0 ] && bad=1

	printf '%-24s %6d %7d %7d %8d %8s\n' "$suite" "$all" "$good" "$bad" "$left_out" "$seconds"
	# Several tests skipped for one reason are one line.
	sed -n 's/^ *\(\(skipped\|table\): .*\)/\1/p' "$log" | awk '!seen[$0]++ { line[++lines] = $0 }
		END { for (i = 1; i <= lines; i++) print "    " line[i] (seen[line[i]] > 1 ? " (" seen[line[i]] " tests)" : "") }'
	if [ -n "$why" ]; then
		echo "    $suite: $why. Its output ($log):"
		tail -n "${LOG_LINES:-60}" "$log" | sed 's/^/    | /'
		wrong="$wrong $suite"
		reasons="$reasons    $suite: $why
"
	fi
	passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + left_out))
done
# Once more at the end, where a reader looks first and where a log that was cut still has it: what failed, and where.
if [ -n "$wrong" ]; then
	printf 'failed:\n%s' "$reasons"
	for suite in $wrong; do
		awk '/^\[----\] +[^ ]/ && lines < 4 { said[++lines] = substr($0, 8, 300) }
		     /^\[FAIL\]/ { print "    " substr($0, 8); for (i = 1; i <= lines; i++) print "      " said[i]; lines = 0 }
		     /^\[PASS\]/ { lines = 0 }
		     /^    failed: / { print; lines = 0; more = 4; next }
		     /^    \| / && more-- > 0' "$build/log/$suite.log"
	done
fi
[ $# -gt 0 ] || { echo "no suites to run"; failed=1; }
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
