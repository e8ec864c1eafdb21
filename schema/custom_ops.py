"""Custom operators written in Python: a registry that sessions and interpreters look in.

    @custom_op("Affine")
    class Affine:
        def __init__(self, options):                # bytes of the operator's options; may be absent
            self.scale, self.shift = struct.unpack("<ff", options)

        def prepare(self, x):                       # may be absent, see below
            return [(x.shape, x.dtype)]

        def run(self, x):
            return x * self.scale + self.shift

`prepare` is given one object for each input (`shape`, `dtype`, `name`, and `value` when it is known
before the model runs; None for an omitted input) and returns (shape, dtype) of each result. Without
it the shapes are those of what `run` returns, which may then differ from one run to the next.
`run` is given one array for each input, which it must not change, and returns the result, or a
tuple or list of the results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Class = TypeVar("Class", bound=type)

_CUSTOM_OPS: dict[str, type] = {}


def custom_op(name: str) -> Callable[[Class], Class]:
    """Registers the decorated class as the custom operator `name`, in place of an earlier one.

    >>> @custom_op("Twice")
    ... class Twice:
    ...     def run(self, x):
    ...         return 2 * x
    """
    if not isinstance(name, str) or not name:
        raise ValueError(f"a custom operator's name must be a non-empty str, got {name!r}")

    def register(cls: Class) -> Class:
        if not callable(getattr(cls, "run", None)):
            raise ValueError(f"custom operator {name}: {cls!r} must be a class with a method run")
        _CUSTOM_OPS[name] = cls
        return cls

    return register


def custom_op_of(name: str) -> type:
    """The class registered as `name`; raises LookupError when there is none."""
    if name not in _CUSTOM_OPS:
        raise LookupError(f"custom operator {name} is not registered; use custom_op({name!r})")
    return _CUSTOM_OPS[name]


def is_custom_op(name: str) -> bool:
    """Whether a custom operator of this name is registered."""
    return name in _CUSTOM_OPS


def make_custom_op(cls: type, options: bytes):
    """An instance of a custom operator's class for one operator of a model."""
    takes_options = cls.__init__ is not object.__init__
    return cls(options) if takes_options else cls()
