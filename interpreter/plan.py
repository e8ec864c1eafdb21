"""One subgraph prepared for one set of input shapes.

A plan is a chain of stages. A stage is one engine program: all operators up to the first that
needs a value which only running can give. When a stage has run, that value is read and the stage
after it is prepared, or found again if the value (or, for results of data-dependent size, the
shape) was met before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import prod
from time import perf_counter
from typing import TYPE_CHECKING, cast

import numpy as np

from ..engine.plan.arena import address
from ..engine.run.faults import Fault
from .node import DynamicResult, LostResultError, Node, NodeError, Operand
from .stage import PlanError, Stage

if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import TypeAlias

    from .delegation import DelegateReport
    from .partition import AnyDelegate, Partition
    from .plan_cache import CachedPlan
    from .planner import LayoutCallback, Planner
    from .scope import Scope
    from .spec import OperatorSpec, SubgraphSpec

    Tag: TypeAlias = "Node | Partition | tuple[tuple[int, int], ...]"
    """What an instruction comes from; in a cached plan the places of a node and of its callers."""

MAX_FOLLOWING = 4
"""Stages cached after each stage, one for each value or shape that was met."""

_FAILURES = (NodeError, Fault, PlanError)
"""What a step makes of its own accord; a custom operator's other exceptions pass as they are."""


class Plan:
    """The stages of one subgraph.

    Args:
        scope: variables and other subgraphs.
        spec: the subgraph.
        shapes: shape of each input tensor, by index.
        inputs: arrays to use for inputs of the same shape, by index.
        delegates: who may run parts of the first stage.
        on_layout: called before the first stage is closed.
    """

    def __init__(
        self,
        scope: Scope,
        spec: SubgraphSpec,
        shapes: Mapping[int, tuple[int, ...]],
        inputs: Mapping[int, np.ndarray] | None = None,
        delegates: Sequence[AnyDelegate] = (),
        on_layout: LayoutCallback | None = None,
    ):
        self._begin(scope, spec.index)
        operands: dict[int, Operand] = {}
        arrays: dict[int, np.ndarray] = {}
        for tensor in spec.inputs:
            if tensor < 0 or spec.tensors[tensor].is_constant:
                continue
            shape = tuple(shapes[tensor])
            array = (inputs or {}).get(tensor)
            if array is None or array.shape != shape:
                array = aligned(shape, spec.tensors[tensor].dtype)
            arrays[tensor] = array
            operands[tensor] = self._planner.bound(tensor, array)
        self.inputs = tuple(operands)
        self.first = self._planner.stage(0, operands, arrays, delegates, on_layout)
        self.reached = self.first

    @classmethod
    def from_cache(cls, scope: Scope, cached_plan: CachedPlan) -> Plan | None:
        """The cached plan of the first subgraph; None when its kernels are not cached any more."""
        stage = cached_plan.stage(scope)
        if stage is None:
            return None
        plan = cls.__new__(cls)
        plan._begin(scope, 0)
        plan.inputs = tuple(dict.fromkeys(t for t in cached_plan.inputs if t in stage.arrays))
        plan.first = plan.reached = stage
        return plan

    def _begin(self, scope: Scope, subgraph: int) -> None:
        self._scope, self._subgraph = scope, subgraph
        self.finished = True
        self._times: list[tuple[Node | Partition, float]] | None = None

    @cached_property
    def spec(self) -> SubgraphSpec:
        """The subgraph."""
        return self._scope.model.subgraph(self._subgraph)

    @cached_property
    def _planner(self) -> Planner:
        from .planner import Planner  # a cached plan may never need it

        return Planner(self._scope, self.spec)

    def _node(self, tag: object) -> Node | Partition:
        """The node, or partition of a delegate, of an instruction, by its tag."""
        source = cast("Tag", tag)  # the planner sets no others
        return self._planner.node_at(source) if isinstance(source, tuple) else source

    @property
    def report(self) -> DelegateReport | None:
        """What the delegates took; None without delegates."""
        return self._planner.report

    @property
    def fast_run(self) -> Callable[[], bool] | None:
        """A builtin function that does what `run` does, where that is a single native call.

        When it gives False, `run(begun=True)` has to follow. After a run that failed there is
        none until another run comes to the end.
        """
        if not self.finished or self.first.cut is not None:
            return None
        return self.first.program.fast_run

    def run(self, begun: bool = False) -> None:
        """Runs every operator; `finished` is False when it did not come to the end.

        `begun` says that `fast_run` was called and came back before the end.

        Raises:
            PlanError: an operator failed; the message names it.
            KeyboardInterrupt: between two instructions; another run starts from the front.
        """
        self.finished = False
        stage: Stage | None = self.first
        while stage is not None:
            self.reached = stage
            self._run_stage(stage, begun)
            stage = self._next(stage)
        self.finished = True

    def profile(self) -> list[tuple[Node | Partition, float]]:
        """Runs every operator; gives (node, seconds) of each instruction and step, in order."""
        times: list[tuple[Node | Partition, float]] = []
        self._times = times
        try:
            self.run()
        finally:
            self._times = None
        return times

    def call(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs for `inputs`, arrays of the types and shapes the plan is for.

        What it gives is overwritten by the next run.
        """
        for tensor, value in zip(self.spec.inputs, inputs, strict=True):
            array = self.first.arrays.get(tensor)
            if array is not None:
                array[...] = value
        self.run()
        if self.reached.outputs is None:
            self.reached.outputs = self._outputs()
        return [array.copy() if lent else array for array, lent in self.reached.outputs]

    def array(self, tensor: int) -> np.ndarray | None:
        """The memory of `tensor` as far as the last run came; None when it is not kept."""
        stage = self.first if tensor in self.inputs else self.reached
        array = stage.arrays.get(tensor)
        if array is not None:
            return array
        operand = self.reached.operands.get(tensor)
        if operand is None:
            spec = self.spec.tensors[tensor]
            return spec.value if spec.is_constant else None
        return operand.value

    def shape(self, tensor: int) -> tuple[int, ...] | None:
        """The shape of `tensor` as far as it is known."""
        for stage in self.reached, self.first:
            operand = stage.operands.get(tensor)
            if operand is not None:
                return operand.shape
        return self.first.shapes.get(tensor)

    def _outputs(self) -> list[tuple[np.ndarray, bool]]:
        """The outputs' arrays, and whether an input or a variable lends its memory."""
        tensors = self.spec.tensors
        outputs: list[tuple[np.ndarray, bool]] = []
        lenders = [self.first.arrays[t] for t in self.inputs]
        lenders += [x for t, x in self.reached.arrays.items() if tensors[t].is_variable]
        for tensor in self.spec.outputs:
            array = self.array(tensor)
            if array is None:
                raise NodeError(
                    f"output '{tensors[tensor].name}' of subgraph {self.spec.index} "
                    f"'{self.spec.name}' is no result of any operator"
                )
            lent = any(np.may_share_memory(array, x) for x in lenders)
            outputs.append((array, lent))
        return outputs

    def _run_stage(self, stage: Stage, begun: bool) -> None:
        try:
            if begun:
                stage.program.resume()
                return
            times = stage.program.run(profile=self._times is not None)
            if self._times is not None:
                self._times.extend((self._node(tag), seconds) for tag, _, seconds in times or ())
        except Fault as fault:
            raise self._planner.failed(self._node(fault.tag), fault, "invoke") from fault
        except LostResultError as error:
            if not stage.repeatable:
                raise self._planner.failed(error.node, error, "invoke") from error
            self._run_stage(stage, begun=False)
        except NodeError as error:
            raise self._planner.failed(error.node, error, "invoke") from error

    def _next(self, stage: Stage) -> Stage | None:
        if stage.cut is None:
            return None
        node, step = stage.cut
        if isinstance(step, DynamicResult):
            return self._after_dynamic_result(stage, node, step)
        value = stage.arrays[step]
        key = _key(value)
        following = self._recall(stage, key)
        if following is None:
            operands, arrays = self._planner.carried(stage)
            known = self.spec.tensors[step]
            operands[step] = Operand.known(value.copy(), known.name, known.quantization)
            del arrays[step]
            following = self._planner.stage(stage.stop, operands, arrays)
            stage.following[key] = following
        return following

    def _after_dynamic_result(
        self, stage: Stage, node: Node, dynamic_result: DynamicResult
    ) -> Stage:
        operator = self.spec.operators[node.index]
        values = [None if t < 0 else self._value(stage, t) for t in operator.inputs]
        from .planner import REFUSALS

        expected = _FAILURES if operator.is_custom else (*REFUSALS, PlanError)
        try:
            start = perf_counter()
            results = dynamic_result.function(*values)
            if self._times is not None:
                self._times.append((node, perf_counter() - start))
        except expected as error:
            raise self._planner.failed(node, error, "invoke") from error
        results_by_tensor = self._checked(node, operator, results)
        key = tuple((array.shape, array.dtype.num) for array in results_by_tensor.values())
        following = self._recall(stage, key)
        if following is None:
            operands, arrays = self._planner.carried(stage)
            for tensor, array in results_by_tensor.items():
                arrays[tensor] = aligned(array.shape, array.dtype)
                operands[tensor] = self._planner.bound(tensor, arrays[tensor])
            following = self._planner.stage(operator.position + 1, operands, arrays)
            following.results = tuple(results_by_tensor)
            stage.following[key] = following
        for tensor in following.results:
            following.arrays[tensor][...] = results_by_tensor[tensor]
        return following

    def _recall(self, stage: Stage, key: Hashable) -> Stage | None:
        following = stage.following.pop(key, None)
        if following is not None:
            stage.following[key] = following
        elif len(stage.following) >= MAX_FOLLOWING:
            del stage.following[next(iter(stage.following))]
        return following

    def _checked(
        self, node: Node, operator: OperatorSpec, results: Sequence[np.ndarray]
    ) -> dict[int, np.ndarray]:
        if len(results) != len(operator.outputs):
            error = NodeError(
                f"{node.kind} '{node.name}': gave {len(results)} results, "
                f"the model declares {len(operator.outputs)}"
            )
            raise self._planner.failed(node, error, "invoke")
        results_by_tensor: dict[int, np.ndarray] = {}
        for tensor, array in zip(operator.outputs, results, strict=True):
            if tensor < 0:
                continue
            declared = self.spec.tensors[tensor]
            if array.dtype != declared.dtype:
                error = NodeError(
                    f"{node.kind} '{node.name}': output '{declared.name}' must be "
                    f"{declared.dtype}, got {array.dtype}"
                )
                raise self._planner.failed(node, error, "invoke")
            results_by_tensor[tensor] = array
        return results_by_tensor

    def _value(self, stage: Stage, tensor: int) -> np.ndarray | None:
        array = stage.arrays.get(tensor)
        return stage.operands[tensor].value if array is None else array


def aligned(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A new array of zeros (empty strings) that starts on a cache line."""
    if dtype.hasobject:
        return np.full(shape, b"", object)
    size = prod(shape) * dtype.itemsize
    memory = np.zeros(size + 64, np.uint8)
    start = -address(memory) % 64
    return memory[start : start + size].view(dtype).reshape(shape)


def _key(value: np.ndarray) -> Hashable:
    return value.shape, tuple(value.ravel()) if value.dtype.hasobject else value.tobytes()
