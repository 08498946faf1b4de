# Chapter 08's suites: tests/decode/test_NAME.py is the suite decode_NAME. Included by tests/Makefile, after chapter.mk.

DECODE := $(ROOT)/08_decode

# The kernels under a main of our own, which has a cache of its own.
DECODE_KERNELS := $(patsubst $(ROOT)/%,$(SIM_OBJECTS)/%.o,$(wildcard $(DECODE)/*.cu))
$(BUILD)/decode/pages.o: $(HERE)/decode/programs/pages.c $(BUILD)/chapters/decode
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -I$(DECODE) -c $< -o $@
$(BUILD)/decode/pages: $(BUILD)/decode/pages.o
	@SIM_LIB=$(LIBSIM) CC="$(CC)" CXX="$(CXX)" $(SIMCC) -w $< $(DECODE_KERNELS) -lm -lpthread -o $@

build: $(if $(filter decode_%,$(NAMES)),$(COPIES)) $(if $(filter decode_steps,$(NAMES)),$(BUILD)/decode/pages)
