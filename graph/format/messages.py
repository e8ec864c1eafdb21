"""The messages of schema/proto that graphs are read from and written to, for annotations.

protobuf makes their classes when they are asked for, so no checker sees them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    pass

Item = TypeVar("Item")


class FieldDescriptor(Protocol):
    """What is known of a field."""

    name: str


class Message(Protocol):
    """What all messages have."""

    def SerializeToString(self, *, deterministic: bool = ...) -> bytes: ...
    def WhichOneof(self, oneof_group: str) -> str | None: ...
    def HasField(self, field_name: str) -> bool: ...
    def ListFields(self) -> list[tuple[FieldDescriptor, object]]: ...
    def SetInParent(self) -> None: ...
    def Clear(self) -> None: ...
    def CopyFrom(self, other_msg: Message) -> None: ...


class Repeated(Protocol[Item]):
    """A repeated field; `add` is there where the items are messages, and takes their fields."""

    def __iter__(self) -> Iterator[Item]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Item: ...
    def __setitem__(self, index: int, value: Item) -> None: ...
    def append(self, value: Item) -> None: ...
    def extend(self, values: Iterable[Item]) -> None: ...
    def add(self, **fields: str | int) -> Item: ...
    def __delitem__(self, index: slice, /) -> None: ...


class Dim(Message, Protocol):
    """One size of a TensorShapeProto."""

    size: int


class TensorShapeProto(Message, Protocol):
    """A shape."""

    dim: Repeated[Dim]
    unknown_rank: bool


class SnapshotMetadata(Message, Protocol):
    """What a folder of elements says of itself."""

    graph_hash: str
    run_id: str
    creation_timestamp: int
    version: int
    dtype: Repeated[int]
    num_elements: int
    finalized: bool


class TensorProto(Message, Protocol):
    """A constant; the fields for elements of the several types are taken by name."""

    dtype: int
    tensor_shape: TensorShapeProto
    tensor_content: bytes
    string_val: Repeated[bytes]
    float8_val: bytes


class ListValue(Message, Protocol):
    """A list in an attribute; other fields are taken by name."""

    s: Repeated[bytes]
    type: Repeated[int]
    shape: Repeated[TensorShapeProto]
    func: Repeated[NameAttrList]


class AttrValueMessage(Message, Protocol):
    """The value of an attribute; see core/attributes.py."""

    list: ListValue
    placeholder: str
    type: int
    i: int
    s: bytes
    shape: TensorShapeProto
    tensor: TensorProto
    func: NameAttrList


class NameAttrList(Message, Protocol):
    """A function with the attributes it is called with."""

    name: str
    attr: MutableMapping[str, AttrValueMessage]


class NodeDef(Message, Protocol):
    """One operation."""

    name: str
    op: str
    device: str
    input: Repeated[str]
    attr: MutableMapping[str, AttrValueMessage]


class ArgDef(Message, Protocol):
    """One argument or result of an operation."""

    name: str
    type: int
    type_attr: str
    number_attr: str
    type_list_attr: str
    is_ref: bool


class AttrDef(Message, Protocol):
    """One attribute of an operation."""

    name: str
    type: str
    default_value: AttrValueMessage


class OpDef(Message, Protocol):
    """The signature of an operation or a function."""

    name: str
    input_arg: Repeated[ArgDef]
    output_arg: Repeated[ArgDef]
    control_output: Repeated[str]
    attr: Repeated[AttrDef]
    is_stateful: bool


class OpList(Message, Protocol):
    """Signatures of operations."""

    op: Repeated[OpDef]


class FunctionDef(Message, Protocol):
    """A function: its signature, its nodes, and which of their outputs it gives."""

    signature: OpDef
    attr: MutableMapping[str, AttrValueMessage]
    node_def: Repeated[NodeDef]
    ret: MutableMapping[str, str]
    control_ret: MutableMapping[str, str]


class GradientDef(Message, Protocol):
    """Which function is the gradient of which."""

    function_name: str
    gradient_func: str


class FunctionDefLibrary(Message, Protocol):
    """The functions that the nodes of a graph call."""

    function: Repeated[FunctionDef]
    gradient: Repeated[GradientDef]


class VersionDef(Message, Protocol):
    """Which version wrote a graph."""

    producer: int
    min_consumer: int


class GraphDef(Message, Protocol):
    """A graph."""

    node: Repeated[NodeDef]
    library: FunctionDefLibrary
    versions: VersionDef


class SaveSliceInfoDef(Message, Protocol):
    """Which part of a larger variable a variable is."""

    full_name: str
    full_shape: Repeated[int]
    var_offset: Repeated[int]
    var_shape: Repeated[int]


class VariableDef(Message, Protocol):
    """A variable of a graph, by the names of its operations."""

    variable_name: str
    initial_value_name: str
    initializer_name: str
    snapshot_name: str
    is_resource: bool
    trainable: bool
    save_slice_info_def: SaveSliceInfoDef
    synchronization: int
    aggregation: int
