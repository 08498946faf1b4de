# The teacher's half of a grading, for one chapter. From the chapter's directory:
#     make -f ../classroom/grade/judge.mk kit [ORIGINAL=DIRECTORY]
#
# It builds, in build/CC/sim/classroom/CHAPTER/,
#   judge        the chapter's chapter.c, common/ with the reference, and judge.c; no code of a submission. Where chapter.c
#                asks a .cu for a tile size, ORIGINAL answers: the teacher's own .cu and .cuh
#   original/    their objects; a submission is linked with those of files that hold none of its tasks
#   rest.o       what a submission's object is linked with: chapter.c, common/ without the reference, runner.c, the guard
#   guard_begin.o guard_end.o
#   exports      the C functions that the chapter's .cu have to define together, and no others

GRADE := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
include Makefile

KIT := $(OUT)/classroom/$(notdir $(HERE))
ORIGINAL ?= $(HERE)
ORIGINALS := $(patsubst $(ORIGINAL)/%.cu,$(KIT)/original/%.o,$(wildcard $(ORIGINAL)/*.cu))
WITHOUT_MAIN := $(filter-out $(OUT)/common/main.o $(OUT)/common/run.o,$(HARNESS))
REFERENCE := $(filter $(OUT)/common/verify/%,$(HARNESS))
JUDGE_OBJECTS := $(addprefix $(OUT)/classroom/,judge.o runner.o guard.o guard_begin.o guard_end.o)

.PHONY: kit
kit: $(KIT)/judge $(KIT)/rest.o $(KIT)/exports $(KIT)/guard_begin.o $(KIT)/guard_end.o

$(OUT)/classroom/%.o: $(GRADE)/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -fno-common -c $< -o $@

$(KIT)/guard_%.o: $(OUT)/classroom/guard_%.o
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(KIT)/original/%.o: $(ORIGINAL)/%.cu $(wildcard $(ORIGINAL)/*.cuh *.h) $(TOOLCHAIN) $(BUILT_WITH)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -I$(HERE) -c $< -o $@

$(KIT)/exports: $(ORIGINALS)
	$(Q)nm --defined-only --extern-only $(ORIGINALS) | awk '$$2 == "T" && $$3 !~ /^_Z/ { print $$3 }' > $@.new && mv $@.new $@

$(KIT)/judge: $(ORIGINALS) $(CHAPTER) $(WITHOUT_MAIN) $(OUT)/classroom/judge.o $(BUILT_WITH)
	$(Q)$(COMPILE) $(ORIGINALS) $(CHAPTER) $(WITHOUT_MAIN) $(OUT)/classroom/judge.o $(LIBRARIES) -o $@

# Functions of the reference that chapter.c names: in the runner each ends the program.
$(KIT)/no_reference.o: $(REFERENCE)
	@mkdir -p $(@D)
	$(Q)nm --defined-only --extern-only $(REFERENCE) | \
		awk '$$2 == "T" { print "void " $$3 "(void); void " $$3 "(void) { __builtin_trap(); }" }' > $(@:.o=.c)
	$(Q)$(CC) -O1 -w -fno-builtin -c $(@:.o=.c) -o $@

$(KIT)/rest.o: $(KIT)/no_reference.o $(CHAPTER) $(filter-out $(REFERENCE),$(WITHOUT_MAIN)) \
               $(OUT)/classroom/runner.o $(OUT)/classroom/guard.o $(BUILT_WITH)
	$(Q)ld -r $(filter %.o,$^) -o $@.new && mv $@.new $@

-include $(JUDGE_OBJECTS:.o=.d)
