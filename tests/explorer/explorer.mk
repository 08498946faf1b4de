# The explorer: what tests/explorer/test_NAME.py, the suite explorer_NAME, looks at. To be included by tests/Makefile.
#
# The page is made anew from this build's programs; the faults are chapter 05's, two of them from its own file in
# tests/faults, and, in splits.edits, chapter 08's, in the counting build, because its page shows counts and hazards.

EXPLORER_PAGE := $(BUILD)/explorer/explorer.html

$(EXPLORER_PAGE): chapters
	@mkdir -p $(@D)
	@$(ROOT)/explorer/course_page $@ > $@.log 2>&1 || { cat $@.log; exit 1; }

$(eval $(call planted,explorer/faults,05_fa2,$(BUILD)/chapters/fa2))
$(eval $(call planted,explorer/splits,08_decode,$(BUILD)/chapters/decode))

build: $(if $(filter explorer_%,$(NAMES)),$(EXPLORER_PAGE) $(PLANTED_explorer/faults) $(PLANTED_explorer/splits) \
	$(patsubst %,$(BUILD)/faults/05_fa2/fa2_row_%/program,one_tile_too_few no_barrier_before_loading))
