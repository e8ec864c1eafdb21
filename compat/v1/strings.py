"""The names of `tf.strings`."""

from ...facade import facade
from .homes import STRINGS

__all__, __getattr__, __dir__ = facade(__name__, STRINGS)
