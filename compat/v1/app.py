"""`tf.app`: a program's start."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NoReturn

from absl import app as _app

from . import flags


def run(
    main: Callable[[list[str]], object] | None = None, argv: list[str] | None = None
) -> NoReturn:
    """Parses the flags, calls `main` and ends the process with what it gives.

    Args:
        main: a function of the arguments that are no known flags, the program's name first; None
            takes `main` of the program.
        argv: the program's name and its arguments; None takes those of the process.
    """
    program: Callable[[list[str]], object] = main or sys.modules["__main__"].main
    _app.run(program, argv, flags_parser=_known_flags)
    raise SystemExit  # what _app.run has done


def _known_flags(argv: list[str]) -> list[str]:
    """Parses the flags that are defined and gives the other arguments."""
    return flags.FLAGS(argv, known_only=True)


__all__ = ["flags", "run"]
