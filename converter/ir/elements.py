"""Values that depend on unknown sizes alone, element by element.

The operators with which models compute on shapes compute on expressions; every other one gives
opaque numbers, of which it is known that equal operators give equal ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from hashlib import sha1
from typing import Any

import numpy as np

from . import dims
from .dims import Dim, Extent
from .graph import Op, Tensor, array_of
from .prepare import count_outputs, run_prepare

Rule = Callable[[Op, int], "np.ndarray | None"]

TOKEN = "~"
"""Begins the names of floats and booleans that depend on sizes, which are no sizes themselves."""

_REFERENCE = object()  # an element that is what the reference has, as it depends on no size


def elements_of(op: Op, i: int, reference: np.ndarray) -> np.ndarray:
    """Result `i` of an op as an array of numbers and expressions; `reference` is its value where
    unknown sizes take their references.
    """
    rule = RULES.get(op.kind)
    elements = None
    if rule is not None:
        try:
            elements = rule(op, i)
        except (ZeroDivisionError, _Opaque):
            elements = None
    if elements is None:
        elements = np.full(reference.shape, None, object)
    flat = np.asarray(elements, object).ravel().tolist()
    key, args = _key(op, i, reference.dtype) if None in flat else ("", [])
    name = f"{'' if reference.dtype.kind in 'iu' else TOKEN}{op.kind.lower()}_{key}"
    for n, number in enumerate(reference.ravel().tolist()):
        if flat[n] is _REFERENCE:
            flat[n] = number
        elif flat[n] is None:
            flat[n] = dims.opaque(f"{name}_{n}", _as_int(number), args)
    return array_of(flat, reference.shape)


def numbers_of(extents: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Elements that are all numbers as an array; integers wrap around as in the kernels."""
    if dtype.kind not in "iu":
        return extents.astype(dtype)
    bits = 8 * dtype.itemsize
    wrapped = [int(n) % 2**bits for n in extents.flat]
    return np.array(wrapped, f"u{dtype.itemsize}").astype(dtype).reshape(extents.shape)


def extents_of(tensor: Tensor) -> np.ndarray:
    """The elements of a tensor whose value is known, as numbers and expressions."""
    if tensor.elements is not None:
        return tensor.elements.extents
    if tensor.value is None:
        raise _Opaque
    return array_of(tensor.value.ravel().tolist(), tensor.value.shape)


class _Opaque(Exception):
    """Nothing but the symbols can be told."""


def _as_int(number: Any) -> int:
    return int(number) if np.isfinite(number) else 0


def _key(op: Op, i: int, dtype: np.dtype) -> tuple[str, list[Extent]]:
    """What tells results of unequal operators apart, and what they depend on."""
    parts: list[Any] = [op.kind, i, str(dtype), repr(op.options)]
    args: list[Extent] = []
    for tensor in op.inputs:
        if tensor is None:
            parts.append(None)
            continue
        sizes = tensor.sizes or ()
        elements = list(extents_of(tensor).flat) if _has_value(tensor) else []
        parts.append((str(tensor.dtype), sizes, elements))
        args += [x for x in (*sizes, *elements) if isinstance(x, Dim)]
    return sha1(repr(parts).encode(), usedforsecurity=False).hexdigest()[:8], args


def _has_value(tensor: Tensor) -> bool:
    return tensor.value is not None or tensor.elements is not None


def _shape(op: Op, i: int) -> np.ndarray:
    return array_of(list(op.inputs[0].sizes or ()), (len(op.inputs[0].sizes or ()),))


def _rank(op: Op, i: int) -> np.ndarray:
    return array_of([len(op.inputs[0].sizes or ())], ())


def _elementwise(function: Callable[..., Any], whole: Callable[..., Any] | None = None) -> Rule:
    """A rule that computes each element from one of each input, repeated by numpy's rule.

    `whole` is what floats give that hold sizes and whole numbers, exactly so below 2**24.
    """

    def rule(op: Op, i: int) -> np.ndarray:
        arrays = [extents_of(tensor) for tensor in op.present_inputs]
        is_float = op.inputs[0].dtype.kind not in "iub"

        def element_of(*values: Any) -> Any:
            if any(value is None for value in values):
                return None
            if not is_float:
                return function(*values)
            if not any(isinstance(value, Dim) for value in values):
                return _REFERENCE
            return (
                None
                if whole is None or not all(map(_is_whole, values))
                else whole(*(value if isinstance(value, Dim) else int(value) for value in values))
            )

        return np.asarray(np.frompyfunc(element_of, len(arrays), 1)(*arrays), object)

    return rule


def _is_whole(x: Any) -> bool:
    return not _is_token(x) if isinstance(x, Dim) else float(x).is_integer()


def _truncated(x: Extent, y: Extent) -> Extent | None:
    """Integer division towards 0; by 0 is what no source takes."""
    if isinstance(x, int) and isinstance(y, int):
        return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    if dims.not_negative(x) and dims.not_negative(y):
        return dims.floor_div(x, y)
    if isinstance(y, int) and y > 0 and dims.not_negative(dims.add(x, y - 1)):
        return dims.largest(dims.floor_div(x, y), 0)  # of -1 / 2 the floor is -1
    return dims.divide_exactly(x, y)


def _itself(x: Extent) -> Extent:
    return x


def _power(x: Extent, n: Extent) -> Extent | None:
    if not isinstance(n, int) or not 0 <= n <= 4:
        return None
    return dims.product([x] * n)


def _sign(x: Extent) -> Extent | None:
    if dims.not_negative(dims.subtract(x, 1)):
        return 1
    return (x > 0) - (x < 0) if isinstance(x, int) else None


def _is_less(x: Extent, y: Extent) -> bool | None:
    """Whether x < y, where that is so or not so at all sizes."""
    if dims.not_negative(dims.subtract(dims.subtract(y, x), 1)):
        return True
    return False if dims.not_negative(dims.subtract(x, y)) else None


def _equal(x: Extent, y: Extent) -> bool | Extent | None:
    """Whether x = y; where neither is ever the smaller one, 1 or 0 as an expression."""
    if x is y or x == y:
        return True
    if _is_less(x, y) or _is_less(y, x):
        return False
    for difference in (dims.subtract(x, y), dims.subtract(y, x)):
        if dims.not_negative(difference):
            return dims.largest(dims.subtract(1, difference), 0)
    return None


def _logical_not(x: Any) -> Any:
    if isinstance(x, Dim):
        return dims.subtract(1, x)
    return None if x is None else not x


def _logical_and(x: Any, y: Any) -> Any:
    if False in (x, y):
        return False
    return y if x is True else x if y is True else None


def _logical_or(x: Any, y: Any) -> Any:
    if True in (x, y):
        return True
    return y if x is False else x if y is False else None


def _select_element(are_integers: bool, condition: Any, x: Any, y: Any) -> Any:
    if isinstance(condition, bool | int):
        return x if condition else y
    if x is y or _is_token(condition) or not are_integers:
        return x if x is y else None
    return dims.add(y, dims.multiply(condition, dims.subtract(x, y)))


def _is_token(x: Dim) -> bool:
    return any(name.startswith(TOKEN) for name in x.symbols)


def _select(op: Op, i: int) -> np.ndarray:
    arrays = [extents_of(tensor) for tensor in op.present_inputs]
    select = partial(_select_element, op.inputs[1].dtype.kind in "iu")
    return np.asarray(np.frompyfunc(select, 3, 1)(*arrays), object)


def _cast(op: Op, i: int) -> np.ndarray | None:
    """Sizes in another type, which below 2**24 floats hold as well; what are no sizes is opaque."""
    values = extents_of(op.inputs[0])

    def element_of(x: Any) -> Any:
        if not isinstance(x, Dim):
            return _REFERENCE
        return None if _is_token(x) else x

    return np.asarray(np.frompyfunc(element_of, 1, 1)(values), object)


def _reduction(function: Callable[..., Any], empty: Any = None) -> Rule:
    """A rule that folds the elements along constant axes into one."""

    def rule(op: Op, i: int) -> np.ndarray | None:
        x, axes = op.inputs[0], op.inputs[1].value
        if axes is None or x.dtype.kind not in "iub":
            return None
        values = extents_of(x)
        reduced = {int(axis) % max(values.ndim, 1) for axis in axes.ravel()}
        outer = [a for a in range(values.ndim) if a not in reduced]
        rows = np.transpose(values, [*outer, *sorted(reduced)]) if values.ndim else values
        rows = rows.reshape(int(np.prod([values.shape[a] for a in outer], dtype=int)), -1)
        if empty is None and not rows.shape[1]:
            return None
        initial = [] if empty is None else [empty]
        return array_of([reduce(function, row, *initial) for row in rows.tolist()], (len(rows),))

    return rule


def _range(op: Op, i: int) -> np.ndarray | None:
    start, limit, delta = (extents_of(tensor).item() for tensor in op.inputs)
    length = dims.subtract(limit, start)
    if op.inputs[0].dtype.kind not in "iu":
        return None
    if not (isinstance(length, int) and isinstance(delta, int)):
        return None
    count = len(range(0, length, delta))
    return array_of([dims.add(start, n * delta) for n in range(count)], (count,))


def _broadcast_args(op: Op, i: int) -> np.ndarray:
    first, second = (list(extents_of(tensor).flat) for tensor in op.inputs)
    rank = max(len(first), len(second))
    first, second = ([1] * (rank - len(sizes)) + sizes for sizes in (first, second))
    return array_of([dims.broadcast(x, y) for x, y in zip(first, second, strict=True)], (rank,))


def _fill(op: Op, i: int) -> np.ndarray | None:
    shape = op.inputs[0].value
    if shape is None:
        return None
    return np.full(tuple(shape.ravel().tolist()), extents_of(op.inputs[1]).item(), object)


def _zeros(op: Op, i: int) -> np.ndarray:
    return np.zeros(tuple(n for n in op.inputs[0].sizes or () if isinstance(n, int)), object)


def _data_movement(*data: int) -> Rule:
    """A rule for operators whose results are elements of the inputs `data` (all of them by
    default), or zeros: the interpreter moves their numbers.
    """

    def rule(op: Op, i: int) -> np.ndarray | None:
        moved = data or range(len(op.inputs))
        values: list[Any] = [0]
        inputs = list(op.inputs)
        for k, tensor in enumerate(inputs):
            if k in moved:
                elements = extents_of(tensor)
                indices = np.arange(elements.size, dtype=np.int32) + len(values)
                values += elements.ravel().tolist()
                shape = elements.shape
                inputs[k] = Tensor("", indices.dtype, shape, indices.reshape(shape))
            elif tensor is not None and tensor.value is None:
                return None
        index_op = Op(op.kind, inputs, [], op.options, origin=op.origin)
        positions = run_prepare(index_op, [np.dtype(np.int32)] * count_outputs(op))[i].value
        if positions is None:
            return None
        return array_of([values[n] for n in positions.ravel().tolist()], positions.shape)

    return rule


RULES: dict[str, Rule] = {
    "SHAPE": _shape,
    "RANK": _rank,
    "ADD": _elementwise(dims.add, dims.add),
    "SUB": _elementwise(dims.subtract, dims.subtract),
    "MUL": _elementwise(dims.multiply, dims.multiply),
    "DIV": _elementwise(_truncated, dims.divide_exactly),
    "FLOOR": _elementwise(_itself, _itself),
    "CEIL": _elementwise(_itself, _itself),
    "ROUND": _elementwise(_itself, _itself),
    "FLOOR_DIV": _elementwise(dims.floor_div),
    "FLOOR_MOD": _elementwise(dims.modulo),
    "MAXIMUM": _elementwise(dims.largest),
    "MINIMUM": _elementwise(dims.smallest),
    "NEG": _elementwise(lambda x: dims.multiply(-1, x)),
    "ABS": _elementwise(lambda x: dims.largest(x, dims.multiply(-1, x))),
    "SQUARE": _elementwise(lambda x: dims.multiply(x, x)),
    "POW": _elementwise(_power),
    "SIGN": _elementwise(_sign),
    "LESS": _elementwise(_is_less),
    "GREATER": _elementwise(lambda x, y: _is_less(y, x)),
    "LESS_EQUAL": _elementwise(lambda x, y: _logical_not(_is_less(y, x))),
    "GREATER_EQUAL": _elementwise(lambda x, y: _logical_not(_is_less(x, y))),
    "EQUAL": _elementwise(_equal),
    "NOT_EQUAL": _elementwise(lambda x, y: _logical_not(_equal(x, y))),
    "LOGICAL_AND": _elementwise(_logical_and),
    "LOGICAL_OR": _elementwise(_logical_or),
    "LOGICAL_NOT": _elementwise(_logical_not),
    "SELECT": _select,
    "SELECT_V2": _select,
    "CAST": _cast,
    "SUM": _reduction(dims.add, 0),
    "REDUCE_PROD": _reduction(dims.multiply, 1),
    "REDUCE_MAX": _reduction(dims.largest),
    "REDUCE_MIN": _reduction(dims.smallest),
    "RANGE": _range,
    "BROADCAST_ARGS": _broadcast_args,
    "FILL": _fill,
    "ZEROS_LIKE": _zeros,
    "RESHAPE": _data_movement(0),
    "SQUEEZE": _data_movement(0),
    "EXPAND_DIMS": _data_movement(0),
    "TRANSPOSE": _data_movement(0),
    "SLICE": _data_movement(0),
    "STRIDED_SLICE": _data_movement(0),
    "GATHER": _data_movement(0),
    "GATHER_ND": _data_movement(0),
    "REVERSE_V2": _data_movement(0),
    "TILE": _data_movement(0),
    "BROADCAST_TO": _data_movement(0),
    "PAD": _data_movement(0),
    "SPLIT": _data_movement(1),
    "SPLIT_V": _data_movement(0),
    "UNPACK": _data_movement(0),
    "PACK": _data_movement(),
    "CONCATENATION": _data_movement(),
}
"""Operator -> its results as numbers and expressions; None for an element that neither tells."""
