"""Where a source suppresses boxes otherwise than the operator that it becomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...graph.core.calls import with_called
from ...graph.core.graph import Operation
from .source import GraphSource, Source

LEAST_SCORE = 4
"""Which input of the operations has the score from which on boxes are taken."""
SUPPRESSIONS = tuple(f"NonMaxSuppressionV{version}" for version in (3, 4, 5))


def repeated_boxes(sources: Sequence[Source]) -> str | None:
    """In one line, what of NON_MAX_SUPPRESSION is TFLite's alone; None where nothing is.

    A least score above 0, which boxes that fill up a batch do not have, tells that it is nothing.
    """
    names = [op.name for source in sources for op in _suppressions(source)]
    if not names:
        return None
    more = f" (and {len(names) - 1} more like it)" if len(names) > 1 else ""
    return (
        f"NON_MAX_SUPPRESSION for '{names[0]}'{more}: TFLite chooses a box without an area again "
        "and again, TensorFlow once; give such boxes a score below score_threshold"
    )


def _suppressions(source: Source) -> Iterator[Operation]:
    if isinstance(source, GraphSource):
        for op in with_called(source.graph.operations):
            if op.type in SUPPRESSIONS:
                least = op.inputs[LEAST_SCORE].op
                if least.type != "Const" or not (least.get_attr("value") > 0).all():
                    yield op
