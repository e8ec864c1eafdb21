"""Expressions of `tf.quantization`: codes of quantized types as the integers they are."""

from itertools import product

INTEGERS = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16"}
RANGES = ("-1.1, 1.2", ".25, .9", "-.7, .1")
MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")


def coded(quantized: str, dtype: str) -> str:
    """The codes as integers and the ends of their range."""
    return f"(lambda q: [tf.bitcast(q[0], tf.{INTEGERS[dtype]}), q[1], q[2]])({quantized})"


def restored(quantized: str, mode: str, more: str = "") -> str:
    """The numbers that the codes stand for."""
    return f"tf.dequantize(*({quantized}), mode='{mode}'{more})"


EXPRESSIONS = []
for dtype, mode, ends in product(INTEGERS, MODES, RANGES):
    quantized = f"tf.quantize_v2(a, {ends}, tf.{dtype}, mode='{mode}')"
    EXPRESSIONS += [coded(quantized, dtype), restored(quantized, mode)]
EVEN = "tf.quantize(a, -1.5, 1., tf.qint8, 'SCALED', 'HALF_TO_EVEN', narrow_range=True)"
ROWS = "tf.quantize(a, [-1., -2., -.5], [1., .5, 2.], tf.qint8, 'SCALED', axis=0)"
EXPRESSIONS += [
    coded(EVEN, "qint8"),
    restored(EVEN, "SCALED", ", narrow_range=True"),
    coded(ROWS, "qint8"),
    restored(ROWS, "SCALED", ", axis=0"),
    coded("tf.quantize(a, 0., 0., tf.quint8)", "quint8"),
    coded(
        "tf.quantized_concat(1, [tf.quantize(a, -1., 1., tf.quint8)[0],"
        " tf.quantize(p, 0., 3., tf.quint8)[0]], [-1., 0.], [1.25, 3.])",
        "quint8",
    ),
    "tf.fake_quant_with_min_max_vars_gradient(p, a, -.5, .75)",
    (
        "tf.fake_quant_with_min_max_vars_per_channel_gradient(p, a, [-.5, -1., 0., -.1],"
        " [.5, 1., 1., .2], num_bits=4)"
    ),
    "tf.fake_quant_with_min_max_args_gradient(p, a, -.5, .75)",
]
GRADIENTS = [
    "tf.quantization.quantize_and_dequantize(a, -1., 1., range_given=True)",
    "tf.quantization.quantize_and_dequantize_v2(a, -1., 1., range_given=True)",
    "tf.quantization.quantize_and_dequantize_v2(a, 0., 0., num_bits=4)",
    "tf.quantization.quantize_and_dequantize_v2(a, -p[0, 0], p[0, 1], range_given=True)",
]
