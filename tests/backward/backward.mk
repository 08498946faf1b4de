# What backward_files runs. Included by tests/Makefile after chapter.mk.

BACKWARD := $(ROOT)/06_backward

BACKWARD_SIMCC = CC="$(CC)" CXX="$(CXX)" $(ROOT)/simcc/simcc -O2 $(STRICT) -I$(BACKWARD)

# Its kernels under a main of our own.
BACKWARD_KERNELS := $(wildcard $(BACKWARD)/*.cu)
$(BUILD)/backward/no_visible_key: $(HERE)/backward/programs/no_visible_key.c $(BUILD)/chapters/backward
	@mkdir -p $(@D)
	@$(BACKWARD_SIMCC) $(BACKWARD_KERNELS:$(ROOT)/%=$(SIM_OBJECTS)/%.o) $< -lm -o $@

build: $(if $(filter backward_files,$(NAMES)),$(BUILD)/backward/no_visible_key)
