# What suites of C share to run a chapter. To be included by tests/Makefile, which sets HERE, BUILD, CC and CFLAGS.

FA_SUPPORT := $(BUILD)/fa/chapter_run.o

$(FA_SUPPORT): $(HERE)/fa/chapter_run.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -c $< -o $@
-include $(FA_SUPPORT:.o=.d)
