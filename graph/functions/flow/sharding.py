"""A computation of parts of its inputs: `tf.tpu.shard`, on this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from ...core.create import convert_to_tensor
from ...core.graph import Operation, Tensor
from ..array import array

if TYPE_CHECKING:
    from ...core.typing import TensorLike

Axes = Sequence[int] | None


class XLAOptions(NamedTuple):
    """How XLA compiles.

    Attributes:
        use_spmd_for_xla_partitioning: Whether one program for all devices is made.
    """

    use_spmd_for_xla_partitioning: bool = True


def shard(
    computation: Callable[..., object],
    inputs: Sequence[TensorLike] | None = None,
    num_shards: int = 1,
    input_shard_axes: Axes = None,
    outputs_from_all_shards: bool | Sequence[bool] = True,
    output_shard_axes: Axes = None,
    infeed_queue: object = None,
    device_assignment: object = None,
    name: str | None = None,
    xla_options: XLAOptions | None = None,
) -> list[Tensor] | list[Operation]:
    """What `computation` gives for each part of its inputs, one part behind another.

    The parts are computed on this machine, as parts of one graph.

    Args:
        computation: A function of tensors that gives a tensor, several, or operations.
        inputs: Tensors that are cut into parts of equal size.
        num_shards: How many parts.
        input_shard_axes: The dimension along which each input is cut, the first by default.
        outputs_from_all_shards: Whether the results of all parts are joined, for all results or
            each; else the first part's is given.
        output_shard_axes: The dimension along which each result is joined, the first by default.
        infeed_queue, device_assignment, xla_options: Of TPUs; only None is taken for the queue.
        name: Taken for TensorFlow's sake.

    Raises ValueError for fewer than one part, for lists of axes of another length, and for sizes
    that cannot be cut.
    """
    if num_shards <= 0:
        raise ValueError(f"num_shards must be a positive integer. Received num_shards={num_shards}")
    if infeed_queue is not None:
        raise ValueError("infeed_queue must be None: there is no TPU that is fed; pass `inputs`")
    tensors = [convert_to_tensor(x) for x in inputs or ()]
    axes = _axes(input_shard_axes, len(tensors), "input_shard_axes", "inputs")
    columns = [
        [x] if num_shards == 1 else cast("list[Tensor]", array.split(x, num_shards, axis))
        for x, axis in zip(tensors, axes, strict=True)
    ]
    results = [_listed(computation(*part)) for part in zip(*columns, strict=True)]
    if not columns:
        results = [_listed(computation()) for _ in [None] * num_shards]
    first = results[0]
    if all(isinstance(x, Operation) for x in first):
        return cast("list[Operation]", [op for result in results for op in result])
    from_all = outputs_from_all_shards
    choices = [from_all] * len(first) if isinstance(from_all, bool) else list(from_all)
    if len(choices) != len(first):
        raise ValueError(
            f"Length of outputs_from_all_shards must be equal to the number of outputs "
            f"{len(first)}. Received {len(choices)}"
        )
    axes = _axes(output_shard_axes, len(first), "output_shard_axes", "outputs")
    joined = zip(zip(*results, strict=True), axes, choices, strict=True)
    return [
        array.concat(list(cast("Sequence[Tensor]", parts)), axis)
        if is_joined and num_shards > 1
        else cast("Tensor", parts[0])
        for parts, axis, is_joined in joined
    ]


def _axes(axes: Axes, count: int, name: str, what: str) -> list[int]:
    if axes is None:
        return [0] * count
    if len(axes) != count:
        raise ValueError(
            f"Length of {name} must be equal to the number of {what} {count}. Received {len(axes)}"
        )
    return list(axes)


def _listed(result: object) -> list[Tensor | Operation]:
    """What a computation gives as a list."""
    if result is None:
        return []
    items = cast("Sequence[object]", result if isinstance(result, (list, tuple)) else [result])
    return [
        item if isinstance(item, Operation) else convert_to_tensor(cast("TensorLike", item))
        for item in items
    ]
