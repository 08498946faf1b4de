# Hand-outs and hints. Included by the course's Makefile and by a student's; a student's tree has no handout.py.
.PHONY: handout hint

# OUT and CLASS reach the shell as they were typed: make hands its command line down in the environment.
handout:
	@test -f classroom/handout.py || { echo "handout: this tree was handed out; only the course makes hand-outs" >&2; exit 2; }
	@test -n "$$OUT" || { echo "handout: where to? make handout OUT=directory [CLASS=key] [CHAPTERS=01,02]" >&2; exit 2; }
	@python3 classroom/handout.py "$$OUT" $${CLASS+--class="$$CLASS"} $${CHAPTERS+--chapters="$$CHAPTERS"}

hint:
	@python3 classroom/hint.py
