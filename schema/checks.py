"""What must hold between the parts of a model for it to be loaded: indices, sizes, calls.

The reader has already proved that every field is where it says; here its value is held against the
rest of the model. `parse` and `save` both end here, so nothing is written that is not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from . import tables
from .dtypes import PACKED_BITS, TENSOR_TYPES
from .record import Record, options_class

if TYPE_CHECKING:
    from .errors import ModelError
    from .files import Content

SCHEMA_VERSION = 3
MAX_SUBGRAPHS = 10**4
MAX_CALL_DEPTH = 64
MAX_RANK = 32
MAX_ELEMENTS = 2**31 - 1
MAX_BYTES = 2**40
_WITHOUT_SIZE = frozenset(("STRING", "RESOURCE", "VARIANT"))


class Mistake(Exception):
    """What is wrong with a part of a model; whoever knows the part's place adds it."""


def check(model: Record, n_operands: int | None = None) -> None:
    """Raises ModelError unless the parts of a Model record agree with one another.

    Args:
        model: The record.
        n_operands: How many operands all operators together may name; None for any number.
    """
    if model.version != SCHEMA_VERSION:
        raise _refusal(
            f"Model provided is schema version {model.version} not equal to supported version"
            f" {SCHEMA_VERSION}."
        )
    if not model.subgraphs:
        raise _refusal("No subgraph in the model.")
    location = "model"
    try:
        if len(model.subgraphs) > MAX_SUBGRAPHS:
            raise Mistake(f"at most {MAX_SUBGRAPHS} subgraphs, got {len(model.subgraphs)}")
        operators = _Operators(model, n_operands)
        tensors = _Tensors(model)
        calls: list[set[int]] = []
        for index, subgraph in enumerate(model.subgraphs):
            location = f"subgraph {index}"
            constants = tensors.check(subgraph)
            calls.append(operators.check(subgraph, constants))
        location = "model"
        _check_calls(calls)
        _check_names(model)
    except Mistake as mistake:
        raise _refusal(f"{location}: {mistake}") from None


def _refusal(message: str) -> ModelError:
    from .errors import ModelError  # with the family of errors half a millisecond

    return ModelError(message)


def operator_name(code: Record) -> str:
    """The operator an OperatorCode names; raises KeyError for a number that is none."""
    return tables.name_of("BuiltinOperator", max(code.deprecated_builtin_code, code.builtin_code))


def _operators_of(codes: Iterable[Record]) -> list[str]:
    """Names of the operators that operator codes stand for."""
    names: list[str] = []
    for index, code in enumerate(codes):
        number = max(code.deprecated_builtin_code, code.builtin_code)
        if not 0 <= number < len(tables.BUILTIN_OPERATOR):
            raise Mistake(
                f"operator code {index}: Op builtin_code out of range: {number}. Are you using an"
                f" old flatlite with a newer model? It has {len(tables.BUILTIN_OPERATOR)}"
            )
        names.append(operator_name(code))
        if names[-1] == "CUSTOM" and not code.custom_code:
            raise Mistake(
                f"operator code {index}: Operator with CUSTOM builtin_code has no custom_code."
            )
    return names


class _Tensors:
    """Checks tensors against the buffers of a model."""

    def __init__(self, model: Record) -> None:
        self.buffers = [b"" if b.data is None else b.data for b in model.buffers or ()]
        self.external = {buffer.id for buffer in model.external_buffers or ()}
        self.strings: dict[int, int] = {}

    def check(self, subgraph: Record) -> set[int]:
        """Raises Mistake, naming the tensor, for the first wrong one; those that are constant."""
        tensors = subgraph.tensors or ()
        constants: set[int] = set()
        index = 0
        try:
            for index, tensor in enumerate(tensors):
                if self.check_tensor(tensor, len(tensors)):
                    constants.add(index)
        except (Mistake, type(_refusal(""))) as mistake:
            name = tensors[index].name or ""
            raise Mistake(f"tensor {index} '{name:.99}': {mistake}") from None
        _check_range("input", subgraph.inputs, 0, len(tensors))
        _check_range("output", subgraph.outputs, 0, len(tensors))
        return constants

    def check_tensor(self, tensor: Record, n_tensors: int) -> bool:
        """Raises Mistake if shape, data, quantization or storage are wrong; whether constant."""
        type_name, itemsize, bits = _element(tensor.type)
        shape = _numbers(tensor.shape)
        n_elements = _count(shape)
        size = n_elements * itemsize if bits is None else (n_elements * bits + 7) // 8
        if size > MAX_BYTES:
            raise Mistake(f"shape {shape} must take at most {MAX_BYTES} bytes, got {size}")
        signature = _numbers(tensor.shape_signature)
        if signature and (len(signature) != len(shape) or min(signature) < -1):
            raise Mistake(f"shape_signature {signature[:9]} does not describe the shape {shape}")
        if tensor.buffer >= len(self.buffers) and tensor.buffer:
            raise Mistake(f"buffer must be in [0, {len(self.buffers)}), got {tensor.buffer}")
        if tensor.external_buffer and tensor.external_buffer not in self.external:
            raise Mistake(f"external_buffer {tensor.external_buffer} does not exist")
        if tensor.quantization is not None:
            _check_quantization(tensor.quantization, shape, n_tensors)
        data = self.buffers[tensor.buffer] if tensor.buffer else b""
        if tensor.sparsity is not None:
            from .sparse import check_sparsity

            n_values = check_sparsity(tensor.sparsity, shape)
            size = n_values * itemsize if bits is None else (n_values * bits + 7) // 8
        n_bytes = memoryview(data).nbytes
        if not n_bytes:
            return False
        if type_name == "STRING":
            self.check_strings(tensor.buffer, data, n_elements)
        elif type_name not in _WITHOUT_SIZE and n_bytes != size:
            raise Mistake(
                f"{type_name} of shape {shape} needs {size} bytes, but buffer"
                f" {tensor.buffer} has {n_bytes}"
            )
        return not tensor.is_variable

    def check_strings(self, index: int, data: Content, n_elements: int) -> None:
        """Raises Mistake unless a buffer holds that many strings; looks at each buffer once."""
        if index not in self.strings:
            from .strings import check_strings

            self.strings[index] = check_strings(data)
        if self.strings[index] != n_elements:
            raise Mistake(
                f"{n_elements} strings are needed, but buffer {index} has {self.strings[index]}"
            )


@cache
def _element(tensor_type: int) -> tuple[str, int, int | None]:
    """Name, bytes and, if packed, bits of an element."""
    name = tables.name_of("TensorType", tensor_type)
    bits = PACKED_BITS.get(name)
    return name, 1 if bits else TENSOR_TYPES[name].itemsize, bits


def _numbers(vector: np.ndarray | Iterable[int] | None) -> list[int]:
    """A vector as a list, empty when absent."""
    if vector is None:
        return []
    return vector.tolist() if isinstance(vector, np.ndarray) else list(vector)


def _count(shape: list[int]) -> int:
    """Number of elements of a shape."""
    if len(shape) > MAX_RANK:
        raise Mistake(f"rank must be at most {MAX_RANK}, got {len(shape)}")
    count = 1
    for size in shape:
        if size < 0:
            raise Mistake(f"dimensions must not be negative, got {shape}")
        count *= size
    if count > MAX_ELEMENTS:
        raise Mistake(f"shape {shape} must have at most {MAX_ELEMENTS} elements, got {count}")
    return count


def _check_quantization(quantization: Record, shape: list[int], n_tensors: int) -> None:
    """Raises Mistake if scales, zero points and dimension do not fit one another and the shape."""
    details = quantization.details
    for name in ("scales", "zero_points") if details is not None else ():
        index = getattr(details, name, -1)
        if not -1 <= index < n_tensors:
            raise Mistake(f"quantization {name} must be a tensor below {n_tensors}, got {index}")
    n_scales = _length(quantization.scale)
    n_zero_points = _length(quantization.zero_point)
    if not n_scales:
        return
    if n_zero_points not in (0, n_scales):
        raise Mistake(
            f"QuantizationParam has {n_zero_points} zero_point values and {n_scales} scale values."
            " Must have same number."
        )
    axis = quantization.quantized_dimension
    if axis < 0 or (shape and axis >= len(shape)):
        raise Mistake(f"quantized_dimension must be in [0, {len(shape)}), got {axis}")
    if n_scales > 1 and (not shape or shape[axis] != n_scales):
        raise Mistake(f"{n_scales} scales do not fit dimension {axis} of the shape {shape}")


def _length(vector: np.ndarray | Sized | None) -> int:
    """Elements of a vector, 0 when absent."""
    return 0 if vector is None else len(vector)


class _Operators:
    """Checks operators against the tensors of their subgraph; knows how many operands are left."""

    def __init__(self, model: Record, n_operands: int | None) -> None:
        self.names = _operators_of(model.operator_codes or ())
        self.n_subgraphs = len(model.subgraphs)
        self.left = n_operands

    def check(self, subgraph: Record, constants: set[int]) -> set[int]:
        """Raises Mistake, naming the operator, for the first wrong one; the subgraphs called."""
        n_tensors = len(subgraph.tensors or ())
        calls: set[int] = set()
        location = ""
        try:
            for index, operator in enumerate(subgraph.operators or ()):
                location = f"operator {index}"
                op = self.name(operator.opcode_index)
                location = f"operator {index} ({op})"
                self.check_operands(operator, op, n_tensors, constants)
                _check_options(operator, op)
                calls.update(_called(operator, self.n_subgraphs))
        except Mistake as mistake:
            raise Mistake(f"{location}: {mistake}") from None
        return calls

    def name(self, index: int) -> str:
        """The operator at an index of the operator codes."""
        if index >= len(self.names):
            raise Mistake(f"opcode_index must be in [0, {len(self.names)}), got {index}")
        return self.names[index]

    def check_operands(
        self, operator: Record, op: str, n_tensors: int, constants: set[int]
    ) -> None:
        """Raises Mistake if an operand does not exist, or a result cannot be written."""
        if self.left is not None:
            for operands in (operator.inputs, operator.outputs, operator.intermediates):
                self.left -= _length(operands)
            if self.left < 0:
                raise Mistake("the operators name more operands than the file has room for")
        inputs = _check_range("input", operator.inputs, -1, n_tensors)
        outputs = _check_range("output", operator.outputs, 0, n_tensors)
        _check_range("intermediate", operator.intermediates, 0, n_tensors)
        if not constants.isdisjoint(outputs):
            raise Mistake(f"tensor {min(constants.intersection(outputs))} is written but constant")
        if op != "CUSTOM" and not set(inputs).isdisjoint(outputs):
            both = min(set(inputs).intersection(outputs))
            raise Mistake(f"tensor {both} must not be input and output at once")


def _check_range(
    name: str, values: np.ndarray | Iterable[int] | None, low: int, limit: int
) -> list[int]:
    """The values as a list; raises Mistake if one is not in [low, limit)."""
    numbers = _numbers(values)
    if numbers and not (low <= min(numbers) and max(numbers) < limit):
        wrong = next(i for i, number in enumerate(numbers) if not low <= number < limit)
        raise Mistake(f"{name} {wrong} must be a tensor in [{low}, {limit}), got {numbers[wrong]}")
    return numbers


def _check_options(operator: Record, op: str) -> None:
    """Raises Mistake if an operator carries the options of another one."""
    first, second = operator.builtin_options, operator.builtin_options_2
    if first is None and second is None:
        return
    if first is not None and second is not None:
        raise Mistake(f"has two options, {first} and {second}")
    options = second if first is None else first
    expected = options_class(op)
    if expected is not None and type(options) is not expected:
        raise Mistake(f"options must be {expected.__name__}, got {type(options).__name__}")


@cache
def _call_fields(table: str) -> tuple[str, ...]:
    """Fields of an options table that name subgraphs."""
    names = [name for name, *_ in tables.TABLES[table]]
    return tuple(name for name in names if "subgraph" in name)


def _called(operator: Record, n_subgraphs: int) -> Iterator[int]:
    """The subgraphs an operator calls."""
    options = operator.builtin_options
    if options is None:
        options = operator.builtin_options_2
    if options is None:
        return
    for field in _call_fields(type(options).__name__):
        value = getattr(options, field)
        for index in [value] if isinstance(value, int) else _numbers(value):
            if not 0 <= index < n_subgraphs:
                raise Mistake(f"{field} must be in [0, {n_subgraphs}), got {index}")
            yield index


def _check_calls(calls: list[set[int]]) -> None:
    """Raises Mistake if subgraphs call one another in a circle, or more than 64 deep."""
    callers = [0] * len(calls)
    for callees in calls:
        for index in callees:
            callers[index] += 1
    depth = [1] * len(calls)
    ready = [index for index, count in enumerate(callers) if count == 0]
    n_done = 0
    while ready:
        index = ready.pop()
        n_done += 1
        if depth[index] > MAX_CALL_DEPTH:
            raise Mistake(f"subgraph {index} is called more than {MAX_CALL_DEPTH} deep")
        for called in calls[index]:
            depth[called] = max(depth[called], depth[index] + 1)
            callers[called] -= 1
            if callers[called] == 0:
                ready.append(called)
    if n_done < len(calls):
        circle = [index for index, count in enumerate(callers) if count][:8]
        raise Mistake(f"subgraphs {circle} call one another in a circle")


def _check_names(model: Record) -> None:
    """Raises Mistake if metadata, signatures or external buffers name what does not exist."""
    n_buffers = len(model.buffers or ())
    for entry in model.metadata or ():
        if entry.buffer >= n_buffers:
            raise Mistake(
                f"metadata {entry.name!r:.99}: buffer must be in [0, {n_buffers}),"
                f" got {entry.buffer}"
            )
    for index in _numbers(model.metadata_buffer):
        if not 0 <= index < n_buffers:
            raise Mistake(f"metadata_buffer must be in [0, {n_buffers}), got {index}")
    n_groups = len(model.external_buffer_groups or ())
    for buffer in model.external_buffers or ():
        if buffer.group >= n_groups:
            raise Mistake(
                f"external buffer {buffer.id}: group must be in [0, {n_groups}), got {buffer.group}"
            )
    for signature in model.signature_defs or ():
        limit = len(model.subgraphs)
        location = f"signature {signature.signature_key!r:.99}"
        if signature.subgraph_index >= limit:
            raise Mistake(
                f"{location}: subgraph_index must be in [0, {limit}),"
                f" got {signature.subgraph_index}"
            )
        wrong = wrong_entry(model, signature)
        if wrong:
            raise Mistake(f"{location}: {wrong}")


def wrong_entry(model: Record, signature: Record) -> str:
    """What is wrong with the first input or output that names no tensor; empty for nothing."""
    n_tensors = len(model.subgraphs[signature.subgraph_index].tensors or ())
    for entry in (*(signature.inputs or ()), *(signature.outputs or ())):
        if entry.tensor_index >= n_tensors:
            return (
                f"{entry.name!r:.99} must be a tensor in [0, {n_tensors}), got {entry.tensor_index}"
            )
    return ""


def leave_out_stale_signatures(model: Record) -> None:
    """Takes from a file that was read the signatures that name tensors it no longer has.

    TensorFlow's modify_model_interface takes tensors out of a file and leaves its signatures as
    they were; LiteRT runs such a file by positions. A warning says what is left out.
    """
    signatures, n_subgraphs = model.signature_defs or (), len(model.subgraphs or ())
    stale = {
        index: wrong
        for index, signature in enumerate(signatures)
        if signature.subgraph_index < n_subgraphs and (wrong := wrong_entry(model, signature))
    }
    if not stale:
        return
    import warnings  # for files that few have

    model.signature_defs = tuple(s for i, s in enumerate(signatures) if i not in stale)
    for index, wrong in stale.items():
        warnings.warn(
            f"signature {signatures[index].signature_key!r:.99} is left out: {wrong}; the file was"
            " changed after it was written. Inputs and outputs go by position (get_input_details)",
            RuntimeWarning,
            stacklevel=3,
        )
