# Chapter 09's suites: tests/variants/test_NAME.c is the suite variants_NAME. Included by tests/Makefile, after fa.mk and
# backward.mk, which set FA_SUPPORT and BACKWARD_OBJECTS.

VARIANTS_SUPPORT := $(HERE)/variants/variants_run.c $(ROOT)/09_variants/rules.c

$(BUILD)/variants_%: $(HERE)/variants/test_%.c $(VARIANTS_SUPPORT) $(FA_SUPPORT) $(BACKWARD_OBJECTS) $(SUPPORT) $(HARNESS_OBJECTS) \
		$(addprefix $(BUILD)/chapters/,variants fa1 fa2 backward decode)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -I$(HERE)/fa -I$(HERE)/backward -I$(ROOT)/09_variants $< $(VARIANTS_SUPPORT) $(FA_SUPPORT) $(BACKWARD_OBJECTS) $(SUPPORT) \
		$(HARNESS_OBJECTS) $(LIBRARIES) -o $@

