"""A TFLite model as plain data: the parts of `Model`.

Operators refer to tensors by index, as in the file; whoever changes a graph does so in the
converter's IR. Options are the records of record.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields

import numpy as np

from .checks import SCHEMA_VERSION
from .quantization import Quantization as Quantization
from .record import Record, same


@dataclass(eq=False)
class _Plain:
    """Equality by content, arrays included."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))


@dataclass(eq=False)
class Tensor(_Plain):
    """A value of a subgraph.

    Attributes:
        name: As the file has it; need not be unique.
        shape: Sizes, an unknown one as 1.
        dtype: Name of a TensorType, such as "FLOAT32".
        data: The constant, or None: an array of the shape; for strings, sparse tensors and types
            that share bytes, the bytes of the file. `save` also takes arrays for strings and for
            types that share bytes. A constant without elements is not None.
        shape_signature: Sizes, an unknown one as -1; None when all are known.
        quantization: None for a tensor that is not quantized.
        is_variable: Whether the value lasts from one run to the next.
        sparsity: A SparsityParameters record, or None.
        has_rank: False when even the number of dimensions is unknown; `shape` is () then.
        variant_tensors: VariantSubType records: what a VARIANT or RESOURCE holds.
        external_buffer: `id` in Model.external_buffers of a constant in another file; 0 for none.
    """

    name: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = "FLOAT32"
    data: np.ndarray | bytes | None = None
    shape_signature: tuple[int, ...] | None = None
    quantization: Quantization | None = None
    is_variable: bool = False
    sparsity: Record | None = None
    has_rank: bool = True
    variant_tensors: tuple[Record, ...] = ()
    external_buffer: int = 0


@dataclass(eq=False)
class Operator(_Plain):
    """One step of a subgraph.

    Attributes:
        op: Name of a builtin operator, "CUSTOM" for one that `custom_code` names.
        inputs: Indices of tensors; -1 for an optional operand left out.
        outputs: Indices of tensors.
        options: The options record, None when there is none.
        version: Version of the operator, from 1.
        custom_code: Name of a custom operator.
        custom_options: Its options, in its own encoding.
        intermediates: Indices of tensors that hold the quantization of inner values.
        mutating_variable_inputs: Whether each input is written, None when none is.
        custom_options_format: A CustomOptionsFormat.
        debug_metadata_index: -1 for none.
    """

    op: str
    inputs: list[int]
    outputs: list[int]
    options: Record | None = None
    version: int = 1
    custom_code: str | None = None
    custom_options: bytes | None = None
    intermediates: list[int] = field(default_factory=list)
    mutating_variable_inputs: list[bool] | None = None
    custom_options_format: int = 0
    debug_metadata_index: int = -1


@dataclass(eq=False)
class Subgraph(_Plain):
    """A function: tensors, and operators in the order they run."""

    name: str = ""
    tensors: list[Tensor] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    operators: list[Operator] = field(default_factory=list)
    debug_metadata_index: int = -1


@dataclass(eq=False)
class Signature(_Plain):
    """A subgraph with named inputs and outputs: name -> index of a tensor."""

    key: str
    inputs: dict[str, int]
    outputs: dict[str, int]
    subgraph: int = 0


@dataclass(eq=False)
class Model(_Plain):
    """A whole file.

    Attributes:
        subgraphs: The first one is what an interpreter runs.
        description: Free text.
        signatures: Named ways to call subgraphs.
        metadata: Name -> bytes, for whoever knows the name.
        metadata_buffer: Bytes without a name, as in files from before there was metadata.
        external_buffers: ExternalBuffer records: constants in other files.
        external_buffer_groups: ExternalBufferGroup records: the names of those files.
        version: Version of the schema.
        associated_files: Name -> bytes of the files packed behind the model, such as labels.
    """

    subgraphs: list[Subgraph]
    description: str = ""
    signatures: list[Signature] = field(default_factory=list)
    metadata: dict[str, bytes] = field(default_factory=dict)
    metadata_buffer: list[bytes] = field(default_factory=list)
    external_buffers: list[Record] = field(default_factory=list)
    external_buffer_groups: list[Record] = field(default_factory=list)
    version: int = SCHEMA_VERSION
    associated_files: dict[str, bytes] = field(default_factory=dict)


def unique_names(names: Iterable[str]) -> list[str]:
    """A name for each tensor of a subgraph: its own, with its index where others have it, too.

    >>> unique_names(["x", "y", "y"])
    ['x', 'y#1', 'y#2']
    """
    listed = list(names)
    counts = Counter(listed)
    return [name if counts[name] == 1 else f"{name}#{i}" for i, name in enumerate(listed)]
