"""The names of `tf.ragged`."""

from ...facade import facade
from .homes import RAGGED

__all__, __getattr__, __dir__ = facade(__name__, RAGGED)
