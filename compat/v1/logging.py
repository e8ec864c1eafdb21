"""`tf.logging`: Python's logging under the name "flatlite"."""

from __future__ import annotations

import logging as _logging

DEBUG, INFO, WARN, ERROR, FATAL = 10, 20, 30, 40, 50
_LOGGER = _logging.getLogger("flatlite")

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
