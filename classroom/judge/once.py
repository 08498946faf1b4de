"""Things that are made once, whoever asks first; the others wait for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Once(Generic[Made]):
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[Hashable, tuple[threading.Event, list[Made], list[BaseException]]] = {}

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What make() returned for this key; what it raised is raised again."""
        with self._lock:
            mine = key not in self._made
            done, made, failed = self._made.setdefault(key, (threading.Event(), [], []))
        if mine:
            try:
                made.append(make())
            except BaseException as error:
                failed.append(error)
            finally:
                done.set()
        done.wait()
        if failed:
            raise failed[0]
        return made[0]

    def forget(self, key: Hashable) -> None:
        with self._lock:
            self._made.pop(key, None)
