# The suite of the pictures. To be included by tests/Makefile, which sets HERE, ROOT, BUILD, CC, CFLAGS, SUPPORT and
# LIBRARIES.
$(BUILD)/plots_pictures: $(HERE)/plots/test_pictures.c $(HERE)/plots/svg_text.c $(HERE)/plots/svg_text.h $(SUPPORT)
	@$(MAKE) --no-print-directory -s -C $(ROOT)/plots programs CC="$(CC)"
	@$(CC) $(CFLAGS) -I$(HERE)/plots $(filter %.c %.o,$^) $(LIBRARIES) -o $@
