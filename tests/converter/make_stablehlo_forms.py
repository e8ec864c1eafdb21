"""Writes stablehlo_forms.npz: general forms of StableHLO's operations, as functions of JAX.

    pip install jax tensorflow && python tests/converter/make_stablehlo_forms.py

Of each case the GraphDef of jax2tf, the names of its inputs and outputs, their values.
"""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import tensorflow as tf
from jax import lax
from jax.experimental import jax2tf

random = np.random.RandomState(0)
NHWC = ("NHWC", "HWIO", "NHWC")
BYTES = random.randint(-127, 127, (8, 6)).astype("i1")
FILTERS = random.randint(-127, 127, (3, 3, 4, 5)).astype("i1")
KEY = ((2,), "uint32")
STATE = ((4,), "uint32")


def floats(*sizes):
    return sizes, "float32"


def integers(*sizes):
    return sizes, "int32"


def windows(start, join, kernel, strides, padding="VALID", **dilations):
    return lambda x: lax.reduce_window(x, start, join, kernel, strides, padding, **dilations)


def pool_gradient(start, join, kernel=2, padding="VALID"):
    pool = windows(start, join, (1, kernel, kernel, 1), (1, 2, 2, 1), padding)
    return lambda x: jax.grad(lambda y: (pool(y) ** 2).sum())(x)


def bytes_product(x):
    return lax.dot_general(x, BYTES, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)


def bytes_conv(x):
    return lax.conv_general_dilated(
        x, FILTERS, (1, 1), "SAME", dimension_numbers=NHWC, preferred_element_type=jnp.int32
    )


def counts(x):
    return lax.population_count(x), lax.clz(x)


def shifts(x, y):
    count = jnp.abs(y) % 40
    logical = lax.shift_right_logical(x, count)
    return lax.shift_left(x, count), lax.shift_right_arithmetic(x, count), logical


def philox(state):
    return lax.rng_bit_generator(state, (5, 3), algorithm=lax.RandomAlgorithm.RNG_PHILOX)


def average(x):
    sums = windows(0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME")
    return sums(x) / sums(jnp.ones_like(x))


def integers_by_zero(x, y):
    y = y % 3
    return lax.div(x, y), lax.rem(x, y), x // 4, x % 5


def spd(x):
    return x @ x.T + jnp.eye(x.shape[0])


def triangular(x):
    return jnp.abs(jnp.linalg.qr(x)[1]), jnp.abs(jnp.linalg.qr(x)[0])


def recurrent(x):
    def step(h, t):
        return (h * 0.5 + t), h

    start = jnp.zeros((x.shape[0], 3))
    return lax.scan(step, start, jnp.swapaxes(x, 0, 1))[1]


FREE = {1: "(b,_)", 2: "(b,_,_)", 3: "(b,_,_,_)"}
"""Number of known sizes -> the shape of a free batch."""
CASES = {
    "windows/dilated": (
        windows(-jnp.inf, lax.max, (1, 2, 2, 1), (1,) * 4, window_dilation=(1, 2, 2, 1)),
        [floats(2, 9, 9, 3)],
    ),
    "windows/spread": (
        windows(-jnp.inf, lax.max, (3,), (1,), "SAME", base_dilation=(2,)), [floats(9)],
    ),
    "windows/integers": (
        windows(np.int32(2**31 - 1), lax.min, (2, 2), (2, 2)), [integers(8, 8)],
    ),
    "windows/product": (windows(1.0, lax.mul, (2, 3), (1, 2)), [floats(6, 7)]),
    "windows/any": (windows(-jnp.inf, jnp.logaddexp, (2,), (1,)), [floats(7)]),
    "windows/channels_first": (
        windows(-jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2)), [floats(None, 3, 8, 8)],
    ),
    "windows/volume": (
        windows(0.0, lax.add, (1, 2, 2, 2, 1), (1, 2, 2, 2, 1)), [floats(2, 4, 4, 4, 2)],
    ),
    "windows/average": (average, [floats(2, 8, 8, 3)]),
    "windows/free": (
        windows(-jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME"),
        [floats(None, None, None, 3)], ["(b,h,w,_)"],
    ),
    "running/product": (lambda x: jnp.cumprod(x, 1), [floats(3, 5)]),
    "running/free": (lambda x: jnp.cumsum(x, 1), [floats(None, None)], ["(b,t)"]),
    "gradient/max": (pool_gradient(-jnp.inf, lax.max), [floats(2, 6, 6, 3)]),
    "gradient/min": (pool_gradient(jnp.inf, lax.min), [floats(1, 4, 4, 2)]),
    "gradient/overlap": (pool_gradient(-jnp.inf, lax.max, 3, "SAME"), [floats(1, 5, 5, 2)]),
    "gradient/average": (pool_gradient(0.0, lax.add), [floats(1, 6, 6, 2)]),
    "bits/philox": (philox, [STATE]),
    "bits/default": (lambda x: lax.rng_bit_generator(x, (5,)), [STATE]),
    "bits/uniform": (
        lambda x: x + jax.random.uniform(jax.random.key(3, impl="rbg"), (4,)), [floats(4)],
    ),
    "bits/integers": (lambda key: jax.random.randint(key, (6,), 0, 10), [KEY]),
    "counts": (counts, [integers(7)]),
    "counts/unsigned": (counts, [((7,), "uint8")]),
    "shifts": (shifts, [integers(7), integers(7)]),
    "packed": (lambda x: jnp.packbits(x), [((16,), "bool")]),
    "precision/bfloat16": (lambda x: lax.reduce_precision(x, 8, 7), [floats(6)]),
    "precision/other": (lambda x: lax.reduce_precision(x, 5, 3), [floats(6)]),
    "by_zero": (integers_by_zero, [integers(6), integers(6)]),
    "unsigned": (lambda x: (x // 3, x % 5, x >> 2, x * 3), [((6,), "uint32")]),
    "product/int8": (bytes_product, [((None, 8), "int8")]),
    "product/int32": (lambda x, y: x @ y, [integers(4, 8), integers(8, 3)]),
    "conv/int8": (bytes_conv, [((2, 6, 6, 4), "int8")]),
    "gather/free": (lambda x: x[:, 1:-1, ::2], [floats(None, None, 6)], ["(b,t,_)"]),
    "gather/last": (lambda x: x[:, -1], [floats(None, None, 6)], ["(b,t,_)"]),
    "gather/backwards": (lambda x: x[:, ::-1], [floats(None, None, 6)], ["(b,t,_)"]),
    "gather/loop": (recurrent, [floats(None, 5, 3)]),
    "gather/modulo": (lambda x, i: x[i[:, 0] % 4, i[:, 1] % 5], [floats(4, 5, 3), integers(6, 2)]),
    "scatter/apply": (lambda x, i: x.at[i % 4].apply(jnp.exp), [floats(4, 5), integers(2)]),
    "scatter/free": (
        lambda x, i: x.at[:, i % 5].set(1.0), [floats(None, 5), integers(2)], ["(b,_)", None],
    ),
    "scatter/segments": (
        lambda x, i: jax.ops.segment_sum(x, i % 4, num_segments=4), [floats(6, 3), integers(6)],
    ),
    "scatter/dropped": (
        lambda x, i, u: x.at[i].set(u, mode="drop"),
        [floats(4, 5), integers(3), floats(3, 5)],
    ),
    "order/free": (lambda x: jnp.argsort(x, 1), [floats(None, None)], ["(b,t)"]),
    "order/largest": (lambda x: jnp.argmax(x, 1), [floats(None, None)], ["(b,t)"]),
    "order/approximate": (lambda x: lax.approx_max_k(x, 3), [floats(3, 16)]),
    "solve": (lambda x, y: jnp.linalg.solve(spd(x), y), [floats(4, 4), floats(4, 2)]),
    "determinant": (lambda x: jnp.linalg.det(spd(x)), [floats(4, 4)]),
    "qr": (triangular, [floats(4, 3)]),
}  # fmt: skip
SIZES = {"b": 3, "h": 6, "t": 4, "w": 7}


def drawn(shape, dtype, names):
    """Numbers of a type, with sizes for unknown ones."""
    sizes = [SIZES[name] if n is None else n for n, name in zip(shape, names, strict=True)]
    kind = np.dtype(dtype).kind
    limits = {"b": (0, 2), "i": (-20, 20), "u": (0, 200)}
    x = random.randint(*limits[kind], sizes) if kind in limits else random.randn(*sizes)
    return x.astype(dtype)


def main():
    arrays = {}
    for name, (function, inputs, *rows) in CASES.items():
        shapes = rows[0] if rows else [
            FREE[len(shape) - 1] if None in shape else None for shape, _ in inputs
        ]  # fmt: skip
        specs = [tf.TensorSpec(s, d, name=f"x{i}") for i, (s, d) in enumerate(inputs)]
        converted = jax2tf.convert(function, polymorphic_shapes=shapes, with_gradient=False)
        module = tf.Module()
        module.f = tf.function(converted, input_signature=specs, autograph=False)
        traced = module.f.get_concrete_function()
        values = [
            drawn(shape, dtype, text.strip("()").split(",") if text else [""] * len(shape))
            for (shape, dtype), text in zip(inputs, shapes, strict=True)
        ]
        content = traced.graph.as_graph_def().SerializeToString()
        arrays[f"{name}/graph"] = np.frombuffer(content, np.uint8)
        arrays[f"{name}/inputs"] = np.array([t.name for t in traced.inputs])
        arrays[f"{name}/outputs"] = np.array([t.name for t in traced.outputs])
        arrays |= {f"{name}/x{i}": x for i, x in enumerate(values)}
        for i, y in enumerate(jax.tree.leaves(jax.jit(function)(*values))):
            arrays[f"{name}/y{i}"] = np.asarray(y)
    np.savez_compressed(Path(__file__).with_name("stablehlo_forms.npz"), **arrays)


if __name__ == "__main__":
    main()
