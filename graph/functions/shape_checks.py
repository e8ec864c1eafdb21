"""Checks of ranks, sizes and types: `tf.debugging.assert_rank`, `assert_shapes` and the like."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ..core.build import ops
from ..core.composite.ragged_tensor import RaggedTensor
from ..core.composite.sparse_tensor import SparseTensor
from ..core.create import convert_to_tensor
from ..core.dtype import DType, as_dtype
from ..core.graph import Operation, Tensor
from ..core.scopes import control_dependencies, name_scope
from .checks import prefix, value_of
from .flow.control_flow import Assert, group, no_op, with_dependencies

if TYPE_CHECKING:
    from ..core.typing import DTypeLike, TensorLike

    Data = Sequence[TensorLike] | None

Checked: TypeAlias = "Tensor | SparseTensor"


def _tensor(x: TensorLike | SparseTensor, name: str = "x") -> Checked:
    return x if isinstance(x, SparseTensor) else convert_to_tensor(x, name=name)


def _name(x: Checked) -> str:
    return "" if isinstance(x, SparseTensor) else x.name


def _shape(x: Checked) -> Tensor:
    return x.dense_shape if isinstance(x, SparseTensor) else ops.Shape(x)


def _rank(x: Checked) -> Tensor:
    return ops.Size(x.dense_shape) if isinstance(x, SparseTensor) else ops.Rank(x)


def _equals(rank: int, ranks: Sequence[int]) -> bool:
    return rank in ranks


def _is_enough(rank: int, ranks: Sequence[int]) -> bool:
    return rank >= ranks[0]


@dataclass(frozen=True)
class _RankCheck:
    """What one kind of check asks, in words, of numbers, and as an operation."""

    label: str
    words: str
    holds: Callable[[int, Sequence[int]], bool]
    kind: str

    def run(
        self,
        x: TensorLike | SparseTensor,
        ranks: Iterable[TensorLike],
        data: Data,
        summarize: int | None,
        message: str | None,
        name: str | None,
    ) -> Operation:
        """Raises ValueError for ranks that are known, else an operation that fails."""
        with name_scope(name, self.label):
            value = _tensor(x)
            rank_tensors = [convert_to_tensor(rank, name="rank") for rank in ranks]
            for rank in rank_tensors:
                assert_type(rank, np.int32)
            known = self._known(value, rank_tensors, prefix(message))
            if known is not None:
                return known
            if data is None:
                first = f"Tensor {_name(value)} {self.words}"
                data = [prefix(message), first, *rank_tensors, "Received shape: ", _shape(value)]
            met = self._met(_rank(value), rank_tensors)
            return Assert(met, data, summarize=summarize)

    def _known(self, x: Checked, ranks: list[Tensor], before: str) -> Operation | None:
        values = [value_of(rank) for rank in ranks]
        numbers: list[int] = []
        for value in values:
            if value is None:
                return None
            if value.ndim:
                raise ValueError("Rank must be a scalar.")
            numbers.append(int(value))
        static_rank = x.get_shape().ndims
        if static_rank is None:
            return None
        if not self.holds(static_rank, numbers):
            expected = tuple(numbers) if self.label == "assert_rank_in" else numbers[0]
            raise ValueError(
                f"{before}Tensor {_name(x)} {self.words} {expected}.  "
                f"Received rank {static_rank}, shape {x.get_shape()}"
            )
        return no_op("static_checks_determined_all_ok")

    def _met(self, actual: Tensor, ranks: list[Tensor]) -> Tensor:
        if not ranks:
            return convert_to_tensor(False)
        met = getattr(ops, self.kind)(actual, ranks[0])
        for rank in ranks[1:]:
            met = ops.LogicalOr(met, getattr(ops, self.kind)(actual, rank))
        for rank in ranks:
            if value_of(rank) is None:
                words = ["Rank must be a scalar. Received rank: ", rank]
                met = with_dependencies([assert_rank(rank, 0, data=words)], met)
        return met


_EXACT = _RankCheck("assert_rank", "must have rank", _equals, "Equal")
_LEAST = _RankCheck("assert_rank_at_least", "must have rank at least", _is_enough, "GreaterEqual")
_AMONG = _RankCheck("assert_rank_in", "must have rank in", _equals, "Equal")


def assert_rank(
    x: TensorLike | SparseTensor,
    rank: TensorLike,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """An operation that fails unless `x` has so many dimensions.

    Args:
        x: Any tensor, also a sparse one.
        rank: A number.
        data: What the error shows in place of rank and shape.
        summarize: How many elements of each it shows.
        message: What it begins with.
        name: Of the operation.

    Raises ValueError at once where the rank is known.
    """
    return _EXACT.run(x, [rank], data, summarize, message, name)


def assert_rank_at_least(
    x: TensorLike | SparseTensor,
    rank: TensorLike,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """An operation that fails unless `x` has `rank` dimensions or more.

    Args:
        x: A tensor of any type and shape; sparse ones, too.
        rank: An int32 scalar.
        data, summarize, message, name: Of `assert_rank`.

    Raises what `assert_rank` does.
    """
    return _LEAST.run(x, [rank], data, summarize, message, name)


def assert_rank_in(
    x: TensorLike | SparseTensor,
    ranks: Iterable[TensorLike],
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """An operation that fails unless the rank of `x` is one of `ranks`.

    Args:
        x: A tensor of any type and shape; sparse ones, too.
        ranks: int32 scalars, one or more.
        data, summarize, message, name: Of `assert_rank`.

    Raises what `assert_rank` does.
    """
    return _AMONG.run(x, ranks, data, summarize, message, name)


def assert_scalar(
    tensor: TensorLike, name: str | None = None, message: str | None = None
) -> Tensor:
    """`tensor`; ValueError unless it is known to be one number."""
    with name_scope(name, "assert_scalar", [tensor]):
        value = convert_to_tensor(tensor)
        if value.get_shape().ndims != 0:
            raise ValueError(
                f"{prefix(message)}Expected scalar shape for {value.name}, saw shape: "
                f"{value.get_shape()}."
            )
        return value


def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None) -> Operation:
    """An operation that does nothing; TypeError unless `x` has whole numbers."""
    with name_scope(name, "assert_integer", [x]):
        value = convert_to_tensor(x, name="x")
        if value.dtype.kind not in "iu":
            raise TypeError(
                f'{prefix(message)}Expected "x" to be integer type.  Found: {value.name} of dtype '
                f"{as_dtype(value.dtype)}"
            )
        return no_op("statically_determined_was_integer")


def assert_type(
    tensor: TensorLike | SparseTensor | RaggedTensor,
    tf_type: DTypeLike,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """An operation that does nothing; TypeError unless `tensor` has this type."""
    expected = as_dtype(tf_type)
    with name_scope(name, "assert_type"):
        value = (
            tensor.flat_values if isinstance(tensor, RaggedTensor) else _tensor(tensor, "tensor")
        )
        if value.dtype != expected:
            raise TypeError(
                f"{prefix(message)}{_name(value) or 'tensor'} must be of type {expected!r}; got "
                f"{as_dtype(value.dtype)!r}"
            )
        return no_op("statically_determined_correct_type")


def is_numeric_tensor(tensor: object) -> bool:
    """Whether something is a tensor of numbers."""
    return isinstance(tensor, Tensor) and tensor.dtype.kind in "iufcV" and not tensor.dtype.names


def assert_same_float_dtype(
    tensors: Iterable[Checked | None] | None = None, dtype: DTypeLike | None = None
) -> DType:
    """The type that all tensors and `dtype` have, float32 when there is none.

    Raises ValueError when they differ or it is no type of floats.
    """
    common = None if dtype is None else as_dtype(dtype)
    first = ""
    for tensor in tensors or ():
        if tensor is None:
            continue
        if common is None:
            common, first = as_dtype(tensor.dtype), f" as {_name(tensor) or tensor}"
        elif tensor.dtype != common:
            raise ValueError(
                f"{_name(tensor) or tensor}, type={as_dtype(tensor.dtype)!s}, must be of the same "
                f"type ({common!s}){first}."
            )
    if common is None:
        return as_dtype(np.float32)
    if not common.is_floating:
        raise ValueError(f"Expected floating point type, got {common!s}.")
    return common


@dataclass
class _Sizes:
    """A tensor, the symbols of its last sizes, and whether there may be more before them."""

    x: Checked
    symbols: tuple[Hashable, ...]
    is_open: bool

    def axis(self, i: int) -> int:
        """The dimension of symbol `i`, from the end where there may be more before."""
        return i - len(self.symbols) if self.is_open else i

    def size(self, axis: int) -> int | Tensor:
        """The size of a dimension; a single number counts as one of size 1."""
        shape = self.x.get_shape()
        if shape.ndims == 0:
            return 1
        size = None if shape.ndims is None else shape.as_list()[axis]
        return _shape(self.x)[axis] if size is None else int(size)


def assert_shapes(
    shapes: Mapping[TensorLike, Sequence[Hashable]] | Iterable[tuple[TensorLike, object]],
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """An operation that fails unless tensors have sizes that go together.

    Args:
        shapes: Pairs of a tensor and its sizes: a number; None or "." for any; any other object
            stands for one size wherever it occurs; `...` or "*" in front for more dimensions.
        data: What the error shows.
        summarize: How many elements of each it shows.
        message: What it begins with.
        name: Of the operations.

    Raises ValueError at once where the sizes are known.
    """
    pairs = cast(
        "Iterable[tuple[TensorLike, object]]",
        shapes.items() if isinstance(shapes, Mapping) else shapes,
    )
    with name_scope(name, "assert_shapes"):
        rows = [
            _sizes(_tensor(x), expected, prefix(message))
            for x, expected in pairs
            if expected is not None
        ]
        ranks = [check for row in rows for check in _rank_checks(row, data, summarize, message)]
        checks: list[Operation] = []
        bound: dict[Hashable, tuple[int | Tensor, Checked, int]] = {}
        with control_dependencies(ranks):
            for row in rows:
                for i, symbol in enumerate(row.symbols):
                    check = _size_check(row, i, symbol, bound, data, summarize, prefix(message))
                    checks += [] if check is None else [check]
            return group(*checks) if checks else no_op()


def _sizes(x: Checked, expected: object, before: str) -> _Sizes:
    if not hasattr(expected, "__iter__"):
        raise ValueError(
            f"{before}Tensor {_name(x)}.  Specified shape must be an iterable.  An iterable has "
            f"the attribute `__iter__` or `__getitem__`.  Received specified shape: {expected}"
        )
    symbols = tuple(cast("Iterable[Hashable]", expected))
    for i, symbol in enumerate(symbols):
        if symbol in (..., "*") and i:
            raise ValueError(
                f"{before}Tensor {_name(x)} specified shape index {i}.  Symbol `...` or `*` for a "
                "variable number of unspecified dimensions is only allowed as the first entry"
            )
    is_open = bool(symbols) and symbols[0] in (..., "*")
    symbols = symbols[1:] if is_open else symbols
    return _Sizes(x, symbols or (1,), is_open)


def _rank_checks(
    row: _Sizes, data: Data, summarize: int | None, message: str | None
) -> list[Operation]:
    n = len(row.symbols)
    if row.is_open:
        return [] if n == 1 else [assert_rank_at_least(row.x, n, data, summarize, message)]
    if n == 1:
        return [assert_rank_in(row.x, [0, 1], data, summarize, message)]
    return [assert_rank(row.x, n, data, summarize, message)]


def _number(symbol: Hashable) -> int | None:
    """The size that a symbol names itself."""
    try:
        return int(cast("int", symbol))
    except (TypeError, ValueError):
        return None


def _size_check(
    row: _Sizes,
    i: int,
    symbol: Hashable,
    bound: dict[Hashable, tuple[int | Tensor, Checked, int]],
    data: Data,
    summarize: int | None,
    before: str,
) -> Operation | None:
    """Holds one size against its symbol, or notes it where the symbol is new."""
    if symbol in (None, "."):
        return None
    axis = row.axis(i)
    size, number = row.size(axis), _number(symbol)
    if number is None and symbol not in bound:
        bound[symbol] = (size, row.x, axis)
        return None
    expected: int | Tensor
    if number is not None:
        expected, why = number, "Specified explicitly"
    else:
        expected, other, at = bound[symbol]
        why = f"Specified by tensor {_name(other)} dimension {at}"
    if isinstance(size, int) and isinstance(expected, int):
        if size != expected:
            raise ValueError(
                f"{before}{why}.  Tensor {_name(row.x)} dimension {axis} must have size "
                f"{expected}.  Received size {size}, shape {row.x.get_shape()}"
            )
        return None
    if data is None:
        first = [before, why, f"Tensor {_name(row.x)} dimension", axis, "must have size", expected]
        data = [*first, "Received shape: ", _shape(row.x)]
    return Assert(ops.Equal(size, expected), data, summarize=summarize)
