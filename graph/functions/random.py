"""TF1's random tensors.

The seeds of an operation come from the graph's seed and its own as in TensorFlow, and so do the
numbers: the same program gives what it gives there. Without any seed they differ in each Session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops
from ..core.create import convert_to_tensor
from ..core.dtype import as_dtype, as_numpy
from ..core.graph import Tensor
from ..core.scopes import control_dependencies, get_default_graph, name_scope, set_random_seed
from ..core.signatures.attribute_checks import int_value
from ..core.signatures.operands import Operands
from .array.creation import shape_tensor
from .flow.control_flow import Assert as assert_

if TYPE_CHECKING:
    from ..core.typing import DTypeLike, TensorLike
    from .array.creation import DynamicShape

__all__ = ["set_random_seed"]
DEFAULT_GRAPH_SEED = 87654321
_LARGEST = 2**31 - 1
_DTYPES = ("float16", "bfloat16", "float32", "float64", "int32", "int64")


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """The two seeds of an operation; None for both when nobody set one.

    With a graph's seed only, the operations count up from 0.
    """
    graph = get_default_graph()
    if op_seed is not None:
        op_seed = int_value("seed2", op_seed)
    if graph.seed is not None:
        if op_seed is None:
            count: int = graph.scopes.extras.get("random operations", 0)
            graph.scopes.extras["random operations"] = count + 1
            op_seed = count
        seeds = graph.seed % _LARGEST, op_seed % _LARGEST
    elif op_seed is not None:
        seeds = DEFAULT_GRAPH_SEED, op_seed % _LARGEST
    else:
        return None, None
    return (0, _LARGEST) if seeds == (0, 0) else seeds


def op_seeds(seed: int | None) -> dict[str, int]:
    """The attributes of an operation that hold its seeds; 0 for none."""
    first, second = get_seed(seed)
    return {"seed": first or 0, "seed2": second or 0}


def sizes_of(shape: DynamicShape) -> Tensor:
    """A shape as a vector."""
    if isinstance(shape, Operands):
        return convert_to_tensor(shape, name="shape")
    return shape_tensor(shape, "shape")


def random_uniform(
    shape: DynamicShape,
    minval: TensorLike = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = np.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers between `minval` and `maxval`, all as likely; the latter is not among them.

    Raises ValueError for a dtype that is none of numbers, or integers without `maxval`.
    """
    dtype = as_numpy(dtype)
    if dtype.name not in _DTYPES:
        raise ValueError(
            f"Argument `dtype` got invalid value {as_dtype(dtype)}. "
            f"Accepted dtypes are {tuple(map(as_dtype, _DTYPES))}."
        )
    if maxval is None:
        if dtype.kind in "iu":
            raise ValueError(f"Must specify maxval for integer dtype tf.{dtype.name}")
        maxval = 1
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        sizes = sizes_of(shape)
        from_zero = isinstance(minval, int) and minval == 0
        to_one = isinstance(maxval, int) and maxval == 1
        if from_zero and to_one and dtype.kind not in "iu":
            return ops.RandomUniform(sizes, dtype=dtype, **op_seeds(seed))
        low = convert_to_tensor(minval, dtype, "min")
        high = convert_to_tensor(maxval, dtype, "max")
        if dtype.kind in "iu":
            return ops.RandomUniformInt(sizes, low, high, name=scope, **op_seeds(seed))
        result = ops.RandomUniform(sizes, dtype=dtype, **op_seeds(seed))
        if from_zero:
            return ops.Mul(result, high)
        return ops.AddV2(result * (high - low), low, name=scope)


def random_crop(
    value: TensorLike, size: TensorLike, seed: int | None = None, name: str | None = None
) -> Tensor:
    """A part of `value` of the shape `size`, each place as likely.

    Raises InvalidArgumentError, when it runs, for a part that is larger than `value`.
    """
    with name_scope(name, "random_crop", [value, size]) as scope:
        x = convert_to_tensor(value, name="value")
        sizes = convert_to_tensor(size, np.int32, name="size")
        whole = ops.Shape(x)
        check = assert_(
            ops.All(ops.GreaterEqual(whole, sizes), np.int32(0)),
            ["Need value.shape >= size, got ", whole, sizes],
        )
        with control_dependencies([check]):
            limit = ops.Identity(whole) - sizes + np.int32(1)
        drawn = random_uniform(
            ops.Shape(limit), minval=0, maxval=np.iinfo(np.int32).max, dtype=np.int32, seed=seed
        )
        return ops.Slice(x, ops.FloorMod(drawn, limit), sizes, name=scope)


def random_normal(
    shape: DynamicShape,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = np.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers of a normal distribution, others in each run.

    Args:
        shape: Of the result, a vector or a list.
        mean, stddev: Numbers or tensors of type `dtype`, which broadcast with `shape`.
        dtype: Real floats.
        seed: With that of `tf.set_random_seed` it makes draws repeatable: TensorFlow's numbers.
        name: Of the operations.

    Raises TypeError for another type.
    """
    return _normal("RandomStandardNormal", "random_normal", shape, mean, stddev, dtype, seed, name)


def truncated_normal(
    shape: DynamicShape,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = np.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers of a normal distribution, those beyond two standard deviations drawn again.

    Args:
        shape: Of the result, a vector or a list.
        mean, stddev: Numbers or tensors of type `dtype`, which broadcast with `shape`.
        dtype: Real floats.
        seed: With that of `tf.set_random_seed` it makes draws repeatable: TensorFlow's numbers.
        name: Of the operations.

    Raises TypeError for another type.
    """
    return _normal("TruncatedNormal", "truncated_normal", shape, mean, stddev, dtype, seed, name)


def _normal(
    kind: str,
    label: str,
    shape: DynamicShape,
    mean: TensorLike,
    stddev: TensorLike,
    dtype: DTypeLike,
    seed: int | None,
    name: str | None,
) -> Tensor:
    dtype = as_numpy(dtype)
    with name_scope(name, label, [shape, mean, stddev]) as scope:
        sizes = sizes_of(shape)
        mean = convert_to_tensor(mean, dtype, "mean")
        stddev = convert_to_tensor(stddev, dtype, "stddev")
        numbers = getattr(ops, kind)(sizes, dtype=dtype, **op_seeds(seed))
        return ops.AddV2(numbers * stddev, mean, name=scope)


def random_shuffle(value: TensorLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """The slices of `value` along its first dimension in random order.

    Args:
        value: Of any type and shape.
        seed: With that of `tf.set_random_seed` it makes the order repeatable: TensorFlow's.
        name: Of the operation.
    """
    return ops.RandomShuffle(value, name=name, **op_seeds(seed))


uniform, normal, shuffle = random_uniform, random_normal, random_shuffle


def check_algorithm(alg: str) -> None:
    """Raises ValueError for a way to make random words that is not there."""
    if alg not in ("auto_select", "philox"):
        raise ValueError(f"alg must be 'auto_select' or 'philox', got {alg!r}")


def stateless_uniform(
    shape: DynamicShape,
    seed: TensorLike,
    minval: TensorLike | None = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = np.float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Tensor:
    """Numbers in [minval, maxval), the same for the same `seed`, which is a pair of numbers.

    Of integers both may be None: then all that the type has are drawn. `alg` is "auto_select" or
    "philox", which are the same here.

    Raises ValueError for integers with one of the limits alone, and for unsigned ones with any.
    """
    kind = as_numpy(dtype)
    check_algorithm(alg)
    is_whole = kind.kind in "iu"
    if is_whole and (minval is None) != (maxval is None):
        raise ValueError(
            f"For integer `dtype` argument {as_dtype(kind)!r}, argument `minval` and `maxval` must "
            f"be both None or not None. Got `minval`={minval} and `maxval`={maxval}."
        )
    if kind.kind == "u" and minval is not None:
        raise ValueError(
            f"Argument `dtype` got invalid value {as_dtype(kind)!r} when argument `minval` is not "
            "None. Please don't use unsigned integers in this case."
        )
    with name_scope(name, "stateless_random_uniform", [shape, seed]):
        sizes = sizes_of(shape)
        if minval is None and is_whole:
            return ops.StatelessRandomUniformFullInt(sizes, seed, dtype=kind)
        low = convert_to_tensor(0 if minval is None else minval, kind, name="min")
        high = convert_to_tensor(1 if maxval is None else maxval, kind, name="max")
        if is_whole:
            return ops.StatelessRandomUniformInt(sizes, seed, low, high)
        return ops.StatelessRandomUniform(sizes, seed, dtype=kind) * (high - low) + low


def stateless_normal(
    shape: DynamicShape,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = np.float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Tensor:
    """Numbers of a normal distribution, the same for the same `seed` in every run.

    Args:
        shape: Of the result, a vector or a list.
        seed: [2], int32 or int64.
        mean, stddev: Numbers or tensors of type `dtype`, which broadcast with `shape`.
        dtype: Real floats.
        name: Of the operations.
        alg: "auto_select" or "philox", which is the same here.

    Raises ValueError for another `alg` or shape of `seed`.
    """
    check_algorithm(alg)
    with name_scope(name, "stateless_random_normal", [shape, seed]):
        numbers = ops.StatelessRandomNormal(sizes_of(shape), seed, dtype=dtype)
        return numbers * stddev + mean


def stateless_truncated_normal(
    shape: DynamicShape,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = np.float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Tensor:
    """`stateless_normal` cut off two standard deviations from its mean.

    Args:
        shape: Of the result, a vector or a list.
        seed: [2], int32 or int64; the same seed gives the same numbers.
        mean, stddev: Numbers or tensors of type `dtype`, which broadcast with `shape`.
        dtype: Real floats.
        name: Of the operations.
        alg: "auto_select" or "philox", which is the same here.

    Raises ValueError for another `alg` or shape of `seed`.
    """
    check_algorithm(alg)
    with name_scope(name, "stateless_truncated_normal", [shape, seed]):
        numbers = ops.StatelessTruncatedNormal(sizes_of(shape), seed, dtype=dtype)
        return numbers * stddev + mean
