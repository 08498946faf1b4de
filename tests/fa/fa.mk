# The FlashAttention chapters: tests/fa/test_NAME.c is the suite fa_NAME. To be included by tests/Makefile, which sets
# HERE, ROOT, BUILD, CC, CXX, CFLAGS, SUPPORT and LIBRARIES.

FA_PROGRAMS := $(addprefix $(BUILD)/chapters/,naive fa1 fa2)
FA_SUPPORT := $(BUILD)/fa/chapter_run.o

$(FA_SUPPORT): $(HERE)/fa/chapter_run.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -c $< -o $@

$(BUILD)/fa_%: $(HERE)/fa/test_%.c $(FA_SUPPORT) $(HARNESS_OBJECTS) $(SUPPORT) $(FA_PROGRAMS)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $< $(FA_SUPPORT) $(HARNESS_OBJECTS) $(SUPPORT) $(LIBRARIES) -o $@

# Their faults, with the header lines that test_faults.c reads, and their mistakes.
$(eval $(call planted,fa/faults_fa1,04_fa1,$(BUILD)/chapters/fa1))
$(eval $(call planted,fa/faults_fa2,05_fa2,$(BUILD)/chapters/fa2))
$(eval $(call planted,fa/cheats,05_fa2,$(BUILD)/chapters/fa2))
$(eval $(call planted,fa/mistakes_fa1,04_fa1,$(BUILD)/chapters/fa1))
$(eval $(call planted,fa/mistakes_fa2,05_fa2,$(BUILD)/chapters/fa2))
$(BUILD)/fa/%.tsv: $(HERE)/fa/%.edits $(ROOT)/tools/plant $(ROOT)/tools/lib/edits.py
	@mkdir -p $(@D)
	@$(ROOT)/tools/plant $< --table options says > $@
$(BUILD)/fa_faults: $(PLANTED_fa/faults_fa1) $(BUILD)/fa/faults_fa1.tsv
$(BUILD)/fa_faults: $(PLANTED_fa/faults_fa2) $(BUILD)/fa/faults_fa2.tsv
$(BUILD)/fa_cheats: $(PLANTED_fa/cheats) $(BUILD)/fa/cheats.tsv
$(BUILD)/fa_mistakes: $(PLANTED_fa/mistakes_fa1) $(PLANTED_fa/mistakes_fa2)

# A kernel that prints, with the plain build that takes its times.
$(eval $(call planted,fa/prints,04_fa1,$(BUILD)/chapters/fa1))
$(BUILD)/fa_faults: $(if $(LONG),$(PLANTED_fa/prints) $(PLANTED_fa/prints:=.fast))
-include $(FA_SUPPORT:.o=.d)
