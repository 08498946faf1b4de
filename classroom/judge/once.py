"""Things that are made once, whoever asks first; the others wait for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Once(Generic[Made]):
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[Hashable, Future[Made]] = {}

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What make() returned for this key. What it raised, all who waited get; who comes later tries again."""
        with self._lock:
            mine = key not in self._made
            made = self._made.setdefault(key, Future())
        if mine:
            try:
                made.set_result(make())
            except BaseException as error:
                self.forget(key)
                made.set_exception(error)
        return made.result()

    def forget(self, key: Hashable) -> None:
        with self._lock:
            self._made.pop(key, None)
