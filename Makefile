# The course, from the top. `make` builds every chapter, runs it on this machine and draws its plot; `make help`
# lists the rest. What a chapter does is in common/chapter.mk; this file only goes through them.
#
#   DEVICE=sim|cuda   default: cuda when nvcc and a GPU are there
#   CC=gcc|clang      CXX follows
#   ARCH=sm_90        of a cuda build; default: the GPU's own

ifneq ($(words $(CURDIR)),1)
$(error make cannot build in a path with a space: $(CURDIR))
endif

ALL_CHAPTERS := $(patsubst %/Makefile,%,$(wildcard 0*_*/Makefile))
CHAPTERS := $(ALL_CHAPTERS)
FORMATTED := $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cu' '*.cuh' 2>/dev/null)

.DEFAULT_GOAL := all
.PHONY: all build run real plot test test-all bench tables plots bench-sim sanitize ptxas explorer check-ptxas gpu-report accuracy test-sim test-cuda readme check-readme format check-format clean help $(CHAPTERS)

# One after the other: each chapter's output is a page to read.
.NOTPARALLEL:

include classroom/handout.mk
-include classroom/grade.mk

all: build run real plot
	@echo
	@echo "Next: read 01_naive/README.md. Pictures of this run: build/plots/. More: make help"

# A chapter's programs at once, on as many cores as there are or as -j says.
jobs = $$(case "$$MAKEFLAGS" in *-j*) ;; *) echo -j$$(nproc) ;; esac)
build:
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s $(jobs) -C $$chapter build || exit 1; done

run: build
	@for chapter in $(CHAPTERS); do echo; $(MAKE) --no-print-directory -s -C $$chapter all || exit 1; done

# Queries, keys and values of a small language model on a page of English, [1, 2, 512, 64].
real: build
	@echo
	@echo "The same kernels on real queries, keys and values (tests/data/real_qkv), causal:"
	@01_naive/naive --load tests/data/real_qkv --causal --quiet $(ARGS)

plot: build
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s -C $$chapter plot || exit 1; done

# The suites of the device that `make` would pick: with an NVIDIA GPU its own few, `make test DEVICE=sim` the others.
test:
	@device=$$($(MAKE) --no-print-directory -s -C $(firstword $(CHAPTERS)) device) && \
		$(MAKE) --no-print-directory test-$$device DEVICE=$$device

test-sim: build check-readme
	@$(MAKE) --no-print-directory -s -C tests $(jobs) build
	@$(MAKE) --no-print-directory -C tests test

test-cuda: build
	@$(MAKE) --no-print-directory -C tests cuda

test-all:
	@$(MAKE) --no-print-directory test CC=gcc CXX=g++ LONG=1
	@$(MAKE) --no-print-directory test CC=clang CXX=clang++ LONG=1

# Every chapter over its sizes, kept in plots/data/DEVICE. CHAPTERS=05_fa2,blocks runs only these, GPU=a100 takes that
# one's limits and roofs, FORCE=1 measures again what is up to date. SIZES=128,256 DIMS=64 REPEAT=1 make a small bench:
# it goes to build/plots/data, or where DATA says. COMMIT=ID: of a copy without git, what it is a copy of.
given = $(if $(filter command,$(firstword $(origin $1))),$($1))
option = $(if $(call given,$1),--$2 '$(call given,$1)')
BENCH_OPTIONS = $(call option,CHAPTERS,chapters) $(call option,GPU,gpu) $(call option,SIZES,sizes) \
        $(call option,DIMS,dims) $(call option,REPEAT,repeat) $(call option,DATA,data) $(call option,COMMIT,commit) \
        $(if $(call given,FORCE),--force)
bench:
	@$(MAKE) --no-print-directory -s build CHAPTERS="$(ALL_CHAPTERS)"
	@perl plots/bench.pl $(BENCH_OPTIONS)

# The literature's tables from that data and these programs: T=T3 only that one.
tables:
	@$(MAKE) --no-print-directory -s build
	@perl plots/tables.pl $(call option,T,table) $(call option,DATA,data)

# All pictures, from plots/data alone: plots/pictures. TERM=1 draws in the terminal, GPU=a100 a roofline with its roofs.
plots:
	@$(MAKE) --no-print-directory -s -C plots

bench-sim:
	@$(MAKE) --no-print-directory -C simcc bench

sanitize: build
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s -C $$chapter sanitize || exit 1; done

ptxas:
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s -C $$chapter $@ || exit 1; done

check-ptxas:
	@$(MAKE) --no-print-directory -s build DEVICE=sim
	@echo $(CHAPTERS) | xargs -P "$$(nproc)" -n 1 $(MAKE) --no-print-directory -s $@ DEVICE=sim -C

# The page that shows the bytes move, from runs of this code. Tracked, because it is shown.
explorer: build
	@perl plots/explorer.pl

# The printed blocks of the READMEs, from the programs they show.
READMES := $(wildcard README.md 0*_*/README.md simcc/README.md plots/README.md)
readme: build
	@perl plots/readme.pl $(READMES)

check-readme: build
	@perl plots/readme.pl --check $(READMES)

# ---- a GPU: gpu/README.md. OUT is for the report alone: a chapter's build has a variable of that name. ----
OUT ?=
gpu-report:
	@unset MAKEFLAGS MFLAGS MAKEOVERRIDES; perl gpu/report.pl --out "$(OUT)" $(if $(ARCH),--arch "$(ARCH)") $(ARGS)

accuracy:
	@perl gpu/accuracy.pl

format:
	clang-format -i $(FORMATTED)

check-format:
	@clang-format --dry-run -Werror $(FORMATTED) && echo "format: $(words $(FORMATTED)) files as .clang-format says"

clean:
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s -C $$chapter clean; done
	rm -rf build simcc/build

$(CHAPTERS):
	@$(MAKE) --no-print-directory -s -C $@

help:
	@echo "make              build every chapter, run it, verify it, draw its plot (build/plots/)"
	@echo "make build        only build: programs in the chapters' directories"
	@echo "make run          build and run the chapters' demonstrations"
	@echo "make real         chapter 01 on the queries, keys and values of a language model"
	@echo "make plot         each chapter's sweep, drawn into build/plots/"
	@echo "make test         the whole test suite with CC (default gcc)"
	@echo "make test-all     the test suite and its long part, with gcc, then with clang"
	@echo "make test DEVICE=cuda   on a GPU: the chapters over its hard cases"
	@echo "make gpu-report OUT=dir   all that a GPU can say, in eight minutes (gpu/README.md)"
	@echo "make accuracy     simcc/ACCURACY.md from such a report's counters"
	@echo "make sanitize     the chapters' demonstrations with every check of the device"
	@echo "make bench        every chapter over its sizes, kept in plots/data"
	@echo "make tables       published numbers beside ours (T=T3: only that table)"
	@echo "make plots        the pictures, from plots/data (TERM=1: in the terminal, GPU=a100)"
	@echo "make bench-sim    how fast the simulated device is"
	@echo "make explorer     plots/explorer.html: the bytes on the move, a page for a browser"
	@echo "make ptxas        registers, spills, occupancy of each kernel (needs nvcc, no GPU)"
	@echo "make readme       re-make what the READMEs show from the programs"
	@echo "make handout      OUT=directory [CLASS=key]: the student tree (classroom/README.md); make hint N=1"
	@echo "make grade        this tree, SUBMISSION=dir|zip, or SUBMISSIONS=folder RESULTS=dir [KEY=key] (classroom/README.md)"
	@echo "make check-submission, make gradescope [KEY=key]"
	@echo "make format       clang-format over the tree"
	@echo "make clean        remove what was built"
	@echo "make 01_naive     one chapter; in its directory, make help"
	@echo
	@echo "make bench takes CHAPTERS=05_fa2,blocks GPU=a100 FORCE=1 SIZES=128,256 DIMS=64."
	@echo "DEVICE=sim|cuda, CC=gcc|clang, ARCH=sm_90, ARGS=\"--gpu a100\" may be added."
