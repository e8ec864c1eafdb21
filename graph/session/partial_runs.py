"""Runs in several steps: what was computed in one is not computed again in the next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn

from ...schema.dtypes import RESOURCE, VARIANT
from ...schema.errors import InvalidArgumentError, UnimplementedError
from ..core.elements import Operation, Tensor

if TYPE_CHECKING:
    import numpy as np

    from ..core.protocols import Evaluated

VARIABLES = ("Variable", "VariableV2", "VarHandleOp")


class PartialRun:
    """One run of which some results may be asked for before everything is fed.

    Args:
        fetches: What may be fetched, each once.
        feeds: What may be fed, each once.

    Raises InvalidArgumentError for what is both.
    """

    def __init__(self, fetches: Iterable[Tensor | Operation], feeds: Iterable[Tensor]):
        self.fetches = dict.fromkeys(fetches)
        self.feeds = dict.fromkeys(feeds)
        for tensor in self.feeds:
            if tensor in self.fetches:
                _refuse(f"{tensor.name} is both fed and fetched.")
        self.values: dict[Tensor, np.ndarray] = {}
        self._fetched: set[Tensor | Operation] = set()
        self._ran: set[Operation] = set()

    @property
    def is_over(self) -> bool:
        """Whether everything was fetched."""
        return len(self._fetched) == len(self.fetches)

    def check(self, elements: Iterable[Tensor | Operation], feeds: Iterable[Tensor]) -> None:
        """Raises InvalidArgumentError unless these may be fetched and fed now."""
        for tensor in feeds:
            if tensor not in self.feeds:
                _refuse(f"The feed {tensor.name} was not specified in partial_run_setup.")
            if tensor in self.values:
                _refuse(f"The feed {tensor.name} has already been fed.")
        for element in elements:
            if isinstance(element, Operation):
                raise RuntimeError(
                    "partial_run() requires empty `target_list`. Received: "
                    f"target_list=[{element}] (non-empty)"
                )
            if element not in self.fetches:
                _refuse(f"The fetch {element.name} was not specified in partial_run_setup.")
            if element in self._fetched:
                _refuse(f"The fetch {element.name} has already been fetched.")

    def needed(
        self, elements: Iterable[Tensor | Operation]
    ) -> tuple[dict[Tensor, np.ndarray], list[Tensor]]:
        """What is known of what `elements` need, and what operations with a state give beside.

        Raises InvalidArgumentError when something of it is yet to be fed.
        """
        known: dict[Tensor, np.ndarray] = {}
        ran: set[Operation] = set()
        pending = [item for item in elements if isinstance(item, Tensor)]
        operations: list[Operation] = []
        while pending or operations:
            if pending:
                tensor = pending.pop()
                if tensor in self.values:
                    known[tensor] = self.values[tensor]
                    continue
                if tensor in self.feeds:
                    _refuse(
                        f"Fetch {tensor.name} can't be computed from the feeds that have been fed "
                        "so far."
                    )
                operations.append(tensor.op)
            op = operations.pop()
            if op in ran:
                continue
            ran.add(op)
            pending += op.inputs
            operations += [other for other in op.control_inputs if other not in ran]
        again = next((op for op in ran if op in self._ran and _has_effect(op)), None)
        if again is not None:
            raise UnimplementedError(
                None, again, f"partial_run would run '{again.name}' a second time"
            )
        self._ran |= ran
        beside = [
            tensor
            for op in ran
            if _has_effect(op)
            for tensor in op.outputs
            if tensor.dtype not in (RESOURCE, VARIANT)
        ]
        return known, beside

    def note(self, elements: Iterable[Tensor | Operation], values: dict[Tensor, Evaluated]) -> None:
        """Keeps what was computed."""
        self._fetched.update(elements)
        self.values |= values


def _has_effect(op: Operation) -> bool:
    """Whether running an operation twice may differ from running it once."""
    if op.signature is None or op.type in VARIABLES:
        return False
    return op.signature.is_stateful or any(
        argument.is_reference for argument in op.signature.inputs
    )


def _refuse(words: str) -> NoReturn:
    raise InvalidArgumentError(None, None, words)
