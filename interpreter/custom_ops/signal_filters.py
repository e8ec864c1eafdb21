"""SignalFilterBank and what follows it: square root, noise subtraction, gain control, logarithm.

Source: TensorFlow Lite Micro's signal library; all are in fixed point, bit for bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..numpy_calls import by_numpy
from .options import Options
from .registry import custom, exactly
from .signal import require_dtype
from .state import state_of

if TYPE_CHECKING:
    from ..plan.node import HostCall, Node

_SNR_BITS, _GAIN_BITS = 12, 6
_LOG_SEGMENTS, _LOG_BITS = 128, 16
_LN_2 = 45426
"""The natural logarithm of 2, with 16 bits after the point."""
_WORD = (1 << 32) - 1


@custom("SignalFilterBank")
def filter_bank(node: Node) -> HostCall:
    """The energy of each channel: triangles over the spectrum, each with what the last one left."""
    x, weights, unweights, *tables = exactly(node, 6)
    n_channels = Options(node).positive("num_channels")
    require_dtype(node, x, np.uint32)
    for operand in (weights, unweights, *tables):
        require_dtype(node, operand, np.int16)
    node.require_equal(
        weights.shape,
        unweights.shape,
        f"weights must go in pairs, got {weights.shape}, {unweights.shape}",
    )
    node.require(
        x.ndim == 1 and weights.ndim == 1,
        f"spectrum and weights must be rows, got shapes {x.shape} and {weights.shape}",
    )
    for operand in tables:
        node.require(
            operand.shape == (n_channels + 1,),
            f"'{operand.name}' must have shape ({n_channels + 1},), got {operand.shape}",
        )

    def run(x: np.ndarray, *arrays: np.ndarray) -> list[np.ndarray]:
        weights, unweights, starts, weight_starts, widths = (a.astype(np.int64) for a in arrays)
        spectrum, sums, carried = x.astype(np.uint64), np.zeros(n_channels + 1, np.uint64), 0
        for i, width in enumerate(np.maximum(widths, 0).tolist()):
            first, at = int(starts[i]), int(weight_starts[i])
            inside = min(first, at) >= 0 and first + width <= x.size and at + width <= weights.size
            node.require(inside, f"channel {i} must lie in the spectrum and the weights")
            part, span = spectrum[first : first + width], slice(at, at + width)
            channel = (weights[span].astype(np.uint64) * part).sum(dtype=np.uint64)
            sums[i] = np.uint64(carried) + channel
            carried = (unweights[span].astype(np.uint64) * part).sum(dtype=np.uint64)
        return [sums[1:]]

    return by_numpy(node, run, ((n_channels,), np.uint64))


@custom("SignalFilterBankSquareRoot")
def square_root(node: Node) -> HostCall:
    """The rounded square roots, shifted right by the second input."""
    x, bits = exactly(node, 2)
    require_dtype(node, x, np.uint64)
    require_dtype(node, bits, np.int32)
    node.require(bits.size == 1, f"the shift must be one number, got shape {bits.shape}")

    def run(x: np.ndarray, bits: np.ndarray) -> list[np.ndarray]:
        shift = int(bits.ravel()[0])
        node.require(0 <= shift < 32, f"the shift must be in [0, 32), got {shift}")
        roots = [_root(int(value)) >> shift for value in x.ravel()]
        return [np.array(roots, np.uint32).reshape(x.shape)]

    return by_numpy(node, run, (x.shape, np.uint32))


def _root(value: int) -> int:
    """The nearest integer to a root; the largest of 16 bits where the value has 32."""
    most = 0xFFFF if value < 1 << 32 else _WORD
    root = int(np.sqrt(np.float64(value)))
    while root * root > value:
        root -= 1
    while (root + 1) * (root + 1) <= value:
        root += 1
    return root + 1 if value - root * root > root and root != most else root


@custom("SignalFilterBankSpectralSubtraction")
def spectral_subtraction(node: Node) -> HostCall:
    """The numbers less a moving average of them, the noise; and that average."""
    (x,) = exactly(node, 1)
    options = Options(node)
    n_channels = options.positive("num_channels")
    require_dtype(node, x, np.uint32)
    node.require(x.shape == (n_channels,), f"input must be ({n_channels},), got {x.shape}")
    names = ("", "alternate_")
    new = _alternate([options.integer(f"{name}smoothing") for name in names], n_channels)
    old = _alternate([options.integer(f"{name}one_minus_smoothing") for name in names], n_channels)
    smoothing, shift = (
        options.integer("smoothing_bits"),
        options.integer("spectral_subtraction_bits"),
    )
    least, clamps = options.integer("min_signal_remaining"), options.flag("clamping")
    node.require(
        0 <= smoothing < 32 and 0 <= shift < 64 and least >= 0,
        f"smoothing_bits and spectral_subtraction_bits must be shifts, got {smoothing}, {shift}",
    )
    noise = state_of(node, "noise", np.zeros(n_channels, np.uint32))

    def run(x: np.ndarray) -> list[np.ndarray]:
        energies, average = x.astype(np.uint64), noise()
        signal = energies << np.uint64(smoothing) & np.uint64(_WORD)
        moved = signal * new + average.astype(np.uint64) * old >> np.uint64(shift)
        estimate = moved & np.uint64(_WORD)
        lower = np.minimum(estimate, signal)
        average[...] = lower if clamps else estimate
        floor = energies * np.uint64(least) >> np.uint64(shift) & np.uint64(_WORD)
        return [np.maximum(signal - lower >> np.uint64(smoothing), floor), average]

    return by_numpy(node, run, (x.shape, np.uint32), (x.shape, np.uint32))


def _alternate(pair: list[int], n: int) -> np.ndarray:
    """The first number for even channels, the second for odd ones."""
    return np.resize(np.array(pair, np.int64).astype(np.uint64), n)


@custom("SignalPCAN")
def pcan(node: Node) -> HostCall:
    """The numbers times a gain that falls with the noise, pressed together."""
    x, noise, table = exactly(node, 3)
    shift = Options(node).integer("snr_shift")
    for operand in (x, noise):
        require_dtype(node, operand, np.uint32)
    require_dtype(node, table, np.int16)
    node.require(0 <= shift < 64, f"option snr_shift must be in [0, 64), got {shift}")
    node.require_equal(x.shape, noise.shape, f"shapes must be equal, got {x.shape}, {noise.shape}")
    node.require(table.size == 125, f"the table must have 125 numbers, got {table.size}")

    def run(x: np.ndarray, noise: np.ndarray, table: np.ndarray) -> list[np.ndarray]:
        gain = _gain(noise, table.astype(np.int64)).astype(np.uint64) & np.uint64(_WORD)
        snr = (x.astype(np.uint64) * gain >> np.uint64(shift)) & np.uint64(_WORD)
        low = (snr * snr & np.uint64(_WORD)) >> np.uint64(2 + 2 * _SNR_BITS - _GAIN_BITS)
        high = (snr >> np.uint64(_SNR_BITS - _GAIN_BITS)) - np.uint64(1 << _GAIN_BITS)
        return [np.where(snr < 2 << _SNR_BITS, low, high)]

    return by_numpy(node, run, (x.shape, np.uint32))


def _gain(noise: np.ndarray, table: np.ndarray) -> np.ndarray:
    """A function of numbers of any size: a parabola for each power of 2, from three entries."""
    x = noise.astype(np.int64)
    bits = np.frexp(np.maximum(x, 1).astype(np.float64))[1].astype(np.int64)
    at = np.maximum(4 * bits - 6, 0)
    part = np.where(bits < 11, x << np.maximum(11 - bits, 0), x >> np.maximum(bits - 11, 0)) & 0x3FF
    result = (table[at + 2] * part >> 5) + (table[at + 1] << 5)
    result = (result * part + (1 << 14) >> 15) + table[at]
    return np.where(x <= 2, table[np.minimum(x, 2)], result).astype(np.int16).astype(np.int64)


@custom("SignalFilterBankLog")
def log(node: Node) -> HostCall:
    """The natural logarithms times output_scale, 0 below 2, within int16."""
    (x,) = exactly(node, 1)
    options = Options(node)
    scale, bits = options.integer("output_scale"), options.integer("input_correction_bits")
    require_dtype(node, x, np.uint32)
    node.require(0 <= bits < 32, f"option input_correction_bits must be in [0, 32), got {bits}")

    def run(x: np.ndarray) -> list[np.ndarray]:
        shifted = x.astype(np.int64) << bits & _WORD
        logs = _log(np.maximum(shifted, 1), scale)
        return [np.where(shifted > 1, np.minimum(logs, (1 << 15) - 1), 0)]

    return by_numpy(node, run, (x.shape, np.int16))


def _log(x: np.ndarray, scale: int) -> np.ndarray:
    """The natural logarithms of positive numbers times `scale`, of 16 bits after the point."""
    power = np.frexp(x.astype(np.float64))[1].astype(np.int64) - 1
    remainder = x - (np.int64(1) << power)
    fraction = np.where(power < _LOG_BITS, remainder << np.maximum(_LOG_BITS - power, 0), remainder)
    fraction = np.where(power < _LOG_BITS, fraction, remainder >> np.maximum(power - _LOG_BITS, 0))
    unit = (1 << _LOG_BITS) // _LOG_SEGMENTS
    segment = fraction // unit
    table = _log_table()
    start, end = table[segment], table[segment + 1]
    curve = start + ((end - start) * (fraction - unit * segment) >> _LOG_BITS)
    binary = (power << _LOG_BITS) + fraction + curve
    half = 1 << (_LOG_BITS - 1)
    natural = _LN_2 * binary + half >> _LOG_BITS
    return (scale * natural & _WORD) + half >> _LOG_BITS


def _log_table() -> np.ndarray:
    """How far log2(1 + k / 128) lies above k / 128, of 16 bits after the point."""
    k = np.arange(_LOG_SEGMENTS + 1) / _LOG_SEGMENTS
    return np.floor((np.log2(1 + k) - k) * (1 << _LOG_BITS) + 0.5).astype(np.int64)
