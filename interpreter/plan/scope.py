"""What the plans of one interpreter share: the model, its variables, and calls of subgraphs."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from ...engine.run.stages import Control, aligned
from .node import NodeError

if TYPE_CHECKING:
    from typing import TypeAlias, TypedDict

    from ...engine.plan.buffer import Storage
    from ...engine.run.limits import Limits
    from ...graph.session.tables import Table as FlexTable
    from ..delegation.partition import AnyDelegate
    from ..model import LoadedModel
    from ..spec import SubgraphSpec
    from .observation import Observation
    from .plan import Plan

    Resource: TypeAlias = "np.ndarray | Table | FlexTable"
    """A variable's value, a hash table, or one of Flex operators."""
    OperandKey: TypeAlias = tuple[int, tuple[int, ...], Storage | None]
    """Number of the type, shape, and storage of a constant."""

    class Variables(TypedDict):
        """Copies of all variables of a Scope, and which subgraphs ran once."""

        states: dict[tuple[int, int], np.ndarray]
        resources: dict[int, Resource]
        resource_ids: dict[tuple[str, str], int]
        called: set[int]


OPERATORS = "\0operators"
"""The container of what operators keep, each for itself, beside the variables of the model."""
MAX_CALL_DEPTH = 64
MAX_PLANS = 4
"""Plans kept for each called subgraph, one for each set of input shapes it was called with."""


class Table(dict[bytes | int, bytes | int]):
    """A hash table. It is filled once, perhaps with nothing."""

    is_filled = False

    def fill(self, keys: Sequence[bytes | int], values: Sequence[bytes | int]) -> None:
        """Takes the first value of each key."""
        self.update(zip(reversed(keys), reversed(values), strict=True))
        self.is_filled = True

    def copy(self) -> Table:
        """A table of its own with the same entries."""
        copied = Table(self)
        copied.is_filled = self.is_filled
        return copied


class Scope:
    """State of one interpreter.

    Attributes:
        model: the loaded file.
        n_threads: threads for each program.
        preserve: whether every intermediate result stays readable.
        resources: resource id -> what a resource variable or table holds.
        objects: resource id -> what Flex operators make for a run: tensor arrays and stacks.
        custom_ops: operators registered for this interpreter alone.
        control: what may end a run before its end.
        limits: what the model may ask for at most, where the caller says so.
        delegates: who may run partitions of called subgraphs.
        observation: what measures the tensors; None when nothing does.
        consumes_inputs: whether inputs are given anew for each run, which may overwrite them.
        not_inlined: calls that did not become part of their caller's program (inline.py).
    """

    def __init__(self, model: LoadedModel, n_threads: int = 1, preserve: bool = False):
        self.model = model
        self.n_threads = n_threads
        self.preserve = preserve
        self.resources: dict[int, Resource] = {}
        self.objects: dict[int, object] = {}
        self.custom_ops: dict[str, type] = {}
        self.control = Control()
        self.limits: Limits | None = None
        self.delegates: Sequence[AnyDelegate] = ()
        self.observation: Observation | None = None
        self.consumes_inputs = False
        self.plans: dict[tuple[int, bool], dict[tuple[tuple[int, ...], ...], Plan]] = {}
        self._states: dict[tuple[int, int], np.ndarray] = {}
        self._resource_ids: dict[tuple[str, str], int] = {}
        self._live: dict[int, frozenset[int]] = {}
        self._called: set[int] = set()
        self.not_inlined: set[tuple[int, int, tuple[OperandKey, ...]]] = set()
        self._n_inlined: dict[int, tuple[float, int]] = {}
        self._active: list[int] = []

    @property
    def memory_limit(self) -> int | None:
        """Bytes the tensors of a program may take; None for 3/4 of what is left."""
        return None if self.limits is None else self.limits.memory

    def custom_op(self, name: str) -> type:
        """The class of custom operator `name`; raises LookupError when there is none."""
        from ...schema.custom_ops import custom_op_of

        return self.custom_ops.get(name) or custom_op_of(name)

    def live(self, spec: SubgraphSpec) -> frozenset[int]:
        """Positions of the operators that an output, a side effect or a measurement needs."""
        known = self._live.get(spec.index)
        if known is None:
            from .liveness import (
                live_operators,  # a process that prepares nothing has no use for it
            )

            keeps_all = self.preserve or self.observation is not None
            known = self._live[spec.index] = live_operators(spec, keeps_all)
        return known

    def n_inlined(self, spec: SubgraphSpec) -> float:
        """How many operators `spec` has with those of all it calls.

        inf where it comes to itself again, or calls go too deep.
        """
        known, waiting = self._n_inlined, [spec]
        while waiting:
            spec = waiting[-1]
            called = self._called_by(spec)
            if spec.index not in known:
                known[spec.index] = inf, 0  # for those that come to it before it is known
                waiting += [other for other in called if other.index not in known]
                continue
            waiting.pop()
            sizes = [known[other.index] for other in called]
            depth = 1 + max((depth for _, depth in sizes), default=0)
            size = len(self.live(spec)) + sum(size for size, _ in sizes)
            known[spec.index] = inf if depth > MAX_CALL_DEPTH else size, depth
        return known[spec.index][0]

    def _called_by(self, spec: SubgraphSpec) -> list[SubgraphSpec]:
        """The subgraphs that live operators of `spec` call, each as often as it is called."""
        from ...schema.operators import known  # a plan that was stored needs no operators

        operators = [spec.operators[position] for position in self.live(spec)]
        return [
            self.callee(getattr(operator.options, field))
            for operator in operators
            if not operator.is_custom
            for field in known(operator.kind).calls
        ]

    def state(self, subgraph: int, tensor: int, value: np.ndarray | None = None) -> np.ndarray:
        """The array of a variable tensor; it keeps its values from one invoke to the next.

        It starts from `value`, where an operator computes it from constants.
        """
        key = subgraph, tensor
        array = self._states.get(key)
        if array is None:
            first = self.model.tensor(*key).initial() if value is None else value.copy()
            array = self._states[key] = first
        return array

    def reset_states(self, subgraph: int | None = None) -> None:
        """Sets every variable tensor, and what operators keep, to its initial value.

        With `subgraph`, that of this one and of all it calls.

        Raises NodeError when the subgraph calls one that is not there.
        """
        subgraphs = None if subgraph is None else self._with_called(subgraph)
        for (owner, tensor), array in self._states.items():
            if subgraphs is None or owner in subgraphs:
                array[...] = self.model.tensor(owner, tensor).initial()
        for (container, name), number in self._resource_ids.items():
            owner = int(name.partition(".")[0]) if container == OPERATORS else -1
            if container == OPERATORS and (subgraphs is None or owner in subgraphs):
                self.resources.pop(number, None)

    def _with_called(self, subgraph: int) -> set[int]:
        """A subgraph and all that it calls, directly or not."""
        reached: set[int] = set()
        waiting = [self.callee(subgraph)]
        while waiting:
            spec = waiting.pop()
            if spec.index not in reached:
                reached.add(spec.index)
                waiting += self._called_by(spec)
        return reached

    def snapshot(self) -> Variables:
        """Copies of all variables, as `restore` takes them."""
        return {
            "states": {key: array.copy() for key, array in self._states.items()},
            "resources": {key: array.copy() for key, array in self.resources.items()},
            "resource_ids": dict(self._resource_ids),
            "called": set(self._called),
        }

    def restore(self, snapshot: Variables) -> None:
        """Gives all variables the values of `snapshot`."""
        for key, array in snapshot["states"].items():
            self.state(*key)[...] = array
        self.resources = {key: _copied(value) for key, value in snapshot["resources"].items()}
        self._resource_ids = dict(snapshot["resource_ids"])
        self._called = set(snapshot["called"])

    def resource(self, container: str, name: str) -> int:
        """The id of the resource called `name`; the same one at each call."""
        return self._resource_ids.setdefault((container, name), len(self._resource_ids))

    def callee(self, subgraph: int) -> SubgraphSpec:
        """The subgraph that an operator calls; raises NodeError when there is none."""
        if not 0 <= subgraph < self.model.n_subgraphs:
            raise NodeError(
                f"subgraph index must be in [0, {self.model.n_subgraphs}), got {subgraph}"
            )
        return self.model.subgraph(subgraph)

    def run(
        self, subgraph: int, inputs: Sequence[np.ndarray], each: bool = False
    ) -> list[np.ndarray]:
        """The results of subgraph `subgraph`; valid until it is run again.

        With `each` the inputs are rows of elements for a subgraph of scalars (regions.py).

        Raises NodeError when the inputs do not fit or the subgraph calls itself.
        """
        spec = self.callee(subgraph)
        if len(inputs) != len(spec.inputs):
            raise NodeError(
                f"subgraph {subgraph} '{spec.name}' takes {len(spec.inputs)} inputs, "
                f"got {len(inputs)}"
            )
        for tensor, array in zip(spec.inputs, inputs, strict=True):
            declared = spec.tensors[tensor]
            if array.dtype != declared.dtype:
                from ...schema.dtypes import tf_name

                raise NodeError(
                    f"input '{declared.name}' of subgraph {subgraph} '{spec.name}' must be "
                    f"{tf_name(declared.dtype)}, got {tf_name(array.dtype)}"
                )
        if subgraph in self._active:
            raise NodeError(f"subgraph {subgraph} calls itself")
        if len(self._active) >= MAX_CALL_DEPTH:
            raise NodeError(f"subgraphs call one another more than {MAX_CALL_DEPTH} deep")
        self._active.append(subgraph)
        try:
            return self._plan(spec, inputs, each).call(inputs)
        finally:
            self._active.pop()

    def values(
        self, subgraph: int, tensors: Sequence[int], inputs: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        """Copies of any tensors of a subgraph of scalars, for rows of elements (regions.py)."""
        self.callee(subgraph)
        spec = self.model.giving(subgraph, tuple(tensors))
        return [array.copy() for array in self._plan(spec, inputs, each=True).call(inputs)]

    @property
    def is_in_call(self) -> bool:
        """Whether a subgraph runs, or is prepared, that an operator calls."""
        return bool(self._active)

    def is_delegated(self, spec: SubgraphSpec, shapes: Sequence[tuple[int, ...]]) -> bool:
        """Whether delegates take a part of a subgraph that is called with these shapes."""
        if not self.delegates or spec.index in self._active:
            return False
        from .plan import Plan

        self._active.append(spec.index)
        try:
            plan = Plan(
                self, spec, dict(zip(spec.inputs, shapes, strict=True)), None, self.delegates
            )
        finally:
            self._active.pop()
        is_delegated = plan.report is not None and bool(plan.report.parts)
        if is_delegated:
            self.plans.setdefault((spec.index, False), {})[tuple(shapes)] = plan
        return is_delegated

    def called_plan(self, subgraph: int) -> Plan | None:
        """The plan of a subgraph that was called last, where it is one of its own."""
        return next(reversed(self.plans.get((subgraph, False), {}).values()), None)

    def run_once(self, subgraph: int) -> None:
        """Runs subgraph `subgraph` unless this was done before."""
        if subgraph not in self._called:
            self.run(subgraph, ())
            self._called.add(subgraph)

    def has_run(self, subgraph: int) -> bool:
        """Whether `run_once` has run it."""
        return subgraph in self._called

    def _plan(self, spec: SubgraphSpec, inputs: Sequence[np.ndarray], each: bool) -> Plan:
        plans = self.plans.setdefault((spec.index, each), {})
        key = tuple([array.shape for array in inputs])
        plan = plans.pop(key, None)
        if plan is None:
            from .plan import Plan

            shapes = {t: a.shape for t, a in zip(spec.inputs, inputs, strict=True)}
            delegates = () if each else self.delegates
            plan = Plan(self, spec, shapes, None, delegates, each=len(inputs[0]) if each else 0)
        plans[key] = plan
        if len(plans) > MAX_PLANS:
            del plans[next(iter(plans))]
        return plan


def _copied(value: Resource) -> Resource:
    """A copy of what a resource holds, in memory as instructions use it."""
    if not isinstance(value, np.ndarray):
        return value.copy()
    array = aligned(value.shape, value.dtype)
    array[...] = value
    return array
