"""The sizes that a result surely has, where other sizes of it are told only when the model runs.

`x[:, :length]` has as many rows and channels as `x`, whatever `length` is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...schema.named_tuple import NamedTuple
from .dims import Extent, add, multiply, not_negative, subtract

if TYPE_CHECKING:
    from typing import TypeAlias

    from .graph import Op, Tensor

    Known: TypeAlias = Extent | None
    """A size, or a number in a vector of them; None where it is not known."""

MOST_ELEMENTS = 64  # of what is looked at
_END = 2**31 - 1  # a side of a slice from here on is the end


def partial_shapes(op: Op) -> Sequence[Sequence[Known]] | None:
    """The sizes of each result of an operator, None for each that is not known.

    None where not even their number is.
    """
    if op.kind == "SPLIT_V":
        return _split(op)
    rule = _RULES.get(op.kind)
    sizes = None if rule is None else rule(op)
    return None if sizes is None else [sizes]


def _sizes(op: Op) -> Sequence[Extent] | None:
    """The sizes of the first input, None where not even their number is known."""
    tensor = op.input(0)
    return None if tensor is None else tensor.sizes


def _numbers(op: Op, i: int) -> list[Known] | None:
    """The numbers in input `i` in a row; None where it is not known how many there are."""
    tensor = op.input(i)
    numbers = None if tensor is None else _elements(tensor)
    return None if numbers is None else numbers.ravel().tolist()


def _elements(tensor: Tensor) -> np.ndarray | None:
    """The elements that are known of a tensor of integers, others None, in its shape."""
    shape = [n for n in tensor.sizes or () if isinstance(n, int)]
    if not tensor.is_static or prod(shape) > MOST_ELEMENTS:
        return None
    if tensor.value is not None:
        return tensor.value.astype(object)
    if tensor.elements is not None:
        return tensor.elements.extents.astype(object)
    producer = tensor.producer
    elements = None if producer is None else _HANDED_ON.get(producer.kind, _unknown)(producer)
    if elements is None or elements.size != prod(shape):
        return np.full(shape, None)
    return elements.reshape(shape)


def _unknown(_: Op) -> None:
    return None


def _moved(op: Op) -> np.ndarray | None:
    """The elements of the first input, whose order stays."""
    return _elements(op.inputs[0])


def _joined(op: Op) -> np.ndarray | None:
    parts = [_elements(tensor) for tensor in op.inputs]
    rows = [part for part in parts if part is not None]
    if len(rows) < len(parts):
        return None
    join = np.stack if op.kind == "PACK" else np.concatenate
    return join(rows, op.options.axis)


def _turned(op: Op) -> np.ndarray | None:
    elements, order = _elements(op.inputs[0]), op.inputs[1].value
    return None if elements is None or order is None else elements.transpose(order.tolist())


def _is_equal(op: Op) -> np.ndarray | None:
    return _combined(op, lambda x, y: x == y if isinstance(x, int) and isinstance(y, int) else None)


def _selected(op: Op) -> np.ndarray | None:
    return _combined(op, lambda holds, x, y: None if holds is None else x if holds else y)


def _broadcast(op: Op) -> np.ndarray | None:
    """Of BROADCAST_ARGS: the sizes that two shapes have together."""
    shapes = [_elements(tensor) for tensor in op.inputs]
    first, second = (None if x is None else x.ravel().tolist() for x in shapes)
    if first is None or second is None:
        return None
    rank = max(len(first), len(second))
    pairs = zip(*([1] * (rank - len(row)) + row for row in (first, second)), strict=True)
    return _array([_together(x, y) for x, y in pairs])


def _together(x: Known, y: Known) -> Known:
    for one, other in ((x, y), (y, x)):
        if (isinstance(one, int) and one > 1) or other == 1 or (one == other and one is not None):
            return one
    return None


def _combined(op: Op, function: Callable[..., Known]) -> np.ndarray | None:
    """What a function makes of the elements of all inputs."""
    operands = [_elements(tensor) for tensor in op.inputs]
    arrays = [x for x in operands if x is not None]
    if len(arrays) < len(operands):
        return None
    rows = np.broadcast_arrays(*arrays)
    elements = [function(*row) for row in zip(*(x.ravel().tolist() for x in rows), strict=True)]
    return _array(elements)


def _array(elements: Sequence[Known]) -> np.ndarray:
    array = np.empty(len(elements), object)
    array[:] = elements
    return array


_HANDED_ON: dict[str, Callable[[Op], np.ndarray | None]] = {
    "CAST": _moved,
    "RESHAPE": _moved,
    "EXPAND_DIMS": _moved,
    "SQUEEZE": _moved,
    "CONCATENATION": _joined,
    "PACK": _joined,
    "TRANSPOSE": _turned,
    "EQUAL": _is_equal,
    "SELECT_V2": _selected,
    "BROADCAST_ARGS": _broadcast,
}
"""Operators that hand elements on, or choose among them -> the elements of their result."""


def _stated(op: Op, i: int) -> list[Known] | None:
    """The sizes that input `i` states; -1 may be any."""
    numbers = _numbers(op, i)
    return None if numbers is None else [_not_negative(n) for n in numbers]


def _not_negative(n: Known) -> Known:
    """A number unless it may be negative, which means something else than itself."""
    return n if n is not None and not_negative(n) else None


def _tiled(op: Op) -> Sequence[Known] | None:
    return _each(op, 1, lambda size, row: None if row[0] is None else multiply(size, row[0]))


def _padded(op: Op) -> Sequence[Known] | None:
    return _each(op, 1, lambda size, row: None if None in row else add(size, add(*row)))


def _each(
    op: Op, i: int, size_of: Callable[[Extent, Sequence[Known]], Known]
) -> Sequence[Known] | None:
    """What becomes of each size by its row of the numbers in input `i`."""
    sizes, numbers = _sizes(op), _numbers(op, i)
    if sizes is None:
        return None
    if numbers is None or not sizes or len(numbers) % len(sizes):
        return [None] * len(sizes)
    n = len(numbers) // len(sizes)
    return [size_of(size, numbers[n * k : n * k + n]) for k, size in enumerate(sizes)]


def _part(op: Op) -> Sequence[Known] | None:
    """Of SLICE: a size as it is stated, or what is left of one from a known place on."""
    sizes, begins, counts = _sizes(op), _numbers(op, 1), _numbers(op, 2)
    if counts is None:
        return None if sizes is None else [None] * len(sizes)
    if sizes is None or begins is None:
        return [_not_negative(count) for count in counts]
    return [
        (None if begin is None else subtract(size, begin)) if count == -1 else _not_negative(count)
        for size, begin, count in zip(sizes, begins, counts, strict=True)
    ]


def _strided(op: Op) -> Sequence[Known] | None:
    """Of STRIDED_SLICE: sizes that are taken whole, or between known places of a known one."""
    sizes, options = _sizes(op), op.options
    begin, end, strides = (_numbers(op, i) for i in (1, 2, 3))
    if sizes is None or options.new_axis_mask or options.ellipsis_mask:
        return None
    if begin is None or end is None or strides is None:
        return None if options.shrink_axis_mask else [None] * len(sizes)
    result: list[Known] = list(sizes)
    for i in range(len(begin)):
        first, last, bit = _Side(begin[i]), _Side(end[i]), 1 << i
        if options.begin_mask & bit:
            first = _OPEN
        if options.end_mask & bit:
            last = _OPEN
        result[i] = None if options.offset else _between(sizes[i], first, last, strides[i])
    return [n for i, n in enumerate(result) if not options.shrink_axis_mask >> i & 1]


class _Side(NamedTuple):
    """Where a slice begins or ends: a place, None where it is not known, or no place at all."""

    place: Known
    is_open: bool = False


_OPEN = _Side(None, True)


def _between(size: Extent, first: _Side, last: _Side, step: Known) -> Known:
    from_start = first.is_open or first.place == 0
    to_end = last.is_open or (isinstance(last.place, int) and last.place >= _END)
    if step == 1 and from_start and to_end:
        return size
    known = all(side.is_open or isinstance(side.place, int) for side in (first, last))
    if not known or not isinstance(size, int) or not isinstance(step, int) or not step:
        return None
    return len(range(*slice(first.place, last.place, step).indices(size)))


def _rank(op: Op) -> Sequence[Known] | None:
    """Of BROADCAST_ARGS: as many numbers as the longer of two shapes has."""
    lengths = [None if tensor.sizes is None else tensor.sizes[0] for tensor in op.inputs]
    known = [n for n in lengths if isinstance(n, int)]
    return [max(known) if len(known) == len(lengths) else None]


def _split(op: Op) -> Sequence[Sequence[Known]] | None:
    """Of SPLIT_V: sizes as they are, but the one that is divided."""
    sizes, counts, axes = _sizes(op), _stated(op, 1), _numbers(op, 2)
    axis = axes[0] if axes else None
    if sizes is None or not isinstance(axis, int) or not -len(sizes) <= axis < len(sizes):
        return None
    if counts is None or len(counts) != op.options.num_splits:
        counts = [None] * op.options.num_splits
    before, after = sizes[: axis % len(sizes)], sizes[axis % len(sizes) + 1 :]
    return [[*before, count, *after] for count in counts]


def _segments(op: Op) -> Sequence[Known] | None:
    """Of UNSORTED_SEGMENT_*: as many rows as are asked for, of the size that rows have."""
    sizes, ids, counts = _sizes(op), op.inputs[1].sizes, _stated(op, 2)
    if sizes is None or ids is None:
        return None
    return [counts[0] if counts else None, *sizes[len(ids) :]]


_RULES: dict[str, Callable[[Op], Sequence[Known] | None]] = {
    "BROADCAST_ARGS": _rank,
    "BROADCAST_TO": lambda op: _stated(op, 1),
    "FILL": lambda op: _stated(op, 0),
    "MIRROR_PAD": _padded,
    "PAD": _padded,
    "PADV2": _padded,
    "RESHAPE": lambda op: _stated(op, 1),
    "SLICE": _part,
    "STRIDED_SLICE": _strided,
    "TILE": _tiled,
    **{f"UNSORTED_SEGMENT_{name}": _segments for name in ("MAX", "MIN", "PROD", "SUM")},
}
"""Operator -> what its operands tell of its result."""
