"""What a Session keeps between runs: variables, and whatever else operations hold on to."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.philox import Philox
from ...engine.plan import arena
from ...engine.plan.buffer import PERSISTENT, Buffer, Storage, window
from ...engine.run.stages import Control
from ...schema.errors import FailedPreconditionError, OpError
from ..core.operation_errors import of_operation
from .keys import name_of, shared_name
from .session_tensors import SessionTensors

if TYPE_CHECKING:
    from ...engine.run.limits import Limits
    from ..core.graph import Graph, Operation
    from ..core.protocols import DTypeAttr
    from .cluster.parts import Place
    from .cluster.peer import Peer
    from .cluster.tasks import Task
    from .kernels.control import Body, RunnableGraph
    from .queues import Attempt
    from .side_by_side import Call
    from .tables import Table


class Store:
    """What outlives a Session, and several share, where it runs on a server: see State."""

    def __init__(self) -> None:
        self.buffers: dict[str, Buffer] = {}
        self.initialized: set[str] = set()
        self.tables: dict[str, Table] = {}
        self.lock = threading.RLock()
        self.resources: dict[str, object] = {}
        self.keys: dict[Storage, str] = {}


class State:
    """The variables of one Session, each with its memory, and the random streams of operations.

    Args:
        limits: What a run may ask for at most, where the caller says so.
        task: The server that the Session runs on, where it does.

    Attributes:
        buffers: The memory of each variable by its key; programs share the storage.
        initialized: The keys of the variables that have a value.
        streams: The random stream of each operation that has one.
        caches: What else kernels keep for an operation's origin: a sampler's weights, a pool's
            regions.
        lock: Held while plans are compiled, as several threads may run.
        resources: Queues and other things that threads share, by the name of what made them.
        tables: Lookup tables by their shared name, or that of their operation.
        origins: Operations of functions that branches and loops became -> those of the graph.
        bodies: The functions that operations call, by operation and name.
        started: Calls of Python functions whose place in their run is still to come.
        modules: What modules of StableHLO compute, by operation.
        session_tensors: What `tf.get_session_handle` keeps.
        limits: What a run may ask for at most, where the caller says so.
        task: The server that the Session runs on, where it does.
    """

    def __init__(self, limits: Limits | None = None, task: Task | None = None) -> None:
        self.limits, self.task = limits, task
        self._peers: dict[Place, Peer] = {}
        store = Store() if task is None else task.store
        self.buffers, self.initialized = store.buffers, store.initialized
        self.tables, self.resources, self.lock = store.tables, store.resources, store.lock
        self.streams: dict[Operation, Philox] = {}
        self.caches: dict[Operation, object] = {}
        self.origins: dict[Operation, Operation] = {}
        self.bodies: dict[tuple[Operation, str], Body] = {}
        self.modules: dict[Operation, RunnableGraph] = {}
        self.started: dict[tuple[Control, Operation], Call] = {}
        self.session_tensors = SessionTensors()
        self._controls: dict[int, Control] = {}
        self._put_off: dict[Control, list[tuple[Operation, Attempt]]] = {}
        self._keys = store.keys
        self._stream_buffers: dict[Operation, Buffer] = {}

    @property
    def memory_limit(self) -> int | None:
        """Bytes that the tensors of one program may take, None for 3/4 of what is left."""
        return None if self.limits is None else self.limits.memory

    @property
    def control(self) -> Control:
        """What may end the run that is under way in this thread before its end."""
        control = self._controls.get(threading.get_ident())
        return Control() if control is None else control

    @property
    def is_running(self) -> bool:
        """Whether this thread runs something of the session."""
        return threading.get_ident() in self._controls

    def begin_run(self, control: Control) -> Control | None:
        """Lets `control` end what this thread runs from now on; gives what did it before."""
        thread = threading.get_ident()
        outer = self._controls.get(thread)
        self._controls[thread] = control
        return outer

    def leave_run(self, outer: Control | None) -> None:
        """Ends the part of a run that this thread had; `outer` is of `begin_run`."""
        thread = threading.get_ident()
        if outer is None:
            del self._controls[thread]
        else:
            self._controls[thread] = outer

    def end_run(self, control: Control, outer: Control | None) -> None:
        """What is put off and was not waited for is given up; `outer` is of `begin_run`."""
        self.leave_run(outer)
        if self._put_off:
            for _, attempt in self._put_off.pop(control, ()):
                attempt.cancel()
        for key in [key for key in list(self.started) if key[0] is control]:
            del self.started[key]

    def finish(self, op: Operation, attempt: Attempt) -> None:
        """Waits for what an operation wants of a queue, at the end of the run where nothing else
        waits for the operation.
        """
        control = self.control
        waits = not attempt.is_done and any(
            op in other.control_inputs for other in op.graph.operations
        )
        if attempt.is_done or waits:
            attempt.wait(control.check)
        else:
            self._put_off.setdefault(control, []).append((op, attempt))

    def wait_for_put_off(self, control: Control) -> None:
        """Waits for what operations of a run left for its end."""
        for op, attempt in self._put_off.get(control, ()) if self._put_off else ():
            _wait(op, attempt, control)

    def end_runs(self, error: BaseException) -> None:
        """Ends what is under way in all threads by raising `error` there."""
        for control in list(self._controls.values()):
            control.end(error)

    def buffer(self, key: str, shape: tuple[int, ...], dtype: DTypeAttr) -> Buffer:
        """The memory of a variable, new when its shape or dtype is."""
        buffer = self.buffers.get(key)
        if buffer is not None and (buffer.shape, buffer.dtype) == (shape, dtype):
            return buffer
        if buffer is not None:
            del self._keys[buffer.storage]
            self.initialized.discard(key)
        n_bytes = prod(shape) * dtype.itemsize
        if dtype.hasobject:
            memory = np.full(prod(shape), b"", object)
        else:
            memory = arena.allocate(n_bytes)
        buffer = Buffer(dtype, shape, Storage(PERSISTENT, n_bytes, memory, key))
        self.buffers[key] = buffer
        self._keys[buffer.storage] = key
        return buffer

    def reshaped(self, key: str, shape: tuple[int, ...]) -> Buffer:
        """The memory of a variable under another shape of as many elements."""
        buffer = self.buffers[key]
        self.buffers[key] = Buffer(buffer.dtype, shape, buffer.storage)
        return self.buffers[key]

    def origin(self, op: Operation) -> Operation:
        """The operation of the graph that one of a function is; itself where it is of the graph."""
        return self.origins.get(op, op)

    def stream(self, op: Operation) -> Philox:
        """The random stream of an operation, where its last run left it."""
        op = self.origin(op)
        if op not in self.streams:
            self.streams[op] = Philox(op.get_attr("seed"), op.get_attr("seed2"))
        return self.streams[op]

    def stream_buffer(self, op: Operation) -> Buffer:
        """The memory of the random stream of an operation."""
        op = self.origin(op)
        if op not in self._stream_buffers:
            memory = self.stream(op).memory
            storage = Storage(PERSISTENT, memory.nbytes, memory.view(np.uint8), f"{op.name} stream")
            self._stream_buffers[op] = Buffer(memory.dtype, memory.shape, storage)
        return self._stream_buffers[op]

    def write(self, key: str, value: np.ndarray) -> None:
        """Gives a variable a value."""
        with self.lock:
            buffer = self.buffer(key, value.shape, value.dtype)
            window(buffer.storage.array, buffer)[...] = value
            self.initialized.add(key)

    def value(self, key: str) -> np.ndarray:
        """A copy of the value of a variable.

        Raises FailedPreconditionError when it has none.
        """
        if key not in self.initialized:
            reason = f"Attempting to use uninitialized value {name_of(key)}"
            raise FailedPreconditionError(None, None, reason)
        buffer = self.buffers[key]
        return window(buffer.storage.array, buffer).copy()

    def key_of(self, storage: Storage) -> str | None:
        """The variable whose memory this is, if it is one's."""
        return self._keys.get(storage)

    def variable_key(self, op: Operation) -> str:
        """What a variable's or table's operation is known by: its name, on a server also where."""
        return self.placed(op, shared_name(op) or op.name)

    def placed(self, op: Operation, name: str) -> str:
        """The key of what an operation stands for under a name."""
        if self.task is None:
            return name
        place = self.task.place_of(op)
        return f"/job:{place.job}/task:{place.task};{name}"

    def is_elsewhere(self, operations: Iterable[Operation]) -> bool:
        """Whether other processes' tasks run some of the operations."""
        task = self.task
        if task is None or not task.cluster.is_spread:
            return False
        return any(task.place_of(op) not in task.cluster.served for op in operations)

    def peer(self, place: Place) -> Peer | None:
        """The task where it is another process'; None where it is this one's."""
        from .cluster.peer import Peer  # sockets are for clusters alone

        task = self.task
        if task is None or place in task.cluster.served:
            return None
        with self.lock:
            if place not in self._peers:
                address = task.cluster.addresses[place.job][place.task]
                self._peers[place] = Peer(place.name, address)
            return self._peers[place]

    def close_peers(self) -> None:
        """Lets tasks of other processes forget the session."""
        for peer in self._peers.values():
            peer.close()

    def forget(self, operations: Iterable[Operation]) -> None:
        """Drops what is kept of operations that a plan had of its own."""
        gone = set(operations)
        with self.lock:
            for op in gone:
                self.origins.pop(op, None)
            for key in [key for key in self.bodies if key[0] in gone]:
                del self.bodies[key]

    def move_to(self, graph: Graph) -> None:
        """Goes on with a graph that has the operations of the one before, by their names."""
        get = graph.get_operation_by_name
        self.streams = {get(op.name): stream for op, stream in self.streams.items()}
        self.caches = {get(op.name): cache for op, cache in self.caches.items()}
        self._stream_buffers = {get(op.name): x for op, x in self._stream_buffers.items()}
        self.bodies.clear()
        self.origins.clear()
        self.modules.clear()


def _wait(op: Operation, attempt: Attempt, control: Control) -> None:
    try:
        attempt.wait(control.check)
    except OpError as error:
        raise of_operation(error, op) from None
