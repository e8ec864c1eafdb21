"""Connectionist temporal classification (Graves, Supervised sequence labelling, 2012, ch. 7)."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.registry import op
from ..core.shapes import Shape, known, merged_shapes, require

if TYPE_CHECKING:
    from ..core.protocols import OperationView

_NEVER = -np.inf
"""The logarithm of 0."""


def _loss_shape(op: OperationView) -> list[Shape]:
    inputs, lengths = known(op, 0, 3), known(op, 3, 1)
    for index, rank in ((1, 2), (2, 1)):
        known(op, index, rank)
    merged_shapes(op, inputs[1:2], lengths)
    return [inputs[1:2] if lengths == (None,) else lengths, inputs]


def _check_lengths(lengths: np.ndarray, n_steps: int, n_batch: int) -> None:
    if len(lengths) != n_batch:
        raise ValueError(
            f"len(sequence_length) != batch_size.  len(sequence_length):  {len(lengths)} "
            f"batch_size: {n_batch}"
        )
    for b, length in enumerate(lengths.tolist()):
        if length < 0:
            raise ValueError(f"seq_len({b}) < 0")
        if length > n_steps:
            raise ValueError(f"sequence_length({b}) <= {n_steps}")


@op("CTCLoss", shape=_loss_shape)
def ctc_loss(
    inputs: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    lengths: np.ndarray,
    *,
    preprocess_collapse_repeated: bool,
    ctc_merge_repeated: bool,
    ignore_longer_outputs_than_inputs: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """-log p(labels | inputs) of each sequence, and its derivative by the inputs.

    `inputs` are logits [time, batch, classes], the last class the blank.
    """
    n_steps, n_batch, n_classes = inputs.shape
    _check_lengths(lengths, n_steps, n_batch)
    losses, gradient = np.zeros(n_batch), np.zeros(inputs.shape)
    for b, n in enumerate(lengths.tolist()):
        raw = values[indices[:, 0] == b].tolist()
        labels = _labels(raw, b, n_classes, preprocess_collapse_repeated)
        if len(raw) > n and not ignore_longer_outputs_than_inputs:
            raise ValueError(
                f"Not enough time for target transition sequence (required: {len(raw)}, "
                f"available: {n}){b}You can turn this error into a warning by using the flag "
                "ignore_longer_outputs_than_inputs"
            )
        if n == 0 or len(raw) > n:
            continue
        logits = inputs[:n, b].astype(np.float64)
        shifted = logits - logits.max(-1, keepdims=True)
        log_y = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
        losses[b], gradient[:n, b] = _of_sequence(log_y, labels, ctc_merge_repeated)
    return losses, gradient


def _labels(raw: Sequence[int], b: int, n_classes: int, collapse: bool) -> list[int]:
    """The labels of a sequence up to its end; ValueError when they are none."""
    if not raw:
        raise ValueError(f"Labels length is zero in batch {b}")
    labels: list[int] = []
    ended = False
    for i, label in enumerate(raw):
        if i and collapse and label == raw[i - 1]:
            continue
        if label >= n_classes - 1:
            ended = True
            continue
        if ended:
            raise ValueError(
                "Saw a non-null label (index >= num_classes - 1) following a null label, batch: "
                f"{b} num_classes: {n_classes} labels: {','.join(map(str, raw))} labels seen so "
                f"far: {','.join(map(str, labels))}"
            )
        labels.append(label)
    if min(labels, default=0) < 0:
        raise ValueError(
            f"All labels must be nonnegative integers, batch: {b} labels: "
            f"{','.join(map(str, labels))}"
        )
    return labels


def _of_sequence(
    log_y: np.ndarray, labels: list[int], merge_repeated: bool
) -> tuple[float, np.ndarray]:
    """The loss of one sequence and its derivative, by the forward-backward algorithm."""
    n_steps, n_classes = log_y.shape
    blank = n_classes - 1
    path = np.full(2 * len(labels) + 1, blank)
    path[1::2] = labels
    is_blank = path == blank
    # Whether a state can be kept, and left out by the step before.
    stays = np.ones(len(path), bool) if merge_repeated else is_blank
    skips = ~is_blank
    skips[:2] = False
    if merge_repeated:
        skips[2:] &= path[2:] != path[:-2]
    emitted = log_y[:, path]
    forward = np.full(emitted.shape, _NEVER)
    forward[0, :2] = emitted[0, :2]
    for t in range(1, n_steps):
        before = forward[t - 1]
        ways = np.stack([np.where(stays, before, _NEVER), _shifted(before, 1),
                         np.where(skips, _shifted(before, 2), _NEVER)])  # fmt: skip
        forward[t] = np.logaddexp.reduce(ways) + emitted[t]
    backward = np.full(emitted.shape, _NEVER)
    backward[-1, -2:] = 0
    for t in range(n_steps - 2, -1, -1):
        after = backward[t + 1] + emitted[t + 1]
        ways = np.stack([np.where(stays, after, _NEVER), _shifted(after, -1),
                         _shifted(np.where(skips, after, _NEVER), -2)])  # fmt: skip
        backward[t] = np.logaddexp.reduce(ways)
    both = forward + backward
    total = np.logaddexp.reduce(both[0])
    if total == _NEVER:
        return np.inf, np.exp(log_y)
    posterior = np.zeros(log_y.shape)
    np.add.at(posterior.T, path, np.exp(both - total).T)
    return -total, np.exp(log_y) - posterior


def _shifted(x: np.ndarray, by: int) -> np.ndarray:
    """The elements moved, and no way where none come from."""
    result = np.full_like(x, _NEVER)
    if by > 0:
        result[by:] = x[:-by]
    else:
        result[:by] = x[-by:]
    return result


def _sparse(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices, values and shape of rows of unequal lengths."""
    positions = [(b, i) for b, row in enumerate(rows) for i in range(len(row))]
    values = [label for row in rows for label in row]
    shape = len(rows), max(map(len, rows), default=0)
    return (
        np.array(positions, np.int64).reshape(-1, 2),
        np.array(values, np.int64),
        np.array(shape, np.int64),
    )


def _greedy_shape(op: OperationView) -> list[Shape]:
    inputs, lengths = known(op, 0, 3), known(op, 1, 1)
    batch = merged_shapes(op, inputs[1:2], lengths)
    size = None if batch is None else batch[0]
    return [(None, 2), (None,), (2,), (size, 1)]


@op("CTCGreedyDecoder", shape=_greedy_shape)
def ctc_greedy_decoder(
    inputs: np.ndarray, lengths: np.ndarray, *, merge_repeated: bool, blank_index: int
) -> tuple[np.ndarray, ...]:
    """The likeliest class of each step, without blanks; and the sum of the negated logits."""
    n_steps, n_batch, n_classes = inputs.shape
    if inputs.size == 0:
        raise ValueError("inputs must not be empty")
    _check_lengths(lengths, n_steps, n_batch)
    blank = blank_index + n_classes if blank_index < 0 else blank_index
    if not 0 <= blank < n_classes:
        raise ValueError(
            f"blank_index expected to be between {-n_classes} and {n_classes - 1} but was "
            f"{blank_index}"
        )
    rows: list[list[int]] = []
    scores = np.zeros((n_batch, 1))
    for b, n in enumerate(lengths.tolist()):
        best = inputs[:n, b].argmax(-1).tolist()
        scores[b] = -inputs[:n, b].max(-1, initial=-np.inf).sum() if n else 0
        repeats = [
            merge_repeated and i > 0 and best[i - 1] == label for i, label in enumerate(best)
        ]
        rows.append([c for c, again in zip(best, repeats, strict=True) if c != blank and not again])
    return *_sparse(rows), scores


@dataclass(eq=False)
class _Beam:
    """A sequence of labels: a node of the tree of all, with its probabilities' logarithms."""

    parent: _Beam | None
    label: int
    children: dict[int, _Beam] = field(default_factory=dict)
    new: list[float] = field(default_factory=lambda: [_NEVER] * 3)
    old: list[float] = field(default_factory=lambda: [_NEVER] * 3)

    def child(self, label: int) -> _Beam:
        """The sequence with one more label."""
        if label not in self.children:
            self.children[label] = _Beam(self, label)
        return self.children[label]

    def labels(self, merge_repeated: bool) -> list[int]:
        """The sequence, with equal neighbours as one where they are to be merged."""
        decoded: list[int] = []
        before, node = -1, self
        while node.parent is not None:
            if not merge_repeated or node.label != before:
                decoded.append(node.label)
            before, node = node.label, node.parent
        return decoded[::-1]


_TOTAL, _BLANK, _LABEL = range(3)


class _Leaves:
    """The best beams, from the best down."""

    def __init__(self, width: int):
        self.width = width
        self.beams: list[_Beam] = []
        self._keys: list[float] = []

    def push(self, beam: _Beam) -> None:
        """Adds a beam; where there are too many, the worst loses its probability."""
        if len(self.beams) == self.width:
            self.beams.pop().new[:] = [_NEVER] * 3
            self._keys.pop()
        place = bisect.bisect_right(self._keys, -beam.new[_TOTAL])
        self.beams.insert(place, beam)
        self._keys.insert(place, -beam.new[_TOTAL])

    def has_room_for(self, total: float) -> bool:
        """Whether a beam of this probability is among the best."""
        return total > _NEVER and (len(self.beams) < self.width or -total < self._keys[-1])


def _step(leaves: _Leaves, scores: np.ndarray) -> _Leaves:
    """The best beams after one step more, of the classes' log probabilities."""
    blank, labels = float(scores[-1]), scores[:-1].tolist()
    grown = _Leaves(leaves.width)
    for beam in leaves.beams:
        beam.old = list(beam.new)
    for beam in leaves.beams:
        parent = beam.parent
        if parent is not None:
            if parent.new[_TOTAL] > _NEVER:
                before = parent.old[_BLANK if beam.label == parent.label else _TOTAL]
                beam.new[_LABEL] = float(np.logaddexp(beam.new[_LABEL], before))
            beam.new[_LABEL] += labels[beam.label]
        beam.new[_BLANK] = beam.old[_TOTAL] + blank
        beam.new[_TOTAL] = float(np.logaddexp(beam.new[_BLANK], beam.new[_LABEL]))
        grown.push(beam)
    for beam in leaves.beams:
        if not grown.has_room_for(beam.old[_TOTAL]):
            continue
        for label, score in enumerate(labels):
            child = beam.child(label)
            if child.new[_TOTAL] > _NEVER:
                continue
            total = score + beam.old[_BLANK if label == beam.label else _TOTAL]
            child.old = [_NEVER] * 3
            if grown.has_room_for(total):
                child.new = [total, _NEVER, total]
                grown.push(child)
            else:
                child.new = [_NEVER] * 3
    return grown


def _beam_shape(op: OperationView) -> list[Shape]:
    inputs, lengths = known(op, 0, 3), known(op, 1, 1)
    batch = merged_shapes(op, inputs[1:2], lengths)
    n = cast("int", op.get_attr("top_paths"))
    require(op, n > 0, f"top_paths must be > 0, got {n}")
    size = None if batch is None else batch[0]
    shapes: list[Shape] = [shape for shape in ((None, 2), (None,), (2,)) for _ in range(n)]
    return [*shapes, (size, n)]


@op("CTCBeamSearchDecoder", shape=_beam_shape)
def ctc_beam_search_decoder(
    inputs: np.ndarray,
    lengths: np.ndarray,
    *,
    beam_width: int,
    top_paths: int,
    merge_repeated: bool,
) -> list[np.ndarray]:
    """The likeliest sequences of labels, and the logarithms of their probabilities."""
    n_steps, n_batch, _ = inputs.shape
    if inputs.size == 0:
        raise ValueError("inputs must not be empty")
    _check_lengths(lengths, n_steps, n_batch)
    if top_paths > beam_width:
        raise ValueError("requested more paths than the beam width.")
    paths: list[list[list[int]]] = []
    scores = np.zeros((n_batch, top_paths))
    for b, n in enumerate(lengths.tolist()):
        leaves = _Leaves(beam_width)
        root = _Beam(None, -1)
        root.new = [0.0, 0.0, _NEVER]
        leaves.push(root)
        for logits in inputs[:n, b].astype(np.float64):
            leaves = _step(leaves, logits - np.logaddexp.reduce(logits))
        if len(leaves.beams) < top_paths:
            raise ValueError("Less leaves in the beam search than requested.")
        best = leaves.beams[:top_paths]
        paths.append([beam.labels(merge_repeated) for beam in best])
        scores[b] = [beam.new[_TOTAL] for beam in best]
    parts = [_sparse([rows[i] for rows in paths]) for i in range(top_paths)]
    return [part[i] for i in range(3) for part in parts] + [scores]
