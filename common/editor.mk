# For editors with clangd: compile_commands.json, from the commands of make itself. The course's Makefile and a student's
# include it.
.PHONY: editor
editor:
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -s -C $$chapter commands || exit 1; done | sort -u | \
		sed '1s/^/[\n/; $$!s/$$/,/; $$s/$$/\n]/' > compile_commands.json
	@echo "compile_commands.json: how clangd reads $$(grep -c '"file"' compile_commands.json) files"
