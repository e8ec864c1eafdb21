"""The operations of a Saver: variables and tables to the tensors of a checkpoint, and back."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...graph.core.build import ops
from ...graph.core.device_spec import DeviceSpec
from ...graph.core.graph import Operation, Tensor
from ...graph.core.scopes import control_dependencies, device, name_scope
from ...graph.core.shapes import is_static
from ...graph.functions.flow.control_flow import group
from ...graph.functions.resources.mutable_tables import MutableTable, SaveableTable
from ...graph.variables.partitioned import PartitionedVariable
from ...graph.variables.variables import Variable
from ..optimizers.slots import is_resource

V1, V2 = 1, 2
"""Formats of checkpoints: one table with the elements, or an index and data files."""


class Restoring(NamedTuple):
    """Whether tensors may have other shapes than their variables, and come one after another."""

    reshape: bool
    sequentially: bool


class Saved(NamedTuple):
    """What is saved under a name, and which part of what has that name it is."""

    name: str
    part: str
    item: Variable | SaveableTable

    @property
    def device(self) -> str:
        """Where it stands."""
        return self.item.device

    @property
    def names(self) -> list[str]:
        """Those of its tensors in the checkpoint."""
        return self.item.names if isinstance(self.item, SaveableTable) else [self.name]

    @property
    def dtypes(self) -> list[np.dtype]:
        """The types of its tensors."""
        if isinstance(self.item, SaveableTable):
            return [np.dtype(tensor.dtype) for tensor in self.item.tensors]
        return [np.dtype(self.item.dtype)]

    def tensors(self) -> list[Tensor]:
        """What is saved."""
        if isinstance(self.item, SaveableTable):
            return list(self.item.tensors)
        return [_saved(self.item)]

    def restore(self, tensors: Sequence[Tensor], reshape: bool) -> Operation:
        """The operation that takes tensors of a checkpoint."""
        if isinstance(self.item, SaveableTable):
            return self.item.restore(*tensors)
        return assign(self.item, *tensors, reshape=reshape)


def named_variables(var_list) -> list[Saved]:
    """Variables and tables with the names they are saved under, in order of the names.

    Raises:
        TypeError: Something else is among them.
        ValueError: Two have one name, or one has two.
    """
    if isinstance(var_list, Mapping):
        pairs = list(var_list.items())
    elif isinstance(var_list, list | tuple | set):
        pairs = [(_name_in_graph(item), item) for item in var_list]
    else:
        raise TypeError(f"Variables to save should be passed in a dict or a list. Got {var_list!r}")
    rows = [row for name, item in pairs for row in _rows(name, item)]
    ((name, count),) = Counter(row[:2] for row in rows).most_common(1) or [(("", ""), 0)]
    if count > 1:
        raise ValueError(f"At least two variables have the same name: {name[0]}")
    rows.sort(key=lambda row: (row.name, _offset(row.item)))
    seen: set[Operation] = set()
    for row in rows:
        if row.item.op in seen:
            raise ValueError(f"The same saveable will be restored with two names: {row.name}")
        seen.add(row.item.op)
    return rows


def _name_in_graph(item) -> str:
    """The name a variable is saved under: the whole's, where it is a part of one."""
    if isinstance(item, SaveableTable):
        return item.name
    part = getattr(item, "save_slice_info", None)
    if part is not None:
        return part.full_name
    return getattr(getattr(item, "op", None), "name", "")


def _rows(name: str, item) -> list[Saved]:
    """The row of a variable, or those of its parts."""
    if isinstance(item, list | tuple | PartitionedVariable):
        rows = [row for part in item for row in _rows(name, part)]
        for row in rows:
            if not row.part:
                raise ValueError(f"Slices must all be slices: {row.item.name}")
        return [row._replace(name=name or _name_in_graph(row.item)) for row in rows]
    if isinstance(item, MutableTable):
        return [Saved(name, "", item.saveable(name))]
    if isinstance(item, SaveableTable):
        return [Saved(name, "", dataclasses.replace(item, name=name))]
    if not isinstance(item, Variable):
        raise TypeError(
            "names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a "
            f"variable: {item}"
            if not isinstance(item, Tensor)
            else f"Variable to save is not a Variable: {item}"
        )
    part = item.save_slice_info
    return [Saved(name, "" if part is None else part.spec, item)]


def _offset(item: Variable | SaveableTable) -> list[int]:
    part = item.save_slice_info if isinstance(item, Variable) else None
    return [] if part is None else list(part.var_offset or ())


def add_operations(
    variables: list[Saved],
    scope: str | None,
    filename: str | bytes,
    sharded: bool,
    restoring: Restoring,
    version: int,
) -> tuple[Tensor, Tensor, Operation]:
    """What to feed with the checkpoint's name, what to run to save, what to run to restore."""
    with name_scope(scope, "save", [row.item.op for row in variables]):
        default = np.array(os.fsencode(filename), object)
        path = ops.PlaceholderWithDefault(default, shape=(), name="filename")
        path = ops.PlaceholderWithDefault(path, shape=(), name="Const")
        if sharded:
            return path, *_add_sharded(path, variables, restoring, version)
        saved = _add_save(path, variables, version)
        return path, saved, _add_restore(path, variables, restoring, "restore_all")


def _add_sharded(
    path: Tensor, variables: list[Saved], restoring: Restoring, version: int
) -> tuple[Tensor, Operation]:
    """A file for each device, in version 2 made one checkpoint when all are written."""
    devices: dict[str, list[Saved]] = {}
    for row in variables:
        devices.setdefault(row.device, []).append(row)
    parts = [devices[device] for device in sorted(devices)]
    prefix, count = path, np.int32(len(parts))
    if version == V2:
        suffix = ops.Identity(np.array(b"_temp/part", object), name="suffix")
        prefix = ops.StringJoin([path, suffix])
    names = [ops.ShardedFilename(prefix, np.int32(i), count) for i in range(len(parts))]
    saves = [_add_save(name, part, version).op for name, part in zip(names, parts, strict=True)]
    with control_dependencies(saves):
        if version == V2:
            saves = [ops.MergeV2Checkpoints(ops.Pack(names), path, delete_old_dirs=True)]
        else:
            prefix = ops.ShardedFilespec(path, count)
    with control_dependencies(saves):
        saved = ops.Identity(path if version == V2 else prefix)
    restores = [_add_restore(path, part, restoring, "restore_shard") for part in parts]
    return saved, group(*restores, name="restore_all")


def _add_save(path: Tensor, variables: list[Saved], version: int) -> Tensor:
    """Writes variables; gives the path when that is done."""
    tensors = [tensor for row in variables for tensor in row.tensors()]
    names, parts = _names_and_parts(variables)
    make = ops.SaveV2 if version == V2 else ops.SaveSlices
    save = make(path, names, parts, tensors)
    with control_dependencies([save]):
        return ops.Identity(path, name="control_dependency")


def _saved(variable: Variable) -> Tensor:
    """The tensor with what is saved: a reference itself, or what is read by a handle."""
    target = variable.op.outputs[0]
    if not is_resource(variable):
        return target
    with device(variable.device or None):
        read = ops.ReadVariableOp(target, dtype=np.dtype(variable.dtype))
    if not variable.device:
        return read
    place = DeviceSpec.from_string(variable.device)
    with device(place.replace(device_type="CPU", device_index=0)):
        return ops.Identity(read)


def _add_restore(
    path: Tensor, variables: list[Saved], restoring: Restoring, name: str
) -> Operation:
    """Reads all tensors at once and assigns them."""
    dtypes = [dtype for row in variables for dtype in row.dtypes]
    names, parts = _names_and_parts(variables)
    tensors = iter(ops.RestoreV2(path, names, parts, dtypes=dtypes))
    restores: list[Operation] = []
    for row in variables:
        before = restores[-1:] if restoring.sequentially else []
        with control_dependencies(before):
            of_row = [next(tensors) for _ in row.dtypes]
            restores.append(row.restore(of_row, restoring.reshape))
    return group(*restores, name=name)


def assign(variable: Variable, tensor: Tensor, reshape: bool) -> Operation:
    """Gives a variable a tensor of a checkpoint, in its shape if `reshape`."""
    is_known = is_static(variable.sizes)
    if reshape and is_known:
        tensor = ops.Reshape(tensor, np.array(variable.sizes, np.int32))
    target = variable.op.outputs[0]
    if is_resource(variable):
        return ops.AssignVariableOp(target, ops.Identity(tensor))
    return ops.Assign(target, tensor, validate_shape=is_known).op


def _names_and_parts(variables: list[Saved]) -> tuple[np.ndarray, np.ndarray]:
    """The names of all tensors, and which part of that each one is."""
    pairs = [(name, row.part) for row in variables for name in row.names]
    return _strings(name for name, _ in pairs), _strings(part for _, part in pairs)


def _strings(texts: Iterable[str]) -> np.ndarray:
    encoded = [text.encode("utf-8", "surrogateescape") for text in texts]
    array = np.empty(len(encoded), object)
    array[:] = encoded
    return array
