"""The names of `tf.sets`."""

from ...facade import facade
from .homes import SETS

__all__, __getattr__, __dir__ = facade(__name__, SETS)
