"""TF1's functions on variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from ..core.build import ops
from ..core.create import output
from ..core.graph import Tensor
from ..core.scopes import name_scope
from ..variables.batch_positions import batch_positions
from ..variables.kinds import ReferenceVariable, ResourceVariable
from ..variables.variables import Updated, Variable

if TYPE_CHECKING:
    from ..core.typing import TensorLike


def _is_reference(ref: Variable | Tensor) -> bool:
    """Whether it is memory that operations such as Assign take, not what has methods of its own."""
    return isinstance(ref, ReferenceVariable) or (isinstance(ref, Tensor) and ref.is_reference)


def assign(
    ref: Variable | Tensor,
    value: TensorLike,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Updated:
    """Gives a variable a value; the new one.

    Args:
        ref: A variable.
        value: Its new value, of its type.
        validate_shape: Whether the shape must be that of the variable.
        use_locking: Taken for TensorFlow's sake.
        name: Of the operation.

    Returns what gives the variable's value afterwards.

    Raises ValueError for another shape.
    """
    if not _is_reference(ref):
        return cast("Variable", ref).assign(value, name=name)
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
) -> Updated:
    """Adds to a variable; the new value.

    Args:
        ref: A variable of numbers.
        value: Of its type and shape.
        use_locking: Whether others wait meanwhile.
        name: Of the operation.

    Raises ValueError for another shape, TypeError for another type; when it runs,
    FailedPreconditionError before the variable has a value.
    """
    if not _is_reference(ref):
        return cast("Variable", ref).assign_add(value)
    return output("AssignAdd", [ref, value], {"use_locking": bool(use_locking)}, name)


def assign_sub(
    ref: Variable | Tensor,
    value: TensorLike,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Updated:
    """Subtracts from a variable; the new value.

    Args:
        ref: A variable of numbers.
        value: Of its type and shape.
        use_locking: Whether others wait meanwhile.
        name: Of the operation.

    Raises ValueError for another shape, TypeError for another type; when it runs,
    FailedPreconditionError before the variable has a value.
    """
    if not _is_reference(ref):
        return cast("Variable", ref).assign_sub(value)
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
    ) -> Updated:
        """A tensor with the new value."""
        ...


def _scatter(public_name: str, kind: str, what: str) -> Scatter:
    def scatter(
        ref: Variable,
        indices: TensorLike,
        updates: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
    ) -> Updated:
        if isinstance(ref, ResourceVariable):
            return ref.after(ref.scatter(kind, indices, updates, name))
        return output(kind, [ref, indices, updates], {"use_locking": use_locking}, name)

    scatter.__name__ = scatter.__qualname__ = public_name
    scatter.__doc__ = f"""{what} rows of a variable, ref[indices[i]] by updates[i]; the new value.

    Args:
        ref: A variable [n, ...].
        indices: int32 or int64, of any shape, from 0 to n - 1; a row may come several times.
        updates: indices.shape + ref.shape[1:], or a scalar, of the variable's type.
        use_locking: Whether others wait meanwhile.
        name: Of the operation.

    Raises ValueError for shapes that do not fit, TypeError for other types; when it runs,
    InvalidArgumentError for an index out of range.
    """
    return scatter


scatter_add = _scatter("scatter_add", "ScatterAdd", "Adds to")
scatter_div = _scatter("scatter_div", "ScatterDiv", "Divides")
scatter_max = _scatter("scatter_max", "ScatterMax", "Takes the larger for")
scatter_min = _scatter("scatter_min", "ScatterMin", "Takes the smaller for")
scatter_mul = _scatter("scatter_mul", "ScatterMul", "Multiplies")
scatter_sub = _scatter("scatter_sub", "ScatterSub", "Subtracts from")
scatter_update = _scatter("scatter_update", "ScatterUpdate", "Sets")


def _scatter_nd(public_name: str, kind: str, what: str, locks: bool = False) -> Scatter:
    def scatter(
        ref: Variable,
        indices: TensorLike,
        updates: TensorLike,
        use_locking: bool = locks,
        name: str | None = None,
    ) -> Updated:
        if isinstance(ref, ResourceVariable):
            return ref.after(ref.scatter(kind, indices, updates, name))
        return output(kind, [ref, indices, updates], {"use_locking": use_locking}, name)

    scatter.__name__ = scatter.__qualname__ = public_name
    scatter.__doc__ = f"""{what} parts of a variable at index tuples; the new value.

    Args:
        ref: A variable.
        indices: [..., k], int32 or int64: each row is the place of a part along the first k
            dimensions.
        updates: indices.shape[:-1] + ref.shape[k:], of the variable's type.
        use_locking: Whether others wait meanwhile.
        name: Of the operation.

    Raises ValueError for shapes that do not fit, TypeError for other types; when it runs,
    InvalidArgumentError for a place out of range.
    """
    return scatter


scatter_nd_add = _scatter_nd("scatter_nd_add", "ScatterNdAdd", "Adds to")
scatter_nd_sub = _scatter_nd("scatter_nd_sub", "ScatterNdSub", "Subtracts from")
scatter_nd_update = _scatter_nd("scatter_nd_update", "ScatterNdUpdate", "Sets", True)


def batch_scatter_update(
    ref: Variable,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    name: str | None = None,
) -> Updated:
    """Sets ref[i, ..., indices[i, ..., j]] to updates[i, ..., j]; the new value.

    Args:
        ref: A variable [batch..., n, ...].
        indices: [batch..., m], int32 or int64, from 0 to n - 1.
        updates: [batch..., m, ...], of its type.
        use_locking: Whether others wait meanwhile.
        name: Of the operations.

    Raises ValueError when the rank of `indices` is not known; when it runs, InvalidArgumentError
    for an index out of range.
    """
    with name_scope(name):
        return scatter_nd_update(ref, batch_positions(indices), updates, use_locking)


def count_up_to(ref: Variable | Tensor, limit: int, name: str | None = None) -> Tensor:
    """A tensor that adds 1 to a variable and gives its value before.

    Args:
        ref: A scalar variable, int32 or int64.
        limit: The largest value it comes to.
        name: Of the operation.

    Raises OutOfRangeError when it runs with the variable at `limit`.
    """
    if isinstance(ref, Variable):
        return ref.count_up_to(limit, name)
    return ops.CountUpTo(ref, limit=limit, name=name)


def is_variable_initialized(ref: Variable, name: str | None = None) -> Tensor:
    """Whether a variable has a value."""
    if isinstance(ref, ResourceVariable):
        return ref.is_initialized(name)
    return ops.IsVariableInitialized(ref, name=name)
