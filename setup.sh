#!/bin/sh
# Installs what the course needs and what is missing. Safe to run again; does nothing when all is there.
#   ./setup.sh            Debian and Ubuntu: installs the packages (asks for sudo's password if you are not root)
#                         elsewhere: lists what is needed and stops with status 3 if something is missing
#   ./setup.sh --all      installs the optional packages too
#   ./setup.sh --check    only says what is missing (status 3 if anything is)
# The CUDA Toolkit is never installed: without an NVIDIA GPU it is not needed, with one you have it already.
set -eu

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

# What some parts use where it is there: a sandbox around graded submissions.
optional='
bwrap:bubblewrap
'
[ "${1:-}" = --all ] && needed="$needed$optional"

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
if [ "${1:-}" = --check ]; then
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
