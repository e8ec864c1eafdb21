"""The files of operators.py: operators one at a time, in the types and sizes that nets have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod, sqrt
from typing import Any

import numpy as np

from flatlite.schema import model as schema
from flatlite.schema.flatbuffer import options_class
from flatlite.schema.quantization import Quantization

SEED = 1
IMAGE, ROWS = (1, 32, 32, 32), (1, 512, 64)
TYPE_NAMES = {"FLOAT32": "f32", "INT8": "i8", "UINT8": "u8", "INT16": "i16", "INT32": "i32"}
TYPE_CODES = {"FLOAT32": 0, "INT32": 2}  # of CAST, in the schema's numbers


@dataclass(frozen=True)
class Operand:
    """An input or a result: float32 are drawn within `span`, integers of a scale from all."""

    shape: tuple[int, ...]
    dtype: str = "FLOAT32"
    scale: float = 0.0
    zero: int = 0
    span: tuple[float, float] = (-4.0, 4.0)

    def draw(self, random: np.random.Generator) -> np.ndarray:
        """Numbers for it."""
        dtype = np.dtype(self.dtype.lower())
        if self.scale:
            limits = np.iinfo(dtype)
            return random.integers(limits.min, limits.max, self.shape, dtype, endpoint=True)
        return random.uniform(*self.span, self.shape).astype(dtype)

    @property
    def quantization(self) -> Quantization | None:
        """Its scale and zero point."""
        return Quantization(np.float32([self.scale]), np.int64([self.zero])) if self.scale else None


@dataclass(frozen=True)
class Row:
    """An operator: its inputs, constants behind them, its result, and its options."""

    kind: str
    inputs: tuple[Operand, ...]
    result: Operand
    constants: tuple[np.ndarray, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    channel_axis: int | None = None  # of int8 weights, which have a scale for each channel

    @property
    def name(self) -> str:
        """The operator, its type and size, and what is particular."""
        first = self.inputs[0]
        size = "x".join(map(str, first.shape))
        types = [TYPE_NAMES.get(o.dtype, o.dtype.lower()) for o in (first, self.result)]
        types = "-".join(dict.fromkeys(types))
        return " ".join(filter(None, (self.kind, types, size, self.note)))

    def write(self) -> tuple[bytes, list[np.ndarray]]:
        """The file, and inputs for it."""
        graph = schema.Subgraph("main")

        def tensor(name: str, operand: Operand) -> int:
            graph.tensors.append(
                schema.Tensor(name, operand.shape, operand.dtype, quantization=operand.quantization)
            )
            return len(graph.tensors) - 1

        graph.inputs = [tensor(f"x{i}", operand) for i, operand in enumerate(self.inputs)]
        operands = [*graph.inputs]
        for i, array in enumerate(self.constants):
            operands.append(len(graph.tensors))
            graph.tensors.append(self._constant(f"c{i}", array))
        graph.outputs = [tensor("y", self.result)]
        record = options_class(self.kind)
        options = record(**self.options) if record else None
        graph.operators.append(schema.Operator(self.kind, operands, graph.outputs, options))
        random = np.random.default_rng(SEED)
        return schema.save(schema.Model([graph])), [x.draw(random) for x in self.inputs]

    def _constant(self, name: str, array: np.ndarray) -> schema.Tensor:
        """A constant: numbers as they are, or weights and their bias."""
        quantization, scale = None, self.inputs[0].scale
        if scale and self.channel_axis is not None:
            is_bias = array.ndim == 1
            channels = array.shape[0 if is_bias else self.channel_axis]
            scales = np.linspace(0.001, 0.01, channels, dtype=np.float32)
            scales *= np.float32(scale if is_bias else 1)
            quantization = Quantization(
                scales, np.zeros(channels, np.int64), 0 if is_bias else self.channel_axis
            )
        return schema.Tensor(
            name, array.shape, array.dtype.name.upper(), data=array, quantization=quantization
        )


def unary(kind: str, x: Operand, result: Operand | None = None, note: str = "", **options) -> Row:
    """An operator of one input, with a result like it."""
    return Row(kind, (x,), result or Operand(x.shape, x.dtype), (), options, note)


def pair(kind: str, a: Operand, b: Operand, result: Operand | None = None, note: str = "") -> Row:
    """An operator of two inputs that are broadcast."""
    shape = tuple(np.broadcast_shapes(a.shape, b.shape))
    return Row(kind, (a, b), result or Operand(shape, a.dtype), note=note)


def moved(
    kind: str, shape: tuple[int, ...], *constants: list[int], note: str = "", **options
) -> Row:
    """An operator of float32 whose constants are int32, to a result of `shape`."""
    x = options.pop("x", Operand(IMAGE))
    arrays = tuple(np.array(c, np.int32) for c in constants)
    return Row(kind, (x,), Operand(shape, x.dtype, x.scale, x.zero), arrays, options, note)


def convolution(
    side: int, depth: int, channels: int, kernel: int, dtype: str, step: int = 1
) -> Row:
    """CONV_2D of `depth` to `channels`, of a square picture."""
    random = np.random.default_rng(SEED)
    shape = (channels, kernel, kernel, depth)
    note = f"{kernel}x{kernel} to {channels}" + (f" by {step}" if step > 1 else "")
    options = {"stride_w": step, "stride_h": step, "padding": 0}
    return _products("CONV_2D", side, depth, channels, shape, dtype, random, options, note)


def depthwise(side: int, depth: int, kernel: int, dtype: str, step: int = 1) -> Row:
    """DEPTHWISE_CONV_2D of a square picture."""
    random = np.random.default_rng(SEED)
    note = f"{kernel}x{kernel}" + (f" by {step}" if step > 1 else "")
    options = {"stride_w": step, "stride_h": step, "padding": 0, "depth_multiplier": 1}
    shape = (1, kernel, kernel, depth)
    return _products("DEPTHWISE_CONV_2D", side, depth, depth, shape, dtype, random, options, note)


def tall(height: int, taps: int, depth: int) -> Row:
    """CONV_2D of one column, as sounds come from some exporters."""
    random = np.random.default_rng(SEED)
    weights, bias = (random.normal(size=s).astype(np.float32) for s in ((64, taps, 1, depth), 64))
    options = {"stride_w": 1, "stride_h": 2, "padding": 0}
    x, y = Operand((1, height, 1, depth)), Operand((1, height // 2, 1, 64))
    return Row("CONV_2D", (x,), y, (weights, bias), options, f"{taps}x1 to 64 by 2")


def _products(kind, side, depth, channels, shape, dtype, random, options, note) -> Row:
    step = options["stride_w"]
    out = -(-side // step)
    if dtype == "FLOAT32":
        x, y = Operand((1, side, side, depth)), Operand((1, out, out, channels))
        weights, bias = (random.normal(size=s).astype(np.float32) for s in (shape, channels))
    else:
        deviation = 74 * 0.05 * 74 * 0.0055 * sqrt(prod(shape) / channels)
        x = Operand((1, side, side, depth), dtype, 0.05, 3)
        y = Operand((1, out, out, channels), dtype, deviation / 40, -5)
        weights = random.integers(-127, 128, shape, np.int8)
        bias = random.integers(-1000, 1000, channels, np.int32)
    axis = 0 if kind == "CONV_2D" else 3
    return Row(kind, (x,), y, (weights, bias), options, note, axis)


def int8(shape: tuple[int, ...], scale: float, zero: int, dtype: str = "INT8") -> Operand:
    """A quantized operand."""
    return Operand(shape, dtype, scale, zero)


def rows() -> Iterator[Row]:
    """All of them."""
    yield from _unary_rows()
    yield from _quantized_rows()
    yield from _pair_rows()
    yield from _reduction_rows()
    yield from _movement_rows()
    yield from _product_rows()


def _unary_rows() -> Iterator[Row]:
    plain = ("ABS", "NEG", "FLOOR", "CEIL", "ROUND", "SQUARE", "SIGN", "HARD_SWISH", "RELU6")
    for kind in (*plain, "TANH", "LOGISTIC", "EXP", "ELU", "SIN", "COS", "GELU", "LOG_SOFTMAX"):
        yield unary(kind, Operand(ROWS))
    for kind in ("SQRT", "RSQRT", "LOG"):
        yield unary(kind, Operand(ROWS, span=(0.01, 4)))
    yield unary("LEAKY_RELU", Operand(ROWS), alpha=0.1)
    yield unary("GELU", Operand(ROWS), approximate=True, note="tanh")
    wide = Operand(ROWS, span=(-20, 20))
    for kind in ("TANH", "LOGISTIC", "EXP", "GELU"):
        yield unary(kind, wide, note="wide")
    yield unary("GELU", wide, approximate=True, note="tanh wide")
    for kind in ("TANH", "GELU", "SQRT"):
        yield unary(kind, Operand((1, 4096), span=(0.01, 4)))
    for shape in (ROWS, (1000, 10), (32, 1000)):
        yield unary("SOFTMAX", Operand(shape), beta=1.0)
    yield unary("L2_NORMALIZATION", Operand(IMAGE))
    yield unary("CAST", Operand(IMAGE), Operand(IMAGE, "INT32"), **_cast("FLOAT32", "INT32"))
    integers = Operand(IMAGE, "INT32", span=(-99, 99))
    yield unary("CAST", integers, Operand(IMAGE), **_cast("INT32", "FLOAT32"))
    yield unary(
        "LOCAL_RESPONSE_NORMALIZATION", Operand(IMAGE), radius=5, bias=1.0, alpha=1e-4, beta=0.75
    )


def _cast(source: str, target: str) -> dict[str, int]:
    return {"in_data_type": TYPE_CODES[source], "out_data_type": TYPE_CODES[target]}


def _quantized_rows() -> Iterator[Row]:
    for n in (4096, 65536, 150528):
        x = Operand((1, n))
        for result in (int8(x.shape, 0.0313, 4), int8(x.shape, 0.0313, 128, "UINT8")):
            yield unary("QUANTIZE", x, result)
        yield unary("QUANTIZE", x, int8(x.shape, 0.000123, 0, "INT16"))
    flat = (1, 65536)
    sources = int8(flat, 0.0313, 4), int8(flat, 0.000313, 0, "INT16")
    yield unary("QUANTIZE", sources[0], int8(flat, 0.05, -3), note="to 0.05")
    yield unary("QUANTIZE", sources[0], int8(flat, 0.05, 130, "UINT8"))
    yield unary("QUANTIZE", sources[1], int8(flat, 0.05, -3))
    for source in sources:
        yield unary("DEQUANTIZE", source, Operand(flat))
    x = int8((1, 1024, 64), 0.05, 3)
    prescribed = {"LOGISTIC": (1 / 256, -128), "TANH": (1 / 128, 0), "SOFTMAX": (1 / 256, -128)}
    for kind, (scale, zero) in prescribed.items():
        options = {"beta": 1.0} if kind == "SOFTMAX" else {}
        yield unary(kind, x, int8(x.shape, scale, zero), **options)
    for kind in ("HARD_SWISH", "LEAKY_RELU", "RELU", "ABS", "GELU"):
        options = {"alpha": 0.1} if kind == "LEAKY_RELU" else {}
        yield unary(kind, x, int8(x.shape, 0.04, -5), **options)


def _pair_rows() -> Iterator[Row]:
    image, positive = Operand(IMAGE), Operand(IMAGE, span=(0.5, 4))
    for kind in ("ADD", "MUL", "SUB", "MAXIMUM", "SQUARED_DIFFERENCE"):
        yield pair(kind, image, image)
    for kind in ("DIV", "POW", "FLOOR_DIV", "FLOOR_MOD", "ATAN2"):
        yield pair(kind, positive, positive)
    for kind in ("GREATER", "EQUAL"):
        yield pair(kind, image, image, Operand(IMAGE, "BOOL"))
    for channels in (3, 8, 32):
        picture = Operand((1, 64, 64, channels))
        yield pair("ADD", picture, Operand((channels,)), note="channels")
        yield pair("MUL", picture, Operand((1, 64, 64, 1)), note="pixels")
    yield pair("ADD", image, Operand((1,)), note="number")
    yield pair("MUL", Operand((1, 32, 1, 32)), image, note="columns")
    yield Row("PRELU", (image,), image, (np.linspace(0, 1, 32, dtype=np.float32)[None, None],))
    integers = Operand(IMAGE, "INT32", span=(10, 80))
    for kind in ("ADD", "MUL", "DIV", "MAXIMUM", "FLOOR_DIV", "FLOOR_MOD"):
        yield pair(kind, integers, integers)
    for n in (4, 64):
        shape = (1, 32, 32, n)
        for dtype, zeros in (("INT8", (3, -5, 2)), ("UINT8", (130, 120, 128))):
            odd, even = ((0.0234, 0.0317, 0.0418), (0.22, 0.1914, 0.3146))
            for scales, note in ((odd, "odd scales"), (even, "scales")):
                a, b, y = (int8(shape, *sz, dtype) for sz in zip(scales, zeros, strict=True))
                for kind in ("ADD", "SUB", "MUL"):
                    yield pair(kind, a, b, y, note)
    one_scale = int8(shape, 0.05, 3)
    yield pair("ADD", one_scale, one_scale, int8(shape, 0.1, 2), "one scale")
    a, y = int8(shape, 0.0234, 3), int8(shape, 0.0418, 2)
    for kind in ("ADD", "MUL"):
        yield pair(kind, a, int8((64,), 0.0317, -5), y, "channels")
        yield pair(kind, a, int8((1,), 0.0317, -5), y, "number")
        shorts = [int8(shape, scale, 0, "INT16") for scale in (0.00234, 0.00317, 0.0418)]
        yield pair(kind, *shorts)


def _reduction_rows() -> Iterator[Row]:
    x, options = Operand((1, 32, 32, 64)), {"keep_dims": False}
    for kind in ("SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):
        yield moved(kind, (1, 32, 32), [3], x=x, note="of channels", **options)
        yield moved(kind, (1, 64), [1, 2], x=x, note="of pixels", **options)
    for kind in ("SUM", "MEAN"):
        for axes, shape, note in (([3], (1, 32, 32), "channels"), ([1, 2], (1, 64), "pixels")):
            y = int8(shape, 0.57, 5)
            yield Row(kind, (int8(x.shape, 0.22, 3),), y, (np.int32(axes),), options, f"of {note}")
    for axis in (3, 1):
        yield moved("CUMSUM", IMAGE, axis, note=f"along {axis}")
    for kind in ("ARG_MAX", "ARG_MIN"):
        axis = (np.array(3, np.int32),)
        result = Operand(IMAGE[:3], "INT32")
        yield Row(kind, (Operand(IMAGE),), result, axis, {"output_type": TYPE_CODES["INT32"]})
    window = {"stride_w": 2, "stride_h": 2, "filter_width": 2, "filter_height": 2, "padding": 1}
    for kind in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        yield moved(kind, (1, 16, 16, 32), **window)


def _movement_rows() -> Iterator[Row]:
    for order in ([0, 3, 1, 2], [0, 2, 1, 3], [0, 1, 3, 2]):
        note = "to " + "".join(map(str, order))
        yield moved("TRANSPOSE", tuple(IMAGE[i] for i in order), order, note=note)
    edges = [[0, 0], [1, 1], [1, 1], [0, 0]]
    yield moved("PAD", (1, 34, 34, 32), edges)
    yield moved("MIRROR_PAD", (1, 34, 34, 32), edges, mode=0)
    yield moved("SLICE", (1, 16, 16, 32), [0, 8, 8, 0], [1, 16, 16, 32])
    yield moved("SLICE", (1, 32, 32, 16), [0, 0, 0, 8], [1, 32, 32, 16], note="of channels")
    yield moved("STRIDED_SLICE", (1, 16, 16, 32), [0] * 4, IMAGE, [1, 2, 2, 1])
    yield moved("TILE", IMAGE, [1, 1, 1, 4], x=Operand((1, 32, 32, 8)))
    yield moved("GATHER", (1, 16, 32, 32), range(0, 32, 2), axis=1)
    yield moved("REVERSE_V2", IMAGE, [1])
    yield moved("DEPTH_TO_SPACE", (1, 64, 64, 8), block_size=2)
    yield moved("SPACE_TO_DEPTH", (1, 16, 16, 128), block_size=2)
    yield moved("SPACE_TO_BATCH_ND", (4, 16, 16, 32), [2, 2], [[0, 0], [0, 0]])
    yield moved("RESIZE_BILINEAR", (1, 64, 64, 32), [64, 64], half_pixel_centers=True)
    yield moved("RESIZE_NEAREST_NEIGHBOR", (1, 64, 64, 32), [64, 64])
    image = Operand(IMAGE)
    for axis, shape in ((3, (1, 32, 32, 64)), (1, (1, 64, 32, 32))):
        options = {"axis": axis}
        yield Row("CONCATENATION", (image,) * 2, Operand(shape), (), options, f"along {axis}")
    yield Row("PACK", (image,) * 2, Operand((2, *IMAGE)), (), {"values_count": 2, "axis": 0})
    yield moved("GATHER", (256, 64), range(0, 512, 2), x=Operand((512, 64)), axis=0, note="rows")


def _product_rows() -> Iterator[Row]:
    for dtype in ("FLOAT32", "INT8"):
        for side, depth, channels in (
            (32, 64, 8), (32, 32, 8), (56, 96, 16), (28, 144, 24), (56, 16, 96), (14, 128, 128),
            (7, 512, 512), (7, 1024, 1024),
        ):  # fmt: skip
            yield convolution(side, depth, channels, 1, dtype)
        for side, depth, channels in ((48, 16, 8), (48, 32, 16), (28, 64, 64), (14, 256, 256)):
            yield convolution(side, depth, channels, 3, dtype)
        yield convolution(192, 3, 32, 3, dtype, step=2)
        for side, depth, kernel, step in (
            (112, 32, 3, 1), (112, 64, 3, 2), (28, 256, 3, 1), (14, 512, 3, 1), (28, 120, 5, 1)
        ):  # fmt: skip
            yield depthwise(side, depth, kernel, dtype, step)
    yield from (tall(*sizes) for sizes in ((1024, 3, 64), (4096, 15, 1)))
    for a, b, y in (
        ((4, 48, 32), (4, 48, 32), (4, 48, 48)),
        ((8, 1, 64), (8, 256, 64), (8, 1, 256)),
    ):
        operands = Operand(a), Operand(b)
        yield Row("BATCH_MATMUL", operands, Operand(y), (), {"adj_y": True}, f"with {b[1]} rows")


def cache(side: int, kind: str) -> tuple[bytes, list[np.ndarray]]:
    """A variable of 8 heads, `side` steps and 64 channels that has a step replaced each time.

    `kind` is DYNAMIC_UPDATE_SLICE, or CONCATENATION: the oldest step goes out.
    """
    main, start = schema.Subgraph("main"), schema.Subgraph("start")
    shape, step = (1, 8, side, 64), (1, 8, 1, 64)

    def tensor(graph: schema.Subgraph, name: str, shape, dtype: str = "FLOAT32", **fields) -> int:
        graph.tensors.append(schema.Tensor(name, tuple(shape), dtype, **fields))
        return len(graph.tensors) - 1

    def op(graph: schema.Subgraph, kind: str, inputs, outputs=(), **options) -> None:
        record = options_class(kind)
        options = record(**options) if record else None
        graph.operators.append(schema.Operator(kind, list(inputs), list(outputs), options))

    def handle(graph: schema.Subgraph) -> int:
        index = tensor(graph, "handle", (), "RESOURCE")
        op(graph, "VAR_HANDLE", [], [index], container="", shared_name="cache")
        return index

    def numbers(name: str, *values: int) -> int:
        return tensor(main, name, (len(values),), "INT32", data=np.int32(values))

    main.inputs = [tensor(main, "row", step)]
    op(main, "CALL_ONCE", [], init_subgraph_index=1)
    variable, old, new = handle(main), tensor(main, "old", shape), tensor(main, "new", shape)
    op(main, "READ_VARIABLE", [variable], [old])
    if kind == "CONCATENATION":
        later = tensor(main, "later", (1, 8, side - 1, 64))
        op(main, "SLICE", [old, numbers("begin", 0, 0, 1, 0), numbers("size", 1, 8, side - 1, 64)],
           [later])  # fmt: skip
        op(main, kind, [later, main.inputs[0]], [new], axis=2)
    else:
        op(main, kind, [old, main.inputs[0], numbers("at", 0, 0, side // 2, 0)], [new])
    op(main, "ASSIGN_VARIABLE", [variable, new])
    main.outputs = [tensor(main, "picked", step)]
    op(main, "SLICE", [new, numbers("from", 0, 0, side - 1, 0), numbers("step", *step)],
       main.outputs)  # fmt: skip
    zeros = tensor(start, "zeros", shape, data=np.zeros(shape, np.float32))
    op(start, "ASSIGN_VARIABLE", [handle(start), zeros])
    random = np.random.default_rng(SEED)
    return schema.save(schema.Model([main, start])), [Operand(step).draw(random)]


CACHES = {
    f"cache of {2 * side} KB by {kind}": (side, kind)
    for kind in ("DYNAMIC_UPDATE_SLICE", "CONCATENATION")
    for side in (64, 1024)
}
"""Name -> the arguments of `cache`; a step has 2 KB."""
