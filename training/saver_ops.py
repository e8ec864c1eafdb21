"""The operations of a Saver: variables to the tensors of a checkpoint, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from ..graph.core.build import ops
from ..graph.core.graph import Operation, Tensor
from ..graph.core.scopes import control_dependencies, name_scope
from ..graph.core.shapes import is_static
from ..graph.functions.control_flow import group
from ..graph.variables.variables import Variable
from .slots import is_resource


class Restoring(NamedTuple):
    """Whether tensors may have other shapes than their variables, and come one after another."""

    reshape: bool
    sequentially: bool


def named_variables(var_list) -> dict[str, Variable]:
    """Variables by the names they are saved under, in order of the names.

    Raises:
        TypeError: Something else is among them.
        ValueError: Two have one name, or one has two.
    """
    if isinstance(var_list, Mapping):
        pairs = list(var_list.items())
    elif isinstance(var_list, list | tuple | set):
        pairs = [(getattr(getattr(item, "op", None), "name", ""), item) for item in var_list]
    else:
        raise TypeError(f"Variables to save should be passed in a dict or a list: {var_list!r}")
    for _, variable in pairs:
        if not isinstance(variable, Variable):
            raise TypeError(f"Variable to save is not a Variable: {variable!r}")
    ((name, count),) = Counter(name for name, _ in pairs).most_common(1) or [("", 0)]
    if count > 1:
        raise ValueError(f"At least two variables have the same name: {name}")
    ((name, count),) = Counter(v.name for _, v in pairs).most_common(1) or [("", 0)]
    if count > 1:
        raise ValueError(f"The same saveable will be restored with two names: {name}")
    return dict(sorted(pairs))


def add_operations(
    variables: dict[str, Variable],
    scope: str | None,
    filename: str,
    sharded: bool,
    restoring: Restoring,
) -> tuple[Tensor, Tensor, Operation]:
    """What to feed with the checkpoint's name, what to run to save, what to run to restore."""
    with name_scope(scope, "save", [variable.op for variable in variables.values()]):
        default = np.array(filename.encode(), object)
        path = ops.PlaceholderWithDefault(default, shape=(), name="filename")
        path = ops.PlaceholderWithDefault(path, shape=(), name="Const")
        if sharded:
            return path, *_add_sharded(path, variables, restoring)
        saved = _add_save(path, variables)
        return path, saved, _add_restore(path, variables, restoring, "restore_all")


def _add_sharded(
    path: Tensor, variables: dict[str, Variable], restoring: Restoring
) -> tuple[Tensor, Operation]:
    """A file for each device, made one checkpoint when all are written."""
    devices: dict[str, dict[str, Variable]] = {}
    for name, variable in variables.items():
        devices.setdefault(variable.device, {})[name] = variable
    parts = [devices[device] for device in sorted(devices)]
    suffix = ops.Identity(np.array(b"_temp/part", object), name="suffix")
    prefix = ops.StringJoin([path, suffix])
    count = np.int32(len(parts))
    names = [ops.ShardedFilename(prefix, np.int32(i), count) for i in range(len(parts))]
    saves = [_add_save(name, part).op for name, part in zip(names, parts, strict=True)]
    with control_dependencies(saves):
        merged = ops.MergeV2Checkpoints(ops.Pack(names), path, delete_old_dirs=True)
    with control_dependencies([merged]):
        saved = ops.Identity(path)
    restores = [_add_restore(path, part, restoring, "restore_shard") for part in parts]
    return saved, group(*restores, name="restore_all")


def _add_save(path: Tensor, variables: dict[str, Variable]) -> Tensor:
    """Writes variables; gives the path when that is done."""
    tensors = [_saved(variable) for variable in variables.values()]
    names = _strings(variables)
    save = ops.SaveV2(path, names, _strings([""] * len(names)), tensors)
    with control_dependencies([save]):
        return ops.Identity(path, name="control_dependency")


def _saved(variable: Variable) -> Tensor:
    """The tensor with what is saved: a reference itself, or what is read by a handle."""
    target = variable.op.outputs[0]
    if is_resource(variable):
        return ops.ReadVariableOp(target, dtype=np.dtype(variable.dtype))
    return target


def _add_restore(
    path: Tensor, variables: dict[str, Variable], restoring: Restoring, name: str
) -> Operation:
    """Reads all tensors at once and assigns them."""
    dtypes = [np.dtype(variable.dtype) for variable in variables.values()]
    names = _strings(variables)
    tensors = ops.RestoreV2(path, names, _strings([""] * len(names)), dtypes=dtypes)
    assigns: list[Operation] = []
    for variable, tensor in zip(variables.values(), tensors, strict=True):
        before = assigns[-1:] if restoring.sequentially else []
        with control_dependencies(before):
            assigns.append(assign(variable, tensor, restoring.reshape))
    return group(*assigns, name=name)


def assign(variable: Variable, tensor: Tensor, reshape: bool) -> Operation:
    """Gives a variable a tensor of a checkpoint, in its shape if `reshape`."""
    is_known = is_static(variable.shape)
    if reshape and is_known:
        tensor = ops.Reshape(tensor, np.array(variable.shape, np.int32))
    target = variable.op.outputs[0]
    if is_resource(variable):
        return ops.AssignVariableOp(target, ops.Identity(tensor))
    return ops.Assign(target, tensor, validate_shape=is_known).op


def _strings(texts: Iterable[str]) -> np.ndarray:
    encoded = [text.encode("utf-8", "surrogateescape") for text in texts]
    array = np.empty(len(encoded), object)
    array[:] = encoded
    return array
