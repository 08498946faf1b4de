# The harness's unit tests: tests/harness/test_NAME.c is the suite harness_NAME. To be included by tests/Makefile,
# which sets HERE, ROOT, BUILD, CC, CFLAGS, SUPPORT and LIBRARIES. The parts tested here need no device.

HARNESS_SOURCES := $(wildcard $(addprefix $(ROOT)/common/,support/*.c problem/*.c verify/*.c)) \
        $(addprefix $(ROOT)/common/,measure/time_summary.c measure/plain_build.c measure/cpu_name.c measure/floors.c \
        report/command.c report/json.c report/table.c run/host_code.c)
HARNESS_OBJECTS := $(patsubst $(ROOT)/common/%.c,$(BUILD)/harness/%.o,$(HARNESS_SOURCES)) $(BUILD)/harness/gpus.o
HARNESS_VARIANTS := $(BUILD)/harness/attention_variants.o

$(BUILD)/harness/%.o: $(ROOT)/common/%.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -c $< -o $@

$(BUILD)/harness/%.o: $(ROOT)/simcc/%.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -c $< -o $@

$(BUILD)/harness/%.o: $(HERE)/harness/%.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -c $< -o $@

$(BUILD)/harness_%: $(HERE)/harness/test_%.c $(HARNESS_OBJECTS) $(HARNESS_VARIANTS) $(SUPPORT)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $< $(HARNESS_OBJECTS) $(HARNESS_VARIANTS) $(SUPPORT) $(LIBRARIES) -o $@

# The counts are collected and compared without a device.
$(BUILD)/harness_counts $(BUILD)/harness_compare $(BUILD)/harness/run/compare.o $(BUILD)/harness/measure/counts.o: private CFLAGS += -DDEVICE_SIM
$(BUILD)/harness_counts: private HARNESS_OBJECTS += $(BUILD)/harness/measure/counts.o
$(BUILD)/harness_counts: $(BUILD)/harness/measure/counts.o
$(BUILD)/harness_compare: private HARNESS_OBJECTS += $(BUILD)/harness/run/compare.o
$(BUILD)/harness_compare: $(BUILD)/harness/run/compare.o

$(BUILD)/harness_report: private LIBRARIES += -lutil # forkpty, where the C library is old

$(BUILD)/harness_variants: private HARNESS_OBJECTS += $(BUILD)/harness/closed_forms.o
$(BUILD)/harness_variants: $(BUILD)/harness/closed_forms.o

-include $(HARNESS_OBJECTS:.o=.d) $(HARNESS_VARIANTS:.o=.d)
.SECONDARY: $(HARNESS_OBJECTS) $(HARNESS_VARIANTS)
