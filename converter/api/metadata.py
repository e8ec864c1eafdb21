"""CONVERSION_METADATA: what wrote a file and with which options, as TensorFlow's tools read it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..ir.graph import Graph
    from ..quantize.recipe import Recipe

NAME = "CONVERSION_METADATA"
"""The metadata entry that holds it."""

SOURCES = {"saved_model": 1, "keras": 2, "concrete_functions": 3, "graph_def": 4, "session": 5}
"""ModelType of TensorFlow's conversion_metadata.fbs."""

FLOAT16, DYNAMIC_RANGE, FULL_INTEGER, INT16 = 1001, 1002, 1003, 1004
AWARE_TRAINING, RANDOM_SPARSITY, BLOCK_SPARSITY = 2000, 3001, 3002
"""ModelOptimizationMode of the same."""
MODES = {"i8": FULL_INTEGER, "u8": FULL_INTEGER, "i16": INT16}
"""The mode by the type that results are stored in."""
WEIGHT_MODES = {"f16": FLOAT16}
"""The mode by the type of weights where results stay float32; else DYNAMIC_RANGE."""


def optimization_modes(
    graphs: Iterable[Graph], recipe: Recipe | None, is_optimized: bool
) -> list[int]:
    """The ModelOptimizationMode numbers of a conversion.

    Args:
        graphs: what is written.
        recipe: how it is quantized.
        is_optimized: whether `optimizations` asked for that.
    """
    modes = []
    if recipe is not None and recipe.states_ranges and is_optimized:
        modes.append(AWARE_TRAINING)
    elif recipe is not None:
        by_weights = WEIGHT_MODES.get(recipe.main.weights, DYNAMIC_RANGE)
        modes.append(MODES.get(recipe.main.code, by_weights))
    reachable = dict.fromkeys(called for graph in graphs for called in graph.reachable())
    block_maps = [t.sparsity.block_map for g in reachable for t in g.tensors() if t.sparsity]
    kinds = {block_map is not None and len(block_map) > 0 for block_map in block_maps}
    return modes + [BLOCK_SPARSITY if has_blocks else RANDOM_SPARSITY for has_blocks in kinds]


def conversion_metadata(
    source: str,
    *,
    writer: str,
    api_version: int,
    optimizations: Sequence[int] = (),
    allow_custom_ops: bool = False,
    select_tf_ops: bool = False,
    only_tf_ops: bool = False,
) -> bytes:
    """The flatbuffer of a ConversionMetadata table.

    Args:
        source: what was converted; no type is written for what SOURCES does not have.
        writer: name and version of the converter, where TensorFlow puts its own version.
        api_version: 1 or 2.
        optimizations: ModelOptimizationMode numbers.
        allow_custom_ops: whether custom operators were allowed.
        select_tf_ops: whether operators of TensorFlow were allowed.
        only_tf_ops: whether no others were.
    """
    from flatbuffers import Builder

    b = Builder(128)
    version = b.CreateString(writer)
    b.StartVector(4, len(optimizations), 4)
    for mode in reversed(optimizations):
        b.PrependInt32(mode)
    modes = b.EndVector()
    b.StartObject(5)
    b.PrependUOffsetTRelativeSlot(0, modes, 0)
    b.PrependBoolSlot(1, allow_custom_ops, False)
    b.PrependBoolSlot(2, select_tf_ops, False)
    b.PrependBoolSlot(3, only_tf_ops, False)
    options = b.EndObject()
    b.StartObject(4)
    b.PrependUOffsetTRelativeSlot(0, version, 0)
    b.PrependUint32Slot(1, api_version, 0)
    b.PrependInt32Slot(2, SOURCES.get(source, 0), 0)
    environment = b.EndObject()
    b.StartObject(2)
    b.PrependUOffsetTRelativeSlot(0, environment, 0)
    b.PrependUOffsetTRelativeSlot(1, options, 0)
    b.Finish(b.EndObject())
    return bytes(b.Output())
