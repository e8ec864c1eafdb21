"""What runs besides the outputs of a computation: writes to variables, files and Python.

A variable that is written and read is an input and an output of the frozen graph; a constant takes
the place of every other. A write to a variable that no output reads, such as the moving average of
a normalisation that uses the batch's own, cannot be seen in any answer, and is left out with a
warning; so is printing. What writes a checkpoint stays, for TensorFlow's Flex delegate.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ...graph.core.graph import Graph, Operation, Tensor
from ...graph.core.signatures.attributes import FunctionRef
from ...graph.format.inline import inline, runs_unread
from ...schema.errors import ModelError, UnsupportedOps
from ..callers import caller
from .branches import has_branches, resolve_branches
from .composites import composite
from .handles import CALLING, Handles, follow, is_handle, reads, writes
from .writes import WRITING

MAX_LISTED = 8  # operations listed in an error message
PRINTING = ("Print", "PrintV2")
OMITTED = ("Assert", *PRINTING)
"""Operations whose effects are left out, as TensorFlow's converter leaves out assertions."""
CHECKPOINT_WRITERS = ("Save", "SaveSlices", "SaveV2")
"""Operations without results that stay in the graph, outside of branches and loops."""
CHECKPOINT_READERS = ("Restore", "RestoreSlice", "RestoreV2")
TABLES = (
    *("InitializeTable", "InitializeTableV2"),
    *("LookupTableImport", "LookupTableImportV2"),
)
"""What fills a table: who reads one has no lowering yet, and is refused by its own name."""


@dataclass
class Effects:
    """What some computations do to variables, and besides.

    Attributes:
        changing: variables that are known to be written and read: what they get counts as read.
        writes: (type, name, variable) of each operation that writes one.
        reads: the variables whose values outputs need.
        prints: (type, name) of each operation that prints.
        others: (type, name) of each operation that changes something else.
    """

    changing: frozenset[str] = frozenset()
    writes: set[tuple[str, str, str]] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)
    prints: set[tuple[str, str]] = field(default_factory=set)
    others: set[tuple[str, str]] = field(default_factory=set)
    _visited: set[object] = field(default_factory=set)

    def note(
        self,
        graph: Graph,
        handles: Handles,
        roots: Iterable[Operation],
        prefix: str = "",
        is_read: bool = True,
    ) -> None:
        """Takes in what a flat graph with inputs and outputs does.

        Args:
            graph: its outputs are computed.
            handles: the inputs that hold handles of variables.
            roots: operations that run whether or not an output needs them.
            prefix: put before the names of operations.
            is_read: whether somebody reads the outputs.
        """
        outputs = graph.outputs or []
        ends = [tensor.op for tensor in outputs]
        inputs = set(graph.inputs or ())
        running = closure([*ends, *roots], inputs, with_control=True)
        order = [op for op in graph.operations if op in running]
        variables = follow(order, handles)
        writers = [op for op in order if self._changes(op, variables)]
        savers = () if prefix else checkpoint_writers(roots)
        needed = needed_operations([*(ends if is_read else ()), *writers, *savers], inputs)
        for op in order:
            self._note_operation(op, variables, f"{prefix}{op.name}", op in needed)
            for reference, arguments in _calls(op, variables):
                self._note_call(op, reference, arguments, prefix, op in needed)
        if is_read:
            values = [t for t in outputs if t in variables and not is_handle(t)]
            self.reads.update(*(variables[tensor] for tensor in values))

    def _changes(self, op: Operation, variables: Handles) -> bool:
        """Whether an operation gives a variable that changes a value."""
        if not self.changing:
            return False
        return any(
            not self.changing.isdisjoint(variables.get(tensor, ()))
            and (op.type in CALLING or writes(op, i))
            for i, tensor in enumerate(op.inputs)
        )

    def written_and_read(self) -> frozenset[str]:
        """The variables that operations write and whose values outputs need."""
        return frozenset(variable for _, _, variable in self.writes) & self.reads

    def refuse(self) -> None:
        """Raises UnsupportedOps when a write has no form, or something else changes."""
        rows = [
            f"{kind} '{name}' on variable '{variable}'"
            for kind, name, variable in sorted(self.writes)
            if variable in self.reads and kind not in WRITING
        ]
        if rows:
            raise UnsupportedOps(
                "Operations that change variables in a way that is not supported:\n"
                + _listing(rows)
                + "\nUse assign, assign_add, assign_sub or scatter operations, or pass the state "
                "as an input and return the new state as an output."
            )
        if self.others:
            raise UnsupportedOps(
                "Operations that do something besides computing outputs are not supported:\n"
                + _listing([f"{kind} '{name}'" for kind, name in sorted(self.others)])
                + "\nSave a signature without them."
            )

    def omitted(self) -> list[str]:
        """What is done besides computing outputs and is not done by the file, a line for each."""
        unread = [row for row in sorted(self.writes) if row[2] not in self.reads]
        writes = [f"{kind} '{name}' on variable '{variable}'" for kind, name, variable in unread]
        return writes + [f"{kind} '{name}'" for kind, name in sorted(self.prints)]

    def _note_operation(self, op: Operation, variables: Handles, name: str, needed: bool) -> None:
        """Takes in what one operation does, but for the functions that it calls."""
        variable_inputs = [(i, variables[t]) for i, t in enumerate(op.inputs) if t in variables]
        for i, names in variable_inputs:
            if writes(op, i):
                self.writes.update((op.type, name, variable) for variable in names)
            if needed and reads(op, i):
                self.reads |= names
        if op.type in PRINTING:
            self.prints.add((op.type, name))
        is_other = not (variable_inputs or needed or op.type in (*CALLING, *OMITTED, *TABLES))
        if is_other and runs_unread(op):
            self.others.add((op.type, name))

    def _note_call(
        self,
        op: Operation,
        reference: FunctionRef,
        arguments: tuple[frozenset[str], ...],
        prefix: str,
        needed: bool,
    ) -> None:
        """Takes in what a function does that `op` calls.

        `arguments` are the variables whose handles each of its inputs holds.
        """
        state = reference.name, repr(reference.attrs), arguments, needed
        if state not in self._visited:
            self._visited.add(state)
            body = flat_body(op.graph, reference)
            pairs = zip(body.inputs or (), arguments, strict=False)
            handles = {tensor: names for tensor, names in pairs if names}
            roots = [inner for inner in body.operations if runs_unread(inner)]
            self.note(body, handles, roots, f"{prefix}{op.name}/", needed)


def changing_variables(graphs: Iterable[Graph]) -> frozenset[str]:
    """The variables that flat graphs, which share them, write and whose values outputs need.

    Warns of what they do that no output shows. Raises UnsupportedOps unless all else that they do
    is to compute their outputs.
    """
    graphs, changing = list(graphs), frozenset[str]()
    while True:
        effects = Effects(changing)
        for graph in graphs:
            effects.note(graph, {}, graph.control_outputs)
        known, changing = changing, effects.written_and_read()
        if changing == known:
            break
    effects.refuse()
    rows = effects.omitted()
    if rows:
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        text = f"The file does not do what no output depends on: {rows[0]}{more}"
        warnings.warn(text, stacklevel=caller())
    return changing


def checkpoint_writers(roots: Iterable[Operation]) -> list[Operation]:
    """Those of the operations that run unread which write checkpoints."""
    return [op for op in roots if op.type in CHECKPOINT_WRITERS]


def flat_body(graph: Graph, reference: FunctionRef) -> Graph:
    """The body of a function that operations of `graph` call, without calls in it."""
    if reference.name not in graph.functions:
        raise ModelError(f"Functions must not be missing, got '{reference.name}'")
    return resolve_branches(inline(graph.functions.body(reference), composite))


def needed_operations(ends: Iterable[Operation], inputs: Iterable[Tensor]) -> set[Operation]:
    """What the outputs of `ends` are computed from, and in branches when they are."""
    ends, inputs = list(ends), set(inputs)
    needed = closure(ends, inputs, with_control=False)
    return closure(ends, inputs, with_control=True) if has_branches(needed) else needed


def closure(
    operations: Iterable[Operation], inputs: Iterable[Tensor], with_control: bool
) -> set[Operation]:
    """`operations` and all they need, up to `inputs`."""
    reached: set[Operation] = set()
    ends = set(inputs)
    stack = list(operations)
    while stack:
        op = stack.pop()
        if op not in reached:
            reached.add(op)
            stack += [tensor.op for tensor in op.inputs if tensor not in ends]
            stack += op.control_inputs if with_control else ()
    return reached


def _calls(
    op: Operation, variables: Handles
) -> Iterator[tuple[FunctionRef, tuple[frozenset[str], ...]]]:
    """The functions that an operation calls, with the variables whose handles each input holds."""
    if op.type in CALLING:
        inputs = op.inputs[CALLING[op.type] :]
        arguments = tuple(variables.get(tensor, frozenset()) for tensor in inputs)
        for value in op.attrs.values():
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, FunctionRef):
                    yield item, arguments


def _listing(rows: list[str]) -> str:
    more = [f"and {len(rows) - MAX_LISTED} more"] if len(rows) > MAX_LISTED else []
    return "\n".join(f"  {row}" for row in rows[:MAX_LISTED] + more)
