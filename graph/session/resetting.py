"""`Session.reset`: ends the sessions of a target and drops what its containers hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, cast
from weakref import WeakSet

from ...schema.errors import AbortedError, CancelledError, OpError, UnimplementedError
from .keys import container_of, shared_name

if TYPE_CHECKING:
    from .cluster.tasks import Task
    from .session import Session

_open: WeakSet[Session] = WeakSet()


def note_open(session: Session) -> None:
    """Lets `reset` know of a session."""
    _open.add(session)


def reset(task: Task | None, containers: Collection[str]) -> None:
    """Ends the sessions on a task, or those of this process alone, and empties containers.

    Raises UnimplementedError where other processes run tasks of the cluster.
    """
    if task is not None and task.cluster.is_spread:
        words = f"Session.reset of {task.target}: other processes run tasks of its cluster, which "
        raise UnimplementedError(None, None, f"{words}keep what they hold; restart their servers")
    sessions = [session for session in _open if session.task is task]
    if task is not None:
        _empty(task, sessions, containers)
    for session in sessions:
        session.end(_error_of(session))
        _open.discard(session)


def _error_of(session: Session) -> OpError:
    if session.task is None:
        return CancelledError(None, None, "Session has been closed.")
    return AbortedError(None, None, f"Session {id(session):x} is not found.")


def _empty(task: Task, sessions: Iterable[Session], containers: Collection[str]) -> None:
    """Drops what the containers hold; without a name, all that the task's cluster holds."""
    store = task.store
    with store.lock:
        holders = (store.buffers, store.tables, store.resources)
        keys = {key for holder in holders for key in holder} | store.initialized
        if containers:
            keys &= _keys_in(sessions, containers)
        store.initialized -= keys
        for holder in holders:
            for key in keys & holder.keys():
                del cast("dict[str, object]", holder)[key]


def _keys_in(sessions: Iterable[Session], containers: Collection[str]) -> set[str]:
    """The keys of what the graphs of sessions have in some containers."""
    return {
        session.state.placed(op, name)
        for session in sessions
        for op in session.graph.operations
        if "container" in op.attrs and container_of(op) in containers
        for name in (shared_name(op), op.name, f"/{op.name}")
    }
