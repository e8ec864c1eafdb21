"""Partitions: what a delegate runs, and the step of a program that runs it.

A delegate is any object with a `name`, with `parts(ops)`, which gives a Partitioning, and with
`compile(partition)`, which gives `run(*inputs)`; flatlite.lite.Delegate is the base class to use.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeGuard

import numpy as np

from ...schema.dtypes import tf_name
from ..plan.node import LostResultError, Node, NodeError, Operand

if TYPE_CHECKING:
    from typing import TypeAlias

    Run: TypeAlias = "Callable[..., Sequence[DeviceArray]]"
    """Gives the results of a partition from its inputs."""


class DeviceArray(Protocol):
    """A result of a delegate, wherever it lies; numpy can read it."""

    @property
    def shape(self) -> Sequence[int]:
        """Its dimensions."""
        ...

    @property
    def dtype(self) -> np.dtype:
        """Its type."""
        ...

    def __array__(self) -> np.ndarray: ...


class AnyDelegate(Protocol):
    """What a delegate has; it need not have a base class."""

    @property
    def name(self) -> str:
        """What reports and messages call it."""
        ...

    def parts(
        self, ops: Sequence[Node | Partition], /
    ) -> tuple[Sequence[Sequence[Node]], dict[int, str]]:
        """A Partitioning of the operators it is shown."""
        ...

    def compile(self, partition: Partition, /) -> Run:
        """The function that runs a partition."""
        ...


class Partitioning(NamedTuple):
    """What a delegate answers when it is shown operators.

    Attributes:
        groups: the operators of each partition.
        reasons: index of every other operator -> a sentence that says why it is in no partition.
    """

    groups: Sequence[Sequence[Node]]
    reasons: dict[int, str]


class Partition:
    """Operators that a delegate runs as one step.

    Attributes:
        ops: the Nodes, in an order in which they can run.
        inputs: the Operands from outside whose values are known only when the model runs.
        outputs: the Operands that have readers outside.
        constants: the Operands with constant values.
        delegate: which runs it.
        number: counted from 0 among the partitions of a stage.
        name: of the delegate and its number.
        index: of the first operator.
        read: the inputs that come from host memory.
        copied: the outputs that go to host memory.
        shared: the outputs that other partitions of the delegate read as the delegate made them.
    """

    kind = "DELEGATE"
    caller = None  # subgraphs that join their caller's program have no partitions

    def __init__(
        self, delegate: AnyDelegate, number: int, ops: Sequence[Node], needed: Collection[int]
    ):
        self.delegate = delegate
        self.number = number
        self.ops = tuple(sorted(ops, key=lambda op: op.index))
        self.index = self.ops[0].index
        self.name = f"{delegate.name} {number}"
        produced = dict.fromkeys(result for op in self.ops for result in op.results)
        read = dict.fromkeys(x for op in self.ops for x in op.inputs if x is not None)
        self.inputs = [x for x in read if x.value is None and x not in produced]
        self.outputs = [x for x in produced if id(x) in needed]
        self.constants = [x for x in read if x.value is not None]
        self.stateful = any(op.stateful for op in self.ops)
        self.read: list[Operand] = []
        self.copied: list[Operand] = []
        self.shared: list[Operand] = []

    @property
    def results(self) -> list[Operand]:
        """The outputs, under the name they have in a Node."""
        return self.outputs


class SharedResults:
    """Results that partitions of a stage share without a copy to host memory.

    Attributes:
        values: Operand -> what its delegate gave.
        steps: the steps of all partitions.
    """

    def __init__(self):
        self.values: dict[Operand, DeviceArray] = {}
        self.steps: weakref.WeakSet[PartitionStep] = weakref.WeakSet()  # no cycle: they know this


class PartitionStep:
    """A partition as a Python step of a program: step(*arrays it reads, *arrays it copies to).

    Args:
        partition: the partition.
        run: what its delegate compiled.
        shared_results: of all steps of a stage.
        engine: gives a function like `run` that the CPU executes, for when `run` fails.
    """

    def __init__(
        self,
        partition: Partition,
        run: Run,
        shared_results: SharedResults,
        engine: Callable[[Partition], Run],
    ):
        self.partition = partition
        self._run = run
        self._shared_results = shared_results
        self._engine = engine
        self._delegated = True
        shared_results.steps.add(self)

    def __call__(self, *arrays: np.ndarray) -> None:
        """Runs the partition; on the CPU from the first failure on.

        Raises LostResultError, with all partitions of the delegate moved to the CPU, when that
        needs a result that the delegate no longer has: the stage has to run from its start.
        """
        partition = self.partition
        for array in arrays[: len(partition.read)]:
            array.flags.writeable = False
        values = dict(zip(partition.read, arrays, strict=False))
        inputs = [
            values[x] if x in values else self._shared_results.values[x] for x in partition.inputs
        ]
        if self._delegated:
            try:
                self._put(self._run(*inputs), arrays)
                return
            except Exception as error:  # a delegate is foreign code, whatever it raises
                failure = failure_of(partition.delegate, partition, "run", error)
            take_over(partition.delegate, failure)
            self.withdraw()
        try:
            inputs = [np.asarray(x) for x in inputs]
        except Exception as error:  # as above
            for step in [*self._shared_results.steps]:
                if step.partition.delegate is partition.delegate:
                    step.withdraw()
            raise LostResultError(
                f"delegate '{partition.delegate.name}' has lost results: {error}", partition
            ) from error
        self._put(self._run(*inputs), arrays)

    def withdraw(self) -> None:
        """Moves the partition to the CPU."""
        if self._delegated:
            self._delegated = False
            self._run = self._engine(self.partition)

    def _put(self, results: Sequence[DeviceArray], arrays: Sequence[np.ndarray]) -> None:
        """Stores the results of a run: in the arrays, and as they are for other partitions."""
        partition, n = self.partition, len(self.partition.read)
        if len(results) != len(partition.outputs):
            raise ValueError(f"it gave {len(results)} results, must give {len(partition.outputs)}")
        results_by_operand = dict(zip(partition.outputs, results, strict=True))
        for operand, result in results_by_operand.items():
            if tuple(result.shape) != operand.shape or result.dtype != operand.dtype:
                raise ValueError(
                    f"'{operand.name}' must be {tf_name(operand.dtype)} {operand.shape}, "
                    f"got {tf_name(result.dtype)} {tuple(result.shape)}"
                )
        for operand, array in zip(partition.copied, arrays[n:], strict=True):
            array[...] = np.asarray(results_by_operand[operand])
        for operand in partition.shared:
            result = results_by_operand[operand]
            if _is_on_host(result) and any(
                np.may_share_memory(result, array) for array in arrays[:n]
            ):
                result = result.copy()  # the program uses its inputs' memory again
            self._shared_results.values[operand] = result


def _is_on_host(result: DeviceArray) -> TypeGuard[np.ndarray]:
    return isinstance(result, np.ndarray)


def take_over(delegate: AnyDelegate, failure: NodeError) -> None:
    """Warns that the CPU runs what a delegate could not, or raises if the delegate wants that."""
    if not getattr(delegate, "fallback", True):
        raise failure
    warnings.warn(f"{failure}; the CPU runs its operators", RuntimeWarning, stacklevel=2)


def failure_of(
    delegate: AnyDelegate, partition: Partition | None, verb: str, error: Exception
) -> NodeError:
    """The error of a delegate that failed to compile, to run or to choose its partitions."""
    what = (
        ""
        if partition is None
        else f" part {partition.number} ({counted(len(partition.ops), 'operator')})"
    )
    text = f"delegate '{delegate.name}' failed to {verb}{what}: {type(error).__name__}: {error}"
    failure = NodeError(text, partition)
    failure.__cause__ = error
    return failure


def counted(n: int, what: str) -> str:
    """A number and what it counts."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
