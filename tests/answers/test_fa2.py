"""The answers of chapter 05, tried: tried.py."""

from tried import answers_of

Answers = answers_of("05_fa2")
