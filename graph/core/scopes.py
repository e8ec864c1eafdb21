"""What surrounds the making of operations: default graph, name scopes, control dependencies,
devices, collections.

All of it belongs to one graph (`graph.scopes`) but for the stack of default graphs, of which each
thread has its own.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, TypeGuard, TypeVar, cast

from .contexts import unreachable
from .device_spec import DeviceSpec as DeviceName
from .device_spec import merged_device
from .hooks import implementation

if TYPE_CHECKING:
    from ..session.session import Session
    from ..variables.kinds import ResourceVariable
    from .graph import Graph, Operation, Tensor
    from .protocols import Collection, DeviceSpec, ElementLike, Extras

    Item = TypeVar("Item")

_FIRST_SCOPE = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")
_INNER_SCOPE = re.compile(r"[A-Za-z0-9_.\\/>-]*")


class GraphKeys:
    """The standard names of collections."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    VARIABLES = "variables"
    ALL_VARIABLES = "variables"


class Dependencies:
    """One `control_dependencies` block: what must run first, and what was made inside."""

    def __init__(self, before: Iterable[Operation]):
        self.before = list(dict.fromkeys(before))
        self.inside: set[Operation] = set()


class _OpenNames(threading.local):
    """The name scope that is open in this thread."""

    name = ""


class Scopes:
    """The surroundings of one graph.

    Attributes:
        controls: The open `control_dependencies` blocks.
        device_blocks: The open `device` blocks, each a list of one: a name, a DeviceSpec, a
            function of an operation, or None.
        colocations: The operations, or groups, that new operations are to stand with.
        container: Where new resources lie.
        gradient_overrides: Op type -> the name of the gradient that new operations of it have.
        collections: Lists by key.
        seed: The graph's seed, None when it was not set.
        finalized: Whether nothing may be added any more.
        extras: One object per key for whatever else is kept with a graph, such as its variable
            scopes.
    """

    def __init__(self) -> None:
        self._open = _OpenNames()
        self.controls: list[Dependencies] = []
        self.device_blocks: list[list[DeviceSpec]] = []
        self.colocations: list[Operation | bytes] = []
        self.container = ""
        self.gradient_overrides: Mapping[str, str] = {}
        self.collections: dict[str, Collection] = {}
        self.seed: int | None = None
        self.finalized = False
        self.extras: Extras = {}

    @property
    def name(self) -> str:
        """The current name scope of this thread, without a slash at its end."""
        return self._open.name

    @name.setter
    def name(self, name: str) -> None:
        self._open.name = name

    def controls_for(self, inputs: Iterable[Operation]) -> list[Operation]:
        """The control inputs of a new operation that reads from the operations `inputs`."""
        inputs = set(inputs)
        controls = [
            op
            for block in self.controls
            if not block.inside & inputs
            for op in block.before
            if op not in inputs
        ]
        return list(dict.fromkeys(controls))

    def device_of(self, op: Operation) -> str:
        """The device of a new operation: inner blocks come first, outer ones say what these leave
        open; None takes the outer ones back.
        """
        name = ""
        for (device,) in reversed(self.device_blocks):
            if device is None:
                break
            if callable(device):
                op.device = name
                name = _name_of(device(op))
            else:
                name = merged_device(_name_of(device), name)
        return name

    def surround(self, op: Operation) -> None:
        """Gives a new operation its device, its neighbours, its container and its gradient."""
        op.device = self.device_of(op)
        if self.colocations:
            self._colocate(op)
        if self.container and op.signature and op.signature.is_stateful:
            has_container = "container" in op.signature.attrs and op.get_attr("container")
            if has_container == b"":
                op.attrs["container"] = self.container.encode()
        if op.type in self.gradient_overrides:
            op.attrs["_gradient_op_type"] = self.gradient_overrides[op.type].encode()
        self.record(op)

    def _colocate(self, op: Operation) -> None:
        groups: set[bytes] = set()
        for place in reversed(self.colocations):
            if not isinstance(place, bytes):
                groups.update(place.colocation_groups())
                op.device = op.device or place.device
        named = [place for place in self.colocations if isinstance(place, bytes)]
        op.attrs["_class"] = sorted(groups) or named[-1:]

    def record(self, op: Operation) -> None:
        """Notes that `op` was made inside the open blocks."""
        for block in self.controls:
            block.inside.add(op)


class _Defaults(threading.local):
    """The graphs whose `as_default` blocks this thread is in, below them the global one."""

    def __init__(self) -> None:
        self.stack: list[Graph] = []
        self.sessions: list[Session] = []


_DEFAULTS = _Defaults()
_GLOBAL: list[Graph] = []
_LOCK = threading.Lock()


def get_default_graph() -> Graph:
    """The graph to which operations are added now."""
    if _DEFAULTS.stack:
        return _DEFAULTS.stack[-1]
    with _LOCK:
        if not _GLOBAL:
            _GLOBAL.append(implementation("new_graph")())
        return _GLOBAL[0]


def has_default_graph() -> bool:
    """Whether this thread is in an `as_default` block of a graph."""
    return bool(_DEFAULTS.stack)


def reset_default_graph() -> None:
    """Starts with a new, empty default graph; AssertionError inside of `as_default` blocks."""
    if _DEFAULTS.stack:
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs.")
    with _LOCK:
        _GLOBAL.clear()


@contextlib.contextmanager
def default_graph(graph: Graph) -> Generator[Graph]:
    """Makes `graph` the default one within the block."""
    _DEFAULTS.stack.append(graph)
    try:
        yield graph
    finally:
        _leave(_DEFAULTS.stack, graph, "graph")


@contextlib.contextmanager
def default_session(session: Session) -> Generator[Session]:
    """Makes `session` the default one within the block."""
    _DEFAULTS.sessions.append(session)
    try:
        yield session
    finally:
        _leave(_DEFAULTS.sessions, session, "session")


def _leave(stack: list[Item], item: Item, what: str) -> None:
    if not stack or stack[-1] is not item:
        raise AssertionError(f"Nesting violated by {what} {item!r}: blocks must end inside out")
    stack.pop()


def push_session(session: Session) -> None:
    """Makes `session` the default one until `drop_session`."""
    _DEFAULTS.sessions.append(session)


def drop_session(session: Session) -> None:
    """Takes `session` from the default ones, wherever it stands."""
    if session in _DEFAULTS.sessions:
        _DEFAULTS.sessions.remove(session)


def get_default_session() -> Session | None:
    """The innermost session whose `with` block this thread is in, or None."""
    return _DEFAULTS.sessions[-1] if _DEFAULTS.sessions else None


@contextlib.contextmanager
def graph_name_scope(graph: Graph, name: str | None) -> Generator[str]:
    """Puts `name/` before the names of what is made within; gives that prefix.

    A name that ends with a slash is taken as it is, from the root; None or "" leaves all scopes.
    """
    scopes = graph.scopes
    if isinstance(name, bytes):
        name = name.decode()
    if name:
        _require_scope_name(name, bool(scopes.name))
    before = scopes.name
    if not name:
        inner = ""
    elif name.endswith("/"):
        inner = name[:-1]
    else:
        inner = graph.unique_name(name)
    scopes.name = inner
    try:
        yield f"{inner}/" if inner else ""
    finally:
        scopes.name = before


def _require_scope_name(name: str, is_inner: bool) -> None:
    pattern = _INNER_SCOPE if is_inner else _FIRST_SCOPE
    if not pattern.fullmatch(name):
        kind = "scope" if is_inner else "root scope"
        raise ValueError(
            f"'{name}' is not a valid {kind} name. A {kind} name has to match the following "
            f"pattern: ^{pattern.pattern}$"
        )


class name_scope:
    """`with tf.name_scope(name, default_name=None, values=None) as scope:`, in the default graph.

    Operations made within are called `name/...`; a second scope of the same name is `name_1`.
    With `name` None, `default_name` is taken. `scope` is the prefix with its slash: given as a
    name, it enters the same scope again.

    Raises:
        ValueError: `name` is malformed, or both names are None though there are values.
        TypeError: a name is not a string.
    """

    def __init__(
        self,
        name: str | None,
        default_name: str | None = None,
        values: Iterable[object] | None = None,
    ):
        if not isinstance(default_name, (str, type(None))):
            raise TypeError(
                f"`default_name` type ({type(default_name)}) is not a string type. You likely "
                "meant to pass this into the `values` kwarg."
            )
        if isinstance(name, bytes):
            name = name.decode()
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name must be a string, got {name!r}")
        if name is None and default_name is None and values is not None:
            raise ValueError(
                f"At least one of name (None) and default_name ({default_name}) should be provided."
            )
        self._name = default_name if name is None else name
        self._values = values
        self._blocks = contextlib.ExitStack()

    @property
    def name(self) -> str | None:
        """The name that was asked for."""
        return self._name

    def __enter__(self) -> str:
        graph = graph_of(self._values or ())
        with contextlib.ExitStack() as blocks:
            if graph is not get_default_graph():
                blocks.enter_context(default_graph(graph))
            prefix = blocks.enter_context(graph_name_scope(graph, self._name))
            self._blocks = blocks.pop_all()
        return prefix

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._blocks.__exit__(kind, error, trace)


@contextlib.contextmanager
def op_scope(
    values: Iterable[object],
    name: str | None,
    default_name: str | None = None,
    graph: Graph | None = None,
) -> Generator[str]:
    """`name_scope` with its arguments in the order of TensorFlow 0.x."""
    with (
        contextlib.nullcontext() if graph is None else default_graph(graph),
        name_scope(name, default_name, values) as prefix,
    ):
        yield prefix


def graph_of(values: Iterable[object], user: str = "") -> Graph:
    """The graph to which the tensors and operations among `values` belong, or the default one.

    Raises ValueError when they are of several graphs, or of a loop or branch that is not open;
    `user` is the name of what reads them.
    """
    default = get_default_graph()
    if default.outer is not None:
        return default  # what is of graphs around becomes an argument
    shared: Graph | None = None
    first = None
    for value in values:
        graph = getattr(value, "graph", None)
        if graph is None or not hasattr(graph, "scopes"):
            continue
        if shared is None:
            shared, first = graph, value
        elif graph is not shared:
            foreign = value if graph.context is not None else first
            words = unreachable(cast("Tensor", foreign), default, _scoped(default, user))
            if words is not None:
                raise ValueError(words)
            raise ValueError(
                f"{value} must be from the same graph as {first} (graphs are {graph} and {shared})."
            )
    if shared is not None and shared.context is not None:
        words = unreachable(cast("Tensor", first), default, _scoped(default, user))
        if words is not None:
            raise ValueError(words)
    return default if shared is None else shared


def _scoped(graph: Graph, name: str) -> str:
    """A name in the open scope of a graph."""
    if name.endswith("/"):
        return name[:-1]
    return "/".join(filter(None, [graph.scopes.name, name]))


@contextlib.contextmanager
def graph_control_dependencies(
    graph: Graph, items: Iterable[ElementLike] | None
) -> Generator[None]:
    """Lets what is made within run after `items`: operations, tensors, variables; None forgets all
    outer blocks.
    """
    scopes = graph.scopes
    if items is None:
        outer, name, scopes.controls, scopes.name = scopes.controls, scopes.name, [], scopes.name
        try:
            yield
        finally:
            scopes.controls, scopes.name = outer, name
        return
    block = Dependencies(operation_of(graph, item) for item in items)
    scopes.controls.append(block)
    try:
        yield
    finally:
        _leave(scopes.controls, block, "control dependencies")


def operation_of(graph: Graph, item: ElementLike) -> Operation:
    """The operation that `item` waits for: of a variable behind a handle no read, but its own."""
    element = graph.as_graph_element(item.op if _is_behind_handle(item) else item)
    return cast("Operation", getattr(element, "op", element))


def _is_behind_handle(item: object) -> TypeGuard[ResourceVariable]:
    return hasattr(item, "handle") and hasattr(item, "op")


def control_dependencies(
    control_inputs: Iterable[ElementLike] | None,
) -> AbstractContextManager[None]:
    """Lets what is made within the block run after `control_inputs`, in the default graph.

    `control_inputs` are operations, tensors or variables; None forgets the outer blocks. What was
    made before the block is not held back.
    """
    items = None if control_inputs is None else list(control_inputs)
    return graph_control_dependencies(get_default_graph(), items)


@contextlib.contextmanager
def graph_device(graph: Graph, name: DeviceSpec) -> Generator[None]:
    """Notes `name` (a string, a function of an operation, None for no device) on what is made.

    Raises RuntimeError when blocks do not end inside out.
    """
    block = [name]
    blocks = graph.scopes.device_blocks
    blocks.append(block)
    try:
        yield
    finally:
        if not blocks or blocks[-1] is not block:
            raise RuntimeError("Exiting device scope without proper scope nesting.")
        blocks.pop()


def _name_of(device: object) -> str:
    """The name that a device's specification says."""
    if isinstance(device, DeviceName):
        return device.to_string()
    if device is None:
        return ""
    if isinstance(device, (str, bytes)):
        return device.decode() if isinstance(device, bytes) else device
    raise TypeError(f"a device must be a string, a DeviceSpec, a function or None, got {device!r}")


@contextlib.contextmanager
def graph_colocation(
    graph: Graph, place: ElementLike | bytes | None, ignore_existing: bool = False
) -> Generator[None]:
    """Lets what is made within stand where an operation stands, whatever devices are open.

    A group's name, bytes, keeps the devices. Raises ValueError for None without `ignore_existing`.
    """
    scopes = graph.scopes
    if place is None and not ignore_existing:
        raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
    colocations, blocks = scopes.colocations, scopes.device_blocks
    scopes.colocations = [] if ignore_existing else list(colocations)
    if isinstance(place, bytes):
        scopes.colocations.append(place)
    else:
        scopes.device_blocks = []
        if place is not None:
            place = place.handle if _is_behind_handle(place) else place
            scopes.colocations.append(operation_of(graph, place))
    try:
        yield
    finally:
        scopes.colocations, scopes.device_blocks = colocations, blocks


@contextlib.contextmanager
def graph_container(graph: Graph, name: str) -> Generator[str]:
    """Puts the resources that are made within into a container."""
    outer, graph.scopes.container = graph.scopes.container, name
    try:
        yield name
    finally:
        graph.scopes.container = outer


@contextlib.contextmanager
def graph_gradient_overrides(graph: Graph, overrides: object) -> Generator[None]:
    """Lets new operations have other gradients, by op type; inner blocks come before outer ones.

    Raises TypeError when `overrides` is not a dict of strings.
    """
    if not isinstance(overrides, Mapping):
        raise TypeError("op_type_map must be a dictionary mapping strings to strings")
    items = cast("Mapping[object, object]", overrides).items()
    if not all(isinstance(item, str) for pair in items for item in pair):
        raise TypeError("op_type_map must be a dictionary mapping strings to strings")
    scopes = graph.scopes
    outer = scopes.gradient_overrides
    scopes.gradient_overrides = {**outer, **cast("Mapping[str, str]", overrides)}
    try:
        yield
    finally:
        scopes.gradient_overrides = outer


def device(device_name_or_function: DeviceSpec) -> AbstractContextManager[None]:
    """Notes a device on what is made within the block; it is written with the graph, no more."""
    return graph_device(get_default_graph(), device_name_or_function)


def colocate_with(op: ElementLike, ignore_existing: bool = False) -> AbstractContextManager[None]:
    """Lets what is made within the block stand where `op` stands; see Graph.colocate_with."""
    return graph_colocation(get_default_graph(), op, ignore_existing)


def container(container_name: str) -> AbstractContextManager[str]:
    """Puts the resources that are made within the block into a container."""
    return graph_container(get_default_graph(), container_name)


@contextlib.contextmanager
def init_scope() -> Generator[None]:
    """A block outside of all functions, control dependencies and control flow; names stay."""
    inner = get_default_graph()
    graph = inner
    while graph.outer is not None:
        graph = graph.outer
    name = inner.scopes.name
    with default_graph(graph), graph_control_dependencies(graph, None):
        outer_name, graph.scopes.name = graph.scopes.name, name
        try:
            yield
        finally:
            graph.scopes.name = outer_name


def add_to_collection(name: str, value: object) -> None:
    """Appends `value` to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: str | Sequence[str], value: object) -> None:
    """Appends `value` to several collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key: str, scope: str | None = None) -> Collection:
    """What the default graph has in a collection; see Graph.get_collection."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: str) -> Collection:
    """The collection itself, which may be changed."""
    return get_default_graph().get_collection_ref(key)


def set_random_seed(seed: int | None) -> None:
    """The seed of the default graph, from which its random operations derive theirs."""
    get_default_graph().seed = seed
