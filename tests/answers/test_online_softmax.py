"""The answers of chapter 02, tried: tried.py."""

from tried import answers_of

Answers = answers_of("02_online_softmax")
