"""Batch normalisation: by the batch in training, by averages of batches else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ..core.build import ops
from ..core.create import convert_to_tensor
from ..core.graph import Tensor
from ..core.scopes import control_dependencies, name_scope
from ..core.tensor_shape import TensorShape
from ..functions.array import array, creation
from ..functions.flow.conditional import cond
from ..functions.math.reductions import reduce_mean
from ..functions.nn import normalization
from ..variables.initializers import ones_initializer, zeros_initializer
from .base import InputSpec, Layer

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..core.typing import DTypeLike, ShapeLike, TensorLike
    from ..variables.variable_scope import InitializerLike, Regularizer, Reuse, VariableScope
    from ..variables.variables import Constraint, Updated, Variable
    from .base import RegularizedOptions

Adjustment: TypeAlias = "Callable[[Tensor], tuple[TensorLike, TensorLike]]"

_FUSED = {(4, 1): "NCHW", (4, 3): "NHWC", (5, 1): "NCDHW", (5, 4): "NDHWC"}
"""Rank and axis of the channels -> the format in which there is one operation for all."""
_CLIPPING = ("rmax", "rmin", "dmax")


class BatchNormalization(Layer):
    """(inputs - mean) / sqrt(variance + epsilon) * gamma + beta, along all axes but some.

    In training mean and variance are the batch's, and operations in UPDATE_OPS move the averages
    `moving_mean` and `moving_variance` towards them; else they are these averages.

    Args:
        axis: That of the channels, or several.
        momentum: How slowly the averages move.
        epsilon: Keeps the quotient finite.
        center, scale: Whether there are `beta` and `gamma`.
        beta_initializer and the other initializers, regularizers and constraints: Of its variables.
        renorm: Whether training uses averages, too, with a correction that has no gradient.
        renorm_clipping: "rmin", "rmax" and "dmax": bounds of that correction.
        renorm_momentum: How slowly the averages of the correction move.
        fused: None or True for the fused operation where the inputs allow it.
        trainable: Whether its variables are trained.
        virtual_batch_size: How many of a batch share mean and variance.
        adjustment: A function of the inputs' shape that gives a factor and a summand for
            normalised inputs in training.
        name: Of its scope.
        **kwargs: Of Layer.

    Raises ValueError when a size that is needed is not known, or options do not go together.
    """

    CONFIGURED = (
        "axis momentum epsilon center scale beta_initializer gamma_initializer "
        "moving_mean_initializer moving_variance_initializer beta_regularizer "
        "gamma_regularizer beta_constraint gamma_constraint"
    )

    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: InitializerLike | None = None,
        gamma_initializer: InitializerLike | None = None,
        moving_mean_initializer: InitializerLike | None = None,
        moving_variance_initializer: InitializerLike | None = None,
        beta_regularizer: Regularizer | None = None,
        gamma_regularizer: Regularizer | None = None,
        beta_constraint: Constraint | None = None,
        gamma_constraint: Constraint | None = None,
        renorm: bool = False,
        renorm_clipping: Mapping[str, TensorLike] | None = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Adjustment | None = None,
        name: str | VariableScope | None = None,
        **kwargs: Unpack[RegularizedOptions],
    ):
        super().__init__(trainable, name, **kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise TypeError(
                "Expected an int or a list/tuple of ints for the argument 'axis', but received: "
                f"{axis!r}"
            )
        zeros, ones = zeros_initializer(), ones_initializer()
        self.axis = axis if isinstance(axis, int) else list(axis)
        self.momentum, self.epsilon = momentum, epsilon
        self.center, self.scale = center, scale
        self.beta_initializer = zeros if beta_initializer is None else beta_initializer
        self.gamma_initializer = ones if gamma_initializer is None else gamma_initializer
        self.moving_mean_initializer = moving_mean_initializer or zeros
        self.moving_variance_initializer = moving_variance_initializer or ones
        self.beta_regularizer, self.gamma_regularizer = beta_regularizer, gamma_regularizer
        self.beta_constraint, self.gamma_constraint = beta_constraint, gamma_constraint
        self.renorm, self.renorm_momentum = renorm, renorm_momentum
        self.renorm_clipping = dict(renorm_clipping or {})
        if renorm and set(self.renorm_clipping) - set(_CLIPPING):
            raise ValueError(
                "Received invalid keys for `renorm_clipping` argument: "
                f"{self.renorm_clipping}. Supported values: {list(_CLIPPING)}."
            )
        self.fused = True if fused is None else fused
        self.virtual_batch_size, self.adjustment = virtual_batch_size, adjustment
        self.gamma: Variable | None = None
        self.beta: Variable | None = None
        self._axes: list[int] = []
        self._format = ""

    @property
    def _kind(self) -> DTypeLike:
        """The type of its variables, float32 for halves."""
        kind = np.dtype(self._dtype or np.float32)
        return np.dtype(np.float32) if kind.itemsize == 2 else kind

    def build(self, input_shape: TensorShape) -> None:
        """Makes `gamma`, `beta` and the averages, of the sizes that `input_shape` has in `axis`."""
        shape = TensorShape(input_shape)
        rank = shape.ndims
        if rank is None:
            raise ValueError(f"Input has undefined rank. Received: input_shape={shape}")
        self._axes = self._checked_axes(rank)
        self._check_virtual_batches()
        sizes = shape.as_list()
        depths = {axis: sizes[axis] for axis in self._axes}
        if None in depths.values():
            raise ValueError(
                f"Input has undefined `axis` dimension. Received input with shape {tuple(sizes)} "
                f"and axis={tuple(self._axes)}"
            )
        self._choose_format(rank)
        self.input_spec = InputSpec(ndim=rank, axes=dict(depths))
        if len(depths) == 1 and self.virtual_batch_size is None:
            param_shape = list(depths.values())
        else:
            param_shape = [depths.get(i, 1) for i in range(rank)]
            if self.virtual_batch_size is not None:
                param_shape.insert(1, 1)
                self._axes = [axis + 1 for axis in self._axes]
        self._make(cast("list[int]", param_shape))
        self.built = True

    def _checked_axes(self, rank: int) -> list[int]:
        listed = [self.axis] if isinstance(self.axis, int) else self.axis
        axes = [axis + rank if axis < 0 else axis for axis in listed]
        if any(not 0 <= axis < rank for axis in axes):
            raise ValueError(
                f"Invalid value for `axis` argument. Expected 0 <= axis < inputs.rank (with "
                f"inputs.rank={rank}). Received: axis={tuple(listed)}"
            )
        if len(set(axes)) < len(axes):
            raise ValueError(f"Duplicate axis: {tuple(axes)}")
        return axes

    def _check_virtual_batches(self) -> None:
        size = self.virtual_batch_size
        if size is None:
            return
        if size <= 0:
            raise ValueError(
                "`virtual_batch_size` must be a positive integer that divides the true batch size "
                f"of the input tensor. Received: virtual_batch_size={size}"
            )
        if 0 in self._axes:
            raise ValueError(
                "When using `virtual_batch_size`, the batch dimension must be 0 and thus axis "
                f"cannot include 0. Received axis={self._axes}"
            )
        if self.adjustment is not None:
            raise ValueError("When using `virtual_batch_size`, adjustment cannot be specified")

    def _choose_format(self, rank: int) -> None:
        """Finds out whether there is a fused operation for these inputs."""
        plain = not (self.renorm or self.virtual_batch_size is not None or self.adjustment)
        is_float = np.dtype(self._dtype or np.float32).itemsize < 8
        one = (rank, self._axes[0]) if len(self._axes) == 1 else None
        self.fused = bool(self.fused and plain and is_float and rank in (4, 5) and one in _FUSED)
        self._format = _FUSED[one] if self.fused and one else ""

    def _make(self, shape: list[int]) -> None:
        if self.scale:
            self.gamma = self.add_weight(
                "gamma",
                shape,
                self._kind,
                self.gamma_initializer,
                self.gamma_regularizer,
                constraint=self.gamma_constraint,
            )
        if self.center:
            self.beta = self.add_weight(
                "beta",
                shape,
                self._kind,
                self.beta_initializer,
                self.beta_regularizer,
                constraint=self.beta_constraint,
            )
        scope = self._scope
        partitioner = None if scope is None else scope.partitioner
        if scope is not None:
            scope.set_partitioner(None)
        self.moving_mean = self._average("moving_mean", shape, self.moving_mean_initializer)
        start = self.moving_variance_initializer
        self.moving_variance = self._average("moving_variance", shape, start)
        if self.renorm:
            make = cast("Callable[..., TensorLike]", start() if isinstance(start, type) else start)

            def deviation(shape: ShapeLike, dtype: DTypeLike | None = None) -> Tensor:
                return ops.Sqrt(convert_to_tensor(make(shape, dtype=dtype)))

            self.moving_stddev = self._average("moving_stddev", shape, deviation)
            self.renorm_mean = self._average("renorm_mean", shape, self.moving_mean_initializer)
            self.renorm_stddev = self._average("renorm_stddev", shape, deviation)
        if scope is not None:
            scope.set_partitioner(partitioner)

    def _average(self, name: str, shape: list[int], start: InitializerLike) -> Variable:
        return self.add_weight(name, shape, self._kind, start, trainable=False)

    def call(self, inputs: Tensor, training: bool | Tensor = False) -> Tensor:
        """The normalised `inputs`: by the batch where `training` holds, else by the averages."""
        if self.fused:
            return self._all_at_once(inputs, training)
        x, size = inputs, self.virtual_batch_size
        if size is not None:
            inner = ops.StridedSlice(creation.shape(x), [1], [len(x.sizes or ())], [1])
            whole = array.concat([[-1], inner], 0)
            x = array.reshape(x, array.concat([[size, -1], inner], 0))
            x.set_shape((size, None, *(inputs.sizes or ())[1:]))
        if inputs.dtype.itemsize == 2:
            x = ops.Cast(x, DstT=np.dtype(np.float32))
        y = self._in_steps(x, training)
        if inputs.dtype.itemsize == 2:
            y = ops.Cast(y, DstT=inputs.dtype)
        if size is not None:
            y = array.reshape(y, whole)  # pyright: ignore[reportPossiblyUnboundVariable]
        y.set_shape(inputs.sizes)
        return y

    def _all_at_once(self, x: Tensor, training: bool | Tensor) -> Tensor:
        """By the fused operation, whose variance of a batch is that of n - 1 elements."""
        depth = [(x.sizes or ())[self._axes[0]]]
        scale = creation.ones(depth) if self.gamma is None else self.gamma.value()
        offset = creation.zeros(depth) if self.beta is None else self.beta.value()
        mean, variance = self.moving_mean.value(), self.moving_variance.value()

        def run(is_training: bool) -> Sequence[Tensor]:
            known = (None, None) if is_training else (mean, variance)
            return normalization.fused_batch_norm(
                x, scale, offset, *known, self.epsilon, self._format, is_training
            )[:3]

        y, new_mean, new_variance = _chosen(training, lambda: run(True), lambda: run(False))
        if isinstance(training, Tensor) or training:
            self._moved(self.moving_mean, new_mean, training)
            self._moved(self.moving_variance, new_variance, training)
        return y

    def _moved(
        self,
        average: Variable,
        value: Tensor,
        training: bool | Tensor,
        momentum: float | None = None,
        is_update: bool = True,
    ) -> Updated:
        """The average after a step towards a value, where `training` holds."""
        rate = np.asarray(1.0 - (self.momentum if momentum is None else momentum), average.dtype)
        with name_scope("AssignMovingAvg") as scope:
            factor: TensorLike = rate
            if isinstance(training, Tensor):
                factor = ops.SelectV2(training, rate, np.zeros((), average.dtype))
            step = (average.value() - value) * factor
            update = average.assign_sub(step, name=scope)
        if is_update:
            self.add_update(update)
        return update

    def _in_steps(self, x: Tensor, training: bool | Tensor) -> Tensor:
        """By single operations, on any shape."""
        rank = len(x.sizes or ())
        axes = [i for i in range(rank) if i not in self._axes]
        if self.virtual_batch_size is not None:
            axes.remove(1)
        wide = [1] * rank
        wide[self._axes[0]] = -1
        is_last = axes == list(range(rank - 1))

        def spread(values: Tensor) -> Tensor:
            if is_last or len(values.sizes or ()) == rank:
                return values
            return array.reshape(values, wide)

        scale = None if self.gamma is None else spread(self.gamma.value())
        offset = None if self.beta is None else spread(self.beta.value())
        mean, variance = self.moving_mean.value(), self.moving_variance.value()
        if isinstance(training, Tensor) or training:
            if self.adjustment is not None:
                factor, summand = map(convert_to_tensor, self.adjustment(creation.shape(x)))
                factor = _where(training, factor, creation.ones_like(factor))
                summand = _where(training, summand, creation.zeros_like(summand))
                scale, offset = _composed(factor, summand, scale, offset)
            several = self.virtual_batch_size is not None or len(self._axes) > 1
            batch = normalization.moments(x, axes, keep_dims=several)
            mean = _where(training, batch[0], mean)
            variance = _where(training, batch[1], variance)
            new_mean, new_variance = mean, variance
            if self.virtual_batch_size is not None:
                new_mean = reduce_mean(mean, 1, keepdims=True)
                new_variance = reduce_mean(variance, 1, keepdims=True)
            if self.renorm:
                r, d, new_mean, new_variance = self._corrected(new_mean, new_variance, training)
                factor, summand = (spread(ops.StopGradient(t)) for t in (r, d))
                scale, offset = _composed(factor, summand, scale, offset)
            self._moved(self.moving_mean, new_mean, training)
            if self.renorm:
                self._move_deviation(new_variance, training)
            else:
                self._moved(self.moving_variance, new_variance, training)
        mean, variance = (
            ops.Cast(spread(t), DstT=x.dtype) if t.dtype != x.dtype else spread(t)
            for t in (mean, variance)
        )
        return normalization.batch_normalization(x, mean, variance, offset, scale, self.epsilon)

    def _move_deviation(self, variance: Tensor, training: bool | Tensor) -> None:
        """Moves the average deviation; the variance follows it."""
        epsilon = np.asarray(self.epsilon, variance.dtype)
        deviation = self._moved(
            self.moving_stddev, ops.Sqrt(variance + epsilon), training, is_update=False
        )
        square = ops.Relu(deviation * deviation - epsilon)
        with name_scope("AssignNewValue") as scope:
            value = _where(training, square, self.moving_variance.value())
            self.add_update(self.moving_variance.assign(value, name=scope))

    def _corrected(
        self, mean: Tensor, variance: Tensor, training: bool | Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Factor and summand of the correction; mean and variance after its averages moved."""
        epsilon = np.asarray(self.epsilon, variance.dtype)
        deviation = ops.Sqrt(variance + epsilon)
        usual = ops.Maximum(self.renorm_stddev.value(), np.sqrt(epsilon))
        r = deviation / usual
        d = (mean - self.renorm_mean.value()) / usual
        with control_dependencies([r, d]):
            mean, deviation = ops.Identity(mean), ops.Identity(deviation)
        least, most, far = (self.renorm_clipping.get(key) for key in ("rmin", "rmax", "dmax"))
        r = r if least is None else ops.Maximum(r, least)
        r = r if most is None else ops.Minimum(r, most)
        if far is not None:
            bound = convert_to_tensor(far, d.dtype)
            d = ops.Minimum(ops.Maximum(d, -bound), bound)
        r = _where(training, r, creation.ones_like(r))
        d = _where(training, d, creation.zeros_like(d))
        moved = [
            self._moved(average, value, training, self.renorm_momentum, is_update=False)
            for average, value in ((self.renorm_mean, mean), (self.renorm_stddev, deviation))
        ]
        with control_dependencies(moved):
            return r, d, ops.Identity(mean), ops.Identity(variance)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """That of the inputs."""
        return TensorShape(input_shape)


def _chosen(
    training: bool | Tensor,
    train: Callable[[], Sequence[Tensor]],
    infer: Callable[[], Sequence[Tensor]],
) -> Sequence[Tensor]:
    if isinstance(training, Tensor):
        return cast("Sequence[Tensor]", cond(training, train, infer))
    return train() if training else infer()


def _where(training: bool | Tensor, yes: Tensor, no: Tensor) -> Tensor:
    """One of two tensors, by a truth value that may be a tensor."""
    if not isinstance(training, Tensor):
        return yes if training else no
    return cast("Tensor", cond(training, lambda: ops.Identity(yes), lambda: ops.Identity(no)))


def _composed(
    scale: Tensor, offset: Tensor, then_scale: Tensor | None, then_offset: Tensor | None
) -> tuple[Tensor, Tensor]:
    """x * scale + offset, and then the same by the others, as one factor and one summand."""
    if then_scale is not None:
        scale, offset = scale * then_scale, offset * then_scale
    return scale, offset if then_offset is None else offset + then_offset


def batch_normalization(
    inputs: TensorLike,
    axis: int | Sequence[int] = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: InitializerLike | None = None,
    gamma_initializer: InitializerLike | None = None,
    moving_mean_initializer: InitializerLike | None = None,
    moving_variance_initializer: InitializerLike | None = None,
    beta_regularizer: Regularizer | None = None,
    gamma_regularizer: Regularizer | None = None,
    beta_constraint: Constraint | None = None,
    gamma_constraint: Constraint | None = None,
    training: bool | Tensor = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: Reuse = None,
    renorm: bool = False,
    renorm_clipping: Mapping[str, TensorLike] | None = None,
    renorm_momentum: float = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Adjustment | None = None,
) -> Tensor:
    """Batch normalisation (Ioffe, Szegedy, arXiv 1502.03167) by a new layer.

    Args:
        inputs: Real floats of known rank; the sizes of `axis` are known.
        axis: That of the channels, or several.
        momentum: How slowly the averages move.
        epsilon: Added to the variance.
        center, scale: Whether there are `beta` and `gamma`.
        beta_initializer and the other initializers, regularizers and constraints: Of its variables.
        training: Whether mean and variance are the batch's: a truth value, or a bool scalar that is
            read when it runs. In training run the operations in UPDATE_OPS, too, which move the
            averages.
        trainable: Whether its variables are trained.
        name: Of its scope.
        reuse: Whether the variables of that scope are taken.
        renorm, renorm_clipping, renorm_momentum: See BatchNormalization (arXiv 1702.03275).
        fused: None or True for the fused operation where the inputs allow it.
        virtual_batch_size, adjustment: See BatchNormalization.

    Returns the shape and type of `inputs`.

    Raises ValueError when a size that is needed is not known, or options do not go together.
    """
    layer = BatchNormalization(
        axis,
        momentum,
        epsilon,
        center,
        scale,
        beta_initializer,
        gamma_initializer,
        moving_mean_initializer,
        moving_variance_initializer,
        beta_regularizer,
        gamma_regularizer,
        beta_constraint,
        gamma_constraint,
        renorm,
        renorm_clipping,
        renorm_momentum,
        fused,
        trainable,
        virtual_batch_size,
        adjustment,
        name,
        _reuse=reuse,
        _scope=name,
    )
    return cast("Tensor", layer(inputs, training=training))
