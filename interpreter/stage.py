"""Preparing operators: a stage of a plan is one engine program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.buffer import BOUND, CONSTANT, bound
from ..engine.faults import Fault
from ..engine.program import Program
from .loaded import OperatorSpec, SubgraphSpec
from .node import Declared, Late, Node, NodeError, Operand, Unknown
from .registry import row_of

if TYPE_CHECKING:
    from .scope import Scope

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


class PlanError(RuntimeError):
    """An operator failed to prepare or to run; the message ends with its number and kind."""


class Stage:
    """Operators that run without looking at data in between.

    Attributes:
        program: their plan rows.
        operands: every tensor known so far, by index.
        arrays: memory of the tensors that stay readable.
        bound: the operands whose memory was there before the stage.
        stop: position of the first operator that is not in this stage.
        cut: why it ended: (node, Late) to run between the stages, (node, tensor) to read, or
            None at the end of the subgraph.
        results: tensors of the `Late` step before this stage, copied in at each run.
        following: the stages after this one, by what was read.
        outputs: the subgraph's outputs and whether they are lent, once they were asked for.
    """

    __slots__ = (
        *("arrays", "bound", "cut", "following", "operands", "outputs", "program", "results"),
        "stop",
    )

    def __init__(
        self,
        operands: dict[int, Operand],
        arrays: dict[int, np.ndarray],
        stop: int,
        n_threads: int = 1,
    ):
        self.program = Program(threads=n_threads)
        self.operands = operands
        self.arrays = arrays
        self.bound = {t: operands[t] for t in arrays}
        self.stop = stop
        self.cut: tuple[Node, Late | int] | None = None
        self.results: tuple[int, ...] = ()
        self.following: dict[Any, Stage] = {}
        self.outputs: list[tuple[np.ndarray, bool]] | None = None


class Preparation:
    """Makes the stages of one subgraph."""

    def __init__(self, scope: Scope, spec: SubgraphSpec):
        self.scope = scope
        self.spec = spec
        self._live = scope.live(spec)

    def stage(
        self, position: int, operands: dict[int, Operand], arrays: dict[int, np.ndarray]
    ) -> Stage:
        """The stage that starts at operator `position`, with what is known there."""
        stage = Stage(operands, arrays, len(self.spec.operators), self.scope.n_threads)
        for operator in self.spec.operators[position:]:
            if operator.position not in self._live:
                continue
            stage.cut = self._add(stage, operator)
            if stage.cut is not None:
                stage.stop = operator.position
                break
        self._close(stage)
        return stage

    def _add(self, stage: Stage, operator: OperatorSpec) -> tuple[Node, Late | int] | None:
        """Prepares one operator into the stage; gives the cut when it has to wait."""
        node = self._node(operator, stage)
        try:
            pure, emit = self._prepare(node, operator)
            if pure and all(x is None or x.value is not None for x in node.inputs):
                self._fold(node, emit)
            elif isinstance(emit, Late):
                return node, emit
            elif emit is not None:
                stage.program.tag = node
                emit(stage.program)
            if len(node.results) != len(operator.outputs):
                node.fail(f"makes {len(node.results)} results, not {len(operator.outputs)}")
        except Unknown as unknown:
            return node, operator.inputs[unknown.index]
        except REFUSALS as error:
            raise self.failed(node, error, "prepare") from error
        stage.operands.update(
            (t, operand)
            for t, operand in zip(operator.outputs, node.results, strict=True)
            if t >= 0
        )
        return None

    def _fold(self, node: Node, emit: Any) -> None:
        """Computes the results of a pure node; from the same constants only once."""
        constants = [None if x is None else x.storage for x in node.inputs]
        known, results = self.spec.folded.get(node.index, (None, []))
        if known != constants:
            from .compute import run_now

            run_now(node, emit)
            results = node.results
            self.spec.folded[node.index] = constants, results
        node.results = results

    def _prepare(self, node: Node, operator: OperatorSpec) -> tuple[bool, Any]:
        if operator.is_custom:
            from .custom import prepare_custom

            return False, prepare_custom(node, self.scope.custom_op)
        row = row_of(operator.kind)
        return row.pure, row.prepare(node)

    def _node(self, operator: OperatorSpec, stage: Stage) -> Node:
        tensors = self.spec.tensors
        outputs = [tensors[t].declared if t >= 0 else Declared() for t in operator.outputs]
        node = Node(
            operator.kind,
            [],
            outputs,
            operator.options,
            index=operator.position,
            version=operator.version,
            custom_options=operator.custom_options,
            intermediates=[tensors[t].declared for t in operator.intermediates],
            scope=self.scope,
        )
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
        elif spec.is_variable:
            array = stage.arrays[tensor] = self.scope.state(self.spec, tensor)
            operand = stage.bound[tensor] = self.bound(tensor, array)
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

    def _close(self, stage: Stage) -> None:
        """Ends the stage's program and finds the memory of the tensors that stay readable."""
        last, stop = self.spec.readers, stage.stop
        wanted = {
            t
            for t, operand in stage.operands.items()
            if t not in stage.arrays
            and operand.storage.kind != CONSTANT
            and (self.scope.preserve or last.get(t, -1) >= stop)
        }
        program = stage.program
        for tensor in wanted:
            program.keep(stage.operands[tensor])
        try:
            program.close({operand: stage.arrays[t] for t, operand in stage.bound.items()})
        except Fault as fault:
            raise self.failed(fault.tag, fault, "prepare") from fault
        except ValueError as error:
            raise self.failed(None, error, "prepare") from error
        stage.arrays.update((t, program.array(stage.operands[t])) for t in wanted)

    def carried(self, stage: Stage) -> tuple[dict[int, Operand], dict[int, np.ndarray]]:
        """What the stage after `stage` starts from: constants, and the arrays that were kept."""
        operands = {t: x for t, x in stage.operands.items() if x.storage.kind == CONSTANT}
        for tensor, array in stage.arrays.items():
            operand = stage.operands[tensor]
            kept = operand.storage.kind == BOUND and operand.offset == 0
            operands[tensor] = operand if kept else self.bound(tensor, array)
        return operands, dict(stage.arrays)

    def failed(self, node: Node | None, error: BaseException, verb: str) -> PlanError:
        """The error to raise when `node` failed to "prepare" or "invoke" because of `error`."""
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
    if isinstance(error, LookupError):
        return str(error.args[0]) if error.args else repr(error)
    return f"{type(error).__name__}: {error}" if not isinstance(error, ValueError) else str(error)


def _inputs(node: Node) -> str:
    """The inputs as part of a message: names, types and shapes."""
    words = ["none" if x is None else f"'{x.name}' {x.dtype} {x.shape}" for x in node.inputs]
    return f"\ninputs: {', '.join(words)}" if words else ""
