"""Weights with a scale for each block of elements along their last dimension.

    x, w:f32[16,128] -> FULLY_CONNECTED -> y      becomes, in blocks of 32,

    x, w:i4[16,128], scales:f16[16,4] -> FULLY_CONNECTED -> y             where a kernel is hybrid
    w:i4[64,32], a scale for each row -> DEQUANTIZE -> RESHAPE -> FULLY_CONNECTED -> y   elsewhere

The first is TFLite's BlockwiseQuantization, for which LiteRT has kernels in int4. Its DEQUANTIZE
knows nothing of blocks, but of rows.
"""

from __future__ import annotations

import numpy as np

from ...schema.quantization import Blocks, Quantization
from ..ir.graph import Graph, Op, Tensor
from .rules import WeightRule
from .scales import of_weights, quantized_weights, round_half_away
from .scheme import Integers, Scheme

KERNELS = frozenset({"FULLY_CONNECTED"})
"""Operators with a hybrid kernel for blocks."""
MIN_CHANNELS = 4  # with fewer LiteRT's kernel gives zeros
HALF = np.finfo(np.float16)
SMALLEST_SCALE = float(HALF.smallest_normal)
"""Of a block: LiteRT refuses scales that are subnormal as float16."""
LEAST_STEPS = 2**4  # of SMALLEST_SCALE in the largest scale, so that few blocks are rounded to it


def reason_against_blocks(op: Op, i: int, rule: WeightRule, scheme: Scheme) -> str:
    """Why the weights that are input `i` of `op` cannot have the blocks of a scheme; empty when
    they can.
    """
    weights, block = op.inputs[i], scheme.block or 1
    shape = weights.data.shape
    if weights.fake_quant is not None:
        return "FakeQuant states its scales"
    if not shape or shape[-1] % block:
        return f"blocks of {block} do not divide rows of {shape[-1] if shape else 1}"
    if rule.axis is not None and rule.axis == len(shape) - 1:
        return "its last dimension is that of the channels"
    if not scheme.hybrid:
        return ""
    if op.kind not in KERNELS:
        return "LiteRT has no kernel for blocks"
    if shape[0] < MIN_CHANNELS:
        return f"LiteRT's kernel for blocks takes {MIN_CHANNELS} output channels or more"
    largest = float(np.abs(weights.data).max(initial=0.0)) / scheme.weight_integers("i4").high
    if not SMALLEST_SCALE * LEAST_STEPS <= largest <= HALF.max:
        return "its scales do not fit into float16"
    return ""


def of_blocks(array: np.ndarray, block: int, integers: Integers) -> Quantization:
    """Symmetric integers with a float16 scale for each block along the last dimension."""
    largest = np.abs(array).reshape(*array.shape[:-1], -1, block).max(-1)
    scales = np.maximum(largest / np.float32(integers.high), SMALLEST_SCALE)
    shape = (*[1] * (array.ndim - 1), block)
    blocks = Blocks(shape, scales.astype(np.float16).astype(np.float32))
    return Quantization([], [], array.ndim - 1, block, blocks=blocks)


def quantized_blocks(array: np.ndarray, params: Quantization, integers: Integers) -> np.ndarray:
    """`array` as integers of the scales of `of_blocks`."""
    assert params.blocks is not None
    steps = round_half_away(array / params.blocks.scales.repeat(params.block_size, -1))
    return np.clip(steps, integers.low, integers.high).astype(np.int8).astype(integers.dtype)


def dequantized_rows(graph: Graph, op: Op, tensor: Tensor, scheme: Scheme) -> Tensor:
    """The weights of `op` as DEQUANTIZE and RESHAPE give them of rows of one block each."""
    assert scheme.block is not None
    integers = scheme.weight_integers(scheme.weights)
    rows = tensor.data.reshape(-1, scheme.block)
    params = of_weights(rows, 0, integers)
    array = quantized_weights(rows, params, integers)
    name, origin = tensor.name, op.origin
    quantized = Tensor(name, array.dtype, array.shape, array, quantization=params)
    dequantized = Tensor(name, tensor.dtype, rows.shape)
    result = Tensor(name, tensor.dtype, tensor.sizes, origin=tensor.origin)
    sizes = np.asarray(tensor.data.shape, np.int32)
    shape = Tensor("shape", sizes.dtype, sizes.shape, sizes)
    graph.insert_before(op, Op("DEQUANTIZE", [quantized], [dequantized], origin=origin))
    graph.insert_before(op, Op("RESHAPE", [dequantized, shape], [result], origin=origin))
    return result
