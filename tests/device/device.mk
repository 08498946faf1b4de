# The device under the chapters: tests/device/test_NAME.py is the suite device_NAME. To be included by tests/Makefile after
# the chapters' rules.

build: $(if $(filter device_chapters device_toolchain,$(NAMES)),chapters)

# A GPU where there is none (gpu.c): every chapter with the side of the harness that is compiled for CUDA; the rest of
# it and the kernels are the objects that chapters are built of.
GPU := $(BUILD)/device/gpu
GPU_SIDE := measure/device measure/counts run/details report/provenance
GPU_WRAPPED := chapter_main clock_gettime \
	$(addprefix cuda,GetDeviceCount GetDeviceProperties MemGetInfo EventElapsedTime Malloc Memset)
$(GPU)/%.o: $(ROOT)/common/%.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -DDEVICE_CUDA -c $< -o $@
$(GPU)/gpu.o: $(HERE)/device/gpu.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -DDEVICE_CUDA -c $< -o $@
$(GPU)/libcublas.so: $(HERE)/device/cublas.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -fPIC -shared $< -o $@
gpu_program = $(GPU)/$(basename $(notdir $(filter $(ROOT)/$1/%,$(PROGRAMS))))
define gpu_rule
$(gpu_program): $(GPU_SIDE:%=$(GPU)/%.o) $(GPU)/gpu.o $(BUILD)/chapters/$(notdir $(gpu_program))
	@SIM_LIB=$(LIBSIM) CC="$(CC)" CXX="$(CXX)" $(SIMCC) $(SANITIZERS) -w $$(filter %.o,$$^) \
		$$(filter-out $(GPU_SIDE:%=$(SIM_OBJECTS)/common/%.o),$(call chapter_objects,$1)) \
		$(patsubst $(ROOT)/%,$(SIM_OBJECTS)/%.o,$(wildcard $(ROOT)/$1/*.cu)) \
		$(GPU_WRAPPED:%=-Wl,--wrap=%) -lm -lpthread -ldl -o $$@
build: $$(if $$(filter device_gpu,$$(NAMES)),$(gpu_program) $(GPU)/libcublas.so)
endef
$(foreach chapter,$(ALL_CHAPTERS),$(eval $(call gpu_rule,$(chapter))))
-include $(GPU_SIDE:%=$(GPU)/%.d) $(GPU)/gpu.d
