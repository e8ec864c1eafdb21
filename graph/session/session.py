"""Session: runs parts of a graph and keeps its variables."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ...engine.run.limits import checked_timeout
from ...engine.run.stages import Control
from ...engine.run.thread_pool import available_processors
from ...engine.run.times import Times as RunTimes
from ...schema import proto
from ...schema.errors import (
    CancelledError,
    DeadlineExceededError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
)
from ..core.graph import Graph, Operation, Tensor
from ..core.scopes import (
    default_session,
    get_default_graph,
)
from ..format.graphdef import to_graph_def
from ..format.prune import prune
from .dataflow import run_plan_of
from .devices import DeviceAttributes, get_intra_op_parallelism_threads
from .executor import Times
from .feeds import FedArrays, fed_back, fed_parts
from .fetches import Fetches
from .partial_runs import PartialRun
from .plan_pool import PlanPool
from .resetting import note_open, reset
from .run_limits import checked_delegates, checked_limits
from .run_metadata import write_times
from .run_profile import by_operation, recorded
from .session_tensors import TensorHandle
from .state import State

if TYPE_CHECKING:
    import numpy.typing as npt

    from ...engine.run.limits import Limits
    from ...engine.run.times import OperatorTime
    from ...schema.proto import Message
    from ..core.protocols import Evaluated, FeedDict, FeedKey
    from ..format.messages import GraphDef
    from .cluster.tasks import Task
    from .delegated import DelegationReport, SessionDelegate
    from .fetches import FetchNest

Blocks: TypeAlias = "tuple[AbstractContextManager[Graph], AbstractContextManager[Session]]"
PlanKey: TypeAlias = "tuple[tuple[Tensor | Operation, ...], Hashable]"
"""What is fetched; tensor, shape and dtype of what is fed."""

LOGGER = logging.getLogger("flatlite")
MEMORY_LIMIT = 256 << 20
"""What TensorFlow says of processors."""
LOCAL = ("", "local")
"""Targets of sessions of this process."""
MAX_PLANS = 64
"""Compiled runs a Session keeps."""
HANDLES = ("GetSessionHandle", "GetSessionHandleV2")
"""Operations whose result a run gives as a TensorHandle."""


class Session:
    """Runs operations of a graph and holds the values of its variables.

    Args:
        target: "" or "local" for this process; the `target` of a `tf.train.Server`, in this
            process or another, whose variables, queues and tables outlive the session.
        graph: The default graph when left out.
        config: A ConfigProto. `intra_op_parallelism_threads` is the number of threads that share
            the work of a run, 0 for what `tf.config.threading` says, or one per processor;
            `operation_timeout_in_ms` limits runs that have no limit of their own.
        memory_limit: Bytes that the tensors of one run may take together where it is compiled; 3/4
            of the memory left, at most 64 GiB, when left out.
        limits: What a run may ask for at most: a `flatlite.lite.Limits` of memory, elements,
            tensors and operators.
        profile: Time every operation of each run, for the method `profile`.
        delegates: Who may run parts of each run elsewhere, such as `flatlite.lite.load_delegate`
            gives; the first may choose first. See `delegate_report`.

    Raises:
        TypeError: `graph`, `config`, `memory_limit` or `limits` is something else.
        ValueError: The number of threads, or of bytes, is negative; `limits` are those of files.
        NotFoundError: `target` is no server's.
        UnavailableError: Nobody listens at the server's address.

    >>> import flatlite.compat.v1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.placeholder(tf.float32, [None, 2])
    ...     print(session.run(tf.reduce_sum(x, 1), {x: [[1, 2], [3, 4]]}))
    [3. 7.]
    """

    def __init__(
        self,
        target: str = "",
        graph: Graph | None = None,
        config: Message | None = None,
        *,
        memory_limit: int | None = None,
        limits: Limits | None = None,
        profile: bool = False,
        delegates: Sequence[SessionDelegate] = (),
    ):
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(
                f'Argument `graph` must be a tf.Graph, but got "{type(graph).__name__}"'
            )
        if config is not None and not hasattr(config, "intra_op_parallelism_threads"):
            raise TypeError(
                f'Argument `config` must be a tf.ConfigProto, but got "{type(config).__name__}"'
            )
        if not isinstance(target, str):
            raise TypeError(
                f'Argument `target` must be a string, but got "{type(target).__name__}"'
            )
        task = _task_of(target)
        self._graph = get_default_graph() if graph is None else graph
        self._target, self._task = target, task
        self._config = config or (task and task.config) or proto.ConfigProto()
        threads = self._config.intra_op_parallelism_threads
        if threads < 0:
            raise ValueError(f"intra_op_parallelism_threads must not be negative, got {threads}")
        self._n_threads = threads or get_intra_op_parallelism_threads() or available_processors()
        shares = None if self._config.isolate_session_state else task
        self.state = State(checked_limits(limits, memory_limit), shares)
        self._times = RunTimes() if profile else None
        self._delegates = checked_delegates(delegates)
        self._report: DelegationReport | None = None
        self._closed = False
        self._plans: PlanPool[PlanKey] = PlanPool(MAX_PLANS)
        self._fetches: dict[Hashable, Fetches] = {}
        self._blocks: list[Blocks] = []
        self._partial_runs: dict[str, PartialRun] = {}
        self._n_partial_runs = 0
        self._end_error: OpError | None = None
        note_open(self)

    @property
    def graph(self) -> Graph:
        """The graph it runs."""
        return self._graph

    @property
    def graph_def(self) -> GraphDef:
        """Its graph as a GraphDef message."""
        return self._graph.as_graph_def(add_shapes=self._config.graph_options.infer_shapes)

    @property
    def task(self) -> Task | None:
        """The task of the server that it runs on; None in this process alone."""
        return self._task

    @property
    def sess_str(self) -> str:
        """The target it was made with."""
        return self._target

    def run(
        self,
        fetches: FetchNest,
        feed_dict: FeedDict | None = None,
        options: Message | None = None,
        run_metadata: Message | None = None,
        *,
        timeout: float | None = None,
    ) -> Evaluated:
        """Computes `fetches`.

        Args:
            fetches: A tensor, operation, variable or name of one; or a list, tuple, dict or
                namedtuple of such, nested as deep as you like.
            feed_dict: Values to take in place of tensors, by tensor or name.
            options: A RunOptions. `timeout_in_ms`, where it is not 0, is how long the run may take;
                it is looked at every 50 ms, and between steps in Python. Any `trace_level` above 0
                fills `run_metadata`.
            run_metadata: A RunMetadata that gets the time of each operation.
            timeout: Seconds that the run may take, in the place of `timeout_in_ms`.

        Returns:
            An array for each tensor and None for each operation, in the structure of `fetches`.

        Raises:
            RuntimeError: The session is closed, or its graph is empty.
            TypeError: Something cannot be fetched or fed.
            ValueError: A fed value has not the shape of its tensor, a name is not of this graph,
                or `timeout` is negative.
            OpError: An operation failed.
            ResourceExhaustedError: Its tensors need more memory than they may take.
            DeadlineExceededError: It took longer than `timeout` or `options` allow.
            CancelledError: Another thread called `cancel`, or closed the session, meanwhile.
        """
        self._check_open()
        parsed_fetches = self._parse_fetches(fetches)
        feeds = self._feeds(feed_dict) if feed_dict else {}
        seconds = self._seconds(options, timeout)
        traced = options is not None and options.trace_level > 0
        times: Times | None = [] if traced and run_metadata is not None else None
        results = self._run(parsed_fetches.elements, feeds, times, seconds)
        if run_metadata is not None:
            run_metadata.Clear()
            if times is not None:
                write_times(run_metadata, times)
            if options is not None and options.output_partition_graphs:
                pruned = prune(self._graph, parsed_fetches.elements)
                run_metadata.partition_graphs.add().CopyFrom(to_graph_def(pruned))
        return parsed_fetches.results(results)

    def _check_open(self) -> None:
        if self._end_error is not None:
            raise type(self._end_error)(None, None, self._end_error.message)
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if not len(self._graph):
            raise RuntimeError(
                "The Session graph is empty. Add operations to the graph before calling run()."
            )

    def partial_run_setup(self, fetches: FetchNest, feeds: Sequence[FeedKey] | None = None) -> str:
        """Starts a run in several steps, each a call of `partial_run`.

        Args:
            fetches: What will be fetched, each once.
            feeds: The tensors that will be fed, each once.

        Returns:
            What `partial_run` takes.

        Raises:
            RuntimeError: The session is closed, or its graph is empty.
            TypeError: Something cannot be fetched or fed.
            InvalidArgumentError: Nothing is fetched, or something is both fed and fetched.
        """
        self._check_open()
        elements = self._parse_fetches(fetches).elements
        if not elements:
            words = "Must specify at least one target to fetch or execute."
            raise InvalidArgumentError(None, None, words)
        pairs = [pair for key in feeds or () for pair in fed_parts(key, None)]
        run = PartialRun(elements, [self._fed_tensor(key) for key, _ in pairs])
        self._n_partial_runs += 1
        names = ",".join(tensor.name for tensor in run.feeds)
        handle = f"{names}->{','.join(item.name for item in elements)}/{self._n_partial_runs}"
        self._partial_runs[handle] = run
        return handle

    def partial_run(
        self, handle: str, fetches: FetchNest, feed_dict: FeedDict | None = None
    ) -> Evaluated:
        """Goes on with a run that `partial_run_setup` started.

        Args:
            handle: What that gave.
            fetches: Some of its fetches that were not fetched yet.
            feed_dict: Values for some of its feeds that were not fed yet.

        Returns:
            An array for each tensor, in the structure of `fetches`.

        Raises:
            InvalidArgumentError: There is no such run, or it is over; something was not named at
                its start, or is fed or fetched a second time, or needs what is not fed yet.
            RuntimeError: An operation is fetched.
        """
        self._check_open()
        run = self._partial_runs.get(handle)
        if run is None:
            words = "Must run 'setup' before performing partial runs!"
            raise InvalidArgumentError(None, None, words)
        parsed_fetches = self._parse_fetches(fetches)
        feeds = self._feeds(feed_dict) if feed_dict else {}
        run.check(parsed_fetches.elements, feeds)
        run.values |= feeds
        known, beside = run.needed(parsed_fetches.elements)
        elements = list(dict.fromkeys([*parsed_fetches.elements, *beside]))
        results = self._run(elements, known, None, self._seconds(None, None))
        tensors = [item for item in elements if isinstance(item, Tensor)]
        arrays = [np.asarray(value) for value in results]
        run.note(parsed_fetches.elements, dict(zip(tensors, arrays, strict=True)))
        if run.is_over:
            del self._partial_runs[handle]
        return parsed_fetches.results(results)

    def make_callable(
        self,
        fetches: FetchNest,
        feed_list: Sequence[FeedKey] | None = None,
        accept_options: bool = False,
    ) -> Callable[..., Evaluated]:
        """A function of the values for `feed_list` that does what `run` does.

        With `accept_options` it takes `options` and `run_metadata`, too.
        """
        keys = list(feed_list or ())
        self._parse_fetches(fetches)  # refuses what cannot be fetched

        def call(*values: npt.ArrayLike, **more: Message | None) -> Evaluated:
            if len(values) != len(keys):
                raise TypeError(f"takes {len(keys)} values, got {len(values)}")
            if more and not (accept_options and more.keys() <= {"options", "run_metadata"}):
                raise TypeError(f"got unexpected keyword arguments: {', '.join(sorted(more))}")
            feeds = dict(zip(keys, values, strict=True))
            return self.run(fetches, feeds, more.get("options"), more.get("run_metadata"))

        return call

    def list_devices(self) -> list[DeviceAttributes]:
        """The devices it runs on: this process, as often as its ConfigProto counts processors.

        On a server those of the servers of its cluster that this process has.
        """
        count = self._config.device_count.get("CPU", 1)
        names = [f"/job:localhost/replica:0/task:0/device:CPU:{i}" for i in range(count)]
        if self._task is not None:
            names = self._task.cluster.devices()
        return [DeviceAttributes(name, "CPU", MEMORY_LIMIT, i + 1) for i, name in enumerate(names)]

    def cancel(self) -> None:
        """Ends the runs that are under way in other threads, which raise CancelledError there.

        They come to that after 50 ms at most, and not within a step in Python. Later runs are not
        affected; the session stays usable.
        """
        self.state.end_runs(CancelledError(None, None, "Run call was cancelled"))

    def profile(self) -> list[OperatorTime]:
        """The median of the seconds that each operation took in the runs it was part of.

        Of the last 1000 runs of a session made with profile=True, or RuntimeError; in the order in
        which operations first ran, with their position in their run. Those that were folded when
        a run was compiled are not listed.
        """
        return recorded(self._times)

    def delegate_report(self) -> DelegationReport:
        """Which operations of the last run the delegates have, why not the others, what is copied.

        It prints as a table, and has `operators`, `parts` and `bytes_copied` as that of
        `Interpreter.delegate_report`; an operation is in a part where operators of TFLite that
        it becomes, or is part of, are. Raises RuntimeError before a run, or without delegates.
        """
        if self._report is None:
            raise RuntimeError(
                "nothing was run with delegates: make the session with delegates=[...] and run it"
            )
        return self._report

    def close(self) -> None:
        """Frees variables and compiled runs; the session cannot be used afterwards.

        A run that is under way in another thread raises CancelledError there.
        """
        self._closed = True
        self.cancel()
        self._plans.clear()
        self._fetches.clear()
        self._partial_runs.clear()
        self.state.close_peers()
        self.state = State(self.state.limits)

    def end(self, error: OpError) -> None:
        """Closes it; what is run afterwards raises `error`."""
        self.close()
        self._end_error = error

    @staticmethod
    def reset(
        target: str | None,
        containers: Sequence[str] | None = None,
        config: Message | None = None,
    ) -> None:
        """Ends all sessions of a target and drops what they share.

        Args:
            target: "" or None for the sessions of this process; the `target` of a
                `tf.train.Server`, whose variables, queues and tables lose their values.
            containers: The names of those of `tf.container` to empty, all when left out. Of those
                that are named, what the graphs of the target's sessions have in them is dropped.
            config: Not read, as in TensorFlow's sessions of one process.

        Raises:
            NotFoundError: `target` is no server's.
            UnavailableError: Nobody listens at the server's address.
            UnimplementedError: Other processes run tasks of the server's cluster.

        A session that was ended raises CancelledError when it is run, AbortedError on a server.
        """
        del config
        reset(_task_of(target or ""), [] if containers is None else containers)

    def as_default(self) -> AbstractContextManager[Session]:
        """A block in which `eval` and `run` of tensors and operations use this session."""
        return default_session(self)

    def __enter__(self) -> Session:
        if self._blocks:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use `Session.as_default()` if you "
                "want to enter a session multiple times."
            )
        graph, session = self._graph.as_default(), default_session(self)
        graph.__enter__()
        session.__enter__()
        self._blocks.append((graph, session))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        graph, session = self._blocks.pop()
        session.__exit__(kind, error, trace)
        graph.__exit__(kind, error, trace)
        self.close()

    def _parse_fetches(self, nest: FetchNest) -> Fetches:
        """The elements of a nest; lists of the same tensors are looked through only once."""
        key = cast("Hashable", tuple(nest) if isinstance(nest, list) else nest)
        try:
            parsed = self._fetches.get((type(nest), key))
        except TypeError:
            return Fetches(self._graph, nest)
        if parsed is None:
            parsed = Fetches(self._graph, nest)
            if len(self._fetches) >= MAX_PLANS:
                self._fetches.clear()
            self._fetches[type(nest), key] = parsed
        return parsed

    def _run(
        self,
        elements: list[Tensor | Operation],
        feeds: dict[Tensor, np.ndarray],
        times: Times | None,
        seconds: float | None,
    ) -> list[Evaluated]:
        """The value of each element; `seconds` is how long it may take."""
        state, control = self.state, Control()
        if seconds is not None:
            late = DeadlineExceededError(None, None, "Timed out waiting for notification")
            control.begin(seconds, late)
        if times is None and self._times is not None:
            times = []
        shapes = {tensor: (array.shape, array.dtype) for tensor, array in feeds.items()}
        key = (tuple(elements), tuple(shapes.items()))
        plan = self._plans.take(key)
        outer = state.begin_run(control)
        try:
            if plan is None or plan.is_stale:
                with state.lock:
                    plan = run_plan_of(state, elements, shapes, self._n_threads, self._delegates)
            self._report = plan.report
            arrays = plan.fetch(feeds, times)
            if times is not None and self._times is not None:
                self._times.append(by_operation(times, plan.positions))
            state.wait_for_put_off(control)
            return [
                fed_back(feeds, item) if item in feeds else self._result(item, arrays)
                for item in elements
            ]
        finally:
            state.end_run(control, outer)
            if plan is not None:
                self._plans.give_back(key, plan)

    def _result(self, item: Tensor | Operation, arrays: Mapping[Tensor, np.ndarray]) -> Evaluated:
        """What is given for an element: an array that is the caller's own; a number; a handle."""
        if isinstance(item, Operation):
            return None
        array = arrays[item]
        if item.op.type in HANDLES:
            handle = cast("bytes", array.item()).decode()
            return cast("Evaluated", TensorHandle(handle, self.state.session_tensors))
        return array.copy() if array.ndim else array[()]

    def _seconds(self, options: Message | None, timeout: float | None) -> float | None:
        """How long a run may take; None where nobody says."""
        if timeout is None:
            limit = (options and options.timeout_in_ms) or self._config.operation_timeout_in_ms
            return limit / 1e3 if limit > 0 else None
        return checked_timeout(timeout)

    def _feeds(self, feed_dict: FeedDict) -> dict[Tensor, np.ndarray]:
        """Fed values as arrays of their tensors' dtypes."""
        if not isinstance(feed_dict, Mapping):
            raise TypeError(
                "FlattenDictItems: 'dict' must be a dictionary or collection.Mapping type object, "
                f"instead of '{type(feed_dict).__name__}': feed_dict gives values by tensor."
            )
        feeds = FedArrays()
        for key, value in feed_dict.items():
            for part_key, part in fed_parts(key, value):
                tensor = self._fed_tensor(part_key)
                if isinstance(part, Tensor):
                    raise TypeError(
                        "The value of a feed cannot be a tf.Tensor object. Acceptable feed values "
                        "include Python scalars, strings, lists, numpy ndarrays, or TensorHandles. "
                        f"For reference, the tensor object was {part} which was passed to the "
                        f"argument `feed_dict` with key {key}."
                    )
                if isinstance(part, TensorHandle):
                    part = part.handle if tensor.dtype.kind == "O" else part.eval()
                feeds.put(tensor, cast("npt.ArrayLike", part))
        return feeds

    def _fed_tensor(self, key: FeedKey) -> Tensor:
        try:
            tensor = self._graph.as_graph_element(key, allow_operation=False)
        except (KeyError, TypeError, ValueError) as error:
            words = error.args[0] if error.args else error
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {words}") from None
        if not self._graph.is_feedable(tensor):
            raise ValueError(f"Tensor {tensor.name} may not be fed.")
        return tensor


def _task_of(target: str) -> Task | None:
    """The task of a target; None for this process. Raises NotFoundError where there is none."""
    task = None if target in LOCAL else _task_at(target)
    if task is None and target not in LOCAL:
        raise NotFoundError(
            None,
            None,
            f"No session factory registered for the given session options: {{target: "
            f'"{target}"}} Registered factories are {{DIRECT_SESSION, GRPC_SESSION}}; it must '
            "be '' or the target of a tf.train.Server, grpc://host:port",
        )
    return task


def _task_at(target: str) -> Task | None:
    from .cluster.tasks import task_at  # sockets are for clusters alone

    return task_at(target)
