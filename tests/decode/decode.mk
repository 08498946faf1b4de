# Chapter 08's suites: tests/decode/test_NAME.py is the suite decode_NAME. Included by tests/Makefile, after chapter.mk.

build: $(if $(filter decode_%,$(NAMES)),$(COPIES))
