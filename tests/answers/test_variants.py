"""The answers of chapter 09, tried: tried.py."""

from tried import answers_of

Answers = answers_of("09_variants")
