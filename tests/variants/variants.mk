# Chapter 09's suites: tests/variants/test_NAME.c is the suite variants_NAME. Included by tests/Makefile, after backward.mk,
# which sets BACKWARD_OBJECTS.

VARIANTS_RULES := $(ROOT)/09_variants/rules.c

$(BUILD)/variants_%: $(HERE)/variants/test_%.c $(VARIANTS_RULES) $(BACKWARD_OBJECTS) $(SUPPORT) $(HARNESS_OBJECTS) \
		$(BUILD)/chapters/variants
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -I$(HERE)/backward -I$(ROOT)/09_variants $< $(VARIANTS_RULES) $(BACKWARD_OBJECTS) $(SUPPORT) \
		$(HARNESS_OBJECTS) $(LIBRARIES) -o $@
build: $(if $(filter variants_tensors,$(NAMES)),$(COPIES))
