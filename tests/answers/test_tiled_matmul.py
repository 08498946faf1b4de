"""The answers of chapter 03, tried: tried.py."""

from tried import answers_of

Answers = answers_of("03_tiled_matmul")
