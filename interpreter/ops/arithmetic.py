"""Which arithmetic an operator on inputs and weights needs: float32, quantized, or hybrid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.products import NO_CLAMP
from ...engine.plan.buffer import Buffer, constant
from ...schema.dtypes import tf_name
from ..checks import NO_LIMIT, name_of_dtype, one_scale, unsupported
from ..plan.node import Node, Operand
from .quantized import (
    dequantized_blocks,
    packed_rows,
    quantization_of,
    quantized_limits,
    signed_weights,
    whole_bytes,
)

if TYPE_CHECKING:
    from types import ModuleType
    from typing import TypedDict

    from ...engine.families import quantization
    from ...schema.quantization import Blocks

    class Epilogue(TypedDict, total=False):
        """What is done with the sums of products; by keyword for the module with the products."""

        scheme: quantization.Scheme | quantization.Blockwise
        clamp: tuple[float, float]


_SUM_TYPES = {
    ("int8", "int8"): np.int32,
    ("int8", "int4"): np.int32,
    ("int8", "int2"): np.int32,
    ("uint8", "uint8"): np.int32,
    ("int16", "int8"): np.int64,
    ("int16", "int4"): np.int64,
    ("int16", "int2"): np.int64,
    ("int16", "int16"): np.int64,
}
"""Types of input and weights -> of the sums where no bias says it."""

_HYBRID = ("int8", "uint8", "int4", "int2")
_BITS = {"int8": 8, "int4": 4, "int2": 4}
"""Types of weights -> the bits that they have in panels."""
_BIASES = {"int8": ("int32",), "uint8": ("int32",), "int16": ("int32", "int64")}


def arithmetic(
    node: Node,
    x: Operand,
    weights: Operand,
    bias: Operand | None,
    clamp: tuple[float, float] | None = None,
    **rounding: bool,
) -> tuple[ModuleType, Buffer, Epilogue]:
    """The module with the products, the weights for it, and its clamp or quantization by keyword.

    Args:
        node: an operator with one result.
        x: its input.
        weights: what the input is multiplied with.
        bias: None when there is none.
        clamp: the limits of float32; None when the operator has no fused activation.
        rounding: `exact`, whether quantized results are rounded from float64; `narrow`, whether
            the scales are multiplied in float32, as those of uint8 always are; `asymmetric`,
            whether float32 inputs get a zero point when weights are quantized; `infinite`, whether
            their results may be infinite; `in_rows`, whether weights are the rows of a matrix.
    """
    limits = _without_ends(clamp) if clamp and rounding.get("infinite") else clamp or NO_CLAMP
    packs = False
    if rounding.get("in_rows") and x.dtype == np.float32 and weights.dtype != x.dtype:
        from ...engine.families import gemm_blockwise

        packs = gemm_blockwise.fits(weights, bias)
    if packs and (blocks := _blocks_of(weights)) is not None:
        from ...engine.families import gemm_blockwise, quantization

        bits = _BITS[name_of_dtype(weights.dtype)]
        _require_float32(node, x, bias)
        scales = constant(blocks.scales if blocks.file_scales is None else blocks.file_scales)
        by_block = quantization.Blockwise(scales, blocks.shape[1], bits, limits)
        return gemm_blockwise, packed_rows(node, weights), {"scheme": by_block}
    weights = signed_weights(dequantized_blocks(node, weights))
    pair = (name_of_dtype(x.dtype), name_of_dtype(weights.dtype))
    if pair in _SUM_TYPES:
        from ...engine.families import quantized_gemm

        requantization = _requantization(node, x, weights, bias, clamp, rounding)
        return quantized_gemm, whole_bytes(node, weights), {"scheme": requantization}
    _require_float32(node, x, bias)
    if weights.dtype == x.dtype:
        from ...engine.families import gemm

        return gemm, weights, {} if clamp is None else {"clamp": clamp}
    node.require(
        name_of_dtype(weights.dtype) in _HYBRID, f"{tf_name(weights.dtype)} is not supported yet"
    )
    from ...engine.families import gemm_blockwise, quantization, quantized_gemm

    scheme = quantization.Hybrid(
        scales_of(node, weights),
        rounding.get("asymmetric", False),
        limits,
    )
    if packs and _BITS.get(pair[1]) == 4:
        return gemm_blockwise, packed_rows(node, weights), {"scheme": scheme}
    return quantized_gemm, bytes_of(node, weights), {"scheme": scheme}


def _blocks_of(weights: Operand) -> Blocks | None:
    """The blocks of weights that there are kernels for; None where these are float32."""
    blocks = None if weights.quantization is None else weights.quantization.blocks
    if blocks is None or name_of_dtype(weights.dtype) not in _BITS:
        return None
    if blocks.zero_points is not None and blocks.zero_points.any():
        return None
    from ...engine.families import gemm_blockwise

    is_float = blocks.file_scales is None or blocks.file_scales.dtype.name in ("float16", "float32")
    fits = is_float and gemm_blockwise.fits_blocks(weights.shape, blocks.shape)
    return blocks if fits and np.isfinite(blocks.scales).all() else None


def _require_float32(node: Node, x: Operand, bias: Operand | None) -> None:
    if x.dtype != np.float32:
        unsupported(node, x)
    if bias is not None and bias.dtype != x.dtype:
        node.fail(f"bias must be float32, got {tf_name(bias.dtype)}")


def one_scale_each(node: Node, epilogue: Epilogue, n: int) -> None:
    """Refuses scales that are neither one nor one for each of `n` output channels."""
    scheme = epilogue.get("scheme")
    if scheme is None or isinstance(scheme.scales, Buffer):  # of blocks
        return
    count = len(scheme.scales)
    node.require(count in (1, n), f"weights must have 1 or {n} scales, got {count}")


def _without_ends(clamp: tuple[float, float]) -> tuple[float, ...]:
    """`clamp` with infinities for limits that are none."""
    return tuple(float(np.copysign(np.inf, x)) if abs(x) >= NO_LIMIT else x for x in clamp)


def _requantization(
    node: Node,
    x: Operand,
    weights: Operand,
    bias: Operand | None,
    clamp: tuple[float, float] | None,
    rounding: dict[str, bool],
) -> quantization.Quantized:
    from ...engine.families.quantization import Quantized

    x_params, result = one_scale(node, x)
    sums: type[np.generic] = _SUM_TYPES[name_of_dtype(x.dtype), name_of_dtype(weights.dtype)]
    if bias is not None:
        allowed = _BIASES[name_of_dtype(x.dtype)]
        if name_of_dtype(bias.dtype) not in allowed:
            node.fail(f"bias must be {' or '.join(allowed)}, got {tf_name(bias.dtype)}")
        sums = sums if weights.dtype == np.int16 else bias.dtype.type
    scales = scales_of(node, weights)
    before, after = x_params.scale, result.scale
    factors = before * scales.astype(np.float64) / after
    if rounding.get("narrow") or (x.dtype == np.uint8 and not rounding.get("exact")):
        with np.errstate(all="ignore"):
            factors = (np.float32(before) * scales).astype(np.float64) / after
    many = "round_int64_half_up" if sums is np.int64 else "round_half_away"
    return Quantized(
        factors,
        (x_params.zero_point, _zero_point(node, weights), result.zero_point),
        quantized_limits(node, node.outputs[0].dtype or x.dtype, result, fused=clamp is not None),
        sums,
        "exact" if rounding.get("exact") and weights.dtype != np.int16 else many,
    )


def scales_of(node: Node, weights: Operand) -> np.ndarray:
    """The scales of quantized weights, none of them negative."""
    scales = np.asarray(quantization_of(node, weights, "weights").scales, np.float32)
    if not np.minimum.reduce(scales, axis=None, initial=0) >= 0:
        node.fail(f"scales must not be negative, got {scales.min()}")
    return scales


def _zero_point(node: Node, weights: Operand) -> int:
    weights_params = quantization_of(node, weights, "weights")
    return 0 if weights_params.is_per_channel else weights_params.zero_point


def bytes_of(node: Node, weights: Operand) -> Buffer:
    """Quantized weights of a hybrid product, as int8."""
    return weights.view(np.int8) if weights.dtype == np.uint8 else whole_bytes(node, weights)
