"""Graphs of TensorFlow ops, with TF1's names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from .contexts import Context
from .elements import Operation, Tensor
from .hooks import hook, implementation
from .infer import gives_the_same, infer
from .library import FunctionLibrary
from .scopes import (
    Scopes,
    default_graph,
    graph_colocation,
    graph_container,
    graph_control_dependencies,
    graph_device,
    graph_gradient_overrides,
    graph_name_scope,
)
from .signatures.input_checks import output_dtypes

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..format.messages import AttrValueMessage, GraphDef, VersionDef
    from .protocols import (
        AttrValue,
        Collection,
        DeviceSpec,
        ElementLike,
    )
    from .typing import DTypeLike

VALID_NAME = re.compile(r"[A-Za-z0-9._][A-Za-z0-9_.\\/>-]*")
"""TensorFlow's form, and a leading _ as the names of its rewritten graphs have it."""
MAX_TENSORS = 10**6
TENSOR_NAME_FORM = 'Tensor names must be of the form "<op_name>:<output_index>".'


@hook("new_graph")
class Graph:
    """Operations by name, in the order they were added.

    `inputs` and `outputs` list the tensors a caller feeds and fetches where the graph has a
    signature: a function's body, a SavedModel's signature; None otherwise. `control_outputs` are
    the operations of such a graph that must run though nothing may read them. `outer` is the graph
    around the body of a function, None else; `context` the loop or branch that it is the body of.
    """

    def __init__(self, functions: FunctionLibrary | None = None):
        self.functions = functions if functions is not None else FunctionLibrary()
        self.outer: Graph | None = None
        self.context: Context | None = None
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

    def operation_name(self, name: str | bytes) -> str:
        """The name of an operation that is called `name` in the current scope.

        Raises ValueError where TensorFlow's operations may not be called so.
        """
        name = name.decode() if isinstance(name, bytes) else name
        full = name[:-1] if name.endswith("/") else self.unique_name(name)
        if not full or full[0] == "_" or not VALID_NAME.fullmatch(full):
            raise _refused_name(full)
        return full

    def add(
        self,
        kind: str,
        name: str | None = None,
        inputs: Iterable[Tensor | None] = (),
        attrs: Mapping[str, AttrValue] | None = None,
        control_inputs: Iterable[Operation] = (),
        device: str = "",
        n_outputs: int = 0,
        like: Operation | None = None,
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
            like: An operation of this type, of any graph, whose attributes are `attrs`: what was
                inferred of it is taken over where the inputs are as its own.

        Raises:
            ValueError: the name is taken or malformed, an attribute is missing, the inputs do not
                fit the op's signature, or their shapes cannot go together.
        """
        name = self.unique_name(kind) if name is None else name
        if name in self._operations:
            raise ValueError(f"{kind} '{name}': the graph has an operation of this name already")
        if not VALID_NAME.fullmatch(name):
            raise _refused_name(name)
        op = Operation(self, kind, name, list(inputs), dict(attrs or {}), control_inputs, device)
        for position, tensor in enumerate(op.all_inputs):
            if tensor is not None and tensor.graph is not self:
                raise ValueError(f"{kind} '{name}': input {position} is of another graph")
        same = like.outputs if like is not None and gives_the_same(op, like) else None
        try:
            dtypes = output_dtypes(op, n_outputs) if same is None else [t.dtype for t in same]
        except ValueError as error:
            raise ValueError(f"{kind} '{name}': {error}") from None
        op.outputs = [Tensor(op, i, dtype) for i, dtype in enumerate(dtypes)]
        self._n_tensors += len(op.outputs)
        if self._n_tensors > MAX_TENSORS:
            raise ValueError(f"{kind} '{name}': a graph may have {MAX_TENSORS} tensors")
        if same is None:
            infer(op)
        else:
            for tensor, other in zip(op.outputs, same, strict=True):
                tensor.set_shape(other.sizes)
                tensor.value = other.value
        self._operations[name] = op
        self._names_in_use.setdefault(name.lower(), 1)
        for tensor in op.all_inputs:
            if tensor is not None:
                tensor.add_consumer(op)
        return op

    def capture(self, tensor: Tensor, user: str = "") -> Tensor:
        """What stands for a tensor in this graph: itself; see FunctionGraph."""
        return tensor

    def as_default(self) -> AbstractContextManager[Graph]:
        """A block in which operations are added to this graph."""
        return default_graph(self)

    def switch_to_thread_local(self) -> None:
        """Does nothing: each thread has its own open scopes."""

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

    def colocate_with(
        self, op: ElementLike | None, ignore_existing: bool = False
    ) -> AbstractContextManager[None]:
        """A block whose operations stand where `op` stands, whatever devices are open.

        Args:
            op: An operation, or what stands for one; None for none.
            ignore_existing: Whether the blocks around count no more.
        """
        return graph_colocation(self, op, ignore_existing)

    def container(self, container_name: str) -> AbstractContextManager[str]:
        """A block whose resources lie in a container of this name."""
        return graph_container(self, container_name)

    def get_name_scope(self) -> str:
        """The current name scope, without a slash at its end."""
        return self.scopes.name

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

        With control flow v1 (`disable_control_flow_v2`), branches and loops are written as Switch,
        Merge and frames.

        Args:
            from_version: A former `version`: what was there then is left out.
            add_shapes: Whether nodes have the shapes of their results as "_output_shapes".
        """
        return implementation("as_graph_def")(self, from_version, add_shapes)

    @property
    def version(self) -> int:
        """How many operations were added; see `from_version` of as_graph_def."""
        return len(self._operations)

    @property
    def graph_def_versions(self) -> VersionDef:
        """The VersionDef message that the graph is written with."""
        return implementation("version_def")(self)

    @property
    def building_function(self) -> bool:
        """Whether it is the body of a function."""
        return self.outer is not None

    @property
    def collections(self) -> list[str]:
        """The names of the collections."""
        return list(self.scopes.collections)

    def create_op(
        self,
        op_type: str,
        inputs: Iterable[Tensor],
        dtypes: Sequence[DTypeLike] | None = None,
        input_types: object = None,
        name: str | None = None,
        attrs: Mapping[str, AttrValueMessage] | None = None,
        op_def: object = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Appends an operation of a type, under the open blocks.

        Args:
            op_type: Its type.
            inputs: The tensors it reads.
            dtypes: Of its results, where the type is not known.
            name: Put into the current scope and made unique; the type by default.
            attrs: AttrValue messages.
            input_types, op_def, compute_shapes, compute_device: Taken for TensorFlow's sake.

        Raises TypeError when an input is not a tensor.
        """
        make = implementation("create_op")
        return make(self, op_type, list(inputs), list(dtypes or ()), name, attrs or {})

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Lets `tensor` be fed no more."""
        self.scopes.extras.setdefault("unfeedable", set()).add(tensor)

    def is_feedable(self, tensor: Tensor) -> bool:
        """Whether `tensor` may be fed."""
        return tensor not in self.scopes.extras.get("unfeedable", ())

    def prevent_fetching(self, op: Operation) -> None:
        """Lets `op` and its results be fetched no more."""
        self.scopes.extras.setdefault("unfetchable", set()).add(op)

    def is_fetchable(self, tensor_or_op: Tensor | Operation) -> bool:
        """Whether `tensor_or_op` may be fetched."""
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return op not in self.scopes.extras.get("unfetchable", ())

    def finalize(self) -> None:
        """Lets nothing be added any more."""
        self.scopes.finalized = True

    def check_not_finalized(self) -> None:
        """Raises RuntimeError when nothing may be added any more."""
        if self.scopes.finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def add_to_collection(self, name: str, value: object) -> None:
        """Appends `value` to the collection `name`."""
        self.check_not_finalized()
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
        """The names of the collections that are strings."""
        return [key for key in self.scopes.collections if isinstance(key, str)]

    def clear_collection(self, name: str) -> None:
        """Empties a collection."""
        self.check_not_finalized()
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
        if isinstance(obj, bytes):
            obj = obj.decode()
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


def _refused_name(name: str) -> ValueError:
    form = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")
    return ValueError(
        f"`{name}` is not a valid node name. Accepted names conform to Regex /{form}/"
    )
