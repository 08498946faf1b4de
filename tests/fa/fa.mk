# The FlashAttention chapters: tests/fa/test_NAME.c is the suite fa_NAME. To be included by tests/Makefile, which sets
# HERE, ROOT, BUILD, CC, CXX, CFLAGS, SUPPORT and LIBRARIES.
#
# The programs are copied, so that they stay what they are while the chapters are built with another compiler.

FA_PROGRAMS := $(addprefix $(BUILD)/fa/,naive fa1 fa2)
FA_SUPPORT := $(BUILD)/fa/chapter_run.o

$(BUILD)/fa/naive: FA_CHAPTER := 01_naive
$(BUILD)/fa/fa1: FA_CHAPTER := 04_fa1
$(BUILD)/fa/fa2: FA_CHAPTER := 05_fa2
$(FA_PROGRAMS): FORCE_FA
	@mkdir -p $(@D)
	@$(MAKE) --no-print-directory -s -C $(ROOT)/$(FA_CHAPTER) build DEVICE=sim CC="$(CC)" CXX="$(CXX)"
	@cmp -s $(ROOT)/$(FA_CHAPTER)/$(@F) $@ || cp $(ROOT)/$(FA_CHAPTER)/$(@F) $@

$(FA_SUPPORT): $(HERE)/fa/chapter_run.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -c $< -o $@

$(BUILD)/fa_%: $(HERE)/fa/test_%.c $(FA_SUPPORT) $(SUPPORT) $(FA_PROGRAMS)
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $< $(FA_SUPPORT) $(SUPPORT) $(LIBRARIES) -o $@

# Their faults, with the header lines that test_faults.c reads, and their mistakes.
$(eval $(call planted,fa/faults_fa1,04_fa1,$(BUILD)/fa/fa1))
$(eval $(call planted,fa/faults_fa2,05_fa2,$(BUILD)/fa/fa2))
$(eval $(call planted,fa/mistakes_fa1,04_fa1,$(BUILD)/fa/fa1))
$(eval $(call planted,fa/mistakes_fa2,05_fa2,$(BUILD)/fa/fa2))
$(BUILD)/fa/%.tsv: $(HERE)/fa/%.edits $(ROOT)/tools/plant $(ROOT)/tools/lib/edits.py
	@mkdir -p $(@D)
	@$(ROOT)/tools/plant $< --table options says > $@
$(BUILD)/fa_faults: $(PLANTED_fa/faults_fa1) $(BUILD)/fa/faults_fa1.tsv
$(BUILD)/fa_faults: $(PLANTED_fa/faults_fa2) $(BUILD)/fa/faults_fa2.tsv
$(BUILD)/fa_mistakes: $(PLANTED_fa/mistakes_fa1) $(PLANTED_fa/mistakes_fa2)

# A kernel that prints, with the plain build that takes its times.
$(eval $(call planted,fa/prints,04_fa1,$(BUILD)/fa/fa1))
$(BUILD)/fa_faults: $(PLANTED_fa/prints) $(PLANTED_fa/prints:=.fast)
.PHONY: FORCE_FA
-include $(FA_SUPPORT:.o=.d)
