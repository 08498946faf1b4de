# The explorer: tests/explorer/test_NAME.c is the suite explorer_NAME. To be included by tests/Makefile.
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
	@cd $(ROOT) && perl plots/explorer.pl $@ > $@.log 2>&1 || { cat $@.log; exit 1; }

$(ROOT)/05_fa2/fa2: explorer.chapters
	@:
$(eval $(call planted,explorer/faults,05_fa2,$(ROOT)/05_fa2/fa2))

$(BUILD)/explorer/browser.o: $(HERE)/explorer/browser.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -c $< -o $@

$(BUILD)/explorer_%: $(HERE)/explorer/test_%.c $(BUILD)/explorer/browser.o $(SUPPORT) $(EXPLORER_PAGE) \
		$(PLANTED_explorer/faults)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $< $(BUILD)/explorer/browser.o $(SUPPORT) $(LIBRARIES) -o $@

-include $(BUILD)/explorer/browser.d
