"""Delegates in Sessions: what a run offers them, and the steps that its plan makes of it.

Delegates take operators of TFLite. What offers operations to them is in the converter, which
lowers groups of operations to models; the interpreter hands these to the delegates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np

    from ...engine.plan.buffer import Buffer
    from ..core.graph import Operation, Tensor

    Step: TypeAlias = "Operation | DelegatedPart"
    """What a plan runs, one after the other."""


class SessionDelegate(Protocol):
    """A delegate of the interpreter, of which a Session knows only this."""

    @property
    def name(self) -> str:
        """What reports and messages call it."""
        ...


class DelegationReport(Protocol):
    """Which operations the delegates run, and why not the others.

    interpreter/delegation/delegation.py has the class.
    """

    @property
    def bytes_copied(self) -> int:
        """Bytes that go to and come from the delegates in each run."""
        ...

    def as_dict(self) -> Mapping[str, object]:
        """Everything as plain data."""
        ...


class Offer(NamedTuple):
    """What delegates may choose from.

    Attributes:
        operations: those of the run, in its order.
        n_prepared: how many of them have results of known sizes.
        operands: what the tensors of these are.
        fetched: the tensors that the caller fetches.
        n_threads: of the session.
    """

    operations: Sequence[Operation]
    n_prepared: int
    operands: Mapping[Tensor, Buffer]
    fetched: Collection[Tensor]
    n_threads: int


class Delegation(NamedTuple):
    """What came of an offer.

    Attributes:
        order: operations, and parts in the place of those that they run.
        report: for the user.
    """

    order: Sequence[Step]
    report: DelegationReport


class DelegatedPart:
    """Operations that run as one step, with parts of it on delegates.

    Attributes:
        name: what times and errors call it.
        operations: which it runs.
        inputs, outputs: its tensors.
        sizes: the shape of each output.
        run: function(arrays of the inputs) gives those of the outputs.
    """

    type = "DELEGATE"

    def __init__(
        self,
        name: str,
        operations: Sequence[Operation],
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        sizes: Sequence[tuple[int, ...]],
        run: Callable[[Sequence[np.ndarray]], Sequence[np.ndarray]],
    ):
        self.name, self.operations = name, operations
        self.inputs, self.outputs, self.sizes = inputs, outputs, sizes
        self.run = run
