"""Graphs of TensorFlow ops: Graph, Operation and Tensor, with TF1's names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal, cast, overload

import numpy as np

from ...schema.errors import OperatorNotAllowedInGraphError
from .dtype import DType
from .hooks import hook, implementation
from .infer import infer
from .library import FunctionLibrary
from .operands import Operands
from .scopes import (
    Scopes,
    default_graph,
    graph_control_dependencies,
    graph_device,
    graph_gradient_overrides,
    graph_name_scope,
)
from .shapes import Shape, merge
from .signatures import REQUIRED, Signature
from .sizes import Sizes

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..format.messages import GraphDef
    from ..session.session import Session
    from .attributes import FunctionRef
    from .protocols import (
        AttrValue,
        BoolAttr,
        Collection,
        DeviceSpec,
        DTypeAttr,
        ElementLike,
        Evaluated,
        FeedDict,
        FloatAttr,
        FunctionRefAttr,
        IntAttr,
        IntsAttr,
        MaybeDType,
        ShapeAttr,
        StringAttr,
        TensorAttr,
        TypeAttr,
    )
    from .tensor_shape import TensorShape
    from .typing import DTypeLike, ShapeLike

VALID_NAME = re.compile(r"[A-Za-z0-9._][A-Za-z0-9_.\\/>-]*")
MAX_TENSORS = 10**6
TENSOR_NAME_FORM = 'Tensor names must be of the form "<op_name>:<output_index>".'


class Tensor(Operands):
    """One output of an operation; what edges of a graph refer to.

    `dtype` is None when the op type is unknown, `shape` a tuple with None for unknown sizes, or
    None when the rank is unknown. `value` is a small array that is known before anything runs, such
    as a shape or an axis, as objects with None where only some elements are known; None otherwise.
    """

    __slots__ = (
        *("__weakref__", "_consumers", "_shape", "assign", "dtype", "op", "value", "value_index"),
    )
    assign: Callable[..., Tensor]  # of a part of a variable alone

    def __init__(self, op: Operation, value_index: int, dtype: DTypeLike | None):
        self.op = op
        self.value_index = value_index
        self.dtype: MaybeDType = DType.of(dtype)
        self.value: np.ndarray | None = None
        self._shape: Shape = None
        self._consumers: list[Operation] = []

    @property
    def name(self) -> str:
        """`op:0`."""
        return f"{self.op.name}:{self.value_index}"

    @property
    def graph(self) -> Graph:
        """The graph it belongs to."""
        return self.op.graph

    @property
    def shape(self) -> Shape:
        """What is known of its shape."""
        return self._shape

    def set_shape(self, shape: ShapeLike | None) -> None:
        """Adds what the caller knows of the shape; raises ValueError when it cannot be."""
        if isinstance(shape, list) or hasattr(shape, "as_shape"):
            from .tensor_shape import as_shape

            shape = as_shape(shape)
        merged = merge(self._shape, cast("Shape", shape))
        self._shape = None if merged is None else Sizes(merged)

    def get_shape(self) -> TensorShape:
        """What is known of its shape, as TF1's TensorShape."""
        from .tensor_shape import TensorShape

        return TensorShape(self._shape)

    @property
    def device(self) -> str:
        """The device of its operation."""
        return self.op.device

    def consumers(self) -> list[Operation]:
        """The operations that read it, once for each time they do."""
        return list(self._consumers)

    def add_consumer(self, op: Operation) -> None:
        """Notes one more input of `op` that reads it."""
        self._consumers.append(op)

    def remove_consumer(self, op: Operation) -> None:
        """Takes back one `add_consumer`."""
        self._consumers.remove(op)

    def eval(self, feed_dict: FeedDict | None = None, session: Session | None = None) -> Evaluated:
        """Its value in `session`, by default the default one; see Session.run."""
        session_for = implementation("session_for")
        return session_for(self.graph, session, "evaluate tensor", "eval").run(self, feed_dict)

    def __bool__(self) -> bool:
        raise OperatorNotAllowedInGraphError(
            "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed. Use `if t is not "
            "None:` to test whether there is a tensor, and tf.where for choices by its value."
        )

    def __len__(self) -> int:
        raise TypeError(
            f"len is not well defined for a symbolic Tensor ({self.name}). Use tf.size."
        )

    def __repr__(self) -> str:
        shape = "<unknown>" if self._shape is None else self._shape
        return f"<tf.Tensor '{self.name}' shape={shape} dtype={self.dtype}>"

    def __str__(self) -> str:
        return f'Tensor("{self.name}", shape={self.get_shape()}, dtype={self.dtype})'


class Operation:
    """A node of a graph. Made by Graph.add.

    `signature` is what is declared of its type, or of the function that its type names; None for an
    unknown type.
    """

    def __init__(
        self,
        graph: Graph,
        kind: str,
        name: str,
        inputs: list[Tensor | None],
        attrs: dict[str, AttrValue],
        control_inputs: Iterable[Operation],
        device: str,
    ):
        self.graph = graph
        self.type = kind
        self.signature = graph.functions.signature_of(kind)
        self.name = name
        self.attrs = attrs
        self.device = device
        self.outputs: list[Tensor] = []
        self._inputs = inputs
        self._control_inputs: dict[Operation, None] = dict.fromkeys(control_inputs)

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensors it reads, in order, once its loops are closed; see `all_inputs`."""
        return cast("tuple[Tensor, ...]", tuple(self._inputs))

    @property
    def all_inputs(self) -> tuple[Tensor | None, ...]:
        """The tensors it reads; None for a loop's back edge that `set_input` is yet to make."""
        return tuple(self._inputs)

    @property
    def control_inputs(self) -> list[Operation]:
        """The operations that must have run before it does."""
        return list(self._control_inputs)

    @overload
    def get_attr(self, name: StringAttr) -> bytes: ...
    @overload
    def get_attr(self, name: IntAttr) -> int: ...
    @overload
    def get_attr(self, name: FloatAttr) -> float: ...
    @overload
    def get_attr(self, name: BoolAttr) -> bool: ...
    @overload
    def get_attr(self, name: TypeAttr) -> DTypeAttr: ...
    @overload
    def get_attr(self, name: ShapeAttr) -> Shape: ...
    @overload
    def get_attr(self, name: IntsAttr) -> Sequence[int]: ...
    @overload
    def get_attr(self, name: TensorAttr) -> np.ndarray: ...
    @overload
    def get_attr(self, name: FunctionRefAttr) -> FunctionRef: ...
    @overload
    def get_attr(self, name: Literal["branches"]) -> Sequence[FunctionRef]: ...
    @overload
    def get_attr(self, name: Literal["output_shapes"]) -> Sequence[Shape]: ...
    @overload
    def get_attr(self, name: str) -> AttrValue: ...
    def get_attr(self, name: str) -> AttrValue:
        """The value of an attribute, or its default; ValueError when it has neither."""
        if name in self.attrs:
            return self.attrs[name]
        signature = self.signature
        attribute = signature.attrs.get(name) if signature else None
        if attribute is None or attribute.default is REQUIRED:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
        return attribute.default

    def run(self, feed_dict: FeedDict | None = None, session: Session | None = None) -> None:
        """Runs it in `session`, by default the default one; see Session.run."""
        session_for = implementation("session_for")
        session_for(self.graph, session, "execute operation", "run").run(self, feed_dict)

    def set_input(self, index: int, tensor: Tensor) -> None:
        """Reads `tensor` as input `index` from now on."""
        old = self._inputs[index]
        if old is not None:
            old.remove_consumer(self)
        self._inputs[index] = tensor
        tensor.add_consumer(self)

    def add_input(self, tensor: Tensor) -> None:
        """Reads one more tensor, behind the others."""
        self._inputs.append(tensor)
        tensor.add_consumer(self)

    def add_control_input(self, op: Operation) -> None:
        """Makes it run after `op`."""
        self._control_inputs[op] = None

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"


@hook("new_graph")
class Graph:
    """Operations by name, in the order they were added.

    `inputs` and `outputs` list the tensors a caller feeds and fetches where the graph has a
    signature: a function's body, a SavedModel's signature; None otherwise. `control_outputs` are
    the operations of such a graph that must run though nothing may read them. `outer` is the graph
    around the body of a function, None else.
    """

    def __init__(self, functions: FunctionLibrary | None = None):
        self.functions = functions if functions is not None else FunctionLibrary()
        self.outer: Graph | None = None
        self.inputs: list[Tensor] | None = None
        self.outputs: list[Tensor] | None = None
        self.control_outputs: list[Operation] = []
        self.scopes = Scopes()
        self._operations: dict[str, Operation] = {}
        self._n_tensors = 0
        self._names_in_use: dict[str, int] = {}

    @property
    def operations(self) -> list[Operation]:
        """All operations, in the order they were added."""
        return list(self._operations.values())

    def get_operations(self) -> list[Operation]:
        """All operations, in the order they were added."""
        return self.operations

    def __len__(self) -> int:
        return len(self._operations)

    def __contains__(self, name: str) -> bool:
        return name in self._operations

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation called `name`.

        Raises:
            KeyError: there is none.
            ValueError: `name` is a tensor's.
        """
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        if ":" in name:
            raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a Operation.")
        if name not in self._operations:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
        return self._operations[name]

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor called `name`, such as "dense/BiasAdd:0".

        Raises:
            KeyError: there is none.
            ValueError: `name` is an operation's, or not of that form.
        """
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        if ":" not in name:
            what = "refers to" if name in self._operations else "looks like an (invalid)"
            article = "an Operation" if name in self._operations else "Operation name"
            raise ValueError(
                f"The name {name!r} {what} {article}, not a Tensor. {TENSOR_NAME_FORM}"
            )
        op_name, _, index = name.partition(":")
        if not index.isdecimal():
            raise ValueError(
                f"The name {name!r} looks a like a Tensor name, but is not a valid one. "
                f"{TENSOR_NAME_FORM}"
            )
        missing = f"The name {name!r} refers to a Tensor which does not exist. The operation, "
        op = self._operations.get(op_name)
        if op is None:
            raise KeyError(f"{missing}{op_name!r}, does not exist in the graph.")
        if int(index) >= len(op.outputs):
            raise KeyError(f"{missing}{op_name!r}, exists but only has {len(op.outputs)} outputs.")
        return op.outputs[int(index)]

    def get_operation(self, name: str) -> Operation:
        """The operation called `name`."""
        return self.get_operation_by_name(name)

    def get_tensor(self, name: str) -> Tensor:
        """The tensor called `name`, such as "dense/BiasAdd:0"."""
        return self.get_tensor_by_name(name)

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` in the current scope, or `name_1`, `name_2`, ... when it is taken.

        Case makes no difference.
        """
        if self.scopes.name:
            name = f"{self.scopes.name}/{name}"
        key = name.lower()
        count = self._names_in_use.get(key, 0)
        if mark_as_used:
            self._names_in_use[key] = count + 1
        if not count:
            return name
        candidate = key
        while candidate in self._names_in_use:
            candidate = f"{key}_{count}"
            count += 1
        if mark_as_used:
            self._names_in_use[candidate] = 1
        return f"{name}_{count - 1}"

    def add(
        self,
        kind: str,
        name: str | None = None,
        inputs: Iterable[Tensor | None] = (),
        attrs: Mapping[str, AttrValue] | None = None,
        control_inputs: Iterable[Operation] = (),
        device: str = "",
        n_outputs: int = 0,
    ) -> Operation:
        """Appends an operation and infers the dtypes and shapes of its outputs.

        Args:
            kind: The op type. An unknown one makes an opaque operation with `n_outputs` outputs.
            name: Must be free; None makes one from the type.
            inputs: Tensors of this graph; None stands for a loop's back edge, set later.
            attrs: Those that TensorFlow derives from the inputs (T, N) may be left out.
            control_inputs: Operations that must run before.
            device: Kept and written back.
            n_outputs: Of an unknown op type.

        Raises:
            ValueError: the name is taken or malformed, an attribute is missing, the inputs do not
                fit the op's signature, or their shapes cannot go together.
        """
        name = self.unique_name(kind) if name is None else name
        if name in self._operations:
            raise ValueError(f"{kind} '{name}': the graph has an operation of this name already")
        if not VALID_NAME.fullmatch(name):
            raise ValueError(f"'{name}' is not a valid operation name")
        op = Operation(self, kind, name, list(inputs), dict(attrs or {}), control_inputs, device)
        for position, tensor in enumerate(op.all_inputs):
            if tensor is not None and tensor.graph is not self:
                raise ValueError(f"{kind} '{name}': input {position} is of another graph")
        try:
            output_dtypes = _dtypes(op, n_outputs)
        except ValueError as error:
            raise ValueError(f"{kind} '{name}': {error}") from None
        op.outputs = [Tensor(op, i, dtype) for i, dtype in enumerate(output_dtypes)]
        self._n_tensors += len(op.outputs)
        if self._n_tensors > MAX_TENSORS:
            raise ValueError(f"{kind} '{name}': a graph may have {MAX_TENSORS} tensors")
        infer(op)
        self._operations[name] = op
        self._names_in_use.setdefault(name.lower(), 1)
        for tensor in op.all_inputs:
            if tensor is not None:
                tensor.add_consumer(op)
        return op

    def capture(self, tensor: Tensor) -> Tensor:
        """What stands for a tensor in this graph: itself; see FunctionGraph."""
        return tensor

    def as_default(self) -> AbstractContextManager[Graph]:
        """A block in which operations are added to this graph."""
        return default_graph(self)

    def name_scope(self, name: str | None) -> AbstractContextManager[str]:
        """A block in which names start with `name/`; see scopes.name_scope."""
        return graph_name_scope(self, name)

    def control_dependencies(
        self, control_inputs: Iterable[ElementLike] | None
    ) -> AbstractContextManager[None]:
        """A block in which operations wait for `control_inputs`."""
        return graph_control_dependencies(self, control_inputs)

    def device(self, device_name_or_function: DeviceSpec) -> AbstractContextManager[None]:
        """A block whose operations have a device noted."""
        return graph_device(self, device_name_or_function)

    def gradient_override_map(self, op_type_map: Mapping[str, str]) -> AbstractContextManager[None]:
        """A block whose operations have the gradient registered under another name.

        Args:
            op_type_map: Op type -> a name of RegisterGradient.

        Raises TypeError when it is not a dict of strings.
        """
        return graph_gradient_overrides(self, op_type_map)

    @property
    def seed(self) -> int | None:
        """The graph's seed; None when it was not set."""
        return self.scopes.seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self.scopes.seed = seed

    @property
    def finalized(self) -> bool:
        """Whether nothing may be added any more."""
        return self.scopes.finalized

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> GraphDef:
        """The graph as a GraphDef message.

        Args:
            from_version: A former `version`: what was there then is left out.
            add_shapes: Whether nodes have the shapes of their results as "_output_shapes".
        """
        return implementation("to_graph_def")(self, from_version, add_shapes)

    def finalize(self) -> None:
        """Lets nothing be added any more."""
        self.scopes.finalized = True

    def add_to_collection(self, name: str, value: object) -> None:
        """Appends `value` to the collection `name`."""
        self.get_collection_ref(name).append(value)

    def add_to_collections(self, names: str | Iterable[str], value: object) -> None:
        """Appends `value` to the collection, or to each of the collections, `names`."""
        for name in (names,) if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: str) -> Collection:
        """The collection itself; made when there is none."""
        return self.scopes.collections.setdefault(name, [])

    def get_collection(self, name: str, scope: str | None = None) -> Collection:
        """The items of a collection; with `scope` those whose names match it from the start on."""
        items = list(self.scopes.collections.get(name, ()))
        if scope is None:
            return items
        return [item for item in items if hasattr(item, "name") and re.match(scope, item.name)]

    def get_all_collection_keys(self) -> list[str]:
        """The names of the collections."""
        return list(self.scopes.collections)

    def clear_collection(self, name: str) -> None:
        """Empties a collection."""
        self.scopes.collections.pop(name, None)

    @overload
    def as_graph_element(
        self, obj: ElementLike, allow_tensor: bool = True, *, allow_operation: Literal[False]
    ) -> Tensor: ...
    @overload
    def as_graph_element(
        self, obj: ElementLike, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Tensor | Operation: ...
    def as_graph_element(
        self, obj: ElementLike, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Tensor | Operation:
        """The tensor or operation of this graph that `obj`, one itself or a name, stands for.

        Raises:
            KeyError: there is none of that name.
            ValueError: it is of another graph, or the name is malformed.
            TypeError: `obj` is something else.
        """
        convert = getattr(obj, "as_graph_element", None)
        if convert is not None and not isinstance(obj, Graph):
            obj = convert()
        allowed = [
            kind for kind, yes in ((Tensor, allow_tensor), (Operation, allow_operation)) if yes
        ]
        what = " or ".join(kind.__name__ for kind in allowed)
        if isinstance(obj, str):
            if allow_tensor and (":" in obj or not allow_operation):
                return self.get_tensor_by_name(obj)
            return self.get_operation_by_name(obj)
        if isinstance(obj, tuple(allowed)):
            if obj.graph is not self:
                raise ValueError(f"{type(obj).__name__} {obj} is not an element of this graph.")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {what}.")

    def constant(self, value: npt.ArrayLike, name: str = "Const") -> Tensor:
        """Appends a Const of `value` and returns its tensor; `name` is made unique."""
        array = np.asarray(value)
        attrs = {"value": array, "dtype": array.dtype}
        return self.add("Const", self.unique_name(name), (), attrs).outputs[0]

    def __repr__(self) -> str:
        return f"<Graph of {len(self)} operations>"


def _dtypes(op: Operation, n_outputs: int) -> Sequence[DTypeAttr | None]:
    """The dtypes of an operation's outputs, after its inputs were checked."""
    signature = op.signature
    if signature is not None:
        _derive_attrs(op, signature)
        _check_inputs(op, signature)
        return signature.output_dtypes(op.get_attr)
    declared = op.attrs.get("_output_types")
    if isinstance(declared, list):
        return [*cast("list[DTypeAttr | None]", declared)]
    return [None] * n_outputs


def _derive_attrs(op: Operation, signature: Signature) -> None:
    """Gives the attributes their values that the inputs determine."""
    remaining = op.all_inputs
    n_lists = sum(argument.is_list or bool(argument.count) for argument in signature.inputs)
    n_listed = (len(remaining) - len(signature.inputs) + n_lists) // max(n_lists, 1)
    for argument in signature.inputs:
        count = 1
        if argument.count:
            count = cast("int", op.attrs.setdefault(argument.count, n_listed))
        elif argument.is_list:
            listed_dtypes = cast("list[DTypeAttr] | None", op.attrs.get(str(argument.dtype)))
            count = n_listed if listed_dtypes is None else len(listed_dtypes)
        tensors, remaining = remaining[: max(count, 0)], remaining[max(count, 0) :]
        dtypes = [tensor.dtype for tensor in tensors if tensor is not None]
        if argument.is_list:
            op.attrs.setdefault(str(argument.dtype), dtypes)
        elif isinstance(argument.dtype, str) and dtypes and dtypes[0] is not None:
            op.attrs.setdefault(argument.dtype, dtypes[0])
    for name in signature.required:
        if name not in op.attrs:
            raise ValueError(f"attribute {name} is missing")


def _check_inputs(op: Operation, signature: Signature) -> None:
    """Raises ValueError when number or dtypes of the inputs are not those of the signature."""
    expected = signature.input_dtypes(op.get_attr)
    inputs = op.all_inputs
    if len(expected) != len(inputs):
        raise ValueError(f"takes {len(expected)} inputs, got {len(inputs)}")
    for i, (dtype, tensor) in enumerate(zip(expected, inputs, strict=True)):
        if tensor is None:
            if op.type != "Merge":
                raise ValueError(f"input {i} is missing")
        elif tensor.dtype is not None and tensor.dtype != dtype:
            raise ValueError(f"input {i} must be {dtype}, got {tensor.dtype} from '{tensor.name}'")
