"""Numbers of another type or scale, and images of another size."""

import numpy as np
from cases import Case, Refuse, f32, floats, i32

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")
EDGES = f32([0, -0.0, 0.5, -0.5, 1.9, -1.9, 127.6, 300, -300, 7e4, 3e9, -3e9, 1e20, -1e20])
HALVES = np.arange(65536, dtype=np.uint16).view(np.float16)
ROUGH = f32(
    [0, -0.0, 1 / 3, 1e-5, 3e-8, 2.9802322e-8, -6e-8, 65519, 65520, 1e9, -1e9, np.inf, 2049, 2051]
)
HALVED = np.float16(
    [0, -0.0, 1 / 3, 1e-5, 3e-8, 0, -6e-8, 65504, np.inf, np.inf, -np.inf, np.inf, 2048, 2052]
)


def saturated(dtype):
    """Without fraction, within the limits; nan gives the highest."""

    def expected(x):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        wide = np.trunc(x.astype(np.float64))
        inside = np.clip(np.nan_to_num(wide), -(2.0**62), 2.0**62).astype(np.int64)
        values = np.where(wide <= low, low, np.where(wide < high, inside, high))
        return values.astype(dtype)

    return expected


def extremes(dtype):
    if dtype == "bool":
        return np.array([False, True])
    if np.dtype(dtype).kind == "f":
        return EDGES.astype(dtype)
    known = np.iinfo(dtype)
    return np.array([known.min, 0, 1, 100, known.max // 3, known.max], dtype)


def as_type(dtype):
    return lambda x: x.astype(dtype)


def dequantized(scale, zero_point, dtype):
    def expected(x):
        value = x / np.float32(scale)
        away = np.trunc(value + np.copysign(np.float32(0.49999997), value))
        return np.clip(away + zero_point, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)

    return expected


def meant(scale, zero_point):
    return lambda x: (np.float64(np.float32(scale)) * (x.astype(int) - zero_point)).astype(
        np.float32
    )


def everything(dtype):
    known = np.iinfo(dtype)
    return np.arange(known.min, known.max + 1, max(1, (known.max - known.min) // 4096)).astype(
        dtype
    )


def ties(scale):
    return ((np.arange(-300, 300) + f32(0.5)) * f32(scale)).astype(np.float32)


def nearest(align, half):
    def expected(x, size):
        at = []
        for n, m in zip(x.shape[1:3], size, strict=True):
            scale = (
                np.float32((n - 1) / np.float32(m - 1))
                if align and m > 1
                else np.float32(n / np.float32(m))
            )
            place = (np.arange(m, dtype=np.float32) + np.float32(0.5 if half else 0)) * scale
            at.append(
                np.minimum(
                    np.floor(place + np.float32(0.5)) if align else np.floor(place), n - 1
                ).astype(int)
            )
        return x[:, at[0]][:, :, at[1]]

    return expected


def bilinear(align, half):
    def weights(n, m):
        scale = (n - 1) / (m - 1) if align and m > 1 else n / m
        place = (np.arange(m) + 0.5) * scale - 0.5 if half else np.arange(m) * scale
        place = np.clip(place, 0, n - 1)
        low = np.floor(place).astype(int)
        rows = np.zeros((m, n))
        rows[np.arange(m), low] = 1 - (place - low)
        rows[np.arange(m), np.minimum(low + 1, n - 1)] += place - low
        return rows

    def expected(x, size):
        rows, columns = weights(x.shape[1], size[0]), weights(x.shape[2], size[1])
        return np.einsum("ih,jw,nhwc->nijc", rows, columns, x.astype(np.float64))

    return expected


def in_steps(low, high, bits, narrow):
    """TF's fake quantization, in float64 with the zero point of float32."""
    low, high = np.float32(low), np.float32(high)
    first, last = np.float32(narrow), np.float32(2**bits - 1)
    scale = (high - low) / (last - first)
    zero_point = np.floor(np.clip(first - low / scale, first, last) + np.float32(0.5))
    bottom, top = (first - zero_point) * scale, (last - zero_point) * scale

    def expected(x):
        clipped = np.clip(x, bottom, top)
        steps = np.floor((clipped - bottom) * (np.float32(1) / scale) + np.float32(0.5))
        return steps * scale + bottom

    return expected


def image(shape, dtype):
    if dtype == "float32":
        return floats(*shape, low=-5, high=5)
    return np.random.default_rng(shape).integers(0, 120, shape).astype(dtype)


MODES = (("plain", False, False), ("corners", True, False), ("centers", False, True))
SIZES = (
    ((1, 3, 4, 2), (6, 8)),
    ((2, 5, 7, 1), (3, 4)),
    ((1, 1, 1, 3), (2, 3)),
    ((1, 4, 4, 2), (1, 9)),
)


def resize(op, name, expected, shape, size, dtype, align, half, **extra):
    options = {"align_corners": align, "half_pixel_centers": half}
    return Case(
        f"{op.lower()}/{name}_{dtype}_{'x'.join(map(str, (*shape, *size)))}", op, options,
        [image(shape, dtype), i32(size)], expected, constants=(1,), rtol=1e-5, atol=2e-6, **extra,
    )  # fmt: skip


CASES = [
    *[
        Case(f"cast/{source}_to_{target}", "CAST", {}, [extremes(source)], as_type(target),
            [target])
        for source in ("bool", *INTEGERS)
        for target in ("bool", *INTEGERS, "float32", "float64")
        if source != target
    ],
    *[
        Case(f"cast/{source}_to_{target}", "CAST", {},
            [np.append(extremes(source), [np.nan, np.inf, -np.inf]).astype(source)],
            saturated(target), [target])
        for source in ("float32", "float64")
        for target in INTEGERS
    ],
    *[
        Case(f"cast/{source}_to_{target}", "CAST", {},
            [f32([0, -0.0, 1.5, np.nan, np.inf, 3.3]).astype(source)], as_type(target), [target])
        for source, target in (("float32", "bool"), ("float64", "bool"), ("float32", "float64"),
            ("float64", "float32"))
    ],
    Case("cast/every_half", "CAST", {}, [HALVES], as_type(np.float32), [np.float32], rtol=0,
        atol=0),
    Case("cast/to_half", "CAST", {}, [ROUGH], lambda _: HALVED, [np.float16], rtol=0, atol=0),
    Case("cast/half_to_int", "CAST", {}, [np.float16([1.5, -2.5, 300, np.inf])], saturated("int8"),
        ["int8"]),
    Case("cast/int_to_half", "CAST", {}, [i32([1, -2, 70000])],
        lambda x: np.float16([1, -2, np.inf]), ["float16"]),
    Case("cast/same", "CAST", {}, [f32([1, 2])], as_type(np.float32)),
    Case("cast/empty", "CAST", {}, [i32(np.zeros((0, 3)))], as_type(np.float32), [np.float32],
        oracle=None, why="LiteRT takes no empty input"),
    Case("cast/complex", "CAST", {}, [f32([1, 2])], lambda x: x.astype(np.complex64),
        [np.complex64]),
    Case("bitcast/same_width", "BITCAST", {}, [f32([1, -2.5])], lambda x: x.view(np.int32),
        [np.int32]),
    Case("bitcast/narrow", "BITCAST", {}, [i32([[1, -2], [3, 1 << 20]])],
        lambda x: x.view(np.int16).reshape(2, 2, 2), [np.int16]),
    Case("bitcast/wide", "BITCAST", {}, [np.arange(8, dtype=np.int16).reshape(4, 2)],
        lambda x: x.view(np.int32).reshape(4), [np.int32]),
    Refuse("bitcast/last", "BITCAST", {}, [np.arange(6, dtype=np.int16).reshape(2, 3)],
        "the last dimension must be 2 to make a int32 of int16, got (2, 3)", [np.int32]),
    *[
        Case(f"quantize/{dtype}_{scale}_{zero}", "QUANTIZE", {},
            [np.concatenate([ties(scale), floats(500, low=-200 * scale, high=200 * scale)])],
            dequantized(scale, zero, dtype), [dtype], quantization={"out0": (scale, zero)})
        for dtype, zeros in (("int8", (0, -128, 7)), ("uint8", (0, 128)), ("int16", (0,)))
        for scale in (0.5, 0.0078125, 0.1)
        for zero in zeros
    ],
    *[
        Case(f"dequantize/{dtype}_{scale}_{zero}", "DEQUANTIZE", {}, [everything(dtype)],
            meant(scale, zero), [np.float32], rtol=0, atol=0, quantization={0: (scale, zero)})
        for dtype, zeros in (("int8", (0, -128, 7)), ("uint8", (0, 128)), ("int16", (0,)))
        for scale in (0.5, 0.1)
        for zero in zeros
    ],
    Case("dequantize/half", "DEQUANTIZE", {}, [HALVES], as_type(np.float32), [np.float32], rtol=0,
        atol=0),
    *[
        Case(f"requantize/{source}_to_{target}_{ratio}", "QUANTIZE", {}, [everything(source)], None,
            [target], quantization={0: (0.25 * ratio, zero), "out0": (0.25, zero_out)})
        for source, target, zero, zero_out in (
            ("int8", "int8", 3, -9),
            ("int8", "uint8", 3, 131),
            ("int8", "int16", 3, 0),
            ("uint8", "int8", 128, 0),
            ("uint8", "int16", 128, 0),
            ("uint8", "uint8", 5, 7),
            ("int16", "int8", 0, 4),
            ("int16", "int16", 0, 0),
            ("int16", "int32", 0, 0),
        )
        for ratio in (1.0, 0.3, 0.004, 2.7)
    ],
    *[
        Case(f"fake_quant/{bits}_{narrow}_{low}", "FAKE_QUANT",
            {"min": low, "max": high, "num_bits": bits, "narrow_range": narrow},
            [np.concatenate([floats(300, low=-9, high=9), f32([low, high, 0])])],
            in_steps(low, high, bits, narrow), rtol=1e-5, atol=1e-6,
            **({"oracle": None, "why": "LiteRT has no narrow range"} if narrow else {}))
        for bits, narrow in ((8, False), (8, True), (4, False), (16, False))
        for low, high in ((-6.0, 5.9), (0.0, 6.0), (-0.1, 8.0))
    ],
    Refuse("fake_quant/limits", "FAKE_QUANT", {"min": 1.0, "max": 1.0, "num_bits": 8}, [floats(3)],
        "min must be below max, got 1.0 and 1.0"),
    Refuse("fake_quant/bits", "FAKE_QUANT", {"min": 0.0, "max": 1.0, "num_bits": 1}, [floats(3)],
        "num_bits must be in [2, 16], got 1"),
    Refuse("quantize/scale", "QUANTIZE", {}, [floats(3)], "the output must have a scale",
        [np.int8]),
    Refuse("quantize/types", "QUANTIZE", {}, [everything("int8")],
        "int8 cannot be quantized to int32", [np.int32],
        quantization={0: (0.5, 0), "out0": (0.5, 0)}),
    Refuse("dequantize/scale", "DEQUANTIZE", {}, [everything("int8")],
        "the input must have a scale", [np.float32]),
    *[
        resize("RESIZE_NEAREST_NEIGHBOR", name, nearest(align, half), shape, size, dtype, align,
            half)
        for name, align, half in MODES
        for shape, size in SIZES
        for dtype in ("float32", "int8", "int16")
    ],
    *[
        resize("RESIZE_BILINEAR", name, bilinear(align, half), shape, size, "float32", align, half)
        for name, align, half in MODES
        for shape, size in SIZES
    ],
    *[
        resize("RESIZE_BILINEAR", name, None, shape, size, dtype, align, half,
            quantization={0: (0.5, 0), "out0": (0.5, 0)})
        for name, align, half in MODES
        for shape, size in SIZES
        for dtype in ("int8", "uint8", "int16")
    ],
    Refuse("resize_bilinear/rank", "RESIZE_BILINEAR", {}, [floats(2, 3, 1), i32([2, 2])],
        "input must have 4 dimensions, got shape (2, 3, 1)", constants=(1,)),
    Refuse("resize_bilinear/both", "RESIZE_BILINEAR",
        {"align_corners": True, "half_pixel_centers": True}, [floats(1, 2, 3, 1), i32([2, 2])],
        "align_corners and half_pixel_centers must not both be set", constants=(1,)),
    Refuse("resize_bilinear/size", "RESIZE_BILINEAR", {},
        [floats(1, 2, 3, 1), i32([2, 0])], "the size must be two numbers of 1 or more, got [2, 0]",
        constants=(1,)),
    *[
        Case(f"resize_nearest_neighbor/{x.dtype.name}", "RESIZE_NEAREST_NEIGHBOR", {},
            [x.reshape(1, 2, 2, 1), i32([4, 2])], lambda x, size: x.repeat(2, 1), constants=(1,),
            oracle=None, why="LiteRT does not take the type")
        for x in (np.array([1j, 2, 3, 4]), np.array([b"a", b"b", b"", b"d"], object))
    ],
    Refuse("resize_nearest_neighbor/size", "RESIZE_NEAREST_NEIGHBOR", {},
        [floats(1, 2, 3, 1), i32([2, -1])],
        "the size must be two numbers of 0 or more, got [2, -1]", constants=(1,)),
]  # fmt: skip
