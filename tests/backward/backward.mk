# Chapter 06's suites: tests/backward/test_NAME.c is the suite backward_NAME. Included by tests/Makefile, which sets
# HERE, ROOT, BUILD, CC, CXX, CFLAGS, SUPPORT and LIBRARIES, after harness.mk, which sets HARNESS_OBJECTS.

BACKWARD := $(ROOT)/06_backward

$(BUILD)/backward_%: $(HERE)/backward/test_%.c $(HARNESS_OBJECTS) $(SUPPORT)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $< $(HARNESS_OBJECTS) $(SUPPORT) $(LIBRARIES) -o $@

BACKWARD_SIMCC = CC="$(CC)" CXX="$(CXX)" $(ROOT)/simcc/simcc -O2 $(STRICT) -I$(BACKWARD)

# Its kernels under a main of our own.
BACKWARD_KERNELS := $(wildcard $(BACKWARD)/*.cu)
$(BUILD)/backward/no_visible_key: $(HERE)/backward/programs/no_visible_key.c $(BUILD)/chapters/backward
	@mkdir -p $(@D)
	@$(BACKWARD_SIMCC) $(BACKWARD_KERNELS:$(ROOT)/%=$(SIM_OBJECTS)/%.o) $< -lm -o $@

build: $(if $(filter backward_files,$(NAMES)),$(BUILD)/backward/no_visible_key)
