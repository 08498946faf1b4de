#!/bin/sh
# Installs what the course needs and what is missing. Safe to run again; does nothing when all is there.
#   ./setup.sh            Debian and Ubuntu: installs the packages (asks for sudo's password if you are not root)
#                         elsewhere: lists what is needed and stops with status 3 if something is missing
#   ./setup.sh --all      also what only some tests need; without it these are skipped, and say so
#   ./setup.sh --check    only says what is missing (status 3 if anything is); --all --check asks for the extras too
#   ./setup.sh --help     prints this
# The CUDA Toolkit is never installed: without an NVIDIA GPU it is not needed, with one you have it already.
set -eu

all= check=
for argument in "$@"; do
	case $argument in
	--all) all=yes ;;
	--check) check=yes ;;
	--help)
		sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
		exit 0
		;;
	*)
		echo "setup: $argument: unknown option, expected --all, --check or --help" >&2
		exit 2
		;;
	esac
done

# command or file to look for : Debian package
needed='
make:make
git:git
perl:perl
gcc:gcc
g++:g++
c++filt:binutils
clang:clang
clang++:clang
clang-format:clang-format
gnuplot:gnuplot-nox
unifdef:unifdef
/usr/include/criterion/criterion.h:libcriterion-dev
/usr/include/cjson/cJSON.h:libcjson-dev
/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf:fonts-dejavu-core
zip:zip
unzip:unzip
'

# What only some tests need, and a sandbox around graded submissions.
extra='
chromium:chromium
bwrap:bubblewrap
'
[ -z "$all" ] || needed="$needed$extra"

missing=
for pair in $needed; do
	what=${pair%:*}
	package=${pair##*:}
	case $what in
	/*) [ -e "$what" ] && continue ;;
	*) command -v "$what" >/dev/null 2>&1 && continue ;;
	esac
	case " $missing " in *" $package "*) ;; *) missing="$missing $package" ;; esac
done
# The compilers may be there without the C library's headers.
if command -v gcc >/dev/null 2>&1 && ! echo '#include <stdio.h>' | gcc -E - >/dev/null 2>&1; then
	missing="$missing libc6-dev"
fi

if [ -z "$missing" ]; then
	echo "setup: everything is there"
	exit 0
fi
if [ -n "$check" ]; then
	echo "setup: missing:$missing" >&2
	exit 3
fi
if ! command -v apt-get >/dev/null 2>&1; then
	echo "setup: missing (as Debian names the packages):$missing" >&2
	echo "setup: install them with your system's package manager, then run this again" >&2
	exit 3
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "setup: run this as root, or install:$missing" >&2
		exit 3
	fi
	as_root=sudo
fi
echo "setup: installing$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086  # a list of words on purpose
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
echo "setup: done"
