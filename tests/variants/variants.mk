# Chapter 09's suites: tests/variants/test_NAME.c is the suite variants_NAME. Included by tests/Makefile, after harness.mk,
# which sets HARNESS_OBJECTS.

VARIANTS_RULES := $(ROOT)/09_variants/rules.c

$(BUILD)/variants_%: $(HERE)/variants/test_%.c $(VARIANTS_RULES) $(SUPPORT) $(HARNESS_OBJECTS)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -I$(ROOT)/09_variants $< $(VARIANTS_RULES) $(SUPPORT) $(HARNESS_OBJECTS) $(LIBRARIES) -o $@
build: $(if $(filter variants_tensors,$(NAMES)),$(COPIES))
