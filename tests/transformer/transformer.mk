# Chapter 07's suites: tests/transformer/test_NAME.py is the suite transformer_NAME. Included by tests/Makefile, which sets
# HERE, ROOT, BUILD, CC, CXX and CFLAGS, after chapter.mk.

TRANSFORMER := $(ROOT)/07_transformer

# The forward pass's fillings, under a main of our own.
TRANSFORMER_KERNELS := $(patsubst $(ROOT)/%,$(SIM_OBJECTS)/%.o,$(wildcard $(TRANSFORMER)/*.cu))
TRANSFORMER_OBJECTS := $(filter-out %/07_transformer/chapter.o,$(call chapter_objects,07_transformer))
$(BUILD)/transformer/fillings.o: $(HERE)/transformer/programs/fillings.c $(BUILD)/chapters/transformer
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -DDEVICE_SIM -I$(TRANSFORMER) -c $< -o $@
$(BUILD)/transformer/fillings: $(BUILD)/transformer/fillings.o
	@SIM_LIB=$(LIBSIM) CC="$(CC)" CXX="$(CXX)" $(SIMCC) -w $^ $(TRANSFORMER_KERNELS) $(TRANSFORMER_OBJECTS) -lm -lpthread -o $@

build: $(if $(filter transformer_%,$(NAMES)),$(COPIES))
build: $(if $(filter transformer_speech,$(NAMES)),$(BUILD)/transformer/fillings)
