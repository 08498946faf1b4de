# The chapters' programs, and the suites of a chapter. To be included by tests/Makefile after harness/harness.mk.
#
# The chapters that are NEEDED are built once, as a user has them, with the compiler under test; $(BUILD)/chapters/PROGRAM is a copy,
# which stays what it is while the chapters are built with another compiler. PLAIN, which tests/Makefile sets, are the
# chapters whose plain builds the asked-for suites run, or plant faults in.
PROGRAMS := $(foreach chapter,$(ALL_CHAPTERS:%=$(ROOT)/%),$(chapter)/$(shell sed -n 's/^NAME := //p' $(chapter)/Makefile))
COPIES := $(addprefix $(BUILD)/chapters/,$(notdir $(filter $(NEEDED:%=$(ROOT)/%/%),$(PROGRAMS))))
.PHONY: chapters plain-builds
chapters:
	$(if $(NEEDED),@$(MAKE) --no-print-directory -s -C $(ROOT) build CHAPTERS="$(NEEDED)" DEVICE=sim CC="$(CC)" CXX="$(CXX)")
$(PROGRAMS): chapters ;
$(COPIES): $(BUILD)/chapters/%: chapters
	@mkdir -p $(@D)
	@program="$(filter %/$*,$(PROGRAMS))"; cmp -s $$program $@ || cp $$program $@
plain-builds: chapters
	$(if $(strip $(PLAIN)),@$(MAKE) --no-print-directory -s -C $(ROOT) fast CHAPTERS="$(PLAIN)" DEVICE=sim CC="$(CC)" CXX="$(CXX)")

# The suites of a chapter.
#
#   $(eval $(call chapter_suites,PART,CHAPTER,PROGRAM))
#
# tests/PART/test_NAME.c is the suite PART_NAME, linked with the chapter's .c but chapter.c. Beside it are built, in $(BUILD)/PART/,
#   NAME                tests/PART/NAME.cu, which includes kernels of the chapter and tests their device functions

# Objects of the harness and of chapter $1 without its kernels, as the chapter's own Makefile built them.
SIM_OBJECTS := $(ROOT)/build/$(NAME)/sim
# The library: the chapters, which are built first, made it.
LIBSIM := $(ROOT)/simcc/build/$(CXX_COMPILER)/libsim.a
chapter_objects = $(patsubst $(ROOT)/%.c,$(SIM_OBJECTS)/%.o,\
		$(filter-out $(if $(shell grep '^MODEL := yes' $(ROOT)/$1/Makefile),,$(ROOT)/common/model/%),\
		$(wildcard $(addprefix $(ROOT)/,$1/*.c common/*.c common/*/*.c)))) \
	$(SIM_OBJECTS)/common/gpus.o

# The entries of tests/PART/FILE.edits (tools/lib/edits.py) planted in the kernels of CHAPTER:
#
#   $(eval $(call planted,PART/FILE,CHAPTER,BUILT))
#
# Each is $(BUILD)/PART/FILE/NAME/program beside its sources, built with all counters and checks;
# PLANTED_PART/FILE is the list of them. Only the kernels that differ are compiled, the others are the chapter's
# objects. BUILT is the program without them, which changes whenever the kernels, the harness or the compiler do. The
# plain build, program.fast, is made where a suite asks for it. What is built plain takes a chapter of PLAIN.
define planted
PLANTED_$1 := $$(patsubst %,$(BUILD)/$1/%/program,$$(shell sed -n 's/^@ \([^ ]*\).*/\1/p' $(HERE)/$1.edits))
$(BUILD)/$1/.planted: $(HERE)/$1.edits $(ROOT)/tools/plant $(ROOT)/tools/lib/edits.py $(ROOT)/tools/lib/tasks.py $3
	@$(ROOT)/tools/plant $$< $(ROOT)/$2 $$(@D)
	@touch $$@
$$(PLANTED_$1:program=planted): $(BUILD)/$1/.planted ;
$$(PLANTED_$1): %/program: %/planted $3
	@$$(call build_planted,$2)
$$(PLANTED_$1:=.fast): %/program.fast: %/planted $3 | plain-builds
	@$$(call build_planted,$2,--fast,.fast)
endef
build_planted = cd $(@D) && SIM_LIB=$(LIBSIM) CC="$(CC)" CXX="$(CXX)" $(SIMCC) $(SANITIZERS) $2 -O1 -w -Wl,-S -I$(ROOT)/common $$(cat planted) \
	$$(ls *.cu | grep -vxFf planted | sed 's|.*|$(SIM_OBJECTS)/$1/&$3.o|') $(call chapter_objects,$1) -lm -o $(@F)

define chapter_suites
$1_C := $(filter-out %/chapter.c,$(wildcard $(ROOT)/$2/*.c))
$1_UNITS := $$(patsubst $(HERE)/$1/%.cu,$(BUILD)/$1/%,$$(wildcard $(HERE)/$1/*.cu))

$(BUILD)/$1_%: $(HERE)/$1/test_%.c $(HARNESS_OBJECTS) $(SUPPORT) $(BUILD)/chapters/$3 $$($1_UNITS)
	@$(CC) $(CFLAGS) -I$(ROOT)/$2 $$< $$($1_C) $(HARNESS_OBJECTS) $(SUPPORT) $(LIBRARIES) -o $$@

$$($1_UNITS): $(BUILD)/$1/%: $(HERE)/$1/%.cu $(BUILD)/chapters/$3
	@mkdir -p $$(@D)
	@SIM_LIB=$(LIBSIM) CC="$(CC)" CXX="$(CXX)" $(SIMCC) $(STRICT) -I$(ROOT)/$2 -I$(ROOT)/common $$< -o $$@
endef

