"""The functions that operations call, and how many operations all their calls come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ...schema.errors import ModelError
from .graph import Graph
from .order import Cycle, ordered
from .signatures.attributes import FunctionRef

if TYPE_CHECKING:
    from .graph import Operation
    from .library import FunctionLibrary

CALLS = ("PartitionedCall", "StatefulPartitionedCall")
"""Types of operations that call the function of their attribute `f`."""
MAX_OPERATIONS = 2**18
"""What calls may make of a graph: functions that call others twice grow without bound."""
MAX_VERSIONS = 100
"""Sets of attributes that one function is called with."""


def call_type(op: Operation) -> str:
    """The type by whose rules an operation runs: a call's where its type is a function's name."""
    function = op.graph.functions.get(op.type)
    return op.type if function is None else CALLS[function.signature.is_stateful]


def called_function(op: Operation) -> FunctionRef | None:
    """The function that `op` calls, None when it is no call."""
    if op.type in op.graph.functions:
        return FunctionRef(op.type, op.attrs)
    return op.get_attr("f") if op.type in CALLS else None


def called(op: Operation) -> list[FunctionRef]:
    """The functions that `op` calls, with its attributes or because its type is one's name."""
    listed = (x if isinstance(x, list) else [x] for x in op.attrs.values())
    references = [value for values in listed for value in values if isinstance(value, FunctionRef)]
    if op.type in op.graph.functions:
        references.append(FunctionRef(op.type, op.attrs))
    return references


def with_called(operations: Iterable[Operation]) -> Iterator[Operation]:
    """`operations` and those of the functions that they call, each function once."""
    seen: set[str] = set()
    waiting = list(operations)
    while waiting:
        op = waiting.pop()
        yield op
        for reference in called(op):
            if reference.name not in seen and reference.name in op.graph.functions:
                seen.add(reference.name)
                waiting += op.graph.functions.body(reference).operations


def calls_itself(functions: FunctionLibrary, reference: FunctionRef) -> bool:
    """Whether a function calls itself, maybe through others and with other attributes."""
    operations = with_called(functions.body(reference).operations)
    return any(inner.name == reference.name for op in operations for inner in called(op))


def refuse_expansion(operations: Iterable[Operation], allows_recursion: bool = False) -> None:
    """Raises ModelError where calls come to more than MAX_OPERATIONS, or a function calls itself.

    Counted is what there is once each call is replaced by the function's body, each branch and
    each body of a loop too. A function is looked at once, however often it is called. With
    `allows_recursion` those that call themselves are not replaced, and counted once.
    """
    operations = list(operations)
    if not any(op.graph.functions for op in operations[:1]):
        return
    bodies = _Bodies()
    first = [(op, body) for op in operations for body in bodies.of([op])]
    recursive: dict[Graph, None] = {}

    def inlined(body: Graph) -> list[Graph]:
        return [inner for inner in bodies.inside(body) if inner not in recursive]

    def circle() -> list[Graph]:
        try:
            order.extend(ordered([*(body for _, body in first), *recursive], inlined))
        except Cycle as cycle:
            return [x for x in cycle.items if isinstance(x, Graph)]
        return []

    order: list[Graph] = []
    while members := circle():
        if not allows_recursion:
            raise ModelError(bodies.circle(members))
        recursive.update(dict.fromkeys(members))
    sizes: dict[Graph, int] = {}
    for body in order:
        sizes[body] = len(body) + sum(sizes[inner] for inner in inlined(body))
    total = len(operations) + sum(sizes[body] for body in recursive)
    total += sum(sizes[body] for _, body in first if body not in recursive)
    if total > MAX_OPERATIONS:
        op = max(first, key=lambda pair: sizes[pair[1]])[0]
        raise ModelError(
            f"{op.type} '{op.name}': calls of functions must make at most {MAX_OPERATIONS} "
            f"operations, got {total}"
        )


class _Bodies:
    """The bodies of functions that were called: their names, and whose bodies they call."""

    def __init__(self) -> None:
        self.names: dict[Graph, str] = {}
        self._inside: dict[Graph, list[Graph]] = {}
        self._versions: Counter[str] = Counter()

    def of(self, operations: Iterable[Operation]) -> list[Graph]:
        """The bodies that operations call, as often as they do; none of functions that are not."""
        result: list[Graph] = []
        for op in operations:
            functions = op.graph.functions
            names = [reference for reference in called(op) if reference.name in functions]
            result += [self._body(functions.body(reference), reference.name) for reference in names]
        return result

    def _body(self, body: Graph, name: str) -> Graph:
        if body not in self.names:
            self.names[body] = name
            self._versions[name] += 1
            if self._versions[name] > MAX_VERSIONS:
                raise ModelError(
                    f"functions must not call themselves, got '{name}' with more than "
                    f"{MAX_VERSIONS} sets of attributes"
                )
        return body

    def circle(self, bodies: Sequence[Graph]) -> str:
        """What to say of bodies each of which calls the next one, and the last one the first."""
        start, following = bodies[0], bodies[1 % len(bodies)]
        op = next(op for op in start.operations if following in self.of([op]))
        chain = " -> ".join(self.names[body] for body in [*bodies, start])
        return f"{op.type} '{op.name}': functions must not call themselves, got {chain}"

    def inside(self, body: Graph) -> list[Graph]:
        """The bodies that the operations of a body call."""
        if body not in self._inside:
            self._inside[body] = self.of(body.operations)
        return self._inside[body]
