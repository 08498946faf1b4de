# The course, from the top. `make` builds every chapter, runs it on this machine and draws its plot; `make help`
# lists the rest. What a chapter does is in common/chapter.mk; this file only goes through them. What keeps the course in
# step (measured data, pictures, printed blocks, checks of the text) is in tools/maintain.mk.
#
#   DEVICE=sim|cuda   default: cuda when nvcc and a GPU are there
#   CC=gcc|clang      CXX follows
#   ARCH=sm_90        of a cuda build; default: the GPU's own

include simcc/path.mk
include common/asked.mk
include common/chapters.mk
CHAPTERS := $(ALL_CHAPTERS)

.DEFAULT_GOAL := all
.PHONY: all all-chapters build fast run real model plot chapters test test-all test-chapters test-sim test-cuda sanitize explorer site \
        gpu-report blank task fault answer clean help known-chapters known-suites $(CHAPTERS)

# A variable of the command line, as an option of a tool.
given = $(if $(filter command,$(firstword $(origin $1))),$($1))
quoted = '$(subst ','\'',$1)'
option = $(if $(call given,$1),--$2 $(call quoted,$(call given,$1)))

# One after the other: each chapter's output is a page to read.
.NOTPARALLEL:

include common/editor.mk
include classroom/handout.mk
-include classroom/grade.mk
include tools/maintain.mk

# CHAPTERS="01_naive 05_fa2": only these.
all all-chapters build fast run plot test test-chapters sanitize: known-chapters
known-chapters:
	$(if $(and $(strip $(CHAPTERS)),$(if $(filter-out $(ALL_CHAPTERS),$(CHAPTERS)),,1)),,@echo \
		"CHAPTERS=$(CHAPTERS): expected some of $(ALL_CHAPTERS)" >&2; exit 2)

# Of chapters 00 to 09 each one's build, its screen and its sweep, beside the builds of the next ones; then the real model.
all:
	@MAKE="$(MAKE)" tools/demonstrate $(or $(call given,CHAPTERS),$(filter 0%,$(CHAPTERS)))
	@echo
	@echo "Next: read 00_gpu/README.md. Pictures of this run: build/plots/. More: make help"

# Those behind 09, too.
all-chapters:
	@MAKE="$(MAKE)" tools/demonstrate $(CHAPTERS)

# A chapter's programs at once, on as many cores as there are or as -j says.
jobs = $$(case "$$MAKEFLAGS" in *-j*) ;; *) echo -j$$(nproc) ;; esac)
build:
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s $(jobs) -C $$chapter build || exit 1; done

# Of one chapter.
own_chapters = $(shell awk -F '\t' '$$2 == "$1" { print $$1 } "$1" == "task" && $$2 ~ /^[0-9]/ { print $$2 }' \
	classroom/own.tsv classroom/tasks.tsv)
blank task fault answer:
	@echo "$@: of which chapter? make -C CHAPTER $@ N=1; CHAPTER is one of $(sort $(or $(call own_chapters,$@),$(CHAPTERS)))" >&2; exit 2

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

# Each chapter's own shapes, with random inputs: test-all has the others, too. As many chapters at once as there are cores: what
# one waits for, another computes. None begins when the shell of all, $$0, has been ended.
test-chapters: build
	@printf '%s\n' $(CHAPTERS) | xargs -P "$$(nproc)" -I{} sh -c ' \
		kill -0 "$$0" 2> /dev/null || exit 255; \
		said=$$($(MAKE) --no-print-directory -s -C {} test $(if $(or $(LONG),$(call given,INPUTS)),,INPUTS=random) 2>&1) || \
			{ printf "%s\n" "make test: failed in {}:" "$$said"; exit 1; }' "$$$$" && \
	echo "the shapes of $(words $(CHAPTERS)) chapters: passed"

test-sim: known-suites test-chapters
	@$(MAKE) --no-print-directory -s -C tests $(jobs) build || { \
		printf '%s\n' "the suites' programs were not built, see above" "0 passed, 1 failed, 0 skipped"; exit 2; }
	@$(MAKE) --no-print-directory -C tests test

known-suites:
	$(if $(call given,SUITES),@$(MAKE) --no-print-directory -s -C tests print-NAMES > /dev/null)

test-cuda: build
	@$(MAKE) --no-print-directory -C tests cuda

test-all:
	@$(MAKE) --no-print-directory check-readme
	@$(MAKE) --no-print-directory test CC=gcc CXX=g++ LONG=1
	@$(MAKE) --no-print-directory test CC=clang CXX=clang++

sanitize: build
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s -C $$chapter sanitize || exit 1; done

# The page that shows the bytes move, from runs of this code.
explorer: build
	@explorer/course_page

# The READMEs as pages for a browser, with the pictures and the explorer, into OUT. Here, too, OUT is for the site alone;
# to make it again, delete it first.
# ADDRESS=URL: from where the site tells readers to clone; default: git's origin, if that begins with https.
site:
	@test -n "$$OUT" || { echo "site: where to? make site OUT=directory" >&2; exit 2; }
	@tools/site --check "$$OUT" $(call option,ADDRESS,address)
	@unset MAKEFLAGS MFLAGS MAKEOVERRIDES; env -u OUT $(MAKE) --no-print-directory -s explorer DEVICE=sim
	@tools/wrong_runs build/wrong_runs
	@tools/site "$$OUT" --explorer plots/explorer.html --wrong build/wrong_runs $(call option,ADDRESS,address)

# ---- a GPU: gpu/README.md. OUT is for the report alone: a chapter's build has a variable of that name. ----
OUT ?=
gpu-report:
	@unset MAKEFLAGS MFLAGS MAKEOVERRIDES; tools/gpu_report --out "$(OUT)" $(if $(ARCH),--arch "$(ARCH)") $(ARGS)

clean:
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s -C $$chapter clean; done
	rm -rf build simcc/build

$(CHAPTERS):
	@$(MAKE) --no-print-directory -s -C $@

help:
	@echo "learn     make              build and run chapters 00 to 09, plots in build/plots/; make all-chapters: all"
	@echo "          make 01_naive     one chapter; in its directory, make help"
	@echo "          make real         chapter 01 on a language model's Q, K and V"
	@echo "          make model        brings a real language model (98 MB; asks first)"
	@echo "          make explorer     plots/explorer.html, the bytes on the move"
	@echo "          make editor       how clangd reads every file: no false errors"
	@echo "          make site OUT=DIR all of this as pages for a browser (./setup.sh --all)"
	@echo "          make test         the tests; with DEVICE=cuda, the chapters on a GPU"
	@echo "teach     make handout OUT=DIR [CLASS=key]   the student tree"
	@echo "          make grade [SUBMISSION=DIR|ZIP] [KEY=key]   points, and why; SUBMISSIONS=, a class"
	@echo "          make similar SUBMISSIONS=ZIP   who shares a text that is rare"
	@echo "          make check-submission   complete, and does it compile?"
	@echo "          make gradescope   an autograder to upload"
	@echo "DEVICE=sim|cuda CC=gcc|clang ARCH=sm_90 ARGS=\"--gpu a100\" may be added; the rest: make help-all"
