# common/model: tests/model/test_NAME.c or .py is the suite model_NAME. To be included by tests/Makefile after
# harness/harness.mk, which sets HARNESS_OBJECTS.
#
# What reads files from elsewhere is tested in programs/files.c, under the sanitizers; its mmap is a copy in the heap, with
# guarded ends. generate.c wants a device: the suites of the chapters that have --prompt run it.

MODEL_SOURCES := $(filter-out %/generate.c,$(wildcard $(ROOT)/common/model/*.c))
MODEL_OBJECTS := $(MODEL_SOURCES:$(ROOT)/common/%.c=$(BUILD)/harness/%.o)
GUARDED := $(MODEL_SOURCES:$(ROOT)/common/model/%.c=$(BUILD)/model/guarded/%.o)
# clang's runtime is a package of its own, which may be missing: then the same program runs without.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
HAVE_SANITIZE = $(eval HAVE_SANITIZE := $(shell echo 'int main(void) { return 0; }' | \
        $(CC) $(SANITIZE) -x c - -o /dev/null 2>/dev/null && echo $(SANITIZE)))$(HAVE_SANITIZE)

$(BUILD)/model_%: $(HERE)/model/test_%.c $(MODEL_OBJECTS) $(HARNESS_OBJECTS) $(SUPPORT)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $< $(MODEL_OBJECTS) $(HARNESS_OBJECTS) $(SUPPORT) $(LIBRARIES) -o $@

$(BUILD)/model/guarded/language_model.o: GUARD := -Dmmap=copy_of_file -Dmunmap=free_copy
$(BUILD)/model/guarded/%.o: $(ROOT)/common/model/%.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $(HAVE_SANITIZE) $(GUARD) -c $< -o $@

$(BUILD)/model/files: $(HERE)/model/programs/files.c $(addprefix $(ROOT)/common/support/,error.c output_file.c parallel.c) $(GUARDED)
	@test -n "$(HAVE_SANITIZE)" || echo "$(CC) has no address sanitizer: the suites of common/model run without" >&2
	@$(CC) $(filter-out -MMD -MP,$(CFLAGS)) $(HAVE_SANITIZE) $^ -lm -lpthread -o $@

build: $(if $(filter model_%,$(NAMES)),$(BUILD)/model/files)

-include $(MODEL_OBJECTS:.o=.d) $(GUARDED:.o=.d)
.SECONDARY: $(MODEL_OBJECTS) $(GUARDED)
