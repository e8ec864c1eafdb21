"""Functions that the nodes of a graph call by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ..schema import dtypes
from ..schema.errors import ModelError
from . import attributes
from .attributes import AttributeReader, FunctionRef
from .signatures import REQUIRED, Argument, Attribute, Signature, signature_of

__all__ = ["Function", "FunctionLibrary", "FunctionRef"]


class Function:
    """One function: its signature, and its body as a graph when asked for.

    Made from a FunctionDef message, or with `of` from a graph whose `inputs` and `outputs` are its
    arguments and results.
    """

    def __init__(self, message: Any, signature: Signature | None = None, body=None):
        self.message = message
        self.signature = _signature(message.signature) if signature is None else signature
        self._bodies = {} if body is None else {_key({}): body}

    @classmethod
    def of(cls, name: str, body) -> Function:
        """The function `name` that computes `body.outputs` from `body.inputs`."""
        arguments = tuple(Argument(tensor.op.name, tensor.dtype) for tensor in body.inputs)
        results = tuple(Argument(f"output_{i}", t.dtype) for i, t in enumerate(body.outputs))
        is_stateful = any(op.signature and op.signature.is_stateful for op in body.operations)
        return cls(None, Signature(name, arguments, results, {}, is_stateful), body)

    @property
    def name(self) -> str:
        """Its name in the library."""
        return self.signature.type

    def body(self, library: FunctionLibrary, attrs: Mapping[str, object] | None = None):
        """Its Graph, whose functions are those of `library`, when called with `attrs`.

        Raises ModelError when the FunctionDef is not a valid one.
        """
        from .functiondef import import_body

        attrs = {
            name: value for name, value in (attrs or {}).items() if name in self.signature.attrs
        }
        key = _key(attrs)
        if key not in self._bodies:
            self._bodies[key] = import_body(self.message, self.signature, attrs, library)
        return self._bodies[key]


class FunctionLibrary(Mapping[str, Function]):
    """The functions of a graph, by name. They may call one another."""

    def __init__(self, functions=()):
        self._functions: dict[str, Function] = {function.name: function for function in functions}
        self.gradients: dict[str, str] = {}

    def __getitem__(self, name: str) -> Function:
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def signature_of(self, kind: str) -> Signature | None:
        """The signature of op type `kind`: a function of this name, else TensorFlow's op."""
        function = self._functions.get(kind)
        return signature_of(kind) if function is None else function.signature

    def add(self, function: Function) -> None:
        """Adds a function, or replaces the one of this name."""
        self._functions[function.name] = function

    def unique_name(self, name: str) -> str:
        """`name`, or `name_1`, ... when a function has it already."""
        candidate, count = name, 0
        while candidate in self._functions:
            count += 1
            candidate = f"{name}_{count}"
        return candidate

    def body(self, reference: FunctionRef | str):
        """The body of a function as a Graph with inputs and outputs.

        Raises KeyError when the library has no such function.
        """
        if isinstance(reference, str):
            reference = FunctionRef(reference)
        if reference.name not in self._functions:
            raise KeyError(f"the library has no function '{reference.name}'")
        return self._functions[reference.name].body(self, reference.attrs)


def import_library(message) -> FunctionLibrary:
    """The FunctionLibrary of a FunctionDefLibrary message; bodies are read when asked for."""
    library = FunctionLibrary(Function(definition) for definition in message.function)
    if len(library) != len(message.function):
        names = Counter(definition.signature.name for definition in message.function)
        raise ModelError(f"function '{names.most_common(1)[0][0]}' is defined twice")
    library.gradients.update((item.function_name, item.gradient_func) for item in message.gradient)
    return library


def _key(attrs: Mapping[str, object]) -> str:
    return repr(sorted(attrs.items()))


def _signature(definition) -> Signature:
    """The Signature of a function's OpDef."""
    reader = AttributeReader()
    attrs = {}
    for attr in definition.attr:
        where = f"function '{definition.name}': attribute {attr.name}"
        given = attr.HasField("default_value")
        default = reader.read(attr.default_value, attr.type, where) if given else REQUIRED
        attrs[attr.name] = Attribute(attr.name, attr.type, default)
    return Signature(
        definition.name,
        tuple(_argument(arg, definition.name) for arg in definition.input_arg),
        tuple(_argument(arg, definition.name) for arg in definition.output_arg),
        attrs,
        definition.is_stateful,
    )


def _argument(arg, function: str) -> Argument:
    if arg.type_list_attr:
        return Argument(arg.name, arg.type_list_attr, None, True)
    try:
        dtype = arg.type_attr or dtypes.tf_dtype(arg.type)
    except ValueError as error:
        raise ModelError(f"function '{function}': argument {arg.name}: {error}") from None
    return Argument(arg.name, dtype, arg.number_attr or None, False, arg.is_ref)


def export_library(library: FunctionLibrary, message) -> None:
    """Writes the functions of `library` into a FunctionDefLibrary message."""
    from .functiondef import export_body

    for name in sorted(library):
        function = library[name]
        if function.message is not None:
            message.function.add().CopyFrom(function.message)
        else:
            export_body(function, function.body(library), message.function.add())
    for name, gradient in sorted(library.gradients.items()):
        message.gradient.add(function_name=name, gradient_func=gradient)


def write_signature(function: Function, message) -> None:
    """Writes a function's signature into an OpDef message."""
    signature = function.signature
    message.name = signature.type
    message.is_stateful = signature.is_stateful
    for arguments, field in ((signature.inputs, "input_arg"), (signature.outputs, "output_arg")):
        for argument in arguments:
            getattr(message, field).add(name=argument.name, type=dtypes.tf_enum(argument.dtype))
    for attr in signature.attrs.values():
        item = message.attr.add(name=attr.name, type=attr.kind)
        if attr.default is not REQUIRED:
            item.default_value.CopyFrom(attributes.write(attr.default, attr.kind))
