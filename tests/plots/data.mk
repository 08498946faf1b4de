# The suites of `make bench`, of the data it made, and of `make tables`. To be included by tests/Makefile, which sets HERE,
# ROOT, BUILD, CC, CXX, CFLAGS, SUPPORT and LIBRARIES.

PLOTS_DATA_OBJECTS := $(BUILD)/plots/data_file.o $(BUILD)/plots/data_check.o

$(PLOTS_DATA_OBJECTS): $(BUILD)/plots/%.o: $(HERE)/plots/%.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -c $< -o $@

$(addprefix $(BUILD)/plots_,data tables bench): $(BUILD)/plots_%: $(HERE)/plots/test_%.c $(PLOTS_DATA_OBJECTS) $(SUPPORT) plots-programs
	@$(CC) $(CFLAGS) $< $(PLOTS_DATA_OBJECTS) $(SUPPORT) $(LIBRARIES) -o $@

# The programs that bench and tables run, as a user has them.
.PHONY: plots-programs
plots-programs:
	@for chapter in 01_naive 02_online_softmax 04_fa1 05_fa2; do \
		$(MAKE) --no-print-directory -s -C $(ROOT)/$$chapter build DEVICE=sim CC="$(CC)" CXX="$(CXX)" || exit 1; \
	done

-include $(PLOTS_DATA_OBJECTS:.o=.d)
