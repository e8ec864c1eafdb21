"""Distribution: what those of `tf.distributions`, and a program's own, have in common."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.dtype import DType, as_dtype
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.tensor_shape import TensorShape
from ..array.array import concat
from ..checks import value_of
from ..math.reductions import reduce_prod
from .divergence import cross_entropy, kl_divergence

if TYPE_CHECKING:
    from typing_extensions import Self

    from ...core.typing import DTypeLike, ShapeLike, TensorLike

Count: TypeAlias = "int | np.integer | Tensor"
"""A number of draws."""


class ReparameterizationType:
    """Whether gradients flow from draws to the parameters; each equals itself alone."""

    def __init__(self, rep_type: str):
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameterization Type: {self._rep_type}>"

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
"""Draws are functions of the parameters and of noise: gradients flow through them."""
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")
"""No gradient flows from draws: take log_prob of what was drawn."""


class Distribution:
    """Distributions, a batch of them, over events of one shape.

    A subclass defines methods of the names below with an underscore before them and without
    `name`, as many as it can say. `sample` asks for `_sample_n(n, seed)`: [n, *batch, *event].

    Args:
        dtype: Of events.
        reparameterization_type: FULLY_REPARAMETERIZED or NOT_REPARAMETERIZED.
        validate_args: Whether parameters and values are checked, when they run.
        allow_nan_stats: Whether statistics that do not exist are NaN, rather than errors.
        parameters: What it was made with; `copy` makes others of them.
        graph_parents: The tensors it is made of.
        name: Before the names of its operations; the class's by default.

    Raises ValueError for graph_parents that are no tensors.
    """

    def __init__(
        self,
        dtype: DTypeLike,
        reparameterization_type: ReparameterizationType,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: Mapping[str, object] | None = None,
        graph_parents: Sequence[Tensor] | None = None,
        name: str | None = None,
    ):
        for i, parent in enumerate(graph_parents or ()):
            if not isinstance(parent, Tensor):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        if not name or not name.endswith("/"):
            with name_scope(name or type(self).__name__) as scope:
                name = scope
        self._dtype = as_dtype(dtype)
        self._reparameterization_type = reparameterization_type
        self._validate_args = validate_args
        self._allow_nan_stats = allow_nan_stats
        self._parameters = dict(parameters or {})
        self._graph_parents = list(graph_parents or ())
        self._name = name

    # what it is

    @property
    def name(self) -> str:
        """What stands before the names of its operations, with a slash."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The type of events."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, object]:
        """What it was made with."""
        return {
            name: value
            for name, value in self._parameters.items()
            if name != "self" and not name.startswith("__")
        }

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        """Whether gradients flow from draws to the parameters."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        """Whether statistics that do not exist are NaN, rather than errors."""
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        """Whether parameters and values are checked."""
        return self._validate_args

    def copy(self, **override_parameters_kwargs: object) -> Self:
        """Another one, made with other values of some parameters."""
        make = cast("Callable[..., Self]", type(self))
        return make(**{**self.parameters, **override_parameters_kwargs})

    @classmethod
    def param_shapes(
        cls, sample_shape: TensorLike, name: str = "DistributionParamShapes"
    ) -> dict[str, Tensor]:
        """The shapes of parameters of which one draw has the shape `sample_shape`."""
        with name_scope(name, values=[sample_shape]):
            return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape: ShapeLike) -> dict[str, TensorShape]:
        """`param_shapes` where all is known.

        Raises ValueError when it is not.
        """
        if isinstance(sample_shape, TensorShape):
            if not sample_shape.is_fully_defined():
                raise ValueError("TensorShape sample_shape must be fully defined")
            sample_shape = cast("list[int]", sample_shape.as_list())
        known: dict[str, TensorShape] = {}
        for name, shape in cls.param_shapes(cast("TensorLike", sample_shape)).items():
            sizes = value_of(shape)
            if sizes is None:
                raise ValueError("sample_shape must be a fully-defined TensorShape or list/tuple")
            known[name] = TensorShape(sizes)
        return known

    @classmethod
    def _param_shapes(cls, sample_shape: TensorLike) -> dict[str, Tensor]:
        raise NotImplementedError("_param_shapes not implemented")

    def __str__(self) -> str:
        shapes = {"batch_shape": self.batch_shape, "event_shape": self.event_shape}
        known = [f", {name}={shape}" for name, shape in shapes.items() if shape.ndims is not None]
        kind = f"tfp.distributions.{type(self).__name__}"
        return f'{kind}("{self.name}"{"".join(known)}, dtype={self.dtype.name})'

    def __repr__(self) -> str:
        return (
            f"<tfp.distributions.{type(self).__name__} '{self.name}' "
            f"batch_shape={self.batch_shape} event_shape={self.event_shape} "
            f"dtype={self.dtype.name}>"
        )

    # shapes

    @property
    def batch_shape(self) -> TensorShape:
        """The shape of the batch, as far as it is known."""
        return TensorShape(self._batch_shape())

    @property
    def event_shape(self) -> TensorShape:
        """The shape of an event, as far as it is known."""
        return TensorShape(self._event_shape())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape of the batch."""
        with self._name_scope(name):
            return _sizes(self.batch_shape, self._batch_shape_tensor, "batch_shape")

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        """The shape of an event."""
        with self._name_scope(name):
            return _sizes(self.event_shape, self._event_shape_tensor, "event_shape")

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Tensor:
        """Whether it is a single distribution."""
        with self._name_scope(name):
            return _is_scalar(self.batch_shape, self.batch_shape_tensor, "is_scalar_batch")

    def is_scalar_event(self, name: str = "is_scalar_event") -> Tensor:
        """Whether events are single numbers."""
        with self._name_scope(name):
            return _is_scalar(self.event_shape, self.event_shape_tensor, "is_scalar_event")

    def _batch_shape(self) -> TensorShape:
        return TensorShape(None)

    def _event_shape(self) -> TensorShape:
        return TensorShape(None)

    def _batch_shape_tensor(self) -> Tensor:
        raise self._lacks("batch_shape_tensor")

    def _event_shape_tensor(self) -> Tensor:
        raise self._lacks("event_shape_tensor")

    # draws

    def sample(
        self, sample_shape: TensorLike = (), seed: int | None = None, name: str = "sample"
    ) -> Tensor:
        """[*sample_shape, *batch, *event]: draws, so many of each distribution.

        Raises ValueError for a `sample_shape` that is neither a number nor a vector.
        """
        with self._name_scope(name, [sample_shape]):
            sizes = convert_to_tensor(sample_shape, np.int32, "sample_shape")
            if sizes.sizes is not None and len(sizes.sizes) > 1:
                raise ValueError("Input is neither scalar nor vector.")
            known = value_of(sizes)
            n = reduce_prod(sizes) if known is None else np.prod(known, dtype=np.int32)
            return self._shaped(self._sample_n(n, seed), sizes, known)

    def _shaped(self, drawn: Tensor, sizes: Tensor, known: np.ndarray | None) -> Tensor:
        """[n, *batch, *event] as [*sizes, *batch, *event], with what is known of the shape."""
        if known is not None:
            sizes = convert_to_tensor(np.ravel(known), name="sample_shape")
        elif sizes.get_shape().ndims != 1:
            sizes = ops.Reshape(sizes, np.array([-1], np.int32))
        result = ops.Reshape(drawn, concat([sizes, ops.Shape(drawn)[1:]], 0))
        inner = self.batch_shape.concatenate(self.event_shape)
        outer = None if known is None else np.ravel(known)
        rank = result.get_shape().ndims
        if outer is None and rank is not None and inner.ndims is not None:
            outer = [None] * (rank - inner.ndims)
        result.set_shape(TensorShape(outer).concatenate(inner))
        return result

    def _sample_n(self, n: Count, seed: int | None = None) -> Tensor:
        raise self._lacks("sample_n")

    # functions of a value

    def log_prob(self, value: TensorLike, name: str = "log_prob") -> Tensor:
        """The logarithm of the density, or of the probability, of `value`."""
        return self._at(value, name, self._log_prob, lambda x: ops.Log(self._prob(x)))

    def prob(self, value: TensorLike, name: str = "prob") -> Tensor:
        """The density, or the probability, of `value`."""
        return self._at(value, name, self._prob, lambda x: ops.Exp(self._log_prob(x)))

    def log_cdf(self, value: TensorLike, name: str = "log_cdf") -> Tensor:
        """The logarithm of the probability of events up to `value`."""
        return self._at(value, name, self._log_cdf, lambda x: ops.Log(self._cdf(x)))

    def cdf(self, value: TensorLike, name: str = "cdf") -> Tensor:
        """The probability of events up to `value`."""
        return self._at(value, name, self._cdf, lambda x: ops.Exp(self._log_cdf(x)))

    def log_survival_function(
        self, value: TensorLike, name: str = "log_survival_function"
    ) -> Tensor:
        """The logarithm of the probability of events beyond `value`."""
        return self._at(value, name, self._log_survival_function, lambda x: ops.Log1p(-self.cdf(x)))

    def survival_function(self, value: TensorLike, name: str = "survival_function") -> Tensor:
        """The probability of events beyond `value`."""
        return self._at(value, name, self._survival_function, lambda x: 1.0 - self.cdf(x))

    def quantile(self, value: TensorLike, name: str = "quantile") -> Tensor:
        """The event up to which the probability is `value`."""
        return self._at(value, name, self._quantile)

    def _log_prob(self, value: Tensor) -> Tensor:
        raise self._lacks("log_prob")

    def _prob(self, value: Tensor) -> Tensor:
        raise self._lacks("prob")

    def _log_cdf(self, value: Tensor) -> Tensor:
        raise self._lacks("log_cdf")

    def _cdf(self, value: Tensor) -> Tensor:
        raise self._lacks("cdf")

    def _log_survival_function(self, value: Tensor) -> Tensor:
        raise self._lacks("log_survival_function")

    def _survival_function(self, value: Tensor) -> Tensor:
        raise self._lacks("survival_function")

    def _quantile(self, value: Tensor) -> Tensor:
        raise self._lacks("quantile")

    # statistics

    def mean(self, name: str = "mean") -> Tensor:
        """What is expected of events."""
        with self._name_scope(name):
            return self._mean()

    def mode(self, name: str = "mode") -> Tensor:
        """The most likely event."""
        with self._name_scope(name):
            return self._mode()

    def variance(self, name: str = "variance") -> Tensor:
        """What is expected of (x - mean)^2."""
        with self._name_scope(name):
            return _first_of(self._variance, lambda: ops.Square(self._stddev()))

    def stddev(self, name: str = "stddev") -> Tensor:
        """The root of the variance."""
        with self._name_scope(name):
            return _first_of(self._stddev, lambda: ops.Sqrt(self._variance()))

    def covariance(self, name: str = "covariance") -> Tensor:
        """[*batch, k, k]: the covariances of an event's k elements."""
        with self._name_scope(name):
            return self._covariance()

    def entropy(self, name: str = "entropy") -> Tensor:
        """What is expected of -log_prob, in nats."""
        with self._name_scope(name):
            return self._entropy()

    def cross_entropy(self, other: Distribution, name: str = "cross_entropy") -> Tensor:
        """What is expected of -other.log_prob(x), in nats."""
        with self._name_scope(name):
            return self._cross_entropy(other)

    def kl_divergence(self, other: Distribution, name: str = "kl_divergence") -> Tensor:
        """What is expected of log_prob(x) - other.log_prob(x), in nats.

        Raises NotImplementedError when nothing is registered for the classes.
        """
        with self._name_scope(name):
            return self._kl_divergence(other)

    def _mean(self) -> Tensor:
        raise self._lacks("mean")

    def _mode(self) -> Tensor:
        raise self._lacks("mode")

    def _variance(self) -> Tensor:
        raise self._lacks("variance")

    def _stddev(self) -> Tensor:
        raise self._lacks("stddev")

    def _covariance(self) -> Tensor:
        raise self._lacks("covariance")

    def _entropy(self) -> Tensor:
        raise self._lacks("entropy")

    def _cross_entropy(self, other: Distribution) -> Tensor:
        return cross_entropy(self, other, self.allow_nan_stats)

    def _kl_divergence(self, other: Distribution) -> Tensor:
        return kl_divergence(self, other, self.allow_nan_stats)

    # how

    @contextlib.contextmanager
    def _name_scope(self, name: str, values: Sequence[object] = ()) -> Generator[str]:
        inner = name_scope(name, values=[*values, *self._graph_parents])
        with name_scope(self.name), inner as scope:
            yield scope

    def _at(
        self,
        value: TensorLike,
        name: str,
        direct: Callable[[Tensor], Tensor],
        derived: Callable[[Tensor], Tensor] | None = None,
    ) -> Tensor:
        with self._name_scope(name, [value]):
            x = convert_to_tensor(value, name="value", preferred_dtype=self.dtype)
            if derived is None:
                return direct(x)
            return _first_of(lambda: direct(x), lambda: derived(x))

    def _lacks(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{what} is not implemented: {type(self).__name__}")


def _first_of(direct: Callable[[], Tensor], derived: Callable[[], Tensor]) -> Tensor:
    """What a class says itself, else what follows from what it says.

    Raises the NotImplementedError of the former when it says neither.
    """
    try:
        return direct()
    except NotImplementedError as error:
        try:
            return derived()
        except NotImplementedError:
            raise error from None


def _sizes(shape: TensorShape, compute: Callable[[], Tensor], name: str) -> Tensor:
    if shape.is_fully_defined():
        return convert_to_tensor(np.array(shape.as_list(), np.int32), name=name)
    return compute()


def _is_scalar(shape: TensorShape, compute: Callable[[], Tensor], name: str) -> Tensor:
    if shape.ndims is not None:
        return convert_to_tensor(shape.ndims == 0, name=name)
    return convert_to_tensor(ops.Equal(ops.Size(compute()), np.int32(0)), name=name)
