"""`tf.logging`: Python's logging under the name "flatlite"."""

from __future__ import annotations

import logging as _logging
import sys
from collections import defaultdict
from itertools import count

DEBUG, INFO, WARN, ERROR, FATAL = 10, 20, 30, 40, 50
_LOGGER = _logging.getLogger("flatlite")
_COUNTS: defaultdict[tuple[str, int], count[int]] = defaultdict(count)

debug, info, warn, error, fatal = (
    _LOGGER.debug,
    _LOGGER.info,
    _LOGGER.warning,
    _LOGGER.error,
    _LOGGER.critical,
)
warning, log = _LOGGER.warning, _LOGGER.log


def set_verbosity(v: int) -> None:
    """Lets messages below the level `v` be dropped."""
    _LOGGER.setLevel(v)


def get_verbosity() -> int:
    """The level below which messages are dropped."""
    return _LOGGER.getEffectiveLevel()


def get_logger() -> _logging.Logger:
    """Python's logger that all messages go to."""
    return _LOGGER


def log_if(level: int, msg: str, condition: object, *args: object) -> None:
    """A message at `level`, when a condition holds."""
    if condition:
        _LOGGER.log(level, msg, *args)


def log_every_n(level: int, msg: str, n: int, *args: object) -> None:
    """A message at `level`, the first time and each `n`-th after it that the place comes by."""
    log_if(level, msg, _count_at_caller() % n == 0, *args)


def log_first_n(level: int, msg: str, n: int, *args: object) -> None:
    """A message at `level`, the first `n` times that the place comes by."""
    log_if(level, msg, _count_at_caller() < n, *args)


def _count_at_caller() -> int:
    """How often the line that called the function that calls this has done so before."""
    frame = sys._getframe(2)
    return next(_COUNTS[frame.f_code.co_filename, frame.f_lineno])


def vlog(level: int, msg: str, *args: object) -> None:
    """A message at `level`."""
    _LOGGER.log(level, msg, *args)


def flush() -> None:
    """Has all handlers write what they hold."""
    for handler in (*_LOGGER.handlers, *_logging.getLogger().handlers):
        handler.flush()


def TaskLevelStatusMessage(msg: str) -> None:
    """An error message of a task."""
    _LOGGER.error(msg)
