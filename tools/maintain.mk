# Targets of those who maintain the course: data that is measured, what is made from it, and what is checked. Included by the
# Makefile; make help-all lists them.

.PHONY: bench tables plots diagrams bench-sim ptxas sass check-ptxas check-sass ceilings check-ceilings transcripts \
        lines accuracy readme check-readme format check-format check-python check-text help-all

# ---- measured data, and what is made from it ----

# Every chapter over its sizes, kept in plots/data/DEVICE. CHAPTERS=05_fa2,blocks runs only these, GPU=a100 takes that
# one's limits and roofs, FORCE=1 measures again what is up to date. SIZES=128,256 DIMS=64 REPEAT=1 make a small bench:
# it goes to build/plots/data, or where DATA says.
BENCH_OPTIONS = $(call option,CHAPTERS,chapters) $(call option,GPU,gpu) $(call option,SIZES,sizes) \
        $(call option,DIMS,dims) $(call option,REPEAT,repeat) $(call option,DATA,data) $(if $(call given,FORCE),--force)
bench:
	@$(MAKE) --no-print-directory -s fast CHAPTERS="$(ALL_CHAPTERS)"
	@tools/bench $(BENCH_OPTIONS)

# The literature's tables from that data and these programs: T=T3 only that one.
tables:
	@$(MAKE) --no-print-directory -s build
	@tools/tables $(call option,T,table) $(call option,DATA,data)

# All pictures, from plots/data alone: plots/pictures. TERM=1 draws in the terminal, PNG=1 writes
# build/plots/pictures/*.png, too.
plots:
	@$(MAKE) --no-print-directory -s -C plots

# The diagrams of the READMEs, from traces of the kernels: plots/pictures.
diagrams:
	@$(MAKE) --no-print-directory -s build DEVICE=sim CHAPTERS="$(ALL_CHAPTERS)"
	@tools/diagrams

bench-sim:
	@$(MAKE) --no-print-directory -C simcc bench

ptxas sass:
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s -C $$chapter $@ || exit 1; done

# One after the other where few are stale: those of ptxas build their chapter.
check-ptxas check-sass:
	$(if $(PTXAS_FULL),@$(MAKE) --no-print-directory -s build DEVICE=sim)
	@echo $(CHAPTERS) | xargs -P $(if $(PTXAS_FULL)$(SASS_FULL),"$$(nproc)",1) -n 1 $(MAKE) --no-print-directory -s $@ DEVICE=sim -C

# What bounds the kernels inside an SM: counts beside the machine code of several chapters, one table.
CEILINGS := gpu/compiled/ceilings.tsv
ceilings check-ceilings: NVCC ?= $(or $(shell command -v nvcc 2>/dev/null),/usr/local/cuda/bin/nvcc)
ceilings check-ceilings: NVDISASM ?= $(or $(shell command -v nvdisasm 2>/dev/null),$(dir $(NVCC))nvdisasm)
ceilings:
	@$(MAKE) --no-print-directory -s build DEVICE=sim
	@tools/ceilings make $(CEILINGS) "$(NVCC)" "$(NVDISASM)"
	@tools/ceilings show

check-ceilings:
	@tools/ceilings unchanged "$(NVCC)" || { $(MAKE) --no-print-directory -s build DEVICE=sim && \
		mkdir -p build && tools/ceilings make build/ceilings.tsv "$(NVCC)" "$(NVDISASM)" && \
		tools/ceilings compare $(CEILINGS) build/ceilings.tsv; }
	@echo "$(CEILINGS): as nvcc says"

# What there is to read, counted.
lines:
	@tools/lines

# What the model of chapter 07 answers, kept as data for its page; minutes. Needs the model: make model.
transcripts:
	@$(MAKE) --no-print-directory -s -C 07_transformer build DEVICE=sim
	@tools/transcripts run

# Counters that others published beside ours of gpu/accuracy, and those of GPU reports: simcc/ACCURACY.md.
accuracy:
	@tools/accuracy --count

# ---- pages ----

# The printed blocks of the READMEs, from the programs they show; and the links to the glossary.
READMES := $(ALL_CHAPTERS:=/README.md) 00_gpu/attention.md 00_gpu/cuda.md simcc/README.md plots/README.md gpu/README.md \
	README.md # which counts the lines of the others
readme: build
	@tools/pages readme $(READMES)

check-readme: build
	@printf '%s\n' $(READMES) | xargs -P "$$(nproc)" -n 1 tools/pages readme --check

# ---- text and code ----

FORMATTED = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cu' '*.cuh' 2>/dev/null)
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
	@$(RUFF) check --config tools/ruff.toml --quiet $(PYTHON)
	@$(RUFF) format --config tools/ruff.toml --quiet --check $(PYTHON) || \
		{ $(RUFF) format --config tools/ruff.toml --diff $(PYTHON); exit 1; }
	@echo "check-python: $(words $(PYTHON)) files as tools/ruff.toml says"

# Spelling and links of all text; FIX=1 corrects the spelling.
check-text:
	@tools/text $(if $(FIX),--fix)

help-all: help
	@echo
	@echo "students  make hint N=1     the first hint for task 1, then the next"
	@echo "measure   make bench        every chapter over its sizes, into plots/data"
	@echo "          make plots        the pictures from it (TERM=1: in the terminal; PNG=1)"
	@echo "          make fast         the plain builds, for a CPU's times with --time"
	@echo "          make tables       published numbers beside ours (T=T3: only that)"
	@echo "          make ptxas        registers, spills, occupancy (nvcc, no GPU)"
	@echo "          make sass         instructions of main loops (nvcc, nvdisasm)"
	@echo "          make ceilings     what bounds a kernel inside an SM (nvcc, nvdisasm)"
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
