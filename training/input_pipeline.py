"""TF1's input pipelines: queues that runners fill and that give batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ..graph.core.build import ops
from ..graph.core.composite.sparse_tensor import SparseTensor
from ..graph.core.create import convert_to_tensor
from ..graph.core.elements import Tensor
from ..graph.core.scopes import GraphKeys, control_dependencies, name_scope
from ..graph.core.tensor_shape import TensorShape
from ..graph.functions import summaries
from ..graph.functions.array.array import boolean_mask, gather, identity
from ..graph.functions.flow.conditional import cond
from ..graph.functions.flow.control_flow import Assert, no_op
from ..graph.functions.random import random_shuffle
from ..graph.functions.resources.queues import (
    FIFOQueue,
    PaddingFIFOQueue,
    QueueBase,
    RandomShuffleQueue,
)
from ..graph.variables.variables import Variable
from .sessions.queue_runner import QueueRunner, add_queue_runner
from .sparse_batches import restored, serialized

if TYPE_CHECKING:
    from ..graph.core.elements import Operation
    from ..graph.core.typing import ShapeLike, TensorLike

Part: TypeAlias = "TensorLike | SparseTensor"
Tensors: TypeAlias = "Sequence[Part] | Mapping[str, Part]"
Batched: TypeAlias = "Tensor | SparseTensor | list | dict"


def limit_epochs(
    tensor: TensorLike, num_epochs: int | None = None, name: str | None = None
) -> Tensor:
    """A tensor that can be computed so often, then raises OutOfRangeError.

    The count is a local variable.

    Raises ValueError when `num_epochs` is not positive.
    """
    if num_epochs is None:
        return convert_to_tensor(tensor)
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        epochs = Variable(
            np.int64(0),
            name="epochs",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
            use_resource=False,
        )
        with control_dependencies([epochs.count_up_to(num_epochs)]):
            return identity(tensor, name=scope)


def input_producer(
    input_tensor: TensorLike,
    element_shape: ShapeLike | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Operation | None = None,
) -> QueueBase:
    """A queue of the rows of a tensor, filled by a queue runner.

    Args:
        input_tensor: The rows.
        element_shape: That of a row, where the tensor does not say it.
        num_epochs: How often all rows come; endlessly by default.
        shuffle: Whether the rows of each epoch come in another order.
        seed: Of that order.
        capacity: Of the queue.
        shared_name: Of the queue.
        summary_name: Of a summary of how full it is.
        name: Of the operations' scope.
        cancel_op: Run when the coordinator stops.

    Raises ValueError when the shape of a row is not known.
    """
    with name_scope(name, "input_producer", [input_tensor]) as scope:
        rows = convert_to_tensor(input_tensor, name="input_tensor")
        shape = rows.shape[1:].merge_with(element_shape)
        if not shape.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or `element_shape` must be "
                "specified"
            )
        if shuffle:
            rows = random_shuffle(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        queue = FIFOQueue(capacity, [rows.dtype], [shape], shared_name=shared_name, name=scope)
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([rows])], cancel_op=cancel_op))
        if summary_name is not None:
            _note_size(summary_name, queue.size(), capacity)
        return queue


def string_input_producer(
    string_tensor: TensorLike,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Operation | None = None,
) -> QueueBase:
    """A queue of the strings of `string_tensor`, such as file names; see input_producer.

    Raises ValueError for an empty list; the queue runner raises InvalidArgumentError for a tensor
    without elements.
    """
    words = "string_input_producer requires a non-null input tensor"
    if not isinstance(string_tensor, Tensor) and not np.size(np.asarray(string_tensor)):
        raise ValueError(words)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        strings = convert_to_tensor(string_tensor, np.dtype(object))
        with control_dependencies([Assert(ops.Greater(ops.Size(strings), np.int32(0)), [words])]):
            strings = identity(strings)
        return input_producer(
            strings, [], num_epochs, shuffle, seed, capacity, shared_name,
            f"fraction_of_{capacity}_full", scope, cancel_op,
        )  # fmt: skip


def range_input_producer(
    limit: TensorLike,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> QueueBase:
    """A queue of the numbers from 0 to `limit` - 1; see input_producer.

    Args:
        limit: A whole number, int32.
        num_epochs: How often all numbers come; without end by default.
        shuffle: Whether they come in random order.
        seed: Of that order, with the graph's.
        capacity: Of the queue.
        shared_name: Of the queue.
        name: Of the operations' scope.
    """
    with name_scope(name, "input_producer", [limit]) as scope:
        numbers = ops.Range(np.int32(0), limit, np.int32(1))
        return input_producer(
            numbers, [], num_epochs, shuffle, seed, capacity, shared_name,
            f"fraction_of_{capacity}_full", scope,
        )  # fmt: skip


def slice_input_producer(
    tensor_list: Sequence[TensorLike],
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """One row of each of `tensor_list` at a time; see input_producer for the other arguments.

    Raises ValueError when there are no tensors.
    """
    with name_scope(name, "input_producer", list(tensor_list)):
        tensors = [convert_to_tensor(tensor) for tensor in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        count = ops.StridedSlice(ops.Shape(tensors[0]), [0], [1], [1], shrink_axis_mask=1)
        queue = range_input_producer(count, num_epochs, shuffle, seed, capacity, shared_name)
        index = cast("Tensor", queue.dequeue())
        return [gather(tensor, index) for tensor in tensors]


def batch(
    tensors: Tensors,
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batched:
    """Batches of what tensors give, one example after the other, by a queue and its runner.

    Args:
        tensors: The parts of an example, a list or a dictionary.
        batch_size: How many examples a batch has.
        num_threads: How many threads fill the queue.
        capacity: Of the queue.
        enqueue_many: Whether each tensor holds several examples, a row each.
        shapes: Those of the parts of an example, where the tensors do not say them.
        dynamic_pad: Whether sizes may be unknown; smaller examples are filled up with zeros.
        allow_smaller_final_batch: Whether a last batch may have fewer examples.
        shared_name: Of the queue.
        name: Of the operations' scope.

    Returns:
        A tensor of the batch for each of `tensors`, in their structure; the only one alone.

    Raises ValueError when a shape is not known, or there are no tensors.
    """
    return maybe_batch(
        tensors, True, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def maybe_batch(
    tensors: Tensors,
    keep_input: TensorLike,
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batched:
    """As batch, of those examples for which `keep_input` holds.

    Args:
        tensors: A list, or a dict, of tensors.
        keep_input: A bool scalar, or one for each row with `enqueue_many`.
        batch_size: How many examples make a batch, an integer scalar.
        num_threads, capacity, enqueue_many, shapes, dynamic_pad: Of batch.
        allow_smaller_final_batch, shared_name, name: Of batch.
    """
    kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    return _batched(
        [tensors] * num_threads, True, keep_input, batch_size, enqueue_many, shapes,
        lambda types, known: kind(capacity, types, known, shared_name=shared_name),
        _fraction(capacity), allow_smaller_final_batch, name, "batch",
    )  # fmt: skip


def batch_join(
    tensors_list: Sequence[Tensors],
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batched:
    """As batch, of what several lists of tensors give, each in a thread of its own.

    Args:
        tensors_list: Lists, or dicts, of tensors: the same types and shapes in each.
        batch_size: How many examples make a batch, an integer scalar.
        capacity: Of the queue.
        enqueue_many: Whether the first dimension of tensors is one of examples.
        shapes, dynamic_pad, allow_smaller_final_batch, shared_name, name: Of batch.
    """
    return maybe_batch_join(
        tensors_list, True, batch_size, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def maybe_batch_join(
    tensors_list: Sequence[Tensors],
    keep_input: TensorLike,
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batched:
    """As batch_join of `tensors_list`, of those examples for which `keep_input` holds.

    `batch_size` and the others are those of batch_join.
    """
    kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    return _batched(
        tensors_list, False, keep_input, batch_size, enqueue_many, shapes,
        lambda types, known: kind(capacity, types, known, shared_name=shared_name),
        _fraction(capacity), allow_smaller_final_batch, name, "batch_join",
    )  # fmt: skip


def shuffle_batch(
    tensors: Tensors,
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batched:
    """As batch, in any order; `min_after_dequeue` examples stay in the queue to choose from.

    Args:
        tensors: The parts of an example, a list or a dictionary.
        batch_size: How many examples a batch has.
        capacity: Of the queue; more than `min_after_dequeue`.
        min_after_dequeue: How many examples stay in the queue: more mix better.
        num_threads: How many threads fill the queue.
        seed: Of the order, with the graph's.
        enqueue_many: Whether each tensor holds several examples, a row each.
        shapes: Those of the parts of an example, where the tensors do not say them.
        allow_smaller_final_batch: Whether a last batch may have fewer examples.
        shared_name: Of the queue.
        name: Of the operations' scope.

    Returns and raises as `batch` does.
    """
    return maybe_shuffle_batch(
        tensors, batch_size, capacity, min_after_dequeue, True, num_threads, seed, enqueue_many,
        shapes, allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def maybe_shuffle_batch(
    tensors: Tensors,
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: TensorLike,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batched:
    """As shuffle_batch of `tensors`, of those examples for which `keep_input` holds.

    `batch_size` and the others are those of shuffle_batch.
    """
    return _batched(
        [tensors] * num_threads, True, keep_input, batch_size, enqueue_many, shapes,
        _shuffling(capacity, min_after_dequeue, seed, shared_name),
        _fraction(capacity, min_after_dequeue), allow_smaller_final_batch, name, "shuffle_batch",
    )  # fmt: skip


def shuffle_batch_join(
    tensors_list: Sequence[Tensors],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batched:
    """As shuffle_batch, of what several lists of tensors give, each in a thread of its own.

    Args:
        tensors_list: Lists, or dicts, of tensors: the same types and shapes in each.
        batch_size: How many examples make a batch, an integer scalar.
        capacity, min_after_dequeue, seed, enqueue_many, shapes: Of shuffle_batch.
        allow_smaller_final_batch, shared_name, name: Of shuffle_batch.
    """
    return maybe_shuffle_batch_join(
        tensors_list, batch_size, capacity, min_after_dequeue, True, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def maybe_shuffle_batch_join(
    tensors_list: Sequence[Tensors],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: TensorLike,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Batched:
    """As shuffle_batch_join of `tensors_list`, of examples for which `keep_input` holds.

    `batch_size` and the others are those of shuffle_batch_join.
    """
    return _batched(
        tensors_list, False, keep_input, batch_size, enqueue_many, shapes,
        _shuffling(capacity, min_after_dequeue, seed, shared_name),
        _fraction(capacity, min_after_dequeue), allow_smaller_final_batch, name,
        "shuffle_batch_join",
    )  # fmt: skip


MakeQueue = Callable[[list, list], QueueBase]


def _shuffling(capacity: int, least: int, seed: int | None, shared_name: str | None) -> MakeQueue:
    if capacity <= least:
        raise ValueError(f"capacity {capacity} must be bigger than min_after_dequeue {least}.")

    def make(types: list, shapes: list) -> QueueBase:
        return RandomShuffleQueue(
            capacity, least, types, shapes, seed=seed, shared_name=shared_name
        )

    return make


def _fraction(capacity: int, least: int | None = None) -> Callable[[Tensor], None]:
    """A function that summarizes how full a queue of some size is."""

    def note(size: Tensor) -> None:
        if least is None:
            _note_size(f"fraction_of_{capacity}_full", size, capacity)
            return
        over = ops.Maximum(np.int32(0), ops.Sub(size, np.int32(least)))
        room = capacity - least
        _note_size(f"fraction_over_{least}_of_{room}_full", over, room)

    return note


def _note_size(name: str, size: Tensor, capacity: int) -> None:
    as_float = ops.Cast(size, DstT=np.dtype(np.float32))
    summaries.scalar(name, ops.Mul(as_float, np.float32(1.0 / capacity)))


def _batched(
    tensors_list: Sequence[Tensors],
    is_same: bool,
    keep_input: TensorLike,
    batch_size: TensorLike,
    enqueue_many: bool,
    shapes: Sequence[ShapeLike] | None,
    make_queue: MakeQueue,
    note_size: Callable[[Tensor], None],
    may_be_smaller: bool,
    name: str | None,
    default_name: str,
) -> Batched:
    """A queue that a runner fills, each list of tensors in a thread, and a batch of it."""
    lists = [_listed(tensors) for tensors in tensors_list]
    keys = [sorted(tensors) for tensors in tensors_list if isinstance(tensors, Mapping)]
    if any(other != keys[0] for other in keys):
        raise ValueError(f"all dictionaries of tensors must have the same keys, got {keys}")
    if not lists:
        raise ValueError("Expected at least one set of tensors")
    with name_scope(name, default_name, [part for parts in lists for part in parts]) as scope:
        examples = [lists[0]] * len(lists) if is_same else lists
        converted = _converted(examples[:1] if is_same else examples)
        keep = _condition(keep_input, enqueue_many)
        plain = [[serialized(part, enqueue_many) for part in parts] for parts in converted]
        queue = make_queue(_types(plain), _shapes(plain, shapes, enqueue_many))
        add = queue.enqueue_many if enqueue_many else queue.enqueue
        operations = [_adding(add, parts, keep) for parts in plain]
        if is_same:
            operations *= len(lists)
        add_queue_runner(QueueRunner(queue, operations))
        note_size(queue.size())
        take = queue.dequeue_up_to if may_be_smaller else queue.dequeue_many
        taken = take(batch_size, name=scope)
        tensors = [taken] if isinstance(taken, Tensor) else cast("list[Tensor]", list(taken))
        pairs = zip(converted[0], tensors, strict=True)
        results = [restored(part, tensor, enqueue_many) for part, tensor in pairs]
    first = tensors_list[0]
    if isinstance(first, Mapping):
        return dict(zip(sorted(first), results, strict=True))
    return results[0] if len(results) == 1 else results


def _listed(tensors: Tensors) -> list[Part]:
    if isinstance(tensors, Mapping):
        return [tensors[key] for key in sorted(tensors)]
    return list(tensors)


def _converted(lists: Sequence[Sequence[Part]]) -> list[list[Tensor | SparseTensor]]:
    """Tensors; raises ValueError for none, or unequal numbers of them."""
    if not lists[0]:
        raise ValueError("Expected at least one tensor in batch().")
    if any(len(parts) != len(lists[0]) for parts in lists):
        raise ValueError("all lists of tensors must have the same length")
    return [
        [x if isinstance(x, SparseTensor) else convert_to_tensor(x) for x in parts]
        for parts in lists
    ]


def _condition(keep_input: TensorLike, enqueue_many: bool) -> Tensor:
    """What says whether an example counts; ValueError where its rank does not fit."""
    keep = convert_to_tensor(keep_input)
    rank = keep.shape.ndims
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and rank == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep


def _types(lists: Sequence[Sequence[Tensor]]) -> list:
    """The dtypes of the parts; TypeError where lists differ."""
    types = [part.dtype for part in lists[0]]
    for parts in lists:
        other = [part.dtype for part in parts]
        if other != types:
            raise TypeError(
                f"Expected types to be consistent: {', '.join(x.name for x in types)} vs. "
                f"{', '.join(x.name for x in other)}."
            )
    return types


def _shapes(
    lists: Sequence[Sequence[Tensor]],
    shapes: Sequence[ShapeLike] | None,
    enqueue_many: bool,
) -> list[TensorShape]:
    """The shapes of the parts of an example: the requested ones, or what all lists say."""
    if shapes is not None:
        return [TensorShape(shape) for shape in shapes]
    unknown = [part for parts in lists for part in parts if part.shape.ndims is None]
    if unknown:
        raise ValueError(f"Cannot infer Tensor's rank: {unknown[0]}")
    common = [part.shape for part in lists[0]]
    for parts in lists[1:]:
        pairs = zip(common, parts, strict=True)
        common = [shape.most_specific_compatible_shape(part.shape) for shape, part in pairs]
    return [shape.with_rank_at_least(1)[1:] for shape in common] if enqueue_many else common


def _adding(
    add: Callable[[list[Tensor]], Operation], parts: list[Tensor], keep: Tensor
) -> Operation | Tensor:
    """What adds an example, or those rows of several, for which `keep` holds."""
    if keep.shape.ndims == 1:
        return add([boolean_mask(part, keep) for part in parts])
    if keep.value is not None:
        return add(parts) if keep.value.item() else no_op()
    return cast("Operation", cond(keep, lambda: add(parts), no_op))
