"""An interpreter that knows more operators than others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..interpreter import Interpreter

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Unpack

    from ..arguments import Arguments

    Decorator: TypeAlias = Callable[[str], Callable[[type], type]]
    """Like `custom_op`: gives what registers a class under a name."""


class InterpreterWithCustomOps(Interpreter):
    """An interpreter with custom operators of its own.

    Args:
        custom_op_registerers: functions that are given a decorator like `custom_op` and register
            classes with it: `lambda custom_op: custom_op("Twice")(Twice)`.
        **kwargs: as for Interpreter.
    """

    def __init__(
        self,
        custom_op_registerers: Sequence[Callable[[Decorator], object]] | None = None,
        **kwargs: Unpack[Arguments],
    ):
        custom_ops: dict[str, type] = {}

        def custom_op(name: str) -> Callable[[type], type]:
            return lambda cls: custom_ops.setdefault(name, cls)

        for registerer in custom_op_registerers or ():
            if not callable(registerer):
                raise ValueError(
                    f"Looking up symbol {registerer!r} failed: flatlite takes functions that "
                    "register Python classes, not names of native symbols"
                )
            registerer(custom_op)
        self._custom_ops = custom_ops
        super().__init__(**kwargs)
