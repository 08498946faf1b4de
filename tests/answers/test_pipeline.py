"""The answers of chapter 10, tried: tried.py."""

from tried import answers_of

Answers = answers_of("10_pipeline")
