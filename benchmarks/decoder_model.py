"""The files of decoder.py: a decoder of noise, in float32 and with weights of 8 and 4 bits."""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np

from flatlite.schema import model as schema
from flatlite.schema.flatbuffer import options_class, record
from flatlite.schema.quantization import Quantization

LAYERS, WIDTH, HEADS, GATED, TOKENS = 4, 512, 8, 1408, 4096
CACHE, PROMPT = 256, 64
DEPTH = WIDTH // HEADS
EPSILON = 1e-6
VARIANTS = {
    "float32": None,
    "int8": (8, 0),
    "int4": (4, 0),
    "int4_32": (4, 32),
    "int4_128": (4, 128),
    "int8_32": (8, 32),
}
"""Name -> bits of weights and how many share a scale, 0 for those of a channel."""


class Graph:
    """A subgraph that is written operator by operator."""

    def __init__(self, variant: str):
        self.subgraph = schema.Subgraph("main")
        self._kind = VARIANTS[variant]
        self._random = np.random.default_rng(1)

    def tensor(self, name: str, shape: Sequence[int], dtype: str = "FLOAT32", **fields) -> int:
        """A new tensor."""
        self.subgraph.tensors.append(schema.Tensor(name, tuple(shape), dtype, **fields))
        return len(self.subgraph.tensors) - 1

    def shape(self, tensor: int) -> tuple[int, ...]:
        """The shape of a tensor."""
        return self.subgraph.tensors[tensor].shape

    def input(self, name: str, shape: Sequence[int], dtype: str = "FLOAT32") -> int:
        """A new input."""
        self.subgraph.inputs.append(self.tensor(name, shape, dtype))
        return self.subgraph.inputs[-1]

    def constant(self, value) -> int:
        """A constant."""
        array = np.asarray(value)
        name = f"c{len(self.subgraph.tensors)}"
        return self.tensor(name, array.shape, array.dtype.name.upper(), data=array)

    def op(
        self, kind: str, inputs: Sequence[int], shape: Sequence[int], dtype="FLOAT32", **options
    ):
        """The result of an operator, in a new tensor."""
        out = self.tensor(f"{kind.lower()}{len(self.subgraph.tensors)}", shape, dtype)
        record_class = options_class(kind)
        record = record_class(**options) if record_class else None
        self.subgraph.operators.append(schema.Operator(kind, list(inputs), [out], record))
        return out

    def pair(self, kind: str, a: int, b: int, dtype: str = "FLOAT32") -> int:
        """An elementwise result of two tensors."""
        shape = np.broadcast_shapes(self.shape(a), self.shape(b))
        return self.op(kind, [a, b], shape, dtype)

    def reshape(self, x: int, *shape: int) -> int:
        """`x` in another shape."""
        return self.op("RESHAPE", [x, self.constant(np.int32(shape))], shape)

    def normal(self, *shape: int) -> np.ndarray:
        """Noise whose product with unit noise is about that again."""
        return (self._random.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32)

    def dense(self, x: int, units: int) -> int:
        """x @ weights, stored as the variant says."""
        weights = self.weights(self.normal(units, self.shape(x)[-1]))
        return self.op(
            "FULLY_CONNECTED", [x, weights, -1], (*self.shape(x)[:-1], units), keep_num_dims=True
        )

    def weights(self, values: np.ndarray) -> int:
        """The tensor of weights."""
        if self._kind is None:
            return self.constant(values)
        bits, block = self._kind
        n, depth = values.shape
        limit = (1 << (bits - 1)) - 1
        scales = np.abs(values).reshape(n, -1, block or depth).max(-1) / limit
        scales = scales.astype(np.float16 if block else np.float32)
        steps = np.rint(values / scales.astype(np.float32).repeat(block or depth, 1))
        integers = np.clip(steps, -limit, limit).astype(np.int8)
        if block:
            names = {"scales": self.constant(scales), "zero_points": -1, "block_size": block}
            params = Quantization([], [], details=record("BlockwiseQuantization")(**names))
        else:
            params = Quantization(scales.ravel(), np.zeros(n, np.int64), 0)
        if bits == 4:
            integers = integers.astype(ml_dtypes.int4)
        name, kind = f"w{len(self.subgraph.tensors)}", f"INT{bits}"
        return self.tensor(name, values.shape, kind, data=integers, quantization=params)

    def rms_norm(self, x: int) -> int:
        """x / sqrt(mean of squares), with a gain."""
        shape, axes = (*self.shape(x)[:-1], 1), self.constant(np.int32([-1]))
        mean = self.op("MEAN", [self.pair("MUL", x, x), axes], shape, keep_dims=True)
        mean = self.pair("ADD", mean, self.constant(np.float32(EPSILON)))
        scaled = self.pair("MUL", x, self.op("RSQRT", [mean], shape))
        return self.pair("MUL", scaled, self.constant(np.ones(WIDTH, np.float32)))

    def heads(self, x: int) -> int:
        """[1, steps, WIDTH] as [1, HEADS, steps, DEPTH]."""
        steps = self.shape(x)[1]
        x = self.reshape(x, 1, steps, HEADS, DEPTH)
        order = self.constant(np.int32([0, 2, 1, 3]))
        return self.op("TRANSPOSE", [x, order], (1, HEADS, steps, DEPTH))


def write(variant: str, steps: int) -> bytes:
    """The file that runs `steps` tokens at once."""
    g = Graph(variant)
    tokens, position = g.input("tokens", (1, steps), "INT32"), g.input("position", (1,), "INT32")
    names = [f"cache_{kind}{i}" for i in range(LAYERS) for kind in "kv"]
    caches = [g.input(name, (1, HEADS, CACHE, DEPTH)) for name in names]
    numbers = g.pair("ADD", position, g.constant(np.arange(steps, dtype=np.int32)), "INT32")
    x = g.op("GATHER", [g.constant(g.normal(TOKENS, WIDTH)), tokens], (1, steps, WIDTH), axis=0)
    position_rows = g.constant(g.normal(CACHE, WIDTH))
    position_rows = g.op("GATHER", [position_rows, numbers], (steps, WIDTH), axis=0)
    x = g.pair("ADD", x, g.reshape(position_rows, 1, steps, WIDTH))
    column = g.op("RESHAPE", [numbers, g.constant(np.int32([steps, 1]))], (steps, 1), "INT32")
    later = g.pair("GREATER", g.constant(np.arange(CACHE, dtype=np.int32)), column, "BOOL")
    later = g.op("CAST", [later], (steps, CACHE), in_data_type=6, out_data_type=0)
    mask = g.pair("MUL", later, g.constant(np.float32(-1e9)))
    zero = g.constant(np.int32([0]))
    start = g.op("CONCATENATION", [zero, zero, position, zero], (4,), "INT32", axis=0)
    updated = []
    for layer in range(LAYERS):
        x = attention(g, x, caches[2 * layer : 2 * layer + 2], start, mask, updated)
        normed = g.rms_norm(x)
        gate = g.dense(normed, GATED)
        gate = g.pair("MUL", gate, g.op("LOGISTIC", [gate], g.shape(gate)))
        gate = g.pair("MUL", gate, g.dense(normed, GATED))
        x = g.pair("ADD", x, g.dense(gate, WIDTH))
    if steps > 1:
        sizes = (np.int32([0, steps - 1, 0]), np.int32([1, 1, WIDTH]))
        x = g.op("SLICE", [x, *map(g.constant, sizes)], (1, 1, WIDTH))
    logits = g.dense(g.rms_norm(x), TOKENS)
    g.subgraph.outputs = [logits, *updated]
    for tensor, name in zip(
        g.subgraph.outputs, ("logits", *(f"new_{n}" for n in names)), strict=True
    ):
        g.subgraph.tensors[tensor].name = name
    named = [
        {g.subgraph.tensors[t].name: t for t in ts}
        for ts in (g.subgraph.inputs, g.subgraph.outputs)
    ]
    signature = schema.Signature("decoder", *named)
    return schema.save(schema.Model([g.subgraph], signatures=[signature]))


def attention(g: Graph, x: int, caches: Sequence[int], start: int, mask: int, updated: list[int]):
    """x and what a layer of attention adds to it; `updated` gets the new caches."""
    steps = g.shape(x)[1]
    normed = g.rms_norm(x)
    q, *rows = (g.heads(g.dense(normed, WIDTH)) for _ in range(3))
    keys, values = (
        g.op("DYNAMIC_UPDATE_SLICE", [cache, row, start], g.shape(cache))
        for cache, row in zip(caches, rows, strict=True)
    )
    updated += [keys, values]
    scores = g.op("BATCH_MATMUL", [q, keys], (1, HEADS, steps, CACHE), adj_y=True)
    scores = g.pair("MUL", scores, g.constant(np.float32(DEPTH**-0.5)))
    shares = g.op("SOFTMAX", [g.pair("ADD", scores, mask)], g.shape(scores), beta=1.0)
    mixed = g.op("BATCH_MATMUL", [shares, values], (1, HEADS, steps, DEPTH))
    order = g.constant(np.int32([0, 2, 1, 3]))
    mixed = g.op("TRANSPOSE", [mixed, order], (1, steps, HEADS, DEPTH))
    return g.pair("ADD", x, g.dense(g.reshape(mixed, 1, steps, WIDTH), WIDTH))
