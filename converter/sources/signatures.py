"""The signatures of a SavedModel: which ones are converted, and TensorFlow's positions in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...schema.errors import noted
from .fingerprint import fingerprint64

DEFAULT_SIGNATURE = "serving_default"
INTERNAL_PREFIX = "__"  # __saved_model_init_op and its like are no computations
NAMING_HINTS = {
    1: "Name one with signature_key='...', or several with signature_keys=[...] (--signature KEY).",
    2: "Name signatures with signature_keys=[...] (--signature KEY).",
}
"""By version of the API."""


def choose_signatures(meta, keys: Sequence[str] | None, api_version: int) -> list[str]:
    """The keys of the signatures to load.

    Args:
        meta: The MetaGraphDef message.
        keys: What the caller asks for; None, or nothing, for what TensorFlow takes then.
        api_version: 1 takes "serving_default", or the only signature there is; 2 takes all, but
            of a model that Keras' `export` wrote only "serving_default".

    Raises ValueError when there are no signatures, or none of a key.
    """
    valid = _valid_keys(meta)
    if not valid:
        raise noted(
            ValueError("Only support at least one signature key."),
            "The SavedModel has no signatures: nothing says what its inputs and outputs are. Save "
            "it again with tf.saved_model.save(model, folder, signatures=function)",
        )
    if isinstance(keys, str):
        keys = [keys]
    if not keys:
        keys = _default_keys(meta, valid, api_version)
    for key in keys:
        if key in valid:
            continue
        available = ",".join(valid)
        text = f"Invalid signature key '{key}' found. Valid keys are '{available}'."
        if api_version == 1:
            text = (
                f"No '{key}' in the SavedModel's SignatureDefs. Possible values are '{available}'."
            )
        raise noted(ValueError(text), NAMING_HINTS[api_version])
    return list(dict.fromkeys(keys))


def _default_keys(meta, valid: Sequence[str], api_version: int) -> list[str]:
    if len(valid) == 1:
        return list(valid)
    if api_version == 1 or _is_keras_export(meta):
        return [DEFAULT_SIGNATURE]
    return sorted(valid)


def _valid_keys(meta) -> list[str]:
    """All keys, in the order in which the model was saved with them; by name in older models."""
    keys = sorted(key for key in meta.signature_def if not key.startswith(INTERNAL_PREFIX))
    nodes = meta.object_graph_def.nodes
    saved = _children(meta).get("signatures")
    order = [child.local_name for child in nodes[saved].children] if saved is not None else []
    return [*(key for key in order if key in keys), *(key for key in keys if key not in order)]


def _is_keras_export(meta) -> bool:
    """Whether Keras' `model.export` wrote the model, as TensorFlow tells it from `model.save`."""
    children = _children(meta)
    return "serve" in children and "_default_save_signature" not in children


def _children(meta) -> dict[str, int]:
    """Attributes of the saved object: node numbers by name."""
    nodes = meta.object_graph_def.nodes
    numbers = {child.local_name: child.node_id for child in nodes[0].children} if nodes else {}
    return {name: number for name, number in numbers.items() if 0 <= number < len(nodes)}


def tensorflow_order(tensor_names: Mapping[str, str], api_version: int) -> tuple[str, ...]:
    """The keys of a signature's inputs or outputs, in TensorFlow 2.21's positions.

    Args:
        tensor_names: by key.
        api_version: 1 sorts by tensor name, 2 by the fingerprint of the key.
    """
    if api_version == 1:
        return tuple(sorted(tensor_names, key=tensor_names.__getitem__))
    return tuple(sorted(tensor_names, key=lambda key: fingerprint64(key.encode())))
