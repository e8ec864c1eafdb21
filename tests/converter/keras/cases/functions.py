"""Functions of Keras 3, and of TensorFlow under tf_keras, in a graph of layers."""

from __future__ import annotations

from collections.abc import Callable

import keras

from .registry import BOTH, FAMILIES, THREE, TWO


def functions(name: str, make: Callable, *shapes, versions=BOTH, dtype=None) -> None:
    """Adds a model whose outputs `make(ops, *inputs)` gives; ops is keras.ops or tensorflow."""

    def model(k):
        import tensorflow

        inputs = [k.Input(shape, dtype=dtype) for shape in shapes]
        return k.Model(inputs, make(keras.ops if k is keras else tensorflow, *inputs))

    FAMILIES.setdefault("functions", {})[name] = versions, model


functions(
    "arithmetic",
    lambda o, x, y: [x + y, 2 - x, x * 2.5, y / x, 1 / x, -x, x**2, abs(x), x // 2, x % 2],
    *((3, 4), (3, 4)),
)
functions(
    "comparison",
    lambda o, x, y: [
        o.where(x > y, x, 0.0),
        o.where(x < 0.5, 1.0, y),
        o.cast(x >= y, "int32"),
        o.cast(x <= y, "int64"),
    ],
    *((3, 4), (3, 4)),
)
functions(
    "slices",
    lambda o, x: [x[:, 1], x[:, -2:], x[..., 0], x[:, ::2, 1:3], x[:, None], x[:, -1, :2]],
    (4, 5),
)
functions(
    "real",
    lambda o, x: [
        getattr(o, n)(x)
        for n in (
            *("sqrt", "exp", "log", "log1p", "expm1", "sin", "cos", "tanh", "sigmoid", "rsqrt"),
            *("floor", "ceil", "round", "square", "sign", "erf", "abs", "relu", "softplus", "silu"),
        )
    ],
    (3, 4),
    versions=THREE,
)
functions(
    "real2",
    lambda o, x: [
        *(getattr(o.math, n)(x) for n in ("sqrt", "exp", "log", "sin", "tanh", "sigmoid", "abs")),
        *(getattr(o.nn, n)(x) for n in ("relu", "silu", "softmax", "gelu", "leaky_relu")),
        o.clip_by_value(x, -0.5, 0.5),
    ],
    (3, 4),
    versions=TWO,
)
functions(
    "reductions",
    lambda o, x: [
        *(getattr(o, n)(x, axis=1) for n in ("mean", "sum", "max", "min", "prod", "var", "std")),
        o.mean(x),
        o.sum(x, axis=(1, 2), keepdims=True),
        o.argmax(x, axis=-1),
        o.argmin(x, axis=1),
        o.any(x > 1, axis=2),
        o.all(x > -2, axis=1),
        o.logsumexp(x, axis=-1),
        o.norm(x, axis=-1),
        o.cumsum(x, axis=1),
        o.sort(x, axis=-1),
        o.argsort(x, axis=1),
        *o.top_k(x, 2),
        o.count_nonzero(x, 1),
    ],
    (3, 4),
    versions=THREE,
)
functions(
    "reductions2",
    lambda o, x: [
        o.reduce_mean(x, axis=1),
        o.reduce_sum(x, [1, 2], True),
        o.reduce_max(x, -1),
        o.argmax(x, -1),
        o.math.l2_normalize(x, axis=-1),
        o.cumsum(x, axis=1),
        o.norm(x, axis=-1),
        *o.math.top_k(x, 2),
        o.math.reduce_std(x, 1),
        o.reduce_logsumexp(x, 1),
    ],
    (3, 4),
    versions=TWO,
)
functions(
    "moving",
    lambda o, x, y: [
        o.reshape(x, (-1, 6)),
        o.transpose(x, (0, 2, 1)),
        o.concatenate([x, y], axis=1),
        o.stack([x, y], 1),
        o.expand_dims(x, (1, -1)),
        o.squeeze(o.expand_dims(x, 1), 1),
        o.tile(x, (1, 2, 1)),
        o.repeat(x, 2, axis=1),
        o.flip(x, axis=1),
        o.roll(x, 1, axis=2),
        o.pad(x, ((0, 0), (1, 2), (0, 1))),
        *o.split(x, 2, axis=2),
        *o.split(x, [1, 3], axis=2),
        o.swapaxes(x, 1, 2),
        o.moveaxis(x, 2, 1),
        o.take(x, [2, 0, -1], axis=1),
        o.tril(x),
        o.triu(x, 1),
        *o.unstack(x, axis=1),
        o.zeros_like(x),
        o.full_like(x, 2.5),
        o.pad(x, ((0, 0), (1, 1), (0, 1)), mode="reflect"),
    ],
    *((3, 4), (3, 4)),
    versions=THREE,
)
functions(
    "moving2",
    lambda o, x, y: [
        o.reshape(x, (-1, 6)),
        o.transpose(x, (0, 2, 1)),
        o.concat([x, y], axis=1),
        o.stack([x, y], axis=1),
        o.expand_dims(x, 1),
        o.squeeze(o.expand_dims(x, 1), 1),
        o.tile(x, (1, 2, 1)),
        o.reverse(x, [1]),
        o.pad(x, ((0, 0), (1, 2), (0, 1))),
        *o.split(x, 2, axis=2),
        o.gather(x, [2, 0], axis=1),
        o.zeros_like(x),
        o.one_hot(o.cast(x, "int32"), 3),
        o.repeat(x, 2, axis=1),
        o.reshape(x, [o.shape(x)[0], 12]),
    ],
    *((3, 4), (3, 4)),
    versions=TWO,
)
functions(
    "products",
    lambda o, x, y: [
        o.matmul(x, o.transpose(y, (0, 2, 1))),
        o.einsum("abc,adc->abd", x, y),
        o.einsum("abc->acb", x),
        o.tensordot(x, y, axes=[[2], [2]])[:, :, 0, 0],
    ],
    *((3, 4), (3, 4)),
    versions=THREE,
)
functions(
    "products2",
    lambda o, x, y: [
        o.matmul(x, y, transpose_b=True),
        o.linalg.matmul(x, y, True),
    ],
    *((3, 4), (3, 4)),
    versions=TWO,
)
functions(
    "neural",
    lambda o, x: [
        o.gelu(x),
        o.gelu(x, approximate=False),
        o.leaky_relu(x),
        o.elu(x, 0.5),
        o.softmax(x, axis=1),
        o.log_softmax(x, axis=1),
        o.hard_sigmoid(x),
        o.celu(x),
        o.glu(x),
        o.normalize(x, axis=-1),
        o.selu(x),
        *o.moments(x, axes=[1, 2]),
        o.one_hot(o.cast(o.abs(x), "int32"), 3),
        o.clip(x, -0.5, 0.5),
        o.max_pool(x, 2, padding="same"),
        o.average_pool(x, 2),
        o.image.resize(x, (3, 5)),
        o.relu6(x * 5),
    ],
    (4, 6, 4),
    versions=THREE,
)
functions(
    "integers",
    lambda o, x: [
        x + 1,
        x * 2.5,
        x / 2,
        x // 2,
        x % 3,
        o.maximum(x, 3),
        o.cast(x, "float32"),
        o.sum(x, 1),
    ],
    (4,),
    versions=THREE,
    dtype="int32",
)
