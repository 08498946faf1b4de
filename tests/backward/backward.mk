# Chapter 06's suites: tests/backward/test_NAME.c is the suite backward_NAME. Included by tests/Makefile, which sets
# HERE, ROOT, BUILD, CC, CXX, CFLAGS, SUPPORT and LIBRARIES, after harness.mk, which sets HARNESS_OBJECTS.

BACKWARD_OBJECTS := $(BUILD)/backward/gradient_variants.o $(BUILD)/backward/finite_differences.o
BACKWARD := $(ROOT)/06_backward

$(BUILD)/backward/%.o: $(HERE)/backward/%.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -c $< -o $@

$(BUILD)/backward_%: $(HERE)/backward/test_%.c $(HARNESS_OBJECTS) $(BACKWARD_OBJECTS) $(SUPPORT)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $< $(HARNESS_OBJECTS) $(BACKWARD_OBJECTS) $(SUPPORT) $(LIBRARIES) -o $@

# The chapter as a user has it, built with the compiler under test; a copy of its program.
backward-program:
	@$(MAKE) --no-print-directory -s -C $(BACKWARD) build DEVICE=sim CC="$(CC)" CXX="$(CXX)"
	@mkdir -p $(BUILD)/backward
	@cmp -s $(BACKWARD)/backward $(BUILD)/backward/backward || cp $(BACKWARD)/backward $(BUILD)/backward/backward

BACKWARD_SIMCC = CC="$(CC)" CXX="$(CXX)" $(ROOT)/simcc/simcc -O2 $(STRICT) -I$(BACKWARD)

# Its kernels under a main of our own.
BACKWARD_KERNELS := $(wildcard $(BACKWARD)/*.cu)
$(BUILD)/backward/no_visible_key: $(HERE)/backward/programs/no_visible_key.c $(BACKWARD)/backward
	@mkdir -p $(@D)
	@$(BACKWARD_SIMCC) $(BACKWARD_KERNELS:$(ROOT)/%=$(SIM_OBJECTS)/%.o) $< -lm -o $@

# Its kernels with one fault each, under the chapter's own main.
$(BACKWARD)/backward: backward-program
	@:
$(eval $(call planted,backward/faults,06_backward,$(BACKWARD)/backward))
$(eval $(call planted,backward/mistakes,06_backward,$(BACKWARD)/backward))
$(BUILD)/backward_mistakes: $(PLANTED_backward/mistakes)

$(BUILD)/backward_kernels: | backward-program $(BUILD)/backward/no_visible_key
$(BUILD)/backward_faults: $(PLANTED_backward/faults)

-include $(BACKWARD_OBJECTS:.o=.d)
.PHONY: backward-program
.SECONDARY: $(BACKWARD_OBJECTS)
