"""What extends the runs of a MonitoredSession."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ...graph.session.session import Session
    from ...schema.proto import Message
    from .coordinator import Coordinator


class SessionRunArgs(NamedTuple):
    """What a hook adds to a run: fetches, feeds, options."""

    fetches: Any
    feed_dict: dict | None = None
    options: Message | None = None


class SessionRunValues(NamedTuple):
    """What a hook gets after a run: the values of its fetches, the options, the times."""

    results: Any
    options: Message
    run_metadata: Message


class SessionRunContext:
    """The run that is under way.

    Attributes:
        original_args: What the caller asked for.
        session: The session, for runs without hooks.
    """

    def __init__(self, original_args: SessionRunArgs, session: Session):
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """What the caller asked for."""
        return self._original_args

    @property
    def session(self) -> Session:
        """The session, for runs without hooks."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether a hook asked for a stop."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Asks for a stop after this run."""
        self._stop_requested = True


class SessionRunHook:
    """Does something at the start, before and after each run, and at the end."""

    def begin(self) -> None:
        """Called once, before the session is made; the graph may still be changed."""

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Called for each new session; the graph is finalized."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Called before each run; what it gives is added to the run."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after each run that did not fail."""

    def end(self, session: Session) -> None:
        """Called once at the end, when no exception has ended it."""
