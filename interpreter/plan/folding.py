"""How much memory results may take that are computed before a model runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...engine.plan.arena import MemoryLimitError, check_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

MANY_BYTES = 1 << 28
GROWTH = 8


class FoldingBudget:
    """What the folded results of one model take together, and how much that may be.

    That is 256 MiB, or 8 times the constants of the file where these are larger, and never more
    than a caller's limit. What has no room is computed when the model runs, where it shares memory
    and a time limit holds.

    Args:
        constant_bytes: gives those of all constants of the model that were read.
    """

    def __init__(self, constant_bytes: Callable[[], int]):
        self._constant_bytes = constant_bytes
        self._sizes: dict[Hashable, int] = {}
        self.n_bytes = 0

    def has_room(self, name: Hashable, n_bytes: int, limit: int | None) -> bool:
        """Whether the results of an operator fit in with the others.

        Args:
            name: the operator's; it takes the place of its earlier results.
            n_bytes: of its results; 0 where they are not known or nothing is made.
            limit: bytes that all tensors may take; None for 3/4 of the memory left.
        """
        total = self.n_bytes - self._sizes.get(name, 0) + n_bytes
        if total > MANY_BYTES and total > GROWTH * self._constant_bytes():
            return False
        try:
            check_limit(total if limit is not None else n_bytes, limit)
        except MemoryLimitError:
            return False
        return True

    def take(self, name: Hashable, n_bytes: int) -> None:
        """Counts the results of an operator, in place of its earlier ones."""
        self.n_bytes += n_bytes - self._sizes.get(name, 0)
        self._sizes[name] = n_bytes
