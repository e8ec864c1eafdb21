"""Writes stablehlo_modules.npz: functions of JAX as graphs of jax2tf, and what JAX computes.

    pip install jax tensorflow && python tests/converter/make_stablehlo_modules.py

Of each case the GraphDef, the names of its inputs and outputs, their values.
"""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import tensorflow as tf
from jax.experimental import jax2tf

random = np.random.RandomState(0)
WEIGHTS = [
    random.randn(*s).astype("f4") * 0.3 for s in [(4, 8), (8, 3), (3, 3, 2, 4), (8, 8), (16, 8)]
]


def mlp(x):
    return jax.nn.softmax(jax.nn.relu(x @ WEIGHTS[0]) @ WEIGHTS[1])


def conv(x):
    y = jax.lax.conv_general_dilated(
        x, WEIGHTS[2], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    m, v = np.float32([0.1, 0.2, 0.3, 0.4]), np.float32([1, 2, 0.5, 1.5])
    y = jax.nn.relu((y - m) * jax.lax.rsqrt(v + 1e-5))
    return jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def attn(x):
    q, keys, v = x @ WEIGHTS[3], x @ WEIGHTS[3].T, x
    s = jnp.einsum("btd,bsd->bts", q, keys) / np.float32(8**0.5)
    return jnp.einsum("bts,bsd->btd", jax.nn.softmax(s), v)


def norm(x):
    m = x.mean(-1, keepdims=True)
    v = ((x - m) ** 2).mean(-1, keepdims=True)
    return jax.nn.gelu((x - m) * jax.lax.rsqrt(v + 1e-6))


def scan(x):
    def f(h, xt):
        h = jnp.tanh(h @ WEIGHTS[3] + xt)
        return h, h

    return jax.lax.scan(f, jnp.zeros((8,), "f4"), x)[1]


def cond(x):
    return jax.lax.cond(x.sum() > 0, lambda y: y * 2, lambda y: y - 1, x)


def embed(i):
    return jnp.take(jnp.asarray(WEIGHTS[4]), i, axis=0, mode="clip")


def argmax(x):
    return jnp.argmax(x, -1)


def cumsum(x):
    return jnp.cumsum(x, 0)


def sort(x):
    return jnp.sort(x, -1)


def top(x):
    return jax.lax.top_k(x, 3)


def update(x, i):
    return x.at[i].set(0.0)


def S(*s):
    return tf.TensorSpec(s, tf.float32, name="x")


CASES = {
    "mlp": (mlp, [S(None, 4)], ["(b,_)"]),
    "conv": (conv, [S(None, 8, 8, 2)], ["(b,_,_,_)"]),
    "attn": (attn, [S(None, 5, 8)], ["(b,_,_)"]),
    "norm": (norm, [S(3, 8)], None),
    "scan": (scan, [S(5, 8)], None),
    "cond": (cond, [S(4)], None),
    "embed": (embed, [tf.TensorSpec((None, 3), tf.int32, name="x")], ["(b,_)"]),
    "argmax": (argmax, [S(3, 7)], None),
    "cumsum": (cumsum, [S(6, 2)], None),
    "sort": (sort, [S(3, 7)], None),
    "top": (top, [S(2, 6)], None),
    "flat": (lambda x: x.reshape(x.shape[0], -1).sum(0), [S(None, 3, 4)], ["(b,_,_)"]),
}


def main():
    arrays = {}
    for name, (function, specs, shapes) in CASES.items():
        module = tf.Module()
        converted = jax2tf.convert(function, polymorphic_shapes=shapes, with_gradient=False)
        module.f = tf.function(converted, input_signature=specs, autograph=False)
        traced = module.f.get_concrete_function()
        inputs = []
        for spec in specs:
            sizes = [n or 2 for n in spec.shape]
            is_index = spec.dtype == tf.int32
            x = random.randint(0, 16, sizes) if is_index else random.randn(*sizes)
            inputs.append(x.astype(spec.dtype.as_numpy_dtype))
        outputs = jax.tree.leaves(function(*inputs))
        content = traced.graph.as_graph_def().SerializeToString()
        arrays[f"{name}/graph"] = np.frombuffer(content, np.uint8)
        arrays[f"{name}/inputs"] = np.array([t.name for t in traced.inputs])
        arrays[f"{name}/outputs"] = np.array([t.name for t in traced.outputs])
        arrays |= {f"{name}/x{i}": x for i, x in enumerate(inputs)}
        arrays |= {f"{name}/y{i}": np.asarray(y) for i, y in enumerate(outputs)}
    np.savez_compressed(Path(__file__).with_name("stablehlo_modules.npz"), **arrays)


if __name__ == "__main__":
    main()
