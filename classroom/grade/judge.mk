# The teacher's half of a grading, for one chapter. From the chapter's directory:
#     make -f ../classroom/grade/judge.mk kit [ORIGINAL=path/NAME.cu]
#
# It builds, in build/CC/sim/classroom/CHAPTER/,
#   judge        the chapter's chapter.c, common/ with the reference, and judge.c; no code of a submission. Where chapter.c
#                asks the .cu for a tile size, ORIGINAL answers: the teacher's own file
#   rest.o       what a submission's object is linked with: chapter.c, common/ without the reference, runner.c, the guard
#   guard_begin.o guard_end.o
#   exports      the C functions that NAME.cu has to define, and no others

GRADE := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
include Makefile

KIT := $(OUT)/classroom/$(notdir $(HERE))
ORIGINAL ?= $(NAME).cu
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

$(KIT)/original.o: $(ORIGINAL) $(wildcard *.h) $(TOOLCHAIN) $(BUILT_WITH)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -I$(HERE) -c $< -o $@

$(KIT)/exports: $(KIT)/original.o
	$(Q)nm --defined-only --extern-only $< | awk '$$2 == "T" && $$3 !~ /^_Z/ { print $$3 }' > $@.new && mv $@.new $@

$(KIT)/judge: $(KIT)/original.o $(CHAPTER) $(WITHOUT_MAIN) $(OUT)/classroom/judge.o $(BUILT_WITH)
	$(Q)$(COMPILE) $(KIT)/original.o $(CHAPTER) $(WITHOUT_MAIN) $(OUT)/classroom/judge.o $(LIBRARIES) -o $@

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
