# Grading. Included by the course's Makefile and by a student's (README.md has the rules).
.PHONY: grade check-submission gradescope similar

# Values reach the shell as they were typed: make hands its command line down in the environment.
GRADE = CC="$(or $(filter gcc% clang% %/gcc %/clang,$(CC)),gcc)" python3 classroom/grade.py

grade:
	@$(GRADE) $${SUBMISSIONS+--submissions="$$SUBMISSIONS"} $${ROSTER+--roster="$$ROSTER"} $${DUE+--due="$$DUE"} \
		$${PENALTY+--penalty="$$PENALTY"} $${ASSIGNMENT+--assignment="$$ASSIGNMENT"} $${RESUME+--resume="$$RESUME"} \
		$${REGRADE+--regrade="$$REGRADE"} $${SUBMISSION+--submission="$$SUBMISSION"} $${KEY+--key="$$KEY"} \
		$${RESULTS+--results="$$RESULTS"} $${JUNIT+--junit="$$JUNIT"} $${ONLY+--only="$$ONLY"} $${REQUIRE+--require="$$REQUIRE"}

check-submission:
	@$(GRADE) --check $${SUBMISSION+--submission="$$SUBMISSION"} $${KEY+--key="$$KEY"} $${ONLY+--only="$$ONLY"}

gradescope:
	@test -f classroom/autograder.py || { echo "gradescope: this tree was handed out; only the course makes autograders" >&2; exit 2; }
	@python3 classroom/autograder.py $${OUT+--out="$$OUT"} $${KEY+--key="$$KEY"}

similar:
	@test -f classroom/similar.py || { echo "similar: this tree was handed out; only the course compares" >&2; exit 2; }
	@python3 classroom/similar.py $${SUBMISSIONS+--submissions="$$SUBMISSIONS"} $${RESULTS+--results="$$RESULTS"} \
		$${KEY+--key="$$KEY"} $${ONLY+--only="$$ONLY"} $${ROSTER+--roster="$$ROSTER"}
