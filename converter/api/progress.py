"""A progress bar for what takes long."""

from __future__ import annotations

import sys
from threading import Lock, Timer
from typing import Any

PATIENCE = 1.0  # seconds before it appears


class Progress:
    """A progress bar on standard error: on a terminal only, and only after a second.

    Args:
        text: what is going on.
        total: how many steps it has; None when that is not known.
        quiet: shows nothing.
    """

    def __init__(self, text: str, total: int | None = None, quiet: bool = False) -> None:
        self._text, self._total, self._done = text, total, 0
        self._bar: Any = None
        self._task: Any = None
        self._is_over = quiet or not sys.stderr.isatty()
        self._lock = Lock()
        self._timer = Timer(PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Progress:
        if not self._is_over:
            self._timer.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            if self._bar is not None:
                self._bar.stop()

    def advance(self) -> None:
        """One more step is done."""
        self.reach(self._done + 1)

    def reach(self, done: int) -> None:
        """So many steps are done."""
        self._done = done
        if self._bar is not None:
            self._bar.update(self._task, completed=done)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        with self._lock:
            if self._is_over:
                return
            columns = (
                *(TextColumn("{task.description}"), BarColumn()),
                *(MofNCompleteColumn(), TimeElapsedColumn()),
            )
            bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._task = bar.add_task(self._text, total=self._total, completed=self._done)
            bar.start()
            self._bar = bar
