"""What LiteRT refuses, looked for in a graph before it is written: no such file leaves here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...schema.errors import ConverterError
from ...schema.operators import LEFT_OUT, TYPES, Operator, operator
from ...schema.tables import name_of
from .graph import Graph, Op
from .legal_types import code_of, runs_here

MAX_SHOWN = 5  # operators named, so that the message stays short


def check_runs(graphs: Iterable[Graph], in_litert: bool) -> None:
    """Raises ConverterError naming the operators of `graphs` that LiteRT, or flatlite, cannot run.

    Graphs that they call are looked at, too. The rules are rows of schema/operators.py.
    """
    reachable = dict.fromkeys(callee for graph in graphs for callee in graph.reachable())
    against = reason_against if in_litert else _reason_here
    reasons = {op: reason for graph in reachable for op in graph.ops if (reason := against(op))}
    if not reasons:
        return
    refusals = [f"{op.kind} '{op.origin or op.name}': {text}" for op, text in reasons.items()]
    refusal = "LiteRT would refuse" if any(map(runs_here, reasons)) else "flatlite cannot run"
    more = [f"and {len(refusals) - MAX_SHOWN} more"] if len(refusals) > MAX_SHOWN else []
    raise ConverterError(
        f"{refusal} the model; change these operations in the source:\n  "
        + "\n  ".join([*refusals[:MAX_SHOWN], *more])
    )


def _reason_here(op: Op) -> str:
    """Why flatlite has no kernel for `op`, empty when it has one."""
    if runs_here(op):
        return ""
    operands, results = list(map(code_of, op.inputs)), list(map(code_of, op.outputs))
    return f"flatlite has no kernel for ({_type_names(operands)}) -> {_type_names(results)}"


def reason_against(op: Op) -> str:
    """Why LiteRT refuses `op`, empty when it does not as far as is known."""
    row = operator(op.kind)
    if row is None:
        return ""
    minimum, maximum = row.counts
    n = len(op.inputs)
    if n < minimum or (maximum is not None and n > maximum):
        return f"it takes {_range(minimum, maximum)} operands, got {n}"
    for name, values in row.options.items():
        if getattr(op.options, name, None) not in values:
            names = " or ".join(name_of("TensorType", value) for value in values)
            return f"{name} must be {names}, got {getattr(op.options, name, None)}"
    operands, results = list(map(code_of, op.inputs)), list(map(code_of, op.outputs))
    types = f"({_type_names(operands)}) -> {_type_names(results)}"
    if here := _reason_here(op):
        return here
    if row.accepts(operands, results):
        return FURTHER[op.kind](op) if op.kind in FURTHER else ""
    return f"it has no kernel for {types}, only for {_accepted_types(row)}"


def _against_gather(op: Op) -> str:
    """Why LiteRT refuses a GATHER of these ranks."""
    x = op.inputs[0]
    if x is None or code_of(x) != "str" or x.rank == 1:
        return ""
    return f"strings must have one dimension, got {x.rank}"


FURTHER = {"GATHER": _against_gather}
"""What the table cannot say of operators."""


def _range(minimum: int, maximum: int | None) -> str:
    if maximum is None:
        return f"at least {minimum}"
    return str(minimum) if minimum == maximum else f"{minimum} to {maximum}"


def _accepted_types(row: Operator) -> str:
    """The types of the first operand that is not the same in all combinations, for a message."""
    for i, operand in enumerate(row.operands):
        type_sets = [combination.operands[i] for combination in row.combinations]
        types = {code for codes in type_sets if not isinstance(codes, int) for code in codes}
        if len(types) > 1:
            names = _type_names([code for code in _ORDER if code in types], " or ")
            return f"{operand.name} of {names}"
    return "others"


_ORDER = (*TYPES, *(f"q{code}" for code in TYPES))


def _type_names(codes: Sequence[str], separator: str = ", ") -> str:
    return separator.join(map(_type_name, codes))


def _type_name(code: str) -> str:
    """float32 for f32, int8 with scales for qi8."""
    if code == LEFT_OUT:
        return "nothing"
    name = TYPES[code.removeprefix("q")].lower()
    return f"{name} with scales" if code.startswith("q") else name
