"""Connections that were used for reading and wait to be used again.

To open a connection costs fifty times what a small query does, and a page asks two dozen of them. That is nothing for one
person and the most of the work for a class, whose server keeps some open for a while. Everybody else has short connections:
a database that nobody uses is one whole file.
"""

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

KEPT_SECONDS = 10.0
"""Whoever reads a page for longer waits a moment for a new connection."""

MOST_OF_ONE = 2
"""Of one database; pages that ask at the same time open more, which are closed again."""

FileKey = tuple[str, int, int]
"""Where a database lies, and which file lies there: another one may be put in its place."""


def file_key(path: Path) -> FileKey | None:
    """What the file at a path is known by, None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return str(path), found.st_dev, found.st_ino


class IdleConnections:
    """Those that wait, by database; none before `keep` is called. Threads share it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._keeps = False
        self._lock = threading.Lock()
        self._waiting: dict[FileKey, list[tuple[float, sqlite3.Connection]]] = {}

    def keep(self, *, keeps: bool = True) -> None:
        """Begin to keep connections; keeps=False: close them all and keep none any more."""
        self._keeps = keeps
        if not keeps:
            self._close_those_since(float("inf"))

    def take(self, key: FileKey | None) -> sqlite3.Connection | None:
        """A connection to this very file, None when none waits."""
        if not self._keeps or key is None:
            return None
        with self._lock:
            waiting = self._waiting.get(key)
            return waiting.pop()[1] if waiting else None

    def give_back(self, key: FileKey | None, connection: sqlite3.Connection) -> None:
        """Keep a connection that is in no transaction, or close it: its file may have been moved away meanwhile."""
        if not self._kept(key, connection):
            connection.close()
        if self._keeps:
            self._close_those_since(self._clock() - KEPT_SECONDS)

    def _kept(self, key: FileKey | None, connection: sqlite3.Connection) -> bool:
        if not self._keeps or key is None or file_key(Path(key[0])) != key:
            return False
        with self._lock:
            waiting = self._waiting.setdefault(key, [])
            if len(waiting) >= MOST_OF_ONE:
                return False
            waiting.append((self._clock(), connection))
            return True

    def _close_those_since(self, moment: float) -> None:
        old = []
        with self._lock:
            for key, waiting in list(self._waiting.items()):
                old += [connection for since, connection in waiting if since <= moment]
                self._waiting[key] = [one for one in waiting if one[0] > moment]
                if not self._waiting[key]:
                    del self._waiting[key]
        for connection in old:  # without the lock: the last one of a database tidies it up
            connection.close()


IDLE = IdleConnections()
"""Of this process."""
