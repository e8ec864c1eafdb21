"""The types an operator is written in: its own where LiteRT has a kernel for them, else wider ones.

    x: bool -> PACK -> y        becomes        x -> CAST(int8) -> PACK -> CAST(bool) -> y

schema/operators.py says which types there are kernels for. Every value of a type has its own in
the wider one, and the result comes back as if it had been computed in the original type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...schema.dtypes import TENSOR_TYPES, tensor_type
from ...schema.operators import (
    LEFT_OUT,
    SHORT,
    TYPES,
    Combination,
    operator,
    spread,
)
from ...schema.tables import name_of
from .graph import Op, Tensor

if TYPE_CHECKING:
    import numpy.typing as npt

    from .builder import Builder

WIDER = {
    "bool": ("u8", "i8", "i32"),
    "i8": ("i16", "i32", "i64"),
    "u8": ("i16", "i32", "i64"),
    "i16": ("i32", "i64"),
    "u16": ("i32", "i64"),
    "i32": ("i64",),
    "u32": ("i64",),
    "f16": ("f32",),
    "bf16": ("f32",),
}
"""Types that hold all values of a type, the smallest first."""

FLOATS = frozenset({"bf16", "f16"})
"""Float types narrower than float32."""

SAME_WIDTH = {
    "f64": ("i64",),
    "i64": ("f64",),
    "u64": ("i64", "f64"),
    "c64": ("i64",),
    "u32": ("i32",),
    "u16": ("i16",),
}
"""Types with as many bits, for operators that only move elements."""

NARROWER_INDICES = {"i64": ("i32",)}
"""Types for indices and sizes, which LiteRT counts in int32."""
INDEX_TYPES = frozenset({"i16", "i32", "i64"})


def code_of(tensor: Tensor | None) -> str:
    """The type of a tensor as the table of operators writes it."""
    if tensor is None:
        return LEFT_OUT
    code = _code(tensor.dtype)
    params = tensor.quantization
    is_scaled = params is not None and (len(params.scales) > 0 or params.blocks is not None)
    return f"q{code}" if is_scaled else code


@lru_cache(64)
def _code(dtype: np.dtype) -> str:
    """The short name of a type; the long one of a type that no row has."""
    try:
        name = name_of("TensorType", tensor_type(dtype))
    except ValueError:
        return dtype.name
    return SHORT.get(name, name.lower())


def has_kernel(op: Op) -> bool:
    """Whether LiteRT has a kernel for the types of `op`, as far as is known."""
    row = operator(op.kind)
    return row is None or row.accepts(*(list(map(code_of, ts)) for ts in (op.inputs, op.outputs)))


def has_kernel_for(kind: str, inputs: Sequence[npt.DTypeLike], output: npt.DTypeLike) -> bool:
    """Whether LiteRT has a kernel of a kind for these types, as far as is known."""
    operands = [Tensor("", np.dtype(dtype), ()) for dtype in inputs]
    return has_kernel(Op(kind, operands, [Tensor("", np.dtype(output), ())]))


def runs_here(op: Op) -> bool:
    """Whether our interpreter takes the types of `op`, as far as is known, where LiteRT does."""
    row = operator(op.kind)
    if row is None:
        return True
    accepting = row.accepting(*(list(map(code_of, ts)) for ts in (op.inputs, op.outputs)))
    return not accepting or any(types.runs_here for types in accepting)


class Legal(NamedTuple):
    """Types of an operator that LiteRT has a kernel for, None for one that it implies.

    Attributes:
        operands: types of the operands.
        results: types of the results.
        original: the types that the results have, or would have had, for their readers.
    """

    operands: list[str]
    results: list[str | None]
    original: list[str | None]


def nearest(kind: str, operands: Sequence[str], results: Sequence[str | None]) -> Legal | None:
    """The nearest types that there is a kernel for.

    Args:
        kind: the operator.
        operands: the types it is given.
        results: the types of its results, None for one that it implies.

    None when there are none that mean the same. Of an operator whose meaning depends on the type
    only indices and sizes may have another.
    """
    row = operator(kind)
    if row is None or any(code.startswith("q") for code in operands):
        return None
    types = row.by_argument(operands, results)
    if types is None:
        return None
    operand_types, result_types = types
    old_types = [*operand_types, *result_types]
    candidates: list[tuple[int, int, list[Any], Combination]] = []
    for combination in (types for types in row.combinations if types.runs_here):
        for codes in _candidates(combination, old_types, row.traits):
            distances = [_distance(*pair) or 0 for pair in zip(old_types, codes, strict=True)]
            candidates.append((sum(n > 0 for n in distances), sum(distances), codes, combination))
    if not candidates:
        return None
    *_, codes, combination = min(candidates, key=lambda candidate: candidate[:2])
    n = len(operand_types)
    original = [
        operand_types[tie] if old is None and isinstance(tie, int) else old
        for old, tie in zip(result_types, combination.results, strict=True)
    ]
    return Legal(
        spread(row.operands, codes[:n], len(operands)),
        spread(row.results, codes[n:], len(results)),
        spread(row.results, original, len(results)),
    )


def _candidates(
    types: Combination, old: Sequence[Any], traits: frozenset[str]
) -> Iterator[list[Any]]:
    """What the types `old` may become within one combination, one for each place."""
    constraints = (*types.operands, *types.results)
    ties = {i: tie for i, tie in enumerate(constraints) if isinstance(tie, int)}
    type_choices = []
    for i, accepted in enumerate(constraints):
        if isinstance(accepted, int):
            continue
        if old[i] is None:
            type_choices.append([(i, None)])
            continue
        is_data = i in ties.values()
        is_selection = "selects" in traits and old[i] in FLOATS  # any float type orders alike
        others = () if "typed" in traits and not is_selection else WIDER.get(old[i], ())
        if "moves" in traits and is_data:
            others += SAME_WIDTH.get(old[i], ())
        if accepted <= INDEX_TYPES and not is_data:
            others += NARROWER_INDICES.get(old[i], ())
        type_choices.append([(i, code) for code in (old[i], *others) if code in accepted])
    for choice in product(*type_choices):
        codes: list[Any] = [None] * len(constraints)
        for i, code in (*choice, *ties.items()):
            codes[i] = codes[code] if isinstance(code, int) else code
        if all(_distance(*pair) is not None for pair in zip(old, codes, strict=True)):
            yield codes


def _distance(old: str | None, new: str | None) -> int | None:
    """How far a type is from another: 0 for itself, None when it is not for all values."""
    if old is None or old == new:
        return 0
    others = (*WIDER.get(old, ()), *SAME_WIDTH.get(old, ()), *NARROWER_INDICES.get(old, ()))
    return 1 + others.index(new) if new in others else None


def recast(b: Builder, tensor: Tensor, code: str) -> Tensor:
    """`tensor` as another type: its values, or its bits where the types have as many."""
    old, dtype = code_of(tensor), TENSOR_TYPES[TYPES[code]]
    if old == code:
        return tensor
    same_bits = code in SAME_WIDTH.get(old, ()) or old in SAME_WIDTH.get(code, ())
    if tensor.is_constant:
        if code in NARROWER_INDICES.get(old, ()):  # the largest int64 means "to the end"
            limits = np.iinfo(dtype)
            return b.constant(np.clip(tensor.data, limits.min, limits.max).astype(dtype))
        return b.constant(tensor.data.view(dtype) if same_bits else tensor.data.astype(dtype))
    return b.BITCAST(tensor, dtype=dtype) if same_bits else b.CAST(tensor, dtype=dtype)


def widened(
    b: Builder,
    kind: str,
    inputs: Sequence[Tensor | None],
    dtypes: Sequence[Any],
    wider_forms: dict[Tensor, Tensor] | None = None,
    **options: Any,
) -> list[Tensor] | None:
    """The results of an operator built in the nearest types that there is a kernel for.

    Args:
        b: builds it.
        kind: the operator.
        inputs: its operands.
        dtypes: the types of its results, None for one that it implies.
        wider_forms: tensor -> the wider one it was cast from, so that it need not be cast again;
            results are added.
        options: further arguments of `Builder.op`.

    None when its own types are legal, or no others are.
    """
    wider_forms = {} if wider_forms is None else wider_forms
    operands = [code_of(tensor) for tensor in inputs]
    results = [None if dtype is None else _code(np.dtype(dtype)) for dtype in dtypes]
    legal = nearest(kind, operands, results)
    if legal is None or (legal.operands == operands and legal.results == results):
        return None
    operand_tensors = []
    for tensor, code in zip(inputs, legal.operands, strict=True):
        wide = None if tensor is None else wider_forms.get(tensor)
        if tensor is None or (wide is not None and code_of(wide) == code):
            operand_tensors.append(wide)
        else:
            operand_tensors.append(recast(b, tensor, code))
    declared = [None if code is None else TENSOR_TYPES[TYPES[code]] for code in legal.results]
    result = b.op(kind, *operand_tensors, dtype=declared, **options)
    wide_results = result if isinstance(result, tuple) else (result,)
    cast_back = [
        tensor if code is None else recast(b, tensor, code)
        for tensor, code in zip(wide_results, legal.original, strict=True)
    ]
    pairs = zip(cast_back, wide_results, strict=True)
    wider_forms |= {tensor: wide for tensor, wide in pairs if tensor is not wide}
    return cast_back
