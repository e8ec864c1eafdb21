"""`tf.flags`: absl's flags. `FLAGS` reads the command line when a flag is first asked for."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from absl import flags as _flags
from absl.flags import *  # noqa: F403 (its names are this module's)

_FunctionT = TypeVar("_FunctionT", bound=Callable[..., object])
_OLD_NAMES = {"flag_name": "name", "default_value": "default", "docstring": "help"}

_flags.disclaim_key_flags()  # a flag belongs to the module that calls this one


def _with_old_names(define: _FunctionT) -> _FunctionT:
    """A function that also takes the names its arguments had before absl's flags."""

    @functools.wraps(define)
    def wrapped(*args: object, **kwargs: object) -> object:
        return define(*args, **{_OLD_NAMES.get(key, key): value for key, value in kwargs.items()})

    return wrapped  # pyright: ignore[reportReturnType]


DEFINE_bool = _with_old_names(_flags.DEFINE_bool)
DEFINE_boolean = _with_old_names(_flags.DEFINE_boolean)
DEFINE_float = _with_old_names(_flags.DEFINE_float)
DEFINE_integer = _with_old_names(_flags.DEFINE_integer)
DEFINE_string = _with_old_names(_flags.DEFINE_string)


class ParsedFlags:
    """absl's flags, which parse the command line before the first flag is read."""

    def __getattr__(self, name: str) -> Any:
        if not hasattr(type(_flags.FLAGS), name):
            self._parse()
        return getattr(_flags.FLAGS, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(_flags.FLAGS, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_flags.FLAGS, name)

    def __getitem__(self, name: str) -> _flags.Flag:
        return _flags.FLAGS[name]

    def __setitem__(self, name: str, flag: _flags.Flag) -> None:
        _flags.FLAGS[name] = flag

    def __contains__(self, name: str) -> bool:
        return name in _flags.FLAGS

    def __iter__(self) -> Iterator[str]:
        return iter(_flags.FLAGS)

    def __len__(self) -> int:
        return len(_flags.FLAGS)

    def __dir__(self) -> list[str]:
        return dir(_flags.FLAGS)

    def __str__(self) -> str:
        return str(_flags.FLAGS)

    def __call__(self, argv: list[str], known_only: bool = False) -> list[str]:
        """Parses arguments, the program's name first; gives those that are no flags."""
        return _flags.FLAGS(argv, known_only)

    @staticmethod
    def _parse() -> None:
        if not _flags.FLAGS.is_parsed():
            _flags.FLAGS(sys.argv)


FLAGS = ParsedFlags()
