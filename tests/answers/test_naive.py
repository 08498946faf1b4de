"""The answers of chapter 01, tried: tried.py."""

from tried import answers_of

Answers = answers_of("01_naive")
