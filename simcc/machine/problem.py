"""How this ends when it does not end well."""

from __future__ import annotations


class Problem(Exception):
    """One line, and the exit status: 2 unusable input, 3 environment."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
