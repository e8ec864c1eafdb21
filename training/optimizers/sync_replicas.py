"""SyncReplicasOptimizer: one step of an optimizer for the gradients of several replicas."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

from ...graph.core.build import ops
from ...graph.core.composite.indexed_slices import IndexedSlices
from ...graph.core.graph import Operation, Tensor
from ...graph.core.scopes import GraphKeys, control_dependencies, device, name_scope
from ...graph.functions.flow.control_flow import group, no_op
from ...graph.functions.resources.accumulators import (
    ConditionalAccumulator,
    SparseConditionalAccumulator,
)
from ...graph.functions.resources.queues import FIFOQueue
from ...graph.variables.variable_lists import global_variables, report_uninitialized_variables
from ...graph.variables.variables import Updated, Variable
from ..sessions.queue_runner import QueueRunner
from ..sessions.session_manager import readiness_problem
from ..sessions.session_run_hook import SessionRunHook
from .optimizer import Optimizer

if TYPE_CHECKING:
    from ...graph.derivatives.gradients import Gradient
    from ...graph.session.session import Session
    from ..sessions.coordinator import Coordinator
    from .moving_averages import ExponentialMovingAverage

LOGGER = logging.getLogger("flatlite")


class SyncReplicasOptimizer(Optimizer):
    """Applies the mean of the gradients of several replicas, all of which wait for it.

    Each replica's step adds its gradients to accumulators and takes a token from a queue. The
    chief's queue runner takes the means when there are enough, applies them with `opt`, and puts
    the next step's tokens, which are the global step, into the queue. Gradients of a replica whose
    token is older than that are dropped.

    Args:
        opt: The optimizer that computes and applies the gradients.
        replicas_to_aggregate: Of how many gradients the mean is taken.
        total_num_replicas: How many replicas there are; as many by default.
        variable_averages: Averages that follow each step.
        variables_to_average: The variables that those are of.
        use_locking: As of Optimizer.
        name: Of the operations.
    """

    def __init__(
        self,
        opt: Optimizer,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: ExponentialMovingAverage | None = None,
        variables_to_average: Sequence[Variable] | None = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
    ):
        super().__init__(use_locking, name)
        if total_num_replicas is None:
            total_num_replicas = replicas_to_aggregate
        LOGGER.info(
            "SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s",
            replicas_to_aggregate,
            total_num_replicas,
        )
        self._opt = opt
        self._replicas_to_aggregate = replicas_to_aggregate
        self._total_num_replicas = total_num_replicas
        self._variable_averages = variable_averages
        self._variables_to_average = variables_to_average
        self._global_step: Variable | None = None
        self._sync_token_queue: FIFOQueue | None = None
        self._chief_queue_runner: QueueRunner | None = None

    def compute_gradients(self, *args, **kwargs) -> list[tuple[Gradient | None, Variable]]:
        """What `compute_gradients` of the wrapped optimizer gives."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Gradient | None, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> Operation:
        """Adds a replica's step, and what the chief does for all of them.

        Args:
            grads_and_vars: Pairs as `compute_gradients` gives them.
            global_step: The variable that counts steps.
            name: Taken for TensorFlow's sake.

        Returns:
            What a replica runs for a step.

        Raises:
            ValueError: There are no pairs, or no global step.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        self._local_step = Variable(
            0,
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
            dtype=global_step.dtype,
            name="sync_rep_local_step",
        )
        self.local_step_init_op = self._local_step.assign(global_step.value())
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())
        with name_scope(None, self._name):
            step = self._aggregated(pairs, global_step)
        return step

    def _aggregated(
        self, pairs: list[tuple[Gradient | None, Variable]], global_step: Variable
    ) -> Operation:
        """A replica's step; the chief's is the queue runner's."""
        updates: list[Operation] = []
        means: list[tuple[Gradient | None, Variable]] = []
        accumulators: list[tuple[ConditionalAccumulator | SparseConditionalAccumulator, str]] = []
        for gradient, variable in pairs:
            mean = gradient
            if gradient is not None:
                with device(variable.device):
                    accumulator = _accumulator(gradient, variable)
                    accumulators.append((accumulator, variable.device))
                    update, mean = self._exchanged(accumulator, gradient)
                    updates.append(update)
            means.append((mean, variable))
        with device(global_step.device), name_scope(""):
            applied = self._opt.apply_gradients(means, global_step)
            queue = FIFOQueue(
                -1, global_step.dtype, shapes=(), name="sync_token_q", shared_name="sync_token_q"
            )
            with control_dependencies(updates):
                token = cast("Tensor", queue.dequeue())
            step = cast("Operation", self._local_step.assign(token))
            with control_dependencies([applied]):
                count = max(self._total_num_replicas, self._replicas_to_aggregate)
                tokens = queue.enqueue_many((ops.Fill([count], global_step.value()),))
        if self._variable_averages is not None:
            with control_dependencies([tokens]), name_scope(""):
                tokens = self._variable_averages.apply(self._variables_to_average)
        self._sync_token_queue = queue
        self._chief_queue_runner = QueueRunner(queue, [tokens])
        initializers: list[Operation | Updated] = [self.local_step_init_op]
        for accumulator, place in accumulators:
            with device(place):
                initializers.append(
                    accumulator.set_global_step(global_step.value(), name="SetGlobalStep")
                )
        self.chief_init_op = group(*initializers)
        return step

    def _exchanged(
        self,
        accumulator: ConditionalAccumulator | SparseConditionalAccumulator,
        gradient: Gradient,
    ) -> tuple[Operation, Gradient]:
        """What adds a gradient to an accumulator, and the mean of those it has."""
        step, count = self._local_step.value(), self._replicas_to_aggregate
        if isinstance(accumulator, ConditionalAccumulator):
            update = accumulator.apply_grad(cast("Tensor", gradient), step)
            return update, accumulator.take_grad(count)
        update = accumulator.apply_indexed_slices_grad(cast("IndexedSlices", gradient), step)
        return update, accumulator.take_indexed_slices_grad(count)

    def get_chief_queue_runner(self) -> QueueRunner:
        """What the chief runs beside its own steps.

        Raises ValueError when `apply_gradients` was not called before.
        """
        if self._chief_queue_runner is None:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_init_tokens_op(self, num_tokens: int = -1) -> Operation:
        """What fills the queue of tokens at the start.

        Args:
            num_tokens: How many; as many as gradients are aggregated by default.

        Raises:
            ValueError: `apply_gradients` was not called before, or the tokens are too few for the
                first step.
        """
        if self._sync_token_queue is None or self._global_step is None:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens == -1:
            num_tokens = self._replicas_to_aggregate
        elif num_tokens < needed:
            raise ValueError(
                f"Too few tokens to finish the first step: {num_tokens} (given) vs {needed} "
                "(needed)"
            )
        if num_tokens <= 0:
            return no_op(name="no_init_tokens")
        with device(self._global_step.device), name_scope(""):
            tokens = ops.Fill([num_tokens], self._global_step.value())
            return self._sync_token_queue.enqueue_many((tokens,))

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SessionRunHook:
        """The hook that sets the steps of accumulators and starts the chief's queue runner."""
        return _SyncReplicasHook(self, is_chief, num_tokens)

    def get_slot(self, *args, **kwargs) -> Variable | None:
        """What `get_slot` of the wrapped optimizer gives."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs) -> list[str]:
        """What `get_slot_names` of the wrapped optimizer gives."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[Variable]:
        """The variables of the wrapped optimizer."""
        return self._opt.variables()


class _SyncReplicasHook(SessionRunHook):
    """Initializes a SyncReplicasOptimizer in each new session."""

    def __init__(self, optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int):
        self._optimizer, self._is_chief, self._num_tokens = optimizer, is_chief, num_tokens

    def begin(self) -> None:
        """Adds the chief's first tokens; ValueError when there are no steps yet."""
        optimizer = self._optimizer
        if optimizer._chief_queue_runner is None:
            raise ValueError(
                "SyncReplicasOptimizer.apply_gradient should be called before using the hook."
            )
        self._local_init_op = optimizer.local_step_init_op
        self._init_tokens_op: Operation | None = None
        if self._is_chief:
            self._local_init_op = optimizer.chief_init_op
            self._init_tokens_op = optimizer.get_init_tokens_op(self._num_tokens)

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Runs the initializers; RuntimeError when variables have no value yet."""
        problem = readiness_problem(self._optimizer.ready_for_local_init_op, session)
        if problem is not None:
            raise RuntimeError(
                "Init operations did not make model ready for SyncReplicasOptimizer local_init. "
                f"Init op: {self._local_init_op.name}, error: {problem}"
            )
        session.run(self._local_init_op)
        if self._is_chief:
            session.run(self._init_tokens_op)
            self._optimizer.get_chief_queue_runner().create_threads(
                session, coord=coord, daemon=True, start=True
            )


def _accumulator(
    gradient: Gradient, variable: Variable
) -> ConditionalAccumulator | SparseConditionalAccumulator:
    """An accumulator that all replicas of a variable share."""
    shared_name = f"{variable.name}/grad_accum"
    if isinstance(gradient, Tensor):
        return ConditionalAccumulator(gradient.dtype, variable.shape, shared_name)
    if isinstance(gradient, IndexedSlices):
        return SparseConditionalAccumulator(gradient.dtype, (), shared_name)
    raise ValueError("Unknown grad type!")
