"""The answers of chapter 04, tried: tried.py."""

from tried import answers_of

Answers = answers_of("04_fa1")
