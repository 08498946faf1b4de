# The classroom: tests/classroom/test_NAME.c is the suite classroom_NAME. To be included by tests/Makefile, which sets
# HERE, ROOT, BUILD, CC, CXX, CFLAGS, SUPPORT and LIBRARIES, after harness.mk, which sets HARNESS_OBJECTS.

CLASSROOM_OBJECTS := $(patsubst $(HERE)/classroom/%.c,$(BUILD)/classroom/%.o,\
        $(filter-out $(HERE)/classroom/test_%.c,$(wildcard $(HERE)/classroom/*.c)))
CLASSROOM_CHAPTERS := $(notdir $(patsubst %/,%,$(wildcard $(ROOT)/0*_*/)))

$(BUILD)/classroom/%.o: $(HERE)/classroom/%.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -c $< -o $@

# Hand-outs are linked with the chapters' objects, as their own make built them.
.PHONY: classroom-chapters
classroom-chapters:
	@for chapter in $(CLASSROOM_CHAPTERS); do \
		$(MAKE) --no-print-directory -s -C $(ROOT)/$$chapter build DEVICE=sim CC="$(CC)" CXX="$(CXX)" || exit 1; \
	done

$(BUILD)/classroom_%: $(HERE)/classroom/test_%.c $(HARNESS_OBJECTS) $(CLASSROOM_OBJECTS) $(SUPPORT) | classroom-chapters
	@$(CC) $(CFLAGS) $< $(HARNESS_OBJECTS) $(CLASSROOM_OBJECTS) $(SUPPORT) $(LIBRARIES) -o $@

-include $(CLASSROOM_OBJECTS:.o=.d)
.SECONDARY: $(CLASSROOM_OBJECTS)
