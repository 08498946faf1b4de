"""The answers of chapter 00, tried: tried.py."""

from tried import answers_of

Answers = answers_of("00_gpu")
