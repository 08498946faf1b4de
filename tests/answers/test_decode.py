"""The answers of chapter 08, tried: tried.py."""

from tried import answers_of

Answers = answers_of("08_decode")
