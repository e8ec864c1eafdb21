"""What can go wrong inside a kernel, and the words for it.

A kernel cannot raise: it writes one of these codes into the fault word (`set_fault` of kernel.py)
and returns; the plan stops after that instruction and `Program.run` raises the `Fault`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..plan.instruction import Branch, Instruction, Tag

INDEX_OUT_OF_RANGE = 1
DIVISION_BY_ZERO = 2
NOT_SORTED = 3
DUPLICATE_INDEX = 4
NEGATIVE_VALUE = 5
VALUE_OUT_OF_RANGE = 6
SHAPE_MISMATCH = 7
NOT_CONVERGED = 8

TEMPLATES = {
    INDEX_OUT_OF_RANGE: "indices must be in [0, {limit}), got {value} at position {i}",
    DIVISION_BY_ZERO: "division by zero at position {i}",
    NOT_SORTED: "values must not decrease, got {value} at position {i} after {limit}",
    DUPLICATE_INDEX: "indices must differ, got {value} again at position {i}",
    NEGATIVE_VALUE: "values must not be negative, got {value} at position {i}",
    VALUE_OUT_OF_RANGE: "values must be below {limit}, got {value} at position {i}",
    SHAPE_MISMATCH: "dimension {i} must be {limit}, got {value}",
    NOT_CONVERGED: "no result after {limit} steps at position {i}",
}


class Fault(Exception):
    """A kernel's complaint about the values it was given.

    Attributes:
        tag: what `Program.tag` was when the instruction was made.
        code: one of the constants of this module.
        i: where, usually the flat position of the offending element.
        value: the offending value.
        limit: what it was held against.
        instruction: the one that complained.
    """

    instruction: Instruction | Branch | None = None

    def __init__(self, tag: Tag, code: int, i: int, value: int, limit: int = 0) -> None:
        # Who catches it knows what the tags of his program are.
        self.tag: Any = tag  # pyright: ignore[reportExplicitAny]
        self.code, self.i, self.value, self.limit = code, i, value, limit
        words = TEMPLATES.get(code, "fault {code} at position {i}, value {value}, limit {limit}")
        super().__init__(words.format(code=code, i=i, value=value, limit=limit))
