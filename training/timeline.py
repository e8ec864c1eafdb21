"""The times of a run in the form that Chrome's tracing shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..schema.proto import Message


def chrome_trace(step_stats: Message) -> dict[str, Any]:
    """The events of a StepStats: a row for each device, a bar for each operation."""
    events: list[dict[str, Any]] = []
    for process, device in enumerate(step_stats.dev_stats):
        name = f"{device.device} Compute"
        events.append({"name": "process_name", "ph": "M", "pid": process, "args": {"name": name}})
        for node in device.node_stats:
            kind = node.timeline_label.partition(" = ")[2].partition("(")[0]
            events.append(
                {
                    "ph": "X",
                    "cat": "Op",
                    "name": kind or node.node_name,
                    "pid": process,
                    "tid": node.thread_id,
                    "ts": node.all_start_micros,
                    "dur": node.all_end_rel_micros,
                    "args": {"name": node.node_name, "op": kind},
                }
            )
    return {"traceEvents": events}
