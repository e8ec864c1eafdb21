"""Tasks of a cluster in other processes, as a session sees them."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from ....schema import errors
from ...format.graphdef import to_graph_def
from .wire import Frame, receive, send, tensor_block, tensor_of

if TYPE_CHECKING:
    import numpy as np

    from ....engine.run.stages import Control
    from ...core.graph import Graph, Tensor
    from .parts import Part

LOGGER = logging.getLogger("flatlite")
RETRY = 0.2
"""Seconds between attempts to reach a task."""
NOTICE = 10.0
"""Seconds after which it is said that a task is waited for, again and again."""
POLL = 0.05
"""Seconds between looks at what may end a run."""


class Peer:
    """One task in another process, for one session.

    Args:
        name: The task, such as "/job:ps/replica:0/task:0".
        address: "host:port" of its server.
    """

    def __init__(self, name: str, address: str):
        self.name, self.address = name, address
        self._session = os.urandom(16).hex()
        self._free: list[socket.socket] = []
        self._lock = threading.Lock()
        self._anchor: socket.socket | None = None
        self._n_operations = 0

    def run(
        self, graph: Graph, part: Part, feeds: Mapping[Tensor, np.ndarray], control: Control
    ) -> dict[Tensor, np.ndarray]:
        """The results of a part that the task runs; `control` may end it before.

        Raises:
            UnavailableError: The task's process is gone.
            OpError: An operation failed there.
        """
        header = {
            "do": "run",
            "operations": [op.name for op in part.operations],
            "feeds": [tensor.name for tensor in feeds],
            "results": [tensor.name for tensor in part.results],
        }
        connection = self._connection(control)
        try:
            self._send_graph(graph)
            send(connection, header, [tensor_block(array) for array in feeds.values()])
            frame = self._response(connection, control)
        except (OSError, EOFError) as error:
            connection.close()
            raise self._gone(error) from None
        except BaseException:
            connection.close()  # which ends the run there
            raise
        with self._lock:
            if self._anchor is None:  # closed meanwhile
                connection.close()
            else:
                self._free.append(connection)
        if frame.header.get("error"):
            raise _error_of(frame, graph)
        return dict(zip(part.results, map(tensor_of, frame.blocks), strict=True))

    def close(self) -> None:
        """Lets the task forget the session."""
        with self._lock:
            for connection in self._free:
                connection.close()
            self._free.clear()
            if self._anchor is not None:
                self._anchor.close()
                self._anchor = None

    def _connection(self, control: Control) -> socket.socket:
        """An idle connection or a new one; a task that was not reached yet is waited for.

        The first one is for graphs, and stays: with the last one the task forgets the session.
        """
        with self._lock:
            if self._free:
                return self._free.pop()
        notice = time.monotonic() + NOTICE
        while True:
            try:
                connection = connected(self.address)
            except OSError as error:
                if self._anchor is not None:
                    raise self._gone(error) from None
            else:
                self._introduce(connection)
                with self._lock:
                    if self._anchor is not None:
                        return connection
                    self._anchor = connection
                continue
            control.check()
            if time.monotonic() > notice:
                LOGGER.info("CreateSession still waiting for response from worker: %s", self.name)
                notice += NOTICE
            time.sleep(RETRY)

    def _introduce(self, connection: socket.socket) -> None:
        """Says which session a connection is of."""
        try:
            send(connection, {"do": "session", "session": self._session}, [])
        except OSError as error:
            connection.close()
            raise self._gone(error) from None

    def _send_graph(self, graph: Graph) -> None:
        """Sends the graph where the task does not have all of it."""
        with self._lock:
            count = len(graph)
            if count == self._n_operations:
                return
            if self._anchor is None:
                raise EOFError("the session is closed")
            send(self._anchor, {"do": "graph"}, [to_graph_def(graph).SerializeToString()])
            frame = receive(self._anchor)
            if frame is None:
                raise EOFError("the connection ended")
            if frame.header.get("error"):
                raise _error_of(frame, graph)
            self._n_operations = count

    def _response(self, connection: socket.socket, control: Control) -> Frame:
        connection.settimeout(POLL)
        while True:
            try:
                waits = not connection.recv(1, socket.MSG_PEEK)
            except TimeoutError:
                control.check()
                continue
            connection.settimeout(None)
            frame = None if waits else receive(connection)
            if frame is None:
                raise EOFError("the connection ended")
            return frame

    def _gone(self, error: Exception) -> errors.UnavailableError:
        return errors.UnavailableError(None, None, f"{self.name} ({self.address}) is gone: {error}")


def connected(address: str) -> socket.socket:
    """A connection to "host:port"; OSError where nobody listens."""
    host, _, port = address.rpartition(":")
    connection = socket.create_connection((host.strip("[]"), int(port)))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _error_of(frame: Frame, graph: Graph) -> errors.OpError:
    """The error that a task answered with, at the operation of this process' graph."""
    kind = getattr(errors, frame.text("error"), errors.InternalError)
    if not issubclass(kind, errors.OpError) or kind is errors.OpError:
        kind = errors.InternalError
    name = frame.header.get("op")
    op = graph.get_operation_by_name(name) if isinstance(name, str) and name else None
    return cast("errors.OpError", kind(None, op, frame.text("message")))
