# The device under the chapters: tests/device/test_NAME.c is the suite device_NAME. device_trace needs the chapters'
# programs, as built by the chapters' own suites, and again with the other compiler's kernels, in
# $(OTHER_BUILD)/chapters. To be included by tests/Makefile after the chapters' rules.

$(BUILD)/device_%: $(HERE)/device/test_%.c $(SUPPORT)
	@$(CC) $(CFLAGS) $< $(SUPPORT) $(LIBRARIES) -o $@

TRACED := 01_naive/naive 02_online_softmax/online_softmax 03_tiled_matmul/tiled_matmul 04_fa1/fa1 05_fa2/fa2 \
          06_backward/backward
TRACED_COPIES := $(addprefix $(BUILD)/chapters/,$(notdir $(TRACED)))
TRACED_OTHERS := $(if $(OTHER_BUILD),$(addprefix $(OTHER_BUILD)/chapters/,$(notdir $(TRACED))))

# $1 chapter, $2 program. Kernels are compiled where they lie, so that the traces name the same file.
define traced_rules
.PHONY: $1.traced
$1.traced:
	@$$(MAKE) --no-print-directory -s -C $(ROOT)/$1 build DEVICE=sim CC="$(CC)" CXX="$(CXX)"

$(BUILD)/chapters/$2: $1.traced
	@mkdir -p $$(@D)
	@cmp -s $(ROOT)/$1/$2 $$@ || cp $(ROOT)/$1/$2 $$@

$(OTHER_BUILD)/chapters/$2: $(BUILD)/chapters/$2
	@mkdir -p $$(@D)
	@cd $(ROOT)/$1 && CC="$(OTHER_CC)" CXX="$(OTHER_CXX)" $(SIMCC) -w *.cu $$(call chapter_objects,$1) -lm -o $$@
endef
$(foreach program,$(TRACED),$(eval $(call traced_rules,$(patsubst %/,%,$(dir $(program))),$(notdir $(program)))))

$(BUILD)/device_trace: $(TRACED_COPIES) $(TRACED_OTHERS)
$(BUILD)/device_chapters: 01_naive.traced
$(BUILD)/device_toolchain: | 01_naive.traced
