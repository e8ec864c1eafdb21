"""Supervisor: a session with threads that save checkpoints and summaries beside the training."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...graph.core.graph import Graph
from ...graph.core.scopes import GraphKeys, add_to_collection, get_collection, get_default_graph
from ...graph.functions.flow.control_flow import group
from ...graph.functions.summaries import merge_all
from ...graph.session.session import Session
from ...graph.variables.variable_lists import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from ...schema import proto
from ...schema.errors import AbortedError
from ..checkpoints.saver import Saver
from ..export.meta_graph import export_meta_graph
from ..export.write_graph import write_graph
from ..global_step import global_step as step_of
from ..summary_writer import FileWriter
from .coordinator import Coordinator, LooperThread
from .queue_runner import QueueRunner
from .session_manager import SessionManager

if TYPE_CHECKING:
    from ...schema.proto import Message

LOGGER = logging.getLogger("flatlite")


class Supervisor:
    """Makes a model ready, saves it and its summaries in threads, and stops in order.

    What is left out is taken from the graph's collections, or made; None is without.

    Args:
        graph: The default graph when left out; it is finalized.
        ready_op: Names what is not initialised.
        ready_for_local_init_op: The same, of what `local_init_op` needs.
        is_chief: Whether it initialises and writes; else it waits for the chief.
        init_op: Initialises global variables.
        init_feed_dict: For its run.
        local_init_op: Initialises local variables and tables.
        logdir: The folder of checkpoints and events.
        summary_op: All summaries.
        saver: A Saver.
        global_step: Counts the steps.
        save_summaries_secs, save_model_secs: How often to write summaries and checkpoints; 0 never.
        recovery_wait_secs: Between two looks at the chief's session.
        stop_grace_secs: How long threads may go on after a stop was asked for.
        checkpoint_basename: What names of checkpoints start with.
        session_manager: A SessionManager.
        summary_writer: A FileWriter.
        init_fn: Called with the session after `init_op`.
        local_init_run_options: For the run of `local_init_op`.
    """

    USE_DEFAULT = 0

    def __init__(
        self,
        graph: Graph | None = None,
        ready_op: Any = USE_DEFAULT,
        ready_for_local_init_op: Any = USE_DEFAULT,
        is_chief: bool = True,
        init_op: Any = USE_DEFAULT,
        init_feed_dict=None,
        local_init_op: Any = USE_DEFAULT,
        logdir=None,
        summary_op: Any = USE_DEFAULT,
        saver: Any = USE_DEFAULT,
        global_step: Any = USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: SessionManager | None = None,
        summary_writer: Any = USE_DEFAULT,
        init_fn: Callable[[Session], object] | None = None,
        local_init_run_options: Message | None = None,
    ):
        graph = get_default_graph() if graph is None else graph
        with graph.as_default():
            self.ready_op = _in_collection(
                ready_op, GraphKeys.READY_OP, report_uninitialized_variables
            )
            self.ready_for_local_init_op = _in_collection(
                ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None
            )
            self.init_op = _in_collection(init_op, GraphKeys.INIT_OP, global_variables_initializer)
            self.local_init_op = _in_collection(
                local_init_op, GraphKeys.LOCAL_INIT_OP, _local_init_op
            )
            self.saver = _in_collection(saver, GraphKeys.SAVERS, _new_saver)
            self.summary_op = _in_collection(summary_op, GraphKeys.SUMMARY_OP, merge_all)
            self.global_step = _in_collection(global_step, GraphKeys.GLOBAL_STEP, _step_by_name)
            saver_def = None if self.saver is None else self.saver.saver_def
            definition = graph.as_graph_def(add_shapes=True)
            self._meta_graph = export_meta_graph(graph_def=definition, saver_def=saver_def)
        self.graph = graph
        self.is_chief = is_chief
        self.init_feed_dict = init_feed_dict
        self.coord = Coordinator()
        self._grace = stop_grace_secs
        self._init_fn = init_fn
        self._logdir = os.fspath(logdir) if logdir and is_chief else None
        self.save_summaries_secs = save_summaries_secs if is_chief else None
        self.save_model_secs = save_model_secs if is_chief else None
        self.save_path = None
        if self._logdir is not None:
            self.save_path = os.path.join(self._logdir, checkpoint_basename)
        self.summary_writer = None
        if is_chief and summary_writer is not Supervisor.USE_DEFAULT:
            self.summary_writer = summary_writer
        elif self._logdir is not None:
            self.summary_writer = FileWriter(self._logdir)
        self._is_graph_written = False
        self.session_manager = session_manager or SessionManager(
            self.local_init_op,
            self.ready_op,
            self.ready_for_local_init_op,
            graph,
            recovery_wait_secs,
            local_init_run_options,
        )
        self._require_devices()
        graph.finalize()

    def _require_devices(self) -> None:
        """Raises ValueError when variables that replicas share have no device."""
        for op in () if self.is_chief else self.graph.operations:
            if op.type in ("Variable", "VariableV2") and not op.device:
                raise ValueError(
                    f"When using replicas, all Variables must have their device set: {op}"
                )

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config=None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Session:
        """A session that is ready, with its services started.

        Args:
            master: "" for this process.
            config: Of the session.
            wait_for_checkpoint: Whether to wait for a checkpoint.
            max_wait_secs: How long to wait, also for the chief.
            start_standard_services: Whether threads are started.
        """
        self.coord.clear_stop()
        if self.summary_writer is not None:
            self.summary_writer.reopen()
        if self.is_chief:
            session = self.session_manager.prepare_session(
                master,
                init_op=self.init_op,
                saver=self.saver,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs,
                config=config,
                init_feed_dict=self.init_feed_dict,
                init_fn=self._init_fn,
            )
            self._write_graph()
            if start_standard_services:
                self.start_standard_services(session)
        else:
            session = self.session_manager.wait_for_session(master, config, max_wait_secs)
        if start_standard_services:
            self.start_queue_runners(session)
        return session

    def _write_graph(self) -> None:
        if self._logdir is not None:
            write_graph(self.graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self.summary_writer is not None and not self._is_graph_written:
            self.summary_writer.add_graph(self.graph)
            self.summary_writer.add_meta_graph(self._meta_graph)
            self._is_graph_written = True

    @contextlib.contextmanager
    def managed_session(
        self,
        master: str = "",
        config=None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Session]:
        """A block with a session; at its end everything stops.

        An exception of the block or of a thread is raised then, but for OutOfRangeError.
        """
        session = None
        try:
            session = self.prepare_or_wait_for_session(
                master, config, start_standard_services=start_standard_services
            )
            yield session
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if session is not None:
                    session.close()

    def start_standard_services(self, sess: Session) -> list[threading.Thread] | None:
        """Starts the threads for summaries, steps per second and checkpoints.

        Raises RuntimeError when it is not the chief.
        """
        if not self.is_chief:
            raise RuntimeError(
                "Only chief supervisor can start standard services. Because only chief supervisors "
                "can write events."
            )
        if self._logdir is None:
            LOGGER.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        step, writer = self.global_step, self.summary_writer
        if step is not None and writer is not None:
            start = proto.SessionLog(status=proto.SessionLog.START)
            writer.add_session_log(start, step_of(sess, step))
        threads: list[threading.Thread] = []
        if self.save_summaries_secs and writer is not None:
            if self.summary_op is not None:
                threads.append(SummaryThread(self, sess))
            if step is not None:
                threads.append(StepCounterThread(self, sess))
        if self.saver is not None and self.save_model_secs:
            threads.append(CheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def start_queue_runners(
        self, sess: Session, queue_runners: Sequence[QueueRunner] | None = None
    ) -> list[threading.Thread]:
        """Starts the threads of queue runners, by default of those in QUEUE_RUNNERS."""
        if queue_runners is None:
            queue_runners = self.graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        return [
            thread
            for runner in queue_runners
            for thread in runner.create_threads(sess, self.coord, daemon=True, start=True)
        ]

    def loop(
        self,
        timer_interval_secs: float | None,
        target: Callable[..., object],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> LooperThread:
        """Starts a thread that calls `target` every so often."""
        return LooperThread.loop(self.coord, timer_interval_secs, target, args, kwargs)

    def stop(
        self,
        threads: Sequence[threading.Thread] | None = None,
        close_summary_writer: bool = True,
        ignore_live_threads: bool = False,
    ) -> None:
        """Stops all threads, and raises what one of them has raised."""
        self.coord.request_stop()
        try:
            self.coord.join(threads, self._grace, ignore_live_threads)
        finally:
            if close_summary_writer and self.summary_writer is not None:
                self.summary_writer.add_session_log(proto.SessionLog(status=proto.SessionLog.STOP))
                self.summary_writer.close()
                self._is_graph_written = False

    def request_stop(self, ex=None) -> None:
        """Asks all threads to stop; see Coordinator."""
        self.coord.request_stop(ex)

    def should_stop(self) -> bool:
        """Whether a stop was asked for."""
        return self.coord.should_stop()

    def stop_on_exception(self) -> contextlib.AbstractContextManager[None]:
        """A block whose exception asks for a stop."""
        return self.coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """Waits until a stop is asked for."""
        self.coord.wait_for_stop()

    def summary_computed(self, sess: Session, summary, global_step: int | None = None) -> None:
        """Writes a summary, at the session's step when none is given.

        Raises:
            TypeError: It is no Summary.
            RuntimeError: There is nothing to write it with.
        """
        if self.summary_writer is None:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if not isinstance(summary, (bytes, np.bytes_, proto.Summary)):
            raise TypeError(f"summary must be a Summary or its bytes, got {type(summary).__name__}")
        if global_step is None and self.global_step is not None:
            global_step = step_of(sess, self.global_step)
        self.summary_writer.add_summary(summary, global_step)

    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


def _in_collection(value: Any, key: str, make: Callable[[], Any]) -> Any:
    """What is given, else the first item of a collection, else a new one, which is added."""
    if value is not Supervisor.USE_DEFAULT:
        return value
    items = get_collection(key)
    if items:
        return items[0]
    default = make()
    if default is not None:
        add_to_collection(key, default)
    return default


def _local_init_op():
    return group(local_variables_initializer(), *get_collection(GraphKeys.TABLE_INITIALIZERS))


def _new_saver() -> Saver | None:
    return Saver() if global_variables() else None


def _step_by_name():
    graph = get_default_graph()
    if "global_step" not in graph:
        return None
    step = graph.get_tensor_by_name("global_step:0")
    return step if step.dtype in (np.int32, np.int64) else None


class SummaryThread(LooperThread):
    """Writes a supervisor's summaries."""

    def __init__(self, sv: Supervisor, sess: Session):
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self) -> None:
        """Writes them once."""
        step = self._sv.global_step
        fetches = [self._sv.summary_op, *([] if step is None else [step])]
        summary, *steps = self._sess.run(fetches)
        if self._sv.summary_writer is not None:
            self._sv.summary_writer.add_summary(summary, steps[0] if steps else None)


class StepCounterThread(LooperThread):
    """Writes how many steps are done in a second."""

    def __init__(self, sv: Supervisor, sess: Session):
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess

    def start_loop(self) -> None:
        """Begins to count."""
        self._last_time = time.time()
        self._last_step = step_of(self._sess, self._sv.global_step)

    def run_loop(self) -> None:
        """Writes it once."""
        now, step = time.time(), step_of(self._sess, self._sv.global_step)
        seconds, steps = now - self._last_time, step - self._last_step
        self._last_time, self._last_step = now, step
        tag = f"{self._sv.global_step.op.name}/sec"
        speed = steps / seconds if seconds > 0 else float("inf")
        summary = proto.Summary()
        summary.value.add(tag=tag, simple_value=speed)
        if self._sv.summary_writer is not None:
            self._sv.summary_writer.add_summary(summary, step)


class CheckpointThread(LooperThread):
    """Saves a supervisor's checkpoints."""

    def __init__(self, sv: Supervisor, sess: Session):
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self) -> None:
        """Saves one."""
        sv = self._sv
        with sv.graph.as_default():
            sv.saver.save(self._sess, sv.save_path, global_step=sv.global_step)
        if sv.summary_writer is not None and sv.global_step is not None:
            log = proto.SessionLog(status=proto.SessionLog.CHECKPOINT, checkpoint_path=sv.save_path)
            sv.summary_writer.add_session_log(log, step_of(self._sess, sv.global_step))


def basic_train_loop(
    supervisor: Supervisor,
    train_step_fn: Callable[..., object],
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    master: str = "",
) -> None:
    """Calls `train_step_fn(session, *args, **kwargs)` until the supervisor stops.

    After an AbortedError it begins again with a new session.
    """
    is_done = False
    while not is_done:
        is_done = True
        try:
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *(args or ()), **(kwargs or {}))
        except AbortedError:
            is_done = False
