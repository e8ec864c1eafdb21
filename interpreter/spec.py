"""What a model declares: tensors, operators, signatures and subgraphs.

Nothing here knows the file: file_specs.py makes these from it, plan_cache.py from its entry.
"""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..engine.plan.buffer import CONSTANT, Storage, constant
from .plan.node import Operand, TensorDeclaration

if TYPE_CHECKING:
    from ..schema.flatbuffer import Record
    from ..schema.quantization import Quantization

NOTHING = np.empty(0, np.uint8)


class TensorSpec:
    """One tensor as the file declares it.

    Attributes:
        index: position in its subgraph.
        name, shape, dtype, quantization, sparsity, is_variable: as the file has them.
        signature: the shape with -1 for an unknown dimension; () where the file has none.
        type_name: the schema's name of its type.
        bits: of an element where that is less than a byte, else 0.
        is_constant: whether the file holds its values.
    """

    __slots__ = (
        *("_data", "_operand", "bits", "dtype", "index", "is_constant", "is_variable", "name"),
        *("quantization", "shape", "signature", "sparsity", "type_name"),
    )

    def __init__(
        self,
        index: int,
        name: str,
        shape: tuple[int, ...],
        signature: tuple[int, ...],
        dtype: np.dtype,
        type_name: str,
        bits: int = 0,
        quantization: Quantization | None = None,
        is_variable: bool = False,
        sparsity: Record | None = None,
        data: np.ndarray = NOTHING,
    ):
        self.index = index
        self.name = name
        self.shape, self.signature = shape, signature
        self.dtype, self.type_name, self.bits = dtype, type_name, bits
        self.quantization = quantization
        self.sparsity = sparsity
        self.is_variable = is_variable
        self._data = data
        self.is_constant = data.size > 0 and not is_variable
        self._operand: Operand | None = None

    @property
    def dimensions(self) -> tuple[int | None, ...]:
        """The shape, with None for a dimension that the signature leaves open."""
        return tuple(None if n < 0 else n for n in self.signature or self.shape)

    @property
    def byte_type(self) -> type[np.signedinteger] | type[np.unsignedinteger]:
        """The type in which users pass and get integers of less than eight bits."""
        return np.uint8 if self.type_name.startswith("U") else np.int8

    @property
    def declaration(self) -> TensorDeclaration:
        """The tensor as an operator's output sees it."""
        return TensorDeclaration(self.name, self.dtype, self.quantization, self.shape)

    @property
    def has_data(self) -> bool:
        """Whether the file holds its values, or those it starts from."""
        return self._data.size > 0

    def constant(self) -> Operand:
        """The operand of a constant tensor; the same one at each call."""
        if self._operand is None:
            self._operand = (
                self._packed()
                if self.bits
                else Operand.known(self._values(), self.name, self.quantization)
            )
        return self._operand

    def _packed(self) -> Operand:
        """The operand of a constant with several elements in a byte, unpacked when it has to be."""
        size = prod(self.shape) * self.dtype.itemsize

        def unpack() -> np.ndarray:
            return self._values().reshape(-1).view(np.uint8)

        storage = Storage(CONSTANT, size, None, self.name, self.dtype.itemsize, unpack)
        operand = Operand(self.dtype, self.shape, storage, 0, self.name, self.quantization)
        operand.packed = constant(self._data, self.name)
        return operand

    @property
    def value(self) -> np.ndarray:
        """The values of a constant tensor, read-only."""
        return np.asarray(self.constant().value)

    def initial(self) -> np.ndarray:
        """A new array with the values a variable tensor starts from."""
        if self._data.size:
            return self._values().copy()
        array = np.zeros(self.shape, self.dtype)
        quantization = self.quantization
        if self.type_name == "INT8" and quantization is not None and quantization.blocks is None:
            array.fill(quantization.zero_point)
        return array

    def _values(self) -> np.ndarray:
        data = self._data
        if self.dtype.hasobject:
            return self._strings()
        if self.bits:
            from ..schema.dtypes import unpacked

            return unpacked(data, self.bits, self.dtype, self.shape)
        if self.sparsity is not None:
            from ..schema.sparse import densify

            nonzeros = np.ndarray((data.size // self.dtype.itemsize,), self.dtype, data)
            return densify(nonzeros, self.sparsity, self.shape)
        values = np.ndarray(self.shape, self.dtype, data)
        return values if values.flags.aligned else values.copy()

    def _strings(self) -> np.ndarray:
        from ..schema.errors import ModelError
        from ..schema.strings import read_strings

        strings = read_strings(self._data)
        if len(strings) != prod(self.shape):
            raise ModelError(
                f"tensor {self.index} '{self.name}' of shape {self.shape} must have "
                f"{prod(self.shape)} strings, got {len(strings)}"
            )
        array = np.empty(len(strings), object)
        array[:] = strings
        return array.reshape(self.shape)


class OperatorSpec:
    """One operator: `kind` is the schema's name, or the custom code when `is_custom`."""

    __slots__ = (
        *("custom_options", "inputs", "intermediates", "is_custom", "kind", "options", "outputs"),
        *("position", "version"),
    )

    def __init__(
        self,
        position: int,
        code: tuple[str, int, bool],
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
        intermediates: tuple[int, ...],
        options: Record | None,
        custom_options: bytes,
    ):
        self.position = position
        self.kind, self.version, self.is_custom = code
        self.inputs, self.outputs, self.intermediates = inputs, outputs, intermediates
        self.options = options
        self.custom_options = custom_options


class SignatureSpec:
    """A signature: argument and result names -> tensors of one subgraph."""

    __slots__ = ("inputs", "key", "outputs", "subgraph")

    def __init__(self, key: str, inputs: dict[str, int], outputs: dict[str, int], subgraph: int):
        self.key, self.inputs, self.outputs, self.subgraph = key, inputs, outputs, subgraph


class SubgraphSpec:
    """Tensors and operators of one subgraph; operators are in the order they run.

    Attributes:
        folded: operator -> (storages of its constant inputs, results computed from them).
    """

    def __init__(
        self,
        index: int,
        name: str,
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
        tensors: tuple[TensorSpec, ...],
        operators: tuple[OperatorSpec, ...],
    ):
        self.index, self.name = index, name
        self.inputs, self.outputs = inputs, outputs
        self.tensors, self.operators = tensors, operators
        self.folded: dict[int, tuple[list[Storage | None], list[Operand]]] = {}

    @cached_property
    def variables(self) -> frozenset[int]:
        """The tensors that are variables."""
        return frozenset(t for t, tensor in enumerate(self.tensors) if tensor.is_variable)

    @cached_property
    def readers(self) -> dict[int, int]:
        """Tensor -> position of the last operator that reads it; outputs are read at the end."""
        last = {t: op.position for op in self.operators for t in op.inputs}
        last.update(dict.fromkeys(self.outputs, len(self.operators)))
        return last
