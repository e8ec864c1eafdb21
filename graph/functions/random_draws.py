"""Draws of classes, and of gamma and Poisson distributions: `tf.random.categorical` and others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops
from ..core.create import convert_to_tensor
from ..core.dtype import as_dtype, as_numpy
from ..core.graph import Tensor
from ..core.scopes import name_scope
from .random import check_algorithm, op_seeds, sizes_of, stateless_uniform

if TYPE_CHECKING:
    from ..core.typing import DTypeLike, TensorLike
    from .array.creation import DynamicShape

_CLASS_TYPES = ("int32", "int64")


def _class_type(dtype: DTypeLike | None) -> np.dtype:
    output_type = as_numpy(np.int64 if dtype is None else dtype)
    if output_type.name not in _CLASS_TYPES:
        raise ValueError(
            f"Argument `dtype` got invalid value {as_dtype(output_type)}. "
            f"Accepted dtypes are {tuple(map(as_dtype, _CLASS_TYPES))}."
        )
    return output_type


def categorical(
    logits: TensorLike,
    num_samples: TensorLike,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """[batch, num_samples]: classes, as likely as the exponentials of `logits`, [batch, classes].

    Args:
        logits: Any numbers; classes with -inf are never drawn.
        num_samples: How many are drawn for each row.
        dtype: int64 (the default) or int32.
        seed: Of the draws.
        name: Of the operation.

    Raises ValueError for another type.
    """
    kind = _class_type(dtype)
    with name_scope(name, "categorical", [logits]):
        return ops.Multinomial(logits, num_samples, output_dtype=kind, **op_seeds(seed))


def multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: int | None = None,
    name: str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor:
    """`categorical` by its old name: [batch, num_samples] classes, as likely as exp(logits).

    Args:
        logits: [batch, classes], real numbers; classes with -inf are never drawn.
        num_samples: How many are drawn for each row, an int32 scalar.
        seed: Of the draws.
        name: Of the operation.
        output_dtype: int64 (the default) or int32.

    Raises ValueError for another type or rank.
    """
    kind = _class_type(output_dtype)
    with name_scope(name, "multinomial", [logits]):
        return ops.Multinomial(logits, num_samples, output_dtype=kind, **op_seeds(seed))


def stateless_categorical(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike = np.int64,
    name: str | None = None,
) -> Tensor:
    """`categorical`, the same for the same `seed`: [batch, num_samples] classes.

    Args:
        logits: [batch, classes], real numbers; a class is as likely as the exponential of its one.
        num_samples: How many are drawn for each row, an int32 scalar.
        seed: [2], int32 or int64.
        dtype: int64 or int32.
        name: Of the operation.

    Raises ValueError for another type or rank.
    """
    kind = _class_type(dtype)
    with name_scope(name, "stateless_categorical", [logits, seed]):
        return ops.StatelessMultinomial(logits, num_samples, seed, output_dtype=kind)


def stateless_multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: TensorLike,
    output_dtype: DTypeLike = np.int64,
    name: str | None = None,
) -> Tensor:
    """`stateless_categorical` by its old name: [batch, num_samples] classes.

    Args:
        logits: [batch, classes], real numbers; a class is as likely as the exponential of its one.
        num_samples: How many are drawn for each row, an int32 scalar.
        seed: [2], int32 or int64; the same seed gives the same classes.
        output_dtype: int64 or int32.
        name: Of the operation.

    Raises ValueError for another type or rank.
    """
    kind = _class_type(output_dtype)
    with name_scope(name, "stateless_multinomial", [logits, seed]):
        return ops.StatelessMultinomial(logits, num_samples, seed, output_dtype=kind)


def _scaled(alpha: TensorLike, beta: TensorLike | None, kind: np.dtype) -> tuple[Tensor, Tensor]:
    """Shapes and rates, repeated for each other."""
    shapes = convert_to_tensor(alpha, kind, "alpha")
    rates = convert_to_tensor(1 if beta is None else beta, kind, "beta")
    sizes = ops.BroadcastArgs(ops.Shape(shapes), ops.Shape(rates))
    return ops.BroadcastTo(shapes, sizes), rates


def random_gamma(
    shape: DynamicShape,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = np.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """[*shape, *alpha's shape]: `shape` draws of the gamma distribution for each parameter.

    Args:
        shape: How many draws.
        alpha: The shape of the distributions; a gradient flows to it.
        beta: Their rate, 1 by default.
        dtype: Of the result.
        seed: Of the draws.
        name: Of the operations.
    """
    kind = as_numpy(dtype)
    with name_scope(name, "random_gamma", [alpha]):
        sizes = sizes_of(shape)
        shapes, rates = _scaled(alpha, beta, kind)
        drawn = ops.RandomGamma(sizes, shapes, **op_seeds(seed)) / rates
        return ops.Maximum(np.asarray(np.finfo(kind).tiny, kind), drawn)


def stateless_gamma(
    shape: DynamicShape,
    seed: TensorLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = np.float32,
    name: str | None = None,
) -> Tensor:
    """Draws of gamma distributions, the same for the same `seed`.

    Args:
        shape: Of the result; it ends in the shape that `alpha` and `beta` have together.
        seed: [2], int32 or int64.
        alpha: The shape of the distributions, above 0; a gradient flows to it.
        beta: Their rate, above 0; 1 by default.
        dtype: Of the result and both parameters: float16, float32 or float64.
        name: Of the operations.

    Raises InvalidArgumentError, when it runs, where `shape` does not end in that of the parameters.
    """
    kind = as_numpy(dtype)
    with name_scope(name, "stateless_random_gamma", [seed, alpha]):
        sizes = sizes_of(shape)
        shapes, rates = _scaled(alpha, beta, kind)
        drawn = ops.StatelessRandomGammaV2(sizes, seed, shapes) / rates
        return ops.Maximum(np.asarray(np.finfo(kind).tiny, kind), drawn)


def random_poisson(
    lam: TensorLike,
    shape: DynamicShape,
    dtype: DTypeLike = np.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """[*shape, *lam's shape]: `shape` draws of the Poisson distribution for each rate `lam`.

    Args:
        lam: Rates, not negative: int32, int64 or real floats, of any shape.
        shape: How many draws, a vector or a list.
        dtype: Of the result: real floats, int32 or int64.
        seed: Of the draws.
        name: Of the operation.
    """
    with name_scope(name, "random_poisson", [lam]):
        return ops.RandomPoissonV2(sizes_of(shape), lam, dtype=dtype, **op_seeds(seed))


def stateless_poisson(
    shape: DynamicShape,
    seed: TensorLike,
    lam: TensorLike,
    dtype: DTypeLike = np.int32,
    name: str | None = None,
) -> Tensor:
    """Draws of Poisson distributions, the same for the same `seed`.

    Args:
        shape: Of the result; it ends in the shape of `lam`.
        seed: [2], int32 or int64.
        lam: Rates, not negative, of any shape.
        dtype: Of the result: real floats, int32 or int64.
        name: Of the operation.

    Raises InvalidArgumentError, when it runs, where `shape` does not end in that of `lam`.
    """
    with name_scope(name, "stateless_random_poisson", [seed, lam]):
        return ops.StatelessRandomPoisson(sizes_of(shape), seed, lam, dtype=dtype)


def stateless_binomial(
    shape: DynamicShape,
    seed: TensorLike,
    counts: TensorLike,
    probs: TensorLike,
    output_dtype: DTypeLike = np.int32,
    name: str | None = None,
) -> Tensor:
    """How many of `counts` trials succeed, each with the probability `probs`.

    Args:
        shape: Of the result; it ends in the shape that `counts` and `probs` have together.
        seed: [2], int32 or int64; the same seed gives the same numbers.
        counts: Numbers of trials, of the type of `probs`, broadcast with it.
        probs: Probabilities in [0, 1], float16, float32 or float64.
        output_dtype: Of the result: float16, float32, float64, int32 or int64.
        name: Of the operations.

    Raises:
        InvalidArgumentError: In the run, where `shape` does not end in that of the parameters.
    """
    with name_scope(name, "stateless_random_binomial", [shape, seed, counts, probs]):
        parts = convert_to_tensor(probs, name="probs")
        trials = convert_to_tensor(counts, None if isinstance(counts, Tensor) else parts.dtype)
        sizes = sizes_of(shape)
        return ops.StatelessRandomBinomial(sizes, seed, trials, parts, dtype=output_dtype)


def split(seed: TensorLike, num: int = 2, alg: str = "auto_select") -> Tensor:
    """[num, 2]: seeds that follow from a seed, and share nothing with one another.

    Args:
        seed: A pair of whole numbers.
        num: How many.
        alg: "auto_select" or "philox", which is the same here.

    Raises ValueError for another `alg`.
    """
    check_algorithm(alg)
    pair = convert_to_tensor(seed)
    return stateless_uniform([num, 2], pair, None, None, pair.dtype)


def fold_in(seed: TensorLike, data: TensorLike, alg: str = "auto_select") -> Tensor:
    """A seed [2] that follows from a seed and a number: other numbers, other seeds.

    Args:
        seed: [2], int32 or int64.
        data: An integer scalar.
        alg: "auto_select" or "philox", which is the same here.

    Returns the type of `data`. Raises ValueError for another `alg`.
    """
    check_algorithm(alg)
    number = convert_to_tensor(data)
    return ops.Pack([stateless_uniform([], seed, None, None, number.dtype), number])
