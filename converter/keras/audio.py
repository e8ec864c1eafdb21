"""Spectrograms of sound: short-time Fourier transforms, and bands of the mel scale."""

from __future__ import annotations

import numpy as np

from ...graph.core.graph import Tensor
from .files.architecture import Layer
from .functions.products import matmul
from .registry import Call, is_number, layer

EPSILON = 1e-7
"""Keras' backend.epsilon()."""
KERNELS = {"real": ("real_kernel",), "imag": ("imag_kernel",)}
MAX_ELEMENTS = 1 << 26
MEL_BREAK, MEL_FACTOR = 700.0, 1127.0
COSINES = {"hann": 0.5, "hamming": 0.54}
"""Windows a - (1 - a) cos(2 pi i / n), by the name of their a."""


def spectrum_kernels(layer: Layer) -> tuple[str, ...]:
    """Weights of an STFTSpectrogram."""
    return KERNELS.get(str(layer.config.get("mode")), ("real_kernel", "imag_kernel"))


@layer("STFTSpectrogram", weights=spectrum_kernels)
def stft_spectrogram(call: Call, x: Tensor) -> Tensor:
    """Sums of short parts of a signal with windowed sines and cosines, which are weights."""
    shape = call.shape(x, 3)
    channels_first = call.is_channels_first()
    n = call.known(shape[1 if channels_first else 2], "the number of channels")
    if not channels_first:
        x = call.op("Transpose", x, call.constant([0, 2, 1]))
    mode = call.text("mode", "log", "magnitude", "psd", "real", "imag", "angle", "stft")
    signals = [_convolved(call, x, n, name) for name in spectrum_kernels(call.layer)]
    y = _of_mode(call, mode, signals)
    return _arranged(call, y, n, channels_first)


def _positive(call: Call, name: str, default: int) -> int:
    """A setting that is a positive integer, or None for a default."""
    return default if call.setting(name) is None else call.integers(name, 1)[0]


def _convolved(call: Call, x: Tensor, n: int, name: str) -> Tensor:
    """[batch, channels, parts, frequencies] of signals [batch, channels, samples]."""
    (length,) = call.integers("frame_length", 1, 256)
    step = _positive(call, "frame_step", length // 2)
    bins = _positive(call, "fft_length", 1 << (length - 1).bit_length()) // 2 + 1
    kernel = call.weight_value(name, [length, 1, bins])
    rows = call.op("Reshape", x, call.sizes([-1, 1, call.size(x, 2), 1]))
    y = call.op(
        "Conv2D",
        rows,
        call.constant(kernel[None], x),
        strides=[1, 1, step, 1],
        padding=call.text("padding", "valid", "same").upper(),
    )
    return call.op("Reshape", y, call.sizes([-1, n, call.size(y, 2), bins]))


def _of_mode(call: Call, mode: str, signals: list[Tensor]) -> Tensor:
    """What a spectrogram shows of the real and the imaginary part."""
    if len(signals) == 1:
        return signals[0]
    real, imaginary = signals
    if mode == "angle":
        return call.op("Atan2", imaginary, real)
    if mode == "stft":
        return call.op("ConcatV2", real, imaginary, call.constant(3))
    power = call.op("AddV2", call.op("Square", real), call.op("Square", imaginary))
    if mode == "psd":
        bins = call.known(call.shape(power)[3], "the number of frequencies")
        begin, size = call.constant([0, 0, 0, 1]), call.constant([-1, -1, -1, bins - 2])
        inner = call.op("Slice", power, begin, size)
        pairs = call.constant([[0, 0], [0, 0], [0, 0], [1, 1]])
        return call.op("AddV2", power, call.op("Pad", inner, pairs))
    least = call.constant(EPSILON, power)
    magnitude = call.op("Sqrt", call.op("Maximum", power, least))
    if mode == "magnitude":
        return magnitude
    return call.op("Log", call.op("Maximum", magnitude, least))


def _arranged(call: Call, y: Tensor, n: int, channels_first: bool) -> Tensor:
    """[batch, channels, parts, frequencies] as the layer gives it."""
    if call.flag("expand_dims"):
        return y if channels_first else call.op("Transpose", y, call.constant([0, 2, 3, 1]))
    width = n * call.known(call.shape(y)[3], "the number of frequencies")
    if channels_first:
        y = call.op("Transpose", y, call.constant([0, 1, 3, 2]))
        return call.op("Reshape", y, call.sizes([-1, width, call.size(y, 3)]))
    y = call.op("Transpose", y, call.constant([0, 2, 1, 3]))
    return call.op("Reshape", y, call.sizes([-1, call.size(y, 1), width]))


@layer("MelSpectrogram")
def mel_spectrogram(call: Call, x: Tensor) -> Tensor:
    """The power of a signal in bands of the mel scale, over time; in decibels where it says so."""
    shape = call.shape(x, 1, 2)
    samples = call.known(shape[-1], "the number of samples")
    (size,), (step,) = (
        call.integers("fft_length", 1, 2048),
        call.integers("sequence_stride", 1, 512),
    )
    call.require(samples > size // 2, f"the input must have more than {size // 2} samples")
    x = call.cast(x, np.float32)
    pairs = [[0, 0]] * (len(shape) - 1) + [[size // 2] * 2]
    padded = call.op("MirrorPad", x, call.constant(pairs), mode="REFLECT")
    n_parts = (samples + 2 * (size // 2) - size) // step + 1
    call.require(n_parts * size <= MAX_ELEMENTS, f"has {n_parts} parts of {size} samples: too many")
    starts = np.arange(n_parts) * step
    indices = call.constant(starts[:, None] + np.arange(size))
    parts = call.op("GatherV2", padded, indices, call.constant(len(shape) - 1))
    window = call.constant(_window(call, size), x)
    spectrum = call.op("RFFT", call.op("Mul", parts, window), call.constant([size]))
    power = call.op("ComplexAbs", spectrum)
    exponent = call.number("mag_exp", 2.0)
    if exponent != 1:
        power = call.op("Pow", power, call.constant(exponent, power))
    y = matmul(call, power, call.constant(_mel_weights(call, size // 2 + 1), power))
    if call.flag("power_to_db", True):
        y = _decibels(call, y)
    return call.op(
        "Transpose", y, call.constant([*range(len(shape) - 1), len(shape), len(shape) - 1])
    )


def _window(call: Call, size: int) -> np.ndarray:
    """The factors of a part's samples, zeros around them."""
    length = _positive(call, "sequence_length", size)
    kind = call.setting("window", "hann")
    call.check(length <= size, "sequence_length", f"at most {size}")
    call.check(kind is None or kind in COSINES, "window", f"None, {' or '.join(COSINES)}")
    values = np.ones(length)
    if kind is not None and length > 1:
        period = length - length % 2
        a = COSINES[kind]
        values = a - (1 - a) * np.cos(2 * np.pi * np.arange(length) / period)
    before = (size - length) // 2
    return np.pad(values, (before, size - length - before))


def _mel(frequencies: np.ndarray) -> np.ndarray:
    return MEL_FACTOR * np.log1p(frequencies / MEL_BREAK)


def _mel_weights(call: Call, bins: int) -> np.ndarray:
    """[bins, bands]: triangles over the mel scale, as in the HTK toolkit."""
    rate, (bands,) = call.number("sampling_rate", 16000), call.integers("num_mel_bins", 1, 128)
    call.check(bands * bins <= MAX_ELEMENTS, "num_mel_bins", f"at most {MAX_ELEMENTS // bins}")
    lowest, highest = call.number("min_freq", 20.0), call.setting("max_freq") or int(rate / 2)
    call.check(is_number(highest) and highest > lowest >= 0, "max_freq", "above min_freq")
    frequencies = _mel(np.linspace(0.0, rate / 2, bins)[1:, None])
    first, last = _mel(np.asarray([lowest, highest], np.float64)).tolist()
    edges = np.linspace(first, last, bands + 2)
    low, center, high = edges[:-2], edges[1:-1], edges[2:]
    rising, falling = (frequencies - low) / (center - low), (high - frequencies) / (high - center)
    return np.pad(np.maximum(0.0, np.minimum(rising, falling)), ((1, 0), (0, 0)))


def _decibels(call: Call, y: Tensor) -> Tensor:
    """10 log10 of a power, relative to a reference, at most `top_db` below the largest."""
    least = call.number("min_power", 1e-10)
    logarithm = call.op("Log", call.op("Maximum", y, call.constant(least, y)))
    decibels = call.op("Mul", logarithm, call.constant(10 / np.log(10), y))
    reference = 10 * np.log10(max(abs(call.number("ref_power", 1.0)), least))
    decibels = call.op("Sub", decibels, call.constant(reference, y))
    axes = call.constant(list(range(len(call.shape(y)))))
    largest = call.op("Max", decibels, axes)
    floor = call.op("Sub", largest, call.constant(call.number("top_db", 80.0), y))
    return call.op("Maximum", decibels, floor)
