"""Functions that the nodes of a graph call by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ...schema import dtypes
from ...schema.errors import ModelError
from .hooks import implementation
from .signatures.attributes import AttributeReader, FunctionRef
from .signatures.signatures import REQUIRED, Argument, Attribute, Signature, signature_of

if TYPE_CHECKING:
    from ..format.messages import ArgDef, FunctionDef, OpDef
    from .graph import Graph
    from .protocols import AttrValue

__all__ = ["IMPLEMENTS", "Function", "FunctionLibrary", "FunctionRef"]

IMPLEMENTS = "api_implements"
"""The attribute of a function that names what it implements; of loops of inlined ones, with "_"."""

COMPOSITE = "_implements"
"""The attribute of a function that names the operation it stands for."""


class Function:
    """One function: its signature, and its body as a graph when asked for.

    Made from a FunctionDef message, or with `of` from a graph whose `inputs` and `outputs` are its
    arguments and results.
    """

    def __init__(
        self,
        message: FunctionDef | None,
        signature: Signature | None = None,
        body: Graph | None = None,
    ):
        if signature is None:
            assert message is not None
            signature = _signature(message.signature)
        self.message = message
        self.signature = signature
        self._bodies: dict[str, Graph] = {} if body is None else {_key({}): body}

    @classmethod
    def of(cls, name: str, body: Graph) -> Function:
        """The function `name` that computes `body.outputs` from `body.inputs`."""
        arguments = tuple(Argument(tensor.op.name, tensor.dtype) for tensor in body.inputs or ())
        results = tuple(Argument(f"output_{i}", t.dtype) for i, t in enumerate(body.outputs or ()))
        is_stateful = any(op.signature and op.signature.is_stateful for op in body.operations)
        return cls(None, Signature(name, arguments, results, {}, is_stateful), body)

    @property
    def name(self) -> str:
        """Its name in the library."""
        return self.signature.type

    @property
    def implements(self) -> str:
        """What it says it is one of several implementations of; empty for others.

        Keras 2 writes "lstm_..." or "gru_..." here, by which TensorFlow knows what to fuse.
        """
        if self.message is None or IMPLEMENTS not in self.message.attr:
            return ""
        return self.message.attr[IMPLEMENTS].s.decode(errors="replace")

    @property
    def composite(self) -> FunctionRef | None:
        """The operation that the function says it implements, with its attributes; None for none.

        What `tf.function(experimental_implements=...)` names: a word, or a NameAttrList.
        """
        if self.message is None or COMPOSITE not in self.message.attr:
            return None
        where = f"function '{self.name}': attribute {COMPOSITE}"
        value = AttributeReader().read(self.message.attr[COMPOSITE], None, where)
        if isinstance(value, bytes):
            return FunctionRef(value.decode(errors="replace"))
        return value if isinstance(value, FunctionRef) else None

    def uses(self, kind: str) -> bool:
        """Whether an operation of its body is of this type, without making the body."""
        if self.message is not None:
            return any(node.op == kind for node in self.message.node_def)
        return any(op.type == kind for body in self._bodies.values() for op in body.operations)

    def body(self, library: FunctionLibrary, attrs: Mapping[str, AttrValue] | None = None) -> Graph:
        """Its Graph, whose functions are those of `library`, when called with `attrs`.

        Raises ModelError when the FunctionDef is not a valid one.
        """
        attrs = {
            name: value for name, value in (attrs or {}).items() if name in self.signature.attrs
        }
        key = _key(attrs)
        if key not in self._bodies:
            import_body = implementation("import_body")
            assert self.message is not None  # without attributes, a graph's body is the only one
            self._bodies[key] = import_body(self.message, self.signature, attrs, library)
        return self._bodies[key]


class FunctionLibrary(Mapping[str, Function]):
    """The functions of a graph, by name. They may call one another."""

    def __init__(self, functions: Iterable[Function] = ()):
        self._functions: dict[str, Function] = {function.name: function for function in functions}
        self.gradients: dict[str, str] = {}

    def __getitem__(self, name: str) -> Function:
        return self._functions[name]

    def __contains__(self, name: object) -> bool:
        return name in self._functions

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

    def body(self, reference: FunctionRef | str) -> Graph:
        """The body of a function as a Graph with inputs and outputs.

        Raises KeyError when the library has no such function.
        """
        if isinstance(reference, str):
            reference = FunctionRef(reference)
        if reference.name not in self._functions:
            raise KeyError(f"the library has no function '{reference.name}'")
        return self._functions[reference.name].body(self, reference.attrs)


def _key(attrs: Mapping[str, AttrValue]) -> str:
    return repr(sorted(attrs.items()))


def _signature(definition: OpDef) -> Signature:
    """The Signature of a function's OpDef."""
    reader = AttributeReader()
    attrs: dict[str, Attribute] = {}
    for attr in definition.attr:
        where = f"function '{definition.name}': attribute {attr.name}"
        has_default = attr.HasField("default_value")
        default = reader.read(attr.default_value, attr.type, where) if has_default else REQUIRED
        attrs[attr.name] = Attribute(attr.name, attr.type, default)
    return Signature(
        definition.name,
        tuple(_argument(arg, definition.name) for arg in definition.input_arg),
        tuple(_argument(arg, definition.name) for arg in definition.output_arg),
        attrs,
        definition.is_stateful,
    )


def _argument(arg: ArgDef, function: str) -> Argument:
    if arg.type_list_attr:
        return Argument(arg.name, arg.type_list_attr, None, True)
    try:
        dtype = arg.type_attr or dtypes.tf_dtype(arg.type)
    except ValueError as error:
        raise ModelError(f"function '{function}': argument {arg.name}: {error}") from None
    return Argument(arg.name, dtype, arg.number_attr or None, False, arg.is_ref)
