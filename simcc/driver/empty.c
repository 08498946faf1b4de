/* Nothing: what a compiler defines for a file of C says what it is (compilers.py, toolchain.mk). */
