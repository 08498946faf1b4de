# Chapter 07's suites: tests/transformer/test_NAME.c is the suite transformer_NAME. Included by tests/Makefile, which sets
# HERE, ROOT, BUILD, CC, CXX, CFLAGS, SUPPORT and LIBRARIES, after chapter.mk.

TRANSFORMER := $(ROOT)/07_transformer

$(BUILD)/transformer_%: $(HERE)/transformer/test_%.c $(SUPPORT) $(BUILD)/chapters/transformer
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $< $(SUPPORT) $(LIBRARIES) -o $@

# The forward pass's fillings, under a main of our own.
TRANSFORMER_KERNELS := $(patsubst $(ROOT)/%,$(SIM_OBJECTS)/%.o,$(wildcard $(TRANSFORMER)/*.cu))
TRANSFORMER_OBJECTS := $(filter-out %/07_transformer/chapter.o,$(call chapter_objects,07_transformer))
$(BUILD)/transformer/fillings.o: $(HERE)/transformer/programs/fillings.c $(BUILD)/chapters/transformer
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -DDEVICE_SIM -I$(TRANSFORMER) -c $< -o $@
link_fillings = SIM_LIB=$(LIBSIM) CC="$(CC)" CXX="$(CXX)" $(SIMCC) -w $(BUILD)/transformer/fillings.o $(TRANSFORMER_KERNELS)
$(BUILD)/transformer/fillings: $(BUILD)/transformer/fillings.o
	@$(link_fillings) $(TRANSFORMER_OBJECTS) -lm -lpthread -o $@

# Faults in the pass of the host, under the main of the fillings.
PLANTED_IN_C := $(patsubst %,$(BUILD)/transformer/faults_c/%/fillings,\
		$(shell sed -n 's/^@ \([^ ]*\).*/\1/p' $(HERE)/transformer/faults_c.edits))
$(BUILD)/transformer/faults_c/.planted: $(HERE)/transformer/faults_c.edits $(ROOT)/tools/plant $(ROOT)/tools/lib/edits.py \
		$(BUILD)/chapters/transformer
	@$(ROOT)/tools/plant $< --c --from $(ROOT)/common/model --to $(@D)
	@touch $@
# plain.c is compiled twice, as reference.c, too: a fault that is called after one of the two is in that one alone.
planted_types = $(if $(findstring /plain_,$@),^plain,$(if $(findstring /reference_,$@),^reference,.))
$(PLANTED_IN_C:fillings=planted): $(BUILD)/transformer/faults_c/.planted ;
$(PLANTED_IN_C): %/fillings: %/planted $(BUILD)/transformer/fillings.o
	@cd $(@D) && grep '$(planted_types)' planted > sources && \
		for source in $$(cat sources); do $(CC) $(CFLAGS) -w -c $$source || exit 1; done && \
		sed 's|\(.*\)c$$|/common/model/\1o|' sources > replaced && \
		$(link_fillings) *.o $$(printf '%s\n' $(TRANSFORMER_OBJECTS) | grep -vFf replaced) -lm -lpthread -o $(@F)

$(BUILD)/transformer_speech: $(BUILD)/transformer/fillings
build: $(if $(filter transformer_host,$(NAMES)),$(BUILD)/transformer/fillings $(PLANTED_IN_C))
