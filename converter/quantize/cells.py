"""What recurrent cells keep and compute in which integers: a table, and where it does not hold.

A cell is one operator with a whole network inside: it has weights of two widths, biases on products
of scales, states that last, and tensors that only tell the scales of inner values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...schema.operators import known
from ...schema.tables import ACTIVATION_FUNCTION_TYPE
from ..ir.graph import Op, Tensor

if TYPE_CHECKING:
    from ..ir.graph import Graph
    from .scheme import Scheme

    SchemesOf = Callable[[Op], list[Scheme]]

GATES = ("input", "forget", "cell", "output")
RESULT, POWER_OF_TWO, SYMMETRIC = "result", "power of two", "symmetric"
"""Scales of states: that of the result, a power of two, that of the largest value."""
HIDDEN = 4
"""The intermediate tensor of what is projected."""
NORM_STEPS = 2**10
"""Steps of a bias in one of the coefficient of its layer norm."""
LEAST_CELL, MOST_CELL = 1.0, 64.0
"""What a cell state may reach at least and at most: kernels take the hyperbolic tangent of such."""


@dataclass(frozen=True)
class Product:
    """A bias on the product of some scales: of operands, and of an intermediate tensor."""

    operands: tuple[str, ...]
    intermediate: int | None = None
    steps: int = 1


@dataclass(frozen=True)
class Cell:
    """How the integer kernel of a recurrent operator takes its operands.

    Attributes:
        operands: whose row of the table of operators has their names.
        weights: operand -> its type; all are symmetric with one scale.
        reach: operand -> the largest integer that is used, where it is not that of the type.
        biases: operand -> the products that it may lie on; the first whose operands are there.
        states: operand -> its type and which scale.
        inner: intermediate tensor -> its type and the operand without which it tells nothing.
        stand_ins: intermediate tensor -> the one whose scale it has where it tells nothing: LiteRT
            reads it all the same, that of a gate that is coupled to another one.
        activation: the one that the kernel has.
    """

    operands: str
    weights: Mapping[str, str]
    biases: Mapping[str, tuple[Product, ...]]
    states: Mapping[str, tuple[str, str]]
    activation: str
    reach: Mapping[str, int] = field(default_factory=dict)
    inner: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    stand_ins: Mapping[int, int] = field(default_factory=dict)

    def position(self, name: str) -> int:
        """Where an operand is."""
        return known(self.operands).position(name)

    def operand(self, op: Op, name: str) -> Tensor | None:
        """An operand of `op`, None when it is left out."""
        return op.input(self.position(name))


LSTM = Cell(
    operands="UNIDIRECTIONAL_SEQUENCE_LSTM",
    weights={
        **{f"{source}_to_{gate}": "i8" for source in ("input", "recurrent") for gate in GATES},
        **{f"cell_to_{gate}": "i16" for gate in GATES if gate != "cell"},
        **{f"{gate}_norm": "i16" for gate in GATES},
        "projection": "i8",
    },
    biases={
        **{
            f"{gate}_bias": (
                Product((f"{gate}_norm",), steps=NORM_STEPS),
                Product(("x", f"input_to_{gate}")),
            )
            for gate in GATES
        },
        "projection_bias": (Product(("projection",), HIDDEN),),
    },
    states={"hidden_state": ("i8", RESULT), "cell_state": ("i16", POWER_OF_TWO)},
    activation="TANH",
    inner={
        **{i: ("i16", f"{gate}_norm") for i, gate in enumerate(GATES)},
        HIDDEN: ("i8", "projection"),
    },
    stand_ins={GATES.index("input"): GATES.index("forget")},
)
SVDF = Cell(
    operands="SVDF",
    weights={"feature": "i8", "time": "i16"},
    biases={"bias": (Product(("time", "state")),)},
    states={"state": ("i16", SYMMETRIC)},
    activation="RELU",
    reach={"time": 512},  # sums of products with the state stay in 32 bits
)
CELLS = {"LSTM": LSTM, "SVDF": SVDF, "UNIDIRECTIONAL_SEQUENCE_LSTM": LSTM}
"""Recurrent operators that LiteRT has an int8 kernel for."""


def limit_of_cell(op: Op) -> str | None:
    """Why the integer kernel cannot take a recurrent operator; None where it can."""
    cell, options = CELLS[op.kind], op.options
    if getattr(options, "kernel_type", 0):
        return "the cell with one matrix for all gates has no int8 kernel"
    if getattr(options, "diagonal_recurrent_tensors", False):
        return "diagonal recurrent weights have no int8 kernel"
    if options.fused_activation_function != ACTIVATION_FUNCTION_TYPE[cell.activation]:
        return f"its int8 kernel has no activation but {cell.activation}"
    for name in (*cell.weights, *cell.biases):
        tensor = cell.operand(op, name)
        if tensor is not None and not tensor.is_constant:
            return f"its {name} '{tensor.name}' is not constant"
    return None


def measured_results(
    graph: Graph, ranges: Mapping[Tensor, tuple[float, float]]
) -> dict[Tensor, tuple[float, float]]:
    """The ranges of results whose scale is also that of a state: the hull of both."""
    hulls = {}
    for op in graph.ops:
        if op.kind in CELLS and op.output in ranges:
            cell, (low, high) = CELLS[op.kind], ranges[op.output]
            for name, (_, kind) in cell.states.items():
                state = cell.operand(op, name)
                if kind == RESULT and state is not None and state in ranges:
                    low, high = min(low, ranges[state][0]), max(high, ranges[state][1])
            hulls[op.output] = low, high
    return hulls


def show_inner(graphs: Iterable[Graph], schemes_of: SchemesOf) -> None:
    """Gives recurrent operators the tensors whose scales their integer kernels want.

    They hold nothing; where they stand, a run that measures tensors measures inner values.

    Args:
        graphs: float graphs.
        schemes_of: the schemes in which an operator may work on integers.
    """
    for op in [op for graph in graphs for op in graph.ops]:
        if op.kind not in CELLS or op.intermediates or not is_quantized_cell(op, schemes_of):
            continue
        shape, dtype = (0,), np.dtype(np.float32)
        op.intermediates = tuple(
            Tensor(f"{op.output.name}/inner_{i}", dtype, shape) for i in CELLS[op.kind].inner
        )


def is_quantized_cell(op: Op, schemes_of: SchemesOf) -> bool:
    """Whether a recurrent operator may become one on integers."""
    return wants_int8(op, schemes_of) and limit_of_cell(op) is None


def wants_int8(op: Op, schemes_of: SchemesOf) -> bool:
    """Whether an operator is to work on int8 where it can."""
    return any(scheme.activations == "i8" for scheme in schemes_of(op))


def hide_inner(graph: Graph) -> None:
    """Takes the tensors for inner scales from operators that stay float."""
    for op in graph.ops:
        if op.kind in CELLS and op.intermediates and op.output.dtype == np.float32:
            op.intermediates = ()
