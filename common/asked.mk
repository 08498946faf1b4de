# The variables of a command line that something here reads; another one is a slip: make would ignore it, and `make grade
# ZIP=anna.zip` would grade something else. Included first by the Makefiles that people call. A new variable joins a list.
OF_ALL := ARCH ARGS CC CFLAGS CXX DEVICE LIBRARIES LONG NVCC NVDISASM PATH SANITIZERS V WERROR
OF_CHAPTERS := DEMO DRAWN HARNESS INPUTS KERNEL MINE MODEL N NAME ORDERS ORIGINAL OWN_TIMEOUT PTXAS_ARCHS PTXAS_FULL PTXAS_RUNS RAGGED \
	ROOT SASS_FULL SHAPES SPOKEN
OF_COURSE := ADDRESS CHAPTERS DATA DIMS FIX FORCE GPU OUT PNG REMAKE REPEAT SIZES SUITES T
# Of these goals, which take no others.
OF_grade := ASSIGNMENT CC CXX DUE JUNIT KEY ONLY PENALTY REGRADE REQUIRE RESULTS RESUME ROSTER SUBMISSION SUBMISSIONS
OF_check-submission := CC CXX KEY ONLY SUBMISSION
OF_gradescope := KEY OUT
OF_handout := CHAPTERS CLASS OUT
OF_hint := LEVEL N
OF_similar := KEY ONLY RESULTS ROSTER SUBMISSIONS
# And what programs read from their environment, which a command line joins.
OF_PROGRAMS := CLICOLOR_FORCE CUDA_% EXPLORER_% GRADE_% LANG LC_% NO_COLOR PATH PYTHON% SIM_% TERM TMPDIR

READ := $(foreach goal,$(or $(MAKECMDGOALS),all),$(or $(OF_$(goal)),$(OF_ALL) $(OF_CHAPTERS) $(OF_COURSE)))
SLIPS := $(sort $(filter-out $(READ) $(OF_PROGRAMS),$(foreach name,$(.VARIABLES),\
	$(if $(filter command,$(firstword $(origin $(name)))),$(name)))))
ifneq ($(SLIPS),)
$(error $(SLIPS:%=%=): not read by 'make $(MAKECMDGOALS)', which was not begun; it reads $(sort $(READ)))
endif
