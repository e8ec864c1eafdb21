"""Queues, accumulators, sparse tensors as strings, tensors a Session keeps: shapes of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.registry import add_row
from ...core.shapes import require, scalar, unknown, value

if TYPE_CHECKING:
    from ...core.protocols import OperationView
    from ...core.shapes import Shape

QUEUES = ("FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "RandomShuffleQueue")


def _nothing(op: OperationView) -> list[Shape]:
    return []


def _counted(op: OperationView) -> list[Shape]:
    """Nothing; refuses a negative number of elements."""
    count = value(op, 1)
    require(op, count is None or count >= 0, f"Input 'n' must be >= 0, but is {count}")
    return unknown(op)


for _suffix in ("", "V2"):
    for _kind in QUEUES:
        add_row(_kind + _suffix, None, scalar, pure=False)
    for _kind in ("QueueEnqueue", "QueueEnqueueMany", "QueueClose"):
        add_row(_kind + _suffix, None, _nothing, pure=False)
    add_row(f"QueueDequeue{_suffix}", None, unknown, pure=False)
    for _kind in ("QueueDequeueMany", "QueueDequeueUpTo"):
        add_row(_kind + _suffix, None, _counted, pure=False)
    for _kind in ("QueueIsClosed", "QueueSize"):
        add_row(_kind + _suffix, None, scalar, pure=False)

for _kind in (
    *("DeserializeManySparse", "DeserializeSparse"),
    *("SerializeManySparse", "SerializeSparse"),
):
    add_row(_kind, None, unknown, pure=False)
for _kind in ("Barrier", "BarrierIncompleteSize", "BarrierReadySize", "StageSize"):
    add_row(_kind, None, scalar, pure=False)
for _kind in ("BarrierClose", "BarrierInsertMany", "Stage", "StageClear"):
    add_row(_kind, None, _nothing, pure=False)
for _kind in (
    *("BarrierTakeMany", "StagePeek", "Unstage", "AddSparseToTensorsMap"),
    *("AddManySparseToTensorsMap", "TakeManySparseFromTensorsMap"),
):
    add_row(_kind, None, unknown, pure=False)
for _prefix in ("Map", "OrderedMap"):
    for _kind in ("Stage", "Clear"):
        add_row(_prefix + _kind, None, _nothing, pure=False)
    for _kind in ("Peek", "Unstage", "UnstageNoKey"):
        add_row(_prefix + _kind, None, unknown, pure=False)
    for _kind in ("Size", "IncompleteSize"):
        add_row(_prefix + _kind, None, scalar, pure=False)
for _kind in ("ConditionalAccumulator", "ResourceConditionalAccumulator"):
    add_row(_kind, None, scalar, pure=False)
add_row("SparseConditionalAccumulator", None, scalar, pure=False)
for _prefix in ("Accumulator", "ResourceAccumulator"):
    add_row(f"{_prefix}ApplyGradient", None, _nothing, pure=False)
    add_row(f"{_prefix}SetGlobalStep", None, _nothing, pure=False)
    add_row(f"{_prefix}NumAccumulated", None, scalar, pure=False)
    add_row(f"{_prefix}TakeGradient", None, unknown, pure=False)
add_row("SparseAccumulatorApplyGradient", None, _nothing, pure=False)
add_row("SparseAccumulatorTakeGradient", None, unknown, pure=False)
for _kind in ("GetSessionHandle", "GetSessionHandleV2"):
    add_row(_kind, None, scalar, pure=False)
add_row("GetSessionTensor", None, unknown, pure=False)
add_row("DeleteSessionTensor", None, _nothing, pure=False)
