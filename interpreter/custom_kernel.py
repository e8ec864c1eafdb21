"""Custom operators with a kernel: instructions of the program, in loops and branches too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ..engine.plan.custom import CustomKernelError, add_instruction
from ..schema.custom_ops import make_custom_op

if TYPE_CHECKING:
    import numpy as np

    from ..engine.plan.custom import Argument
    from ..engine.plan.program import Program
    from ..schema.custom_ops import CustomKernel
    from .plan.node import Emit, Node, Operand


class OpWithKernel(Protocol):
    """A custom operator whose `run` is a kernel (schema/custom_ops.py)."""

    run: CustomKernel[Callable[..., object]]

    def prepare(self, *inputs: Operand | None) -> Iterable[tuple[Sequence[int], np.dtype | type]]:
        """Shape and type of each result."""
        ...

    def arguments(self, *buffers: Operand | None) -> Mapping[str, Argument]:
        """The kernel's arguments for the inputs and the results."""
        ...


def prepare_kernel(node: Node, cls: type, options: bytes) -> Emit:
    """What `prepare` returns for an operator that a class with a kernel computes."""
    operator: OpWithKernel = make_custom_op(cls, options)
    outs = [node.result(shape, dtype) for shape, dtype in operator.prepare(*node.inputs)]
    buffers = [*node.inputs, *outs]

    def emit(program: Program) -> None:
        arguments = operator.arguments(*buffers)
        if not isinstance(arguments, Mapping):
            node.fail(f"arguments must give a dict by the kernel's names, got {arguments!r}")
        try:
            add_instruction(program, operator.run, node.kind, arguments)
        except CustomKernelError as error:
            node.fail(str(error))

    return emit
