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
