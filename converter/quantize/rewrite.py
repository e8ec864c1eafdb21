"""The graph with int8 tensors: operators that have a rule are quantized, the others stay float32.

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
from .rules import Rule, is_float32, nonfinite_constant, reason_for_float, rule_of, touches_float32
from .scales import (
    as_uint8,
    enlarged_for_bias,
    of_bias,
    of_constant,
    of_weights,
    quantized,
    quantized_bias,
    quantized_weights,
)

FLOAT32, INT8, UINT8 = np.dtype(np.float32), np.dtype(np.int8), np.dtype(np.uint8)
MAX_SHOWN = 8  # operators named in a message


def rewrite(graph: Graph, scales: Scales, recipe: Recipe) -> list[Op]:
    """Quantizes `graph` in place.

    Args:
        graph: a float graph.
        scales: the scales of its float32 tensors.
        recipe: types of inputs and outputs, kinds of weights with one scale.

    Returns:
        The operators on float32 numbers that stay as they are.
    """
    rules = {op: rule for op in graph.ops if (rule := quantizable(op, scales)) is not None}
    float_ops = [op for op in graph.ops if op not in rules and touches_float32(op)]
    rewriter = _Rewriter(graph, scales, recipe.per_tensor)
    ops = list(graph.ops)
    rewriter.inputs(recipe.input_type)
    for op in ops:
        if op in rules:
            rewriter.quantize(op, rules[op])
        else:
            rewriter.keep_float(op)
    rewriter.outputs(recipe.output_type)
    return float_ops


def refuse_floats(float_ops: Iterable[Op], size_dependent: Collection[Tensor] = ()) -> None:
    """Raises ConverterError listing the operators on float32 numbers that were not quantized.

    Args:
        float_ops: the operators.
        size_dependent: tensors that depend on sizes alone.
    """
    by_kind: dict[str, list[Op]] = {}
    for op in float_ops:
        by_kind.setdefault(op.custom_code or op.kind, []).append(op)
    if not by_kind:
        return
    lines = [
        f"  {kind} x {len(ops)}, first for '{ops[0].output.name}': "
        f"{reason_for_float(ops[0], size_dependent)}"
        for kind, ops in list(by_kind.items())[:MAX_SHOWN]
    ]
    if len(by_kind) > MAX_SHOWN:
        lines.append(
            f"  and {len(by_kind) - MAX_SHOWN} more kinds: {', '.join(list(by_kind)[MAX_SHOWN:])}"
        )
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
    has_scales = all(
        tensor.is_constant or scales.of_input(op, i) is not None
        for i, tensor in enumerate(op.inputs)
        if is_float32(tensor)
    ) and all(tensor in scales.of for tensor in op.outputs if is_float32(tensor))
    is_refused = not has_scales or divides_by_zero(op, rule) or nonfinite_constant(op) is not None
    return None if is_refused else rule


def divides_by_zero(op: Op, rule: Rule) -> bool:
    """Whether an element of a constant divisor would become the number that stands for 0."""
    tensor = op.inputs[rule.divisor] if rule.divisor is not None else None
    if tensor is None or not tensor.is_constant:
        return False
    params = of_constant(tensor.data)
    return bool((quantized(tensor.data, params) == params.zero_point).any())


class _Rewriter:
    """The graph half rewritten: which forms of each float32 tensor there are.

    Attributes:
        quantized: tensors that hold quantized numbers themselves.
        int8_forms: (tensor, scale) -> its int8 form on that scale.
        float_forms: tensor -> its float32 form.
    """

    def __init__(self, graph: Graph, scales: Scales, per_tensor: frozenset[str]) -> None:
        self.graph = graph
        self.scales = scales
        self.per_tensor = per_tensor
        self.quantized: set[Tensor] = set()
        self.int8_forms: dict[tuple[Tensor, Quantization], Tensor] = {}
        self.float_forms: dict[Tensor, Tensor] = {}

    def inputs(self, dtype: np.dtype) -> None:
        """Gives the graph's float32 inputs another type."""
        for tensor in dict.fromkeys(self.graph.inputs):
            params = self.scales.of.get(tensor)
            if not is_float32(tensor) or params is None:
                continue
            if dtype == FLOAT32:
                self.float_forms[tensor] = tensor
                continue
            if dtype == UINT8:
                tensor.dtype, tensor.quantization = UINT8, as_uint8(params)
                self.quantized.add(tensor)
            else:
                self.make_int8(tensor, params)

    def make_int8(self, tensor: Tensor, params: Quantization) -> None:
        """Makes `tensor` itself an int8 one."""
        tensor.dtype, tensor.quantization = INT8, params
        tensor.value = None
        self.int8_forms[tensor, params] = tensor
        self.quantized.add(tensor)

    def quantize(self, op: Op, rule: Rule) -> None:
        """Lets `op` work on quantized numbers."""
        weight_positions = self.quantize_weights(op, rule)
        for i, tensor in enumerate(op.inputs):
            if tensor is None or i in weight_positions:
                continue
            if tensor.is_constant and is_float32(tensor):
                params = self.scales.required(op, i)
                op.set_input(i, constant(tensor, quantized(tensor.data, params), params))
            elif tensor in self.quantized or is_float32(tensor):
                op.set_input(i, self.as_int8(tensor, self.scales.required(op, i), op))
        for i, tensor in enumerate(op.outputs):
            if is_float32(tensor):
                self.quantize_result(op, i, tensor)

    def quantize_weights(self, op: Op, rule: Rule) -> tuple[int, ...]:
        """Quantizes constant weights and the bias; their positions."""
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
                params = enlarged_for_bias(data, params, bias.data)
            array = quantized_weights(weights.data, params)
            op.set_input(rule.weights, constant(weights, array, params))
        if bias is None or rule.bias is None:
            return (rule.weights,) if weights.is_constant else ()
        scale = of_bias(data, params)
        op.set_input(rule.bias, constant(bias, quantized_bias(bias.data, scale), scale))
        return (rule.weights, rule.bias) if weights.is_constant else (rule.bias,)

    def quantize_result(self, op: Op, i: int, tensor: Tensor) -> None:
        """Makes result `i` an int8 tensor, requantized where the readers need another scale."""
        params, op_params = self.scales.of[tensor], self.scales.result(op, i)
        self.make_int8(tensor, params)
        if op_params != params:
            inner = like(tensor, INT8, op_params, tensor.name)
            op.outputs[i] = inner
            inner.producer = op
            self.graph.insert_after(op, Op("QUANTIZE", [inner], [tensor], origin=op.origin))

    def keep_float(self, op: Op) -> None:
        """Lets `op` work on float32 numbers."""
        for i, tensor in enumerate(op.inputs):
            if tensor is not None and tensor in self.quantized:
                op.set_input(i, self.as_float32(tensor, op))
        for tensor in op.outputs:
            if is_float32(tensor):
                self.float_forms[tensor] = tensor

    def as_int8(self, tensor: Tensor, params: Quantization, reader: Op | None) -> Tensor:
        """`tensor` as int8 numbers on a scale, made before `reader` or at the end."""
        if (tensor, params) not in self.int8_forms:
            result = like(tensor, INT8, params, tensor.name)
            self.insert("QUANTIZE", tensor, result, reader)
            self.int8_forms[tensor, params] = result
        return self.int8_forms[tensor, params]

    def as_float32(self, tensor: Tensor, reader: Op | None) -> Tensor:
        """`tensor` as float32 numbers, made before `reader` or at the end."""
        if tensor not in self.float_forms:
            result = like(tensor, FLOAT32, None, tensor.name)
            self.insert("DEQUANTIZE", tensor, result, reader)
            self.float_forms[tensor] = result
        return self.float_forms[tensor]

    def insert(self, kind: str, source: Tensor, result: Tensor, reader: Op | None) -> None:
        """Puts an operator that makes `result` of `source` before `reader`, or at the end."""
        op = Op(kind, [source], [result], origin=source.name)
        if reader is None:
            self.graph.append(op)
        else:
            self.graph.insert_before(reader, op)

    def outputs(self, dtype: np.dtype) -> None:
        """Gives the graph's float32 outputs the type `dtype`; their names stay."""
        before = list(self.graph.outputs)
        if self.graph.output_names is None:
            self.graph.output_names = [tensor.name for tensor in before]
        after = [self.output(tensor, dtype) for tensor in before]
        self.graph.outputs = after

    def output(self, tensor: Tensor, dtype: np.dtype) -> Tensor:
        """The form of an output that has the type asked for."""
        params = self.scales.of.get(tensor)
        if params is None and is_float32(tensor) and tensor.is_constant and dtype != FLOAT32:
            params = of_constant(tensor.data)
            tensor = constant(tensor, quantized(tensor.data, params), params)
            self.quantized.add(tensor)
            self.int8_forms[tensor, params] = tensor
        if params is None:
            return tensor
        if dtype == FLOAT32:
            return self.as_float32(tensor, None) if tensor in self.quantized else tensor
        if dtype == INT8:
            return self.as_int8(tensor, params, None)
        if tensor.dtype == UINT8:  # an input that leaves again
            return tensor
        result = like(tensor, UINT8, as_uint8(params), tensor.name)
        self.insert("QUANTIZE", tensor, result, None)
        return result


def like(tensor: Tensor, dtype: np.dtype, params: Quantization | None, name: str) -> Tensor:
    """A tensor of the shape of another, for the same values in another form."""
    return Tensor(name, dtype, tensor.sizes, origin=tensor.origin, quantization=params)


def constant(tensor: Tensor, array: np.ndarray, params: Quantization) -> Tensor:
    """A quantized constant in the place of a float32 one."""
    array = as_array(array)
    return Tensor(tensor.name, array.dtype, array.shape, array, quantization=params)
