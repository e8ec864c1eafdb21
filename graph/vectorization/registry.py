"""The rules by which an operation on one row becomes one on all rows at once.

    @rows("Transpose")
    def transpose(call):
        return ops.Transpose(call.rows(0), call.shifted(1))

A rule gets the operation as it is for one row (`call.op`) and what takes the place of its inputs,
and gives what takes the place of its outputs: a tensor with a first dimension more for each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ...schema.registry import Registry
from ..core.build import ops
from ..core.scopes import get_default_graph

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor
    from ..core.protocols import AttrValue
    from ..core.shapes import Dim


class NoRule(ValueError):
    """An operation on one row is not known as one on all rows."""


@dataclass(frozen=True)
class Value:
    """What takes the place of a tensor.

    Attributes:
        tensor: Its value.
        is_stacked: Whether the first dimension of `tensor` counts the rows; else it is one value
            for all rows.
    """

    tensor: Tensor
    is_stacked: bool


Results: TypeAlias = "Tensor | Value | Sequence[Tensor] | Sequence[Value]"
Rule: TypeAlias = "Callable[[Call], Results]"
RULES: Registry[Rule] = Registry("op", __package__, ["elementwise", "array", "neural", "text"])


def rows(*types: str) -> Callable[[Rule], Rule]:
    """Registers the decorated rule for op `types`."""

    def register(rule: Rule) -> Rule:
        for kind in types:
            RULES.add(kind, rule)
        return rule

    return register


@dataclass(frozen=True)
class Options:
    """How operations are treated.

    Attributes:
        draw: Gives the random numbers of all rows, of the shape it gets; None where none are drawn.
        one_by_one: What computes an operation that has no form for all rows, if anything does.
        does_both: Whether both branches may be computed for all rows, although one may fail for a
            row that takes the other.
    """

    draw: Callable[[Call, Tensor], Sequence[Tensor]] | None = None
    one_by_one: Callable[[Call], Sequence[Tensor]] | None = None
    does_both: bool = False


class Call:
    """An operation on one row, at least one input of which differs from row to row.

    Attributes:
        op: The operation.
        inputs: What takes the place of its inputs.
        n: How many rows there are, an int32.
        options: How the operations are treated.
        checks: What has to run before the results may be looked at; a rule may add to it.
    """

    def __init__(
        self,
        op: Operation,
        inputs: Sequence[Value],
        n: Tensor,
        options: Options,
        checks: list[Operation],
    ):
        self.op, self.inputs, self.n = op, inputs, n
        self.options, self.checks = options, checks

    def refusal(self, reason: str) -> NoRule:
        """The error that says why this operation has to be done row by row."""
        return NoRule(f"{self.op.type} '{self.op.name}' has no form for all rows at once: {reason}")

    def number(self, attr: str) -> int:
        """An attribute of the operation that is a whole number."""
        return cast("int", self.op.get_attr(attr))

    def is_stacked(self, i: int) -> bool:
        """Whether an input differs from row to row."""
        return self.inputs[i].is_stacked

    def sizes(self, i: int) -> tuple[Dim, ...]:
        """The sizes of an input in one row; NoRule where not even their number is known."""
        sizes = self.op.inputs[i].sizes
        if sizes is None:
            raise self.refusal(f"the rank of input {i} is not known")
        return sizes

    def rank(self, i: int) -> int:
        """The rank of an input in one row; NoRule where it is not known."""
        return len(self.sizes(i))

    def rows(self, i: int) -> Tensor:
        """An input of all rows: copies where it is one for all."""
        value = self.inputs[i]
        if value.is_stacked:
            return value.tensor
        sizes = ops.ConcatV2([self.counted(), ops.Shape(value.tensor)], np.int32(0))
        return ops.BroadcastTo(ops.ExpandDims(value.tensor, np.int32(0)), sizes)

    def one(self, i: int) -> Tensor:
        """An input that is one for all rows; NoRule where it differs."""
        if self.is_stacked(i):
            raise self.refusal(f"input {i} ({self.op.inputs[i].name}) differs from row to row")
        return self.inputs[i].tensor

    def counted(self) -> Tensor:
        """The number of rows as a vector, the first part of a shape."""
        return ops.Reshape(self.n, np.ones(1, np.int32))

    def sized(self, shape: Tensor) -> Tensor:
        """The shape of all rows, from that of one."""
        return ops.ConcatV2([ops.Cast(self.counted(), DstT=shape.dtype), shape], np.int32(0))

    def shifted(self, i: int) -> Tensor:
        """Axes of a row as axes of all rows: one more, but for those that count from the end."""
        axes = self.one(i)
        return axes + ops.Cast(ops.GreaterEqual(axes, ops.ZerosLike(axes)), DstT=axes.dtype)

    def aligned(self, i: int, rank: int) -> Tensor:
        """An input as it broadcasts with others of `rank` in one row."""
        tensor = self.inputs[i].tensor
        missing = rank - self.rank(i)
        if not self.is_stacked(i) or not missing:
            return tensor
        shape = ops.Shape(tensor)
        ones = np.ones(missing, np.int32)
        return ops.Reshape(tensor, ops.ConcatV2([shape[:1], ones, shape[1:]], np.int32(0)))

    def again(self, *inputs: Tensor, **attrs: AttrValue) -> Sequence[Tensor]:
        """The results of the same operation on other inputs, with other attributes."""
        return self.added(inputs, attrs).outputs

    def added(
        self, inputs: Sequence[Tensor], attrs: Mapping[str, AttrValue] | None = None
    ) -> Operation:
        """The same operation on other inputs, with other attributes, in the default graph."""
        graph, op = get_default_graph(), self.op
        merged = {k: v for k, v in op.attrs.items() if not k.startswith("_")}
        merged.update(attrs or {})
        name = graph.unique_name(op.type)
        return graph.add(op.type, name, inputs, merged, (), op.device, len(op.outputs))

    def flattened(self, i: int) -> Tensor:
        """The first dimension of a row, and that of all rows, as one."""
        tensor = self.rows(i)
        shape = ops.Shape(tensor)
        return ops.Reshape(tensor, ops.ConcatV2([shape[:1] * shape[1:2], shape[2:]], np.int32(0)))

    def unflattened(self, tensor: Tensor) -> Tensor:
        """The opposite of `flattened`."""
        shape = ops.Shape(tensor)
        each = ops.FloorDiv(shape[:1], ops.Maximum(self.counted(), np.int32(1)))
        return ops.Reshape(tensor, ops.ConcatV2([self.counted(), each, shape[1:]], np.int32(0)))
