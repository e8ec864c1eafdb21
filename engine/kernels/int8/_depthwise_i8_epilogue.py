"""What becomes of the sums of a depthwise strip (_depthwise_i8_strip.py).

Each is a generator `finish(w, terms, numbers, scales, positions, padded)`: for the kinds of
rounding there are, each in code of its own, it gives a function of the sums of a vector, or of the
four of a block, to the vectors of results in the order of the channels.
"""

from llvmlite import ir

from ...build.vector import FLOAT, WORD
from .._int32 import SHORT
from ._requantize import Requantizer, each_rounding, terms_at


def int8_epilogue(w, terms, numbers, scale, positions, padded):
    """Sums as 8-bit integers (_requantize.py); `numbers` are its numbers, the rounding first."""
    numbers = w.pointer(numbers)
    rounding, *limits = (w.load(numbers, 8 * i, WORD) for i in range(5))
    terms = [w.pointer(terms_at(w, terms, position)) for position in positions]
    with each_rounding(w, rounding) as kinds:
        for kind in kinds:
            requantizers = [Requantizer(w, kind, at, 0, limits) for at in terms]

            def results(sums, requantizers=requantizers):
                values = [r.int32(x) for r, x in zip(requantizers, sums, strict=True)]
                return [requantizers[0].limited(w.saturated_bytes(values))]

            yield results


def int16_epilogue(w, terms, numbers, scale, positions, padded):
    """Sums as int16: (sums * multiplier + offset) >> shift in int64, within the limits `numbers`.

    `terms` are the offsets of all channels, then multiplier + shift * 2**32 of each.
    """
    builder, numbers, half = w.builder, w.pointer(numbers), w.width // 2
    low, high = (w.splat(w.load(numbers, 8 * i, WORD), WORD, half) for i in range(2))
    (channel,) = positions
    offsets = w.move(w.pointer(terms), w.mul(channel, 8))
    factors = w.move(offsets, w.mul(padded, 8))

    def results(vectors):
        (sums,) = vectors
        halves, undefined = [], ir.Constant(sums.type, ir.Undefined)
        for start in (0, half):
            factor = w.read(factors, 8 * start, w.words(), 8)
            part = w.shuffle(sums, undefined, list(range(start, start + half)))
            product = builder.mul(builder.sext(part, w.words()), w.low_halves(factor))
            value = builder.add(product, w.read(offsets, 8 * start, w.words(), 8))
            value = builder.ashr(value, builder.lshr(factor, w.splat(32, WORD, half)))
            halves.append(builder.trunc(w.clamp_int(value, low, high), ir.VectorType(SHORT, half)))
        return [w.shuffle(*halves, list(range(w.width)))]

    yield results


def float32_epilogue(w, terms, numbers, scale, positions, padded):
    """Sums as float32: clamp(sums * (scale of the image * scale) + bias) with the limits `numbers`.

    `terms` are the scales of all channels, then the biases, as float32.
    """
    builder, numbers, kind = w.builder, w.pointer(numbers), w.i32_vector
    low, high = (w.repeat(w.load(numbers, 4 * i, FLOAT)) for i in range(2))
    image_scale = w.repeat(w.load(w.pointer(scale), 0, FLOAT))

    terms = [w.move(w.pointer(terms), w.mul(position, 4)) for position in positions]
    scales = [w.mul(image_scale, w.load(at)) for at in terms]

    def real(sums, scale, at):
        bias = w.load(w.move(at, w.mul(padded, 4)))
        return builder.bitcast(w.add(w.mul(builder.sitofp(sums, w.vector), scale), bias), kind)

    def results(sums):
        values = [real(*vector) for vector in zip(sums, scales, terms, strict=True)]
        for value in w.in_lane_order(values):  # limits first would need two instructions more
            yield builder.bitcast(w.clamp(builder.bitcast(value, w.vector), low, high), kind)

    yield results
