#!/bin/sh
# Installs what the course needs and what is missing. Safe to run again; does nothing when all is there.
#   ./setup.sh            installs with apt, dnf, pacman, zypper or apk, as root or with sudo; elsewhere lists what is missing
#   ./setup.sh --all      also what only some tests need; without it these are skipped, and say so
#   ./setup.sh --check    only says what is missing (status 3 if anything is); --all --check asks for the extras too
#   ./setup.sh --help     prints this
# What could not be installed is named, with what is lost by it; status 3 if `make` cannot work without it, or in this
# directory, which is said before anything is installed. Tried with apt on Debian; the other systems' names are untried.
# The CUDA Toolkit is never installed: without an NVIDIA GPU it is not needed, with one you have it already.
set -eu

all='' check=''
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

# Before anything is installed: make would refuse this path afterwards. The bytes are those of simcc/path.mk.
here=$(cd "$(dirname "$0")" && pwd -P)
case $here in
*[]["\$'\"\`\\&;()<>|*?%:="[:space:]]*)
	printf 'setup: make cannot build in a path with a space or one of %s in it: %s\n' \
		"\$ ' \" \` \\ & ; ( ) < > | * ? [ ] % : =" "$here" >&2
	exit 3
	;;
esac

# A command, header or font to look for; its package with each manager (-: there is none, or it comes with another); what
# needs it (make: the first command of the README; test: parts of the second; extra: only with --all); what is lost.
table() {
	cat <<'TABLE'
make               make             make              make           make             make              make  nothing can be built
git                git              git               git            git              git               make  no data file says at which commit it was measured
gcc                gcc              gcc               gcc            gcc              gcc               make  nothing can be built with CC=gcc
g++                g++              gcc-c++           gcc            gcc-c++          g++               make  nothing can be built with CC=gcc
stdio.h            libc6-dev        glibc-devel       glibc          glibc-devel      musl-dev          make  nothing can be built
c++filt            binutils         binutils          binutils       binutils         binutils          make  nothing can be built
cmp                diffutils        diffutils         diffutils      diffutils        diffutils         make  nothing can be built
find               findutils        findutils         findutils      findutils        findutils         make  nothing can be built
python3            python3          python3           python         python3          python3           make  nothing can be built
clang++            clang             clang             clang          clang             clang             make  no kernel can be compiled for the simulated device
PassPlugin.h       llvm-dev          llvm-devel        llvm           llvm-devel        llvm-dev          make  no kernel can be compiled for the simulated device
clang-format       clang-format     clang-tools-extra clang          clang-tools      clang-extra-tools test  make format does not work
gnuplot            gnuplot-nox      gnuplot           gnuplot        gnuplot          gnuplot           test  there are no pictures
DejaVuSans.ttf     fonts-dejavu-core dejavu-sans-fonts ttf-dejavu    dejavu-fonts     font-dejavu       test  pictures have another font
criterion.h        libcriterion-dev criterion-devel   -              -                criterion-dev     test  make test does not work
zip                zip              zip               zip            zip              zip               test  the tests of handing in fail
unzip              unzip            unzip             unzip          unzip            unzip             test  submissions in zip files cannot be graded
chromium           chromium         chromium          chromium       chromium         chromium          extra the explorer's tests are skipped
bwrap              bubblewrap       bubblewrap        bubblewrap     bubblewrap       bubblewrap        extra graded submissions run without a sandbox
gdb                gdb              gdb               gdb            gdb              gdb               test  nobody stops in a kernel (chapter 00)
qemu-x86_64        qemu-user        qemu-user         qemu-user      qemu-linux-user  qemu-x86_64       extra no test runs programs on the plainest x86-64 CPU
markdown_it        python3-markdown-it python3-markdown-it-py python-markdown-it-py python3-markdown-it-py py3-markdown-it-py extra make site, make check-text do not work
pygments           python3-pygments python3-pygments python-pygments  python3-Pygments py3-pygments   extra make site, make check-text do not work
ruff               -                ruff              ruff           -                ruff              extra make check-python does not work
tree_sitter        -                -                 -              -                -                 extra tests/kills plants no faults
codespell          codespell        codespell         codespell      -                -                 extra make check-text does not work
TABLE
}

is_there() {
	case $1 in
	stdio.h) [ -e /usr/include/stdio.h ] ;;
	criterion.h) [ -e /usr/include/criterion/criterion.h ] || [ -e /usr/local/include/criterion/criterion.h ] ;;
	DejaVuSans.ttf) [ -n "$(find /usr/share/fonts -name DejaVuSans.ttf 2>/dev/null)" ] ;;
	PassPlugin.h) [ -n "$(find /usr/lib/llvm* /usr/lib64/llvm* /usr/include -path '*/llvm/Passes/PassPlugin.h' 2>/dev/null)" ] ;;
	ruff) command -v ruff >/dev/null 2>&1 || python3 -m ruff --version >/dev/null 2>&1 ;;
	codespell) command -v codespell >/dev/null 2>&1 || python3 -m codespell_lib --version >/dev/null 2>&1 ;;
	markdown_it | pygments) python3 -c "import $1" >/dev/null 2>&1 ;;
	tree_sitter) python3 -c 'import tree_sitter, tree_sitter_c, tree_sitter_cuda, tree_sitter_python' >/dev/null 2>&1 ;;
	chromium) command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 ;;
	*) command -v "$1" >/dev/null 2>&1 ;;
	esac
}

manager=
for candidate in apt-get dnf pacman zypper apk; do
	if command -v "$candidate" >/dev/null 2>&1; then
		manager=$candidate
		break
	fi
done

# The packages of what is missing, and lost, a line for each: "need package of what: what is lost".
missing='' lost=''
find_missing() {
	missing='' lost=''
	while read -r what apt dnf pacman zypper apk need loss; do
		[ "$need" != extra ] || [ -n "$all" ] || continue
		is_there "$what" && continue
		case $manager in
		dnf) package=$dnf ;;
		pacman) package=$pacman ;;
		zypper) package=$zypper ;;
		apk) package=$apk ;;
		*) package=$apt ;;
		esac
		lost="$lost$need $what: $loss
"
		[ "$package" != - ] || continue
		case " $missing " in *" $package "*) ;; *) missing="$missing $package" ;; esac
	done <<EOF
$(table)
EOF
}

find_missing
if [ -z "$lost" ]; then
	echo "setup: everything is there"
	exit 0
fi
if [ -n "$check" ]; then
	echo "setup: missing:${missing:- $lost}" >&2
	exit 3
fi

# Says what is still missing and what that costs, and ends.
end() {
	find_missing
	if [ -z "$lost" ]; then
		echo "setup: done"
		exit 0
	fi
	printf '%s' "$lost" | sed 's/^[a-z]* /setup: there is no /' >&2
	case "
$lost" in
	*"
make "*) exit 3 ;;
	esac
	echo "setup: make works all the same" >&2
	exit 0
}

if [ -z "$manager" ]; then
	echo "setup: no apt, dnf, pacman, zypper or apk here. Missing, as Debian names the packages:$missing" >&2
	echo "setup: install them with your system's package manager, then run this again" >&2
	end
fi

# sudo where it asks for nothing, or can ask on this terminal.
as_root=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "setup: you are not root and there is no sudo: run this as root, or have installed:$missing" >&2
		end
	elif sudo -n true 2>/dev/null; then
		as_root='sudo -n'
	elif [ -t 0 ]; then
		as_root=sudo
	else
		echo "setup: sudo asks for a password, and here is no terminal to ask on: run this as root, or have installed:$missing" >&2
		end
	fi
fi

# install PACKAGE...; apt waits up to ten minutes for another apt (a system's daily updates) to end.
install() {
	case $manager in
	apt-get) $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y -qq \
		--no-install-recommends "$@" ;;
	dnf) $as_root dnf install -y --setopt=install_weak_deps=False "$@" ;;
	pacman) $as_root pacman -S --needed --noconfirm "$@" ;;
	zypper) $as_root zypper --non-interactive install --no-recommends "$@" ;;
	apk) $as_root apk add "$@" ;;
	esac
}

# What packages there are. The lock of apt's lists is not waited for by apt itself.
refresh() {
	case $manager in
	apt-get)
		tries=0
		while ! said=$($as_root apt-get -o DPkg::Lock::Timeout=600 update -qq 2>&1); do
			tries=$((tries + 1))
			case $said in *lock*) [ "$tries" -lt 60 ] || return 1 ;; *) return 1 ;; esac
			[ "$tries" -gt 1 ] || echo "setup: waiting for another apt to end"
			sleep 10
		done
		;;
	pacman) $as_root pacman -Sy --noconfirm ;;
	zypper) $as_root zypper --non-interactive refresh ;;
	apk) $as_root apk update ;;
	esac
}

# install_from_pypi PACKAGE: where the system has none, or one that this python3 does not see, PyPI's, for this user. A
# system that wants no pip among its own packages (Debian 12 and later) is told that we mean it.
install_from_pypi() {
	echo "setup: installing $1 from PyPI"
	python3 -m pip --version >/dev/null 2>&1 || install python3-pip || return 0
	python3 -m pip install -q "$1" >/dev/null 2>&1 || python3 -m pip install -q --break-system-packages "$1" ||
		echo "setup: $1 could not be installed" >&2
}

if [ -n "$missing" ]; then
	echo "setup: installing$missing"
	refresh || {
		said=${said:-}
		echo "setup: the list of packages could not be renewed${said:+: $said}" >&2
	}
	# shellcheck disable=SC2086  # a list of words on purpose
	if ! install $missing; then
		# One that does not exist must not keep back the others.
		for package in $missing; do
			install "$package" || echo "setup: $package could not be installed" >&2
		done
	fi
fi
if [ -n "$all" ]; then
	for tool in ruff codespell; do
		is_there "$tool" || install_from_pypi "$tool"
	done
	is_there markdown_it || install_from_pypi markdown-it-py
	is_there pygments || install_from_pypi pygments
	is_there tree_sitter || for package in tree-sitter tree-sitter-c tree-sitter-cuda tree-sitter-python; do
		install_from_pypi $package
	done
fi
end
