"""`init_from_checkpoint`: initializers that read their values from a checkpoint."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

import numpy as np

from ..graph.core.build import ops
from ..graph.core.graph import Tensor
from ..graph.core.scopes import get_default_graph, name_scope
from ..graph.core.tensor_shape import TensorShape
from ..graph.variables.variable_scope import store_of
from ..graph.variables.variables import Variable
from .checkpoints import latest_checkpoint, load_checkpoint
from .saver_ops import assign

ROOT = "/"


def init_from_checkpoint(
    ckpt_dir_or_file,
    assignment_map: Mapping[str, str | Variable] | Iterable[tuple[str, str | Variable]],
) -> None:
    """Lets variables of the default graph take their initial values from a checkpoint.

    The values are read when the initializers run, such as that of global_variables_initializer.

    Args:
        ckpt_dir_or_file: The checkpoint, or the folder whose latest to take.
        assignment_map: Pairs, or a dict, of what the checkpoint has and what is to take it:
            "name" to a Variable, "name" to "name" of a variable that get_variable made, and
            "scope/" to "scope/" for all variables within, where "/" is the outermost scope.

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
    pairs = cast("Iterable[tuple[str, str | Variable]]", items)
    variables = store_of(get_default_graph()).variables
    for name, target in sorted(pairs, key=lambda pair: pair[0]):
        variable = target if isinstance(target, Variable) else variables.get(target)
        if variable is None:
            for inner, tensor_name in _within(variables, str(target), name).items():
                if tensor_name not in shapes:
                    relative = tensor_name.removeprefix("" if name == ROOT else name)
                    raise ValueError(
                        f"Tensor {tensor_name} ({relative} in {name}) is not found in "
                        f"{ckpt_dir_or_file} checkpoint"
                    )
                set_initializer(variables[inner], path, tensor_name)
            continue
        if name not in shapes:
            raise ValueError(
                f"Tensor {name} is not found in {ckpt_dir_or_file} checkpoint {shapes}"
            )
        if not TensorShape(shapes[name]).is_compatible_with(variable.get_shape()):
            raise ValueError(
                f"Shape of variable {variable.name} ({variable.get_shape()}) doesn't match with "
                f"shape of tensor {name} ({shapes[name]}) from checkpoint reader."
            )
        set_initializer(variable, path, name)


def _within(variables: Mapping[str, Variable], scope: str, source: str) -> dict[str, str]:
    """The variables of a scope, and what the scope `source` of a checkpoint calls them."""
    outside = scope.rpartition("/")[0]
    if not source.endswith("/"):
        raise ValueError(
            f"Assignment map with scope only name {outside} should map to scope only {source}. "
            "Should be 'scope/': 'other_scope/'."
        )
    prefix = f"{outside}/" if outside else ""
    inner = sorted(name for name in variables if name.startswith(prefix))
    start = "" if source == ROOT else source
    return {name: start + name.removeprefix(prefix) for name in inner}


def checkpoint_path(ckpt_dir_or_file) -> str:
    """The checkpoint itself, or the latest one of a folder."""
    path = os.fspath(ckpt_dir_or_file)
    latest = latest_checkpoint(path) if Path(path).is_dir() else path
    return path if latest is None else latest


def restored(path: str, tensor_name: str, dtype: np.dtype) -> Tensor:
    """What the checkpoint has under a name when this is computed."""
    texts = [np.array([text.encode()], object) for text in (tensor_name, "")]
    prefix = np.array(path.encode(), object)
    result = ops.RestoreV2(prefix, *texts, dtypes=[dtype], name="checkpoint_initializer")
    return result[0] if isinstance(result, list | tuple) else result


def set_initializer(variable: Variable, path: str, tensor_name: str) -> None:
    """Replaces the initializer of a variable by one that reads the checkpoint."""
    with name_scope(None):
        tensor = restored(path, tensor_name, np.dtype(variable.dtype))
        tensor.set_shape(variable.sizes)
        replace_initializer(variable, tensor)


def replace_initializer(variable: Variable, value: Tensor) -> None:
    """Lets a variable begin with another value."""
    variable.initializer = assign(variable, value, reshape=False)
    variable.initial_value = value
