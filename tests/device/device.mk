# The device under the chapters: tests/device/test_NAME.c or .py is the suite device_NAME. device_trace needs the chapters'
# programs, and with LONG=1 again with the other compiler's kernels, in $(OTHER_BUILD)/chapters. To be included by
# tests/Makefile after the chapters' rules.

$(BUILD)/device_%: $(HERE)/device/test_%.c $(SUPPORT)
	@$(CC) $(CFLAGS) $< $(SUPPORT) $(LIBRARIES) -o $@

OTHERS := $(if $(and $(LONG),$(OTHER_BUILD)),$(COPIES:$(BUILD)/%=$(OTHER_BUILD)/%))

# Kernels are compiled where they lie, so that the traces name the same file. $1 chapter, $2 program.
define other_rule
$(OTHER_BUILD)/chapters/$2: $(BUILD)/chapters/$2
	@mkdir -p $$(@D)
	@cd $(ROOT)/$1 && CC="$(OTHER_CC)" CXX="$(OTHER_CXX)" $(SIMCC) -w *.cu $$(call chapter_objects,$1) -lm -o $$@
endef
$(foreach program,$(PROGRAMS),$(eval $(call other_rule,$(notdir $(patsubst %/,%,$(dir $(program)))),$(notdir $(program)))))

build: $(if $(filter device_trace,$(NAMES)),$(COPIES) $(OTHERS))
$(BUILD)/device_chapters: chapters
$(BUILD)/device_toolchain: | chapters
