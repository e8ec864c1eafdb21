"""QueueRunner: threads that run operations until an exception says that there is no more."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Sequence

from ...graph.core.scopes import (
    GraphKeys,
    add_to_collection,
    get_collection,
    get_default_graph,
    get_default_session,
)
from ...graph.session.session import Session
from ...schema import proto
from ...schema.errors import OpError, OutOfRangeError
from .coordinator import Coordinator

LOGGER = logging.getLogger("flatlite")


class QueueRunner:
    """Operations, each to be run again and again in a thread of its own.

    Args:
        queue: What they fill: something with a `name`, and `close` where no operations are given.
        enqueue_ops: The operations.
        close_op: Run when the last of them has come to its end.
        cancel_op: Run when the coordinator stops.
        queue_closed_exception_types: The errors that mean the end; OutOfRangeError by default.
        queue_runner_def: A QueueRunnerDef, in the place of all these.
        import_scope: The scope in which the operations that it names lie.

    Raises:
        ValueError: There is no queue, or no operation.
        TypeError: The types are not a tuple of OpErrors.
    """

    def __init__(
        self,
        queue=None,
        enqueue_ops: Sequence | None = None,
        close_op=None,
        cancel_op=None,
        queue_closed_exception_types: tuple[type[OpError], ...] | None = None,
        queue_runner_def=None,
        import_scope: str | None = None,
    ):
        self._lock = threading.Lock()
        self._running: weakref.WeakKeyDictionary[Session, int] = weakref.WeakKeyDictionary()
        self._errors: list[Exception] = []
        if queue_runner_def is not None:
            if queue is not None or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._read(queue_runner_def, import_scope)
            return
        if queue is None or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        types = queue_closed_exception_types
        if types is not None and not (
            isinstance(types, tuple) and types and all(issubclass(t, OpError) for t in types)
        ):
            raise TypeError(
                "queue_closed_exception_types, when provided, must be a tuple of tf.error types, "
                f"but saw: {types}"
            )
        self.queue = queue
        self.enqueue_ops = list(enqueue_ops)
        self.close_op = queue.close() if close_op is None else close_op
        if cancel_op is None:
            cancel_op = queue.close(cancel_pending_enqueues=True)
        self.cancel_op = cancel_op
        self.queue_closed_exception_types = types or (OutOfRangeError,)

    def _read(self, definition, scope: str | None) -> None:
        """Takes the operations of the default graph that a QueueRunnerDef names."""
        graph, prefix = get_default_graph(), f"{scope}/" if scope else ""
        self.queue = graph.as_graph_element(prefix + definition.queue_name)
        self.enqueue_ops = [
            graph.as_graph_element(prefix + name) for name in definition.enqueue_op_name
        ]
        self.close_op = graph.as_graph_element(prefix + definition.close_op_name)
        self.cancel_op = graph.as_graph_element(prefix + definition.cancel_op_name)
        kinds = {kind.code: kind for kind in OpError.__subclasses__()}
        types = tuple(kinds[code] for code in definition.queue_closed_exception_types)
        self.queue_closed_exception_types = types or (OutOfRangeError,)

    def to_proto(self, export_scope: str | None = None):
        """The QueueRunnerDef message that describes it, names without the scope `export_scope`.

        None when its queue lies elsewhere.
        """
        outside = f"{export_scope}/" if export_scope else ""
        if not self.queue.name.startswith(outside):
            return None
        message = proto.QueueRunnerDef(queue_name=self.queue.name.removeprefix(outside))
        message.enqueue_op_name.extend(op.name.removeprefix(outside) for op in self.enqueue_ops)
        message.close_op_name = self.close_op.name.removeprefix(outside)
        message.cancel_op_name = self.cancel_op.name.removeprefix(outside)
        codes = [kind.code for kind in self.queue_closed_exception_types]
        message.queue_closed_exception_types.extend(codes)
        return message

    @staticmethod
    def from_proto(queue_runner_def, import_scope: str | None = None) -> QueueRunner:
        """The runner of operations of the default graph that a QueueRunnerDef names."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)

    @property
    def name(self) -> str:
        """The queue's name."""
        return self.queue.name

    @property
    def exceptions_raised(self) -> list[Exception]:
        """What the threads raised that have no coordinator to tell."""
        return self._errors

    def create_threads(
        self,
        sess: Session,
        coord: Coordinator | None = None,
        daemon: bool = False,
        start: bool = False,
    ) -> list[threading.Thread]:
        """A thread for each operation, and one that cancels when the coordinator stops.

        None are made while those of the same session go on.
        """
        with self._lock:
            if self._running.get(sess, 0) > 0:
                return []
            self._running[sess] = len(self.enqueue_ops)
            self._errors.clear()
        start_of_name = f"QueueRunnerThread-{self.name}-"
        threads = [
            threading.Thread(target=self._run, args=(sess, op, coord), name=start_of_name + op.name)
            for op in self.enqueue_ops
        ]
        if coord is not None:
            name = f"{start_of_name}close_on_stop"
            threads.append(threading.Thread(target=self._cancel, args=(sess, coord), name=name))
        for thread in threads:
            if coord is not None:
                coord.register_thread(thread)
            if daemon:
                thread.daemon = True
            if start:
                thread.start()
        return threads

    def _run(self, sess: Session, op, coord: Coordinator | None) -> None:
        is_last = False
        try:
            while not (coord is not None and coord.should_stop()):
                sess.run(op)
        except self.queue_closed_exception_types:
            is_last = self._leave(sess) == 0
        except Exception as error:
            self._leave(sess)
            if coord is None:
                LOGGER.error("Exception in QueueRunner: %s", error)
                self._errors.append(error)
            else:
                coord.request_stop(error)
        else:
            self._leave(sess)
        if is_last:
            self._end(sess, self.close_op)

    def _leave(self, sess: Session) -> int:
        with self._lock:
            self._running[sess] -= 1
            return self._running[sess]

    def _cancel(self, sess: Session, coord: Coordinator) -> None:
        coord.wait_for_stop()
        self._end(sess, self.cancel_op)

    def _end(self, sess: Session, op) -> None:
        try:
            sess.run(op)
        except (OpError, RuntimeError) as error:
            LOGGER.debug("Ignored exception: %s", error)


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Notes a runner in the collection that `start_queue_runners` looks at."""
    add_to_collection(collection, qr)


def start_queue_runners(
    sess: Session | None = None,
    coord: Coordinator | None = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Makes, and starts, the threads of all runners of a collection.

    Raises:
        ValueError: There is no session.
        TypeError: `sess` is something else.
    """
    sess = get_default_session() if sess is None else sess
    if sess is None:
        raise ValueError(
            "Cannot start queue runners: No default session is registered. Use `with "
            "sess.as_default()` or pass an explicit session to tf.start_queue_runners(sess=sess)"
        )
    if not isinstance(sess, Session):
        if type(sess).__name__ in ("MonitoredSession", "SingularMonitoredSession"):
            return []
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    with sess.graph.as_default():
        runners = get_collection(collection)
    return [
        thread for runner in runners for thread in runner.create_threads(sess, coord, daemon, start)
    ]
