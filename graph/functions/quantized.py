"""Numbers quantized, and as quantization would leave them: `tf.quantization`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.build import ops
from ..core.create import convert_to_tensor
from ..core.dtype import as_numpy
from ..core.named_results import with_names
from .rows import functions

if TYPE_CHECKING:
    from ..core.graph import Tensor
    from ..core.typing import DTypeLike, TensorLike

ONE_TO_ONE = r"""
fake_quant_with_min_max_args FakeQuantWithMinMaxArgs inputs min=-6 max=6 num_bits=8 \
    narrow_range=False \
    # `inputs` as a quantized tensor of the range [min, max] would have them, float32
fake_quant_with_min_max_args_gradient FakeQuantWithMinMaxArgsGradient gradients inputs min=-6 \
    max=6 num_bits=8 narrow_range=False # `gradients` where `inputs` are within the range [min, max]
fake_quant_with_min_max_vars FakeQuantWithMinMaxVars inputs min max num_bits=8 narrow_range=False \
    # `inputs` as a quantized tensor of the range [min, max], two scalars, would have them
fake_quant_with_min_max_vars_gradient FakeQuantWithMinMaxVarsGradient gradients inputs min max \
    num_bits=8 narrow_range=False \
    # `gradients` where `inputs` are within [min, max], and their sums below and above
fake_quant_with_min_max_vars_per_channel FakeQuantWithMinMaxVarsPerChannel inputs \
    min max num_bits=8 narrow_range=False \
    # `inputs` as quantized tensors of a range [min, max] for each channel would have them
fake_quant_with_min_max_vars_per_channel_gradient FakeQuantWithMinMaxVarsPerChannelGradient \
    gradients inputs min max num_bits=8 narrow_range=False \
    # `gradients` where `inputs` are within [min, max] of the channel, and their sums below and \
    above
quantized_concat QuantizedConcat concat_dim values input_mins input_maxes \
    # Quantized tensors one behind another, in the range that holds all of theirs, and that range
"""
globals().update(functions(ONE_TO_ONE, __name__))


@with_names("QuantizeV2")
def quantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
    ensure_minimum_range: float = 0.01,
) -> list[Tensor]:
    """The codes of numbers, and the ends of the range that the codes have in the end.

    Args:
        input: float32.
        min_range, max_range: The range that the codes have to hold; of each slice with an axis.
        T: qint8, quint8, qint16, quint16 or qint32.
        mode: MIN_COMBINED, MIN_FIRST (0 is a code) or SCALED (0 is code 0).
        round_mode: HALF_AWAY_FROM_ZERO, or for SCALED HALF_TO_EVEN.
        name: Of the operation.
        narrow_range: Whether SCALED leaves out the least code.
        axis: Along which each slice has its own range.
        ensure_minimum_range: How narrow a range may be, of its largest end or 1.
    """
    return ops.QuantizeV2(
        input, min_range, max_range, T=T, mode=mode, round_mode=round_mode, name=name,
        narrow_range=narrow_range, axis=-1 if axis is None else axis,
        ensure_minimum_range=ensure_minimum_range,
    )  # fmt: skip


def quantize_v2(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    narrow_range: bool = False,
    axis: int | None = None,
    ensure_minimum_range: float = 0.01,
) -> tuple[Tensor, ...]:
    """`quantize` with its arguments in another order.

    Args:
        input: float32.
        min_range, max_range: The range that the codes have to hold; of each slice with an axis.
        T, mode, round_mode, narrow_range, axis, ensure_minimum_range, name: Of `quantize`.

    Returns the codes, and the ends of the range that they have in the end.
    """
    ranges = (min_range, max_range)
    more = (narrow_range, axis, ensure_minimum_range)
    return quantize(input, *ranges, T, mode, round_mode, name, *more)


def dequantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    axis: int | None = None,
    narrow_range: bool = False,
    dtype: DTypeLike = "float32",
) -> Tensor:
    """The numbers that the codes of `quantize` stand for.

    Args:
        input: The codes: qint8, quint8, qint16, quint16 or qint32, of any shape.
        min_range, max_range: The ends of their range, float32; of each slice with an axis.
        mode, narrow_range, axis: Those of `quantize`.
        name: Of the operation.
        dtype: float32 or bfloat16.
    """
    attrs = {"mode": mode, "narrow_range": narrow_range, "dtype": as_numpy(dtype)}
    place = -1 if axis is None else axis
    return ops.Dequantize(input, min_range, max_range, axis=place, name=name, **attrs)


def _around(
    kind: str,
    values: TensorLike,
    ends: tuple[TensorLike, TensorLike],
    axis: int | None,
    name: str | None,
    **attrs: str | bool | int,
) -> Tensor:
    x = convert_to_tensor(values, name="input")
    low, high = (convert_to_tensor(end, x.dtype) for end in ends)
    place = -1 if axis is None else axis
    if axis is not None and axis < 0:
        if x.sizes is None:
            raise ValueError("input should have known rank to use negative axis.")
        place = axis % len(x.sizes)
    return getattr(ops, kind)(x, low, high, axis=place, name=name, **attrs)


def quantize_and_dequantize(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:
    """Numbers rounded to steps around 0 in a range; gradients pass everywhere.

    Args:
        input: Floats.
        input_min, input_max: The range, where `range_given`; else it is that of the input.
        signed_input: Whether there are steps below 0.
        num_bits: The logarithm of how many steps there are.
        range_given: See above.
        round_mode: HALF_TO_EVEN or HALF_UP.
        name: Of the operation.
        narrow_range: Whether to leave out the least step.
        axis: Along which each slice has its own range.
    """
    return _around(
        "QuantizeAndDequantizeV2", input, (input_min, input_max), axis, name,
        signed_input=signed_input, num_bits=num_bits, range_given=range_given,
        round_mode=round_mode, narrow_range=narrow_range,
    )  # fmt: skip


def quantize_and_dequantize_v2(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:
    """As `quantize_and_dequantize` of `input`, but gradients pass within the range alone.

    `input_min` and `input_max` are the ends of the range, of the type of `input`.
    """
    return _around(
        "QuantizeAndDequantizeV4", input, (input_min, input_max), axis, name,
        signed_input=signed_input, num_bits=num_bits, range_given=range_given,
        round_mode=round_mode, narrow_range=narrow_range,
    )  # fmt: skip
