"""What each operator asks of the scales around it, by its row in schema/operators.py.

Operators whose row does not say how stay in float. Rules name roles; which types these have in a
file is a scheme's to say (scheme.py), and the types that there are kernels for the table's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ...schema.flatbuffer import options_class
from ...schema.operators import Operator, having, known
from ..ir.graph import Graph, Op, Tensor
from .cells import CELLS, MOST_CELL, Cell, limit_of_cell
from .scheme import INT8, Scheme, dtype_of

FLOAT32 = np.dtype(np.float32)
Limit = Callable[[Op], "str | None"]


@dataclass(frozen=True)
class Rule:
    """What an operator asks of the scales around it.

    Attributes:
        same_scale: float32 inputs and results share one scale and zero point.
        selects: it only moves or chooses elements, so that what is cut off of its results may be
            cut off of its inputs.
        result: the scale and zero point its results always have.
        weights: the input with the weights; they are symmetric.
        axis: the dimension of the weights that has a scale for each index; None for one scale.
        bias: the input with the bias, on the product of the scales of input and weights.
        data: the input that the weights are multiplied with.
        divisor: the input whose quantized numbers must not stand for 0.
        cell: of a recurrent operator, how its kernel takes what is within.
        limit: says why an operator of this kind has no kernel; None for those that have.
    """

    same_scale: bool = False
    selects: bool = False
    result: tuple[float, int] | None = None
    weights: int | None = None
    axis: int | None = None
    bias: int | None = None
    data: int = 0
    divisor: int | None = None
    cell: Cell | None = None
    limit: Limit | None = None


def constant_weights(op: Op) -> str | None:
    """Filters that are computed have no scale for each channel."""
    weights = op.inputs[1]
    return None if weights.is_constant else f"its filter '{weights.name}' is not constant"


def fewer_dimensions_than(limit: int) -> Limit:
    """The integer kernel broadcasts fewer dimensions than the float one."""

    def check(op: Op) -> str | None:
        ranks = [tensor.rank for tensor in op.present_inputs]
        if all(rank is not None and rank < limit for rank in ranks):
            return None
        return f"its inputs must have fewer than {limit} dimensions"

    return check


def reader_in_float(op: Op) -> str | None:
    """What an operator on float32 reads, such as a loop, is best made so."""
    float_reader = next((one for one in op.output.readers if one.kind not in RULES), None)
    if float_reader is None:
        return None
    return f"{float_reader.kind} reads it, which stays float"


LIMITS: dict[str, dict[str, Any]] = {
    "CONV_2D": {"limit": constant_weights},
    "DEPTHWISE_CONV_2D": {"limit": constant_weights},
    "FILL": {"limit": reader_in_float},
    "DIV": {"divisor": 1, "limit": fewer_dimensions_than(5)},
    "SQUARED_DIFFERENCE": {"limit": fewer_dimensions_than(5)},
    "TRANSPOSE_CONV": {"limit": constant_weights},
}
"""What the integer kernels of some operators cannot do."""
OPTIONS = {"i16": {kind: {"pot_scale_int16": False} for kind in ("ADD", "SUB")}}
"""Options of operators on a type of integers, without which a kernel expects other scales."""


RESCALES = {"u8": ("CONCATENATION",)}
"""Operators that other kernels want one scale of, and the kernel of a type takes several."""


def _rule(row: Operator, code: str) -> Rule:
    """What the table of operators says, and what limits a kernel."""
    weights, axis = row.operand_numbers("weights"), row.numbers("channels")
    is_linear = "linear" in row.traits
    return Rule(
        same_scale=scales_of_kernel(row, code) == "same",
        selects=not row.traits.isdisjoint(("moves", "selects")),
        result=row.scale_of(code),
        weights=weights[0] if weights else None,
        axis=axis[0] if axis else None,
        bias=row.position("bias") if is_linear else None,
        data=(row.position("x") if is_linear else None) or 0,
        **LIMITS.get(row.kind, {}),
    )


def scales_of_kernel(row: Operator, code: str) -> str:
    """Whether the kernels for a type of integers have scales of their `own` or the `same`."""
    if row.kind in RESCALES.get(code, ()):
        return "own"
    return (row.fact("int16") if code == "i16" else "") or row.fact("int8")


@cache
def rules_of(code: str) -> dict[str, Rule]:
    """The rules of the operators that have kernels for a type of integers."""
    rows = map(known, sorted(having("int8") | having("i8") | having("int16")))
    rules = {
        row.kind: _rule(row, code)
        for row in rows
        if (scales_of_kernel(row, code) or row.has("i8"))
        and (code == "i8" or has_kernel(row, f"q{code}"))
    }
    if code == "i8":
        rules |= {kind: Rule(cell=cell, limit=limit_of_cell) for kind, cell in CELLS.items()}
    return rules


def has_kernel(row: Operator, *codes: str) -> bool:
    """Whether a kernel takes operands of all these types, in some place each."""
    for combination in row.combinations:
        sets = (types for types in combination.operands if not isinstance(types, int))
        if combination.runs_here and frozenset(codes) <= frozenset().union(*sets):
            return True
    return False


def weights_code(kind: str, scheme: Scheme, code: str = "") -> str:
    """The type that the weights of an operator have in a scheme: int8 where there is no kernel.

    Args:
        kind: the operator.
        scheme: the scheme.
        code: the type that is wanted; empty for the scheme's.
    """
    data = "f32" if scheme.activations is None else f"q{scheme.activations}"
    code_or_default = code or scheme.weights
    return code_or_default if has_kernel(known(kind), data, f"q{code_or_default}") else "i8"


RULES = rules_of("i8")

FINER_IN_FLOAT = ("ELU", "SQRT")
"""Operators that TensorFlow leaves in float; at an end of the graph that costs nothing."""
NO_KERNEL = "TFLite has no"
"""How reasons begin that nothing can be done about."""
VARIABLES = ("READ_VARIABLE", "ASSIGN_VARIABLE")
"""Operators that take a variable as it is stored."""
DIVISORS = {
    **{kind: rule.divisor for kind, rule in RULES.items() if rule.divisor is not None},
    **dict.fromkeys(("FLOOR_DIV", "FLOOR_MOD"), 1),
}
"""Operators that divide, quantized or in float32 -> the input they divide by."""


@dataclass(frozen=True)
class WeightRule:
    """How an operator takes int8 weights while its other inputs are float32.

    Attributes:
        weights: the input with the weights.
        others: further inputs with weights, which are of the same type.
        axis: the dimension with a scale for each index; None for one scale.
        hybrid: whether a kernel multiplies float32 inputs with int8 weights; else the operator only
            moves them, and its result is made float32 by a DEQUANTIZE.
        asymmetric: whether the option `asymmetric_quantize_inputs` is set.
        limit: says why an operator of this kind has no hybrid kernel; None for those that have.
        by_channel: whether the hybrid kernel of an operator reads a scale for each channel, also
            where all are equal.
    """

    weights: int = 1
    others: tuple[int, ...] = ()
    axis: int | None = None
    hybrid: bool = True
    asymmetric: bool = False
    limit: Limit | None = None
    by_channel: Callable[[Op], bool] = lambda op: False


def merges_or_adds(op: Op) -> str | None:
    """LiteRT's hybrid kernel of plain cells in two directions reads memory that it does not own."""
    row = known(op.kind)
    if op.options.time_major and op.options.merge_outputs:
        return "LiteRT's hybrid kernel mixes up directions that are merged and time-major"
    if op.options.time_major and op.input(row.position("aux")) is not None:
        return "LiteRT's hybrid kernel mixes up the inputs of directions that are time-major"
    has_weights = any(op.input(row.position(name)) is not None for name in ("fw_aux", "bw_aux"))
    return "LiteRT's hybrid kernel takes no weights of the auxiliary input" if has_weights else None


HYBRID_LIMITS: dict[str, Limit] = {"BIDIRECTIONAL_SEQUENCE_RNN": merges_or_adds}
"""What the hybrid kernels of some operators cannot do."""
BY_CHANNEL: dict[str, Callable[[Op], bool]] = {
    "DEPTHWISE_CONV_2D": lambda op: True,
    "CONV_2D": lambda op: op.inputs[0].dims[-1] != op.inputs[1].dims[-1],
}
"""Operators for which LiteRT reads, beyond the end of a single scale, one for each channel."""


def _weight_rule(row: Operator) -> WeightRule:
    """What the table of operators says."""
    axis, options = row.numbers("channels"), options_class(row.kind)
    weights, *others = row.operand_numbers("hybrid")
    return WeightRule(
        weights=weights,
        others=tuple(others),
        axis=axis[0] if axis else None,
        asymmetric=hasattr(options, "asymmetric_quantize_inputs"),
        limit=HYBRID_LIMITS.get(row.kind),
        by_channel=BY_CHANNEL.get(row.kind, WeightRule.by_channel),
    )


WEIGHT_RULES: dict[str, WeightRule] = {
    **{kind: _weight_rule(known(kind)) for kind in sorted(having("hybrid"))},
    "EMBEDDING_LOOKUP": WeightRule(weights=1, axis=0),
    "GATHER": WeightRule(weights=0, hybrid=False),
}
"""Operators whose weights dynamic-range quantization makes int8."""


def is_float32(tensor: Tensor | None) -> bool:
    """Whether it holds float32 numbers."""
    return tensor is not None and tensor.dtype == FLOAT32


def rule_of(op: Op, scheme: Scheme = INT8) -> Rule | None:
    """The rule by which `op` is quantized in a scheme; None for one that stays as it is."""
    rule = rules_of(scheme.code).get(op.kind)
    if rule is None or not touches_float32(op) or writes_state(op):
        return None
    return rule if rule.limit is None or rule.limit(op) is None else None


def is_finer_in_float(op: Op, graph: Graph) -> bool:
    """Whether `op` at a float32 input or output of `graph` loses less in float, and no operator is
    more: a QUANTIZE or DEQUANTIZE stands on its other side then.
    """
    if op.kind not in FINER_IN_FLOAT:
        return False
    x, y = op.inputs[0], op.output
    is_first = x in graph.inputs and x.readers == [op]
    return is_first or (graph.is_output(y) and not y.readers)


def writes_state(op: Op) -> bool:
    """Whether `op` gives a variable, which its readers want as it is, or only what makes one."""
    known, ahead = {op}, deque([op])
    while ahead:  # all at the same distance first: what nobody reads is mostly near
        current = ahead.popleft()
        if any(tensor.is_variable for tensor in current.outputs):
            continue
        readers = [reader for tensor in current.outputs for reader in tensor.readers]
        if not readers:
            return False
        ahead += [reader for reader in readers if reader not in known]
        known.update(readers)
    return True


def touches_float32(op: Op) -> bool:
    """Whether an input or a result of `op` is float32."""
    return any(is_float32(tensor) for tensor in (*op.inputs, *op.outputs))


def nonfinite_constant(op: Op) -> Tensor | None:
    """A float32 constant of `op` with NaN or infinity, for which there is no scale."""
    constants = (t for t in op.present_inputs if is_float32(t) and t.is_constant)
    return next((tensor for tensor in constants if not np.isfinite(tensor.data).all()), None)


def reason_for_float(op: Op, size_dependent: Collection[Tensor] = (), scheme: Scheme = INT8) -> str:
    """Why `op` is not quantized, for a message; `size_dependent` depend on sizes alone."""
    tensors = (*op.present_inputs, *op.outputs)
    dependent = next((tensor for tensor in tensors if tensor in size_dependent), None)
    if dependent is not None:
        return f"'{dependent.name}' is computed from unknown sizes and has another range at each"
    if writes_state(op):
        return f"'{op.name}' is for the state of an operator that stays float32"
    rule = rules_of(scheme.code).get(op.kind)
    nonfinite = nonfinite_constant(op)
    if op.kind in VARIABLES:
        return "its variable stays float32; `variables` in a recipe makes it one of integers"
    if op.graphs:
        return "it hands float32 to the graphs that it calls"
    if rule is None and op.kind == "CUSTOM":
        return "it is a custom op"
    if rule is None:
        kernel = dtype_of(scheme.code).name
        if has_kernel(known(op.kind), f"q{scheme.code}"):  # that moves numbers, or knows no scales
            return f"as in TensorFlow it is not quantized; its {kernel} kernel knows no scales"
        return f"{NO_KERNEL} {kernel} kernel for it"
    if nonfinite is not None:
        return f"its constant '{nonfinite.name}' has NaN or infinity"
    if rule.limit is not None and (reason := rule.limit(op)) is not None:
        return reason
    if op.kind in FINER_IN_FLOAT:
        return "it stands at an end of the model that is float32, where integers would lose more"
    if rule.cell is not None:
        return f"a range within it is not known, or its cell state is above {MOST_CELL:g}"
    if rule.divisor is not None:
        return "it may divide by zero"
    if is_divisor(op):
        return "what it gives is a divisor, which its steps would round to zero"
    return "a range around it is not known, or it stands between operators in float"


def is_divisor(op: Op) -> bool:
    """Whether a result of `op`, or a sum with it, is divided by."""
    readers = [reader for tensor in op.outputs for reader in tensor.readers]
    return any(
        reader.input(DIVISORS[reader.kind]) in op.outputs
        if reader.kind in DIVISORS
        else reader.kind in ("ADD", "SUB") and is_divisor(reader)
        for reader in readers
    )
