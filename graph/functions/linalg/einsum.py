"""Einstein's summation: `tf.einsum`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.shapes import is_static

if TYPE_CHECKING:
    from ...core.typing import TensorLike

_DOTS = "..."
_LABELS = re.compile(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*")


def einsum(
    equation: str, *inputs: TensorLike, name: str | None = None, optimize: str = "greedy"
) -> Tensor:
    """Products of elements summed as `equation` says: "ij,jk->ik" is a matrix product.

    Args:
        equation: The labels of the dimensions of each input, and those of the result; without
            them it has the labels that stand just once, in the order of the alphabet. Dots stand
            for any dimensions, which are broadcast.
        inputs: As many tensors as there are labels; more than two are multiplied pair by pair.
        name: Of the operations.
        optimize: "greedy" or "optimal": how the order of the pairs is chosen.

    Raises ValueError for labels that are none, or that do not fit the inputs.
    """
    with name_scope(name, "einsum", list(inputs)):
        tensors = [convert_to_tensor(x) for x in inputs]
        labels, result = parsed(equation, len(tensors))
        for left, right in _order(labels, result, tensors, optimize):
            pair = [(labels[i], tensors[i]) for i in (left, right)]
            others = [labels[i] for i in _without(len(labels), left, right)]
            inner = _between([label for label, _ in pair], [*others, result])
            product = _einsum([label for label, _ in pair], inner, [x for _, x in pair])
            tensors = [*(tensors[i] for i in _without(len(labels), left, right)), product]
            labels = [*others, inner]
        return _einsum(labels, result, tensors)


def _einsum(labels: Sequence[str], result: str, tensors: Sequence[Tensor]) -> Tensor:
    return ops.Einsum(list(tensors), equation=f"{','.join(labels)}->{result}")


def _without(n: int, *positions: int) -> list[int]:
    return [i for i in np.arange(n).tolist() if i not in positions]


def parsed(equation: str, n_inputs: int) -> tuple[list[str], str]:
    """The labels of the inputs and of the result; ValueError where they are none."""
    text = equation.replace(" ", "")
    operands, arrow, result = text.partition("->")
    labels = operands.split(",")
    if not all(_LABELS.fullmatch(label) for label in (*labels, result)):
        raise ValueError(f"Subscripts have incorrect format: {equation}")
    if len(labels) != n_inputs:
        raise ValueError(
            f'Got {n_inputs} inputs for equation "{equation}", expecting {len(labels)}'
        )
    if not arrow:
        names = operands.replace(",", "").replace(_DOTS, "")
        dots = _DOTS if _DOTS in operands else ""
        result = dots + "".join(sorted(name for name in set(names) if names.count(name) == 1))
    named = result.replace(_DOTS, "")
    if len(set(named)) < len(named):
        raise ValueError(f"Output subscripts contain a label appearing more than once: {equation}")
    for name in named:
        if name not in operands:
            raise ValueError(
                f"Output subscripts contain the label {name} not present in the input subscripts."
            )
    return labels, result


def _between(pair: Sequence[str], others: Sequence[str]) -> str:
    """The labels of the product of two inputs: those that are still needed."""
    needed = "".join(others)
    names = dict.fromkeys("".join(pair).replace(_DOTS, ""))
    dots = _DOTS if any(_DOTS in label for label in pair) else ""
    return dots + "".join(name for name in names if name in needed)


def _order(
    labels: Sequence[str], result: str, tensors: Sequence[Tensor], optimize: str
) -> list[tuple[int, int]]:
    """Which two inputs are multiplied next until two are left; a product becomes the last one."""
    if len(tensors) <= 2:
        return []
    if not all(is_static(x.sizes) for x in tensors):
        n = len(tensors)
        return [(0, 1)] + [(0, n - 2 - i) for i in np.arange(n - 3).tolist()]
    equation = f"{','.join(labels)}->{result}"
    zeros = [np.broadcast_to(np.float32(0), cast("tuple[int, ...]", x.sizes)) for x in tensors]
    path, _ = np.einsum_path(equation, *zeros, optimize=(optimize, 2**62))
    pairs = [cast("tuple[int, int]", step) for step in path[1:] if len(step) == 2]
    return pairs[: len(tensors) - 2]
