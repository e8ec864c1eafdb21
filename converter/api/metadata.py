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
TRAINED, RANDOM_SPARSITY, BLOCK_SPARSITY = 2000, 3001, 3002
"""ModelOptimizationMode of the same."""
MODES = {"i8": FULL_INTEGER, "u8": FULL_INTEGER, "i16": INT16}
"""The mode by the type that results are stored in."""
WEIGHT_MODES = {"f16": FLOAT16}
"""The mode by the type of weights where results stay float32; else DYNAMIC_RANGE."""


def optimization_modes(
    recipe: Recipe | None, is_trained: bool, graphs: Iterable[Graph]
) -> list[int]:
    """The modes of a file.

    Args:
        recipe: how it is quantized, None where it is not.
        is_trained: whether the source states the ranges that it was trained with.
        graphs: what is written.
    """
    modes = []
    if recipe is not None and recipe.main.code in MODES and (recipe.calibrates or not is_trained):
        modes.append(MODES[recipe.main.code])
    elif recipe is not None and recipe.main.weights in WEIGHT_MODES:
        modes.append(WEIGHT_MODES[recipe.main.weights])
    elif recipe is not None and not is_trained:
        modes.append(DYNAMIC_RANGE)
    if recipe is not None and is_trained:
        modes.append(TRAINED)
    operands = {
        x for g in graphs for called in g.reachable() for op in called.ops for x in op.inputs
    }
    sparse = [x.sparsity for x in operands if x is not None and x.sparsity is not None]
    is_block = {x.block_map is not None and len(x.block_map) > 0 for x in sparse}
    return modes + [BLOCK_SPARSITY if blocks else RANDOM_SPARSITY for blocks in sorted(is_block)]


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
