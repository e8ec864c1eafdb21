"""The subgraphs of an interpreter, allocated: shapes of inputs, plans, memory of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.plan.arena import address, check_limit
from ..arguments import as_shape, check_fits, check_shape, check_strict, check_type, strings_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from ...engine.plan.planner import Layout
    from ...engine.run.disk_cache import CacheEntry
    from ..arguments import Options
    from ..delegation.partition import AnyDelegate
    from ..details import TensorDetails
    from .node import Stage
    from .pending_plans import PendingPlan
    from .plan import Plan
    from .planner import LayoutCallback
    from .recent_plans import RecentPlans
    from .scope import Scope

_NULL = "Tensor data is null. Run allocate_tensors() first"
_STRINGS = (np.ndarray, np.generic, str, bytes)
"""What a string tensor is set from; LiteRT takes no list or tensor of others either."""


class Allocation:
    """What `allocate_tensors` makes, and what it is asked for.

    Attributes:
        plans: subgraph -> the plan for the present shapes, where it is prepared.
        shapes: (subgraph, input) -> the shape it was resized to.

    Args:
        scope: of the interpreter.
        delegates: who may run partitions of a plan.
        options: of the interpreter.
        cache_entry: where the first plan is stored.
    """

    def __init__(
        self,
        scope: Scope,
        delegates: Sequence[AnyDelegate],
        options: Options,
        cache_entry: CacheEntry | None,
    ):
        self._model, self._scope, self._delegates = scope.model, scope, delegates
        self._limits = options.get("limits")
        scope.limits, scope.delegates = self._limits, tuple(delegates)
        self._shares_weights = options.get("share_weights", False)
        self._cache_entry = cache_entry
        self._pending: PendingPlan | None = None
        self.plans: dict[int, Plan] = {}
        self.shapes: dict[tuple[int, int], tuple[int, ...]] = {}
        self._inputs: dict[int, dict[int, np.ndarray]] = {}
        self._recent: RecentPlans | None = None  # from the first resize on

    def details(self, subgraph: int, tensor: int) -> TensorDetails:
        """The dictionary of a tensor, with the shape it has now."""
        from ..details import tensor_details

        declared = self._model.tensor(subgraph, tensor)
        shape = self.shapes.get((subgraph, tensor))
        plan = self.plans.get(subgraph)
        if shape is None and plan is not None:
            shape = plan.shape(tensor)
        return tensor_details(declared, declared.shape if shape is None else shape)

    def shape(self, subgraph: int, tensor: int) -> tuple[int, ...]:
        """The shape of an input, resized or as the file has it."""
        resized = self.shapes.get((subgraph, tensor))
        return self._model.tensor(subgraph, tensor).shape if resized is None else resized

    def ready(self, subgraph: int) -> Plan:
        """The plan of a subgraph; raises RuntimeError when it is not prepared."""
        plan = self.plans.get(subgraph)
        if plan is None:
            raise RuntimeError("Invoke called on model that is not ready.")
        return plan

    def allocate(self, subgraph: int) -> None:
        """Prepares a subgraph for the shapes of its inputs, unless it is.

        Raises what `Interpreter.allocate_tensors` does.
        """
        if subgraph in self.plans:
            return
        model, inputs = self._model, self._inputs.get(subgraph, {})
        usual = subgraph == 0 and not self.shapes
        plan = None
        if self._recent is not None:
            plan = self._recent.take(subgraph, partial(self.shape, subgraph), inputs)
        if plan is None and usual and model.cached_plan is not None:
            from .plan import Plan  # who only reads what a model says needs none

            plan = Plan.from_cache(self._scope, model.cached_plan)
        if plan is None:
            from ...collection import collection_paused

            with collection_paused():
                plan = self._prepare(subgraph, self._storing() if usual else None)
            if usual:
                plan = self._write_serialized(plan)
        self.plans[subgraph] = plan
        model.release()
        if self._inputs.pop(subgraph, None) is not None:
            self._scope.reset_states()

    def prepare_early(self, subgraph: int) -> None:
        """Prepares a subgraph before `allocate`, which has it then, where a delegate wants that.

        That is at the shapes of the file.
        """
        if not any(getattr(delegate, "chooses_early", False) for delegate in self._delegates):
            return
        from .recent_plans import RecentPlans

        self.allocate(subgraph)
        self._recent = RecentPlans()
        self._recent.put(subgraph, self.plans.pop(subgraph))

    def _prepare(self, subgraph: int, on_layout: LayoutCallback | None) -> Plan:
        spec = self._model.subgraph(subgraph)
        shapes = {tensor: self.shape(subgraph, tensor) for tensor in spec.inputs if tensor >= 0}
        for tensor, shape in shapes.items():
            check_shape(spec.tensors[tensor], shape)
        from .plan import Plan

        n_bytes = sum(prod(x) * spec.tensors[t].dtype.itemsize for t, x in shapes.items())
        check_limit(n_bytes, self._scope.memory_limit)
        inputs = self._inputs.get(subgraph)
        return Plan(self._scope, spec, shapes, inputs, self._delegates, on_layout)

    def _storing(self) -> LayoutCallback | None:
        """What notes the first plan, to be stored on disk; None where plans are not stored."""
        entry = self._cache_entry
        if entry is not None and not entry.is_writable:
            entry = None
        if self._scope.preserve or self._delegates or not (entry or self._shares_weights):
            return None

        from .pending_plans import PendingPlan

        def note(stage: Stage, readable: set[int], layout: Layout) -> None:
            def serialize() -> bytes | None:
                from .plan_cache import serialized_plan

                return serialized_plan(self._model, stage, sorted(readable), layout)

            self._pending = PendingPlan(entry, serialize)

        return note

    def _write_serialized(self, plan: Plan) -> Plan:
        """The plan that was just made: stored later, or at once where its weights are shared."""
        pending = self._pending
        if self._shares_weights:
            self.share_plan()
            cached_plan = self._model.cached_plan
            shared = None if cached_plan is None else plan.from_cache(self._scope, cached_plan)
            return shared or plan
        if pending is not None:
            from .pending_plans import postpone

            postpone(pending)
        return plan

    def share_plan(self) -> None:
        """Lets the interpreters of the same model have the first plan of this one."""
        pending, self._pending = self._pending, None
        serialized = None if pending is None else pending.store()
        if pending is not None and serialized is not None:
            self._model.use_plan(serialized, pending.entry, self._shares_weights)

    def resize(self, subgraph: int, tensor: int, size: npt.ArrayLike, strict: bool) -> bool:
        """Gives an input another shape; whether the subgraph has to be prepared again.

        Raises what `Interpreter.resize_tensor_input` does.
        """
        shape = as_shape(size)
        try:
            declared = self._model.tensor(subgraph, tensor)
        except ValueError as error:
            raise RuntimeError(str(error)) from None
        if tensor not in self._model.ends(subgraph)[0] or declared.is_constant:
            from ...schema.errors import noted

            error = RuntimeError("Attempting to resize a fixed-size tensor.")
            raise noted(error, f"Tensor {tensor} '{declared.name}' is no input of the model")
        check_shape(declared, shape)
        if self._limits is not None:
            from ..limits import check_shape as check_limit_of_shape

            check_limit_of_shape(self._limits, declared.name, shape)
        before = self.shape(subgraph, tensor)
        if strict:
            check_strict(tensor, declared, before, shape)
        if shape == before:
            return False
        self.shapes[subgraph, tensor] = shape
        plan = self.plans.pop(subgraph, None)
        if plan is None:
            return False
        self._inputs[subgraph] = {t: plan.first.arrays[t] for t in plan.inputs}
        if self._recent is None:
            from .recent_plans import RecentPlans

            self._recent = RecentPlans()
        self._recent.put(subgraph, plan)
        return True

    def set(self, subgraph: int, tensor: int, value: npt.ArrayLike) -> np.ndarray:
        """Copies a value into a tensor, whose memory it gives.

        Raises what `Interpreter.set_tensor` does.
        """
        declared = self._model.tensor(subgraph, tensor)
        if declared.dtype.hasobject and not isinstance(value, _STRINGS):
            raise ValueError(
                "Passed in value type is not a numpy array, got type "
                f"{type(value).__qualname__}; make one with dtype object"
            )
        array = np.asarray(value, object if isinstance(value, (str, bytes)) else None)
        check_type(declared, array.dtype)
        plan = self.plans.get(subgraph)
        shape = plan.shape(tensor) if plan is not None else None
        check_fits(tensor, array.shape, self.shape(subgraph, tensor) if shape is None else shape)
        if declared.is_constant:
            raise ValueError(f"Cannot set tensor: tensor {tensor} '{declared.name}' is constant")
        memory = None if plan is None else plan.array(tensor)
        if memory is None or not memory.flags.writeable:
            raise ValueError(
                "Cannot set tensor: Tensor is unallocated. Try calling allocate_tensors() first"
            )
        if declared.dtype.hasobject:
            memory[...] = strings_of(array)
        elif address(array) != address(memory):  # else the value lies there already
            memory[...] = array
        return memory

    def memory(self, subgraph: int, tensor: int) -> np.ndarray:
        """The memory of a tensor.

        Raises ValueError before `allocate`, after a run that did not come to its end, or when the
        memory has served others.
        """
        declared = self._model.tensor(subgraph, tensor)
        if declared.is_constant:
            return declared.value
        plan = self.plans.get(subgraph)
        if plan is None:
            raise ValueError(_NULL)
        if not plan.finished and tensor not in plan.inputs and not declared.is_variable:
            raise ValueError(
                "Tensor data is not valid: the last invoke did not come to its end; invoke again"
            )
        memory = plan.array(tensor)
        if memory is None and 0 in declared.shape:  # a constant of no elements has no data
            memory = np.empty(declared.shape, declared.dtype)
        if memory is None:
            from ...schema.errors import noted

            raise noted(
                ValueError(_NULL),
                f"Tensor {tensor} '{declared.name}' is an intermediate result whose memory is used "
                "again: experimental_preserve_all_tensors=True keeps it",
            )
        return memory
