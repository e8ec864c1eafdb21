"""Operations whose type is a registered custom operator, and their attributes as its options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...engine.plan.buffer import arena, constant
from ...schema.custom_ops import custom_op_of, has_kernel, make_custom_op
from .dtype import DType

if TYPE_CHECKING:
    from ...engine.plan.buffer import Buffer
    from ...engine.plan.custom import Argument
    from ...schema.custom_ops import CustomKernel
    from .protocols import AttrValue, KernelResult, OperationView


def run_custom_op(*arrays: np.ndarray, op: OperationView) -> KernelResult:
    """What the custom operator that is an operation's type gives; a kernel for graphs."""
    cls = custom_op_of(op.type)
    operator = make_custom_op(cls, custom_options(op.attrs))
    return _run_kernel(op.type, operator, arrays) if has_kernel(cls) else operator.run(*arrays)


class _OpWithKernel(Protocol):
    """A custom operator whose `run` is a kernel (schema/custom_ops.py)."""

    run: CustomKernel[Callable[..., object]]

    def prepare(self, *inputs: Buffer) -> Iterable[tuple[Sequence[int], np.dtype | type]]: ...

    def arguments(self, *buffers: Buffer) -> Mapping[str, Argument]: ...


def _run_kernel(
    name: str, operator: _OpWithKernel, arrays: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """The results of a kernel, run alone."""
    from ...engine.plan.custom import add_instruction
    from ...engine.plan.program import Program

    inputs = [constant(np.array(array, order="C")) for array in arrays]
    outs = [arena(tuple(shape), dtype) for shape, dtype in operator.prepare(*inputs)]
    program = Program()
    add_instruction(program, operator.run, name, operator.arguments(*inputs, *outs))
    for out in outs:
        program.keep(out)
    program.close()
    program.run()
    return [program.array(out).copy() for out in outs]


def custom_options(attrs: Mapping[str, AttrValue]) -> bytes:
    """The attributes of an operation as a custom operator's options: a FlexBuffer map.

    Arrays become numbers or (nested) lists, types their names. Attributes "_..." are omitted.

    >>> from flatbuffers import flexbuffers
    >>> flexbuffers.Loads(custom_options({"slope": 0.5, "_class": ["x"]}))
    {'slope': 0.5}
    """
    from flatbuffers import flexbuffers  # pyright: ignore[reportMissingTypeStubs]

    plain = {name: _plain(x) for name, x in sorted(attrs.items()) if not name.startswith("_")}
    return bytes(flexbuffers.Dumps(plain))  # pyright: ignore[reportUnknownMemberType] - no types


def _plain(value: AttrValue) -> AttrValue:
    """A value of Python's own types."""
    value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.dtype | DType):
        return value.name
    return value.decode() if isinstance(value, bytes) else value
