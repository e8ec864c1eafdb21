"""Losses and decoders of sequences without alignment: `tf.nn.ctc_loss` and its relatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.composite.sparse_tensor import SparseTensor
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ..arguments import one_of
from ..array import array, casting
from ..flow.functional import map_fn, scan
from ..math.reductions import reduce_logsumexp, reduce_max, reduce_sum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...core.typing import TensorLike

_NEVER = float(np.log(1e-307))
"""The logarithm of a probability that counts as 0, and has a derivative."""


def ctc_loss(
    labels: SparseTensor,
    inputs: TensorLike | None = None,
    sequence_length: TensorLike | None = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: TensorLike | None = None,
) -> Tensor:
    """[batch]: -log of the probability of labels whose places in time are not known.

    Args:
        labels: int32 [batch, labels]; none is the last class, which is the blank.
        inputs: Logits [time, batch, classes], by the name `logits` too.
        sequence_length: int32 [batch]: how many steps count.
        preprocess_collapse_repeated: Whether equal neighbours among the labels become one before.
        ctc_merge_repeated: Whether equal neighbours among the classes of steps become one.
        ignore_longer_outputs_than_inputs: Whether sequences with more labels than steps have the
            loss 0; they fail else.
        time_major: Whether the batch comes second, and not first.
        logits: See `inputs`.

    Raises TypeError when `labels` is no SparseTensor.
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError(
            "Expected argument `labels` to be a SparseTensor. "
            f"Received labels={labels} of type: {type(labels).__name__}"
        )
    activations = cast("TensorLike", one_of("logits", logits, "inputs", inputs))
    x = convert_to_tensor(activations, name="logits")
    x = x if time_major else array.transpose(x, [1, 0, 2])
    dtype = x.dtype
    x = ops.Cast(x, DstT=np.dtype(np.float32)) if dtype.itemsize == 2 else x
    loss, _ = ops.CTCLoss(
        x,
        labels.indices,
        labels.values,
        cast("TensorLike", sequence_length),
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )
    return loss if loss.dtype == dtype else ops.Cast(loss, DstT=dtype)


def ctc_loss_v2(
    labels: SparseTensor | TensorLike,
    logits: TensorLike,
    label_length: TensorLike | None,
    logit_length: TensorLike,
    logits_time_major: bool = True,
    unique: tuple[TensorLike, TensorLike] | None = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """[batch]: the loss of `ctc_loss`, for any blank and labels that are dense, too.

    Args:
        labels: A SparseTensor, or [batch, labels] padded to one length.
        logits: [time, batch, classes].
        label_length: [batch], how many of dense labels count.
        logit_length: [batch], how many steps count.
        logits_time_major: Whether the batch comes second in `logits`, and not first.
        unique: What `ctc_unique_labels` gives; the result is the same without.
        blank_index: The class that is the blank, from the end where it is negative; 0 for dense
            labels by default.
        name: Of the operations.

    Raises ValueError for sparse labels without a blank.
    """
    x = convert_to_tensor(logits, name="logits")
    if isinstance(labels, SparseTensor):
        if blank_index is None:
            raise ValueError(
                "Argument `blank_index` must be provided when labels is a SparseTensor."
            )
        blank = _class(blank_index, x)
        moved = _without(x, blank)
        values = labels.values
        shifted = ops.SelectV2(ops.Less(values, np.int32(blank)), values, values - 1)
        ordered = SparseTensor(labels.indices, shifted, labels.dense_shape)
        last = array.concat([moved, x[:, :, blank : blank + 1]], 2)
        return ctc_loss(ordered, last, logit_length, time_major=logits_time_major)
    with name_scope(name, "ctc_loss_dense", [x, labels, logit_length]):
        x = x if logits_time_major else array.transpose(x, [1, 0, 2])
        dtype = x.dtype
        x = ops.Cast(x, DstT=np.dtype(np.float32)) if dtype.itemsize == 2 else x
        blank = _class(blank_index or 0, x)
        lengths = [casting.cast(n, np.int32) for n in (label_length, logit_length) if n is not None]
        if len(lengths) < 2:
            raise ValueError("label_length must be given when labels is dense, got None")
        loss = _dense_loss(x, casting.cast(labels, np.int32), lengths[0], lengths[1], blank)
        return loss if loss.dtype == dtype else ops.Cast(loss, DstT=dtype)


def _class(index: int, logits: Tensor) -> int:
    """A class counted from 0."""
    if index >= 0:
        return index
    n = logits.get_shape()[2].value
    if n is None:
        raise ValueError(f"blank_index must be >= 0 where classes are not known, got {index}")
    return index + n


def _without(logits: Tensor, blank: int) -> Tensor:
    return array.concat([logits[:, :, :blank], logits[:, :, blank + 1 :]], 2)


def _numbers(rows: Tensor) -> Tensor:
    """0, 1, ... for each column."""
    return ops.Range(np.int32(0), ops.Shape(rows)[1], np.int32(1))


def _dense_loss(
    logits: Tensor, labels: Tensor, n_labels: Tensor, n_steps: Tensor, blank: int
) -> Tensor:
    """The forward algorithm over the labels with blanks between them."""
    dtype = logits.dtype
    never = np.asarray(_NEVER, dtype)
    blanks = ops.Fill(ops.Shape(labels), np.int32(blank))
    pairs = ops.Reshape(ops.Pack([blanks, labels], axis=2), ops.Pack([ops.Shape(labels)[0], -1]))
    path = array.concat([pairs, ops.Fill(ops.Pack([ops.Shape(labels)[0], 1]), np.int32(blank))], 1)
    scores = ops.LogSoftmax(logits)
    per_step = ops.BroadcastTo(path, array.concat([ops.Shape(scores)[:1], ops.Shape(path)], 0))
    emitted = array.gather(scores, per_step, axis=2, batch_dims=2)
    # Labels stand at odd places, and are reached from the label before unless they repeat it.
    is_label = ops.Equal(_numbers(path) % np.int32(2), np.int32(1))[2:]
    differs = ops.NotEqual(path[:, 2:], path[:, :-2])
    allowed = ops.LogicalAnd(is_label, differs)
    skips = ops.Pad(allowed, np.array([[0, 0], [2, 0]], np.int32))

    def moved(x: Tensor, by: int) -> Tensor:
        padded = ops.PadV2(x, np.array([[0, 0], [by, 0]], np.int32), never)
        return padded[:, : ops.Shape(x)[1]]

    def step(before: Tensor, element: tuple[Tensor, Tensor]) -> Tensor:
        score, t = element
        leap = ops.SelectV2(skips, moved(before, 2), never)
        ways = ops.Pack([before, moved(before, 1), leap], axis=2)
        after = reduce_logsumexp(ways, 2) + score
        goes_on = ops.ExpandDims(ops.Less(t, n_steps), np.int32(1))
        return ops.SelectV2(goes_on, after, before)

    # Before the first step the path stands on a blank in front of it.
    start = ops.OneHot(ops.ZerosLike(n_steps), ops.Shape(path)[1], np.zeros((), dtype), never)
    first = ops.SelectV2(ops.Less(_numbers(path), np.int32(2)), emitted[0], never)
    times = ops.Range(np.int32(1), ops.Shape(scores)[0], np.int32(1))
    rows = cast("Tensor", scan(step, (emitted[1:], times), initializer=first))
    whole = array.concat([ops.ExpandDims(first, np.int32(0)), rows], 0)[-1]
    last = ops.SelectV2(
        ops.ExpandDims(ops.Greater(n_steps, np.int32(0)), np.int32(1)), whole, start
    )
    ends = ops.Pack([2 * n_labels, ops.Maximum(2 * n_labels - 1, np.int32(0))], axis=1)
    likelihood = array.gather(last, ends, axis=1, batch_dims=1)
    has_labels = ops.Greater(n_labels, np.int32(0))
    both = reduce_logsumexp(likelihood, 1)
    return ops.Neg(ops.SelectV2(has_labels, both, likelihood[:, 0]))


def ctc_greedy_decoder(
    inputs: TensorLike,
    sequence_length: TensorLike,
    merge_repeated: bool = True,
    blank_index: int | None = None,
) -> tuple[list[SparseTensor], Tensor]:
    """The labels of the likeliest class of each step, and [batch, 1] the negated sums of logits.

    Args:
        inputs: Logits [time, batch, classes].
        sequence_length: [batch], how many steps count.
        merge_repeated: Whether equal neighbours count as one.
        blank_index: The class that is no label, the last by default.
    """
    *parts, scores = ops.CTCGreedyDecoder(
        inputs,
        sequence_length,
        merge_repeated=merge_repeated,
        blank_index=-1 if blank_index is None else blank_index,
    )
    return [SparseTensor(*parts)], scores


def ctc_beam_search_decoder(
    inputs: TensorLike,
    sequence_length: TensorLike,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
) -> tuple[list[SparseTensor], Tensor]:
    """The likeliest sequences of labels, and [batch, top_paths] the logarithms of probabilities.

    Args:
        inputs: Logits [time, batch, classes], the last class the blank.
        sequence_length: [batch], how many steps count.
        beam_width: How many sequences are kept after each step.
        top_paths: How many are given.
        merge_repeated: Whether equal neighbours among their labels become one.
    """
    decoded = ops.CTCBeamSearchDecoder(
        inputs,
        sequence_length,
        beam_width=beam_width,
        top_paths=top_paths,
        merge_repeated=merge_repeated,
    )
    n = top_paths
    rows = zip(decoded[:n], decoded[n : 2 * n], decoded[2 * n : 3 * n], strict=True)
    return [SparseTensor(*row) for row in rows], decoded[-1]


def ctc_beam_search_decoder_v2(
    inputs: TensorLike, sequence_length: TensorLike, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """`ctc_beam_search_decoder` that never makes one of equal neighbours among the labels.

    Args:
        inputs: float32 or float64, logits [time, batch, classes], the last class the blank.
        sequence_length: [batch], int32: how many steps count, at most `time`.
        beam_width: How many sequences are kept after each step.
        top_paths: How many are given, at most `beam_width`.

    Returns `top_paths` SparseTensors of int64 [batch, labels], the likeliest first, and [batch,
    top_paths] logarithms of their probabilities.

    Raises InvalidArgumentError when it runs, for numbers out of range.
    """
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, False)


def ctc_unique_labels(labels: TensorLike, name: str | None = None) -> Sequence[Tensor]:
    """The different labels of each row, padded by zeros, and which of them each label is.

    Args:
        labels: [batch, time], integers.
        name: Of the operations.

    Returns int64 [batch, time] and int32 [batch, time].
    """
    with name_scope(name, "ctc_unique_labels", [labels]):

        def unique(row: Tensor) -> list[Tensor]:
            values, positions = ops.Unique(row)
            missing = ops.Size(positions) - ops.Size(values)
            padded = ops.Pad(values, ops.Reshape(ops.Pack([np.int32(0), missing]), [1, 2]))
            return [ops.Cast(padded, DstT=np.dtype(np.int64)), positions]

        rows = convert_to_tensor(labels, name="labels")
        unique_rows = map_fn(unique, rows, dtype=[np.dtype(np.int64), np.dtype(np.int32)])
        return cast("Sequence[Tensor]", unique_rows)


def collapse_repeated(
    labels: TensorLike, seq_length: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Each row with equal neighbours as one, padded by zeros, and the rows' lengths.

    Args:
        labels: [batch, time], integers.
        seq_length: [batch], int32 or int64: how many labels of each row count.
        name: Of the operations.

    Returns [batch, longest] of the type of `labels`, and [batch] of that of `seq_length`.

    >>> import flatlite.compat.v1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     rows, lengths = session.run(tf.nn.collapse_repeated([[1, 1, 2, 2, 1]], [5]))
    >>> rows.tolist(), lengths.tolist()
    ([[1, 2, 1]], [3])
    """
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        rows = convert_to_tensor(labels, name="labels")
        lengths = convert_to_tensor(seq_length, name="seq_length")
        first = ops.OnesLike(ops.Equal(rows[:, :1], rows[:, :1]))
        starts = array.concat([first, ops.NotEqual(rows[:, 1:], rows[:, :-1])], 1)
        mask = ops.LogicalAnd(starts, array.sequence_mask(lengths, ops.Shape(rows)[1]))
        counts = reduce_sum(ops.Cast(mask, DstT=np.dtype(np.int32)), 1)
        longest = reduce_max(counts)
        positions = ops.Where(array.sequence_mask(counts, longest))
        collapsed = array.boolean_mask(rows, mask)
        sizes = ops.Cast(ops.Pack([ops.Shape(rows)[0], longest]), DstT=np.dtype(np.int64))
        return ops.ScatterNd(positions, collapsed, sizes), ops.Cast(counts, DstT=lengths.dtype)
