"""Delegate: the base class of what runs partitions of a model elsewhere than on the CPU engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..interpreter.delegation.partition import Partition, Partitioning
from ..interpreter.delegation.partitioner import partition_graph
from ..interpreter.plan.node import Node


class Delegate:
    """Takes operators of a model and runs them its own way.

    A subclass has a `name`, says in `reason_against` which operators it leaves alone, and makes a
    function of a partition in `compile`; examples/delegate.py is one in 60 lines. Operators with
    state, control flow, custom operators and those behind a data-dependent shape are not offered.

    Args:
        minimum_size: a partition with fewer operators is left to the CPU; those that only change a
            shape do not count.
        fallback: whether the CPU takes over, with a RuntimeWarning, what fails to compile or to
            run; False makes allocate_tensors or invoke raise RuntimeError instead.

    Raises:
        ValueError: minimum_size is not a number of at least 1.
    """

    name = "delegate"

    def __init__(self, *, minimum_size: int = 1, fallback: bool = True):
        if not isinstance(minimum_size, int) or minimum_size < 1:
            raise ValueError(f"minimum_size must be a number of at least 1, got {minimum_size!r}")
        if not isinstance(fallback, bool):
            raise ValueError(f"fallback must be True or False, got {fallback!r}")
        self.minimum_size = minimum_size
        self.fallback = fallback

    def reason_against(self, op: Node) -> str | None:
        """Why this delegate does not run `op`, in a sentence for the user; None if it does.

        Args:
            op: a prepared operator: `kind`, `options`, `inputs` and `results` (with dtype, shape,
                quantization and, if it is known beforehand, value).
        """
        raise NotImplementedError(f"{type(self).__name__} must define reason_against")

    def compile(self, partition: Partition) -> Callable[..., Sequence[Any]]:
        """A function run(*arrays) that gives a result for each of `partition.outputs`.

        It is given a numpy array for each of `partition.inputs`, or what an earlier one of this
        delegate gave for it, which may live on a device. Results have `shape` and `dtype`, and
        numpy can read them. What is raised here makes the CPU take the partition over.
        """
        raise NotImplementedError(f"{type(self).__name__} must define compile")

    def parts(self, ops: Sequence[Any]) -> Partitioning:
        """The partitions of a graph that this delegate runs, as few and large as its claims allow.

        Args:
            ops: what runs, each after what it reads: Nodes, and Partitions of delegates before.
        """
        offered = [op for op in ops if isinstance(op, Node)]
        reasons = {op.index: self._reason(op) for op in offered}
        claimed = {op for op in offered if reasons[op.index] is None}
        groups = partition_graph(ops, claimed, self.minimum_size)
        partitioned = {op.index for group in groups for op in group}
        too_small = "its partition would compute nothing"
        if self.minimum_size > 1:
            too_small = (
                f"its partition would be smaller than minimum_size, {self.minimum_size} operators"
            )
        return Partitioning(
            groups, {i: why or too_small for i, why in reasons.items() if i not in partitioned}
        )

    def _reason(self, op: Node) -> str | None:
        if op.stateful:
            return f"{op.kind} may keep state, which stays with the CPU"
        return self.reason_against(op)
