"""The ends of types, scales and shapes: what overflows, what is empty, what lies half way."""

import numpy as np
from cases import OPTIMIZED, Case, Refuse, every, f32, floats, i32

ASYMMETRIC = {"asymmetric_quantize_inputs": True}
BYTES = {"int8": -128, "uint8": 0}
LEAST = "LiteRT gives the lowest number in rows shorter than a vector, the highest in vectors"
UNWRITTEN = "LiteRT leaves the result unwritten"
BIG = f32([3e38, -3e38, np.inf, np.nan, 1])
HUGE = np.full((1, 4), 3e38, np.float32)


def positive(scale, zero_point):
    """The int16 that stand for positive reals."""
    return every("int16")[32769 + zero_point :]


def lowest(dtype, n):
    """`n` times the lowest number, and -1."""
    return [np.full(n, np.iinfo(dtype).min, dtype), np.full(n, -1, dtype)]


def table(name, op, dtype, values, expected, oracle="BUILTIN_REF", **options):
    """An operator that is a table, for each number of `dtype`."""
    x = positive(*values) if op == "RSQRT" else every(dtype)
    return Case(f"{op.lower()}/{name}", op, options, [x], quantization={0: values,
        "out0": expected}, oracle=oracle)  # fmt: skip


def nothing(op, dtype, expected, axis=1, **options):
    """A reduction of int8 or int16 over a dimension without elements."""
    scheme = (0.1, 0 if dtype == "int16" else 40)
    inputs = [np.zeros((65, 0, 9), dtype), i32([axis])]
    return Case(f"{op.lower()}/nothing_{dtype}", op, {}, inputs,
        lambda x, axes: np.full((65, 9), expected, dtype), constants=(1,),
        quantization={0: scheme, "out0": scheme}, **options)  # fmt: skip


def slices(name, begin, shape=(2, 3, 4), **masks):
    """STRIDED_SLICE from `begin` to the end."""
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    steps = i32([1] * len(begin))
    return Case(f"strided_slice/{name}", "STRIDED_SLICE", masks,
        [x, i32(begin), i32([9] * len(begin)), steps], constants=(1, 2, 3),
        oracle=OPTIMIZED)  # fmt: skip


def ties(op, least, greatest, **options):
    """Reals half way between bytes, for bytes from the scale that `least` and `greatest` give."""
    x = np.random.default_rng(7).integers(2 * least, 2 * greatest + 1, (40, 32)) / 2
    x[:, :2] = least, greatest
    shapes = {"CONV_2D": ((40, 1, 1, 32), (32, 1, 1, 32)), "FULLY_CONNECTED": ((40, 32), (32, 32)),
              "BATCH_MATMUL": ((4, 10, 32), (32, 32))}  # fmt: skip
    weights = [np.eye(32, dtype=np.int8).reshape(shapes[op][1])]
    inputs = [(x * 0.3082169).astype(np.float32).reshape(shapes[op][0]), *weights]
    if op == "CONV_2D":
        inputs.append(np.zeros(32, np.float32))
    label = "".join("_asymmetric" for name in options if name.startswith("asym"))
    return Case(f"{op.lower()}/ties{label}_{least}_{greatest}", op, options, inputs,
        constants=range(1, len(inputs)), quantization={1: (np.full(32, 0.01), 0, 0)
        if op == "CONV_2D" else (0.01, 0)})  # fmt: skip


CASES = [
    *(
        # three numbers alone: in LiteRT's vectors the shift gives 0
        Case(
            f"hard_swish/gate_beyond_int32_{power}",
            "HARD_SWISH",
            {},
            [np.int8([100, 5, -7])],
            quantization={0: (10.0**power, 3), "out0": (10.0**power, -2)},
        )
        for power in (12, 15, 20, 25, 30)
    ),
    Case(
        "batch_matmul/scales_divided_in_float64",
        "BATCH_MATMUL",
        {},
        [np.array([[-128]], np.int8), np.array([[69]], np.int8)],
        quantization={0: (64.0, 99), 1: (0.29012078, 0), "out0": (1368.6449, 121)},
    ),
    Case(
        "l2_normalization/squares_beyond_float32",
        "L2_NORMALIZATION",
        {},
        [f32([[1e30, 1], [2e-30, 1e-30]])],
    ),
    Case(
        "transpose_conv/between_taps",
        "TRANSPOSE_CONV",
        {"stride_h": 3, "stride_w": 3},
        [
            i32([1, 6, 6, 1]),
            np.zeros((1, 1, 1, 1), np.float32),
            f32([np.nan, np.inf, 1, 2]).reshape(1, 2, 2, 1),
        ],
        outputs=[np.float32],
        constants=(0, 1),
    ),
    # reals that become bytes: halves, before the zero point is added
    *(
        ties(op, *ends, **options)
        for ends in ((-128, 127), (-127, 127), (0, 255), (-255, 0), (-100, 155), (-51, 51))
        for op, options in (
            ("CONV_2D", {"stride_h": 1, "stride_w": 1}),
            ("FULLY_CONNECTED", {}),
            ("FULLY_CONNECTED", ASYMMETRIC),
            ("BATCH_MATMUL", ASYMMETRIC),
        )
    ),
    # one half of a step, which float64 would round the other way
    *(
        table(f"half_{dtype}_{bits}", "LOGISTIC", dtype, (2.0**-bits, 0), (1 / 256, low))
        for dtype, low in BYTES.items()
        for bits in (7, 8, 9, 10, 11)
    ),
    table("steps_int16", "RSQRT", "int16", (0.0625, 0), (1e-5, 0)),
    table("steps_int16_2", "RSQRT", "int16", (0.001, 0), (2e-4, 0)),
    Case(
        "batch_matmul/float32_scales",
        "BATCH_MATMUL",
        {},
        [np.full((1, 40), 51, np.int8), np.full((40, 1), 38, np.int8)],
        quantization={0: (0.09607809, 0), 1: (0.0021530702, 0), "out0": (0.109461546, 0)},
    ),
    # beyond the ends: TFLite makes 0 of infinity minus infinity
    Case(
        "exp/infinite_int16",
        "EXP",
        {},
        [np.arange(1600, 32767, 7, np.int16)],
        quantization={0: (0.0625, 0), "out0": (0.001, 0)},
    ),
    *(
        Case(
            f"{op.lower()}/lowest_{dtype}_{n}",
            op,
            {},
            lowest(dtype, n),
            lambda a, b: np.full(a.shape, np.iinfo(a.dtype).max, a.dtype),
            oracle=None if n < 16 and op == "FLOOR_DIV" else OPTIMIZED,
            why=LEAST,
        )
        for op, dtype in (("FLOOR_DIV", "int8"), ("FLOOR_DIV", "int16"), ("DIV", "int32"))
        for n in (1, 16, 32)
    ),
    Case("add_n/overflow", "ADD_N", {}, [BIG, BIG]),
    Case("add_n/overflow_and_back", "ADD_N", {}, [BIG, BIG, -BIG, BIG]),
    Case("add_n/ends_int32", "ADD_N", {}, [i32([-(2**31), 2**31 - 1])] * 2),
    *(
        Case(
            f"fully_connected/infinite_{name.lower()}",
            "FULLY_CONNECTED",
            {"fused_activation_function": name},
            [HUGE, np.array([[127] * 4, [-127] * 4], np.int8)],
            constants=(1,),
            quantization={1: (1.0, 0)},
        )
        for name in ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")
    ),
    # nothing
    *(
        Case(
            f"batch_matmul/nothing_{dtype}",
            "BATCH_MATMUL",
            {},
            [np.zeros((2, 1, 0), dtype), np.zeros((0, 13), dtype)],
            quantization={0: (0.1, zero), 1: (0.1, zero), "out0": (0.1, 2 * zero)},
        )
        for dtype, zero in (("int8", -3), ("int16", 0))
    ),
    Case("pow/nothing", "POW", {}, [i32(np.zeros((0, 3)))] * 2, constants=(1,)),
    *(nothing("MEAN", dtype, 0) for dtype in ("int8", "uint8", "int16")),
    *(
        nothing("SUM", dtype, zero, oracle=None, why=UNWRITTEN)
        for dtype, zero in (("int8", 40), ("uint8", 40), ("int16", 0))
    ),
    *(
        nothing("REDUCE_PROD", dtype, zero + 10, oracle=None, why=UNWRITTEN)
        for dtype, zero in (("int8", 40), ("int16", 0))
    ),
    Case(
        "reduce_prod/nothing_left",
        "REDUCE_PROD",
        {},
        [np.zeros((0, 3), np.int8), i32([1])],
        constants=(1,),
        quantization={0: (0.1, 0), "out0": (0.1, 0)},
    ),
    # more than there is
    slices("surplus", [0, 1, 0, 5]),
    slices("surplus_2", [1, 1, 1, 1, 1, 1]),
    slices("surplus_new", [0, 1, 0, 1, 7], new_axis_mask=1),
    slices("surplus_picked", [1, 2, 3, 0], shrink_axis_mask=6),
    Refuse(
        "strided_slice/surplus_ellipsis",
        "STRIDED_SLICE",
        {"ellipsis_mask": 1},
        [floats(2, 3), i32([0] * 4), i32([1] * 4), i32([1] * 4)],
        "begin must name at most 2 dimensions of shape (2, 3), got 3",
        constants=(1, 2, 3),
    ),
]
