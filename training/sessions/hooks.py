"""Hooks that come with `tf.train`: ends, counts, logs, profiles."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...graph.core.scopes import get_default_graph
from ...schema import proto
from ...schema.errors import OutOfRangeError
from ...schema.files import make_folder, write_atomic
from ..global_step import get_global_step
from ..summary_writer import FileWriter, FileWriterCache
from ..timeline import chrome_trace
from .hook_steps import SecondOrStepTimer, required_step
from .session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

if TYPE_CHECKING:
    from ...graph.session.session import Session
    from .coordinator import Coordinator

LOGGER = logging.getLogger("flatlite")


class StopAtStepHook(SessionRunHook):
    """Asks for a stop when the global step has come so far.

    Args:
        num_steps: How many steps from the start on.
        last_step: The step to stop at.

    Raises ValueError unless exactly one of both is given.
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None):
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self) -> None:
        """Finds the global step."""
        self._step = required_step(self)

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Finds out where to stop."""
        if self._last_step is None:
            self._last_step = int(session.run(self._step)) + (self._num_steps or 0)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the step."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Asks for a stop, when it is time."""
        last = self._last_step or 0
        if run_values.results + 1 >= last and run_context.session.run(self._step) >= last:
            run_context.request_stop()


class StepCounterHook(SessionRunHook):
    """Logs how many steps are done in a second, also as summaries.

    Args:
        every_n_steps, every_n_secs: How often; one of both.
        output_dir: The folder for summaries.
        summary_writer: What writes them.
    """

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir=None,
        summary_writer: FileWriter | None = None,
    ):
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_n_secs, every_n_steps)
        self._writer, self._folder = summary_writer, output_dir
        self._last_step: int | None = None
        self._n_warnings = 0

    def begin(self) -> None:
        """Finds the global step and the folder's event file."""
        if self._writer is None and self._folder:
            self._writer = FileWriterCache.get(self._folder)
        self._step = required_step(self)
        step = get_global_step()
        self._tag = f"{'global_step' if step is None else step.op.name}/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the step."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Logs, when it is time."""
        before = int(run_values.results)
        if self._timer.should_trigger_for_step(before + 1):
            step = int(run_context.session.run(self._step))
            if self._timer.should_trigger_for_step(step):
                seconds, steps = self._timer.update_last_triggered_step(step)
                if seconds is not None and steps is not None:
                    self._log_and_record(steps, seconds, step)
        if before == self._last_step and self._n_warnings < 5:
            self._n_warnings += 1
            LOGGER.warning(
                "It seems that global step (tf.train.get_global_step) has not been increased. "
                "Current value (could be stable): %s vs previous value: %s. You could increase "
                "the global step by passing tf.train.get_global_step() to "
                "Optimizer.apply_gradients or Optimizer.minimize.",
                before,
                self._last_step,
            )
        self._last_step = before

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        speed = elapsed_steps / elapsed_time
        if self._writer is not None:
            summary = proto.Summary()
            summary.value.add(tag=self._tag, simple_value=speed)
            self._writer.add_summary(summary, global_step)
        LOGGER.info("%s: %g", self._tag, speed)


class LoggingTensorHook(SessionRunHook):
    """Logs tensors.

    Args:
        tensors: Tensors or their names; a dict has other words for them in the log.
        every_n_iter, every_n_secs: How often; one of both.
        at_end: Whether they are logged at the end, too, or just there.
        formatter: A function of a dict of the values that gives the text.

    Raises ValueError when it would never log, or both intervals are given.
    """

    def __init__(
        self,
        tensors: Mapping[str, Any] | Sequence[Any],
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict], str] | None = None,
    ):
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs must be "
                "provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if isinstance(tensors, Mapping):
            self._tensors = {tag: tensors[tag] for tag in sorted(tensors)}
        else:
            self._tensors = {item: item for item in tensors}
        self._formatter, self._at_end = formatter, at_end
        self._timer = None if only_at_end else SecondOrStepTimer(every_n_secs, every_n_iter)

    def begin(self) -> None:
        """Finds the tensors."""
        if self._timer is not None:
            self._timer.reset()
        self._count = 0
        self._current = {tag: _element(item) for tag, item in self._tensors.items()}

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Asks for the tensors, when it is time."""
        timer = self._timer
        self._is_due = timer is not None and timer.should_trigger_for_step(self._count)
        return SessionRunArgs(list(self._current.values())) if self._is_due else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Logs them."""
        if self._is_due:
            self._log_tensors(run_values.results)
        self._count += 1

    def end(self, session: Session) -> None:
        """Logs them for the last time, if that was asked for."""
        if self._at_end:
            self._log_tensors(cast("Sequence[Any]", session.run(list(self._current.values()))))

    def _log_tensors(self, values: Sequence[Any]) -> None:
        seconds = None
        if self._timer is not None:
            seconds, _ = self._timer.update_last_triggered_step(self._count)
        by_tag = dict(zip(self._current, values, strict=True))
        if self._formatter is not None:
            LOGGER.info(self._formatter(by_tag))
            return
        with np.printoptions(suppress=True):
            text = ", ".join(f"{tag} = {value}" for tag, value in by_tag.items())
        LOGGER.info(text if seconds is None else f"{text} ({seconds:.3f} sec)")


def _element(item) -> Any:
    """A tensor of the default graph, or the only one of an operation's name."""
    graph = get_default_graph()
    if not isinstance(item, str):
        if getattr(item, "graph", None) is not graph:
            raise ValueError(
                f"Passed {item} should have graph attribute that is equal to current graph {graph}."
            )
        return item
    if ":" in item:
        return graph.as_graph_element(item)
    element = graph.as_graph_element(f"{item}:0")
    if len(graph.get_operation_by_name(item).outputs) > 1:
        raise ValueError(
            f"Name {item} is ambiguous, as this `Operation` has multiple outputs (at least 2)."
        )
    return element


class NanLossDuringTrainingError(RuntimeError):
    """The loss is not a number."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Ends the training when the loss is no number.

    Args:
        loss_tensor: The loss.
        fail_on_nan_loss: Whether that raises NanLossDuringTrainingError, or asks for a stop.
    """

    def __init__(self, loss_tensor, fail_on_nan_loss: bool = True):
        self._loss, self._fails = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the loss."""
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Looks at it."""
        if not np.isnan(run_values.results):
            return
        words = "Model diverged with loss = NaN."
        if self._fails:
            LOGGER.error(words)
            raise NanLossDuringTrainingError
        LOGGER.warning(words)
        run_context.request_stop()


class GlobalStepWaiterHook(SessionRunHook):
    """Holds the first run back until others have brought the global step so far."""

    def __init__(self, wait_until_step: int):
        self._until = wait_until_step

    def begin(self) -> None:
        """Finds the global step."""
        self._is_started = False
        self._step = required_step(self)

    def before_run(self, run_context: SessionRunContext) -> None:
        """Waits."""
        while not self._is_started:
            step = 0 if self._until <= 0 else int(run_context.session.run(self._step))
            self._is_started = step >= self._until
            if not self._is_started:
                LOGGER.info(
                    "Waiting for global step %d before starting training. Current step is %d.",
                    self._until,
                    step,
                )
                time.sleep(0.5)


class FinalOpsHook(SessionRunHook):
    """Runs something at the end, and keeps its values."""

    def __init__(self, final_ops, final_ops_feed_dict=None):
        self._ops, self._feeds = final_ops, final_ops_feed_dict
        self._values = None

    @property
    def final_ops_values(self) -> Any:
        """What it gave."""
        return self._values

    def end(self, session: Session) -> None:
        """Runs it."""
        if self._ops is None:
            return
        try:
            self._values = session.run(self._ops, self._feeds)
        except (OutOfRangeError, StopIteration):
            LOGGER.warning(
                "FinalOpsHook: the final operations read more input than there is; they should "
                "read variables alone"
            )
            raise


class FeedFnHook(SessionRunHook):
    """Feeds what a function gives, anew for each run."""

    def __init__(self, feed_fn: Callable[[], dict]):
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Calls the function."""
        return SessionRunArgs(None, self.feed_fn())


class ProfilerHook(SessionRunHook):
    """Writes the times of a run: `timeline-<step>.json` for Chrome's tracing, and an event.

    Args:
        save_steps, save_secs: How often; one of both.
        output_dir: The folder.
        show_dataflow, show_memory: Taken for TensorFlow's sake.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir="",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ):
        self._folder = os.fspath(output_dir)
        self._writer = FileWriterCache.get(self._folder or os.curdir)
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        """Finds the global step."""
        self._next_step: int | None = None
        self._step = required_step(self)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the step, and for times when it is time."""
        step = self._next_step
        self._is_due = step is not None and self._timer.should_trigger_for_step(step)
        options = proto.RunOptions(trace_level=proto.RunOptions.FULL_TRACE)
        return SessionRunArgs(self._step, options=options if self._is_due else None)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Writes the times."""
        before = int(run_values.results)
        if self._next_step is None:
            self._timer.update_last_triggered_step(before)
        step = before + 1
        if self._is_due:
            step = int(run_context.session.run(self._step))
            self._timer.update_last_triggered_step(step)
            make_folder(self._folder or os.curdir)
            trace = json.dumps(chrome_trace(run_values.run_metadata.step_stats))
            path = os.path.join(self._folder, f"timeline-{step}.json")
            write_atomic(path, trace.encode())
            self._writer.add_run_metadata(run_values.run_metadata, f"step_{step}")
        self._next_step = step + 1
