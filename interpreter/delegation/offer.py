"""What a delegate is shown of a stage."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..plan.node import Node
    from .partition import Partition


class Offer(tuple["Node | Partition", ...]):
    """What runs, each after what it reads: operators, and partitions of delegates before.

    Attributes:
        readable: ids of the operands that must be readable afterwards.
    """

    readable: Collection[int]

    def __new__(cls, steps: Iterable[Node | Partition], readable: Collection[int]) -> Offer:
        """The steps as a tuple."""
        offer = super().__new__(cls, steps)
        offer.readable = readable
        return offer
