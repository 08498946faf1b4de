"""The answers of chapter 07, tried: tried.py."""

from tried import answers_of

Answers = answers_of("07_transformer")
