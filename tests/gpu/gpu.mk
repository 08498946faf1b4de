# On a GPU: `make test DEVICE=cuda`. To be included by tests/Makefile. The programs are those of the chapters, built for it.
.PHONY: cuda
cuda:
	@$(ROOT)/simcc/tests/run.py $(BUILD) $(HERE) cuda_chapters
