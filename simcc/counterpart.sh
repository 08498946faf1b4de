#!/bin/sh
# The C++ compiler that belongs to a C compiler, or the other way: the one place that knows how their names go.
#   counterpart.sh c++ "ccache gcc-13 -m64"     prints   ccache g++-13 -m64
#   counterpart.sh c "/opt/llvm/bin/clang++"    prints   /opt/llvm/bin/clang
# Only the word that names the compiler changes: not a launcher in front of it, not its options, not its directory. A
# name that says no family (cc, c99, musl-gcc without a musl-g++) takes a twin that is there: beside it or in PATH, of
# the family that --version tells.
set -u
export LC_ALL=C

# twin_of c++|c NAME: NAME's twin, or nothing where the name tells none
twin_of() {
	case $1 in
	c++) echo "$2" | sed -nE '
		s/^(.*-)?(clang|g)\+\+(-[0-9.]+)?$/&/p; t
		s/^(.*-)?clang(-[0-9.]+)?$/\1clang++\2/p; t
		s/^(c[0-9]+-)?gcc(-[0-9.]+)?$/g++\2/p; t
		s/^(.*-)gcc(-[0-9.]+)?$/\1g++\2/p; t
		s/^(.*-)?cc$/\1c++/p; t
		s/^c[0-9]+$/c++/p; t
		s/^icx$/icpx/p' ;;
	c) echo "$2" | sed -nE '
		s/^(.*-)?(clang|gcc)(-[0-9.]+)?$/&/p; t
		s/^(.*-)?clang\+\+(-[0-9.]+)?$/\1clang\2/p; t
		s/^(.*-)?g\+\+(-[0-9.]+)?$/\1gcc\2/p; t
		s/^(.*-)?c\+\+$/\1cc/p; t
		s/^icpx$/icx/p' ;;
	esac
}

# The twin where nothing else says which: of the same family.
by_version() {
	if "$2" --version 2>/dev/null | grep -qi clang; then family=clang; else family=gcc; fi
	case $1-$family in
	c++-clang) echo clang++ ;;
	c++-gcc) echo g++ ;;
	c-clang) echo clang ;;
	c-gcc) echo gcc ;;
	esac
}

# Is there such a command?
is_there() { command -v "$1" >/dev/null; }

wanted=$1
shift
set -f
# shellcheck disable=SC2048,SC2086 # the words of one command
set -- $*
output='' found=''
for word; do
	name=${word##*/}
	case $found$name in
	-* | *=* | [0-9]* | ccache | sccache | distcc | icecc | env | nice | zig) ;;
	"$name")
		found=1
		twin=$(twin_of "$wanted" "$name")
		there=${word%"$name"}$twin
		case $name in # names that say no family, or have no twin of their own everywhere
		musl-g* | *cc-[0-9]* | *gcc | *clang* | *g++*) [ "$name" = musl-gcc ] && ! is_there "$there" && twin= ;;
		*) is_there "$there" || { there=$twin && is_there "$twin"; } || twin= ;;
		esac
		if [ -n "$twin" ]; then word=$there; else word=$(by_version "$wanted" "$word"); fi
		;;
	esac
	output="$output${output:+ }$word"
done
echo "$output"
