# The suites of a chapter. To be included by tests/Makefile after harness/harness.mk.
#
#   $(eval $(call chapter_suites,PART,CHAPTER,PROGRAM))
#
# tests/PART/test_NAME.c is the suite PART_NAME. Beside it are built, in $(BUILD)/PART/,
#   PROGRAM             the chapter's program on its own: without its plain twin it times nothing
#   faults/NAME         the program with a fault of tests/PART/faults planted in PROGRAM.cu (support/plant.pl)
#   NAME                tests/PART/NAME.cu, which includes PROGRAM.cu and tests its device functions

# Objects of the harness and of chapter $1, as the chapter's own Makefile built them.
chapter_objects = $$(find $(ROOT)/build/$(NAME)/sim/common $(ROOT)/build/$(NAME)/sim/$1 -name '*.o')

define chapter_suites
$1_FAULTS := $$(addprefix $(BUILD)/$1/faults/,$$(shell perl $(HERE)/support/plant.pl $(HERE)/$1/faults))
$1_UNITS := $$(patsubst $(HERE)/$1/%.cu,$(BUILD)/$1/%,$$(wildcard $(HERE)/$1/*.cu))

$(BUILD)/$1_%: $(HERE)/$1/test_%.c $(HARNESS_OBJECTS) $(SUPPORT) $(BUILD)/$1/$3 $$($1_FAULTS) $$($1_UNITS)
	@$(CC) $(CFLAGS) $$< $(HARNESS_OBJECTS) $(SUPPORT) $(LIBRARIES) -o $$@

.PHONY: $2.built
$2.built:
	@$$(MAKE) --no-print-directory -s -C $(ROOT)/$2 build DEVICE=sim CC="$(CC)" CXX="$(CXX)"

$(BUILD)/$1/$3: $2.built
	@mkdir -p $$(@D)
	@cmp -s $(ROOT)/$2/$3 $$@ || cp $(ROOT)/$2/$3 $$@

$$($1_FAULTS): $(BUILD)/$1/faults/%: $(HERE)/$1/faults $(HERE)/support/plant.pl $(BUILD)/$1/$3
	@mkdir -p $$(@D)
	@perl $(HERE)/support/plant.pl $(ROOT)/$2/$3.cu $(HERE)/$1/faults $$* > $$@.cu
	@CC="$(CC)" CXX="$(CXX)" $(SIMCC) --fast -O1 -w -I$(ROOT)/$2 $$@.cu $$(call chapter_objects,$2) -lm -o $$@

$$($1_UNITS): $(BUILD)/$1/%: $(HERE)/$1/%.cu $(BUILD)/$1/$3
	@CC="$(CC)" CXX="$(CXX)" $(SIMCC) $(STRICT) -I$(ROOT)/$2 $$< -o $$@
endef

# Mistakes planted in $3/$4.cu by the file $2, built with all counters and checks into the directory $1; $5 is the
# program without them, which changes whenever the harness or the compiler does.
#
#   $(eval $(call mistakes,DIRECTORY,FILE,CHAPTER,PROGRAM,BUILT))
#
# MISTAKES_OF_PROGRAM is the list of them.
define mistakes
MISTAKES_OF_$4 := $$(addprefix $1/,$$(shell perl $(HERE)/support/plant.pl $2))
$$(addsuffix .cu,$$(MISTAKES_OF_$4)): $1/%.cu: $2 $(HERE)/support/plant.pl $(ROOT)/$3/$4.cu
	@mkdir -p $$(@D)
	@perl $(HERE)/support/plant.pl $(ROOT)/$3/$4.cu $2 $$* > $$@.new
	@cmp -s $$@.new $$@ && rm $$@.new || mv $$@.new $$@
$$(MISTAKES_OF_$4): $1/%: $1/%.cu $5
	@CC="$(CC)" CXX="$(CXX)" $$(SIMCC) -O1 -w -I$(ROOT)/$3 $$< $$(call chapter_objects,$3) -lm -o $$@
endef

# Kept, although only patterns ask for them.
.SECONDARY: $(SUPPORT)
