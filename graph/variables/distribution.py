"""How copies of a variable would be kept alike: names that programs use; there is one copy here."""

from __future__ import annotations

import enum


class VariableSynchronization(enum.Enum):
    """When copies of a variable are made alike."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How the values of copies become one."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = ONLY_FIRST_REPLICA


def checked_synchronization(value: object, name: str | None = None) -> VariableSynchronization:
    """The member that is meant, AUTO for None; ValueError for anything else."""
    if value is None:
        return VariableSynchronization.AUTO
    if not isinstance(value, VariableSynchronization):
        raise ValueError(f"Invalid variable synchronization mode: {value} for variable: {name}")
    return value


def checked_aggregation(value: object, name: str | None = None) -> VariableAggregation:
    """The member that is meant, NONE for None; ValueError for anything else."""
    if value is None:
        return VariableAggregation.NONE
    if not isinstance(value, VariableAggregation):
        raise ValueError(f"Invalid variable aggregation mode: {value} for variable: {name}")
    return value
