"""A model file as the interpreter uses it: tensors, operators and signatures, read once."""

from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from ..engine.buffer import Storage
from ..schema import files, tables
from ..schema.dtypes import PACKED_BITS, numpy_dtype
from ..schema.errors import ModelError
from ..schema.flatbuffer import options_class, parse
from .node import Declared, Operand, Quantization

_NOTHING = np.empty(0, np.uint8)


class TensorSpec:
    """One tensor as the file declares it.

    Attributes:
        index: position in its subgraph.
        name, shape, dtype, quantization, sparsity, is_variable: as the file has them.
        signature: the shape with -1 for an unknown dimension.
        is_constant: whether the file holds its values.
    """

    __slots__ = (
        *("_data", "_operand", "dtype", "index", "is_constant", "is_variable", "name"),
        *("quantization", "shape", "signature", "sparsity", "type_name"),
    )

    def __init__(self, index: int, tensor: Any, data: np.ndarray | None):
        self.index = index
        self.name: str = tensor.name or ""
        self.shape = _ints(tensor.shape)
        self.signature = _ints(tensor.shape_signature) or self.shape
        self.dtype = numpy_dtype(tensor.type)
        self.type_name = tables.name_of("TensorType", tensor.type)
        self.quantization = _quantization(tensor.quantization)
        self.sparsity = tensor.sparsity
        self.is_variable: bool = tensor.is_variable
        self._data = _NOTHING if data is None else data
        self.is_constant = self._data.size > 0 and not self.is_variable
        self._operand: Operand | None = None

    @property
    def declared(self) -> Declared:
        """The tensor as an operator's output sees it."""
        return Declared(self.name, self.dtype, self.quantization, self.shape)

    def constant(self) -> Operand:
        """The operand of a constant tensor; the same one at each call."""
        if self._operand is None:
            self._operand = Operand.known(self._values(), self.name, self.quantization)
        return self._operand

    @property
    def value(self) -> np.ndarray:
        """The values of a constant tensor, read-only."""
        return np.asarray(self.constant().value)

    def initial(self) -> np.ndarray:
        """A new array with the values a variable tensor starts from."""
        if self._data.size:
            return self._values().copy()
        array = np.zeros(self.shape, self.dtype)
        if self.type_name == "INT8" and self.quantization is not None:
            array.fill(self.quantization.zero_point)
        return array

    def _values(self) -> np.ndarray:
        data = self._data
        if self.dtype.hasobject:
            return _strings(data, self)
        if self.type_name in PACKED_BITS:
            return _unpack(data, PACKED_BITS[self.type_name], self.dtype, self.shape)
        shape = self.shape
        if self.sparsity is not None:
            shape = (data.size // self.dtype.itemsize,)
        values = np.ndarray(shape, self.dtype, data)
        return values if values.flags.aligned else values.copy()


class OperatorSpec:
    """One operator: `kind` is the schema's name, or the custom code when `is_custom`."""

    __slots__ = (
        *("custom_options", "inputs", "intermediates", "is_custom", "kind", "options", "outputs"),
        *("position", "version"),
    )

    def __init__(self, position: int, record: Any, code: tuple[str, int, bool]):
        self.position = position
        self.kind, self.version, self.is_custom = code
        self.inputs = _ints(record.inputs)
        self.outputs = _ints(record.outputs)
        self.intermediates = _ints(record.intermediates)
        self.options: Any = record.builtin_options or record.builtin_options_2
        if self.options is None and not self.is_custom:
            default = options_class(self.kind)
            self.options = default() if default else None
        custom = record.custom_options
        self.custom_options = b"" if custom is None else bytes(custom)


class SignatureSpec:
    """A signature: argument and result names -> tensors of one subgraph."""

    __slots__ = ("inputs", "key", "outputs", "subgraph")

    def __init__(self, record: Any):
        self.key: str = record.signature_key or ""
        self.inputs = _by_name(record.inputs)
        self.outputs = _by_name(record.outputs)
        self.subgraph: int = record.subgraph_index


class SubgraphSpec:
    """Tensors and operators of one subgraph; operators are in the order they run.

    Attributes:
        folded: operator -> (storages of its constant inputs, results computed from them).
    """

    def __init__(self, index: int, record: Any, model: "LoadedModel"):
        self.index = index
        self.name: str = record.name or ""
        self.folded: dict[int, tuple[list[Storage | None], list[Operand]]] = {}
        self.inputs = _ints(record.inputs)
        self.outputs = _ints(record.outputs)
        buffers = model.record.buffers or ()
        self.tensors = tuple(
            TensorSpec(i, tensor, buffers[tensor.buffer].data if buffers else None)
            for i, tensor in enumerate(record.tensors or ())
        )
        self.operators = tuple(
            OperatorSpec(i, operator, model.codes[operator.opcode_index])
            for i, operator in enumerate(record.operators or ())
        )

    @cached_property
    def readers(self) -> dict[int, int]:
        """Tensor -> position of the last operator that reads it; outputs are read at the end."""
        last = {t: op.position for op in self.operators for t in op.inputs}
        last.update(dict.fromkeys(self.outputs, len(self.operators)))
        return last


class LoadedModel:
    """A verified model. The bytes of `content` stay referenced: constants are views of them."""

    def __init__(self, content: Any):
        self.content = content
        self.record = parse(content)
        self.codes = tuple(_code(code) for code in self.record.operator_codes or ())
        self._subgraphs: dict[int, SubgraphSpec] = {}

    @property
    def n_subgraphs(self) -> int:
        """How many subgraphs the file has."""
        return len(self.record.subgraphs)

    def subgraph(self, index: int) -> SubgraphSpec:
        """Subgraph `index`, read when it is first asked for."""
        spec = self._subgraphs.get(index)
        if spec is None:
            record = self.record.subgraphs[index]
            spec = self._subgraphs[index] = SubgraphSpec(index, record, self)
        return spec

    def release(self) -> None:
        """Gives back the memory of a mapped file, of which the engine has packed what it needs."""
        files.release(self.content)

    @cached_property
    def signatures(self) -> dict[str, SignatureSpec]:
        """The signatures by key, their names in alphabetical order as LiteRT lists them."""
        found = [SignatureSpec(record) for record in self.record.signature_defs or ()]
        return {signature.key: signature for signature in found}


def _ints(vector: Any) -> tuple[int, ...]:
    return () if vector is None else tuple(np.asarray(vector).tolist())


def _by_name(maps: Any) -> dict[str, int]:
    pairs = {entry.name or "": int(entry.tensor_index) for entry in maps or ()}
    return dict(sorted(pairs.items()))


def _quantization(record: Any) -> Quantization | None:
    if record is None or record.scale is None or not len(record.scale):
        return None
    scales = np.asarray(record.scale, np.float32)
    if record.zero_point is None or not len(record.zero_point):
        zero_points = np.zeros(len(scales), np.int64)
    else:
        zero_points = np.asarray(record.zero_point, np.int64)
    return Quantization(scales, zero_points, int(record.quantized_dimension))


def _code(record: Any) -> tuple[str, int, bool]:
    builtin = max(record.builtin_code, record.deprecated_builtin_code)
    kind = tables.name_of("BuiltinOperator", builtin)
    if kind == "CUSTOM":
        return record.custom_code or "", record.version, True
    return kind, record.version, False


def _strings(data: np.ndarray, tensor: TensorSpec) -> np.ndarray:
    from ..schema.strings import read_strings

    strings = read_strings(data)
    if len(strings) != prod(tensor.shape):
        raise ModelError(
            f"tensor {tensor.index} '{tensor.name}' of shape {tensor.shape} must have "
            f"{prod(tensor.shape)} strings, got {len(strings)}"
        )
    array = np.empty(len(strings), object)
    array[:] = strings
    return array.reshape(tensor.shape)


def _unpack(data: np.ndarray, bits: int, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Elements of `bits` bits, the low ones of a byte first, as one element for each byte."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    fields = (data[:, None] >> shifts) & ((1 << bits) - 1)
    fields = fields.reshape(-1)[: prod(shape)].astype(np.int8)
    if dtype.name.startswith("int"):
        sign = 1 << (bits - 1)
        fields = (fields ^ sign) - sign
    return fields.astype(dtype).reshape(shape)
