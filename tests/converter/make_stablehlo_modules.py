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


def flax_norm(x):
    m, square = x.mean(-1), jnp.square(x).mean(-1)
    v = jnp.maximum(0, square - m * m)
    scale = jax.lax.rsqrt(v[..., None] + 1e-6) * jnp.arange(1, 9, dtype="f4")
    return (x - m[..., None]) * scale + 0.5


SPD = np.eye(4, dtype="f4") * 4 + WEIGHTS[3][:4, :4] @ WEIGHTS[3][:4, :4].T


def solved(**options):
    return lambda x: jax.lax.linalg.triangular_solve(SPD, x, **options)


def factor(x):
    return jnp.linalg.cholesky(x @ x.T + np.eye(4, dtype="f4"))


def spectrum(x):
    y = jnp.fft.ifft2(jnp.fft.fft2(x) * (2 + 1j))
    return jnp.abs(jnp.fft.rfft(x)), jnp.fft.irfft(jnp.fft.rfft(x), n=6), y.real, y.imag


def functions(x):
    y = jnp.arcsinh(x) + jnp.arctanh(jnp.tanh(x)) + jnp.arccosh(jnp.abs(x) + 1.5)
    return y + jax.lax.lgamma(jnp.abs(x) + 0.5) + jax.lax.erf(x) + jax.lax.erf_inv(jnp.tanh(x))


def complex_product(x):
    return jnp.abs((x + 1j * x) @ (x - 2j))


def scatters(x):
    y = x.at[1:3, ::2].set(7.0).at[jnp.array([0, 2]), 1].add(2.0)
    return y.at[jnp.array([1, 1])].max(0.3).at[:, jnp.array([3, 0])].multiply(3.0)


def modules_in_loop(x):
    def step(i, y):
        return jax.lax.cond(i > 1, jnp.sin, jax.nn.silu, y) @ WEIGHTS[3] + i

    return jax.lax.fori_loop(0, 4, step, x)


PLATFORMS = {"right": ("cpu", "tpu"), "upper": ("tpu", "cpu", "cuda")}
"""Cases that are exported for several platforms."""
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
    "log_softmax": (jax.nn.log_softmax, [S(None, 8)], ["(b,_)"]),
    "flax_norm": (flax_norm, [S(None, 8)], ["(b,_)"]),
    "gelu": (lambda x: jax.nn.gelu(x, approximate=False), [S(None, 8)], ["(b,_)"]),
    "softplus": (jax.nn.softplus, [S(3, 8)], None),
    "elu": (jax.nn.elu, [S(3, 8)], None),
    "leaky": (jax.nn.leaky_relu, [S(3, 8)], None),
    "silu": (jax.nn.silu, [S(3, 8)], None),
    "lower": (solved(left_side=True, lower=True, unit_diagonal=True), [S(4, 3)], None),
    "upper": (solved(left_side=True, lower=False, transpose_a=True), [S(4, 3)], None),
    "right": (solved(left_side=False, lower=True), [S(3, 4)], None),
    "factor": (factor, [S(4, 4)], None),
    "spectrum": (spectrum, [S(3, 6)], None),
    "functions": (functions, [S(3, 8)], None),
    "complex_product": (complex_product, [S(3, 3)], None),
    "scatters": (scatters, [S(4, 6)], None),
    "modules_in_loop": (modules_in_loop, [S(2, 8)], None),
    "threefry": (lambda x: x + jax.random.normal(jax.random.PRNGKey(0), (3,)), [S(3)], None),
    "search": (lambda x: jnp.searchsorted(jnp.arange(5.0), x), [S(6)], None),
    "remainder": (lambda x: jnp.divmod(x, 0.3), [S(6)], None),
    "flat": (lambda x: x.reshape(x.shape[0], -1).sum(0), [S(None, 3, 4)], ["(b,_,_)"]),
}


def main():
    arrays = {}
    for name, (function, specs, shapes) in CASES.items():
        module = tf.Module()
        converted = jax2tf.convert(
            function,
            polymorphic_shapes=shapes,
            with_gradient=False,
            native_serialization_platforms=PLATFORMS.get(name),
        )
        module.f = tf.function(converted, input_signature=specs, autograph=False)
        traced = module.f.get_concrete_function()
        inputs = []
        for spec in specs:
            sizes = [n or 2 for n in spec.shape]
            is_index = spec.dtype == tf.int32
            x = random.randint(0, 16, sizes) if is_index else random.randn(*sizes)
            inputs.append(x.astype(spec.dtype.as_numpy_dtype))
        outputs = jax.tree.leaves(jax.jit(function)(*inputs))
        content = traced.graph.as_graph_def().SerializeToString()
        arrays[f"{name}/graph"] = np.frombuffer(content, np.uint8)
        arrays[f"{name}/inputs"] = np.array([t.name for t in traced.inputs])
        arrays[f"{name}/outputs"] = np.array([t.name for t in traced.outputs])
        arrays |= {f"{name}/x{i}": x for i, x in enumerate(inputs)}
        arrays |= {f"{name}/y{i}": np.asarray(y) for i, y in enumerate(outputs)}
    np.savez_compressed(Path(__file__).with_name("stablehlo_modules.npz"), **arrays)


if __name__ == "__main__":
    main()
