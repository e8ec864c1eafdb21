"""CheckpointManager: the checkpoints of a folder, the old ones removed; waiting for new ones."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...graph.core.graph import Tensor
from ...graph.core.scopes import get_default_session
from ...graph.variables.variables import Variable
from ...schema.files import remove_leftovers
from .checkpoints import get_checkpoint_state, latest_checkpoint, remove_checkpoint, write_state
from .load_status import session_or_default
from .object_checkpoint import Checkpoint

HOUR = 3600.0
POLL_SECONDS = 1.0


class CheckpointManager:
    """Saves a Checkpoint again and again, and keeps some of what it has saved.

    What it knows is in the folder's state file: another manager of the same folder goes on where
    the one before was stopped. Only one may be at work in a folder at a time.

    Args:
        checkpoint: What to save.
        directory: Where; made when it is missing.
        max_to_keep: How many checkpoints to keep; older ones are removed. None for all.
        keep_checkpoint_every_n_hours: A checkpoint that is to be removed is kept for good when it
            was made at least so long after the last one that was.
        checkpoint_name: The beginning of the checkpoints' names.
        step_counter: A variable with the step, for `checkpoint_interval`.
        checkpoint_interval: How many steps lie between two checkpoints at least.
        init_fn: What `restore_or_initialize` calls where there is no checkpoint.
        last_checkpoint_step: The step of the last checkpoint, for `checkpoint_interval`.

    Raises:
        ValueError: `max_to_keep` is less than 1, or `step_counter` is missing.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Variable | None = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}."
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError(
                "`step_counter` should be passed if `checkpoint_interval` is not None."
            )
        self._checkpoint = checkpoint
        self._directory = os.fspath(directory)
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._max_to_keep = max_to_keep
        self._every_n_hours = keep_checkpoint_every_n_hours
        self._step_counter = step_counter
        self._checkpoint_interval = checkpoint_interval
        self._init_fn = init_fn
        self._last_step = last_checkpoint_step
        self._latest: str | None = None
        self._active: dict[str, float] = {}
        self._last_preserved = time.time() - 1
        self._recover()

    def _recover(self) -> None:
        """Takes over what the folder's state file says."""
        state = get_checkpoint_state(self._directory)
        if state is None:
            return
        now = time.time()
        self._latest = state.model_checkpoint_path
        self._last_preserved = min(state.last_preserved_timestamp, now)
        paths = list(state.all_model_checkpoint_paths)
        times = list(state.all_model_checkpoint_timestamps) or [self._last_preserved] * len(paths)
        for path, written in zip(paths, times, strict=True):
            if min(written, now) > self._last_preserved:
                self._active[path] = min(written, now)

    @property
    def directory(self) -> str:
        """The folder."""
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        """What is saved."""
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int | None:
        """How many steps lie between two checkpoints at least."""
        return self._checkpoint_interval

    @property
    def latest_checkpoint(self) -> str | None:
        """The newest checkpoint of the folder, None when there is none."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The checkpoints that may still be removed, the oldest first."""
        return list(self._active)

    def save(
        self,
        checkpoint_number: int | Variable | Tensor | None = None,
        check_interval: bool = True,
        options: Any = None,
    ) -> str | None:
        """Writes a checkpoint with the values of the default session, and removes old ones.

        Args:
            checkpoint_number: What to put behind the name; the checkpoint's `save_counter`, which
                is incremented in any case, by default.
            check_interval: Whether to save nothing when the last checkpoint is less than
                `checkpoint_interval` steps away; nothing is saved twice in one step.
            options: Taken for TensorFlow's sake.

        Returns:
            The checkpoint's name; None when nothing was saved.

        Raises:
            ValueError: There is no default session.
        """
        session = session_or_default(get_default_session())
        if self._checkpoint_interval is not None and not self._is_due(check_interval):
            return None
        if "save_counter" not in self._checkpoint._references:
            session.run(self._checkpoint.save_counter.initializer)
        count = self._checkpoint.count(session)
        if checkpoint_number is None:
            checkpoint_number = count
        elif not isinstance(checkpoint_number, int | np.integer):
            checkpoint_number = int(session.run(checkpoint_number))
        path = self._checkpoint.write(f"{self._prefix}-{checkpoint_number:d}", session)
        self._active.pop(path, None)
        self._active[path] = time.time()
        self._latest = path
        removed = self._swept()
        self._write_state()
        for old in removed:
            remove_checkpoint(old)
        remove_leftovers(self._prefix)
        return path

    def _is_due(self, check_interval: bool) -> bool:
        """Whether a checkpoint may be written at this step, which is noted then."""
        step = self._step()
        last, interval = self._last_step, self._checkpoint_interval or 0
        if last is not None and (step == last or (check_interval and step < last + interval)):
            return False
        self._last_step = step
        return True

    def _step(self) -> int:
        return int(session_or_default(None).run(self._step_counter))

    def _swept(self) -> list[str]:
        """Takes the checkpoints that are one too many from the list; those to remove."""
        removed: list[str] = []
        while self._max_to_keep and len(self._active) > self._max_to_keep:
            path = next(iter(self._active))
            time_written = self._active.pop(path)
            every = self._every_n_hours
            if every and time_written - every * HOUR >= self._last_preserved:
                self._last_preserved = time_written
            else:
                removed.append(path)
        return removed

    def _write_state(self) -> None:
        write_state(
            self._directory,
            self._latest,
            self.checkpoints,
            relative=True,
            times=list(self._active.values()),
            preserved=self._last_preserved,
        )

    def restore_or_initialize(self) -> str | None:
        """Restores the newest checkpoint in the default session, else calls `init_fn`.

        Returns:
            The checkpoint's name; None when there is none.
        """
        if self._latest is None:
            if self._init_fn is not None:
                self._init_fn()
            return None
        self._checkpoint.restore(self._latest).initialize_or_restore()
        if self._checkpoint_interval is not None:
            self._last_step = self._step()
        return self._latest


def checkpoints_iterator(
    checkpoint_dir,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], Any] | None = None,
) -> Iterator[str]:
    """The checkpoints of a folder as they come, for a program that evaluates them.

    It looks for a new one when the one before has been used, so some may be passed over.

    Args:
        checkpoint_dir: The folder.
        min_interval_secs: How long two checkpoints lie apart at least, in seconds.
        timeout: How long to wait for a new one; forever when None.
        timeout_fn: Called after `timeout`; when it gives something false, the wait goes on.
    """
    path: str | None = None
    while True:
        newest = _wait_for_new(checkpoint_dir, path, timeout)
        if newest is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        begun, path = time.time(), newest
        yield path
        time.sleep(max(0.0, begun + min_interval_secs - time.time()))


def _wait_for_new(folder, last: str | None, timeout: float | None) -> str | None:
    """The latest checkpoint of a folder when it is another than `last`; None after `timeout`."""
    end = None if timeout is None else time.time() + timeout
    while True:
        path = latest_checkpoint(folder)
        if path is not None and path != last:
            return path
        if end is not None and time.time() + POLL_SECONDS > end:
            return None
        time.sleep(POLL_SECONDS)
