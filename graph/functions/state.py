"""TF1's functions on variables."""

from __future__ import annotations

from typing import Any

from ..core.build import ops
from ..core.create import create, output
from ..variables.variables import ResourceVariable, Variable


def assign(
    ref, value, validate_shape: bool | None = None, use_locking: bool | None = None, name=None
):
    """Gives a variable a value; a tensor with the new one."""
    if isinstance(ref, ResourceVariable):
        return ref.assign(value, name=name)
    attrs = {
        "validate_shape": True if validate_shape is None else validate_shape,
        "use_locking": True if use_locking is None else use_locking,
    }
    return output("Assign", [ref, value], attrs, name)


def assign_add(ref, value, use_locking: bool | None = None, name=None) -> Any:
    """Adds to a variable; a tensor with the new value."""
    if isinstance(ref, ResourceVariable):
        return ref.assign_add(value)
    return output("AssignAdd", [ref, value], {"use_locking": bool(use_locking)}, name)


def assign_sub(ref, value, use_locking: bool | None = None, name=None) -> Any:
    """Subtracts from a variable; a tensor with the new value."""
    if isinstance(ref, ResourceVariable):
        return ref.assign_sub(value)
    return output("AssignSub", [ref, value], {"use_locking": bool(use_locking)}, name)


def _scatter(name: str, kind: str, what: str):
    def scatter(ref: Variable, indices, updates, use_locking: bool = False, name=None) -> Any:
        if isinstance(ref, ResourceVariable):
            op = create(f"Resource{kind}", [ref.handle, indices, updates], None, name)
            return ref.after(op)
        return output(kind, [ref, indices, updates], {"use_locking": use_locking}, name)

    scatter.__name__ = scatter.__qualname__ = name
    scatter.__doc__ = f"{what} rows of a variable; a tensor with the new value."
    return scatter


for _name, _kind, _what in (
    ("scatter_add", "ScatterAdd", "Adds to"),
    ("scatter_div", "ScatterDiv", "Divides"),
    ("scatter_max", "ScatterMax", "Takes the larger for"),
    ("scatter_min", "ScatterMin", "Takes the smaller for"),
    ("scatter_mul", "ScatterMul", "Multiplies"),
    ("scatter_sub", "ScatterSub", "Subtracts from"),
    ("scatter_update", "ScatterUpdate", "Sets"),
):
    globals()[_name] = _scatter(_name, _kind, _what)


def is_variable_initialized(ref: Variable, name=None) -> Any:
    """Whether a variable has a value."""
    if isinstance(ref, ResourceVariable):
        return ref.is_initialized(name)
    return ops.IsVariableInitialized(ref, name=name)
