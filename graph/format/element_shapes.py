"""What is known of the shapes of elements of stacks and tensor arrays, where functions are made.

Whoever reads an element has a handle alone. Where all that write to the stack or array came before
and wrote elements of one shape, what is read has that shape: so a loop can be compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, cast

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
READS = ("StackPop", "StackPopV2", "TensorArrayGatherV3", "TensorArrayReadV3")
HOLDERS = ("Stack", "StackV2", "TensorArrayV3")
NAMED = frozenset((*WRITES, *READS, "TensorArrayConcatV3"))
"""Operations whose errors name the stack or array."""
HOLDER = "_holder"
"""The attribute with that name."""
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
        """The attributes of a copy: the name of its stack or array, and the shape that it reads.

        Args:
            op: The operation.
            indices: The shape of what says which elements to read.
        """
        holder = self._holder(op)[0] if op.type in NAMED else None
        if holder is None:
            return op.attrs
        attrs: dict[str, AttrValue] = {**op.attrs, HOLDER: holder_name(op, self._source)}
        shapes = self._shapes.get(holder)
        if op.type not in READS or shapes is None or len(shapes) != 1 or self._to_come[holder]:
            return attrs
        (shape,) = shapes
        if op.type == "TensorArrayGatherV3" and shape is not None:
            shape = (*(indices or (None,)), *shape)
        return {**attrs, "_output_shapes": [shape]}

    def _written(self, op: Operation) -> Operation | None:
        """What an operation writes elements to, unless that is an array of gradients."""
        holder, is_gradient = self._holder(op) if op.type in WRITES else (None, False)
        return None if is_gradient else holder

    def _holder(self, op: Operation) -> tuple[Operation | None, bool]:
        """The stack or array that an operation uses, and whether it means that of its gradients.

        None where the handle comes from somewhere else.
        """
        holder, sources = holder_of(op, self._source)
        return holder, bool(sources)


def holder_of(
    op: Operation, source: Callable[[Tensor], Tensor]
) -> tuple[Operation | None, list[bytes]]:
    """The stack or array that an operation uses, and of which computation its gradients.

    None where the handle comes from somewhere else. `source` gives where a tensor's value is from.
    """
    tensor, sources = source(op.inputs[0]), list[bytes]()
    while tensor.op.type in (*GRADIENTS, "Identity"):
        if tensor.op.type in GRADIENTS:
            sources.insert(0, cast("bytes", tensor.op.get_attr("source")))
        tensor = source(tensor.op.inputs[0])
    return (tensor.op if tensor.op.type in HOLDERS else None), sources


def holder_name(op: Operation, source: Callable[[Tensor], Tensor] = lambda x: x) -> bytes:
    """What messages call the stack or array that an operation uses."""
    named = op.attrs.get(HOLDER)
    if named is not None:
        return cast("bytes", named)
    holder, sources = holder_of(op, source)
    if holder is None:
        return op.inputs[0].op.name.encode()
    name = holder.attrs.get("tensor_array_name") or holder.name.encode()
    return b"@".join([cast("bytes", name), *sources])
