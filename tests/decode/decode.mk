# Chapter 08's suites: tests/decode/test_NAME.c is the suite decode_NAME. Included by tests/Makefile, after chapter.mk.

DECODE := $(ROOT)/08_decode

$(BUILD)/decode_%: $(HERE)/decode/test_%.c $(SUPPORT) $(HARNESS_OBJECTS) $(BUILD)/chapters/decode
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $< $(SUPPORT) $(HARNESS_OBJECTS) $(LIBRARIES) -o $@

# The kernels under a main of our own, which has a cache of its own.
DECODE_KERNELS := $(patsubst $(ROOT)/%,$(SIM_OBJECTS)/%.o,$(wildcard $(DECODE)/*.cu))
$(BUILD)/decode/pages.o: $(HERE)/decode/programs/pages.c $(BUILD)/chapters/decode
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -I$(DECODE) -c $< -o $@
$(BUILD)/decode/pages: $(BUILD)/decode/pages.o
	@SIM_LIB=$(LIBSIM) CC="$(CC)" CXX="$(CXX)" $(SIMCC) -w $< $(DECODE_KERNELS) -lm -lpthread -o $@

build: $(if $(filter decode_steps,$(NAMES)),$(BUILD)/decode/pages $(COPIES))
