"""Operators that numpy computes, as host steps of a stage where the results' shapes are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..schema.operators import operator
from .plan.node import HostCall

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy.typing as npt

    from .plan.node import DynamicResult, Node

    Function: TypeAlias = Callable[..., Sequence[npt.ArrayLike]]
    """Gives the results for the arrays of the inputs."""
    Result: TypeAlias = tuple[Sequence[int], npt.DTypeLike]
    """Shape and type of a result."""

_IN_BUFFERS = "biufc"
"""Kinds of dtypes of which a program has buffers that numpy reads and writes."""


def by_numpy(node: Node, function: Function, *results: Result, retypes: bool = False) -> HostCall:
    """What computes results of these shapes and types by a function of all inputs' arrays.

    Inputs left out are not among the arrays. `retypes` says that the model may declare other types.
    """
    check_count(node)
    operands = [x for x in node.inputs if x is not None]
    outs = [node.result(shape, np.dtype(dtype), retypes=retypes) for shape, dtype in results]

    def run(*arrays: np.ndarray) -> None:
        try:
            with np.errstate(all="ignore"):
                values = function(*arrays[: len(operands)])
        except MemoryError as error:
            node.fail(f"needs more memory than there is ({error})")
        for out, value in zip(arrays[len(operands) :], values, strict=True):
            out[...] = value

    return HostCall(run, operands, outs)


def arrays_by_numpy(node: Node, function: Function, *results: Result) -> HostCall | DynamicResult:
    """Results that numpy computes from all inputs, as numbers of these types.

    Types that no program has buffers of, such as float8, are computed between two stages.
    """
    check_count(node)

    def run(*arrays: np.ndarray) -> list[np.ndarray]:
        with np.errstate(all="ignore"):
            return [
                np.asarray(value).astype(dtype, copy=False).reshape(shape)
                for value, (shape, dtype) in zip(function(*arrays), results, strict=True)
            ]

    dtypes = [*(np.dtype(t) for _, t in results), *(x.dtype for x in node.inputs if x is not None)]
    if all(kind.kind in _IN_BUFFERS for kind in dtypes) and None not in node.inputs:
        return by_numpy(node, run, *results)
    return node.dynamic_result(run, [tuple(shape) for shape, _ in results])


def array_by_numpy(
    node: Node, function: Callable[..., np.ndarray], shape: Sequence[int], dtype: np.dtype
) -> HostCall | DynamicResult:
    """One result of `arrays_by_numpy`."""
    return arrays_by_numpy(node, lambda *arrays: [function(*arrays)], (shape, dtype))


def check_count(node: Node) -> None:
    """Refuses more inputs than the operator has: the function would get them, too."""
    row = operator(node.kind)
    most = None if row is None else row.counts[1]
    n = len(node.inputs)
    node.require(most is None or n <= most, f"takes at most {most} inputs, got {n}")
