# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""Edits of `.tflite` models, as `flatlite.edit`: read one with `load`, write it with `save`."""

from .schema.model import Model as Model
from .schema.model import load as load
from .schema.model import save as save
from .tools.edit.differences import differences as differences
from .tools.edit.extract import extract as extract
from .tools.edit.merge import merge as merge
from .tools.edit.names import rename as rename
from .tools.edit.names import strip as strip
from .tools.edit.shapes import set_batch as set_batch
from .tools.edit.shapes import set_input_shapes as set_input_shapes
from .tools.edit.text import assemble as assemble
from .tools.edit.text import dump as dump
from .tools.edit.weights import set_weights as set_weights
from .tools.edit.weights import weights as weights
