"""`init_from_checkpoint`: initializers that read their values from a checkpoint."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np

from ...graph.core.build import ops
from ...graph.core.graph import Tensor
from ...graph.core.scopes import get_default_graph, name_scope
from ...graph.core.tensor_shape import TensorShape
from ...graph.variables.partitioned import PartitionedVariable
from ...graph.variables.variable_scope import store_of
from ...graph.variables.variables import Variable
from .checkpoints import latest_checkpoint, load_checkpoint
from .saver_ops import assign

ROOT, PART = "/", "/part_"
Target = str | Variable | Sequence[Variable] | PartitionedVariable


def init_from_checkpoint(
    ckpt_dir_or_file,
    assignment_map: Mapping[str, Target] | Iterable[tuple[str, Target]],
) -> None:
    """Lets variables of the default graph take their initial values from a checkpoint.

    The values are read when the initializers run, such as that of global_variables_initializer.

    Args:
        ckpt_dir_or_file: The checkpoint, or the folder whose latest to take.
        assignment_map: Pairs, or a dict, of what the checkpoint has and what is to take it:
            "name" to a Variable, to a partitioned one or to the list of its parts, "name" to "name"
            of a variable that get_variable made, and "scope/" to "scope/" for all variables
            within, where "/" is the outermost scope.

    Raises:
        ValueError: The folder has no checkpoint; the checkpoint lacks a tensor, or has it in
            another shape; or there is no such variable.
        NotFoundError: There is no such checkpoint.

    >>> import flatlite.compat.v1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     v = tf.get_variable("v", initializer=3.0)
    ...     session.run(v.initializer)
    ...     path = tf.train.Saver([v]).save(session, "out/doctest-init")
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     w = tf.get_variable("w", initializer=0.0)
    ...     tf.train.init_from_checkpoint(path, {"v": w})
    ...     session.run(tf.global_variables_initializer())
    ...     print(session.run(w))
    3.0
    """
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    path = checkpoint_path(ckpt_dir_or_file)
    items = assignment_map.items() if isinstance(assignment_map, Mapping) else assignment_map
    pairs = cast("Iterable[tuple[str, Target]]", items)
    variables = store_of(get_default_graph()).variables
    for name, target in sorted(pairs, key=lambda pair: pair[0]):
        parts = _parts(target, variables)
        if not parts:
            for inner, tensor_name in _within(variables, str(target), name).items():
                if tensor_name not in shapes:
                    relative = tensor_name.removeprefix("" if name == ROOT else name)
                    raise ValueError(
                        f"Tensor {tensor_name} ({relative} in {name}) is not found in "
                        f"{ckpt_dir_or_file} checkpoint"
                    )
                set_initializer(_parts(inner, variables), path, tensor_name)
            continue
        if name not in shapes:
            raise ValueError(
                f"Tensor {name} is not found in {ckpt_dir_or_file} checkpoint {shapes}"
            )
        shape = whole_shape(parts)
        if not TensorShape(shapes[name]).is_compatible_with(shape):
            raise ValueError(
                f"Shape of variable {parts[0].name} ({shape}) doesn't match with "
                f"shape of tensor {name} ({shapes[name]}) from checkpoint reader."
            )
        set_initializer(parts, path, name)


def _parts(target: Target, variables: Mapping[str, Variable]) -> list[Variable]:
    """The variable that is meant, or those that make up a partitioned one; none for a scope."""
    if isinstance(target, Variable):
        return [target]
    if not isinstance(target, str):
        return list(target)
    if target in variables:
        return [variables[target]]
    inner = [name for name in variables if name.rpartition(PART)[0] == target]
    return [
        variables[name] for name in sorted(inner, key=lambda name: int(name.rpartition("_")[2]))
    ]


def whole_shape(parts: Sequence[Variable]) -> TensorShape:
    """The shape of the tensor that a checkpoint has for a variable or for all its parts."""
    slice_info = parts[0].save_slice_info
    whole = None if slice_info is None or len(parts) == 1 else slice_info.full_shape
    return parts[0].get_shape() if whole is None else TensorShape(whole)


def _within(variables: Mapping[str, Variable], scope: str, source: str) -> dict[str, str]:
    """The variables of a scope, and what the scope `source` of a checkpoint calls them."""
    outside = scope.rpartition("/")[0]
    if not source.endswith("/"):
        raise ValueError(
            f"Assignment map with scope only name {outside} should map to scope only {source}. "
            "Should be 'scope/': 'other_scope/'."
        )
    prefix = f"{outside}/" if outside else ""
    inner = sorted({name.partition(PART)[0] for name in variables if name.startswith(prefix)})
    start = "" if source == ROOT else source
    return {name: start + name.removeprefix(prefix) for name in inner}


def checkpoint_path(ckpt_dir_or_file) -> str:
    """The checkpoint itself, or the latest one of a folder."""
    path = os.fspath(ckpt_dir_or_file)
    latest = latest_checkpoint(path) if Path(path).is_dir() else path
    return path if latest is None else latest


def restored(path: str, tensor_name: str, dtype: np.dtype, part: str = "") -> Tensor:
    """What the checkpoint has under a name, or a part of that, when this is computed."""
    texts = [np.array([text.encode()], object) for text in (tensor_name, part)]
    prefix = np.array(path.encode(), object)
    result = ops.RestoreV2(prefix, *texts, dtypes=[dtype], name="checkpoint_initializer")
    return result[0] if isinstance(result, list | tuple) else result


def set_initializer(parts: Sequence[Variable], path: str, tensor_name: str) -> None:
    """Lets a variable, or its parts, begin with what the checkpoint has."""
    for variable in parts:
        slice_info = variable.save_slice_info
        part = "" if slice_info is None or len(parts) == 1 else slice_info.spec
        with name_scope(None):
            tensor = restored(path, tensor_name, np.dtype(variable.dtype), part)
            tensor.set_shape(variable.sizes)
            replace_initializer(variable, tensor)


def replace_initializer(variable: Variable, value: Tensor) -> None:
    """Lets a variable begin with another value."""
    variable.initializer = assign(variable, value, reshape=False)
    variable.initial_value = value
