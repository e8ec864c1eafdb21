"""`warm_start`: a model that begins with the values of another, also where vocabularies differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...graph.core.build import ops
from ...graph.core.create import convert_to_tensor
from ...graph.core.graph import Tensor
from ...graph.core.scopes import GraphKeys, get_collection, name_scope
from ...graph.variables.initializers import Initializer, zeros_initializer
from ...graph.variables.variables import Variable
from ...schema.files import read_bytes
from ...schema.tensorflow.slice_table import open_checkpoint
from .init_from_checkpoint import (
    checkpoint_path,
    init_from_checkpoint,
    replace_initializer,
    restored,
    whole_shape,
)
from .object_checkpoint import read_object_graph
from .object_graph import OBJECT_GRAPH_KEY

AXES = (0, 1)


class _VocabInfo(NamedTuple):
    new_vocab: str
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: str
    old_vocab_size: int = -1
    backup_initializer: Initializer | None = None
    axis: int = 0


class VocabInfo(_VocabInfo):
    """How the entries of a variable follow a vocabulary, before and now.

    Args:
        new_vocab: The file with the vocabulary of the new model, an entry in each line.
        new_vocab_size: How many of its entries the variable has.
        num_oov_buckets: How many entries follow for words out of the vocabulary.
        old_vocab: The file with the vocabulary of the checkpoint.
        old_vocab_size: How many of its entries count; -1 for all.
        backup_initializer: Of entries that the checkpoint lacks; zeros when None.
        axis: Of the variable: 0 for rows, as in embeddings, 1 for columns, as in output layers.

    Raises:
        ValueError: `axis` is neither 0 nor 1.
    """

    __slots__ = ()

    def __new__(
        cls,
        new_vocab: str,
        new_vocab_size: int,
        num_oov_buckets: int,
        old_vocab: str,
        old_vocab_size: int = -1,
        backup_initializer: Initializer | None = None,
        axis: int = 0,
    ) -> VocabInfo:
        """A tuple of the arguments."""
        if axis not in AXES:
            raise ValueError(
                "The only supported values for the axis argument are 0 and 1.  Provided axis: "
                f"{axis}"
            )
        return super().__new__(
            cls,
            new_vocab,
            new_vocab_size,
            num_oov_buckets,
            old_vocab,
            old_vocab_size,
            backup_initializer,
            axis,
        )


def warm_start(
    ckpt_to_initialize_from,
    vars_to_warm_start: str | Sequence[str] | Sequence[Variable] | None = ".*",
    var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
    var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:
    """Lets variables of the default graph begin with the values of a checkpoint.

    Args:
        ckpt_to_initialize_from: The checkpoint, or the folder whose latest to take. In one that
            `tf.train.Checkpoint` wrote, variables are found by the names they had then.
        vars_to_warm_start: A regular expression for the names of trainable variables, several for
            those of all global ones, or variables; None for those of `var_name_to_vocab_info`.
        var_name_to_vocab_info: Vocabularies by the names of variables.
        var_name_to_prev_var_name: Names in the checkpoint by those of variables, where they differ.

    Raises:
        ValueError: A name belongs to no variable that is warm-started; the checkpoint lacks one;
            or a vocabulary does not have the size that is said.
        NotFoundError: There is no such checkpoint.
    """
    variables = _grouped(_chosen(vars_to_warm_start))
    vocabularies = var_name_to_vocab_info or {}
    names = var_name_to_prev_var_name or _names_in_objects(ckpt_to_initialize_from, variables)
    for used, argument in (
        (names, "var_name_to_prev_var_name"),
        (vocabularies, "var_name_to_vocab_info"),
    ):
        unused = set(used) - set(variables)
        if unused:
            raise ValueError(
                f"You provided the following variables in {argument} that were not used: {unused}. "
                " Perhaps you misspelled them?  Here is the list of viable variable names: "
                f"{list(variables)}"
            )
    for name, parts in variables.items():
        old_name = names.get(name) or name
        if name in vocabularies:
            path = checkpoint_path(ckpt_to_initialize_from)
            _follow_vocabulary(parts, path, old_name, vocabularies[name])
        elif vars_to_warm_start is not None:
            init_from_checkpoint(ckpt_to_initialize_from, {old_name: parts})


def _grouped(variables: Sequence[Variable]) -> dict[str, list[Variable]]:
    """Variables by their names, the parts of partitioned ones by that of the whole."""
    groups: dict[str, list[Variable]] = {}
    for variable in variables:
        part = variable.save_slice_info
        whole = None if part is None else part.full_name
        groups.setdefault(whole or variable.op.name, []).append(variable)
    return groups


def _chosen(vars_to_warm_start: str | Sequence[str] | Sequence[Variable] | None) -> list[Variable]:
    """The variables to warm-start."""
    if vars_to_warm_start is None or isinstance(vars_to_warm_start, str):
        return get_collection(GraphKeys.TRAINABLE_VARIABLES, vars_to_warm_start)
    if not isinstance(vars_to_warm_start, list):
        raise ValueError(
            "`vars_to_warm_start must be a `list` or `str`.  Given type is "
            f"{type(vars_to_warm_start)}"
        )
    variables = [item for item in vars_to_warm_start if isinstance(item, Variable)]
    patterns = [item for item in vars_to_warm_start if isinstance(item, str)]
    if len(vars_to_warm_start) not in (len(variables), len(patterns)):
        raise ValueError(
            "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given "
            f"types are {[type(item) for item in vars_to_warm_start]}"
        )
    for pattern in patterns:
        variables += get_collection(GraphKeys.GLOBAL_VARIABLES, pattern)
    return variables


def _names_in_objects(
    ckpt_dir_or_file, variables: Mapping[str, Sequence[Variable]]
) -> dict[str, str]:
    """Where an object-based checkpoint has variables, by name; nothing for one of a Saver."""
    bundle = open_checkpoint(checkpoint_path(ckpt_dir_or_file))
    if OBJECT_GRAPH_KEY not in bundle:
        return {}
    nodes = read_object_graph(bundle).nodes
    keys = {item.full_name: item.checkpoint_key for node in nodes for item in node.attributes}
    missing = variables.keys() - keys.keys()
    if missing:
        raise ValueError(
            "Attempting to warm-start from an object-based checkpoint, but found that the "
            "checkpoint did not contain values for all variables. The following variables were "
            f"missing: {missing}"
        )
    return {name: keys[name] for name in variables}


def _follow_vocabulary(parts: Sequence[Variable], path: str, name: str, info: VocabInfo) -> None:
    """Lets the entries of a variable begin with those the checkpoint has for the same words."""
    if not (info.new_vocab and info.new_vocab_size and info.old_vocab):
        raise ValueError(
            "Invalid args: Must provide all of [current_vocab_path, current_vocab_size, "
            "prev_ckpt, prev_vocab_path}."
        )
    variable, sizes = parts[0], [int(n or 0) for n in whole_shape(parts).as_list()]
    if len(sizes) <= info.axis or sizes[info.axis] != info.new_vocab_size + info.num_oov_buckets:
        raise ValueError(
            f"variable '{variable.name}' must have {info.new_vocab_size} + {info.num_oov_buckets} "
            f"entries on axis {info.axis}, the vocabulary and the buckets, got shape {sizes}"
        )
    old_indices = _old_indices(info)
    initializer = info.backup_initializer or zeros_initializer()
    dtype = np.dtype(variable.dtype)
    sizes[info.axis] = len(old_indices)
    with name_scope(None):
        old = restored(path, name, dtype)
        if not len(open_checkpoint(path).shape(name)) == len(sizes):
            raise ValueError(
                f"Tensor {name} of the checkpoint must have rank {len(sizes)}, as variable "
                f"'{variable.name}', got shape {list(open_checkpoint(path).shape(name))}"
            )
        known = ops.GatherV2(old, np.maximum(old_indices, 0), np.int32(info.axis))
        value = _filled(known, sizes, old_indices < 0, info.axis, initializer, dtype)
        if info.num_oov_buckets:
            sizes[info.axis] = info.num_oov_buckets
            buckets = convert_to_tensor(initializer(sizes, dtype=dtype), dtype)
            value = ops.ConcatV2([value, buckets], np.int32(info.axis))
        for variable in parts:
            replace_initializer(variable, _part_of(value, variable, alone=len(parts) == 1))


def _part_of(value: Tensor, variable: Variable, alone: bool) -> Tensor:
    """What of a whole variable's value is that of a part of it."""
    slice_info = variable.save_slice_info
    if slice_info is not None and not alone:
        begin = np.array(slice_info.var_offset, np.int32)
        value = ops.Slice(value, begin, np.array(slice_info.var_shape, np.int32))
    value.set_shape(variable.sizes)
    return value


def _filled(
    value: Tensor,
    sizes: list[int],
    is_missing: np.ndarray,
    axis: int,
    initializer: Initializer,
    dtype: np.dtype,
) -> Tensor:
    """`value` with new elements where the checkpoint had none, in the order of the elements."""
    shape = [1] * len(sizes)
    shape[axis] = len(is_missing)
    mask = np.broadcast_to(is_missing.reshape(shape), sizes)
    indices = np.argwhere(mask).astype(np.int64)
    if not len(indices):
        return value
    fresh = convert_to_tensor(initializer([len(indices), 1], dtype=dtype), dtype)
    updates = ops.Reshape(fresh, np.array([len(indices)], np.int32))
    return ops.TensorScatterUpdate(value, indices, updates)


def _old_indices(info: VocabInfo) -> np.ndarray:
    """Where the words of the new vocabulary stand in the old one; -1 where they do not."""
    old = _words(info.old_vocab, math.inf if info.old_vocab_size == -1 else info.old_vocab_size)
    new = _words(info.new_vocab, info.new_vocab_size)
    index_of = {word: i for i, word in enumerate(old)}
    if len(index_of) != len(old):
        raise ValueError(f"vocabulary file '{info.old_vocab}' must have no word twice")
    return np.array([index_of.get(word, -1) for word in new], np.int64)


def _words(path: str, count: float) -> list[bytes]:
    """The first `count` lines of a vocabulary, all when it is infinite."""
    words = read_bytes(path).splitlines()
    if count is not math.inf and len(words) < count:
        raise ValueError(f"vocabulary file '{path}' must have {count} lines, got {len(words)}")
    return words if count is math.inf else words[: int(count)]
