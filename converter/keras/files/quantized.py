"""Weights that Keras 3's quantize() has made integers, as the numbers they stand for.

int8: Keras rounds what a layer is given to 8 bits, too, by the range of each row; here that stays
as it is. Quantized by the converter, weights become the same integers again.
int4: a matrix [rows, columns], two numbers in a byte; as the policy says, with one scale for each
column (of an embedding: row), or with scales and zero points for blocks along the other axis.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ....schema.errors import ModelError
from .architecture import Layer

if TYPE_CHECKING:
    from .weights import StoredWeight

KINDS = ("Dense", "EinsumDense", "Embedding", "ReversibleEmbedding")
MODE = re.compile(r"(int8|int4/(-?\d+))(?:_from_\w+)?")
SCALE, ZERO, GROUPS = "_scale", "_zero", "g_idx"
BY_ROW = "embeddings"
"""The weight whose rows have scales, not its columns."""
BY_COLUMN = "reverse_embeddings"
"""The weight of which a byte has two numbers of a column, not of a row."""


def _parts(layer: Layer) -> tuple[str, ...] | None:
    """How the names end of what belongs to a weight; None where the layer has no such weights."""
    policy = layer.config.get("dtype")
    config = policy.get("config") if isinstance(policy, dict) else None
    if not isinstance(config, dict) or layer.row_kind not in KINDS:
        return None
    match = MODE.fullmatch(str(config.get("mode", config.get("name"))))
    if match is None:
        return None
    return (SCALE, ZERO) if match.group(2) and int(match.group(2)) > 0 else (SCALE,)


def has_integers(layer: Layer) -> bool:
    """Whether a layer has weights that are integers with scales."""
    return _parts(layer) is not None


def archived_with_scales(layer: Layer, names: list[str]) -> list[str]:
    """The names of all weights in an archive, of which `names` are those as floats."""
    parts = _parts(layer)
    if parts is None:
        return names
    (main, *of_main), *others = [
        [name, *(f"{name}{part}" for part in parts)] for name in names if name != "bias"
    ]
    bias, groups = names.count("bias") * ["bias"], (ZERO in parts) * [GROUPS]
    return [main, *bias, *of_main, *groups, *(name for other in others for name in other)]


def as_floats(weights: Mapping[str, Any]) -> dict[str, StoredWeight | ScaledWeight]:
    """A layer's weights, those with scales as one."""
    return {
        name: ScaledWeight(weights, name) if f"{name}{SCALE}" in weights else weight
        for name, weight in weights.items()
        if name != GROUPS and not name.endswith((SCALE, ZERO))
    }


class ScaledWeight:
    """A weight with its scales and, where it has them, zero points and groups.

    Args:
        weights: where all weights of the layer lie.
        name: its name.
    """

    def __init__(self, weights: Mapping[str, StoredWeight], name: str):
        self._values, self._scale = weights[name], weights[f"{name}{SCALE}"]
        self._zero, self._groups = weights.get(f"{name}{ZERO}"), weights.get(GROUPS)

    def read(self, layer: Layer, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """Its values as float32; ModelError naming the layer when they do not have `shape`."""
        values = self._values.store.array(self._values.path)
        scale = _array(self._scale)
        try:
            if values.shape == shape:
                return values.astype(np.float32) / _broadcast(layer, name, scale, shape)
            values = _unpacked(values.T, shape).T if name == BY_COLUMN else _unpacked(values, shape)
            if self._zero is None or self._groups is None:
                scale = scale[:, None] if name == BY_ROW else scale
                return (values / scale).reshape(shape)
            groups, axis = _array(self._groups).astype(np.int64), int(name == BY_ROW)
            scale, zero = (x.take(groups, axis) for x in (scale, _array(self._zero)))
            return ((values - zero) * scale).reshape(shape)
        except (ValueError, IndexError) as error:
            raise ModelError(
                f"{layer.title}: weight {name} {shape} does not go with its scales: {error}"
            ) from None


def _array(weight: StoredWeight) -> np.ndarray:
    return weight.store.array(weight.path).astype(np.float32)


def _unpacked(packed: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """[rows, columns] of numbers of 4 bits: the lower ones of a byte first."""
    if packed.dtype != np.int8 or packed.ndim != 2 or prod(shape) % max(len(packed), 1):
        raise ValueError(f"{packed.dtype} of shape {packed.shape}")
    columns = prod(shape) // max(len(packed), 1)
    both = np.stack([np.left_shift(packed, 4) >> 4, packed >> 4], axis=2)
    return both.reshape(len(packed), -1)[:, :columns].astype(np.float32)


def _broadcast(layer: Layer, name: str, scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The scales of a weight of 8 bits in a form that goes with it."""
    if name == BY_ROW:
        return scale.reshape(shape[0], 1)
    if layer.row_kind != "EinsumDense":
        return scale.reshape(1, shape[-1])
    terms, _, result = str(layer.config.get("equation")).replace(".", "").partition("->")
    labels = terms.partition(",")[2]
    sizes = dict(zip(labels, shape, strict=True))
    common = [label for label in result if label in sizes]  # scales differ along these, in order
    scale = scale.reshape([sizes[label] for label in common])
    scale = scale.transpose([common.index(label) for label in labels if label in common])
    return scale.reshape([n if label in common else 1 for label, n in sizes.items()])
