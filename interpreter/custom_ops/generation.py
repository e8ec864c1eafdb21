"""odml.scaled_dot_product_attention, odml.update_kv_cache: what language models generate with.

Source: LiteRT's custom operators of these names; composites of the same names are in
interpreter/ops/composites.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...schema.dtypes import tf_name
from ..checks import rank
from ..numpy_calls import by_numpy
from ..ops.composites import attention
from .options import Options
from .registry import custom, exactly
from .state import state_of

if TYPE_CHECKING:
    from ..plan.node import Emit, HostCall, Node

_MOST_STEPS, _LIMIT = 2048, 1 << 20
"""Steps of a cache whose options say nothing, and those it may have."""


@custom("odml.scaled_dot_product_attention")
def scaled_dot_product_attention(node: Node) -> Emit:
    """softmax(scale * q k' + mask) v for each head; the scale is 1 / sqrt(depth) unless given."""
    operands = exactly(node, 4)
    scale = Options(node).number("scale", 0.0)
    emit = attention(node, operands, {"scale": scale} if scale > 0 else {})
    if emit is None:
        node.fail(
            "q, k and v must be float32 [batch, step, head, number] and the mask have the sizes "
            f"of the products or 1, got {', '.join(str(x.shape) for x in operands)}"
        )
    return emit


@custom("odml.update_kv_cache")
def update_kv_cache(node: Node) -> HostCall:
    """The keys and values of a layer so far, with those of some more steps from a first one on.

    The oldest make room where there are more than kv_cache_max.
    """
    position, keys, values = exactly(node, 3)
    options = Options(node)
    limit, layer = options.integer("kv_cache_max", 0), options.integer("layer_index", 0)
    most = limit if limit > 0 else _MOST_STEPS
    rank(node, "the keys", keys, 4)
    for x in (keys, values):
        node.require(x.dtype == np.float32, f"{tf_name(x.dtype)} is not supported")
    node.require(
        keys.shape == values.shape and keys.shape[0] == 1 and keys.shape[1] <= most <= _LIMIT,
        f"keys and values must be of one batch and at most {most} steps, below {_LIMIT}, "
        f"got {keys.shape}, {values.shape}",
    )
    node.require(
        position.dtype == np.int64 and position.shape == keys.shape[1:2] and position.size,
        f"there must be an int64 for each step, got {tf_name(position.dtype)} {position.shape}",
    )
    shape = (1, most, *keys.shape[2:])
    caches = [
        state_of(node, name, np.zeros(shape, np.float32), f"layer {layer}")
        for name in ("keys", "values")
    ]
    first_slot = state_of(node, "first", np.zeros(1, np.int64), f"layer {layer}")

    def run(position: np.ndarray, *updates: np.ndarray) -> list[np.ndarray]:
        start, n, first = int(position[0]), keys.shape[1], first_slot()
        node.require(
            start >= int(first[0]),
            f"Can not specify a position before this cache's first slot index of {int(first[0])}",
        )
        shift = min(max(start + n - int(first[0]) - most, 0), most)
        node.require(
            start + n - int(first[0]) - shift <= most,
            f"steps must go on within {most} of those before, got {start}",
        )
        first[0] += shift
        at = start - int(first[0])
        arrays = [cache() for cache in caches]
        for array, update in zip(arrays, updates, strict=True):
            if 0 < shift < most:
                array[:, : most - shift] = array[:, shift:].copy()
            array[:, at : at + n] = update
        return arrays

    return by_numpy(node, run, (shape, np.float32), (shape, np.float32))
