# What is planted in the chapters' kernels: faults/CHAPTER.edits is the suite faults_CHAPTER. Included by tests/Makefile
# after support/chapter.mk, which has `planted`.

program_of = $(BUILD)/chapters/$(notdir $(filter $(ROOT)/$1/%,$(PROGRAMS)))
$(foreach file,$(patsubst $(HERE)/%.edits,%,$(wildcard $(HERE)/faults/[0-9]*.edits)),\
	$(eval $(call planted,$(file),$(notdir $(file)),$(call program_of,$(notdir $(file))))))
# A kernel that prints, with the plain build that takes its times.
$(eval $(call planted,faults/prints,04_fa1,$(BUILD)/chapters/fa1))

build: $(foreach suite,$(patsubst faults_%,faults/%,$(NAMES)),$(PLANTED_$(suite)))
build: $(if $(filter faults_%,$(NAMES)),$(COPIES))
# failed_runs takes some of each.
build: $(if $(filter faults_failed_runs,$(NAMES)),$(foreach chapter,00_gpu 02_online_softmax 04_fa1 05_fa2 07_transformer,\
	$(PLANTED_faults/$(chapter))) $(PLANTED_faults/prints) $(if $(LONG),$(PLANTED_faults/prints:=.fast)))
