# The course, from the top. `make` builds every chapter, runs it on this machine and draws its plot; `make help`
# lists the rest. What a chapter does is in common/chapter.mk; this file only goes through them.
#
#   DEVICE=sim|cuda   default: cuda when nvcc and a GPU are there
#   CC=gcc|clang      CXX follows
#   ARCH=sm_90        of a cuda build; default: the GPU's own

CHAPTERS := $(patsubst %/Makefile,%,$(wildcard 0*_*/Makefile))
FORMATTED := $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cu' '*.cuh' 2>/dev/null)

.DEFAULT_GOAL := all
.PHONY: all build run real plot test test-all bench-sim sanitize ptxas readme check-readme format check-format clean help $(CHAPTERS)

# One after the other: each chapter's output is a page to read.
.NOTPARALLEL:

include classroom/handout.mk
-include classroom/grade.mk

all: build run real plot
	@echo
	@echo "Next: read 01_naive/README.md. Pictures of this run: build/plots/. More: make help"

build:
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s -C $$chapter build || exit 1; done

run: build
	@for chapter in $(CHAPTERS); do echo; $(MAKE) --no-print-directory -s -C $$chapter all || exit 1; done

# Queries, keys and values of a small language model on a page of English, [1, 2, 512, 64].
real: build
	@echo
	@echo "The same kernels on real queries, keys and values (tests/data/real_qkv), causal:"
	@01_naive/naive --load tests/data/real_qkv --causal --quiet $(ARGS)

plot: build
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s -C $$chapter plot || exit 1; done

test: build check-readme
	@$(MAKE) --no-print-directory -s -C tests -j$(shell nproc) build
	@$(MAKE) --no-print-directory -C tests test

test-all:
	@$(MAKE) --no-print-directory test CC=gcc CXX=g++
	@$(MAKE) --no-print-directory test CC=clang CXX=clang++

bench-sim:
	@$(MAKE) --no-print-directory -C common/sim/bench

sanitize: build
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s -C $$chapter sanitize || exit 1; done

ptxas:
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s -C $$chapter ptxas || exit 1; done

# The printed blocks of the READMEs, from the programs they show.
READMES := $(wildcard README.md 0*_*/README.md common/sim/README.md)
readme: build
	@perl common/readme.pl $(READMES)

check-readme: build
	@perl common/readme.pl --check $(READMES)

format:
	clang-format -i $(FORMATTED)

check-format:
	@clang-format --dry-run -Werror $(FORMATTED) && echo "format: $(words $(FORMATTED)) files as .clang-format says"

clean:
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s -C $$chapter clean; done
	rm -rf build

$(CHAPTERS):
	@$(MAKE) --no-print-directory -s -C $@

help:
	@echo "make              build every chapter, run it, verify it, draw its plot (build/plots/)"
	@echo "make build        only build: programs in the chapters' directories"
	@echo "make run          build and run the chapters' demonstrations"
	@echo "make real         chapter 01 on the queries, keys and values of a language model"
	@echo "make plot         each chapter's sweep, drawn into build/plots/"
	@echo "make test         the whole test suite with CC (default gcc)"
	@echo "make test-all     the test suite with gcc, then with clang"
	@echo "make sanitize     the chapters' demonstrations with every check of the device"
	@echo "make bench-sim    how fast the simulated device is"
	@echo "make ptxas        registers, stack and spills of each kernel (needs nvcc, no GPU)"
	@echo "make readme       re-make what the READMEs show from the programs"
	@echo "make handout      OUT=directory [CLASS=key]: the student tree (classroom/README.md); make hint N=1"
	@echo "make grade        this tree, SUBMISSION=dir|zip, or SUBMISSIONS=folder RESULTS=dir [KEY=key] (classroom/README.md)"
	@echo "make check-submission, make gradescope [KEY=key]"
	@echo "make format       clang-format over the tree"
	@echo "make clean        remove what was built"
	@echo "make 01_naive     one chapter; in its directory, make help"
	@echo
	@echo "DEVICE=sim|cuda, CC=gcc|clang, ARCH=sm_90, ARGS=\"--gpu a100\" may be added."
