"""Attention: the four layers, and scaled dot-product attention as an operation."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...graph.core.graph import Tensor
from .files.architecture import Layer
from .functions.operations import floating, operation, tensor
from .functions.products import dims_of, matmul, reshaped
from .registry import ANY, Call, is_integer, layer

LARGE = 1e9
"""What is subtracted from scores that do not count."""


def causal(call: Call, query: Tensor, key: Tensor) -> Tensor:
    """[queries, keys]: whether a key comes no later than the query; they count steps in axis -2."""
    n, m = (call.shape(x)[-2] for x in (query, key))
    if n is not None and m is not None:
        return call.constant_of(np.tri(n, m, dtype=bool), bool)
    return call.op("GreaterEqual", *steps(call, query, key))


def steps(call: Call, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
    """The numbers of queries, as a column, and of keys."""
    rows, columns = (
        call.op("Range", call.constant(0), call.size(x, len(call.shape(x)) - 2), call.constant(1))
        for x in (query, key)
    )
    return call.op("ExpandDims", rows, call.constant(1)), columns


def joined(call: Call, masks: list[Tensor]) -> Tensor | None:
    """Where all masks hold."""
    result = None
    for mask in masks:
        mask = call.cast(mask, bool)
        result = mask if result is None else call.op("LogicalAnd", result, mask)
    return result


def attended(
    call: Call,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    bias: Tensor | None = None,
    is_zero_where_masked: bool = False,
) -> tuple[Tensor, Tensor]:
    """softmax(query @ key) @ value, and the softmax; only where the mask holds."""
    scores = matmul(call, query, key, adj_y=True)
    scores = scores if bias is None else call.op("AddV2", scores, bias)
    if mask is not None:
        scores = call.op("SelectV2", mask, scores, call.constant(-LARGE, scores))
    weights = call.op("Softmax", scores)
    if mask is not None and is_zero_where_masked:
        weights = call.op("SelectV2", mask, weights, call.constant(0, weights))
    return matmul(call, weights, value), weights


def score_weights(layer: Layer) -> tuple[str, ...]:
    """Weights of an Attention."""
    names = ("scale",) if layer.config.get("use_scale") else ()
    return names + (("concat_score_weight",) if layer.config.get("score_mode") == "concat" else ())


def inputs_of(call: Call, inputs: Any, mask: Any) -> tuple[list[Tensor], list]:
    """Query, value and key, and the masks of query and value."""
    is_valid = isinstance(inputs, list) and len(inputs) in (2, 3)
    call.require(is_valid, "takes a list of query, value and perhaps key")
    query, value, *key = inputs
    masks = mask if isinstance(mask, list) else [None, None]
    return [query, value, *(key or [value])], masks[:2]


def weighted(
    call: Call, tensors: list, masks: list, scores: Tensor, is_causal: Any
) -> list[Tensor]:
    """The values weighted by scores, and the weights."""
    query, value, key = tensors
    allowed = [] if masks[1] is None else [call.op("ExpandDims", masks[1], call.constant(-2))]
    allowed += [causal(call, query, key)] if is_causal is True else []
    mask = joined(call, allowed)
    if mask is not None:
        unwanted = call.cast(call.op("LogicalNot", mask), scores.dtype)
        hidden = call.op("Mul", unwanted, call.constant(LARGE, scores))
        scores = call.op("Sub", scores, hidden)
    weights = call.op("Softmax", scores)
    y = matmul(call, weights, value)
    if masks[0] is not None:
        counts = call.op("ExpandDims", call.cast(masks[0], bool), call.constant(-1))
        y = call.op("SelectV2", counts, y, call.constant(0, y))
    return [y, weights]


def pair_sums(call: Call, query: Tensor, key: Tensor) -> Tensor:
    """Each query plus each key."""
    queries = call.op("ExpandDims", query, call.constant(-2))
    return call.op("AddV2", queries, call.op("ExpandDims", key, call.constant(-3)))


@layer("Attention", weights=score_weights, takes=ANY)
def attention(
    call: Call,
    inputs: Any,
    mask: Any = None,
    return_attention_scores: Any = False,
    use_causal_mask: Any = False,
) -> list[Tensor]:
    """The values, weighted by how well query and key agree."""
    tensors, masks = inputs_of(call, inputs, mask)
    query, _, key = tensors
    scale = call.weight("scale", []) if "scale" in score_weights(call.layer) else None
    if call.text("score_mode", "dot", "concat") == "dot":
        scores = matmul(call, query, key, adj_y=True)
        scores = scores if scale is None else call.op("Mul", scores, scale)
    else:
        sums = pair_sums(call, query, key)
        sums = sums if scale is None else call.op("Mul", sums, scale)
        total = call.op("Sum", call.op("Tanh", sums), call.constant([-1]))
        scores = call.op("Mul", total, call.weight("concat_score_weight", []))
    is_causal = use_causal_mask is True or call.flag("causal")
    results = weighted(call, tensors, masks, scores, is_causal)
    return results if return_attention_scores is True else results[:1]


def additive_weights(layer: Layer) -> tuple[str, ...]:
    """Weights of an AdditiveAttention."""
    return ("scale",) if layer.config.get("use_scale", True) else ()


@layer("AdditiveAttention", weights=additive_weights, takes=ANY)
def additive_attention(
    call: Call,
    inputs: Any,
    mask: Any = None,
    return_attention_scores: Any = False,
    use_causal_mask: Any = False,
) -> list[Tensor]:
    """The values, weighted by scale * tanh(query + key)."""
    tensors, masks = inputs_of(call, inputs, mask)
    query, _, key = tensors
    y = call.op("Tanh", pair_sums(call, query, key))
    if additive_weights(call.layer):
        n = call.known(call.shape(query)[-1], "the last dimension")
        y = call.op("Mul", y, call.weight("scale", [n]))
    scores = call.op("Sum", y, call.constant([-1]))
    is_causal = use_causal_mask is True or call.flag("causal")
    results = weighted(call, tensors, masks, scores, is_causal)
    return results if return_attention_scores is True else results[:1]


PROJECTIONS = ("query_dense", "key_dense", "value_dense", "output_dense")


def projections(layer: Layer) -> dict[str, Layer]:
    """The projections of a multi-head attention, in the order Keras makes them."""
    names: list[str] = list(PROJECTIONS)
    if layer.config.get("use_gate"):
        names.insert(2, "gate_dense")
    config = {
        "bias_axes": "x" if layer.config.get("use_bias", True) else None,
        "equation": "a,a->a",
    }
    if layer.config.get("trainable", True) is False:
        config["trainable"] = False
    return {name: Layer("EinsumDense", name.split("_")[0], config) for name in names}


def projected(call: Call, name: str, x: Tensor, *dims: int, scale: float = 1.0) -> Tensor:
    """The last axis of `x` times a kernel, plus a bias, seen as heads; perhaps scaled."""
    part = call.part(name)
    n = call.known(call.shape(x)[-1], "the last dimension")
    kernel = part.weight_value("kernel", [n, *dims]).reshape(n, prod(dims))
    y = matmul(part, x, part.constant(kernel * np.float32(scale), x))
    if "bias" in part.layer.stored_weights:
        offsets = part.weight_value("bias", dims).reshape(-1) * np.float32(scale)
        y = part.op("BiasAdd", y, part.constant(offsets, x))
    if name == "gate_dense":
        y = part.op("Sigmoid", y)
    return reshaped(part, y, [*dims_of(part, x)[:-1], *dims])


def unprojected(call: Call, y: Tensor, n_heads: int, size: int, dims: list[int]) -> Tensor:
    """Heads times the last kernel."""
    part = call.part("output_dense")
    y = reshaped(part, y, [*dims_of(part, y)[:-2], n_heads * size])
    kernel = part.weight_value("kernel", [n_heads, size, *dims]).reshape(n_heads * size, -1)
    z = matmul(part, y, part.constant(kernel, y))
    if "bias" in part.layer.stored_weights:
        z = part.op("BiasAdd", z, part.constant(part.weight_value("bias", dims).reshape(-1), y))
    return z if len(dims) == 1 else reshaped(part, z, [*dims_of(part, y)[:-1], *dims])


def attention_mask_of(call: Call, query: Tensor, value: Tensor, masks: dict[str, Any]) -> Any:
    """[batch, queries, keys]: all masks together; None where there are none."""
    parts = [] if masks["attention"] is None else [masks["attention"]]
    if masks["query"] is not None:
        parts.append(call.op("ExpandDims", call.cast(masks["query"], bool), call.constant(-1)))
    parts += [
        call.op("ExpandDims", call.cast(masks[name], bool), call.constant(-2))
        for name in ("value", "key")
        if masks[name] is not None
    ]
    if masks["causal"] is True:
        parts.append(causal(call, query, value))
    window = call.setting("sliding_window")
    if window is not None:
        call.check(is_integer(window), "sliding_window", "an integer")
        distance = call.op("Abs", call.op("Sub", *steps(call, query, value)))
        parts.append(call.op("Less", distance, call.constant(window)))
    return joined(call, parts)


@layer(
    "MultiHeadAttention",
    "GroupedQueryAttention",
    "GroupQueryAttention",
    parts=projections,
    takes=ANY,
)
def multi_head_attention(
    call: Call,
    query: Tensor,
    value: Tensor,
    key: Any = None,
    query_mask: Any = None,
    value_mask: Any = None,
    key_mask: Any = None,
    attention_mask: Any = None,
    return_attention_scores: Any = False,
    use_causal_mask: Any = False,
) -> list[Tensor]:
    """Several attentions side by side, of projections of query, key and value."""
    key = value if key is None else key
    masks = {"query": query_mask, "value": value_mask, "key": key_mask}
    masks |= {"attention": attention_mask, "causal": use_causal_mask}
    mask = attention_mask_of(call, query, value, masks)
    heads = head_sizes(call)
    n_heads, n_keys, key_dim, value_dim = heads
    gate = None
    if call.flag("use_gate"):
        gate = projected(call, "gate_dense", query, n_heads, value_dim)
    q = projected(call, "query_dense", query, n_heads, key_dim, scale=key_dim**-0.5)
    k = projected(call, "key_dense", key, n_keys, key_dim)
    v = projected(call, "value_dense", value, n_keys, value_dim)
    axes = attention_axes(call, len(call.shape(query)))
    order, back = heads_first(len(call.shape(q)), axes)
    q, k, v = (call.op("Transpose", x, call.constant(order)) for x in (q, k, v))
    n_axes, q_dims, k_dims = len(axes), dims_of(call, q), dims_of(call, k)
    q, k, v = (in_one_axis(call, x, n_axes) for x in (q, k, v))
    if n_keys != n_heads:
        k, v = (repeated(call, x, n_heads // n_keys) for x in (k, v))
    if mask is not None:
        mask = mask_of_scores(call, mask, len(order) + 1 - n_axes, n_axes)
    is_fused = call.setting("dropout") in (0, 0.0, None) and return_attention_scores is not True
    is_zeroed = call.is_keras3 and not (is_fused and len(order) == 4)
    y, weights = attended(call, q, k, v, mask, is_zero_where_masked=is_zeroed)
    if n_axes > 1:
        y = reshaped(call, y, [*q_dims[:-1], value_dim])
        weights = reshaped(call, weights, [*q_dims[:-1], *k_dims[-1 - n_axes : -1]])
    y = call.op("Transpose", y, call.constant(back))
    y = y if gate is None else call.op("Mul", y, gate)
    results = [unprojected(call, y, n_heads, value_dim, output_dims(call, query)), weights]
    return results if return_attention_scores is True else results[:1]


def head_sizes(call: Call) -> tuple[int, int, int, int]:
    """How many heads of queries and of keys, and how wide keys and values are."""
    if call.layer.kind == "MultiHeadAttention":
        n = call.integers("num_heads", 1)[0]
        key_dim = call.integers("key_dim", 1)[0]
        no_value = call.setting("value_dim") is None
        return n, n, key_dim, key_dim if no_value else call.integers("value_dim", 1)[0]
    n, m, size = (
        call.integers(name, 1)[0] for name in ("num_query_heads", "num_key_value_heads", "head_dim")
    )
    call.check(n % m == 0, "num_query_heads", f"a multiple of {m}")
    return n, m, size, size


def output_dims(call: Call, query: Tensor) -> list[int]:
    """What each query becomes."""
    shape = call.setting("output_shape")
    if shape is None or call.layer.kind != "MultiHeadAttention":
        return [call.known(call.shape(query)[-1], "the last dimension")]
    shape = shape if isinstance(shape, list) else [shape]
    call.check(shape and all(map(is_integer, shape)), "output_shape", "integers")
    return shape


def attention_axes(call: Call, rank: int) -> list[int]:
    """The axes of queries and keys that are attended together: all but the first and the last."""
    axes = call.setting("attention_axes")
    if axes is None:
        return list(range(1, rank - 1))
    axes = axes if isinstance(axes, list) else [axes]
    is_valid = axes and all(is_integer(axis) and -rank < axis < rank - 1 for axis in axes)
    call.check(is_valid, "attention_axes", f"axes before the last of {rank}")
    axes = [axis % rank for axis in axes]
    call.check(axes == sorted(set(axes)), "attention_axes", "different axes in ascending order")
    return axes


def heads_first(rank: int, axes: list[int]) -> tuple[list[int], list[int]]:
    """The order that puts heads before the steps, which `axes` count, and the one back.

    [batch, ..., *axes, ..., heads, size] -> [batch, ..., heads, *axes, size]
    """
    order = [i for i in range(rank - 2) if i not in axes] + [rank - 2, *axes, rank - 1]
    return order, [int(i) for i in np.argsort(order)]


def in_one_axis(call: Call, x: Tensor, n_axes: int) -> Tensor:
    """Steps that several axes count, in one; these come before the last."""
    if n_axes == 1:
        return x
    dims = dims_of(call, x)
    return reshaped(call, x, [*dims[: -1 - n_axes], None, dims[-1]])


def mask_of_scores(call: Call, mask: Tensor, rank: int, n_axes: int) -> Tensor:
    """[..., 1, queries, keys] of a mask without an axis for heads, for scores of a rank."""
    if n_axes > 1:
        dims = dims_of(call, mask)
        call.require(len(dims) >= 2 * n_axes, "needs a mask of all its attention axes")
        sizes = (dims[len(dims) - 2 * n_axes : -n_axes], dims[-n_axes:])
        joined_sizes = [
            prod(known) if len(known := [n for n in part if isinstance(n, int)]) == n_axes else None
            for part in sizes
        ]
        mask = reshaped(call, mask, [*dims[: len(dims) - 2 * n_axes], *joined_sizes])
    for _ in range(rank - len(call.shape(mask))):
        mask = call.op("ExpandDims", mask, call.constant(-3))
    return mask


def repeated(call: Call, x: Tensor, n: int) -> Tensor:
    """Each head `n` times, for that many heads of queries."""
    y = call.op("Tile", call.op("ExpandDims", x, call.constant(2)), call.constant([1, 1, n, 1, 1]))
    batch, heads, *others = dims_of(call, x)
    assert isinstance(heads, int)
    return reshaped(call, y, [batch, heads * n, *others])


@operation("DotProductAttention")
def dot_product_attention(
    call: Call,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Any = None,
    mask: Any = None,
    scale: Any = None,
    is_causal: Any = False,
    **others: Any,
) -> Tensor:
    """softmax(query @ key / sqrt(n)) @ value, of [batch, steps, heads, n]."""
    n = call.known(call.shape(query, 4)[-1], "the last dimension")
    scale = float(scale) if isinstance(scale, int | float) and scale else n**-0.5
    query = call.op("Mul", query, call.constant(scale, query))
    q, k, v = (call.op("Transpose", x, call.constant([0, 2, 1, 3])) for x in (query, key, value))
    if is_causal is True:
        triangle = causal(call, q, k)
        mask = triangle if mask is None else call.op("LogicalAnd", triangle, tensor(call, mask))
    mask = None if mask is None else call.cast(tensor(call, mask), bool)
    y, _ = attended(call, q, k, v, mask, bias=None if bias is None else floating(call, bias))
    return call.op("Transpose", y, call.constant([0, 2, 1, 3]))
