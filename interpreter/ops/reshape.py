"""RESHAPE, SQUEEZE, EXPAND_DIMS, DENSIFY: the same memory under another shape."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING

from ...engine.sizes import is_plain, negative
from ..checks import required
from ..plan.node import NeedsValue
from ..registry import op

if TYPE_CHECKING:
    from ..plan.node import Node


@op("RESHAPE")
def reshape(node: Node) -> None:
    """`x` under the shape of the second input or the option; one -1 takes what is left."""
    (x,) = required(node, 1)
    if node.optional(1) is not None:
        shape = node.sizes(1)
    else:
        declared = node.options.new_shape
        shape = [] if declared is None else [int(n) for n in declared]
        if shape == [0]:  # old converters write [0] for a scalar
            shape = []
    free = [i for i, n in enumerate(shape) if n == -1 and is_plain(n)]
    node.require(len(free) <= 1, f"at most one dimension can be -1, got {shape}")
    node.require(
        not negative(n for i, n in enumerate(shape) if i not in free),
        f"dimensions must not be negative, got {shape}",
    )
    if free:
        sizes = [n for i, n in enumerate(shape) if i not in free]
        message = f"{x.size} elements of shape {x.shape} do not divide into {shape}"
        if is_plain(x.size) and x.size == 0 and any(is_plain(n) and n == 0 for n in sizes):
            shape[free[0]] = _product_but_zeros(x.shape) // _product_but_zeros(sizes)
        else:
            known = prod(sizes)
            node.require(known != 0, message)
            node.require_equal(x.size % known, 0, message)
            shape[free[0]] = x.size // known
    node.alias(x, shape)


def _product_but_zeros(sizes: Iterable[int]) -> int:
    """The product of the sizes that are not 0; NeedsValue where one is not known yet.

    Of no elements that are reshaped to a stated size of 0, the ratio of these is what -1 takes.
    """
    product = 1
    for n in sizes:
        if not is_plain(n):
            raise NeedsValue(0)
        product *= n or 1
    return product


@op("SQUEEZE")
def squeeze(node: Node) -> None:
    """`x` without the dimensions `squeeze_dims`, or without all of size 1."""
    (x,) = required(node, 1)
    dims = node.options.squeeze_dims
    if dims is None or not len(dims):
        if not all(map(is_plain, x.shape)):
            raise NeedsValue(0)
        axes = {i for i, n in enumerate(x.shape) if n == 1}
    else:
        axes = {node.axis("squeeze_dims", x, axis) for axis in dims}
    for i in axes:
        node.require_equal(x.shape[i], 1, f"dimension {i} must be 1, got {x.shape[i]}")
    node.alias(x, [n for i, n in enumerate(x.shape) if i not in axes])


@op("EXPAND_DIMS")
def expand_dims(node: Node) -> None:
    """`x` with a dimension of size 1 put in before `axis`."""
    (x,) = required(node, 1)
    axes = node.integers(1)
    node.require(len(axes) > 0, "the axis is missing: its tensor has no elements")
    axis = axes[0]
    rank = x.ndim + 1
    node.require(-rank <= axis < rank, f"axis must be in [{-rank}, {rank}), got {axis}")
    axis %= rank
    node.alias(x, x.shape[:axis] + (1,) + x.shape[axis:])


@op("DENSIFY")
def densify(node: Node) -> None:
    """`x`, which the file stores as a sparse tensor; it is written out when it is read."""
    (x,) = required(node, 1)
    node.alias(x, x.shape)
