"""What a model keeps from call to call: variables that are written, and tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..ir.graph import Graph


class Table(NamedTuple):
    """A table that nobody writes once it is initialised."""

    keys: np.ndarray
    values: np.ndarray


class StateVariable(NamedTuple):
    """A variable that is an input of a frozen graph, after those of its computation.

    Attributes:
        name: of the variable.
        is_written: whether its new value is an output, after those of the computation.
    """

    name: str
    is_written: bool


@dataclass
class State:
    """What all computations of one model share.

    Attributes:
        variables: the first value of each variable that is written, by name.
        tables: the contents of tables, by name.
        initializer: the IR graph that sets them, once something was lowered that needs it.
        table_numbers: numbers of the tables that it fills, by name.
        assigned: the variables that it sets.
    """

    variables: dict[str, np.ndarray] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    initializer: Graph | None = None
    table_numbers: dict[str, int] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.variables or self.tables)
