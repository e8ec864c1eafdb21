"""The wire messages of TensorFlow, as flatlite's own .proto files say them.

The messages live in a private descriptor pool: they meet neither TensorFlow's classes in the same
process nor the version check of generated code.

>>> from flatlite.schema import proto
>>> proto.GraphDef(node=[proto.NodeDef(name="x", op="Placeholder")]).node[0].op
'Placeholder'
"""

from __future__ import annotations

from functools import cache
from pkgutil import get_data
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message import Message as _Message

    # The classes are made of descriptors: no checker knows what is in them and of which type.

    class _MessageClass(type):
        def __getattr__(cls, name: str) -> Any: ...  # pyright: ignore[reportExplicitAny]

    class Message(_Message, metaclass=_MessageClass):
        """A message; its fields, and messages inside it, are those of its .proto file."""

        def __init__(self, **fields: Any) -> None: ...  # pyright: ignore[reportExplicitAny]
        def __getattr__(self, name: str) -> Any: ...  # pyright: ignore[reportExplicitAny]
        def __setattr__(self, name: str, value: Any) -> None: ...  # pyright: ignore[reportExplicitAny]


PACKAGE = "tensorflow"
DESCRIPTORS = "messages.pb"


@cache
def message(name: str) -> type[Message]:
    """The class of a message, such as "GraphDef" or "TensorShapeProto.Dim"."""
    from google.protobuf.message_factory import GetMessageClass

    class_ = GetMessageClass(pool().FindMessageTypeByName(f"{PACKAGE}.{name}"))
    _name_module(class_)
    return cast("type[Message]", class_)


def _name_module(class_: type[_Message]) -> None:
    """Says of the class of a message, and of those within it, which module they are of."""
    from google.protobuf.message_factory import GetMessageClass

    if class_.__module__ == __name__:
        return
    class_.__module__ = __name__
    for field in class_.DESCRIPTOR.fields:
        if field.message_type is not None:
            _name_module(GetMessageClass(cast("Descriptor", field.message_type)))


@cache
def enum(name: str) -> dict[str, int]:
    """The numbers of an enumeration, such as "DataType", by name."""
    values = pool().FindEnumTypeByName(f"{PACKAGE}.{name}").values
    return {value.name: value.number for value in values}


@cache
def pool() -> DescriptorPool:
    """The descriptor pool that holds the messages, and what they import, and nothing else."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool

    content = get_data(__name__, DESCRIPTORS)
    assert content is not None  # loaders of packages have it
    descriptors = DescriptorPool()
    for file in FileDescriptorSet.FromString(content).file:
        descriptors.AddSerializedFile(file.SerializeToString())
    return descriptors


def parse(name: str, content: bytes) -> Message:
    """The message `name` that serialized `content` holds.

    Raises ValueError with the reason when the bytes are no such message.
    """
    from google.protobuf.message import DecodeError

    try:
        return message(name).FromString(content)
    except DecodeError as error:
        raise ValueError(f"{len(content)} bytes that are not a {name} ({error})") from None


def parse_text(name: str, content: bytes) -> Message:
    """The message `name` that text `content` holds.

    Raises ValueError with the line and the reason when the text is no such message.
    """
    from google.protobuf import text_format

    try:
        text = content.decode()
        return text_format.Parse(text, message(name)(), descriptor_pool=pool())
    except (UnicodeDecodeError, text_format.ParseError) as error:
        raise ValueError(f"text that is not a {name} ({error})") from None


def __getattr__(name: str) -> type[Message]:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return message(name)
    except KeyError:
        raise AttributeError(f"there is no message {name!r} in package {PACKAGE}") from None
