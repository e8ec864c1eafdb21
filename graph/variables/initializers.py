"""What variables start from: callables of a shape and a dtype."""

from __future__ import annotations

import math as mathematics
from collections.abc import Sequence
from inspect import signature
from typing import TYPE_CHECKING, SupportsIndex, TypeAlias

import numpy as np

from ..core.build import ops
from ..core.create import constant as constant_tensor
from ..core.dtype import as_dtype, as_numpy
from ..functions import random
from ..functions.array import creation
from .partition_info import PartitionInfo

if TYPE_CHECKING:
    from ..core.graph import Tensor
    from ..core.typing import DTypeLike, Scalar

KnownShape: TypeAlias = "Sequence[SupportsIndex]"
Value: TypeAlias = "Scalar | np.ndarray | Sequence[Value]"
"""What Constant takes."""
ConfigValue: TypeAlias = "Value | None"
_TRUNCATED = 0.87962566103423978
"""The standard deviation of a normal distribution cut off at two."""


class Initializer:
    """Makes the initial value of a variable: `initializer(shape, dtype)`."""

    dtype: np.dtype = np.dtype(np.float32)

    def __call__(
        self, shape: KnownShape, dtype: DTypeLike | None = None, partition_info: object = None
    ) -> Tensor:
        """The value of a variable of this shape and dtype."""
        raise NotImplementedError

    def get_config(self) -> dict[str, ConfigValue]:
        """The arguments it was made with."""
        names = signature(type(self)).parameters.keys() - {"dtype", "verify_shape"}
        arguments = {name: value for name, value in vars(self).items() if name in names}
        return {**arguments, "dtype": self.dtype.name}

    @classmethod
    def from_config(cls, config: dict[str, ConfigValue]) -> Initializer:
        """The initializer with these arguments."""
        return cls(**config)

    def _dtype(self, dtype: DTypeLike | None) -> np.dtype:
        return self.dtype if dtype is None else as_numpy(dtype)


class Zeros(Initializer):
    """Zeros."""

    def __init__(self, dtype: DTypeLike = np.float32):
        self.dtype = as_numpy(dtype)

    def __call__(
        self, shape: KnownShape, dtype: DTypeLike | None = None, partition_info: object = None
    ) -> Tensor:
        """The value of a variable of this shape and dtype."""
        return creation.zeros(shape, self._dtype(dtype))


class Ones(Initializer):
    """Ones."""

    def __init__(self, dtype: DTypeLike = np.float32):
        self.dtype = as_numpy(dtype)

    def __call__(
        self, shape: KnownShape, dtype: DTypeLike | None = None, partition_info: object = None
    ) -> Tensor:
        """The value of a variable of this shape and dtype."""
        return creation.ones(shape, self._dtype(dtype))


class Constant(Initializer):
    """A value, or a list of values whose last is repeated."""

    def __init__(self, value: Value = 0, dtype: DTypeLike = np.float32, verify_shape: bool = False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value={value} of type: {type(value).__name__}. Expected "
                "Python scalar, list or tuple of values, or numpy.ndarray."
            )
        self.value = value
        self.dtype = as_numpy(dtype)
        self.verify_shape = verify_shape

    def __call__(
        self, shape: KnownShape, dtype: DTypeLike | None = None, partition_info: object = None
    ) -> Tensor:
        """The value of a variable of this shape and dtype."""
        return constant_tensor(
            self.value, self._dtype(dtype), shape=shape, verify_shape=self.verify_shape
        )


class RandomUniform(Initializer):
    """Numbers between two limits, all as likely.

    Args:
        minval, maxval: The limits; the second is never drawn. 0 and 1 by default.
        seed: Of the numbers, with the graph's.
        dtype: Of the numbers: floats, or whole numbers with both limits.
    """

    def __init__(
        self,
        minval: float = 0,
        maxval: float | None = None,
        seed: int | None = None,
        dtype: DTypeLike = np.float32,
    ):
        self.minval, self.maxval, self.seed, self.dtype = minval, maxval, seed, as_numpy(dtype)

    def __call__(
        self, shape: KnownShape, dtype: DTypeLike | None = None, partition_info: object = None
    ) -> Tensor:
        """The value of a variable of this shape and dtype."""
        return random.random_uniform(
            shape, self.minval, self.maxval, self._dtype(dtype), seed=self.seed
        )


class RandomNormal(Initializer):
    """Numbers of a normal distribution.

    Args:
        mean, stddev: Of the distribution, 0 and 1 by default.
        seed: Of the numbers, with the graph's.
        dtype: A type of floats.

    Raises ValueError for another type.
    """

    def __init__(
        self,
        mean: float = 0.0,
        stddev: float = 1.0,
        seed: int | None = None,
        dtype: DTypeLike = np.float32,
    ):
        self.mean, self.stddev, self.seed = mean, stddev, seed
        self.dtype = _floating(dtype)

    def __call__(
        self, shape: KnownShape, dtype: DTypeLike | None = None, partition_info: object = None
    ) -> Tensor:
        """The value of a variable of this shape and dtype."""
        return random.random_normal(
            shape, self.mean, self.stddev, self._dtype(dtype), seed=self.seed
        )


class TruncatedNormal(RandomNormal):
    """Numbers of a normal distribution within two standard deviations.

    Args:
        mean, stddev: Of the distribution before it is cut, 0 and 1 by default.
        seed: Of the numbers, with the graph's.
        dtype: A type of floats.

    Raises ValueError for another type.
    """

    def __call__(
        self, shape: KnownShape, dtype: DTypeLike | None = None, partition_info: object = None
    ) -> Tensor:
        """The value of a variable of this shape and dtype."""
        return random.truncated_normal(
            shape, self.mean, self.stddev, self._dtype(dtype), seed=self.seed
        )


class VarianceScaling(Initializer):
    """Numbers whose variance is `scale` over the inputs, outputs or their mean of a layer.

    Args:
        scale: A positive number.
        mode: "fan_in", "fan_out" or "fan_avg".
        distribution: "truncated_normal" ("normal"), "untruncated_normal" or "uniform".
        seed: See set_random_seed.
        dtype: Of the numbers.
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: DTypeLike = np.float32,
    ):
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {scale}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(
                "Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'). Received: "
                f"{mode}"
            )
        distribution = distribution.lower()
        known = ("normal", "uniform", "truncated_normal", "untruncated_normal")
        if distribution not in known:
            raise ValueError(
                f"Argument `distribution` should be one of {known}. Received: {distribution}"
            )
        self.scale, self.mode, self.distribution = scale, mode, distribution
        self.seed, self.dtype = seed, _floating(dtype)

    def __call__(
        self, shape: KnownShape, dtype: DTypeLike | None = None, partition_info: object = None
    ) -> Tensor:
        """The value of a variable of this shape and dtype."""
        numpy_dtype = self._dtype(dtype)
        fan_in, fan_out = fans(whole_shape(shape, partition_info))
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        scale = self.scale / max(1.0, fan)
        if self.distribution == "uniform":
            limit = mathematics.sqrt(3.0 * scale)
            return random.random_uniform(shape, -limit, limit, numpy_dtype, seed=self.seed)
        stddev = mathematics.sqrt(scale)
        if self.distribution == "untruncated_normal":
            return random.random_normal(shape, 0.0, stddev, numpy_dtype, seed=self.seed)
        return random.truncated_normal(shape, 0.0, stddev / _TRUNCATED, numpy_dtype, seed=self.seed)


class GlorotUniform(VarianceScaling):
    """VarianceScaling(1, "fan_avg", "uniform").

    Numbers between +-sqrt(6 / (inputs + outputs)).

    Args:
        seed: Of the numbers, with the graph's.
        dtype: A type of floats.
    """

    def __init__(self, seed: int | None = None, dtype: DTypeLike = np.float32):
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)


class GlorotNormal(VarianceScaling):
    """VarianceScaling(1, "fan_avg", "truncated_normal").

    Of a normal distribution with variance 2 / (inputs + outputs), cut off at two deviations.

    Args:
        seed: Of the numbers, with the graph's.
        dtype: A type of floats.
    """

    def __init__(self, seed: int | None = None, dtype: DTypeLike = np.float32):
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)


class UniformUnitScaling(Initializer):
    """Numbers of a uniform distribution that keeps the scale of what is multiplied with them.

    Args:
        factor: What all numbers are multiplied by.
        seed: Of the numbers, with the graph's.
        dtype: A type of floats.
    """

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: DTypeLike = np.float32):
        self.factor, self.seed, self.dtype = factor, seed, _floating(dtype)

    def __call__(
        self, shape: KnownShape, dtype: DTypeLike | None = None, partition_info: object = None
    ) -> Tensor:
        """The value of a variable of this shape and dtype."""
        size = 1.0
        for dim in whole_shape(shape, partition_info)[:-1]:
            size *= float(dim)
        limit = mathematics.sqrt(3 / max(size, 1.0)) * self.factor
        return random.random_uniform(shape, -limit, limit, self._dtype(dtype), seed=self.seed)


class Identity(Initializer):
    """A matrix with `gain` on its diagonal."""

    def __init__(self, gain: float = 1.0, dtype: DTypeLike = np.float32):
        self.gain, self.dtype = gain, as_numpy(dtype)

    def __call__(
        self, shape: KnownShape, dtype: DTypeLike | None = None, partition_info: object = None
    ) -> Tensor:
        """The value of a variable of this shape and dtype."""
        sizes = whole_shape(shape, partition_info)
        if len(sizes) != 2:
            raise ValueError(
                "The tensor to initialize, specified by argument `shape` must be at least "
                f"two-dimensional. Received shape={shape}"
            )
        rows, columns = map(int, sizes)
        matrix = creation.eye(rows, columns, dtype=self._dtype(dtype))
        if isinstance(partition_info, PartitionInfo):
            start = np.array(partition_info.var_offset, np.int32)
            matrix = ops.Slice(matrix, start, np.array([int(n) for n in shape], np.int32))
        return self.gain * matrix


class Orthogonal(Initializer):
    """A matrix whose rows, or columns, stand at right angles and have length `gain`.

    Of more than two dimensions all but the last make one.
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: DTypeLike = np.float32):
        self.gain, self.seed, self.dtype = gain, seed, _floating(dtype)

    def __call__(
        self, shape: KnownShape, dtype: DTypeLike | None = None, partition_info: object = None
    ) -> Tensor:
        """The value of a variable of this shape and dtype."""
        if len(shape) < 2:
            raise ValueError(
                "The tensor to initialize, specified by argument `shape` must be at least "
                f"two-dimensional. Received shape={shape}"
            )
        sizes = [int(size) for size in shape]
        rows, columns = mathematics.prod(sizes[:-1]), sizes[-1]
        flat = (max(rows, columns), min(rows, columns))
        normal = random.random_normal(flat, dtype=self._dtype(dtype), seed=self.seed)
        q, r = ops.Qr(normal, full_matrices=False)
        q = q * ops.Sign(ops.DiagPart(r))
        if rows < columns:
            q = ops.Transpose(q, np.array([1, 0], np.int32))
        return self.gain * ops.Reshape(q, np.array(sizes, np.int32))


def whole_shape(shape: KnownShape, partition_info: object) -> KnownShape:
    """The shape of the variable of which a part of `shape` is made."""
    return partition_info.full_shape if isinstance(partition_info, PartitionInfo) else shape


def _floating(dtype: DTypeLike) -> np.dtype:
    """A floating type; ValueError for any other."""
    known = as_dtype(dtype)
    if not known.is_floating:
        raise ValueError(f"Argument `dtype` is expected to be floating point. Received: {known!s}.")
    return known.dtype


def fans(shape: KnownShape) -> tuple[float, float]:
    """The number of inputs and of outputs of a layer with weights of `shape`."""
    sizes = [int(size) for size in shape]
    if len(sizes) < 2:
        size = float(sizes[0]) if sizes else 1.0
        return size, size
    taps = mathematics.prod(sizes[:-2])
    return sizes[-2] * taps, sizes[-1] * taps


def he_normal(seed: int | None = None) -> VarianceScaling:
    """VarianceScaling(2, "fan_in", "truncated_normal")."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> VarianceScaling:
    """VarianceScaling(2, "fan_in", "uniform")."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """VarianceScaling(1, "fan_in", "truncated_normal")."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """VarianceScaling(1, "fan_in", "uniform")."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
random_uniform_initializer = RandomUniform
random_normal_initializer = RandomNormal
truncated_normal_initializer = TruncatedNormal
variance_scaling_initializer = VarianceScaling
uniform_unit_scaling_initializer = UniformUnitScaling
glorot_uniform_initializer = GlorotUniform
glorot_normal_initializer = GlorotNormal
orthogonal_initializer = Orthogonal
zeros, ones, constant, identity = Zeros, Ones, Constant, Identity
orthogonal = Orthogonal
variance_scaling, truncated_normal = VarianceScaling, TruncatedNormal
glorot_uniform, glorot_normal = GlorotUniform, GlorotNormal
