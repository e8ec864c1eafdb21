"""Sequences of unknown length: the slices of a tensor, and the rows that a loop appends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..ir.graph import Tensor
from .names import names_read

if TYPE_CHECKING:
    from onnx import GraphProto

    from .registry import Node


@dataclass(frozen=True)
class Slices:
    """The slices of a tensor along an axis of unknown size.

    Attributes:
        whole: the tensor.
        axis: from 0 on.
        keeps_axis: whether each has the axis, of size 1.
    """

    whole: Tensor
    axis: int
    keeps_axis: bool


def tensors_of(value: Any) -> list[Tensor]:
    """The tensors that a value consists of: one, those of a sequence, or none."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, Slices):
        return [value.whole]
    return [x for item in value for x in tensors_of(item)] if isinstance(value, list) else []


def with_tensors(value: Any, new: Callable[[Tensor], Tensor]) -> Any:
    """The same value with `new(x)` for each of its tensors, in the order of `tensors_of`."""
    if isinstance(value, Tensor):
        return new(value)
    if isinstance(value, Slices):
        return replace(value, whole=new(value.whole))
    return [with_tensors(item, new) for item in value] if isinstance(value, list) else value


def structure(value: Any) -> str:
    """What a value is, in words for errors; equal for values that stand for one another."""
    if isinstance(value, Slices):
        axis = f"axis {value.axis}" + (", of size 1 in each" if value.keeps_axis else "")
        return f"a sequence of the slices along {axis}"
    if isinstance(value, list):
        return f"a sequence of {len(value)} tensors"
    return "a tensor" if isinstance(value, Tensor) else "nothing"


class RowLoop(NamedTuple):
    """A loop whose sequences, to which each iteration appends a tensor, are rows it produces.

    Attributes:
        graph: the body without them.
        state: the values of the loop that are tensors.
        appended: where the sequences are among all values of the loop.
    """

    graph: GraphProto
    state: list[Tensor]
    appended: list[int]

    def results(self, results: Sequence[Any]) -> tuple[Any, ...]:
        """The loop's results in the order of its outputs."""
        n = len(self.appended)
        tensors, rows = list(results), []
        if n:
            tensors, rows = tensors[:-n], tensors[-n:]
        for i, row in zip(self.appended, rows, strict=True):
            tensors.insert(i, Slices(row, 0, False))
        return tuple(tensors)


def row_loop(node: Node, graph: GraphProto, state: Sequence[Any]) -> RowLoop:
    """The loop over tensors alone.

    Raises ConverterError unless its sequences begin empty, and are only appended to.
    """
    appended = [i for i, x in enumerate(state) if not isinstance(x, Tensor)]
    if not appended:
        return RowLoop(graph, list(state), appended)
    from onnx import GraphProto

    changed = GraphProto()
    changed.CopyFrom(graph)
    producers = {name: n for n in changed.node for name in n.output}
    for i in appended:
        source, result = graph.input[2 + i].name, graph.output[1 + i].name
        insert = producers.get(result)
        readers = [n for n in changed.node if source in names_read(n) or result in names_read(n)]
        node.require(
            state[i] == []
            and insert is not None
            and insert.op_type == "SequenceInsert"
            and list(insert.input)[::2] == [source]
            and readers == [insert],
            "a sequence among the loop's values must begin empty, and each iteration may only "
            f"append to it; '{source}' is used otherwise",
        )
        assert insert is not None
        changed.output.add(name=insert.input[1])
        changed.node.remove(insert)
    for i in reversed(appended):
        del changed.input[2 + i]
        del changed.output[1 + i]
    return RowLoop(changed, [x for x in state if isinstance(x, Tensor)], appended)
