"""What is known of the shapes of elements of stacks and tensor arrays, where functions are made.

Whoever reads an element has a handle alone. Where all that write to the stack or array came before
and wrote elements of one shape, what is read has that shape: so a loop can be compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor
    from ..core.protocols import AttrValue
    from ..core.shapes import Shape

WRITES = {
    **dict.fromkeys(("StackPush", "StackPushV2"), 1),
    **dict.fromkeys(("TensorArrayScatterV3", "TensorArrayWriteV3"), 2),
    "TensorArraySplitV3": 1,
}
"""Operations that write elements -> which input has them."""
READS = ("StackPop", "StackPopV2", "TensorArrayReadV3", "TensorArrayGatherV3")
HOLDERS = ("Stack", "StackV2", "TensorArrayV3")
GRADIENTS = ("TensorArrayGradV3",)
"""Operations that give an array whose elements have the shapes of another one's."""


class ElementShapes:
    """The shapes of elements, as they become known while operations are copied in their order.

    Args:
        operations: All that is run.
        source: Of a tensor the one that has its value, around loops and branches.
    """

    def __init__(self, operations: Iterable[Operation], source: Callable[[Tensor], Tensor]):
        self._source = source
        self._shapes: dict[Operation, set[Shape]] = {}
        self._to_come: dict[Operation, set[Operation]] = {}
        for op in operations:
            holder = self._written(op)
            if holder is not None:
                self._to_come.setdefault(holder, set()).add(op)

    def note(self, op: Operation, copy: Operation) -> None:
        """Notes the shape of what an operation writes, whose inputs `copy` has."""
        holder = self._written(op)
        if holder is None or op.type == "TensorArraySplitV3":  # whose pieces may differ
            return
        sizes = copy.inputs[WRITES[op.type]].sizes
        if op.type == "TensorArrayScatterV3" and sizes is not None:
            sizes = sizes[1:]
        self._to_come[holder].discard(op)
        self._shapes.setdefault(holder, set()).add(sizes)

    def attrs(self, op: Operation, indices: Shape) -> dict[str, AttrValue]:
        """The attributes of a copy: what reads elements says which shape its result has.

        Args:
            op: The operation.
            indices: The shape of what says which elements to read.
        """
        holder = self._holder(op)[0] if op.type in READS else None
        shapes = None if holder is None else self._shapes.get(holder)
        if holder is None or shapes is None or len(shapes) != 1 or self._to_come[holder]:
            return op.attrs
        (shape,) = shapes
        if op.type == "TensorArrayGatherV3" and shape is not None:
            shape = (*(indices or (None,)), *shape)
        return {**op.attrs, "_output_shapes": [shape]}

    def _written(self, op: Operation) -> Operation | None:
        """What an operation writes elements to, unless that is an array of gradients."""
        holder, is_gradient = self._holder(op) if op.type in WRITES else (None, False)
        return None if is_gradient else holder

    def _holder(self, op: Operation) -> tuple[Operation | None, bool]:
        """The stack or array that an operation uses, and whether it means that of its gradients.

        None where the handle comes from somewhere else.
        """
        tensor, is_gradient = self._source(op.inputs[0]), False
        while tensor.op.type in (*GRADIENTS, "Identity"):
            is_gradient |= tensor.op.type in GRADIENTS
            tensor = self._source(tensor.op.inputs[0])
        return (tensor.op if tensor.op.type in HOLDERS else None), is_gradient
