"""StableHLO's operations that have regions: folds, sorts, loops and branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...schema.mlir.module import Block, Operation, TensorType, Value
from ..core.graph import Tensor
from .attributes import enumerated, flag, function_name, number, numbers, pairs, regions, text
from .expansions import known_call
from .registry import Results, writes
from .shapes import dtype_at, shape_at
from .writer import Writer

if TYPE_CHECKING:
    from ..core.protocols import AttrValue

FOLDS: dict[str, tuple[str, str, int | None]] = {
    "add": ("Sum", "AddV2", 0),
    "maximum": ("Max", "Maximum", None),
    "minimum": ("Min", "Minimum", None),
    "multiply": ("Prod", "Mul", 1),
    "and": ("All", "LogicalAnd", 1),
    "or": ("Any", "LogicalOr", 0),
}
"""The only operation of a region -> TF's fold, what joins two, and what changes nothing."""


def _only(body: Block) -> str:
    """The name of the only operation of a region of two arguments; empty for others."""
    if len(body.operations) != 2:
        return ""
    op, end = body.operations
    is_fold = list(end.operands) == list(op.results) and set(op.operands) == set(body.arguments)
    return op.name if is_fold and len(body.arguments) == 2 else ""


def _is_neutral(name: str, tensor: Tensor, dtype: np.dtype) -> bool:
    if tensor.op.type != "Const":
        return False
    value, neutral = np.asarray(tensor.op.get_attr("value")), FOLDS[name][2]
    if neutral is not None:
        return bool(np.all(value == neutral))
    sign = -1 if name == "maximum" else 1
    if dtype.kind not in "iu":
        return bool(np.all(value == sign * np.inf))
    bounds = np.iinfo(dtype)
    return bool(np.all(value == (bounds.min if sign < 0 else bounds.max)))


@writes("reduce")
def reduce(op: Operation, w: Writer) -> Results:
    """Dimensions folded by a function, from a start."""
    operands, axes, body = w.operands(op), numbers(op, "dimensions"), regions(op)[0]
    name, dtype = _only(body), dtype_at(op.operands[0])
    is_logical = name in ("and", "or")
    if len(operands) == 2 and name in FOLDS and is_logical == (dtype == np.bool_):
        fold, join, _ = FOLDS[name]
        y = w.add(fold, operands[0], w.constant(axes, np.int32), keep_dims=False)
        return y if _is_neutral(name, operands[1], dtype) else w.add(join, y, operands[1])
    positions = _positions_of_extreme(op, w, operands, axes, body)
    if positions is not None:
        return positions
    return w.add_all(
        "XlaVariadicReduceV2",
        *operands,
        T=[dtype_at(x) for x in op.results],
        dimensions_to_reduce=axes,
        reducer=w.function("reducer", body),
    )


def _positions_of_extreme(
    op: Operation, w: Writer, operands: Sequence[Tensor], axes: Sequence[int], body: Block
) -> list[Tensor] | None:
    """The largest or smallest elements and their first places, where that is what is folded."""
    if len(operands) != 4 or len(axes) != 1 or not _is_positions(operands[1], axes[0], w, op):
        return None
    x, first = body.arguments[0], body.arguments[2]
    directions = {
        enumerated(inner, "comparison_direction")
        for inner in body.operations
        if inner.name == "compare" and [*inner.operands] == [x, first]
    }
    others = {inner.name for inner in body.operations}
    if not others <= {"compare", "or", "and", "select", "return"}:
        return None
    for direction, fold, place in ((3, "Max", "ArgMax"), (5, "Min", "ArgMin")):
        name = "maximum" if fold == "Max" else "minimum"
        start = _is_neutral(name, operands[2], dtype_at(op.operands[0]))
        if direction in directions and start:
            axis = w.constant(axes, np.int32)
            y = w.add(fold, operands[0], axis, keep_dims=False)
            axis = w.constant(axes[0], np.int32)
            dtype = dtype_at(op.results[1])
            at = w.add(place, operands[0], axis, output_type=dtype)
            return [y, at]
    return None


def _is_positions(tensor: Tensor, axis: int, w: Writer, op: Operation) -> bool:
    """Whether a tensor has the positions along an axis."""
    if w.positions.get(op.operands[1]) == axis:
        return True
    narrow = w.narrow.get(op.operands[1], tensor)
    if narrow.op.type != "Const":
        return False
    value = np.asarray(narrow.op.get_attr("value"))
    if value.ndim <= axis:
        return False
    size: int = value.shape[axis]
    line = np.arange(size)
    shape = [-1 if i == axis else 1 for i in range(value.ndim)]
    return bool(np.all(value == line.reshape(shape)))


@writes("select_and_scatter")
def select_and_scatter(op: Operation, w: Writer) -> Tensor:
    """A source, joined where each window has the element that a function prefers."""
    x, source, start = w.operands(op)
    names = ("window_dimensions", "window_strides")
    sizes = [w.constant(numbers(op, name), np.int32) for name in names]
    pads = w.constant(pairs(op, "padding"), np.int32)
    return w.add(
        "XlaSelectAndScatter",
        x,
        *sizes,
        pads,
        source,
        start,
        select=w.function("select", regions(op)[0]),
        scatter=w.function("scatter", regions(op)[1]),
    )


def _ordering(body: Block) -> str | None:
    """The direction of a comparator of the first keys alone; None for others."""
    *inner, end = body.operations
    if not inner or inner[-1].name != "compare" or list(end.operands) != list(inner[-1].results):
        return None
    if any(op.name not in ("compare", "select", "constant") for op in inner):
        return None
    reached: dict[Value, set[Value]] = {x: {x} for x in body.arguments}
    for op in inner:
        for result in op.results:
            reached[result] = set().union(*(reached.get(x, set()) for x in op.operands))
    first, second = (reached[x] for x in inner[-1].operands)
    if (first, second) != ({body.arguments[0]}, {body.arguments[1]}):
        return None
    return {3: "Greater", 5: "Less"}.get(enumerated(inner[-1], "comparison_direction"))


@writes("sort")
def sort(op: Operation, w: Writer) -> list[Tensor]:
    """Tensors in the order of a comparator."""
    body = regions(op)[0]
    types = [dtype_at(x) for x in op.operands]
    kind = _ordering(body)
    comparator = w.function("comparator", body)
    if kind is not None:
        graph = w.graph.functions.body(comparator)
        first, second = (graph.inputs or [])[:2]
        graph.outputs = [graph.add(kind, None, (first, second), {}).outputs[0]]
    axis = w.constant(number(op, "dimension"), np.int32)
    return w.add_all(
        "XlaVariadicSort",
        *w.operands(op),
        axis,
        T=types,
        comparator=comparator,
        is_stable=flag(op, "is_stable"),
    )


@writes("while")
def while_(op: Operation, w: Writer) -> list[Tensor]:
    """A loop."""
    condition, body = regions(op)
    free = w.free(condition, body)
    inputs = [*w.operands(op), *(w.value(x) for x in free)]
    shapes = [shape_at(x) for x in [*op.results, *free]]
    results = w.add_all(
        "StatelessWhile",
        *inputs,
        T=[x.dtype for x in inputs],
        cond=w.function("cond", condition, free),
        body=w.function("body", body, free, passes=True),
        output_shapes=shapes,
        parallel_iterations=10,
    )
    return results[: len(op.results)]


@writes("case", "if")
def case(op: Operation, w: Writer) -> list[Tensor]:
    """The branch of a number, or of a condition."""
    bodies = [body for body in op.regions if body is not None]
    free = w.free(*bodies)
    inputs, index = [w.value(x) for x in free], w.value(op.operands[0])
    attrs: dict[str, AttrValue] = {
        "Tin": [x.dtype for x in inputs],
        "Tout": [dtype_at(x) for x in op.results],
        "output_shapes": [shape_at(x) for x in op.results],
    }
    branches = [w.function(f"branch_{i}", body, free) for i, body in enumerate(bodies)]
    if op.name == "if":
        attrs |= {"then_branch": branches[0], "else_branch": branches[1]}
        return w.add_all("StatelessIf", index, *inputs, **attrs)
    if len(branches) == 2:
        attrs |= {"then_branch": branches[0], "else_branch": branches[1]}
        is_first = w.add("Equal", index, w.constant(0, np.int32))
        return w.add_all("StatelessIf", is_first, *inputs, **attrs)
    return w.add_all("StatelessCase", index, *inputs, branches=branches, **attrs)


@writes("call")
def call(op: Operation, w: Writer) -> Results:
    """A function of the module, in place; TF's operation where it computes one."""
    name = text(op, "callee")
    arguments = [w.value(x) for x in op.operands if isinstance(x.type, TensorType)]
    kind = known_call(name, arguments, w)
    return w.add(kind, *arguments) if kind else w.call(name, arguments)


@writes("reduce_window")
def reduce_window(op: Operation, w: Writer) -> Tensor:
    """Windows folded by a function."""
    names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
    sizes = [w.constant(numbers(op, name), np.int32) for name in names]
    pads = w.constant(pairs(op, "padding"), np.int32)
    return _windows(w, w.operands(op), [*sizes, pads], regions(op)[0])


def dynamic_reduce_window(op: Operation, w: Writer) -> list[Tensor]:
    """Windows of computed sizes folded by a function of the module."""
    x, start, *sizes = w.operands(op)
    name = function_name(op)
    body = regions(w.module.functions[name])[0]
    return [_windows(w, [x, start], [w.int32(t) for t in sizes], body)]


def _windows(w: Writer, operands: Sequence[Tensor], sizes: Sequence[Tensor], body: Block) -> Tensor:
    return w.add("XlaReduceWindow", *operands, *sizes, computation=w.function("computation", body))
