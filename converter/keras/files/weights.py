"""Where the weights of each layer lie: by layer and name in `.h5`, by class and number in `.keras`.

model.weights.h5   layers/<class>, layers/<class>_1, ... /vars/0, 1, ...     (and models inside)
.h5                model_weights/<layer>/<weight>, in the order of its attribute weight_names
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ....graph.core.calls import MAX_OPERATIONS
from ....schema.errors import ModelError
from ..registry import LAYERS
from .architecture import MAX_MODELS, Layer, Model
from .archive import ASSETS, Archive
from .hdf5_process import Store
from .live import LiveWeights
from .quantized import archived_with_scales, as_floats, has_integers

MAX_LAYERS = 2**16
CONTAINERS = ("layers", "_layer_checkpoint_dependencies")  # the second before Keras 2.13
NOT_TRAINED = frozenset(
    ("moving_mean", "moving_variance", "mean", "variance", "count", "vector_u", "optimizer_step")
)
RANGES = ("_min", "_max")
"""How the names of the ranges end that FakeQuant learns."""


@dataclass(frozen=True)
class StoredWeight:
    """A weight in a file."""

    store: Store | LiveWeights
    path: str

    def read(self, layer: Layer, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """Its values as float32; ModelError naming the layer when they do not have `shape`."""
        stored_shape = self.store.shape(self.path)
        if stored_shape is None:
            raise ModelError(f"{layer.title}: weight {name} {shape} is missing ('{self.path}')")
        if stored_shape != shape:
            raise ModelError(
                f"{layer.title}: weight {name} must have shape {shape}, got {stored_shape}; the "
                "file's weights are of another architecture, save the whole model again"
            )
        return self.store.array(self.path).astype(np.float32)


def find_parts(layer: Layer) -> None:
    """Makes the layers that a layer, or those of a model, are made of.

    Raises ModelError when they are too deep or too many, or are called too often.
    """
    waiting, n_layers = [(layer, 0)], 0
    while waiting:
        part, depth = waiting.pop()
        n_layers += 1
        if depth > MAX_MODELS:
            raise ModelError(f"{part.title}: layers are nested deeper than {MAX_MODELS} levels")
        if n_layers > MAX_LAYERS:
            raise ModelError(f"{layer.title}: must have at most {MAX_LAYERS} layers, has more")
        if isinstance(part, Model):
            waiting += [(inner, 0) for inner in part.layers.values()]
            continue
        row = LAYERS.get(part.row_kind)
        part.parts = {} if row is None else row.parts(part)
        waiting += [(inner, depth + 1) for inner in part.parts.values()]
    n_calls = _n_calls(layer)
    if n_calls > MAX_OPERATIONS:
        raise ModelError(
            f"{layer.title}: must come to at most {MAX_OPERATIONS} calls of layers, those of "
            f"models for each call of them, got {n_calls}"
        )


def _n_calls(layer: Layer) -> int:
    """How many layers one call of a layer comes to."""
    if not isinstance(layer, Model):
        return 1 + sum(map(_n_calls, layer.parts.values()))
    return sum(max(1, len(inner.calls)) * _n_calls(inner) for inner in layer.layers.values())


def find_weights(model: Model, archive: Archive) -> None:
    """Notes with each layer where its weights lie.

    Raises ModelError naming the first layer that has more or fewer weights in the file.
    """
    if archive.is_legacy:
        _find_by_name(model, archive.weights, archive.prefix)
    else:
        missing: list[Layer] = []
        _find_by_number(model, archive.weights, "", missing)
        _take_from_twins(model, missing)
        for layer in model.leaves():
            prefix = f"{ASSETS}{layer.folder}/"
            names = [name for name in archive.assets if name.startswith(prefix)]
            layer.assets = {name.removeprefix(prefix): archive.assets[name] for name in names}


def _names(layer: Layer) -> list[str]:
    """The names of a layer's weights, in the order Keras makes them."""
    row = LAYERS.get(layer.row_kind)
    return list(row.weights(layer)) if row else []


def _take_from_twins(model: Model, missing: Sequence[Layer]) -> None:
    """Gives layers without weights those of the one layer that has the same name and settings.

    Keras writes a layer that several others wrap once, where it comes across it first, but its
    settings in each of them.
    """
    for layer in missing:
        twins = [
            other
            for other in model.leaves()
            if other.stored_weights and _identity(other) == _identity(layer)
        ]
        if len({twin.folder for twin in twins}) != 1:
            raise _wrong_count(layer, _archived(layer), 0)
        layer.stored_weights, layer.folder = twins[0].stored_weights, twins[0].folder


def _identity(layer: Layer) -> tuple[str, str, dict]:
    """Class, name and settings of a layer, but for objects, which are numbered anew each time."""
    settings = {key: value for key, value in layer.config.items() if not isinstance(value, dict)}
    return layer.kind, layer.name, settings


def _archived(layer: Layer) -> list[str]:
    """The names of the weights that an archive has in a layer's group."""
    row = LAYERS.get(layer.row_kind)
    return [name for name in row.archived(layer) if name not in layer.outer_weights] if row else []


def _find_by_number(
    model: Model, store: Store | LiveWeights, root: str, missing: list[Layer]
) -> None:
    counts: Counter[str] = Counter()
    container = next((c for c in CONTAINERS if store.names(f"{root}{c}")), CONTAINERS[0])
    for layer in model.layers.values():
        folder = snake_case(layer.class_name)
        number = counts[folder]
        counts[folder] += 1
        path = f"{root}{container}/{folder}" + (f"_{number}" if number else "")
        _find_in_folder(layer, store, path, missing)


def _find_in_folder(
    layer: Layer, store: Store | LiveWeights, path: str, missing: list[Layer]
) -> None:
    """Notes the weights of a layer, or of all layers in it, that lie in the group `path`."""
    if isinstance(layer, Model):
        _find_by_number(layer, store, f"{path}/", missing)
        return
    layer.folder, names = path, _archived(layer)
    names = archived_with_scales(layer, names)
    stored_names = store.names(f"{path}/vars")
    if names and not stored_names:
        missing.append(layer)
    elif len(stored_names) != len(names):
        raise _wrong_count(layer, names, len(stored_names))
    else:
        layer.stored_weights = as_floats(
            {name: StoredWeight(store, f"{path}/vars/{i}") for i, name in enumerate(names)}
        )
    for attribute, part in layer.parts.items():
        group = f"{path}/{attribute}"
        if not store.names(group):  # some hold the layer in a private attribute
            group = f"{path}/_{attribute}"
        _find_in_folder(part, store, group, missing)


def _find_by_name(model: Model, store: Store | LiveWeights, prefix: str) -> None:
    for layer in model.layers.values():
        path = f"{prefix}{layer.name}"
        slots = trainable_first(layer)
        weight_names = store.texts(path, "weight_names") if slots else []
        if len(weight_names) != len(slots):
            raise _wrong_count(layer, [name for _, name, _ in slots], len(weight_names))
        for (owner, name, _), weight_name in zip(slots, weight_names, strict=True):
            owner.stored_weights[name] = StoredWeight(store, f"{path}/{weight_name}")
        for owner, _, _ in slots:
            owner.stored_weights = as_floats(owner.stored_weights)


def trainable_first(layer: Layer) -> list[tuple[Layer, str, bool]]:
    """All weights of a layer, those that were trained first: (layer, name, was trained)."""
    slots = list(_slots(layer, True))
    return [slot for slot in slots if slot[2]] + [slot for slot in slots if not slot[2]]


def _slots(layer: Layer, is_trainable: bool) -> Iterator[tuple[Layer, str, bool]]:
    is_trainable = is_trainable and layer.is_trainable
    if isinstance(layer, Model):
        for child in layer.layers.values():
            yield from _slots(child, is_trainable)
        return
    row = LAYERS.get(layer.row_kind)
    if row is not None and row.order is not None:
        for owner, name in row.order(layer):
            yield owner, name, is_trainable and owner.is_trainable and is_trained(name)
        return
    are_integers = has_integers(layer)
    for name in archived_with_scales(layer, _names(layer)):
        is_learned = name == "bias" if are_integers else is_trained(name)
        yield layer, name, is_trainable and is_learned
    for part in layer.parts.values():
        yield from _slots(part, is_trainable)


def is_trained(name: str) -> bool:
    """Whether a weight of this name is learned by gradients."""
    return name not in NOT_TRAINED and not name.endswith(RANGES)


def _wrong_count(layer: Layer, names: list[str], n: int) -> ModelError:
    expected = f"{len(names)} weights ({', '.join(names[:6])})" if names else "no weights"
    return ModelError(
        f"{layer.title}: has {expected}, the file holds {n} for it; its weights and its "
        "architecture do not belong together, save the whole model again"
    )


def numbered(container: str, layers: list[Layer]) -> dict[str, Layer]:
    """Layers by the groups that Keras 3 gives the items of a list."""
    counts: Counter[str] = Counter()
    groups = {}
    for layer in layers:
        folder = snake_case(layer.class_name)
        number = counts[folder]
        counts[folder] += 1
        groups[f"{container}/{folder}" + (f"_{number}" if number else "")] = layer
    return groups


def snake_case(name: str) -> str:
    """The name of a class as Keras stores it: Conv2DTranspose is conv2d_transpose."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()
