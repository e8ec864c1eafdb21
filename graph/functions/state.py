"""TF1's functions on variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..core.build import ops
from ..core.create import create, output
from ..variables.variables import ResourceVariable, Variable

if TYPE_CHECKING:
    from ..core.graph import Tensor
    from ..core.typing import TensorLike


def assign(
    ref: Variable | Tensor,
    value: TensorLike,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Gives a variable a value; a tensor with the new one."""
    if isinstance(ref, ResourceVariable):
        return ref.assign(value, name=name)
    attrs = {
        "validate_shape": True if validate_shape is None else validate_shape,
        "use_locking": True if use_locking is None else use_locking,
    }
    return output("Assign", [ref, value], attrs, name)


def assign_add(
    ref: Variable | Tensor,
    value: TensorLike,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Adds to a variable; a tensor with the new value."""
    if isinstance(ref, ResourceVariable):
        return ref.assign_add(value)
    return output("AssignAdd", [ref, value], {"use_locking": bool(use_locking)}, name)


def assign_sub(
    ref: Variable | Tensor,
    value: TensorLike,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Subtracts from a variable; a tensor with the new value."""
    if isinstance(ref, ResourceVariable):
        return ref.assign_sub(value)
    return output("AssignSub", [ref, value], {"use_locking": bool(use_locking)}, name)


class Scatter(Protocol):
    """A function that changes rows of a variable, such as scatter_add."""

    def __call__(
        self,
        ref: Variable,
        indices: TensorLike,
        updates: TensorLike,
        use_locking: bool = ...,
        name: str | None = ...,
    ) -> Tensor:
        """A tensor with the new value."""
        ...


def _scatter(own_name: str, kind: str, what: str) -> Scatter:
    def scatter(
        ref: Variable,
        indices: TensorLike,
        updates: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
    ) -> Tensor:
        if isinstance(ref, ResourceVariable):
            op = create(f"Resource{kind}", [ref.handle, indices, updates], None, name)
            return ref.after(op)
        return output(kind, [ref, indices, updates], {"use_locking": use_locking}, name)

    scatter.__name__ = scatter.__qualname__ = own_name
    scatter.__doc__ = f"{what} rows of a variable; a tensor with the new value."
    return scatter


scatter_add = _scatter("scatter_add", "ScatterAdd", "Adds to")
scatter_div = _scatter("scatter_div", "ScatterDiv", "Divides")
scatter_max = _scatter("scatter_max", "ScatterMax", "Takes the larger for")
scatter_min = _scatter("scatter_min", "ScatterMin", "Takes the smaller for")
scatter_mul = _scatter("scatter_mul", "ScatterMul", "Multiplies")
scatter_sub = _scatter("scatter_sub", "ScatterSub", "Subtracts from")
scatter_update = _scatter("scatter_update", "ScatterUpdate", "Sets")


def is_variable_initialized(ref: Variable, name: str | None = None) -> Tensor:
    """Whether a variable has a value."""
    if isinstance(ref, ResourceVariable):
        return ref.is_initialized(name)
    return ops.IsVariableInitialized(ref, name=name)
