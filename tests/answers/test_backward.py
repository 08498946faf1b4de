"""The answers of chapter 06, tried: tried.py."""

from tried import answers_of

Answers = answers_of("06_backward")
