# The suites of what needs a GPU, as far as it can be tested without one. To be included by tests/Makefile.
OCCUPANCY := $(firstword $(wildcard $(addsuffix /cuda_occupancy.h,/usr/local/cuda/include \
        $(patsubst %/bin/nvcc,%/include,$(shell command -v nvcc 2>/dev/null)))))
$(BUILD)/gpu_%: $(HERE)/gpu/test_%.c $(SUPPORT)
	@$(CC) $(CFLAGS) $(if $(OCCUPANCY),-DHAVE_OCCUPANCY -isystem $(dir $(OCCUPANCY))) $< $(SUPPORT) $(LIBRARIES) -o $@

# On a GPU: `make test DEVICE=cuda`. The programs are those of the chapters, built for it.
$(BUILD)/cuda_%: $(HERE)/cuda/test_%.c $(SUPPORT)
	@$(CC) $(CFLAGS) $< $(SUPPORT) $(LIBRARIES) -o $@

HAVE_CRITERION = $(shell printf '\043include <criterion/criterion.h>\n\043include <cjson/cJSON.h>\n' | \
        $(CC) -E -x c - >/dev/null 2>&1 && echo yes)
.PHONY: cuda
cuda:
ifeq ($(HAVE_CRITERION),yes)
	@$(MAKE) --no-print-directory -s $(BUILD)/cuda_chapters
	@$(HERE)/run.sh $(BUILD) $(HERE)/expected.tsv cuda_chapters
else
	@echo "Criterion or cJSON is not installed: the same cases by gpu/verify.pl"
	@perl $(ROOT)/gpu/verify.pl
endif
