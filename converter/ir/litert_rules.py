"""What LiteRT refuses, looked for in a graph before it is written: no such file leaves here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...schema.errors import ConverterError
from ...schema.operators import LEFT_OUT, TYPES, Operator, operator
from ...schema.tables import name_of
from .graph import Graph, Op
from .legal_types import code_of, runs_here

SHOWN = 5  # operators named, so that the message stays short


def check_runs_in_litert(graphs: Iterable[Graph]) -> None:
    """Raises ConverterError naming the operators of `graphs` that LiteRT has no kernel for.

    Graphs that they call are looked at, too. The rules are rows of schema/operators.py.
    """
    every = dict.fromkeys(one for graph in graphs for one in graph.reachable())
    reasons = {op: reason for graph in every for op in graph.ops if (reason := reason_against(op))}
    if not reasons:
        return
    refusals = [
        f"{op.kind} '{op.origin or op.output.name}': {text}" for op, text in reasons.items()
    ]
    is_theirs = any(map(runs_here, reasons))
    more = [f"and {len(refusals) - SHOWN} more"] if len(refusals) > SHOWN else []
    raise ConverterError(
        f"{'LiteRT would refuse' if is_theirs else 'flatlite cannot run'} the model; change these "
        "operations in the source:\n  " + "\n  ".join([*refusals[:SHOWN], *more])
    )


def reason_against(op: Op) -> str:
    """Why LiteRT refuses `op`, empty when it does not as far as is known."""
    row = operator(op.kind)
    if row is None:
        return ""
    least, most = row.counts
    n = len(op.inputs)
    if n < least or (most is not None and n > most):
        return f"it takes {_range(least, most)} operands, got {n}"
    for name, values in row.options.items():
        if getattr(op.options, name, None) not in values:
            names = " or ".join(name_of("TensorType", value) for value in values)
            return f"{name} must be {names}, got {getattr(op.options, name, None)}"
    operands, results = list(map(code_of, op.inputs)), list(map(code_of, op.outputs))
    types = f"({_words(operands)}) -> {_words(results)}"
    if not runs_here(op):
        return f"flatlite has no kernel for {types}"
    if row.accepts(operands, results):
        return FURTHER[op.kind](op) if op.kind in FURTHER else ""
    return f"it has no kernel for {types}, only for {_choices(row)}"


def _against_gather(op: Op) -> str:
    """Why LiteRT refuses a GATHER of these ranks."""
    x = op.inputs[0]
    if x is None or code_of(x) != "str" or x.rank == 1:
        return ""
    return f"strings must have one dimension, got {x.rank}"


FURTHER = {"GATHER": _against_gather}
"""What the table cannot say of operators."""


def _range(least: int, most: int | None) -> str:
    if most is None:
        return f"at least {least}"
    return str(least) if least == most else f"{least} to {most}"


def _choices(row: Operator) -> str:
    """The types of the first operand that is not the same in all combinations, for a message."""
    for i, place in enumerate(row.operands):
        sets = [one.operands[i] for one in row.combinations]
        types = {code for one in sets if not isinstance(one, int) for code in one}
        if len(types) > 1:
            return f"{place.name} of {_words([code for code in _ORDER if code in types], ' or ')}"
    return "others"


_ORDER = (*TYPES, *(f"q{code}" for code in TYPES))


def _words(codes: Sequence[str], between: str = ", ") -> str:
    return between.join(map(_word, codes))


def _word(code: str) -> str:
    """float32 for f32, int8 with scales for qi8."""
    if code == LEFT_OUT:
        return "nothing"
    name = TYPES[code.removeprefix("q")].lower()
    return f"{name} with scales" if code.startswith("q") else name
