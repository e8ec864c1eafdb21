"""What all optimizers have in common: gradients of a loss, slots, one operation for a step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...graph.core.build import ops
from ...graph.core.composite.indexed_slices import IndexedSlices
from ...graph.core.create import convert_to_tensor
from ...graph.core.dtype import as_dtype
from ...graph.core.graph import Graph, Operation, Tensor
from ...graph.core.scopes import GraphKeys, control_dependencies, get_default_graph, name_scope
from ...graph.derivatives.gradients import Gradient, gradients
from ...graph.functions.flow.control_flow import group
from ...graph.functions.flow.control_flow import tuple as tuple_of
from ...graph.variables.variable_lists import trainable_variables
from ...graph.variables.variables import Variable
from .slots import beside, create_slot, create_slot_with_initializer, create_zeros_slot, is_resource

if TYPE_CHECKING:
    from ...graph.core.typing import TensorLike
    from ...graph.variables.initializers import Initializer

FLOATS = ("float32", "float64", "float16", "bfloat16")


class Optimizer:
    """Base class of optimizers: adds operations that change variables to make a loss smaller.

    A subclass says how in `_apply_dense(grad, var)` and `_apply_sparse(grad, var)`, where `grad` is
    a tensor or IndexedSlices without an index twice. Before that, `_create_slots(variables)` may
    make variables beside those that are trained, and `_prepare()` tensors of the hyperparameters;
    `_finish(updates, name)` makes one operation of all updates.

    Args:
        use_locking: Noted on the operations; updates of a Session never overlap.
        name: Of the slots, and the scope of the operations; not empty.

    Raises:
        ValueError: `name` is empty.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking: bool, name: str):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slots: dict[str, dict[tuple, Variable]] = {}
        self._others: dict[tuple, Variable] = {}

    def get_name(self) -> str:
        """The name given at construction."""
        return self._name

    def minimize(
        self,
        loss: Tensor | Callable[[], Tensor],
        global_step: Variable | None = None,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Tensor | None = None,
    ) -> Operation:
        """Adds a training step: `compute_gradients`, then `apply_gradients`.

        Args:
            loss: The tensor to make smaller, or a function without arguments that gives it.
            global_step: A variable to increment by one after the updates.
            var_list: The variables to change; all trainable ones by default.
            gate_gradients: GATE_NONE, GATE_OP or GATE_GRAPH: what waits for all its gradients.
            aggregation_method: Taken for TensorFlow's sake.
            colocate_gradients_with_ops: As of `gradients`.
            name: Of the operation.
            grad_loss: What flows into `loss`; ones by default.

        Returns:
            The operation to run for a step.

        Raises:
            ValueError: No variable has a gradient, or an argument is not known.
        """
        pairs = self.compute_gradients(
            loss,
            var_list,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
        )
        if all(gradient is None for gradient, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not "
                "support gradients, between variables "
                f"{[str(variable) for _, variable in pairs]} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(
        self,
        loss: Tensor | Callable[[], Tensor],
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Tensor | None = None,
    ) -> list[tuple[Gradient | None, Variable]]:
        """Adds the gradients of `loss` by variables; see `minimize` for the arguments.

        `grad_loss` is the gradient of `loss` that they begin with, of its shape; ones by default.

        Returns:
            Pairs of gradient and variable; a gradient is a Tensor, IndexedSlices, or None where
            the loss does not depend on the variable.

        Raises:
            TypeError: `var_list` holds something else than variables, or the function gives no
                tensor.
            ValueError: There are no variables, or an argument is not known.
        """
        is_function = callable(loss)
        loss = loss() if callable(loss) else loss
        if is_function and not hasattr(loss, "dtype"):
            name = type(loss).__name__
            raise TypeError(f"Can not convert a {name} into a Tensor or Operation.")
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                f"Optimizer.GATE_GRAPH.  Not {gate_gradients}"
            )
        self._require_floats([loss] if grad_loss is None else [loss, grad_loss])
        variables = list(trainable_variables() if var_list is None else var_list)
        for variable in variables:
            if not isinstance(variable, Variable) and not is_function:
                raise TypeError(f"Argument is not a tf.Variable: {variable!r}")
        if not variables:
            raise ValueError("No variables to optimize.")
        grads = gradients(
            loss,
            variables,
            grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == self.GATE_GRAPH:
            grads = tuple_of(grads)
        pairs = list(zip(grads, variables, strict=True))
        self._require_floats([variable for gradient, variable in pairs if gradient is not None])
        return pairs

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Gradient | None, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> Operation:
        """Adds the updates of variables by gradients.

        Args:
            grads_and_vars: Pairs as `compute_gradients` gives them; those without a gradient are
                left out.
            global_step: A variable to increment by one after the updates.
            name: Of the operation; the optimizer's by default.

        Returns:
            The operation to run for a step.

        Raises:
            TypeError: A gradient is neither a Tensor nor IndexedSlices nor None.
            ValueError: There are no variables, or none has a gradient.
            NotImplementedError: What is to be updated is a tensor.
        """
        pairs = [(_checked(gradient), variable) for gradient, variable in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        used = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
        if not used:
            names = [str(variable) for _, variable in pairs]
            raise ValueError(f"No gradients provided for any variable: {names}.")
        for _, variable in used:
            if isinstance(variable, Tensor):
                raise NotImplementedError("Trying to update a Tensor ", variable)
        with control_dependencies(None):
            self._create_slots([variable for _, variable in used])
        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = [self._update(gradient, variable) for gradient, variable in used]
            step = self._stepped(updates, global_step, scope)
        collection = step.graph.get_collection_ref(GraphKeys.TRAIN_OP)
        if step not in collection:
            collection.append(step)
        return step

    def _update(self, gradient: Gradient, variable: Variable):
        """The update of one variable, in a name scope of its own."""
        with name_scope(f"update_{variable.op.name}"), beside(variable):
            if isinstance(gradient, IndexedSlices):
                if variable.constraint is not None:
                    raise RuntimeError("Cannot use a constraint function on a sparse variable.")
                return self._apply_slices(gradient, variable)
            apply = self._resource_apply_dense if is_resource(variable) else self._apply_dense
            update = apply(gradient, variable)
            if variable.constraint is None:
                return update
            with control_dependencies([update]):
                return variable.assign(variable.constraint(variable.read_value()))

    def _stepped(self, updates: list, global_step: Variable | None, scope: str) -> Operation:
        """All updates, and then the increment of the global step."""
        if global_step is None:
            return _operation(self._finish(updates, scope))
        with control_dependencies([self._finish(updates, "update")]):
            one = np.ones((), global_step.dtype)
            if is_resource(global_step):
                return ops.AssignAddVariableOp(global_step.op.outputs[0], one, name=scope)
            return _operation(global_step.assign_add(one, name=scope))

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """The slot called `name` that was made for `var`, or None."""
        return self._slots.get(name, {}).get(_key(var))

    def get_slot_names(self) -> list[str]:
        """The names of the slots, in order."""
        return sorted(self._slots)

    def variables(self) -> list[Variable]:
        """The optimizer's own variables in the default graph: slots and what it keeps once."""
        slot_variables = [v for slots in self._slots.values() for v in slots.values()]
        graph = get_default_graph()
        in_graph = [v for v in (*self._others.values(), *slot_variables) if v.graph is graph]
        return sorted(in_graph, key=lambda variable: variable.name)

    def non_slot_variables(self, graph: Graph | None = None) -> dict[str, Variable]:
        """What it keeps once in a graph, the default one when None: variables by name, in order."""
        graph = get_default_graph() if graph is None else graph
        variables = {key[0]: v for key, v in self._others.items() if v.graph is graph}
        return dict(sorted(variables.items()))

    def dependencies(self) -> Mapping[str, object]:
        """What a checkpoint finds here beside slots, by name."""
        return self.non_slot_variables()

    # What subclasses say.

    def _create_slots(self, var_list: list[Variable]) -> None:
        """Makes the slots of these variables; none by default."""

    def _prepare(self) -> None:
        """Makes tensors of the hyperparameters."""

    def _apply_dense(self, grad: Tensor, var: Variable):
        """The update of a variable by a whole gradient."""
        raise NotImplementedError

    def _resource_apply_dense(self, grad: Tensor, handle: Variable):
        """The same for a variable behind a handle."""
        return self._apply_dense(grad, handle)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable):
        """The update of a variable by rows of a gradient, no index twice."""
        raise NotImplementedError

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor):
        """The same for a variable behind a handle."""
        return self._apply_sparse(IndexedSlices(grad, indices), handle)

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Variable):
        """The update by rows of which several may have one index: they are added up first."""
        return self._apply_sparse(deduplicated(grad), var)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: Variable, indices: Tensor
    ):
        """The same for a variable behind a handle."""
        slices = deduplicated(IndexedSlices(grad, indices))
        return self._resource_apply_sparse(slices.values, handle, slices.indices)

    def _finish(self, update_ops: list, name_scope: str) -> Operation:
        """One operation that does all updates."""
        return group(*update_ops, name=name_scope)

    # What subclasses use.

    def _apply_slices(self, grad: IndexedSlices, var: Variable):
        if is_resource(var):
            return self._resource_apply_sparse_duplicate_indices(grad.values, var, grad.indices)
        return self._apply_sparse_duplicate_indices(grad, var)

    def _apply(self, kind: str, variables: Sequence[Variable], *values, **attrs) -> Operation:
        """An update op such as "ApplyAdam" on variables, by references or by handles alike."""
        prefix = "Resource" if is_resource(variables[0]) else ""
        targets = [variable.op.outputs[0] for variable in variables]
        update = getattr(ops, prefix + kind)(
            *targets, *values, use_locking=self._use_locking, **attrs
        )
        return _operation(update)

    def _zeros_slot(self, var: Variable, slot_name: str, op_name: str) -> Variable:
        """The slot of a variable, made with zeros when it is not there."""
        return self._slot(var, slot_name, lambda: create_zeros_slot(var, op_name))

    def _get_or_make_slot(
        self, var: Variable, val: Tensor, slot_name: str, op_name: str
    ) -> Variable:
        """The slot of a variable, made with a value when it is not there."""
        return self._slot(var, slot_name, lambda: create_slot(var, val, op_name))

    def _get_or_make_slot_with_initializer(
        self,
        var: Variable,
        initializer: Initializer,
        shape,
        dtype,
        slot_name: str,
        op_name: str,
    ) -> Variable:
        """The slot of a variable, made by an initializer when it is not there."""
        make = create_slot_with_initializer
        return self._slot(var, slot_name, lambda: make(var, initializer, np.dtype(dtype), op_name))

    def _slot(self, var: Variable, slot_name: str, make: Callable[[], Variable]) -> Variable:
        slots = self._slots.setdefault(slot_name, {})
        if _key(var) not in slots:
            slots[_key(var)] = make()
        return slots[_key(var)]

    def _create_non_slot_variable(self, initial_value, name: str, colocate_with: Variable):
        """A variable that is there once, of the kind of `colocate_with`."""
        key = (name, id(colocate_with.graph))
        if key not in self._others:
            with beside(colocate_with):
                self._others[key] = Variable(
                    initial_value,
                    name=name,
                    trainable=False,
                    use_resource=is_resource(colocate_with),
                )
        return self._others[key]

    def _get_non_slot_variable(self, name: str, graph) -> Variable:
        while (name, id(graph)) not in self._others and graph.outer is not None:
            graph = graph.outer  # of a branch: the variable is there around it
        return self._others[name, id(graph)]

    def _call_if_callable(self, value):
        return value() if callable(value) else value

    def _require_floats(self, tensors: Iterable) -> None:
        for tensor in tensors:
            dtype = np.dtype(tensor.dtype)
            if dtype.name not in FLOATS:
                raise ValueError(
                    f"Invalid type {as_dtype(dtype)!r} for {tensor.name}, expected: "
                    f"{[as_dtype(name) for name in FLOATS]}."
                )


def deduplicated(slices: IndexedSlices) -> IndexedSlices:
    """The same with one row for each index, the sum of those it had."""
    unique, positions = ops.Unique(slices.indices)
    count = ops.StridedSlice(ops.Shape(unique), [0], [1], [1], shrink_axis_mask=1)
    values = ops.UnsortedSegmentSum(slices.values, positions, count)
    return IndexedSlices(values, unique, slices.dense_shape)


def hyperparameter(value: TensorLike | Callable[[], TensorLike], name: str) -> Tensor:
    """A number, tensor, or function that gives one, as a tensor."""
    return convert_to_tensor(value() if callable(value) else value, name=name)


def cast(tensor: Tensor, like) -> Tensor:
    """A tensor in the dtype of a variable or tensor."""
    dtype = np.dtype(like.dtype)
    return tensor if tensor.dtype == dtype else ops.Cast(tensor, DstT=dtype)


def _checked(gradient):
    if gradient is None or isinstance(gradient, Tensor | IndexedSlices):
        return gradient
    try:
        return convert_to_tensor(gradient)
    except (TypeError, ValueError):
        raise TypeError(
            f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {gradient!r}"
        ) from None


def _operation(update) -> Operation:
    return update if isinstance(update, Operation) else update.op


def _key(variable: Variable) -> tuple:
    return id(variable.graph), variable.op.name
