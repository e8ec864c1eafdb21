"""SessionManager: sessions whose variables come from a checkpoint, or are initialised."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...graph.core.graph import Graph
from ...graph.core.scopes import get_collection, get_default_graph
from ...graph.session.session import Session
from ...schema.errors import DeadlineExceededError, FailedPreconditionError
from ..checkpoints.checkpoints import get_checkpoint_state

if TYPE_CHECKING:
    from ...schema.proto import Message
    from ..checkpoints.saver import Saver

LOGGER = logging.getLogger("flatlite")


class SessionManager:
    """Makes sessions and has their variables ready.

    Args:
        local_init_op: Run for each new session, once `ready_for_local_init_op` is content.
        ready_op: A tensor with the names of what is not initialised; the model is ready when it is
            empty.
        ready_for_local_init_op: The same, of what `local_init_op` needs.
        graph: The default graph when left out.
        recovery_wait_secs: Between two looks for a checkpoint, or at another's session.
        local_init_run_options, local_init_feed_dict: For the run of `local_init_op`.

    Raises ValueError for a `ready_for_local_init_op` without `local_init_op`.
    """

    def __init__(
        self,
        local_init_op=None,
        ready_op=None,
        ready_for_local_init_op=None,
        graph: Graph | None = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: Message | None = None,
        local_init_feed_dict=None,
    ):
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                "If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                f"ready_for_local_init_op [{ready_for_local_init_op}]"
            )
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = get_default_graph() if graph is None else graph
        self._wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options
        self._local_init_feed_dict = local_init_feed_dict

    def prepare_session(
        self,
        master: str = "",
        init_op=None,
        saver: Saver | None = None,
        checkpoint_dir=None,
        checkpoint_filename_with_path=None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config=None,
        init_feed_dict=None,
        init_fn: Callable[[Session], object] | None = None,
    ) -> Session:
        """A session that is ready: from a checkpoint, or initialised.

        Args:
            master: "" for this process.
            init_op: Run when there is no checkpoint.
            saver: What restores one.
            checkpoint_dir: Where to look for the latest one.
            checkpoint_filename_with_path: The one to restore.
            wait_for_checkpoint: Whether to wait for one.
            max_wait_secs: How long.
            config: Of the session.
            init_feed_dict: For the run of `init_op`.
            init_fn: Called with the session after `init_op`.

        Raises:
            RuntimeError: The model is not ready after all that.
            ValueError: Both places of checkpoints are given.
        """
        session, is_restored = self._restored(
            master,
            saver,
            checkpoint_dir,
            checkpoint_filename_with_path,
            wait_for_checkpoint,
            max_wait_secs,
            config,
        )
        if not is_restored:
            if init_op is None and init_fn is None and self._local_init_op is None:
                raise RuntimeError(
                    "Model is not initialized and no init_op or init_fn or local_init_op was given"
                )
            if init_op is not None:
                session.run(init_op, init_feed_dict)
            if init_fn is not None:
                init_fn(session)
        problem = self._initialize_locally(session)
        if problem is not None:
            raise RuntimeError(
                "Init operations did not make model ready for local_init.  Init op: "
                f"{_name_of(init_op)}, init fn: {init_fn}, error: {problem}"
            )
        problem = readiness_problem(self._ready_op, session)
        if problem is not None:
            raise RuntimeError(
                f"Init operations did not make model ready.  Init op: {_name_of(init_op)}, init "
                f"fn: {init_fn}, local_init_op: {self._local_init_op}, error: {problem}"
            )
        return session

    def recover_session(
        self,
        master: str = "",
        saver: Saver | None = None,
        checkpoint_dir=None,
        checkpoint_filename_with_path=None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config=None,
    ) -> tuple[Session, bool]:
        """A session, and whether a checkpoint made it ready; arguments as of `prepare_session`."""
        session, is_restored = self._restored(
            master,
            saver,
            checkpoint_dir,
            checkpoint_filename_with_path,
            wait_for_checkpoint,
            max_wait_secs,
            config,
        )
        local_problem = self._initialize_locally(session)
        if not is_restored:
            return session, False
        source = checkpoint_dir or checkpoint_filename_with_path
        if local_problem is not None:
            LOGGER.info(
                "Restoring model from %s did not make model ready for local init: %s",
                source,
                local_problem,
            )
            return session, False
        problem = readiness_problem(self._ready_op, session)
        if problem is not None:
            LOGGER.info("Restoring model from %s did not make model ready: %s", source, problem)
            return session, False
        LOGGER.info("Restored model from %s", source)
        return session, True

    def wait_for_session(
        self, master: str = "", config=None, max_wait_secs: float | None = float("inf")
    ) -> Session:
        """A session that somebody else has made ready.

        Raises DeadlineExceededError when that takes too long.
        """
        limit = float("inf") if max_wait_secs is None else max_wait_secs
        end = time.monotonic() + limit
        while True:
            session = Session(master, graph=self._graph, config=config)
            local_problem = self._initialize_locally(session)
            problem = None
            if local_problem is None:
                problem = readiness_problem(self._ready_op, session)
                if problem is None:
                    return session
            session.close()
            if end - time.monotonic() < self._wait_secs:
                raise DeadlineExceededError(
                    None, None, f"Session was not ready after waiting {limit:.0f} secs."
                )
            LOGGER.info(
                "Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s",
                local_problem,
                problem,
            )
            time.sleep(self._wait_secs)

    def _restored(
        self, master: str, saver, folder, path, waits: bool, max_wait_secs: float, config
    ) -> tuple[Session, bool]:
        """A new session, and whether its variables come from a checkpoint."""
        if folder and path:
            raise ValueError(
                "Can not provide both checkpoint_dir and checkpoint_filename_with_path."
            )
        session = Session(master, graph=self._graph, config=config)
        if saver is None or not (folder or path):
            return session, False
        if path:
            self._restore(session, saver, path)
            return session, True
        end = time.monotonic() + max_wait_secs
        state = get_checkpoint_state(folder)
        while state is None or not state.model_checkpoint_path:
            if not waits or time.monotonic() >= end:
                return session, False
            LOGGER.info("Waiting for checkpoint to be available.")
            time.sleep(self._wait_secs)
            state = get_checkpoint_state(folder)
        self._restore(session, saver, state.model_checkpoint_path)
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return session, True

    def _restore(self, session: Session, saver, path) -> None:
        with self._graph.as_default():
            initializers = get_collection("saved_model_initializers")
        if initializers:
            session.run(initializers)
        saver.restore(session, path)

    def _initialize_locally(self, session: Session) -> str | None:
        """Runs the local initializer; what it lacks, when it cannot run yet."""
        if self._local_init_op is None:
            return None
        problem = readiness_problem(self._ready_for_local_init_op, session)
        if problem is None:
            session.run(
                self._local_init_op, self._local_init_feed_dict, self._local_init_run_options
            )
        return problem


def readiness_problem(op, session: Session) -> str | None:
    """What an operation says is missing; None when nothing is."""
    if op is None:
        return None
    try:
        value = session.run(op)
    except FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            raise
        return str(error)
    if value is None or value.dtype == np.int32 or value.size == 0:
        return None
    return "Variables not initialized: " + ", ".join(item.decode() for item in value.ravel())


def _name_of(op) -> str:
    if op is None:
        return "None"
    return getattr(op, "name", f"<no name for {type(op)}>")
