# What of a grading does not depend on a submission, for one chapter. From the chapter's directory:
#     make -f ../classroom/judge/judge.mk kit [ORIGINAL=DIRECTORY]
#
# It builds, in build/CC/sim/classroom/CHAPTER/,
#   judge        the chapter's .c, common/ with the reference, judge.c; no line of a submission. Where chapter.c asks a .cu for a tile
#                size, the chapter's own .cu answer: those of ORIGINAL, in a hand-out the directory of the files as handed out
#   rest.o       what kernels are linked with to be run: the chapter's .c and common/, both without the reference, runner.c, and the
#                simulated device SIM_LIB; without their lines for a debugger, which take half of the time of a link
#   compile      the command that the chapter's own make compiles a .cu with
#   link         options of a link: the C++ library inside, where there is one to put inside; another half

JUDGE := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
include Makefile

KIT := $(OUT)/classroom/$(notdir $(HERE))
ORIGINAL ?= $(HERE)
# Of the course itself they are those of its own build.
ORIGINALS := $(if $(filter $(HERE),$(ORIGINAL)),$(KERNELS),$(patsubst $(ORIGINAL)/%.cu,$(KIT)/original/%.o,$(wildcard $(ORIGINAL)/*.cu)))
WITHOUT_MAIN := $(filter-out $(OUT)/common/main.o $(OUT)/common/run/run.o,$(HARNESS))
REFERENCE := $(filter $(OUT)/common/verify/% $(OUT)/common/run/compare.o $(OUT)/$(notdir $(HERE))/reference.o,$(HARNESS) $(CHAPTER))

.PHONY: kit
kit: $(KIT)/judge $(KIT)/rest.o $(KIT)/compile $(KIT)/link

$(OUT)/classroom/%.o: $(JUDGE)/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

$(KIT)/original/%.o: $(ORIGINAL)/%.cu $(wildcard $(ORIGINAL)/*.cuh *.h) $(TOOLCHAIN) $(BUILT_WITH)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -I$(HERE) -c $< -o $@

$(KIT)/compile: FORCE
	$(call rewritten_if_new,$(subst ','\'',$(COMPILE)))

$(KIT)/judge: $(ORIGINALS) $(CHAPTER) $(WITHOUT_MAIN) $(OUT)/classroom/judge.o $(BUILT_WITH)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(ORIGINALS) $(CHAPTER) $(WITHOUT_MAIN) $(OUT)/classroom/judge.o $(LIBRARIES) -o $@

# Functions of the reference that chapter.c names: in the runner each ends the program.
$(KIT)/no_reference.o: $(REFERENCE)
	@mkdir -p $(@D)
	$(Q)nm --defined-only --extern-only $(REFERENCE) | \
		sed -n 's/.* T \(.*\)/void \1(void); void \1(void) { __builtin_trap(); }/p' > $(@:.o=.c)
	$(Q)$(CC) -O1 -w -fno-builtin -c $(@:.o=.c) -o $@

$(KIT)/rest.o: $(KIT)/no_reference.o $(filter-out $(REFERENCE),$(CHAPTER) $(WITHOUT_MAIN)) \
               $(OUT)/classroom/runner.o $(SIM_LIB) $(JUDGE)/judge.mk $(BUILT_WITH)
	$(Q)ld -r --strip-debug $(filter %.o,$^) --whole-archive $(SIM_LIB) -o $@.new && mv $@.new $@

INSIDE := -static-libstdc++ -static-libgcc
$(KIT)/link: $(BUILT_WITH)
	@mkdir -p $(@D)
	@echo 'int main() { return !new int; }' | $(CXX) $(INSIDE) -x c++ - -o $@.tried 2>/dev/null && echo '$(INSIDE)' > $@ || : > $@

-include $(OUT)/classroom/judge.d $(OUT)/classroom/runner.d
