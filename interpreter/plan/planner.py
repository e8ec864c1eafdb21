"""The planner: prepares the operators of a subgraph into the stages of its plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.plan.arena import ALIGNMENT, MemoryLimitError, address, check_limit
from ...engine.plan.buffer import BOUND, bound
from ...engine.plan.program import Program
from ...engine.run.faults import Fault
from ...engine.run.stages import ReadState, ReadValue, RunAlone
from ...engine.run.stages import Stage as EngineStage
from ...schema.dtypes import tf_name
from ..registry import is_pure, prepare_of
from ..spec import OperatorSpec, SubgraphSpec
from .liveness import has_no_effects
from .node import (
    DynamicResult,
    HostCall,
    NeedsState,
    NeedsValue,
    Node,
    NodeError,
    Operand,
    PlanError,
    StageNotes,
    TensorDeclaration,
)

if TYPE_CHECKING:
    from typing import TypeAlias

    from ...engine.plan.buffer import Storage
    from ...engine.plan.planner import Layout
    from ..delegation.delegation import DelegateReport
    from ..delegation.partition import AnyDelegate, DeviceArray, Partition, Run
    from .node import Emit, Prepared, Stage
    from .scope import Scope

    LayoutCallback: TypeAlias = Callable[[Stage, set[int], Layout], None]
    """Called with a stage, the tensors that stay readable after it, and its program's layout."""

REFUSALS = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    NotImplementedError,
    Fault,
)
"""What a malformed operator makes `prepare` raise."""

_FAILURES = (NodeError, Fault, PlanError)
"""What a step raises of its own accord; a custom operator's other exceptions pass as they are."""
_COMPUTED_ONCE = frozenset(["DEQUANTIZE", "GATHER", "TILE"])
"""Operators that LiteRT runs once, before the first run, where their operands are constants."""


class Recording(EngineStage[int, Operand, StageNotes]):
    """Operators of a subgraph whose instructions become part of another one's program.

    Attributes:
        values: the operands of the subgraph's outputs.
    """

    __slots__ = ("_planner", "values")

    def __init__(self, planner: Planner, operands: dict[int, Operand]):
        super().__init__(Program(), operands, {}, StageNotes())
        self.values: list[Operand] = []
        self._planner = planner

    @property
    def has_host_call(self) -> bool:
        """Whether the operator added last runs in Python, which cannot stand in a loop."""
        return bool(self.notes.steps) and isinstance(self.notes.steps[-1][1], HostCall)

    def emit(self, program: Program) -> None:
        """Adds the rows of all operators; can be done once."""
        tag, observation = program.tag, self._planner.scope.observation
        if observation is not None:
            spec = self._planner.spec
            observation.operands(program, spec, [(t, self.operands[t]) for t in spec.inputs])
        for node, emit in self.notes.steps:
            program.tag = node
            if emit is not None:
                emit(program)
            if observation is not None:
                observation.results(program, node)
        program.tag = tag


class Planner:
    """Prepares the operators of one subgraph.

    Args:
        scope: variables and other subgraphs.
        spec: the subgraph.
        caller: the node whose program takes the rows; None for a subgraph with stages of its own.
        each: how often scalar constants are repeated, for a subgraph of scalars that is prepared
            for rows of them (regions.py); 0 where they are not.

    Attributes:
        consumed: storages of inputs without a reader after the subgraph has run.
    """

    def __init__(self, scope: Scope, spec: SubgraphSpec, caller: Node | None = None, each: int = 0):
        self.scope = scope
        self._each = each
        self.spec = spec
        self.consumed: Set[Storage] = frozenset()
        self._stage: Stage | None = None  # the one that an operator is being prepared for
        self._reports: dict[int, DelegateReport] = {}  # by where their stages start
        self._caller = caller
        self._live = scope.live(spec)

    def record(self, operands: dict[int, Operand]) -> Recording | None:
        """All operators as a part of the caller's program; None where they make no such part.

        That is when something has to be looked at between them, or variables are among them.
        Raises PlanError when an operator fails to prepare.
        """
        recording = Recording(self, operands)
        for operator in self.spec.operators:
            if operator.position in self._live:
                if self._runs_python(operator):  # a host step, which cannot stand in a loop
                    return None
                cut = self.add(recording, operator)
                if cut is not None or recording.bound or recording.has_host_call:
                    return None
        for tensor in self.spec.outputs:
            operand = self._operand(tensor, recording)
            if operand is None or recording.bound:
                return None
            recording.values.append(operand)
        return recording

    def add(
        self, stage: Stage, operator: OperatorSpec
    ) -> ReadValue[int] | ReadState | RunAlone[int] | None:
        """Prepares one operator into a stage; gives why it has to wait, if it has to."""
        if operator.position not in self._live:
            return None
        node = self._node(operator, stage)
        self._stage = stage
        try:
            pure, emit = self._prepare(node, operator)
            if pure and self._is_foldable(node, operator, emit):
                self._fold(node, emit)
                if self.scope.observation is not None:
                    stage.notes.steps.append((node, None))
            elif isinstance(emit, DynamicResult):
                return self._alone(node, operator, emit)
            else:
                stage.notes.steps.append((node, emit))
            if len(node.results) != len(operator.outputs):
                node.fail(f"makes {len(node.results)} results, not {len(operator.outputs)}")
        except NeedsValue as unknown:
            operand = node.inputs[unknown.index]
            if operand is not None and operand.value is not None and operand.sizes is None:
                raise  # it would be asked for again and again
            return ReadValue(operator.inputs[unknown.index])
        except NeedsState:
            return ReadState()
        except REFUSALS as error:
            raise self.failed(node, error, "prepare") from error
        finally:
            self._stage = None  # no cycle: what is closed is freed at once
        for tensor, operand in zip(operator.outputs, node.results, strict=True):
            if tensor < 0:
                continue
            if operand.value is not None and self._is_initial_value(operator, tensor):
                operand = self._variable(tensor, stage, operand.value)
            stage.operands[tensor] = operand
        return None

    def _is_initial_value(self, operator: OperatorSpec, tensor: int) -> bool:
        """Whether a constant result is a variable's first value; else each run begins with it."""
        return self.spec.tensors[tensor].is_variable and operator.kind in _COMPUTED_ONCE

    def _alone(
        self, node: Node, operator: OperatorSpec, dynamic_result: DynamicResult
    ) -> RunAlone[int]:
        """An operator whose results have a size that only its own run tells."""
        expected = _FAILURES if operator.is_custom else (*REFUSALS, PlanError)
        if not operator.is_custom:
            from ..numpy_calls import check_count  # few models have results of unknown sizes

            check_count(node)

        def run(*values: np.ndarray | None) -> Sequence[np.ndarray]:
            try:
                results = dynamic_result.function(*values)
            except expected as error:
                raise self.failed(node, error, "invoke") from error
            except MemoryLimitError:
                raise
            except MemoryError as error:
                words = NodeError(f"needs more memory than there is ({error})", node)
                raise self.failed(node, words, "invoke") from error
            try:
                self._check_results(node, operator, results)
            except NodeError as error:
                raise self.failed(node, error, "invoke") from error
            return results

        inputs = [None if tensor < 0 else tensor for tensor in operator.inputs]
        outputs = [None if tensor < 0 else tensor for tensor in operator.outputs]
        return RunAlone(node, inputs, outputs, run, dynamic_result.is_done)

    def _check_results(
        self, node: Node, operator: OperatorSpec, results: Sequence[np.ndarray]
    ) -> None:
        if len(results) != len(operator.outputs):
            node.fail(f"gave {len(results)} results, the model declares {len(operator.outputs)}")
        for tensor, array in zip(operator.outputs, results, strict=True):
            self._check_size(node, node.outputs[0].name, array.shape)
            if tensor >= 0 and array.dtype != self.spec.tensors[tensor].dtype:
                declared = self.spec.tensors[tensor]
                node.fail(
                    f"output '{declared.name}' must be {tf_name(declared.dtype)}, "
                    f"got {tf_name(array.dtype)}"
                )

    def _variable(self, tensor: int, stage: Stage, value: np.ndarray | None = None) -> Operand:
        """The operand of a variable, which starts from `value` when one is given."""
        array = stage.arrays[tensor] = self.scope.state(self.spec.index, tensor, value)
        operand = stage.bound[tensor] = self.bound(tensor, array)
        return operand

    def _is_foldable(self, node: Node, operator: OperatorSpec, emit: Prepared) -> bool:
        """Whether all inputs are known, and there is room for the results before the model runs.

        A variable's first value must have it.
        """
        if any(x is not None and x.value is None for x in node.inputs):
            return False
        n_bytes = sum(result.nbytes for result in node.results if result.value is None)
        if isinstance(emit, DynamicResult):
            n_bytes = 8 * sum(prod(n or 0 for n in shape) for shape in emit.shapes)
        if self.has_room(node, n_bytes):
            return True
        if any(t >= 0 and self.spec.tensors[t].is_variable for t in operator.outputs):
            check_limit(self.scope.model.folding.n_bytes + n_bytes, self.scope.memory_limit)
            return True
        return False

    def has_room(self, node: Node, n_bytes: int) -> bool:
        """Whether results of `node` of so many bytes may be made before the model runs."""
        name = self.spec.index, node.index
        return self.scope.model.folding.has_room(name, n_bytes, self.scope.memory_limit)

    def _fold(self, node: Node, emit: Prepared) -> None:
        """Computes the results of a pure node; from the same constants only once."""
        constants = [None if x is None else x.storage for x in node.inputs]
        folded = self.spec.folded.get(node.index)
        if folded is None or folded[0] != constants:
            from ..compute import run_now

            run_now(node, emit)
            n_bytes = sum(x.nbytes for x in node.results if x.storage not in constants)
            self.scope.model.folding.take((self.spec.index, node.index), n_bytes)
            folded = self.spec.folded[node.index] = constants, node.results
        node.results = folded[1]

    def _runs_python(self, operator: OperatorSpec) -> bool:
        if not operator.is_custom:
            return False
        from ..custom import runs_python

        return runs_python(operator.kind, self.scope.custom_op)

    def _prepare(self, node: Node, operator: OperatorSpec) -> tuple[bool, Prepared]:
        if operator.is_custom:
            from ..custom import prepare_custom

            emit = prepare_custom(node, self.scope.custom_op)
        else:
            emit = prepare_of(operator.kind)(node)
        if self.scope.limits is not None:
            for result in node.results:
                self._check_size(node, result.name, result.shape)
            if isinstance(emit, DynamicResult) and node.outputs:
                for shape in emit.shapes:
                    known = [n for n in shape if n is not None]
                    if len(known) == len(shape):
                        self._check_size(node, node.outputs[0].name, known)
        return not operator.is_custom and is_pure(operator.kind), emit

    def _check_size(self, node: Node, name: str, shape: Sequence[int]) -> None:
        """Raises NodeError where a result has more elements than the caller allows."""
        if self.scope.limits is not None:
            from ...engine.run.limits import shape_over_limit

            words = shape_over_limit(self.scope.limits, name, shape)
            node.require(not words, words)

    def may_overwrite(self, node: Node, position: int) -> bool:
        """Whether an input of `node` is written anew before each run, and nothing else reads it.

        That is one of the subgraph's whose storage is `consumed`, or what a variable holds.
        """
        operand, spec = node.inputs[position], self.spec
        tensor = spec.operators[node.index].inputs[position]
        if operand is None or self.scope.preserve or tensor in spec.outputs:
            return False
        if sum(operator.inputs.count(tensor) for operator in spec.operators) != 1:
            return False
        if tensor in spec.inputs:
            return operand.storage in self.consumed
        makers = (operator.kind for operator in spec.operators if tensor in operator.outputs)
        is_whole = operand.storage.kind == BOUND and operand.nbytes == operand.storage.nbytes
        return is_whole and next(makers, "") == "READ_VARIABLE" and self._caller is None

    def variable(self, node: Node, number: int) -> Operand | None:
        """The memory of a variable, where instructions may read and write it; else None.

        Raises NeedsState where the stage has to end before that is known.
        """
        scope, stage = self.scope, self._stage
        if self._caller is not None or scope.preserve or scope.observation is not None:
            return None
        assert stage is not None  # a node is prepared for one
        if stage.notes.delegates:
            return None
        from .variables import runs_others  # few models have variables

        before = self.spec.operators[stage.notes.start : node.index]
        if not stage.notes.knows_state or any(map(runs_others, before)):
            raise NeedsState
        variables, array = stage.notes.variables, scope.resources.get(number)
        if (
            number not in variables
            and isinstance(array, np.ndarray)
            and not array.dtype.hasobject
            and address(array) % ALIGNMENT == 0
        ):
            operand = Operand.of(bound(array.shape, array.dtype))
            variables[number], stage.state[operand] = (operand, array), array
        return variables[number][0] if number in variables else None

    def reads_in_place(self, node: Node) -> bool:
        """Whether what READ_VARIABLE gives may be the variable's memory itself.

        All read it before the variable changes, or one operator updates it there for the
        assignment.
        """
        from .variables import is_read_before_changes, is_updated_in_place

        reader = node.index
        return is_read_before_changes(self.spec, reader) or is_updated_in_place(self.spec, reader)

    def node_at(self, path: Sequence[tuple[int, int]]) -> Node:
        """The node at the last of some places (subgraph, position), each called by the one before.

        It has no inputs: it is there to be named.
        """
        node = None
        for subgraph, position in path:
            spec = self.scope.model.subgraph(subgraph)
            planner = self if node is None else Planner(self.scope, spec, node)
            node = planner._node_without_inputs(spec.operators[position])
        assert node is not None
        return node

    def _node_without_inputs(self, operator: OperatorSpec) -> Node:
        """The node of an operator, without its inputs."""
        tensors = self.spec.tensors
        outputs = [
            tensors[t].declaration if t >= 0 else TensorDeclaration() for t in operator.outputs
        ]
        node = Node(
            operator.kind,
            [],
            outputs,
            operator.options,
            index=operator.position,
            version=operator.version,
            custom_options=operator.custom_options,
            intermediates=[tensors[t].declaration for t in operator.intermediates],
            scope=self.scope,
            stateful=not has_no_effects(self.spec, operator),
        )
        node.planner, node.caller = self, self._caller
        return node

    def _node(self, operator: OperatorSpec, stage: Stage) -> Node:
        node, tensors = self._node_without_inputs(operator), self.spec.tensors
        for tensor in operator.outputs:
            if tensor in stage.operands or (tensor >= 0 and tensors[tensor].is_constant):
                error = NodeError(
                    f"{node.kind} '{node.name}': output '{tensors[tensor].name}' is an input, a "
                    "constant or the result of an operator before"
                )
                raise self.failed(node, error, "prepare")
        for i, tensor in enumerate(operator.inputs):
            node.inputs.append(None if tensor < 0 else self._operand(tensor, stage))
            if tensor >= 0 and node.inputs[i] is None:
                error = NodeError(
                    f"{node.kind} '{node.name}': input {i} '{tensors[tensor].name}' is no "
                    "constant, input or result of an operator before"
                )
                raise self.failed(node, error, "prepare")
        return node

    def _operand(self, tensor: int, stage: Stage) -> Operand | None:
        """The operand of a tensor; None when nothing gives it a value."""
        operand = stage.operands.get(tensor)
        if operand is not None:
            return operand
        spec = self.spec.tensors[tensor]
        if spec.is_constant:
            operand = spec.constant()
            if self._each and not spec.shape:
                row = np.full(self._each, spec.value, spec.dtype)
                operand = Operand.known(row, spec.name, spec.quantization)
        elif spec.is_variable:
            operand = self._variable(tensor, stage)
        elif 0 in spec.shape:  # a constant without elements has no bytes in the file
            operand = Operand.known(np.empty(spec.shape, spec.dtype), spec.name, spec.quantization)
        else:
            return None
        stage.operands[tensor] = operand
        return operand

    def bound(self, tensor: int, array: np.ndarray) -> Operand:
        """A new operand of `tensor` for memory that is given, as it is in `array`."""
        spec = self.spec.tensors[tensor]
        return Operand.of(bound(array.shape, array.dtype, spec.name), spec.name, spec.quantization)

    def emit(self, stage: Stage, steps: Iterable[tuple[Node, Emit | None]]) -> None:
        """Adds the rows of prepared operators to the stage's program."""
        observation = self.scope.observation
        for node, emit in steps:
            stage.program.tag = node
            try:
                if emit is not None:
                    emit(stage.program)
                if observation is not None:
                    observation.results(stage.program, node)
            except REFUSALS as error:
                raise self.failed(node, error, "prepare") from error

    def emit_with(self, delegates: Sequence[AnyDelegate], stage: Stage, readable: set[int]) -> None:
        """As `emit`, with partitions of the stage as Python steps of `delegates`."""
        from ..delegation.delegation import Delegation
        from ..delegation.partition import Partition, PartitionStep, SharedResults

        # what `prepare` knows already, as SHAPE's result, is nothing to run
        emits = {n: e for n, e in stage.notes.steps if any(x.value is None for x in n.results) or e}
        try:
            needed = {id(stage.operands[tensor]) for tensor in readable}
            before = [
                report for start, report in self._reports.items() if start < stage.notes.start
            ]
            n_parts = sum(len(report.parts) for report in before)
            delegation = Delegation(list(emits), delegates, needed, n_parts)
        except NodeError as error:
            raise self.failed(error.node, error, "prepare") from error
        shared_results = SharedResults()
        for step in delegation.steps:
            if isinstance(step, Partition):
                run = PartitionStep(
                    step,
                    delegation.runs[step],
                    shared_results,
                    partial(self.engine, stage.operands),
                )
                stage.program.tag = step
                stage.program.host(run, step.read, step.copied)
            else:
                self.emit(stage, [(step, emits[step])])
        stage.repeatable = not any(node.stateful for node in emits)
        rows = self._operators_with_reasons(stage, emits)
        self._reports[stage.notes.start] = delegation.report(rows)

    @property
    def report(self) -> DelegateReport | None:
        """What the delegates claimed of the stages that were reached; None without delegates."""
        if not self._reports:
            return None
        from ..delegation.delegation import merged

        return merged(self._reports)

    def _operators_with_reasons(
        self, stage: Stage, nodes: Collection[Node]
    ) -> list[tuple[int, str, str, str]]:
        """Position, kind and name of every operator, and why no delegate was asked about it."""
        indices = {node.index for node in nodes}
        rows: list[tuple[int, str, str, str]] = []
        for operator in self.spec.operators:
            outputs = [self.spec.tensors[t].name for t in operator.outputs if t >= 0]
            if operator.position in indices:
                reason = ""
            elif operator.position not in self._live:
                reason = "nothing needs its result"
            elif operator.position < stage.stop:
                reason = "its result is known before the model runs"
            elif operator.position == stage.stop:
                reason = "what it gives or needs is known only when the model runs"
            else:
                waiting = self.spec.operators[stage.stop]
                reason = f"operator {stage.stop} ({waiting.kind}) has to run before it is prepared"
            name = outputs[0] if outputs else ""
            rows.append((operator.position, operator.kind, name, reason))
        return rows

    def engine(self, before: Mapping[int, Operand], partition: Partition) -> Run:
        """What computes a partition on the CPU, as a delegate's `run`, of a stage's operands."""
        tensor_of = {operand: tensor for tensor, operand in before.items()}
        inputs = [tensor_of[x] for x in partition.inputs]
        outputs = [tensor_of[x] for x in partition.outputs]
        arrays = {t: np.empty(before[t].shape, before[t].dtype) for t in inputs}
        operands = {t: x for t, x in before.items() if x.value is not None}
        operands.update((t, self.bound(t, array)) for t, array in arrays.items())
        for op in partition.ops:
            for tensor in self.spec.operators[op.index].outputs:
                operands.pop(tensor, None)
        alone = EngineStage(
            Program(threads=self.scope.n_threads), operands, dict(arrays), StageNotes()
        )
        for op in partition.ops:
            self.add(alone, self.spec.operators[op.index])
        self.emit(alone, alone.notes.steps)
        self.close(alone, set(outputs).difference(arrays))

        def run(*values: DeviceArray) -> list[np.ndarray]:
            for array, value in zip(arrays.values(), values, strict=True):
                array[...] = np.asarray(value)
            alone.program.run()
            return [alone.arrays[tensor] for tensor in outputs]

        return run

    def close(
        self, stage: Stage, readable: set[int], on_layout: LayoutCallback | None = None
    ) -> None:
        """Ends the stage's program and gives memory to the tensors that stay readable."""
        program, folded = stage.program, self.scope.model.folding.n_bytes
        program.outside_bytes += folded
        try:
            stage.close(readable, on_layout and partial(on_layout, stage, readable))
        except Fault as fault:
            raise self.failed(fault.tag, fault, "prepare") from fault
        except ValueError as error:
            raise self.failed(None, error, "prepare") from error
        finally:
            program.outside_bytes -= folded

    def failed(self, node: Node | Partition | None, error: BaseException, verb: str) -> PlanError:
        """The error to raise when `node` failed to "prepare" or "invoke" because of `error`."""
        if isinstance(node, Node) and node.caller is not None and node.planner is not self:
            assert node.planner is not None  # a node with a caller is one of a planner
            return self.failed(node.caller, node.planner.failed(node, error, verb), verb)
        words = str(error) if isinstance(error, (NodeError, PlanError, Fault)) else _plain(error)
        if node is None:
            return PlanError(words)
        if verb == "prepare":
            words = f"{words}{_inputs(node)}"
        where = f" of subgraph {self.spec.index} '{self.spec.name}'" if self.spec.index else ""
        return PlanError(
            f"{words}\nNode number {node.index} ({node.kind}) failed to {verb}.{where}"
        )


def _plain(error: BaseException) -> str:
    if isinstance(error, LookupError) and not isinstance(error, (KeyError, IndexError)):
        return str(error.args[0]) if error.args else repr(error)
    return f"{type(error).__name__}: {error}" if not isinstance(error, ValueError) else str(error)


def _inputs(node: Node | Partition) -> str:
    """The inputs as part of a message: names, types and shapes."""
    words = [
        "none" if x is None else f"'{x.name}' {tf_name(x.dtype)} {x.shape}" for x in node.inputs
    ]
    return f"\ninputs: {', '.join(words)}" if words else ""
