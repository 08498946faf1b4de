# The explorer: what tests/explorer/test_NAME.py, the suite explorer_NAME, looks at. To be included by tests/Makefile.
#
# The page is made anew from this build's programs; the faults are chapter 05's, in the counting build, because its page
# shows counts and hazards.

EXPLORER_CHAPTERS := 01_naive 02_online_softmax 03_tiled_matmul 04_fa1 05_fa2 06_backward
EXPLORER_PAGE := $(BUILD)/explorer/explorer.html

.PHONY: explorer.chapters
explorer.chapters:
	@for chapter in $(EXPLORER_CHAPTERS); do \
		$(MAKE) --no-print-directory -s -C $(ROOT)/$$chapter build DEVICE=sim CC="$(CC)" CXX="$(CXX)" || exit 1; done

$(EXPLORER_PAGE): explorer.chapters
	@mkdir -p $(@D)
	@$(ROOT)/tools/explorer $@ > $@.log 2>&1 || { cat $@.log; exit 1; }

$(ROOT)/05_fa2/fa2: explorer.chapters
	@:
$(eval $(call planted,explorer/faults,05_fa2,$(ROOT)/05_fa2/fa2))

build: $(if $(filter explorer_%,$(SUITES)),$(EXPLORER_PAGE) $(PLANTED_explorer/faults))
