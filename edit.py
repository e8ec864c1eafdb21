"""Edits of `.tflite` models, as `flatlite.edit`: read one with `load`, write it with `save`."""

from .facade import facade

HOMES = {
    "schema.model": "Model load save",
    "tools.edit.differences": "differences",
    "tools.edit.extract": "extract",
    "tools.edit.merge": "merge",
    "tools.edit.names": "rename strip",
    "tools.edit.shapes": "set_batch set_input_shapes",
    "tools.edit.text": "assemble dump",
    "tools.edit.weights": "set_weights weights",
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES)
