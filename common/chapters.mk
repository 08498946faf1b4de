# The chapters, in their order: every directory named like 01_naive that has a Makefile. tools/lib/chapters.py finds them
# the same way; nothing else has a pattern of its own.
ALL_CHAPTERS := $(sort $(notdir $(patsubst %/Makefile,%,\
	$(wildcard $(dir $(lastword $(MAKEFILE_LIST)))../[0-9][0-9]_*/Makefile))))
