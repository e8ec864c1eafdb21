"""The graph with int8 tensors: operators that have a rule on stored numbers, the others on reals.

x:f32 -> CONV_2D -> y:f32 -> SIN -> z:f32        becomes

x:f32 -> QUANTIZE -> i8 -> CONV_2D -> y:i8 -> DEQUANTIZE -> f32 -> SIN -> z:f32
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from ...schema.errors import ConverterError
from ...schema.quantization import Quantization
from ..ir.builder import as_array
from ..ir.graph import Graph, Op, Tensor
from .ranges import Scales
from .recipe import Recipe
from .rules import Rule, endless_constant, is_real, reason_for_float, rule_of, touches_reals
from .scales import (
    as_uint8,
    fitting_bias,
    of_bias,
    of_constant,
    of_weights,
    stored,
    stored_bias,
    stored_weights,
)

REAL, INT8, UINT8 = np.dtype(np.float32), np.dtype(np.int8), np.dtype(np.uint8)
SHOWN = 8  # operators named in a message


def rewrite(graph: Graph, scales: Scales, recipe: Recipe) -> list[Op]:
    """Quantizes `graph` in place.

    Args:
        graph: a float graph.
        scales: the scales of its real tensors.
        recipe: types of inputs and outputs, kinds of weights with one scale.

    Returns:
        The operators on real numbers that stay as they are.
    """
    chosen = {op: rule for op in graph.ops if (rule := quantizable(op, scales)) is not None}
    float_ops = [op for op in graph.ops if op not in chosen and touches_reals(op)]
    work = _Rewriter(graph, scales, recipe.per_tensor)
    ops = list(graph.ops)
    work.inputs(recipe.input_type)
    for op in ops:
        if op in chosen:
            work.quantize(op, chosen[op])
        else:
            work.keep(op)
    work.outputs(recipe.output_type)
    return float_ops


def refuse_floats(float_ops: Iterable[Op], sized: Collection[Tensor] = ()) -> None:
    """Raises ConverterError listing the operators on real numbers that were not quantized.

    Args:
        float_ops: the operators.
        sized: tensors that depend on sizes alone.
    """
    by_kind: dict[str, list[Op]] = {}
    for op in float_ops:
        by_kind.setdefault(op.custom_code or op.kind, []).append(op)
    if not by_kind:
        return
    lines = [
        f"  {kind} x {len(ops)}, first for '{op.output.name}': {reason_for_float(op, sized)}"
        for kind, ops in list(by_kind.items())[:SHOWN]
        for op in ops[:1]
    ]
    if len(by_kind) > SHOWN:
        lines.append(f"  and {len(by_kind) - SHOWN} more kinds: {', '.join(list(by_kind)[SHOWN:])}")
    raise ConverterError(
        "TFLITE_BUILTINS_INT8 asks for int8 operators only, but these stay float:\n"
        + "\n".join(lines)
        + "\nAdd OpsSet.TFLITE_BUILTINS to target_spec.supported_ops to let them run in float."
    )


def quantizable(op: Op, scales: Scales) -> Rule | None:
    """The rule of `op` when the scales it needs are known, else None."""
    rule = rule_of(op)
    if rule is None:
        return None
    bias = op.input(rule.bias) if rule.bias is not None else None
    if bias is not None and not bias.is_constant:
        return None
    ready = all(
        tensor.is_constant or scales.of_input(op, i) is not None
        for i, tensor in enumerate(op.inputs)
        if is_real(tensor)
    ) and all(one in scales.of for one in op.outputs if is_real(one))
    refused = not ready or divides_by_zero(op, rule) or endless_constant(op) is not None
    return None if refused else rule


def divides_by_zero(op: Op, rule: Rule) -> bool:
    """Whether an element of a constant divisor would be stored as the number that stands for 0."""
    tensor = op.inputs[rule.divisor] if rule.divisor is not None else None
    if tensor is None or not tensor.is_constant:
        return False
    params = of_constant(tensor.data)
    return bool((stored(tensor.data, params) == params.zero_point).any())


class _Rewriter:
    """The graph half rewritten: which forms of each real tensor there are.

    Attributes:
        whole: tensors that hold stored numbers themselves.
        stored: (tensor, scale) -> its int8 form on that scale.
        real: tensor -> its real form.
    """

    def __init__(self, graph: Graph, scales: Scales, per_tensor: frozenset[str]) -> None:
        self.graph = graph
        self.scales = scales
        self.per_tensor = per_tensor
        self.whole: set[Tensor] = set()
        self.stored: dict[tuple[Tensor, Quantization], Tensor] = {}
        self.real: dict[Tensor, Tensor] = {}

    def inputs(self, dtype: np.dtype) -> None:
        """Gives the graph's real inputs another type."""
        for tensor in dict.fromkeys(self.graph.inputs):
            params = self.scales.of.get(tensor)
            if not is_real(tensor) or params is None:
                continue
            if dtype == REAL:
                self.real[tensor] = tensor
                continue
            if dtype == UINT8:
                tensor.dtype, tensor.quantization = UINT8, as_uint8(params)
                self.whole.add(tensor)
            else:
                self.give(tensor, params)

    def give(self, tensor: Tensor, params: Quantization) -> None:
        """Makes `tensor` itself an int8 one."""
        tensor.dtype, tensor.quantization = INT8, params
        tensor.value = None
        self.stored[tensor, params] = tensor
        self.whole.add(tensor)

    def quantize(self, op: Op, rule: Rule) -> None:
        """Lets `op` work on stored numbers."""
        done = self.put_weights(op, rule)
        for i, tensor in enumerate(op.inputs):
            if tensor is None or i in done:
                continue
            if tensor.is_constant and is_real(tensor):
                params = self.scales.required(op, i)
                op.set_input(i, constant(tensor, stored(tensor.data, params), params))
            elif tensor in self.whole or is_real(tensor):
                op.set_input(i, self.as_stored(tensor, self.scales.required(op, i), op))
        for i, tensor in enumerate(op.outputs):
            if is_real(tensor):
                self.put_result(op, i, tensor)

    def put_weights(self, op: Op, rule: Rule) -> tuple[int, ...]:
        """Stores constant weights and the bias; the positions that are done."""
        if rule.weights is None:
            return ()
        weights = op.inputs[rule.weights]
        bias = None if rule.bias is None else op.input(rule.bias)
        data = self.scales.required(op, rule.data)
        if not weights.is_constant:
            params = self.scales.required(op, rule.weights)
        else:
            params = of_weights(weights.data, None if op.kind in self.per_tensor else rule.axis)
            if bias is not None:
                params = fitting_bias(data, params, bias.data)
            array = stored_weights(weights.data, params)
            op.set_input(rule.weights, constant(weights, array, params))
        if bias is None or rule.bias is None:
            return (rule.weights,) if weights.is_constant else ()
        scale = of_bias(data, params)
        op.set_input(rule.bias, constant(bias, stored_bias(bias.data, scale), scale))
        return (rule.weights, rule.bias) if weights.is_constant else (rule.bias,)

    def put_result(self, op: Op, i: int, tensor: Tensor) -> None:
        """Makes result `i` an int8 tensor, requantized where the readers need another scale."""
        params, op_params = self.scales.of[tensor], self.scales.result(op, i)
        self.give(tensor, params)
        if op_params != params:
            inner = like(tensor, INT8, op_params, tensor.name)
            op.outputs[i] = inner
            inner.producer = op
            self.graph.insert_after(op, Op("QUANTIZE", [inner], [tensor], origin=op.origin))

    def keep(self, op: Op) -> None:
        """Lets `op` work on real numbers."""
        for i, tensor in enumerate(op.inputs):
            if tensor is not None and tensor in self.whole:
                op.set_input(i, self.as_real(tensor, op))
        for tensor in op.outputs:
            if is_real(tensor):
                self.real[tensor] = tensor

    def as_stored(self, tensor: Tensor, params: Quantization, reader: Op | None) -> Tensor:
        """`tensor` as int8 numbers on a scale, made before `reader` or at the end."""
        if (tensor, params) not in self.stored:
            result = like(tensor, INT8, params, tensor.name)
            self.place("QUANTIZE", tensor, result, reader)
            self.stored[tensor, params] = result
        return self.stored[tensor, params]

    def as_real(self, tensor: Tensor, reader: Op | None) -> Tensor:
        """`tensor` as real numbers, made before `reader` or at the end."""
        if tensor not in self.real:
            result = like(tensor, REAL, None, tensor.name)
            self.place("DEQUANTIZE", tensor, result, reader)
            self.real[tensor] = result
        return self.real[tensor]

    def place(self, kind: str, source: Tensor, result: Tensor, reader: Op | None) -> None:
        """Puts an operator that makes `result` of `source` before `reader`, or at the end."""
        op = Op(kind, [source], [result], origin=source.name)
        if reader is None:
            self.graph.append(op)
        else:
            self.graph.insert_before(reader, op)

    def outputs(self, dtype: np.dtype) -> None:
        """Gives the graph's real outputs the type `dtype`; their names stay."""
        before = list(self.graph.outputs)
        if self.graph.output_names is None:
            self.graph.output_names = [tensor.name for tensor in before]
        after = [self.output(tensor, dtype) for tensor in before]
        self.graph.outputs = after

    def output(self, tensor: Tensor, dtype: np.dtype) -> Tensor:
        """The form of an output that has the type asked for."""
        params = self.scales.of.get(tensor)
        if params is None and is_real(tensor) and tensor.is_constant and dtype != REAL:
            params = of_constant(tensor.data)
            tensor = constant(tensor, stored(tensor.data, params), params)
            self.whole.add(tensor)
            self.stored[tensor, params] = tensor
        if params is None:
            return tensor
        if dtype == REAL:
            return self.as_real(tensor, None) if tensor in self.whole else tensor
        if dtype == INT8:
            return self.as_stored(tensor, params, None)
        if tensor.dtype == UINT8:  # an input that leaves again
            return tensor
        result = like(tensor, UINT8, as_uint8(params), tensor.name)
        self.place("QUANTIZE", tensor, result, None)
        return result


def like(tensor: Tensor, dtype: np.dtype, params: Quantization | None, name: str) -> Tensor:
    """A tensor of the shape of another, for the same values in another form."""
    quantization = None if params is None else params
    return Tensor(name, dtype, tensor.sizes, origin=tensor.origin, quantization=quantization)


def constant(tensor: Tensor, array: np.ndarray, params: Quantization) -> Tensor:
    """A stored constant in the place of a real one."""
    array = as_array(array)
    return Tensor(tensor.name, array.dtype, array.shape, array, quantization=params)
