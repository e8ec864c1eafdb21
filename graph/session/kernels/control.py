"""Calls, branches and loops in a Session: the bodies of functions are plans of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ....schema import dtypes
from ...core.calls import called_function, calls_itself
from ...core.evaluate import as_results, is_true
from ...core.function_graph import copy_graph, origin
from ...core.graph import Graph, Tensor
from ...core.hooks import implementation
from ...format.dataflow_graph import variable_of
from ...format.element_shapes import GRADIENTS, HOLDERS
from ..call_depth import nested
from ..compiling import needed
from ..hosted import hosted
from ..kernel_calls import KernelRun, has_kernel
from ..keys import shared_name
from ..plan_pool import PlanPool
from ..plan_variables import is_about_variables

if TYPE_CHECKING:
    from typing import TypeAlias

    from ...core.graph import Operation
    from ...core.signatures.attributes import FunctionRef
    from ..state import State

    Shapes: TypeAlias = "tuple[tuple[tuple[int, ...], np.dtype], ...]"
    """The shapes and dtypes of arguments."""

Arrays = Sequence[np.ndarray]
HANDLE = np.empty((), object)
"""What a function gives for a handle of a variable, which everybody knows."""
HANDLE_MAKERS = frozenset(
    (*HOLDERS, *GRADIENTS, "If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile")
)
"""Operations whose handles are of a run: arrays, stacks, and what functions give."""
MAX_PLANS = 32
"""Plans kept for the body of one function, one for each set of shapes."""
FIRST_SHAPES = 4
"""Sets of shapes for which a function is compiled when they first come."""
MAX_COUNTED = 1024
"""Sets of shapes of which it is known how often they came."""
MIN_USES = 16
"""How often others come before it is: about as long as its kernels take for so many calls."""


class RunnableGraph:
    """A graph with arguments and results, as a Session runs it.

    Args:
        state: Of the Session.
        graph: Where the tensors are.
        inputs: The arguments; None where one is not passed on.
        outputs: The results.
        controls: What runs as well.
    """

    calls_itself = False
    """Whether it is the body of a function that calls itself."""

    def __init__(
        self,
        state: State,
        graph: Graph,
        inputs: Sequence[Tensor | None],
        outputs: Sequence[Tensor],
        controls: Sequence[Operation] = (),
    ):
        self.state, self.graph = state, graph
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.values = [t for t in map(_source, self.outputs) if not _is_passed_on(t)]
        self.controls = list(controls)
        self.plans: PlanPool[Shapes] = PlanPool(MAX_PLANS)
        self._uses = Counter["Shapes"]()

    def run(self, arrays: Arrays) -> list[np.ndarray]:
        """The results of the function, in memory of their own but for arguments it hands on.

        Raises ResourceExhaustedError where too many functions have called one another.
        """
        return nested(self.state, lambda: self._run(arrays))

    def _run(self, arrays: Arrays) -> list[np.ndarray]:
        feeds = {
            tensor: np.ascontiguousarray(array).reshape(array.shape)
            for tensor, array in zip(self.inputs, arrays, strict=True)
            if tensor is not None
        }
        key = tuple((array.shape, array.dtype) for array in feeds.values())
        plan = self.plans.take(key)
        if plan is None and self._is_rare(key) and self._kernel_run is not None:
            values = self._kernel_run.fetch(feeds)
            return [self._result(tensor, feeds, values) for tensor in self.outputs]
        if plan is None or plan.is_stale:
            shapes = {tensor: (array.shape, array.dtype) for tensor, array in feeds.items()}
            with self.state.lock:
                plan = implementation("plan")(self.state, [*self.values, *self.controls], shapes)
        try:
            values = plan.fetch(feeds)
            return [self._result(tensor, feeds, values) for tensor in self.outputs]
        finally:
            self.plans.give_back(key, plan)

    @staticmethod
    def _result(
        tensor: Tensor, feeds: Mapping[Tensor, np.ndarray], values: Mapping[Tensor, np.ndarray]
    ) -> np.ndarray:
        tensor = _source(tensor)
        if _is_passed_on(tensor):
            return _handed(feeds.get(tensor, HANDLE))
        return feeds[tensor] if tensor in feeds else values[tensor].copy()

    def _is_rare(self, key: Shapes) -> bool:
        """Whether kernels are to run for arguments of these shapes; what often comes is compiled.

        A function whose arguments grow from call to call has no use for a plan of each size.
        """
        if self.calls_itself:  # each level that is under way would need a plan of its own
            return True
        if len(self._uses) > MAX_COUNTED:
            self._uses.clear()
        self._uses[key] += 1
        if len(self._uses) <= FIRST_SHAPES:
            return False
        if self._uses[key] < MIN_USES:
            return True
        del self._uses[key]
        return False

    @cached_property
    def _kernel_run(self) -> KernelRun | None:
        """What runs kernels alone; None where an operation has none, or is about variables."""
        fetches = [*self.values, *self.controls]
        operations = needed(fetches, [tensor for tensor in self.inputs if tensor is not None])
        if not all(map(has_kernel, operations)) or any(map(is_about_variables, operations)):
            return None
        return KernelRun(self.state, operations, self.values)


class Body(RunnableGraph):
    """A function's body as a Session runs it for one operation that calls it.

    Handles of variables are the variables' own inside, so that a plan knows which they are. They
    are looked for among `operands`, which are those of the last arguments, if not of all.
    """

    def __init__(
        self, state: State, op: Operation, reference: FunctionRef, operands: Sequence[Tensor]
    ):
        functions = op.graph.functions
        if op.type == "SymbolicGradient":
            body = implementation("gradient_body")(functions, reference)
        else:
            body = functions.body(reference)
        self.source = body
        self.calls_itself = calls_itself(functions, reference)
        self.n_results, self.size = len(body.outputs or ()), len(body)
        graph, inputs, outputs = _bound(body, operands)
        controls = [graph.get_operation_by_name(c.name) for c in body.control_outputs]
        super().__init__(state, graph, inputs, outputs, controls)

    @property
    def is_stale(self) -> bool:
        """Whether the function was changed since, as gradients do."""
        return (self.n_results, self.size) != (len(self.source.outputs or ()), len(self.source))


def _bound(
    body: Graph, operands: Sequence[Tensor]
) -> tuple[Graph, list[Tensor | None], list[Tensor]]:
    """A body with variables in the place of the arguments that are handles of them.

    Gives the graph, its arguments (None for those that were handles), and its results.
    """
    arguments, results = body.inputs or [], body.outputs or []
    handles = {
        argument: variable_of(origin(operand))
        for argument, operand in zip(reversed(arguments), reversed(operands), strict=False)
        if argument.dtype == dtypes.RESOURCE
    }
    if not any(handles.values()):
        return body, list(arguments), list(results)
    graph = Graph(body.functions)
    graph.scopes.extras = body.scopes.extras
    substitutes: dict[Tensor, Tensor] = {}
    inputs: list[Tensor | None] = []
    for argument in arguments:
        handle = handles.get(argument)
        if handle is None:
            substitute = graph.add(
                argument.op.type, argument.op.name, (), argument.op.attrs
            ).outputs[0]
            substitute.set_shape(argument.sizes)
            inputs.append(substitute)
        else:
            name = shared_name(handle) or handle.name
            attrs = {**handle.attrs, "shared_name": name.encode()}
            copy = graph.add("VarHandleOp", argument.op.name, (), attrs, device=handle.device)
            substitute = copy.outputs[0]
            inputs.append(None)
        substitutes[argument] = substitute
    copies = copy_graph(body, graph, substitutes)
    return graph, inputs, [copies[tensor] for tensor in results]


def _source(tensor: Tensor) -> Tensor:
    """What gives the value of a tensor: of a handle that is passed on, its beginning."""
    while tensor.dtype == dtypes.RESOURCE and tensor.op.type == "Identity":
        (tensor,) = tensor.op.inputs
    return tensor


def _is_passed_on(tensor: Tensor) -> bool:
    """Whether it is a handle that stands for what is there already, and is not computed."""
    return tensor.dtype == dtypes.RESOURCE and tensor.op.type not in HANDLE_MAKERS


def _handed(array: np.ndarray) -> np.ndarray:
    """What stands for a handle: the table, queue or array itself; a variable's says nothing."""
    is_resource = array.dtype == object and array.size > 0 and array.flat[0] is not None
    return array if is_resource else HANDLE


def body_of(
    state: State, op: Operation, reference: FunctionRef, operands: Sequence[Tensor]
) -> Body:
    """The function that an operation calls with these operands, behind others if it takes more."""
    key = (op, reference.name)
    body = state.bodies.get(key)
    if body is None or body.is_stale:
        body = state.bodies[key] = Body(state, op, reference, operands)
    return body


@hosted("PartitionedCall", "StatefulPartitionedCall", "SymbolicGradient")
def call(op: Operation, state: State, *arrays: np.ndarray) -> np.ndarray | Arrays:
    """What the function, or its gradient, gives."""
    reference = called_function(op) or op.get_attr("f")
    return as_results(body_of(state, op, reference, op.inputs).run(arrays))


@hosted("If", "StatelessIf")
def if_(
    op: Operation, state: State, condition: np.ndarray, *arrays: np.ndarray
) -> np.ndarray | Arrays:
    """What one of two functions gives."""
    chosen = op.get_attr("then_branch" if is_true(condition) else "else_branch")
    return as_results(body_of(state, op, chosen, op.inputs[1:]).run(arrays))


@hosted("Case", "StatelessCase")
def case(
    op: Operation, state: State, index: np.ndarray, *arrays: np.ndarray
) -> np.ndarray | Arrays:
    """What the function at `index` gives; the last one for an index out of range."""
    branches, i = op.get_attr("branches"), int(index)
    chosen = branches[i if 0 <= i < len(branches) else -1]
    return as_results(body_of(state, op, chosen, op.inputs[1:]).run(arrays))


@hosted("While", "StatelessWhile")
def while_(op: Operation, state: State, *arrays: np.ndarray) -> np.ndarray | Arrays:
    """The loop variables, passed through the body as long as the condition holds."""
    condition = body_of(state, op, op.get_attr("cond"), op.inputs)
    body = body_of(state, op, op.get_attr("body"), op.inputs)
    values = [
        _handed(array) if tensor.dtype == dtypes.RESOURCE else array
        for tensor, array in zip(op.inputs, arrays, strict=True)
    ]
    while is_true(condition.run(values)[0]):
        values = body.run(values)
    return as_results(values)
