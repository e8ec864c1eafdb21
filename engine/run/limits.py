"""Limits that a caller sets on what a model, or a run of a graph, may ask for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from math import prod
from numbers import Real


@dataclass(frozen=True)
class Limits:
    """What a model, or a run of a Session, may ask for at most; None for what every one may.

    Attributes:
        memory: bytes of all tensors of one program together, with results of constants and of
            unknown sizes that were made before it (3/4 of the memory left, at most 64 GiB).
        elements: elements of one tensor (2^31 - 1).
        tensors: of all subgraphs, or of the operations of a run, together (1,000,000).
        operators: of all subgraphs, or the operations of a run (1,000,000).
        subgraphs: of the file (10,000).
        file_bytes: of the file.
    """

    memory: int | None = None
    elements: int | None = None
    tensors: int | None = None
    operators: int | None = None
    subgraphs: int | None = None
    file_bytes: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
                raise TypeError(f"limits: {field.name} must be a whole number, got {value!r}")
            if value is not None and value < 0:
                raise ValueError(f"limits: {field.name} must not be negative, got {value}")


def checked_timeout(timeout: object) -> float:
    """Seconds that a run may take.

    Raises:
        TypeError: `timeout` is no number.
        ValueError: it is negative or NaN.
    """
    if isinstance(timeout, bool) or not isinstance(timeout, Real):
        raise TypeError(f"timeout must be a number of seconds, got {timeout!r}")
    seconds = float(timeout)
    if not seconds >= 0:
        raise ValueError(f"timeout must be a number of seconds, not negative, got {timeout}")
    return seconds


def over_limit(limit: int | None, amount: int, what: str, whose: str = "the model") -> str:
    """What to say of an amount above a limit, "" where it is within."""
    if limit is None or amount <= limit:
        return ""
    return f"limits: at most {limit:,} {what} are allowed, {whose} has {amount:,}"


def shape_over_limit(
    limits: Limits | None, name: str, shape: Iterable[int], whose: str = "the model"
) -> str:
    """What to say of a tensor with too many elements, "" where there are few enough."""
    if limits is None or limits.elements is None:
        return ""
    return over_limit(limits.elements, prod(map(int, shape)), f"elements in tensor '{name}'", whose)
