"""The side of a task that runs what sessions in other processes want of it."""

from __future__ import annotations

import socket
import threading
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

from ....engine.run.stages import Control
from ....schema import errors, proto
from ...core.graph import Graph, Operation, Tensor
from ...format.graphdef import import_graph_def
from ..devices import get_intra_op_parallelism_threads
from ..state import State
from .parts import PartRunner
from .wire import Frame, receive, send, tensor_block, tensor_of

if TYPE_CHECKING:
    import numpy as np

    from ...format.messages import GraphDef
    from .tasks import Task


LOOPBACK = ("localhost", "127.0.0.1")
OF_A_PROCESS = ("PyFunc", "PyFuncStateless", "EagerPyFunc")
"""Operations that call a function of the process in which their graph was made."""


class Service:
    """Listens at a task's address until the process ends.

    Args:
        task: The task.
        host: The host of its address; on a loopback address it listens to this machine alone,
            under other names at all of the machine's addresses.
        port: The port, 0 for one that is free.

    Attributes:
        port: The port.

    Raises OSError where the port is taken.
    """

    def __init__(self, task: Task, host: str, port: int):
        self._task = task
        self._socket = _listening(host, port)
        self.port = int(self._socket.getsockname()[1])
        self._guests: dict[str, Guest] = {}
        self._lock = threading.Lock()
        weakref.finalize(self, self._socket.close)

    def start(self) -> None:
        """Begins to take connections."""
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        """Answers one connection; what it asked for ends with it."""
        guest, control = None, Control()
        try:
            while (frame := receive(connection)) is not None:
                kind = frame.text("do")
                if kind == "cluster":
                    send(connection, self._description(), [])
                elif kind == "session":
                    guest = self._guest(frame.text("session"))
                elif guest is None:
                    raise ConnectionError(f"'{kind}' must come after 'session'")
                elif kind == "graph":
                    _respond(connection, guest.take_graph, frame)
                elif kind == "run":
                    control = Control()
                    arguments = (connection, guest.run, frame, control)
                    threading.Thread(target=_respond, args=arguments, daemon=True).start()
                else:
                    raise ConnectionError(f"a frame must ask for something known, got '{kind}'")
        except OSError:
            pass  # the other side ended, or is none of ours
        finally:
            control.end(errors.CancelledError(None, None, "The session's process ended the run"))
            connection.close()
            if guest is not None:
                self._leave(guest)

    def _description(self) -> dict[str, str | int | Mapping[str, Mapping[str, str]]]:
        addresses = {
            job: {str(index): address for index, address in tasks.items()}
            for job, tasks in self._task.cluster.addresses.items()
        }
        return {"job": self._task.job, "index": self._task.index, "addresses": addresses}

    def _guest(self, session: str) -> Guest:
        with self._lock:
            guest = self._guests.get(session)
            if guest is None:
                guest = self._guests[session] = Guest(session, self._task)
            guest.n_connections += 1
            return guest

    def _leave(self, guest: Guest) -> None:
        with self._lock:
            guest.n_connections -= 1
            if not guest.n_connections:
                del self._guests[guest.session]


def _listening(host: str, port: int) -> socket.socket:
    if host in LOOPBACK:
        return socket.create_server(("127.0.0.1", port))
    if host == "[::1]":
        return socket.create_server(("::1", port), family=socket.AF_INET6)
    both = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if both else socket.AF_INET
    return socket.create_server(("", port), family=family, dualstack_ipv6=both)


class Guest:
    """A session in another process, as far as it runs here.

    Args:
        session: What tells it from others.
        task: The task, whose variables, queues and tables it uses.
    """

    def __init__(self, session: str, task: Task):
        self.session, self.n_connections = session, 0
        self._state = State(None, task)
        self._graph = Graph()
        n_threads = get_intra_op_parallelism_threads() or 1
        self._runner = PartRunner(self._state, n_threads, OF_A_PROCESS)

    def take_graph(self, frame: Frame) -> tuple[list[str], list[bytes]]:
        """Takes a graph that has grown; what operations keep they keep."""
        message = cast("GraphDef", proto.parse("GraphDef", frame.blocks[0]))
        graph = import_graph_def(message)
        with self._state.lock:
            self._state.move_to(graph)
            self._graph = graph
            self._runner = PartRunner(self._state, self._runner.n_threads, OF_A_PROCESS)
        return [], []

    def run(self, frame: Frame, control: Control) -> tuple[list[str], list[bytes]]:
        """The blocks of the results of a part."""
        get = self._graph.as_graph_element
        operations = [cast("Operation", get(name)) for name in frame.names("operations")]
        results = [cast("Tensor", get(name)) for name in frame.names("results")]
        names = frame.names("feeds")
        feeds: dict[Tensor, np.ndarray] = {
            cast("Tensor", get(name)): tensor_of(block)
            for name, block in zip(names, frame.blocks, strict=True)
        }
        outer = self._state.begin_run(control)
        try:
            arrays = self._runner.run(operations, results, feeds)
            self._state.wait_for_put_off(control)
        finally:
            self._state.end_run(control, outer)
        return frame.names("results"), [tensor_block(arrays[tensor]) for tensor in results]


def _respond(
    connection: socket.socket,
    act: Callable[..., tuple[list[str], list[bytes]]],
    frame: Frame,
    *more: Control,
) -> None:
    """Sends what a request gives, or its error."""
    try:
        names, blocks = act(frame, *more)
        header = {"results": names}
    except errors.OpError as error:
        name = None if error.op is None else error.op.name
        header = {"error": type(error).__name__, "message": error.message, "op": name}
        blocks = []
    except ConnectionError:
        connection.close()
        return
    except (IndexError, KeyError, TypeError, ValueError) as error:
        header, blocks = {"error": "InternalError", "message": str(error), "op": None}, []
    try:
        send(connection, header, blocks)
    except OSError:
        connection.close()  # nobody waits for it any more
