"""The names of `tf.types.experimental`."""

from ...facade import facade
from .homes import TYPES

__all__, __getattr__, __dir__ = facade(__name__, TYPES)
