"""One subgraph prepared for one set of input shapes: TFLite's operators in the stage machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from ...engine.plan.program import Program
from ...engine.run.faults import Fault
from ...engine.run.stages import Stage as EngineStage
from ...engine.run.stages import StageMachine, aligned
from .node import LostResultError, Node, NodeError, Operand, StageNotes

if TYPE_CHECKING:
    from typing import TypeAlias

    from ...engine.run.stages import ReadState, ReadValue, RunAlone
    from ..delegation.delegation import DelegateReport
    from ..delegation.partition import AnyDelegate, Partition
    from ..spec import SubgraphSpec
    from .node import Stage
    from .plan_cache import CachedPlan
    from .planner import LayoutCallback, Planner
    from .scope import Scope

    Tag: TypeAlias = "Node | Partition | tuple[tuple[int, int], ...]"
    """What an instruction comes from; in a cached plan the places of a node and of its callers."""


class Plan(StageMachine[int, Operand, StageNotes]):
    """The stages of one subgraph.

    Args:
        scope: variables and other subgraphs.
        spec: the subgraph.
        shapes: shape of each input tensor, by index.
        inputs: arrays to use for inputs of the same shape, by index.
        delegates: who may run partitions of it. A stage for other sizes than came first is not
            offered to them: compiling for each would cost more than it saves.
        on_layout: called before the first stage is closed.
        each: how often scalar constants are repeated (regions.py); 0 where they are not.
    """

    _errors = (Fault, NodeError)

    def __init__(
        self,
        scope: Scope,
        spec: SubgraphSpec,
        shapes: Mapping[int, tuple[int, ...]],
        inputs: Mapping[int, np.ndarray] | None = None,
        delegates: Sequence[AnyDelegate] = (),
        on_layout: LayoutCallback | None = None,
        each: int = 0,
    ):
        self._begin(scope, spec.index, each)
        self._delegates, self._on_layout = delegates, on_layout
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
            operands[tensor] = self._bound(tensor, array)
        self.inputs = tuple(operands)
        if scope.consumes_inputs and not delegates:
            self._planner.consumed = {operand.storage for operand in operands.values()}
        first = self._empty(operands, arrays)
        first.notes.delegates = delegates
        self.first = self.reached = self._stage(first, 0)
        self._on_layout = None

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

    def _begin(self, scope: Scope, subgraph: int, each: int = 0) -> None:
        super().__init__(scope.control)
        self._scope, self._subgraph, self._each = scope, subgraph, each
        self._delegates: Sequence[AnyDelegate] = ()
        self._on_layout: LayoutCallback | None = None

    @cached_property
    def spec(self) -> SubgraphSpec:
        """The subgraph."""
        return self._scope.model.subgraph(self._subgraph)

    @cached_property
    def _planner(self) -> Planner:
        from .planner import Planner  # a cached plan may never need it

        return Planner(self._scope, self.spec, each=self._each)

    def _node(self, tag: object) -> Node | Partition:
        """The node, or partition of a delegate, of an instruction, by its tag."""
        source = cast("Tag", tag)  # the planner sets no others
        return self._planner.node_at(source) if isinstance(source, tuple) else source

    @property
    def report(self) -> DelegateReport | None:
        """What the delegates took; None without delegates."""
        return self._planner.report

    def restart(self, inputs: Mapping[int, np.ndarray]) -> None:
        """Makes it as before its first run; inputs of the same shape take the values of `inputs`.

        Inputs that are not given, or had another shape, are zero.
        """
        self.reached, self.finished = self.first, True
        for tensor in self.inputs:
            array, before = self.first.arrays[tensor], inputs.get(tensor)
            if before is not None and before.shape == array.shape:
                array[...] = before
            else:
                array[...] = b"" if array.dtype.hasobject else np.zeros((), array.dtype)

    @property
    def fast_run(self) -> Callable[[], bool] | None:
        """A function that does what `run` does, where that is a single native call.

        When it gives False, `run(resume=True)` must follow. None after a failed run, until
        another one has finished.
        """
        if not self.finished:
            return None
        return self.first.program.fast_run if self.first.cut is None else self.settled_run

    def times(self) -> list[tuple[Node | Partition, float]]:
        """Runs every operator; gives (node, seconds) of each instruction and step, in order."""
        times: list[tuple[object, float]] = []
        self.run_timed(times)
        return [(self._node(tag), seconds) for tag, seconds in times]

    def call(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs for `inputs`, arrays of the types and shapes the plan is for.

        What it gives is overwritten by the next run.
        """
        for tensor, value in zip(self.spec.inputs, inputs, strict=True):
            array = self.first.arrays.get(tensor)
            if array is not None:
                array[...] = value
        self.run()
        if self.reached.notes.outputs is None:
            self.reached.notes.outputs = self._outputs()
        return [array.copy() if lent else array for array, lent in self.reached.notes.outputs]

    def array(self, tensor: int) -> np.ndarray | None:
        """The memory of `tensor` as the last run left it; None when it is not preserved."""
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
        return self.first.notes.shapes.get(tensor)

    def _outputs(self) -> list[tuple[np.ndarray, bool]]:
        """The outputs' arrays, and whether an input or a variable lends its memory."""
        tensors = self.spec.tensors
        outputs: list[tuple[np.ndarray, bool]] = []
        lenders = [self.first.arrays[t] for t in self.inputs]
        lenders += [x for t, x in self.reached.arrays.items() if tensors[t].is_variable]
        for tensor in self.spec.outputs:
            array = self.array(tensor)
            if array is None and 0 in tensors[tensor].shape:  # a constant without elements
                array = np.empty(tensors[tensor].shape, tensors[tensor].dtype)
            if array is None:
                raise NodeError(
                    f"output '{tensors[tensor].name}' of subgraph {self.spec.index} "
                    f"'{self.spec.name}' is no result of any operator"
                )
            lent = any(np.may_share_memory(array, x) for x in lenders)
            outputs.append((array, lent))
        return outputs

    @property
    def _n_operators(self) -> int:
        return len(self.spec.operators)

    def _empty(
        self,
        operands: dict[int, Operand],
        arrays: dict[int, np.ndarray],
        fed: Iterable[int] = (),
    ) -> Stage:
        program = Program(self._scope.memory_limit, threads=self._scope.n_threads)
        program.shared_constants = self._scope.model.shared_constants
        return EngineStage(program, operands, arrays, StageNotes(), fed)

    def _stage(self, stage: Stage, position: int) -> Stage:
        stage.notes.start = position
        return super()._stage(stage, position)

    def _after(self, stage: Stage, position: int, fed: Mapping[int, np.ndarray]) -> Stage:
        following = super()._after(stage, position, fed)
        following.notes.delegates = () if stage.following else stage.notes.delegates
        following.notes.knows_state = True
        for number, (operand, array) in stage.notes.variables.items():
            if self._scope.resources.get(number) is array:
                following.notes.variables[number] = operand, array
                following.state[operand] = array
        return following

    def _is_current(self, stage: Stage) -> bool:
        resources = self._scope.resources
        for number, (_, array) in stage.notes.variables.items():
            if resources.get(number) is not array:
                return False
        return True

    def _prepare(
        self, stage: Stage, position: int
    ) -> ReadValue[int] | ReadState | RunAlone[int] | None:
        return self._planner.add(stage, self.spec.operators[position])

    def _close(self, stage: Stage, readable: set[int]) -> None:
        planner, observation = self._planner, self._scope.observation
        if observation is not None:
            begins = stage.results if stage.notes.start else self.inputs
            operands = [(tensor, stage.operands[tensor]) for tensor in begins]
            observation.operands(stage.program, self.spec, operands)
        if stage.notes.delegates:
            planner.emit_with(stage.notes.delegates, stage, readable)
        else:
            planner.emit(stage, stage.notes.steps)
        stage.notes.steps.clear()
        planner.close(stage, readable, self._on_layout)

    def _bound(self, name: int, array: np.ndarray) -> Operand:
        return self._planner.bound(name, array)

    def _known(self, name: int, value: np.ndarray) -> Operand:
        spec = self.spec.tensors[name]
        return Operand.known(value, spec.name, spec.quantization)

    def _stays_readable(self, name: int, stop: int) -> bool:
        return self._scope.preserve or self.spec.readers.get(name, -1) >= stop

    def _failed(self, error: Exception) -> Exception:
        tag = error.tag if isinstance(error, Fault) else cast("NodeError", error).node
        return self._planner.failed(self._node(tag), error, "invoke")

    def _recovers(self, stage: Stage, error: Exception) -> bool:
        return isinstance(error, LostResultError) and stage.repeatable
