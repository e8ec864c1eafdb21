"""The times of a Session's run as TensorFlow's RunMetadata."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ..core.dtype import DType
from ..core.graph import Operation

if TYPE_CHECKING:
    from ...schema.proto import Message
    from .executor import Times

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


def write_times(metadata: Message, times: Times) -> None:
    """Writes a node for each operation that ran, one after the other and the last to end now.

    Its outputs have the shapes that the graph says: -1 where a size is known in the run alone.
    """
    stats = metadata.step_stats.dev_stats.add(device=DEVICE).node_stats
    start = time.time() - sum(seconds for _, seconds in times)
    for op, seconds in times:
        if isinstance(op, Operation):
            nanoseconds = round(1e9 * seconds)
            node = stats.add(
                node_name=op.name,
                timeline_label=f"{op.name} = {op.type}({', '.join(t.name for t in op.inputs)})",
                all_start_micros=round(1e6 * start),
                all_start_nanos=round(1e9 * start),
                scheduled_micros=round(1e6 * start),
                op_end_rel_micros=nanoseconds // 1000,
                op_end_rel_nanos=nanoseconds,
                all_end_rel_micros=nanoseconds // 1000,
                all_end_rel_nanos=nanoseconds,
            )
            for slot, tensor in enumerate(op.outputs):
                description = node.output.add(slot=slot).tensor_description
                description.dtype = DType(tensor.dtype).as_datatype_enum
                description.shape.CopyFrom(tensor.get_shape().as_proto())
        start += seconds
