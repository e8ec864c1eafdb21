"""Functions of the innermost values of ragged tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from ...core.build import ops
from ...core.create import create
from ...core.graph import Operation, Tensor
from ...core.ragged_tensor import RaggedTensor
from ...core.scopes import control_dependencies

Function = Callable[..., object]


def of_flat_values(function: Function, *operands: object, **named: object) -> RaggedTensor:
    """`function` of the innermost values of ragged operands, in rows as theirs.

    Other operands are numbers, or tensors that go with the innermost values.

    Raises:
        ValueError: Two operands have rows at different depths.
        InvalidArgumentError: When it runs, unless all have the same rows.
    """
    ragged = [x for x in (*operands, *named.values()) if isinstance(x, RaggedTensor)]
    first = ragged[0]
    checks: list[Operation] = []
    for other in ragged[1:]:
        if other.ragged_rank != first.ragged_rank:
            raise ValueError(
                f"ragged tensors must have the same ragged_rank, got {first.ragged_rank} and "
                f"{other.ragged_rank}"
            )
        for a, b in zip(first.nested_row_splits, other.nested_row_splits, strict=True):
            if a is not b:
                checks.append(_same(a, b))
    with control_dependencies(checks):
        arguments = [flat(x) for x in operands]
        result = function(*arguments, **{key: flat(x) for key, x in named.items()})
    return first.with_flat_values(cast(Tensor, result))


def _same(a: Tensor, b: Tensor) -> Operation:
    """A check that two lists of splits are equal."""
    equal = ops.All(ops.Equal(ops.Shape(a), ops.Shape(b)), np.int32(0))
    shorter = ops.Minimum(ops.Size(a), ops.Size(b))
    starts = [ops.Slice(x, np.zeros(1, np.int32), ops.ExpandDims(shorter, 0)) for x in (a, b)]
    return create(
        "Assert",
        [
            ops.LogicalAnd(equal, ops.All(ops.Equal(*starts), np.int32(0))),
            [np.array(b"Inputs must have identical ragged splits", object)],
        ],
        {"summarize": 3},
    )


def flat(x: object) -> object:
    """The innermost values of a ragged tensor; anything else as it is."""
    return x.flat_values if isinstance(x, RaggedTensor) else x
