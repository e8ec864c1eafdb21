"""An optimizer that scales the loss, and TensorFlow's switch for 16-bit floats on GPUs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING
from typing import cast as as_type

import numpy as np

from ...graph.core.composite.indexed_slices import IndexedSlices
from ...graph.core.graph import Operation, Tensor
from ...graph.core.scopes import GraphKeys, control_dependencies, name_scope
from ...graph.functions.flow.conditional import cond
from ...graph.functions.flow.control_flow import group, no_op
from .loss_scale import DynamicLossScale, LossScale, loss_scale_of
from .optimizer import Optimizer, cast

if TYPE_CHECKING:
    from ...graph.derivatives.registry import Gradient
    from ...graph.variables.variables import Variable

_is_enabled: list[bool] = [False]


class MixedPrecisionLossScaleOptimizer(Optimizer):
    """An optimizer that multiplies the loss by a scale and divides the gradients by it.

    With a DynamicLossScale, steps whose gradients are not finite are left out.

    Args:
        opt: The optimizer that makes the steps.
        loss_scale: A number, "dynamic" or a LossScale.

    Raises:
        ValueError: `opt` is no optimizer, or `loss_scale` none of these.
    """

    def __init__(self, opt: Optimizer, loss_scale: float | str | LossScale):
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(opt._use_locking, opt.get_name())
        self._optimizer = opt
        self._loss_scale = loss_scale_of(loss_scale)

    def compute_gradients(
        self,
        loss: Tensor | Callable[[], Tensor],
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Tensor | None = None,
    ) -> list[tuple[Gradient | None, Variable]]:
        """Adds the gradients of `loss` by way of the scaled loss, whose own is `grad_loss`."""
        loss = loss if isinstance(loss, Tensor) else loss()
        pairs = self._optimizer.compute_gradients(
            loss * cast(self._loss_scale(), loss),
            var_list,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
        )
        factor = np.float32(1) / self._loss_scale()
        return [(_scaled(gradient, factor), variable) for gradient, variable in pairs]

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Gradient | None, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> Operation:
        """Adds the step, and after it the change of the scale.

        Where a gradient is not finite, the variables stay and the scale becomes smaller. Arguments
        are those of `Optimizer.apply_gradients`.
        """
        if not isinstance(self._loss_scale, DynamicLossScale):
            return self._optimizer.apply_gradients(grads_and_vars, global_step, name)
        pairs = list(grads_and_vars)
        update, is_finite = self._loss_scale.update([gradient for gradient, _ in pairs])
        label = name or self.get_name()
        used = [variable for gradient, variable in pairs if gradient is not None]
        with name_scope(None, "cond") as scope, control_dependencies(None):
            self._optimizer._create_slots(used)  # a branch has no variables of its own

        def apply() -> Operation:
            return self._optimizer.apply_gradients(pairs, global_step, f"{label}-wrapped")

        apply_step: Callable[[], Operation] = no_op
        applied = as_type("Operation", cond(is_finite, apply, apply_step, name=scope))
        step = group(applied, update, name=label)
        collection = step.graph.get_collection_ref(GraphKeys.TRAIN_OP)
        collection.append(step)
        return step

    def variables(self) -> list[Variable]:
        """The optimizer's own variables, and those of the scale."""
        return [*self._optimizer.variables(), *self._loss_scale.weights()]

    def dependencies(self) -> dict[str, object]:
        """What a checkpoint finds here."""
        return {"base_optimizer": self._optimizer, "loss_scale": self._loss_scale}


def _scaled(gradient: Gradient | None, factor: Tensor) -> Gradient | None:
    if gradient is None:
        return None
    if isinstance(gradient, IndexedSlices):
        values = gradient.values * cast(factor, gradient.values)
        return IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return gradient * cast(factor, gradient)


def enable_mixed_precision_graph_rewrite(
    opt: Optimizer, loss_scale: float | str | LossScale = "dynamic"
) -> MixedPrecisionLossScaleOptimizer:
    """The optimizer with a loss scale.

    In TensorFlow, operations on GPUs compute in float16 from here on, and those on processors go
    on in float32. Sessions here run on the processor alone.

    Args:
        opt: An optimizer without a loss scale.
        loss_scale: A number, "dynamic" or a LossScale.

    Raises:
        ValueError: `opt` is another object, or has a loss scale.
    """
    if isinstance(opt, MixedPrecisionLossScaleOptimizer):
        kind = MixedPrecisionLossScaleOptimizer.__name__
        raise ValueError(
            f'"opt" must not already be an instance of a {kind}. '
            "`enable_mixed_precision_graph_rewrite` will automatically wrap the optimizer with a "
            f"{kind}."
        )
    if not isinstance(opt, Optimizer):
        raise ValueError(
            '"opt" must be an instance of a tf.train.Optimizer or a tf.keras.optimizers.Optimizer, '
            f"but got: {opt}"
        )
    _is_enabled[0] = True
    return MixedPrecisionLossScaleOptimizer(opt, loss_scale)


def disable_mixed_precision_graph_rewrite() -> None:
    """Takes the switch back; optimizers that have a loss scale keep it."""
    if not _is_enabled[0]:
        warnings.warn(
            "disable_mixed_precision_graph_rewrite() called when mixed precision is already "
            "disabled.",
            stacklevel=2,
        )
    _is_enabled[0] = False
