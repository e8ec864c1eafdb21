"""Composites that are known by name, as a few instructions instead of their decomposition.

A row of `FUSED` gives None where a composite is not as its name's definition has it; then, as for
every other name, the decomposition runs. `odml.group_norm` is none of them: files of that name
differ in what they sum over, which only the decomposition says.
"""

from __future__ import annotations

from math import prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families import gemm
from ...engine.families.layout import copy, move
from ...engine.families.products import permute
from ...engine.plan.buffer import arena, constant
from ...schema.errors import ModelError
from ...schema.flexbuffer import read_flexbuffer_map

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from ...engine.plan.buffer import Buffer
    from ...engine.plan.program import Program
    from ...schema.flexbuffer import FlexValue
    from ..plan.node import Emit, Node, Operand

    Attributes: TypeAlias = Mapping[str, FlexValue]
    Fuse: TypeAlias = Callable[[Node, Sequence[Operand], Attributes], Emit | None]
    """Declares the results; None, with nothing declared, where it does not apply."""


def fused(node: Node) -> Emit | None:
    """What emits a composite by its name; None where its decomposition has to run."""
    name = node.options.name
    row = FUSED.get(name if isinstance(name, str) else "")
    operands = [x for x in node.inputs if x is not None]
    if row is None or len(operands) < len(node.inputs):
        return None
    if any(x.dtype != np.float32 or x.quantization is not None for x in operands[:1]):
        return None
    content = node.options.composite_attributes
    try:
        attributes = read_flexbuffer_map(b"" if content is None else bytes(content))
    except ModelError:
        return None
    return row(node, operands, attributes)


def _is_declared(node: Node, shape: Sequence[int]) -> bool:
    """Whether the model declares one float32 result of this shape."""
    (declared,) = node.outputs if len(node.outputs) == 1 else (None,)
    return (
        declared is not None
        and declared.dtype in (None, np.float32)
        and declared.quantization is None
        and declared.shape in (None, tuple(shape))
    )


def _number(attributes: Attributes, name: str, default: float) -> float | None:
    """An attribute that is a number; None where it is something else."""
    value = attributes.get(name, default)
    return float(value) if isinstance(value, (int, float)) else None


def _each(node: Node, x: Operand, kernel: str) -> Emit | None:
    if not _is_declared(node, x.shape):
        return None
    out = node.result(x.shape, x.dtype)

    def emit(program: Program) -> None:
        if x.size:
            program.call(kernel, x.ravel(), out.ravel(), split=x.size)

    return emit


def _gelu(node: Node, operands: Sequence[Operand], attributes: Attributes) -> Emit | None:
    """x times the share of a normal distribution below it, or that by tanh."""
    kernels = {"none": "gelu", False: "gelu", None: "gelu", "tanh": "gelu_tanh", True: "gelu_tanh"}
    approximate = attributes.get("approximate")
    if len(operands) != 1 or not isinstance(approximate, (str, bool, type(None))):
        return None
    kernel = kernels.get(approximate)
    return None if kernel is None else _each(node, operands[0], f"unary.{kernel}")


def _hard_swish(node: Node, operands: Sequence[Operand], attributes: Attributes) -> Emit | None:
    """x * min(max(x + 3, 0), 6) / 6"""
    return _each(node, operands[0], "unary.hard_swish") if len(operands) == 1 else None


def _rms_norm(node: Node, operands: Sequence[Operand], attributes: Attributes) -> Emit | None:
    """x / sqrt(mean(x * x) + epsilon), times the weights, along the last dimension."""
    x, *weights = operands
    epsilon = _number(attributes, "epsilon", 1e-6)
    if epsilon is None or not x.ndim or len(weights) > 1 or not x.shape[-1]:
        return None
    if any(w.shape != x.shape[-1:] or w.dtype != np.float32 for w in weights):
        return None
    return _scaled_rows(node, x, weights[0] if weights else None, 1 / x.shape[-1], epsilon)


def _l2_norm(node: Node, operands: Sequence[Operand], attributes: Attributes) -> Emit | None:
    """x / sqrt(sum(x * x) + epsilon) along the last dimension."""
    (x,) = operands if len(operands) == 1 else (None,)
    epsilon, axis = _number(attributes, "epsilon", 0.0), attributes.get("axis", -1)
    if x is None or epsilon is None or not x.ndim or axis not in (-1, x.ndim - 1):
        return None
    return _scaled_rows(node, x, None, 1.0, epsilon)


def _scaled_rows(
    node: Node, x: Operand, weights: Operand | None, share: float, epsilon: float
) -> Emit | None:
    if not _is_declared(node, x.shape):
        return None
    out = node.result(x.shape, x.dtype)
    rows = (prod(x.shape[:-1]), x.shape[-1])
    gain: Buffer = constant(np.ones(rows[1], np.float32)) if weights is None else weights

    def emit(program: Program) -> None:
        if x.size:
            buffers = x.reshape(rows), gain, out.reshape(rows)
            numbers = {"share": share, "epsilon": epsilon}
            program.call("softmax.scale_rows", *buffers, split=rows[0], **numbers)

    return emit


def attention(node: Node, operands: Sequence[Operand], attributes: Attributes) -> Emit | None:
    """softmax(scale * q k' + mask) v for each head; q, k and v are [batch, step, head, number].

    Where k and v have fewer heads, each of theirs is for several of q's, one after the other. With
    logit_cap, what is not the mask is cap * tanh(x / cap) of that.
    """
    if len(operands) not in (3, 4) or any(x.ndim != 4 for x in operands):
        return None
    q, k, v, *masks = operands
    (batch, steps, heads, depth), (length, groups) = q.shape, k.shape[1:3]
    scale = _number(attributes, "scale", 1 / sqrt(depth) if depth else 0.0)
    cap = _number(attributes, "logit_cap", 0.0)
    logits = (batch, heads, steps, length)
    fits = k.shape == (batch, length, groups, depth) and v.shape[:3] == k.shape[:3]
    if scale is None or cap is None or cap < 0 or not fits or 0 in (*q.shape, *k.shape, *v.shape):
        return None
    if heads % groups or any(x.dtype != np.float32 for x in operands):
        return None
    if any(not _broadcasts(mask.shape, logits) for mask in masks):
        return None
    shape = (batch, steps, heads, v.shape[3])
    if not _is_declared(node, shape):
        return None
    out = node.result(shape, np.float32)
    mask: Buffer = masks[0] if masks else constant(np.zeros((1, 1, 1, length), np.float32))

    def emit(program: Program) -> None:
        grouped = (batch, groups, heads // groups * steps)
        queries, keys, values = (permute(program, x, (0, 2, 1, 3)) for x in (q, k, v))
        products, shares = (arena((*grouped, length), np.float32) for _ in range(2))
        rows = (batch * heads * steps, length)
        gemm.matmul(
            program, queries.reshape((*grouped, depth)), keys, None, products, transpose_b=True
        )
        program.call(
            "softmax.attention",
            products.reshape(rows),
            mask.reshape((prod(mask.shape[:3]), length)),
            shares.reshape(rows),
            split=rows[0],
            heads=heads,
            steps=steps,
            mask_batch=mask.shape[0],
            mask_heads=mask.shape[1],
            mask_steps=mask.shape[2],
            scale=scale,
            cap=cap,
        )
        result = arena((*grouped, v.shape[3]), np.float32)
        gemm.matmul(program, shares, values, None, result)
        by_head = result.reshape((batch, heads, steps, v.shape[3]))
        move(program, permute(program, by_head, (0, 2, 1, 3)), out)

    return emit


def _broadcasts(mask: Sequence[int], logits: Sequence[int]) -> bool:
    """Whether a mask has, but for its last dimension, the sizes of the logits or 1."""
    return mask[3] == logits[3] and all(
        m in (1, n) for m, n in zip(mask[:3], logits[:3], strict=True)
    )


def _update_cache(node: Node, operands: Sequence[Operand], attributes: Attributes) -> Emit | None:
    """Caches of keys and values [batch, step, ...] with some steps, by their numbers, replaced."""
    if len(operands) != 5 or len(node.outputs) != 2:
        return None
    *caches, steps, keys, values = operands
    pairs = list(zip(caches, (keys, values), strict=True))
    if steps.dtype.name not in ("int32", "int64") or steps.ndim != 1:
        return None
    for (cache, update), declared in zip(pairs, node.outputs, strict=True):
        if cache.ndim < 2 or update.shape != (cache.shape[0], steps.size, *cache.shape[2:]):
            return None
        if cache.dtype != np.float32 or update.dtype != np.float32:
            return None
        if declared.dtype != np.float32 or declared.shape not in (None, cache.shape):
            return None
    outs = [node.in_place(i) for i in range(2)]

    def emit(program: Program) -> None:
        for (cache, update), out in zip(pairs, outs, strict=True):
            if out.size:
                batch, n = cache.shape[:2]
                row_size = prod(cache.shape[2:])
                copy(program, cache, out)
                program.call(
                    "scatter.rows",
                    steps,
                    update.reshape((batch, steps.size, row_size)),
                    out.reshape((batch, n, row_size)),
                    split=batch,
                )

    return emit


FUSED: dict[str, Fuse] = {
    "aten.gelu": _gelu,
    "aten.gelu.default": _gelu,
    "aten.hardswish": _hard_swish,
    "aten.hardswish.default": _hard_swish,
    "odml.l2_norm": _l2_norm,
    "odml.rms_norm": _rms_norm,
    "odml.scaled_dot_product_attention": attention,
    "odml.update_kv_cache": _update_cache,
    "tfl.gelu": _gelu,
}
"""Name of a composite -> what fuses it."""
