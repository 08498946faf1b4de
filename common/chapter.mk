# How a chapter is built and run: all its .cu and .c files make one program. A chapter's Makefile sets NAME (of the
# program), DEMO (options of its default demonstration) and RAGGED (the shapes that `make` tries after it), then includes
# this file. It may set SHAPES (what `make test` tries besides), SPOKEN (like RAGGED, but they take no --input), DRAWN (the
# kernel that its picture shows, if only one), MODEL (yes: common/model/ is linked, too) and, after the include, add to
# LIBRARIES.
#
#   DEVICE=sim|cuda   default: cuda when nvcc and a GPU are there
#   CC, CXX           gcc or clang; CXX follows CC
#   SANITIZERS=-fsanitize=address,undefined   of the host's code, on the simulated device
#   ARCH=sm_90        default: the GPU's own, else sm_90 (arch.py); PTX for later ones is always in the program
#   ARGS="..."        further options of the program, for run targets

COMMON := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
include $(dir $(lastword $(MAKEFILE_LIST)))../simcc/path.mk
include $(COMMON)/asked.mk
ROOT := $(abspath $(COMMON)/..)
HERE := $(CURDIR)

# Looking through make's own rules for each file takes longer than all else when nothing is to do.
MAKEFLAGS += --no-builtin-rules

include $(ROOT)/simcc/toolchain.mk

NVCC ?= $(or $(shell command -v nvcc 2>/dev/null),$(wildcard /usr/local/cuda/bin/nvcc))
# Asked once: the driver takes its time to answer.
ifeq ($(origin DEVICE),undefined)
DEVICE := $(if $(and $(NVCC),$(shell nvidia-smi -L 2>/dev/null)),cuda,sim)
endif
ifeq ($(DEVICE) $(origin ARCH),cuda undefined)
ARCH := $(shell python3 $(COMMON)/arch.py "$(NVCC)")
endif

OUT := $(ROOT)/build/$(COMPILER)$(if $(SANITIZERS),+sanitized)/$(DEVICE)
HARNESS_SOURCES := $(wildcard $(COMMON)/*.c $(addprefix $(COMMON)/,support/*.c problem/*.c verify/*.c measure/*.c run/*.c report/*.c \
        $(if $(MODEL),model/*.c)))
HARNESS := $(patsubst $(COMMON)/%.c,$(OUT)/common/%.o,$(HARNESS_SOURCES))
HARNESS += $(OUT)/common/gpus.o
COMMA := ,
SOURCES := $(wildcard *.cu)
HEADERS := $(wildcard *.h *.cuh) $(COMMON)/attention.h
CHAPTER := $(patsubst %.c,$(OUT)/$(notdir $(HERE))/%.o,$(wildcard *.c))
KERNELS := $(SOURCES:%=$(OUT)/$(notdir $(HERE))/%.o)
FAST := $(SOURCES:%=$(OUT)/$(notdir $(HERE))/%.fast.o)
KERNEL_FLAGS := $(OUT)/$(notdir $(HERE))/kernel.flags

# A warning stops CI (WERROR=1) and nobody else: newer compilers have new ones. Half an exercise leaves variables and
# functions unused, which is no warning there.
WERROR ?=
UNUSED_IS_FINE := -Wno-unused-variable -Wno-unused-parameter -Wno-unused-but-set-variable -Wno-unused-function
STOP := $(if $(WERROR),-Werror,$(UNUSED_IS_FINE))
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow $(STOP)
CFLAGS ?= -Og -g
ALL_CFLAGS = $(CFLAGS) $(SANITIZERS) -std=c11 -D_GNU_SOURCE $(WARNINGS) -MD -MP -I$(COMMON) -I$(ROOT)/simcc

ifeq ($(DEVICE),sim)
# NAME.fast, the plain build, is there for times (--time): made by `make fast`, then kept as new as the program.
TIMED := $(NAME).fast
PROGRAMS := $(NAME) $(wildcard $(TIMED))
ALL_CFLAGS += -DDEVICE_SIM -isystem $(ROOT)/simcc/include
COMPILE := CC="$(CC)" CXX="$(CXX)" $(ROOT)/simcc/simcc $(SANITIZERS) -O2 -g -Wall -Wextra $(STOP) -I$(COMMON)
else ifeq ($(DEVICE),cuda)
TIMED :=
PROGRAMS := $(NAME)
# A GPU run is always timed: once is enough where nobody looks at the times.
ONCE := --repeat 1
# Where the headers lie: beside nvcc, beside what it is a link to, or where the toolkit installs itself.
CUDA_HOME := $(firstword $(foreach home,$(abspath $(dir $(NVCC))/..) $(abspath $(dir $(realpath $(NVCC)))/..) /usr/local/cuda, \
        $(if $(wildcard $(home)/include/cuda_runtime_api.h),$(home))) $(abspath $(dir $(NVCC))/..))
ALL_CFLAGS += -DDEVICE_CUDA -isystem $(CUDA_HOME)/include
COMPILE := $(NVCC) -ccbin $(CXX) -std=c++17 -O3 -lineinfo -arch=$(ARCH) -I$(COMMON) \
	$(if $(WERROR),-Werror all-warnings -Xcompiler -Wall$(COMMA)-Wextra,-diag-suppress 177$(COMMA)550)
else
$(error DEVICE=$(DEVICE): expected sim or cuda)
endif

LIBRARIES := -lm -lpthread -ldl
SHAPES ?= "--seq 1 --dim 1" "--seq 601 --dim 2 --scale 50" "--seq 150 --dim 8 --causal --scale -0.5" "--seq 113 --dim 111 --scale 0.3" \
          "--batch 2 --heads 3 --seq 65 --dim 128 --causal"
INPUTS ?= random large-logits very-negative constant one-hot ramp

# A program is rebuilt when the device or the compiler changes, although its name does not.
BUILT_WITH := $(ROOT)/build/$(notdir $(HERE)).built-with
BUILT_NOW := $(DEVICE) $(CC) $(CXX) $(if $(filter cuda,$(DEVICE)),$(ARCH)) $(CFLAGS) $(SANITIZERS)

# `make V=1` shows the commands.
Q := $(if $(V),,@)
say = $(if $(V),,@echo "  $1")

.DEFAULT_GOAL := all
.PHONY: all ragged build fast run device test profile sanitize plot ptxas check-ptxas sass check-sass answer hint commands blank task fault \
        help clean FORCE

# The demonstration has full tiles, so that its numbers are round; a mistake in the last row, a mask, a head or a stride may
# show nothing there. So shapes follow that no tile divides. If nothing is wrong that is one line, otherwise the screen of
# the shape. With ARGS the run is the reader's own.
all: build
	@./$(NAME) $(DEMO) $(ARGS)
	$(if $(strip $(ARGS)),,$(if $(RAGGED),$(try_ragged)))

define try_ragged
@for shape in $(RAGGED) $(SPOKEN); do \
	./$(NAME) $$shape $(ONCE) --quiet > /dev/null 2>&1 || { \
		status=$$?; printf '\nA ragged shape, ./$(NAME) %s:\n\n' "$$shape"; ./$(NAME) $$shape $(ONCE); exit $$status; }; \
done; echo "Ragged shapes (make ragged): all verified."
endef

ragged: build
	@for shape in $(RAGGED) $(SPOKEN); do \
		echo "./$(NAME) $$shape"; ./$(NAME) $$shape $(ONCE) --quiet $(ARGS) || exit $$?; \
	done

build: $(PROGRAMS)

# What --time runs, besides.
fast: build $(TIMED)

$(NAME): $(KERNELS) $(CHAPTER) $(HARNESS) $(TOOLCHAIN) $(BUILT_WITH)
	$(Q)$(COMPILE) $(KERNELS) $(CHAPTER) $(HARNESS) $(LIBRARIES) -o $@

$(NAME).fast: $(FAST) $(CHAPTER) $(HARNESS) $(TOOLCHAIN) $(BUILT_WITH)
	$(Q)$(COMPILE) --fast $(FAST) $(CHAPTER) $(HARNESS) $(LIBRARIES) -o $@

$(OUT)/$(notdir $(HERE))/%.cu.o: %.cu $(HEADERS) $(TOOLCHAIN) $(KERNEL_FLAGS)
	@mkdir -p $(@D)
	$(call say,$(notdir $(firstword $(filter %simcc %nvcc,$(COMPILE)))) $<)
	$(Q)$(COMPILE) -c $< -o $@

$(OUT)/$(notdir $(HERE))/%.cu.fast.o: %.cu $(HEADERS) $(TOOLCHAIN) $(KERNEL_FLAGS)
	@mkdir -p $(@D)
	$(call say,simcc --fast $<)
	$(Q)$(COMPILE) --fast -c $< -o $@

# Kernels are compiled again when their compiler or its flags change, but not for the warnings that a test asks for.
rewritten_if_new = @mkdir -p $(@D); echo '$1' | cmp -s - $@ || echo '$1' > $@
asked_to_warn := -Werror all-warnings $(UNUSED_IS_FINE) -Xcompiler -Wall$(COMMA)-Wextra -diag-suppress 177$(COMMA)550
$(BUILT_WITH): FORCE
	$(call rewritten_if_new,$(BUILT_NOW))
$(KERNEL_FLAGS): FORCE
	$(call rewritten_if_new,$(filter-out $(asked_to_warn),$(COMPILE)))

# An object has its name only when it is whole: a compiler that is killed leaves half of one.
compile_c = $(Q)$(CC) $(ALL_CFLAGS) -MF $(@:.o=.d) -MT $@ -c $< -o $@.new && mv $@.new $@

# The GPUs' limits and roofs: simcc has its own copy.
$(OUT)/common/gpus.o: $(ROOT)/simcc/gpus.c
	@mkdir -p $(@D)
	$(call say,$(CC) $(<F))
	$(compile_c)

$(OUT)/common/%.o: $(COMMON)/%.c
	@mkdir -p $(@D)
	$(call say,$(CC) $(<F))
	$(compile_c)

# What computes: the references, and inputs.
COMPUTES := $(wildcard $(addprefix $(COMMON)/,verify/*.c problem/*input*.c model/*.c))
$(COMPUTES:$(COMMON)/%.c=$(OUT)/common/%.o) $(OUT)/$(notdir $(HERE))/reference.o: ALL_CFLAGS += -O2
# Billions of products: without what -O3 makes of their loops an answer takes 1.4 times as long.
$(addprefix $(OUT)/common/model/,matrix.o plain.o reference.o): ALL_CFLAGS += -O3

$(OUT)/$(notdir $(HERE))/%.o: %.c
	@mkdir -p $(@D)
	$(call say,$(CC) $(<F))
	$(compile_c)

-include $(HARNESS:.o=.d) $(CHAPTER:.o=.d)

run: build
	@./$(NAME) $(ARGS)

# Which one it is: for scripts.
device:
	@echo $(DEVICE)

# The chapter's kernels on shapes that break kernels: ragged, tiny, masked, with scores that overflow.
test: build
	@for shape in $(SHAPES) $(RAGGED); do \
		for input in $(INPUTS); do \
			./$(NAME) $$shape --input $$input $(ONCE) --quiet $(ARGS) || exit 1; \
		done; \
	done; \
	for shape in $(SPOKEN); do ./$(NAME) $$shape $(ONCE) --quiet $(ARGS) || exit 1; done

ifeq ($(DEVICE),sim)
# Without a GPU a profile is the launch records: one JSON object a line.
profile: build
	@SIM_REPORT=- ./$(NAME) $(DEMO) --quiet $(ARGS)

# Every check, in ten orders of threads and blocks, on every shape. Warnings end nothing; the last line says that some are left.
ORDERS := forward reverse $(addprefix shuffle:,1 2 3 4 5 6 7 8)
sanitize: build
	@found=clean; left=; for shape in $(SHAPES); do for order in $(ORDERS); do \
		said=$$(SIM_CHECK=all SIM_ORDER=$$order ./$(NAME) $$shape --quiet $(ARGS) 2>&1 > /dev/null); status=$$?; \
		[ -z "$$said" ] || printf '%s\n' "$$said" >&2; \
		[ $$status = 0 ] || exit 1; \
		case "$$said" in *"========= Warning: "*) found="no errors"; left="; the warnings above are left";; esac; \
	done; done; \
	echo "$(notdir $(HERE)): $$found in memcheck, racecheck, initcheck, synccheck and leakcheck, in $(words $(ORDERS)) orders$$left"
else
profile: build
	ncu --clock-control none ./$(NAME) $(DEMO) --quiet $(ONCE) $(ARGS)

sanitize: build
	for tool in memcheck racecheck initcheck synccheck; do \
		compute-sanitizer --tool $$tool --error-exitcode 1 ./$(NAME) $(DEMO) --quiet $(ONCE) $(ARGS) || exit 1; \
	done
endif

# The chapter's sweep on this machine, and its picture. Both are this machine's own: they go to build/. The sweep counts
# and verifies, as `make bench` does; the kernels' accesses were checked by the demonstration.
SWEEP := $(ROOT)/build/plots/$(notdir $(HERE))
plot: build
	@mkdir -p $(dir $(SWEEP))
	@echo "  sweep ./$(NAME)"
	@SIM_CHECK=$${SIM_CHECK-none} ./$(NAME) --sweep --tsv $(SWEEP).tsv $(or $(ARGS),$(if $(DRAWN),--kernel $(DRAWN)))
	@if [ ! -f $(ROOT)/plots/$(NAME).gp ]; then \
		echo "the sweep is in $(SWEEP).tsv"; \
	elif ! command -v gnuplot > /dev/null; then \
		echo "no picture: gnuplot is not installed (./setup.sh installs it); the sweep is in $(SWEEP).tsv"; \
	else \
		cd $(ROOT) && tools/draw one plots/$(NAME).gp build/plots/$(notdir $(HERE)).tsv build/plots/$(notdir $(HERE)); \
	fi

# Registers, stack frame, spills, shared memory and occupancy of each kernel; needs nvcc, no GPU. The table is committed
# for this one; with ARCH=sm_80 on the command line it is only printed. Threads and shared memory a block are those of
# the launches that the simulated device sees in the runs of PTXAS_RUNS, options with d = 64 first.
PTXAS_ARCHS := sm_90
PTXAS_RUNS ?= "--seq 128 --dim 64" "--seq 128 --dim 32" "--seq 128 --dim 96" "--seq 128 --dim 128"
PTXAS_GIVEN := $(filter command,$(firstword $(origin ARCH)))
PTXAS_BUILD := $(ROOT)/build/ptxas/$(NAME)
PTXAS_KEPT := $(ROOT)/gpu/compiled/$(notdir $(HERE)).ptxas.tsv
PTXAS_TABLE = $(if $(PTXAS_GIVEN),$(PTXAS_BUILD).tsv,$(PTXAS_KEPT))
PTXAS := $(ROOT)/tools/ptxas
# For ptxas or sass.
define need_nvcc
	@test -x $(ROOT)/tools/$1 || { echo "make $1 needs the course's tools/, and this tree has none" >&2; exit 3; }
	@test -n "$(NVCC)" || { echo "make $1 needs nvcc (the CUDA Toolkit), and found none" >&2; exit 3; }
endef
ptxas: $(PTXAS_BUILD).launches
	@$(PTXAS) make $(PTXAS_TABLE) "$(NVCC)" "$(SOURCES)" $< $(if $(PTXAS_GIVEN),$(ARCH),$(PTXAS_ARCHS))
	@$(PTXAS) show $(PTXAS_TABLE)

# Is the committed table what nvcc says? Of the same sources and the same nvcc it is; PTXAS_FULL=1 compiles all the same,
# once: neither CC nor DEVICE changes what nvcc makes of a kernel.
check-ptxas:
	$(call need_nvcc,ptxas)
	@{ test -z "$(PTXAS_FULL)" && $(PTXAS) unchanged $(PTXAS_KEPT) "$(NVCC)" "$(SOURCES)"; } || \
		$(MAKE) --no-print-directory -s $(PTXAS_BUILD).compared
	@echo "gpu/compiled/$(notdir $(PTXAS_KEPT)): as nvcc says"

$(PTXAS_BUILD).compared: $(PTXAS_KEPT) $(SOURCES) $(HEADERS) $(PTXAS) $(wildcard $(NVCC)) $(PTXAS_BUILD).launches
	@$(PTXAS) make $(PTXAS_BUILD).now "$(NVCC)" "$(SOURCES)" $(PTXAS_BUILD).launches $(PTXAS_ARCHS)
	@$(PTXAS) compare $(PTXAS_KEPT) $(PTXAS_BUILD).now
	@touch $@

# Rewritten only when it changes.
$(PTXAS_BUILD).launches: FORCE
	$(call need_nvcc,ptxas)
	@$(MAKE) --no-print-directory -s DEVICE=sim $(NAME).fast
	@mkdir -p $(@D) && : > $@.now
	@for run in $(PTXAS_RUNS); do \
		SIM_REPORT=$@.run ./$(NAME).fast $$run --gpu h200 --repeat 1 --warmup 0 --quiet > /dev/null || exit 1; \
		cat $@.run >> $@.now; \
	done
	@cmp -s $@.now $@ || cp $@.now $@
	@rm -f $@.run $@.now

# Instructions of the main loops, by kind; needs nvcc and nvdisasm, no GPU. Committed and checked as the table above is; where
# the sources and nvcc are those of the table, the check needs no nvdisasm.
NVDISASM ?= $(or $(shell command -v nvdisasm 2>/dev/null),$(wildcard $(dir $(NVCC))nvdisasm))
SASS := $(ROOT)/tools/sass
SASS_BUILD := $(ROOT)/build/sass/$(NAME)
SASS_KEPT := $(ROOT)/gpu/compiled/$(notdir $(HERE)).sass.tsv
SASS_TABLE = $(if $(PTXAS_GIVEN),$(SASS_BUILD).tsv,$(SASS_KEPT))
define need_disassembler
	$(call need_nvcc,sass)
	@test -n "$(NVDISASM)" || { echo "make sass needs nvdisasm (the CUDA Toolkit, or its package nvidia-cuda-nvdisasm" \
		"from PyPI), and found none; NVDISASM=FILE says where it is" >&2; exit 3; }
	@mkdir -p $(dir $(SASS_BUILD))
endef
sass:
	$(need_disassembler)
	@$(SASS) make $(SASS_TABLE) "$(NVCC)" "$(NVDISASM)" "$(SOURCES)" $(if $(PTXAS_GIVEN),$(ARCH),$(PTXAS_ARCHS))
	@$(SASS) show $(SASS_TABLE)

check-sass:
	$(call need_nvcc,sass)
	@{ test -z "$(SASS_FULL)" && $(SASS) unchanged $(SASS_KEPT) "$(NVCC)" "$(SOURCES)"; } || \
		$(MAKE) --no-print-directory -s $(SASS_BUILD).compared
	@echo "gpu/compiled/$(notdir $(SASS_KEPT)): as nvcc says"

$(SASS_BUILD).compared: $(SASS_KEPT) $(SOURCES) $(HEADERS) $(SASS) $(wildcard $(ROOT)/simcc/machine/*.py) $(wildcard $(NVCC))
	$(need_disassembler)
	@$(SASS) make $(SASS_BUILD).now "$(NVCC)" "$(NVDISASM)" "$(SOURCES)" $(PTXAS_ARCHS)
	@$(SASS) compare $(SASS_KEPT) $(SASS_BUILD).now
	@touch $@

# The answers are the teacher's: a tree that was handed out has none.
ANSWERS := $(wildcard $(ROOT)/classroom/answers)
hint:
	@echo "hint: make -C .. hint N=1: tasks are numbered through all chapters" >&2; exit 2
answer:
	@test -n "$(ANSWERS)" || { echo "answer: this tree was handed out; the answers are the teacher's" >&2; exit 2; }
	@$(ROOT)/tools/answer $(notdir $(HERE)) $${N+-- "$$N"}

# Files of one's own: my/KINDN/FILE takes the place of the chapter's FILE (tools/own, which gives MINE=KINDN/FILE). Copies of
# it, of headers, and where it is one of the kernels that include it, lie in build/, and are compiled there.
MINE ?=
MY := my/$(patsubst %/,%,$(dir $(MINE)))
MINE_IN := $(OUT)/$(notdir $(HERE))/$(MY)
MINE_CU := $(if $(MINE),$(notdir $(wildcard $(MINE_IN)/*.cu)))
MINE_OBJECTS := $(MINE_CU:%=$(MINE_IN)/%.o) $(filter-out $(MINE_CU:%=$(OUT)/$(notdir $(HERE))/%.o),$(KERNELS))
blank task fault:
	@test -n "$(ANSWERS)" || { echo "$@: this tree was handed out; what to write is in the chapter's own files" >&2; exit 2; }
	@printf '%s\n' "$(DEMO)" $(SHAPES) $(RAGGED) "" $(SPOKEN) | $(ROOT)/tools/own --make "$(MAKE)" --build $(OUT)/$(notdir $(HERE))/my \
		--inputs "$(INPUTS)" --once "$(ONCE)" $(notdir $(HERE)) $@ $${N+-- "$$N"}

$(MY)/$(NAME): $(MINE_OBJECTS) $(CHAPTER) $(HARNESS) $(TOOLCHAIN) $(BUILT_WITH)
	$(Q)$(COMPILE) $(MINE_OBJECTS) $(CHAPTER) $(HARNESS) $(LIBRARIES) -o $@

$(MINE_IN)/%.cu.o: $(MINE_IN)/%.cu $(wildcard $(MINE_IN)/*.cuh $(MINE_IN)/*.h) $(TOOLCHAIN) $(KERNEL_FLAGS)
	$(Q)$(COMPILE) -c $< -o $@

# How clangd is to read each file, a line of JSON for each (common/editor.mk). gcc's flags are clang's, too; a .cu or .cuh is
# read as simcc has it read, for the host, with the SDK's version that has its launches. (=: nobody else need ask clang for its
# folder.)
EDITED_C := $(CC) $(filter-out -MD -MP,$(ALL_CFLAGS)) -Wno-pragma-once-outside-header -x c -c
EDITED_CU = clang++ -std=c++17 -Wall -Wextra $(UNUSED_IS_FINE) $(addprefix -Wno-,unused-const-variable undefined-internal \
	unknown-cuda-version pragma-once-outside-header) -I$(COMMON) -I$(HERE) -nobuiltininc \
	$(addprefix -isystem ,$(ROOT)/simcc/include/sim_front $(ROOT)/simcc/include $(shell clang++ -print-resource-dir)/include) \
	-Xclang -target-sdk-version=10.1 -Xclang -fcuda-allow-variadic-functions -nocudainc -nocudalib --cuda-host-only \
	-x cuda -D__CUDACC__=1 -include cuda_runtime.h -c
commands_of = $(foreach file,$2,$(info {"directory": "$(ROOT)"$(COMMA) "file": "$(file)"$(COMMA) "command": "$1 $(file)"}))
commands:
	@:$(call commands_of,$(EDITED_CU),$(SOURCES:%=$(HERE)/%) $(patsubst %,$(HERE)/%,$(wildcard *.cuh)))
	@:$(call commands_of,$(EDITED_C),$(patsubst %,$(HERE)/%,$(wildcard *.c *.h)) $(HARNESS_SOURCES) $(ROOT)/simcc/gpus.c)

# Has the chapter such files?
own = $(if $(ANSWERS),$(shell awk -F '\t' '$$1 == "$(notdir $(HERE))" && $$2 == "$1" || "$1" == "task" && $$2 == "$(notdir $(HERE))" { print "y"; exit }' \
	$(ROOT)/classroom/own.tsv $(ROOT)/classroom/tasks.tsv))
help:
	@echo "make            build, run the demonstration, verify it and the ragged shapes"
	@echo "make ragged     the ragged shapes alone, one line per kernel"
	@echo "make build      $(PROGRAMS)"
	@echo "make fast       also the plain build, for times on the CPU: ./$(NAME) --time"
	@echo "make run        run with ARGS=\"...\", options of ./$(NAME) --help"
	@echo "make test       hard shapes and inputs"
	@echo "make profile    what each launch moved (sim: launch records; cuda: Nsight Compute)"
	@echo "make sanitize   every check of the device"
	@echo "make plot       the sweep over sizes, drawn"
	@echo "make ptxas      registers, spills, occupancy of each kernel (nvcc, no GPU)"
	@echo "make sass       instructions of main loops, by kind (nvcc and nvdisasm, no GPU)"
	@$(if $(ANSWERS),echo "make answer     the exercises; with N=3 asks for a prediction and answers the third")
	@$(if $(call own,blank),echo "make blank      kernels to write from a blank file; with N=1 the first is begun and then judged")
	@$(if $(call own,task),echo "make task       the tasks of a class in the same way")
	@$(if $(call own,fault),echo "make fault      kernels with a mistake to be found in the same way")
	@$(OWN_HELP)
	@echo "make clean      remove what was built here; my/, your own files, stays"
	@echo "DEVICE=$(DEVICE) CC=$(CC) CXX=$(CXX) ARCH=$(ARCH)"

clean:
	rm -f $(NAME) $(NAME).fast my/*/$(NAME) $(BUILT_WITH)
	rm -rf $(OUT)/$(notdir $(HERE))
