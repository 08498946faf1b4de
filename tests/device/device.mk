# The device under the chapters: tests/device/test_NAME.c or .py is the suite device_NAME. device_trace needs the chapters'
# programs. To be included by tests/Makefile after the chapters' rules.

$(BUILD)/device_%: $(HERE)/device/test_%.c $(SUPPORT)
	@$(CC) $(CFLAGS) $< $(SUPPORT) $(LIBRARIES) -o $@

build: $(if $(filter device_trace,$(NAMES)),$(COPIES))
$(BUILD)/device_chapters: chapters
$(BUILD)/device_toolchain: | chapters
