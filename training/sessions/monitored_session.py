"""MonitoredSession: a session that is made ready, watched by hooks, and ended in order."""

from __future__ import annotations

import contextlib
import inspect
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...graph.core.graph import Graph
from ...graph.core.scopes import GraphKeys, get_collection, get_default_graph
from ...graph.session.session import Session
from ...schema import proto
from ...schema.errors import AbortedError, OutOfRangeError, UnavailableError
from .coordinator import Coordinator
from .hooks import StepCounterHook
from .queue_runner import start_queue_runners
from .saver_hooks import CheckpointSaverHook, SummarySaverHook
from .scaffold import Scaffold
from .session_creators import ChiefSessionCreator, SessionCreator, WorkerSessionCreator
from .session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

if TYPE_CHECKING:
    from ...schema.proto import Message

LOGGER = logging.getLogger("flatlite")
LOST = (AbortedError, UnavailableError)
"""Errors after which a MonitoredSession makes a new session and goes on."""
USE_DEFAULT = object()


class StepContext:
    """What a step function is given.

    Attributes:
        session: The session, for runs without hooks.
        run_with_hooks: `run` of the MonitoredSession.
    """

    def __init__(self, session: Session, run_with_hooks_fn: Callable[..., Any]):
        self.session = session
        self.run_with_hooks = run_with_hooks_fn

    def request_stop(self) -> None:
        """Ends the step function, and the `with` block of the session."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class _Monitored:
    """What MonitoredSession and SingularMonitoredSession share."""

    StepContext = StepContext

    def __init__(
        self,
        session_creator: SessionCreator | None,
        hooks: Sequence[SessionRunHook] | None,
        recovers_from: tuple[type[Exception], ...],
        stop_grace_period_secs: float,
    ):
        self._graph = get_default_graph()
        self._was_finalized = self._graph.finalized
        self._hooks = list(hooks or ())
        self._recovers_from = recovers_from
        self._grace = stop_grace_period_secs
        for hook in self._hooks:
            hook.begin()
        self._creator = ChiefSessionCreator() if session_creator is None else session_creator
        self._session: Session | None = None
        self._coord: Coordinator | None = None
        self._is_closed = self._stop_requested = False
        self._require_session()

    def _require_session(self) -> Session:
        """The session; a new one when the last one was lost."""
        session = self._session
        while session is None:
            session = self._new_session()
        return session

    def _new_session(self) -> Session | None:
        """A new session; None when it is lost at once."""
        try:
            session = self._creator.create_session()
            self._session, self._coord = session, Coordinator(())
            with session.graph.as_default():
                if get_collection(GraphKeys.QUEUE_RUNNERS):
                    start_queue_runners(session, self._coord)
            self._stop_requested = False
            for hook in self._hooks:
                hook.after_create_session(session, self._coord)
        except self._recovers_from as error:
            self._lose(error)
        return self._session

    def _lose(self, error: Exception) -> None:
        """Lets go of a session that failed."""
        LOGGER.info(
            "An error was raised. The current session will be closed and a new session will be "
            "created. Error: %s",
            error,
        )
        with contextlib.suppress(*LOST):
            self._end_session()

    def _end_session(self) -> None:
        session, coord = self._session, self._coord
        self._session = self._coord = None
        try:
            if coord is not None:
                coord.request_stop()
                coord.join(stop_grace_period_secs=self._grace, ignore_live_threads=True)
        finally:
            if session is not None:
                session.close()

    @property
    def graph(self) -> Graph | None:
        """The graph; None when it is closed."""
        return None if self._session is None else self._session.graph

    def run(
        self,
        fetches,
        feed_dict=None,
        options: Message | None = None,
        run_metadata: Message | None = None,
    ) -> Any:
        """What Session.run gives; hooks take part.

        Raises RuntimeError when it is closed, a stop was asked for, or one tensor is fed twice.
        """
        return self._recovering(lambda: self._run(fetches, feed_dict, options, run_metadata))

    def _recovering(self, step: Callable[[], Any]) -> Any:
        """What a step gives, in a new session where the last one is lost."""
        while True:
            self._require_open()
            self._require_session()
            try:
                return step()
            except Exception as error:
                lost = error if isinstance(error, self._recovers_from) else self._reported_loss()
                if lost is None:
                    raise
                self._lose(lost)

    def _reported_loss(self) -> Exception | None:
        """What a thread reported, if a new session helps against it."""
        try:
            if self._coord is not None:
                self._coord.raise_requested_exception()
        except self._recovers_from as error:
            return error
        except Exception as error:
            LOGGER.info("A thread reported an error, too: %s", error)
        return None

    def _require_open(self) -> None:
        if self._is_closed:
            raise RuntimeError("Session is already closed.")

    def _run(self, fetches, feed_dict, options, run_metadata) -> Any:
        session = self._require_session()
        if self._should_stop_now():
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), session)
        options = proto.RunOptions() if options is None else options
        requests = [hook.before_run(context) or SessionRunArgs(None) for hook in self._hooks]
        feeds = _all_feeds(requests, feed_dict)
        for request in requests:
            if request.options is not None:
                _merge_options(options, request.options)
        requested = [request.fetches for request in requests if request.fetches is not None]
        metadata = proto.RunMetadata() if run_metadata is None else run_metadata
        values = iter(session.run([fetches, *requested], feeds, options, metadata))
        fetched = next(values)
        for hook, request in zip(self._hooks, requests, strict=True):
            result = None if request.fetches is None else next(values)
            hook.after_run(context, SessionRunValues(result, options, metadata))
        self._stop_requested = self._stop_requested or context.stop_requested
        return fetched

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """What `step_fn(step_context)` gives; see StepContext.

        Raises ValueError for a function of other arguments.
        """
        names = tuple(inspect.signature(step_fn).parameters)
        if names != ("step_context",):
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and "
                f"`step_context` arguments if it's an instance method. Got {names} instead."
            )

        def step() -> Any:
            return step_fn(StepContext(self._require_session(), self._run_once))

        return self._recovering(step)

    def _run_once(self, fetches, feed_dict=None, options=None, run_metadata=None) -> Any:
        return self._run(fetches, feed_dict, options, run_metadata)

    def should_stop(self) -> bool:
        """Whether a hook, a thread or `close` has asked for a stop."""
        if self._is_closed:
            return True
        try:
            if self._coord is not None:
                self._coord.raise_requested_exception()
        except self._recovers_from as error:
            self._lose(error)
            self._require_session()
            return False
        except Exception:
            return True
        return self._should_stop_now()

    def _should_stop_now(self) -> bool:
        return self._stop_requested or (self._coord is not None and self._coord.should_stop())

    def close(self) -> None:
        """Ends hooks, threads and session."""
        self._close(True)

    def _close(self, in_order: bool) -> None:
        try:
            if in_order and self._session is not None:
                for hook in self._hooks:
                    hook.end(self._session)
        finally:
            self._require_open()
            self._is_closed = True
            try:
                self._end_session()
            finally:
                if not self._was_finalized:
                    self._graph.scopes.finalized = False

    def __exit__(self, kind, error, trace) -> bool:
        is_clean = kind is None or kind in (OutOfRangeError, StopIteration)
        self._close(is_clean)
        return is_clean


def _all_feeds(requests: Sequence[SessionRunArgs], feed_dict) -> dict | None:
    """The feeds of hooks and caller; RuntimeError when two feed one tensor."""
    feeds: dict = {}
    for request in requests:
        _require_apart(feeds, request.feed_dict or {}, "Same tensor is fed by two hooks.")
        feeds.update(request.feed_dict or {})
    words = "Same tensor is fed by a SessionRunHook and user."
    _require_apart(feeds, feed_dict or {}, words)
    return {**feeds, **(feed_dict or {})} or None


def _require_apart(feeds: dict, others: dict, words: str) -> None:
    shared = [key for key in others if key in feeds]
    if shared:
        raise RuntimeError(f"{words} Conflict(s): {shared}")


def _merge_options(options: Message, other: Message) -> None:
    for name in ("trace_level", "timeout_in_ms", "inter_op_thread_pool"):
        setattr(options, name, max(getattr(options, name), getattr(other, name)))
    for name in ("output_partition_graphs", "report_tensor_allocations_upon_oom"):
        setattr(options, name, getattr(options, name) or getattr(other, name))


class MonitoredSession(_Monitored):
    """A session that is made ready, watched by hooks, and ended in order.

    An AbortedError or UnavailableError of a run leads to a new session, in which it is run again.

    Args:
        session_creator: A SessionCreator; a ChiefSessionCreator by default.
        hooks: SessionRunHooks.
        stop_grace_period_secs: How long threads may go on after a stop was asked for.
    """

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ):
        super().__init__(session_creator, hooks, LOST, stop_grace_period_secs)

    def __enter__(self) -> MonitoredSession:
        return self


class SingularMonitoredSession(_Monitored):
    """A MonitoredSession that gives its session away, and is not made anew.

    Args:
        hooks: SessionRunHooks.
        scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path: As of
            ChiefSessionCreator.
        stop_grace_period_secs: How long threads may go on after a stop was asked for.
    """

    def __init__(
        self,
        hooks: Sequence[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config=None,
        checkpoint_dir=None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path=None,
    ):
        creator = ChiefSessionCreator(
            scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path
        )
        super().__init__(creator, hooks, (), stop_grace_period_secs)

    def raw_session(self) -> Session | None:
        """The session itself; None when it is closed."""
        return self._session

    def __enter__(self) -> SingularMonitoredSession:
        return self


def MonitoredTrainingSession(
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir=None,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: Any = USE_DEFAULT,
    save_summaries_steps: Any = USE_DEFAULT,
    save_summaries_secs: Any = USE_DEFAULT,
    config=None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: Any = USE_DEFAULT,
    summary_dir=None,
    save_graph_def: bool = True,
) -> MonitoredSession:
    """A MonitoredSession with the usual hooks.

    Args:
        master: "" for this process.
        is_chief: Whether it makes the model ready, and writes; else it waits for the chief.
        checkpoint_dir: Where the latest checkpoint is restored from, and new ones go to.
        scaffold: A Scaffold; a new one by default.
        hooks: Further hooks.
        chief_only_hooks: Further hooks of the chief.
        save_checkpoint_secs, save_checkpoint_steps: How often to save; every 600 s by default,
            never when both are None.
        save_summaries_steps, save_summaries_secs: How often to write summaries; every 100 steps by
            default, never when both are None.
        config: Of the session.
        stop_grace_period_secs: How long threads may go on after a stop was asked for.
        log_step_count_steps: How often steps per second are logged; None: never.
        max_wait_secs: How long to wait for the chief.
        summary_dir: Where summaries go; `checkpoint_dir` by default.
        save_graph_def: Whether the graph is written with checkpoints.
    """
    summary_steps, summary_secs = _intervals(save_summaries_steps, save_summaries_secs, (100, None))
    save_steps, save_secs = _intervals(save_checkpoint_steps, save_checkpoint_secs, (None, 600))
    scaffold = Scaffold() if scaffold is None else scaffold
    if not is_chief:
        creator = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(creator, hooks, stop_grace_period_secs)
    all_hooks = list(chief_only_hooks or ())
    folder = summary_dir or checkpoint_dir
    if folder and log_step_count_steps and log_step_count_steps > 0:
        all_hooks.append(StepCounterHook(log_step_count_steps, output_dir=folder))
    if folder and (summary_steps or summary_secs):
        all_hooks.append(SummarySaverHook(summary_steps, summary_secs, folder, scaffold=scaffold))
    if checkpoint_dir and (save_steps or save_secs):
        all_hooks.append(
            CheckpointSaverHook(
                checkpoint_dir,
                save_secs,
                save_steps,
                scaffold=scaffold,
                save_graph_def=save_graph_def,
            )
        )
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(creator, [*all_hooks, *(hooks or ())], stop_grace_period_secs)


def _intervals(steps: Any, secs: Any, default: tuple) -> tuple[Any, Any]:
    """Two intervals, of which one is given or both are left out; 0 and less mean never."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return default
    pair = (None if value is USE_DEFAULT else value for value in (steps, secs))
    steps, secs = (value if value and value > 0 else None for value in pair)
    return (None if secs is not None else steps), secs
