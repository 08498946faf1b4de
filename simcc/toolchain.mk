# What every Makefile that compiles has in common.
#   CC CXX                  gcc unless the command line or the environment says otherwise; CXX follows CC
#   COMPILER CXX_COMPILER   their names in folders of build/: without a space or a slash (ccache_gcc, gcc_-m64), and without a =, which
#                           in a file of dependencies would make a variable of a rule (gcc_-march_native)
#   TOOLCHAIN               all files that a program for the simulated device is made with, besides its own

TOOLCHAIN_HERE := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))

# The python3 of a version manager (pyenv, asdf) is a script that looks for the real one at every start, for 0.1 s. Here it
# is asked once, as every script is: where the real one lies in another folder, that folder comes first.
ifndef PYTHON_FOUND
export PYTHON_FOUND := $(shell found=$$(command -v python3) || { echo none; exit; }; head -c 2 "$$found" | grep -q ! && \
	real=$$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) && \
	[ "$${real%/*}" != "$${found%/*}" ] && echo "$${real%/*}" || echo own)
ifneq ($(filter /%,$(PYTHON_FOUND)),)
export PATH := $(PYTHON_FOUND):$(PATH)
endif
ifeq ($(PYTHON_FOUND)$(filter clean help print uninstall,$(MAKECMDGOALS)),none)
$(error python3 is not installed, and simcc, which compiles the kernels, is written in it: ./setup.sh installs it)
endif
endif

# Without Python's start where the answer is known.
CXX_OF_gcc := g++
CXX_OF_clang := clang++
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := $(or $(CXX_OF_$(CC)),$(shell python3 $(TOOLCHAIN_HERE)/driver/counterpart.py c++ "$(CC)"))
endif

COMMA := ,

# What is neither gcc nor clang compiles nothing here: said once, at the start. These goals compile nothing.
ifneq ($(COMPILERS_FOUND),$(CC), $(CXX))
ifneq ($(filter-out clean help print uninstall,$(or $(MAKECMDGOALS),all)),)
WRONG_COMPILER := $(strip $(shell for compiler in "$(CC)" "$(CXX)"; do \
	LC_ALL=C $$compiler --version 2>&1 | grep -qiE "clang|see the source for copying conditions" || { echo "$$compiler"; break; }; done))
ifneq ($(WRONG_COMPILER),)
$(error CC='$(CC)' CXX='$(CXX)': '$(WRONG_COMPILER)' is neither gcc nor clang, or is not installed; expected one of them)
endif
# The names of these say of themselves that one compiles C, the other C++, and for this machine; others are asked.
ifneq ($(filter-out gcc/g++ clang/clang++,$(CC)/$(CXX)),)
defines = $(shell $1 -dM -E $(TOOLCHAIN_HERE)/driver/empty.c 2>/dev/null | grep -oE '\b(__cplusplus|__x86_64__|__aarch64__|__ILP32__)\b' | sed s/__aarch64__/__x86_64__/)
OF_CC := $(call defines,$(CC))
OF_CXX := $(call defines,$(CXX))
not_64 = $(if $(filter-out __cplusplus,$2),$(if $(filter-out __cplusplus __x86_64__,$2),$1),$1)
NOT_64 := $(or $(call not_64,CC='$(CC)',$(OF_CC)),$(call not_64,CXX='$(CXX)',$(OF_CXX)))
WRONG_CODE := $(or \
	$(if $(filter __cplusplus,$(OF_CC)),CC='$(CC)' is a C++ compiler; expected gcc or clang),\
	$(if $(filter __cplusplus,$(OF_CXX)),,CXX='$(CXX)' is a C compiler$(COMMA) which does not link C++; expected g++ or clang++),\
	$(if $(NOT_64),$(NOT_64) makes no 64-bit code for x86-64 or ARM64$(COMMA) and the simulated device runs no other))
ifneq ($(WRONG_CODE),)
$(error $(WRONG_CODE))
endif
endif
export COMPILERS_FOUND := $(CC), $(CXX)
endif
endif

one_word = $(subst =,_,$(subst $(NO_WORD) ,_,$(strip $(notdir $1))))
COMPILER := $(call one_word,$(CC))
CXX_COMPILER := $(call one_word,$(CXX))

# Everything below, however deep: a folder that somebody adds is in it.
TOOLCHAIN := $(addprefix $(TOOLCHAIN_HERE)/,Makefile gpus.c gpus.h path.mk selftest.cu simcc simcc.1 toolchain.mk) \
	$(shell find $(addprefix $(TOOLCHAIN_HERE)/,engine front include machine driver) -name __pycache__ -prune -o \
	-type f ! -name '*.md' ! -name '.*' ! -name '*[[:space:]]*' -print)
