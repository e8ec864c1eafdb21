"""The rows that let a Session run an op without Python.

    @emit("MatMul", dtypes=(np.float32,))
    def mat_mul(program, op, a, b):
        out = arena(...)
        products.matmul(program, a, b, None, out)
        return out

The function takes the program, the operation as a `Site` (attributes, shapes and values that are
known), and one buffer for each input. It adds instructions and gives one buffer for each output, or
just the one; or None before it added anything, and the op's numpy kernel runs instead. Where the
instructions change a variable, the buffer is the variable's own memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from ...engine.plan.buffer import Buffer
from ...schema.registry import Registry
from . import FAMILIES

if TYPE_CHECKING:
    import numpy.typing as npt

Emitted: TypeAlias = "Buffer | list[Buffer] | None"
"""A buffer for each output, the only one's, or None where the numpy kernel has to run."""
EmitFunction: TypeAlias = "Callable[..., Emitted]"
"""Takes the program, the operation as a Site, and a Buffer for each input."""
Function = TypeVar("Function", bound="EmitFunction")


@dataclass(frozen=True)
class Emitter:
    """How one op type becomes instructions, and for which dtypes of its inputs; None for all."""

    function: EmitFunction
    dtypes: frozenset[np.dtype] | None = None

    def takes(self, inputs: Sequence[Buffer]) -> bool:
        """Whether it can do with inputs of these dtypes."""
        return self.dtypes is None or all(buffer.dtype in self.dtypes for buffer in inputs)


EMITTERS: Registry[Emitter] = Registry("op", __package__, FAMILIES)


def emit(
    *types: str, dtypes: Sequence[npt.DTypeLike] | None = None
) -> Callable[[Function], Function]:
    """Registers the decorated function for op `types` whose inputs all have one of `dtypes`."""

    def register(function: Function) -> Function:
        allowed = None if dtypes is None else frozenset(np.dtype(dtype) for dtype in dtypes)
        for kind in types:
            EMITTERS.add(kind, Emitter(function, allowed))
        return function

    return register
