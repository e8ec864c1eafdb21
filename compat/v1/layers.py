"""The names of `tf.layers`."""

from ...facade import facade
from .homes import LAYERS

__all__, __getattr__, __dir__ = facade(__name__, LAYERS)
