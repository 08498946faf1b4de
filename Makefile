# The course, from the top. `make` builds every chapter, runs it on this machine and draws its plot; `make help`
# lists the rest. What a chapter does is in common/chapter.mk; this file only goes through them.
#
#   DEVICE=sim|cuda   default: cuda when nvcc and a GPU are there
#   CC=gcc|clang      CXX follows
#   ARCH=sm_90        of a cuda build; default: the GPU's own

include simcc/path.mk
include common/chapters.mk
CHAPTERS := $(ALL_CHAPTERS)
FORMATTED := $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cu' '*.cuh' 2>/dev/null)

.DEFAULT_GOAL := all
.PHONY: all build fast run real model plot chapters test test-all test-chapters test-sim test-cuda bench tables plots diagrams bench-sim sanitize \
        ptxas sass widths check-ptxas check-sass check-widths explorer site transcripts lines gpu-report accuracy \
        readme check-readme format check-format check-python check-text clean help help-all $(CHAPTERS)

# One after the other: each chapter's output is a page to read.
.NOTPARALLEL:

include classroom/handout.mk
-include classroom/grade.mk

# Each chapter's build, its screen and its sweep, beside the builds of the next ones; then the real model.
all:
	@MAKE="$(MAKE)" tools/demonstrate $(CHAPTERS)
	@echo
	@echo "Next: read 00_gpu/README.md. Pictures of this run: build/plots/. More: make help"

# A chapter's programs at once, on as many cores as there are or as -j says.
jobs = $$(case "$$MAKEFLAGS" in *-j*) ;; *) echo -j$$(nproc) ;; esac)
build:
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s $(jobs) -C $$chapter build || exit 1; done

# And the plain builds, which --time and the bench run.
fast:
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s $(jobs) -C $$chapter fast || exit 1; done

run: build
	@for chapter in $(CHAPTERS); do echo; $(MAKE) --no-print-directory -s -C $$chapter all || exit 1; done

# Queries, keys and values of a small language model on a page of English, [1, 2, 512, 64].
real:
	@$(MAKE) --no-print-directory -s $(jobs) -C 01_naive build
	@echo
	@echo "The same kernels on real queries, keys and values (tests/data/real_qkv), causal:"
	@01_naive/naive --load tests/data/real_qkv --causal --quiet $(ARGS)

# The language model of the later chapters, 98 MB into models/; asks first. Nothing else downloads anything.
model:
	@tools/model $(ARGS)

plot: build
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s -C $$chapter plot || exit 1; done

# The suites of the device that `make` would pick: with an NVIDIA GPU its own few, `make test DEVICE=sim` the others.
test:
	@device=$$($(MAKE) --no-print-directory -s -C $(firstword $(CHAPTERS)) device) && \
		$(MAKE) --no-print-directory test-$$device DEVICE=$$device

# Which there are: for scripts.
chapters:
	@echo $(CHAPTERS)

# Each chapter's own shapes, with random inputs: test-all has the others, too.
test-chapters: build
	@failed=; for chapter in $(CHAPTERS); do \
		said=$$($(MAKE) --no-print-directory -s -C $$chapter test $(if $(LONG),,INPUTS=random) 2>&1) || \
			{ failed="$$failed $$chapter"; echo "$$chapter:"; printf '%s\n' "$$said"; }; \
	done; test -z "$$failed" || { echo "make test: failed in$$failed"; exit 1; }; \
	echo "the shapes of $(words $(CHAPTERS)) chapters: passed"

test-sim: test-chapters
	@$(MAKE) --no-print-directory -s -C tests $(jobs) build
	@$(MAKE) --no-print-directory -C tests test

test-cuda: build
	@$(MAKE) --no-print-directory -C tests cuda

test-all:
	@$(MAKE) --no-print-directory check-readme
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
	@$(MAKE) --no-print-directory -s fast CHAPTERS="$(ALL_CHAPTERS)"
	@tools/bench $(BENCH_OPTIONS)

# The literature's tables from that data and these programs: T=T3 only that one.
tables:
	@$(MAKE) --no-print-directory -s build
	@tools/tables $(call option,T,table) $(call option,DATA,data)

# All pictures, from plots/data alone: plots/pictures. TERM=1 draws in the terminal, GPU=a100 a roofline with its roofs.
plots:
	@$(MAKE) --no-print-directory -s -C plots

# The diagrams of the READMEs, from traces of the kernels: plots/pictures.
diagrams:
	@$(MAKE) --no-print-directory -s build DEVICE=sim CHAPTERS="$(ALL_CHAPTERS)"
	@tools/diagrams

bench-sim:
	@$(MAKE) --no-print-directory -C simcc bench

sanitize: build
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s -C $$chapter sanitize || exit 1; done

ptxas sass:
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s -C $$chapter $@ || exit 1; done

check-ptxas check-sass:
	@$(MAKE) --no-print-directory -s build DEVICE=sim
	@echo $(CHAPTERS) | xargs -P "$$(nproc)" -n 1 $(MAKE) --no-print-directory -s $@ DEVICE=sim -C

# What the kernels ask of memory as nvcc's machine code, beside the source: gpu/widths. Needs nvcc and nvdisasm only
# where a kernel has changed, or with WIDTHS_FULL=1.
widths check-widths:
	@$(MAKE) --no-print-directory -s build DEVICE=sim
	@tools/widths $(if $(filter check-%,$@),check,make) $(if $(WIDTHS_FULL),--compile) $(CHAPTERS)
	@$(if $(filter check-%,$@),echo "gpu/widths: as nvcc and the programs say")

# What there is to read, counted.
lines:
	@tools/lines

# What the model of chapter 07 answers, kept as data for its page; minutes. Needs the model: make model.
transcripts:
	@$(MAKE) --no-print-directory -s -C 07_transformer build DEVICE=sim
	@tools/transcripts run

# The page that shows the bytes move, from runs of this code.
explorer: build
	@explorer/course_page

# The READMEs as pages for a browser, with the pictures and the explorer, into OUT. Here, too, OUT is for the site alone.
# ADDRESS=URL: from where the site tells readers to clone; default: git's origin, if that begins with https.
site:
	@test -n "$$OUT" || { echo "site: where to? make site OUT=directory" >&2; exit 2; }
	@tools/site --check "$$OUT"
	@unset MAKEFLAGS MFLAGS MAKEOVERRIDES; env -u OUT $(MAKE) --no-print-directory -s explorer DEVICE=sim
	@tools/site "$$OUT" --explorer plots/explorer.html $(call option,ADDRESS,address)

# The printed blocks of the READMEs, from the programs they show; and the links to the glossary.
LINKED := $(ALL_CHAPTERS:=/README.md) 00_gpu/attention.md
READMES := $(LINKED) $(wildcard simcc/README.md plots/README.md) README.md # the last one counts the lines of the others
readme: build
	@tools/glossary $(LINKED)
	@tools/pages readme $(READMES)

check-readme: build
	@tools/glossary --check $(LINKED)
	@tools/pages readme --check $(READMES)

# ---- a GPU: gpu/README.md. OUT is for the report alone: a chapter's build has a variable of that name. ----
OUT ?=
gpu-report:
	@unset MAKEFLAGS MFLAGS MAKEOVERRIDES; tools/gpu_report --out "$(OUT)" $(if $(ARCH),--arch "$(ARCH)") $(ARGS)

# Counters that others published beside ours of gpu/accuracy, and those of GPU reports: simcc/ACCURACY.md.
accuracy:
	@tools/accuracy --count

format:
	@clang-format -i $(FORMATTED)

check-format:
	@clang-format --dry-run -Werror $(FORMATTED) && echo "format: $(words $(FORMATTED)) files as .clang-format says"

# All Python that git knows, by its name or its first line.
PYTHON = $(shell git ls-files --cached --others --exclude-standard '*.py') \
	$(shell git grep --untracked -lIE '^\#!/usr/bin/(env )?python3' -- ':!*.py')
RUFF = $(or $(shell command -v ruff),$(shell python3 -m ruff --version >/dev/null 2>&1 && echo python3 -m ruff))
check-python:
	@test -n "$(RUFF)" || { echo "make check-python needs ruff: ./setup.sh --all, or pip install ruff" >&2; exit 3; }
	@$(RUFF) check --quiet $(PYTHON)
	@$(RUFF) format --quiet --check $(PYTHON) || { $(RUFF) format --diff $(PYTHON); exit 1; }
	@echo "check-python: $(words $(PYTHON)) files as ruff.toml says"

# Spelling and links of all text; FIX=1 corrects the spelling.
check-text:
	@tools/text $(if $(FIX),--fix)

clean:
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s -C $$chapter clean; done
	rm -rf build simcc/build

$(CHAPTERS):
	@$(MAKE) --no-print-directory -s -C $@

help:
	@echo "learn     make              build and run every chapter, plots in build/plots/"
	@echo "          make 01_naive     one chapter; in its directory, make help"
	@echo "          make real         chapter 01 on a language model's Q, K and V"
	@echo "          make model        brings a real language model (98 MB; asks first)"
	@echo "          make explorer     plots/explorer.html, the bytes on the move"
	@echo "          make site OUT=DIR all of this as pages for a browser"
	@echo "          make test         the tests; with DEVICE=cuda, the chapters on a GPU"
	@echo "teach     make handout OUT=DIR [CLASS=key]   the student tree"
	@echo "          make grade [SUBMISSION=DIR|ZIP] [KEY=key]   points, and why"
	@echo "          make check-submission   complete, and does it compile?"
	@echo "          make gradescope   an autograder to upload"
	@echo "DEVICE=sim|cuda CC=gcc|clang ARCH=sm_90 ARGS=\"--gpu a100\" may be added; the rest: make help-all"

help-all: help
	@echo
	@echo "students  make hint N=1     the first hint for task 1, then the next"
	@echo "measure   make bench        every chapter over its sizes, into plots/data"
	@echo "          make plots        the pictures from it (TERM=1: in the terminal)"
	@echo "          make fast         the plain builds, for a CPU's times with --time"
	@echo "          make tables       published numbers beside ours (T=T3: only that)"
	@echo "          make ptxas        registers, spills, occupancy (nvcc, no GPU)"
	@echo "          make sass         instructions of each loop (nvcc, nvdisasm)"
	@echo "          make widths       what nvcc merges: its loads and stores, beside ours"
	@echo "          make sanitize     the chapters under every check of the device"
	@echo "          make gpu-report OUT=DIR   what a GPU can say, in eight minutes"
	@echo "maintain  make readme       what the READMEs print, made anew"
	@echo "          make diagrams     the diagrams, from traces of the kernels"
	@echo "          make accuracy     published counters of GPUs beside ours"
	@echo "          make bench-sim    how fast the simulated device is"
	@echo "          make lines        how much there is to read"
	@echo "          make test-all     also clang and the long suites"
	@echo "          make check-text   spelling and links"
	@echo "          make format clean"
