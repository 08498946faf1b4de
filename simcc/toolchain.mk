# What every Makefile that compiles has in common.
#   CC CXX                  gcc unless the command line or the environment says otherwise; CXX follows CC
#   COMPILER CXX_COMPILER   their names in folders of build/, without a space or a slash: ccache_gcc, gcc_-m64
#   TOOLCHAIN               all files that a program for the simulated device is made with, besides its own

TOOLCHAIN_HERE := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := $(shell sh $(TOOLCHAIN_HERE)/counterpart.sh c++ "$(CC)")
endif

one_word = $(subst $(NO_WORD) ,_,$(strip $(notdir $1)))
COMPILER := $(call one_word,$(CC))
CXX_COMPILER := $(call one_word,$(CXX))

# Everything below, however deep: a folder that somebody adds is in it.
TOOLCHAIN := $(shell find $(TOOLCHAIN_HERE) \( -name bench -o -name build -o -name tests \) -prune -o -type f ! -name '*.md' ! -name '.*' -print)
