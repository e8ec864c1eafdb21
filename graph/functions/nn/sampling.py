"""Losses over many classes that look at some of them, and the samplers of those."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.named_results import with_names
from ...core.scopes import name_scope
from ..array import array, casting
from ..linalg.linear_algebra import matmul
from ..math.reductions import reduce_sum
from ..random import op_seeds
from .embedding import embedding_lookup
from .losses import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits_v2

if TYPE_CHECKING:
    from ...core.protocols import MaybeDType
    from ...core.typing import TensorLike

    Sampled = Sequence[TensorLike]


@with_names("UniformCandidateSampler")
def uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """Classes of which all are as likely.

    Args:
        true_classes: int64 [batch, num_true]: the classes that are the right ones.
        num_true: How many right ones there are for each.
        num_sampled: How many classes are drawn.
        unique: Whether each is drawn but once.
        range_max: The number of classes.
        seed: Of the draws.
        name: Of the operation.

    Returns:
        [num_sampled] classes; how often the right ones and these are expected among them.
    """
    options = _options(num_true, num_sampled, unique, seed)
    return ops.UniformCandidateSampler(true_classes, range_max=range_max, name=name, **options)


@with_names("LogUniformCandidateSampler")
def log_uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """Classes, k with probability log((k + 2) / (k + 1)) / log(range_max + 1).

    Args:
        true_classes: int64 [batch, num_true]: the classes that are the right ones.
        num_true: How many right ones there are for each.
        num_sampled: How many classes are drawn.
        unique: Whether each is drawn but once.
        range_max: The number of classes.
        seed, name: Of the draws, and of the operation.

    Returns [num_sampled] classes; how often the right ones and these are expected among them.

    Raises InvalidArgumentError, when it runs, for more unique classes than there are.
    """
    options = _options(num_true, num_sampled, unique, seed)
    return ops.LogUniformCandidateSampler(true_classes, range_max=range_max, name=name, **options)


@with_names("LearnedUnigramCandidateSampler")
def learned_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """Classes by how often they were right in batches before, each at least once.

    Args:
        true_classes: int64 [batch, num_true]: the classes that are the right ones.
        num_true: How many right ones there are for each.
        num_sampled: How many classes are drawn.
        unique: Whether each is drawn but once.
        range_max: The number of classes.
        seed, name: Of the draws, and of the operation.

    Returns [num_sampled] classes; how often the right ones and these are expected among them.

    Raises ValueError for a `range_max` above 2**31 - 1; when it runs, InvalidArgumentError for more
    unique classes than there are.
    """
    if range_max > 2147483647:
        raise ValueError(f"Value of range_max:{range_max} is too large to handle")
    options = _options(num_true, num_sampled, unique, seed)
    return ops.LearnedUnigramCandidateSampler(
        true_classes, range_max=range_max, name=name, **options
    )


@with_names("FixedUnigramCandidateSampler")
def fixed_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """Classes by weights that are given; see `uniform_candidate_sampler`.

    Args:
        true_classes, num_true, num_sampled, unique, range_max, seed, name: As there.
        vocab_file: A file whose lines end in a weight behind the last comma.
        distortion: The power the weights are taken to.
        num_reserved_ids: So many classes come before, and are never drawn.
        num_shards, shard: Only each `num_shards`-th class from `shard` on counts.
        unigrams: The weights, in the place of a file.
    """
    options = _options(num_true, num_sampled, unique, seed)
    return ops.FixedUnigramCandidateSampler(
        true_classes,
        range_max=range_max,
        vocab_file=vocab_file,
        distortion=distortion,
        num_reserved_ids=num_reserved_ids,
        num_shards=num_shards,
        shard=shard,
        unigrams=unigrams,
        name=name,
        **options,
    )


@with_names("AllCandidateSampler")
def all_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """All `num_sampled` classes, which a test draws in place of some.

    Args:
        true_classes: int64 [batch, num_true]: the classes that are the right ones.
        num_true: How many right ones there are for each.
        num_sampled: How many classes there are.
        unique: Whether each is drawn but once.
        seed, name: Of the draws, and of the operation.

    Returns [num_sampled] classes; how often the right ones and these are expected among them.

    Raises InvalidArgumentError, when it runs, for another number of right ones.
    """
    options = _options(num_true, num_sampled, unique, seed)
    return ops.AllCandidateSampler(true_classes, name=name, **options)


def _options(
    num_true: int, num_sampled: int, unique: bool, seed: int | None
) -> dict[str, int | bool]:
    drawn = {"num_true": num_true, "num_sampled": num_sampled, "unique": unique}
    return drawn | op_seeds(seed)


@with_names("ComputeAccidentalHits")
def compute_accidental_hits(
    true_classes: TensorLike,
    sampled_candidates: TensorLike,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """Which candidates are right ones: rows, places among the candidates, and -FLT_MAX for each.

    Args:
        true_classes: [batch, num_true].
        sampled_candidates: What a sampler has drawn.
        num_true: How many right classes there are for each.
        seed: Taken for TensorFlow's sake.
        name: Of the operation.
    """
    return ops.ComputeAccidentalHits(
        true_classes, sampled_candidates, num_true=num_true, name=name, **op_seeds(seed)
    )


def _logits(
    weights: TensorLike | Sequence[TensorLike],
    biases: TensorLike | Sequence[TensorLike],
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Sampled | None,
    remove_accidental_hits: bool,
    partition_strategy: str,
    name: str | None,
    seed: int | None,
) -> tuple[Tensor, Tensor]:
    """[batch, num_true + num_sampled]: logits of the right classes and the drawn ones, and labels.

    From each goes the logarithm of how often the sampler gives it.
    """
    with name_scope(name, "compute_sampled_logits", [inputs, labels]):
        x = convert_to_tensor(inputs, name="inputs")
        right = casting.cast(labels, np.int64)
        drawn = sampled_values or log_uniform_candidate_sampler(
            right, num_true, num_sampled, True, num_classes, seed
        )
        sampled, right_counts, sampled_counts = (ops.StopGradient(item) for item in drawn)
        sampled = casting.cast(sampled, np.int64)
        flat = array.reshape(right, [-1])
        every = array.concat([flat, sampled], 0)
        n = ops.Shape(flat)[0]
        rows, offsets = (
            casting.cast(embedding_lookup(table, every, partition_strategy), x.dtype)
            for table in (weights, biases)
        )
        width = ops.Shape(rows)[1]
        of_right = array.reshape(rows[:n], ops.Pack([np.int32(-1), np.int32(num_true), width]))
        dots = reduce_sum(ops.ExpandDims(x, np.int32(1)) * of_right, 2)
        right_logits = array.reshape(dots, [-1, num_true])
        right_logits += array.reshape(offsets[:n], [-1, num_true])
        sampled_logits = matmul(x, rows[n:], transpose_b=True) + offsets[n:]
        if remove_accidental_hits:
            sampled_logits += _hits(right, sampled, num_true, num_sampled, x.dtype)
        right_logits -= ops.Log(casting.cast(right_counts, x.dtype))
        sampled_logits -= ops.Log(casting.cast(sampled_counts, x.dtype))
        logits = array.concat([right_logits, sampled_logits], 1)
        share = ops.OnesLike(right_logits) / np.asarray(num_true, x.dtype)
        return logits, array.concat([share, ops.ZerosLike(sampled_logits)], 1)


def _hits(
    right: Tensor, sampled: Tensor, num_true: int, num_sampled: int, dtype: MaybeDType
) -> Tensor:
    """A number for each candidate that takes it out where it is a right class."""
    rows, positions, weights = compute_accidental_hits(right, sampled, num_true)
    at = ops.Pack([casting.cast(rows, np.int64), positions], axis=1)
    shape = ops.Pack([ops.Shape(right)[0], np.int32(num_sampled)])
    values = casting.cast(weights, dtype)
    zeros = ops.Fill(shape, np.zeros((), dtype))
    return ops.TensorScatterUpdate(zeros, at, values)


def nce_loss(
    weights: TensorLike | Sequence[TensorLike],
    biases: TensorLike | Sequence[TensorLike],
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Sampled | None = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str = "nce_loss",
) -> Tensor:
    """[batch]: the loss of noise-contrastive estimation (Gutmann and Hyvarinen, 2010).

    Args:
        weights: [num_classes, width], or its parts.
        biases: [num_classes], or its parts.
        labels: int64 [batch, num_true].
        inputs: [batch, width].
        num_sampled: How many classes are drawn for a batch.
        num_classes: How many there are.
        num_true: How many are right for each input.
        sampled_values: What a sampler gives; `log_uniform_candidate_sampler` by default.
        remove_accidental_hits: Whether drawn classes that are right ones do not count.
        partition_strategy: How the parts of the tables are numbered; see `embedding_lookup`.
        name: Of the operations.
    """
    logits, shares = _logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true,
                             sampled_values, remove_accidental_hits, partition_strategy, name,
                             None)  # fmt: skip
    losses = sigmoid_cross_entropy_with_logits(labels=shares, logits=logits, name="sampled_losses")
    return ops.Reshape(reduce_sum(losses, 1), np.array([-1], np.int32))  # as TensorFlow names it


def sampled_softmax_loss(
    weights: TensorLike | Sequence[TensorLike],
    biases: TensorLike | Sequence[TensorLike],
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Sampled | None = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_softmax_loss",
    seed: int | None = None,
) -> Tensor:
    """[batch]: cross entropy of a softmax over the right classes and drawn ones (arXiv 1412.2007).

    Args:
        weights: [classes, dim], or a list of parts of it.
        biases: [classes], or such a list.
        labels: int64 [batch, num_true], the right classes.
        inputs: [batch, dim], of the type of `weights`.
        num_sampled: How many classes are drawn for the batch.
        num_classes: How many there are.
        num_true: Right ones for each row.
        sampled_values: What a candidate sampler gave; `log_uniform_candidate_sampler` by default.
        remove_accidental_hits: Whether a drawn class that is right does not count as wrong.
        partition_strategy: "mod" or "div": how classes lie in parts of `weights`.
        name: Of the operations.
        seed: Of the draws.

    For training alone: the full softmax says how good a model is.
    """
    logits, shares = _logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true,
                             sampled_values, remove_accidental_hits, partition_strategy, name,
                             seed)  # fmt: skip
    shares = ops.StopGradient(shares, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=shares, logits=logits)
