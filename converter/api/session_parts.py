"""Delegates in Sessions: groups of a run's operations become models, which delegates are shown.

A delegate takes operators of TFLite. So what can be lowered of a run is cut into as few groups as
its order allows, each is converted and opened by an Interpreter with the delegates, and it becomes
one step of the run where they take anything of it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...engine.plan.buffer import PERSISTENT
from ...graph.core.hooks import hook, implementation
from ...graph.core.registry import row_of
from ...graph.core.shapes import is_static
from ...graph.format.tensor_proto import write
from ...graph.session.delegated import DelegatedPart, Delegation, Offer
from ...interpreter.delegation.delegation import DelegateReport, PartitionSize, Placement
from ...interpreter.delegation.partitioner import in_order, partition_graph
from ...interpreter.interpreter import Interpreter
from ...schema import proto
from ...schema.errors import ConverterError, ModelError
from ..sources import frozen
from ..tf.registry import LOWERINGS
from .converter import TFLiteConverter

if TYPE_CHECKING:
    from ...graph.core.graph import Operation, Tensor
    from ...graph.session.delegated import SessionDelegate

TYPES = frozenset(
    map(np.dtype, ("float32", "float16", "int8", "int16", "int32", "int64", "uint8", "bool"))
)
"""What operands of an offered operation may be: types that the file keeps as they are."""
STATE = "it keeps state, reads variables or has effects"


class Value:
    """A tensor, or that an operation has run; it is no other's memory."""

    def __init__(self, name: Hashable):
        self.name = name

    @property
    def storage(self) -> Value:
        """Itself."""
        return self


class Step:
    """An operation as the partitioner sees it, or a part."""

    def __init__(
        self, name: str, inputs: Iterable[Value], results: Iterable[Value], stateful: bool
    ):
        self.name, self.stateful = name, stateful
        self.inputs, self.results = list(inputs), list(results)
        self.content: Operation | DelegatedPart | None = None


@hook("delegated")
def delegated(offer: Offer, delegates: Sequence[SessionDelegate]) -> Delegation:
    """A run with parts for delegates, and what they took.

    Raises RuntimeError where a delegate without fallback to the CPU failed to compile.
    """
    return _Offering(offer, delegates).delegation()


class _Offering:
    """An offer while it is looked through.

    Attributes:
        reasons: operation -> why it is in no part.
    """

    def __init__(self, offer: Offer, delegates: Sequence[SessionDelegate]):
        self.offer, self.delegates = offer, delegates
        self.reasons: dict[Operation, str] = {}
        for position, op in enumerate(offer.operations):
            reason = "it is behind sizes that only running tells"
            if position < offer.n_prepared:
                reason = self._reason_against(op)
            if reason:
                self.reasons[op] = reason
        self._parts: list[tuple[DelegatedPart, Interpreter]] = []

    def delegation(self) -> Delegation:
        """The run's new order, and the report."""
        steps = list(self._steps())
        for group in self._groups(steps):
            part = self._part(group)
            if part is not None:
                steps = _with_part(steps, part)
        order = [step.content for step in in_order(steps) if step.content is not None]
        return Delegation(order, self._report())

    def _reason_against(self, op: Operation) -> str:
        """Why an operation is not offered, "" where it is."""
        row = row_of(op.type)
        if row is None or not row.is_pure:
            return STATE
        if not op.outputs:
            return "it has no results"
        if all(self._constant(tensor) is not None for tensor in op.outputs):
            return "its results are constants"
        if LOWERINGS.get(op.type) is None:
            return f"{op.type} has no form in TFLite"
        for tensor in (*op.inputs, *op.outputs):
            operand = self.offer.operands.get(tensor)
            if operand is None or not is_static(operand.shape):
                return f"the size of '{tensor.name}' is not known before it runs"
            if operand.dtype not in TYPES:
                return f"'{tensor.name}' is {operand.dtype.name}"
        if op.type == "Identity" and self._lasts(op.inputs[0]) and self._lasts(op.outputs[0]):
            return "its result is the variable's memory, where others see what is written later"
        return ""

    def _lasts(self, tensor: Tensor) -> bool:
        """Whether a tensor is the memory of a variable."""
        return self.offer.operands[tensor].storage.kind == PERSISTENT

    def _constant(self, tensor: Tensor) -> np.ndarray | None:
        operand = self.offer.operands.get(tensor)
        return None if operand is None else operand.value

    def _steps(self) -> Iterator[Step]:
        """The operations with all that they wait for.

        What reads a variable's memory stays between the operations before and after it that may
        write there.
        """
        values: dict[Hashable, Value] = {}

        def value(name: Hashable) -> Value:
            return values.setdefault(name, Value(name))

        writers: dict[Hashable, Value] = {}
        readers: dict[Hashable, list[Value]] = {}
        for op in self.offer.operations:
            waits = [value(x) for x in (*op.inputs, *op.control_inputs)]
            memories = {
                operand.storage
                for operand in map(self.offer.operands.get, op.inputs)
                if operand is not None and operand.storage.kind == PERSISTENT
            }
            for memory in memories:
                waits += [writers[memory]] if memory in writers else []
                if op in self.reasons:
                    waits += readers.pop(memory, [])
                    writers[memory] = value(op)
                else:
                    readers.setdefault(memory, []).append(value(op))
            results = [value(x) for x in (*op.outputs, op)]
            step = Step(op.name, waits, results, self.reasons.get(op) == STATE)
            step.content = op
            yield step

    def _groups(self, steps: Sequence[Step]) -> list[list[Step]]:
        """The groups that can be lowered, as few as possible."""
        while True:
            claimed = [step for step in steps if step.content not in self.reasons]
            groups = partition_graph(steps, claimed)
            n_refused = len(self.reasons)
            for group in groups:
                self._refuse(group)
            if len(self.reasons) == n_refused:
                return groups

    def _refuse(self, group: Sequence[Step]) -> None:
        """Notes which operations of a group cannot be lowered as they are used here."""
        operations = [cast("Operation", step.content) for step in group]
        reason = self._reason_against_lowering(operations)
        if not reason:
            return
        alone = {op: self._reason_against_lowering([op]) for op in operations}
        alone = {op: why for op, why in alone.items() if why}
        self.reasons.update(alone or dict.fromkeys(operations, reason))

    def _reason_against_lowering(self, operations: Sequence[Operation]) -> str:
        try:
            self._source(operations).lower()
        except (ConverterError, ModelError, ValueError) as error:
            return f"it has no form in TFLite as it is used here: {error}".partition("\n")[0]
        return ""

    def _ends(self, operations: Sequence[Operation]) -> tuple[list[Tensor], list[Tensor]]:
        """The tensors that a group reads and gives, without constants."""
        inside = set(operations)
        read = dict.fromkeys(t for op in operations for t in op.inputs if t.op not in inside)
        others = [op for op in self.offer.operations if op not in inside]
        outside = {t for op in others for t in op.inputs}.union(self.offer.fetched)
        results = [t for op in operations for t in op.outputs if t in outside]
        return [t for t in read if self._constant(t) is None], results

    def _source(self, operations: Sequence[Operation]) -> Any:
        """A group as a computation of its own, of these sizes."""
        inputs, outputs = self._ends(operations)
        inside, message = set(operations), proto.GraphDef()
        names: dict[Tensor, str] = {}
        for op in operations:
            for tensor in op.inputs:
                if tensor.op in inside or tensor in names:
                    continue
                names[tensor] = f"operand_{len(names)}"
                self._add_operand(message, names[tensor], tensor)
        for op in operations:
            node = message.node.add()
            node.CopyFrom(implementation("node_def")(op))
            data = [names.get(tensor, tensor.name) for tensor in op.inputs]
            del node.input[:]
            node.input.extend(data)
        sizes = {names[t]: list(self.offer.operands[t].shape) for t in inputs}
        ends = [names[t] for t in inputs], [t.name for t in outputs]
        return frozen.load(message, *ends, sizes)

    def _add_operand(self, message: Any, name: str, tensor: Tensor) -> None:
        """Adds what stands for a tensor from outside: a constant, or a placeholder."""
        operand, value = self.offer.operands[tensor], self._constant(tensor)
        node = message.node.add(name=name, op="Placeholder" if value is None else "Const")
        content = write(np.zeros((), operand.dtype) if value is None else value)
        node.attr["dtype"].type = content.dtype
        if value is not None:
            node.attr["value"].tensor.CopyFrom(content)
            return
        for size in operand.shape:
            node.attr["shape"].shape.dim.add(size=size)
        node.attr["shape"].shape.SetInParent()

    def _part(self, group: Sequence[Step]) -> DelegatedPart | None:
        """A group as one step; None where delegates take nothing of it."""
        operations = [cast("Operation", step.content) for step in group]
        inputs, outputs = self._ends(operations)
        if not outputs:
            self.reasons.update(dict.fromkeys(operations, "nobody reads its results"))
            return None
        converter = TFLiteConverter._of([self._source(operations)], None, 1)
        converter.verify = False
        try:
            content = converter.convert()
        except (ConverterError, ModelError) as error:
            why = str(error).partition("\n")[0]
            self.reasons.update(dict.fromkeys(operations, f"its group has no form: {why}"))
            return None
        interpreter = Interpreter(
            model_content=content,
            experimental_delegates=cast("Any", self.delegates),
            num_threads=self.offer.n_threads,
        )
        interpreter.allocate_tensors()
        report = interpreter.delegate_report()
        if not report.parts:
            why = dict.fromkeys(f"{row.kind}: {row.reason}" for row in report.operators)
            self.reasons.update(dict.fromkeys(operations, "; ".join(why)))
            return None
        sizes = [self.offer.operands[tensor].shape for tensor in outputs]
        name = f"{report.parts[0].delegate} {len(self._parts)}"
        part = DelegatedPart(name, operations, inputs, outputs, sizes, _runner(interpreter))
        self._parts.append((part, interpreter))
        return part

    def _report(self) -> DelegateReport:
        """Where each operation runs, and the parts of all models."""
        where = {
            op: number for number, (part, _) in enumerate(self._parts) for op in part.operations
        }
        sizes: list[PartitionSize] = []
        delegates: list[str] = []
        for number, (_, interpreter) in enumerate(self._parts):
            parts = interpreter.delegate_report().parts
            delegates.append(parts[0].delegate)
            sizes += [size._replace(part=number) for size in parts]
        rows = [
            Placement(i, op.type, op.name, delegates[where[op]], where[op], "")
            if op in where
            else Placement(i, op.type, op.name, "", None, self.reasons.get(op, ""))
            for i, op in enumerate(self.offer.operations)
        ]
        return DelegateReport(rows, sizes)


def _with_part(steps: Sequence[Step], part: DelegatedPart) -> list[Step]:
    """The steps with a part in the place of the first of its operations."""
    operations = set(part.operations)
    inside = {step: None for step in steps if step.content in operations}
    results = dict.fromkeys(x for step in inside for x in step.results)
    waits = dict.fromkeys(x for step in inside for x in step.inputs if x not in results)
    whole = Step(part.name, waits, results, stateful=False)
    whole.content = part
    return list(dict.fromkeys(whole if step in inside else step for step in steps))


def _runner(interpreter: Interpreter) -> Callable[[Sequence[np.ndarray]], Sequence[np.ndarray]]:
    """A function of a model's inputs that gives its outputs."""
    inputs = [details["index"] for details in interpreter.get_input_details()]
    results = [details["index"] for details in interpreter.get_output_details()]

    def run(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        for index, array in zip(inputs, arrays, strict=True):
            interpreter.set_tensor(index, array)
        interpreter.invoke()
        return [interpreter.get_tensor(index) for index in results]

    return run
