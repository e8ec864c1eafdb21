"""Handing operators to delegates: who takes what, the order of the steps, and the report."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from ..plan.node import Node, NodeError
from .offer import Offer
from .partition import Partition, counted, failure_of, take_over
from .partitioner import in_order

if TYPE_CHECKING:
    from ...engine.plan.buffer import Storage
    from .partition import AnyDelegate, Run


class Placement(NamedTuple):
    """Where one operator runs.

    Attributes:
        position: where the operator stands in its subgraph.
        kind: its name in the schema, or the custom code.
        name: name of its first output.
        delegate: who runs it, "" for the CPU engine.
        part: number of the part it is in, None on the CPU.
        reason: why it runs on the CPU, "" in a part.
    """

    position: int
    kind: str
    name: str
    delegate: str
    part: int | None
    reason: str


class PartitionSize(NamedTuple):
    """One part in a report: its operators, bytes of constants, bytes copied in each run."""

    delegate: str
    part: int
    operators: int
    constant_bytes: int
    bytes_in: int
    bytes_out: int


class ReportContents(TypedDict):
    """A DelegateReport as plain data: the fields of each Placement and PartitionSize by name."""

    operators: list[dict[str, str | int | None]]
    parts: list[dict[str, str | int]]
    bytes_copied: int


class DelegateReport(NamedTuple):
    """Which operators of a subgraph the delegates run, why not the others, and what is copied.

    Attributes:
        operators: a Placement for each operator.
        parts: a PartitionSize for each part.
    """

    operators: list[Placement]
    parts: list[PartitionSize]

    @property
    def bytes_copied(self) -> int:
        """Bytes that go to and come from the delegates in each run."""
        return sum(partition.bytes_in + partition.bytes_out for partition in self.parts)

    def as_dict(self) -> ReportContents:
        """Everything as plain data."""
        return {
            "operators": [row._asdict() for row in self.operators],
            "parts": [partition._asdict() for partition in self.parts],
            "bytes_copied": self.bytes_copied,
        }

    def __str__(self) -> str:
        claimed = sum(row.part is not None for row in self.operators)
        total = counted(len(self.operators), "operator")
        n_parts = counted(len(self.parts), "part")
        text = f"{claimed} of {total} in {n_parts}, "
        text += f"{self.bytes_copied:,} bytes copied in each run\n"
        for part in self.parts:
            text += (
                f"{part.delegate} {part.part}: {counted(part.operators, 'operator')}, "
                f"{part.constant_bytes:,} bytes of constants, {part.bytes_in:,} bytes in, "
                f"{part.bytes_out:,} bytes out\n"
            )
        for row in self.operators:
            where = "CPU" if row.part is None else f"{row.delegate} {row.part}"
            text += f"{row.position:5} {row.kind:20} {where:9} {row.reason}".rstrip() + "\n"
        return text.rstrip()


def merged(reports: Mapping[int, DelegateReport]) -> DelegateReport:
    """The report of a subgraph from those of its stages, by the position where each starts."""
    rows: dict[int, Placement] = {}
    parts: list[PartitionSize] = []
    for start, report in sorted(reports.items()):
        rows.update((row.position, row) for row in report.operators if row.position >= start)
        parts += report.parts
    return DelegateReport([rows[position] for position in sorted(rows)], parts)


class Delegation:
    """Who runs what in one stage.

    Args:
        nodes: the prepared operators, in the order of the model.
        delegates: whoever comes first may choose first.
        readable: ids of the Operands that must be readable after the stage.
        n_before: partitions of the stages before.

    Attributes:
        steps: Nodes and Partitions in an order in which they can run.
        runs: what each Partition's delegate compiled.
        reasons: index of an operator -> why delegates left it to the CPU.

    Raises:
        NodeError: a delegate without fallback to the CPU failed to compile a partition.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        delegates: Sequence[AnyDelegate],
        readable: Collection[int],
        n_before: int = 0,
    ):
        self.steps: list[Node | Partition] = list(nodes)
        self.runs: dict[Partition, Run] = {}
        self.reasons: dict[int, list[str]] = {}
        self._readable = readable
        self._number = n_before
        for delegate in delegates:
            self._offer(delegate)
        self._find_copies()

    @property
    def partitions(self) -> list[Partition]:
        """The partitions in the order they run."""
        return [step for step in self.steps if isinstance(step, Partition)]

    def report(self, operators: Sequence[tuple[int, str, str, str]]) -> DelegateReport:
        """The report, from the position, kind and name of every operator and, if it was not
        offered, the reason.
        """
        where = {op.index: partition for partition in self.partitions for op in partition.ops}
        rows: list[Placement] = []
        for position, kind, name, reason in operators:
            partition = where.get(position)
            if partition is None:
                reason = reason or "; ".join(self.reasons.get(position, ()))
                rows.append(Placement(position, kind, name, "", None, reason))
            else:
                rows.append(
                    Placement(position, kind, name, partition.delegate.name, partition.number, "")
                )
        return DelegateReport(rows, [_size(partition) for partition in self.partitions])

    def _offer(self, delegate: AnyDelegate) -> None:
        """Lets `delegate` take partitions of the operators still on the CPU."""
        before = self.steps
        partitions: list[Partition] = []
        try:
            offer = Offer(before, self._readable)
            groups, reasons = delegate.parts(offer)
            for number, group in enumerate(groups, self._number):
                needed = read_outside(before, group, offer)
                partitions.append(Partition(delegate, number, group, needed))
            self.steps = in_order(grouped(before, partitions))
        except Exception as error:  # a delegate is foreign code, whatever it raises
            self.steps = before
            nodes = [step for step in before if isinstance(step, Node)]
            self._left_out(delegate, nodes, failure_of(delegate, None, "choose its parts", error))
            return
        for index, reason in reasons.items():
            self.reasons.setdefault(index, []).append(f"{delegate.name}: {reason}")
        for partition in partitions:
            self._compile(partition)
        self._number += len(partitions)

    def _compile(self, partition: Partition) -> None:
        """Compiles a partition, or puts its operators back among the steps."""
        try:
            self.runs[partition] = partition.delegate.compile(partition)
        except Exception as error:  # as above
            failure = failure_of(partition.delegate, partition, "compile", error)
            self._left_out(partition.delegate, partition.ops, failure)
            i = self.steps.index(partition)
            self.steps[i : i + 1] = partition.ops

    def _left_out(self, delegate: AnyDelegate, ops: Sequence[Node], failure: NodeError) -> None:
        take_over(delegate, failure)
        for op in ops:
            self.reasons.setdefault(op.index, []).append(f"{delegate.name}: {failure}")

    def _find_copies(self) -> None:
        """Finds what each partition reads from host memory, and what it has to put there.

        What only partitions of the same delegate read stays in that delegate's memory. A result
        that lies in the memory of an input is there already.
        """
        maker = {x: partition for partition in self.partitions for x in partition.outputs}
        on_host: set[Storage] = set()
        for step in self.steps:
            for x in step.inputs:
                if x is not None and (x not in maker or not _same_owner(maker[x], step)):
                    on_host.add(x.storage)
            on_host.update(x.storage for x in step.results if id(x) in self._readable)
        for partition in self.partitions:
            input_storages = {x.storage for x in partition.inputs}
            on_device = {
                x for x in partition.inputs if x in maker and _same_owner(maker[x], partition)
            }
            for x in on_device:
                maker[x].shared.append(x)
            partition.read = [x for x in partition.inputs if x not in on_device]
            # views of a result are the same bytes: one of them is enough
            once = {x.storage: x for x in partition.outputs if x.storage not in input_storages}
            partition.copied = [x for storage, x in once.items() if storage in on_host]


def _same_owner(partition: Partition, step: Node | Partition) -> bool:
    return isinstance(step, Partition) and step.delegate is partition.delegate


def _size(partition: Partition) -> PartitionSize:
    return PartitionSize(
        partition.delegate.name,
        partition.number,
        len(partition.ops),
        sum(x.nbytes for x in partition.constants),
        sum(x.nbytes for x in partition.read),
        sum(x.nbytes for x in partition.copied),
    )


def read_outside(
    steps: Sequence[Node | Partition], group: Sequence[Node], offer: Offer
) -> set[int]:
    """The ids of what is read outside a group of steps, or readable after the stage."""
    inside = {id(op) for op in group}
    readers = [op for step in steps for op in getattr(step, "ops", (step,))]
    outside = {id(x) for op in readers if id(op) not in inside for x in op.inputs}
    return outside.union(offer.readable)


def grouped(
    steps: Sequence[Node | Partition], partitions: Sequence[Partition]
) -> list[Node | Partition]:
    """The steps, with each partition at the position of its first operator."""
    partition_of = {id(op): partition for partition in partitions for op in partition.ops}
    if len(partition_of) != sum(len(partition.ops) for partition in partitions):
        raise ValueError("an operator is in two parts")
    if not partition_of.keys() <= {id(step) for step in steps}:
        raise ValueError("a part has operators that were not offered")
    return list(dict.fromkeys(partition_of.get(id(step), step) for step in steps))
