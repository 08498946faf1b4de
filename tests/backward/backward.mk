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

# The chapter as a user has it, built with the compiler under test.
backward-program:
	@$(MAKE) --no-print-directory -s -C $(BACKWARD) build CC="$(CC)" CXX="$(CXX)"

BACKWARD_SIMCC = CC="$(CC)" CXX="$(CXX)" $(ROOT)/simcc/simcc -O2 $(STRICT) -I$(BACKWARD)

# Its kernels under a main of our own.
BACKWARD_KERNELS := $(wildcard $(BACKWARD)/*.cu)
$(BUILD)/backward/no_visible_key: $(HERE)/backward/programs/no_visible_key.c $(BACKWARD_KERNELS) \
		$(wildcard $(BACKWARD)/*.cuh) $(BACKWARD)/backward.h $(TOOLCHAIN)
	@mkdir -p $(@D)
	@$(BACKWARD_SIMCC) $(BACKWARD_KERNELS) $< -lm -o $@

# Its kernels with one fault each, under the chapter's own main.
BACKWARD_FAULTS := $(addprefix $(BUILD)/backward/faults/,$(shell perl $(HERE)/support/plant.pl $(HERE)/backward/faults))
$(BACKWARD_FAULTS): $(BUILD)/backward/faults/%: $(HERE)/backward/faults $(HERE)/support/plant.pl $(BACKWARD)/backward.cu | backward-program
	@mkdir -p $(@D)
	@perl $(HERE)/support/plant.pl $(BACKWARD)/backward.cu $(HERE)/backward/faults $* > $@.cu
	@objects=$(ROOT)/build/$(NAME)/sim; $(BACKWARD_SIMCC) $@.cu $$objects/06_backward/chapter.o \
		$$objects/common/*.o $$objects/common/*/*.o -lm -o $@

$(BACKWARD)/backward: backward-program
	@:
$(eval $(call mistakes,$(BUILD)/backward/mistakes,$(HERE)/backward/mistakes,06_backward,backward,$(BACKWARD)/backward))
$(BUILD)/backward_mistakes: $(MISTAKES_OF_backward)

$(BUILD)/backward_kernels: | backward-program $(BUILD)/backward/no_visible_key
$(BUILD)/backward_faults: $(BACKWARD_FAULTS)

-include $(BACKWARD_OBJECTS:.o=.d)
.PHONY: backward-program
.SECONDARY: $(BACKWARD_OBJECTS)
